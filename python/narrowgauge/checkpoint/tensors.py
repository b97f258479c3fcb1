# SPDX-License-Identifier: Apache-2.0
"""Tensors of .safetensors files by name: one file, a folder of them, or the shards that an index lists. Files are mapped, not read."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._arguments import path as file_path
from .._arguments import shown
from .._core import Error

INDEX = ".safetensors.index.json"
MOST_INDEX = 2**28  # bytes
#: Types whose elements are numbers here; those of a byte and less stay codes.
NUMBERS = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "U64": np.uint64, "I32": np.int32,
    "U32": np.uint32, "I16": np.int16, "U16": np.uint16, "I8": np.int8, "U8": np.uint8, "BOOL": np.uint8,
}  # fmt: skip
BYTES = ("F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F8_E8M0")


class Tensor(NamedTuple):
    """A tensor of a checkpoint: its type by the format's name of it ('F8_E4M3'), and its file among the checkpoint's."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: int
    number: int

    @property
    def nbytes(self) -> int:
        """Bytes in the file."""
        return math.prod(self.shape) * BITS.get(self.dtype, 8) // 8


BITS = {"F4": 4, "F6_E2M3": 6, "F6_E3M2": 6} | {
    name: 64 if "64" in name else 32 if "32" in name else 16 if "16" in name else 8
    for name in (*NUMBERS, "BF16", "C64")
}


def _object(path: Path, text: bytes) -> dict[str, Any]:
    try:
        made = json.loads(text)
    except (ValueError, RecursionError):
        made = None
    if not isinstance(made, dict):
        raise Error(f"{shown(str(path))} is no object of JSON; expected an index with a weight_map; copy it again")
    return made


class Tensors:
    """All tensors of a checkpoint.

    path: a .safetensors file, an index of shards (model.safetensors.index.json), or a folder with either.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(file_path("path", path))
        self.index: Path | None = None
        self.paths = self._find()
        self._files = [_core.SafetensorsFile(os.fspath(file)) for file in self.paths]
        self.metadata: dict[str, str] = {}
        self._all: dict[str, Tensor] = {}
        for number, (file, place) in enumerate(zip(self._files, self.paths, strict=True)):
            self.metadata.update(file.metadata)
            for i, (name, dtype, shape) in enumerate(file.tensors):
                if name in self._all:
                    first = self.paths[self._all[name].file]
                    raise Error(f"tensor '{name}' is in {first.name} and in {place.name}; expected it in one file")
                self._all[name] = Tensor(name, dtype, tuple(shape), number, i)
        if self.index is not None:
            self._check_index()

    def _find(self) -> list[Path]:
        if self.path.is_dir():
            found = sorted(self.path.glob("*" + INDEX)) or sorted(self.path.glob("*.safetensors"))
            if not found:
                raise Error(f"folder {shown(str(self.path))} has no .safetensors file; expected a checkpoint")
            if not found[0].name.endswith(INDEX):
                return found
            if len(found) > 1:
                raise Error(
                    f"folder {shown(str(self.path))} has {len(found)} indexes; expected one; name the one that is meant"
                )
            self.index = found[0]
        elif self.path.name.endswith(".json"):
            self.index = self.path
        else:
            return [self.path]
        return self._shards(self.index)

    def _shards(self, index: Path) -> list[Path]:
        try:
            if index.stat().st_size > MOST_INDEX:
                raise Error(f"{shown(str(index))} has {index.stat().st_size} bytes; expected at most {MOST_INDEX}")
            text = index.read_bytes()
        except OSError as error:
            raise Error(f"cannot read {shown(str(index))}: {error.strerror}; expected an index of shards") from None
        weights = _object(index, text).get("weight_map")
        if not isinstance(weights, dict) or not weights or not all(isinstance(file, str) for file in weights.values()):
            raise Error(f"{shown(str(index))} has no weight_map; expected names of tensors with a file each")
        self._weights: dict[str, str] = weights
        files = sorted(set(weights.values()))
        for file in files:
            if Path(file).name != file or "\0" in file or file in ("", ".", ".."):
                raise Error(f"{shown(str(index))} names the shard {shown(file)}; expected a file beside the index")
        return [index.parent / file for file in files]

    def _check_index(self) -> None:
        for name, file in self._weights.items():
            tensor = self._all.get(name)
            if tensor is None or self.paths[tensor.file].name != file:
                raise Error(
                    f"tensor '{name}' is not in {shown(file)}, where {shown(str(self.index))} has it; expected it there; "
                    "copy the shards again"
                )

    def __contains__(self, name: object) -> bool:
        return name in self._all

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __getitem__(self, name: str) -> Tensor:
        return self._all[name]

    def get(self, name: str) -> Tensor | None:
        return self._all.get(name)

    @property
    def sharded(self) -> bool:
        return self.index is not None or len(self.paths) > 1

    def raw(self, name: str) -> NDArray[np.uint8]:
        """The bytes where they are mapped, without a copy; read only."""
        tensor = self._all[name]
        return self._files[tensor.file].bytes(tensor.number)

    def array(self, name: str) -> NDArray[Any]:
        """Numbers, or codes of a byte each, in the tensor's shape; bfloat16 becomes float32, which is exact."""
        tensor = self._all[name]
        raw = self.raw(name)
        if tensor.dtype == "BF16":
            wide = raw.view(np.uint16).astype(np.uint32) << np.uint32(16)
            return wide.view(np.float32).reshape(tensor.shape)
        if tensor.dtype in BYTES:
            return raw.reshape(tensor.shape)
        if tensor.dtype not in NUMBERS:
            raise Error(f"tensor '{name}' is of type {tensor.dtype}; expected numbers of whole bytes")
        return raw.view(NUMBERS[tensor.dtype]).reshape(tensor.shape)
