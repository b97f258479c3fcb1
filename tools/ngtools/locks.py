# SPDX-License-Identifier: Apache-2.0
"""Locks of the Python packages: beside each list of packages stands a .lock with all that they need in turn, by version and hash.

    tools/ngtools/locks.py              write the locks whose lists ask for something else (make locks, which has uv)
    tools/ngtools/locks.py --upgrade    all of them, with the newest versions of what the lists leave open
    tools/ngtools/locks.py --check      each lock has all of its list, and a hash for every package (ctest -R tools.dependencies)

A lock holds for every Python from the list's oldest on, and for every platform: hashes of all files of a version are in it, and
markers choose a version where one does not fit all Pythons. pip installs it with --require-hashes (tools/setup.sh).
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
# List without suffix: the oldest Python, and the lock whose versions it shares.
LISTS: dict[str, tuple[str, str]] = {
    "python/requirements": ("3.11", ""),
    "python/requirements-area": ("3.11", "python/requirements"),
    "python/requirements-release": ("3.11", "python/requirements"),
    "examples/digits/requirements": ("3.11", "python/requirements"),
    "power/compare/requirements": ("3.11", ""),
    "power/compare/requirements-exports": ("3.11", ""),
    "power/compare/requirements-components": ("3.12", ""),
    "power/sram/requirements": ("3.12", ""),
}


@dataclass(frozen=True)
class Locked:
    """A package of a lock: canonical name, version, marker, hashes as pip has them, and what needs it."""

    name: str
    version: str
    marker: str
    hashes: tuple[str, ...]
    needed_by: tuple[str, ...]


def wanted(path: Path) -> list[Requirement]:
    """The lines of a list of packages."""
    lines = [line.split(" #")[0].strip() for line in path.read_text().splitlines()]
    try:
        return [Requirement(line) for line in lines if line and not line.startswith("#")]
    except InvalidRequirement as error:
        raise SystemExit(f'locks: list "{path}" is wrong; expected lines "name==version": {error}') from None


def locked(path: Path) -> list[Locked]:
    """The packages of a lock, in its order; what is no such line is an error."""
    found: list[Locked] = []
    text = path.read_text()
    for block in re.split(r"^(?=[A-Za-z0-9])", text, flags=re.M)[1:]:
        head, *rest = block.splitlines()
        requirement = Requirement(head.removesuffix("\\").strip())
        versions = list(requirement.specifier)
        if len(versions) != 1 or versions[0].operator != "==":
            raise SystemExit(f'locks: "{head}" in {path} is wrong; expected one version; run make locks')
        hashes = tuple(line.strip().removesuffix("\\").strip() for line in rest if line.lstrip().startswith("--hash="))
        via = [line.lstrip(" #").removeprefix("via").strip() for line in rest if line.lstrip().startswith("#")]
        found.append(
            Locked(
                canonicalize_name(requirement.name),
                versions[0].version,
                str(requirement.marker or ""),
                hashes,
                tuple(name for name in via if name),
            )
        )
    return found


def faults(stem: str) -> list[str]:
    """What is wrong with the lock of this list, a sentence each."""
    path = ROOT / f"{stem}.lock"
    if not path.exists():
        return [f"{stem}.lock is missing; run make locks"]
    have: dict[str, list[Locked]] = {}
    for package in locked(path):
        have.setdefault(package.name, []).append(package)
    wrong = []
    for requirement in wanted(path.with_suffix(".txt")):
        if [item.operator for item in requirement.specifier] != ["=="]:
            wrong.append(f'{stem}.txt asks for "{requirement}"; expected name==version')
        versions = {package.version for package in have.get(canonicalize_name(requirement.name), [])}
        if not versions or not all(version in requirement.specifier for version in versions):
            wrong.append(f'{stem}.lock lacks "{requirement}" of {stem}.txt; run make locks')
    for packages in have.values():
        for package in packages:
            if not package.hashes or not all(re.fullmatch("--hash=sha256:[0-9a-f]{64}", h) for h in package.hashes):
                wrong.append(f'{stem}.lock has "{package.name}" without a hash; run make locks')
    if re.search(r"://|--(extra-)?index-url|--find-links|--trusted-host", path.read_text()):
        wrong.append(f"{stem}.lock names a place to fetch from; expected versions and hashes only")
    if shared := LISTS[stem][1]:
        theirs = {(package.name, package.version) for package in locked(ROOT / f"{shared}.lock")}
        names = {name for name, _ in theirs}
        for packages in have.values():
            wrong += [
                f'{stem}.lock has "{package.name}" {package.version}, and {shared}.lock another version; run make locks'
                for package in packages
                if package.name in names and (package.name, package.version) not in theirs
            ]
    return wrong


def write(stem: str, upgrade: bool) -> None:
    """The lock by uv; what it has stays as it is unless the list or `upgrade` asks for another version."""
    uv = Path(sys.executable).with_name("uv")
    program = str(uv) if uv.exists() else shutil.which("uv")
    if not program:
        raise SystemExit("locks: program uv is not found; run make locks, which installs it")
    python, shared = LISTS[stem]
    command = [program, "pip", "compile", "--quiet", "--universal", "--python-version", python, "--generate-hashes"]
    command += ["--no-header", "--no-emit-index-url", "--no-emit-find-links", "--output-file", f"{stem}.lock"]
    command += ["--upgrade"] if upgrade else []
    command += ["--constraint", f"{shared}.lock"] if shared else []
    subprocess.run([*command, f"{stem}.txt"], cwd=ROOT, check=True)
    path = ROOT / f"{stem}.lock"
    body = (
        re.sub(rf"^    # +-c {re.escape(shared)}\.lock\n", "", path.read_text(), flags=re.M)
        if shared
        else path.read_text()
    )
    path.write_text(f"# GENERATED by make locks from {stem}.txt: every package by version and hash.\n{body}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare; exit code 1 where a lock does not fit")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions of what the lists leave open")
    args = parser.parse_args()
    if not args.check:
        for stem in LISTS:
            if args.upgrade or faults(stem):
                write(stem, args.upgrade)
                print(f"locks: {stem}.lock")
    wrong = [fault for stem in LISTS for fault in faults(stem)]
    for fault in wrong:
        print(f"locks: {fault}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
