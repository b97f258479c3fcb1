#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Transposable masks: how long a matrix takes by each method, and how much magnitude the 2-approximation keeps of the best.

For random matrices of several distributions, and for the weights named on the command line (.npy, two dimensions; rows and
columns that fill no block are left out). Times are processor time of one thread.

Needs the package on PYTHONPATH (the build directory's python/). docs/sparsity.md has the table.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

for library in ("OPENBLAS", "OMP", "MKL"):  # before numpy reads them
    os.environ[f"{library}_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402

import narrowgauge as ng  # noqa: E402

METHODS = {"2:4-T": ("approximate", "exact", "enumerate"), "4:8-T": ("approximate", "exact")}


def kept_by_block(x: np.ndarray, mask: np.ndarray, m: int) -> np.ndarray:
    kept = np.where(mask, np.abs(x.astype(np.float64)), 0)
    return kept.reshape(x.shape[0] // m, m, x.shape[1] // m, m).sum(axis=(1, 3)).ravel()


def measure(name: str, x: np.ndarray) -> list[dict]:
    rows = []
    for pattern, methods in METHODS.items():
        m = int(pattern[2])
        seconds, kept = {}, {}
        for method in methods:
            start = time.process_time()
            mask = ng.transposable_mask(x, pattern, method=method)
            seconds[method] = time.process_time() - start
            kept[method] = kept_by_block(x, mask, m)
        best = kept["exact"]
        share = np.divide(kept["approximate"], best, out=np.ones_like(best), where=best > 0)
        rows.append(
            {"matrix": name, "shape": list(x.shape), "pattern": pattern, "blocks": len(best), "seconds": seconds}
            | {"approximate_over_best": {"least": share.min(), "mean": share.mean()}}
            | {"kept_by_best": best.sum() / np.abs(x.astype(np.float64)).sum()}
        )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", nargs="*", type=Path, help=".npy files of real weights")
    parser.add_argument("--size", type=int, default=1024, metavar="N", help="random matrices are N x N (1024)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.size < 8 or options.size % 8:
        parser.error(f"--size is {options.size}; expected a multiple of 8")
    rng = np.random.default_rng(1)
    draw = {"normal": rng.standard_normal, "laplace": rng.laplace, "lognormal": rng.lognormal, "uniform": rng.random}
    matrices = {name: f(size=(options.size, options.size)).astype(np.float32) for name, f in draw.items()}
    for path in options.weights:
        x = np.load(path)
        if x.ndim != 2 or min(x.shape) < 8:
            print(f"masks.py: {path} has shape {x.shape}; expected two dimensions of 8 or more", file=sys.stderr)
            return 2
        matrices[path.stem] = np.ascontiguousarray(x[: x.shape[0] // 8 * 8, : x.shape[1] // 8 * 8], np.float32)
    rows = [row for name, x in matrices.items() for row in measure(name, x)]
    if options.json:
        print(json.dumps(rows, indent=2))
        return 0
    print(
        "| matrix | pattern | kept by the best mask | approximation / best, least | mean | approximate | exact | enumerated |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        share = row["approximate_over_best"]
        times = [f"{row['seconds'][by]:.3f} s" if by in row["seconds"] else "-" for by in METHODS["2:4-T"]]
        shape = " x ".join(map(str, row["shape"]))
        print(f"| {row['matrix']}, {shape} | {row['pattern']} | {row['kept_by_best']:.4f}", end="")
        print(f" | {share['least']:.4f} | {share['mean']:.4f} | {' | '.join(times)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
