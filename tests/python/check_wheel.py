# SPDX-License-Identifier: Apache-2.0
"""The wheel and the source archive: built, installed into an empty folder, used, and looked into.

python3 check_wheel.py SOURCE_TREE WORK_FOLDER VERSION
WORK_FOLDER keeps what CMake built, so that a second run is quick. Needs no network.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np

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
print(result, energy, sep="; ")
"""


def run(*command: str | Path, **keywords: object) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True, **keywords)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def one(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{folder} has {len(found)} files {pattern}: expected one")
    return found[0]


def check_contents(wheel: Path, version: str) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    package = {name for name in names if name.startswith("narrowgauge/")}
    info = f"narrowgauge-{version}.dist-info/"
    needed = {"narrowgauge/__init__.py", "narrowgauge/_core.pyi", "narrowgauge/py.typed", info + "licenses/LICENSE"}
    assert needed <= names, needed - names
    assert len([name for name in package if name.endswith(".so")]) == 1, package
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
    refused = subprocess.run([program, "units"], check=False, capture_output=True, text=True)
    assert refused.returncode, refused
    assert "README.md" in refused.stderr, refused
    linked = set(re.findall(r"NEEDED.*\[(.*)\]", run("readelf", "-d", program)))
    plain = {"libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6"}
    assert linked <= plain | {name for name in linked if name.startswith("ld-linux")}, linked
    print(f"narrowgauge: {program.stat().st_size} bytes, {', '.join(sorted(linked))}")


def check_instructions(module: Path) -> None:
    """Instructions beyond x86-64's baseline are only in the kernels that are chosen by what the processor has."""
    function, seen = "", 0
    for line in run("objdump", "-d", "--no-show-raw-insn", "-C", module).splitlines():
        if line.endswith(">:"):
            function = line
        elif re.search(r"%[yz]mm|\tv[a-z]+[a-z0-9]* .*%xmm", line):
            seen += 1
            dispatched = re.search(r"detail::avx(2|512|512vnni)::|flips_avx512|\[clone \.avx(2|512f)", function)
            assert dispatched, f"{function} {line}: not dispatched"
    assert seen > 100, f"{seen} AVX instructions were seen in {module}: expected the kernels"


def check_sdist(source: Path, work: Path, build: Path, version: str) -> None:
    """The archive has every file of the tree that the wheel's compilers read, and can be configured."""
    made = work / "sdist"
    shutil.rmtree(made, ignore_errors=True)
    hook = f"from scikit_build_core.build import build_sdist; build_sdist({str(made)!r})"
    run(sys.executable, "-c", hook, cwd=source)
    with tarfile.open(one(made, "*.tar.gz")) as archive:
        archive.extractall(made)
    unpacked = made / f"narrowgauge-{version}"
    lines = run("ninja", "-C", build, "-t", "deps").splitlines()
    named = (line.strip() for line in lines if line[:4] == "    ")  # relative to `build` where ccache rewrote them
    read = {Path(os.path.normpath(build / name)) for name in named}
    read = {path for path in read if path.is_relative_to(source) and not path.is_relative_to(work)}
    read = {path.relative_to(source) for path in read if ".venv" not in path.parts}
    assert len(read) > 30, read
    missing = [str(path) for path in sorted(read) if not (unpacked / path).is_file()]
    assert not missing, f"the source archive lacks {missing}: add them to sdist.include in pyproject.toml"
    options = [f"-D{name}=OFF" for name in ("NG_RTL", "NG_SYSTEMC", "NG_CROSS", "NG_BENCHMARKS", "NG_TESTS")]
    options += ["-DSKBUILD=2", "-DSKBUILD_SCRIPTS_DIR=scripts", f"-DPython_EXECUTABLE={sys.executable}", "-G", "Ninja"]
    run("cmake", "-S", unpacked, "-B", made / "build", *options)
    files = [path.relative_to(unpacked) for path in unpacked.rglob("*") if path.is_file()]
    extra = [str(path) for path in files if not (source / path).is_file() and path.name != "PKG-INFO"]
    assert not extra, f"the source archive has files that are not of this tree: {extra[:9]}"
    assert len(files) < 2000, f"the source archive has {len(files)} files: see sdist.include in pyproject.toml"
    print(f"sdist: {len(files)} files, among them all {len(read)} that the build read; it configures")


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
    run(*pip, "install", *offline, "--target", installed, wheel)
    print(f"{wheel.name}: {wheel.stat().st_size} bytes")
    environment["PYTHONPATH"] = str(installed)
    print(run(sys.executable, "-c", USE, installed, version, env=environment, cwd=work), end="")
    example = (source / "docs" / "python.md").read_text().split("```python\n")[1].split("```")[0]
    run(sys.executable, "-c", example, env=environment, cwd=work)
    check_program(installed / "bin" / "narrowgauge", version, work)
    check_instructions(one(build / "python" / "narrowgauge", "_core*.so"))
    check_instructions(build / "bin" / "narrowgauge")
    check_sdist(source, work, build, version)


if __name__ == "__main__":
    main()
