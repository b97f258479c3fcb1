# SPDX-License-Identifier: Apache-2.0
"""The status table of the units, from data: synth/units.json names each unit's faces, synth/records and verif/records
hold what was measured. A named file that does not exist is an error, not an empty cell; that the named benches (each on RTL,
netlist and with injected faults) and proofs exist is checked by verif/check_plan.py, which knows ctest's list.

  verif/status.py              print the table (Markdown)
  verif/status.py --json       the same as data, for `narrowgauge units`
  verif/status.py --update     put it into README.md between its markers; --check fails if it is not there
"""

from __future__ import annotations

import argparse
import json
import sys

from ngtools import ngflow

BEGIN, END = "<!-- status: begin (generated) -->", "<!-- status: end -->"


def status() -> tuple[list[dict], list[str]]:
    units = json.loads((ngflow.ROOT / "synth" / "units.json").read_text())["units"]
    rows, problems = [], []
    for unit in units:
        for face in ("rtl", "golden", "systemc", "page"):  # clocked units have a cycle model in SystemC
            if face in unit and not (ngflow.ROOT / unit[face]).is_file():
                problems.append(f"{unit['name']}: {face} {unit[face]} does not exist")
        mutants = []
        for bench in unit["benches"]:
            path = ngflow.ROOT / "verif" / "records" / f"{bench}.json"
            if path.is_file():
                mutants.append(json.loads(path.read_text()))
            else:
                problems.append(f"{unit['name']}: verif/records/{bench}.json does not exist; run make mutants")
        area = []
        for entry in unit["synth"]:
            path = ngflow.ROOT / "synth" / "records" / f"{entry['record']}.json"
            if path.is_file():
                record = json.loads(path.read_text())
                area.append(
                    {
                        "record": entry["record"],
                        "parameters": record["parameters"],
                        "ice40_lut4": record["targets"]["ice40"]["lut4"],
                    }
                )
            else:
                problems.append(
                    f"{unit['name']}: synth/records/{entry['record']}.json does not exist; run synth/synth.py --record"
                )
        rows.append(
            unit
            | {
                "faults": sum(record["faults"] for record in mutants),
                "faults_killed": sum(record["killed"] for record in mutants),
                "faults_equivalent": sum(len(record["equivalent"]) for record in mutants),
                "area": area,
            }
        )
    return rows, problems


def table(rows: list[dict]) -> str:
    lines = [
        "| unit | what | RTL and models | bench on RTL and netlist | injected faults killed | proof | iCE40 LUT4 |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        real = row["faults"] - row["faults_equivalent"]
        killed = f"{row['faults_killed']} of {real}" if row["faults"] else "none run"
        cycle_model = f", [SystemC]({row['systemc']})" if "systemc" in row else ""
        area = ", ".join(f"{item['ice40_lut4']} ({item['record']})" for item in row["area"])
        lines.append(
            f"| [{row['name']}]({row['page']}) | {row['does']} | [`{row['top']}`]({row['rtl']}), [C++]({row['golden']}){cycle_model} "
            f"| {'yes' if row['benches'] else 'no'} | {killed} | {'yes' if row['proofs'] else 'no'} | {area} |"
        )
    return "\n".join(lines) + (
        "\n\nInjected faults: those proven equivalent to the original are not counted. "
        "Area with its parameters and conditions: [docs/area.md](docs/area.md).\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    rows, problems = status()
    for problem in problems:
        print(problem, file=sys.stderr)
    if args.update or args.check:
        readme = ngflow.ROOT / "README.md"
        old = readme.read_text()
        if BEGIN not in old or END not in old:
            raise ngflow.FlowError(f"README.md lacks the markers '{BEGIN}' and '{END}'")
        head, rest = old.split(BEGIN, 1)
        new = head + BEGIN + "\n" + table(rows) + END + rest.split(END, 1)[1]
        if args.update:
            readme.write_text(new)
        elif new != old:
            print("README.md's status table is not what the data say; run verif/status.py --update", file=sys.stderr)
            return 1
    elif args.json:
        print(json.dumps(rows, indent=2))
    else:
        print(table(rows), end="")
    return 1 if problems else 0


if __name__ == "__main__":
    ngflow.run_main(main)
