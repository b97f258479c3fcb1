# SPDX-License-Identifier: Apache-2.0
"""Training: gradients of the tape against differences of float64, steps against other engines, runs that are cut, and recipes that
are wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import train
from narrowgauge._kurtosis import kurtosis, kurtosis_loss
from narrowgauge.train import convolution, integers, networks, products, recipe, tape
from narrowgauge.train.tape import Node

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "digits"
LICENSE = FOLDER.parents[1] / "LICENSE"
DIGITS = train.digits(FOLDER)
NARROW = [name for name in train.recipes() if name not in ("fp32", "bf16", "ngpt-nvfp4")]


def trainer(name: str, steps: int = 50, **options: Any) -> train.Trainer:
    return train.Trainer(train.load(name), DIGITS, steps=steps, seed=3, **options)


def same(left: train.Trainer, right: train.Trainer) -> bool:
    return all(
        (value.view(np.uint32) == right.parameters[name].view(np.uint32)).all()
        for name, value in left.parameters.items()
    )


def normalized(rule: str, source: Node, gamma: Node, beta: Node) -> Node:
    """In float32, without the rounding of scales to BF16."""
    norm = ng.BatchNorm(rule=rule, grid="fp32", axis=-1)
    return convolution.trained_norm(norm, source, gamma, beta, *(Node(np.zeros(3)) for _ in range(2)))


OPERATIONS: dict[str, tuple[Callable[..., Node], list[tuple[int, ...]]]] = {
    "add": (tape.add, [(3, 4), (4,)]),
    "multiply": (tape.multiply, [(3, 4), (3, 1)]),
    "scale": (lambda x: tape.scale(x, 0.75), [(3, 4)]),
    "matmul": (tape.matmul, [(2, 3, 4), (2, 4, 5)]),
    "reshape": (lambda x: tape.reshape(x, (4, 3)), [(3, 4)]),
    "transpose": (lambda x: tape.transpose(x, (2, 0, 1)), [(2, 3, 4)]),
    "split": (lambda x: tape.multiply(*tape.split(x, 2)), [(3, 4)]),
    "relu": (tape.relu, [(3, 4)]),
    "silu": (tape.silu, [(3, 4)]),
    "gelu": (tape.gelu, [(3, 4)]),
    "layer_norm": (tape.layer_norm, [(3, 8), (8,)]),
    "unit_rows": (lambda x: tape.unit_rows(x, ng.l2_normalize), [(3, 8)]),
    "causal_softmax": (tape.causal_softmax, [(2, 5, 5)]),
    "lookup": (lambda x: tape.lookup(x, np.array([[0, 2], [2, 1]])), [(3, 4)]),
    "patches": (tape.patches, [(2, 4, 3, 2)]),
    "patches of every other place": (lambda x: tape.patches(x, 2), [(1, 5, 4, 2)]),
    **{f"norm by {rule}": (partial(normalized, rule), [(4, 4, 4, 3), (3,), (3,)]) for rule in recipe.NORMS},
    "cross_entropy": (lambda x: tape.cross_entropy(x, np.array([1, 3, 0])), [(3, 4)]),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_gradients_are_those_of_differences(name: str) -> None:
    operation, shapes = OPERATIONS[name]
    random = np.random.default_rng(5)
    values = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    weights = random.standard_normal(operation(*map(Node, values)).shape).astype(np.float32)

    def total(inputs: list[Any]) -> float:
        return float((operation(*map(Node, inputs)).value.astype(np.float64) * weights).sum())

    nodes = [Node(value) for value in values]
    tape.backward(tape.scale(tape.mean(tape.multiply(operation(*nodes), Node(weights))), weights.size))
    for which, node in enumerate(nodes):
        assert node.gradient is not None
        for place in np.ndindex(node.shape):
            ends = []
            for sign in (1, -1):
                moved = [value.copy() for value in values]
                moved[which][place] += sign * 2**-8
                ends.append(total(moved))
            assert node.gradient[place] == pytest.approx((ends[0] - ends[1]) / 2**-7, abs=2e-3)


@pytest.mark.parametrize("name", [name for name in NARROW if name != "range-bn-int8"])
def test_a_step_is_the_same_on_every_engine(name: str) -> None:
    run = trainer(name)
    for _ in range(2):
        run.step()
    for engine in ng.engines():
        assert run.verify(ng.Engine(engine)) is None


def test_a_step_of_a_convolution_is_the_same_on_every_engine() -> None:
    """In FP8 too, whose scales are delayed; a batch of four images is enough."""
    for name in ("range-bn-int8", "fp8"):
        made = replace(train.load(name), network=train.load("range-bn-int8").network)
        run = train.Trainer(made, replace(DIGITS, size=4), steps=50, seed=3)
        run.step()
        for engine in ng.engines():
            assert run.verify(ng.Engine(engine)) is None


def test_a_wrong_product_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        def gemm(self, a: Any, b: Any) -> Any:
            result = ng.Engine("model").gemm(a, b)
            wrong = result.c.copy()
            wrong.view(np.uint32)[0, 0] ^= 1 << 20
            return type("Result", (), {"c": wrong})()

    difference = trainer("fp4-nearest").verify(Wrong())  # type: ignore[arg-type]
    assert difference is not None
    assert difference.here != difference.there


@pytest.mark.parametrize("name", ["fp8", "fp4-all-the-way", "luq-smp2", "range-bn-int8"])
@pytest.mark.parametrize("sparse", [("none", "none"), ("2:4-T", "mvue")])
def test_a_run_that_is_cut_ends_in_the_same_bits(name: str, sparse: tuple[str, str], tmp_path: Path) -> None:
    made = replace(train.with_sparsity(train.load(name), *sparse), mask_steps=2)
    whole, cut = (train.Trainer(made, DIGITS, steps=50, seed=3) for _ in range(2))
    for _ in range(6):
        whole.step()
    for _ in range(4):
        cut.step()
    cut.evaluate()
    cut.noise()
    cut.save(tmp_path / "run.npz")
    resumed = train.Trainer(made, DIGITS, steps=50, seed=3)
    resumed.resume(tmp_path / "run.npz")
    for _ in range(2):
        resumed.step()
    assert same(whole, resumed)


def test_a_scale_outlives_the_maxima_that_made_it(tmp_path: Path) -> None:
    run, again = trainer("fp8"), trainer("fp8")
    scaling = run.layers["hidden1"].scaling_of("forward.activation")
    for amax in (3.0, *(16 * [0.0])):  # of tensors of zeros, which leave the scale as it was
        scaling.record(amax)
    run.save(tmp_path / "run.npz")
    again.resume(tmp_path / "run.npz")
    resumed = again.layers["hidden1"].scaling_of("forward.activation")
    assert (resumed.history, resumed.scale) == (scaling.history, scaling.scale)
    assert scaling.scale != 1


def test_a_layer_that_is_kept_high_stays_so(tmp_path: Path) -> None:
    whole, first = trainer("fp4-nearest", 6), trainer("fp4-nearest", 6)
    for run in (whole, first):
        for _ in range(2):
            run.step()
        run.keep_high("hidden2")
    first.save(tmp_path / "run.npz")
    rest, low = trainer("fp4-nearest", 6), trainer("fp4-nearest", 6)
    rest.resume(tmp_path / "run.npz")
    for _ in range(4):
        whole.step()
        rest.step()
    for _ in range(6):
        low.step()
    assert same(whole, rest)
    assert not same(whole, low)
    assert [each.layer for each in rest.noise()] == ["hidden1", "scores"]
    with pytest.raises(ng.Error, match="expected one of hidden1, hidden2, scores"):
        rest.keep_high("hidden3")


def test_a_noisy_layer_is_raised(tmp_path: Path) -> None:
    """Pruning two of four of a text's gradients leaves more noise than gradient in some layers."""
    file = tmp_path / "text.txt"
    file.write_text("".join(map(chr, 97 + np.random.default_rng(1).integers(0, 26, 4000))))
    common = ("fp4-all-the-way", "--data", str(file), "--sparse-gradients", "mvue", "--steps", "4", "--noise", "2")
    sizes = ("--blocks", "1", "--width", "32", "--context", "16")
    done = program(*common, *sizes, "--raise-noisy", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    noisy = [(each["step"], each["layer"]) for each in result["noise"] if each["ratio"] < 3**0.5]
    assert noisy
    assert [(each["step"], each["layer"]) for each in result["raised_layers"]] == noisy
    assert not {layer for step, layer in noisy if step == 0} & {e["layer"] for e in result["noise"] if e["step"] == 2}
    assert "--noise" in program(*common[:3], "--raise-noisy").stderr


@pytest.mark.parametrize("name", NARROW)
def test_digits_are_learnt(name: str) -> None:
    run = trainer(name, steps=120)
    for _ in range(120):
        run.step()
    assert run.evaluate()[1] > 0.85
    assert all(each.ratio > 1.74 for each in run.noise())


@pytest.mark.parametrize("recipe", ["luq", "nvidia-nvfp4"])
@pytest.mark.parametrize("high", [False, True])
def test_products_do_not_depend_on_layout(recipe: str, high: bool) -> None:
    """torch keeps weights by outputs, the trainer by inputs; in float32 a BLAS adds in another order then."""
    random = np.random.default_rng(5)
    x, w, g = (random.normal(size=size).astype(np.float32) for size in ((32, 128), (128, 10), (32, 10)))
    results = []
    for of_rows, of_weight in ((x, w), (x, np.asfortranarray(w)), (np.asfortranarray(x), w)):
        layer = products.Layer("layer", 7, train.load(recipe), high, 2, products.Costs())
        layer.begin(1, None)
        made = layer.forward(of_rows, of_weight), layer.input_gradient(g, of_weight), layer.weight_gradient(of_rows, g)
        results.append([each.tobytes() for each in made])
    assert results[0] == results[1] == results[2]


def test_layers_call_the_rules_of_the_package() -> None:
    """FP4 All the Way's weight gradient, and LUQ's input gradient, by hand."""
    random = np.random.default_rng(1)
    activation, gradient, weight = (
        random.standard_normal(s).astype(np.float32) for s in ((33, 20), (33, 12), (20, 12))
    )
    layer = products.Layer("layer", 7, train.load("fp4-all-the-way"), False, 2, products.Costs())
    layer.begin(5, None)
    seeds = [train.seed_of(2, 5, 7, f"weight_gradient.{operand}") for operand in ("activation", "gradient")]
    left = ng.quantize(activation.T, "nvfp4", rounding="stochastic", random_bits=8, seed=seeds[0])
    right = ng.quantize(gradient, "nvfp4", axis=-2, rounding="stochastic", random_bits=8, seed=seeds[1])
    assert (layer.weight_gradient(activation, gradient) == left @ right).all()
    layer = products.Layer("layer", 7, train.load("luq"), False, 2, products.Costs())
    layer.begin(5, None)
    integers, weights = ng.luq.int4(activation), ng.luq.int4(weight)
    sums = (integers.values.astype(np.int64) @ weights.values.astype(np.int64)).astype(np.float32)
    scale = np.float32(integers.scale) * np.float32(weights.scale)
    assert (layer.forward(activation, weight) == sums * scale).all()
    seed = train.seed_of(2, 5, 7, "input_gradient.gradient")
    narrow = ng.luq.quantize(np.ascontiguousarray(gradient), seed=seed)
    back = ng.quantize(gradient.T, "luq", axis=-2, rounding="stochastic", random_bits=8, seed=seed)
    assert back.tensor_scale == narrow.alpha
    assert (layer.input_gradient(gradient, weight) == (ng.quantize(weight, "luq") @ back).T).all()


#: Operands of two nibbles and of four, with the ends of their ranges.
EXTREMES = {
    "int8": np.int32([[-128, 127], [-1, 0], [-128, -128], [127, 127]]),
    "less a zero point": np.int32([[-255, 255], [-256, 16], [-16, 15], [-17, 0]]),
    "int16": np.int32([[-32768, 32767], [4095, -4096], [-4097, 4096], [-65536, 65535]]),
}


@pytest.mark.parametrize("left", EXTREMES)
@pytest.mark.parametrize("right", EXTREMES)
def test_products_of_integers_are_exact_on_every_engine(left: str, right: str) -> None:
    random = np.random.default_rng(3)
    for k in (2, 67):
        a, b = (
            np.concatenate(
                [EXTREMES[name]]
                + [random.integers(EXTREMES[name].min(), EXTREMES[name].max() + 1, (4, k - 2))] * (k > 2),
                1,
            )
            for name in (left, right)
        )
        one, other = train.Integers(a.astype(np.int32), 0.75), train.Integers(b.T.astype(np.int32), 2**-7 / 3)
        wanted = (a.astype(np.int64) @ b.T.astype(np.int64)).astype(np.float32) * (
            np.float32(0.75) * np.float32(2**-7 / 3)
        )
        for engine in (None, *map(ng.Engine, ng.engines())):
            made = integers.product(one, other, engine)
            assert made.tobytes() == wanted.tobytes()


def test_sums_of_integers_beyond_the_exact_ones_of_float32() -> None:
    """-128 times -128 two thousand times over, and one more: float32 has no such integer."""
    a, b = np.full((1, 2000), -128, np.int32), np.full((2000, 2), -128, np.int32)
    a[0, 0], b[0, 0] = 1, 1
    wanted = a.astype(np.int64) @ b.astype(np.int64)
    assert wanted.astype(np.float32).astype(np.int64)[0, 0] != wanted[0, 0]
    random = np.random.default_rng(4)
    c, d = random.integers(-128, 128, (5, 2000)), random.integers(-128, 128, (2000, 3))
    for engine in (None, ng.Engine("model")):
        assert (integers.sums(train.Integers(a), train.Integers(b), engine) == wanted).all()
        both = (train.Integers(each.astype(np.int32)) for each in (c, d))
        assert (integers.sums(*both, engine) == c @ d).all()


@pytest.mark.parametrize("engine", [None, "model", "systemc", "rtl"])
def test_codes_of_sums(engine: str | None) -> None:
    """Of INT8 times INT8 and times INT16, with ties and numbers beyond the codes."""
    if engine not in (None, *ng.engines()):
        pytest.skip(f"this build has no engine {engine}")
    random = np.random.default_rng(5)
    for low, high, scale, zero_point in ((-128, 128, 700.0, 3), (-128, 128, 2.0, -128), (-30000, 30000, 123456.7, 0)):
        a, b = random.integers(-128, 128, (5, 70)), random.integers(low, high, (70, 6))
        sums = (a @ b).astype(np.float32) * (np.float32(1) / np.float32(scale))
        wanted = np.clip(np.rint(sums.astype(np.float64) + zero_point), -128, 127)
        left, right = (train.Integers(each.astype(np.int32)) for each in (a, b))
        chosen = None if engine is None else ng.Engine(engine)
        assert (integers.codes(left, right, scale, zero_point, chosen) == wanted).all()


def test_integers_are_the_rules_of_the_package() -> None:
    """Zero has a code, and the mean of many stochastic roundings is the number."""
    x = np.random.default_rng(6).normal(0.3, 1, (20, 30)).astype(np.float32)
    made = integers.int8(x)
    quantizer = ng.AffineQuantizer.of_range(x.min(), x.max(), rule="quantized_pytorch_zero")
    assert (made.dequantize() == quantizer.dequantize(quantizer.quantize(x))).all()
    assert integers.int8(np.abs(x) + 5).values.max() == 255  # a range that is cut at 0
    assert (integers.int8(np.zeros((2, 2), np.float32)).values == 0).all()
    wide = integers.int16(x)
    assert abs(wide.values * wide.scale - x).max() <= wide.scale / 2
    assert 2**14 <= wide.largest < 2**15
    assert (integers.int16(np.zeros((2, 2), np.float32)).values == 0).all()
    many = [integers.int8(x, integers.noise(x.shape, seed, 8)) for seed in range(400)]
    mean = np.mean([each.values for each in many], axis=0)
    inside = (x > x.min()) & (x < x.max())
    assert abs(mean - x / np.float32(made.scale))[inside].max() < 0.15
    assert not any((each.values[x == 0]).any() for each in many)


def test_gradients_are_bifurcated() -> None:
    """8 bits, stochastic, for the inputs', 16 bits for the weights', by hand."""
    random = np.random.default_rng(1)
    activation, gradient, weight = (
        random.standard_normal(s).astype(np.float32) for s in ((33, 20), (33, 12), (20, 12))
    )
    layer = products.Layer("layer", 7, train.load("range-bn-int8"), False, 2, products.Costs())
    layer.begin(5, None)
    noise = integers.noise(gradient.shape, train.seed_of(2, 5, 7, "input_gradient.gradient"), 8)
    narrow, weights = integers.int8(gradient, noise), integers.int8(weight)
    assert (
        layer.input_gradient(gradient, weight)
        == integers.product(narrow, train.Integers(weights.values.T, weights.scale))
    ).all()
    rows = integers.int8(np.ascontiguousarray(activation.T))
    assert (layer.weight_gradient(activation, gradient) == integers.product(rows, integers.int16(gradient))).all()
    assert abs(layer.weight_gradient(activation, gradient) - activation.T @ gradient).max() < 0.2
    assert dict(layer.costs.products) == {"int8": 33 * 20 * 12, "int8 x int16": 2 * 33 * 20 * 12}
    with pytest.raises(ng.Error, match="weight of layer 'layer' is in int8"):
        layer.quantized_weight(weight)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: train.Integers(np.ones((2, 2))), "values are float64 of shape (2, 2); expected a matrix of int32"),
        (lambda: train.Integers(np.ones(3, np.int32)), "int32 of shape (3,); expected a matrix"),
        (lambda: train.Integers(np.full((1, 1), 2**16, np.int32)), "65536; expected -65536 to 65535"),
        (
            lambda: integers.product(*[train.Integers(np.ones((2, 3), np.int32))] * 2),
            "(2, 3); expected M x K and K x N",
        ),
        (lambda: integers.sums(*[train.Integers(np.full((1, 1), 5000, np.int32))] * 2), "may be 25000000; expected"),
        (lambda: integers.int16(np.full((1, 1), np.inf, np.float32)), "is inf; expected finite numbers"),
        (lambda: train.Convolution(channels=0), "channels is 0; expected 1 to 1024"),
    ],
)
def test_wrong_integers_are_refused(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ng.Error, match=re.escape(words)):
        call()


