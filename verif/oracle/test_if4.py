# SPDX-License-Identifier: Apache-2.0
"""IF4 against a transcription of fouroversix, on millions of BF16 numbers of all kinds."""

from __future__ import annotations

import if4
import ml_dtypes
import numpy as np
import pytest

import narrowgauge as ng

BLOCKS = 1 << 14
KINDS = ("normal", "lognormal", "blocks", "bits", "ties", "tiny", "huge", "zeros", "uniform")


def bf16(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return x.astype(ml_dtypes.bfloat16).astype(np.float32)


def numbers(kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    x = rng.standard_normal((BLOCKS, 16)).astype(np.float32)
    if kind == "lognormal":
        x = np.sign(x) * np.exp(4 * rng.standard_normal(x.shape)).astype(np.float32)
    elif kind == "blocks":  # scales of every E4M3 code, subnormal ones, and 0
        x *= np.exp2(-rng.integers(0, 28, (BLOCKS, 1))).astype(np.float32)
    elif kind == "bits":  # every finite BF16
        bits = rng.integers(0, 1 << 16, x.shape, np.uint16)
        x = np.where((bits & 0x7F80) == 0x7F80, bits & 0x7FFF ^ 0x4000, bits).astype(np.uint16).view(ml_dtypes.bfloat16)
        x = x.astype(np.float32)
    elif kind == "ties":
        x = rng.integers(-28, 29, x.shape).astype(np.float32) / 4
        x[:, 0] = rng.choice([3, 6, 7, 3.5], BLOCKS)
    elif kind == "tiny":
        x *= np.float32(2.0**-128)
    elif kind == "huge":
        x = np.clip(x, -2, 2) * np.float32(2.0**126)
    elif kind == "zeros":
        x[rng.random(BLOCKS) < 0.5] *= np.float32(-0.0)
        x[rng.random(x.shape) < 0.5] = 0
    elif kind == "uniform":
        x = rng.uniform(-1, 1, x.shape).astype(np.float32)
    return bf16(x)


@pytest.mark.parametrize("choice", ["mse", "mae", "largest"])
@pytest.mark.parametrize("kind", KINDS)
def test_every_code_and_scale(kind: str, choice: str) -> None:
    for seed in range(2):
        x = numbers(kind, seed)
        codes, scales, amax = ng.quantize_if4(x, choice=choice)
        want_codes, want_scales, want_amax = if4.quantize(x, choice)
        assert amax == want_amax
        np.testing.assert_array_equal(scales[:, 0], want_scales)
        np.testing.assert_array_equal(codes, want_codes)
        values = ng.dequantize_if4(codes, scales, amax)
        np.testing.assert_array_equal(values.view(np.uint32), if4.dequantize(codes, want_scales, amax).view(np.uint32))
        if kind in ("normal", "ties", "uniform"):
            assert (scales > 127).any()
            assert (scales < 127).any()


def test_the_original_differs_only_where_it_wraps() -> None:
    """E2M1 beyond 7 becomes code 8, and spoils the comparison, only where the scale is subnormal."""
    differs = 0
    for kind in KINDS:
        x = numbers(kind, 7)
        codes, scales, _ = if4.quantize(x, "mse")
        wrapped_codes, wrapped_scales, _ = if4.quantize(x, "mse", wraps=True)
        other = (codes != wrapped_codes).any(axis=1) | (scales != wrapped_scales)
        assert ((scales[other] & 127) < 8).all()
        differs += int(other.sum())
    assert differs > 0


def test_values_of_the_original_mac() -> None:
    """Elements as the script gen_golden_ref of its MAC (b03008f) decodes them, whose INT4 is two's complement times 6/7."""
    codes = np.arange(16, dtype=np.uint8)[None]
    values = ng.dequantize_if4(codes, np.array([[0x38]], np.uint8), 2688.0)[0]
    assert values.tolist() == [0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6]
    integers = ng.dequantize_if4(codes, np.array([[0xB8]], np.uint8), 2688.0)[0]
    np.testing.assert_allclose(integers, np.r_[0:8, -8:0] * (6 / 7), rtol=2e-7)


def test_arrays_and_errors() -> None:
    x = numbers("normal", 1).reshape(64, 16, 256)
    codes, scales, amax = ng.quantize_if4(x)
    assert codes.shape == x.shape
    assert scales.shape == (64, 16, 16)
    assert ng.dequantize_if4(codes, scales, amax).shape == x.shape
    with pytest.raises(ng.Error, match="multiple of 16"):
        ng.quantize_if4(x[..., :17])
    with pytest.raises(ng.Error, match="number 3 is"):
        ng.quantize_if4([0, 0, 0, np.nan] * 4)
    with pytest.raises(ng.Error, match="a NaN"):
        ng.dequantize_if4(codes[0, 0], np.full(16, 255, np.uint8), 1.0)
    with pytest.raises(ng.Error, match="at most 15"):
        ng.dequantize_if4(np.full(16, 16, np.uint8), [0], 1.0)
