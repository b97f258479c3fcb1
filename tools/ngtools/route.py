# SPDX-License-Identifier: Apache-2.0
"""Place and route with nextpnr: runs of several seeds, and the longest path that a report really says. Standard library only.

A report has a longest path for each pair of clocks, and a frequency for some of them. What a clock has to wait for is the
longest of all paths between registers, whatever the pair, twice as long where it starts at one edge and ends at the other.
Paths from and to pins do not count: the wrapper's pins are not the unit's.

nextpnr-ice40 takes every port of an SB_MAC16 for a register's, also of one that has none (its clock is then constant): the path
through it is in the report as two. Here they are joined by the delay of the DSP, which the target gives: the longest path to any
DSP, as many DSPs and paths between DSPs as follow one another in the netlist, and the longest path from any. No path
through the DSPs is longer; the real one may be shorter, since the halves may be of different DSPs.

An SB_MAC16 that has registers behind its multiplier, but not at both operands, has the design's clock, and the way from an operand
without a register to the register behind is not timed. When each bit of such an operand arrives is in nextpnr's detailed report:
the latest one, and the delay of the whole DSP, which is more than that to the register inside. Where registers are at the operands
only, the delay of the DSP is added to the longest path of all.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ngtools.ngflow import FlowError

CONSTANT_CLOCK = re.compile(r"\$PACKER_(?:GND|VCC)")
UNLISTED_NS = (
    10.0  # assumed from a DSP to the next where the report has no such path: more than a wire across the device
)
PORT_NS = 0.1  # setup of, and clock to output at, a port of a DSP in the reports of nextpnr-ice40
OPERAND = re.compile(r"(.*)_DSP ([AB])_[0-9]+")  # of nextpnr-ice40's packed SB_MAC16, named after the netlist's
SEQUENTIAL = re.compile(r"SB_DFF|SB_RAM|SB_SPRAM|SB_IO|TRELLIS_FF|DP16KD|TRELLIS_DPR16X4")


# ---------------------------------------------------------------- reports


def paths(report: dict) -> dict[tuple[str, str], float]:
    """Longest path in ns for each pair of clock edges ('posedge clk', 'negedge clk'), without those of pins."""
    found: dict[tuple[str, str], float] = {}
    for path in report.get("critical_paths", []):
        pair = (path["from"], path["to"])
        if "<async>" not in pair:
            found[pair] = max(found.get(pair, 0.0), sum(step["delay"] for step in path["path"]))
    return found


def periods(report: dict) -> dict[tuple[str, str], float]:
    """paths(), where the way from one edge of a clock to the other counts twice."""
    return {(a, b): ns if a.split()[0] == b.split()[0] else 2 * ns for (a, b), ns in paths(report).items()}


@dataclass(frozen=True)
class Dsps:
    """The SB_MAC16 of a netlist."""

    depth: int  # most without a register that follow one another
    inside: bool  # one has registers on both sides of its multiplier
    behind: frozenset[
        tuple[str, str]
    ]  # (name, operand 'A' or 'B') without a register, of those that have one behind only
    before: bool  # one has registers at its operands only


def _registered(cell: dict) -> tuple[str, bool]:
    """Operands of an SB_MAC16 without a register, and whether it has registers at its outputs or inside of the multiplier."""

    def on(name: str) -> bool:
        return int(cell["parameters"].get(name, "0"), 2) != 0

    bare = "".join(operand for operand in "AB" if not on(f"{operand}_REG"))
    multiplier = any(
        on(name)
        for name in ("TOP_8x8_MULT_REG", "BOT_8x8_MULT_REG", "PIPELINE_16x16_MULT_REG1", "PIPELINE_16x16_MULT_REG2")
    )
    outputs = all(int(cell["parameters"].get(name, "00"), 2) == 1 for name in ("TOPOUTPUT_SELECT", "BOTOUTPUT_SELECT"))
    return bare, multiplier or outputs


def dsps(module: dict) -> Dsps:
    """Of a module of Yosys' JSON netlist."""
    driver: dict[int, str] = {}
    cells = {name: cell for name, cell in module["cells"].items() if not SEQUENTIAL.match(cell["type"])}
    macs = {name: _registered(cell) for name, cell in cells.items() if cell["type"] == "SB_MAC16"}
    for name in [name for name, (bare, behind) in macs.items() if behind or not bare]:
        del cells[name]
    for name, cell in cells.items():
        for port, bits in cell["connections"].items():
            if cell["port_directions"][port] == "output":
                driver.update((bit, name) for bit in bits if isinstance(bit, int))
    before = {
        name: {
            driver[bit]
            for port, bits in cell["connections"].items()
            if cell["port_directions"][port] == "input"
            for bit in bits
            if bit in driver
        }
        for name, cell in cells.items()
    }
    depth: dict[str, int] = {}
    for start in [name for name in macs if name in cells]:
        stack = [start]
        while stack:
            name = stack[-1]
            if waiting := [other for other in before[name] if other not in depth]:
                if len(stack) > len(cells):
                    raise FlowError(f"a combinational loop through {name}; a unit has none (see `check -assert`)")
                stack.append(waiting[0])
                continue
            stack.pop()
            own = cells[name]["type"] == "SB_MAC16"
            depth[name] = max((depth[other] for other in before[name]), default=0) + own
    return Dsps(
        depth=max((depth[name] for name in macs if name in depth), default=0),
        inside=any(behind and not bare for bare, behind in macs.values()),
        behind=frozenset((name, operand) for name, (bare, behind) in macs.items() if behind for operand in bare),
        before=any(not behind and not bare for bare, behind in macs.values()),
    )


