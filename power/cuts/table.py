# SPDX-License-Identifier: Apache-2.0
"""Energy of units with cuts beside the same units without: docs/energy_cuts.md, from its text energy_cuts.md.in and power/cuts/records.

  power/cuts/table.py                 the page on stdout
  power/cuts/table.py --doc           write docs/energy_cuts.md
  power/cuts/table.py --check-doc     docs/energy_cuts.md is what comes out now (ctest -R power.cuts.page)

The units stand in power/cuts/units.json, in the form of power/units.json; these records are no part of the gauge's data, whose
fit describes units without cuts. Energies are joules per clock cycle in the records, pJ here.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ngtools import recorded

ROOT = Path(__file__).resolve().parents[2]
UNITS = Path(__file__).with_name("units.json")
RECORDS = Path(__file__).with_name("records") / "osu018.jsonl"
TEMPLATE = Path(__file__).with_name("energy_cuts.md.in")
PAGE = ROOT / "docs" / "energy_cuts.md"
# Without cuts first; others are compared with it.
GROUPS = (
    ("nvfp4_cell", "nvfp4_cell_cuts6", "nvfp4_cell_cuts15"),
    ("nvfp4_mac", "nvfp4_mac_cuts31_split32"),
    ("nvfp4_dot_16", "nvfp4_dot_16_cuts31"),
    ("bf16_fma", "bf16_fma_cuts85", "bf16_fma_cuts255"),
)
CUTS = ("CellCuts", "DotCuts", "Split", "Cuts")


def load(name: str) -> dict:
    found = recorded.read(RECORDS).get(name)
    if found is None:
        sys.exit(f"table.py: {RECORDS.relative_to(ROOT)} has no {name}; docs/energy_cuts.md says how to record it")
    return found


def glitches(sample: dict) -> float:
    """Transitions of all nets in a cycle beyond the settled ones."""
    return sample["L3"]["toggles"] - sample["L2"]["toggles"]


def fall(before: float, after: float) -> str:
    return f"{(after / before - 1) * 100:+.0f} %"


def rows(names: tuple[str, ...]) -> list[str]:
    base, lines = load(names[0]), []
    for name in names:
        record = load(name)
        cuts = ", ".join(f"{key} = {record['params'][key]}" for key in CUTS if record["params"].get(key)) or "none"
        for sample, before in zip(record["samples"], base["samples"], strict=True):
            energy, was = sample["L3"]["energy_j"], before["L3"]["energy_j"]
            own = name != names[0]
            cells = (
                f"`{record['top']}`",
                cuts,
                sample["stimulus"],
                str(record["cells"]),
                str(record["flip_flops"]),
                f"{record['period_s'] * 1e9:.1f}",
                f"{sample['L2']['energy_j'] * 1e12:.0f}",
                f"{energy * 1e12:.0f}" + (f" ({fall(was, energy)})" if own else ""),
                f"{sample['L3']['clock_j'] * 1e12:.0f}",
                f"{glitches(sample):.0f}" + (f" ({fall(glitches(before), glitches(sample))})" if own else ""),
                f"{sample['glitch_factor']:.2f}",
            )
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def page() -> str:
    table = "\n".join(line for names in GROUPS for line in rows(names))
    tools = ", ".join(load(GROUPS[0][0])["tools"])
    return TEMPLATE.read_text().format(table=table, tools=tools)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--doc", action="store_true", help="write docs/energy_cuts.md")
    parser.add_argument(
        "--check-doc",
        action="store_true",
        help="fail if docs/energy_cuts.md is not what --doc would write",
    )
    args = parser.parse_args()
    if args.check_doc:
        units = {unit["name"] for unit in json.loads(UNITS.read_text())["units"]}
        if units != {name for names in GROUPS for name in names}:
            print("power/cuts/units.json and the groups of power/cuts/table.py name other units")
            return 1
        if not PAGE.exists() or PAGE.read_text() != page():
            print("docs/energy_cuts.md is not what the records say; run power/cuts/table.py --doc")
            return 1
        print("docs/energy_cuts.md is what the records say")
        return 0
    if args.doc:
        PAGE.write_text(page())
    else:
        print(page(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
