# SPDX-License-Identifier: Apache-2.0
"""Networks of torch by a recipe: their Linear layers replaced, their steps, and what leaves them as quantized matrices."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from .. import checkpoint
from .._arguments import instance, integer, shown, text
from .._core import Error
from .._engine import Engine
from .._quantized import QuantizedMatrix, dialect_fields
from ..train.products import LAYERS, MAX_LAYER, MAX_RUN, WORKERS, Costs, Layer
from ..train.recipe import Network, Recipe
from ..train.trainer import high_layers
from .modules import Linear, engine_of, recipe_of
from .tensors import array_of, check


@dataclass(frozen=True)
class Conversion:
    """What `convert` did. recipe: its name. layers: names of the layers that it replaced, in the order of their numbers in seeds, 1 and
    on. high: those of them whose products stay in `high_format`. left: modules that it left as they are, each with the reason."""

    recipe: str
    layers: tuple[str, ...]
    high: tuple[str, ...]
    high_format: str
    left: dict[str, str]

    def __str__(self) -> str:
        lines = [f"recipe {self.recipe}: {len(self.layers)} linear layers"]
        for name in self.layers:
            lines.append(f"  {name}: {self.high_format if name in self.high else 'narrow'}")
        lines += [f"  {name}: left, {reason}" for name, reason in self.left.items()]
        return "\n".join(lines)


def _reason(module: Any) -> str | None:
    """Why a module with a linear product in it stays what it is; None: it has none, or can be replaced."""
    if isinstance(module, torch.nn.MultiheadAttention):
        return "it multiplies by its weights itself"
    if not isinstance(module, torch.nn.Linear) or isinstance(module, Linear):
        return None
    if type(module) is not torch.nn.Linear:
        return f"it is a {type(module).__name__}, a class of its own"
    if module._parameters.get("weight") is None:
        return "its weight is computed from other parameters"
    if any(getattr(module, hooks) for hooks in ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks")):
        return "it has hooks"
    return None


def _plan(module: Any, skip: Sequence[str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Layers to replace by name, in the order of torch's named_modules(), and what is left with the reason."""
    layers, left = {}, {}
    for name, each in module.named_modules():
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in skip):
            if isinstance(each, torch.nn.Linear):
                left[name] = "it was to be skipped"
        elif reason := _reason(each):
            left[name] = reason
        elif type(each) is torch.nn.Linear:
            layers[name] = each
    return layers, left


def convert(
    module: Any,
    recipe: Recipe | str | Path,
    *,
    seed: int = 0,
    engine: Engine | None = None,
    skip: Sequence[str] = (),
    worker: int | None = None,
) -> Conversion:
    """Replaces the torch.nn.Linear layers of a module, in place, by ones that follow a recipe. Parameters stay the same objects.

    recipe: a Recipe, a name of train.recipes(), or a file. Its layers.high are found among the names of torch's named_modules(),
    'first' and 'last' in that order. seed: of the run, 0 to 65535. engine: of all layers, None being the golden model. skip:
    names of layers that are left, with a star as pattern. worker: which of several with random words of their own, 0 to 15;
    then at most 255 layers, else 4095.

    Subclasses of torch.nn.Linear, layers with hooks or a computed weight and MultiheadAttention are left, and reported.
    Raises Error, before it replaces any, where there is nothing to replace, for names in layers.high that no layer has, and
    for parameters that are not served.
    """
    instance("module", module, torch.nn.Module, "torch.nn.Sequential is one")
    made = recipe_of(recipe)
    integer("seed", seed, 0, MAX_RUN)
    engine_of(engine)
    if isinstance(skip, str) or not isinstance(skip, Sequence):
        raise Error(f"skip is {shown(skip)}; expected a list of names")
    layers, left = _plan(module, [text("skip", pattern) for pattern in skip])
    if worker is not None:
        integer("worker", worker, 0, WORKERS - 1)
    most = MAX_LAYER if worker is None else LAYERS - 1
    if "" in layers:
        raise Error(
            "module is a Linear layer itself, which has no place to be replaced in; expected torch.nn.Sequential(layer)"
        )
    if not layers:
        raise Error(f"module {type(module).__name__} has no torch.nn.Linear to replace; expected one or more")
    if len(layers) > most:
        raise Error(f"module has {len(layers)} linear layers; expected at most {most}")
    if made.network != Network():
        how = made.network
        left["network"] = (
            f"the recipe's convolution and its normalization '{how.norm}' are the module's own affair"
            if how.kind == "convolution"
            else f"the recipe's {how.blocks} blocks with {how.gate} are the module's own affair"
        )
    high = high_layers(made.high, list(layers))
    for name, each in layers.items():
        for part, parameter in each.named_parameters():
            check(f"{name}.{part}", parameter)
    costs, first = Costs(), LAYERS * (worker or 0)
    replaced = {
        id(each): Linear.of(each, Layer(name, first + index, made, name in high, seed, costs), engine)
        for index, (name, each) in enumerate(layers.items(), 1)
    }
    for parent in list(module.modules()):
        for name, child in list(parent._modules.items()):
            if id(child) in replaced:
                setattr(parent, name, replaced[id(child)])
    return Conversion(made.name, tuple(layers), tuple(n for n in layers if n in high), made.high_format, left)


