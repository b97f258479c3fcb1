# SPDX-License-Identifier: Apache-2.0
"""Questions to the energy gauge, from Python's values to its JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import integer, path, shown, text
from ._arguments import threads as check_threads
from ._arrays import ArrayLike, real_array
from ._core import Answer, Error, Technology
from .types import MemoryFields, UnitFields

Operands = tuple[ArrayLike, ArrayLike]
MAX_PRODUCTS = 2**63 - 1
MAX_HISTOGRAM = 2**17  # codes of an operand, 16 bits at most


class Gauge(_core.Gauge):
    """The data that energies come from.

    calibrations: files of one's own, as power/calibration/<technology>.json, besides the package's. Functions that are
    given no gauge use the package's data. Where a gauge is unpickled, the files are read again.
    Raises Error for a file that cannot be read.
    """

    def __init__(self, calibrations: Sequence[str | PathLike[str]] = ()) -> None:
        if isinstance(calibrations, str | bytes) or not isinstance(calibrations, Iterable):
            raise Error(f"calibrations is {shown(calibrations)}; expected a list of paths")
        super().__init__([path("a calibration", file) for file in calibrations])


def checked_gauge(gauge: object) -> Gauge | None:
    if gauge is None or isinstance(gauge, Gauge):
        return gauge
    raise Error(f"gauge is {shown(gauge)}; expected a narrowgauge.Gauge, or None for the package's data")


def pair(name: str, arrays: object) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two arrays of real numbers; integers stay integers."""
    if not isinstance(arrays, tuple | list) or len(arrays) != 2:
        raise Error(f"{name} is {shown(arrays)}; expected a pair of arrays, (A, B)")
    return real_array(arrays[0], f"A of {name}"), real_array(arrays[1], f"B of {name}")


def technologies(*, gauge: Gauge | None = None) -> dict[str, Technology]:
    """What energies can be asked about, by name."""
    return _core.technologies(gauge=checked_gauge(gauge))


def energy_lines(questions: str, *, gauge: Gauge | None = None) -> str:
    """JSON Lines in, JSON Lines out, as `narrowgauge energy` does it (docs/energy.md has the keys).

    A bad line gets {"error": ...} as its answer and the others go on.
    """
    if not isinstance(questions, str):
        raise Error(f"questions is {shown(questions)}; expected JSON Lines as one text")
    try:
        questions.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        raise Error("questions holds half of a character; expected JSON Lines of whole Unicode characters") from None
    return _core.energy_lines(questions, gauge=checked_gauge(gauge))


def export_tables(
    kind: str, folder: str | PathLike[str], *, technology: str = "osu018", gauge: Gauge | None = None
) -> list[Path]:
    """Writes the gauge's answers as tables of another tool, and provenance.json, where they come from.

    kind: 'accelergy' (and Timeloop), 'zigzag', 'hwcomponents'. Returns the files written. docs/energy.md.
    """
    return _core.export_tables(
        text("kind", kind),
        path("folder", folder),
        technology=text("technology", technology),
        gauge=checked_gauge(gauge),
    )


def _plain(value: Any) -> Any:
    """As JSON has it. NaN and infinity, which it does not have, go as text: that is refused by the field's name."""
    if isinstance(value, (np.ndarray, np.generic)):
        if value.size > MAX_HISTOGRAM:
            raise Error(f"an array of shape {value.shape} is in a question; expected at most {MAX_HISTOGRAM} numbers")
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _text(question: Mapping[str, Any]) -> str:
    if not isinstance(question, Mapping):
        raise Error(f"a question is {shown(question)}; expected a dictionary")
    plain = {key: _plain(value) for key, value in question.items() if value is not None}
    # An array as the statistics of an operand is its histogram.
    plain = {key: {"histogram": value} if isinstance(value, list) else value for key, value in plain.items()}
    for key, value in plain.items():
        text("a key of a question", key)
        if isinstance(value, str):
            text(key, value)
        try:
            json.dumps(value)
        except (TypeError, ValueError, RecursionError):
            raise Error(f"{key} is {shown(value)}; expected numbers, text, lists or dictionaries of them") from None
    return json.dumps(plain)


