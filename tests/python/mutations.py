# SPDX-License-Identifier: Apache-2.0
"""Mutated files for every reader of the Python package.

    mutations.py                                  300 files a format
    mutations.py gguf fst --count 100000          two formats, as long as it takes
    mutations.py gguf --seed 4711 --count 1       one file again

A file ends in values, or in an error of the package in one sentence that says what was expected, or what to do. A worker reads the files, one
after another, within 0.5 GB beyond what it began with; a traceback, the worker's end and 20 s of processor time for one file are findings. pywellen
may end its process, or never end, since the package gives it one of its own for each file of waves, and a time. Findings are
kept in the folder --keep.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import importlib.util
import json
import mmap
import os
import queue
import random
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SECONDS = 20.0  # of processor time for a file
PATIENCE = 600.0  # seconds for a file that waits
MEMORY = 1 << 29  # bytes beyond those that the worker has before the first file
LONGEST = 1200  # characters of an error
#: 40 cycles of an integer multiplier's ports, by Icarus Verilog 11 (vvp -fst).
FST = base64.b64decode("""
AAAAAAAAAAFJAAAAAAAAAAAAAAAAAAABkGlXFIsKvwVAAAAAAAgAAAAAAAAAAAAAAgAAAAAAAAANAAAAAAAAAAkAAAAAAAAAAQBJY2FydXMgVmVy
aWxvZwAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAFNhdCBOb3YgMjggMTg6MzE6NDAgMjAyNgoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAACAAAAAAA
AAF/AAAAAAAAAAAAAAAAAAABkAAAAAAAAAJxRAwJeF6rqKAcAABMMB/hCVoAAAAIJQRKBG8ElAS5BN4EAwQoBE0EcgSXBLwE4QQGBCsEUAR1BJoE
vwTkBAkELgRTBHgEnQTCBOcEDAQxBFYEewSgBMUE6gQPBDQEWQR+BKMAAAAEBQRgBLsEFgRxBMwEJwSCBN0EOASTBO4ESQSkBP8EWgS1BBAEawTG
BCEEfATXBDIEjQToBEMEngT5BFQErwQKBGUEwAQbBHYE0QQsBIcE4lF4XmNgY6EuBAA/wQGRAAAiCDoIOgg6CDoIAAAaAAAizQF4XhXECRJCAABA
USG02kIlaVX3PyHvz/wXBEvx8gohIsRYI0GKDBtsscMeBxyRo0CJCjVOaNCiwxkXXNHjhgF3jHjgiRfe+OCLCT/8ZxRUA9UDowGnAR0ZBwd/fQAA
AAAAAAALeNpjYKUyAAA/mQGRAAAAAAAAAFEAAAAAAAAADAAAAAAAAABRAwAAAAAAAAAhAAAAAAAAAAkAAAAAAAAACQgIAQEBASAICAQAAAAAAAAA
owAAAAAAAADIH4sIAAAAAAAAA1WN3QrCMAxGv9BVvOwj9AlE8ULwVYaUdiIE5w9a9/RlM+lQ9CLJSSDfKTA5rQZQgSWYgkb6iHy7AxbRt7v9+oCl
cPrhrj+DZJ748cyVPnOIPR+FCOzb7UYfPGq2rdk04hUusYOWQwz8jXVIf5tIAoOMmzXKjVNRuApaN7v0vJimN5tNrUPIAAAA
""")
SAIF = """(SAIFILE
 (SAIFVERSION "2.0") (DIRECTION "backward") (DESIGN "x") (PROGRAM_NAME "Verilator")
 (DIVIDER / ) (TIMESCALE 1ps) (DURATION 100)
 (INSTANCE top (NET (clk_i (T0 50) (T1 50) (TX 0) (TC 20)))
  (INSTANCE "mac" u_mac (NET (a_i\\[0\\] (T0 60) (T1 40) (TZ 0) (TX 0) (TB 0) (TC 7)) (a_i\\[1\\] (T0 0) (T1 90) (TX 10) (TC 0)))))
)
"""
NUMBERS = (b"0", b"1", b"-1", b"9", b"1e9", b"1e400", b"nan", b"65536", b"4294967296", b"18446744073709551615")
TEXT = (
    *NUMBERS,
    b"[",
    b"]",
    b"{",
    b"}",
    b'"',
    b",",
    b": ",
    b"\n",
    b"*a",
    b"&a ",
    b"null",
    b"true",
    b"\x00",
    b"\xff",
    b"\x1b[2J",
)


@dataclass(frozen=True)
class Format:
    """A reader and files for it.

    files: what mutants are made of, written into a folder. read: the file of a folder read as a user reads it; raises one of
    the package's errors. words: what is put into a file beside bytes. name: of the file. alone: the reader's process may end.
    """

    files: Callable[[Path], list[bytes]]
    read: Callable[[Path], object]
    name: str
    words: tuple[bytes, ...] = TEXT
    alone: bool = False
    mutate: Callable[[bytes, random.Random, tuple[bytes, ...]], bytes] = field(default=lambda *of: mutated(*of))


def mutated(raw: bytes, rng: random.Random, words: tuple[bytes, ...]) -> bytes:
    """One to three changes: bits, bytes, digits, words, integers of extreme size, and parts dropped, doubled or swapped."""
    data = bytearray(raw)
    for _ in range(rng.randrange(1, 4)):
        at, kind = rng.randrange(len(data) or 1), rng.randrange(10)
        if kind == 0 and data:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 2:
            digits = [i for i, c in enumerate(data) if 48 <= c < 58]
            if digits:
                data[rng.choice(digits)] = rng.choice(b"0123456789")
        elif kind == 3:
            data[at:at] = rng.choice(words)
        elif kind == 4:
            old, new = rng.choice(words), rng.choice(words)
            data = bytearray(bytes(data).replace(old, new, rng.randrange(1, 3)))
        elif kind == 5:
            data[at : at + 8] = struct.pack("<Q", rng.choice([0, 1, 2**31, 2**32 - 1, 2**40, 2**62, 2**63, 2**64 - 1]))
        elif kind == 6:
            del data[at : at + rng.randrange(1, 60)]
        elif kind == 7:
            data[at:at] = data[at : at + rng.randrange(1, 60)]
        elif kind == 8:
            other, size = rng.randrange(len(data) or 1), rng.randrange(1, 20)
            data[at : at + size], data[other : other + size] = data[other : other + size], data[at : at + size]
        else:
            del data[at:]
    return bytes(data)


def mutated_header(raw: bytes, rng: random.Random, words: tuple[bytes, ...]) -> bytes:
    """Of .safetensors: the header and the data apart, so that most headers are of the right length."""
    (length,) = struct.unpack("<Q", raw[:8])
    header, data = raw[8 : 8 + length], raw[8 + length :]
    if rng.random() < 0.8:
        header = mutated(header, rng, words)
    if rng.random() < 0.3:
        data = mutated(data, rng, NUMBERS)
    odd = [0, 1, 2**63, 2**64 - 1, len(header) + 1, rng.randrange(1000)]
    made = struct.pack("<Q", len(header) if rng.random() < 0.9 else rng.choice(odd)) + header + data
    return made if rng.random() < 0.95 else made[: rng.randrange(len(made) + 1)]


# ---------------------------------------------------------------- what is read, and how


@contextlib.contextmanager
def _caught(file: Path) -> Iterator[None]:
    """What the process writes, Rust and C included, goes into a file."""
    kept = [os.dup(number) for number in (1, 2)]
    with file.open("wb") as sink:
        try:
            for number in (1, 2):
                os.dup2(sink.fileno(), number)
            yield
        finally:
            for number, old in zip((1, 2), kept, strict=True):
                os.dup2(old, number)
                os.close(old)


def _waves_here() -> None:
    """Waves are read in the worker, not in a process a file, which would take a second each."""
    from narrowgauge import _waves

    def read_waves(path: str, scope: str, names: list[str] = ()) -> _waves.Waves:  # type: ignore[assignment]
        _waves.kind(path)
        said, out = Path(path).with_suffix(".said"), Path(path).with_suffix(".npz")
        try:
            with _caught(said):
                _waves._child(str(path), scope, str(out), names)
        except _waves.WaveError:
            raise
        except (MemoryError, KeyboardInterrupt):
            raise
        except (
            BaseException
        ):  # PanicException of Rust is none of Exception: it ends the process that the package starts
            raise _waves.WaveError(
                f'activity "{path}" is malformed; expected VCD or FST: pywellen fails on it'
            ) from None
        if b"time decreased" in said.read_bytes():
            raise _waves.WaveError(f'activity "{path}" is malformed; expected times that grow')
        return _waves._unpacked(path, out)

    _waves.read_waves = read_waves  # type: ignore[assignment]


def _price(file: Path) -> object:
    import narrowgauge as ng

    seen = ng.activity_energy(file, "u_mac", "int8", structure="array")
    assert 0 < seen.answer.value < 1e-6, seen
    return seen


def _vcd_files(_: Path) -> list[bytes]:
    keys = {"rst_ni": (1, "#"), "valid_i": (1, "$"), "first_i": (1, "%"), "a_i": (8, "&"), "b_i": (8, "'")}
    lines = ["$timescale 1ns $end", "$scope module top $end", "$scope module u_mac $end", "$var wire 1 ! clk_i $end"]
    lines += [f"$var wire {w} {key} {name}{' [7:0]' if w > 1 else ''} $end" for name, (w, key) in keys.items()]
    lines += ["$upscope $end", "$upscope $end", "$enddefinitions $end"]
    for i in range(30):
        lines += [f"#{10 * i}", "0!", f"{int(i > 1)}#", f"{int(i > 2)}$", f"{int(i % 8 == 3)}%"]
        lines += [f"b{i * 37 % 256:b} &", f"b{(i * 91 + 5) % 256:b} '", f"#{10 * i + 5}", "1!"]
    return [("\n".join(lines) + "\n").encode()]


def _saif(file: Path) -> object:
    from narrowgauge import _waves

    saif = _waves.read_saif(file)
    assert saif.duration > 0
    assert all(net.toggles >= 0 for nets in saif.scopes.values() for net in nets.values())
    return saif


def _weights() -> Any:
    import numpy as np

    return np.random.default_rng(8).normal(size=(4, 128)).astype(np.float32)


def _gguf_files(folder: Path) -> list[bytes]:
    import numpy as np

    import narrowgauge as ng

    file, w = folder / "original", _weights()
    q = ng.quantize(w, dialect="modelopt")
    ng.gguf.write(file, {"a.weight": q, "b.weight": ng.quantize(w, dialect="ggml"), "norm": w[0].astype(np.float16)})
    return [file.read_bytes()]


def _layers(file: Path) -> object:
    """Every layer read; the errors of single layers are sentences, too."""
    import numpy as np

    import narrowgauge as ng

    found = ng.open_checkpoint(file)
    first: ng.Error | None = None
    for layer in found.layers.values():
        layer.summary()
        try:
            q = layer.read()
        except ng.Error as error:
            first = first or error
            continue
        assert q.shape == layer.shape, f"{q!r} of {layer!r}"
        assert np.isfinite(q.tensor_scale), f"{q!r} of {layer!r}"
    if first is not None:
        raise first
    return found


def _safetensors_files(folder: Path) -> list[bytes]:
    import numpy as np

    import narrowgauge as ng

    w = _weights()[:, :64]
    forms = {"a": ng.quantize(w, dialect="modelopt"), "b": ng.quantize(w, "mxfp4"), "c": ng.quantize(w, "fp8_e4m3")}
    stack = {"e": ng.quantize(w.reshape(2, 2, 64), "mxfp4")}
    made = []
    for layout in ("modelopt", "compressed-tensors", "torchao", "gpt-oss"):
        file = folder / "original"
        ng.checkpoint.write(file, stack if layout == "gpt-oss" else {**forms, "norm": w[0, :3]}, layout=layout)
        made.append(file.read_bytes())
    words, scales = np.arange(4 * 16, dtype=np.int32), np.full((2, 16), 0.01, np.float16)
    for qweight, qzeros in (
        (words.reshape(4, 16), words[:4].reshape(2, 2)),
        (words.reshape(32, 2), words[:4].reshape(2, 2)),
    ):
        parts = {
            "q.qweight": qweight,
            "q.qzeros": qzeros,
            "q.scales": scales,
            "q.g_idx": np.arange(32, dtype=np.int32) // 16,
        }
        ng.checkpoint.write(folder / "original", parts)  # gptq, awq
        made.append((folder / "original").read_bytes())
    return made


def _index_files(folder: Path) -> list[bytes]:
    """The index alone is mutated; its shards are whole."""
    import narrowgauge as ng

    weights = {}
    for shard in "12":
        ng.checkpoint.write(folder / f"{shard}.safetensors", {f"l{shard}": ng.quantize(_weights(), "mxfp4")})
        weights |= {f"l{shard}.weight": f"{shard}.safetensors", f"l{shard}.weight_scale": f"{shard}.safetensors"}
    return [json.dumps({"metadata": {"total_size": 600}, "weight_map": weights}, indent=1).encode()]


def _workload_format(name: str) -> Format:
    def files(_: Path) -> list[bytes]:
        from test_workload_formats import FILES

        return [text.encode() for file, (text, _) in FILES.items() if file.endswith(name[-3:])]

    def read(file: Path) -> object:
        from narrowgauge import workload

        layers = workload.from_file(file)["layers"]
        for layer in layers:
            assert isinstance(layer["name"], str), layer
            sizes = [layer[key] for key in ("m", "n", "k")] + [layer.get(key, 1) for key in ("batch", "count")]
            assert all(isinstance(size, int) and 1 <= size < 2**31 for size in sizes), layer
        return layers

    return Format(files, read, f"workload.{name}")


def _onnx_files(_: Path) -> list[bytes]:
    from test_onnx import FLOAT, model, node, tensor, value  # noqa: F401

    made = model(
        [node("Conv", ["x", "w"], ["y"]), node("Relu", ["y"], ["z"]), node("MatMul", ["z", "v"], ["out"])],
        {"x": [1, 3, 8, 8]},
        [tensor("w", 4, 3, 3, 3), tensor("v", 6, 5)],
        ["out"],
    )
    return [made.SerializeToString()]


def _onnx(file: Path) -> object:
    from narrowgauge import workload

    return workload.from_file(file)


def _space_files(_: Path) -> list[bytes]:
    return [b"format: [nvfp4, fp8_e4m3]\ntechnology: osu018\nrows: [2, 4]\ncols: 4\nfrequency_hz: 1e8\n"]


def _space(file: Path) -> object:
    import narrowgauge as ng

    work = {"name": "w", "layers": [{"op": "gemm", "name": "l", "m": 8, "n": 8, "k": 64}]}
    return ng.explore(work, file)


def _workload_json_files(_: Path) -> list[bytes]:
    layers = [{"op": "gemm", "name": "l", "m": 8, "n": 8, "k": 64, "count": 2},
              {"op": "conv", "name": "c", "in_channels": 3, "out_channels": 4, "height": 8, "width": 8, "kernel": [3, 3]}]  # fmt: skip
    return [json.dumps({"name": "w", "what": "two layers", "layers": layers}, indent=1).encode()]


def _workload_json(file: Path) -> object:
    import narrowgauge as ng

    return ng.explore(file, {"format": "nvfp4", "technology": "osu018", "rows": 4, "cols": 4})


def _recipe_files(_: Path) -> list[bytes]:
    from narrowgauge.train import recipe

    return [file.read_bytes() for file in sorted(recipe.FOLDER.glob("*.toml"))]


def _recipe(file: Path) -> object:
    from narrowgauge import train

    return train.load(file)


def _npy_files(folder: Path) -> list[bytes]:
    import numpy as np

    made = []
    for array in (_weights(), np.arange(12, dtype=np.int64).reshape(3, 4), np.asfortranarray(_weights()[:, :5])):
        np.save(folder / "original.npy", array)
        made.append((folder / "original.npy").read_bytes())
    return made


def _npy(file: Path) -> object:
    """All that read such a file: an input of a layer, an operand, a tensor, digits."""
    import narrowgauge as ng
    from narrowgauge.calibrate.__main__ import _tensors
    from narrowgauge.checkpoint.__main__ import _input
    from narrowgauge.measure.__main__ import _operand
    from narrowgauge.train import data

    errors: list[ng.Error] = []
    readers: tuple[Callable[[], object], ...] = (
        lambda: _input(str(file)),
        lambda: _operand(str(file), (4, 128), None),  # type: ignore[arg-type]
        lambda: list(_tensors([str(file)])),
        lambda: data.digits(file.parent),
        lambda: ng.explore("digits", {"format": "nvfp4", "rows": 4, "tensors": {"a": str(file), "b": str(file)}}),
    )
    for reader in readers:
        try:
            reader()
        except ng.Error as error:
            check(error)
            errors.append(error)
    if len(errors) == len(readers):
        raise errors[0]
    return None


def _npz_files(folder: Path) -> list[bytes]:
    import numpy as np

    made, file = [], folder / "original.npz"
    head = {"recipe": "r", "done": 1, "high": False, "moments": {}, "history": []}
    for save in (np.savez, np.savez_compressed):
        save(file, head=np.array(json.dumps(head)), **{"parameter/w": _weights(), "n": np.arange(9)})
        made.append(file.read_bytes())
    return made


def _npz(file: Path) -> object:
    import narrowgauge as ng
    from narrowgauge.calibrate.__main__ import _tensors
    from narrowgauge.train import trainer

    try:
        list(_tensors([str(file)]))
    except ng.Error as error:
        check(error)
    return trainer.read_checkpoint(file, {"recipe": "r"})


def _trainer() -> Any:
    from narrowgauge import train

    data = train.digits(Path(__file__).parents[2] / "examples" / "digits")
    made = train.Trainer(train.load("fp8"), data, steps=10, seed=3)
    made.step()
    return made


def _training_files(_: Path) -> list[bytes]:
    """The head of a training's checkpoint, which is text; `npz` has the archive around it."""
    made = _trainer()
    return [json.dumps({**made.origin(), **made.state()[1]}).encode()]


