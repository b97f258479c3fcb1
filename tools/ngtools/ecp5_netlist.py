# SPDX-License-Identifier: Apache-2.0
"""Verilog for a simulator of what nextpnr-ecp5 has placed and routed (`--write`): every cell as the device has it.

LUTs, carries and flip-flops become expressions; block RAM, LUT RAM and multipliers are modules of synth/boards/ecp5_models.v.
Sources: Lattice TN-02203 and TN-02204 for memories and multipliers, the cells of Yosys' synth_ecp5, and what nextpnr-ecp5 writes
into its bitstream. An input that nothing drives is 1, as on the device; `<port>MUX` ties or inverts it.
"""

from __future__ import annotations

from ngtools import routed_netlist
from ngtools.ngflow import FlowError

TIED = {"0": "1'b0", "1": "1'b1"}


class Cell(routed_netlist.Cell):
    """A cell of the netlist: its inputs as expressions, its outputs as names of nets."""

    def parameter(self, name: str, default: str, *known: str) -> str:
        value = self.parameters.get(name, default)
        if known and value not in known:
            raise FlowError(f"{self.type} {self.name}: {name}={value!r}; expected one of {', '.join(known)}")
        return value

    def input(self, port: str) -> str:
        bits = self.connections.get(port) or ["1"]
        net = TIED[bits[0]] if bits[0] in TIED else f"n{bits[0]}"
        mux = self.parameter(f"{port}MUX", port, port, "0", "1", "INV")
        return TIED.get(mux, f"!{net}" if mux == "INV" else net)

    def output(self, port: str) -> str | None:
        bits = self.connections.get(port)
        return f"n{bits[0]}" if bits else None

    def inputs(self, port: str, count: int) -> str:
        """A vector, bit 0 in `port`0."""
        return "{" + ", ".join(self.input(f"{port}{i}") for i in reversed(range(count))) + "}"

    def outputs(self, port: str, count: int) -> str:
        return "{" + ", ".join(self.output(f"{port}{i}") or "" for i in reversed(range(count))).strip() + "}"


def lookup(init: str, *inputs: str) -> str:
    """Bit of a table, the first input highest."""
    return f"1'({len(init)}'b{init} >> {{{', '.join(inputs)}}})"


def comb(cell: Cell, number: int, fault: int | None) -> list[str]:
    """TRELLIS_COMB: a LUT4 with the multiplexers behind it, half a carry, or a bit of LUT RAM."""
    mode = cell.parameter("MODE", "LOGIC", "LOGIC", "CCU2", "DPRAM", "RAMW_BLOCK")
    init = cell.parameter("INITVAL", "0" * 16)
    a, b, c, d = (cell.input(port) for port in "ABCD")
    f, lines = f"f{number}", [f"wire f{number};"]
    inverted = f" ^ (fault_i == {fault})" if fault else ""
    if mode == "RAMW_BLOCK":
        return []
    if mode == "DPRAM":
        if "1" in init:
            raise FlowError(f"LUT RAM {cell.name} does not begin with zeros; expected one that does")
        write = ", ".join(cell.input(f"WAD{i}") for i in (3, 2, 1, 0))
        lines.append(
            f"trellis_ram r{number} (.clk({cell.input('WCK')}), .we({cell.input('WRE')}), .waddr({{{write}}}), "
            f".wdata({cell.input('WD')}), .raddr({{{a}, {c}, {b}, {d}}}), .rdata({f}));"
        )
    elif mode == "CCU2":
        # Of a sum, F is the table's bit and the carry in; the carry out is that, or where the table says 0, its lower half's.
        inject = cell.parameter("CCU2_INJECT1", "NO", "YES", "NO") == "YES"
        carry = cell.input("FCI")
        lines.append(f"wire t{number} = {lookup(init, d, c, b, a)}{inverted};")
        lines.append(f"assign {f} = t{number}" + ("" if inject else f" ^ {carry}") + ";")
        if out := cell.output("FCO"):
            below = "1'b0" if inject else lookup(init[12:], b, a)
            lines.append(f"assign {out} = t{number} ? {carry} : {below};")
    else:
        lines.append(f"assign {f} = {lookup(init, d, c, b, a)}{inverted};")
    if out := cell.output("F"):
        lines.append(f"assign {out} = {f};")
    if out := cell.output("OFX"):
        one, zero = ("FXB", "FXA") if cell.connections.get("FXB") else ("F1", None)
        lines.append(f"assign {out} = {cell.input('M')} ? {cell.input(one)} : {cell.input(zero) if zero else f};")
    return lines


def flip_flop(cell: Cell) -> list[str]:
    q = cell.output("Q")
    if q is None:
        return []
    value = "1'b1" if cell.parameter("REGSET", "RESET", "SET", "RESET") == "SET" else "1'b0"
    cell.parameter("GSR", "DISABLED", "DISABLED")
    cell.parameter("CLKMUX", "CLK", "CLK")
    mode = cell.parameter("SRMODE", "LSR_OVER_CE", "LSR_OVER_CE", "ASYNC")
    data = cell.input("DI" if cell.parameter("SD", "0", "0", "1") == "1" else "M")
    enable = f"if ({cell.input('CE')}) " if cell.connections.get("CE") else ""
    reset = cell.input("LSR") if cell.connections.get("LSR") else None
    edge = f" or posedge {reset}" if reset and mode == "ASYNC" else ""
    first = f"if ({reset}) {q} <= {value}; else " if reset else ""
    return [f"initial {q} = {value};", f"always @(posedge {cell.input('CLK')}{edge}) {first}{enable}{q} <= {data};"]


