# SPDX-License-Identifier: Apache-2.0
"""Exploration from Python: on threads, on clients, as tables. What it computes is tested in power/tests."""

from __future__ import annotations

import json
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import narrowgauge as ng

SPACE: dict[str, Any] = {
    "format": ["nvfp4", "int8", "fp8_e4m3"],
    "technology": "mine",
    "frequency_hz": 1e8,
    "rows": range(2, 9, 2),
    "cols": np.array([2, 4, 8]),
    "lanes": [16, 32],
    "a_depth": {"from": 64, "to": 512, "factor": 2},
    "objectives": ["energy", "time", "sqnr"],
}
POINTS = 3 * 4 * 3 * 2 * 4


@pytest.fixture
def gauge(tmp_path: Path) -> ng.Gauge:
    """One technology, `mine`, in which every feature costs a femtojoule."""
    features = ng.flips("int8", (np.ones((2, 2)), np.ones((2, 2))))
    calibration = {"id": "made up", "technology": "mine", "coefficients": dict.fromkeys(features, 1e-15)}
    rung = {"error_mean_abs": 0.0, "error_max": 0.0, "held_out": []}
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(calibration | dict.fromkeys(("L0", "L1", "L2"), rung)))
    return ng.Gauge([path])


class PickleClient:
    """A client whose workers are here, but get and give bytes."""

    def __init__(self) -> None:
        self.jobs = 0

    def submit(self, function: Any, /, *args: Any) -> bytes:
        self.jobs += 1
        sent = pickle.dumps((function, args))
        function, args = pickle.loads(sent)
        return pickle.dumps(function(*args))

    def gather(self, futures: list[bytes]) -> list[Any]:
        return [pickle.loads(future) for future in futures]


def test_front_is_what_no_point_beats(gauge: ng.Gauge) -> None:
    result = ng.explore("digits", SPACE, gauge=gauge)
    explorer = result.explorer
    assert explorer.points == result.front.evaluated == POINTS
    costs = explorer.evaluate(0, POINTS)
    assert costs.dtype.names == (
        "possible",
        "cycles",
        "time_s",
        "mac_j",
        "sram_j",
        "dram_j",
        "codec_j",
        "idle_j",
        "area_m2",
        "sqnr_db",
    )
    assert (~costs["possible"]).sum() == result.front.impossible
    energy = costs["mac_j"] + costs["sram_j"] + costs["dram_j"] + costs["codec_j"] + costs["idle_j"]
    values = np.stack([energy, costs["time_s"], -costs["sqnr_db"]], axis=1)
    no_worse = (values[:, None] <= values[None]).all(2) & costs["possible"][:, None]
    better = no_worse & ((values[:, None] < values[None]).any(2) | np.tri(POINTS, k=-1, dtype=bool).T)
    want = np.flatnonzero(costs["possible"] & ~better.any(0))
    np.testing.assert_array_equal(result.front.points, want)

    table = result.table()
    np.testing.assert_array_equal(table["point"], want)
    np.testing.assert_array_equal(table["energy_j"], energy[want])
    assert set(table["format"]) <= {"nvfp4", "int8", "fp8_e4m3"}
    assert np.isnan(table["area_m2"]).all()  # of this technology no feature size is known
    assert table["rows"].dtype.kind == "i"
    assert any("no tile takes" in text for text in table["assumed"])
    document = result.document()
    assert document["points"] == POINTS
    assert len(document["front"]) == len(want)
    assert "made up" in json.dumps(document["sources"])


