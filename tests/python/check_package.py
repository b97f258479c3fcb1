# SPDX-License-Identifier: Apache-2.0
"""What can be said of the package without building its wheel, from the build tree: instructions that every x86-64 has, and a
source archive with all that the wheel's compilers read.

python3 check_package.py SOURCE_TREE BUILD_TREE WORK_FOLDER VERSION
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

# Targets that the wheel is made of.
IN_WHEEL = "ng_(?:io|driver|engines|power_features|power_gauge|power_explore|cli|cli_parts|python)|narrowgauge"


def run(*command: str | Path, **keywords: object) -> str:
    done = subprocess.run(command, check=False, capture_output=True, text=True, **keywords)  # type: ignore[call-overload]
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def one(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        sys.exit(f"{folder} has {len(found)} files {pattern}; expected one")
    return found[0]


def check_instructions(module: Path) -> None:
    """Instructions beyond x86-64's baseline are only in the kernels that are chosen by what the processor has."""
    function, seen = "", 0
    for line in run("objdump", "-d", "--no-show-raw-insn", "-C", module).splitlines():
        if line.endswith(">:"):
            function = line
        elif re.search(r"%[yz]mm|\tv[a-z]+[a-z0-9]* .*%xmm", line):
            seen += 1
            dispatched = re.search(
                r"detail::(?:accumulate_)?avx(2|512|512vnni)::|flips_avx512|\[clone \.avx(2|512f)", function
            )
            assert dispatched, f"{function} {line}: not dispatched"
    assert seen > 100, f"{seen} AVX instructions were seen in {module}; expected the kernels"


def check_sdist(source: Path, work: Path, build: Path, version: str) -> None:
    """The archive has every file of the tree that the wheel's compilers read, and can be configured."""
    made = work / "sdist"
    shutil.rmtree(made, ignore_errors=True)
    hook = f"from scikit_build_core.build import build_sdist; build_sdist({str(made)!r})"
    run(sys.executable, "-c", hook, cwd=source)
    with tarfile.open(one(made, "*.tar.gz")) as archive:
        archive.extractall(made)
    unpacked = made / f"narrowgauge-{version}"
    read, of_wheel = set(), False
    for line in run("ninja", "-C", build, "-t", "deps").splitlines():
        if line[:4] != "    ":
            of_wheel = re.search(rf"CMakeFiles/({IN_WHEEL})\.dir/", line) is not None
        elif of_wheel:
            read.add(Path(os.path.normpath(build / line.strip())))  # relative to `build` where ccache rewrote it
    read = {path for path in read if path.is_relative_to(source) and not path.is_relative_to(build)}
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
    source, build, work, version = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    check_instructions(one(build / "python" / "narrowgauge", "_core*.so"))
    check_instructions(build / "bin" / "narrowgauge")
    check_sdist(source, work, build, version)


if __name__ == "__main__":
    main()
