# SPDX-License-Identifier: Apache-2.0
"""Linear layers by a recipe of narrowgauge.train. The rule is that of train.Layer: which operand is quantized how, and with which random
words. Products without a memory are custom calls; the others call the layer itself on the host."""

from __future__ import annotations

import copy
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from .._arguments import flag, instance, integer, path, shown, text
from .._arrays import any_array
from .._core import Error
from .._scaling import DelayedScaling
from ..train import tape
from ..train.products import LAYERS, MAX_RUN, STEP_BIT, Costs, Layer, quantizer
from ..train.recipe import HIGH_FORMATS, INTEGER_FORMATS, MAX_STEP, PRODUCTS, Operand, Recipe, load
from ..train.trainer import high_layers
from . import _calls
from ._quantized import gemm, quantize, real


@dataclass
class _Memory:
    """What a layer's scales were before the products of its step, so that a product may be done again (jax.checkpoint does)."""

    step: int = -1
    before: dict[str, DelayedScaling | None] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


_memories: weakref.WeakKeyDictionary[Layer, _Memory] = weakref.WeakKeyDictionary()


@dataclass(frozen=True)
class _How:
    layer: Layer
    frozen: bool


def layers(recipe: Recipe | str | Path, names: Sequence[str], *, run: int = 0) -> dict[str, Layer]:
    """A train.Layer for each linear layer of a network, as train.Trainer makes them: the place in `names` is a part of the seeds.

    recipe: a Recipe, the name of one of train.recipes(), or a file. names: in the order of the network; the recipe names by them what it
        keeps high. run: the seed of the run, 0 to 65535.
    Raises Error for a recipe that names other layers.
    """
    if isinstance(recipe, Recipe):
        made = recipe
    else:
        file = path("recipe", recipe)
        try:
            made = load(file)
        except OSError as error:  # a name that is too long for a file's
            raise Error(f"cannot read the recipe {shown(file)}: {error.strerror}; expected a file of TOML") from None
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise Error(f"names are {shown(names)}; expected a list of names of layers")
    for name in names:
        text("a name of a layer", name)
    if len(names) >= LAYERS or len(set(names)) < len(names):
        raise Error(f"names are {shown(names)}; expected at most {LAYERS - 1}, each once")
    integer("run", run, 0, MAX_RUN)
    high = high_layers(made.high, list(names))
    costs = Costs()
    return {name: Layer(name, at + 1, made, name in high, run, costs) for at, name in enumerate(names)}


def linear(x: Any, w: Any, layer: Layer, step: Any, *, frozen: bool = False) -> Any:
    """y = x W in the arithmetic of a layer's recipe; its gradients are the recipe's two other products.

    x: (..., inputs), w: (inputs, outputs), of any real dtype; products are made of float32. layer: one of `layers`, for this place of
        the network only. step: of training, from 1 on, a number or an array of it, which is a part of the random words: as an
        array, another one compiles nothing.
    frozen: scales of delayed scaling are used, and not moved, as an evaluation wants it.

    Returns (..., outputs) in the dtype of x where that is a floating type of 16 or 32 bits, else float32; gradients have the dtypes
    of x and w. Values and gradients are those of train.Layer, bit for bit. Under vmap layers with a memory (delayed scales,
    masks) raise NotImplementedError: put the batch into x. Raises Error for shapes that do not fit.
    """
    instance("layer", layer, Layer, "narrowgauge.jax.layers() makes them")
    flag("frozen", frozen)
    rows, weight = real(x, "x"), real(w, "w")
    if weight.ndim != 2 or rows.ndim == 0 or rows.shape[-1] != weight.shape[0] or 0 in (*rows.shape, *weight.shape):
        raise Error(
            f"x has shape {rows.shape} and w {weight.shape}; expected (..., inputs) and (inputs, outputs), every dimension at least 1"
        )
    if isinstance(step, jax.Array):
        if step.shape != () or not jnp.issubdtype(step.dtype, jnp.integer):
            raise Error(f"step has dtype {step.dtype} and shape {step.shape}; expected an integer")
        number = step.astype(jnp.uint32)
    else:
        number = jnp.uint32(integer("step", step, 0, MAX_STEP))
    y = _linear(_How(layer, frozen), rows.reshape(-1, rows.shape[-1]), weight, number)
    dtype = getattr(x, "dtype", None)
    kept = dtype if dtype in (jnp.bfloat16, jnp.float16) else jnp.float32
    return y.reshape(*rows.shape[:-1], weight.shape[1]).astype(kept)


