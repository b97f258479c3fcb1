# SPDX-License-Identifier: Apache-2.0
"""The conformance kit on implementations that share no code with the golden model, and on such that are wrong.

The results of docs/conformance.md are compared with those of the libraries that are installed here; others are skipped by name.
"""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import accumulation
import conformance
import dialects
import ml_dtypes
import numpy as np
import pytest

from narrowgauge import vectors

F = np.float32


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> vectors.Kit:
    folder = tmp_path_factory.mktemp("kit")
    vectors.write(folder)
    return vectors.open_kit(folder)


def part(kit: vectors.Kit, chosen: Callable[[vectors.Case], bool]) -> vectors.Kit:
    return vectors.Kit(Path(), {name: case for name, case in kit.cases.items() if chosen(case)})


def published() -> list[str]:
    page = conformance.PAGE.read_text()
    return [row for row in page.split(conformance.BEGIN)[1].split(conformance.END)[0].splitlines() if row[:2] == "| "][
        1:
    ]


@pytest.mark.parametrize("name", conformance.ADAPTERS)
def test_results_are_those_of_the_page(kit: vectors.Kit, name: str) -> None:
    version = conformance.version(name)
    if version is None:
        pytest.skip(f"{name} is not installed")
    label = f"{name} {version}".strip()
    rows = [row for row in published() if row.startswith(f"| {label} |")]
    if not rows:
        pytest.skip(f"the page has another version than {label}")
    made, absent = conformance.results([name], kit)
    assert not absent
    assert made == rows


def reports() -> dict[str, str]:
    """Examples of the page's reports to upstream, by library and version."""
    section = re.split("^## ", conformance.PAGE.read_text().split("## Reports to upstream")[1], flags=re.M)[0]
    return {
        part.partition(":")[0]: "\n".join(re.findall("^```\n(.*?)^```$", part, re.M | re.S))
        for part in section.split("\n### ")[1:]
    }


@pytest.mark.parametrize("library", reports())
def test_reports_to_upstream_show_what_they_say(library: str) -> None:
    if conformance.version(library.split()[0]) != library.split()[1]:
        pytest.skip(f"{library} is not installed")
    examples = doctest.DocTestParser().get_doctest(reports()[library], {}, library, None, None)
    assert examples.examples
    assert doctest.DocTestRunner().run(examples).failed == 0


def test_transcriptions_agree(kit: vectors.Kit) -> None:
    report = vectors.check(kit, conformance.ADAPTERS["transcription"]())
    assert report.passed
    assert report.count("pass") > 130


def te(x: np.ndarray, reading: str) -> tuple[np.ndarray, np.ndarray]:
    """Codes and scales of Transformer Engine's sequence with one step read otherwise."""
    blocks, tensor = x.reshape(-1, 16), np.abs(x).max()
    with np.errstate(all="ignore"):
        s_enc = np.minimum(F(2688) / tensor, dialects.FLT_MAX)
        s_dec = F(1) / s_enc
        amax = np.abs(blocks).max(axis=1)
        raw = amax * (s_enc * (F(1) / F(6))) if reading != "a/6 first" else amax / F(6) * s_enc
        scales = dialects.to_e4m3(np.minimum(raw, dialects.FLT_MAX))
        unit = dialects.from_e4m3(scales) * s_dec
        e = np.minimum(F(1) / unit, dialects.FLT_MAX)
        if reading == "S_enc / s":
            e = np.minimum(s_enc / dialects.from_e4m3(scales), dialects.FLT_MAX)
        elif reading == "multiplier in BF16":
            e = np.minimum(e.astype(ml_dtypes.bfloat16).astype(F), F(3.3895e38))
        y = blocks * e[:, None] if reading != "division" else blocks / unit[:, None]
        y = np.nan_to_num(y, nan=0, posinf=6, neginf=-6)
    ties = replace(dialects.TE, ties="nearest_away") if reading == "ties away" else dialects.TE
    codes = dialects.to_e2m1(y, ties)
    if reading == "zero scale, zero codes":
        codes = np.where(scales[:, None] == 0, np.uint8(0), codes)
    return codes.reshape(x.shape), scales.reshape(len(x), -1)


READINGS = ("a/6 first", "S_enc / s", "multiplier in BF16", "division", "ties away", "zero scale, zero codes")


@pytest.mark.parametrize("reading", ["right", *READINGS])
def test_wrong_readings_of_blocks_die(kit: vectors.Kit, reading: str) -> None:
    """Those that verif/oracle/vectors/README.md lists; what is read right passes."""

    def answer(operation: str, parameters: dict[str, Any], inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        codes, scales = te(inputs["x"], reading)
        return {"codes": codes, "scales": scales}

    report = vectors.check(part(kit, lambda case: case.parameters.get("dialect") == "te"), answer)
    assert report.count("skip") == 0
    assert report.passed == (reading == "right"), [one for one in report.outcomes if one.first]


@pytest.mark.parametrize("reading", ["right", *accumulation.WRONG])
def test_wrong_readings_of_sums_die(kit: vectors.Kit, reading: str) -> None:
    rule = accumulation.WRONG.get(reading, accumulation.BLACKWELL_64)

    def answer(operation: str, parameters: dict[str, Any], inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {"d": conformance.chained(rule, parameters, inputs)}

    def chosen(case: vectors.Case) -> bool:
        return case.parameters.get("rule") == "blackwell_64" and case.parameters["scale_format"] == "ue4m3"

    report = vectors.check(part(kit, chosen), answer)
    assert report.count("skip") == 0
    assert report.passed == (reading == "right")


@pytest.mark.parametrize(
    ("rule", "bits"), [("blackwell_32", 24), ("blackwell_32", 26), ("hopper_32", 12), ("hopper_32", 14)]
)
def test_a_bit_more_or_less_dies(kit: vectors.Kit, rule: str, bits: int) -> None:
    right = {"blackwell_32": accumulation.BLACKWELL_32, "hopper_32": accumulation.HOPPER_FP8}[rule]

    def answer(operation: str, parameters: dict[str, Any], inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return {"d": conformance.chained(replace(right, bits=bits), parameters, inputs)}

    one = part(kit, lambda case: case.parameters.get("rule") == rule)
    elements = {case.parameters["a_format"] + str(case.parameters["b_format"]) for case in one.cases.values()}
    report = vectors.check(one, answer)
    failed = {one.cases[o.case].parameters["a_format"] + str(one.cases[o.case].parameters["b_format"])
              for o in report.outcomes if o.status == "fail"}  # fmt: skip
    assert failed == elements


def test_serving(kit: vectors.Kit) -> None:
    """The adapters answer as a command what they answer as functions."""
    import sys

    some = part(kit, lambda case: case.name.startswith(("casts/e4m3", "sparsity", "blocks/te_2d/nvfp4/ties")))
    for name in ("ml_dtypes", "transcription"):
        words = [sys.executable, conformance.__file__, "--serve", name]
        with vectors.Command(words, timeout=300) as command:
            served = vectors.check(some, command)
        here = vectors.check(some, conformance.ADAPTERS[name]())
        assert [o.status for o in served.outcomes] == [o.status for o in here.outcomes]
        assert served.count("pass")


def test_absent_libraries_are_named(kit: vectors.Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conformance, "version", lambda name: None)
    assert conformance.results(["gfloat", "jax"], kit) == ([], ["gfloat", "jax"])
