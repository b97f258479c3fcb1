# SPDX-License-Identifier: Apache-2.0
"""Flip counters in the Verilated units: how often each bit of each signal of a unit's RTL flips on a stimulus.

Any unit of power/units.json, in the registers that tools/ngtools/power/characterize.py puts around it: Verilator makes it a C++
program with all signals visible, power/flow/flips.cpp runs the stimulus in it and compares values once a clock cycle,
when they have settled. No trace file, nothing written for the unit. docs/energy_rtl.md explains.

With --words it is not the signals that have a name, but the words of all operations that Yosys reads in the RTL (nothing
mapped, no gates), each with one tick of time: settled flips, and with them the flips on the way there. These are the
features of rung L1 (tools/ngtools/power/fit_rtl.py).

examples
  tools/ngtools/power/rtl_flips.py --unit int8_mac_array                        flips a cycle of its signals, most first
  tools/ngtools/power/rtl_flips.py --unit fifo_32x4 --stimulus gauss --json     counts of each bit
  tools/ngtools/power/rtl_flips.py --unit int8_mac_array --words                features: flips by kind of operation
  tools/ngtools/power/rtl_flips.py --unit int8_mac_array --check                equal to the netlist's nets and to the words'

Exit code: 0 fine, 1 --check found a difference, 2 error.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
from pathlib import Path

from ngtools import ngflow
from ngtools.ngflow import ROOT, FlowError
from ngtools.power import characterize

FLIPS = ROOT / "power" / "flow" / "flips.cpp"
MAIN = """#include "Vunit.h"
#include "flips.hpp"
namespace { Vunit* unit; }
int main(int argc, char** argv) {
  VerilatedContext context;
  context.randReset(0);
  Vunit dut(&context, "");
  unit = &dut;
  return count_flips(argc, argv, "%s", context, [] { unit->eval(); });
}
"""
# Yosys' registers; every other cell is an operation, of one of these kinds.
REGISTERS = ("$dff", "$adff", "$sdff", "$aldff", "$dffe", "$adffe", "$sdffe", "$sdffce", "$dffsr", "$dffsre")
KINDS = {
    "adder": ("$add", "$sub", "$neg", "$alu", "$macc", "$lcu"),
    "product": ("$mul",),
    "choice": ("$mux", "$pmux", "$bmux", "$shiftx"),
    "shift": ("$shl", "$shr", "$sshl", "$sshr", "$shift"),
}
# Many bits in, few out: what happens inside is seen at the inputs.
COMPARE = (
    "$lt",
    "$le",
    "$gt",
    "$ge",
    "$eq",
    "$ne",
    "$reduce_and",
    "$reduce_or",
    "$reduce_xor",
    "$reduce_bool",
    "$logic_not",
)
NAMES = (
    *("flip_flops", "register_flips", "adder_inputs", "compare_inputs"),
    *(f"{kind}_{what}" for kind in (*KINDS, "logic") for what in ("nets", "glitches")),
)


# ---------------------------------------------------------------- programs


def compile_cpp(sources: list[Path], target: Path, includes: list[Path], *flags: str) -> None:
    root = Path(verilator_root()) / "include"
    command = [*(["ccache"] if shutil.which("ccache") else []), os.environ.get("CXX", "c++"), "-std=c++20", *flags]
    command += [f"-I{path}" for path in includes] + [f"-isystem{path}" for path in (root, root / "vltstd")]
    # Paths relative to the target's folder: ccache then finds what was compiled elsewhere.
    done = subprocess.run(
        [*command, *map(str, sources), "-o", target.name],
        capture_output=True,
        text=True,
        check=False,
        cwd=target.parent,
    )
    if done.returncode != 0:
        raise FlowError(f"compiling {target.name}: {(done.stderr.splitlines() or ['no message'])[0]}")


def verilator_root() -> str:
    return characterize.run(["verilator", "--getenv", "VERILATOR_ROOT"], "Verilator").strip()


def runtime_object(source: Path, made: Path, optimize: str = "-O2") -> Path:
    if not made.exists() or made.stat().st_mtime < source.stat().st_mtime:
        compile_cpp([source], made, [FLIPS.parent], "-c", optimize)
    return made


def runtime(work: Path) -> list[Path]:
    """Verilator's run-time library and the counter, compiled once for a work folder."""
    work.mkdir(parents=True, exist_ok=True)
    library = Path(verilator_root()) / "include"
    sources = (library / "verilated.cpp", library / "verilated_threads.cpp", FLIPS)
    return [runtime_object(source, work / f"{source.stem}.o") for source in sources]


