# SPDX-License-Identifier: Apache-2.0
"""Every public class can be pickled, and copied: what comes back shows the same and goes on the same."""

from __future__ import annotations

import copy
import inspect
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import checkpoint, luq, retrieval, zap

X = np.linspace(-2, 3, 16 * 32, dtype=np.float32).reshape(16, 32)
MAP = X.reshape(2, 8, 32)
ZAP = zap.Predictor(X[:6, :3].reshape(2, 3, 3), X[0, :2], X[6:12, :3].reshape(2, 3, 3), X[1, :2])
SMALL = ng.quantize(X[:4]), ng.quantize(X[:4].T, axis=-2)
SPACE = {"format": ["int8"], "technology": "horowitz_45nm", "rows": [4, 8]}


def recorded(scaling: ng.DelayedScaling) -> ng.DelayedScaling:
    for amax in (3.0, 0.0, 7.0):
        scaling.record(amax)
    return scaling


def normalized() -> ng.BatchNormResult:
    return ng.BatchNorm(chunks=4).forward(X, np.ones(32), np.zeros(32))


FOLDER = tempfile.TemporaryDirectory()


def opened() -> checkpoint.Checkpoint:
    file = Path(FOLDER.name) / "a.safetensors"
    if not file.exists():
        checkpoint.write(file, {"a": SMALL[0], "b": X[0]})
    return checkpoint.open_checkpoint(file)


def error(call: Callable[[], Any]) -> Exception:
    try:
        call()
    except ng.Error as caught:
        return caught
    raise AssertionError


ACTIVITY = ng.ActivityEnergy(ng.energy("int8"), "top.u", 3, 2, 0, 0, 2, 2, 1e-9)
OBJECTS: dict[str, Callable[[], Any]] = {
    "AdamResult": lambda: ng.adam_step(X, X, np.zeros(X.shape, np.uint8), np.zeros(X.shape, np.uint8), step=1),
    "Anchor": lambda: ng.energy("int8", technology="horowitz_45nm").anchor,
    "Answer": lambda: ng.energy("nvfp4", lanes=16),
    "Answer counted": lambda: ng.energy("nvfp4", lanes=16, operands=(X, X.T)),
    "Answer of a memory": lambda: ng.memory_energy("dram", bits=64, technology="horowitz_45nm"),
    "ChannelTransform": lambda: ng.calibrate_transform(MAP),
    "ChannelTransform, identity": lambda: ng.calibrate_transform(MAP, basis="identity", relu=False).with_step(0.3),
    "ActivityEnergy": lambda: ACTIVITY,
    "AffineQuantizer": lambda: ng.AffineQuantizer.of_range(-1, 2, rule="calibtip_zero"),
    "BatchNorm": lambda: ng.BatchNorm(rule="top_k", top=3, grid="paper", axis=0),
    "BatchNormGradients": lambda: ng.BatchNorm(chunks=4).backward(X, normalized(), X),
    "BatchNormResult": lambda: normalized(),
    "DelayedScaling": lambda: recorded(ng.DelayedScaling("e5m2", history=2, margin=1, power_of_two=True)),
    "Engine": lambda: ng.Engine("systemc", tile="tiny"),
    "EngineResult": lambda: ng.Engine("systemc", tile="tiny").gemm(*SMALL),
    "EngineResult of the model": lambda: ng.Engine().gemm(*SMALL),
    "Error": lambda: error(lambda: ng.quantize(X, "fp5")),
    "BinaryWeights": lambda: ng.binarize_weights(X),
    "PopcountThreshold": lambda: ng.fuse_batch_norm([1, -1], [0, 0], [0, 1], [1, 1], n=64),
    "ExaqRow": lambda: ng.exaq_row(np.array([0, 1, 3, 255], np.uint8), -3.0, bits=2),
    "Exploration": lambda: ng.explore("digits", SPACE),
    "FieldError": lambda: error(lambda: ng.energy("int8", technology="nothing")),
    "FormatDesc": lambda: ng.formats()["e4m3"],
    "Gauge": lambda: ng.Gauge(),
    "QuantizedMatrix": lambda: ng.quantize(X, "fp8_e4m3", scaling="1x128"),
    "LoopState": lambda: ng.LoopState(True, 5, 100, 0xDEADBEEF),
    "MomentStats": lambda: ng.moment_stats(np.ones((16, 32), np.int8)),
    "RangeStats": lambda: ng.range_stats(np.ones((16, 32), np.int8), chunks=4),
    "RequantizedResult": lambda: ng.Engine().gemm_requantized(*SMALL, 0.01),
    "IntegerResult": lambda: ng.Engine().gemm_integers(*SMALL, 0.01),
    "RungError": lambda: ng.energy("nvfp4", lanes=16, technology="osu018", rung="L0").error,
    "SmoothResult": lambda: ng.smooth(X),
    "SparseMatrix": lambda: ng.to_sparse(ng.prune(X)),
    "SparseOperand": lambda: ng.sparse_operand("update"),
    "Technology": lambda: ng.technologies()["osu018"],
    "TileActivityEnergy": lambda: ng.TileActivityEnergy((ACTIVITY, ACTIVITY), "tiny", "top.u_array", 1, 2),
    "Tile": lambda: ng.tiles()["tiny"],
    "checkpoint.Change": lambda: checkpoint.change("a", SMALL[0], SMALL[0]),
    "checkpoint.Checkpoint": lambda: opened(),
    "checkpoint.IntegerMatrix": lambda: checkpoint.IntegerMatrix(4, [[1, 15]], [[0.5, 0.25]], [[8, 16]], [1, 0]),
    "checkpoint.Layer": lambda: opened()["a"],
    "checkpoint.LayerProduct": lambda: opened()["a"].multiply(X[:2]),
    "luq.HindsightMax": lambda: luq.HindsightMax(0.25),
    "luq.Int4Array": lambda: luq.int4(X),
    "luq.LogStatistics": lambda: luq.log_statistics(X),
    "luq.LuqArray": lambda: luq.quantize(X, samples=2, levels=8),
    "retrieval.Best": lambda: retrieval.retrieve(X, 2, 3),
    "zap.Predictor": lambda: ZAP,
    "zap.IntegerPredictor": lambda: ZAP.to_integers(0.1, 0.5),
    "zap.Statistics": lambda: zap.statistics(MAP, MAP > 1, 5),
    "zap.Passes": lambda: zap.passes(MAP > 1, 5),
}


