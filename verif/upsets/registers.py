# SPDX-License-Identifier: Apache-2.0
"""Lists the registers and memories of an elaborated module, and makes Verilator show them, so that a program can flip their bits.

    verif/upsets/registers.py --top ng_tile --params "Rows=1;..." --vlt registers.vlt --inc registers.inc rtl/….sv

A register is a variable that an always_ff block assigns; one with an unpacked dimension is a memory. pyslang elaborates the module
and says where each stands, how wide it is and how many words it has. Of a register only those bits count that Yosys keeps as
flip-flops, or as what a clocked port of a memory reads: at given parameters some are constants, and others are read nowhere.
The .vlt makes them public to Verilator, and the .inc has a line for each: NG_REGISTER(scope, name, bits of a word, words, kept bits in
hexadecimal). All flip-flops that Yosys keeps have to be found under some name, or the script fails.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyslang
import pyslang.ast as slang
import pyslang.syntax as syntax

from ngtools import ngflow
from ngtools.ngflow import FlowError, parse_params, run_main


@dataclass(frozen=True, order=True)
class Register:
    """A register or memory: where it stands below the top module, its module, and its size."""

    scope: str
    name: str
    module: str
    width: int
    words: int


def assigned(block: slang.ProceduralBlockSymbol) -> list[Any]:
    """The variables that a block assigns."""
    found: dict[int, Any] = {}

    def target(item: Any) -> Any:
        if isinstance(item, slang.NamedValueExpression):
            found[id(item.symbol)] = item.symbol

    def left(item: Any) -> None:
        """Of a[i].b the variable is a, and i is only read."""
        if isinstance(item, slang.ConcatenationExpression):
            for part in item.operands:
                left(part)
        elif isinstance(
            item, slang.ElementSelectExpression | slang.RangeSelectExpression | slang.MemberAccessExpression
        ):
            left(item.value)
        else:
            target(item)

    def visit(item: Any) -> Any:
        if isinstance(item, slang.AssignmentExpression):
            left(item.left)
        return slang.VisitAction.Advance

    block.body.visit(visit)
    return list(found.values())


def registers(top: str, files: list[Path], params: dict[str, int]) -> list[Register]:
    options = slang.CompilationOptions()
    options.topModules = {top}
    options.paramOverrides = [f"{name}={value}" for name, value in params.items()]
    manager = pyslang.SourceManager()
    compilation = slang.Compilation(pyslang.Bag([options]))
    for path in files:
        compilation.addSyntaxTree(syntax.SyntaxTree.fromFile(str(path), manager))
    roots = [item for item in compilation.getRoot().topInstances if item.name == top]
    if not roots:
        raise FlowError(f'module "{top}" is not in the files; expected its name to be one of theirs')
    found: dict[tuple[str, str], Register] = {}

    def visit(item: Any) -> Any:
        if isinstance(item, slang.GenerateBlockSymbol) and item.isUninstantiated:
            return slang.VisitAction.Skip
        if isinstance(item, slang.ProceduralBlockSymbol) and item.procedureKind == slang.ProceduralBlockKind.AlwaysFF:
            for symbol in assigned(item):
                scope, _, name = symbol.hierarchicalPath.rpartition(".")
                kind, words = symbol.type.canonicalType, 1
                while kind.isUnpackedArray:
                    words *= kind.range.width
                    kind = kind.elementType.canonicalType
                module = symbol.declaringDefinition.name
                scope = scope.removeprefix(top).removeprefix(".")
                found[scope, name] = Register(scope, name, module, kind.bitWidth, words)
        return slang.VisitAction.Advance

    roots[0].visit(visit)
    return sorted(found.values())


def kept(top: str, files: list[Path], params: dict[str, int], found: list[Register], work: Path) -> dict[Register, int]:
    """Of each register or memory the bits that Yosys keeps, as a mask of a word."""
    design = work.with_suffix(".json")
    ngflow.run_yosys(
        ngflow.yosys_read(top, files, params)
        + ["proc", "flatten", "opt -full", "memory -nomap", "opt -full", "opt_clean", f"write_json {design.resolve()}"],
        work.with_suffix(".log"),
    )
    module = json.loads(design.read_text())["modules"][top]
    flops: set[int] = set()
    memories: set[str] = set()
    for cell in module["cells"].values():
        if re.match(r"\$.*dff", cell["type"]):
            flops |= {bit for bit in cell["connections"]["Q"] if isinstance(bit, int)}
        elif cell["type"].startswith("$mem"):
            width, clocked = int(cell["parameters"]["WIDTH"], 2), cell["parameters"]["RD_CLK_ENABLE"][::-1]
            memories.add(cell["parameters"]["MEMID"].strip().removeprefix("\\"))
            read = cell["connections"]["RD_DATA"]
            flops |= {bit for at, bit in enumerate(read) if isinstance(bit, int) and clocked[at // width] == "1"}
    masks: dict[Register, int] = {}
    named: set[int] = set()
    for item in found:
        path = f"{item.scope}.{item.name}".removeprefix(".")
        if item.words > 1:
            masks[item] = (1 << item.width) - 1 if path in memories else 0
            continue
        bits = module["netnames"].get(path, {"bits": []})["bits"]
        # Of registers that are equal in every cycle Yosys keeps one: a bit counts under its first name.
        masks[item] = sum(1 << at for at, bit in enumerate(bits) if bit in flops and bit not in named)
        named |= {bit for bit in bits if bit in flops}
    if flops - named:
        names = [
            name
            for name, net in module["netnames"].items()
            if not net["hide_name"] and {*net["bits"]} & (flops - named)
        ]
        raise FlowError(f"{len(flops - named)} flip-flops of {top} are no variable of an always_ff block: {names[:8]}")
    return masks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", required=True, help="the module")
    parser.add_argument("--params", default="", help='its parameters: "K=V;..."')
    parser.add_argument("--vlt", required=True, type=Path, help="configuration of Verilator to write")
    parser.add_argument("--inc", required=True, type=Path, help="list of registers to write")
    parser.add_argument("sources", nargs="+", type=Path, help="files of the module, packages first")
    args = parser.parse_args()
    files = [path for path in args.sources if path.suffix == ".sv"]
    found = registers(args.top, files, parse_params(args.params))
    if not found:
        raise FlowError(f'module "{args.top}" has no register; expected a clocked one')
    masks = kept(args.top, files, parse_params(args.params), found, args.inc)
    found = [item for item in found if masks[item]]
    shown = sorted({(item.module, item.name) for item in found})
    title = f"// GENERATED by verif/upsets/registers.py: the registers of {args.top} {args.params}\n"
    lines = [f'public_flat_rw -module "{module}" -var "{name}"\n' for module, name in shown]
    args.vlt.write_text(title + "`verilator_config\n" + "".join(lines))
    rows = [
        f'NG_REGISTER("{item.scope}", "{item.name}", {item.width}, {item.words}, "{masks[item]:x}")\n' for item in found
    ]
    args.inc.write_text(title + "".join(rows))
    return 0


if __name__ == "__main__":
    run_main(main)