def verilated(sources: list[Path], work: Path, objects: list[Path]) -> Path:
    """A program that counts the flips of what is called characterize.TOP in the sources."""
    folder = work / "verilated"
    shutil.rmtree(folder, ignore_errors=True)
    # --vpi: Verilator then keeps a table of the public variables.
    command = ["verilator", "--cc", "--prefix", "Vunit", "--vpi", "--public-flat-rw", "-O3", "--x-initial", "0"]
    command += ["-Wno-fatal", "-Wno-lint", "--no-timing", "--Mdir", str(folder), "--top-module", characterize.TOP]
    characterize.run([*command, *map(str, sources)], "Verilator")
    parts = sorted(folder.glob("*.cpp"))
    text = "".join(f'#include "{part.name}"\n' for part in parts) + MAIN % characterize.TOP
    (folder / "unit.cpp").write_text(text)
    return linked(folder, objects)


def linked(folder: Path, objects: list[Path], optimize: str = "-O1") -> Path:
    program = folder / "flips"
    compile_cpp([Path("unit.cpp"), *objects], program, [Path(), FLIPS.parent], optimize, "-pthread")
    return program


def count(program: Path, stimulus: Path, warm_up: int = characterize.WARM_UP) -> dict:
    """{"cycles": n, "signals": {name: [settled flips of each bit, all flips of each bit if it has ticks]}}"""
    return json.loads(characterize.run([str(program), str(stimulus), str(warm_up)], "counting flips"))


# ---------------------------------------------------------------- signals of the RTL


def signal_counter(unit: dict, work: Path, objects: list[Path]) -> Path:
    """The program that counts the flips of the signals as the RTL names them."""
    work.mkdir(parents=True, exist_ok=True)
    (work / "wrapper.v").write_text(characterize.wrapper(unit, characterize.unit_ports(unit, work)))
    return verilated([*ngflow.sources(unit["top"]), work / "wrapper.v"], work, objects)


# ---------------------------------------------------------------- words of all operations


class Words:
    """The operations that Yosys reads in a unit's RTL, before anything is mapped."""

    def __init__(self, unit: dict, work: Path):
        work.mkdir(parents=True, exist_ok=True)
        self.work = work
        (work / "wrapper.v").write_text(characterize.wrapper(unit, characterize.unit_ports(unit, work)))
        ngflow.run_yosys(
            [
                f"read_verilog -sv -defer {' '.join(map(ngflow.from_root, ngflow.sources(unit['top'])))}",
                f"read_verilog {work / 'wrapper.v'}",
                f"hierarchy -check -top {characterize.TOP}",
                *("proc", "flatten", "opt_expr", "opt_clean", "memory_collect", "memory_map", "opt_clean"),
                *("rename -enumerate", "check -assert", f"write_json {work / 'words.json'}"),
            ],
            work / "words.log",
        )
        self.design = json.loads((work / "words.json").read_text())
        self.module = self.design["modules"][characterize.TOP]

    def outputs(self):
        """Kind of cell, the bits it drives, and what stands behind each: a product's bit is a sum of as many terms as its
        narrower factor has bits, a shifter's goes through a choice for each bit of the count."""
        for cell in self.module["cells"].values():
            kind = next((kind for kind, types in KINDS.items() if cell["type"] in types), "logic")
            if cell["type"] in REGISTERS:
                kind = "register"
            wires = {port: len(bits) for port, bits in cell["connections"].items()}
            size = 1
            if kind == "product":
                size = min(wires["A"], wires["B"])
            elif kind == "shift":
                size = min(wires["B"], wires["A"].bit_length())
            for port, direction in cell["port_directions"].items():
                if direction == "output":
                    yield kind, cell["connections"][port], size

    def driven(self) -> set[int]:
        """Bits that an operation, a register or an input drives; the clock is not counted."""
        ports = self.module["ports"]
        inputs = [
            bit
            for name, port in ports.items()
            if port["direction"] == "input" and name != "clk_i"
            for bit in port["bits"]
        ]
        return {bit for _, bits, _ in self.outputs() for bit in bits} | set(inputs)

    def counter(self, objects: list[Path]) -> Path:
        """A register behind each operation, clocked by tick_i: one tick of time a word."""
        module = json.loads(json.dumps(self.module))
        free = 1 + max(bit for net in module["netnames"].values() for bit in net["bits"] if isinstance(bit, int))
        tick, free = free, free + 1
        module["ports"]["tick_i"] = {"direction": "input", "bits": [tick]}
        module["netnames"]["tick_i"] = {"hide_name": 0, "bits": [tick], "attributes": {}}
        for name, cell in list(module["cells"].items()):
            if cell["type"] in REGISTERS:
                continue
            for port in [port for port, direction in cell["port_directions"].items() if direction == "output"]:
                seen = cell["connections"][port]
                made = list(range(free, free + len(seen)))
                free += len(seen)
                cell["connections"][port] = made
                module["cells"][f"{name}$tick${port}"] = {
                    **{"hide_name": 1, "type": "$dff", "attributes": {}},
                    "parameters": {"CLK_POLARITY": "1", "WIDTH": format(len(seen), "032b")},
                    "port_directions": {"CLK": "input", "D": "input", "Q": "output"},
                    "connections": {"CLK": [tick], "D": made, "Q": seen},
                }
        ticked = self.work / "ticked.json"
        ticked.write_text(json.dumps({**self.design, "modules": {characterize.TOP: module}}))
        source = self.work / "ticked.v"
        ngflow.run_yosys([f"read_json {ticked}", f"write_verilog -noattr {source}"], self.work / "ticked.log")
        return verilated([source], self.work, objects)

    def features(self, counted: dict) -> dict[str, float]:
        """Per cycle: flip-flops, their flips, settled flips at the inputs of adders and comparisons, and for each kind of operation
        the bits that settle to another value (nets) and how often they flip beyond that (glitches)."""
        settled: dict[int, int] = {}
        every: dict[int, int] = {}
        for name, net in self.module["netnames"].items():
            if name not in counted["signals"]:
                continue
            for position, bit in enumerate(net["bits"]):
                if isinstance(bit, int):
                    settled[bit], every[bit] = (of[position] for of in counted["signals"][name])
        found = dict.fromkeys(NAMES, 0.0)
        cycles = counted["cycles"]
        for cell in self.module["cells"].values():
            what = "adder" if cell["type"] in KINDS["adder"] else "compare" if cell["type"] in COMPARE else None
            for port, bits in cell["connections"].items() if what else ():
                if cell["port_directions"][port] == "input":
                    found[f"{what}_inputs"] += sum(settled.get(bit, 0) for bit in bits) / cycles
        for kind, bits, size in self.outputs():
            for bit in bits:
                if bit not in settled:
                    raise FlowError(f"net {bit} of a {kind} in {self.work.name} has not been counted")
                if kind == "register":
                    found["flip_flops"] += 1
                    found["register_flips"] += settled[bit] / cycles
                else:
                    found[f"{kind}_nets"] += size * settled[bit] / cycles
                    found[f"{kind}_glitches"] += size * (every[bit] - settled[bit]) / cycles
        return found


