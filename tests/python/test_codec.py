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


def mixed(shape: tuple[int, ...], axis: int, sources: int) -> np.ndarray:
    """Channels along `axis` that are mixtures of a few sources, with means of their own."""
    rest = tuple(n for d, n in enumerate(shape) if d != axis)
    x = RNG.standard_normal((*rest, sources)) @ RNG.standard_normal((sources, shape[axis]))
    x += 0.1 * RNG.standard_normal(x.shape) + RNG.standard_normal(shape[axis])
    return np.ascontiguousarray(np.moveaxis(x, -1, axis)).astype(np.float32)


@pytest.mark.parametrize("basis", ["klt", "identity"])
def test_transform_is_the_rule_in_integers(basis: str) -> None:
    x = mixed((5, 12, 40), 1, 3)
    t = ng.calibrate_transform(x, group=6, basis=basis)
    codes = t.forward(x)
    whole = np.rint(x / np.float64(np.float32(t.input_step))).astype(np.int64)
    found = np.zeros_like(whole)
    for g, ((fm, fb, fs), (im, ib, _)) in enumerate(zip(t.forward_integers, t.inverse_integers, strict=True)):
        part = np.moveaxis(whole[:, 6 * g : 6 * g + 6], 1, 0).reshape(6, -1)
        q = np.clip((fm.astype(np.int64) @ part + fb[:, None]) >> fs, -127, 127)
        assert (q == codes[6 * g : 6 * g + 6]).all()
        shift = t.inverse_integers[g][2]
        y = np.clip((im.astype(np.int64) @ q + ib[:, None]) >> shift, 0, 32767)
        found[:, 6 * g : 6 * g + 6] = np.moveaxis(y.reshape(6, 5, 40), 0, 1)
    y = t.inverse(codes, x.shape)
    assert (y == found.astype(np.float32) * np.float32(t.output_step)).all()
    assert np.abs(y - np.maximum(x, 0)).max() <= t.error_bound(float(np.abs(x).max()))
    assert (ng.decompress(ng.compress(x, transform=t)) == y).all()


def test_transform_finds_numpy_s_components() -> None:
    x = mixed((4, 10, 10, 16), 3, 4)
    t = ng.calibrate_transform(x, axis=-1)
    flat = x.reshape(-1, 16).astype(np.float64)
    values, vectors = np.linalg.eigh(np.cov(flat.T, bias=True))
    assert t.mean == pytest.approx(flat.mean(axis=0), abs=1e-9)
    assert t.variance == pytest.approx(values[::-1], rel=1e-9)
    assert np.abs(np.sum(t.vectors[0] * vectors.T[::-1], axis=1)) == pytest.approx(np.ones(16), abs=1e-6)


def test_forward_folds_into_the_layer() -> None:
    # A 1 x 1 convolution of 9 to 12 channels: folded, rounding its results gives the codes of the components.
    u = RNG.standard_normal((9, 300)).astype(np.float32)
    w, b = RNG.standard_normal((12, 9)).astype(np.float32), RNG.standard_normal(12).astype(np.float32)
    z = (w.astype(np.float64) @ u + b[:, None]).astype(np.float32)
    t = ng.calibrate_transform(z, axis=0, group=6, matrix_bits=16)
    wf, bf = t.fold(w, b)
    folded = wf @ u + bf[:, None]
    assert np.abs(folded - t.forward(z)).max() <= 0.51
    assert (np.rint(folded) == t.forward(z)).mean() > 0.99


def test_exponents_come_back() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        x = (RNG.standard_normal((64, 99)) * 0.1).astype(getattr(ml_dtypes, name))
        x[0, 0] = np.nan
        file = ng.compress(x, exponents=True)
        y = ng.decompress(file)
        assert y.dtype == x.dtype
        assert y.tobytes() == x.tobytes()
        assert len(file) < 0.9 * x.nbytes
    with pytest.raises(ng.Error, match="bfloat16"):
        ng.compress(np.zeros(3), exponents=True)


def test_soft_entropy_is_the_formula() -> None:
    x = np.maximum(RNG.standard_normal((3, 50)), 0).astype(np.float32)
    for bits, sharpness in ((2, -10.0), (5, -1.0)):
        u = (x.reshape(-1, 1).astype(np.float64) - x.min()) * (2**bits - 1) / (x.max() - np.float64(x.min()))
        share = np.exp(sharpness * (u - np.arange(2**bits)) ** 2)
        p = (share / share.sum(axis=1, keepdims=True)).mean(axis=0)
        p = p[p > 0]
        soft, gradient = ng.soft_entropy(x, bits, sharpness=sharpness)
        assert soft == pytest.approx(-(p * np.log2(p)).sum(), rel=1e-9)
        assert gradient.shape == x.shape


def test_clipping() -> None:
    x = np.maximum(RNG.standard_normal(1000), 0).astype(np.float32)
    limit = ng.clip_limit(x, sigmas=2)
    assert limit == pytest.approx(x.astype(np.float64).mean() + 2 * x.astype(np.float64).std())
    y = ng.decompress(ng.compress(x, bits=5, limit=limit))
    assert y.max() == pytest.approx(limit, rel=1e-6)
    assert np.abs(y - np.minimum(x, limit)).max() <= limit / 31 / 2 * 1.0001


def test_transform_report_is_of_the_files() -> None:
    x = mixed((20, 32, 64), 1, 4)
    report = ng.transform_report(x, 0.01)
    assert list(report) == ["huffman_pre_relu", "pca_huffman", "transform"]
    for name, basis, tables, runs in (
        ("huffman_pre_relu", "identity", 1, False),
        ("pca_huffman", "klt", 1, False),
        ("transform", "klt", 8, True),
    ):
        t = ng.calibrate_transform(x, basis=basis, step=report[name]["step"])
        file = ng.compress(x, transform=t, tables=tables, zero_runs=runs)
        error = np.mean((ng.decompress(file).astype(np.float64) - np.maximum(x, 0)) ** 2)
        assert report[name]["bits"] == 8 * len(file) / x.size
        assert report[name]["mse"] == pytest.approx(error, rel=1e-9)
        assert 0.0099 < report[name]["mse"] <= 0.01
    assert report["transform"]["bits"] < report["pca_huffman"]["bits"] < report["huffman_pre_relu"]["bits"]


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
        (lambda: ng.calibrate_transform(np.ones((2, 6)), group=4), "group is 4"),
        (lambda: ng.calibrate_transform(np.ones(6)), "axis is 1"),
        (lambda: ng.calibrate_transform(np.ones((2, 6)), basis="dct"), "klt, identity"),
        (lambda: ng.calibrate_transform(np.ones((2, 6))).fold(np.ones((3, 1)), np.ones(3)), "expected 6"),
        (lambda: ng.calibrate_transform(np.ones((2, 6))).forward(np.ones((2, 5))), "5 channels"),
        (lambda: ng.compress(np.ones((2, 6)), transform="klt"), "calibrate_transform"),
        (lambda: ng.compress(np.ones((2, 6)), exponents=True, limit=1), "limit"),
        (lambda: ng.compress(np.ones(3, np.int8), limit=1), "without loss"),
        (lambda: ng.clip_limit([-1.0]), "above 0"),
        (lambda: ng.soft_entropy([1.0, 2.0], 4, sharpness=1), "sharpness"),
        (lambda: ng.transform_report(np.ones((2, 6)), 0), "above 0"),
    ],
)
def test_what_is_wrong_is_said(call, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ng.Error, match=said):
        call()
