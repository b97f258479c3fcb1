#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Encodes every float32 with the golden model and with ml_dtypes (float16: numpy), and compares.

The two differ exactly where DIFFERENCES says, and there the model gives exactly the code that it says: the rules of
docs/numerics.md, Overflow and NaN. Every other difference is an error, and so is a listed one that does not show.
ml_dtypes' saturate=true conversion exists in its C++ headers only (its issue 147), so the policies that saturate are
compared with the plain cast plus the listed rules.

    sweep.py                    all 2^32 values, two processes, policies oracle and saturate
    sweep.py --part 3 16        the third sixteenth of them
    sweep.py --stride 509       a slice: every 509th value
All of them begin with the neighbourhoods of all decision points.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import narrowgauge as ng

Words = NDArray[np.uint32]
CHUNK = 1 << 20
POLICIES = ("oracle", "saturate", "ieee", "oracle_saturate")

INF = 0x7F800000
SIGN = 0x80000000

# First magnitude (as float32 bits) whose nearest value lies beyond the largest finite one.
OVERFLOW = {
    "e4m3": np.float32(464).view(np.uint32) + 1,  # 464 is a tie and goes to the even 448
    "e4m3_ieee": np.float32(248).view(np.uint32),
    "e5m2": np.float32(61440).view(np.uint32),
    "e3m4": np.float32(15.75).view(np.uint32),
    "e4m3fnuz": np.float32(248).view(np.uint32),
    "e5m2fnuz": np.float32(61440).view(np.uint32),
    "e4m3b11fnuz": np.float32(31).view(np.uint32),
    "bf16": np.uint32(0x7F7F8000),
    "fp16": np.float32(65520).view(np.uint32),
    "e8m0": np.float32(1.5 * 2.0**127).view(np.uint32),
}
MAX = {"e2m1": 0x7, "e2m3": 0x1F, "e3m2": 0x1F, "e4m3": 0x7E, "e4m3_ieee": 0x77, "e5m2": 0x7B, "e8m0": 0xFE}
MAX |= {"bf16": 0x7F7F, "fp16": 0x7BFF, "e3m4": 0x6F, "e4m3fnuz": 0x7F, "e5m2fnuz": 0x7F, "e4m3b11fnuz": 0x7F}
ALL_ONES = {"e4m3": 0x7F, "e4m3_ieee": 0x7F, "e5m2": 0x7F, "e3m4": 0x7F, "e8m0": 0xFF, "bf16": 0x7FFF, "fp16": 0x7FFF}
FORMATS = tuple(MAX)
NO_NAN = ("e2m1", "e2m3", "e3m2")


@dataclass(frozen=True)
class Difference:
    """Inputs on which the model and the cast of ml_dtypes differ, and the model's code."""

    formats: tuple[str, ...]
    policies: tuple[str, ...]
    why: str
    where: Callable[[str, Words], NDArray[np.bool_]]
    code: Callable[[str, Words], NDArray[np.integer] | int]


def is_nan(w: Words) -> NDArray[np.bool_]:
    return (w & 0x7FFFFFFF) > INF


def is_inf(w: Words) -> NDArray[np.bool_]:
    return (w & 0x7FFFFFFF) == INF


def overflows(f: str, w: Words) -> NDArray[np.bool_]:
    """Finite and beyond; signed formats only look at the magnitude."""
    m = w & 0x7FFFFFFF
    return (m >= OVERFLOW[f]) & (m < INF)


def sign_of(f: str, w: Words) -> NDArray[np.integer]:
    return (w >> 31) << (ng.formats()[f].bits - 1)


