# SPDX-License-Identifier: Apache-2.0
"""Kits: cases, and the files that they are written to and read from."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import shown
from .._core import Error, __version__
from .._files import UnreadableError, read_arrays, written_whole

NAME, VERSION, MANIFEST = "narrowgauge-vectors", 1, "kit.json"
MOST_MANIFEST, MOST_FILE = 2**24, 2**28  # bytes
#: Types of numbers: a float32 is its 32 bits wherever numbers are written out.
TYPES = ("float32", "uint8", "uint16", "uint32")
Arrays = dict[str, NDArray[Any]]
Parameters = dict[str, "str | int"]


@dataclass(frozen=True)
class Kind:
    """A family of cases, in files of its own. page: where its rules stand."""

    name: str
    what: str
    page: str


KINDS = {
    kind.name: kind
    for kind in (
        Kind("casts", "values to codes and codes to values, every element format", "docs/numerics.md"),
        Kind("stochastic", "values and random words to codes", "docs/numerics.md"),
        Kind("blocks", "block quantizers by dialect, IF4, HiFloat4: codes and scales", "docs/dialects.md"),
        Kind("layouts", "block scales in tiles of 128 x 4, orders of nibbles, blocks of GGUF", "docs/quantizers.md"),
        Kind("dots", "matrix instructions and products by mode of accumulation", "docs/accumulation.md"),
        Kind("sparsity", "1:2 and 2:4 pruning, packing and metadata", "docs/sparsity.md"),
        Kind("mvue", "unbiased 1:2 and 2:4 pruning by random words", "docs/sparsity.md"),
        Kind("luq", "logarithmic gradients in four bits, and their scale", "docs/luq.md"),
    )
}


@dataclass(frozen=True)
class Operation:
    """What an implementation is asked. elementwise: output i comes from input i of every array of its shape."""

    name: str
    kind: str
    what: str
    parameters: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    elementwise: bool = False


OPERATIONS = {
    one.name: one
    for one in (
        Operation("encode", "casts", "values to codes of a format", ("format", "rounding", "overflow"), ("value",),
                  ("code",), True),
        Operation("decode", "casts", "codes of a format to values", ("format",), ("code",), ("value",), True),
        Operation("encode_stochastic", "stochastic", "values to codes, each by its random word",
                  ("format", "random_bits", "overflow"), ("value", "word"), ("code",), True),
        Operation("quantize", "blocks", "a matrix to codes, block scales and a tensor scale", ("dialect", "format", "block"),
                  ("x", "word"), ("codes", "scales", "tensor_scale")),
        Operation("quantize_if4", "blocks", "a matrix to IF4: codes, block scales and the largest magnitude", ("choice",), ("x",),
                  ("codes", "scales", "amax")),
        Operation("quantize_mixfp4", "blocks", "a matrix to MixFP4: codes, block scales and the largest magnitude", (), ("x",),
                  ("codes", "scales", "amax")),
        Operation("quantize_hif4", "blocks", "a matrix to HiFloat4: codes, block scales and two levels of exponents", (), ("x",),
                  ("codes", "scales", "level2", "level3")),
        Operation("swizzle", "layouts", "scales to bytes of tiles of 128 x 4", (), ("scales",), ("bytes",)),
        Operation("unswizzle", "layouts", "bytes of tiles of 128 x 4 to scales", ("rows", "blocks"), ("bytes",), ("scales",)),
        Operation("pack", "layouts", "codes to bytes, the even element in the low nibble", ("order",), ("codes",), ("bytes",)),
        Operation("gguf_block", "layouts", "codes and scales to GGUF's superblocks of 64 elements", (), ("codes", "scales"),
                  ("bytes",)),
        Operation("mma", "dots", "D = A x B + C by a matrix instruction, one after another along K",
                  ("rule", "a_format", "b_format", "scale_format"), ("a", "b", "a_scales", "b_scales", "c"), ("d",)),
        Operation("gemm", "dots", "A x B by a mode of accumulation", ("format", "accumulate"),
                  ("a", "b", "a_scales", "b_scales"), ("c",)),
        Operation("prune", "sparsity", "the largest magnitudes of each group, the others 0", ("pattern",), ("x",), ("y",)),
        Operation("compress", "sparsity", "a pruned matrix to its values and metadata", ("pattern",), ("x",),
                  ("values", "metadata")),
        Operation("decompress", "sparsity", "values and metadata to the matrix", ("pattern", "columns"),
                  ("values", "metadata"), ("x",)),
        Operation("prune_mvue", "mvue", "unbiased pruning, a random word a group", ("pattern", "random_bits", "seed"),
                  ("x", "word"), ("y",)),
        Operation("luq", "luq", "gradients to codes under a scale, each by its random word",
                  ("levels", "random_bits", "seed"), ("value", "word", "alpha"), ("code",), True),
        Operation("luq_scale", "luq", "the largest magnitude to the scale", ("levels", "power_of_two"), ("amax",), ("alpha",),
                  True),
    )
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One question with its answer.

    name: unique in a kit, such as 'casts/e4m3/nearest_even/saturate'. operation: a name of OPERATIONS. parameters: what it
    depends on beside arrays. inputs, outputs: arrays of float32, uint8, uint16 or uint32, by name.
    """

    name: str
    operation: str
    parameters: Parameters
    inputs: Arrays
    outputs: Arrays

    @property
    def kind(self) -> str:
        return OPERATIONS[self.operation].kind


