# SPDX-License-Identifier: Apache-2.0
"""Tests of the proof that what a fault changes is not read (tools/ngtools/masked.py): masked_test.py"""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from ngtools import masked, ngflow

# A number that is not used where the command is bad. `late_q` holds the same for one step only.
DESIGN = """
module top (input wire clk_i, take_i, input wire [3:0] n_i, output wire [1:0] n_o, output wire bad_o);
  reg bad_q, late_q;
  reg [1:0] n_q;
  always @(posedge clk_i) begin
    late_q <= take_i & |n_i[3:2];
    if (take_i) begin
      bad_q <= |n_i[3:2];
      n_q <= n_i[3] ? 2'd0 : n_i[1:0];
    end
  end
  assign n_o = bad_q ? 2'd0 : n_q;
  assign bad_o = bad_q;
endmodule
"""


class Masked(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def aig(self, name: str, text: str) -> Path:
        source, out = self.folder / f"{name}.v", self.folder / f"{name}.aig"
        source.write_text(text)
        steps = ["proc", "opt", "techmap", "dffunmap", "simplemap", "setundef -undriven -zero", "aigmap", "clean"]
        ngflow.run_yosys([f"read_verilog {source}", *steps, f"write_aiger -zinit {out}"], out.with_suffix(".log"))
        return out

    def proven(self, *changes: tuple[str, str], design: str = DESIGN) -> bool:
        faulty = design
        for old, new in changes:
            assert old in faulty
            faulty = faulty.replace(old, new)
        return masked.proven_masked(self.aig("original", design), self.aig("faulty", faulty), self.folder, 30)

    def test_what_is_not_read(self) -> None:
        assert self.proven(("n_i[3] ? 2'd0 : n_i[1:0]", "n_i[1:0]"))
        assert self.proven(("n_i[3] ? 2'd0", "n_i[3] ? 2'd2"))

    def test_what_is_read(self) -> None:
        assert not self.proven(("n_i[3] ? 2'd0", "n_i[2] ? 2'd0"), design=DESIGN.replace("|n_i[3:2]", "n_i[3]"))
        assert not self.proven(("n_i[3] ? 2'd0 : n_i[1:0]", "n_i[1:0]"), design=DESIGN.replace("bad_q ? 2'd0 :", ""))
        assert not self.proven(("n_i[3] ? 2'd0 : n_i[1:0]", "n_i[0] ? 2'd0 : n_i[1:0]"))

    def test_what_is_read_later(self) -> None:
        """The register is hidden in the step after it changed, and seen one later."""
        design = DESIGN.replace("n_o = bad_q", "n_o = late_q")
        assert not self.proven(("n_i[3] ? 2'd0 : n_i[1:0]", "n_i[1:0]"), design=design)

    def test_changed_outputs_and_equal_designs(self) -> None:
        assert not self.proven(("bad_o = bad_q", "bad_o = ~bad_q"))
        assert not self.proven()  # nothing to mask: another method's

    def test_other_files(self) -> None:
        bad = self.folder / "bad.aig"
        bad.write_bytes(b"aag 0 0 0 0 0\n")
        with self.assertRaisesRegex(ngflow.FlowError, "expected a binary AIGER file"):  # noqa: PT027
            masked.read_aig(bad)


if __name__ == "__main__":
    unittest.main()
