# SPDX-License-Identifier: Apache-2.0
"""EXAQ: softmax of scores in 2, 3 and 4 bits (docs/softmax.md).

>>> clip = ng.exaq_clip(ng.exaq_sigma(scores), bits=2)
>>> p = ng.exaq_softmax(scores, clip, bits=2)
>>> codes = ng.exaq_codes(scores, clip, bits=2)
>>> out = ng.exaq_attention(codes, v, clip, bits=2)  # with the integers of the hardware
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import integer, number
from ._arrays import ArrayLike, any_array, float32_array
from ._core import Error


@dataclass(frozen=True)
class ExaqRow:
    """What the hardware makes of a row of codes.

    counts: uint32, how many codes are 0 or more, 1 or more, and so on. sum: of the row's exponentials, in units of 2^-16.
    probabilities: float32, one for each code. empty: nothing attended has a weight, so all probabilities are 0.
    """

    counts: NDArray[np.uint32]
    sum: int
    probabilities: NDArray[np.float32]
    empty: bool


def _scores(scores: ArrayLike, mask: ArrayLike | None) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    values = float32_array(scores, "scores")
    if values.ndim == 0 or values.shape[-1] == 0:
        raise Error(f"scores have shape {values.shape}; expected rows along the last axis, of one score or more")
    if mask is None:
        return values, np.ones(values.shape, np.uint8)
    attended = any_array(mask, "mask")
    if attended.shape != values.shape or attended.dtype.kind not in "biu":
        raise Error(
            f"mask has dtype {attended.dtype} and shape {attended.shape}; expected booleans or integers of the scores' shape, "
            f"{values.shape}"
        )
    return values, (attended != 0).astype(np.uint8)


def _codes(codes: ArrayLike) -> NDArray[np.uint8]:
    array = any_array(codes, "codes")
    if array.dtype != np.uint8 or array.ndim == 0 or array.shape[-1] == 0:
        raise Error(f"codes have dtype {array.dtype} and shape {array.shape}; expected uint8, rows along the last axis")
    return array


def _bits(bits: int) -> int:
    return integer("bits", bits, 2, 4)


def exaq_sigma(scores: ArrayLike, mask: ArrayLike | None = None) -> float:
    """Standard deviation (divided by n - 1) of score minus the row's maximum, over all attended scores of all rows.

    scores: numbers that float32 holds, rows along the last axis. mask: of the scores' shape, 0 where a score is not attended;
        None attends all. 0.0 for fewer than two scores.

    Raises Error for shapes that do not fit and for attended scores that are not finite.
    """
    return _core.exaq_sigma(*_scores(scores, mask))


def exaq_clip(sigma: float, *, bits: int) -> float:
    """The clipping point C of the paper's linear rule, -1.66 sigma - 1.85 for 2 bits, for example; 0.0 where sigma is 0.

    Raises Error unless sigma is finite and not negative, and bits are 2 to 4.
    """
    return _core.exaq_clip(number("sigma", sigma), _bits(bits))


def exaq_thresholds(clip: float, *, bits: int) -> NDArray[np.float32]:
    """The 2^bits - 1 thresholds: a score's code is how many of them score minus maximum has reached.

    clip: 0, or -1e30 to -1e-30. Raises Error for another clip, and unless bits are 2 to 4.
    """
    return _core.exaq_thresholds(number("clip", clip), _bits(bits))


def exaq_levels(clip: float, *, bits: int) -> NDArray[np.float32]:
    """The 2^bits numbers that the codes stand for. Raises Error as exaq_thresholds does."""
    return _core.exaq_levels(number("clip", clip), _bits(bits))


def exaq_codes(scores: ArrayLike, clip: float, mask: ArrayLike | None = None, *, bits: int) -> NDArray[np.uint8]:
    """Codes of the scores' shape, 0 to 2^bits - 1; 255 where the mask is 0. Raises Error as exaq_sigma and exaq_thresholds do."""
    return _core.exaq_codes(*_scores(scores, mask), exaq_thresholds(clip, bits=bits))


def exaq_softmax(scores: ArrayLike, clip: float, mask: ArrayLike | None = None, *, bits: int) -> NDArray[np.float32]:
    """Probabilities of the scores' shape, each rounded once to float32; 0 where the mask is 0, also in a row that attends
    nothing. Raises Error as exaq_codes does."""
    return _core.exaq_softmax(exaq_codes(scores, clip, mask, bits=bits), exaq_levels(clip, bits=bits))


def exaq_table(clip: float, *, bits: int) -> NDArray[np.uint16]:
    """The hardware's 2^bits exponentials, round(65535 exp(level)). Raises Error as exaq_thresholds does."""
    return _core.exaq_table(exaq_levels(clip, bits=bits))


def exaq_row(codes: ArrayLike, clip: float, *, bits: int) -> ExaqRow:
    """Counts, sum and probabilities that the hardware makes of one row of codes.

    codes: uint8, as exaq_codes makes them, one dimension, at most 65535 attended. Raises Error for other codes, and as
    exaq_thresholds does.
    """
    row = _codes(codes)
    if row.ndim != 1:
        raise Error(f"codes have shape {row.shape}; expected one row")
    return ExaqRow(*_core.exaq_row(row, exaq_table(clip, bits=bits), _bits(bits)))


def exaq_attention(codes: ArrayLike, v: ArrayLike, clip: float, *, bits: int) -> NDArray[np.float32]:
    """Probabilities times V with the hardware's integers: exact sums of planes of V, rounded once to float32.

    codes: uint8, rows x keys, as exaq_codes makes them. v: int8, keys x width. Returns rows x width. Raises Error for other
    types and shapes, and as exaq_row does.
    """
    rows, values = _codes(codes), any_array(v, "v")
    if rows.ndim != 2 or values.ndim != 2 or values.shape[0] != rows.shape[1] or values.dtype != np.int8:
        raise Error(
            f"codes have shape {rows.shape}, v has shape {values.shape} and dtype {values.dtype}; expected rows x keys, and "
            "int8 of keys x width"
        )
    return _core.exaq_attention(rows, exaq_table(clip, bits=bits), values)