@dataclass(frozen=True)
class Kit:
    """What `open_kit` returns: cases by name, and a row of provenance a file."""

    folder: Path
    cases: dict[str, Case]
    provenance: list[dict[str, Any]] = field(default_factory=list)


def bits(array: NDArray[Any]) -> NDArray[Any]:
    """Numbers as unsigned integers: a float32 as its bits."""
    return array.view(np.uint32) if array.dtype == np.float32 else array


def from_bits(flat: object, type_: str, shape: tuple[int, ...], what: str) -> NDArray[Any]:
    """An array of flat integers. Raises Error, which says `what`, where they are none or not as many."""
    if not isinstance(flat, list) or any(type(one) is not int for one in flat):
        raise Error(f"{what} is {shown(flat)}; expected a flat list of whole numbers")
    top = np.iinfo(np.uint32 if type_ == "float32" else type_).max
    if len(flat) != int(np.prod(shape, dtype=np.int64)):
        raise Error(f"{what} has {len(flat)} numbers; expected {int(np.prod(shape, dtype=np.int64))}, of shape {shape}")
    if flat and not 0 <= min(flat) <= max(flat) <= top:
        raise Error(f"{what} has numbers from {min(flat)} to {max(flat)}; expected 0 to {top}, which is {type_}")
    if type_ == "float32":
        return np.array(flat, np.uint32).view(np.float32).reshape(shape)
    return np.array(flat, type_).reshape(shape)


def spelled(arrays: Arrays) -> dict[str, Any]:
    """Arrays as JSON has them: type, shape, and numbers in C order."""
    return {
        name: {"type": a.dtype.name, "shape": list(a.shape), "data": bits(np.ascontiguousarray(a)).ravel().tolist()}
        for name, a in arrays.items()
    }


def _shapes(arrays: Arrays) -> dict[str, Any]:
    return {name: {"type": a.dtype.name, "shape": list(a.shape)} for name, a in arrays.items()}


