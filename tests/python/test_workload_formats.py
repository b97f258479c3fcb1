# SPDX-License-Identifier: Apache-2.0
"""Workloads of SCALE-Sim, ZigZag and Timeloop.

Files are written by hand in the published formats: SCALE-Sim's `topology_utils.py` and `topologies/` (3.0.0), ZigZag's
`inputs/workload/resnet18.yaml` (3.9.1), and Timeloop's `problem-shapes/` and `timeloop-accelergy-exercises` (0.4).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import narrowgauge as ng
from narrowgauge import workload

CONV = """Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,

Conv1, 224, 224, 3, 3, 3, 32, 2,
\tConv2_DP, 112, 112, 3, 3, 32, 1, 1,#dw
Conv3, 112,112,1,1,32,64,1
FC, 1, 1, 1, 1, 1024, 1000, 1,
"""
SPARSE = """Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides, Sparsity,
CONV_1,     5,            5,           3,             3,            2,        6,          1,       2:4,
CONV_2, 5, 5, 3, 3, 2, 6, 1, 1:1,"""
GEMM = "Layer,M,N,K,\nMH_FC_0,128,512,1536\nFF_A_0,128,2048,512,\n"
CONV_LAYERS = [
    {"m": 112 * 112, "n": 32, "k": 27},  # the last window of 223 pixels is half outside, and counted as SCALE-Sim does
    {"m": 110 * 110, "n": 1, "k": 9, "count": 32},
    {"m": 112 * 112, "n": 64, "k": 32},
    {"m": 1, "n": 1000, "k": 1024},
]
ZIGZAG = """
- id: 0 # conv1 stride 2
  operator_type: Conv
  equation: O[b][k][oy][ox]+=W[k][c][fy][fx]*I[b][c][iy][ix]
  dimension_relations: [ix=2*ox+1*fx, iy=2*oy+1*fy]
  loop_dims: [B, K, C, OY, OX, FY, FX]
  loop_sizes: [2, 64, 3, 112, 110, 7, 5]
  operand_precision: {W: 8, I: 8, O: 16, O_final: 8}
  operand_source: {I: 0, W: 0}
- id: 1 # max pool
  operator_type: Pooling
  equation: O[b][g][oy][ox]+=W[fx][fy]*I[b][g][iy][ix]
  dimension_relations: [ix=2*ox+1*fx, iy=2*oy+1*fy]
  loop_dims: [B, G, OY, OX, FX, FY]
  loop_sizes: [1, 64, 56, 56, 3, 3]
  operand_precision: {W: 0, I: 8, O: 16, O_final: 8}
  operand_source: {I: 0, W: 1}
- id: 2
  operator_type: Add
  equation: O[b][g][oy][ox]=W[b][g][oy][ox]+I[b][g][oy][ox]
  loop_dims: [B, G, OY, OX]
  loop_sizes: [1, 64, 56, 56]
  operand_precision: {W: 8, I: 8, O: 16, O_final: 8}
  operand_source: {I: 1, W: 0}
- id: 3
  name: depthwise
  operator_type: Conv
  equation: O[b][g][oy][ox]+=W[g][fy][fx]*I[b][g][iy][ix]
  dimension_relations: [ix=1*ox+2*fx, iy=1*oy+2*fy]
  loop_dims: [B, G, OY, OX, FY, FX]
  loop_sizes: [1, 32, 56, 56, 3, 3]
  operand_precision: {W: 8, I: 8, O: 16, O_final: 8}
  operand_source: {I: 2, W: 3}
- id: 4
  name: scores
  operator_type: Gemm
  equation: O[h][m][n]+=I[h][m][k]*W[h][k][n]
  loop_dims: [H, M, N, K]
  loop_sizes: [12, 128, 100, 64]
  operand_precision: {W: 8, I: 8, O: 16, O_final: 8}
  operand_source: {I: 2, W: 3}
"""
ZIGZAG_LAYERS = [
    {"name": "Conv_0", "m": 2 * 112 * 110, "n": 64, "k": 3 * 35},
    {"name": "depthwise", "m": 56 * 56, "n": 1, "k": 9, "count": 32},
    {"name": "scores", "m": 128, "n": 100, "k": 64, "count": 12, "weights": False},
]
TIMELOOP = """
problem:
  version: 0.4
  shape:
    name: CNN-Layer
    dimensions: [C, M, R, S, N, P, Q]
    coefficients:
    - {name: Wstride, default: 1}
    - {name: Hstride, default: 1}
    - {name: Wdilation, default: 1}
    - {name: Hdilation, default: 1}
    data-spaces:
    - name: Weights
      projection: [[[C]], [[M]], [[R]], [[S]]]
    - name: Inputs
      projection: [[[N]], [[C]], [[R, Wdilation], [P, Wstride]], [[S, Hdilation], [Q, Hstride]]]
    - name: Outputs
      projection: [[[N]], [[M]], [[Q]], [[P]]]
      read-write: True
  instance: {C: 256, M: 384, R: 3, S: 5, N: 4, P: 13, Q: 12, Wstride: 1, Hstride: 2, densities: {Weights: 0.35}}
