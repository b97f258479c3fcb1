# SPDX-License-Identifier: Apache-2.0
"""Switching activity of a circuit placed on an iCE40UP5K: Yosys, nextpnr with its delays (SDF), Icarus Verilog.

The placed netlist is written as plain Verilog with nextpnr's delay on every connection and through every cell, and each
routed net and each carry counts its own changes. So glitches, those of routing included, are counted. Standard library only.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from ngtools import ngflow
from ngtools.ngflow import FlowError

FOLDER = Path(__file__).resolve().parent
CIRCUIT = FOLDER / "ng_ice40up_circuit.v"
NEXTPNR = ["nextpnr-ice40", "--up5k", "--package", "sg48", "--freq", "12", "--timing-allow-fail"]
NEXTPNR += ["--pcf-allow-unconstrained", "--quiet"]
PERIOD_PS = 1_000_000  # longer than any path; energies are per cycle, so its length says nothing
WARM_UP = 16
DSP_DELAY_PS = 5000  # nextpnr has no delay through a multiplier; longer than its inputs' skew: products change once
# A pulse shorter than the delay of a connection: "transport" lets it pass, "inertial" swallows it. Cells always swallow.
PULSES = ("transport", "inertial")


def run(command: list[str], what: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise FlowError(f"{command[0]} was not found; tools/setup.sh installs it") from None
    if done.returncode != 0:
        lines = (done.stderr + done.stdout).splitlines()
        reason = [line for line in lines if "ERROR" in line or "error" in line] or lines[-1:] or ["no message"]
        raise FlowError(f"{command[0]} failed for {what}: {reason[0]}")
    return done.stdout


# ---------------------------------------------------------------- synthesis and placement


@dataclass
class Placed:
    """A placed design: nextpnr's cells and nets, and delays in ps."""

    cells: dict[str, dict]
    names: dict[str, dict]
    ports: dict[str, dict]
    wires: dict[tuple[str, str], int]  # (cell, input) -> delay of the connection to it
    arcs: dict[tuple[str, str, str], int]  # (cell, input, output) -> delay through the cell

    def kind(self, name: str) -> dict[str, dict]:
        return {cell: body for cell, body in self.cells.items() if body["type"] == name}

    def sha256(self) -> str:
        """Of cells, their functions, connections and places."""
        kept = {
            name: [body["type"], body["parameters"], body["connections"], body["attributes"].get("NEXTPNR_BEL")]
            for name, body in self.cells.items()
        }
        return hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()


def read_sdf(text: str) -> tuple[dict, dict]:
    wires, arcs, cell = {}, {}, ""
    for line in re.sub(r"\\(.)", r"\1", text).splitlines():
        word = line.strip().strip("()").split()
        if word[:1] == ["INSTANCE"]:
            cell = word[1] if len(word) > 1 else ""
        elif word[:1] == ["INTERCONNECT"]:
            sink, _, port = word[2].rpartition("/")
            wires[sink, port] = int(word[3].strip("()").split(":")[-1])
        elif word[:1] == ["IOPATH"]:
            arcs[cell, word[1], word[2]] = int(word[3].strip("()").split(":")[-1])
    return wires, arcs


def place(commands: list[str], top: str, dsp: bool, seed: int, work: Path) -> Placed:
    """`commands`: Yosys commands that load the design."""
    netlist, placed, sdf = work / "netlist.json", work / "placed.json", work / "delays.sdf"
    ngflow.run_yosys(
        [*commands, f"synth_ice40 -device u {'-dsp ' if dsp else ''}-top {top}", f"write_json {netlist}"],
        work / "synth.log",
    )
    run([*NEXTPNR, "--seed", str(seed), "--json", str(netlist), "--write", str(placed), "--sdf", str(sdf)], top)
    (module,) = json.loads(placed.read_text())["modules"].values()
    wires, arcs = read_sdf(sdf.read_text())
    if not wires:
        raise FlowError(f"nextpnr wrote no connection delays for {top}; is its version one that knows --sdf?")
    return Placed(module["cells"], module["netnames"], module["ports"], wires, arcs)


def place_circuit(parameters: dict, seed: int, work: Path) -> Placed:
    sets = "".join(f" -set {name} {value}" for name, value in parameters.items() if name != "dsp")
    top = CIRCUIT.stem
    commands = [f"read_verilog {ngflow.from_root(CIRCUIT)}", f"chparam{sets} {top}"]
    return place(commands, top, bool(parameters.get("dsp")), seed, work)


