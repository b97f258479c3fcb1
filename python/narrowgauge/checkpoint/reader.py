# SPDX-License-Identifier: Apache-2.0
"""Layers of a checkpoint as quantized matrices, with every scale checked; and a layer's product on any engine."""

from __future__ import annotations

import difflib
import json
import math
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import gguf
from .._arguments import integer, one_of, shown, text
from .._arguments import path as file_path
from .._arrays import ArrayLike, float32_array, unpack_nibbles
from .._core import EngineResult, Error, decode
from .._engine import Engine
from .._formats import unswizzle_scales
from .._quantized import QuantizedMatrix, quantize
from . import recognize
from .integers import ZERO_POINTS, IntegerMatrix, awq_fields, fields, zero_points
from .recognize import BLOCK_OF, Found
from .tensors import Tensor, Tensors

CONVENTIONS = ("names", "multiplier", "divisor")
NIBBLES = ("low_first", "high_first")
SCALE_LAYOUTS = ("auto", "rows", "128x4")
ZERO_SCALES = ("refuse", "keep")
#: Files beside a checkpoint of gptq that may say which version it is, the first that says it.
CONFIGURATIONS = ("quantize_config.json", "config.json")
MOST_CONFIGURATION = 2**24  # bytes
ACTIVATIONS = ("file", "measured")
#: A multiplier above this would make the largest magnitude of a tensor 2688 or more.
LARGE_MULTIPLIER = 1.0


class LayerProduct(NamedTuple):
    """What a layer made of an input.

    y: float32, rows of x by rows of the weight. run: what it took. x: the input as it was multiplied. sqnr_db: of y against the
    product in float64 of the input as given and the weight's values.
    """

    y: NDArray[np.float32]
    run: EngineResult
    x: QuantizedMatrix
    sqnr_db: float


def _place(at: NDArray[Any]) -> str:
    return str([int(i) for i in np.argwhere(at)[0]])


def _check_block_scales(
    scales: NDArray[np.uint8], codes: NDArray[np.uint8], scheme: str, name: str, zero_scales: str
) -> None:
    """Of a byte each. Scales that are NaN or negative are refused, and zeros above codes that are not."""
    if scheme != "nvfp4":
        bad = scales == 0xFF
        if bad.any():
            raise Error(
                f"tensor '{name}' has NaN (0xFF) at {_place(bad)}; expected scales of E8M0 that are numbers; quantize anew"
            )
        return
    bad = (scales & 0x7F) == 0x7F
    if bad.any():
        raise Error(
            f"tensor '{name}' has NaN (0x{scales[bad][0]:02X}) at {_place(bad)}; expected scales of E4M3 that are numbers; quantize anew"
        )
    bad = scales > 0x7F
    if bad.any():
        raise Error(
            f"tensor '{name}' has a negative scale (0x{scales[bad][0]:02X}) at {_place(bad)}; expected scales of 0 and above"
        )
    zero = scales == 0
    if zero_scales == "refuse" and zero.any():
        block = BLOCK_OF[scheme]
        lost = zero & ((codes & 7) != 0).reshape(*scales.shape, block).any(axis=-1)
        if lost.any():
            raise Error(
                f"tensor '{name}' has scale 0 at {_place(lost)}, and codes of that block are not 0; expected a positive scale; "
                "zero_scales='keep' reads it as zeros"
            )


def _check_numbers(values: NDArray[Any], name: str) -> NDArray[np.float32]:
    """Scales that are numbers, as float32. Refused are those that are not positive and finite there."""
    with np.errstate(over="ignore", under="ignore"):
        narrow = np.asarray(values, np.float32)
    bad = ~((narrow > 0) & np.isfinite(narrow))
    if bad.any():
        where = f" at {_place(bad)}" if narrow.ndim else ""
        value = np.asarray(values)[bad].flat[0]
        raise Error(f"tensor '{name}' has {value:g}{where}; expected positive finite float32 numbers; quantize anew")
    return narrow


