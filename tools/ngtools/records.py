# SPDX-License-Identifier: Apache-2.0
"""The records of the units: rtl/<family>/ng_<unit>.toml, the only place where a unit is registered. docs/adding_a_unit.md says
what stands in them; everything that a machine can know of a unit is derived from them (ngtools.generate, ngtools.cmake_units).

    records.py check                 reads all records; an error names file, key, value and what was expected
    records.py units                 names of all units
"""

from __future__ import annotations

import ast
import json
import operator
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ngtools import ngflow, systemverilog
from ngtools.ngflow import ROOT, FlowError

# What a configuration can be put to, and the settings of each.
FACES: dict[str, dict[str, type]] = {
    "rtl": {"vectors": int, "deep": bool, "sweep": int, "timeout": int},
    "netlist": {"vectors": int, "deep": bool, "timeout": int},
    "mutants": {
        "vectors": int,
        "count": int,
        "few": bool,
        "reached": bool,
        "scope": str,
        "memory": int,
        "timeout": int,
    },
    "systemc": {"vectors": int, "fault_vectors": int, "deep": bool},
    "comb_paths": {},
    "area": {"place_and_route": bool, "targets": list, "budget": dict},
    "engine": {},
}
BENCH_FACES = ("rtl", "netlist", "mutants")
TESTED_FACES = (*BENCH_FACES, "systemc")
CUT_PIPE = "model/systemc/cut_pipe_core.hpp"  # the cycle model of every unit with cuts
CUTS_MEANING = "registers at the [places](../cuts.md) whose bits are set"
NOT_DESCRIBED = "to be described"  # what tools/new_unit.py writes, and the plan's test does not let pass
NAME = re.compile(r"[a-z][a-z0-9_]*")


class RecordError(FlowError):
    """A record says what it must not; the text names file, key, value and what was expected."""


# ---------------------------------------------------------------- reading


class Table:
    """A table of a TOML file that must be used up: take() every key, then finish()."""

    def __init__(self, where: str, values: Any):
        if not isinstance(values, dict):
            raise RecordError(f"{where}: {values!r}; expected a table")
        self.where, self.values, self.taken = where, values, set()

    def error(self, key: str, what: str) -> RecordError:
        value = f": {self.values[key]!r}" if key in self.values else ""
        return RecordError(f"{self.where}{key}{value}; {what}")

    def take(self, key: str, kind: type, default: Any = ...) -> Any:
        self.taken.add(key)
        if key not in self.values:
            if default is ...:
                raise self.error(key, f"expected {a(kind)}, but it is missing")
            return default
        value = self.values[key]
        if type(value) is not kind and not (kind is float and type(value) is int):
            raise self.error(key, f"expected {a(kind)}")
        return value

    def tables(self, key: str) -> list[Table]:
        return [Table(f"{self.where}{key}[{i}].", item) for i, item in enumerate(self.take(key, list, []))]

    def table(self, key: str) -> Table:
        return Table(f"{self.where}{key}.", self.take(key, dict, {}))

    def finish(self) -> None:
        for key in self.values:
            if key not in self.taken:
                raise self.error(key, f"expected only {', '.join(sorted(self.taken))}")


def a(kind: type) -> str:
    names = {int: "an integer", str: "a string", bool: "true or false", list: "a list", dict: "a table"}
    return names[kind]


# ---------------------------------------------------------------- what records hold


