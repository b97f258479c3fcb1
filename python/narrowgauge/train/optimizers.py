# SPDX-License-Identifier: Apache-2.0
"""Adam with moments in float32, or in FP8 by the rule of `adam_step`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._training import adam_step
from .products import seed_of
from .recipe import Optimizer
from .tape import Array

BETA1, BETA2, EPSILON = 0.9, 0.99, 1e-8


class Adam:
    """Adam of a list of arrays. moments: by name of a parameter, then by part; a checkpoint holds them.

    The scale of a moment in FP8 is its own largest magnitude over the largest number of the format, found before it is rounded.
    """

    def __init__(self, how: Optimizer, run: int) -> None:
        self._how, self._run = how, run
        self.moments: dict[str, dict[str, Any]] = {}

    def step(
        self, index: int, name: str, weight: Array, gradient: Array, *, step: int, rate: float, decay: float
    ) -> Array:
        """The new weight. step: from 1 on. decay: decoupled weight decay, times the rate."""
        if self._how.moments == "fp8":
            return self._fp8(index, name, weight, gradient, step, rate, decay)
        moments = self.moments.setdefault(name, {"m": np.zeros_like(weight), "v": np.zeros_like(weight)})
        b1, b2 = np.float32(BETA1), np.float32(BETA2)
        moments["m"] = b1 * moments["m"] + (1 - b1) * gradient
        moments["v"] = b2 * moments["v"] + (1 - b2) * np.square(gradient)
        first = moments["m"] / np.float32(1 - BETA1**step)
        second = moments["v"] / np.float32(1 - BETA2**step)
        shrunk = weight * np.float32(1 - rate * decay)
        moved: Array = shrunk - np.float32(rate) * first / (np.sqrt(second) + np.float32(EPSILON))
        return moved

    def _fp8(
        self, index: int, name: str, weight: Array, gradient: Array, step: int, rate: float, decay: float
    ) -> Array:
        empty = {
            "m": np.zeros(weight.shape, np.uint8),
            "v": np.zeros(weight.shape, np.uint8),
            "m_scale": 1.0,
            "v_scale": 1.0,
        }
        old = self.moments.setdefault(name, empty)

        new = adam_step(
            gradient,
            weight,
            old["m"],
            old["v"],
            step=step,
            rate=rate,
            beta1=BETA1,
            beta2=BETA2,
            epsilon=EPSILON,
            weight_decay=decay,
            m_scales=(old["m_scale"], None),
            v_scales=(old["v_scale"], None),
            rounding=self._how.rounding,
            seed=seed_of(self._run, step, index, "optimizer"),
        )
        self.moments[name] = {"m": new.m, "v": new.v, "m_scale": new.m_scale, "v_scale": new.v_scale}
        return new.weight
