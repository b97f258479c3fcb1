# SPDX-License-Identifier: Apache-2.0
"""Matrix products against integers of unlimited size: random and adversarial operands, all formats, ragged shapes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path

import exact
import numpy as np
import pytest

import narrowgauge as ng

FORMATS = {
    "nvfp4": ("nvfp4", "e2m1", "e2m1"),
    "mxfp4": ("mxfp4", "e2m1", "e2m1"),
    "fp8_e4m3": ("fp8", "e4m3", "e4m3"),
    "fp8_e5m2": ("fp8", "e5m2", "e5m2"),
    "fp8_e4m3_e5m2": ("fp8", "e4m3", "e5m2"),
    "fp8_e5m2_e4m3": ("fp8", "e5m2", "e4m3"),
    "mxfp8_e4m3": ("mxfp8", "e4m3", "e4m3"),
    "mxfp8_e5m2": ("mxfp8", "e5m2", "e5m2"),
    "mxfp8_e4m3_e5m2": ("mxfp8", "e4m3", "e5m2"),
    "mxfp8_e5m2_e4m3": ("mxfp8", "e5m2", "e4m3"),
    "fp8_e4m3fnuz": ("fp8", "e4m3fnuz", "e4m3fnuz"),
    "fp8_e5m2fnuz": ("fp8", "e5m2fnuz", "e5m2fnuz"),
    "fp8_e4m3fnuz_e5m2fnuz": ("fp8", "e4m3fnuz", "e5m2fnuz"),
    "fp8_e5m2fnuz_e4m3fnuz": ("fp8", "e5m2fnuz", "e4m3fnuz"),
    "mxfp6_e2m3": ("mxfp6", "e2m3", "e2m3"),
    "mxfp6_e3m2": ("mxfp6", "e3m2", "e3m2"),
    "mxint8": ("mxint8", "int8_mx", "int8_mx"),
}
SHAPES = [(1, 1, 1), (1, 16, 1), (3, 17, 5), (8, 32, 8), (9, 33, 7), (2, 31, 19), (4, 256, 4), (17, 5, 3), (1, 1000, 2)]
Fill = Callable[[np.random.Generator, str, tuple[int, int]], np.ndarray]


def finite_codes(name: str) -> np.ndarray:
    codes = np.arange(1 << ng.formats()[name].bits, dtype=np.uint8)
    return codes[np.isfinite(ng.decode(codes, name))]


def random_fill(rng: np.random.Generator, name: str, shape: tuple[int, int]) -> np.ndarray:
    return rng.choice(finite_codes(name), shape)


def extreme_fill(rng: np.random.Generator, name: str, shape: tuple[int, int]) -> np.ndarray:
    """Largest and smallest magnitudes and both zeros: the widest sums, the deepest cancellation."""
    values = np.abs(ng.decode(finite_codes(name), name))
    ends = finite_codes(name)[(values == values.max()) | (values == values[values > 0].min()) | (values == 0)]
    return rng.choice(ends, shape)


def max_fill(rng: np.random.Generator, name: str, shape: tuple[int, int]) -> np.ndarray:
    values = ng.decode(finite_codes(name), name)
    return np.full(shape, finite_codes(name)[values.argmax()])


def subnormal_fill(rng: np.random.Generator, name: str, shape: tuple[int, int]) -> np.ndarray:
    f = ng.formats()[name]
    codes = rng.integers(0, 1 << f.man_bits, shape) if f.has_zero else rng.integers(0, 3, shape)
    sign = rng.integers(0, 2, shape) << (f.bits - 1) if f.sign else 0
    return np.where(sign == 0, codes, ng.encode(-ng.decode(codes.astype(np.uint8), name), name)).astype(np.uint8)


def zero_fill(rng: np.random.Generator, name: str, shape: tuple[int, int]) -> np.ndarray:
    f = ng.formats()[name]
    return ng.encode(np.where(rng.integers(0, 2, shape) != 0, -0.0, 0.0) if f.sign else np.zeros(shape), name)


def any_fill(rng: np.random.Generator, name: str, shape: tuple[int, int]) -> np.ndarray:
    """All codes, with special ones rare enough that some sums stay finite and some become infinite."""
    codes = random_fill(rng, name, shape)
    every = np.arange(1 << ng.formats()[name].bits, dtype=np.uint8)
    special = every[~np.isfinite(ng.decode(every, name))]
    if special.size == 0:
        return codes
    infinite = special[np.isinf(ng.decode(special, name))]
    pool = np.concatenate([special, *[infinite] * 4])
    return np.where(rng.random(shape) < 0.3 / shape[1], rng.choice(pool, shape), codes)


FILLS: dict[str, tuple[Fill, Fill]] = {  # elements, block scales
    "random": (random_fill, random_fill),
    "extreme": (extreme_fill, extreme_fill),
    "all max": (max_fill, max_fill),
    "subnormal": (subnormal_fill, subnormal_fill),
    "zeros of both signs": (zero_fill, random_fill),
    "specials": (any_fill, any_fill),
    "scales near one": (
        random_fill,
        lambda rng, name, shape: (rng.integers(-4, 5, shape) + one(name)).astype(np.uint8),
    ),
}


def one(name: str) -> int:
    return int(ng.encode(np.float32([1]), name)[0])


def plain(scheme: str) -> float | None:
    """The tensor scale of matrices that are to have none."""
    return 1.0 if scheme == "nvfp4" else None


def operand(
    rng: np.random.Generator, scheme: str, element: str, rows: int, k: int, fills: tuple[Fill, Fill], scale: float = 1.0
) -> ng.QuantizedMatrix:
    codes = fills[0](rng, element, (rows, k))
    if scheme == "fp8":
        return ng.QuantizedMatrix(scheme, element, codes, None, scale)
    blocks = -(-k // exact.BLOCK[scheme])
    return ng.QuantizedMatrix(scheme, element, codes, fills[1](rng, exact.SCALE_FORMAT[scheme], (rows, blocks)), scale)


def assert_bits_equal(got: np.ndarray, want: np.ndarray, what: str) -> None:
    assert got.shape == want.shape
    assert got.dtype == want.dtype == np.float32
    wrong = np.argwhere(got.view(np.uint32) != want.view(np.uint32))
    text = [f"[{i}, {j}] got {got[i, j]!r}, expected {want[i, j]!r}" for i, j in wrong[:20]]
    assert not text, f"{what}: {len(wrong)} differ: " + "; ".join(text)


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("format", FORMATS)
def test_products_are_exact(format: str, fill: str) -> None:
    scheme, left, right = FORMATS[format]
    rng = np.random.default_rng([21, *format.encode(), *fill.encode()])
    for m, k, n in SHAPES:
        a = operand(rng, scheme, left, m, k, FILLS[fill])
        b = operand(rng, scheme, right, n, k, FILLS[fill])
        assert_bits_equal(ng.gemm(a, b.T), exact.gemm(a, b), f"{format}, {fill}, {m} x {k} x {n}")


@pytest.mark.parametrize("format", FORMATS)
def test_cancellation(format: str) -> None:
    """x . y - x . y + one small product: nothing but the small product may be left, in any place."""
    scheme, left, right = FORMATS[format]
    rng = np.random.default_rng(22)
    block = exact.BLOCK[scheme]
    half = 8 * max(block, 8)
    for trial in range(20):
        x, y = random_fill(rng, left, (1, half)), random_fill(rng, right, (1, half))
        small = np.zeros((1, max(block, 1)), np.uint8)
        small[0, 0] = 1
        parts = [x, ng.encode(-ng.decode(x, left), left), small]
        a_codes = np.concatenate(parts, axis=1)
        b_codes = np.concatenate([y, y, small], axis=1)
        if scheme == "fp8":  # elements in any order
            order = rng.permutation(a_codes.shape[1])
            a = ng.QuantizedMatrix(scheme, left, a_codes[:, order])
            b = ng.QuantizedMatrix(scheme, right, b_codes[:, order])
        else:
            scales = random_fill(rng, exact.SCALE_FORMAT[scheme], (2, half // block))
            a_scales = np.concatenate([scales[:1], scales[:1], [[1]]], axis=1).astype(np.uint8)
            b_scales = np.concatenate([scales[1:], scales[1:], [[1]]], axis=1).astype(np.uint8)
            a = ng.QuantizedMatrix(scheme, left, a_codes, a_scales, plain(scheme))
            b = ng.QuantizedMatrix(scheme, right, b_codes, b_scales, plain(scheme))
        got = ng.gemm(a, b.T)
        assert_bits_equal(got, exact.gemm(a, b), f"{format}, trial {trial}")
        if not scheme.startswith("mx"):
            least = ng.decode(np.uint8([1]), left)[0] * ng.decode(np.uint8([1]), right)[0]
            if scheme == "nvfp4":
                least *= ng.decode(np.uint8([1]), "ue4m3")[0] ** 2
            assert got[0, 0] == least


def powers(format: str, exponents: list[int], negative: list[bool]) -> tuple[ng.QuantizedMatrix, ng.QuantizedMatrix]:
    """Vectors whose products are +-4^e, one an element (fp8) or a block (the others), in this order."""
    scheme, left, right = FORMATS[format]
    values = np.float32([2.0**e for e in exponents])
    sign = np.where(negative, -1, 1).astype(np.float32)
    if scheme == "fp8":
        return (
            ng.QuantizedMatrix(scheme, left, ng.encode(values * sign, left)[None]),
            ng.QuantizedMatrix(scheme, right, ng.encode(values, right)[None]),
        )
    block = exact.BLOCK[scheme]
    codes = np.zeros((2, len(values) * block), np.uint8)
    codes[0, ::block], codes[1, ::block] = ng.encode(sign, left), one(right)
    scales = ng.encode(values, exact.SCALE_FORMAT[scheme])[None]
    return (
        ng.QuantizedMatrix(scheme, left, codes[:1], scales, plain(scheme)),
        ng.QuantizedMatrix(scheme, right, codes[1:], scales, plain(scheme)),
    )


@pytest.mark.parametrize("format", FORMATS)
def test_sums_on_and_next_to_a_tie(format: str) -> None:
    """2^16 has the unit 2^-7 in the last place: half of it is a tie, which 2^-18 more or less decides."""
    tie, odd = 2.0**16, 2.0**16 + 2.0**-7
    up = odd + 2.0**-7
    lower = any(ng.formats()[name].max < 256 for name in FORMATS[format][1:] if FORMATS[format][0] == "fp8")
    for exponents, negative, want in [
        ([8, -4], [0, 0], tie),
        ([8, -4, -9], [0, 0, 0], odd),
        ([8, -4, -9], [0, 0, 1], tie),
        ([8, -4, -4, -4], [0, 0, 0, 0], up),  # 1.5 units: a tie next to an odd value
        ([8, -4, -4, -4, -9], [0, 0, 0, 0, 1], odd),
    ]:
        if FORMATS[format][0].startswith("mx"):
            want = tie  # rounded at every addition
        if lower:
            exponents, want = [e - 1 for e in exponents], want / 4
        for sign in (False, True):
            a, b = powers(format, exponents, [bool(n) != sign for n in negative])
            got = ng.gemm(a, b.T)
            assert_bits_equal(got, exact.gemm(a, b), format)
            assert got[0, 0] == (-want if sign else want)


@pytest.mark.parametrize("format", FORMATS)
def test_tensor_scales(format: str) -> None:
    scheme, left, right = FORMATS[format]
    rng = np.random.default_rng(24)
    for a_scale, b_scale in [(0.37, 3.1), (1e-30, 1e-12), (1e-44, 1.0), (3e38, 2.0), (1e-30, 1e-30), (1e30, 1e-30)]:
        a = operand(rng, scheme, left, 3, 40, FILLS["specials"], 1.0 if scheme.startswith("mx") else a_scale)
        b = operand(rng, scheme, right, 3, 40, FILLS["specials"], 1.0 if scheme.startswith("mx") else b_scale)
        assert_bits_equal(ng.gemm(a, b.T), exact.gemm(a, b), f"{format}, {a_scale} and {b_scale}")


@pytest.mark.parametrize("format", FORMATS)
def test_quantized_real_matrices(format: str) -> None:
    rng = np.random.default_rng(25)
    a = rng.standard_normal((13, 75)).astype(np.float32)
    b = (rng.standard_normal((75, 11)) * np.exp2(rng.uniform(-6, 6, (75, 11)))).astype(np.float32)
    qa, qb = ng.quantize(a, format, axis="rows"), ng.quantize(b, format, axis="columns")
    got = ng.matmul(a, b, format)
    assert_bits_equal(got, exact.gemm(qa, qb), format)
    values = ng.dequantize(qa) @ ng.dequantize(qb)
    np.testing.assert_allclose(got, values, rtol=1e-5, atol=1e-5 * np.abs(values).max())


@pytest.mark.parametrize("format", FORMATS)
def test_the_result_does_not_depend_on_threads(format: str) -> None:
    scheme, left, right = FORMATS[format]
    rng = np.random.default_rng(26)
    a = operand(rng, scheme, left, 90, 300, FILLS["specials"])
    b = operand(rng, scheme, right, 70, 300, FILLS["specials"])
    assert_bits_equal(ng.gemm(a, b.T, threads=1), ng.gemm(a, b.T, threads=3), format)


@pytest.mark.parametrize(("format", "k"), [("nvfp4", 1 << 20), ("fp8_e4m3", (1 << 17) + 1000), ("fp8_e5m2", 1 << 18)])
def test_long_contractions_of_largest_values(format: str, k: int) -> None:
    """The longest sums of the largest products, with one element that must not be lost."""
    scheme, left, right = FORMATS[format]
    rng = np.random.default_rng(27)
    a = operand(rng, scheme, left, 1, k, FILLS["all max"])
    codes = a.codes.copy()
    codes[0, k // 3] = 1
    a = ng.QuantizedMatrix(scheme, left, codes, a.scales, plain(scheme))
    b = operand(rng, scheme, right, 1, k, FILLS["all max"])
    assert_bits_equal(ng.gemm(a, b.T), exact.gemm(a, b), format)


def test_units_and_widths_of_the_rules_page() -> None:
    """The table of docs/numerics.md, Exact sums, against the largest and least magnitudes of the formats."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "numerics.md").read_text()
    section = page.split("\n## Exact sums\n")[1].split("\n#")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")][2:]
    met = 0
    for term, unit, *_, width in rows:
        if not unit.startswith("2^"):
            continue  # n terms
        if match := re.match(r"(\d+) of these", term):
            factors, products = ["e2m1", "e2m1"], int(match.group(1))
        else:
            products = 16 if term.startswith("NVFP4 block") else 1
            factors = term.lower().replace("nvfp4 block", "e2m1 x e2m1").split(" x ")
        ladders = [exact.ladder(name)[0] for name in factors]
        least = math.prod(values[1] for values in ladders)
        largest = products * math.prod(values[-1] for values in ladders)
        assert least == exact.power(int(re.match(r"2\^(-\d+)", unit).group(1))), term
        assert int(largest / least).bit_length() + 1 == int(width.split()[-1]), term
        met += 1
    assert met == 7


