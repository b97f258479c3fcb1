# SPDX-License-Identifier: Apache-2.0
"""Looks into a checkpoint: `narrowgauge checkpoint`, or `python -m narrowgauge.checkpoint`."""

from __future__ import annotations

import argparse
import json
import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import shown
from .._core import Error
from .._engine import Engine
from .._files import UnreadableError, read_arrays, written_whole
from .._program import exit_code
from .._quantized import SCALINGS, QuantizedMatrix
from .integers import ZERO_POINTS, IntegerMatrix
from .reader import ACTIVATIONS, CONVENTIONS, NIBBLES, SCALE_LAYOUTS, ZERO_SCALES, Checkpoint, Layer
from .recognize import LAYOUTS
from .writer import Change, convert

EXAMPLES = """\
A FILE is a .safetensors file, an index of shards (model.safetensors.index.json), a folder with either, or a file of GGUF.
Files are mapped, not read: a list of a checkpoint of any size takes the headers only.

Reported of each layer:
  how          layout and format: modelopt, compressed-tensors, torchao, deepseek, gpt-oss, gguf, gptq, awq
  global       the scale of the whole tensor as a multiplier, and whether the file has it so or as a divisor
  refused      why a layer cannot be read, with the name of the tensor; exit code 2 then

examples:
  narrowgauge checkpoint model.safetensors                               what is quantized, and how
  narrowgauge checkpoint model.safetensors --check                       every scale of every layer looked at
  narrowgauge checkpoint model.safetensors --layer model.layers.0.mlp.up_proj --input X.npy --engine rtl
  narrowgauge checkpoint model.safetensors --to compressed-tensors --out other.safetensors
  narrowgauge checkpoint model.safetensors --dialect te_4over6           what another quantizer would change
  narrowgauge checkpoint folder --format fp8_e4m3 --scaling 128x128 --to deepseek --out other_folder
docs/checkpoints.md has the layouts.
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="narrowgauge checkpoint",
        description="What of a checkpoint is quantized, and how; one layer on any engine; another layout or quantizer.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="checkpoint: a file, an index of shards, or a folder")
    parser.add_argument("--check", action="store_true", help="read every layer, and say what is wrong with its scales")
    parser.add_argument("--json", action="store_true", help="one object of JSON, nothing else")
    names = parser.add_argument_group("what the file has")
    names.add_argument(
        "--global-scale", choices=CONVENTIONS, default="names", help="what global scales are (default: by their names)"
    )
    names.add_argument(
        "--nibbles", choices=NIBBLES, default="low_first", help="which code of a byte is first (default low_first)"
    )
    names.add_argument("--scale-layout", choices=SCALE_LAYOUTS, default="auto", help="of block scales (default auto)")
    names.add_argument(
        "--zero-scales",
        choices=ZERO_SCALES,
        default="refuse",
        help="block scales of 0 above codes that are not (default refuse)",
    )
    layer = parser.add_argument_group("one layer")
    layer.add_argument("--layer", metavar="NAME", help="the layer of this name, or of this tensor")
    layer.add_argument("--expert", type=int, metavar="N", help="of a stack of matrices, this one")
    layer.add_argument("--input", metavar="X.npy", help="multiply these rows by the layer's weight, transposed")
    layer.add_argument("--engine", default=None, metavar="E", help="model, systemc, rtl (default model)")
    layer.add_argument(
        "--tile", default=None, metavar="T", help="simulated hardware (default: the largest that has the format)"
    )
    layer.add_argument(
        "--activations",
        choices=ACTIVATIONS,
        default="file",
        help="the input's scale: the file's, or measured (default file)",
    )
    names.add_argument(
        "--zero-points",
        choices=ZERO_POINTS,
        default="auto",
        help="of gptq: by its configuration, or what its fields hold (default auto)",
    )
    again = parser.add_argument_group("another checkpoint")
    again.add_argument("--to", choices=tuple(LAYOUTS), metavar="LAYOUT", help=f"layout to write: {', '.join(LAYOUTS)}")
    again.add_argument("--dialect", metavar="D", help="quantize again in a dialect, as `narrowgauge quantize` has them")
    again.add_argument("--format", metavar="F", help="quantize again in a format")
    again.add_argument(
        "--scaling", choices=SCALINGS, default="tensor", help="of FP8, which elements share a scale (default tensor)"
    )
    parser.add_argument("--out", metavar="PATH", help="with --input: the result, .npy; else the other checkpoint")
    return parser


def _json(value: Any) -> Any:
    """Infinities are null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {k: _json(v) for k, v in value.items()}
    return [_json(v) for v in value] if isinstance(value, list | tuple) else value


def _table(rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.4g} {unit}"
        count /= 1000
    return f"{count:.4g} TB"


