#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A convolutional network with Range BN, trained in INT8, and run with integers only (docs/training.md, Integers).

Trains the digits in float32 and by the recipe range-bn-int8, the same network from the same first weights.
Of the latter it makes a network of integers: INT8 codes between layers, which an engine makes of the sums of products, and
`norm_apply` for Range BN and ReLU. Its accuracy is found on the golden model.
On another engine, some images have to give the same codes in all layers.

run.py                       300 steps, 8 images on engine rtl
run.py --steps 1800 --images 100
run.py --json

PYTHONPATH is the folder of the package (build/python).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from network import IntegerNetwork

import narrowgauge as ng
from narrowgauge import train

DATA = Path(__file__).resolve().parents[1] / "digits"
CALIBRATED = 256  # images of those that are trained on


def trained(recipe: train.Recipe, data: train.DigitImages, arguments: argparse.Namespace) -> train.Trainer:
    trainer = train.Trainer(recipe, data, steps=arguments.steps, seed=arguments.seed)
    for done in range(1, arguments.steps + 1):
        step = trainer.step()
        if done % 100 == 0:
            print(f"{recipe.name}, step {done}: loss {step.loss:.3f}", file=sys.stderr, flush=True)
    return trainer


def differing(network: IntegerNetwork, images: np.ndarray, engine: ng.Engine) -> dict[str, int]:
    """How many integers of each layer are not those of numpy's."""
    here, there = network.run(images), network.run(images, engine)
    return {name: int((here[name] != there[name]).sum()) for name in here}


def compared(arguments: argparse.Namespace) -> dict[str, Any]:
    data = train.digits(DATA)
    narrow = train.load("range-bn-int8")
    plain = replace(train.load("fp32"), network=replace(narrow.network, norm_format="float32"))
    float32, int8 = trained(plain, data, arguments), trained(narrow, data, arguments)
    [(images, labels)] = data.held_out()
    result: dict[str, Any] = {
        "steps": arguments.steps,
        "parameters": sum(value.size for value in int8.parameters.values()),
        "float32": float32.evaluate()[1],
        "int8": int8.evaluate()[1],
    }
    networks: dict[str, IntegerNetwork] = {}
    for name, trainer in (("float32_in_integers", float32), ("integers", int8)):
        assert isinstance(trainer.network, train.Convolution)
        networks[name] = IntegerNetwork(trainer.network, trainer.parameters, data.images[::2][:CALIBRATED])
        scores = networks[name].run(images, ng.Engine("model"))["scores"]
        result[name] = float((scores.argmax(axis=1) == labels).mean())
    result["engines"] = {}
    for engine in arguments.engines:
        start = time.perf_counter()
        wrong = differing(networks["integers"], images[: arguments.images], ng.Engine(engine))
        result["engines"][engine] = {"differing": wrong, "seconds": time.perf_counter() - start}
    return result


def plausible(result: dict[str, Any]) -> bool:
    same = all(not any(each["differing"].values()) for each in result["engines"].values())
    return same and result["integers"] > result["float32"] - 0.04 and result["float32"] > 0.85


def printed(result: dict[str, Any], images: int) -> None:
    print(f"{result['parameters']} parameters, {result['steps']} steps")
    print("network                          accuracy on what is held out")
    for key, words in (
        ("float32", "float32"),
        ("int8", "range-bn-int8, as it trains"),
        ("integers", "range-bn-int8, integers only"),
        ("float32_in_integers", "float32, integers only"),
    ):
        print(f"{words:32} {100 * result[key]:.2f} %")
    for engine, each in result["engines"].items():
        for layer, count in each["differing"].items():
            print(f"engine {engine}, {images} images, {layer}: {count} integers differ from numpy's")
        print(f"engine {engine} took {each['seconds']:.1f} s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--images", type=int, default=8, help="how many the engines run (default 8)")
    parser.add_argument("--engines", nargs="*", default=None, help="what is compared (default: rtl, if it is built)")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument(
        "--check", action="store_true", help="fail unless engines give equal integers, and accuracy is near float32's"
    )
    arguments = parser.parse_args()
    if arguments.engines is None:
        arguments.engines = [name for name in ng.engines() if name == "rtl"]
    try:
        result = compared(arguments)
    except ng.Error as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps(result))
    else:
        printed(result, arguments.images)
    return 1 if arguments.check and not plausible(result) else 0


if __name__ == "__main__":
    sys.exit(main())
