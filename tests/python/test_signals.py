# SPDX-License-Identifier: Apache-2.0
"""Long calls: other threads of Python run meanwhile, and a signal is heard in the midst of them (Ctrl-C, say)."""

from __future__ import annotations

import inspect
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import _core, checkpoint, luq, noise, retrieval, zap

PACKAGE = str(Path(ng.__file__).parent)
RNG = np.random.default_rng(5)
X = RNG.standard_normal((1024, 2048)).astype(np.float32)  # 2 million numbers
MANY = RNG.standard_normal((2048, 8192)).astype(np.float32)  # 17 million, for what is quick
MAP = X.reshape(8, 32, 8192)  # 32 channels
Q, QB = ng.quantize(X), ng.quantize(X.T, axis=-2)
BYTES = (128 * MANY).astype(np.int8)
WIDE = [ng.quantize(ng.prune(X), wide_blocks=True), ng.quantize(X.T, axis=-2, wide_blocks=True)]
FILE = ng.compress(BYTES)
FP4_CODES = BYTES.view(np.uint8) & 15
IF4_SCALES = FP4_CODES[:, ::16]
HIF4_PARTS = [FP4_CODES[:, ::64]] * 3
TRANSFORM = ng.calibrate_transform(MAP[:, :, :64])
SMALL = [ng.quantize(X[:96, :512]), ng.quantize(X[:96, :512].T, axis=-2)]
LUQ, INT4 = luq.quantize(MANY), luq.int4(X)
LUQ_SMALL = luq.quantize(X.T)
SCORES, KEYS = ng.exaq_codes(X, -3.0, bits=2), BYTES[:2048, :256].copy()
NORM, WEIGHTS = ng.BatchNorm(axis=0), (np.ones(1024), np.ones(1024))
NORMALIZED = NORM.forward(X, *WEIGHTS)
BITS = BYTES > 0
MOMENTS = np.zeros(X.shape, np.uint8)
ZAP = zap.Predictor(X[:96, :3].reshape(32, 3, 3), X[0, :32], X[96:192, :3].reshape(32, 3, 3), X[1, :32])
ZAP_INTEGERS = ZAP.to_integers(0.1, 0.0)
SPARSE = ng.to_sparse(ng.prune(MANY))
FOLDER = tempfile.TemporaryDirectory()
checkpoint.write(f"{FOLDER.name}/a.safetensors", {"a": ng.quantize(MANY)})
CHECKPOINT = checkpoint.open_checkpoint(f"{FOLDER.name}/a.safetensors")
QUESTIONS = [{"format": "int8", "lanes": lanes} for lanes in (1, 2, 4, 8)] * 20000
SPACE = {
    "format": ["nvfp4", "int8", "fp8_e4m3"], "technology": "osu018", "rows": list(range(1, 33)), "cols": list(range(1, 33)),
    "a_depth": [2**n for n in range(6, 12)], "b_depth": [2**n for n in range(6, 12)],
}  # fmt: skip

