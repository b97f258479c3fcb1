# SPDX-License-Identifier: Apache-2.0
"""Block scales in the 128x4 layout: against a reshape in numpy, and what is refused."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import narrowgauge as ng


def reshaped(scales: np.ndarray) -> np.ndarray:
    """The layout as dimensions: rows are (tile, 4, 32), blocks (tile, 4); a tile is 32 x 4 x 4."""
    rows, blocks = scales.shape
    padded = np.pad(scales, ((0, -rows % 128), (0, -blocks % 4)))
    return padded.reshape(-(-rows // 128), 4, 32, -(-blocks // 4), 4).transpose(0, 3, 2, 1, 4).reshape(-1)


@pytest.mark.parametrize(("rows", "blocks"), [(1, 1), (128, 4), (129, 5), (300, 3), (64, 100), (512, 64)])
def test_the_layout(rows: int, blocks: int) -> None:
    scales = np.random.default_rng(1).integers(0, 256, (2, 3, rows, blocks)).astype(np.uint8)
    swizzled = ng.swizzle_scales(scales)
    assert swizzled.shape[:2] == (2, 3)
    for i, j in np.ndindex(2, 3):
        np.testing.assert_array_equal(swizzled[i, j], reshaped(scales[i, j]))
    np.testing.assert_array_equal(ng.unswizzle_scales(swizzled, rows, blocks), scales)
    np.testing.assert_array_equal(ng.unswizzle_scales(swizzled[1, 2], rows, blocks, threads=2), scales[1, 2])


def test_places_of_nvmath() -> None:
    """The example of nvmath-python's page on get_block_scale_offset: NVFP4, 128 x 128, scales of blocks (5, 2) and (5, 5)."""
    scales = np.zeros((128, 8), np.uint8)
    scales[5, 2], scales[5, 5] = 1, 2
    swizzled = ng.swizzle_scales(scales)
    assert (swizzled[82], swizzled[593]) == (1, 2)


@pytest.mark.parametrize("format", ["nvfp4", "mxfp4", "mxfp8_e4m3"])
def test_scales_of_a_matrix(format: str) -> None:
    q = ng.quantize(np.random.default_rng(2).standard_normal((70, 200)).astype(np.float32), format)
    swizzled = ng.swizzle_scales(q.scales)
    np.testing.assert_array_equal(ng.unswizzle_scales(swizzled, *q.scales.shape), q.scales)
    typed = ng.to_ml_dtypes(q.scales, "ue4m3" if format == "nvfp4" else "e8m0")
    np.testing.assert_array_equal(ng.swizzle_scales(typed), swizzled)
    np.testing.assert_array_equal(ng.unswizzle_scales(swizzled.view(typed.dtype), *q.scales.shape), q.scales)


def test_what_is_refused() -> None:
    for scales, message in (
        (np.zeros(8, np.uint8), "scales have shape .8,.; expected vectors x blocks"),
        (np.zeros((0, 4), np.uint8), "expected vectors x blocks, at least one of each"),
        (np.zeros((4, 4), np.float32), "scales have dtype float32; expected uint8, float8_e4m3fn or float8_e8m0fnu"),
        (np.zeros((4, 4), ml_dtypes.float8_e5m2), "scales have dtype float8_e5m2; expected uint8"),
    ):
        with pytest.raises(ng.Error, match=message):
            ng.swizzle_scales(scales)
    with pytest.raises(ng.Error, match=r"swizzled has shape .512,.; expected 1024 bytes along the last axis"):
        ng.unswizzle_scales(np.zeros(512, np.uint8), 129, 4)
    with pytest.raises(ng.Error, match="rows is 0; expected 1 to"):
        ng.unswizzle_scales(np.zeros(512, np.uint8), 0, 4)
