# SPDX-License-Identifier: Apache-2.0
"""Means of packets that arrive in any order, or do not, as exact sums make them: BF16, rounded once (docs/training.md)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._arguments import instance, integer
from .._arrays import float32_array
from .._core import Error, bf16_means
from .._formats import decode
from .workers import Link

#: Workers whose packets a reduction takes: its table of 1/k has as many entries.
MOST_WORKERS = 64
MOST_NUMBERS = 2**26


@dataclass(frozen=True)
class Packet:
    """Numbers of one worker. index: which packet of its numbers. values: float32 that BF16 holds, as it does those of FP8; fewer than
    a packet has only at the end."""

    worker: int
    index: int
    values: NDArray[np.float32]


@dataclass(frozen=True)
class Reduced:
    """What arrived, on average. codes: BF16, one a number; zero where nothing arrived. counts: of each packet, how many workers'
    arrived."""

    codes: NDArray[np.uint16]
    counts: NDArray[np.uint8]

    def values(self) -> NDArray[np.float32]:
        return decode(self.codes, "bf16")


def sent(values: NDArray[np.float32], worker: int, link: Link, seed: int) -> list[Packet]:
    """The packets of a worker's numbers that arrive over a link.

    values: one dimension. seed: of the link's words, as for Link.arrived. The packets' values are views.
    Raises Error for another shape, and a worker that is not 0 to 63.
    """
    array = float32_array(values, "values")
    if array.ndim != 1 or not array.size:
        raise Error(f"values have shape {array.shape}; expected one dimension, of one number or more")
    instance("link", link, Link, "as narrowgauge.train.Link() is one")
    integer("worker", worker, 0, MOST_WORKERS - 1)
    arrived = link.arrived(seed, array.size)
    starts = range(0, array.size, link.packet)
    return [
        Packet(worker, index, array[start : start + link.packet])
        for index, start in enumerate(starts)
        if arrived[start]
    ]


def reciprocals(workers: int = MOST_WORKERS) -> NDArray[np.float32]:
    """The table that a sum is multiplied by: entry k is 1/k, rounded to float32; entry 0 is 0. workers: the last k, 1 to 64."""
    counts = np.arange(integer("workers", workers, 1, MOST_WORKERS) + 1, dtype=np.float64)
    return np.divide(1, counts, out=np.zeros_like(counts), where=counts > 0).astype(np.float32)


def lossy_reduce(packets: Iterable[Packet], *, workers: int, size: int, packet: int = 64) -> Reduced:
    """Means of what arrived: the exact sum of a number's values, times 1/k of the table, rounded once to BF16 (nearest even).

    packets: of any workers, in any order, of which the result does not depend. workers: 1 to 64. size: numbers of a worker.
    packet: numbers in one, the last excepted. A sum of zero is +0.

    Raises Error for a worker or an index out of range, a packet of another length, one that arrives twice, and values that are
    not finite numbers of BF16.
    """
    integer("workers", workers, 1, MOST_WORKERS), integer("packet", packet, 1, 2**20)
    integer("size", size, 1, MOST_NUMBERS // workers)
    parts = np.zeros((workers, size), np.uint16)  # codes of BF16
    came = np.zeros((workers, -(-size // packet)), bool)
    for one in packets:
        instance("a packet", one, Packet, "as narrowgauge.train.sent() gives them")
        worker = integer("worker of a packet", one.worker, 0, workers - 1)
        index = integer("index of a packet", one.index, 0, came.shape[1] - 1)
        here = f"packet {index} of worker {worker}"
        if came[worker, index]:
            raise Error(f"{here} arrived twice; expected each once; drop copies before the sum")
        came[worker, index] = True
        place = parts[worker, index * packet : (index + 1) * packet]
        values = float32_array(one.values, "values")
        if values.shape != place.shape:
            raise Error(f"{here} has values of shape {values.shape}; expected {place.shape}")
        if not np.isfinite(values).all() or (values.view(np.uint32) & 0xFFFF).any():
            raise Error(f"{here} has values that BF16 does not hold; expected finite numbers of BF16")
        place[:] = values.view(np.uint32) >> 16
    counts = came.sum(axis=0).astype(np.uint8)
    return Reduced(bf16_means(parts, np.repeat(counts, packet)[:size]), counts)
