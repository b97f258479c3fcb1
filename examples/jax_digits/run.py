#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the digits network in JAX, every linear layer by a recipe of narrowgauge.train, and compares its first step's gradients with
those of the package's own trainer, bit for bit.

Needs the package with JAX on PYTHONPATH (the build directory's python/).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import narrowgauge.jax as nj
from narrowgauge import Error, train

NAMES = ["hidden1", "hidden2", "scores"]


def scores(layers: dict[str, train.Layer], parameters: Any, images: Any, step: Any, frozen: bool = False) -> Any:
    flow = images
    for name in NAMES:
        flow = nj.linear(flow, parameters[f"{name}.weight"], layers[name], step, frozen=frozen)
        flow = nj.add_bias(flow, parameters[f"{name}.bias"])
        if name != "scores":
            flow = jax.nn.relu(flow)
    return flow


def trained(recipe: train.Recipe, data: Any, steps: int, rate: float, seed: int) -> dict[str, Any]:
    trainer = train.Trainer(recipe, data, steps=steps, seed=seed)  # first weights, batches, and the other gradients
    layers = nj.layers(recipe, NAMES, run=seed)

    def loss_of(parameters: Any, images: Any, labels: Any, step: Any) -> Any:
        return nj.cross_entropy(scores(layers, parameters, images, step), labels)

    gradients_of = jax.jit(jax.value_and_grad(loss_of))
    momentum = jax.jit(lambda speed, gradients: jax.tree.map(lambda v, g: 0.9 * v + g, speed, gradients))
    moved = jax.jit(lambda parameters, speed: jax.tree.map(lambda w, v: w - rate * v, parameters, speed))
    parameters = jax.tree.map(jnp.asarray, trainer.parameters)
    speed = jax.tree.map(jnp.zeros_like, parameters)
    losses, different = [], []
    for step in range(1, steps + 1):
        images, labels = data.batch(trainer._random("data", step))
        loss, gradients = gradients_of(parameters, images, labels, jnp.uint32(step))
        losses.append(float(loss))
        if step == 1:
            theirs = trainer.gradients()[1]
            for name, gradient in theirs.items():
                if not np.array_equal(np.asarray(gradients[name]).view(np.uint32), gradient.view(np.uint32)):
                    different.append(name)
        speed = momentum(speed, gradients)
        parameters = moved(parameters, speed)
    images, labels = data.held_out()[0]
    answers = jax.jit(lambda p, x: scores(layers, p, x, steps, frozen=True))(parameters, images)
    accuracy = float((np.asarray(answers).argmax(axis=1) == labels).mean())
    return {
        "recipe": recipe.name, "route": nj.route(), "steps": steps, "first_loss": losses[0], "last_loss": losses[-1],
        "accuracy": accuracy, "different": different,
    }  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "recipes", nargs="*", default=["fp8", "fp4-all-the-way", "nvidia-nvfp4", "luq"], metavar="RECIPE"
    )
    parser.add_argument("--data", default=Path(__file__).parents[1] / "digits", help="folder with the digits")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rate", type=float, default=0.05, help="of learning, with a momentum of 0.9")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true", help="fail unless gradients are equal and digits are learned")
    arguments = parser.parse_args()
    try:
        data = train.digits(arguments.data)
        rows = [
            trained(train.load(recipe), data, arguments.steps, arguments.rate, arguments.seed)
            for recipe in arguments.recipes
        ]
    except Error as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps(rows, indent=2))
    else:
        print(f"{'recipe':20} {'first loss':>10} {'last loss':>10} {'accuracy':>9}  gradients of the first step")
        for row in rows:
            same = "equal" if not row["different"] else f"differ in {', '.join(row['different'])}"
            print(
                f"{row['recipe']:20} {row['first_loss']:10.4f} {row['last_loss']:10.4f} {row['accuracy']:9.4f}  {same}"
            )
    if arguments.check:
        return 1 if any(row["different"] or row["accuracy"] < 0.85 for row in rows) else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
