# SPDX-License-Identifier: Apache-2.0
"""Tests of the search for defects (tools/ngtools/tidy.py), on a small tree with a clang-tidy of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from ngtools import ngflow, tidy

# It finds fault with what says so, and logs what it was asked.
CLANG_TIDY = """#!/bin/sh
for source; do :; done
[ "$source" = --version ] && { echo 14; exit 0; }
basename "$source" >> "$LOG"
! grep -H FAULT "$source"
"""
TREE = {
    ".clang-tidy": "Checks: '*'\n",
    "io/text.hpp": "#pragma once\nint text();\n",
    "io/text.cpp": '#include "text.hpp"\nint text() { return 0; }\n',
    "io/file.cpp": "int file() { return 0; }\n",
    "model/sum.cpp": "int sum() { return 0; }\n",
    "firmware/src/ng_tile.c": "int tile;\n",
    "firmware/bare/gemm.c": "int gemm;\n",
    "tests/io/io_test.cpp": "int test;\n",
}


class Tidy(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.build = self.root / "build"
        unity = self.build / "io" / "Unity" / "unity_0_cxx.cxx"
        files = TREE | {
            "bin/clang-tidy": CLANG_TIDY,
            str(unity): f'#include "{self.root}/io/text.cpp"\n#include "{self.root}/io/file.cpp"\n',
        }
        for name, text in files.items():
            self.write(name, text)
        (self.root / "bin" / "clang-tidy").chmod(0o755)
        entries = [
            self.entry(unity, "-DIO -include /x/cmake_pch.hxx"),
            self.entry(self.root / "model" / "sum.cpp", "-DMODEL"),
            self.entry(self.root / "firmware" / "src" / "ng_tile.c", "-DTILE"),
            self.entry(self.root / "tests" / "io" / "io_test.cpp", ""),
        ]
        (self.build / "compile_commands.json").write_text(json.dumps(entries))
        for command in (["git", "init", "-q"], ["git", "add", *TREE]):
            subprocess.run(command, cwd=self.root, check=True)
        self.log = self.root / "log"
        environment = {"PATH": f"{self.root / 'bin'}:{os.environ['PATH']}", "LOG": str(self.log)}
        for patch in (
            unittest.mock.patch.object(ngflow, "ROOT", self.root),
            unittest.mock.patch.dict(os.environ, environment),
        ):
            patch.start()
            self.addCleanup(patch.stop)

    def write(self, name: str, text: str) -> None:
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text)

    def entry(self, file: Path, flags: str) -> dict:
        return {"directory": str(self.build), "file": str(file), "command": f"c++ {flags} -c {file}"}

    def searched(self, *options: str) -> tuple[int, set[str]]:
        """The exit code, and what clang-tidy was asked about."""
        self.log.write_text("")
        with (
            unittest.mock.patch("sys.argv", ["tidy.py", str(self.build), "--jobs", "1", *options]),
            contextlib.redirect_stdout(io.StringIO()),
        ):
            code = tidy.main()
        return code, set(self.log.read_text().split())

    def test_commands(self) -> None:
        """A source in a batch has the flags of the batch; what only cross compilers see, those of the driver."""
        found = {path.name: entry["arguments"] for path, entry in tidy.sources(self.build).items()}
        assert set(found) == {"text.cpp", "file.cpp", "sum.cpp", "ng_tile.c", "gemm.c"}
        assert found["text.cpp"] == ["c++", "-DIO", "-c", str(self.root / "io" / "text.cpp")]
        assert found["gemm.c"][1:4] == ["-DTILE", "-c", str(self.root / "firmware" / "bare" / "gemm.c")]

    def test_what_changed_is_searched(self) -> None:
        everything = {"text.cpp", "file.cpp", "sum.cpp", "ng_tile.c", "gemm.c"}
        assert self.searched() == (0, everything)
        assert self.searched() == (0, set())
        self.write("io/text.hpp", TREE["io/text.hpp"] + "// FAULT\n")  # through its source
        assert self.searched() == (0, {"text.cpp"})
        self.write("model/sum.cpp", "int sum() { return 1; }  // FAULT\n")
        assert self.searched() == (1, {"sum.cpp"})
        assert self.searched() == (1, {"sum.cpp"})
        assert self.searched(str(self.root / "io" / "file.cpp")) == (0, set())
        assert self.searched("--all") == (1, everything)
        self.write("model/sum.cpp", TREE["model/sum.cpp"])
        assert self.searched() == (0, {"sum.cpp"})
        self.write(".clang-tidy", "Checks: 'bugprone-*'\n")
        assert self.searched() == (0, everything)


if __name__ == "__main__":
    unittest.main()
