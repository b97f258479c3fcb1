# SPDX-License-Identifier: Apache-2.0
"""Proves that a fault changes nothing in any state that the design reaches.

Example: ng_mac_array foresees in `queue_ready_d` whether its queue of results is full, and reads this only while the last row is
drained. A fault that is wrong while nothing is drained changes a register in states that never come. Neither a comparison over all
states nor ABC's dsec shows this: the one sees the states, and the other does not end among the data.

Both designs are one circuit with an input `mutsel` that switches the fault on, so that each gate has a pair of values. The gates
whose values can differ are the fault's cone. The property is that a set of pairs through which every path of the cone leads is
equal, in every state that the design without the fault reaches: its next states and outputs are then the faulty design's, too.
Sets are tried from the fault on: gates that every path passes (post-dominators), and last all outputs and next states. A property
near the fault depends on few registers, though its effect may run through a multiplier. ABC's pdr proves it.

A design reaches a state by one cycle of reset, from any state, and any inputs then. Both designs leave the reset in the same state.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ngtools import ngflow
from ngtools.masked import Aig, read_aig

AIGER = (
    "async2sync",
    "dffunmap",
    "techmap",
    "simplemap",
    "dffunmap",
    "setundef -undriven -zero",
    "setundef -zero",
    "aigmap",
    "clean",
)
RESET, SWITCH = "rst_ni", "mutsel"
GATES = 20_000  # a larger property is not tried


class Builder:
    """Gates, each combination of operands once. Literals below `leaves` are inputs and states."""

    def __init__(self, leaves: int) -> None:
        self.leaves = leaves
        self.gates: list[tuple[int, int]] = []
        self._known: dict[tuple[int, int], int] = {}

    def both(self, a: int, b: int) -> int:
        a, b = min(a, b), max(a, b)
        if a == 0 or a == b ^ 1:
            return 0
        if a == 1 or a == b:
            return b
        if (a, b) not in self._known:
            self.gates.append((a, b))
            self._known[a, b] = 2 * (self.leaves + len(self.gates))
        return self._known[a, b]

    def either(self, a: int, b: int) -> int:
        return self.both(a ^ 1, b ^ 1) ^ 1

    def same(self, a: int, b: int) -> int:
        return 1 if a == b else self.both(self.both(a, b ^ 1) ^ 1, self.both(a ^ 1, b) ^ 1)


def inputs_named(path: Path, name: str) -> list[int]:
    """Positions of an input's bits, from the symbols of an AIGER file."""
    symbols = re.finditer(rb"^i(\d+) (\S+)$", path.read_bytes(), re.M)
    return [int(at) for at, symbol in (found.groups() for found in symbols) if symbol.split(b"[")[0] == name.encode()]


def dominators(aig: Aig, in_cone: list[bool]) -> list[int]:
    """Gates that every path from the cone's first gates to an output or a next state passes, those nearest the fault first."""
    first = 1 + aig.inputs + len(aig.latches)
    end = first + len(aig.gates)  # behind all
    into: dict[int, list[int]] = {}
    for variable in range(first, end):
        if in_cone[variable]:
            for literal in aig.gates[variable - first]:
                into.setdefault(literal >> 1, []).append(variable)
    for literal in aig.outputs + aig.latches:
        into.setdefault(literal >> 1, []).append(end)
    above: dict[int, int] = {}  # the nearest gate that every path from here passes

    def common(a: int, b: int) -> int:
        while a != b:
            if a < b:
                a = above[a]
            else:
                b = above[b]
        return a

    heads = []
    for variable in range(end - 1, first - 1, -1):
        if not in_cone[variable]:
            continue
        ways = [way for way in into.get(variable, []) if way == end or way in above]
        if not ways:
            continue  # nothing reads it
        above[variable] = ways[0]
        for way in ways[1:]:
            above[variable] = common(above[variable], way)
        if not any(in_cone[literal >> 1] for literal in aig.gates[variable - first]):
            heads.append(variable)
    if not heads:
        return []
    at = heads[0]
    for head in heads[1:]:
        at = common(at, head)
    chain = []
    while at != end:
        chain.append(at)
        at = above[at]
    return chain


