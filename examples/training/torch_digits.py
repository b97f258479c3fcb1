#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a network of torch on examples/digits by a recipe (docs/torch.md), once in float32 and once converted, and prints how many
of the held-out images each reads right.

torch_digits.py nvidia-nvfp4 --steps 300 --out digits.safetensors

It takes the package torch. PYTHONPATH is the folder of the package (build/python).
Exit code: 0; 1 with --check if the converted network reads less than nine in ten right, or a run that is cut and resumed ends in
other bits.
"""

from __future__ import annotations

import argparse
import copy
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

import narrowgauge as ng
import narrowgauge.torch as ngt
from narrowgauge import train

FOLDER = Path(__file__).resolve().parents[1] / "digits"


def network() -> Any:
    torch.manual_seed(1)
    return torch.nn.Sequential(
        torch.nn.Linear(64, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 10),
    )


def fit(model: Any, optimizer: Any, data: train.DigitImages, steps: range, narrow: bool) -> float:
    """Steps of training; returns the last one's loss."""
    model.train()
    loss = torch.zeros(())
    for number in steps:
        images, labels = data.batch(np.random.default_rng(number))
        if narrow:
            ngt.step(model)  # the random words of the next step
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(torch.from_numpy(images)), torch.from_numpy(labels).long())
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def accuracy(model: Any, data: train.DigitImages) -> float:
    model.eval()
    right = [
        (model(torch.from_numpy(images)).argmax(-1).numpy() == labels).mean() for images, labels in data.held_out()
    ]
    return float(np.mean(right))


def resumed_equals_whole(model: Any, optimizer: Any, data: train.DigitImages, first: int) -> bool:
    """Goes on for two steps, once as it stands and once from a file of states."""
    file = io.BytesIO()
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    state = torch.load(file, weights_only=True)
    twin = copy.deepcopy(model)
    for parameter in twin.parameters():
        parameter.data.zero_()
    twin.load_state_dict(state["model"])
    other = torch.optim.Adam(twin.parameters(), lr=2e-3)
    other.load_state_dict(state["optimizer"])
    for each, its in ((model, optimizer), (twin, other)):
        fit(each, its, data, range(first, first + 2), narrow=True)
    return all(torch.equal(value, twin.state_dict()[name]) for name, value in model.state_dict().items())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", nargs="?", default="nvidia-nvfp4", help="a name of train.recipes(), or a file")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--engine", help="model, systemc or rtl (model)")
    parser.add_argument("--out", help="writes the weights as a checkpoint of quantized layers")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    data = train.digits(FOLDER)
    found = {}
    for kind in ("float32", arguments.recipe):
        model, narrow = network(), kind == arguments.recipe
        if narrow:
            print(ngt.convert(model, kind, seed=1, engine=ng.Engine(arguments.engine) if arguments.engine else None))
        optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
        loss = fit(model, optimizer, data, range(arguments.steps), narrow)
        found[kind] = accuracy(model, data)
        print(f"{kind}: loss {loss:.4f}, {100 * found[kind]:.2f} % of the held-out images are read right")
    if arguments.out:
        for name, weight in ngt.save_quantized(arguments.out, model).items():
            print(f"{arguments.out}: {name} is {weight!r}")
    if not arguments.check:
        return 0
    same = resumed_equals_whole(model, optimizer, data, arguments.steps)
    print(f"a run from its saved state ends in {'the same' if same else 'OTHER'} bits")
    return 0 if same and found[arguments.recipe] >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
