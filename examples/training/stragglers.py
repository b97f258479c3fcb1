#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What DropCompute brings by where a worker looks at the clock: the second table of docs/training.md, Stragglers.

Steps of 12 micro-batches under the delay of the paper's experiments, half a micro-batch of waiting beside them, the best of 200 deadlines.
PYTHONPATH is the folder of the package (build/python).
"""

from __future__ import annotations

import argparse

from narrowgauge import train
from narrowgauge.train.stragglers import CHECKS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    print("| workers | slowest over 12 undisturbed | " + " | ".join(CHECKS) + " | dropped at once |")
    print("|---|---|" + "---|" * (len(CHECKS) + 1))
    for workers in (8, 32, 64, 112, 200):
        times = train.delays(arguments.seed, arguments.steps, workers, 12)
        slowest = times.sum(axis=-1).max(axis=1).mean() / 12
        made = [train.speedup(times, 0.5, check) for check in CHECKS]
        cells = " | ".join(f"{each.effective:.3f}" for each in made)
        print(f"| {workers} | {slowest:.3f} | {cells} | {100 * made[0].drop:.0f} % |")


if __name__ == "__main__":
    main()