def _linears(module: Any) -> Iterator[tuple[str, Linear]]:
    instance("module", module, torch.nn.Module, "narrowgauge.torch.convert makes its layers narrow")
    found = [(name, each) for name, each in module.named_modules() if isinstance(each, Linear)]
    if not found:
        raise Error(
            f"module {type(module).__name__} has no layer of narrowgauge.torch; expected convert(module, recipe) before"
        )
    return iter(found)


def step(module: Any, number: int | None = None) -> int:
    """Begins a step of training in all layers of narrowgauge.torch that a module has: before each forward that is differentiated.

    number: 1 to 2^24 - 1; None is the one after the layers' last. Random words are those of (seed, number, layer, operand), so a
    number that is used again draws the same. Returns the number. Raises Error where layers stand at different steps.
    """
    layers = [each for _, each in _linears(module)]
    if number is None:
        at = sorted({each.layer.step for each in layers})
        if len(at) > 1:
            raise Error(f"layers stand at steps {at[0]} and {at[-1]}; expected one for all; give the number")
        number = at[0] + 1
    for each in layers:
        each.step(number)
    return number


def quantized(module: Any) -> dict[str, QuantizedMatrix]:
    """The weights of a module's layers as their forward products take them, by name: outputs x inputs, along the inputs.

    A stochastic rounding takes the words of the layer's step, delayed scales stay what they are. Layers whose forward product is
    float32 or bfloat16 are not in it. Raises Error where the module has no layer of narrowgauge.torch.
    """
    found: dict[str, QuantizedMatrix] = {}
    for name, each in _linears(module):
        made = each.layer.quantized_weight(array_of(f"{name}.weight", each.weight).T)
        if made is not None:
            found[name] = made.mT
    return found


def save_quantized(
    path: str | os.PathLike[str], module: Any, *, layout: str = "modelopt"
) -> dict[str, QuantizedMatrix]:
    """Writes a module as a checkpoint of quantized layers (docs/checkpoints.md) and returns what `quantized` gives.

    layout: a name of checkpoint.layouts(). All other parameters and buffers are written as they are, bfloat16 as float32.
    Raises Error as checkpoint.write does, and for a recipe that rotates its forward weights, which no layout says.
    """
    weights = quantized(module)
    for name, each in _linears(module):
        dialect = each.recipe.forward.right.dialect
        front = dialect_fields(dialect)["front"] if dialect and name in weights else "none"
        if front != "none":
            raise Error(
                f"layer '{name}' has weights under the front stage '{front}', which no layout says; expected none"
            )
    tensors: dict[str, Any] = dict(weights)
    for key, value in module.state_dict().items():
        layer, _, part = key.rpartition(".")
        if part != "_extra_state" and not (part == "weight" and layer in weights):
            tensors[key] = value
    checkpoint.write(path, tensors, layout=layout)
    return weights
