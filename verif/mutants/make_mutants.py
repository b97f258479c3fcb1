# SPDX-License-Identifier: Apache-2.0
"""Injects faults into one unit: Yosys `mutate` picks N of them, and all go into one design with one more input, `mutsel`.

mutsel = 0 is the original; mutsel = k switches fault k on. The faults are inverted, stuck or mis-wired bits at the cells
of the elaborated (not yet mapped) design, spread evenly over it by Yosys' coverage heuristics. Faults at clock pins are left
out: a cycle-based bench cannot tell a late edge from a right one.

With --scope, only cells whose source file matches this regular expression, and the files of the instances around them too:
for a unit whose parts have their own benches, and which does not reach all that these can do.

Behind these come the mutants of the unit's handshakes (tools/ngtools/handshake.py), whatever the scope.

A line of RTL is exempt by a comment `// ng-no-fault: reason` at its end or above it (tools/ngtools/no_fault.py).
At the port of an error it says that no beat is ever given beside that error.

Each seed gives the same number of faults: one choice flatters. With --newest one more seed is read from a file, which a deep run
fills from the commit's hash (tools/ngtools/ledger.py), so that the faults are not always those that the bench was mended for.

Writes <out>.v (for Verilator), <out>.txt (one fault a line), <out>.seeds (one a line), <out>.il (the design without faults, for
proofs) and, as JSON beside them, how many faults Yosys listed, those of other parts aside, and how many of these are left out
because their line is exempt, or because the cell has no source (with --scope), and the number of exempt lines.
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

from ngtools import handshake, ngflow
from ngtools.no_fault import exempt_lines


def sources_of(fault: str) -> list[str]:
    """Where the cell and its wire stand, and the instances around them: file:line.column-line.column."""
    return re.findall(r" -src (\S+)", fault)


def is_exempt(fault: str, exempt: set[tuple[str, int]]) -> bool:
    places = (source.partition(":") for source in sources_of(fault))
    return any((file, int(at.partition(".")[0])) in exempt for file, _, at in places if at)


def in_scope(fault: str, scope: str) -> bool:
    return not scope or all(re.match(scope, source) for source in sources_of(fault))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", required=True, help="module name")
    parser.add_argument("--params", default="", help="for example 'Lanes=32;FormatSet=3'")
    parser.add_argument("--count", type=int, default=40, help="faults of each seed, at least 20")
    parser.add_argument("--seeds", default="1", help="seeds of Yosys' choice, for example 1,77")
    parser.add_argument("--newest", type=Path, help="file with one more seed")
    parser.add_argument("--scope", default="", help="regular expression, for example 'rtl/tile/'")
    parser.add_argument("--out", required=True, type=Path, help="path without suffix")
    parser.add_argument("sources", nargs="+", type=Path)
    args = parser.parse_args()
    if args.count < 20:
        raise ngflow.FlowError(
            f"--count is {args.count}; expected at least 20 faults, or the share killed means little"
        )

    seeds = [int(seed) for seed in args.seeds.split(",")]
    if args.newest:
        seeds.append(int(args.newest.read_text()))
    clean, listing, mutated = (args.out.resolve().with_suffix(suffix) for suffix in (".il", ".txt", ".v"))
    listings = [args.out.resolve().with_suffix(f".{number}.list") for number in range(len(seeds))]
    ngflow.run_yosys(
        ngflow.yosys_read(args.top, args.sources, ngflow.parse_params(args.params))
        + [
            "proc",
            "flatten",
            # Trim constant and unused bits, where faults change nothing: adders by width, bitwise cells bit by bit.
            "opt",
            "wreduce",
            "simplemap t:$not t:$and t:$or t:$xor t:$xnor t:$mux",
            "opt -full",
            "memory -nomap",
            "memory_map",
            "opt_clean -purge",
            f"write_rtlil {clean}",
            f"write_json {clean.with_suffix('.json')}",
        ]
        + [
            # More than are asked for: some are out of scope, or another seed's too.
            f"mutate -list {(20 if args.scope else 2) * args.count + 20} -seed {seed} -o {path}"
            for seed, path in zip(seeds, listings, strict=True)
        ],
        args.out.with_suffix(".list.log"),
    )
    exempt = {
        (name, line)
        for source in args.sources
        for name in [ngflow.from_root(source)]
        for line in exempt_lines(source.read_text(), name, args.top)
    }
    faults: list[str] = []
    listed: dict[str, str] = {}  # why a fault is left out, or nothing
    for path in listings:
        # Yosys lists faults in random order, so the first of them are as even a sample.
        lines = dict.fromkeys(path.read_text().splitlines())
        for line in lines:
            if " -port CLK " not in line and in_scope(line, args.scope):
                no_source = args.scope and not sources_of(line)
                listed[line] = "no_source" if no_source else "exempt" if is_exempt(line, exempt) else ""
        fresh = [line for line in lines if listed.get(line) == "" and line not in faults][: args.count]
        # A small unit has few faults: a later seed may have nothing new, but the first one has to.
        if len(fresh) < args.count and not faults:
            raise ngflow.FlowError(
                f"Yosys found {len(fresh)} faults in {args.top}; {args.count} were asked for; lower MUTANTS"
            )
        faults += fresh
    ports = handshake.ports_of(clean.with_suffix(".json"), args.top)
    for port in ports:
        port.never_given = is_exempt(f" -src {port.source}", exempt)
    handshakes = handshake.mutants_of(ports)
    listing.write_text("\n".join(faults + handshakes) + "\n")
    left_out = {"listed": len(listed), "exempt_lines": len(exempt)}
    left_out |= {why: sum(reason == why for reason in listed.values()) for why in ("exempt", "no_source")}
    listing.with_suffix(".left_out.json").write_text(json.dumps(left_out) + "\n")
    listing.with_suffix(".seeds").write_text("".join(f"{seed}\n" for seed in seeds))
    width = len(faults + handshakes).bit_length()
    inner = f"{args.top}_unit"
    ngflow.run_yosys(
        [f"read_rtlil {clean}"]
        + [f"mutate -ctrl mutsel {width} {i} {fault.removeprefix('mutate ')}" for i, fault in enumerate(faults, 1)]
        # A vector whose bits feed each other is a combinational loop to the simulator, which then goes astray.
        + ["splitnets", "opt_clean"]
        + ([f"rename {args.top} {inner}"] if handshakes else [])
        + [f"write_verilog -noattr {mutated}"],
        args.out.with_suffix(".log"),
    )
    if handshakes:
        with mutated.open("a") as file:
            file.write(handshake.shell(args.top, inner, ports, handshakes, len(faults) + 1, width))
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
