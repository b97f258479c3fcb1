# SPDX-License-Identifier: Apache-2.0
"""Malformed calls: every argument of every public function in turn takes each of a pool of wrong values. What is refused is
a narrowgauge.Error in a sentence, and nothing else comes out."""

from __future__ import annotations

import importlib.util
import inspect
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import checkpoint, gguf, luq, noise, retrieval, zap

LONGEST = 600  # characters of a message
X = np.linspace(-2, 3, 32 * 32, dtype=np.float32).reshape(32, 32)
Q, QB = ng.quantize(X), ng.quantize(X.T, axis=-2)
S, SB = ng.quantize(ng.prune(X), wide_blocks=True), ng.quantize(X, axis=-2, wide_blocks=True)
CODES = np.zeros(X.shape, np.uint8)
LEVELS = np.zeros((16, 1), np.uint8)
FP4 = np.zeros((8, 64), np.uint8)
MASK = np.ones(X.shape, bool)
CHANNELS = np.ones(32)
NORM = ng.BatchNorm()
INT8 = CODES.astype(np.int8)
NORMALIZED = NORM.forward(INT8, CHANNELS, CHANNELS, step=0.1, low=-1.0)
MAP = X.reshape(2, 16, 32)
TRANSFORM = ng.calibrate_transform(MAP)
PRUNED = ng.to_sparse(ng.prune(X))
STATISTICS = luq.log_statistics(X)
ZAP = zap.Predictor(X[:6, :3].reshape(2, 3, 3), [0.1, 0.2], X[6:12, :3].reshape(2, 3, 3), [0.1, 0.2])
ZAP_INTEGERS = ZAP.to_integers(0.1, 0.0)
ZAP_NORM = np.ones((4, 2), np.float32)
ENGINE = ng.Engine()
BLOCKS = ng.quantize(X.reshape(-1, 64), dialect="ggml")
FOLDER = tempfile.TemporaryDirectory()
checkpoint.write(f"{FOLDER.name}/a.safetensors", {"a": Q, "b": X[0]})
CHECKPOINT = checkpoint.open_checkpoint(f"{FOLDER.name}/a.safetensors")
#: Functions of gguf that need the package of that name.
FILES = {"activity_energy", "tile_activity_energy", "gguf.read", "gguf.tensors", "gguf.write"}

POOL: dict[str, Any] = {
    "None": None, "True": True, "-1": -1, "0": 0, "2^70": 2**70, "1.5": 1.5, "nan": float("nan"), "-inf": -float("inf"),
    "empty text": "", "a word": "nothing", "a surrogate": "\udc80", "NUL": "a\0b", "long text": 5000 * "x", "bytes": b"\xff",
    "a list": [], "lists": [[1, 2], [3]], "a tuple": (1, "x", None), "a dict": {"a": {}}, "an object": object(),
    "a function": len, "a class": int, "an array": X[:2, :3], "text in an array": np.array(["nvfp4"]),
    "an array of objects": np.array([None, {}], object), "no numbers": np.zeros((0, 3), np.float32),
    "no dimension": np.float64(2), "complex": X.astype(complex), "bytes in an array": np.zeros((2, 2), "V1"),
    "int64": np.full((2, 4), -(2**40)), "nan in an array": np.full((32, 32), np.nan, np.float32),
    "huge": np.broadcast_to(np.float32(1), (2**30, 2**30)), "huge bytes": np.broadcast_to(np.uint8(1), (2**30, 2**30)),
    "dates": np.array(["2026-01-01"], "datetime64[D]"), "many dimensions": np.zeros((1,) * 30, np.float32),
    "a matrix": Q, "a sparse matrix": PRUNED, "a luq array": luq.quantize(X), "a path": Path("/nowhere/at/all"),
}  # fmt: skip


