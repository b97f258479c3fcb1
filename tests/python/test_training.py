# SPDX-License-Identifier: Apache-2.0
"""Reciprocal roots and normalized rows against exact fractions, smoothed channels in float64, and Adam against its rule in
NumPy, rounded where the rules round."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt
from typing import Any

import exact
import ml_dtypes
import numpy as np
import pytest

import narrowgauge as ng


def rounded(x: Fraction) -> np.float32:
    """The nearest float32, ties to even: by integers, for numbers in range."""
    if x == 0:
        return np.float32(0)
    size, sign = abs(x), 1 if x > 0 else -1
    exponent = max(size.numerator.bit_length() - size.denominator.bit_length() - 24, -149)
    while size >= Fraction(2) ** (exponent + 24):
        exponent += 1
    while exponent > -149 and size < Fraction(2) ** (exponent + 23):
        exponent -= 1
    scaled = size / Fraction(2) ** exponent
    units = scaled.numerator // scaled.denominator
    rest = scaled - units
    units += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and units % 2)
    return np.float32(sign * units * 2.0**exponent)


def root(x: np.float32) -> np.float32:
    """1 / sqrt(x), from a square root of integers with 200 bits to spare, which is no tie."""
    exact = Fraction(float(x))
    return rounded(Fraction(isqrt((exact.denominator << 400) // exact.numerator), 1 << 200))


def same(a: np.ndarray, b: np.ndarray) -> bool:
    return bool((a.view(np.uint32) == np.asarray(b, np.float32).view(np.uint32)).all())


def test_rsqrt() -> None:
    random = np.random.default_rng(1)
    x = random.integers(1, 0x7F800000, 500, dtype=np.uint32)
    x[:100] &= 0x7FFFFF  # subnormal numbers
    values = np.maximum(x, 1).view(np.float32)
    assert same(ng.rsqrt(values), np.array([root(value) for value in values]))
    special = ng.rsqrt([0.0, -0.0, np.inf, -1.0, np.nan, 4.0])
    assert [hex(code) for code in special.view(np.uint32)] == [
        *("0x7f800000", "0xff800000", "0x0", "0x7fc00000", "0x7fc00000", "0x3f000000")
    ]
    assert ng.rsqrt(4.0).shape == ()
    assert ng.rsqrt(np.ones((2, 3))).shape == (2, 3)


@pytest.mark.parametrize("scale", [1e-6, 1e-3, 1.0, 1e10])
def test_l2_normalize(scale: float) -> None:
    x = (np.random.default_rng(2).standard_normal((6, 37)) * scale).astype(np.float32)
    x[0, :5] = (0, -0.0, 1e-40, 3, -3)
    y = ng.l2_normalize(x)
    for row, normalized in zip(x, y, strict=True):
        total = np.float32(1e-6)
        for value in row:
            total = rounded(Fraction(float(value)) ** 2 + Fraction(float(total)))
        r = Fraction(float(root(total)))
        expected = np.array([rounded(Fraction(float(value)) * r) for value in row], np.float32)
        assert same(np.where(row == 0, 0, normalized), np.where(row == 0, 0, expected))
    assert np.signbit(y[0, :2]).tolist() == [False, True]  # zeros keep their signs
    if scale >= 1:
        assert np.allclose((y.astype(np.float64) ** 2).sum(-1), 1, atol=1e-5)
    assert same(ng.l2_normalize(x[1]), y[1])
    assert same(ng.l2_normalize(x.reshape(2, 3, 37)).reshape(6, 37), y)


def test_l2_normalize_of_nothing_and_of_too_much() -> None:
    assert (ng.l2_normalize(np.zeros(4)) == 0).all()
    assert (ng.l2_normalize([1e30, 1.0]) == 0).all()  # the sum overflows
    assert np.isnan(ng.l2_normalize([np.nan, 1.0])).all()
    assert ng.l2_normalize(np.zeros((3, 0))).shape == (3, 0)


def test_refused() -> None:
    with pytest.raises(ng.Error, match="x has no dimensions; expected a row"):
        ng.l2_normalize(1.0)
    for epsilon in (0, -1e-6, np.inf, np.nan, 1e-60):
        with pytest.raises(ng.Error, match="expected a positive finite number"):
            ng.l2_normalize([1.0], epsilon=epsilon)


def over_powers(x: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Smooth-SwiGLU's rule in float64, where no bfloat16 over a power of two is rounded; NumPy's bfloat16 rounds x."""
    exact = x.astype(ml_dtypes.bfloat16).astype(np.float64)
    sizes = np.where(np.isfinite(exact) & (np.abs(exact) >= 2.0**-126), np.abs(exact), 0)
    amax = sizes.max(axis, keepdims=True)
    power = np.where(amax > 0, np.frexp(np.where(amax > 0, amax, 1))[1] - 1, 0)
    y = np.ldexp(exact, -power)
    gone = (np.abs(exact) < 2.0**-126) | (np.abs(y) < 2.0**-126)
    return np.where(gone, np.copysign(0.0, exact), y).astype(np.float32), np.squeeze(power + 127, axis)


