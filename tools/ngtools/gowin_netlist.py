# SPDX-License-Identifier: Apache-2.0
"""Verilog for a simulator of what nextpnr-himbaechel has placed and routed on a Gowin (`--write`): every cell as the device has it.

LUTs, carries, multiplexers and flip-flops become expressions; block RAM and LUT RAM are modules of synth/boards/gowin_models.v.
Sources: Gowin SUG283 for the primitives, Apicula's description of the ALU for the table of an ALU, and what nextpnr writes. An input that
nothing drives is 1; where the device has something else there, no bit of the tables depends on it, or repair() saw to that.
"""

from __future__ import annotations

import re

from ngtools import routed_netlist
from ngtools.ngflow import FlowError

# Tables of an ALU, bit 0 last: as a subtractor or adder, with a carry out of 0 and a sum that is the carry in, with a carry out of 1.
ALU_TABLES = {"2": 0b0110_0000_1001_1010, "C2L": 0x0000, "ONE2C": 0x000F}
CARRY_FROM_LOGIC, CARRY_IS_I0 = 0x505A, 0x000A
FLIP_FLOP = re.compile(r"DFF(?P<reset>[SRPC]?)(?P<enable>E?)")
RESETS = {"S": ("SET", 1, False), "R": ("RESET", 0, False), "P": ("PRESET", 1, True), "C": ("CLEAR", 0, True)}
IGNORED = {"GSR", "DUMMY_CELL"}


class Cell(routed_netlist.Cell):
    """A cell of the netlist: its inputs as expressions, its outputs as names of nets."""

    def expect(self, name: str, *known: int) -> int:
        value = int(self.parameters.get(name, "0"), 2)
        if value not in known:
            raise FlowError(f"{self.type} {self.name}: {name}={value}; expected one of {', '.join(map(str, known))}")
        return value

    def input(self, port: str, bit: int = 0) -> str:
        bits = self.connections.get(port) or []
        return f"n{bits[bit]}" if bit < len(bits) else "1'b1"

    def output(self, port: str, bit: int = 0) -> str | None:
        bits = self.connections.get(port) or []
        return f"n{bits[bit]}" if bit < len(bits) else None

    def scalars(self, port: str, high: int, low: int = 0) -> str:
        """A vector of the ports `port`<high> to `port`<low>."""
        return "{" + ", ".join(self.input(f"{port}{i}") for i in range(high, low - 1, -1)) + "}"

    def vector(self, port: str, width: int) -> str:
        return "{" + ", ".join(self.input(port, i) for i in reversed(range(width))) + "}"

    def starts_with_zeros(self) -> None:
        if any("1" in value for key, value in self.parameters.items() if key.startswith("INIT")):
            raise FlowError(f"{self.type} {self.name} does not begin with zeros; expected one that does")


def repair(routed: dict) -> int:
    """Gives an ALU that brings a signal into a carry chain the table of its input alone; how many there were.

    The table of nextpnr 0.11.1 gives the input or the carry of whatever chain lies below the cell.
    """
    (module,) = routed["modules"].values()
    found = 0
    for cell in module["cells"].values():
        parameters = cell["parameters"]
        if cell["type"] == "ALU" and parameters.get("CIN_NETTYPE", "").strip() == "LOGIC":
            if (table := int(parameters["RAW_ALU_LUT"], 2)) not in (CARRY_FROM_LOGIC, CARRY_IS_I0):
                raise FlowError(
                    f"an ALU that brings a signal into a carry chain has the table {table:#06x}; "
                    f"expected {CARRY_FROM_LOGIC:#06x} or {CARRY_IS_I0:#06x}, see ngtools.gowin_netlist"
                )
            parameters["RAW_ALU_LUT"] = f"{CARRY_IS_I0:032b}"
            found += 1
    return found


def lut(cell: Cell, fault: int | None) -> list[str]:
    inputs = int(cell.type.removeprefix("LUT"))
    index = ", ".join(cell.input(f"I{i}") for i in reversed(range(inputs)))
    init = int(cell.parameters["INIT"], 2)
    inverted = f" ^ (fault_i == {fault})" if fault else ""
    out = cell.output("F")
    return [f"assign {out} = 1'({1 << inputs}'h{init:x} >> {{{index}}}){inverted};"] if out else []


def alu(cell: Cell, number: int) -> list[str]:
    """The table's bit and the carry in make the sum; the carry out is the carry in, or where that bit is 0, the table's lower part."""
    if "RAW_ALU_LUT" in cell.parameters:
        table = int(cell.parameters["RAW_ALU_LUT"], 2) & 0xFFFF
    else:
        mode = cell.parameters["ALU_MODE"]
        mode = mode if mode in ALU_TABLES else str(int(mode, 2)) if set(mode) <= {"0", "1"} else mode
        if mode not in ALU_TABLES:
            raise FlowError(f"ALU {cell.name}: ALU_MODE={mode!r}; expected one of {', '.join(ALU_TABLES)}")
        table = ALU_TABLES[mode]
    low = f"{cell.input('I1')}, {cell.input('I0')}"
    lines = [f"wire t{number} = 1'(16'h{table:04x} >> {{{cell.input('I3')}, 1'b1, {low}}});"]
    if out := cell.output("SUM"):
        lines.append(f"assign {out} = t{number} ^ {cell.input('CIN')};")
    if out := cell.output("COUT"):
        lines.append(f"assign {out} = t{number} ? {cell.input('CIN')} : 1'(4'h{table & 15:x} >> {{{low}}});")
    return lines