@dataclass(frozen=True)
class Parameter:
    """A parameter of the RTL and the rule for its values, which the unit has to enforce with $fatal unless it is a switch."""

    name: str
    does: str
    default: int
    minimum: int | None = None
    maximum: int | None = None
    multiple_of: int = 1
    power_of_two: bool = False
    names: tuple[str, ...] = ()  # of the values 0, 1, ...
    beside: dict[str, int] = field(default_factory=dict)  # other parameters where a bad value is tried
    tried: tuple[int, ...] | None = None  # bad values that reach the check, where those next to the bounds do not
    early: tuple[int, ...] = ()  # bad values at which Verilator may fail by itself, before it comes to the check
    switch: bool = False  # one bit, which has no value but 0 and 1

    @property
    def has_rule(self) -> bool:
        return self.minimum is not None and not self.switch

    def accepts(self, value: int) -> bool:
        return (
            (self.minimum is None or value >= self.minimum)
            and (self.maximum is None or value <= self.maximum)
            and value % self.multiple_of == 0
            and not (self.power_of_two and value & (value - 1))
        )

    def expected(self) -> str:
        """The rule in words, as $fatal and the page give it."""
        low, high = self.minimum, self.maximum
        if self.names:
            items = [f"{value} ({name})" for value, name in enumerate(self.names)]
            return ", ".join(items[:-1]) + f" or {items[-1]}"
        if low is None:
            return ""
        rule = f"a multiple of {self.multiple_of}" if self.multiple_of > 1 else ""
        rule = "a power of two" if self.power_of_two else rule
        if high is None:
            return (rule if low <= 1 else f"{rule}, {low} or more") if rule else f"{low} or more"
        values = [str(value) for value in range(low, min(high, low + 3) + 1)]
        among = ", ".join(values[:-1]) + f" or {values[-1]}" if 1 < len(values) <= 3 else f"{low} to {high}"
        return f"{among}, {rule}" if rule else among

    def bad_values(self) -> list[int]:
        """Below, above, and in between where the rule has gaps."""
        if self.tried is not None:
            return list(self.tried)
        if self.minimum is None or self.switch:
            return []
        values = [self.minimum - 1]
        if self.power_of_two or self.multiple_of > 1:
            start = max(self.minimum, 3)
            values += [next(value for value in range(start, start + 4) if not self.accepts(value))]
        if self.maximum is not None:
            values.append(self.maximum + 1)
        return values


@dataclass(frozen=True)
class Configuration:
    name: str
    params: dict[str, int]
    defines: dict[str, int | str]
    faces: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Refusal:
    """Parameters that must not elaborate, and the message that says so."""

    top: str
    params: dict[str, int]
    expect: str  # regular expression
    early: bool = False  # Verilator may refuse them itself, before it comes to the message


@dataclass(frozen=True)
class Proof:
    name: str
    top: str
    sources: tuple[Path, ...]
    params: dict[str, int]
    statement: str
    depth: int
    falsify: str
    lemmas: bool
    solver: str
    seconds: int


@dataclass(frozen=True)
class Unit:
    path: Path
    name: str
    family: str
    does: str
    golden: str
    clocked: bool
    bench: str
    lockstep: str
    verilator: str  # configuration file for Verilator, '' where there is none
    parameters: dict[str, Parameter]
    cuts: dict[str, str]  # places where registers may stand, by bit of the parameter Cuts, and what they hold
    configurations: list[Configuration]
    refusals: list[Refusal]
    proofs: list[Proof]
    proven_by: list[str]
    plan: list[dict]
    energy: list[dict]

    @property
    def top(self) -> str:
        return f"ng_{self.name}"

    @property
    def rtl(self) -> str:
        return f"rtl/{self.family}/{self.top}.sv"

    @property
    def page(self) -> str:
        return f"docs/units/{self.name}.md"

    @property
    def has_cycle_model(self) -> bool:
        return self.clocked or bool(self.cuts)

    @property
    def systemc(self) -> str:
        return f"model/systemc/{self.family}/{self.name}.hpp" if self.has_cycle_model else ""

    @property
    def core(self) -> str:
        if self.cuts:
            return CUT_PIPE
        return f"model/systemc/{self.family}/{self.name}_core.hpp" if self.clocked else ""

    def having(self, face: str) -> list[Configuration]:
        return [item for item in self.configurations if face in item.faces]


# ---------------------------------------------------------------- values that follow from parameters

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
}


