# SPDX-License-Identifier: Apache-2.0
"""Area and speed of the units, from recipes and into records that are data.

A target (synth/targets/*.json) is a Yosys recipe and what to count. A configuration is a unit with parameters: those with the
face area in the units' records (rtl/<family>/ng_<unit>.toml). A record of area (synth/records/*.json) holds the counts of one
configuration for every target, with tool versions, recipe and a hash of the RTL, so that a stale one is noticed.

examples
  synth/synth.py --list                                what can be synthesized, for which targets
  synth/synth.py --unit dot_e2m1 --target ice40        one unit now, printed
  synth/synth.py --unit dot_fp8 --params 'Lanes=8;FormatSet=2' --target ice40,generic --json
  synth/synth.py --unit dot_e2m1 --target ice40 --pnr  also place and route: critical path in a register wrapper
  synth/synth.py --record                              redo all records and docs/area.md (make area)
  synth/synth.py --record dot_e2m1                     redo one
  synth/synth.py --check dot_e2m1                      quick: iCE40 counts equal the record, budgets hold
  synth/synth.py --doc --check-doc                     docs/area.md is what the records say

The speed is the longest register-to-register path that nextpnr reports with the unit between an input shift register and
an output register, so that any unit fits the pins. Time in ns, Fmax in MHz in the text; JSON carries path_s and fmax_hz.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ngtools import ngflow
from ngtools.ngflow import FlowError
from ngtools.records import read_units
from ngtools.status import described

SYNTH = Path(__file__).resolve().parent
RECORDS = SYNTH / "records"
AREA_PAGE = ngflow.ROOT / "docs" / "area.md"


# ---------------------------------------------------------------- the data files


def load_targets() -> dict[str, dict]:
    return {path.stem: json.loads(path.read_text()) for path in sorted((SYNTH / "targets").glob("*.json"))}


def load_units() -> list[dict]:
    return [described(unit) for unit in read_units()]


def configurations() -> dict[str, tuple[dict, dict]]:
    """Record name -> (unit, 'synth' entry)."""
    return {entry["record"]: (unit, entry) for unit in load_units() for entry in unit["synth"]}


def load_record(name: str) -> dict | None:
    path = RECORDS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


# ---------------------------------------------------------------- synthesis


def count_cells(netlist: dict, top: str) -> dict[str, int]:
    cells: dict[str, int] = {}
    for cell in netlist["modules"][top]["cells"].values():
        cells[cell["type"]] = cells.get(cell["type"], 0) + 1
    return dict(sorted(cells.items()))


def counted(cells: dict[str, int], rules: dict[str, dict[str, int]]) -> dict[str, int]:
    return {
        name: sum(
            number * weight
            for pattern, weight in rule.items()
            for cell, number in cells.items()
            if fnmatch.fnmatchcase(cell, pattern)
        )
        for name, rule in rules.items()
    }


def synthesize(top: str, params: dict[str, int], target: dict, work: Path) -> dict:
    """Counts of one unit on one target."""
    files = ngflow.sources(top)
    netlist = work / "netlist.json"
    commands = [command.format(top=top) for command in target["yosys"]]
    # `check` before mapping: a combinational loop or a floating net would make the figure meaningless.
    ngflow.run_yosys(
        [*ngflow.yosys_read(top, files, params), "proc", "check -assert", *commands, f"write_json {netlist}"],
        work / "synth.log",
    )
    cells = count_cells(json.loads(netlist.read_text()), top)
    return {"recipe": commands, **counted(cells, target["counts"]), "cells": cells}


def place_and_route(top: str, params: dict[str, int], target: dict, work: Path) -> dict:
    """Critical path of the unit between registers."""
    recipe = target["place_and_route"]
    files = ngflow.sources(top)
    load = ngflow.yosys_read(top, files, params)
    ports_file, wrapper_file, netlist, report = (
        work / name for name in ("ports.json", "wrapper.v", "pnr.json", "report.json")
    )
    ngflow.run_yosys([*load, "proc", f"write_json {ports_file}"], work / "ports.log")
    wrapper_file.write_text(ngflow.wrapper(top, json.loads(ports_file.read_text())["modules"][top]["ports"]))
    ngflow.run_yosys(
        [
            *load,
            f"read_verilog {wrapper_file}",
            *(command.format(top="pnr_top") for command in target["yosys"]),
            f"write_json {netlist}",
        ],
        work / "pnr_synth.log",
    )
    command = [*recipe["command"].split(), "--json", str(netlist), "--report", str(report), "--quiet"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise FlowError(f"{command[0]} was not found; install it (Debian: apt-get install {command[0]})") from None
    if done.returncode != 0:
        reason = [line for line in done.stderr.splitlines() if "ERROR" in line] or ["no message"]
        raise FlowError(f"{command[0]} failed for {top}: {reason[0]}")
    result = json.loads(report.read_text())
    (clock,) = (figures for name, figures in result["fmax"].items() if name.startswith("clk_i"))
    used = result["utilization"]["ICESTORM_LC"]["used"]
    fmax = clock["achieved"] * 1e6
    return {
        "device": recipe["device"],
        "command": recipe["command"],
        "fmax_hz": round(fmax),
        "path_s": float(f"{1 / fmax:.4g}"),
        "logic_cells_with_wrapper": used,
    }


def measure(unit: dict, params: dict[str, int], targets: dict[str, dict], with_pnr: bool) -> dict:
    record = {
        "unit": unit["name"],
        "top": unit["top"],
        "parameters": params,
        "source_sha256": ngflow.design_hash(ngflow.sources(unit["top"])),
        "tools": [ngflow.yosys_version()],
        "targets": {},
    }
    for name, target in targets.items():
        with tempfile.TemporaryDirectory() as folder:
            result = synthesize(unit["top"], params, target, Path(folder))
            if with_pnr and "place_and_route" in target:
                result["place_and_route"] = place_and_route(unit["top"], params, target, Path(folder))
                record["tools"].append(ngflow.tool_version(target["place_and_route"]["command"].split()[0]))
        record["targets"][name] = result
    return record


# ---------------------------------------------------------------- records, budgets, the page


def budget_problems(name: str, entry: dict, record: dict) -> list[str]:
    problems = []
    for key, limit in entry.get("budget", {}).items():
        target, figure = key.split(".")
        result = record["targets"].get(target, {})
        value = (
            result.get("place_and_route", {}).get("path_s", float("nan")) * 1e9
            if figure == "path_ns"
            else result.get(figure)
        )
        if value is None or not value <= limit:
            problems.append(f"{name}: {key} is {value}; the budget in the unit's record is {limit}")
    return problems


def check(name: str) -> int:
    """Fast: only the iCE40 mapping is redone."""
    unit, entry = configurations()[name]
    record = load_record(name)
    if record is None:
        print(f"{name}: synth/records/{name}.json is missing; run synth/synth.py --record {name}")
        return 1
    problems = budget_problems(name, entry, record)
    if record["parameters"] != entry["params"]:
        problems.append(f"{name}: recorded for {record['parameters']}, the unit's record says {entry['params']}")
    if record["source_sha256"] != ngflow.design_hash(ngflow.sources(unit["top"])):
        problems.append(f"{name}: the RTL has changed since the record was made")
    target = load_targets()["ice40"]
    with tempfile.TemporaryDirectory() as folder:
        now = synthesize(unit["top"], entry["params"], target, Path(folder))
    then = record["targets"]["ice40"]
    if ngflow.yosys_version() not in record["tools"]:
        print(
            f"{name}: recorded with {record['tools'][0]}, here is {ngflow.yosys_version()}: counts are not compared, budgets are"
        )
        problems += budget_problems(
            name,
            {"budget": {k: v for k, v in entry.get("budget", {}).items() if k.removeprefix("ice40.") in now}},
            {"targets": {"ice40": now}},
        )
    else:
        problems += [
            f"{name}: ice40 {figure} is {now[figure]}, recorded {then[figure]}"
            for figure in target["counts"]
            if now[figure] != then[figure]
        ]
    for problem in problems:
        print(problem)
    figures = ", ".join(f"{figure} {now[figure]}" for figure in target["counts"])
    print(
        f"{name}: ice40 {figures}; "
        + (
            f"{len(problems)} problems: run synth/synth.py --record {name}, look at the difference"
            if problems
            else f"as recorded, budgets {entry.get('budget', 'none')} hold"
        )
    )
    return 1 if problems else 0


def area_page() -> str:
    rows, whole, tools = [], [], set()
    for name in configurations():
        record = load_record(name)
        if record is None:
            continue
        tools.update(record["tools"])
        t = record["targets"]
        pnr = t["ice40"].get("place_and_route")
        speed = f"{pnr['path_s'] * 1e9:.1f} ns, {pnr['fmax_hz'] / 1e6:.0f} MHz" if pnr else ""
        params = ", ".join(f"{key} = {value}" for key, value in record["parameters"].items()) or "defaults"
        others = " | ".join(
            str(t[target][figure]) if target in t else ""
            for target, figure in (("ecp5", "lut4"), ("xilinx7", "lut"), ("generic", "gates"))
        )
        rows.append(
            f"| `{record['top']}` | {params} | {t['ice40']['lut4']} | {t['ice40']['carry']} | {t['ice40']['ff']} | {speed} | {others} |"
        )
        for target in (target for target in t if load_targets()[target].get("whole")):
            figures, pnr = t[target], t[target].get("place_and_route")
            placed = (
                f"{pnr['logic_cells_with_wrapper']} cells, {pnr['path_s'] * 1e9:.1f} ns, {pnr['fmax_hz'] / 1e6:.1f} MHz"
                if pnr
                else ""
            )
            whole.append(
                f"| {name} | {target} | {figures['lut4']} | {figures['ff']} | {figures['dsp']} | {figures['ram']} | {placed} |"
            )
    titles = "\n".join(
        f"- **{name}**: {target['title']}. Recipe: `{'; '.join(target['yosys'])}`."
        for name, target in load_targets().items()
    )
    return f"""<!-- Generated by synth/synth.py --doc from synth/records. Do not edit. -->
