# SPDX-License-Identifier: Apache-2.0
"""From RTL to energy: rungs L2 and L3 of the energy ladder for the units of power/units.json.

For each unit: register wrapper -> Yosys and ABC onto the cells of a Liberty library -> OpenSTA for delays and transition
times -> ng_stimulus -> ng_gatesim -> a record of joules and transitions per clock cycle. docs/energy_flow.md explains.

examples
  tools/ngtools/power/characterize.py --list                          the units, and which are recorded
  tools/ngtools/power/characterize.py --units int8_mac_array          one unit now, printed (osu018)
  tools/ngtools/power/characterize.py --units 'fp8*' --stimuli gauss --json
  tools/ngtools/power/characterize.py --units dot_nvfp4 --explain     transitions and joules by cell type
  tools/ngtools/power/characterize.py --units dot_nvfp4 --liberty my.lib      with a library of your own
  NG_LIBERTY=~/liberty tools/ngtools/power/characterize.py --technology asap7 --units int8_mac_array
  tools/ngtools/power/characterize.py --units dot_nvfp4 --recipe adders       mapped by another recipe
  tools/ngtools/power/characterize.py --units int8_mac_array --activity waves.fst --scope top.u_mac      on your own simulation
  tools/ngtools/power/characterize.py --record                        redo all records of osu018 (make power)
  tools/ngtools/power/characterize.py --record --technology osu035 --units 'int8_*'
  tools/ngtools/power/characterize.py --check --units int8_mac_array  recompute a slice: netlist, stimulus, transitions equal the record

Output: text in pJ; --json and the records are SI (joules per clock cycle, seconds, watts, square metres).
Exit code: 0 fine, 1 --check found a difference, 2 error.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import fnmatch
import hashlib
import json
import math
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

from ngtools import ngflow, recorded
from ngtools.ngflow import ROOT, FlowError
from ngtools.power import activity, golden, own_unit, recipes
from ngtools.power.library import FOLDER, TECHNOLOGIES, LibertyError, find_library, for_tools, own_library
from ngtools.power.technology import COARSEST_TICK_S, kept_library

UNITS = ROOT / "power" / "units.json"
RECORDS = ROOT / "power" / "records"
TOP = "ng_power_top"
WARM_UP = 16  # cycles, where the unit does not say
CYCLES = 2048  # counted, at least, where the unit does not say
# Multiply-accumulates, at least, of stimuli whose outputs differ much: many cycles for units of few lanes.
MACS = {"digits": 16384}
SEED = 1
EARLIER = ROOT / "power" / "records" / "earlier_designs.toml"  # records whose unit has changed since
SLICE = 256  # cycles that --check simulates: the first batch of ng_gatesim
CLOCK_MARGIN = 1.1

# ---------------------------------------------------------------- units


def per_cycle(unit: dict) -> str:
    """The key of how much a unit or its record does in a cycle."""
    return "operations_per_cycle" if "operation" in unit else "macs_per_cycle"


def load_units(path: Path) -> dict[str, dict]:
    """Name -> entry. Errors name the entry and the key."""
    try:
        entries = json.loads(path.read_text())["units"]
    except (OSError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise FlowError(f"{path} is not usable: {error!r}; expected JSON with a list 'units'") from None
    units: dict[str, dict] = {}
    for place, unit in enumerate(entries):
        name = unit.get("name", f"number {place + 1}")
        missing = [
            key for key in ("name", "top", "params", per_cycle(unit), "inputs", "stimuli", "set") if key not in unit
        ]
        if ("mac" in unit) == ("operation" in unit):
            raise FlowError(f"unit {name} in {path.name}; expected either 'mac' or 'operation'")
        if missing:
            raise FlowError(f"unit {name} in {path.name} lacks {', '.join(missing)}")
        if not re.fullmatch(r"[a-z0-9_]+", name):
            raise FlowError(f"unit name '{name}' in {path.name}; expected small letters, digits and _")
        if name in units:
            raise FlowError(f"unit {name} is twice in {path.name}")
        if unit["set"] not in ("fit", "held_out"):
            raise FlowError(f"unit {name} in {path.name}: set is '{unit['set']}', expected fit or held_out")
        unit["files"] = [path.resolve().parent / file for file in unit.get("files", [])]
        for file in unit["files"]:
            if not file.is_file():
                raise FlowError(
                    f"unit {name} in {path.name}: there is no file {file}; paths are relative to {path.name}"
                )
        units[name] = unit
    return units


def warm_up(unit: dict) -> int:
    """Cycles of a unit or its record that are simulated and not counted."""
    return unit.get("warm_up", WARM_UP)


def sources(unit: dict) -> list[Path]:
    """Its files, dependencies first: of the library, and those of its own that the entry names."""
    return own_unit.design_files(unit) if unit["files"] else ngflow.sources(unit["top"])


def run(command: list[str], what: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    except FileNotFoundError:
        raise FlowError(f"{what}: program {command[0]} was not found") from None
    if done.returncode != 0:
        lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise FlowError(f"{what}: {lines[-1] if lines else f'exit code {done.returncode}'}")
    return done.stdout


# ---------------------------------------------------------------- mapping


def unit_ports(unit: dict, work: Path) -> tuple[dict[str, dict], own_unit.Pins]:
    """Ports of the unit's top module with its parameters, name -> {direction, bits}; its clock and reset."""
    if unit["files"]:
        module = own_unit.structure(unit, work)
        return module["ports"], own_unit.find_pins(unit, module)
    netlist = work / "ports.json"
    top = unit["top"]
    # The unit's file and the packages; what is inside does not matter here.
    files = [path for path in sources(unit) if path.stem == top or path.stem.endswith("_pkg")]
    commands = [command.replace("-check ", "") for command in ngflow.yosys_read(top, files, unit["params"])]
    ngflow.run_yosys([*commands, "proc", f"write_json {netlist}"], work / "ports.log")
    return json.loads(netlist.read_text())["modules"][top]["ports"], own_unit.LIBRARY


