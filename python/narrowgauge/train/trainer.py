# SPDX-License-Identifier: Apache-2.0
"""A training run: steps that can be stopped, resumed and repeated, bit for bit."""

from __future__ import annotations

import copy
import fnmatch
import hashlib
import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._arguments import integer, shown
from .._core import Error
from .._engine import Engine
from .._files import UnreadableError, read_arrays, written_whole
from .._kurtosis import kurtosis_loss
from . import tape
from .convolution import Convolution
from .data import Data, Text
from .networks import Characters, Digits
from .optimizers import Adam
from .products import LAYERS, MAX_RUN, WORKERS, Costs, Layer, seed_of
from .recipe import MAX_STEP, Network, Recipe, content
from .tape import Array, Node

SQRT3 = math.sqrt(3)
AnyNetwork = Digits | Characters | Convolution


@dataclass(frozen=True)
class Step:
    """What a step gave. number: from 1 on. loss: of its batch, before it. rate: of learning. seconds: of wall time."""

    number: int
    loss: float
    rate: float
    seconds: float


@dataclass(frozen=True)
class Noise:
    """A layer's gradient beside the noise of its arithmetic: ratio is |g| / |noise|; below sqrt(3) steps no longer help (arXiv
    2505.19115, section 4)."""

    layer: str
    ratio: float

    @property
    def advice(self) -> str:
        """A sentence, or nothing where the ratio suffices."""
        if self.ratio >= SQRT3:
            return ""
        return (
            f"{self.layer}: gradient over noise is {self.ratio:.2f}, below 1.73; keep this layer higher (layers.high)"
        )


@dataclass(frozen=True)
class Difference:
    """The first element in which a step on another engine differs: where it is, and both numbers."""

    parameter: str
    place: tuple[int, ...]
    here: float
    there: float


def own_network(how: Network, data: Data) -> AnyNetwork:
    """The network that data and a recipe want."""
    if isinstance(data, Text):
        return Characters(len(data.alphabet), how, context=data.context)
    return Convolution(how) if how.kind == "convolution" else Digits()


def _check_network(network: AnyNetwork, recipe: Recipe, data: Data) -> None:
    how = recipe.network
    plain = Network(kind=how.kind, norm=how.norm, norm_format=how.norm_format)
    if not isinstance(network, Characters) and how != plain:
        raise Error(
            f"recipe {recipe.name} is of a transformer ({how.blocks} blocks, {how.gate}), which "
            "the network of digits is not; expected another recipe, or a text as data"
        )
    if isinstance(network, Characters) != isinstance(data, Text):
        raise Error(f"the network is {network!r}; expected one of characters for a text, of digits for digits")
    if how.kind == "convolution" and not isinstance(network, Convolution):
        raise Error(
            f"recipe {recipe.name} is of a convolution, and the network is {network!r}; expected a Convolution, and digits as data"
        )
    if isinstance(network, Characters) and isinstance(data, Text) and network.context < data.context:
        raise Error(f"the data's rows have {data.context} characters; expected at most the network's {network.context}")


