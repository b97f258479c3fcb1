# SPDX-License-Identifier: Apache-2.0
"""The module with the registers: SystemVerilog, in the subset that Yosys 0.23 reads."""

from __future__ import annotations

import re
from typing import Any

from systemrdl import AddrmapNode
from systemrdl.rdltypes import AccessType

from ngtools.registers.source import MARK, WORD, Field, Reg, SourceError

INT_MAX = 2**31 - 1
COLUMNS = 100
BREAKS = ((", ", 1), (" & ", 0), (" | ", 0), (" <= ", 3))
AXI4_LITE = (  # name, or name:width
    ("input", "awvalid awaddr:address wvalid wdata:32 wstrb:4 bready arvalid araddr:address rready"),
    ("output", "awready wready bvalid bresp:2 arready rvalid rdata:32 rresp:2"),
)


def vector(width: int) -> str:
    return f"[{width - 1}:0]" if width > 1 else ""


def part(name: str, high: int, low: int, whole: int) -> str:
    if whole == high - low + 1:
        return name
    return f"{name}[{high}:{low}]" if high > low else f"{name}[{low}]"


def fold(line: str) -> list[str]:
    """A line of code in lines of at most 100 columns, broken behind a comma or before an operator."""
    deeper = " " * (len(line) - len(line.lstrip()) + 4)
    out = []
    while len(line) > COLUMNS:
        at = max(line.rfind(mark, len(deeper), COLUMNS) + shift for mark, shift in BREAKS)
        if at < len(deeper):
            break  # one word
        out.append(line[:at].rstrip())
        line = deeper + line[at:].lstrip()
    return [*out, line]


def switch(parameter: Any) -> bool:
    """Whether the parameter is one bit, whose values need no check."""
    return (parameter.least, parameter.most) == (0, 1)


def ports(regs: list[Reg]) -> dict[tuple[str, str], list[Field]]:
    """(direction, port) -> the fields on it, first one lowest."""
    table: dict[tuple[str, str], list[Field]] = {}
    for f in (f for reg in regs for f in reg.fields):
        if f.kind in ("status", "event"):
            table.setdefault(("input", f.port), []).append(f)
        elif f.kind in ("pulse", "argument") or (f.kind == "storage" and f.node.get_property("hw") == AccessType.r):
            table.setdefault(("output", f.port), []).append(f)
    return table


def signal_map(regs: list[Reg]) -> dict[int, str]:
    """id of an input field -> its part of the port."""
    result = {}
    for (direction, port), fields in ports(regs).items():
        if direction == "input":
            low, whole = 0, sum(f.width for f in fields)
            for f in fields:
                result[id(f)] = (f"{port}_i", low, whole)
                low += f.width
    return result


def read_word(reg: Reg, word: int, inputs: dict) -> str:
    """What the bus reads, as a concatenation from bit 31 down."""
    if word == 1:
        return f"{reg.name.lower()}_high_q"
    pieces, top = [], WORD
    for f in reversed([f for f in reg.fields if f.kind not in ("argument", "pulse")]):
        low, width = f.low, min(f.width, WORD - f.low)
        if top > low + width:
            pieces.append(f"{top - low - width}'d0")
        value = f.node.get_property("ng_value", default=None)
        if value is not None:
            pieces.append(f"{width}'({value})")
        elif f.kind == "constant":
            pieces.append(f"{width}'h{f.reset:X}")
        elif f.kind == "status":
            name, start, whole = inputs[id(f)]
            pieces.append(part(name, start + width - 1, start, whole))
        else:
            pieces.append(f.flop)
        top = low
    if top:
        pieces.append(f"{top}'d0")
    return pieces[0] if len(pieces) == 1 else "{" + ", ".join(pieces) + "}"


