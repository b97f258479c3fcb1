# SPDX-License-Identifier: Apache-2.0
"""ACIQ (arXiv 1810.05723): where to clip a tensor before an affine quantizer, how many bits a channel is worth, and what is corrected
behind it. The authors' own code, submission2019/cnn-quantization, is followed where a name says `paper`."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import erfc, lambertw

from .._arguments import flag, integer, number, one_of
from .._arrays import ArrayLike, real_array
from .._core import Error

PRIORS = ("laplace", "gauss")
CONSTANTS = ("paper", "exact")
CORRECTIONS = ("none", "mean", "both")
MOST_BITS = 8
ROUNDS = 10  # in which a budget of bits is approached
CLOSE = 0.01  # to the mean that was asked for

# Clip over scale of the distribution, for 0, 1, ... bits, with two decimals, as the code has them. Numbers after a ReLU take the next
# entry, but for one that is 5.02 there.
_PAPER = {
    "laplace": (1.05, 1.86, 2.83, 3.89, 5.03, 6.2, 7.41, 8.64, 9.89),
    "gauss": (math.nan, 1.24, 1.71, 2.15, 2.55, 2.93, 3.28, 3.61, 3.92),
}
_PAPER_RELU = {
    "laplace": (1.86, 2.83, 3.89, 5.02, 6.2, 7.41, 8.64, 9.89, 11.16),
    "gauss": (1.24, 1.71, 2.15, 2.55, 2.93, 3.28, 3.61, 3.92, 4.2),
}


def clip_constant(bits: int, *, prior: str = "laplace", relu: bool = False, constants: str = "exact") -> float:
    """The clip over the scale of the distribution (mean absolute deviation of `laplace`, standard deviation of `gauss`) that makes the
    mean square error of uniform codes smallest.

    bits: 0 to 8. constants: `exact`, of the errors of clipping and rounding, (alpha^2 / 3) 4^-bits; or `paper`, with two decimals.
    Raises Error for `gauss` with 0 bits in the paper's table, which has none.
    """
    bits = integer("bits", bits, 0, MOST_BITS)
    prior, constants = one_of("prior", prior, PRIORS), one_of("constants", constants, CONSTANTS)
    if constants == "paper":
        found = (_PAPER_RELU if flag("relu", relu) else _PAPER)[prior][bits]
        if math.isnan(found):
            raise Error(
                "the paper has no constant of prior 'gauss' with 0 bits; expected 1 to 8 bits, or constants='exact'"
            )
        return found
    steps = 3.0 * 4.0 ** (bits + flag("relu", relu))
    if prior == "laplace":  # 2 exp(-a) = 2 a / steps
        return float(lambertw(steps).real)
    # 2 a erfc(a / sqrt 2) - 2 sqrt(2 / pi) exp(-a^2 / 2) + 2 a / steps = 0
    return float(
        brentq(
            lambda a: a * erfc(a / math.sqrt(2)) - math.sqrt(2 / math.pi) * math.exp(-a * a / 2) + a / steps, 1e-3, 20
        )
    )


@dataclass(frozen=True)
class Range:
    """What codes cover: from `low` to `low` + `width`."""

    low: float
    width: float


def _samples(x: ArrayLike, name: str) -> NDArray[np.float64]:
    values = real_array(x, name).astype(np.float64)
    if values.size < 2:
        raise Error(f"{name} has {values.size} values; expected 2 or more")
    if not np.isfinite(values).all():
        raise Error(f"{name} has a number that is not finite; expected finite numbers, of which a scale is taken")
    return values


def _deviation(rows: NDArray[np.float64], prior: str) -> NDArray[np.float64]:
    """The scale of the distribution of each row."""
    if one_of("prior", prior, PRIORS) == "gauss":
        return np.asarray(rows.std(axis=1, ddof=1))
    return np.asarray(np.abs(rows - rows.mean(axis=1, keepdims=True)).mean(axis=1))


def clip_range(
    x: ArrayLike, bits: int, *, prior: str = "laplace", relu: bool = False, constants: str = "exact"
) -> Range:
    """The range of ACIQ for the numbers of `x`: the clip around their mean; after a ReLU, from 0.

    Where the smallest number is above the lower clip, the window keeps its width and moves up to it, as in the authors' code.
    Raises Error for fewer than 2 numbers and for those that are not finite.
    """
    values = _samples(x, "x")
    mean = float(values.mean())
    deviation = float(_deviation(values.reshape(1, -1), prior)[0])
    alpha = clip_constant(bits, prior=prior, relu=relu, constants=constants) * deviation
    if relu:
        return Range(0.0, max(mean, 0.0) + alpha)
    return Range(max(float(values.min()), mean - alpha), 2 * alpha)


def allocate_bits(x: ArrayLike, bits: float, *, axis: int = 0, prior: str = "gauss") -> NDArray[np.uint8]:
    """Bits of each channel, 0 to 8, whose mean is near `bits`: log2 of its bins, which go as its deviation to the power 2/3.

    x: channels along `axis`. The mean is approached in ten rounds, as the authors' code does, and may be missed by a few hundredths
    and more where channels are few. A channel of deviation 0 gets 0 bits.
    Raises Error where all channels have deviation 0.
    """
    goal = number("bits", bits)
    if not 0 <= goal <= MOST_BITS:
        raise Error(f"bits is {goal:g}; expected 0 to {MOST_BITS}, the mean over the channels")
    samples = _samples(x, "x")
    values = np.moveaxis(samples, integer("axis", axis, -samples.ndim, samples.ndim - 1), 0)
    flat = values.reshape(len(values), -1)
    if flat.shape[1] < 2:
        raise Error(f"a channel of x has {flat.shape[1]} value; expected 2 or more")
    share = _deviation(flat, prior) ** (2 / 3)
    if not share.sum() > 0:
        raise Error("all channels of x are constant; expected one that is not, of which bits can be worth something")
    share /= share.sum()
    level = goal
    chosen = np.zeros(len(flat))
    for _ in range(ROUNDS):
        with np.errstate(divide="ignore"):
            wished = np.log2(len(flat) * 2.0**level * share)
        chosen = np.clip(np.round(wished), 0, MOST_BITS)
        missed = goal - chosen.mean()
        if abs(missed) <= CLOSE:
            break
        level += missed / 2
    return chosen.astype(np.uint8)


def correct(
    quantized: ArrayLike, weights: ArrayLike, *, axis: int = 0, correction: str = "mean"
) -> NDArray[np.float32]:
    """Quantized weights whose channels have the mean of the weights they come from, `mean`, and their deviation as well, `both`.

    Channels lie along `axis`. The paper's figures are those of `mean`.
    Raises Error for arrays of different shapes.
    """
    got, want = _samples(quantized, "quantized"), _samples(weights, "weights")
    if got.shape != want.shape:
        raise Error(f"quantized has shape {got.shape}; expected that of weights, {want.shape}")
    correction = one_of("correction", correction, CORRECTIONS)
    own = integer("axis", axis, -want.ndim, want.ndim - 1) % want.ndim
    others = tuple(i for i in range(want.ndim) if i != own)
    if correction == "both":
        mean = got.mean(axis=others, keepdims=True)
        ratio = want.std(axis=others, ddof=1, keepdims=True) / (got.std(axis=others, ddof=1, keepdims=True) + 1e-8)
        got = (got - mean) * ratio + mean
    if correction != "none":
        got = got - got.mean(axis=others, keepdims=True) + want.mean(axis=others, keepdims=True)
    return got.astype(np.float32)
