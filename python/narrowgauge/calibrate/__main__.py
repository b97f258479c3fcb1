# SPDX-License-Identifier: Apache-2.0
"""Calibrates a network's tensors: `narrowgauge calibrate`, or `python -m narrowgauge.calibrate`."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._affine import AffineQuantizer
from .._codec import codec_report, compress
from .._core import Error
from .._explore import add_settings
from .._files import UnreadableError, read_arrays, written_whole
from .._program import exit_code
from . import (
    CONSTANTS,
    CORRECTIONS,
    PRIORS,
    UNIFORM,
    Layer,
    allocate_bits,
    centred_codes,
    choose_bits,
    choose_formats,
    clip_range,
    correct,
    energy_costs,
    kurtosis,
    kurtosis_loss,
    lapq_quantizer,
    lp_clip,
)

EXAMPLES = """\
examples:
  narrowgauge calibrate aciq weights.npz --bits 4 --per-channel 0 --correct mean --save quantized.npz
  narrowgauge calibrate aciq activations.npy --bits 4 --relu
  narrowgauge calibrate aciq weights.npz --bits 3 --per-channel 0 --allocate --codes coded
  narrowgauge calibrate lapq weights.npz --bits 4 --p 2.5
  narrowgauge calibrate kure weights.npz
  narrowgauge calibrate budget layers.json --energy 0.6
  narrowgauge calibrate formats resnet18 space.json --energy 0.6

layers.json is a list such as
  [{"name": "conv1", "products": 56448, "losses": {"8": 0, "4": 0.002, "2": 0.05}}, ...]
where losses are what a layer adds to the network's loss with so many bits.
"""
Row = dict[str, Any]
#: Values by channel, and the quantizer of each.
Quantized = tuple[NDArray[np.float32], list[AffineQuantizer | float]]
MOST_JSON = 2**26  # bytes


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="narrowgauge calibrate",
        description="Clips, bits and corrections of a trained network's tensors, without training it again.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    methods = parser.add_subparsers(dest="method", required=True, metavar="METHOD")

    def method(name: str, text: str, *, tensors: bool = True) -> argparse.ArgumentParser:
        made = methods.add_parser(
            name, help=text, description=text, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        made.add_argument(
            "files", nargs="+" if tensors else 1, metavar="FILE", help=".npy or .npz" if tensors else ".json"
        )
        made.add_argument("--json", action="store_true", help="one object of JSON, nothing else")
        return made

    aciq = method("aciq", "clips by the distribution of the numbers (ACIQ, arXiv 1810.05723)")
    aciq.add_argument("--prior", choices=PRIORS, default="laplace", help="distribution (default laplace)")
    aciq.add_argument("--constants", choices=CONSTANTS, default="exact", help="of the clips (default exact)")
    aciq.add_argument("--allocate", action="store_true", help="bits of each channel, 0 to 8, with --bits as their mean")
    aciq.add_argument("--correct", choices=CORRECTIONS, default="none", help="mean, or mean and deviation of a channel")
    lapq = method("lapq", "clips by the error's L_p norm (LAPQ, arXiv 1911.07190)")
    lapq.add_argument("--p", type=float, default=2.0, help="of the norm (default 2)")
    for one in (aciq, lapq):
        one.add_argument("--bits", type=int, default=4, help="of a code, 2 to 8 (default 4)")
        one.add_argument("--relu", action="store_true", help="the numbers come from a ReLU: none is below 0")
        one.add_argument("--per-channel", type=int, metavar="AXIS", help="a clip for each channel along this axis")
        one.add_argument("--save", metavar="FILE", help="write the quantized numbers, .npz, under the names they had")
        one.add_argument(
            "--codes", metavar="FOLDER", help="write the codes, compressed, NAME.ngfm each, and count bits"
        )
    kure = method("kure", "kurtosis of weights and the loss on it (KURE, arXiv 2002.07686)")
    kure.add_argument("--target", type=float, default=UNIFORM, help="kurtosis of the loss (default 1.8)")
    budget = method("budget", "bits of each layer within a budget of energy (integer program by HiGHS)", tensors=False)
    budget.add_argument("--energy", type=float, required=True, help="share of the energy of 8 bits in every layer")
    budget.add_argument("--technology", default="osu018", help="of the energy gauge (default osu018)")
    budget.add_argument("--lanes", type=int, default=16, help="that share an accumulator (default 16)")
    what = "formats of each layer of an explorer's workload within a budget of energy (the same integer program)"
    formats = methods.add_parser("formats", help=what, description=what)
    formats.add_argument("workload", help="as of narrowgauge explore")
    formats.add_argument("space", help="with several formats and one value of every other axis")
    formats.add_argument("--energy", type=float, required=True, help="share of that of the most accurate format")
    add_settings(formats)
    formats.add_argument("--json", action="store_true", help="one object of JSON, nothing else")
    return parser


def _tensors(files: list[str]) -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Arrays with their names: of a .npz those within, of a .npy the file's."""
    for file in files:
        try:
            loaded = read_arrays(file)
        except UnreadableError as error:
            raise Error(
                f"{file} cannot be read as .npy or .npz: {error}; expected what numpy.save or savez writes"
            ) from None
        named = {Path(file).stem: loaded} if isinstance(loaded, np.ndarray) else loaded
        for name, values in named.items():
            if values.dtype.kind not in "fiu":
                raise Error(f"{file}: '{name}' is of type {values.dtype}; expected real numbers")
            yield name, values.astype(np.float32)


