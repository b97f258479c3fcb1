# SPDX-License-Identifier: Apache-2.0
"""Shows that no combinational path leads from some inputs of a unit to some of its outputs, whatever the inputs are.

    comb_paths.py --top ng_fifo --params "Width=8;Depth=4" --rule 'PORTS -> PORTS' [--rule ...]
    comb_paths.py --selftest

Yosys makes the unit one flat net of gates and cells, registers and clocked memory ports cut it, and what can be reached from
the bits of the first ports (a regular expression over whole names) must hold no bit of the second. Cells wider than a gate
count as paths from every input to every output, so an answer "none" is safe. A rule whose ports do not exist is an error.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import defaultdict
from pathlib import Path

from ngtools import checks, ngflow

REGISTER = re.compile(r"\$_?(a|s|al)?(dff|ff)", re.I)  # not latches, which let through
MEMORY = re.compile(r"\$mem(_v2)?$")
SELFTEST = """
module ng_good (input logic clk_i, valid_i, ready_i, output logic ready_o, valid_o);
  logic [3:0] mem [16];
  logic [3:0] word;
  always_ff @(posedge clk_i) begin mem[{valid_i, 3'd0}] <= {4{ready_i}}; word <= mem[{ready_i, 3'd0}]; end
  assign valid_o = word[0];
  assign ready_o = word[1];
endmodule
module ng_direct (input logic clk_i, valid_i, ready_i, output logic ready_o, valid_o);
  logic full_q;
  always_ff @(posedge clk_i) full_q <= valid_i & ~ready_i;
  assign ready_o = ~full_q | ready_i;  // half a skid buffer
  assign valid_o = full_q;
endmodule
module ng_memory (input logic clk_i, valid_i, ready_i, output logic ready_o, valid_o);
  logic [3:0] mem [16];
  logic [3:0] word;
  always_ff @(posedge clk_i) mem[{valid_i, 3'd0}] <= {4{ready_i}};
  assign word = mem[{ready_i, 3'd0}];  // not clocked
  assign valid_o = word[0];
  assign ready_o = 1'b1;
endmodule
module ng_deep (input logic clk_i, valid_i, ready_i, output logic ready_o, valid_o);
  ng_direct u_a (.clk_i(clk_i), .valid_i(valid_i), .ready_i(ready_i), .ready_o(), .valid_o(ready_o));
  logic [7:0] sum;
  assign sum = {7'd0, ready_i} + 8'd255;
  assign valid_o = sum[7];
endmodule
"""
CASES = [  # module, rule, has a path
    ("ng_good", "ready_i|valid_i -> ready_o|valid_o", False),
    ("ng_direct", "ready_i -> valid_o", False),
    ("ng_direct", "ready_i -> ready_o", True),
    ("ng_memory", "ready_i -> valid_o", True),
    ("ng_memory", "valid_i -> valid_o", False),
    ("ng_deep", "ready_i -> valid_o", True),
    ("ng_deep", "ready_i -> ready_o", False),
]


def graph(commands: list[str], top: str, work: Path) -> tuple[dict, dict[int, set[int]]]:
    """Ports of the flat unit, and for each bit the bits that follow it within a cycle."""
    netlist = work / "flat.json"
    ngflow.run_yosys(
        [
            *commands,
            "proc",
            "flatten",
            "opt_expr",
            "opt_clean",
            "memory_dff",
            "memory_collect",
            "opt_clean",
            "simplemap",
            "opt_expr",
            "opt_clean",
            f"write_json {netlist}",
        ],
        work / "flat.log",
    )
    module = json.loads(netlist.read_text())["modules"][top]
    follows: dict[int, set[int]] = defaultdict(set)
    for cell in module["cells"].values():
        kind, pins = cell["type"], cell["connections"]
        if REGISTER.match(kind) or not pins:  # notes to the reader have no pins: $scopeinfo of newer Yosys
            continue
        directions = cell.get("port_directions", {})
        if not directions:
            raise ngflow.FlowError(f"{top}: cell {kind} is unknown to Yosys, so nothing can be said of it")
        pairs = [
            (bit, [b for name, bits in pins.items() if directions[name] == "output" for b in bits])
            for name, bits in pins.items()
            if directions[name] == "input"
            for bit in bits
        ]
        if MEMORY.match(kind):  # a read port that has no clock passes its address on
            value = cell["parameters"]
            ports, width, address = int(value["RD_PORTS"], 2), int(value["WIDTH"], 2), int(value["ABITS"], 2)
            clocked = value["RD_CLK_ENABLE"].rjust(ports, "0")[::-1]
            pairs = [
                (bit, pins["RD_DATA"][port * width :][:width])
                for port in range(ports)
                if clocked[port] != "1"
                for bit in pins["RD_ADDR"][port * address :][:address]
            ]
        for bit, after in pairs:
            follows[bit].update(after)
    return module["ports"], follows


def check(ports: dict, follows: dict[int, set[int]], rule: str) -> tuple[list[str], int, int]:
    """(paths as 'from -> to', inputs, outputs looked at)"""
    left, arrow, right = (part.strip() for part in rule.partition("->"))
    inputs = [name for name, port in ports.items() if port["direction"] == "input" and re.fullmatch(left, name)]
    outputs = [name for name, port in ports.items() if port["direction"] == "output" and re.fullmatch(right, name)]
    if not arrow or not inputs or not outputs:
        raise ngflow.FlowError(
            f"rule '{rule}': inputs {inputs}, outputs {outputs}; expected 'PORTS -> PORTS' that name some of both, of {', '.join(ports)}"
        )
    paths = []
    for name in inputs:
        reached = {bit for bit in ports[name]["bits"] if isinstance(bit, int)}
        todo = list(reached)
        while todo:
            for bit in follows.get(todo.pop(), ()):
                if isinstance(bit, int) and bit not in reached:
                    reached.add(bit)
                    todo.append(bit)
        paths += [f"{name} -> {output}" for output in outputs if not reached.isdisjoint(ports[output]["bits"])]
    return paths, len(inputs), len(outputs)


def selftest() -> int:
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "selftest.sv"
        source.write_text(SELFTEST)
        for top, rule, expected in CASES:
            paths, _, _ = check(*graph(ngflow.yosys_read(top, [source], {}), top, Path(folder)), rule)
            if bool(paths) != expected:
                print(f"{top}, {rule}: found {paths or 'no path'}, expected {'one' if expected else 'none'}")
                wrong += 1
    print(f"combinational paths, self-test: {len(CASES)} cases, {wrong} wrong")
    return 1 if wrong else 0


def run(args: argparse.Namespace) -> int:
    if not args.top or not args.rule:
        raise ngflow.FlowError("--top and at least one --rule are needed, or --selftest")
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        commands = ngflow.yosys_read(args.top, ngflow.sources(args.top), ngflow.parse_params(args.params))
        ports, follows = graph(commands, args.top, Path(folder))
        for rule in args.rule:
            paths, inputs, outputs = check(ports, follows, rule)
            print(
                f"{args.top} {args.params}: {rule}: {inputs} inputs, {outputs} outputs, "
                + (f"combinational paths {', '.join(paths)}" if paths else "no combinational path")
            )
            bad += bool(paths)
    return 1 if bad else 0


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--top", help="module name")
    parser.add_argument("--params", default="", help="for example 'Width=8;Depth=4'")
    parser.add_argument("--rule", action="append", default=[], help="'PORTS -> PORTS'")


if __name__ == "__main__":
    ngflow.run_main(lambda: checks.run(__doc__, run, selftest, arguments))
