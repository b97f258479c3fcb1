# SPDX-License-Identifier: Apache-2.0
"""Quantized matrices, their products, and back."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from . import _core
from ._arguments import flag, float32, instance, integer, number, one_of, shown, text
from ._arguments import seed as check_seed
from ._arguments import threads as check_threads
from ._arrays import ArrayLike, any_array, code_array, float32_array, ml_dtypes_module
from ._core import Error, Vectors

SCALINGS = ("tensor", "vector", "1x128", "128x128")
OUTPUTS = ("float32", "bfloat16")
BLOCK = 128
# What a thread does, about: where others are not worth starting.
NS_PER_ELEMENT, MACS_PER_NS = 8, 16
THIN_ROWS = 64  # of a left operand: with as few, unpacking the right one takes much of a product's time


def gemm_formats() -> dict[str, str]:
    """Names of the formats of a matrix product, each with its use."""
    return _core.gemm_formats()


def _lead(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """The dimensions that count vectors along `axis`."""
    return shape[:axis] + (shape[axis + 1 :] if axis != -1 else ())


class QuantizedMatrix:
    """A matrix, or a batch of them, in a narrow format, as operand of a product; it does not change.

    `rows` vectors of `k` elements run along `axis`, the contraction: -1 for the left operand of a product, -2 for the right
    one. codes and scales are stored vector by vector, thus transposed for axis -2. Element i of vector r is
    decode(codes[r, i], element) * decode(scales[r, i // block], scale format) * tensor_scale, with ue4m3 scales per 16
    for nvfp4, e8m0 scales per 32 for mxfp4, mxfp6, mxfp8 and mxint8. fp8 has FP32 scales only: tensor_scale, or, in its place, float32
    `scales` as `scaling` says. luq and int4 have tensor_scale; an int4 code is two's complement.

    a @ b is gemm(a, b). Two are equal if shape, axis, format and all bits are; equal ones have equal hashes. Copies are the
    same object, since it does not change. numpy.asarray() gives the values rounded to float32, dequantize() exactly.
    """

    __slots__ = ("_axis", "_hash", "_right", "_shape", "_vectors")
    __array_ufunc__ = None  # array @ q comes to __rmatmul__

    def __init__(
        self,
        scheme: str,
        element: str,
        codes: ArrayLike,
        scales: ArrayLike | None = None,
        tensor_scale: float | None = None,
        *,
        scaling: str = "tensor",
        k: int | None = None,
    ) -> None:
        """A matrix from its parts, along axis -1; `.mT` of it is the right operand of a product.

        scheme: 'nvfp4', 'mxfp4', 'mxfp6', 'mxfp8', 'mxint8', 'fp8', 'luq', 'int4'. element: 'e2m1'; 'e4m3' or 'e5m2' for mxfp8,
            these and any other float of 8 bits ('e4m3fnuz') for fp8, 'e2m3' or 'e3m2' for mxfp6, 'int8_mx' (two's complement,
            times 2^-6) for mxint8, 'e3m0' for luq, 'int4' (two's complement in the low four bits) for int4.
        codes: uint8 or the element's ml_dtypes type, (..., k) or (..., k_padded), one code an element; unpack() makes them
            of packed ones.
        scales: uint8 or the scales' ml_dtypes type, (..., blocks). fp8: None for scaling 'tensor'; else float32, of shape
            (...) for 'vector', (..., ceil(k / 128)) for '1x128', (..., ceil(rows / 128), ceil(k / 128)) for '128x128'.
        tensor_scale: what all values are multiplied by, for nvfp4, luq and int4; fp8 without other scales has 1 unless one is
            given, the MX schemes have none.
        k: logical length if codes are padded.

        Raises Error if the parts do not fit, and for an FP32 scale that is not positive and finite. The top bit of a ue4m3 code
        is ignored, as by decode().
        """
        scaling = one_of("scaling", scaling, SCALINGS)
        text("scheme", scheme)
        array = code_array(codes, "codes", text("element", element))
        if array.ndim == 0 or array.size == 0:
            raise Error(f"codes have shape {array.shape}; expected one dimension or more, each at least 1")
        if array.dtype != np.uint8:
            if array.max() > 255:
                raise Error(f"codes hold {array.max()}; expected codes of {element}, one a byte")
            array = array.astype(np.uint8)
        width = array.shape[-1]
        length = width if k is None else integer("k", k, 1, width)
        lead = array.shape[:-1]
        byte_scales: NDArray[np.uint8] | None = None
        fp32_scales: NDArray[np.float32] | None = None
        if scaling != "tensor":
            columns = -(-length // BLOCK)
            expected: tuple[int, ...] = lead if scaling == "vector" else (*lead, columns)
            if scaling == "128x128":
                _check_tiles((*lead, length), -1)
                expected = (*lead[:-1], -(-(lead[-1] if lead else 1) // BLOCK), columns)
            given = None if scales is None else float32_array(scales, "scales")
            if given is None or given.shape != expected:
                have = "missing" if given is None else f"of shape {given.shape}"
                raise Error(f"scales are {have}; expected float32 of shape {expected} for scaling '{scaling}'")
            fp32_scales = np.ascontiguousarray(given).reshape(-1)
            wrong = fp32_scales[~((fp32_scales > 0) & np.isfinite(fp32_scales))]
            if wrong.size:
                raise Error(f"scales hold {wrong[0]:g}; expected positive finite float32 numbers")
        elif scales is not None:
            given_codes = code_array(scales, "scales", "ue4m3" if scheme == "nvfp4" else "e8m0")
            if given_codes.dtype != np.uint8 and given_codes.size and given_codes.max() > 255:
                raise Error(f"scales hold {given_codes.max()}; expected codes of one byte")
            if given_codes.ndim != array.ndim or given_codes.shape[:-1] != lead:
                raise Error(f"scales are of shape {given_codes.shape}; expected {lead} and the blocks of a vector")
            byte_scales = np.ascontiguousarray(given_codes.astype(np.uint8)).reshape(-1, given_codes.shape[-1])
        vectors = Vectors(
            text("scheme", scheme),
            element,
            np.ascontiguousarray(array).reshape(-1, width),
            byte_scales,
            scaling=scaling,
            fp32_scales=fp32_scales,
            k=length,
            tensor_scale=_checked_scale(scheme, scaling, tensor_scale),
        )
        self._set(vectors, (*lead, length), -1)

    def _set(self, vectors: Vectors, shape: tuple[int, ...], axis: int) -> None:
        self._vectors = vectors
        self._shape = shape
        self._axis = axis
        self._hash: int | None = None
        self._right: _core.RightOperand | None = None

    @classmethod
    def _of(cls, vectors: Vectors, shape: tuple[int, ...], axis: int) -> QuantizedMatrix:
        made = cls.__new__(cls)
        made._set(vectors, shape, axis)
        return made

    @property
    def scheme(self) -> str:
        """'nvfp4', 'mxfp4', 'mxfp6', 'mxfp8', 'mxint8', 'fp8'; of format 'luq' the left operand is 'int4', the right one 'luq'."""
        return self._vectors.scheme

    @property
    def element(self) -> str:
        """Format of the elements: a name of formats(), or 'int4'."""
        return self._vectors.element

    @property
    def scaling(self) -> str:
        """Which elements share an FP32 scale: 'tensor'; of fp8 also 'vector', '1x128', '128x128'."""
        return self._vectors.scaling

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the matrix: that of x; under a Hadamard stage the rotated one's, which is padded to whole groups along `axis`."""
        return self._shape

    @property
    def ndim(self) -> int:
        return len(self._shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self._shape)

    @property
    def axis(self) -> int:
        """The axis of `shape` along which vectors and blocks run, negative."""
        return self._axis

    @property
    def rows(self) -> int:
        """Number of vectors."""
        return self._vectors.rows

    @property
    def k(self) -> int:
        """Logical length of a vector."""
        return self._vectors.k

    @property
    def k_padded(self) -> int:
        """k rounded up to whole blocks."""
        return self._vectors.k_padded

    @property
    def block(self) -> int:
        """Elements that share a block scale of a byte; 1 where there is none."""
        return self._vectors.block

    @property
    def codes(self) -> NDArray[np.uint8]:
        """uint8, vectors x k_padded (with the other dimensions in their order before it), read only; the padding is 0."""
        return self._vectors.codes.reshape(*_lead(self._shape, self._axis), self.k_padded)

    @property
    def scales(self) -> NDArray[np.uint8] | NDArray[np.float32] | None:
        """Block scales: uint8, vectors x blocks, read only. fp8: float32 as the constructor has them, or None."""
        lead = _lead(self._shape, self._axis)
        fp32 = self._vectors.fp32_scales
        if fp32 is not None:
            if self.scaling == "vector":
                return fp32.reshape(lead)
            columns = -(-self.k // BLOCK)
            if self.scaling == "128x128":
                return fp32.reshape(*lead[:-1], -(-(lead[-1] if lead else 1) // BLOCK), columns)
            return fp32.reshape(*lead, columns)
        codes = self._vectors.scales
        return None if codes is None else codes.reshape(*lead, codes.shape[-1])

    @property
    def tensor_scale(self) -> float:
        """The FP32 scale of all elements; 1 where there is none."""
        return self._vectors.tensor_scale

    @property
    def nbytes(self) -> int:
        """Bytes in the narrow format: codes packed (padding included), scales, 4 for a tensor scale."""
        bits = self._vectors.codes.size * (4 if self.element == "int4" else _core.formats()[self.element].bits)
        scales = self.scales
        one = self.scheme in ("nvfp4", "fp8", "luq", "int4") and self.scaling == "tensor"
        return bits // 8 + (0 if scales is None else scales.nbytes) + 4 * one

    @property
    def mT(self) -> QuantizedMatrix:
        """Every matrix transposed; nothing is copied or quantized again."""
        if self.ndim < 2 or self._axis < -2:
            raise Error(
                f"{self!r} has no transpose; expected two dimensions or more, quantized along one of the last two"
            )
        shape = (*self._shape[:-2], self._shape[-1], self._shape[-2])
        return self._of(self._vectors, shape, -3 - self._axis)

    @property
    def T(self) -> QuantizedMatrix:
        """The matrix transposed, of two dimensions at most; batches have `mT`."""
        if self.ndim > 2:
            raise Error(f"T of {self!r} would reverse all dimensions: take mT for the transpose of each matrix")
        return self if self.ndim < 2 else self.mT

    def __matmul__(self, other: object) -> NDArray[np.float32]:
        return gemm(self, other)  # type: ignore[arg-type]

    def __rmatmul__(self, other: object) -> NDArray[np.float32]:
        return gemm(other, self)  # type: ignore[arg-type]

    def _state(self) -> tuple[Any, ...]:
        v = self._vectors
        return (v.scheme, v.element, v.codes, v.scales, v.tensor_scale, v.scaling, v.fp32_scales, v.k)

    def _bits(self) -> tuple[Any, ...]:
        def plain(part: Any) -> Any:
            return (
                part.tobytes()
                if isinstance(part, np.ndarray)
                else struct.pack("f", part)
                if isinstance(part, float)
                else part
            )

        return (self._shape, self._axis, *map(plain, self._state()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, QuantizedMatrix):
            return NotImplemented
        return self is other or self._bits() == other._bits()

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._bits())
        return self._hash

    def __copy__(self) -> QuantizedMatrix:
        return self

    def __deepcopy__(self, memo: object) -> QuantizedMatrix:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (*self._state(), self._shape, self._axis))

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("the values of a QuantizedMatrix are computed; expected copy=None or True")
        if dtype is None or np.dtype(dtype) == np.float32:
            return _values(self, _core.dequantize_float32)
        return dequantize(self).astype(dtype)

    def __repr__(self) -> str:
        scaling = "" if self.scaling == "tensor" else f" scaled {self.scaling}"
        return f"<QuantizedMatrix {self.scheme} {self.element}{scaling}, shape {self._shape}, along axis {self._axis}>"


def _checked_scale(scheme: str, scaling: str, tensor_scale: float | None) -> float:
    """A constructor's tensor scale, which some schemes have to have and others must not."""
    if scheme in ("mxfp4", "mxfp8") or scaling != "tensor":
        if tensor_scale is None or number("tensor_scale", tensor_scale) == 1:
            return 1.0
        what = scheme if scaling == "tensor" else f"scaling '{scaling}'"
        raise Error(
            f"tensor_scale is {shown(tensor_scale)} for {what}, which has no scale of the tensor; expected None"
        )
    if tensor_scale is None:
        if scheme in ("nvfp4", "luq", "int4"):
            raise Error(f"tensor_scale of scheme '{scheme}' is missing; expected the FP32 scale of all elements")
        return 1.0
    value = float32("tensor_scale", tensor_scale)
    if not 0 < value < math.inf:
        raise Error(f"tensor_scale is {shown(tensor_scale)}; expected a positive finite float32 number")
    return value


def _rebuild(
    scheme: str,
    element: str,
    codes: NDArray[np.uint8],
    scales: NDArray[np.uint8] | None,
    tensor_scale: float,
    scaling: str,
    fp32_scales: NDArray[np.float32] | None,
    k: int,
    shape: tuple[int, ...],
    axis: int,
) -> QuantizedMatrix:
    """Unpickles."""
    vectors = Vectors(scheme, element, codes, scales, tensor_scale, scaling=scaling, fp32_scales=fp32_scales, k=k)
    return QuantizedMatrix._of(vectors, shape, axis)


def _axis_of(axis: object, ndim: int) -> int:
    """As a negative number."""
    if isinstance(axis, str):
        if axis not in ("rows", "columns"):
            raise Error(f"axis is {shown(axis)}; expected an integer, or one of rows (-1), columns (-2)")
        axis = -1 if axis == "rows" else -2
    if ndim == 0:
        raise Error("x has no dimension; expected one or more")
    place = integer("axis", axis, -ndim, ndim - 1)
    return place if place < 0 else place - ndim


def _check_tiles(shape: tuple[int, ...], axis: int) -> None:
    """Tiles of 128 vectors must not reach from one matrix of a batch into the next."""
    if axis < -2 or (len(shape) > 2 and shape[-3 - axis] % BLOCK):
        raise Error(
            f"scaling '128x128' of shape {shape} along axis {axis}; expected one of the last two axes, and in a batch the "
            f"other one a multiple of {BLOCK}; quantize the matrices one by one"
        )


def _vectors_of(array: NDArray[Any], along: int) -> NDArray[Any]:
    """Vectors along an axis as the rows of a matrix."""
    return np.ascontiguousarray(np.moveaxis(array, along, -1).reshape(-1, array.shape[along]))


def _random_of(random: ArrayLike | None, shape: tuple[int, ...], along: int, blocks: int | None) -> dict[str, Any]:
    """Random words or uniform numbers, in the order of the vectors' elements, or of their blocks."""
    if random is None:
        return {"random": None, "uniforms": None}
    array = any_array(random, "random")
    if blocks is None:
        if array.shape != shape:
            raise Error(f"random has shape {array.shape}; expected the shape of x, {shape}")
        array = _vectors_of(array, along)
    elif array.size != blocks:
        raise Error(f"random has {array.size} numbers; expected {blocks}, one for each block in the order of `scales`")
    if array.dtype.kind == "f":
        return {"random": None, "uniforms": np.ascontiguousarray(array, np.float32).reshape(-1)}
    if array.dtype.kind not in "iu" or (array.size and (array.min() < 0 or array.max() >= 2**32)):
        raise Error(
            f"random has dtype {array.dtype}; expected integers below 2**random_bits, or floats of at least 0 and below 1"
        )
    return {"random": np.ascontiguousarray(array, np.uint32).reshape(-1), "uniforms": None}


def _in_dialect(
    array: NDArray[np.float32],
    along: int,
    dialect: str,
    format: str | None,
    rounding: str | None,
    random_bits: int | None,
    seed: int,
    tensor_scale: float | None,
    amax: float | None,
    random: ArrayLike | None,
    threads: int,
) -> QuantizedMatrix:
    fields = dialect_fields(dialect)
    matrix = np.ascontiguousarray(array) if array.ndim == 2 else _vectors_of(array, along)
    blocks = None
    if fields["point"] == "scale":
        blocks = array.size // array.shape[along] * -(-array.shape[along] // 16)
        if random is not None and fields["front"] == "rht128":
            blocks = array.size // array.shape[along] * -(-array.shape[along] // 128) * 8
    vectors = _core.quantize_dialect(
        matrix,
        dialect,
        format=format,
        columns=array.ndim == 2 and along == -2,
        rounding=rounding,
        random_bits=None if random_bits is None else integer("random_bits", random_bits, 1, 24),
        seed=check_seed(seed),
        amax=None if amax is None else number("amax", amax),
        tensor_scale=None if tensor_scale is None else number("tensor_scale", tensor_scale),
        threads=check_threads(threads, array.size * NS_PER_ELEMENT),
        **_random_of(random, array.shape, along, blocks),
    )
    shape = list(array.shape)
    shape[along] = vectors.k  # a Hadamard stage pads vectors to whole groups
    return QuantizedMatrix._of(vectors, tuple(shape), along)


def _quantize(
    x: ArrayLike,
    format: str | None,
    axis: int | str,
    right: bool | None,
    rule: str,
    rounding: str | None,
    random_bits: int | None,
    seed: int,
    tensor_scale: float | None,
    power_of_two_scale: bool,
    scaling: str,
    threads: int,
    dialect: str | None = None,
    amax: float | None = None,
    random: ArrayLike | None = None,
    wide_blocks: bool = False,
) -> QuantizedMatrix:
    """`right`: which operand's format; None: by the axis."""
    if isinstance(x, QuantizedMatrix):
        raise Error(f"x is quantized already, {x!r}; expected an array, as dequantize() makes one")
    array = float32_array(x, "x")
    along = _axis_of(axis, array.ndim)
    if array.size == 0:
        raise Error(f"x has shape {array.shape}; expected every dimension to be at least 1")
    if dialect is not None:
        text("dialect", dialect)
        for name, value, default in (
            ("rule", text("rule", rule), "exact"),
            ("power_of_two_scale", flag("power_of_two_scale", power_of_two_scale), False),
            ("scaling", text("scaling", scaling), "tensor"),
            ("wide_blocks", flag("wide_blocks", wide_blocks), False),
        ):
            if value != default:
                raise Error(f"{name} is {shown(value)} beside dialect '{dialect}', which decides that: drop one")
        return _in_dialect(
            array,
            along,
            text("dialect", dialect),
            None if format is None else text("format", format),
            None if rounding is None else text("rounding", rounding),
            random_bits,
            seed,
            tensor_scale,
            amax,
            random,
            threads,
        )
    for name, given in (("amax", amax), ("random", random)):
        if given is not None:
            raise Error(f"{name} was given without a dialect: name one, as dialect='narrowgauge', or drop it")
    format = "nvfp4" if format is None else format
    rounding = "nearest_even" if rounding is None else rounding
    random_bits = 8 if random_bits is None else random_bits
    if one_of("scaling", scaling, SCALINGS) == "128x128":
        _check_tiles(array.shape, along)
    if array.ndim == 2:
        matrix = array
    else:
        finite = np.isfinite(array)
        if not finite.all():
            at = tuple(int(i) for i in np.argwhere(~finite)[0])
            raise Error(f"the value at {list(at)} is {array[at]}: quantization takes finite values only; replace it")
        matrix = np.moveaxis(array, along, -1).reshape(-1, array.shape[along])
    vectors = _core.quantize(
        np.ascontiguousarray(matrix),
        text("format", format),
        columns=array.ndim == 2 and along == -2,
        right=along == -2 if right is None else right,
        rule=text("rule", rule),
        rounding=text("rounding", rounding),
        random_bits=integer("random_bits", random_bits, 1, 24),
        seed=check_seed(seed),
        tensor_scale=None if tensor_scale is None else number("tensor_scale", tensor_scale),
        power_of_two_scale=flag("power_of_two_scale", power_of_two_scale),
        scaling=scaling,
        wide_blocks=flag("wide_blocks", wide_blocks),
        threads=check_threads(threads, array.size * NS_PER_ELEMENT),
    )
    return QuantizedMatrix._of(vectors, array.shape, along)


def quantize(
    x: ArrayLike,
    format: str | None = None,
    *,
    axis: int | str = -1,
    rule: str = "exact",
    rounding: str | None = None,
    random_bits: int | None = None,
    seed: int = 0,
    tensor_scale: float | None = None,
    power_of_two_scale: bool = False,
    scaling: str = "tensor",
    threads: int = 0,
    dialect: str | None = None,
    amax: float | None = None,
    random: ArrayLike | None = None,
    wide_blocks: bool = False,
) -> QuantizedMatrix:
    """Quantizes an array as operand of a product.

    x: array-like of one dimension or more, finite; what is not float32 is rounded to it first, once, to nearest even
        (float16, the types of ml_dtypes and integers up to 2^24 are exact); finite values beyond float32 are refused.
    format: a name of gemm_formats(); of formats for two operands, the left one's with axis -1, the right one's with -2.
        None: 'nvfp4', or the dialect's.
    dialect: whose operations are followed bit for bit (docs/dialects.md): a name of dialects(), alone or with fields that
        differ from it, as in 'te_4over6:bound=448,search=mse'. It takes the place of `rule`, `scaling` and
        `power_of_two_scale`; `rounding` and `random_bits` are the dialect's unless given. With a Hadamard stage the
        result is the rotated matrix, vectors padded to whole groups; with front=mean it is what is left of the mean.
    amax: in a dialect, the tensor's largest magnitude instead of the measured one.
    random: in a dialect that rounds stochastically, its bits instead of those of `seed`: integers below 2**random_bits,
        or floats u in [0, 1), which round up where u is below the probability; of the shape of x, or, where scales are
        rounded (quartet2), one for each block in the order of `scales`.
    axis: along which vectors and their blocks run, the contraction of a product: -1 for A of A x B, -2 for B. The names
        'rows' and 'columns' stand for -1 and -2.
    rule: 'exact' (correctly rounded, without a division: the hardware's) or 'vendor' (NVFP4 only: Transformer Engine's
        float32 sequence).
    rounding: of the elements, a name as for encode(), None being 'nearest_even'; 'stochastic' draws `random_bits` (1 to
        24, None: 8) bits a value from `seed` (0 to 2^64 - 1), counted over the padded codes.
    tensor_scale: use this one, rounded to float32, instead of the one from the largest magnitude of the whole array.
    power_of_two_scale: round computed FP32 scales up to powers of two.
    scaling: of fp8, which elements share an FP32 scale: 'tensor'; 'vector' (per token for axis -1, per channel for -2);
        '1x128' (128 of a vector); '128x128' (128 of each of 128 vectors).
    wide_blocks: two neighbouring blocks of nvfp4 share their scale, that of 32 elements, as Engine.gemm_sparse takes them.
    threads: 0 is one a core.

    Format 'luq' is INT4 for the left operand, under SAWB's clip and always rounded to nearest even, and FP4 [1,3,0] for the
    right one, under a power of two (docs/luq.md): 'stochastic' is LUQ, 'nearest_even' takes the nearer power.

    Raises Error for other types or names, empty arrays, and NaN or infinity in x (it names the place; the dialects of OCP
    make them scales of NaN instead).
    """
    return _quantize(
        x,
        format,
        axis,
        None,
        rule,
        rounding,
        random_bits,
        seed,
        tensor_scale,
        power_of_two_scale,
        scaling,
        threads,
        dialect,
        amax,
        random,
        wide_blocks,
    )


def dialects() -> dict[str, dict[str, str]]:
    """Quantizers that others have, by name: whose each is, and its fields as `quantize` takes them after the name."""
    return _core.dialects()


def dialect_fields(dialect: str) -> dict[str, str]:
    """All fields of a dialect, given as for `quantize`: those of its name, and those that it has differently.

    >>> ng.dialect_fields("te_4over6:search=mse")["search"]
    'mse'
    """
    return _core.dialect_fields(text("dialect", dialect))


def dialect_scales(dialect: str, amax: float, scale_code: int | None = None) -> dict[str, float]:
    """The float32 factors that a dialect of NVFP4 derives from a tensor's largest magnitude.

    'encode_scale': S, by which Transformer Engine multiplies; 'tensor_scale': what decoding multiplies by; with a code of
    ue4m3, 'block_factor': what elements of a block of this scale are multiplied by ('divisions', 'exact': divided by).
    """
    code = None if scale_code is None else integer("scale_code", scale_code, 0, 126)
    return _core.dialect_scales(text("dialect", dialect), number("amax", amax), code)


def front_stage(
    x: ArrayLike, stage: str, *, axis: int | str = -1, threads: int = 0
) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
    """What a dialect's front stage makes of an array, and the mean that it subtracted.

    stage: 'rht16', 'rht128' (along `axis`, padded to whole groups; BF16 values), 'mean' (over the vectors along `axis`,
        subtracted from each; what is left and the mean, of one vector's length, are BF16 values).
    Returns float32 of x's dimensions, and the mean or None. Raises Error for NaN, infinity, results beyond bfloat16 and other
    stages.
    """
    array = float32_array(x, "x")
    along = _axis_of(axis, array.ndim)
    if array.size == 0:
        raise Error(f"x has shape {array.shape}; expected every dimension to be at least 1")
    one_of("stage", stage, ("rht16", "rht128", "mean"))
    out, mean = _core.front_stage(_vectors_of(array, along), stage, threads=check_threads(threads))
    shape = (*_lead(array.shape, along), out.shape[-1])
    made = np.ascontiguousarray(np.moveaxis(out.reshape(shape), -1, along))
    return made, mean.reshape(-1) if stage == "mean" else None


def dequantize(q: QuantizedMatrix) -> NDArray[np.float64]:
    """The values of a QuantizedMatrix: float64, of its shape, exact."""
    instance("q", q, QuantizedMatrix, "quantize() makes one")
    return _values(q, _core.dequantize)


def _values(q: QuantizedMatrix, read: Callable[[Vectors], NDArray[Any]]) -> NDArray[Any]:
    vectors = read(q._vectors).reshape(*_lead(q.shape, q.axis), q.k)
    return np.ascontiguousarray(np.moveaxis(vectors, -1, q.axis))


def fake_quantize(
    x: ArrayLike,
    format: str | None = None,
    *,
    axis: int | str = -1,
    rule: str = "exact",
    rounding: str | None = None,
    random_bits: int | None = None,
    seed: int = 0,
    tensor_scale: float | None = None,
    power_of_two_scale: bool = False,
    scaling: str = "tensor",
    threads: int = 0,
    dialect: str | None = None,
    amax: float | None = None,
    random: ArrayLike | None = None,
) -> NDArray[np.float32]:
    """What quantization leaves of an array: float32 of its shape, dequantize(quantize(x, ...)) rounded to nearest even.

    The arguments are those of `quantize`.
    """
    return np.asarray(
        quantize(
            x,
            format,
            axis=axis,
            rule=rule,
            rounding=rounding,
            random_bits=random_bits,
            seed=seed,
            tensor_scale=tensor_scale,
            power_of_two_scale=power_of_two_scale,
            scaling=scaling,
            threads=threads,
            dialect=dialect,
            amax=amax,
            random=random,
        ),
        dtype=np.float32,
    )


def operands(a: object, b: object) -> tuple[QuantizedMatrix, QuantizedMatrix]:
    """Both with two dimensions or more, their contractions where a product has them."""
    for name, q in (("a", a), ("b", b)):
        instance(name, q, QuantizedMatrix, "quantize() makes one")
    assert isinstance(a, QuantizedMatrix)
    assert isinstance(b, QuantizedMatrix)
    if a.ndim == 1:
        a = QuantizedMatrix._of(a._vectors, (1, *a.shape), -1)
    if b.ndim == 1:
        b = QuantizedMatrix._of(b._vectors, (*b.shape, 1), -2)
    for q, wanted, side in ((a, -1, "left"), (b, -2, "right")):
        if q.axis != wanted:
            raise Error(
                f"the {side} operand {q!r} is not along the contraction; expected axis {wanted}; quantize it along that, or "
                "take its transpose, mT"
            )
    return a, b


def gemm(
    a: QuantizedMatrix,
    b: QuantizedMatrix,
    *,
    output: str = "float32",
    threads: int = 0,
    accumulate: str = "exact",
) -> NDArray[Any]:
    """C = A x B by the golden model.

    a: (..., M, K) along axis -1; b: (..., K, N) along axis -2; both of one scheme (fp8 and mxfp8 may mix e4m3 and e5m2),
        or int4 and luq.
        Batches broadcast, and operands of one dimension are vectors, as in numpy.matmul.
    output: 'float32', or 'bfloat16': float32 rounded to nearest even, as ml_dtypes.bfloat16.
    threads: 0 is one a core; the result does not depend on it.
    accumulate: how products are added, a name of accumulation_modes(); 'exact' is the library's own (docs/accumulation.md).

    A right operand of two dimensions that meets a left one of 64 rows or fewer keeps its unpacked form for later products:
    1 byte an element of 4 bits, 4 to 8 bytes one of 8 bits.
    Returns (..., M, N): sums exact and rounded once, then multiplied by the product of the tensor (or vector) scales;
    mxfp4, mxfp8 and fp8 with scales per 128: accumulated in float32 block by block, in order (docs/gemm.md).
    Raises Error if k, the axes, the schemes or the accumulation do not fit.
    """
    one_of("output", output, OUTPUTS)
    one_of("accumulate", accumulate, tuple(_core.accumulation_modes()))
    left, right = operands(a, b)
    threads = check_threads(threads, left.rows * left.k * right.shape[-1] / MACS_PER_NS)
    if accumulate != "exact":
        c = _batched(left, right, threads, accumulate)
    elif right.ndim == 2:
        if right._right is None and left.rows <= THIN_ROWS:
            right._right = _core.RightOperand(right._vectors)
        if right._right is None:
            c = _core.gemm(left._vectors, right._vectors, threads=threads)
        else:
            c = _core.gemm_kept(left._vectors, right._right, threads=threads)
        c = c.reshape(*left.shape[:-1], right.shape[-1])
    else:
        c = _batched(left, right, threads)
    m, n = () if a.ndim == 1 else c.shape[-2:-1], () if b.ndim == 1 else c.shape[-1:]
    c = c.reshape((*c.shape[:-2], *m, *n))
    if output == "float32":
        return c
    return _core.encode(c, "bf16").view(ml_dtypes_module("output='bfloat16'").bfloat16)


def _batched(a: QuantizedMatrix, b: QuantizedMatrix, threads: int, mode: str = "exact") -> NDArray[np.float32]:
    try:
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise Error(
            f"the batches of shapes {a.shape} and {b.shape} do not fit; expected equal dimensions, or 1, before the last two"
        ) from None
    m, n = a.shape[-2], b.shape[-1]
    c = np.empty((*batch, m, n), np.float32)
    places = [np.broadcast_to(np.arange(math.prod(q.shape[:-2])).reshape(q.shape[:-2]), batch) for q in (a, b)]
    for at in np.ndindex(batch):
        left = a._vectors.part(int(places[0][at]) * m, m)
        right = b._vectors.part(int(places[1][at]) * n, n)
        exact = mode == "exact"
        c[at] = (
            _core.gemm(left, right, threads=threads)
            if exact
            else _core.gemm_in_mode(left, right, mode, threads=threads)
        )
    return c


def matmul(
    a: ArrayLike | QuantizedMatrix,
    b: ArrayLike | QuantizedMatrix,
    format: str | None = None,
    *,
    rule: str = "exact",
    rounding: str | None = None,
    random_bits: int | None = None,
    seed: int = 0,
    power_of_two_scale: bool = False,
    scaling: str = "tensor",
    output: str = "float32",
    threads: int = 0,
    dialect: str | None = None,
) -> NDArray[Any]:
    """C = A x B with both operands quantized to `format`, a name of gemm_formats(); shapes as in numpy.matmul.

    The arguments are those of `quantize` and `gemm`. Stochastic rounding takes `seed` for A and the seed after it for B.
    For operands that are not to be treated alike: quantize(a, ...) @ quantize(b, ..., axis=-2). An operand that is quantized
    already stays as it is; if both are, the arguments of `quantize` must be left out.

    Returns float32 or bfloat16. Raises Error as `quantize` and `gemm` do.
    """
    seed = check_seed(seed)
    one_of("output", output, OUTPUTS)
    if isinstance(a, QuantizedMatrix) and isinstance(b, QuantizedMatrix):
        for name, value, default in (
            ("format", format, None),
            ("rule", rule, "exact"),
            ("rounding", rounding, None),
            ("random_bits", random_bits, None),
            ("seed", seed, 0),
            ("power_of_two_scale", power_of_two_scale, False),
            ("scaling", scaling, "tensor"),
            ("dialect", dialect, None),
        ):
            if value != default:
                raise Error(f"{name} is {shown(value)}, but a and b are quantized already; drop it, or pass arrays")
    operands_of = [x if isinstance(x, QuantizedMatrix) else float32_array(x, n) for n, x in (("a", a), ("b", b))]
    made = []
    for right, array in enumerate(operands_of):
        if isinstance(array, QuantizedMatrix):
            made.append(array)
            continue
        axis = -2 if right and array.ndim > 1 else -1
        made.append(
            _quantize(
                array,
                format,
                axis,
                bool(right),
                rule,
                rounding,
                random_bits,
                (seed + right) % 2**64,
                None,
                power_of_two_scale,
                scaling,
                threads,
                dialect,
            )
        )
    return gemm(made[0], made[1], output=output, threads=threads)