def _db(x: NDArray[np.float32], y: NDArray[np.float32]) -> float:
    """Signal to quantization noise."""
    noise = float(np.square(x.astype(np.float64) - y).sum())
    return (
        math.inf if noise == 0 else 10 * math.log10(max(float(np.square(x.astype(np.float64)).sum()), 1e-300) / noise)
    )


def _by_channel(x: NDArray[np.float32], axis: int | None) -> NDArray[np.float32]:
    """The tensor with its channels in front: along `axis`, or one for all numbers."""
    if axis is None:
        return x[np.newaxis]
    if not -x.ndim <= axis < x.ndim:
        raise Error(f"--per-channel is {axis}; expected an axis of a tensor with {x.ndim} axes")
    return np.moveaxis(x, axis, 0)


def _whole(channels: NDArray[Any], axis: int | None) -> NDArray[Any]:
    """The tensor of which _by_channel() made these channels."""
    return channels[0] if axis is None else np.moveaxis(channels, 0, axis)


def _quantized(
    channels: NDArray[np.float32], quantizer: Callable[[NDArray[np.float32], int], AffineQuantizer | float]
) -> Quantized:
    """The values of all channels, each by its own quantizer; a number in its place is what the whole channel becomes."""
    used = [quantizer(channel, i) for i, channel in enumerate(channels)]
    values = [
        np.full_like(channel, one) if isinstance(one, float) else one.dequantize(one.quantize(channel))
        for channel, one in zip(channels, used, strict=True)
    ]
    return np.stack(values), used


def _row(name: str, x: NDArray[np.float32], y: NDArray[np.float32], used: list[AffineQuantizer | float]) -> Row:
    bits = [0 if isinstance(one, float) else one.bits for one in used]
    return {
        "name": name,
        "shape": list(x.shape),
        "bits": float(np.mean(bits)),
        "channels": [
            {"bits": 0, "value": one}
            if isinstance(one, float)
            else {"bits": one.bits, "scale": one.scale, "offset": one.offset, "zero_point": one.zero_point}
            for one in used
        ],
        "mean_square_error": float(np.square(x.astype(np.float64) - y).mean()),
        "sqnr_db": _db(x, y),
    }


