# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: layouts of other tools against decoders written from their sources, files by the package safetensors both ways, what is
refused by the name of its tensor, conversion, and mutated files."""

from __future__ import annotations

import json
import os
import pickle
import resource
import struct
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge.checkpoint import writer

F = np.float32
W = np.random.default_rng(1).standard_normal((48, 256)).astype(F)
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], F)
Given = dict[str, tuple[str, Any]]


@pytest.fixture
def package() -> ModuleType:
    return pytest.importorskip("safetensors", reason="the package safetensors is not installed")


def file_of(path: Path, tensors: Given, metadata: dict[str, str] | None = None) -> Path:
    """By the page of the format: 8 bytes of length, JSON, and the tensors' bytes."""
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    data = b""
    for name, (dtype, array) in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        shape = list(np.shape(array))
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def modelopt(q: ng.QuantizedMatrix, name: str = "l") -> Given:
    return {
        f"{name}.weight": ("U8", ng.pack(q.codes)),
        f"{name}.weight_scale": ("F8_E4M3", q.scales),
        f"{name}.weight_scale_2": ("F32", F(q.tensor_scale)),
    }


Q = ng.quantize(W, dialect="modelopt")
MODELOPT = modelopt(Q)
BF16_ONE = np.uint16(0x3F80)


def nibbles(packed: np.ndarray) -> np.ndarray:
    """Even elements in the low nibbles, as Model Optimizer's `_unpack_tensor` and gpt-oss's `weights.py` read them."""
    codes = np.empty((*packed.shape[:-1], 2 * packed.shape[-1]), np.uint8)
    codes[..., 0::2], codes[..., 1::2] = packed & 15, packed >> 4
    return E2M1[codes]


def e4m3(codes: np.ndarray) -> np.ndarray:
    return ng.decode(codes, "e4m3")


