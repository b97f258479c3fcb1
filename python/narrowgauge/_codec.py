# SPDX-License-Identifier: Apache-2.0
"""Compressed feature maps (docs/codec.md)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arguments import flag, instance, integer, number, one_of, shown
from ._arrays import any_array, float32_array, ml_dtypes_module, ml_names
from ._core import Error


def _codes(x: ArrayLike, bits: int | None) -> NDArray[Any]:
    """The map as int8, uint8 or float32, in C order."""
    array = any_array(x, "x")
    if array.size == 0 or not 1 <= array.ndim <= 8:
        raise Error(f"x has shape {array.shape}; expected 1 to 8 dimensions and at least one value")
    if array.dtype in (np.uint8, np.int8):
        if bits is not None:
            raise Error(f"bits is {bits}; expected None for a map of {array.dtype}, which is coded without loss")
        return np.ascontiguousarray(array)
    return np.ascontiguousarray(float32_array(x, "x"))


def _bits(bits: int | None) -> int:
    return 8 if bits is None else integer("bits", bits, 2, 8)


class ChannelTransform:
    """An integer transform of groups of channels, which calibrate_transform() makes (docs/codec.md, The transform)."""

    def __init__(self, core: _core.Transform) -> None:
        self._core = core

    def __repr__(self) -> str:
        kind = "klt" if self._core.is_klt else "identity"
        return f"ChannelTransform({kind}, {self.channels} channels in groups of {self.group}, step {self.step:.6g})"

    @property
    def axis(self) -> int:
        """The dimension of channels in a map."""
        return self._core.axis

    @property
    def channels(self) -> int:
        """Channels of a map."""
        return self._core.channels

    @property
    def group(self) -> int:
        """Channels that are transformed together."""
        return self._core.group

    @property
    def step(self) -> float:
        """What a 1 of a component's code stands for, in units of the map."""
        return self._core.step

    @property
    def input_step(self) -> float:
        """What a 1 of the 16-bit codes before the transform stands for."""
        return self._core.input_step

    @property
    def output_step(self) -> float:
        """What a 1 of the 16-bit codes behind the inverse stands for."""
        return self._core.output_step

    @property
    def mean(self) -> NDArray[np.float64]:
        """Of every channel in the calibration data: (channels,)."""
        return self._core.mean

    @property
    def variance(self) -> NDArray[np.float64]:
        """Of every component in the calibration data, the largest first in each group: (channels,)."""
        return self._core.variance

    @property
    def vectors(self) -> NDArray[np.float64]:
        """Unit vectors of the components: (groups, component, channel of the group)."""
        return self._core.vectors

    @property
    def forward_integers(self) -> list[tuple[NDArray[np.int16], NDArray[np.int64], int]]:
        """Of every group matrix, bias and shift of the forward transform, as ng_transform takes them."""
        return self._core.forward_integers

    @property
    def inverse_integers(self) -> list[tuple[NDArray[np.int16], NDArray[np.int64], int]]:
        """The same of the inverse."""
        return self._core.inverse_integers

    def with_step(self, step: float) -> ChannelTransform:
        """The same components under another step, above 0."""
        return ChannelTransform(self._core.with_step(number("step", step)))

    def forward(self, x: ArrayLike) -> NDArray[np.int8]:
        """Codes of the components of a map before ReLU: (channels, vectors), the vectors in C order of the other dimensions.

        Raises Error for a map with other channels, or numbers that are not finite.
        """
        return self._core.forward(_real_map(x))

    def inverse(self, codes: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float32]:
        """The map of this shape from its codes, behind ReLU if the transform has one.

        Raises Error where shape and codes do not fit each other or the transform.
        """
        array = any_array(codes, "codes")
        if array.dtype != np.int8:
            raise Error(f"codes have dtype {array.dtype}; expected int8, as forward() makes them")
        if not isinstance(shape, tuple | list):
            raise Error(f"shape is {shown(shape)}; expected extents, 1 to 8")
        return self._core.inverse(np.ascontiguousarray(array), [integer("extent", n, 1, 2**32 - 1) for n in shape])

    def error_bound(self, largest: float | None = None) -> float:
        """Bound on the error of a value behind forward() and inverse() where nothing is clipped, in units of the map.

        largest: magnitude of the map; None: all that the 16-bit codes hold, twice the calibration data's.
        """
        codes = 32767.0 if largest is None else number("largest", largest) / self.input_step + 1
        return self._core.error_bound(codes)

    def fold(self, weight: ArrayLike, bias: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weights (channels, ...) and bias (channels,) of a layer that has the forward transform in it: it makes components in
        units of the step, so that rounding its results is all that is left of forward().

        Raises Error for other first extents.
        """
        w, b = float32_array(weight, "weight").astype(np.float64), float32_array(bias, "bias").astype(np.float64)
        for name, array in (("weight", w), ("bias", b)):
            if array.ndim == 0 or array.shape[0] != self.channels:
                raise Error(f"{name} has shape {array.shape}; expected {self.channels} along the first dimension")
        if b.ndim != 1:
            raise Error(f"bias has shape {b.shape}; expected ({self.channels},)")
        rows = self.vectors / self.step
        grouped = w.reshape(-1, self.group, w.size // self.channels)
        centred = (b - self.mean).reshape(-1, self.group, 1)
        return (rows @ grouped).reshape(w.shape), (rows @ centred).reshape(-1)


def _real_map(x: ArrayLike) -> NDArray[np.float32]:
    array = np.ascontiguousarray(float32_array(x, "x"))
    if array.size == 0 or not 1 <= array.ndim <= 8:
        raise Error(f"x has shape {array.shape}; expected 1 to 8 dimensions and at least one value")
    return array


def _axis(axis: int, array: NDArray[Any]) -> int:
    return integer("axis", axis, -array.ndim, array.ndim - 1) % array.ndim


def calibrate_transform(
    x: ArrayLike,
    *,
    axis: int = 1,
    group: int | None = None,
    bits: int = 8,
    matrix_bits: int = 12,
    relu: bool = True,
    basis: str = "klt",
    step: float | None = None,
) -> ChannelTransform:
    """The transform of a layer from a map of it before ReLU (docs/codec.md, The transform).

    x: real numbers, 1 to 8 dimensions. axis: that of channels. group: channels that are transformed together, a divisor of
        theirs up to 128; None: the largest up to 64. bits: of the components' codes, 2 to 8. matrix_bits: of the integer
        matrices, 8 to 16. relu: behind the inverse. basis: 'klt', principal components, or 'identity'. step: of the
        components; None: the largest of x / (2^(bits - 1) - 1).

    Raises Error for other arrays, numbers that are not finite, and arguments out of range.
    """
    array = _real_map(x)
    return ChannelTransform(
        _core.calibrate_transform(
            array,
            one_of("basis", basis, ("klt", "identity")),
            _axis(axis, array),
            0 if group is None else integer("group", group, 1, 128),
            integer("bits", bits, 2, 8),
            integer("matrix_bits", matrix_bits, 8, 16),
            flag("relu", relu),
            0.0 if step is None else number("step", step),
        )
    )


def _float_codes(x: ArrayLike) -> tuple[NDArray[np.uint16], str]:
    array = any_array(x, "x")
    for name in ("bf16", "e4m3", "e5m2"):
        if array.dtype.name in ml_names(name):
            codes = np.ascontiguousarray(array).view(np.uint16 if name == "bf16" else np.uint8)
            return codes.astype(np.uint16), name
    raise Error(
        f"x has dtype {array.dtype}; expected bfloat16, float8_e4m3fn or float8_e5m2 of ml_dtypes for exponents"
    )


def compress(
    x: ArrayLike,
    *,
    bits: int | None = None,
    tile: int = 4096,
    zero_runs: bool = True,
    limit: float | None = None,
    transform: ChannelTransform | None = None,
    tables: int = 4,
    exponents: bool = False,
) -> bytes:
    """A feature map as a compressed file (docs/codec.md): static canonical Huffman codes, raw blocks, tiles.

    x: uint8 or int8, which is coded without loss, or real numbers, which are quantized first: one step for the whole map,
        its largest magnitude divided by the largest code; 1 to 8 dimensions. bits: of those codes, 2 to 8, None being 8.
        tile: values that are read without the others, 64 to 2^20. zero_runs: runs of zeros as symbols of their own where
        that makes the map smaller. limit: magnitudes beyond it are clipped to it first (clip_limit() finds one).
        transform: x is a map before ReLU, of which the components are coded, under at most `tables` codes, 1 to 8.
        exponents: x is of bfloat16, float8_e4m3fn or float8_e5m2 and is coded without loss, exponents by themselves.

    Raises Error for other arrays, numbers that are not finite, and arguments out of range or of another mode.
    """
    size = integer("tile", tile, 64, 2**20)
    runs = flag("zero_runs", zero_runs)
    kinds = integer("tables", tables, 1, 8)
    if flag("exponents", exponents) or transform is not None:
        for name, value in (("bits", bits), ("limit", limit)):
            if value is not None:
                raise Error(
                    f"{name} is {shown(value)}; expected None with a transform, which has its own, or exponents"
                )
    if exponents:
        if transform is not None:
            raise Error("exponents is True; expected False with a transform")
        codes, format = _float_codes(x)
        return _core.compress_floats(codes, format, size, runs)
    if transform is not None:
        instance("transform", transform, ChannelTransform, "calibrate_transform() makes one")
        return _core.compress_components(_real_map(x), transform._core, kinds, size, runs)
    values = _codes(x, bits)
    if values.dtype == np.float32:
        most = 0.0 if limit is None else number("limit", limit)
        return _core.compress_real(values, _bits(bits), size, runs, most)
    if limit is not None:
        raise Error(f"limit is {limit}; expected None for a map of {values.dtype}, which is coded without loss")
    return _core.compress_codes(values.view(np.uint8), values.dtype == np.int8, size, runs)


def decompress(data: bytes) -> NDArray[Any]:
    """The map of a file that compress() made: uint8, int8 or ml_dtypes as it was, or codes times their step in float32.

    Raises Error, which says what is wrong, for anything else; nothing is read outside of it.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise Error(f"data is of type {type(data).__name__}; expected bytes")
    values, kind = _core.decompress(bytes(data))
    if kind == "int8":
        return values.view(np.int8)
    if kind in ("uint8", "float32"):
        return values
    dtype = getattr(ml_dtypes_module(f"a map of {kind}"), ml_names(kind)[0])
    return (values if kind == "bf16" else values.astype(np.uint8)).view(dtype)


def soft_entropy(x: ArrayLike, bits: int, *, sharpness: float = -10.0) -> tuple[float, NDArray[np.float64]]:
    """Entropy of x quantized to `bits` bits between its smallest and largest value, made differentiable as in CAT
    (arXiv 1909.11481), in bits, and its gradient by x.

    With u = (x - min) (2^bits - 1) / (max - min) a value belongs to code k to the share softmax_k(sharpness (u - k)^2), and the
    entropy is that of the mean shares; the gradient holds min and max fixed. bits: 1 to 8. sharpness: below 0.

    Raises Error for no values, numbers that are not finite, and arguments out of range.
    """
    return _core.soft_entropy(_real_map(x), integer("bits", bits, 1, 8), number("sharpness", sharpness))


def clip_limit(x: ArrayLike, *, sigmas: float = 3.0) -> float:
    """Where to clip a map behind ReLU: mean + sigmas x standard deviation, CAT's first value, at most the largest value.

    Raises Error for no values, numbers that are not finite, sigmas that are not above 0, and a result that is not above 0.
    """
    return _core.clip_limit(_real_map(x), number("sigmas", sigmas))


def transform_report(
    x: ArrayLike,
    mse: float,
    *,
    axis: int = 1,
    group: int | None = None,
    bits: int = 8,
    matrix_bits: int = 12,
    relu: bool = True,
    tile: int = 4096,
) -> dict[str, dict[str, float]]:
    """What a map before ReLU takes at a mean squared error behind it: 'bits' per value, the 'mse' reached, the 'step'.

    mse: above 0; the step is the largest, to a thousandth, that keeps to it. The rest: as for calibrate_transform(). The
    keys: 'huffman_pre_relu', each channel by itself under one code; 'pca_huffman', principal components under one code;
    'transform', the same under up to 8 codes and with runs of zeros. Files count with all that is in them, the transform
    too. Where codes of `bits` bits cannot reach the error without clipping values of x, the three are NaN.

    Raises Error as calibrate_transform() and compress() do.
    """
    array = _real_map(x)
    return _core.report_components(
        array,
        number("mse", mse),
        _axis(axis, array),
        0 if group is None else integer("group", group, 1, 128),
        integer("bits", bits, 2, 8),
        integer("matrix_bits", matrix_bits, 8, 16),
        flag("relu", relu),
        integer("tile", tile, 64, 2**20),
    )


def codec_report(x: ArrayLike, *, bits: int | None = None, tile: int = 4096) -> dict[str, float]:
    """Bits per value of a map in this codec and in the published ones that it is compared with, and its entropy.

    x, bits, tile: as for compress(). The keys: 'raw' 8; 'entropy' of the codes as independent numbers; 'zvc', 'zero_rle'
    and 'ebpc', the published codes; 'huffman', the file without runs of zeros; 'narrowgauge', the file. Both files count
    with head, table, index and checksums.

    Raises Error as compress() does.
    """
    values = _codes(x, bits)
    size = integer("tile", tile, 64, 2**20)
    if values.dtype == np.float32:
        return _core.report_real(values, _bits(bits), size)
    return _core.report_codes(values.view(np.uint8), values.dtype == np.int8, size)
