# SPDX-License-Identifier: Apache-2.0
"""Compressed feature maps from Python; codes against Huffman's own algorithm, checksums against zlib."""

from __future__ import annotations

import heapq
import struct
import zlib

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import _core

RNG = np.random.default_rng(15)


def huffman_cost(counts: list[int]) -> int:
    """Bits of the best code without a limit: the sums of all pairs that are put together."""
    heap = [c for c in counts if c]
    if len(heap) == 1:
        return heap[0]
    heapq.heapify(heap)
    cost = 0
    while len(heap) > 1:
        pair = heapq.heappop(heap) + heapq.heappop(heap)
        cost += pair
        heapq.heappush(heap, pair)
    return cost


def test_codes_cost_what_huffman_s_do_where_no_limit_binds() -> None:
    same = 0
    for _ in range(200):
        symbols = int(RNG.integers(1, 257))
        counts = [int(c) for c in RNG.integers(1, int(RNG.integers(2, 3000)), symbols)] + [0] * (256 - symbols)
        lengths = _core.code_lengths(counts, 12)
        cost = sum(c * n for c, n in zip(counts, lengths, strict=True))
        assert sum(2.0**-n for n in lengths if n) <= 1
        assert cost >= huffman_cost(counts)
        if max(lengths) < 12:  # then the limit did not bind
            assert cost == huffman_cost(counts)
            same += 1
    assert same > 20


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_bytes_come_back(dtype: type) -> None:
    for shape in [(1,), (3, 5), (2, 16, 9, 9), (70000,)]:
        x = (RNG.standard_normal(shape) * 9).astype(np.int8)
        x = np.maximum(x, 0).astype(np.uint8) if dtype is np.uint8 else x
        file = ng.compress(x, tile=1000)
        y = ng.decompress(file)
        assert y.dtype == dtype
        assert y.shape == shape
        assert (y == x).all()
    assert (ng.decompress(ng.compress(x.T)) == x.T).all()


def test_numbers_are_quantized_under_one_step() -> None:
    x = RNG.standard_normal((4, 8, 20)).astype(np.float32)
    for bits in (2, 5, 8):
        step = np.float32(np.float64(np.abs(x).max()) / (2 ** (bits - 1) - 1))
        y = ng.decompress(ng.compress(x, bits=bits))
        assert y.dtype == np.float32
        assert (y == np.rint(x / np.float64(step)).astype(np.float32) * step).all()
    positive = np.maximum(x, 0)
    assert np.abs(ng.decompress(ng.compress(positive)) - positive).max() <= positive.max() / 255 / 2 * 1.0001


def test_the_file_is_as_the_manual_says() -> None:
    x = np.full((20, 50), 3, np.uint8)
    file = ng.compress(x, zero_runs=False)
    magic, version, flags, dimensions, runs, step, tile = struct.unpack_from("<4sHBBIfI", file)
    assert (magic, version, flags, dimensions, runs, step, tile) == (b"NGFM", 1, 2, 2, 0, 0, 4096)
    assert struct.unpack_from("<II", file, 20) == (20, 50)
    table = file[28 : 28 + 128]
    assert table[1] == 0x01
    assert sum(table) == 1
    words, checksum = struct.unpack_from("<II", file, 156)
    payload = file[168:]
    assert len(payload) == 4 * words
    assert zlib.crc32(payload) == checksum
    assert zlib.crc32(file[:164]) == struct.unpack_from("<I", file, 164)[0]
    # 15 blocks of 64 (coded, not the last) and the last one of 40; each code is 0.
    bits = ("00" + "0" * 64) * 15 + "01" + format(39, "06b") + "0" * 40
    assert payload == int(bits.ljust(len(payload) * 8, "0"), 2).to_bytes(len(payload), "big")


def test_report() -> None:
    x = np.maximum(RNG.standard_normal((64, 28, 28)), 0).astype(np.float32)
    report = ng.codec_report(x)
    assert list(report) == ["raw", "entropy", "zvc", "zero_rle", "ebpc", "huffman", "narrowgauge"]
    assert report["entropy"] <= report["narrowgauge"] <= report["huffman"] < report["entropy"] * 1.03
    assert report["narrowgauge"] < 0.8 * report["ebpc"]
    codes = np.rint(x / np.float64(np.float32(np.float64(x.max()) / 255))).astype(np.uint8)
    share = np.bincount(codes.reshape(-1)) / codes.size
    share = share[share > 0]
    assert report["entropy"] == pytest.approx(-(share * np.log2(share)).sum(), rel=1e-12)
    assert report["narrowgauge"] == 8 * len(ng.compress(x)) / x.size
    assert report["huffman"] == 8 * len(ng.compress(x, zero_runs=False)) / x.size
    assert report["zvc"] == 8 * (x.size / 8 + np.count_nonzero(codes)) / x.size
    assert ng.codec_report(codes) == pytest.approx(report, rel=1e-12)
    assert list(ng.codec_report(x, bits=4).values()) != list(report.values())
    noise = RNG.integers(0, 256, 1 << 16).astype(np.uint8)
    assert ng.codec_report(noise)["narrowgauge"] < 8 * 1.02
    assert ng.codec_report(np.zeros(5000, np.int8))["entropy"] == 0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: ng.compress(np.zeros((0, 3), np.uint8)), "shape"),
        (lambda: ng.compress(np.zeros(3, np.uint8), bits=4), "bits"),
        (lambda: ng.compress([1.0, 2.0], bits=9), "bits"),
        (lambda: ng.compress([1.0, np.inf]), "finite"),
        (lambda: ng.compress([1.0], tile=63), "tile"),
        (lambda: ng.decompress(b"NGFM"), "ends within its head"),
        (lambda: ng.decompress(b"abc"), "NGFM"),
        (lambda: ng.decompress(ng.compress([1.0])[:-1]), "bytes"),
        (lambda: ng.decompress("x"), "bytes"),
    ],
)
def test_what_is_wrong_is_said(call, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ng.Error, match=said):
        call()
