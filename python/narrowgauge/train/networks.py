# SPDX-License-Identifier: Apache-2.0
"""The networks that are trained: a classifier of digits, and nanoGPT's character model. `products` has the products of linear
layers; everything else is float32 on the tape."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _training
from .._core import Error
from . import tape
from .products import Layer
from .recipe import Network
from .tape import Array, Node

Parameters = dict[str, Array]
Nodes = dict[str, Node]


def linear(layer: Layer, source: Node, weight: Node) -> Node:
    """source @ weight in the layer's arithmetic, the two products of its gradients included."""
    rows = source.value.reshape(-1, source.shape[-1])

    def pullback(gradient: Array) -> tuple[Array, Array]:
        back = gradient.reshape(-1, gradient.shape[-1])
        return (
            layer.input_gradient(back, weight.value).reshape(source.shape),
            layer.weight_gradient(rows, back),
        )

    product = layer.forward(rows, weight.value)
    return Node(product.reshape(*source.shape[:-1], product.shape[-1]), (source, weight), pullback)


@dataclass(frozen=True)
class Digits:
    """64 pixels, two hidden layers of ReLU, ten scores."""

    hidden: int = 128
    rate: ClassVar[float] = 2e-3  #: of learning, at its top
    decay: ClassVar[float] = 0.0  #: of matrices
    clips: ClassVar[bool] = False  #: whether a gradient is at most of length one
    buffers: ClassVar[tuple[str, ...]] = ()  #: parameters that move by what their gradients say, as they are

    def layers(self) -> list[str]:
        return ["hidden1", "hidden2", "scores"]

    def parameters(self, random: np.random.Generator) -> Parameters:
        widths = (64, self.hidden, self.hidden, 10)
        made: Parameters = {}
        for name, inputs, outputs in zip(self.layers(), widths, widths[1:], strict=False):
            made[f"{name}.weight"] = (random.standard_normal((inputs, outputs)) * np.sqrt(2 / inputs)).astype(
                np.float32
            )
            made[f"{name}.bias"] = np.zeros(outputs, np.float32)
        return made

    def scores(self, images: Array, nodes: Nodes, layers: dict[str, Layer]) -> Node:
        """images: rows of 64 numbers."""
        flow = Node(images)
        for name in self.layers():
            flow = tape.add(linear(layers[name], flow, nodes[f"{name}.weight"]), nodes[f"{name}.bias"])
            if name != "scores":
                flow = tape.relu(flow)
        return flow

    def loss(self, batch: tuple[Any, Any], nodes: Nodes, layers: dict[str, Layer]) -> Node:
        images, labels = batch
        return tape.cross_entropy(self.scores(images, nodes, layers), labels)

    def after_step(self, parameters: Parameters) -> None:
        """Nothing is normalized."""


