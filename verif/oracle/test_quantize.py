# SPDX-License-Identifier: Apache-2.0
"""Quantizers against exact fractions, the vendor's FP32 sequence step by step in numpy, and reference vectors."""

from __future__ import annotations

from fractions import Fraction

import exact
import ml_dtypes
import numpy as np
import pytest

import narrowgauge as ng

FORMATS = {
    "nvfp4": ("nvfp4", "e2m1"),
    "mxfp4": ("mxfp4", "e2m1"),
    "fp8_e4m3": ("fp8", "e4m3"),
    "fp8_e5m2": ("fp8", "e5m2"),
    "mxfp8_e4m3": ("mxfp8", "e4m3"),
    "mxfp8_e5m2": ("mxfp8", "e5m2"),
    "fp8_e4m3fnuz": ("fp8", "e4m3fnuz"),
    "fp8_e5m2fnuz": ("fp8", "e5m2fnuz"),
    "mxfp6_e2m3": ("mxfp6", "e2m3"),
    "mxfp6_e3m2": ("mxfp6", "e3m2"),
    "mxint8": ("mxint8", "int8_mx"),
}
FLT_MAX = np.finfo(np.float32).max


def inputs(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Matrices of the kinds that quantizers get wrong."""
    normal = rng.standard_normal((5, 70)).astype(np.float32)
    wide = (normal * np.exp2(rng.uniform(-40, 40, normal.shape))).astype(np.float32)
    sparse = np.where(rng.random(normal.shape) < 0.8, 0, normal).astype(np.float32)
    sparse[1] = -0.0
    tiny = (normal * np.exp2(rng.uniform(-20, 0, normal.shape))).astype(np.float32)
    grid = rng.choice([0.25, 0.5, 0.75, 1, 1.25, 1.75, 2.5, 3, 3.5, 5, 6, 7, 448, 464], normal.shape)
    return {
        "normal": normal,
        "wide": wide,
        "sparse": sparse,
        "tiny blocks": tiny,
        "ties": (grid * rng.choice([-1, 1], normal.shape)).astype(np.float32),
        "subnormal": (rng.integers(-40, 41, normal.shape) * 2.0**-149).astype(np.float32),
        "huge": (normal * np.float32(6e37)).astype(np.float32),
        "zeros": np.zeros((3, 33), np.float32),
        "one value": np.full((1, 1), -3e-5, np.float32),
    }


def decision_points(amax: float) -> np.ndarray:
    """Blocks whose largest value puts the NVFP4 scale on and next to each decision point, elements next to theirs."""
    scales = ng.decode(np.arange(127, dtype=np.uint8), "ue4m3")
    middles = (scales[1:] + scales[:-1]) / 2
    tops = (middles * np.float64(6) * amax / 2688).astype(np.float32).view(np.uint32)
    tops = (tops[:, None] + np.arange(-3, 4)).astype(np.uint32).view(np.float32).ravel()
    elements = np.float32([6, 0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5]) / np.float32(6)
    blocks = np.zeros((len(tops) + 1, 16), np.float32)
    blocks[1:, :8] = tops[:, None] * elements
    blocks[0, 0] = amax
    return blocks


def assert_same(q: ng.QuantizedMatrix, want: tuple, what: str) -> None:
    codes, scales, tensor_scale = want
    assert np.float32(q.tensor_scale) == tensor_scale, what
    if scales is None:
        assert q.scales is None
    else:
        np.testing.assert_array_equal(q.scales, scales, err_msg=what)
    np.testing.assert_array_equal(q.codes, codes, err_msg=what)


@pytest.mark.parametrize("axis", ["rows", "columns"])
@pytest.mark.parametrize("format", FORMATS)
def test_exact_rule(format: str, axis: str) -> None:
    scheme, element = FORMATS[format]
    for what, x in inputs(np.random.default_rng(11)).items():
        q = ng.quantize(x if axis == "rows" else x.T, format, axis=axis)
        assert (q.scheme, q.element, q.rows, q.k) == (scheme, element, *x.shape)
        assert_same(q, exact.quantize(x, scheme, element), what)


@pytest.mark.parametrize("amax", [1.0, 0.37, 1e-36, 2.9e38])
def test_exact_rule_at_decision_points(amax: float) -> None:
    x = decision_points(amax)
    assert_same(ng.quantize(x), exact.quantize(x, "nvfp4"), f"amax {amax}")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("rounding", ["nearest_away", "toward_zero"])
def test_other_roundings(format: str, rounding: str) -> None:
    for what, x in inputs(np.random.default_rng(12)).items():
        q = ng.quantize(x, format, rounding=rounding)
        assert_same(q, exact.quantize(x, *FORMATS[format], rounding=rounding), what)


@pytest.mark.parametrize("bits", [1, 8, 13, 16, 24])
@pytest.mark.parametrize("format", FORMATS)
def test_stochastic(format: str, bits: int) -> None:
    for what, x in inputs(np.random.default_rng(13)).items():
        options = {"rounding": "stochastic", "random_bits": bits, "seed": 0x123456789ABCDEF}
        assert_same(ng.quantize(x, format, **options), exact.quantize(x, *FORMATS[format], **options), what)


@pytest.mark.parametrize("format", ["nvfp4", "fp8_e4m3", "fp8_e5m2", "fp8_e4m3fnuz"])
def test_given_and_power_of_two_scales(format: str) -> None:
    """Powers of two put many quotients exactly on decision points; small scales overflow, large ones underflow."""
    for what, x in inputs(np.random.default_rng(14)).items():
        for scale in (1.0, 2.0**-9, 2.0**-20, 2.0**-149, 3.0e-3, 2.0**100):
            q = ng.quantize(x, format, tensor_scale=scale)
            assert_same(q, exact.quantize(x, *FORMATS[format], scale=scale), f"{what}, scale {scale}")
        q = ng.quantize(x, format, power_of_two_scale=True)
        assert_same(q, exact.quantize(x, *FORMATS[format], power_of_two=True), what)


def vendor(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.float32]:
    """docs/quantizers.md, The vendor rule, one float32 operation a line. Rows are vectors, a whole number of blocks."""
    f = np.float32
    with np.errstate(all="ignore"):
        amax = np.abs(x).max()
        s_enc = np.minimum(f(2688) / amax, FLT_MAX)
        if amax == 0 or s_enc == 0:
            s_enc = f(1)
        blocks = x.reshape(-1, 16)
        m = s_enc * (f(1) / f(6))
        raw = np.abs(blocks).max(axis=1) * m
        raw = np.minimum(raw, FLT_MAX)
        scale = np.minimum(raw, f(448)).astype(ml_dtypes.float8_e4m3fn)
        denominator = scale.astype(f) * (f(1) / s_enc)
        enc = np.minimum(f(1) / denominator, FLT_MAX)
        scaled = np.clip(blocks * enc[:, None], f(-6), f(6))
        codes = scaled.astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
    rows = x.shape[0]
    tensor_scale = f(1) if amax == 0 else amax / f(2688)
    return codes.reshape(rows, -1), scale.view(np.uint8).reshape(rows, -1), tensor_scale


def test_vendor_rule() -> None:
    rng = np.random.default_rng(15)
    cases = inputs(rng) | {"large": (rng.standard_normal((64, 1024)) * 3).astype(np.float32)}
    cases |= {f"decision points, amax {amax}": decision_points(amax) for amax in (1.0, 0.37, 5e4, 1e-36, 2.9e38)}
    for what, x in cases.items():
        padded = np.zeros((x.shape[0], -(-x.shape[1] // 16) * 16), np.float32)
        padded[:, : x.shape[1]] = x
        assert_same(ng.quantize(x, "nvfp4", rule="vendor"), vendor(padded), what)


# amax of the tensor, elements 0, 1, ..., scale code, codes from element 15 down (docs/numerics.md, Reference vectors)
VENDOR_VECTORS = [
    (0, [], 0x00, "0000000000000000"),
    (1, [], 0x00, "0000000000000000"),
    (6, [1, 2, 3, 4, 5, 6, -1, -2, -3, -4, -5, -6, 0.5, -0.5, 0.25, -0.25], 0x7E, "8091feedca766542"),
    (1, [0.1, -0.2, 0.3, 1, -1, 0.7, 0.05, 0.02], 0x7E, "00000000016f74a1"),
    (1, [1 / 448, -0.5 / 448], 0x38, "00000000000000d7"),
    (1, [1e-7, -1e-7], 0x00, "00000000000000f7"),
    (1, [1e-5, -7e-6, 3e-6], 0x02, "00000000000004e7"),
    (1, [0.03, -0.011, 0.5, 1, -0.25], 0x7E, "00000000000b7580"),
    (3e38, [3e38, 1e38, -3e38], 0x7E, "0000000000000f47"),
    (1e-40, [1e-40, -5e-41], 0x03, "0000000000000080"),
]


@pytest.mark.parametrize(("amax", "elements", "scale", "codes"), VENDOR_VECTORS)
def test_reference_vendor_vectors(amax: float, elements: list[float], scale: int, codes: str) -> None:
    x = np.zeros((2, 16), np.float32)
    x[0, : len(elements)] = elements
    x[1, 0] = amax  # the tensor's maximum may lie in another block
    q = ng.quantize(x, "nvfp4", rule="vendor")
    assert q.scales[0, 0] == scale
    assert "".join(f"{code:x}" for code in q.codes[0, ::-1]) == codes


def test_reference_mxfp4_scales() -> None:
    for amax, scale in [
        (6, 0x7F),
        (4, 0x7F),
        (7.99, 0x7F),
        (8, 0x80),
        (1, 0x7D),
        (0, 0x00),
        (1e-45, 0x00),
        (3e38, 0xFC),
    ]:
        q = ng.quantize(np.float32([[amax]]), "mxfp4")
        assert q.scales[0, 0] == scale, amax
    assert ng.quantize(np.float32([[7.99]]), "mxfp4").codes[0, 0] == 7


@pytest.mark.parametrize("rule", ["exact", "vendor"])
@pytest.mark.parametrize("format", FORMATS)
def test_dequantize_is_exact(format: str, rule: str) -> None:
    if rule == "vendor" and format != "nvfp4":
        return
    for what, x in inputs(np.random.default_rng(16)).items():
        q = ng.quantize(x, format, rule=rule)
        values = ng.dequantize(q)
        assert values.shape == x.shape
        for r in range(x.shape[0]):
            for i in range(x.shape[1]):
                want = exact.decode(q.element, int(q.codes[r, i])) * exact.frac(np.float32(q.tensor_scale))
                if q.scales is not None:
                    want *= exact.decode(exact.SCALE_FORMAT[q.scheme], int(q.scales[r, i // q.block]))
                assert Fraction(values[r, i]) == want, what


@pytest.mark.parametrize("format", FORMATS)
def test_the_result_does_not_depend_on_threads(format: str) -> None:
    x = np.random.default_rng(17).standard_normal((130, 75)).astype(np.float32)
    for rounding in ("nearest_even", "stochastic"):
        one, three = (ng.quantize(x, format, axis="columns", rounding=rounding, seed=5, threads=n) for n in (1, 3))
        np.testing.assert_array_equal(one.codes, three.codes)


def parts(scaling: str, shape: tuple[int, int]) -> list[tuple[tuple[int, ...], tuple[slice, slice]]]:
    """Place of a scale in `scales`, and what it scales."""
    tall = {"vector": 1, "1x128": 1, "128x128": 128}[scaling]
    wide = shape[1] if scaling == "vector" else 128
    places = [(i, j) for i in range(-(-shape[0] // tall)) for j in range(-(-shape[1] // wide))]
    return [
        ((i,) if scaling == "vector" else (i, j), (slice(i * tall, (i + 1) * tall), slice(j * wide, (j + 1) * wide)))
        for i, j in places
    ]


@pytest.mark.parametrize("scaling", ["vector", "1x128", "128x128"])
@pytest.mark.parametrize("axis", [-1, -2])
@pytest.mark.parametrize("element", ["e4m3", "e5m2"])
def test_fp8_scales_of_vectors_and_blocks(element: str, axis: int, scaling: str) -> None:
    """Against ml_dtypes: each part divided by its own scale (float64 does not change a code) and cast."""
    rng = np.random.default_rng(18)
    largest, dtype = {"e4m3": (448, ml_dtypes.float8_e4m3fn), "e5m2": (57344, ml_dtypes.float8_e5m2)}[element]
    for shape in [(1, 1), (5, 300), (129, 128), (260, 131)]:
        x = (rng.standard_normal(shape) * np.exp2(rng.uniform(-30, 30, (shape[0], 1)))).astype(np.float32)
        x[0] = 0
        q = ng.quantize(x if axis == -1 else x.T, f"fp8_{element}", axis=axis, scaling=scaling)
        assert (q.scaling, q.tensor_scale) == (scaling, 1)
        assert q.scales.dtype == np.float32
        for place, part in parts(scaling, shape):
            amax = np.abs(x[part]).max()
            scale = np.float32(1) if amax == 0 else amax / np.float32(largest)
            assert q.scales[place] == scale
            want = np.clip(x[part] / np.float64(scale), -largest, largest).astype(dtype).view(np.uint8)
            np.testing.assert_array_equal(q.codes[part], want)
        values = ng.dequantize(q)
        assert values.shape == (x if axis == -1 else x.T).shape
        for place, part in parts(scaling, shape):
            want = q.codes[part].view(dtype).astype(np.float64) * q.scales[place]
            np.testing.assert_array_equal((values if axis == -1 else values.T)[part], want)


@pytest.mark.parametrize("scaling", ["vector", "1x128", "128x128"])
@pytest.mark.parametrize("element", ["e4m3", "e5m2"])
def test_fp8_scales_of_parts_by_fractions(element: str, scaling: str) -> None:
    """Each part as exact.quantize has it alone: subnormal scales, ties, powers of two."""
    for what, x in inputs(np.random.default_rng(19)).items():
        for power_of_two in (False, True):
            q = ng.quantize(x, f"fp8_{element}", scaling=scaling, power_of_two_scale=power_of_two)
            for place, part in parts(scaling, x.shape):
                codes, _, scale = exact.quantize(x[part], "fp8", element, power_of_two=power_of_two)
                assert q.scales[place] == scale, what
                np.testing.assert_array_equal(q.codes[part], codes, err_msg=what)


@pytest.mark.parametrize("element", ["e4m3", "e5m2"])
def test_mxfp8_with_ml_dtypes(element: str) -> None:
    """OCP's floor rule in numpy's float64, casts by ml_dtypes."""
    rng = np.random.default_rng(20)
    largest, top, dtype = {
        "e4m3": (448, 8, ml_dtypes.float8_e4m3fn),
        "e5m2": (57344, 15, ml_dtypes.float8_e5m2),
    }[element]
    x = (rng.standard_normal((200, 640)) * np.exp2(rng.uniform(-120, 120, (200, 1)))).astype(np.float32)
    q = ng.quantize(x, f"mxfp8_{element}")
    blocks = x.astype(np.float64).reshape(200, 20, 32)
    scale = np.exp2(np.maximum(np.floor(np.log2(np.abs(blocks).max(axis=2))) - top, -127))
    np.testing.assert_array_equal(q.scales, scale.astype(ml_dtypes.float8_e8m0fnu).view(np.uint8))
    want = np.clip(blocks / scale[..., None], -largest, largest).astype(dtype).view(np.uint8)
    np.testing.assert_array_equal(q.codes, want.reshape(200, 640))
