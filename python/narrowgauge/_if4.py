# SPDX-License-Identifier: Apache-2.0
"""IF4 and MixFP4: blocks of NVFP4 whose elements are E2M1, or INT4 and E1M2 (docs/dialects.md)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import float32, one_of
from ._arguments import threads as checked_threads
from ._arrays import ArrayLike, code_array, float32_array
from ._core import Error

IF4_BLOCK = 16
IF4_CHOICES = ("mse", "mae", "largest")


def quantize_if4(
    x: ArrayLike, *, choice: str = "mse", threads: int = 0
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], float]:
    """IF4 of numbers, by the FP32 sequence of the package fouroversix.

    x: real numbers, (..., k), finite; k is a multiple of 16, the length of a block.
    choice: which errors of a block decide between E2M1 and INT4: 'mse' and 'mae' are sums of squares and of magnitudes,
        'largest' is the largest magnitude. Equal errors choose E2M1.

    Returns (codes, scales, amax): codes of the shape of x, uint8 of 4 bits; scales (..., k / 16), E4M3 whose sign bit, 0x80,
    is set where codes are INT4 in two's complement; the largest magnitude of x, made at least 2^-116.6 so that
    2688 / amax is finite.
    Raises Error for NaN and infinity, another length of rows, or an unknown choice.
    """
    which = IF4_CHOICES.index(one_of("choice", choice, IF4_CHOICES))
    return _quantized(x, "IF4", threads, lambda numbers, used: _core.if4_quantize(numbers, which, used))


def quantize_mixfp4(x: ArrayLike, *, threads: int = 0) -> tuple[NDArray[np.uint8], NDArray[np.uint8], float]:
    """MixFP4 of numbers, by algorithm 1 of its paper (arXiv 2605.31035), each operation rounded to FP32.

    x: real numbers, (..., k), finite; k is a multiple of 16, the length of a block. Each block has the elements whose sum of
    squared errors is less, E2M1 or E1M2; equal errors choose E1M2.

    Returns (codes, scales, amax): codes of the shape of x, uint8 of 4 bits; scales (..., k / 16), E4M3 whose sign bit, 0x80,
    is set where codes are E1M2; the largest magnitude of x, made at least 2^-114.6 so that amax / 2688 is a normal number.
    Raises Error for NaN and infinity, and another length of rows.
    """
    return _quantized(x, "MixFP4", threads, _core.mixfp4_quantize)


def _quantized(
    x: ArrayLike,
    name: str,
    threads: int,
    quantize: Callable[[NDArray[np.float32], int], tuple[NDArray[np.uint8], NDArray[np.uint8], float]],
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], float]:
    array = float32_array(x, "x")
    if array.ndim == 0 or array.size == 0 or array.shape[-1] % IF4_BLOCK:
        raise Error(f"x has shape {array.shape}; expected rows of a multiple of 16 numbers, whole blocks of {name}")
    codes, scales, amax = quantize(np.ascontiguousarray(array).reshape(-1), checked_threads(threads, 10 * array.size))
    return codes.reshape(array.shape), scales.reshape(*array.shape[:-1], -1), amax


def dequantize_if4(codes: ArrayLike, scales: ArrayLike, amax: float, *, threads: int = 0) -> NDArray[np.float32]:
    """The values of IF4, fl(fl(fl(q s) amax) / 2688), the numerator of INT4 times fl(6/7): float32, the shape of codes.

    codes, scales, amax: as `quantize_if4` returns them.
    Raises Error for sizes that do not fit, codes beyond 15, scales 127 and 255, which are NaN, and another amax.
    """
    return _dequantized(codes, scales, amax, threads, _core.if4_dequantize)


def dequantize_mixfp4(codes: ArrayLike, scales: ArrayLike, amax: float, *, threads: int = 0) -> NDArray[np.float32]:
    """The values of MixFP4, fl(fl(q s) fl(amax / 2688)), an element q of E1M2 counting as -7 to 7: float32, the shape of codes.

    codes, scales, amax: as `quantize_mixfp4` returns them.
    Raises Error for sizes that do not fit, codes beyond 15, scales 127 and 255, which are NaN, and another amax.
    """
    return _dequantized(codes, scales, amax, threads, _core.mixfp4_dequantize)


def _dequantized(
    codes: ArrayLike,
    scales: ArrayLike,
    amax: float,
    threads: int,
    dequantize: Callable[[NDArray[np.uint8], NDArray[np.uint8], float, int], NDArray[np.float32]],
) -> NDArray[np.float32]:
    array, factors = code_array(codes, "codes", "e2m1"), code_array(scales, "scales", "e4m3")
    if (
        array.ndim == 0
        or array.shape[-1] % IF4_BLOCK
        or factors.shape != (*array.shape[:-1], array.shape[-1] // IF4_BLOCK)
    ):
        raise Error(f"codes have shape {array.shape}, scales {factors.shape}; expected (..., k) and (..., k / 16)")
    for name, each, most in (("codes", array, 15), ("scales", factors, 255)):
        if each.size and each.max() > most:
            raise Error(f"{name} hold {each.max()}; expected at most {most}")
    made = dequantize(
        np.ascontiguousarray(array, np.uint8).reshape(-1),
        np.ascontiguousarray(factors, np.uint8).reshape(-1),
        float32("amax", amax),
        checked_threads(threads, 2 * array.size),
    )
    return made.reshape(array.shape)
