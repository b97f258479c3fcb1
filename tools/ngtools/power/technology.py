# SPDX-License-Identifier: Apache-2.0
"""Liberty -> technology JSON: what the gate simulator needs of a cell library, in SI units.

    technology.py osu018 osu018.json              one of the named technologies (library.py says where they are)
    technology.py --liberty my.lib my.json        Liberty files of your own, several or packed by gzip

The files are read by the package liberty-parser. A cell is kept if it can be simulated: combinational, or one flip-flop.
The others are listed under "skipped" with the reason, and a netlist that uses one is refused with that reason.

Fields: a truth table is a string of 0 and 1, character i for the input pattern i (bit k of i is input k of the cell's list
"inputs"). A power table holds joules for one transition: "load" (farad) and "slew" (second) are its axes, "values" run
load-major; a missing axis is empty. "pin" of an output's table is the related input, "when" a truth table or null: of a
flip-flop one variable longer, the highest being what it holds. Tables of several supplies are added.
Liberty's areas are taken as square micrometres, as is customary: the format itself has no unit for them.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import math
import os
import re
import sys
from pathlib import Path
from typing import Any

from liberty.parser import parse_liberty

from ngtools.power.library import (
    LibertyError,
    Library,
    excluded,
    find_library,
    groups,
    own_library,
    source,
    tidied,
    without,
)

MAX_INPUTS = 12
STATE = "ng_state_"  # what a flip-flop holds, as a variable of its conditions
# The simulation's step of time is a power of ten of which the fastest transition time has at least so many; of the clock's
# period the steps are whole grid points.
TICKS_IN_A_SLEW = 10
COARSEST_TICK_S = 1e-12
TICKS_IN_CLOCK_GRID = 500
SQUARE_MICROMETRE = 1e-12
PREFIX = {"": 1.0, "k": 1e3, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15}


class Unusable(Exception):
    """A cell that cannot be simulated; the text is the reason."""


def text(value: Any) -> str:
    return str(value).strip('"')


def unit(value: Any, letter: str, default: str) -> float:
    """'10ps' -> 1e-11"""
    written = text(value) if value is not None else default
    match = re.fullmatch(rf"\s*([\d.eE+-]+)\s*([kmunpf]?){letter}\w*\s*", written)
    if not match:
        raise LibertyError(f"unit '{written}' is not understood; expected for example '{default}'")
    return float(match[1]) * PREFIX[match[2]]


# ---------------------------------------------------------------- Boolean functions


def truth_table(function: str, names: list[str], also: dict[str, str] | None = None) -> str:
    """Evaluates a Liberty expression: ! and ' invert; * & and blank are and; + | are or; ^ is exclusive or. `also`: truth
    tables, over the same names, of what else it may name."""
    tokens = re.findall(r"[A-Za-z_][\w.\[\]]*|[01]|[!'()*&+|^]", function)
    if "".join(tokens) != re.sub(r"\s", "", function):
        raise Unusable(f"its function '{function}' is not understood")
    position = 0
    size = 1 << len(names)
    full = (1 << size) - 1
    columns = {name: sum(1 << i for i in range(size) if i >> k & 1) for k, name in enumerate(names)}
    columns |= {name: sum(1 << i for i in range(size) if table[i] == "1") for name, table in (also or {}).items()}

    def peek() -> str:
        return tokens[position] if position < len(tokens) else ""

    def take() -> str:
        nonlocal position
        position += 1
        return tokens[position - 1] if position <= len(tokens) else ""

    def factor() -> int:
        token = take()
        if token == "!":
            value = ~factor() & full
        elif token == "(":
            value = either()
            if take() != ")":
                raise Unusable(f"its function '{function}' lacks a ')'")
        elif token in ("0", "1"):
            value = full if token == "1" else 0
        elif token in columns:
            value = columns[token]
        else:
            raise Unusable(f"its function '{function}' names '{token}', which is not an input")
        while peek() == "'":
            take()
            value = ~value & full
        return value

    def exclusive() -> int:
        value = factor()
        while peek() == "^":
            take()
            value ^= factor()
        return value

    def both() -> int:
        value = exclusive()
        while peek() and peek() not in ")+|":
            if peek() in "*&":
                take()
            value &= exclusive()
        return value

    def either() -> int:
        value = both()
        while peek() and peek() in "+|":
            take()
            value |= both()
        return value

    value = either()
    if position != len(tokens):
        raise Unusable(f"its function '{function}' is not understood after '{''.join(tokens[:position])}'")
    return "".join("1" if value >> i & 1 else "0" for i in range(size))


# ---------------------------------------------------------------- tables


def number(value: Any) -> float:
    try:
        result = float(value)
    except (TypeError, ValueError):
        result = math.nan
    if not math.isfinite(result):
        raise Unusable(f"'{value}' in it is wrong; expected a finite number")
    return result


def numbers(value: Any) -> list[float]:
    values = value if isinstance(value, list) else [value]
    return [number(item) for part in values for item in text(part).replace(",", " ").split()]


def place(axis: list[float], x: float) -> tuple[int, float]:
    """Cell of the axis that holds x, and where in it; beyond the ends the last one goes on, as Liberty prescribes."""
    index = 0
    while index + 2 < len(axis) and x >= axis[index + 1]:
        index += 1
    return index, (x - axis[index]) / (axis[index + 1] - axis[index])


def look_up(table: dict, load: float, slew: float) -> float:
    columns = max(1, len(table["slew"]))

    def along(row: int) -> float:
        if len(table["slew"]) < 2:
            return table["values"][row * columns]
        column, part = place(table["slew"], slew)
        low, high = table["values"][row * columns + column : row * columns + column + 2]
        return low + (high - low) * part

    if len(table["load"]) < 2:
        return along(0)
    row, part = place(table["load"], load)
    return along(row) + (along(row + 1) - along(row)) * part


def total(tables: list[dict], count: int = 1) -> dict:
    """The sum of tables over `count`. Different axes, for example a scalar beside a full table, are united; on both
    axes together each table is the same function as on its own."""
    if all((table["load"], table["slew"]) == (tables[0]["load"], tables[0]["slew"]) for table in tables):
        rows = zip(*(table["values"] for table in tables), strict=True)
        return {**tables[0], "values": [math.fsum(row) / count for row in rows]}
    axes = {axis: sorted({x for table in tables for x in table[axis]}) for axis in ("load", "slew")}
    values = [
        math.fsum(look_up(table, load, slew) for table in tables) / count
        for load in axes["load"] or [0.0]
        for slew in axes["slew"] or [0.0]
    ]
    return {**axes, "values": values}


def unconditional(rows: list[dict]) -> list[dict]:
    """Rows of a pin of which one condition is not understood: their mean, without conditions."""
    vague = {row.get("pin") for row in rows if row["when"] == ""}
    result = [row for row in rows if row.get("pin") not in vague]
    for pin in sorted(vague, key=str):
        group = [row for row in rows if row.get("pin") == pin]
        means = {edge: total([row[edge] for row in group], len(group)) for edge in ("rise", "fall")}
        result.append({**group[0], "when": None, **means})
    return result


def over_supplies(rows: list[dict]) -> list[dict]:
    """Rows of each pin and condition, those of several supplies added. A supply without a row for a condition adds its
    row without one. What holds where no condition does is last: the first row that holds is taken."""
    result = []
    for pin in dict.fromkeys(row.get("pin") for row in rows):
        of_pin: dict[str, dict] = {}  # supply -> condition -> row
        for row in rows:
            if row.get("pin") == pin:
                of_pin.setdefault(row["supply"], {}).setdefault(row["when"], row)
        conditions = dict.fromkeys(when for of in of_pin.values() for when in of)
        for when in sorted(conditions, key=lambda when: when is None):
            parts = [of.get(when, of.get(None)) for of in of_pin.values()]
            found = [part for part in parts if part]
            row = {key: value for key, value in found[0].items() if key != "supply"} | {"when": when}
            result.append(row | {edge: total([part[edge] for part in found]) for edge in ("rise", "fall")})
    return result


class Reader:
    """One Liberty file."""

    def __init__(self, path: Path, library: Library):
        self.path = path
        self.source = source(path)
        self.skipped: dict[str, str] = {}
        try:
            self.library = parse_liberty(self.needed(library))
        except Exception as error:  # whatever the parser throws
            raise LibertyError(f"Liberty file {path} does not parse: {str(error).splitlines()[0]}") from None
        if self.library.group_name != "library":
            raise LibertyError(f"Liberty file {path} holds a '{self.library.group_name}', expected a library")
        self.time = unit(self.library.get("time_unit"), "s", "1ns")
        self.volt = unit(self.library.get("voltage_unit"), "V", "1V")
        self.leakage = unit(self.library.get("leakage_power_unit"), "W", "1nW")
        scale = self.library.get("capacitive_load_unit")
        if scale is None:
            raise LibertyError(f"Liberty file {path} has no capacitive_load_unit")
        prefix = text(scale[1]).lower()
        if prefix not in ("ff", "pf"):
            raise LibertyError(f"capacitive_load_unit '{prefix}' in {path} is not understood; expected ff or pf")
        self.farad = number(scale[0]) * PREFIX[prefix[0]]
        self.joule = self.farad * self.volt**2
        self.templates = {
            text(group.args[0]): group
            for name in ("power_lut_template", "lu_table_template")
            for group in self.library.get_groups(name)
        }

    def needed(self, library: Library) -> str:
        """The text without delays, which no energy needs, and without excluded cells: the parser reads a megabyte a second."""
        away = []
        text_ = tidied(self.source)
        for group in groups(text_):
            if group.name == "timing":
                away.append((group.start, group.end))
            elif group.name == "cell" and group.depth == 1 and excluded(library, group.argument):
                self.skipped[group.argument] = "it is on the exclusion list"
                away.append((group.start, group.end))
        return tidied(without(text_, away))

    def corner(self) -> dict:
        """Name, if it has one, and what the tables hold for."""
        name = self.library.get("default_operating_conditions")
        of = {key: self.library.get(f"nom_{key}") for key in ("process", "temperature")}
        return {
            **({"name": text(name)} if name is not None else {}),
            **{key: number(value) for key, value in of.items() if value is not None},
            "voltage_v": self.voltage(),
        }

    def voltage(self) -> float:
        for group in self.library.get_groups("operating_conditions"):
            if text(group.args[0]) == text(self.library.get("default_operating_conditions", "")) and group.get(
                "voltage"
            ):
                return number(group["voltage"]) * self.volt
        value = self.library.get("nom_voltage")
        if value is None:
            raise LibertyError(f"Liberty file {self.path} has neither nom_voltage nor default operating conditions")
        return number(value) * self.volt

    def table(self, group: Any) -> dict:
        name = text(group.args[0]) if group.args else "scalar"
        values = numbers(group["values"])
        axes: list[tuple[str, list[float]]] = []
        if name != "scalar":
            if name not in self.templates:
                raise Unusable(f"its power table uses the template '{name}', which the library does not define")
            template = self.templates[name]
            for k in ("1", "2", "3"):
                variable = template.get(f"variable_{k}")
                if variable is None:
                    break
                kind = text(variable)
                if kind == "total_output_net_capacitance":
                    axis = "load"
                elif kind in ("input_transition_time", "input_net_transition"):
                    axis = "slew"
                else:
                    raise Unusable(f"its power table has the axis '{kind}'; known are load and input transition")
                index = group.get(f"index_{k}")
                axes.append((axis, numbers(index if index is not None else template[f"index_{k}"])))
        sizes = [len(index) for _, index in axes]
        expected = 1
        for size in sizes:
            expected *= size
        if len(values) != expected or len({axis for axis, _ in axes}) != len(axes):
            raise Unusable(f"its power table '{name}' has {len(values)} values for axes of {sizes}")
        if [axis for axis, _ in axes] == ["slew", "load"]:
            values = [values[s * sizes[1] + c] for c in range(sizes[1]) for s in range(sizes[0])]
        index = dict(axes)
        return {
            "load": [x * self.farad for x in index.get("load", [])],
            "slew": [x * self.time for x in index.get("slew", [])],
            "values": [x * self.joule for x in values],
        }

    def power(self, pin: Any, names: list[str], also: dict[str, str], output: bool) -> list[dict]:
        """The internal_power groups of a pin. `also`: what conditions name beside the inputs; of a flip-flop its state is
        the last of the names."""
        rows = []
        for group in pin.get_groups("internal_power"):
            tables = {}
            for edge in ("rise", "fall"):
                found = group.get_groups(f"{edge}_power") or group.get_groups("power")
                if found:
                    tables[edge] = self.table(found[0])
            if not tables:
                continue
            if len(tables) != 2:
                raise Unusable(f"pin '{text(pin.args[0])}' has a power table for one edge only")
            when = group.get("when")
            try:
                condition = truth_table(text(when), names, also) if when is not None else None
            except Unusable:
                condition = ""
            related = group.get("related_pin")
            if output and related is None:
                raise Unusable(f"a power table of output '{text(pin.args[0])}' has no related_pin")
            supply = text(group.get("related_pg_pin", ""))
            for name in text(related).split() if output else [None]:
                if output and name not in names:
                    raise Unusable(f"a power table is related to '{name}', which is not an input")
                rows.append({**({"pin": name} if output else {}), "when": condition, "supply": supply, **tables})
        return over_supplies(unconditional(rows))

    @staticmethod
    def beside_inputs(outputs: list[Any], names: list[str], states: list[str]) -> tuple[list[str], dict[str, str]]:
        """The variables of conditions, and truth tables over them of what else conditions name: outputs, and of a flip-flop,
        whose state is the last variable, the names of its state and its inverse."""
        if not states:
            also = {}
            for pin in outputs:
                with contextlib.suppress(Unusable):
                    also[text(pin.args[0])] = truth_table(text(pin.get("function")), names)
            return names, also
        variables = [*names, STATE]
        also = dict(zip(states, (truth_table(STATE, variables), truth_table(f"!{STATE}", variables)), strict=False))
        for pin in outputs:
            with contextlib.suppress(Unusable):
                also[text(pin.args[0])] = truth_table(text(pin.get("function")), variables, also)
        return variables, also

    def cell(self, cell: Any) -> dict:
        if text(cell.get("dont_use", "false")) == "true":
            raise Unusable("the library says dont_use")
        if cell.get_groups("bundle") or cell.get_groups("bus"):
            raise Unusable("it has buses")
        for kind in ("latch", "statetable", "ff_bank", "latch_bank"):
            if cell.get_groups(kind):
                raise Unusable(f"it is a {kind}; only combinational cells and flip-flops are simulated")
        pins = cell.get_groups("pin")
        inputs = [pin for pin in pins if text(pin.get("direction")) == "input"]
        outputs = [pin for pin in pins if text(pin.get("direction")) == "output"]
        if (
            len(inputs) + len(outputs) != len([p for p in pins if text(p.get("direction")) != "internal"])
            or not outputs
        ):
            raise Unusable("it has no output, or a pin that is neither input nor output")
        names = [text(pin.args[0]) for pin in inputs]
        if len(names) > MAX_INPUTS:
            raise Unusable(f"it has {len(names)} inputs; at most {MAX_INPUTS} are simulated")
        flip_flops = cell.get_groups("ff")
        states = [text(name) for name in flip_flops[0].args] if flip_flops else []
        variables, also = self.beside_inputs(outputs, names, states)
        result: dict[str, Any] = {
            "area_m2": number(cell.get("area", 0)) * SQUARE_MICROMETRE,
            "leakage_w": self.cell_leakage(cell, variables, also),
            "inputs": [
                {
                    "name": text(pin.args[0]),
                    "capacitance_f": number(pin.get("capacitance", 0)) * self.farad,
                    "power": self.power(pin, variables, also, output=False),
                }
                for pin in inputs
            ],
            "outputs": [],
        }
        for pin in outputs:
            function = pin.get("function")
            if function is None or pin.get("three_state") is not None:
                raise Unusable(f"output '{text(pin.args[0])}' has no function, or is three-state")
            entry: dict[str, Any] = {
                "name": text(pin.args[0]),
                "capacitance_f": number(pin.get("capacitance", 0)) * self.farad,
                "power": self.power(pin, variables, also, output=True),
            }
            if flip_flops:
                # A state (the second one is inverted), or its inverse.
                table = truth_table(text(function), states)
                if table not in ("0101", "0011", "1010", "1100"):
                    raise Unusable(f"output '{entry['name']}' of a flip-flop is '{text(function)}', expected one state")
                entry["inverted"] = table in ("0011", "1010")
            else:
                entry["function"] = truth_table(text(function), names)
                missing = set(names) - {row["pin"] for row in entry["power"]}
                if missing:
                    raise Unusable(
                        f"output '{entry['name']}' has no internal_power table for {', '.join(sorted(missing))}"
                    )
            result["outputs"].append(entry)
        if flip_flops:
            ff = flip_flops[0]
            clock = re.fullmatch(r"\(*\s*(!?)\s*\(*(\w+)\)*('?)\s*\)*", text(ff["clocked_on"]))
            if not clock or clock[2] not in names:
                raise Unusable(f"its clock is '{text(ff['clocked_on'])}', expected one pin or its inverse")
            both = text(ff.get("clear_preset_var1", "L"))
            result["ff"] = {
                "clock": clock[2],
                "falling": bool(clock[1]) != bool(clock[3]),
                "next_state": truth_table(text(ff["next_state"]), names),
                **{
                    name: truth_table(text(ff[name]), names) if ff.get(name) is not None else None
                    for name in ("clear", "preset")
                },
                "clear_wins": both != "H",
            }
        return result

    def cell_leakage(self, cell: Any, variables: list[str], also: dict[str, str]) -> float:
        """Watts: what the library says of the cell, or the sum over its supplies of the mean over its states."""
        if cell.get("cell_leakage_power") is not None:
            return number(cell["cell_leakage_power"]) * self.leakage
        supplies: dict[str, list[tuple[str | None, float]]] = {}
        for group in cell.get_groups("leakage_power"):
            when = group.get("when")
            try:
                condition = truth_table(text(when), variables, also) if when is not None else None
            except Unusable:
                condition = "1"
            value = number(group["value"]) * self.leakage
            supplies.setdefault(text(group.get("related_pg_pin", "")), []).append((condition, value))
        return math.fsum(self.mean_leakage(rows) for rows in supplies.values())

    @staticmethod
    def mean_leakage(rows: list[tuple[str | None, float]]) -> float:
        """Of one supply: each condition by the share of the states in which it holds, the rest by the value without one."""
        otherwise = next((value for when, value in rows if when is None), None)
        weighted = [(when.count("1") / len(when), value) for when, value in rows if when is not None]
        share = math.fsum(weight for weight, _ in weighted)
        sum_ = math.fsum(weight * value for weight, value in weighted)
        if otherwise is not None:
            return sum_ + max(0.0, 1 - share) * otherwise if share <= 1 else sum_ / share
        return sum_ / share if share else 0.0

    def cells(self) -> dict[str, dict]:
        found = {}
        for group in self.library.get_groups("cell"):
            cell = text(group.args[0]) if group.args else "without a name"
            try:
                found[cell] = self.cell(group)
            except Unusable as reason:
                self.skipped[cell] = str(reason)
            except (IndexError, KeyError, TypeError) as error:
                self.skipped[cell] = f"it is malformed: {error}"
        return found


def technology_of(readers: list[Reader], name: str) -> dict:
    cells: dict[str, dict] = {}
    skipped: dict[str, str] = {}
    first = readers[0]
    for reader in readers:
        for cell, content in reader.cells().items():
            if cell in cells:
                raise LibertyError(f"Liberty file {reader.path} has the cell {cell} again; expected each cell once")
            cells[cell] = content
        skipped |= reader.skipped
        if reader.voltage() != first.voltage():
            raise LibertyError(
                f"Liberty file {reader.path} is for {reader.voltage()} V, {first.path} for {first.voltage()} V; "
                "expected files of one library at one corner"
            )
    if not cells:
        raise LibertyError(f"Liberty file {first.path} has no cell that can be simulated: {skipped}")
    slews = [
        min(table["slew"])
        for cell in cells.values()
        for output in cell["outputs"]
        for row in output["power"]
        for table in (row["rise"], row["fall"])
        if table["slew"]
    ]
    if not slews:
        raise LibertyError(f"Liberty file {first.path} has no internal_power tables; energies would lack a part")
    hashes = [hashlib.sha256(reader.source.encode()).hexdigest() for reader in readers]
    # Transition time of the unit's inputs and its clock: the fastest characterized one.
    input_slew_s = max(slews)
    tick_s = min(COARSEST_TICK_S, 10.0 ** math.floor(math.log10(input_slew_s / TICKS_IN_A_SLEW) + 1e-9))
    return {
        "schema": 1,
        "name": name,
        "library": [text(reader.library.args[0]) for reader in readers],
        "corner": first.corner(),
        "liberty_sha256": hashes[0] if len(hashes) == 1 else hashlib.sha256(" ".join(hashes).encode()).hexdigest(),
        "cells_sha256": hashlib.sha256(" ".join(sorted(cells)).encode()).hexdigest(),
        "voltage_v": first.voltage(),
        "input_slew_s": input_slew_s,
        "tick_s": tick_s,
        "clock_grid_s": tick_s * TICKS_IN_CLOCK_GRID,
        "cells": cells,
        "skipped": skipped,
    }


def read_library(library: Library) -> dict:
    try:
        return technology_of([Reader(path, library) for path in library.files], library.name)
    except (Unusable, IndexError, KeyError, TypeError, ValueError) as error:
        raise LibertyError(
            f'Liberty file "{library.files[0]}" is malformed; expected units, templates and cells: {error}'
        ) from None


def kept_library(library: Library, folder: Path) -> dict:
    """As read_library, from a file in `folder` if these Liberty files were read there before by this code."""
    code = [Path(__file__), Path(__file__).with_name("library.py")]
    content = hashlib.sha256(json.dumps([library.name, library.exclude, library.keep]).encode())
    for path in (*code, *library.files):
        content.update(hashlib.sha256(path.read_bytes() if path.exists() else b"").digest())
    path = folder / f"technology.{content.hexdigest()[:16]}.json"
    if path.exists():
        return json.loads(path.read_text())
    technology = read_library(library)
    beside = path.with_suffix(f".{os.getpid()}")
    beside.write_text(json.dumps(technology))
    beside.replace(path)
    return technology


def read_technology(path: Path, name: str) -> dict:
    """Of one file."""
    return read_library(Library(name, (path,)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("technology", nargs="?", help="osu018, osu035, osu050, asap7, sky130hd or sg13g2")
    parser.add_argument("output", type=Path, help="technology JSON to write")
    parser.add_argument(
        "--liberty", type=Path, action="append", help="a Liberty file instead of a named technology; repeatable"
    )
    parser.add_argument("--exclude", action="append", default=[], help="cells to leave out, with * and ?; repeatable")
    options = parser.parse_args()
    if (options.technology is None) == (options.liberty is None):
        parser.error("give either the name of a technology or --liberty FILE")
    own = options.liberty
    library = own_library(own, options.exclude) if own else find_library(options.technology)
    technology = read_library(library)
    options.output.write_text(json.dumps(technology) + "\n")
    print(f"{technology['name']}: {len(technology['cells'])} cells, {len(technology['skipped'])} skipped")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LibertyError as error:
        print(f"technology.py: {error}", file=sys.stderr)
        sys.exit(2)
