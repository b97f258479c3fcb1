# SPDX-License-Identifier: Apache-2.0
"""Narrow-precision arithmetic, bit for bit as the hardware does it.

>>> import numpy as np, narrowgauge as ng
>>> ng.encode(np.float32([0.3, 1.0, 500.0]), "e4m3")
array([ 42,  56, 126], dtype=uint8)
>>> c = ng.matmul(a, b, format="nvfp4")  # quantizes both, multiplies exactly, rounds once
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._core import (
    Error,
    FormatDesc,
    QuantizedMatrix,
    decode,
    dequantize,
    encode,
    formats,
    gemm,
    gemm_formats,
    quantize,
)

__all__ = [
    "Error",
    "FormatDesc",
    "QuantizedMatrix",
    "decode",
    "dequantize",
    "encode",
    "formats",
    "gemm",
    "gemm_formats",
    "matmul",
    "quantize",
]


def matmul(
    a: NDArray[np.floating],
    b: NDArray[np.floating],
    format: str = "nvfp4",
    *,
    rule: str = "exact",
    threads: int = 0,
) -> NDArray[np.float32]:
    """C = A x B (M x K times K x N) with both operands quantized to `format`, a name of gemm_formats().

    Returns float32, M x N. Raises Error as `quantize` and `gemm` do.
    """
    return gemm(
        quantize(a, format, axis="rows", rule=rule, threads=threads),
        quantize(b, format, axis="columns", rule=rule, threads=threads),
        threads=threads,
    )
