# SPDX-License-Identifier: Apache-2.0
"""Energies of the open libraries beside osu018's, and their ratios to INT8: docs/energy_nodes.md, from power/records.

    tools/ngtools/power/nodes.py                 the table
    tools/ngtools/power/nodes.py --json          the same in SI units
    tools/ngtools/power/nodes.py --doc           write docs/energy_nodes.md and the ratios in README.md
    tools/ngtools/power/nodes.py --check-doc     both are up to date

Everything is read from records, so no Liberty file is needed.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass

from ngtools import recorded
from ngtools.generate import between
from ngtools.ngflow import ROOT
from ngtools.power import library, recipes
from ngtools.power.characterize import RECORDS, earlier_design, per_cycle
from ngtools.power.ladder import table
from ngtools.prose import a_sentence_a_line

PAGE = ROOT / "docs" / "energy_nodes.md"
README = ROOT / "README.md"
TECHNOLOGIES = ("osu018", "sky130hd", "sg13g2", "asap7")
REFERENCE = "int8_mac_wallace_16_pipelined"
COMPARED = "nvfp4_mac_16"  # under each recipe, to the reference
SPARSE, DENSE = "nvfp4_sparse_mac_32", "nvfp4_dense_mac_16"
# What a row is called, and the stimulus that it is compared under.
UNITS = {
    REFERENCE: ("INT8, 16 lanes, Wallace, pipelined", "gauss"),
    "int4_mac_wallace_16_pipelined": ("INT4, 16 lanes, Wallace, pipelined", "gauss"),
    "nvfp4_mac_16": ("NVFP4, 16 lanes", "gauss"),
    "mxfp4_mac_pipelined": ("MXFP4, 32 lanes, pipelined", "gauss"),
    "luq_mac_16": ("LUQ, 16 lanes", "gauss"),
    "fp8_e4m3_mac_16": ("FP8 E4M3, 16 lanes", "gauss"),
    "fp8_e5m2_mac_16": ("FP8 E5M2, 16 lanes", "gauss"),
    DENSE: ("NVFP4 dense, for the row below", "uniform"),
    SPARSE: ("NVFP4 2:4 sparse, a logical product", "uniform"),
}


class Nodes:
    def __init__(self) -> None:
        self.records = {name: recorded.read(RECORDS / f"{name}{recorded.SUFFIX}") for name in TECHNOLOGIES}

    def energy(self, technology: str, unit: str, rung: str) -> float | None:
        """Joules of a multiply-accumulate."""
        record = self.records[technology].get(unit)
        found = [s for s in record["samples"] if s["stimulus"] == UNITS[unit][1]] if record else []
        return found[0][rung]["energy_j"] / record[per_cycle(record)] if record and found else None

    def ratio(self, technology: str, unit: str, rung: str) -> float | None:
        """To INT8; of the sparse unit to the dense one."""
        mine = self.energy(technology, unit, rung)
        other = self.energy(technology, DENSE if unit == SPARSE else REFERENCE, rung)
        return mine / other if mine and other and unit != DENSE else None

    def physical(self, technology: str, unit: str) -> dict | None:
        record = self.records[technology].get(unit)
        if record is None:
            return None
        leakage = record["samples"][0]["L3"]["leakage_w"]
        kept = {key: record.get(key) for key in ("path_s", "period_s", "area_m2", "cells")}
        return kept | {"leakage_w": leakage, "earlier": earlier(technology, record)}

    def rows(self) -> list[dict]:
        rows = []
        for unit, (title, stimulus) in UNITS.items():
            row: dict = {"unit": unit, "title": title, "stimulus": stimulus, "technologies": {}}
            for technology in TECHNOLOGIES:
                if physical := self.physical(technology, unit):
                    of = {
                        f"{rung}_{what}": value
                        for rung in ("L2", "L3")
                        for what, value in (
                            ("energy_j", self.energy(technology, unit, rung)),
                            ("ratio", self.ratio(technology, unit, rung)),
                        )
                    }
                    row["technologies"][technology] = of | physical
            rows.append(row)
        return rows


@dataclass(frozen=True)
class Mapped:
    """The reference and the unit that is compared with it, in one technology by one recipe, at L3."""

    technology: str
    recipe: str
    records: tuple[dict, dict]

    def energy_j(self, rung: str) -> tuple[float, float]:
        """Joules of a multiply-accumulate of each."""
        found = []
        for record in self.records:
            sample = next(s for s in record["samples"] if s["stimulus"] == UNITS[record["unit"]][1])
            found.append(sample[rung]["energy_j"] / record[per_cycle(record)])
        return found[0], found[1]

    def ratio(self, rung: str) -> float:
        reference, compared = self.energy_j(rung)
        return compared / reference


def by_recipe() -> list[Mapped]:
    """What is recorded."""
    found = []
    for technology in TECHNOLOGIES:
        for recipe in recipes.table():
            folder = RECORDS if recipe == recipes.DEFAULT else recipes.RECORDS
            of = recorded.read(recipes.records_file(folder, technology, recipe, recorded.SUFFIX))
            if REFERENCE in of and COMPARED in of:
                found.append(Mapped(technology, recipe, (of[REFERENCE], of[COMPARED])))
    return found


def recipe_json(one: Mapped) -> dict:
    row: dict = {"technology": one.technology, "recipe": one.recipe, "units": [REFERENCE, COMPARED]}
    row |= {f"{rung}_energy_j": list(one.energy_j(rung)) for rung in ("L2", "L3")}
    row |= {f"{rung}_ratio": one.ratio(rung) for rung in ("L2", "L3")}
    row |= {key: [record.get(key) for record in one.records] for key in ("period_s", "area_m2", "cells")}
    of_today = one.recipe != recipes.DEFAULT
    return row | {"earlier": not of_today and any(earlier(one.technology, record) for record in one.records)}


def recipe_table() -> str:
    lines = []
    for one in by_recipe():
        row = recipe_json(one)
        lines.append(
            [
                f"`{one.technology}`",
                f"`{one.recipe}`",
                *(of(joules, 1e12, ".3g") for joules in row["L3_energy_j"]),
                f"{row['L3_ratio']:.2f}" + ("*" if row["earlier"] else ""),
                f"{row['L2_ratio']:.2f}",
                " and ".join(of(period, 1e9, ".3g") for period in row["period_s"]),
                " and ".join(of(area, 1e12, ".4g") for area in row["area_m2"]),
            ]
        )
    titles = ["INT8, pJ", "NVFP4, pJ", "NVFP4 : INT8", "without glitches", "periods, ns", "areas, um2"]
    return table(["library", "recipe", *titles], lines)


def recipe_list() -> str:
    lines = []
    for name, entry in recipes.table().items():
        missing = " ".join(f"Not in `{library}`: {why}." for library, why in entry.get("without", {}).items())
        targets = ", ".join(
            f"{of(target, 1e9, '.3g')} ns in `{name}`" for name, target in entry.get("delay_s", {}).items()
        )
        lines.append([f"`{name}`", " ".join(filter(None, [entry["what"] + ".", missing])), targets or "none"])
    return table(["recipe", "what", "target"], lines)


def readme_line() -> str:
    """The ratio of each recipe, as the range over the libraries."""
    found: dict[str, list[float]] = {}
    for one in by_recipe():
        found.setdefault(one.recipe, []).append(one.ratio("L3"))
    parts = [f"{min(ratios):.2f} to {max(ratios):.2f} under `{name}`" for name, ratios in found.items()]
    return (
        "A product in NVFP4 costs this much of one in INT8, by recipe of mapping, in libraries of 7 to 180 nm: "
        + ", ".join(parts)
        + " ([recipes](docs/energy_nodes.md#recipes-of-mapping)).\n"
    )


def readme() -> str:
    """README.md with its generated line."""
    return between(README.name, {"ratios": readme_line()})


def earlier(technology: str, record: dict) -> bool:
    """Whether a record is of an earlier design: those of Debian's libraries may be (power/records/earlier_designs.toml)."""
    return technology in library.TECHNOLOGIES and bool(earlier_design(record["top"]))


