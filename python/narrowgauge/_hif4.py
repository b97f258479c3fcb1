# SPDX-License-Identifier: Apache-2.0
"""HiFloat4: blocks of 64 numbers with a scale and two levels of exponents (docs/dialects.md, HiFloat4)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import threads as checked_threads
from ._arrays import ArrayLike, any_array, code_array, float32_array
from ._core import Error

HIF4_BLOCK = 64


def quantize_hif4(
    x: ArrayLike, *, threads: int = 0
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint16]]:
    """HiFloat4 of numbers, by the authors' sequence: BF16 scales and reciprocals, the rest in FP32.

    x: real numbers, (..., k), finite; k is a multiple of 64, the length of a block.

    Returns (codes, scales, level2, level3): codes of the shape of x, uint8 of 4 bits, a sign and 0 to 7 quarters; of shape
    (..., k / 64) scales, E6M2 in uint8 (254 at most), level2, uint8 with a bit for each 8 numbers, and level3, uint16 with
    a bit for each 4 numbers, both counted from the least bit. A bit doubles its numbers.
    Raises Error for NaN and infinity, or another length of rows.
    """
    array = float32_array(x, "x")
    if array.ndim == 0 or array.size == 0 or array.shape[-1] % HIF4_BLOCK:
        raise Error(f"x has shape {array.shape}; expected rows of a multiple of 64 numbers, whole blocks of HiFloat4")
    codes, scales, level2, level3 = _core.hif4_quantize(
        np.ascontiguousarray(array).reshape(-1), checked_threads(threads, 4 * array.size)
    )
    blocks = (*array.shape[:-1], -1)
    return codes.reshape(array.shape), scales.reshape(blocks), level2.reshape(blocks), level3.reshape(blocks)


def dequantize_hif4(
    codes: ArrayLike, scales: ArrayLike, level2: ArrayLike, level3: ArrayLike, *, threads: int = 0
) -> NDArray[np.float32]:
    """The values of HiFloat4, exact: float32, the shape of codes.

    codes, scales, level2, level3: as `quantize_hif4` returns them.
    Raises Error for sizes that do not fit, integers out of range, and scale 255, which is NaN.
    """
    array = code_array(codes, "codes", "e2m1")
    parts = {"scales": scales, "level2": level2, "level3": level3}
    blocks = {name: any_array(part, name) for name, part in parts.items()}
    most = {"codes": 15, "scales": 255, "level2": 255, "level3": 65535}
    for name, each in {"codes": array, **blocks}.items():
        if each.dtype.kind not in "iu":
            raise Error(f"{name} have dtype {each.dtype}; expected integers")
        if each.size and not 0 <= each.min() <= each.max() <= most[name]:
            raise Error(f"{name} hold {each.min()} to {each.max()}; expected 0 to {most[name]}")
    shapes = {each.shape for each in blocks.values()}
    if (
        array.ndim == 0
        or array.shape[-1] % HIF4_BLOCK
        or shapes != {(*array.shape[:-1], array.shape[-1] // HIF4_BLOCK)}
    ):
        told = ", ".join(f"{name} {each.shape}" for name, each in blocks.items())
        raise Error(f"codes have shape {array.shape}, {told}; expected (..., k) and thrice (..., k / 64)")
    made = _core.hif4_dequantize(
        np.ascontiguousarray(array, np.uint8).reshape(-1),
        np.ascontiguousarray(blocks["scales"], np.uint8).reshape(-1),
        np.ascontiguousarray(blocks["level2"], np.uint8).reshape(-1),
        np.ascontiguousarray(blocks["level3"], np.uint16).reshape(-1),
        checked_threads(threads, 2 * array.size),
    )
    return made.reshape(array.shape)
