# SPDX-License-Identifier: Apache-2.0
"""Area and speed of the units, from recipes and into records that are data.

A target (synth/targets/*.json) is a Yosys recipe and what to count. A configuration is a unit with parameters: those with the
face area in the units' records (rtl/<family>/ng_<unit>.toml). A record of area is a line of synth/records/<target>.jsonl for each
target: the counts of one configuration, with tool versions, recipe and a hash of the RTL, so that a stale one is noticed.

examples
  synth/synth.py --list                                what can be synthesized, for which targets
  synth/synth.py --unit dot_e2m1 --target ice40        one unit now, printed
  synth/synth.py --unit dot_fp8 --params 'Lanes=8;FormatSet=2' --target ice40,generic --json
  synth/synth.py --unit dot_e2m1 --target ice40 --pnr  also place and route: frequency in a register wrapper
  synth/synth.py --record                              redo the counts of all records
  synth/synth.py --record dot_e2m1                     redo one
  synth/synth.py --rekey                               take over text that elaborates to the recorded designs
  synth/synth.py --route fifo2 --target up5k           place and route of a record, five seeds (make area does all)
  synth/synth.py --check dot_e2m1                      quick: iCE40 counts equal the record, budgets hold
  synth/synth.py --check-all --drawn 2                 every record is of today's design, in its budget; two are mapped again
  synth/synth.py --check-route fifo2                   the first seed again: to the last digit what the record says

The speed belongs to the longest path between registers, over all clocks, that nextpnr reports with the unit between an input shift
register and an output register, so that any unit fits the pins: the median of five seeds. Runs are kept in build/area (or NG_AREA_CACHE).
Text has MHz; JSON carries path_s and fmax_hz. synth/area_page.py makes docs/area.md of the records.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import random
import re
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ngtools import ledger, ledger_netlist, ngflow, recorded, route
from ngtools.ngflow import FlowError
from ngtools.records import read_units
from ngtools.status import described

SYNTH = Path(__file__).resolve().parent
RECORDS = SYNTH / "records"
# Of a record, the same on all targets.
SHARED = ("unit", "top", "parameters", "source_sha256", "netlist", "names", "tools")
SEEDS = [1, 2, 3, 4, 5]
# Runs of place and route by what was run; what is there is not run again.
DRAWN_CELLS = 3000  # of iCE40; mapping more takes a minute
CACHE = Path(os.environ.get("NG_AREA_CACHE", ngflow.ROOT / "build" / "area"))
# In verif/pending.txt: a record that waits to be made again.
WAITING = "synth.records."
NO_ROOM = re.compile(r"no BELs remaining|[Uu]nable to place|not enough|too many|Too many|failed to place")


# ---------------------------------------------------------------- the data files


def load_targets() -> dict[str, dict]:
    return {path.stem: json.loads(path.read_text()) for path in sorted((SYNTH / "targets").glob("*.json"))}


def load_units() -> list[dict]:
    return [described(unit) for unit in read_units()]


def configurations() -> dict[str, tuple[dict, dict]]:
    """Record name -> (unit, 'synth' entry)."""
    return {entry["record"]: (unit, entry) for unit in load_units() for entry in unit["synth"]}


def load_entries() -> dict[str, dict[str, dict]]:
    """Target -> record name -> line."""
    return {path.stem: recorded.read(path) for path in sorted(RECORDS.glob(f"*{recorded.SUFFIX}"))}


def load_records() -> dict[str, dict]:
    """Record name -> record, with what each target counted."""
    found: dict[str, dict] = {}
    for target, entries in load_entries().items():
        for name, entry in entries.items():
            shared = {key: entry[key] for key in SHARED}
            record = found.setdefault(name, {**shared, "targets": {}})
            if any(record[key] != value for key, value in shared.items()):
                raise FlowError(
                    f'record "{name}" on {target} is of another design or tool than on {", ".join(record["targets"])}; '
                    f"run synth/synth.py --record {name}"
                )
            record["targets"][target] = {key: value for key, value in entry.items() if key not in ("record", *SHARED)}
    return found


def load_record(name: str) -> dict | None:
    return load_records().get(name)


def save_record(name: str, record: dict) -> None:
    """A line in the file of each of its targets, and none in the others."""
    for target in sorted({*record["targets"], *load_entries()}):
        result = record["targets"].get(target)
        shared = {key: record[key] for key in SHARED}
        entry = None if result is None else {"record": name, **shared, **result}
        recorded.update(RECORDS / f"{target}{recorded.SUFFIX}", {name: entry})


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
    netlist = work / "netlist.json"
    commands = [command.format(top=top) for command in target["yosys"]]
    # `check` before mapping: a combinational loop or a floating net would make the figure meaningless.
    ngflow.run_yosys(
        [*ngflow.bare_read(top, params, work), "proc", "check -assert", *commands, f"write_json {netlist}"],
        work / "synth.log",
        work,
    )
    cells = count_cells(json.loads(netlist.read_text()), top)
    result = {"recipe": commands, **counted(cells, target["counts"]), "cells": cells}
    return result | (route.packed(netlist, **target["pack"]) if "pack" in target else {})


def wrapped(top: str, params: dict[str, int], target: dict, work: Path) -> Path:
    """The netlist of the unit between registers, as place and route takes it."""
    load = ngflow.bare_read(top, params, work)
    ports_file, wrapper_file, netlist = (work / name for name in ("ports.json", "wrapper.v", "pnr.json"))
    ngflow.run_yosys([*load, "proc", f"write_json {ports_file}"], work / "ports.log", work)
    wrapper_file.write_text(ngflow.wrapper(top, json.loads(ports_file.read_text())["modules"][top]["ports"]))
    ngflow.run_yosys(
        [
            *load,
            f"read_verilog {wrapper_file.name}",
            *(command.format(top="pnr_top") for command in target["yosys"]),
            # Where a cell comes from is in the names; attributes would hold the folder of the run.
            "setattr -unset src */*",
            "setattr -mod -unset src *",
            f"write_json {netlist}",
        ],
        work / "pnr_synth.log",
        work,
    )
    return netlist


def place_and_route(
    top: str,
    params: dict[str, int],
    target: dict,
    work: Path,
    seeds: list[int],
    jobs: int = 1,
    cache: Path | None = CACHE,
) -> dict:
    """What the unit reaches between registers, from a run for each seed."""
    recipe = target["place_and_route"]
    netlist = wrapped(top, params, target, work)
    dsp_ns = recipe.get("dsp_ns", 0.0)
    found = route.dsps(json.loads(netlist.read_text())["modules"]["pnr_top"]) if dsp_ns else None
    detailed = bool(found and found.behind)

    def run(seed: int) -> dict:
        return route.run(netlist, recipe["command"], seed, cache, detailed)

    results = {seeds[0]: run(seeds[0])}
    # What one seed finds no room for, no seed does.
    if "failed" not in results[seeds[0]] or not NO_ROOM.search(results[seeds[0]]["failed"]):
        with ThreadPoolExecutor(max_workers=jobs) as pool:
            results |= dict(zip(seeds[1:], pool.map(run, seeds[1:]), strict=True))
    return {
        "device": recipe["device"],
        "command": recipe["command"],
        "tool": route.version(recipe["command"]),
        **route.summary(results, found, dsp_ns),
    }


def measure(unit: dict, params: dict[str, int], targets: dict[str, dict]) -> dict:
    """The counts of every target."""
    record = {
        "unit": unit["name"],
        "top": unit["top"],
        "parameters": params,
        "source_sha256": ngflow.design_hash(ngflow.sources(unit["top"])),
        "netlist": elaborated(unit["top"], params),
        "names": ngflow.names_hash(ngflow.sources(unit["top"])),
        "tools": [ngflow.yosys_version()],
        "targets": {},
    }
    for name, target in targets.items():
        with tempfile.TemporaryDirectory() as folder:
            record["targets"][name] = synthesize(unit["top"], params, target, Path(folder))
    return record


def elaborated(top: str, params: dict[str, int]) -> str:
    """What the RTL comes to before it is mapped: equal for two texts of the same hardware."""
    with tempfile.TemporaryDirectory() as folder:
        return ledger_netlist.flat(ngflow.bare_read(top, params, Path(folder)), top, Path(folder))


def same_text(record: dict) -> bool:
    return record["source_sha256"] == ngflow.design_hash(ngflow.sources(record["top"]))


def same_netlist(record: dict) -> bool:
    return record["netlist"] == elaborated(record["top"], record["parameters"])


def same_design(record: dict) -> bool:
    """Whether the record's figures are of today's RTL, by its text or else by what it elaborates to."""
    return same_text(record) or same_netlist(record)


def routable(targets: dict[str, dict]) -> dict[str, dict]:
    return {name: target for name, target in targets.items() if "place_and_route" in target}


def routed(record: dict, targets: dict[str, dict], seeds: list[int], jobs: int) -> dict:
    """The record with place and route on these targets, those without their program left out by name."""
    for name, target in routable(targets).items():
        command = target["place_and_route"]["command"]
        if not route.available(command):
            print(f"{record['top']}: {command.split()[0]} was not found, so {name} is left out (make setup-area)")
            continue
        with tempfile.TemporaryDirectory() as folder:
            if name not in record["targets"]:
                record["targets"][name] = synthesize(record["top"], record["parameters"], target, Path(folder))
            record["targets"][name]["place_and_route"] = place_and_route(
                record["top"], record["parameters"], target, Path(folder), seeds, jobs
            )
    return record


# ---------------------------------------------------------------- records, budgets, the page


def budget_problems(name: str, entry: dict, record: dict) -> list[str]:
    problems = []
    for key, limit in entry.get("budget", {}).items():
        target, figure = key.split(".")
        result = record["targets"].get(target, {})
        value = result.get(figure)
        if figure == "path_ns":
            if "place_and_route" not in result:
                continue  # not routed, which the table says
            value = result["place_and_route"].get("path_s", float("inf")) * 1e9
        if value is None or not value <= limit:
            problems.append(f"{name}: {key} is {value}; the budget in the unit's record is {limit}")
    return problems


def differences(record: dict) -> list[str]:
    """Why figures of the same design may differ from the record's."""
    found = []
    if ngflow.yosys_version() not in record["tools"]:
        found.append(f"recorded with {record['tools'][0]}, here is {ngflow.yosys_version()}")
    if record["names"] != ngflow.names_hash(ngflow.sources(record["top"])):
        found.append("recorded from another text of the same RTL")
    return found


