# SPDX-License-Identifier: Apache-2.0
"""Draws the manual's pictures: docs/pictures/<name>.toml, which a person writes, into docs/pictures/<name>.svg.

    tools/ngtools/pictures.py [NAME...]      draw them, or these (make pictures)
    tools/ngtools/pictures.py --check        compare only; exit code 1 where one has drifted (ctest -R lint.pictures)
    tools/ngtools/pictures.py --png FOLDER   also as PNG, to look at

A picture is a drawing (boxes and arrows), bars (figures out of the records) or a timing diagram (what a simulation had).
Units of a drawing are grid steps, y downwards:

    size = [12, 6]                                    columns and rows; a step is 60 points wide, 40 high
    box = [{name = "a", at = [0, 0], size = [3, 1], text = "…", kind = "hardware", note = "small text below"}]
    arrow = [{from = "a", to = "b", text = "…", kind = "compared"}]    "a.top" chooses a side, "a.top:0.2" a place on it; via = [[x, y], …]
    label = [{at = [1, 2], text = "…"}]

In a text or note {cuts:dot_nvfp4} becomes the unit's cuts, as its record names them, and {bits:dot_fp8(FormatSet=2).LaneWidth} the value of
a constant of its RTL, or the width of a signal, under these parameters and the defaults of the others.

Bars name their figures, each a file of the tree and the path of keys to a number in it, divided by `unit` if there is one:

    title = "…"
    bars = [{text = "…", file = "synth/records/ice40.jsonl", keys = ["dot_nvfp4", "lut4"]},
            {text = "…", value = 1590, source = "…"},     cited, in grey; `to` is then a number
            {text = "…"}]                                 a heading

In a list the path names an element by its place or by what it has: {op = "mul"}. A bar with `to`, the path to a second number of the
same file, has a line up to that. To the number that `plus` names another is added, and `over`, a table of file, keys and plus, divides
it. A bar of a file with `source` is cited too. All are shown in `format`, ",.4g" by default.

A timing diagram shows cycles `first` to `last` of docs/pictures/<trace>.trace, which a simulation wrote (make traces); the edge that ends
a cycle is at its right. Numbers are shown in hexadecimal where `while` is high, the lowest `digits` of them:

    trace = "tile"
    cycles = [first, last]
    wave = [{signal = "valid_i", text = "…"}, {signal = "data_i", while = "valid_i", digits = 8}]      an empty table is a gap
    taken = [{both = ["valid_i", "ready_o"], rows = [0, 2]}]          cycles whose edge takes a beat, shaded in these rows
    mark = [{cycle = 8, row = 1, text = "…"}]                         in the row, from that cycle on
    step = 30                                                         points a cycle
"""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
import tomllib
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import itertools

import matplotlib.pyplot as plt
from matplotlib.patches import FancyBboxPatch

from ngtools import ngflow, recorded, systemverilog
from ngtools.ngflow import ROOT, FlowError

FOLDER = ROOT / "docs" / "pictures"
STEP = (60, 40)  # points
KINDS = {
    "": ("#f5f5f5", "#777777"),
    "model": ("#e3eefb", "#2f6fb3"),
    "hardware": ("#e6f4e6", "#3a8a3a"),
    "check": ("#fdf1dc", "#c07d10"),
    "person": ("#f3e8f8", "#7d4ba0"),
    "data": ("#ffffff", "#777777"),
}
ARROWS = {"": ("-|>", "-", "#444444"), "compared": ("<|-|>", "--", "#c07d10"), "path": ("-|>", "-", "#3a8a3a")}
SIDES = {"left": (0, 0.5), "right": (1, 0.5), "top": (0.5, 0), "bottom": (0.5, 1)}


def keys_of(name: str, item: dict, wanted: set[str], allowed: set[str]) -> None:
    """An error that names what is wrong with a table of the source."""
    missing, unknown = wanted - set(item), set(item) - wanted - allowed
    if missing or unknown:
        raise FlowError(
            f"docs/pictures/{name}.toml: {item} lacks {sorted(missing) or 'nothing'} and has unknown {sorted(unknown) or 'nothing'}; "
            f"expected {sorted(wanted)}, and perhaps {sorted(allowed)}"
        )