SCALINGS = ("tensor", "vector", "1x128", "128x128")


@pytest.mark.parametrize("left", SCALINGS)
@pytest.mark.parametrize("right", SCALINGS)
@pytest.mark.parametrize("elements", [("e4m3", "e4m3"), ("e4m3", "e5m2"), ("e5m2", "e5m2")])
def test_scales_of_vectors_and_blocks(elements: tuple[str, str], left: str, right: str) -> None:
    """Of either operand, any pair; with specials, edges of blocks, and scales whose products round, overflow, vanish."""
    rng = np.random.default_rng([28, *elements[0].encode(), *elements[1].encode(), *left.encode(), *right.encode()])
    for m, k, n in [(1, 1, 1), (3, 128, 2), (130, 129, 2), (2, 300, 3)]:
        for spread in (3, 60):
            made = []
            for element, rows, scaling in ((elements[0], m, left), (elements[1], n, right)):
                codes = any_fill(rng, element, (rows, k))
                parts = {"vector": (rows,), "1x128": (rows, -(-k // 128)), "128x128": (-(-rows // 128), -(-k // 128))}
                scale = (
                    rng.uniform(1, 2, parts.get(scaling, ()))
                    * 2.0 ** rng.integers(-spread, spread, parts.get(scaling, ()))
                ).astype(np.float32)
                if scaling == "tensor":
                    made.append(ng.QuantizedMatrix("fp8", element, codes, None, float(scale)))
                else:
                    made.append(ng.QuantizedMatrix("fp8", element, codes, scale, scaling=scaling))
            a, b = made
            assert_bits_equal(ng.gemm(a, b.T), exact.gemm(a, b), f"{elements}, {left}, {right}, {m} x {k} x {n}")
