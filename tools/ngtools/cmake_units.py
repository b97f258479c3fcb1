# SPDX-License-Identifier: Apache-2.0
"""CMake calls for everything that the records of the units ask for: cmake_units.py OUTPUT

Run when CMake configures (verif/cmake/NgUnits.cmake); the functions called are those of NgVerif.cmake.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from ngtools import ngflow
from ngtools.ngflow import ROOT
from ngtools.records import Configuration, Unit, read_units


def text(value: object) -> str:
    """A CMake argument that stands for itself."""
    return f"[==[{value}]==]"


def call(function: str, /, *flags: str, **arguments: object) -> str:
    """One call; lists become several arguments, what is None or empty is left out."""
    lines = [f"{function}("]
    for key, value in arguments.items():
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        if values and value is not None and value != "":
            lines.append(f"  {key} " + " ".join(map(text, values)))
    return "\n".join(lines + [f"  {flag}" for flag in flags]) + ")\n"


def params(values: dict[str, int]) -> str:
    return ";".join(f"{name}={value}" for name, value in values.items())


def defines(values: dict[str, int | str]) -> list[str]:
    return [f"{name}={value}" for name, value in values.items()]


class Writer:
    def __init__(self) -> None:
        self.sources: dict[tuple[str, tuple[Path, ...]], list[Path]] = {}

    def rtl(self, top: str, extra: Iterable[Path] = ()) -> list[Path]:
        key = (top, tuple(extra))
        if key not in self.sources:
            self.sources[key] = ngflow.sources(top, extra=list(extra))
        return self.sources[key]

    def bench(self, unit: Unit, item: Configuration) -> str:
        faces = item.faces
        flags = [f"NO_{face.upper()}" for face in ("netlist", "mutants") if face not in faces]
        netlist, mutants = faces.get("netlist", {}), faces.get("mutants", {})
        flags += ["RTL_DEEP"] if faces["rtl"].get("deep") else []
        flags += ["NETLIST_DEEP"] if netlist.get("deep") else []
        flags += ["FEW_MUTANTS"] if mutants.get("few") else []
        flags += ["REACHED_MUTANTS"] if mutants.get("reached") else []
        return call(
            "ng_add_bench",
            *flags,
            NAME=item.name,
            TOP=unit.top,
            LABELS=[unit.family],
            BENCH=ROOT / unit.bench,
            PARAMS=params(item.params),
            DEFINES=defines(item.defines),
            LIBS=["narrowgauge::cores"] if unit.clocked else None,
            VERILATOR=ROOT / unit.verilator if unit.verilator else None,
            SOURCES=self.rtl(unit.top),
            VECTORS=faces["rtl"].get("vectors"),
            SWEEP=faces["rtl"].get("sweep"),
            TIMEOUT=faces["rtl"].get("timeout"),
            NETLIST_VECTORS=netlist.get("vectors"),
            MUTANTS=mutants.get("count"),
            MUTANT_VECTORS=mutants.get("vectors"),
            MUTANT_SCOPE=mutants.get("scope"),
            MEMORY_MUTANTS=mutants.get("memory"),
        )

    def lockstep(self, unit: Unit, item: Configuration) -> str:
        face = item.faces["systemc"]
        return call(
            "ng_add_lockstep",
            *(["DEEP"] if face.get("deep") else []),
            NAME=item.name,
            TOP=unit.top,
            LABELS=[unit.family],
            BENCH=ROOT / unit.lockstep,
            PARAMS=params(item.params),
            DEFINES=defines(item.defines),
            VERILATOR=ROOT / unit.verilator if unit.verilator else None,
            SOURCES=self.rtl(unit.top),
            VECTORS=face.get("vectors"),
            FAULT_VECTORS=face.get("fault_vectors"),
        )

    def unit(self, unit: Unit) -> str:
        calls = [self.bench(unit, item) for item in unit.having("rtl")]
        calls += [self.lockstep(unit, item) for item in unit.having("systemc")]
        calls += [
            call("ng_add_comb_paths", NAME=item.name, TOP=unit.top, PARAMS=params(item.params))
            for item in unit.having("comb_paths")
        ]
        calls += [
            call("ng_add_cuts_proof", NAME=item.name, TOP=unit.top, PARAMS=params(item.params))
            for item in unit.having("rtl")
            if item.params.get("Cuts")
        ]
        calls += [
            call(
                "ng_add_elab_error",
                *(["EARLY"] if refusal.early else []),
                TOP=refusal.top,
                PARAMS=params(refusal.params),
                EXPECT=refusal.expect,
                SOURCES=self.rtl(refusal.top),
            )
            for refusal in unit.refusals
        ]
        for proof in unit.proofs:
            calls.append(
                call(
                    "ng_add_proof",
                    *(["LEMMAS"] if proof.lemmas else []),
                    NAME=proof.name,
                    TOP=proof.top,
                    SOURCES=self.rtl(proof.top, proof.sources),
                    PARAMS=params(proof.params),
                    DEPTH=proof.depth,
                    SOLVER=proof.solver,
                    SECONDS=proof.seconds,
                    STATEMENT=proof.statement,
                    FALSIFY=proof.falsify,
                )
            )
        return f"# {unit.top}\n" + "".join(calls)


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    writer = Writer()
    out = "# GENERATED by tools/ngtools/cmake_units.py from the records of rtl/\n" + "\n".join(
        map(writer.unit, read_units())
    )
    path = Path(sys.argv[1])
    if not path.exists() or path.read_text() != out:
        path.write_text(out)
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