#: A multiplier that takes three pairs.
WAVES = (
    "$timescale 1ns $end $scope module u $end $var wire 1 c clk_i $end $var wire 8 a a_i $end $var wire 8 b b_i $end "
)
WAVES += "$upscope $end $enddefinitions $end\n" + "".join(
    f"#{10 * n}\n0c\nb{n:b} a\nb{n:b} b\n#{10 * n + 5}\n1c\n" for n in range(3)
)
#: Beats of the array of the tile `tiny`.
ARRAY_PORTS = {"a_i": 64, "b_i": 64, "a_scale_i": 8, "b_scale_i": 8}
ARRAY_PORTS |= dict.fromkeys(("valid_i", "ready_o", "first_i", "row_en_i", "col_en_i"), 1)
ARRAY_WAVES = "$timescale 1ns $end $scope module u $end $scope module u_array $end $var wire 1 c clk_i $end "
ARRAY_WAVES += " ".join(f"$var wire {width} {name} {name} $end" for name, width in ARRAY_PORTS.items())
ARRAY_WAVES += " $upscope $end $upscope $end $enddefinitions $end\n" + "".join(
    f"#{10 * n}\n0c\n"
    + "".join(f"b{1 if width == 1 else n:b} {name}\n" for name, width in ARRAY_PORTS.items())
    + f"#{10 * n + 5}\n1c\n"
    for n in range(4)
)


