# SPDX-License-Identifier: Apache-2.0
"""N:M sparsity (docs/sparsity.md): pruning, masks, compressed storage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import integer, one_of, text
from ._arguments import seed as checked_seed
from ._arrays import ArrayLike, any_array, float32_array
from ._core import Error

METHODS = ("greedy", "mvue", "approx-mvue")


def _matrix(x: NDArray[Any], name: str) -> NDArray[Any]:
    if x.ndim != 2 or x.size == 0:
        raise Error(f"{name} has shape {x.shape}: expected two dimensions, both at least 1")
    return np.ascontiguousarray(x)


def prune(
    x: ArrayLike, pattern: str = "2:4", *, method: str = "greedy", seed: int = 0, random_bits: int = 16
) -> NDArray[np.float32]:
    """The matrix with zeros where the pattern wants them, float32, of the shape of x.

    >>> ng.prune([[1.0, -2.0, 3.0, 0.5]], "2:4")
    array([[ 0., -2.,  3.,  0.]], dtype=float32)

    x: two dimensions; blocks lie along the last one, whose length, with '-T' also that of the first, is a multiple of M.
    pattern: 'N:M', 'N:M-T' (transposable: 2:4 exact, others by the 2-approximation) or '4:8pair'. method: 'greedy' keeps
        the largest magnitudes; 'mvue' (1:2 and 2:4) and 'approx-mvue' (2:4) keep some at random and scale them up, so that
        the expectation is x (arXiv 2203.10991). seed, random_bits: of their random words, 1 to 32 bits a word of mvue.

    Raises Error for NaN and infinity, shapes that do not fit, and methods that do not know the pattern.
    """
    values = _matrix(float32_array(x, "x"), "x")
    return _core.prune(
        values,
        text("pattern", pattern),
        method=one_of("method", method, METHODS),
        seed=checked_seed(seed),
        random_bits=integer("random_bits", random_bits, 1, 32),
    )[0]


def sparsity_mask(x: ArrayLike, pattern: str = "2:4") -> NDArray[np.bool_]:
    """What prune(x, pattern) keeps: True where an element stays, of the shape of x. Raises Error as prune() does."""
    values = _matrix(float32_array(x, "x"), "x")
    return _core.prune(values, text("pattern", pattern), method="greedy", seed=0, random_bits=16)[1].view(np.bool_)


def pruning_error(x: ArrayLike, pattern: str = "2:4", *, method: str = "greedy") -> float:
    """Squared error of prune(x, pattern) over the sum of squares; of random methods the expectation, in closed form."""
    values = _matrix(float32_array(x, "x"), "x")
    return _core.pruning_error(values, text("pattern", pattern), method=one_of("method", method, METHODS))


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A matrix of which half is stored, with the metadata of NVIDIA's sparse instructions (docs/sparsity.md).

    values: what is stored, float32 or uint8 codes, rows x columns / 2. metadata: uint8, a nibble a group, two a byte, the
        first in the low half. pattern: '1:2', '2:4', '2:4-T' or '4:8pair'. shape: of the matrix.
    """

    values: NDArray[Any]
    metadata: NDArray[np.uint8]
    pattern: str
    shape: tuple[int, int]

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes + self.metadata.nbytes)

    def to_dense(self) -> NDArray[Any]:
        """The matrix, with zeros where nothing is stored. Raises Error for illegal metadata, naming row and group."""
        restore = _core.dense_codes if self.values.dtype == np.uint8 else _core.dense_numbers
        return restore(self.values, self.metadata, self.pattern, self.shape[1])


def to_sparse(x: ArrayLike, pattern: str = "2:4", *, mask: ArrayLike | None = None) -> SparseMatrix:
    """Stores what a mask keeps of a matrix.

    x: two dimensions, float32 (other real types are converted) or uint8 codes. mask: of the shape of x, at most N kept
        in each block of M; None: what of x is not zero (of codes: not 0). Raises Error for a mask that keeps more, and for
        patterns without metadata.
    """
    array = any_array(x, "x")
    values = _matrix(array if array.dtype == np.uint8 else float32_array(x, "x"), "x")
    keep = values != 0 if mask is None else any_array(mask, "mask") != 0
    if keep.shape != values.shape:
        raise Error(f"mask has shape {keep.shape}: expected the shape of x, {values.shape}")
    store = _core.sparse_codes if values.dtype == np.uint8 else _core.sparse_numbers
    kept, metadata = store(values, np.ascontiguousarray(keep).view(np.uint8), text("pattern", pattern))
    return SparseMatrix(kept, metadata, pattern, (values.shape[0], values.shape[1]))
