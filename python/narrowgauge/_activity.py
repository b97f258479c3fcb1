# SPDX-License-Identifier: Apache-2.0
"""Prices a unit on the waves of one's own simulation, rung L1: `narrowgauge energy --activity waves.fst --scope top.u_mac`.

docs/energy_activity.md says what is counted, and how far off it is.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, _waves
from ._arguments import integer, path, shown, text
from ._core import Answer, Error
from ._energy import Gauge, _text, checked_gauge

CLOCKS = ("clk_i", "clk", "clock")
PORTS = {
    "a": "a_i",
    "b": "b_i",
    "a_scale": "a_scale_i",
    "b_scale": "b_scale_i",
    "valid": "valid_i",
    "first": "first_i",
    "reset": "rst_ni",
}
MAX_UNKNOWN = 0.01
MAX_PRODUCTS = 2**63 - 1


@dataclass(frozen=True)
class ActivityEnergy:
    """What a unit cost in a simulation.

    answer: energy of all the cycles, at rung L1, with its error; its `each` is of a product's place in a cycle, taken or not.
    scope: the instance, with its whole path.
    cycles: clock edges in the window, outside of reset. active: those at which the unit took operands.
    held: those without operands to take at which none changed, so that only the clock costs.
    unknown: active cycles left out because an operand had bits at x or z.
    counted: the cycles whose flips were counted.
    operations: multiply-accumulates of the active cycles.
    seconds: of the window, from its first edge to one period behind its last.
    """

    answer: Answer
    scope: str
    cycles: int
    active: int
    held: int
    unknown: int
    counted: int
    operations: int
    seconds: float

    @property
    def each(self) -> float:
        """Joules of a multiply-accumulate, idle cycles included."""
        return self.answer.value / self.operations

    @property
    def power_w(self) -> float:
        """Mean power over the window."""
        return self.answer.value / self.seconds

    def __str__(self) -> str:
        left = f" {self.unknown} cycles had unknown operands and are left out." if self.unknown else ""
        answer = str(self.answer).rstrip("\n")
        return (
            f"{answer}\nIn {self.scope}: {self.active} of {self.cycles} cycles took operands, in {self.held} nothing changed, "
            f"{self.counted} were counted.{left}\nA multiply-accumulate with its share of idle cycles: {self.each * 1e12:.4g} pJ. "
            f"Mean power over {self.seconds:.4g} s: {self.power_w * 1e3:.4g} mW.\n"
        )


@dataclass
class _Cycles:
    """The signals of a scope at its clock edges."""

    waves: _waves.Waves
    edges: NDArray[np.int64]

    def bits(self, name: str) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        """Bits of a signal, and those that are unknown, a row a cycle, bit 0 first."""
        signal = self.waves.signals[name]
        at = signal.at(self.edges)

        def rows(words: list[int], before: int) -> NDArray[np.uint8]:
            size = (signal.width + 7) // 8
            packed = b"".join(word.to_bytes(size, "little") for word in words)
            bits = np.frombuffer(packed, np.uint8).reshape(-1, size)
            bits = np.unpackbits(bits, axis=1, bitorder="little", count=signal.width)
            return np.concatenate([bits, np.full((1, signal.width), before, np.uint8)])[at]  # the last: nothing yet

        return rows(signal.values, 0), rows(signal.unknown, 1)

    def words(self, name: str) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Bits of a signal, a row a cycle, bit 0 first, and whether any of them is unknown."""
        bits, unknown = self.bits(name)
        return bits, np.asarray(unknown.any(axis=1), bool)

    def flag(self, name: str) -> NDArray[np.bool_]:
        """Whether a signal of one bit is 1; unknown counts as 0."""
        bits, unknown = self.words(name)
        ones: NDArray[np.bool_] = (bits[:, 0] == 1) & ~unknown
        return ones


def _window(window: object) -> tuple[float, float] | None:
    if window is None:
        return None
    try:
        start, stop = (float(item) for item in window)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise Error(f"window is {shown(window)}; expected two times in seconds, (from, to)") from None
    if not 0 <= start < stop:
        raise Error(f"window is {shown(window)}; expected two times in seconds, the first before the second")
    return start, stop


def _fields(question: dict[str, Any], gauge: Gauge | None) -> dict[str, Any]:
    """The question with the fields of a recorded unit in place of its name, at rung L1."""
    rung = question.get("rung", "best")
    if rung not in ("best", "L1"):
        raise Error(f"rung is {shown(rung)}; expected L1 with an activity: L2 and L3 of one are characterize.py's")
    fields = dict(question)
    unit = fields.pop("unit", None)
    if unit is not None:
        if fields.get("format") is not None:
            raise Error(f"unit {shown(unit)} has a format of its own; expected a unit or a format")
        mac = json.loads(_core.recorded_mac(text("unit", unit), gauge=gauge))
        fields = {**mac, **{key: value for key, value in fields.items() if value is not None}}
    return {**fields, "rung": "L1"}


