# SPDX-License-Identifier: Apache-2.0
"""LUQ: gradients in FP4 [1,3,0], weights and activations in INT4, products without multipliers; and what lognormal gradients
want: exponent bits, a scale, a threshold of stochastic pruning (docs/luq.md).

>>> g = ng.luq.quantize(gradient, seed=step, samples=2)
>>> dx = ng.luq.gemm(g, ng.luq.int4(weight))
>>> s = ng.luq.log_statistics(gradient)
>>> pruned = ng.luq.prune(gradient, ng.luq.pruning_threshold(0.85, s), seed=step)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import flag, float32, instance, integer, number, one_of, shown
from ._arguments import seed as checked_seed
from ._arrays import ArrayLike, any_array, float32_array
from ._core import Error

#: Levels of FP4 [1,3,0], which with zero fill four bits, and of the authors' code, whose codes take five.
STORAGE_LEVELS, PAPER_LEVELS = 7, 8
ROUNDINGS = ("stochastic", "nearest_power")


def _positive(name: str, value: object) -> float:
    scale = float32(name, value)
    if not 0 < scale < np.inf:
        raise Error(f"{name} is {shown(value)}; expected a positive finite float32 number")
    return scale


class LuqArray:
    """Numbers of FP4 [1,3,0] under one alpha: what `quantize` returns.

    codes: uint8, samples x shape: sign above an exponent field (bit 3 with 7 levels, which are codes of 'e3m0', bit 4 with
    8); field 0 is zero, field c is alpha * 2^(c - 1). alpha: a float32. levels: 7 or 8. Read-only views.

    Raises Error for other types, codes of a field above `levels`, and an alpha that is no positive finite float32.
    """

    def __init__(self, codes: NDArray[np.uint8], alpha: float, levels: int = STORAGE_LEVELS) -> None:
        if isinstance(codes, np.ndarray):
            any_array(codes, "codes")  # refuses a broadcast one without end
        if not isinstance(codes, np.ndarray) or codes.dtype != np.uint8 or codes.ndim == 0 or codes.size == 0:
            have = f"{codes.dtype} of shape {codes.shape}" if isinstance(codes, np.ndarray) else type(codes).__name__
            raise Error(f"codes are {have}; expected an array of uint8, samples before the shape, at least one each")
        self.levels = integer("levels", levels, STORAGE_LEVELS, PAPER_LEVELS)
        sign = 8 if self.levels == STORAGE_LEVELS else 16
        wrong = codes[(codes >= 2 * sign) | (codes % sign > self.levels)]
        if wrong.size:
            raise Error(f"codes hold {wrong[0]}; expected a sign of {sign} above a field of 0 to {self.levels}")
        self.alpha = _positive("alpha", alpha)
        self.codes = codes.view()
        self.codes.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return LuqArray, (self.codes, self.alpha, self.levels)

    @property
    def samples(self) -> int:
        return int(self.codes.shape[0])

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.codes.shape[1:])

    @property
    def T(self) -> LuqArray:
        """The transpose of each sample, without quantizing again."""
        return LuqArray(np.moveaxis(self.codes, 0, -1).T, self.alpha, self.levels)

    def dequantize(self) -> NDArray[np.float64]:
        """The values, exact, of this shape: of several samples the mean."""
        values = _core.luq_dequantize(np.ascontiguousarray(self.codes), self.alpha, self.levels)
        return values[0] if self.samples == 1 else np.asarray(values.sum(axis=0) / self.samples)

    def __repr__(self) -> str:
        return f"<LuqArray {self.shape}, {self.samples} samples, {self.levels} levels, alpha {self.alpha:g}>"


class Int4Array:
    """Integers of -8 to 7 and their scale: what `int4` returns. values: int8; scale: a float32. Read-only views.

    Raises Error for other values (unsigned activations, 0 to 15, are none of LUQ's: docs/luq.md, Unsigned activations), and a
    scale that is no positive finite float32.
    """

    def __init__(self, values: ArrayLike, scale: float) -> None:
        array = any_array(values, "values")
        if array.dtype.kind not in "iu":
            raise Error(f"values have dtype {array.dtype}; expected integers, -8 to 7")
        if array.size and (array.min() < -8 or array.max() > 7):
            raise Error(
                f"values hold {array.min()} to {array.max()}; expected -8 to 7; unsigned activations, 0 to 15, are refused "
                "because 9, 11, 13 and 15 take three bits of mantissa and the product, FP7 [1,4,2], has two: quantize them as "
                "signed numbers"
            )
        self.values = array.astype(np.int8)
        self.values.flags.writeable = False
        self.scale = _positive("scale", scale)

    def __reduce__(self) -> tuple[Any, ...]:
        return Int4Array, (self.values, self.scale)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    @property
    def T(self) -> Int4Array:
        return Int4Array(self.values.T, self.scale)

    def dequantize(self) -> NDArray[np.float64]:
        """The values times the scale, exact."""
        return self.values * np.float64(self.scale)

    def __repr__(self) -> str:
        return f"<Int4Array {self.shape}, scale {self.scale:g}>"


class HindsightMax:
    """The maximum of a tensor before it is there: m becomes (1 - eta) * amax + eta * m; the first one is taken as it is.

    eta: 0 or more, below 1; the paper does not state it. Raises Error for others, and for maxima that are negative or not
    finite.
    """

    def __init__(self, eta: float = 0.1) -> None:
        self._max = _core.HindsightMax(eta=number("eta", eta))

    @property
    def amax(self) -> float:
        """For the next tensor, a float32; 0 before the first was recorded."""
        return self._max.amax

    def record(self, amax: float) -> None:
        self._max.record(number("amax", amax))


def alpha(amax: float, *, levels: int = STORAGE_LEVELS, power_of_two: bool = True) -> float:
    """The scale of a tensor of this largest magnitude: amax / 2^(levels - 1), rounded up to a float32 or to a power of two, so that
    nothing clips; 1 for 0. Raises Error unless amax is finite and not negative, and levels is 7 or 8."""
    return _core.luq_alpha(
        number("amax", amax),
        integer("levels", levels, STORAGE_LEVELS, PAPER_LEVELS),
        flag("power_of_two", power_of_two),
    )


def quantize(
    x: ArrayLike,
    *,
    levels: int = STORAGE_LEVELS,
    rounding: str = "stochastic",
    power_of_two: bool = True,
    random_bits: int = 8,
    seed: int = 0,
    amax: float | None = None,
    samples: int = 1,
) -> LuqArray:
    """LUQ: x in FP4 [1,3,0], stochastic underflow and logarithmic stochastic rounding in one operator.

    x: real numbers of any shape, made float32 first. levels: 7, or 8 as in the authors' code. rounding: 'stochastic', or
    'nearest_power', deterministic. power_of_two: whether alpha is rounded up to one. random_bits: of an element, 1 to 24.
    seed: of Philox4x32-10; sample s of element i takes field s * size + i. amax: a known maximum, as HindsightMax gives it,
    above which numbers clip. samples: SMP, 1 to 256.

    Raises Error on NaN, infinity, an empty x, and options out of range.
    """
    values = float32_array(x, "x")
    count = integer("samples", samples, 1, 256)
    rounded = one_of("rounding", rounding, ROUNDINGS)
    if count > 1 and rounded != "stochastic":
        raise Error(f"samples is {count} with rounding '{rounding}': they would all be equal; expected 1")
    all_codes = []
    scale = 1.0
    for sample in range(count):
        codes, scale = _core.luq_quantize(
            values,
            levels=integer("levels", levels, STORAGE_LEVELS, PAPER_LEVELS),
            rounding=rounded,
            power_of_two=flag("power_of_two", power_of_two),
            random_bits=integer("random_bits", random_bits, 1, 24),
            seed=checked_seed(seed),
            first_field=sample * values.size,
            amax=None if amax is None else number("amax", amax),
        )
        all_codes.append(codes)
    return LuqArray(np.stack(all_codes), scale, levels)


def fake_quantize(x: ArrayLike, **options: Any) -> NDArray[np.float32]:
    """What `quantize` with these options leaves of x: float32, its shape."""
    with np.errstate(over="ignore"):
        return quantize(x, **options).dequantize().astype(np.float32)


def sawb_clip(x: ArrayLike) -> float:
    """SAWB's clip for 4 bits: 12.1 * sqrt(mean x^2) - 12.2 * mean |x|; where that is not positive, the largest magnitude.
    Raises Error on NaN, infinity and an empty x."""
    return _core.sawb_clip(float32_array(x, "x"))


def int4(x: ArrayLike, *, clip: float | None = None) -> Int4Array:
    """x in INT4: scale fl(2 * clip / 15), rounded to nearest even, saturating at -8 and 7. clip: sawb_clip(x) if None. A scale
    that would round to 0 is 2^-149, and 1 for a clip of 0.
    Raises Error on NaN, infinity, an empty x, and a clip that is negative or not finite."""
    values, scale = _core.int4_quantize(float32_array(x, "x"), None if clip is None else number("clip", clip))
    return Int4Array(values, scale)


def gemm(a: LuqArray | Int4Array, b: LuqArray | Int4Array) -> NDArray[np.float32]:
    """a @ b, M x K times K x N, one operand FP4 and the other INT4, in either order: exact integer sums, rounded once to
    float32, times both scales. Of several samples (SMP) the mean of the products, summed in float64 and rounded once.

    Raises Error unless one operand is a LuqArray, the other an Int4Array, both of two dimensions, with equal K of at most 2^20.
    """
    for name, operand in (("a", a), ("b", b)):
        if not isinstance(operand, LuqArray | Int4Array):
            raise Error(f"{name} is of type {type(operand).__name__}; expected what luq.quantize or luq.int4 returns")
        if len(operand.shape) != 2:
            raise Error(f"{name} has shape {operand.shape}; expected two dimensions")
    if a.shape[1] != b.shape[0]:
        raise Error(f"a has shape {a.shape} and b {b.shape}; expected a.shape[1] == b.shape[0]")
    if isinstance(a, Int4Array) and isinstance(b, LuqArray):
        integers, gradient, turned = a, b.T, False
    elif isinstance(a, LuqArray) and isinstance(b, Int4Array):
        integers, gradient, turned = b.T, a, True
    else:
        raise Error(f"both operands are of type {type(a).__name__}; expected one LuqArray and one Int4Array")
    left = np.ascontiguousarray(integers.values)
    products = [
        _core.luq_gemm(left, integers.scale, np.ascontiguousarray(codes), gradient.alpha, gradient.levels)
        for codes in gradient.codes
    ]
    c = products[0] if len(products) == 1 else _mean(products)
    return np.ascontiguousarray(c.T) if turned else c


def _mean(products: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    total = np.zeros(products[0].shape)
    for product in products:
        total += product
    return (total / len(products)).astype(np.float32)


@dataclass(frozen=True)
class LogStatistics:
    """What `log_statistics` returns of a tensor.

    count: of all numbers. zeros: of them. mean, sigma: of log2|x| of the others, 0 if there are none. amax: the largest
    magnitude, a float32. Raises Error for other types, zeros above count, and numbers out of these ranges.
    """

    count: int
    zeros: int
    mean: float
    sigma: float
    amax: float

    def __post_init__(self) -> None:
        integer("zeros", self.zeros, 0, integer("count", self.count, 1, 2**63 - 1))
        for name, value, least in (("mean", self.mean, -np.inf), ("sigma", self.sigma, 0), ("amax", self.amax, 0)):
            if not (np.isfinite(number(name, value)) and number(name, value) >= least):
                expected = "a finite number" if least else "a finite number, 0 or more"
                raise Error(f"{name} is {shown(value)}; expected {expected}")

    @property
    def scale(self) -> float:
        """What the tensor is multiplied by before it is converted: 2^-mean."""
        return _core.lognormal_scale(self.mean)


def log_statistics(x: ArrayLike) -> LogStatistics:
    """Mean and standard deviation of log2|x|, in float64, of the numbers that are not zero; how many are; the largest magnitude.

    x: real numbers of any shape, made float32 first. Raises Error on NaN, infinity and an empty x.
    """
    return LogStatistics(*_core.log_statistics(float32_array(x, "x")))


def exponent_bits(bits: int, sigma: float) -> int:
    """Exponent bits of the best format of `bits` bits (3 to 8, a sign included) for numbers whose log2|x| has the standard
    deviation sigma, by the thresholds of arXiv 2006.08173's code; the others are mantissa. Raises Error for other bits, and a
    sigma that is negative or not finite."""
    return _core.exponent_bits(integer("bits", bits, 3, 8), number("sigma", sigma))


def pruning_threshold(target: float, statistics: LogStatistics) -> float:
    """The threshold under which `prune` leaves a share `target` of zeros of a lognormal tensor of these statistics; 0 if it has as
    many already. Raises Error unless 0 <= target < 1."""
    instance("statistics", statistics, LogStatistics, "luq.log_statistics(x) makes them")
    s = statistics
    integer("count", s.count, 0, 2**63 - 1)
    integer("zeros", s.zeros, 0, s.count)
    number("mean", s.mean)
    number("sigma", s.sigma)
    return _core.pruning_threshold(number("target", target), count=s.count, zeros=s.zeros, mean=s.mean, sigma=s.sigma)


def expected_sparsity(x: ArrayLike, threshold: float, *, random_bits: int = 8) -> float:
    """Share of zeros that `prune` leaves of this very x, expected over all random words. Arguments and errors as there."""
    bits = integer("random_bits", random_bits, 1, 24)
    return _core.expected_sparsity(float32_array(x, "x"), float32("threshold", threshold), bits)


def prune(x: ArrayLike, threshold: float, *, random_bits: int = 8, seed: int = 0) -> NDArray[np.float32]:
    """Stochastic pruning: |x| below the threshold becomes the threshold with probability floor(|x| / threshold * 2^random_bits) /
    2^random_bits, else 0; signs are kept. float32, the shape of x. (`narrowgauge.prune` is another: N:M sparsity.)

    x: real numbers of any shape, made float32 first. threshold: made float32; 0 leaves all as it is. random_bits: of an
    element, 1 to 24. seed: of Philox4x32-10; element i takes field i. Raises Error on NaN, infinity, an empty x, a threshold
    that is negative or not finite, and options out of range.
    """
    bits = integer("random_bits", random_bits, 1, 24)
    return _core.luq_prune(float32_array(x, "x"), float32("threshold", threshold), checked_seed(seed), bits)


__all__ = [
    "HindsightMax",
    "Int4Array",
    "LogStatistics",
    "LuqArray",
    "alpha",
    "expected_sparsity",
    "exponent_bits",
    "fake_quantize",
    "gemm",
    "int4",
    "log_statistics",
    "prune",
    "pruning_threshold",
    "quantize",
    "sawb_clip",
]
