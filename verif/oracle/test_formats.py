# SPDX-License-Identifier: Apache-2.0
"""Decode and encode of every format, against ml_dtypes, numpy and exact fractions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import exact
import numpy as np
import pytest
import sweep

import narrowgauge as ng

ALL = tuple(ng.formats())
WITH_ORACLE = tuple(name for name, f in ng.formats().items() if f.ml_dtype and name != "fp32")
ROUNDINGS = ("nearest_even", "nearest_away", "toward_zero")


def all_codes(name: str) -> np.ndarray:
    bits = ng.formats()[name].bits
    codes = np.arange(1 << min(bits, 16), dtype=np.uint32)
    if bits > 16:  # the upper bits enumerated, the lower ones mixed in
        codes = codes << (bits - 16) | (codes * 40503 & ((1 << (bits - 16)) - 1))
    return codes.astype(np.uint8 if bits <= 8 else np.uint16 if bits <= 16 else np.uint32)


def test_the_table_is_complete() -> None:
    assert set(ALL) == set(exact.ENCODINGS)
    assert set(WITH_ORACLE) == set(sweep.FORMATS)


@pytest.mark.parametrize("name", WITH_ORACLE)
def test_every_code_decodes_as_in_the_oracle(name: str) -> None:
    codes = all_codes(name)
    got = ng.decode(codes, name)
    want = codes.view(sweep.oracle_type(name)).astype(np.float32)
    assert len(codes) == 1 << ng.formats()[name].bits or ng.formats()[name].bits < 8
    np.testing.assert_array_equal(got, want)  # NaN equals NaN
    finite = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[finite]), np.signbit(want[finite]))


@pytest.mark.parametrize("name", ALL)
def test_every_code_decodes_to_the_exact_value(name: str) -> None:
    codes = all_codes(name)
    got = ng.decode(codes, name)
    for code, value in zip(codes.tolist(), got.tolist(), strict=True):
        want = exact.decode(name, code)
        if isinstance(want, Fraction) or not math.isnan(want):
            assert value == want, hex(code)
        else:
            assert math.isnan(value), hex(code)


def test_formats_without_an_oracle_have_the_right_values() -> None:
    assert ng.decode(np.arange(16, dtype=np.uint8), "e3m0").tolist() == [
        *(0, 1, 2, 4, 8, 16, 32, 64),
        *(-0.0, -1, -2, -4, -8, -16, -32, -64),
    ]
    assert ng.decode(np.arange(8, dtype=np.uint8), "fp7_e4m2").tolist() == [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75]
    assert ng.formats()["fp7_e4m2"].max == 1.75 * 2.0**14
    bytes_ = np.arange(256, dtype=np.uint8)
    np.testing.assert_array_equal(ng.decode(bytes_, "ue4m3"), np.abs(ng.decode(bytes_, "e4m3")))


@pytest.mark.parametrize("name", ALL)
def test_every_value_encodes_to_its_code(name: str) -> None:
    codes = all_codes(name)
    if name == "ue4m3":
        codes = codes[:128]
    if name == "int8_mx":  # -2, without a positive counterpart, saturates
        assert ng.encode(-2.0, name) == 0x81
        codes = codes[codes != 0x80]
    values = ng.decode(codes, name)
    finite = np.isfinite(values)
    for rounding in ROUNDINGS:
        got = ng.encode(values[finite], name, rounding=rounding)
        np.testing.assert_array_equal(got, codes[finite])


@pytest.mark.parametrize("name", sweep.FORMATS)
def test_a_slice_of_all_float32_encodes_as_in_the_oracle(name: str) -> None:
    done, counts, errors = sweep.sweep((name,), sweep.POLICIES, stride=2039)
    assert done > 2**32 // 2039
    assert not errors, "\n".join(errors)
    listed = {(name, p, d.why) for d in sweep.DIFFERENCES for p in d.policies if name in d.formats}
    assert {key for key, n in counts.items() if n > 0} == listed  # each listed difference was met


def sample(name: str, rng: np.random.Generator) -> np.ndarray:
    """Float64 values in and around the range of a format: random ones, its values, midpoints and their neighbours."""
    codes = all_codes(name)
    values = np.abs(ng.decode(codes[rng.permutation(len(codes))[:200]], name).astype(np.float64))
    values = np.unique(values[np.isfinite(values)])
    middles = (values[1:] + values[:-1]) / 2
    points = np.concatenate([values, middles, [ng.formats()[name].max]])
    points = np.concatenate([points, np.nextafter(points, 0), np.nextafter(points, np.inf)])
    spread = rng.choice(values[values > 0], 200) * rng.uniform(0.4, 2.2, 200)
    points = np.concatenate([points, spread])
    if ng.formats()[name].sign:
        points = np.concatenate([points, -points])
    return points[points != 0]


@pytest.mark.parametrize("overflow", ["saturate", "ieee"])
@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", [n for n in ALL if n not in ("e8m0", "fp32")])
def test_rounding_is_that_of_exact_fractions(name: str, rounding: str, overflow: str) -> None:
    x = sample(name, np.random.default_rng(7))
    got = ng.encode(x, name, rounding=rounding, overflow=overflow)
    for value, code in zip(x.tolist(), got.tolist(), strict=True):
        want = exact.encode_finite(name, Fraction(value), rounding, overflow == "saturate")
        assert code == want, f"{value!r}: got {code:#x}, expected {want:#x}"


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("name", ["bf16", "fp16", "fp32", "e5m2"])
def test_integers_are_rounded_once(name: str, rounding: str) -> None:
    """All 64 bits of them: at ties of the format, one beside them, at both ends of the types."""
    rng = np.random.default_rng(5)
    bits = ng.formats()[name].man_bits
    numbers = [1, 2**53, 2**53 + 1, 2**60 + 2**52 + 1, 2**63 - 1, 2**64 - 1]
    for width in range(bits + 3, 65):
        for kept in rng.integers(1 << bits, 1 << (bits + 1), 8):
            tie = (int(kept) << (width - bits - 1)) + (1 << max(width - bits - 2, 0))
            numbers += [tie - 1, tie, tie + 1]
    numbers = [n for n in numbers if n < 2**64]
    assert len(numbers) > 500
    for sign, dtype in ((1, np.uint64), (1, np.int64), (-1, np.int64)):
        fit = [sign * n for n in numbers if dtype == np.uint64 or n < 2**63]
        codes = ng.encode(np.array(fit, dtype), name, rounding=rounding, overflow="saturate")
        if name == "fp32":  # to nearest even alone
            assert rounding != "nearest_even" or codes.view(np.float32).tolist() == [
                exact.fp32(Fraction(n)) for n in fit
            ]
        else:
            assert codes.tolist() == [exact.encode_finite(name, Fraction(n), rounding, True) for n in fit]


def test_float64_to_fp32_is_that_of_exact_fractions() -> None:
    x = sample("fp32", np.random.default_rng(9))
    got = ng.encode(x, "fp32").view(np.float32)
    for value, code in zip(x.tolist(), got.tolist(), strict=True):
        assert code == exact.fp32(Fraction(value)), f"{value!r}"
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got, x.astype(np.float32))


@pytest.mark.parametrize("bits", [8, 16, 24])
@pytest.mark.parametrize("name", [n for n in ALL if n not in ("ue4m3", "e8m0", "fp7_e4m2", "tf32", "fp32")])
def test_stochastic_rounding_is_that_of_exact_fractions(name: str, bits: int) -> None:
    rng = np.random.default_rng(bits)
    values = sample(name, rng)
    # For each value: random words, and the two words on either side of the decision.
    for value in values.tolist():
        payload, _ = exact.round_finite(name, abs(Fraction(value)), "toward_zero")
        ladder, beyond = exact.ladder(name)
        top = ladder[payload + 1] if payload + 1 < len(ladder) else beyond
        delta = (abs(Fraction(value)) - ladder[payload]) / (top - ladder[payload])
        edge = 2**bits - math.floor(delta * 2**bits)
        words = {0, 2**bits - 1, edge - 1, edge, *rng.integers(0, 2**bits, 4).tolist()}
        words = np.array([w for w in words if 0 <= w < 2**bits], np.uint32)
        got = ng.encode(np.full(len(words), value), name, rounding="stochastic", random=words, random_bits=bits)
        for word, code in zip(words.tolist(), got.tolist(), strict=True):
            want = exact.encode_finite(
                name, Fraction(value), "stochastic", ng.formats()[name].overflow == "saturate", word, bits
            )
            assert code == want, f"{value!r}, R = {word}: got {code:#x}, expected {want:#x}"


@pytest.mark.parametrize("name", ["e2m1", "e4m3", "e5m2", "e3m0"])
def test_stochastic_rounding_over_all_words_has_the_exact_mean(name: str) -> None:
    """With 8 bits, P(up) = floor(256 delta) / 256: the mean is x, where delta is a multiple of 1/256."""
    words = np.arange(256, dtype=np.uint32)
    ladder, _ = exact.ladder(name)
    rng = np.random.default_rng(3)
    met = 0
    for low, high in itertools.pairwise(ladder):
        for eighth_bits in rng.integers(0, 256, 3).tolist():
            x = low + (high - low) * Fraction(eighth_bits, 256)
            codes = ng.encode(np.full(256, float(x)), name, rounding="stochastic", random=words)
            mean = sum(map(Fraction, ng.decode(codes, name).tolist())) / 256
            assert mean == x
            between = x + (high - low) / 257  # not a multiple: the probability is rounded down
            codes = ng.encode(np.full(256, float(between)), name, rounding="stochastic", random=words)
            mean = sum(map(Fraction, ng.decode(codes, name).tolist())) / 256
            delta = (Fraction(float(between)) - low) / (high - low)
            assert mean == low + (high - low) * Fraction(math.floor(256 * delta), 256)
            met += 1
    assert met >= 3 * (len(ladder) - 1)


@pytest.mark.parametrize(
    ("name", "overflow", "pairs"),
    [
        (
            "e4m3",
            "oracle",
            "448:7e 464:7e 464.1:7f inf:7f 0.0009765625:00 0.0009765626:01 0.0029296875:02 0.0048828125:02 "
            "0.0146484375:08 1.0625:38 1.1875:3a 17:58 19:5a",
        ),
        ("e4m3", "oracle_saturate", "464.1:7e inf:7f"),
        ("e4m3", "saturate", "464.1:7e inf:7e -inf:fe"),
        ("e5m2", "oracle", "61439:7b 61440:7c 7.62939453125e-6:00 7.6294e-6:01 2.2888184e-5:02 1.125:3c 1.375:3e"),
        ("e5m2", "oracle_saturate", "61440:7b inf:7c"),
        (
            "e2m1",
            "saturate",
            ".25:0 .26:1 .75:2 1.25:2 1.75:4 2.5:4 3.5:6 5:6 5.01:7 7:7 -.1:8 -5:e -7:f nan:7 inf:7",
        ),
        ("e8m0", "oracle", "1.5:80 3:81 6:82 0:ff -1:ff inf:ff nan:ff"),
        ("e8m0", "oracle_saturate", "0:00 -1:00 3e38:fe inf:ff"),
    ],
)
def test_reference_vectors(name: str, overflow: str, pairs: str) -> None:
    """docs/numerics.md, Reference vectors."""
    for pair in pairs.split():
        value, code = pair.split(":")
        assert ng.encode(np.float32([value]), name, overflow=overflow)[0] == int(code, 16), pair
