# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network of digits, normalized by channels: by their ranges, as 8-bit training has it (arXiv 1805.11046), or by
another rule of BatchNorm."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._affine import AffineQuantizer
from .._arguments import integer
from .._norm import BatchNorm
from . import integers, tape
from .networks import Nodes, Parameters, linear
from .products import Layer
from .recipe import Network
from .tape import Array, Node

#: By which a normalization gets its codes: from the smallest to the largest number, without a zero point, as the paper's code has it.
NORM_RULE = "quantized_pytorch"
#: Noise of a gradient that is rounded stochastically.
RANDOM_BITS = 8


@dataclass(frozen=True)
class Convolution:
    """Two convolutions of 3 x 3 with zeros around, each normalized and followed by ReLU, and ten scores of what they leave.

    The first keeps 8 x 8 places and has `channels`, the second takes every other place of both axes and has twice as many. Their
    products are those of a linear layer, of the nine places around each, so that engines multiply them.
    """

    how: Network = field(default_factory=lambda: Network(kind="convolution"))
    channels: int = 8
    rate: ClassVar[float] = 2e-3  #: of learning, at its top
    decay: ClassVar[float] = 0.0  #: of matrices
    clips: ClassVar[bool] = False  #: whether a gradient is at most of length one
    strides: ClassVar[dict[str, int]] = {"conv1": 1, "conv2": 2}
    #: Parameters that no gradient moves: what a normalization keeps for evaluations. Their "gradients" are by what they change.
    buffers: ClassVar[tuple[str, ...]] = ("conv1.mean", "conv1.scale", "conv2.mean", "conv2.scale")

    def __post_init__(self) -> None:
        integer("channels", self.channels, 1, 1024)

    def layers(self) -> list[str]:
        return [*self.strides, "scores"]

    def norm(self) -> BatchNorm:
        """Channels are the last axis."""
        return BatchNorm(rule=self.how.norm, axis=-1)

    def parameters(self, random: np.random.Generator) -> Parameters:
        made: Parameters = {}
        inputs = 9
        for name, outputs in (("conv1", self.channels), ("conv2", 2 * self.channels)):
            made[f"{name}.weight"] = _normal(random, inputs, outputs)
            made[f"{name}.gamma"] = np.ones(outputs, np.float32)
            for part in ("beta", "mean", "scale"):
                made[f"{name}.{part}"] = np.zeros(outputs, np.float32)
            inputs = 9 * outputs
        made["scores.weight"] = _normal(random, 4 * 4 * 2 * self.channels, 10)
        made["scores.bias"] = np.zeros(10, np.float32)
        return made

    def scores(self, images: Array, nodes: Nodes, layers: dict[str, Layer]) -> Node:
        """images: rows of 64 numbers. Normalized by what training has kept."""
        return self._scores(images, nodes, layers, training=False)

    def loss(self, batch: tuple[Any, Any], nodes: Nodes, layers: dict[str, Layer]) -> Node:
        images, labels = batch
        return tape.cross_entropy(self._scores(images, nodes, layers, training=True), labels)

    def _scores(self, images: Array, nodes: Nodes, layers: dict[str, Layer], training: bool) -> Node:
        flow = Node(images.reshape(-1, 8, 8, 1))
        for name, stride in self.strides.items():
            flow = linear(layers[name], tape.patches(flow, stride), nodes[f"{name}.weight"])
            parts = [nodes[f"{name}.{part}"] for part in ("gamma", "beta", "mean", "scale")]
            quantized = self.how.norm_format == "int8"
            if training:
                flow = trained_norm(self.norm(), flow, *parts, layer=layers[name] if quantized else None)
            else:
                flow = Node(
                    evaluated_norm(self.norm(), flow.value, *(part.value for part in parts), quantized=quantized)
                )
            flow = tape.relu(flow)
        flow = tape.reshape(flow, (len(images), -1))
        return tape.add(linear(layers["scores"], flow, nodes["scores.weight"]), nodes["scores.bias"])

    def after_step(self, parameters: Parameters) -> None:
        """Nothing is brought back."""


def _normal(random: np.random.Generator, inputs: int, outputs: int) -> Array:
    made: Array = (random.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs)).astype(np.float32)
    return made


def norm_codes(values: Array) -> tuple[NDArray[np.int8], dict[str, float]]:
    """INT8 codes of what is normalized, and what they stand for, as BatchNorm takes both."""
    quantizer = AffineQuantizer.of_range(float(values.min()), float(values.max()), rule=NORM_RULE)
    codes = (quantizer.quantize(values).astype(np.int16) - 128).astype(np.int8)
    return codes, {"step": quantizer.scale, "low": quantizer.offset}


def trained_norm(
    norm: BatchNorm, source: Node, gamma: Node, beta: Node, mean: Node, scale: Node, *, layer: Layer | None = None
) -> Node:
    """A normalization in training. mean, scale: what it keeps for evaluations; their gradients are by what this step changes them.

    layer: whose random words round gradients, of an input in INT8; None: input and gradients are float32.
    """
    inputs: Any = source.value
    stands: dict[str, float] = {}
    if layer is not None:
        inputs, stands = norm_codes(source.value)
    result = norm.forward(inputs, gamma.value, beta.value, **stands)
    kept = norm.average(result, mean.value, scale.value)

    def pullback(gradient: Array) -> tuple[Array, ...]:
        if layer is not None:
            rows = gradient.reshape(-1, gradient.shape[-1])
            noise = integers.noise(rows.shape, layer.seed("norm.gradient", layer.step), RANDOM_BITS)
            gradient = integers.int8(rows, noise).dequantize().reshape(gradient.shape)
        back = norm.backward(inputs, result, gradient, **stands)
        return back.x, back.gamma, back.beta, kept[0] - mean.value, kept[1] - scale.value

    return Node(result.y, (source, gamma, beta, mean, scale), pullback)


def evaluated_norm(
    norm: BatchNorm, values: Array, gamma: Array, beta: Array, mean: Array, scale: Array, *, quantized: bool
) -> Array:
    """A normalization under what training has kept. quantized: whether it takes INT8."""
    inputs, stands = norm_codes(values) if quantized else (values, {})
    return norm.evaluate(inputs, mean, scale, gamma, beta, **stands)
