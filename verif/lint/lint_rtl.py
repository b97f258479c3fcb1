# SPDX-License-Identifier: Apache-2.0
"""Checks every file under rtl/ against the portable SystemVerilog subset.

For each rtl/**/*.sv: the SPDX line; file name = name of its only module or package; no construct that some tool of ours
rejects or miscompiles; `verilator --lint-only -Wall` without a warning; `yosys read_verilog -sv` and elaboration; all
together by slang without an error, such as a name that is used before it is declared.
lint_off needs a reason in the same line or the line above.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from pathlib import Path

import pyslang.ast as slang
import pyslang.syntax as syntax

from ngtools import ngflow

# (what it is, pattern on text without comments and strings, an example that must be found)
FORBIDDEN = [
    ("import of a package (write pkg::name)", r"\bimport\b", "import ng_format_pkg::*;"),
    ("unpacked array port", r"\b(?:input|output)\b[^;,)]*\]\s*\w+\s*\[", "input logic [3:0] a_i [4],"),
    (
        "2-D packed vector",
        r"\b(?:logic|bit|reg|wire|signed|unsigned)\s*\[[^\[\]]*(?:\[[^\]]*\][^\[\]]*)*\]\s*\[",
        "logic [3:0][7:0] x;",
    ),
    ("parameter type", r"\bparameter\s+type\b", "parameter type T = logic"),
    ("assignment pattern '{...}", r"'\{", "assign x = '{default: 0};"),
    ("return", r"\breturn\b", "return 1;"),
    ("break", r"\bbreak\b", "break;"),
    ("continue", r"\bcontinue\b", "continue;"),
    ("inside", r"\binside\b", "if (x inside {1, 2})"),
    (
        "automatic variable in a block",
        r"\bautomatic\s+(?:logic|bit|int|integer|byte|reg|signed|unsigned)\b[^;()]*(?:=[^;]*)?;",
        "automatic logic x;",
    ),
    ("cast to a named type", r"\b\w+_[te]'\(", "state_t'(x)"),
    ("streaming operator", r"\{\s*(?:<<|>>)", "{<<{x}}"),
    ("$size", r"\$size\b", "$size(x)"),
    ("concurrent assertion", r"\bassert\s+property\b", "assert property (@(posedge clk_i) a);"),
    ("interface", r"\binterface\b", "interface bus;"),
    ("-N'(x), which parses as width minus N (write -(N'(x)))", r"(?:^|[^\w)\]\s])\s*-\s*\d+'\(", "x = -8'(a);"),
    (
        "'1 in a localparam, which Yosys 0.23 evaluates to 1 (write {Width{1'b1}})",
        r"\b(?:localparam|parameter)\b[^;]*?=\s*'1",
        "localparam logic [7:0] A = '1;",
    ),
    ("initial block", r"\binitial\b", "initial x = 0;"),
    (
        "elaboration check without a named block (write begin : gen_check_… $fatal(…); end)",
        r"\)\s*\$(?:fatal|error|warning|info)\b",
        'if (Width < 1) $fatal(1, "x");',
    ),
    ("delay", r"(?<![\w#)])#\s*\d", "x = #1 y;"),
    ("real number type", r"\b(?:real|shortreal)\b", "real x;"),
    ("latch block", r"\balways_latch\b", "always_latch x = y;"),
    ("plain always (write always_comb or always_ff)", r"\balways\b", "always @(posedge clk_i) x <= y;"),
]


def stripped(text: str) -> str:
    """Comments and strings blanked, line numbers kept."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match.group())

    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def forbidden_in(text: str) -> list[tuple[int, str]]:
    code = stripped(text)
    found = [
        (code.count("\n", 0, match.start()) + 1, what)
        for what, pattern, _ in FORBIDDEN
        for match in re.finditer(pattern, code)
    ]
    found += [
        (text.count("\n", 0, match.start()) + 1, "leftover note " + match.group())
        for match in re.finditer(r"\b(?:TODO|FIXME|XXX)\b", text)
    ]
    return found


