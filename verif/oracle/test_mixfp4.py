# SPDX-License-Identifier: Apache-2.0
"""MixFP4 against a transcription of its paper's algorithm 1, on millions of BF16 numbers of all kinds."""

from __future__ import annotations

import mixfp4
import numpy as np
import pytest
from test_if4 import KINDS, numbers

import narrowgauge as ng


@pytest.mark.parametrize("kind", KINDS)
def test_every_code_and_scale(kind: str) -> None:
    for seed in range(4):
        x = numbers(kind, seed)
        codes, scales, amax = ng.quantize_mixfp4(x)
        want_codes, want_scales, want_amax = mixfp4.quantize(x)
        assert amax == want_amax
        np.testing.assert_array_equal(scales[:, 0], want_scales)
        np.testing.assert_array_equal(codes, want_codes)
        values = ng.dequantize_mixfp4(codes, scales, amax)
        wanted = mixfp4.dequantize(codes, want_scales, want_amax)
        np.testing.assert_array_equal(values.view(np.uint32), wanted.view(np.uint32))
        if kind in ("normal", "ties", "uniform"):
            assert (scales > 127).any()
            assert (scales < 127).any()


def test_the_choice_is_that_of_the_crest_factor() -> None:
    """The paper's model: E1M2 is better where the largest magnitude is below 2.22 times the root of the mean square."""
    x = numbers("normal", 3)
    _, scales, _ = ng.quantize_mixfp4(x)
    crest = np.abs(x).max(axis=1) / np.sqrt(np.square(x.astype(np.float64)).mean(axis=1))
    uniform = scales[:, 0] > 127
    assert uniform[crest < 1.9].mean() > 0.9
    assert uniform[crest > 2.6].mean() < 0.1


def test_arrays_and_errors() -> None:
    x = numbers("normal", 1).reshape(64, 16, 256)
    codes, scales, amax = ng.quantize_mixfp4(x)
    assert codes.shape == x.shape
    assert scales.shape == (64, 16, 16)
    assert ng.dequantize_mixfp4(codes, scales, amax).shape == x.shape
    with pytest.raises(ng.Error, match="whole blocks of MixFP4"):
        ng.quantize_mixfp4(x[..., :17])
    with pytest.raises(ng.Error, match="number 3 is"):
        ng.quantize_mixfp4([0, 0, 0, np.nan] * 4)
    with pytest.raises(ng.Error, match="a NaN"):
        ng.dequantize_mixfp4(codes[0, 0], np.full(16, 255, np.uint8), 1.0)
