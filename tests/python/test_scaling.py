# SPDX-License-Identifier: Apache-2.0
"""DelayedScaling against its rule, written down with numpy's float32; its corner cases are in tests/model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import narrowgauge as ng


@pytest.mark.parametrize("most_recent", [False, True])
@pytest.mark.parametrize(("format", "largest"), [("e4m3", 448), ("e5m2", 57344)])
def test_rule(format: str, largest: int, most_recent: bool) -> None:
    scaling = ng.DelayedScaling(format, history=3, margin=1, most_recent=most_recent)
    assert scaling.scale == 1
    maxima = np.random.default_rng(1).lognormal(0, 3, 20).astype(np.float32)
    for step, amax in enumerate(maxima):
        scaling.record(amax)
        seen = maxima[max(0, step - 2) : step + 1]
        assert scaling.history == list(seen)
        assert scaling.scale == np.float32(largest) / (seen[-1] if most_recent else seen.max()) / np.float32(2)


def test_codes() -> None:
    x = np.random.default_rng(2).standard_normal((4, 5)).astype(np.float32)
    scaling = ng.DelayedScaling(power_of_two=True)
    scaling.record(np.abs(x).max())
    assert np.log2(scaling.scale) % 1 == 0
    codes = scaling.encode(x)
    assert codes.shape == x.shape
    assert (codes == ng.encode(x * np.float32(scaling.scale), "e4m3")).all()
    assert 224 < np.abs(ng.decode(codes, "e4m3")).max() <= 448
    assert ng.decode(scaling.encode([3e38, -3e38]), "e4m3").tolist() == [448, -448]  # what has grown saturates
    assert ng.DelayedScaling("e5m2").encode(np.float32([6e4])).tolist() == [0x7B]


def test_the_margin_comes_before_the_largest_float() -> None:
    scaling = ng.DelayedScaling("e4m3", history=1, margin=3)
    scaling.record(1e-40)  # 448 / 1e-40 is infinite, and so is an eighth of it
    assert scaling.scale == np.finfo(np.float32).max


def test_an_older_nan() -> None:
    """Holds the scale while it is remembered, but not where the newest maximum decides."""
    for most_recent, scale in ((False, 1), (True, 64)):
        scaling = ng.DelayedScaling(history=4, most_recent=most_recent)
        scaling.record(np.nan)
        scaling.record(7)
        assert scaling.scale == scale


def test_what_leaves_the_scale() -> None:
    scaling = ng.DelayedScaling(history=1)
    scaling.record(7)
    for amax in (0, np.inf, np.nan, 1e300):
        scaling.record(amax)
        assert scaling.scale == 64


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"format": "e2m1"}, "format is 'e2m1'; expected one of e4m3, e5m2"),
        ({"history": 0}, "history is 0; expected 1 to 4294967295"),
        ({"margin": 101}, "margin is 101; expected -100 to 100"),
        ({"largest": -1}, "expected a positive finite number"),
        ({"power_of_two": 1}, "power_of_two is 1; expected True or False"),
    ],
)
def test_refused(arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(ng.Error, match=says):
        ng.DelayedScaling(**arguments)


def test_refused_maxima() -> None:
    with pytest.raises(ng.Error, match=r"amax is -1.0; expected a magnitude, 0 or more"):
        ng.DelayedScaling().record(-1)
    with pytest.raises(ng.Error, match="amax is 'large'; expected a number"):
        ng.DelayedScaling().record("large")  # type: ignore[arg-type]
