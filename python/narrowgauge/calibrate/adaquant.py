# SPDX-License-Identifier: Apache-2.0
"""AdaQuant (arXiv 2006.10518): a layer's weights, bias and ranges trained on a few inputs, so that its quantized output is near its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._affine import AffineQuantizer
from .._arguments import call, flag, integer, number
from .._arguments import seed as check_seed
from .._arrays import ArrayLike, real_array
from .._core import Error

Values = NDArray[np.float64]
RULE = "calibtip_zero"  # the authors' trainable quantizer, with an integer zero point


@dataclass(frozen=True)
class Rates:
    """Step sizes of Adam, those of the authors."""

    weight: float = 1e-5
    bias: float = 1e-3
    weight_range: float = 1e-3
    input_range: float = 1e-1


@dataclass(frozen=True)
class TrainedLayer:
    """What AdaQuant found.

    weight (outputs, inputs) and bias (outputs): to be quantized by `weight_quantizers`, one an output, and kept.
    input_quantizer: of the inputs. before, after: mean square error of the output, with the ranges of the numbers and with those found.
    """

    weight: NDArray[np.float32]
    bias: NDArray[np.float32]
    weight_quantizers: list[AffineQuantizer]
    input_quantizer: AffineQuantizer
    before: float
    after: float


class _Adam:
    """One array's moments."""

    def __init__(self, rate: float, shape: tuple[int, ...]) -> None:
        self.rate, self.step = rate, 0
        self.first, self.second = np.zeros(shape), np.zeros(shape)

    def moved(self, x: Values, gradient: Values) -> Values:
        self.step += 1
        self.first = 0.9 * self.first + 0.1 * gradient
        self.second = 0.999 * self.second + 0.001 * np.square(gradient)
        mean = self.first / (1 - 0.9**self.step)
        moved: Values = x - self.rate * mean / (np.sqrt(self.second / (1 - 0.999**self.step)) + 1e-8)
        return moved


class _Ranged:
    """Rows under their quantizers, and gradients through them: straight through the rounding."""

    def __init__(self, rows: Values, bits: int, low: Values, width: Values) -> None:
        self.rows = rows
        self.quantizers = [
            AffineQuantizer.of_range(float(a), width=float(b), rule=RULE, bits=bits)
            for a, b in zip(low, np.maximum(width, 1e-6), strict=True)
        ]
        values = rows.astype(np.float32)
        codes = np.stack([one.quantize(row) for one, row in zip(self.quantizers, values, strict=True)])
        self.values = np.stack([one.dequantize(row) for one, row in zip(self.quantizers, codes, strict=True)]).astype(
            np.float64
        )
        self.scale = np.array([[one.scale] for one in self.quantizers])
        zero = np.array([[one.zero_point] for one in self.quantizers])
        self.levels = 2**bits - 1
        self.steps = codes - zero  # from the code of 0
        self.within = (codes > 0) & (codes < self.levels) | (np.abs(rows - self.values) <= self.scale / 2)

    def gradients(self, out: Values) -> tuple[Values, Values, Values]:
        """Of the rows, of the low ends, of the widths."""
        to_rows = np.where(self.within, out, 0.0)
        # a value that was cut off moves with its end: the low end, or that and the width
        end = np.where(self.within, 0.0, out)
        to_low = end.sum(axis=1)
        by_scale = np.where(self.within, self.steps - self.rows / self.scale, np.where(self.steps > 0, self.levels, 0))
        to_width = (out * by_scale).sum(axis=1) / self.levels
        return to_rows, to_low, to_width


