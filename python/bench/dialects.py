#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed of every dialect's quantizer on one thread, beside a plain cast of ml_dtypes.

Elements a second of the whole quantization: maximum, scales, codes. The cast to FP4 of ml_dtypes has neither scales nor blocks.

dialects.py          the table of docs/dialects.md; verif/oracle/verifloat_speed.py has VeriFloat beside the golden model
dialects.py --json

Times are processor time. Needs the package on PYTHONPATH (the build directory's python/).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial

import ml_dtypes
import numpy as np
from bench import best_time  # first: it sets the threads of BLAS before numpy reads them

import narrowgauge as ng


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=int, default=1 << 22, help="for the quantizers (default 2^22)")
    parser.add_argument("--seconds", type=float, default=1.0, help="time given to each measurement (default 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else on stdout")
    options = parser.parse_args()
    if options.elements < 4096:
        parser.error("--elements must be at least 4096")
    rows = quantizers(options.elements, options.seconds)
    if options.json:
        print(json.dumps({"quantizers": rows}, indent=2))
    else:
        print("| quantizer | elements/s | over the cast |\n|---|---|---|")
        for row in rows:
            print(f"| {row['quantizer']} | {row['elements_per_second']:.2g} | {row['over_cast']:.2g} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
