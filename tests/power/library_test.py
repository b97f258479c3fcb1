# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PT009 (assertAlmostEqual)
"""Cell libraries of several Liberty files: joules of a library of round numbers (tests/power/liberty), computed by hand.

library_test.py PROGRAMS WORK [Reader|Joules|Flow|OwnUnits]. No library has to be installed.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import pytest
from flow_start import PROGRAMS, WORK, main

from ngtools import systemverilog
from ngtools.power import characterize, golden, library, technology

TOY = Path(__file__).parent / "liberty"
LOGIC, REGISTERS = TOY / "toy_logic.lib", TOY / "toy_registers.lib"
FLOW = Path(characterize.__file__).parent
FEMTO = 1e15


def toy(*exclude: str) -> library.Library:
    return library.Library("toy", (LOGIC, REGISTERS), exclude)


def femto(table: dict) -> list[float]:
    return [round(value * FEMTO, 6) for value in table["values"]]


class Reader(unittest.TestCase):
    """Liberty files into one technology."""

    def test_supplies_are_added(self):
        cells = technology.read_library(toy())["cells"]
        output = cells["INVx1"]["outputs"][0]["power"]
        assert len(output) == 1
        assert femto(output[0]["fall"]) == [5, 5, 5, 5]  # 4 of VDD, 1 of VSS
        # A pin that holds in A, 30, and in !A, 10, of VDD; 4 of VSS.
        self.assertAlmostEqual(cells["INVx1"]["leakage_w"] * 1e12, 24)
        # 8 in a quarter of the states, 16 in the others.
        self.assertAlmostEqual(cells["DFQNx1"]["leakage_w"] * 1e12, 14)

    def test_each_file_has_its_templates(self):
        cells = technology.read_library(toy())["cells"]
        rise = cells["INVx1"]["outputs"][0]["power"][0]["rise"]
        assert [round(x * FEMTO) for x in rise["load"]] == [1, 64]
        assert femto(rise) == [3, 75, 3, 75]
        rise = cells["DFQNx1"]["outputs"][0]["power"][0]["rise"]
        assert [round(x * FEMTO) for x in rise["load"]] == [2, 32]
        assert femto(rise) == [10, 10, 25, 25]

    def test_a_scalar_beside_a_full_table(self):
        full = {"load": [1.0, 3.0], "slew": [10.0, 20.0], "values": [1.0, 2.0, 3.0, 4.0]}
        other = {"load": [2.0, 4.0], "slew": [], "values": [10.0, 30.0]}
        scalar = {"load": [], "slew": [], "values": [5.0]}
        assert technology.total([full, scalar])["values"] == [6, 7, 8, 9]
        united = technology.total([full, other, scalar])
        assert united["load"] == [1, 2, 3, 4]
        # At load 2 and slew 10: 2 of the first, 10 of the second, 5. At load 4 the first goes on: 4, 30, 5.
        assert united["values"][2] == 17
        assert united["values"][6] == 39
        clock = technology.read_library(toy())["cells"]["DFQNx1"]["inputs"][0]["power"]
        assert [femto(row["rise"]) for row in clock] == [[0], [0], [4, 4], [4, 4]]

    def test_conditions_know_the_state(self):
        clock = technology.read_library(toy())["cells"]["DFQNx1"]["inputs"][0]["power"]
        # CLK is variable 0, D is 1, the state, here QN itself, is 2: "D * QN".
        assert clock[0]["when"] == "00000011"
        assert clock[1]["when"] == "11000000"

    def test_a_condition_without_a_row_falls_back(self):
        rows = [
            {"when": None, "supply": "VDD", "rise": {"load": [], "slew": [], "values": [1.0]}},
            {"when": "01", "supply": "VDD", "rise": {"load": [], "slew": [], "values": [2.0]}},
            {"when": None, "supply": "VSS", "rise": {"load": [], "slew": [], "values": [4.0]}},
        ]
        made = technology.over_supplies([row | {"fall": row["rise"]} for row in rows])
        assert [(row["when"], row["rise"]["values"]) for row in made] == [("01", [6.0]), (None, [5.0])]

    def test_an_output_in_a_condition(self):
        """Of logic an output is a function of the inputs."""
        before, after = LOGIC.read_text().split("cell (INVx1)")
        supply = "related_pg_pin : VDD;\n        rise"
        text = before + "cell (INVx1)" + after.replace(supply, f'when : "!Y"; {supply}', 1)
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "toy.lib"
            path.write_text(text)
            rows = technology.read_technology(path, "toy")["cells"]["INVx1"]["outputs"][0]["power"]
        assert [row["when"] for row in rows] == ["01", None]
        assert [femto(row["fall"])[0] for row in rows] == [5, 1]

    def test_steps_of_time_follow_the_library(self):
        read = technology.read_library(toy())
        self.assertAlmostEqual(read["input_slew_s"] * 1e12, 4)
        self.assertAlmostEqual(read["tick_s"] * 1e12, 0.1)
        self.assertAlmostEqual(read["clock_grid_s"] * 1e12, 50)
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "slow.lib"
            path.write_text(LOGIC.read_text().replace('time_unit : "1ps"', 'time_unit : "1ns"'))
            slow = technology.read_technology(path, "slow")
        self.assertAlmostEqual(slow["tick_s"] * 1e12, 1)  # not coarser, however slow
        self.assertAlmostEqual(slow["clock_grid_s"] * 1e12, 500)

    def test_stray_semicolons_and_remarks(self):
        """Nangate45's manners: the same cells, and a file for the tools without them."""
        plain = technology.read_library(library.Library("toy", (LOGIC,)))
        text = LOGIC.read_text()
        head, brace, rest = text.partition("{")
        comment = '/* "; { */ '
        stray = f'{head}{brace} ; // the {{ of "a remark"\n' + rest.replace("}", "};").replace("; ", f";;{comment}; ")
        assert library.tidied(text) == text
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "toy.lib"
            path.write_text(stray)
            read = technology.read_technology(path, "toy")
            for_tools = library.for_tools(library.Library("toy", (path,)), read, Path(name))
            mapped = for_tools.read_text()
        assert read["cells"] == plain["cells"]
        assert library.STRAY.search(mapped) is None
        assert "remark" not in mapped

    def test_packed_and_latin(self):
        plain = technology.read_library(toy())
        with tempfile.TemporaryDirectory() as name:
            packed, latin = Path(name) / "a.lib.gz", Path(name) / "b.lib"
            packed.write_bytes(gzip.compress(LOGIC.read_bytes()))
            latin.write_bytes("/* 1 \u00b5m */\r\n".encode("latin-1") + REGISTERS.read_bytes())
            read = technology.read_library(library.Library("toy", (packed, latin)))
            assert read["cells"] == plain["cells"]
            made = library.for_tools(library.Library("toy", (packed, latin)), read, Path(name))
            assert made == Path(name) / "mapping.lib"

    def test_excluded_cells(self):
        every, some = technology.read_library(toy()), technology.read_library(toy("*xp*"))
        assert "INVxp5" in every["cells"]
        assert some["skipped"] == {"INVxp5": "it is on the exclusion list"}
        assert every["cells_sha256"] != some["cells_sha256"]
        assert every["liberty_sha256"] == some["liberty_sha256"]
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "toy.lib"
            path.write_text(LOGIC.read_text().replace("area : 0.5;", "area : 0.5; dont_use : true;"))
            assert "dont_use" in technology.read_technology(path, "toy")["skipped"]["INVxp5"]

    def test_files_of_two_corners_are_refused(self):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "other.lib"
            path.write_text(REGISTERS.read_text().replace("voltage : 1;", "voltage : 2;"))
            both = library.Library("toy", (LOGIC, path))
            with pytest.raises(technology.LibertyError, match="expected files of one library at one corner"):
                technology.read_library(both)
            path.write_text(REGISTERS.read_text().replace('leakage_power_unit : "1pW"', 'leakage_power_unit : "1nW"'))
            read = technology.read_library(both)
            with pytest.raises(technology.LibertyError, match='has leakage_power_unit "1nW"'):
                library.for_tools(both, read, Path(name))

    def test_a_cell_twice_is_refused(self):
        with pytest.raises(technology.LibertyError, match="has the cell BUFx2 again"):
            technology.read_library(library.Library("toy", (LOGIC, LOGIC)))

    def test_the_merged_file(self):
        """No wire loads; templates of one name and other axes kept apart; the same technology."""
        read = technology.read_library(toy("*xp*"))
        with tempfile.TemporaryDirectory() as name:
            path = library.for_tools(toy("*xp*"), read, Path(name))
            text = path.read_text()
            again = technology.read_technology(path, "toy")
        assert "wire_load" not in text
        assert "INVxp5" not in text
        for name, cell in read["cells"].items():
            if "ff" not in cell:
                assert again["cells"][name] == cell

    def test_an_upright_flip_flop(self):
        """Yosys gets to see a flip-flop of inverted data as one with an inverted output. It behaves and costs the same."""
        before = technology.read_library(toy())["cells"]["DFSRQNx1"]
        with tempfile.TemporaryDirectory() as name:
            path = library.for_tools(toy(), technology.read_library(toy()), Path(name))
            after = technology.read_technology(path, "toy")["cells"]["DFSRQNx1"]
        assert (before["outputs"][0]["inverted"], after["outputs"][0]["inverted"]) == (False, True)
        half = len(before["ff"]["next_state"])
        for index in range(half):
            # CLK, D, SETN, RESETN
            assert {before["ff"]["next_state"][index], after["ff"]["next_state"][index]} == {"0", "1"}
            assert before["ff"]["clear"][index] == after["ff"]["preset"][index]
            assert before["ff"]["preset"][index] == after["ff"]["clear"][index]
        for one, other in zip(before["inputs"], after["inputs"], strict=True):
            for row, same in zip(one["power"], other["power"], strict=True):
                assert femto(row["rise"]) == femto(same["rise"])
                # The state is the highest variable, and the other one's inverse.
                assert row["when"] == same["when"][half:] + same["when"][:half]

    def test_named_technologies(self):
        assert library.open_technologies() == ["asap7", "sg13g2", "sky130hd"]
        for name in library.open_technologies():
            with unittest.mock.patch.dict(os.environ, {library.FOLDER: ""}):
                with pytest.raises(library.LibertyError, match=f"library of {name} is not installed .the variable"):
                    library.find_library(name)
                os.environ[library.FOLDER] = "/nowhere"
                with pytest.raises(library.LibertyError, match="is missing"):
                    library.find_library(name)

    def test_malformed(self):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "my.lib"
            for text in ("library (l) { cell (X) {", "library (l) { } }"):
                path.write_text(text)
                with pytest.raises(technology.LibertyError):
                    technology.read_technology(path, "my")


