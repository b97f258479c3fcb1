# SPDX-License-Identifier: Apache-2.0
"""Chunks of a memory that a query attends to most: scores by MaxSim, the best k of them (docs/retrieval.md).

>>> keys = ng.quantize(ng.retrieval.rms_normalize(states))  # tokens x width, of all chunks one after another
>>> queries = ng.quantize(ng.retrieval.fold_query(q, w_key, gamma))
>>> scores = ng.retrieval.max_sim(ng.gemm(queries, keys.T), lengths)
>>> best = ng.retrieval.top_k(ng.retrieval.order_keys(scores), 8)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._arguments import integer, number
from .._arrays import ArrayLike, any_array, float32_array, real_array
from .._core import Error
from .._exact import odd

#: Bits of the keys that hardware orders by.
KEY_BITS = 24
MOST = 2**26


def _finite(x: ArrayLike, name: str, what: str, dimensions: int) -> NDArray[np.float64]:
    array = float32_array(x, name)
    if array.ndim != dimensions or not 0 < array.size <= MOST or not np.isfinite(array).all():
        raise Error(f"{name} has shape {array.shape}; expected finite numbers, {what}, {MOST} at most")
    return array.astype(np.float64)


def rms_normalize(x: ArrayLike, epsilon: float = 1e-6) -> NDArray[np.float32]:
    """Rows over their root mean square, found in float64 and rounded once: keys that all layers share, without gamma.

    x: rows x width. epsilon: added to the mean square, 0 or more. A row of zeros stays zero.
    Raises Error for other shapes and what is not finite.
    """
    rows = _finite(x, "x", "rows x width", 2)
    added = number("epsilon", epsilon)
    if not 0 <= added < math.inf:
        raise Error(f"epsilon is {added}; expected a finite number of 0 or more")
    root = np.sqrt(np.square(rows).mean(axis=1, keepdims=True) + added)
    normalized: NDArray[np.float32] = np.divide(rows, root, out=np.zeros_like(rows), where=root > 0).astype(np.float32)
    return normalized


def fold_query(q: ArrayLike, w_key: ArrayLike, gamma: ArrayLike) -> NDArray[np.float32]:
    """The query side of keys that are stored without their projection: (q w_key^T) * gamma, in float64, rounded once.

    Its product with a normalized state is that of q with the state's key. q: tokens x head. w_key: width x head. gamma: width, the
    weight of the norm. Returns tokens x width.

    Raises Error for shapes that do not fit and what is not finite.
    """
    queries, projection = _finite(q, "q", "tokens x head", 2), _finite(w_key, "w_key", "width x head", 2)
    weight = _finite(gamma, "gamma", "the width", 1)
    if projection.shape != (len(weight), queries.shape[1]):
        raise Error(f"w_key has shape {projection.shape}; expected {(len(weight), queries.shape[1])}, width x head")
    with np.errstate(over="ignore"):
        return ((queries @ projection.T) * weight).astype(np.float32)


def max_sim(dots: ArrayLike, lengths: ArrayLike) -> NDArray[np.float32]:
    """Scores of chunks: the largest product of each query token within a chunk, summed over query tokens, exact and rounded once.

    dots: query tokens x tokens of all chunks, one chunk after another; float32. lengths: tokens of each chunk, 1 or more.
    Returns float32, one score a chunk.

    Raises Error for lengths that do not add up to the tokens, and what is not finite.
    """
    products = _finite(dots, "dots", "query tokens x tokens", 2)
    sizes = any_array(lengths, "lengths")
    if (
        sizes.ndim != 1
        or sizes.dtype.kind not in "iu"
        or sizes.size > MOST
        or (sizes < 1).any()
        or (sizes > MOST).any()
    ):
        raise Error(
            f"lengths have dtype {sizes.dtype} and shape {sizes.shape}; expected integers of 1 or more, in one dimension"
        )
    sizes = sizes.astype(np.int64)
    if sizes.sum() != products.shape[1]:
        raise Error(f"lengths add up to {sizes.sum()}; expected the {products.shape[1]} tokens of dots")
    largest = np.maximum.reduceat(products, np.cumsum(sizes) - sizes, axis=1).T
    near = np.array([math.fsum(terms) for terms in largest.tolist()])
    lost = np.array([math.fsum([*terms, -total]) for terms, total in zip(largest.tolist(), near.tolist(), strict=True)])
    with np.errstate(over="ignore"):
        return odd(near, lost).astype(np.float32)


def order_keys(scores: ArrayLike) -> NDArray[np.uint32]:
    """Keys of 24 bits in the order of float32 scores: sign, exponent and the upper 15 bits of the significand, all of which are
    inverted for a negative number, and the sign for a positive one. Scores that agree so far have one key; -0 is below +0.

    Raises Error for NaNs.
    """
    array = float32_array(scores, "scores")
    if array.size > MOST or np.isnan(array).any():
        raise Error(f"scores have shape {array.shape}; expected numbers, {MOST} at most, and no NaN")
    codes = np.ascontiguousarray(array).view(np.uint32).reshape(array.shape)
    keys = np.where(codes >> np.uint32(31), ~codes, codes | np.uint32(2**31)) >> np.uint32(32 - KEY_BITS)
    return keys.astype(np.uint32)


def top_k(keys: ArrayLike, k: int) -> NDArray[np.intp]:
    """Places of the k largest along the last axis, largest first; of equal ones, the earlier first, as hardware has it that takes one
    candidate at a time.

    keys: numbers, or keys by order_keys; at most 2^26. k: 1 to the length of the last axis.
    Raises Error for another k, and for NaNs.
    """
    array = real_array(keys, "keys")
    if array.ndim == 0 or not 0 < array.size <= MOST or (array.dtype.kind == "f" and np.isnan(array).any()):
        raise Error(
            f"keys have shape {array.shape}; expected one dimension or more, {MOST} numbers at most, and no NaN"
        )
    count = integer("k", k, 1, array.shape[-1])
    backwards = np.argsort(array[..., ::-1], axis=-1, kind="stable")[..., ::-1][
        ..., :count
    ]  # the last of equals is the earliest
    places: NDArray[np.intp] = array.shape[-1] - 1 - backwards
    return places


@dataclass(frozen=True)
class Best:
    """What retrieve finds: numbers of chunks, best first, and their scores, which are exact sums of integers."""

    chunks: NDArray[np.intp]
    scores: NDArray[np.int64]


def _shared_fixed(numbers: NDArray[np.float32], exponent: int, bits: int) -> NDArray[np.int64]:
    """Numbers, none of them NaN, times 2^(bits + 125 - exponent), to nearest even, in `bits` bits."""
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    codes = np.ascontiguousarray(numbers).view(np.uint32).reshape(numbers.shape).astype(np.int64)
    stored, fraction, negative = codes >> 23 & 0xFF, codes & 0x7FFFFF, codes >> 31 != 0
    own = np.maximum(stored, 1)
    significand = fraction | np.where(stored != 0, 0x800000, 0)
    left = bits - 25 - (exponent - own)
    # Beyond 25 places to the right nothing is left, and above 31 to the left the number saturates.
    right = np.clip(-left, 0, 26)
    half = np.where(right > 0, np.int64(1) << np.maximum(right - 1, 0), 0)
    shifted, lost = significand >> right, significand & ((np.int64(1) << right) - 1)
    up = (right > 0) & ((lost > half) | ((lost == half) & (shifted & 1 == 1)))
    magnitude = np.where(left >= 0, significand << np.clip(left, 0, 31), shifted + up)
    fixed = np.where(negative, -magnitude, np.minimum(magnitude, most))
    saturates = (stored == 255) | (own > exponent)
    integers: NDArray[np.int64] = np.where(saturates, np.where(negative, least, most), fixed)
    return integers


def retrieve(products: ArrayLike, tokens: int, k: int, *, exponent: int | None = None, product_bits: int = 24) -> Best:
    """The best chunks of a memory as ng_retrieve finds them behind a tile: products as integers under a shared exponent, the
    largest of each query token summed exactly over query tokens, the best k; of equal scores the earlier chunk first.

    products: tokens of the memory x query tokens, chunk after chunk, float32; infinities saturate, and a NaN is the least
    integer. tokens: of a chunk. k: chunks that are found, at most. product_bits: of an integer, 2 to 56. exponent: 1 to 255,
    so that products below 2^(exponent - 126) fit; None takes that of the largest finite magnitude. At most 256 query tokens.
    Returns min(k, chunks) chunks with their scores; the unit's keys are the scores with the sign inverted.

    Raises Error for other shapes, chunks that are not full and what is out of range. Source: docs/units/retrieve.md.
    """
    array = float32_array(products, "products")
    if array.ndim != 2 or not 0 < array.size <= MOST or array.shape[1] > 256:
        raise Error(
            f"products have shape {array.shape}; expected tokens x query tokens, of these 1 to 256, {MOST} numbers at most"
        )
    length = integer("tokens", tokens, 1, MOST)
    if len(array) % length:
        raise Error(f"products have {len(array)} tokens; expected full chunks of {length}")
    count, bits = integer("k", k, 1, MOST), integer("product_bits", product_bits, 2, 56)
    if exponent is None:
        finite = np.abs(array[np.isfinite(array)])
        shared = max(1, int(finite.max(initial=0).view(np.uint32)) >> 23)
    else:
        shared = integer("exponent", exponent, 1, 255)
    # The integers are in the order of the numbers, and a NaN is what -infinity is: the largest number has the largest integer.
    numbers = np.where(np.isnan(array), np.float32(-np.inf), array)
    largest = numbers.reshape(-1, length, array.shape[1]).max(axis=1)
    step = 2**12  # chunks at a time, so that integers take little memory
    parts = [_shared_fixed(largest[at : at + step], shared, bits).sum(axis=1) for at in range(0, len(largest), step)]
    scores = np.concatenate(parts)
    chunks = top_k(scores, min(count, len(scores)))
    return Best(chunks, scores[chunks])


__all__ = ["Best", "fold_query", "max_sim", "order_keys", "retrieve", "rms_normalize", "top_k"]
