#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Steers a generator without training: finds the step in its input that shifts its images, and generates in narrow formats.

As in "GAN 'Steerability' without optimization" (arXiv 2012.05328, docs/representations.md): for a first layer W z + b, a transformation P of its
result and a mask D of what P knows, q = (W^T D^T D W)^-1 W^T D^T (P - D) b is added to z. Here W and b are the principal
components and the mean of the digits, P shifts an image by pixels, and D leaves the pixels out that come from outside.
W z is the product, on an engine.

PYTHONPATH is the folder of the package (build/python).
Exit code: 0; 1 with --check if a format steers worse than the check allows.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np
from network import TRAINING, load_data
from numpy.typing import NDArray

import narrowgauge as ng

SIDE = 8
FORMATS = ("fp8_e4m3", "mxint8", "nvfp4", "mxfp4")
#: Share of the shift that --check wants.
WANTED = {"fp8_e4m3": 0.95, "nvfp4": 0.9}
Array = NDArray[np.float64]


def shift(images: Array, pixels: int) -> Array:
    """Columns moved to the right, of images (..., 64) or of a layer's columns (64, width) transposed."""
    moved = np.roll(images.reshape(*images.shape[:-1], SIDE, SIDE), pixels, axis=-1)
    return moved.reshape(images.shape)


def known(pixels: int) -> Array:
    """The mask D as 64 numbers: 1 where a shifted pixel comes from the image."""
    mask = np.ones((SIDE, SIDE))
    mask[:, : max(pixels, 0)] = 0
    mask[:, SIDE + min(pixels, 0) :] = 0
    return mask.ravel()


def step(w: Array, b: Array, moved: Array, mask: Array) -> Array:
    """q: what to add to z, of w (outputs, inputs), b and P b (outputs), and the mask of outputs."""
    masked = w * mask[:, None]
    return np.linalg.solve(masked.T @ masked, masked.T @ (mask * (moved - b)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=32, help="of the generator: principal components (default 32)")
    parser.add_argument("--pixels", type=int, default=1, help="to the right (default 1); negative: to the left")
    parser.add_argument("--images", type=int, default=64, help="that are generated (default 64)")
    parser.add_argument("--engine", default="model", help="of the products (default model)")
    parser.add_argument("--formats", nargs="+", default=FORMATS, metavar="FORMAT", help="names of ng.gemm_formats()")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--check", action="store_true", help="fail where a format steers worse than wanted")
    options = parser.parse_args()
    images = load_data()[0][:TRAINING].reshape(-1, SIDE * SIDE).astype(np.float64)
    b = images.mean(axis=0)
    spread, directions = np.linalg.svd(images - b, full_matrices=False)[1:]
    w = directions[: options.inputs].T
    mask, moved = known(options.pixels), shift(b, options.pixels)
    q = step(w, b, moved, mask)
    z = np.random.default_rng(1).normal(0, 1, (options.images, options.inputs))
    z = z * spread[: options.inputs] / np.sqrt(len(images))

    engine = ng.Engine(options.engine)

    def generated(inputs: Array, format: str) -> Array:
        left, right = ng.quantize(inputs, format), ng.quantize(w.T, format, axis=-2)
        return engine.gemm(left, right).c.astype(np.float64) + b

    # What q answers for is the mean image: W q = (P - D) b. Of that, the share that is left in the images.
    aim = mask * (moved - b)
    exact = w @ q
    rows = []
    for format in ("float64", *options.formats):
        before, after = (
            (inputs @ w.T + b) if format == "float64" else generated(inputs, format) for inputs in (z, z + q)
        )
        difference = mask * (after - before).mean(axis=0)
        share = 1 - np.square(difference - aim).sum() / np.square(aim).sum()
        error = np.sqrt(np.square(after - ((z + q) @ w.T + b)).mean())
        rows.append({"format": format, "share of the shift": float(share), "error of a pixel": float(error)})
    best = 1 - np.square(mask * exact - aim).sum() / np.square(aim).sum()
    if options.json:
        print(json.dumps({"inputs": options.inputs, "pixels": options.pixels, "best": float(best), "rows": rows}))
    else:
        print(f"A step in {options.inputs} inputs that shifts the mean image by {options.pixels} of {SIDE} pixels\n")
        print(f"{'format':>10}{'share of the shift':>20}{'error of a pixel':>18}")
        for row in rows:
            print(f"{row['format']:>10}{row['share of the shift']:>20.4f}{row['error of a pixel']:>18.4f}")
    lacking = [row["format"] for row in rows if row["share of the shift"] < WANTED.get(row["format"], 0) * best]
    if options.check:
        print(
            f"less of the shift than wanted: {', '.join(lacking)}" if lacking else "every format steers as wanted",
            file=sys.stderr,
        )
    return int(options.check and bool(lacking))


if __name__ == "__main__":
    sys.exit(main())
