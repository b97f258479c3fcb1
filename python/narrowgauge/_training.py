# SPDX-License-Identifier: Apache-2.0
"""Steps of training in FP32, bit for bit as the units have them: reciprocal roots, normalized rows, smoothed channels, Adam with
moments in FP8."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import flag, float32, integer, number, one_of, shown
from ._arguments import seed as checked_seed
from ._arguments import threads as checked_threads
from ._arrays import ArrayLike, code_array, float32_array
from ._core import Error


def rsqrt(x: ArrayLike) -> NDArray[np.float32]:
    """1 / sqrt(x) in float32, rounded once to nearest even, as `ng_rsqrt_fp32` has it: less than half a unit in the last place
    from the exact root. A zero gives the infinity of its sign, a number below zero NaN. Of the shape of x."""
    values = np.asarray(float32_array(x, "x"), order="C")
    return _core.rsqrt(values.view(np.uint32)).view(np.float32)


def l2_normalize(x: ArrayLike, *, epsilon: float = 1e-6) -> NDArray[np.float32]:
    """Rows over their lengths, y = x rsqrt(epsilon + sum x^2), nGPT's (docs/quantizers.md, Normalized rows):
    the sum begins with epsilon and takes a square at a time, in the order of the row, each rounded once to float32; the root
    is `rsqrt`, and each product is rounded once.

    x: one dimension or more, the last being the row. epsilon: positive, rounded to float32.
    Raises Error for an x without dimensions and an epsilon that is not positive and finite.
    """
    values = float32_array(x, "x")
    if values.ndim == 0:
        raise Error("x has no dimensions; expected a row, or an array of rows")
    start = float32("epsilon", epsilon)
    if not 0 < start < np.inf:
        raise Error(f"epsilon is {epsilon}; expected a positive finite number")
    return _core.l2_normalize(np.asarray(values, order="C").view(np.uint32), epsilon=start).view(np.float32)


class SmoothResult(NamedTuple):
    """What `smooth` returns: the divided numbers, float32 of the shape of x; and the scales, E8M0 codes in uint8, 2^(code - 127)
    each, of that shape without the axis."""

    values: NDArray[np.float32]
    scales: NDArray[np.uint8]


def _bf16(x: ArrayLike, name: str) -> NDArray[np.uint16]:
    return np.asarray(_core.encode(float32_array(x, name), "bf16"), dtype=np.uint16)


def smooth(x: ArrayLike, *, axis: int = -2) -> SmoothResult:
    """Activations over powers of two of their largest magnitudes, the scaling of Smooth-SwiGLU (docs/quantizers.md, Smoothed
    channels), bit for bit as `ng_smooth_channel` and `ng_smooth_token` have it.

    x: rows of tokens, whose numbers are the channels, rounded to bfloat16, nearest even, first; dimensions before these two
    are blocks with scales of their own. axis: along which a scale is common: -2, by channels, or -1, by tokens.
    A scale is 2^floor(log2(amax)) of the finite numbers, 1 where there are only zeros and subnormals. Results below 2^-126 are
    zeros, as subnormals are; infinities and NaNs stay.

    >>> values, scales = ng.smooth(x)
    >>> y = values @ ng.fold_scales(w, scales)  # x @ w

    Raises Error for an x of less than two dimensions and another axis.
    """
    codes = _bf16(x, "x")
    if codes.ndim < 2:
        raise Error(f"x has {codes.ndim} dimensions; expected rows of channels, two dimensions or more")
    if not isinstance(axis, int | np.integer) or axis not in (-1, -2) or isinstance(axis, bool):
        raise Error(f"axis is {shown(axis)}; expected -2, by channels, or -1, by tokens")
    rows = np.swapaxes(codes, -1, -2) if axis == -1 else codes
    blocks = int(np.prod(rows.shape[:-2], dtype=np.int64))
    divided, scales = _core.smooth(np.ascontiguousarray(rows).reshape(blocks, *rows.shape[-2:]))
    values = _core.decode(divided, "bf16").reshape(rows.shape)
    return SmoothResult(
        np.ascontiguousarray(np.swapaxes(values, -1, -2)) if axis == -1 else values,
        scales.reshape(*rows.shape[:-2], rows.shape[-1]),
    )


def fold_scales(w: ArrayLike, scales: ArrayLike) -> NDArray[np.float32]:
    """Weights times the scales of `smooth` by channels, bit for bit as `ng_smooth_channel` multiplies: row k of w, of channel k,
    times 2^(scales[k] - 127).

    w: channels x outputs, the right operand of the next product, rounded to bfloat16, nearest even, first. scales: a code for
    each channel. Returns float32 of the shape of w. Results below 2^-126 are zeros, as subnormals are, and those from 2^128 on
    infinities.
    Raises Error for other shapes and scale codes beyond 1 to 254.
    """
    codes = _bf16(w, "w")
    factors = code_array(scales, "scales", "e8m0")
    if codes.ndim != 2:
        raise Error(f"w has {codes.ndim} dimensions; expected two, channels x outputs")
    if factors.shape != codes.shape[:1]:
        raise Error(f"scales has shape {factors.shape}; expected a code for each of the {codes.shape[0]} rows of w")
    if factors.size and not (factors.min() >= 1 and factors.max() <= 254):
        wrong = factors.min() if factors.min() < 1 else factors.max()
        raise Error(f"scales holds {wrong}; expected codes of 1 to 254")
    return _core.decode(_core.fold_scales(np.ascontiguousarray(codes), factors.astype(np.uint8)), "bf16")


class AdamResult(NamedTuple):
    """What `adam_step` returns, arrays of one shape: the new weight, float32; codes of the new moments, uint8; and these
    moments before they were rounded to FP8, float32, whose largest magnitudes make the scales of the next step; then the
    scales of the new codes."""

    weight: NDArray[np.float32]
    m: NDArray[np.uint8]
    v: NDArray[np.uint8]
    m_float32: NDArray[np.float32]
    v_float32: NDArray[np.float32]
    m_scale: float
    v_scale: float


def adam_step(
    gradient: ArrayLike,
    weight: ArrayLike,
    m: ArrayLike,
    v: ArrayLike,
    *,
    step: int,
    rate: float = 1e-3,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    weight_decay: float = 0.0,
    m_scales: tuple[float, float | None] = (1.0, 1.0),
    v_scales: tuple[float, float | None] = (1.0, 1.0),
    floor: bool = True,
    rounding: str = "nearest_even",
    random_bits: int = 16,
    seed: int = 0,
    threads: int = 0,
) -> AdamResult:
    """A step of Adam with moments in FP8 (docs/units/fp8_adam.md has the order of roundings), bit for bit that of `ng_fp8_adam`
    with floor=False.

    gradient, weight: numbers of one shape, as float32. m, v: codes of the moments, E4M3 and E5M2, of that shape. step: t, from 1
    on. m_scales, v_scales: of the old codes and of the new ones; a code stands for moment times scale. Where both new ones are
    None, each is measured: the largest number of the format over the largest new moment, as a DelayedScaling of one step
    gives it. Before the first step codes are zeros. floor: a second moment that is not zero keeps at least the smallest
    code; without it a weight whose gradient is below 2e-5 of the largest takes steps of 32 rates and more
    (docs/quantizers.md, Adam with moments in FP8).
    rounding: of the moments, 'nearest_even' or 'stochastic', which follows small changes on average. random_bits: of a
    moment, 1 to 32. seed: another one each step; element i takes fields 2 i (m) and 2 i + 1 (v). threads: 0 is one per core.

    >>> result = ng.adam_step(gradient, weight, m, v, step=t, m_scales=(old, m_scaling.scale), v_scales=(..., ...))
    >>> m_scaling.record(np.abs(result.m_float32).max())  # ng.DelayedScaling("e4m3")

    Raises Error for arrays of several shapes, beta1 and beta2 outside of 0 to below 1, a scale or a rate that is not positive
    and finite, and an epsilon or a weight decay below zero.
    """
    arrays = [float32_array(gradient, "gradient"), float32_array(weight, "weight")]
    codes = [code_array(m, "m", "e4m3"), code_array(v, "v", "e5m2")]
    for name, array in zip(("weight", "m", "v"), (arrays[1], *codes), strict=True):
        if array.shape != arrays[0].shape:
            raise Error(f"{name} has shape {array.shape}; expected that of gradient, {arrays[0].shape}")
    for name, array in zip(("m", "v"), codes, strict=True):
        if array.size and array.max() > 255:
            raise Error(f"{name} holds {array.max()}; expected codes of 8 bits")
    for name, beta in (("beta1", beta1), ("beta2", beta2)):
        if not 0 <= number(name, beta) < 1:
            raise Error(f"{name} is {beta}; expected 0 to below 1")
    for name, value in (("epsilon", epsilon), ("weight_decay", weight_decay)):
        if not 0 <= number(name, value) < np.inf:
            raise Error(f"{name} is {value}; expected a finite number, 0 or more")
    if not 0 < number("rate", rate) < np.inf:
        raise Error(f"rate is {rate}; expected a positive finite number")
    scales: list[tuple[float, float]] = []
    pairs = {"m_scales": m_scales, "v_scales": v_scales}
    for name, pair in pairs.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise Error(f"{name} is {shown(pair)}; expected the scale of the old codes and that of the new ones")
    measure = m_scales[1] is None
    if measure != (v_scales[1] is None):
        raise Error(f"m_scales is {m_scales} and v_scales {v_scales}; expected None as both new scales, or as neither")
    for name, pair in pairs.items():
        both = (float32(name, pair[0]), 1.0 if pair[1] is None else float32(name, pair[1]))
        if not all(0 < scale < np.inf for scale in both):
            raise Error(f"{name} is {pair}; expected positive finite numbers")
        scales.append(both)
    stochastic = one_of("rounding", rounding, ("nearest_even", "stochastic")) == "stochastic"
    bits = integer("random_bits", random_bits, 1, 32)
    result = _core.adam_step(
        np.asarray(arrays[0], order="C").view(np.uint32),
        np.asarray(arrays[1], order="C").view(np.uint32),
        np.asarray(codes[0], dtype=np.uint8, order="C"),
        np.asarray(codes[1], dtype=np.uint8, order="C"),
        rate=float(rate),
        beta1=float(beta1),
        beta2=float(beta2),
        epsilon=float(epsilon),
        weight_decay=float(weight_decay),
        step=integer("step", step, 1, 2**63 - 1),
        m_scales=scales[0],
        v_scales=scales[1],
        measure_scales=measure,
        floor=flag("floor", floor),
        random_bits=bits if stochastic else 0,
        seed=checked_seed(seed),
        threads=checked_threads(threads),
    )
    new_weight, new_m, new_v, m_float32, v_float32, m_scale, v_scale = result
    return AdamResult(
        new_weight.view(np.float32),
        new_m,
        new_v,
        m_float32.view(np.float32),
        v_float32.view(np.float32),
        m_scale,
        v_scale,
    )
