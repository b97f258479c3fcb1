# SPDX-License-Identifier: Apache-2.0
"""Batch normalization by the range, L1, L2 or the largest distances, and bounded weight norm (docs/normalization.md).

>>> norm = ng.BatchNorm(rule="range")
>>> step = norm.forward(x, gamma, beta)  # [batch, channel, ...], in training
>>> g = norm.backward(x, step, gradient)
>>> y = norm.evaluate(x, mean, running, gamma, beta)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import flag, float32, instance, integer, number, one_of, text
from ._arrays import ArrayLike, any_array, float32_array
from ._core import Error

GRIDS = ("bf16", "paper", "fp32")
_NOTHING = np.empty(0, np.float32)


def batch_norm_rules() -> dict[str, str]:
    """Names of the rules of BatchNorm, and whose code each is."""
    return _core.batch_norm_rules()


@dataclass(frozen=True)
class RangeStats:
    """Integer statistics of the INT8 codes of each channel, int32: sums of the chunks' maxima, of their minima, and of all codes."""

    maxima: NDArray[np.int32]
    minima: NDArray[np.int32]
    sums: NDArray[np.int32]


@dataclass(frozen=True)
class MomentStats:
    """Integer statistics of the INT8 codes of each channel, int32.

    spreads: sums of squares, and sums: of all codes. With a centre, spreads: sums of distances from it, and sums: how many codes
    are above it.
    """

    spreads: NDArray[np.int32]
    sums: NDArray[np.int32]


@dataclass(frozen=True)
class BatchNormResult:
    """A step of training, float32; all but y have one number for each channel.

    y: of the shape of x. mean. spread: the statistic, which is the state of ghost_top_k. scale: 1 / (spread + epsilon), of l2
    1 / sqrt(spread + epsilon). scale_used, gamma_used, beta_used: rounded to the grid, as y uses them.
    """

    y: NDArray[np.float32]
    mean: NDArray[np.float32]
    spread: NDArray[np.float32]
    scale: NDArray[np.float32]
    scale_used: NDArray[np.float32]
    gamma_used: NDArray[np.float32]
    beta_used: NDArray[np.float32]


@dataclass(frozen=True)
class BatchNormGradients:
    """Gradients, float32: x of its shape, gamma and beta one number for each channel."""

    x: NDArray[np.float32]
    gamma: NDArray[np.float32]
    beta: NDArray[np.float32]


def _channels(x: NDArray[Any], name: str, axis: object) -> NDArray[Any]:
    """Channels as rows."""
    place = integer("axis", axis, -32, 31)
    if x.size == 0 or not -x.ndim <= place < x.ndim:
        raise Error(f"{name} has shape {x.shape} and axis is {place}; expected numbers, and the axis of their channels")
    rows = np.moveaxis(x, place, 0)
    return np.ascontiguousarray(rows).reshape(rows.shape[0], -1)


def _back(rows: NDArray[Any], like: NDArray[Any], axis: int) -> NDArray[Any]:
    moved = np.moveaxis(like, axis, 0).shape
    return np.ascontiguousarray(np.moveaxis(rows.reshape(moved), 0, axis))


def _vector(values: ArrayLike, name: str) -> NDArray[np.float32]:
    array = float32_array(values, name)
    if array.ndim != 1:
        raise Error(f"{name} has shape {array.shape}; expected one number for each channel")
    return np.ascontiguousarray(array)


def _int8(codes: ArrayLike) -> NDArray[np.int8]:
    array = any_array(codes, "codes")
    if array.dtype != np.int8:
        raise Error(f"codes have dtype {array.dtype}; expected int8")
    return array


def range_stats(codes: ArrayLike, *, chunks: int = 16, axis: int = 1) -> RangeStats:
    """Statistics of Range BN, as `ng_range_stats` gives them, of the channels along an axis.

    codes: int8. A channel is read in the order of the array, cut into so many consecutive chunks of equal length.

    Raises Error for other types, and unless a channel has 1 to 65536 codes and 1 to 16 chunks of equal length.
    """
    rows = _channels(_int8(codes), "codes", axis)
    stats = _core.range_stats(rows, integer("chunks", chunks, 1, 16))
    return RangeStats(*(np.ascontiguousarray(column) for column in stats.T))


