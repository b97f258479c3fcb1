# SPDX-License-Identifier: Apache-2.0
"""Formats of each layer of a workload under a budget of energy: costs by the explorer, the choice by `choose_bits`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

from .._arguments import number, shown
from .._core import Error, Explorer
from .._energy import Gauge, checked_gauge
from .._explore import checked_settings, space_text, workload_text
from .budget import Layer, choose_bits


@dataclass(frozen=True)
class FormatChoice:
    """formats: of each layer, by name. loss: sum of the layers' losses; none within the budget is below `bound`. joule: of the choice;
    reference: of the format with the least loss in every layer. assumed: sentences."""

    formats: dict[str, str]
    loss: float
    bound: float
    joule: float
    reference: float
    technology: str
    assumed: tuple[str, ...]


def _noise(sqnr_db: object) -> float:
    """Of a product, relative to its signal; of an infinite ratio, none."""
    return 10 ** (-float(sqnr_db) / 10) if isinstance(sqnr_db, int | float) else 0.0


def _points(layer: Mapping[str, Any], space: str, gauge: Gauge | None) -> list[dict[str, Any]]:
    """The layer in each format of the space."""
    product = {"op": "gemm", **layer}
    explorer = Explorer(json.dumps({"layers": [product]}), space, gauge=gauge)
    axes = json.loads(explorer.space)
    for name, axis in axes.items():
        if isinstance(axis, list) and len(axis) > 1 and name != "objectives" and name != "format":
            raise Error(
                f'the space\'s "{name}" has {len(axis)} values; expected one of each axis but format, of which a layer takes one'
            )
    points = [json.loads(explorer.describe(place)) for place in range(explorer.points)]
    for point in points:
        if not point["possible"]:
            raise Error(
                f"the space's array is impossible in {point['format']}; expected formats and lanes that go together"
            )
    return points


def choose_formats(
    workload: str | PathLike[str] | Mapping[str, Any],
    space: str | PathLike[str] | Mapping[str, Any],
    energy: float,
    *,
    losses: Mapping[str, Mapping[str, float]] | None = None,
    set: Mapping[str, int] | None = None,
    gauge: Gauge | None = None,
) -> FormatChoice:
    """The format of each layer with the least sum of losses, whose energy is within a share of that of the most accurate format.

    workload, set: as for `explore`. space: as for `explore`, with several values of `format` and one of every other axis. energy: the
    share, above 0. losses: of each layer by name, by format; None: the noise of a product over its signal, as the explorer's accuracy
    proxy has it, which adds up over successive layers. Equal layers of one name have one format.

    Raises Error for what is not understood, for losses of other layers and formats, and for a budget below the cheapest choice.
    """
    share = number("energy", energy)
    if not 0 < share < float("inf"):
        raise Error(f"energy is {share}; expected a share above 0")
    settings = checked_settings(set)
    if losses is not None and not isinstance(losses, Mapping):
        raise Error(f"losses is {shown(losses)}; expected those of each layer, by format")
    spaced, checked = space_text(space), checked_gauge(gauge)
    whole = Explorer(workload_text(workload), spaced, set=settings, gauge=checked)
    layers: dict[str, list[dict[str, Any]]] = {}
    for layer in json.loads(whole.layers):
        layers.setdefault(layer["name"], []).append(layer)
    known: dict[str, list[dict[str, Any]]] = {}  # equal products are explored once
    asked, formats, assumed = [], [], dict[str, None]()
    technology = ""
    for name, products in layers.items():
        joules: dict[int, float] = {}
        noises: dict[int, float] = {}
        for product in products:
            key = json.dumps({**product, "name": ""})
            if key not in known:
                known[key] = _points(product, spaced, checked)
            formats = [point["format"] for point in known[key]]
            for place, point in enumerate(known[key]):
                joules[place] = joules.get(place, 0.0) + point["energy_j"]
                noises[place] = noises.get(place, 0.0) + _noise(point["sqnr_db"])
                technology = point["technology"]
                assumed |= dict.fromkeys(point["assumed"])
        if losses is not None:
            given = losses.get(name)
            if not isinstance(given, Mapping) or given.keys() != {*formats}:
                raise Error(
                    f"losses of layer '{name}' are {shown(given)}; expected one for each of {', '.join(formats)}"
                )
            noises = {
                place: number(f"loss of layer '{name}' in {format}", given[format])
                for place, format in enumerate(formats)
            }
        asked.append(Layer(name, noises, joules))
    best = sum(min((layer.losses[place], joule) for place, joule in layer.costs.items())[1] for layer in asked)
    choice = choose_bits(asked, share * best)
    return FormatChoice(
        {name: formats[place] for name, place in choice.bits.items()},
        choice.loss,
        choice.bound,
        choice.cost,
        best,
        technology,
        tuple(assumed),
    )
