# SPDX-License-Identifier: Apache-2.0
"""Affine integers: codes of 2 to 8 bits under a scale, and an offset or a zero point (docs/quantizers.md, Affine integers)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import flag, float32, integer, number, one_of, shown, text
from ._arguments import seed as checked_seed
from ._arrays import ArrayLike, float32_array, real_array
from ._core import Error

TIES = ("even", "away")


def affine_rules() -> dict[str, str]:
    """Names of the rules by which papers get a quantizer from a range, and whose code each is."""
    return _core.affine_rules()


def _narrow(codes: NDArray[np.int16], signed: bool) -> NDArray[Any]:
    return codes.astype(np.int8 if signed else np.uint8)


def _code_range(bits: int, signed: bool) -> tuple[int, int]:
    low = -(1 << (bits - 1)) if signed else 0
    return low, low + (1 << bits) - 1


@dataclass(frozen=True, kw_only=True)
class AffineQuantizer:
    """A quantizer with float32 operations, each rounded by itself, in the order of the papers' code.

    A code is (x - offset) / scale, or x / scale + zero_point where there is one, plus noise, limited to the codes and rounded.
    A value is code * scale + offset, (code - zero_point) * scale, or code * scale - zero_point * scale if expanded.

    >>> q = ng.AffineQuantizer.of_range(x.min(), x.max(), rule="calibtip_zero", bits=4)
    >>> codes = q.quantize(x)
    >>> values = q.dequantize(codes)

    bits: of a code, 2 to 8. signed: codes -2^(bits - 1) to 2^(bits - 1) - 1 in int8, else 0 to 2^bits - 1 in uint8. ties: to
    the 'even' code or 'away' from zero. scale, offset: made float32. zero_point: a whole number, or None.

    Raises Error for other values, and a scale that is not positive and finite.
    """

    bits: int = 8
    signed: bool = False
    ties: str = "even"
    scale: float = 1.0
    offset: float = 0.0
    zero_point: float | None = None
    expanded: bool = False

    def __post_init__(self) -> None:
        integer("bits", self.bits, 2, 8)
        flag("signed", self.signed)
        flag("expanded", self.expanded)
        one_of("ties", self.ties, TIES)
        scale, offset = float32("scale", self.scale), float32("offset", self.offset)
        if not 0 < scale < np.inf:
            raise Error(f"scale is {scale}; expected a positive finite number")
        if not np.isfinite(offset):
            raise Error(f"offset is {offset}; expected a finite number")
        if self.zero_point is not None:
            zero = float32("zero_point", self.zero_point)
            if not np.isfinite(zero) or zero != round(zero):
                raise Error(f"zero_point is {shown(self.zero_point)}; expected a whole number, or None")
        object.__setattr__(self, "scale", scale)
        object.__setattr__(self, "offset", offset)

    @classmethod
    def of_range(
        cls, low: float, high: float | None = None, *, rule: str, width: float | None = None, bits: int = 8
    ) -> AffineQuantizer:
        """The quantizer of the range low to high, or low to low + width, by one of affine_rules().

        Raises Error for other rules, both or none of high and width, a width below 0, and a scale of 0 or infinity.
        """
        if (high is None) == (width is None):
            raise Error("high and width are both given, or none; expected one of them")
        start = float32("low", low)
        size = float32("high", high) - start if width is None else number("width", width)
        q = _core.affine_of_range(text("rule", rule), bits=integer("bits", bits, 2, 8), low=start, width=size)
        return cls(
            bits=bits,
            signed=q.is_signed,
            ties=TIES[q.ties_away],
            scale=q.scale,
            offset=q.offset,
            zero_point=q.zero_point,
            expanded=q.expanded,
        )

    def _parameters(self) -> _core.AffineParameters:
        return _core.AffineParameters(
            bits=self.bits,
            is_signed=self.signed,
            ties_away=self.ties == "away",
            scale=self.scale,
            offset=self.offset,
            zero_point=self.zero_point,
            expanded=self.expanded,
        )

    def quantize(self, x: ArrayLike, noise: ArrayLike | None = None) -> NDArray[Any]:
        """Codes of the shape of x, made float32; noise of that shape is added before the codes are limited and rounded.

        A NaN gives the largest code. Raises Error for noise of another shape.
        """
        values = np.asarray(float32_array(x, "x"), order="C")
        added = None if noise is None else np.asarray(float32_array(noise, "noise"), order="C")
        if added is not None and added.shape != values.shape:
            raise Error(f"noise has shape {added.shape}; expected that of x, {values.shape}")
        return _narrow(self._parameters().quantize(values, added), self.signed)

    def dequantize(self, codes: ArrayLike) -> NDArray[np.float32]:
        """Values of codes, float32 of their shape. Raises Error for what is no code."""
        array = real_array(codes, "codes")
        low, high = _code_range(self.bits, self.signed)
        if array.dtype.kind not in "iu" or (array.size and (array.min() < low or array.max() > high)):
            raise Error(f"codes is {shown(codes)}; expected integers of {low} to {high}")
        return self._parameters().dequantize(np.asarray(array, dtype=np.int16, order="C"))


def _inverses(scale: ArrayLike, fp32: bool, power_of_two: bool) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """The unit's inputs of each scale."""
    scales = float32_array(scale, "scale")
    pairs = [_core.affine_inverse(float(s), fp32=fp32, power_of_two=power_of_two) for s in scales.reshape(-1)]
    both = np.array(pairs, dtype=np.uint32).reshape(*scales.shape, 2)
    return both[..., 0], both[..., 1]