def _training(file: Path) -> object:
    import numpy as np

    if not _TRAINED:
        made = _trainer()
        _TRAINED.extend([made, made.state()[0]])
    trainer, arrays = _TRAINED
    archive = file.with_suffix(".npz")
    np.savez(archive, head=np.array(file.read_bytes().decode("latin-1")), **arrays)
    twin = trainer.fresh(None, 0)
    twin.resume(archive)
    assert type(twin.done) is int, twin.done
    return twin


_TRAINED: list[Any] = []


def _kit_files(folder: Path) -> list[bytes]:
    from narrowgauge import vectors
    from narrowgauge.vectors import kit, make

    del vectors
    chosen = [case for case in make.cases(("layouts",)) if sum(a.size for a in case.inputs.values()) < 600][:3]
    kit.save(folder, chosen)
    return [(folder / "kit.json").read_bytes()]


def _kit(file: Path) -> object:
    from narrowgauge import vectors

    return vectors.open_kit(file.parent)


def _kit_arrays_files(folder: Path) -> list[bytes]:
    _kit_files(folder)
    return [(folder / "layouts.npz").read_bytes()]


def _kit_arrays(file: Path) -> object:
    """The manifest has the digest of what was made of the file, as whoever makes a kit by hand has it."""
    import hashlib

    from narrowgauge import vectors

    place = file.parent / "kit.json"
    made = json.loads(place.read_text())
    for row in made["files"]:
        if row["file"] == file.name:
            row["sha256"] = hashlib.sha256(file.read_bytes()).hexdigest()
    place.write_text(json.dumps(made))
    return vectors.open_kit(file.parent)


