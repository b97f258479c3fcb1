# SPDX-License-Identifier: Apache-2.0
"""Looks for defects in C and C++ with clang-tidy (.clang-tidy): tidy.py BUILD [--all] [--jobs N] [SOURCE...]

All sources of the library are searched, as the build folder compiles them, and headers through them. A source that was clean
is searched again only when it, a header of this repository that it reaches, its flags or the checks changed; --all searches
every one. In batches (NG_BATCHES) a source is compiled with the flags of its batch.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ngtools import ngflow
from ngtools.ledger_keys import Tree, digest

FOLDERS = ("apps", "engines", "firmware", "io", "model", "power", "python")
UNITY = re.compile(r'^#include "(.*)"$', re.M)


def commands(build: Path) -> Iterator[tuple[Path, dict]]:
    """Sources of this repository with their entries of compile_commands.json, taken out of their batches."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        in_batch = path.parent.name == "Unity" and path.is_file()
        for source in UNITY.findall(path.read_text()) if in_batch else [entry["file"]]:
            arguments = shlex.split(entry["command"])
            arguments = [source if word == entry["file"] else word for word in arguments]
            if "-include" in arguments:  # GCC's precompiled header is nothing to Clang
                place = arguments.index("-include")
                if "cmake_pch" in arguments[place + 1]:
                    del arguments[place : place + 2]
            yield Path(source), {"directory": entry["directory"], "file": source, "arguments": arguments}


def sources(build: Path) -> dict[Path, dict]:
    listed = subprocess.run(
        ["git", "ls-files", "*.c", "*.cpp"], cwd=ngflow.ROOT, capture_output=True, text=True, check=True
    )
    wanted = {ngflow.ROOT / name for name in listed.stdout.split() if name.split("/")[0] in FOLDERS}
    found = {path: entry for path, entry in commands(build) if path in wanted}
    # What only cross compilers see is searched as the driver is.
    driver = found.get(ngflow.ROOT / "firmware" / "src" / "ng_tile.c")
    for path in sorted(wanted - set(found)) if driver else ():
        arguments = [str(path) if word == driver["file"] else word for word in driver["arguments"]]
        arguments += ["-ffreestanding", f"-I{ngflow.ROOT / 'firmware' / 'ports'}"]
        found[path] = driver | {"file": str(path), "arguments": arguments}
    return found


def key(tree: Tree, path: Path, entry: dict, fixed: str) -> str:
    """Of everything that decides over the findings."""
    seen: set[Path] = set()
    queue = [path]
    while queue:
        here = queue.pop()
        if here not in seen:
            seen.add(here)
            queue += tree.includes(here)
    texts = [tree.text(found) for found in sorted(seen)]
    return digest("\n".join([fixed, json.dumps(entry), *texts]))


def search(path: Path, database: Path) -> tuple[int, str]:
    command = ["clang-tidy", "-p", str(database), "--quiet", "--warnings-as-errors=*", str(path)]
    done = subprocess.run(command, cwd=ngflow.ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout or done.stderr


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="build folder")
    parser.add_argument("--all", action="store_true", help="also those that were clean and did not change")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="sources at once")
    parser.add_argument("only", nargs="*", metavar="SOURCE", help="these, if not every one")
    args = parser.parse_intermixed_args()
    if not shutil.which("clang-tidy"):
        print("style: clang-tidy is not installed (Debian package clang-tidy), C and C++ were not searched")
        return 0
    if not (args.build / "compile_commands.json").is_file():
        print(f"style: {args.build}/compile_commands.json is missing (make configure), C and C++ were not searched")
        return 0
    found = sources(args.build)
    if args.only:
        found = {
            path: entry for path, entry in found.items() if any(Path(name).resolve() == path for name in args.only)
        }
    work = args.build / "tidy"
    work.mkdir(exist_ok=True)
    (work / "compile_commands.json").write_text(json.dumps(list(found.values()), indent=1))
    store = work / "clean.json"
    clean = set(json.loads(store.read_text())) if store.is_file() else set()
    configurations = sorted(ngflow.ROOT.glob("**/.clang-tidy"))
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
    fixed = version + "".join(path.read_text() for path in configurations if "build" not in path.parts)
    tree = Tree(ngflow.ROOT)
    keys = {path: key(tree, path, entry, fixed) for path, entry in found.items()}
    todo = [path for path in found if args.all or keys[path] not in clean]
    bad = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=args.jobs) as pool:
        for path, (code, output) in zip(todo, pool.map(lambda path: search(path, work), todo), strict=True):
            if code:
                bad += 1
                print(output, end="", flush=True)
            else:
                clean.add(keys[path])
                store.write_text(json.dumps(sorted(clean.intersection(keys.values()) if not args.only else clean)))
    if bad:
        print(f"style: clang-tidy finds defects through {bad} of {len(found)} C and C++ sources")
        return 1
    print(
        f"style: clang-tidy has nothing to say about {len(found)} C and C++ sources; {len(todo)} of them were searched now"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
