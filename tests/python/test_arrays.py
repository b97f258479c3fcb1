# SPDX-License-Identifier: Apache-2.0
"""What is taken as an array: every real type of numpy and ml_dtypes, lists, `__array__`, DLPack."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import narrowgauge as ng

VALUES = np.float32([[0.5, -1.5, 3.0, 0.0], [1.0, 2.0, -4.0, 6.0]])  # exact in every type that is used
NARROW = [
    "bfloat16", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
    "float8_e5m2fnuz", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn",
]  # fmt: skip


@pytest.mark.parametrize("name", NARROW)
def test_types_of_ml_dtypes(name: str) -> None:
    x = VALUES.astype(getattr(ml_dtypes, name))
    assert (x.astype(np.float32) == VALUES).all()
    assert ng.quantize(x) == ng.quantize(VALUES)
    np.testing.assert_array_equal(ng.encode(x, "e4m3"), ng.encode(VALUES, "e4m3"))
    np.testing.assert_array_equal(ng.matmul(x, x.T), ng.matmul(VALUES, VALUES.T))
    assert ng.energy("nvfp4", operands=(x, x.T)).value == ng.energy("nvfp4", operands=(VALUES, VALUES.T)).value


def test_powers_of_two_and_small_integers_of_ml_dtypes() -> None:
    scales = np.float32([[0.5, 1, 2, 64]])
    assert ng.quantize(scales.astype(ml_dtypes.float8_e8m0fnu)) == ng.quantize(scales)
    small = np.int8([[-8, 7, 0, 3]])
    assert ng.quantize(small.astype(ml_dtypes.int4)) == ng.quantize(small)


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.int16, np.int32, np.int64, ">f4", ">i2"])
def test_types_of_numpy(dtype: Any) -> None:
    x = (VALUES * 2).astype(dtype)
    assert ng.quantize(x) == ng.quantize(VALUES * 2)
    assert ng.fake_quantize(x).dtype == np.float32


def test_booleans_are_0_and_1() -> None:
    want = ng.quantize((VALUES > 0).astype(np.float32))
    for x in (VALUES > 0, (VALUES > 0).tolist(), Tensor((VALUES > 0).view(np.uint8), 6, 8)):
        assert ng.quantize(x) == want


def test_wide_types_are_rounded_once_to_float32() -> None:
    """1 + 2^-24 is a tie of float32; what follows decides it, if there is one rounding only."""
    tie = 1 + 2.0**-24
    for value, want in [(tie, 1.0), (tie + 2.0**-50, 1 + 2.0**-23)]:
        q = ng.quantize(np.float64([[value]]), "mxfp4", rounding="toward_zero")
        assert q == ng.quantize(np.float32([[want]]), "mxfp4", rounding="toward_zero")
        assert ng.quantize(np.float64([[value]]), "fp8_e4m3").tensor_scale == np.float32(want) / np.float32(448)
    for value in (2**24 + 1, 2**60 + 2**36 + 1, 2**63 - 1, -(2**53) - 1):
        unit = 2 ** (abs(value).bit_length() - 24)
        exact = np.float32(round(Fraction(value, unit)) * unit)  # of 24 bits; round() takes halves to even
        got = ng.quantize(np.int64([[value]]), "fp8_e4m3").tensor_scale
        assert got == abs(exact) / np.float32(448)


class Foreign:
    """Something with `__array__` only, as a data frame."""

    def __init__(self, x: np.ndarray) -> None:
        self.x = x

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.x if dtype is None else self.x.astype(dtype)


class OnlyDLPack:
    """numpy's own tensor, without anything else of numpy."""

    def __init__(self, x: np.ndarray) -> None:
        self.x = x

    def __dlpack__(self) -> Any:
        return self.x.__dlpack__()

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.x.__dlpack_device__()


class DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64),
    )  # fmt: skip


class DLManagedTensor(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManagedTensor))
DLManagedTensor._fields_ = (("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", DELETER))


