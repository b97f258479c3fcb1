# SPDX-License-Identifier: Apache-2.0
"""NVFP4 of GGUF: the layout of superblocks, what is refused, and files by llama.cpp's package gguf where it is installed."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import narrowgauge as ng

F = np.float32
W = np.random.default_rng(1).standard_normal((3, 5, 128)).astype(F)


@pytest.fixture
def package() -> ModuleType:
    return pytest.importorskip("gguf", reason="the package gguf is not installed")


def test_the_layout_of_a_superblock() -> None:
    """Byte 8 b + j of the codes has elements j and j + 8 of block b; four scales are before them."""
    codes = (np.arange(64) * 7 % 16).astype(np.uint8)
    scales = np.uint8([0x38, 0x01, 0x7E, 0x00])
    block = ng.gguf.pack(ng.QuantizedMatrix("nvfp4", "e2m1", codes, scales, 1.0))
    assert block.shape == (36,)
    assert block[:4].tolist() == scales.tolist()
    for b in range(4):
        for j in range(8):
            assert block[4 + 8 * b + j] == codes[16 * b + j] | codes[16 * b + j + 8] << 4


@pytest.mark.parametrize("shape", [(64,), (1, 64), (5, 128), (2, 3, 192)])
def test_round_trip(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(2).standard_normal(shape).astype(F)
    q = ng.quantize(x, dialect="ggml")
    blocks = ng.gguf.pack(q)
    assert blocks.shape == (*shape[:-1], shape[-1] // 64 * 36)
    assert ng.gguf.unpack(blocks) == q
    other = ng.quantize(x)
    assert ng.gguf.unpack(ng.gguf.pack(other, scale_apart=True), tensor_scale=other.tensor_scale) == other


def test_every_byte_comes_back() -> None:
    """All scales that are numbers, and all pairs of codes."""
    rng = np.random.default_rng(3)
    blocks = rng.integers(0, 256, (400, 36)).astype(np.uint8)
    blocks[:, :4] = rng.permutation(np.repeat(np.arange(127), 13)[:1600]).reshape(400, 4)
    np.testing.assert_array_equal(ng.gguf.pack(ng.gguf.unpack(blocks)), blocks)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((35,), r"blocks have shape \(35,\); expected a multiple of 36 bytes .* cut off, or of another type"),
        ((2, 71), r"blocks have shape \(2, 71\); expected a multiple of 36"),
        ((0,), r"blocks have shape \(0,\); expected a multiple of 36"),
        ((), "expected uint8 of one dimension or more"),
    ],
)
def test_bytes_that_are_no_superblocks(shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(ng.Error, match=message):
        ng.gguf.unpack(np.zeros(shape, np.uint8))


@pytest.mark.parametrize("scale", [0x7F, 0x80, 0xFF])
def test_scales_that_are_no_numbers(scale: int) -> None:
    """llama.cpp decodes 0x7F as 0, which has to be asked for."""
    blocks = ng.gguf.pack(ng.quantize(W, dialect="ggml"))
    blocks[1, 2, 36 + 3] = scale
    message = f"scale 0x{scale:02X} of block 3 in superblock 1 of vector .1, 2., .* expected 0x00 to 0x7E; nan_scale"
    with pytest.raises(ng.Error, match=message):
        ng.gguf.unpack(blocks)
    if scale != 0x7F:
        with pytest.raises(ng.Error, match="expected 0x00 to 0x7E"):
            ng.gguf.unpack(blocks, nan_scale="zero")
        return
    values = np.asarray(ng.gguf.unpack(blocks, nan_scale="zero"))
    assert not values[1, 2, 112:].any()
    assert values[1, 2, :112].any()


def test_matrices_that_are_refused() -> None:
    for q, message in (
        (ng.quantize(W, "mxfp4"), "expected scheme nvfp4 along axis -1"),
        (ng.quantize(W, axis=-2), "expected scheme nvfp4 along axis -1; quantize it so, or take its mT"),
        (ng.quantize(W[..., :96], dialect="ggml"), "vectors of 96 elements; expected a multiple of 64; append zeros"),
        (ng.quantize(W), "tensor_scale .* expected 1, as dialect 'ggml' makes it; or keep it yourself"),
    ):
        with pytest.raises(ng.Error, match=message):
            ng.gguf.pack(q)
    bad = W.copy()
    bad[0, 1, 70] = np.nan
    with pytest.raises(ng.Error, match=r"scale 0x7F of block 0 in superblock 1 of vector \[0, 1\]"):
        ng.gguf.pack(ng.quantize(bad, dialect="ggml:nonfinite=nan_scale"))


def test_files(package: ModuleType, tmp_path: Path) -> None:
    """Written here and read by the package, and the other way round; the values are its own."""
    file = tmp_path / "a.gguf"
    q, other = ng.quantize(W, dialect="ggml"), ng.quantize(W[0], dialect="modelopt")
    bias = np.arange(5, dtype=F)
    ng.gguf.write(file, {"blk.0.ffn_up.weight": q, "output.weight": other, "output.bias": bias}, architecture="llama")
    assert ng.gguf.tensors(file) == {
        "blk.0.ffn_up.weight": ("NVFP4", (3, 5, 128)),
        "output.weight": ("NVFP4", (5, 128)),
        "output.scale": ("F32", (1,)),
        "output.bias": ("F32", (5,)),
    }
    assert ng.gguf.read(file, "blk.0.ffn_up.weight") == q
    assert ng.gguf.read(file, "blk.0.ffn_up.weight", index=2) == ng.quantize(W[2], dialect="ggml")
    assert ng.gguf.read(file, "output.weight") == other
    for tensor in package.GGUFReader(file).tensors:
        if tensor.name == "blk.0.ffn_up.weight":
            values = package.quants.dequantize(tensor.data, package.GGMLQuantizationType.NVFP4)
            np.testing.assert_array_equal(values, np.asarray(q))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gguf"]


def experts(package: ModuleType, file: Path) -> list[ng.QuantizedMatrix]:
    """A file as llama.cpp converts experts of ModelOpt's: a stack of matrices with a scale each."""
    made = [ng.quantize(matrix, dialect="modelopt") for matrix in W]
    blocks = np.stack([ng.gguf.pack(q, scale_apart=True) for q in made])
    writer = package.GGUFWriter(file, "llama")
    writer.add_tensor("blk.0.ffn_up_exps.weight", blocks, raw_dtype=package.GGMLQuantizationType.NVFP4)
    writer.add_tensor("blk.0.ffn_up_exps.scale", np.array([q.tensor_scale for q in made], F))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return made


