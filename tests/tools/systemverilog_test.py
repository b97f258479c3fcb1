# SPDX-License-Identifier: Apache-2.0
"""SystemVerilog as tools read it: what a file names, ports and parameters at given values, errors in sentences."""

from __future__ import annotations

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import pytest

from ngtools import ngflow, systemverilog

DESIGN = """// ng_comment u_comment (.a(b)); names nothing
module ng_x #(
  parameter int Lanes = 4, parameter int Twice = 2 * Lanes, parameter bit Fast = 1'b0
) (
  input  logic [Twice-1:0] a_i, // a comment (with ng_other::Thing)
  output logic signed [$clog2(Lanes)-1:0] b_o
);
  localparam int Half = Lanes > 4 ? Lanes / 2 : 1;
  logic [Half-1:0] top;
  if (Fast) begin : gen_fast
    logic [2:0] inner;
  end
  ng_y #(.W(ng_z_pkg::Wide)) u_y (.a_i("ng_string u_s ();"), .b_o(b_o));
endmodule
"""


class Reading(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name) / "ng_x.sv"
        self.path.write_text(DESIGN)

    def module(self, **params: int) -> systemverilog.Module:
        return systemverilog.Module("ng_x", [self.path], params)

    def test_names_are_those_of_code(self) -> None:
        assert systemverilog.names_of(self.path) == {"ng_y", "ng_z_pkg"}

    def test_parameters_are_evaluated(self) -> None:
        assert self.module().parameters == {"Lanes": 4, "Twice": 8, "Fast": 0}
        assert self.module(Lanes=16).parameters == {"Lanes": 16, "Twice": 32, "Fast": 0}

    def test_ports_have_the_widths_of_the_parameters(self) -> None:
        assert self.module(Lanes=16).ports == [
            systemverilog.Port("a_i", "in", 32, False),
            systemverilog.Port("b_o", "out", 4, True),
        ]

    def test_names_inside(self) -> None:
        assert self.module(Lanes=16).named("Half") == 8
        assert self.module(Lanes=16).named("top") == 8
        assert self.module(Fast=1).named("inner") == 3
        with pytest.raises(systemverilog.SourceError, match='name "nothing" of ng_x'):
            self.module().named("nothing")

    def test_errors_name_file_and_line(self) -> None:
        self.path.write_text("module ng_x (\n  input logic a_i\n")
        with pytest.raises(systemverilog.SourceError, match=r'file ".*ng_x\.sv" is wrong; expected SystemVerilog'):
            systemverilog.names_of(self.path)
        with pytest.raises(systemverilog.SourceError, match='module "ng_w" is not in'):
            systemverilog.Module("ng_w", [self.path])


class AgainstYosys(unittest.TestCase):
    """Ports of real modules, as another reader elaborates them."""

    CASES = (("ng_dot_nvfp4", {}), ("ng_quantize_mx", {}), ("ng_fifo", {"Width": 7, "Depth": 8}), ("ng_transform", {}))

    def test_ports(self) -> None:
        for top, params in self.CASES:
            files = ngflow.sources(top)
            with tempfile.TemporaryDirectory() as folder:
                out = Path(folder) / "ports.json"
                script = [*ngflow.yosys_read(top, files, params), "proc", f"write_json {out}"]
                subprocess.run(["yosys", "-q", "-p", "; ".join(script)], check=True, cwd=ngflow.ROOT)
                ports = json.loads(out.read_text())["modules"][top]["ports"]
            theirs = {name: (port["direction"][:-3], len(port["bits"])) for name, port in ports.items()}
            ours = {port.name: (port.direction, port.width) for port in systemverilog.Module(top, files, params).ports}
            assert ours == theirs, top


if __name__ == "__main__":
    unittest.main()