def block_ram(cell: Cell, number: int) -> list[str]:
    """DP16KD that is written on side A and read on side B, 9 or 18 bits on both, or 36, the upper half on the other side's pins."""
    for key, value in cell.parameters.items():
        if key.startswith("INITVAL") and "1" in value:
            raise FlowError(f"block RAM {cell.name} does not begin with zeros; expected one that does")
    for side in "AB":
        cell.parameter(f"REGMODE_{side}", "NOREG", "NOREG")
    widths = {int(cell.parameter(f"DATA_WIDTH_{side}", "10010"), 2) for side in "AB"}
    if widths not in ({9}, {18}, {36}):
        raise FlowError(
            f"block RAM {cell.name} has widths of {sorted(widths)} bits; expected 9 on both sides, 18 or 36"
        )
    if cell.input("WEB") != "!1'b1":
        raise FlowError(f"block RAM {cell.name} is written on side B; expected side A only")
    width = widths.pop()
    low = {9: 3, 18: 4, 36: 5}[width]
    ports = {
        "wclk": cell.input("CLKA"),
        "rclk": cell.input("CLKB"),
        "we": f"{cell.input('CEA')} & {cell.input('WEA')}",
        "re": cell.input("CEB"),
        "waddr": "{" + ", ".join(cell.input(f"ADA{i}") for i in range(13, low - 1, -1)) + "}",
        "raddr": "{" + ", ".join(cell.input(f"ADB{i}") for i in range(13, low - 1, -1)) + "}",
        "be": cell.inputs("ADA", width // 9) if width > 9 else "1'b1",
        "wdata": f"{{{cell.inputs('DIB', 18)}, {cell.inputs('DIA', 18)}}}"
        if width == 36
        else cell.inputs("DIA", width),
    }
    out = f"q{number}"
    lines = [f"wire [{width - 1}:0] {out};"]
    lines.append(
        f"trellis_block_ram #(.Width({width})) b{number} ("
        + ", ".join(f".{port}({value})" for port, value in ports.items())
        + f", .rdata({out}));"
    )
    for i in range(width):
        port = f"DO{'AB'[i >= 18] if width == 36 else 'B'}{i % 18}"
        if net := cell.output(port):
            lines.append(f"assign {net} = {out}[{i}];")
    return lines


def multiplier(cell: Cell, number: int) -> list[str]:
    for key, value in cell.parameters.items():
        if key.startswith("REG_") and key.endswith("_CLK") and value != "NONE":
            raise FlowError(f"multiplier {cell.name} has registers, {key}={value}; expected none")
    p = f"p{number}"
    lines = [f"wire [35:0] {p};"]
    lines.append(
        f"trellis_multiplier m{number} (.a({cell.inputs('A', 18)}), .b({cell.inputs('B', 18)}), "
        f".signed_a({cell.input('SIGNEDA')}), .signed_b({cell.input('SIGNEDB')}), .p({p}));"
    )
    return lines + [f"assign {net} = {p}[{i}];" for i in range(36) if (net := cell.output(f"P{i}"))]


def ramw(cell: Cell) -> list[str]:
    """TRELLIS_RAMW, which only hands address and data of a write on."""
    ways = {"WADO0": "D0", "WADO1": "B0", "WADO2": "C0", "WADO3": "A0"}
    ways |= {"WDO0": "C1", "WDO1": "A1", "WDO2": "D1", "WDO3": "B1"}
    return [f"assign {net} = {cell.input(port)};" for out, port in ways.items() if (net := cell.output(out))]


def verilog(routed: dict, faults: int, seed: int, among: str = "") -> str:
    """The design as module `chip`; its port fault_i inverts the fault_i-th of the LUTs that the seed draws.

    among: what the names of the drawn ones begin with.
    """
    (module,) = routed["modules"].values()
    cells = [Cell(name, cell) for name, cell in sorted(module["cells"].items())]
    pins = routed_netlist.pins(module)
    luts = [
        cell.name
        for cell in cells
        if cell.type == "TRELLIS_COMB" and cell.parameters.get("MODE", "LOGIC") == "LOGIC" and cell.output("F")
    ]
    drawn = routed_netlist.drawn(luts, faults, seed, among)
    lines: list[str] = []
    for number, cell in enumerate(cells):
        match cell.type:
            case "TRELLIS_COMB":
                lines += comb(cell, number, drawn.get(cell.name))
            case "TRELLIS_FF":
                lines += flip_flop(cell)
            case "TRELLIS_RAMW":
                lines += ramw(cell)
            case "DP16KD":
                lines += block_ram(cell, number)
            case "MULT18X18D":
                lines += multiplier(cell, number)
            case "DCCA":
                lines.append(f"assign {cell.output('CLKO')} = {cell.input('CLKI')};")
            case "EHXPLLL":
                lines.append(
                    f"trellis_pll u{number} (.in({cell.input('CLKI')}), .out({cell.output('CLKOP')}), .lock({cell.output('LOCK')}));"
                )
            case "TRELLIS_IO":
                pin = pins[cell.connections["B"][0]]
                if cell.parameter("DIR", "INPUT", "INPUT", "OUTPUT") == "INPUT":
                    lines.append(f"assign {cell.output('O')} = {pin};")
                else:
                    lines.append(f"assign {pin} = {cell.input('I')};")
            case _:
                raise FlowError(f"cell {cell.name} is a {cell.type}; expected one that is simulated (docs/boards.md)")
    registers = {cell.output("Q") for cell in cells if cell.type == "TRELLIS_FF"}
    return routed_netlist.chip(module, registers, lines)