def longest_ns(report: dict, found: Dsps | None = None, dsp_ns: float = 0.0) -> float:
    """The period that the slowest path between registers asks for."""
    every = periods(report)
    if not every:
        raise FlowError(
            "the report has no path between registers, so the design has no clock; expected 'critical_paths'"
        )

    def constant(domain: str) -> bool:
        return bool(CONSTANT_CLOCK.search(domain))

    timed = max((ns for (a, b), ns in every.items() if not constant(a) and not constant(b)), default=0.0)
    to_dsp = max((ns for (a, b), ns in every.items() if not constant(a) and constant(b)), default=0.0)
    between = max((ns for (a, b), ns in every.items() if constant(a) and constant(b)), default=0.0)
    from_dsp = max((ns for (a, b), ns in every.items() if constant(a) and not constant(b)), default=0.0)
    depth = found.depth if found else 0
    if max(to_dsp, between, from_dsp) > 0 and depth == 0:
        raise FlowError("the report has paths of a constant clock, but the netlist no DSP without registers")
    if depth and not dsp_ns:
        raise FlowError("the netlist has DSPs without registers; expected their delay, 'dsp_ns', in the target's data")
    through = 0.0
    if depth:
        between = between or UNLISTED_NS
        legs = [to_dsp, *[between] * (depth - 1), from_dsp]
        through = depth * dsp_ns + sum(
            max(0.0, leg - PORT_NS * (1 if i in (0, depth) else 2)) for i, leg in enumerate(legs)
        )
    into = 0.0
    if found and found.behind:
        arrivals = {(name, operand): ns for name, operand, ns in report.get("operands_ns", [])}
        if missing := found.behind - arrivals.keys():
            raise FlowError(
                f"the netlist has DSPs with registers behind only; expected 'operands_ns' of {sorted(missing)}"
            )
        into = dsp_ns + max(arrivals[operand] for operand in found.behind)
    if found and found.before:
        timed += dsp_ns  # its multiplier lies behind the register that the report knows
    return max(timed, through, into, dsp_ns if found and found.inside else 0.0)


def operands_ns(detailed: dict) -> list[list]:
    """[name, operand, ns]: when the operands 'A' and 'B' of each SB_MAC16 arrive, by a detailed report; a clock's edge is 0."""
    latest: dict[tuple[str, str], float] = {}
    for net in detailed["detailed_net_timings"]:
        for end in net["endpoints"]:
            if match := OPERAND.fullmatch(f"{end['cell']} {end['port']}"):
                name, operand = match.groups()
                latest[name, operand] = max(latest.get((name, operand), 0.0), end["delay"])
    return [[name, operand, ns] for (name, operand), ns in sorted(latest.items())]


# ---------------------------------------------------------------- runs


def executable(name: str) -> str:
    """Beside this Python, where PyPI's tools are, or wherever the shell finds it."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.exists() else name


def available(command: str) -> bool:
    try:
        return (
            subprocess.run([executable(command.split()[0]), "--version"], capture_output=True, check=False).returncode
            == 0
        )
    except FileNotFoundError:
        return False


def version(command: str) -> str:
    name = command.split()[0]
    try:
        done = subprocess.run([executable(name), "--version"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise FlowError(f"{name} was not found; `make setup-area` installs PyPI's, apt-get the others") from None
    found = re.search(r"Version (?:nextpnr-)?([^)\s]+)", done.stdout + done.stderr)
    return f"{Path(name).name} {found.group(1) if found else 'unknown'}"


def reason(stderr: str) -> str:
    """The first error of nextpnr's output, in one line."""
    errors = [line.split("ERROR:", 1)[1].strip() for line in stderr.splitlines() if "ERROR:" in line]
    return errors[0] if errors else "no message"


