# SPDX-License-Identifier: Apache-2.0
"""Checkpoints written in the layouts that are read, and converted: with the same bits, or quantized again."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core, gguf
from .._arguments import instance, one_of, shown, text
from .._arguments import path as file_path
from .._arrays import any_array
from .._core import Error
from .._files import written_whole
from .._formats import pack
from .._quantized import SCALINGS, QuantizedMatrix, dequantize, dialect_fields, quantize
from .integers import IntegerMatrix
from .reader import Checkpoint, Layer
from .recognize import BLOCK_OF, FP8, LAYOUTS, TILE
from .tensors import INDEX

NAMES = {element: dtype for dtype, element in FP8.items()}
TORCH = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2"}
#: Types of arrays that are written as they are, but for those of ml_dtypes.
TYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "uint64": "U64", "int32": "I32", "uint32": "U32",
    "int16": "I16", "uint16": "U16", "int8": "I8", "uint8": "U8", "bool": "BOOL", "bfloat16": "BF16",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "float8_e4m3fnuz": "F8_E4M3FNUZ",
    "float8_e5m2fnuz": "F8_E5M2FNUZ", "float8_e8m0fnu": "F8_E8M0",
}  # fmt: skip
Bytes = NDArray[np.uint8]
#: Of a multiplier, when the nearest divisor has been found.
LARGEST_ERROR = 2.0**-22


class Form(NamedTuple):
    """What the tensors of a quantized matrix look like, without its bits."""

    scheme: str
    element: str
    scaling: str
    shape: tuple[int, ...]

    @property
    def scales(self) -> tuple[int, ...]:
        """Shape of the scales; none for one number."""
        *lead, k = self.shape
        if self.scheme in BLOCK_OF:
            return (*lead, k // BLOCK_OF[self.scheme])
        columns = -(-k // TILE)
        by_scaling: dict[str, tuple[int, ...]] = {
            "tensor": (),
            "vector": tuple(lead),
            "1x128": (*lead, columns),
            "128x128": (*lead[:-1], -(-lead[-1] // TILE), columns),
        }
        return by_scaling[self.scaling]


class Part(NamedTuple):
    """A tensor to be written. role: codes, packed (two codes a byte), scales, global, or divisor, the other way round."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    role: str

    def bytes_of(self, q: QuantizedMatrix) -> Bytes:
        """The tensor's bytes, those of the matrix."""
        if self.role == "codes":
            return _raw(q.codes)
        if self.role == "packed":
            return _raw(pack(q.codes))
        if self.role == "scales" and q.scales is not None:
            codes = _raw(q.scales)
            return codes & np.uint8(0x7F) if q.scheme == "nvfp4" else codes
        return _raw(np.float32(q.tensor_scale) if self.role != "divisor" else divisor_of(q.tensor_scale))


class Change(NamedTuple):
    """What became of a layer.

    before, after: formats. codes, scales: how many of them differ; None where the formats have different ones. elements: of
    the weight. tensor_scale: before and after, as multipliers. sqnr_db: of the new values against those before. largest: the
    largest difference of a value. bytes: of codes and scales, before and after.
    """

    layer: str
    before: str
    after: str
    codes: int | None
    scales: int | None
    elements: int
    tensor_scale: tuple[float, float]
    sqnr_db: float
    largest: float
    bytes: tuple[int, int]


def divisor_of(multiplier: float) -> np.float32:
    """The float32 whose reciprocal, rounded to float32, is nearest to the multiplier; the multiplier itself where one is."""
    wanted = np.float32(multiplier)
    with np.errstate(over="ignore"):
        first = np.float32(1) / wanted
    candidates = (first, np.nextafter(first, np.float32(0)), np.nextafter(first, np.float32(np.inf)))
    error, best = min(
        (abs(float(np.float32(1) / c) - float(wanted)), c) for c in candidates if c > 0 and np.isfinite(c)
    )
    if error > float(wanted) * LARGEST_ERROR:
        raise Error(f"tensor_scale {multiplier:.9g} has no reciprocal in float32; expected 2^-126 to 2^126")
    return best


def _check_form(name: str, q: QuantizedMatrix) -> Form:
    if q.axis != -1 or q.ndim not in (2, 3):
        raise Error(f"layer '{name}' is {q!r}; expected a matrix, or a stack of them, along axis -1; take its mT")
    if q.scheme == "fp8" and q.element not in NAMES:
        raise Error(
            f"layer '{name}' has elements {q.element}, for which safetensors have no type; expected one of "
            f"{', '.join(NAMES)}; quantize it again"
        )
    return Form(q.scheme, q.element, q.scaling, q.shape)


