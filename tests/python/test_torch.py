# SPDX-License-Identifier: Apache-2.0
"""torch: gradients against the library's own training step, states, and what is refused. Its tests are skipped without torch."""

from __future__ import annotations

import copy
import importlib.util
import io
import json
import pickle
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import train
from narrowgauge.train import tape

HERE = importlib.util.find_spec("torch") is not None
if HERE:
    import torch

    import narrowgauge.torch as ngt
needs_torch = pytest.mark.skipif(not HERE, reason="torch is not installed")
DIGITS = train.digits(Path(__file__).resolve().parents[2] / "examples" / "digits")
RECIPES = ("fp8", "fp4-all-the-way", "nvidia-nvfp4", "luq", "luq-smp2", "quartet2", "bf16")
RANDOM = np.random.default_rng(4)
X = RANDOM.standard_normal((8, 64)).astype(np.float32)


def bits(array: Any) -> Any:
    return np.ascontiguousarray(array, np.float32).view(np.uint32)


def same(left: Any, right: Any) -> bool:
    return left.shape == right.shape and bool((bits(left) == bits(right)).all())


def digits_module() -> Any:
    layers: dict[str, Any] = {}
    for name, inputs, outputs in (("hidden1", 64, 128), ("hidden2", 128, 128), ("scores", 128, 10)):
        layers[name] = torch.nn.Linear(inputs, outputs)
        if name != "scores":
            layers[f"relu{name[-1]}"] = torch.nn.ReLU()
    module = torch.nn.Sequential()
    for name, layer in layers.items():
        module.add_module(name, layer)
    return module


def small(recipe: Any = "nvidia-nvfp4", **options: Any) -> Any:
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 16))
    ngt.convert(module, recipe, seed=2, **options)
    return module


def take_parameters(module: Any, trainer: train.Trainer) -> None:
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(trainer.parameters[name].T)))


def step_both(module: Any, trainer: train.Trainer) -> dict[str, np.ndarray]:
    """A step of each from the trainer's parameters: the scores' gradient comes from the library's tape in both. Returns what the
    trainer has, after it was found to be what torch has."""
    take_parameters(module, trainer)
    assert ngt.step(module) == trainer.done + 1
    images, labels = DIGITS.batch(trainer._random("data", trainer.done + 1))
    scores = module(torch.from_numpy(images))
    node = tape.Node(scores.detach().numpy())
    loss = tape.cross_entropy(node, labels)
    tape.backward(loss)
    module.zero_grad()
    scores.backward(torch.from_numpy(node.gradient))
    expected_loss, expected = trainer.gradients()
    assert float(loss.value) == expected_loss
    for name, parameter in module.named_parameters():
        assert same(parameter.grad.numpy().T, expected[name]), name
    return expected


def test_the_package_does_not_import_torch() -> None:
    code = "import sys, narrowgauge, narrowgauge.train; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_without_torch_a_sentence_says_so() -> None:
    code = "import sys; sys.modules['torch'] = None\nimport narrowgauge.torch"
    run = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    expected = (
        "ImportError: narrowgauge.torch needs the package torch: pip install torch, or pip install 'narrowgauge[torch]'"
    )
    assert run.stderr.strip().splitlines()[-1] == expected


@needs_torch
@pytest.mark.parametrize("recipe", RECIPES)
def test_gradients_are_those_of_the_training_library(recipe: str) -> None:
    trainer = train.Trainer(train.load(recipe), DIGITS, steps=50, seed=3)
    module = digits_module()
    ngt.convert(module, recipe, seed=3)
    for _ in range(3):
        trainer.apply(step_both(module, trainer))
    module.eval()
    take_parameters(module, trainer)
    with torch.no_grad():
        for images, _ in DIGITS.held_out():
            nodes = {name: tape.Node(value) for name, value in trainer.parameters.items()}
            layers = {name: layer.apart() for name, layer in trainer.layers.items()}
            for layer in layers.values():
                layer.begin(trainer.done, None)
            assert same(module(torch.from_numpy(images)).numpy(), trainer.network.scores(images, nodes, layers).value)
            break


@needs_torch
@pytest.mark.parametrize("pattern", ["2:4", "2:4-T"])
def test_masks_and_pruned_gradients_are_the_librarys(pattern: str) -> None:
    recipe = train.with_sparsity(train.load("fp4-all-the-way"), pattern, "mvue")
    trainer = train.Trainer(recipe, DIGITS, steps=50, seed=3)
    module = digits_module()
    ngt.convert(module, recipe, seed=3)
    for _ in range(2):
        trainer.apply(step_both(module, trainer))
    assert (module.hidden1.layer.mask == trainer.layers["hidden1"].mask).all()