def moment_stats(codes: ArrayLike, *, centre: ArrayLike | None = None, axis: int = 1) -> MomentStats:
    """Statistics of L2 normalization, as `ng_moment_stats` gives them, of the channels along an axis; with a centre those of L1.

    codes: int8. centre: int8, one for each channel. With the floor of a channel's mean as centre c, D = spreads, A = sums, N codes
    and their sum S, N D + (S - c N) (N - 2 A) is N times the sum of distances from the mean. Without a centre, with Q = spreads,
    N Q - S^2 is N^2 times the variance.

    Raises Error for other types and shapes, and unless a channel has 1 to 65536 codes.
    """
    rows = _channels(_int8(codes), "codes", axis)
    if centre is None:
        stats = _core.square_stats(rows)
    else:
        centres = any_array(centre, "centre")
        if centres.dtype != np.int8 or centres.shape != rows.shape[:1]:
            raise Error(
                f"centre has dtype {centres.dtype} and shape {centres.shape}; expected int8 and {rows.shape[:1]}"
            )
        stats = _core.distance_stats(rows, np.ascontiguousarray(centres))
    return MomentStats(*(np.ascontiguousarray(column) for column in stats.T))


def norm_apply(
    codes: ArrayLike,
    mean: ArrayLike,
    m: ArrayLike,
    b: ArrayLike,
    *,
    exponent: int = -10,
    bf16: bool = False,
    axis: int = 1,
) -> NDArray[Any]:
    """(code - mean) * m + b as `ng_norm_apply` gives it, with integers of a unit of 2^exponent, rounded once.

    codes: int8. mean, m, b: one number for each channel, mean in codes, b in units of the result. m is rounded to 16 bits and
    b - mean * m to 24, in that unit. exponent: -15 to -2, or -64 to 63 with bf16. axis: of the channels.
    Returns the shape of codes: int8, saturated, or BF16 codes in uint16 (see `decode`).

    Raises Error for other types and shapes, numbers that are not finite, and such as the unit is too small for.
    """
    array = _int8(codes)
    rows = _channels(array, "codes", axis)
    wide = flag("bf16", bf16)
    low, high = (-64, 63) if wide else (-15, -2)
    vectors = [_vector(values, name) for name, values in (("mean", mean), ("m", m), ("b", b))]
    for name, vector in zip(("mean", "m", "b"), vectors, strict=True):
        if len(vector) != len(rows):
            raise Error(f"{name} has {len(vector)} numbers for {len(rows)} channels; expected one for each")
    means, factors, terms = ([float(value) for value in vector] for vector in vectors)
    unit = integer("exponent", exponent, low, high)
    return _back(_core.norm_apply(rows, means, factors, terms, unit, wide), array, axis)