def _refused(layout: str, name: str, form: Form, has: str) -> Error:
    what = form.scheme if form.scaling == "tensor" else f"{form.scheme} scaled {form.scaling}"
    return Error(
        f"layer '{name}' is {what}, which layout {layout} does not have; expected {has}; quantize it again, or take another layout"
    )


def _packed_shape(form: Form) -> tuple[int, ...]:
    return (*form.shape[:-1], form.shape[-1] // 2)


def _modelopt(name: str, form: Form) -> list[Part]:
    weight, scale = f"{name}.weight", f"{name}.weight_scale"
    if form.scheme == "nvfp4":
        return [
            Part(weight, "U8", _packed_shape(form), "packed"),
            Part(scale, "F8_E4M3", form.scales, "scales"),
            Part(f"{name}.weight_scale_2", "F32", (), "global"),
        ]
    if form.scheme == "mxfp4":
        return [Part(weight, "U8", _packed_shape(form), "packed"), Part(scale, "U8", form.scales, "scales")]
    if form.scheme == "mxfp8":
        return [Part(weight, NAMES[form.element], form.shape, "codes"), Part(scale, "U8", form.scales, "scales")]
    if form.scheme == "fp8":
        role = "global" if form.scaling == "tensor" else "scales"
        return [Part(weight, NAMES[form.element], form.shape, "codes"), Part(scale, "F32", form.scales, role)]
    raise _refused("modelopt", name, form, "nvfp4, mxfp4, mxfp8 or fp8")


def _compressed_tensors(name: str, form: Form) -> list[Part]:
    if form.scheme not in ("nvfp4", "mxfp4", "mxfp8", "fp8"):
        raise _refused("compressed-tensors", name, form, "nvfp4, mxfp4, mxfp8 or fp8")
    first, *others = _modelopt(name, form)
    if form.element == "e2m1":
        first = first._replace(name=f"{name}.weight_packed")
    if form.scheme == "nvfp4":
        others[1] = Part(f"{name}.weight_global_scale", "F32", (1,), "divisor")
    elif form.scheme == "fp8" and form.scaling in ("tensor", "vector"):
        others[0] = others[0]._replace(shape=(*form.scales, 1))
    return [first, *others]


def _deepseek(name: str, form: Form) -> list[Part]:
    if form.scheme != "fp8" or form.scaling != "128x128":
        raise _refused("deepseek", name, form, "fp8 scaled 128x128")
    weight, scale = _modelopt(name, form)
    return [weight, scale._replace(name=f"{name}.weight_scale_inv")]


def _gpt_oss(name: str, form: Form) -> list[Part]:
    if form.scheme != "mxfp4":
        raise _refused("gpt-oss", name, form, "mxfp4")
    mark = "." if name.endswith("_weight") else "_"  # OpenAI's own names, and those of transformers
    return [
        Part(f"{name}{mark}blocks", "U8", (*form.scales, 16), "packed"),
        Part(f"{name}{mark}scales", "U8", form.scales, "scales"),
    ]


def _torchao(name: str, form: Form) -> list[Part]:
    prefix = f"{name}._weight_"
    weight, scale, *above = _modelopt(name, form)
    made = [weight._replace(name=f"{prefix}qdata"), scale._replace(name=f"{prefix}scale")]
    if form.scheme in ("mxfp4", "mxfp8"):
        made[1] = made[1]._replace(dtype="F8_E8M0")
    elif form.scheme == "fp8":
        made[1] = made[1]._replace(shape={"tensor": (1, 1), "vector": (*form.scales, 1)}.get(form.scaling, form.scales))
    return made + [part._replace(name=f"{prefix}per_tensor_scale") for part in above]


def _torchao_text(form: Form, activations: bool) -> str:
    """What the file's metadata says of a weight: the attributes that the classes of torchao 0.18 have."""

    def dtype(name: str) -> dict[str, str]:
        return {"_type": "torch.dtype", "_data": name}

    names = ["qdata", "scale"]
    about: dict[str, Any] = {"block_size": BLOCK_OF.get(form.scheme), "orig_dtype": dtype("bfloat16")}
    if form.scheme == "nvfp4":
        kind = "NVFP4Tensor"
        names = ["per_tensor_scale", *(["act_per_tensor_scale"] if activations else []), *names]
        about |= {"is_swizzled_scales": False, "use_triton_kernel": False, "act_quant_kwargs": None}
    elif form.scheme == "fp8":
        tile = {"tensor": list(form.shape), "vector": [1, form.shape[-1]], "1x128": [1, 128], "128x128": [128, 128]}
        kind, about = "Float8Tensor", {"block_size": tile[form.scaling], "dtype": dtype("bfloat16")}
    else:
        kind, element = "MXTensor", "float4_e2m1fn_x2" if form.element == "e2m1" else TORCH[form.element]
        about |= {
            "elem_dtype": dtype(element),
            "kernel_preference": {"_type": "KernelPreference", "_data": "EMULATED"},
            "act_quant_kwargs": None,
            "is_swizzled_scales": False,
        }
    return json.dumps({"_type": kind, "_data": about, "_tensor_data_names": names})


PARTS: dict[str, Callable[[str, Form], list[Part]]] = {
    "modelopt": _modelopt,
    "compressed-tensors": _compressed_tensors,
    "deepseek": _deepseek,
    "gpt-oss": _gpt_oss,
    "torchao": _torchao,
}


def _parts(layout: str, name: str, form: Form) -> list[Part]:
    """The tensors of a layer in a layout of .safetensors."""
    block = BLOCK_OF.get(form.scheme, 1)
    if form.shape[-1] % block:
        raise Error(
            f"layer '{name}' has vectors of {form.shape[-1]} elements; expected a multiple of {block} in {form.scheme}; append zeros "
            "before quantizing"
        )
    if len(form.shape) == 3 and form.scheme not in ("mxfp4", "mxfp8"):
        raise Error(
            f"layer '{name}' is a stack of shape {form.shape}; expected one matrix, or mxfp4 or mxfp8; convert its matrices one by one"
        )
    return PARTS[layout](name, form)


def _array_type(name: str, array: NDArray[Any]) -> str:
    dtype = TYPES.get(array.dtype.name)
    if dtype is None:
        raise Error(f"tensor '{name}' has dtype {array.dtype}; expected numbers or booleans")
    return dtype


def _raw(array: Any) -> Bytes:
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(np.uint8) if flat.size else np.empty(0, np.uint8)


class _File:
    """The tensors of one file: planned first, written one by one then."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, str, tuple[int, ...]]] = []
        self.metadata: dict[str, str] = {}
        self._torchao: list[str] = []
        self._plain: list[str] = []

    def plain(self, name: str, dtype: str, shape: tuple[int, ...], *, of_layer: bool = False) -> None:
        if not of_layer:
            self._plain.append(name)
        self.entries.append((name, dtype, shape))

    def layer(self, layout: str, name: str, form: Form, *, activations: bool = False) -> list[Part]:
        """activations: a scale of the layer's input is beside it, for torchao."""
        parts = _parts(layout, name, form)
        self.entries += [part[:3] for part in parts]
        if layout == "torchao":
            self._torchao.append(f"{name}.weight")
            self.metadata[f"{name}.weight"] = _torchao_text(form, activations)
        return parts

    def writer(self, path: str | os.PathLike[str]) -> _core.SafetensorsWriter:
        if self._torchao:
            self.metadata |= {name: json.dumps({"_type": "Tensor"}) for name in self._plain}
            self.metadata["tensor_names"] = json.dumps([*self._torchao, *self._plain])
        return _core.SafetensorsWriter(os.fspath(path), self.entries, self.metadata)


def write(
    path: str | os.PathLike[str],
    layers: Mapping[str, Any],
    *,
    layout: str = "modelopt",
    metadata: Mapping[str, str] | None = None,
) -> None:
    """A checkpoint of quantized matrices and of arrays as they are.

    layers: by name. A quantized matrix, N x K along axis -1, is written as `layout` has it, under names that begin with the
        layer's, which has no `.weight`; an array becomes a tensor of exactly this name.
    layout: a name of checkpoint.layouts(). metadata: texts of the file; not for GGUF.

    The file is written whole or not at all. Raises Error for what the layout does not have, and where it cannot be written.
    """
    target = file_path("path", path)
    instance("layers", layers, Mapping, "it has quantized matrices and arrays by name")
    one_of("layout", layout, tuple(LAYOUTS))
    texts = {} if metadata is None else metadata
    instance("metadata", texts, Mapping, "it has texts by name")
    about = {text("metadata", key): value for key, value in texts.items()}
    for key, value in about.items():
        if not isinstance(value, str) or not value.isprintable():
            raise Error(f"metadata '{key}' is {shown(value)}; expected text on one line")
    if layout == "gguf":
        if about:
            raise Error("metadata is for .safetensors; expected none for layout gguf")
        gguf.write(
            target,
            {text("name", n) + (".weight" if isinstance(q, QuantizedMatrix) else ""): q for n, q in layers.items()},
        )
        return
    file = _File()
    file.metadata = about
    work: list[tuple[str, Bytes | Part, Any]] = []
    for name, value in layers.items():
        if isinstance(value, QuantizedMatrix):
            work += [
                (part.name, part, value) for part in file.layer(layout, text("name", name), _check_form(name, value))
            ]
        else:
            array = any_array(value, f"tensor '{text('name', name)}'")
            file.plain(name, _array_type(name, array), array.shape)
            work.append((name, _raw(array), None))
    writer = file.writer(target)
    for name, part, q in work:
        writer.write(name, part.bytes_of(q) if isinstance(part, Part) else part)
    writer.commit()


def _format_text(q: QuantizedMatrix | IntegerMatrix) -> str:
    if isinstance(q, IntegerMatrix):
        return f"{q.element} group {q.block}"
    element = f" {q.element}" if q.scheme in ("fp8", "mxfp8") else ""
    return f"{q.scheme}{element}{'' if q.scaling == 'tensor' else f' {q.scaling}'}"


def _differing(x: NDArray[Any] | None, y: NDArray[Any] | None) -> int | None:
    if x is None or y is None or x.shape != y.shape or x.dtype != y.dtype:
        return 0 if x is None and y is None else None
    return int(np.count_nonzero(x != y))


def change(name: str, before: QuantizedMatrix | IntegerMatrix, after: QuantizedMatrix) -> Change:
    """What differs between two quantized matrices of one shape, the second made of the first, which may be an IntegerMatrix."""
    if not isinstance(before, IntegerMatrix):
        instance("before", before, QuantizedMatrix, "quantize() makes one")
    instance("after", after, QuantizedMatrix, "quantize() makes one")
    if before.shape != after.shape or before.axis != after.axis:
        raise Error(f"before is {before!r} and after {after!r}; expected one shape along one axis")
    same = before.element == after.element
    codes = _differing(before.codes, after.codes) if same else None
    blocks = before.block == after.block and before.scheme == after.scheme
    scales = _differing(before.scales, after.scales) if blocks else None
    sqnr, largest = math.inf, 0.0
    if (codes, scales) == (0, 0):  # all values are multiplied by one number
        ratio = after.tensor_scale / before.tensor_scale
        if ratio != 1:
            sqnr, largest = -20 * math.log10(abs(ratio - 1)), abs(ratio - 1) * float(np.abs(np.asarray(before)).max())
    else:
        x = before.dequantize() if isinstance(before, IntegerMatrix) else dequantize(before)
        y = dequantize(after)
        with np.errstate(invalid="ignore"):
            difference = np.abs(np.where(x == y, 0.0, y - x))
        noise, power = float(np.square(difference).sum()), float(np.square(x).sum())
        sqnr = math.inf if noise == 0 else 10 * math.log10(max(power, 1e-300) / noise)
        largest = float(difference.max())
    return Change(
        text("name", name),
        _format_text(before),
        _format_text(after),
        codes,
        scales,
        before.size,
        (before.tensor_scale, after.tensor_scale),
        sqnr,
        largest,
        (before.nbytes, after.nbytes),
    )


def _stored(q: QuantizedMatrix, layout: str) -> QuantizedMatrix:
    """What a reader of the layout will have: a divisor may not hold the last bit of a tensor scale."""
    if layout != "compressed-tensors" or q.scheme != "nvfp4":
        return q
    scale = float(np.float32(1) / divisor_of(q.tensor_scale))
    return q if scale == q.tensor_scale else QuantizedMatrix("nvfp4", "e2m1", q.codes, q.scales, scale)


class _Again(NamedTuple):
    """How layers are quantized again, if they are."""

    dialect: str | None
    format: str | None
    scaling: str

    @property
    def same(self) -> bool:
        return self.dialect is None and self.format is None

    def __call__(self, q: QuantizedMatrix | IntegerMatrix) -> QuantizedMatrix:
        if isinstance(q, IntegerMatrix):
            return self._quantized(np.asarray(q))
        return q if self.same else self._quantized(np.asarray(q))

    def _quantized(self, values: NDArray[np.float32]) -> QuantizedMatrix:
        if self.dialect is not None:
            return quantize(values, self.format, dialect=self.dialect)
        return quantize(values, self.format, scaling=self.scaling)

    def form(self, layer: Layer) -> Form:
        """What a layer will be."""
        if self.same:
            return Form(layer.scheme, layer.element, layer.scaling, layer.shape)
        q = self._quantized(np.ones((TILE, TILE), np.float32))
        return Form(q.scheme, q.element, q.scaling, layer.shape)


def _sides(layer: Layer, checkpoint: Checkpoint, layout: str) -> list[tuple[str, str, tuple[int, ...], Bytes]]:
    """The scales that a layer has for its inputs, under the names and the way round that the layout has."""
    made = []
    if "smooth" in layer.tensors:
        tensor = checkpoint.files[layer.tensors["smooth"]]
        made.append((tensor.name, tensor.dtype, tensor.shape, checkpoint.files.raw(tensor.name)))
    if "input" not in layer.tensors:
        return made
    tensor = checkpoint.files[layer.tensors["input"]]
    wanted = {
        "modelopt": ".input_scale",
        "compressed-tensors": ".input_global_scale",
        "torchao": "._weight_act_per_tensor_scale",
    }
    divisor = tensor.name.endswith("input_global_scale")
    if layer.scheme != "nvfp4" or layout == layer.layout or layout not in wanted:
        return [*made, (tensor.name, tensor.dtype, tensor.shape, checkpoint.files.raw(tensor.name))]
    values = np.asarray(checkpoint.files.array(tensor.name), np.float32).reshape(-1)
    if divisor != (layout == "compressed-tensors"):
        values = np.array([np.float32(1) / v if divisor else divisor_of(float(v)) for v in values], np.float32)
    shape: tuple[int, ...] = (values.size,) if layout == "compressed-tensors" or values.size > 1 else ()
    return [*made, (f"{layer.name}{wanted[layout]}", "F32", shape, _raw(values))]


def convert(
    checkpoint: Checkpoint,
    path: str | os.PathLike[str] | None,
    *,
    layout: str | None = None,
    dialect: str | None = None,
    format: str | None = None,
    scaling: str = "tensor",
    progress: Callable[[int, int], object] | None = None,
) -> list[Change]:
    """Writes a checkpoint's layers in a layout, quantized again or with the bits that they have, and says what changed.

    path: where to, of the same kind: a file for one file, a folder for an index and its shards. None: nothing is written.
    layout: a name of checkpoint.layouts(); None: that of each layer. The tensors that are not quantized stay as they are.
    dialect, format, scaling: as for `quantize`; with none of them codes and scales stay, and only the way round of a global
        scale may change its last bit. progress: called now and then with the layers done and all of them.

    Returns a Change a layer. Raises Error for layers that are refused, and for what the layout does not have. A file is
    written whole or not at all.
    """
    instance("checkpoint", checkpoint, Checkpoint, "open_checkpoint() makes one")
    if progress is not None and not callable(progress):
        raise Error(f"progress is {shown(progress)}; expected a function, or None")
    target = None if path is None else Path(file_path("path", path))
    if layout is not None:
        one_of("layout", layout, tuple(LAYOUTS))
    one_of("scaling", scaling, SCALINGS)
    if dialect is not None and dialect_fields(dialect)["front"] != "none":
        raise Error(
            f"dialect {shown(dialect)} rotates or shifts what it quantizes; expected front=none for weights that are stored"
        )
    if dialect is None and format is None and scaling != "tensor":
        raise Error(f"scaling is {shown(scaling)}, but nothing is quantized again; expected a format beside it")
    again = _Again(dialect, format, scaling)
    for layer in checkpoint.layers.values():
        if layer.problem is not None:
            raise Error(layer.problem)
        if layer.scheme == "affine" and (again.same or (target is not None and layout is None)):
            what = (
                "a format or dialect to quantize it again"
                if again.same
                else f"a layout to write, one of {', '.join(LAYOUTS)}"
            )
            raise Error(
                f"layer '{layer.name}' is of layout {layer.layout}, which is read and not written; expected {what}"
            )
    if not checkpoint.layers:
        raise Error(f"{shown(str(checkpoint.path))} has no quantized layer that is known; expected one")
    work = _Conversion(checkpoint, again, layout, progress)
    if target is None:
        return work.changes_only()
    if checkpoint._tensors is None:
        raise Error(
            f"{shown(str(checkpoint.path))} is a file of GGUF; expected .safetensors, to be written anew; narrowgauge.gguf writes GGUF"
        )
    if layout == "gguf":
        return work.to_gguf(target)
    return work.to_files(target)


class _Conversion:
    def __init__(
        self, checkpoint: Checkpoint, again: _Again, layout: str | None, progress: Callable[[int, int], object] | None
    ) -> None:
        self.checkpoint, self.again, self.layout, self.progress = checkpoint, again, layout, progress
        self.changes: list[Change] = []

    def _matrix(self, layer: Layer) -> QuantizedMatrix:
        """The layer's new matrix; what changed is noted."""
        before = layer.read()
        after = _stored(self.again(before), self.layout or layer.layout)
        self.changes.append(change(layer.name, before, after))
        if self.progress is not None:
            self.progress(len(self.changes), len(self.checkpoint))
        return after

    def changes_only(self) -> list[Change]:
        for layer in self.checkpoint.layers.values():
            self._matrix(layer)
        return self.changes

    def to_gguf(self, target: Path) -> list[Change]:
        made: dict[str, Any] = {}
        for name in self.checkpoint.others:
            array = self.checkpoint.files.array(name)
            if array.dtype not in (np.float16, np.float32):
                raise Error(
                    f"tensor '{name}' has dtype {array.dtype}; expected float32, float16 or bfloat16 in a file of GGUF"
                )
            made[name] = array
        for layer in self.checkpoint.layers.values():
            if "input" in layer.tensors or "smooth" in layer.tensors:
                raise Error(
                    f"layer '{layer.name}' has a scale of its input, which layout gguf has no place for; expected none"
                )
            made[f"{layer.name}.weight"] = self._matrix(layer)
        gguf.write(target, made)
        return self.changes

    def to_files(self, target: Path) -> list[Change]:
        files = self.checkpoint.files
        places = [target]
        if files.sharded:
            target.mkdir(parents=True, exist_ok=True)
            places = [target / path.name for path in files.paths]
        for place in places:
            if any(place.exists() and old.exists() and place.samefile(old) for old in files.paths):
                raise Error(f"{shown(str(place))} is the checkpoint that is read; expected another place")
        planned = [self._plan(number) for number in range(len(places))]
        for number, (place, (file, parts)) in enumerate(zip(places, planned, strict=True)):
            writer = file.writer(place)
            for name in self.checkpoint.others:
                if files[name].file == number:
                    writer.write(name, files.raw(name))
            for layer, (mine, sides) in parts.items():
                q = self._matrix(layer)
                for part in mine:
                    writer.write(part.name, part.bytes_of(q))
                for name, _, _, raw in sides:
                    writer.write(name, raw)
            writer.commit()
        if files.sharded:
            self._index(target, places, [file.entries for file, _ in planned])
        return self.changes

    def _plan(self, number: int) -> tuple[_File, dict[Layer, tuple[list[Part], Any]]]:
        """What goes into the file of this number: layers are where their codes were."""
        files, file = self.checkpoint.files, _File()
        file.metadata = {k: v for k, v in files.metadata.items() if k == "format"}
        for name, (dtype, shape) in self.checkpoint.others.items():
            if files[name].file == number:
                file.plain(name, dtype, shape)
        parts: dict[Layer, tuple[list[Part], Any]] = {}
        for layer in self.checkpoint.layers.values():
            if files[layer.tensors["codes"]].file == number:
                layout = self.layout or layer.layout
                sides = _sides(layer, self.checkpoint, layout)
                mine = file.layer(layout, layer.name, self.again.form(layer), activations="input" in layer.tensors)
                for name, dtype, shape, _ in sides:
                    file.plain(name, dtype, shape, of_layer=name.startswith(f"{layer.name}._weight_"))
                parts[layer] = (mine, sides)
        return file, parts

    def _index(self, target: Path, places: list[Path], shards: list[list[tuple[str, str, tuple[int, ...]]]]) -> None:
        weights = {name: place.name for place, parts in zip(places, shards, strict=True) for name, _, _ in parts}
        total = sum(place.stat().st_size for place in places)
        index = self.checkpoint.files.index
        name = index.name if index is not None else f"model{INDEX}"
        with written_whole(target / name, shown(str(target / name))) as file:
            made = {"metadata": {"total_size": total}, "weight_map": dict(sorted(weights.items()))}
            file.write((json.dumps(made, indent=2) + "\n").encode())
