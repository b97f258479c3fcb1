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
from collections.abc import Callable
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
STIMULI = ("uniform", "gauss", "digits")  # or Gaussian operands alone


def load(name: str) -> dict:
    found = recorded.read(RECORDS).get(name)
    if found is None:
        sys.exit(f"table.py: {RECORDS.relative_to(ROOT)} has no {name}; docs/energy_cuts.md says how to record it")
    return found


def glitches(sample: dict) -> float:
    """Transitions of all nets in a cycle beyond the settled ones."""
    return sample["L3"]["toggles"] - sample["L2"]["toggles"]


def falls(before: list[float], after: list[float]) -> str:
    """The change on each stimulus, as a range."""
    changes = {round((new / old - 1) * 100) for old, new in zip(before, after, strict=True)}
    ends = sorted({min(changes), max(changes)})
    return f" ({' to '.join(f'{end:+}' for end in ends)} %)"


def rows(names: tuple[str, ...]) -> list[str]:
    base, lines = load(names[0]), []
    for name in names:
        record = load(name)
        cuts = ", ".join(f"{key} = {record['params'][key]}" for key in CUTS if record["params"].get(key)) or "none"
        samples, before = record["samples"], base["samples"]
        if [sample["stimulus"] for sample in samples] not in (list(STIMULI), ["gauss"]):
            sys.exit(f"table.py: the record of {name} has other stimuli than {', '.join(STIMULI)}")

        def each(form: str, figure: Callable[[dict], float], samples: list[dict] = samples) -> str:
            return "/".join(format(figure(sample), form) for sample in samples)

        own = name != names[0]
        cells = (
            f"`{record['top']}`",
            cuts,
            str(record["cells"]),
            str(record["flip_flops"]),
            f"{record['period_s'] * 1e9:.1f}",
            each(".0f", lambda sample: sample["L2"]["energy_j"] * 1e12),
            each(".0f", lambda sample: sample["L3"]["energy_j"] * 1e12)
            + (
                falls([old["L3"]["energy_j"] for old in before], [new["L3"]["energy_j"] for new in samples])
                if own
                else ""
            ),
            f"{samples[0]['L3']['clock_j'] * 1e12:.0f}",
            each(".0f", glitches) + (falls(list(map(glitches, before)), list(map(glitches, samples))) if own else ""),
            each(".2f", lambda sample: sample["glitch_factor"]),
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
