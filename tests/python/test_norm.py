# SPDX-License-Identifier: Apache-2.0
"""Batch normalization against numpy, and its gradients against differences; the authors' own results are in
verif/oracle/test_batch_norm.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

import narrowgauge as ng

EPSILON = 1e-5


def constant(factor: float, count: int) -> float:
    return float(factor * (1 + np.sqrt(np.pi * np.log(4))) / np.sqrt(2 * np.log(count)))


def spread(
    rule: str, x: NDArray[np.float64], top: int, chunks: int, before: NDArray[np.float64]
) -> NDArray[np.float64]:
    """By the definitions, of channels as rows."""
    if rule.startswith("range"):
        parts = x.reshape(len(x), chunks, -1)
        return (parts.max(-1) - parts.min(-1)).mean(-1) * constant(0.175, parts.shape[-1])
    d = np.abs(x - x.mean(-1, keepdims=True))
    largest = np.sort(d, -1)[:, -top:].mean(-1)
    return {
        "l1": np.sqrt(np.pi / 2) * d.mean(-1),
        "l1_raw": d.mean(-1),
        "l2": (d**2).mean(-1),
        "top_k": constant(0.5, x.shape[-1]) * largest,
        "ghost_top_k": constant(0.5, x.shape[-1]) * (0.75 * before + 0.25 * largest),
    }[rule]


def normalized(
    rule: str, x: NDArray[np.float64], gamma: NDArray[np.float64], before: NDArray[np.float64]
) -> NDArray[np.float64]:
    s = spread(rule, x, 5, 4, before) + EPSILON
    scale = 1 / np.sqrt(s) if rule == "l2" else 1 / s
    return (x - x.mean(-1, keepdims=True)) * (scale * gamma)[:, None] + 0.25


@pytest.mark.parametrize("rule", list(ng.batch_norm_rules()))
def test_definitions_and_gradients(rule: str) -> None:
    random = np.random.default_rng(1)
    x = random.normal(1, 2, (2, 3, 4, 5)).astype(np.float32)
    g = random.normal(0, 1, x.shape).astype(np.float32)
    gamma, beta = random.random(3).astype(np.float32) + np.float32(0.5), np.full(3, 0.25, np.float32)
    before = np.full(3, 0.7, np.float32)
    norm = ng.BatchNorm(rule=rule, grid="fp32", chunks=4, top=5, epsilon=EPSILON)
    result = norm.forward(x, gamma, beta, previous=before)
    rows = x.astype(np.float64).transpose(1, 0, 2, 3).reshape(3, -1)
    wide = before.astype(np.float64), gamma.astype(np.float64)
    np.testing.assert_allclose(result.mean, rows.mean(-1), rtol=1e-6)
    np.testing.assert_allclose(result.spread, spread(rule, rows, 5, 4, wide[0]), rtol=1e-6)
    expected = normalized(rule, rows, wide[1], wide[0])
    np.testing.assert_allclose(result.y.transpose(1, 0, 2, 3).reshape(3, -1), expected, rtol=1e-5, atol=1e-6)

    back = norm.backward(x, result, g)
    outer = g.astype(np.float64).transpose(1, 0, 2, 3).reshape(3, -1)
    np.testing.assert_allclose(back.beta, outer.sum(-1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(back.gamma, (outer * (expected - 0.25)).sum(-1) / gamma, rtol=1e-5, atol=1e-5)
    found = back.x.transpose(1, 0, 2, 3).reshape(3, -1)
    for place in np.ndindex(rows.shape):
        h = 1e-6
        up, down = rows.copy(), rows.copy()
        up[place] += h
        down[place] -= h
        slope = (outer * (normalized(rule, up, wide[1], wide[0]) - normalized(rule, down, wide[1], wide[0]))).sum() / (
            2 * h
        )
        assert abs(found[place] - slope) < 2e-5


def test_codes_have_exact_statistics() -> None:
    random = np.random.default_rng(2)
    codes = random.integers(-128, 128, (8, 5, 16), dtype=np.int8)
    stats = ng.range_stats(codes)
    parts = codes.transpose(1, 0, 2).reshape(5, 16, -1).astype(int)
    assert stats.maxima.tolist() == parts.max(-1).sum(-1).tolist()
    assert stats.minima.tolist() == parts.min(-1).sum(-1).tolist()
    assert stats.sums.tolist() == parts.sum((-1, -2)).tolist()
    norm, step, low = ng.BatchNorm(axis=-2), 0.125, -16.0
    gamma, beta = np.ones(5), np.zeros(5)
    result = norm.forward(codes, gamma, beta, step=step, low=low)
    np.testing.assert_array_equal(result.mean, ((stats.sums / 128 + 128) * step + low).astype(np.float32))
    np.testing.assert_allclose(result.spread, (stats.maxima - stats.minima) / 16 * step * constant(0.175, 8), rtol=1e-6)
    values = norm.forward(codes * step, gamma, beta)
    np.testing.assert_array_equal(values.y, result.y)
    back = norm.backward(codes, result, codes.astype(np.float32), step=step, low=low)
    np.testing.assert_array_equal(back.x, norm.backward(codes * step, values, codes.astype(np.float32)).x)


def test_moments_give_variance_and_deviation_exactly() -> None:
    codes = np.random.default_rng(3).integers(-128, 128, (8, 5, 16), dtype=np.int8)
    channels = codes.transpose(1, 0, 2).reshape(5, -1).astype(int)
    n, sums = channels.shape[1], channels.sum(1)
    squares = ng.moment_stats(codes)
    assert squares.spreads.tolist() == (channels**2).sum(1).tolist()
    assert squares.sums.tolist() == sums.tolist()
    centre = (sums // n).astype(np.int8)
    distances = ng.moment_stats(codes, centre=centre)
    deviation = n * distances.spreads.astype(int) + (sums - centre.astype(int) * n) * (n - 2 * distances.sums)
    assert deviation.tolist() == abs(channels * n - sums[:, None]).sum(1).tolist()


def test_applied_as_in_hardware() -> None:
    random = np.random.default_rng(6)
    codes = random.integers(-128, 128, (4, 3, 50), dtype=np.int8)
    mean, m, b = np.array([-3.5, 0.25, 17.0]), np.array([0.75, -1.5, 31.0]), np.array([0.5, 10.25, -3.0])
    y = (codes - mean[:, None]) * m[:, None] + b[:, None]  # exact, also in units of 2^-10
    np.testing.assert_array_equal(ng.norm_apply(codes, mean, m, b), np.clip(np.rint(y), -128, 127))
    wide = ng.norm_apply(codes, mean, m, b, exponent=-8, bf16=True)
    np.testing.assert_array_equal(wide, ng.encode(y, "bf16"))


def test_grids() -> None:
    """The paper's grid loses the scale of a wide channel beside a narrow one; BF16 keeps it."""
    random = np.random.default_rng(3)
    x = (random.normal(0, 1, (64, 2, 16)) * np.array([0.01, 3.0])[:, None]).astype(np.float32)
    ones, zeros = np.ones(2), np.zeros(2)
    exact, paper, bf16 = (ng.BatchNorm(grid=grid).forward(x, ones, zeros) for grid in ("fp32", "paper", "bf16"))
    np.testing.assert_array_equal(exact.scale, exact.scale_used)
    np.testing.assert_allclose(paper.scale_used, exact.scale[[0, 1]], rtol=1e-6)  # the ends of the grid
    np.testing.assert_array_equal(bf16.scale_used, ng.decode(ng.encode(exact.scale, "bf16"), "bf16"))
    wider = np.concatenate([x, x[:, 1:] * np.float32(0.8)], axis=1)
    lost = ng.BatchNorm(grid="paper").forward(wider, np.ones(3), np.zeros(3))
    assert lost.scale_used[2] == lost.scale_used[1]
    kept = ng.BatchNorm().forward(wider, np.ones(3), np.zeros(3))
    np.testing.assert_allclose(kept.scale_used, kept.scale, rtol=2**-8)