def evaluate(text: str, params: dict[str, int], parameters: dict[str, Parameter], where: str) -> Any:
    """'8*Lanes' -> a number; 'ASigned:bool' -> true or false; 'Structure:name' -> the value's name."""
    expression, _, kind = text.partition(":")

    def value(node: ast.AST) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name) and node.id in params:
            return params[node.id]
        if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](value(node.left), value(node.right))
        raise RecordError(f"{where}: '{{{text}}}'; expected numbers, + - * / // and parameters of {', '.join(params)}")

    try:
        result = value(ast.parse(expression, mode="eval").body)
    except (SyntaxError, ZeroDivisionError):
        raise RecordError(f"{where}: '{{{text}}}' has no value") from None
    if kind == "bool":
        return bool(result)
    if kind == "name":
        if expression not in parameters or not 0 <= result < len(parameters[expression].names):
            raise RecordError(f"{where}: '{{{text}}}'; expected a parameter whose values have names")
        return parameters[expression].names[result]
    if kind:
        raise RecordError(f"{where}: '{{{text}}}'; expected nothing, 'bool' or 'name' after the colon")
    return result


def filled(item: Any, params: dict[str, int], parameters: dict[str, Parameter], where: str) -> Any:
    """`item` with every {expression} replaced: by a value where it is a whole string, else by its text."""
    if isinstance(item, dict):
        return {key: filled(value, params, parameters, f"{where}.{key}") for key, value in item.items()}
    if isinstance(item, list):
        return [filled(value, params, parameters, where) for value in item]
    if not isinstance(item, str) or "{" not in item:
        return item
    if whole := re.fullmatch(r"\{([^{}]*)\}", item):
        return evaluate(whole[1], params, parameters, where)
    return re.sub(r"\{([^{}]*)\}", lambda m: str(evaluate(m[1], params, parameters, where)), item)


# ---------------------------------------------------------------- one record


def rtl_module(rtl: Path) -> systemverilog.Module:
    return systemverilog.Module(rtl.stem, ngflow.sources(rtl.stem, extra=[rtl]))


def read_cuts(table: Table) -> dict[str, str]:
    for name in table.values:
        if not NAME.fullmatch(name):
            raise table.error(name, "expected a place named by small letters, digits and _")
        table.take(name, str)
    return table.values


def read_parameters(table: Table, rtl: Path, rtl_name: str, cuts: dict[str, str]) -> dict[str, Parameter]:
    if cuts:
        rule = {"min": 0, "max": (1 << len(cuts)) - 1, "does": CUTS_MEANING}
        table = Table(table.where, table.values | {"Cuts": rule})
    module = rtl_module(rtl)
    defaults, switches = module.parameters, module.switches
    if list(table.values) != list(defaults):
        raise RecordError(
            f"{table.where[:-1]}: {', '.join(table.values) or 'none'}; expected those of {rtl_name}, "
            f"in its order: {', '.join(defaults) or 'none'}"
        )
    parameters = {}
    for name in table.values:
        item = table.table(name)
        low, high = item.take("min", int, None), item.take("max", int, None)
        names = item.take("names", list, [])
        if names:
            low, high = 0, len(names) - 1
        elif name in switches:
            if low is not None:
                raise item.error("min", f"expected no rule, since {name} of {rtl_name} is one bit")
            low, high = 0, 1
        if low is None and high is not None:
            raise item.error("max", "expected a min beside it")
        tried = item.take("try", list, None)
        early = item.take("early", list, [])
        parameters[name] = Parameter(
            name=name,
            does=item.take("does", str),
            default=defaults[name],
            minimum=low,
            maximum=high,
            multiple_of=item.take("multiple_of", int, 1),
            power_of_two=item.take("power_of_two", bool, False),
            names=tuple(names),
            beside=item.take("beside", dict, {}),
            tried=tuple(tried) if tried is not None else None,
            early=tuple(early),
            switch=name in switches,
        )
        item.finish()
        for key, values in (("try", tried or []), ("early", early)):
            if any(type(value) is not int or parameters[name].accepts(value) for value in values):
                raise item.error(key, f"expected values that the rule refuses: {parameters[name].expected()}")
        if not parameters[name].accepts(defaults[name]):
            raise RecordError(
                f"{item.where[:-1]}: the default of {rtl_name} is {defaults[name]}; expected {parameters[name].expected()}"
            )
    return parameters