class Layer:
    """A quantized weight of a checkpoint: N x K along K, or a stack of such; nothing of it is read until it is asked for."""

    __slots__ = ("_found", "_owner")

    def __init__(self, owner: Checkpoint, found: Found) -> None:
        self._owner = owner
        self._found = found

    @property
    def name(self) -> str:
        """The layer's, without `.weight`."""
        return self._found.name

    @property
    def layout(self) -> str:
        """A name of checkpoint.layouts()."""
        return self._found.layout

    @property
    def scheme(self) -> str:
        """Of the quantized matrix: 'nvfp4', 'mxfp4', 'mxfp8' or 'fp8'; 'affine' for integers with scales and zero points."""
        return self._found.scheme

    @property
    def element(self) -> str:
        return self._found.element

    @property
    def scaling(self) -> str:
        """Of fp8, which elements share a scale: 'tensor', 'vector', '1x128' or '128x128'. Of integers 'group'."""
        return self._found.scaling

    @property
    def shape(self) -> tuple[int, ...]:
        """Outputs x inputs; of a stack, matrices x outputs x inputs."""
        return self._found.shape

    @property
    def tensors(self) -> Mapping[str, str]:
        """Names of its tensors by what they are: codes, scales, global, input (scale), smooth (what inputs are multiplied by),
        and of integers zeros and order (the group of each input)."""
        return MappingProxyType(self._found.parts)

    @property
    def convention(self) -> str | None:
        """What its global scale was taken for: 'multiplier' or 'divisor'; None: there is none."""
        if self._found.convention is None or self._owner.global_scale == "names":
            return self._found.convention
        return self._owner.global_scale

    @property
    def scale_layout(self) -> str:
        """Of the block scales: 'rows', or '128x4', the tiles that cuBLAS reads."""
        return self._found.scale_layout

    @property
    def problem(self) -> str | None:
        """Why its tensors are refused, without a look at their bytes; None: they fit each other."""
        return self._found.problem

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self._found.notes)

    @property
    def nbytes(self) -> int:
        """Of codes and scales in the file."""
        return self._owner._bytes(self._found)

    def global_scale(self, index: int | None = None) -> float | None:
        """The multiplier that values have in common, whichever way round the file has it; None: there is none.

        index: of a stack with a scale each. Raises Error for one that is not positive and finite.
        """
        return self._owner._global(self._found, "global", self.convention, index)

    def read(self, index: int | None = None) -> QuantizedMatrix | IntegerMatrix:
        """The weight, along axis -1; its `mT` is the right operand of a product. Of scheme 'affine' an IntegerMatrix.

        index: of a stack, the matrix of this number; a stack of mxfp4 or mxfp8 is read whole without it.
        Raises Error, which names the tensor, where one is missing, does not fit, or has scales that are wrong.
        """
        return self._owner._read(self, index)

    def multiply(
        self,
        x: ArrayLike,
        *,
        engine: Engine | None = None,
        index: int | None = None,
        activations: str = "file",
    ) -> LayerProduct:
        """x times the transposed weight, as the layer does it, both in the weight's format.

        x: rows x K. engine: one of narrowgauge.Engine, None the golden model. index: as for `read`.
        activations: 'file': under the input scale of the file, if it has one; 'measured': under the largest magnitude of x.

        Raises Error as `read` does, and for what the engine cannot take.
        """
        one_of("activations", activations, ACTIVATIONS)
        if engine is not None and not isinstance(engine, Engine):
            raise Error(f"engine is of type {type(engine).__name__}; expected Engine, or None for the golden model")
        given = float32_array(x, "x")
        if given.ndim != 2 or given.size == 0 or given.shape[1] != (self.shape[-1] if self.shape else 0):
            raise Error(
                f"x has shape {given.shape}; expected rows of {self.shape[-1:]} numbers, as '{self.name}' takes them"
            )
        weight = self.read(index)
        if isinstance(weight, IntegerMatrix):
            raise Error(
                f"layer '{self.name}' is {weight.element} with a scale a group, which no engine multiplies; expected another format; "
                "convert the checkpoint with a format or dialect, or quantize the values of read()"
            )
        if weight.ndim != 2:
            raise Error(f"layer '{self.name}' is a stack of shape {self.shape}; expected index, which of its matrices")
        values = given
        if "smooth" in self.tensors:
            smooth = _check_numbers(self._owner.files.array(self.tensors["smooth"]), self.tensors["smooth"]).reshape(-1)
            if smooth.shape != (given.shape[1],):
                raise Error(f"tensor '{self.tensors['smooth']}' has {smooth.size} numbers; expected {given.shape[1]}")
            values = given * smooth
        narrow = self._input(values, activations)
        run = (engine or Engine()).gemm(narrow, weight.mT)
        exact = values.astype(np.float64) @ np.asarray(weight, np.float64).T
        noise = float(np.square(exact - run.c).sum())
        power = float(np.square(exact).sum())
        sqnr = math.inf if noise == 0 else 10 * math.log10(max(power, 1e-300) / noise)
        return LayerProduct(run.c, run, narrow, sqnr)

    def _input(self, x: NDArray[np.float32], activations: str) -> QuantizedMatrix:
        if self.scheme in ("mxfp4", "mxfp8"):
            return quantize(x, self.scheme if self.scheme == "mxfp4" else f"mxfp8_{self.element}")
        way = "divisor" if self.tensors.get("input", "").endswith("input_global_scale") else "multiplier"
        scale = self._owner._global(self._found, "input", way, None) if activations == "file" else None
        if self.scheme == "nvfp4":
            return quantize(x, "nvfp4", tensor_scale=scale)
        scaling = {"128x128": "1x128"}.get(self.scaling, self.scaling)
        return quantize(x, f"fp8_{self.element}", scaling=scaling, tensor_scale=scale if scaling == "tensor" else None)

    def summary(self) -> dict[str, Any]:
        """All of the above as JSON has it, without a look at codes and block scales."""
        made: dict[str, Any] = {
            "name": self.name,
            "layout": self.layout or None,
            "scheme": self.scheme or None,
            "element": self.element or None,
            "scaling": self.scaling if self.scheme in ("fp8", "affine") else None,
            "groups": self._found.groups if self.scheme == "affine" else None,
            "shape": list(self.shape),
            "tensors": dict(self.tensors),
            "convention": self.convention,
            "global_scale": None,
            "scale_layout": self.scale_layout if self.scheme in BLOCK_OF else None,
            "bytes": self.nbytes,
            "notes": list(self.notes),
            "problem": self.problem,
        }
        if self.problem is None and "global" in self.tensors:
            try:
                made["global_scale"] = self._owner._globals(self._found, "global", self.convention).tolist()
                if max(made["global_scale"]) > LARGE_MULTIPLIER and self._found.layout != "gguf":
                    other = "divisor" if self.convention == "multiplier" else "multiplier"
                    made["notes"].append(
                        f"a global scale above 1 is unusual; global_scale='{other}' takes it the other way round"
                    )
            except Error as error:
                made["problem"] = str(error)
        return made

    def __repr__(self) -> str:
        what = self.problem or f"{self.scheme} {self.element}, shape {self.shape}, {self.layout}"
        return f"<Layer {self.name}: {what}>"