FP8 = ("e4m3", "e4m3_ieee", "e5m2", "e3m4", "e4m3fnuz", "e5m2fnuz", "e4m3b11fnuz")
WIDE = (*FP8, "bf16", "fp16")
DIFFERENCES = (
    Difference(
        NO_NAN,
        ("saturate", "ieee"),
        "FP4 and FP6 NaN: the positive maximum (PTX); ml_dtypes 0x8 or 0x0 (0.1, A4)",
        lambda f, w: is_nan(w),
        lambda f, w: MAX[f],
    ),
    Difference(
        WIDE,
        ("saturate",),
        "finite overflow and infinity: the largest finite value (0.1)",
        lambda f, w: overflows(f, w) | is_inf(w),
        lambda f, w: MAX[f] | sign_of(f, w),
    ),
    Difference(
        WIDE,
        ("oracle_saturate",),
        "finite overflow: the largest finite value; infinity as without saturation (0.1)",
        overflows,
        lambda f, w: MAX[f] | sign_of(f, w),
    ),
    Difference(
        ("e4m3",),
        ("saturate",),
        "NaN: 0x7F (PTX); ml_dtypes keeps the sign (0.1)",
        lambda f, w: is_nan(w) & (w >= SIGN),
        lambda f, w: 0x7F,
    ),
    Difference(
        ("e4m3_ieee", "e5m2", "e3m4", "bf16", "fp16"),
        ("saturate",),
        "NaN: all ones, positive (PTX); ml_dtypes the quiet NaN, sign kept, numpy the payload's top bits (0.1)",
        # numpy turns a float16 NaN with an all-ones payload top into the same code: not a difference.
        lambda f, w: is_nan(w) & ((w >> 13 != 0x3FFFF) if f == "fp16" else True),
        lambda f, w: ALL_ONES[f],
    ),
    Difference(
        ("fp16",),
        ("oracle", "ieee", "oracle_saturate"),
        "NaN: the quiet NaN, sign kept, as ml_dtypes does for its types; numpy keeps the payload's top bits",
        lambda f, w: is_nan(w) & ((w >> 13 & 0x3FF) != 0x200),
        lambda f, w: 0x7E00 | sign_of(f, w),
    ),
    Difference(
        ("e8m0",),
        ("saturate",),
        "E8M0: zero, negative values and -infinity are 2^-127; ml_dtypes NaN (9.3)",
        lambda f, w: ((w == 0) | (w >= SIGN)) & ~is_nan(w),
        lambda f, w: 0x00,
    ),
    Difference(
        ("e8m0",),
        ("oracle_saturate",),
        "E8M0: zero and finite negative values are 2^-127; ml_dtypes NaN without saturation (9.3)",
        lambda f, w: ((w == 0) | (w >= SIGN)) & ~is_nan(w) & ~is_inf(w),
        lambda f, w: 0x00,
    ),
    Difference(
        ("e8m0",),
        ("saturate",),
        "E8M0: overflow and infinity are 2^127; ml_dtypes NaN (9.3)",
        lambda f, w: (w >= OVERFLOW[f]) & (w <= INF),
        lambda f, w: 0xFE,
    ),
    Difference(
        ("e8m0",),
        ("oracle_saturate",),
        "E8M0: finite overflow is 2^127; ml_dtypes NaN without saturation (9.3)",
        lambda f, w: (w >= OVERFLOW[f]) & (w < INF),
        lambda f, w: 0xFE,
    ),
    Difference(
        ("e8m0",),
        ("saturate", "ieee"),
        "E8M0: (2^-127, 1.5 * 2^-127) goes to the nearest, 2^-127; ml_dtypes 0.6 sends it up to 2^-126",
        lambda f, w: (w > 0x00400000) & (w < 0x00600000),
        lambda f, w: 0x00,
    ),
)


def oracle_type(f: str) -> np.dtype:
    name = ng.formats()[f].ml_dtype
    return np.dtype(getattr(ml_dtypes, name, name))


def oracle_codes(f: str, words: Words) -> NDArray[np.unsignedinteger]:
    with np.errstate(all="ignore"):
        codes = words.view(np.float32).astype(oracle_type(f))
    return codes.view(f"u{codes.itemsize}")


def compare(f: str, policy: str, words: Words, oracle: NDArray[np.unsignedinteger]) -> tuple[dict[str, int], list[str]]:
    """Counts of each listed difference among these float32 words, and the errors (at most 20, as texts)."""
    x = words.view(np.float32)
    got = ng.encode(x, f, overflow=policy)
    want = oracle.copy()
    counts: dict[str, int] = {}
    errors: list[str] = []
    for d in DIFFERENCES:
        if f not in d.formats or policy not in d.policies:
            continue
        where = d.where(f, words)
        n = int(np.count_nonzero(where))
        counts[d.why] = n
        if n == 0:
            continue
        want[where] = np.broadcast_to(d.code(f, words), words.shape)[where]
        same = where & (want == oracle)
        for i in np.flatnonzero(same)[:20]:
            errors.append(
                f"{f} {policy}: {words[i]:#010x} is listed as a difference ({d.why}), but both say {oracle[i]:#x}"
            )
    for i in np.flatnonzero(got != want)[:20]:
        errors.append(f"{f} {policy}: {words[i]:#010x} = {x[i]!r}: got {got[i]:#x}, expected {want[i]:#x}")
    return counts, errors[:20]


