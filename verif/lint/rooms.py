# SPDX-License-Identifier: Apache-2.0
"""Which room knows which: the table "Rooms" of docs/design.md against what the files include, import and link.

A room is a folder at the top. An edge is an #include of another room's header, a Python import of another room's part of
the tools' package (ngtools.<room>), or, in a CMakeLists.txt, a linked target of another room. What the table does not
allow is an error; so is a room that the table lacks, or has too much.

    verif/lint/rooms.py              exit code 1 and one line for each edge that is not in the table
    verif/lint/rooms.py --edges      print all edges with one file each
    verif/lint/rooms.py --selftest   a small tree with one fault of each kind, each of which must be found
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from ngtools import checks

ROOT = Path(__file__).resolve().parents[2]
PAGE = "docs/design.md"
CODE = {".c", ".cpp", ".h", ".hpp", ".inc", ".in"}
# Rooms of checks and build steps may know all; the table says so with "all".
ALL = "all"

Edges = dict[tuple[str, str], list[str]]  # (who, whom): where


def allowed(root: Path) -> dict[str, set[str]]:
    """The table: room -> rooms that it may know."""
    rooms: dict[str, set[str]] = {}
    text = (root / PAGE).read_text()
    section = re.search(r"^## Rooms$(.*?)(?=^## |\Z)", text, re.S | re.M)
    if not section:
        raise SystemExit(f"{PAGE}: there is no section '## Rooms'")
    for line in section.group(1).splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("| `") or len(cells) != 3:
            continue
        known = {ALL} if cells[2].startswith(ALL) else set(re.findall(r"`(\w+)/`", cells[2]))
        for room in re.findall(r"`(\w+)/`", cells[0]):
            rooms[room] = known
    return rooms


def room_of(path: str) -> str:
    return path.split("/", 1)[0]


def includes(root: Path, files: list[str]) -> Edges:
    """Edges by #include "..."; a name that several rooms have is its own room's."""
    edges: Edges = {}
    ends: dict[str, list[str]] = {}
    for path in files:
        parts = path.split("/")
        for start in range(len(parts)):
            ends.setdefault("/".join(parts[start:]), []).append(path)
    for path in files:
        if Path(path).suffix not in CODE:
            continue
        for name in re.findall(r'^\s*#\s*include\s+"([^"]+)"', (root / path).read_text(), re.M):
            near = (root / path).parent / name
            if near.is_file():
                rooms = {room_of(str(near.resolve().relative_to(root.resolve())))}
            else:
                rooms = {room_of(candidate) for candidate in ends.get(name, [])}
            if rooms and room_of(path) not in rooms:
                for room in rooms:
                    edges.setdefault((room_of(path), room), []).append(path)
    return edges


def links(root: Path, files: list[str]) -> Edges:
    """Edges by target_link_libraries."""
    edges: Edges = {}
    lists = [path for path in files if Path(path).name == "CMakeLists.txt" and "/" in path]
    texts = {path: re.sub(r"#[^\n]*", "", (root / path).read_text()) for path in lists}
    home = {}
    for path, text in texts.items():
        for kind, name, rest in re.findall(r"add_(library|executable)\(\s*([\w:]+)([^)]*)\)", text):
            if kind == "library" and (alias := re.search(r"ALIAS\s+(\w+)", rest)):
                home[name] = home.get(alias.group(1), room_of(path))
            else:
                home[name] = room_of(path)
    for path, text in texts.items():
        for body in re.findall(r"target_link_libraries\(([^)]*)\)", text):
            for name in body.split():
                if name in home and home[name] != room_of(path):
                    edges.setdefault((room_of(path), home[name]), []).append(path)
    return edges


def imports(root: Path, files: list[str], rooms: set[str]) -> Edges:
    """Edges by Python imports."""
    edges: Edges = {}
    for path in files:
        if not path.endswith(".py"):
            continue
        for name in re.findall(r"^\s*(?:from|import)\s+ngtools\.(\w+)", (root / path).read_text(), re.M):
            if name in rooms and name != room_of(path):
                edges.setdefault((room_of(path), name), []).append(path)
    return edges


def check(root: Path) -> tuple[list[str], Edges]:
    table, files = allowed(root), checks.files_of(root)
    edges: Edges = {}
    for found in (includes(root, files), links(root, files), imports(root, files, set(table))):
        for edge, where in found.items():
            edges.setdefault(edge, []).extend(where)
    code = {room_of(path) for path in files if "/" in path and (Path(path).suffix in CODE | {".py", ".sv"})}
    problems = [f"{room}/ is not in the table of {PAGE}" for room in sorted(code - set(table))]
    there = {room_of(path) for path in files}
    problems += [
        f"{room}/ is in the table of {PAGE}, and there is no such folder" for room in sorted(set(table) - there)
    ]
    for (who, whom), where in sorted(edges.items()):
        known = table.get(who, set())
        if ALL not in known and whom not in known:
            problems.append(f"{who}/ may not know {whom}/ ({PAGE}, Rooms), but {', '.join(sorted(set(where)))} does")
    return problems, edges


def selftest() -> int:
    """Each kind of edge that is not allowed, and a room that is not in the table, are found; what is allowed is not."""
    table = "## Rooms\n\n| room | concern | knows |\n|---|---|---|\n| `a/` | x | nobody |\n| `b/` | x | `a/` |\n| `t/` | x | all |\n"
    good = {
        PAGE: table,
        "a/include/a/one.hpp": "",
        "a/CMakeLists.txt": "add_library(liba one.cpp)\n",
        "b/two.cpp": '#include "a/one.hpp"\n',
        "b/two.hpp": "",
        "b/CMakeLists.txt": "add_library(libb two.cpp)\ntarget_link_libraries(libb PRIVATE liba)\n",
        "t/three.cpp": '#include "a/one.hpp"\n#include "b/two.hpp"\n',
        "t/four.py": "from ngtools.b import two\n",
    }
    bad = {
        "a/one.cpp": '#include "b/two.hpp"\n',
        "a/CMakeLists.txt": "add_library(liba one.cpp)\ntarget_link_libraries(liba PRIVATE libb)\n",
        "b/four.py": "import ngtools.t\n",
        "c/five.cpp": "",
        PAGE: table + "| `d/` | x | nobody |\n",
    }
    failed = 0
    for name, content in [("", ""), *bad.items()]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            subprocess.run(["git", "init", "-q", folder], check=True)
            for path, text in (good | ({name: content} if name else {})).items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            problems, _ = check(root)
        if bool(problems) != bool(name):
            print(f"selftest: with {name or 'nothing'} changed: {problems or 'no problem'}")
            failed += 1
    print(f"selftest: {len(bad)} faults put in, {failed} wrong")
    return 1 if failed else 0


def run(args: argparse.Namespace) -> int:
    problems, edges = check(ROOT)
    if args.edges:
        for (who, whom), where in sorted(edges.items()):
            print(f"{who:10} -> {whom:10} {len(set(where)):3} files, {sorted(set(where))[0]}")
    for problem in problems:
        print(problem)
    print(f"rooms: {len(edges)} edges, {len(problems)} problems")
    return 1 if problems else 0


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--edges", action="store_true", help="print all edges")


if __name__ == "__main__":
    sys.exit(checks.run(__doc__, run, selftest, arguments))
