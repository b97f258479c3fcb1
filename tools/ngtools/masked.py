# SPDX-License-Identifier: Apache-2.0
"""Proves that a fault changes registers only while nobody reads them.

Example: ng_tile_sequencer notes in `beyond_q` that a command asks for more images than any bank holds. A fault that misses
this for a sum longer than MaxBeats changes that register, and only for commands that are refused for another reason:
`bad_q` is set with it, and the register is not read before the next command. Comparison of next states alone cannot see this.

Let D be the registers that the fault changes and l one more register, or its complement. The statement "all registers but D
are equal in the design and in the faulty one, and D is equal or l holds" is true at reset. If it is true after every step
that begins with it, and the outputs are equal under it, the two designs are equivalent. That is one combinational comparison:
the faulty design sees l ? anything : D in place of D, and what is compared is outputs, next states but those of D, and the
latter where the next l does not hold. D and the candidates for l come from simulation near a state that ABC's SAT solver finds;
the proof is ABC's.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

from ngtools import ngflow
from ngtools.ngflow import FlowError

PATTERNS = 4096  # a round of simulation
ROUNDS = 16


@dataclass
class Aig:
    """An and-inverter graph: literal 2v is variable v, 2v + 1 its complement, variable 0 is false. Variables are in the order
    of inputs, latches, gates."""

    inputs: int
    latches: list[int]  # next states
    outputs: list[int]
    gates: list[tuple[int, int]]


def read_aig(path: Path) -> Aig:
    """A binary AIGER file."""
    data = path.read_bytes()
    at = 0

    def line() -> list[str]:
        nonlocal at
        end = data.index(b"\n", at)
        text, at = data[at:end].decode(), end + 1
        return text.split()

    def number() -> int:
        nonlocal at
        value = shift = 0
        while data[at] & 0x80:
            value |= (data[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
        value |= data[at] << shift
        at += 1
        return value

    header = line()
    if header[:1] != ["aig"] or len(header) < 6:
        raise FlowError(f"{path} begins with '{' '.join(header)}'; expected a binary AIGER file")
    _, inputs, latches, outputs, gates = map(int, header[1:6])
    states = [line() for _ in range(latches)]
    for state in states:
        if state[1:] not in ([], ["0"]):
            raise FlowError(f"{path}: a latch starts with {state[1]}; expected 0 (write_aiger -zinit)")
    ends = [int(line()[0]) for _ in range(outputs)]
    nodes = []
    for k in range(gates):
        left = 2 * (inputs + latches + 1 + k) - number()
        nodes.append((left, left - number()))
    return Aig(inputs, [int(state[0]) for state in states], ends, nodes)


def write_combinational(path: Path, inputs: int, outputs: list[int], gates: list[tuple[int, int]]) -> None:
    out = bytearray(f"aig {inputs + len(gates)} {inputs} 0 {len(outputs)} {len(gates)}\n".encode())
    out += "".join(f"{literal}\n" for literal in outputs).encode()
    for k, (a, b) in enumerate(gates):
        left, right = max(a, b), min(a, b)
        for delta in (2 * (inputs + 1 + k) - left, left - right):
            rest = delta
            while rest > 0x7F:
                out.append(rest & 0x7F | 0x80)
                rest >>= 7
            out.append(rest)
    path.write_bytes(out)


def simulate(aig: Aig, leaves: list[int], ones: int) -> list[int]:
    """Values of all literals, a bit for each pattern."""
    values = [0, ones]
    for leaf in leaves:
        values += (leaf, leaf ^ ones)
    for a, b in aig.gates:
        value = values[a] & values[b]
        values += (value, value ^ ones)
    return values


def observed(
    original: Aig, faulty: Aig, case: list[int], rng: random.Random
) -> tuple[list[int], list[tuple[int, bool]]]:
    """Simulates inputs and states near `case`, in which the fault shows.

    -> (latches that the fault changes, (latch, value) that the next state had whenever it did); no latches if an output changes.
    """
    ones = (1 << PATTERNS) - 1
    changed: set[int] = set()
    holds = {(latch, value) for latch in range(len(original.latches)) for value in (False, True)}
    for turn in range(ROUNDS):
        leaves = []
        for bit in case:
            flips = ones
            for _ in range(3 + turn % 4):
                flips &= rng.getrandbits(PATTERNS)
            leaves.append(flips ^ (ones if bit else 0))
        left, right = simulate(original, leaves, ones), simulate(faulty, leaves, ones)
        if any(left[a] != right[b] for a, b in zip(original.outputs, faulty.outputs, strict=True)):
            return [], []
        cases = 0
        for latch, (a, b) in enumerate(zip(original.latches, faulty.latches, strict=True)):
            if difference := left[a] ^ right[b]:
                changed.add(latch)
                cases |= difference
        holds = {(latch, value) for latch, value in holds if not cases & left[original.latches[latch] ^ value]}
    return sorted(changed), sorted((latch, value) for latch, value in holds if latch not in changed)


def write_pair(
    original: Aig, faulty: Aig, changed: list[int], guard: tuple[int, bool], paths: tuple[Path, Path]
) -> None:
    """The two circuits of the comparison. `guard` is l: this latch has this value."""
    leaves = original.inputs + len(original.latches)
    inputs = leaves + len(changed)  # what D may be while l holds comes last
    for path, aig in zip(paths, (original, faulty), strict=True):
        gates: list[tuple[int, int]] = []

        def gate(a: int, b: int) -> int:
            gates.append((a, b))  # noqa: B023
            return 2 * (inputs + len(gates))  # noqa: B023

        literals = list(range(2 * (leaves + 1)))
        if aig is faulty:
            held = 2 * (original.inputs + 1 + guard[0]) ^ (not guard[1])
            for k, latch in enumerate(changed):
                own = 2 * (original.inputs + 1 + latch)
                free = 2 * (leaves + 1 + k)
                mixed = gate(gate(held, free) ^ 1, gate(held ^ 1, own) ^ 1) ^ 1
                literals[own], literals[own + 1] = mixed, mixed ^ 1
        for a, b in aig.gates:
            value = gate(literals[a], literals[b])
            literals += (value, value ^ 1)
        next_free = literals[aig.latches[guard[0]] ^ (not guard[1])] ^ 1
        following = [
            gate(next_free, literals[state]) if latch in changed else literals[state]
            for latch, state in enumerate(aig.latches)
        ]
        write_combinational(path, inputs, [literals[end] for end in aig.outputs] + following, gates)


def proven_masked(original: Path, faulty: Path, work: Path, seconds: float) -> bool:
    """Whether the designs of two AIGER files, whose inputs, latches and outputs correspond, are proven equivalent so."""
    pair, found = (work / "masked_a.aig", work / "masked_b.aig"), work / "masked.cex"
    found.unlink(missing_ok=True)
    flat = "".join(f"read {a}; comb; strash; write_aiger {b}; " for a, b in zip((original, faulty), pair, strict=True))
    ngflow.run_abc(f"{flat}miter -n {pair[0]} {pair[1]}; sat -C 100000; write_cex {found}", seconds)
    case = [int(bit) for bit in found.read_text() if bit in "01"] if found.exists() else []
    left, right = read_aig(original), read_aig(faulty)
    if len(case) != left.inputs + len(left.latches):
        return False
    changed, guards = observed(left, right, case, random.Random(1))
    end = ngflow.seconds_of_children() + seconds
    for guard in guards if changed else []:
        limit = int(end - ngflow.seconds_of_children())
        if limit < 1:
            break
        write_pair(left, right, changed, guard, pair)
        if "are equivalent" in ngflow.run_abc(f"cec -n -T {limit} {pair[0]} {pair[1]}", limit):
            return True
    return False
