#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Blocks of NVFP4 that libgguf makes, a digest a chunk; narrowgauge is not imported here.

    libgguf_sweep.py             makes 128 chunks of 65,536 elements and compares their digests with vectors/libgguf.csv
    libgguf_sweep.py --chunks 4  the first four of them
    libgguf_sweep.py --record    writes vectors/libgguf.csv

libgguf 0.2.2 has the quantizers of llama.cpp's ggml as a library; test_libgguf.py compares the golden model with the digests, and
with libgguf itself where it is installed.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from verifloat_sweep import CHUNKS, ROWS, K, digest
from verifloat_sweep import matrix as numbers

RECORD = Path(__file__).resolve().parent / "vectors" / "libgguf.csv"
NVFP4 = 40  # its number among ggml's types


def matrix(chunk: int) -> NDArray[np.float32]:
    """A chunk's FP32 numbers: those of VeriFloat's chunk, times a power of two that moves them over all block scales."""
    return numbers(chunk) * np.float32(2.0 ** (chunk % 29 - 8))


def quantize(x: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Superblocks of 36 bytes, rows x bytes."""
    import libgguf

    return libgguf.quantize_rows(x, NVFP4)


def made(chunk: int) -> dict[str, str]:
    """The chunk's digest as libgguf makes it, of blocks and of what it decodes them to."""
    import libgguf

    blocks = quantize(matrix(chunk))
    return {"blocks": digest(blocks), "values": digest(libgguf.dequantize_rows(blocks, NVFP4, K))}


def recorded() -> list[dict[str, str]]:
    """The recorded digests, a row a chunk."""
    with RECORD.open(newline="") as file:
        return list(csv.DictReader(file))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, default=CHUNKS)
    parser.add_argument("--record", action="store_true")
    given = parser.parse_args()
    begin = time.monotonic()
    rows = [{"chunk": str(chunk), **made(chunk)} for chunk in range(given.chunks)]
    print(f"{given.chunks * ROWS * K} codes in {time.monotonic() - begin:.0f} s")
    if given.record:
        with RECORD.open("w", newline="") as file:
            writer = csv.DictWriter(file, ("chunk", "blocks", "values"), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        return 0
    differ = [row["chunk"] for row, old in zip(rows, recorded(), strict=False) if row != old]
    print(f"{len(differ)} digests differ from {RECORD.name}", *differ[:8], sep="\n  chunk ")
    return bool(differ)


if __name__ == "__main__":
    sys.exit(main())
