# SPDX-License-Identifier: Apache-2.0
"""Exempt lines of RTL: where a comment counts, and that a line above moves nothing."""

from __future__ import annotations

import unittest

import pytest

from ngtools.no_fault import exempt_lines, exemptions

TEXT = """\
module ng_a;  // a comment
  assign a = b;  // ng-no-fault: b is constant
  // ng-no-fault(ng_b): a reason
  //   in two lines
  assign c = d;
  assign e = f;
endmodule
"""


class NoFaultTest(unittest.TestCase):
    def test_lines(self) -> None:
        assert exempt_lines(TEXT, "a.sv", "ng_a") == {2}
        assert exempt_lines(TEXT, "a.sv", "ng_b") == {2, 5}

    def test_follows_its_line(self) -> None:
        moved = exemptions("// a line above\n" + TEXT, "a.sv")
        assert [item[1:] for item in moved] == [item[1:] for item in exemptions(TEXT, "a.sv")]
        assert [item[0] - 1 for item in moved] == [item[0] for item in exemptions(TEXT, "a.sv")]

    def test_reason_is_needed(self) -> None:
        for comment in ("// ng-no-fault", "// ng-no-fault:", "// ng-no-fault because", "// ng-no-fault(): reason"):
            with pytest.raises(ValueError, match=r'a.sv:1: comment ".*" is wrong; expected "ng-no-fault: reason"'):
                exemptions(f"assign a = b;  {comment}\n", "a.sv")


if __name__ == "__main__":
    unittest.main()