def port(direction: str, *bits: int) -> dict:
    return {"direction": direction, "bits": list(bits)}


def cell(kind: str, **pins: int) -> dict:
    return {"type": kind, "connections": {pin: [net] for pin, net in pins.items()}}


class Joules(unittest.TestCase):
    """Netlists small enough to price by hand."""

    def simulate(self, ports: dict, cells: dict, values: str, warm_up: int = 2) -> tuple[dict, list[str]]:
        netlist = {"modules": {"top": {"ports": ports, "netnames": {}, "cells": cells}}}
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "technology.json").write_text(json.dumps(technology.read_library(toy())))
            (folder / "netlist.json").write_text(json.dumps(netlist))
            head = {"cycles": len(values), "ports": [{"name": "x", "width": 1}]}
            (folder / "x.stim").write_text("\n".join([json.dumps(head), *values, ""]))
            command = [PROGRAMS / "ng_gatesim", *("--technology", folder / "technology.json")]
            command += ["--netlist", folder / "netlist.json", "--stimulus", folder / "x.stim"]
            command += ["--outputs", folder / "out", "--warm-up", str(warm_up), "--period", "1e-10"]
            done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)
            return json.loads(done.stdout), (folder / "out").read_text().split()[1:]

    def registered(self, values: str) -> dict:
        """x -> flip-flop -> inverter -> y, eight counted cycles; femtojoules of all of them."""
        ports = {"clk_i": port("input", 2), "x": port("input", 3), "y": port("output", 5)}
        cells = {"r": cell("DFQNx1", D=3, CLK=2, QN=4), "i": cell("INVx1", A=4, Y=5)}
        result, outputs = self.simulate(ports, cells, values)
        assert outputs == list(values)
        assert result["cycles"] == 8
        return {key: value * 8 * FEMTO for key, value in result["L2"].items() if key.endswith("_j")}

    def test_changing(self):
        """A change each cycle: the clock's rises are priced at the output, its falls find D * !QN or !D * QN."""
        joules = self.registered("0101010101")
        self.assertAlmostEqual(joules["clock_j"], 8 * 2 + 8 * 1)  # 2 fJ a fall; C V^2 of 1 fF
        output = 4 * 10 + 4 * 12  # QN rises and falls, 2 fF on it
        data = 7 * 2  # x changes while the clock is low, seven times before the last edge
        self.assertAlmostEqual(joules["internal_j"], output + data + 4 * 3 + 4 * 5)
        self.assertAlmostEqual(joules["switching_j"], 8 * 2 / 2)

    def test_standing(self):
        """D and the state agree: 4 and 2 fJ at D * !QN, 4 and 2 at !D * QN."""
        for values in ("1111111111", "0000000000"):
            joules = self.registered(values)
            self.assertAlmostEqual(joules["clock_j"], 8 * 6 + 8 * 1)
            self.assertAlmostEqual(joules["internal_j"], 0)

    def test_the_clock_is_weighted_by_what_holds(self):
        """Six cycles of rest and two with a change."""
        joules = self.registered("0000011111")
        self.assertAlmostEqual(joules["clock_j"], 7 * 6 + 1 * 2 + 8 * 1)
        self.assertAlmostEqual(joules["internal_j"], 12 + 2 + 3)  # QN falls, x rises, y rises

    def test_data_while_the_clock_is_high(self):
        """A second register changes right after the edge: 1 fJ at CLK, not 2."""
        ports = {"clk_i": port("input", 2), "x": port("input", 3), "y": port("output", 5)}
        cells = {"r": cell("DFQNx1", D=3, CLK=2, QN=4), "s": cell("DFQNx1", D=4, CLK=2, QN=5)}
        result, _ = self.simulate(ports, cells, "0000011111")
        # r falls, s rises; D of r with the clock low, D of s with it high.
        self.assertAlmostEqual(result["L2"]["internal_j"] * 8 * FEMTO, 12 + 9 + 2 + 1)  # 9: nothing on QN of s

    def test_start(self):
        """What is behind an inverted input and an inverted output starts as 0, as if it were one flip-flop with Q."""
        ports = {"clk_i": port("input", 2), "x": port("input", 3), "y": port("output", 5), "z": port("output", 6)}
        cells = {"r": cell("DFQNx1", D=5, CLK=2, QN=4), "i": cell("INVx1", A=4, Y=5), "j": cell("INVx1", A=3, Y=6)}
        _, outputs = self.simulate(ports, cells, "0000", 1)
        assert outputs == ["z", *["0", "1"] * 4]  # after the names of the ports: y, z


