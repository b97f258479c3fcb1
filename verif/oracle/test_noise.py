# SPDX-License-Identifier: Apache-2.0
"""PNI, CPNI and votes against results of their authors' code, with its normal numbers (vectors/README.md)."""

from __future__ import annotations

import numpy as np
from originals import vectors

from narrowgauge import noise

MADE = vectors("noise")


def f32(key: str) -> np.ndarray:
    return MADE[key].view(np.float32)


def convolve(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))).astype(np.float64)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.einsum("ncijhw,ochw->noij", windows, weights.astype(np.float64))


def test_white_noise() -> None:
    """Their numbers are of N(0, std) already."""

    def disturbed(x: np.ndarray, alpha: str, order: int) -> np.ndarray:
        drawn = f32(f"white.normal{order}").astype(np.float64)
        return noise.pni(x, f32(f"white.{alpha}"), normals=drawn / x.astype(np.float64).std(ddof=1))

    y = convolve(disturbed(f32("white.x"), "alpha_i", 0), disturbed(f32("white.weight"), "alpha", 1))
    np.testing.assert_allclose(disturbed(y, "alpha_o", 2), f32("white.y"), rtol=0, atol=2e-6)


def test_coloured_noise() -> None:
    def disturbed(x: np.ndarray, where: str, shape: tuple[int, ...], order: int) -> np.ndarray:
        drawn = f32(f"coloured.normal{order}").reshape(shape), f32(f"coloured.normal{order + 1}")
        diagonal, factors = f32(f"coloured.alphad_{where}"), f32(f"coloured.alphaf_{where}")
        return noise.cpni(x, diagonal.reshape(shape), factors.reshape(*shape, -1), normals=drawn)

    x, weight = f32("coloured.x"), f32("coloured.weight")
    y = convolve(disturbed(x, "i", x.shape[1:], 0), disturbed(weight, "w", weight.shape, 2))
    np.testing.assert_allclose(disturbed(y, "o", y.shape[1:], 4), f32("coloured.y"), rtol=0, atol=2e-6)


def test_votes() -> None:
    """Sample 0 has equal scores, of which their program ranks any first."""
    scores = f32("vote.logits")
    made = noise.histograms(scores)
    np.testing.assert_array_equal(made[1:], MADE["vote.histogram"][1:])
    np.testing.assert_array_equal(noise.elected(MADE["vote.histogram"]), MADE["vote.top5"])
    np.testing.assert_array_equal(noise.smoothed(scores)[1:], MADE["vote.top5"][1:])
    clean = f32("vote.clean")[None]
    np.testing.assert_array_equal(noise.smoothed(clean), np.argsort(-clean[0], axis=-1, kind="stable")[:, :5])
