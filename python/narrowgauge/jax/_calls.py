# SPDX-License-Identifier: Apache-2.0
"""How XLA comes to the model: by custom calls of a library in C++, or, where that was not built, by callbacks into Python.

Both take matrices, of which vmap makes batches."""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from .. import _core
from .._core import Error, Vectors

LIBRARY = Path(_core.__file__).parent / "_jax_calls.so"
TARGETS = {"quantize": "NgJaxQuantize", "gemm": "NgJaxGemm", "dequantize": "NgJaxDequantize"}
FE_DFL_ENV = ctypes.c_void_p(-1)  # of the C libraries of Linux on x86-64 and AArch64
_libm = ctypes.CDLL(None)
_lock = threading.Lock()
_registered: bool | None = None


@dataclass(frozen=True)
class Rule:
    """What quantizes a matrix: the attributes of the call. A text that is empty was not given, nor random_bits of 0."""

    format: str
    dialect: str
    rule: str
    rounding: str
    scaling: str
    random_bits: int
    threads: int
    columns: bool
    right: bool
    power_of_two_scale: bool
    given_scale: bool
    given_amax: bool


@dataclass(frozen=True)
class Kind:
    """What the parts of a quantized matrix stand for."""

    scheme: str
    element: str
    scaling: str
    k: int


def _register() -> bool:
    """Whether the library is there and XLA knows its handlers."""
    global _registered
    with _lock:
        if _registered is None:
            if LIBRARY.is_file():
                _register_from(LIBRARY)
            _registered = LIBRARY.is_file()
        return _registered


def _register_from(file: Path) -> None:
    try:
        library = ctypes.CDLL(str(file))
        for name, symbol in TARGETS.items():
            handler = jax.ffi.pycapsule(getattr(library, symbol))
            jax.ffi.register_ffi_target(f"narrowgauge_{name}", handler, platform="cpu")
    except Exception as error:  # of the loader, or XLA's for another version of its interface
        raise Error(
            f"the custom calls {file} do not fit JAX {jax.__version__}: {' '.join(str(error).split())}; expected those of the jaxlib "
            "that is installed; build the package again"
        ) from error


def route() -> str:
    """How XLA comes to the model: 'ffi', custom calls in C++, or 'callback', through Python, where the package was built without
    JAX. Results are the same."""
    return "ffi" if _register() else "callback"


@contextlib.contextmanager
def standard_floats() -> Iterator[None]:
    """The floating-point environment of the C standard: XLA's threads flush subnormal numbers to zero."""
    before = ctypes.create_string_buffer(64)  # fenv_t has 32 bytes, 8 on AArch64
    _libm.fegetenv(before)
    _libm.fesetenv(FE_DFL_ENV)
    try:
        yield
    finally:
        _libm.fesetenv(before)


def on_host(work: Callable[..., Any], results: Any, *arguments: Any, vmap_method: str | None = "sequential") -> Any:
    """Calls a function of numpy arrays; an exception of it ends the computation."""

    def call(*given: Any) -> Any:
        with standard_floats():
            return work(*(np.asarray(each) for each in given))

    return jax.pure_callback(call, results, *arguments, vmap_method=vmap_method)


def _shape(shape: Sequence[int], dtype: Any = jnp.float32) -> Any:
    return jax.ShapeDtypeStruct(tuple(shape), dtype)


def attributes(of: Any, prefix: str = "") -> dict[str, Any]:
    """Fields of a data class as XLA takes them."""
    return {prefix + key: np.int64(value) if type(value) is int else value for key, value in asdict(of).items()}


def quantize(x: Any, seed: Any, given: Any, how: Rule, shapes: Sequence[tuple[int, ...]]) -> Any:
    """Codes, block scales, FP32 scales and tensor scale of a matrix. seed: two words. given: tensor scale and maximum.
    shapes: of the first three."""
    results = [_shape(shapes[0], jnp.uint8), _shape(shapes[1], jnp.uint8), _shape(shapes[2]), _shape(())]
    if route() == "ffi":
        call = jax.ffi.ffi_call("narrowgauge_quantize", results, vmap_method="broadcast_all")
        return call(x, seed, given, **attributes(how))

    def work(x: NDArray[Any], seed: NDArray[Any], given: NDArray[Any]) -> Any:
        return _parts(_quantized(x, int(seed[0]) << 32 | int(seed[1]), given, how), shapes)

    return on_host(work, results, x, seed, given)


