# SPDX-License-Identifier: Apache-2.0
"""Workloads of ONNX models, and pictures of fronts and of analysed tensors."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from narrowgauge import plot, workload


def value(name: str, shape: list[int | str]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def weight(name: str, *shape: int) -> onnx.TensorProto:
    return numpy_helper.from_array(np.zeros(shape, np.float32), name)


def model(
    nodes: list[onnx.NodeProto], inputs: list[onnx.ValueInfoProto], weights: list[onnx.TensorProto], result: str
) -> onnx.ModelProto:
    output = helper.make_tensor_value_info(result, TensorProto.FLOAT, None)
    return helper.make_model(helper.make_graph(nodes, "small", inputs, [output], weights))


def small() -> onnx.ModelProto:
    """Two convolutions, one of them in groups, attention of two heads, and a classifier."""
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w1"], ["c1"], "first", strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Relu", ["c1"], ["r1"]),
        node("Conv", ["r1", "w2"], ["c2"], "depthwise", group=8, auto_pad="SAME_UPPER"),
        node("Reshape", ["c2", "heads"], ["q"]),
        node("Transpose", ["q"], ["kt"], perm=[0, 1, 3, 2]),
        node("MatMul", ["q", "kt"], ["s"], "scores"),
        node("MatMul", ["s", "q"], ["v"], "values"),
        node("Flatten", ["v"], ["f"]),
        node("Gemm", ["f", "w3", "b3"], ["y"], "classifier", transB=1),
        node("MatMul", ["y", "w4"], ["z"], "last"),
    ]  # fmt: skip
    weights = [
        weight("w1", 8, 3, 3, 3),
        weight("w2", 8, 1, 3, 3),
        weight("w3", 10, 128),
        weight("b3", 10),
        weight("w4", 10, 5),
    ]
    weights.append(numpy_helper.from_array(np.array([0, 2, 4, 16], np.int64), "heads"))
    return model(nodes, [value("x", ["batch", 3, 8, 8])], weights, "z")


EXPECTED = [
    {"op": "gemm", "name": "first", "m": 3 * 16, "n": 8, "k": 27},
    {"op": "gemm", "name": "depthwise", "m": 3 * 16, "n": 1, "k": 9, "count": 8},
    {"op": "gemm", "name": "scores", "m": 4, "n": 4, "k": 16, "batch": 6, "weights": False},
    {"op": "gemm", "name": "values", "m": 4, "n": 16, "k": 4, "batch": 6, "weights": False},
    {"op": "gemm", "name": "classifier", "m": 3, "n": 10, "k": 128},
    {"op": "gemm", "name": "last", "m": 3, "n": 5, "k": 10},
]


def with_batch(size: int) -> onnx.ModelProto:
    fixed = small()
    fixed.graph.input[0].type.tensor_type.shape.dim[0].dim_value = size
    return fixed


def test_layers_of_a_small_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert workload.from_onnx(with_batch(3))["layers"] == EXPECTED
    file = tmp_path / "small.onnx"
    onnx.save(with_batch(3), file)
    assert workload.main([str(file), "-o", str(tmp_path / "small.json")]) == 0
    written = json.loads((tmp_path / "small.json").read_text())
    assert written["layers"] == EXPECTED
    assert workload.main([str(file)]) == 0
    assert json.loads(capsys.readouterr().out) == written


def test_named_dimensions_are_asked_for() -> None:
    node = helper.make_node("MatMul", ["x", "w"], ["y"], "m")
    named = model([node], [value("x", ["batch", "seq", 6])], [weight("w", 6, 7)], "y")
    with pytest.raises(workload.WorkloadError, match=r"dimension 'batch'.*--dim batch=1"):
        workload.from_onnx(named)
    [layer] = workload.from_onnx(named, {"batch": 2, "seq": 5})["layers"]
    assert layer == {"op": "gemm", "name": "m", "m": 10, "n": 7, "k": 6}


def test_volumes() -> None:
    """A convolution of three axes, in groups, with strides, dilations and padding."""
    node = helper.make_node(
        "Conv", ["x", "w"], ["y"], "v", group=2, strides=[1, 2, 1], dilations=[2, 1, 1], pads=[1, 0, 0, 1, 0, 0]
    )
    [layer] = workload.from_onnx(model([node], [value("x", [3, 4, 8, 16, 15])], [weight("w", 8, 2, 3, 2, 1)], "y"))[
        "layers"
    ]
    assert layer == {"op": "gemm", "name": "v", "m": 3 * 6 * 8 * 15, "n": 4, "k": 2 * 6, "count": 2}


def test_refusals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    relu = model([helper.make_node("Relu", ["x"], ["y"])], [value("x", [1, 3])], [], "y")
    with pytest.raises(workload.WorkloadError, match="neither a convolution nor a matrix product"):
        workload.from_onnx(relu)
    transposed = model(
        [helper.make_node("ConvTranspose", ["x", "w"], ["y"])],
        [value("x", [1, 3, 4, 4])],
        [weight("w", 3, 2, 2, 2)],
        "y",
    )
    with pytest.raises(workload.WorkloadError, match=r"ConvTranspose.*not lowered"):
        workload.from_onnx(transposed)
    broken = model([helper.make_node("Mat\nMul", ["x", "x"], ["y"], "a\rb")], [value("x", [3, 3])], [], "y")
    with pytest.raises(workload.WorkloadError, match=r"^node a b \(Mat Mul\) may multiply, and [^\n]*$"):
        workload.from_onnx(broken)
    bad = tmp_path / "bad.onnx"
    bad.write_bytes(b"\xff\xff not a model")
    assert workload.main([str(bad)]) == 2
    assert "cannot be read as an ONNX model" in capsys.readouterr().err


def test_without_onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match="pip install onnx"):
        workload.from_onnx("model.onnx")


def test_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "torch.export", None)
    with pytest.raises(ImportError, match="pip install torch"):
        workload.from_file("model.pt2")


def front() -> dict[str, object]:
    points = [
        {
            "format": f,
            "sparsity": s,
            "technology": "t",
            "energy_j": e,
            "time_s": 1e-3 / e,
            "cycles": 5.0,
            "area_m2": a,
            "sqnr_db": 20.0,
        }
        for f, s, e, a in [("nvfp4", "none", 1e-3, 1e-6), ("int8", "none", 2e-3, None), ("int8", "2:4", 3e-3, 2e-6)]
    ]
    return {"workload": "w", "points": 9, "space": {"objectives": ["energy", "time"]}, "front": points}


def test_plot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "front.png"
    (tmp_path / "result.json").write_text(json.dumps(front()))
    assert plot.main([str(tmp_path / "result.json"), "-o", str(picture)]) == 0
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    with pytest.raises(ValueError, match="cannot be drawn"):
        plot.plot(front(), str(picture), x="beauty")
    with pytest.raises(ValueError, match="empty"):
        plot.plot({**front(), "front": []}, str(picture))
    assert plot.main([str(tmp_path / "none.json"), "-o", str(picture)]) == 2
    assert "none.json" in capsys.readouterr().err


def test_plot_of_an_analysis(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    levels = [{"nvfp4": 2, "luq": 1}, {"nvfp4": 0, "luq": 1}]
    analysis = {
        "command": "analyze",
        "count": 9,
        "log2_mean": 0.4,
        "log2_sigma": 0.5,
        "formats": [{"name": "nvfp4", "sqnr_db": 20.5}, {"name": "luq", "sqnr_db": "inf"}],
        "octaves": [{"exponent": 1 - i, "count": 4 + i, "levels": each} for i, each in enumerate(levels)],
    }
    result, picture = tmp_path / "result.json", tmp_path / "tensor.png"
    result.write_text(json.dumps(analysis))
    assert plot.main([str(result), "-o", str(picture)]) == 0
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    result.write_text(json.dumps({**analysis, "octaves": []}))
    assert plot.main([str(result), "-o", str(picture)]) == 2
    assert "every number is zero" in capsys.readouterr().err
