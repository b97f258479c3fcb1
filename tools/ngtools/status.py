# SPDX-License-Identifier: Apache-2.0
"""The status of the units: what their records say, and what was measured (synth/records, verif/ledger.jsonl). A record of a
measurement that does not exist is an error, not an empty cell.

  status.py              print the tables (Markdown; tools/ngtools/generate.py makes docs/units/README.md of them)
  status.py --json       the same as data, for `narrowgauge units`
"""

from __future__ import annotations

import argparse
import json
import os
import sys

from ngtools import ngflow, recorded
from ngtools.ledger import read_entries, read_pending
from ngtools.no_fault import exemptions
from ngtools.records import Unit, read_units

# Families in the order in which a reader meets them: what each is, and the page of the manual that explains it.
FAMILIES = {
    "tile": ("the accelerator: operand buffers, array, drain, registers, driver", "docs/units/tile.md"),
    "mac": (
        "dot products and multiply-accumulates of NVFP4, MXFP4, FP8, BF16 and integers, and what they are made of",
        "docs/gemm.md",
    ),
    "quant": ("quantizers of blocks, Hadamard transform, transposition, scaling", "docs/quantizers.md"),
    "luq": ("LUQ: 4-bit training without multipliers", "docs/luq.md"),
    "sparse": ("N:M sparsity: masks, unbiased pruning, dot products that skip", "docs/sparsity.md"),
    "codec": ("feature maps compressed, and back", "docs/codec.md"),
    "board": (
        "what a tile needs on a board: the bridge to a serial line, and FIFOs on AXI4-Lite",
        "docs/units/uart_bridge.md",
    ),
    "pann": ("products by repeated addition, and the unsigned split", "docs/pann.md"),
    "norm": ("batch normalization: statistics by the range, L2 and L1, and what applies it", "docs/normalization.md"),
    "reduce": (
        "means of packets that arrive in any order, or do not",
        "docs/training.md#the-mean-of-packets",
    ),
    "binary": ("dot products of bits by popcount, thresholds that hold a batch norm", "docs/binary.md"),
    "softmax": ("softmax of scores in 2, 3 and 4 bits (EXAQ), from a histogram", "docs/softmax.md"),
    "retrieval": ("chunks that a query attends to: scores by MaxSim, the best k", "docs/retrieval.md"),
    "format": ("rounding and random bits", "docs/numerics.md"),
    "prim": ("queues, memories, reset", "docs/handshake.md"),
}

# What further papers bring to hardware: the page that has the paper, and the units. docs/papers.md has the rest of each row.
SYSTEMS = {
    "affine integers": ("docs/quantizers.md#affine-integers", ("quantize_affine",)),
    "EXAQ": ("docs/softmax.md", ("row_max", "exaq_codes", "exaq_row", "plane_acc")),
    "Range BN": ("docs/normalization.md", ("range_stats", "moment_stats", "norm_apply")),
    "binary networks": ("docs/binary.md", ("dot_xnor", "plane_acc")),
    "PANN": ("docs/pann.md", ("pann_mac", "unsigned_mac")),
    "ZAP": ("docs/zap.md", ("zap_predict", "zap_queue")),
    "retrieval": ("docs/retrieval.md", ("maxsim", "topk", "retrieve")),
    "packets of a mean": ("docs/training.md#the-mean-of-packets", ("lossy_reduce",)),
}

# Their sizes: record of area -> record of energy, and what a throw-away prototype took before the unit was there.
SIZES = {
    "quantize_affine_cuts7": ("affine_int8_quantizer_pipelined", "16 lanes of 289"),
    "row_max": ("row_max_16", ""),
    "exaq_codes_2": ("exaq_codes_2bit", "911, 95 MHz"),
    "exaq_row_2": ("exaq_row_2bit", ""),
    "plane_acc": ("plane_acc_16x8", ""),
    "plane_acc_16x2x4": ("", ""),
    "range_stats": ("range_stats", "790, 44 MHz"),
    "moment_stats_l1": ("moment_stats_l1", "1385"),
    "moment_stats": ("moment_stats", "2808"),
    "norm_apply_4_cuts7": ("norm_apply_int8_pipelined", ""),
    "dot_xnor_64": ("xnor_popcount_64", "248"),
    "dot_xnor_256": ("", "837, 54 MHz"),
    "pann_mac": ("", ""),
    "zap_predict_1": ("zap_predictor", ""),
    "zap_queue": ("zap_queue_8", ""),
    "maxsim": ("maxsim_16", ""),
    "topk": ("topk_8", "658, 75 MHz"),
    "retrieve": ("retrieve_8", ""),
    "lossy_reduce_64x64x2": ("packet_adder", ""),
}


