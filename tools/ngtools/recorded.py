# SPDX-License-Identifier: Apache-2.0
"""Recorded data: what a machine measured, a JSON Lines file for each kind and technology, an entry a line.

power/records/<technology>.jsonl, power/cuts/records/<technology>.jsonl and synth/records/<target>.jsonl. A line is an object
whose first key holds its name; lines are sorted by name, keys stay in the order in which they were made. A write touches the
lines of the entries it is given and leaves every other byte as it was; it is atomic, and writers wait for each other.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from ngtools import ngflow
from ngtools.ngflow import FlowError

SUFFIX = ".jsonl"


def lines_of(text: str, file: str) -> dict[str, str]:
    """Name -> line, without its end, of the text of a file, which errors name."""
    found: dict[str, str] = {}
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        where = f"{file}:{number}"
        try:
            entry = json.loads(line)
        except json.JSONDecodeError as error:
            raise FlowError(
                f"{where} is not JSON ({error}); expected an object, and git has the recorded one"
            ) from None
        if not isinstance(entry, dict) or not entry or not isinstance(name := next(iter(entry.values())), str):
            raise FlowError(f"{where} is no entry; expected an object whose first key holds its name")
        if found and name <= before:
            raise FlowError(f'entry "{name}" in {where} is behind "{before}"; expected sorted names, each once')
        found[name] = line
        before = name
    return found


def lines(path: Path) -> dict[str, str]:
    """Name -> line, without its end. A file that does not exist has none."""
    return lines_of(path.read_text(), ngflow.from_root(path)) if path.exists() else {}


def read(path: Path) -> dict[str, dict]:
    """Name -> entry, sorted by name. A file that does not exist has none."""
    return {name: json.loads(line) for name, line in lines(path).items()}


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One writer at a time in a folder; the lock leaves no file."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_whole(path: Path, text: str) -> None:
    """A file that is there whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        # As any file that is created: mkstemp's is of its owner alone.
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def update(path: Path, entries: Mapping[str, dict | None]) -> None:
    """Write these entries, and remove those that are None. The first value of an entry is its name."""
    new = {}
    for name, entry in entries.items():
        if entry is not None:
            if next(iter(entry.values()), None) != name:
                raise FlowError(f'entry "{name}" begins with {next(iter(entry.items()), None)}; expected its name')
            new[name] = json.dumps(entry)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _alone(path.parent):
        before = lines(path)
        kept = {name: line for name, line in before.items() if name not in entries} | new
        if kept != before:
            write_whole(path, "".join(f"{kept[name]}\n" for name in sorted(kept)))


def by_lines(content: dict) -> str:
    """A JSON file for reading and for diffs: a line a key, and a line a key of its objects; what is below them in one line."""

    def value(of: object) -> str:
        if not isinstance(of, dict) or not of:
            return json.dumps(of)
        return "{\n" + ",\n".join(f"  {json.dumps(key)}: {json.dumps(item)}" for key, item in of.items()) + "\n }"

    return "{\n" + ",\n".join(f" {json.dumps(key)}: {value(item)}" for key, item in content.items()) + "\n}\n"
