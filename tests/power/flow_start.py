# SPDX-License-Identifier: Apache-2.0
"""What tests of the gate-level flow share. They are called as TEST PROGRAMS WORK [names of tests]."""

from __future__ import annotations

import json
import sys
import unittest
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from ngtools.power import characterize, library

PROGRAMS, WORK = Path(sys.argv[1]), Path(sys.argv[2])


def options() -> Namespace:
    return characterize.arguments_for(["--programs", str(PROGRAMS), "--work", str(WORK), "--threads", "1"])


def signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def rows_of(names: Sequence[str], lines: list[str]) -> list[dict[str, int]]:
    """The hexadecimal words of each cycle by their ports."""
    return [dict(zip(names, (int(word, 16) for word in line.split()), strict=True)) for line in lines]


def stimulus_of(path: Path) -> list[dict[str, int]]:
    head, *lines = path.read_text().splitlines()
    return rows_of([port["name"] for port in json.loads(head)["ports"]], lines)


def need_liberty() -> None:
    """For setUpModule: without the library the tests are skipped, by name."""
    try:
        library.liberty_file("osu018")
    except library.LibertyError as error:
        raise unittest.SkipTest(str(error)) from None


def main() -> None:
    WORK.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]], verbosity=2)