def checked_params(where: str, params: dict, parameters: dict[str, Parameter], rules: bool = True) -> dict[str, int]:
    for name, value in params.items():
        if name not in parameters:
            raise RecordError(f"{where}{name}; expected a parameter: {', '.join(parameters) or 'the unit has none'}")
        if type(value) is not int:
            raise RecordError(f"{where}{name}: {value!r}; expected an integer")
        if rules and not parameters[name].accepts(value):
            raise RecordError(f"{where}{name}: {value}; expected {parameters[name].expected()}")
    return params


class Formats:
    """model/formats.json: parameters of a configuration that names a number format."""

    def __init__(self) -> None:
        data = json.loads((ROOT / "model" / "formats.json").read_text())["formats"]
        self.formats = {item["name"]: item for item in data}

    def params(self, item: Table, name: str, keys: dict[str, str]) -> dict[str, int]:
        if name not in self.formats:
            raise item.error("format", f"expected a format of model/formats.json: {', '.join(self.formats)}")
        values = self.formats[name]
        kinds = ("none", "fn", "ieee")  # as ng_format_pkg numbers them
        return {param: kinds.index(values[key]) if key == "nan" else int(values[key]) for param, key in keys.items()}


def define_of(param: str) -> str:
    """AWidth -> NG_A_WIDTH: the macro by which a bench gets the parameter."""
    return "NG_" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", param).upper()


def read_configurations(table: Table, parameters: dict[str, Parameter], formats: Formats) -> list[Configuration]:
    common = {name: table.table("defaults").take(name, dict, {}) for name in FACES}
    every = table.take("defines", dict, {})
    keys = table.take("format_parameters", dict, {})
    found: list[Configuration] = []
    seen: set[tuple[str, str]] = set()
    defaults = table.table("defaults")
    for name in FACES:
        defaults.taken.add(name)
    defaults.finish()
    for item in table.tables("configurations"):
        name = item.take("name", str)
        if not NAME.fullmatch(name):
            raise item.error("name", "expected small letters, digits and _")
        format_name = item.take("format", str, "")
        params = formats.params(item, format_name, keys) if format_name else {}
        params |= checked_params(f"{item.where}params.", item.take("params", dict, {}), parameters)
        params = {key: params[key] for key in parameters if key in params}
        faces: dict[str, dict[str, Any]] = {}
        for face, keys_of_face in FACES.items():
            if face not in item.values:
                continue
            settings = Table(f"{item.where}{face}.", common[face] | item.take(face, dict))
            faces[face] = {
                key: settings.take(key, kind) for key, kind in keys_of_face.items() if key in settings.values
            }
            settings.taken.update(keys_of_face)
            settings.finish()
            if ":" in settings.values.get("scope", ""):
                raise settings.error(
                    "scope", "expected files, not lines: exempt a line by a comment // ng-no-fault: reason on it"
                )
            if (name, face) in seen:
                raise item.error("name", f"expected another name: face {face} of this one is there already")
            seen.add((name, face))
        item.finish()
        if not faces:
            raise item.error("name", f"expected at least one face beside it: {', '.join(FACES)}")
        defines = ({"NG_FORMAT": format_name} if format_name else {}) | every
        defines |= {define_of(param): params.get(param, parameter.default) for param, parameter in parameters.items()}
        found.append(Configuration(name, params, defines, faces))
    return found