def test_experts(package: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "experts.gguf"
    name = "blk.0.ffn_up_exps.weight"
    made = experts(package, file)
    assert [ng.gguf.read(file, name, index=i) for i in range(3)] == made
    with pytest.raises(ng.Error, match="has 3 scales, one a matrix; expected one; read its 3 matrices one by one"):
        ng.gguf.read(file, name)
    with pytest.raises(ng.Error, match="index is 3; expected 0 to 2"):
        ng.gguf.read(file, name, index=3)


def test_files_that_are_refused(package: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "a.gguf"
    ng.gguf.write(file, {"a.weight": ng.quantize(W, dialect="ggml"), "bias": np.zeros(3, np.float16)})
    for name, message in (
        ("b.weight", "has no tensor 'b.weight'; expected one of a.weight, bias"),
        ("bias", "tensor 'bias' is of type F16; expected NVFP4"),
    ):
        with pytest.raises(ng.Error, match=message):
            ng.gguf.read(file, name)
    ng.gguf.write(tmp_path / "b.gguf", {"b.weight": ng.quantize(W[0], dialect="ggml")})
    with pytest.raises(ng.Error, match=r"index is 0 of tensor 'b\.weight', which is one matrix; expected None"):
        ng.gguf.read(tmp_path / "b.gguf", "b.weight", index=0)
    whole = file.read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 40)):
        file.write_bytes(whole[:length])
        with pytest.raises(ng.Error, match="cannot read"):
            ng.gguf.read(file, "a.weight")
    with pytest.raises(ng.Error, match=r"cannot read .*No such file"):
        ng.gguf.tensors(tmp_path / "none.gguf")
    for tensors, message in (
        ({"a": ng.quantize(W)}, "goes into a tensor of its own; expected a name that ends in .weight"),
        ({"a.weight": ng.quantize(W, "mxfp4")}, "tensor 'a.weight' cannot be written: .* expected scheme nvfp4"),
        ({"a": np.zeros(3, int)}, "tensor 'a' has dtype int64; expected a QuantizedMatrix, float16 or float32"),
    ):
        with pytest.raises(ng.Error, match=message):
            ng.gguf.write(tmp_path / "c.gguf", tensors)
    with pytest.raises(ng.Error, match="cannot write"):
        ng.gguf.write(tmp_path / "no" / "c.gguf", {})
    assert not (tmp_path / "c.gguf").exists()


def test_without_the_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "gguf", None)
    for call in (lambda: ng.gguf.read(tmp_path / "a.gguf", "a"), lambda: ng.gguf.write(tmp_path / "a.gguf", {})):
        with pytest.raises(ng.Error, match=r"a GGUF file needs the package gguf: install narrowgauge\[gguf\]"):
            call()
