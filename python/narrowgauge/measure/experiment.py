# SPDX-License-Identifier: Apache-2.0
"""The experiment: blocks at rest and blocks in which the loop runs, and the interval of their difference."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from .._core import Error
from .sensors import Reading, Sensor

REGULATORS = ("none", "linear", "switching")
#: Fewer readings in a block say too little, and are taken for a sensor that drops out.
LEAST_READINGS = 5


def student_quantile(probability: float, freedom: int) -> float:
    """The number below which Student's t with so many degrees of freedom stays with this probability, 0.5 to 1."""

    def below(t: float) -> float:
        x = np.linspace(0.0, t, 4001)
        constant = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(freedom * math.pi)
        y = constant * (1 + x * x / freedom) ** (-(freedom + 1) / 2)
        return 0.5 + t / 12000 * float(y[0] + 4 * y[1::2].sum() + 2 * y[2:-1:2].sum() + y[-1])

    low, high = 0.0, 1.0
    while below(high) < probability:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) < probability else (low, middle)
    return high


@dataclass(frozen=True)
class Rail:
    """What the sensor stands in, and so what its readings say of the core.

    regulator: 'none', the sensor is in the core's own rail; 'linear', it is in front of a linear regulator, which passes the
    current on, so that power is current times the core's voltage; 'switching', it is in front of a switching one, whose losses
    are then in the result. core_volts: of the core; None: what the sensor measures, which is not possible with 'linear'.
    """

    regulator: str = "none"
    core_volts: float | None = None

    def __post_init__(self) -> None:
        if self.regulator not in REGULATORS:
            raise Error(f"regulator is {self.regulator!r}; expected one of {', '.join(REGULATORS)}")
        if self.core_volts is not None and not 0 < self.core_volts < 100:
            raise Error(f"core_volts is {self.core_volts}; expected more than 0, less than 100")
        if self.regulator == "linear" and self.core_volts is None:
            raise Error("behind a linear regulator power is current times the core's voltage; expected core_volts")

    def watts(self, reading: Reading) -> float:
        """Power of the core, or with 'switching' in front of it. Raises Error where the sensor does not measure enough."""
        if self.regulator == "linear" or (self.regulator == "none" and self.core_volts is not None):
            found = reading.amperes * (self.core_volts or 0.0)
        else:
            found = reading.watts if not math.isnan(reading.watts) else reading.amperes * reading.volts
        if math.isnan(found):
            raise Error("the sensor does not measure what the rail needs; expected one of current, and core_volts")
        return found


class Loop(Protocol):
    """What can be made to repeat one product, and stopped."""

    macs: int

    def start(self) -> None:
        """Begins."""

    def stop(self) -> tuple[int, float]:
        """Ends; how often the product was computed, and the seconds of the board's clock that it took."""


@dataclass(frozen=True)
class Schedule:
    """Seconds of a block and of what is left out at its begin; triples at least; seconds at most; the interval that ends it.

    width: half of the interval, relative. confidence: of the interval.
    """

    block_s: float = 2.0
    settle_s: float = 0.2
    triples: int = 8
    most_s: float = 600.0
    width: float = 0.02
    confidence: float = 0.95

    def __post_init__(self) -> None:
        for name, low, high in (
            ("block_s", 0.01, 60),
            ("settle_s", 0, 60),
            ("triples", 3, 1000),
            ("most_s", 0, 1e6),
            ("width", 0, 1),
            ("confidence", 0.5, 0.9999),
        ):
            if not low <= getattr(self, name) <= high:
                raise Error(f"{name} is {getattr(self, name)}; expected {low} to {high}")


@dataclass(frozen=True)
class Measured:
    """The difference between loop and rest.

    power_w: its mean; interval_w: where the mean lies with the schedule's confidence, by Student's t over triples.
    differences_w: of each triple. rest_w: mean power at rest. macs_per_s: by the board's clock, while the loop runs.
    seconds: that it took. readings: of all blocks.
    """

    power_w: float
    interval_w: tuple[float, float]
    differences_w: tuple[float, ...]
    rest_w: float
    macs_per_s: float
    seconds: float
    readings: int

    @property
    def energy_per_mac_j(self) -> float:
        """Joules of a multiply-accumulate."""
        return self.power_w / self.macs_per_s

    @property
    def interval_j(self) -> tuple[float, float]:
        """The interval of energy_per_mac_j."""
        return self.interval_w[0] / self.macs_per_s, self.interval_w[1] / self.macs_per_s


def interval(differences: NDArray[np.float64], confidence: float) -> tuple[float, float]:
    """Where the mean of these lies, by Student's t."""
    mean = float(differences.mean())
    half = student_quantile((1 + confidence) / 2, len(differences) - 1) * float(differences.std(ddof=1))
    half /= math.sqrt(len(differences))
    return mean - half, mean + half


