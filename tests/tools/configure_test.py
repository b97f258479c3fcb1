# SPDX-License-Identifier: Apache-2.0
"""What a build tree has when something is switched off or not installed: trees are configured, nothing is built.

configure_test.py WORK    in the folder WORK
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = Path()
LEAST = ["NG_RTL=OFF", "NG_PYTHON=OFF", "NG_BENCHMARKS=OFF"]


def run(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


class Configure(unittest.TestCase):
    def configure(self, *options: str) -> str:
        """What CMake prints for a fresh tree with these options, `self.tree`."""
        self.tree = WORK / self._testMethodName
        shutil.rmtree(self.tree, ignore_errors=True)
        return run(
            "cmake", "-G", "Ninja", "-S", ROOT, "-B", self.tree, *[f"-D{option}" for option in (*LEAST, *options)]
        )

    def targets(self) -> set[str]:
        listed = run("cmake", "--build", self.tree, "--target", "help")
        return {line.split(":")[0] for line in listed.splitlines()}

    def run_tests(self, pattern: str) -> str:
        return run("ctest", "--test-dir", self.tree, "-R", pattern)

    def test_without_tests_all_programs_are_there(self) -> None:
        self.configure("NG_TESTS=OFF")
        assert {"narrowgauge", "ng_gatesim", "ng_features", "ng_stimulus"} <= self.targets()
        assert not [target for target in self.targets() if target.endswith(("_test", "_tests"))]

    def test_without_cross_compilers_their_tests_are_skipped_by_name(self) -> None:
        said = self.configure("NG_RISCV_GCC=", "NG_ARM_GCC=", "NG_UNICORN=")
        for package in ("gcc-riscv64-unknown-elf", "gcc-arm-none-eabi", "libunicorn-dev"):
            assert package in said, said
        skipped = self.run_tests("firmware.size|bare")
        for test in ("firmware.size.riscv32", "firmware.size.arm", "firmware.bare"):
            assert f"{test} (Skipped)" in skipped, skipped

    def test_without_one_compiler_the_other_is_used(self) -> None:
        if not (shutil.which("arm-none-eabi-gcc") and shutil.which("riscv64-unknown-elf-gcc")):
            self.skipTest("needs both cross compilers")
        self.configure("NG_ARM_GCC=")
        targets = self.targets()
        assert "ng_driver_riscv32" in targets
        assert "ng_driver_arm" not in targets


if __name__ == "__main__":
    WORK = Path(sys.argv.pop(1)).resolve()
    unittest.main()
