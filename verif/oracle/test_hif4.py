# SPDX-License-Identifier: Apache-2.0
"""HiFloat4 against a transcription of its authors' script, on millions of FP32 and BF16 numbers of all kinds."""

from __future__ import annotations

import hif4
import ml_dtypes
import numpy as np
import pytest

import narrowgauge as ng

BLOCKS = 1 << 13
KINDS = ("normal", "lognormal", "groups", "bits", "ties", "tiny", "huge", "zeros")


def numbers(kind: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    x = rng.standard_normal((BLOCKS, 64)).astype(np.float32)
    if kind == "lognormal":
        x = np.sign(x) * np.exp(3 * rng.standard_normal(x.shape)).astype(np.float32)
    elif kind == "groups":  # of four, of sizes that are apart
        x *= np.repeat(np.exp2(-rng.integers(0, 6, (BLOCKS, 16))), 4, axis=1).astype(np.float32)
    elif kind == "bits":  # every finite number
        bits = rng.integers(0, 1 << 32, x.shape, np.uint32)
        x = np.where((bits & 0x7F800000) == 0x7F800000, bits ^ 0x40000000, bits).astype(np.uint32).view(np.float32)
    elif kind == "ties":
        x = rng.integers(-56, 57, x.shape).astype(np.float32) / 8
        x[:, 0] = rng.choice([7, 3.5, 6, 5, 4], BLOCKS)
    elif kind == "tiny":
        x *= np.float32(2.0**-46) * np.exp2(-rng.integers(0, 90, (BLOCKS, 1))).astype(np.float32)
    elif kind == "huge":
        x *= np.float32(2.0**15) * np.exp2(rng.integers(0, 100, (BLOCKS, 1))).astype(np.float32)
    elif kind == "zeros":
        x[rng.random(BLOCKS) < 0.5] *= np.float32(-0.0)
        x[rng.random(x.shape) < 0.5] = 0
    return x


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_every_code_scale_and_level(kind: str, narrow: bool) -> None:
    for seed in range(2):
        x = numbers(kind, seed)
        if narrow:
            x = x.astype(ml_dtypes.bfloat16).astype(np.float32)
            x[~np.isfinite(x)] = 1
        made = ng.quantize_hif4(x)
        wanted = hif4.quantize(x)
        for ours, theirs in zip((made[0], *(part[:, 0] for part in made[1:])), wanted, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        np.testing.assert_array_equal(
            ng.dequantize_hif4(*made).view(np.uint32), hif4.dequantize(*wanted).view(np.uint32)
        )


def test_what_of_the_format_is_kept() -> None:
    """Values of blocks that reach 7 scales come back, but for scales whose mantissa is 3: BF16 has no reciprocal of 1.75 that
    is large enough for the thresholds, and 4 scales become 3.5."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 16, (4096, 64)).astype(np.uint8)
    codes[codes == 8] = 0  # its sign is lost
    level2, level3 = rng.integers(0, 256, 4096).astype(np.uint8), rng.integers(0, 65536, 4096).astype(np.uint16)
    codes[:, :4], level2[:], level3[:] = 7, level2 | 1, level3 | 1
    scales = (np.arange(4096) % 255).astype(np.uint8)
    values = hif4.dequantize(codes, scales, level2, level3)
    kept = (ng.dequantize_hif4(*ng.quantize_hif4(values)) == values).all(axis=1)
    assert kept[scales & 3 != 3].all()
    assert not kept[scales & 3 == 3].all()


def test_arrays_and_errors() -> None:
    x = numbers("normal", 1).reshape(64, 16, 512)
    made = ng.quantize_hif4(x)
    assert made[0].shape == x.shape
    assert {part.shape for part in made[1:]} == {(64, 16, 8)}
    assert ng.dequantize_hif4(*made).shape == x.shape
    one = [part[0, 0, :1] for part in made]
    one[0] = made[0][0, 0, :64]
    with pytest.raises(ng.Error, match="multiple of 64"):
        ng.quantize_hif4(x[..., :65])
    with pytest.raises(ng.Error, match="number 67 is"):
        ng.quantize_hif4([0] * 67 + [np.inf] + [0] * 60)
    with pytest.raises(ng.Error, match="a NaN"):
        ng.dequantize_hif4(one[0], [255], *one[2:])
    with pytest.raises(ng.Error, match="expected 0 to 15"):
        ng.dequantize_hif4(one[0] + 16, *one[1:])
    with pytest.raises(ng.Error, match="level3 hold 65536 to 65536; expected 0 to 65535"):
        ng.dequantize_hif4(*one[:3], [65536])
    with pytest.raises(ng.Error, match="thrice"):
        ng.dequantize_hif4(one[0], [1, 2], *one[2:])