def end_of(name: str, boxes: dict[str, dict], place: str, other: tuple[float, float]) -> tuple[float, float]:
    """Where an arrow meets a box: at the side that is named, else at the one that looks at the other end."""
    box, _, side = place.partition(".")
    side, _, along = side.partition(":")
    if box not in boxes or (side and side not in SIDES):
        raise FlowError(f"docs/pictures/{name}.toml: an arrow's end {place!r} is no box; boxes are {', '.join(boxes)}")
    (x, y), (w, h) = boxes[box]["at"], boxes[box]["size"]
    if not side:
        dx, dy = other[0] - x - w / 2, other[1] - y - h / 2
        beside = abs(dx) * h > abs(dy) * w
        side = ("right" if dx > 0 else "left") if beside else ("bottom" if dy > 0 else "top")
    fx, fy = SIDES[side]
    if along:
        fx, fy = (float(along), fy) if side in ("top", "bottom") else (fx, float(along))
    return x + fx * w, y + fy * h


def cuts_of(name: str, unit: str) -> str:
    """The places of a unit's cuts with their bits, from its record."""
    found = list(ngflow.RTL.glob(f"*/ng_{unit}.toml"))
    cuts = tomllib.loads(found[0].read_text()).get("cuts") if found else None
    if not cuts:
        raise FlowError(
            f"docs/pictures/{name}.toml: no record of a unit {unit!r} has a table [cuts]; expected one in rtl/"
        )
    return ", ".join(f"{bit} {place}" for bit, place in enumerate(cuts))


def bits_of(name: str, unit: str, given: str, wanted: str) -> str:
    """A constant of a unit's RTL, or how many bits one of its signals has."""
    try:
        top = f"ng_{unit}"
        return str(systemverilog.Module(top, ngflow.sources(top), ngflow.parse_params(given)).named(wanted))
    except (FlowError, systemverilog.SourceError) as error:
        raise FlowError(f"docs/pictures/{name}.toml: {error}") from None


def filled(name: str, text: str) -> str:
    """A text with what the tree has in place of what stands in braces."""
    text = re.sub(r"\{cuts:(\w+)\}", lambda match: cuts_of(name, match[1]), text)
    return re.sub(
        r"\{bits:(\w+)(?:\(([^)]*)\))?\.([\w.]+)\}",
        lambda match: bits_of(name, match[1], match[2] or "", match[3]),
        text,
    )


