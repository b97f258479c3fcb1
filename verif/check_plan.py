# SPDX-License-Identifier: Apache-2.0
"""Compares the test plan (verif/plan.toml and the points of the units' records) with the tests that exist.

check_plan.py CTEST BUILD_FOLDER
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib

from ngtools.ngflow import ROOT, run_main
from ngtools.records import NOT_DESCRIBED, Unit, read_units

OURS = (
    "rtl.",
    "netlist.",
    "mutants.",
    "bitstream.",
    "proof.",
    "elab.",
    "lint.",
    "synth.",
    "systemc.",
    "ledger.",
    "fusesoc.",
    "docs.",
    "plan",
)


def unit_problems(unit: Unit) -> list[str]:
    """What the status table takes for granted."""
    problems = [] if unit.plan else [f"{unit.rtl}: the record has no point of the test plan"]
    if unit.does == NOT_DESCRIBED:
        problems.append(
            f"{unit.rtl}: the record's does is '{unit.does}', as tools/new_unit.py left it; say what the unit does"
        )
    for item in unit.having("mutants"):
        problems += [
            f"configuration {item.name} of {unit.top} has injected faults but not the face {face}"
            for face in ("rtl", "netlist")
            if face not in item.faces
        ]
    if unit.proofs and not any(proof.falsify for proof in unit.proofs):
        problems.append(f"no proof of {unit.top} has a false twin (falsify)")
    return problems


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    units = read_units()
    plan = {"verif/plan.toml": tomllib.loads((ROOT / "verif" / "plan.toml").read_text())["all"]}
    plan |= {f"rtl/{unit.family}/{unit.path.name}": unit.plan for unit in units}
    problems = [problem for unit in units for problem in unit_problems(unit)]
    listing = subprocess.run(
        [sys.argv[1], "--test-dir", sys.argv[2], "-C", "deep", "--show-only=json-v1"],
        capture_output=True,
        text=True,
        check=True,
    )
    # A sweep is the same bench with more vectors, a few faults are some of the many.
    tests = [
        re.sub(r"[.](sweep|few)$", "", test["name"])
        for test in json.loads(listing.stdout)["tests"]
        if test["name"].startswith(OURS)
    ]
    named: set[str] = set()
    for where, points in plan.items():
        for item in points:
            if set(item) != {"point", "how", "tests"}:
                problems.append(f"{where}: point {item} is not exactly point, how and tests")
            for pattern in item.get("tests", []):
                hits = [test for test in tests if re.fullmatch(pattern, test)]
                named.update(hits)
                if not hits:
                    problems.append(f"{where}: no test matches {pattern}")
    problems += [f"test {test} is in no point of the test plan" for test in tests if test not in named]
    for problem in problems:
        print(problem)
    points = sum(map(len, plan.values()))
    print(f"plan: {points} points, {len(tests)} tests, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    run_main(main)
