# SPDX-License-Identifier: Apache-2.0
"""N:M sparsity (docs/sparsity.md): pruning, masks, compressed storage, what of it a training step uses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import integer, one_of, shown, text
from ._arguments import seed as checked_seed
from ._arrays import ArrayLike, any_array, float32_array, real_array
from ._core import Error

METHODS = ("greedy", "mvue", "approx-mvue")
MASK_METHODS = ("approximate", "exact", "enumerate")
#: Patterns that have metadata, and the elements of a nibble.
STORED = {"1:2": 2, "2:4": 4, "2:4-T": 4, "4:8pair": 8}


def _matrix(x: NDArray[Any], name: str) -> NDArray[Any]:
    if x.ndim != 2 or x.size == 0:
        raise Error(f"{name} has shape {x.shape}; expected two dimensions, both at least 1")
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
        Sums of magnitudes ('4:8pair', '-T') are those of multiples of 2^-57 of the power of two below the block's largest,
        cut toward zero: smaller numbers count as zeros in them.

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


def transposable_mask(x: ArrayLike, pattern: str = "4:8-T", *, method: str = "exact") -> NDArray[np.bool_]:
    """A mask of at most N in every row and every column of each M x M block: x and its transpose are N:M sparse under it.

    x: two dimensions, multiples of M. pattern: 'N:M-T'. method:
        'approximate': magnitudes from the largest down, each kept if its row and its column have room: at least half of the
            best sum, rows and columns may have fewer than N (arXiv 2102.08124, as in its published code).
        'exact': the mask of the largest sum, N in every row and column, by a flow of least cost. Magnitudes
            count as multiples of 2^-40 of the power of two below the block's largest, cut toward zero. Which of equal masks
            is taken is not specified.
        'enumerate': 2:4-T alone, the first of its 90 masks with the largest sum, as ng_transposable_2_4 has it.

    Raises Error as prune() does, and for 'enumerate' with another pattern.
    """
    values = _matrix(float32_array(x, "x"), "x")
    name = text("pattern", pattern)
    by = one_of("method", method, MASK_METHODS)
    return _core.transposable_mask(values, name, method=by).view(np.bool_)


def adaprune(
    weights: ArrayLike, inputs: ArrayLike, pattern: str = "2:4", *, mask: ArrayLike | None = None
) -> NDArray[np.float32]:
    """Prunes a layer's weights, and fits those that stay to what the layer gave on a calibration set (AdaPrune, arXiv 2102.08124).

    weights: outputs x inputs; a layer is x @ weights.T. inputs: samples x inputs, what the layer gets; a few hundred
        samples. mask: what stays, of the shape of weights; None: sparsity_mask(weights, pattern).

    Each output is a linear least-squares problem on its kept weights, in float64, of the normal equations; where the samples
    do not decide, weights change as little as possible. Float32, of the shape of weights. Raises Error as prune() does,
    and for shapes that do not fit.
    """
    dense = _matrix(float32_array(weights, "weights"), "weights")
    samples = _matrix(float32_array(inputs, "inputs"), "inputs")
    if samples.shape[1] != dense.shape[1]:
        raise Error(
            f"inputs has shape {samples.shape}; expected samples x {dense.shape[1]}, as many columns as weights has"
        )
    if not np.isfinite(samples).all():
        raise Error("inputs has NaNs or infinities; expected finite numbers")
    if mask is None:
        keep = sparsity_mask(dense, pattern)
    else:
        keep = real_array(mask, "mask") != 0
        if keep.shape != dense.shape:
            raise Error(f"mask has shape {keep.shape}; expected the shape of weights, {dense.shape}")
        if not np.isfinite(dense).all():
            raise Error("weights has NaNs or infinities; expected finite numbers")
    gram = samples.T.astype(np.float64) @ samples.astype(np.float64)
    result = np.zeros_like(dense)
    for row, kept, fitted in zip(dense.astype(np.float64), keep, result, strict=True):
        # The error is x @ (row without what goes + change - row): what goes has to be made good by the others.
        wanted = gram[kept] @ np.where(kept, 0, row)
        change = np.linalg.lstsq(gram[np.ix_(kept, kept)], wanted, rcond=None)[0]
        fitted[kept] = row[kept] + change
    return result


@dataclass(frozen=True)
class SparseOperand:
    """Which operand of a matrix product of training is sparse; the other one is dense.

    gemm: 'forward', 'backward' or 'update'. product: with x tokens x inputs, W outputs x inputs, dy tokens x outputs.
    operand: 'weights' or 'gradient'. along: what is summed over, along which the groups of M lie. pattern, method: of prune().
    """

    gemm: str
    product: str
    operand: str
    along: str
    pattern: str
    method: str


_TRAINING = (
    SparseOperand("forward", "y = x @ W.T", "weights", "inputs", "2:4-T", "greedy"),
    SparseOperand("backward", "dx = dy @ W", "weights", "outputs", "2:4-T", "greedy"),
    SparseOperand("update", "dW = dy.T @ x", "gradient", "tokens", "2:4", "mvue"),
)


def sparse_operand(gemm: str) -> SparseOperand:
    """Which operand of a product of training is sparse, along what, and how it is pruned (docs/sparsity.md, Training).

    >>> ng.sparse_operand("update").operand
    'gradient'

    gemm: 'forward', 'backward' or 'update'. The transposed weights of 'backward' are sparse under the mask of 'forward'.
    Raises Error for another name.
    """
    names = tuple(entry.gemm for entry in _TRAINING)
    return _TRAINING[names.index(one_of("gemm", gemm, names))]


def pruning_error(x: ArrayLike, pattern: str = "2:4", *, method: str = "greedy") -> float:
    """Squared error of prune(x, pattern) over the sum of squares; of random methods the expectation, in closed form."""
    values = _matrix(float32_array(x, "x"), "x")
    return _core.pruning_error(values, text("pattern", pattern), method=one_of("method", method, METHODS))


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A matrix of which half is stored, with the metadata of NVIDIA's sparse instructions (docs/sparsity.md).

    values: what is stored, float32 or uint8 codes, rows x columns / 2. metadata: uint8, a nibble a group, two a byte, the
        first in the low half. pattern: '1:2', '2:4', '2:4-T' or '4:8pair'. shape: of the matrix.

    Raises Error for other types and patterns, and for parts of other shapes.
    """

    values: NDArray[Any]
    metadata: NDArray[np.uint8]
    pattern: str
    shape: tuple[int, int]

    def __post_init__(self) -> None:
        one_of("pattern", self.pattern, tuple(STORED))
        if not isinstance(self.shape, tuple) or len(self.shape) != 2:
            raise Error(f"shape is {shown(self.shape)}; expected rows and columns")
        rows, columns = (integer("shape", n, 0, 2**63 - 1) for n in self.shape)
        group = STORED[self.pattern]
        if columns % group:
            raise Error(f"shape is {self.shape}; expected columns in multiples of {group} for pattern {self.pattern}")
        width = -(-columns // group // 2)  # bytes of nibbles
        for name, part, types, expected in (
            ("values", self.values, (np.float32, np.uint8), (rows, columns // 2)),
            ("metadata", self.metadata, (np.uint8,), (rows, width)),
        ):
            if not isinstance(part, np.ndarray) or part.dtype not in types:
                have = part.dtype if isinstance(part, np.ndarray) else type(part).__name__
                raise Error(f"{name} are of type {have}; expected {' or '.join(t.__name__ for t in types)} arrays")
            if part.shape != expected:
                raise Error(f"{name} have shape {part.shape}; expected {expected} for a matrix of {rows} x {columns}")

    @property
    def nbytes(self) -> int:
        return int(self.values.nbytes + self.metadata.nbytes)

    def to_dense(self) -> NDArray[Any]:
        """The matrix, with zeros where nothing is stored. Raises Error for illegal metadata, naming row and group."""
        restore = _core.dense_codes if self.values.dtype == np.uint8 else _core.dense_numbers
        return restore(self.values, self.metadata, self.pattern, self.shape[1])


def _kept_codes(codes: NDArray[np.uint8], pattern: str, element: str | None) -> NDArray[np.bool_]:
    """Codes that are not zero. Without an element, -0 counts as zero only if the pattern does not hold otherwise."""
    keep: NDArray[np.bool_] = codes != 0
    if element is not None:
        name = one_of("element", element, ("e2m1", "e4m3", "e5m2", "e3m0", "int4"))
        bits = 4 if name in ("e2m1", "e3m0", "int4") else 8
        if codes.size and codes.max() >> bits:
            raise Error(f"x holds {codes.max()}; expected codes of {name}, 0 to {2**bits - 1}")
        if name != "int4":
            keep[codes == 1 << (bits - 1)] = False
        return keep
    group = STORED.get(pattern, 1)
    if codes.shape[1] % group:
        return keep  # which is refused
    unit = 2 if pattern == "4:8pair" else 1
    kept = keep.reshape(-1, group // unit, unit).any(axis=-1).sum(axis=-1)
    if (kept <= (1 if pattern == "1:2" else 2)).all():
        return keep
    keep[codes == (8 if codes.max() < 16 else 0x80)] = False
    return keep


def to_sparse(
    x: ArrayLike, pattern: str = "2:4", *, mask: ArrayLike | None = None, element: str | None = None
) -> SparseMatrix:
    """Stores what a mask keeps of a matrix.

    x: two dimensions, float32 (other real types are converted) or uint8 codes. mask: of the shape of x, at most N kept
        in each block of M; None: what of x is not zero, -0 being zero. element: of codes, 'e2m1', 'e4m3', 'e5m2', 'e3m0' or
        'int4', which says what -0 is; None: codes stand as they are if they fit the pattern, else the sign alone (8 where no
        code is above 15, else 0x80) is zero.

    Raises Error for more than N kept in a block, and for patterns without metadata.
    """
    array = any_array(x, "x")
    values = _matrix(array if array.dtype == np.uint8 else float32_array(x, "x"), "x")
    if element is not None and (values.dtype != np.uint8 or mask is not None):
        raise Error(f"element is {shown(element)} without codes to find zeros in; expected uint8 codes and no mask")
    if mask is not None:
        keep = real_array(mask, "mask") != 0
    elif values.dtype == np.uint8:
        keep = _kept_codes(values, text("pattern", pattern), element)
    else:
        keep = values != 0
    if keep.shape != values.shape:
        raise Error(f"mask has shape {keep.shape}; expected the shape of x, {values.shape}")
    store = _core.sparse_codes if values.dtype == np.uint8 else _core.sparse_numbers
    kept, metadata = store(values, np.ascontiguousarray(keep).view(np.uint8), text("pattern", pattern))
    return SparseMatrix(kept, metadata, pattern, (values.shape[0], values.shape[1]))
