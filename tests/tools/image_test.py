# SPDX-License-Identifier: Apache-2.0
"""What synth/image.py makes of the Verilog that icebox_vlog writes, on a chip of a few lines."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import pytest

from ngtools.ngflow import ROOT, FlowError

_spec = importlib.util.spec_from_file_location("image", ROOT / "synth" / "image.py")
image = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(image)

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


class DeclaredOnce(unittest.TestCase):
    def test_ports_that_are_registers_say_so(self) -> None:
        head = image.declared_once(CHIP).splitlines()[1]
        assert head == (
            r"module chip (input clk_i, output reg \led_o[1] , output \led_o[0] , input rx_i, output reg tx_o);"
        )

    def test_nothing_else_is_lost(self) -> None:
        lines = image.declared_once(CHIP).splitlines()
        assert "wire n1 , n2 , n4 , n5;" in lines
        assert "reg n3 = 0;" in lines
        assert lines[-10:] == CHIP.splitlines()[-10:]

    def test_a_text_without_a_chip_is_refused(self) -> None:
        with pytest.raises(FlowError, match="no module chip; expected"):
            image.declared_once("module other ();\nendmodule\n")


class WithFaults(unittest.TestCase):
    def test_each_drawn_lut_is_inverted_once(self) -> None:
        text = image.with_faults(CHIP, 2, 1)
        assert "module chip (input [7:0] fault_i, input clk_i," in text
        for number in (1, 2):
            assert text.count(f"^ (fault_i == {number});") == 1
        assert r"((rx_i ? n3 : !n3)) ^" in text
        assert "(n2) ^" in text

    def test_constants_and_carries_are_no_luts_to_draw(self) -> None:
        with pytest.raises(ValueError, match="larger than population"):
            image.with_faults(CHIP, 3, 1)
        assert image.with_faults(CHIP, 0, 1).count("fault_i") == 1

    def test_the_seed_draws(self) -> None:
        drawn = {image.with_faults(CHIP, 1, seed) for seed in range(20)}
        assert len(drawn) == 2
        assert image.with_faults(CHIP, 1, 7) == image.with_faults(CHIP, 1, 7)


class Simulated(unittest.TestCase):
    def test_verilator_reads_it_and_warns_of_no_port(self) -> None:
        if shutil.which("verilator") is None:
            self.skipTest("Verilator is not installed")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "chip.v"
            file.write_text("`timescale 1ns/1ps\n" + image.with_faults(image.declared_once(CHIP), 2, 1))
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