def _forward(how: _How, x: Any, w: Any, step: Any) -> Any:
    return _product(how, "forward", x, w, step)


def _forward_kept(how: _How, x: Any, w: Any, step: Any) -> Any:
    return _forward(how, x, w, step), (x, w, step)


def _backward(how: _How, kept: Any, gradient: Any) -> Any:
    x, w, step = kept
    return (
        _product(how, "input_gradient", gradient, w, step),
        _product(how, "weight_gradient", x, gradient, step),
        None,
    )


_linear = jax.custom_vjp(_forward, nondiff_argnums=(0,))
_linear.defvjp(_forward_kept, _backward)


def _plain(how: Operand) -> bool:
    """Whether `quantize` alone makes an operand."""
    named = how.format not in (*HIGH_FORMATS, *INTEGER_FORMATS, "luq")
    return named and how.scale == "measured" and how.samples == 1 and how.prune == "none"


def _product(how: _How, name: str, first: Any, second: Any, step: Any) -> Any:
    """Layer.forward, input_gradient or weight_gradient."""
    layer = how.layer
    made = layer.operands(name)
    masked = layer.recipe.sparse_weights != "none" and not layer.high
    if masked or layer.engine is not None or not (_plain(made.left) and _plain(made.right)):
        return _on_layer(how, name, first, second, step)
    left = first.T if name == "weight_gradient" else first
    right = second.T if name == "input_gradient" else second
    quantized = [
        quantize(matrix, axis=axis, seed=_seed(layer, f"{name}.{use}", step), **quantizer(operand))
        for matrix, axis, use, operand in zip(
            (left, right), (-1, -2), PRODUCTS[name], (made.left, made.right), strict=True
        )
    ]
    return gemm(*quantized)


def _seed(layer: Layer, use: str, step: Any) -> Any:
    """Layer.seed of a step that may be traced, as two words."""
    still = layer.seed(use, 0)
    high, low = jnp.uint32(still >> 32), jnp.uint32(still & 0xFFFFFFFF)
    return jnp.stack([high | step >> (32 - STEP_BIT), low | step << STEP_BIT])


def _on_layer(how: _How, name: str, first: Any, second: Any, step: Any) -> Any:
    """The layer's own product, on the host."""
    layer = how.layer
    memory = _memories.setdefault(layer, _Memory())
    rows = {"forward": (0, 1), "input_gradient": (0, 0), "weight_gradient": (1, 1)}[name]
    shape = (first.shape[rows[0]], second.shape[rows[1]])
    operands = layer.operands(name)
    remembers = "delayed" in (operands.left.scale, operands.right.scale) or layer.recipe.sparse_weights != "none"

    def work(first: NDArray[np.float32], second: NDArray[np.float32], step: NDArray[np.uint32]) -> NDArray[np.float32]:
        with memory.lock:
            made: NDArray[np.float32] = _done(how, memory, name, first, second, int(step))
        return np.ascontiguousarray(made, dtype=np.float32)

    result = jax.ShapeDtypeStruct(shape, jnp.float32)
    method = None if remembers and not layer.high else "sequential"
    return _calls.on_host(work, result, first, second, step, vmap_method=method)