#: Every public function that can take long, in a call that does.
LONG: dict[str, Callable[[], Any]] = {
    "encode": lambda: ng.encode(MANY, "fp32"),
    "encode of eight bits": lambda: ng.encode(MANY, "e4m3"),
    "encode of sixteen bits": lambda: ng.encode(MANY, "bf16"),
    "decode": lambda: ng.decode(BYTES.view(np.uint8), "e4m3"),
    "quantize": lambda: ng.quantize(MANY, threads=1),
    "quantize in a dialect": lambda: ng.quantize(MANY, dialect="te", threads=1),
    "quantize of luq": lambda: ng.quantize(X, "luq", rounding="stochastic", axis=-2, threads=1),
    "dequantize": lambda: ng.dequantize(Q),
    "fake_quantize": lambda: ng.fake_quantize(X),
    "front_stage": lambda: ng.front_stage(X, "rht16", threads=1),
    "front_stage of one vector": lambda: ng.front_stage(X.reshape(1, -1), "rht128", threads=1),
    "front_stage of the mean": lambda: ng.front_stage(X, "mean", threads=1),
    "gemm": lambda: ng.gemm(Q, QB, threads=1),
    "mma": lambda: ng.mma(FP4_CODES, FP4_CODES, rule="blackwell_64", a_scales=FP4_CODES[:, :512], b_scales=FP4_CODES[:, :512], threads=1),
    "matmul": lambda: ng.matmul(X, X.T, "mxfp4", threads=1),
    "Engine.gemm": lambda: ng.Engine("systemc").gemm(*SMALL),
    "Engine.gemm of the model": lambda: ng.Engine(threads=1).gemm(Q, QB),
    "Engine.gemm_sparse": lambda: ng.Engine("model", threads=1).gemm_sparse(*WIDE),
    "Engine.gemm_compressed": lambda: ng.Engine("systemc", tile="codec").gemm_compressed(*SMALL),
    "Engine.gemm_requantized": lambda: ng.Engine("systemc", tile="chain").gemm_requantized(*SMALL, 0.01),
    "Engine.gemm_integers": lambda: ng.Engine("systemc", tile="integers").gemm_integers(*SMALL, 0.01),
    "DelayedScaling.encode": lambda: ng.DelayedScaling().encode(MANY),
    "adam_step": lambda: ng.adam_step(X, X, MOMENTS, MOMENTS, step=1),
    "rsqrt": lambda: ng.rsqrt(np.abs(X)),
    "l2_normalize": lambda: ng.l2_normalize(X),
    "quantize_affine": lambda: ng.quantize_affine(X, 0.01),
    "binarize": lambda: ng.binarize(MANY),
    "binarize_weights": lambda: ng.binarize_weights(MANY),
    "popcount_dot": lambda: ng.popcount_dot(BITS, BITS[:512]),
    "xnor_dot": lambda: ng.xnor_dot(BITS, BITS[:512]),
    "plane_sums": lambda: ng.plane_sums(BITS[:64, :2048], BYTES[:, :256]),
    "exaq_sigma": lambda: ng.exaq_sigma(X),
    "exaq_codes": lambda: ng.exaq_codes(X, -3.0, bits=4),
    "exaq_softmax": lambda: ng.exaq_softmax(X, -3.0, bits=4),
    "exaq_attention": lambda: ng.exaq_attention(SCORES, KEYS, -3.0, bits=2),
    "BatchNorm.forward": lambda: NORM.forward(X, *WEIGHTS),
    "BatchNorm.forward of top_k": lambda: ng.BatchNorm(rule="top_k", axis=0).forward(X, *WEIGHTS),
    "BatchNorm.forward of codes": lambda: NORM.forward(BYTES[:1024], *WEIGHTS, step=0.1, low=0.0),
    "BatchNorm.backward": lambda: NORM.backward(X, NORMALIZED, X),
    "BatchNorm.evaluate": lambda: NORM.evaluate(X, *WEIGHTS, *WEIGHTS),
    "norm_apply": lambda: ng.norm_apply(BYTES[:1024], WEIGHTS[0], *WEIGHTS, axis=0),
    "range_stats": lambda: ng.range_stats(BYTES, axis=0),
    "moment_stats": lambda: ng.moment_stats(BYTES, axis=0),
    "bounded_weight_norm": lambda: ng.bounded_weight_norm(X, rho=1.0),
    "bounded_weight_norm_backward": lambda: ng.bounded_weight_norm_backward(X, X, rho=1.0),
    "swizzle_scales": lambda: ng.swizzle_scales(BYTES.view(np.uint8)),
    "unswizzle_scales": lambda: ng.unswizzle_scales(BYTES.view(np.uint8).ravel(), *BYTES.shape),
    "quantize_hif4": lambda: ng.quantize_hif4(MANY),
    "dequantize_hif4": lambda: ng.dequantize_hif4(FP4_CODES, *HIF4_PARTS),
    "quantize_mixfp4": lambda: ng.quantize_mixfp4(MANY),
    "dequantize_mixfp4": lambda: ng.dequantize_mixfp4(FP4_CODES, IF4_SCALES, 1.0),
    "quantize_if4": lambda: ng.quantize_if4(MANY),
    "dequantize_if4": lambda: ng.dequantize_if4(FP4_CODES, IF4_SCALES, 1.0),
    "smooth": lambda: ng.smooth(X),
    "fold_scales": lambda: ng.fold_scales(X, np.full(len(X), 127, np.uint8)),
    "prune": lambda: ng.prune(X),
    "prune by mvue": lambda: ng.prune(X, method="mvue"),
    "pruning_error": lambda: ng.pruning_error(X, method="approx-mvue"),
    "sparsity_mask": lambda: ng.sparsity_mask(X, "4:8pair"),
    "transposable_mask": lambda: ng.transposable_mask(X, "2:4-T", method="enumerate"),
    "to_sparse": lambda: ng.to_sparse(X, mask=ng.sparsity_mask(X[:4])[:1].repeat(len(X), 0)),
    "SparseMatrix.to_dense": lambda: SPARSE.to_dense(),
    "compress": lambda: ng.compress(BYTES),
    "compress of real numbers": lambda: ng.compress(X),
    "compress of exponents": lambda: ng.compress(X.astype(ml_dtypes.bfloat16), exponents=True),
    "compress under a transform": lambda: ng.compress(MAP, transform=TRANSFORM),
    "decompress": lambda: ng.decompress(FILE),
    "codec_report": lambda: ng.codec_report(BYTES),
    "calibrate_transform": lambda: ng.calibrate_transform(MAP),
    "ChannelTransform.forward": lambda: TRANSFORM.forward(MAP),
    "ChannelTransform.inverse": lambda: TRANSFORM.inverse(np.zeros((32, 8 * 8192), np.int8), MAP.shape),
    "transform_report": lambda: ng.transform_report(MAP[:, :, :2048], 1e-3),
    "soft_entropy": lambda: ng.soft_entropy(X[:8], 8),
    "energy": lambda: ng.energy("nvfp4", lanes=16, operands=(X[:256], X[:256].T), threads=1),
    "energy_many": lambda: ng.energy_many(QUESTIONS),
    "energy_lines": lambda: ng.energy_lines('{"format": "int8"}\n' * 40000),
    "flips": lambda: ng.flips("int8", (X[:256], X[:256].T), threads=1),
    "explore": lambda: ng.explore("resnet18", SPACE, threads=1),
    "checkpoint.convert": lambda: checkpoint.convert(CHECKPOINT, None, dialect="te"),
    "luq.quantize": lambda: luq.quantize(X),
    "luq.fake_quantize": lambda: luq.fake_quantize(X),
    "luq.int4": lambda: luq.int4(X),
    "luq.gemm": lambda: luq.gemm(INT4, LUQ_SMALL),
    "luq.log_statistics": lambda: luq.log_statistics(X),
    "luq.expected_sparsity": lambda: luq.expected_sparsity(X, 0.5),
    "luq.prune": lambda: luq.prune(X, 0.5),
    "luq.LuqArray.dequantize": lambda: LUQ.dequantize(),
    "noise.normals": lambda: noise.normals(1, 2**18),
    "noise.pni": lambda: noise.pni(X),
    "zap.pattern": lambda: zap.pattern(6, 8192, 8192),
    "zap.Predictor.values": lambda: ZAP.values(MAP.reshape(32, 8, 8192), 5),
    "zap.IntegerPredictor.keep": lambda: ZAP_INTEGERS.keep(BYTES.reshape(-1, 32, 8, 8192), 5),
}  # fmt: skip

