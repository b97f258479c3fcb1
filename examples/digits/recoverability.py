#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says how much of the labels each layer of the network still holds, with the products of the measure in narrow formats.

The measure is the kernel-regression loss of "Graph representation learning via aggregation enhancement": rho(Y|X) is what
is left of Y when the strong directions of a Gaussian kernel of X are taken out of it (docs/representations.md).
Its work is one product, X times X transposed, from which all squared distances follow; it runs on an engine.

PYTHONPATH is the folder of the package (build/python).
Exit code: 0; 1 with --check if a format moves the measure by more than the check allows.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np
from network import LAYERS, TRAINING, load_data, load_weights, patches, result
from numpy.typing import NDArray

import narrowgauge as ng

FORMATS = ("fp8_e4m3", "mxint8", "mxfp6_e2m3", "nvfp4", "mxfp4")
#: How far --check lets a format move the measure from float64's.
ALLOWED = {"fp8_e4m3": 0.01, "mxint8": 0.01, "nvfp4": 0.05}
Array = NDArray[np.float64]


def residual(products: Array, y: Array, width: float = 1.0) -> float:
    """rho(Y|X) of inner products (n, n) of X's rows and of y (n, columns); the kernel is `width` times the mean distance wide.

    K = exp(-d / (width mean d)) for squared distances d; P = U diag(min(max(l, 0), 1)) U^T of its eigenvalues l and
    eigenvectors U; the result is the mean over columns of the root mean square of Y - P Y.
    """
    size = np.diag(products)
    distances = np.maximum(size[:, None] + size[None, :] - products - products.T, 0)
    values, vectors = np.linalg.eigh(np.exp(-distances / (width * distances.mean())))
    rest = y - (vectors * np.clip(values, 0, 1)) @ (vectors.T @ y)
    return float(np.sqrt(np.square(rest).mean(axis=0)).mean())


def gram(x: NDArray[np.float32], format: str, engine: ng.Engine) -> Array:
    """X times X transposed, (n, n), with both operands in `format`."""
    return engine.gemm(ng.quantize(x, format), ng.quantize(x.T, format, axis=-2)).c.astype(np.float64)


def features(count: int) -> tuple[dict[str, NDArray[np.float32]], Array]:
    """Of the first digits of the test split: pixels, and what each layer makes of them, (count, width); labels, one-hot."""
    images, labels = load_data()
    x, weights = images[TRAINING : TRAINING + count], load_weights()
    found = {"pixels": x.reshape(count, -1)}
    for layer in LAYERS:
        product = patches(layer, x).astype(np.float64) @ weights[f"{layer.name}.weight"].astype(np.float64)
        x = result(layer, x, product.astype(np.float32), weights)
        found[layer.name] = x.reshape(count, -1)
    return found, np.eye(10)[labels[TRAINING : TRAINING + count]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=256, help="digits of the test split (default 256)")
    parser.add_argument("--engine", default="model", help="of the products (default model)")
    parser.add_argument("--formats", nargs="+", default=FORMATS, metavar="FORMAT", help="names of ng.gemm_formats()")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--check", action="store_true", help="fail where a format moves the measure too far")
    options = parser.parse_args()
    found, y = features(options.images)
    shuffled = y[np.random.default_rng(1).permutation(len(y))]
    engine, rows = ng.Engine(options.engine), []
    for name, x in found.items():
        exact = x.astype(np.float64) @ x.astype(np.float64).T
        row = {"features": name, "shuffled": residual(exact, shuffled), "float64": residual(exact, y)}
        rows.append(row | {format: residual(gram(x, format, engine), y) for format in options.formats})
    far = [
        f"{row['features']} in {format}: {row[format]:.4f} where float64 has {row['float64']:.4f}"
        for row in rows
        for format, most in ALLOWED.items()
        if format in row and abs(row[format] - row["float64"]) > most
    ]
    if options.json:
        print(json.dumps({"images": len(y), "engine": options.engine, "rows": rows}))
    else:
        print("What is left of the labels behind each layer, 0 for nothing; shuffled labels beside it\n")
        print("".join(f"{key:>13}" for key in rows[0]))
        for row in rows:
            print("".join(f"{v:>13.4f}" if isinstance(v, float) else f"{v:>13}" for v in row.values()))
    if options.check:
        print(
            "\n".join(["too far from float64:", *far]) if far else "every format is as near as wanted", file=sys.stderr
        )
    return int(options.check and bool(far))


if __name__ == "__main__":
    sys.exit(main())