def run(netlist: Path, command: str, seed: int, cache: Path | None, detailed: bool = False) -> dict:
    """One run: {'report', 'seconds', 'memory_bytes'} or {'failed': why}. What was run before is taken from the cache.

    detailed: the report has 'operands_ns', too.
    """
    if detailed:
        command += " --detailed-timing-report"
    parts = command.split()
    key = hashlib.sha256(f"{version(command)}\n{command}\n{seed}\n".encode() + netlist.read_bytes()).hexdigest()
    kept = cache / f"{key}.json" if cache else None
    if kept and kept.exists():
        return json.loads(kept.read_text())
    # Names without folders, since PyPI's tools see the folder they run in, and not every other.
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(netlist, Path(folder) / "netlist.json")
        report, said = Path(folder) / "report.json", Path(folder) / "stderr"
        arguments = [executable(parts[0]), *parts[1:], "--seed", str(seed), "--json", "netlist.json"]
        with said.open("w") as stderr:
            child = subprocess.Popen(
                [*arguments, "--report", report.name, "--quiet"], stdout=subprocess.DEVNULL, stderr=stderr, cwd=folder
            )
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            result = {"failed": reason(said.read_text(errors="replace"))}
        else:
            figures = json.loads(report.read_text())
            result = {
                "report": {
                    "utilization": figures["utilization"],
                    "critical_paths": [
                        {
                            "from": path["from"],
                            "to": path["to"],
                            "path": [{"delay": step["delay"]} for step in path["path"]],
                        }
                        for path in figures["critical_paths"]
                    ],
                    **({"operands_ns": operands_ns(figures)} if detailed else {}),
                },
                "seconds": round(usage.ru_utime + usage.ru_stime, 1),
                "memory_bytes": usage.ru_maxrss * 1024,
            }
    if kept and "failed" not in result:
        kept.parent.mkdir(parents=True, exist_ok=True)
        partial = kept.with_suffix(f".{os.getpid()}.{seed}")
        partial.write_text(json.dumps(result))
        partial.replace(kept)
    return result


def packed(netlist: Path, command: str, cells: str) -> dict:
    """How many cells of the device the netlist takes, packed and not placed; nothing where the program is missing or fails."""
    if not available(command):
        return {}
    parts = command.split()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(netlist, Path(folder) / "netlist.json")
        done = subprocess.run(
            [executable(parts[0]), *parts[1:], "--json", "netlist.json"],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
        )
    found = re.search(rf"\b{cells}:\s*(\d+)/", done.stdout + done.stderr)
    return {"logic_cells": int(found[1]), "packed_by": version(command)} if found and done.returncode == 0 else {}


def summary(results: dict[int, dict], found: Dsps | None, dsp_ns: float) -> dict:
    """Of the runs of all seeds: median, least and greatest frequency, what was used, what the runs took."""
    routed = {seed: result for seed, result in results.items() if "failed" not in result}
    failed = {seed: result["failed"] for seed, result in results.items() if "failed" in result}
    if not routed:
        return {"failed": next(iter(failed.values()))}
    paths_ns = {seed: longest_ns(result["report"], found, dsp_ns) for seed, result in routed.items()}
    median = statistics.median(paths_ns.values())
    used = next(iter(routed.values()))["report"]["utilization"]
    return {
        "path_s": float(f"{median * 1e-9:.4g}"),
        "fmax_hz": round(1e9 / median),
        "fmax_min_hz": round(1e9 / max(paths_ns.values())),
        "fmax_max_hz": round(1e9 / min(paths_ns.values())),
        "paths_s": {str(seed): float(f"{ns * 1e-9:.4g}") for seed, ns in paths_ns.items()},
        **({"failed_seeds": {str(seed): why for seed, why in failed.items()}} if failed else {}),
        **({"through_dsps": found.depth} if found and found.depth else {}),
        "used_with_wrapper": {kind: count["used"] for kind, count in sorted(used.items()) if count["used"]},
        "seconds": statistics.median(result["seconds"] for result in routed.values()),
        "memory_bytes": max(result["memory_bytes"] for result in routed.values()),
    }
