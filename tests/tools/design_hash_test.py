# SPDX-License-Identifier: Apache-2.0
"""What a recorded hash of RTL depends on: ngflow.design_hash."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from ngtools import ngflow

DESIGN = """// A comment.
`define NG_MUX(s, a, b) ((s) ? (a) : (b))
module ng_x #(parameter int Width = 4) (input logic [Width-1:0] a_i, output logic b_o);
  if (Width < 1 || (Width % 2) != 0) begin : gen_check_width $fatal(1, "ng_x: Width=%0d; // not (a comment", Width); end
  if (Width > 8) begin : gen_wide
    assign b_o = ^a_i;
  end else begin : gen_narrow
    assign b_o = `NG_MUX(a_i[0], 1'b1, &a_i);
  end
endmodule
"""


def code_hash(text: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ng_x.sv"
        path.write_text(text)
        return ngflow.design_hash([path])


def refusal(text: str) -> str:
    try:
        return "accepted: " + ngflow.design_code(text)
    except ngflow.FlowError as error:
        return str(error)


class DesignHash(unittest.TestCase):
    def changed(self, old: str, new: str) -> bool:
        assert DESIGN.count(old) == 1, old
        return code_hash(DESIGN.replace(old, new)) != code_hash(DESIGN)

    def test_comments_layout_and_checks_do_not_count(self):
        whole = next(line for line in DESIGN.splitlines() if "$fatal" in line) + "\n"
        assert not self.changed("// A comment.", "/* Another\none. */")
        assert not self.changed("assign b_o = ^a_i;", "assign b_o=^ a_i ; // why")
        assert not self.changed(whole, "")
        assert not self.changed(whole, 'if (Width < 2) $fatal(1, "x");')
        assert not self.changed(whole, whole + whole.replace("width", "again"))
        assert not self.changed(whole, f"`ifndef __ICARUS__ // no elaboration tasks\n{whole}`endif\n")

    def test_code_counts(self):
        assert self.changed("^a_i", "~^a_i")
        assert self.changed("Width = 4", "Width = 5")
        assert self.changed("gen_wide", "gen_broad")
        assert self.changed("(a) : (b)", "(b) : (a)")
        assert self.changed("))\nmodule", "))\n`define NG_Y 1\nmodule")
        assert self.changed("gen_narrow\n", 'gen_narrow\n    initial $display("x");\n')
        # What one tool does not see is hardware, if it is not a check; and so is a branch that a check decides over.
        assert self.changed("    assign b_o = ^a_i;\n", "`ifndef __ICARUS__\n    assign b_o = ^a_i;\n`endif\n")
        assert self.changed("Width); end", "Width); end else begin : gen_y end")

    def test_the_end_of_a_macro_counts(self):
        one, two = "`define NG_A a\nassign b = c;", "`define NG_A a assign\nb = c;"
        assert code_hash(one) != code_hash(two)
        assert code_hash("`define NG_A a \\\n  b\nx") == code_hash("`define NG_A  a \\\n b // why\nx")

    def test_every_check_of_the_project_is_left_out(self):
        texts = [path.read_text() for path in ngflow.RTL.rglob("*.sv")]
        assert sum("$fatal" in text for text in texts) > 20
        for text in texts:
            assert "gen_check_" not in ngflow.design_code(text)
            assert "$fatal" not in ngflow.design_code(text)

    def test_unbalanced_text_is_refused(self):
        assert "'(' without its ')'" in refusal("if (a $fatal(1);")


if __name__ == "__main__":
    unittest.main()
