# SPDX-License-Identifier: Apache-2.0
"""Integers of 8 and 16 bits as operands of products, on any engine (docs/training.md, Integers).

Engines multiply numbers of E4M3, and sum their products exactly. An integer is a sum of nibbles, v = t 16^(n-1) + ... + l_1 16 + l_0, the
low ones of 0 to 15, the top one t of -16 to 15. Each has at most four significant bits, as E4M3 has, and so have its products with powers of
16. So the product of two matrices of integers is one product of matrices of E4M3, along a contraction that pairs each nibble of the left
integers with each of the right ones. Its sum is that of the integers, whatever the number of terms, rounded once to FP32.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._affine import AffineQuantizer
from .._arguments import float32, integer
from .._core import Error
from .._engine import Engine
from .._formats import encode, random_fields
from .._quantized import QuantizedMatrix
from .tape import Array

NIBBLE, NIBBLES = 4, 4
#: What the two nibbles of INT8 hold, and the four of INT16: its own range, and more.
INT8_LOW, INT8_HIGH = -256, 255
LOW, HIGH = -(2**16), 2**16 - 1
#: Below this magnitude FP32 has every integer.
EXACT = 2**24
RULE = "quantized_pytorch_zero"  # of the paper's code (AffineQuantizer.of_range)


@dataclass(frozen=True)
class Integers:
    """A matrix of integers under a scale, an operand of `product`: value * scale. Zero is 0, so that there is no zero point left.

    values: int32, -65536 to 65535; of INT8 a code less its zero point, -255 to 255. scale: a float32.

    Raises Error for other values and shapes.
    """

    values: NDArray[np.int32]
    scale: float = 1.0

    def __post_init__(self) -> None:
        values = self.values
        if not isinstance(values, np.ndarray) or values.dtype != np.int32 or values.ndim != 2 or not values.size:
            have = (
                f"{values.dtype} of shape {values.shape}" if isinstance(values, np.ndarray) else type(values).__name__
            )
            raise Error(f"values are {have}; expected a matrix of int32, at least 1 x 1")
        if values.min() < LOW or values.max() > HIGH:
            raise Error(f"values hold {values.min()} to {values.max()}; expected {LOW} to {HIGH}")

    @property
    def largest(self) -> int:
        """The largest magnitude."""
        return max(-int(self.values.min()), int(self.values.max()))

    def dequantize(self) -> Array:
        """The numbers that the integers stand for, each rounded once."""
        numbers: Array = self.values.astype(np.float32) * np.float32(self.scale)
        return numbers

    def nibbles(self) -> int:
        """How many the values need, 1 to 4: one for -16 to 15, two for -256 to 255."""
        low, high = int(self.values.min()), int(self.values.max())
        return next(n for n in range(1, NIBBLES + 1) if -(1 << NIBBLE * n) <= low and high < 1 << NIBBLE * n)


def affine_range(matrix: Array) -> tuple[float, float]:
    """Smallest and largest number, with 0 between them: what lies outside of a range is cut, and 0 has a code."""
    return min(float(matrix.min()), 0.0), max(float(matrix.max()), 0.0)


def noise(shape: tuple[int, ...], seed: int, bits: int) -> Array:
    """What stochastic rounding adds: element i is field i of a seed, from -1/2 to 1/2."""
    fields = random_fields(seed, int(np.prod(shape)), bits=bits).reshape(shape)
    return np.asarray((fields + 0.5) / 2**bits - 0.5, dtype=np.float32)


def int8(matrix: Array, added: Array | None = None) -> Integers:
    """A matrix in INT8 by the paper's rule: 256 codes from its smallest to its largest number, with a zero point; rounded to even.

    added: noise of stochastic rounding.
    """
    low, high = affine_range(matrix)
    quantizer = AffineQuantizer.of_range(low, high, rule=RULE)
    assert quantizer.zero_point is not None
    codes = quantizer.quantize(matrix, added).astype(np.int32)
    return Integers(codes - np.int32(quantizer.zero_point), quantizer.scale)


def int16(matrix: Array, added: Array | None = None) -> Integers:
    """A matrix in fixed point: integers of -32768 to 32767 under a power of two, rounded to even.

    The power is the smallest of 2^-126 and above under which all magnitudes are below 32768. added: noise of stochastic rounding.

    Raises Error for numbers that are not finite.
    """
    largest = float(np.abs(matrix).max())
    if not np.isfinite(largest):
        raise Error(f"the largest magnitude of a matrix is {largest}; expected finite numbers to round to INT16")
    exponent = max(int(np.frexp(largest)[1]) - 15, -126)
    scaled = np.ldexp(matrix, -exponent)
    rounded = np.rint(scaled if added is None else scaled + added)
    return Integers(np.clip(rounded, -(2**15), 2**15 - 1).astype(np.int32), float(np.ldexp(1.0, exponent)))


def e4m3(operand: Integers, axis: int, count: int) -> QuantizedMatrix:
    """Nibbles of an operand, `count` of each number, as numbers of E4M3, along the contraction, its axis -1 or -2.

    A nibble's power of 16 is at most 16, since the largest number of E4M3 is 448; so of three and four nibbles all are divided by 16 and by
    256, which the scale undoes. The smallest step is then 2^-8, and E4M3 has 2^-9.
    """
    vectors = operand.values if axis == -1 else operand.values.T
    own = operand.nibbles()
    unit = 16.0 ** min(0, 2 - own)
    parts = []
    for place in range(own):
        part = vectors >> NIBBLE * place
        if place + 1 < own:
            part &= 15
        parts.append(part * (unit * 16.0**place))
    # The left operand has each of its nibbles `count` times, n_0 n_0 n_1 n_1, and the right one has its own in turn, m_0 m_1 m_0 m_1.
    order = [part for part in parts for _ in range(count)] if axis == -1 else parts * count
    codes = encode(np.ascontiguousarray(np.concatenate(order, axis=1)), "e4m3")
    made = QuantizedMatrix("fp8", "e4m3", codes, tensor_scale=1 / unit)
    return made if axis == -1 else made.mT


def _fit(left: Integers, right: Integers) -> None:
    if left.values.shape[1] != right.values.shape[0]:
        raise Error(
            f"the operands have shapes {left.values.shape} and {right.values.shape}; expected M x K and K x N, with one K"
        )


def _rounded_sums(left: Integers, right: Integers, engine: Engine | None) -> Array:
    """The sums of products of integers, each rounded once to FP32. engine: None is numpy, in float64, of which sums are integers."""
    if engine is not None:
        return engine.gemm(e4m3(left, -1, right.nibbles()), e4m3(right, -2, left.nibbles())).c
    # Products are below 2^32 in magnitude, so that float64 holds all partial sums of fewer than 2^21 of them exactly, in any order.
    integer("the operands' common dimension", left.values.shape[1], 1, 2**21)
    sums = left.values.astype(np.float64) @ right.values.astype(np.float64)
    return sums.astype(np.int64).astype(np.float32)  # int64 has no -0


def product(left: Integers, right: Integers, engine: Engine | None = None) -> Array:
    """left @ right: the exact sum of integers, rounded once to float32, times the product of the scales in float32.

    engine: None is the golden model; all give the same bits. Raises Error for shapes that do not fit.
    """
    _fit(left, right)
    return _rounded_sums(left, right, engine) * (np.float32(left.scale) * np.float32(right.scale))


def sums(left: Integers, right: Integers, engine: Engine | None = None) -> NDArray[np.int64]:
    """The exact sums of products of integers, without scales.

    FP32 is exact below 2^24, which is reached by no sum of K products where K times both largest magnitudes is below it: of INT8 for K up
    to 258. A longer contraction is cut into such parts, whose sums are added as integers. Raises Error for shapes that do not fit.
    """
    _fit(left, right)
    length = left.values.shape[1]
    most = max(1, left.largest) * max(1, right.largest)
    if most >= EXACT:
        raise Error(f"a product of these operands may be {most}; expected magnitudes whose product is below {EXACT}")
    part = (EXACT - 1) // most
    total = np.zeros((left.values.shape[0], right.values.shape[1]), np.int64)
    for start in range(0, length, part):
        piece = slice(start, start + part)
        total += _rounded_sums(Integers(left.values[:, piece]), Integers(right.values[piece]), engine).astype(np.int64)
    return total


def codes(
    left: Integers, right: Integers, scale: float, zero_point: int = 0, engine: Engine | None = None
) -> NDArray[np.int8]:
    """INT8 codes of the sums of products, as a tile sends them (docs/units/tile.md, Results in INT8).

    scale: of the codes, a float32 above 0 in the unit of the sums. zero_point: -256 to 255. A sum is rounded to FP32, times fl(1 / scale),
    rounded to FP32, and that plus zero_point is rounded to nearest even and limited to -128 to 127. Raises Error for shapes that do not fit.
    """
    _fit(left, right)
    if engine is not None:
        operands = e4m3(left, -1, right.nibbles()), e4m3(right, -2, left.nibbles())
        return engine.gemm_integers(*operands, scale, zero_point=zero_point).c
    inverse = np.float32(1) / float32("scale", scale)
    numbers = (_rounded_sums(left, right, None) * inverse).astype(np.float64) + integer(
        "zero_point", zero_point, -256, 255
    )
    return np.clip(np.rint(numbers), -128, 127).astype(np.int8)
