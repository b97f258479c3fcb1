# SPDX-License-Identifier: Apache-2.0
"""Recipes of mapping: adders that become cells are proven equivalent, and what is no recipe is refused.

recipes_test.py PROGRAMS WORK [Proofs|Table]. No library has to be installed: the adders' cells are what
power/recipes/recipes.json says of their pins, and the flow holds them to the library.
"""

from __future__ import annotations

import dataclasses
import subprocess
import unittest

import pytest
from flow_start import WORK, main

from ngtools import ngflow, recorded
from ngtools.power import characterize, recipes
from ngtools.power.library import Library, excluded

UNITS = ("int8_mac_wallace_16_pipelined", "nvfp4_mac_16")
ADDERS = recipes.find("adders", "asap7")
# A register with reset as one whose next value is that of the reset: enough to compare two designs with equal resets.
RESETS = """
(* techmap_celltype = "$adff" *)
module ng_reset (CLK, ARST, D, Q);
  parameter WIDTH = 1, CLK_POLARITY = 1, ARST_POLARITY = 1, ARST_VALUE = 0;
  input CLK, ARST;
  input [WIDTH-1:0] D;
  output [WIDTH-1:0] Q;
  \\$dff #(.WIDTH(WIDTH), .CLK_POLARITY(CLK_POLARITY))
    u_dff (.CLK(CLK), .D(ARST == ARST_POLARITY ? ARST_VALUE : D), .Q(Q));
endmodule
"""


def model(kind: str, cell: dict[str, str]) -> str:
    """Verilog of an adder's cell as its entry has it."""
    inputs = [cell[port] for port in recipes.PORTS if port in cell]
    value = {"sum": " ^ ".join(inputs), "carry": " & ".join(inputs)}
    if kind == "full":
        x, y, z = inputs
        value["carry"] = f"({x} & {y}) | ({z} & ({x} | {y}))"
    pins = {name: cell[name].removeprefix("~") for name in value}
    ports = [*(f"input {pin}" for pin in inputs), *(f"output {pin}" for pin in pins.values())]
    assigns = [f"  assign {pins[name]} = {'~' if cell[name] != pins[name] else ''}({value[name]});\n" for name in pins]
    return f"module {cell['cell']} ({', '.join(ports)});\n{''.join(assigns)}endmodule\n"


def logic(unit: dict, name: str, commands: list[str], models: str) -> tuple[str, dict[str, int]]:
    """BLIF of a unit behind these commands of Yosys, and how many cells it has by type."""
    work = WORK / unit["name"]
    work.mkdir(parents=True, exist_ok=True)
    ports, pins = characterize.unit_ports(unit, work)
    (work / "wrapper.v").write_text(characterize.wrapper(unit, ports, pins))
    (work / "models.v").write_text(models)
    (work / "resets.v").write_text(RESETS)
    files = " ".join(map(ngflow.from_root, characterize.sources(unit)))
    counts = work / f"{name}.txt"
    ngflow.run_yosys(
        [
            f"read_verilog -sv -defer {files}",
            f"read_verilog -sv {work / 'wrapper.v'}",
            f"hierarchy -check -top {characterize.TOP}",
            *commands,
            "proc",
            "flatten",
            f"tee -o {counts} stat",
            f"read_verilog {work / 'models.v'}",
            f"hierarchy -check -top {characterize.TOP}",
            "flatten",
            "opt_clean",
            "dffunmap",
            f"techmap -map {work / 'resets.v'} t:$adff",
            "opt_clean -purge",
            "techmap",
            "opt_clean -purge",
            f"write_blif {work / name}.blif",
        ],
        work / f"{name}.log",
    )
    lines = [line.split() for line in counts.read_text().splitlines()]
    found = {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdigit()}
    return str(work / f"{name}.blif"), found


def equivalent(one: str, other: str) -> bool:
    """By ABC's combinational check, to which registers of one name are inputs and outputs; it says so or names a difference."""
    done = subprocess.run(
        ["yosys-abc", "-c", f"cec {one} {other}"], capture_output=True, text=True, check=True, timeout=600
    )
    if "Networks are equivalent" not in done.stdout and "NOT EQUIVALENT" not in done.stdout:
        raise AssertionError(f"ABC says neither: {done.stdout}{done.stderr}")
    return "Networks are equivalent" in done.stdout