@pytest.mark.parametrize("axis", [-2, -1])
@pytest.mark.parametrize("spread", [1, 20, 120])
def test_smooth(axis: int, spread: int) -> None:
    random = np.random.default_rng(spread)
    x = random.standard_normal((3, 40, 24)) * np.exp2(random.integers(-spread, spread + 1, (3, 40, 24)))
    x = x.astype(np.float32)
    x[0, :, 3], x[1, 5] = 0, 1e-40
    x[2, ::7, ::5] = (np.inf, -np.inf, np.nan, -0.0, 3e38)
    values, scales = ng.smooth(x, axis=axis)
    expected, codes = over_powers(x, axis)
    assert (scales == codes).all()
    assert scales.dtype == np.uint8
    assert (np.isnan(values) == np.isnan(expected)).all()
    assert same(np.nan_to_num(values, nan=0), np.nan_to_num(expected, nan=0))
    one = ng.smooth(x[1], axis=axis)
    assert same(one.values, values[1])
    assert (one.scales == scales[1]).all()
    finite = np.where(np.isfinite(values), np.abs(values), 0).max(axis)
    assert ((finite < 2) & ((finite >= 1) | (finite == 0))).all()


def test_smooth_and_fold_cancel() -> None:
    random = np.random.default_rng(4)
    x = np.round(random.standard_normal((9, 16)) * 32) * np.exp2(random.integers(-6, 7, 16))
    w = np.round(random.standard_normal((16, 5)) * 16)
    values, scales = ng.smooth(x)
    folded = ng.fold_scales(w, scales)
    bf16 = [np.asarray(each, ml_dtypes.bfloat16).astype(np.float64) for each in (x, w)]
    assert (values.astype(np.float64) @ folded.astype(np.float64) == bf16[0] @ bf16[1]).all()
    ends = ng.fold_scales([[1.5, -1.0, 2e-38, np.inf], [3.0, -3.0, 1e-40, np.nan]], np.array([1, 254], np.uint8))
    assert ends.view(np.uint32).tolist() == [
        [0x00C00000, 0x80800000, 0, 0x7F800000],
        [0x7F800000, 0xFF800000, 0, 0x7FC00000],
    ]
    assert ng.smooth(np.zeros((2, 0, 3))).scales.tolist() == [[127] * 3] * 2
    assert ng.smooth(np.zeros((0, 3)), axis=-1).values.shape == (0, 3)


def test_smooth_refuses() -> None:
    scales = np.full(2, 127, np.uint8)
    with pytest.raises(ng.Error, match="x has 1 dimensions; expected rows of channels"):
        ng.smooth([1.0])
    with pytest.raises(ng.Error, match="axis is 0; expected -2, by channels, or -1, by tokens"):
        ng.smooth([[1.0]], axis=0)
    with pytest.raises(ng.Error, match="w has 1 dimensions; expected two, channels x outputs"):
        ng.fold_scales([1.0, 2.0], scales)
    with pytest.raises(ng.Error, match=r"scales has shape \(2,\); expected a code for each of the 3 rows of w"):
        ng.fold_scales(np.ones((3, 1)), scales)
    with pytest.raises(ng.Error, match="scales holds 255; expected codes of 1 to 254"):
        ng.fold_scales(np.ones((2, 1)), np.array([127, 255], np.uint8))