class Writer:
    """The parts of the module, from top to bottom; each is lines."""

    def __init__(self, top: AddrmapNode, regs: list[Reg]) -> None:
        self.top, self.regs = top, regs
        self.module = f"{top.inst_name}_regs"
        self.address = top.get_property("ng_address_width")
        self.parameters = top.get_property("ng_parameters")
        self.inputs, self.table = signal_map(regs), ports(regs)
        self.stored = [f for reg in regs for f in reg.fields if f.kind in ("storage", "event", "signature")]
        self.pulses = [f for reg in regs for f in reg.fields if f.kind == "pulse"]
        self.commands = [reg for reg in regs if reg.command]
        self.wide = [reg for reg in regs if reg.words == 2]

    def select(self, offset: int) -> str:
        """A word's address, without the byte's bits."""
        index = self.address - 2
        return f"{index}'h{offset // 4:0{(index + 3) // 4}X}"

    def written(self, reg: Reg) -> str:
        """The cycle in which a write takes effect."""
        exists = f" & ({reg.exists_if})" if reg.exists_if else ""
        return f"write & (awaddr_q == {self.select(reg.offset)}){exists}" + (
            " & ~write_error" if reg.whole_word else ""
        )

    def heading(self) -> list[str]:
        return [
            "// SPDX-License-Identifier: Apache-2.0",
            f"// {MARK}",
            "//",
            f"// Registers of {self.top.inst_name} on AXI4-Lite; the map is in docs/registers.md, the bus and the ports",
            f"// in docs/units/{'_'.join(self.module.split('_')[1:])}.md.",
            "//",
            "// One write and one read at a time, independent of each other. Handshake: every output is a",
            "// register (the readies through one inverter), so no combinational path leads from valid to",
            "// ready or from ready to valid. A write takes effect in the cycle after its address and its data",
            "// have both arrived, and is answered in the next. A read is answered two cycles after its",
            "// address has arrived. Address bits 1:0 are not looked at (AXI: the strobes name the bytes).",
            "//",
            "// Width argument: no arithmetic; every field is as wide as its port.",
            f"module {self.module} #(",
        ]

    def parameter_list(self) -> list[str]:
        out = []
        rows = [
            ("bit", f"{p.name} = 1'b{p.value}") if switch(p) else ("int", f"{p.name} = {p.value}")
            for p in self.parameters
        ]
        longest = max(len(text) for _, text in rows)
        for i, ((kind, text), p) in enumerate(zip(rows, self.parameters, strict=True)):
            text += "," if i + 1 < len(rows) else ""
            out.append(f"  parameter {kind} {text:<{longest + 1}}  // {p.about}")
        return out

    def port_rows(self) -> list[tuple[str, str, str] | str]:
        """Direction, range and name of each port, and comments."""
        rows: list[tuple[str, str, str] | str] = [("input", "", "clk_i"), ("input", "", "rst_ni"), "AXI4-Lite slave."]
        for direction, names in AXI4_LITE:
            for item in names.split():
                name, _, width = item.partition(":")
                bits = {"": 1, "address": self.address}.get(width) or int(width)
                rows.append((direction, vector(bits), f"s_axil_{name}_{direction[0]}"))
        seen: set[str] = set()
        for reg in self.regs:
            names = [(d, p) for (d, p), fields in self.table.items() if fields[0].reg is reg]
            if names or reg.interrupt:
                last = self.table[names[-1]][-1].reg if names else reg
                rows.append(f"{reg.name}." if last is reg else f"{reg.name} to {last.name}.")
            if reg.command:
                rows.append(("output", "", f"{reg.name.lower()}_valid_o"))
            for direction, port in names:
                if port in seen:
                    raise SourceError(f"port {port} is both an input and an output")
                seen.add(port)
                width = sum(f.width for f in self.table[direction, port])
                rows.append((direction, vector(width), port + ("_i" if direction == "input" else "_o")))
            if reg.interrupt:
                rows.append(("output", "", f"{reg.interrupt}_o"))
        return rows

    def port_list(self) -> list[str]:
        rows, out = self.port_rows(), []
        wide_range = max(len(r[1]) for r in rows if not isinstance(r, str))
        for i, r in enumerate(rows):
            comma = "," if i + 1 < len(rows) else ""
            out.append(f"  // {r}" if isinstance(r, str) else f"  {r[0]:<6} logic {r[1]:<{wide_range}} {r[2]}{comma}")
        return out

    def checks(self) -> list[str]:
        out = ["`ifndef __ICARUS__ // Icarus has no elaboration tasks"]
        for p in (p for p in self.parameters if not switch(p)):
            tests = [f"{p.name} < {p.least}"] + ([f"{p.name} > {p.most}"] if p.most < INT_MAX else [])
            tests += [f"{p.name} % {p.multiple_of} != 0"] if p.multiple_of > 1 else []
            most = f"{'to' if p.most > p.least + 1 else 'or'} {p.most}" if p.most < INT_MAX else "or more"
            expected = f"{p.least} {most}"
            expected += f", a multiple of {p.multiple_of}" if p.multiple_of > 1 else ""
            block = "gen_check_" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", p.name).lower()
            fatal = f'$fatal(1, "{self.module}: {p.name}=%0d; expected {expected}", {p.name});'
            out += [f"  if ({' || '.join(tests)}) begin : {block}", f"    {fatal}", "  end"]
        return [*out, "`endif"]

    def write_channel(self) -> list[str]:
        out = f"""\
  localparam logic [1:0] Okay = 2'b00;
  localparam logic [1:0] SlvErr = 2'b10;

  logic unused_address;
  assign unused_address = ^{{s_axil_awaddr_i[1:0], s_axil_araddr_i[1:0]}};

  // Write: address and data are held until the response has been taken.
  logic        aw_held_q, w_held_q, write, write_error;
  logic [{self.address - 3}:0]  awaddr_q;
  logic [31:0] wdata_q, wmask;
  logic [3:0]  wstrb_q;
  assign s_axil_awready_o = ~aw_held_q;
  assign s_axil_wready_o = ~w_held_q;
  assign write = aw_held_q & w_held_q & ~s_axil_bvalid_o;
  assign wmask = {{{{8{{wstrb_q[3]}}}}, {{8{{wstrb_q[2]}}}}, {{8{{wstrb_q[1]}}}}, {{8{{wstrb_q[0]}}}}}};

  always_comb begin
    unique case (awaddr_q)
""".rstrip().split("\n")
        groups: dict[str, list[Reg]] = {}
        for reg in sorted((reg for reg in self.regs if reg.writable), key=lambda reg: reg.whole_word):
            wrong = "wstrb_q != 4'hF" if reg.whole_word else "1'b0"
            if not reg.exists_if:
                groups.setdefault(wrong, []).append(reg)
        for value, group in groups.items():
            out.append("      " + ", ".join(self.select(reg.offset) for reg in group) + f": write_error = {value};")
        optional = ""
        for reg in (reg for reg in self.regs if reg.writable and reg.exists_if):
            wrong = "wstrb_q != 4'hF" if reg.whole_word else "1'b0"
            optional += f"    if (({reg.exists_if}) && awaddr_q == {self.select(reg.offset)}) write_error = {wrong};  // {reg.name}\n"
        out += f"""\
      default: write_error = 1'b1;
    endcase
{optional}  end

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      aw_held_q       <= 1'b0;
      w_held_q        <= 1'b0;
      s_axil_bvalid_o <= 1'b0;
    end else begin
      aw_held_q       <= aw_held_q ? ~(s_axil_bvalid_o & s_axil_bready_i) : s_axil_awvalid_i;
      w_held_q        <= w_held_q ? ~(s_axil_bvalid_o & s_axil_bready_i) : s_axil_wvalid_i;
      s_axil_bvalid_o <= write | (s_axil_bvalid_o & ~s_axil_bready_i);
    end
  end

  // ng-no-fault: no register has one of the address's upper four bits, so they only matter
  //   together, which the prover does not show in time
  always_ff @(posedge clk_i) begin
    if (~aw_held_q & s_axil_awvalid_i) awaddr_q <= s_axil_awaddr_i[{self.address - 1}:2];
    if (~w_held_q & s_axil_wvalid_i) begin
      wdata_q <= s_axil_wdata_i;
      wstrb_q <= s_axil_wstrb_i;
    end
    if (write) s_axil_bresp_o <= write_error ? SlvErr : Okay;
  end
""".rstrip().split("\n")
        return out

    def read_channel(self) -> list[str]:
        return f"""\
  // Read.
  logic        ar_held_q, read, read_error;
  logic [{self.address - 3}:0]  araddr_q;
  logic [31:0] read_data;
  assign s_axil_arready_o = ~ar_held_q;
  assign read = ar_held_q & ~s_axil_rvalid_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ar_held_q       <= 1'b0;
      s_axil_rvalid_o <= 1'b0;
    end else begin
      ar_held_q       <= ar_held_q ? ~(s_axil_rvalid_o & s_axil_rready_i) : s_axil_arvalid_i;
      s_axil_rvalid_o <= read | (s_axil_rvalid_o & ~s_axil_rready_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (~ar_held_q & s_axil_arvalid_i) araddr_q <= s_axil_araddr_i[{self.address - 1}:2];
    if (read) begin
      s_axil_rdata_o <= read_data;
      s_axil_rresp_o <= read_error ? SlvErr : Okay;
    end
  end
""".rstrip().split("\n")

    def stored_fields(self) -> list[str]:
        out = ["  // Stored fields, and the upper halves of 64-bit registers, kept when the lower ones are read."]
        out += [f"  logic {vector(f.width) + ' ' if f.width > 1 else ''}{f.flop};" for f in self.stored]
        out += [f"  logic [31:0] {reg.name.lower()}_high_q;" for reg in self.wide]
        return out

    def read_multiplexer(self) -> list[str]:
        out = ["  always_comb begin", "    read_error = 1'b0;", "    unique case (araddr_q)"]
        optional = []  # behind the case: what is not there leaves no trace
        for reg in self.regs:
            for word in range(reg.words):
                value, at = read_word(reg, word, self.inputs), self.select(reg.offset + 4 * word)
                name = f"{reg.name}{', high' if word else ''}"
                if reg.condition:
                    value = f"({reg.condition}) ? {value} : 32'd0"
                if reg.exists_if:
                    optional += [
                        f"    if (({reg.exists_if}) && araddr_q == {at}) begin  // {name}",
                        f"      read_data  = {value};",
                        "      read_error = 1'b0;",
                        "    end",
                    ]
                else:
                    out.append(f"      {at}: read_data = {value};  // {name}")
        out += [
            "      default: begin",
            "        read_data  = 32'd0;",
            "        read_error = 1'b1;",
            "      end",
            "    endcase",
            *optional,
            "  end",
        ]
        return out

    def pulse_flops(self) -> list[str]:
        if not (self.pulses or self.commands):
            return []
        out = ["  // Pulses: high in the cycle after the write."]
        out += [f"  logic {f.flop};" for f in self.pulses]
        out += ["", "  always_ff @(posedge clk_i or negedge rst_ni) begin", "    if (!rst_ni) begin"]
        out += [f"      {f.flop} <= 1'b0;" for f in self.pulses]
        out += [f"      {reg.name.lower()}_valid_o <= 1'b0;" for reg in self.commands]
        out.append("    end else begin")
        for f in self.pulses:
            mask = "~write_error" if f.reg.whole_word else f"wmask[{f.low}]"
            hit = f"write & (awaddr_q == {self.select(f.reg.offset)})"
            out.append(f"      {f.flop} <= {hit} & {mask} & wdata_q[{f.low}];")
        out += [f"      {reg.name.lower()}_valid_o <= {self.written(reg)};" for reg in self.commands]
        return [*out, "    end", "  end"]

    def storage(self) -> list[str]:
        clear = " | ".join(f.flop for f in self.pulses if f.node.get_property("ng_clears", default=False))
        reset = [f"      {f.flop} <= {f.width}'h{f.reset:X};" for f in self.stored]
        reset += [f"      {reg.name.lower()}_high_q <= 32'd0;" for reg in self.wide]
        out = ["  always_ff @(posedge clk_i or negedge rst_ni) begin", "    if (!rst_ni) begin", *reset]
        if clear:
            out += [f"    end else if ({clear}) begin", *reset]
        out.append("    end else begin")
        for reg in self.regs:
            out += self.update(reg)
        return [*out, "    end", "  end"]

    def update(self, reg: Reg) -> list[str]:
        """What a register's fields take over at the clock edge."""
        out, hit = [], self.written(reg)
        own = [f for f in reg.fields if f.kind == "storage"]
        if own:
            out.append(f"      if ({hit}) begin")
            for f in own:
                data, mask = (part(n, f.low + f.width - 1, f.low, WORD) for n in ("wdata_q", "wmask"))
                out.append(f"        {f.flop} <= ({f.flop} & ~{mask}) | ({data} & {mask});")
            out.append("      end")
        if reg.signature:
            others = [self.select(r.offset) for r in self.regs if r.writable and not r.signed]
            beside = "".join(f" & (awaddr_q != {at})" for at in others)
            out.append(f"      if (write & ~write_error{beside}) {reg.fields[0].flop} <= {reg.name.lower()}_next;")
        for f in (f for f in reg.fields if f.kind == "event"):
            name, start, whole_port = self.inputs[id(f)]
            event = part(name, start, start, whole_port)
            out.append(f"      {f.flop} <= {event} | ({f.flop} & ~({hit} & wmask[{f.low}] & wdata_q[{f.low}]));")
        if reg.words == 2:
            f = reg.fields[-1]
            name, start, whole_port = self.inputs[id(f)]
            high = part(name, start + 63 - f.low, start + 32 - f.low, whole_port)
            out.append(
                f"      if (read & (araddr_q == {self.select(reg.offset)})) {reg.name.lower()}_high_q <= {high};"
            )
        return out

    def signature(self) -> list[str]:
        """The next value of the signature of writes: an xorshift of 32 bits."""
        own = [reg for reg in self.regs if reg.signature]
        if not own:
            return []
        if self.address != 12:
            raise SourceError(f"{own[0].name}: ng_signature takes an ng_address_width of 12, not {self.address}")
        name, state = own[0].name.lower(), own[0].fields[0].flop
        bits = max(reg.offset // 4 for reg in self.regs if reg.signed).bit_length()
        key = f"wstrb_q, {10 - bits}'d0, awaddr_q[{bits - 1}:0], 2'd0"  # 16 bits; no accepted address has others
        return f"""\
  // Signature of accepted writes: xorshift32 of itself, the word, the strobes and the address.
  logic [31:0] {name}_in, {name}_left, {name}_right, {name}_next;
  assign {name}_in = {state} ^ wdata_q ^ {{2{{{key}}}}};
  assign {name}_left = {name}_in ^ {{{name}_in[18:0], 13'd0}};
  assign {name}_right = {name}_left ^ {{17'd0, {name}_left[31:17]}};
  assign {name}_next = {name}_right ^ {{{name}_right[26:0], 5'd0}};
""".rstrip().split("\n")

    def outputs(self) -> list[str]:
        out = []
        for (direction, port), fields in self.table.items():
            if direction == "output":
                sources = [
                    part("wdata_q", f.low + f.width - 1, f.low, WORD) if f.kind == "argument" else f.flop
                    for f in fields
                ]
                value = sources[0] if len(sources) == 1 else "{" + ", ".join(reversed(sources)) + "}"
                out.append(f"  assign {port}_o = {value};")
        for reg in self.regs:
            if reg.interrupt:
                enables = {f.node.get_property("enable").get_path(): f for f in reg.fields}
                by_path = {f.node.get_path(): f for f in self.stored}
                terms = [f"({f.flop} & {by_path[path].flop})" for path, f in enables.items()]
                out.append(f"  assign {reg.interrupt}_o = {' | '.join(terms)};")
        return out


def write(top: AddrmapNode, regs: list[Reg]) -> str:
    module = Writer(top, regs)
    parts = [
        [*module.heading(), *module.parameter_list(), ") (", *module.port_list(), ");"],
        module.checks(),
        module.write_channel(),
        module.read_channel(),
        module.stored_fields(),
        module.read_multiplexer(),
        module.pulse_flops(),
        module.signature(),
        module.storage(),
        module.outputs(),
        ["endmodule"],
    ]
    return "\n\n".join("\n".join(row for line in lines for row in fold(line)) for lines in parts if lines) + "\n"
