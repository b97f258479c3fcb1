# SPDX-License-Identifier: Apache-2.0
"""Liberty -> technology JSON: what the gate simulator needs of a cell library, in SI units.

    technology.py osu018 osu018.json              one of the named technologies (Debian's qflow-tech-osu* packages)
    technology.py --liberty my.lib my.json        a Liberty file of your own

The file is read by the package liberty-parser. A cell is kept if it can be simulated: combinational, or one flip-flop.
The others are listed under "skipped" with the reason, and a netlist that uses one is refused with that reason.

Fields: a truth table is a string of 0 and 1, character i for the input pattern i (bit k of i is input k of the cell's list
"inputs"). A power table holds joules for one transition: "load" (farad) and "slew" (second) are its axes, "values" run
load-major; a missing axis is empty. "pin" of an output's table is the related input, "when" a truth table or null.
Liberty's areas are taken as square micrometres, as is customary: the format itself has no unit for them.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import math
import re
import sys
import zlib
from pathlib import Path
from typing import Any

from liberty.parser import parse_liberty

from ngtools.ngflow import FlowError

QFLOW = Path("/usr/share/qflow/tech")
# Named technologies: Debian's packages, read where they are installed, never copied into the project.
TECHNOLOGIES = {
    "osu018": QFLOW / "osu018" / "osu018_stdcells.lib",
    "osu035": QFLOW / "osu035" / "osu035_stdcells.lib",
    "osu050": QFLOW / "osu050" / "osu05_stdcells.lib",
}
MAX_INPUTS = 12
SQUARE_MICROMETRE = 1e-12
PREFIX = {"": 1.0, "k": 1e3, "m": 1e-3, "u": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15}


class LibertyError(FlowError):
    """The text names the file, the cell, what is wrong and what to do."""


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


def truth_table(function: str, names: list[str]) -> str:
    """Evaluates a Liberty expression: ! and ' invert; * & and blank are and; + | are or; ^ is exclusive or."""
    tokens = re.findall(r"[A-Za-z_][\w.\[\]]*|[01]|[!'()*&+|^]", function)
    if "".join(tokens) != re.sub(r"\s", "", function):
        raise Unusable(f"its function '{function}' is not understood")
    position = 0
    size = 1 << len(names)
    full = (1 << size) - 1
    columns = {name: sum(1 << i for i in range(size) if i >> k & 1) for k, name in enumerate(names)}

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


def unconditional(rows: list[dict]) -> list[dict]:
    """Rows of a pin of which one condition is not over the inputs: their mean, without conditions."""
    vague = {row.get("pin") for row in rows if row["when"] == ""}
    result = [row for row in rows if row.get("pin") not in vague]
    for pin in sorted(vague, key=str):
        group = [row for row in rows if row.get("pin") == pin]
        mean = {**group[0], "when": None}
        for edge in ("rise", "fall"):
            axes = [(row[edge]["load"], row[edge]["slew"]) for row in group]
            if any(axis != axes[0] for axis in axes):
                raise Unusable("its power tables have conditions on an output, and different axes")
            values = zip(*(row[edge]["values"] for row in group), strict=True)
            mean[edge] = {**group[0][edge], "values": [math.fsum(value) / len(group) for value in values]}
        result.append(mean)
    return result


def source(path: Path) -> str:
    """The text of a Liberty file, packed by gzip or not; comments that are not UTF-8 are Latin-1."""
    try:
        content = path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise LibertyError(f'Liberty file "{path}" cannot be unpacked; expected all of a gzip file: {error}') from None
    except OSError as error:
        raise LibertyError(
            f"Liberty file {path} cannot be read ({error.strerror}); for osu018, osu035, osu050 install Debian's "
            "qflow-tech-osu018, -osu035, -osu050"
        ) from None
    try:
        decoded = content.decode()
    except UnicodeDecodeError:
        decoded = content.decode("latin-1")
    return decoded.replace("\r\n", "\n").replace("\r", "\n")


