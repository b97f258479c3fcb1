# SPDX-License-Identifier: Apache-2.0
"""Noise on weights and activations, white (PNI) and coloured (CPNI), and predictions that are smoothed over runs (docs/noise.md).

>>> x = ng.noise.pni(x, 0.25, seed=1)  # a normal number for each element
>>> w = ng.noise.cpni(w, np.full(w.shape, 0.0625), np.full((*w.shape, 5), 0.01), seed=2)
>>> scores = np.stack([network(images, seed) for seed in range(16)])
>>> ng.noise.smoothed(scores)[..., 0]  # the class for which most runs vote
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import integer, one_of
from ._arguments import seed as checked_seed
from ._arrays import ArrayLike, any_array, float32_array, real_array
from ._core import Error

METHODS = ("votes", "logits", "probabilities")
MOST_NORMALS = 2**27
#: Classes that counts of runs are kept for, and of them those that a run ranks.
MOST_RANKS = 2**10


def normals(seed: int, count: int, *, first: int = 0) -> NDArray[np.float64]:
    """Numbers of N(0, 1), the same on every machine.

    Number i is by Box and Muller's rule of fields 2i and 2i + 1 of 32 bits of the seed (random_fields). first: number of the first,
    0 to 2**61. count: up to 2**27.

    Raises Error for numbers out of range.
    """
    return _core.random_normals(
        checked_seed(seed), integer("first", first, 0, 2**61), integer("count", count, 0, MOST_NORMALS)
    )


def _normal_numbers(normals_or_none: ArrayLike | None, seed: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
    size = math.prod(shape)
    if normals_or_none is None:
        return normals(seed, size).reshape(shape)
    array = real_array(normals_or_none, "normals")
    if array.shape != shape or not np.isfinite(array).all():
        raise Error(f"normals have shape {array.shape}; expected finite numbers of shape {shape}")
    return array.astype(np.float64)


def _finite(x: ArrayLike, name: str) -> NDArray[np.float64]:
    array = float32_array(x, name)
    if array.size > MOST_NORMALS or not np.isfinite(array).all():
        raise Error(f"{name} has shape {array.shape}; expected finite numbers, {MOST_NORMALS} at most")
    return array.astype(np.float64)


def _disturbed(x: ArrayLike) -> tuple[NDArray[np.float64], float]:
    array = _finite(x, "x")
    if array.size < 2:
        raise Error(f"x has shape {array.shape}; expected two numbers or more, which have a standard deviation")
    return array, float(array.std(ddof=1))


def pni(
    x: ArrayLike, alpha: ArrayLike = 0.25, *, seed: int = 0, normals: ArrayLike | None = None
) -> NDArray[np.float32]:
    """x with white noise: x + alpha std(x) n, a number n of N(0, 1) for each element, rounded once to float32.

    x: weights, or activations with samples along the first axes. std(x): of all its elements, divided by n - 1.
    alpha: a number, or an array of the last axes of x, as of one sample. The paper trains it from 0.25 on.
    normals: n, of x's shape, from elsewhere; None takes those of the seed.

    Raises Error for shapes that do not fit, numbers that are not finite, and fewer than two elements.
    """
    array, std = _disturbed(x)
    factor = _finite(alpha, "alpha")
    if factor.ndim > array.ndim or factor.shape != array.shape[array.ndim - factor.ndim :]:
        raise Error(f"alpha has shape {factor.shape}; expected a number, or the last axes of x, {array.shape}")
    return _rounded(array + factor * (std * _normal_numbers(normals, seed, array.shape)))


def cpni(
    x: ArrayLike,
    diagonal: ArrayLike,
    factors: ArrayLike,
    *,
    seed: int = 0,
    normals: tuple[ArrayLike, ArrayLike] | None = None,
) -> NDArray[np.float32]:
    """x with coloured noise z = sqrt(|std(x) d|) n + F m, rounded once to float32: one z for all samples.

    x: weights, or activations with samples along the first axes. std(x): of all its elements, divided by n - 1.
    diagonal: d, of the last axes of x, as of one sample. factors: F, of diagonal's shape and a last axis more, the rank.
    The paper trains d from 0.0625 and F from 0.01 on, at rank 5.
    normals: n, of diagonal's shape, and m, as many as the rank, from elsewhere; None takes those of the seed, n before m.

    Raises Error for shapes that do not fit, numbers that are not finite, and fewer than two elements.
    """
    array, std = _disturbed(x)
    own, common = _finite(diagonal, "diagonal"), _finite(factors, "factors")
    if own.ndim > array.ndim or own.shape != array.shape[array.ndim - own.ndim :]:
        raise Error(f"diagonal has shape {own.shape}; expected the last axes of x, {array.shape}")
    if common.ndim != own.ndim + 1 or common.shape[:-1] != own.shape:
        raise Error(f"factors have shape {common.shape}; expected diagonal's, {own.shape}, and the rank")
    if normals is None:
        drawn = _normal_numbers(None, seed, (own.size + common.shape[-1],))
        mine, shared = drawn[: own.size].reshape(own.shape), drawn[own.size :]
    elif isinstance(normals, tuple) and len(normals) == 2:
        mine = _normal_numbers(normals[0], seed, own.shape)
        shared = _normal_numbers(normals[1], seed, common.shape[-1:])
    else:
        raise Error("normals are no pair of arrays; expected one of diagonal's shape, and one as long as the rank")
    return _rounded(array + np.sqrt(np.abs(std * own)) * mine + common @ shared)


def _rounded(values: NDArray[np.float64]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


# ---- Smoothed predictions


def _scores(scores: ArrayLike, ranks: int) -> tuple[NDArray[np.float64], int]:
    array = _finite(scores, "scores")
    if array.ndim < 2 or array.size == 0:
        raise Error(f"scores have shape {array.shape}; expected runs x classes, with samples between, if any")
    return array, integer("ranks", ranks, 1, min(array.shape[-1], MOST_RANKS))


def histograms(scores: ArrayLike, ranks: int = 5) -> NDArray[np.uint32]:
    """How many runs have a class at a rank: [..., ranks, classes], rank 0 being the run's largest score.

    scores: [runs, ..., classes]. Of equal scores, the class of the lower number has the better rank.
    Raises Error for other shapes, scores that are not finite, and unless ranks are 1 to the number of classes.
    """
    array, count = _scores(scores, ranks)
    order = np.argsort(-array, axis=-1, kind="stable")[..., :count]
    made = np.zeros((*order.shape[1:], array.shape[-1]), np.uint32)
    for run in order:
        places = np.take_along_axis(made, run[..., None], axis=-1)
        np.put_along_axis(made, run[..., None], places + np.uint32(1), axis=-1)
    return made


def elected(histograms: ArrayLike) -> NDArray[np.intp]:
    """Classes in the order of their votes, [..., ranks]: that of rank j has most votes in histogram j of all classes that no rank
    before has taken, and of equal ones the lowest number.

    histograms: integers, [..., ranks, classes], of no more ranks than classes. Raises Error for others.
    """
    votes = any_array(histograms, "histograms")
    if votes.ndim < 2 or votes.dtype.kind not in "iu" or not 0 < votes.shape[-2] <= votes.shape[-1] or votes.size == 0:
        raise Error(
            f"histograms have dtype {votes.dtype} and shape {votes.shape}; expected integers, ranks x classes along the last axes"
        )
    if votes.min() < 0 or votes.max() >= 2**32 or votes.size > MOST_NORMALS:
        raise Error(f"histograms hold {votes.min()} to {votes.max()}; expected counts of runs, 0 to 2**32 - 1")
    free = votes.astype(np.int64)
    chosen = np.empty(votes.shape[:-1], np.intp)
    for rank in range(votes.shape[-2]):
        best = free[..., rank, :].argmax(axis=-1)
        chosen[..., rank] = best
        np.put_along_axis(free, best[..., None, None], -1, axis=-1)
    return chosen


def smoothed(scores: ArrayLike, ranks: int = 5, method: str = "votes") -> NDArray[np.intp]:
    """The classes that several runs of a noisy network predict together, best first: [..., ranks].

    scores: [runs, ..., classes]. method: 'votes' elects classes by histograms of the runs' ranks, 'logits' orders them by the mean
    score, 'probabilities' by the mean softmax. One run gives its own order. Of equal classes the lower number is first.

    Raises Error as histograms does, and for another method.
    """
    if one_of("method", method, METHODS) == "votes":
        return elected(histograms(scores, ranks))
    array, count = _scores(scores, ranks)
    if method == "probabilities":
        array = np.exp(array - array.max(axis=-1, keepdims=True))
        array /= array.sum(axis=-1, keepdims=True)
    order: NDArray[np.intp] = np.argsort(-array.mean(axis=0), axis=-1, kind="stable")[..., :count]
    return order


__all__ = ["cpni", "elected", "histograms", "normals", "pni", "smoothed"]
