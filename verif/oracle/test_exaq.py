# SPDX-License-Identifier: Apache-2.0
"""EXAQ's codes, levels and thresholds against those of its authors' code, bit for bit, and its probabilities within what the
order of their sum leaves open (vectors/README.md)."""

from __future__ import annotations

import numpy as np
import pytest
from originals import vectors

import narrowgauge as ng

CLASSES = sorted({key.split("/")[0] for key in vectors("exaq")} - {"calib"})
RULES = [f"{rule}{bits}" for rule in ("linear", "csv", "naive", "laplace") for bits in (2, 3, 4)]


def f32(bits: np.ndarray) -> np.ndarray:
    return bits.view(np.float32)


@pytest.mark.parametrize("name", CLASSES)
def test_codes_levels_and_thresholds_are_theirs(name: str) -> None:
    made = {key.split("/")[1]: value for key, value in vectors("exaq").items() if key.startswith(f"{name}/")}
    scores, mask = f32(made["x"]), made["mask"]
    if name.startswith("bf16in"):  # their difference is a BF16 number there
        attended = np.where(mask, scores, -np.inf)
        difference = np.where(mask, attended - attended.max(-1, keepdims=True), 0)
        scores = ng.decode(ng.encode(difference, "bf16"), "bf16").astype(np.float32)
    compared = 0
    for rule in RULES:
        if f"{rule}.low" not in made:
            continue
        bits, low = int(rule[-1]), float(made[f"{rule}.low"].view(np.float64)[0])
        np.testing.assert_array_equal(ng.exaq_codes(scores, low, mask, bits=bits), made[f"{rule}.codes"])
        compared += 1
        if name.startswith("bf16in"):
            continue
        np.testing.assert_array_equal(ng.exaq_levels(low, bits=bits).view(np.uint32), made[f"{rule}.levels"])
        np.testing.assert_array_equal(ng.exaq_thresholds(low, bits=bits).view(np.uint32), made[f"{rule}.thr"])
        if f"{rule}.y" in made:
            y = ng.exaq_softmax(scores, low, mask, bits=bits)
            np.testing.assert_allclose(y, f32(made[f"{rule}.y"]), rtol=0, atol=1e-6)
            sigma = ng.exaq_sigma(scores, mask)
            np.testing.assert_allclose(sigma, made[f"{rule}.std"].view(np.float64)[0], rtol=1e-7)
            smallest = float((scores - scores.max(-1, keepdims=True))[mask != 0].min())
            np.testing.assert_allclose(max(ng.exaq_clip(sigma, bits=bits), smallest), low, rtol=1e-7)
    assert compared == (3 if name.startswith("bf16in") else 11)
