# SPDX-License-Identifier: Apache-2.0
"""What is installed, why, and under which licence: the tables of docs/dependencies.md.

    tools/ngtools/dependencies.py            write them (make generate)
    tools/ngtools/dependencies.py --check    compare only; exit code 1 where one has drifted (ctest -R tools.dependencies)

The lists that install are tools/apt-packages.txt and the locks of python/ (locks.py); reasons and licences stand in
tools/dependencies.toml. A package that one of the two has and the other has not is an error.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

from ngtools import locks
from ngtools.locks import ROOT

FACTS = ROOT / "tools" / "dependencies.toml"
APT = ROOT / "tools" / "apt-packages.txt"
PAGE = "docs/dependencies.md"
# The command that installs a group of Debian packages, and the lock of Python packages.
GROUPS = {"demo": "make demo", "test": "make setup", "optional": "make setup, where Debian has it"}
STEMS = {
    "python/requirements": "make setup",
    "python/requirements-area": "make setup-area",
    "python/requirements-release": "make locks, make sbom",
}
DEMO = ("nanobind-backend", "numpy", "pyslang")  # what tools/setup.sh demo takes of the first lock


class ListError(ValueError):
    """A package that the lists or the facts lack."""


@dataclass(frozen=True)
class Package:
    """A package of one of the lists: version and hashes of Python packages only, `needed_by` of those without a reason."""

    kind: str  # debian or python
    name: str
    command: str  # that installs it
    licence: str
    why: str
    ships: str
    version: str = ""
    marker: str = ""
    hashes: tuple[str, ...] = ()
    needed_by: tuple[str, ...] = ()


def apt_groups() -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    group: list[str] = []
    for line in APT.read_text().splitlines():
        if line.startswith("["):
            group = groups.setdefault(line.strip("[] "), [])
        elif line and not line.startswith("#"):
            group.append(line.strip())
    return groups


def packages() -> list[Package]:
    """All of them, Debian's first. A package without a licence, or with one and in no list, is a ListError."""
    facts = tomllib.loads(FACTS.read_text())
    found: list[Package] = []
    for group, names in apt_groups().items():
        found += [package("debian", name, GROUPS[group], facts) for name in names]
    seen: set[tuple[str, str]] = set()
    for stem, command in STEMS.items():
        for item in locks.locked(ROOT / f"{stem}.lock"):
            if (item.name, item.version) in seen:
                continue
            seen.add((item.name, item.version))
            first = "make demo" if item.name in DEMO and stem == "python/requirements" else command
            others = tuple(name for name in item.needed_by if not name.startswith("-r "))
            found.append(package("python", item.name, first, facts, item, others))
    for kind in ("debian", "python"):
        have = {item.name for item in found if item.kind == kind}
        for name in sorted(set(facts[kind]) - have):
            raise ListError(f'package "{name}" of {facts_name()} is in no list; expected it in one, or take it out')
    return found


def package(
    kind: str,
    name: str,
    command: str,
    facts: dict[str, dict[str, dict[str, str]]],
    item: locks.Locked | None = None,
    needed_by: tuple[str, ...] = (),
) -> Package:
    fact = facts[kind].get(name)
    if not fact or not fact.get("licence"):
        raise ListError(f'package "{name}" has no licence in {facts_name()}; expected a line under [{kind}]')
    if not fact.get("why") and not needed_by:
        raise ListError(f'package "{name}" has no reason in {facts_name()}; expected why = "…"')
    more = (item.version, item.marker, item.hashes) if item else ("", "", ())
    return Package(
        kind, name, command, fact["licence"], fact.get("why", ""), fact.get("ships", ""), *more, needed_by=needed_by
    )


def facts_name() -> str:
    return str(FACTS.relative_to(ROOT))


def table(found: Iterable[Package]) -> str:
    lines = ["| package | installed by | licence | why |", "|---|---|---|---|"]
    for item in found:
        name = f"`{item.name}`" + (f" {item.version}" if item.version else "")
        lines.append(f"| {name} | {item.command} | {item.licence} | {item.why} |")
    return "\n".join(lines) + "\n"


def indirect(found: Iterable[Package]) -> str:
    lines = ["| package | installed by | licence | needed by |", "|---|---|---|---|"]
    for item in found:
        lines.append(
            f"| `{item.name}` {item.version} | {item.command} | {item.licence} | {', '.join(item.needed_by)} |"
        )
    return "\n".join(lines) + "\n"


def shipped(found: Iterable[Package]) -> str:
    lines = ["| package | licence | how |", "|---|---|---|"]
    lines += [f"| `{item.name}` | {item.licence} | {item.ships} |" for item in found if item.ships]
    return "\n".join(lines) + "\n"


def page() -> str:
    found = packages()
    python = [item for item in found if item.kind == "python"]
    parts = {
        "shipped": shipped(found),
        "debian": table(item for item in found if item.kind == "debian"),
        "python": table(item for item in python if item.why),
        "indirect": indirect(item for item in python if not item.why),
    }
    text = (ROOT / PAGE).read_text()
    for what, new in parts.items():
        marks = rf"(<!-- {what}: begin \(generated\) -->\n).*?(<!-- {what}: end -->\n)"
        text, count = re.subn(marks, lambda found, new=new: found[1] + new + found[2], text, flags=re.S)
        if count != 1:
            raise ListError(f'{PAGE} has {count} places "{what}: begin (generated)"; expected one')
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="only compare")
    args = parser.parse_args()
    try:
        text = page()
    except ListError as error:
        print(f"dependencies: {error}")
        return 1
    if args.check and text != (ROOT / PAGE).read_text():
        print(f"dependencies: {PAGE} is not what the lists say; run tools/ngtools/dependencies.py")
        return 1
    if not args.check:
        (ROOT / PAGE).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
