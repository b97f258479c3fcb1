#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed of the golden model on one thread, next to numpy and ml_dtypes in the same run.

Matrix products of every format: multiply-accumulates a second (MAC/s) of the golden model, and of numpy programs that
compute the same bits; each is first compared with the golden model on two shapes. They get decoded operands: only the
product is timed. Last of each format, the yardsticks: numpy's float32 product of plain matrices, whose results are others,
rounded on the way, by the kernels that its BLAS takes on this processor and by its kernels for vectors of 256 bits, each
in a process of its own, since OpenBLAS chooses by the environment (OPENBLAS_CORETYPE) when it is loaded.
Other products: block-scaled FP8, and one row by a right operand that was unpacked before.
Quantizers: elements a second of the whole quantization (maximum, scales, codes) and of the way back, next to the plain casts of ml_dtypes,
which have neither scales nor blocks. The simulated hardware has a benchmark of its own, ng_bench_tile_engine.

Times are processor time of the process, so that others on the machine are not counted. NARROWGAUGE_ISA=avx2 (or baseline)
in the environment measures the golden model of lesser machines.

Needs the package on PYTHONPATH (the build directory's python/).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

for library in ("OPENBLAS", "OMP", "MKL"):  # before numpy reads them
    os.environ[f"{library}_NUM_THREADS"] = "1"

import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402

import narrowgauge as ng  # noqa: E402

Array = np.ndarray


# ---------------------------------------------------------------- numpy programs for the same products


def alpha(a: ng.QuantizedMatrix, b: ng.QuantizedMatrix) -> np.float32:
    return np.float32(a.tensor_scale) * np.float32(b.tensor_scale)


def by_blocks(matrix: Array, block: int) -> Array:
    """rows x k -> blocks x rows x block, contiguous."""
    return np.ascontiguousarray(matrix.reshape(len(matrix), -1, block).transpose(1, 0, 2))


def nvfp4_integers(q: ng.QuantizedMatrix) -> tuple[Array, Array]:
    """Elements in halves and scales in units of 2^-9, as integers."""
    return (ng.decode(q.codes, "e2m1") * 2).astype(np.int64), (ng.decode(q.scales, "ue4m3") * 512).astype(np.int64)


def nvfp4_in_integers(a: ng.QuantizedMatrix, b: ng.QuantizedMatrix) -> Callable[[], Array]:
    """As the definition reads: integer dots of the blocks, times the integer scales, summed in int64."""
    (x, sx), (y, sy) = nvfp4_integers(a), nvfp4_integers(b)
    x, y = by_blocks(x, 16), by_blocks(y, 16)
    factor = alpha(a, b)

    def run() -> Array:
        total = np.zeros((a.rows, b.rows), np.int64)
        for n in range(len(x)):
            total += (x[n] @ y[n].T) * np.multiply.outer(sx[:, n], sy[:, n])
        return total.astype(np.float32) * np.float32(2.0**-20) * factor

    return run


def nvfp4_with_blas_blocks(a: ng.QuantizedMatrix, b: ng.QuantizedMatrix) -> Callable[[], Array]:
    """The same with the blocks' dots by float32 BLAS (exact: below 2^24), products and sums in float64 below 2^53."""
    (x, sx), (y, sy) = nvfp4_integers(a), nvfp4_integers(b)
    x, y = by_blocks(x.astype(np.float32), 16), by_blocks(y.astype(np.float32), 16)
    sx, sy = sx.astype(np.float64), sy.astype(np.float64)
    factor = alpha(a, b)

    def run() -> Array:
        total = np.zeros((a.rows, b.rows), np.int64)
        for first in range(0, len(x), 64):  # 64 blocks of 2304 * (448 * 2^9)^2 stay below 2^53
            partial = np.zeros((a.rows, b.rows))
            for n in range(first, min(first + 64, len(x))):
                partial += (x[n] @ y[n].T) * np.multiply.outer(sx[:, n], sy[:, n])
            total += partial.astype(np.int64)
        return total.astype(np.float32) * np.float32(2.0**-20) * factor

    return run


def nvfp4_with_folded_scales(a: ng.QuantizedMatrix, b: ng.QuantizedMatrix) -> Callable[[], Array]:
    """The trick: element times scale is an integer of 22 bits, so float64 BLAS sums 1024 products exactly."""
    (x, sx), (y, sy) = nvfp4_integers(a), nvfp4_integers(b)
    x, y = (x * np.repeat(sx, 16, axis=1)).astype(np.float64), (y * np.repeat(sy, 16, axis=1)).astype(np.float64)
    factor = alpha(a, b)

    def run() -> Array:
        total = np.zeros((a.rows, b.rows), np.int64)
        for first in range(0, x.shape[1], 1024):  # 1024 * (12 * 448 * 2^9)^2 < 2^53
            part = slice(first, first + 1024)
            total += (x[:, part] @ y[:, part].T).astype(np.int64)
        return total.astype(np.float32) * np.float32(2.0**-20) * factor

    return run


def mxfp4_in_float32(a: ng.QuantizedMatrix, b: ng.QuantizedMatrix) -> Callable[[], Array]:
    """Blocks in order: exact dot by float32 BLAS, times the powers of two, added in float32."""
    x, y = (by_blocks(ng.decode(q.codes, "e2m1"), 32) for q in (a, b))
    sx, sy = (ng.decode(q.scales, "e8m0") for q in (a, b))
    factor = alpha(a, b)

    def run() -> Array:
        total = np.zeros((a.rows, b.rows), np.float32)
        for n in range(len(x)):
            total += (x[n] @ y[n].T) * np.multiply.outer(sx[:, n], sy[:, n])
        return total * factor

    return run


def e4m3_in_float64(a: ng.QuantizedMatrix, b: ng.QuantizedMatrix) -> Callable[[], Array]:
    """One float64 BLAS product of the decoded values: exact up to k = 2^17."""
    x, y = (ng.decode(q.codes, "e4m3").astype(np.float64) for q in (a, b))
    factor = alpha(a, b)
    return lambda: (x @ y.T).astype(np.float32) * factor


Emulation = Callable[[ng.QuantizedMatrix, ng.QuantizedMatrix], Callable[[], Array]]
# float64 does not hold the sums of other formats: of E5M2 they have 65 bits and more, of E4M3 times E5M2 more beyond k = 4.
EMULATIONS: dict[str, dict[str, Emulation]] = {
    "nvfp4": {
        "numpy, integers": nvfp4_in_integers,
        "numpy, block dots by BLAS": nvfp4_with_blas_blocks,
        "numpy, scales folded, float64 BLAS": nvfp4_with_folded_scales,
    },
    "mxfp4": {"numpy, block dots by BLAS": mxfp4_in_float32},
    "fp8_e4m3": {"numpy, float64 BLAS": e4m3_in_float64},
}


# ---------------------------------------------------------------- the yardsticks

# Kernels of OpenBLAS that are asked for beside the one that it chooses by itself, and the processor's flag that they need.
NARROWER = {"Haswell": "avx2"}


def has_flag(flag: str) -> bool:
    """Whether the processor has this flag, as Linux names it."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text() if cpuinfo.exists() else ""
    flags = re.search(r"^flags\s*:(.*)$", text, re.MULTILINE)
    return flags is not None and flag in flags[1].split()


def blas_child(size: int, seconds: float) -> None:
    """What a child process does: prints the MAC/s of one float32 product of size^3."""
    x, y = np.random.default_rng(1).standard_normal((2, size, size), np.float32)
    print(size**3 / best_time(lambda: x @ y, seconds))


def blas_rates(size: int, seconds: float) -> dict[str, float]:
    """MAC/s of numpy's float32 product on one thread by name of the kernel, the one that the library chooses first.

    One entry where the library is no OpenBLAS, or the processor lacks what the narrower kernels need.
    """
    rates: dict[str, float] = {}
    for kernel in (None, *(name for name, flag in NARROWER.items() if has_flag(flag))):
        environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_CORETYPE"} | {"OPENBLAS_VERBOSE": "2"}
        if kernel:
            environment["OPENBLAS_CORETYPE"] = kernel
        command = [sys.executable, __file__, "--blas", "--size", str(size), "--seconds", str(seconds)]
        child = subprocess.run(command, env=environment, capture_output=True, text=True)
        if child.returncode:
            raise SystemExit(f"bench: the float32 product by BLAS ended with code {child.returncode}: {child.stderr}")
        found = re.search(r"^Core: (\w+)", child.stderr + child.stdout, re.MULTILINE)
        rates.setdefault(f"OpenBLAS, {found[1]}" if found else "BLAS", float(child.stdout.split()[-1]))
    return rates


# ---------------------------------------------------------------- measuring


def best_time(run: Callable[[], object], seconds: float) -> float:
    """Shortest of as many runs as fit `seconds`, three at least, in seconds of processor time."""
    times: list[float] = []
    while len(times) < 3 or sum(times) < seconds:
        started = time.process_time_ns()
        run()
        times.append(max(1, time.process_time_ns() - started) * 1e-9)
    return min(times)


def say(text: str) -> None:
    print(f"  {text} ...", file=sys.stderr, flush=True)


def operands(rng: np.random.Generator, format: str, m: int, k: int, n: int) -> tuple:
    a, b = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
    return ng.quantize(a, format), ng.quantize(b, format, axis="columns")


def bench_products(size: int, seconds: float) -> list[dict]:
    rng = np.random.default_rng(1)
    rows = []
    for format in ng.gemm_formats():
        a, b = operands(rng, format, size, size, size)
        say(f"{format}: golden model, {size}^3")
        golden = size**3 / best_time(lambda a=a, b=b: ng.gemm(a, b, threads=1), seconds)
        rows.append({"format": format, "program": "golden model", "macs_per_second": golden, "ratio": None})
        for name, emulation in EMULATIONS.get(format, {}).items():
            say(f"{format}: {name}")
            for m, k, n in ((33, 1072, 17), (64, 4096, 48)):
                x, y = operands(rng, format, m, k, n)
                if not np.array_equal(emulation(x, y)().view("u4"), ng.gemm(x, y, threads=1).view("u4")):
                    raise SystemExit(f"bench: '{name}' differs from the golden model of {format}: nothing was measured")
            rate = size**3 / best_time(emulation(a, b), seconds)
            rows.append({"format": format, "program": name, "macs_per_second": rate, "ratio": golden / rate})
        say(f"{format}: float32 BLAS")
        for kernel, rate in blas_rates(size, seconds).items():
            name = f"float32, {kernel}"
            rows.append({"format": format, "program": name, "macs_per_second": rate, "ratio": golden / rate})
    return rows


def bench_other_products(size: int, seconds: float) -> list[dict]:
    """Products of block-scaled FP8, and of one row by a right operand that keeps its unpacked form."""
    rng = np.random.default_rng(3)
    rows = []

    def add(name: str, macs: int, golden: Callable[[], object], plain: Callable[[], object]) -> None:
        say(name)
        rate, yardstick = macs / best_time(golden, seconds), macs / best_time(plain, seconds)
        rows.append({"program": name, "macs_per_second": rate, "ratio": rate / yardstick})

    x, y = rng.standard_normal((2, size, size), np.float32)
    for format in ("fp8_e4m3", "fp8_e5m2"):
        a, b = ng.quantize(x, format, scaling="1x128"), ng.quantize(y, format, axis="columns", scaling="128x128")
        add(f"{format}, 1x128 by 128x128", size**3, lambda a=a, b=b: ng.gemm(a, b, threads=1), lambda: x @ y)
    wide = 4 * size
    x, y = rng.standard_normal((1, wide), np.float32), rng.standard_normal((wide, wide), np.float32)
    for format in ("nvfp4", "mxfp4", "fp8_e4m3", "fp8_e5m2", "mxfp8_e4m3"):
        a, b = ng.quantize(x, format), ng.quantize(y, format, axis="columns")
        ng.gemm(a, b, threads=1)  # unpacks b
        add(f"{format}, 1 x {wide} x {wide}", wide**2, lambda a=a, b=b: ng.gemm(a, b, threads=1), lambda: x @ y)
    return rows


def bench_quantizers(elements: int, seconds: float) -> list[dict]:
    x = np.random.default_rng(2).standard_normal((elements // 4096, 4096), np.float32)
    rows = []

    def add(program: str, run: Callable[[], object]) -> None:
        say(program)
        rows.append({"program": program, "elements_per_second": x.size / best_time(run, seconds)})

    for format in ("nvfp4", "mxfp4", "mxfp6_e2m3", "mxint8", "fp8_e4m3", "fp8_e5m2", "fp8_e4m3fnuz"):
        add(f"quantize {format}", lambda f=format: ng.quantize(x, f, threads=1))
        add(f"fake_quantize {format}", lambda f=format: ng.fake_quantize(x, f, threads=1))
        q = ng.quantize(x, format, threads=1)
        add(f"dequantize {format}", lambda q=q: ng.dequantize(q))
    add("quantize nvfp4, columns", lambda: ng.quantize(x, "nvfp4", axis="columns", threads=1))
    add("quantize nvfp4, vendor rule", lambda: ng.quantize(x, "nvfp4", rule="vendor", threads=1))
    add("quantize nvfp4, stochastic", lambda: ng.quantize(x, "nvfp4", rounding="stochastic", threads=1))
    for name in ("e2m1", "e4m3", "e5m2", "e4m3fnuz", "bf16"):
        add(f"encode {name}", lambda n=name: ng.encode(x, n))
        ml_type = getattr(ml_dtypes, ng.formats()[name].ml_dtype)
        add(f"ml_dtypes cast to {ml_type.__name__}", lambda t=ml_type: x.astype(t))
    return rows


def print_tables(result: dict) -> None:
    print(f"\nmatrix products of {result['size']}^3, one thread")
    print(f"{'format':<17}{'program':<37}{'MAC/s':>10}{'golden is':>13}")
    for row in result["products"]:
        ratio = f"{row['ratio']:.3g} x" if row["ratio"] else ""
        print(f"{row['format']:<17}{row['program']:<37}{row['macs_per_second']:>10.2e}{ratio:>13}")
    print("\nother products, one thread, next to numpy's float32 product of that shape")
    print(f"{'product':<54}{'MAC/s':>10}{'golden is':>13}")
    for row in result["other_products"]:
        print(f"{row['program']:<54}{row['macs_per_second']:>10.2e}{row['ratio']:>11.3g} x")
    print(f"\nquantizers and casts, {result['elements']:,} float32, one thread")
    print(f"{'program':<42}{'elements/s':>12}")
    for row in result["quantizers"]:
        print(f"{row['program']:<42}{row['elements_per_second']:>12.2e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1024, help="M = K = N of the products (default 1024)")
    parser.add_argument("--elements", type=int, default=1 << 23, help="for the quantizers (default 2^23)")
    parser.add_argument("--seconds", type=float, default=1.0, help="time given to each measurement (default 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else on stdout")
    parser.add_argument("--blas", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.size < 16 or options.elements < 4096:
        parser.error("--size must be at least 16 and --elements at least 4096")
    if options.blas:
        return blas_child(options.size, options.seconds)
    result = {
        "size": options.size,
        "elements": options.elements // 4096 * 4096,
        "products": bench_products(options.size, options.seconds),
        "other_products": bench_other_products(options.size, options.seconds),
        "quantizers": bench_quantizers(options.elements, options.seconds),
    }
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        print_tables(result)


if __name__ == "__main__":
    main()