class Checkpoint:
    """A file, a folder, or the shards of an index: what is quantized in it, and how. `open_checkpoint` makes one.

    Files are mapped to memory, not read; they must not change while this object lives.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        global_scale: str = "names",
        nibbles: str = "low_first",
        scale_layout: str = "auto",
        zero_scales: str = "refuse",
        zero_points: str = "auto",
    ) -> None:
        self.global_scale = one_of("global_scale", global_scale, CONVENTIONS)
        self.nibbles = one_of("nibbles", nibbles, NIBBLES)
        self.zero_scales = one_of("zero_scales", zero_scales, ZERO_SCALES)
        self.scale_layout = one_of("scale_layout", scale_layout, SCALE_LAYOUTS)
        self.zero_points = one_of("zero_points", zero_points, ZERO_POINTS)
        self.path = Path(file_path("path", path))
        self._tensors: Tensors | None = None
        self.others: dict[str, tuple[str, tuple[int, ...]]] = {}
        if _is_gguf(self.path):
            found = self._find_gguf()
        else:
            self._tensors = Tensors(self.path)
            found = recognize.find(self._tensors, self.scale_layout)
            used = {part for one in found.values() for part in one.parts.values()}
            self.others = {
                name: (self._tensors[name].dtype, self._tensors[name].shape)
                for name in self._tensors
                if name not in used
            }
        self._layers = {name: Layer(self, one) for name, one in sorted(found.items())}

    def __reduce__(self) -> tuple[Any, ...]:
        options = ("global_scale", "nibbles", "scale_layout", "zero_scales", "zero_points")
        return partial(Checkpoint, **{name: getattr(self, name) for name in options}), (self.path,)

    @property
    def layers(self) -> Mapping[str, Layer]:
        """The quantized weights by name."""
        return MappingProxyType(self._layers)

    @property
    def files(self) -> Tensors:
        """All tensors, of files other than GGUF."""
        if self._tensors is None:
            raise Error(
                f"{shown(str(self.path))} is a file of GGUF; expected .safetensors; narrowgauge.gguf has its tensors"
            )
        return self._tensors

    def __getitem__(self, name: str) -> Layer:
        """The layer of this name, or of this tensor. Raises Error, with names that are like it."""
        text("name", name)
        if name in self._layers:
            return self._layers[name]
        for layer in self._layers.values():
            if name in layer.tensors.values():
                return layer
        if name in self.others:
            dtype, shape = self.others[name]
            raise Error(f"tensor '{name}' is not quantized: {dtype} of shape {shape}; expected one of `layers`")
        close = difflib.get_close_matches(name, self._layers, 3, 0.6) or list(self._layers)[:8]
        expected = (
            f"expected one of {', '.join(close)}" if close else "nothing in it is quantized in a way that is known"
        )
        raise Error(f"{shown(str(self.path))} has no layer '{name}'; {expected}; `layers` has all {len(self._layers)}")

    def __len__(self) -> int:
        return len(self._layers)

    def __repr__(self) -> str:
        return f"<Checkpoint {self.path}: {len(self._layers)} quantized layers, {len(self.others)} other tensors>"

    # ---- what layers ask for

    def _find_gguf(self) -> dict[str, Found]:
        made = {}
        for name, (kind, shape) in gguf.tensors(self.path).items():
            if kind != "NVFP4":
                self.others[name] = (kind, shape)
                continue
            stem = name.removesuffix(".weight")
            made[stem] = Found(stem, "gguf", "nvfp4", "e2m1", "tensor", shape, {"codes": name})
        for stem, found in made.items():
            if f"{stem}.scale" in self.others:
                del self.others[f"{stem}.scale"]
                found.parts["global"], found.convention = f"{stem}.scale", "multiplier"
        return made

    def _bytes(self, found: Found) -> int:
        if found.layout == "gguf":
            return math.prod(found.shape) // gguf.SUPERBLOCK * gguf.SUPERBLOCK_BYTES
        parts = [
            self.files[found.parts[p]]
            for p in ("codes", "scales", "global", "zeros", "order")
            if found.parts.get(p, "") in self.files
        ]
        return sum(part.nbytes for part in parts)

    def _globals(self, found: Found, part: str, convention: str | None) -> NDArray[np.float32]:
        """Scales of the whole tensor, as multipliers."""
        name = found.parts[part]
        if found.layout == "gguf":
            values = gguf.numbers(self.path, name)
        else:
            values = self.files.array(name)
        numbers = _check_numbers(values, name).reshape(-1)
        if convention == "divisor":
            with np.errstate(over="ignore", under="ignore"):
                numbers = _check_numbers(np.float32(1) / numbers, f"{name}, whose reciprocal")
        return numbers

    def _global(self, found: Found, part: str, convention: str | None, index: int | None) -> float | None:
        if part not in found.parts:
            return None
        numbers = self._globals(found, part, convention)
        if index is not None and numbers.size > 1:
            return float(numbers[integer("index", index, 0, numbers.size - 1)])
        if numbers.size != 1:
            raise Error(
                f"tensor '{found.parts[part]}' has {numbers.size} numbers; expected one"
                + (", or index, which of the stack's matrices" if len(found.shape) > 2 else "")
            )
        return float(numbers[0])

    def _codes(self, found: Found, index: int | None) -> NDArray[np.uint8]:
        """A code a byte, in the shape of the weight."""
        name = found.parts["codes"]
        raw = self.files.raw(name)
        if index is not None:
            raw = raw.reshape(found.shape[0], -1)[index]
        shape = found.shape if index is None else found.shape[1:]
        if found.element != "e2m1":
            return raw.reshape(shape)
        if self.nibbles == "high_first":
            raw = raw << np.uint8(4) | raw >> np.uint8(4)
        return unpack_nibbles(raw.reshape(*shape[:-1], -1))

    def _scale_codes(self, found: Found, index: int | None) -> NDArray[np.uint8]:
        """Of blocks, a byte each, vectors x blocks."""
        raw = self.files.raw(found.parts["scales"])
        *lead, vectors, length = found.shape
        blocks = length // BLOCK_OF[found.scheme]
        if found.scale_layout == "128x4":
            made = unswizzle_scales(raw.reshape(*lead, -1), vectors, blocks)
        else:
            shape = self.files[found.parts["scales"]].shape
            made = (
                raw.reshape(shape)[..., :vectors, :blocks]
                if len(shape) == len(found.shape)
                else raw.reshape(found.shape[:-1] + (-1,))
            )
        return made if index is None else made[index]

    def _read(self, layer: Layer, index: int | None) -> QuantizedMatrix | IntegerMatrix:
        found = layer._found
        if found.problem is not None:
            raise Error(found.problem)
        if index is not None:
            if len(found.shape) < 3:
                raise Error(f"index is {shown(index)} of layer '{found.name}', which is one matrix; expected None")
            index = integer("index", index, 0, found.shape[0] - 1)
        if found.layout == "gguf":
            return gguf.read(self.path, found.parts["codes"], index=index)
        if found.scheme == "affine":
            return self._read_integers(found)
        codes = self._codes(found, index)
        if found.scheme == "fp8":
            return self._read_fp8(found, codes)
        scales = self._scale_codes(found, index)
        _check_block_scales(scales, codes, found.scheme, found.parts["scales"], self.zero_scales)
        above = layer.global_scale(index)
        if found.scheme != "nvfp4":
            above = None
        elif above is None:
            above = 1.0
        return QuantizedMatrix(found.scheme, found.element, codes, scales, above)

    def _read_integers(self, found: Found) -> IntegerMatrix:
        array, parts, bits = self.files.array, found.parts, int(found.element.removeprefix("uint"))
        scales = _check_numbers(array(parts["scales"]), parts["scales"])
        if found.layout == "awq":
            codes, zeros = awq_fields(array(parts["codes"])), awq_fields(array(parts["zeros"])).astype(np.int16)
        else:
            codes, stored = fields(array(parts["codes"]), bits, 0), fields(array(parts["zeros"]), bits, 1)
            rule, version = self.zero_points, self._version() if self.zero_points == "auto" else ""
            zeros = zero_points(stored, bits, rule, version, parts["zeros"])
        order = None
        if "order" in parts:
            order = array(parts["order"])
            bad = (order < 0) | (order >= found.groups)
            if bad.any():
                raise Error(
                    f"tensor '{parts['order']}' has {int(order[bad][0])} at {_place(bad)}; expected groups 0 to {found.groups - 1}"
                )
        return IntegerMatrix(bits, codes.T, scales.T, zeros.T, order)

    def _version(self) -> str:
        """'gptq' or 'gptq_v2', by the configuration beside the file; 'gptq' where it says nothing."""
        folder = self.path if self.path.is_dir() else self.path.parent
        for name in CONFIGURATIONS:
            place = folder / name
            try:
                if place.stat().st_size > MOST_CONFIGURATION:
                    raise ValueError("it is too large")
                table = json.loads(place.read_bytes())
                table = table["quantization_config"] if name == "config.json" and isinstance(table, dict) else table
                version = table.get("checkpoint_format", "gptq")
            except (FileNotFoundError, KeyError):
                continue
            except (OSError, ValueError, RecursionError, AttributeError) as error:
                raise Error(
                    f"cannot read {name} beside {shown(str(self.path))} ({type(error).__name__}); expected JSON that may have a "
                    "checkpoint_format; or give zero_points"
                ) from None
            if version in ("gptq", "gptq_v2"):
                return str(version)
            raise Error(
                f"{name} beside {shown(str(self.path))} has checkpoint_format {shown(version)}; expected gptq or gptq_v2; or give zero_points"
            )
        return "gptq"

    def _read_fp8(self, found: Found, codes: NDArray[np.uint8]) -> QuantizedMatrix:
        name = found.parts["scales"]
        tensor = self.files[name]
        given = decode(self.files.raw(name), "e8m0") if tensor.dtype == "F8_E8M0" else self.files.array(name)
        scales = _check_numbers(given.reshape(tensor.shape), name)
        if found.scaling == "tensor":
            return QuantizedMatrix("fp8", found.element, codes, tensor_scale=float(scales.reshape(-1)[0]))
        vectors, length = found.shape
        columns = -(-length // recognize.TILE)
        shape = {"vector": (vectors,), "1x128": (vectors, columns)}.get(
            found.scaling, (-(-vectors // recognize.TILE), columns)
        )
        return QuantizedMatrix("fp8", found.element, codes, scales.reshape(shape), scaling=found.scaling)


def _is_gguf(path: Path) -> bool:
    if path.is_dir():
        return False
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False  # the reader of the other format says what is wrong


def open_checkpoint(
    path: str | os.PathLike[str],
    *,
    global_scale: str = "names",
    nibbles: str = "low_first",
    scale_layout: str = "auto",
    zero_scales: str = "refuse",
    zero_points: str = "auto",
) -> Checkpoint:
    """What a checkpoint has quantized, and how (docs/checkpoints.md).

    >>> checkpoint = ng.open_checkpoint("model.safetensors")
    >>> checkpoint.layers
    >>> w = checkpoint["model.layers.0.mlp.down_proj"].read()
    >>> ng.quantize(x) @ w.mT

    path: a .safetensors file, an index of shards, a folder with either, or a file of GGUF (which needs the package gguf).
    global_scale: 'names': a tensor's name says whether it is multiplied or divided by; 'multiplier', 'divisor': for all.
    nibbles: which code of a byte comes first, 'low_first' as all tools have it, or 'high_first'.
    scale_layout: of block scales: 'auto' by shape and metadata, 'rows' (vectors x blocks), '128x4' (as cuBLAS reads them).
    zero_scales: a block scale of 0 above codes that are not: 'refuse', or 'keep', zeros.
    zero_points: of gptq, what its fields hold: 'auto' by checkpoint_format in quantize_config.json or config.json beside the file,
        'as_stored' (gptq_v2), 'plus_one' or 'wrapped' (gptq: one less; the largest field is 2^bits, or 0).

    Raises Error for files that cannot be read. The fault of one layer is its `problem`, and an Error when it is read.
    """
    return Checkpoint(
        path,
        global_scale=global_scale,
        nibbles=nibbles,
        scale_layout=scale_layout,
        zero_scales=zero_scales,
        zero_points=zero_points,
    )


__all__ = ["Checkpoint", "Layer", "LayerProduct", "Tensor", "open_checkpoint"]