#: Modules of the package whose functions are sorted, too.
MODULES = {"luq": luq, "checkpoint": checkpoint, "noise": noise, "retrieval": retrieval, "zap": zap}
#: The others: tables, arithmetic on a few numbers, and what is Python or numpy throughout.
SHORT = {
    "accumulation_modes", "dialect_fields", "dialect_scales", "dialects", "engines", "formats", "gemm_formats", "technologies", "tiles", "workloads",
    "affine_rules", "p3109_values", "batch_norm_rules", "exaq_clip", "exaq_levels", "exaq_row", "exaq_table", "exaq_thresholds",
    "fuse_batch_norm", "memory_energy", "luq.alpha", "luq.exponent_bits", "luq.pruning_threshold", "export_tables",
    "checkpoint.change", "checkpoint.layouts", "checkpoint.open_checkpoint", "checkpoint.write", "open_checkpoint",
    "pack", "unpack", "to_ml_dtypes", "adaprune", "sparse_operand",
    # Read a file in a process of its own, which a signal ends:
    "activity_energy", "tile_activity_energy",
    # Passes over memory of a nanosecond a number:
    "clip_limit", "luq.sawb_clip", "random_fields",
    "retrieval.fold_query", "retrieval.max_sim", "retrieval.order_keys", "retrieval.retrieve",
    "retrieval.rms_normalize", "retrieval.top_k",
    "noise.cpni", "noise.elected", "noise.histograms", "noise.smoothed", "zap.loss", "zap.passes", "zap.schedule", "zap.statistics",
}  # fmt: skip


def test_every_public_function_is_sorted() -> None:
    public = {name for name in ng.__all__ if inspect.isroutine(getattr(ng, name))}
    for module, contents in MODULES.items():
        public |= {f"{module}.{name}" for name in contents.__all__ if inspect.isroutine(getattr(contents, name))}
    long = {name.split()[0] for name in LONG if name.rpartition(".")[0] in ("", *MODULES)}
    assert not long & SHORT
    assert public == long | SHORT


class Heard(Exception):
    pass


@pytest.fixture
def ticks() -> Iterator[list[int]]:
    """Grows while another thread of Python can run."""
    count, stop = [0], threading.Event()

    def tick() -> None:
        while not stop.is_set():
            count[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=tick)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1000)  # nobody is asked to make room: who does it, does it unasked
    thread.start()
    try:
        yield count
    finally:
        stop.set()
        sys.setswitchinterval(before)
        thread.join()


@pytest.mark.parametrize("name", LONG)
def test_a_signal_is_heard_in_the_midst_and_other_threads_run(name: str, ticks: list[int]) -> None:
    """A signal comes three times a millisecond. One instruction of Python that hears three of them is a call that was in the midst
    of its work: a call that hears signals at its end hears one."""
    heard: Counter[tuple[int, int]] = Counter()
    seen: dict[tuple[int, int], list[int]] = {}

    def handler(_: int, frame: FrameType | None) -> None:
        assert frame is not None
        place = (id(frame), frame.f_lasti)
        if not frame.f_code.co_filename.startswith(PACKAGE):
            return
        heard[place] += 1
        seen.setdefault(place, []).append(ticks[0])
        if heard[place] >= 3 and seen[place][-1] > seen[place][0]:
            raise Heard

    def call_often() -> None:
        for _ in range(20):  # beside other work a short call may be over before the third signal
            heard.clear()
            seen.clear()
            LONG[name]()

    before = signal.signal(signal.SIGALRM, handler)
    _core.look_every(0)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
        with pytest.raises(Heard):
            call_often()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        _core.look_every(0.05)