def test_threads_and_clients_give_the_same(gauge: ng.Gauge) -> None:
    want = ng.explore("digits", SPACE, gauge=gauge).front
    threads = ng.explore("digits", SPACE, gauge=gauge, threads=3, chunk=7).front
    client = PickleClient()
    remote = ng.explore("digits", SPACE, gauge=gauge, client=client, chunk=50)
    assert client.jobs == -(-POINTS // 50)
    assert remote.document() == ng.explore("digits", SPACE, gauge=gauge).document()
    for front in (threads, remote.front, pickle.loads(pickle.dumps(want))):
        np.testing.assert_array_equal(front.points, want.points)
        assert (front.evaluated, front.impossible) == (want.evaluated, want.impossible)


def test_processes_of_the_standard_library(gauge: ng.Gauge) -> None:
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        remote = ng.explore("digits", SPACE, gauge=gauge, client=executor, chunk=150)
    np.testing.assert_array_equal(remote.front.points, ng.explore("digits", SPACE, gauge=gauge).front.points)


def test_dask(gauge: ng.Gauge) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.Client(processes=False, n_workers=1, dashboard_address=None) as client:
        remote = ng.explore("digits", SPACE, gauge=gauge, client=client, chunk=150)
    np.testing.assert_array_equal(remote.front.points, ng.explore("digits", SPACE, gauge=gauge).front.points)


def test_workloads_and_spaces_from_files_and_dicts(gauge: ng.Gauge, tmp_path: Path) -> None:
    layers = [{"op": "gemm", "name": "one", "m": 8, "n": "width", "k": 64}]
    workload = {"name": "mine", "parameters": {"width": 8}, "layers": layers}
    path, space = tmp_path / "w.json", tmp_path / "space.json"
    path.write_text(json.dumps(workload))
    space.write_text(json.dumps({**SPACE, "rows": list(SPACE["rows"]), "cols": SPACE["cols"].tolist()}))
    one = ng.explore(workload, SPACE, gauge=gauge, set={"width": 16})
    other = ng.explore(path, space, gauge=gauge, set={"width": 16})
    assert one.document() == other.document()
    assert one.explorer.macs == 8 * 16 * 64
    assert one.explorer.parameters == {"width": 16}
    assert {"resnet18", "resnet50", "mobilenet_v2"} <= set(ng.workloads())


def test_tensors_decide_the_accuracy(gauge: ng.Gauge, tmp_path: Path) -> None:
    a, b = np.eye(64, dtype=np.float32), np.ones((64, 64), np.float32)
    space = {**SPACE, "format": "int8"}
    easy = ng.explore("digits", space, gauge=gauge, tensors=(a, b)).table()["sqnr_db"]
    assert (easy > 100).all()
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    names = {"a": str(tmp_path / "a.npy"), "b": str(tmp_path / "b.npy")}
    named = ng.explore("digits", {**space, "tensors": names}, gauge=gauge).table()["sqnr_db"]
    np.testing.assert_array_equal(named, easy)
    assert (ng.explore("digits", space, gauge=gauge).table()["sqnr_db"] < 60).all()


def test_checkpoint_and_progress(gauge: ng.Gauge, tmp_path: Path) -> None:
    done: list[tuple[int, int]] = []
    file = tmp_path / "run.jsonl"
    options: dict[str, Any] = {"gauge": gauge, "chunk": 32, "checkpoint": file}
    first = ng.explore("digits", SPACE, **options, progress=lambda *args: done.append(args))
    assert done[-1] == (POINTS, POINTS)
    with pytest.raises(ng.Error, match="exists already"):
        ng.explore("digits", SPACE, **options)
    again = ng.explore("digits", SPACE, **options, resume=True)
    np.testing.assert_array_equal(again.front.points, first.front.points)


def test_a_worker_with_other_data_is_refused(gauge: ng.Gauge, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stale(PickleClient):
        def submit(self, function: Any, /, *args: Any) -> bytes:
            return super().submit(function, "0123", *args[1:])

    with pytest.raises(ng.Error, match="another version"):
        ng.explore("digits", SPACE, gauge=gauge, client=Stale())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ng.explore("alexnet", SPACE), ["alexnet", "resnet18"]),
        (lambda: ng.explore("digits", {**SPACE, "rows": 0}), ["rows", "0", "255"]),
        (lambda: ng.explore("digits", {**SPACE, "rows": {1, 2}}), ["{1, 2}", "docs/explore.md"]),
        (lambda: ng.explore("digits", {**SPACE, "colour": 1}), ["colour", "rows"]),
        (lambda: ng.explore("digits", {**SPACE, "rows": np.nan}), ["space", "finite"]),
        (lambda: ng.explore("digits", {**SPACE, "tensors": {"a": "x.npy", "b": "x.npy"}}), ["x.npy", "tensors"]),
        (lambda: ng.explore("digits", "nowhere.yaml"), ["nowhere.yaml", "path"]),
        (lambda: ng.explore("digits", sys.executable), ["not text", "YAML"]),
        (lambda: ng.explore("nowhere.onnx", SPACE), ["nowhere.onnx", "ONNX"]),
        (lambda: ng.explore("digits", SPACE, client=PickleClient(), resume=True), ["client", "resume"]),
        (lambda: ng.explore("digits", SPACE, tensors=(np.ones((2, 3)), np.ones((2, 3)))), ["(2, 3)", "K x N"]),
        (lambda: ng.explore({"layers": 3}, SPACE), ["layers", "a list"]),
        (lambda: ng.explore("digits", SPACE, chunk=0), ["chunk", "0", "1 to"]),
        (lambda: ng.export_tables("excel", "x"), ["excel", "zigzag"]),
    ],
)
def test_errors_are_sentences_that_name_the_value(call: object, words: list[str]) -> None:
    with pytest.raises(ng.Error) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)
    assert len(str(caught.value).split()) > 4