def read_refusals(table: Table, top: str, modules: dict[str, Path], parameters: dict[str, Parameter]) -> list[Refusal]:
    """What follows from the parameters' rules, and what the record adds."""
    beside = table.take("refuse_beside", dict, {})
    checked_params(f"{table.where}refuse_beside.", beside, parameters)
    found = []
    for parameter in parameters.values():
        for value in (*parameter.bad_values(), *parameter.early):
            params = beside | parameter.beside | {parameter.name: value}
            params = {key: params[key] for key in parameters if key in params}
            expect = f"{top}: {parameter.name}={value}; expected {parameter.expected()}"
            found.append(Refusal(top, params, re.sub(r"[()]", r"\\\g<0>", expect), value in parameter.early))
    for item in table.tables("refusals"):
        other = item.take("top", str, top)
        if other not in modules:
            raise item.error("top", "expected a module of rtl/")
        params = item.take("params", dict)
        if other == top:
            checked_params(f"{item.where}params.", params, parameters, rules=False)
        expect = item.take("expect", str)
        item.finish()
        found.append(Refusal(other, params if other != top else beside | params, expect))
    return found


def read_proofs(table: Table, family: str, unit: str, parameters: dict[str, Parameter]) -> list[Proof]:
    """Entries of `proofs`; what they have in common may stand once, in the table `proof`."""
    common = table.take("proof", dict, {})
    folder = ROOT / "verif" / "formal" / family
    found = []
    for item in table.tables("proofs"):
        item.values = common | item.values
        params = item.take("params", dict, {})
        top = item.take("top", str, f"{unit}_proof")
        sources = tuple(folder / name for name in item.take("sources", list, [f"{top}.sv"]))
        for path in sources:
            if not path.is_file():
                raise item.error("sources", f"{ngflow.from_root(path)} does not exist")
        known = {name: parameter.default for name, parameter in parameters.items()} | params
        found.append(
            Proof(
                name=item.take("name", str),
                top=top,
                sources=sources,
                params=params,
                statement=filled(item.take("statement", str), known, parameters, f"{item.where}statement"),
                depth=item.take("depth", int, 1),
                falsify=item.take("falsify", str, ""),
                lemmas=item.take("lemmas", bool, False),
                solver=item.take("solver", str, "cvc4"),
                seconds=item.take("seconds", int, 600),
            )
        )
        item.finish()
    return found


def read_energy(table: Table, top: str, modules: dict[str, Path], parameters: dict[str, Parameter]) -> list[dict]:
    """The gauge's units: groups [[energy]] whose `entries` share what stands beside them, {expressions} of parameters filled."""
    found = []
    for group in table.tables("energy"):
        module = group.take("top", str, top)
        if module not in modules:
            raise group.error("top", "expected a module of rtl/")
        names = parameters
        if module != top:
            names = {name: Parameter(name, "", 0) for name in rtl_module(modules[module]).parameters}
        shared = {key: value for key, value in group.values.items() if key not in ("entries", "top", "params")}
        params = group.take("params", dict, {})
        entries = group.tables("entries")
        if not entries:
            raise group.error("entries", "expected at least one")
        for item in entries:
            own = item.take("params", dict, {})
            merged = params | own
            merged = {key: merged[key] for key in names if key in merged} | {
                key: value for key, value in merged.items() if key not in names
            }
            checked_params(f"{item.where}params.", merged, names)
            known = {name: parameter.default for name, parameter in names.items()} | merged
            rest = {key: value for key, value in item.values.items() if key not in ("name", "params")}
            fields = filled(shared | rest, known, names, item.where[:-1])
            found.append({"name": item.take("name", str), "top": module, "params": merged} | fields)
    return found


def check_fatal(unit: Unit) -> None:
    """The RTL refuses what the record does, in the same words."""
    text = (ROOT / unit.rtl).read_text()
    for parameter in unit.parameters.values():
        if parameter.has_rule:
            message = f"{unit.top}: {parameter.name}=%0d; expected {parameter.expected()}"
            if f'$fatal(1, "{message}' not in text:
                raise RecordError(
                    f"{unit.rtl}: parameter {parameter.name}; expected a check with the record's rule, "
                    f'$fatal(1, "{message}", {parameter.name})'
                )


