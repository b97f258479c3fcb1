# SPDX-License-Identifier: Apache-2.0
"""Compressed feature maps (docs/codec.md)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arguments import flag, integer
from ._arrays import any_array, float32_array
from ._core import Error


def _codes(x: ArrayLike, bits: int | None) -> NDArray[Any]:
    """The map as int8, uint8 or float32, in C order."""
    array = any_array(x, "x")
    if array.size == 0 or not 1 <= array.ndim <= 8:
        raise Error(f"x has shape {array.shape}: expected 1 to 8 dimensions and at least one value")
    if array.dtype in (np.uint8, np.int8):
        if bits is not None:
            raise Error(f"bits is {bits}: expected None for a map of {array.dtype}, which is coded without loss")
        return np.ascontiguousarray(array)
    return np.ascontiguousarray(float32_array(x, "x"))


def _bits(bits: int | None) -> int:
    return 8 if bits is None else integer("bits", bits, 2, 8)


def compress(x: ArrayLike, *, bits: int | None = None, tile: int = 4096, zero_runs: bool = True) -> bytes:
    """A feature map as a compressed file (docs/codec.md): static canonical Huffman codes, raw blocks, tiles.

    x: uint8 or int8, which is coded without loss, or real numbers, which are quantized first: one step for the whole map,
        its largest magnitude divided by the largest code; 1 to 8 dimensions. bits: of those codes, 2 to 8, None being 8.
        tile: values that are read without the others, 64 to 2^20. zero_runs: runs of zeros as symbols of their own where
        that makes the map smaller.

    Raises Error for other arrays, numbers that are not finite, and arguments out of range.
    """
    values = _codes(x, bits)
    size = integer("tile", tile, 64, 2**20)
    runs = flag("zero_runs", zero_runs)
    if values.dtype == np.float32:
        return _core.compress_real(values, _bits(bits), size, runs)
    return _core.compress_codes(values.view(np.uint8), values.dtype == np.int8, size, runs)


def decompress(data: bytes) -> NDArray[Any]:
    """The map of a file that compress() made: uint8 or int8 as it was, or codes times their step in float32.

    Raises Error, which says what is wrong, for anything else; nothing is read outside of it.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise Error(f"data is of type {type(data).__name__}: expected bytes")
    values, signed = _core.decompress(bytes(data))
    return values.view(np.int8) if signed and values.dtype == np.uint8 else values


def codec_report(x: ArrayLike, *, bits: int | None = None, tile: int = 4096) -> dict[str, float]:
    """Bits per value of a map in this codec and in the published ones that it is compared with, and its entropy.

    x, bits, tile: as for compress(). The keys: 'raw' 8; 'entropy' of the codes as independent numbers; 'zvc', 'zero_rle'
    and 'ebpc', the published codes; 'huffman', the file without runs of zeros; 'narrowgauge', the file. Both files count
    with head, table, index and checksums.

    Raises Error as compress() does.
    """
    values = _codes(x, bits)
    size = integer("tile", tile, 64, 2**20)
    if values.dtype == np.float32:
        return _core.report_real(values, _bits(bits), size)
    return _core.report_codes(values.view(np.uint8), values.dtype == np.int8, size)