def wrapper(unit: dict, ports: dict[str, dict], pins: own_unit.Pins = own_unit.LIBRARY) -> str:
    """Verilog: input registers -> unit, and output registers behind a unit without state of its own, so that a cycle is an
    operation. Cuts (docs/cuts.md) are always enabled: by `en_i` of a unit with a clock and no reset, by `move_i` of ng_mac_pe."""
    own = bool(unit["files"])
    cuts = not own and "en_i" in ports and "rst_ni" not in ports
    enables = [name for name in ngflow.CUT_ENABLES if not own and name in ports and (cuts or name != "en_i")]
    clock, reset = (port if port in ports else "" for port in (pins.clock, pins.reset))
    reset_port = own_unit.RESET_PORT if own else reset
    controls = (clock, reset, *enables)
    inputs = {n: len(p["bits"]) for n, p in ports.items() if p["direction"] == "input" and n not in controls}
    outputs = {n: len(p["bits"]) for n, p in ports.items() if p["direction"] == "output"}
    missing = sorted(set(inputs) - set(unit["inputs"]))
    unknown = sorted(set(unit["inputs"]) - set(inputs))
    if missing or unknown:
        raise FlowError(
            f"unit {unit['name']}: its 'inputs' do not fit {unit['top']}: "
            + "; ".join([f"no entry for {name}" for name in missing] + [f"{name} is not an input" for name in unknown])
        )
    clocked = bool(clock) and not cuts
    head = ["input clk_i"] + ([f"input {reset_port}"] if reset else [])
    head += [f"input [{width - 1}:0] {name}" for name, width in inputs.items()]
    head += [f"output {'' if clocked else 'reg '}[{width - 1}:0] {name}" for name, width in outputs.items()]
    lines = [f"  reg [{width - 1}:0] {name}_q;" for name, width in inputs.items()]
    lines += [f"  wire [{width - 1}:0] {name}_d;" for name, width in outputs.items() if not clocked]
    connections = [f".{clock}({'~' if pins.falling else ''}clk_i)"] if clock else []
    connections += [f".{reset}({'' if pins.active_low else '~'}{reset_port})"] if reset else []
    connections += [f".{name}(1'b1)" for name in enables]
    connections += [f".{name}({name}_q)" for name in inputs]
    connections += [f".{name}({name}{'' if clocked else '_d'})" for name in outputs]
    # 32'sh: as in ngflow.
    overrides = ", ".join(f".{name}(32'sh{value & 0xFFFFFFFF:08x})" for name, value in unit["params"].items())
    lines.append(f"  {unit['top']} {f'#({overrides}) ' if overrides else ''}u_unit ({', '.join(connections)});")
    lines.append("  always @(posedge clk_i) begin")
    lines += [f"    {name}_q <= {name};" for name in inputs]
    lines += [f"    {name} <= {name}_d;" for name in outputs if not clocked]
    lines.append("  end")
    # What the simulator of the netlist starts with; Yosys, which defines SYNTHESIS, shall not see it.
    lines += ["`ifndef SYNTHESIS", *(f"  initial {name}_q = 0;" for name in inputs), "`endif"]
    return f"module {TOP} ({', '.join(head)});\n" + "\n".join(lines) + "\nendmodule\n"


