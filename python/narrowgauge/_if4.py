# SPDX-License-Identifier: Apache-2.0
"""IF4: blocks of NVFP4 whose elements are E2M1 or INT4 (docs/dialects.md, IF4)."""

from __future__ import annotations

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
    array = float32_array(x, "x")
    if array.ndim == 0 or array.size == 0 or array.shape[-1] % IF4_BLOCK:
        raise Error(f"x has shape {array.shape}; expected rows of a multiple of 16 numbers, whole blocks of IF4")
    which = IF4_CHOICES.index(one_of("choice", choice, IF4_CHOICES))
    codes, scales, amax = _core.if4_quantize(
        np.ascontiguousarray(array).reshape(-1), which, checked_threads(threads, 10 * array.size)
    )
    return codes.reshape(array.shape), scales.reshape(*array.shape[:-1], -1), amax


def dequantize_if4(codes: ArrayLike, scales: ArrayLike, amax: float, *, threads: int = 0) -> NDArray[np.float32]:
    """The values of IF4, fl(fl(fl(q s) amax) / 2688), the numerator of INT4 times fl(6/7): float32, the shape of codes.

    codes, scales, amax: as `quantize_if4` returns them.
    Raises Error for sizes that do not fit, codes beyond 15, scales 127 and 255, which are NaN, and another amax.
    """
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
    made = _core.if4_dequantize(
        np.ascontiguousarray(array, np.uint8).reshape(-1),
        np.ascontiguousarray(factors, np.uint8).reshape(-1),
        float32("amax", amax),
        checked_threads(threads, 2 * array.size),
    )
    return made.reshape(array.shape)