def test_a_convolution_keeps_what_evaluations_normalize_by(tmp_path: Path) -> None:
    run = trainer("range-bn-int8")
    mean = run.parameters["conv1.mean"]
    seen = []
    for _ in range(2):
        nodes = {name: Node(value) for name, value in run.parameters.items()}
        batch = run.data.batch(run._random("data", run.done + 1, 0))
        for layer in run.layers.values():
            layer.begin(run.done + 1, None)
        flow = networks.linear(
            run.layers["conv1"], tape.patches(Node(batch[0].reshape(-1, 8, 8, 1))), nodes["conv1.weight"]
        )
        codes, stands = convolution.norm_codes(flow.value)
        seen.append(ng.BatchNorm(axis=-1).forward(codes, np.ones(8), np.zeros(8), **stands).mean)
        run.step()
        mean = np.float32(0.1) * mean + np.float32(0.9) * seen[-1]
        assert run.parameters["conv1.mean"] == pytest.approx(mean, rel=1e-6)
    before = run.evaluate()
    run.save(tmp_path / "run.npz")
    again = trainer("range-bn-int8")
    again.resume(tmp_path / "run.npz")
    assert again.evaluate() == before
    assert "conv1.mean" not in again._adam.moments


def test_a_normalization_of_int8_calls_the_rules_of_the_package() -> None:
    """Codes forward, gradients of 8 bits, stochastic, backward, by hand."""
    random = np.random.default_rng(2)
    x, gradient = (random.standard_normal((4, 4, 4, 3)).astype(np.float32) for _ in range(2))
    gamma, beta = np.float32([1, 2, 3]), np.float32([0, 1, 0])
    layer = products.Layer("conv1", 7, train.load("range-bn-int8"), False, 2, products.Costs())
    layer.begin(5, None)
    norm = ng.BatchNorm(axis=-1)
    inputs = [Node(each) for each in (x, gamma, beta, np.zeros(3), np.zeros(3))]
    made = convolution.trained_norm(norm, *inputs, layer=layer)
    tape.backward(tape.scale(tape.mean(tape.multiply(made, Node(gradient))), gradient.size))
    quantizer = ng.AffineQuantizer.of_range(x.min(), x.max(), rule="quantized_pytorch")
    codes = (quantizer.quantize(x).astype(np.int16) - 128).astype(np.int8)
    stands = {"step": quantizer.scale, "low": quantizer.offset}
    result = norm.forward(codes, gamma, beta, **stands)
    assert (made.value == result.y).all()
    noise = integers.noise((64, 3), train.seed_of(2, 5, 7, "norm.gradient"), 8)
    rounded = integers.int8(gradient.reshape(64, 3), noise).dequantize().reshape(x.shape)
    back = norm.backward(codes, result, rounded, **stands)
    for node, wanted in zip(inputs, (back.x, back.gamma, back.beta), strict=False):
        assert node.gradient is not None
        assert (node.gradient == wanted).all()


