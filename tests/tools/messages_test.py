#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Messages of what users run: what is wrong, a semicolon, what was expected."""

from __future__ import annotations

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("apps", "engines", "examples", "firmware", "io", "model", "power", "python", "tools", "verif")
KINDS = {".c", ".cpp", ".h", ".hpp", ".in", ".inc", ".py"}
#: In a text, that is behind a quotation mark, and in no comment.
COLON = re.compile(r"""^(?!\s*(//|#)).*["'][^"]*: expected\b(?! is)""")


def faults(text: str) -> list[int]:
    return [i for i, line in enumerate(text.splitlines(), 1) if COLON.search(line)]


class Messages(unittest.TestCase):
    def test_a_semicolon_stands_before_what_was_expected(self) -> None:
        files = [f for room in ROOMS for f in sorted((ROOT / room).rglob("*")) if f.suffix in KINDS and f.is_file()]
        assert len(files) > 200
        wrong = [f"{file.relative_to(ROOT)}:{i}" for file in files for i in faults(file.read_text(errors="replace"))]
        assert wrong == [], "write '; expected'"

    def test_the_test_has_teeth(self) -> None:
        assert faults('throw Error("k is 3: expected 4");\n                  ": expected 4";\n') == [1, 2]
        assert faults('raise Error(f"{name} is {value}; expected {wanted}")\n# "k: expected"\n') == []
        assert faults("for (const auto& value : expected)\n") == []


if __name__ == "__main__":
    unittest.main()
