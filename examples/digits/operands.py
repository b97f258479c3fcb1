# SPDX-License-Identifier: Apache-2.0
"""Operands of one layer's matrix product on the test images, as .npy: operands.py LAYER A.npy B.npy

They are the same bits on every machine, since the products before it are exact: the first convolution sums 25 pixels of 5 bits
times float32 weights. Of a layer behind a product that float64 does not hold exactly there are none."""

from __future__ import annotations

import sys

import numpy as np
from network import LAYERS, TRAINING, exact_product, load_data, load_weights, patches, result


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    _, name, *paths = sys.argv
    if name not in (layer.name for layer in LAYERS):
        known = ", ".join(layer.name for layer in LAYERS)
        print(f"operands.py: the network has no layer '{name}'; it has {known}", file=sys.stderr)
        return 2
    x, weights = load_data()[0][TRAINING:], load_weights()
    for layer in LAYERS:
        operands = patches(layer, x), weights[f"{layer.name}.weight"]
        if layer.name == name:
            break
        try:
            x = result(layer, x, exact_product(*operands), weights)
        except ValueError as error:
            print(f"operands.py: operands of {name} rest on the product of {layer.name}, but {error}", file=sys.stderr)
            return 2
    for path, tensor in zip(paths, operands, strict=True):
        np.save(path, tensor)
    return 0


if __name__ == "__main__":
    sys.exit(main())