def test_digests_of_older_recipes_stay() -> None:
    """Fields that came later would make another recipe of an old one, and its checkpoints useless."""
    plain, later = (recipe.content(train.load(name), train.Digits()) for name in ("fp8", "range-bn-int8"))
    assert json.loads(plain)[0]["network"] == {"blocks": "plain", "gate": "gelu", "smooth": False}
    assert json.loads(later)[0]["network"]["kind"] == "convolution"
    assert "regularizer" not in json.loads(plain)[0]
    regular = recipe.of_table({"regularizer": {"strength": 1, "target": 1}}, "binary")
    assert json.loads(recipe.content(regular))["regularizer"] == {"strength": 1.0, "target": 1.0}


def test_weights_get_the_kurtosis_of_their_target() -> None:
    """What a regularizer adds to loss and gradients, from the definition; and the first layer's weights are left alone."""
    table = {"regularizer": {"strength": 0.5, "target": 1}}
    plain = train.Trainer(recipe.of_table({}, "plain"), DIGITS, steps=60, seed=3)
    run = train.Trainer(recipe.of_table(table, "regular"), DIGITS, steps=60, seed=3)
    (before, first), (loss, gradients) = plain.gradients(), run.gradients()
    names = [name for name in gradients if name.endswith(".weight")]
    added = {name: kurtosis_loss(run.parameters[name], target=1) for name in names[1:]}
    assert loss - before == pytest.approx(0.25 * sum(each[0] for each in added.values()))
    for name, gradient in gradients.items():
        wanted = first[name] + (np.float32(0.25) * added[name][1] if name in added else 0)
        np.testing.assert_array_equal(gradient, wanted)
    for _ in range(60):
        plain.step()
        run.step()
    for name in names[1:]:
        assert kurtosis(run.parameters[name]) < kurtosis(plain.parameters[name]) - 0.2, name


