# SPDX-License-Identifier: Apache-2.0
"""The PANN paper's figures, and beside each what bits and gates do: docs/pann.md, from its text pann.md.in and the figures.

  power/pann/table.py                 the page on stdout
  power/pann/table.py --doc           write docs/pann.md
  power/pann/table.py --check-doc     docs/pann.md is what comes out now (ctest -R power.pann_page)

Rungs: the paper's closed forms (power/features/internal/features/paper.hpp) and L1, counted in the golden flip models and in
the Verilated units, come from the program ng_pann_flips; L2 (transitions and energy of mapped netlists, zero delay) and L3
(with delays) from the records of tools/ngtools/power/characterize.py.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from ngtools import recorded

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "power" / "records" / "osu018.jsonl"
TEMPLATE = Path(__file__).with_name("pann.md.in")
PAGE = ROOT / "docs" / "pann.md"
SIGNED = {"uniform": "uniform", "normal": "gauss", "digits": "digits"}
UNSIGNED = {"uniform": "uniform", "normal": "half_normal", "digits": "digits"}
POINTS = (("pann_x6_r1", 2), ("pann_x6_r2", 3), ("pann_x7_r3", 4))


class Figures:
    def __init__(self, program: Path):
        try:
            text = subprocess.run(
                [program, ROOT / "power" / "units.json"], capture_output=True, text=True, check=True
            ).stdout
        except FileNotFoundError:
            sys.exit(
                f"table.py: program {program} is missing; build it (cmake --build build --target ng_pann_flips) or give --program"
            )
        except subprocess.CalledProcessError as error:
            sys.exit(f"table.py: {error.stderr.strip()}")
        self.l1 = json.loads(text)
        self.records = recorded.read(RECORDS)

    def sample(self, unit: str, stimulus: str) -> dict:
        if unit not in self.records:
            sys.exit(
                f"table.py: {RECORDS.relative_to(ROOT)} has no {unit}; "
                f"run tools/ngtools/power/characterize.py --record --units {unit}"
            )
        record = self.records[unit]
        found = next((s for s in record["samples"] if s["stimulus"] == stimulus), None)
        if found is None:
            sys.exit(f"table.py: the record of {unit} has no stimulus {stimulus}; record it again")
        return {**found, "macs": record["macs_per_cycle"], "cells": record["cells"], "flip_flops": record["flip_flops"]}

    def toggles(self, unit: str, stimulus: str, rung: str = "L2") -> float:
        """Transitions of all nets per multiply-accumulate."""
        sample = self.sample(unit, stimulus)
        return sample[rung]["toggles"] / sample["macs"]

    def energy(self, unit: str, stimulus: str, rung: str, clock: bool = True) -> float:
        """Picojoule per multiply-accumulate."""
        sample = self.sample(unit, stimulus)
        joule = sample[rung]["energy_j"] - (0 if clock else sample[rung]["clock_j"])
        return joule * 1e12 / sample["macs"]

    def flips(self, source: str, unit: str, stimulus: str, place: str = "total") -> float | None:
        return self.l1[source].get(unit, {}).get(stimulus, {}).get(place)


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(
        ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)] + ["| " + " | ".join(row) + " |" for row in rows]
    )


def number(value: float | None, digits: int = 1) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}%"


def pair(first: float | None, second: float | None, digits: int = 1) -> str:
    """signed / unsigned (saving)"""
    if first is None or second is None:
        return ""
    saving = f" ({percent(1 - second / first)})" if second < 3 * first else ""  # of next to nothing there is no share
    return f"{first:.{digits}f} / {second:.{digits}f}{saving}"


def split_table(f: Figures, kind: str) -> str:
    """A column without figures is left out, and the formulas, which are the same for all operands, stand in the first table."""
    titles = ["b", "paper", "L1 golden", "L1 RTL", "L2 transitions", "L2 pJ without clock", "L2 pJ", "L3 pJ"]
    rows = []
    for mac in f.l1["paper"]["macs"]:
        b = mac["b"]
        if b == 5:
            continue
        plain, split = f"int{b}_mac_array", f"split{b}_mac_sorted"
        s, u = SIGNED[kind], UNSIGNED[kind]
        rows.append(
            [
                str(b),
                pair(mac["signed"], mac["unsigned"]) if kind == "uniform" else "",
                pair(f.flips("model", plain, s), f.flips("model", split, u)),
                pair(f.flips("rtl", plain, s), f.flips("rtl", split, u)),
                pair(f.toggles(plain, s), f.toggles(split, u)),
                pair(f.energy(plain, s, "L2", False), f.energy(split, u, "L2", False)),
                pair(f.energy(plain, s, "L2"), f.energy(split, u, "L2")),
                pair(f.energy(plain, s, "L3"), f.energy(split, u, "L3")),
            ]
        )
    columns = [column for column in zip(titles, *rows, strict=True) if any(column[1:])]
    head, *lines = (list(line) for line in zip(*columns, strict=True))
    return table(head, lines)


def share_table(f: Figures) -> str:
    rows = []
    for mac in f.l1["paper"]["macs"]:
        b = mac["b"]
        if b == 5:
            continue
        unit = f"int{b}_mac_array"

        def share(source: str, stimulus: str, unit: str = unit) -> float | None:
            total = f.flips(source, unit, stimulus)
            return None if total is None else f.flips(source, unit, stimulus, "accumulator_input") / total

        rows.append(
            [
                str(b),
                percent(mac["accumulator_input_share"]),
                percent(share("model", "uniform")),
                percent(share("rtl", "uniform")),
            ]
            + [percent(share("model", "gauss")), percent(share("rtl", "gauss"))]
        )
    return table(["b", "paper", "uniform, golden", "uniform, RTL", "Gaussian, golden", "Gaussian, RTL"], rows)


def schedule_table(f: Figures) -> str:
    rows = []
    for b in (4, 8):
        units = {"plain, signed": f"int{b}_mac_array", "unsigned, no signs at all": f"uint{b}_mac_array"}
        units |= {schedule: f"split{b}_mac_{schedule}" for schedule in ("sorted", "dual", "muxed")}
        for name, unit in units.items():

            def accumulator(source: str, unit: str = unit) -> float | None:
                parts = [
                    f.flips(source, unit, "uniform", k) for k in ("accumulator_input", "steering", "sum", "register")
                ]
                return None if None in parts else sum(parts)

            sample = f.sample(unit, "uniform")
            rows.append(
                [
                    str(b),
                    name,
                    number(accumulator("model")),
                    number(accumulator("rtl")),
                    number(f.toggles(unit, "uniform")),
                ]
                + [number(f.energy(unit, "uniform", rung)) for rung in ("L2", "L3")]
                + [str(sample["cells"]), str(sample["flip_flops"])]
            )
    return table(
        [
            "b",
            "schedule",
            "accumulator, golden",
            "accumulator, RTL",
            "L2 transitions",
            "L2 pJ",
            "L3 pJ",
            "cells",
            "flip-flops",
        ],
        rows,
    )


def mixed_table(f: Figures) -> str:
    names = (
        ("paper", None),
        ("array, w multiplicand", "array"),
        ("array, swapped", "array_swapped"),
        ("array that fits", "array_fitting"),
        ("Booth, x recoded", "booth_x"),
        ("Booth, w recoded", "booth_w"),
        ("unsigned array", "unsigned"),
        ("unsigned, fits", "unsigned_fitting"),
    )
    rows = []
    for paper, counted in zip(f.l1["paper"]["mixed"], f.l1["mixed"], strict=True):
        w = paper["w"]
        unit = "int8_mac_array" if w == 8 else f"int8x{w}_mac_array"
        rows.append(
            [str(w), number(paper["multiplier"])]
            + [" / ".join(number(counted[k]) for k in (key, f"{key}_nets") if k in counted) for _, key in names[1:]]
            + [number(f.toggles(unit, "uniform"))]
        )
    return table(["w bits", *(name for name, _ in names), "L2, whole MAC that fits"], rows)


def power_table(f: Figures, stimulus: str) -> str:
    rows = []
    for unit, b in POINTS:
        reference = f"split{b}_mac_sorted"
        paper = f.l1["model"][unit]["paper"]

        def ratio(mine: float | None, theirs: float | None) -> str:
            return "" if mine is None or theirs is None else f"{mine:.1f} ({mine / theirs:.2f})"

        mac = next(m for m in f.l1["paper"]["macs"] if m["b"] == b)
        rows.append(
            [
                f"{b}",
                f"{unit[6]}, {f.l1['model'][unit][stimulus]['additions']:.2f}",
                ratio(paper, mac["unsigned"]),
                ratio(f.flips("model", unit, stimulus), f.flips("model", reference, stimulus)),
                ratio(f.flips("rtl", unit, stimulus), f.flips("rtl", reference, stimulus)),
                ratio(f.toggles(unit, stimulus), f.toggles(reference, stimulus)),
                ratio(f.energy(unit, stimulus, "L2"), f.energy(reference, stimulus, "L2")),
                ratio(f.energy(unit, stimulus, "L3"), f.energy(reference, stimulus, "L3")),
            ]
        )
    return table(
        ["budget b", "bx, R achieved", "paper", "L1 golden", "L1 RTL", "L2 transitions", "L2 pJ", "L3 pJ"], rows
    )


def signed_ratio(f: Figures) -> str:
    """PANN against the plain signed MAC of the same budget."""
    rows = []
    for unit, b in POINTS:
        plain = f"int{b}_mac_array"
        row = [str(b)]
        for mine, theirs in (("uniform", "uniform"), ("half_normal", "gauss")):
            row += [f"{f.toggles(unit, mine) / f.toggles(plain, theirs):.2f}"]
            row += [f"{f.energy(unit, mine, rung) / f.energy(plain, theirs, rung):.2f}" for rung in ("L2", "L3")]
        rows.append(row)
    kinds = [
        f"{kind}: {what}" for kind in ("uniform", "normal") for what in ("L2 transitions", "L2 energy", "L3 energy")
    ]
    return table(["budget b", *kinds], rows)


def counter(f: Figures) -> str:
    return ", ".join(number(f.flips("rtl", unit, "uniform", "counter")) for unit, _ in POINTS)


def theory_table(f: Figures) -> str:
    return table(
        ["budget b", "bx", "R", "error of regular quantization / PANN's"],
        [
            [str(t["b"]), str(t["x_width"]), number(t["additions"], 2), number(t["error_ratio"], 2)]
            for t in f.l1["theory"]
        ],
    )


def verdict(f: Figures) -> str:
    """The ratio of PANN and unsigned MAC at the same budget, in words, from the figures."""

    def span(ratios: list[float]) -> str:
        return f"{min(ratios):.2f} to {max(ratios):.2f}"

    pairs = [(unit, f"split{b}_mac_sorted", s) for unit, b in POINTS for s in ("uniform", "half_normal")]
    l1 = span([f.flips("model", u, s) / f.flips("model", r, s) for u, r, s in pairs])
    l2 = span([f.toggles(u, s) / f.toggles(r, s) for u, r, s in pairs])
    e2 = span([f.energy(u, s, "L2") / f.energy(r, s, "L2") for u, r, s in pairs])
    e3 = span([f.energy(u, s, "L3") / f.energy(r, s, "L3") for u, r, s in pairs])
    return (
        "The formula gives both the same power.\n"
        f"In the paper's own places a PANN element flips {l1} times as many bits as an unsigned multiply-accumulate.\n"
        f"It flips {l2} times as many nets, and takes {e2} times the energy without glitches, {e3} times with them."
    )


def page(f: Figures) -> str:
    dual = f.l1["model"]["split8_mac_dual"]["uniform"]
    return TEMPLATE.read_text().format(
        cycles=f.l1["cycles"],
        split_uniform=split_table(f, "uniform"),
        split_normal=split_table(f, "normal"),
        split_digits=split_table(f, "digits"),
        shares=share_table(f),
        schedules=schedule_table(f),
        no_signs=", ".join(
            pair(f.toggles(f"int{b}_mac_array", "uniform"), f.toggles(f"uint{b}_mac_array", "uniform")) for b in (4, 8)
        ),
        latches=number(2 * dual["accumulator_input"] + 2 * dual["sum"]),
        mixed=mixed_table(f),
        power_uniform=power_table(f, "uniform"),
        power_normal=power_table(f, "half_normal"),
        verdict=verdict(f),
        against_signed=signed_ratio(f),
        counter=counter(f),
        theory=theory_table(f),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "bin" / "ng_pann_flips")
    parser.add_argument("--doc", action="store_true", help="write docs/pann.md")
    parser.add_argument("--check-doc", action="store_true", help="compare docs/pann.md")
    options = parser.parse_args()
    text = page(Figures(options.program))
    if options.doc:
        PAGE.write_text(text)
    elif options.check_doc:
        if not PAGE.exists() or PAGE.read_text() != text:
            print("docs/pann.md is not what power/pann/table.py makes; run power/pann/table.py --doc", file=sys.stderr)
            return 1
    else:
        print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
