# SPDX-License-Identifier: Apache-2.0
"""Tests of the proof that a fault changes nothing in states that the design reaches (tools/ngtools/reached.py): reached_test.py"""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from ngtools import ngflow, reached

# A ring of three states; `spare` is true in the fourth, which never comes, and the product is no matter there.
DESIGN = """
module top (input wire clk_i, rst_ni, go_i, input wire [7:0] a_i, b_i, output reg [15:0] y_o);
  reg [1:0] at_q;
  wire spare = &at_q;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) at_q <= 2'd0;
    else if (go_i) at_q <= at_q == 2'd2 ? 2'd0 : at_q + 2'd1;
  always @(posedge clk_i) y_o <= a_i * (spare ? a_i : b_i);
endmodule
"""


class Reached(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def proven(self, fault: str, design: str = DESIGN) -> bool:
        source, out = self.folder / "top.v", self.folder / "top.il"
        source.write_text(design)
        ngflow.run_yosys(
            [f"read_verilog {source}", "proc", "opt", "rename -src", "opt_clean", f"write_rtlil {out}"],
            self.folder / "read.log",
        )
        return reached.proven_reached(out, fault, self.folder, 4)

    def cell(self, kind: str, design: str = DESIGN) -> str:
        """Name of the only cell of a kind."""
        source, log = self.folder / "top.v", self.folder / "cells.log"
        source.write_text(design)
        text = ngflow.run_yosys(
            [
                f"read_verilog {source}",
                "proc",
                "opt",
                "rename -src",
                "opt_clean",
                f"tee -a {log} select -list t:{kind}",
            ],
            log,
        )
        (name,) = {line.split("/", 1)[1] for line in text.splitlines() if line.startswith("top/")}
        return name

    def fault(self, kind: str, mode: str, port: str, bit: int = 0, design: str = DESIGN) -> str:
        return f"mutate -mode {mode} -module top -cell {self.cell(kind, design)} -port {port} -portbit {bit}"

    def test_a_state_that_never_comes(self) -> None:
        assert self.proven(self.fault("$reduce_and", "const0", "Y"))

    def test_a_state_that_comes(self) -> None:
        assert not self.proven(self.fault("$reduce_and", "const1", "Y"))
        assert not self.proven(self.fault("$reduce_and", "inv", "A", 1))
        assert not self.proven(self.fault("$mul", "inv", "A", 3))

    def test_a_state_before_reset_does_not_count(self) -> None:
        """Without its reset the ring can begin in the fourth state, and with one it cannot."""
        free = DESIGN.replace(" or negedge rst_ni", "").replace("if (!rst_ni) at_q <= 2'd0;\n    else ", "")
        assert "rst_ni)" not in free
        assert not self.proven(self.fault("$reduce_and", "const0", "Y", design=free), free)

    def test_a_design_without_a_reset(self) -> None:
        design = DESIGN.replace("rst_ni", "other_i")
        assert not self.proven(self.fault("$reduce_and", "const0", "Y", design=design), design)


if __name__ == "__main__":
    unittest.main()