def _how(row: dict[str, Any]) -> str:
    if row["scheme"] == "affine":
        return f"{row['element']} group {-(-row['shape'][-1] // row['groups'])}"
    element = f" {row['element']}" if row["scheme"] in ("fp8", "mxfp8") else ""
    scaling = f" {row['scaling']}" if row["scaling"] not in (None, "tensor") else ""
    return f"{row['scheme']}{element}{scaling}"


def _above(row: dict[str, Any]) -> str:
    numbers = row["global_scale"]
    if not numbers:
        return "-"
    text = f"{numbers[0]:.6g}" if len(numbers) == 1 else f"{min(numbers):.4g} to {max(numbers):.4g}"
    return f"{text} (a {row['convention']})"


def _rows(checkpoint: Checkpoint, check: bool) -> list[dict[str, Any]]:
    rows = []
    for layer in checkpoint.layers.values():
        row = layer.summary()
        if check and row["problem"] is None:
            try:
                for index in range(layer.shape[0]) if len(layer.shape) > 2 else (None,):
                    layer.read(index)
            except Error as error:
                row["problem"] = str(error)
        rows.append(row)
    return rows


def _listed(checkpoint: Checkpoint, arguments: argparse.Namespace) -> None:
    rows = _rows(checkpoint, arguments.check)
    refused = [row for row in rows if row["problem"] is not None]
    others = [
        {"name": name, "dtype": dtype, "shape": list(shape)} for name, (dtype, shape) in checkpoint.others.items()
    ]
    if arguments.json:
        made = {
            "path": shown(str(checkpoint.path)).strip("'\""),
            "layers": rows,
            "others": others,
            "checked": arguments.check,
        }
        print(json.dumps(_json(made)))
    else:
        good = [row for row in rows if row["problem"] is None]
        if good:
            table = [["layer", "layout", "how", "shape", "global scale", "size"]]
            table += [
                [r["name"], r["layout"], _how(r), " x ".join(map(str, r["shape"])), _above(r), _size(r["bytes"])]
                for r in good
            ]
            print(_table(table))
        notes = sorted({note for row in rows for note in row["notes"]})
        for note in notes:
            with_it = [row["name"] for row in rows if note in row["notes"]]
            print(f"note: {note} ({with_it[0]}{f' and {len(with_it) - 1} more' if len(with_it) > 1 else ''})")
        for row in refused:
            print(f"refused: {row['name']}: {row['problem']}")
        print(
            f"{len(good)} quantized layers, {_size(sum(row['bytes'] for row in good))}; {len(others)} other tensors"
            + ("; every scale is a positive number" if arguments.check and not refused else "")
        )
    if refused:
        raise Error(f"{len(refused)} of {len(rows)} layers are refused, the first: {refused[0]['problem']}")


def _facts(layer: Layer, q: QuantizedMatrix | IntegerMatrix) -> dict[str, Any]:
    values = np.asarray(q)
    facts = layer.summary() | {
        "amax": float(np.abs(values).max()),
        "zeros": float(np.mean(values == 0)),
        "rms": float(np.sqrt(np.square(values, dtype=np.float64).mean())),
    }
    scales = q.scales
    if scales is not None and scales.dtype == np.uint8:
        facts["scale_codes"] = [int(scales.min()), int(scales.max())]
    elif scales is not None:
        facts["scales"] = [float(scales.min()), float(scales.max())]
    return facts


def _input(path: str) -> NDArray[Any]:
    try:
        made = read_arrays(path)
    except UnreadableError as error:
        raise Error(
            f"{shown(path)} cannot be read as .npy: {error}; expected a matrix as numpy.save writes it"
        ) from None
    if not isinstance(made, np.ndarray):
        raise Error(f"{shown(path)} is an archive; expected one .npy matrix")
    return made


def _print_facts(facts: dict[str, Any]) -> None:
    lines = [
        ("layer", facts["name"]),
        ("how", f"{_how(facts)}, layout {facts['layout']}"),
        ("shape", " x ".join(map(str, facts["shape"]))),
        ("tensors", ", ".join(f"{name} ({what})" for what, name in facts["tensors"].items())),
    ]
    if facts["global_scale"]:
        lines.append(("global scale", f"{_above(facts)}"))
    if facts["scale_layout"]:
        lines.append(("block scales", f"in {'rows' if facts['scale_layout'] == 'rows' else 'tiles of 128 x 4'}"))
    if "scale_codes" in facts:
        lines.append(("", "codes 0x{:02X} to 0x{:02X}".format(*facts["scale_codes"])))
    if "scales" in facts:
        lines.append(("scales", "{:.6g} to {:.6g}".format(*facts["scales"])))
    if "amax" in facts:
        lines.append(
            ("values", f"largest {facts['amax']:.6g}, root mean square {facts['rms']:.6g}, {facts['zeros']:.2%} zeros")
        )
    lines += [("note", note) for note in facts["notes"]]
    for name, value in lines:
        print(f"{name:<14}{value}")


