# SPDX-License-Identifier: Apache-2.0
"""HiFloat4 transcribed in numpy, one FP32 operation a line, BF16 by ml_dtypes.

Of To_HiFX in the script HiF4_NVFP4_v14f16 of ddddwee1/HiFloat4, as stored at 62b52e4, for finite numbers. Nothing is
shared with the model.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

F = np.float32
LEAST, LARGEST = F(2.0**-48), F(2.0**15 * 1.5)
Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]


def bf16(x: Floats) -> Floats:
    return x.astype(ml_dtypes.bfloat16).astype(F)


def quantize(x: Floats) -> tuple[Bytes, Bytes, Bytes, NDArray[np.uint16]]:
    """Codes, scales and the bits of two levels of rows of 64."""
    m = np.abs(x)
    four = m.reshape(-1, 16, 4).max(axis=2)
    eight = four.reshape(-1, 8, 2).max(axis=2)
    wanted = bf16(eight.max(axis=1) * bf16(F(1) / F(7)))
    wanted = np.clip(wanted, LEAST, LARGEST)
    exponent = np.floor(np.log2(wanted))
    scale = (np.rint(wanted * np.exp2(2 - exponent)) * np.exp2(exponent - 2)).astype(F)
    reciprocal = bf16(F(1) / scale)[:, None]
    level2 = eight * reciprocal >= 4
    doubled = np.repeat(level2, 2, axis=1).astype(F)
    level3 = four * reciprocal * np.exp2(-doubled) >= 2
    shift = np.repeat(doubled + level3, 4, axis=1)
    quarters = m * reciprocal * np.exp2(2 - shift).astype(F)
    quarters = np.minimum(np.floor(quarters + F(0.5)), 7)
    codes = quarters.astype(np.uint8) | np.where(x < 0, 8, 0).astype(np.uint8)
    top = np.floor(np.log2(scale))
    scales = (4 * (top + 48) + 4 * (scale * np.exp2(-top) - 1)).astype(np.uint8)
    bits2 = (level2 * (1 << np.arange(8))).sum(axis=1).astype(np.uint8)
    bits3 = (level3 * (1 << np.arange(16))).sum(axis=1).astype(np.uint16)
    return codes, scales, bits2, bits3


def dequantize(codes: Bytes, scales: Bytes, level2: Bytes, level3: NDArray[np.uint16]) -> Floats:
    scale = np.exp2((scales >> 2).astype(np.float64) - 48) * (1 + (scales & 3) / 4)
    shift = np.repeat(level2[:, None] >> np.arange(8) & 1, 8, axis=1)
    shift = shift + np.repeat(level3[:, None] >> np.arange(16) & 1, 4, axis=1)
    return (np.where(codes > 7, -1.0, 1.0) * (codes & 7) / 4 * np.exp2(shift) * scale[:, None]).astype(F)
