# SPDX-License-Identifier: Apache-2.0
"""ZAP's patterns, decisions and statistics against those of its authors' code, bit for bit, and its values within what their
order of FP32 sums leaves open (vectors/README.md); how far the predictor in integers is from it."""

from __future__ import annotations

import numpy as np
import pytest
from originals import vectors

from narrowgauge import zap

MADE = vectors("zap")
CASES = sorted(key.removeprefix("zap/").removesuffix(".keep") for key in MADE if key.endswith(".keep"))


def f32(key: str) -> np.ndarray:
    return MADE[f"zap/{key}"].view(np.float32)


def predictor(case: str) -> zap.Predictor:
    return zap.Predictor.fold(*(f32(f"{case}.{part}") for part in ("w1", "b1", "bn1", "w2", "b2", "bn2")))


def decisions(case: str) -> np.ndarray:
    return np.unpackbits(MADE[f"zap/{case}.keep"], axis=-1, bitorder="little")[..., : f32("x").shape[-1]]


@pytest.mark.parametrize("kind", range(len(zap.SHARES)))
def test_patterns_are_theirs(kind: int) -> None:
    wanted = MADE[f"pattern/{kind}"]
    np.testing.assert_array_equal(zap.pattern(kind, *wanted.shape), wanted)


@pytest.mark.parametrize("case", CASES)
def test_decisions_are_theirs(case: str) -> None:
    kind, threshold = int(case.partition(".")[0]), float(case.partition(".")[2])
    x, made = f32("x"), predictor(case)
    np.testing.assert_array_equal(made.keep(x, kind, threshold), decisions(case))
    predicted = zap.pattern(kind, *x.shape[-2:]) == 0
    values = made.values(x, kind)
    np.testing.assert_allclose(values[..., predicted], f32(f"{case}.value")[..., predicted], rtol=0, atol=1e-6)
    counts = list(vars(zap.statistics(x, decisions(case), kind)).values())
    assert counts == MADE[f"zap/{case}.stats"].tolist()
    if f"zap/{case}.train_pred" in MADE:
        trained = np.where(predicted, values, 1).clip(0, 1)
        np.testing.assert_allclose(trained, f32(f"{case}.train_pred"), rtol=0, atol=1e-6)
        wanted = np.where(predicted, f32("x") > 0, 1)
        assert abs(zap.loss(values, x, kind)[0] - np.square(f32(f"{case}.train_pred") - wanted).mean()) < 1e-6


def test_integers_decide_nearly_always_as_they_do() -> None:
    """3 of 9,612 predictions differ, all of them within 0.003 of the threshold."""
    x = f32("x")
    scale = float(x.max()) / 127
    codes = np.rint(x / scale).astype(np.int8)
    differences = predictions = 0
    for case in CASES:
        kind, threshold = int(case.partition(".")[0]), float(case.partition(".")[2])
        made = predictor(case)
        wrong = made.to_integers(scale, threshold).keep(codes, kind) != decisions(case)
        assert (np.abs(made.values(x, kind) - threshold)[wrong] < 0.003).all()
        differences += int(wrong.sum())
        predictions += int((zap.pattern(kind, *x.shape[-2:]) == 0).sum()) * x[..., 0, 0].size
    assert (differences, predictions) == (3, 9612)
