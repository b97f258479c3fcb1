# SPDX-License-Identifier: Apache-2.0
"""QuantizedMatrix as an object among numpy's, and products of any shape. What they compute is tested in verif/oracle."""

from __future__ import annotations

import copy
import pickle
import signal
import time
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import narrowgauge as ng

KINDS: list[tuple[str, str]] = [
    *((format, "tensor") for format in ng.gemm_formats() if format != "luq"),
    *(("fp8_e4m3_e5m2", scaling) for scaling in ("vector", "1x128", "128x128")),
]


def normal(*shape: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(("format", "scaling"), KINDS)
def test_orientation(format: str, scaling: str) -> None:
    """Along the other axis, the transpose is quantized; values come back as they were given."""
    x = normal(140, 150)
    right = ng.quantize(x, format, axis=-2, scaling=scaling)
    name = format if "fp8" not in format else f"{right.scheme}_{right.element}"  # of two, the right operand's
    left = ng.quantize(x.T, name, scaling=scaling)
    assert (right.shape, right.axis, left.shape, left.axis) == ((140, 150), -2, (150, 140), -1)
    assert left == right.T
    assert right == left.T
    assert left == left.T.T
    np.testing.assert_array_equal(right.codes, left.codes)
    np.testing.assert_array_equal(ng.dequantize(right), ng.dequantize(left).T)
    assert ng.dequantize(right).shape == x.shape
    assert np.corrcoef(ng.dequantize(right).ravel(), x.ravel())[0, 1] > 0.98
    assert (
        ng.quantize(x, format, axis="columns", scaling=scaling)
        == right
        == ng.quantize(x, format, axis=0, scaling=scaling)
    )
    assert ng.quantize(x, format, axis="rows", scaling=scaling) == ng.quantize(x, format, axis=1, scaling=scaling)


@pytest.mark.parametrize(("format", "scaling"), [*KINDS, ("luq", "tensor")])
def test_values_copies_and_equality(format: str, scaling: str) -> None:
    x = normal(130, 150)
    q = ng.quantize(x, format, scaling=scaling)
    exact = ng.dequantize(q)
    for values in (np.asarray(q), np.array(q), ng.fake_quantize(x, format, scaling=scaling)):
        assert values.dtype == np.float32
        np.testing.assert_array_equal(values, exact.astype(np.float32))
    np.testing.assert_array_equal(np.asarray(q, dtype=np.float64), exact)
    with pytest.raises(ValueError, match="computed"):
        np.array(q, copy=False)
    for same in (pickle.loads(pickle.dumps(q)), pickle.loads(pickle.dumps(q.T)).T, copy.copy(q), copy.deepcopy([q])[0]):
        assert same == q
        assert hash(same) == hash(q)
        assert repr(same) == repr(q)
        np.testing.assert_array_equal(ng.dequantize(same), exact)
    rebuilt = ng.QuantizedMatrix(q.scheme, q.element, q.codes, q.scales, q.tensor_scale, scaling=scaling, k=q.k)
    assert rebuilt == q
    assert len({q, rebuilt, q.T}) == 2
    changed = x.copy()
    changed[3, 4] = 40.0
    for other in (q.T, ng.quantize(x[:-1], format, scaling=scaling), ng.quantize(changed, format, scaling=scaling)):
        assert other != q
    assert q != "q"


@pytest.mark.parametrize("rounding", ["nearest_even", "stochastic"])
def test_luq_is_int4_on_the_left_and_fp4_on_the_right(rounding: str) -> None:
    w, g = normal(9, 40, seed=2), normal(40, 7, seed=3)
    a = ng.quantize(w, "luq", rounding=rounding, seed=4)
    b = ng.quantize(g, "luq", axis=-2, rounding=rounding, seed=5)
    assert (a.scheme, a.element, b.scheme, b.element) == ("int4", "int4", "luq", "e3m0")
    assert (a.block, b.block, a.scales, b.scales, a.nbytes) == (1, 1, None, None, 9 * 40 // 2 + 4)
    integers = ng.luq.int4(w)
    powers = ng.luq.quantize(g.T, rounding="stochastic" if rounding == "stochastic" else "nearest_power", seed=5)
    np.testing.assert_array_equal(ng.dequantize(a), integers.dequantize())
    np.testing.assert_array_equal(ng.dequantize(b), powers.T.dequantize())
    np.testing.assert_array_equal(a @ b, ng.luq.gemm(integers, powers.T))
    np.testing.assert_array_equal(ng.matmul(w, g, "luq", rounding=rounding, seed=4), a @ b)
    for left, right in ((b.mT, b), (a, a.mT), (b.mT, a.mT), (ng.quantize(w), b.mT.mT), (a, ng.quantize(g, axis=-2))):
        with pytest.raises(ng.Error, match=r"INT4 on the left|differ in scheme"):
            left @ right
    for scheme, element in (("int4", "e3m0"), ("luq", "e2m1")):
        with pytest.raises(ng.Error, match=f"scheme '{scheme}' has elements '{element}'"):
            ng.QuantizedMatrix(scheme, element, a.codes, None, 1.0)
    with pytest.raises(ng.Error, match="none of a byte for int4"):
        ng.QuantizedMatrix("int4", "int4", a.codes, np.ones((9, 40), np.uint8), 1.0)


def test_sizes() -> None:
    x = normal(5, 40)
    q = ng.quantize(x)
    assert (q.shape, q.ndim, q.size, q.rows, q.k, q.k_padded) == ((5, 40), 2, 200, 5, 40, 48)
    assert q.nbytes == 5 * 48 // 2 + 5 * 3 + 4
    assert ng.quantize(x, "mxfp4").nbytes == 5 * 64 // 2 + 5 * 2
    assert ng.quantize(x, "fp8_e4m3").nbytes == 200 + 4
    assert ng.quantize(x, "mxfp8_e4m3").nbytes == 5 * 64 + 5 * 2
    assert ng.quantize(x, "fp8_e4m3", scaling="vector").nbytes == 200 + 4 * 5
    assert ng.quantize(x, "fp8_e4m3", scaling="128x128").nbytes == 200 + 4
    assert repr(ng.quantize(x, "fp8_e5m2", scaling="1x128")) == (
        "<QuantizedMatrix fp8 e5m2 scaled 1x128, shape (5, 40), along axis -1>"
    )


@pytest.mark.parametrize("format", ["nvfp4", "mxfp8_e5m2", "fp8_e4m3"])
@pytest.mark.parametrize("axis", range(-4, 4))
def test_any_axis(format: str, axis: int) -> None:
    """The vectors along any axis, in the order of the others, under one tensor scale."""
    x = normal(2, 3, 34, 5)
    moved = np.moveaxis(x, axis, -1)
    q = ng.quantize(x, format, axis=axis)
    flat = ng.quantize(moved.reshape(-1, x.shape[axis]), format)
    assert (q.shape, q.axis, q.k, q.rows) == (x.shape, axis % 4 - 4, x.shape[axis], x.size // x.shape[axis])
    assert q.codes.shape == (*moved.shape[:-1], q.k_padded)
    np.testing.assert_array_equal(q.codes.reshape(q.rows, -1), flat.codes)
    assert q.tensor_scale == flat.tensor_scale
    want = np.moveaxis(ng.dequantize(flat).reshape(moved.shape), -1, axis)
    np.testing.assert_array_equal(ng.dequantize(q), want)
    np.testing.assert_array_equal(ng.fake_quantize(x, format, axis=axis), want.astype(np.float32))
    assert pickle.loads(pickle.dumps(q)) == q


@pytest.mark.parametrize(
    ("format", "scaling"),
    [("nvfp4", "tensor"), ("mxfp8_e4m3_e5m2", "tensor"), ("fp8_e4m3", "vector"), ("fp8_e5m2", "1x128")],
)
@pytest.mark.parametrize(
    ("a_shape", "b_shape"),
    [
        ((3, 40), (40, 5)), ((40,), (40, 5)), ((3, 40), (40,)), ((40,), (40,)), ((2, 3, 40), (40, 5)), ((2, 3, 40), (2, 40, 5)),
        ((4, 1, 3, 40), (2, 40, 5)), ((3, 40), (2, 40, 5)), ((40,), (2, 40, 5)), ((2, 3, 40), (40,)),
    ],
)  # fmt: skip
def test_products_have_the_shapes_of_numpy(a_shape: Any, b_shape: Any, format: str, scaling: str) -> None:
    a, b = normal(*a_shape, seed=2), normal(*b_shape, seed=3)
    c = ng.matmul(a, b, format, scaling=scaling)
    want = a.astype(np.float64) @ b
    assert c.shape == want.shape
    assert c.dtype == np.float32
    if len(b_shape) > 1 and len(a_shape) > 1:
        qa, qb = ng.quantize(a, format, scaling=scaling), ng.quantize(b, format, axis=-2, scaling=scaling)
        np.testing.assert_array_equal(qa @ qb, c)
        np.testing.assert_array_equal(ng.gemm(qa, qb, threads=1), c)
        np.testing.assert_allclose(c, ng.dequantize(qa) @ ng.dequantize(qb), rtol=1e-4, atol=1e-4)
    error = np.linalg.norm(np.asarray(c - want)) / np.linalg.norm(np.asarray(want))
    assert error < 0.4


def test_batches_of_tiles() -> None:
    a, b = normal(2, 256, 200, seed=4), normal(2, 200, 128, seed=5)
    qa = ng.quantize(a, "fp8_e4m3", scaling="128x128")
    qb = ng.quantize(b, "fp8_e4m3", axis=-2, scaling="128x128")
    assert qa.scales.shape == (2, 2, 2)
    assert qb.scales.shape == (2, 1, 2)
    for i in range(2):
        one = (
            ng.quantize(a[i], "fp8_e4m3", scaling="128x128"),
            ng.quantize(b[i], "fp8_e4m3", axis=-2, scaling="128x128"),
        )
        np.testing.assert_array_equal((qa @ qb)[i], one[0] @ one[1])
    again = ng.QuantizedMatrix("fp8", "e4m3", qa.codes, qa.scales, scaling="128x128")
    assert again == qa


def test_activations_per_token_and_weights_in_tiles() -> None:
    """The usual pair: 1x128 of the left operand, 128x128 of the right one, term by term in numpy."""
    x, w = normal(5, 300, seed=6), normal(300, 140, seed=7)
    qx, qw = ng.quantize(x, "fp8_e4m3", scaling="1x128"), ng.quantize(w, "fp8_e4m3", axis=-2, scaling="128x128")
    want = np.zeros((5, 140), np.float32)
    left, right = ng.decode(qx.codes, "e4m3").astype(np.float64), ng.decode(qw.codes, "e4m3").astype(np.float64)
    for n in range(3):
        part = slice(128 * n, 128 * (n + 1))
        exact = (left[:, part] @ right[:, part].T).astype(np.float32)  # below 2^53 units: float64 is exact
        scales = qx.scales[:, n, None] * np.repeat(qw.scales[:, n], 128)[None, :140]
        want += exact * scales
    np.testing.assert_array_equal(qx @ qw, want)


def test_rounding_and_seed_of_a_product() -> None:
    a, b = normal(20, 64, seed=8), normal(64, 9, seed=9)
    options: dict[str, Any] = {"rounding": "stochastic", "random_bits": 12}
    c = ng.matmul(a, b, seed=5, **options)
    np.testing.assert_array_equal(c, ng.quantize(a, seed=5, **options) @ ng.quantize(b, axis=-2, seed=6, **options))
    assert not (c == ng.matmul(a, b, seed=6, **options)).all()
    np.testing.assert_array_equal(
        ng.matmul(a, b, seed=2**64 - 1, **options),
        ng.quantize(a, seed=2**64 - 1, **options) @ ng.quantize(b, axis=-2, seed=0, **options),
    )
    truncated = ng.matmul(a, b, rounding="toward_zero")
    np.testing.assert_array_equal(
        truncated, ng.quantize(a, rounding="toward_zero") @ ng.quantize(b, axis=-2, rounding="toward_zero")
    )
    kept = ng.fake_quantize(a, rounding="stochastic", seed=3)
    np.testing.assert_array_equal(kept, np.asarray(ng.quantize(a, rounding="stochastic", seed=3)))


def test_bfloat16_results() -> None:
    a, b = normal(9, 70, seed=10), normal(70, 8, seed=11)
    c, narrow = ng.matmul(a, b), ng.matmul(a, b, output="bfloat16")
    assert narrow.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(narrow, c.astype(ml_dtypes.bfloat16))
    np.testing.assert_array_equal(ng.gemm(ng.quantize(a), ng.quantize(b, axis=-2), output="bfloat16"), narrow)


BAD_SCALES = [np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1e-60, 1e60]


@pytest.mark.parametrize("bad", BAD_SCALES)
def test_scales_of_the_constructor_are_those_of_the_quantizer(bad: float) -> None:
    """What quantize() refuses as a scale, and what no float32 is, a matrix does not get from its parts either."""
    x = normal(130, 256)
    for format in ("nvfp4", "fp8_e4m3"):
        with pytest.raises(ng.Error, match="positive finite"):
            ng.quantize(x, format, tensor_scale=bad)
        q = ng.quantize(x, format)
        with pytest.raises(ng.Error, match=r"tensor_scale is .*; expected a positive finite float32 number"):
            ng.QuantizedMatrix(q.scheme, q.element, q.codes, q.scales, bad)
    for format, axis in (("luq", -1), ("luq", -2)):
        q = ng.quantize(x, format, axis=axis)
        with pytest.raises(ng.Error, match=r"tensor_scale is .*; expected a positive finite float32 number"):
            ng.QuantizedMatrix(q.scheme, q.element, q.codes, None, bad)
    if abs(bad) > 3.4e38 and np.isfinite(bad):
        return  # which no array of float32 holds
    for scaling in ("vector", "1x128", "128x128"):
        q = ng.quantize(x, "fp8_e5m2", scaling=scaling)
        scales = q.scales.copy()
        scales.reshape(-1)[-1] = bad
        with pytest.raises(ng.Error, match=r"scales hold .*; expected positive finite float32 numbers"):
            ng.QuantizedMatrix("fp8", "e5m2", q.codes, scales, scaling=scaling)


def test_scales_that_a_scheme_has_to_have_or_must_not() -> None:
    x = normal(4, 64)
    for format, axis in (("nvfp4", -1), ("luq", -1), ("luq", -2)):
        q = ng.quantize(x, format, axis=axis)
        with pytest.raises(ng.Error, match=f"tensor_scale of scheme '{q.scheme}' is missing"):
            ng.QuantizedMatrix(q.scheme, q.element, q.codes, q.scales)
    for format in ("mxfp4", "mxfp8_e4m3"):
        q = ng.quantize(x, format)
        assert ng.QuantizedMatrix(q.scheme, q.element, q.codes, q.scales) == q
        with pytest.raises(ng.Error, match="which has no scale of the tensor; expected None"):
            ng.QuantizedMatrix(q.scheme, q.element, q.codes, q.scales, 2.0)
    q = ng.quantize(x, "fp8_e4m3", scaling="vector")
    with pytest.raises(ng.Error, match="for scaling 'vector', which has no scale of the tensor"):
        ng.QuantizedMatrix("fp8", "e4m3", q.codes, q.scales, 2.0, scaling="vector")


def test_a_vanishing_scale_survives_a_pickle() -> None:
    """Transformer Engine's quotient of a subnormal maximum is 0, which only its quantizer makes."""
    q = ng.quantize(np.full((1, 16), 1e-45, np.float32), dialect="te")
    assert q.tensor_scale == 0
    assert pickle.loads(pickle.dumps(q)) == q


@pytest.mark.parametrize("format", list(ng.gemm_formats()))
def test_matmul_of_quantized_operands(format: str) -> None:
    """They stay as they are; what would have quantized them otherwise is refused."""
    x, y = normal(9, 40, seed=1), normal(40, 7, seed=2)
    a = ng.quantize(x, format, **({"tensor_scale": 0.5} if "fp8_e" in format and "mx" not in format else {}))
    b = ng.quantize(y, format, axis=-2)
    np.testing.assert_array_equal(ng.matmul(a, b), a @ b)
    np.testing.assert_array_equal(ng.matmul(a, y, format), a @ ng.quantize(y, format, axis=-2))
    np.testing.assert_array_equal(ng.matmul(x, b, format), ng.quantize(x, format) @ b)
    for name, value in {
        "format": format,
        "rule": "vendor",
        "rounding": "stochastic",
        "random_bits": 4,
        "seed": 1,
        "power_of_two_scale": True,
        "scaling": "vector",
        "dialect": "te",
    }.items():
        with pytest.raises(ng.Error, match=f"{name} is .* a and b are quantized already; drop it"):
            ng.matmul(a, b, **{name: value})
    for again in (ng.quantize, ng.fake_quantize):
        with pytest.raises(ng.Error, match="x is quantized already"):
            again(a)


def test_a_signal_ends_a_product() -> None:
    """Ctrl-C used to wait for the end of the product."""
    codes = np.full((8192, 4096), 2, np.uint8)
    q = ng.QuantizedMatrix("nvfp4", "e2m1", codes, np.full((8192, 256), 0x38, np.uint8), 1.0)

    class Stop(Exception):
        pass

    def stop(number: int, frame: object) -> None:
        raise Stop

    before = signal.signal(signal.SIGALRM, stop)
    started = time.monotonic()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Stop):
            ng.gemm(q, q.T, threads=1)  # 2.7e11 multiply-accumulates
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - started < 10