def test_workers_train_a_convolution() -> None:
    run = train.Workers(train.load("range-bn-int8"), replace(DIGITS, size=16), steps=9, workers=2, link=train.Link(0.1))
    for _ in range(3):
        run.step()
    assert (run.owner.parameters["conv2.scale"] > 0).all()


def test_seeds_are_all_different() -> None:
    uses = products.USES
    seeds = {
        train.seed_of(run, step, layer, use, sample)
        for run in (0, 1, products.MAX_RUN)
        for step in (0, 1, recipe.MAX_STEP)
        for layer in (0, 1, products.MAX_LAYER)
        for use in uses
        for sample in (0, 1, 15)
    }
    assert len(seeds) == 27 * len(uses) * 3
    assert max(seeds) < 2**64


@pytest.mark.parametrize("name", ["fp32", "fp4-all-the-way", "ngpt-nvfp4", "smooth"])
def test_characters_are_learnt(name: str, tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text(LICENSE.read_text())
    data = train.text(file, context=16)
    table = {"network": {"gate": "swiglu", "smooth": True}, "operands": {"format": "fp8_e4m3"}}
    made = recipe.of_table(table, "smooth") if name == "smooth" else train.load(name)
    network = networks.Characters(len(data.alphabet), made.network, blocks=1, width=32, context=16)
    run = train.Trainer(made, data, steps=60, seed=1, network=network)
    before = run.evaluate()[0]
    for _ in range(60):
        run.step()
    assert run.evaluate()[0] < before - 0.3
    if made.network.blocks == "normalized":
        lengths = np.linalg.norm(run.parameters["block0.wide.weight"], axis=0)
        assert lengths == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"forwards": {}}, "key 'forwards'"),
        ({"forward": {"gradient": {}}}, "key 'gradient'"),
        ({"forward": {"weight": {"format": "fp5"}}}, "forward.weight.format is 'fp5'"),
        ({"forward": {"weight": {"format": "nvfp4"}}}, "operands in float32 and nvfp4"),
        ({"forward": {"weight": {"samples": True}}}, "expected a whole number"),
        ({"forward": {"weight": {"samples": 2}}}, "all would be equal"),
        ({"forward": {"weight": {"scale": "delayed"}}}, "delayed"),
        ({"forward": {"weight": {"prune": "mvue"}}}, "only weight_gradient.gradient"),
        ({"operands": {"random_bits": 25}}, "is 25; expected 1 to 24"),
        ({"operands": []}, "expected a table"),
        ({"layers": {"high": "last"}}, "expected a list"),
        ({"layers": {"format": "fp8_e4m3"}}, "layers.format"),
        ({"optimizer": {"moments": "fp4"}}, "optimizer.moments"),
        ({"network": {"smooth": True}}, "SwiGLU"),
        ({"network": {"kind": "convolutional"}}, "network.kind is 'convolutional'"),
        ({"network": {"norm": "ghost_top_k"}}, "network.norm is 'ghost_top_k'"),
        ({"network": {"norm": "l2", "norm_format": "int8"}}, "takes real numbers; expected norm = 'range'"),
        ({"operands": {"format": "int16", "dialect": "te"}}, "dialect is 'te' in format int16; expected none"),
        ({"forward": {"weight": {"format": "int8"}}}, "operands in float32 and int8; expected both narrow"),
        (
            {"forward": {"weight": {"format": "int8"}, "activation": {"format": "int4"}}},
            "int4 and int8; expected both int8",
        ),
        ({"sparsity": {"weights": "3:4"}}, "sparse weights"),
        ({"regularizer": {"strength": "much"}}, "regularizer.strength is .*; expected a number"),
        ({"regularizer": {"strength": -1}}, "regularizer.strength is -1; expected a finite number, 0 or more"),
        ({"regularizer": {"target": float("inf")}}, "regularizer.target is inf"),
    ],
)
def test_wrong_recipes_are_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(ng.Error, match=words):
        recipe.of_table(table, "wrong")


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ng.Error, match="is no file"):
        train.load("fp5")
    with pytest.raises(ng.Error, match="is of a transformer"):
        trainer("ngpt-nvfp4")
    with pytest.raises(ng.Error, match="is of a convolution, and the network is Digits"):
        trainer("range-bn-int8", network=networks.Digits())
    with pytest.raises(ng.Error, match="does not have; expected of hidden1"):
        train.Trainer(recipe.of_table({"layers": {"high": ["head"]}}, "wrong"), DIGITS, steps=1)
    run = trainer("fp4-nearest")
    run.save(tmp_path / "run.npz")
    with pytest.raises(ng.Error, match=r"is of recipe 'fp4-nearest, .*'; this run has 'luq, "):
        trainer("luq").resume(tmp_path / "run.npz")
    with pytest.raises(ng.Error, match="is of steps 50"):
        trainer("fp4-nearest", steps=51).resume(tmp_path / "run.npz")
    with pytest.raises(ng.Error, match="multiple of the 4 heads"):
        networks.Characters(9, recipe.Network(), width=30)
    with pytest.raises(ng.Error, match="expected one of characters for a text"):
        trainer("fp8", network=networks.Characters(9, recipe.Network()))
    assert "expected a text" in program("fp8", "--data", str(FOLDER), "--width", "64").stderr
    assert "expected a Convolution, and digits" in program("range-bn-int8", "--data", str(LICENSE)).stderr
    whole = (tmp_path / "run.npz").read_bytes()
    for length in (0, 10, len(whole) // 2, len(whole) - 1):
        (tmp_path / "cut.npz").write_bytes(whole[:length])
        with pytest.raises(ng.Error, match="cannot read the checkpoint"):
            trainer("fp4-nearest").resume(tmp_path / "cut.npz")


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "narrowgauge.train", *arguments], capture_output=True, text=True, check=False
    )