def _board_files(_: Path) -> list[bytes]:
    return [
        json.dumps({"technology": "t", "about": "a", "products": [{"tile": "ecp5", "power_w": 0.5}]}, indent=1).encode()
    ]


def _board(file: Path) -> object:
    from narrowgauge.measure import board

    return board.saved_products(file, "t")


def _budget_files(_: Path) -> list[bytes]:
    losses = {"2": 1.5, "4": 0.25, "8": 0.01}
    return [json.dumps([{"name": n, "products": 1000, "losses": losses} for n in "abc"], indent=1).encode()]


def _budget(file: Path) -> object:
    from narrowgauge.calibrate import __main__ as program

    parsed = program._parser().parse_args(["budget", str(file), "--energy", "0.5", "--json"])
    with _caught(file.with_suffix(".said")):
        program._run(parsed)
        sys.stdout.flush()
    return None


FORMATS = {
    "vcd": Format(_vcd_files, _price, "m.vcd", (b"$end", b"$var", b"$scope", b"#", b"b1x", *NUMBERS), alone=True),
    "fst": Format(lambda _: [FST], _price, "m.fst", NUMBERS, alone=True),
    "saif": Format(lambda _: [SAIF.encode()], _saif, "m.saif", (b"(", b")", b"INSTANCE", b"T0", *NUMBERS)),
    "gguf": Format(_gguf_files, _layers, "m.gguf", (b"weight", b"scale", *NUMBERS)),
    "safetensors": Format(
        _safetensors_files,
        _layers,
        "m.safetensors",
        (
            b"F8_E4M3",
            b"U8",
            b"F32",
            b"BF16",
            b"I64",
            b"F4",
            b"weight_scale",
            b"weight",
            b"_packed",
            b"q.qzeros",
            b"q.scales",
            b"shape",
            *TEXT,
        ),
        mutate=mutated_header,
    ),
    "index": Format(_index_files, _layers, "m.safetensors.index.json", (b"1.safetensors", b"weight_map", b"..", *TEXT)),
    "csv": _workload_format("csv"),
    "yaml": _workload_format("yaml"),
    "onnx": Format(_onnx_files, _onnx, "m.onnx", (b"Conv", b"MatMul", b"Relu", b"x", b"w", *NUMBERS)),
    "space": Format(_space_files, _space, "m.yaml"),
    "workload": Format(_workload_json_files, _workload_json, "m.json"),
    "recipe": Format(_recipe_files, _recipe, "m.toml"),
    "npy": Format(_npy_files, _npy, "images.npy", (b"(", b")", b"<f4", b"|O", b"<f8", b"shape", b"True", *NUMBERS)),
    "npz": Format(_npz_files, _npz, "m.npz", (b"PK", b"<f4", b"|O", b"shape", b".npy", *NUMBERS)),
    "training": Format(_training_files, _training, "m.json"),
    "kit": Format(_kit_files, _kit, "kit.json"),
    "kit_arrays": Format(_kit_arrays_files, _kit_arrays, "layouts.npz", (b"PK", b"|u1", b"<f4", b"shape", *NUMBERS)),
    "board": Format(_board_files, _board, "m.json"),
    "budget": Format(_budget_files, _budget, "m.json"),
}
#: Packages without which a format is not read.
NEEDS = {
    "vcd": "pywellen",
    "fst": "pywellen",
    "gguf": "gguf",
    "yaml": "yaml",
    "space": "yaml",
    "onnx": "onnx",
    "budget": "scipy",
}


