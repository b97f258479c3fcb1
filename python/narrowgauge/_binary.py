# SPDX-License-Identifier: Apache-2.0
"""Binary networks: dot products of bits by popcount, and thresholds that hold a batch norm (docs/binary.md).

>>> weights = ng.binarize_weights(w)
>>> counts = ng.popcount_dot(ng.binarize(x, shift), weights.bits)
>>> threshold = ng.fuse_batch_norm(gamma, beta, mean, variance, n=w.shape[-1], scale=weights.scale)
>>> bits = threshold.bits(counts)  # of the next layer
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import integer, number, one_of, shown
from ._arrays import ArrayLike, any_array, float32_array, real_array
from ._core import Error


@dataclass(frozen=True)
class BinaryWeights:
    """Weights of a binary layer: the weight is scale * (2 bit - 1).

    bits: uint8 of the weights' shape, 1 where w > 0, 0 elsewhere. scale: float32, the mean of |w| of each output channel.
    """

    bits: NDArray[np.uint8]
    scale: NDArray[np.float32]


@dataclass(frozen=True)
class PopcountThreshold:
    """Comparisons that make bits of popcounts, one for each output channel.

    value: int64, 0 to n + 1. at_most: bool; where True the bit is popcount <= value, elsewhere popcount >= value.
    """

    value: NDArray[np.int64]
    at_most: NDArray[np.bool_]

    def bits(self, popcounts: ArrayLike) -> NDArray[np.uint8]:
        """The bits of popcounts whose last axis is the output channels. Raises Error for other shapes and for fractions."""
        counts = any_array(popcounts, "popcounts")
        if counts.dtype.kind not in "iu" or counts.ndim == 0 or counts.shape[-1] != self.value.size:
            raise Error(
                f"popcounts have dtype {counts.dtype} and shape {counts.shape}; expected integers, {self.value.size} along "
                "the last axis"
            )
        return np.where(self.at_most, counts <= self.value, counts >= self.value).astype(np.uint8)


def _bits(bits: ArrayLike, name: str) -> NDArray[np.bool_]:
    array = any_array(bits, name)
    if array.dtype.kind not in "biu" or array.ndim != 2 or array.shape[1] == 0:
        raise Error(
            f"{name} has dtype {array.dtype} and shape {array.shape}; expected rows of bits, as booleans or integers 0 and 1"
        )
    if array.dtype.kind != "b" and array.size and not (array.min() >= 0 and array.max() <= 1):
        raise Error(f"{name} holds {array.min()} to {array.max()}; expected 0 and 1")
    return array.astype(bool)


def _packed(bits: ArrayLike, name: str) -> NDArray[np.uint8]:
    return np.packbits(_bits(bits, name), axis=1, bitorder="little")


def binarize(x: ArrayLike, shift: ArrayLike = 0.0) -> NDArray[np.uint8]:
    """Activations of ReActNet's binary layer: 1 where x > shift, 0, which stands for -1, elsewhere.

    x: numbers that float32 holds. shift: one number, or one for each place of the last axis. Raises Error for other shapes
    and for NaNs.
    """
    values, shifts = float32_array(x, "x"), float32_array(shift, "shift")
    if shifts.ndim > 1 or (shifts.ndim == 1 and (values.ndim == 0 or shifts.size != values.shape[-1])):
        raise Error(
            f"shift has shape {shifts.shape} beside x of shape {values.shape}; expected one number, or one for each place of "
            "the last axis"
        )
    return _core.binarize(values, shifts.reshape(-1)) if values.size else np.zeros(values.shape, np.uint8)


def binarize_weights(w: ArrayLike) -> BinaryWeights:
    """Weights of ReActNet's binary layer: the sign, and for each output channel, the first axis, the mean of |w|.

    w: finite numbers that float32 holds, two dimensions or more. Raises Error for other values and shapes.
    """
    values = float32_array(w, "w")
    if values.ndim < 2 or values.size == 0:
        raise Error(f"w has shape {values.shape}; expected output channels x inputs, one or more of each")
    bits, scale = _core.binarize_weights(values.reshape(values.shape[0], -1))
    return BinaryWeights(bits.reshape(values.shape), scale)


def popcount_dot(
    x: ArrayLike, w: ArrayLike, valid: ArrayLike | None = None, *, product: str = "xnor"
) -> NDArray[np.uint32]:
    """How many products of bits are 1, for each row of x with each row of w.

    x: rows x n bits, as booleans or integers 0 and 1. w: columns x n. valid: of x's shape, 0 where a place does not count, as in
    zero padding; None counts all. product: xnor, of numbers +1 and -1, or and, of two bit planes. Returns rows x columns.

    Raises Error for other shapes, values and products.
    """
    one_of("product", product, ("xnor", "and"))
    rows, columns = any_array(x, "x"), any_array(w, "w")
    packed_rows, packed_columns = _packed(rows, "x"), _packed(columns, "w")
    if rows.shape[1] != columns.shape[1]:
        raise Error(f"x has rows of {rows.shape[1]} bits and w of {columns.shape[1]}; expected equal lengths")
    packed_valid = None
    if valid is not None:
        mask = any_array(valid, "valid")
        packed_valid = _packed(mask, "valid")
        if mask.shape != rows.shape:
            raise Error(f"valid has shape {mask.shape}; expected x's shape, {rows.shape}")
        if not mask.shape[0]:
            packed_valid = None
    return _core.popcount_gemm(packed_rows, packed_columns, packed_valid, rows.shape[1], product == "and")


def xnor_dot(x: ArrayLike, w: ArrayLike, valid: ArrayLike | None = None) -> NDArray[np.int64]:
    """Dot products of numbers +1 and -1, bits 1 and 0: 2 popcount - n_valid. Arguments and errors are popcount_dot's."""
    counts = popcount_dot(x, w, valid).astype(np.int64)
    places = any_array(x, "x").shape[1]
    n_valid = places if valid is None else np.count_nonzero(any_array(valid, "valid"), axis=1)[:, None]
    dot: NDArray[np.int64] = 2 * counts - n_valid
    return dot