def test_calibtip_divides_and_keeps_spreads() -> None:
    x = np.random.default_rng(4).normal(0, 1, (16, 2, 4)).astype(np.float32)
    norm = ng.BatchNorm(rule="range_calibtip", grid="fp32")
    result = norm.forward(x, [1, 2], [0, 1])
    expected = (x - result.mean[:, None]) / (result.spread[:, None] + np.float32(1e-5)) * np.float32(
        [[1], [2]]
    ) + np.float32([[0], [1]])
    np.testing.assert_array_equal(result.y, expected)
    mean, running = norm.average(result, [1, 1], [1, 1])
    np.testing.assert_array_equal(running, np.float32(0.1) + np.float32(0.9) * result.spread)
    np.testing.assert_array_equal(mean, np.float32(0.1) + np.float32(0.9) * result.mean)
    y = norm.evaluate(x, result.mean, result.spread, [1, 2], [0, 1])
    np.testing.assert_array_equal(y, result.y)


def test_bounded_weight_norm() -> None:
    random = np.random.default_rng(5)
    v, g, rho = random.normal(0, 1, (4, 3, 3)).astype(np.float32), np.float32([1, -2, 0.5, 3]), 2.5
    out = random.normal(0, 1, v.shape).astype(np.float32)

    def weights(v: NDArray[np.float64], g: NDArray[np.float64] | None) -> NDArray[np.float64]:
        size = np.full(4, rho) if g is None else g * rho / np.sqrt((g**2).sum())
        return v / np.sqrt((v**2).sum((1, 2), keepdims=True)) * size[:, None, None]

    for magnitudes in (None, g):
        wide = None if magnitudes is None else magnitudes.astype(np.float64)
        w = ng.bounded_weight_norm(v, magnitudes, rho=rho)
        np.testing.assert_allclose(w, weights(v.astype(np.float64), wide), rtol=1e-6)
        dv, dg = ng.bounded_weight_norm_backward(v, out, magnitudes, rho=rho)
        h = 1e-6
        for place in np.ndindex(v.shape):
            up, down = v.astype(np.float64), v.astype(np.float64)
            up[place] += h
            down[place] -= h
            assert abs(dv[place] - (out * (weights(up, wide) - weights(down, wide))).sum() / (2 * h)) < 1e-5
        assert (dg is None) == (magnitudes is None)
        if dg is None or wide is None:
            continue
        assert dg.shape == g.shape
        for c in range(4):
            up, down = wide.copy(), wide.copy()
            up[c] += h
            down[c] -= h
            slope = (out * (weights(v.astype(np.float64), up) - weights(v.astype(np.float64), down))).sum() / (2 * h)
            assert abs(dg[c] - slope) < 1e-5