@dataclass(frozen=True)
class _Block:
    watts: NDArray[np.float64]
    raw: NDArray[np.float64]  # what the converter gave

    @property
    def still(self) -> bool:
        """Whether all its readings are one and the same number."""
        return bool((self.raw == self.raw[0]).all())


def _block(sensor: Sensor, rail: Rail, schedule: Schedule) -> _Block:
    begin = sensor.now() + schedule.settle_s
    last, gap = begin, 0.0
    readings: list[Reading] = []
    while True:
        reading = sensor.read()
        if reading.seconds >= begin + schedule.block_s:
            break
        if reading.seconds < begin:
            continue
        gap, last = max(gap, reading.seconds - last), reading.seconds
        readings.append(reading)
    gap = max(gap, begin + schedule.block_s - last)
    if len(readings) < LEAST_READINGS:
        raise Error(
            f"{sensor.name} gave {len(readings)} readings in {schedule.block_s:g} s; expected {LEAST_READINGS} or more: it "
            "dropped out, or is too slow for such blocks"
        )
    if gap > schedule.block_s / 4:
        raise Error(f"{sensor.name} dropped out: nothing came for {gap:.3f} s of a block of {schedule.block_s:g} s")
    amperes = np.array([r.amperes for r in readings])
    if (np.abs(amperes) >= 0.999 * sensor.full_scale).any():
        raise Error(
            f"{sensor.name} clips: {np.abs(amperes).max():g} A is the end of its range; expected a smaller shunt, or another range"
        )
    raw = amperes if not np.isnan(amperes).any() else np.array([r.watts for r in readings])
    return _Block(np.array([rail.watts(r) for r in readings]), raw)


def _check_alive(sensor: Sensor, blocks: list[_Block]) -> None:
    """The last three blocks are those of a sensor that measures."""
    triple = blocks[-3:]
    still = [block.still for block in triple]
    if all(still) and len({float(block.raw[0]) for block in triple}) == 1:
        raise Error(
            f"{sensor.name} is stuck, or too coarse: it says {triple[0].raw[0]:g} with and without the loop; expected a sensor that tells them apart"
        )
    if any(still) and sum(not block.still for block in blocks) > len(blocks) / 2:
        at = triple[still.index(True)].raw
        raise Error(f"{sensor.name} is stuck: {len(at)} readings in a row are {at[0]:g}, and others scatter")


def measure(
    loop: Loop,
    sensor: Sensor,
    rail: Rail | None = None,
    schedule: Schedule | None = None,
    *,
    progress: Callable[[int, float], object] | None = None,
) -> Measured:
    """Measures what the loop takes, more than rest, in triples of blocks: rest, loop, rest.

    Both kinds of block are of the same board with the same clock, so that what leaks and what the clock takes cancel; rest on
    both sides of the loop cancels a drift. The interval is that of the mean over triples, since readings of a block are not
    independent. It goes on until half of the interval is below schedule.width of the mean, or schedule.most_s is over.

    progress: called behind each triple with their number and the relative half of the interval. Raises Error for a sensor that
    sticks, clips, drops out or cannot tell loop from rest.
    """
    rail, schedule = rail or Rail(), schedule or Schedule()
    start = sensor.now()
    blocks: list[_Block] = []
    differences: list[float] = []
    rest: list[float] = []
    times, seconds = 0, 0.0
    while True:
        sensor.follow(False)
        blocks.append(_block(sensor, rail, schedule))
        loop.start()
        sensor.follow(True)
        try:
            blocks.append(_block(sensor, rail, schedule))
        finally:
            sensor.follow(False)
            more, took = loop.stop()
        times, seconds = times + more, seconds + took
        blocks.append(_block(sensor, rail, schedule))
        _check_alive(sensor, blocks)
        before, between, after = (float(block.watts.mean()) for block in blocks[-3:])
        differences.append(between - (before + after) / 2)
        rest += [before, after]
        if len(differences) < 2:
            continue
        low, high = interval(np.array(differences), schedule.confidence)
        mean = (low + high) / 2
        width = (high - low) / 2 / abs(mean) if mean else math.inf
        if progress is not None:
            progress(len(differences), width)
        over = sensor.now() - start >= schedule.most_s
        if len(differences) >= schedule.triples and (width <= schedule.width or over):
            break
    if low <= 0:
        raise Error(
            f"loop and rest differ by {mean:.3g} W, {low:.3g} to {high:.3g} W after {len(differences)} triples, which may be nothing; "
            "expected more triples, a better sensor, or one that stands in the core's rail"
        )
    if not times or not seconds > 0:
        raise Error("the loop computed no product while it was measured; expected longer blocks, or a shorter product")
    return Measured(
        mean,
        (low, high),
        tuple(differences),
        float(np.mean(rest)),
        loop.macs * times / seconds,
        sensor.now() - start,
        sum(len(block.raw) for block in blocks),
    )
