# SPDX-License-Identifier: Apache-2.0
"""Means of packets: exact in fractions, the same bits in any order, and unbiased under loss."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import train


def bf16(x: np.ndarray) -> np.ndarray:
    return ng.decode(ng.encode(x, "bf16"), "bf16")


def numbers(random: np.random.Generator, workers: int, size: int, spread: int) -> np.ndarray:
    return bf16(random.normal(size=(workers, size)) * 2.0 ** random.integers(-spread, spread + 1, (workers, size)))


def packets(parts: np.ndarray, link: train.Link, seed: int = 0) -> list[train.Packet]:
    return [one for worker, values in enumerate(parts) for one in train.sent(values, worker, link, seed + worker)]


def rounded(value: Fraction) -> float:
    """To BF16: 8 bits, ties to even, subnormals down to 2^-133."""
    if not value:
        return 0.0
    exponent = len(bin(abs(value.numerator))) - len(bin(value.denominator))
    exponent -= abs(value) < Fraction(2) ** exponent
    step = Fraction(2) ** max(exponent - 7, -133)
    return float(round(value / step) * step)


@pytest.mark.parametrize("spread", [0, 10, 60, 125])
@pytest.mark.parametrize("workers", [3, 7, 64])
def test_means_are_rounded_once(workers: int, spread: int) -> None:
    random = np.random.default_rng(workers)
    parts = numbers(random, workers, 150, spread)
    parts[workers // 2 :, 64:128] = -parts[: workers - workers // 2, 64:128]  # cancels
    made = train.lossy_reduce(packets(parts, train.Link(0.3)), workers=workers, size=150)
    came = np.repeat([train.Link(0.3).arrived(worker, 150)[::64] for worker in range(workers)], 64, axis=1)[:, :150]
    np.testing.assert_array_equal(np.repeat(made.counts, 64)[:150], came.sum(axis=0))
    table = train.reciprocals()
    for place in range(150):
        exact = sum(map(Fraction, parts[came[:, place], place].tolist()), Fraction(0))
        assert made.values()[place] == rounded(exact * Fraction(float(table[came[:, place].sum()])))


def test_ties_are_told_from_what_is_near_them() -> None:
    """Sums that are a tie of BF16, and a little more or less, by numbers that float64 would lose."""
    parts = np.float32([[1, 2**-8, 0], [1, 2**-8, 2.0**-120], [1, 2**-8, -(2.0**-120)]]).T
    made = train.lossy_reduce(packets(np.vstack([parts, 0 * parts[:1]]), train.Link()), workers=4, size=3)
    assert made.codes.tolist() == [0x3E80, 0x3E81, 0x3E80]  # 1/4 to even, up and down


def test_any_order_gives_the_same_bits() -> None:
    random = np.random.default_rng(1)
    parts = numbers(random, 16, 1000, 40)
    arriving = packets(parts, train.Link(0.1), seed=7)
    wanted = train.lossy_reduce(arriving, workers=16, size=1000)
    for _ in range(10):
        random.shuffle(arriving)  # type: ignore[arg-type]
        made = train.lossy_reduce(iter(arriving), workers=16, size=1000)
        np.testing.assert_array_equal(made.codes, wanted.codes)
        np.testing.assert_array_equal(made.counts, wanted.counts)
    plain = [np.add.reduce(random.permutation(parts), axis=0, dtype=np.float32) for _ in range(2)]
    assert (plain[0] != plain[1]).any()  # sums in float32 do depend on it


def test_means_are_those_of_workers_but_for_their_rounding() -> None:
    parts = numbers(np.random.default_rng(2), 8, 640, 3)
    link = train.Link(0.2)
    arrived = np.stack([link.arrived(worker, 640) for worker in range(8)])
    made = train.lossy_reduce(packets(parts, link), workers=8, size=640)
    exact = train.mean_of_arrived(parts, arrived)
    assert (np.abs(made.values() - exact) <= 2.0**-8 * np.abs(exact)).all()


def test_the_table_moves_ties() -> None:
    """1/3 is rounded up, so that means of three that are a tie go away from zero: where the quotient itself went to even, they differ."""
    table = train.reciprocals()
    np.testing.assert_array_equal(table[1:], 1 / np.arange(1, 65, dtype=np.float32))
    assert table[0] == 0
    parts = numbers(np.random.default_rng(3), 3, 3000, 1)
    made = train.lossy_reduce(packets(parts, train.Link()), workers=3, size=3000).values()
    exact = [sum(map(Fraction, column)) / 3 for column in parts.T.tolist()]
    quotients = np.array(list(map(rounded, exact)))
    other = made != quotients
    tiny = Fraction(1, 2**40)
    ties = [rounded(q * (1 - tiny)) != rounded(q * (1 + tiny)) for q in exact]
    assert not (other & ~np.array(ties)).any()
    assert (np.abs(made - quotients) <= 2.0**-7 * np.abs(quotients)).all()
    assert (sum(ties), int(other.sum())) == (168, 84)


def test_variance_and_bias() -> None:
    """Variance over that without loss N E[1/k], 1.533 for eight workers and 30 % (spec 10), and no bias."""
    size = 128_000
    parts = bf16(np.random.default_rng(4).normal(1, 1, (8, size)))
    made = train.lossy_reduce(packets(parts, train.Link(0.3)), workers=8, size=size)
    arrived = np.repeat(made.counts > 0, 64)
    values = made.values()[arrived].astype(np.float64)
    assert abs(values.var() * 8 / 1.533 - 1) < 0.04
    assert abs(values.mean() - 1) < 0.01
    assert not made.values()[~arrived].any()


def test_refused() -> None:
    ones = np.ones(64, np.float32)
    one = train.Packet(0, 0, ones)
    for arriving, words in (
        ([one, one], "packet 0 of worker 0 arrived twice"),
        ([train.Packet(2, 0, ones)], "worker of a packet is 2; expected 0 to 1"),
        ([train.Packet(0, 2, ones)], "index of a packet is 2"),
        ([train.Packet(0, 1, ones)], r"expected \(36,\)"),
        ([train.Packet(0, 0, ones / 3)], "BF16 does not hold"),
        ([train.Packet(0, 0, ones * np.inf)], "expected finite"),
        ([ones], "a packet is of type ndarray"),
    ):
        with pytest.raises(ng.Error, match=words):
            train.lossy_reduce(arriving, workers=2, size=100)  # type: ignore[arg-type]
    for options, words in (
        ({"workers": 65, "size": 1}, "workers is 65"),
        ({"workers": 1, "size": 0}, "size is 0"),
        ({"workers": 1, "size": 1, "packet": 0}, "packet is 0"),
    ):
        with pytest.raises(ng.Error, match=words):
            train.lossy_reduce([], **options)
    with pytest.raises(ng.Error, match="values have shape"):
        train.sent(np.ones((2, 2), np.float32), 0, train.Link(), 0)
    with pytest.raises(ng.Error, match="worker is 64"):
        train.sent(ones, 64, train.Link(), 0)
