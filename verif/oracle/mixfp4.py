# SPDX-License-Identifier: Apache-2.0
"""MixFP4 transcribed in numpy: blocks of 16 in E2M1 or E1M2 under an E4M3 scale, one FP32 rounding an operation.

Of Algorithm 1 of arXiv 2605.31035, for finite numbers, with E1M2 counted in half steps. Nothing is shared with the
library.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

F = np.float32
LEAST = F(float.fromhex("0x1.5p-115"))
SPAN = F(2688)
Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]

BYTE = np.arange(0x7F)
E4M3 = np.where(BYTE < 8, np.ldexp(BYTE, -9), np.ldexp(8 + BYTE % 8, BYTE // 8 - 10)).astype(F)
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], F)
E1M2 = np.arange(8).astype(F)


def nearest(x: Floats, table: Floats) -> Bytes:
    """The index of the entry nearest to each x >= 0: a tie goes to the even index, and the last entry saturates."""
    middle = (table[:-1] + table[1:]) / F(2)
    # The least number that rounds past each entry: the midpoint itself if the entry's index is odd.
    least = np.where(np.arange(len(middle)) % 2 == 1, middle, np.nextafter(middle, F(np.inf)))
    return np.searchsorted(least, x, side="right").astype(np.uint8)


def candidate(y: Floats, table: Floats) -> tuple[Bytes, Bytes, Floats]:
    """Codes, scales and errors of all blocks in one element format."""
    scale = nearest(np.abs(y).max(axis=1) / table[-1], E4M3)
    s = E4M3[scale][:, None]
    # Where s is zero every magnitude and every sign is cleared, so the divisor there is of no account.
    some = s > 0
    index = nearest(np.abs(y) / np.where(some, s, F(1)), table) * some
    codes = index | ((np.signbit(y) & some).astype(np.uint8) << 3)
    e = np.copysign(table[index], y) * s - y
    e = e * e
    total = np.zeros(len(y), F)
    for i in range(8):
        total = total + (e[:, i] + e[:, i + 8])
    return codes, scale, total


def quantize(x: Floats) -> tuple[Bytes, Bytes, np.float32]:
    """Codes and scales of rows of 16, and the largest magnitude, raised to LEAST unless it is zero."""
    amax = F(np.abs(x).max(initial=0))
    if amax == 0:
        return np.zeros(x.shape, np.uint8), np.full(len(x), 0x80, np.uint8), amax
    amax = max(amax, LEAST)
    y = x / (amax / SPAN)
    codes2, scale2, error2 = candidate(y, E2M1)
    codes1, scale1, error1 = candidate(y, E1M2)
    two = error2 < error1
    return np.where(two[:, None], codes2, codes1), np.where(two, scale2, scale1 | 0x80), amax


def dequantize(codes: Bytes, scales: Bytes, amax: np.float32) -> Floats:
    index = codes & 7
    q = np.where(scales[:, None] < 0x80, E2M1[index], E1M2[index])
    q = np.where(codes & 8, -q, q)
    return q * E4M3[scales & 0x7F][:, None] * (F(amax) / SPAN)
