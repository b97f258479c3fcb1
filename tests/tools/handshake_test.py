# SPDX-License-Identifier: Apache-2.0
"""Tests of the mutants of handshakes (tools/ngtools/handshake.py) and of the limits of CPU time: handshake_test.py"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from ngtools import handshake, ngflow

UNIT = """
module top (input wire clk_i, rst_ni, valid_i, ready_i, output wire ready_o, valid_o, fault_o);
  assign ready_o = ready_i;
  assign valid_o = valid_i;
  assign fault_o = FAULT;
endmodule
"""


class Handshake(unittest.TestCase):
    def mutants(self, fault: str) -> list[str]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "top.v").write_text(UNIT.replace("FAULT", fault))
            commands = [f"read_verilog {folder / 'top.v'}", "opt", f"write_json {folder / 'top.json'}"]
            ngflow.run_yosys(commands, folder / "log")
            return handshake.mutants_of(handshake.ports_of(folder / "top.json", "top"))

    def test_an_error_that_never_comes_silences_nothing(self) -> None:
        assert "handshake silent_after_error valid_o" in self.mutants("valid_i")
        constant = self.mutants("1'b0")
        assert "handshake silent_after_error valid_o" not in constant
        assert "handshake silent_after_stall valid_o" in constant


class Limit(unittest.TestCase):
    def test_cpu_time(self) -> None:
        done = subprocess.run([sys.executable, "-c", "while True: pass"], check=False, preexec_fn=ngflow.cpu_limit(0.1))
        assert done.returncode == -signal.SIGXCPU
        done = subprocess.run([sys.executable, "-c", ""], check=False, preexec_fn=ngflow.cpu_limit(100))
        assert done.returncode == 0


if __name__ == "__main__":
    unittest.main()
