# SPDX-License-Identifier: Apache-2.0
"""Injects faults into the ports of a unit's memories, as make_mutants.py does into its logic: bits of an address or of what is
written are inverted or stuck, and enables never come.

Yosys `mutate` does not choose these: what memories are mapped to has no source, so that a campaign with a scope leaves it out.
Each port of a memory becomes a cell (memory_ports.v) before the memory is mapped; a fault is one of the cell's bits.
Faults are drawn evenly over memories and kinds of port. With --scope, only memories take part whose source matches.

Options and files are those of make_mutants.py.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from itertools import zip_longest
from pathlib import Path

from ngtools import ngflow

PORTS = {
    "ng_read_address": ("inv", "const0", "const1"),
    "ng_write_address": ("inv", "const0", "const1"),
    "ng_write_data": ("inv", "const0", "const1"),
    # An enable that always comes often changes nothing: what it reads or writes then is not used.
    "ng_read_enable": ("const0",),
    "ng_write_enable": ("const0",),
}


def faults_of(cells: dict[str, dict], top: str, scope: str, seed: int) -> list[str]:
    """All faults of these memories' ports, so that the first of them are an even sample."""
    draw, groups = random.Random(seed), []
    for name, cell in sorted(cells.items()):
        kind, source = name.rpartition(".")[2], cell["attributes"].get("src", "")
        places = [place for place in source.split("|") if "memory_ports.v" not in place]
        if kind not in PORTS or (scope and not any(re.match(scope, place) for place in places)):
            continue
        bits = {bit: at for at, bit in reversed(list(enumerate(cell["connections"]["A"]))) if isinstance(bit, int)}
        sources = " ".join(f"-src {place}" for place in places)
        group = [
            f"mutate -mode {mode} -module {top} -cell {name} -port Y -portbit {at} {sources}"
            for at in sorted(bits.values())
            for mode in PORTS[kind]
        ]
        groups.append(draw.sample(group, len(group)))
    draw.shuffle(groups)
    return [fault for turn in zip_longest(*groups) for fault in turn if fault]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", required=True, help="module name")
    parser.add_argument("--params", default="", help="for example 'Lanes=32;FormatSet=3'")
    parser.add_argument("--count", type=int, default=20, help="faults of each seed")
    parser.add_argument("--seeds", default="1", help="seeds of the choice, for example 1,77")
    parser.add_argument("--newest", type=Path, help="file with one more seed")
    parser.add_argument("--scope", default="", help="regular expression, for example 'rtl/tile/'")
    parser.add_argument("--out", required=True, type=Path, help="path without suffix")
    parser.add_argument("sources", nargs="+", type=Path)
    args = parser.parse_args()

    seeds = [int(seed) for seed in args.seeds.split(",")]
    if args.newest:
        seeds.append(int(args.newest.read_text()))
    clean, listing, mutated = (args.out.resolve().with_suffix(suffix) for suffix in (".il", ".txt", ".v"))
    ngflow.run_yosys(
        ngflow.yosys_read(args.top, args.sources, ngflow.parse_params(args.params))
        + ["proc", "flatten", "opt", "wreduce", "opt -full", "memory -nomap"]
        + [f"techmap -max_iter 1 -map {ngflow.from_root(Path(__file__).with_name('memory_ports.v'))}"]
        + [
            "opt_clean",
            "memory_map",
            "opt_clean -purge",
            f"write_rtlil {clean}",
            f"write_json {clean.with_suffix('.json')}",
        ],
        args.out.with_suffix(".list.log"),
    )
    cells = json.loads(clean.with_suffix(".json").read_text())["modules"][args.top]["cells"]
    faults: list[str] = []
    for seed in seeds:
        every = faults_of(cells, args.top, args.scope, seed)
        if not every:
            raise ngflow.FlowError(f"{args.top} {args.params} has no memory; take `memory` out of the face `mutants`")
        faults += [fault for fault in every if fault not in faults][: args.count]
    listing.write_text("\n".join(faults) + "\n")
    left_out = {"listed": len(every), "exempt_lines": 0, "exempt": 0, "no_source": 0}
    listing.with_suffix(".left_out.json").write_text(json.dumps(left_out) + "\n")
    listing.with_suffix(".seeds").write_text("".join(f"{seed}\n" for seed in seeds))
    width = len(faults).bit_length()
    ngflow.run_yosys(
        [f"read_rtlil {clean}"]
        + [f"mutate -ctrl mutsel {width} {i} {fault.removeprefix('mutate ')}" for i, fault in enumerate(faults, 1)]
        + ["splitnets", "opt_clean", f"write_verilog -noattr {mutated}"],
        args.out.with_suffix(".log"),
    )
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
