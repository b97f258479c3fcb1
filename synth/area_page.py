# SPDX-License-Identifier: Apache-2.0
"""docs/area.md, which is made of synth/records. It stands apart from synth.py, of whose syntax all verdicts of area have the
hash: the page may change without a new run of synthesis.

  synth/area_page.py            write the page
  synth/area_page.py --check    fail if the page is not what would be written
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import synth
from ngtools import ngflow
from ngtools.ngflow import FlowError

PAGE = ngflow.ROOT / "docs" / "area.md"
Results = dict[str, dict]  # target -> what it counted of one record

# Cells of the device, by what nextpnr calls them.
ICE40_CELLS, ECP5_CELLS = "ICESTORM_LC", "TRELLIS_COMB"
COUNTED = {  # targets without place and route: titles of the columns and keys of the counts
    "xilinx7": (("LUT6", "lut"), ("CARRY4", "carry4")),
    "generic": (("gates", "gates"),),
}


def speed(result: dict) -> str:
    """MHz of the median seed."""
    pnr = result.get("place_and_route")
    if pnr is None:
        return "-"
    if "failed" in pnr:
        return "no"
    runs = len(pnr["paths_s"])
    few = "" if runs == len(synth.SEEDS) else f" ({runs} seed{'s' if runs > 1 else ''})"
    return f"{pnr['fmax_hz'] / 1e6:.1f}{few}"


def spread(records: Iterable[dict]) -> tuple[float, float]:
    """How far the slowest or fastest seed is off the median: in the middle one of all runs, and in nine of ten."""
    routed = [
        result["place_and_route"]
        for record in records
        for result in record["targets"].values()
        if "fmax_hz" in result.get("place_and_route", {})
    ]
    off = sorted(max(abs(pnr[key] / pnr["fmax_hz"] - 1) for key in ("fmax_min_hz", "fmax_max_hz")) for pnr in routed)
    return (off[len(off) // 2], off[len(off) * 9 // 10]) if off else (0.0, 0.0)


def device_cells(result: dict, kind: str) -> str:
    """Cells of the device: of the unit alone where it was packed, else, with a star, of what was placed with the wrapper."""
    if "logic_cells" in result:
        return str(result["logic_cells"])
    placed = result.get("place_and_route", {}).get("used_with_wrapper", {}).get(kind)
    return "-" if placed is None else f"{placed}*"


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows])


def counts(result: dict, *keys: str) -> list[str]:
    """Counts of cells; of all but LUTs and gates an empty cell is none."""
    return [str(result.get(key, "")) if "lut" in key else str(result.get(key) or "") for key in keys]


def ice40_row(results: Results) -> list[str]:
    """Both devices side by side: they have one logic cell, and differ in DSP and speed."""
    high, low = (results.get(name, {}) for name in ("ice40", "up5k"))
    lut4 = "" if low.get("lut4") == high.get("lut4") else str(low.get("lut4", ""))
    return [
        *counts(high or low, "lut4", "carry", "ff", "ram"),
        *([device_cells(high, ICE40_CELLS), speed(high)] if high else ["", ""]),
        *([lut4, *counts(low, "dsp"), device_cells(low, ICE40_CELLS), speed(low)] if low else [""] * 4),
    ]


def ecp5_row(results: Results) -> list[str]:
    result = results["ecp5_85f"]
    lut4, *others = counts(result, "lut4", "ff", "ram", "dsp")
    return [lut4, device_cells(result, ECP5_CELLS), *others, speed(result)]


def counted_row(results: Results) -> list[str]:
    keys = {target: [key for _, key in columns] for target, columns in COUNTED.items()}
    flip_flops = [results[target]["ff"] for target in COUNTED if target in results]
    same = flip_flops[:1] if len(set(flip_flops)) == 1 else flip_flops
    return [
        *(count for target in COUNTED for count in counts(results.get(target, {}), *keys[target])),
        "/".join(map(str, same)) if any(same) else "",
    ]


def recipe(target: dict) -> str:
    commands = "; ".join(target["yosys"])
    return f"`{commands}`" + (f", then `{target['place_and_route']['command']}`" if "place_and_route" in target else "")


def page() -> str:
    known, units = synth.load_records(), synth.configurations()
    names = sorted((unit["name"] for unit in synth.load_units()), key=len)
    for name, (unit, _) in units.items():
        if unit["name"] != next((other for other in reversed(names) if name.startswith(other)), None):
            raise FlowError(
                f'record "{name}" of {unit["top"]} is wrong; expected a name that begins with {unit["name"]}'
            )
    records = {name: known[name] for name in units if name in known}
    targets = synth.load_targets()
    tools: set[str] = set()
    effort: list[tuple[float, float, str]] = []
    for name, record in records.items():
        tools.update(record["tools"])
        for target, result in record["targets"].items():
            pnr = result.get("place_and_route", {})
            if "tool" in pnr:
                tools.add(pnr["tool"])
            if "seconds" in pnr:
                effort.append((pnr["seconds"], pnr["memory_bytes"] / 2**30, f"`{name}` on {targets[target]['name']}"))
    longest = (
        f"The longest took {max(effort)[0]:.0f} s of CPU a seed, {max(effort)[2]}; the largest {max(e[1] for e in effort):.1f} GiB."
        if effort
        else ""
    )
    middle, most = spread(records.values())
    parameters = table(
        ["record", "parameters"],
        [
            [
                f"`{name}`",
                f"`{';'.join(f'{key}={value}' for key, value in record['parameters'].items())}`",
            ]
            for name, record in records.items()
            if record["parameters"]
        ],
    )
    rows = {
        targets_: [
            [f"`{name}`", *row(record["targets"])]
            for name, record in records.items()
            if {*targets_} & {*record["targets"]}
        ]
        for targets_, row in (
            (("ice40", "up5k"), ice40_row),
            (("ecp5_85f",), ecp5_row),
            (tuple(COUNTED), counted_row),
        )
    }
    ice40, ecp5, counted = rows.values()
    return f"""<!-- Generated by synth/area_page.py from synth/records. Do not edit. -->
