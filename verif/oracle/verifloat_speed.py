#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bits and speed of the golden model beside VeriFloat, on one thread: its quantizers and its product, of the same numbers.

    verifloat_speed.py PYTHON          a table; PYTHON is one that has verifloat 0.2.0 and numpy
    verifloat_speed.py PYTHON --json

Its results as numpy arrays are in VeriFloat's times. Exit code 1 where bits differ.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import test_verifloat
import verifloat_sweep as sweep

import narrowgauge as ng


def compared(python: str, seconds: float) -> list[dict]:
    command = [python, str(Path(sweep.__file__)), "--speed", "--seconds", str(seconds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{python} cannot measure VeriFloat; expected a Python with verifloat 0.2.0 and numpy")
    theirs = json.loads(done.stdout)
    x = sweep.matrix(0)
    ours = test_verifloat.our_digests(x)
    a, b = ng.quantize(x[: sweep.HALF], "nvfp4"), ng.quantize(x[sweep.HALF :].T, "nvfp4", axis=-2)
    runs = {
        "nvfp4": (x.size, partial(ng.quantize, x, "nvfp4", threads=1)),
        "modelopt": (x.size, partial(ng.quantize, x, dialect="modelopt", threads=1)),
        "mxfp4": (x.size, partial(ng.quantize, x, "mxfp4", threads=1)),
        "product": (sweep.HALF * sweep.K * sweep.HALF, partial(ng.gemm, a, b, threads=1)),
    }
    rows = []
    for kind, (count, run) in runs.items():
        golden, other = sweep.rate(count, run, seconds), theirs["rates"][kind]
        same = theirs["digests"][kind] == ours[kind]
        rows.append({"kind": kind, "same_bits": same, "golden": golden, "verifloat": other, "ratio": golden / other})
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", metavar="PYTHON", help="a Python with verifloat 0.2.0 and numpy")
    parser.add_argument("--seconds", type=float, default=1.0, help="time given to each measurement (default 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else on stdout")
    options = parser.parse_args()
    rows = compared(options.python, options.seconds)
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        print("| what | bits | golden model, /s | VeriFloat, /s | ratio |\n|---|---|---|---|---|")
        for row in rows:
            same = "the same" if row["same_bits"] else "others"
            print(f"| {row['kind']} | {same} | {row['golden']:.2g} | {row['verifloat']:.2g} | {row['ratio']:.2g} |")
    return 0 if all(row["same_bits"] for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
