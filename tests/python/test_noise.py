# SPDX-License-Identifier: Apache-2.0
"""Noise and smoothed predictions by their statistics and by hand; the authors' own results are in verif/oracle/test_noise.py."""

from __future__ import annotations

import math

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import noise


def test_normals() -> None:
    numbers = noise.normals(3, 200_000)
    np.testing.assert_array_equal(numbers[70:80], noise.normals(3, 10, first=70))
    fields = ng.random_fields(3, 20).reshape(10, 2)
    wanted = [math.sqrt(-2 * math.log((u + 1) / 2**32)) * math.cos(2 * math.pi * v / 2**32) for u, v in fields.tolist()]
    np.testing.assert_allclose(numbers[:10], wanted, rtol=1e-9, atol=1e-9)
    moments = [np.mean(numbers**power) for power in (1, 2, 3, 4)]
    np.testing.assert_allclose(moments, [0, 1, 0, 3], atol=0.05)
    assert noise.normals(3, 0).shape == (0,)


def test_white_noise() -> None:
    x = np.random.default_rng(1).normal(2, 3, (50, 40, 30)).astype(np.float32)
    added = noise.pni(x, 0.5, seed=2).astype(np.float64) - x
    assert abs(added.std() / (0.5 * x.std()) - 1) < 0.02
    assert abs(added.mean()) < 0.02
    np.testing.assert_array_equal(noise.pni(x, 0.0), x)
    np.testing.assert_array_equal(noise.pni(x, np.full((40, 30), 0.5), seed=2), noise.pni(x, 0.5, seed=2))
    drawn = np.ones(x.shape)
    np.testing.assert_allclose(noise.pni(x, 2.0, normals=drawn) - x, 2 * x.std(dtype=np.float64, ddof=1), rtol=1e-6)


def test_coloured_noise() -> None:
    """Its covariance is |std d| on the diagonal plus F F^T, and one sample of noise is all samples'."""
    random = np.random.default_rng(1)
    shape = (3, 4)
    x = random.normal(0, 2, (7, *shape)).astype(np.float32)
    diagonal, factors = random.normal(0, 0.1, shape), random.normal(0, 0.3, (*shape, 2))
    drawn = np.stack([noise.cpni(x, diagonal, factors, seed=seed) - x for seed in range(2000)]).astype(np.float64)
    np.testing.assert_allclose(np.broadcast_to(drawn[:, :1], drawn.shape), drawn, atol=2e-6)
    samples = drawn[:, 0].reshape(2000, -1)
    flat = factors.reshape(-1, 2)
    wanted = np.diag(np.abs(x.std(ddof=1) * diagonal).reshape(-1)) + flat @ flat.T
    np.testing.assert_allclose(np.cov(samples.T), wanted, atol=0.06)
    np.testing.assert_array_equal(
        noise.cpni(x, diagonal, factors, seed=5),
        noise.cpni(x, diagonal, factors, normals=(noise.normals(5, 12).reshape(shape), noise.normals(5, 2, first=12))),
    )


def test_votes_by_hand() -> None:
    scores = [[[9, 5, 1]], [[9, 1, 5]], [[1, 9, 5]]]  # three runs of one sample
    made = noise.histograms(scores, 3)
    np.testing.assert_array_equal(made, [[[2, 1, 0], [0, 1, 2], [1, 1, 1]]])
    np.testing.assert_array_equal(noise.elected(made), [[0, 2, 1]])
    np.testing.assert_array_equal(noise.smoothed(scores, 2), [[0, 2]])
    # Votes that went to a class already taken count no more, and without any vote classes come in their order.
    np.testing.assert_array_equal(noise.elected([[5, 0, 0, 0], [5, 0, 0, 0], [0, 0, 0, 5]]), [0, 1, 3])


def test_means() -> None:
    scores = [[[0.0, 30.0, 20.0]], [[21.0, 0.0, 20.0]], [[21.0, 0.0, 20.0]]]
    assert noise.smoothed(scores, 1, "logits") == [[2]]  # 14, 10, 20
    assert noise.smoothed(scores, 1, "probabilities") == [[0]]  # 0.49, 0.33, 0.18
    assert noise.smoothed(scores, 1, "votes") == [[0]]


@pytest.mark.parametrize("method", noise.METHODS)
def test_one_run_is_itself(method: str) -> None:
    scores = np.round(np.random.default_rng(1).normal(0, 2, (1, 6, 5, 10)))  # with ties
    wanted = np.argsort(-scores[0], axis=-1, kind="stable")[..., :4]
    np.testing.assert_array_equal(noise.smoothed(scores, 4, method), wanted)


def test_refused() -> None:
    x = np.ones((4, 3), np.float32)
    for call, words in (
        (lambda: noise.pni(x, np.ones(4)), "alpha has shape"),
        (lambda: noise.pni(x, normals=np.ones(4)), "normals have shape"),
        (lambda: noise.pni(x * np.nan), "x has shape .* finite"),
        (lambda: noise.pni(x[0, 0]), "two numbers or more"),
        (lambda: noise.cpni(x, np.ones(4), np.ones((4, 5))), "diagonal has shape"),
        (lambda: noise.cpni(x, np.ones(3), np.ones((4, 5))), "factors have shape"),
        (lambda: noise.cpni(x, np.ones(3), np.ones((3, 5)), normals=(np.ones(3),)), "no pair"),
        (lambda: noise.histograms(x, 4), "ranks is 4; expected 1 to 3"),
        (lambda: noise.elected(np.ones((4, 3), int)), "histograms have dtype"),
        (lambda: noise.smoothed(x, 2, "median"), "method is 'median'"),
        (lambda: noise.normals(0, -1), "count is -1"),
    ):
        with pytest.raises(ng.Error, match=words):
            call()
