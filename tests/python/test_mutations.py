# SPDX-License-Identifier: Apache-2.0
"""Mutated files of every format that is read (mutations.py), some hundred each; and what such files have found."""

from __future__ import annotations

import importlib
import io
import json
import os
import zipfile
from pathlib import Path

import mutations
import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import _waves, train, vectors
from narrowgauge._files import UnreadableError, read_arrays
from narrowgauge.train import trainer

MUTATIONS = int(os.environ.get("NG_MUTATIONS", "200"))


@pytest.mark.parametrize("name", mutations.FORMATS)
def test_mutated_files(name: str) -> None:
    if name in mutations.NEEDS:
        pytest.importorskip(mutations.NEEDS[name], reason=f"the package {mutations.NEEDS[name]} is not installed")
    made = mutations.run(name, 0, MUTATIONS)
    assert made["findings"] == []
    assert made["value"] > 0
    assert made["error"] > 0


def npy(header: str, data: bytes = bytes(64)) -> bytes:
    text = header.encode().ljust(118) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000000,)}"),
            "16000000000000 bytes, and the file has 64",
        ),
        (npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 4)}"), r"its header has shape \(-1, 4\)"),
        (npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4, 4"), "multi-line statement"),
        (npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}"), "objects of Python"),
        (b"\x93NUMPY\x03\x00" + bytes(90), "version 3.0"),
        (b"\x80\x04.", "neither .npy nor .npz"),
        (b"PK\x03\x04", "not a zip file"),
    ],
)
def test_arrays(tmp_path: Path, content: bytes, why: str) -> None:
    """Headers that claim more than there is, and those that numpy does not end in an error of values."""
    file = tmp_path / "x.npy"
    file.write_bytes(content)
    for source in (file, content):
        with pytest.raises(UnreadableError, match=why):
            read_arrays(source)


def test_archives_that_claim_too_much(tmp_path: Path) -> None:
    file = tmp_path / "x.npz"
    np.savez(file, a=np.ones(8))
    content = bytearray(file.read_bytes())
    place = content.index(b"PK\x01\x02")
    content[place + 24 : place + 28] = (2**31).to_bytes(4, "little")
    with pytest.raises(UnreadableError, match="claims 2147483648 bytes out of"):
        read_arrays(bytes(content))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("a.npy", bytes(1000))
    with pytest.raises(UnreadableError, match="in a way that numpy does not write"):
        read_arrays(made.getvalue())


def test_arrays_are_numpy_s(tmp_path: Path) -> None:
    arrays = {
        "a": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "b": np.array(7, ">i2"),
        "c": np.zeros((0, 3)),
        "d": np.array("text"),
    }
    np.savez_compressed(tmp_path / "x.npz", **arrays)  # type: ignore[arg-type]
    found = read_arrays(tmp_path / "x.npz")
    assert isinstance(found, dict)
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].dtype == array.dtype
        np.save(tmp_path / "x.npy", array)
        np.testing.assert_array_equal(np.asarray(read_arrays(tmp_path / "x.npy")), array)


def test_spaces_with_aliases(tmp_path: Path) -> None:
    """Aliases of aliases, 9^12 numbers in all: refused before they are written out."""
    pytest.importorskip("yaml", reason="the package pyyaml is not installed")
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 13)]
    file = tmp_path / "space.yaml"
    file.write_text("\n".join(lines))
    with pytest.raises(ng.Error, match="too deep or too long"):
        ng.explore("digits", file)
    file.write_text("format: [nvfp4\n")
    with pytest.raises(ng.Error, match=r"is not YAML: [^\n]*; expected keys of a space$"):
        ng.explore("digits", file)


@pytest.mark.parametrize("kind", ["<0f4", "<c8", "<U1"])
def test_tensors_of_other_types(tmp_path: Path, kind: str) -> None:
    """A type without bytes is read by numpy; its array is no operand."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': (2, 2)}}"
    (tmp_path / "x.npy").write_bytes(npy(header))
    names = dict.fromkeys("ab", str(tmp_path / "x.npy"))
    with pytest.raises(ng.Error, match=r"A of the space's tensors has dtype [^\n]*; expected (real )?numbers"):
        ng.explore("digits", {"format": "nvfp4", "tensors": names})


def test_waves_without_an_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """pywellen goes round for ever in one of 8000 damaged FST files."""
    pytest.importorskip("pywellen", reason="the package pywellen is not installed")
    file = tmp_path / "m.fst"
    file.write_bytes(mutations.content_of(mutations.FORMATS["fst"], [mutations.FST], 8852))
    monkeypatch.setattr(_waves, "SECONDS", 2.0)
    with pytest.raises(ng.Error, match="was not read in 2 s; expected a whole VCD or FST file"):
        ng.activity_energy(file, "carus", "int8", structure="array")


def test_deep_json(tmp_path: Path) -> None:
    deep = tmp_path / "w.json"
    deep.write_text("[" * 100000)
    with pytest.raises(ng.Error, match="is not JSON"):
        ng.explore(deep, {"format": "nvfp4"})
    deep.with_name("kit.json").write_text("[" * 100000)
    with pytest.raises(ng.Error, match="is no JSON"):
        vectors.open_kit(tmp_path)


def test_heads_of_training(tmp_path: Path) -> None:
    file = tmp_path / "x.npz"
    for head in ("[]", "{", '"text"', "[" * 100000, "{}"):
        np.savez(file, head=np.array(head))
        with pytest.raises(ng.Error, match="cannot read the checkpoint"):
            trainer.read_checkpoint(file, {})
    run = train.Trainer(train.load("fp8"), train.digits(Path(__file__).parents[2] / "examples" / "digits"), steps=10)
    arrays, scalars = run.state()
    for change in (
        {"done": "1"},
        {"done": -1},
        {"history": []},
        {"history": {"fc/x": [1]}},
        {"moments": 1},
        {"high": ["none"]},
    ):
        np.savez(file, head=np.array(json.dumps({**run.origin(), **scalars, **change})), **arrays)
        with pytest.raises(ng.Error, match="expected"):
            run.fresh(None, 0).resume(file)


def test_the_driver_sees_what_is_wrong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A traceback, several lines, and a sentence without a remedy are findings."""
    file = tmp_path / "x"
    for error, said in (
        (KeyError("a"), "KeyError"),
        (MemoryError(), "MemoryError"),
        (ng.Error("two\nlines; expected one"), "more than one line"),
        (ng.Error("wrong"), "neither what was expected"),
    ):
        one = mutations.Format(lambda _: [b""], lambda _, error=error: (_ for _ in ()).throw(error), "x")  # type: ignore[misc]
        kind, text = mutations.outcome(one, file)
        assert (kind, said in text) == ("finding", True), text
    one = mutations.Format(lambda _: [b""], lambda _: importlib.import_module("math"), "x")
    assert mutations.outcome(one, file) == ("value", "")


def test_texts_of_workloads() -> None:
    layers = [{"op": "gemm", "name": "l", "m": 8, "n": 8, "k": 64}]
    for key in ("name", "what"):
        with pytest.raises(ng.Error, match=f'the workload\'s "{key}" is .3.; expected text'):
            ng.explore({"name": "w", "layers": layers, key: [3]}, {"format": "nvfp4", "rows": 4})
