# SPDX-License-Identifier: Apache-2.0
"""A whole training of the digits network on the Verilated tile: every product of every step, and the weights behind each step are
those of the golden model, bit for bit (a deep test).

    tests/python/train_on_rtl.py RECIPE DATA [--steps 1800]

Each step is done twice from the same weights, once with either engine; since they leave the same weights, so do both trainings.
"""

from __future__ import annotations

import argparse
import json
import sys

from narrowgauge import Engine, train


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("data", help="folder of the digits")
    parser.add_argument("--steps", type=int, default=1800)
    arguments = parser.parse_args()
    trainer = train.Trainer(train.load(arguments.recipe), train.digits(arguments.data), steps=arguments.steps, seed=1)
    tile = Engine("rtl")
    for step in range(arguments.steps):
        difference = trainer.verify(tile)
        if difference is not None:
            print(f"step {step}: {difference}; expected equal weights on the golden model and the tile")
            return 1
        trainer.step()
        if (step + 1) % 100 == 0:
            print(f"{step + 1} of {arguments.steps} steps", flush=True)
    _, accuracy = trainer.evaluate()
    print(f"figures: {json.dumps({'steps': trainer.done, 'accuracy': round(accuracy, 4)})}")
    return 0 if trainer.done == arguments.steps > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
