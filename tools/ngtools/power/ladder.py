# SPDX-License-Identifier: Apache-2.0
"""The error ladder: how far each rung is off the one above, on units that no fit has seen, and what a multiply-accumulate
costs beside INT8's in the same flow, like for like: of 16 lanes, Wallace multipliers, a register before the accumulator.
Everything is read from power/calibration and power/records.

examples
  tools/ngtools/power/ladder.py                       print it (osu018)
  tools/ngtools/power/ladder.py --json                as JSON, SI units
  tools/ngtools/power/ladder.py --reference single_lane    beside INT8 of one array multiplier, as up to 0.1.0
  tools/ngtools/power/ladder.py --int8 0.3e-12        energies anchored to a cited INT8 multiply-accumulate of 0.3 pJ
  tools/ngtools/power/ladder.py --doc                 write docs/energy_ladder.md; --check-doc: it is up to date
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ngtools import ngflow, recorded
from ngtools.ngflow import ROOT, FlowError
from ngtools.power import solve
from ngtools.prose import a_sentence_a_line

PAGE = ROOT / "docs" / "energy_ladder.md"
RUNGS = {"L0": "L0", "L1": "L1", "L2": "L2, scaled", "L2_raw": "L2"}
STIMULI = ("uniform", "gauss", "digits")
FORMATS = ("integer", "fp8_e4m3", "fp8_e5m2", "nvfp4", "mxfp4", "luq", "bf16", "fp16", "tf32", "fp32")
SPLIT, SERIAL, REPEATED = "integer, unsigned split", "integer, serial", "integer, repeated additions"
FAMILIES = (FORMATS[0], SERIAL, SPLIT, REPEATED, *FORMATS[1:])
UNSEEN = {SPLIT, REPEATED, "luq"}  # structures of which the fit has no unit
TECHNOLOGIES = ("osu018", "osu035", "osu050")
# INT8 = 1, with and without an accumulator, by the name of the view.
REFERENCES = {
    "like_for_like": {True: "int8_mac_wallace_16_pipelined", False: "int8_mult_wallace"},
    "single_lane": {True: "int8_mac_array", False: "int8_mult_array"},
}
REFERENCE = REFERENCES["like_for_like"]
# What stands for the integers in the table of energies; the other formats' units of most lanes do.
INTEGERS = {
    *(unit for units in REFERENCES.values() for unit in units.values()),
    *("int4_mac_array", "int4_mac_array_16", "int8_mac_array_16", "int8_mac_wallace_16"),
    "int4_mac_wallace_16_pipelined",
}
CELL_LANES = 16  # of the other formats' units, where there is one; else the nearest


def read(path: Path) -> dict:
    try:
        return json.loads(path.read_text())
    except OSError:
        raise FlowError(
            f"{ngflow.from_root(path)} is missing; tools/ngtools/power/characterize.py and tools/ngtools/power/fit.py write it"
        ) from None


def family(mac: dict) -> str:
    """Whose errors are a unit's: its format's; units of some structures have a row of their own."""
    of = {"none": REPEATED, "serial": SERIAL}.get(mac.get("structure", ""))
    if of:
        return of
    return mac["format"] if mac.get("schedule", "plain") == "plain" else f"{mac['format']}, unsigned split"


def anchored(energy_j: float, int8_j: float, constant_j: float) -> float:
    """The anchoring rule: our library stands for no other node, but ratios carry over. A unit's energy in a technology with a
    cited INT8 constant is that constant times the unit's ratio to INT8 in the same flow, both per multiply-accumulate."""
    return constant_j * energy_j / int8_j


