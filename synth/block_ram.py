# SPDX-License-Identifier: Apache-2.0
"""Block RAM is inferred by the flows of four families, for ng_ram and for the tile's operand buffer: each memory lies in
block RAM, and not a flip-flop is added to it, such as a bypass for an address that is read while it is written."""

from __future__ import annotations

import fnmatch
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ngtools import ngflow

# Flow: its commands, its block RAM, its flip-flops.
FLOWS = {
    "ice40": ("synth_ice40", "SB_RAM40_4K*", "SB_DFF*"),
    "ecp5": ("synth_ecp5", "DP16KD", "TRELLIS_FF"),
    "xilinx7": ("synth_xilinx -family xc7 -flatten -noiopad -noclkbuf", "RAMB*", "FD[RCSP]E"),
    "gowin": ("synth_gowin -noiopads", "*DPX9*", "DFF*"),
}
# Module, parameters, its memories, and the flip-flops of its RTL.
DESIGNS = [
    ("ng_ram", {"Width": 32, "Depth": 512}, 1, 0),
    ("ng_operand_buffer", {"Width": 72, "StreamWidth": 32, "Depth": 128}, 3, 4 + 16 + 2),
]


def cells(top: str, params: dict[str, int], flow: str) -> dict[str, int]:
    with tempfile.TemporaryDirectory() as folder:
        netlist = Path(folder) / "netlist.json"
        commands = [f"{flow} -top {top}", f"write_json {netlist}"]
        ngflow.run_yosys([*ngflow.yosys_read(top, ngflow.sources(top), params), *commands], Path(folder) / "synth.log")
        found: dict[str, int] = {}
        for cell in json.loads(netlist.read_text())["modules"][top]["cells"].values():
            found[cell["type"]] = found.get(cell["type"], 0) + 1
        return found


def judge(where: str, found: dict[str, int], ram: str, register: str, memories: int, registers: int) -> list[str]:
    rams = sum(number for kind, number in found.items() if fnmatch.fnmatchcase(kind, ram))
    got = sum(number for kind, number in found.items() if fnmatch.fnmatchcase(kind, register))
    print(f"{where}: {rams} block RAM, {got} flip-flops")
    problems = [] if rams >= memories else [f"{where}: expected {memories} block RAM ({ram}) or more among {found}"]
    return problems + ([f"{where}: {got} flip-flops; expected at most {registers}"] if got > registers else [])


def main() -> int:
    # What the judge is for: a memory in flip-flops, a bypass beside the RAM.
    assert judge("selftest", {"DFF": 512}, "RAMB*", "DFF*", 1, 0)
    assert judge("selftest", {"RAMB18E1": 1, "DFF": 64}, "RAMB*", "DFF*", 1, 0)
    runs = [(name, *design) for name in FLOWS for design in DESIGNS]
    with ThreadPoolExecutor(max_workers=2) as pool:
        results = pool.map(lambda run: cells(run[1], run[2], FLOWS[run[0]][0]), runs)
    problems = []
    for (name, top, _, *limits), found in zip(runs, results, strict=True):
        problems += judge(f"{top} by {FLOWS[name][0].split()[0]}", found, *FLOWS[name][1:], *limits)
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    if sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    ngflow.run_main(main)
