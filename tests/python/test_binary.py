# SPDX-License-Identifier: Apache-2.0
"""Binary layers in Python against numpy; vectors of others are in verif/oracle/test_binary.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import narrowgauge as ng


def test_reactnet_layer() -> None:
    random = np.random.default_rng(1)
    x = random.normal(0, 1, (7, 100)).astype(np.float32)
    shift = random.normal(0, 0.3, 100).astype(np.float32)
    x[0] = shift  # on the shift: 0
    w = random.normal(0, 0.1, (5, 4, 25)).astype(np.float32)
    w[0, 0, 0] = 0
    bits = ng.binarize(x, shift)
    np.testing.assert_array_equal(bits, x > shift)
    np.testing.assert_array_equal(ng.binarize(x, 0.5), x > 0.5)
    weights = ng.binarize_weights(w)
    np.testing.assert_array_equal(weights.bits, w > 0)
    np.testing.assert_array_equal(weights.scale, np.abs(w.astype(np.float64)).mean((1, 2)).astype(np.float32))
    signs = 2 * weights.bits.reshape(5, 100).astype(int) - 1
    dot = ng.xnor_dot(bits, weights.bits.reshape(5, 100))
    np.testing.assert_array_equal(dot, (2 * bits.astype(int) - 1) @ signs.T)

    gamma, beta, mean = random.normal(0, 1, (3, 5))
    gamma[3] = 0
    variance = random.uniform(0.5, 2, 5)
    fused = ng.fuse_batch_norm(gamma, beta, mean, variance, n=100, scale=weights.scale)
    y = gamma * (weights.scale.astype(np.float64) * dot - mean) / np.sqrt(variance + 1e-5) + beta
    np.testing.assert_array_equal(fused.bits(ng.popcount_dot(bits, weights.bits.reshape(5, 100))), y >= 0)
    assert fused.value.min() >= 0
    assert fused.value.max() <= 101


@pytest.mark.parametrize("n", [1, 7, 8, 63, 64, 65, 200])
def test_products_of_any_length(n: int) -> None:
    random = np.random.default_rng(n)
    x, w = random.integers(0, 2, (4, n)), random.integers(0, 2, (3, n)).astype(bool)
    valid = random.integers(0, 2, (4, n), dtype=np.uint8)
    same = x[:, None] == w[None]
    np.testing.assert_array_equal(ng.popcount_dot(x, w), same.sum(-1))
    np.testing.assert_array_equal(ng.popcount_dot(x, w, valid), (same & (valid[:, None] != 0)).sum(-1))
    both = (x[:, None] & w[None] & valid[:, None]).sum(-1)
    np.testing.assert_array_equal(ng.popcount_dot(x, w, valid, product="and"), both)
    np.testing.assert_array_equal(
        ng.xnor_dot(x, w, valid), 2 * ng.popcount_dot(x, w, valid) - valid.sum(1, dtype=int)[:, None]
    )


def test_planes() -> None:
    random = np.random.default_rng(2)
    v = random.integers(-128, 128, (300, 9), dtype=np.int8)
    planes = random.integers(0, 2, (4, 300))
    np.testing.assert_array_equal(ng.plane_sums(planes, v), planes @ v.astype(int))
    # EXAQ's product of probabilities and V is a few products more.
    codes = random.integers(0, 4, (1, 300)).astype(np.uint8)
    table = ng.exaq_table(-4.0, bits=2).astype(np.int64)
    sums = ng.plane_sums(codes >= np.arange(4)[:, None], v)
    weighted = np.diff(table, prepend=0) @ sums / table[codes].sum()
    np.testing.assert_array_equal(ng.exaq_attention(codes, v, -4.0, bits=2)[0], weighted.astype(np.float32))


ONE = np.zeros((1, 1), np.uint8)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ng.binarize([1.0, np.nan]), "activation 1 is NaN; expected a number"),
        (lambda: ng.binarize([1.0, 2.0], [1.0, 2.0, 3.0]), "shift has shape"),
        (lambda: ng.binarize_weights([1.0]), "w has shape"),
        (lambda: ng.binarize_weights([[1.0, np.inf]]), "weight 1 of row 0 is inf; expected a finite number"),
        (lambda: ng.popcount_dot([[0, 2]], [[0, 1]]), "x holds 0 to 2; expected 0 and 1"),
        (lambda: ng.popcount_dot([[0, 1]], [[0, 1, 1]]), "expected equal lengths"),
        (lambda: ng.popcount_dot([[0, 1]], [[0, 1]], [[1]]), "valid has shape"),
        (lambda: ng.popcount_dot([[0.5]], ONE), "x has dtype float64"),
        (lambda: ng.popcount_dot(ONE, ONE, product="or"), "product is 'or'; expected one of xnor, and"),
        (lambda: ng.fuse_batch_norm([1, 2], [0, 0], [0, 0], [1], n=9), "variance is an array of shape"),
        (lambda: ng.fuse_batch_norm(1, 0, 0, -1, n=9), "variance is -1.0"),
        (lambda: ng.fuse_batch_norm(1, 0, 0, 1, n=0), "n is 0; expected 1 to"),
        (lambda: ng.fuse_batch_norm(1, 0, 0, 1, n=9).bits([0.5]), "popcounts have dtype float64"),
        (lambda: ng.plane_sums(ONE, np.zeros((2, 1), np.int8)), "v has dtype int8 and shape"),
    ],
)
def test_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ng.Error, match=says.replace("[", r"\[")):
        call()
