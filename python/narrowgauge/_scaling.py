# SPDX-License-Identifier: Apache-2.0
"""FP8 scales from the largest magnitudes of earlier tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arguments import flag, float32, integer, number, one_of
from ._arrays import float32_array
from ._core import Error
from ._formats import encode, formats


class DelayedScaling:
    """A tensor's FP8 scale, known before the tensor is: Transformer Engine's delayed scaling (docs/quantizers.md).

    >>> scaling = ng.DelayedScaling("e4m3", history=16)
    >>> codes, scale = scaling.encode(gradient), scaling.scale  # fl(gradient * scale) in E4M3, saturating
    >>> scaling.record(np.abs(gradient).max())  # for the next one

    format: an FP8 format of formats(), 'e4m3' or 'e5m2'. largest: what the largest magnitude is mapped to, None being the
        format's (448, 57344; Gaudi 2 has 240). history: how many maxima are remembered, 1 to 2^32 - 1. margin: powers of
        two that are left free, -100 to 100. power_of_two: the largest power of two that keeps the maximum within
        `largest`, found without a division. most_recent: the newest maximum instead of the largest of the history.

    Raises Error for other formats and values out of these ranges.
    """

    def __init__(
        self,
        format: str = "e4m3",
        *,
        largest: float | None = None,
        history: int = 1024,
        margin: int = 0,
        power_of_two: bool = False,
        most_recent: bool = False,
    ) -> None:
        self.format = one_of("format", format, ("e4m3", "e5m2"))
        self._scaling = _core.DelayedScaling(
            largest=formats()[self.format].max if largest is None else number("largest", largest),
            history=integer("history", history, 1, 2**32 - 1),
            margin=integer("margin", margin, -100, 100),
            power_of_two=flag("power_of_two", power_of_two),
            most_recent=flag("most_recent", most_recent),
        )

    @property
    def scale(self) -> float:
        """What the next tensor is multiplied by, a float32; 1 at first. Its reciprocal is the tensor scale."""
        return self._scaling.scale

    @property
    def history(self) -> list[float]:
        """The maxima that are remembered, the oldest first."""
        return self._scaling.history

    def record(self, amax: float) -> None:
        """Takes the largest magnitude of a tensor, a number that is rounded to float32. A maximum of 0, and a history with
        an infinity or a NaN, leave the scale as it was; with `most_recent` an older NaN does not."""
        value = float32("amax", amax)
        if value < 0:
            raise Error(f"amax is {value}; expected a magnitude, 0 or more")
        self._scaling.record(value)

    def encode(self, x: ArrayLike) -> NDArray[Any]:
        """Codes of fl(x * scale) in the format, of the shape of x, rounded to nearest even; what is too large saturates."""
        values = float32_array(x, "x")
        with np.errstate(over="ignore"):
            scaled = values * np.float32(self.scale)
        return encode(scaled, self.format, overflow="saturate")

    def __repr__(self) -> str:
        return f"<DelayedScaling {self.format}, scale {self.scale:g}, {len(self.history)} maxima>"
