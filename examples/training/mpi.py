#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains by several processes under MPI, each with a part of the workers, and checks that all end in the same bits (docs/training.md).

    mpirun -n 4 python examples/training/mpi.py fp4-all-the-way --data examples/digits --workers 8 --packet-loss 0.1 --steps 100

Needs mpi4py (PyPI) and an MPI, as Debian's openmpi-bin. The bits are those of one process: compare the digest with -n 1.
"""

from __future__ import annotations

import argparse
import hashlib
from typing import Any

from mpi4py import MPI

from narrowgauge import Engine, train


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe")
    parser.add_argument("--data", required=True, help="folder of the digits")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--packet-loss", type=float, default=0.0)
    parser.add_argument("--engine", default="model", help="model, systemc or rtl: a simulated tile in every process")
    arguments = parser.parse_args()
    world = MPI.COMM_WORLD
    first, last = (arguments.workers * rank // world.size for rank in (world.rank, world.rank + 1))

    def gather(parts: list[Any]) -> list[Any]:
        return [part for group in world.allgather(parts) for part in group]

    run = train.Workers(
        train.load(arguments.recipe),
        train.digits(arguments.data),
        steps=arguments.steps,
        seed=arguments.seed,
        engine=None if arguments.engine == "model" else Engine(arguments.engine),
        workers=arguments.workers,
        link=train.Link(arguments.packet_loss),
        mine=range(first, last),
        gather=gather,
    )
    for _ in range(arguments.steps):
        run.step()
    digest = hashlib.sha256(b"".join(value.tobytes() for value in run.owner.parameters.values())).hexdigest()
    digests = world.gather(digest)
    if world.rank == 0:
        loss, accuracy = run.evaluate()
        same = "the same bits" if len(set(digests)) == 1 else "DIFFERENT BITS"
        print(
            f"{world.size} processes, {arguments.workers} workers: loss {loss:.4f}, accuracy {100 * accuracy:.2f} %, {same}"
        )
        print(f"SHA-256 of the parameters {digest}")
    if len(set(world.bcast(digests))) != 1:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
