# SPDX-License-Identifier: Apache-2.0
"""Compares verif/plan.toml with the tests that exist: check_plan.py CTEST BUILD_FOLDER"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OURS = ("rtl.", "netlist.", "mutants.", "proof.", "elab.", "lint.", "synth.", "systemc.", "plan")


def read_plan(text: str) -> tuple[dict[str, list[dict]], list[str]]:
    sections = tomllib.loads(text)
    problems = [
        f"plan.toml: {section}: item {item} is not exactly point, how and tests"
        for section, points in sections.items()
        for item in points
        if set(item) != {"point", "how", "tests"}
    ]
    return sections, problems


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    sections, problems = read_plan((ROOT / "verif" / "plan.toml").read_text())
    listing = subprocess.run(
        [sys.argv[1], "--test-dir", sys.argv[2], "--show-only=json-v1"], capture_output=True, text=True, check=True
    )
    tests = [test["name"] for test in json.loads(listing.stdout)["tests"] if test["name"].startswith(OURS)]
    named: set[str] = set()
    for section, points in sections.items():
        for pattern in (pattern for item in points for pattern in item.get("tests", [])):
            hits = [test for test in tests if re.fullmatch(pattern, test)]
            named.update(hits)
            if not hits:
                problems.append(f"plan.toml: {section}: no test matches {pattern}")
    problems += [f"test {test} is in no point of verif/plan.toml" for test in tests if test not in named]
    units = json.loads((ROOT / "synth" / "units.json").read_text())["units"]
    problems += [
        f"unit {unit['name']} of synth/units.json has no section in verif/plan.toml"
        for unit in units
        if unit["name"] not in sections
    ]
    # Every bench that the status table counts runs on RTL and netlist and against faults; every proof has its false twin.
    for unit in units:
        expected = [f"{rung}.{bench}" for bench in unit["benches"] for rung in ("rtl", "netlist", "mutants")]
        if "systemc" in unit and not any(re.fullmatch(rf"systemc[.]{unit['name']}(_.*)?", test) for test in tests):
            problems.append(
                f"unit {unit['name']} of synth/units.json has a cycle model and no test systemc.{unit['name']}"
            )
        expected += [name for proof in unit["proofs"] for name in (f"proof.{proof}", f"proof.{proof}.falsified")]
        problems += [
            f"unit {unit['name']} of synth/units.json needs the test {name}, which does not exist"
            for name in expected
            if name not in tests
        ]
    for problem in problems:
        print(problem)
    points = sum(map(len, sections.values()))
    print(f"plan: {points} points, {len(tests)} tests, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