def described(unit: Unit) -> dict:
    """A unit and its faces."""
    row = {
        "name": unit.name,
        "family": unit.family,
        "top": unit.top,
        "does": unit.does,
        "rtl": unit.rtl,
        "golden": unit.golden,
    }
    if unit.has_cycle_model:
        row["systemc"] = unit.systemc
    return row | {
        "page": unit.page,
        "benches": [item.name for item in unit.having("mutants")],
        "memories": [item.name for item in unit.having("mutants") if item.faces["mutants"].get("memory")],
        "proofs": [proof.name for proof in unit.proofs] + unit.proven_by,
        "synth": [{"record": item.name, "params": item.params} | item.faces["area"] for item in unit.having("area")],
    }


def exempt_lines(unit: dict, others: set[str]) -> list[str]:
    """File and number of each line that the unit's campaigns leave out. What is left out in every campaign counts where the
    file belongs to, or no other unit has it."""
    files = (ngflow.from_root(path) for path in ngflow.sources(unit["top"]))
    return [
        f"{name}:{number}"
        for name in files
        for number, _, top in exemptions((ngflow.ROOT / name).read_text(), name)
        if top == unit["top"] or (top is None and name not in others)
    ]


def status() -> tuple[list[dict], list[str]]:
    rows, problems, verdicts = [], [], read_entries()
    units = list(map(described, read_units()))
    owned = {unit["rtl"] for unit in units}
    folder = ngflow.ROOT / "synth" / "records"
    synthesized = {path.stem: recorded.read(path) for path in sorted(folder.glob(f"*{recorded.SUFFIX}"))}
    for unit in units:
        mutants, area = [], []
        campaigns = [f"mutants.{bench}" for bench in unit["benches"]]
        for campaign in campaigns + [f"mutants.{bench}.memory" for bench in unit["memories"]]:
            entry = verdicts.get(campaign)
            if entry is not None:
                mutants.append(entry["figures"])
            else:
                problems.append(f"{unit['name']}: verif/ledger.jsonl has no {campaign}; run make renew")
        for entry in unit["synth"]:
            name = entry["record"]
            found = [entries[name] for entries in synthesized.values() if name in entries]
            if found:
                lut4 = synthesized.get("ice40", {}).get(name, {}).get("lut4")
                area.append({"record": name, "parameters": found[0]["parameters"], "ice40_lut4": lut4})
            else:
                problems.append(
                    f"{unit['name']}: no record {name} in synth/records; run synth/synth.py --record {name}"
                )
        rows.append(
            unit
            | {
                "faults": sum(record["faults"] for record in mutants),
                "faults_killed": sum(record["killed"] for record in mutants),
                "faults_equivalent": sum(sum(record["equivalent"].values()) for record in mutants),
                "exempt_lines": exempt_lines(unit, others=owned - {unit["rtl"]}),
                "faults_listed": sum(record.get("left_out", {}).get("listed", 0) for record in mutants),
                "faults_exempt": sum(record.get("left_out", {}).get("exempt", 0) for record in mutants),
                "faults_without_source": sum(record.get("left_out", {}).get("no_source", 0) for record in mutants),
                "area": area,
            }
        )
    return rows, problems


def left_out(rows: list[dict]) -> str:
    """Lines of RTL that campaigns leave out by a comment, and the share of the listed faults that they do not try."""
    lines = len({line for row in rows for line in row["exempt_lines"]})
    listed = sum(row["faults_listed"] for row in rows)
    untried = sum(row["faults_exempt"] + row["faults_without_source"] for row in rows)
    parts = [f"{lines} {'line' if lines == 1 else 'lines'}"] if lines else []
    if untried:
        parts.append(f"{100 * untried / listed:.0f} %")
    return ", ".join(parts)


def killed(rows: list[dict]) -> str:
    real = sum(row["faults"] - row["faults_equivalent"] for row in rows)
    return f"{sum(row['faults_killed'] for row in rows)}/{real}" if real else "none run"


def by_family(rows: list[dict]) -> dict[str, list[dict]]:
    """Units of each family, families in their order."""
    unknown = {row["family"] for row in rows} - set(FAMILIES)
    if unknown:
        raise ngflow.FlowError(
            f"families {', '.join(sorted(unknown))} are not in FAMILIES of tools/ngtools/status.py; add them there"
        )
    families = {name: [row for row in rows if row["family"] == name] for name in FAMILIES}
    return {name: units for name, units in families.items() if units}


def families(rows: list[dict]) -> str:
    """A row a family, for the README."""
    lines = ["| family | what | units | mutants killed | left out |", "|---|---|---|---|---|"]
    for name, units in by_family(rows).items():
        what, page = FAMILIES[name]
        lines.append(
            f"| [{name}]({page}) | {what} | [{len(units)}](docs/units/README.md#{name}) | {killed(units)} | {left_out(units)} |"
        )
    return "\n".join(lines) + "\n"


def of_today(prefix: str = "") -> tuple[int, int]:
    """Verdicts of today's tree, and all, of the deep tests whose names begin so."""
    jobs = {job for job in read_entries() if job.startswith(prefix)}
    return len(jobs - read_pending()[1]), len(jobs)


