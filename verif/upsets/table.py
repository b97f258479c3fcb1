# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/upsets.md and the figures of its text, from recorded campaigns, a file for each tile beside this one.

    verif/upsets/table.py                       write tables and figures into the page
    verif/upsets/table.py --check               fail if the page is not what the records say (ctest -R docs.upsets)
    verif/upsets/table.py --record PROGRAM      run the campaign again and record it; --flips, --seed and --seeds choose another
    verif/upsets/table.py --record FILE.json    record what PROGRAM --json printed
    verif/upsets/table.py --compare PROGRAM     run parts of the recorded campaign again, see below (a deep test)

PROGRAM is build/bin/ng_upsets or build/bin/ng_upsets_protect, which names its tile. A campaign is the sum of parts, a seed each,
which its record keeps by themselves. --compare runs the first and the last of them, or with --parts as many of the first as that
says, and fails unless each gives its part of the record. It also fails unless the parts sum up to the table.
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


def campaign(program: Path, flips: int, seed: int, seeds: int = 1) -> dict[str, Any]:
    """`flips`: of each seed."""
    command = [program, "--json", "--quiet", "--flips", str(flips), "--seed", str(seed), "--seeds", str(seeds)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def write_record(found: dict[str, Any]) -> None:
    """As JSON, a part a line."""
    table = json.dumps({key: value for key, value in found.items() if key != "parts"}, indent=1)
    parts = ",\n".join(f"  {json.dumps(part)}" for part in found["parts"])
    record_of(found["tile"]).write_text(f'{table.removesuffix("}").rstrip()},\n "parts": [\n{parts}\n ]\n}}\n')


def faults_of_sum(record: dict[str, Any]) -> list[str]:
    """Blocks whose counts are not the sum of the parts'."""
    keys = (*OUTCOMES, "not_recovered")
    return [
        block["block"]
        for block in record["blocks"]
        if [sum(counts) for counts in zip(*(part["blocks"][block["block"]] for part in record["parts"]), strict=True)]
        != [block[key] for key in keys]
    ]


def compare(program: Path, parts: int | None) -> int:
    tile = campaign(program, 1, 1)["tile"]
    record = json.loads(record_of(tile).read_text())
    if wrong := faults_of_sum(record):
        print(f"upsets: {', '.join(wrong)} of verif/upsets/{tile}.json is not the sum of its parts; record it again")
        return 1
    flips = record["flips"] // record["seeds"]
    chosen = record["parts"][:parts] if parts else [record["parts"][0], record["parts"][-1]]
    for part in chosen:
        found = campaign(program, flips, part["seed"])
        wrong = [key for key in ("cycles", "bits") if found[key] != record[key]]
        wrong += [name for name, counts in part["blocks"].items() if found["parts"][0]["blocks"].get(name) != counts]
        if wrong:
            print(
                f"upsets: {', '.join(wrong)} of seed {part['seed']} are not as recorded; expected verif/upsets/{tile}.json"
            )
            return 1
    seeds = [part["seed"] for part in chosen]
    print(f"figures: {json.dumps({'flips': len(seeds) * flips, 'recorded_flips': record['flips'], 'seeds': seeds})}")
    return 0


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


def silent(record: dict[str, Any]) -> float:
    return float(record["shares"]["silent_wrong"][0])


def number(value: int) -> str:
    return f"{value:,}".replace(",", " ")


def summary(plain: dict[str, Any], protect: dict[str, Any]) -> str:
    return (
        f"Without protection {100 * silent(plain):.1f} % of all flips are silently wrong, and with "
        f"[parity](units/tile.md#parity) of banks and queues {100 * silent(protect):.1f} %.\n"
        f"The tables count {number(plain['flips'] + protect['flips'])} flips in running RTL.\n"
    )


def runs(plain: dict[str, Any], protect: dict[str, Any]) -> str:
    lines = [
        f"The first table has {number(plain['flips'])} runs, {number(plain['blocks'][0]['flips'])} a row, and the second one "
        f"{number(protect['flips'])}, {number(protect['blocks'][0]['flips'])} a row.",
        f"They are campaigns of {plain['seeds']} and of {protect['seeds']} seeds, each with operands of its own.",
    ]
    return "\n".join(lines) + "\n"


def recovered(plain: dict[str, Any], protect: dict[str, Any]) -> str:
    told = sum(block["error"] + block["hang"] for record in (plain, protect) for block in record["blocks"])
    left = sum(record["not_recovered"] for record in (plain, protect))
    blocks = sorted({b["block"] for record in (plain, protect) for b in record["blocks"] if b["not_recovered"]})
    where = ", ".join(f"`{name}`" for name in blocks)
    return (
        f"Of {number(told)} errors and hangs, a soft reset by the driver was followed by right products in all but {number(left)}.\n"
        f"Those were flips in {where}.\n"
    )


def factor(plain: dict[str, Any], protect: dict[str, Any]) -> str:
    return f"Parity reduces silent errors of this tile by a factor of {silent(plain) / silent(protect):.0f}.\n"


def page() -> str:
    text = PAGE.read_text()
    records = [json.loads(record_of(tile).read_text()) for tile in TILES]
    pieces = dict(zip(TILES, map(table, records), strict=True))
    pieces |= {write.__name__: write(*records) for write in (summary, runs, recovered, factor)}
    for name, made in pieces.items():
        marks = rf"(<!-- upsets {name}: begin \(generated\) -->\n).*?(<!-- upsets {name}: end -->\n)"
        text, count = re.subn(marks, lambda found, made=made: found[1] + made + found[2], text, flags=re.S)
        if count != 1:
            sys.exit(f'table.py: docs/upsets.md has no place "upsets {name}: begin (generated)"; expected one')
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare the page with the record")
    parser.add_argument(
        "--record", type=Path, metavar="PROGRAM", help="run the campaign and record it, or record a file"
    )
    parser.add_argument(
        "--compare", type=Path, metavar="PROGRAM", help="run parts of the recorded campaign and compare"
    )
    parser.add_argument("--parts", type=int, help="of --compare: how many of the first parts")
    parser.add_argument("--flips", type=int, default=25000, help="of each seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=20)
    args = parser.parse_args()
    if args.record:
        ready = args.record.suffix == ".json"
        write_record(
            json.loads(args.record.read_text()) if ready else campaign(args.record, args.flips, args.seed, args.seeds)
        )
    if args.compare:
        return compare(args.compare, args.parts)
    if args.check:
        if PAGE.read_text() != page():
            print("upsets: docs/upsets.md is not what the records say; run verif/upsets/table.py")
            return 1
        return 0
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