def drawing(name: str, source: dict) -> plt.Figure:
    """Boxes and arrows."""
    keys_of(name, source, {"size", "box"}, {"arrow", "label", "alt"})
    width, height = source["size"]
    figure = plt.figure(figsize=(width * STEP[0] / 72, height * STEP[1] / 72))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, width), ylim=(height, 0))
    axes.set_axis_off()
    boxes = {}
    for box in source["box"]:
        keys_of(name, box, {"name", "at", "size", "text"}, {"kind", "note"})
        boxes[box["name"]] = box
        (x, y), (w, h) = box["at"], box["size"]
        fill, edge = KINDS[box.get("kind", "")]
        shape = FancyBboxPatch((x, y), w, h, boxstyle="round,pad=0,rounding_size=0.08", fc=fill, ec=edge, lw=1.2)
        axes.add_patch(shape)
        note = filled(name, box.get("note", ""))
        lines = note.count("\n") + 1 if note else 0
        up = 0.145 * lines
        axes.text(x + w / 2, y + h / 2 - up, box["text"], ha="center", va="center", fontsize=11, weight="bold")
        if note:
            axes.text(
                x + w / 2,
                y + h / 2 + 0.2,
                note,
                ha="center",
                va="center",
                fontsize=9,
                color="#333333",
                linespacing=1.25,
            )
    for arrow in source.get("arrow", []):
        keys_of(name, arrow, {"from", "to"}, {"text", "kind", "via", "at"})
        middle = {end: boxes.get(arrow[end].partition(".")[0]) for end in ("from", "to")}
        centers = {
            end: (box["at"][0] + box["size"][0] / 2, box["at"][1] + box["size"][1] / 2) if box else (0.0, 0.0)
            for end, box in middle.items()
        }
        via = [tuple(point) for point in arrow.get("via", [])]
        points = [
            end_of(name, boxes, arrow["from"], via[0] if via else centers["to"]),
            *via,
            end_of(name, boxes, arrow["to"], via[-1] if via else centers["from"]),
        ]
        style, line, color = ARROWS[arrow.get("kind", "")]
        if len(points) > 2:
            axes.plot(*zip(*points[:-1], strict=True), ls=line, color=color, lw=1.2)
        head = style if len(points) == 2 else style.replace("<|", "")
        axes.annotate(
            "",
            points[-1],
            points[-2],
            arrowprops={"arrowstyle": head, "ls": line, "color": color, "lw": 1.2, "shrinkA": 0, "shrinkB": 0},
        )
        if "text" in arrow:
            longest = max(itertools.pairwise(points), key=lambda p: abs(p[0][0] - p[1][0]) + abs(p[0][1] - p[1][1]))
            x, y = arrow.get("at", [(longest[0][axis] + longest[1][axis]) / 2 for axis in (0, 1)])
            axes.text(
                x, y, arrow["text"], ha="center", va="center", fontsize=9, color=color, linespacing=1.2,
                bbox={"fc": "white", "ec": "none", "pad": 1.5},
            )  # fmt: skip
    for label in source.get("label", []):
        keys_of(name, label, {"at", "text"}, set())
        axes.text(
            *label["at"],
            filled(name, label["text"]),
            ha="left",
            va="center",
            fontsize=9,
            color="#333333",
            linespacing=1.3,
        )
    return figure


def figure_of(name: str, bar: dict, which: str = "keys") -> float:
    """A number of the tree, or the ratio of two."""
    found = 0.0
    for path in (which, "plus"):
        if path not in bar:
            continue
        file = ROOT / bar["file"]
        value = recorded.read(file) if file.suffix == recorded.SUFFIX else json.loads(file.read_text())
        for key in bar[path]:
            try:
                if isinstance(key, dict):
                    (value,) = (item for item in value if key.items() <= item.items())
                else:
                    value = value[key]
            except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
                raise FlowError(f"docs/pictures/{name}.toml: {bar['file']} has no {bar[path]}") from error
        found += float(value)
    found /= bar.get("unit", 1)
    return found / figure_of(name, bar["over"]) if "over" in bar else found


