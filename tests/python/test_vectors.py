# SPDX-License-Identifier: Apache-2.0
"""The conformance kit: its files, the runner, seeded faults that must be found and named, bad kits and bad commands."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import vectors
from narrowgauge.vectors.__main__ import main
from narrowgauge.vectors.kit import bits

SMALL = ["layouts", "sparsity"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("kit")
    vectors.write(path)
    return path


@pytest.fixture(scope="module")
def kit(folder: Path) -> vectors.Kit:
    return vectors.open_kit(folder)


def script(tmp_path: Path, body: str) -> list[str]:
    """A command that runs these lines for each question `q`; `say` answers."""
    file = tmp_path / "mine.py"
    head = "import json, sys, time\ndef say(x): print(json.dumps(x), flush=True)\nfor line in sys.stdin:\n    q = json.loads(line)\n"
    file.write_text(head + textwrap.indent(textwrap.dedent(body), "    "))
    return [sys.executable, str(file)]


def test_every_kind_and_operation_has_cases(kit: vectors.Kit) -> None:
    assert {case.operation for case in kit.cases.values()} == set(vectors.OPERATIONS)
    assert {row["kind"] for row in kit.provenance} == set(vectors.KINDS)
    for case in kit.cases.values():
        one = vectors.OPERATIONS[case.operation]
        assert set(case.inputs) <= set(one.inputs), case.name
        assert set(case.outputs) == set(one.outputs), case.name
        assert set(case.parameters) == set(one.parameters), case.name


def test_the_golden_model_passes(kit: vectors.Kit) -> None:
    report = vectors.check(kit, vectors.reference)
    assert report.passed
    assert report.count("pass") == len(kit.cases)


def test_the_same_bytes_each_time(folder: Path, tmp_path: Path) -> None:
    vectors.write(tmp_path, kinds=SMALL)
    for kind in SMALL:
        for ending in ("npz", "json", "h"):
            assert (tmp_path / f"{kind}.{ending}").read_bytes() == (folder / f"{kind}.{ending}").read_bytes()


def test_json_and_npz_hold_the_same(folder: Path, kit: vectors.Kit) -> None:
    found = 0
    for kind in vectors.KINDS:
        for case in json.loads((folder / f"{kind}.json").read_text())["cases"]:
            one = kit.cases[case["name"]]
            assert (case["operation"], case["parameters"]) == (one.operation, one.parameters)
            for spelled, arrays in ((case["inputs"], one.inputs), (case["outputs"], one.outputs)):
                assert spelled.keys() == arrays.keys()
                for name, a in arrays.items():
                    assert spelled[name]["shape"] == list(a.shape)
                    assert spelled[name]["data"] == bits(a).ravel().tolist()
            found += 1
    assert found == len(kit.cases)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_headers_compile_and_hold_the_same(folder: Path, kit: vectors.Kit, tmp_path: Path) -> None:
    """A C program adds up an array of each small header."""
    names = {"layouts": "layouts/swizzle/130x7", "sparsity": "sparsity/compress/2:4", "luq": "luq/7/8"}
    lines = []
    for name in names.values():
        for output in kit.cases[name].outputs:
            array = f"ng_{name.replace('/', '_').replace(':', '_')}_out_{output}"
            lines.append(
                f"total = 0; for (i = 0; i < sizeof {array} / sizeof *{array}; i++) total = total * 31 + {array}[i];"
                'printf("%lu\\n", total);'
            )
    body = "".join(f'#include "{kind}.h"\n' for kind in names)
    (tmp_path / "sum.c").write_text(
        f"{body}#include <stdio.h>\nint main(void) {{ unsigned long total; unsigned i;\n{chr(10).join(lines)}\nreturn 0; }}\n"
    )
    subprocess.run(["cc", "-std=c11", "-I", folder, "-o", tmp_path / "sum", tmp_path / "sum.c"], check=True)
    printed = subprocess.run([tmp_path / "sum"], check=True, capture_output=True, text=True).stdout.split()
    wanted = []
    for name in names.values():
        for a in kit.cases[name].outputs.values():
            total = 0
            for word in bits(a).ravel().tolist():
                total = (total * 31 + word) % 2**64
            wanted.append(str(total))
    assert printed == wanted


def test_seeded_faults_are_found_and_named(kit: vectors.Kit) -> None:
    """One bit of one number of each output of each case: found there, and nowhere else."""
    rng = np.random.default_rng(38)
    seeded = 0
    for case in kit.cases.values():
        one = vectors.Kit(kit.folder, {case.name: case})
        for output, right in case.outputs.items():
            at = tuple(int(rng.integers(n)) for n in right.shape)

            def faulty(*_: object, case: vectors.Case = case, output: str = output, at: tuple[int, ...] = at) -> dict:
                made = {name: a.copy() for name, a in case.outputs.items()}
                bits(made[output])[at] ^= 1
                return made

            (outcome,) = vectors.check(one, faulty).outcomes
            if outcome.status == "pass":  # one NaN made another
                assert right.dtype == np.float32
                assert np.isnan(right[at])
                continue
            assert outcome.status == "fail"
            assert outcome.mismatches == 1
            assert outcome.first is not None
            assert (outcome.case, outcome.first["output"], outcome.first["at"]) == (case.name, output, list(at))
            assert set(outcome.first["inputs"]) == set(case.inputs)
            seeded += 1
    assert seeded > len(kit.cases)


def test_one_fault_among_all_cases(kit: vectors.Kit) -> None:
    def faulty(operation: str, parameters: dict, inputs: dict) -> dict | None:
        made = vectors.reference(operation, parameters, inputs)
        if operation == "encode" and parameters["format"] == "e5m2" and parameters["rounding"] == "toward_zero":
            assert made is not None
            wrong = np.flatnonzero(inputs["value"] == np.float32(1.75))[0]
            made["code"][wrong] += 1
        return made

    report = vectors.check(kit, faulty)
    failed = [one for one in report.outcomes if one.status == "fail"]
    assert [one.case for one in failed] == ["casts/e5m2/toward_zero/saturate"]
    assert failed[0].first is not None
    assert failed[0].first["inputs"] == {"value": {"value": "1.75", "bits": "0x3fe00000"}}


def test_nans_are_one_and_numbers_are_not(kit: vectors.Kit) -> None:
    case = kit.cases["casts/e5m2/decode"]
    one = vectors.Kit(kit.folder, {case.name: case})
    value = case.outputs["value"]
    other = np.where(np.isnan(value), np.uint32(0xFFC12345).view(np.float32), value)
    assert vectors.check(one, lambda *_: {"value": other}).passed
    assert vectors.check(one, lambda *_: {"value": other.view(np.uint32)}).passed
    assert not vectors.check(one, lambda *_: {"value": np.where(np.isnan(value), np.float32(0), value)}).passed
    zeros = np.where(value == 0, np.float32(0), value)  # the sign of a zero counts
    assert vectors.check(one, lambda *_: {"value": zeros}).outcomes[0].mismatches == 1


@pytest.mark.parametrize(
    ("returns", "says"),
    [
        (lambda c: [1], "expected outputs by name, or None"),
        (lambda c: {"codes": np.zeros(3, np.uint8)}, r"has shape \(3,\); expected"),
        (lambda c: {**c.outputs, "codes": c.outputs["codes"].astype(np.float32)}, "is of type float32; expected uint8"),
        (lambda c: {**c.outputs, "codes": c.outputs["codes"].astype(np.int64) - 1}, "numbers from -1 to"),
        (
            lambda c: {**c.outputs, "codse": c.outputs["codes"]},
            'gave output "codse"; expected codes, tensor_scale, scales',
        ),
        (lambda c: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_what_is_no_answer_fails_its_case(kit: vectors.Kit, returns: Callable, says: str) -> None:
    case = kit.cases["blocks/te/nvfp4/ties"]
    (outcome,) = vectors.check(vectors.Kit(kit.folder, {case.name: case}), lambda *_: returns(case)).outcomes
    assert outcome.status == "fail"
    assert re.search(says, outcome.message), outcome.message


def test_what_is_left_out_is_named(kit: vectors.Kit) -> None:
    case = kit.cases["blocks/te/nvfp4/ties"]
    one = vectors.Kit(kit.folder, {case.name: case})
    (outcome,) = vectors.check(one, lambda *_: {"codes": case.outputs["codes"]}).outcomes
    assert (outcome.status, outcome.left_out) == ("pass", ("tensor_scale", "scales"))
    assert not vectors.check(one, lambda *_: None).passed
    assert not vectors.check(one, lambda *_: {}).passed


def test_an_implementation_cannot_change_the_kit(kit: vectors.Kit) -> None:
    def spoils(operation: str, parameters: dict, inputs: dict) -> None:
        for a in inputs.values():
            a[...] = 0
        parameters.clear()

    vectors.check(kit, spoils)
    assert vectors.check(kit, vectors.reference).passed


# The protocol.
ANSWER = """\
    from narrowgauge import vectors
    import numpy as np
    x = {}
    for name, one in q["inputs"].items():
        a = np.array(one["data"], "uint32" if one["type"] == "float32" else one["type"]).reshape(one["shape"])
        x[name] = a.view(np.float32) if one["type"] == "float32" else a
    made = vectors.reference(q["operation"], q["parameters"], x)
    flat = {n: np.ascontiguousarray(a).ravel() for n, a in made.items()}
    flat = {n: a.view(np.uint32) if a.dtype == np.float32 else a for n, a in flat.items()}
    say({"outputs": {n: a.tolist() for n, a in flat.items()}})
    """


def test_a_command_passes(folder: Path, tmp_path: Path) -> None:
    kit = vectors.open_kit(folder, kinds=["sparsity", "dots"])
    with vectors.Command(script(tmp_path, ANSWER)) as command:
        report = vectors.check(kit, command)
    assert report.passed
    assert report.count("pass") == len(kit.cases)


def test_a_command_skips_and_fails(folder: Path, tmp_path: Path) -> None:
    kit = vectors.open_kit(folder, kinds=SMALL)
    body = """\
    if q["operation"] != "pack": say({"skip": "no such thing here"})
    else:
        c = q["inputs"]["codes"]["data"]
        say({"outputs": {"bytes": [c[i] << 4 | c[i + 1] for i in range(0, len(c), 2)]}})
    """
    with vectors.Command(script(tmp_path, body)) as command:
        report = vectors.check(kit, command)
    (failed,) = (one for one in report.outcomes if one.status != "skip")
    assert (failed.operation, failed.status) == ("pack", "fail")
    assert failed.first is not None
    assert failed.first["output"] == "bytes"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("sys.exit(3)", r"ended at layouts/swizzle/1x1 \(code 3\); expected a line of JSON for each case"),
        ("time.sleep(60)", r"did not answer layouts/swizzle/1x1 in 1 s; name a longer --timeout"),
        ("print('hello', flush=True)", "expected a line of JSON"),
        ("say([1])", "expected .*outputs"),
        ("say({'outputs': [1]})", "expected .*outputs"),
        ("say({'outputs': {'bytes': [1, 2]}})", 'output "bytes" has 2 numbers; expected 512, of shape'),
        ("say({'outputs': {'bytes': [256] * 512}})", "numbers from 256 to 256; expected 0 to 255, which is uint8"),
        ("say({'outputs': {'bytes': [1.5] * 512}})", "expected a flat list of whole numbers"),
        ("say({'outputs': {'bytes': 'x'}})", "expected a flat list of whole numbers"),
    ],
)
def test_commands_that_break_the_protocol(folder: Path, tmp_path: Path, body: str, says: str) -> None:
    kit = vectors.open_kit(folder, kinds=SMALL)
    with (
        vectors.Command(script(tmp_path, body), timeout=20 if "sleep" not in body else 1) as command,
        pytest.raises(ng.Error, match=says),
    ):
        vectors.check(kit, command)


def test_a_command_that_does_not_read(folder: Path) -> None:
    kit = vectors.open_kit(folder, kinds=["blocks"])  # a question is larger than a pipe
    with vectors.Command("sleep 60", timeout=1) as command, pytest.raises(ng.Error, match="did not answer"):
        vectors.check(kit, command)


# Bad kits.
def changed(folder: Path, to: Path, name: str, change: Callable[[bytes], bytes], *, rehash: bool = False) -> Path:
    """A copy of two kinds of the kit, one file of it changed; rehash: its manifest says so."""
    vectors.write(to, kinds=SMALL)
    path = to / name
    path.write_bytes(change(path.read_bytes()))
    if rehash:
        manifest = json.loads((to / "kit.json").read_text())
        for row in manifest["files"]:
            if row["file"] == name:
                row["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
        (to / "kit.json").write_text(json.dumps(manifest))
    return to


def edited(change: Callable[[dict], object]) -> Callable[[bytes], bytes]:
    def apply(content: bytes) -> bytes:
        manifest = json.loads(content)
        change(manifest)
        return json.dumps(manifest).encode()

    return apply


BAD: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "changed": ("layouts.npz", lambda c: c[:2000] + b"\xff" + c[2001:], r"layouts.npz\" has SHA-256 .* \(changed\); expected"),
    "truncated": ("layouts.json", lambda c: c[:-100], r"layouts.json\" has SHA-256 .* bytes of \d+\); expected"),
    "empty": ("sparsity.h", lambda c: b"", "sparsity.h"),
    "no JSON": ("kit.json", lambda c: c[:-20], "is no JSON"),
    "deep": ("kit.json", lambda c: b"[" * 200000, "is no JSON"),
    "another": ("kit.json", lambda c: b"[1]", 'expected a kit "narrowgauge-vectors"'),
    "version": ("kit.json", edited(lambda m: m.update(version=9)), "of version 9; expected 1"),
    "files": ("kit.json", edited(lambda m: m.update(files=3)), "has files 3; expected a list"),
    "unknown kind": ("kit.json", edited(lambda m: m["files"][0].update(kind="cats")), "of kind 'cats'; expected casts"),
    "outside": ("kit.json", edited(lambda m: m["files"][0].update(file="../x")), "expected a name in its folder"),
    "missing": ("kit.json", edited(lambda m: m["files"][0].update(file="x.npz")), 'cannot read ".*x.npz"'),
    "operation": ("kit.json", edited(lambda m: m["cases"][0].update(operation="divide")), "has operation 'divide'; expected"),
    "shape": ("kit.json", edited(lambda m: m["cases"][0]["outputs"]["bytes"].update(shape=[1])), "expected .* as kit.json says"),
    "array": ("kit.json", edited(lambda m: m["cases"][0]["outputs"].update(more={})), 'has no array "layouts/swizzle/1x1.out.more"'),
    "arrays": ("kit.json", edited(lambda m: m["cases"][0].update(inputs=[])), "expected arrays by name"),
    "twice": ("kit.json", edited(lambda m: m["cases"].append(m["cases"][0])), "expected names that differ"),
    "no cases": ("kit.json", edited(lambda m: m.update(cases=[])), "has no case"),
    "no file": ("kit.json", edited(lambda m: m.update(files=[])), "lists no layouts.npz"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_kits_get_a_sentence(folder: Path, tmp_path: Path, name: str) -> None:
    file, change, says = BAD[name]
    with pytest.raises(ng.Error, match=says):
        vectors.open_kit(changed(folder, tmp_path, file, change))


def test_archives_cut_or_changed_under_a_right_hash(folder: Path, tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    size = (folder / "layouts.npz").stat().st_size
    for _ in range(60):
        at = int(rng.integers(size))
        change = (
            (lambda c, at=at: c[:at])
            if rng.random() < 0.3
            else (lambda c, at=at: c[:at] + bytes([c[at] ^ 8]) + c[at + 1 :])
        )
        place = changed(folder, tmp_path, "layouts.npz", change, rehash=True)
        try:
            kit = vectors.open_kit(place)
        except ng.Error:
            continue
        vectors.check(kit, vectors.reference)


@pytest.mark.parametrize("bad", [None, 3, b"x", object(), "\0"])
def test_paths_and_names_that_are_none(bad: object, tmp_path: Path) -> None:
    for call in (vectors.write, vectors.open_kit):
        if bad == b"x" and call is vectors.write:
            continue
        with pytest.raises((ng.Error, ValueError)):
            call(bad)  # type: ignore[operator]
    for kinds in (3, "casts", ["cats"], [None], []):
        with pytest.raises(ng.Error):
            vectors.write(tmp_path, kinds=kinds)  # type: ignore[arg-type]
    for words in ("", [], [3], "'", ["\0"], ["/none/such"], 5):
        with pytest.raises(ng.Error):
            vectors.Command(words)  # type: ignore[arg-type]
    for timeout in (0, -1, float("nan"), "x", 1e9):
        with pytest.raises(ng.Error):
            vectors.Command("true", timeout=timeout)  # type: ignore[arg-type]
    with pytest.raises(ng.Error, match="open_kit"):
        vectors.check("kit", vectors.reference)  # type: ignore[arg-type]
    with pytest.raises(ng.Error, match='operation "divide" is unknown'):
        vectors.reference("divide", {}, {})


# The program.
def test_program(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(tmp_path / "made")
    assert main(["write", place, "--kind", "layouts", "--kind", "sparsity", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["files"]) == 6
    assert main(["list", place]) == 0
    assert "gguf_block" in capsys.readouterr().out
    assert main(["check", place, "--callable", "narrowgauge.vectors:reference", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cases"] == {"pass": 18, "fail": 0, "skip": 0}
    wrong = script(tmp_path, "say({'outputs': {'bytes': [1] * 512}} if 'swizzle/1x1' in q['case'] else {'skip': 'no'})")
    assert main(["check", place, "--command", " ".join(wrong)]) == 1
    printed = capsys.readouterr().out
    assert "FAIL  layouts/swizzle/1x1" in printed
    assert "bytes[0] is 1; expected" in printed
    assert main(["check", place, "--command", " ".join(script(tmp_path, "say({'skip': 'no'})"))]) == 2
    assert "nothing was compared" in capsys.readouterr().err
    for name in ("x", "x:y", "json:nothing", "json:__name__"):
        assert main(["check", place, "--callable", name]) == 2
        assert f"--callable {name}" in capsys.readouterr().err.replace("is '", "").replace("'", "")
    assert main(["check", str(tmp_path / "none"), "--callable", "narrowgauge.vectors:reference"]) == 2
    assert "kit.json" in capsys.readouterr().err
    assert main(["write", place, "--kind", "cats"]) == 2
    assert "expected one of casts" in capsys.readouterr().err
