# SPDX-License-Identifier: Apache-2.0
"""ZAP: which outputs of a convolution are worth computing, predicted from a pattern of those that are computed (docs/zap.md).

>>> predictor = ng.zap.Predictor.fold(w1, b1, norm1, w2, b2, norm2)
>>> keep = predictor.keep(x, kind=5, threshold=0.0)  # 1 where an output is computed or predicted to be worth it
>>> integers = predictor.to_integers(x.max() / 127, threshold=0.0)
>>> keep = integers.keep(codes, kind=5)  # the same from INT8 outputs, by 18 products of integers an output
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import float32, integer, number
from ._arrays import ArrayLike, any_array, float32_array, real_array
from ._core import Error

#: Share of a large map that the pattern of each kind computes.
SHARES = tuple(Fraction(*share) for share in (
    (1, 9), (2, 9), (1, 4), (1, 3), (2, 5), (1, 2), (3, 5), (2, 3), (3, 4), (7, 9), (8, 9)
))  # fmt: skip
LONGEST_SIDE = 2**13
#: Bits of a channel's bias, shift and threshold.
BIAS, SHIFT, THRESHOLD = 2**23, 2**4, 2**19


def _kind(kind: int) -> int:
    return integer("kind", kind, 0, len(SHARES) - 1)


def _require_maps(array: NDArray[Any], name: str, channels: int | None = None) -> None:
    shape = array.shape
    if array.ndim < 3 or array.size == 0 or max(shape[-2:]) > LONGEST_SIDE or channels not in (None, shape[-3]):
        wanted = "channels" if channels is None else f"{channels} channels"
        raise Error(
            f"{name} has shape {shape}; expected {wanted} x rows x columns, after any others, of {LONGEST_SIDE} rows and "
            "columns at most"
        )


def _maps(x: ArrayLike, name: str, channels: int | None = None) -> NDArray[np.float32]:
    array = float32_array(x, name)
    _require_maps(array, name, channels)
    return array


def _parameters(x: ArrayLike, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    array = real_array(x, name)
    if array.shape != shape or not np.isfinite(array).all():
        raise Error(f"{name} has shape {array.shape}; expected finite numbers of shape {shape}")
    return array.astype(np.float64)


def _filters(x: ArrayLike, name: str) -> int:
    """How many channels filters have."""
    array = any_array(x, name)
    if array.ndim != 3 or array.shape[1:] != (3, 3) or not 0 < len(array) <= LONGEST_SIDE:
        raise Error(f"{name} has shape {array.shape}; expected channels x 3 x 3, of {LONGEST_SIDE} channels at most")
    return len(array)


def pattern(kind: int, rows: int, columns: int) -> NDArray[np.uint8]:
    """Which places of a map are computed first, 1 or 0, rows x columns: the same for all channels and samples.

    kind: 0 to 10, SHARES of the map. Kinds 5 to 10 are those of the paper, kind k below 5 is the complement of 10 - k.

    Raises Error for other kinds, and unless rows and columns are 1 to 8192.
    """
    return _core.zap_pattern(
        _kind(kind), integer("rows", rows, 1, LONGEST_SIDE), integer("columns", columns, 1, LONGEST_SIDE)
    )


class Predictor:
    """A predictor as it was trained, with norms folded into its filters.

    A channel's value is second(relu(first(x where computed))), by 3 x 3 filters with a bias each and zeros beyond the edges.

    first, second: float64, channels x 3 x 3. first_bias, second_bias: float64, channels.
    Raises Error for other shapes and for what is not finite.
    """

    def __init__(self, first: ArrayLike, first_bias: ArrayLike, second: ArrayLike, second_bias: ArrayLike) -> None:
        count = _filters(first, "first")
        self.first = _parameters(first, "first", (count, 3, 3))
        self.first_bias = _parameters(first_bias, "first_bias", (count,))
        self.second = _parameters(second, "second", (count, 3, 3))
        self.second_bias = _parameters(second_bias, "second_bias", (count,))

    @classmethod
    def fold(
        cls, w1: ArrayLike, b1: ArrayLike, norm1: ArrayLike, w2: ArrayLike, b2: ArrayLike, norm2: ArrayLike
    ) -> Predictor:
        """The predictor of two depthwise convolutions, each followed by batch normalization in evaluation.

        w1, w2: filters, channels x 3 x 3. b1, b2: their biases. norm1, norm2: 4 x channels: weight, bias, mean and variance,
        to which 1e-5 is added.

        Raises Error for other shapes, what is not finite and negative variances.
        """
        count = _filters(w1, "w1")
        parts: list[NDArray[np.float64]] = []
        for index, (weights, bias, norm) in enumerate(((w1, b1, norm1), (w2, b2, norm2)), 1):
            parts += _core.zap_fold(
                _parameters(weights, f"w{index}", (count, 3, 3)),
                _parameters(bias, f"b{index}", (count,)),
                _parameters(norm, f"norm{index}", (4, count)),
            )
        return cls(*parts)

    def values(self, x: ArrayLike, kind: int) -> NDArray[np.float32]:
        """Predicted values, found in float64 and rounded once; 0 where the pattern computes.

        x: outputs after ReLU, [..., channels, rows, columns], of which only those are read that the pattern computes.

        Raises Error for other shapes and kinds.
        """
        maps = _maps(x, "x", len(self.first))
        return _core.zap_values(maps, self.first, self.first_bias, self.second, self.second_bias, _kind(kind))

    def keep(self, x: ArrayLike, kind: int, threshold: float) -> NDArray[np.uint8]:
        """Which outputs are computed in the end: 1 where the pattern computes or the value is above the threshold, else 0.

        The decisions are those of the authors' code. Raises Error as values does, and for a threshold that is no number.
        """
        return _core.zap_keep(self.values(x, kind), float32("threshold", threshold), _kind(kind))

    def to_integers(self, scale: float, threshold: float) -> IntegerPredictor:
        """The predictor in integers, for outputs that are INT8 numbers, 0 to 127, times `scale`.

        Raises Error unless the scale is positive, and for numbers that are not finite.
        """
        return IntegerPredictor(
            *_core.zap_quantize(
                self.first,
                self.first_bias,
                self.second,
                self.second_bias,
                number("scale", scale),
                number("threshold", threshold),
            )
        )


def _integers(x: ArrayLike, name: str, shape: tuple[int, ...], low: int, high: int, dtype: type) -> NDArray[Any]:
    array = any_array(x, name)
    if array.shape != shape or array.dtype.kind not in "iu" or array.min() < low or array.max() > high:
        raise Error(
            f"{name} has dtype {array.dtype} and shape {array.shape}; expected integers of shape {shape}, {low} to {high}"
        )
    return array.astype(dtype)


class IntegerPredictor:
    """A predictor as hardware has it: 18 products of INT8 numbers an output, a shift and two comparisons.

    h = min(max((first(x) + bias) >> shift, 0), 255), and an output is kept where second(h) > threshold.

    first, second: int8, channels x 3 x 3. bias: int32, of 24 bits, with the half that rounds. shift: uint8, 0 to 15.
    threshold: int32, of 20 bits, with the second bias in it.
    Raises Error for other shapes and ranges.
    """

    def __init__(
        self, first: ArrayLike, bias: ArrayLike, shift: ArrayLike, second: ArrayLike, threshold: ArrayLike
    ) -> None:
        count = _filters(first, "first")
        self.first = _integers(first, "first", (count, 3, 3), -128, 127, np.int8)
        self.bias = _integers(bias, "bias", (count,), -BIAS, BIAS - 1, np.int32)
        self.shift = _integers(shift, "shift", (count,), 0, SHIFT - 1, np.uint8)
        self.second = _integers(second, "second", (count, 3, 3), -128, 127, np.int8)
        self.threshold = _integers(threshold, "threshold", (count,), -THRESHOLD, THRESHOLD - 1, np.int32)

    def keep(self, x: ArrayLike, kind: int) -> NDArray[np.uint8]:
        """Which outputs are computed in the end, as Predictor.keep says it.

        x: int8, [..., channels, rows, columns], outputs after ReLU, of which only those are read that the pattern computes.

        Raises Error for other types, shapes and kinds.
        """
        maps = any_array(x, "x")
        if maps.dtype != np.int8:
            raise Error(f"x has dtype {maps.dtype}; expected int8")
        _require_maps(maps, "x", len(self.first))
        return _core.zap_predict(maps, self.first, self.bias, self.shift, self.second, self.threshold, _kind(kind))


# ---- Training


def loss(values: ArrayLike, x: ArrayLike, kind: int) -> tuple[float, NDArray[np.float32]]:
    """Loss of predicted values in training, and its gradient by them.

    The loss is the mean square of clamp(value, 0, 1) - (x > 0) over all outputs; those that the pattern computes add 0.

    values: as Predictor.values gives them. x: the outputs themselves after ReLU, of the same shape.
    Raises Error for other shapes and kinds.
    """
    predicted, outputs = _maps(values, "values"), _maps(x, "x")
    if predicted.shape != outputs.shape:
        raise Error(f"values have shape {predicted.shape}; expected x's, {outputs.shape}")
    computed = pattern(kind, *predicted.shape[-2:]) != 0
    clamped = np.clip(predicted, 0, 1)
    error = np.where(computed, np.float32(0), clamped - (outputs > 0))
    with np.errstate(over="ignore", invalid="ignore"):
        gradient = np.where(clamped == predicted, 2 * error / np.float32(error.size), np.float32(0))
        return float(np.mean(np.square(error, dtype=np.float64))), gradient.astype(np.float32)


@dataclass(frozen=True)
class Statistics:
    """Counts of outputs, of all samples, in the order of the authors' code.

    positive, not_positive: outputs by their true value. computed: by the pattern; predicted: all others.
    zeros_computed, zeros_predicted: outputs of 0 or less among them. kept, skipped: of the predicted ones.
    positive_skipped is what prediction spoils, positive_kept what it finds, zero_skipped what it saves, zero_kept what it wastes.
    """

    positive: int
    not_positive: int
    zeros_computed: int
    zeros_predicted: int
    computed: int
    predicted: int
    kept: int
    skipped: int
    positive_skipped: int
    positive_kept: int
    zero_skipped: int
    zero_kept: int


def _keep(keep: ArrayLike) -> NDArray[np.bool_]:
    array = any_array(keep, "keep")
    if array.dtype.kind not in "biu":
        raise Error(f"keep has dtype {array.dtype}; expected booleans or integers, as keep of a predictor gives them")
    _require_maps(array, "keep")
    kept: NDArray[np.bool_] = array != 0
    return kept


def statistics(x: ArrayLike, keep: ArrayLike, kind: int) -> Statistics:
    """How often a prediction hits and misses.

    x: outputs after ReLU, [..., channels, rows, columns]. keep: of the same shape, as a predictor's keep gives it.
    Raises Error for other shapes and kinds.
    """
    outputs, kept = _maps(x, "x"), _keep(keep)
    if outputs.shape != kept.shape:
        raise Error(f"keep has shape {kept.shape}; expected x's, {outputs.shape}")
    positive = outputs > 0
    computed = np.broadcast_to(pattern(kind, *outputs.shape[-2:]) != 0, outputs.shape)
    groups = (
        positive, ~positive, computed & ~positive, ~computed & ~positive, computed, ~computed, ~computed & kept, ~computed & ~kept,
        ~computed & positive & ~kept, ~computed & positive & kept, ~computed & ~positive & ~kept, ~computed & ~positive & kept,
    )  # fmt: skip
    return Statistics(*(int(group.sum()) for group in groups))


# ---- What it saves on an array


@dataclass(frozen=True)
class Passes:
    """Passes of an array. A pass computes an output in each of its cells, from start to end of the contraction.

    first: of the places that the pattern computes. rest: of all others, without a prediction. lockstep: of these, where a pass
    is left out if none of its outputs is kept. queued: of kept outputs, which wait in a queue before each column.
    """

    first: int
    rest: int
    lockstep: int
    queued: int


def passes(keep: ArrayLike, kind: int, *, rows: int = 1, columns: int = 8, depth: int | None = None) -> Passes:
    """What prediction saves on an array whose rows compute places of a map, and whose columns compute channels.

    keep: [..., channels, rows of the map, columns of the map], as a predictor's keep gives it. rows, columns: of the array.
    depth: outputs that a queue holds, `rows` or more; None is no limit. A pass starts once a queue is full, and takes up to `rows`
    outputs from each; queues are emptied at the end of a sample and of `columns` channels.

    Raises Error for other shapes, kinds and sizes.
    """
    outputs, computed = _outputs(keep, kind, rows, columns, depth)
    outputs = outputs[..., ~computed]
    groups, places = len(outputs), outputs.shape[-1]
    in_step = np.pad(outputs, ((0, 0), (0, 0), (0, -places % rows))).reshape(groups, columns, -1, rows)
    return Passes(
        groups * -(-int(computed.sum()) // rows),
        groups * -(-places // rows),
        int(in_step.any(axis=(1, 3)).sum()),
        _queued(outputs, rows, depth),
    )


def schedule(keep: ArrayLike, kind: int, *, rows: int = 1, columns: int = 8, depth: int) -> list[NDArray[np.int32]]:
    """Which outputs the passes of an array with queues compute, as ng_zap_queue says it.

    An array of passes x rows x columns for each sample and each `columns` of its channels: the number of a place outside the
    pattern, row by row of the map, or -1 for a cell that computes nothing. They are as many as `queued` of passes, which has the
    same arguments; each pass takes the oldest outputs of each queue.

    Raises Error for other shapes, kinds and sizes.
    """
    integer("depth", depth, 1, 2**20)
    outputs, computed = _outputs(keep, kind, rows, columns, depth)
    outputs = outputs & ~computed
    made = (_core.zap_passes(group.view(np.uint8), rows, depth) for group in outputs)
    return [places.view(np.int32).reshape(-1, rows, columns) for places in made]  # zap_idle is -1


def _outputs(
    keep: ArrayLike, kind: int, rows: int, columns: int, depth: int | None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Kept outputs, (groups of channels of a sample, columns, places), and which places the pattern computes."""
    kept = _keep(keep)
    integer("rows", rows, 1, 2**12), integer("columns", columns, 1, 2**12)
    if depth is not None:
        integer("depth", depth, rows, 2**20)
    computed = pattern(kind, *kept.shape[-2:]).reshape(-1) != 0
    outputs = kept.reshape(-1, kept.shape[-3], computed.size)
    missing = -outputs.shape[1] % columns  # channels that fill the last group up
    return np.pad(outputs, ((0, 0), (0, missing), (0, 0))).reshape(-1, columns, computed.size), computed


def _queued(outputs: NDArray[np.bool_], rows: int, depth: int | None) -> int:
    """Passes of queues, (groups, columns, places) in the order of places."""
    if depth is None:
        return int((-(-outputs.sum(axis=2) // rows)).max(axis=1, initial=0).sum())
    waiting = np.zeros(outputs.shape[:2], np.int64)
    started = 0
    for place in range(outputs.shape[2]):
        waiting += outputs[:, :, place]
        full = (waiting == depth).any(axis=1)
        waiting[full] = np.maximum(waiting[full] - rows, 0)
        started += int(full.sum())
    return started + int((-(-waiting // rows)).max(axis=1, initial=0).sum())


__all__ = [
    "IntegerPredictor",
    "Passes",
    "Predictor",
    "Statistics",
    "loss",
    "passes",
    "pattern",
    "schedule",
    "statistics",
]