def place_unit(top: str, params: dict[str, int], dsp: bool, seed: int, work: Path) -> tuple[Placed, list[dict]]:
    """A unit of ours between an input and an output register; also its input ports in the order of in_q."""
    load = ngflow.yosys_read(top, ngflow.sources(top), params)
    ports_file, wrapper = work / "ports.json", work / "wrapper.v"
    ngflow.run_yosys([*load, "proc", f"write_json {ports_file}"], work / "ports.log")
    ports = json.loads(ports_file.read_text())["modules"][top]["ports"]
    wrapper.write_text(ngflow.wrapper(top, ports))
    inputs = [
        {"name": name, "width": len(port["bits"])}
        for name, port in ports.items()
        if port["direction"] == "input" and name not in ("clk_i", "rst_ni")
    ]
    return place([*load, f"read_verilog {wrapper}"], "pnr_top", dsp, seed, work), inputs


# ---------------------------------------------------------------- simulation


def bits_of(value: str) -> str:
    """A parameter of nextpnr's JSON: a string of bits."""
    return value.replace(" ", "")


class Bench:
    """The placed design as Verilog that counts."""

    def __init__(self, placed: Placed, pulses: str, driven: dict[int, int]):
        """`driven`: net -> bit of the stimulus; its cell is replaced by the stimulus, changing when the cell would."""
        self.placed, self.pulses, self.driven = placed, pulses, driven
        self.lines: list[str] = []
        self.sinks = 0
        self.nets: list[int] = []  # counted: routed nets, then carries from first_carry on
        self.carries: list[int] = []

    def delayed(self, net: int, delay: int) -> str:
        """The net as a cell sees it."""
        if delay == 0:
            return f"n{net}"
        self.sinks += 1
        name = f"s{self.sinks}"
        if self.pulses == "transport":
            self.lines.append(f"  reg {name} = 0; always @(n{net}) {name} <= #{delay} n{net};")
        else:
            self.lines.append(f"  wire #{delay} {name} = n{net};")
        return name

    def inputs(self, cell: str, output: str | None, pins: tuple[str, ...], floor: int) -> list[str]:
        """Pins with the delay of connection and cell, less `floor`, which the output adds for all."""
        seen = []
        for pin in pins:
            (net,) = self.placed.cells[cell]["connections"].get(pin) or [None]
            if net is None or isinstance(net, str):
                seen.append("1'b1" if net == "1" else "1'b0")
                continue
            if output and (cell, pin, output) not in self.placed.arcs:
                seen.append("1'b0")  # nextpnr gives no delay where the output does not depend on the input
                continue
            arc = self.placed.arcs[cell, pin, output] - floor if output else 0
            seen.append(self.delayed(net, self.placed.wires.get((cell, pin), 0) + arc))
        return seen

    def floor(self, cell: str, output: str, pins: tuple[str, ...]) -> int:
        return min((self.placed.arcs.get((cell, pin, output), 1 << 30) for pin in pins), default=0) % (1 << 30)

    def logic_cell(self, cell: str, body: dict) -> None:
        parameter = {name: int(bits_of(value) or "0", 2) for name, value in body["parameters"].items()}
        connections = body["connections"]
        out = connections["O"][0] if connections["O"] else None
        lut_pins = ("I3", "I2", "I1", "I0")
        table = f"16'h{parameter['LUT_INIT']:04x}"
        if out is not None and parameter["DFF_ENABLE"]:
            # A reset rests while we count, so whether it is asynchronous does not matter.
            if parameter["NEG_CLK"]:
                raise FlowError(f"cell {cell} is clocked by the falling edge, which the activity bench does not know")
            enable, reset = self.inputs(cell, None, ("CEN", "SR"), 0)
            if not connections["CEN"]:
                enable = "1'b1"
            if out in self.driven:
                data = f"stimulus[{self.driven[out]}]"
            else:
                select = ", ".join(self.inputs(cell, None, lut_pins, 0))
                data = f"{reset} ? 1'b{parameter['SET_NORESET']} : lut({table}, {{{select}}})"
            delay = self.placed.arcs[cell, "CLK", "O"]
            self.lines.append(f"  always @(posedge clk) if ({enable}) n{out} <= #{delay} {data};")
        elif out is not None:
            floor = self.floor(cell, "O", lut_pins)
            select = ", ".join(self.inputs(cell, "O", lut_pins, floor))
            self.lines.append(f"  assign #{floor} n{out} = lut({table}, {{{select}}});")
        if parameter["CARRY_ENABLE"] and connections["COUT"]:
            pins = ("I1", "I2", "CIN")
            floor = self.floor(cell, "COUT", pins)
            one, two, carry = self.inputs(cell, "COUT", pins, floor)
            if not connections["CIN"]:
                carry = f"1'b{parameter['CIN_SET']}"
            (cout,) = connections["COUT"]
            self.lines.append(f"  assign #{floor} n{cout} = {one} & {two} | ({one} | {two}) & {carry};")
            self.carries.append(cout)

    def multiplier(self, cell: str, body: dict) -> None:
        parameter = {name: int(bits_of(value) or "0", 2) for name, value in body["parameters"].items()}
        registers = [name for name in parameter if name.endswith(("_REG", "_REG1", "_REG2")) and parameter[name]]
        if registers or parameter["TOPOUTPUT_SELECT"] != 3 or parameter["BOTOUTPUT_SELECT"] != 3:
            raise FlowError(f"DSP {cell} is not a plain 16 x 16 multiplier, the only use that was measured")
        operand = {}
        for side in ("A", "B"):
            pins = self.inputs(cell, None, tuple(f"{side}_{bit}" for bit in range(15, -1, -1)), 0)
            vector = f"{{{', '.join(pins)}}}"
            operand[side] = f"$signed({vector})" if parameter[f"{side}_SIGNED"] else f"$signed({{1'b0, {vector}}})"
        name = f"p{self.sinks}"
        self.lines.append(
            f"  wire signed [33:0] {name}; assign #{DSP_DELAY_PS} {name} = {operand['A']} * {operand['B']};"
        )
        for bit in range(32):
            for net in body["connections"].get(f"O_{bit}", []):
                self.lines.append(f"  assign n{net} = {name}[{bit}];")

    def verilog(
        self, cycles: int, stimulus_width: int, stimulus: Path | None, pins: dict[int, int], watch: list[int]
    ) -> str:
        """`pins`: net of an input pin -> its constant value. `watch`: nets whose state is printed every counted cycle."""
        placed = self.placed
        cells = placed.kind("ICESTORM_LC")
        multipliers = placed.kind("ICESTORM_DSP")
        for cell, body in cells.items():
            self.logic_cell(cell, body)
        for cell, body in multipliers.items():
            self.multiplier(cell, body)
        outputs = {name: body["connections"]["O"] for name, body in cells.items()}
        flops = [nets[0] for name, nets in outputs.items() if nets and int(cells[name]["parameters"]["DFF_ENABLE"])]
        luts = [nets[0] for name, nets in outputs.items() if nets and nets[0] not in set(flops)]
        products = [
            net for body in multipliers.values() for bit in range(32) for net in body["connections"].get(f"O_{bit}", [])
        ]
        constants = dict(pins)
        for cell, body in placed.cells.items():
            if body["type"] in ("SB_IO", "SB_GB"):
                port = "D_IN_0" if body["type"] == "SB_IO" else "GLOBAL_BUFFER_OUTPUT"
                for net in body["connections"].get(port, []):
                    constants.setdefault(net, self.pin_value(cell, body, pins))
        self.nets = flops + luts + products
        counted = self.nets + self.carries
        carry_names = [net for net in self.carries if net not in set(self.nets)]
        declared = [f"  reg n{net} = 0;" for net in flops]
        declared += [f"  wire n{net};" for net in [*luts, *products, *carry_names]]
        declared += [f"  wire n{net} = 1'b{value};" for net, value in constants.items() if net not in set(counted)]
        probes = [f"  always @(n{net}) if (on) real_count[{i}] = real_count[{i}] + 1;" for i, net in enumerate(counted)]
        watched = ", ".join(f"n{net}" for net in reversed(watch))
        show = f'      if (on) $display("watch %b", {{{watched}}});' if watch else ""
        load = f'  initial $readmemh("{stimulus}", memory);' if stimulus else ""
        return f"""`timescale 1ps/1ps
module bench;
  function lut(input [15:0] table_bits, input [3:0] select); lut = table_bits[select]; endfunction
  reg clk = 0, on = 0;
  reg [{stimulus_width - 1}:0] memory [0:{cycles + WARM_UP}];
  reg [{stimulus_width - 1}:0] stimulus = 0;
  integer real_count [0:{len(counted) - 1}];
  integer settled_count [0:{len(counted) - 1}];
  integer i, cycle;
{load}
{chr(10).join(declared)}
{chr(10).join(self.lines)}
{chr(10).join(probes)}
  wire [{len(counted) - 1}:0] now = {{{", ".join(f"n{net}" for net in reversed(counted))}}};
  reg [{len(counted) - 1}:0] last;
  initial begin
    for (i = 0; i < {len(counted)}; i = i + 1) begin real_count[i] = 0; settled_count[i] = 0; end
    #{PERIOD_PS};
    for (cycle = 0; cycle < {cycles + WARM_UP}; cycle = cycle + 1) begin
      if (^now === 1'bx) begin $display("unknown state in cycle %0d", cycle); $finish; end
      if (cycle == {WARM_UP}) on = 1;
      last = now;
      stimulus = memory[cycle];
      clk = 1;
      #{PERIOD_PS // 2} clk = 0;
      #{PERIOD_PS // 2};
{show}
      if (on) for (i = 0; i < {len(counted)}; i = i + 1) if (now[i] !== last[i]) settled_count[i] = settled_count[i] + 1;
    end
    for (i = 0; i < {len(counted)}; i = i + 1) $display("count %0d %0d", settled_count[i], real_count[i]);
    $finish;
  end
endmodule
"""

    def pin_value(self, cell: str, body: dict, pins: dict[int, int]) -> int:
        source = "PACKAGE_PIN" if body["type"] == "SB_IO" else "USER_SIGNAL_TO_GLOBAL_BUFFER"
        (net,) = body["connections"].get(source) or [None]
        return pins.get(net, 0)


