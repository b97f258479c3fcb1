# SPDX-License-Identifier: Apache-2.0
"""Stochastic rounding over all 2^r words: its expectation and its variance are exact, in every interval of a format.

A rounder that skips a value of the grid keeps the expectation and multiplies the variance; one that moves values which need
no rounding adds variance where there is none. Both are in the field, and both must be found here.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import narrowgauge as ng

F = np.float32
BITS = 8
WORDS = np.arange(2**BITS)
E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
Rounder = Callable[[np.ndarray, np.ndarray], np.ndarray]  # numbers and words to rounded numbers


def points(grid: list[float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, l, u: each interval in 2^r steps, from grid point to grid point, of both signs; exact in float32."""
    steps = np.arange(2**BITS + 1) / 2**BITS
    low, high = (np.repeat(np.array(side, np.float64), len(steps)) for side in (grid[:-1], grid[1:]))
    x = low + (high - low) * np.tile(steps, len(grid) - 1)
    assert (x.astype(F) == x).all()
    return tuple(np.concatenate([v, -v]) for v in (x, low, high))


def moments_are_exact(rounder: Rounder, grid: list[float]) -> bool:
    """Mean x and variance (x - l)(u - x) over all words, for every x; sums of integers times powers of two, so no error."""
    x, low, high = points(grid)
    results = np.stack([rounder(x.astype(F), np.full(x.shape, word)) for word in WORDS]).astype(np.float64)
    mean = results.sum(axis=0) / len(WORDS)
    variance = ((results - x) ** 2).sum(axis=0) / len(WORDS)
    return bool((mean == x).all() and (variance == (x - low) * (high - x)).all())


def in_dialect(dialect: str) -> Rounder:
    """Blocks of scale 1 under a tensor scale of 1: fifteen numbers and a 6."""

    def rounder(x: np.ndarray, words: np.ndarray) -> np.ndarray:
        padded = np.zeros(-(-len(x) // 15) * 15, F)
        padded[: len(x)] = x
        blocks = np.concatenate([padded.reshape(-1, 15), np.full((len(padded) // 15, 1), F(6))], axis=1)
        random = np.full(blocks.shape, words[0])
        q = ng.quantize(blocks, dialect=dialect, tensor_scale=1.0, rounding="stochastic", random=random)
        assert (q.scales == 0x38).all()
        return ng.decode(q.codes, "e2m1")[:, :15].reshape(-1)[: len(x)]

    return rounder


def in_mx(x: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Blocks of 31 numbers and a 6, whose scale is 1."""
    padded = np.zeros(-(-len(x) // 31) * 31, F)
    padded[: len(x)] = x
    blocks = np.concatenate([padded.reshape(-1, 31), np.full((len(padded) // 31, 1), F(6))], axis=1)
    q = ng.quantize(blocks, dialect="ocp_floor", rounding="stochastic", random=np.full(blocks.shape, words[0]))
    assert (q.scales == 127).all()
    return ng.decode(q.codes, "e2m1")[:, :31].reshape(-1)[: len(x)]


@pytest.mark.parametrize("dialect", ["narrowgauge", "narrowgauge:shape=16x16", "te", "te_2d", "torchao"])
def test_elements_of_a_dialect(dialect: str) -> None:
    assert moments_are_exact(in_dialect(dialect), E2M1)


def test_elements_of_mx() -> None:
    assert moments_are_exact(in_mx, E2M1)


@pytest.mark.parametrize("format", ["e2m1", "e2m3", "e3m2", "e4m3", "e5m2"])
def test_encode(format: str) -> None:
    """Every interval between two finite values, subnormal ones included."""
    f = ng.formats()[format]
    codes = np.arange(2 ** (f.bits - 1))
    values = ng.decode(codes.astype(np.uint8), format)
    grid = values[np.isfinite(values)].astype(np.float64).tolist()

    def rounder(x: np.ndarray, words: np.ndarray) -> np.ndarray:
        return ng.decode(ng.encode(x, format, rounding="stochastic", random=words, random_bits=BITS), format)

    assert moments_are_exact(rounder, grid)


def on_grid(grid: list[float], x: np.ndarray, words: np.ndarray, moves: bool) -> np.ndarray:
    """Stochastic rounding to a grid; `moves`: values on it are taken for the middle of the two intervals around them."""
    g = np.array(grid)
    size = np.abs(x.astype(np.float64))
    at = np.clip(np.searchsorted(g, size, side="right") - 1, 0, len(g) - 2)
    low, high = g[at], g[at + 1]
    if moves:
        inner = (size == low) & (at > 0)
        low = np.where(inner, g[at - 1], low)
    up = np.floor((size - low) / (high - low) * 2**BITS) + words >= 2**BITS
    return np.copysign(np.where(up, high, low), x)


def test_the_defects_of_the_field_are_found() -> None:
    """The same check with a correct rounder, one without 1.5, one that moves what is on the grid, one of less bits."""
    skipping = [v for v in E2M1 if v != 1.5]
    assert moments_are_exact(lambda x, w: on_grid(E2M1, x, w, False), E2M1)
    assert not moments_are_exact(lambda x, w: on_grid(skipping, x, w, False), E2M1)
    assert not moments_are_exact(lambda x, w: on_grid(E2M1, x, w, True), E2M1)
    assert not moments_are_exact(lambda x, w: on_grid(E2M1, x, w & ~1, False), E2M1)
    x, low, high = points(E2M1)
    results = np.stack([on_grid(skipping, x, np.full(x.shape, word), False) for word in WORDS])
    inside = (np.abs(x) >= 1) & (np.abs(x) <= 2) & (x * 2**BITS % 1 == 0)  # whole steps of the wider interval
    assert (results.mean(axis=0)[inside] == x[inside]).all()  # a test of the mean alone is blind to it
    variance = ((results - x) ** 2).mean(axis=0)[inside].mean()
    assert 3.9 < variance / ((x - low) * (high - x))[inside].mean() < 4.1


@pytest.mark.parametrize("bits", [1, 3, 8, 12])
def test_probability(bits: int) -> None:
    """Between the steps: of 2^r words exactly floor(delta 2^r) round up, in Transformer Engine's sequence, too."""
    rng = np.random.default_rng(41)
    x = np.concatenate([[6.0], rng.uniform(0, 6, 15)]).astype(F)[None]
    e2m1 = np.array(E2M1)
    at = np.clip(np.searchsorted(e2m1, x, side="right") - 1, 0, 6)
    delta = (x - e2m1[at]) / (e2m1[at + 1] - e2m1[at])
    words = np.arange(2**bits)
    for dialect in ("narrowgauge", "te"):
        up = np.zeros(x.shape, int)
        for word in words:
            random = np.full(x.shape, word)
            q = ng.quantize(
                x, dialect=dialect, tensor_scale=1.0, rounding="stochastic", random=random, random_bits=bits
            )
            up += q.codes > at
        np.testing.assert_array_equal(up[0, 1:], np.floor(delta * 2**bits)[0, 1:])
