#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the test split of the handwritten digits with a small network whose matrix products run on narrow arithmetic.

Every product of every layer is one `narrowgauge gemm` on the simulated RTL (or another engine), which compares each
result bit for bit with the golden model. Prints accuracy next to float32's and, for each layer, the signal to
quantization noise ratio (SQNR, against the float64 product of the same operands before they were quantized), clock
cycles, utilization of the array (products done / products possible) and whether all results were bit-exact.

Exit code: 0; 1 if a result was not bit-exact, or differs from the record given with --check; 2 if it could not run.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from network import FOLDER, TRAINING, Array, forward, load_data, load_weights

ROOT = FOLDER.parent.parent


class Failure(Exception):
    """A sentence for the user."""


def find_program(named: Path | None) -> Path:
    if named:
        if not named.is_file():
            raise Failure(f"there is no program {named}: build it (`make build`) or name another with --program")
        return named.resolve()
    for candidate in (ROOT / "build" / "bin" / "narrowgauge", shutil.which("narrowgauge")):
        if candidate and Path(candidate).is_file():
            return Path(candidate).resolve()
    raise Failure(
        "the program narrowgauge is neither in build/bin nor on PATH: run `make build`, or name it with --program"
    )


def multiply(program: Path, engine: str, format: str, a: Array, b: Array, folder: Path) -> tuple[Array, dict]:
    """The product and the program's report."""
    names = [str(folder / name) for name in ("A.npy", "B.npy", "C.npy")]
    np.save(names[0], a)
    np.save(names[1], b)
    command = [str(program), "gemm", *names[:2], "--format", format, "--engine", engine, "--out", names[2], "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)  # its progress goes to stderr
    if done.returncode not in (0, 1):
        raise Failure(f"`{' '.join(command)}` ended with code {done.returncode}: see its message above")
    return np.load(names[2]), json.loads(done.stdout)


def infer(program: Path, engine: str, format: str, images: Array, labels: np.ndarray) -> dict:
    """Runs all images through the network; accuracy, and a row of figures a layer."""
    layers: list[dict] = []
    with tempfile.TemporaryDirectory(prefix="narrowgauge-digits-") as folder:

        def product(name: str, a: Array, b: Array) -> Array:
            (m, k), n = a.shape, b.shape[1]
            print(f"  {format} {name}: {m} x {k} x {n} on {engine} ...", end="", file=sys.stderr, flush=True)
            started = time.monotonic()
            c, report = multiply(program, engine, format, a, b, Path(folder))
            agreement = report["agreement"]
            layers.append(
                {"layer": name, "m": m, "k": k, "n": n}
                | {key: report[key] for key in ("sqnr_db", "cycles", "products", "products_possible", "utilization")}
                | {"bit_exact": agreement["bit_exact"] if agreement else None, "results": m * n}
                | {"engine_seconds": report["engine_seconds"]}
            )
            print(f" {time.monotonic() - started:.1f} s", file=sys.stderr)
            return c

        predicted = forward(images, load_weights(), product).argmax(axis=1)
    correct = int((predicted == labels).sum())
    return {"format": format, "correct": correct, "accuracy": correct / len(labels), "layers": layers}


def measure(program: Path, engine: str, formats: list[str], count: int | None) -> dict:
    images, labels = load_data()
    images, labels = images[TRAINING:][:count], labels[TRAINING:][:count]
    reference = forward(images, load_weights(), lambda _, a, b: a @ b).argmax(axis=1)
    correct = int((reference == labels).sum())
    print(f"{len(labels)} images of the test split", file=sys.stderr)
    started = time.monotonic()
    runs = [infer(program, engine, format, images, labels) for format in formats]
    return {
        "images": len(labels),
        "engine": engine,
        "float32": {"correct": correct, "accuracy": correct / len(labels)},
        "runs": runs,
        "seconds": time.monotonic() - started,
    }


def all_bit_exact(result: dict) -> bool | None:
    """None if the engine is the golden model itself."""
    flags = [layer["bit_exact"] for run in result["runs"] for layer in run["layers"]]
    return None if None in flags else all(flags)


def record(result: dict) -> dict:
    """What a run on any engine and machine must give again."""
    runs = {
        run["format"]: {
            "correct": run["correct"],
            "sqnr_db": {layer["layer"]: round(layer["sqnr_db"], 1) for layer in run["layers"]},
        }
        for run in result["runs"]
    }
    return {"images": result["images"], "float32": result["float32"]["correct"], "formats": runs}


def same(now: dict, then: dict) -> bool:
    """SQNR is a sum in float64 whose last bits are its library's: it may lie just this or that side of a rounding to 0.1 dB."""

    def exact(of: dict) -> dict:
        return {**of, "formats": {name: run["correct"] for name, run in of["formats"].items()}}

    def rounded(of: dict) -> dict:
        return {(name, layer): db for name, run in of["formats"].items() for layer, db in run["sqnr_db"].items()}

    a, b = rounded(now), rounded(then)
    return exact(now) == exact(then) and a.keys() == b.keys() and all(abs(a[key] - b[key]) < 0.11 for key in a)


def number(value: float | None, pattern: str) -> str:
    return "-" if value is None else format(value, pattern)


def print_table(result: dict) -> None:
    images, base = result["images"], result["float32"]
    print(f"\n{'format':<12}{'accuracy':>10}{'right of ' + str(images):>15}{'against float32':>18}")
    print(f"{'float32':<12}{base['accuracy']:>10.2%}{base['correct']:>15}{'':>18}")
    for run in result["runs"]:
        change = 100 * (run["accuracy"] - base["accuracy"])
        print(f"{run['format']:<12}{run['accuracy']:>10.2%}{run['correct']:>15}{change:>+12.2f} points")
    head = (
        f"\n{'format':<12}{'layer':<7}{'M x K x N':>17}{'SQNR dB':>9}{'cycles':>12}{'utilization':>13}{'bit-exact':>11}"
    )
    print(head + f"{'MAC/s':>10}")
    for run in result["runs"]:
        for layer in run["layers"]:
            shape = f"{layer['m']} x {layer['k']} x {layer['n']}"
            exact = {True: "yes", False: "NO", None: "-"}[layer["bit_exact"]]
            rate = layer["products"] / layer["engine_seconds"] if layer["engine_seconds"] else None
            print(f"{run['format']:<12}{layer['layer']:<7}{shape:>17}{layer['sqnr_db']:>9.1f}", end="")
            print(f"{number(layer['cycles'], ',d'):>12}{number(layer['utilization'], '.1%'):>13}", end="")
            print(f"{exact:>11}{number(rate, '.1e'):>10}")
        if run["layers"][0]["cycles"]:
            cycles, done, possible = (
                sum(layer[key] for layer in run["layers"]) for key in ("cycles", "products", "products_possible")
            )
            print(f"{run['format']:<12}{'all':<7}{'':>17}{'':>9}{cycles:>12,d}{done / possible:>13.1%}")
    results = sum(layer["results"] for run in result["runs"] for layer in run["layers"])
    verdict = {
        True: f"all {results:,} results bit-exact with the golden model",
        False: "NOT all results were bit-exact with the golden model",
        None: f"{results:,} results of the golden model itself (--engine rtl compares with it)",
    }[all_bit_exact(result)]
    print(f"\n{verdict}; {result['seconds']:.0f} s on engine {result['engine']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, help="the program narrowgauge (default: build/bin, then PATH)")
    parser.add_argument("--engine", default="rtl", help="rtl (default) or model")
    parser.add_argument("--formats", nargs="+", default=["fp8_e4m3", "nvfp4"], metavar="FORMAT")
    parser.add_argument("--images", type=int, metavar="N", help="only the first N images of the test split")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else on stdout")
    parser.add_argument("--check", type=Path, metavar="FILE", help="fail if accuracy or SQNR differ from this record")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write such a record")
    options = parser.parse_args()
    if options.images is not None and options.images < 1:
        parser.error(f"--images is {options.images}; expected at least 1")
    try:
        result = measure(find_program(options.program), options.engine, options.formats, options.images)
    except Failure as failure:
        print(f"run.py: {failure}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print_table(result)
    if options.record:
        options.record.write_text(json.dumps(record(result), indent=2) + "\n")
    if all_bit_exact(result) is False:
        return 1
    if options.check:
        wanted = json.loads(options.check.read_text())
        if not same(record(result), wanted):
            print(f"run.py: got {record(result)}, but {options.check} says {wanted}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
