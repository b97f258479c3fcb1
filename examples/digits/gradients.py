#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What LUQ and NVFP4 leave of real gradients, and how sparse stochastic pruning makes them: the tables of docs/luq.md.

    gradients.py             both tables, from the gradients in the folder gradients
    gradients.py --doc       into docs/luq.md
    gradients.py --check     fails if the page has others
    gradients.py --record    trains again (numpy only, seconds) and writes the folder anew

The gradients are those of one batch of 32 images, with respect to the products of the three layers, rows x outputs: what the
backward products take. The network has been trained for EPOCHS epochs. They are kept as data, since another BLAS rounds
differently and makes others.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from network import FOLDER, TRAINING, Array, load_data
from train import gradients, shifted, train

import narrowgauge as ng
from ngtools.generate import between

GRADIENTS = FOLDER / "gradients"
PAGE = FOLDER.parents[1] / "docs" / "luq.md"
EPOCHS, BATCH, SEED = 10, 32, 1
DRAWS = 16  # seeds of what is stochastic
TARGETS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)


def recorded(epochs: int = EPOCHS, images: int = TRAINING, batch: int = BATCH) -> dict[str, Array]:
    """Gradients of each layer's product behind so many epochs of training on so many images, of one batch of them."""
    x, labels = load_data()
    x, labels = x[:images], labels[:images]
    weights = train(x, labels, SEED, epochs)
    rng = np.random.default_rng(SEED + 1)
    pick = rng.permutation(len(x))[:batch]
    found: dict[str, Array] = {}
    gradients(shifted(x[pick], rng), labels[pick], weights, rng, lambda name, g: found.update({name: g}))
    return {name: found[name].astype(np.float32) for name in sorted(found)}


def saved() -> dict[str, Array]:
    return {path.stem: np.load(path) for path in sorted(GRADIENTS.glob("*.npy"))}


def methods(x: Array) -> dict[str, tuple[int, object]]:
    """Name -> number of draws, what is left of x by seed."""
    return {
        "LUQ": (DRAWS, lambda seed: ng.luq.fake_quantize(x, seed=seed)),
        "LUQ, exact alpha": (DRAWS, lambda seed: ng.luq.fake_quantize(x, seed=seed, power_of_two=False)),
        "LUQ, 2 samples (SMP)": (DRAWS, lambda seed: ng.luq.fake_quantize(x, seed=seed, samples=2)),
        "LUQ, 4 samples (SMP)": (DRAWS, lambda seed: ng.luq.fake_quantize(x, seed=seed, samples=4)),
        "nearest power (RDNP)": (1, lambda _: ng.luq.fake_quantize(x, rounding="nearest_power")),
        "NVFP4, stochastic": (DRAWS, lambda seed: ng.fake_quantize(x, "nvfp4", rounding="stochastic", seed=seed)),
        "NVFP4, nearest": (1, lambda _: ng.fake_quantize(x, "nvfp4")),
    }


def quality(x: Array) -> dict[str, tuple[float, float, float]]:
    """Method -> SQNR in dB, cosine similarity, and bias: what sum |q| has more than sum |x|, as a share. Means over the draws, of the
    SQNR that of the errors' energies."""
    wide = x.astype(np.float64)
    energy = np.sum(wide * wide)
    out = {}
    for name, (draws, left_of) in methods(x).items():
        noise = cosine = bias = 0.0
        for seed in range(draws):
            q = left_of(seed).astype(np.float64)
            noise += np.sum((q - wide) ** 2) / draws
            cosine += np.sum(q * wide) / np.sqrt(np.sum(q * q) * energy) / draws
            bias += (np.sum(np.abs(q)) / np.sum(np.abs(wide)) - 1) / draws
        out[name] = (10 * np.log10(energy / noise), cosine, bias)
    return out


def sparsities(x: Array) -> list[tuple[float, float, float]]:
    """Share of zeros that pruning with the threshold for each of the TARGETS leaves, and what |x| it adds, as a share; the threshold,
    over the largest magnitude."""
    statistics = ng.luq.log_statistics(x)
    out = []
    for target in TARGETS:
        tau = ng.luq.pruning_threshold(target, statistics)
        pruned = ng.luq.prune(x, tau, seed=3, random_bits=16)
        bias = float(np.sum(np.abs(pruned, dtype=np.float64)) / np.sum(np.abs(x, dtype=np.float64)) - 1)
        out.append((float(np.mean(pruned == 0)), bias, tau / statistics.amax))
    return out


def tables(tensors: dict[str, Array]) -> str:
    def row(cells: list[str]) -> str:
        return "| " + " | ".join(cells) + " |"

    statistics = [ng.luq.log_statistics(x) for x in tensors.values()]
    qualities = [quality(x) for x in tensors.values()]
    lines = [
        row(["SQNR in dB, cosine similarity, bias in %", *(f"`{name}`" for name in tensors)]),
        row(["---"] * (len(tensors) + 1)),
        row(["elements", *(" x ".join(map(str, x.shape)) for x in tensors.values())]),
        row(["zeros", *(f"{100 * s.zeros / s.count:.1f} %" for s in statistics)]),
        row(["sigma of log2 abs(x)", *(f"{s.sigma:.2f}" for s in statistics)]),
    ]
    for name in qualities[0]:
        found = [of[name] for of in qualities]
        lines.append(row([name, *(f"{sqnr:.2f}, {cosine:.4f}, {100 * bias:+.2f}" for sqnr, cosine, bias in found)]))
    lines += [
        "",
        row(["zeros reached, for a target of", *(f"{100 * t:.0f} %" for t in TARGETS)]),
        row(["---"] * (len(TARGETS) + 1)),
    ]
    for name, x in tensors.items():
        present = x[x != 0]
        lines.append(row([f"`{name}`, all numbers", *(f"{100 * share:.1f}" for share, _, _ in sparsities(x))]))
        lines.append(
            row([f"`{name}`, its non-zero numbers", *(f"{100 * share:.1f}" for share, _, _ in sparsities(present))])
        )
    return "\n".join(lines) + "\n"


def page() -> str:
    return between("docs/luq.md", {"gradients": tables(saved())})


def check() -> int:
    """The page, and the script's training at a small size: every layer's gradient, finite and unlike zero."""
    small = recorded(epochs=1, images=64, batch=4)
    shapes = {name: g.shape for name, g in small.items()}
    expected = {"conv1": (64, 32), "conv2": (64, 32), "fc": (4, 10)}
    if shapes != expected or not all(np.isfinite(g).all() and g.any() for g in small.values()):
        print(f"gradients.py: training gives gradients of {shapes}, expected {expected}, finite and not all zero")
        return 1
    if {name: g.shape[1] for name, g in saved().items()} != {name: shape[1] for name, shape in expected.items()}:
        print("gradients.py: the folder gradients lacks a layer; run gradients.py --record")
        return 1
    if PAGE.read_text() != page():
        print("gradients.py: docs/luq.md has other tables; run gradients.py --doc")
        return 1
    print("docs/luq.md has the tables of the recorded gradients")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true", help="train, and write the gradients")
    parser.add_argument("--doc", action="store_true", help="write the tables into docs/luq.md")
    parser.add_argument("--check", action="store_true", help="compare the tables with docs/luq.md; train a little")
    options = parser.parse_args()
    if options.check:
        return check()
    if options.record:
        GRADIENTS.mkdir(exist_ok=True)
        for name, g in recorded().items():
            np.save(GRADIENTS / f"{name}.npy", g)
    if options.doc:
        PAGE.write_text(page())
    print(tables(saved()), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
