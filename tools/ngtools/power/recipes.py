# SPDX-License-Identifier: Apache-2.0
"""Mapping recipes, data of power/recipes/recipes.json: the commands of Yosys that make a netlist of cells from a unit.

Each maps the unit's modules to gates one by one, so that a multiplier and the accumulator behind it are not fused into
one sum ($macc); only then are they flattened and handed to ABC as one. `opt -full` may share the gates of two choices
behind multiplexers, which `simplemap` makes gates again.

`adders` finds adders before that, by their form alone: `extract` replaces what is wired as full_adder.v is, cell by
cell. Yosys 0.23's `extract_fa`, which finds them by function, made a netlist that is not equivalent.

A record of the recipe `area` is in power/records/<technology>.jsonl, which the gauge is calibrated on; those of the
others are in power/recipes/records/<technology>.<recipe>.jsonl. A record without `recipe_name` is of `area`.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from dataclasses import dataclass
from pathlib import Path

from ngtools.ngflow import ROOT, FlowError
from ngtools.power.library import Library

FOLDER = ROOT / "power" / "recipes"
RECORDS = FOLDER / "records"
DEFAULT = "area"
PORTS = ("x", "y", "z")


@functools.cache
def table() -> dict[str, dict]:
    return json.loads((FOLDER / "recipes.json").read_text())["recipes"]


@dataclass(frozen=True)
class Recipe:
    """A recipe for one library."""

    name: str
    commands: tuple[str, ...]
    adders: dict[str, dict[str, str]]  # full, half: the cell and what its pins are
    delay_s: float | None  # target of the logic between registers

    def filled(self, liberty: str, top: str, constraints: str, adders: str, folder: str) -> list[str]:
        """The commands with these names in them."""
        names = {"liberty": liberty, "top": top, "constraints": constraints, "adders": adders, "folder": folder}
        if self.delay_s is not None:
            names["delay_ps"] = f"{self.delay_s * 1e12:.6g}"
        return [command.format(**names) for command in self.commands]

    def with_cells(self, library: Library) -> Library:
        """The library, which keeps the adders that this recipe instantiates though they are on its exclusion list."""
        return dataclasses.replace(library, keep=tuple(cell["cell"] for cell in self.adders.values()))

    def adder_map(self) -> str:
        """Verilog: ng_full_adder and ng_half_adder as cells; an output that a cell inverts gets an inverter."""
        return "".join(adder_module(kind, cell) for kind, cell in self.adders.items())


def adder_module(kind: str, cell: dict[str, str]) -> str:
    inputs = [port for port in PORTS if port in cell]
    pins = [f".{cell[port]}({port})" for port in inputs]
    lines = []
    for output in ("sum", "carry"):
        pin = cell[output].removeprefix("~")
        pins.append(f".{pin}({output}_pin)")
        lines.append(f"  assign {output} = {'~' if pin != cell[output] else ''}{output}_pin;\n")
    ports = [*(f"input {port}" for port in inputs), "output sum", "output carry"]
    return (
        f"module ng_{kind}_adder ({', '.join(ports)});\n  wire sum_pin, carry_pin;\n"
        f"  {cell['cell']} u_add ({', '.join(pins)});\n{''.join(lines)}endmodule\n"
    )


def find(name: str, library: str) -> Recipe:
    """Errors name the recipe and what this library lacks."""
    if name not in table():
        raise FlowError(f"recipe '{name}' is not known; known: {', '.join(table())}")
    entry = table()[name]
    for key in ("adders", "delay_s"):
        if key in entry and library not in entry[key]:
            why = entry.get("without", {}).get(library, f"power/recipes/recipes.json has no {key} of it")
            raise FlowError(f"recipe {name} is not for {library}: {why}; it is for {', '.join(entry[key])}")
    delay_s = entry["delay_s"][library] if "delay_s" in entry else None
    return Recipe(name, tuple(entry["commands"]), entry.get("adders", {}).get(library, {}), delay_s)


def name_of(record: dict) -> str:
    return record.get("recipe_name", DEFAULT)


def records_file(folder: Path, technology: str, recipe: str, suffix: str) -> Path:
    """Of `area` <technology>.jsonl, of the others <technology>.<recipe>.jsonl."""
    return folder / f"{technology if recipe == DEFAULT else f'{technology}.{recipe}'}{suffix}"