def campaigns() -> str:
    """How many campaigns of mutants are of today's tree, for the README."""
    fresh, jobs = of_today("mutants.")
    if fresh == jobs:
        return f"All {jobs} campaigns of mutants ran on today's tree.\n"
    return (
        f"Of {jobs} campaigns of mutants {fresh} ran on today's tree; "
        "the figures of the others are older ([limits](docs/limits.md#claims)).\n"
    )


def deep_tests() -> str:
    """How many verdicts of deep tests are of today's tree, for docs/limits.md."""
    (fresh, jobs), (ran, campaigns_) = of_today(), of_today("mutants.")
    if fresh == jobs:
        return f"- **Deep tests.** All {jobs} verdicts are of today's tree.\n"
    return (
        f"- **Deep tests.** Of {jobs} verdicts {fresh} are of today's tree, {ran} of {campaigns_} campaigns of mutants among them.\n"
        "  `verif/pending.txt` lists the others and says since when and why they wait, and of which commit their figures are.\n"
    )


def from_units(page: str) -> str:
    """A page of docs/ as docs/units/ links it."""
    return os.path.relpath(page, "docs/units")


def tables(rows: list[dict]) -> str:
    """A table a family, for docs/units/README.md."""
    lines = []
    for name, units in by_family(rows).items():
        what, page = FAMILIES[name]
        lines += [
            f"## {name}",
            "",
            f"{what[0].upper()}{what[1:]} ([more]({from_units(page)})).",
            "",
            "| unit | what | RTL and models | mutants killed | left out | proof |",
            "|---|---|---|---|---|---|",
        ]
        for row in units:
            cycle_model = f", [SystemC](../../{row['systemc']})" if "systemc" in row else ""
            lines.append(
                f"| [{row['name']}]({from_units(row['page'])}) | {row['does']} "
                f"| [`{row['top']}`](../../{row['rtl']}), [C++](../../{row['golden']}){cycle_model} "
                f"| {killed([row])} | {left_out([row])} | {'yes' if row['proofs'] else ''} |"
            )
        lines.append("")
    return "\n".join(lines)


def systems() -> str:
    """Faces of the units of each system, for docs/papers.md."""
    units = {unit.name: unit for unit in read_units()}
    lines = [
        "| system | units | golden and RTL | SystemC | netlist | mutants | proof | area | energy |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, (page, names) in SYSTEMS.items():
        own = [units[each] for each in names]
        faces = (
            [unit.has_cycle_model for unit in own],
            [bool(unit.having("netlist")) for unit in own],
            [bool(unit.having("mutants")) for unit in own],
            [bool(unit.proofs or unit.proven_by) for unit in own],
            [bool(unit.having("area")) for unit in own],
            [bool(unit.energy) for unit in own],
        )
        links = ", ".join(f"[{unit.name}](units/{unit.name}.md)" for unit in own)
        have = " | ".join(str(sum(face)) for face in faces)
        lines.append(f"| [{name}]({os.path.relpath(page, 'docs')}) | {links} | {len(own)} | {have} |")
    return "\n".join(lines) + "\n"


def sizes() -> str:
    """Area, clock and energy of their configurations, for docs/papers.md."""
    folder = ngflow.ROOT / "synth" / "records"
    ice40, ecp5 = (recorded.read(folder / f"{name}{recorded.SUFFIX}") for name in ("ice40", "ecp5_85f"))
    joules = recorded.read(ngflow.ROOT / "power" / "records" / f"osu018{recorded.SUFFIX}")
    lines = [
        "| record | LUT4 | logic cells | carry | FF | RAM | MHz, HX8K | LUT4, ECP5 | MHz, ECP5 | pJ | an operation | prototype, LUT4 |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, (energy, prototype) in SIZES.items():
        one, other = ice40[name], ecp5.get(name, {})
        cells = [one["lut4"], one.get("logic_cells"), one.get("carry"), one["ff"], one.get("ram", 0), megahertz(one)]
        cells += [other.get("lut4"), megahertz(other)]
        if energy:
            record = joules[energy]
            picojoules = record["samples"][0]["L3"]["energy_j"] / record["operations_per_cycle"] * 1e12
            cells += [f"{picojoules:.3g}", record["operation"]]
        else:
            cells += [None, ""]
        shown = " | ".join("-" if cell is None else str(cell) for cell in [*cells, prototype])
        lines.append(f"| `{name}` | {shown} |")
    return "\n".join(lines) + "\n"


def megahertz(record: dict) -> str | None:
    """Of the median seed."""
    routed = record.get("place_and_route", {})
    return f"{routed['fmax_hz'] / 1e6:.1f}" if "fmax_hz" in routed else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    rows, problems = status()
    for problem in problems:
        print(problem, file=sys.stderr)
    print(json.dumps(rows, indent=2) if args.json else tables(rows), end="\n" if args.json else "")
    return 1 if problems else 0


if __name__ == "__main__":
    ngflow.run_main(main)
