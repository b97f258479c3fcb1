# SPDX-License-Identifier: Apache-2.0
"""What the readers of routed netlists have in common (ecp5_netlist, gowin_netlist): cells, pins, LUTs to invert, module `chip`."""

from __future__ import annotations

import random
from collections.abc import Collection

from ngtools.ngflow import FlowError


class Cell:
    """A cell of the netlist; its readers say what its inputs and outputs are."""

    def __init__(self, name: str, cell: dict) -> None:
        self.name, self.type, self.connections = name, cell["type"], cell["connections"]
        self.parameters = {key: value.strip() for key, value in cell["parameters"].items()}


def pins(module: dict) -> dict[int, str]:
    """What each net at a port is called outside."""
    return {
        bit: f"{name}[{i}]" if len(port["bits"]) > 1 else name
        for name, port in module["ports"].items()
        for i, bit in enumerate(port["bits"])
    }


def drawn(luts: list[str], faults: int, seed: int, among: str) -> dict[str, int]:
    """The numbers of the LUTs that fault_i inverts, by name; among: what these names begin with."""
    luts = [name for name in luts if name.startswith(among)]
    if len(luts) < faults:
        raise FlowError(f"the netlist has {len(luts)} LUTs whose names begin with {among!r}; expected {faults} or more")
    return {name: number + 1 for number, name in enumerate(random.Random(seed).sample(luts, faults))}


def chip(module: dict, registers: Collection[str | None], lines: list[str]) -> str:
    """Module `chip`: the ports and fault_i, every net, of which these are registers, and the lines."""
    ports = []
    for name, port in module["ports"].items():
        width = f"[{len(port['bits']) - 1}:0] " if len(port["bits"]) > 1 else ""
        ports.append(f"{port['direction']} {width}{name}")
    bits = {bit for cell in module["cells"].values() for bits in cell["connections"].values() for bit in bits}
    inner = sorted({int(bit) for bit in bits if isinstance(bit, int)} - pins(module).keys())
    nets = [f"{'reg' if f'n{bit}' in registers else 'wire'} n{bit};" for bit in inner]
    return "\n".join([f"module chip (input [7:0] fault_i, {', '.join(ports)});", *nets, *lines, "endmodule", ""])