@needs_torch
def test_torchs_own_loss_moves_gradients_by_little() -> None:
    """Its float32 softmax differs from the tape's, taken in float64, in last bits; the rest of the step is the same."""
    trainer = train.Trainer(train.load("nvidia-nvfp4"), DIGITS, steps=50, seed=3)
    module = digits_module()
    ngt.convert(module, "nvidia-nvfp4", seed=3)
    take_parameters(module, trainer)
    ngt.step(module)
    images, labels = DIGITS.batch(trainer._random("data", 1))
    torch.nn.functional.cross_entropy(module(torch.from_numpy(images)), torch.from_numpy(labels).long()).backward()
    expected = trainer.gradients()[1]
    bias = module.scores.bias.grad.numpy()
    assert np.abs(bias - expected["scores.bias"]).max() < 1e-6


@needs_torch
@pytest.mark.parametrize("engine", ["systemc", "rtl"])
def test_engines_give_the_same_gradients(engine: str) -> None:
    if engine not in ng.engines():
        pytest.skip(f"this build has no engine {engine}")
    found = []
    for each in (None, ng.Engine(engine)):
        module = small("fp4-all-the-way", engine=each)
        ngt.step(module)
        module(torch.from_numpy(X)).sum().backward()
        found.append([parameter.grad.numpy() for parameter in module.parameters()])
    assert all(same(left, right) for left, right in zip(*found, strict=True))


@needs_torch
@pytest.mark.parametrize("recipe", ["fp8", "nvidia-nvfp4", "sparse"])
def test_a_run_that_was_cut_ends_in_the_same_bits(recipe: str) -> None:
    made = train.with_sparsity(train.load("nvidia-nvfp4"), "2:4", "none") if recipe == "sparse" else recipe
    random = np.random.default_rng(1)
    batches = [torch.from_numpy(random.standard_normal((8, 64)).astype(np.float32)) for _ in range(24)]
    batches[3:20] = [torch.zeros(8, 64)] * 17  # more than the history of fp8, so that older maxima made the scale

    def run(module: Any, first: int, last: int) -> None:
        optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
        for number in range(first, last):
            assert ngt.step(module) == number + 1
            optimizer.zero_grad()
            module(batches[number]).square().mean().backward()
            optimizer.step()

    whole, cut = small(made), small(made)
    run(whole, 0, 24)
    run(cut, 0, 20)
    with io.BytesIO() as file:
        torch.save(cut.state_dict(), file)
        file.seek(0)
        state = torch.load(file, weights_only=True)
    again = small(made)
    again.load_state_dict(state)
    run(again, 20, 24)
    for key, value in whole.state_dict().items():
        assert torch.equal(value, again.state_dict()[key]), key


@needs_torch
def test_states_of_torchs_own_layers() -> None:
    plain = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 16))
    module = small()
    module.load_state_dict(plain.state_dict())
    assert torch.equal(module[0].weight, plain[0].weight)
    plain.load_state_dict({k: v for k, v in module.state_dict().items() if not k.endswith("_extra_state")})
    other = small("fp8")
    with pytest.raises(ng.Error, match="is of recipe 'nvidia-nvfp4, SHA-256"):
        other.load_state_dict(module.state_dict())
    with pytest.raises(ng.Error, match="the state of layer '0' cannot be read"):
        module[0].set_extra_state(torch.zeros(5, dtype=torch.uint8))
    with pytest.raises(ng.Error, match="the state of layer '0' cannot be read"):
        module[0].set_extra_state(None)
    state = module[0].get_extra_state()
    for place in range(0, state.numel(), 7):  # of a file with checksums
        damaged = state.clone()
        damaged[place] ^= 85
        try:
            module[0].set_extra_state(damaged)
        except ng.Error as error:
            assert "\n" not in str(error)  # noqa: PT017
        assert torch.equal(module[0].get_extra_state(), state)
    with pytest.raises(RuntimeError, match="Missing key"):
        module.load_state_dict({"0.weight": plain[0].weight})


@needs_torch
def test_evaluation_changes_nothing() -> None:
    module = small("fp8")
    ngt.step(module)
    module(torch.from_numpy(X)).sum().backward()
    before = module[0].get_extra_state()
    module.eval()
    first = module(torch.from_numpy(3 * X))
    assert torch.equal(module(torch.from_numpy(3 * X)), first)
    assert torch.equal(module[0].get_extra_state(), before)


