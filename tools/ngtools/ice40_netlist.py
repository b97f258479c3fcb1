# SPDX-License-Identifier: Apache-2.0
"""Verilog for a simulator of the bitstream of an iCE40: what icestorm reads back, with the DSPs that it leaves out.

Debian's fpga-icestorm unpacks the bits (`iceunpack`), names what lies at each place of the device (`icebox_vlog`, whose comments
say which net that is), and knows the DSPs' places and configuration bits (its Python module `icebox`). The DSP's model is Yosys'.
"""

from __future__ import annotations

import importlib.util
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ngtools.ngflow import FlowError

LUT = re.compile(r"^(assign \w+\s*= /\* LUT [ \d]*\*/ )(?!1.b[01];$)(.*);$", re.MULTILINE)


def command(words: list[str]) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise FlowError(f"{words[0]} was not found; expected Debian's fpga-icestorm") from None
    if done.returncode:
        raise FlowError(f"{words[0]} failed: {done.stderr.strip()}; expected that of Debian's fpga-icestorm")
    return done.stdout


def verilog(image: Path, pins: Path, faults: int, seed: int) -> str:
    """The bitstream as module `chip`; its port fault_i inverts the fault_i-th of the LUTs that the seed draws."""
    with tempfile.TemporaryDirectory() as scratch:
        unpacked = Path(scratch) / "back.asc"
        unpacked.write_text(command(["iceunpack", str(image)]))
        commented = command(["icebox_vlog", "-p", str(pins), str(unpacked)])
        text = re.sub("^//.*\n", "", commented, flags=re.MULTILINE)
        found = len(LUT.findall(text))
        if found < 1000:
            raise FlowError(f"the bitstream was read back with {found} LUTs; expected thousands")
        added = dsps(unpacked, places(commented))
    text = with_pll_pin(with_faults(declared_once(text), faults, seed))
    if not added:
        return text
    end = text.rindex("endmodule")
    return text[:end] + "\n".join(added) + "\n" + text[end:] + dsp_model()


# ---------------------------------------------------------------- DSPs

Place = tuple[int, int, str]  # column, row, name


def places(commented: str) -> dict[Place, str]:
    """The net at each place, by the comments behind its declaration."""
    net, found = "", {}
    for line in commented.splitlines():
        if match := re.match(r"(?:wire|reg) (n\d+)(?: = [01])?;$", line):
            net = match[1]
        elif match := re.match(r"// \((\d+), (\d+), '([^']+)'\)$", line):
            found[int(match[1]), int(match[2]), match[3]] = net
        elif line and not line.startswith("//"):
            net = ""
    return found


def dsps(unpacked: Path, nets: dict[Place, str]) -> list[str]:
    """Instances of SB_MAC16, one for each DSP of which an output is in use."""
    icebox = icestorm()
    config = icebox.iceconfig()
    config.read_file(str(unpacked))
    lines = []
    for x, y in sorted(config.dsp_tiles[0]):
        ports = {port: nets.get(place, "") for port, place in config.get_dsp_nets_db(x, y).items()}
        if any(net for port, net in ports.items() if port.startswith("O_")):
            bits = {name: bit(icebox, config, *place) for name, place in config.get_dsp_config_db(x, y).items()}
            lines.append(dsp(f"dsp_{x}_{y}", bits, ports))
    return lines


def dsp(name: str, bits: dict[str, int], ports: dict[str, str]) -> str:
    """An instance. bits: `A_REG`, `TOPOUTPUT_SELECT_1` and so on; ports: nets of `CLK`, `A_15` and so on, "" where none is."""

    def words(of: dict[str, str]) -> dict[str, dict[int, str]]:
        """By name without index, for names that have one."""
        found: dict[str, dict[int, str]] = {}
        for key, value in of.items():
            base, _, index = key.rpartition("_")
            if index.isdigit():
                found.setdefault(base, {})[int(index)] = value
            else:
                found[key] = {0: value}
        return found

    def vector(bits_of: dict[int, str], missing: str) -> str:
        return "{" + ", ".join(bits_of[i] or missing for i in sorted(bits_of, reverse=True)) + "}"

    settings = {
        key: f"{len(value)}'b" + "".join(value[i] for i in sorted(value, reverse=True))
        for key, value in words({key: str(value) for key, value in bits.items()}).items()
    }
    outputs = {"O", "CO"}
    wires = {key: vector(value, "1'b1" if key == "CE" else "1'b0") for key, value in words(ports).items()}
    # Nets that nothing else reads have no name.
    for key in outputs & wires.keys():
        wires[key] = vector({i: net or f"{name}_{key}_{i}" for i, net in words(ports)[key].items()}, "")
    unread = [f"{name}_{key}_{i}" for key in outputs for i, net in words(ports).get(key, {}).items() if not net]
    declared = f"wire {', '.join(unread)};\n" if unread else ""
    return (
        f"{declared}SB_MAC16 #("
        + ", ".join(f".{key}({value})" for key, value in settings.items())
        + f") {name} ("
        + ", ".join(f".{key}({value})" for key, value in wires.items())
        + ", .ACCUMCI(1'b0), .SIGNEXTIN(1'b0));"
    )


def bit(icebox, config, x: int, y: int, name: str) -> int:
    """A configuration bit of a tile."""
    tile = icebox.tileconfig(config.tile(x, y))
    for entry in config.tile_db(x, y):
        if entry[1:3] == ["IpConfig", name]:
            return int(tile.match(entry[0]))
    raise FlowError(f"icebox knows no bit {name} of tile {x}, {y}; expected that of Debian's fpga-icestorm")


