#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Retrieves chunks of a memory by attention scores in narrow formats, and prints recall: the share of float32's best n chunks that
are among the best n (docs/retrieval.md).

States are made: each chunk has a direction of its own, and so has each token; a query is near the directions of a few chunks.
Keys are stored without the layer's projection, which the query side takes.

PYTHONPATH is the folder of the package (build/python).
Exit code: 0; 1 with --check if a format's recall is below what the check wants of it.
"""

from __future__ import annotations

import argparse
import json
import sys

import numpy as np
from numpy.typing import NDArray

import narrowgauge as ng
from narrowgauge import retrieval

FORMATS = ("fp8_e4m3", "mxfp8_e4m3", "nvfp4", "mxfp4")
BEST = (1, 8, 32)
TOKENS, WIDTH, HEAD = 16, 128, 64  # of a chunk, a state, a key
ASKING, RELEVANT = 4, 6  # tokens of a query; chunks that it is near
#: Recall of the best eight that --check wants.
WANTED = {"fp8_e4m3": 0.9, "nvfp4": 0.75}
Array = NDArray[np.float32]


def memory(chunks: int, random: np.random.Generator) -> tuple[Array, Array]:
    """Directions of chunks, and normalized states of all tokens, with a few channels that are ten times as large."""
    directions = random.normal(0, 1, (chunks, WIDTH))
    states = np.repeat(directions, TOKENS, axis=0) + random.normal(0, 1.5, (chunks * TOKENS, WIDTH))
    loud = np.where(random.random(WIDTH) < 0.03, 10, 1)
    return directions.astype(np.float32), retrieval.rms_normalize(states * loud)


def ask(directions: Array, random: np.random.Generator) -> Array:
    """Queries of a head: tokens that look for a mixture of a few chunks' directions."""
    near = random.choice(len(directions), RELEVANT, replace=False)
    weights = random.random((ASKING, RELEVANT))
    return (weights @ directions[near] + random.normal(0, 1, (ASKING, WIDTH))).astype(np.float32)


def measure(chunks: int, queries: int, seed: int) -> dict:
    random = np.random.default_rng(seed)
    directions, keys = memory(chunks, random)
    projection = random.normal(0, WIDTH**-0.5, (WIDTH, HEAD))
    gamma = random.normal(1, 0.1, WIDTH)
    folded = np.concatenate(
        [retrieval.fold_query(ask(directions, random) @ projection, projection, gamma) for _ in range(queries)]
    )
    lengths = np.full(chunks, TOKENS)

    def best(dots: Array) -> NDArray[np.intp]:
        scores = [retrieval.max_sim(part, lengths) for part in np.split(dots, queries)]
        return retrieval.top_k(retrieval.order_keys(scores), max(BEST))

    wanted = best((folded.astype(np.float64) @ keys.T.astype(np.float64)).astype(np.float32))
    recall = {}
    for format in FORMATS:
        got = best(ng.matmul(folded, keys.T, format))
        recall[format] = {
            str(n): float(np.mean([len(set(a[:n]) & set(b[:n])) / n for a, b in zip(got, wanted, strict=True)]))
            for n in BEST
        }
    return {"chunks": chunks, "queries": queries, "recall": recall}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=512, metavar="N", help="of the memory, 32 or more (default 512)")
    parser.add_argument("--queries", type=int, default=32, metavar="N", help="that recall is the mean of (default 32)")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--check", action="store_true", help="fail if recall is low")
    options = parser.parse_args()
    for name, least in (("chunks", max(BEST)), ("queries", 1), ("seed", 0)):
        if getattr(options, name) < least:
            parser.error(f"--{name} is {getattr(options, name)}; expected at least {least}")
    measured = measure(options.chunks, options.queries, options.seed)
    if options.json:
        print(json.dumps(measured, indent=2))
    else:
        print("| format | " + " | ".join(f"best {n}" for n in BEST) + " |")
        print("|---|" + len(BEST) * "---|")
        for format, row in measured["recall"].items():
            print(f"| {format} | " + " | ".join(f"{100 * share:.1f} %" for share in row.values()) + " |")
    low = (
        [format for format, least in WANTED.items() if measured["recall"][format]["8"] < least] if options.check else []
    )
    for format in low:
        print(
            f"recall.py: {format} finds {measured['recall'][format]['8']:.2f} of the best 8; expected {WANTED[format]}",
            file=sys.stderr,
        )
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
