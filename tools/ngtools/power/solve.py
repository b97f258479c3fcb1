# SPDX-License-Identifier: Apache-2.0
"""Sums and least squares whose bits do not depend on the machine.

A mathematical library sums in the order that suits the processor and its number of threads. What is recorded is computed
here instead: sums are exact and rounded once (math.fsum), or are made of numpy's operations on single elements, in the order
in which this file has them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Columns have the norm 1: a coefficient joins if the residual still has this much along its column.
LEAST_GAIN = 1e-11


def dot(x: Iterable[float], y: Iterable[float]) -> float:
    """Each product rounded, their sum exact."""
    return math.fsum(a * b for a, b in zip(x, y, strict=True))


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values)


def times(matrix: Array, vector: Array) -> Array:
    """matrix x vector, columns from the left."""
    result = np.zeros(len(matrix))
    for column, factor in zip(matrix.T, vector, strict=True):
        result += column * factor
    return result


def normal_equations(matrix: Array, wanted: Array) -> tuple[Array, Array]:
    """matrix' x matrix and matrix' x wanted, rows from the top."""
    gram, right = np.zeros((matrix.shape[1], matrix.shape[1])), np.zeros(matrix.shape[1])
    for row, side in zip(matrix, wanted, strict=True):
        gram += np.multiply.outer(row, row)
        right += row * side
    return gram, right


def column_norms(matrix: Array) -> Array:
    return np.array([math.sqrt(dot(column, column)) for column in matrix.T])


def solve(gram: Array, right: Array) -> Array:
    """Gaussian elimination; a symmetric, positive definite matrix needs no pivoting."""
    rows = np.column_stack([gram, right])
    count = len(right)
    for k in range(count):
        factors = rows[k + 1 :, k] / rows[k, k]
        rows[k + 1 :, k:] -= np.multiply.outer(factors, rows[k, k:])
    result = np.zeros(count)
    for k in reversed(range(count)):
        result[k] = (rows[k, count] - dot(rows[k, k + 1 : count], result[k + 1 :])) / rows[k, k]
    return result


def nonnegative_least_squares(matrix: Array, wanted: Array) -> Array:
    """The x >= 0 of least |matrix x - wanted|, columns of about norm 1 (Lawson and Hanson, Solving Least Squares Problems,
    1974, chapter 23, on the normal equations: coefficients are wanted to nine digits)."""
    gram, right = normal_equations(matrix, wanted)
    found, free = np.zeros(len(right)), np.zeros(len(right), dtype=bool)
    for _ in range(10 * len(right)):
        gain = np.where(free, -np.inf, right - times(gram, found))
        best = int(gain.argmax())
        if gain[best] <= LEAST_GAIN:
            return found
        free[best] = True
        while True:
            tried = np.zeros(len(right))
            tried[free] = solve(gram[np.ix_(free, free)], right[free])
            if (tried[free] > 0).all():
                break
            # As far towards it as the first coefficient allows, which then stays at 0.
            below = free & (tried <= 0)
            step = (found[below] / (found[below] - tried[below])).min()
            found = found + step * (tried - found)
            free &= ~(below & (found <= 1e-15))
            found[~free] = 0
        found = tried
    raise ArithmeticError(f"no least squares solution after {10 * len(right)} steps; are columns all but the same?")