def standing_problems(name: str, entry: dict, record: dict) -> list[str]:
    """What is wrong with a record before anything is mapped again."""
    problems = budget_problems(name, entry, record)
    if record["parameters"] != entry["params"]:
        problems.append(f"{name}: recorded for {record['parameters']}, the unit's record says {entry['params']}")
    if not same_text(record):
        problems.append(
            f"{name}: the text of the RTL has changed, and comes to the recorded netlist, which another Yosys cannot tell; "
            "run synth/synth.py --rekey"
            if same_netlist(record)
            else f"{name}: the RTL has changed since the record was made; run synth/synth.py --record {name}"
        )
    return problems


def check_all(drawn: int, of: str) -> int:
    """All records by what they say, and as many as `drawn` of the smaller ones mapped again, chosen by the hash `of`."""
    records, known = load_records(), configurations()
    waiting = {job.removeprefix(WAITING) for job in ledger.read_pending()[1] if job.startswith(WAITING)}
    problems = [f"{name}: no unit has this record; remove it" for name in sorted(set(records) - set(known))]
    for name, (_, entry) in known.items():
        if name in waiting:
            continue
        if name in records:
            problems += standing_problems(name, entry, records[name])
        else:
            problems.append(f"{name}: synth/records has no such record; run synth/synth.py --record {name}")
    for problem in problems:
        print(problem)
    print(f"{len(known)} records, {len(problems)} problems")
    if waiting:
        print(f"notice: verif/pending.txt says that {len(waiting)} wait to be made again: {', '.join(sorted(waiting))}")
    small = sorted(
        name
        for name in known.keys() & records.keys() - waiting
        if sum(records[name]["targets"][checked_target(records[name])]["cells"].values()) <= DRAWN_CELLS
    )
    chosen = random.Random(of).sample(small, min(drawn, len(small)))
    return max([1 if problems else 0, *map(check, chosen)])