def _one_layer(checkpoint: Checkpoint, arguments: argparse.Namespace) -> bool:
    layer = checkpoint[arguments.layer]
    stack = len(layer.shape) > 2 and arguments.expert is None
    if arguments.input is None:
        facts = layer.summary() if stack else _facts(layer, layer.read(arguments.expert))
        if facts["problem"] is not None:
            raise Error(facts["problem"])
        if arguments.json:
            print(json.dumps(_json(facts)))
        else:
            _print_facts(facts)
        return True
    name = arguments.engine or "model"
    made = layer.multiply(
        _input(arguments.input),
        engine=Engine(name, tile=arguments.tile),
        index=arguments.expert,
        activations=arguments.activations,
    )
    same = None
    if name != "model":
        golden = layer.multiply(_input(arguments.input), index=arguments.expert, activations=arguments.activations).y
        same = int(np.count_nonzero(made.y.view(np.uint32) != golden.view(np.uint32)))
    if arguments.out is not None:
        with written_whole(arguments.out, shown(arguments.out)) as file:
            np.save(file, made.y)
    facts = layer.summary() | {
        "engine": name,
        "tile": made.run.tile,
        "result": list(made.y.shape),
        "different": same,
        "cycles": made.run.cycles,
        "sqnr_db": made.sqnr_db,
        "out": arguments.out,
    }
    if arguments.json:
        print(json.dumps(_json(facts)))
        return not same
    _print_facts(facts)
    print(
        f"{'result':<14}{' x '.join(map(str, made.y.shape))} on engine {name}"
        + (f", tile {made.run.tile}" if made.run.tile else "")
    )
    if same is not None:
        agreement = (
            "bit for bit with the golden model" if same == 0 else f"{same} results differ from the golden model's"
        )
        print(f"{'agreement':<14}{agreement}\n{'cycles':<14}{made.run.cycles}")
    print(f"{'SQNR':<14}{made.sqnr_db:.2f} dB against a product in float64 of the input and the weight's values")
    return not same


def _changes(changes: list[Change], arguments: argparse.Namespace) -> None:
    if arguments.json:
        print(json.dumps(_json({"out": arguments.out, "layers": [change._asdict() for change in changes]})))
        return
    table = [["layer", "before", "after", "codes", "scales", "tensor scale", "SQNR dB", "largest change", "size"]]
    for c in changes:
        codes = "other format" if c.codes is None else f"{c.codes} of {c.elements}"
        scales = "other format" if c.scales is None else str(c.scales)
        before, after = c.tensor_scale
        table.append([
            c.layer, c.before, c.after, codes, scales, f"{before:.9g}" if before == after else f"{before:.9g} to {after:.9g}",
            f"{c.sqnr_db:.2f}", f"{c.largest:.4g}", f"{_size(c.bytes[0])} to {_size(c.bytes[1])}",
        ])  # fmt: skip
    print(_table(table))
    if arguments.out is not None:
        print(f"written: {arguments.out}")


def _run(arguments: argparse.Namespace, outcome: list[int]) -> None:
    again = arguments.to is not None or arguments.dialect is not None or arguments.format is not None
    if arguments.layer is None:
        for option in ("input", "expert", "engine", "tile"):
            if getattr(arguments, option) is not None:
                raise Error(f"--{option} is for one layer; expected --layer NAME beside it")
    elif again:
        raise Error("--to, --dialect and --format are for all layers; expected no --layer")
    elif arguments.input is None and (arguments.engine or arguments.out or arguments.tile):
        raise Error("--engine, --tile and --out of a layer are for a product; expected --input X.npy beside them")
    if arguments.layer is None and arguments.out is not None and not again:
        raise Error("--out would have nothing to be written; expected --to, --dialect or --format beside it")
    if arguments.to is not None and arguments.out is None:
        raise Error("--to says how to write; expected --out PATH beside it")
    checkpoint = Checkpoint(
        arguments.file,
        global_scale=arguments.global_scale,
        nibbles=arguments.nibbles,
        scale_layout=arguments.scale_layout,
        zero_scales=arguments.zero_scales,
        zero_points=arguments.zero_points,
    )
    if arguments.layer is not None:
        outcome.append(0 if _one_layer(checkpoint, arguments) else 1)
    elif again:
        made = convert(
            checkpoint,
            arguments.out,
            layout=arguments.to,
            dialect=arguments.dialect,
            format=arguments.format,
            scaling=arguments.scaling,
        )
        _changes(made, arguments)
    else:
        _listed(checkpoint, arguments)


def main() -> int:
    """Exit code: 0 done, 1 an engine differs from the golden model, 2 bad input."""
    outcome: list[int] = []
    return exit_code(lambda: _run(_parser().parse_args(), outcome)) or max(outcome, default=0)


if __name__ == "__main__":
    sys.exit(main())