def check_text(path: Path) -> list[str]:
    text = path.read_text()
    lines = text.splitlines()
    problems = []
    if not lines or lines[0] != "// SPDX-License-Identifier: Apache-2.0":
        problems.append("1: the first line is not '// SPDX-License-Identifier: Apache-2.0'")
    units = re.findall(r"^\s*(?:module|package)\s+(?:automatic\s+)?(\w+)", stripped(text), flags=re.M)
    if units != [path.stem]:
        problems.append(f"1: declares {units or 'nothing'}; expected exactly one module or package named {path.stem}")
    elif not path.stem.startswith("ng_"):
        problems.append(f"1: {path.stem} lacks the prefix ng_")
    for number, what in forbidden_in(text):
        problems.append(f"{number}: {what} is outside the portable subset: {lines[number - 1].strip()}")
    for number, line in enumerate(lines, 1):
        if "lint_off" in line:
            comments = re.findall(r"//(.*)", line) + (
                re.findall(r"^\s*//(.*)", lines[number - 2]) if number > 1 else []
            )
            if not any("verilator" not in comment and comment.strip() for comment in comments):
                problems.append(f"{number}: lint_off without a reason in this line or the one above")
    return problems


def check_tools(path: Path) -> list[str]:
    files = ngflow.sources(path.stem)
    is_package = bool(re.search(rf"^\s*package\s+{path.stem}\b", stripped(path.read_text()), flags=re.M))
    problems = []
    # A package alone has no top module; it is linted with the modules that use it.
    if not is_package:
        done = subprocess.run(
            ["verilator", "--lint-only", "-Wall", "--top-module", path.stem, *files],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0 or "%Warning" in done.stderr:
            problems.append(f"0: verilator --lint-only -Wall:\n{done.stderr.rstrip()}")
    names = " ".join(str(file) for file in files)
    script = f"read_verilog -sv {names}" + (
        "" if is_package else f"; hierarchy -check -top {path.stem}; proc; check -assert"
    )
    done = subprocess.run(["yosys", "-q", "-p", script], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        problems.append(f"0: yosys -p '{script}':\n{done.stderr.rstrip()}")
    return problems


def check_slang(files: list[Path]) -> list[str]:
    """What slang, the strictest reader, calls an error in the library as a whole."""
    compilation = slang.Compilation()
    for path in sorted(files, key=lambda path: not path.stem.endswith("_pkg")):
        compilation.addSyntaxTree(syntax.SyntaxTree.fromFile(str(path)))
    manager = compilation.sourceManager
    return [
        f"{ngflow.from_root(Path(manager.getFileName(found.location)))}:{manager.getLineNumber(found.location)}: slang: {found.code}"
        for found in compilation.getAllDiagnostics()
        if found.isError()
    ]


def selftest() -> int:
    """Every rule must find its own example, and none may fire on clean code."""
    missed = [
        what for what, _, example in FORBIDDEN if example and not any(w == what for _, w in forbidden_in(example))
    ]
    clean = (
        "module ng_x #(parameter int W = 4) (input logic [W-1:0] a_i, output logic [7:0] b_o);\n"
        "  logic [7:0] mem [4]; // import, return\n  assign b_o = -(8'(a_i)) + {8{a_i[0]}} + mem[0][3:0];\n"
        "  for (genvar i = 0; i < 4; i++) begin : gen_x\n  end\n  always_ff @(posedge clk_i) x_q <= a_i[i*4+:4];\nendmodule\n"
    )
    noisy = forbidden_in(clean)
    for what in missed:
        print(f"rule '{what}' does not find its example")
    for number, what in noisy:
        print(f"rule '{what}' fires on clean code, line {number}")
    print(f"lint self-test: {len(FORBIDDEN)} rules, {len(missed)} blind, {len(noisy)} noisy")
    return 1 if missed or noisy else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--selftest", action="store_true", help="check the rules themselves")
    parser.add_argument("files", nargs="*", type=Path, help="default: every rtl/**/*.sv")
    args = parser.parse_args()
    if args.selftest:
        return selftest()
    files = args.files or sorted(ngflow.RTL.rglob("*.sv"))
    bad = 0
    for path in files:
        problems = check_text(path) + check_tools(path)
        for problem in problems:
            print(f"{ngflow.from_root(path)}:{problem}")
        bad += bool(problems)
    for problem in check_slang(sorted(ngflow.RTL.rglob("*.sv"))):
        print(problem)
        bad += 1
    print(f"lint: {len(files)} files, {bad} with problems")
    return 1 if bad or not files else 0


if __name__ == "__main__":
    ngflow.run_main(main)
