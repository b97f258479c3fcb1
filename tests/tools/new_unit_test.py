# SPDX-License-Identifier: Apache-2.0
"""tools/new_unit.py in a copy of the tree: a clocked unit builds, its bench fails since nothing is compared, and filled in it
passes through all its faces. (A combinational one does in docs/tutorials/unit_of_mine.md, whose commands are run.)

new_unit_test.py WORK_FOLDER CMAKE VENV
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from ngtools.ngflow import ROOT, FlowError, run_main

# What a unit's faces need of the tree.
COPIED = (
    "CMakeLists.txt",
    "cmake",
    "rtl/format/ng_format_pkg.sv",
    "model/formats.json",
    "model/systemc/CMakeLists.txt",
    "model/systemc/port.hpp",
    "model/systemc/shell.hpp",
    "tools/ngtools",
    "tools/new_unit.py",
    "verif/CMakeLists.txt",
    "verif/cmake",
    "verif/cosim/bench.hpp",
    "verif/cosim/cut_pipe.hpp",
    "verif/cosim/owed.hpp",
    "verif/cosim/room.hpp",
    "verif/cosim/scoreboard.hpp",
    "verif/cosim/scoreboard_selftest.cpp",
    "verif/cosim/systemc/lockstep.hpp",
    "verif/lint",
    "verif/mutants",
    "verif/netlist",
)
MODEL = """add_library(ng_golden INTERFACE)
add_library(narrowgauge::model ALIAS ng_golden)
target_include_directories(ng_golden INTERFACE include)
add_subdirectory(systemc)
"""
# (file, what the scaffold has, what it becomes): the exclusive or of all values so far.
FILLED = (
    ("rtl/mac/ng_parity.sv", "y_o <= a_i;", "y_o <= y_o ^ a_i;"),
    (
        "model/include/narrowgauge/mac/parity.hpp",
        "(std::uint64_t a) { return a; }",
        "(std::uint64_t y, std::uint64_t a) { return y ^ a; }",
    ),
    ("model/systemc/mac/parity_core.hpp", "y_ = parity(a)", "y_ = parity(y_, a)"),
    ("verif/cosim/mac/parity_bench.cpp", "  dut.reset();\n", "  dut.reset();\n  std::uint64_t y = 0;\n"),
    (
        "verif/cosim/mac/parity_bench.cpp",
        "    bench.vector();\n",
        "    bench.vector();\n    if (dut->valid_i) y = narrowgauge::parity(y, dut->a_i);\n"
        '    bench.expect_eq("y_o", static_cast<std::uint64_t>(dut->y_o), y, [&] { return hex(dut->a_i); });\n',
    ),
)


def run(*command: str | Path, fails: bool = False, tree: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(tree / "tools")}
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, cwd=tree, env=environment)
    text = done.stdout + done.stderr
    if (done.returncode != 0) != fails:
        raise FlowError(f"{' '.join(map(str, command))} {'passed' if fails else 'failed'}:\n{text[-4000:]}")
    return text


def main() -> int:
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    work, cmake, venv = Path(sys.argv[1]).resolve(), sys.argv[2], sys.argv[3]
    tree, build = work / "tree", work / "build"
    shutil.rmtree(work, ignore_errors=True)
    for name in COPIED:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree / name)
    (tree / "model" / "CMakeLists.txt").write_text(MODEL)

    script = tree / "tools" / "new_unit.py"
    run(sys.executable, script, "parity", "--family", "mac", "--clocked", tree=tree)
    said = run(sys.executable, script, "parity", "--family", "mac", fails=True, tree=tree)
    assert "rtl/mac/ng_parity.toml" in said, said
    assert "choose another name" in said, said
    said = run(sys.executable, script, "Parity", "--family", "mac", fails=True, tree=tree)
    assert "unit name 'Parity'; expected small letters" in said, said

    options = ("-DNG_PYTHON=OFF", "-DNG_BENCHMARKS=OFF", f"-DNG_VENV={venv}", "-Wno-dev")
    run(cmake, "-G", "Ninja", "-S", tree, "-B", build, *options, tree=tree)
    run(cmake, "--build", build, "--target", "rtl_parity", tree=tree)
    said = run(build / "verif" / "rtl_parity", fails=True, tree=tree)
    assert "nothing was compared" in said, said

    for name, old, new in FILLED:
        text = (tree / name).read_text()
        assert text.count(old) == 1, f"{name}: '{old}' is there {text.count(old)} times; expected once"
        (tree / name).write_text(text.replace(old, new))
    run(cmake, "--build", build, "-j", "2", "--target", "all", "deep", tree=tree)
    ctest = Path(cmake).with_name("ctest")
    pattern = r"^(rtl|netlist|mutants|systemc|elab|lint[.]comb_paths)[.](ng_)?parity"
    said = run(ctest, "--test-dir", build, "-C", "deep", "--output-on-failure", "-R", pattern, tree=tree)
    faces = ("rtl.parity", "netlist.parity", "mutants.parity", "elab.ng_parity.Width=0", "elab.ng_parity.Width=65")
    faces += ("systemc.parity", "systemc.parity.faults", "lint.comb_paths.parity")
    for face in faces:
        assert f": {face} ." in said, f"{face} was not run:\n{said}"
    print(f"a unit from the scaffold: {len(faces)} tests of its faces passed")
    return 0


if __name__ == "__main__":
    run_main(main)
