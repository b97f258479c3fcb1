# SPDX-License-Identifier: Apache-2.0
"""NVFP4 of GGUF files, those of llama.cpp: superblocks and whole tensors, to quantized matrices and back, bit for bit.

>>> q = ng.quantize(w, dialect="ggml")  # as llama.cpp quantizes
>>> blocks = ng.gguf.pack(q)  # 36 bytes for 64 elements
>>> ng.gguf.unpack(blocks) == q
>>> ng.gguf.write("w.gguf", {"blk.0.ffn_up.weight": q})
>>> ng.gguf.read("w.gguf", "blk.0.ffn_up.weight") == q

A superblock is 4 block scales of UE4M3, a byte each, and 32 bytes of codes: byte 8 b + j has elements j (low nibble) and j + 8 of
block b. A tensor NAME.weight may have a scale of its own in NAME.scale, as those that llama.cpp converts from ModelOpt's
checkpoints have. Files need the package gguf.
"""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._arguments import flag, instance, integer, shown, text
from ._arguments import path as file_path
from ._arrays import ArrayLike, any_array
from ._core import Error
from ._quantized import QuantizedMatrix

__all__ = ["pack", "read", "tensors", "unpack", "write"]

SUPERBLOCK, SUPERBLOCK_BYTES = 64, 36
BLOCKS, BLOCK = 4, 16
LARGEST_SCALE = 0x7E