def inverter(technology: dict) -> str:
    """The smallest inverter: what ABC takes to drive the inputs."""
    found = [
        (cell["area_m2"], name)
        for name, cell in technology["cells"].items()
        if len(cell["inputs"]) == 1 and [out.get("function") for out in cell["outputs"]] == ["10"]
    ]
    if not found:
        raise FlowError(f"technology {technology['name']} has no inverter; a library to map to needs one")
    return min(found)[1]


def flip_flop_load(technology: dict) -> float:
    """Farad of the smallest flip-flop's data input: what ABC takes as load of the outputs."""
    found = [
        (cell["area_m2"], max(pin["capacitance_f"] for pin in cell["inputs"] if pin["name"] != cell["ff"]["clock"]))
        for cell in technology["cells"].values()
        if "ff" in cell
    ]
    if not found:
        raise FlowError(f"technology {technology['name']} has no flip-flop; a library to map to needs one")
    return min(found)[1]


RAM = """(* blackbox *)
module ng_ram #(parameter Width = 32, parameter Depth = 512) (
  input clk_i, input we_i, input [$clog2(Depth)-1:0] waddr_i, input [Width-1:0] wdata_i,
  input re_i, input [$clog2(Depth)-1:0] raddr_i, output [Width-1:0] rdata_o);
endmodule
"""


def map_unit(unit: dict, liberty: Path, technology: dict, work: Path, recipe: recipes.Recipe) -> dict:
    """netlist.json and netlist.v in `work`. Memories stay instances of ng_ram, which no cell library has."""
    files = [path for path in sources(unit) if path.stem != "ng_ram"]
    (work / "ram.v").write_text(RAM if len(files) < len(sources(unit)) else "")
    ports, pins = unit_ports(unit, work)
    (work / "wrapper.v").write_text(wrapper(unit, ports, pins))
    (work / "abc.constr").write_text(
        f"set_driving_cell {inverter(technology)}\nset_load {flip_flop_load(technology) * 1e15:.6g}\n"
    )
    (work / "adders.v").write_text(recipe.adder_map())
    files_of = {"constraints": work / "abc.constr", "adders": work / "adders.v", "folder": recipes.FOLDER}
    read_liberty, *commands = recipe.filled(liberty=str(liberty), top=TOP, **{k: str(v) for k, v in files_of.items()})
    ngflow.run_yosys(
        [
            read_liberty,
            f"read_verilog -sv -defer {' '.join(map(ngflow.from_root, files))}",
            f"read_verilog -sv {work / 'ram.v'} {work / 'wrapper.v'}",
            f"hierarchy -check -top {TOP}",
            *commands,
            f"write_json {work / 'netlist.json'}",
            f"write_verilog -noattr -noexpr -nohex {work / 'netlist.v'}",
        ],
        work / "map.log",
    )
    (work / "pins.json").write_text(json.dumps(dataclasses.asdict(pins)))
    code = "\n".join(line for line in (work / "netlist.v").read_text().splitlines() if not line.startswith("/*"))
    told = {"liberty": "LIBERTY", "constraints": "CONSTRAINTS", "adders": "ADDERS", "folder": "power/recipes"}
    return {
        "netlist_sha256": hashlib.sha256(code.encode()).hexdigest(),
        "recipe_name": recipe.name,
        "recipe": recipe.filled(top=TOP, **told),
        **({"delay_s": recipe.delay_s} if recipe.delay_s is not None else {}),
        "constraints": (work / "abc.constr").read_text().strip().splitlines(),
    }