def _like(values: NDArray[Any], x: NDArray[Any], name: str) -> NDArray[Any]:
    try:
        return np.ascontiguousarray(np.broadcast_to(values, x.shape)).reshape(x.shape)
    except ValueError:
        raise Error(f"{name} has shape {values.shape}; expected one that broadcasts to that of x, {x.shape}") from None


def quantize_affine(
    x: ArrayLike,
    scale: ArrayLike,
    zero_point: ArrayLike = 0,
    *,
    bits: int = 8,
    signed: bool = True,
    ties: str = "even",
    power_of_two: bool = False,
    rounding: str = "nearest",
    random_bits: int = 8,
    seed: int = 0,
) -> NDArray[Any]:
    """Codes as `ng_quantize_affine` gives them: x times 1 / scale with 24 bits, plus the zero point, exactly, and rounded once.

    x: integers within int32, as the sums of a product, or real numbers, made float32. scale: positive, float32; one, or an
    array that broadcasts to x, such as one of channels. zero_point: whole numbers of -2^bits to 2^bits - 1, likewise an array.
    bits, signed, ties: as for AffineQuantizer. power_of_two: the unit without a multiplier, whose scales are powers of two.
    rounding: 'nearest' or 'stochastic', with random_bits (1 to 12) of a seed; element i takes field i.
    A NaN gives the largest code; infinities saturate. Returns int8 if signed, else uint8, of the shape of x.

    Raises Error for scales that the unit does not take, integers beyond int32 and options out of range.
    """
    numbers = real_array(x, "x")
    fp32 = numbers.dtype.kind == "f"
    if fp32:
        words = np.asarray(float32_array(numbers, "x"), order="C").view(np.uint32)
    else:
        if numbers.size and (int(numbers.min()) < -(2**31) or int(numbers.max()) >= 2**31):
            raise Error(f"x holds {numbers.min()} to {numbers.max()}; expected integers within int32")
        words = np.asarray(numbers, dtype=np.int32, order="C").view(np.uint32)
    count = integer("bits", bits, 2, 8)
    zeros = real_array(zero_point, "zero_point")
    if (zeros != np.round(zeros)).any() or (zeros.size and (zeros.min() < -(2**count) or zeros.max() >= 2**count)):
        raise Error(
            f"zero_point is {shown(zero_point)}; expected whole numbers of {-(2**count)} to {2**count - 1}, which {count} bits take"
        )
    stochastic = one_of("rounding", rounding, ("nearest", "stochastic")) == "stochastic"
    drawn = integer("random_bits", random_bits, 1, 12)
    random = None
    if stochastic:
        random = _core.random_fields(checked_seed(seed), 0, words.size, drawn).reshape(words.shape)
    inverse, shift = _inverses(scale, fp32, flag("power_of_two", power_of_two))
    codes = _core.quantize_affine(
        words,
        _like(inverse, words, "scale"),
        _like(shift, words, "scale"),
        _like(zeros.astype(np.int16), words, "zero_point"),
        random,
        fp32=fp32,
        bits=count,
        is_signed=flag("signed", signed),
        ties_away=one_of("ties", ties, TIES) == "away",
        power_of_two=power_of_two,
        random_bits=drawn if stochastic else 0,
    )
    return _narrow(codes, signed)