@dataclass(frozen=True, kw_only=True)
class BatchNorm:
    """Batch normalization: y = ((x - mean) * scale) * gamma + beta, an operation in float32 at a time.

    rule: one of batch_norm_rules(), which say what the scale comes from. 'range_calibtip' divides by the spread instead, and
        its running buffer holds spreads. grid: what scale, gamma and beta are rounded to: 'bf16', or 'paper', 256 numbers from
        the smallest to the largest of all channels, or 'fp32', as they are. chunks: of a channel, for the ranges. top: how many
        of the largest distances top_k and ghost_top_k take. epsilon: above 0. axis: of the channels in x.

    Raises Error for other values.
    """

    rule: str = "range"
    grid: str = "bf16"
    chunks: int = 16
    top: int = 10
    epsilon: float = 1e-5
    axis: int = 1

    def __post_init__(self) -> None:
        one_of("grid", self.grid, GRIDS)
        integer("axis", self.axis, -32, 31)
        epsilon = number("epsilon", self.epsilon)
        if not 0 < epsilon < np.inf:
            raise Error(f"epsilon is {epsilon}; expected a finite number above 0")
        self._call()

    def _call(self) -> _core.BatchNormCall:
        chunks, top = integer("chunks", self.chunks, 1, 2**40), integer("top", self.top, 1, 2**40)
        return _core.BatchNormCall(text("rule", self.rule), self.grid, chunks, top, float(self.epsilon))

    def _values(self, x: ArrayLike, step: float | None, low: float | None) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Numbers with channels as rows, and their codes, if x is codes."""
        array = any_array(x, "x")
        if (step is None) != (low is None):
            raise Error("step and low are not both given; expected both, of int8 codes, or none of them")
        if step is None or low is None:
            return _channels(float32_array(x, "x"), "x", self.axis), None
        if array.dtype != np.int8:
            raise Error(f"x has dtype {array.dtype}; expected int8 codes beside step and low")
        codes = _channels(array, "x", self.axis)
        with np.errstate(over="ignore", invalid="ignore"):
            values = (codes.astype(np.float32) + np.float32(128)) * np.float32(float32("step", step))
            return values + np.float32(float32("low", low)), codes

    def forward(
        self,
        x: ArrayLike,
        gamma: ArrayLike,
        beta: ArrayLike,
        *,
        previous: ArrayLike | None = None,
        step: float | None = None,
        low: float | None = None,
    ) -> BatchNormResult:
        """A step of training.

        x: real numbers; or int8 codes beside step and low, which stand for (code + 128) * step + low: then mean and range come
            from integer sums. gamma, beta: one number for each channel. previous: of ghost_top_k the spread of the step before.

        Raises Error for shapes that do not fit, numbers that are not finite, chunks that do not divide a channel or hold one
        number, and top beyond a channel.
        """
        call, (rows, codes) = self._call(), self._values(x, step, low)
        gammas, betas = _vector(gamma, "gamma"), _vector(beta, "beta")
        if len(gammas) != len(rows):
            raise Error(f"gamma has {len(gammas)} numbers for {len(rows)} channels; expected one for each")
        if codes is None or step is None or low is None:
            before = _NOTHING if previous is None else _vector(previous, "previous")
            parameters = call.parameters(rows, gammas, betas, before)
        else:
            if previous is not None:
                raise Error("previous is given beside codes; expected None, as ranges have no state")
            steps, lows = float32("step", step), float32("low", low)
            parameters = call.integer_parameters(codes, steps, lows, gammas, betas)
        y = _back(call.apply(rows, parameters), any_array(x, "x"), self.axis)
        return BatchNormResult(y, *parameters.arrays())

    def backward(
        self,
        x: ArrayLike,
        result: BatchNormResult,
        g: ArrayLike,
        *,
        step: float | None = None,
        low: float | None = None,
    ) -> BatchNormGradients:
        """Gradients of x, gamma and beta, from those of y; the rounding to the grid passes them through.

        x, step, low: as forward had them. result: what it gave. g: real numbers of the shape of x. Of ghost_top_k the spread
        before is a constant.

        Raises Error for shapes that do not fit and numbers that are not finite.
        """
        instance("result", result, BatchNormResult, "it is what BatchNorm.forward returns")
        call, (rows, _), gradients = self._call(), self._values(x, step, low), float32_array(g, "g")
        shape = any_array(x, "x").shape
        if gradients.shape != shape or len(result.mean) != len(rows):
            raise Error(
                f"g has shape {gradients.shape} and the result {len(result.mean)} channels; expected those of x, {shape} and "
                f"{len(rows)}"
            )
        back = call.backward(rows, self._parameters(result), _channels(gradients, "g", self.axis))
        return BatchNormGradients(_back(back[0], gradients, self.axis), back[1], back[2])

    def average(
        self, result: BatchNormResult, mean: ArrayLike, running: ArrayLike
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Running buffers after a step: 0.1 of the old and 0.9 of the new.

        mean, running: the buffers before, zeros at first; running has scales, with 'range_calibtip' spreads. Returns both, float32.

        Raises Error for shapes that do not fit.
        """
        instance("result", result, BatchNormResult, "it is what BatchNorm.forward returns")
        means, buffer = _vector(mean, "mean"), _vector(running, "running")
        if not len(means) == len(buffer) == len(result.mean):
            raise Error(
                f"mean has {len(means)} numbers, running {len(buffer)}; expected {len(result.mean)}, one for each channel"
            )
        new = result.spread if self._call().divides else result.scale
        old_share, new_share = np.float32(0.1), np.float32(0.9)
        return old_share * means + new_share * result.mean, old_share * buffer + new_share * new

    def evaluate(
        self,
        x: ArrayLike,
        mean: ArrayLike,
        running: ArrayLike,
        gamma: ArrayLike,
        beta: ArrayLike,
        *,
        step: float | None = None,
        low: float | None = None,
    ) -> NDArray[np.float32]:
        """y under running buffers, as average keeps them; float32 of the shape of x.

        x, step, low, gamma, beta: as of forward. Raises Error for shapes that do not fit and numbers that are not finite.
        """
        call, (rows, _) = self._call(), self._values(x, step, low)
        means = _vector(mean, "mean")
        if len(means) != len(rows):
            raise Error(f"mean has {len(means)} numbers for {len(rows)} channels; expected one for each")
        parameters = call.running(means, _vector(running, "running"), _vector(gamma, "gamma"), _vector(beta, "beta"))
        return _back(call.apply(rows, parameters), any_array(x, "x"), self.axis)

    @staticmethod
    def _parameters(result: BatchNormResult) -> _core.BatchNormParameters:
        return _core.BatchNormParameters(
            result.mean, result.spread, result.scale, result.scale_used, result.gamma_used, result.beta_used
        )


