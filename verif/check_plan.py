# SPDX-License-Identifier: Apache-2.0
"""Compares verif/plan.yaml with the tests that exist: check_plan.py CTEST BUILD_FOLDER

The plan uses a small part of YAML (sections of items with the keys point, how, tests), read here without a library."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OURS = ("rtl.", "netlist.", "mutants.", "proof.", "elab.", "lint.", "synth.", "plan")


def read_plan(text: str) -> tuple[dict[str, list[dict]], list[str]]:
    sections: dict[str, list[dict]] = {}
    problems: list[str] = []
    items: list[dict] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if section := re.fullmatch(r"(\w+):", line):
            items = sections.setdefault(section.group(1), [])
        elif entry := re.fullmatch(r"  (- |  )(point|how|tests): (.+)", line):
            if entry.group(1) == "- ":
                items.append({})
            if not items:
                problems.append(f"plan.yaml:{number}: key before the first item")
                continue
            key, value = entry.group(2), entry.group(3)
            items[-1][key] = [name.strip().strip('"') for name in value.strip("[]").split(",")] if key == "tests" else value
        else:
            problems.append(f"plan.yaml:{number}: not understood: {line.strip()}")
    for section, points in sections.items():
        problems += [f"plan.yaml: {section}: item {item} lacks one of point, how, tests" for item in points if set(item) != {"point", "how", "tests"}]
    return sections, problems


def main() -> int:
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    sections, problems = read_plan((ROOT / "verif" / "plan.yaml").read_text())
    listing = subprocess.run([sys.argv[1], "--test-dir", sys.argv[2], "--show-only=json-v1"], capture_output=True, text=True, check=True)
    tests = [test["name"] for test in json.loads(listing.stdout)["tests"] if test["name"].startswith(OURS)]
    named: set[str] = set()
    for section, points in sections.items():
        for pattern in (pattern for item in points for pattern in item.get("tests", [])):
            hits = [test for test in tests if re.fullmatch(pattern, test)]
            named.update(hits)
            if not hits:
                problems.append(f"plan.yaml: {section}: no test matches {pattern}")
    problems += [f"test {test} is in no point of verif/plan.yaml" for test in tests if test not in named]
    units = json.loads((ROOT / "synth" / "units.json").read_text())["units"]
    problems += [f"unit {unit['name']} of synth/units.json has no section in verif/plan.yaml" for unit in units if unit["name"] not in sections]
    # Every bench that the status table counts runs on RTL and netlist and against faults; every proof has its false twin.
    for unit in units:
        expected = [f"{rung}.{bench}" for bench in unit["benches"] for rung in ("rtl", "netlist", "mutants")]
        expected += [name for proof in unit["proofs"] for name in (f"proof.{proof}", f"proof.{proof}.falsified")]
        problems += [f"unit {unit['name']} of synth/units.json needs the test {name}, which does not exist" for name in expected if name not in tests]
    for problem in problems:
        print(problem)
    points = sum(map(len, sections.values()))
    print(f"plan: {points} points, {len(tests)} tests, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