def of(value: float | None, scale: float, digits: str) -> str:
    return "-" if value is None else format(value * scale, digits)


def energy_table(rows: list[dict], rung: str) -> str:
    lines = []
    for row in rows:
        cells = []
        for technology in TECHNOLOGIES:
            found = row["technologies"].get(technology)
            if found is None:
                cells.append("-")
                continue
            ratio = found[f"{rung}_ratio"]
            mark = "*" if found["earlier"] else ""
            cells.append(of(found[f"{rung}_energy_j"], 1e12, ".3g") + (f" ({ratio:.2f})" if ratio else "") + mark)
        lines.append([row["title"], *cells])
    return table(["pJ a product, in brackets INT8 = 1", *(f"`{name}`" for name in TECHNOLOGIES)], lines)


def physical_table(rows: list[dict]) -> str:
    lines = []
    for row in rows:
        for technology, found in row["technologies"].items():
            if technology in library.TECHNOLOGIES:
                continue
            lines.append(
                [
                    row["title"],
                    f"`{technology}`",
                    of(found["path_s"], 1e9, ".2f"),
                    str(found["cells"]),
                    of(found["area_m2"], 1e12, ".4g"),
                    of(found["leakage_w"], 1e6, ".3g"),
                ]
            )
    return table(["unit", "library", "longest path, ns", "cells", "area, um2", "leakage, uW"], lines)


