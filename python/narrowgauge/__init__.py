# SPDX-License-Identifier: Apache-2.0
"""Narrow-precision arithmetic, bit for bit as the hardware does it.

>>> import numpy as np, narrowgauge as ng
>>> ng.encode(np.float32([0.3, 1.0, 500.0]), "e4m3")
array([ 42,  56, 126], dtype=uint8)
>>> c = ng.matmul(a, b, format="nvfp4")  # quantizes both, multiplies exactly, rounds once
>>> qa, qb = ng.quantize(a), ng.quantize(b, axis=-2)
>>> (qa @ qb == c).all()
>>> r = ng.Engine("systemc").gemm(qa, qb)  # the same on a simulated tile
>>> r.cycles, r.utilization
>>> e = ng.energy("nvfp4", lanes=16, technology="osu018", operands=(a, b))  # flips counted on these very numbers
>>> e.value, e.unit, e.error
>>> ng.explore("resnet18", {"format": ["nvfp4", "int8"], "technology": "osu018", "rows": [4, 8, 16]}).table()
"""

from __future__ import annotations

from . import checkpoint, gguf, luq, noise, retrieval, zap
from ._accumulate import accumulation_modes, mma
from ._activity import ActivityEnergy, activity_energy
from ._affine import AffineQuantizer, affine_rules, quantize_affine
from ._binary import (
    BinaryWeights,
    PopcountThreshold,
    binarize,
    binarize_weights,
    fuse_batch_norm,
    plane_sums,
    popcount_dot,
    xnor_dot,
)
from ._codec import (
    ChannelTransform,
    calibrate_transform,
    clip_limit,
    codec_report,
    compress,
    decompress,
    soft_entropy,
    transform_report,
)
from ._core import (
    Anchor,
    Answer,
    EngineResult,
    Error,
    FieldError,
    FormatDesc,
    RungError,
    Technology,
    Tile,
    __version__,
)
from ._energy import Gauge, energy, energy_lines, energy_many, export_tables, flips, memory_energy, technologies
from ._engine import Engine, IntegerResult, LoopState, RequantizedResult, engines, tiles
from ._explore import Exploration, explore, workloads
from ._formats import (
    decode,
    encode,
    formats,
    p3109_values,
    pack,
    random_fields,
    swizzle_scales,
    to_ml_dtypes,
    unpack,
    unswizzle_scales,
)
from ._hif4 import dequantize_hif4, quantize_hif4
from ._if4 import dequantize_if4, dequantize_mixfp4, quantize_if4, quantize_mixfp4
from ._norm import (
    BatchNorm,
    BatchNormGradients,
    BatchNormResult,
    MomentStats,
    RangeStats,
    batch_norm_rules,
    bounded_weight_norm,
    bounded_weight_norm_backward,
    moment_stats,
    norm_apply,
    range_stats,
)
from ._quantized import (
    QuantizedMatrix,
    dequantize,
    dialect_fields,
    dialect_scales,
    dialects,
    fake_quantize,
    front_stage,
    gemm,
    gemm_formats,
    matmul,
    quantize,
)
from ._scaling import DelayedScaling
from ._softmax import (
    ExaqRow,
    exaq_attention,
    exaq_clip,
    exaq_codes,
    exaq_levels,
    exaq_row,
    exaq_sigma,
    exaq_softmax,
    exaq_table,
    exaq_thresholds,
)
from ._sparse import (
    SparseMatrix,
    SparseOperand,
    adaprune,
    prune,
    pruning_error,
    sparse_operand,
    sparsity_mask,
    to_sparse,
    transposable_mask,
)
from ._tile_activity import TileActivityEnergy, tile_activity_energy
from ._training import AdamResult, SmoothResult, adam_step, fold_scales, l2_normalize, rsqrt, smooth
from .checkpoint import open_checkpoint

__all__ = [
    "ActivityEnergy",
    "AdamResult",
    "AffineQuantizer",
    "Anchor",
    "Answer",
    "BatchNorm",
    "BatchNormGradients",
    "BatchNormResult",
    "BinaryWeights",
    "ChannelTransform",
    "DelayedScaling",
    "Engine",
    "EngineResult",
    "Error",
    "ExaqRow",
    "Exploration",
    "FieldError",
    "FormatDesc",
    "Gauge",
    "IntegerResult",
    "LoopState",
    "MomentStats",
    "PopcountThreshold",
    "QuantizedMatrix",
    "RangeStats",
    "RequantizedResult",
    "RungError",
    "SmoothResult",
    "SparseMatrix",
    "SparseOperand",
    "Technology",
    "Tile",
    "TileActivityEnergy",
    "__version__",
    "accumulation_modes",
    "activity_energy",
    "adam_step",
    "adaprune",
    "affine_rules",
    "batch_norm_rules",
    "binarize",
    "binarize_weights",
    "bounded_weight_norm",
    "bounded_weight_norm_backward",
    "calibrate_transform",
    "checkpoint",
    "clip_limit",
    "codec_report",
    "compress",
    "decode",
    "decompress",
    "dequantize",
    "dequantize_hif4",
    "dequantize_if4",
    "dequantize_mixfp4",
    "dialect_fields",
    "dialect_scales",
    "dialects",
    "encode",
    "energy",
    "energy_lines",
    "energy_many",
    "engines",
    "exaq_attention",
    "exaq_clip",
    "exaq_codes",
    "exaq_levels",
    "exaq_row",
    "exaq_sigma",
    "exaq_softmax",
    "exaq_table",
    "exaq_thresholds",
    "explore",
    "export_tables",
    "fake_quantize",
    "flips",
    "fold_scales",
    "formats",
    "front_stage",
    "fuse_batch_norm",
    "gemm",
    "gemm_formats",
    "gguf",
    "l2_normalize",
    "luq",
    "matmul",
    "memory_energy",
    "mma",
    "moment_stats",
    "noise",
    "norm_apply",
    "open_checkpoint",
    "p3109_values",
    "pack",
    "plane_sums",
    "popcount_dot",
    "prune",
    "pruning_error",
    "quantize",
    "quantize_affine",
    "quantize_hif4",
    "quantize_if4",
    "quantize_mixfp4",
    "random_fields",
    "range_stats",
    "retrieval",
    "rsqrt",
    "smooth",
    "soft_entropy",
    "sparse_operand",
    "sparsity_mask",
    "swizzle_scales",
    "technologies",
    "tile_activity_energy",
    "tiles",
    "to_ml_dtypes",
    "to_sparse",
    "transform_report",
    "transposable_mask",
    "unpack",
    "unswizzle_scales",
    "workloads",
    "xnor_dot",
    "zap",
]