def decoded(tensors: Given, layout: str) -> np.ndarray:
    """Values as the tool's own code computes them, in float64."""
    part = {name.partition(".")[2]: np.asarray(array) for name, (_, array) in tensors.items()}
    if layout == "modelopt nvfp4":
        scales = e4m3(part["weight_scale"]).astype(float) * part["weight_scale_2"]
        return nibbles(part["weight"]) * scales.repeat(16, -1)
    if layout == "compressed-tensors nvfp4":
        scales = e4m3(part["weight_scale"]).astype(float) / part["weight_global_scale"]
        return nibbles(part["weight_packed"]) * scales.repeat(16, -1)
    if layout.endswith("mxfp4"):
        packed = part.get("weight", part.get("weight_packed"))
        assert packed is not None
        return nibbles(packed) * (2.0 ** (part["weight_scale"].astype(int) - 127)).repeat(32, -1)
    if layout.endswith("mxfp8"):
        return e4m3(part["weight"]) * (2.0 ** (part["weight_scale"].astype(int) - 127)).repeat(32, -1)
    scales = part.get("weight_scale_inv", part.get("weight_scale"))
    assert scales is not None
    scales = scales.astype(float)
    rows, columns = part["weight"].shape
    if scales.size == 1:
        return e4m3(part["weight"]) * scales.reshape(())
    if scales.size == rows:
        return e4m3(part["weight"]) * scales.reshape(rows, 1)
    height = 128 if scales.shape[0] == -(-rows // 128) else 1
    return e4m3(part["weight"]) * scales.repeat(height, 0)[:rows].repeat(128, 1)[:, :columns]


FORMATS: dict[str, ng.QuantizedMatrix] = {
    "nvfp4": Q,
    "mxfp4": ng.quantize(W, "mxfp4"),
    "mxfp8": ng.quantize(W, "mxfp8_e4m3"),
    "fp8": ng.quantize(W, "fp8_e4m3"),
    "fp8 vector": ng.quantize(W, "fp8_e4m3", scaling="vector"),
    "fp8 1x128": ng.quantize(W, "fp8_e4m3", scaling="1x128"),
    "fp8 128x128": ng.quantize(np.resize(W, (200, 330)), "fp8_e4m3", scaling="128x128"),
    "fp8 e5m2": ng.quantize(W, "fp8_e5m2"),
    "fp8 e4m3fnuz": ng.quantize(W, "fp8_e4m3fnuz"),
    "fp8 e5m2fnuz vector": ng.quantize(W, "fp8_e5m2fnuz", scaling="vector"),
}
HAS = {
    "modelopt": list(FORMATS), "compressed-tensors": list(FORMATS), "torchao": list(FORMATS), "deepseek": ["fp8 128x128"],
    "gpt-oss": ["mxfp4"],
}  # fmt: skip
CASES = [(layout, form) for layout, forms in HAS.items() for form in forms]


def parts_of(path: Path) -> Given:
    """A file's tensors, by the format's page."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    types = {"F32": F, "BF16": np.uint16, "F16": np.float16}
    made: Given = {}
    for name, about in header.items():
        if name != "__metadata__":
            start, end = (8 + length + n for n in about["data_offsets"])
            made[name] = (
                about["dtype"],
                np.frombuffer(raw[start:end], types.get(about["dtype"], np.uint8)).reshape(about["shape"]),
            )
    return made


@pytest.mark.parametrize(("layout", "form"), CASES)
def test_layouts_come_back(layout: str, form: str, tmp_path: Path) -> None:
    """And their values are those of the tools' own formulas, but for the last bit of a divisor's reciprocal."""
    q = FORMATS[form]
    file = tmp_path / "a.safetensors"
    ng.checkpoint.write(file, {"l": q, "bias": np.arange(3, dtype=F)}, layout=layout)
    found = ng.open_checkpoint(file)
    assert list(found.layers) == ["l"]
    assert "bias" in found.others
    layer = found["l"]
    assert (layer.scheme, layer.element, layer.scaling, layer.shape) == (q.scheme, q.element, q.scaling, q.shape)
    back = layer.read()
    exact = layout != "compressed-tensors" or q.scheme != "nvfp4"
    assert np.array_equal(back.codes, q.codes)
    assert (back == q) is exact or abs(back.tensor_scale / q.tensor_scale - 1) < 2.0**-23
    if layout in ("modelopt", "compressed-tensors", "deepseek") and "e5m2" not in form and "fnuz" not in form:
        tensors = {name: part for name, part in parts_of(file).items() if name != "bias"}
        name = f"{layout} {form}"
        np.testing.assert_allclose(np.asarray(back, float), decoded(tensors, name), rtol=2.0**-22)


@pytest.mark.parametrize("power", [2.0**-12, 1.0, 2.0**5])
def test_both_conventions_are_one_number(power: float, tmp_path: Path) -> None:
    """Of a power of two not even the last bit differs."""
    q = ng.QuantizedMatrix("nvfp4", "e2m1", Q.codes, Q.scales, power)
    other = {
        "l.weight_packed": MODELOPT["l.weight"],
        "l.weight_scale": MODELOPT["l.weight_scale"],
        "l.weight_global_scale": ("F32", np.full(1, 1 / power, F)),
    }
    a = ng.open_checkpoint(file_of(tmp_path / "a.safetensors", modelopt(q)))["l"]
    b = ng.open_checkpoint(file_of(tmp_path / "b.safetensors", other))["l"]
    assert (a.layout, a.convention, b.layout, b.convention) == (
        "modelopt",
        "multiplier",
        "compressed-tensors",
        "divisor",
    )
    assert a.global_scale() == b.global_scale() == power
    assert a.read() == b.read() == q
    np.testing.assert_array_equal(np.asarray(q, float), decoded(modelopt(q), "modelopt nvfp4"))
    np.testing.assert_array_equal(np.asarray(q, float), decoded(other, "compressed-tensors nvfp4"))
    turned = ng.open_checkpoint(tmp_path / "b.safetensors", global_scale="multiplier")["l"]
    assert turned.read().tensor_scale == 1 / power


def test_divisors_are_the_nearest() -> None:
    """Of multipliers below the square root of two, times a power of two, none is lost; of others some are, by a last bit."""
    rng = np.random.default_rng(3)
    for exact, low, high in ((True, 1.0, 1.414), (False, 1.415, 2.0)):
        multipliers = rng.uniform(low, high, 400).astype(F) * F(2.0**-13)
        back = np.array([F(1) / writer.divisor_of(m) for m in multipliers], F)
        apart = np.abs(back.view(np.int32) - multipliers.view(np.int32))
        assert apart.max() <= (0 if exact else 1)
        assert exact or 0 < np.count_nonzero(apart) < 400
    with pytest.raises(ng.Error, match="has no reciprocal in float32"):
        writer.divisor_of(1e-45)


def test_a_lost_bit_is_reported(tmp_path: Path) -> None:
    scales = np.linspace(1.5, 1.99, 100).astype(F)
    lost = next(float(s) for s in scales if F(1) / writer.divisor_of(float(s)) != s)
    q = ng.QuantizedMatrix("nvfp4", "e2m1", Q.codes, Q.scales, lost)
    found = ng.open_checkpoint(file_of(tmp_path / "a.safetensors", modelopt(q)))
    (change,) = ng.checkpoint.convert(found, tmp_path / "b.safetensors", layout="compressed-tensors")
    read = ng.open_checkpoint(tmp_path / "b.safetensors")["l"].read()
    assert change.tensor_scale == (lost, read.tensor_scale)
    assert change.codes == change.scales == 0
    x, y = np.asarray(q, float), np.asarray(read, float)
    assert change.sqnr_db == pytest.approx(10 * np.log10(np.square(x).sum() / np.square(x - y).sum()), abs=0.1)
    assert change.largest == pytest.approx(np.abs(x - y).max(), rel=0.2)


def test_files_of_the_package(package: ModuleType, tmp_path: Path) -> None:
    """Read here as the package wrote them, and by the package as they were written here; all types."""
    file = tmp_path / "a.safetensors"
    rng = np.random.default_rng(4)
    sizes = {"BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "F8_E8M0": 1,
             "F8_E4M3FNUZ": 1, "F8_E5M2FNUZ": 1, "I16": 2, "U16": 2, "F16": 2, "BF16": 2,
             "I32": 4, "U32": 4, "F32": 4, "F64": 8, "I64": 8, "U64": 8}  # fmt: skip
    names = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "F8_E5M2": "float8_e5m2", "F8_E4M3": "float8_e4m3fn",
             "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz", "F8_E8M0": "float8_e8m0fnu",
             "I16": "int16", "U16": "uint16", "F16": "float16", "BF16": "bfloat16", "I32": "int32",
             "U32": "uint32", "F32": "float32", "F64": "float64", "I64": "int64", "U64": "uint64"}  # fmt: skip
    data = {f"t.{dtype}": rng.integers(0, 2, 18 * size, np.uint8) for dtype, size in sizes.items()}
    specs = {
        name: package.TensorSpec(dtype=names[name[2:]], shape=[3, 6], data_ptr=raw.ctypes.data, data_len=raw.nbytes)
        for name, raw in data.items()
    }
    data["t.F4"] = rng.integers(0, 256, 9, np.uint8)  # two codes a byte
    specs["t.F4"] = package.TensorSpec(
        dtype="float4_e2m1fn_x2", shape=[3, 3], data_ptr=data["t.F4"].ctypes.data, data_len=9
    )
    package.serialize_file(specs, str(file), {"format": "np", "who": "ü"})
    tensors = ng.open_checkpoint(file).files
    assert tensors.metadata == {"format": "np", "who": "ü"}
    for name, raw in data.items():
        assert (tensors[name].dtype, tensors[name].shape) == (name[2:], (3, 6))
        np.testing.assert_array_equal(tensors.raw(name), raw)
    ng.checkpoint.write(
        file, {"l": Q, "x": W.astype(np.float16), "empty": np.zeros((0, 3)), "one": np.int64(7)}, metadata={"a": "b"}
    )
    read = dict(package.deserialize(file.read_bytes()))
    assert set(read) == {"l.weight", "l.weight_scale", "l.weight_scale_2", "x", "empty", "one"}
    assert bytes(read["l.weight"]["data"]) == ng.pack(Q.codes).tobytes()
    assert read["l.weight_scale"]["dtype"] == "F8_E4M3"
    assert bytes(read["x"]["data"]) == W.astype(np.float16).tobytes()
    assert read["empty"]["shape"] == [0, 3]
    with package.safe_open(str(file), "np") as opened:
        assert opened.metadata() == {"a": "b"}
        np.testing.assert_array_equal(opened.get_tensor("x"), W.astype(np.float16))
        assert opened.get_tensor("one") == 7


def test_gpt_oss_and_stacks(tmp_path: Path) -> None:
    """Blocks of 16 bytes with a scale each; a stack is read whole or one by one."""
    x = np.random.default_rng(5).standard_normal((3, 8, 64)).astype(F)
    q = ng.quantize(x, "mxfp4")
    blocks, scales = ng.pack(q.codes).reshape(3, 8, 2, 16), q.scales
    given: Given = {
        "m.gate_up_proj_blocks": ("U8", blocks),
        "m.gate_up_proj_scales": ("U8", scales),
        "block.0.mlp1_weight.blocks": ("U8", blocks),
        "block.0.mlp1_weight.scales": ("U8", scales),
        "m.gate_up_proj_bias": ("BF16", np.full((3, 8), BF16_ONE)),
    }
    found = ng.open_checkpoint(file_of(tmp_path / "a.safetensors", given))
    assert set(found.layers) == {"m.gate_up_proj", "block.0.mlp1_weight"}
    for layer in found.layers.values():
        assert layer.read() == q
        assert layer.read(1) == ng.quantize(x[1], "mxfp4")
    values = nibbles(blocks) * 2.0 ** (scales.astype(int) - 127)[..., np.newaxis]
    np.testing.assert_array_equal(np.asarray(found["m.gate_up_proj"].read(), float), values.reshape(3, 8, 64))
    ng.checkpoint.convert(found, tmp_path / "b.safetensors")
    assert parts_of(tmp_path / "b.safetensors").keys() == given.keys()
    with pytest.raises(ng.Error, match="index is 3; expected 0 to 2"):
        found["m.gate_up_proj"].read(3)
    with pytest.raises(ng.Error, match=r"is a stack of shape .*; expected index"):
        found["m.gate_up_proj"].multiply(np.ones((1, 64)))
    assert found["m.gate_up_proj"].multiply(np.ones((1, 64)), index=2).y.shape == (1, 8)


def test_experts_with_a_scale_each(tmp_path: Path) -> None:
    given = modelopt(Q)
    stack: Given = {name: (dtype, np.stack([array, array])) for name, (dtype, array) in given.items()}
    stack["l.weight_scale_2"] = ("F32", np.array([0.5, 0.25], F))
    layer = ng.open_checkpoint(file_of(tmp_path / "a.safetensors", stack))["l"]
    assert [layer.read(i).tensor_scale for i in range(2)] == [0.5, 0.25]
    with pytest.raises(ng.Error, match=r"tensor 'l.weight_scale_2' has 2 numbers; expected one, or index"):
        layer.read()


def test_swizzled_scales_and_nibbles(tmp_path: Path) -> None:
    swizzled = ng.swizzle_scales(Q.scales)
    file = tmp_path / "a.safetensors"
    one: Given = MODELOPT | {"l.weight_scale": ("U8", swizzled)}
    layer = ng.open_checkpoint(file_of(file, one))["l"]
    assert layer.scale_layout == "128x4"
    assert "tiles of 128 x 4" in layer.notes[0]
    assert layer.read() == Q
    padded = np.zeros((128, 16), np.uint8)
    padded[:48] = Q.scales
    for scales, name in ((swizzled.reshape(128, 16), "128x4"), (padded, "rows")):
        file_of(file, MODELOPT | {"l.weight_scale": ("F8_E4M3", scales)})
        problem = ng.open_checkpoint(file)["l"].problem
        assert problem is not None
        assert "padded to 128 x 4, in rows or in tiles; expected to be told which" in problem
        assert ng.open_checkpoint(file, scale_layout=name)["l"].read() == Q
    packed = ng.pack(Q.codes)
    file_of(file, MODELOPT | {"l.weight": ("U8", packed >> 4 | packed << 4)})
    assert ng.open_checkpoint(file, nibbles="high_first")["l"].read() == Q
    assert ng.open_checkpoint(file)["l"].read() != Q
    metadata = {"tensor_names": '["l.weight"]', "l.weight": json.dumps({
        "_type": "NVFP4Tensor", "_data": {"_block_size": 16, "_is_swizzled_scales": True},
        "_tensor_data_names": ["qdata", "_scale_e4m3", "_per_tensor_scale"]})}  # fmt: skip
    older: Given = {
        "l._weight_qdata": ("U8", packed),
        "l._weight__scale_e4m3": ("F8_E4M3", swizzled),
        "l._weight__per_tensor_scale": ("F32", F(Q.tensor_scale)),
    }
    layer = ng.open_checkpoint(file_of(file, older, metadata))["l"]
    assert (layer.layout, layer.scale_layout) == ("torchao", "128x4")
    assert layer.read() == Q


def at(array: np.ndarray, place: tuple[int, ...], value: int) -> np.ndarray:
    made = np.array(array)
    made[place] = value
    return made


SCALES = np.asarray(Q.scales)
FP8 = FORMATS["fp8 128x128"]
DEEPSEEK: Given = {"l.weight": ("F8_E4M3", FP8.codes[:, :330]), "l.weight_scale_inv": ("F32", FP8.scales)}
WRONG: list[tuple[Given, str]] = [
    ({"l.weight_scale_2": ("F32", F(np.nan))}, "'l.weight_scale_2' has nan; expected positive finite"),
    ({"l.weight_scale_2": ("F32", F(0))}, "'l.weight_scale_2' has 0; expected positive finite"),
    ({"l.weight_scale_2": ("F32", F(-1))}, "'l.weight_scale_2' has -1; expected positive finite"),
    ({"l.weight_scale_2": ("F32", F(np.inf))}, "'l.weight_scale_2' has inf; expected positive finite"),
    ({"l.weight_scale_2": ("F64", np.float64(1e-60))}, "'l.weight_scale_2' has 1e-60; expected positive finite float32"),
    ({"l.weight_scale_2": ("F32", np.ones(2, F))}, "'l.weight_scale_2' has 2 numbers; expected one"),
    ({"l.weight_scale_2": ("I32", np.int32(1))}, "'l.weight_scale_2' is of type I32; expected F32 or BF16"),
    ({"l.weight_scale_2": None}, "tensor 'l.weight_scale_2' is missing; expected it beside 'l.weight'"),
    ({"l.weight_scale": None}, "tensor 'l.weight_scale' is missing; expected it beside 'l.weight'"),
    ({"l.weight_global_scale": ("F32", F(1))}, "'l.weight_scale_2' and 'l.weight_global_scale' are both there"),
    ({"l.weight_scale": ("F8_E4M3", at(SCALES, (3, 5), 0x7F))}, r"'l.weight_scale' has NaN \(0x7F\) at \[3, 5\]"),
    ({"l.weight_scale": ("F8_E4M3", at(SCALES, (3, 5), 0xFF))}, r"'l.weight_scale' has NaN \(0xFF\) at \[3, 5\]"),
    ({"l.weight_scale": ("F8_E4M3", at(SCALES, (3, 5), 0xB8))}, r"'l.weight_scale' has a negative scale \(0xB8\) at \[3, 5\]"),
    ({"l.weight_scale": ("F8_E4M3", at(SCALES, (3, 5), 0))}, r"'l.weight_scale' has scale 0 at \[3, 5\], and codes of that block"),
    ({"l.weight_scale": ("F8_E4M3", SCALES[:, :-1])}, "'l.weight_scale' has shape 48 x 15; expected 48 x 16, or 2048 in tiles"),
    ({"l.weight_scale": ("F8_E4M3", SCALES[:-1])}, "'l.weight_scale' has shape 47 x 16; expected 48 x 16"),
    ({"l.weight": ("U8", np.ones((48, 100), np.uint8))}, "'l.weight' has vectors of 200 elements; expected a multiple of 16"),
    ({"l.weight": ("U8", np.ones(48, np.uint8))}, "'l.weight' has shape 48; expected a matrix"),
    ({"l.weight": None}, "tensor 'l.weight_scale' has no weight; expected 'l.weight' beside it"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_scales_that_are_refused(change: Given, message: str, tmp_path: Path) -> None:
    """By the name of the tensor; a list of what there is survives it."""
    given = {name: part for name, part in (MODELOPT | modelopt(Q, "good") | change).items() if part is not None}
    found = ng.open_checkpoint(file_of(tmp_path / "a.safetensors", given))
    with pytest.raises(ng.Error, match=message):
        found["l"].read()
    assert found["good"].read() == Q
    assert len(found) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (at(FP8.scales, (1, 2), np.nan), r"'l.weight_scale_inv' has nan at \[1, 2\]; expected positive finite"),
        (at(FP8.scales, (1, 2), 0), r"'l.weight_scale_inv' has 0 at \[1, 2\]; expected positive finite"),
        (np.ones((3, 3), F), "'l.weight_scale_inv' has shape 3 x 3; expected one number, 200, 2 x 3, or 200 x 3"),
        (np.ones(200, F), "'l.weight_scale_inv' has shape 200; expected a scale for each 128 x 128"),
    ],
)
def test_deepseek(change: np.ndarray, message: str, tmp_path: Path) -> None:
    layer = ng.open_checkpoint(file_of(tmp_path / "a.safetensors", DEEPSEEK))["l"]
    assert layer.read() == FP8
    assert "multiplied by, in spite of its name" in layer.notes[0]
    with pytest.raises(ng.Error, match=message):
        ng.open_checkpoint(file_of(tmp_path / "b.safetensors", DEEPSEEK | {"l.weight_scale_inv": ("F32", change)}))[
            "l"
        ].read()


def test_other_scales_of_eight_bits(tmp_path: Path) -> None:
    """BF16 scales, tiles as Model Optimizer writes them in four dimensions, E8M0 scales of tiles; NaN of E8M0."""
    ones = np.full((2, 3), BF16_ONE)
    for dtype, scales in (
        ("BF16", ones),
        ("F32", np.ones((2, 1, 3, 1), F)),
        ("F8_E8M0", np.full((2, 3), 127, np.uint8)),
    ):
        given: Given = {"l.weight": DEEPSEEK["l.weight"], "l.weight_scale": (dtype, scales)}
        layer = ng.open_checkpoint(file_of(tmp_path / "a.safetensors", given))["l"]
        assert layer.scaling == "128x128"
        np.testing.assert_array_equal(np.asarray(layer.read()), e4m3(np.asarray(given["l.weight"][1])))
    q = FORMATS["mxfp4"]
    given = {"l.weight": ("U8", ng.pack(q.codes)), "l.weight_scale": ("U8", at(np.asarray(q.scales), (7, 1), 0xFF))}
    with pytest.raises(ng.Error, match=r"'l.weight_scale' has NaN \(0xFF\) at \[7, 1\]"):
        ng.open_checkpoint(file_of(tmp_path / "a.safetensors", given))["l"].read()
    with pytest.raises(ng.Error, match=r"tensor 'l.weight_scale' is missing; expected it, or weight_scale_inv"):
        ng.open_checkpoint(file_of(tmp_path / "a.safetensors", {"l.weight": DEEPSEEK["l.weight"]}))["l"].read()


def test_codes_of_four_bits_by_their_type(tmp_path: Path) -> None:
    """F4 has a shape of elements, where U8 has one of bytes."""
    raw = file_of(tmp_path / "a.safetensors", MODELOPT).read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    header["l.weight"] |= {"dtype": "F4", "shape": [48, 256]}
    text = json.dumps(header).encode()
    (tmp_path / "b.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + raw[8 + length :])
    assert ng.open_checkpoint(tmp_path / "b.safetensors")["l"].read() == Q


def test_zero_scales(tmp_path: Path) -> None:
    """Transformer Engine writes 0 where a block's scale underflows; of a block of zeros it is no loss."""
    codes, scales = np.array(Q.codes), at(SCALES, (3, 5), 0)
    codes[3, 80:96] = 8
    q = ng.QuantizedMatrix("nvfp4", "e2m1", codes, scales, Q.tensor_scale)
    assert ng.open_checkpoint(file_of(tmp_path / "a.safetensors", modelopt(q)))["l"].read() == q
    codes[3, 81] = 7
    q = ng.QuantizedMatrix("nvfp4", "e2m1", codes, scales, Q.tensor_scale)
    file = file_of(tmp_path / "a.safetensors", modelopt(q))
    with pytest.raises(ng.Error, match="zero_scales='keep'"):
        ng.open_checkpoint(file)["l"].read()
    assert ng.open_checkpoint(file, zero_scales="keep")["l"].read() == q


def shards(folder: Path) -> Path:
    """Two, with the scales of a layer in the other one than its codes."""
    folder.mkdir()
    a, b = modelopt(Q, "a"), modelopt(Q, "b")
    b["norm"] = ("BF16", np.full(7, BF16_ONE))
    b["a.weight_scale"] = a.pop("a.weight_scale")
    file_of(folder / "model-00001-of-00002.safetensors", a, {"format": "pt"})
    file_of(folder / "model-00002-of-00002.safetensors", b, {"format": "pt"})
    weights = dict.fromkeys(a, "model-00001-of-00002.safetensors") | dict.fromkeys(
        b, "model-00002-of-00002.safetensors"
    )
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weights}))
    return folder


