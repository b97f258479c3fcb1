# SPDX-License-Identifier: Apache-2.0
"""Integers with a scale and a zero point a group, as GPTQ and AWQ pack them into words of 32 bits.

The layouts are those of AutoGPTQ's `qlinear_cuda.py` and GPTQModel (gptq, gptq_v2) and of AutoAWQ's `gemm.py`: docs/checkpoints.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .._arguments import integer
from .._arrays import ArrayLike, float32_array, real_array
from .._core import Error

WORD = 32  # bits
#: Bits that fill whole words; those of 3 bits lie across words.
BITS = (2, 4, 8)
#: Column of the elements that a word of AWQ has, from its lowest four bits upward.
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)
ZERO_POINTS = ("auto", "as_stored", "plus_one", "wrapped")


def _whole(array: ArrayLike, name: str, low: int, high: int, dtype: DTypeLike) -> NDArray[Any]:
    """Integers of a range, their own copy and read only."""
    given = real_array(array, name)
    if given.dtype.kind not in "iu" or (given.size and (given.min() < low or given.max() > high)):
        raise Error(f"{name} have dtype {given.dtype} or values out of range; expected integers of {low} to {high}")
    made = np.array(given, dtype=dtype, order="C")
    made.flags.writeable = False
    return made


class IntegerMatrix:
    """A weight of unsigned integers, N x K, which does not change: element (n, k) is (codes[n, k] - zeros[n, g]) * scales[n, g].

    g is the group of input k: groups[k]. Values are exact in float32 where scales are float16 or bfloat16, as files have them.
    numpy.asarray() gives them. No engine multiplies such a matrix; `quantize(numpy.asarray(w))` makes one that engines take.
    """

    axis = -1
    scaling = "group"
    scheme = "affine"
    tensor_scale = 1.0

    __slots__ = ("bits", "codes", "groups", "scales", "zeros")

    def __init__(
        self, bits: int, codes: ArrayLike, scales: ArrayLike, zeros: ArrayLike, groups: ArrayLike | None = None
    ) -> None:
        """A matrix from its parts.

        bits: of a code, 2 to 8. codes: N x K. scales: N x groups, positive. zeros: N x groups, 0 to 2^bits.
        groups: of each input, K numbers; None: inputs in order, as many in each group.

        Raises Error for parts that do not fit each other.
        """
        self.bits = integer("bits", bits, 2, 8)
        self.codes: NDArray[np.uint8] = _whole(codes, "codes", 0, 2**self.bits - 1, np.uint8)
        if self.codes.ndim != 2 or self.codes.size == 0:
            raise Error(f"codes have shape {self.codes.shape}; expected outputs x inputs")
        n, k = self.codes.shape
        self.scales: NDArray[np.float32] = np.array(float32_array(scales, "scales"), order="C")
        self.scales.flags.writeable = False
        if self.scales.ndim != 2 or len(self.scales) != n or not 1 <= self.scales.shape[1] <= k:
            raise Error(f"scales have shape {self.scales.shape}; expected {n} outputs x groups of {k} inputs")
        if not (np.isfinite(self.scales) & (self.scales > 0)).all():
            raise Error("scales are not all positive finite numbers; expected such; quantize anew")
        self.zeros: NDArray[np.int16] = _whole(zeros, "zeros", 0, 2**self.bits, np.int16)
        if self.zeros.shape != self.scales.shape:
            raise Error(f"zeros have shape {self.zeros.shape}; expected that of scales, {self.scales.shape}")
        count = self.scales.shape[1]
        if groups is None:
            if k % count:
                raise Error(
                    f"codes have {k} inputs and scales {count} groups; expected groups, the group of each input"
                )
            groups = np.arange(k) // (k // count)
        self.groups: NDArray[np.int32] = _whole(groups, "groups", 0, count - 1, np.int32)
        if self.groups.shape != (k,):
            raise Error(f"groups have shape {self.groups.shape}; expected the group of each of {k} inputs")

    def __reduce__(self) -> tuple[Any, ...]:
        return IntegerMatrix, (self.bits, self.codes, self.scales, self.zeros, self.groups)

    @property
    def element(self) -> str:
        """'uint4', by the bits of a code."""
        return f"uint{self.bits}"

    @property
    def shape(self) -> tuple[int, ...]:
        """Outputs x inputs."""
        return self.codes.shape

    @property
    def ndim(self) -> int:
        return 2

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(self.codes.size)

    @property
    def block(self) -> int:
        """Elements under one scale, on average."""
        return int(-(-self.codes.shape[1] // self.scales.shape[1]))

    @property
    def nbytes(self) -> int:
        """Of packed codes, of scales in 16 bits and of packed zero points."""
        return -(-(self.codes.size + self.zeros.size) * self.bits // 8) + 2 * self.scales.size

    def dequantize(self) -> NDArray[np.float64]:
        """The values, exactly."""
        difference = self.codes.astype(np.float64) - self.zeros[:, self.groups]
        made: NDArray[np.float64] = difference * self.scales.astype(np.float64)[:, self.groups]
        return made

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("an IntegerMatrix has no array of its values; expected copy=None or True")
        with np.errstate(over="ignore"):
            return self.dequantize().astype(np.float32 if dtype is None else dtype)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IntegerMatrix):
            return NotImplemented
        mine, theirs = self.__reduce__()[1], other.__reduce__()[1]
        return bool(mine[0] == theirs[0] and all(map(np.array_equal, mine[1:], theirs[1:])))

    def __hash__(self) -> int:
        return hash(
            (self.bits, self.codes.tobytes(), self.scales.tobytes(), self.zeros.tobytes(), self.groups.tobytes())
        )

    def __repr__(self) -> str:
        n, k = self.shape
        return f"<IntegerMatrix uint{self.bits}, shape ({n}, {k}), {self.scales.shape[1]} groups>"


def fields(words: NDArray[np.int32], bits: int, axis: int) -> NDArray[np.uint8]:
    """The codes of words, the lowest bits first, along an axis of a matrix."""
    shifts = np.arange(0, WORD, bits, dtype=np.uint32)
    wide = words.view(np.uint32)
    mask = np.uint32(2**bits - 1)
    if axis == 0:
        codes = (wide[:, None, :] >> shifts[None, :, None]) & mask
        return codes.reshape(-1, words.shape[1]).astype(np.uint8)
    codes = (wide[:, :, None] >> shifts) & mask
    return codes.reshape(len(words), -1).astype(np.uint8)


def awq_fields(words: NDArray[np.int32]) -> NDArray[np.uint8]:
    """The codes of words of AWQ along the last axis, in the order of the columns."""
    codes = fields(words, 4, 1).reshape(len(words), -1, len(AWQ_ORDER))
    made = np.empty_like(codes)
    made[..., AWQ_ORDER] = codes
    return made.reshape(len(words), -1)


def zero_points(stored: NDArray[np.uint8], bits: int, rule: str, version: str, name: str) -> NDArray[np.int16]:
    """What is subtracted from codes, by the stored fields of gptq.

    rule: one of ZERO_POINTS. version: 'gptq', whose files hold one less, or 'gptq_v2'. Raises Error where both may be meant.
    """
    top, half = 2**bits - 1, 2 ** (bits - 1)
    if rule == "as_stored" or (rule == "auto" and version == "gptq_v2"):
        return stored.astype(np.int16)
    if rule == "auto" and (stored == half).all():
        raise Error(
            f"tensor '{name}' has {half} everywhere, as gptq_v2 has for symmetric weights, where gptq has {half - 1}; expected to be "
            "told which, with zero_points as_stored or plus_one"
        )
    odd = stored == top
    made = stored.astype(np.int16) + np.int16(1)
    if odd.any() and rule == "auto":
        place = [int(i) for i in np.argwhere(odd)[0]]
        raise Error(
            f"tensor '{name}' has {top} at {place}, which some readers of gptq take for {top + 1} and others for 0; expected to be told "
            "which, with zero_points plus_one or wrapped"
        )
    if rule == "wrapped":
        made[odd] = 0
    return made