# ---------------------------------------------------------------- check


def per_net(counted: dict) -> dict[str, int]:
    """Net name, as netlists have it -> flips."""
    nets = {}
    for name, (settled, *_) in counted["signals"].items():
        for position, flips in enumerate(settled):
            nets[name if len(settled) == 1 else f"{name}[{position}]"] = flips
    return nets


def netlist_differences(counted: dict, toggles: dict[str, int], ports: dict[str, dict]) -> tuple[int, list[str]]:
    """Counts of the RTL's signals against those of the mapped netlist's nets that bear their names. Every port and every
    register of the wrapper must be among them; Verilator drops ports that nothing reads (`en_i` of a unit without cuts),
    which passes only where no net of the netlist bears its name and flips."""
    nets = per_net(counted)
    problems = [
        f"{name} flips {nets[name]} times, the netlist's net {toggles[name]} times"
        for name in sorted(set(nets) & set(toggles))
        if nets[name] != toggles[name] and not name.endswith("clk_i")
    ]
    for name, port in ports.items():
        width = len(port["bits"])
        missing = [n for k in range(width) if (n := name if width == 1 else f"{name}[{k}]") not in nets]
        problems += [f"port {n} has not been counted" for n in missing if toggles.get(n, 0)]
    return len(set(nets) & set(toggles)), problems


def word_differences(counted: dict, words: dict, module: Words) -> tuple[int, list[str]]:
    """Settled flips of the signals that the RTL and its words both have, bit by bit; Yosys leaves out what nobody reads."""
    both = sorted(set(counted["signals"]) & set(words["signals"]))
    driven = module.driven()
    problems = []
    for name in both:
        pairs = zip(
            module.module["netnames"][name]["bits"], counted["signals"][name][0], words["signals"][name][0], strict=True
        )
        for position, (bit, signal, word) in enumerate(pairs):
            if signal != word and bit in driven:
                problems.append(f"{name}[{position}] flips {signal} times, as a word {word} times")
    return len(both), problems


def read_nets(path: Path) -> dict[str, int]:
    rows = (line.rsplit(" ", 1) for line in path.read_text().splitlines())
    return {name: int(toggles) for name, toggles in rows}


