# SPDX-License-Identifier: Apache-2.0
"""Proves that a unit with cuts (docs/cuts.md) is the combinational one, delayed: for all inputs and any sequence of enables.

    cuts.py --top ng_scale_nvfp4 --params Cuts=15
    cuts.py --selftest

Two facts about the netlist, in which every cell is a gate or a register:

  paths      Registers have the clock clk_i and the enable en_i, which reach nothing else; there is no loop; and whatever meets
             in a gate, or leaves by an output, has come through equally many registers since the inputs, in the end as many as
             Cuts has bits.
  function   With a wire in the place of each ng_cut no register is left, and the outputs are those of the unit with Cuts = 0
             (Yosys: miter and SAT).

By the first, a gate's inputs always belong to the same moment of the inputs, counted in enabled edges; so an output is what
the second says of the inputs of as many enabled edges ago. No solver has to look at more than one moment.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from pathlib import Path

from ngtools import checks, ngflow
from ngtools.ngflow import FlowError

REGISTER = "$_DFFE_PP_"
WIRES = """
module ng_cut #(parameter int Width = 1, parameter int Enable = 0) (
  input logic clk_i, en_i, input logic [Width-1:0] d_i, output logic [Width-1:0] q_o
);
  assign q_o = d_i;
endmodule
"""
SELFTEST = """
module ng_good #(parameter int Cuts = 0) (input logic clk_i, en_i, input logic [3:0] a_i, b_i, output logic [3:0] y_o, z_o);
  logic [3:0] sum, sum_q, b_q;
  assign sum = a_i + b_i;
  ng_cut #(.Width(8), .Enable(Cuts & 1)) u_sum (.clk_i, .en_i, .d_i({sum, b_i}), .q_o({sum_q, b_q}));
  ng_cut #(.Width(4), .Enable(Cuts & 2)) u_y (.clk_i, .en_i, .d_i(sum_q & b_q), .q_o(y_o));
  ng_cut #(.Width(4), .Enable(Cuts & 2)) u_z (.clk_i, .en_i, .d_i(4'd5), .q_o(z_o));
endmodule
module ng_uneven #(parameter int Cuts = 0) (input logic clk_i, en_i, input logic [3:0] a_i, b_i, output logic [3:0] y_o);
  logic [3:0] sum_q;
  ng_cut #(.Width(4), .Enable(Cuts & 1)) u_sum (.clk_i, .en_i, .d_i(a_i + b_i), .q_o(sum_q));
  ng_cut #(.Width(4), .Enable(Cuts & 2)) u_y (.clk_i, .en_i, .d_i(sum_q & b_i), .q_o(y_o));
endmodule
module ng_short #(parameter int Cuts = 0) (input logic clk_i, en_i, input logic [3:0] a_i, b_i, output logic [3:0] y_o);
  ng_cut #(.Width(4), .Enable(Cuts & 1)) u_y (.clk_i, .en_i, .d_i(a_i + b_i), .q_o(y_o));
endmodule
module ng_free #(parameter int Cuts = 0) (input logic clk_i, en_i, input logic [3:0] a_i, b_i, output logic [3:0] y_o);
  logic [3:0] sum_q;
  ng_cut #(.Width(4), .Enable(Cuts & 1)) u_sum (.clk_i, .en_i(1'b1), .d_i(a_i + b_i), .q_o(sum_q));
  ng_cut #(.Width(4), .Enable(Cuts & 2)) u_y (.clk_i, .en_i, .d_i(sum_q), .q_o(y_o));
endmodule
module ng_gated #(parameter int Cuts = 0) (input logic clk_i, en_i, input logic [3:0] a_i, b_i, output logic [3:0] y_o);
  logic [3:0] sum_q;
  ng_cut #(.Width(4), .Enable(Cuts & 1)) u_sum (.clk_i, .en_i, .d_i(a_i + b_i), .q_o(sum_q));
  ng_cut #(.Width(4), .Enable(Cuts & 2)) u_y (.clk_i, .en_i, .d_i(sum_q & {4{en_i}}), .q_o(y_o));