def _needed(shape: tuple[int, int, int, int, bool], names: Mapping[str, str]) -> dict[str, int]:
    """Port -> bits, of the ports without which there is no price."""
    lanes, a_bits, b_bits, block, _ = shape
    needed = {names["a"]: lanes * a_bits, names["b"]: lanes * b_bits}
    if block > 1:
        needed |= {names["a_scale"]: 8 * (lanes // block), names["b_scale"]: 8 * (lanes // block)}
    return needed


def _codes(cycles: _Cycles, name: str, rows: NDArray[np.int64], bits: int, kind: type) -> NDArray[Any]:
    """The codes that lie side by side in a port, a row a cycle."""
    words = cycles.words(name)[0][rows]
    weights = np.left_shift(np.uint64(1), np.arange(bits, dtype=np.uint64))
    return (words.reshape(len(rows), -1, bits).astype(np.uint64) @ weights).astype(kind)


def _first_every(first: NDArray[np.int64]) -> int:
    """Cycles of a sum: what the flags say, their mean where they differ."""
    return 0 if len(first) < 2 else max(1, round((first[-1] - first[0]) / (len(first) - 1)))


def _waves_of(file: str, scope: str, wanted: Sequence[str]) -> _waves.Waves:
    """The signals of a scope. Raises Error where there are none."""
    try:
        if _waves.kind(file) == "saif":
            raise Error(
                f'activity "{file}" is SAIF, which counts changes and has no values; expected VCD or FST of the unit\'s ports '
                "(characterize.py prices a mapped netlist by SAIF)"
            )
        return _waves.read_waves(file, scope, list(dict.fromkeys(wanted)))
    except _waves.WaveError as error:
        raise Error(str(error)) from None


def _require(waves: _waves.Waves, needed: Mapping[str, int], whose: str, hint: str = "") -> None:
    """Raises Error where one of these ports is not there, or has other bits."""
    for name, bits in needed.items():
        signal = waves.signals.get(name)
        if signal is None:
            raise Error(f"scope {waves.scope} has no port {name}, which {whose} takes; expected it{hint}")
        if signal.width != bits:
            raise Error(f"port {name} of {waves.scope} has {signal.width} bits; expected {whose}'s {bits}")


def _checked(
    file: object, scope: object, gauge: Gauge | None, max_products: object, max_unknown: object
) -> tuple[str, str, Gauge | None, int]:
    """What both functions are given, but for the share, which is only looked at."""
    where = path("file", file), text("scope", scope)
    found = checked_gauge(gauge)
    products = integer("max_products", max_products, 1, MAX_PRODUCTS)
    if not isinstance(max_unknown, int | float) or not 0 <= max_unknown < 1:
        raise Error(f"max_unknown is {shown(max_unknown)}; expected a share from 0 to below 1")
    return *where, found, products


def _clocked(waves: _waves.Waves, clocks: Sequence[str], limits: tuple[float, float] | None, reset: str) -> _Cycles:
    """The signals at the edges of the first of these clocks that is there, outside of reset."""
    found = next((name for name in clocks if name in waves.signals), None)
    if found is None:
        raise Error(
            f"scope {waves.scope} has no clock {' or '.join(clocks)}; expected one; name it, with its whole path if it is elsewhere"
        )
    try:
        cycles = _Cycles(waves, waves.edges(found, limits))
    except _waves.WaveError as error:
        raise Error(str(error)) from None
    return _Cycles(waves, cycles.edges[cycles.flag(reset)]) if reset in waves.signals else cycles


def activity_energy(
    file: str | PathLike[str],
    scope: str,
    format: str | None = None,
    *,
    clock: str | None = None,
    window: tuple[float, float] | None = None,
    ports: Mapping[str, str] | None = None,
    max_unknown: float = MAX_UNKNOWN,
    max_products: int = 1 << 22,
    gauge: Gauge | None = None,
    **fields: Any,
) -> ActivityEnergy:
    """Energy of a unit on what its ports saw in a simulation, rung L1: flips are counted in the golden model.

    file: waves, VCD or FST (with the package pywellen). A signal's value at a clock edge is the one just before it.
    scope: the unit's instance, 'top.u_mac', or the end of its path that is the only one.
    format, fields: the unit, as `energy` takes them; or `unit`, the name of a recorded unit.
    clock: its clock in that scope, or a whole path; without it clk_i, clk or clock.
    window: (from, to) in seconds of the simulation.
    ports: the unit's names for 'a', 'b', 'a_scale', 'b_scale', 'valid', 'first' and 'reset' (active low), where they are
        not a_i, b_i, a_scale_i, b_scale_i, valid_i, first_i and rst_ni. Without a port for valid every cycle counts.
    max_unknown: the share of active cycles whose operands may have bits at x or z.

    Raises Error that names the port, scope or window.
    """
    file, scope, gauge, max_products = _checked(file, scope, gauge, max_products, max_unknown)
    if ports is not None and not isinstance(ports, Mapping):
        raise Error(f"ports is {shown(ports)}; expected a dictionary from {', '.join(PORTS)} to names of ports")
    for what, name in (ports or {}).items():
        if what not in PORTS:
            raise Error(f"ports has {shown(what)}; expected some of {', '.join(PORTS)}")
        text(f"port {what}", name)
    limits = _window(window)
    names = {**PORTS, **(ports or {})}
    question = _fields({"format": format, **fields}, gauge)
    shape = _core.operand_shape(_text(question), gauge=gauge)
    needed = _needed(shape, names)
    clocks = CLOCKS if clock is None else (text("clock", clock),)
    waves = _waves_of(file, scope, [*names.values(), *clocks])
    _require(waves, needed, "the unit", "; name it with ports, or --port")
    for what in ports or {}:
        if names[what] not in waves.signals:
            raise Error(f"scope {waves.scope} has no port {names[what]}, which was named for {what}")
    cycles = _clocked(waves, clocks, limits, names["reset"])
    return _price(cycles, names, question, shape, max_unknown, max_products, gauge)


def _price(
    cycles: _Cycles,
    names: Mapping[str, str],
    question: dict[str, Any],
    shape: tuple[int, int, int, int, bool],
    max_unknown: float,
    max_products: int,
    gauge: Gauge | None,
) -> ActivityEnergy:
    lanes, a_bits, b_bits, block, accumulates = shape
    known, scope = cycles.waves.signals, cycles.waves.scope
    total = len(cycles.edges)
    active = cycles.flag(names["valid"]) if names["valid"] in known else np.ones(total, bool)
    odd, same = np.zeros(total, bool), np.ones(total, bool)
    for name in _needed(shape, names):
        odd |= cycles.words(name)[1]
        at = known[name].at(cycles.edges)
        same &= np.diff(at, prepend=-2) == 0
    unknown = int((active & odd).sum())
    if unknown > max_unknown * active.sum():
        worst = max(_needed(shape, names), key=lambda name: int((active & cycles.words(name)[1]).sum()))
        raise Error(
            f"port {worst} of {scope} has bits at x or z in {int((active & cycles.words(worst)[1]).sum())} of "
            f"{int(active.sum())} active cycles; expected at most {max_unknown:.2%} (max_unknown): begin behind the reset"
        )
    if active.sum() - unknown < 2:
        raise Error(
            f"scope {scope} takes operands in {int(active.sum()) - unknown} of {total} cycles; expected two or more, for a flip "
            "takes two"
        )
    held = ~active & (odd | same)
    rows = np.flatnonzero(~odd & ~held)
    first = np.zeros(0, np.int64)
    counted = rows
    if accumulates and names["first"] in known:
        first = np.flatnonzero((cycles.flag(names["first"]) & active)[rows])
        if len(first) and len(rows) - first[0] >= 2:
            counted = rows[first[0] :]
    counted = counted[: max(2, max_products // lanes)]
    priced = len(rows) + int(held.sum())
    empty = np.zeros(0, np.uint8)
    answer = _core.ask_stream(
        _text({"count": priced * lanes, **{key: value for key, value in question.items() if value is not None}}),
        _codes(cycles, names["a"], counted, a_bits, np.uint32),
        _codes(cycles, names["b"], counted, b_bits, np.uint32),
        _codes(cycles, names["a_scale"], counted, 8, np.uint8) if block > 1 else empty,
        _codes(cycles, names["b_scale"], counted, 8, np.uint8) if block > 1 else empty,
        _first_every(first),
        round(int(held.sum()) * len(counted) / len(rows)),
        gauge=gauge,
    )
    span = float(cycles.edges[-1] - cycles.edges[0])
    return ActivityEnergy(
        answer=answer,
        scope=scope,
        cycles=total,
        active=int(active.sum()),
        held=int(held.sum()),
        unknown=unknown,
        counted=len(counted),
        operations=(int(active.sum()) - unknown) * lanes,
        seconds=span * total / (total - 1) * cycles.waves.tick_s,
    )
