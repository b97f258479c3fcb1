# SPDX-License-Identifier: Apache-2.0
"""Lines of RTL that campaigns of mutants leave out. A comment exempts its line, or stands in lines of its own above it:

    // ng-no-fault: only the last count of a chunk matters
    // ng-no-fault(ng_div_fp32): the exponent of a quotient is never that far below the least

The second form holds in campaigns of that top module only.
"""

from __future__ import annotations

import re

MARK = "ng-no-fault"
COMMENT = re.compile(r"ng-no-fault(?:\((?P<top>\w+)\))?: \S")


def exemptions(text: str, name: str) -> list[tuple[int, str, str | None]]:
    """Number and code of each exempt line, and the top module that it is exempt for, or None for every one."""
    found: list[tuple[int, str, str | None]] = []
    waiting: list[str | None] = []
    for number, line in enumerate(text.splitlines(), 1):
        code, slashes, comment = line.partition("//")
        if slashes and comment.strip().startswith(MARK):
            match = COMMENT.match(comment.strip())
            if match is None:
                raise ValueError(
                    f'{name}:{number}: comment "{comment.strip()}" is wrong; '
                    f'expected "{MARK}: reason" or "{MARK}(top module): reason"'
                )
            waiting.append(match["top"])
        if code.strip():
            found += [(number, code.strip(), top) for top in waiting]
            waiting = []
    return found


def exempt_lines(text: str, name: str, top: str) -> set[int]:
    """Numbers of the lines that a campaign of this top module leaves out."""
    return {number for number, _, only in exemptions(text, name) if only in (None, top)}
