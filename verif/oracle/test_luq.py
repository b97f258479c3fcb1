# SPDX-License-Identifier: Apache-2.0
"""LUQ (docs/luq.md) against its rules in exact fractions, written from the paper's formulas (arXiv 2112.10769)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import narrowgauge as ng

F = np.float32


def grid(levels: int) -> list[Fraction]:
    return [Fraction(0)] + [Fraction(2) ** k for k in range(levels)]


def rule(x: float, alpha: float, levels: int, word: int, bits: int) -> Fraction:
    """Stochastic underflow, then logarithmic stochastic rounding, as two operators: in units of alpha."""
    y = abs(Fraction(float(x))) / Fraction(float(alpha))
    words = 2**bits
    if y < 1:  # T_alpha: alpha with probability |x| / alpha
        size = Fraction(int(math.floor(y * words) + word >= words))
    elif y >= 2 ** (levels - 1):
        size = Fraction(2) ** (levels - 1)
    else:
        low = Fraction(2) ** (len(bin(math.floor(y))) - 3)  # [low, 2 low): up with probability (y - low) / low
        size = 2 * low if math.floor((y - low) / low * words) + word >= words else low
    return -size if x < 0 else size


def value(code: int, levels: int) -> int:
    sign = 3 if levels == 7 else 4
    field = code & (2**sign - 1)
    return (-1 if code >> sign else 1) * (0 if field == 0 else 2 ** (field - 1))


@pytest.mark.parametrize("levels", [7, 8])
@pytest.mark.parametrize("power_of_two", [True, False])
def test_alpha(levels: int, power_of_two: bool) -> None:
    rng = np.random.default_rng(1)
    for amax in rng.lognormal(0, 20, 500).astype(F).tolist() + [1.0, 64.0, 3e38, 1e-45]:
        alpha = ng.luq.alpha(amax, levels=levels, power_of_two=power_of_two)
        exact = Fraction(amax) / 2 ** (levels - 1)
        assert Fraction(alpha) >= exact
        assert F(alpha) == alpha
        if power_of_two:
            assert math.frexp(alpha)[0] == 0.5
            assert alpha == 2.0**-127 or Fraction(alpha) / 2 < exact
        else:
            assert Fraction(float(np.nextafter(F(alpha), F(0)))) < exact


@pytest.mark.parametrize("bits", [1, 3, 8])
def test_expectation_variance_and_bias(bits: int) -> None:
    """Over all words, in every octave and below alpha, on a grid four times as fine as the random bits: the expectation is short
    of x by (delta - floor(delta 2^r) / 2^r)(u - l), the variance is (x - l)(u - x) where r bits hold delta. All numbers are
    dyadic, so float64 is exact."""
    words = 2**bits
    points = np.array([float(v) for v in grid(7)])
    delta = np.arange(4 * words) / (4 * words)
    low, high = (np.repeat(side, len(delta)) for side in (points[:-1], points[1:]))
    delta = np.tile(delta, len(points) - 1)
    x = low + (high - low) * delta
    results = np.stack(
        [
            ng.decode(
                ng.encode(-x, "e3m0", rounding="stochastic", random=np.full(x.shape, word), random_bits=bits), "e3m0"
            )
            for word in range(words)
        ]
    ).astype(np.float64)
    mean = results.sum(axis=0) / words
    bias = (delta - np.floor(delta * words) / words) * (high - low)
    assert (-mean == x - bias).all()
    assert (bias < (high - low) / words).all()
    variance = ((results - mean) ** 2).sum(axis=0) / words
    held = bias == 0
    assert (variance[held] == ((x - low) * (high - x))[held]).all()
    for i in range(0, len(x), max(1, len(x) // 50)):
        assert results[:, i].tolist() == [float(rule(-x[i], 1.0, 7, word, bits)) for word in range(words)]


@pytest.mark.parametrize("power_of_two", [True, False])
@pytest.mark.parametrize("levels", [7, 8])
def test_quantizer_follows_the_rule(levels: int, power_of_two: bool) -> None:
    """Each code is the rule's for some word of the right set: counted over many seeds, as often as the rule says."""
    rng = np.random.default_rng(levels)
    x = (rng.lognormal(0, 2, 64) * rng.choice([-1, 1], 64)).astype(F)
    bits, seeds = 2, 200
    counts: list[dict[int, int]] = [{} for _ in x]
    alpha = 0.0
    for seed in range(seeds):
        q = ng.luq.quantize(x, levels=levels, power_of_two=power_of_two, random_bits=bits, seed=seed)
        alpha = q.alpha
        for i, code in enumerate(q.codes[0].tolist()):
            counts[i][value(code, levels)] = counts[i].get(value(code, levels), 0) + 1
    for i, number in enumerate(x.tolist()):
        expected = [int(rule(number, alpha, levels, word, bits)) for word in range(2**bits)]
        assert set(counts[i]) <= set(expected)
        for result in set(expected):
            share = expected.count(result) / 2**bits
            assert abs(counts[i].get(result, 0) / seeds - share) < 6 * math.sqrt(share * (1 - share) / seeds) + 1e-9


