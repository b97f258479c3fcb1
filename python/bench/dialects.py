#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed of every dialect's quantizer on one thread, beside a plain cast of ml_dtypes and, if it is there, VeriFloat.

Elements a second of the whole quantization: maximum, scales, codes. The cast to FP4 of ml_dtypes has neither scales nor blocks.

dialects.py                      the table of docs/dialects.md
dialects.py --verifloat PYTHON   VeriFloat's quantizers and its product, too, under a Python that has verifloat 0.2.0 and numpy;
                                 first its codes, scales and products are compared with those of the golden model
dialects.py --json

Times are processor time. Needs the package on PYTHONPATH (the build directory's python/).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import ml_dtypes
import numpy as np
from bench import best_time  # first: it sets the threads of BLAS before numpy reads them

import narrowgauge as ng

ORACLE = Path(__file__).resolve().parents[2] / "verif" / "oracle"


def quantizers(elements: int, seconds: float) -> list[dict]:
    x = np.random.default_rng(3).standard_normal((elements // 4096, 4096), np.float32)
    runs: dict[str, Callable[[], object]] = {
        f"`{dialect}`": partial(ng.quantize, x, dialect=dialect, threads=1) for dialect in ng.dialects()
    }
    runs |= {
        "IF4": partial(ng.quantize_if4, x, threads=1),
        "MixFP4": partial(ng.quantize_mixfp4, x, threads=1),
        "HiFloat4": partial(ng.quantize_hif4, x, threads=1),
    }
    cast = x.size / best_time(partial(x.astype, ml_dtypes.float4_e2m1fn), seconds)
    rows = [{"quantizer": "cast of ml_dtypes to E2M1", "elements_per_second": cast, "over_cast": 1.0}]
    for name, run in runs.items():
        print(f"  {name} ...", file=sys.stderr, flush=True)
        rate = x.size / best_time(run, seconds)
        rows.append({"quantizer": name, "elements_per_second": rate, "over_cast": rate / cast})
    return rows


def beside_verifloat(python: str, seconds: float) -> list[dict]:
    """Rates of VeriFloat and of the golden model for the same numbers, whose bits are compared."""
    sys.path.insert(0, str(ORACLE))
    import test_verifloat
    import verifloat_sweep

    command = [python, str(ORACLE / "verifloat_sweep.py"), "--speed", "--seconds", str(seconds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(
            f"dialects.py: {python} cannot measure VeriFloat; expected a Python with verifloat 0.2.0 and numpy"
        )
    theirs = json.loads(done.stdout)
    x = verifloat_sweep.matrix(0)
    ours = test_verifloat.our_digests(x)
    half = verifloat_sweep.HALF
    a, b = ng.quantize(x[:half], "nvfp4"), ng.quantize(x[half:].T, "nvfp4", axis=-2)
    runs: dict[str, tuple[int, Callable[[], object]]] = {
        "nvfp4": (x.size, partial(ng.quantize, x, "nvfp4", threads=1)),
        "modelopt": (x.size, partial(ng.quantize, x, dialect="modelopt", threads=1)),
        "mxfp4": (x.size, partial(ng.quantize, x, "mxfp4", threads=1)),
        "product": (half * x.shape[1] * half, partial(ng.gemm, a, b, threads=1)),
    }
    rows = []
    for kind, (count, run) in runs.items():
        rate = count / best_time(run, seconds)
        rows.append(
            {
                "kind": kind,
                "same_bits": theirs["digests"][kind] == ours[kind],
                "golden": rate,
                "verifloat": theirs["rates"][kind],
                "ratio": rate / theirs["rates"][kind],
            }
        )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=1 << 22, help="for the quantizers (default 2^22)")
    parser.add_argument("--seconds", type=float, default=1.0, help="time given to each measurement (default 1)")
    parser.add_argument("--verifloat", metavar="PYTHON", help="a Python with verifloat 0.2.0 and numpy")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else on stdout")
    options = parser.parse_args()
    if options.elements < 4096:
        parser.error("--elements must be at least 4096")
    result: dict[str, list[dict]] = {"quantizers": quantizers(options.elements, options.seconds)}
    if options.verifloat:
        result["verifloat"] = beside_verifloat(options.verifloat, options.seconds)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print("| quantizer | elements/s | over the cast |\n|---|---|---|")
        for row in result["quantizers"]:
            print(f"| {row['quantizer']} | {row['elements_per_second']:.2g} | {row['over_cast']:.2g} |")
        if options.verifloat:
            print("\n| | bits | golden model, /s | VeriFloat, /s | ratio |\n|---|---|---|---|---|")
            for row in result["verifloat"]:
                same = "the same" if row["same_bits"] else "others"
                print(f"| {row['kind']} | {same} | {row['golden']:.2g} | {row['verifloat']:.2g} | {row['ratio']:.2g} |")
    return 0 if all(row["same_bits"] for row in result.get("verifloat", [])) else 1


if __name__ == "__main__":
    sys.exit(main())