def checked_target(record: dict) -> str:
    """On which a record is mapped again: iCE40, or its first target if it has none of that."""
    return "ice40" if "ice40" in record["targets"] else next(iter(record["targets"]))


def check(name: str) -> int:
    """Fast: only the iCE40 mapping is redone; of a record without one, that of its first target."""
    unit, entry = configurations()[name]
    record = load_record(name)
    if record is None:
        print(f"{name}: synth/records has no such record; run synth/synth.py --record {name}")
        return 1
    problems = standing_problems(name, entry, record)
    on = checked_target(record)
    target = load_targets()[on]
    with tempfile.TemporaryDirectory() as folder:
        now = synthesize(unit["top"], entry["params"], target, Path(folder))
    then = record["targets"][on]
    # Figures of one version of a mapper, or of one choice of names, bind nobody who has another.
    if others := differences(record):
        print(f"{name}: notice: {' and '.join(others)}: nothing is compared")
        budget = {k: v for k, v in entry.get("budget", {}).items() if k.removeprefix(f"{on}.") in now}
        for problem in budget_problems(name, {"budget": budget}, {"targets": {on: now}}):
            print(problem.replace(f"{name}: ", f"{name}: notice: ", 1))
    else:
        problems += [
            f"{name}: {on} {figure} is {now[figure]}, recorded {then.get(figure, 'never')}"
            for figure in target["counts"]
            if now[figure] != then.get(figure, 0)
        ]
        if now.get("packed_by") == then.get("packed_by") and now.get("logic_cells") != then.get("logic_cells"):
            problems.append(f"{name}: {on} logic_cells is {now['logic_cells']}, recorded {then['logic_cells']}")
    for problem in problems:
        print(problem)
    figures = ", ".join(f"{figure} {now[figure]}" for figure in target["counts"])
    print(
        f"{name}: {on} {figures}; "
        + (
            f"{len(problems)} problems: run synth/synth.py --record {name}, look at the difference"
            if problems
            else f"the record is of this design, budgets {entry.get('budget', 'none')} hold in it"
        )
    )
    return 1 if problems else 0


