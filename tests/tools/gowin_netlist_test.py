# SPDX-License-Identifier: Apache-2.0
"""What ngtools.gowin_netlist makes of the cells of a routed Gowin, on netlists of a few cells."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import pytest

from ngtools import gowin_netlist
from ngtools.ngflow import ROOT, FlowError

PORTS = {"clk_i": ("input", [1]), "a_i": ("input", [2]), "b_i": ("input", [3]), "y_o": ("output", [4, 5])}
OUTPUTS = {"O", "F", "Q", "SUM", "COUT", "G", "V", "DO"}


def cell(kind: str, parameters: dict[str, str] | None = None, **connections: int | None) -> dict:
    return {
        "type": kind,
        "parameters": parameters or {},
        "port_directions": {
            port: "output" if port.rstrip("0123456789") in OUTPUTS else "input" for port in connections
        },
        "connections": {port: [] if bit is None else [bit] for port, bit in connections.items()},
    }


def routed(**cells: dict) -> dict:
    ports = {name: {"direction": direction, "bits": bits} for name, (direction, bits) in PORTS.items()}
    pins = {
        "pin_clk": cell("IBUF", I=1, O=11),
        "pin_a": cell("IBUF", I=2, O=12),
        "pin_b": cell("IBUF", I=3, O=13),
        "pin_y0": cell("OBUF", I=14, O=4),
        "pin_y1": cell("OBUF", I=15, O=5),
    }
    return {"modules": {"top": {"ports": ports, "cells": pins | cells}}}


AND, XOR = "1000" * 4, "0110" * 4  # of I0 and I1
WORKING = {
    "u_path.and": cell("LUT4", {"INIT": AND}, F=14, I0=12, I1=13),
    "u_path.xor": cell("LUT2", {"INIT": "0110"}, F=16, I0=12, I1=13),
    "ff": cell("DFFPE", CLK=11, D=16, Q=15, PRESET=14, CE=13),
}
FROM_LOGIC = cell("ALU", {"RAW_ALU_LUT": f"{0x505A:032b}", "CIN_NETTYPE": "LOGIC "}, I0=12, COUT=15)


class Text(unittest.TestCase):
    def lines(self, faults: int = 0, among: str = "", **cells: dict) -> list[str]:
        return gowin_netlist.verilog(routed(**cells), faults, 1, among).splitlines()

    def test_ports_and_pins(self) -> None:
        lines = self.lines(**WORKING)
        assert lines[0] == "module chip (input [7:0] fault_i, input clk_i, input a_i, input b_i, output [1:0] y_o);"
        assert "assign n11 = clk_i;" in lines
        assert "assign y_o[1] = n15;" in lines

    def test_a_lut_counts_its_inputs_from_the_low_one(self) -> None:
        lines = self.lines(**WORKING)
        assert "assign n14 = 1'(16'h8888 >> {1'b1, 1'b1, n13, n12});" in lines
        assert "assign n16 = 1'(4'h6 >> {n13, n12});" in lines

    def test_flip_flops_have_their_resets_and_enables(self) -> None:
        for kind, ports, expected in (
            (
                "DFFPE",
                {"PRESET": 14, "CE": 13},
                "(posedge n11 or posedge n14) if (n14) n15 <= 1'b1; else if (n13) n15 <= n16;",
            ),
            ("DFFC", {"CLEAR": 14}, "(posedge n11 or posedge n14) if (n14) n15 <= 1'b0; else n15 <= n16;"),
            ("DFFSE", {"SET": 14, "CE": 13}, "(posedge n11) if (n14) n15 <= 1'b1; else if (n13) n15 <= n16;"),
            ("DFFR", {"RESET": 14}, "(posedge n11) if (n14) n15 <= 1'b0; else n15 <= n16;"),
            ("DFFE", {"CE": 13}, "(posedge n11) if (n13) n15 <= n16;"),
            ("DFF", {}, "(posedge n11) n15 <= n16;"),
        ):
            lines = self.lines(**WORKING | {"ff": cell(kind, CLK=11, D=16, Q=15, **ports)})
            assert f"always @{expected}" in lines, kind

    def test_an_alu_subtracts_and_adds(self) -> None:
        lines = self.lines(**WORKING | {"ff": cell("ALU", {"ALU_MODE": "00010"}, I0=12, I1=13, I3=16, CIN=14, SUM=15)})
        assert any(line.endswith(" = 1'(16'h609a >> {n16, 1'b1, n13, n12});") for line in lines)
        assert any(line.startswith("assign n15 = t") and line.endswith(" ^ n14;") for line in lines)

    def test_a_carry_from_logic_is_repaired(self) -> None:
        netlist = routed(**WORKING | {"ff": FROM_LOGIC | {"parameters": dict(FROM_LOGIC["parameters"])}})
        assert gowin_netlist.repair(netlist) == 1
        assert gowin_netlist.repair(netlist) == 1  # and stays so
        assert any("16'h000a" in line for line in gowin_netlist.verilog(netlist, 0, 1).splitlines())
        assert gowin_netlist.repair(routed(**WORKING)) == 0
        netlist["modules"]["top"]["cells"]["ff"]["parameters"]["RAW_ALU_LUT"] = "1111"
        with pytest.raises(FlowError, match="has the table 0x000f; expected 0x505a or 0x000a"):
            gowin_netlist.repair(netlist)

    def test_faults_are_drawn_where_it_is_said(self) -> None:
        text = "\n".join(self.lines(2, "u_path.", **WORKING))
        assert text.count("(fault_i == 1)") == text.count("(fault_i == 2)") == 1
        with pytest.raises(FlowError, match=r"has 2 LUTs whose names begin with 'u_path\.'; expected 3 or more"):
            self.lines(3, "u_path.", **WORKING)

    def test_what_is_not_modelled_is_refused(self) -> None:
        wide = {f"BIT_WIDTH_{side}": "100100" for side in "01"}
        for odd, message in (
            (cell("MULT18X18"), "is a MULT18X18; expected one that is simulated"),
            (cell("ALU", {"ALU_MODE": "OTHER"}), "ALU_MODE='OTHER'; expected one of 2, C2L, ONE2C"),
            (cell("SDP", {"BIT_WIDTH_0": "010010"}), "BIT_WIDTH_0=18; expected one of 36"),
            (cell("SDP", wide | {"READ_MODE": "1"}), "READ_MODE=1; expected one of 0"),
            (cell("SDP", {"INIT_RAM_00": "0001"}), "does not begin with zeros"),
            (cell("SDP", wide, RESETA=12), "has a signal at RESETA; expected 0"),
        ):
            with pytest.raises(FlowError, match=message):
                self.lines(odd=odd)


class Simulated(unittest.TestCase):
    def test_verilator_reads_the_text_and_the_models(self) -> None:
        if shutil.which("verilator") is None:
            self.skipTest("Verilator is not installed")
        models = (ROOT / "synth" / "boards" / "gowin_models.v").read_text()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "chip.v"
            file.write_text(gowin_netlist.verilog(routed(**WORKING), 1, 1) + models)
            done = subprocess.run(
                ["verilator", "--lint-only", "-Wno-lint", "-Wno-style", "--top", "chip", str(file)],
                capture_output=True,
                text=True,
                check=False,
            )
        assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    unittest.main()
