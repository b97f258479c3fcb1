#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the test split of the handwritten digits with N:M sparse weights, on the golden NVFP4 model, beside dense ones.

Weights are pruned along what is summed over (docs/sparsity.md), without training anew: by magnitude (greedy), with a
transposable mask, and with AdaPrune, which fits the weights that stay to what each layer gives on the training split. Prints
how many images each reads right in float32 and in NVFP4, and the squared error of the layers' results on the calibration set
over that of greedy 2:4.

Pruned weights are multiplied with their zeros, which gives the bits that a sparse product does.

Exit code: 0; 1 if what --check names is not met.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from network import LAYERS, TRAINING, Array, forward, load_data, load_weights, patches, result

import narrowgauge as ng

SIDE = 8  # of a block of 4:8-T
ADAPTED = {"2:4 greedy": "2:4, AdaPrune", "4:8-T exact": "4:8-T, AdaPrune"}  # by the mask that is fitted


def pad(weight: Array) -> Array:
    """A layer's weights as outputs x inputs, filled up with zeros to whole blocks."""
    rows, cols = weight.T.shape
    return np.pad(weight.T, ((0, -rows % SIDE), (0, -cols % SIDE)))


def cut(padded: Array, weight: Array) -> Array:
    return np.ascontiguousarray(padded[: weight.shape[1], : weight.shape[0]].T)


def calibration(images: Array, weights: dict[str, Array]) -> dict[str, Array]:
    """What each layer gets as the left matrix of its product, with dense weights in float32."""
    inputs = {}
    x = images
    for layer in LAYERS:
        inputs[layer.name] = patches(layer, x)
        x = result(layer, x, inputs[layer.name] @ weights[f"{layer.name}.weight"], weights)
    return inputs


def masks(dense: Array) -> dict[str, Array]:
    return {
        "2:4 greedy": ng.sparsity_mask(dense, "2:4"),
        "4:8-T approximate": ng.transposable_mask(dense, "4:8-T", method="approximate"),
        "4:8-T exact": ng.transposable_mask(dense, "4:8-T"),
    }


def sparse_weights(weights: dict[str, Array], inputs: dict[str, Array]) -> dict[str, dict[str, Array]]:
    """Weights of the network by name of the pruning, dense ones first."""
    networks = {"dense": weights}
    for layer in LAYERS:
        name = f"{layer.name}.weight"
        dense = pad(weights[name])
        x = np.pad(inputs[layer.name], ((0, 0), (0, dense.shape[1] - layer.k)))
        for by, mask in masks(dense).items():
            networks.setdefault(by, dict(weights))[name] = cut(np.where(mask, dense, 0), weights[name])
            if by in ADAPTED:
                fitted = ng.adaprune(dense, x, mask=mask)
                networks.setdefault(ADAPTED[by], dict(weights))[name] = cut(fitted, weights[name])
    return networks


def squared_errors(networks: dict[str, dict[str, Array]], inputs: dict[str, Array]) -> dict[str, list[float]]:
    """Of each layer's product on the calibration set, over that of greedy 2:4."""

    def errors(weights: dict[str, Array]) -> list[float]:
        change = ((layer.name, weights[f"{layer.name}.weight"]) for layer in LAYERS)
        return [
            float(np.square(inputs[name] @ (w - networks["dense"][f"{name}.weight"])).sum(dtype=np.float64))
            for name, w in change
        ]

    greedy = errors(networks["2:4 greedy"])
    return {by: [e / g for e, g in zip(errors(weights), greedy, strict=True)] for by, weights in networks.items()}


def measure(count: int | None) -> dict:
    images, labels = load_data()
    weights = load_weights()
    inputs = calibration(images[:TRAINING], weights)
    networks = sparse_weights(weights, inputs)
    errors = squared_errors(networks, inputs)
    images, labels = images[TRAINING:][:count], labels[TRAINING:][:count]

    def right(of: dict[str, Array], product: object) -> int:
        scores = forward(images, of, lambda _, a, b: product(a, b))  # type: ignore[operator]
        return int((scores.argmax(axis=1) == labels).sum())

    rows = {
        by: {
            "float32": right(of, np.matmul),
            "nvfp4": right(of, lambda a, b: ng.matmul(a, b, format="nvfp4")),
            "squared_error": errors[by],
        }
        for by, of in networks.items()
    }
    return {"images": len(labels), "weights": rows}


def record(measured: dict) -> dict:
    """What a run on any machine must give again. AdaPrune's least squares are a library's, in whose last bits machines differ."""
    rows = measured["weights"]
    return {"images": measured["images"]} | {by: row["nvfp4"] for by, row in rows.items() if "AdaPrune" not in by}


def failures(measured: dict, wanted: dict) -> list[str]:
    rows = measured["weights"]
    wrong = [] if record(measured) == wanted else [f"got {record(measured)}, expected {wanted}"]
    for by, adapted in ADAPTED.items():
        if not np.less(rows[adapted]["squared_error"], rows[by]["squared_error"]).all():
            wrong.append(f"{adapted} has a larger error than {by}")
        if rows[adapted]["nvfp4"] <= rows[by]["nvfp4"]:
            wrong.append(f"{adapted} reads {rows[adapted]['nvfp4']} images right, {by} {rows[by]['nvfp4']}")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, metavar="N", help="only the first N images of the test split")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument(
        "--check", type=Path, metavar="FILE", help="fail if counts differ from this record's, or AdaPrune does not help"
    )
    parser.add_argument("--record", type=Path, metavar="FILE", help="write such a record")
    options = parser.parse_args()
    if options.images is not None and options.images < 1:
        parser.error(f"--images is {options.images}; expected at least 1")
    measured = measure(options.images)
    if options.json:
        print(json.dumps(measured, indent=2))
    else:
        names = ", ".join(layer.name for layer in LAYERS)
        print(f"| weights | float32, right of {measured['images']} | NVFP4 | squared error of {names} |")
        print("|---|---|---|---|")
        for by, row in measured["weights"].items():
            errors = ", ".join(f"{error:.3f}" for error in row["squared_error"])
            print(f"| {by} | {row['float32']} | {row['nvfp4']} | {errors} |")
    if options.record:
        options.record.write_text(json.dumps(record(measured), indent=2) + "\n")
    wrong = failures(measured, json.loads(options.check.read_text())) if options.check else []
    for failure in wrong:
        print(f"sparse.py: {failure}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