# ---------------------------------------------------------------- the worker and the driver


def check(error: BaseException) -> None:
    """Of the package, in one sentence, which says what was expected."""
    said = str(error)
    assert not {"\n", "\r"} & set(said), f"more than one line: {said!r}"
    assert 0 < len(said) < LONGEST, f"{len(said)} characters: {said[:300]!r}"
    assert "expected" in said or "; " in said, f"neither what was expected nor what to do: {said!r}"


def content_of(one: Format, originals: list[bytes], seed: int) -> bytes:
    rng = random.Random(seed)
    return one.mutate(rng.choice(originals), rng, one.words)


def outcome(one: Format, file: Path) -> tuple[str, str]:
    """'value', 'error' or 'finding', with what was said."""
    import narrowgauge as ng
    from narrowgauge import _waves, workload

    try:
        one.read(file)
    except (ng.Error, workload.WorkloadError, _waves.WaveError) as error:
        try:
            check(error)
        except AssertionError as wrong:
            return "finding", str(wrong)
        return "error", str(error)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return "finding", f"{type(error).__name__}: {error}"[:600]
    return "value", ""


def work(name: str, seed: int, count: int) -> None:
    """Reads the files of these seeds, a line of the standard output each. A child does it, and another where one has died."""
    import narrowgauge

    del narrowgauge
    at, out = mmap.mmap(-1, 8), os.fdopen(os.dup(1), "w")
    struct.pack_into("<q", at, 0, seed)
    while (number := struct.unpack_from("<q", at)[0]) < seed + count:
        child = os.fork()
        if child == 0:
            _read_all(name, number, seed + count, at, out)
            os._exit(0)
        how = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if how != 0:
            number = struct.unpack_from("<q", at)[0]
            print(json.dumps([number, "died", f"exit code {how}"]), file=out, flush=True)
            struct.pack_into("<q", at, 0, number + 1)


