# SPDX-License-Identifier: Apache-2.0
"""Arguments as they come, checked: whatever is wrong with one is an Error that names it, its value and what was expected."""

from __future__ import annotations

import math
import operator
import os
from typing import Any

import numpy as np

from ._core import Error

MAX_SEED = 2**64 - 1
#: What starting threads takes, about, in nanoseconds.
SOON_NS = 2e5
MAX_THREADS = 1024
MAX_PATH = 4096
MAX_NAME = 400  # a dialect with all its fields has some 300


def shown(value: object) -> str:
    """A value for an error text, on one line and short."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."


def text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise Error(f"{name} is {shown(value)}; expected a name as text")
    try:
        value.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        raise Error(f"{name} is {shown(value)}; expected text of whole Unicode characters") from None
    if len(value) > MAX_NAME:
        raise Error(f"{name} is a text of {len(value)} characters; expected a name of at most {MAX_NAME}")
    return value


def integer(name: str, value: object, low: int, high: int) -> int:
    """An int, numpy's included; bool is none."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise Error(f"{name} is {shown(value)}; expected an integer, {low} to {high}") from None
    if low <= number <= high:
        return number
    raise Error(f"{name} is {number}; expected {low} to {high}")


def seed(value: object) -> int:
    return integer("seed", value, 0, MAX_SEED)


def threads(value: object, nanoseconds: float = math.inf) -> int:
    """How many threads. nanoseconds: about what the work takes one thread; 0, one a core, is one where others would start too late."""
    count = integer("threads", value, 0, MAX_THREADS)
    return 1 if count == 0 and nanoseconds < SOON_NS else count


def flag(name: str, value: object) -> bool:
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    raise Error(f"{name} is {shown(value)}; expected True or False")


def number(name: str, value: object) -> float:
    try:
        if isinstance(value, str | bytes | bool):
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{name} is {shown(value)}; expected a number") from None


def float32(name: str, value: object) -> float:
    """A number, rounded to float32; what is beyond its range becomes an infinity."""
    with np.errstate(over="ignore"):
        return float(np.float32(number(name, value)))


def one_of(name: str, value: object, allowed: tuple[str, ...]) -> str:
    if text(name, value) in allowed:
        return str(value)
    raise Error(f"{name} is {shown(value)}; expected one of {', '.join(allowed)}")


def instance(name: str, value: Any, kind: type, hint: str) -> None:
    if not isinstance(value, kind):
        raise Error(f"{name} is of type {type(value).__name__}; expected {kind.__name__}; {hint}")


def path(name: str, value: object) -> str:
    try:
        file = os.fsdecode(value)  # type: ignore[arg-type]
        if b"\0" not in file.encode() and len(file.encode()) < MAX_PATH:
            return file
    except (TypeError, UnicodeEncodeError):
        pass
    raise Error(f"{name} is {shown(value)}; expected a path, as text or pathlib.Path") from None


def call(name: str, value: object) -> None:
    if value is not None and not callable(value):
        raise Error(f"{name} is {shown(value)}; expected a function, or None")