def _weights(v: ArrayLike, name: str) -> NDArray[np.float32]:
    array = np.asarray(float32_array(v, name), order="C")
    if array.ndim == 0 or array.size == 0:
        raise Error(
            f"{name} has shape {array.shape}; expected a row of numbers for each output channel along the first axis"
        )
    return array


def _magnitudes(g: ArrayLike | None) -> NDArray[np.float32]:
    """One for each channel, of whatever shape; none at all for None."""
    if g is None:
        return _NOTHING
    array = np.ascontiguousarray(float32_array(g, "g")).reshape(-1)
    if array.size == 0:
        raise Error("g is empty; expected one number for each channel, or None")
    return array


def bounded_weight_norm(v: ArrayLike, g: ArrayLike | None = None, *, rho: float) -> NDArray[np.float32]:
    """Weights whose norm training cannot change: w_c = v_c / |v_c| * g_c * rho / |g|, each rounded once to float32.

    v: directions, output channels along the first axis. g: a magnitude for each channel, or None: then w_c = v_c * rho / |v_c|.
    rho: the norm of g when training began; without g the mean norm of the first channels of weights. Returns the shape of v.

    Raises Error for shapes that do not fit, norms of 0 or infinity, and rho that is not above 0.
    """
    return _core.bounded_weight_norm(_weights(v, "v"), _magnitudes(g), number("rho", rho))


def bounded_weight_norm_backward(
    v: ArrayLike, weight_gradients: ArrayLike, g: ArrayLike | None = None, *, rho: float
) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    """Gradients of v, of its shape, and of g, of its shape or None, from those of the weights. Raises Error as bounded_weight_norm."""
    directions, gradients = _weights(v, "v"), _weights(weight_gradients, "weight_gradients")
    if gradients.shape != directions.shape:
        raise Error(f"weight_gradients has shape {gradients.shape}; expected that of v, {directions.shape}")
    back, magnitude_gradients = _core.bounded_weight_norm_backward(
        directions, _magnitudes(g), number("rho", rho), gradients
    )
    return back, None if g is None else magnitude_gradients.reshape(any_array(g, "g").shape)