def _npz(cases: list[Case]) -> bytes:
    """The same bytes from every numpy and zlib: not compressed, without a date."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for case in cases:
            for side, arrays in (("in", case.inputs), ("out", case.outputs)):
                for name, a in arrays.items():
                    content = io.BytesIO()
                    little = a.astype(a.dtype.newbyteorder("<"), copy=False)
                    np.lib.format.write_array(content, np.ascontiguousarray(little), version=(1, 0))
                    archive.writestr(zipfile.ZipInfo(f"{case.name}.{side}.{name}.npy"), content.getvalue())
    return made.getvalue()


def _json(kind: Kind, cases: list[Case]) -> bytes:
    rows = [
        {"name": c.name, "operation": c.operation, "parameters": c.parameters, "inputs": spelled(c.inputs),
         "outputs": spelled(c.outputs)} for c in cases
    ]  # fmt: skip
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    return f'{{"kit":"{NAME}","version":{VERSION},"kind":"{kind.name}","cases":[\n{lines}\n]}}\n'.encode()


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _header(kind: Kind, cases: list[Case]) -> bytes:
    """Static arrays of the C header; a float32 is its bits."""
    guard = f"NARROWGAUGE_VECTORS_{kind.name.upper()}_H"
    out = [f"/* {NAME} {VERSION}, {kind.name}: {kind.what}. Rules: {kind.page}. SPDX-License-Identifier: Apache-2.0 */",
           f"#ifndef {guard}", f"#define {guard}", "#include <stdint.h>"]  # fmt: skip
    for case in cases:
        fields = ", ".join(f"{name} {value}" for name, value in case.parameters.items())
        out.append(f"/* {case.name}: {case.operation}{', ' if fields else ''}{fields} */")
        for side, arrays in (("in", case.inputs), ("out", case.outputs)):
            for name, a in arrays.items():
                flat = bits(np.ascontiguousarray(a)).ravel()
                size = " x ".join(str(n) for n in a.shape)
                words = [hex(n) for n in flat.tolist()]
                lines = [",".join(words[i : i + 16]) + "," for i in range(0, len(words), 16)]
                out.append(f"static const {flat.dtype.name}_t ng_{_identifier(case.name)}_{side}_{name}[{flat.size}] = {{ "
                           f"/* {a.dtype.name}, {size} */")  # fmt: skip
                out += [*lines, "};"]
    return ("\n".join([*out, "#endif"]) + "\n").encode()


def save(folder: str | os.PathLike[str], cases: Iterable[Case]) -> list[dict[str, Any]]:
    """Writes the kit of these cases, and returns its rows of provenance."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Error(f'cannot make folder "{target}": {error.strerror}') from None
    by_kind: dict[str, list[Case]] = {}
    for case in cases:
        by_kind.setdefault(case.kind, []).append(case)
    rows, described = [], []
    for name, members in by_kind.items():
        kind = KINDS[name]
        for ending, content in (("npz", _npz(members)), ("json", _json(kind, members)), ("h", _header(kind, members))):
            file = f"{name}.{ending}"
            with written_whole(target / file, f'"{target / file}"') as out:
                out.write(content)
            rows.append({
                "file": file, "kind": name, "what": kind.what, "rules": kind.page,
                "made_by": f"the golden model of narrowgauge {__version__}", "cases": len(members),
                "numbers": sum(int(a.size) for c in members for a in c.outputs.values()), "bytes": len(content),
                "sha256": hashlib.sha256(content).hexdigest(),
            })  # fmt: skip
        described += [
            {"name": c.name, "operation": c.operation, "parameters": c.parameters, "inputs": _shapes(c.inputs),
             "outputs": _shapes(c.outputs)} for c in members
        ]  # fmt: skip
    manifest = {"kit": NAME, "version": VERSION, "files": rows, "cases": described}
    with written_whole(target / MANIFEST, f'"{target / MANIFEST}"') as out:
        out.write((json.dumps(manifest, indent=1) + "\n").encode())
    return rows


def _content(path: Path, most: int) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
    except OSError as error:
        raise Error(f'cannot read "{path}" of the kit: {error.strerror}; write the kit again') from None
    if len(content) > most:
        raise Error(f'"{path}" has more than {most} bytes; expected a file of a kit; write the kit again')
    return content


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        made = json.loads(_content(path, MOST_MANIFEST))
    except (ValueError, RecursionError) as error:
        raise Error(
            f'"{path}" is no JSON: {error}; expected what `narrowgauge vectors write` writes; write the kit again'
        ) from None
    if not isinstance(made, dict) or made.get("kit") != NAME:
        raise Error(
            f'"{path}" names {shown(made.get("kit") if isinstance(made, dict) else made)}; expected a kit "{NAME}"'
        )
    if made.get("version") != VERSION:
        raise Error(f'"{path}" is of version {shown(made.get("version"))}; expected {VERSION}; write the kit again')
    for part in ("files", "cases"):
        if not isinstance(made.get(part), list) or not all(isinstance(row, dict) for row in made[part]):
            raise Error(f'"{path}" has {part} {shown(made.get(part))}; expected a list of objects; write the kit again')
    return made