def shown(thing: Any, depth: int = 0) -> Any:
    """All that an object shows of itself: its public attributes, in turn, and its text."""
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.tobytes(), thing.flags.writeable
    if isinstance(thing, dict):
        return {key: shown(value, depth) for key, value in thing.items()}
    if isinstance(thing, tuple | list):
        return [shown(value, depth) for value in thing]
    if type(thing).__module__.partition(".")[0] != "narrowgauge" or depth > 3:
        return repr(thing)
    attributes = {}
    for name, value in inspect.getmembers(thing):
        if not name.startswith("_") and not callable(value) and name not in ("T", "mT", "arguments", "explorer"):
            attributes[name] = shown(value, depth + 1)
    text = "" if type(thing).__repr__ is object.__repr__ or "object at 0x" in repr(thing) else repr(thing)
    return type(thing).__name__, attributes, text


@pytest.mark.parametrize("name", OBJECTS)
def test_round_trip(name: str) -> None:
    thing = OBJECTS[name]()
    assert type(thing).__name__ == name.split()[0].rpartition(".")[2].rstrip(",")
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        assert shown(pickle.loads(pickle.dumps(thing, protocol))) == shown(thing)
    assert shown(copy.deepcopy(thing)) == shown(thing)


def test_every_public_class_is_there() -> None:
    classes = {name for name in ng.__all__ if inspect.isclass(getattr(ng, name))}
    for name, module in (("luq", luq), ("checkpoint", checkpoint), ("retrieval", retrieval), ("zap", zap)):
        classes |= {f"{name}.{member}" for member in module.__all__ if inspect.isclass(getattr(module, member))}
    assert {name.split()[0].rstrip(",") for name in OBJECTS} == classes


def test_what_came_back_goes_on() -> None:
    scaling = OBJECTS["DelayedScaling"]()
    other = pickle.loads(pickle.dumps(scaling))
    for amax in (0.1, 100.0, 0.0):
        scaling.record(amax)
        other.record(amax)
        assert (other.scale, other.history) == (scaling.scale, scaling.history)
    transform = OBJECTS["ChannelTransform"]()
    other = pickle.loads(pickle.dumps(transform))
    assert ng.compress(MAP, transform=other) == ng.compress(MAP, transform=transform)
    answer = OBJECTS["Answer counted"]()
    assert pickle.loads(pickle.dumps(answer)).explain() == answer.explain()
    maximum = luq.HindsightMax(0.25)
    for other in (maximum, pickle.loads(pickle.dumps(maximum))):
        other.record(3.0)
    assert pickle.loads(pickle.dumps(maximum)).amax == 3.0
    engine = pickle.loads(pickle.dumps(ng.Engine("systemc", tile="tiny")))
    assert (engine.gemm(*SMALL).c == ng.gemm(*SMALL)).all()


def test_an_answer_of_other_data_is_refused() -> None:
    state = ng.energy("nvfp4", lanes=16).__getstate__()
    answer = ng.Answer.__new__(ng.Answer)
    with pytest.raises(ng.Error, match="expected the narrowgauge"):
        answer.__setstate__((*state[:3], 2 * state[3]))


def test_codes_beyond_a_luq_array_are_refused() -> None:
    for codes, levels in ((16, 7), (255, 7), (9, 8), (25, 8), (32, 8)):
        with pytest.raises(ng.Error, match=f"codes hold {codes}; expected"):
            luq.LuqArray(np.full((1, 2), codes, np.uint8), 1.0, levels)
    for alpha in (0.0, -1.0, np.inf, np.nan):
        with pytest.raises(ng.Error, match="alpha"):
            luq.LuqArray(np.zeros((1, 2), np.uint8), alpha, 7)