def fuse_batch_norm(
    gamma: ArrayLike,
    beta: ArrayLike,
    mean: ArrayLike,
    variance: ArrayLike,
    *,
    n: int,
    scale: ArrayLike = 1.0,
    epsilon: float = 1e-5,
) -> PopcountThreshold:
    """Thresholds of popcounts that give the sign of a batch norm over scale * (2 popcount - n), 1 where it is 0 or more.

    gamma, beta, mean, variance: one number for each output channel. n: places that count, at most 2^31 - 1. scale: of the
    weights, one number or one for each channel. Where gamma is 0 the bit is a constant.

    Raises Error for other shapes, for numbers that are not finite, and for a negative variance or scale.
    """
    count, small = integer("n", n, 1, 2**31 - 1), number("epsilon", epsilon)
    given = {"gamma": gamma, "beta": beta, "mean": mean, "variance": variance, "scale": scale}
    arrays = {name: real_array(value, name).astype(np.float64) for name, value in given.items()}
    size = arrays["gamma"].size
    for name, array in arrays.items():
        if array.ndim > 1 or array.size != (size if array.ndim else 1) or size == 0:
            raise Error(
                f"{name} is {shown(array)} beside gamma of shape {arrays['gamma'].shape}; expected one number for each output "
                "channel"
            )
    columns = [np.broadcast_to(arrays[name], (size,)).tolist() for name in given]
    fused = [_core.fuse_batch_norm(g, b, m, v, count, s, small) for g, b, m, v, s in zip(*columns, strict=True)]
    return PopcountThreshold(
        np.array([value for value, _ in fused], np.int64), np.array([most for _, most in fused], bool)
    )


def plane_sums(planes: ArrayLike, v: ArrayLike) -> NDArray[np.int64]:
    """Sums of the rows of v that each bit plane selects: a product of bits and integers without a multiplier.

    planes: planes x rows, booleans or integers 0 and 1. v: int8, rows x columns. Returns planes x columns. Raises Error for
    other shapes, types and values.
    """
    selected, values = _bits(planes, "planes"), any_array(v, "v")
    if values.dtype != np.int8 or values.ndim != 2 or values.shape[0] != selected.shape[1] or values.size == 0:
        raise Error(
            f"v has dtype {values.dtype} and shape {values.shape}; expected int8 of {selected.shape[1]} rows, one or more "
            "columns"
        )
    return _core.plane_sums(selected.astype(np.uint8), values)