@dataclass(frozen=True)
class Characters:
    """nanoGPT (github.com/karpathy/nanoGPT): blocks of causal attention and two layers, the table of characters shared with the scores.

    how.blocks: 'normalized' is nGPT (arXiv 2410.01131), every input of a product of length one, as its NVFP4 variant
    wants it (arXiv 2605.06067): rows of weights are brought back to length one after each step.
    """

    vocabulary: int
    how: Network
    blocks: int = 4
    heads: int = 4
    width: int = 128
    context: int = 64
    clips: ClassVar[bool] = True
    buffers: ClassVar[tuple[str, ...]] = ()

    @property
    def rate(self) -> float:
        return 3e-3 if self._normalized else 1e-3

    @property
    def decay(self) -> float:
        return 0.0 if self._normalized else 0.1

    def __post_init__(self) -> None:
        for name in ("vocabulary", "blocks", "heads", "width", "context"):
            if getattr(self, name) < 1:
                raise Error(f"{name} is {getattr(self, name)}; expected 1 or more")
        if self.width % self.heads:
            raise Error(f"width is {self.width}; expected a multiple of the {self.heads} heads")

    def layers(self) -> list[str]:
        parts = ("attention", "attention_out", "wide", "narrow")
        return [f"block{block}.{part}" for block in range(self.blocks) for part in parts] + ["scores"]

    @property
    def _normalized(self) -> bool:
        return self.how.blocks == "normalized"

    @property
    def _gates(self) -> int:
        return 2 if self.how.gate == "swiglu" else 1

    def parameters(self, random: np.random.Generator) -> Parameters:
        width, deep = self.width, 0.02 / np.sqrt(2 * self.blocks)
        made: Parameters = {}

        def normal(name: str, shape: tuple[int, ...], size: float) -> None:
            made[name] = (random.standard_normal(shape) * size).astype(np.float32)

        normal("characters", (self.vocabulary, width), 0.02)
        if not self._normalized:
            normal("places", (self.context, width), 0.02)
        for block in range(self.blocks):
            at = f"block{block}."
            normal(at + "attention.weight", (width, 3 * width), 0.02)
            normal(at + "attention_out.weight", (width, width), deep)
            normal(at + "wide.weight", (width, 4 * width * self._gates), 0.02)
            normal(at + "narrow.weight", (4 * width, width), deep)
            if self._normalized:
                for part in ("attention_rate", "narrow_rate"):
                    made[at + part] = np.full(width, 1 / np.sqrt(width), np.float32)
                made[at + "query_scale"] = np.full(width // self.heads, 1 / np.sqrt(width), np.float32)
                made[at + "wide_scale"] = np.ones(4 * width * self._gates, np.float32)
            else:
                for part in ("attention_norm", "wide_norm"):
                    made[at + part] = np.ones(width, np.float32)
        if self._normalized:
            normal("places", (self.context, width), 0.02)
            made["score_scale"] = np.full(self.vocabulary, 1 / np.sqrt(width), np.float32)
        else:
            made["last_norm"] = np.ones(width, np.float32)
        self.after_step(made)
        return made

    def loss(self, batch: tuple[Any, Any], nodes: Nodes, layers: dict[str, Layer]) -> Node:
        scores = self.scores(batch[0], nodes, layers)
        return tape.cross_entropy(tape.reshape(scores, (-1, self.vocabulary)), batch[1].reshape(-1))

    def scores(self, text: NDArray[np.integer], nodes: Nodes, layers: dict[str, Layer]) -> Node:
        """text: rows of indices of characters."""
        flow = tape.add(tape.lookup(nodes["characters"], text), tape.lookup(nodes["places"], np.arange(text.shape[1])))
        if self._normalized:
            flow = _unit(flow)
        for block in range(self.blocks):
            at = f"block{block}."
            for part, inner in (("attention", self._attention), ("narrow", self._wide)):
                if self._normalized:
                    flow = self._toward(flow, inner(flow, at, nodes, layers), nodes[f"{at}{part}_rate"])
                else:
                    norm = nodes[at + ("attention_norm" if part == "attention" else "wide_norm")]
                    flow = tape.add(flow, inner(tape.layer_norm(flow, norm), at, nodes, layers))
        if not self._normalized:
            flow = tape.layer_norm(flow, nodes["last_norm"])
        scores = linear(layers["scores"], flow, tape.transpose(nodes["characters"], (1, 0)))
        return self._scaled(scores, nodes["score_scale"], np.sqrt(self.width)) if self._normalized else scores

    @staticmethod
    def _scaled(source: Node, factors: Node, unit: float) -> Node:
        """nGPT keeps a factor s as s / unit, so that Adam moves it at the rate of the weights."""
        return tape.multiply(source, tape.scale(factors, unit))

    def _toward(self, flow: Node, aim: Node, rate: Node) -> Node:
        """A step on the sphere: norm(h + a (norm(aim) - h)), the rates a beginning at 0.05."""
        way = tape.add(_unit(aim), tape.scale(flow, -1))
        return _unit(tape.add(flow, self._scaled(way, rate, 0.05 * np.sqrt(self.width))))

    def _attention(self, flow: Node, at: str, nodes: Nodes, layers: dict[str, Layer]) -> Node:
        rows, length, width = flow.shape
        depth = width // self.heads
        parts = tape.split(linear(layers[at + "attention"], flow, nodes[at + "attention.weight"]), 3)
        query, key, value = (
            tape.transpose(tape.reshape(part, (rows, length, self.heads, depth)), (0, 2, 1, 3)) for part in parts
        )
        factor = 1 / np.sqrt(depth)
        if self._normalized:
            scale = nodes[at + "query_scale"]
            query, key = (self._scaled(_unit(part), scale, np.sqrt(width)) for part in (query, key))
            factor = np.sqrt(depth)
        mixed = self.attend(at, query, key, value, factor)
        mixed = tape.reshape(tape.transpose(mixed, (0, 2, 1, 3)), (rows, length, width))
        if self._normalized:
            mixed = _unit(mixed)
        return linear(layers[at + "attention_out"], mixed, nodes[at + "attention_out.weight"])

    def attend(self, at: str, query: Node, key: Node, value: Node, factor: float) -> Node:
        """Values mixed by the scores of queries and keys, which are their products times a factor: what a network with other products
        overrides.

        at: of which block, 'block0.' for example. Others: batch x heads x length x depth.
        """
        scores = tape.scale(tape.matmul(query, tape.transpose(key, (0, 1, 3, 2))), factor)
        return self.mix(at, scores, value)

    def mix(self, at: str, scores: Node, value: Node) -> Node:
        """Values mixed by the causal softmax of the scores: what a network with another softmax overrides.

        at: of which block, 'block0.' for example. scores: batch x heads x length x length. value: batch x heads x length x depth.
        """
        return tape.matmul(tape.causal_softmax(scores), value)

    def _wide(self, flow: Node, at: str, nodes: Nodes, layers: dict[str, Layer]) -> Node:
        wide = linear(layers[at + "wide"], flow, nodes[at + "wide.weight"])
        if self._normalized:
            wide = self._scaled(wide, nodes[at + "wide_scale"], np.sqrt(self.width))
        if self.how.gate == "swiglu":
            straight, gate = tape.split(wide, 2)
            inner = tape.multiply(straight, tape.silu(gate))
        else:
            inner = tape.gelu(wide)
        if self._normalized:
            inner = _unit(inner)
        weight = nodes[at + "narrow.weight"]
        if self.how.smooth:
            return _smoothed(layers[at + "narrow"], inner, weight)
        return linear(layers[at + "narrow"], inner, weight)

    def after_step(self, parameters: Parameters) -> None:
        """Brings the weights of nGPT back to length one, along the side of the width."""
        if not self._normalized:
            return
        for name, weight in parameters.items():
            if name.endswith(".weight") or name == "characters":
                along_rows = name.endswith(("_out.weight", "narrow.weight")) or name == "characters"
                rows = weight if along_rows else weight.T
                unit = _training.l2_normalize(rows)
                parameters[name] = np.ascontiguousarray(unit if along_rows else unit.T)


def _unit(source: Node) -> Node:
    normalize: Callable[[Array], Array] = _training.l2_normalize
    return tape.unit_rows(source, normalize)


def _smoothed(layer: Layer, source: Node, weight: Node) -> Node:
    """Smooth-SwiGLU: activations over powers of two, channel by channel, and the weight times them, so that the product is the same."""
    rows = source.value.reshape(-1, source.shape[-1])
    powers = np.float32(2) ** (_training.smooth(rows, axis=-2).scales.astype(np.float32) - 127)
    smaller = tape.multiply(source, Node(1 / powers))
    return linear(layer, smaller, tape.multiply(weight, Node(powers[:, None])))