class Trainer:
    """Trains a network by a recipe.

    data: `digits` or `text`. steps: of the whole run, which the rate of learning depends on. seed: of the run, 0 to 65535; all
    random words come from it, the step, the layer and what they are for. engine: an Engine; None is the golden model.
    network: another one than data's own. worker: which of several, each with batches and random words of its own (Workers).

    Raises Error for a recipe that names layers which the network does not have, and for numbers out of range.
    """

    def __init__(
        self,
        recipe: Recipe,
        data: Data,
        *,
        steps: int,
        seed: int = 0,
        engine: Engine | None = None,
        network: AnyNetwork | None = None,
        worker: int = 0,
    ) -> None:
        integer("steps", steps, 1, MAX_STEP)
        integer("seed", seed, 0, MAX_RUN)
        integer("worker", worker, 0, WORKERS - 1)
        self.recipe, self.data, self.steps, self.seed, self.engine = recipe, data, steps, seed, engine
        self.network = own_network(recipe.network, data) if network is None else network
        _check_network(self.network, recipe, data)
        network = self.network
        self.done = 0
        self.costs = Costs()
        self.parameters = network.parameters(self._random("parameters", 0))
        self._adam = Adam(recipe.optimizer, seed)
        names = network.layers()
        if len(names) >= LAYERS:
            raise Error(f"the network has {len(names)} layers; expected at most {LAYERS - 1}")
        high = high_layers(recipe.high, names)
        self._worker, self._first = worker, LAYERS * worker
        self.layers = {
            name: Layer(name, self._first + index + 1, recipe, name in high, seed, self.costs)
            for index, name in enumerate(names)
        }

    def _random(self, use: str, step: int, first: int = 0) -> np.random.Generator:
        return np.random.Generator(np.random.Philox(key=seed_of(self.seed, step, first, use)))

    def rate(self, step: int) -> float:
        """Of learning: a tenth of the steps up, then down along a cosine to a tenth."""
        top = self.network.rate
        warm = min(100, max(1, self.steps // 10))
        if step <= warm:
            return top * step / warm
        share = (step - warm) / max(1, self.steps - warm)
        return top * (0.1 + 0.45 * (1 + math.cos(math.pi * share)))

    def step(self) -> Step:
        """The next step."""
        start = time.perf_counter()
        loss, gradients = self.gradients()
        rate = self.apply(gradients)
        return Step(self.done, loss, rate, time.perf_counter() - start)

    def apply(self, gradients: Mapping[str, Array]) -> float:
        """The second half of a step: moves the parameters by gradients of their names and shapes. Returns the rate of learning."""
        with self.costs.rest("optimizer"):
            return self._apply(gradients)

    def _apply(self, gradients: Mapping[str, Array]) -> float:
        number = self.done + 1
        rate = self.rate(number)
        moving = [g for name, g in gradients.items() if name not in self.network.buffers]
        norm = math.sqrt(sum(float(np.square(g, dtype=np.float64).sum()) for g in moving))
        clip = np.float32(min(1.0, 1 / norm)) if self.network.clips and norm > 0 else np.float32(1)
        for index, (name, weight) in enumerate(self.parameters.items()):
            if name in self.network.buffers:
                self.parameters[name] = weight + gradients[name]
                continue
            decay = self.network.decay if weight.ndim == 2 else 0.0
            self.parameters[name] = self._adam.step(
                index, name, weight, gradients[name] * clip, step=number, rate=rate, decay=decay
            )
        self.network.after_step(self.parameters)
        self.done = number
        return rate

    def gradients(self) -> tuple[float, dict[str, Array]]:
        """The first half of the next step: the loss of its batch, and the gradients of the parameters by name."""
        with self.costs.rest("other"):
            return self._gradients()

    def _gradients(self) -> tuple[float, dict[str, Array]]:
        number = self.done + 1
        for name, layer in self.layers.items():
            layer.begin(number, self.engine)
            layer.renew_mask(self._weight_of(name))
        nodes = {name: Node(value) for name, value in self.parameters.items()}
        loss = self.network.loss(self.data.batch(self._random("data", number, self._first)), nodes, self.layers)
        if not np.isfinite(loss.value):
            raise Error(
                f"the loss of step {number} is {loss.value}: this recipe diverges here; resume an earlier checkpoint with another one"
            )
        tape.backward(loss)
        gradients = {
            name: np.zeros_like(node.value) if node.gradient is None else node.gradient for name, node in nodes.items()
        }
        return float(loss.value) + self._regularize(gradients), gradients

    def _regularize(self, gradients: dict[str, Array]) -> float:
        """Adds the gradients of the recipe's regularizer; returns what it adds to the loss."""
        how = self.recipe.regularizer
        if how.strength == 0:
            return 0.0
        weights = [f"{layer}.weight" for layer in list(self.layers)[1:] if f"{layer}.weight" in self.parameters]
        share, total = how.strength / max(1, len(weights)), 0.0
        for name in weights:
            loss, gradient = kurtosis_loss(self.parameters[name], target=how.target)
            gradients[name] = gradients[name] + np.float32(share) * gradient
            total += share * loss
        return total

    def _weight_of(self, layer: str) -> Array:
        shared = self.parameters["characters"].T if "characters" in self.parameters else None
        weight = self.parameters.get(f"{layer}.weight", shared)
        assert weight is not None
        return weight

    def evaluate(self) -> tuple[float, float]:
        """Loss and accuracy on what is held out, in the recipe's forward arithmetic. It changes nothing of the run."""
        layers = {name: layer.apart() for name, layer in self.layers.items()}
        for layer in layers.values():
            layer.begin(self.done, self.engine)
        nodes = {name: Node(value) for name, value in self.parameters.items()}
        losses, right, count = 0.0, 0, 0
        for sources, labels in self.data.held_out():
            scores = self.network.scores(sources, nodes, layers).value.reshape(labels.size, -1)
            losses += float(tape.cross_entropy(Node(scores), labels.reshape(-1)).value) * labels.size
            right += int((scores.argmax(axis=-1) == labels.reshape(-1)).sum())
            count += labels.size
        return losses / count, right / count

    def noise(self) -> list[Noise]:
        """Of the next step's gradients of the weights, layer by layer: beside what the same layer gives in float32 from the same operands.
        It changes nothing of the run."""
        found: dict[str, Noise] = {}
        twin = self._copy(self.engine)
        for layer in twin.layers.values():
            inner = layer.weight_gradient

            def measured(activation: Array, gradient: Array, layer: Layer = layer, inner: Any = inner) -> Array:
                narrow: Array = inner(activation, gradient)
                exact = activation.T @ gradient
                noise = float(np.linalg.norm(narrow - exact))
                if not layer.high:
                    found[layer.name] = Noise(layer.name, float(np.linalg.norm(exact)) / noise if noise else math.inf)
                return narrow

            layer.weight_gradient = measured  # type: ignore[method-assign]
        twin.gradients()
        return [found[name] for name in self.layers if name in found]

    def keep_high(self, layer: str) -> None:
        """From the next step on, all products of a layer are in the recipe's high format. A checkpoint holds it."""
        if layer not in self.layers:
            raise Error(f"the network has no layer {shown(layer)}; expected one of {', '.join(self.layers)}")
        self.layers[layer].high = True

    def verify(self, engine: Engine | None) -> Difference | None:
        """Does the next step on another engine as well, and says where its weights differ first, None where nowhere. The run stands
        where it stood."""
        pair = [self._copy(self.engine), self._copy(engine)]
        for each in pair:
            each.step()
        for name, here in pair[0].parameters.items():
            there = pair[1].parameters[name]
            wrong = np.argwhere(here.view(np.uint32) != there.view(np.uint32))
            if len(wrong):
                place = tuple(int(i) for i in wrong[0])
                return Difference(name, place, float(here[place]), float(there[place]))
        return None

    def _copy(self, engine: Engine | None) -> Trainer:
        twin = self.fresh(engine, self._worker)
        twin._take(*copy.deepcopy(self.state()))
        return twin

    def fresh(self, engine: Engine | None, worker: int) -> Trainer:
        """One of the same run on an engine, as a worker, before its first step."""
        return Trainer(
            self.recipe, self.data, steps=self.steps, seed=self.seed, engine=engine, network=self.network, worker=worker
        )

    def state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a checkpoint holds of this trainer: arrays by name, and what JSON takes."""
        arrays: dict[str, Any] = {f"parameter/{name}": value for name, value in self.parameters.items()}
        high = [name for name, layer in self.layers.items() if layer.high]
        scalars: dict[str, Any] = {"done": self.done, "high": high, "moments": {}, "history": {}, "scales": {}}
        for name, moments in self._adam.moments.items():
            for part, value in moments.items():
                if isinstance(value, np.ndarray):
                    arrays[f"moment/{name}/{part}"] = value
                else:
                    scalars["moments"][f"{name}/{part}"] = value
        for name, layer in self.layers.items():
            if layer.mask is not None:
                arrays[f"mask/{name}"] = layer.mask
            for use, scaling in layer.scalings.items():
                scalars["history"][f"{name}/{use}"] = scaling.history
                scalars["scales"][f"{name}/{use}"] = scaling.scale
        return arrays, scalars

    def _take(self, arrays: dict[str, Any], scalars: dict[str, Any]) -> None:
        self.done = scalars["done"]
        for name in scalars["high"]:
            self.keep_high(name)
        for key, value in arrays.items():
            kind, _, rest = key.partition("/")
            if kind == "parameter":
                self.parameters[rest] = value
            elif kind == "mask":
                self.layers[rest].mask = value
            else:
                name, _, part = rest.rpartition("/")
                self._adam.moments.setdefault(name, {})[part] = value
        for key, value in scalars["moments"].items():
            name, _, part = key.rpartition("/")
            self._adam.moments.setdefault(name, {})[part] = value
        for key, history in scalars["history"].items():
            name, _, use = key.rpartition("/")
            self.layers[name].recall(
                use, history, scalars.get("scales", {}).get(key)
            )  # older checkpoints have no scales

    def origin(self) -> dict[str, Any]:
        """What a checkpoint must agree in: the recipe by name and content, the data by its digest."""
        digest = hashlib.sha256(content(self.recipe, self.network).encode()).hexdigest()
        return {
            "recipe": f"{self.recipe.name}, SHA-256 {digest[:16]}",
            "data": self.data.digest,
            "steps": self.steps,
            "seed": self.seed,
        }

    def save(self, path: str | Path) -> None:
        """Writes a checkpoint, whole or not at all: numbers and names only, which numpy reads (.npz)."""
        arrays, scalars = self.state()
        write_checkpoint(path, {**self.origin(), **scalars}, arrays)

    def resume(self, path: str | Path) -> None:
        """Goes on from a checkpoint of the same recipe, data, steps and seed. Raises Error for another one's, or a damaged file."""
        head, arrays = read_checkpoint(path, self.origin())
        self.restore(path, arrays, head)

    def restore(self, path: str | Path, arrays: dict[str, Any], scalars: dict[str, Any]) -> None:
        """Takes what `state` gave, read from a file. Raises Error where parameters are missing or of another shape."""
        shapes = {f"parameter/{name}": value.shape for name, value in self.parameters.items()}
        for name, shape in shapes.items():
            if name not in arrays or arrays[name].shape != shape:
                have = arrays[name].shape if name in arrays else "missing"
                raise Error(f"the checkpoint {path} has {name} {have}; expected shape {shape}")
        integer(f"done of the checkpoint {path}", scalars["done"], 0, self.steps)
        try:
            self._take(arrays, scalars)
        except Error:
            raise
        except (TypeError, ValueError, KeyError, AttributeError, IndexError, ZeroDivisionError, OverflowError) as error:
            raise Error(
                f"cannot read the checkpoint {path}: {type(error).__name__} {' '.join(str(error).split())[:200]}; expected a "
                "file that `narrowgauge train` wrote; this trainer is of no use now, make another"
            ) from None


def write_checkpoint(path: str | Path, head: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Writes numbers and names, whole or not at all. Raises Error where it cannot."""
    with written_whole(path, f"the checkpoint {path}") as file:
        np.savez(file, head=np.array(json.dumps(head)), **arrays)


def read_checkpoint(path: str | Path, origin: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Head and arrays of what `write_checkpoint` wrote. Raises Error for a damaged file, and for one of another origin."""
    try:
        arrays = read_arrays(path)
        if not isinstance(arrays, dict):
            raise UnreadableError("it is one array")
        head = json.loads(str(arrays.pop("head")))
        if not isinstance(head, dict):
            raise UnreadableError("its head is no object of JSON")
        for key in ("done", "high", "moments", "history"):
            head[key]
    except (ValueError, KeyError, RecursionError) as error:
        raise Error(
            f"cannot read the checkpoint {path}: {error}; expected a file that `narrowgauge train` wrote"
        ) from None
    for key, mine in origin.items():
        if head.get(key) != mine:
            raise Error(f"the checkpoint {path} is of {key} {shown(head.get(key))}; this run has {shown(mine)}")
    return head, arrays


def high_layers(patterns: tuple[str, ...], names: list[str]) -> set[str]:
    """Names of the layers that patterns of `layers.high` mean. Raises Error for one that means none."""
    found: set[str] = set()
    for pattern in patterns:
        word = {"first": names[0], "last": names[-1]}.get(pattern, pattern)
        matching = fnmatch.filter(names, word)
        if not matching:
            raise Error(
                f"layers.high names {shown(pattern)}, which this network does not have; expected of {', '.join(names)}"
            )
        found.update(matching)
    return found
