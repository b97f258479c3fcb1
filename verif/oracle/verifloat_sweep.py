#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Codes, scales and products that VeriFloat makes, a digest a chunk; narrowgauge is not imported here.

    verifloat_sweep.py             makes 128 chunks of 65,536 elements and compares their digests with vectors/verifloat.csv
    verifloat_sweep.py --chunks 4  the first four of them
    verifloat_sweep.py --record    writes vectors/verifloat.csv
    verifloat_sweep.py --speed     a JSON object: digests of the first chunk, and elements or products a second of each kind

VeriFloat 0.2.0 needs Python 3.12 and this script numpy besides; test_verifloat.py compares the golden model with the digests
under any Python, and with VeriFloat itself where it is installed.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROWS, K, CHUNKS = 64, 1024, 128
HALF = ROWS // 2
RECORD = Path(__file__).resolve().parent / "vectors" / "verifloat.csv"
KINDS = ("nvfp4", "modelopt", "mxfp4", "product")

Codes = NDArray[np.uint8]


def words(chunk: int) -> NDArray[np.uint64]:
    """SplitMix64 of the element's number: the same words under every version of numpy."""
    z = np.arange(chunk * ROWS * K, (chunk + 1) * ROWS * K, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (z ^ (z >> np.uint64(31))).reshape(ROWS, K)


def matrix(chunk: int) -> NDArray[np.float32]:
    """A chunk's FP32 numbers: significands of 24, 8, 5 or 3 bits in turn, exponents spread by block."""
    word = words(chunk)
    bits = np.uint64((24, 8, 5, 3)[chunk % 4])
    significand = (word & np.uint64(0xFFFFFF)) >> (np.uint64(24) - bits)
    spread = ((word[:, ::32] >> np.uint64(40)) % np.uint64(24)).repeat(32, axis=1)  # from one binade to 24 of them
    exponent = (word >> np.uint64(48)) % (spread + np.uint64(1))
    shift = ((word[:, ::32] >> np.uint64(56)) % np.uint64(16)).repeat(32, axis=1)
    x = np.ldexp(significand.astype(np.float64), -(exponent + shift).astype(np.int64) - int(bits))
    # VeriFloat takes numbers as fractions, which have no negative zero.
    x = np.where((word >> np.uint64(63)) & (significand != 0), -x, x)
    if chunk % 4 >= 2:  # tensor scales of 2^-11, under which elements are ties of NVFP4
        x[0, 0] = x[HALF, 0] = 2688 * 2.0**-11
    return x.astype(np.float32)


def digest(*arrays: NDArray) -> str:
    """The first 16 digits of SHA-256 over the bytes of arrays."""
    sha = hashlib.sha256()
    for array in arrays:
        sha.update(np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()[:16]


def quantize(x: NDArray[np.float32], name: str) -> tuple[Codes, Codes, np.float32]:
    """Codes, block scales and tensor scale of one of VeriFloat's recipes."""
    import verifloat as vf

    t = vf.BlockTensor.quantize(x, {"nvfp4": vf.NVFP4, "modelopt": vf.NVFP4_MODELOPT, "mxfp4": vf.MXFP4}[name])
    tensor = np.uint32(t.tensor_scale.raw if t.tensor_scale is not None else 0x3F800000).view(np.float32)
    return np.array(t.elem_raw, np.uint8), np.array(t.scale_raw, np.uint8), tensor


def product(a: tuple[Codes, Codes, np.float32], b: tuple[Codes, Codes, np.float32]) -> NDArray[np.uint32]:
    """FP32 bits of a b^T: an exact sum rounded once, times the rounded product of the tensor scales."""
    import verifloat as vf

    left, right = (  # under tensor scale 1
        vf.BlockTensor.from_raw(codes.tolist(), scales.tolist(), vf.NVFP4, tensor_scale=0x3F800000)
        for codes, scales, _ in (a, b)
    )
    alpha = vf.FP32(float(a[2])) * vf.FP32(float(b[2]))
    sums = vf.matmul(left, right, vf.FP32, transpose_b=True)
    return np.array([[(entry * alpha).raw for entry in row] for row in sums], np.uint32)


def made(chunk: int) -> dict[str, str]:
    """The chunk's digests as VeriFloat makes them."""
    x = matrix(chunk)
    a, b = (quantize(part, "nvfp4") for part in (x[:HALF], x[HALF:]))
    return {
        "nvfp4": digest(*a, *b),
        "modelopt": digest(*quantize(x, "modelopt")),
        "mxfp4": digest(*quantize(x, "mxfp4")[:2]),
        "product": digest(product(a, b)),
    }


def rate(count: int, run: Callable[[], object], seconds: float) -> float:
    """So many a second of processor time, in the shortest of as many runs as fit `seconds`, three at least."""
    times: list[float] = []
    while len(times) < 3 or sum(times) < seconds:
        begin = time.process_time_ns()
        run()
        times.append(max(1, time.process_time_ns() - begin) * 1e-9)
    return count / min(times)


def speed(seconds: float) -> dict[str, dict[str, str] | dict[str, float]]:
    """What VeriFloat makes of the first chunk, and how fast: elements a second, and products a second of `product`."""
    x = matrix(0)
    a, b = (quantize(part, "nvfp4") for part in (x[:HALF], x[HALF:]))
    rates = {name: rate(x.size, partial(quantize, x, name), seconds) for name in KINDS[:-1]}
    return {"digests": made(0), "rates": {**rates, "product": rate(HALF * K * HALF, partial(product, a, b), seconds)}}


def recorded() -> list[dict[str, str]]:
    """The recorded digests, a row a chunk."""
    with RECORD.open(newline="") as file:
        return list(csv.DictReader(file))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=CHUNKS)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--seconds", type=float, default=1.0, help="of --speed, for each kind")
    given = parser.parse_args()
    if given.speed:
        print(json.dumps(speed(given.seconds)))
        return 0
    begin = time.monotonic()
    rows = [{"chunk": str(chunk), **made(chunk)} for chunk in range(given.chunks)]
    print(f"{given.chunks * ROWS * K} codes of each format in {time.monotonic() - begin:.0f} s")
    if given.record:
        with RECORD.open("w", newline="") as file:
            writer = csv.DictWriter(file, ("chunk", *KINDS), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        return 0
    differ = [
        f"chunk {row['chunk']}, {kind}"
        for row, old in zip(rows, recorded(), strict=False)
        for kind in KINDS
        if row[kind] != old[kind]
    ]
    print(f"{len(differ)} digests differ from {RECORD.name}", *differ[:8], sep="\n  ")
    return bool(differ)


if __name__ == "__main__":
    sys.exit(main())