def adaquant(
    inputs: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike,
    *,
    bits: int = 4,
    relu: bool = False,
    steps: int = 1000,
    batch: int = 50,
    seed: int = 1,
    rates: Rates = Rates(),
    on_step: Callable[[int, float], None] | None = None,
) -> TrainedLayer:
    """Trains a linear layer's weights, bias, and ranges, so that the layer in `bits` bits gives what it gave in float32.

    inputs: (samples, inputs), of calibration. weight: (outputs, inputs). bias: (outputs). bits: 2 to 8, of weights, one range an
    output, and of inputs, one range. relu: whether one follows; the error is then that behind it. batch: samples of a step, drawn by
    `seed`. on_step: called with the step and its error.
    A convolution is a linear layer of its patches.
    Raises Error for shapes that do not fit and numbers that are not finite.
    """
    x = real_array(inputs, "inputs").astype(np.float64)
    w = real_array(weight, "weight").astype(np.float64)
    b = real_array(bias, "bias").astype(np.float64)
    if (
        x.ndim != 2
        or w.ndim != 2
        or b.ndim != 1
        or x.shape[1] != w.shape[1]
        or len(b) != len(w)
        or not x.size
        or not w.size
    ):
        raise Error(
            f"inputs has shape {x.shape}, weight {w.shape} and bias {b.shape}; expected (samples, K), (outputs, K) and (outputs)"
        )
    for name, values in (("inputs", x), ("weight", w), ("bias", b)):
        if not np.isfinite(values).all():
            raise Error(f"{name} has a number that is not finite; expected finite numbers")
    bits, steps = integer("bits", bits, 2, 8), integer("steps", steps, 0, 10**7)
    batch, relu = min(integer("batch", batch, 1, 2**31), len(x)), flag("relu", relu)
    call("on_step", on_step)
    for name, rate in vars(rates).items():
        number(f"rates.{name}", rate)

    def after(y: Values) -> Values:
        return np.maximum(y, 0) if relu else y

    target = after(x @ w.T + b)
    state: dict[str, Values] = {
        "weight": w,
        "bias": b,
        "weight_low": np.minimum(w.min(axis=1), 0),
        "input_low": np.array([min(float(x.min()), 0.0)]),
    }
    state["weight_width"] = np.maximum(w.max(axis=1), 0) - state["weight_low"]
    state["input_width"] = np.array([max(float(x.max()), 0.0)]) - state["input_low"]
    rate_of = {"weight": rates.weight, "bias": rates.bias}
    adam = {
        name: _Adam(
            rate_of.get(name, rates.weight_range if name.startswith("weight") else rates.input_range), values.shape
        )
        for name, values in state.items()
    }

    def quantized(samples: Values, now: dict[str, Values]) -> tuple[_Ranged, _Ranged, Values]:
        mine = _Ranged(now["weight"], bits, now["weight_low"], now["weight_width"])
        theirs = _Ranged(samples.reshape(1, -1), bits, now["input_low"], now["input_width"])
        return mine, theirs, theirs.values.reshape(samples.shape) @ mine.values.T + now["bias"]

    def error(now: dict[str, Values]) -> float:
        return float(np.square(after(quantized(x, now)[2]) - target).mean())

    begin = error(state)
    best, least = state, begin
    random = np.random.Generator(np.random.Philox(check_seed(seed)))
    for step in range(steps):
        chosen = random.choice(len(x), batch, replace=False)
        mine, theirs, y = quantized(x[chosen], state)
        missed = after(y) - target[chosen]
        out = 2 * missed / missed.size
        if relu:
            out = np.where(y > 0, out, 0.0)
        gradient = {"bias": out.sum(axis=0)}
        inner = theirs.values.reshape(batch, -1)
        gradient["weight"], gradient["weight_low"], gradient["weight_width"] = mine.gradients(out.T @ inner)
        _, gradient["input_low"], gradient["input_width"] = theirs.gradients((out @ mine.values).reshape(1, -1))
        state = {name: adam[name].moved(values, gradient[name]) for name, values in state.items()}
        for name in ("weight", "input"):  # 0 stays a value, and a range one
            state[f"{name}_low"] = np.minimum(state[f"{name}_low"], 0)
            state[f"{name}_width"] = np.maximum(state[f"{name}_width"], np.maximum(-state[f"{name}_low"], 1e-6))
        if on_step is not None:
            on_step(step, float(np.square(missed).mean()))
        if (step + 1) % 10 == 0 or step + 1 == steps:
            now = error(state)
            if now < least:
                best, least = state, now
    mine, theirs, _ = quantized(x, best)
    return TrainedLayer(
        best["weight"].astype(np.float32),
        best["bias"].astype(np.float32),
        mine.quantizers,
        theirs.quantizers[0],
        begin,
        least,
    )
