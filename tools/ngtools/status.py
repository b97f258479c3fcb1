# SPDX-License-Identifier: Apache-2.0
"""The status of the units: what their records say, and what was measured (synth/records, verif/ledger). A record of a
measurement that does not exist is an error, not an empty cell.

  status.py              print the table (Markdown; tools/ngtools/generate.py puts it into README.md)
  status.py --json       the same as data, for `narrowgauge units`
"""

from __future__ import annotations

import argparse
import json
import sys

from ngtools import ngflow
from ngtools.records import Unit, read_units


def described(unit: Unit) -> dict:
    """A unit and its faces."""
    row = {
        "name": unit.name,
        "family": unit.family,
        "top": unit.top,
        "does": unit.does,
        "rtl": unit.rtl,
        "golden": unit.golden,
    }
    if unit.has_cycle_model:
        row["systemc"] = unit.systemc
    return row | {
        "page": unit.page,
        "benches": [item.name for item in unit.having("mutants")],
        "proofs": [proof.name for proof in unit.proofs] + unit.proven_by,
        "synth": [{"record": item.name, "params": item.params} | item.faces["area"] for item in unit.having("area")],
    }


def status() -> tuple[list[dict], list[str]]:
    rows, problems = [], []
    for unit in map(described, read_units()):
        mutants, area = [], []
        for bench in unit["benches"]:
            path = ngflow.ROOT / "verif" / "ledger" / f"mutants.{bench}.json"
            if path.is_file():
                mutants.append(json.loads(path.read_text())["figures"])
            else:
                problems.append(f"{unit['name']}: {ngflow.from_root(path)} does not exist; run make renew")
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
                    f"{unit['name']}: {ngflow.from_root(path)} does not exist; run synth/synth.py --record {entry['record']}"
                )
        rows.append(
            unit
            | {
                "faults": sum(record["faults"] for record in mutants),
                "faults_killed": sum(record["killed"] for record in mutants),
                "faults_equivalent": sum(sum(record["equivalent"].values()) for record in mutants),
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
    args = parser.parse_args()
    rows, problems = status()
    for problem in problems:
        print(problem, file=sys.stderr)
    print(json.dumps(rows, indent=2) if args.json else table(rows), end="\n" if args.json else "")
    return 1 if problems else 0


if __name__ == "__main__":
    ngflow.run_main(main)
