# SPDX-License-Identifier: Apache-2.0
"""A user's own unit: which of its files hold what, which port is its clock and which its reset, of which kind.

The clock is the input that clocks the unit's flip-flops, whatever its name; an entry's `clock` only has to agree. The reset is
the input that sets them asynchronously, else one with a name of a reset, else what the entry's `reset` names. A unit whose clock
would stand still is refused. docs/energy_own_unit.md is for users.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from ngtools import ngflow, systemverilog
from ngtools.ngflow import FlowError

CLOCKS = ("clk_i", "clk", "clock", "clock_i", "aclk", "clk_in")
RESET_NAME = re.compile(
    r"(?:i_|sys_|core_|[sm]_axis?_)?(?P<not>n)?(?:a|s)?(?:rst|reset)(?P<low>_?n(?:_?i|_in)?|_?[bl])?(?:_?i|_in)?",
    re.IGNORECASE,
)
RESET_CYCLES = 2  # with a clock edge before the registers of the inputs are known, and one after
RESET_PORT = "unit_rst_ni"  # of the wrapper; a column of the stimulus, so that clock edges come while it is low


@dataclass(frozen=True)
class Pins:
    """Clock and reset of a unit; '' where it has none."""

    clock: str = ""
    falling: bool = False
    reset: str = ""
    active_low: bool = True


LIBRARY = Pins("clk_i", False, "rst_ni", True)


# ---------------------------------------------------------------- files


def design_files(unit: dict) -> list[Path]:
    """Its files and those of the library that it needs, dependencies first. A file may hold several modules."""
    try:
        declared = {name: file for file in unit["files"] for name in systemverilog.declared(file)}
    except (systemverilog.SourceError, UnicodeDecodeError) as error:
        raise FlowError(str(error)) from None
    library = ngflow.module_map()
    if unit["top"] not in declared and unit["top"] not in library:
        raise FlowError(
            f"module '{unit['top']}' is in none of its files {', '.join(file.name for file in unit['files'])}; "
            f"expected one of {', '.join(sorted(declared)) or 'no module at all'}"
        )
    ordered: list[Path] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen:
            return
        if name not in declared:
            seen.add(name)
            ordered.extend(file for file in ngflow.sources(name) if file not in ordered)
            return
        file = declared[name]
        seen.update(other for other, where in declared.items() if where == file)
        for used in sorted(systemverilog.names_of(file)):
            if used in declared or used in library:
                visit(used)
        ordered.append(file)

    visit(unit["top"])
    return ordered


# ---------------------------------------------------------------- clock and reset


def structure(unit: dict, work: Path) -> dict:
    """The top module as Yosys elaborates it, flat: ports and cells."""
    netlist = work / "structure.json"
    commands = [
        *ngflow.yosys_read(unit["top"], design_files(unit), unit["params"]),
        "proc",
        "flatten",
        "opt_expr",
        "opt_clean",
    ]
    ngflow.run_yosys([*commands, f"write_json {netlist}"], work / "structure.log")
    return json.loads(netlist.read_text())["modules"][unit["top"]]


def bit(value: object) -> int:
    """A parameter of one bit, as Yosys writes it."""
    return int(str(value), 2) if set(str(value)) <= {"0", "1"} else 0


def edges(module: dict) -> tuple[dict[object, set[bool]], dict[object, set[bool]]]:
    """Net -> is the falling edge used, of nets that clock; net -> is it active low, of nets that set asynchronously."""
    clocks: dict[object, set[bool]] = {}
    resets: dict[object, set[bool]] = {}
    for cell in module["cells"].values():
        of, pins = cell["parameters"], cell["connections"]
        if "CLK" in pins and bit(of.get("CLK_ENABLE", "1")):
            clocks.setdefault(pins["CLK"][0], set()).add(not bit(of.get("CLK_POLARITY", "1")))
        for pin in ("ARST", "ALOAD"):
            if pin in pins:
                resets.setdefault(pins[pin][0], set()).add(not bit(of[f"{pin}_POLARITY"]))
        for pin in ("SET", "CLR") if cell["type"].startswith("$dffsr") else ():
            for net in pins[pin]:
                resets.setdefault(net, set()).add(not bit(of[f"{pin}_POLARITY"]))
    return clocks, resets


def find_pins(unit: dict, module: dict) -> Pins:
    """Which ports are clock and reset. Refuses units of several clocks, of a clock that logic makes, of latches."""
    name = unit["name"]
    ports = module["ports"]
    if odd := [port for port, of in ports.items() if of["direction"] == "inout"]:
        raise FlowError(f"unit {name}: port {odd[0]} is inout; expected inputs and outputs alone")
    latches = [cell for cell in module["cells"].values() if cell["type"] in ("$dlatch", "$adlatch", "$sr")]
    if latches:
        place = latches[0]["attributes"].get("src", "place unknown")
        raise FlowError(
            f"unit {name}: its RTL makes a latch ({place}); expected flip-flops of one clock: give every signal a value in "
            "each branch"
        )
    inputs = {of["bits"][0]: port for port, of in ports.items() if of["direction"] == "input" and len(of["bits"]) == 1}
    clocks, resets = edges(module)
    clock, falling = find_clock(unit, inputs, clocks)
    reset, low = find_reset(unit, inputs, resets) if clock else ("", True)
    for port, what in ((clock, "clock"), (reset, "reset")):
        if port and port in unit["inputs"]:
            raise FlowError(
                f"unit {name}: 'inputs' has {port}, which is its {what}, and values of a stimulus would let it stand "
                f"still; take {port} out of 'inputs', the flow drives it"
                + (', or say "reset": null if it is an input like others' if what == "reset" else "")
            )
    return Pins(clock, falling, reset, low)


def find_clock(unit: dict, inputs: dict[object, str], clocks: dict[object, set[bool]]) -> tuple[str, bool]:
    name, given = unit["name"], unit.get("clock")
    if given is not None and given not in inputs.values():
        raise FlowError(
            f"unit {name}: clock is '{given}'; expected one of its inputs of one bit: {', '.join(inputs.values())}"
        )
    if not clocks:
        if given is not None:
            raise FlowError(f"unit {name}: clock is '{given}', but it has no flip-flop; take the key out")
        return next((port for port in CLOCKS if port in inputs.values() and port not in unit["inputs"]), ""), False
    if made := [net for net in clocks if net not in inputs]:
        raise FlowError(
            f"unit {name}: {'a constant' if isinstance(made[0], str) else 'logic'} clocks some of its flip-flops; expected "
            "one input that clocks all of them: replace a gated or divided clock by an enable"
        )
    found = sorted(inputs[net] for net in clocks)
    if len(found) > 1:
        raise FlowError(f"unit {name} has the clocks {', '.join(found)}; expected one, on which all its flip-flops are")
    if given not in (None, found[0]):
        raise FlowError(
            f"unit {name}: clock is '{given}', which would stand still for its flip-flops; they have {found[0]}"
        )
    falling = clocks[next(iter(clocks))]
    if len(falling) > 1:
        raise FlowError(f"unit {name} has flip-flops of both edges of {found[0]}; expected one edge")
    return found[0], falling.pop()


def find_reset(unit: dict, inputs: dict[object, str], resets: dict[object, set[bool]]) -> tuple[str, bool]:
    name = unit["name"]
    given = unit.get("reset", "")
    asynchronous = {inputs[net]: low for net, low in resets.items() if net in inputs}
    if given is None:
        return "", True
    wanted = given if isinstance(given, dict) else {"port": given}
    port, active = wanted.get("port", ""), wanted.get("active")
    if not isinstance(port, str) or active not in (None, "high", "low") or set(wanted) - {"port", "active"}:
        raise FlowError(
            f'unit {name}: reset is {json.dumps(given)}; expected a port, {{"port": "rst", "active": "high"}} with high or '
            "low, or null for none"
        )
    if port and port not in inputs.values():
        raise FlowError(
            f"unit {name}: reset is '{port}'; expected one of its inputs of one bit: {', '.join(inputs.values())}"
        )
    if not port:
        named = [each for each in inputs.values() if RESET_NAME.fullmatch(each)]
        found = sorted(asynchronous) or named
        if len(found) > 1:
            raise FlowError(
                f"unit {name} has the resets {', '.join(found)}; expected 'reset' to name one, and an entry in 'inputs' "
                "for the others"
            )
        if not found:
            return "", True
        port = found[0]
    if port in asynchronous:
        if len(asynchronous[port]) > 1:
            raise FlowError(f"unit {name}: reset {port} is active low for some flip-flops and high for others")
        low = next(iter(asynchronous[port]))
        if active is not None and low != (active == "low"):
            raise FlowError(
                f"unit {name}: reset {port} is given as active {active}, but its flip-flops take it as active "
                f"{'low' if low else 'high'}"
            )
        return port, low
    if active is not None:
        return port, active == "low"
    match = RESET_NAME.fullmatch(port)
    return port, bool(match and (match["low"] or match["not"]))


# ---------------------------------------------------------------- its stimulus


def add_reset(wrapper: Path, stimulus: Path) -> None:
    """A column for the reset that the wrapper has, if it has one: low for the first cycles, beside the first values of the
    inputs, so that after it the unit sees them as they were drawn, from the first on."""
    if f"input {RESET_PORT}" not in wrapper.read_text():
        return
    head, first, *rest = stimulus.read_text().splitlines()
    header = json.loads(head)
    header["ports"].append({"name": RESET_PORT, "width": 1})
    rows = [*[first] * RESET_CYCLES, *rest][: header["cycles"]]
    lines = [f"{row} {int(cycle >= RESET_CYCLES)}" for cycle, row in enumerate(rows)]
    stimulus.write_text("\n".join([json.dumps(header), *lines]) + "\n")