def time_unit(liberty: Path, technology: dict, work: Path) -> dict:
    """OpenSTA: netlist.sdf and slews.txt in `work`; returns the longest path and the clock period in seconds."""
    digits = 2 if technology["tick_s"] >= COARSEST_TICK_S else 4
    slow = 1000.0  # ns: only for the path's length; not longer, OpenSTA computes in single precision
    (work / "sta.tcl").write_text(
        f"""read_liberty {liberty}
set_cmd_units -time ns
read_verilog {work / "netlist.v"}
link_design {TOP}
create_clock -name clk -period {slow} [get_ports clk_i]
set_input_transition {technology["input_slew_s"] * 1e9:.6g} [all_inputs]
report_worst_slack -digits {digits}
write_sdf -no_timestamp -digits 6 {work / "netlist.sdf"}
set out [open {work / "slews.txt"} w]
foreach pin [get_pins *] {{
  puts $out "[get_full_name $pin] [get_property $pin actual_rise_transition_max] [get_property $pin actual_fall_transition_max]"
}}
close $out
exit
"""
    )
    for stale in ("netlist.sdf", "slews.txt"):
        with contextlib.suppress(FileNotFoundError):
            (work / stale).unlink()
    log = run(["sta", "-no_splash", "-exit", str(work / "sta.tcl")], "OpenSTA")
    (work / "sta.log").write_text(log)
    slack = re.search(r"worst slack (-?[\d.]+)", log)
    if "Error" in log or not slack or not (work / "netlist.sdf").exists():
        problem = next((line for line in log.splitlines() if "Error" in line), "no slack reported")
        raise FlowError(f"OpenSTA: {problem}; script {work / 'sta.tcl'}")
    path_s = (slow - float(slack[1])) * 1e-9
    grid_s = technology["clock_grid_s"]
    return {
        "path_s": round(path_s, 15),
        "period_s": round(max(1, math.ceil(path_s * CLOCK_MARGIN / grid_s)) * grid_s, 15),
    }


# ---------------------------------------------------------------- stimuli, simulation, record


def counted_cycles(unit: dict, stimulus: str) -> int:
    return max(unit.get("cycles", CYCLES), math.ceil(MACS.get(stimulus, 0) / unit[per_cycle(unit)]))


def digits_tensors(work: Path) -> list[str]:
    """Operands of the digits network's second convolution on its test images, as arguments of ng_stimulus. They are the same
    bits on every machine: the first convolution is a sum of 25 pixels of 5 bits times float32 weights, exact in float64."""
    a, b = work / "digits_a.npy", work / "digits_b.npy"
    if not (a.exists() and b.exists()):
        script = ROOT / "examples" / "digits" / "operands.py"
        run([sys.executable, str(script), "conv2", str(a), str(b)], "the digits network")
    return ["--a", str(a), "--b", str(b)]