def _unclipped(channels: NDArray[np.float32], bits: int) -> float:
    """What the whole range would give: dB."""

    def whole(channel: NDArray[np.float32], _: int) -> AffineQuantizer | float:
        low, high = float(channel.min()), float(channel.max())
        return (
            low if low == high else AffineQuantizer.of_range(low, width=high - low, rule="cnn_quantization", bits=bits)
        )

    return _db(channels, _quantized(channels, whole)[0])


def _aciq(arguments: argparse.Namespace, channels: NDArray[np.float32]) -> Quantized:
    if arguments.allocate and arguments.per_channel is None:
        raise Error("--allocate gives bits to channels; expected --per-channel AXIS beside it")
    bits = allocate_bits(channels, arguments.bits) if arguments.allocate else None

    def quantizer(channel: NDArray[np.float32], i: int) -> AffineQuantizer | float:
        mine = arguments.bits if bits is None else int(bits[i])
        if mine < 2:  # fewer than a quantizer has
            return float(channel.mean(dtype=np.float64))
        found = clip_range(channel, mine, prior=arguments.prior, relu=arguments.relu, constants=arguments.constants)
        if found.width == 0:
            return float(channel[0])
        return AffineQuantizer.of_range(found.low, width=found.width, rule="cnn_quantization", bits=mine)

    y, used = _quantized(channels, quantizer)
    return correct(y, channels, correction=arguments.correct), used


def _lapq(arguments: argparse.Namespace, channels: NDArray[np.float32]) -> Quantized:
    def quantizer(channel: NDArray[np.float32], _: int) -> AffineQuantizer | float:
        clip = lp_clip(channel, arguments.bits, p=arguments.p, relu=arguments.relu)
        return lapq_quantizer(clip, arguments.bits, relu=arguments.relu)

    return _quantized(channels, quantizer)