def test_words_are_fields_of_the_stream() -> None:
    """The words that decide are recovered exactly: 0 < x < alpha goes up iff floor(x 2^r) + R >= 2^r, for all x of one seed."""
    bits, seed, n = 4, 7, 48
    least = np.full(n, 2**bits)  # the least x 2^r that went up, element by element
    for step in range(2**bits + 1):
        x = np.full(n + 1, step / 2**bits, F)
        x[n] = 64
        q = ng.luq.quantize(x, random_bits=bits, seed=seed)
        assert q.alpha == 1
        up = (q.codes[0][:n] & 7) > 0
        least = np.minimum(least, np.where(up, step, 2**bits))
    words = 2**bits - least
    y = ng.encode(np.full(n, 0.5, F), "e3m0", rounding="stochastic", random=words.astype(np.uint32), random_bits=bits)
    q = ng.luq.quantize(np.append(np.full(n, 0.5, F), F(64)), random_bits=bits, seed=seed)
    assert (y == q.codes[0][:n]).all()
    assert len(set(words.tolist())) > 8  # they are words, not a constant


def test_nearest_power() -> None:
    """2^floor(log2(4 x / 3)) from alpha on; half of alpha goes to 0, what is above it to alpha."""
    x = np.concatenate([np.linspace(0, 70, 3001), [1.5, 3, 6, 12, 24, 48, 0.5]]).astype(F)
    q = ng.luq.quantize(np.append(x, F(64)), rounding="nearest_power", amax=64.0)
    for number, code in zip(x.tolist(), q.codes[0].tolist(), strict=False):
        y = Fraction(number)
        if y < 1:
            expected = Fraction(int(y > Fraction(1, 2)))
        else:
            third = 4 * y / 3
            expected = min(Fraction(2) ** (len(bin(math.floor(third))) - 3), Fraction(64))
        assert value(code, 7) == expected, number


def test_int4_and_sawb() -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal(1000).astype(F)
    clip = ng.luq.sawb_clip(x)
    wide = x.astype(np.float64)
    assert abs(clip - (12.1 * np.sqrt(np.mean(wide**2)) - 12.2 * np.mean(np.abs(wide)))) < 1e-9
    q = ng.luq.int4(x)
    assert q.scale == F(2 * clip / 15)
    for number, integer in zip(x.tolist(), q.values.tolist(), strict=True):
        assert integer == max(-8, min(7, round(Fraction(number) / Fraction(float(q.scale)))))  # round(): ties to even


@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("levels", [7, 8])
def test_gemm(levels: int, samples: int) -> None:
    rng = np.random.default_rng(3)
    a, b = ng.luq.int4(rng.standard_normal((5, 70))), rng.lognormal(0, 2, (70, 6)) * rng.choice([-1, 1], (70, 6))
    g = ng.luq.quantize(b, levels=levels, samples=samples, power_of_two=False)
    assert g.codes.shape == (samples, 70, 6)
    scale = F(a.scale) * F(g.alpha)
    products = []
    for codes in g.codes:
        integers = np.array([[value(int(code), levels) for code in row] for row in codes])
        sums = a.values.astype(np.int64) @ integers
        products.append(sums.astype(F) * scale)
    expected = (np.sum(np.stack(products).astype(np.float64), axis=0) / samples).astype(F)
    c = ng.luq.gemm(a, g)
    np.testing.assert_array_equal(c, expected)
    np.testing.assert_array_equal(ng.luq.gemm(g.T, a.T), expected.T)


