#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far the accumulations of hardware are from exact sums, and how fast the golden model computes them.

Both operands are random: of normal numbers, and of normal numbers with a lognormal factor (sigma 2) for each block of 16
along the contraction. For each format, mode and K: the share of results that differ from exact sums rounded once, and
the root mean square of the difference over that of the results.

With --speed, the time of one thread instead; and with --mmasim that of MMA-Sim 2.1.1 (PyPI), which needs torch, on the
same products, whose results must be the same.

Needs the package on PYTHONPATH (the build directory's python/). docs/accumulation.md has the tables.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import narrowgauge as ng

MODES = {
    "nvfp4": ("blackwell", "fp32_chain"),
    "mxfp8_e4m3": ("blackwell", "fp32_chain"),
    "fp8_e4m3": ("blackwell", "hopper", "fp32_chain", "rvbna"),
}
RECORD = Path(__file__).with_suffix(".json")
SIZE = 64
#: A format, the mode, K of an instruction, and MMA-Sim's name of it.
INSTRUCTIONS = (
    ("nvfp4", "blackwell", 64, "m128n128k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"),
    ("mxfp8_e4m3", "blackwell", 32, "m128n128k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0"),
    ("fp8_e4m3", "hopper", 32, "m64n128k32.f32.e4m3.e4m3"),
)


def matrix(data: str, k: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((SIZE, k))
    if data == "wide":
        x *= np.repeat(np.exp(2 * rng.standard_normal((SIZE, k // 16))), 16, axis=1)
    return x.astype(np.float32)


def study(lengths: list[int]) -> dict[str, dict]:
    """By "data format mode K"."""
    rows = {}
    for data in ("normal", "wide"):
        for k in lengths:
            x, y = matrix(data, k, 1), matrix(data, k, 2)
            for format, modes in MODES.items():
                a, b = ng.quantize(x, format), ng.quantize(y.T, format, axis=-2)
                exact = ng.gemm(a, b).astype(np.float64)
                size = np.sqrt((exact**2).mean())
                for mode in modes:
                    c = ng.gemm(a, b, accumulate=mode).astype(np.float64)
                    rows[f"{data} {format} {mode} {k}"] = {
                        "different": float((c != exact).mean()),
                        "relative_rms": float(np.sqrt(((c - exact) ** 2).mean()) / size),
                    }
    return rows


def table(rows: dict[str, dict], lengths: list[int]) -> str:
    lines = ["| data | format | accumulation | " + " | ".join(f"K = {k}" for k in lengths) + " |"]
    lines.append("|" + "---|" * (3 + len(lengths)))
    for data in ("normal", "wide"):
        for format, modes in MODES.items():
            for mode in modes:
                cells = []
                for k in lengths:
                    row = rows[f"{data} {format} {mode} {k}"]
                    cells.append(
                        f"{100 * row['different']:.3g} %, {row['relative_rms']:.1e}" if row["different"] else "0"
                    )
                lines.append(f"| {data} | {format} | `{mode}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def best(run: Callable[[], object], seconds: float) -> float:
    """The shortest processor time of some runs, which take so long at least."""
    run()
    least, start = float("inf"), time.perf_counter()
    while time.perf_counter() - start < seconds:
        begun = time.process_time()
        run()
        least = min(least, time.process_time() - begun)
    return least


def speed(seconds: float, k: int = 4096) -> list[dict]:
    rows = []
    x, y = (np.random.default_rng(seed).standard_normal((256, k)).astype(np.float32) for seed in (3, 4))
    for format, modes in MODES.items():
        a, b = ng.quantize(x, format), ng.quantize(y.T, format, axis=-2)
        for mode in ("exact", *modes):
            took = best(lambda: ng.gemm(a, b, accumulate=mode, threads=1), seconds)  # noqa: B023
            rows.append({"format": format, "mode": mode, "macs_per_second": 256 * 256 * k / took})
    return rows


def mmasim(seconds: float) -> list[dict]:
    """MMA-Sim's own instruction, and ng.mma, on the same codes."""
    import torch
    from mmasim import nv_ptx

    torch.set_num_threads(1)
    rows = []
    for format, mode, k, name in INSTRUCTIONS:
        x, y = (np.random.default_rng(seed).standard_normal((128, k)).astype(np.float32) for seed in (5, 6))
        a, b = ng.quantize(x, format), ng.quantize(y.T, format, axis=-2)
        rule, m = f"{mode}_{k}", 64 if mode == "hopper" else 128
        p, q = (np.ascontiguousarray(v.codes) for v in (a, b))
        c = torch.zeros(m, 128)
        if format == "nvfp4":
            packed = [torch.from_numpy(v[:, ::2] << 4 | v[:, 1::2]) for v in (p, q)]  # theirs: the first one on top
            scales = [torch.from_numpy(v.scales.copy()).view(torch.float8_e4m3fn) for v in (a, b)]
            theirs = nv_ptx.TCGen05MMABlockScale("Blackwell", name)
            arguments = (packed[0], packed[1].T, c, scales[0], scales[1].T)
        else:
            codes = [torch.from_numpy(v.copy()).view(torch.float8_e4m3fn) for v in (p[:m], q)]
            arguments = (codes[0], codes[1].T, c)
            theirs = (
                nv_ptx.WGMMA("Hopper", name) if mode == "hopper" else nv_ptx.TCGen05MMABlockScale("Blackwell", name)
            )
            if mode != "hopper":
                scales = [torch.from_numpy(v.scales.copy()).view(torch.float8_e8m0fnu) for v in (a, b)]
                arguments += (scales[0], scales[1].T)
        scaled = {} if mode == "hopper" else {"a_scales": a.scales, "b_scales": b.scales}
        scaled["scale"] = "ue4m3" if format == "nvfp4" else "e8m0"
        ours = ng.mma(p[:m], q, rule=rule, elements=(a.element, b.element), threads=1, **scaled)
        different = int((ours.view(np.uint32) != theirs(*arguments).numpy().view(np.uint32)).sum())
        macs = m * 128 * k
        rows.append({"instruction": name, "format": format, "mode": mode, "different": different, "results": m * 128}
                    | {"mmasim_macs_per_second": macs / best(lambda: theirs(*arguments), seconds)})  # noqa: B023  # fmt: skip
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--lengths", nargs="+", type=int, default=[64, 1024, 4096, 65536], metavar="K", help="multiples of 64"
    )
    parser.add_argument("--speed", action="store_true", help="times instead")
    parser.add_argument("--mmasim", action="store_true", help="with --speed: MMA-Sim's, too")
    parser.add_argument("--seconds", type=float, default=1.0, help="that each time is measured for, at least")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.name}, which the picture is drawn from")
    arguments = parser.parse_args()
    if arguments.speed:
        rows = speed(arguments.seconds)
        theirs = {row["format"]: row for row in (mmasim(arguments.seconds) if arguments.mmasim else [])}
        for row in rows:
            other = theirs.get(row["format"])
            if other and other["mode"] == row["mode"]:
                row |= {key: other[key] for key in ("instruction", "different", "results", "mmasim_macs_per_second")}
                row["ratio"] = row["macs_per_second"] / row["mmasim_macs_per_second"]
        if arguments.json:
            print(json.dumps(rows, indent=1))
            return 0
        for row in rows:
            beside = (
                f", {row['ratio']:.0f} times MMA-Sim ({row['different']} of {row['results']} results differ)"
                if "ratio" in row
                else ""
            )
            print(f"{row['format']:10} {row['mode']:10} {row['macs_per_second']:.2e} MAC/s{beside}")
        return 0
    rows = study(arguments.lengths)
    if arguments.record:
        RECORD.write_text(json.dumps(rows, indent=1) + "\n")
    print(json.dumps(rows, indent=1) if arguments.json else table(rows, arguments.lengths))
    return 0


if __name__ == "__main__":
    sys.exit(main())