@needs_torch
def test_steps_are_asked_for() -> None:
    module, x = small(), torch.from_numpy(X)
    with pytest.raises(ng.Error, match="layer '0' is in training mode before its first step"):
        module(x)
    module.eval()(x)
    module.train()
    assert ngt.step(module) == 1
    assert torch.equal(module(x), module(x))
    module(x).sum().backward()
    with pytest.raises(ng.Error, match="step 1 of layer '0' has used its random words"):
        module(x)
    assert ngt.step(module) == 2
    late = module(x)
    ngt.step(module)
    late.sum().backward()  # by the words of step 2
    module(x)
    gradient = module[0].weight.grad.clone()
    module.zero_grad()
    for number in (1, 2):
        ngt.step(module, number)
        module(x).sum().backward()
    assert torch.equal(module[0].weight.grad, gradient)
    module[0].step(9)
    with pytest.raises(ng.Error, match="layers stand at steps 2 and 9; expected one for all; give the number"):
        ngt.step(module)
    with pytest.raises(ng.Error, match="number is 16777216; expected 0 to 16777215"):
        ngt.step(module, 2**24)
    ngt.step(module, 2**24 - 1)
    with pytest.raises(ng.Error, match="16777216"):
        ngt.step(module)


@needs_torch
@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointed_activations(reentrant: bool) -> None:
    from torch.utils.checkpoint import checkpoint

    found = []
    for forward in (lambda module, x: module(x), lambda module, x: checkpoint(module, x, use_reentrant=reentrant)):
        module, x = small(), torch.from_numpy(X).requires_grad_()
        ngt.step(module)
        forward(module, x).sum().backward()
        found.append([x.grad, *(parameter.grad for parameter in module.parameters())])
    assert all(torch.equal(left, right) for left, right in zip(*found, strict=True))
    module = small("fp8")
    ngt.step(module)
    with pytest.raises(ng.Error, match="layer '0' is computed again in the backward pass"):
        checkpoint(module, x, use_reentrant=reentrant).sum().backward()


@needs_torch
def test_compiled_modules_give_the_same_bits() -> None:
    found = []
    for way in (lambda module: module, lambda module: torch.compile(module, backend="aot_eager")):
        module = small()
        ngt.step(module)
        y = way(module)(torch.from_numpy(X))
        y.sum().backward()
        found.append([y.detach(), *(parameter.grad for parameter in module.parameters())])
    assert all(torch.equal(left, right) for left, right in zip(*found, strict=True))
    torch._dynamo.reset()
    module = small()
    ngt.step(module)
    with pytest.raises(torch._dynamo.exc.Unsupported):
        torch.compile(module, backend="eager", fullgraph=True)(torch.from_numpy(X))


@needs_torch
@pytest.mark.parametrize("how", [{"format": "nvfp4"}, {"format": "mxfp8_e4m3"}, {"dialect": "te"}, {"format": "luq"}])
def test_products_and_fake_quantization(how: dict[str, Any]) -> None:
    a, b = (torch.randn(4, 32, requires_grad=True), torch.randn(32, 5, requires_grad=True))
    product = ngt.matmul(a, b, rounding="stochastic", seed=7, **how)
    plain = [tensor.detach().numpy() for tensor in (a, b)]
    assert same(product.detach().numpy(), ng.matmul(*plain, rounding="stochastic", seed=7, **how))
    weights = torch.randn(4, 5)
    product.backward(weights)
    sides = []
    for number, (array, axis) in enumerate(zip(plain, (-1, -2), strict=True)):
        made = ng.quantize(array, axis=axis, rounding="stochastic", seed=7 + number, **how)
        sides.append(torch.from_numpy(np.asarray(made)))
    assert torch.equal(a.grad, weights @ sides[1].T)
    assert torch.equal(b.grad, sides[0].T @ weights)
    a.grad = None
    values = ngt.fake_quantize(a, rounding="stochastic", seed=7, **how)
    assert same(values.detach().numpy(), ng.fake_quantize(plain[0], rounding="stochastic", seed=7, **how))
    (first,) = torch.autograd.grad((values * weights[:, :1] * a).sum(), a, create_graph=True)
    assert torch.equal(first, (weights[:, :1] * a + values * weights[:, :1]))
    (second,) = torch.autograd.grad(first.sum(), a)  # straight through again
    assert torch.equal(second, (2 * weights[:, :1]).expand(4, 32))