def test_shards(tmp_path: Path) -> None:
    folder = shards(tmp_path / "model")
    index = folder / "model.safetensors.index.json"
    for path in (folder, index):
        found = ng.open_checkpoint(path)
        assert [layer.read() for layer in found.layers.values()] == [Q, Q]
        assert found.others == {"norm": ("BF16", (7,))}
    changes = ng.checkpoint.convert(ng.open_checkpoint(folder), tmp_path / "other", layout="compressed-tensors")
    assert [change.codes for change in changes] == [0, 0]
    other = ng.open_checkpoint(tmp_path / "other")
    assert {layer.layout for layer in other.layers.values()} == {"compressed-tensors"}
    assert other.files.raw("norm").tobytes() == found.files.raw("norm").tobytes()
    assert other.files.metadata == {"format": "pt"}
    with pytest.raises(ng.Error, match="is the checkpoint that is read; expected another place"):
        ng.checkpoint.convert(found, folder)
    text = json.loads(index.read_text())
    for change, message in (
        ({"weight_map": text["weight_map"] | {"c": "model-00001-of-00002.safetensors"}}, "tensor 'c' is not in"),
        (
            {"weight_map": text["weight_map"] | {"c": "../x.safetensors"}},
            "names the shard '../x.safetensors'; expected a file beside",
        ),
        ({"weight_map": text["weight_map"] | {"c": "x.safetensors"}}, "x.safetensors cannot be opened: No such file"),
        ({"weight_map": {}}, "has no weight_map"),
        ({"weight_map": {"a": 3}}, "has no weight_map"),
    ):
        index.write_text(json.dumps(change))
        with pytest.raises(ng.Error, match=message):
            ng.open_checkpoint(folder)
    for plain in ("[1]", "{", "[" * 100000, "\xff"):
        index.write_text(plain, "latin-1")
        with pytest.raises(ng.Error, match="is no object of JSON"):
            ng.open_checkpoint(index)
    index.unlink()
    assert len(ng.open_checkpoint(folder)) == 2
    file_of(folder / "twice.safetensors", {"norm": ("U8", np.zeros(3, np.uint8))})
    with pytest.raises(ng.Error, match=r"tensor 'norm' is in .*; expected it in one file"):
        ng.open_checkpoint(folder)


