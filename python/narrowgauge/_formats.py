# SPDX-License-Identifier: Apache-2.0
"""Number formats: values to codes and back, and codes as others store them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import flag, integer, text
from ._arguments import seed as checked_seed
from ._arguments import threads as checked_threads
from ._arrays import ArrayLike, any_array, code_array, ml_dtypes_module, ml_names, real_array, unpack_nibbles
from ._core import Error, FormatDesc


def formats() -> dict[str, FormatDesc]:
    """All number formats, by name."""
    return _core.formats()


def encode(
    x: ArrayLike,
    format: str,
    *,
    rounding: str = "nearest_even",
    overflow: str | None = None,
    random: ArrayLike | None = None,
    random_bits: int = 8,
) -> NDArray[np.unsignedinteger]:
    """Codes of values in a number format, each rounded once.

    x: array-like of any shape; float16, float32, float64, a type of ml_dtypes, or integers; each is rounded once. Integers
        beyond 2^53 count for 'stochastic' as far as 53 bits say.
    format: a name of formats().
    rounding: 'nearest_even', 'nearest_away', 'stochastic', 'toward_zero'.
    overflow: 'saturate', 'ieee', 'oracle' (the cast of ml_dtypes), 'oracle_saturate'; None: the format's own rule.
    random: for 'stochastic', integers of the shape of x, each in [0, 2**random_bits). A value moves away from zero
        if floor(delta * 2**random_bits) + random >= 2**random_bits, delta being its place in the step.
    random_bits: 1 to 32.

    Returns uint8, uint16 or uint32 (the smallest that holds the format), the shape of x.
    Raises Error for an unknown name, another dtype, or random words that do not fit.
    """
    return _core.encode(
        real_array(x, "x"),
        text("format", format),
        rounding=text("rounding", rounding),
        overflow=None if overflow is None else text("overflow", overflow),
        random=None if random is None else any_array(random, "random"),
        random_bits=integer("random_bits", random_bits, 1, 32),
    )


def decode(codes: ArrayLike, format: str) -> NDArray[np.float32]:
    """Values of codes, as float32, which holds every value of every format exactly.

    codes: array-like of any shape; uint8, uint16 or uint32, or the ml_dtypes type of the format.
    Returns float32 of the same shape; NaN codes become quiet NaNs of the same sign. The top bit of ue4m3 is ignored.
    Raises Error for an unknown format, another dtype, or a code beyond the format's bits.
    """
    return _core.decode(code_array(codes, "codes", text("format", format)), format)


def random_fields(seed: int, count: int, *, bits: int = 32, first: int = 0) -> NDArray[np.uint32]:
    """Random fields of a seed, those that stochastic rounding takes: element i of `quantize` rounds by field i.

    Field n is in the low bits of lane n mod L of block n // L of Philox4x32-10 (Salmon et al., SC'11) under key seed, a block being 128
    bits and a lane the narrowest of 8, 16 and 32 bits that holds a field. first: number of the first field, 0 to 2**63 - 1.

    Returns uint32, each uniform in [0, 2**bits). Raises Error for numbers out of range.
    """
    return _core.random_fields(
        checked_seed(seed),
        integer("first", first, 0, 2**63 - 1),
        integer("count", count, 0, 2**28),
        integer("bits", bits, 1, 32),
    )


def pack(codes: ArrayLike) -> NDArray[np.uint8]:
    """Two 4-bit codes a byte along the last axis, the even element in the low nibble, as PTX, CUTLASS and torch have it.

    codes: uint8, 0 to 15, of shape (..., K), K even; e2m1 also as ml_dtypes.float4_e2m1fn. Returns uint8, (..., K / 2).
    Raises Error for an odd K and for codes beyond 4 bits.
    """
    array = code_array(codes, "codes", "e2m1")
    if array.ndim == 0 or array.shape[-1] % 2:
        raise Error(f"codes have shape {array.shape}; expected an even number along the last axis; add a code 0")
    if array.size and array.max() > 15:
        raise Error(f"codes hold {array.max()}; expected codes of 4 bits, 0 to 15")
    narrow = array.astype(np.uint8)
    packed: NDArray[np.uint8] = narrow[..., 0::2] | narrow[..., 1::2] << np.uint8(4)
    return packed


def unpack(packed: ArrayLike) -> NDArray[np.uint8]:
    """What `pack` packed: uint8 of shape (..., K / 2) to codes of shape (..., K), the low nibble first."""
    array = any_array(packed, "packed")
    if array.dtype != np.uint8 or array.ndim == 0:
        raise Error(f"packed has dtype {array.dtype} and shape {array.shape}; expected uint8 of one dimension or more")
    return unpack_nibbles(array)


TILE_ROWS, TILE_BLOCKS = 128, 4


def _scale_bytes(scales: ArrayLike, name: str) -> NDArray[np.uint8]:
    """Scales of a byte each, as uint8, their ml_dtypes types included."""
    array = any_array(scales, name)
    if array.dtype.name in (*ml_names("ue4m3"), *ml_names("e8m0")):
        array = array.view(np.uint8)
    if array.dtype != np.uint8:
        raise Error(
            f"{name} have dtype {array.dtype}; expected uint8, float8_e4m3fn or float8_e8m0fnu, block scales of a byte each"
        )
    return array


def p3109_values(bits: int, precision: int, *, signed: bool = True, extended: bool = True) -> NDArray[np.float64]:
    """The values of codes 0 to 2**bits - 1 of BinaryKpP of the IEEE P3109 draft, which may change and allows no claim of conformance.

    bits: K, 3 to 8. precision: P, with the leading bit: 1 to K - 1 where signed, 1 to K else.
    signed: the draft's s or u. extended: its e, with infinities, or f, finite.

    >>> ng.p3109_values(8, 3)[[0x7E, 0x7F, 0x80]]
    array([49152.,    inf,    nan])

    Raises Error for widths out of range.
    """
    return _core.p3109_values(
        integer("bits", bits, 3, 8),
        integer("precision", precision, 1, 8),
        flag("signed", signed),
        flag("extended", extended),
    )


def swizzle_scales(scales: ArrayLike, *, threads: int = 0) -> NDArray[np.uint8]:
    """Block scales in the layout that cuBLAS, cuDNN and torch's scaled matrix products read, known as 128x4 or 32_4_4.

    scales: uint8 or the ml_dtypes type, (..., vectors, blocks), as a quantized matrix has them. Both are padded with zeros to
        whole tiles of 128 vectors x 4 blocks of 512 bytes; those of the same vectors follow each other. Within one,
        vector r and block b are at (r % 32) * 16 + (r // 32) * 4 + b.

    Returns uint8 of shape (..., 512 tiles): each matrix of a batch has tiles of its own.
    Raises Error for another type or fewer than two dimensions.
    """
    array = _scale_bytes(scales, "scales")
    if array.ndim < 2 or array.size == 0:
        raise Error(f"scales have shape {array.shape}; expected vectors x blocks, at least one of each")
    count = checked_threads(threads, array.size)
    made = _core.swizzle_scales(np.ascontiguousarray(array).reshape(-1, *array.shape[-2:]), count)
    return made.reshape(*array.shape[:-2], -1)


def unswizzle_scales(swizzled: ArrayLike, rows: int, blocks: int, *, threads: int = 0) -> NDArray[np.uint8]:
    """The inverse of `swizzle_scales`: (..., 512 tiles) to scales of shape (..., rows, blocks). Padding is not read.

    Raises Error for another type, and for a number of bytes that is not that of the layout.
    """
    array = _scale_bytes(swizzled, "swizzled")
    rows, blocks = integer("rows", rows, 1, 2**31), integer("blocks", blocks, 1, 2**31)
    tiles = -(-rows // TILE_ROWS) * -(-blocks // TILE_BLOCKS)
    if array.ndim == 0 or array.size == 0 or array.shape[-1] != 512 * tiles:
        raise Error(
            f"swizzled has shape {array.shape}; expected {512 * tiles} bytes along the last axis, the {tiles} tiles of {rows} "
            f"vectors of {blocks} blocks"
        )
    count = checked_threads(threads, array.size)
    made = _core.unswizzle_scales(np.ascontiguousarray(array).reshape(-1, array.shape[-1]), rows, blocks, count)
    return made.reshape(*array.shape[:-1], rows, blocks)


def to_ml_dtypes(codes: ArrayLike, format: str) -> NDArray[Any]:
    """Codes as an array of the ml_dtypes type of the format, without a copy: e2m1 as float4_e2m1fn, e4m3 and ue4m3 as
    float8_e4m3fn, e8m0 as float8_e8m0fnu; formats()[format].ml_dtype has the name.

    Such arrays are taken wherever codes or values are. Needs the package ml_dtypes.
    Raises Error for a format without such a type, and for codes beyond its bits.
    """
    if text("format", format) not in formats():
        raise Error(f"unknown number format '{format}'; expected one of {', '.join(formats())}")
    array = code_array(codes, "codes", format)
    names = ml_names(format)
    if not names:
        raise Error(f"ml_dtypes has no type for format '{format}': use decode() for its values")
    bits = formats()[format].bits
    if array.size and int(array.max()) >> bits:
        raise Error(f"codes hold {array.max()}; expected codes of {format}, 0 to {2**bits - 1}")
    width = 1 if bits <= 8 else 2 if bits <= 16 else 4
    if array.itemsize != width:
        array = array.astype(f"u{width}")
    module = np if names[0] in ("float16", "float32") else ml_dtypes_module("a view of codes as values")
    return array.view(getattr(module, names[0]))