def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """fl(a b + c) of float32 by float64: the product is exact there, and the sum is rounded to odd, so that rounding it
    again to float32 rounds once."""
    with np.errstate(all="ignore"):
        product, addend = np.float64(a) * np.float64(b), np.float64(c)
        total = product + addend
        back = total - product
        error = (product - (total - back)) + (addend - back)
        inexact = np.isfinite(total) & (error != 0) & (total.view(np.int64) % 2 == 0)
        total = np.where(inexact, np.nextafter(total, np.where(error > 0, np.inf, -np.inf)), total)
        return total.astype(np.float32)


def adam(
    gradient: np.ndarray, weight: np.ndarray, m: np.ndarray, v: np.ndarray, k: dict[str, np.float32], floor: np.float32
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The rule of docs/units/fp8_adam.md, with types of ml_dtypes."""
    none = np.float32(-0.0)
    old_m, old_v = m.view(ml_dtypes.float8_e4m3fn), v.view(ml_dtypes.float8_e5m2)
    new_m = fma(k["m_decay"], old_m.astype(np.float32), fma(k["m_gain"], gradient, none))
    square = fma(fma(k["v_gain"], gradient, none), gradient, none)
    new_v = fma(k["v_decay"], old_v.astype(np.float32), square)
    divided = np.where((v % 128 == 0) & (new_v < floor), floor, new_v)
    roots = np.array([root(x) if 0 < x < np.inf else np.float32(1) for x in divided])
    divisor = fma(fma(divided, roots, none), k["root_scale"], k["epsilon"])
    with np.errstate(all="ignore"):
        quotient = fma(k["rate"], new_m, none) / divisor
    m_code = np.clip(fma(new_m, k["m_scale"], none), -448, 448).astype(ml_dtypes.float8_e4m3fn)
    v_code = np.clip(fma(new_v, k["v_scale"], none), -57344, 57344).astype(ml_dtypes.float8_e5m2)
    return fma(weight, k["keep"], -quotient), m_code.view(np.uint8), v_code.view(np.uint8), new_m, new_v


@pytest.mark.parametrize("floor", [False, True])
@pytest.mark.parametrize("size", [1e-20, 1e-4, 1.0, 1e15])
def test_adam_step(size: float, floor: bool) -> None:
    random = np.random.default_rng(3)
    count = 700
    gradient = (random.standard_normal(count) * size * np.exp2(random.integers(-8, 1, count))).astype(np.float32)
    gradient[::50] = 0
    weight = random.standard_normal(count).astype(np.float32)
    m = random.integers(0, 256, count, dtype=np.uint8)
    m[m % 128 == 127] = 0
    v = random.integers(0, 0x7C, count, dtype=np.uint8)
    m[:60], v[:120] = 0, 0
    gradient[60:120] *= np.float32(1e-4)  # below what a second moment under code 0 may have been
    # In the clip's range and beyond it. 1e-20 makes second moments subnormal, and their scales as large as FP32 has them.
    m_scales, v_scales = (500 / size, 400 / size), (min(3e4 / size**2, 1e38), min(5e4 / size**2, 1e38))
    t, rate, beta1, beta2, epsilon, decay = 7, 2e-3, 0.9, 0.95, 1e-8, 0.1
    result = ng.adam_step(
        gradient,
        weight,
        m,
        v,
        step=t,
        rate=rate,
        beta1=beta1,
        beta2=beta2,
        epsilon=epsilon,
        weight_decay=decay,
        m_scales=m_scales,
        v_scales=v_scales,
        floor=floor,
    )
    powers = [1.0, 1.0]
    for i, beta in enumerate((beta1, beta2)):
        powers[i] = ((beta * beta) * beta) * (
            (beta * beta) * (beta * beta)
        )  # by squaring: beta, then with its square, ...
    constants = {
        "m_decay": beta1 / float(np.float32(m_scales[0])),
        "m_gain": 1 - beta1,
        "v_decay": beta2 / float(np.float32(v_scales[0])),
        "v_gain": 1 - beta2,
        "m_scale": m_scales[1],
        "v_scale": v_scales[1],
        "root_scale": 1 / np.sqrt(1 - powers[1]),
        "epsilon": epsilon,
        "rate": rate / (1 - powers[0]),
        "keep": 1 - rate * decay,
    }
    least = np.float32(2.0**-17 / float(np.float32(v_scales[0]))) if floor else np.float32(0)
    expected = adam(gradient, weight, m, v, {name: np.float32(value) for name, value in constants.items()}, least)
    assert same(result.weight, expected[0])
    assert (result.m == expected[1]).all()
    assert (result.v == expected[2]).all()
    assert same(result.m_float32, expected[3])
    assert same(result.v_float32, expected[4])

    # Adam in double precision, with the same old moments.
    old_m = m.view(ml_dtypes.float8_e4m3fn).astype(np.float64) / m_scales[0]
    old_v = v.view(ml_dtypes.float8_e5m2).astype(np.float64) / v_scales[0]
    g = gradient.astype(np.float64)
    new_m, new_v = beta1 * old_m + (1 - beta1) * g, beta2 * old_v + (1 - beta2) * g * g
    update = rate * (new_m / (1 - powers[0])) / (np.sqrt(new_v / (1 - powers[1])) + epsilon)
    wanted = weight * (1 - rate * decay) - update
    if size > 1e-20 and not floor:
        held = np.ones(count, bool)
        held[60:120] = False  # steps without bound
        assert np.abs(result.weight - wanted)[held].max() < 1e-6


def steps_of_adam(
    gradient: Callable[[int], np.ndarray], count: int, margin: int = 0, **options: Any
) -> tuple[np.ndarray, np.ndarray, ng.AdamResult]:
    """Steps in learning rates, under scales by DelayedScaling, and those of Adam in double precision."""
    size, rate = gradient(1).size, 1e-3
    weight, m, v = np.zeros(size, np.float32), np.zeros(size, np.uint8), np.zeros(size, np.uint8)
    scaling = (ng.DelayedScaling("e4m3", margin=margin), ng.DelayedScaling("e5m2", margin=margin))
    old = [1.0, 1.0]
    exact_m, exact_v = np.zeros(size), np.zeros(size)
    got, wanted = [], []
    for t in range(1, count + 1):
        new = [each.scale for each in scaling]
        result = ng.adam_step(
            g := gradient(t),
            weight,
            m,
            v,
            step=t,
            m_scales=(old[0], new[0]),
            v_scales=(old[1], new[1]),
            seed=t,
            **options,
        )
        got.append((weight.astype(float) - result.weight) / rate)
        weight, m, v, old = result.weight, result.m, result.v, new
        scaling[0].record(float(np.abs(result.m_float32).max()))
        scaling[1].record(float(result.v_float32.max()))
        exact_m, exact_v = 0.9 * exact_m + 0.1 * g.astype(float), 0.999 * exact_v + 0.001 * g.astype(float) ** 2
        wanted.append((exact_m / (1 - 0.9**t)) / (np.sqrt(exact_v / (1 - 0.999**t)) + 1e-8))
    return np.array(got), np.array(wanted), result


DECADES = 10.0 ** -np.arange(7).repeat(64)


def test_adam_of_small_gradients() -> None:
    """The table of docs/quantizers.md: largest steps of normal gradients 1 to 1e-6 of the largest, with and without floor."""

    def gradient(t: int) -> np.ndarray:
        return (DECADES * np.random.default_rng(t).standard_normal(DECADES.size)).astype(np.float32)

    largest = {}
    for floor in (False, True):
        got, _, _ = steps_of_adam(gradient, 600, floor=floor)
        largest[floor] = np.abs(got).max(axis=0).reshape(7, 64).max(axis=1)
    assert (largest[False][[0, 3]] < 1.2).all()
    assert largest[False][5] > 500
    assert largest[False][1] > 25  # in the second step: the first codes had no scale yet
    assert (largest[True] < 3.2).all()


def test_adam_rounds_moments_stochastically() -> None:
    """To nearest the second moment sticks below what it should become, and steps are too long; stochastically, with room for
    the largest one to grow, they are not."""
    gradient = np.ones(64, np.float32) * 10.0 ** -np.arange(5, dtype=np.float32)[:, None]
    totals = {}
    for rounding in ("nearest_even", "stochastic"):
        got, wanted, _ = steps_of_adam(lambda t: gradient.reshape(-1), 500, margin=1, rounding=rounding)
        totals[rounding] = (got.sum(axis=0) / wanted.sum(axis=0)).reshape(5, 64).mean(axis=1)
    assert (totals["nearest_even"] > 1.1).all()
    assert (totals["nearest_even"] < 1.45).all()
    assert (abs(totals["stochastic"] - 1) < 0.06).all()


def test_adam_leaves_weights_without_gradient() -> None:
    gradient = np.float32([1, 0, -0.0, 1e-5])
    for rounding in ("nearest_even", "stochastic"):
        got, _, result = steps_of_adam(lambda t: gradient, 50, rounding=rounding)
        assert not got[:, 1:3].any()
        assert np.isfinite(result.weight).all()


def test_words_of_the_moments() -> None:
    """Element i takes fields 2 i and 2 i + 1 of the seed: both codes are encode()'s."""
    rng = np.random.default_rng(8)
    gradient = rng.standard_normal(300).astype(np.float32)
    zeros = np.zeros(300, np.uint8)
    result = ng.adam_step(
        gradient,
        gradient,
        zeros,
        zeros,
        step=1,
        m_scales=(1.0, 100.0),
        v_scales=(1.0, 1e4),
        rounding="stochastic",
        random_bits=32,
        seed=5,
    )
    fields = np.array([exact.random_field(5, i, 32) for i in range(600)], np.uint32)
    for codes, moment, scale, name, words in (
        (result.m, result.m_float32, 100, "e4m3", fields[::2]),
        (result.v, result.v_float32, 1e4, "e5m2", fields[1::2]),
    ):
        scaled = moment * np.float32(scale)
        want = ng.encode(scaled, name, rounding="stochastic", random=words, random_bits=32, overflow="saturate")
        assert (codes == want).all()


def test_adam_follows_a_gradient() -> None:
    """Minimizing sum (w - 1)^2 with moments in FP8 and scales of the step before."""
    weight, m, v = np.zeros(8, np.float32), np.zeros(8, np.uint8), np.zeros(8, np.uint8)
    scaling = (ng.DelayedScaling("e4m3", history=1), ng.DelayedScaling("e5m2", history=1))
    old = [each.scale for each in scaling]
    for t in range(1, 200):
        new = [each.scale for each in scaling]
        result = ng.adam_step(
            2 * (weight - 1), weight, m, v, step=t, rate=0.02, m_scales=(old[0], new[0]), v_scales=(old[1], new[1])
        )
        weight, m, v = result.weight, result.m, result.v
        old = new
        scaling[0].record(2 * np.abs(result.m_float32).max())
        scaling[1].record(2 * result.v_float32.max())
    assert np.abs(weight - 1).max() < 0.05


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"weight": np.zeros(3)}, r"weight has shape \(3,\); expected that of gradient, \(2,\)"),
        ({"m": np.zeros(2)}, "m have dtype float64"),
        ({"v": np.array([256, 0], np.uint16)}, "v holds 256; expected codes of 8 bits"),
        ({"beta1": 1.0}, "beta1 is 1.0; expected 0 to below 1"),
        ({"rate": 0}, "rate is 0; expected a positive finite number"),
        ({"epsilon": -1}, "epsilon is -1; expected a finite number, 0 or more"),
        ({"step": 0}, "step is 0; expected 1 to"),
        ({"floor": 1}, "floor is 1; expected True or False"),
        ({"rounding": "up"}, "rounding is 'up'; expected one of nearest_even, stochastic"),
        ({"random_bits": 33}, "random_bits is 33; expected 1 to 32"),
        ({"seed": -1}, "seed is -1; expected 0 to"),
        ({"m_scales": 3.0}, "m_scales is 3.0; expected the scale of the old codes and that of the new ones"),
        ({"v_scales": (1.0, 0.0)}, r"v_scales is \(1.0, 0.0\); expected positive finite numbers"),
    ],
)
def test_adam_refuses(arguments: dict[str, Any], says: str) -> None:
    zeros = np.zeros(2, np.uint8)
    given = {"gradient": np.ones(2), "weight": np.ones(2), "m": zeros, "v": zeros, "step": 1} | arguments
    with pytest.raises(ng.Error, match=says):
        ng.adam_step(**given)
