# SPDX-License-Identifier: Apache-2.0
"""Pictures of what `narrowgauge explore --json` and `narrowgauge analyze --json` print.

narrowgauge explore resnet18 space.yaml --json | python -m narrowgauge.plot -o front.png
narrowgauge analyze gradient.npy --json | python -m narrowgauge.plot -o gradient.png
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


def _pyplot() -> Any:
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "drawing takes matplotlib: pip install matplotlib, or pip install 'narrowgauge[plot]'"
        ) from error
    return plt


def plot(result: Mapping[str, Any], path: str, x: str = "time", y: str = "energy") -> None:
    """Draws the front of `result`, what `narrowgauge explore --json` prints, to `path` (.png, .pdf, .svg).

    x, y: keys of QUANTITIES. Colour and shape: the format, open where sparse; size: the area. Raises ImportError
    without matplotlib, ValueError for an empty front or an unknown quantity.
    """
    plt = _pyplot()
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


def plot_analysis(result: Mapping[str, Any], path: str) -> None:
    """Draws the histogram of log2|x| of `result`, what `narrowgauge analyze --json` prints, above the octaves that each format's
    grid has numbers in (the darker, the more), to `path` (.png, .pdf, .svg). Raises ImportError without matplotlib, ValueError
    where every number is zero.
    """
    plt = _pyplot()
    octaves = result["octaves"][::-1]
    if not octaves:
        raise ValueError("every number is zero: there is no histogram")
    exponents = [octave["exponent"] for octave in octaves]
    names = list(octaves[0]["levels"])
    sqnr = {f["name"]: f["sqnr_db"] for f in result["formats"]}
    labels = [f"{name}, {sqnr[name]:.1f} dB" if isinstance(sqnr[name], float) else name for name in names]
    figure, (bars, grids) = plt.subplots(2, 1, sharex=True, figsize=(8, 6), height_ratios=(3, 2), layout="constrained")
    bars.bar(exponents, [100 * o["count"] / result["count"] for o in octaves], 1, align="edge", color=STYLES[0][0])
    bars.axvline(result["log2_mean"], color=STYLES[1][0], label=f"mean {result['log2_mean']:.2f}")
    bars.set_ylabel("share [%]")
    bars.legend(fontsize=9)
    title = f"{result['count']} numbers, standard deviation of log2|x| {result['log2_sigma']:.2f}"
    bars.set_title(title, fontsize=11)
    for row, name in enumerate(names):
        for octave in octaves:
            levels = octave["levels"][name]
            if levels:
                grids.barh(row, 1, 0.8, octave["exponent"], align="center", color=STYLES[0][0], alpha=_shade(levels))
    grids.set_yticks(range(len(names)), labels, fontsize=9)
    grids.invert_yaxis()
    grids.set_xlabel("log2|x|; below, numbers of a format in an octave: the darker, the more (1 to 8)")
    for axes in (bars, grids):
        axes.grid(visible=True, axis="x", alpha=0.25)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _shade(levels: int) -> float:
    return min(1.0, 0.25 + 0.25 * (levels.bit_length() - 1))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m narrowgauge.plot", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("result", nargs="?", help="what explore or analyze --json printed; without it, standard input")
    parser.add_argument("-o", "--output", required=True, help="the picture: .png, .pdf, .svg")
    parser.add_argument("-x", default="time", choices=list(QUANTITIES), help="of explore")
    parser.add_argument("-y", default="energy", choices=list(QUANTITIES), help="of explore")
    options = parser.parse_args(arguments)
    try:
        if options.result:
            with open(options.result) as file:
                result = json.load(file)
        else:
            result = json.load(sys.stdin)
        if result.get("command") == "analyze":
            plot_analysis(result, options.output)
        else:
            plot(result, options.output, options.x, options.y)
    except (ImportError, OSError, ValueError, KeyError) as error:
        print(f"narrowgauge.plot: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