def _done(how: _How, memory: _Memory, name: str, first: Any, second: Any, step: int) -> NDArray[np.float32]:
    layer = how.layer
    product: Any = getattr(layer, name)
    layer.begin(step, layer.engine)
    if how.frozen:
        scalings = copy.deepcopy(layer.scalings)
        try:
            return product(first, second)  # type: ignore[no-any-return]
        finally:
            layer.scalings = scalings
    if step != memory.step:
        memory.step, memory.before = step, {}
    for operand in PRODUCTS[name]:
        use = f"{name}.{operand}"
        if use in memory.before:  # the product is done again: from what was known before the step
            layer.scalings.pop(use, None)
            earlier = memory.before[use]
            if earlier is not None:
                layer.scalings[use] = copy.deepcopy(earlier)
        else:
            memory.before[use] = copy.deepcopy(layer.scalings.get(use))
    if name == "forward":
        layer.renew_mask(second)
    return product(first, second)  # type: ignore[no-any-return]


def add_bias(y: Any, bias: Any) -> Any:
    """y + bias in float32; the gradient of the bias is summed on the host, in the order in which the training library sums it.

    y: (..., outputs). bias: (outputs,). JAX's own sum, that of `y + bias`, is quicker and has an order of its own.
    Raises Error for shapes that do not fit.
    """
    made, added = real(y, "y"), real(bias, "bias")
    if added.ndim != 1 or made.ndim == 0 or made.shape[-1:] != added.shape:
        raise Error(f"y has shape {made.shape} and bias {added.shape}; expected (..., outputs) and (outputs,)")
    return _add_bias(made, added)


def _sum(y: Any, bias: Any) -> Any:
    return y + bias


def _sum_kept(y: Any, bias: Any) -> Any:
    return y + bias, bias


def _sum_backward(bias: Any, gradient: Any) -> Any:
    def work(gradient: NDArray[np.float32]) -> NDArray[np.float32]:
        return tape._summed_to(gradient, bias.shape)

    return gradient, _calls.on_host(work, jax.ShapeDtypeStruct(bias.shape, jnp.float32), gradient)


_add_bias = jax.custom_vjp(_sum)
_add_bias.defvjp(_sum_kept, _sum_backward)


def cross_entropy(scores: Any, labels: Any) -> Any:
    """The mean over rows of -log softmax(scores)[label], with the bits of the training library, on the host in float64.

    scores: (rows, classes). labels: (rows,), integers of 0 to classes - 1. Its gradient has the library's bits, too.
    Raises Error for shapes that do not fit.
    """
    made = real(scores, "scores")
    places = labels if isinstance(labels, jax.Array) else any_array(labels, "labels")
    if made.ndim != 2 or places.shape != made.shape[:1] or not jnp.issubdtype(places.dtype, jnp.integer):
        raise Error(
            f"scores have shape {made.shape}, labels {places.shape} and dtype {places.dtype}; expected (rows, classes) and (rows,) of "
            "integers"
        )
    if isinstance(places, np.ndarray):
        places = jnp.asarray(_classes(made, places))
    return _cross_entropy(made, places)


def _loss(scores: Any, labels: Any) -> Any:
    def work(scores: NDArray[np.float32], labels: NDArray[Any]) -> NDArray[np.float32]:
        return tape.cross_entropy(tape.Node(scores), _classes(scores, labels)).value

    return _calls.on_host(work, jax.ShapeDtypeStruct((), jnp.float32), scores, labels)


def _classes(scores: Any, labels: NDArray[Any]) -> NDArray[Any]:
    if labels.min() < 0 or labels.max() >= scores.shape[1]:
        raise Error(f"labels hold {labels.min()} to {labels.max()}; expected 0 to {scores.shape[1] - 1}")
    return labels


def _loss_kept(scores: Any, labels: Any) -> Any:
    return _loss(scores, labels), (scores, labels)


def _loss_backward(kept: Any, gradient: Any) -> Any:
    def work(scores: Any, labels: Any, gradient: Any) -> Any:
        node = tape.Node(scores)
        loss = tape.cross_entropy(node, labels)
        assert loss._pullback is not None
        return loss._pullback(gradient)[0]

    scores, labels = kept
    return _calls.on_host(work, jax.ShapeDtypeStruct(scores.shape, jnp.float32), scores, labels, gradient), None


_cross_entropy = jax.custom_vjp(_loss)
_cross_entropy.defvjp(_loss_kept, _loss_backward)