def flip_flop(cell: Cell, reset: str, enable: str) -> list[str]:
    q = cell.output("Q")
    if q is None:
        return []
    port, value, asynchronous = RESETS.get(reset, ("", 0, False))
    edge = f" or posedge {cell.input(port)}" if asynchronous else ""
    first = f"if ({cell.input(port)}) {q} <= 1'b{value}; else " if port else ""
    held = f"if ({cell.input('CE')}) " if enable else ""
    clock = cell.input("CLK")
    return [f"initial {q} = 1'b{value};", f"always @(posedge {clock}{edge}) {first}{held}{q} <= {cell.input('D')};"]


def lut_ram(cell: Cell, number: int) -> list[str]:
    cell.starts_with_zeros()
    lines = [
        f"wire [3:0] q{number};",
        f"gowin_lut_ram r{number} (.clk({cell.input('CLK')}), .we({cell.input('WRE')}), .waddr({cell.vector('WAD', 4)}), "
        f".raddr({cell.vector('RAD', 4)}), .wdata({cell.vector('DI', 4)}), .rdata(q{number}));",
    ]
    return lines + [f"assign {out} = q{number}[{i}];" for i in range(4) if (out := cell.output("DO", i))]


def block_ram(cell: Cell, number: int, zeros: set[str], used: set[str]) -> list[str]:
    """SDP of 36 bits, or DP of 9 bits that is written on side A and read on side B; no register behind."""
    cell.starts_with_zeros()
    simple = cell.type == "SDP"
    width = 36 if simple else 9
    for side in "01":
        cell.expect(f"BIT_WIDTH_{side}", width)
        cell.expect(f"BLK_SEL_{side}", 0)
        cell.expect("READ_MODE" if simple else f"READ_MODE{side}", 0)
    idle = ["RESETA", "RESETB", *(f"BLKSEL{side}{i}" for side in "AB" for i in range(3)), *([] if simple else ["WREB"])]
    for port in idle:
        if cell.input(port) not in zeros:
            raise FlowError(f"{cell.type} {cell.name} has a signal at {port}; expected 0")
    if not simple and (read := [i for i in range(18) if cell.output(f"DOA{i}") in used]):
        raise FlowError(f"DP {cell.name} is read on side A, bit {read[0]}; expected side B only")
    low, data, out = (5, "DI", "DO") if simple else (3, "DIA", "DOB")
    ports = {
        "wclk": cell.input("CLKA"),
        "rclk": cell.input("CLKB"),
        "we": f"{cell.input('CEA')} & {cell.input('WREA')}",
        "re": cell.input("CEB"),
        "waddr": cell.scalars("ADA", 13, low),
        "raddr": cell.scalars("ADB", 13, low),
        "be": cell.scalars("ADA", 3) if simple else "1'b1",
        "wdata": cell.scalars(data, width - 1),
    }
    connected = ", ".join(f".{port}({value})" for port, value in ports.items())
    lines = [f"wire [{width - 1}:0] q{number};"]
    lines.append(f"gowin_block_ram #(.Width({width})) b{number} ({connected}, .rdata(q{number}));")
    return lines + [f"assign {net} = q{number}[{i}];" for i in range(width) if (net := cell.output(f"{out}{i}"))]


def verilog(routed: dict, faults: int, seed: int, among: str = "") -> str:
    """The design as module `chip`; its port fault_i inverts the fault_i-th of the LUTs that the seed draws.

    among: what the names of the drawn ones begin with.
    """
    (module,) = routed["modules"].values()
    cells = [Cell(name, cell) for name, cell in sorted(module["cells"].items())]
    pins = routed_netlist.pins(module)
    luts = [c.name for c in cells if c.type.startswith("LUT") and c.output("F")]
    drawn = routed_netlist.drawn(luts, faults, seed, among)
    outputs = {
        (name, port)
        for name, cell in module["cells"].items()
        for port, way in cell["port_directions"].items()
        if way == "output"
    }
    used = {
        f"n{bit}"
        for name, cell in module["cells"].items()
        for port, bits in cell["connections"].items()
        if (name, port) not in outputs
        for bit in bits
    }
    zeros = {cell.input("G") for cell in cells if cell.type == "GOWIN_GND"} | {"1'b0"}
    lines: list[str] = []
    registers = set()
    for number, cell in enumerate(cells):
        if match := FLIP_FLOP.fullmatch(cell.type):
            lines += flip_flop(cell, match["reset"], match["enable"])
            registers.add(cell.output("Q"))
        elif re.fullmatch(r"LUT[1-4]", cell.type):
            lines += lut(cell, drawn.get(cell.name))
        elif re.fullmatch(r"MUX2_LUT[5-8]", cell.type):
            lines.append(f"assign {cell.output('O')} = {cell.input('S0')} ? {cell.input('I1')} : {cell.input('I0')};")
        elif cell.type == "ALU":
            lines += alu(cell, number)
        elif cell.type == "RAM16SDP4":
            lines += lut_ram(cell, number)
        elif cell.type in ("SDP", "DP"):
            lines += block_ram(cell, number, zeros, used)
        elif cell.type == "IBUF":
            lines.append(f"assign {cell.output('O')} = {pins[cell.connections['I'][0]]};")
        elif cell.type == "OBUF":
            lines.append(f"assign {pins[cell.connections['O'][0]]} = {cell.input('I')};")
        elif cell.type == "BUFG":
            lines += [f"assign {out} = {cell.input('I')};"] if (out := cell.output("O")) else []
        elif cell.type == "GOWIN_GND":
            lines.append(f"assign {cell.output('G')} = 1'b0;")
        elif cell.type == "GOWIN_VCC":
            lines.append(f"assign {cell.output('V')} = 1'b1;")
        elif cell.type not in IGNORED:
            raise FlowError(f"cell {cell.name} is a {cell.type}; expected one that is simulated (docs/boards.md)")
    return routed_netlist.chip(module, registers, lines)