@pytest.mark.parametrize("chain", ["plain", "Cast", "left"])
def test_sparsity_applies_to_all_weights_of_a_model(gauge: ng.Gauge, tmp_path: Path, chain: str) -> None:
    """The same product, whatever stands before its weights and on whichever side they are."""
    onnx = pytest.importorskip("onnx")
    node, floats = onnx.helper.make_node, onnx.TensorProto.FLOAT
    weights = onnx.numpy_helper.from_array(np.zeros((64, 48), np.float32), "w")
    nodes = {
        "plain": [node("MatMul", ["x", "w"], ["y"])],
        "Cast": [node("Cast", ["w"], ["c"], to=floats), node("MatMul", ["x", "c"], ["y"])],
        "left": [node("Transpose", ["w"], ["c"]), node("MatMul", ["c", "x"], ["y"])],
    }[chain]
    given, result = (onnx.helper.make_tensor_value_info(name, floats, shape) for name, shape in (
        ("x", [64, 40] if chain == "left" else [40, 64]), ("y", None)))  # fmt: skip
    graph = onnx.helper.make_graph(nodes, "g", [given], [result], [weights])
    onnx.save(onnx.helper.make_model(graph), tmp_path / "model.onnx")
    space = {"format": "nvfp4", "technology": "mine", "frequency_hz": 1e8, "objectives": ["energy"]}
    by_hand = {"layers": [{"op": "gemm", "m": 40, "n": 48, "k": 64}]}
    energies = []
    for sparsity in ("none", "2:4"):
        read, written = (
            ng.explore(of, space | {"sparsity": sparsity}, gauge=gauge).table()["energy_j"][0]
            for of in (tmp_path / "model.onnx", by_hand)
        )
        assert read == written
        energies.append(read)
    assert energies[1] < energies[0]


def decoding(workload: str = "decoder", cache: str = "array", **sizes: int) -> dict[str, Any]:
    """One point."""
    space = {
        "format": "nvfp4",
        "technology": "horowitz_45nm",
        "frequency_hz": 1e8,
        "lanes": 16,
        "cache": cache,
        "a_depth": 4096,
        "b_depth": 4096,
        "mac_energy_j": {"nvfp4": 1e-13},
        "objectives": ["energy"],
    }
    made = ng.explore(workload, space, set=sizes).document()
    point: dict[str, Any] = made["front"][0]
    return point | {"sources": made["sources"]}


def test_a_cache_has_a_format_of_its_own() -> None:
    bit = next(s["energy_j"] for s in decoding()["sources"] if s["of"] == "dram, a bit read")
    for cache, bits in (("array", 4.5), ("nvfp4", 4.5), ("fp8", 8), ("bf16", 16), ("fp32", 32)):
        points = [decoding(cache=cache, context=context, batch=3) for context in (1024, 2048)]
        # A token of context is a key and a value of 4096 numbers in each of three sequences.
        read = (points[1]["dram_j"] - points[0]["dram_j"]) / 1024 - 3 * 32 * 2 * bits_of_scores(bit)
        assert read == pytest.approx(3 * 2 * 4096 * bits * bit, rel=0.02)
        cached = 3 * 2 * 4096 * (2048 + 1) * bits * bit  # and those of the new token are written
        assert points[1]["cache_j"] == pytest.approx(cached, rel=0.02)
        assert points[1]["token_j"] == pytest.approx(points[1]["energy_j"] / 3)
        assert points[1]["cycles"] == decoding(context=2048, batch=3)["cycles"]
        assert any("cache" in text for text in points[1]["assumed"]) == (cache != "array")


def bits_of_scores(bit: float) -> float:
    """Joules of the scores of a token of context, by head: written in FP32, and read as operand A in NVFP4."""
    return (32 + 4.5) / 2 * bit


def test_heads_share_keys_and_values() -> None:
    alone, shared = decoding(), decoding(kv_heads=8, group=4)
    assert shared["cache_j"] == pytest.approx(alone["cache_j"] / 4, rel=0.01)
    plain = decoding("llama_decode")
    assert plain["energy_j"] == alone["energy_j"]
    prefill = decoding("llama_block")
    assert prefill["cache_j"] == 0
    assert decoding("vit_block")["token_j"] is None


def test_what_a_cache_may_not_be() -> None:
    layer = {"op": "gemm", "m": 1, "n": 8, "k": 16}
    space = {"format": "int8", "technology": "horowitz_45nm", "mac_energy_j": {"int8": 1e-13}, "frequency_hz": 1e8}
    for change, says in (
        ({"cache": "read"}, ["weights", "false"]),
        ({"cache": "both"}, ["both", '"read" or "write"']),
        ({"n": ["x", 2]}, ["parameters"]),
        ({"n": [65536, 65536]}, ["65536"]),
    ):
        with pytest.raises(ng.Error) as error:
            ng.explore({"layers": [{**layer, **change}]}, space)
        assert all(word in str(error.value) for word in says)
    with pytest.raises(ng.Error, match='"cache" is "int3"'):
        ng.explore("decoder", {**space, "cache": "int3"})
    with pytest.raises(ng.Error, match="tokens"):
        ng.explore({"tokens": 0, "layers": [layer]}, space)