def _table(rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _coded(folder: Path, name: str, codes: NDArray[np.int8]) -> Row:
    """Writes the codes of a tensor; bits a number, of the file and of its entropy."""
    if not name or "/" in name or name.startswith("."):
        raise Error(f"--codes makes a file of the name of each tensor, and one is {name!r}; expected another name")
    data = compress(codes)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(f"cannot make the folder {folder}: {error}") from None
    file = folder / f"{name}.ngfm"
    with written_whole(file, str(file)) as out:
        out.write(data)
    return {"coded_bits": 8 * len(data) / codes.size, "entropy_bits": codec_report(codes)["entropy"]}


def _tensors_calibrated(arguments: argparse.Namespace) -> None:
    work = _aciq if arguments.method == "aciq" else _lapq
    rows: list[Row] = []
    saved: dict[str, NDArray[np.float32]] = {}
    for name, x in _tensors(arguments.files):
        if (arguments.save or arguments.codes) and any(row["name"] == name for row in rows):
            raise Error(f"two tensors have the name '{name}', and one would be lost; expected names that differ")
        if x.size < 2:
            raise Error(f"'{name}' has {x.size} values; expected 2 or more")
        channels = _by_channel(x, arguments.per_channel)
        values, used = work(arguments, channels)
        y = _whole(values, arguments.per_channel)
        rows.append(_row(name, x, y, used) | {"unclipped_sqnr_db": _unclipped(channels, arguments.bits)})
        if arguments.codes:
            codes = _whole(centred_codes(channels, used), arguments.per_channel)
            rows[-1] |= _coded(Path(arguments.codes), name, codes)
        if arguments.save:
            saved[name] = y
    if arguments.save:
        with written_whole(arguments.save, arguments.save) as file:
            np.savez(file, allow_pickle=False, **saved)
    if arguments.json:
        print(json.dumps({"method": arguments.method, "tensors": rows}))
        return
    keys = {"bits": "bits", "sqnr_db": "SQNR dB", "unclipped_sqnr_db": "unclipped dB"}
    if arguments.codes:
        keys |= {"coded_bits": "coded bits", "entropy_bits": "entropy"}
    table = [["tensor", "shape", *keys.values()]]
    for row in rows:
        table.append([row["name"], " x ".join(map(str, row["shape"])), *(f"{row[key]:.2f}" for key in keys)])
    print(_table(table))


def _kure(arguments: argparse.Namespace) -> None:
    rows: list[Row] = [
        {"name": name, "kurtosis": kurtosis(x), "loss": kurtosis_loss(x, target=arguments.target)[0]}
        for name, x in _tensors(arguments.files)
        if x.ndim > 1  # biases have no loss
    ]
    if not rows:
        raise Error("no tensor has two axes or more; expected weights")
    mean = float(np.mean([row["loss"] for row in rows]))
    if arguments.json:
        print(json.dumps({"method": "kure", "target": arguments.target, "loss": mean, "tensors": rows}))
        return
    table = [["tensor", "kurtosis", "loss"]]
    table += [[row["name"], f"{row['kurtosis']:.3f}", f"{row['loss']:.4f}"] for row in rows]
    print(_table(table))
    print(f"mean loss {mean:.4f}, target {arguments.target:g}")


def _budget(arguments: argparse.Namespace) -> None:
    file = Path(arguments.files[0])
    try:
        if file.stat().st_size > MOST_JSON:
            raise Error(f"{file} has {file.stat().st_size} bytes; expected at most {MOST_JSON}")
        given = json.loads(file.read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise Error(f"{file} cannot be read as JSON: {error}; expected a list of layers") from error
    if not isinstance(given, list) or not given:
        raise Error(f"{file} is no list of layers; expected [{{name, products, losses}}, ...]")
    read: list[tuple[str, float, dict[int, float]]] = []
    for i, item in enumerate(given):
        try:
            name, products = str(item["name"]), float(item["products"])
            losses = {int(bits): float(loss) for bits, loss in item["losses"].items()}
        except (TypeError, KeyError, ValueError, AttributeError) as error:
            raise Error(f"{file}: layer {i} is {item!r}; expected name, products and losses by bits") from error
        read.append((name, products, losses))
    widths = sorted({8}.union(*(losses for _, _, losses in read)))
    each = energy_costs(1, widths, technology=arguments.technology, lanes=arguments.lanes)
    all_wide = each[8] * sum(products for _, products, _ in read)
    layers = [Layer(name, losses, {bits: products * each[bits] for bits in losses}) for name, products, losses in read]
    choice = choose_bits(layers, arguments.energy * all_wide)
    if arguments.json:
        print(
            json.dumps(
                {"method": "budget", **asdict(choice), "energy_of_8_bits": all_wide, "technology": arguments.technology}
            )
        )
        return
    table = [["layer", "bits"]]
    table += [[name, str(bits)] for name, bits in choice.bits.items()]
    print(_table(table))
    print(
        f"loss {choice.loss:.6g} (none within the budget is below {choice.bound:.6g}), "
        f"{choice.cost:.4g} J, {choice.cost / all_wide:.1%} of 8 bits everywhere, {arguments.technology}"
    )


def _formats(arguments: argparse.Namespace) -> None:
    choice = choose_formats(arguments.workload, arguments.space, arguments.energy, set=dict(arguments.set))
    if arguments.json:
        print(json.dumps({"method": "formats", **asdict(choice)}))
        return
    print(_table([["layer", "format"], *([name, format] for name, format in choice.formats.items())]))
    print(
        f"noise over signal {choice.loss:.4g} (none within the budget is below {choice.bound:.4g}), {choice.joule:.4g} J, "
        f"{choice.joule / choice.reference:.1%} of the most accurate format everywhere, {choice.technology}; "
        f"{len(choice.assumed)} assumptions: --json"
    )


def _run(arguments: argparse.Namespace) -> None:
    {"kure": _kure, "budget": _budget, "formats": _formats}.get(arguments.method, _tensors_calibrated)(arguments)


def main() -> int:
    """Exit code."""
    return exit_code(lambda: _run(_parser().parse_args()))


if __name__ == "__main__":
    sys.exit(main())
