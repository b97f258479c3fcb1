# SPDX-License-Identifier: Apache-2.0
"""Mutants of a unit's handshakes: a shell around the unit, between whose ports and the unit's own a beat is lost, comes
twice, or no beat comes any more until the next reset.

Streams are pairs of ports: `*valid_o` with `*ready_i`, and `*valid_i` with `*ready_o`. What the shell does depends on
registers only, so that it adds no path from an input to an output; with no mutant of its own selected it is wires.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

ERRORS = ("fault_o", "error_o", "void_o", "m_axis_tuser_o")  # an output of one bit beside a beat that goes wrong
BEAT = 3  # of a reset, counted from 0: the beat that is lost or comes twice
LONG = 12  # beats after which a stream goes silent


@dataclass
class Port:
    name: str
    output: bool
    width: int
    signed: bool
    constant: bool = False  # the unit drives it with constants
    source: str = ""  # file:line.column-line.column
    never_given: bool = False  # no beat is given beside it


@dataclass
class Stream:
    valid: str
    ready: str
    output: bool  # beats leave the unit


def ports_of(design: Path, top: str) -> list[Port]:
    """The ports of a module in a file that Yosys' write_json made."""
    module = json.loads(design.read_text())["modules"][top]
    sources = {name: net["attributes"].get("src", "") for name, net in module["netnames"].items()}
    return [
        Port(
            name,
            port["direction"] == "output",
            len(port["bits"]),
            bool(port.get("signed")),
            all(isinstance(bit, str) for bit in port["bits"]),
            sources.get(name, ""),
        )
        for name, port in module["ports"].items()
    ]


def streams_of(ports: list[Port]) -> list[Stream]:
    single = {port.name: port.output for port in ports if port.width == 1}
    if "clk_i" not in single or "rst_ni" not in single:
        return []
    streams = []
    for valid, output in single.items():
        suffix, other = ("valid_o", "ready_i") if output else ("valid_i", "ready_o")
        ready = valid.removesuffix(suffix) + other
        if valid.endswith(suffix) and single.get(ready) == (not output):
            streams.append(Stream(valid, ready, output))
    return streams


def mutants_of(ports: list[Port]) -> list[str]:
    """One line a mutant, in the order of their numbers."""
    lines = []
    for stream in streams_of(ports):
        kinds = ["silent_after_beats", "silent_after_stall", "loses_beat", "gives_beat_twice"]
        if stream.output and errors_of(ports):
            kinds.append("silent_after_error")
        lines += [f"handshake {kind} {stream.valid}" for kind in kinds]
    return lines


def errors_of(ports: list[Port]) -> list[str]:
    return [
        port.name
        for port in ports
        if port.output and port.width == 1 and port.name in ERRORS and not port.constant and not port.never_given
    ]


def shell(top: str, inner: str, ports: list[Port], mutants: list[str], first: int, width: int) -> str:
    """Verilog of module `top` around module `inner`; mutants have the numbers from `first` on of `width` bits."""
    number = {line: first + i for i, line in enumerate(mutants)}
    streams = streams_of(ports)
    crossed = {name for stream in streams for name in (stream.valid, stream.ready)}
    lines = [f"module {top} (input [{width - 1}:0] mutsel"]
    for port in ports:
        sign = "signed " if port.signed else ""
        lines[-1] += ","
        lines.append(f"  {'output' if port.output else 'input'} {sign}[{port.width - 1}:0] {port.name}")
    lines[-1] += ");"
    lines += [f"  wire unit_{name};" for name in sorted(crossed)]
    connections = [f".{port.name}({'unit_' if port.name in crossed else ''}{port.name})" for port in ports]
    lines.append(f"  {inner} u_unit (.mutsel(mutsel), {', '.join(connections)});")
    for i, stream in enumerate(streams):
        # A beat goes from the giving side to the taking side: the unit gives those that leave it.
        give, take = ("unit_", "") if stream.output else ("", "unit_")

        def on(kind: str, stream: Stream = stream) -> str:
            line = f"handshake {kind} {stream.valid}"
            return f"(mutsel == {width}'d{number[line]})" if line in number else "1'b0"

        errors = " | ".join(errors_of(ports)) if stream.output else ""
        lines += [
            f"  reg [4:0] count{i}; reg waiting{i}, stalled{i}, failed{i}, repeated{i};",
            f"  wire given{i} = {give}{stream.valid} & {give}{stream.ready};",
            f"  wire taken{i} = {take}{stream.valid} & {take}{stream.ready};",
            f"  wire silent{i} = {on('silent_after_beats')} & count{i} >= 5'd{LONG} |",
            f"    {on('silent_after_stall')} & stalled{i} | {on('silent_after_error')} & failed{i};",
            f"  wire lost{i} = {on('loses_beat')} & count{i} == 5'd{BEAT};",
            f"  wire twice{i} = {on('gives_beat_twice')} & count{i} == 5'd{BEAT} & ~repeated{i};",
            f"  assign {take}{stream.valid} = {give}{stream.valid} & ~silent{i} & ~lost{i};",
            f"  assign {give}{stream.ready} = ({take}{stream.ready} | lost{i}) & ~silent{i} & ~twice{i};",
            "  always @(posedge clk_i or negedge rst_ni)",
            f"    if (!rst_ni) {{count{i}, waiting{i}, stalled{i}, failed{i}, repeated{i}}} <= 0;",
            "    else begin",
            f"      waiting{i} <= {give}{stream.valid} & ~{give}{stream.ready};",
            f"      if (given{i} & ~&count{i}) count{i} <= count{i} + 5'd1;",
            # What is offered has to stay, so that a stream goes silent behind a beat only.
            f"      if (given{i} & waiting{i}) stalled{i} <= 1;",
            f"      if (given{i} & ({errors or 0})) failed{i} <= 1;",
            f"      if (twice{i} & taken{i}) repeated{i} <= 1;",
            "    end",
        ]
    return "\n".join([*lines, "endmodule", ""])
