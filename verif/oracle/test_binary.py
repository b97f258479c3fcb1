# SPDX-License-Identifier: Apache-2.0
"""Popcounts, thresholds that hold a batch norm, and binary convolutions against vectors of others, bit for bit
(vectors/README.md); thresholds against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from originals import vectors

import narrowgauge as ng

MADE = vectors("binary")


def unpacked(name: str, n: int) -> np.ndarray:
    return np.unpackbits(MADE[name], axis=1, bitorder="little")[:, :n]


@pytest.mark.parametrize("n", [1, 27, 64, 129, 576, 1152])
def test_popcounts_thresholds_and_bits_are_theirs(n: int) -> None:
    x, w = unpacked(f"xnor/{n}.x", n), unpacked(f"xnor/{n}.w", n)
    counts = ng.popcount_dot(x, w)
    np.testing.assert_array_equal(counts, MADE[f"xnor/{n}.popcount"])
    norm = {name: MADE[f"xnor/{n}.{name}"].view(np.float32) for name in ("gamma", "beta", "mean", "var")}
    norm["variance"] = norm.pop("var")
    fused = ng.fuse_batch_norm(**norm, n=n)
    np.testing.assert_array_equal(fused.bits(counts), MADE[f"xnor/{n}.bit"])
    theirs = MADE[f"xnor/{n}.T"]
    inside = (theirs >= 0) & (theirs <= n)  # beyond, ours is the constant that theirs comes to
    np.testing.assert_array_equal(fused.value[inside], theirs[inside])
    np.testing.assert_array_equal(fused.at_most[inside], norm["gamma"][inside] < 0)
    assert inside.any()


def test_convolutions_are_theirs() -> None:
    """A zero of the padding is no number +1 or -1: its places do not count. Padding with -1 is another convolution."""
    x, w = MADE["xnorconv/x"], MADE["xnorconv/w"]
    samples, channels, height, width = x.shape
    outputs = w.shape[0]

    def places(image: np.ndarray) -> np.ndarray:
        padded = np.pad(image, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        return windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, channels * 9)

    bits, valid, weights = places(x), places(np.ones_like(x)), w.reshape(outputs, -1)

    def image(dot: np.ndarray) -> np.ndarray:
        return dot.reshape(samples, height, width, outputs).transpose(0, 3, 1, 2)

    np.testing.assert_array_equal(image(ng.xnor_dot(bits, weights, valid)), MADE["xnorconv/dot"])
    np.testing.assert_array_equal(image(ng.xnor_dot(bits, weights)), MADE["xnorconv/dot_pad_minus1"])
    np.testing.assert_array_equal(valid.sum(1).reshape(samples, height, width)[0], MADE["xnorconv/n_valid"])


def test_thresholds_are_those_of_exact_fractions() -> None:
    """The deviation is rational, so the norm is a fraction. Where it is 0, FP64's division by gamma may fall to either side."""
    random = np.random.default_rng(1)
    for _ in range(300):
        n = int(random.integers(1, 1000))
        gamma, beta, mean = (int(random.integers(-64, 65)) / 8 for _ in range(3))
        deviation, scale = int(random.integers(1, 9)) / 4, int(random.integers(1, 9)) / 8
        fused = ng.fuse_batch_norm(gamma, beta, mean, deviation**2 - 2**-20, n=n, scale=scale, epsilon=2**-20)
        slope, offset = Fraction(gamma) / Fraction(deviation), Fraction(beta)
        norm = [slope * (Fraction(scale) * (2 * count - n) - Fraction(mean)) + offset for count in range(n + 1)]
        decided = np.array([value != 0 or gamma == 0 for value in norm])
        bits = fused.bits(np.arange(n + 1)[:, None])[:, 0]
        np.testing.assert_array_equal(bits[decided], np.array([value >= 0 for value in norm])[decided])