class Ladder:
    def __init__(self, technology: str, reference: str = "like_for_like"):
        self.technology = technology
        self.reference = REFERENCES[reference]
        self.units = {u["name"]: u for u in read(ROOT / "power" / "units.json")["units"] if "mac" in u}
        self.calibration = read(ROOT / "power" / "calibration" / f"{technology}.json")
        records = recorded.read(ROOT / "power" / "records" / f"{technology}{recorded.SUFFIX}")
        self.records = {name: record for name, record in records.items() if name in self.units}

    def errors(self) -> list[dict]:
        """By family and rung, held-out units first, those left out one by one where the family has none; at last all of the
        structures that the fit has seen, and all, held out."""
        rows = []
        wholes = {"all of structures in the fit": [f for f in FAMILIES if f not in UNSEEN], "all": FAMILIES}
        for title, families in {**{f: [f] for f in FAMILIES}, **wholes}.items():
            row: dict = {"format": title}
            for rung in RUNGS:
                samples = self.calibration[rung]["held_out"]
                found = [s for s in samples if family(self.units[s["unit"]]["mac"]) in families]
                left_out = self.calibration["leave_one_out"][rung]["families"].get(title)
                if found:
                    size = [abs(s["error"]) for s in found]
                    row[rung] = {"mean_abs": solve.mean(size), "max": max(size), "samples": len(size)}
                    row["how"], row["units"] = "held out", len({s["unit"] for s in found})
                elif left_out:
                    row[rung] = {key: left_out[key] for key in ("mean_abs", "max", "samples")}
                    row["how"], row["units"] = "left out one by one", left_out["units"]
            if "how" in row:
                rows.append(row)
        return rows

    def energies(self) -> list[dict]:
        """L3 joules per multiply-accumulate of each recorded unit, and relative to INT8 under the same stimulus."""
        rows = []
        for name, record in self.records.items():
            mac, macs = self.units[name]["mac"], record["macs_per_cycle"]
            row = {"unit": name, "format": mac["format"], "lanes": mac["lanes"], "accumulator": mac["accumulator"]}
            row |= {"set": self.units[name]["set"], "energy_j": {}, "ratio": {}, "glitch_factor": {}, "l2_to_l3": {}}
            for sample in record["samples"]:
                stimulus, energy = sample["stimulus"], sample["L3"]["energy_j"] / macs
                row["energy_j"][stimulus] = energy
                row["glitch_factor"][stimulus] = sample["glitch_factor"]
                row["l2_to_l3"][stimulus] = sample["L2"]["energy_j"] / sample["L3"]["energy_j"]
                reference = self.int8(stimulus, mac["accumulator"])
                if reference is not None:
                    row["ratio"][stimulus] = energy / reference
            rows.append(row)
        order = {format_: i for i, format_ in enumerate(FORMATS)}
        return sorted(rows, key=lambda r: (order[r["format"]], not r["accumulator"], r["lanes"], r["unit"]))

    def int8(self, stimulus: str, accumulator: bool) -> float | None:
        record = self.records.get(self.reference[accumulator])
        found = [s for s in record["samples"] if s["stimulus"] == stimulus] if record else []
        return found[0]["L3"]["energy_j"] / record["macs_per_cycle"] if found else None

    def formats(self) -> list[dict]:
        """INTEGERS, and of each other format, with and without accumulator, the unit of the cell's lanes and registers."""

        def unlike(row: dict) -> tuple[int, bool]:
            return abs(row["lanes"] - CELL_LANES), not self.units[row["unit"]]["mac"].get("pipelined", False)

        chosen: dict[tuple, dict] = {}
        for row in self.energies():
            if self.units[row["unit"]]["mac"]["format"] != "integer":
                key = (row["format"], row["accumulator"])
                chosen[key] = min(chosen.get(key, row), row, key=unlike)
            elif row["unit"] in INTEGERS:
                chosen[row["unit"],] = row
        return list(chosen.values())


