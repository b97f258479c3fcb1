# SPDX-License-Identifier: Apache-2.0
"""Retrieval of chunks: scores in fractions, ties, keys in the order of numbers."""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import retrieval
from narrowgauge.retrieval import __main__ as command_line


def test_best_k_and_ties() -> None:
    keys = [3, 9, 9, 1, 9, 3]
    assert retrieval.top_k(keys, 6).tolist() == [1, 2, 4, 0, 5, 3]
    assert retrieval.top_k(np.array(keys, np.uint32), 2).tolist() == [1, 2]
    assert retrieval.top_k([[-1.0, -0.0, 0.0], [2.0, -np.inf, np.inf]], 2).tolist() == [[1, 2], [2, 0]]
    random = np.random.default_rng(1)
    for _ in range(50):
        keys = random.integers(0, 8, 40).tolist()
        wanted = sorted(range(40), key=lambda place: (-keys[place], place))
        assert retrieval.top_k(keys, 11).tolist() == wanted[:11]


def insert(best: list[tuple[int, int]], key: int, place: int, k: int) -> list[tuple[int, int]]:
    """A candidate goes before the first that it exceeds, as in a unit that takes one candidate at a time."""
    at = sum(key <= other for other, _ in best)
    return [*best[:at], (key, place), *best[at:]][:k]


def test_candidates_one_at_a_time_end_in_the_same() -> None:
    scores = np.random.default_rng(2).normal(0, 1, 300).astype(np.float32).round(1)
    keys = retrieval.order_keys(scores)
    best: list[tuple[int, int]] = []
    for place, key in enumerate(keys.tolist()):
        best = insert(best, key, place, 8)
    assert retrieval.top_k(keys, 8).tolist() == [place for _, place in best]


def test_keys_are_in_the_order_of_numbers() -> None:
    random = np.random.default_rng(3)
    scores = np.concatenate([random.normal(0, 1, 2000) * 2.0 ** random.integers(-100, 120, 2000), [0, np.inf, -np.inf]])
    scores = np.sort(scores.astype(np.float32))
    keys = retrieval.order_keys(scores).astype(np.int64)
    assert keys.max() < 2**24
    assert (np.diff(keys) >= 0).all()
    apart = np.diff(scores) > np.abs(scores[1:]) * 2.0**-14
    assert (np.diff(keys)[apart] > 0).all()
    assert retrieval.order_keys(-0.0) < retrieval.order_keys(0.0)
    assert retrieval.order_keys(np.float32([1, 1 + 2**-16])).tolist() == 2 * [0xBF8000]


def test_scores_are_exact_before_their_rounding() -> None:
    random = np.random.default_rng(4)
    lengths = random.integers(1, 6, 40)
    dots = (random.normal(0, 1, (7, lengths.sum())) * 2.0 ** random.integers(-40, 41, (7, 1))).astype(np.float32)
    dots[4:] = -dots[:3]  # cancels where a chunk has one token
    scores = retrieval.max_sim(dots, lengths)
    end = 0
    for chunk, length in enumerate(lengths):
        part = dots[:, end : end + length]
        end += length
        exact = sum((max(map(Fraction, row)) for row in part.tolist()), Fraction(0))
        nearest = scores[chunk]
        others = [np.nextafter(nearest, np.float32(side)) for side in (np.inf, -np.inf)]
        error = abs(Fraction(float(nearest)) - exact)
        assert all(error <= abs(Fraction(float(other)) - exact) for other in others)
    tie = np.float32([[1], [2**-24], [2**-100]])  # float64 drops the last, which decides
    assert retrieval.max_sim(tie, [1]) == 1 + np.float32(2**-23)
    assert retrieval.max_sim(-tie, [1]) == -1 - np.float32(2**-23)
    assert retrieval.max_sim(tie[:2], [1]) == 1


def fixed(number: float, exponent: int, bits: int) -> int:
    """A product as an integer, in fractions."""
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    if math.isnan(number):
        return least
    if math.isinf(number):
        return most if number > 0 else least
    return min(max(round(Fraction(number) * Fraction(2) ** (bits + 125 - exponent)), least), most)


def test_the_unit_finds_chunks_by_exact_scores() -> None:
    products = np.float32([[1, -2], [3, -4], [0.5, 8], [-1, 0.25], [3, -2], [2, -2]])  # as in retrieval_test.cpp
    best = retrieval.retrieve(products, 2, 2, exponent=131, product_bits=8)
    assert (best.chunks.tolist(), best.scores.tolist()) == ([1, 0], [34, 4])
    random = np.random.default_rng(7)
    for number in range(300):
        tokens, chunks, queries, k = (int(x) for x in random.integers(1, 6, 4))
        bits, exponent = int(random.integers(2, 57)), int(random.integers(1, 256))
        codes = random.integers(0, 2**32, (tokens * chunks, queries), np.uint32)
        if number % 3:  # near the shared exponent, with ties
            own = np.clip(exponent - random.integers(-1, bits + 2, codes.shape), 0, 254).astype(np.uint32)
            codes = codes & 0x80700000 | own << np.uint32(23)
        products = codes.view(np.float32)
        found = retrieval.retrieve(products, tokens, k, exponent=exponent, product_bits=bits)
        integers = [[fixed(x, exponent, bits) for x in row] for row in products.tolist()]
        parts = [integers[first : first + tokens] for first in range(0, len(integers), tokens)]
        scores = [sum(max(row[query] for row in part) for query in range(queries)) for part in parts]
        wanted = sorted(range(chunks), key=lambda chunk: (-scores[chunk], chunk))[:k]
        assert found.chunks.tolist() == wanted
        assert found.scores.tolist() == [scores[chunk] for chunk in wanted]