def test_conversion(tmp_path: Path) -> None:
    """With the same bits, and quantized again, with what that changes."""
    given = MODELOPT | {"l.input_scale": ("F32", F(2.0**-5)), "norm": ("F16", np.ones(3, np.float16))}
    found = ng.open_checkpoint(file_of(tmp_path / "a.safetensors", given))
    out = tmp_path / "b.safetensors"
    for layout, side in (
        ("modelopt", "l.input_scale"),
        ("compressed-tensors", "l.input_global_scale"),
        ("torchao", "l._weight_act_per_tensor_scale"),
    ):
        (change,) = ng.checkpoint.convert(found, out, layout=layout)
        assert (change.codes, change.scales, change.sqnr_db, change.before) == (0, 0, np.inf, "nvfp4")
        back = ng.open_checkpoint(out)
        assert back["l"].layout == layout
        assert np.array_equal(back["l"].read().codes, Q.codes)
        assert back.files.array(side) == (2.0**5 if layout == "compressed-tensors" else 2.0**-5)
        assert back.files.raw("norm").tobytes() == np.ones(3, np.float16).tobytes()
        again = ng.checkpoint.convert(back, tmp_path / "c.safetensors", layout="modelopt")
        assert again[0].codes == 0
        assert ng.open_checkpoint(tmp_path / "c.safetensors").files.array("l.input_scale") == 2.0**-5
    ng.checkpoint.convert(found, out)
    assert {name: part[0] for name, part in parts_of(out).items()} == {name: part[0] for name, part in given.items()}
    values = np.asarray(Q)
    (change,) = ng.checkpoint.convert(found, out, dialect="te_4over6", layout="compressed-tensors")
    assert np.array_equal(ng.open_checkpoint(out)["l"].read().codes, ng.quantize(values, dialect="te_4over6").codes)
    assert 0 < (change.codes or 0) < Q.size
    assert change.sqnr_db == pytest.approx(10 * np.log10(np.square(values, dtype=float).sum() / np.square(
        np.asarray(ng.quantize(values, dialect="te_4over6"), float) - values).sum()))  # fmt: skip
    (change,) = ng.checkpoint.convert(found, out, format="fp8_e4m3", scaling="128x128", layout="deepseek")
    assert (change.codes, change.scales, change.after) == (None, None, "fp8 e4m3 128x128")
    assert ng.open_checkpoint(out)["l"].read() == ng.quantize(values, "fp8_e4m3", scaling="128x128")
    before = out.read_bytes()
    assert ng.checkpoint.convert(found, None, format="mxfp4")[0].after == "mxfp4"
    for arguments, message in (
        ({"layout": "deepseek"}, "layer 'l' is nvfp4, which layout deepseek does not have; expected fp8 scaled 128x128"),
        ({"layout": "gpt-oss"}, "which layout gpt-oss does not have; expected mxfp4"),
        ({"dialect": "te:front=rht16"}, "rotates or shifts what it quantizes"),
        ({"scaling": "1x128"}, "nothing is quantized again; expected a format"),
        ({"layout": "gguf"}, "layer 'l' has a scale of its input, which layout gguf has no place for"),
        ({"format": "luq"}, "layer 'l' is int4, which layout modelopt does not have"),
    ):  # fmt: skip
        with pytest.raises(ng.Error, match=message):
            ng.checkpoint.convert(found, out, **arguments)
    assert out.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.safetensors", "b.safetensors", "c.safetensors"]


