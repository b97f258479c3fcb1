# SPDX-License-Identifier: Apache-2.0
"""Narrow-precision arithmetic, bit for bit as the hardware does it.

>>> import numpy as np, narrowgauge as ng
>>> ng.encode(np.float32([0.3, 1.0, 500.0]), "e4m3")
array([ 42,  56, 126], dtype=uint8)
>>> c = ng.matmul(a, b, format="nvfp4")  # quantizes both, multiplies exactly, rounds once
>>> r = ng.Engine("systemc").gemm(ng.quantize(a), ng.quantize(b, axis="columns"))  # the same on a simulated tile
>>> r.cycles, r.utilization
>>> e = ng.energy("nvfp4", lanes=16, technology="osu018", operands=(a, b))  # flips counted on these very numbers
>>> e.value, e.unit, e.error
>>> ng.explore("resnet18", {"format": ["nvfp4", "int8"], "technology": "osu018", "rows": [4, 8, 16]}).table()
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._core import (
    Anchor,
    Answer,
    Engine,
    EngineResult,
    Error,
    FieldError,
    FormatDesc,
    Gauge,
    QuantizedMatrix,
    RungError,
    Technology,
    Tile,
    __version__,
    decode,
    dequantize,
    encode,
    energy_lines,
    engines,
    export_tables,
    formats,
    gemm,
    gemm_formats,
    quantize,
    technologies,
    tiles,
    workloads,
)
from ._energy import energy, energy_many, flips, memory_energy
from ._explore import Exploration, explore

__all__ = [
    "Anchor",
    "Answer",
    "Engine",
    "EngineResult",
    "Error",
    "Exploration",
    "FieldError",
    "FormatDesc",
    "Gauge",
    "QuantizedMatrix",
    "RungError",
    "Technology",
    "Tile",
    "__version__",
    "decode",
    "dequantize",
    "encode",
    "energy",
    "energy_lines",
    "energy_many",
    "engines",
    "explore",
    "export_tables",
    "flips",
    "formats",
    "gemm",
    "gemm_formats",
    "matmul",
    "memory_energy",
    "quantize",
    "technologies",
    "tiles",
    "workloads",
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
