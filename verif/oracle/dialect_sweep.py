# SPDX-License-Identifier: Apache-2.0
"""Dialects of the model against their transcription in dialects.py, on as many BF16 elements as asked for.

dialect_sweep.py [--elements N] [--seed S] [--jobs J] [DIALECT ...]

N elements (default 1e9) of each dialect (default: all of TRANSCRIBED in test_dialects.py), J processes at a time. Prints a
line a dialect; exits with 1 at the first code, scale or tensor scale that differs.
"""

from __future__ import annotations

import argparse
import json
import time
from concurrent.futures import ProcessPoolExecutor

import dialects
import numpy as np
from test_dialects import TRANSCRIBED

import narrowgauge as ng

CHUNK = 4_000_000


def chunk(dialect: str, seed: int, number: int) -> int:
    rng = np.random.default_rng((seed, number))
    return sum(
        dialects.compare(ng, dialect, TRANSCRIBED[dialect], x, f"chunk {number} of seed {seed}, {what}", threads=1)
        for what, x in dialects.matrices(rng, CHUNK)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elements", type=float, default=1e9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("dialects", nargs="*", default=list(TRANSCRIBED))
    given = parser.parse_args()
    unknown = [d for d in given.dialects if d not in TRANSCRIBED]
    if unknown:
        parser.error(f"no transcription of {unknown[0]!r}; expected one of {', '.join(TRANSCRIBED)}")
    elements = 0
    chunks = max(1, -(-int(given.elements) // CHUNK))
    with ProcessPoolExecutor(given.jobs) as pool:
        for dialect in given.dialects:
            begin = time.monotonic()
            try:
                counts = pool.map(chunk, [dialect] * chunks, [given.seed] * chunks, range(chunks))
                total = sum(counts)
            except AssertionError as error:
                print(f"{dialect}: {error}")
                return 1
            elements += total
            print(f"{dialect}: {total} elements, 0 differences, {time.monotonic() - begin:.0f} s", flush=True)
    print(f"figures: {json.dumps({'dialects': len(given.dialects), 'elements': elements, 'seed': given.seed})}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