UNIT = {
    "name": "toy",
    "top": "toy",
    "params": {},
    "operation": "a bit, inverted and joined",
    "operations_per_cycle": 1,
    "inputs": {"a_i": {"random": 4}, "b_i": {"random": 4}},
    "stimuli": ["uniform"],
    "set": "held_out",
    "files": ["toy.sv"],
}
RTL = """module toy (input clk_i, input rst_ni, input [3:0] a_i, input [3:0] b_i, output reg [3:0] y_o, output reg [1:0] n_o);
  always @(posedge clk_i) y_o <= ~(a_i & b_i);
  always @(posedge clk_i or negedge rst_ni) if (!rst_ni) n_o <= 2'd2; else n_o <= n_o + 2'd1;
endmodule
"""


class Flow(unittest.TestCase):
    """From RTL to a record, with Yosys, OpenSTA and Icarus Verilog, onto the library of round numbers."""

    @classmethod
    def setUpClass(cls):
        cls.folder = WORK / "toy"
        cls.folder.mkdir(parents=True, exist_ok=True)
        (cls.folder / "toy.sv").write_text(RTL)
        (cls.folder / "units.json").write_text(json.dumps({"units": [UNIT]}))
        packed = cls.folder / "registers.lib.gz"
        packed.write_bytes(gzip.compress(REGISTERS.read_bytes()))
        command = [sys.executable, FLOW / "characterize.py", "--units-file", cls.folder / "units.json"]
        command += ["--liberty", LOGIC, "--liberty", packed, "--exclude", "*xp*", "--programs", PROGRAMS]
        command += ["--work", WORK, "--records", cls.folder, "--threads", "1", "--record", "--json"]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        cls.record = json.loads(done.stdout)[0]
        cls.netlist = (WORK / "toy_logic" / "toy" / "netlist.v").read_text()

    def test_a_path_in_picoseconds(self):
        """Clock to output 30 ps, some gates of 20 ps, set-up 10 ps: whatever OpenSTA's own unit is. Wires would add to it."""
        path = self.record["path_s"] * 1e12
        gates = round((path - 40) / 20)
        assert 1 <= gates <= 5
        self.assertAlmostEqual(path, 40 + 20 * gates, places=3)
        self.assertAlmostEqual(self.record["period_s"] * 1e12, 50 * math.ceil(1.1 * path / 50))
        sdf = (WORK / "toy_logic" / "toy" / "netlist.sdf").read_text()
        assert "(TIMESCALE 1ps)" in sdf
        assert "(20.000000::20.000000)" in sdf

    def test_what_the_record_names(self):
        assert self.record["library"] == ["toy_logic", "toy_registers"]
        assert self.record["corner"]["name"] == "toy_typical"
        assert self.record["cells_sha256"] == technology.read_library(toy("*xp*"))["cells_sha256"]
        assert "INVx1" in self.netlist
        assert "INVxp5" not in self.netlist
        sample = self.record["samples"][0]
        assert sample["compared_bits"] == 6 * 2064  # from the first edge on: inputs' registers begin at 0
        self.assertAlmostEqual(sample["L2"]["energy_j"], sample["L3"]["energy_j"], delta=0.3 * sample["L2"]["energy_j"])

    def test_a_netlist_that_is_not_the_rtl(self):
        work = WORK / "toy_logic" / "toy"
        outputs = work / "uniform.outputs"
        lines = outputs.read_text().splitlines()
        count, word = lines[1000].split()
        lines[1000] = f"{count} {int(word, 16) ^ 4:x}"
        wrong = self.folder / "wrong.outputs"
        wrong.write_text("\n".join(lines) + "\n")
        files = [self.folder / "toy.sv"]
        assert golden.compare("toy", work, files, work / "uniform.stim", outputs) == 6 * 2064
        with pytest.raises(golden.FlowError, match=r"in cycle 999 y_o is .* its joules do not count"):
            golden.compare("toy", work, files, work / "uniform.stim", wrong)