def read_record(path: Path, modules: dict[str, Path], formats: Formats) -> Unit:
    name, family = path.stem.removeprefix("ng_"), path.parent.name
    where = ngflow.from_root(path)
    try:
        values = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise RecordError(f"{where}: {error}") from None
    table = Table(f"{where}: ", values)
    rtl = path.with_suffix(".sv")
    if not rtl.is_file():
        raise RecordError(f"{where}; expected the unit's RTL beside it, {rtl.name}")
    cuts = read_cuts(table.table("cuts"))
    parameters = read_parameters(
        Table(f"{where}: parameters.", table.take("parameters", dict, {})), rtl, rtl.name, cuts
    )
    unit = Unit(
        path=path,
        name=name,
        family=family,
        does=table.take("does", str),
        golden=table.take("golden", str),
        clocked=table.take("clocked", bool, False),
        bench=table.take("bench", str, f"verif/cosim/{family}/{name}_bench.cpp"),
        lockstep=table.take("lockstep", str, f"verif/cosim/systemc/{name}_lockstep.cpp"),
        verilator=table.take("verilator", str, ""),
        parameters=parameters,
        cuts=cuts,
        configurations=read_configurations(table, parameters, formats),
        refusals=read_refusals(table, f"ng_{name}", modules, parameters),
        proofs=read_proofs(table, family, name, parameters),
        proven_by=table.take("proven_by", list, []),
        plan=table.take("plan", list, []),
        energy=read_energy(table, f"ng_{name}", modules, parameters),
    )
    table.finish()
    faces = {
        "golden": unit.golden,
        "page": unit.page,
        "bench": unit.bench,
        "verilator": unit.verilator,
        "core": unit.core,
        "module": unit.systemc,
        "lockstep": unit.lockstep if unit.has_cycle_model else "",
    }
    for key, file in faces.items():
        if file and not (ROOT / file).is_file():
            raise RecordError(f"{where}: {key} {file} does not exist; expected it, since a unit has this face")
    if unit.has_cycle_model and not unit.having("systemc"):
        raise RecordError(
            f"{where}: {'cuts' if cuts else 'clocked: true'}; expected a configuration with the face systemc"
        )
    for face in ("rtl", "systemc") if cuts else ():
        masks = {item.params.get("Cuts", 0) for item in unit.having(face)}
        for bit, place in enumerate(cuts):
            if not any(mask >> bit & 1 for mask in masks):
                raise RecordError(
                    f"{where}: cuts.{place}; expected a configuration with the face {face} whose Cuts has bit {bit}, which is {1 << bit}"
                )
    if not unit.having("rtl"):
        raise RecordError(f"{where}: configurations; expected one with the face rtl at least")
    check_fatal(unit)
    for i, point in enumerate(unit.plan):
        item = Table(f"{where}: plan[{i}].", point)
        for key, kind in (("point", str), ("how", str), ("tests", list)):
            item.take(key, kind)
        item.finish()
    return unit


def read_units(rtl: Path | None = None) -> list[Unit]:
    """All records, by family and name."""
    folder = rtl or ngflow.RTL
    modules = ngflow.module_map(folder)
    formats = Formats()
    units = [read_record(path, modules, formats) for path in sorted(folder.glob("*/ng_*.toml"))]
    if not units:
        raise RecordError(f"{folder} has no record ng_*.toml")
    for what, names in (
        ("unit", [unit.name for unit in units]),
        ("energy entry", [entry["name"] for unit in units for entry in unit.energy]),
        ("refusal", [f"{item.top} {item.params}" for unit in units for item in unit.refusals]),
        ("proof", [proof.name for unit in units for proof in unit.proofs]),
        *(
            (f"configuration with the face {face}", [item.name for unit in units for item in unit.having(face)])
            for face in FACES
        ),
    ):
        for name in sorted(set(names)):
            if names.count(name) > 1:
                raise RecordError(f"records of rtl/: {what} '{name}' is there {names.count(name)} times; expected once")
    return units


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1] not in ("check", "units"):
        print(__doc__, file=sys.stderr)
        return 2
    units = read_units()
    if sys.argv[1] == "units":
        print("\n".join(unit.name for unit in units))
    else:
        tests = sum(len(item.faces) for unit in units for item in unit.configurations)
        print(f"records: {len(units)} units, {tests} faces of configurations, all in order")
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
