# SPDX-License-Identifier: Apache-2.0
"""Arrays of any origin as numpy's: lists, numpy and ml_dtypes, DLPack (torch, JAX), and what has `__array__`."""

from __future__ import annotations

import importlib
from typing import Any, Protocol, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import shown
from ._core import Error


class HasArray(Protocol):
    def __array__(self) -> NDArray[Any]: ...


class HasDLPack(Protocol):
    def __dlpack__(self) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...


# What stands for an array of real numbers: nested lists, too.
ArrayLike = NDArray[Any] | HasArray | HasDLPack | list[Any] | tuple[Any, ...] | SupportsFloat

CPU = 1  # DLPack's kDLCPU
MOST_ELEMENTS = 2**40


def _is_ml_dtype(dtype: np.dtype[Any]) -> bool:
    """A number type of ml_dtypes: numpy itself knows them as void or as other kinds."""
    return dtype.type.__module__.partition(".")[0] == "ml_dtypes" and "complex" not in dtype.name


def _from_dlpack(x: Any, name: str) -> NDArray[Any]:
    device = x.__dlpack_device__()[0]
    if int(device) != CPU:
        raise Error(
            f"{name} is on device {int(device)} of DLPack's list; expected memory of the CPU; copy it there first"
        )
    array, format = _core.from_dlpack(x.__dlpack__())
    if format == "packed e2m1":
        return _core.decode(unpack_nibbles(array), "e2m1")
    return array if format is None else _core.decode(array, format)


def unpack_nibbles(packed: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(*packed.shape[:-1], 2 * packed.shape[-1])


def any_array(x: object, name: str) -> NDArray[Any]:
    """As numpy's array, of whatever type."""
    array = _numpy_array(x, name)
    if array.size > MOST_ELEMENTS:  # a broadcast one, which has little memory of its own
        raise Error(f"{name} has shape {array.shape}, {array.size} elements; expected at most 2^40")
    return array


def _numpy_array(x: object, name: str) -> NDArray[Any]:
    if isinstance(x, np.ndarray):
        return np.asarray(x)
    reason: Exception
    try:
        if hasattr(x, "__dlpack__") and hasattr(x, "__dlpack_device__"):
            try:
                return _from_dlpack(x, name)
            except Error:
                raise
            except Exception:  # read-only, or of a type that DLPack has no name for
                if not hasattr(x, "__array__"):
                    raise
        return np.asarray(x)
    except Error:
        raise
    except Exception as error:  # whatever the foreign object raises
        reason = error
    raise Error(
        f"{name} of type {type(x).__name__} cannot be read as an array: {' '.join(str(reason).split())}"
    ) from reason


def real_array(x: object, name: str) -> NDArray[Any]:
    """As numpy's array of float16, float32, float64 or integers; types of ml_dtypes become float32, which is exact, and
    booleans 0 and 1."""
    array = any_array(x, name)
    if array.dtype.kind == "b":
        return array.astype(np.uint8)
    if array.dtype.kind in "iu" or (array.dtype.kind == "f" and array.itemsize in (2, 4, 8)):
        return array
    if _is_ml_dtype(array.dtype):
        return array.astype(np.float32)
    if array.dtype.kind == "V" and array.itemsize <= 2:
        raise Error(
            f"{name} has dtype {array.dtype}, bytes without a meaning; expected numbers; .npy files do not keep the types of "
            "ml_dtypes, so say which one it was, as in x.view(ml_dtypes.bfloat16)"
        )
    raise Error(
        f"{name} has dtype {array.dtype}; expected real numbers, that is float16, float32, float64, integers or a type of "
        "ml_dtypes; convert it with astype(numpy.float32)"
    )


def float32_array(x: object, name: str) -> NDArray[np.float32]:
    """As float32, rounded to nearest even where that does not hold a value; finite values beyond it are refused."""
    array = real_array(x, name)
    if array.dtype == np.float32:
        return array
    with np.errstate(over="ignore"):
        narrow = array.astype(np.float32)
    if array.dtype == np.float64:
        beyond = np.isinf(narrow) & np.isfinite(array)
        if beyond.any():
            at = tuple(int(i) for i in np.argwhere(beyond)[0])
            raise Error(
                f"{name} holds {array[at]} at {list(at)}, beyond float32's largest, 3.4028235e+38: scale it down"
            )
    return narrow


def code_array(codes: object, name: str, format: str) -> NDArray[np.unsignedinteger]:
    """Codes as unsigned integers; arrays of the ml_dtypes type of `format` are seen as their codes."""
    array = any_array(codes, name)
    if _is_ml_dtype(array.dtype) and array.dtype.name in ml_names(format):
        return array.view(np.uint8 if array.itemsize == 1 else np.uint16)
    if array.dtype.kind == "u" and array.itemsize <= 4:
        return array
    if array.dtype.kind in "iu" and not isinstance(codes, np.ndarray):  # a list of ints
        if array.size and (array.min() < 0 or array.max() >= 2**32):
            raise Error(f"{name} hold {array.min()} to {array.max()}; expected codes of {format}")
        return array.astype(np.uint32)
    raise Error(
        f"{name} have dtype {array.dtype}; expected uint8, uint16 or uint32, codes of {format}, or its ml_dtypes type"
    )


def ml_names(format: str) -> tuple[str, ...]:
    """Names of the ml_dtypes types whose bits are codes of `format`."""
    formats = _core.formats()
    if format not in formats:
        return ()
    name = "float8_e4m3fn" if format == "ue4m3" else formats[format].ml_dtype
    return (name,) if name else ()


def ml_dtypes_module(why: str) -> Any:
    try:
        return importlib.import_module("ml_dtypes")
    except ImportError as error:
        raise Error(f"{why} needs the package ml_dtypes: install narrowgauge[ml_dtypes]") from error


__all__ = [
    "ArrayLike",
    "any_array",
    "code_array",
    "float32_array",
    "ml_dtypes_module",
    "ml_names",
    "real_array",
    "shown",
    "unpack_nibbles",
]