MUL = "module mul4(input [3:0] a, input [3:0] b, output [7:0] p); assign p = a * b; endmodule"
PORTS = {"clock": "clk", "reset": "rst", "edge": "posedge clk", "when": "rst"}


def accumulator(name: str, **how: str) -> str:
    """Two modules of a file: products, summed."""
    how = {**PORTS, "more": "", **how}
    return (
        f"module {name}(input {how['clock']}, input {how['reset']}, input [3:0] a, input [3:0] b, output reg [9:0] y);\n"
        f"  wire [7:0] p; mul4 u(.a(a), .b(b), .p(p));\n  {how['more']}\n"
        f"  always @({how['edge']}) if ({how['when']}) y <= 0; else y <= y + p;\nendmodule\n{MUL}\n"
    )


UNIT_INPUTS = {"a": {"random": 4}, "b": {"random": 4}}


class OwnUnits(unittest.TestCase):
    """Units of other people's conventions."""

    def measure(self, name: str, source: str, **entry) -> dict:
        folder = WORK / "own"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}_file.v").write_text(source)
        unit = {**UNIT, "name": name, "top": name, "files": [f"{name}_file.v"], "inputs": UNIT_INPUTS, **entry}
        (folder / "units.json").write_text(json.dumps({"units": [unit]}))
        arguments = [
            "--units-file",
            folder / "units.json",
            "--cycles",
            "256",
            "--liberty",
            LOGIC,
            "--liberty",
            REGISTERS,
        ]
        arguments += ["--programs", PROGRAMS, "--work", WORK, "--threads", "1"]
        flow = characterize.Flow(characterize.arguments_for([*map(str, arguments)]))
        return flow.measure(flow.units[name])

    def test_conventions_have_one_price(self):
        """The same hardware under other names, polarities and edges; its netlist is held to its RTL each time."""
        given = {"reset": {"port": "kill", "active": "high"}, "clock": "phi"}
        of_kind = {
            "asynchronous": (
                (
                    "own_a",
                    {"clock": "clk_i", "reset": "rst_ni", "edge": "posedge clk_i or negedge rst_ni", "when": "!rst_ni"},
                    {},
                ),
                ("own_b", {"edge": "posedge clk or posedge rst"}, {}),
                ("own_c", {"reset": "kill", "edge": "posedge clk or posedge kill", "when": "kill"}, {}),
            ),
            "synchronous": (
                ("own_d", {}, {}),
                ("own_e", {"clock": "phi", "reset": "kill", "edge": "posedge phi", "when": "kill"}, given),
                ("own_f", {"clock": "clock", "reset": "reset_i", "edge": "posedge clock", "when": "reset_i"}, {}),
            ),
        }
        for kind, units in of_kind.items():
            records = [self.measure(name, accumulator(name, **how), **entry) for name, how, entry in units]
            joules = [[record["samples"][0][rung]["energy_j"] for rung in ("L2", "L3")] for record in records]
            assert joules == [joules[0]] * len(joules), kind
            for record in records:
                assert record["flip_flops"] == 8 + 10
                assert record["samples"][0]["compared_bits"] >= 10 * (256 + 16 - 1)
        # Active low takes an inverter, or none; and at the falling edge.
        low = {"reset": "resetn", "when": "!resetn", "edge": "negedge clk"}
        record = self.measure("own_g", accumulator("own_g", **low))
        assert record["flip_flops"] == 18
        self.assertAlmostEqual(record["samples"][0]["L2"]["energy_j"] / joules[0][0], 1, delta=0.05)
        # Without a reset, from a first value on.
        free = accumulator("own_h", reset="dummy", when="dummy", more="initial y = 0;")
        record = self.measure("own_h", free, inputs={**UNIT_INPUTS, "dummy": {"constant": 0}}, reset=None)
        assert record["samples"][0]["compared_bits"] == 10 * (256 + 16)

    def test_refused(self):
        inputs, one = UNIT_INPUTS, {"random": 1}
        for number, (how, entry, part) in enumerate(
            (
                ({}, {"inputs": {**inputs, "clk": one}}, "'inputs' has clk, which is its clock"),
                ({}, {"inputs": {**inputs, "rst": one}}, "'inputs' has rst, which is its reset"),
                ({}, {"clock": "rst"}, "clock is 'rst', which would stand still for its flip-flops; they have clk"),
                ({}, {"clock": "phi"}, "clock is 'phi'; expected one of its inputs of one bit: clk, rst"),
                ({}, {"clock": ["clk"]}, "expected one of its inputs of one bit"),
                ({}, {"reset": {"port": "rst", "active": "up"}}, "with high or low, or null for none"),
                ({}, {"reset": 7}, "or null for none"),
                ({}, {"reset": "a"}, "reset is 'a'; expected one of its inputs of one bit"),
                ({}, {"reset": None}, "no entry for rst"),
                (
                    {"edge": "posedge clk or posedge rst"},
                    {"reset": {"port": "rst", "active": "low"}},
                    "take it as active high",
                ),
                ({"more": "wire g = clk & a[0];", "edge": "posedge g"}, {}, "logic clocks some of its flip-flops"),
                (
                    {"more": "reg z; always @(negedge clk) z <= a[0];", "when": "rst | z"},
                    {},
                    "flip-flops of both edges of clk",
                ),
                ({"more": "reg l; always @* if (rst) l = a[0];", "when": "rst | l"}, {}, "makes a latch"),
                ({"when": "1'b0"}, {"inputs": {**inputs, "rst": one}, "reset": None}, "stay unknown"),
                ({}, {"top": "acc"}, "module 'acc' is in none of its files"),
                ({"when": "("}, {}, "expected SystemVerilog"),
            )
        ):
            name = f"bad_{number}"
            with pytest.raises((golden.FlowError, systemverilog.SourceError)) as caught:
                self.measure(name, accumulator(name, **how), **entry)
            assert part in str(caught.value)
            assert "\n" not in str(caught.value)


if __name__ == "__main__":
    main()