def icestorm():
    """The Python module icebox, which lies beside the program icebox_vlog."""
    program = shutil.which("icebox_vlog")
    if program is None:
        raise FlowError("icebox_vlog was not found; expected Debian's fpga-icestorm")
    module = None
    for name in ("iceboxdb", "icebox"):  # the second imports the first
        spec = importlib.util.spec_from_file_location(name, Path(program).resolve().parent / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return module


def dsp_model() -> str:
    """SB_MAC16 as Yosys has it, from the files that are installed beside the program."""
    program = Path(shutil.which("yosys") or "/bin/yosys").resolve()
    cells = program.parents[1] / "share" / "yosys" / "ice40" / "cells_sim.v"
    text = cells.read_text() if cells.is_file() else ""
    found = re.search(r"^module SB_MAC16 .*?^endmodule$", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise FlowError(f"Yosys' model of SB_MAC16 was not found in {cells}; expected the file of Debian's yosys")
    return "\n" + found[0] + "\n"


def registered(module: dict) -> int:
    """Moves an operand's register into a multiplier of a mapped netlist whose other operand's is there; into how many.

    Lattice's tools make multipliers with both operands in registers or none; Yosys also one of them, where constants stand
    beside the other. FlowError where what drives that one is no register of the same clock, which holds when the other does.
    """
    cells = module["cells"].values()
    driven = {cell["connections"]["Q"][0]: cell for cell in cells if cell["type"].startswith("SB_DFF")}
    inverted = dict(filter(None, (inverter(cell) for cell in cells if cell["type"] == "SB_LUT4")))
    found = 0
    for name, cell in sorted(module["cells"].items()):
        if cell["type"] != "SB_MAC16":
            continue
        ports, modes = cell["connections"], cell["parameters"]
        a, b = (int(str(modes.get(key, "0")), 2) for key in ("A_REG", "B_REG"))
        if a == b:
            continue
        done, port = ("A", "B") if a else ("B", "A")
        (hold,) = ports[f"{done}HOLD"]
        for i, net in enumerate(ports[port]):
            if net == "0":
                continue
            flop = driven.get(net, {"type": "nothing", "connections": {}})
            at = flop["connections"]
            if flop["type"] != "SB_DFFE" or at["C"] != ports["CLK"] or inverted.get(at["E"][0]) != hold:
                raise FlowError(
                    f"{name} has one operand in a register, and bit {i} of {port} comes from {flop['type']}; "
                    f"expected an SB_DFFE of the same clock, with the inverse of {done}HOLD as its enable, or a zero"
                )
            ports[port][i] = at["D"][0]
        ports[f"{port}HOLD"] = [hold]
        modes[f"{port}_REG"] = "1"
        found += 1
    return found


def inverter(cell: dict) -> tuple[int, int] | None:
    """Nets of output and input, where the LUT inverts its only input that is no constant."""
    nets = [cell["connections"][f"I{i}"][0] for i in range(4)]
    inputs = [i for i, net in enumerate(nets) if not isinstance(net, str)]
    if len(inputs) != 1:
        return None
    low = sum(1 << i for i, net in enumerate(nets) if net == "1")
    table = int(cell["parameters"]["LUT_INIT"], 2)
    inverts = table >> low & 1 and not table >> (low | 1 << inputs[0]) & 1
    return (cell["connections"]["O"][0], nets[inputs[0]]) if inverts else None


# ---------------------------------------------------------------- text


def with_pll_pin(text: str) -> str:
    """With the input of an SB_PLL40_PAD, which icebox_vlog loses: the chip's one input that nothing reads."""
    if "SB_PLL40_PAD #(" not in text:
        return text
    head = re.search(r"^module chip \((.*)\);$", text, re.MULTILINE)
    inputs = [port.split()[-1] for port in head[1].split(",") if port.split()[0] == "input" and "fault_i" not in port]
    unread = [name for name in inputs if len(re.findall(rf"(?<![\w\\]){re.escape(name)}(?!\w)", text)) == 1]
    if len(unread) != 1:
        raise FlowError(f"inputs that nothing reads are {unread}; expected one, the PLL's")
    return re.sub(r"\.PACKAGEPIN\(\w*\)", f".PACKAGEPIN({unread[0]})", text, count=1)


def with_faults(text: str, faults: int, seed: int) -> str:
    """What icebox_vlog wrote, with a port fault_i that inverts one of the LUTs drawn; 0 inverts none."""
    places = [match.start() for match in LUT.finditer(text)]
    drawn = {place: k + 1 for k, place in enumerate(random.Random(seed).sample(places, faults))}

    def inverted(match: re.Match) -> str:
        number = drawn.get(match.start())
        return match[0] if number is None else f"{match[1]}({match[2]}) ^ (fault_i == {number});"

    return LUT.sub(inverted, text).replace("module chip (", "module chip (input [7:0] fault_i, ", 1)


def declared_once(text: str) -> str:
    """What icebox_vlog wrote, without the second declarations of ports, as wires or registers, that simulators refuse."""
    head = re.search(r"^module chip \((.*)\);$", text, re.MULTILINE)
    if head is None:
        raise FlowError("icebox_vlog wrote no module chip; expected that of Debian's fpga-icestorm")
    ports = {port.split()[1] for port in head[1].split(",")}
    registers: set[str] = set()

    def only_once(match: re.Match) -> str:
        items = {item.split("=")[0].strip(): item.strip() for item in match[2].split(",")}
        if match[1] == "reg":
            registers.update(ports & items.keys())
        left = [item for name, item in items.items() if name not in ports]
        return f"{match[1]} {' , '.join(left)};" if left else ""

    text = re.sub(r"^(wire|reg) (.*);$", only_once, text, flags=re.MULTILINE)
    for name in registers:
        text = re.sub(rf"output {re.escape(name)}(?=[ ,)])", lambda match: f"output reg {match[0][7:]}", text, count=1)
    return text