def test_gguf(tmp_path: Path) -> None:
    pytest.importorskip("gguf", reason="the package gguf is not installed")
    found = ng.open_checkpoint(file_of(tmp_path / "a.safetensors", MODELOPT | {"n.bias": ("F32", np.ones(3, F))}))
    ng.checkpoint.convert(found, tmp_path / "a.gguf", layout="gguf")
    other = ng.open_checkpoint(tmp_path / "a.gguf")
    assert other["l"].layout == "gguf"
    assert (other["l"].convention, other["l"].global_scale()) == ("multiplier", F(Q.tensor_scale))
    assert other["l"].read() == Q
    assert list(other.others) == ["n.bias"]
    with pytest.raises(ng.Error, match="is a file of GGUF"):
        ng.checkpoint.convert(other, tmp_path / "b.safetensors", layout="modelopt")


@pytest.mark.parametrize("form", ["nvfp4", "fp8", "fp8 vector", "fp8 128x128", "mxfp4"])
def test_products(form: str, tmp_path: Path) -> None:
    """A layer's product is that of the matrices, on engines too; the input's scale is the file's."""
    q = FORMATS[form]
    file = tmp_path / "a.safetensors"
    ng.checkpoint.write(file, {"l": q})
    layer = ng.open_checkpoint(file)["l"]
    x = np.random.default_rng(6).standard_normal((5, q.shape[1])).astype(F)
    made = layer.multiply(x)
    np.testing.assert_array_equal(made.y, made.x @ q.mT)
    assert made.sqnr_db > 15
    if form in ("nvfp4", "fp8"):
        other = layer.multiply(x, engine=ng.Engine("systemc"))
        np.testing.assert_array_equal(made.y, other.y)
        assert (other.run.cycles or 0) > 0
        side = "l.input_scale"
        ng.checkpoint.write(file, {"l": q, side: F(2.0**-4)})
        assert ng.open_checkpoint(file)["l"].multiply(x).x.tensor_scale == 2.0**-4
        assert ng.open_checkpoint(file)["l"].multiply(x, activations="measured").x.tensor_scale == made.x.tensor_scale
    ng.checkpoint.write(file, {"l": q, "l.pre_quant_scale": np.full(q.shape[1], 2, F)})
    np.testing.assert_array_equal(ng.open_checkpoint(file)["l"].multiply(x).y, layer.multiply(2 * x).y)
    with pytest.raises(ng.Error, match=r"x has shape .*; expected rows of"):
        layer.multiply(x[:, 1:])