def check_route(names: list[str], targets: dict[str, dict]) -> int:
    """The first seed of each target again: the path has to be the recorded one, to the last digit."""
    problems, compared, others = [], 0, 0
    for name in names:
        record = load_records().get(pick(name, {n: n for n in configurations()}, "record"))
        if record is None:
            problems.append(f"{name}: synth/records has no such record; run synth/synth.py --route {name}")
            continue
        if not same_design(record):
            problems.append(
                f"{name}: the RTL has changed since the record was made; run synth/synth.py --record {name}"
            )
            continue
        for target_name, target in routable(targets).items():
            then = record["targets"].get(target_name, {}).get("place_and_route", {})
            command = target["place_and_route"]["command"]
            if not then.get("paths_s") or not route.available(command):
                continue
            others_here = differences(record)
            if route.version(command) != then["tool"]:
                others_here.append(f"routed with {then['tool']}, here is {route.version(command)}")
            if others_here:
                print(f"{name}: {target_name}: {' and '.join(others_here)}: not compared")
                others += 1
                continue
            seed, path = next(iter(then["paths_s"].items()))
            with tempfile.TemporaryDirectory() as folder:
                now = place_and_route(
                    record["top"], record["parameters"], target, Path(folder), [int(seed)], cache=None
                )
            compared += 1
            print(f"{name}: {target_name}, seed {seed}: {now.get('path_s', now.get('failed'))} s, recorded {path} s")
            if now.get("path_s") != path:
                problems.append(f"{name}: {target_name}, seed {seed} is {now}; recorded {path}")
    for problem in problems:
        print(problem)
    print(f"{compared} runs compared, {len(problems)} problems")
    print(f"figures: {json.dumps({'runs': compared})}")
    if others and not compared and not problems:
        return ngflow.SKIPPED
    return 1 if problems or not compared else 0


def speed(pnr: dict | None) -> str:
    """MHz of the median seed, with the least and the greatest."""
    if pnr is None:
        return "not run"
    if "failed" in pnr:
        return f"no: {pnr['failed']}"
    median, least, most = (pnr[key] / 1e6 for key in ("fmax_hz", "fmax_min_hz", "fmax_max_hz"))
    runs = len(pnr["paths_s"])
    few = "" if runs == len(SEEDS) else f", {runs} seed{'s' if runs > 1 else ''}"
    return f"{median:.1f} ({least:.1f} to {most:.1f}{few})"


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
    parser.add_argument("--target", help="comma-separated, or all; default ice40, for --route and --check-route all")
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="how many, for --pnr and --route; default 5")
    parser.add_argument("--pnr", action="store_true", help="place and route where the target can")
    parser.add_argument("--json", action="store_true", help="machine-readable result on stdout")
    parser.add_argument("--record", nargs="*", help="redo the counts of all records, or of these")
    parser.add_argument(
        "--rekey", action="store_true", help="take over changed text that comes to the recorded netlist"
    )
    parser.add_argument("--route", nargs="*", help="place and route for all records that ask for it, or for these")
    parser.add_argument(
        "--check-route", nargs="+", metavar="RECORD", help="route the first seed of these again and compare"
    )
    parser.add_argument(
        "--check",
        metavar="RECORD",
        help="compare a record with a fresh mapping, to iCE40 where it has that; test budgets",
    )
    parser.add_argument("--check-all", action="store_true", help="every record against today's text; nothing is mapped")
    parser.add_argument(
        "--drawn",
        type=int,
        default=0,
        help=f"for --check-all: also --check this many of at most {DRAWN_CELLS} cells, drawn by the commit's hash",
    )
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
            print(f"  {name} routed on {pnr['device']}: {speed(pnr)} MHz")


