#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call through torch costs over the same products in numpy, and whether memory grows over steps.

For linear layers of several sizes: forward and both gradients by `narrowgauge.train.Layer` on numpy's arrays, and by
`narrowgauge.torch.Linear` on tensors, in turns. Times are the median of processor time of one thread. The results of both are
compared bit for bit. Then a layer takes --steps steps, and what the process has resident is printed at tenths of them.

Needs the package torch, and narrowgauge on PYTHONPATH (the build directory's python/). docs/torch.md has the table.
Exit code: 0; 1 where bits differ, or where memory grows by more than 4 MB between the first tenth and the last.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for library in ("OPENBLAS", "OMP", "MKL"):  # before they are read
    os.environ[f"{library}_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402
import torch  # noqa: E402

import narrowgauge.torch as ngt  # noqa: E402
from narrowgauge import train  # noqa: E402

SIZES = ((8, 64, 32), (32, 128, 128), (128, 512, 512), (256, 1024, 1024))
SAME = 4.0  #: MB of growth that are no growth


def resident() -> float:
    """MB of the process that are in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def timed(calls: list[Callable[[], Any]], seconds: float) -> list[float]:
    """Medians of processor time of calls that take turns, so that a busy machine slows all alike."""
    times: list[list[float]] = [[] for _ in calls]
    end = time.monotonic() + seconds
    while time.monotonic() < end or len(times[0]) < 5:
        for call, its in zip(calls, times, strict=True):
            start = time.process_time()
            call()
            its.append(time.process_time() - start)
    return [float(np.median(each)) for each in times]


def measure(recipe: str, size: tuple[int, int, int], seconds: float) -> dict[str, Any]:
    rows, inputs, outputs = size
    random = np.random.default_rng(1)
    x, weight, back = (
        random.standard_normal(shape).astype(np.float32)
        for shape in ((rows, inputs), (inputs, outputs), (rows, outputs))
    )
    layer = train.Layer("linear", 1, train.load(recipe), False, 0, train.Costs())
    layer.begin(1, None)

    def plain() -> tuple[Any, ...]:
        return layer.forward(x, weight), layer.input_gradient(back, weight), layer.weight_gradient(x, back)

    module = ngt.Linear(inputs, outputs, bias=False, recipe=recipe)
    module.weight.data = torch.from_numpy(np.ascontiguousarray(weight.T))
    tensor, gradient = torch.from_numpy(x).requires_grad_(), torch.from_numpy(back)

    def through_torch() -> tuple[Any, ...]:
        module.step(1)
        y = module(tensor)
        return y, *torch.autograd.grad(y, (tensor, module.weight), gradient)

    here, there = plain(), through_torch()
    pairs = zip(here, (there[0].detach(), there[1], there[2].T), strict=True)
    equal = all(
        np.array_equal(left.view(np.uint32), np.ascontiguousarray(right).view(np.uint32)) for left, right in pairs
    )
    numpy_s, torch_s = timed([plain, through_torch], seconds)
    return {"recipe": recipe, "size": list(size), "numpy_s": numpy_s, "torch_s": torch_s, "equal": equal}


def memory(recipe: str, steps: int) -> list[float]:
    """MB in memory at tenths of some steps."""
    module = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    ngt.convert(module, recipe)
    optimizer = torch.optim.Adam(module.parameters())
    x, found = torch.randn(32, 64), []
    for number in range(1, steps + 1):
        ngt.step(module)
        optimizer.zero_grad()
        module(x).square().mean().backward()
        optimizer.step()
        if number % max(1, steps // 10) == 0:
            found.append(resident())
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recipes", nargs="*", default=["nvidia-nvfp4", "fp8"], help="names of train.recipes()")
    parser.add_argument("--seconds", type=float, default=4, help="of each measurement (4)")
    parser.add_argument("--steps", type=int, default=1000, help="over which memory is looked at (1000)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(1)
    rows = [measure(recipe, size, options.seconds) for recipe in options.recipes for size in SIZES]
    resident_mb = {recipe: memory(recipe, options.steps) for recipe in options.recipes}
    growth = max(found[-1] - found[0] for found in resident_mb.values())
    if options.json:
        print(json.dumps({"calls": rows, "resident_mb": resident_mb, "torch": torch.__version__}, indent=2))
    else:
        print("| recipe | rows x inputs x outputs | numpy | torch | ratio | bits |\n|---|---|---|---|---|---|")
        for row in rows:
            size = " x ".join(map(str, row["size"]))
            print(f"| {row['recipe']} | {size} | {1e3 * row['numpy_s']:.2f} ms | {1e3 * row['torch_s']:.2f} ms", end="")
            print(f" | {row['torch_s'] / row['numpy_s']:.2f} | {'equal' if row['equal'] else 'DIFFERENT'} |")
        for recipe, found in resident_mb.items():
            print(
                f"{recipe}: {options.steps} steps, resident at tenths of them: {', '.join(f'{mb:.1f}' for mb in found)} MB"
            )
    return 0 if all(row["equal"] for row in rows) and growth <= SAME else 1


if __name__ == "__main__":
    sys.exit(main())
