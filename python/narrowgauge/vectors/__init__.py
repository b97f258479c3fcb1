# SPDX-License-Identifier: Apache-2.0
"""The conformance kit `narrowgauge-vectors`: questions and answers for other implementations of these rules, in files of any
language, and a runner that compares (docs/conformance.md).

>>> from narrowgauge import vectors
>>> vectors.write("kit")
>>> kit = vectors.open_kit("kit", kinds=["casts"])
>>> vectors.check(kit, my_function).passed
"""

from __future__ import annotations

from .kit import KINDS, OPERATIONS, Case, Kind, Kit, Operation, open_kit
from .reference import reference
from .run import Command, Outcome, Report, check, write

__all__ = [
    "KINDS",
    "OPERATIONS",
    "Case",
    "Command",
    "Kind",
    "Kit",
    "Operation",
    "Outcome",
    "Report",
    "check",
    "open_kit",
    "reference",
    "write",
]
