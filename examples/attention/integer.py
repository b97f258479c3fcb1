# SPDX-License-Identifier: Apache-2.0
"""The transformer of `narrowgauge.train` in INT8: an engine multiplies everything, and sends what is multiplied again as INT8."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import narrowgauge as ng
from narrowgauge import train
from narrowgauge.train import integers, networks, tape


def quantizer(largest: float) -> ng.AffineQuantizer:
    """INT8 without a zero point; `largest` is the magnitude of its code 127."""
    return ng.AffineQuantizer(bits=8, signed=True, scale=largest / 127)


def matrix(codes: NDArray[Any], scale: float = 1.0) -> train.Integers:
    return train.Integers(codes.astype(np.int32), scale)


def attended(codes: NDArray[Any], values: NDArray[Any], clip: float, bits: int) -> NDArray[np.float32]:
    """P V of heads x length x length codes and heads x length x depth values of INT8, without the values' scale."""
    return np.stack([ng.exaq_attention(*head, clip, bits=bits) for head in zip(codes, values, strict=True)])


class Observed:
    """A layer of float32, which remembers its weights and the largest magnitudes of its inputs and results."""

    weight: NDArray[np.float32]

    def __init__(self, layer: train.Layer) -> None:
        self._layer = layer
        self.source = self.result = 0.0

    def forward(self, rows: NDArray[np.float32], weight: NDArray[np.float32]) -> NDArray[np.float32]:
        self.weight = weight
        result: NDArray[np.float32] = self._layer.forward(rows, weight)
        self.source = max(self.source, float(np.abs(rows).max()))
        self.result = max(self.result, float(np.abs(result).max()))
        return result


@dataclass(frozen=True)
class IntegerLayer:
    """A product of INT8 with weights of INT8.

    source: of the inputs. result: of the codes that the engine sends; None is float32, for a sum outside of the engine.
    engine: None is numpy, on integers. seen: gets the results.
    """

    weight: train.Integers
    source: ng.AffineQuantizer
    result: ng.AffineQuantizer | None
    engine: ng.Engine | None
    seen: list[NDArray[Any]]

    def forward(self, rows: NDArray[np.float32], weight: NDArray[np.float32]) -> NDArray[np.float32]:
        left = matrix(self.source.quantize(rows), self.source.scale)
        if self.result is None:
            self.seen.append(integers.product(left, self.weight, self.engine))
            return self.seen[-1]
        scale = self.result.scale / (left.scale * self.weight.scale)
        codes = integers.codes(left, self.weight, scale, engine=self.engine)
        self.seen.append(codes)
        return codes * np.float32(self.result.scale)


@dataclass(frozen=True, kw_only=True)
class Observing(networks.Characters):
    """Characters that remember the largest magnitude of the scores of each block."""

    largest: dict[str, float]

    def mix(self, at: str, scores: tape.Node, value: tape.Node) -> tape.Node:
        self.largest[at] = float(np.abs(scores.value).max())
        return super().mix(at, scores, value)


@dataclass(frozen=True, kw_only=True)
class IntegerTransformer(networks.Characters):
    """Characters in INT8 (docs/softmax.md, In a transformer).

    The engine sends queries, keys, values and scores as INT8. Scores less the largest of their row become EXAQ's codes by
    `quantize_affine`, which add rows of V. In float32 are sums of blocks, layer normalization, GELU and the quotients of softmax.
    of_values: what queries, keys and values of a block are; of_scores: its scores; clip_of: its C.
    """

    bits: int
    clip_of: Mapping[str, float]
    of_values: Mapping[str, ng.AffineQuantizer]
    of_scores: Mapping[str, ng.AffineQuantizer]
    engine: ng.Engine | None
    seen: list[NDArray[Any]]

    def attend(self, at: str, query: tape.Node, key: tape.Node, value: tape.Node, factor: float) -> tape.Node:
        clip, of_values, of_scores = self.clip_of[at], self.of_values[at], self.of_scores[at]
        length, depth = value.shape[-2:]
        # They are codes times the scale, which dividing gives again.
        q, k, v = (of_values.quantize(node.value).reshape(-1, length, depth) for node in (query, key, value))
        scale = of_scores.scale / (of_values.scale**2 * factor)
        scores = np.stack(
            [
                integers.codes(matrix(left), matrix(right.T), scale, engine=self.engine)
                for left, right in zip(q, k, strict=True)
            ]
        ).astype(np.int32)
        mask = np.broadcast_to(np.tri(length, dtype=bool), scores.shape)
        largest = np.where(mask, scores, scores.min()).max(axis=-1, keepdims=True)
        top = 2**self.bits - 1  # the code of the largest score; each below it is a step of C / top
        codes = ng.quantize_affine(scores - largest, -clip / top / of_scores.scale, top, bits=self.bits, signed=False)
        codes = np.where(mask, codes, np.uint8(255))
        mixed = attended(codes, v, clip, self.bits)
        self.seen.extend((scores, codes, mixed))
        return tape.Node((mixed * np.float32(of_values.scale)).reshape(value.shape))


class IntegerModel:
    """A trained model in INT8. Its ranges are those of `text`, rows of indices of characters, in float32. clips: C of each block."""

    def __init__(self, trainer: train.Trainer, clips: Mapping[str, float], bits: int, text: NDArray[Any]) -> None:
        plain = trainer.network
        assert isinstance(plain, networks.Characters)
        self._sizes = (plain.vocabulary, plain.how, plain.blocks, plain.heads, plain.width, plain.context)
        self._nodes = {name: tape.Node(value) for name, value in trainer.parameters.items()}
        self._observed = {name: Observed(layer) for name, layer in trainer.layers.items()}
        self._clips, self._bits = clips, bits
        largest: dict[str, float] = {}
        Observing(*self._sizes, largest=largest).scores(text, self._nodes, self._observed)
        self._of_scores = {at: quantizer(each) for at, each in largest.items()}
        self._weights = {name: integers.int8(observed.weight) for name, observed in self._observed.items()}

    def run(self, text: NDArray[Any], engine: ng.Engine | None = None) -> list[NDArray[Any]]:
        """What all products, softmaxes and blocks make of rows of text; the last are the characters' scores, float32.

        engine: what multiplies; None is numpy, on integers.
        """
        seen: list[NDArray[Any]] = []
        layers = {
            name: IntegerLayer(
                self._weights[name],
                quantizer(observed.source),
                quantizer(observed.result) if name.endswith((".attention", ".wide")) else None,
                engine,
                seen,
            )
            for name, observed in self._observed.items()
        }
        network = IntegerTransformer(
            *self._sizes,
            bits=self._bits,
            clip_of=self._clips,
            of_values={at: quantizer(self._observed[f"{at}attention"].result) for at in self._of_scores},
            of_scores=self._of_scores,
            engine=engine,
            seen=seen,
        )
        network.scores(text, self._nodes, layers)
        return seen
