# SPDX-License-Identifier: Apache-2.0
"""Operands of one layer's matrix product on the test images, as .npy: operands.py LAYER A.npy B.npy"""

from __future__ import annotations

import sys

import numpy as np
from network import TRAINING, Array, forward, load_data, load_weights


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    _, name, *paths = sys.argv
    operands: dict[str, tuple[Array, Array]] = {}

    def matmul(layer: str, left: Array, right: Array) -> Array:
        operands[layer] = (left, right)
        return left @ right

    forward(load_data()[0][TRAINING:], load_weights(), matmul)
    if name not in operands:
        print(f"operands.py: the network has no layer '{name}'; it has {', '.join(operands)}", file=sys.stderr)
        return 2
    for path, tensor in zip(paths, operands[name], strict=True):
        np.save(path, tensor.astype(np.float32))
    return 0


if __name__ == "__main__":
    sys.exit(main())