def test_large_files_are_mapped(tmp_path: Path) -> None:
    """A file with a hole of 8 GB, and a small layer behind it: memory stays what it is."""
    file, hole = tmp_path / "a.safetensors", 2**33
    small = file_of(tmp_path / "b.safetensors", MODELOPT)
    raw = small.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    for about in header.values():
        about["data_offsets"] = [hole + n for n in about["data_offsets"]]
    header["large"] = {"dtype": "BF16", "shape": [2**16, 2**16], "data_offsets": [0, hole]}
    text = json.dumps(header).encode()
    with file.open("wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        out.seek(hole, os.SEEK_CUR)
        out.write(raw[8 + length :])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = ng.open_checkpoint(file)
    assert found.others == {"large": ("BF16", (2**16, 2**16))}
    assert found["l"].read() == Q
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_names_and_objects(tmp_path: Path) -> None:
    found = ng.open_checkpoint(file_of(tmp_path / "a.safetensors", MODELOPT | {"norm": ("F32", F(1))}))
    assert found["l.weight_scale"] is found["l"]
    for name, message in (
        ("norm", "tensor 'norm' is not quantized: F32"),
        ("ll", "has no layer 'll'; expected one of l; `layers`"),
    ):
        with pytest.raises(ng.Error, match=message):
            found[name]
    assert pickle.loads(pickle.dumps(found))["l"].read() == Q
    raw = found.files.raw("l.weight")
    assert not raw.flags.writeable
    del found
    assert raw.tobytes() == ng.pack(Q.codes).tobytes()
    written = {"modelopt", "compressed-tensors", "torchao", "deepseek", "gpt-oss", "gguf"}
    assert set(ng.checkpoint.layouts()) == written | {"gptq", "awq"}
    foreign: Given = {
        "a.qweight": ("I32", np.zeros((2, 2), np.int32)),
        "b.weight_packed": ("I32", np.zeros((2, 2), np.int32)),
        "b.weight_scale": ("F32", F(1)),
    }
    found = ng.open_checkpoint(file_of(tmp_path / "a.safetensors", foreign))
    assert "tensor 'a.scales' is missing; expected it beside 'a.qweight'" in (found["a"].problem or "")
    assert "integers as compressed-tensors pack them" in (found["b"].problem or "")


def program(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "narrowgauge.checkpoint", *map(str, words)], capture_output=True, text=True, check=False
    )


