# SPDX-License-Identifier: Apache-2.0
"""Energy of a training step by a recipe: what is counted, in which formats, and what is refused."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import narrowgauge as ng
from narrowgauge import train
from narrowgauge.train import energy_command

SPACE: dict[str, Any] = {
    "technology": "osu018",
    "memory": {"sram": "horowitz_45nm", "dram": ["dram", "horowitz_45nm"]},
    "lanes": 16,
    "result": "bf16",
}
M, N, K = 32, 64, 48
WORK = {
    "name": "two",
    "layers": [
        {"op": "gemm", "name": "linear", "m": M, "n": N, "k": K},
        {"op": "gemm", "name": "scores", "m": M, "n": M, "k": 16, "weights": False},
        {"op": "gemm", "name": "out", "m": M, "n": K, "k": N},
    ],
}
LINEAR = 2 * M * N * K
ATTENTION = 3 * M * M * 16


def parts(result: train.StepEnergy, what: str) -> dict[tuple[str, str], train.StepPart]:
    return {(part.name, part.format): part for part in result.parts if part.what == what}


@pytest.fixture(scope="module")
def nvfp4() -> train.StepEnergy:
    return train.step_energy("fp4-all-the-way", WORK, SPACE)


def test_products_are_in_the_recipes_formats(nvfp4: train.StepEnergy) -> None:
    products = parts(nvfp4, "products")
    names = ("forward", "input_gradient", "weight_gradient")
    assert {key: part.operations for key, part in products.items()} == {
        **{(name, "nvfp4"): LINEAR for name in names},
        ("attention", "fp32"): ATTENTION,
    }
    for part in products.values():
        assert part.joule == pytest.approx(part.mac_joule + part.sram_joule + part.dram_joule + part.idle_joule)
    price = ng.energy("nvfp4", lanes=16, a="gauss", b="gauss", rung="L3")
    assert products["forward", "nvfp4"].mac_joule == pytest.approx(LINEAR * price.value)
    assert products["forward", "nvfp4"].rung == "L3"
    fp8 = parts(train.step_energy("fp8", WORK, SPACE), "products")
    assert {key for key in fp8 if key[0] != "attention"} == {
        ("forward", "fp8_e4m3"),
        ("input_gradient", "fp8_e5m2"),
        ("weight_gradient", "fp8_e5m2"),
    }


def test_quantizers_take_each_operand_of_each_product(nvfp4: train.StepEnergy) -> None:
    units = parts(nvfp4, "quantizers")
    activations, weights, gradients = (sum(sizes) for sizes in ((M * K, M * N), (K * N, N * K), (M * N, M * K)))
    # To nearest: both operands forward, and the weights of the gradient of the inputs.
    assert units["nvfp4_quantizer_pipelined", "nvfp4"].operations == activations + 2 * weights
    assert units["nvfp4_sr_quantizer_pipelined", "nvfp4"].operations == 2 * gradients + activations
    unit = ng.energy_many([{"unit": "nvfp4_quantizer_pipelined", "technology": "osu018"}])[0]
    assert isinstance(unit, ng.Answer)
    part = units["nvfp4_quantizer_pipelined", "nvfp4"]
    assert part.joule == pytest.approx(part.operations * unit.value)


def test_samples_and_high_layers() -> None:
    one, two = (train.step_energy(name, WORK, SPACE) for name in ("luq", "luq-smp2"))
    assert parts(one, "products").keys() == {(name, "fp32") for name in (*train.recipe.PRODUCTS, "attention")}
    recipes = [replace(train.load(name), high=()) for name in ("luq", "luq-smp2")]
    one, two = (train.step_energy(recipe, WORK, SPACE) for recipe in recipes)
    products = [parts(made, "products") for made in (one, two)]
    assert products[0]["forward", "int4"].operations == LINEAR
    assert products[0]["input_gradient", "luq"].operations == LINEAR
    assert products[1]["weight_gradient", "luq"].operations == 2 * products[0]["weight_gradient", "luq"].operations
    units = [parts(made, "quantizers") for made in (one, two)]
    gradients = M * N + M * K
    assert units[0]["luq_quantizer", "luq"].operations == 2 * gradients
    assert units[1]["luq_quantizer", "luq"].operations == 3 * gradients


def test_integers_of_16_bits_are_two_of_8() -> None:
    made = train.step_energy("range-bn-int8", WORK, SPACE)
    products = parts(made, "products")
    assert products["forward", "int8"].operations == products["input_gradient", "int8"].operations == LINEAR
    assert products["weight_gradient", "int8"].operations == 2 * LINEAR
    assert any("int8 stochastic" in sentence for sentence in made.missing)
    assert any("int16" in sentence for sentence in made.missing)


def test_optimizer_and_references(nvfp4: train.StepEnergy) -> None:
    high = train.step_energy("fp32", WORK, SPACE)
    assert not parts(high, "quantizers")
    assert high.references["fp32"] == pytest.approx(high.joule)
    assert high.references["fp32"] == pytest.approx(nvfp4.references["fp32"])
    assert nvfp4.references["fp32"] > nvfp4.references["bf16"] > nvfp4.references["int8"]
    memory = parts(high, "optimizer memory")["weights, gradients, moments", "float32"]
    parameters = 2 * N * K
    assert memory.operations == parameters * 32 * (4 + 3)
    bit = ng.memory_energy("dram", technology="horowitz_45nm", bits=1).value
    assert memory.joule == pytest.approx(memory.operations * bit)
    narrow = train.step_energy("fp8", WORK, SPACE)
    assert parts(narrow, "optimizer")["fp8_adam_step", "Adam"].operations == parameters
    assert parts(narrow, "optimizer memory")["weights, gradients, moments", "fp8"].operations == parameters * (80 + 48)
    assert any("Adam" in sentence for sentence in high.missing)
    assert any("fp8_e5m2 stochastic" in sentence for sentence in narrow.missing)


def test_sparse_weights_and_gradients() -> None:
    dense = train.step_energy("fp4-all-the-way", WORK, SPACE)
    sparse = train.step_energy(train.with_sparsity(train.load("fp4-all-the-way"), "2:4", "mvue"), WORK, SPACE)
    products = parts(sparse, "products")
    assert {("forward", "nvfp4 2:4"), ("input_gradient", "nvfp4"), ("weight_gradient", "nvfp4 2:4")} < products.keys()
    ratio = products["forward", "nvfp4 2:4"].mac_joule / parts(dense, "products")["forward", "nvfp4"].mac_joule
    assert 0.5 < ratio < 0.7
    assert parts(sparse, "quantizers")["mvue_2_4_8", "nvfp4"].operations == M * N + M * K


def test_it_is_data(nvfp4: train.StepEnergy) -> None:
    assert pickle.loads(pickle.dumps(nvfp4)) == nvfp4
    document = json.loads(json.dumps(nvfp4.document()))
    assert document["joule"] == nvfp4.joule
    assert document["technology"] == "osu018"
    assert len(document["parts"]) == len(nvfp4.parts)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"space": {**SPACE, "rows": [4, 8]}}, ["rows", "2 values", "expected one"]),
        ({"space": {**SPACE, "lanes": 24}}, ["impossible in nvfp4", "lanes"]),
        ({"space": {"lanes": 16}}, ["technology"]),
        ({"space": 3}, ["space", "3"]),
        ({"recipe": "fp5"}, ["fp5", "expected"]),
        ({"recipe": 3}, ["recipe", "3", "expected"]),
        ({"workload": {"layers": [WORK["layers"][1]]}}, ["no product with weights"]),
        ({"workload": "nothing"}, ["nothing"]),
        ({"set": {"seq": 3}}, ["seq"]),
        ({"set": 3}, ["set", "3"]),
        ({"gauge": 3}, ["gauge", "3"]),
    ],
)
def test_refusals(change: dict[str, Any], says: list[str]) -> None:
    arguments = {"recipe": "fp4-all-the-way", "workload": WORK, "space": SPACE, **change}
    with pytest.raises(ng.Error) as error:
        train.step_energy(**arguments)
    for word in says:
        assert word in str(error.value)


def test_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "work.json").write_text(json.dumps(WORK))
    (tmp_path / "space.json").write_text(json.dumps(SPACE))
    words = [str(tmp_path / "work.json"), str(tmp_path / "space.json"), "fp4-all-the-way"]
    assert energy_command.main(words) == 0
    shown = capsys.readouterr().out
    for text in ("two, a training step by fp4-all-the-way, in osu018", "input_gradient", "L3", "not priced: Adam"):
        assert text in shown
    assert energy_command.main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["recipe"] == "fp4-all-the-way"
    assert energy_command.main([*words[:2], "fp5"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
