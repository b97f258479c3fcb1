# SPDX-License-Identifier: Apache-2.0
"""What ngtools.ice40_netlist makes of what icebox_vlog writes, on a chip of a few lines."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import pytest

from ngtools import ice40_netlist
from ngtools.ngflow import FlowError

CHIP = r"""
module chip (input clk_i, output \led_o[1] , output \led_o[0] , input rx_i, output tx_o);

wire n1, n2, n4, n5, clk_i, rx_i;
wire \led_o[0] ;
reg n3 = 0, \led_o[1] = 0;
reg tx_o = 0;

assign n1     = /* LUT   12 32  2 */ 1'b0;
assign n2     = /* LUT    1  3  0 */ (rx_i ? n3 : !n3);
assign n5     = /* LUT    1  3  1 */ n2;
assign \led_o[0]  = n5 & n4;
assign n4     = /* CARRY  1  3  2 */ (n1 & n2);
/* FF  1  3  0 */ always @(posedge clk_i) n3 <= n2;
/* FF  1  3  1 */ always @(posedge clk_i) tx_o <= n3;
/* FF  1  3  2 */ always @(posedge clk_i) \led_o[1]  <= rx_i;

endmodule
"""


class Registered(unittest.TestCase):
    def setUp(self) -> None:
        flop = {"type": "SB_DFFE", "connections": {"C": [1], "E": [3], "D": [10], "Q": [20]}}
        inputs = {"I0": ["0"], "I1": ["0"], "I2": ["0"], "I3": [2]}
        inverter = {
            "type": "SB_LUT4",
            "parameters": {"LUT_INIT": "0000000011111111"},
            "connections": inputs | {"O": [3]},
        }
        self.dsp = {
            "type": "SB_MAC16",
            "parameters": {"A_REG": "1", "B_REG": "0"},
            "connections": {"CLK": [1], "AHOLD": [2], "BHOLD": ["0"], "A": [30, 31], "B": [20, "0"]},
        }
        self.module = {"cells": {"u_flop": flop, "u_not": inverter, "u_dsp": self.dsp}}

    def test_the_other_operand_takes_what_its_register_takes(self) -> None:
        assert ice40_netlist.registered(self.module) == 1
        assert self.dsp["connections"]["B"] == [10, "0"]
        assert self.dsp["connections"]["BHOLD"] == [2]
        assert self.dsp["parameters"] == {"A_REG": "1", "B_REG": "1"}
        assert ice40_netlist.registered(self.module) == 0

    def test_another_enable_is_refused(self) -> None:
        self.module["cells"]["u_not"]["parameters"]["LUT_INIT"] = "1111111100000000"  # not inverted
        with pytest.raises(FlowError, match="u_dsp has one operand in a register, and bit 0 of B comes from SB_DFFE"):
            ice40_netlist.registered(self.module)

    def test_logic_is_refused(self) -> None:
        self.dsp["connections"]["B"] = [40, "0"]
        with pytest.raises(FlowError, match="bit 0 of B comes from nothing; expected"):
            ice40_netlist.registered(self.module)


class DeclaredOnce(unittest.TestCase):
    def test_ports_that_are_registers_say_so(self) -> None:
        head = ice40_netlist.declared_once(CHIP).splitlines()[1]
        assert head == (
            r"module chip (input clk_i, output reg \led_o[1] , output \led_o[0] , input rx_i, output reg tx_o);"
        )

    def test_nothing_else_is_lost(self) -> None:
        lines = ice40_netlist.declared_once(CHIP).splitlines()
        assert "wire n1 , n2 , n4 , n5;" in lines
        assert "reg n3 = 0;" in lines
        assert lines[-10:] == CHIP.splitlines()[-10:]

    def test_a_text_without_a_chip_is_refused(self) -> None:
        with pytest.raises(FlowError, match="no module chip; expected"):
            ice40_netlist.declared_once("module other ();\nendmodule\n")


class WithFaults(unittest.TestCase):
    def test_each_drawn_lut_is_inverted_once(self) -> None:
        text = ice40_netlist.with_faults(CHIP, 2, 1)
        assert "module chip (input [7:0] fault_i, input clk_i," in text
        for number in (1, 2):
            assert text.count(f"^ (fault_i == {number});") == 1
        assert r"((rx_i ? n3 : !n3)) ^" in text
        assert "(n2) ^" in text

    def test_constants_and_carries_are_no_luts_to_draw(self) -> None:
        with pytest.raises(ValueError, match="larger than population"):
            ice40_netlist.with_faults(CHIP, 3, 1)
        assert ice40_netlist.with_faults(CHIP, 0, 1).count("fault_i") == 1

    def test_the_seed_draws(self) -> None:
        drawn = {ice40_netlist.with_faults(CHIP, 1, seed) for seed in range(20)}
        assert len(drawn) == 2
        assert ice40_netlist.with_faults(CHIP, 1, 7) == ice40_netlist.with_faults(CHIP, 1, 7)


COMMENTED = """// Reading file 'back.asc'..

