# SPDX-License-Identifier: Apache-2.0
"""Workers that wait for the slowest, and DropCompute (arXiv 2306.10598), which ends a step at a deadline and drops what is not done."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._arguments import integer, number, one_of
from .._core import Error
from .._formats import random_fields

Times = NDArray[np.float64]
#: Where a deadline ends a worker's step: at once, after a micro-batch's forward part or before a micro-batch, before one only.
CHECKS = ("at once", "after forward", "between")
#: Share of a micro-batch that is its forward part.
FORWARD = 1 / 3
CANDIDATES = 200


def delays(seed: int, steps: int, workers: int, micro_batches: int) -> Times:
    """Times of micro-batches under the delay of the paper's experiments, in units of an undisturbed one: 1 + x / 2, x log-normal(4, 1),
    cut to the integers 1 to 999, with mean 1.

    seed: of Philox4x32-10; the micro-batch at place i of the result takes field i of 32 bits. Returns (steps, workers, micro_batches).
    """
    for name, value in (("steps", steps), ("workers", workers), ("micro_batches", micro_batches)):
        integer(name, value, 1, 2**20)
    lengths = np.arange(1, 1000)
    chance = np.exp(-np.square(np.log(lengths) - 4) / 2) / lengths
    chance /= chance.sum()
    below = np.cumsum(chance)
    fields = random_fields(seed, steps * workers * micro_batches)
    chosen = np.searchsorted(below, (fields + 0.5) / 2**32).clip(0, len(lengths) - 1)
    x = lengths[chosen] / (chance @ lengths)
    times: Times = (1 + x / 2).reshape(steps, workers, micro_batches)
    return times


@dataclass(frozen=True)
class Threshold:
    """The deadline that `drop_threshold` chose. seconds: of it. drop: share of micro-batches that it drops. gain: share of a step's time
    that it saves. speedup: mean of (1 - drop) / (1 - gain) - 1 over the steps, the estimate that it maximizes."""

    seconds: float
    drop: float
    gain: float
    speedup: float


def drop_threshold(times: NDArray[np.number], raw: float) -> Threshold:
    """The deadline that promises most for logged times, as the authors' code has it.

    times: milliseconds of micro-batches, (workers, steps, micro-batches), six of the last or more. raw: milliseconds that all steps
    took together, waiting included. 200 deadlines are tried, from the earliest end of a sixth micro-batch to the latest of all.

    The estimate is optimistic: it ends a worker at its last micro-batch before the deadline, not at the deadline.
    Raises Error for another shape, times that are not positive and finite, and a raw time below that of the slowest workers.
    """
    log = np.asarray(times)
    if log.ndim != 3 or log.shape[2] < 6 or not log.size:
        raise Error(f"times have shape {log.shape}; expected workers x steps x micro-batches, six of these or more")
    if log.dtype.kind not in "uif" or not np.isfinite(log).all() or log.min() <= 0:
        raise Error("times hold what is no positive finite number; expected milliseconds")
    log = log.astype(np.float64)
    ends = log.cumsum(axis=2)
    slowest = ends[:, :, -1].max(axis=0)
    overhead = number("raw", raw) / log.shape[1] - slowest.mean()
    if not overhead >= -1e-9 * slowest.mean():
        raise Error(f"raw is {raw} ms; expected {slowest.sum()} or more, which the slowest workers of all steps took")
    whole = slowest + overhead
    deadlines = np.linspace(ends[:, :, 5:].min(), ends.max(), CANDIDATES)
    found = []
    for deadline in deadlines:
        kept = ends < deadline
        gain = (slowest - np.where(kept, ends, 0).max(axis=(0, 2))) / whole
        drop = 1 - kept.mean(axis=(0, 2))
        found.append((float(((1 - drop) / (1 - gain) - 1).mean()), float(drop.mean()), float(gain.mean())))
    best = int(np.argmax([speedup for speedup, _, _ in found]))
    speedup, drop_rate, gained = found[best]
    return Threshold(float(deadlines[best] * 0.001), drop_rate, gained, speedup)


@dataclass(frozen=True)
class Ended:
    """What a deadline does. kept: which micro-batches count, of the shape of the times. ends: when a worker has ended its step."""

    kept: NDArray[np.bool_]
    ends: Times


def ended(times: Times, deadline: float, check: str = "at once") -> Ended:
    """A step under a deadline. times: of micro-batches, along the last axis, which follow each other; the axis before is the workers'.

    check: one of CHECKS. 'at once' aborts inside a micro-batch, as a tile's deadline register would; 'after forward' looks at the
    clock before a micro-batch and after a third of it, as the authors' program; 'between' before a micro-batch only.
    """
    one_of("check", check, CHECKS)
    ends = times.cumsum(axis=-1)
    starts = ends - times
    if check == "at once":
        return Ended(ends <= deadline, np.minimum(ends[..., -1], deadline))
    looked = starts + FORWARD * times if check == "after forward" else starts
    kept = looked <= deadline
    stopped = np.where(starts > deadline, starts, looked)
    first = np.where(kept, np.inf, stopped).min(axis=-1)
    return Ended(kept, np.where(np.isfinite(first), first, ends[..., -1]))


@dataclass(frozen=True)
class Speedup:
    """DropCompute's, of the best deadline. effective: work a time, with it over without. drop: share of micro-batches."""

    effective: float
    drop: float
    deadline: float


def speedup(times: Times, wait: float, check: str = "at once") -> Speedup:
    """The best deadline of 200 for given times, (steps, workers, micro-batches), by what really ends when.

    wait: of a step beside its micro-batches, as for the sum of gradients, in the unit of the times.
    """
    slowest = times.sum(axis=-1).max(axis=1)
    best = Speedup(1.0, 0.0, float(slowest.max()))
    for deadline in np.linspace(times.sum(axis=-1).min(), slowest.max(), CANDIDATES):
        done = ended(times, float(deadline), check)
        kept = float(done.kept.mean())
        effective = kept * float((slowest.mean() + wait) / (done.ends.max(axis=1).mean() + wait))
        if effective > best.effective:
            best = Speedup(effective, 1 - kept, float(deadline))
    return best
