# SPDX-License-Identifier: Apache-2.0
"""What checks of the tree share: the files of the tree, and a command line with a self-test."""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Callable
from pathlib import Path


def files_of(root: Path) -> list[str]:
    """What git tracks or would, sorted; without git every file outside folders that are built or hidden."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True,
            check=True,
            text=True,
        ).stdout.split("\0")
        files = [path for path in listed if path and (root / path).is_file()]
    except (OSError, subprocess.CalledProcessError):
        files = []
    if not files:
        files = [
            str(path.relative_to(root))
            for path in root.rglob("*")
            if path.is_file() and not re.match(r"(?:build|\.venv|\.git/|dist)", str(path.relative_to(root)))
        ]
    return sorted(files)


def run(
    doc: str | None,
    check: Callable[[argparse.Namespace], int],
    selftest: Callable[[], int],
    arguments: Callable[[argparse.ArgumentParser], object] = lambda parser: None,
) -> int:
    """The exit code of check(), or with --selftest that of selftest(), which checks the checker."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--selftest", action="store_true", help="check the checker: what it must find, and what not")
    arguments(parser)
    args = parser.parse_args()
    return selftest() if args.selftest else check(args)