def test_the_program(tmp_path: Path) -> None:
    file = file_of(tmp_path / "a.safetensors", MODELOPT | {"norm": ("F32", F(1))})
    made = program(file, "--check")
    assert made.returncode == 0, made.stderr
    assert "(a multiplier)" in made.stdout
    assert "1 quantized layers" in made.stdout
    assert "every scale is a positive number" in made.stdout
    report = json.loads(program(file, "--json").stdout)
    assert report["layers"][0]["convention"] == "multiplier"
    assert report["layers"][0]["global_scale"] == [Q.tensor_scale]
    x = np.random.default_rng(7).standard_normal((4, 256)).astype(F)
    np.save(tmp_path / "x.npy", x)
    made = program(
        file,
        "--layer",
        "l",
        "--input",
        tmp_path / "x.npy",
        "--engine",
        "systemc",
        "--out",
        tmp_path / "y.npy",
        "--json",
    )
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout)["different"] == 0
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), ng.open_checkpoint(file)["l"].multiply(x).y)
    assert (
        "bit for bit with the golden model"
        in program(file, "--layer", "l", "--input", tmp_path / "x.npy", "--engine", "systemc").stdout
    )
    assert "codes 0x" in program(file, "--layer", "l").stdout
    out = tmp_path / "b.safetensors"
    made = program(file, "--to", "compressed-tensors", "--out", out)
    assert made.returncode == 0, made.stderr
    assert "0 of 12288" in made.stdout
    assert "(a divisor)" in program(out).stdout
    assert "SQNR" in program(file, "--dialect", "te_4over6").stdout
    bad = file_of(tmp_path / "c.safetensors", MODELOPT | {"l.weight_scale_2": ("F32", F(0))})
    for words, message in (
        ((bad,), "1 of 1 layers are refused, the first: tensor 'l.weight_scale_2' has 0"),
        ((file, "--layer", "m"), "has no layer 'm'; expected one of l"),
        ((file, "--input", "x.npy"), "--input is for one layer; expected --layer NAME"),
        ((file, "--layer", "l", "--input", file), "cannot be read as .npy"),
        ((file, "--to", "modelopt"), "--to says how to write; expected --out"),
        ((file, "--out", out), "--out would have nothing to be written"),
        ((tmp_path / "none",), "cannot be opened: No such file"),
        ((tmp_path / "x.npy",), "is no whole .safetensors file"),
    ):
        made = program(*words)
        assert made.returncode == 2, made.stdout
        assert message in made.stderr
        assert len(made.stderr.strip().splitlines()) == 1