def neighbourhoods(f: str, reach: int = 3) -> Words:
    """Float32 words around every value of the format and every midpoint, of both signs, and around all special ones."""
    codes = np.arange(1 << ng.formats()[f].bits, dtype=np.uint16)
    values = np.abs(ng.decode(codes, f))
    values = np.unique(values[np.isfinite(values)]).astype(np.float64)
    steps = np.append(values, 2 * values[-1] - values[-2])
    points = np.concatenate([steps, (steps[1:] + steps[:-1]) / 2, [0.0, 2.0**-149, 2.0**-126, np.inf]])
    with np.errstate(all="ignore"):
        words = np.unique(points.astype(np.float32).view(np.uint32))
    words = np.append(words, np.uint32(0x7FC00000))
    offsets = np.arange(-reach, reach + 1, dtype=np.int64)
    words = (words.astype(np.int64)[:, None] + offsets).ravel()
    words = words[(words >= 0) & (words < SIGN)].astype(np.uint32)
    return np.concatenate([words, words | np.uint32(SIGN)])


def jobs(stride: int, part: tuple[int, int]) -> Iterator[tuple[int, int]]:
    """First word and number of words of each chunk."""
    total = -(-(1 << 32) // stride)
    start, stop = (total * n // part[1] for n in (part[0] - 1, part[0]))
    for first in range(start, stop, CHUNK):
        yield first * stride, min(CHUNK, stop - first)


def run_chunk(job: tuple[tuple[str, ...], tuple[str, ...], int, int, int]) -> tuple[int, dict, list[str]]:
    formats, policies, first, count, stride = job
    words = (np.arange(count, dtype=np.uint64) * np.uint64(stride) + np.uint64(first)).astype(np.uint32)
    return (count, *run_words(formats, policies, words))


def run_words(formats: tuple[str, ...], policies: tuple[str, ...], words: Words) -> tuple[dict, list[str]]:
    counts: dict[tuple[str, str, str], int] = {}
    errors: list[str] = []
    for f in formats:
        oracle = oracle_codes(f, words)
        for policy in policies:
            found, bad = compare(f, policy, words, oracle)
            errors += bad
            for why, n in found.items():
                counts[f, policy, why] = counts.get((f, policy, why), 0) + n
    return counts, errors


def sweep(
    formats: tuple[str, ...],
    policies: tuple[str, ...],
    stride: int = 1,
    part: tuple[int, int] = (1, 1),
    processes: int = 1,
    show: bool = False,
) -> tuple[int, dict[tuple[str, str, str], int], list[str]]:
    """Words compared (a format and policy), how often each listed difference came up, errors."""
    done, counts, errors = 0, {}, []

    def add(n: int, found: dict, bad: list[str]) -> None:
        nonlocal done
        done += n
        errors.extend(bad)
        for key, value in found.items():
            counts[key] = counts.get(key, 0) + value

    for f in formats:
        words = neighbourhoods(f)
        add(len(words), *run_words((f,), policies, words))
    chunks = [(formats, policies, first, count, stride) for first, count in jobs(stride, part)]
    started = time.monotonic()
    pool = multiprocessing.Pool(processes) if processes > 1 else None
    results = pool.imap_unordered(run_chunk, chunks) if pool else map(run_chunk, chunks)
    for i, result in enumerate(results):
        add(*result)
        if len(errors) >= 20:
            break
        if show and (i % 16 == 0 or i + 1 == len(chunks)):
            spent = time.monotonic() - started
            left = spent / (i + 1) * (len(chunks) - i - 1)
            print(
                f"\r{100 * (i + 1) / len(chunks):5.1f} %  {spent:6.0f} s, {left:6.0f} s to go ", end="", file=sys.stderr
            )
    if pool:
        pool.terminate()
    if show:
        print(file=sys.stderr)
    return done, counts, errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stride", type=int, default=1, help="encode every n-th float32 (default: every one)")
    parser.add_argument("--part", type=int, nargs=2, default=(1, 1), metavar=("I", "N"), help="part I of N")
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=FORMATS, metavar="FORMAT")
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=("oracle", "saturate"), metavar="POLICY")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if options.stride < 1 or not 1 <= options.part[0] <= options.part[1]:
        parser.error("--stride must be at least 1, and --part I N needs 1 <= I <= N")
    started = time.monotonic()
    part = (options.part[0], options.part[1])
    done, counts, errors = sweep(
        tuple(options.formats), tuple(options.policies), options.stride, part, options.processes, show=True
    )
    for text in errors[:20]:
        print(text)
    for (f, policy, why), n in sorted(counts.items()):
        print(f"{f:10} {policy:16} {n:>12,}  {why}")
    verdict = f"{len(errors)} errors" if errors else "no difference other than those listed above"
    print(
        f"{done:,} float32 values (neighbourhoods of decision points included) in {len(options.formats)} formats and "
        f"{len(options.policies)} policies, {time.monotonic() - started:.0f} s: {verdict}"
    )
    return 1 if errors or done == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
