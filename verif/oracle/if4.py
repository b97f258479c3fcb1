# SPDX-License-Identifier: Apache-2.0
"""IF4 transcribed in numpy, one FP32 operation a line, casts by ml_dtypes.

Of src/fouroversix/quantize/pytorch/reference, src/fouroversix/kernels/constants and src/fouroversix/utils in
mit-han-lab/fouroversix, as stored at 00e7033; torch's order of sums as in dialects.py. Nothing is shared with the model.
`wraps=True` does as the original where ours does not: values of E2M1 do not saturate, and 8 becomes code 8.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

F = np.float32
FLT_MAX = np.finfo(F).max
EXPANSION, CONTRACTION, FULL = F(1.16666666), F(0.8571428571), F(2688)
LEAST = np.nextafter(F(2688 * 2.0**-128), F(1))  # 2688 / LEAST is finite
Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]
E2M1 = {0.0: 0, 0.5: 1, 1.0: 2, 1.5: 3, 2.0: 4, 3.0: 5, 4.0: 6, 6.0: 7, 8.0: 8}


def lanes(terms: Floats) -> Floats:
    """Sums of rows of 16, on eight lanes."""
    pairs = terms[:, :8] + terms[:, 8:]
    total = np.zeros(len(terms), F)
    for i in range(8):
        total = total + pairs[:, i]
    return total


def error(values: Floats, x: Floats, choice: str) -> Floats:
    difference = np.abs(values - x)
    if choice == "largest":
        return difference.max(axis=1)
    return lanes(difference * difference if choice == "mse" else difference)


def quantize(x: Floats, choice: str, wraps: bool = False) -> tuple[Bytes, Bytes, float]:
    """Codes, scales and the largest magnitude of rows of 16."""
    amax = np.abs(x).max().astype(F)
    if amax == 0:
        return np.zeros(x.shape, np.uint8), np.zeros(len(x), np.uint8), 0.0
    amax = max(amax, LEAST)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        encode = FULL / amax
        wide = np.abs(x).max(axis=1) / F(6)
        scale_bytes = (wide * encode).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)
        scales = scale_bytes.view(ml_dtypes.float8_e4m3fn).astype(F)[:, None]
        decode = F(1) / encode
        factor = np.minimum(F(1) / (decode * scales), FLT_MAX)
        y = np.where(scales != 0, x * factor, F(0))
        m = np.abs(y)
        step1 = np.rint(F(2) * m) / F(2)
        step2 = np.rint(m)
        step3 = F(2) * np.rint(m / F(2))
        real = np.where(m < 2, step1, np.where(m < 4, step2, step3))
        real = np.minimum(real, F(8 if wraps else 6))
        integer = np.rint(np.clip(y * EXPANSION, F(-7), F(7)))
        real_values = np.sign(y) * real * scales * amax / FULL
        integer_values = integer * scales * amax * CONTRACTION / FULL
        chosen = error(integer_values, x, choice) < error(real_values, x, choice)
    real_codes = np.zeros(x.shape, np.uint8)
    for value, code in E2M1.items():
        real_codes[real == value] = code
    real_codes |= np.where(y < 0, 8, 0).astype(np.uint8)
    integer_codes = (integer.astype(np.int8) & 15).astype(np.uint8)
    codes = np.where(chosen[:, None], integer_codes, real_codes)
    return codes, scale_bytes | np.where(chosen, 128, 0).astype(np.uint8), float(amax)


def dequantize(codes: Bytes, scales: Bytes, amax: float) -> Floats:
    real = codes.view(ml_dtypes.float4_e2m1fn).astype(F)
    integer = np.where(codes > 7, codes.astype(F) - F(16), codes.astype(F))
    s = (scales & 127).view(ml_dtypes.float8_e4m3fn).astype(F)[:, None]
    with np.errstate(over="ignore"):
        return np.where(scales[:, None] > 127, integer * s * F(amax) * CONTRACTION, real * s * F(amax)) / FULL
