#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tables of SRAM by size and port width, which HWComponents' CACTI says: power/sram/cacti_*.jsonl (docs/energy.md).

A table is a line: of each size and width the energy of a read and of a write, leakage, area, access and cycle time. The
package is asked in a Python of its own (3.12; power/sram/requirements.txt). Where the program that it ships does not run
on this machine, it is built there from the package's sources, which takes make and g++, and a minute.

examples
  power/sram/cacti.py                                    a table of energies; --json: everything
  power/sram/cacti.py --cacti PYTHON                     asks again, and writes power/sram/cacti_*.jsonl (minutes)
  power/sram/cacti.py --cacti PYTHON --check             asks for a few entries again and compares
  power/sram/cacti.py --errors                           how far the entries are from what their neighbours say, and cells
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ngtools import ngflow, recorded
from ngtools.ngflow import ROOT, FlowError

FOLDER = ROOT / "power" / "sram"
SIZES = [1 << at for at in range(8, 25)]  # bytes, 256 to 16 MiB
WIDTHS = [1 << at for at in range(5, 11)]  # bits, 32 to 1024
#: CACTI takes no fewer words; the package extrapolates below, and this table does not.
WORDS = 64
FIELDS = ("read_j", "write_j", "leakage_w", "area_m2", "access_s", "cycle_s")
#: Nanometres, and the technologies that a table speaks for. CACTI has parameters of 22, 32, 45, 65 and 90 nm, too.
NODES: dict[int, list[str]] = {7: ["asap7", "tpuv4i_7nm"], 22: [], 45: ["horowitz_45nm"]}
SCALED = {7: 22}
CITATION = "CACTI 7 (Balasubramonian et al., ACM TACO 14(2), 2017) as asked by hwcomponents-cacti"
#: Of an itrs-lstp cell, in squares of the feature size: tech_params/*.dat of CACTI.
CELL_SQUARES = 146
CELLS = "itrs-lstp cells and periphery at 300 K, one read-write port, one bank"
#: Entries that --check asks for: node, bytes, bits.
SAMPLE = ((7, 32768, 64), (7, 32768, 512), (22, 1024, 32), (45, 8192, 64), (45, 65536, 256))
ASK = r"""
import hashlib, json, shutil, subprocess, sys
from importlib.metadata import version
from pathlib import Path
import hwcomponents_cacti
folder = Path(hwcomponents_cacti.__file__).parent
shutil.rmtree(folder / "cacti_inputs_outputs", ignore_errors=True)  # answers that it keeps
sources = folder / "cacti"
def runs():
    done = subprocess.run(["./cacti"], cwd=sources, capture_output=True, text=True, check=False)
    return "not found" not in done.stderr and done.returncode not in (126, 127)
if not (sources / "cacti").exists() or not runs():
    subprocess.run(["make", "clean"], cwd=sources, capture_output=True, check=False)
    made = subprocess.run(["make", "opt"], cwd=sources, capture_output=True, text=True, check=False)
    if made.returncode or not runs():
        sys.exit("CACTI does not build: " + made.stderr[-400:])
read = sorted([*sources.glob("*.cc"), *sources.glob("*.h"), *sources.glob("tech_params/*.dat"),
               folder / "default_cfg.cfg", (folder / "hwcomponents_cacti").with_suffix(".py")])
digest = hashlib.sha256()
for path in read:
    digest.update(path.name.encode() + b"\0" + path.read_bytes())
print(json.dumps({"hwcomponents-cacti": version("hwcomponents-cacti"), "hwcomponents": version("hwcomponents"),
                  "sources_sha256": digest.hexdigest()}), flush=True)
for node, size, width in json.loads(sys.argv[1]):
    memory = hwcomponents_cacti.SRAM(tech_node=node * 1e-9, width=width, size=8 * size)
    print(json.dumps([memory.read_energy, memory.write_energy, memory.cacti_leak_power, memory.cacti_area,
                      memory.access_time, memory.cycle_period]), flush=True)
"""

Table = dict[str, Any]
Entry = tuple[int, int, int]


def possible(size: int, width: int) -> bool:
    return 8 * size >= WORDS * width


