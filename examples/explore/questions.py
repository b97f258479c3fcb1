# SPDX-License-Identifier: Apache-2.0
"""Five questions of an architect at 7 nm, each answered as a table (docs/tutorials/architect.md).

python3 examples/explore/questions.py [formats] [bound] [codec] [buffer] [step]      without one, all; --json for the figures
"""

from __future__ import annotations

import json
import sys
from typing import Any

import narrowgauge as ng
from narrowgauge import train

#: An array of 16 x 16 cells of 16 lanes in cells of ASAP7, buffers by CACTI, beside HBM2.
SPACE: dict[str, Any] = {
    "format": "int8",
    "technology": "asap7",
    "memory": {"dram": ["hbm2", "tpuv4i_7nm"]},
    "rows": 16,
    "cols": 16,
    "lanes": 16,
    "a_depth": 1024,
    "b_depth": 1024,
    "stream_width": 1024,
    "result": "bf16",
    "objectives": ["energy"],
}
FORMATS = (("int8", "none"), ("nvfp4", "none"), ("nvfp4", "2:4"))
BLOCKS = ("llama_block", "vit_block")
#: A stack of HBM2, and a channel of DDR3 behind the same array.
DDR3 = {"dram": ["dram", "horowitz_45nm"]}
MEMORIES = (("hbm2", SPACE["memory"]), ("ddr3", DDR3))


def point(workload: str, sizes: dict[str, int] | None = None, **axes: Any) -> dict[str, Any]:
    """The one point of the space above with these axes in place of its own."""
    found: dict[str, Any] = ng.explore(workload, {**SPACE, **axes}, set=sizes).document()["front"][0]
    return {"workload": workload, **(sizes or {}), **found}


def error(rung: str | None, mean: float | None) -> str:
    """The rung of the products' price, with its stated error."""
    return f"{rung or 'given'} {'-' if mean is None else f'+-{100 * mean:.0f}%'}"


def shares(p: dict[str, Any]) -> str:
    return "/".join(f"{100 * p[part] / p['energy_j']:.0f}" for part in ("mac_j", "sram_j", "dram_j", "idle_j"))


def table(head: str, rows: list[list[str]]) -> str:
    lines = [head.split("|"), *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def formats() -> tuple[str, list[dict[str, Any]]]:
    """INT8, NVFP4 and 2:4 NVFP4 for a decoder's block and a vision transformer's."""
    points = [point(block, format=name, sparsity=how) for block in BLOCKS for name, how in FORMATS]
    first = {p["workload"]: p["energy_j"] for p in points[::-1] if p["format"] == "int8"}
    rows = [
        [p["workload"], p["format"], p["sparsity"], f"{1e3 * p['energy_j']:.3g}", f"{p['energy_j'] / first[p['workload']]:.2f}",
         f"{1e3 * p['time_s']:.3g}", shares(p), error(p["mac_rung"], p["mac_error"])]
        for p in points
    ]  # fmt: skip
    return table("workload|format|weights|mJ|to INT8|ms|MAC/buffers/DRAM/idle %|products", rows), points


def bound() -> tuple[str, list[dict[str, Any]]]:
    """Memory or array: prefill and decoding, by format of keys and values."""
    points = []
    for name, memory in MEMORIES:
        points.append({"with": name, **point("llama_block", format="nvfp4", memory=memory)})
        for batch in (1, 16):
            for cache in ("nvfp4", "fp8", "bf16"):
                sizes = {"batch": batch, "context": 8192}
                points.append({"with": name, **point("decoder", sizes, format="nvfp4", cache=cache, memory=memory)})
    rows = [
        [p["with"], p["workload"], str(p.get("batch", "-")), p["cache"], p["limit"], f"{100 * p['memory_share']:.0f} %",
         f"{1e3 * p['token_j']:.3g}", f"{100 * p['cache_j'] / p['energy_j']:.0f} %", error(p["mac_rung"], p["mac_error"])]
        for p in points
    ]  # fmt: skip
    return table("memory|workload|batch|cache|limit|of the time|mJ a token|of it cache|products", rows), points


def codec() -> tuple[str, list[dict[str, Any]]]:
    """A codec of feature maps saves bits of memory and costs coders."""
    points = [
        {"with": name, **point("resnet18", format="int8", compression=ratio, memory=memory)}
        for name, memory in MEMORIES
        for ratio in (1, 1.2, 1.5, 2)
    ]
    rows = [
        [p["with"], f"{p['compression']:g}", f"{1e3 * p['energy_j']:.3g}", f"{1e3 * p['dram_j']:.3g}",
         f"{1e3 * p['codec_j']:.3g}", f"{100 * (p['energy_j'] / points[at // 4 * 4]['energy_j'] - 1):+.0f} %",
         error(p["mac_rung"], p["mac_error"])]
        for at, p in enumerate(points)
    ]  # fmt: skip
    return table("memory|ratio|mJ|DRAM mJ|codec mJ|change|products", rows), points


def buffer() -> tuple[str, list[dict[str, Any]]]:
    """A buffer between memory and array."""
    points = [point("llama_block", format="nvfp4", global_buffer=size << 10) for size in (0, 256, 1024, 4096, 16384)]
    rows = [
        [f"{p['global_buffer'] / 1024:.0f}", f"{1e3 * p['energy_j']:.3g}", f"{1e3 * p['sram_j']:.3g}", f"{1e3 * p['dram_j']:.3g}",
         f"{1e3 * p['time_s']:.3g}", p["limit"], f"{1e6 * p['area_m2']:.2f}", error(p["mac_rung"], p["mac_error"])]
        for p in points
    ]  # fmt: skip
    return table("KiB|mJ|buffers mJ|DRAM mJ|ms|limit|mm2|products", rows), points


def step() -> tuple[str, list[dict[str, Any]]]:
    """A step of training by recipe."""
    results = [train.step_energy(name, "llama_block", SPACE) for name in ("bf16", "fp8", "fp4-all-the-way")]
    rows = []
    for made in results:
        products = [part for part in made.parts if part.what == "products" and part.name != "attention"]
        linear = sum(part.joule or 0.0 for part in products)
        attention = sum(part.joule or 0.0 for part in made.parts if part.name == "attention")
        quantizers = sum(part.joule or 0.0 for part in made.parts if part.what == "quantizers")
        optimizer = sum(part.joule or 0.0 for part in made.parts if part.what.startswith("optimizer"))
        known = {error(part.rung, part.error) for part in products}
        sums = [f"{1e3 * x:.3g}" for x in (linear, attention, quantizers, optimizer, made.joule)]
        to_bf16 = f"{made.joule / made.references['bf16']:.2f}"
        rows.append([made.recipe, *sums, to_bf16, ", ".join(sorted(known)), str(len(made.missing))])
    return table("recipe|layers mJ|attention|quantizers|optimizer|a step|to BF16|products|not priced", rows), [
        made.document() for made in results
    ]


QUESTIONS = {"formats": formats, "bound": bound, "codec": codec, "buffer": buffer, "step": step}


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--json"]
    unknown = [word for word in words if word not in QUESTIONS]
    if unknown:
        print(f'question "{unknown[0]}" is not known; expected {", ".join(QUESTIONS)}', file=sys.stderr)
        return 2
    answers = {}
    for name in words or QUESTIONS:
        text, answers[name] = QUESTIONS[name]()
        if "--json" not in sys.argv:
            print(text)
    if "--json" in sys.argv:
        print(json.dumps(answers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