def _read_all(name: str, seed: int, end: int, at: mmap.mmap, out: Any) -> None:
    one = FORMATS[name]
    warnings.simplefilter("ignore")
    if name in ("vcd", "fst"):
        _waves_here()
    with tempfile.TemporaryDirectory(prefix="ng_mutations.") as made:
        folder = Path(made)
        originals = one.files(folder)
        file = folder / one.name
        for original in originals:
            file.write_bytes(original)
            with contextlib.suppress(Exception):  # of an .npy of several shapes, one is none of digits
                one.read(file)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        for number in range(seed, end):
            struct.pack_into("<q", at, 0, number)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            file.write_bytes(content_of(one, originals, number))
            kind, said = outcome(one, file)
            print(json.dumps([number, kind, said if kind == "finding" else ""]), file=out, flush=True)
        struct.pack_into("<q", at, 0, end)


class Worker:
    def __init__(self, name: str, seed: int, count: int, folder: str) -> None:
        words = [sys.executable, __file__, name, "--seed", str(seed), "--count", str(count), "--work"]
        self.process = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            env={**os.environ, "TMPDIR": folder},
        )
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def next(self) -> list[Any] | None:
        """Number, kind and text of the next file; None: the worker has ended. Raises queue.Empty after PATIENCE."""
        line = self.lines.get(timeout=PATIENCE)
        made: list[Any] | None = json.loads(line) if line else None
        return made

    def end(self) -> str:
        """Ends the worker, and says how it ended."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        assert self.process.stderr is not None
        said = self.process.stderr.read().strip().splitlines()
        return f"code {self.process.returncode}" + (f", {said[-1][:300]}" if said else "")


def run(name: str, seed: int, count: int, keep: Path | None = None) -> dict[str, Any]:
    """Reads mutants of one format, and counts what became of them."""
    one, counts, findings = FORMATS[name], {"error": 0, "value": 0, "died": 0}, []
    began, at = time.monotonic(), seed

    def finding(number: int, said: str) -> None:
        findings.append({"seed": number, "said": said})
        if keep is not None:
            with tempfile.TemporaryDirectory() as made:
                keep.mkdir(parents=True, exist_ok=True)
                (keep / f"{name}.{number}").write_bytes(content_of(one, one.files(Path(made)), number))

    folder = tempfile.TemporaryDirectory(prefix="ng_mutations.")
    while at < seed + count:
        worker = Worker(name, at, seed + count - at, folder.name)
        while at < seed + count:
            try:
                got = worker.next()
            except queue.Empty:
                finding(at, f"no answer in {PATIENCE:g} s")
                at += 1
                break
            if got is None:
                finding(at, f"the worker ended: {worker.end()}")
                at += 1
                break
            at = got[0] + 1
            hangs = got[2] == f"exit code {-signal.SIGPROF}"
            if got[1] == "died" and hangs and not one.alone:
                finding(got[0], f"{SECONDS:g} s of processor time were not enough")
            elif got[1] == "died" and not one.alone:
                finding(got[0], f"the reader's process ended: {got[2]}")
            elif got[1] == "finding":
                finding(got[0], got[2])
            else:
                counts[got[1]] += 1
        worker.end()
    folder.cleanup()
    return {
        "format": name,
        "files": count,
        **counts,
        "findings": findings,
        "seconds": round(time.monotonic() - began, 1),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=f"some of {', '.join(FORMATS)} (default all)")
    parser.add_argument("--count", type=int, default=300, help="files a format (default 300)")
    parser.add_argument("--seed", type=int, default=0, help="of the first file (default 0)")
    parser.add_argument("--keep", type=Path, help="folder for files that are findings")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    unknown = [name for name in given.formats if name not in FORMATS]
    if unknown:
        parser.error(f"format {unknown[0]} is unknown; expected some of {', '.join(FORMATS)}")
    if given.work:
        work(given.formats[0], given.seed, given.count)
        return 0
    bad = 0
    print(
        "| format | files | errors | values | reader's process ended | findings | seconds |\n|---|---|---|---|---|---|---|"
    )
    for name in given.formats or FORMATS:
        if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
            print(f"{name}: skipped, {NEEDS[name]} is not installed", file=sys.stderr)
            continue
        made = run(name, given.seed, given.count, given.keep)
        found = made["findings"]
        row = [name, made["files"], made["error"], made["value"], made["died"], len(found), made["seconds"]]
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
        for one in found[:10]:
            print(f"  seed {one['seed']}: {one['said']}", flush=True)
        bad += len(found)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
