# SPDX-License-Identifier: Apache-2.0
"""Matrix instructions of others, as they add: docs/accumulation.md."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arguments import integer, one_of, shown, text
from ._arguments import threads as check_threads
from ._core import Error

RULES = ("blackwell_64", "blackwell_32", "hopper_32", "hopper_32_fp16")
MAX_CODES = 2**32
MAC_NS = 1.0  # about what one product takes a core


def accumulation_modes() -> dict[str, str]:
    """Names of the accumulations that gemm(..., accumulate=) takes, each with its use."""
    return _core.accumulation_modes()


def _codes(x: ArrayLike, name: str, dtype: type) -> NDArray[np.generic]:
    try:
        array = np.asarray(x)
    except Exception as error:
        raise Error(f"{name} is {shown(x)}, which is no array: {error}; expected integers in two dimensions") from error
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "ui":
        raise Error(
            f"{name} has shape {array.shape} of {array.dtype}; expected integers in two dimensions, both at least 1"
        )
    if array.size > MAX_CODES:
        raise Error(f"{name} has shape {array.shape}; expected at most {MAX_CODES} codes; multiply parts of it")
    top = np.iinfo(dtype).max
    if int(array.min()) < 0 or int(array.max()) > top:
        raise Error(f"{name} has codes from {int(array.min())} to {int(array.max())}; expected 0 to {top}")
    return np.ascontiguousarray(array, dtype)


def mma(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None = None,
    *,
    rule: str,
    elements: tuple[str, str] = ("e2m1", "e2m1"),
    a_scales: ArrayLike | None = None,
    b_scales: ArrayLike | None = None,
    scale: str = "ue4m3",
    bits: int | None = None,
    threads: int = 0,
) -> NDArray[np.float32]:
    """D = A x B + C by a matrix instruction of others, bit for bit as docs/accumulation.md says.

    a, b: integer codes of `elements`, (M, K) and (N, K): both along the contraction. K is padded with zeros to whole
        instructions, which follow each other, each with the D of the one before it as C.
    c: float32 (M, N), or None for zeros.
    rule: 'blackwell_64' (E2M1, groups of 16, 35 fraction bits), 'blackwell_32' (25 bits), 'hopper_32' (13 bits, E8M13),
        'hopper_32_fp16' (13 bits; c and D are FP16 numbers).
    a_scales, b_scales: codes of `scale`, (M, blocks) and (N, blocks), 'ue4m3' or 'e8m0'; both or neither.
    bits: fraction bits instead of the rule's, for studies.
    Returns float32 (M, N). NaN is 0x7FFFFFFF. Raises Error where shapes, codes or formats do not fit.
    """
    one_of("rule", rule, RULES)
    if (a_scales is None) != (b_scales is None):
        raise Error("one operand has scales and the other none; expected scales of both, or of neither")
    if bits is not None:
        bits = integer("bits", bits, 1, 35)
    if not isinstance(elements, (tuple, list)) or len(elements) != 2:
        raise Error(f"elements is {shown(elements)}; expected two names of formats, of a and of b")
    first, second = text("elements", elements[0]), text("elements", elements[1])
    one_of("scale", scale, ("ue4m3", "e8m0"))
    left, right = _codes(a, "a", np.uint16), _codes(b, "b", np.uint16)
    start: NDArray[np.float32] | None = None
    if c is not None:
        if not isinstance(c, np.ndarray) or c.dtype != np.float32 or c.shape != (left.shape[0], right.shape[0]):
            raise Error(
                f"c is {shown(c)}; expected a float32 array of shape {(left.shape[0], right.shape[0])}, or None"
            )
        start = np.ascontiguousarray(c, np.float32)
    scales = [
        None if s is None else _codes(s, n, np.uint8) for s, n in ((a_scales, "a_scales"), (b_scales, "b_scales"))
    ]
    for codes, made, name in ((left, scales[0], "a_scales"), (right, scales[1], "b_scales")):
        if made is not None and made.shape[0] != codes.shape[0]:
            raise Error(f"{name} has shape {made.shape}; expected {codes.shape[0]} rows, as many as the codes have")
    return _core.mma(
        left,
        right,
        start,
        a_element=first,
        b_element=second,
        rule=rule,
        bits=bits,
        a_scales=scales[0],
        b_scales=scales[1],
        scale=scale,
        threads=check_threads(threads, left.shape[0] * left.shape[1] * right.shape[0] * MAC_NS),
    )
