# SPDX-License-Identifier: Apache-2.0
"""What a recorded hash of RTL depends on, what Yosys gets to count, and a text key of the ledger."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import pytest

from ngtools import ngflow, systemverilog

DESIGN = """// A comment.
`define NG_MUX(s, a, b) ((s) ? (a) : (b))
module ng_x #(parameter int Width = 4) (input logic [Width-1:0] a_i, output logic b_o);
  if (Width < 1 || (Width % 2) != 0) begin : gen_check_width $fatal(1, "ng_x: Width=%0d; // not (a comment", Width); end
  localparam int Half = Width / 2;
  logic [Half-1:0] left, right;
  assign {left, right} = a_i;
  ng_y #(.Half(Half)) u_y (.left(right), .right(left));
  if (Width > 8) begin : gen_wide
    assign b_o = ^a_i;
  end else begin : gen_narrow
    assign b_o = `NG_MUX(a_i[0], 1'b1, &a_i);
  end
endmodule
"""


def bare(text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ng_x.sv"
        path.write_text(text)
        return ngflow.bare(path)


def code_hash(text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ng_x.sv"
        path.write_text(text)
        return ngflow.design_hash([path])


class DesignHash(unittest.TestCase):
    def changed(self, old: str, new: str, times: int = 1) -> bool:
        assert DESIGN.count(old) == times, old
        return code_hash(DESIGN.replace(old, new)) != code_hash(DESIGN)

    def test_comments_layout_and_checks_do_not_count(self):
        whole = next(line for line in DESIGN.splitlines() if "$fatal" in line) + "\n"
        assert not self.changed("// A comment.", "/* Another\none. */")
        assert not self.changed("assign b_o = ^a_i;", "assign b_o=^ a_i ; // why")
        assert not self.changed(whole, "")
        assert not self.changed(whole, 'if (Width < 2) $fatal(1, "x");')
        assert not self.changed(whole, whole + whole.replace("width", "again"))
        assert not self.changed(whole, f"`ifndef __ICARUS__ // no elaboration tasks\n{whole}`endif\n")

    def test_what_synthesis_does_not_see_does_not_count(self):
        assert not self.changed("endmodule", "`ifdef FORMAL\nalways_comb assert (b_o);\n`endif\nendmodule")
        assert not self.changed("endmodule", "`ifndef SYNTHESIS\nlogic unseen;\n`endif\nendmodule")

    def test_the_whole_code_has_what_proofs_see(self):
        whole = next(line for line in DESIGN.splitlines() if "$fatal" in line) + "\n"
        proof = "`ifdef FORMAL\nalways_comb assert (b_o);\n`else\n`endif\nendmodule"
        proven = DESIGN.replace("endmodule", proof)
        codes = [systemverilog.code(text, "ng_x.sv") for text in (DESIGN, proven, proven.replace("(b_o)", "(!b_o)"))]
        assert len(set(codes)) == 3
        assert "always_comb\nassert" in codes[1]
        # Comments and elaboration checks do not count here either, a condition in front of a check does.
        guarded = DESIGN.replace(whole, f"`ifndef __ICARUS__ // no elaboration tasks\n{whole}`endif\n")
        assert systemverilog.code(guarded, "ng_x.sv") == codes[0]
        in_front = DESIGN.replace(whole, f"`ifdef FORMAL\nlogic seen;\n`endif\n{whole}")
        assert "seen" in systemverilog.code(in_front, "ng_x.sv")

    def test_names_of_local_signals_do_not_count(self):
        whole = "  logic [Half-1:0] left, right;\n  assign {left, right} = a_i;\n"
        old_use, new_use = "u_y (.left(right), .right(left))", "u_y (.left(two), .right(one))"
        other = DESIGN.replace(whole, whole.replace("left", "one").replace("right", "two")).replace(old_use, new_use)
        assert other != DESIGN
        assert code_hash(other) == code_hash(DESIGN)
        # The same names at other places are another design, and so are other ports.
        assert self.changed("{left, right} = a_i", "{right, left} = a_i")
        assert self.changed(".left(right), .right(left)", ".left(left), .right(right)")
        assert self.changed(".left(right), .right(left)", ".one(right), .two(left)")

    def test_code_counts(self):
        assert self.changed("^a_i", "~^a_i")
        assert self.changed("Width = 4", "Width = 5")
        assert self.changed("a_i", "c_i", 5)
        assert self.changed("gen_wide", "gen_broad")
        assert self.changed("(a) : (b)", "(b) : (a)")
        assert self.changed("gen_narrow\n", 'gen_narrow\n    initial $display("x");\n')
        # A branch that a check decides over is hardware.
        assert self.changed("Width); end", "Width); end else begin : gen_y end")

    def test_what_is_counted_has_no_layout_but_names(self):
        check = next(line for line in DESIGN.splitlines() if "$fatal" in line) + "\n"
        assert bare(DESIGN) == bare(DESIGN.replace("// A comment.", "").replace(check, "").replace(";", " ;\n"))
        assert bare(DESIGN) != bare(DESIGN.replace("{left, right}", "{right, left}"))
        assert bare(DESIGN) != bare(DESIGN.replace("u_y", "u_z"))
        assert bare(bare(DESIGN)) == bare(DESIGN)

    def test_attributes_of_what_is_counted(self):
        text = DESIGN.replace("localparam", '(* keep = "yes" *) localparam')
        assert '\n(*\nkeep\n=\n"yes"\n*)\nlocalparam\n' in bare(text)
        assert bare(bare(text)) == bare(text)
        assert "(\n*\n)" in bare(DESIGN.replace("endmodule", "always @(*) begin end\nendmodule"))

    def test_every_check_of_the_project_is_left_out(self):
        files = list(ngflow.RTL.rglob("*.sv"))
        assert sum("$fatal" in path.read_text() for path in files) > 20
        for path in files:
            assert "gen_check_" not in systemverilog.hardware(path)
            assert "$fatal" not in systemverilog.hardware(path)

    def test_a_broken_file_is_refused(self):
        with pytest.raises(systemverilog.SourceError, match="expected SystemVerilog"):
            code_hash("module ng_x; if (a $fatal(1); endmodule")


if __name__ == "__main__":
    unittest.main()