@needs_torch
def test_products_of_batches() -> None:
    a, b = torch.randn(3, 2, 4, 32, requires_grad=True), torch.randn(2, 32, 5, requires_grad=True)
    product = ngt.matmul(a, b)
    assert same(product.detach().numpy(), ng.matmul(a.detach().numpy(), b.detach().numpy()))
    product.sum().backward()
    assert a.grad.shape == a.shape
    assert b.grad.shape == b.shape


@needs_torch
def test_a_linear_product_by_a_layer() -> None:
    layer = train.Layer("one", 1, train.load("nvidia-nvfp4"), False, 2, train.Costs())
    layer.begin(1, None)
    module = small()
    ngt.step(module)
    x = torch.from_numpy(X).reshape(2, 4, 64)
    y = ngt.linear(x, module[0].weight, module[0].bias, layer=layer)
    assert torch.equal(y, module[0](x))
    assert y.shape == (2, 4, 32)


@needs_torch
def test_narrower_tensors() -> None:
    for dtype in (torch.bfloat16, torch.float16):
        x = torch.from_numpy(X).to(dtype).requires_grad_()
        values = ngt.fake_quantize(x, "mxfp8_e4m3")
        assert values.dtype == dtype
        exact = torch.from_numpy(ng.fake_quantize(x.detach().float().numpy(), "mxfp8_e4m3"))
        assert torch.equal(values, exact.to(dtype))
        module = small()
        ngt.step(module)
        y = module[0](x)
        y.sum().backward()
        assert (y.dtype, x.grad.dtype, module[0].weight.grad.dtype) == (dtype, dtype, torch.float32)
        ngt.step(module, 1)
        assert torch.equal(y, module[0](x.detach().float()).to(dtype))
        none = module[0](x[:0])
        assert (none.shape, none.dtype) == ((0, 32), dtype)
        none.sum().backward()


@needs_torch
def test_no_copy_of_a_float32_tensor() -> None:
    from narrowgauge.torch.tensors import array_of, tensor_of

    x = torch.randn(3, 4)
    for tensor in (x, x.T, x[:, ::2], x[0].expand(5, 4)):
        assert array_of("x", tensor).ctypes.data == tensor.data_ptr()
    array = np.zeros((2, 3), np.float32)
    assert tensor_of(array, x).data_ptr() == array.ctypes.data


@needs_torch
def test_conversion_reports() -> None:
    class Block(torch.nn.Module):  # type: ignore[misc, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.attention = torch.nn.MultiheadAttention(16, 2)
            self.first = torch.nn.Linear(16, 16)
            self.tied = self.first
            self.hooked = torch.nn.Linear(16, 16)
            self.hooked.register_forward_hook(lambda *_: None)
            self.skipped = torch.nn.Linear(16, 16)
            self.normed = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(16, 16))
            self.last = torch.nn.Linear(16, 16, bias=False)

    block = Block()
    weight = block.first.weight
    made = ngt.convert(block, "luq", skip=["skip*"])
    assert (made.layers, made.high, made.high_format) == (("first", "last"), ("first", "last"), "float32")
    assert sorted(made.left) == ["attention", "attention.out_proj", "hooked", "normed", "skipped"]
    assert str(made).splitlines()[:2] == ["recipe luq: 2 linear layers", "  first: float32"]
    assert block.first is block.tied
    assert block.first.weight is weight
    assert block.last.bias is None
    assert "recipe=luq, kept float32" in repr(block)
    assert ngt.convert(small_plain(), "ngpt-nvfp4").left["network"].startswith("the recipe's normalized blocks")
    high = ngt.convert(small_plain(), train.Recipe("mine", high=("2",)))
    assert high.high == ("2",)


def small_plain() -> Any:
    return torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 16))


@needs_torch
def test_workers_have_words_of_their_own() -> None:
    plain = small_plain()
    found = []
    for worker in (None, 0, 1):
        module = copy.deepcopy(plain)
        ngt.convert(module, "fp4-all-the-way", worker=worker)
        assert module[0].layer.index == 1 + 256 * (worker or 0)
        ngt.step(module)
        module(torch.from_numpy(X)).square().sum().backward()
        found.append(module[0].weight.grad)
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


