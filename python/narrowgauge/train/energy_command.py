# SPDX-License-Identifier: Apache-2.0
"""Energy of a training step by a recipe: `narrowgauge explore WORKLOAD SPACE --training-step RECIPE` (docs/explore.md)."""

from __future__ import annotations

import argparse
import json
import sys

from .._core import Error
from .._explore import add_settings
from .energy import StepEnergy, step_energy


def _table(result: StepEnergy) -> str:
    def joules(x: float | None) -> str:
        return "-" if x is None else f"{1e3 * x:.4g}"

    rows = [("part", "", "operations", "mJ", "MAC/buffers/DRAM/idle %", "rung", "error")]
    for part in result.parts:
        shares = ""
        if part.what == "products" and part.joule:
            four = (part.mac_joule, part.sram_joule, part.dram_joule, part.idle_joule)
            shares = "/".join(f"{100 * share / part.joule:.0f}" for share in four)
        error = "-" if part.error is None else f"{100 * part.error:.1f} %"
        name = part.name if part.what == "products" else f"{part.what}: {part.name}"
        rows.append((name, part.format, f"{part.operations:.4g}", joules(part.joule), shares, part.rung or "-", error))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def _text(result: StepEnergy) -> str:
    priced = [part for part in result.parts if part.joule is not None]
    unstated = sum(part.error is None for part in priced)
    lines = [
        f"{result.workload}, a training step by {result.recipe}, in {result.technology} on {result.array} of each format",
        "",
        _table(result),
        "",
        f"a step: {1e3 * result.joule:.4g} mJ; stated errors add up to {1e3 * result.error_joule:.2g} mJ, and {unstated} of "
        f"{len(priced)} prices state none",
    ]
    for format, joule in result.references.items():
        lines.append(
            f"  with {format} in place of the narrow formats: {1e3 * joule:.4g} mJ, {joule / result.joule:.2f} times as much"
        )
    lines += [f"not priced: {sentence}" for sentence in result.missing]
    lines += list(result.notes)
    lines.append(f"{len(result.assumed)} assumptions and the source of each price: --json")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m narrowgauge.train.energy_command", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("workload", help="as of narrowgauge explore")
    parser.add_argument("space", help="a space of one point: .yaml or .json")
    parser.add_argument("recipe", help="a name of narrowgauge train --list, or a file of TOML")
    add_settings(parser)
    parser.add_argument("--json", action="store_true", help="one object of JSON, joules and sources")
    options = parser.parse_args(arguments)
    try:
        result = step_energy(options.recipe, options.workload, options.space, set=dict(options.set))
    except (Error, ImportError) as error:
        print(f"narrowgauge: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result.document()) if options.json else _text(result))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
