# SPDX-License-Identifier: Apache-2.0
"""Measures the energy of a multiply-accumulate on a board: `narrowgauge measure`, or `python -m narrowgauge.measure`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .._core import Error
from .._engine import Engine
from .._files import UnreadableError, read_arrays
from .._program import exit_code
from .._quantized import gemm_formats, quantize
from . import REGULATORS, BoardLoop, Rail, Schedule, how, measure, open_sensor, product, save
from .board import saved_products
from .sensors import KINDS

EXAMPLES = f"""\
sensors:
{chr(10).join("  " + line for line in KINDS.splitlines())}

examples:
  narrowgauge simulate-board --tile tiny --link board &
  narrowgauge measure --port board --clock 24e6 --sensor simulated:ina226 --technology tried --save my.json
  narrowgauge energy --calibration my.json --technology tried --format nvfp4

  narrowgauge measure --port /dev/ttyUSB1 --clock 24e6 --sensor ina226:1:0x40:0.1 --regulator linear --core-volts 1.2 \\
    --technology my-icebreaker --bitstream tiny.bin --save my.json
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="narrowgauge measure",
        description="Measures the energy of a multiply-accumulate on a board: the tile repeats a product on operands that stay in "
        "it, less the same tile at rest.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", help="serial device of the board")
    parser.add_argument("--baud", type=int, default=3_000_000, help="rate of its image (default 3000000)")
    parser.add_argument("--clock", type=float, metavar="HZ", help="clock of its image, as 24e6")
    parser.add_argument("--sensor", help="what measures, one of the forms below")
    parser.add_argument(
        "--regulator",
        choices=REGULATORS,
        default="none",
        help="between sensor and core (default none: the sensor is in the core's rail)",
    )
    parser.add_argument(
        "--core-volts", type=float, metavar="V", help="of the core, where the sensor does not measure it"
    )
    parser.add_argument("--format", default="nvfp4", help="of the product (default nvfp4)")
    parser.add_argument(
        "--shape", default="", metavar="MxNxK", help="of the product (default: four panels of each operand, K 128)"
    )
    parser.add_argument("--a", metavar="FILE", help="operand A as .npy, instead of normal numbers")
    parser.add_argument("--b", metavar="FILE", help="operand B as .npy")
    parser.add_argument("--seed", type=int, default=1, help="of normal operands (default 1)")
    parser.add_argument("--block", type=float, default=2.0, metavar="S", help="seconds of a block (default 2)")
    parser.add_argument("--settle", type=float, default=0.2, metavar="S", help="left out at its begin (default 0.2)")
    parser.add_argument("--triples", type=int, default=8, help="at least so many: rest, loop, rest (default 8)")
    parser.add_argument("--most", type=float, default=600.0, metavar="S", help="no longer than this (default 600)")
    parser.add_argument("--width", type=float, default=0.02, help="half of the interval that is enough (default 0.02)")
    parser.add_argument("--temperature", type=float, metavar="C", help="of the chip or the room, for the file")
    parser.add_argument("--bitstream", metavar="FILE", help="what the board runs; the file takes its SHA-256")
    parser.add_argument("--technology", metavar="NAME", help="of the file, as the gauge will know the board")
    parser.add_argument("--save", metavar="FILE", help="technology file, read by narrowgauge energy --calibration")
    parser.add_argument("--json", action="store_true", help="one object of JSON at the end, nothing else")
    return parser


def _shape(text: str, rows: int, cols: int) -> tuple[int, int, int]:
    if not text:
        return 4 * rows, 4 * cols, 128
    parts = text.split("x")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
        raise Error(f"--shape {text!r} is wrong; expected MxNxK with three numbers of 1 or more, as 4x4x128")
    m, n, k = map(int, parts)
    return m, n, k


