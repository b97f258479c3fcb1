# SPDX-License-Identifier: Apache-2.0
"""ZAP in Python: integers against a rule in numpy, the loss against differences, and passes of arrays against a walk through each
cell; the authors' own results are in verif/oracle/test_zap.py."""

from __future__ import annotations

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import zap


def convolve(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.einsum("ncijhw,chw->ncij", windows, weights)


def per_channel(values: np.ndarray) -> np.ndarray:
    return values[:, None, None]


def random_predictor(random: np.random.Generator, channels: int) -> zap.Predictor:
    sides = [random.normal(0, 0.4, (channels, 3, 3)), random.normal(0, 0.3, channels)] * 2
    return zap.Predictor(*sides)


@pytest.mark.parametrize("kind", range(11))
def test_patterns(kind: int) -> None:
    computed = zap.pattern(kind, 90, 90)
    assert computed.mean() == float(zap.SHARES[kind])
    np.testing.assert_array_equal(computed[:8, :11], zap.pattern(kind, 8, 11))
    if kind != 5:
        np.testing.assert_array_equal(computed, 1 - zap.pattern(10 - kind, 90, 90))


@pytest.mark.parametrize("kind", [0, 4, 5, 10])
def test_values(kind: int) -> None:
    random = np.random.default_rng(kind)
    made = random_predictor(random, 4)
    x = np.maximum(random.normal(0, 1, (2, 4, 9, 12)), 0).astype(np.float32)
    computed = zap.pattern(kind, 9, 12)
    hidden = np.maximum(convolve(x.astype(np.float64) * computed, made.first) + per_channel(made.first_bias), 0)
    wanted = (convolve(hidden, made.second) + per_channel(made.second_bias)) * (1 - computed)
    values = made.values(x, kind)
    np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-6)
    np.testing.assert_array_equal(made.keep(x, kind, 0.25), (computed == 1) | (values > 0.25))
    x[..., computed == 0] = np.nan  # what was not computed is not read
    np.testing.assert_array_equal(made.values(x, kind), values)


def test_thresholds_are_strict() -> None:
    zero = np.zeros((1, 3, 3))
    made = zap.Predictor(zero, [0.0], zero, [0.5])
    x = np.zeros((1, 4, 4), np.float32)
    computed = zap.pattern(5, 4, 4)
    for threshold, keep in ((0.5, computed), (0.25, np.ones((4, 4)))):
        np.testing.assert_array_equal(made.keep(x, 5, threshold)[0], keep)
        np.testing.assert_array_equal(made.to_integers(1.0, threshold).keep(x.astype(np.int8), 5)[0], keep)


@pytest.mark.parametrize("kind", [1, 6, 8])
def test_integers(kind: int) -> None:
    random = np.random.default_rng(kind)
    made, scale, threshold = random_predictor(random, 5), 0.03, 0.1
    made.first_bias[0] = 1e9  # needs all bits, and the filter's weights are 0 then
    made.second[1] = 0
    integers = made.to_integers(scale, threshold)
    x = random.integers(0, 128, (2, 5, 10, 7)).astype(np.int8)
    computed = zap.pattern(kind, 10, 7)
    sums = convolve(x.astype(np.int64) * computed, integers.first.astype(np.int64)) + per_channel(integers.bias)
    hidden = sums >> per_channel(integers.shift)
    assert hidden.max() <= 255  # no output above 0 saturates
    second = convolve(np.maximum(hidden, 0), integers.second.astype(np.int64))
    wanted = (computed == 1) | (second > per_channel(integers.threshold))
    np.testing.assert_array_equal(integers.keep(x, kind), wanted)
    exact = made.keep(x * np.float32(scale), kind, threshold)
    assert (integers.keep(x, kind) != exact).mean() < 0.005
    extreme = np.full((1, 5, 10, 7), -128, np.int8)  # cannot come out of a ReLU, and saturates
    sums = convolve(extreme.astype(np.int64) * computed, integers.first.astype(np.int64)) + per_channel(integers.bias)
    second = convolve((sums >> per_channel(integers.shift)).clip(0, 255), integers.second.astype(np.int64))
    wanted = (computed == 1) | (second > per_channel(integers.threshold))
    np.testing.assert_array_equal(integers.keep(extreme, kind), wanted)