def wires_of(placed: Placed) -> dict[int, int]:
    """Net -> routing wires it occupies (spans and local wires; a cell's own pins are not routing)."""
    result = {}
    for body in placed.names.values():
        routing = body["attributes"].get("ROUTING", "").split(";")[0::3]
        wires = sum(
            1 for wire in routing if re.match(r"(sp\d|span|local_g|neigh_op|glb2local)", wire.rpartition("/")[2])
        )
        for net in body["bits"]:
            if isinstance(net, int):
                result[net] = max(result.get(net, 0), wires)
    return result


def simulate(
    placed: Placed,
    cycles: int,
    work: Path,
    pulses: str = "transport",
    stimulus: tuple[dict[int, int], list[int]] | None = None,
    uncounted: frozenset[int] = frozenset(),
    watch: tuple[list[int], list[int]] = ([], []),
) -> dict:
    """Events per cycle. `stimulus`: (bit -> net of the input register; its value in every cycle).
    `watch`: (nets, lowest bit first; a list that receives their value in every counted cycle)."""
    driven = {net: bit for bit, net in stimulus[0].items()} if stimulus else {}
    words = work / "stimulus.hex"
    if stimulus:
        words.write_text("\n".join(f"{value:x}" for value in stimulus[1]) + "\n")
    pins = {}
    for name, port in placed.ports.items():
        if port["direction"] == "input":
            pins.update(dict.fromkeys(port["bits"], int(name == "rst_ni")))
    bench = Bench(placed, pulses, driven)
    source, program = work / "bench.v", work / "bench.vvp"
    source.write_text(
        bench.verilog(cycles, 1 + max(driven.values(), default=0), words if stimulus else None, pins, watch[0])
    )
    run(["iverilog", "-g2005-sv", "-o", str(program), str(source)], "the activity bench")
    output = run(["vvp", "-n", str(program)], "the activity bench")
    counts = [tuple(map(int, line.split()[1:])) for line in output.splitlines() if line.startswith("count")]
    if len(counts) != len(bench.nets) + len(bench.carries):
        raise FlowError(
            f"the activity bench stopped early: {output.strip()[:200] or 'no output'}; its source: {source}"
        )
    watch[1].extend(int(line.split()[1], 2) for line in output.splitlines() if line.startswith("watch"))
    wires = wires_of(placed)
    nets = [(net, *count) for net, count in zip(bench.nets, counts, strict=False) if net not in uncounted]
    cells = placed.kind("ICESTORM_LC").values()
    flip_flops = [body["connections"]["O"][0] for body in cells if int(body["parameters"]["DFF_ENABLE"])]
    return {
        "logic_cells": len(cells),
        "ff_clockings": sum(1 for net in flip_flops if net not in uncounted),
        "dsp_ops": len(placed.kind("ICESTORM_DSP")),
        "net_toggles": sum(real for _, _, real in nets) / cycles,
        "net_toggles_settled": sum(settled for _, settled, _ in nets) / cycles,
        "wire_toggles": sum(real * wires.get(net, 0) for net, _, real in nets) / cycles,
        "carry_toggles": sum(real for _, real in counts[len(bench.nets) :]) / cycles,
    }


