# SPDX-License-Identifier: Apache-2.0
"""The loop of a board, and the technology file that a measurement makes."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from .._arguments import number
from .._core import Error
from .._engine import Engine, LoopState
from .._files import written_whole
from .._quantized import QuantizedMatrix, gemm
from .experiment import Measured, Rail, Schedule

#: Repetitions whose results are compared before and after.
PROOF = 100


class BoardLoop:
    """A product that a board repeats, checked against the golden model before, and against itself after.

    engine: of a board. a, b: operands that stay in its tile. clock_hz: of the board's image, 1e6 to 1e9.
    """

    def __init__(self, engine: Engine, a: QuantizedMatrix, b: QuantizedMatrix, clock_hz: float) -> None:
        if not 1e6 <= number("clock_hz", clock_hz) <= 1e9:
            raise Error(f"clock_hz is {clock_hz}; expected that of the board's image, 1e6 to 1e9")
        self._engine, self._clock_hz = engine, float(clock_hz)
        self._began = 0.0
        self.result = engine.hold(a, b)
        if not (self.result.c.view(np.uint32) == gemm(a, b).view(np.uint32)).all():
            raise Error(
                "the board's product is not the golden model's; expected a board whose clock and supply are as its image wants"
            )
        self.macs = self.result.products
        self.hash = self.proof()

    def proof(self) -> int:
        """The hash of 100 repetitions: the same before and after, or the board has miscounted."""
        self._engine.start_loop(PROOF)
        end = time.monotonic() + 60
        state = self._engine.loop_state()
        while state.running:
            if time.monotonic() > end:
                raise Error(f"{PROOF} repetitions did not end in 60 s; expected a shorter product")
            state = self._engine.loop_state()
        if state.times != PROOF:
            raise Error(f"the board computed {state.times} products; expected {PROOF}")
        return state.hash

    def start(self) -> None:
        """Begins."""
        self._began = time.monotonic()
        self._engine.start_loop()

    def stop(self) -> tuple[int, float]:
        """Ends; how often the product was computed, and seconds by the board's clock."""
        state: LoopState = self._engine.stop_loop()
        if (time.monotonic() - self._began) * self._clock_hz >= 2**32:
            raise Error(
                f"the board's count of cycles wraps after {2**32 / self._clock_hz:.0f} s; expected shorter blocks"
            )
        return state.times, state.cycles / self._clock_hz

    def check(self) -> None:
        """Raises Error unless the board still computes what it did."""
        if (now := self.proof()) != self.hash:
            raise Error(
                f"the board's results changed: hash {now:08x} after, {self.hash:08x} before; expected a slower clock or a better supply"
            )


def product(
    found: Measured, format: str, lanes: int, tile: str, operands: str, how: str, bitstream: Path | None = None
) -> dict[str, Any]:
    """An entry of a technology file."""
    return {
        "mac": {"format": format, "lanes": lanes, "accumulator": True},
        "tile": tile,
        "operands": operands,
        "bitstream_sha256": "" if bitstream is None else hashlib.sha256(bitstream.read_bytes()).hexdigest(),
        "how": how,
        "energy_per_mac_j": found.energy_per_mac_j,
        "interval_j": list(found.interval_j),
        "power_w": found.power_w,
        "rest_w": found.rest_w,
        "macs_per_s": found.macs_per_s,
        "differences_w": list(found.differences_w),
        "readings": found.readings,
        "seconds": found.seconds,
    }


def how(sensor: str, rail: Rail, schedule: Schedule, found: Measured, temperature: float | None) -> str:
    """A sentence for people: sensor, rail, triples, temperature."""
    where = {
        "none": "in the core's rail",
        "linear": f"in front of a linear regulator to {rail.core_volts} V",
        "switching": "in front of a switching regulator, whose losses are in it",
    }[rail.regulator]
    return (
        f"{sensor}, {where}; {len(found.differences_w)} triples of {schedule.block_s:g} s, "
        f"{schedule.confidence * 100:g} % interval by Student's t"
        + ("" if temperature is None else f", at {temperature:g} degrees Celsius")
    )


def saved_products(file: str | Path, technology: str) -> list[dict[str, Any]]:
    """What a technology file has; nothing where there is none. Raises Error for another file, or another technology."""
    file = Path(file)
    if not file.exists():
        return []
    try:
        there = json.loads(file.read_text(encoding="utf-8"))
        name, products = there["technology"], list(there["products"])
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise Error(
            f"{file} is no technology file of narrowgauge measure ({error}); expected one, or a free name"
        ) from None
    if name != technology:
        raise Error(f"{file} is of technology {name}; expected {technology}, or another file")
    return products


def save(file: str | Path, technology: str, about: str, entry: dict[str, Any]) -> None:
    """Writes the product into a technology file, beside those of other formats and tiles that are there.

    `narrowgauge energy --calibration FILE --technology NAME` reads it. Raises Error as saved_products() does.
    """
    key = (entry["mac"]["format"], entry["tile"])
    others = saved_products(file, technology)
    products = [one for one in others if (one["mac"]["format"], one["tile"]) != key]
    document: dict[str, Any] = {
        "technology": technology,
        "rung": "L5",
        "about": about,
        "products": sorted([*products, entry], key=lambda one: (one["mac"]["format"], one["tile"])),
    }
    text = json.dumps(document, indent=1)
    document = {"id": hashlib.sha256(text.encode()).hexdigest()[:16], **document}
    with written_whole(file, str(file)) as out:
        out.write((json.dumps(document, indent=1) + "\n").encode())