@needs_torch
def test_weights_as_quantized_matrices(tmp_path: Path) -> None:
    module = small()
    weights = ngt.quantized(module)
    assert list(weights) == ["0"]  # the last layer is bfloat16
    assert weights["0"] == ng.quantize(module[0].weight.detach().numpy().T, dialect="te_2d", axis=-2).mT
    ngt.save_quantized(tmp_path / "a.safetensors", module)
    file = ng.open_checkpoint(tmp_path / "a.safetensors")
    assert file["0"].read() == weights["0"]
    assert same(file.files.array("2.weight"), module[2].weight.detach().numpy())
    assert sorted(file.files) == ["0.bias", "0.weight", "0.weight_scale", "0.weight_scale_2", "2.bias", "2.weight"]
    fp8 = small("fp8")
    ngt.step(fp8)
    fp8(torch.from_numpy(X)).sum().backward()
    before = fp8[0].get_extra_state()
    y = fp8.eval()(torch.from_numpy(X))
    assert sorted(ngt.save_quantized(tmp_path / "b.safetensors", fp8)) == ["0", "2"]
    assert torch.equal(before, fp8[0].get_extra_state())
    assert y.shape == (8, 16)
    rotated = train.Recipe("r", forward=train.Product(*2 * [train.Operand("nvfp4", "te:front=rht16")]))
    with pytest.raises(ng.Error, match="layer '0' has weights under the front stage 'rht16'"):
        ngt.save_quantized(tmp_path / "c.safetensors", small(rotated))


@needs_torch
def test_copies_and_pickles() -> None:
    module = small("fp8", engine=ng.Engine("model"))
    ngt.step(module)
    module(torch.from_numpy(X)).sum().backward()
    for twin in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        for each in (module, twin):
            ngt.step(each, 2)
        assert torch.equal(twin.eval()(torch.from_numpy(X)), copy.deepcopy(module).eval()(torch.from_numpy(X)))
        assert twin[0].layer is not module[0].layer
    report = ngt.convert(small_plain(), "luq")
    assert pickle.loads(pickle.dumps(report)) == report


@needs_torch
def test_memory_does_not_grow() -> None:
    """A thousand steps of a small network, after a hundred that fill caches."""
    module, x = small("fp8"), torch.from_numpy(X)
    before = 0
    for number in range(1100):
        ngt.step(module)
        module(x).square().sum().backward()
        module.zero_grad()
        if number == 99:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2000  # kB


