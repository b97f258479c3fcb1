# SPDX-License-Identifier: Apache-2.0
"""Tests of groups of tests under sanitizers (tools/ngtools/sanitize.py)."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import textwrap
import unittest
import unittest.mock
from pathlib import Path

import pytest

from ngtools import ngflow, sanitize

PRESETS = {
    "version": 6,
    "configurePresets": [{"name": "sanitize", "generator": "Ninja", "binaryDir": "${sourceDir}/build-sanitize"}],
    "testPresets": [{"name": "sanitize", "configurePreset": "sanitize", "output": {"outputOnFailure": True}}],
}


class Groups(unittest.TestCase):
    def test_names(self) -> None:
        for name, labels, group in (
            ("rtl.fifo", ["prim", "rtl"], "rtl.prim"),
            ("systemc.fifo.faults", ["systemc", "prim"], "systemc.prim"),
            ("rtl.engine", ["rtl"], "engines"),
            ("systemc.tile_tlm", ["systemc"], "engines"),
            ("power.gate", ["power"], "power"),
            ("io.files", [], "io"),
        ):
            assert sanitize.group_of(name, labels) == group


class Small(unittest.TestCase):
    """A project of its own: what is clean passes; a report fails, also that of a program whose failure is expected."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        patch = unittest.mock.patch.object(ngflow, "ROOT", self.root)
        patch.start()
        self.addCleanup(patch.stop)
        (self.root / "CMakePresets.json").write_text(json.dumps(PRESETS))
        (self.root / "sum.c").write_text(
            "#include <limits.h>\nint main(int argc, char** argv) { (void)argv; int sum = INT_MAX - 1; sum += argc; return sum < 0; }\n"
        )
        (self.root / "CMakeLists.txt").write_text(
            textwrap.dedent("""\
            cmake_minimum_required(VERSION 3.25)
            project(small LANGUAGES C)
            enable_testing()
            add_compile_options(-fsanitize=undefined -fno-sanitize-recover=all)
            add_link_options(-fsanitize=undefined)
            add_executable(sum sum.c)
            add_test(NAME io.sum COMMAND sum)
            add_test(NAME cli.overflow COMMAND sum one more)
            set_tests_properties(cli.overflow PROPERTIES WILL_FAIL ON)
            """)
        )

    def test_reports(self) -> None:
        assert sanitize.build(self.root / "build", ["sum"]) == 0
        cache = (self.root / "build-sanitize" / "CMakeCache.txt").read_text()
        assert f"NG_BUILT_VERILATED:PATH={self.root / 'build'}" in cache
        for group, code, figures in (
            ("io", 0, {"tests": 1, "reports": 0}),
            ("cli", 1, {"tests": 1, "reports": 1}),
        ):
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                assert sanitize.run(group) == code, group
            assert out.getvalue().splitlines()[-1] == f"figures: {json.dumps(figures)}"
        assert "signed integer overflow" in out.getvalue()
        with pytest.raises(ngflow.FlowError, match='group "oi" has no tests; expected one of cli, io'):
            sanitize.run("oi")


if __name__ == "__main__":
    unittest.main()
