#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One matrix product, from numbers to joules: quantized, multiplied on the simulated tile, and priced on the same operands.

python3 examples/digits/energy.py [--images 10] [--technology osu018] [--formats nvfp4 fp8_e4m3 int8]

The product is the second convolution of the digits network (examples/digits). Needs the narrowgauge package: docs/python.md.
"""

from __future__ import annotations

import argparse

import network
import numpy as np
from numpy.typing import NDArray

import narrowgauge as ng

Array = NDArray[np.float32]
LANES = 16  # products a cycle of the unit that is priced, as the tile's


def operands(images: int) -> tuple[Array, Array]:
    """Activations and weights of layer conv2, as the float32 network makes them."""
    seen: dict[str, tuple[Array, Array]] = {}

    def record(name: str, a: Array, b: Array) -> Array:
        seen[name] = a, b
        return a @ b

    network.forward(network.load_data()[0][:images], network.load_weights(), record)
    return seen["conv2"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=10)
    parser.add_argument("--technology", default="osu018")
    parser.add_argument("--formats", nargs="+", default=["nvfp4", "fp8_e4m3", "fp8_e5m2", "int8"])
    arguments = parser.parse_args()
    a, b = operands(arguments.images)
    exact = a.astype(np.float64) @ b
    print(
        f"conv2 of {arguments.images} images: {a.shape[0]} x {a.shape[1]} x {b.shape[1]}, in {arguments.technology}\n"
    )
    print(f"{'format':10} {'SQNR dB':>8} {'cycles':>8} {'use %':>6} {'J / MAC':>10} {'J':>10} {'rung error':>11}")
    for format in arguments.formats:
        simulated = f"{'':8} {'':8} {'':6}"
        if format in ng.gemm_formats():
            qa, qb = ng.quantize(a, format), ng.quantize(b, format, axis="columns")
            result = ng.Engine("systemc").gemm(qa, qb)  # the tile, cycle by cycle
            assert (result.c == ng.gemm(qa, qb)).all(), "the tile and the golden model differ"
            sqnr = 10 * np.log10((exact**2).sum() / ((result.c - exact) ** 2).sum())
            simulated = f"{sqnr:8.1f} {result.cycles:8} {100 * (result.utilization or 0):6.1f}"
        answer = ng.energy(format, technology=arguments.technology, lanes=LANES, operands=(a, b))  # rung L1
        error = f"{100 * answer.error.mean_abs:.1f} %" if answer.error else "not known"
        print(f"{format:10} {simulated} {answer.each:10.3g} {answer.value:10.3g} {error:>11}")
    print(
        f"\nEnergies: flips counted on these operands in a unit of {LANES} lanes with its accumulator, without leakage."
    )


if __name__ == "__main__":
    main()
