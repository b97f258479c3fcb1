# SPDX-License-Identifier: Apache-2.0
"""What of a checkpoint is quantized, by the names, types and shapes of its tensors: docs/checkpoints.md has the table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from .._core import Error
from .integers import BITS, WORD
from .tensors import Tensor, Tensors

FP8 = {"F8_E4M3": "e4m3", "F8_E5M2": "e5m2", "F8_E4M3FNUZ": "e4m3fnuz", "F8_E5M2FNUZ": "e5m2fnuz"}
PACKED = ("U8", "F4")
FLOATS = ("F32", "BF16", "F16", "F64")
BLOCK_OF = {"nvfp4": 16, "mxfp4": 32, "mxfp8": 32}
TILE = 128
#: Endings of names that belong to quantized weights that are not read here.
FOREIGN = {
    ".absmax": "bitsandbytes",
    ".weight_shape": "integers as compressed-tensors pack them",
    ".SCB": "INT8 of bitsandbytes",
}
#: Endings of names of scales, which are nothing without their weights.
SCALES = (".weight_scale", ".weight_scale_2", ".weight_scale_inv", ".weight_global_scale")


class Layout(NamedTuple):
    """How a tool writes a quantized weight; {} stands for the layer's name."""

    tool: str
    tensors: str
    global_scale: str


LAYOUTS = {
    "modelopt": Layout(
        "NVIDIA Model Optimizer, and AMD Quark",
        "{}.weight, {}.weight_scale; NVFP4 also {}.weight_scale_2",
        "multiplier: weight_scale_2",
    ),
    "compressed-tensors": Layout(
        "compressed-tensors (llm-compressor, vLLM)",
        "{}.weight_packed, {}.weight_scale, {}.weight_global_scale; FP8 and MXFP8 {}.weight, {}.weight_scale",
        "divisor: weight_global_scale",
    ),
    "torchao": Layout(
        "torchao, by the file's metadata",
        "{}._weight_qdata, {}._weight_scale; NVFP4 also {}._weight_per_tensor_scale",
        "multiplier: per_tensor_scale",
    ),
    "deepseek": Layout("DeepSeek-V3 and R1", "{}.weight, {}.weight_scale_inv, one a tile of 128 x 128", "none"),
    "gpt-oss": Layout("gpt-oss", "{}_blocks, {}_scales, or {}.blocks, {}.scales", "none"),
    "gguf": Layout("llama.cpp, files of GGUF", "{}.weight, {}.scale", "multiplier: scale"),
}
#: Layouts that are read, and not written.
READ_ONLY = {
    "gptq": Layout("AutoGPTQ and GPTQModel", "{}.qweight, {}.qzeros, {}.scales, {}.g_idx", "none"),
    "awq": Layout("AutoAWQ, its version gemm", "{}.qweight, {}.qzeros, {}.scales", "none"),
}


def layouts() -> dict[str, dict[str, str]]:
    """The layouts that are read, by name: whose each is, its tensors, and what its global scale is. gptq and awq are not written."""
    return {name: layout._asdict() for name, layout in (LAYOUTS | READ_ONLY).items()}


@dataclass
class Found:
    """A quantized weight as its tensors describe it, before any of their bytes are looked at."""

    name: str
    layout: str
    scheme: str = ""
    element: str = ""
    scaling: str = "tensor"
    shape: tuple[int, ...] = ()
    #: Names of the tensors by what they are: codes, scales, global, input, smooth; of integers also zeros, order.
    parts: dict[str, str] = field(default_factory=dict)
    convention: str | None = None
    scale_layout: str = "rows"
    problem: str | None = None
    notes: list[str] = field(default_factory=list)
    #: Of integers: how many groups of inputs have a scale each.
    groups: int = 0


class _Refused(Exception):
    """What is wrong with one weight; the others are not touched by it."""


def _text(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) if shape else "one number"


def _part(tensors: Tensors, name: str, dtypes: tuple[str, ...], of: str) -> Tensor:
    tensor = tensors.get(name)
    if tensor is None:
        raise _Refused(f"tensor '{name}' is missing; expected it beside '{of}'")
    if tensor.dtype not in dtypes:
        raise _Refused(f"tensor '{name}' is of type {tensor.dtype}; expected {' or '.join(dtypes)}, as '{of}' needs")
    return tensor


def _codes_shape(tensor: Tensor) -> tuple[int, ...]:
    if len(tensor.shape) not in (2, 3) or 0 in tensor.shape:
        raise _Refused(f"tensor '{tensor.name}' has shape {_text(tensor.shape)}; expected a matrix, or a stack of them")
    return (*tensor.shape[:-1], tensor.shape[-1] * (2 if tensor.dtype == "U8" else 1))


