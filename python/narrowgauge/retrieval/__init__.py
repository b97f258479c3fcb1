# SPDX-License-Identifier: Apache-2.0
"""Chunks of a memory that a query attends to most: scores by MaxSim, the best k of them (docs/retrieval.md).

>>> keys = ng.quantize(ng.retrieval.rms_normalize(states))  # tokens x width, of all chunks one after another
>>> queries = ng.quantize(ng.retrieval.fold_query(q, w_key, gamma))
>>> scores = ng.retrieval.max_sim(ng.gemm(queries, keys.T), lengths)
>>> best = ng.retrieval.top_k(ng.retrieval.order_keys(scores), 8)
"""

from __future__ import annotations

import math

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


__all__ = ["fold_query", "max_sim", "order_keys", "rms_normalize", "top_k"]