def refusals() -> dict[str, tuple[Any, str]]:
    x, module = torch.from_numpy(X), small()
    ngt.step(module)
    layer = module[0].layer
    weight = module[0].weight
    return {
        "float64": (lambda: module(x.double()), "x has dtype float64; expected one of float32, bfloat16, float16; convert it"),
        "integers": (lambda: ngt.fake_quantize(x.int()), "x has dtype int32; expected one of float32"),
        "complex": (lambda: ngt.matmul(x.cfloat(), x), "a has dtype complex64; expected one of"),
        "device": (lambda: module(x.to("meta")), "x is on device meta; expected memory of the CPU; move it there with .cpu()"),
        "layout": (lambda: module(x.to_sparse()), "x has layout torch.sparse_coo; expected torch.strided"),
        "an array": (lambda: module(X), "x is an array of shape (8, 64); expected a tensor of torch"),
        "None": (lambda: ngt.fake_quantize(None), "x is None; expected a tensor of torch"),
        "a subclass": (lambda: ngt.fake_quantize(x.as_subclass(type("Own", (torch.Tensor,), {}))), "x is a Own, a tensor of a kind"),
        "traced": (lambda: torch.jit.trace(module, x), "x is being traced by torch.jit"),
        "exported": (lambda: torch.export.export(module, (x,)), "x is a FakeTensor"),
        "shape": (lambda: module(x[:, :3]), "x has shape (8, 3); expected 64 numbers along the last axis"),
        "NaN": (lambda: module(x * float("nan")), "is NaN: quantization takes finite values only"),
        "empty": (lambda: ngt.fake_quantize(x[:0]), "x has shape (0, 64)"),
        "a vector": (lambda: ngt.matmul(x[0], x.T), "a has shape (64,); expected two dimensions or more"),
        "inner sizes": (lambda: ngt.matmul(x, x), "the operands' contractions differ"),
        "format": (lambda: ngt.fake_quantize(x, "fp3"), "format"),
        "axis": (lambda: ngt.fake_quantize(x, axis=5), "axis is 5; expected -2 to 1"),
        "seed": (lambda: ngt.matmul(x, x.T, seed=-1), "seed is -1; expected 0 to 18446744073709551615"),
        "rotated": (lambda: ngt.fake_quantize(x, dialect="te:front=rht16"), "has the front stage 'rht16'"),
        "rotated product": (lambda: ngt.matmul(x, x.T, dialect="te:front=mean"), "has the front stage 'mean'"),
        "dialect": (lambda: ngt.fake_quantize(x, dialect=3), "dialect is 3; expected a name as text"),
        "engine": (lambda: ngt.matmul(x, x.T, engine="rtl"), "engine is of type str; expected Engine"),
        "layer": (lambda: ngt.linear(x, weight, layer=3), "layer is of type int; expected Layer"),
        "weight": (lambda: ngt.linear(x, weight[0], layer=layer), "weight has shape (64,); expected outputs x inputs"),
        "bias": (lambda: ngt.linear(x, weight, weight, layer=layer), "bias has shape (32, 64); expected (32,)"),
        "recipe": (lambda: ngt.convert(small_plain(), "nothing"), "recipe 'nothing' is no file"),
        "recipe's type": (lambda: ngt.Linear(4, 4, recipe=3), "recipe is 3; expected a Recipe, a name"),
        "inputs": (lambda: ngt.Linear(0, 4, recipe="fp8"), "in_features is 0; expected 1 to"),
        "index": (lambda: ngt.Linear(4, 4, recipe="fp8", index=4096), "index is 4096; expected 1 to 4095"),
        "high": (lambda: ngt.Linear(4, 4, recipe="fp8", high=2), "high is 2; expected True or False"),
        "name": (lambda: ngt.Linear(4, 4, recipe="fp8", name=b"x"), "name is b'x'; expected a name as text"),
        "module": (lambda: ngt.convert(3, "fp8"), "module is of type int; expected Module"),
        "run": (lambda: ngt.convert(small_plain(), "fp8", seed=65536), "seed is 65536; expected 0 to 65535"),
        "worker": (lambda: ngt.convert(small_plain(), "fp8", worker=16), "worker is 16; expected 0 to 15"),
        "skip": (lambda: ngt.convert(small_plain(), "fp8", skip="0"), "skip is '0'; expected a list of names"),
        "itself": (lambda: ngt.convert(torch.nn.Linear(4, 4), "fp8"), "module is a Linear layer itself"),
        "nothing": (lambda: ngt.convert(torch.nn.ReLU(), "fp8"), "module ReLU has no torch.nn.Linear to replace"),
        "again": (lambda: ngt.convert(module, "fp8"), "module Sequential has no torch.nn.Linear to replace"),
        "double": (lambda: ngt.convert(small_plain().double(), "fp8"), "0.weight has dtype float64"),
        "meta": (lambda: ngt.convert(small_plain().to("meta"), "fp8"), "0.weight is on device meta"),
        "no layers": (lambda: ngt.step(small_plain()), "module Sequential has no layer of narrowgauge.torch"),
        "high layers": (
            lambda: ngt.convert(small_plain(), train.Recipe("r", high=("x",))),
            "layers.high names 'x', which this network does not have; expected of 0, 2",
        ),
        "layout of files": (lambda: ngt.save_quantized("/nowhere/a", module, layout="x"), "layout is 'x'; expected one of"),
    }  # fmt: skip


NAMES = list(refusals()) if HERE else ["all of them"]


@needs_torch
@pytest.mark.parametrize("name", NAMES)
def test_refused_in_a_sentence(name: str) -> None:
    call, sentence = refusals()[name]
    with pytest.raises(ng.Error) as caught:
        call()
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


@needs_torch
def test_differentiating_twice_is_refused() -> None:
    module, x = small(), torch.from_numpy(X).requires_grad_()
    ngt.step(module)
    for y in (module(x), ngt.matmul(x, x.T)):
        (gradient,) = torch.autograd.grad(y.square().sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match="differentiate twice"):
            gradient.sum().backward()


@needs_torch
def test_the_benchmark_compares_bits() -> None:
    bench = Path(__file__).parents[2] / "python" / "bench" / "torch_overhead.py"
    command = [sys.executable, bench, "--json", "--recipes", "luq", "--seconds", "0.001", "--steps", "20"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert all(row["equal"] and row["numpy_s"] > 0 for row in rows["calls"])
    assert len(rows["resident_mb"]["luq"]) == 10


@needs_torch
def test_every_public_name_is_tested() -> None:
    text = Path(__file__).read_text()
    assert all(f"ngt.{name}" in text or name == "Conversion" for name in ngt.__all__)
    assert all(getattr(ngt, name).__doc__ for name in ngt.__all__)
