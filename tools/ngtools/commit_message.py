#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a commit message: commit_message.py FILE, as the hook commit-msg of .pre-commit-config.yaml calls it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

COLUMNS = 72
SUBJECT = re.compile(r"[a-z][\w./-]*(, [a-z][\w./-]*)*: (?P<verb>[A-Za-z]+)(\b.*[^.])?")
# First words of subjects that tell a state, or what was done, in place of what the commit does.
NO_ORDER = re.compile(r"(the|a|an|it|this|there|what|when|now|no|all|each|every)$|\w+(ed|ing)$", re.IGNORECASE)
ORDERS = {"bring", "embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "string", "swing"}


def faults(message: str) -> list[str]:
    """What is wrong with a message; nothing for merges and reverts, whose subjects git writes."""
    lines = [line.rstrip() for line in message.split("\n") if not line.startswith("#")]
    while lines and not lines[-1]:
        lines.pop()
    subject = lines[0] if lines else ""
    if subject.startswith(("Merge ", "Revert ", "fixup! ", "squash! ")):
        return []
    found = []
    match = SUBJECT.fullmatch(subject)
    if match is None:
        found.append(f'subject "{subject}" has no scope; expected "scope: imperative", without a full stop')
    elif NO_ORDER.match(match["verb"]) and match["verb"].lower() not in ORDERS:
        found.append(f'subject "{subject}" is no order; expected an imperative behind the scope, as "add" or "refuse"')
    found += [
        f"line {number} has {len(line)} columns; expected at most {COLUMNS}"
        for number, line in enumerate(lines, 1)
        if len(line) > COLUMNS and " " in line.strip()
    ]
    if len(lines) > 1 and lines[1]:
        found.append("line 2 is not empty; expected an empty line between subject and body")
    if not any(lines[1:]):
        found.append("the message has no body; expected one that says why")
    return found


if __name__ == "__main__":
    wrong = faults(Path(sys.argv[1]).read_text())
    for fault in wrong:
        print(f"commit message: {fault}")
    sys.exit(bool(wrong))