def library_table(nodes: Nodes) -> str:
    lines = []
    for technology in library.open_technologies():
        entry = json.loads((library.ENTRIES / f"{technology}.json").read_text())
        records = nodes.records.get(technology, {})
        corner = next(iter(records.values()))["corner"]["name"] if records else "-"
        excluded = ", ".join(f"`{cell}`" for cell in entry["liberty"]["exclude"])
        lines.append([f"`{technology}`", corner, excluded, str(len(records))])
    return table(["name", "corner", "cells left out", "units recorded"], lines)


def page(nodes: Nodes) -> str:
    rows = nodes.rows()
    text = f"""<!-- Generated by tools/ngtools/power/nodes.py --doc from power/records. Do not edit. -->
# Open libraries: 7 nm and 130 nm

The gauge answers for three open cell libraries beside Debian's osu018: ASAP7 (7 nm, predictive), SkyWater's sky130 and IHP's SG13G2 (both 130 nm).
The records are in the package, so no Liberty file is needed to ask.

```
narrowgauge energy --technology asap7 --unit int8_mac_wallace_16_pipelined --stimulus gauss
narrowgauge energy --technology asap7 --unit nvfp4_mac_16 --stimulus gauss
.venv/bin/python tools/ngtools/power/nodes.py
```

The third command prints the tables of this page.

## Energy with glitches, L3

Operands are Gaussian; the last two rows have uniform ones, and the ratio there is sparse to dense.
There are no wires and no clock tree.

{energy_table(rows, "L3")}

A star marks a record of an earlier design, made before the module's last change ([earlier designs](energy_flow.md#fields-of-a-record)).

ASAP7's cells below unit drive are left out, as place-and-route flows do.

## Energy without glitches, L2

{energy_table(rows, "L2")}

## Recipes of mapping

The ratio hangs on how adders are mapped to cells, more than on the node.
The tables above are of the recipe `area`, which all calibrations are fitted to.

{recipe_list()}

{recipe_table()}

- The operands are Gaussian, and the outputs of every netlist were those of its RTL in all cycles.
- `adders` takes every `+` as a ripple chain, so periods are longer.
- `adders` takes cells for half adders also where a netlist has their form by chance.
- The steps that `adders` has before those of `area` are proven equivalent for both units, with ASAP7's pins (`power.recipes`).
- The target of `speed` leaves out the flip-flops' own delay; the periods are what came out.
- ASAP7's half adder has half drive; OpenROAD-flow-scripts takes it in this place, too.

```
narrowgauge energy --technology asap7 --unit nvfp4_mac_16 --stimulus gauss --recipe adders
export NG_LIBERTY=~/liberty
.venv/bin/python tools/ngtools/power/characterize.py --technology asap7 --recipe adders --record --stimuli gauss --units nvfp4_mac_16
```

A recipe is an entry of `power/recipes/recipes.json`: commands, the library's adders, targets.

## Path, area, leakage

{physical_table(rows)}

The path is OpenSTA's, from register to register, without wires.

## Libraries

{library_table(nodes)}

`power/technologies/<name>.json` has each library's files, where they are published, and why cells are left out.
A record names its library, its corner and a hash of the cells that were mapped to.

No rung L0 or L1 is fitted to these libraries yet, so only recorded units are answered ([limits](limits.md)).

To record a unit, set `NG_LIBERTY` to a folder that has the library's Liberty files, packed by gzip or not:

```
NG_LIBERTY=~/liberty .venv/bin/python tools/ngtools/power/characterize.py --technology asap7 --record --units nvfp4_mac_16
```
"""
    return a_sentence_a_line(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="SI units, no prefixes")
    parser.add_argument("--doc", action="store_true", help="write docs/energy_nodes.md")
    parser.add_argument(
        "--check-doc", action="store_true", help="fail if docs/energy_nodes.md is not what --doc writes"
    )
    options = parser.parse_args()
    nodes = Nodes()
    if options.doc:
        PAGE.write_text(page(nodes))
        README.write_text(readme())
    elif options.check_doc:
        for path, text in ((PAGE, page(nodes)), (README, readme())):
            if not path.exists() or path.read_text() != text:
                print(
                    f"{path.name} is not what the records say; run tools/ngtools/power/nodes.py --doc", file=sys.stderr
                )
                return 1
    elif options.json:
        print(json.dumps({"units": nodes.rows(), "recipes": [recipe_json(one) for one in by_recipe()]}, indent=1))
    else:
        rows = nodes.rows()
        print("L3\n" + energy_table(rows, "L3") + "\n\nL2\n" + energy_table(rows, "L2") + "\n\n" + physical_table(rows))
        print("\nRecipes, L3\n" + recipe_table())
    return 0


if __name__ == "__main__":
    sys.exit(main())