endmodule
module ng_loop #(parameter int Cuts = 0) (input logic clk_i, en_i, input logic [3:0] a_i, b_i, output logic [3:0] y_o);
  logic [3:0] y_q;
  ng_cut #(.Width(4), .Enable(Cuts & 1)) u_sum (.clk_i, .en_i, .d_i(a_i + b_i), .q_o(y_q));
  ng_cut #(.Width(4), .Enable(Cuts & 2)) u_y (.clk_i, .en_i, .d_i(Cuts == 3 ? y_q + y_o : y_q), .q_o(y_o));
endmodule
module ng_other #(parameter int Cuts = 0) (input logic clk_i, en_i, input logic [3:0] a_i, b_i, output logic [3:0] y_o);
  logic [3:0] sum_q;
  ng_cut #(.Width(4), .Enable(Cuts & 1)) u_sum (.clk_i, .en_i, .d_i(a_i + b_i), .q_o(sum_q));
  ng_cut #(.Width(4), .Enable(Cuts & 2)) u_y (.clk_i, .en_i, .d_i(Cuts == 3 ? sum_q - 4'd1 : sum_q), .q_o(y_o));
endmodule
"""
CASES = {  # module -> what has to be said of it with both cuts; '' if it is right
    "ng_good": "",
    "ng_uneven": "have come through 0 and 1 registers",
    "ng_short": "has come through 1 registers; expected 2",
    "ng_free": "not a register with the enable en_i",
    "ng_gated": "en_i reaches more than the enables",
    "ng_loop": "is in a loop",
    "ng_other": "function differs",
}


def path_problem(ports: dict, cells: dict, names: dict[int, str], latency: int) -> str:
    """What is wrong with the paths, '' if nothing."""
    (clock,), (enable,) = ports["clk_i"]["bits"], ports["en_i"]["bits"]
    driver: dict[int, tuple[str, list]] = {}  # bit -> kind and inputs of its cell
    for cell in cells.values():
        pins = cell["connections"]
        if not pins:
            continue
        if cell["type"] == REGISTER:
            if pins["C"] != [clock] or pins["E"] != [enable]:
                return f"{names.get(pins['Q'][0])}: not a register with the enable en_i and the clock clk_i"
            driver[pins["Q"][0]] = (REGISTER, pins["D"])
            continue
        if re.search("ff|latch|mem", cell["type"], re.I):
            return f"a {cell['type']}: not a register with the enable en_i and the clock clk_i"
        outputs = [bit for pin, way in cell["port_directions"].items() if way == "output" for bit in pins[pin]]
        inputs = [bit for pin, way in cell["port_directions"].items() if way == "input" for bit in pins[pin]]
        if clock in inputs or enable in inputs:
            return f"{'clk_i' if clock in inputs else 'en_i'} reaches more than the {'registers' if clock in inputs else 'enables'}"
        for bit in outputs:
            driver[bit] = (cell["type"], inputs)
    # Registers on the way from the inputs to a bit; None where it depends on none.
    passed: dict[int, int | None] = {
        bit: 0 for name, port in ports.items() if port["direction"] == "input" for bit in port["bits"]
    }
    open_bits: set[int] = set()
    for name, port in ports.items():
        if port["direction"] != "output":
            continue
        todo = [bit for bit in port["bits"] if isinstance(bit, int)]
        while todo:
            bit = todo[-1]
            if bit in passed:
                todo.pop()
                continue
            if bit not in driver:
                return f"{names.get(bit)} has no driver"
            kind, inputs = driver[bit]
            inputs = [item for item in inputs if isinstance(item, int)]
            missing = [item for item in inputs if item not in passed]
            if missing:
                if not open_bits.isdisjoint(missing) or bit in missing:
                    return f"{names.get(bit)} is in a loop"
                open_bits.add(bit)
                todo += missing[:1]
                continue
            depths = sorted({depth for item in inputs if (depth := passed[item]) is not None})
            if len(depths) > 1:
                met = ", ".join(f"{names.get(item, item)} ({passed[item]})" for item in inputs)
                return f"{met} meet in a gate and have come through {depths[0]} and {depths[-1]} registers"
            passed[bit] = depths[0] + (kind == REGISTER) if depths else None
            open_bits.discard(bit)
            todo.pop()
        for bit in port["bits"]:
            if isinstance(bit, int) and passed[bit] not in (None, latency):
                return f"{name} has come through {passed[bit]} registers; expected {latency}"
    return ""


def problem(top: str, files: list[Path], params: dict[str, int], work: Path) -> str:
    latency = params["Cuts"].bit_count()
    netlist, wires = work / "netlist.json", work / "ng_cut.sv"
    wires.write_text(WIRES)
    flat = ["proc", "flatten", "opt_expr", "opt_dff -nosdff -simple-dffe", "opt_clean"]
    load = ngflow.yosys_read(top, files, params)
    ngflow.run_yosys([*load, *flat, "simplemap", "opt_clean", f"write_json {netlist}"], work / "paths.log")
    plain = ["proc", "flatten", "opt_clean"]
    without = [wires if path.stem == "ng_cut" else path for path in files]
    module = json.loads(netlist.read_text())["modules"][top]
    names = {
        bit: f"{name}[{i}]"
        for name, net in module["netnames"].items()
        for i, bit in enumerate(net["bits"])
        if not net.get("hide_name")
    }
    if found := path_problem(module["ports"], module["cells"], names, latency):
        return found
    if not any(cell["type"] == REGISTER for cell in module["cells"].values()):
        return "there is no register"
    try:
        ngflow.run_yosys(
            [
                *ngflow.yosys_read(top, without, params),
                *plain,
                "select -assert-none t:$dff* t:$sdff* t:$adff* t:$aldff* t:$dlatch* t:$mem*",
                f"rename {top} cut",
                "design -stash cut",
                *ngflow.yosys_read(top, files, params | {"Cuts": 0}),
                *plain,
                f"rename {top} plain",
                "design -copy-from cut -as cut cut",
                "miter -equiv -flatten -make_outputs plain cut miter",
                "hierarchy -top miter",
                "opt_merge -share_all",  # before anything else makes equal cells unlike
                "opt -full",
                "sat -verify -prove trigger 0 miter",
            ],
            work / "function.log",
        )
    except FlowError as error:
        if "proof did fail" in str(error):
            return f"function differs from that with Cuts = 0; {work / 'function.log'}"
        raise
    return ""


def selftest() -> int:
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "selftest.sv"
        source.write_text(SELFTEST)
        for top, expected in CASES.items():
            found = problem(top, [ngflow.module_map()["ng_cut"], source], {"Cuts": 3}, Path(folder))
            if (expected not in found) if expected else found:
                print(f"{top}: '{found}'; expected '{expected}'")
                wrong += 1
    print(f"cuts, self-test: {len(CASES)} modules, {wrong} wrong")
    return 1 if wrong else 0


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--top", help="module name")
    parser.add_argument("--params", default="", help="for example 'Cuts=3'")


def run(args: argparse.Namespace) -> int:
    params = ngflow.parse_params(args.params)
    if not args.top or not params.get("Cuts"):
        raise ngflow.FlowError("--top and --params with Cuts other than 0 are needed, or --selftest")
    with tempfile.TemporaryDirectory() as folder:
        found = problem(args.top, ngflow.sources(args.top), params, Path(folder))
    latency = params["Cuts"].bit_count()
    if found:
        print(f"{args.top} {args.params}: {found}")
        return 1
    print(f"PROVEN for all inputs: {args.top} {args.params} is the combinational unit, {latency} enabled edges later")
    return 0


if __name__ == "__main__":
    ngflow.run_main(lambda: checks.run(__doc__, run, selftest, arguments))