def _arrays(archive: Arrays, case: str, side: str, described: object, path: Path) -> Arrays:
    if not isinstance(described, dict):
        raise Error(f'case "{case}" describes {shown(described)}; expected arrays by name; write the kit again')
    found: Arrays = {}
    for name, has in described.items():
        key = f"{case}.{side}.{name}"
        array = archive.get(key)
        if array is None:
            raise Error(f'"{path}" has no array "{key}"; expected the arrays of {MANIFEST}; write the kit again')
        if array.dtype.name not in TYPES or has != {"type": array.dtype.name, "shape": list(array.shape)}:
            raise Error(
                f'array "{key}" of "{path}" is {array.dtype.name} of shape {list(array.shape)}; expected {shown(has)}, as '
                f"{MANIFEST} says; write the kit again"
            )
        found[name] = array.astype(array.dtype.newbyteorder("="), copy=False)
    return found


def open_kit(folder: str | os.PathLike[str], *, kinds: Iterable[str] | None = None) -> Kit:
    """The kit of a folder, every file compared with its SHA-256; kinds: only of these.

    Raises Error for a file that is missing, cut short or changed, for an unknown kind, and for a manifest that does not fit.
    """
    if not isinstance(folder, (str, os.PathLike)):
        raise Error(f"folder is {shown(folder)}; expected the path of a folder that has a kit")
    place = Path(folder)
    manifest = _manifest(place)
    wanted = checked_kinds(kinds)
    rows = []
    opened: dict[str, tuple[Path, Arrays]] = {}
    for row in manifest["files"]:
        if not isinstance(row.get("file"), str) or Path(row["file"]).name != row["file"]:
            raise Error(f'"{place / MANIFEST}" lists a file {shown(row.get("file"))}; expected a name in its folder')
        if row.get("kind") not in KINDS:
            raise Error(
                f'file "{row["file"]}" of the kit is of kind {shown(row.get("kind"))}; expected {", ".join(KINDS)}'
            )
        if wanted is not None and row["kind"] not in wanted:
            continue
        path = place / row["file"]
        content = _content(path, MOST_FILE)
        found = hashlib.sha256(content).hexdigest()
        if found != row.get("sha256"):
            what = (
                "changed" if len(content) == row.get("bytes") else f"{len(content)} bytes of {shown(row.get('bytes'))}"
            )
            raise Error(
                f'"{path}" has SHA-256 {found[:16]}… ({what}); expected {str(row.get("sha256"))[:16]}…, as {MANIFEST} says; '
                "write the kit again"
            )
        rows.append(row)
        if path.suffix == ".npz":
            try:
                arrays = read_arrays(content)
            except UnreadableError as error:
                raise Error(f'"{path}" cannot be read: {error}; write the kit again') from None
            if not isinstance(arrays, dict):
                raise Error(f'"{path}" is one array; expected an archive of them; write the kit again')
            opened[row["kind"]] = (path, arrays)
    cases: dict[str, Case] = {}
    for described in manifest["cases"]:
        name, operation = described.get("name"), described.get("operation")
        if not isinstance(operation, str) or operation not in OPERATIONS:
            raise Error(f"case {shown(name)} has operation {shown(operation)}; expected {', '.join(OPERATIONS)}")
        kind = OPERATIONS[operation].kind
        if wanted is not None and kind not in wanted:
            continue
        if kind not in opened:
            raise Error(
                f'case {shown(name)} is of kind {kind}, but "{place / MANIFEST}" lists no {kind}.npz; write it again'
            )
        if not isinstance(name, str) or name in cases or not isinstance(described.get("parameters"), dict):
            raise Error(f'"{place / MANIFEST}" has a case {shown(name)}; expected names that differ, and parameters')
        path, archive = opened[kind]
        cases[name] = Case(
            name,
            operation,
            described["parameters"],
            _arrays(archive, name, "in", described.get("inputs"), path),
            _arrays(archive, name, "out", described.get("outputs"), path),
        )
    if not cases:
        raise Error(
            f'"{place}" has no case{"" if wanted is None else " of " + ", ".join(wanted)}; expected some; write it again'
        )
    return Kit(place, cases, rows)


def checked_kinds(kinds: Iterable[str] | None) -> tuple[str, ...] | None:
    """Names of KINDS, or None for all. Raises Error for others."""
    if kinds is None:
        return None
    if isinstance(kinds, str) or not isinstance(kinds, Iterable):
        raise Error(f"kinds is {shown(kinds)}; expected a list of names out of {', '.join(KINDS)}")
    names = tuple(kinds)
    for name in names:
        if not isinstance(name, str) or name not in KINDS:
            raise Error(f"kind {shown(name)} is unknown; expected one of {', '.join(KINDS)}")
    return names