def percent(value: float) -> str:
    return f"{value:.1%}"


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(
        ["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(r) + " |" for r in rows)]
    )


def error_table(ladder: Ladder) -> str:
    rows = []
    for row in ladder.errors():
        cells = [f"{percent(row[r]['mean_abs'])}, {percent(row[r]['max'])}" if r in row else "-" for r in RUNGS]
        title = row["format"] if row["format"].startswith("all") else f"`{row['format']}`"
        rows.append([title, *cells, f"{row['units']} {row['how']}"])
    return table(["format", *RUNGS.values(), "units"], rows)


def technology_table(technologies: tuple[str, ...]) -> str:
    """Of each calibrated technology: units, and errors of the rungs, held out."""
    rows = []
    for name in technologies:
        ladder = Ladder(name)
        calibration, wholes = ladder.calibration, ladder.errors()[-2:]
        for row in wholes:
            cells = [f"{percent(row[r]['mean_abs'])}, {percent(row[r]['max'])}" for r in RUNGS]
            title = row["format"] if row is wholes[0] else "all"
            fitted = str(len(calibration["fitted_units"])) if row is wholes[0] else ""
            rows.append([f"`{name}`" if row is wholes[0] else "", title, *cells, str(row["units"]), fitted])
        left = calibration["leave_one_out"]
        cells = [f"{percent(left[r]['error_mean_abs'])}, {percent(left[r]['error_max'])}" for r in RUNGS]
        rows.append(["", "the fit's, each left out once", *cells, str(len(calibration["fitted_units"])), ""])
    return table(["technology", "units", *RUNGS.values(), "count", "fitted"], rows)


def of_stimuli(values: dict, form: str) -> str:
    return " / ".join(format(values[s], form) if s in values else "-" for s in STIMULI)


def energy_table(rows: list[dict], int8_j: float | None) -> str:
    lines = []
    for row in rows:
        energy = {s: v * 1e12 for s, v in row["energy_j"].items()}
        anchored_to = (
            [of_stimuli({s: anchored(v, 1, int8_j) * 1e12 for s, v in row["ratio"].items()}, ".3g")] if int8_j else []
        )
        accumulator = "yes" if row["accumulator"] else "no"
        lines.append(
            [
                f"`{row['unit']}`",
                str(row["lanes"]),
                accumulator,
                of_stimuli(energy, ".3g"),
                of_stimuli(row["ratio"], ".2f"),
                *anchored_to,
            ]
        )
    return table(
        [
            *("unit", "lanes", "accumulator", "pJ per MAC", "INT8 = 1"),
            *(["anchored, pJ"] if int8_j else []),
        ],
        lines,
    )


def glitch_table(ladder: Ladder) -> str:
    rows = []
    for row in ladder.energies():
        half = row["glitch_factor"].get("half_normal")
        factor = (
            of_stimuli(row["glitch_factor"], ".2f")
            if half is None
            else f"{row['glitch_factor']['uniform']:.2f}, half-normal {half:.2f}"
        )
        share = list(row["l2_to_l3"].values())
        rows.append([f"`{row['unit']}`", row["set"].replace("_", " "), factor, f"{min(share):.2f} to {max(share):.2f}"])
    return table(["unit", "set", "glitch factor", "L2 / L3 energy"], rows)


def glitch_summary(ladder: Ladder) -> str:
    """Ranges over the units and stimuli of each structure; the table of each unit is printed."""
    groups: dict[tuple[str, str], list[dict]] = {}
    for row in ladder.energies():
        mac = ladder.units[row["unit"]]["mac"]
        whose = family(mac)
        if whose == FORMATS[0]:
            whose += f", {mac['structure']}" + (", pipelined" if mac.get("pipelined") else "")
        groups.setdefault((whose, "yes" if row["accumulator"] else "no"), []).append(row)

    def span(rows: list[dict], key: str) -> str:
        values = [value for row in rows for value in row[key].values()]
        return f"{min(values):.2f} to {max(values):.2f}"

    rows = [
        [f"`{whose}`", accumulator, str(len(found)), span(found, "glitch_factor"), span(found, "l2_to_l3")]
        for (whose, accumulator), found in groups.items()
    ]
    return table(["structure", "accumulator", "units", "glitch factor", "L2 / L3 energy"], rows)


def by_schedule(ladder: Ladder) -> str:
    """Mean signed and largest L0 error of each schedule of the unsigned split."""
    parts = []
    for schedule in ("sorted", "dual", "muxed"):
        samples = [
            s
            for s in ladder.calibration["L0"]["held_out"]
            if family(ladder.units[s["unit"]]["mac"]) == SPLIT
            and ladder.units[s["unit"]]["mac"]["schedule"] == schedule
        ]
        found, units = [s["error"] for s in samples], len({s["unit"] for s in samples})
        mean = solve.mean(found)
        parts.append(f"- {schedule}: {mean:+.1%} on average, {max(found, key=abs):+.1%} at worst ({units} units)")
    return ";\n".join(parts)


def page(ladder: Ladder) -> str:
    technologies = tuple(t for t in TECHNOLOGIES if (ROOT / "power" / "calibration" / f"{t}.json").exists())
    calibration = ladder.calibration
    seen = {
        r: (percent(calibration[r]["fit_error_mean_abs"]), percent(calibration["leave_one_out"][r]["error_mean_abs"]))
        for r in ("L0", "L1")
    }
    worst = max(calibration["L0"]["held_out"], key=lambda s: abs(s["error"]))
    coefficients = table(
        ["feature", "fJ"], [[f"`{name}`", f"{value * 1e15:.1f}"] for name, value in calibration["coefficients"].items()]
    )
    text = f"""<!-- Generated by tools/ngtools/power/ladder.py --doc from power/calibration and power/records. Do not edit. -->
# The error ladder

The errors of each rung of the energy ladder, on units that its fit has not seen. `tools/ngtools/power/ladder.py` prints this page's
tables, `tools/ngtools/power/fit.py` makes the fit again from the records ({ladder.technology}, calibration `{calibration["id"]}`).

| rung | energy per cycle | costs |
|---|---|---|
| L0 | expected features of a unit and its operands' statistics x coefficients | a table look-up |
| L1 | the same features, counted on the operands in the golden model, x the same coefficients | microseconds a product |
| L2 | netlist toggles without delays x Liberty (docs/energy_flow.md) | a synthesized netlist |
| L3 | netlist toggles with SDF delays x Liberty | the same, slower |

## Errors against L3

Mean absolute and largest relative error of the energy per cycle, over units and stimuli. A format without a held-out unit
has its units left out of the fit one at a time. That is weaker: its only unit rests on the others' features.
"L2, scaled": all of L2 but the clock's energy x {calibration["l2_scale"]:.3f}, fitted on the fit's units.

{error_table(ladder)}

The aim was 10 % for L0 and 5 % for L1. The largest L0 error is {worst["error"]:+.1%}, `{worst["unit"]}` on {worst["stimulus"]}. On the units of
the fit itself: L0 {seen["L0"][0]}, L1 {seen["L1"][0]}; each of them left out once: L0 {seen["L0"][1]}, L1 {seen["L1"][1]}. FP32 and TF32 codes are
too many for a histogram, so L0 takes Gaussian operands for the network's.

The fit has seen no unit of the unsigned split or of repeated additions (docs/pann.md): `ng_unsigned_mac`, schedules sorted, dual,
muxed; `ng_pann_mac`, structure none. Their rows show the features' worth on a new structure. By schedule, L0:

{by_schedule(ladder)}.

L0 and L1 leave out the enables that hold a register, and count the result once in a sum.
The cells of `luq` (docs/luq.md, INT4 x FP4 [1,3,0]) are as new to the fit, which knows FP8's wide shifters alone.

The table compares cycles; an answer is per multiply-accumulate, by `cycles_per_mac` of features.hpp. A product takes b_width cycles in
`ng_int_mult_serial`, |w| in repeated additions, zeros left out. The weights w are those of PANN's quantizer at R additions a weight.

These errors leave out wires (the netlists are not placed), the library's own error (docs/energy_flow.md) and other synthesis of the
same RTL. A stimulus is a few thousand cycles of one seed.

## Technologies

Each has its own fit, of the same features. Mean absolute and largest error; the rest of this page is {ladder.technology}.

{technology_table(technologies)}

## Energy of a multiply-accumulate

L3, operands uniform / Gaussian / of the digits network's second convolution. INT8 = 1 is like for like: `{REFERENCE[True]}`,
the best recorded structure at the cell's 16 lanes, with the cell's register before the accumulator. Without an accumulator it is
`{REFERENCE[False]}`, of one lane. Up to 0.1.0 it was a single-lane array without that register, `int8_mac_array` and
`int8_mult_array` (`--reference single_lane`).
BF16, FP16, TF32 and FP32 are not like for like, and look dearer than they need be: their unit has one lane and no register.
MXFP4 has a block of 32 lanes and adds in FP32, since its scales span too far for an exact sum. `mxfp4_mac` has no register
between dot product and addition; its glitch factor is the price. Uniform codes of BF16, FP16, TF32 and FP32 overflow to NaN in a sum:
compare their Gaussian operands. Integers are cheap on the network's operands: most are small beside the largest, which scales them,
and small integers flip few bits.

{energy_table(ladder.formats(), None)}

**Anchoring** reaches other nodes ([energy](energy.md#technologies); `--int8`).
It multiplies a cited constant, INT8's or of wide numbers FP16's, with the unit's ratio in this flow to the constant's unit.
Absolute values of this library say nothing of other nodes.

## Glitches

L3 toggles / L2 toggles, and which part of the L3 energy L2 sees, over units and stimuli. `tools/ngtools/power/ladder.py` prints
each unit's.

{glitch_summary(ladder)}

## How the fit works

Features are physical: flip-flops clocked and register bits that flip. For each kind of logic there are the nets that settle to
another value (`_nets`) and their further flips (`_glitches`). Nets are counted by words, the lines of the RTL: a
partial product, the carries of a row, a stage of a shifter. For glitches each word takes one unit of time, an exclusive or two.
`operand_loads` are a multiplier's operand flips x the gates on each bit, such as the rows of an array.
No cell, wire or delay of the technology goes into a feature; the technology is in the coefficients:

{coefficients}

The coefficients are non-negative, and of about the least mean absolute relative error over L0 and L1. The units are those of the set
`fit` (power/units.json), each of the same weight. A coefficient by itself is no measurement: features that rise and fall together share
their energy as the fit pleases.

Features, times of words and weights were chosen by the fit's units alone, each left out once. The held-out errors were in sight
meanwhile: they are no blind test. These trials made L1 no better:

- every word one unit of time, or delays that differ from bit to bit;
- pulses of one unit swallowed (inertial delays), or glitches counted by when they happen;
- one pair of coefficients for all multipliers;
- the clock's energy given instead of fitted;
- the loads of shifters' and multiplexers' controls.

L1 goes through the units' words exactly: operands, products, terms, tree nodes and accumulators are those of the RTL. L0
takes the expectation from a fixed sample of independent operands, once for each kind of multiplier, pair of distributions and number
of lanes. A sum of the sample has 256 products; the schedule sorted orders them by the weight's sign, as the stimuli do. Operands
that follow each other are independent to L0 and not in a network: compare L0 and L1 on `digits`.

## Fields of power/calibration/{ladder.technology}.json

| field | what |
|---|---|
| `id` | of the whole fit, as `fit.py --json` prints it: 16 hex digits of the SHA-256 |
| `coefficients` | joules per cycle and unit of each feature, by its name |
| `l2_scale` | what L2 without the clock is multiplied by to stand for L3 |
| `L0`, `L1`, `L2`, `L2_raw` | `error_mean_abs`, `error_max`, `held_out`: unit, stimulus, signed relative error |
| `leave_one_out` | the same of the fit's units, each left out once, in sum and by format |
| `fitted_units` | their names |
| `checksum` | of this file without this key |

`tools/ngtools/power/fit.py --json` prints the whole fit, also `ranges`, what the fit has seen of each format, and every error of `leave_one_out`.
"""
    return a_sentence_a_line(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--technology", default="osu018", help="with a calibration and records (default osu018)")
    parser.add_argument("--json", action="store_true", help="SI units, no prefixes")
    parser.add_argument(
        "--reference",
        choices=sorted(REFERENCES),
        default="like_for_like",
        help="what INT8 = 1 is (default like_for_like)",
    )
    parser.add_argument("--int8", type=float, metavar="JOULES", help="a cited INT8 multiply-accumulate to anchor to")
    parser.add_argument("--doc", action="store_true", help="write docs/energy_ladder.md")
    parser.add_argument(
        "--check-doc", action="store_true", help="fail if docs/energy_ladder.md is not what --doc would write"
    )
    options = parser.parse_args()
    if options.int8 is not None and not 0 < options.int8 < 1:
        parser.error(f"--int8 is {options.int8}; expected joules of one multiply-accumulate, above 0 and below 1")
    ladder = Ladder(options.technology, options.reference)
    if options.doc or options.check_doc:
        ladder = Ladder(options.technology)
    if options.doc:
        PAGE.write_text(page(ladder))
    elif options.check_doc:
        if not PAGE.exists() or PAGE.read_text() != page(ladder):
            print(
                "docs/energy_ladder.md is not what records and calibration say; run tools/ngtools/power/ladder.py --doc"
            )
            return 1
    elif options.json:
        errors = {"by_format": ladder.errors(), **{rung: ladder.calibration[rung] for rung in RUNGS}}
        print(
            json.dumps(
                {"calibration": ladder.calibration["id"], "errors": errors, "energies": ladder.energies()}, indent=1
            )
        )
    else:
        print(
            f"{options.technology}, calibration {ladder.calibration['id']}: mean absolute and largest error against L3\n"
        )
        print(error_table(ladder) + "\n\nuniform / gauss / digits\n\n" + energy_table(ladder.formats(), options.int8))
        print("\n" + glitch_table(ladder))
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
