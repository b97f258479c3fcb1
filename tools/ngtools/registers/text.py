# SPDX-License-Identifier: Apache-2.0
"""Text that C and C++ share."""

from __future__ import annotations

import textwrap


def comment(text: str, start: str, end: str = "", indent: str = "") -> list[str]:
    """Lines no longer than the formatter allows."""
    wrapped = textwrap.wrap(text, 116 - len(indent) - len(start) - len(end))
    if end:
        return [
            *[f"{indent}{start}{wrapped[0]}", *[f"{indent} * {line}" for line in wrapped[1:]]][:-1],
            f"{indent}{start if len(wrapped) == 1 else ' * '}{wrapped[-1]}{end}",
        ]
    return [f"{indent}{start}{line}" for line in wrapped]
