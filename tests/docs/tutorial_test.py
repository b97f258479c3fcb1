# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a tutorial as a reader would, and compares what they print with what the page shows.

    tutorial_test.py PAGE.md BUILD VENV FOLDER

Blocks fenced as `sh` run in one shell, in order, in a folder that looks like the root of the repository: what BUILD has for users is in
its build/, VENV is its .venv. A block fenced as `text` is the output of the one before it; `…` stands for any text, alone in a line for any lines.
Blocks fenced as `sh PROGRAM` and `text PROGRAM` are left out where VENV has no such program.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MARK = "end of block"


def blocks(text: str, venv: Path) -> list[tuple[str, str]]:
    found = re.finditer(r"^```(\w*)(?: (\w+))?\n(.*?)^```$", text, re.M | re.S)
    return [(match[1], match[3]) for match in found if not match[2] or (venv / "bin" / match[2]).exists()]


def pattern(expected: str) -> re.Pattern:
    """The output that the page shows, as a pattern."""
    parts = []
    for line in expected.splitlines():
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(r"[^\n]*".join(re.escape(part.rstrip()) for part in line.split("…")) + r"[ ]*\n")
    return re.compile("".join(parts))


def self_test() -> None:
    """The comparison finds what is not there."""
    assert pattern("a\n…\nb 1…\n").fullmatch("a\nx\ny\nb 12\n")
    assert not pattern("a\n…\nb 1…\n").fullmatch("a\nx\nb 2\n")
    assert not pattern("a\n").fullmatch("a\nb\n")


def main() -> int:
    page, build, venv, folder = (Path(argument).absolute() for argument in sys.argv[1:])
    self_test()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name not in ("build", ".venv", ".git"):
            (folder / entry.name).symlink_to(entry)
    (folder / ".venv").symlink_to(venv)
    (folder / "build").mkdir()
    for name in ("bin", "lib", "model", "python"):  # not this test's own folder: a link in a circle
        (folder / "build" / name).symlink_to(build / name)
    pairs = []
    for kind, text in blocks(page.read_text(), venv):
        if kind == "sh":
            pairs.append((text, None))
        elif kind == "text":
            assert pairs, f"{page}: an output before any command"
            assert pairs[-1][1] is None, f"{page}: two outputs of one command"
            pairs[-1] = (pairs[-1][0], text)
    assert any(expected for _, expected in pairs), f"{page}: no output to compare"
    script = "set -euo pipefail\n" + "".join(f"{commands}echo '{MARK}'\n" for commands, _ in pairs)
    run = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True)
    outputs = run.stdout.split(f"{MARK}\n")
    failed = run.returncode
    for number, (commands, expected) in enumerate(pairs):
        got = outputs[number] if number < len(outputs) else ""
        if number >= len(outputs) - 1:
            print(
                f"{page.name}: these commands ended with exit code {run.returncode}:\n{commands}\nand printed\n{got}\n{run.stderr}"
            )
            return 1
        if expected is not None and not pattern(expected).fullmatch(got):
            print(f"{page.name}: after\n{commands}\nthe page shows\n{expected}\nbut there was\n{got}")
            failed = 1
    if not failed:
        print(
            f"{page.name}: {len(pairs)} blocks of commands ran, {sum(e is not None for _, e in pairs)} outputs compared"
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
