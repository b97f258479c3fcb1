#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the digits with noise on activations and weights (docs/noise.md), without training anew, and prints how many of the test
split are read right: by single runs, which is their mean, and by several runs together.

PYTHONPATH is the folder of the package (build/python).
Exit code: 0; 1 with --check if runs together are not better than single ones under the strongest noise.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np
from network import LAYERS, TRAINING, Array, load_data, load_weights, patches, result

from narrowgauge import noise

#: Of both kinds of noise, over where the papers start to train it.
LEVELS = (1.0, 2.0, 3.0)
ALPHA, DIAGONAL, FACTOR, RANK = 0.25, 0.0625, 0.01, 5


def disturb(x: Array, kind: str, level: float, seed: int, samples: bool) -> Array:
    """x with noise in proportion to its standard deviation. samples: whether the first axis is one of samples."""
    if kind == "white":
        return noise.pni(x, level * ALPHA, seed=seed)
    shape = x.shape[1:] if samples else x.shape
    std = float(x.std())
    return noise.cpni(
        x, np.full(shape, level**2 * DIAGONAL * std), np.full((*shape, RANK), level * FACTOR * std), seed=seed
    )


def run(images: Array, weights: dict[str, Array], kind: str, level: float, seed: int) -> Array:
    """Scores of each image under noise on each layer's input and weights."""
    x = images
    for number, layer in enumerate(LAYERS):
        words = (seed * len(LAYERS) + number) * 2
        name = f"{layer.name}.weight"
        noisy = disturb(x, kind, level, words, samples=True)
        weight = disturb(weights[name], kind, level, words + 1, samples=False)
        x = result(layer, x, patches(layer, noisy) @ weight, weights)
    return x


def measure(count: int | None, runs: int) -> dict:
    images, labels = load_data()
    images, labels = images[TRAINING:][:count], labels[TRAINING:][:count]
    weights = load_weights()
    rows = []
    for kind in ("white", "coloured"):
        for level in LEVELS:
            scores = np.stack([run(images, weights, kind, level, seed) for seed in range(runs)])
            row = {"noise": kind, "level": level, "single": float((scores.argmax(axis=-1) == labels).mean())}
            for method in noise.METHODS:
                row[method] = float((noise.smoothed(scores, 5, method)[:, 0] == labels).mean())
            rows.append(row)
    return {"images": len(labels), "runs": runs, "rows": rows}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, metavar="N", help="only the first N images of the test split")
    parser.add_argument("--runs", type=int, default=16, metavar="M", help="runs that predict together (default 16)")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--check", action="store_true", help="fail if runs together do not help")
    options = parser.parse_args()
    for name in ("images", "runs"):
        value = getattr(options, name)
        if value is not None and value < 1:
            parser.error(f"--{name} is {value}; expected at least 1")
    measured = measure(options.images, options.runs)
    if options.json:
        print(json.dumps(measured, indent=2))
    else:
        print(
            f"| noise | level | single runs, of {measured['images']} | votes of {options.runs} | logits | probabilities |"
        )
        print("|---|---|---|---|---|---|")
        for row in measured["rows"]:
            shares = " | ".join(f"{100 * row[name]:.1f} %" for name in ("single", *noise.METHODS))
            print(f"| {row['noise']} | {row['level']:g} | {shares} |")
    if not options.check:
        return 0
    strongest = [row for row in measured["rows"] if row["level"] == LEVELS[-1]]
    worse = [row for row in strongest if min(row[name] for name in noise.METHODS) <= row["single"]]
    for row in worse:
        print(f"noise.py: runs together are no better than single ones: {row}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