def energy(
    format: str | None = None,
    *,
    operands: Operands | None = None,
    max_products: int = 1 << 22,
    threads: int = 0,
    gauge: Gauge | None = None,
    **fields: Unpack[UnitFields],
) -> Answer:
    """Energy of multiply-accumulates.

    format: 'nvfp4', 'fp8_e4m3', 'fp8_e5m2', 'mxfp4', 'luq', 'bf16', 'fp16', 'tf32', 'fp32', 'int1' to 'int16', 'uint1' to
        'uint16', or 'integer' with a_width, b_width, a_signed, b_signed; left out where a_format and b_format say it
        of each operand.
    fields: the unit, its operands' statistics, technology and rung, as docs/energy.md lists them. Statistics `a` and `b`
        are 'uniform', 'gauss', 'half_normal' or an array: how often each code occurs.
    operands: (A, B), M x K and K x N, array-like, for rung L1: flips are counted in the golden model of the unit as the product passes
        through it. Real numbers are quantized to the format; integers are codes of integer formats as they are.
        The answer is for the whole product, M N K multiply-accumulates, unless `count` says otherwise.
    max_products: of a larger product, evenly spaced rows and columns are counted on.
    threads: of counting, 0 is one a core.

    Raises FieldError, which names the field, its value and what it may be.
    """
    question: dict[str, Any] = {"format": format, **fields}
    gauge = checked_gauge(gauge)
    if operands is None:
        return _core.ask(_text(question), gauge=gauge)
    max_products = integer("max_products", max_products, 1, MAX_PRODUCTS)
    threads = check_threads(threads)
    a, b = pair("operands", operands)
    if a.ndim == 2 and b.ndim == 2:
        question.setdefault("count", a.shape[0] * b.shape[1] * a.shape[1])
    return _core.ask_counted(_text(question), a, b, max_products=max_products, threads=threads, gauge=gauge)


def memory_energy(memory: str, *, gauge: Gauge | None = None, **fields: Unpack[MemoryFields]) -> Answer:
    """Energy of moving bits: memory 'sram' (with size_bytes; port_bits for CACTI's tables), 'dram', 'hbm2', 'gddr6'.

    docs/energy.md lists the fields.

    Raises FieldError, which names the field, its value and what it may be.
    """
    return _core.ask(_text({"memory": memory, **fields}), gauge=checked_gauge(gauge))


def energy_many(questions: Iterable[Mapping[str, Any]], *, gauge: Gauge | None = None) -> list[Answer | Exception]:
    """An answer for each question: a mapping with the arguments of `energy` or `memory_energy`.

    A question that cannot be answered has its exception in the list, and the others go on.
    """
    if isinstance(questions, str | bytes | Mapping | np.ndarray) or not isinstance(questions, Iterable):
        raise Error(f"questions is {shown(questions)}; expected a list of dictionaries")
    texts: list[str | Error] = []
    for question in questions:
        try:
            texts.append(_text(question))
        except Error as error:
            texts.append(error)
    good = iter(_core.ask_many([one for one in texts if isinstance(one, str)], gauge=checked_gauge(gauge)))
    return [next(good) if isinstance(one, str) else one for one in texts]


def flips(
    format: str,
    operands: Operands,
    *,
    max_products: int = 1 << 22,
    threads: int = 0,
    **fields: Unpack[UnitFields],
) -> dict[str, float]:
    """What happens in a unit per cycle as a product passes through it: the features that rung L1 prices, by name.

    The arguments are those of `energy`; names and meanings: docs/energy_ladder.md.
    """
    max_products = integer("max_products", max_products, 1, MAX_PRODUCTS)
    threads = check_threads(threads)
    a, b = pair("operands", operands)
    question = _text({"format": format, **fields})
    return _core.count_features(question, a, b, max_products=max_products, threads=threads)