def check(flow: characterize.Flow, unit: dict, stimulus: str, objects: list[Path]) -> list[str]:
    """The counts against those of ng_gatesim on the mapped netlist, and against the unit's words."""
    work, _ = flow.prepare(unit)
    path = flow.stimulus(unit, stimulus, flow.options.cycles + characterize.WARM_UP, characterize.SEED, work)
    flow.run_gates(work, path, work / "nets.txt")
    counted = count(signal_counter(unit, work / "signals", objects), path)
    ports = characterize.unit_ports(unit, work)
    compared, problems = netlist_differences(counted, read_nets(work / "nets.txt"), ports)
    of_words = Words(unit, work / "words")
    words, more = word_differences(counted, count(of_words.counter(objects), path), of_words)
    if compared < 2 or words < 2:
        problems.append(f"only {compared} nets and {words} signals bear the same names")
    if not problems + more:
        print(
            f"{unit['name']} on {stimulus}: {compared} nets of the netlist and {words} signals of the words flip as counted"
        )
    return problems + more


# ---------------------------------------------------------------- program


class Flow(characterize.Flow):
    def run_gates(self, work: Path, stimulus: Path, nets: Path) -> None:
        """Settled transitions of the netlist, by net."""
        command = [self.program("ng_gatesim"), "--technology", str(self.technology_file), "--threads", "1"]
        command += ["--netlist", str(work / "netlist.json"), "--slews", str(work / "slews.txt"), "--warm-up"]
        command += [str(characterize.WARM_UP), "--stimulus", str(stimulus), "--nets", str(nets)]
        characterize.run(command, "simulation")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--unit", required=True, help="name of a unit, or several separated by commas")
    parser.add_argument(
        "--units-file", type=Path, default=characterize.UNITS, help="another file like power/units.json"
    )
    parser.add_argument("--stimulus", help="one of the unit's stimuli (default: its first)")
    parser.add_argument(
        "--cycles", type=int, default=characterize.CYCLES, help="counted clock cycles (default %(default)s)"
    )
    parser.add_argument("--words", action="store_true", help="features of rung L1 instead of signals")
    parser.add_argument(
        "--check", action="store_true", help="compare the counts with those of the mapped netlist (osu018)"
    )
    parser.add_argument("--json", action="store_true", help="all counts, bit by bit; with --words the features")
    parser.add_argument(
        "--programs", type=Path, default=ROOT / "build" / "bin", help="folder of ng_gatesim and ng_stimulus"
    )
    parser.add_argument(
        "--work", type=Path, default=ROOT / "build" / "power", help="folder for what is made on the way"
    )
    options = parser.parse_args()
    if options.cycles < 1:
        parser.error(f"--cycles is {options.cycles}; expected 1 or more")
    arguments = [
        "--programs",
        str(options.programs),
        "--work",
        str(options.work),
        "--units-file",
        str(options.units_file),
    ]
    flow = Flow(characterize.arguments_for(arguments))
    flow.options.cycles = options.cycles
    objects = runtime(options.work.resolve() / "flips")
    status = 0
    for name in options.unit.split(","):
        if name not in flow.units:
            raise FlowError(f"no unit is called {name}; known: {', '.join(flow.units)}")
        unit = flow.units[name]
        stimulus = options.stimulus or unit["stimuli"][0]
        if options.check:
            problems = check(flow, unit, stimulus, objects)
            for problem in problems[:20]:
                print(f"{name} on {stimulus}: {problem}")
            status = max(status, 1 if problems else 0)
            continue
        work = flow.work / name
        work.mkdir(exist_ok=True)
        path = flow.stimulus(unit, stimulus, options.cycles + characterize.WARM_UP, characterize.SEED, work)
        head = {"unit": name, "stimulus": stimulus, "seed": characterize.SEED}
        if options.words:
            words = Words(unit, work / "words")
            counted = count(words.counter(objects), path)
            features = words.features(counted)
            print(
                json.dumps({**head, "cycles": counted["cycles"], "features": features})
                if options.json
                else feature_text(features)
            )
            continue
        counted = count(signal_counter(unit, work / "signals", objects), path)
        if options.json:
            print(json.dumps({**head, **counted}))
            continue
        rows = {signal: sum(flips[0]) / counted["cycles"] for signal, flips in counted["signals"].items()}
        print(f"{name} on {stimulus}: flips a cycle, of {counted['cycles']} cycles")
        for signal, flips in sorted(rows.items(), key=lambda row: -row[1]):
            print(f"  {flips:10.3f}  {signal}")
    return status


def feature_text(features: dict[str, float]) -> str:
    return "\n".join(f"  {value:10.3f}  {name}" for name, value in features.items())


if __name__ == "__main__":
    ngflow.run_main(main)
