# SPDX-License-Identifier: Apache-2.0
"""What a product of LUQ saves, with and without an accumulator: the tables "Gates" of docs/luq.md.

    synth/luq_gates.py             from the record synth/luq/gates.json, printed
    synth/luq_gates.py --record    measured anew (two minutes), into the record and docs/luq.md
    synth/luq_gates.py --doc       docs/luq.md from the record
    synth/luq_gates.py --check     quick: the accumulators' sums are right, the products' gates are the record's, the page is the
                                   record's

Every datapath goes through the same recipe: Yosys' synth, then generic two-input gates, NAND2 with inverters, cells of the OSU 0.18 um
library in areas of its NAND2X1, and LUT4 of iCE40. "By parts": product and accumulator, and within the standard product cast
and multiplier, are mapped each by itself and added up, as the paper counts; "flattened": they are optimized together.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np

from ngtools import ngflow
from ngtools.generate import between
from ngtools.ngflow import FlowError

SYNTH = Path(__file__).resolve().parent
EXTRA = sorted((SYNTH / "luq").glob("*.sv"))
RECORD = SYNTH / "luq" / "gates.json"
PAGE = ngflow.ROOT / "docs" / "luq.md"
LIBERTY = Path("/usr/share/qflow/tech/osu018/osu018_stdcells.lib")

# Name, Standard, Shape, module and parameters of the product by itself.
PRODUCTS = {
    "standard": ("standard", 1, 1, "ng_mul_luq_standard", {}),
    "fp7": ("FP7", 0, 1, "ng_mul_luq", {"Shape": 1}),
    "fixed": ("fixed point", 0, 0, "ng_mul_luq", {"Shape": 0}),
    "split": ("split", 0, 2, "ng_mul_luq", {"Shape": 2}),
}
KINDS = {"none": "none", "fp32": "FP32", "fp16": "FP16-like", "fixed": "integer"}
# Parts of the standard datapath, with the gates that the paper states.
PARTS = [
    ("cast: exponent", 12),
    ("cast: mantissa", 18),
    ("mantissa multiplier", 99),
    ("exponent adder", 37),
    ("sign", 1),
    ("mantissa normalization", 48),
    ("rounding adder", 12),
    ("exponent fix", 37),
    ("zero operands", None),
]
PAPER = {"none": (264, 49), "fp32": (264 + 2453, 49 + 2453), "fp16": (264 + 731, 49 + 731)}
FIGURES = {"gates": "gates", "nand": "NAND2", "cells": "cell area", "lut4": "LUT4"}


# ---------------------------------------------------------------- counting


def tally(design: dict, top: str) -> dict[str, int]:
    """Cells of a netlist, those of modules that were kept apart with them."""
    cells: dict[str, int] = {}
    modules = design["modules"]
    for cell in modules[top]["cells"].values():
        kept = "ng_" in cell["type"] and cell["type"] in modules  # others are the library's
        inner = tally(design, cell["type"]) if kept else {cell["type"]: 1}
        for kind, number in inner.items():
            cells[kind] = cells.get(kind, 0) + number
    return cells


def library_areas() -> dict[str, float]:
    """Area of each cell over that of NAND2X1."""
    text = LIBERTY.read_text()
    areas = {
        match[1]: float(match[2]) for match in re.finditer(r"cell\s*\((\w+)\)\s*\{.*?area\s*:\s*([\d.]+)", text, re.S)
    }
    return {name: area / areas["NAND2X1"] for name, area in areas.items()}


def count(top: str, params: dict[str, int], parts: bool = False, targets: tuple[str, ...] = tuple(FIGURES)) -> dict:
    """Counts of a module; with `parts` its submodules of LUQ are mapped by themselves."""
    load = [*ngflow.yosys_read(top, ngflow.sources(top, extra=EXTRA), params), "proc", "check -assert"]
    if parts:
        # By name: a module with parameters has another one, which holds it.
        load += [f"setattr -mod -set keep_hierarchy 1 *{name}*" for name in ("ng_mul_luq", "ng_mul_fp7", "ng_luq_acc")]
    found: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder) / f"{name}.json" for name in targets}
        commands = [*load, f"synth -flatten -top {top}", "design -save mapped"]
        if "gates" in targets:
            commands += ["abc -g gates,MUX", "opt_clean", f"write_json {files['gates']}"]
        if "nand" in targets:
            commands += ["design -load mapped", "abc -g NAND", "opt_clean", f"write_json {files['nand']}"]
        if "cells" in targets:
            commands += ["design -load mapped", f"dfflibmap -liberty {LIBERTY}", f"abc -liberty {LIBERTY}", "opt_clean"]
            commands += [f"write_json {files['cells']}"]
        if set(targets) != {"lut4"}:
            ngflow.run_yosys(commands, Path(folder) / "gates.log")
        if "lut4" in targets:
            ngflow.run_yosys(
                [*load, f"synth_ice40 -top {top}", f"write_json {files['lut4']}"], Path(folder) / "lut4.log"
            )
        for name in targets:
            cells = tally(json.loads(files[name].read_text()), top)
            ff = sum(number for kind, number in cells.items() if "DFF" in kind)
            if name == "cells":
                areas = library_areas()
                found[name] = round(sum(areas[kind] * number for kind, number in cells.items()))
            elif name == "lut4":
                found[name] = cells.get("SB_LUT4", 0)
                found["carry"] = cells.get("SB_CARRY", 0)
            else:
                found[name] = sum(cells.values()) - ff
                found["ff"] = ff
    return found


def measure() -> dict:
    if not LIBERTY.exists():
        raise FlowError(f"{LIBERTY} is not there; it is of Debian 12's package qflow-tech-osu018")
    files = {p for _, _, _, top, _ in PRODUCTS.values() for p in ngflow.sources(top)}
    record: dict = {
        "tools": [ngflow.yosys_version()],
        "source_sha256": ngflow.design_hash(sorted({*files, *ngflow.sources("ng_luq_mac", extra=EXTRA), *EXTRA})),
        "parts": [count("ng_luq_part", {"Part": part}, targets=("gates", "nand")) for part in range(len(PARTS))],
        "datapaths": {},
    }
    for name, (_, standard, shape, top, params) in PRODUCTS.items():
        rows = {"none": {"parts": count(top, params, parts=True), "flattened": count(top, params)}}
        for number, kind in enumerate(list(KINDS)[1:], start=1):
            wanted = {"Standard": standard, "Product": shape, "Kind": number}
            rows[kind] = {"parts": count("ng_luq_mac", wanted, parts=True), "flattened": count("ng_luq_mac", wanted)}
        record["datapaths"][name] = rows
        print(f"{name}: measured", file=sys.stderr)
    return record


# ---------------------------------------------------------------- the tables


def tables(record: dict) -> str:
    def row(cells: list) -> str:
        return "| " + " | ".join(str(cell) for cell in cells) + " |"

    paths = record["datapaths"]
    head = ["accumulator", "product", "gates", *list(FIGURES.values())[1:], "FF", "standard over it", "the paper's"]
    lines = [row(head), row(["---"] * len(head))]
    for kind, says in KINDS.items():
        for name, (does, *_) in PRODUCTS.items():
            ways = [paths[name][kind][way] for way in ("parts", "flattened")]
            cells = [says, does, *("/".join(str(way[figure]) for way in ways) for figure in FIGURES), ways[0]["ff"]]
            bases = [paths["standard"][kind][way]["gates"] for way in ("parts", "flattened")]
            ratio = "/".join(f"{base / way['gates']:.2f}" for base, way in zip(bases, ways, strict=True))
            paper = PAPER.get(kind, (None, None))[name != "standard"] if name in ("standard", "fp7") else None
            over = f", {PAPER[kind][0] / PAPER[kind][1]:.2f}" if paper and name == "fp7" else ""
            lines.append(row([*cells, "" if name == "standard" else ratio, f"{paper}{over}" if paper else ""]))
    lines += ["", row(["part of the standard datapath", "generic gates", "NAND2", "the paper's"]), row(["---"] * 4)]
    for (does, paper), found in zip(PARTS, record["parts"], strict=True):
        lines.append(row([does, found["gates"], found["nand"], "" if paper is None else paper]))
    total = [sum(found[figure] for found in record["parts"]) for figure in ("gates", "nand")]
    lines.append(row(["together", *total, sum(paper or 0 for _, paper in PARTS)]))
    return "\n".join(lines) + "\n"


def page(record: dict) -> str:
    return between(ngflow.from_root(PAGE), {"gates": tables(record)})


# ---------------------------------------------------------------- are they right

BENCH = """
module bench;
  localparam int Width = {width};
  logic clk = 0, rst_n = 0;
  logic [9:0] drive;
  logic [Width-1:0] acc;
  logic [9:0] stimulus [0:{last}];
  ng_luq_mac #(.Standard({standard}), .Product({shape}), .Kind({kind})) dut (.clk_i(clk), .rst_ni(rst_n), .valid_i(drive[9]),
    .first_i(drive[8]), .a_i(drive[7:4]), .b_i(drive[3:0]), .acc_o(acc));
  initial begin
    $readmemh("stimulus.hex", stimulus);
    drive = 0; rst_n = 1; #1 rst_n = 0; #1 rst_n = 1;
    for (int i = 0; i <= {last}; i++) begin
      drive = stimulus[i]; #1 clk = 1; #1 clk = 0; #1 $display("%h", acc);
    end
  end
