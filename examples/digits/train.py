#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the network on the first half of the digits and writes its weights (numpy only, seeded, under a minute).

    train.py                 from images.npy and labels.npy in this folder
    train.py --fetch         writes those two first, from scikit-learn (requirements.txt)

Plain back-propagation through the matrix products, Adam, some images shifted by a pixel. The weights in the folder came
from one run of it; another BLAS may round differently, so a new run may give slightly different ones.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np
from network import FOLDER, LAYERS, TRAINING, Array, Layer, forward, image_shape, load_data, patches

EPOCHS = 120
BATCH = 64


def fetch() -> None:
    from sklearn.datasets import load_digits

    digits = load_digits()
    np.save(FOLDER / "images.npy", digits.images.astype(np.uint8))
    np.save(FOLDER / "labels.npy", digits.target.astype(np.uint8))


def shifted(x: Array, rng: np.random.Generator) -> Array:
    """Two images in five moved by -1, 0 or 1 pixel in both directions, zeros coming in."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    corners = np.where(rng.random((len(x), 1)) < 0.4, rng.integers(0, 3, (len(x), 2)), 1)
    return np.stack([p[r : r + 8, c : c + 8] for p, (r, c) in zip(padded, corners, strict=True)])


def unpatch(layer: Layer, grad: Array, shape: tuple[int, ...]) -> Array:
    """Gradient of patches() with respect to the image: every window's gradient added where the window was."""
    if not layer.size:
        return grad.reshape(shape)
    n, height, width, channels = shape
    rows, columns = -(-height // layer.stride), -(-width // layer.stride)
    grad = grad.reshape(n, rows, columns, layer.size, layer.size, channels)
    out = np.zeros((n, height + 2 * layer.pad, width + 2 * layer.pad, channels), np.float32)
    for r in range(layer.size):
        for c in range(layer.size):
            stop = (r + layer.stride * rows, c + layer.stride * columns)
            out[:, r : stop[0] : layer.stride, c : stop[1] : layer.stride] += grad[:, :, :, r, c]
    return out[:, layer.pad : layer.pad + height, layer.pad : layer.pad + width]


def gradients(
    x: Array,
    labels: np.ndarray,
    weights: dict[str, Array],
    rng: np.random.Generator,
    record: Callable[[str, Array], None] | None = None,
) -> dict[str, Array]:
    """Of the mean cross-entropy, with half of the values before the last layer dropped. `record` gets each layer's name and the
    gradient of its product, rows x outputs: what the layer's backward products take."""
    seen = []
    for layer in LAYERS:
        mask = np.float32(1)
        if layer is LAYERS[-1]:
            mask = (rng.random(x.shape) < 0.5).astype(np.float32) * 2
            x = x * mask
        a = patches(layer, x)
        product = a @ weights[f"{layer.name}.weight"] + weights[f"{layer.name}.bias"]
        seen.append((layer, x.shape, a, product, mask))
        x = (np.maximum(product, 0) if layer.relu else product).reshape(image_shape(layer, x))
    scores = np.exp(x - x.max(axis=1, keepdims=True))
    grad = scores / scores.sum(axis=1, keepdims=True)
    grad[np.arange(len(labels)), labels] -= 1
    grad /= len(labels)
    out = {}
    for layer, shape, a, product, mask in reversed(seen):
        grad = grad.reshape(product.shape)
        if layer.relu:
            grad = grad * (product > 0)
        if record:
            record(layer.name, grad)
        out[f"{layer.name}.weight"] = a.T @ grad
        out[f"{layer.name}.bias"] = grad.sum(axis=0)
        grad = unpatch(layer, grad @ weights[f"{layer.name}.weight"].T, shape) * mask
    return out


def train(x: Array, labels: np.ndarray, seed: int, epochs: int = EPOCHS) -> dict[str, Array]:
    """The weights, of every run of this machine the same. `epochs`: as many of the EPOCHS, whose learning rates they have."""
    rng = np.random.default_rng(seed)
    weights: dict[str, Array] = {}
    for layer in LAYERS:
        spread = np.sqrt(2 / layer.k)
        weights[f"{layer.name}.weight"] = (rng.standard_normal((layer.k, layer.outputs)) * spread).astype(np.float32)
        weights[f"{layer.name}.bias"] = np.zeros(layer.outputs, np.float32)
    first = {name: np.zeros_like(w) for name, w in weights.items()}
    second = {name: np.zeros_like(w) for name, w in weights.items()}
    step = 0
    for epoch in range(epochs):
        rate = 2e-3 * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        order = rng.permutation(len(x))
        for start in range(0, len(x), BATCH):
            pick = order[start : start + BATCH]
            step += 1
            for name, g in gradients(shifted(x[pick], rng), labels[pick], weights, rng).items():
                first[name] += 0.1 * (g - first[name])
                second[name] += 0.001 * (g * g - second[name])
                unbiased = np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8
                weights[name] -= (rate * first[name] / (1 - 0.9**step) / unbiased).astype(np.float32)
        print(f"\repoch {epoch + 1} of {epochs}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fetch", action="store_true", help="write images.npy and labels.npy from scikit-learn first")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.fetch:
        fetch()
    images, labels = load_data()
    weights = train(images[:TRAINING], labels[:TRAINING], options.seed)
    (FOLDER / "weights").mkdir(exist_ok=True)
    for name, w in weights.items():
        np.save(FOLDER / "weights" / f"{name}.npy", w.astype(np.float32))
    for split, part in (("training", slice(0, TRAINING)), ("test", slice(TRAINING, None))):
        predicted = forward(images[part], weights, lambda _, a, b: a @ b).argmax(axis=1)
        print(f"{split}: {(predicted == labels[part]).mean():.4f} of {len(predicted)} images right")


if __name__ == "__main__":
    main()
