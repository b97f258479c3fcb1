# SPDX-License-Identifier: Apache-2.0
"""The activity of a user's own simulation in the netlist flow (characterize.py --activity), rungs L2 and L3.

Waves of a unit's RTL: what its inputs saw at each clock edge becomes the stimulus of its mapped netlist, which is simulated with
and without delays as under any other stimulus. Waves or SAIF of the mapped netlist itself: its nets' transitions are priced as
they were counted, each input of a cell taken to have caused an equal share.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ngtools.ngflow import ROOT, FlowError
from ngtools.power import own_unit

MAX_UNKNOWN = 0.01  # of the bits
CLOCKS = own_unit.CLOCKS
TOP_CLOCK = "clk_i"  # of the flow's netlists


def load_waves() -> ModuleType:
    """The Python package's reader of waves, without the package, which has to be built."""
    place = ROOT / "python" / "narrowgauge" / "_waves.py"
    spec = importlib.util.spec_from_file_location("ng_waves", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


waves = load_waves()


@dataclass(frozen=True)
class Source:
    """The user's file and where the unit is in it."""

    file: Path
    scope: str
    clock: str | None = None
    window: tuple[float, float] | None = None  # seconds


def window_of(text: str) -> tuple[float, float]:
    """FROM:TO in seconds."""
    start, _, stop = text.partition(":")
    try:
        found = float(start), float(stop)
    except ValueError:
        raise FlowError(f"--window is '{text}'; expected FROM:TO in seconds, for example 1e-6:5e-6") from None
    if not 0 <= found[0] < found[1]:
        raise FlowError(f"--window is '{text}'; expected two times in seconds, the first before the second")
    return found


def read(source: Source, names: list[str]) -> Any:
    try:
        return waves.read_waves(source.file, source.scope, names)
    except waves.WaveError as error:
        raise FlowError(str(error)) from None


def kind(source: Source) -> str:
    try:
        return waves.kind(source.file)
    except waves.WaveError as error:
        raise FlowError(str(error)) from None


def clock_edges(source: Source, found: Any, clock: str, falling: bool) -> np.ndarray:
    try:
        return found.edges(clock, source.window, falling=falling)
    except waves.WaveError as error:
        raise FlowError(str(error)) from None


# ---------------------------------------------------------------- waves of the RTL


def stimulus(source: Source, unit: dict, inputs: dict[str, int], pins: own_unit.Pins, out: Path) -> dict:
    """Writes what the inputs saw as a .stim file; returns what is said of it in the record."""
    clocks = [source.clock] if source.clock else list(dict.fromkeys([pins.clock or "clk_i", *CLOCKS]))
    found = read(source, [*inputs, *clocks, *([pins.reset] if pins.reset else [])])
    for name, width in inputs.items():
        signal = found.signals.get(name)
        if signal is None:
            raise FlowError(f"scope {found.scope} has no port {name}, an input of {unit['top']}")
        if signal.width != width:
            raise FlowError(
                f"port {name} of {found.scope} has {signal.width} bits; expected the {width} of {unit['top']}"
            )
    clock = next((name for name in clocks if name in found.signals), None)
    if clock is None:
        raise FlowError(
            f"scope {found.scope} has no clock {' or '.join(clocks)}; name it with --clock, by its whole path"
        )
    edges = clock_edges(source, found, clock, pins.falling)
    resets = reset_cycles(found, pins, edges)
    edges = edges[resets:]
    columns, unknown, bits = [], 0, 0
    for name, width in inputs.items():
        signal, at = found.signals[name], found.signals[name].at(edges)
        odd = [word.bit_count() for word in signal.unknown]
        of = sum(width if i < 0 else odd[i] for i in at.tolist())
        bits += width * len(edges)
        unknown += of
        if of > MAX_UNKNOWN * width * len(edges):
            raise FlowError(
                f"port {name} of {found.scope} has {of} of {width * len(edges)} bits at x or z; expected at most "
                f"{MAX_UNKNOWN:.0%}: give --window, which begins behind the reset"
            )
        texts = [f"{value:x}" for value in signal.values]
        columns.append(["0" if i < 0 else texts[i] for i in at.tolist()])
    ports = [{"name": name, "width": width} for name, width in inputs.items()]
    header = {"unit": unit["name"], "stimulus": "activity", "seed": 0, "cycles": len(edges), "ports": ports}
    rows = (" ".join(row) for row in zip(*columns, strict=True))
    out.write_text("\n".join([json.dumps(header), *rows]) + "\n")
    return {
        "file": source.file.name,
        "scope": found.scope,
        "cycles": len(edges),
        "reset_cycles": resets,
        "unknown_bits": unknown,
        "bits": bits,
    }


def reset_cycles(found: Any, pins: own_unit.Pins, edges: np.ndarray) -> int:
    """Cycles of reset in front, which are left out."""
    if not pins.reset or pins.reset not in found.signals:
        return 0
    signal = found.signals[pins.reset]
    idle = 1 if pins.active_low else 0
    high = [i >= 0 and signal.unknown[i] == 0 and signal.values[i] == idle for i in signal.at(edges).tolist()]
    first = high.index(True) if True in high else len(high)
    if first == len(high):
        raise FlowError(
            f"reset {pins.reset} of {found.scope} is active in all of {len(edges)} cycles; expected some without"
        )
    if False in high[first:]:
        at = float(edges[first + high[first:].index(False)]) * found.tick_s
        raise FlowError(
            f"reset {pins.reset} of {found.scope} is active at {at:g} s again; expected a --window without it"
        )
    return first


# ---------------------------------------------------------------- the mapped netlist's own activity


def is_of_netlist(source: Source, nets: list[str]) -> bool:
    """Whether the scope has nets that only the mapped netlist has."""
    if kind(source) == "saif":
        return True
    inner = [net for net in nets if net.startswith("_") and "[" not in net][:8]
    return bool(inner) and len(read(source, inner).signals) == len(inner)


def toggles(source: Source, nets: list[str], out: Path) -> dict:
    """Writes 'net transitions' of the netlist's nets; returns what is said of it in the record."""
    if kind(source) == "saif":
        found, seconds = of_saif(source)
        where, count = found
    else:
        where, count, seconds = of_waves(source, nets)
    lacking = [net for net in nets if net not in count]
    if lacking:
        raise FlowError(
            f"scope {where} has no net {lacking[0]}, and {len(lacking) - 1} more are not there; expected all nets of netlist.v "
            f"in {out.parent}: simulate that file"
        )
    if source.clock not in (None, TOP_CLOCK):
        raise FlowError(f"--clock is {source.clock}; expected {TOP_CLOCK}, the clock of the flow's netlist")
    cycles = (count[TOP_CLOCK][0] + 1) // 2 if TOP_CLOCK in count else 0
    if cycles == 0:
        raise FlowError(f"clock {TOP_CLOCK} of {where} does not change; expected edges of a clock")
    unknown = sum(count[net][1] for net in nets)
    if unknown > MAX_UNKNOWN * len(nets):
        worst = max(nets, key=lambda net: count[net][1])
        raise FlowError(
            f"net {worst} of {where} is at x or z in {count[worst][1]:.1%} of the time, all nets in {unknown / len(nets):.1%}; "
            f"expected at most {MAX_UNKNOWN:.0%}: begin behind the reset"
        )
    out.write_text("".join(f"{net} {count[net][0]}\n" for net in nets))
    return {
        "file": source.file.name,
        "scope": where,
        "cycles": cycles,
        "unknown_share": unknown / len(nets),
        "seconds": seconds,
    }


def of_saif(source: Source) -> tuple[tuple[str, dict[str, tuple[int, float]]], float]:
    """Nets of a scope: transitions, and the share of time at x."""
    if source.window is not None:
        raise FlowError("--window is of waves; expected none with SAIF, which has one count of each net")
    try:
        saif = waves.read_saif(source.file)
        where = waves._scope_of(str(source.file), source.scope, saif.scopes)
    except waves.WaveError as error:
        raise FlowError(str(error)) from None
    count = {name: (net.toggles, net.unknown / saif.duration) for name, net in saif.scopes[where].items()}
    return (where, count), saif.duration * saif.tick_s


def of_waves(source: Source, nets: list[str]) -> tuple[str, dict[str, tuple[int, float]], float]:
    found = read(source, [])
    low, high = source.window or (0.0, (found.end + 1) * found.tick_s)
    start, stop = low / found.tick_s, min(high / found.tick_s, found.end + 1)
    count: dict[str, tuple[int, float]] = {}
    for name, signal in found.signals.items():
        inside = (signal.times >= start) & (signal.times < stop)
        times = np.clip(np.append(signal.times, stop), start, stop)
        spans = np.diff(times)
        for bit in range(signal.width):
            values = np.array([value >> bit & 1 for value in signal.values], np.int8)
            odd = np.array([word >> bit & 1 for word in signal.unknown], bool)
            changed = (values[1:] != values[:-1]) & ~odd[1:] & ~odd[:-1] & inside[1:]
            whole = name if signal.width == 1 else f"{name}[{bit}]"
            count[whole] = int(changed.sum()), float(spans[odd].sum() / max(stop - start, 1))
    return found.scope, count, (stop - start) * found.tick_s
