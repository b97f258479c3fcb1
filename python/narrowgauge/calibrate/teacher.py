# SPDX-License-Identifier: Apache-2.0
"""What BD-BNN (arXiv 2204.02004) adds to the kurtosis of weights where a teacher is at hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import log_softmax

from .._arguments import number
from .._arrays import ArrayLike, real_array
from .._core import Error


def weight_distribution_loss(
    teacher: Sequence[ArrayLike], student: Sequence[ArrayLike], *, temperature: float | None = None
) -> float:
    """What BD-BNN adds where a teacher is at hand: the sum over convolutions of mean(exp(w_T) (w_T - w_S)), as its code has it.

    It is no divergence: exp(w) of weights is no distribution, and the sum can be negative. With a temperature t the weights of a
    convolution (outputs, inputs, height, width) are distributions over the inputs, softmax(w / t), and the mean is taken t^2 times.
    The paper leaves out the first convolution and those of the shortcuts.
    Raises Error for lists of different lengths and tensors of different shapes.
    """
    if len(teacher) != len(student):
        raise Error(f"teacher has {len(teacher)} tensors and student {len(student)}; expected as many of both")
    total = 0.0
    for i, (one, other) in enumerate(zip(teacher, student, strict=True)):
        w_t = real_array(one, f"teacher[{i}]").astype(np.float64)
        w_s = real_array(other, f"student[{i}]").astype(np.float64)
        if w_t.shape != w_s.shape:
            raise Error(f"student[{i}] has shape {w_s.shape}; expected that of teacher[{i}], {w_t.shape}")
        if temperature is None:
            total += float((np.exp(w_t) * (w_t - w_s)).mean())
            continue
        t = number("temperature", temperature)
        if w_t.ndim < 2 or not t > 0:
            raise Error(
                f"temperature is {t:g} and tensor {i} has shape {w_t.shape}; expected one above 0, and inputs at axis 1"
            )
        log_t, log_s = log_softmax(w_t / t, axis=1), log_softmax(w_s / t, axis=1)
        total += float(t * t * (np.exp(log_t) * (log_t - log_s)).mean())
    return total