# Area and speed

| module | parameters | iCE40 LUT4 | carry | FF | HX8K path | ECP5 LUT4 | Xilinx 7 LUT | generic gates |
|---|---|---|---|---|---|---|---|---|
{chr(10).join(rows)}

Whole designs, with DSP and block RAM (parameters in the table above; cells and path placed with the register wrapper):

| record | target | LUT4 | FF | DSP | block RAM | placed |
|---|---|---|---|---|---|---|
{chr(10).join(whole)}

Reproduce: `make area` redoes every record and this page; `.venv/bin/python synth/synth.py --unit dot_e2m1 --target ice40 --pnr` does one unit.
The tests redo the iCE40 counts and compare them with the records (`ctest -R synth.area`).
Tools of these records: {", ".join(sorted(tools)) or "none"}.

{titles}

The HX8K path is the longest register-to-register path after placement and routing, with the unit between an input shift register
and an output register (`{load_targets()["ice40"]["place_and_route"]["command"]}`). Empty: not placed.

What the table is not: a measurement on silicon; a promise for other tool versions or seeds (one seed of a heuristic placer; others differ by
several percent); a sum that adds up (a unit inside a larger one is optimized together with it); comparable between columns (a LUT6 is not a LUT4,
and a gate is neither). LUT counts of ECP5 and Xilinx are from Yosys' mapper, not placed. Carry cells share a logic cell with a LUT where
packing allows. DSP blocks are used in the second table only, block RAM there and in `ng_ram` and block-RAM queues.
"""


# ---------------------------------------------------------------- command line


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="synth/synth.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--list", action="store_true", help="units, configurations, targets")
    parser.add_argument("--unit", help="unit to synthesize and print")
    parser.add_argument(
        "--params", help="for --unit, for example 'Lanes=16'; default: the unit's first recorded configuration"
    )
    parser.add_argument("--target", default="ice40", help="comma-separated, or all; default ice40")
    parser.add_argument("--pnr", action="store_true", help="place and route where the target can")
    parser.add_argument("--json", action="store_true", help="machine-readable result on stdout")
    parser.add_argument("--record", nargs="?", const="all", help="redo all records, or one, and docs/area.md")
    parser.add_argument("--check", metavar="RECORD", help="compare a record with a fresh iCE40 mapping; test budgets")
    parser.add_argument("--doc", action="store_true", help="write docs/area.md from the records")
    parser.add_argument("--check-doc", action="store_true", help="fail if docs/area.md is not what --doc would write")
    parser.add_argument("--jobs", type=int, default=2, help="Yosys runs at once for --record")
    return parser.parse_args()


def pick(name: str, known, what: str):
    if name not in known:
        raise FlowError(f"{what} '{name}' is unknown; known: {', '.join(known)}")
    return known[name]


def print_result(record: dict) -> None:
    print(f"{record['top']} {record['parameters']}")
    for name, result in record["targets"].items():
        figures = ", ".join(f"{key} {value}" for key, value in result.items() if isinstance(value, int))
        print(f"  {name}: {figures}")
        if pnr := result.get("place_and_route"):
            print(
                f"  {name} placed: path {pnr['path_s'] * 1e9:.2f} ns, {pnr['fmax_hz'] / 1e6:.1f} MHz on {pnr['device']}"
            )


def main() -> int:
    args = parse_arguments()
    targets = load_targets()
    units = {unit["name"]: unit for unit in load_units()}
    if args.list:
        for name, unit in units.items():
            print(f"{name}: {unit['does']}")
            for entry in unit["synth"]:
                print(f"    {entry['record']}: {entry['params'] or 'default parameters'}")
        print("targets: " + "; ".join(f"{name}: {target['title']}" for name, target in targets.items()))
        return 0
    if args.check:
        pick(args.check, configurations(), "record")
        return check(args.check)
    if args.check_doc:
        if AREA_PAGE.exists() and AREA_PAGE.read_text() == area_page():
            print("docs/area.md is what the records say")
            return 0
        print("docs/area.md is not what the records say; run synth/synth.py --doc")
        return 1
    if args.unit:
        unit = pick(args.unit, units, "unit")
        params = ngflow.parse_params(args.params) if args.params is not None else unit["synth"][0]["params"]
        chosen = (
            targets
            if args.target == "all"
            else {name: pick(name, targets, "target") for name in args.target.split(",")}
        )
        record = measure(unit, params, chosen, args.pnr)
        if args.json:
            print(json.dumps(record, indent=2))
        else:
            print_result(record)
        return 0
    if args.record:
        known = configurations()
        names = list(known) if args.record == "all" else [args.record]
        for name in names:
            pick(name, known, "record")
        RECORDS.mkdir(exist_ok=True)

        def redo(name: str) -> list[str]:
            unit, entry = known[name]
            # Targets of whole designs, with their block RAM and DSP, only where asked for.
            wanted = entry.get("targets", [target for target in targets if not targets[target].get("whole")])
            record = measure(
                unit,
                entry["params"],
                {target: targets[target] for target in wanted},
                entry.get("place_and_route", False),
            )
            (RECORDS / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n")
            print_result(record)
            sys.stdout.flush()
            return budget_problems(name, entry, record)

        with ThreadPoolExecutor(max_workers=args.jobs) as pool:
            problems = [problem for found in pool.map(redo, names) for problem in found]
        AREA_PAGE.write_text(area_page())
        for problem in problems:
            print(problem)
        return 1 if problems else 0
    if args.doc:
        AREA_PAGE.write_text(area_page())
        return 0
    raise FlowError("nothing to do; --unit NAME, --record, --check RECORD, --doc or --list (see --help)")


if __name__ == "__main__":
    ngflow.run_main(main)