def calls(tmp: Path) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Every public function, method and constructor with arguments, and a call of it that is right."""
    delayed, hindsight = ng.DelayedScaling(), luq.HindsightMax()
    gemm = {"a": Q, "b": QB, "progress": None}
    transform = {"axis": 1, "group": None, "bits": 8, "matrix_bits": 12, "relu": True}
    quantize = {
        "x": X, "format": "nvfp4", "axis": -1, "rule": "exact", "rounding": "nearest_even", "random_bits": 8, "seed": 0,
        "tensor_scale": 1.0, "power_of_two_scale": False, "scaling": "tensor", "threads": 1, "dialect": None, "amax": None,
        "random": None,
    }  # fmt: skip
    dialect = {
        **quantize,
        "format": None,
        "dialect": "te",
        "rounding": "stochastic",
        "random": CODES,
        "tensor_scale": None,
    }
    operand = {"operands": (X, X.T), "max_products": 1 << 12, "threads": 1, "lanes": 16, "technology": "osu018"}
    file, weight = tmp / "a.gguf", {"a.weight": BLOCKS}
    files: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
        "gguf.write": (gguf.write, {"path": file, "tensors": weight, "architecture": "test"}),
        "gguf.tensors": (gguf.tensors, {"path": file}),
        "gguf.read": (gguf.read, {"path": file, "name": "a.weight", "index": None, "nan_scale": "zero"}),
    }
    if importlib.util.find_spec("gguf") is None:
        files = {}
    elif tmp.is_absolute():
        gguf.write(file, weight)
    waves = tmp / "waves.vcd"
    if tmp.is_absolute():
        waves.write_text(WAVES)
    if importlib.util.find_spec("pywellen") is not None:
        files["activity_energy"] = (ng.activity_energy, {
            "file": waves, "scope": "u", "format": "int8", "structure": "array", "window": (0, 1), "ports": {}, "max_unknown": 0, "max_products": 4,
        })  # fmt: skip
        array = tmp / "array.vcd"
        if tmp.is_absolute():
            array.write_text(ARRAY_WAVES)
        files["tile_activity_energy"] = (ng.tile_activity_energy, {
            "file": array, "scope": "u", "tile": "tiny", "clock": "clk_i", "window": (0, 1), "max_unknown": 0, "max_products": 64,
        })  # fmt: skip
    layer, path = CHECKPOINT["a"], CHECKPOINT.path
    way = {
        "global_scale": "names",
        "nibbles": "low_first",
        "scale_layout": "auto",
        "zero_scales": "refuse",
        "zero_points": "auto",
    }
    return {
        **files,
        "open_checkpoint": (ng.open_checkpoint, {"path": path, **way}),
        "checkpoint.open_checkpoint": (checkpoint.open_checkpoint, {"path": path, **way}),
        "checkpoint.Checkpoint": (checkpoint.Checkpoint, {"path": path, **way}),
        "checkpoint.Checkpoint.__getitem__": (CHECKPOINT.__getitem__, {"name": "a"}),
        "checkpoint.Layer.read": (layer.read, {"index": None}),
        "checkpoint.Layer.multiply": (layer.multiply, {"x": X, "engine": ENGINE, "index": None, "activations": "file"}),
        "checkpoint.IntegerMatrix": (checkpoint.IntegerMatrix, {
            "bits": 8, "codes": CODES, "scales": np.ones((32, 2), np.float32), "zeros": np.zeros((32, 2), np.uint8), "groups": None,
        }),
        "checkpoint.IntegerMatrix.dequantize": (checkpoint.IntegerMatrix(8, CODES, np.ones((32, 1)), CODES[:, :1]).dequantize, {}),
        "checkpoint.change": (checkpoint.change, {"name": "a", "before": Q, "after": Q}),
        "checkpoint.write": (checkpoint.write, {
            "path": tmp / "a.safetensors", "layers": {"a": Q, "b": X}, "layout": "modelopt", "metadata": {"a": "b"},
        }),
        "checkpoint.convert": (checkpoint.convert, {
            "checkpoint": CHECKPOINT, "path": tmp / "b.safetensors", "layout": "modelopt", "dialect": None, "format": "mxfp4",
            "scaling": "tensor", "progress": None,
        }),
        "gguf.pack": (gguf.pack, {"q": BLOCKS, "scale_apart": True}),
        "gguf.unpack": (gguf.unpack, {"blocks": gguf.pack(BLOCKS), "tensor_scale": 1.0, "nan_scale": "refuse"}),
        "encode": (ng.encode, {"x": X, "format": "e4m3", "rounding": "stochastic", "overflow": "saturate", "random": CODES, "random_bits": 8}),
        "decode": (ng.decode, {"codes": CODES, "format": "e4m3"}),
        "random_fields": (ng.random_fields, {"seed": 1, "count": 4, "bits": 8, "first": 2}),
        "pack": (ng.pack, {"codes": CODES}),
        "unpack": (ng.unpack, {"packed": CODES}),
        "swizzle_scales": (ng.swizzle_scales, {"scales": CODES, "threads": 1}),
        "unswizzle_scales": (ng.unswizzle_scales, {"swizzled": np.zeros((2, 4096), np.uint8), "rows": 32, "blocks": 32, "threads": 1}),
        "quantize_hif4": (ng.quantize_hif4, {"x": X.reshape(16, 64), "threads": 1}),
        "dequantize_hif4": (
            ng.dequantize_hif4,
            {"codes": CODES.reshape(16, 64), "scales": LEVELS, "level2": LEVELS, "level3": LEVELS, "threads": 1},
        ),
        "quantize_mixfp4": (ng.quantize_mixfp4, {"x": X, "threads": 1}),
        "dequantize_mixfp4": (
            ng.dequantize_mixfp4,
            {"codes": CODES, "scales": CODES[:, ::16], "amax": 1.0, "threads": 1},
        ),
        "quantize_if4": (ng.quantize_if4, {"x": X, "choice": "mae", "threads": 1}),
        "dequantize_if4": (ng.dequantize_if4, {"codes": CODES, "scales": CODES[:, ::16], "amax": 1.0, "threads": 1}),
        "p3109_values": (ng.p3109_values, {"bits": 8, "precision": 3, "signed": True, "extended": False}),
        "to_ml_dtypes": (ng.to_ml_dtypes, {"codes": CODES, "format": "e4m3"}),
        "quantize": (ng.quantize, {**quantize, "wide_blocks": False}),
        "quantize in a dialect": (ng.quantize, dialect),
        "fake_quantize": (ng.fake_quantize, quantize),
        "dequantize": (ng.dequantize, {"q": Q}),
        "front_stage": (ng.front_stage, {"x": X, "stage": "rht16", "axis": -1, "threads": 1}),
        "dialect_fields": (ng.dialect_fields, {"dialect": "te"}),
        "dialect_scales": (ng.dialect_scales, {"dialect": "te", "amax": 1.0, "scale_code": 56}),
        "gemm": (ng.gemm, {"a": Q, "b": QB, "output": "float32", "threads": 1, "accumulate": "exact"}),
        "mma": (ng.mma, {
            "a": FP4, "b": FP4, "c": None, "rule": "blackwell_64", "elements": ("e2m1", "e2m1"), "a_scales": FP4[:, :4],
            "b_scales": FP4[:, :4], "scale": "ue4m3", "bits": None, "threads": 1,
        }),
        "matmul": (ng.matmul, {
            "a": X, "b": X.T, "format": "nvfp4", "rule": "exact", "rounding": "nearest_even", "random_bits": 8, "seed": 0,
            "power_of_two_scale": False, "scaling": "tensor", "output": "float32", "threads": 1,
        }),
        "QuantizedMatrix": (ng.QuantizedMatrix, {
            "scheme": "nvfp4", "element": "e2m1", "codes": CODES, "scales": np.full((32, 2), 56, np.uint8), "tensor_scale": 1.0,
            "scaling": "tensor", "k": 32,
        }),
        "QuantizedMatrix of vectors": (ng.QuantizedMatrix, {
            "scheme": "fp8", "element": "e4m3", "codes": CODES, "scales": np.ones(32, np.float32), "tensor_scale": 1.0,
            "scaling": "vector", "k": 32,
        }),
        "QuantizedMatrix.__matmul__": (Q.__matmul__, {"other": QB}),
        "QuantizedMatrix.__rmatmul__": (QB.__rmatmul__, {"other": Q}),
        "Engine": (ng.Engine, {"name": "systemc", "tile": "tiny", "trace": None, "threads": 0}),
        "Engine.gemm": (ENGINE.gemm, gemm),
        "Engine.gemm_sparse": (ENGINE.gemm_sparse, {**gemm, "a": S, "b": SB, "pattern": "2:4"}),
        "Engine.gemm_compressed": (ENGINE.gemm_compressed, {**gemm, "compress": "ab"}),
        "Engine.gemm_requantized": (ENGINE.gemm_requantized, {
            **gemm, "tensor_scale": 1.0, "format": "nvfp4", "relu": False, "compress": "",
        }),
        "Engine.gemm_integers": (ENGINE.gemm_integers, {**gemm, "scale": 1.0, "zero_point": 0}),
        "DelayedScaling": (ng.DelayedScaling, {
            "format": "e4m3", "largest": 448.0, "history": 4, "margin": 0, "power_of_two": False, "most_recent": False,
        }),
        "DelayedScaling.record": (delayed.record, {"amax": 1.0}),
        "DelayedScaling.encode": (delayed.encode, {"x": X}),
        "adam_step": (ng.adam_step, {
            "gradient": X, "weight": X, "m": CODES, "v": CODES, "step": 1, "rate": 1e-3, "beta1": 0.9, "beta2": 0.999,
            "epsilon": 1e-8, "weight_decay": 0.0, "m_scales": (1.0, 1.0), "v_scales": (1.0, 1.0),
        }),
        "AffineQuantizer": (ng.AffineQuantizer, {
            "bits": 8, "signed": True, "ties": "even", "scale": 0.1, "offset": 1.0, "zero_point": 3, "expanded": False,
        }),
        "AffineQuantizer.of_range": (ng.AffineQuantizer.of_range, {"low": -1.0, "high": 2.0, "rule": "lapq", "bits": 4}),
        "AffineQuantizer.quantize": (ng.AffineQuantizer().quantize, {"x": X, "noise": X}),
        "AffineQuantizer.dequantize": (ng.AffineQuantizer().dequantize, {"codes": CODES}),
        "quantize_affine": (ng.quantize_affine, {
            "x": X, "scale": 0.125, "zero_point": 3, "bits": 8, "signed": True, "ties": "even", "power_of_two": True,
            "rounding": "stochastic", "random_bits": 8, "seed": 0,
        }),
        "exaq_sigma": (ng.exaq_sigma, {"scores": X, "mask": MASK}),
        "exaq_clip": (ng.exaq_clip, {"sigma": 1.0, "bits": 2}),
        "exaq_thresholds": (ng.exaq_thresholds, {"clip": -3.0, "bits": 2}),
        "exaq_levels": (ng.exaq_levels, {"clip": -3.0, "bits": 2}),
        "exaq_codes": (ng.exaq_codes, {"scores": X, "clip": -3.0, "mask": MASK, "bits": 2}),
        "exaq_softmax": (ng.exaq_softmax, {"scores": X, "clip": -3.0, "mask": MASK, "bits": 2}),
        "exaq_table": (ng.exaq_table, {"clip": -3.0, "bits": 2}),
        "exaq_row": (ng.exaq_row, {"codes": CODES[0] & 3, "clip": -3.0, "bits": 2}),
        "exaq_attention": (ng.exaq_attention, {"codes": CODES & 3, "v": CODES.astype(np.int8).T, "clip": -3.0, "bits": 2}),
        "BatchNorm": (ng.BatchNorm, {
            "rule": "l1", "grid": "fp32", "chunks": 8, "top": 5, "epsilon": 1e-4, "axis": 0,
        }),
        "BatchNorm.forward": (NORM.forward, {"x": INT8, "gamma": CHANNELS, "beta": CHANNELS, "step": 0.1, "low": -1.0}),
        "BatchNorm.forward of ghost": (ng.BatchNorm(rule="ghost_top_k").forward, {
            "x": X, "gamma": CHANNELS, "beta": CHANNELS, "previous": CHANNELS,
        }),
        "BatchNorm.backward": (NORM.backward, {"x": INT8, "result": NORMALIZED, "g": X, "step": 0.1, "low": -1.0}),
        "BatchNorm.average": (NORM.average, {"result": NORMALIZED, "mean": CHANNELS, "running": CHANNELS}),
        "BatchNorm.evaluate": (NORM.evaluate, {
            "x": INT8, "mean": CHANNELS, "running": CHANNELS, "gamma": CHANNELS, "beta": CHANNELS, "step": 0.1, "low": -1.0,
        }),
        "norm_apply": (ng.norm_apply, {
            "codes": INT8, "mean": CHANNELS, "m": CHANNELS, "b": CHANNELS, "exponent": -8, "bf16": False, "axis": 1,
        }),
        "range_stats": (ng.range_stats, {"codes": INT8, "chunks": 8, "axis": 1}),
        "moment_stats": (ng.moment_stats, {"codes": INT8, "centre": INT8[0], "axis": 1}),
        "bounded_weight_norm": (ng.bounded_weight_norm, {"v": X, "g": CHANNELS, "rho": 2.0}),
        "bounded_weight_norm_backward": (ng.bounded_weight_norm_backward, {
            "v": X, "weight_gradients": X, "g": CHANNELS, "rho": 2.0,
        }),
        "binarize": (ng.binarize, {"x": X, "shift": 0.5}),
        "binarize_weights": (ng.binarize_weights, {"w": X}),
        "popcount_dot": (ng.popcount_dot, {"x": CODES, "w": CODES[:3], "valid": MASK, "product": "and"}),
        "xnor_dot": (ng.xnor_dot, {"x": CODES, "w": CODES[:3], "valid": MASK}),
        "fuse_batch_norm": (ng.fuse_batch_norm, {
            "gamma": X[0], "beta": X[1], "mean": X[2], "variance": X[0] ** 2, "n": 64, "scale": 0.5, "epsilon": 1e-5,
        }),
        "PopcountThreshold.bits": (ng.fuse_batch_norm(1, 0, 0, 1, n=64).bits, {"popcounts": [[1], [2]]}),
        "plane_sums": (ng.plane_sums, {"planes": CODES[:3], "v": CODES.astype(np.int8)}),
        "rsqrt": (ng.rsqrt, {"x": X}),
        "l2_normalize": (ng.l2_normalize, {"x": X, "epsilon": 1e-6}),
        "smooth": (ng.smooth, {"x": X, "axis": -2}),
        "fold_scales": (ng.fold_scales, {"w": X, "scales": np.full(32, 127, np.uint8)}),
        "prune": (ng.prune, {"x": X, "pattern": "2:4", "method": "mvue", "seed": 0, "random_bits": 16}),
        "sparsity_mask": (ng.sparsity_mask, {"x": X, "pattern": "2:4"}),
        "transposable_mask": (ng.transposable_mask, {"x": X, "pattern": "2:4-T", "method": "enumerate"}),
        "pruning_error": (ng.pruning_error, {"x": X, "pattern": "2:4", "method": "greedy"}),
        "to_sparse": (ng.to_sparse, {"x": ng.prune(X), "pattern": "2:4", "mask": ng.sparsity_mask(X)}),
        "compress": (ng.compress, {
            "x": X, "bits": 8, "tile": 4096, "zero_runs": True, "limit": 1.0, "transform": None, "tables": 4, "exponents": False,
        }),
        "compress under a transform": (ng.compress, {"x": MAP, "tile": 4096, "zero_runs": True, "transform": TRANSFORM, "tables": 4}),
        "decompress": (ng.decompress, {"data": ng.compress(X)}),
        "codec_report": (ng.codec_report, {"x": X, "bits": 8, "tile": 4096}),
        "calibrate_transform": (ng.calibrate_transform, {"x": MAP, **transform, "basis": "klt", "step": None}),
        "ChannelTransform.with_step": (TRANSFORM.with_step, {"step": 1.0}),
        "ChannelTransform.forward": (TRANSFORM.forward, {"x": MAP}),
        "ChannelTransform.inverse": (TRANSFORM.inverse, {"codes": TRANSFORM.forward(MAP), "shape": MAP.shape}),
        "ChannelTransform.error_bound": (TRANSFORM.error_bound, {"largest": 1.0}),
        "ChannelTransform.fold": (TRANSFORM.fold, {"weight": X[:16], "bias": X[0, :16]}),
        "transform_report": (ng.transform_report, {"x": MAP, "mse": 0.1, **transform, "tile": 4096}),
        "soft_entropy": (ng.soft_entropy, {"x": X, "bits": 4, "sharpness": -10.0}),
        "clip_limit": (ng.clip_limit, {"x": X, "sigmas": 3.0}),
        "energy": (ng.energy, {"format": "nvfp4", "gauge": None, **operand}),
        "energy without operands": (ng.energy, {
            "format": "int8", "lanes": 4, "structure": "array", "technology": "osu018", "mode": "refined", "a": "uniform", "count": 1,
        }),
        "energy_lines": (ng.energy_lines, {"questions": '{"format": "int8"}', "gauge": None}),
        "energy_many": (ng.energy_many, {"questions": [{"format": "int8"}], "gauge": None}),
        "flips": (ng.flips, {"format": "nvfp4", **operand}),
        "memory_energy": (ng.memory_energy, {"memory": "dram", "gauge": None, "bits": 8, "technology": "horowitz_45nm"}),
        "technologies": (ng.technologies, {"gauge": None}),
        "export_tables": (ng.export_tables, {"kind": "accelergy", "folder": tmp / "tables", "technology": "osu018", "gauge": None}),
        "Gauge": (ng.Gauge, {"calibrations": []}),
        "explore": (ng.explore, {
            "workload": "digits", "space": {"format": ["int8"], "technology": "horowitz_45nm", "rows": [4]}, "set": None, "tensors": None,
            "gauge": None, "client": None, "threads": 1, "chunk": 64, "checkpoint": None, "resume": False, "progress": None,
        }),
        "luq.alpha": (luq.alpha, {"amax": 1.0, "levels": 7, "power_of_two": True}),
        "luq.quantize": (luq.quantize, {
            "x": X, "levels": 7, "rounding": "stochastic", "power_of_two": True, "random_bits": 8, "seed": 0, "amax": 1.0, "samples": 2,
        }),
        "luq.fake_quantize": (luq.fake_quantize, {"x": X, "levels": 8}),
        "luq.sawb_clip": (luq.sawb_clip, {"x": X}),
        "luq.int4": (luq.int4, {"x": X, "clip": 1.0}),
        "luq.gemm": (luq.gemm, {"a": luq.quantize(X), "b": luq.int4(X.T)}),
        "luq.log_statistics": (luq.log_statistics, {"x": X}),
        "luq.exponent_bits": (luq.exponent_bits, {"bits": 4, "sigma": 1.0}),
        "luq.pruning_threshold": (luq.pruning_threshold, {"target": 0.9, "statistics": STATISTICS}),
        "luq.expected_sparsity": (luq.expected_sparsity, {"x": X, "threshold": 0.5, "random_bits": 8}),
        "luq.prune": (luq.prune, {"x": X, "threshold": 0.5, "random_bits": 8, "seed": 0}),
        "luq.LuqArray": (lambda **parts: luq.LuqArray(**parts).dequantize(), {"codes": CODES[None], "alpha": 1.0, "levels": 7}),
        "luq.Int4Array": (luq.Int4Array, {"values": CODES, "scale": 1.0}),
        "luq.HindsightMax": (luq.HindsightMax, {"eta": 0.1}),
        "luq.HindsightMax.record": (hindsight.record, {"amax": 1.0}),
        "luq.LogStatistics": (
            lambda **s: luq.pruning_threshold(0.9, luq.LogStatistics(**s)),
            {"count": 4, "zeros": 1, "mean": 0.0, "sigma": 1.0, "amax": 2.0},
        ),
        "noise.normals": (noise.normals, {"seed": 1, "count": 4, "first": 2}),
        "noise.pni": (noise.pni, {"x": X, "alpha": X[0], "seed": 1, "normals": X}),
        "noise.cpni": (noise.cpni, {"x": X, "diagonal": X[0], "factors": X[:, :3], "seed": 1, "normals": (X[0], X[0, :3])}),
        "noise.histograms": (noise.histograms, {"scores": MAP, "ranks": 5}),
        "noise.elected": (noise.elected, {"histograms": CODES}),
        "noise.smoothed": (noise.smoothed, {"scores": MAP, "ranks": 5, "method": "votes"}),
        "retrieval.rms_normalize": (retrieval.rms_normalize, {"x": X, "epsilon": 0.1}),
        "retrieval.fold_query": (retrieval.fold_query, {"q": X[:4], "w_key": X[:3], "gamma": X[0, :3]}),
        "retrieval.max_sim": (retrieval.max_sim, {"dots": X, "lengths": [12, 20]}),
        "retrieval.order_keys": (retrieval.order_keys, {"scores": X}),
        "retrieval.top_k": (retrieval.top_k, {"keys": X, "k": 4}),
        "retrieval.retrieve": (retrieval.retrieve, {"products": X, "tokens": 4, "k": 2, "exponent": 130, "product_bits": 24}),
        "zap.pattern": (zap.pattern, {"kind": 5, "rows": 4, "columns": 6}),
        "zap.Predictor": (zap.Predictor, {
            "first": ZAP.first, "first_bias": ZAP.first_bias, "second": ZAP.second, "second_bias": ZAP.second_bias,
        }),
        "zap.Predictor.fold": (zap.Predictor.fold, {
            "w1": ZAP.first, "b1": ZAP.first_bias, "norm1": ZAP_NORM, "w2": ZAP.second, "b2": ZAP.second_bias, "norm2": ZAP_NORM,
        }),
        "zap.Predictor.values": (ZAP.values, {"x": MAP, "kind": 5}),
        "zap.Predictor.keep": (ZAP.keep, {"x": MAP, "kind": 5, "threshold": 0.0}),
        "zap.Predictor.to_integers": (ZAP.to_integers, {"scale": 0.1, "threshold": 0.0}),
        "zap.IntegerPredictor": (zap.IntegerPredictor, {
            name: getattr(ZAP_INTEGERS, name) for name in ("first", "bias", "shift", "second", "threshold")
        }),
        "zap.IntegerPredictor.keep": (ZAP_INTEGERS.keep, {"x": MAP.astype(np.int8), "kind": 5}),
        "zap.loss": (zap.loss, {"values": MAP, "x": MAP, "kind": 5}),
        "zap.statistics": (zap.statistics, {"x": MAP, "keep": MAP > 0, "kind": 5}),
        "zap.passes": (zap.passes, {"keep": MAP > 0, "kind": 5, "rows": 1, "columns": 8, "depth": 4}),
        "zap.schedule": (zap.schedule, {"keep": MAP > 0, "kind": 5, "rows": 1, "columns": 8, "depth": 4}),
        "SparseMatrix": (lambda **parts: ng.SparseMatrix(**parts).to_dense(), {
            "values": PRUNED.values, "metadata": PRUNED.metadata, "pattern": "2:4", "shape": (32, 32),
        }),
        "adaprune": (ng.adaprune, {"weights": X[:8, :8], "inputs": X[:, :8], "pattern": "2:4", "mask": None}),
        "sparse_operand": (ng.sparse_operand, {"gemm": "forward"}),
    }  # fmt: skip


#: Modules of the package whose functions are called, too.
MODULES = {"luq": luq, "checkpoint": checkpoint, "gguf": gguf, "noise": noise, "retrieval": retrieval, "zap": zap}
#: Without arguments.
NO_ARGUMENTS = {
    "affine_rules",
    "batch_norm_rules",
    "checkpoint.layouts",
    "dialects",
    "engines",
    "formats",
    "accumulation_modes",
    "gemm_formats",
    "tiles",
    "workloads",
}
#: Results, which nobody constructs.
RESULTS = {
    "ActivityEnergy", "AdamResult", "Anchor", "Answer", "BatchNormGradients", "BatchNormResult", "BinaryWeights", "ChannelTransform",
    "EngineResult", "Error", "ExaqRow", "Exploration", "FieldError", "FormatDesc", "IntegerResult", "LoopState", "MomentStats", "PopcountThreshold",
    "RangeStats", "RequantizedResult", "RungError", "SmoothResult", "SparseOperand", "Technology", "Tile", "TileActivityEnergy", "zap.Passes",
    "checkpoint.Change", "checkpoint.Layer", "checkpoint.LayerProduct",
    "retrieval.Best", "zap.Statistics",
}  # fmt: skip
NAMES = list(calls(Path()))


def test_every_public_name_is_called() -> None:
    public = {name for name in ng.__all__ if callable(getattr(ng, name))}
    for module, contents in MODULES.items():
        public |= {f"{module}.{name}" for name in contents.__all__ if callable(getattr(contents, name))}
    called = {name.split()[0] for name in NAMES} | FILES
    assert public == {name for name in called if name.rpartition(".")[0] in ("", *MODULES)} | NO_ARGUMENTS | RESULTS
    for name, (function, arguments) in calls(Path()).items():
        if inspect.isfunction(function) and function.__name__ != "<lambda>":
            known = inspect.signature(function).parameters
            assert set(arguments) <= set(known) or any(p.kind is p.VAR_KEYWORD for p in known.values()), name


@pytest.mark.parametrize("name", NAMES)
def test_what_is_malformed_is_refused_in_a_sentence(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    function, arguments = calls(tmp_path)[name]
    function(**arguments)
    wrong, refused = [], 0
    for argument in arguments:
        for what, value in POOL.items():
            if argument == "progress" and callable(value):
                continue  # what a callback raises comes out as it is
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    function(**{**arguments, argument: value})
            except ng.Error as error:
                refused += 1
                text = str(error)
                if not 10 < len(text) < LONGEST or "\n" in text or "pybind11" in text or "::" in text:
                    wrong.append(f"{argument} = {what}: {len(text)} characters: {text[:200]}")
            except Exception as error:  # what the test is about
                wrong.append(f"{argument} = {what}: {type(error).__name__}: {str(error)[:160]}")
    assert not wrong, f"{len(wrong)} of them: " + "\n".join(wrong)
    assert refused >= len(arguments)
