#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call from JAX costs: the same work called from numpy, from JAX outside of jit, from a compiled function, and through callbacks.

Times are processor time of one call, all threads of the process together, the least of several rounds; other work on the machine moves
them little. The library itself takes one thread. Needs the package on PYTHONPATH, with JAX.
docs/jax.md has the table.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Any

for library in ("OPENBLAS", "OMP", "MKL"):  # before numpy reads them
    os.environ[f"{library}_NUM_THREADS"] = "1"

import jax  # noqa: E402
import numpy as np  # noqa: E402

import narrowgauge as ng  # noqa: E402
import narrowgauge.jax as nj  # noqa: E402
from narrowgauge import train  # noqa: E402
from narrowgauge.jax import _calls  # noqa: E402


def seconds(call: Callable[[], Any], least: float) -> float:
    """Of one call."""
    call()
    best = float("inf")
    for _ in range(5):
        count, start = 0, time.process_time()
        while not count or time.process_time() - start < least / 5:
            call()
            count += 1
        best = min(best, (time.process_time() - start) / count)
    return best


def done(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What a function returns, when it is there."""
    return jax.block_until_ready(function(*arguments))


def works(size: int) -> dict[str, tuple[Callable[[], Any], Callable[..., Any], tuple[Any, ...]]]:
    """By name: the call from numpy, the function of JAX arrays, and its arguments."""
    random = np.random.default_rng(1)
    a, b = (random.standard_normal((size, size)).astype(np.float32) for _ in range(2))
    here, there = (nj.layers("fp4-all-the-way", ["layer"])["layer"] for _ in range(2))

    def library() -> Any:
        here.begin(1, None)
        return here.forward(a, b), here.input_gradient(a, b), here.weight_gradient(a, a)

    def layer(x: Any, w: Any, gradient: Any) -> Any:
        y, back = jax.vjp(lambda x, w: nj.linear(x, w, there, 1), x, w)
        return y, back(gradient)

    assert isinstance(here, train.Layer)
    return {
        "fake_quantize nvfp4": (
            lambda: ng.fake_quantize(a, "nvfp4", threads=1),
            lambda x: nj.fake_quantize(x, "nvfp4", threads=1),
            (a,),
        ),
        "matmul nvfp4": (
            lambda: ng.matmul(a, b, "nvfp4", threads=1),
            lambda x, y: nj.matmul(x, y, "nvfp4", threads=1),
            (a, b),
        ),
        "linear and its gradients": (library, layer, (a, b, a)),
    }


def measure(size: int, least: float) -> list[dict[str, Any]]:
    rows = []
    for name, (library, function, arguments) in works(size).items():
        arrays = tuple(jax.numpy.asarray(each) for each in arguments)
        row = {"work": name, "size": size, "numpy": seconds(library, least)}
        for way in ("ffi", "callback"):
            if way == "ffi" and nj.route() != "ffi":
                continue
            kept, _calls._registered = _calls._registered, way == "ffi"
            jax.clear_caches()
            row[way] = seconds(partial(done, jax.jit(function), arrays), least)
            _calls._registered = kept
        jax.clear_caches()
        row["eager"] = seconds(partial(done, function, arrays), least)
        best = row.get("ffi", row["callback"])
        rows.append({**row, "ratio": best / row["numpy"]})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[16, 128, 512], help="rows and columns of the matrices")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each figure")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rows = [row for size in arguments.sizes for row in measure(size, arguments.seconds)]
    if arguments.json:
        print(json.dumps({"jax": jax.__version__, "route": nj.route(), "calls": rows}, indent=2))
        return
    print(
        f"| microseconds of a processor, a call (JAX {jax.__version__}) | size | numpy | jit, ffi | ffi over numpy | jit, callback | eager |"
    )
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        cells = [f"{1e6 * row[key]:.0f}" if key in row else "none" for key in ("numpy", "ffi", "callback", "eager")]
        cells.insert(2, f"{row['ratio']:.2f}")
        print(f"| {row['work']} | {row['size']} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
