# SPDX-License-Identifier: Apache-2.0
"""Shapes of the dictionaries that narrowgauge takes and returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

# Of an operand: a name, or how often each code occurs.
Statistics = str | Sequence[float] | NDArray[np.floating | np.integer] | dict[str, Sequence[float]]


class Activity(TypedDict):
    """A tile's activity counters over one product; docs/units/tile.md defines them."""

    cycles: int
    busy: int
    stall_in: int
    stall_out: int
    products: int
    zero_a: int
    zero_b: int
    flips_a: int
    flips_b: int


class LinkActivity(TypedDict):
    """What the line to a board carried for one product.

    seconds: of the product. frames: sent for the first time; repeated: sent again. damaged: answers that came so.
    """

    seconds: float
    sent_bytes: int
    received_bytes: int
    frames: int
    repeated: int
    damaged: int


class DeadlineProgress(TypedDict):
    """How far a product under a deadline went.

    late: whether the deadline came before it was done. beats: steps along k that the tile took, of all its blocks of
    results. whole: those that the product has.
    """

    late: bool
    beats: int
    whole: int


class UnitFields(TypedDict, total=False):
    """A question about a multiply-accumulate, but for its format; docs/energy.md has ranges and defaults."""

    a_format: str
    b_format: str
    a_width: int
    b_width: int
    a_signed: bool
    b_signed: bool
    structure: str
    lanes: int
    accumulator: bool
    acc_width: int
    schedule: str
    additions: float
    pipelined: bool
    reference: str
    a: Statistics
    b: Statistics
    technology: str
    rung: str
    mode: str
    recipe: str
    stimulus: str
    count: float
    strict: bool
    energy_per_flip: float


class MemoryFields(TypedDict, total=False):
    """A question about a memory, but for its name; docs/energy.md has ranges and defaults."""

    technology: str
    bits: float
    size_bytes: float
    port_bits: float
    operation: str
    strict: bool
