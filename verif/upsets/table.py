# SPDX-License-Identifier: Apache-2.0
"""The table of docs/upsets.md, from the recorded campaign verif/upsets/tiny.json.

    verif/upsets/table.py                       write the table into the page
    verif/upsets/table.py --check               fail if the page is not what the record says (ctest -R docs.upsets)
    verif/upsets/table.py --record PROGRAM      run the campaign again and record it; --flips and --seed choose another
    verif/upsets/table.py --compare PROGRAM     run the recorded campaign again; fail unless it gives the record (a deep test)

PROGRAM is build/bin/ng_upsets.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_name("tiny.json")
PAGE = ROOT / "docs" / "upsets.md"
OUTCOMES = ("no_effect", "silent_wrong", "error", "hang")


def campaign(program: Path, flips: int, seed: int) -> dict[str, Any]:
    command = [program, "--json", "--quiet", "--flips", str(flips), "--seed", str(seed)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def percent(share: list[float]) -> str:
    middle, low, high = (100 * value for value in share)
    return f"{middle:.1f} ({low:.1f} to {high:.1f})"


def table(record: dict[str, Any]) -> str:
    lines = ["| block | bits | no effect | silent wrong | error | hang |", "|---|---|---|---|---|---|"]
    rows = [(f"`{block['block']}`", block) for block in record["blocks"]] + [("all, by bits", record)]
    for name, row in rows:
        cells = " | ".join(percent(row["shares"][outcome]) for outcome in OUTCOMES)
        lines.append(f"| {name} | {row['bits']} | {cells} |")
    return "\n".join(lines) + "\n"


def page(record: dict[str, Any]) -> str:
    marks = r"(<!-- upsets: begin \(generated\) -->\n).*?(<!-- upsets: end -->\n)"
    text, count = re.subn(marks, lambda found: found[1] + table(record) + found[2], PAGE.read_text(), flags=re.S)
    if count != 1:
        sys.exit('table.py: docs/upsets.md has no place "upsets: begin (generated)"; expected one')
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare the page with the record")
    parser.add_argument("--record", type=Path, metavar="PROGRAM", help="run the campaign and record it")
    parser.add_argument("--compare", type=Path, metavar="PROGRAM", help="run the recorded campaign and compare")
    parser.add_argument("--flips", type=int, default=22000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    if args.record:
        RECORD.write_text(json.dumps(campaign(args.record, args.flips, args.seed), indent=1) + "\n")
    record = json.loads(RECORD.read_text())
    if args.compare:
        found = campaign(args.compare, record["flips"], record["seed"])
        wrong = [key for key in record if found.get(key) != record[key]]
        if wrong:
            print(f"upsets: {', '.join(wrong)} of the campaign are not as recorded; expected verif/upsets/tiny.json")
            return 1
        print(f"figures: {json.dumps({'flips': record['flips'], 'seed': record['seed']})}")
        return 0
    if args.check:
        if PAGE.read_text() != page(record):
            print("upsets: docs/upsets.md is not what the record says; run verif/upsets/table.py")
            return 1
        return 0
    PAGE.write_text(page(record))
    return 0


if __name__ == "__main__":
    sys.exit(main())
