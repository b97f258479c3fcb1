# SPDX-License-Identifier: Apache-2.0
"""The convolutional network of `narrowgauge.train` with integers only: INT8 codes between layers, and sums of products of integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import narrowgauge as ng
from narrowgauge import train
from narrowgauge.train import convolution, integers, tape

LOWEST = -128  # the code of 0 behind ReLU: what is negative saturates there
STEPS = 255  # from the lowest code to the highest


@dataclass(frozen=True)
class IntegerLayer:
    """A layer, as hardware holds it. weight: INT8 less its zero point.

    Of convolutions, scale, zero_point: of the INT8 codes that sums become. mean, m, b: of `norm_apply`, one a channel,
    which normalizes the codes and brings them to the next layer's. Of scores, bias: integers in the unit of the sums.
    """

    weight: train.Integers
    scale: float = 1.0
    zero_point: int = 0
    mean: Any = None
    m: Any = None
    b: Any = None
    bias: Any = None


class IntegerNetwork:
    """Made of trained parameters, and of images for the ranges of what flows between layers.

    parameters: of train.Convolution. images: rows of 64 numbers, 0 to 1.
    """

    def __init__(self, network: train.Convolution, parameters: dict[str, Any], images: NDArray[np.float32]) -> None:
        self._network = network
        self.layers: dict[str, IntegerLayer] = {}
        flow, unit = images.reshape(-1, 8, 8, 1), 1 / STEPS  # unit: of this layer's inputs
        norm = network.norm()
        for name in network.strides:
            weight = integers.int8(parameters[f"{name}.weight"])
            of_sum = unit * weight.scale
            sums = self._patches(name, flow) @ weight.dequantize()
            _, stands = convolution.norm_codes(sums)
            zero_point = round(-stands["low"] / stands["step"]) + LOWEST
            gamma, beta, mean, running = (parameters[f"{name}.{part}"] for part in ("gamma", "beta", "mean", "scale"))
            flow = np.maximum(norm.evaluate(sums, mean, running, gamma, beta), 0)
            unit = float(flow.max()) / STEPS
            self.layers[name] = IntegerLayer(
                weight,
                scale=stands["step"] / of_sum,
                zero_point=zero_point,
                mean=mean / stands["step"] + zero_point,
                m=stands["step"] * running * gamma / unit,
                b=beta / unit + LOWEST,
            )
        weight = integers.int8(parameters["scores.weight"])
        bias = np.rint(parameters["scores.bias"] / (unit * weight.scale)).astype(np.int64)
        self.layers["scores"] = IntegerLayer(weight, bias=bias)

    def _patches(self, name: str, flow: NDArray[Any]) -> NDArray[np.float32]:
        return tape.patches(tape.Node(flow), self._network.strides[name]).value

    def run(self, images: NDArray[np.float32], engine: ng.Engine | None = None) -> dict[str, NDArray[Any]]:
        """Of each convolution the results and the codes behind it, int8; and scores, int64.

        engine: what multiplies; None is numpy, on integers.
        """
        pixels = ng.AffineQuantizer.of_range(0, 1, rule=integers.RULE).quantize(images)
        codes = (pixels.astype(np.int16) + LOWEST).astype(np.int8).reshape(-1, 8, 8, 1)
        made: dict[str, NDArray[Any]] = {}
        for name in self._network.strides:
            layer = self.layers[name]
            rows = self._patches(name, codes.astype(np.int16) - LOWEST)  # 0 to 255, and 0 around the image
            quantized = integers.codes(_left(rows), layer.weight, layer.scale, layer.zero_point, engine)
            made[f"{name}, results"] = quantized
            codes = ng.norm_apply(quantized, layer.mean, layer.m, layer.b, axis=-1).reshape(*rows.shape[:-1], -1)
            made[f"{name}, codes"] = codes
        rows = codes.astype(np.int16).reshape(len(images), -1) - LOWEST
        made["scores"] = integers.sums(_left(rows), self.layers["scores"].weight, engine) + self.layers["scores"].bias
        return made


def _left(rows: NDArray[Any]) -> train.Integers:
    return train.Integers(rows.reshape(-1, rows.shape[-1]).astype(np.int32))
