# SPDX-License-Identifier: Apache-2.0
"""Files that are written whole or not at all, and arrays that are read with no more memory than their file accounts for."""

from __future__ import annotations

import io
import math
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ._core import Error

#: The most that DEFLATE makes of a byte, with some room.
EXPANSION, ROOM = 1100, 4096


@contextmanager
def written_whole(path: str | Path, name: str) -> Iterator[BinaryIO]:
    """A file beside `path`, which takes its place at the end. Raises Error, which says `name`, where that cannot be."""
    temporary = Path(f"{path}.part")
    try:
        with temporary.open("wb") as file:
            yield file
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise Error(f"cannot write {name}: {error}") from None


class UnreadableError(ValueError):
    """Why a file has no arrays, in one line; the caller says which file, and what was expected."""


def _array(stream: IO[bytes], size: int) -> NDArray[Any]:
    """An array of .npy, of which `size` bytes are there."""
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise UnreadableError(f"it is .npy of version {version[0]}.{version[1]}, not 1.0 or 2.0")
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = header(stream)
    if dtype.hasobject:
        raise UnreadableError("it has objects of Python, not numbers")
    if any(extent < 0 for extent in shape):
        raise UnreadableError(f"its header has shape {shape}")
    count, left = math.prod(shape) * dtype.itemsize, size - stream.tell()
    if count > left:
        raise UnreadableError(
            f"its header has shape {shape} of {dtype}, {count} bytes, and the file has {left} of them"
        )
    made = bytearray(stream.read(count))
    if len(made) != count:
        raise UnreadableError(f"it ends after {len(made)} of {count} bytes")
    if dtype.itemsize == 0:
        return np.zeros(shape, dtype)
    return np.frombuffer(made, dtype).reshape(shape, order="F" if fortran else "C")


def _archive(stream: BinaryIO, size: int) -> dict[str, NDArray[Any]]:
    arrays = {}
    with zipfile.ZipFile(stream) as archive:
        for info in archive.infolist():
            if not info.filename.endswith(".npy"):
                continue
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise UnreadableError(f"its part {info.filename!r} is packed in a way that numpy does not write")
            if info.compress_size > size or info.file_size > EXPANSION * info.compress_size + ROOM:
                raise UnreadableError(
                    f"its part {info.filename!r} claims {info.file_size} bytes out of {info.compress_size}"
                )
            with archive.open(info) as member:
                arrays[info.filename.removesuffix(".npy")] = _array(member, info.file_size)
    return arrays


def read_arrays(source: str | os.PathLike[str] | bytes) -> NDArray[Any] | dict[str, NDArray[Any]]:
    """The array of .npy, or those of .npz by name; a file or its bytes.

    Raises UnreadableError in one line, for a header that claims more than the file has, too.
    """
    try:
        with io.BytesIO(source) if isinstance(source, bytes) else Path(source).open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(0)
            head = stream.read(6)
            stream.seek(0)
            if head == b"\x93NUMPY":
                return _array(stream, size)
            if head[:2] == b"PK":
                return _archive(stream, size)
            raise UnreadableError("it begins as neither .npy nor .npz")
    except UnreadableError:
        raise
    except OSError as error:
        raise UnreadableError(error.strerror or type(error).__name__) from None
    except Exception as error:  # what a damaged file makes numpy and zipfile raise
        raise UnreadableError(" ".join(str(error).split())[:200] or type(error).__name__) from None
