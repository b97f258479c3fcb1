# SPDX-License-Identifier: Apache-2.0
"""Functions that torch differentiates. Forward is the library's arithmetic; what goes back is said at each.

torch.compile leaves them to Python: tracing would take numpy's functions for torch's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.autograd.function import once_differentiable

from .._arguments import instance, text
from .._arguments import seed as check_seed
from .._core import Error
from .._engine import Engine
from .._quantized import dialect_fields, gemm, quantize
from .._quantized import fake_quantize as fake_quantize_array
from ..train.products import Layer
from .tensors import array_of, check, tensor_of


def _unrotated(dialect: object) -> None:
    """A gradient cannot go straight through a stage that moves the values to another basis."""
    if dialect is None:
        return
    front = dialect_fields(text("dialect", dialect))["front"]
    if front != "none":
        raise Error(
            f"dialect {dialect!r} has the front stage '{front}', through which no gradient goes straight; expected none"
        )


class _FakeQuantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any, how: dict[str, Any]) -> Any:
        return tensor_of(fake_quantize_array(array_of("x", x), **how), x)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        return gradient, None


@torch.compiler.disable
def fake_quantize(
    x: Any,
    format: str | None = None,
    *,
    axis: int | str = -1,
    rule: str = "exact",
    rounding: str | None = None,
    random_bits: int | None = None,
    seed: int = 0,
    tensor_scale: float | None = None,
    power_of_two_scale: bool = False,
    scaling: str = "tensor",
    dialect: str | None = None,
    amax: float | None = None,
) -> Any:
    """What quantization leaves of a tensor; its gradient goes straight through, unchanged.

    x: a tensor of float32, bfloat16 or float16 in the CPU's memory, finite. The other arguments are those of
    `narrowgauge.quantize`. Returns a tensor of the shape and type of x, bits of narrowgauge.fake_quantize(x, ...), which in
    bfloat16 and float16 are rounded once more, to nearest even. It can be differentiated twice.

    Raises Error as `quantize` does, for other tensors, and for a dialect with a Hadamard or mean stage.
    """
    check("x", x)
    _unrotated(dialect)
    how = {
        "format": format, "axis": axis, "rule": rule, "rounding": rounding, "random_bits": random_bits, "seed": seed,
        "tensor_scale": tensor_scale, "power_of_two_scale": power_of_two_scale, "scaling": scaling, "dialect": dialect,
        "amax": amax,
    }  # fmt: skip
    return _FakeQuantize.apply(x, how)


class _MatMul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Any, b: Any, how: dict[str, Any], seed: int, engine: Engine | None) -> Any:
        left = quantize(array_of("a", a), axis=-1, seed=seed, **how)
        right = quantize(array_of("b", b), axis=-2, seed=(seed + 1) % 2**64, **how)
        ctx.operands, ctx.like = (left, right), (a.shape, a.dtype, b.shape, b.dtype)
        return tensor_of(gemm(left, right) if engine is None else engine.gemm(left, right).c, a)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Any) -> Any:
        a_shape, a_dtype, b_shape, b_dtype = ctx.like
        wide, to_a, to_b = gradient.float(), None, None
        if ctx.needs_input_grad[0]:
            right = torch.from_numpy(np.asarray(ctx.operands[1], np.float32))
            to_a = (wide @ right.transpose(-1, -2)).sum_to_size(a_shape).to(a_dtype)
        if ctx.needs_input_grad[1]:
            left = torch.from_numpy(np.asarray(ctx.operands[0], np.float32))
            to_b = (left.transpose(-1, -2) @ wide).sum_to_size(b_shape).to(b_dtype)
        return to_a, to_b, None, None, None


@torch.compiler.disable
def matmul(
    a: Any,
    b: Any,
    format: str | None = None,
    *,
    rule: str = "exact",
    rounding: str | None = None,
    random_bits: int | None = None,
    seed: int = 0,
    power_of_two_scale: bool = False,
    scaling: str = "tensor",
    dialect: str | None = None,
    engine: Engine | None = None,
) -> Any:
    """a @ b, both quantized along the contraction; the gradients are those of fake_quantize(a) @ fake_quantize(b) in float32.

    a, b: tensors of two dimensions or more, of float32, bfloat16 or float16, finite; batches broadcast. engine: a
    narrowgauge.Engine, for two matrices; None is the golden model. The other arguments are those of `narrowgauge.matmul`: under
    stochastic rounding b takes the seed after a's. Returns a tensor of a's type. It can be differentiated once.

    Raises Error as `narrowgauge.matmul` does, for other tensors, and for a dialect with a Hadamard or mean stage.
    """
    for name, tensor in (("a", a), ("b", b)):
        check(name, tensor)
        if tensor.ndim < 2:
            raise Error(
                f"{name} has shape {tuple(tensor.shape)}; expected two dimensions or more; add one with unsqueeze"
            )
    _unrotated(dialect)
    if engine is not None:
        instance("engine", engine, Engine, "narrowgauge.Engine('rtl') makes one, None is the golden model")
    how = {
        "format": format, "rule": rule, "rounding": rounding, "random_bits": random_bits,
        "power_of_two_scale": power_of_two_scale, "scaling": scaling, "dialect": dialect,
    }  # fmt: skip
    return _MatMul.apply(a, b, how, check_seed(seed), engine)


class _Linear(torch.autograd.Function):
    """`call` is the layer as it stands at this step; `spent` is told its number once the weight's gradient has taken its words."""

    @staticmethod
    def forward(ctx: Any, x: Any, weight: Any, bias: Any, call: Layer, spent: dict[str, int]) -> Any:
        ctx.save_for_backward(x, weight)
        ctx.call, ctx.spent, ctx.bias = call, spent, None if bias is None else bias.dtype
        product = call.forward(array_of("x", x).reshape(-1, x.shape[-1]), array_of("weight", weight).T)
        if bias is not None:
            product = product + array_of("bias", bias)
        return tensor_of(product.reshape(*x.shape[:-1], weight.shape[0]), x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Any) -> Any:
        x, weight = ctx.saved_tensors
        back = array_of("the gradient", gradient).reshape(-1, weight.shape[0])
        to_x = to_weight = to_bias = None
        ctx.spent["step"] = ctx.call.step
        if ctx.needs_input_grad[0]:
            to_x = tensor_of(ctx.call.input_gradient(back, array_of("weight", weight).T).reshape(x.shape), x)
        if ctx.needs_input_grad[1]:
            rows = array_of("x", x).reshape(-1, x.shape[-1])
            to_weight = tensor_of(ctx.call.weight_gradient(rows, back).T, weight)
        if ctx.needs_input_grad[2]:
            to_bias = torch.from_numpy(back.sum(axis=0, dtype=np.float32)).to(ctx.bias)
        return to_x, to_weight, to_bias, None, None


