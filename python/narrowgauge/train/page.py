# SPDX-License-Identifier: Apache-2.0
"""What a run looked like: a picture of its losses, or a page that holds all its figures and needs nothing else."""

from __future__ import annotations

import html
import io
import json
from pathlib import Path
from typing import Any

from .._core import Error
from .._files import written_whole
from ..page import STYLE


def draw(result: dict[str, Any], path: str) -> None:
    """Writes the losses as .png or .svg, or everything as .html, whole or not at all. result: what `narrowgauge train --json` prints.

    Raises Error for another ending and where it cannot be written; needs matplotlib.
    """
    ending = Path(path).suffix
    if ending not in (".png", ".svg", ".html"):
        raise Error(f"--curve names {path}; expected a file that ends in .png, .svg or .html")
    made = _picture(result, "png" if ending == ".png" else "svg")
    if ending == ".html":
        made = _page(result, made.decode()).encode()
    with written_whole(path, path) as file:
        file.write(made)


def _picture(result: dict[str, Any], kind: str) -> bytes:
    from ..plot import _pyplot

    plt = _pyplot()
    figure, axes = plt.subplots(figsize=(7, 4))
    end = result["steps"]
    axes.plot(
        range(end - len(result["losses"]) + 1, end + 1), result["losses"], color="#56B4E9", linewidth=0.8, label="batch"
    )
    axes.plot(
        [each["step"] for each in result["evaluations"]],
        [each["loss"] for each in result["evaluations"]],
        color="#D55E00",
        marker="o",
        label="held out",
    )
    axes.set(xlabel="step", ylabel="loss [nat]", title=f"{result['recipe']['name']}, seed {result['seed']}")
    axes.legend(frameon=False)
    figure.tight_layout()
    made = io.BytesIO()
    figure.savefig(made, format=kind)
    plt.close(figure)
    return made.getvalue()


def _table(head: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    lines = ["<table><tr>" + "".join(f"<th>{html.escape(word)}</th>" for word in head) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows]
    return "\n".join([*lines, "</table>"])


def _page(result: dict[str, Any], picture: str) -> str:
    name, steps = html.escape(result["recipe"]["name"]), result["steps"]
    source = html.escape(result["recipe"]["source"])
    prices = result["energy"]
    products: list[tuple[object, ...]] = []
    for kind, count in result["multiply_accumulates"].items():
        price = prices.get(kind, {})
        joule = price.get("joule")
        products.append(
            (kind, f"{count:,}", "" if joule is None else f"{joule:.3g}", price.get("why", price.get("rung", "")))
        )
    parts = [
        f"<!doctype html><html lang='en'><meta charset='utf-8'><meta name='viewport' content='width=device-width'><title>{name}</title>",
        f"<style>{STYLE}</style><body class='narrow'><h1>{name}</h1>",
        f"<p>{source or 'A recipe without a source'}. {steps} steps, seed {result['seed']}, {result['parameters']:,} parameters, ",
        f"engine {html.escape(result['engine'])}, workers {result['workers']}, {result['verified_steps']} steps verified.</p>",
        picture[picture.index("<svg") :],
        "<h2>Held out</h2>",
        _table(
            ("step", "loss, nat", "accuracy, %"),
            [(e["step"], f"{e['loss']:.4f}", f"{100 * e['accuracy']:.2f}") for e in result["evaluations"]],
        ),
        "<h2>Products</h2>",
        _table(("operands", "multiply-accumulates", "joules", "by"), products),
        "<h2>Seconds of this simulation</h2>",
        _table(("part", "s"), [(part, f"{seconds:.2f}") for part, seconds in result["seconds"].items()]),
    ]
    if result["noise"]:
        parts += [
            "<h2>Gradient over noise</h2><p>Below 1.73 steps no longer help (arXiv 2505.19115, section 4).</p>",
            _table(("step", "layer", "ratio"), [(e["step"], e["layer"], f"{e['ratio']:.2f}") for e in result["noise"]]),
        ]
    if result["raised_layers"]:
        parts += [
            "<h2>Layers kept high</h2>",
            _table(("from step", "layer"), [(e["step"], e["layer"]) for e in result["raised_layers"]]),
        ]
    everything = json.dumps(result).replace("<", "\\u003c")
    parts.append(f"<script type='application/json' id='result'>{everything}</script></html>")
    return "\n".join(parts)
