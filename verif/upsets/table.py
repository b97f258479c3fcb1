# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/upsets.md, from recorded campaigns, a file for each tile beside this one.

    verif/upsets/table.py                       write the tables into the page
    verif/upsets/table.py --check               fail if the page is not what the records say (ctest -R docs.upsets)
    verif/upsets/table.py --record PROGRAM      run the campaign again and record it; --flips and --seed choose another
    verif/upsets/table.py --compare PROGRAM     run the recorded campaign again; fail unless it gives the record (a deep test)

PROGRAM is build/bin/ng_upsets or build/bin/ng_upsets_protect, which names its tile.
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
FOLDER = Path(__file__).parent
TILES = ("tiny", "tiny_protect")
PAGE = ROOT / "docs" / "upsets.md"
OUTCOMES = ("no_effect", "silent_wrong", "error", "hang")


def record_of(tile: str) -> Path:
    return FOLDER / f"{tile}.json"


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


def page() -> str:
    text = PAGE.read_text()
    for tile in TILES:
        made = table(json.loads(record_of(tile).read_text()))
        marks = rf"(<!-- upsets {tile}: begin \(generated\) -->\n).*?(<!-- upsets {tile}: end -->\n)"
        text, count = re.subn(marks, lambda found, made=made: found[1] + made + found[2], text, flags=re.S)
        if count != 1:
            sys.exit(f'table.py: docs/upsets.md has no place "upsets {tile}: begin (generated)"; expected one')
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
        found = campaign(args.record, args.flips, args.seed)
        record_of(found["tile"]).write_text(json.dumps(found, indent=1) + "\n")
    if args.compare:
        tile = campaign(args.compare, 1, 1)["tile"]
        record = json.loads(record_of(tile).read_text())
        found = campaign(args.compare, record["flips"], record["seed"])
        wrong = [key for key in record if found.get(key) != record[key]]
        if wrong:
            print(f"upsets: {', '.join(wrong)} of the campaign are not as recorded; expected verif/upsets/{tile}.json")
            return 1
        print(f"figures: {json.dumps({'flips': record['flips'], 'seed': record['seed']})}")
        return 0
    if args.check:
        if PAGE.read_text() != page():
            print("upsets: docs/upsets.md is not what the records say; run verif/upsets/table.py")
            return 1
        return 0
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