@torch.compiler.disable
def linear(x: Any, weight: Any, bias: Any = None, *, layer: Layer) -> Any:
    """x @ weight.T + bias and its two gradients, each a product of `layer`'s recipe; the bias is added in float32.

    x: (..., inputs). weight: outputs x inputs, as torch.nn.Linear has it. bias: of the outputs, or None. layer: a
    narrowgauge.train.Layer, begun at a step (`layer.begin(step, engine)`), which says formats, roundings, seeds and the engine;
    what goes back uses the step at which forward ran. Returns a tensor of the type of x. It can be differentiated once.

    Raises Error for tensors that are not served, shapes that do not fit, and as `quantize` does.
    """
    instance("layer", layer, Layer, "narrowgauge.train.Layer makes one, narrowgauge.torch.Linear has one")
    return apply(x, weight, bias, layer.as_it_stands(), {})


def apply(x: Any, weight: Any, bias: Any, call: Layer, spent: dict[str, int]) -> Any:
    """The checked call of `_Linear`."""
    for name, tensor in (("x", x), ("weight", weight), *([] if bias is None else [("bias", bias)])):
        check(name, tensor)
    if weight.ndim != 2:
        raise Error(f"weight has shape {tuple(weight.shape)}; expected outputs x inputs")
    if x.ndim < 1 or x.shape[-1] != weight.shape[1]:
        raise Error(
            f"x has shape {tuple(x.shape)}; expected {weight.shape[1]} numbers along the last axis, as weight has inputs"
        )
    if bias is not None and tuple(bias.shape) != (weight.shape[0],):
        raise Error(f"bias has shape {tuple(bias.shape)}; expected ({weight.shape[0]},), one for each output")
    if x.numel() == 0:  # no rows, which no product has: torch's has the shapes and gradients of zeros
        wide = None if bias is None else bias.float()
        return torch.nn.functional.linear(x.float(), weight.float(), wide).to(x.dtype)
    return _Linear.apply(x, weight, bias, call, spent)