def chosen_targets(text: str, targets: dict[str, dict]) -> dict[str, dict]:
    return targets if text == "all" else {name: pick(name, targets, "target") for name in text.split(",")}


def write_record(name: str, record: dict) -> None:
    record["targets"] = {target: record["targets"][target] for target in sorted(record["targets"])}
    save_record(name, record)
    ledger.write_pending(ngflow.ROOT, [WAITING + name])
    print_result(record)
    sys.stdout.flush()


def redo_records(names: list[str], targets: dict[str, dict], jobs: int) -> int:
    """Counts anew; place and route stays where the design has not changed."""
    known = configurations()
    names = names or list(known)

    def redo(name: str) -> list[str]:
        unit, entry = pick(name, known, "record")
        # Targets of whole designs, with their block RAM and DSP, where asked for, and where the unit is routed.
        plain = [target for target in targets if not targets[target].get("whole")]
        wanted = [*entry.get("targets", plain), *(routable(targets) if entry.get("place_and_route") else [])]
        record = measure(unit, entry["params"], {target: targets[target] for target in targets if target in wanted})
        for target, entries in load_entries().items():
            before = entries.get(name, {})
            pnr = before.get("place_and_route")
            if (
                pnr
                and all(before[key] == record[key] for key in ("netlist", "parameters", "tools"))
                and target in record["targets"]
                and pnr["command"] == targets[target]["place_and_route"]["command"]
            ):
                record["targets"][target]["place_and_route"] = pnr
            elif pnr:
                print(
                    f"{name}: place and route on {target} was of another design or recipe; run synth/synth.py --route {name}"
                )
        write_record(name, record)
        return budget_problems(name, entry, record)

    with ThreadPoolExecutor(max_workers=jobs) as pool:
        problems = [problem for found in pool.map(redo, names) for problem in found]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def redo_routes(names: list[str], targets: dict[str, dict], seeds: list[int], jobs: int) -> int:
    """Place and route of records that are there, small units first."""
    known = configurations()
    for name in names:
        pick(name, known, "record")
    problems, due = [], []
    for name in names or [name for name, (_, entry) in known.items() if entry.get("place_and_route")]:
        record = load_record(name)
        if record is None or not same_design(record):
            problems.append(f"{name}: no record of today's design; run synth/synth.py --record {name}")
        else:
            due.append((sum(result.get("lut4", 0) for result in record["targets"].values()), name, record))
    for _, name, record in sorted(due, key=lambda item: item[:2]):
        write_record(name, routed(record, targets, seeds, jobs))
        problems += budget_problems(name, known[name][1], record)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


def rekey() -> int:
    """Gives each record the hash of today's text where that comes to the recorded netlist; maps nothing."""
    changed = 0
    for name, record in load_records().items():
        if same_text(record):
            continue
        if same_netlist(record):
            save_record(name, record | {"source_sha256": ngflow.design_hash(ngflow.sources(record["top"]))})
        else:
            print(f"{name}: another design; run synth/synth.py --record {name}")
            changed += 1
    return 1 if changed else 0


def main() -> int:
    args = parse_arguments()
    targets = load_targets()
    seeds = list(range(1, args.seeds + 1))
    units = {unit["name"]: unit for unit in load_units()}
    if args.list:
        for name, unit in units.items():
            print(f"{name}: {unit['does']}")
            for entry in unit["synth"]:
                print(f"    {entry['record']}: {entry['params'] or 'default parameters'}")
        print("targets: " + "; ".join(f"{name}: {target['title']}" for name, target in targets.items()))
        return 0
    if args.check_route:
        return check_route(args.check_route, chosen_targets(args.target or "all", targets))
    if args.check_all:
        return check_all(args.drawn, ledger.commit(ngflow.ROOT))
    if args.check:
        pick(args.check, configurations(), "record")
        return check(args.check)
    if args.unit:
        unit = pick(args.unit, units, "unit")
        params = ngflow.parse_params(args.params) if args.params is not None else unit["synth"][0]["params"]
        chosen = chosen_targets(args.target or "ice40", targets)
        record = measure(unit, params, chosen)
        if args.pnr:
            routed(record, chosen, seeds, args.jobs)
        if args.json:
            print(json.dumps(record, indent=2))
        else:
            print_result(record)
        return 0
    if args.rekey:
        return rekey()
    if args.record is not None:
        return redo_records(args.record, targets, args.jobs)
    if args.route is not None:
        return redo_routes(args.route, chosen_targets(args.target or "all", targets), seeds, args.jobs)
    raise FlowError("nothing to do; --unit NAME, --record, --check RECORD or --list (see --help)")


if __name__ == "__main__":
    ngflow.run_main(main)