endmodule
"""


def rounded(x: Fraction, kind: str) -> Fraction:
    """To nearest even in FP32, or in the accumulator's FP16."""
    bits, top = (24, 127) if kind == "fp32" else (11, 16)
    if x == 0 or kind == "fixed":
        return x
    step = Fraction(2) ** (max(int(np.floor(np.log2(float(abs(x))))), -14 if kind == "fp16" else -126) - bits + 1)
    largest = (Fraction(2) ** bits - 1) * Fraction(2) ** (top - bits + 1)
    return max(min(round(x / step) * step, largest), -largest)


def value(code: int, kind: str) -> Fraction:
    if kind == "fixed":
        return Fraction(code - (1 << 24 if code >> 23 else 0))
    exponent, mantissa, bias = (8, 23, 127) if kind == "fp32" else (5, 10, 15)
    field, low = code >> mantissa & (1 << exponent) - 1, code & (1 << mantissa) - 1
    sig = Fraction(low + ((1 << mantissa) if field else 0), 1 << mantissa) * Fraction(2) ** (max(field, 1) - bias)
    return -sig if code >> (exponent + mantissa) else sig


def wrong_sums(name: str, kind: str, steps: int) -> int:
    """Sums of a simulated datapath that are not the rounded exact ones; random operands, large ones in runs of one sign."""
    _, standard, shape, _, _ = PRODUCTS[name]
    rng = np.random.default_rng(7)
    runs = np.repeat(rng.integers(0, 4, steps // 64 + 1), 64)[
        :steps
    ]  # of each 64 steps three quarters are near the ends
    a = np.where(runs > 0, rng.choice([7, 8], steps), rng.integers(0, 16, steps))
    b = np.where(runs > 1, np.where(a == 7, 7, 15), rng.integers(0, 16, steps))
    valid, first = rng.random(steps) < 0.9, rng.random(steps) < 1 / 400
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        words = valid.astype(int) << 9 | first.astype(int) << 8 | a << 4 | b
        (work / "stimulus.hex").write_text("\n".join(f"{word:x}" for word in words) + "\n")
        width = {"fp32": 32, "fp16": 16, "fixed": 24}[kind]
        text = BENCH.format(width=width, last=steps - 1, standard=standard, shape=shape, kind=list(KINDS).index(kind))
        (work / "bench.sv").write_text(text)
        files = [*map(str, ngflow.sources("ng_luq_mac", extra=EXTRA)), "bench.sv"]
        subprocess.run(
            ["iverilog", "-g2012", "-s", "bench", "-o", "bench.vvp", *files],
            cwd=work,
            check=True,
            stderr=subprocess.DEVNULL,
        )
        done = subprocess.run(["vvp", "-n", "bench.vvp"], cwd=work, check=True, capture_output=True, text=True)
    codes = [line for line in done.stdout.split() if re.fullmatch(r"[0-9a-fx]+", line)]
    if len(codes) != steps:
        raise FlowError(f"{name}, {kind}: {len(codes)} sums came from {steps} steps")
    total, wrong = Fraction(0), 0
    for step in range(steps):
        if valid[step]:
            weight = int(b[step]) & 7
            fp4 = (1 << weight - 1 if weight else 0) * (-1 if b[step] & 8 else 1)
            product = ((int(a[step]) ^ 8) - 8) * fp4
            total = rounded(product + (0 if first[step] else total), kind)
        wrong += "x" in codes[step] or value(int(codes[step], 16), kind) != total
    return wrong


def check(steps: int) -> int:
    record = json.loads(RECORD.read_text())
    problems = []
    for name in PRODUCTS:
        for kind in list(KINDS)[1:]:
            if wrong := wrong_sums(name, kind, steps):
                problems.append(f"{name} with the {KINDS[kind]} accumulator: {wrong} of {steps} sums are wrong")
    if ngflow.yosys_version() in record["tools"]:
        for name, (_, _, _, top, params) in PRODUCTS.items():
            now = count(top, params, targets=("gates",))["gates"]
            if now != (then := record["datapaths"][name]["none"]["flattened"]["gates"]):
                problems.append(f"{name}: {now} gates, recorded {then}")
    else:
        print(f"recorded with {record['tools'][0]}, here is {ngflow.yosys_version()}: counts are not compared")
    if PAGE.read_text() != page(record):
        problems.append("docs/luq.md is not what the record says; run synth/luq_gates.py --doc")
    for problem in problems:
        print(problem)
    print(f"{len(PRODUCTS) * 3} datapaths of {steps} sums, {len(problems)} problems")
    return 1 if problems else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="measure, write the record and docs/luq.md")
    parser.add_argument("--doc", action="store_true", help="write the tables of docs/luq.md")
    parser.add_argument(
        "--check", action="store_true", help="sums of the accumulators, gates of the products, the page"
    )
    parser.add_argument("--steps", type=int, default=4000, help="sums of each accumulator that --check compares")
    options = parser.parse_args()
    if options.check:
        return check(options.steps)
    if options.record:
        RECORD.write_text(json.dumps(measure(), indent=1) + "\n")
    if not RECORD.exists():
        raise FlowError(f"{RECORD} is not there; synth/luq_gates.py --record makes it")
    record = json.loads(RECORD.read_text())
    if options.record or options.doc:
        PAGE.write_text(page(record))
    print(tables(record), end="")
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
