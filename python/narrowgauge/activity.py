# SPDX-License-Identifier: Apache-2.0
"""The program behind `narrowgauge energy --activity`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from ._activity import ActivityEnergy, activity_energy
from ._core import Error
from ._energy import Gauge
from ._tile_activity import TileActivityEnergy, tile_activity_energy


def as_json(energy: ActivityEnergy | TileActivityEnergy, explain: bool = False) -> dict[str, Any]:
    """The answer's object, and what was seen in the waves. Of a tile the object is the first cell's, with the sum as value."""
    rates = {"each": energy.each, "power_w": energy.power_w}
    if isinstance(energy, ActivityEnergy):
        seen = {key.name: getattr(energy, key.name) for key in fields(energy) if key.name != "answer"}
        return {**json.loads(energy.answer.json(explain=explain)), "activity": {**seen, **rates}}
    cell = as_json(energy.cells[0])
    shape = {"tile": energy.tile, "rows": energy.rows, "columns": energy.columns}
    seen = {**cell["activity"], **shape, "scope": energy.scope, "operations": energy.operations, **rates}
    return {
        **{key: value for key, value in cell.items() if key != "features"},
        "value": energy.value,
        "each": energy.each,
        "activity": {**seen, "cells": [each.answer.value for each in energy.cells]},
    }


def _pair(argument: str) -> tuple[str, str]:
    what, equals, name = argument.partition("=")
    if not equals or not name:
        raise argparse.ArgumentTypeError(f"{argument} is no WHAT=NAME, for example b=w_i")
    return what, name


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m narrowgauge.activity", description="What narrowgauge energy --activity calls."
    )
    parser.add_argument("file")
    parser.add_argument("--scope", required=True)
    parser.add_argument("--question", type=json.loads, default={})
    parser.add_argument("--clock")
    parser.add_argument("--window")
    parser.add_argument("--port", type=_pair, action="append", default=[])
    parser.add_argument("--calibration", action="append", default=[])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    question = dict(options.question)
    try:
        gauge = Gauge(options.calibration) if options.calibration else None
        common = {
            "clock": options.clock,
            "window": options.window.split(":") if options.window is not None else None,
            "gauge": gauge,
        }
        energy: ActivityEnergy | TileActivityEnergy
        if "tile" in question:
            if options.port:
                raise Error(
                    "--port is of a unit; expected none beside --tile, whose array has the names of ng_mac_array"
                )
            energy = tile_activity_energy(options.file, options.scope, **common, **question)
        else:
            energy = activity_energy(options.file, options.scope, ports=dict(options.port), **common, **question)
    except (Error, TypeError) as error:
        print(" ".join(str(error).split()), file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(as_json(energy, bool(question.get("explain"))), indent=1))
    else:
        print(energy, end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