def test_sampling_divides_the_variance() -> None:
    rng = np.random.default_rng(9)
    x = rng.lognormal(0, 1, 4096).astype(F)
    error = [np.mean((ng.luq.fake_quantize(x, samples=n, seed=1) - x) ** 2) for n in (1, 2, 8)]
    assert 1.8 < error[0] / error[1] < 2.2
    assert 7 < error[0] / error[2] < 9
    assert error[0] > np.mean((ng.luq.fake_quantize(x, rounding="nearest_power") - x) ** 2)


def test_hindsight() -> None:
    m = ng.luq.HindsightMax()
    assert m.amax == 0
    m.record(8)
    m.record(4)
    assert m.amax == F(0.9 * 4 + 0.1 * 8)
    q = ng.luq.quantize([1.0, 100.0], amax=m.amax)
    assert q.codes[0, 1] == 7


BAD_SCALES = (np.nan, np.inf, 0.0, -1.0, 1e-60, 1e60)
ONE = np.ones((1, 1), np.uint8)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ng.luq.quantize([1, np.nan]), "element 1 is nan; expected finite numbers"),
        (lambda: ng.luq.quantize([]), "x is empty"),
        (lambda: ng.luq.quantize([1], levels=9), "levels is 9; expected 7 to 8"),
        (lambda: ng.luq.quantize([1], rounding="nearest"), "expected one of stochastic, nearest_power"),
        (lambda: ng.luq.quantize([1], samples=2, rounding="nearest_power"), "they would all be equal"),
        (lambda: ng.luq.quantize([1], random_bits=25), "random_bits is 25; expected 1 to 24"),
        (lambda: ng.luq.int4([1], clip=-1), "clip is -1"),
        (lambda: ng.luq.Int4Array([0, 15], 1.0), "9, 11, 13 and 15 take three bits of mantissa"),
        (lambda: ng.luq.Int4Array([0.5], 1.0), "expected integers"),
        *((lambda s=s: ng.luq.Int4Array([0], s), "scale is .*; expected a positive finite") for s in BAD_SCALES),
        *((lambda s=s: ng.luq.LuqArray(ONE, s, 7), "alpha is .*; expected a positive finite") for s in BAD_SCALES),
        (lambda: ng.luq.LogStatistics(0, 0, 0.0, 1.0, 1.0), "count is 0; expected 1 to"),
        (lambda: ng.luq.LogStatistics(10, 11, 0.0, 1.0, 1.0), "zeros is 11; expected 0 to 10"),
        (lambda: ng.luq.LogStatistics(10, 0, np.nan, 1.0, 1.0), "mean is nan; expected a finite number"),
        (lambda: ng.luq.LogStatistics(10, 0, 0.0, -1.0, 1.0), "sigma is -1.0; expected a finite number, 0 or more"),
        (lambda: ng.luq.LogStatistics(10, 0, 0.0, 1.0, np.inf), "amax is inf; expected"),
        (lambda: ng.luq.LuqArray(ONE, 1.0, 6), "levels is 6; expected 7 to 8"),
        (lambda: ng.luq.LuqArray(16 * ONE, 1.0, 7), "codes hold 16; expected a sign of 8 above a field of 0 to 7"),
        (lambda: ng.luq.LuqArray(9 * ONE, 1.0, 8), "codes hold 9; expected a sign of 16 above a field of 0 to 8"),
        (lambda: ng.luq.LuqArray(32 * ONE, 1.0, 8), "codes hold 32"),
        (lambda: ng.luq.LuqArray([[1]], 1.0, 7), "codes are list; expected an array of uint8"),
        (lambda: ng.luq.LuqArray(np.float32([[1]]), 1.0, 7), "codes are float32 of shape"),
        (lambda: ng.luq.gemm(ng.luq.int4([[1.0]]), ng.luq.int4([[1.0]])), "expected one LuqArray and one Int4Array"),
        (lambda: ng.luq.gemm(ng.luq.int4([[1.0]]), ng.luq.quantize([1.0])), "expected two dimensions"),
        (lambda: ng.luq.gemm(ng.luq.int4([[1.0]]), np.ones((1, 1))), "expected what luq.quantize or luq.int4 returns"),
        (lambda: ng.luq.HindsightMax(1), "eta is 1"),
        (lambda: ng.luq.alpha(-1), "expected a finite number, 0 or more"),
    ],
)
def test_refused(call, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ng.Error, match=says):
        call()