def _operand(file: str | None, shape: tuple[int, int], random: np.random.Generator) -> NDArray[np.float32]:
    if file is None:
        return random.standard_normal(shape, np.float32)
    try:
        made = read_arrays(file)
        if not isinstance(made, np.ndarray) or made.dtype.kind not in "biuf":
            raise UnreadableError("it is no array of real numbers")
        return made.astype(np.float32)
    except UnreadableError as error:
        raise Error(f"cannot read {file}: {error}; expected an array as numpy.save writes it") from None


def _run(arguments: argparse.Namespace) -> None:
    for name in ("port", "clock", "sensor"):
        if getattr(arguments, name) is None:
            raise Error(f"--{name} is missing; expected it, as narrowgauge measure --help shows")
    if (arguments.save is None) != (arguments.technology is None):
        raise Error("--save and --technology go together; expected both or none")
    if arguments.format not in gemm_formats():
        raise Error(f"--format {arguments.format!r} is not known; expected one of {', '.join(gemm_formats())}")
    rail = Rail(arguments.regulator, arguments.core_volts)
    schedule = Schedule(arguments.block, arguments.settle, arguments.triples, arguments.most, arguments.width)
    bitstream = None if arguments.bitstream is None else Path(arguments.bitstream)
    if bitstream is not None and not bitstream.is_file():
        raise Error(f"--bitstream {bitstream} is no file; expected what the board runs")
    if arguments.save is not None:
        saved_products(arguments.save, arguments.technology)  # refuses another file before minutes are spent
    tell = not arguments.json
    sensor = open_sensor(arguments.sensor)
    try:
        engine = Engine("board", port=arguments.port, baud=arguments.baud)
        array = engine.array or ""
        rows, cols, lanes = (int(part) for part in array.split("x"))
        m, n, k = _shape(arguments.shape, rows, cols)
        random = np.random.default_rng(arguments.seed)
        a = quantize(_operand(arguments.a, (m, k), random), arguments.format)
        b = quantize(_operand(arguments.b, (k, n), random), arguments.format, axis=-2)
        loop = BoardLoop(engine, a, b, arguments.clock)
        (m, k), n = a.shape, b.shape[1]  # files have their own
        if tell:
            print(f"board      tile {array}; {m} x {n} x {k} in {arguments.format}, equal to the golden model's")
            print(f"sensor     {sensor.name}")

        def progress(triples: int, width: float) -> None:
            if tell and sys.stderr.isatty():
                print(f"\rtriple {triples}, interval +-{width * 100:.2f} % ", end="", file=sys.stderr, flush=True)

        found = measure(loop, sensor, rail, schedule, progress=progress)
        loop.check()
    finally:
        sensor.close()
    if tell and sys.stderr.isatty():
        print("\r" + " " * 50 + "\r", end="", file=sys.stderr)
    operands = "files" if arguments.a or arguments.b else f"normal numbers, seed {arguments.seed}"
    text = how(sensor.name, rail, schedule, found, arguments.temperature)
    entry = product(found, arguments.format, lanes, array, operands, text, bitstream)
    if arguments.save is not None:
        about = f"a board with tile {array} at {arguments.clock / 1e6:g} MHz, measured by narrowgauge measure"
        save(arguments.save, arguments.technology, about, entry)
    if arguments.json:
        print(json.dumps({"command": "measure", "shape": [m, n, k], "saved": arguments.save, **entry}))
        return
    low, high = (value * 1e12 for value in found.interval_j)
    print(f"rest       {found.rest_w * 1e3:.4g} mW")
    print(
        f"loop       {found.power_w * 1e3:.4g} mW more, {found.macs_per_s / 1e6:.4g} million multiply-accumulates a second"
    )
    print(f"energy     {found.energy_per_mac_j * 1e12:.4g} pJ a multiply-accumulate, {low:.4g} to {high:.4g} pJ")
    print(f"how        {text}")
    if arguments.save is not None:
        print(
            f"saved      {arguments.save}: narrowgauge energy --calibration {arguments.save} --technology {arguments.technology}"
        )


def main() -> int:
    """Exit code."""
    return exit_code(lambda: _run(_parser().parse_args()))


if __name__ == "__main__":
    sys.exit(main())
