# SPDX-License-Identifier: Apache-2.0
"""EXAQ in Python against its rule in numpy's float32, and the integers of the hardware against the probabilities; the authors'
own results are in verif/oracle/test_exaq.py, corner cases in tests/model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import narrowgauge as ng


def test_rule() -> None:
    random = np.random.default_rng(1)
    scores = random.normal(0, 2, (3, 5, 64)).astype(np.float32)
    mask = random.random(scores.shape) < 0.8
    mask[0, 0] = False  # nothing attended
    attended = np.where(mask, scores, -np.inf)
    with np.errstate(invalid="ignore"):
        t = np.where(mask, attended - attended.max(-1, keepdims=True), 0).astype(np.float32)
    sigma = ng.exaq_sigma(scores, mask)
    np.testing.assert_allclose(sigma, t[mask].astype(np.float64).std(ddof=1), rtol=1e-12)
    for bits, slope, offset in ((2, -1.66, -1.85), (3, -1.75, -2.06), (4, -1.83, -2.27)):
        clip = ng.exaq_clip(sigma, bits=bits)
        assert clip == slope * sigma + offset
        low, scale = np.float32(clip), np.float32((2**bits - 1) / -clip)
        codes = np.where(mask, np.rint((np.maximum(t, low) - low) * scale), 255)
        np.testing.assert_array_equal(ng.exaq_codes(scores, clip, mask, bits=bits), codes)
        levels = ng.exaq_levels(clip, bits=bits)
        np.testing.assert_array_equal(levels, np.arange(2**bits, dtype=np.float32) / scale + low)
        exponentials = np.where(mask, np.exp(levels.astype(np.float64))[np.where(mask, codes, 0).astype(int)], 0)
        sums = exponentials.sum(-1, keepdims=True)
        expected = np.divide(exponentials, sums, out=np.zeros_like(exponentials), where=sums != 0)
        p = ng.exaq_softmax(scores, clip, mask, bits=bits)
        np.testing.assert_allclose(p, expected, rtol=2**-23)
        assert not p[0, 0].any()


def test_integers_of_the_hardware() -> None:
    random = np.random.default_rng(2)
    scores = random.normal(0, 1.5, (4, 300)).astype(np.float32)
    v = random.integers(-128, 128, (300, 7), dtype=np.int8)
    for bits in (2, 3, 4):
        clip = ng.exaq_clip(ng.exaq_sigma(scores), bits=bits)
        codes = ng.exaq_codes(scores, clip, bits=bits)
        table = ng.exaq_table(clip, bits=bits).astype(np.int64)
        assert table[-1] == 65535
        row = ng.exaq_row(codes[0], clip, bits=bits)
        assert row.counts.tolist() == [int((codes[0] >= k).sum()) for k in range(2**bits)]
        assert row.sum == table[codes[0]].sum()
        np.testing.assert_array_equal(row.probabilities, (table / row.sum).astype(np.float32))
        assert not row.empty
        weights = table[codes]
        expected = (weights @ v.astype(np.int64)) / weights.sum(-1, keepdims=True)
        np.testing.assert_array_equal(ng.exaq_attention(codes, v, clip, bits=bits), expected.astype(np.float32))


def test_masks_of_any_kind() -> None:
    scores = [[1.0, 2.0, np.inf]]
    assert ng.exaq_codes(scores, -3, [[1, 1, 0]], bits=2).tolist() == [[2, 3, 255]]
    assert ng.exaq_codes(scores, -3, [[True, True, False]], bits=2).tolist() == [[2, 3, 255]]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ng.exaq_clip(1, bits=5), "bits is 5; expected 2 to 4"),
        (lambda: ng.exaq_clip(-1, bits=2), "sigma is -1"),
        (lambda: ng.exaq_thresholds(2, bits=2), "clip is 2"),
        (lambda: ng.exaq_codes([1.0, np.nan], -3, bits=2), "score 1 of row 0 is nan; expected a finite number"),
        (lambda: ng.exaq_codes(1.0, -3, bits=2), "scores have shape"),
        (lambda: ng.exaq_codes([1.0, 2.0], -3, [1], bits=2), "mask has dtype"),
        (lambda: ng.exaq_row(np.zeros((2, 2), np.uint8), -3, bits=2), "expected one row"),
        (lambda: ng.exaq_row(np.full(3, 4, np.uint8), -3, bits=2), "code 0 of a row is 4; expected 0 to 3"),
        (lambda: ng.exaq_row(np.zeros(3, np.int8), -3, bits=2), "codes have dtype int8"),
        (lambda: ng.exaq_attention(np.zeros((1, 2), np.uint8), np.zeros((3, 1), np.int8), -3, bits=2), "v has shape"),
    ],
)
def test_refused(call: Callable[[], object], says: str) -> None:
    with pytest.raises(ng.Error, match=says):
        call()