# ---------------------------------------------------------------- what is counted


def circuit_activity(parameters: dict, seed: int, cycles: int, pulses: str, work: Path) -> dict:
    work.mkdir(parents=True, exist_ok=True)
    return simulate(place_circuit(parameters, seed, work), cycles, work, pulses)


def unit_activity(
    top: str, params: dict, dsp: bool, seed: int, cycles: int, inputs: dict, stimulus: Path | None, work: Path
) -> tuple[dict, str]:
    """Activity of a unit with its input and output registers, for each rule of pulses, and the hash of its netlist.
    `inputs`: those of power/units.json."""
    placed, ports = place_unit(top, params, dsp, seed, work)

    register = register_nets(placed, "in_q")
    if not register:
        raise FlowError(f"{top}: its input register was not found after placement; does the unit use its inputs?")
    words = stimulus_words(ports, inputs, cycles, seed, stimulus)
    drain = frozenset(register_nets(placed, "shift_q").values())
    counted = {pulses: simulate(placed, cycles, work, pulses, (register, words), drain) for pulses in PULSES}
    return counted, placed.sha256()


def register_nets(placed: Placed, name: str) -> dict[int, int]:
    """Bit -> net of a register of the wrapper. Bits that the unit does not use are gone."""
    bit = re.compile(re.escape(name) + r"(?:\[(\d+)\])?")
    found = [(bit.fullmatch(key), body["bits"]) for key, body in placed.names.items()]
    return dict(sorted((int(match[1] or 0), bits[0]) for match, bits in found if match))