X = np.ones((2, 3, 16), np.float32)
CODES = np.ones((2, 3, 16), np.int8)
THREE = np.ones(3)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ng.BatchNorm(rule="batch"), 'rule of batch normalization "batch" is unknown; expected one of range, '),
        (lambda: ng.BatchNorm(grid="int8"), "grid is 'int8'; expected one of bf16, paper, fp32"),
        (lambda: ng.BatchNorm(epsilon=0), "epsilon is 0.0; expected a finite number above 0"),
        (lambda: ng.BatchNorm(chunks=0), "chunks is 0; expected 1 to"),
        (lambda: ng.BatchNorm(chunks=5).forward(X, THREE, THREE), "a channel of 32 numbers is not cut into 5 chunks"),
        (lambda: ng.BatchNorm(chunks=32).forward(X, THREE, THREE), "not cut into 32 chunks; expected chunks of equal"),
        (lambda: ng.BatchNorm(rule="top_k", top=33).forward(X, THREE, THREE), "top is 33 in a channel of 32 numbers"),
        (lambda: ng.BatchNorm(axis=3).forward(X, THREE, THREE), "axis is 3; expected numbers, and the axis"),
        (lambda: ng.BatchNorm().forward(X, np.ones(4), THREE), "gamma has 4 numbers for 3 channels"),
        (lambda: ng.BatchNorm().forward(X, THREE, np.ones(2)), "2 elements of beta for 3 channels"),
        (lambda: ng.BatchNorm().forward(X * np.inf, THREE, THREE), "number 0 is inf; expected a finite number"),
        (lambda: ng.BatchNorm().forward(X, THREE, THREE, step=1.0), "step and low are not both given"),
        (
            lambda: ng.BatchNorm().forward(X, THREE, THREE, step=1.0, low=0.0),
            "x has dtype float32; expected int8 codes",
        ),
        (lambda: ng.BatchNorm().forward(CODES, THREE, THREE, step=0.0, low=0.0), "step is 0.0"),
        (lambda: ng.BatchNorm(rule="l1").forward(CODES, THREE, THREE, step=1.0, low=0.0), "no integer statistics"),
        (lambda: ng.BatchNorm().backward(X, ng.BatchNorm().forward(X, THREE, THREE), X[0]), "g has shape"),
        (lambda: ng.BatchNorm().evaluate(X, np.ones(2), THREE, THREE, THREE), "mean has 2 numbers for 3 channels"),
        (
            lambda: ng.norm_apply(CODES, THREE, 64 * THREE, THREE),
            "the multiplier is 65536.000000 units; expected a number of 16",
        ),
        (lambda: ng.norm_apply(CODES, THREE, THREE, THREE, exponent=0), "exponent is 0; expected -15 to -2"),
        (lambda: ng.norm_apply(CODES, THREE, THREE, np.ones(2)), "b has 2 numbers for 3 channels"),
        (lambda: ng.range_stats(X), "codes have dtype float32; expected int8"),
        (lambda: ng.moment_stats(X), "codes have dtype float32; expected int8"),
        (
            lambda: ng.moment_stats(CODES, centre=np.zeros(2, np.int8)),
            "centre has dtype int8 and shape (2,); expected int8",
        ),
        (lambda: ng.range_stats(CODES, chunks=3), "32 codes in 3 chunks; expected 1 to 65536 codes"),
        (lambda: ng.bounded_weight_norm(np.zeros((2, 2)), rho=1), "the norm of row 0 is 0"),
        (lambda: ng.bounded_weight_norm(X, np.ones(3), rho=1), "3 magnitudes for 2 rows"),
        (lambda: ng.bounded_weight_norm(X, rho=0), "rho is 0"),
    ],
)
def test_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ng.Error) as caught:
        call()
    assert says in str(caught.value)