def _quantized(x: NDArray[Any], seed: int, given: NDArray[Any], how: Rule) -> Vectors:
    scale = float(given[0]) if how.given_scale else None
    if how.dialect:
        return _core.quantize_dialect(
            x,
            how.dialect,
            format=how.format or None,
            columns=how.columns,
            rounding=how.rounding or None,
            random_bits=how.random_bits or None,
            seed=seed,
            amax=float(given[1]) if how.given_amax else None,
            tensor_scale=scale,
            random=None,
            uniforms=None,
            threads=how.threads,
        )
    return _core.quantize(
        x,
        how.format,
        columns=how.columns,
        right=how.right,
        rule=how.rule,
        rounding=how.rounding,
        random_bits=how.random_bits,
        seed=seed,
        tensor_scale=scale,
        power_of_two_scale=how.power_of_two_scale,
        scaling=how.scaling,
        wide_blocks=False,
        threads=how.threads,
    )


def _parts(v: Vectors, shapes: Sequence[tuple[int, ...]]) -> Any:
    scales = np.zeros(0, np.uint8) if v.scales is None else v.scales
    fp32 = np.zeros(0, np.float32) if v.fp32_scales is None else v.fp32_scales
    return [
        v.codes.reshape(shapes[0]),
        scales.reshape(shapes[1]),
        fp32.reshape(shapes[2]),
        np.float32(v.tensor_scale),
    ]


def vectors(kind: Kind, codes: NDArray[Any], scales: NDArray[Any], fp32: NDArray[Any], tensor: Any) -> Vectors:
    """A matrix from its parts."""
    return Vectors(
        kind.scheme,
        kind.element,
        np.ascontiguousarray(codes),
        np.ascontiguousarray(scales) if scales.size else None,
        float(tensor),
        scaling=kind.scaling,
        fp32_scales=np.ascontiguousarray(fp32).reshape(-1) if fp32.size else None,
        k=kind.k,
    )


def gemm(left: Sequence[Any], right: Sequence[Any], a: Kind, b: Kind, threads: int) -> Any:
    """C = A x B of two matrices, or of equally many, given by their parts."""
    shape = _shape((*left[0].shape[:-1], right[0].shape[-2]))
    if route() == "ffi":
        named = {**attributes(a, "a_"), **attributes(b, "b_")}
        k = named.pop("a_k")
        del named["b_k"]
        call = jax.ffi.ffi_call("narrowgauge_gemm", shape, vmap_method="broadcast_all")
        return call(*left, *right, **named, k=k, threads=np.int64(threads))

    def work(*parts: NDArray[Any]) -> NDArray[np.float32]:
        batch = parts[0].shape[:-2]
        made = np.empty(shape.shape, np.float32)
        for at in np.ndindex(batch):
            one = [part[at] for part in parts]
            made[at] = _core.gemm(vectors(a, *one[:4]), vectors(b, *one[4:]), threads=threads)
        return made

    return on_host(work, shape, *left, *right)


def dequantize(parts: Sequence[Any], kind: Kind, threads: int) -> Any:
    """The values of a matrix, rounded to float32."""
    shape = _shape((*parts[0].shape[:-1], kind.k))
    if route() == "ffi":
        call = jax.ffi.ffi_call("narrowgauge_dequantize", shape, vmap_method="broadcast_all")
        return call(*parts, **attributes(kind), threads=np.int64(threads))

    def work(*given: NDArray[Any]) -> NDArray[np.float32]:
        return _core.dequantize_float32(vectors(kind, *given), threads=threads)

    return on_host(work, shape, *parts)