def test_loss_has_the_gradient_of_its_differences() -> None:
    random = np.random.default_rng(1)
    values = random.normal(0.5, 0.6, (1, 2, 5, 6)).astype(np.float32)
    x = np.maximum(random.normal(0, 1, values.shape), 0).astype(np.float32)
    _, gradient = zap.loss(values, x, 5)
    step = np.float32(2**-10)
    for place in np.ndindex(values.shape):
        if min(abs(values[place]), abs(values[place] - 1)) < 2 * step:
            continue  # where the clamp begins
        moved = [values.copy(), values.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        difference = (zap.loss(moved[0], x, 5)[0] - zap.loss(moved[1], x, 5)[0]) / (2 * step)
        assert abs(difference - gradient[place]) < 1e-5


def test_a_queue_saves_what_lockstep_cannot() -> None:
    """Eight channels in step, 45 % of outputs skipped: 0.45^8 = 0.17 % of their passes (spec 8)."""
    keep = np.random.default_rng(1).random((40, 64, 32, 32)) >= 0.45
    made = zap.passes(keep, 5)
    assert abs((1 - made.lockstep / made.rest) / 0.45**8 - 1) < 0.1
    saved = [1 - zap.passes(keep[:8], 5, depth=depth).queued / (made.rest / 5) for depth in (1, 2, 4, 8, 16, None)]
    assert saved == sorted(saved)
    assert 0.001 < saved[0] < 0.003  # a queue of one is lockstep
    assert 0.40 < saved[-1] < 0.45
    assert made.first == made.rest == 40 * 8 * 512


def walk(keep: np.ndarray, computed: np.ndarray, rows: int, columns: int, depth: int) -> tuple[int, int]:
    """Passes in lockstep and with queues, an output at a time."""
    lockstep = queued = 0
    places = [place for place in np.ndindex(computed.shape) if not computed[place]]
    for sample in keep:
        for start in range(0, len(sample), columns):
            group = sample[start : start + columns]
            for first in range(0, len(places), rows):
                lockstep += any(channel[place] for channel in group for place in places[first : first + rows])
            queues = [0] * len(group)

            def run(queues: list[int]) -> list[int]:
                return [max(length - rows, 0) for length in queues]

            for place in places:
                queues = [length + int(channel[place]) for length, channel in zip(queues, group, strict=True)]
                if depth in queues:
                    queues, queued = run(queues), queued + 1
            while any(queues):
                queues, queued = run(queues), queued + 1
    return lockstep, queued


@pytest.mark.parametrize(("rows", "columns", "depth"), [(1, 3, 1), (1, 8, 4), (3, 4, 3), (4, 2, 9), (7, 5, 50)])
def test_passes_are_those_of_a_walk(rows: int, columns: int, depth: int) -> None:
    keep = np.random.default_rng(depth).random((2, 7, 6, 5)) < 0.3
    computed = zap.pattern(3, 6, 5)
    made = zap.passes(keep, 3, rows=rows, columns=columns, depth=depth)
    groups = 2 * -(-7 // columns)
    assert (made.first, made.rest) == (groups * -(-10 // rows), groups * -(-20 // rows))
    assert (made.lockstep, made.queued) == walk(keep, computed, rows, columns, depth)
    unlimited = zap.passes(keep, 3, rows=rows, columns=columns)
    assert unlimited == zap.passes(keep, 3, rows=rows, columns=columns, depth=1000)


@pytest.mark.parametrize(("rows", "columns", "depth"), [(1, 3, 1), (1, 8, 4), (3, 4, 3), (4, 2, 9), (7, 5, 50)])
@pytest.mark.parametrize("kind", [3, 5])
def test_a_schedule_computes_each_kept_output_once(kind: int, rows: int, columns: int, depth: int) -> None:
    keep = np.random.default_rng(depth).random((2, 7, 6, 5)) < 0.4
    waits = keep & (zap.pattern(kind, 6, 5) == 0)
    made = zap.schedule(keep, kind, rows=rows, columns=columns, depth=depth)
    groups = [sample[start : start + columns].reshape(-1, 30) for sample in waits for start in range(0, 7, columns)]
    assert len(made) == len(groups)
    assert sum(map(len, made)) == zap.passes(keep, kind, rows=rows, columns=columns, depth=depth).queued
    for passes, group in zip(made, groups, strict=True):
        assert passes.shape[1:] == (rows, columns)
        filled, begins = np.zeros(columns, int), []  # after which places a pass begins
        for place in range(30):
            filled[: len(group)] += group[:, place]
            if depth in filled:
                begins.append(place)
                filled = np.maximum(filled - rows, 0)
        begins += [29] * -(-filled.max() // rows)
        assert len(passes) == len(begins)
        for column, outputs in enumerate(group):
            kept, taken = np.flatnonzero(outputs), 0
            for begin, cells in zip(begins, passes[:, :, column], strict=True):
                oldest = kept[kept <= begin][taken : taken + rows]
                np.testing.assert_array_equal(cells, np.pad(oldest, (0, rows - len(oldest)), constant_values=-1))
                taken += len(oldest)
            assert taken == len(kept)
        assert (passes[:, :, len(group) :] == -1).all()


def test_refused() -> None:
    made = random_predictor(np.random.default_rng(1), 2)
    x = np.zeros((2, 4, 4), np.float32)
    for call, words in (
        (lambda: zap.pattern(11, 4, 4), "kind is 11; expected 0 to 10"),
        (lambda: zap.pattern(5, 0, 4), "rows is 0"),
        (lambda: made.values(x[:1], 5), "expected 2 channels x rows x columns"),
        (lambda: made.values(x[0], 5), "x has shape"),
        (lambda: made.to_integers(0.0, 0.0), "scale is 0.*positive"),
        (lambda: made.to_integers(1.0, np.inf), "threshold is inf"),
        (lambda: made.to_integers(1.0, 0.0).keep(x, 5), "x has dtype float32; expected int8"),
        (lambda: zap.Predictor(x, [0, 0], x, [0, 0]), "first has shape"),
        (lambda: zap.Predictor(made.first, [0], made.second, [0, 0]), "first_bias has shape"),
        (
            lambda: zap.Predictor.fold(made.first, [0, 0], -np.ones((4, 2)), made.second, [0, 0], np.ones((4, 2))),
            "variance is -1",
        ),
        (lambda: zap.loss(x, x[:1], 5), "values have shape"),
        (lambda: zap.statistics(x, x, 5), "keep has dtype"),
        (lambda: zap.passes(x > 0, 5, rows=4, depth=3), "depth is 3; expected 4"),
        (lambda: zap.schedule(x > 0, 5, rows=4, depth=3), "depth is 3; expected 4"),
        (lambda: zap.schedule(x > 0, 5, depth=None), "depth is None"),
        (lambda: zap.schedule(x, 5, depth=1), "keep has dtype"),
    ):
        with pytest.raises(ng.Error, match=words):
            call()
