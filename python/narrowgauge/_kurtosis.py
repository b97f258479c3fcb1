# SPDX-License-Identifier: Apache-2.0
"""Kurtosis of weights as a loss: KURE (arXiv 2002.07686), and BD-BNN (arXiv 2204.02004) for binary weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._arguments import number
from ._arrays import ArrayLike, real_array
from ._core import Error

#: Kurtosis of a uniform distribution, the target of KURE.
UNIFORM = 1.8


def kurtosis(weights: ArrayLike) -> float:
    """Mean of ((w - mean) / deviation)^4, with the deviation of n - 1. Raises Error where it is not defined."""
    return _moments(weights)[1]


def _moments(weights: ArrayLike) -> tuple[NDArray[np.float64], float, float]:
    w = real_array(weights, "weights").astype(np.float64)
    if w.size < 2:
        raise Error(f"weights has {w.size} values; expected 2 or more")
    if not np.isfinite(w).all():
        raise Error("weights has a number that is not finite; expected finite numbers")
    deviation = float(w.std(ddof=1))
    if deviation == 0:
        raise Error("all of weights are equal, so that their kurtosis is not defined; expected numbers that differ")
    z = (w - w.mean()) / deviation
    return z, float((z**4).mean()), deviation


def kurtosis_loss(weights: ArrayLike, *, target: float = UNIFORM) -> tuple[float, NDArray[np.float32]]:
    """(kurtosis - target)^2 of a tensor, and its gradient, in the tensor's shape.

    KURE takes the sum over all convolutions but the first, divided by their number.
    """
    z, found, deviation = _moments(weights)
    missed = found - number("target", target)
    n = z.size
    # d mean(z^4) / dw, where mean and deviation move with w
    gradient = 4 / (n * deviation) * (z**3 - (z**3).mean() - found * z * n / (n - 1))
    return missed**2, (2 * missed * gradient).astype(np.float32)