def test_the_exponent_of_the_largest_product() -> None:
    products = np.float32([[3, -12], [np.inf, 1]])
    found = retrieval.retrieve(products, 1, 9)
    assert found.chunks.tolist() == [1, 0]
    assert found.scores.tolist() == [2**23 - 1 + 2**19, -9 * 2**19]  # a step is 2^-19 below 16
    assert retrieval.retrieve(np.zeros((2, 1)), 1, 1).chunks.tolist() == [0]


def test_queries_take_the_projection_of_keys() -> None:
    random = np.random.default_rng(5)
    states, w_key, gamma = random.normal(0, 3, (50, 32)), random.normal(0, 1, (32, 16)), random.normal(1, 0.2, 32)
    q = random.normal(0, 1, (4, 16))
    normalized = states / np.sqrt(np.square(states).mean(axis=1, keepdims=True) + 1e-6)
    wanted = q @ (normalized * gamma @ w_key).T
    got = retrieval.fold_query(q, w_key, gamma) @ retrieval.rms_normalize(states).T
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-4)
    assert not retrieval.rms_normalize(np.zeros((2, 4)), 0.0).any()


def test_refused() -> None:
    dots = np.ones((2, 5), np.float32)
    for call, words in (
        (lambda: retrieval.max_sim(dots, [2, 2]), "lengths add up to 4; expected the 5 tokens"),
        (lambda: retrieval.max_sim(dots, [5, 0]), "1 or more"),
        (lambda: retrieval.max_sim(dots[0], [5]), "dots has shape"),
        (lambda: retrieval.retrieve(dots, 3, 1), "products have 2 tokens; expected full chunks of 3"),
        (lambda: retrieval.retrieve(dots[0], 1, 1), "products have shape"),
        (lambda: retrieval.retrieve(dots, 1, 0), "k is 0"),
        (lambda: retrieval.retrieve(dots, 1, 1, exponent=0), "exponent is 0; expected 1 to 255"),
        (lambda: retrieval.retrieve(dots, 1, 1, product_bits=57), "product_bits is 57; expected 2 to 56"),
        (lambda: retrieval.top_k([1, 2], 3), "k is 3; expected 1 to 2"),
        (lambda: retrieval.top_k([1, np.nan], 1), "no NaN"),
        (lambda: retrieval.order_keys([np.nan]), "no NaN"),
        (
            lambda: retrieval.fold_query(dots, np.ones((5, 4)), np.ones(5)),
            r"w_key has shape \(5, 4\); expected \(5, 5\)",
        ),
        (lambda: retrieval.rms_normalize(dots, -1), "epsilon is -1"),
    ):
        with pytest.raises(ng.Error, match=words):
            call()


RANDOM = np.random.default_rng(9)
KEYS = RANDOM.normal(0, 1, (96, 32)).astype(np.float32)
QUERIES = RANDOM.normal(0, 1, (2, 3, 32)).astype(np.float32)


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *words: str) -> int:
    np.save(folder / "keys.npy", KEYS)
    np.save(folder / "query.npy", QUERIES)
    monkeypatch.setattr(sys, "argv", ["retrieval", str(folder / "keys.npy"), str(folder / "query.npy"), *words])
    return command_line.main()


@pytest.mark.parametrize("format", ["nvfp4", "fp8_e4m3", "mxint8"])
def test_the_command_is_the_functions(
    format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lengths = np.array([8, 40, 16, 32])
    np.save(tmp_path / "lengths.npy", lengths)
    words = ("--lengths", str(tmp_path / "lengths.npy"), "--best", "3", "--format", format, "--normalize")
    assert run(monkeypatch, tmp_path, *words, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["chunks"], found["tokens"], found["format"]) == (4, 96, format)
    right = ng.quantize(retrieval.rms_normalize(KEYS).T, format, axis=-2)
    dots = ng.gemm(ng.quantize(QUERIES.reshape(6, 32), format), right)
    for number, one in enumerate(found["queries"]):
        scores = retrieval.max_sim(dots[3 * number : 3 * number + 3], lengths)
        best = retrieval.top_k(retrieval.order_keys(scores), 3)
        assert (one["query"], one["chunks"], one["scores"]) == (number, best.tolist(), scores[best].tolist())
    assert run(monkeypatch, tmp_path, *words) == 0
    assert capsys.readouterr().out.count("query ") == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "chunks have no length, or two; expected --chunk or --lengths"),
        (("--chunk", "7"), "--chunk is 7; expected 1 or more, and a divisor of the 96 tokens"),
        (("--chunk", "8", "--best", "13"), "--best is 13; expected 1 to the number of chunks, 12"),
        (("--chunk", "8", "--format", "fp4"), "--format is fp4; expected one of nvfp4"),
        (("--chunk", "8", "--engine", "gpu"), "--engine is gpu; expected one of"),
        (("--lengths", "none.npy"), "lengths none.npy cannot be read"),
    ],
)
def test_the_command_refuses(
    words: tuple[str, ...],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, tmp_path, *words) == 2
    error = capsys.readouterr().err
    assert sentence in error
    assert len(error.splitlines()) == 1
