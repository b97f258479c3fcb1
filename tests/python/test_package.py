# SPDX-License-Identifier: Apache-2.0
"""The Python package itself: types, shapes, names, errors. What it computes is tested in verif/oracle."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import narrowgauge as ng


def test_every_public_name_is_documented() -> None:
    for name in ng.__all__:
        assert getattr(ng, name).__doc__ or name == "__version__", name


def test_jax_is_imported_by_its_module_only() -> None:
    code = "import sys, narrowgauge, narrowgauge.train; assert 'jax' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    code = "import sys; sys.modules['jax'] = None; import narrowgauge.jax"
    absent = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert "needs the package jax, which is missing; install narrowgauge[jax]" in absent.stderr


def test_every_public_function_has_a_signature() -> None:
    functions = [name for name in ng.__all__ if inspect.isfunction(getattr(ng, name))]
    assert len(functions) > 20
    made = ["Engine", "Gauge", "QuantizedMatrix"]  # by users
    for name in [*functions, *made]:
        parameters = inspect.signature(getattr(ng, name)).parameters
        assert all(p.annotation is not p.empty for p in parameters.values()), name
    for module in (ng.luq, ng.checkpoint, ng.gguf, ng.noise, ng.retrieval, ng.zap):
        for name in module.__all__:
            parameters = inspect.signature(getattr(module, name)).parameters
            assert all(p.annotation is not p.empty for p in parameters.values() if p.name != "self"), name
    others = {name for name in ng.__all__ if not inspect.isclass(getattr(ng, name))} - {
        *functions,
        "checkpoint",
        "gguf",
        "luq",
        "noise",
        "retrieval",
        "zap",
        "__version__",
    }
    assert not others, "compiled functions are not public: they have no signature"


def test_the_guide_s_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    guide = Path(__file__).resolve().parents[2] / "docs" / "python.md"
    example = guide.read_text().split("```python\n")[1].split("```")[0]
    names: dict[str, object] = {}
    exec(example, names)
    assert (names["r"].c == names["c"]).all()  # type: ignore[attr-defined]
    assert "mult tree" in capsys.readouterr().out or names["e"].value > 0  # type: ignore[attr-defined]


def test_formats() -> None:
    e4m3 = ng.formats()["e4m3"]
    assert (e4m3.name, e4m3.bits, e4m3.sign, e4m3.exp_bits, e4m3.man_bits, e4m3.bias) == ("e4m3", 8, True, 4, 3, 7)
    assert (e4m3.max, e4m3.has_inf, e4m3.has_nan, e4m3.has_zero) == (448, False, True, True)
    assert (e4m3.overflow, e4m3.ml_dtype) == ("saturate", "float8_e4m3fn")
    assert repr(e4m3) == "<format e4m3>"
    assert "nvfp4" in ng.gemm_formats()


def test_encode_keeps_shape_and_takes_the_smallest_code_type() -> None:
    x = np.linspace(-3, 3, 24, dtype=np.float32).reshape(2, 3, 4)
    for name, dtype in (("e2m1", np.uint8), ("bf16", np.uint16), ("fp32", np.uint32)):
        codes = ng.encode(x, name)
        assert codes.shape == x.shape
        assert codes.dtype == dtype
        assert ng.decode(codes, name).shape == x.shape
    np.testing.assert_array_equal(ng.decode(ng.encode(x, "fp32"), "fp32"), x)
    assert ng.encode(np.array(1.0), "e4m3").shape == ()
    assert ng.encode(np.zeros((0, 4), np.float32), "e4m3").shape == (0, 4)


def test_encode_takes_any_layout_and_real_type() -> None:
    x = np.linspace(-3, 3, 24).reshape(4, 6)
    want = ng.encode(x, "e4m3")
    np.testing.assert_array_equal(ng.encode(np.asfortranarray(x), "e4m3"), want)
    np.testing.assert_array_equal(ng.encode(x[::-1, ::2], "e4m3"), want[::-1, ::2])
    np.testing.assert_array_equal(ng.encode(np.arange(5), "e2m1"), [0, 2, 4, 5, 6])
    np.testing.assert_array_equal(ng.encode(np.float16([0.5]), "e2m1"), [1])


def test_encode_rounds_float64_once() -> None:
    """1 + 2^-4 is a tie of E4M3; 2^-40 more is lost in float32 but decides here."""
    assert ng.encode(np.float64([1.0625 + 2.0**-40]), "e4m3")[0] == 0x39
    assert ng.encode(np.float32([1.0625 + 2.0**-40]), "e4m3")[0] == 0x38


X = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ng.encode(X, "e9m9"), ["e9m9", "e4m3"]),
        (lambda: ng.encode(X, "e4m3", rounding="up"), ["'up'", "toward_zero"]),
        (lambda: ng.encode(X, "e4m3", overflow="wrap"), ["'wrap'", "saturate"]),
        (lambda: ng.encode(X * 1j, "e4m3"), ["complex64", "float32"]),
        (lambda: ng.encode(X, "e4m3", rounding="stochastic"), ["needs random"]),
        (lambda: ng.encode(X, "e4m3", random=np.zeros((2, 3), np.uint8)), ["'nearest_even'", "stochastic"]),
        (lambda: ng.encode(X, "e4m3", rounding="stochastic", random=np.zeros(3, np.uint8)), ["(3,)", "(2, 3)"]),
        (lambda: ng.encode(X, "e4m3", rounding="stochastic", random=np.full((2, 3), 256)), ["256", "2^8"]),
        (lambda: ng.encode(X, "e4m3", rounding="stochastic", random=np.full((2, 3), -1)), ["-1"]),
        (lambda: ng.encode(X, "e4m3", rounding="stochastic", random=X), ["float32", "integer"]),
        (lambda: ng.encode(X, "e4m3", random_bits=33), ["33", "1 to 32"]),
        (lambda: ng.decode(X, "e4m3"), ["float32", "uint8"]),
        (lambda: ng.decode(np.uint8([3, 31]), "e2m1"), ["31", "e2m1", "0 to 15"]),
        (lambda: ng.decode(np.uint32([1 << 19]), "tf32"), ["524288", "tf32"]),
        (lambda: ng.decode([-1], "e4m3"), ["-1", "e4m3"]),
        (lambda: ng.decode(np.uint8([3]), 5), ["format", "5", "text"]),
        (lambda: ng.decode(np.uint8([3]), "e9"), ["'e9'", "e4m3"]),
        (lambda: ng.pack(np.uint8([1, 2, 3])), ["(3,)", "even"]),
        (lambda: ng.pack(np.uint8([1, 16])), ["16", "0 to 15"]),
        (lambda: ng.unpack([1, 2]), ["uint8"]),
        (lambda: ng.to_ml_dtypes(np.uint8([1]), "e3m0"), ["e3m0", "ml_dtypes"]),
        (lambda: ng.to_ml_dtypes(np.uint8([16]), "e2m1"), ["16", "e2m1"]),
        (lambda: ng.to_ml_dtypes(np.uint8([16]), "e99"), ["'e99'", "e2m1"]),
        (lambda: ng.quantize(X, "nvfp3"), ["nvfp3", "mxfp4"]),
        (lambda: ng.quantize(X * 1j), ["complex64", "float32"]),
        (lambda: ng.quantize([["a"]]), ["x", "float32"]),
        (lambda: ng.quantize([[1, 2], [3]]), ["x", "list"]),
        (lambda: ng.quantize(None), ["x", "object"]),
        (lambda: ng.quantize(np.float32(1)), ["no dimension"]),
        (lambda: ng.quantize(X, 4), ["format", "4", "text"]),
        (lambda: ng.quantize(X, seed=-1), ["seed", "-1", "18446744073709551615"]),
        (lambda: ng.quantize(X, seed=2**64), ["seed", "18446744073709551616"]),
        (lambda: ng.quantize(X, seed=1.5), ["seed", "1.5", "integer"]),
        (lambda: ng.quantize(X, seed=True), ["seed", "True", "integer"]),
        (lambda: ng.quantize(X, threads=-1), ["threads", "-1"]),
        (lambda: ng.quantize(X, threads=99999999), ["threads", "99999999", "1024"]),
        (lambda: ng.quantize(X, axis=2), ["axis", "2", "-2 to 1"]),
        (lambda: ng.quantize(X, axis=1.0), ["axis", "1.0", "integer"]),
        (lambda: ng.quantize(X[0], axis="columns"), ["axis", "-2"]),
        (lambda: ng.quantize(X, power_of_two_scale=3), ["power_of_two_scale", "3", "True"]),
        (lambda: ng.quantize(X, tensor_scale="1"), ["tensor_scale", "'1'", "number"]),
        (lambda: ng.quantize(X, rule=None), ["rule", "None", "text"]),
        (lambda: ng.quantize(X, scaling="row"), ["scaling", "'row'", "1x128"]),
        (lambda: ng.quantize(X, scaling="vector"), ["nvfp4", "fp8"]),
        (lambda: ng.quantize(X, "fp8_e4m3", scaling="vector", tensor_scale=1.0), ["tensor scale", "drop"]),
        (lambda: ng.quantize(np.ones((2, 100, 8)), "fp8_e4m3", scaling="128x128"), ["128x128", "(2, 100, 8)"]),
        (lambda: ng.quantize(np.ones((2, 3, 8)), "fp8_e4m3", axis=0, scaling="128x128"), ["128x128", "axis -3"]),
        (lambda: ng.quantize(np.float64([[1, 1e39]])), ["1e+39", "[0, 1]", "float32"]),
        (lambda: ng.quantize(np.float32([[[1], [np.nan]]])), ["[0, 1, 0]", "nan"]),
        (lambda: ng.quantize(X, "mxfp8_e4m3", tensor_scale=1.0), ["mxfp8", "drop"]),
        (lambda: ng.quantize(X, axis="row"), ["'row'", "columns"]),
        (lambda: ng.quantize(X, rule="fast"), ["'fast'", "vendor"]),
        (lambda: ng.quantize(X, "mxfp4", rule="vendor"), ["vendor", "mxfp4"]),
        (lambda: ng.quantize(X[:0]), ["(0, 3)", "at least 1"]),
        (lambda: ng.quantize(np.float32([[1, 2], [3, np.nan]])), ["row 1", "column 1", "NaN"]),
        (lambda: ng.quantize(np.float32([[1, -np.inf], [3, 4]])), ["row 0", "column 1", "-infinity"]),
        (lambda: ng.quantize(X, tensor_scale=-1.0), ["-1"]),
        (lambda: ng.quantize(X, rounding="stochastic", random_bits=25), ["25", "24"]),
        (lambda: ng.matmul(X, X), ["3", "2"]),
        (lambda: ng.matmul(X, X.T, seed=-1), ["seed", "-1"]),
        (lambda: ng.matmul(X, X.T, rounding="up"), ["'up'"]),
        (lambda: ng.matmul(X, X.T, output="float16"), ["output", "'float16'", "bfloat16"]),
        (lambda: ng.matmul(np.ones((2, 3, 4)), np.ones((3, 4, 2))), ["(2, 3, 4)", "(3, 4, 2)", "batches"]),
        (lambda: ng.gemm(ng.quantize(X), ng.quantize(X, "mxfp4").T), ["scheme"]),
        (lambda: ng.gemm(ng.quantize(X), ng.quantize(X.T)), ["right operand", "axis -2", "mT"]),
        (lambda: ng.gemm(ng.quantize(X, axis=0), ng.quantize(X, axis=0)), ["left operand", "axis -1"]),
        (lambda: ng.gemm(X, ng.quantize(X)), ["a", "ndarray", "quantize"]),
        (lambda: X @ ng.quantize(X, axis=0), ["a", "ndarray", "quantize"]),
        (lambda: ng.quantize(X) @ X, ["b", "ndarray", "quantize"]),
        (lambda: ng.dequantize(X), ["q", "ndarray", "quantize"]),
        (lambda: ng.quantize(np.ones((2, 3, 4))).T, ["(2, 3, 4)", "mT"]),
        (lambda: ng.quantize(np.ones((2, 3, 4)), axis=0).mT, ["(2, 3, 4)", "transpose"]),
        (lambda: ng.Engine(3), ["name", "3", "text"]),
        (lambda: ng.Engine(threads=-1), ["threads", "-1"]),
        (lambda: ng.Engine().gemm(X, X), ["a", "ndarray"]),
        (lambda: ng.Engine().gemm(ng.quantize(X), ng.quantize(X).T, progress=3), ["progress", "3"]),
        (lambda: ng.Engine().gemm(ng.quantize(np.ones((2, 2, 3))), ng.quantize(X).T), ["(2, 2, 3)", "two dimensions"]),
        (lambda: ng.energy("nvfp4", operands=3), ["operands", "3", "(A, B)"]),
        (lambda: ng.energy("nvfp4", operands=(X, "b")), ["B of operands"]),
        (lambda: ng.energy("nvfp4", operands=(X, X.T), max_products=0), ["max_products", "0"]),
        (lambda: ng.energy("nvfp4", gauge=3), ["gauge", "3"]),
        (lambda: ng.energy_many(3), ["questions", "3"]),
        (lambda: ng.energy_lines(3), ["questions", "3"]),
        (lambda: ng.flips("nvfp4", (X, X.T), threads="2"), ["threads", "'2'"]),
        (lambda: ng.technologies(gauge="osu018"), ["gauge", "osu018"]),
        (lambda: ng.Gauge(3), ["calibrations", "3"]),
        (lambda: ng.Gauge([3]), ["calibration", "3", "path"]),
        (lambda: ng.export_tables("zigzag", 3), ["folder", "3", "path"]),
        (lambda: ng.explore(3, {}), ["workload", "3", "path"]),
        (lambda: ng.explore("resnet18", 3), ["space", "3", "path"]),
        (lambda: ng.explore("resnet18", {}, chunk=0), ["chunk", "0"]),
        (lambda: ng.explore("resnet18", {}, tensors=X), ["tensors", "(A, B)"]),
        (lambda: ng.explore("resnet18", {}, set={"batch": "2"}), ["batch", "'2'"]),
        (lambda: ng.QuantizedMatrix("nvfp5", "e2m1", np.zeros((1, 16), np.uint8)), ["nvfp5", "nvfp4"]),
        (lambda: ng.QuantizedMatrix("nvfp4", "e4m3", np.zeros((1, 16), np.uint8), None, 1.0), ["e4m3", "e2m1"]),
        (lambda: ng.QuantizedMatrix("fp8", "e2m1", np.zeros((1, 16), np.uint8)), ["e2m1", "e5m2"]),
        (lambda: ng.QuantizedMatrix("nvfp4", "e2m1", np.zeros((1, 16), np.uint8), None, 1.0), ["missing", "(1, 1)"]),
        (
            lambda: ng.QuantizedMatrix("fp8", "e4m3", np.zeros((2, 16), np.uint8), scaling="vector"),
            ["missing", "(2,)", "vector"],
        ),
        (
            lambda: ng.QuantizedMatrix("fp8", "e4m3", np.zeros((2, 16), np.uint8), np.ones((2, 2)), scaling="1x128"),
            ["(2, 2)", "(2, 1)", "1x128"],
        ),
        (
            lambda: ng.QuantizedMatrix("nvfp4", "e2m1", np.zeros((1, 17), np.uint8), np.zeros((1, 1), np.uint8), 1.0),
            ["(1, 1)", "(1, 2)"],
        ),
        (
            lambda: ng.QuantizedMatrix(
                "nvfp4", "e2m1", np.full((1, 16), 16, np.uint8), np.zeros((1, 1), np.uint8), 1.0
            ),
            ["16", "0 to 15"],
        ),
        (
            lambda: ng.QuantizedMatrix("fp8", "e4m3", np.zeros((1, 16), np.uint8), np.zeros((1, 1), np.uint8)),
            ["(1, 1)", "none"],
        ),
        (lambda: ng.QuantizedMatrix("fp8", "e4m3", np.uint8(1)), ["()", "one dimension"]),
        (lambda: ng.QuantizedMatrix("fp8", "e4m3", np.zeros((1, 16), np.uint8), k=17), ["17", "16"]),
        (lambda: ng.QuantizedMatrix("fp8", "e4m3", np.zeros((1, 16), np.float32)), ["float32", "uint8"]),
        (lambda: ng.QuantizedMatrix(8, "e4m3", np.zeros((1, 16), np.uint8)), ["scheme", "8"]),
    ],
)
def test_errors_are_sentences_that_name_the_value(call: object, words: list[str]) -> None:
    with pytest.raises(ng.Error) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    for word in words:
        assert word in str(caught.value), str(caught.value)
    assert len(str(caught.value).split()) > 4


def test_quantized_matrix_has_its_parts() -> None:
    x = np.random.default_rng(1).standard_normal((5, 20)).astype(np.float32)
    q = ng.quantize(x)
    assert (q.scheme, q.element, q.rows, q.k, q.k_padded, q.block) == ("nvfp4", "e2m1", 5, 20, 32, 16)
    assert q.codes.shape == (5, 32)
    assert not q.codes[:, 20:].any()
    assert q.scales.shape == (5, 2)
    assert repr(q) == "<QuantizedMatrix nvfp4 e2m1, shape (5, 20), along axis -1>"
    again = ng.QuantizedMatrix(q.scheme, q.element, q.codes, q.scales, q.tensor_scale, k=q.k)
    np.testing.assert_array_equal(ng.dequantize(again), ng.dequantize(q))
    b = ng.quantize(x, axis="columns")
    assert (b.rows, b.k) == (20, 5)
    assert ng.quantize(x, "fp8_e4m3").scales is None
    assert ng.quantize(x, "fp8_e4m3_e5m2").element == "e4m3"
    assert ng.quantize(x, "fp8_e4m3_e5m2", axis="columns").element == "e5m2"


@pytest.mark.parametrize("format", ng.gemm_formats())
def test_matmul_is_close_to_float64(format: str) -> None:
    rng = np.random.default_rng(2)
    a, b = rng.standard_normal((9, 100)), rng.standard_normal((100, 7))
    c = ng.matmul(a, b, format)
    assert c.shape == (9, 7)
    assert c.dtype == np.float32
    error = np.linalg.norm(c - a @ b) / np.linalg.norm(a @ b)
    assert 0 < error < (0.3 if format == "luq" else 0.2)