def pack(q: QuantizedMatrix, *, scale_apart: bool = False) -> NDArray[np.uint8]:
    """Superblocks of a quantized matrix.

    q: of scheme 'nvfp4', along its last axis, whose length is a multiple of 64. Superblocks hold no scale of the tensor, so that
        of q is 1, as the dialect 'ggml' has it, unless scale_apart is True: then the caller keeps q.tensor_scale.

    Returns uint8, the shape of q with 36 bytes for each 64 elements. Raises Error for another matrix, and for block scales that
    are NaN, which llama.cpp would read as 0.
    """
    instance("q", q, QuantizedMatrix, "quantize() makes one")
    if q.scheme != "nvfp4" or q.axis != -1:
        raise Error(f"q is {q!r}; expected scheme nvfp4 along axis -1; quantize it so, or take its mT")
    if q.k % SUPERBLOCK:
        raise Error(f"q has vectors of {q.k} elements; expected a multiple of 64; append zeros before quantizing")
    if not flag("scale_apart", scale_apart) and q.tensor_scale != 1:
        raise Error(
            f"q has tensor_scale {q.tensor_scale:.9g}, which superblocks do not hold; expected 1, as dialect 'ggml' makes it; "
            "or keep it yourself, with scale_apart=True"
        )
    scales = np.asarray(q.scales) & np.uint8(0x7F)
    _check_scales(scales, "q")
    lead = q.shape[:-1]
    low, high = np.moveaxis(q.codes.reshape(*lead, -1, BLOCKS, 2, BLOCK // 2), -2, 0)
    codes = (low | high << np.uint8(4)).reshape(*lead, -1, SUPERBLOCK // 2)
    return np.concatenate([scales.reshape(*lead, -1, BLOCKS), codes], axis=-1).reshape(*lead, -1)


def unpack(blocks: ArrayLike, *, tensor_scale: float = 1.0, nan_scale: str = "refuse") -> QuantizedMatrix:
    """The quantized matrix of superblocks, along axis -1.

    blocks: uint8 of shape (..., 36 n), whole superblocks. tensor_scale: what is kept beside them.
    nan_scale: what a block scale of 0x7F is, NaN in UE4M3: 'refuse', or 'zero', which is how llama.cpp decodes it.

    Returns a matrix of shape (..., 64 n). Raises Error for another type, for bytes that are no whole superblocks, and for block
    scales beyond 0x7E, with the place.
    """
    array = any_array(blocks, "blocks")
    if array.dtype != np.uint8 or array.ndim == 0:
        raise Error(f"blocks have dtype {array.dtype} and shape {array.shape}; expected uint8 of one dimension or more")
    if array.size == 0 or array.shape[-1] % SUPERBLOCK_BYTES:
        raise Error(
            f"blocks have shape {array.shape}; expected a multiple of 36 bytes along the last axis, whole superblocks of 64 "
            "elements; they are cut off, or of another type than NVFP4"
        )
    if text("nan_scale", nan_scale) not in ("refuse", "zero"):
        raise Error(f"nan_scale is {shown(nan_scale)}; expected one of refuse, zero")
    lead = array.shape[:-1]
    parts = array.reshape(*lead, -1, SUPERBLOCK_BYTES)
    scales, codes = parts[..., :BLOCKS].reshape(*lead, -1), parts[..., BLOCKS:].reshape(*lead, -1, BLOCK // 2)
    if nan_scale == "zero":
        scales = np.where(scales == 0x7F, np.uint8(0), scales)
    _check_scales(scales, "blocks")
    elements = np.concatenate([codes & np.uint8(15), codes >> np.uint8(4)], axis=-1)
    return QuantizedMatrix("nvfp4", "e2m1", elements.reshape(*lead, -1), scales, tensor_scale)


def _check_scales(scales: NDArray[np.uint8], name: str) -> None:
    beyond = scales > LARGEST_SCALE
    if beyond.any():
        *row, block = (int(i) for i in np.argwhere(beyond)[0])
        has, remedy = (
            ("has", "quantize without nonfinite=nan_scale")
            if name == "q"
            else ("have", "nan_scale='zero' reads 0x7F as llama.cpp does")
        )
        raise Error(
            f"{name} {has} scale 0x{scales[(*row, block)]:02X} of block {block % BLOCKS} in superblock {block // BLOCKS} of vector "
            f"{row}, which is no number of UE4M3; expected 0x00 to 0x7E; {remedy}"
        )


def tensors(path: str | os.PathLike[str]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Name, type and shape of every tensor of a GGUF file, the contraction last: {'blk.0.ffn_up.weight': ('NVFP4', (64, 128))}.

    Raises Error where the file cannot be read, or the package gguf is missing.
    """
    return {tensor.name: (tensor.tensor_type.name, _shape_of(tensor)) for tensor in _reader(path).tensors}


def read(
    path: str | os.PathLike[str], name: str, *, index: int | None = None, nan_scale: str = "refuse"
) -> QuantizedMatrix:
    """A tensor of type NVFP4 of a GGUF file.

    name: one of tensors(path). The scale of 'X.weight' is that of 'X.scale' where the file has one, else 1.
    index: of a tensor of three dimensions, the matrix of this number, which may have a scale of its own. nan_scale: as for `unpack`.

    Raises Error where the file or the tensor cannot be read, another type of tensor, and the package gguf that is missing.
    """
    file = shown(file_path("path", path))
    found = {tensor.name: tensor for tensor in _reader(path).tensors}
    if text("name", name) not in found:
        known = ", ".join(sorted(found)[:8])
        raise Error(f"{file} has no tensor '{name}'; expected one of {known}; gguf.tensors(path) has all {len(found)}")
    tensor = found[name]
    if tensor.tensor_type.name != "NVFP4":
        raise Error(
            f"tensor '{name}' is of type {tensor.tensor_type.name}; expected NVFP4; the package gguf decodes others"
        )
    blocks = np.array(tensor.data, np.uint8).reshape(*_shape_of(tensor)[:-1], -1)
    side = found.get(f"{name.removesuffix('.weight')}.scale")
    scales = np.ones(1, np.float32) if side is None else np.array(side.data, np.float32).reshape(-1)
    if index is not None:
        if blocks.ndim < 3:
            raise Error(f"index is {shown(index)} of tensor '{name}', which is one matrix; expected None")
        place = integer("index", index, 0, len(blocks) - 1)
        blocks, scales = blocks[place], scales if len(scales) == 1 else scales[place : place + 1]
    if len(scales) != 1:
        raise Error(
            f"tensor '{name}' has {len(scales)} scales, one a matrix; expected one; read its {len(blocks)} matrices one by one, "
            "with index"
        )
    return unpack(blocks, tensor_scale=float(scales[0]), nan_scale=nan_scale)


def write(
    path: str | os.PathLike[str],
    tensors: Mapping[str, QuantizedMatrix | NDArray[Any]],
    *,
    architecture: str = "narrowgauge",
) -> None:
    """A GGUF file of tensors: quantized matrices as type NVFP4, arrays of float16 or float32 as they are.

    tensors: by name; a quantized matrix is as for `pack`, and where its tensor_scale is not 1 it is named 'X.weight', and the
        scale is written as 'X.scale'. architecture: of the file, its key general.architecture.

    The file is written whole or not at all. Raises Error for what `pack` refuses, and where it cannot be written.
    """
    target = Path(file_path("path", path))
    instance("tensors", tensors, Mapping, "it has quantized matrices and arrays by name")
    text("architecture", architecture)
    module = _package()
    made: dict[str, NDArray[Any]] = {}
    quantized = set()
    for name, tensor in tensors.items():
        if not isinstance(tensor, QuantizedMatrix):
            array = any_array(tensor, f"tensor '{text('name', name)}'")
            if array.dtype not in (np.float16, np.float32):
                raise Error(f"tensor '{name}' has dtype {array.dtype}; expected a QuantizedMatrix, float16 or float32")
            made[name] = np.ascontiguousarray(array)
            continue
        try:
            made[text("name", name)] = pack(tensor, scale_apart=True)
        except Error as error:
            raise Error(f"tensor '{name}' cannot be written: {error}") from None
        quantized.add(name)
        if tensor.tensor_scale != 1:
            side = f"{name.removesuffix('.weight')}.scale"
            if not name.endswith(".weight") or side in tensors:
                raise Error(
                    f"tensor '{name}' has tensor_scale {tensor.tensor_scale:.9g}, which goes into a tensor of its own; expected a "
                    "name that ends in .weight, and no other tensor of that name with .scale"
                )
            made[side] = np.array([tensor.tensor_scale], np.float32)
    temporary = Path(f"{target}.part")
    try:
        writer = module.GGUFWriter(temporary, architecture)
        for name, array in made.items():
            writer.add_tensor(name, array, raw_dtype=module.GGMLQuantizationType.NVFP4 if name in quantized else None)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        os.replace(temporary, target)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise Error(f"cannot write {shown(str(target))}: {error}") from None


def _package() -> Any:
    try:
        module = importlib.import_module("gguf")
    except ImportError as error:
        raise Error("a GGUF file needs the package gguf: install narrowgauge[gguf]") from error
    if not hasattr(module.GGMLQuantizationType, "NVFP4"):
        raise Error("the package gguf has no type NVFP4; expected version 0.19 or newer; install narrowgauge[gguf]")
    return module


def _reader(path: str | os.PathLike[str]) -> Any:
    file = file_path("path", path)
    module = _package()
    try:
        return module.GGUFReader(file)
    except OSError as error:
        raise Error(f"cannot read {shown(file)}: {error}") from None
    except Exception as error:  # whatever a damaged file makes the package raise
        reason = " ".join(str(error).split()) or type(error).__name__
        raise Error(f"cannot read {shown(file)}: {reason}; expected a whole GGUF file; copy it again") from error


def numbers(path: str | os.PathLike[str], name: str) -> NDArray[np.float32]:
    """A tensor of numbers, as float32. For the reader of checkpoints, which knows that the file has it."""
    found = next((tensor for tensor in _reader(path).tensors if tensor.name == name), None)
    if found is None or found.tensor_type.name not in ("F32", "F16"):
        raise Error(f"tensor '{name}' is no tensor of float32 or float16; expected scales")
    return np.array(found.data, np.float32).reshape(-1)


def _shape_of(tensor: Any) -> tuple[int, ...]:
    """GGUF has the contraction first."""
    shape = tuple(int(n) for n in reversed(tensor.shape))
    if math.prod(shape) == 0:
        raise Error(f"tensor '{tensor.name}' has shape {shape}; expected no dimension of 0")
    return shape