def wrong_products(width: int, cycles: int, work: Path) -> int:
    """How many products the bench gets wrong of a placed multiplier of ours: a test of the bench."""
    params = {"AWidth": width, "BWidth": width, "ASigned": 1, "BSigned": 1, "Structure": 0}
    placed, ports = place_unit("ng_int_mult", params, False, 1, work)
    words = stimulus_words(ports, {}, cycles, 1, None)
    seen: list[int] = []
    watch = (list(register_nets(placed, "out_q").values()), seen)
    simulate(placed, cycles, work, PULSES[0], (register_nets(placed, "in_q"), words), frozenset(), watch)
    if len(seen) != cycles or len(watch[0]) != 2 * width:
        raise FlowError(f"the test of the activity bench saw {len(seen)} products of {len(watch[0])} bits")

    def signed(value: int) -> int:
        return (value & ((1 << width) - 1) ^ (1 << (width - 1))) - (1 << (width - 1))

    # The output register holds the product of the operands of the cycle before.
    expected = [signed(word) * signed(word >> width) % (1 << (2 * width)) for word in words[WARM_UP - 1 : -1]]
    return sum(a != b for a, b in zip(seen, expected, strict=True))


def stimulus_words(ports: list[dict], inputs: dict, cycles: int, seed: int, path: Path | None) -> list[int]:
    """Values of the input register: the ports of a stimulus file (.stim), or uniform bits and the constants of `inputs`.
    Enables of cuts that neither has are high."""
    total = cycles + WARM_UP
    enables = {port["name"]: 1 for port in ports if port["name"] in ngflow.CUT_ENABLES}
    if path:
        try:
            header, *lines = path.read_text().splitlines()
            names = [port["name"] for port in json.loads(header)["ports"]]
        except (OSError, ValueError, KeyError) as error:
            raise FlowError(f"{path.name} is not a stimulus file ({error}); ng_stimulus writes one") from None
        missing = [port["name"] for port in ports if port["name"] not in (*names, *enables)]
        if missing:
            raise FlowError(f"{path.name} has no port {missing[0]}; it has {', '.join(names)}")
        if len(lines) < total:
            raise FlowError(f"{path.name} has {len(lines)} cycles, {total} are needed ({WARM_UP} of them to warm up)")
        rows = [dict(zip(names, (int(field, 16) for field in line.split()), strict=True)) for line in lines[:total]]
    else:
        bits = random.Random(seed)
        rows = []
        for cycle in range(total):
            row = {port["name"]: bits.getrandbits(port["width"]) for port in ports if port["name"] not in enables}
            for name, rule in inputs.items():
                if "constant" in rule:
                    row[name] = rule["constant"]
                elif "every" in rule:
                    row[name] = int((cycle - rule.get("delay", 0)) % rule["every"] == 0)
            rows.append(row)
    words = []
    for row in rows:
        word, lsb = 0, 0
        for port in ports:
            word |= (enables | row)[port["name"]] << lsb
            lsb += port["width"]
        words.append(word)
    return words
