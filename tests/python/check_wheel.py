# SPDX-License-Identifier: Apache-2.0
"""The wheel: built, installed into an empty folder, used, and looked into.

python3 check_wheel.py SOURCE_TREE WORK_FOLDER VERSION
WORK_FOLDER keeps what CMake built, so that a second run is quick. Needs no network.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
from check_package import check_instructions, one, run

# What a user does with the installed wheel.
USE = """
import sys
import numpy as np, narrowgauge as ng
assert ng.__file__.startswith(sys.argv[1]), ng.__file__
assert ng.__version__ == sys.argv[2], ng.__version__
assert list(ng.engines()) == ["model", "systemc"], ng.engines()
x = np.random.default_rng(1).standard_normal((24, 40))
a, b = ng.quantize(x), ng.quantize(x.T, axis="columns")
result = ng.Engine("systemc").gemm(a, b)
assert (result.c == ng.matmul(x, x.T)).all() and result.cycles > 0
energy = ng.energy("nvfp4", operands=(x, x.T))
assert (energy.unit, energy.rung, energy.technology) == ("J", "L1", "osu018"), energy
assert energy.value > 0 and energy.calibration in energy.explain() and energy.error.mean_abs < 1
assert ng.energy("int4", mode="pann_paper").value == 36
assert ng.flips("nvfp4", (x, x.T))["register_flips"] > 0
assert "resnet50" in ng.workloads()
from narrowgauge import train
assert train.load("fp8").optimizer.moments == "fp8" and "luq" in train.recipes()
print(result, energy, sep="; ")
"""


def check_contents(wheel: Path, version: str) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    package = {name for name in names if name.startswith("narrowgauge/")}
    info = f"narrowgauge-{version}.dist-info/"
    needed = {"narrowgauge/__init__.py", "narrowgauge/_core.pyi", "narrowgauge/py.typed", info + "licenses/LICENSE"}
    assert needed <= names, needed - names
    modules = {name.split("/")[-1].split(".")[0] for name in package if name.endswith(".so")}
    assert {"_core"} <= modules <= {"_core", "_jax_calls"}, modules  # the second where the building Python has JAX
    program = f"narrowgauge-{version}.data/scripts/narrowgauge"
    assert program in names, names
    assert all(name in package or name.startswith(info) or name == program for name in names), names - package


def check_program(program: Path, version: str, work: Path) -> None:
    """The command `narrowgauge` of the wheel does what needs no RTL, with libraries that every machine has."""

    def says(*arguments: str) -> str:
        return run(program, *arguments, cwd=work)

    assert version in says("--version")
    x = np.random.default_rng(1).standard_normal((24, 40)).astype(np.float32)
    np.save(work / "a.npy", x)
    np.save(work / "b.npy", x.T)
    for format in ("nvfp4", "fp8_e4m3"):
        report = json.loads(says("gemm", "a.npy", "b.npy", "--engine", "systemc", "--format", format, "--json"))
        assert report["agreement"]["bit_exact"], report
    assert "mxfp8_e4m3" in says("formats")
    assert json.loads(says("energy", "--format", "nvfp4", "--json"))["value"] > 0
    (work / "space.yaml").write_text("format: [nvfp4]\ntechnology: osu018\nrows: [4, 8]\n")
    assert json.loads(says("explore", "digits", "space.yaml", "--json"))["points"] == 2
    assert "dot_xnor" in says("units")
    units = json.loads(says("units", "--json"))["units"]
    assert len(units) > 50, len(units)
    assert "[OPTIONS]" in says("--help")
    linked = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", program)))
    plain = {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6"}
    assert linked <= plain | {name for name in linked if name.startswith("ld-linux")}, linked
    print(f"narrowgauge: {program.stat().st_size} bytes, {', '.join(sorted(linked))}")


#: The newest symbols that manylinux_2_34 allows, those of AlmaLinux 9: auditwheel asks the same.
NEWEST = {"GLIBC": (2, 34), "GLIBCXX": (3, 4, 29), "CXXABI": (1, 3, 13), "GCC": (7, 0, 0)}


def check_symbols(file: Path) -> None:
    """Nothing of the C and C++ libraries that manylinux_2_34 lacks."""
    versions = re.findall(r"\((\w+)_([0-9.]+)\)", run("objdump", "-T", file))
    assert versions, file
    for library, version in set(versions):
        number = tuple(int(part) for part in version.split("."))
        assert number <= NEWEST[library], f"{file.name} wants {library}_{version}; manylinux_2_34 has {NEWEST[library]}"


def main() -> None:
    source, work, version = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    build, wheels, installed = work / "build", work / "wheel", work / "installed"
    for folder in (wheels, installed):
        shutil.rmtree(folder, ignore_errors=True)
    offline = ["--no-index", "--no-deps", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip"]
    environment = {**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": "1"}
    options = ["--no-build-isolation", f"--config-settings=build-dir={build}", "-w", str(wheels)]
    run(*pip, "wheel", *offline, *options, source, env=environment)
    wheel = one(wheels, "*.whl")
    check_contents(wheel, version)
    began = time.monotonic()
    run(*pip, "install", *offline, "--target", installed, wheel)
    print(f"{wheel.name}: {wheel.stat().st_size} bytes")
    environment["PYTHONPATH"] = str(installed)
    print(run(sys.executable, "-c", USE, installed, version, env=environment, cwd=work), end="")
    print(f"{time.monotonic() - began:.1f} s from pip install to a first product, numpy being there")
    example = (source / "docs" / "python.md").read_text().split("```python\n")[1].split("```")[0]
    run(sys.executable, "-c", example, env=environment, cwd=work)
    check_program(installed / "bin" / "narrowgauge", version, work)
    check_instructions(one(build / "python" / "narrowgauge", "_core*.so"))
    check_instructions(build / "bin" / "narrowgauge")
    check_symbols(one(build / "python" / "narrowgauge", "_core*.so"))
    check_symbols(build / "bin" / "narrowgauge")


if __name__ == "__main__":
    main()
