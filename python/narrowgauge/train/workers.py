# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training over a link that loses packets (arXiv 2507.07114): gradients are the mean of what arrives, and a worker keeps
its old parameters where new ones do not."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import integer, number, one_of
from .._core import Error
from .._engine import Engine
from .._formats import random_fields
from .data import Data
from .products import WORKERS, seed_of
from .recipe import Recipe
from .tape import Array
from .trainer import AnyNetwork, Step, Trainer, read_checkpoint, write_checkpoint

#: What a sum of gradients is divided by: how many arrived, which leaves it unbiased, or all workers.
MEANS = ("arrived", "nominal")


@dataclass(frozen=True)
class Link:
    """What carries packets. loss: the chance of each to be lost, 0 to 1, independent of all others. packet: numbers in one."""

    loss: float = 0.0
    packet: int = 64

    def __post_init__(self) -> None:
        if not 0 <= number("loss", self.loss) <= 1:
            raise Error(f"loss is {self.loss}; expected a chance, 0 to 1")
        integer("packet", self.packet, 1, 2**20)

    def arrived(self, seed: int, size: int) -> NDArray[np.bool_]:
        """Which of `size` numbers arrive: those of packet i unless field i of 32 bits of the seed is below loss times 2^32."""
        packets = -(-size // self.packet)
        fields = random_fields(seed, packets).astype(np.int64)
        return np.repeat(fields >= round(self.loss * 2**32), self.packet)[:size]


def exact_sum(parts: Array) -> NDArray[np.float64]:
    """Sums of float32 numbers along the first axis, exact and then rounded once to float64, so that their order does not matter."""
    total = np.zeros(parts.shape[1:])
    inexact = np.zeros(parts.shape[1:], dtype=bool)
    for part in parts.astype(np.float64):
        moved = total + part
        back = moved - total
        inexact |= (total - (moved - back)) + (part - back) != 0  # Knuth's two-sum: what the addition lost
        total = moved
    for place in map(tuple, np.argwhere(inexact)):
        total[place] = math.fsum(parts[(slice(None), *place)].tolist())
    return total


def mean_of_arrived(parts: Array, arrived: NDArray[np.bool_], mean: str = "arrived") -> Array:
    """Mean of parts, (workers, size) in float32, of which some are lost: the exact sum over the count, rounded to float64 and to float32.
    mean: one of MEANS. Zero where nothing arrives."""
    total = exact_sum(np.where(arrived, parts, np.float32(0)))
    count = arrived.sum(axis=0) if one_of("mean", mean, MEANS) == "arrived" else np.int64(len(parts))
    averaged: Array = (total / np.maximum(count, 1)).astype(np.float32)
    return averaged


def _flat(arrays: dict[str, Array]) -> Array:
    return np.concatenate([value.reshape(-1) for value in arrays.values()])


#: Of one worker: loss and gradients by name.
Part = tuple[float, dict[str, Array]]


class Workers:
    """Trains a network by several workers, each with parameters, batches and random words of its own.

    Every step, each worker sends its gradients, packet by packet; what arrives is averaged, and moves the parameters that their owner
    holds. The owner sends these to each worker, which keeps what it has where a packet is lost.
    As sums are exact, bits do not depend on the order in which packets arrive. Worker w has batches and words of its own; worker 0's
    are those of a Trainer, so that one worker on a link without loss is a Trainer, bit for bit.

    workers: 1 to 16. link: of gradients and parameters. mean: one of MEANS. Others are as for Trainer.
    gather: for workers in several processes, a function from the parts of `mine` to those of all workers, in order, as an allgather of
    MPI is; every process then holds the same bits. mine: which workers this process computes; None is all.
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
        workers: int = 8,
        link: Link | None = None,
        mean: str = "arrived",
        mine: range | None = None,
        gather: Callable[[list[Part]], list[Part]] | None = None,
    ) -> None:
        count = integer("workers", workers, 1, WORKERS)
        self.link, self.mean = link or Link(), one_of("mean", mean, MEANS)
        self._mine = range(count) if mine is None else mine
        if not all(0 <= worker < count for worker in self._mine):
            raise Error(f"mine is {self._mine}; expected workers of 0 to {count - 1}")
        self._gather = gather
        self.owner = Trainer(recipe, data, steps=steps, seed=seed, engine=engine, network=network)
        self.replicas = [self.owner.fresh(engine, worker) for worker in range(count)]
        self.owner.layers = self.replicas[0].layers  # masks and scales of worker 0 are those that are evaluated with
        for replica in self.replicas:
            replica.costs = self.owner.costs
            for layer in replica.layers.values():
                layer.costs = self.owner.costs

    @property
    def done(self) -> int:
        return self.owner.done

    @property
    def steps(self) -> int:
        return self.owner.steps

    def step(self) -> Step:
        """The next step of all workers. Its loss is the mean of their batches'."""
        start = time.perf_counter()
        with self.owner.costs.rest("link"):
            loss, rate = self._step()
        return Step(self.done, loss, rate, time.perf_counter() - start)

    def _step(self) -> tuple[float, float]:
        parts = [self.replicas[worker].gradients() for worker in self._mine]
        if self._gather is not None:
            parts = self._gather(parts)
        if len(parts) != len(self.replicas):
            raise Error(f"gather gave the parts of {len(parts)} workers; expected {len(self.replicas)}")
        flat = np.stack([_flat(gradients) for _, gradients in parts])
        moved = mean_of_arrived(flat, self._arrived("link.gradients", flat.shape[1]), self.mean)
        rate = self.owner.apply(self._named(moved))
        self._send()
        return float(np.mean([loss for loss, _ in parts])), rate

    def _arrived(self, use: str, size: int) -> NDArray[np.bool_]:
        """Of each worker's packets. The field of seeds that counts layers counts workers here."""
        seed, step = self.owner.seed, self.owner.done
        return np.stack(
            [self.link.arrived(seed_of(seed, step, worker, use), size) for worker in range(len(self.replicas))]
        )

    def _named(self, flat: Array) -> dict[str, Array]:
        sizes = np.cumsum([value.size for value in self.owner.parameters.values()])[:-1]
        parts = np.split(flat, sizes)
        return {
            name: part.reshape(value.shape)
            for (name, value), part in zip(self.owner.parameters.items(), parts, strict=True)
        }

    def _send(self) -> None:
        flat = _flat(self.owner.parameters)
        for replica, arrived in zip(self.replicas, self._arrived("link.parameters", flat.size), strict=True):
            replica.parameters = self._named(np.where(arrived, flat, _flat(replica.parameters)))
            replica.done = self.done

    def drift(self) -> float:
        """Mean square of the differences between two workers' parameters, over all pairs."""
        stacked = np.stack([_flat(replica.parameters) for replica in self.replicas]).astype(np.float64)
        if len(stacked) < 2:
            return 0.0
        return float(2 * stacked.var(axis=0, ddof=1).mean())

    def evaluate(self) -> tuple[float, float]:
        """Loss and accuracy of the owner's parameters on what is held out. It changes nothing of the run."""
        return self.owner.evaluate()

    def save(self, path: str | Path) -> None:
        """Writes a checkpoint, whole or not at all."""
        arrays, head = self.owner.state()
        each = []
        for worker, replica in enumerate(self.replicas):
            mine, scalars = replica.state()
            arrays |= {f"{worker}:{name}": value for name, value in mine.items()}
            each.append(scalars)
        write_checkpoint(path, {**self._origin(), **head, "workers": each}, arrays)

    def resume(self, path: str | Path) -> None:
        """Goes on from a checkpoint of the same run. Raises Error for another one's, or a damaged file."""
        head, arrays = read_checkpoint(path, self._origin())
        for worker, replica in enumerate(self.replicas):
            mine = {name.partition(":")[2]: value for name, value in arrays.items() if name.startswith(f"{worker}:")}
            replica.restore(path, mine, head["workers"][worker])
        own = {name: value for name, value in arrays.items() if ":" not in name}
        self.owner.restore(path, own, {**head, "history": {}})  # scales are worker 0's

    def _origin(self) -> dict[str, Any]:
        """What a checkpoint must agree in."""
        link = f"{len(self.replicas)} workers, loss {self.link.loss}, packets of {self.link.packet}, mean {self.mean}"
        return {**self.owner.origin(), "link": link}