def _tiles(count: int, size: int) -> int:
    return -(-count // size)


def _byte_scales(found: Found, tensor: Tensor, asked: str, *, swizzled: bool | None = None) -> None:
    """Whether the block scales are vectors x blocks or tiles of 128 x 4, by their shape, or as metadata or the caller say."""
    block = BLOCK_OF[found.scheme]
    *lead, vectors, length = found.shape
    if length % block:
        raise _Refused(f"'{found.parts['codes']}' has vectors of {length} elements; expected a multiple of {block}")
    blocks = length // block
    rows, padded = (*lead, vectors, blocks), (_tiles(vectors, 128) * 128, _tiles(blocks, 4) * 4)
    size = 1
    for extent in tensor.shape:
        size *= extent
    tiled = size == padded[0] * padded[1] * (lead[0] if lead else 1) and len(tensor.shape) <= len(found.shape)
    expected = f"{_text(rows)}, or {padded[0] * padded[1]} in tiles of 128 x 4"
    if asked == "128x4" or (asked == "auto" and swizzled):
        if not tiled:
            raise _Refused(f"tensor '{tensor.name}' has shape {_text(tensor.shape)}; expected {expected}")
        found.scale_layout = "128x4"
    elif tensor.shape == rows or (asked == "rows" and tensor.shape == (*lead, *padded)):
        found.scale_layout = "rows"
    elif tiled and len(tensor.shape) == 1 and asked == "auto" and swizzled is None:
        found.scale_layout = "128x4"  # nobody writes vectors x blocks in one dimension
        found.notes.append("scales in tiles of 128 x 4, since they have one dimension")
    elif tensor.shape == (*lead, *padded) and asked == "auto":
        raise _Refused(
            f"tensor '{tensor.name}' has shape {_text(tensor.shape)}, that of '{found.parts['codes']}' padded to 128 x 4, in rows or "
            "in tiles; expected to be told which, with scale_layout rows or 128x4"
        )
    else:
        raise _Refused(f"tensor '{tensor.name}' has shape {_text(tensor.shape)}; expected {expected}")


def _fp8_scaling(found: Found, tensor: Tensor) -> None:
    """Which elements share a scale, by the shape of the scales."""
    if len(found.shape) != 2:
        raise _Refused(f"tensor '{found.parts['codes']}' has shape {_text(found.shape)}; expected a matrix")
    vectors, length = found.shape
    tiles = _tiles(vectors, TILE), _tiles(length, TILE)
    shape = tensor.shape
    if len(shape) == 4 and shape[1] == shape[3] == 1:  # as Model Optimizer writes tiles
        shape = (shape[0], shape[2])
    if shape in ((), (1,)):
        found.scaling = "tensor"
    elif shape in ((vectors,), (vectors, 1)):
        found.scaling = "vector"
    elif shape == tiles:
        found.scaling = "128x128"
    elif shape == (vectors, tiles[1]):
        found.scaling = "1x128"
    else:
        raise _Refused(
            f"tensor '{tensor.name}' has shape {_text(tensor.shape)}; expected one number, {vectors}, {_text(tiles)}, or "
            f"{vectors} x {tiles[1]}, for '{found.parts['codes']}' of shape {_text(found.shape)}"
        )


def _nvfp4(tensors: Tensors, found: Found, base: str, asked: str) -> None:
    """With block scales of E4M3 and one scale above them, whose name says which way round it is."""
    names = {"multiplier": f"{base}weight_scale_2", "divisor": f"{base}weight_global_scale"}
    there = [convention for convention, name in names.items() if name in tensors]
    if len(there) == 2:
        raise _Refused(f"tensors '{names['multiplier']}' and '{names['divisor']}' are both there; expected one of them")
    if not there:
        likely = names["divisor" if found.parts["codes"].endswith("_packed") else "multiplier"]
        raise _Refused(f"tensor '{likely}' is missing; expected it beside '{found.parts['codes']}'")
    found.convention = there[0]
    found.parts["global"] = _part(tensors, names[there[0]], FLOATS, found.parts["codes"]).name
    found.scheme, found.element = "nvfp4", "e2m1"
    found.layout = "modelopt" if there[0] == "multiplier" else "compressed-tensors"
    _byte_scales(found, tensors[found.parts["scales"]], asked)


def _e8m0(tensors: Tensors, found: Found, scheme: str, element: str, asked: str) -> None:
    found.scheme, found.element = scheme, element
    _byte_scales(found, tensors[found.parts["scales"]], asked)


def _packed(tensors: Tensors, found: Found, base: str, asked: str) -> None:
    """Two codes of 4 bits a byte: the type of the block scales says which format."""
    codes = tensors[found.parts["codes"]]
    found.shape = _codes_shape(codes)
    scales = _part(tensors, f"{base}weight_scale", ("F8_E4M3", "U8", "F8_E8M0"), codes.name)
    found.parts["scales"] = scales.name
    above = any(f"{base}{name}" in tensors for name in ("weight_scale_2", "weight_global_scale"))
    if scales.dtype == "F8_E4M3" or (scales.dtype == "U8" and above):
        _nvfp4(tensors, found, base, asked)
    else:
        _e8m0(tensors, found, "mxfp4", "e2m1", asked)


def _bytes(tensors: Tensors, found: Found, base: str, asked: str) -> None:
    """A code of FP8 a byte."""
    codes = tensors[found.parts["codes"]]
    found.shape = _codes_shape(codes)
    names = [n for n in (f"{base}weight_scale_inv", f"{base}weight_scale") if n in tensors]
    if not names:
        raise _Refused(
            f"tensor '{base}weight_scale' is missing; expected it, or weight_scale_inv, beside '{codes.name}'"
        )
    if len(names) == 2:
        raise _Refused(f"tensors '{names[0]}' and '{names[1]}' are both there; expected one of them")
    scales = _part(tensors, names[0], (*FLOATS, "U8", "F8_E8M0"), codes.name)
    found.parts["scales"] = scales.name
    inverse = names[0].endswith("_inv")
    if scales.dtype in ("U8", "F8_E8M0") and scales.shape[-1:] == (_tiles(found.shape[-1], BLOCK_OF["mxfp8"]),):
        _e8m0(tensors, found, "mxfp8", FP8[codes.dtype], asked)
        return
    found.scheme, found.element = "fp8", FP8[codes.dtype]
    if scales.dtype == "U8":
        raise _Refused(
            f"tensor '{scales.name}' has type U8 and shape {_text(scales.shape)}; expected a scale for each 32 elements"
        )
    _fp8_scaling(found, scales)
    if inverse:
        found.layout = "deepseek"
        found.notes.append("weight_scale_inv is multiplied by, in spite of its name")
        if found.scaling not in ("128x128", "1x128"):
            raise _Refused(
                f"tensor '{scales.name}' has shape {_text(scales.shape)}; expected a scale for each 128 x 128 elements"
            )
    elif scales.shape == (1,) or len(scales.shape) == 2:
        found.layout = "compressed-tensors"


def _sides(tensors: Tensors, found: Found, base: str) -> None:
    """What a layer has for its input."""
    for name, part in (
        ("input_scale", "input"),
        ("input_global_scale", "input"),
        ("pre_quant_scale", "smooth"),
    ):
        if f"{base}{name}" in tensors:
            found.parts[part] = f"{base}{name}"


def _stacked(tensors: Tensors, found: Found, scales: str) -> None:
    """gpt-oss: blocks of 16 bytes, with a scale of E8M0 each."""
    codes = tensors[found.parts["codes"]]
    if len(codes.shape) not in (3, 4) or codes.shape[-1] != 16 or 0 in codes.shape:
        raise _Refused(
            f"tensor '{codes.name}' has shape {_text(codes.shape)}; expected blocks of 16 bytes in the last place"
        )
    found.shape = (*codes.shape[:-2], codes.shape[-2] * 32)
    tensor = _part(tensors, scales, ("U8", "F8_E8M0"), codes.name)
    found.scheme, found.element = "mxfp4", "e2m1"
    found.parts["scales"] = scales
    if tensor.shape != codes.shape[:-1]:
        raise _Refused(f"tensor '{scales}' has shape {_text(tensor.shape)}; expected {_text(codes.shape[:-1])}")


def _torchao_metadata(metadata: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        names = json.loads(metadata["tensor_names"])
        for name in names:
            about = json.loads(metadata[name])
            if isinstance(name, str) and isinstance(about, dict):
                yield name, about
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Error(
            f"metadata of torchao cannot be read ({type(error).__name__}); expected tensor_names, and a text of JSON for each; "
            "write the file anew"
        ) from None


def _torchao(tensors: Tensors, name: str, about: dict[str, Any], asked: str) -> Found | None:
    """A tensor of a class of torchao's, whose attributes are in the file's metadata."""
    kind, attributes = about.get("_type"), about.get("_data")
    if kind in ("Tensor", "Parameter"):
        return None
    module, _, attribute = name.rpartition(".")
    prefix = f"{module}._{attribute}_" if module else f"_{attribute}_"
    found = Found(name.removesuffix(".weight"), "torchao")
    given = about.get("_tensor_data_names")
    fields = [part for part in given if isinstance(part, str)] if isinstance(given, list) else []
    by_field = {part.lstrip("_"): f"{prefix}{part}" for part in fields}
    found.parts = {
        part: by_field[one]
        for part, one in (
            ("codes", "qdata"),
            ("scales", "scale"),
            ("scales", "scale_e4m3"),
            ("global", "per_tensor_scale"),
            ("input", "act_per_tensor_scale"),
        )
        if one in by_field
    }
    try:
        if kind not in ("NVFP4Tensor", "MXTensor", "Float8Tensor"):
            raise _Refused(
                f"'{name}' is a {kind} of torchao, which is not read here; expected NVFP4Tensor, MXTensor or Float8Tensor"
            )
        if not isinstance(attributes, dict) or not {"codes", "scales"} <= set(found.parts):
            raise _Refused(f"'{name}' has no qdata and scale in the file's metadata; expected both")
        named = {key.lstrip("_"): value for key, value in attributes.items()}
        codes = _part(tensors, found.parts["codes"], (*PACKED, *FP8), name)
        scale_types = {"NVFP4Tensor": ("F8_E4M3", "U8"), "MXTensor": ("F8_E8M0", "U8"), "Float8Tensor": FLOATS}[kind]
        scales = _part(tensors, found.parts["scales"], scale_types, codes.name)
        found.shape = _codes_shape(codes)
        swizzle = named.get("swizzle_type")
        swizzled = named.get("is_swizzled_scales") is True or (
            isinstance(swizzle, dict) and swizzle.get("_type") == "Swizzle_32_4_4"
        )
        if kind == "Float8Tensor":
            if codes.dtype not in FP8:
                raise _Refused(f"tensor '{codes.name}' is of type {codes.dtype}; expected a type of FP8")
            found.scheme, found.element = "fp8", FP8[codes.dtype]
            if scales.shape == (1, 1):
                found.scaling = "tensor"
            else:
                _fp8_scaling(found, scales)
            return found
        block = named.get("block_size")
        if kind == "NVFP4Tensor":
            found.scheme, found.element = "nvfp4", "e2m1"
            found.convention = "multiplier"
            if "global" in found.parts:
                _part(tensors, found.parts["global"], FLOATS, codes.name)
            else:
                found.notes.append("no per_tensor_scale, which is taken as 1")
        elif codes.dtype in FP8:
            found.scheme, found.element = "mxfp8", FP8[codes.dtype]
        else:
            found.scheme, found.element = "mxfp4", "e2m1"
        if block != BLOCK_OF[found.scheme]:
            raise _Refused(f"'{name}' has block_size {block!r}; expected {BLOCK_OF[found.scheme]} for {found.scheme}")
        _byte_scales(found, scales, asked, swizzled=swizzled)
    except _Refused as refused:
        found.problem = str(refused)
    return found


def _words(tensors: Tensors, name: str, of: str) -> Tensor:
    tensor = _part(tensors, name, ("I32",), of)
    if len(tensor.shape) != 2 or 0 in tensor.shape:
        raise _Refused(f"tensor '{name}' has shape {_text(tensor.shape)}; expected a matrix of words")
    return tensor


def _integers(tensors: Tensors, found: Found, base: str) -> None:
    """GPTQ packs codes along K, AWQ along N: the shapes tell them apart, and how many bits a code has."""
    codes = _words(tensors, found.parts["codes"], found.parts["codes"])
    scales = _part(tensors, f"{base}scales", FLOATS, codes.name)
    zeros = _words(tensors, f"{base}qzeros", codes.name)
    found.parts |= {"scales": scales.name, "zeros": zeros.name}
    if len(scales.shape) != 2 or 0 in scales.shape:
        raise _Refused(f"tensor '{scales.name}' has shape {_text(scales.shape)}; expected groups x outputs")
    found.groups, outputs = scales.shape
    if codes.shape[1] != outputs:
        found.layout, bits, inputs = "awq", 4, codes.shape[0]
        if codes.shape[1] * WORD != outputs * bits:
            raise _Refused(
                f"tensor '{codes.name}' has shape {_text(codes.shape)}; expected inputs x {outputs // 8} words of AWQ's version gemm, or "
                f"words x {outputs} of GPTQ, for {outputs} outputs of '{scales.name}'"
            )
        expected = (found.groups, codes.shape[1])
    else:
        bits, rest = divmod(zeros.shape[1] * WORD, outputs)
        if rest or bits not in BITS:
            what = "3 bits, which are not read here" if bits == 3 and not rest else f"{zeros.shape[1]} words a group"
            raise _Refused(f"tensor '{zeros.name}' has {what}; expected 2, 4 or 8 bits for each of {outputs} outputs")
        inputs, expected = codes.shape[0] * WORD // bits, (found.groups, outputs * bits // WORD)
    if zeros.shape != expected:
        raise _Refused(f"tensor '{zeros.name}' has shape {_text(zeros.shape)}; expected {_text(expected)}")
    order = tensors.get(f"{base}g_idx")
    if order is not None and found.layout == "gptq":
        found.parts["order"] = order.name
        if order.dtype not in ("I32", "I64") or order.shape != (inputs,):
            raise _Refused(
                f"tensor '{order.name}' is of type {order.dtype} and shape {_text(order.shape)}; expected I32 of {inputs} inputs"
            )
    elif inputs % found.groups:
        raise _Refused(
            f"tensor '{scales.name}' has {found.groups} groups for {inputs} inputs; expected a divisor of them, or '{base}g_idx'"
        )
    if found.groups > inputs:
        raise _Refused(f"tensor '{scales.name}' has {found.groups} groups for {inputs} inputs; expected fewer")
    found.shape, found.scheme, found.element, found.scaling = (outputs, inputs), "affine", f"uint{bits}", "group"


def _candidates(tensors: Tensors) -> Iterator[tuple[Found, str]]:
    """Weights by the endings of their names, with what the names of their other tensors begin with."""
    for name in tensors:
        dtype = tensors[name].dtype
        if name.endswith(".weight_packed") or name == "weight_packed":
            base = name.removesuffix("weight_packed")
            found = Found(base[:-1], "compressed-tensors", parts={"codes": name})
            if dtype not in PACKED:
                found.problem = f"tensor '{name}' is of type {dtype}, integers as compressed-tensors pack them, which are not read here"
            yield found, base
        elif (name.endswith(".weight") or name == "weight") and dtype in (*FP8, *PACKED):
            base = name.removesuffix("weight")
            yield Found(base[:-1], "modelopt", parts={"codes": name}), base
        elif name.endswith(".qweight") or name == "qweight":
            base = name.removesuffix("qweight")
            yield Found(base[:-1], "gptq", parts={"codes": name}), base
        else:
            for ending, other in (("_blocks", "_scales"), (".blocks", ".scales")):
                stem = name.removesuffix(ending)
                if (
                    name.endswith(ending)
                    and dtype == "U8"
                    and (f"{stem}{other}" in tensors or len(tensors[name].shape) == 4)
                ):
                    yield Found(stem, "gpt-oss", parts={"codes": name}), f"{stem}{other}"


def find(tensors: Tensors, scale_layout: str) -> dict[str, Found]:
    """Every quantized weight by the name of its layer; what is wrong with one is in its `problem`."""
    made: dict[str, Found] = {}
    if "tensor_names" in tensors.metadata:
        for name, about in _torchao_metadata(tensors.metadata):
            one = _torchao(tensors, name, about, scale_layout)
            if one is not None:
                made[one.name] = one
    used = {part for found in made.values() for part in found.parts.values()}
    for found, base in _candidates(tensors):
        codes = found.parts["codes"]
        if codes in used:
            continue
        used.add(codes)
        if found.problem is None:
            try:
                if found.layout == "gpt-oss":
                    _stacked(tensors, found, base)
                elif codes.endswith("qweight"):
                    _integers(tensors, found, base)
                elif tensors[codes].dtype in FP8:
                    _bytes(tensors, found, base, scale_layout)
                else:
                    _packed(tensors, found, base, scale_layout)
                if found.layout not in ("gpt-oss", *READ_ONLY):
                    _sides(tensors, found, base)
            except _Refused as refused:
                found.problem = str(refused)
        used.update(found.parts.values())
        if found.name in made:
            found.problem = f"layer '{found.name}' is quantized twice, in '{codes}' and '{made[found.name].parts['codes']}'; expected once"
        made[found.name] = found
    for name in tensors:
        if name in used:
            continue
        ending = next((one for one in SCALES if name.endswith(one)), None)
        if ending is not None and name.removesuffix(ending) not in made:
            stem = name.removesuffix(ending)
            made[stem] = Found(
                stem, "", problem=f"tensor '{name}' has no weight; expected '{stem}.weight' beside it, of FP8 or packed"
            )
        foreign = next((one for one in FOREIGN if name.endswith(one)), None)
        if foreign is not None and name.removesuffix(foreign) not in made:
            stem = name.removesuffix(foreign)
            made[stem] = Found(stem, "", problem=f"tensor '{name}' is of {FOREIGN[foreign]}, which is not read here")
    return made