def properties(aig: Aig, switch: int) -> Iterator[tuple[Builder, list[int], int]]:
    """-> (gates, next states of the design without the fault, the literal that has to be true), from the fault on."""
    first = 1 + aig.inputs + len(aig.latches)
    builder = Builder(first - 1)
    pairs = [(2 * leaf, 2 * leaf) for leaf in range(first)]
    pairs[1 + switch] = (0, 1)
    for a, b in aig.gates:
        values = [
            builder.both(pairs[a >> 1][k] ^ (a & 1), pairs[b >> 1][k] ^ (b & 1))
            for k in range(2)
        ]  # fmt: skip
        pairs.append((values[0], values[1]))
    in_cone = [one != other for one, other in pairs]
    in_cone[1 + switch] = False
    states = [pairs[state >> 1][0] ^ (state & 1) for state in aig.latches]
    for gate in dominators(aig, in_cone):
        yield builder, states, builder.same(*pairs[gate])
    holds = 1
    for end in {literal >> 1 for literal in aig.outputs + aig.latches}:
        holds = builder.both(holds, builder.same(*pairs[end]))
    yield builder, states, holds


def write_property(path: Path, aig: Aig, reset: int, builder: Builder, states: list[int], holds: int) -> int:
    """A sequential AIGER file whose output is true where the property fails. Only what that depends on is in it; -> its gates.

    The first step takes any state from inputs, and the property counts from the first cycle behind a reset on.
    """
    latches, first = len(aig.latches), 1 + aig.inputs + len(aig.latches)
    needed: set[int] = set()
    todo = [holds >> 1]
    while todo:
        variable = todo.pop()
        if variable in needed:
            continue
        needed.add(variable)
        if variable >= first:
            todo += [literal >> 1 for literal in builder.gates[variable - first]]
        elif variable > aig.inputs:
            todo.append(states[variable - 1 - aig.inputs] >> 1)
    kept = [latch for latch in range(latches) if 1 + aig.inputs + latch in needed]
    inputs = [leaf for leaf in range(aig.inputs) if 1 + leaf in needed or leaf == reset]
    gates = [variable for variable in sorted(needed) if variable >= first]
    # inputs, then any state; states, then whether it was taken, and whether a reset was seen
    variables = {0: 0} | {1 + leaf: 1 + k for k, leaf in enumerate(inputs)}
    free = 1 + len(inputs)
    variables |= {1 + aig.inputs + latch: free + len(kept) + k for k, latch in enumerate(kept)}
    taken = 2 * (free + 2 * len(kept))
    seen = taken + 2
    out = Builder(seen >> 1)
    literals: dict[int, int] = {old: 2 * new for old, new in variables.items()}
    for variable in gates:
        a, b = builder.gates[variable - first]
        literals[variable] = out.both(literals[a >> 1] ^ (a & 1), literals[b >> 1] ^ (b & 1))
    following = []
    for k, latch in enumerate(kept):
        state = literals[states[latch] >> 1] ^ (states[latch] & 1)
        following.append(out.either(out.both(taken, state), out.both(taken ^ 1, 2 * (free + k))))
    following += [1, out.both(taken, out.either(seen, literals[1 + reset] ^ 1))]
    bad = out.both(seen, literals[holds >> 1] ^ (holds & 1) ^ 1)

    ports = len(inputs) + len(kept)
    text = bytearray(f"aig {out.leaves + len(out.gates)} {ports} {len(following)} 1 {len(out.gates)}\n".encode())
    text += "".join(f"{literal}\n" for literal in (*following, bad)).encode()
    for k, (a, b) in enumerate(out.gates):
        for delta in (2 * (out.leaves + 1 + k) - max(a, b), abs(a - b)):
            rest = delta
            while rest > 0x7F:
                text.append(rest & 0x7F | 0x80)
                rest >>= 7
            text.append(rest)
    path.write_bytes(text)
    return len(out.gates)


def proven_reached(design: Path, fault: str, work: Path, seconds: float) -> bool:
    """Whether the design of an RTLIL file, with a fault as `mutate` takes it, is proven equivalent to that without it so.

    A design has to have one clock and the input `rst_ni`; one without a reset is not proven.
    """
    circuit, question = work / "reached.aig", work / "reached_property.aig"
    switched = f"mutate -ctrl {SWITCH} 1 1 {fault.removeprefix('mutate ')}"
    ngflow.run_yosys(
        [f"read_rtlil {design.resolve()}", switched, *AIGER, f"write_aiger -zinit -symbols {circuit}"],
        work / "reached.log",
    )
    reset, switch = inputs_named(circuit, RESET), inputs_named(circuit, SWITCH)
    if len(reset) != 1 or len(switch) != 1:
        return False
    aig = read_aig(circuit)
    end = ngflow.seconds_of_children() + seconds
    for builder, states, holds in properties(aig, switch[0]):
        limit = int(end - ngflow.seconds_of_children())
        if limit < 1:
            return False
        if holds == 0 or write_property(question, aig, reset[0], builder, states, holds) > GATES:
            continue
        if "Property proved" in ngflow.run_abc(f"read {question}; strash; pdr -T {min(limit, 10)}", limit):
            return True
    return False