def bars(name: str, source: dict) -> plt.Figure:
    """Figures out of records, and cited ones beside them in another color."""
    keys_of(name, source, {"title", "bars"}, {"alt", "format"})
    form = source.get("format", ",.4g")
    rows, lines = [], {}
    for at, bar in enumerate(source["bars"]):
        if set(bar) == {"text"}:
            rows.append((bar["text"], None, "", ""))
            continue
        if "file" in bar:
            keys_of(name, bar, {"text", "file", "keys"}, {"unit", "to", "plus", "over", "source"})
            keys_of(name, bar.get("over", {"file": "", "keys": []}), {"file", "keys"}, {"plus", "unit"})
        else:
            keys_of(name, bar, {"text", "value", "source"}, {"to"})
        cited = bar.get("source", "")
        rows.append(
            (
                bar["text"],
                figure_of(name, bar) if "file" in bar else float(bar["value"]),
                "#999999" if cited else "#3a8a3a",
                cited,
            )
        )
        if "to" in bar:
            lines[at] = figure_of(name, bar, "to") if "file" in bar else float(bar["to"])
    wide, high = 7.5, 0.27 * len(rows) + 0.75  # inches; a page shows them about as large as its text
    left = max(0.07 * len(text) for text, value, *_ in rows if value is not None) + 0.15
    figure = plt.figure(figsize=(wide, high))
    axes = figure.add_axes((left / wide, 0.3 / high, 0.97 - left / wide, 1 - 0.7 / high))
    shown = [(at, *row) for at, row in enumerate(rows) if row[1] is not None]
    axes.barh([row[0] for row in shown], [row[2] for row in shown], color=[row[3] for row in shown], height=0.62)
    axes.set_yticks([row[0] for row in shown], [row[1] for row in shown], fontsize=9)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    top = max([row[2] for row in shown] + list(lines.values()))
    end = 0.0  # of the axis, so that what stands behind each bar has room
    for at, _, value, _, cited in shown:
        letters = len(f"{value:{form}}") * (2 if at in lines else 1) + 4 * (at in lines) + len(cited) + 3
        end = max(end, lines.get(at, value) / (1 - min(letters * 0.07 / (0.97 * wide - left), 0.7)))
    for at, (text, value, *_) in enumerate(rows):
        if value is None:
            axes.text(0, at + 0.1, text, va="center", ha="left", fontsize=9, weight="bold")
    for at, _, value, _, cited in shown:
        text = f"{value:{form}}"
        if at in lines:
            axes.plot([value, lines[at]], [at, at], color="#444444", lw=1.0, marker="|")
            text += f" to {lines[at]:{form}}"
        axes.text(
            lines.get(at, value) + top * 0.01, at, text + (f"  {cited}" if cited else ""), va="center", fontsize=9
        )
    axes.set_xlim(0, end)
    figure.text(0.1 / wide, 1 - 0.22 / high, source["title"], fontsize=10, va="center")
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="x", labelsize=8)
    return figure


def trace_of(name: str, trace: str) -> dict[str, list[int]]:
    """Signals of a trace, a number a cycle."""
    path = FOLDER / f"{trace}.trace"
    if not path.exists():
        raise FlowError(f"docs/pictures/{name}.toml: {path.name} does not exist; expected it beside, from make traces")
    names, *lines = [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]
    return {signal: [int(line[at], 16) for line in lines] for at, signal in enumerate(names) if at > 0}


