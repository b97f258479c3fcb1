# SPDX-License-Identifier: Apache-2.0
"""Icarus Verilog reads the library: each module of rtl/ is elaborated with its default parameters, but for those that
EXCLUDED names with the reason. A module that is excluded and reads is a failure too, so that the list stays true.

Icarus 11 does not know elaboration tasks, so it gets to see no checks of parameters: a bad one is refused by Verilator and Yosys only.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ngtools import checks, ngflow

STRUCT = "Icarus 11 aborts at a package's struct as the type of a port or a variable"
EXCLUDED = {
    "ng_nvfp4_block": STRUCT,
    "ng_quantize_4over6_folded": STRUCT,
    "ng_quantize_nvfp4_folded": STRUCT,
    "ng_quantize_nvfp4_folded_lane": STRUCT,
    "ng_tile": STRUCT,
    "ng_tile_counters": STRUCT,
    "ng_tile_drain": STRUCT,
    "ng_tile_int8": "Icarus 11 takes '0 at a port for one bit, and warns",
    "ng_tile_loader": STRUCT,
    "ng_tile_requantize": STRUCT,
    "ng_tile_sequencer": STRUCT,
    "ng_transform": "Icarus 11 knows no cast signed' inside of a product, a width or an assignment; $signed reads",
}
# Said of code that is read as it should be: a process is sensitive to more than it has to be; `unique` is not checked.
HARMLESS = re.compile(r"sorry: (?:constant selects in always_\* processes|Case unique/unique0 qualities are ignored)")


def elaborate(module: str, files: list[Path]) -> str:
    """'' or what Icarus has to say against `module`."""
    if shutil.which("iverilog") is None:
        raise ngflow.FlowError("iverilog was not found; install it (Debian: apt-get install iverilog)")
    with tempfile.TemporaryDirectory() as folder:
        command = ["iverilog", "-g2012", "-s", module, "-o", f"{folder}/out.vvp", *map(str, files)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        said = [line for line in (done.stdout + done.stderr).splitlines() if not HARMLESS.search(line)]
        if done.returncode == 0 and not said:
            return ""
        return "\n".join(said[:4]) or f"exit code {done.returncode} without a word"


def judge(said: dict[str, str], excluded: dict[str, str]) -> list[str]:
    """Problems: modules that do not read and are not excluded, and excluded ones that read or are none."""
    problems = [f"{module}: {text}" for module, text in said.items() if text and module not in excluded]
    problems += [f"{module} reads: take it off EXCLUDED" for module in excluded if said.get(module) == ""]
    return problems + [f"{module} of EXCLUDED is no module of rtl/" for module in excluded if module not in said]


def selftest() -> int:
    with tempfile.TemporaryDirectory() as folder:
        good, bad = Path(folder) / "ng_good.sv", Path(folder) / "ng_bad.sv"
        good.write_text("module ng_good (input logic a_i, output logic y_o);\n  assign y_o = a_i;\nendmodule\n")
        bad.write_text("module ng_bad;\n  assign = 1;\nendmodule\n")
        said = {"ng_good": elaborate("ng_good", [good]), "ng_bad": elaborate("ng_bad", [bad, good])}
        narrow = Path(folder) / "ng_narrow.sv"
        narrow.write_text(
            "module ng_narrow (output logic y_o);\n  ng_good u_good (.a_i(2'b10), .y_o(y_o));\nendmodule\n"
        )
        said["ng_narrow"] = elaborate("ng_narrow", [narrow, good])
    assert said["ng_good"] == "", said
    assert "syntax error" in said["ng_bad"], said
    assert "expects 1 bits, got 2" in said["ng_narrow"], said
    assert [problem.split(":")[0] for problem in judge(said, {})] == ["ng_bad", "ng_narrow"]
    assert judge(said, {"ng_bad": "", "ng_narrow": ""}) == []
    assert judge(said, {"ng_bad": "", "ng_narrow": "", "ng_good": ""}) == ["ng_good reads: take it off EXCLUDED"]
    assert judge(said, {"ng_bad": "", "ng_narrow": "", "ng_x": ""}) == ["ng_x of EXCLUDED is no module of rtl/"]
    print("selftest: what Icarus refuses or warns of is found, and a list that is not true")
    return 0


def run(_: argparse.Namespace) -> int:
    modules = [name for name in ngflow.module_map() if not name.endswith("_pkg")]
    with ThreadPoolExecutor(max_workers=2) as pool:
        said = dict(zip(modules, pool.map(lambda name: elaborate(name, ngflow.sources(name)), modules), strict=True))
    version = subprocess.run(["iverilog", "-V"], capture_output=True, text=True, check=False).stdout.splitlines()[0]
    problems = judge(said, EXCLUDED)
    if "version 11." not in version:  # the reasons are those of 11
        problems = [problem for problem in problems if "take it off" not in problem]
    for module, reason in EXCLUDED.items():
        if said.get(module):
            print(f"{module} is excluded: {reason}")
    for problem in problems:
        print(problem)
    print(
        f"{version}: {sum(not text for text in said.values())} of {len(modules)} modules read, {len(problems)} problems"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    ngflow.run_main(lambda: checks.run(__doc__, run, selftest))