class Proofs(unittest.TestCase):
    """From the RTL to adders as cells, for every input and state; ABC's part is behind it, as in the recipe `area`."""

    def logics(self, name: str, recipe: recipes.Recipe) -> tuple[str, str, dict[str, int]]:
        unit = characterize.load_units(characterize.UNITS)[name]
        models = "".join(model(kind, cell) for kind, cell in ADDERS.adders.items())
        map_file = WORK / "adders.v"
        map_file.write_text(recipe.adder_map())
        filled = recipe.filled("", characterize.TOP, "", str(map_file), str(recipes.FOLDER))
        before_synth = filled[1 : next(i for i, command in enumerate(filled) if command.startswith("synth"))]
        first_map = next(i for i, command in enumerate(before_synth) if command.startswith("techmap"))
        plain, _ = logic(unit, "plain", before_synth[:first_map], models)
        mapped, counts = logic(unit, "mapped", before_synth, models)
        return plain, mapped, counts

    def test_units(self):
        for name in UNITS:
            with self.subTest(unit=name):
                plain, mapped, counts = self.logics(name, ADDERS)
                assert counts["FAx1_ASAP7_75t_R"] > 200
                assert counts["HAxp5_ASAP7_75t_R"] > 20
                assert equivalent(plain, mapped)

    def test_a_wrong_pin_is_found(self):
        full = ADDERS.adders["full"]
        wrong = dataclasses.replace(
            ADDERS, adders={**ADDERS.adders, "full": {**full, "carry": full["carry"].removeprefix("~")}}
        )
        plain, mapped, _ = self.logics(UNITS[1], wrong)
        assert not equivalent(plain, mapped)


class Table(unittest.TestCase):
    def test_each_entry_is_whole(self):
        assert next(iter(recipes.table())) == recipes.DEFAULT
        for name, entry in recipes.table().items():
            for library in entry.get("delay_s", entry.get("adders", {"any": {}})):
                recipe = recipes.find(name, library)
                commands = recipe.filled("LIBERTY", "TOP", "CONSTRAINTS", "ADDERS", "FOLDER")
                assert commands[0].startswith("read_liberty")
                assert not any("{" in command for command in commands)

    def test_refusals(self):
        with pytest.raises(ngflow.FlowError, match="recipe 'magic' is not known; known: area, adders, speed"):
            recipes.find("magic", "asap7")
        with pytest.raises(ngflow.FlowError, match="adders is not for sg13g2: it has no adder cell"):
            recipes.find("adders", "sg13g2")
        with pytest.raises(ngflow.FlowError, match=r"speed is not for toy: .* has no delay_s of it; it is for asap7"):
            recipes.find("speed", "toy")

    def test_adders_stay_in_the_library(self):
        """Though their names are excluded; others are not."""
        library = ADDERS.with_cells(Library("asap7", (), ("*xp*",)))
        assert not excluded(library, "HAxp5_ASAP7_75t_R")
        assert excluded(library, "INVxp33_ASAP7_75t_R")

    def test_records_are_of_todays_commands(self):
        files = sorted(recipes.RECORDS.glob(f"*{recorded.SUFFIX}"))
        assert len(files) >= 7
        for file in files:
            technology, name = file.stem.split(".")
            recipe = recipes.find(name, technology)
            commands = recipe.filled("LIBERTY", characterize.TOP, "CONSTRAINTS", "ADDERS", "power/recipes")
            for unit, record in recorded.read(file).items():
                assert record["recipe"] == commands, f"{file.name}: {unit}"
                assert record.get("delay_s") == recipe.delay_s, f"{file.name}: {unit}"

    def test_records_without_the_field_are_of_area(self):
        assert recipes.name_of({}) == "area"
        assert recipes.name_of({"recipe_name": "speed"}) == "speed"


if __name__ == "__main__":
    main()