# Area and speed

Counts are of the unit alone, from Yosys' mapper.
MHz are of the unit between an input shift register and an output register, placed and routed.
They are the median of {len(synth.SEEDS)} seeds; the records have the slowest and the fastest.
Both are within {100 * middle:.0f} % of the median in half of the runs, and within {100 * most:.0f} % in nine of ten.
They belong to the longest path between registers over all clocks that the report has; paths of pins are left out.
An empty cell is none, a dash what was not run, "no" a design that nextpnr found no room for.

The tables are no measurement on silicon and no promise for other versions of the tools.
Counts do not add up, since a unit inside of a larger one is optimized together with it.
Targets do not compare, since a LUT6 is not a LUT4, and a gate is neither.

Reproduce: `make area` makes every record and this page again.
`.venv/bin/python synth/synth.py --unit dot_e2m1 --target ice40 --pnr` does one unit.
`ctest -R synth.records` compares every record with today's netlist and recipe, and maps six small ones to iCE40 again.
The deep test `synth.route` routes some units again and compares to the last digit.
Each record has used resources, CPU time and peak memory of its runs.
{longest}
Tools: {", ".join(sorted(tools)) or "none"}.

A record's module is `ng_` and the longest name of a [unit](units/README.md) with which the record begins.
Parameters that are not listed have their defaults.

{parameters}

## Lattice iCE40

LUT4 are not the size of a unit on iCE40: a logic cell holds a LUT4, a carry cell and a flip-flop.
A carry cell or a flip-flop that fits beside no LUT4 takes a logic cell of its own.
Compare units that have carry chains or registers by logic cells, the columns "cells".
They are of the unit alone, as `nextpnr-ice40 --pack-only` packs it, or with a star of the unit and the registers around it.

The HX8K has 7680 logic cells and no DSP; the UP5K has 5280 logic cells, 8 DSP and 30 block RAM.
Carry, FF and block RAM are the HX8K's, and so are the UP5K's LUT4 where their column is empty.

- HX8K: {recipe(targets["ice40"])}.
- UP5K: {recipe(targets["up5k"])}.

{UP5K}

{table(["record", "LUT4", "carry", "FF", "RAM", "cells", "MHz", "UP5K LUT4", "DSP", "cells", "MHz"], ice40)}

## Lattice ECP5-85F

{targets["ecp5_85f"]["place_and_route"]["device"].split(",")[0]} has 83640 LUT4, 156 DSP and 208 block RAM.
A TRELLIS_COMB is a LUT4 or half a CCU2C, the carry cell, which holds two LUT4; its flip-flop is counted apart.

Recipe: {recipe(targets["ecp5_85f"])}.

{table(["record", "LUT4", "TRELLIS_COMB", "FF", "RAM", "DSP", "MHz"], ecp5)}

## Counts only

- Xilinx 7 series, without DSP and memories: {recipe(targets["xilinx7"])}.
- Generic gates: {recipe(targets["generic"])}.
  A gate has two inputs (AND, NAND, OR, NOR, XOR, XNOR, ANDNOT, ORNOT), or is an inverter or a 2:1 multiplexer.

Flip-flops are those of Xilinx and of gates where they differ.
The records have counts of ECP5 without DSP and memories, too.

{table(["record", *(title for columns in COUNTED.values() for title, _ in columns), "FF"], counted)}
"""


UP5K = """nextpnr knows no DSP of the UP5K without registers.
A path through such a DSP is joined from its parts with 11.67 ns for the DSP, and no path is longer.
That is 8.813 ns, the longest from A or B to O of SB_MAC16 in `timings_up5k.txt` of Project IceStorm, times 1.324.
The factor is nextpnr's clock to output of a register (1.390 ns) over that of the file (1.050 ns).
From one such DSP to the next 10 ns are assumed where the report has no such path.
A DSP with registers behind its multiplier but not at both operands counts in nextpnr as registered on both sides.
There the latest arrival of such an operand plus 11.67 ns counts.
Where the operands only have registers, 11.67 ns are added to the longest path of all."""


def main() -> int:
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    if not sys.argv[1:]:
        PAGE.write_text(page())
    elif not PAGE.exists() or PAGE.read_text() != page():
        print("docs/area.md is not what the records say; run synth/area_page.py")
        return 1
    print("docs/area.md is what the records say")
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
