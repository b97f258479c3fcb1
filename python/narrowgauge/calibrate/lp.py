# SPDX-License-Identifier: Apache-2.0
"""LAPQ (arXiv 1911.07190): the clip of each tensor by the error's L_p norm, then all clips together by the network's loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize, minimize_scalar

from .._affine import AffineQuantizer
from .._arguments import call, flag, integer, number
from .._arrays import ArrayLike, real_array
from .._core import Error

GRID = 1200  # clips that are tried, evenly
BEYOND = 1.06  # the largest of them, in largest magnitudes: with many bits it pays to move the whole grid
REFINED = 8  # the best of them, around which a search goes on
CLOSE = 1e-9  # to a clip, of the largest magnitude
NORMS = np.linspace(2, 4, 10)  # of which the loss is tried

#: Clips by name to the loss of the network with them.
Loss = Callable[[Mapping[str, float]], float]


def lapq_quantizer(clip: float, bits: int, *, relu: bool = False) -> AffineQuantizer:
    """LAPQ's grid: 2^bits values from -clip to clip, of which none is 0; after a ReLU from 0 to clip."""
    clip = number("clip", clip)
    if flag("relu", relu):
        return AffineQuantizer.of_range(0.0, width=clip, rule="lapq", bits=bits)
    return AffineQuantizer.of_range(-clip, width=2 * clip, rule="lapq", bits=bits)


def lp_error(x: NDArray[np.float32], clip: float, bits: int, p: float, *, relu: bool = False) -> float:
    """Sum of |x - Q(x)|^p."""
    quantizer = lapq_quantizer(clip, bits, relu=relu)
    missed = np.abs(x.astype(np.float64) - quantizer.dequantize(quantizer.quantize(x)))
    return float((missed**p).sum())


def lp_clip(x: ArrayLike, bits: int, *, p: float = 2.0, relu: bool = False) -> float:
    """The clip with the smallest L_p error of rounding and clipping.

    The error has ripples, in which searches that follow it stop: 1200 clips are tried, and searches go on around the eight best.
    Raises Error for no number, for one that is not finite, and where all are 0.
    """
    values = real_array(x, "x").astype(np.float32).ravel()
    bits, p = integer("bits", bits, 2, 8), number("p", p)
    most = float(np.abs(values).max()) if values.size else 0.0
    if not 0 < most < math.inf:
        raise Error(
            "x has no number but 0, or one that is not finite; expected finite numbers of which a clip can be taken"
        )
    grid = BEYOND * most * np.arange(1, GRID + 1) / GRID
    errors = [lp_error(values, clip, bits, p, relu=relu) for clip in grid]
    best: tuple[float, float] = min(zip(errors, grid.tolist(), strict=True))
    for i in np.argsort(errors)[:REFINED].tolist():
        found = minimize_scalar(
            lambda clip: lp_error(values, clip, bits, p, relu=relu),
            bounds=(grid[max(i - 1, 0)], grid[min(i + 1, GRID - 1)]),
            method="bounded",
            options={"xatol": CLOSE * most},
        )
        best = min(best, (float(found.fun), float(found.x)))
    return best[1]


@dataclass(frozen=True)
class JointClips:
    """clips: by name. loss: of them. p: of the norm that they come from. layer_loss: of the clips of that norm, before Powell's search."""

    clips: dict[str, float]
    loss: float
    p: float
    layer_loss: float


def joint_clips(
    loss: Loss,
    tensors: Mapping[str, ArrayLike],
    bits: int,
    *,
    relu: Mapping[str, bool] | None = None,
    iterations: int = 2,
) -> JointClips:
    """The clips of all tensors together, by the network's loss on calibration data.

    The loss is tried with the L_p clips of ten norms from 2 to 4; p is the vertex of the parabola through them, or the best of the ten
    where the parabola opens downward or its vertex is outside. From there Powell's method goes over all clips.
    loss: of clips by name. iterations: of Powell's method, 0 to 100.
    """
    call("loss", loss)
    iterations = integer("iterations", iterations, 0, 100)
    if not tensors:
        raise Error("there is no tensor; expected one or more, by name")
    names = list(tensors)
    after = relu or {}

    def of_norm(p: float) -> dict[str, float]:
        return {name: lp_clip(tensors[name], bits, p=p, relu=after.get(name, False)) for name in names}

    def checked(clips: Mapping[str, float]) -> float:
        found = number("the loss", loss(clips))
        return found if math.isfinite(found) else math.inf

    tried = [(checked(of_norm(float(p))), float(p)) for p in NORMS]
    p = min(tried)[1]
    finite = [(one, norm) for one, norm in tried if math.isfinite(one)]
    if len(finite) >= 3:
        curve = np.polyfit([norm for _, norm in finite], [one for one, _ in finite], 2)
        if curve[0] > 0 and NORMS[0] <= -curve[1] / (2 * curve[0]) <= NORMS[-1]:
            p = float(-curve[1] / (2 * curve[0]))
    begin = of_norm(p)
    begin_loss = checked(begin)
    scale = np.array([begin[name] for name in names])

    def of_factors(factors: NDArray[np.float64]) -> float:
        if (factors <= 0).any():
            return math.inf
        return checked(dict(zip(names, (factors * scale).tolist(), strict=True)))

    best = JointClips(begin, begin_loss, p, begin_loss)
    if iterations:
        found = minimize(of_factors, np.ones(len(names)), method="Powell", options={"maxiter": iterations})
        if found.fun < begin_loss:
            best = JointClips(
                dict(zip(names, (found.x * scale).tolist(), strict=True)), float(found.fun), p, begin_loss
            )
    return best
