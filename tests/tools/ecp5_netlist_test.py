# SPDX-License-Identifier: Apache-2.0
"""What ngtools.ecp5_netlist makes of the cells of a routed ECP5, on netlists of a few cells."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import pytest

from ngtools import ecp5_netlist
from ngtools.ngflow import ROOT, FlowError

PORTS = {"clk_i": ("input", [1]), "a_i": ("input", [2]), "b_i": ("input", [3]), "y_o": ("output", [4, 5])}
PIN = {"DIR": "INPUT"}


def cell(kind: str, parameters: dict[str, str], **connections: int | str) -> dict:
    return {
        "type": kind,
        "parameters": parameters,
        "connections": {port: [bit] for port, bit in connections.items()},
    }


def routed(**cells: dict) -> dict:
    ports = {name: {"direction": direction, "bits": bits} for name, (direction, bits) in PORTS.items()}
    pins = {
        "pin_clk": cell("TRELLIS_IO", PIN, B=1, O=11),
        "pin_a": cell("TRELLIS_IO", PIN, B=2, O=12),
        "pin_b": cell("TRELLIS_IO", PIN, B=3, O=13),
        "pin_y0": cell("TRELLIS_IO", {"DIR": "OUTPUT"}, B=4, I=14),
        "pin_y1": cell("TRELLIS_IO", {"DIR": "OUTPUT"}, B=5, I=15),
    }
    return {"modules": {"top": {"ports": ports, "cells": pins | cells}}}


def lut(init: str, output: int, **inputs: int) -> dict:
    return cell("TRELLIS_COMB", {"INITVAL": init}, F=output, **inputs)


AND, XOR = "1000" * 4, "0110" * 4  # of A and B, whatever C and D are
WORKING = {
    "u_path.and": lut(AND, 14, A=12, B=13),
    "u_path.xor": lut(XOR, 16, A=12, B=13),
    "ff": cell(
        "TRELLIS_FF",
        {"SD": "1 ", "REGSET": "SET", "SRMODE": "ASYNC", "CEMUX": "INV"},
        CLK=11,
        DI=16,
        Q=15,
        LSR=14,
        CE=13,
    ),
}


class Text(unittest.TestCase):
    def lines(self, faults: int = 0, among: str = "", **cells: dict) -> list[str]:
        return ecp5_netlist.verilog(routed(**cells), faults, 1, among).splitlines()

    def test_ports_and_pins(self) -> None:
        lines = self.lines(**WORKING)
        assert lines[0] == "module chip (input [7:0] fault_i, input clk_i, input a_i, input b_i, output [1:0] y_o);"
        assert "assign n11 = clk_i;" in lines
        assert "assign y_o[1] = n15;" in lines

    def test_an_input_that_nothing_drives_is_one(self) -> None:
        lines = self.lines(**WORKING)
        assert any(line.endswith(" = 1'(16'b1000100010001000 >> {1'b1, 1'b1, n13, n12});") for line in lines)

    def test_a_flip_flop_has_its_reset_and_its_enable(self) -> None:
        lines = self.lines(**WORKING)
        assert "always @(posedge n11 or posedge n14) if (n14) n15 <= 1'b1; else if (!n13) n15 <= n16;" in lines
        assert "initial n15 = 1'b1;" in lines

    def test_faults_are_drawn_where_it_is_said(self) -> None:
        text = "\n".join(self.lines(2, "u_path.", **WORKING))
        assert text.count("(fault_i == 1)") == text.count("(fault_i == 2)") == 1
        with pytest.raises(FlowError, match=r"has 2 LUTs whose names begin with 'u_path\.'; expected 3 or more"):
            self.lines(3, "u_path.", **WORKING)

    def test_a_block_ram_of_18_bits_has_two_enables_and_1024_words(self) -> None:
        ram = cell(
            "DP16KD", {"WEBMUX": "INV"}, ADA0=12, ADA1=13, ADA4=12, ADB13=13, DIA17=12, DOB17=16
        )  # 18 is the default
        line = next(line for line in self.lines(ram=ram) if line.startswith("trellis_block_ram"))
        ones = ", ".join(["1'b1"] * 9)
        assert "#(.Width(18))" in line
        assert f".waddr({{{ones}, n12}}), .raddr({{n13, {ones}}}), .be({{n13, n12}})" in line
        assert f".wdata({{n12, {', '.join(['1' + chr(39) + 'b1'] * 17)}}})" in line
        assert any(line.startswith("assign n16 = q") and line.endswith("[17];") for line in self.lines(ram=ram))

    def test_what_is_not_modelled_is_refused(self) -> None:
        for odd, message in (
            (cell("ALU54B", {}), "is a ALU54B; expected one that is simulated"),
            (lut(AND, 16) | {"parameters": {"MODE": "OTHER"}}, "MODE='OTHER'; expected one of LOGIC"),
            (cell("DP16KD", {"DATA_WIDTH_A": "100", "DATA_WIDTH_B": "10010"}), r"widths of \[4, 18\] bits"),
            (cell("DP16KD", {"REGMODE_A": "OUTREG"}), "REGMODE_A='OUTREG'; expected one of NOREG"),
            (cell("DP16KD", {"INITVAL_00": "0001"}), "does not begin with zeros"),
            (cell("MULT18X18D", {"REG_INPUTA_CLK": "CLK0"}), "has registers, REG_INPUTA_CLK=CLK0"),
        ):
            with pytest.raises(FlowError, match=message):
                self.lines(odd=odd)


class Simulated(unittest.TestCase):
    def test_verilator_reads_the_text_and_the_models(self) -> None:
        if shutil.which("verilator") is None:
            self.skipTest("Verilator is not installed")
        models = (ROOT / "synth" / "boards" / "ecp5_models.v").read_text()
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "chip.v"
            file.write_text(ecp5_netlist.verilog(routed(**WORKING), 1, 1) + models)
            done = subprocess.run(
                ["verilator", "--lint-only", "-Wno-lint", "-Wno-style", "--top", "chip", str(file)],
                capture_output=True,
                text=True,
                check=False,
            )
        assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    unittest.main()