class Reader:
    def __init__(self, path: Path):
        self.path = path
        self.source = source(path)
        try:
            self.library = parse_liberty(self.source)
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

    def power(self, pin: Any, names: list[str], output: bool) -> list[dict]:
        """The internal_power groups of a pin."""
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
                condition = truth_table(text(when), names) if when is not None else None
            except Unusable:
                condition = ""  # names an output, for example
            related = group.get("related_pin")
            if output and related is None:
                raise Unusable(f"a power table of output '{text(pin.args[0])}' has no related_pin")
            for name in text(related).split() if output else [None]:
                if output and name not in names:
                    raise Unusable(f"a power table is related to '{name}', which is not an input")
                rows.append({**({"pin": name} if output else {}), "when": condition, **tables})
        return unconditional(rows)

    def cell(self, cell: Any) -> dict:
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
        result: dict[str, Any] = {
            "area_m2": number(cell.get("area", 0)) * SQUARE_MICROMETRE,
            "leakage_w": self.cell_leakage(cell),
            "inputs": [
                {
                    "name": text(pin.args[0]),
                    "capacitance_f": number(pin.get("capacitance", 0)) * self.farad,
                    "power": self.power(pin, names, output=False),
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
                "power": self.power(pin, names, output=True),
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

    def cell_leakage(self, cell: Any) -> float:
        if cell.get("cell_leakage_power") is not None:
            return number(cell["cell_leakage_power"]) * self.leakage
        values = [number(group["value"]) * self.leakage for group in cell.get_groups("leakage_power")]
        return math.fsum(values) / len(values) if values else 0.0

    def technology(self, name: str) -> dict:
        cells, skipped = {}, {}
        for group in self.library.get_groups("cell"):
            cell = text(group.args[0]) if group.args else "without a name"
            try:
                cells[cell] = self.cell(group)
            except Unusable as reason:
                skipped[cell] = str(reason)
            except (IndexError, KeyError, TypeError) as error:
                skipped[cell] = f"it is malformed: {error}"
        if not cells:
            raise LibertyError(f"Liberty file {self.path} has no cell that can be simulated: {skipped}")
        slews = [
            min(table["slew"])
            for cell in cells.values()
            for output in cell["outputs"]
            for row in output["power"]
            for table in (row["rise"], row["fall"])
            if table["slew"]
        ]
        if not slews:
            raise LibertyError(f"Liberty file {self.path} has no internal_power tables; energies would lack a part")
        return {
            "schema": 1,
            "name": name,
            "library": text(self.library.args[0]),
            "liberty_sha256": hashlib.sha256(self.source.encode()).hexdigest(),
            "voltage_v": self.voltage(),
            # Transition time of the unit's inputs and its clock: the fastest characterized one.
            "input_slew_s": max(slews),
            "cells": cells,
            "skipped": skipped,
        }


def liberty_file(technology: str) -> Path:
    if technology not in TECHNOLOGIES:
        raise LibertyError(
            f"technology '{technology}' is not known; known: {', '.join(TECHNOLOGIES)}; or give --liberty FILE"
        )
    path = TECHNOLOGIES[technology]
    if not path.exists():
        # ctest skips what needs the library by this sentence.
        raise LibertyError(
            f"the Liberty library of {technology} is not installed ({path} is missing): it is in the package "
            f"qflow-tech-{technology} of Debian 12, which later releases lack; install that, or give --liberty FILE"
        )
    return path


def read_technology(path: Path, name: str) -> dict:
    try:
        return Reader(path).technology(name)
    except (Unusable, IndexError, KeyError, TypeError, ValueError) as error:
        raise LibertyError(
            f'Liberty file "{path}" is malformed; expected units, templates and cells: {error}'
        ) from None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("technology", nargs="?", help=f"one of {', '.join(TECHNOLOGIES)}")
    parser.add_argument("output", type=Path, help="technology JSON to write")
    parser.add_argument("--liberty", type=Path, help="a Liberty file instead of a named technology")
    options = parser.parse_args()
    if (options.technology is None) == (options.liberty is None):
        parser.error("give either the name of a technology or --liberty FILE")
    path = options.liberty or liberty_file(options.technology)
    technology = read_technology(path, options.technology or path.name.removesuffix(".gz").removesuffix(".lib"))
    options.output.write_text(json.dumps(technology) + "\n")
    print(f"{technology['name']}: {len(technology['cells'])} cells, {len(technology['skipped'])} skipped")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LibertyError as error:
        print(f"technology.py: {error}", file=sys.stderr)
        sys.exit(2)
