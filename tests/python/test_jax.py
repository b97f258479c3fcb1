# SPDX-License-Identifier: Apache-2.0
"""narrowgauge.jax beside the rest of the package: the same bits under jit, vmap and grad, by custom calls and by callbacks."""

from __future__ import annotations

import inspect
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import train

ROOT = Path(__file__).resolve().parents[2]
RNG = np.random.default_rng(3)
X = RNG.standard_normal((48, 80)).astype(np.float32)
Y = RNG.standard_normal((80, 40)).astype(np.float32)

jax = pytest.importorskip("jax", reason="the package jax is not installed")
import jax.numpy as jnp  # noqa: E402
from test_malformed import POOL  # noqa: E402

import narrowgauge.jax as nj  # noqa: E402
from narrowgauge.jax import _calls  # noqa: E402

BUILT, LAST = nj.route(), [nj.route()]


@pytest.fixture(params=["ffi", "callback"])
def route(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways into the model."""
    if request.param == "ffi" and BUILT != "ffi":
        pytest.skip("the custom calls were not built: JAX was not there")
    monkeypatch.setattr(_calls, "_registered", request.param == "ffi")
    if request.param != LAST[0]:
        jax.clear_caches()
    LAST[0] = request.param
    return str(request.param)


def both(count: int, few: tuple[int, ...]) -> list[tuple[int, str]]:
    """All cases by custom calls, and a few of them by callbacks."""
    return [*((number, "ffi") for number in range(count)), *((number, "callback") for number in few)]


QUANTIZERS: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    *[((48, 80), {"format": format, "axis": axis}) for format in ng.gemm_formats() for axis in (-1, -2)],
    ((80,), {"format": "nvfp4"}),
    ((3, 24, 40), {"format": "nvfp4", "axis": 1}),
    ((3, 24, 40), {"format": "mxfp4", "axis": 0, "rounding": "stochastic", "seed": 2**63 + 5}),
    ((48, 80), {"format": "nvfp4", "rounding": "stochastic", "seed": 7, "random_bits": 4}),
    ((48, 80), {"format": "nvfp4", "rule": "vendor"}),
    ((48, 80), {"format": "fp8_e4m3", "tensor_scale": 0.25}),
    ((48, 80), {"format": "fp8_e4m3", "power_of_two_scale": True}),
    *[((48, 300), {"format": "fp8_e4m3", "scaling": scaling}) for scaling in ("vector", "1x128", "128x128")],
    ((2, 128, 300), {"format": "fp8_e4m3", "scaling": "128x128"}),
    *[((48, 80), {"dialect": dialect}) for dialect in ("te", "te_2d", "te_4over6", "ocp", "quartet2", "ggml")],
    ((48, 80), {"dialect": "te:front=rht16", "rounding": "stochastic", "seed": 9, "axis": -2}),
    ((48, 80), {"dialect": "te", "amax": 9.0}),
]
QUANTIZERS = [(shape, how) for shape, how in QUANTIZERS if how.get("dialect", "te").split(":")[0] in ng.dialects()]


@pytest.mark.parametrize(("number", "route"), both(len(QUANTIZERS), (0, 5, 21, 24, 30, 33)), indirect=["route"])
def test_a_quantizer_has_the_bits_of_the_package(number: int, route: str) -> None:
    shape, how = QUANTIZERS[number]
    x = RNG.standard_normal(shape).astype(np.float32)
    wanted = ng.quantize(x, **how)
    q = jax.jit(lambda x: nj.quantize(x, **how))(x)
    assert q.to_numpy() == wanted
    assert q.shape == wanted.shape
    values = jax.jit(lambda x: nj.fake_quantize(x, **how))(x)
    assert np.array_equal(np.asarray(values).view(np.uint32), ng.fake_quantize(x, **how).view(np.uint32))
    assert np.array_equal(np.asarray(nj.dequantize(q)), np.asarray(wanted))


def test_subnormal_numbers_are_kept(route: str) -> None:
    """XLA's threads flush them to zero."""
    x = np.float32([[2**-126, 2**-130, -(2**-140), 0]])
    for how in ({"format": "fp8_e5m2", "tensor_scale": 2.0**-126}, {"format": "nvfp4", "tensor_scale": 2.0**-130}):
        made = jax.jit(lambda x, how=how: nj.fake_quantize(x, **how))(x)
        assert np.array_equal(np.asarray(made), ng.fake_quantize(x, **how))
        assert np.asarray(made).any()


PRODUCTS: list[tuple[Any, Any, dict[str, Any]]] = [
    *[(X, Y, {"format": format}) for format in ng.gemm_formats()],
    (X, Y, {"format": "nvfp4", "rounding": "stochastic", "seed": 2**32 - 1}),
    (X, Y, {"dialect": "te"}),
    (X, Y[:, 0], {}),
    (X[0], Y, {}),
    (X[0], Y[:, 0], {}),
    (X.reshape(3, 16, 80), Y, {}),
    (X.reshape(3, 16, 80), RNG.standard_normal((3, 80, 8)), {}),
    (X.reshape(2, 1, 24, 80), RNG.standard_normal((3, 80, 8)), {"format": "mxfp8_e4m3"}),
    *[(RNG.standard_normal((2, 128, 200)), RNG.standard_normal((200, 128)), {"format": "fp8_e4m3", "scaling": scaling})
      for scaling in ("vector", "1x128", "128x128")],
    *[(RNG.standard_normal((2, 128, 200)), RNG.standard_normal((2, 200, 128)), {"format": "fp8_e4m3", "scaling": scaling})
      for scaling in ("vector", "1x128", "128x128")],
]  # fmt: skip


@pytest.mark.parametrize(("number", "route"), both(len(PRODUCTS), (0, 10, 18, 22)), indirect=["route"])
def test_a_product_has_the_bits_of_the_package(number: int, route: str) -> None:
    a, b, how = PRODUCTS[number]
    a, b = np.float32(a), np.float32(b)
    wanted = ng.matmul(a, b, **how)
    made = np.asarray(jax.jit(lambda a, b: nj.matmul(a, b, **how))(a, b))
    assert made.shape == wanted.shape
    assert np.array_equal(made.view(np.uint32), wanted.view(np.uint32))


def test_quantized_operands_are_multiplied(route: str) -> None:
    a, b = nj.quantize(X), nj.quantize(Y, axis="columns")
    wanted = ng.quantize(X) @ ng.quantize(Y, axis=-2)
    assert np.array_equal(a @ b, wanted)
    assert np.array_equal(jax.jit(nj.gemm)(a, b), wanted)  # they are pytrees
    assert np.array_equal(nj.gemm(b.mT, a.mT), wanted.T)
    assert np.array_equal(nj.matmul(a, Y), wanted)
    assert pickle.loads(pickle.dumps(a)).to_numpy() == ng.quantize(X)


def test_a_seed_is_an_operand(route: str) -> None:
    traces = []

    @jax.jit
    def rounded(x: Any, seed: Any) -> Any:
        traces.append(1)
        return nj.fake_quantize(x, "nvfp4", rounding="stochastic", seed=seed)

    for high, low in ((0, 5), (7, 2**32 - 1)):
        wanted = ng.fake_quantize(X, "nvfp4", rounding="stochastic", seed=high << 32 | low)
        assert np.array_equal(rounded(X, jnp.uint32([high, low])), wanted)
    assert len(traces) == 1
    key = jax.random.key(11)
    high, low = (int(word) for word in jax.random.key_data(key))
    wanted = ng.fake_quantize(X, "nvfp4", rounding="stochastic", seed=high << 32 | low)
    assert np.array_equal(nj.fake_quantize(X, "nvfp4", rounding="stochastic", seed=key), wanted)
    assert np.array_equal(rounded(X, jnp.int32(9)), ng.fake_quantize(X, "nvfp4", rounding="stochastic", seed=9))


BATCHES: list[dict[str, Any]] = [
    {"format": "nvfp4"},
    {"format": "luq"},
    {"format": "fp8_e4m3", "scaling": "1x128"},
    {"dialect": "te"},
]


@pytest.mark.parametrize(("number", "route"), both(len(BATCHES), (0,)), indirect=["route"])
def test_vmap_is_a_loop(number: int, route: str) -> None:
    how = BATCHES[number]
    x = X.reshape(2, 3, 8, 80) * np.float32([[[[1]], [[9]], [[0.1]]]])
    made = jax.jit(jax.vmap(jax.vmap(lambda x: nj.fake_quantize(x, **how))))(x)
    assert np.array_equal(made, [[ng.fake_quantize(each, **how) for each in row] for row in x])
    seeds = np.uint32([[0, 1], [0, 2]])
    made = jax.vmap(lambda x, seed: nj.fake_quantize(x[0], "nvfp4", rounding="stochastic", seed=seed))(x, seeds)
    wanted = [ng.fake_quantize(x[i, 0], "nvfp4", rounding="stochastic", seed=i + 1) for i in range(2)]
    assert np.array_equal(made, wanted)
    products = jax.vmap(lambda x: nj.matmul(x, Y, **how))(x[0])
    assert np.array_equal(products, [ng.matmul(each, Y, **how) for each in x[0]])
    columns = jax.vmap(lambda x: nj.quantize(x, **how), in_axes=1, out_axes=0)(x[0])
    assert np.array_equal(np.asarray(columns.codes)[4], ng.quantize(x[0][:, 4], **how).codes)


@pytest.mark.parametrize(
    "dtype", ["bfloat16", "float16", "float8_e4m3fn", "float8_e5m2", "float4_e2m1fn", "int8", "bool"]
)
def test_other_dtypes_are_read_exactly(dtype: str) -> None:
    x = jnp.asarray(X).astype(dtype)
    made = nj.fake_quantize(x, "nvfp4")
    assert made.dtype == jnp.float32
    assert np.array_equal(made, ng.fake_quantize(np.asarray(x), "nvfp4"))
    assert np.array_equal(nj.matmul(x, Y), ng.matmul(np.asarray(x), Y))


@pytest.mark.parametrize(
    ("format", "name"), [("fp8_e5m2", "float8_e5m2"), ("mxfp8_e4m3", "float8_e4m3fn"), ("nvfp4", "float4_e2m1fn")]
)
def test_elements_have_types_of_jax(format: str, name: str) -> None:
    elements = jax.jit(lambda x: nj.quantize(x, format).elements())(X)
    assert elements.dtype.name == name
    q = ng.quantize(X, format)
    assert np.array_equal(np.asarray(elements).astype(np.float32), ng.decode(q.codes, q.element))


def sentence(call: Any) -> str:
    with pytest.raises(ng.Error) as caught:
        call()
    return str(caught.value)


WRONG: list[tuple[Any, dict[str, Any]]] = [
    (X, {"format": "nvfp5"}), (X, {"format": ""}), (X, {"axis": 2}), (X, {"axis": "up"}), (X, {"rounding": "up"}), (X, {"seed": -1}),
    (X, {"dialect": "te", "rule": "vendor"}), (X, {"dialect": "tea"}), (X, {"dialect": "te", "format": "mxfp4"}),
    (X, {"scaling": "1x128"}), (X, {"threads": -1}), (X, {"random_bits": 99}), (X, {"tensor_scale": "x"}), (X, {"amax": 1.0}),
    (X, {"format": ["nvfp4"]}), (np.zeros((0, 3)), {}), (np.float32(1), {}), ("text", {}), (X.astype(complex), {}),
    (X, {"power_of_two_scale": 1}), (X, {"tensor_scale": True}), (X, {"format": "nvfp4", "tensor_scale": -1.0}),
    (X[None], {"format": "fp8_e4m3", "scaling": "128x128"}), (X, {"format": "nvfp4", "scaling": "vector"}),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_what_is_wrong_is_refused_in_the_packages_sentence(number: int) -> None:
    x, how = WRONG[number]
    try:
        ng.quantize(x, **how)
    except ng.Error as error:
        wanted = str(error)
    else:
        nj.quantize(x, **how)
        return
    assert sentence(lambda: nj.quantize(x, **how)) == wanted
    if isinstance(x, np.ndarray) and x.dtype != complex:
        assert sentence(lambda: jax.jit(lambda x: nj.quantize(x, **how))(x)) == wanted


def test_other_wrong_calls_are_refused() -> None:
    a, b = nj.quantize(X), nj.quantize(Y, axis=-2)
    assert "the right operand" in sentence(lambda: nj.gemm(a, a))
    assert sentence(lambda: nj.gemm(a, nj.quantize(Y[:64], axis=-2))) == sentence(
        lambda: ng.gemm(ng.quantize(X), ng.quantize(Y[:64], axis=-2))
    )
    assert sentence(lambda: nj.gemm(a, nj.quantize(Y, "fp8_e4m3", axis=-2))) == sentence(
        lambda: ng.gemm(ng.quantize(X), ng.quantize(Y, "fp8_e4m3", axis=-2))
    )
    batches = nj.quantize(X.reshape(2, 24, 80)), nj.quantize(np.stack([Y, Y, Y]), axis=-2)
    assert "the batches of shapes" in sentence(lambda: nj.gemm(*batches))
    assert "x has dtype key" in sentence(lambda: nj.quantize(jax.random.key(1)))
    assert "seed has dtype" in sentence(lambda: nj.quantize(X, seed=jnp.float32(1)))
    assert "'colour' is not known" in sentence(lambda: nj.quantize(X, colour=1))
    assert "is quantized already" in sentence(lambda: nj.quantize(a))
    assert "expected Quantized" in sentence(lambda: nj.gemm(X, b))
    layer = nj.layers("fp4-all-the-way", ["a", "b"])["a"]
    for call in (
        lambda: nj.linear(X, X, layer, 1), lambda: nj.linear(X, Y, "a", 1), lambda: nj.linear(X, Y, layer, -1),
        lambda: nj.linear(X, Y, layer, jnp.float32(1)), lambda: nj.linear(X, Y, layer, 1, frozen=2),
        lambda: nj.layers("nothing", ["a"]), lambda: nj.layers("luq", []), lambda: nj.layers("luq", "ab"),
        lambda: nj.layers("luq", ["a", "a"]), lambda: nj.layers("luq", ["a"], run=2**16),
        lambda: nj.add_bias(X, Y[0]), lambda: nj.cross_entropy(X, np.zeros(3, int)), lambda: nj.cross_entropy(X[0], np.zeros(48, int)),
    ):  # fmt: skip
        assert "; expected" in sentence(call)


def malformed() -> dict[str, tuple[Any, dict[str, Any]]]:
    """Public functions with their arguments, in a call that is right."""
    layer = nj.layers("fp4-all-the-way", ["a", "b"])["a"]
    a, b = nj.quantize(X), nj.quantize(Y, axis=-2)
    quantize = {
        "x": X, "format": "fp8_e4m3", "axis": -1, "seed": 1, "rule": "exact", "rounding": "nearest_even", "random_bits": 8,
        "tensor_scale": None, "power_of_two_scale": False, "scaling": "tensor", "threads": 1, "dialect": None, "amax": None,
    }  # fmt: skip
    return {
        "quantize": (nj.quantize, quantize),
        "fake_quantize": (nj.fake_quantize, {"x": X, "format": "nvfp4", "axis": -1, "seed": 1, "dialect": None}),
        "dequantize": (nj.dequantize, {"q": a}),
        "gemm": (nj.gemm, {"a": a, "b": b, "threads": 1}),
        "matmul": (nj.matmul, {"a": X, "b": Y, "format": "nvfp4", "seed": 1, "threads": 1, "rounding": None}),
        "layers": (nj.layers, {"recipe": "luq", "names": ["a", "b"], "run": 1}),
        "linear": (nj.linear, {"x": X, "w": Y, "layer": layer, "step": 1, "frozen": False}),
        "add_bias": (nj.add_bias, {"y": X, "bias": X[0]}),
        "cross_entropy": (nj.cross_entropy, {"scores": X, "labels": np.arange(48)}),
        "route": (nj.route, {}),
    }


@pytest.mark.parametrize("name", malformed())
def test_what_is_malformed_is_refused_in_a_sentence(name: str) -> None:
    """The pool of test_malformed.py, in each argument in turn; what only a run can see comes in JAX's exception."""
    function, arguments = malformed()[name]
    function(**arguments)
    wrong = []
    for argument in arguments:
        for what, value in POOL.items():
            try:
                jax.block_until_ready(jax.tree.leaves(function(**{**arguments, argument: value})))
                right = True
            except ng.Error as error:
                right = len(str(error).splitlines()) == 1
            except jax.errors.JaxRuntimeError as error:
                right = "finite" in str(error) or "labels hold" in str(error)
            except Exception:
                right = False
            if not right:
                wrong.append((argument, what))
    assert not wrong


def test_every_public_function_is_documented_and_called() -> None:
    assert {name for name in nj.__all__ if name != "Quantized"} == set(malformed())
    for name in nj.__all__:
        assert getattr(nj, name).__doc__, name
        parameters = inspect.signature(getattr(nj, name)).parameters
        assert all(p.annotation is not p.empty for p in parameters.values()), name


def test_the_guide_s_example_runs() -> None:
    example = (ROOT / "docs" / "jax.md").read_text().split("```python\n")[1].split("```")[0]
    names: dict[str, Any] = {}
    exec(example, names)
    assert names["dw"].shape == names["w"].shape


def test_a_library_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "_jax_calls.so"
    file.write_bytes(b"no library")
    assert "do not fit JAX" in sentence(lambda: _calls._register_from(file))


def test_numbers_that_are_wrong_end_the_computation(route: str) -> None:
    x = X.copy()
    x[3, 5] = np.nan
    with pytest.raises(Exception, match="quantization takes finite values only"):
        jax.block_until_ready(jax.jit(lambda x: nj.quantize(x))(x))
    assert "labels hold 0 to 99; expected 0 to 79" in sentence(lambda: nj.cross_entropy(X, np.arange(48) % 2 * 99))
    with pytest.raises(Exception, match=r"labels hold 0 to 99; expected 0 to 79"):
        jax.block_until_ready(nj.cross_entropy(X, jnp.arange(48) % 2 * 99))
    assert nj.quantize(X).to_numpy() == ng.quantize(X)  # and nothing is left of it


def test_gradients_of_quantizers() -> None:
    def loss(x: Any) -> Any:
        return (nj.fake_quantize(x, "nvfp4") * X).sum()

    assert np.array_equal(jax.jit(jax.grad(loss))(X), X)
    assert jax.grad(lambda x: loss(x))(X.astype(jnp.bfloat16)).dtype == jnp.bfloat16
    assert "no straight-through gradient" in sentence(
        lambda: jax.grad(lambda x: nj.fake_quantize(x, dialect="te:front=rht16").sum())(X)
    )
    assert "gemm of quantized matrices has no gradient" in sentence(
        lambda: jax.grad(lambda x: nj.matmul(x, Y).sum())(X)
    )


# Training: the network of digits in JAX beside the library's own.

DATA = train.digits(ROOT / "examples" / "digits")
NAMES = ["hidden1", "hidden2", "scores"]
RECIPES = [
    "fp8",
    "fp4-all-the-way",
    "nvidia-nvfp4",
    "luq",
    "luq-smp2",
    "quartet2",
    "fp4-nearest",
    "fp4-ends-high",
    "bf16",
    "fp32",
    "range-bn-int8",
]


def loss_of(layers: dict[str, Any], parameters: dict[str, Any], images: Any, labels: Any, step: Any) -> Any:
    flow = images
    for name in NAMES:
        flow = nj.add_bias(
            nj.linear(flow, parameters[f"{name}.weight"], layers[name], step), parameters[f"{name}.bias"]
        )
        if name != "scores":
            flow = jnp.where(flow > 0, flow, 0)
    return nj.cross_entropy(flow, labels)


def compared(recipe: train.Recipe, steps: int) -> None:
    """Steps of both, the library's optimizer moving the parameters: losses and gradients are equal, bit for bit."""
    trainer = train.Trainer(recipe, DATA, steps=10, seed=5)
    layers = nj.layers(recipe, NAMES, run=5)
    traces = []

    @jax.jit
    def gradients_of(parameters: Any, images: Any, labels: Any, step: Any) -> Any:
        traces.append(1)
        return jax.value_and_grad(lambda p: loss_of(layers, p, images, labels, step))(parameters)

    for number in range(1, steps + 1):
        images, labels = DATA.batch(trainer._random("data", number))
        loss, gradients = gradients_of(trainer.parameters, images, labels, jnp.uint32(number))
        wanted, theirs = trainer.gradients()
        assert float(loss) == wanted
        assert set(gradients) == set(theirs)
        for name, gradient in theirs.items():
            mine = np.asarray(gradients[name])
            assert np.array_equal(mine.view(np.uint32), gradient.view(np.uint32)), (number, name)
        trainer.apply(theirs)
    assert len(traces) == 1


@pytest.mark.parametrize(("number", "route"), both(len(RECIPES), (1,)), indirect=["route"])
def test_gradients_are_those_of_the_training_library(number: int, route: str) -> None:
    compared(replace(train.load(RECIPES[number]), network=train.Network()), 3)


@pytest.mark.parametrize("patterns", [("2:4-T", "none"), ("none", "mvue")])
def test_sparse_recipes_too(patterns: tuple[str, str]) -> None:
    recipe = train.with_sparsity(train.load("fp8" if patterns[0] != "none" else "fp4-nearest"), *patterns)
    compared(recipe, 2)


def test_a_product_may_be_done_again() -> None:
    """Delayed scales move once a step, however often a step is done; frozen ones do not."""
    recipe = train.load("fp8")
    plain, again = (nj.layers(recipe, ["a"])["a"] for _ in range(2))
    for step in range(1, 5):
        x = X * np.float32(step)
        wanted = jax.grad(lambda w, x=x, step=step: nj.linear(x, w, plain, step).sum())(Y)
        nj.linear(9 * x, Y, again, step, frozen=True).block_until_ready()
        made = jax.grad(jax.checkpoint(lambda w, x=x, step=step: jnp.sin(nj.linear(x, w, again, step)).sum()))(Y)
        made = jax.grad(lambda w, x=x, step=step: nj.linear(x, w, again, step).sum())(Y)
        assert np.array_equal(made, wanted)
    assert {use: s.history for use, s in plain.scalings.items()} == {
        use: s.history for use, s in again.scalings.items()
    }


def test_linear_takes_batches_and_dtypes() -> None:
    layers = nj.layers("fp4-all-the-way", ["a", "b"])
    x = X.reshape(2, 3, 8, 80)
    y = nj.linear(x, Y, layers["a"], 1)
    assert np.array_equal(y, np.asarray(nj.linear(X, Y, layers["a"], 1)).reshape(2, 3, 8, 40))
    half = nj.linear(jnp.asarray(X, jnp.bfloat16), Y, layers["a"], 1)
    assert half.dtype == jnp.bfloat16
    gradient = jax.grad(lambda x: nj.linear(x, Y, layers["a"], 1).astype(jnp.float32).sum())(
        jnp.asarray(X, jnp.bfloat16)
    )
    assert gradient.dtype == jnp.bfloat16
    made = jax.vmap(lambda x: nj.linear(x, Y, layers["a"], 1))(x[0])
    assert np.array_equal(made, [nj.linear(each, Y, layers["a"], 1) for each in x[0]])
    luq = nj.layers("luq", ["a", "b", "c"])["b"]
    made = jax.vmap(jax.grad(lambda x: nj.linear(x, Y, luq, 1).sum()))(x[0])
    assert np.array_equal(made, [jax.grad(lambda x: nj.linear(x, Y, luq, 1).sum())(each) for each in x[0]])
    with pytest.raises(NotImplementedError):
        jax.vmap(lambda x: nj.linear(x, Y, nj.layers("fp8", ["a"])["a"], 1))(x[0])


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.parametrize("recipe", ["fp4-all-the-way", "fp8"])
def test_a_thousand_steps_take_no_more_memory(recipe: str) -> None:
    layers = nj.layers(recipe, ["a", "b"])
    weights = {"a": jnp.asarray(Y[:64, :32]), "b": jnp.asarray(Y[:32, :16])}
    x, labels = jnp.asarray(X[:16, :64]), jnp.arange(16)

    def loss(weights: Any, step: Any) -> Any:
        hidden = jax.nn.relu(nj.linear(x, weights["a"], layers["a"], step))
        return nj.cross_entropy(nj.linear(hidden, weights["b"], layers["b"], step), labels)

    @jax.jit
    def stepped(weights: Any, step: Any) -> Any:
        return jax.tree.map(lambda w, g: w - 0.01 * g, weights, jax.grad(loss)(weights, step))

    for step in range(1, 1101):
        weights = stepped(weights, jnp.uint32(step))
        if step == 100:
            jax.block_until_ready(weights)
            before = resident()
    jax.block_until_ready(weights)
    assert resident() - before < 8 * 2**20
