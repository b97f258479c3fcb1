# SPDX-License-Identifier: Apache-2.0
"""A mapped netlist computes what its RTL computes: Icarus Verilog runs the RTL on the stimulus, and every bit that the RTL
knows must be the netlist's, in every cycle from reset on. The RTL itself is what the unit's testbench holds to the golden model.

Registers without reset are unknown in the RTL until they are written, so bits that are x there are not compared. Where hardly
a bit is known, because an unknown register decides whether it is written, registers may begin at 0, as the netlist's do. RTL that
Icarus 11 cannot read (functions of functions as constants, structs) is first elaborated by Yosys, without any mapping.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

from ngtools import ngflow
from ngtools.ngflow import ROOT, FlowError

TOP = "ng_power_top"
KNOWN = 0.25  # of the output bits, at least: a comparison of less would say nothing


def ports(netlist: Path) -> dict[str, dict]:
    return json.loads(netlist.read_text())["modules"][TOP]["ports"]


def bench(of: dict[str, dict], stimulus: Path, outputs: Path) -> str:
    """The cycle of ng_gatesim: clock edge, outputs, then the next inputs. Outputs are written in binary, ports in order."""
    header = json.loads(stimulus.read_text().split("\n", 1)[0])
    given = {port["name"]: port["width"] for port in header["ports"]}
    made = {name: len(port["bits"]) for name, port in of.items() if port["direction"] == "output"}
    reset = "rst_ni" in of
    scan = f'got = $fscanf(file, "{" ".join("%h" for _ in given)}\\n", {", ".join(given)});'
    declare = [f"  reg [{width - 1}:0] {name};" for name, width in given.items()]
    declare += [f"  wire [{width - 1}:0] {name};" for name, width in made.items()]
    connect = ", ".join(f".{name}({name})" for name in of)
    lines = "\n".join(declare)
    return f"""`timescale 1ns/1ps
module bench;
  reg clk_i; {"reg rst_ni;" if reset else ""}
{lines}
  integer file, result, cycle, got;
  reg [8*65536-1:0] line;
  {TOP} dut({connect});
  initial begin
    file = $fopen("{stimulus}", "r");
    result = $fopen("{outputs}", "w");
    got = $fgets(line, file);
    clk_i = 0; {"rst_ni = 0;" if reset else ""}
    {scan}
    #10 {"rst_ni = 1;" if reset else ""}
    #10;
    for (cycle = 0; cycle < {header["cycles"]}; cycle = cycle + 1) begin
      clk_i = 1;
      #5 $fwrite(result, "{" ".join("%b" for _ in made)}\\n", {", ".join(made)});
      clk_i = 0;
      if (cycle + 1 < {header["cycles"]}) begin {scan} end
      #5;
    end
    $finish;
  end
endmodule
"""


def run(command: list[str]) -> str:
    """'' or what went wrong."""
    if shutil.which(command[0]) is None:
        raise FlowError(f"{command[0]} was not found; install it (Debian: apt-get install iverilog)")
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode == 0:
        return ""
    return (done.stderr.strip() or done.stdout.strip() or f"exit code {done.returncode}").splitlines()[-1]


def elaborated(work: Path, files: list[Path], from_zero: bool = False) -> Path:
    """The RTL and its wrapper as plain Verilog: elaborated by Yosys, nothing optimized or mapped."""
    path = work / "golden_rtl.v"
    commands = [
        f"read_verilog -sv -defer {' '.join(map(ngflow.from_root, files))}",
        f"read_verilog -sv {work / 'wrapper.v'}",
        f"hierarchy -check -top {TOP}",
        "proc",
        *(["zinit -all"] if from_zero else []),
        f"write_verilog -noattr {path}",
    ]
    ngflow.run_yosys(commands, work / "golden.log")
    return path


def simulate(
    unit: str, work: Path, files: list[Path], stimulus: Path, expected: Path, *, from_zero: bool = False
) -> None:
    source, compiled = work / "golden.v", work / "golden.vvp"
    source.write_text(bench(ports(work / "netlist.json"), stimulus, expected))
    command = ["iverilog", "-g2012", "-s", "bench", "-o", str(compiled), str(source)]
    if from_zero or run([*command, *map(str, files), str(work / "wrapper.v")]):
        problem = run([*command, str(elaborated(work, files, from_zero))])
        if problem:
            raise FlowError(f"the RTL of {unit} cannot be simulated by Icarus Verilog: {problem}")
    problem = run(["vvp", "-n", str(compiled)])
    if problem:
        raise FlowError(f"the RTL of {unit} stops in Icarus Verilog: {problem}")


def compare(unit: str, work: Path, files: list[Path], stimulus: Path, outputs: Path, *, from_zero: bool = False) -> int:
    """The number of output bits that were compared and are equal. Throws FlowError on the first that differs. from_zero: if the
    RTL knows too few, its registers begin at 0."""
    # The RTL's outputs depend on it, on its parameters and on the stimulus, and on no technology.
    parts = [path.read_bytes() for path in (*files, work / "wrapper.v", stimulus)]
    key = hashlib.sha256(b"".join(parts)).hexdigest()[:16]
    compared = seen = 0
    for zero in (False, True) if from_zero else (False,):
        expected = work.parent.parent / "golden" / f"{unit}.{stimulus.stem}.{key}{'.zero' if zero else ''}"
        if not expected.exists():
            expected.parent.mkdir(exist_ok=True)
            made = work / f"{stimulus.stem}.golden"
            simulate(unit, work, files, stimulus, made, from_zero=zero)
            made.replace(expected)
        compared, seen = compare_files(unit, ports(work / "netlist.json"), outputs, expected)
        if compared >= KNOWN * seen:
            return compared
    raise FlowError(
        f"the RTL of {unit} knows {compared} of {seen} output bits; expected {KNOWN:.0%} or more: registers that neither "
        "a reset nor a first value sets stay unknown"
    )


def compare_files(unit: str, of: dict[str, dict], outputs: Path, expected: Path) -> tuple[int, int]:
    """Output bits that were compared, and all of them."""
    made = {name: len(port["bits"]) for name, port in of.items() if port["direction"] == "output"}
    head, *rows = outputs.read_text().splitlines()
    order = head.split()
    truth = expected.read_text().splitlines()
    if len(truth) != len(rows):
        raise FlowError(f"the RTL of {unit} gave {len(truth)} cycles, its netlist {len(rows)}")
    compared = seen = 0
    for cycle in range(len(rows)):
        ours = dict(zip(order, rows[cycle].split(), strict=True))
        for (name, width), bits in zip(made.items(), truth[cycle].split(), strict=True):
            seen += width
            wanted = re.sub("[^01]", "x", bits).rjust(width, "0")
            value = int(ours[name], 16)
            if "x" not in wanted:
                compared += width
                equal = value == int(wanted, 2)
            else:
                mask = int("".join("01"[bit != "x"] for bit in wanted), 2)
                compared += mask.bit_count()
                equal = value & mask == int(wanted.replace("x", "0"), 2)
            if not equal:
                raise FlowError(
                    f"the netlist of {unit} is not its RTL: in cycle {cycle} {name} is {value:#x}, the RTL has "
                    f"{bits}; its joules do not count"
                )
    return compared, seen
