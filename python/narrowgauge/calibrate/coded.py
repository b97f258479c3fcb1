# SPDX-License-Identifier: Apache-2.0
"""Codes of calibrated tensors for the entropy coder, whatever the width of each channel (CAT, arXiv 1909.11481, codes weights, too)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._affine import AffineQuantizer
from .._arrays import any_array, float32_array
from .._core import Error

#: Of a channel: its quantizer, or the number that the whole channel becomes.
Quantizer = AffineQuantizer | float


def _middle(quantizer: Quantizer) -> int:
    """The code that the coder sees as 0."""
    return 0 if isinstance(quantizer, float) or quantizer.signed else 1 << (quantizer.bits - 1)


def _fits(name: str, channels: int, quantizers: Sequence[Quantizer]) -> None:
    if channels != len(quantizers):
        raise Error(f"{name} has {channels} channels; expected {len(quantizers)}, one for each quantizer")


def centred_codes(x: ArrayLike, quantizers: Sequence[Quantizer]) -> NDArray[np.int8]:
    """Codes of a tensor with its channels in front, the middle of each channel's range being 0: int8 of the shape of x.

    Weights lie about the middle of their range, so channels of all widths share small numbers, and one Huffman code serves
    them. quantizers: one for each channel, or the number that a channel of 0 bits becomes, whose codes are 0.

    Raises Error for another number of channels.
    """
    values = np.asarray(float32_array(x, "x"))
    _fits("x", values.shape[0] if values.ndim else 0, quantizers)
    return np.stack(
        [
            np.zeros(channel.shape, np.int8)
            if isinstance(one, float)
            else (one.quantize(channel).astype(np.int16) - _middle(one)).astype(np.int8)
            for channel, one in zip(values, quantizers, strict=True)
        ]
    )


def values_of_codes(codes: ArrayLike, quantizers: Sequence[Quantizer]) -> NDArray[np.float32]:
    """The values of centred_codes(): float32 of the shape of codes. Raises Error for what is no code of its channel."""
    array = any_array(codes, "codes")
    if array.dtype != np.int8 or array.ndim == 0:
        raise Error(f"codes is of {array.dtype} with {array.ndim} axes; expected int8, with channels in front")
    _fits("codes", array.shape[0], quantizers)
    return np.stack(
        [
            np.full(channel.shape, one, np.float32)
            if isinstance(one, float)
            else one.dequantize(channel.astype(np.int16) + _middle(one))
            for channel, one in zip(array, quantizers, strict=True)
        ]
    )
