# SPDX-License-Identifier: Apache-2.0
"""A picture of a front of `narrowgauge explore --json`.

narrowgauge explore resnet18 space.yaml --json | python -m narrowgauge.plot -o front.png
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from typing import Any

#: Key of a point, label, and what a unit of the axis is in SI.
QUANTITIES: dict[str, tuple[str, str, float]] = {
    "energy": ("energy_j", "energy [mJ]", 1e-3),
    "cycles": ("cycles", "cycles", 1.0),
    "time": ("time_s", "time [ms]", 1e-3),
    "area": ("area_m2", "area [mm²]", 1e-6),
    "sqnr": ("sqnr_db", "SQNR [dB]", 1.0),
}
#: Colours that the colour-blind tell apart (Okabe and Ito), and a shape each.
STYLES = [
    ("#0072B2", "o"), ("#D55E00", "s"), ("#009E73", "^"), ("#CC79A7", "D"), ("#E69F00", "v"),
    ("#56B4E9", "P"), ("#000000", "X"), ("#999999", "*"), ("#F0E442", "h"),
]  # fmt: skip


def plot(result: Mapping[str, Any], path: str, x: str = "time", y: str = "energy") -> None:
    """Draws the front of `result`, what `narrowgauge explore --json` prints, to `path` (.png, .pdf, .svg).

    x, y: keys of QUANTITIES. Colour and shape: the format, open where sparse; size: the area. Raises ImportError
    without matplotlib, ValueError for an empty front or an unknown quantity.
    """
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "drawing a front takes matplotlib: pip install matplotlib, or pip install 'narrowgauge[plot]'"
        ) from error
    for name in (x, y):
        if name not in QUANTITIES:
            raise ValueError(f"{name!r} cannot be drawn; choose of {', '.join(QUANTITIES)}")
    points = result["front"]
    if not points:
        raise ValueError("the front is empty: every point of the space is impossible")
    (x_key, x_label, x_unit), (y_key, y_label, y_unit) = QUANTITIES[x], QUANTITIES[y]

    def number(value: Any) -> float:
        return float("nan") if value is None else float(value)

    largest = max((number(p["area_m2"]) for p in points if p["area_m2"] is not None), default=0.0)
    figure, axes = plt.subplots(figsize=(8, 5.5), layout="constrained")
    kinds = sorted({(p["format"], p["sparsity"], p["technology"]) for p in points})
    formats = sorted({kind[0] for kind in kinds})
    several = len({kind[2] for kind in kinds}) > 1
    for kind in kinds:
        mine = [p for p in points if (p["format"], p["sparsity"], p["technology"]) == kind]
        colour, marker = STYLES[formats.index(kind[0]) % len(STYLES)]
        area = [number(p["area_m2"]) / largest if largest and p["area_m2"] is not None else 0.2 for p in mine]
        label = kind[0] + (f", {kind[1]}" if kind[1] != "none" else "") + (f", {kind[2]}" if several else "")
        axes.scatter(
            [number(p[x_key]) / x_unit for p in mine],
            [number(p[y_key]) / y_unit for p in mine],
            s=[20 + 180 * a for a in area],
            marker=marker,
            facecolors=colour if kind[1] == "none" else "none",
            edgecolors=colour,
            alpha=0.75,
            label=label,
        )
    for name, scale, axis in ((x, axes.set_xscale, axes.xaxis), (y, axes.set_yscale, axes.yaxis)):
        if name == "sqnr":
            continue
        scale("log")
        low, high = axis.get_view_interval()
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter("{x:g}" if high < 30 * low else "")
    axes.tick_params(which="both", pad=4, labelsize=9)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    objectives = ", ".join(result["space"]["objectives"])
    axes.set_title(
        f"{result['workload']}: {len(points)} of {result['points']} points are best in {objectives}", fontsize=11
    )
    axes.grid(visible=True, which="both", alpha=0.25)
    legend = axes.legend(title="format" + (" (size: area)" if largest else ""), fontsize=9)
    for handle in legend.legend_handles:
        if handle is not None and hasattr(handle, "set_sizes"):
            handle.set_sizes([50])
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m narrowgauge.plot", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("result", nargs="?", help="what explore --json printed; without it, standard input")
    parser.add_argument("-o", "--output", required=True, help="the picture: .png, .pdf, .svg")
    parser.add_argument("-x", default="time", choices=list(QUANTITIES))
    parser.add_argument("-y", default="energy", choices=list(QUANTITIES))
    options = parser.parse_args(arguments)
    try:
        if options.result:
            with open(options.result) as file:
                result = json.load(file)
        else:
            result = json.load(sys.stdin)
        plot(result, options.output, options.x, options.y)
    except (ImportError, OSError, ValueError, KeyError) as error:
        print(f"narrowgauge.plot: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