def test_the_program_trains_verifies_and_goes_on(tmp_path: Path) -> None:
    common = ("fp4-all-the-way", "--data", str(FOLDER), "--steps", "12", "--json", "--save", str(tmp_path / "run.npz"))
    looks = ("--noise", "6", "--curve", str(tmp_path / "curve.svg"), "--technology", "osu018")
    done = program(*common, "--verify", "6", "--engine", "systemc", *looks)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["verified_steps"] == 2
    assert len(result["losses"]) == 12
    price = ng.energy("nvfp4", technology="osu018", lanes=16).value
    assert result["energy"]["nvfp4"]["joule"] == price * result["multiply_accumulates"]["nvfp4"]
    assert (tmp_path / "curve.svg").read_text().startswith("<?xml")
    again = json.loads(program(*common, "--resume", str(tmp_path / "run.npz")).stdout)
    assert again["evaluations"] == result["evaluations"]
    assert "fp4-all-the-way" in program("--list").stdout
    assert "osu018" in program("luq", "--data", str(FOLDER), "--technology", "osu017").stderr
    wrong = program("fp5", "--data", str(FOLDER))
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "expected a file of TOML, or one of" in wrong.stderr


def test_costs_are_those_of_steps_and_their_parts_add_up() -> None:
    run = train.Trainer(train.with_sparsity(train.load("fp8"), "none", "mvue"), DIGITS, steps=50, seed=3)
    whole = sum(run.step().seconds for _ in range(5))
    seconds, products = dict(run.costs.seconds), dict(run.costs.products)
    assert seconds.keys() == {"quantize", "multiply", "prune", "optimizer", "other"}
    assert min(seconds.values()) > 0
    assert 0 <= whole - sum(seconds.values()) < 0.05 * whole + 1e-3
    macs = 64 * (64 * 128 + 128 * 128 + 128 * 10)
    assert products == {"fp8_e4m3": 5 * macs, "fp8_e5m2": 2 * 5 * macs}
    run.evaluate()
    run.noise()
    run.verify(None)
    assert (dict(run.costs.seconds), dict(run.costs.products)) == (seconds, products)


