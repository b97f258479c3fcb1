# SPDX-License-Identifier: Apache-2.0
"""Activity of a user's simulation in the netlist flow: what the flow simulated itself, read back from waves, has the same price.

activity_test.py PROGRAMS WORK [Replay|Simulators|Ladder|Refused]. Needs Icarus Verilog, Verilator, Yosys, OpenSTA and pywellen; Ladder needs osu018.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

import pytest
from flow_start import PROGRAMS, WORK, main, need_liberty

from ngtools import ngflow
from ngtools.power import activity, characterize, golden

LIBERTY = Path(__file__).parent / "liberty"
PARAMS = {"AWidth": 4, "BWidth": 4, "ASigned": 1, "BSigned": 1, "Structure": 0, "Lanes": 1, "AccWidth": 16}
CYCLES = 512
UNIT = {
    "name": "mac",
    "top": "ng_int_mac",
    "params": PARAMS,
    "operation": "a product of two integers, added",
    "operations_per_cycle": 1,
    "inputs": {"a_i": {"random": 4}, "b_i": {"random": 4}, "valid_i": {"constant": 1}, "first_i": {"every": 16}},
    "stimuli": ["uniform"],
    "set": "held_out",
}
OWN = """module own(input clk, input rst, input [3:0] a, output reg [7:0] y);
  always @(posedge clk) if (rst) y <= 0; else y <= y + {4'd0, a};
endmodule
"""
OWN_UNIT = {**UNIT, "name": "own", "top": "own", "params": {}, "files": ["own.v"], "inputs": {"a": {"random": 4}}}
BENCH = """`timescale 1ns/1ps
module tb;
  reg clk_i = 0, rst_ni = 0, valid_i = 0, first_i = 0;
  reg [3:0] a_i = 0, b_i = 0;
  reg [31:0] state = 7;
  integer cycle;
  ng_int_mac #(.AWidth(4), .BWidth(4), .AccWidth(16)) u_mac (.clk_i, .rst_ni, .valid_i, .first_i, .a_i, .b_i);
  always #5 clk_i = !clk_i;
  initial begin
    $dumpfile("FILE"); $dumpvars(0, tb);
    #12 rst_ni = 1;
    for (cycle = 0; cycle < 600; cycle = cycle + 1) begin
      @(negedge clk_i);
      state = state * 1664525 + 1013904223;
      a_i = state[31:28]; b_i = state[27:24]; valid_i = state[23:22] != 0; first_i = cycle % 16 == 0;
    end
    $finish;
  end
endmodule
"""


def setUpModule():
    if importlib.util.find_spec("pywellen") is None:
        raise unittest.SkipTest("pywellen of PyPI is not installed: make setup")
    folder = WORK / "units"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "own.v").write_text(OWN)
    (folder / "units.json").write_text(json.dumps({"units": [UNIT, OWN_UNIT]}))


def flow(*more: object) -> characterize.Flow:
    arguments = ["--units-file", WORK / "units" / "units.json", "--liberty", LIBERTY / "toy_logic.lib"]
    arguments += ["--liberty", LIBERTY / "toy_registers.lib", "--programs", PROGRAMS, "--work", WORK, "--threads", "1"]
    return characterize.Flow(characterize.arguments_for([str(word) for word in (*arguments, *more)]))


def measure(unit: str, *more: object) -> dict:
    made = flow(*more)
    return made.measure(made.units[unit])


def run(command: list[object], folder: Path) -> None:
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]


def waves_of_golden(unit: str, work: Path, files: list[Path]) -> Path:
    """The RTL in Icarus Verilog under the flow's own stimulus, with waves."""
    outputs, vcd = work / "again.outputs", work / f"{unit}.vcd"
    text = golden.bench(golden.ports(work / "netlist.json"), work / "uniform.stim", outputs)
    text = text.replace("initial begin", f'initial begin $dumpfile("{vcd}"); $dumpvars(0, bench);', 1)
    (work / "again.v").write_text(text)
    run(["iverilog", "-g2012", "-s", "bench", "-o", "again.vvp", "again.v", *files, "wrapper.v"], work)
    run(["vvp", "-n", "again.vvp"], work)
    return vcd


class Replay(unittest.TestCase):
    """The flow's own stimulus, as waves of the RTL: the same transitions, joule for joule."""

    def compare(self, unit: str, files: list[Path], scope: str, shift: int) -> None:
        before = measure(unit, "--cycles", CYCLES, "--saif")["samples"][0]
        work = WORK / "toy_logic" / unit
        vcd = waves_of_golden(unit, work, files)
        record = measure(unit, "--activity", vcd, "--scope", scope)
        after = record["samples"][0]
        assert after["activity"]["scope"] == scope
        assert after["activity"]["unknown_bits"] == 0
        assert after["cycles"] == before["cycles"] - shift
        for rung in ("L2", "L3"):
            if not shift:
                assert after[rung] == before[rung]
                assert after["stimulus_sha256"] != before["stimulus_sha256"]  # its header says where it is from
            assert after[rung]["energy_j"] == pytest.approx(before[rung]["energy_j"], rel=0.01)
        # The netlist's own activity, as the flow writes it: causes and states are not in it.
        counted = measure(unit, "--activity", work / "uniform.saif", "--scope", "ng_power_top")["samples"][0]
        assert counted["cycles"] == before["cycles"]
        assert counted["counted"]["toggles_total"] == pytest.approx(before["L3"]["toggles_total"], rel=0.01)
        assert counted["counted"]["clock_j"] == pytest.approx(before["L3"]["clock_j"], rel=0.35)
        assert counted["counted"]["energy_j"] == pytest.approx(before["L3"]["energy_j"], rel=0.15)

    def test_a_unit_of_the_library(self):
        self.compare("mac", ngflow.sources("ng_int_mac"), "bench.dut", 0)

    def test_a_unit_of_ones_own(self):
        """The waves show two cycles of its reset, which are left out in front."""
        self.compare("own", [WORK / "units" / "own.v"], "bench.dut.u_unit", 2)


class Simulators(unittest.TestCase):
    """The same run in Verilator (FST and VCD) and in Icarus Verilog (VCD): the same operands, the same price."""

    def test_they_agree(self):
        folder = WORK / "simulators"
        files = {}
        sources = [str(path) for path in ngflow.sources("ng_int_mac")]
        for kind, flag in (("fst", "--trace-fst"), ("vcd", "--trace")):
            place = folder / kind
            place.mkdir(parents=True, exist_ok=True)
            (place / "tb.sv").write_text(BENCH.replace("FILE", f"verilator.{kind}"))
            command = [
                "verilator",
                "--binary",
                "--timing",
                flag,
                "-Wno-fatal",
                "-Wno-lint",
                "-Wno-style",
                "-CFLAGS",
                "-O0",
            ]
            run([*command, "--top-module", "tb", "--Mdir", "obj", "-j", "1", *sources, "tb.sv", "-o", "tb"], place)
            run([place / "obj" / "tb"], place)
            files[kind] = place / f"verilator.{kind}"
        (folder / "tb.sv").write_text(BENCH.replace("FILE", "icarus.vcd"))
        run(["iverilog", "-g2012", "-s", "tb", "-o", "tb.vvp", *sources, "tb.sv"], folder)
        run(["vvp", "-n", "tb.vvp"], folder)
        files["icarus"] = folder / "icarus.vcd"
        made = {}
        for kind, file in files.items():
            sample = measure("mac", "--activity", file, "--scope", "tb.u_mac")["samples"][0]
            made[kind] = (sample["L2"], sample["L3"], sample["cycles"], sample["activity"]["reset_cycles"])
        assert made["fst"] == made["vcd"] == made["icarus"]
        assert made["fst"][3] == 1


class Ladder(unittest.TestCase):
    """What L1 says of a simulation is as near to the netlist under the same simulation as L1's stated error."""

    def test_l1_beside_l3(self):
        need_liberty()
        package = PROGRAMS.parent / "python"
        if not (package / "narrowgauge").exists():
            raise unittest.SkipTest("the Python package is not built (NG_PYTHON)")
        folder = WORK / "ladder"
        folder.mkdir(parents=True, exist_ok=True)
        sources = [str(path) for path in ngflow.sources("ng_int_mac")]
        (folder / "tb.sv").write_text(BENCH.replace("FILE", "w.vcd").replace("AccWidth(16)", "AccWidth(32)"))
        run(["iverilog", "-g2012", "-s", "tb", "-o", "tb.vvp", *sources, "tb.sv"], folder)
        run(["vvp", "-n", "tb.vvp"], folder)
        source = ["--activity", str(folder / "w.vcd"), "--scope", "tb.u_mac"]
        command = [
            PROGRAMS / "narrowgauge",
            "energy",
            "--unit",
            "int4_mac_array",
            *source,
            "--python",
            sys.executable,
            "--json",
        ]
        paths = os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": paths}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        answer = json.loads(done.stdout)
        arguments = [
            "--units",
            "int4_mac_array",
            *source,
            "--programs",
            str(PROGRAMS),
            "--work",
            str(WORK),
            "--threads",
            "1",
        ]
        made = characterize.Flow(characterize.arguments_for(arguments))
        sample = made.measure(made.units["int4_mac_array"])["samples"][0]
        l1, l3 = answer["value"] / answer["activity"]["cycles"], sample["L3"]["energy_j"]
        assert abs(l1 / l3 - 1) <= answer["error"]["max_abs"], (l1, l3)


class Refused(unittest.TestCase):
    """One sentence each, that names the thing."""

    @classmethod
    def setUpClass(cls):
        cls.flow = flow()
        cls.unit = cls.flow.units["mac"]
        cls.work, cls.mapped = cls.flow.prepare(cls.unit)

    def look(self, file: Path, *options: str) -> None:
        arguments = characterize.arguments_for(["--activity", str(file), *options, "--programs", str(PROGRAMS)])
        self.flow.options.activity = arguments.activity
        if self.flow.from_activity(self.unit, self.work, WORK / "refused" / "some.stim") is None:
            self.flow.counted(self.unit, self.work, self.mapped)

    def test_sentences(self):
        folder = WORK / "refused"
        folder.mkdir(parents=True, exist_ok=True)
        sources = [str(path) for path in ngflow.sources("ng_int_mac")]
        (folder / "tb.sv").write_text(BENCH.replace("FILE", "w.vcd"))
        run(["iverilog", "-g2012", "-s", "tb", "-o", "tb.vvp", *sources, "tb.sv"], folder)
        run(["vvp", "-n", "tb.vvp"], folder)
        text = (folder / "w.vcd").read_text()
        saif = "(SAIFILE (TIMESCALE 1 ns) (DURATION 10) (INSTANCE top (NET (clk_i (T0 5) (T1 5) (TC 4)))))"
        scope = ("--scope", "tb.u_mac")
        for change, options, part in (
            (None, ("--scope", "tb.u_mc"), 'scope "tb.u_mc" is not in'),
            (("a_i", "data"), scope, "has no port a_i, an input of ng_int_mac"),
            ((r"(\$var \w+) 4 (\S+ \w+) .3:0.", r"\1 5 \2 [4:0]"), scope, "has 5 bits; expected the 4 of ng_int_mac"),
            (("clk_i", "phi"), scope, "has no clock clk_i or clk or clock"),
            (None, (*scope, "--window", "1:2"), "clock clk_i of tb.u_mac has no rising edge from 1 to 2 s"),
            (None, (*scope, "--window", "0:100e-9"), "expected 272 or more: the first 16 are warm-up"),
            (saif, ("--scope", "top"), "has no net"),
            (saif, ("--scope", "tip"), "did you mean top?"),
            ("(SAIFILE", ("--scope", "top"), "is cut off"),
            ("$scope module", scope, "is malformed; expected VCD or FST"),
            ("#0 1", scope, "begins as no file of waves"),
        ):
            file = folder / "changed"
            changed = change if isinstance(change, str) else re.sub(change[0], change[1], text) if change else text
            file.write_text(changed)
            with pytest.raises(ngflow.FlowError) as caught:
                self.look(file, *options)
            assert part in str(caught.value), (part, str(caught.value))
            assert "\n" not in str(caught.value)
        odd = re.sub(r"^b[01]+ ", "bx ", text, flags=re.MULTILINE)
        (folder / "odd").write_text(odd)
        with pytest.raises(ngflow.FlowError, match="bits at x or z; expected at most 1%: give --window"):
            self.look(folder / "odd", *scope)

    def test_options(self):
        for options, part in (
            (("--activity", "x"), "expected --scope"),
            (("--scope", "x"), "expected --activity FILE"),
            (("--activity", "x", "--scope", "y", "--record"), "takes the place of stimuli"),
            (("--activity", "x", "--scope", "y", "--window", "3"), "expected FROM:TO in seconds"),
        ):
            command = [sys.executable, characterize.__file__, *options]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 2
            assert part in done.stderr
            assert "Traceback" not in done.stderr
        assert activity.window_of("1e-9:2e-9") == (1e-9, 2e-9)


if __name__ == "__main__":
    main()