class Tensor:
    """A tensor as torch hands one out: bytes of a type by its DLPack code, with strides, and deleted by its owner."""

    def __init__(self, raw: np.ndarray, code: int, bits: int, lanes: int = 1, device: int = 1) -> None:
        self.raw, self.device, self.deleted = raw, device, 0
        ndim = raw.ndim
        self.shape = (ctypes.c_int64 * ndim)(*raw.shape)
        self.strides = (ctypes.c_int64 * ndim)(*(s // raw.itemsize for s in raw.strides))
        tensor = DLTensor(raw.ctypes.data, device, 0, ndim, code, bits, lanes, self.shape, self.strides, 0)
        self.deleter = DELETER(self.delete)
        self.managed = DLManagedTensor(tensor, None, self.deleter)

    def delete(self, managed: Any) -> None:
        self.deleted += 1

    def __dlpack__(self, **_: object) -> Any:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        return new(ctypes.addressof(self.managed), b"dltensor", None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0


SOURCES: dict[str, Callable[[np.ndarray], Any]] = {
    "list": lambda x: x.tolist(),
    "tuples": lambda x: tuple(map(tuple, x.tolist())),
    "__array__": Foreign,
    "DLPack": OnlyDLPack,
    "DLPack, strided": lambda x: OnlyDLPack(np.asfortranarray(x)),
    "DLPack, float64": lambda x: OnlyDLPack(x.astype(np.float64)),
    "DLPack, int32": lambda x: OnlyDLPack((x * 2).astype(np.int32)),
    "DLPack, bfloat16": lambda x: Tensor(x.astype(ml_dtypes.bfloat16).view(np.uint16), 4, 16),
    "DLPack, bfloat16, strided": lambda x: Tensor(
        np.asfortranarray(x.astype(ml_dtypes.bfloat16)).view(np.uint16), 4, 16
    ),
    "DLPack, float8_e4m3fn": lambda x: Tensor(x.astype(ml_dtypes.float8_e4m3fn).view(np.uint8), 10, 8),
    "DLPack, float8_e5m2": lambda x: Tensor(x.astype(ml_dtypes.float8_e5m2).view(np.uint8), 12, 8),
    "DLPack, float4_e2m1fn_x2": lambda x: Tensor(ng.pack(ng.encode(x, "e2m1")), 17, 4, 2),
}


@pytest.mark.parametrize("source", SOURCES)
def test_sources(source: str) -> None:
    x, want = SOURCES[source](VALUES), ng.quantize(VALUES)
    if "int32" in source:
        want = ng.quantize(VALUES * 2)
    assert ng.quantize(x) == want
    np.testing.assert_array_equal(np.asarray(want), ng.fake_quantize(x))


def test_a_tensor_is_kept_while_it_is_used_and_deleted_once() -> None:
    tensor = Tensor(VALUES.astype(ml_dtypes.bfloat16).view(np.uint16), 4, 16)
    ng.quantize(tensor)
    assert tensor.deleted == 1


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (Tensor(np.zeros((2, 2), np.uint16), 4, 16, device=2), ["x", "device 2", "CPU"]),
        (Tensor(np.zeros((2, 2), np.uint8), 3, 8), ["code 3", "float32"]),  # opaque
        (Tensor(np.zeros((2, 2), np.uint8), 17, 4), ["code 17", "1 lanes"]),
        (OnlyDLPack(np.zeros((2, 2), np.complex64)), ["code 5", "64 bits"]),
        (Foreign(np.array([["a"]])), ["x", "float32"]),
        (Foreign("text"), ["x", "Foreign"]),  # type: ignore[arg-type]
        (object(), ["x", "object", "float32"]),
        ({"a": 1}, ["x", "object", "float32"]),
        (np.array([["2020-01-01"]], "datetime64[D]"), ["datetime64", "float32"]),
        (np.zeros((1, 1), np.longdouble), ["float128", "float64"]),
        (np.zeros((1, 1), "V2"), ["V2", "view(ml_dtypes.bfloat16)"]),
    ],
)
def test_what_is_no_array_of_reals(x: Any, words: list[str]) -> None:
    with pytest.raises(ng.Error) as caught:
        ng.quantize(x)
    for word in words:
        assert word in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("field", "value", "word"),
    [("data", None, "no data"), ("ndim", -1, "-1 dimensions"), ("ndim", 1000, "1000 dimensions"), ("shape", None, "no shape"),
     ("shape", (ctypes.c_int64 * 2)(-2, 4), "extent -2"), ("shape", (ctypes.c_int64 * 2)(2**62, 4), "too big")],
)  # fmt: skip
def test_broken_tensors_of_dlpack(field: str, value: Any, word: str) -> None:
    tensor = Tensor(VALUES, 2, 32)
    setattr(tensor.managed.tensor, field, value)
    with pytest.raises(ng.Error, match=word):
        ng.quantize(tensor)


def test_an_empty_tensor_of_dlpack_needs_no_data() -> None:
    tensor = Tensor(VALUES[:0], 2, 32)
    tensor.managed.tensor.data = None
    assert ng.encode(tensor, "e4m3").shape == (0, 4)


def test_codes_as_ml_dtypes_and_packed() -> None:
    codes = np.arange(16, dtype=np.uint8).reshape(2, 8)
    seen = ng.to_ml_dtypes(codes, "e2m1")
    assert seen.dtype == ml_dtypes.float4_e2m1fn
    assert np.shares_memory(seen, codes)
    np.testing.assert_array_equal(seen.astype(np.float32), ng.decode(codes, "e2m1"))
    np.testing.assert_array_equal(ng.decode(seen, "e2m1"), ng.decode(codes, "e2m1"))
    packed = ng.pack(codes)
    assert packed.shape == (2, 4)
    assert packed[0, 0] == 0x10, "element 0 is the low nibble"
    assert packed[1, 3] == 0xFE
    np.testing.assert_array_equal(ng.unpack(packed), codes)
    np.testing.assert_array_equal(ng.pack(seen), packed)
    np.testing.assert_array_equal(ng.pack(codes.tolist()), packed)
    for format in ("e2m1", "e2m3", "e3m2", "e4m3", "e4m3_ieee", "e5m2", "ue4m3", "e8m0", "bf16", "fp16", "fp32"):
        desc = ng.formats()[format]
        width = 1 if desc.bits <= 8 else desc.bits // 8
        every = np.arange(min(1 << (7 if format == "ue4m3" else desc.bits), 1 << 16)).astype(f"u{width}")
        values = ng.to_ml_dtypes(every, format).astype(np.float32)
        np.testing.assert_array_equal(values, ng.decode(every, format))


@pytest.mark.parametrize("format", ["nvfp4", "mxfp4", "fp8_e4m3", "mxfp8_e5m2"])
def test_a_matrix_from_packed_codes_and_ml_dtypes(format: str) -> None:
    q = ng.quantize(np.random.default_rng(3).standard_normal((3, 50)), format)
    codes = ng.unpack(ng.pack(q.codes)) if q.element == "e2m1" else q.codes
    assert ng.QuantizedMatrix(q.scheme, q.element, codes, q.scales, q.tensor_scale, k=q.k) == q
    seen = ng.to_ml_dtypes(q.codes, q.element)
    scales = None if q.scales is None else ng.to_ml_dtypes(q.scales, "ue4m3" if format == "nvfp4" else "e8m0")
    assert ng.QuantizedMatrix(q.scheme, q.element, seen, scales, q.tensor_scale, k=q.k) == q