def test_a_table_that_is_cut_goes_on(tmp_path: Path) -> None:
    runs = tmp_path / "runs.jsonl"
    common = ["--data", str(FOLDER), "--steps", "4", "--seeds", "2", "--jobs", "2", "--runs", str(runs), "--parts"]
    table = [sys.executable, str(FOLDER.parent / "training" / "table.py"), *common]
    rows = ["fp32", "fp4-ends-high", "fp4-ends-high+mvue"]

    def made() -> tuple[str, int]:
        done = subprocess.run([*table, *rows], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout, len(done.stderr.splitlines())

    first, count = made()
    assert count == 6
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in first.splitlines()]
    assert [line[0] for line in cells[2:5]] == ["`fp32`", "`fp4-ends-high`", "`fp4-ends-high+mvue`"]
    gaps, peers, energies = zip(*(line[3:5] + line[6:] for line in cells[2:5]), strict=True)
    assert (gaps[0], peers[:2], energies[0]) == ("", ("", ""), "-")
    assert peers[2].endswith("(`fp4-ends-high`)")
    price = ng.energy("nvfp4", technology="osu018", lanes=16).value
    assert energies[1] == energies[2] == f"{1e3 * price * 3 * 64 * 128 * 128:.3g} (63 %)"
    assert cells[-1][0] == "`fp4-ends-high+mvue`"
    assert all(float(cell) > 0 for cell in cells[-1][1:])  # of each part of its time
    lines = runs.read_text().splitlines(keepends=True)
    runs.write_text("".join(lines[:5]) + lines[5][:40])
    again, count = made()
    assert count == 1
    assert [line.split("|")[1:5] for line in again.splitlines()[:5]] == [
        line.split("|")[1:5] for line in first.splitlines()[:5]
    ]
    assert made() == (again, 0)


def test_the_other_program_hands_over() -> None:
    program = Path(ng._core.__file__).parents[2] / "bin" / "narrowgauge"
    if not program.is_file():
        pytest.skip("the program is not beside this package")
    words = [str(program), "train", "--python", sys.executable, "fp8", "--data", str(FOLDER), "--steps", "3", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["steps"] == 3