"""
TIMELOOP_GEMM = """
problem:
  shape:
    name: gemm_ABZ
    dimensions: [M, N, K]
    data_spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[N]], [[K]]]}
    - {name: Z, projection: [[[M]], [[N]]], read_write: true}
  instance: {M: 128, N: 512, K: 256}
"""
TIMELOOP_3D = """
problem:
  shape:
    dimensions: [R, S, T, P, Q, F, C, M, N, G]
    data_spaces:
    - {name: Filters, projection: [[[G]], [[C]], [[M]], [[R]], [[S]], [[T]]]}
    - {name: Inputs, projection: [[[N]], [[G]], [[C]], [[R], [P]], [[S], [Q]], [[T], [F]]]}
    - {name: Outputs, projection: [[[N]], [[G]], [[M]], [[Q]], [[P]], [[F]]], read_write: True}
  R: 3
  S: 3
  T: 3
  P: 14
  Q: 14
  F: 6
  C: 4
  M: 8
  N: 2
  G: 5
"""
TIMELOOP_LAYERS = [{"m": 4 * 13 * 12, "n": 384, "k": 256 * 15}]
FILES = {
    "conv.csv": (CONV, CONV_LAYERS),
    "sparse.csv": (SPARSE, [{"m": 9, "n": 6, "k": 18}] * 2),
    "gemm.csv": (GEMM, [{"m": 128, "n": 512, "k": 1536}, {"m": 128, "n": 2048, "k": 512}]),
    "zigzag.yaml": (ZIGZAG, ZIGZAG_LAYERS),
    "timeloop.yaml": (TIMELOOP, TIMELOOP_LAYERS),
    "gemm.yml": (TIMELOOP_GEMM, [{"m": 128, "n": 512, "k": 256}]),
    "conv3d.yaml": (TIMELOOP_3D, [{"m": 2 * 14 * 14 * 6, "n": 8, "k": 4 * 27, "count": 5}]),
}
SPACE = {"format": "nvfp4", "technology": "osu018", "rows": 4, "cols": 4}


def read(tmp_path: Path, name: str, text: str | bytes) -> dict[str, Any]:
    if name.endswith("ml"):
        pytest.importorskip("yaml", reason="the package pyyaml is not installed")
    file = tmp_path / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return workload.from_file(file)


@pytest.mark.parametrize("name", FILES)
def test_layers(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text, layers = FILES[name]
    found = read(tmp_path, name, text)
    assert found["name"] == Path(name).stem
    assert len(found["layers"]) == len(layers)
    for layer, wanted in zip(found["layers"], layers, strict=True):
        assert layer == {"op": "gemm", "name": layer["name"]} | wanted
    assert workload.main([str(tmp_path / name)]) == 0
    assert json.loads(capsys.readouterr().out) == found
    exploration = ng.explore(tmp_path / name, SPACE)
    assert exploration.explorer.macs == sum(w["m"] * w["n"] * w["k"] * w.get("count", 1) for w in layers)


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    assert "2 that add, pool or scale are left out" in read(tmp_path, "z.yaml", ZIGZAG)["what"]
    assert "the sparsity of 1 of them is left" in read(tmp_path, "s.csv", SPARSE)["what"]


@pytest.mark.parametrize(
    ("suffix", "text", "words"),
    [
        (".csv", "", ["no line", "SCALE-Sim"]),
        (".csv", "a,b\n1,2\n", ["line 1", '"b"', "IFMAP Height"]),
        (".csv", GEMM.replace("N,K", "K,N"), ["line 1", "column 3", '"K"', "expected N"]),
        (".csv", GEMM.replace("1536", "1536x"), ["line 2", "column K", '"1536x"', "a whole number"]),
        (".csv", GEMM.replace("1536", "0"), ["line 2", "column K", '"0"']),
        (".csv", "Layer,M,N,K\n", ["no layers"]),
        (".csv", GEMM + "x,1,2\n", ["line 4", "3 fields", "expected 4"]),
        (".csv", CONV.replace("1024", "99999999999"), ["line 6", "Channels", '"99999999999"']),
        (".csv", CONV.replace(" 1, 1, 1, 1, 1024", " 1, 1, 2, 1, 1024"), ["line 6", "Filter Height", "at most"]),
        (".csv", SPARSE.replace("2:4", "5:4"), ["line 2", "Sparsity", '"5:4"', "N:M"]),
        (".csv", GEMM.replace("K,", "K, Bias,"), ["line 1", "column 5", '"Bias"', "Sparsity or Batch"]),
        (".yaml", "", ["null", "ZigZag", "Timeloop"]),
        (".yaml", "a: [", ["not YAML"]),
        (".yaml", "architecture: 3\n", ["problem"]),
        (".yaml", "{{include_text('../problem_base.yaml')}}\nproblem:\n  instance: {C: 3}\n", ["not YAML"]),
        (".yaml", "problem:\n  <<<: *problem_base\n  instance: {C: 3}\n", ["not YAML"]),
        (".yaml", "problem: {instance: {C: 3}}", ["the problem", '"shape"', "front end"]),
        (".yaml", TIMELOOP.replace("C: 256, ", ""), ["instance", '"C"', "a whole number"]),
        (".yaml", TIMELOOP.replace("C: 256, ", "C: 2.5, "), ["instance", '"C"', "2.5"]),
        (".yaml", TIMELOOP.replace("[[C]], [[M]], [[R]]", "[[C]], [[M]], [[RR]]"), ["Weights", '"RR"', "dimensions"]),
        (".yaml", TIMELOOP.replace("R, Wdilation", "R, Wdil"), ["Inputs", '"Wdil"', "coefficient"]),
        (".yaml", TIMELOOP.replace("read-write: True", "read-write: False"), ["read_write: true"]),
        (".yaml", TIMELOOP.replace("read-write: True", "read-write: maybe"), ["Outputs", '"maybe"', "true or false"]),
        (".yaml", TIMELOOP_GEMM.replace("[[M]], [[N]]]", "[[M]]]"), ['loop "N"', "one operand and not the result"]),
        (".yaml", ZIGZAG.replace("loop_sizes: [2,", "loop_sizes: [2, 2,"), ["layer 0 (Conv_0)", "7 sizes"]),
        (".yaml", ZIGZAG.replace("[2, 64,", "[two, 64,"), ["layer 0 (Conv_0)", "loop_sizes", '"two"']),
        (".yaml", ZIGZAG.replace("ix=2*ox+1*fx", "ix=2*ox-1*fx"), ["layer 0", '"OX-1*FX"', "loop_dims"]),
        (".yaml", ZIGZAG.replace("O[b][k]", "O[b][k"), ["layer 0", "equation", "O[b][k]+=I[b][c]*W[c][k]"]),
        (".yaml", ZIGZAG.replace("+=W[k][c]", "+=W[k][z]"), ["layer 0", '"Z"', "loop_dims"]),
        (".yaml", "- id: 1\n", ["layer 0", '"equation"']),
        (".yaml", "&a [*a]", ["recursive"]),
        (".json", "{}", ["suffix", "'.json'", ".csv"]),
    ],
)
def test_wrong_files_are_a_sentence(tmp_path: Path, suffix: str, text: str, words: list[str]) -> None:
    file = "wrong" + suffix
    with pytest.raises(workload.WorkloadError) as caught:
        read(tmp_path, file, text)
    said = str(caught.value)
    assert [word for word in [file, "; expected", *words] if word not in said] == [], said
    assert "\n" not in said


def test_wrong_arguments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(workload.WorkloadError, match="path is 3; expected"):
        workload.from_file(3)  # type: ignore[arg-type]
    with pytest.raises(workload.WorkloadError, match=r"cannot be read .*; expected a file"):
        workload.from_file(tmp_path / "none.csv")
    (tmp_path / "g.csv").write_text(GEMM)
    with pytest.raises(workload.WorkloadError, match="only ONNX"):
        workload.from_file(tmp_path / "g.csv", {"batch": 2})
    assert workload.main([str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml cannot be read" in capsys.readouterr().err
    (tmp_path / "bad.csv").write_text("x")
    with pytest.raises(ng.Error, match=r"bad.csv: .*; expected"):
        ng.explore(tmp_path / "bad.csv", SPACE)


def test_volumes() -> None:
    """A convolution of three axes in a workload of our own."""
    layer = {
        "op": "conv", "in_channels": 4, "out_channels": 8, "depth": 8, "height": 16, "width": 15,
        "kernel": [3, 2, 1], "stride": [1, 2, 1], "padding": [1, 0, 0], "dilation": [2, 1, 1],
    }  # fmt: skip
    found = ng.explore({"name": "v", "layers": [layer]}, SPACE).explorer
    assert found.macs == 6 * 8 * 15 * 8 * 4 * 6
    for change, words in (({"kernel": [3, 3]}, "depth, height, width"), ({"depth": 0}, '"depth" is 0')):
        with pytest.raises(ng.Error, match=words):
            ng.explore({"name": "v", "layers": [{**layer, **change}]}, SPACE)
