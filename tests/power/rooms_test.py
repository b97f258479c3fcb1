# SPDX-License-Identifier: Apache-2.0
"""The rooms of power/: what the compiler lets each include is what power/README.md says, and users see what they use.

rooms_test.py BUILD       reads what the build tree BUILD compiles with
"""

from __future__ import annotations

import json
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path()
# What users of the gauge are: these folders, and C programs.
USERS = ("apps", "python")
USER = "apps/narrowgauge/energy_command.cpp"
FOR_C = "narrowgauge/power.h"

Table = dict[str, set[str]]


def table(text: str) -> Table:
    """Of each room that has a library, the rooms that it may include."""
    rows = re.findall(r"^\| \[`(\w+)/`\][^|]*\| `ng_power_\w+` \| ([^|]*) \|$", text, re.MULTILINE)
    return {room: set(re.findall(r"\w+", may)) & {name for name, _ in rows} for room, may in rows}


def headers(room: str, kind: str) -> list[str]:
    """As they are included: narrowgauge/power/gauge.hpp, gauge/data.hpp."""
    folder = ROOT / "power" / room / kind
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.h*"))


def compiled(path: Path) -> list[Path]:
    """The files of a compiler's call: the file, or those of the batch that CMake wrote (ng_in_batches)."""
    if "Unity" in path.parts and path.is_file():
        return [Path(name) for name in re.findall(r'#include "([^"]+)"', path.read_text())]
    return [path]


def include_folders(source: str) -> list[Path]:
    """Where the compiler looks when it compiles the first file below `source`."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        path = Path(entry["directory"], entry["file"]).resolve()
        if any(file.is_relative_to(ROOT / source) for file in compiled(path)):
            words = entry["command"].split()
            flags = [word[2:] for word in words if word.startswith("-I")]
            flags += [words[i + 1] for i, word in enumerate(words) if word == "-isystem"]
            return [Path(entry["directory"], flag).resolve() for flag in flags]
    raise AssertionError(f"{BUILD}/compile_commands.json compiles nothing of {source}; configure the build again")


def seen(source: str, room: str, kind: str) -> list[str]:
    """The headers of a room that a file below `source` can include."""
    folders = include_folders(source)
    return [name for name in headers(room, kind) if any((folder / name).is_file() for folder in folders)]


def problems(rooms: Table) -> list[str]:
    """Where the compiler and the table differ."""
    found = []
    for room, may in rooms.items():
        for other in sorted(set(rooms) - {room}):
            if other not in may:
                for kind in ("include", "internal"):
                    found += [f"{room} sees {name} of {other}" for name in seen(f"power/{room}/src", other, kind)]
            elif not headers(other, "include") or seen(f"power/{room}/src", other, "include") != headers(
                other, "include"
            ):
                found.append(f"{room} may include {other} and does not see its public headers")
    return found


def included(path: Path) -> list[str]:
    return re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)


class Rooms(unittest.TestCase):
    def setUp(self) -> None:
        self.rooms = table((ROOT / "power" / "README.md").read_text())

    def test_every_library_is_in_the_table(self) -> None:
        declared = re.findall(r"^ng_power_room\((\w+)", (ROOT / "power/CMakeLists.txt").read_text(), re.MULTILINE)
        assert sorted(declared) == sorted(self.rooms)
        assert len(declared) >= 4
        for room in declared:
            assert (ROOT / "power" / room / "README.md").is_file(), f"power/{room} has no README.md"

    def test_the_compiler_holds_the_table(self) -> None:
        assert problems(self.rooms) == []

    def test_no_file_climbs_out_of_its_room(self) -> None:
        files = [path for room in self.rooms for path in (ROOT / "power" / room).rglob("*.?pp")]
        climbing = {str(path): name for path in files for name in included(path) if name.startswith("..")}
        assert climbing == {}, "include what the other room's library shows"

    def test_another_table_is_noticed(self) -> None:
        tighter = {**self.rooms, "gauge": set()}
        assert "gauge sees narrowgauge/power/features.hpp of features" in problems(tighter)
        assert "gauge sees features/text.hpp of features" in problems(tighter)
        wider = {**self.rooms, "features": {"gauge"}}
        assert "features may include gauge and does not see its public headers" in problems(wider)

    def test_users_see_public_headers_only(self) -> None:
        for room in self.rooms:
            assert seen(USER, room, "internal") == []
            assert seen(USER, room, "include") == headers(room, "include")

    def test_every_public_header_has_a_user(self) -> None:
        public = {
            name: ROOT / "power" / room / "include" / name for room in self.rooms for name in headers(room, "include")
        }
        used = {FOR_C}
        todo = [path for user in USERS for path in (ROOT / user).rglob("*.?pp")]
        assert len(todo) > 10
        while todo:
            for name in included(todo.pop()):
                if name in public and name not in used:
                    used.add(name)
                    todo.append(public[name])
        assert sorted(set(public) - used) == [], "public headers that no user includes; make them internal"


if __name__ == "__main__":
    BUILD = Path(sys.argv.pop(1)).resolve()
    unittest.main()