def ask(python: str, entries: list[Entry], kept: Path | None = None) -> tuple[dict[str, str], dict[Entry, list[float]]]:
    """What the package says of (nanometres, bytes, bits), and what it is. `kept`: a file of answers, to go on with."""
    said: dict[Entry, list[float]] = {}
    if kept and kept.exists():
        for line in kept.read_text().splitlines():
            *entry, values = json.loads(line)
            said[(entry[0], entry[1], entry[2])] = values
    left = [entry for entry in entries if entry not in said]
    with subprocess.Popen(
        [python, "-c", ASK, json.dumps(left)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as asked:
        assert asked.stdout
        assert asked.stderr
        package = asked.stdout.readline()
        for entry, line in zip(left, asked.stdout, strict=False):
            said[entry] = json.loads(line)
            if kept:
                with kept.open("a") as more:
                    more.write(json.dumps([*entry, said[entry]]) + "\n")
        errors = asked.stderr.read()
    if asked.returncode != 0 or any(entry not in said for entry in entries):
        last = (errors.strip().splitlines() or ["no message"])[-1]
        raise FlowError(f'"{python}" does not answer for hwcomponents-cacti ({last}); see power/sram/requirements.txt')
    return json.loads(package), {entry: said[entry] for entry in entries}


def make(python: str, kept: Path | None) -> list[Table]:
    # A scaled node beside the one that it is scaled from: the package keeps its last answers.
    groups = [[node, *(at for at in NODES if SCALED.get(at) == node)] for node in NODES if node not in SCALED]
    entries = [(n, s, w) for group in groups for s in SIZES for w in WIDTHS if possible(s, w) for n in group]
    package, said = ask(python, entries, kept)
    tables = []
    for node, serves in sorted(NODES.items()):
        table: Table = {
            "memory": "sram",
            "technology": f"cacti_{node}nm",
            "node_m": float(f"{node}e-9"),
            "serves": serves,
            "citation": f"{CITATION} {package['hwcomponents-cacti']}; {CELLS}",
            "package": package,
        }
        if node in SCALED:
            ratio = f"{node} / {SCALED[node]}"
            table["scaled"] = (
                f"from {SCALED[node]} nm by the package: energies x the root of {ratio}, area and times x {ratio}, "
                f"leakage x 0.79 x the root of {ratio}"
            )
        table |= {"sizes_bytes": SIZES, "widths_bits": WIDTHS}
        for at, field in enumerate(FIELDS):
            table[field] = [
                [float(f"{said[node, s, w][at]:.5g}") if possible(s, w) else None for w in WIDTHS] for s in SIZES
            ]
        if text := beside(table):
            table["beside"] = text
        tables.append(table)
    return tables


def read_tables() -> list[Table]:
    read = [recorded.read(path)["sram"] for path in FOLDER.glob("cacti_*.jsonl")]
    return sorted(read, key=lambda table: table["node_m"])


def of_node(tables: list[Table], node: int) -> Table:
    return next(table for table in tables if table["technology"] == f"cacti_{node}nm")


def summary(errors: list[float]) -> dict[str, float]:
    return {"mean_abs": float(f"{statistics.fmean(errors):.3g}"), "max_abs": float(f"{max(errors):.3g}")}


def beside(table: Table) -> str:
    """What cited figures of the node are of this table's, a read of a port as wide; empty where there are none."""
    for cited in json.loads((ROOT / "power" / "memory.json").read_text())["memories"]:
        if cited["memory"] == "sram" and cited["technology"] in table["serves"]:
            column = WIDTHS.index(cited["access_bits"])
            ratios = [
                point["energy_j"] / table["read_j"][SIZES.index(point["size_bytes"])][column]
                for point in cited["points"]
            ]
            return (
                f"the cited figures of {cited['technology']} at {cited['access_bits']} bits are {min(ratios):.2g} to "
                f"{max(ratios):.2g} times as large"
            )
    return ""


def cells(table: Table) -> str:
    """The area of a cell, the share of cells in the area of a memory, and what a mebibyte of many words leaks."""
    node = round(1e9 * table["node_m"])
    feature = SCALED.get(node, node) * 1e-9
    cell = CELL_SQUARES * feature**2 * (node / SCALED[node] if node in SCALED else 1)
    shares = [
        8 * size * cell / area for size, areas in zip(SIZES, table["area_m2"], strict=True) for area in areas if area
    ]
    leakage = table["leakage_w"][SIZES.index(2**20)][WIDTHS.index(64)]
    return (
        f"a cell has {1e12 * cell:.3g} um2, memories are {min(shares):.0%} to {max(shares):.0%} cells, and a MiB of 64 bits "
        f"leaks {1e6 * leakage:.0f} uW"
    )


def neighbour_errors(table: Table, field: str) -> list[float]:
    """Each entry between two sizes, or two widths, against the geometric mean of both."""

    def at(i: int, j: int) -> float | None:
        inside = 0 <= i < len(SIZES) and 0 <= j < len(WIDTHS)
        return table[field][i][j] if inside else None

    errors = []
    for i in range(len(SIZES)):
        for j in range(len(WIDTHS)):
            for down, up in ((at(i - 1, j), at(i + 1, j)), (at(i, j - 1), at(i, j + 1))):
                here = at(i, j)
                if here and down and up:
                    errors.append(abs(math.sqrt(down * up) / here - 1))
    return errors


def rows(tables: list[Table]) -> list[str]:
    lines = ["| pJ a read | " + " | ".join(f"{width} bits" for width in WIDTHS) + " |", "|---" * 7 + "|"]
    for table in tables:
        for i in range(2, len(SIZES), 4):
            cells = ["-" if x is None else f"{1e12 * x:.3g}" for x in table["read_j"][i]]
            lines.append(f"| {table['technology']}, {SIZES[i] // 1024} KiB | " + " | ".join(cells) + " |")
    return lines


def check(python: str) -> int:
    package, said = ask(python, list(SAMPLE))
    tables = read_tables()
    wrong = 0
    for (node, size, width), values in said.items():
        table = of_node(tables, node)
        at = SIZES.index(size), WIDTHS.index(width)
        for field, value in zip(FIELDS, values, strict=True):
            recorded = table[field][at[0]][at[1]]
            if not math.isclose(recorded, value, rel_tol=1e-4):
                wrong += 1
                print(
                    f"{field} of {size} bytes x {width} bits at {node} nm is {value:g}, recorded {recorded:g}",
                    file=sys.stderr,
                )
    if package != tables[0]["package"]:
        print(f"the package is another than the recorded one: {package}", file=sys.stderr)
        wrong += 1
    print(f"{len(said)} entries of hwcomponents-cacti {package['hwcomponents-cacti']}: {wrong} differences")
    return 1 if wrong else 0


def errors(tables: list[Table]) -> str:
    lines = []
    for table in tables:
        found = summary(neighbour_errors(table, "read_j") + neighbour_errors(table, "write_j"))
        lines.append(f"{table['technology']}: {found['mean_abs']:.1%} on average, {found['max_abs']:.0%} at most")
        if text := beside(table):
            lines.append(f"{table['technology']}: {text}")
        lines.append(f"{table['technology']}: {cells(table)}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cacti", metavar="PYTHON", help="a Python that has hwcomponents-cacti: ask it again")
    parser.add_argument("--kept", type=Path, metavar="FILE", help="answers are kept here, and not asked for again")
    parser.add_argument("--check", action="store_true", help="with --cacti: compare a few entries, write nothing")
    parser.add_argument("--errors", action="store_true", help="how far entries are from their neighbours' mean")
    parser.add_argument("--json", action="store_true", help="the tables as one JSON text")
    options = parser.parse_args()
    if options.check:
        if not options.cacti:
            parser.error("--check takes --cacti PYTHON")
        return check(options.cacti)
    if options.cacti:
        tables = make(options.cacti, options.kept)
        for table in tables:
            recorded.update(FOLDER / f"{table['technology']}.jsonl", {table["memory"]: table})
        print(f"{len(tables)} tables, {sum(possible(s, w) for s in SIZES for w in WIDTHS)} entries each, in {FOLDER}")
        return 0
    tables = read_tables()
    show: Callable[[list[Table]], str] = errors if options.errors else lambda t: "\n".join(rows(t))
    print(json.dumps(tables) if options.json else show(tables))
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