def timing(name: str, source: dict) -> plt.Figure:
    """Waves, a row each, of what a simulation had in each cycle."""
    keys_of(name, source, {"trace", "cycles", "wave"}, {"taken", "mark", "step", "alt"})
    signals = trace_of(name, source["trace"])
    first, last = source["cycles"]
    if not 0 <= first <= last < len(next(iter(signals.values()))):
        raise FlowError(f"docs/pictures/{name}.toml: cycles {first} to {last} are not all in {source['trace']}.trace")

    def values(signal: str) -> list[int]:
        if signal not in signals:
            raise FlowError(
                f"docs/pictures/{name}.toml: {source['trace']}.trace has no {signal!r}; it has {', '.join(signals)}"
            )
        return signals[signal][first : last + 1]

    count = last - first + 1
    rows = [{"signal": ""}, *source["wave"]]
    step = source.get("step", 30)  # points a cycle
    left = 96 / step
    figure = plt.figure(figsize=((left + count) * step / 72, (len(rows) + 0.6) * 24 / 72))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-left, count), ylim=(len(rows) + 0.1, -0.5))
    axes.set_axis_off()
    blue, grey = "#2f6fb3", "#777777"
    high, low = 0.18, 0.82
    for edge in range(count + 1):
        axes.plot([edge, edge], [0.1, len(rows)], color="#dddddd", lw=0.6, zorder=0)
    for taken in source.get("taken", []):
        keys_of(name, taken, {"both", "rows"}, set())
        top, bottom = (at + 1 for at in taken["rows"])
        for cycle, both in enumerate(zip(*map(values, taken["both"]), strict=True)):
            if all(both):
                axes.add_patch(
                    plt.Rectangle((cycle, top + 0.05), 1, bottom - top + 0.9, fc="#d9efd9", ec="none", zorder=1)
                )
    for row, wave in enumerate(rows):
        if not wave:
            continue
        if row == 0:  # the clock rises at the end of a cycle
            points = [(at / 2, row + (low if at % 2 == 0 else high)) for at in range(2 * count)]
            line = [(x + dx, y) for x, y in points for dx in (0, 0.5)]
            axes.plot(*zip(*[(x, row + low + high - (y - row)) for x, y in line], strict=True), color=grey, lw=1.0)
            axes.text(-6 / step, row + 0.5, "clk_i", ha="right", va="center", fontsize=9)
            for cycle in range(0, count, 5):
                axes.text(cycle + 0.5, row - 0.15, str(first + cycle), ha="center", va="center", fontsize=7, color=grey)
            continue
        keys_of(name, wave, {"signal"}, {"text", "while", "digits"})
        axes.text(-6 / step, row + 0.5, wave.get("text", wave["signal"]), ha="right", va="center", fontsize=9)
        numbers = values(wave["signal"])
        if "while" not in wave:
            line = [(at + dx, row + (high if number else low)) for at, number in enumerate(numbers) for dx in (0, 1)]
            axes.plot(*zip(*line, strict=True), color=blue, lw=1.3, zorder=3)
            continue
        shown = [number if there else None for number, there in zip(numbers, values(wave["while"]), strict=True)]
        at = 0
        for number, run in itertools.groupby(shown):
            length = len(list(run))
            if number is None:
                axes.plot([at, at + length], [row + 0.5] * 2, color=blue, lw=1.3, zorder=3)
            else:
                corner, end = 3.6 / step, at + length
                outline = [
                    (at, 0.5),
                    (at + corner, high),
                    (end - corner, high),
                    (end, 0.5),
                    (end - corner, low),
                    (at + corner, low),
                ]
                axes.add_patch(plt.Polygon([(x, row + y) for x, y in outline], fc="#e3eefb", ec=blue, lw=1.1, zorder=3))
                text = f"{number:x}"[-wave.get("digits", 16) :]
                axes.text(at + length / 2, row + 0.5, text, ha="center", va="center", fontsize=7, zorder=4)
            at += length
    for mark in source.get("mark", []):
        keys_of(name, mark, {"cycle", "row", "text"}, set())
        place = (mark["cycle"] - first + 3 / step, mark["row"] + 1.5)
        axes.text(*place, mark["text"], ha="left", va="center", fontsize=8, color="#c07d10", zorder=5)
    return figure


def drawn(path: Path, png: Path | None) -> str:
    name = path.stem
    source = tomllib.loads(path.read_text())
    with plt.rc_context({"svg.hashsalt": name, "svg.fonttype": "none", "font.family": "DejaVu Sans"}):
        figure = (bars if "bars" in source else timing if "trace" in source else drawing)(name, source)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None, "Title": source.get("alt", name)})
        if png:
            png.mkdir(parents=True, exist_ok=True)
            figure.savefig(png / f"{name}.png", dpi=100)
        plt.close(figure)
    text = out.getvalue()
    mark = f"<!-- Drawn by tools/ngtools/pictures.py from docs/pictures/{name}.toml: do not edit -->\n"
    head, _, rest = text.partition("<svg")
    return head + mark + "<svg" + rest


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("--png", type=Path, metavar="FOLDER", help="also PNG, to look at")
    args = parser.parse_args()
    paths = [FOLDER / f"{name}.toml" for name in args.names] or sorted(FOLDER.glob("*.toml"))
    drifted = 0
    for path in paths:
        new, target = drawn(path, args.png), path.with_suffix(".svg")
        if target.exists() and target.read_text() == new:
            continue
        drifted += 1
        if args.check:
            print(
                f"{ngflow.from_root(target)} is not what {ngflow.from_root(path)} says: run make pictures, commit the result"
            )
        else:
            target.write_text(new)
            print(f"wrote {ngflow.from_root(target)}")
    print(f"{len(paths)} pictures, {drifted} {'drifted' if args.check else 'written'}")
    return 1 if args.check and drifted else 0


if __name__ == "__main__":
    sys.exit(ngflow.run_main(main))
