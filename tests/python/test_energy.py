# SPDX-License-Identifier: Apache-2.0
"""Questions to the energy gauge from Python. What it answers is tested in power/tests."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import narrowgauge as ng

RNG = np.random.default_rng(5)
A, B = RNG.standard_normal((6, 40)), RNG.standard_normal((40, 7))
FEATURES = list(ng.flips("int8", (A, B)))


@pytest.fixture
def gauge(tmp_path: Path) -> ng.Gauge:
    """One technology, `mine`, in which the i-th feature costs i + 1 femtojoules."""
    rung = {"error_mean_abs": 0.05, "error_max": 0.2, "held_out": [{"unit": "u", "stimulus": "gauss", "error": 0.05}]}
    calibration = {
        "id": "made up",
        "technology": "mine",
        "coefficients": {name: 1e-15 * (i + 1) for i, name in enumerate(FEATURES)},
        **dict.fromkeys(("L0", "L1", "L2"), rung),
    }
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(calibration))
    return ng.Gauge([path])


def price(features: dict[str, float]) -> float:
    return sum(1e-15 * (FEATURES.index(name) + 1) * value for name, value in features.items())


def test_a_format_for_each_operand() -> None:
    assert (
        ng.energy(a_format="int8", b_format="int4", rung="L0").value == ng.energy("integer", b_width=4, rung="L0").value
    )
    assert ng.energy(a_format="int4", b_format="fp4_e3m0", rung="L0").value == ng.energy("luq", rung="L0").value
    with pytest.raises(ng.FieldError, match="of int4 x fp4_e2m1 there is neither a unit nor a calibration") as refused:
        ng.energy(a_format="int4", b_format="fp4_e2m1")
    assert (refused.value.field, refused.value.value) == ("b_format", "fp4_e2m1")
    with pytest.raises(ng.FieldError, match="format is missing"):
        ng.energy()


def test_the_papers_numbers() -> None:
    for bits, signed, unsigned in ((2, 24, 10), (4, 36, 24)):
        assert ng.energy(f"int{bits}", mode="pann_paper").value == signed
        assert ng.energy(f"uint{bits}", mode="pann_paper").value == unsigned
    answer = ng.energy("int4", mode="pann_paper", count=3)
    assert (answer.unit, answer.rung, answer.mode, answer.each) == ("flip", "L0", "pann_paper", 36)
    assert (answer.technology, answer.calibration, answer.error, answer.features) == (None, None, None, None)
    assert "accumulator input" in answer.explain()
    assert answer.value == json.loads(answer.json())["value"] == 108
    assert "explanation" in json.loads(answer.json(explain=True))
    assert "36" in str(ng.energy("int4", mode="pann_paper"))


def test_an_answer_says_where_it_is_from(gauge: ng.Gauge) -> None:
    answer = ng.energy("int8", technology="mine", gauge=gauge)
    assert (answer.technology, answer.calibration, answer.unit, answer.rung) == ("mine", "made up", "J", "L0")
    assert answer.error is not None
    # It names no unit that was fitted: one step outside of its range, so both errors are doubled (docs/energy.md, Range).
    assert not answer.in_range
    assert (answer.error.mean_abs, answer.error.max_abs, answer.error.samples) == (0.1, 0.4, 1)
    assert answer.value > 0
    assert "mine" in ng.technologies(gauge=gauge)
    assert "mine" not in ng.technologies()
    assert "made up" in answer.explain()


@pytest.mark.parametrize(("format", "lanes"), [("nvfp4", 16), ("fp8_e4m3", 4), ("int8", 1), ("uint4", 8)])
def test_energy_of_operands_is_what_is_counted_on_them(gauge: ng.Gauge, format: str, lanes: int) -> None:
    operands = (abs(A), abs(B)) if format == "uint4" else (A, B)
    counted = ng.flips(format, operands, lanes=lanes)
    answer = ng.energy(format, technology="mine", lanes=lanes, operands=operands, gauge=gauge)
    assert answer.rung == "L1"
    assert answer.features == counted
    assert answer.each == pytest.approx(price(counted) / lanes)
    assert answer.value == pytest.approx(answer.each * 6 * 7 * 40)
    again = ng.energy(format, technology="mine", lanes=lanes, operands=operands, gauge=gauge, count=1, threads=3)
    assert again.value == again.each == answer.each
    assert answer.each == pytest.approx(price(counted) / lanes)
    assert "made up" in answer.explain()
    quiet = ng.flips(format, (0 * abs(A), 0 * abs(B)), lanes=lanes)
    assert quiet["register_flips"] == 0 < counted["register_flips"]


def test_flips_of_codes_are_those_of_the_registers() -> None:
    """Operand registers and the 24-bit accumulator, by hand; the accumulator is a cycle behind."""
    a, b = RNG.integers(-128, 128, (3, 50)), RNG.integers(-8, 8, (50, 2))
    outputs = [(i, j) for i in range(3) for j in range(2)]
    stream_a = np.concatenate([a[i] for i, _ in outputs])
    stream_b = np.concatenate([b[:, j] for _, j in outputs])
    sums = np.concatenate([np.cumsum(a[i] * b[:, j]) for i, j in outputs])

    def toggles(values: np.ndarray, width: int) -> int:
        codes = values & ((1 << width) - 1)
        return int(np.bitwise_count(codes[1:] ^ codes[:-1]).sum())

    counted = ng.flips("integer", (a, b), a_width=8, b_width=4, acc_width=24)
    want = toggles(stream_a, 8) + toggles(stream_b, 4) + toggles(np.append(0, sums[:-1]), 24)
    assert counted["register_flips"] == pytest.approx(want / (len(sums) - 1))


def test_histograms_are_arrays(gauge: ng.Gauge) -> None:
    flat = np.ones(256)
    uniform = ng.energy("int8", technology="mine", gauge=gauge)
    assert ng.energy("int8", technology="mine", a=flat, b=flat, gauge=gauge).each == pytest.approx(uniform.each)
    still = np.zeros(256, dtype=int)
    still[3] = 7
    assert ng.energy("int8", technology="mine", a=still, b=list(still), gauge=gauge).each < uniform.each / 2


def test_many_questions_go_on_after_a_bad_one(gauge: ng.Gauge) -> None:
    dram = {"memory": "dram", "technology": "ddr3_1066", "bits": np.float64(8)}
    good, bad, memory = ng.energy_many(
        [{"format": "int8", "technology": "mine"}, {"format": "int8", "lanes": -1}, dram], gauge=gauge
    )
    assert isinstance(good, ng.Answer)
    assert isinstance(bad, ng.FieldError)
    assert (bad.field, bad.value) == ("lanes", "-1")
    assert isinstance(memory, ng.Answer)
    assert memory.value == ng.memory_energy("dram", technology="ddr3_1066", bits=8).value > 0
    bad, good = ng.energy_many([3, {"format": "int4", "mode": "pann_paper"}])  # type: ignore[list-item]
    assert isinstance(bad, ng.Error)
    assert "question is 3" in str(bad)
    assert isinstance(good, ng.Answer)
    lines = ng.energy_lines('{"format": "int4", "mode": "pann_paper"}\nnonsense\n{"id": 7, "format": "int8"}\n')
    first, second, third = map(json.loads, lines.splitlines())
    assert first["value"] == 36
    assert second["error"]["line"] == 2
    assert third["id"] == 7


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ng.energy("int88"), ["format", "int88", "nvfp4"]),
        (lambda: ng.energy("int8", lanes=0), ["lanes", "0", "1024"]),
        (lambda: ng.energy("int8", colour="red"), ["colour", "red", "a_width"]),
        (lambda: ng.energy("int8", count=-1.0), ["count", "-1"]),
        (lambda: ng.energy("int8", count=np.nan), ["count", "nan", "a number"]),
        (lambda: ng.energy("int2", a=np.float64([1, np.inf, 1, 1])), ["a is", "inf", "a number"]),
        (lambda: ng.energy("int8", a=np.ones(3)), ["3 entries", "256"]),
        (lambda: ng.energy("int8", technology="tsmc1"), ["tsmc1", "horowitz_45nm"]),
        (lambda: ng.memory_energy("tape", technology="x"), ["tape", "dram"]),
        (lambda: ng.memory_energy("dram", technology="ddr3_1066", bits=-1.0), ["bits", "-1"]),
        (lambda: ng.flips("int8", (A, B.T)), ["(6, 40)", "(7, 40)", "K x N"]),
        (lambda: ng.flips("int8", (A[0], B)), ["(40,)", "two dimensions"]),
        (lambda: ng.flips("int8", (A, B.astype(int))), ["float64", "int64"]),
        (lambda: ng.flips("int8", (A * 1j, B)), ["complex128"]),
        (lambda: ng.flips("nvfp4", (A, B), lanes=8), ["lanes", "8", "16"]),
        (lambda: ng.flips("int4", (A.astype(int) + 8, B.astype(int))), ["row", "column", "-8 to 7"]),
        (lambda: ng.flips("int8", (A * np.nan, B)), ["row 0"]),
        (lambda: ng.Gauge(["nowhere.json"]), ["nowhere.json"]),
    ],
)
def test_errors_are_sentences_that_name_the_value(call: object, words: list[str]) -> None:
    with pytest.raises(ng.Error) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)
    assert len(str(caught.value).split()) > 4