wire n1;
// (0, 0, 'glb_netwk_0')
// (0, 7, 'lutff_global/clk')

reg n2 = 0;
// (0, 7, 'lutff_0/in_3')
// (1, 7, 'lutff_0/out')

assign n3 = n2;
// (3, 3, 'lutff_0/out')
"""


class Dsps(unittest.TestCase):
    def test_nets_are_known_by_their_places(self) -> None:
        assert ice40_netlist.places(COMMENTED) == {
            (0, 0, "glb_netwk_0"): "n1",
            (0, 7, "lutff_global/clk"): "n1",
            (0, 7, "lutff_0/in_3"): "n2",
            (1, 7, "lutff_0/out"): "n2",
            (3, 3, "lutff_0/out"): "",
        }

    def test_an_instance_has_its_bits_and_its_nets(self) -> None:
        bits = {"A_REG": 1, "TOPOUTPUT_SELECT_0": 1, "TOPOUTPUT_SELECT_1": 0}
        ports = {"CLK": "n1", "CE": "", "A_0": "n2", "A_1": "", "O_0": "n5", "O_1": "", "CO": ""}
        wires, instance = ice40_netlist.dsp("dsp_0_5", bits, ports).splitlines()
        assert sorted(wires.removeprefix("wire ").removesuffix(";").split(", ")) == ["dsp_0_5_CO_0", "dsp_0_5_O_1"]
        assert instance == (
            "SB_MAC16 #(.A_REG(1'b1), .TOPOUTPUT_SELECT(2'b01)) dsp_0_5 (.CLK({n1}), .CE({1'b1}), .A({1'b0, n2}), "
            ".O({dsp_0_5_O_1, n5}), .CO({dsp_0_5_CO_0}), .ACCUMCI(1'b0), .SIGNEXTIN(1'b0));"
        )

    def test_the_pll_gets_the_input_that_nothing_reads(self) -> None:
        chip = """module chip (input clk_i, input rx_i, output tx_o);
assign tx_o = rx_i;
SB_PLL40_PAD #(
) pll (
  .PACKAGEPIN(n7),
);
endmodule
"""
        assert ".PACKAGEPIN(clk_i)," in ice40_netlist.with_pll_pin(chip)
        with pytest.raises(FlowError, match=r"nothing reads are \['clk_i', 'rx_i'\]; expected one"):
            ice40_netlist.with_pll_pin(chip.replace("tx_o = rx_i", "tx_o = 1'b0"))
        assert ice40_netlist.with_pll_pin(CHIP) == CHIP


class Simulated(unittest.TestCase):
    def test_verilator_reads_it_and_warns_of_no_port(self) -> None:
        if shutil.which("verilator") is None:
            self.skipTest("Verilator is not installed")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "chip.v"
            file.write_text("`timescale 1ns/1ps\n" + ice40_netlist.with_faults(ice40_netlist.declared_once(CHIP), 2, 1))
            done = subprocess.run(
                ["verilator", "--lint-only", "-Wno-lint", "-Wno-style", str(file)],
                capture_output=True,
                text=True,
                check=False,
            )
        assert "PROCASSWIRE" not in done.stderr, done.stderr
        assert done.returncode == 0, done.stderr


if __name__ == "__main__":
    unittest.main()