class Flow:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.speed: dict[str, float] = {}  # cycles a second of the last simulation, by rung
        self.units = load_units(options.units_file)
        own = options.liberty
        library = own_library(own, options.exclude) if own else find_library(options.technology)
        self.name = library.name
        self.recipe = recipes.find(options.recipe, self.name)
        self.library = self.recipe.with_cells(library)
        self.base = options.work.resolve()
        self.work = recipes.records_file(self.base, self.name, self.recipe.name, "")
        self.work.mkdir(parents=True, exist_ok=True)
        self.technology = kept_library(self.library, self.work)
        self.liberty = for_tools(self.library, self.technology, self.work)
        self.technology_file = self.work / "technology.json"
        self.technology_file.write_text(json.dumps(self.technology))
        self.tools = [ngflow.yosys_version(), f"OpenSTA {self.sta_version()}"]

    @staticmethod
    def sta_version() -> str:
        return run(["sta", "-version"], "OpenSTA").split()[0]

    def program(self, name: str) -> str:
        path = self.options.programs / name
        if not path.exists():
            raise FlowError(
                f"program {path} is missing; build it (cmake --build build --target {name}) or give --programs"
            )
        return str(path)

    @property
    def records_file(self) -> Path:
        folder = self.options.records
        if folder == RECORDS and self.recipe.name != recipes.DEFAULT:
            folder = recipes.RECORDS
        return recipes.records_file(folder, self.name, self.recipe.name, recorded.SUFFIX)

    def prepare(self, unit: dict) -> tuple[Path, dict]:
        work = self.work / unit["name"]
        work.mkdir(exist_ok=True)
        mapped = map_unit(unit, self.liberty, self.technology, work, self.recipe)
        return work, {**mapped, **time_unit(self.liberty, self.technology, work)}

    def stimulus(self, unit: dict, stimulus: str, cycles: int, seed: int, work: Path) -> Path:
        path = work / f"{stimulus}.stim"
        tensors = digits_tensors(self.base) if stimulus == "digits" else []
        arguments = ["--units", str(self.options.units_file.resolve()), "--unit", unit["name"], "--stimulus", stimulus]
        arguments += ["--seed", str(seed), "--cycles", str(cycles), "--out", str(path), *tensors]
        run([self.program("ng_stimulus"), *arguments], f"stimulus {stimulus}")
        own_unit.add_reset(work / "wrapper.v", path)
        return path

    def simulate(self, unit: dict, work: Path, period_s: float, stimulus: Path, extra: list[str]) -> dict:
        command = [self.program("ng_gatesim"), "--technology", str(self.technology_file)]
        command += ["--netlist", str(work / "netlist.json"), "--sdf", str(work / "netlist.sdf")]
        command += ["--slews", str(work / "slews.txt"), "--period", repr(period_s), "--warm-up", str(warm_up(unit))]
        command += ["--threads", str(self.options.threads), "--stimulus", str(stimulus), *extra]
        return json.loads(run(command, "simulation"))

    def from_activity(self, unit: dict, work: Path, path: Path) -> dict | None:
        """Writes the stimulus that the user's waves are, and returns what is said of it; None for activity of the netlist."""
        source = self.options.activity
        netlist = json.loads((work / "netlist.json").read_text())["modules"][TOP]
        if activity.is_of_netlist(source, net_names(netlist)):
            return None
        pins = own_unit.Pins(**json.loads((work / "pins.json").read_text()))
        driven = {
            name: len(port["bits"])
            for name, port in netlist["ports"].items()
            if port["direction"] == "input" and name not in ("clk_i", "rst_ni", own_unit.RESET_PORT)
        }
        seen = activity.stimulus(source, unit, driven, pins, path)
        if seen["cycles"] < warm_up(unit) + SLICE:
            raise FlowError(
                f"scope {seen['scope']} has {seen['cycles']} clock edges outside of reset; expected {warm_up(unit) + SLICE} or "
                f"more: the first {warm_up(unit)} are warm-up"
            )
        own_unit.add_reset(work / "wrapper.v", path)
        return seen

    def counted(self, unit: dict, work: Path, mapped: dict) -> dict:
        """The sample of a simulation of the netlist itself: its transitions, priced."""
        netlist = json.loads((work / "netlist.json").read_text())["modules"][TOP]
        counts = work / "activity.toggles"
        seen = activity.toggles(self.options.activity, net_names(netlist), counts)
        command = [
            self.program("ng_gatesim"),
            "--technology",
            str(self.technology_file),
            "--netlist",
            str(work / "netlist.json"),
        ]
        command += ["--slews", str(work / "slews.txt"), "--period", repr(mapped["period_s"])]
        command += ["--toggles", str(counts), "--cycles", str(seen["cycles"])]
        result = json.loads(run([*command, *(["--explain"] if self.options.explain else [])], "price"))
        parts = {key: result[key] for key in ("cells", "flip_flops", "area_m2")}
        return {
            **parts,
            "sample": {
                "stimulus": "activity",
                "activity": seen,
                "cycles": seen["cycles"],
                "counted": result["counted"],
            },
        }

    def measure(self, unit: dict) -> dict:
        """The record of a unit."""
        work, mapped = self.prepare(unit)
        record: dict = {"unit": unit["name"], "technology": self.name, "set": unit["set"], "top": unit["top"]}
        record |= {key: unit[key] for key in ("params", "operation", per_cycle(unit), "warm_up") if key in unit}
        record |= {**mapped, "samples": []}
        record |= {key: self.technology[key] for key in ("library", "corner", "liberty_sha256", "cells_sha256")}
        record |= {"tools": self.tools}
        wanted = [name for name in unit["stimuli"] if not self.options.stimuli or name in self.options.stimuli]
        seen = None
        if self.options.activity:
            wanted = ["activity"]
            seen = self.from_activity(unit, work, work / "activity.stim")
            if seen is None:
                result = self.counted(unit, work, mapped)
                record["samples"].append(result.pop("sample"))
                return record | result
        for stimulus in wanted:
            if seen:
                path = work / "activity.stim"
            else:
                cycles = self.options.cycles or counted_cycles(unit, stimulus)
                path = self.stimulus(unit, stimulus, cycles + warm_up(unit), SEED, work)
            extra = ["--explain", "--explain-instances", "10"] if self.options.explain else []
            outputs = work / f"{stimulus}.outputs"
            result = self.simulate(unit, work, mapped["period_s"], path, ["--outputs", str(outputs), *extra])
            compared = golden.compare(unit["name"], work, sources(unit), path, outputs, from_zero=not unit["files"])
            if self.options.saif:
                self.simulate(unit, work, mapped["period_s"], path, ["--saif", str(work / f"{stimulus}.saif")])
            record |= {key: result[key] for key in ("cells", "flip_flops", "area_m2")}
            sample = {"stimulus": stimulus, "seed": SEED, "cycles": result["cycles"]}
            sample["stimulus_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
            sample["compared_bits"] = compared
            if seen:
                sample["activity"] = seen
            for rung in ("L2", "L3"):
                speed = result[rung].pop("run_s")
                result[rung].pop("evaluations")
                sample[rung] = result[rung]
                self.speed[rung] = result["cycles"] / max(speed, 1e-9)
            sample["glitch_factor"] = result["glitch_factor"]
            if "memories" in result:
                sample["memories"] = result["memories"]
            record["samples"].append(sample)
        return record

    def check(self, unit: dict) -> list[str]:
        """Differences from the record."""
        record = recorded.read(self.records_file).get(unit["name"])
        if record is None:
            return [
                f"{ngflow.from_root(self.records_file)} has no such record; "
                f"run tools/ngtools/power/characterize.py --record --units {unit['name']}"
            ]
        problems = [
            f"{key} is {unit[key]}, recorded {record[key]}"
            for key in ("params", per_cycle(unit), "set")
            if unit[key] != record[key]
        ]
        if record["tools"] != self.tools:
            return [*problems, f"SKIPPED: recorded with {', '.join(record['tools'])}, here are {', '.join(self.tools)}"]
        work, mapped = self.prepare(unit)
        listed = self.name in TECHNOLOGIES and self.recipe.name == recipes.DEFAULT
        if listed and (reason := earlier_design(unit["top"])):
            if mapped["netlist_sha256"] == record["netlist_sha256"]:
                return [
                    *problems,
                    f"is recorded from today's netlist: take {unit['top']} out of {ngflow.from_root(EARLIER)}",
                ]
            return [*problems, f"EARLIER: recorded from an earlier design, not compared ({reason})"]
        for key in ("netlist_sha256", "period_s"):
            if mapped[key] != record[key]:
                problems.append(f"{key} is {mapped[key]}, recorded {record[key]}")
        for sample in record["samples"]:
            stimulus = self.stimulus(unit, sample["stimulus"], sample["cycles"] + warm_up(unit), sample["seed"], work)
            digest = hashlib.sha256(stimulus.read_bytes()).hexdigest()
            if digest != sample["stimulus_sha256"]:
                problems.append(
                    f"stimulus {sample['stimulus']} has SHA-256 {digest}, recorded {sample['stimulus_sha256']}"
                )
            now = self.simulate(unit, work, mapped["period_s"], stimulus, ["--cycles", str(warm_up(unit) + SLICE + 1)])
            for rung in ("L2", "L3"):
                if now[rung]["first_batch"] != sample[rung]["first_batch"]:
                    problems.append(
                        f"{sample['stimulus']} {rung}: {now[rung]['first_batch']} transitions in the first {SLICE} cycles, "
                        f"recorded {sample[rung]['first_batch']}"
                    )
        return problems


def net_names(netlist: dict) -> list[str]:
    """Nets that inputs and cells drive, named as ng_gatesim names them: the shortest public name of each."""
    driven = {bit for port in netlist["ports"].values() if port["direction"] == "input" for bit in port["bits"]}
    for cell in netlist["cells"].values():
        of = cell.get("port_directions", {})
        driven |= {bits[0] for pin, bits in cell["connections"].items() if of.get(pin) == "output" and bits}
    best: dict[int, tuple[bool, int, str]] = {}
    for name, net in sorted(netlist["netnames"].items()):
        for place, bit in enumerate(net["bits"]):
            whole = name if len(net["bits"]) == 1 else f"{name}[{place}]"
            if bit in driven:
                best[bit] = min(
                    best.get(bit, (True, 1 << 30, "")), (whole.startswith("_"), len(whole), whole), key=lambda n: n[:2]
                )
    return [name for _, _, name in best.values()]


def earlier_design(top: str) -> str:
    """Why the records of this module are of an earlier design; empty if they are of today's."""
    for entry in tomllib.loads(EARLIER.read_text())["earlier"]:
        if top in entry["tops"]:
            return f"before {entry['before']}: {entry['reason']}"
    return ""


def sample_text(record: dict, sample: dict) -> str:
    per, what = record[per_cycle(record)], "operation" if "operation" in record else "MAC"
    if "counted" in sample:
        energy_j = sample["counted"]["energy_j"]
        return (
            f"  activity of the netlist, {sample['cycles']} cycles   {energy_j * 1e12:9.3f} pJ/cycle "
            f"{energy_j / per * 1e12:8.3f} pJ/{what}"
        )
    parts = [
        f"{rung} {sample[rung]['energy_j'] * 1e12:9.3f} pJ/cycle {sample[rung]['energy_j'] / per * 1e12:8.3f} pJ/{what}"
        for rung in ("L2", "L3")
    ]
    return f"  {sample['stimulus']:12} {'   '.join(parts)}   glitch factor {sample['glitch_factor']:.2f}"


def explain_text(sample: dict) -> str:
    lines = []
    for rung in ("L2", "L3", "counted"):
        if rung not in sample:
            continue
        lines.append(f"    {rung}: type, cells, transitions/cycle, internal, switching, clock in pJ/cycle")
        for name, row in sorted(sample[rung]["by_type"].items(), key=lambda item: -item[1]["energy_j"]):
            parts = "".join(f"{row[key] * 1e12:10.3f}" for key in ("internal_j", "switching_j", "clock_j"))
            lines.append(f"      {name:12} {row['cells']:6} {row['toggles']:10.2f}{parts}")
    return "\n".join(lines)


def arguments_for(command_line: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", default="*", help="names of units, with * and ?, separated by commas")
    parser.add_argument("--units-file", type=Path, default=UNITS, help="another file like power/units.json")
    library = parser.add_mutually_exclusive_group()
    library.add_argument(
        "--technology",
        default="osu018",
        help=f"osu018 (default), osu035, osu050; asap7, sky130hd, sg13g2 in the folder that {FOLDER} names",
    )
    library.add_argument(
        "--liberty", type=Path, action="append", help="a Liberty file of your own, packed by gzip or not; repeatable"
    )
    parser.add_argument(
        "--exclude", action="append", default=[], help="cells of --liberty to leave out, with * and ?; repeatable"
    )
    parser.add_argument(
        "--recipe",
        default=recipes.DEFAULT,
        choices=tuple(recipes.table()),
        help="how units are mapped to cells (power/recipes/recipes.json)",
    )
    own = parser.add_argument_group("your own simulation")
    own.add_argument(
        "--activity",
        type=Path,
        help="in place of stimuli: VCD or FST of the one unit's RTL, or VCD, FST or SAIF of the netlist.v that it was mapped to",
    )
    own.add_argument("--scope", help="the unit's instance in it, for example top.u_mac")
    own.add_argument("--clock", help="the clock's name in that scope, or its whole path (default: the unit's)")
    own.add_argument("--window", help="only between these times of the simulation, FROM:TO in seconds")
    parser.add_argument("--stimuli", help="only these of the unit's stimuli, separated by commas")
    parser.add_argument(
        "--cycles",
        type=int,
        help=f"counted clock cycles of every stimulus (default {CYCLES}; digits: at least {MACS['digits']} multiply-accumulates)",
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="write the unit's line of power/records/<technology>.jsonl, or of the recipe's file",
    )
    parser.add_argument("--check", action="store_true", help="compare a slice with the record")
    parser.add_argument("--list", action="store_true", help="the units")
    parser.add_argument("--json", action="store_true", help="records as JSON on stdout")
    parser.add_argument(
        "--explain", action="store_true", help="transitions and joules by cell type and of the top instances"
    )
    parser.add_argument("--saif", action="store_true", help="also write <stimulus>.saif into the unit's work folder")
    parser.add_argument(
        "--programs", type=Path, default=ROOT / "build" / "bin", help="folder of ng_gatesim and ng_stimulus"
    )
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "power", help="folder for netlists, SDF, stimuli")
    parser.add_argument("--records", type=Path, default=RECORDS, help="folder of records")
    parser.add_argument("--threads", type=int, default=0, help="of the simulation; 0: one per core")
    options = parser.parse_args(command_line)
    if options.cycles is not None and options.cycles < SLICE:
        parser.error(f"--cycles is {options.cycles}; expected {SLICE} or more")
    if options.exclude and not options.liberty:
        parser.error("--exclude is of --liberty; the named technologies have their lists in power/technologies/")
    if options.record and (options.explain or (options.stimuli and options.recipe == recipes.DEFAULT)):
        parser.error(f"--record records every stimulus, but for recipes beside {recipes.DEFAULT}, without --explain")
    if options.activity:
        if not options.scope:
            parser.error("--activity was given alone; expected --scope, the unit's instance in it")
        if options.record or options.check or options.stimuli or options.cycles:
            parser.error("--activity takes the place of stimuli; expected no --record, --check, --stimuli, --cycles")
        window = activity.window_of(options.window) if options.window else None
        options.activity = activity.Source(options.activity, options.scope, options.clock, window)
    elif options.scope or options.clock or options.window:
        parser.error("--scope, --clock and --window are of --activity; expected --activity FILE")
    options.stimuli = options.stimuli.split(",") if options.stimuli else []
    return options


def main() -> int:
    options = arguments_for()
    try:
        flow = Flow(options)
    except LibertyError as error:
        raise FlowError(str(error)) from None
    patterns = options.units.split(",")
    chosen = [u for n, u in flow.units.items() if any(fnmatch.fnmatchcase(n, p) for p in patterns)]
    if not chosen:
        raise FlowError(f"no unit is called {options.units}; known: {', '.join(flow.units)}")
    if options.activity and len(chosen) > 1:
        raise FlowError(
            f"--activity is of one unit; expected --units with one of {', '.join(u['name'] for u in chosen[:8])}"
        )
    if options.list:
        folders = [options.records] + ([recipes.RECORDS] if options.records == RECORDS else [])
        files = [path for folder in folders for path in sorted(folder.glob(f"*{recorded.SUFFIX}"))]
        known = {path.stem: recorded.lines(path) for path in files}
        for unit in chosen:
            where = [technology for technology, records in known.items() if unit["name"] in records]
            print(
                f"{unit['name']:28} {unit['top']:18} {unit['set']:9} {','.join(unit['stimuli']):28} {' '.join(where)}"
            )
        return 0
    status, results = 0, []
    for number, unit in enumerate(chosen, 1):
        begin = time.monotonic()
        try:
            if options.check:
                problems = flow.check(unit)
                wrong = [problem for problem in problems if not problem.startswith(("SKIPPED", "EARLIER"))]
                status = max(status, 1 if wrong else 0)
                for problem in problems:
                    print(f"{unit['name']}: {problem}")
                if not problems:
                    print(f"{unit['name']}: netlist, stimuli and transitions as recorded")
                continue
            record = flow.measure(unit)
        except FlowError as error:
            if len(chosen) == 1:
                raise FlowError(f"{unit['name']}: {error}") from None
            print(f"characterize.py: {unit['name']}: {error}", file=sys.stderr)
            status = 2
            continue
        results.append(record)
        if options.record:
            recorded.update(flow.records_file, {unit["name"]: record})
        if options.json:
            print(
                f"{number}/{len(chosen)} {unit['name']} {time.monotonic() - begin:.0f} s", file=sys.stderr, flush=True
            )
            continue
        print(
            f"{number}/{len(chosen)} {unit['name']}: {record.get('cells')} cells, {record['period_s'] * 1e9:.1f} ns, "
            f"L2 {flow.speed.get('L2', 0):.0f} and L3 {flow.speed.get('L3', 0):.0f} cycles/s, {time.monotonic() - begin:.0f} s"
        )
        for sample in record["samples"]:
            print(sample_text(record, sample))
            if options.explain:
                print(explain_text(sample))
        sys.stdout.flush()
    if options.json:
        print(json.dumps(results, indent=1))
    return status


if __name__ == "__main__":
    ngflow.run_main(main)
