# SPDX-License-Identifier: Apache-2.0
"""A recipe says, operand by operand, in which arithmetic a network is trained. It is a file of TOML (docs/training.md)."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from .._arguments import integer, one_of, shown, text
from .._core import Error
from .._kurtosis import UNIFORM
from .._norm import batch_norm_rules
from .._quantized import gemm_formats

FOLDER = Path(__file__).parent / "recipes"
MAX_STEP = 2**24 - 1
#: The three products of a linear layer, and the operands of each, the left one first.
PRODUCTS = {
    "forward": ("activation", "weight"),
    "input_gradient": ("gradient", "weight"),
    "weight_gradient": ("activation", "gradient"),
}
HIGH_FORMATS = ("float32", "bfloat16")
#: Integers with affine scales, which multiply each other only; and LUQ's INT4.
AFFINE_FORMATS = ("int8", "int16")
INTEGER_FORMATS = ("int4", *AFFINE_FORMATS)
KINDS = ("own", "convolution")
#: Without the rule whose state is of the step before.
NORMS = tuple(rule for rule in batch_norm_rules() if rule != "ghost_top_k")
ROUNDINGS = ("", "nearest_even", "stochastic")
SCALES = ("measured", "delayed")
PATTERNS = ("none", "2:4", "2:4-T", "4:8-T")
PRUNINGS = ("none", "mvue", "greedy")


@dataclass(frozen=True)
class Operand:
    """How an operand is made of float32 numbers.

    format: 'float32', 'bfloat16', 'int4', 'int8', 'int16' or a name of gemm_formats(). dialect: as for `quantize`; '' is the format's
    own rule. rounding: 'nearest_even', 'stochastic', or '', what the dialect has, which without one is to nearest even. random_bits: of an
    element. scale: 'measured', or 'delayed', the power of two that the largest magnitudes of earlier steps gave (fp8). history:
    how many of them count. prune: 'mvue' or 'greedy' leave two of four elements along the contraction. samples: products with
    random words of their own, of which the mean is taken.
    """

    format: str = "float32"
    dialect: str = ""
    rounding: str = ""
    random_bits: int = 8
    scale: str = "measured"
    history: int = 16
    prune: str = "none"
    samples: int = 1


@dataclass(frozen=True)
class Product:
    """The operands of a product, the left one first."""

    left: Operand = Operand()
    right: Operand = Operand()


@dataclass(frozen=True)
class Optimizer:
    """Adam. moments: 'float32', or 'fp8', the rule of `adam_step`. rounding: of moments in FP8."""

    moments: str = "float32"
    rounding: str = "nearest_even"


@dataclass(frozen=True)
class Regularizer:
    """What is added to the loss: strength times the mean of (kurtosis - target)^2 over the weights of all layers but the first, as
    KURE (arXiv 2002.07686) and BD-BNN (arXiv 2204.02004) have it.

    strength: 0 or more; 0 is none. target: of the kurtosis, 1 of two values, 1.8 of a uniform distribution, 3 of a normal one.
    """

    strength: float = 0.0
    target: float = UNIFORM


@dataclass(frozen=True)
class Network:
    """What a recipe asks of a network. kind: 'own', which the data has, or 'convolution', of the digits.

    Of a transformer, blocks: 'plain', or 'normalized', nGPT's. gate: 'gelu' or 'swiglu'. smooth: whether the product of SwiGLU is
    divided by powers of two, channel by channel (Smooth-SwiGLU).
    Of a convolution, norm: a name of batch_norm_rules(), what its channels are normalized by. norm_format: 'float32', or 'int8', in
    which the normalization takes its inputs, and its backward pass gradients that are rounded stochastically.
    """

    blocks: str = "plain"
    gate: str = "gelu"
    smooth: bool = False
    kind: str = "own"
    norm: str = "range"
    norm_format: str = "float32"


@dataclass(frozen=True)
class Recipe:
    """What a network is trained in; `load` reads one. high: the layers whose products stay in `high_format`, by name, as 'first' and
    'last', or with a star. sparse_weights: a pattern; its mask is made anew every `mask_steps` steps."""

    name: str
    source: str = ""
    forward: Product = Product()
    input_gradient: Product = Product()
    weight_gradient: Product = Product()
    high: tuple[str, ...] = ()
    high_format: str = "float32"
    sparse_weights: str = "none"
    mask_steps: int = 40
    optimizer: Optimizer = field(default_factory=Optimizer)
    network: Network = field(default_factory=Network)
    regularizer: Regularizer = field(default_factory=Regularizer)

    def product(self, name: str) -> Product:
        """'forward', 'input_gradient' or 'weight_gradient'."""
        made: Product = getattr(self, name)
        return made


#: Fields that came after version 0.2, and what they were then.
LATER = {"kind": "own", "norm": "range", "norm_format": "float32", "regularizer": asdict(Regularizer())}


def content(*parts: Any) -> str:
    """Recipes and networks as text, for digests. Later fields are in it only where they say something, so that older checkpoints fit."""

    def said(table: Mapping[str, Any]) -> dict[str, Any]:
        return {
            key: said(value) if isinstance(value, Mapping) else value
            for key, value in table.items()
            if key not in LATER or value != LATER[key]
        }

    tables = [said(asdict(part)) for part in parts]
    return json.dumps(tables if len(tables) > 1 else tables[0])


def recipes() -> dict[str, str]:
    """Names of the recipes that come with the package, and where each is from."""
    return {name: load(name).source for name in _shipped()}


def _shipped() -> list[str]:
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def load(recipe: str | Path) -> Recipe:
    """Reads a recipe: one of recipes() by name, or a file.

    Raises Error for a file that is not there or is no TOML, and for keys and values that a recipe does not have.
    """
    named = FOLDER / f"{recipe}.toml"
    path = named if isinstance(recipe, str) and "/" not in recipe and named.is_file() else Path(recipe)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise Error(
            f"recipe {shown(str(recipe))} is no file, and none of that name is shipped; expected a file of TOML, or one of "
            f"{', '.join(_shipped())}"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise Error(f"cannot read the recipe {path}: {error}; expected a file of TOML") from None
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Error(f"the recipe {path} is no TOML: {error}; expected keys of a recipe") from None
    return of_table(table, path.stem)


def of_table(table: Mapping[str, Any], name: str) -> Recipe:
    """The recipe that a table of TOML describes. Raises Error as `load` does."""
    _known(
        table,
        ("name", "source", "operands", *PRODUCTS, "layers", "sparsity", "optimizer", "network", "regularizer"),
        "the recipe",
    )
    shared = _table(table, "operands")
    products = {}
    for product, operands in PRODUCTS.items():
        given = _table(table, product)
        _known(given, operands, product)
        sides = [
            _filled(Operand, {**shared, **_table(given, operand, product)}, f"{product}.{operand}")
            for operand in operands
        ]
        products[product] = Product(*sides)
    layers = _table(table, "layers")
    _known(layers, ("high", "format"), "layers")
    high = layers.get("high", [])
    if not isinstance(high, list) or not all(isinstance(layer, str) for layer in high):
        raise Error(f"layers.high is {shown(high)}; expected a list of names of layers")
    sparsity = _table(table, "sparsity")
    _known(sparsity, ("weights", "gradients", "mask_steps"), "sparsity")
    made = Recipe(
        name=text("name", table.get("name", name)),
        source=text("source", table.get("source", "")),
        forward=products["forward"],
        input_gradient=products["input_gradient"],
        weight_gradient=products["weight_gradient"],
        high=tuple(high),
        high_format=text("layers.format", layers.get("format", "float32")),
        mask_steps=integer("sparsity.mask_steps", sparsity.get("mask_steps", 40), 1, MAX_STEP),
        optimizer=_filled(Optimizer, _table(table, "optimizer"), "optimizer"),
        network=_filled(Network, _table(table, "network"), "network"),
        regularizer=_filled(Regularizer, _table(table, "regularizer"), "regularizer"),
    )
    weights, gradients = (text(f"sparsity.{key}", sparsity.get(key, "none")) for key in ("weights", "gradients"))
    return _checked(with_sparsity(made, weights, gradients))


def with_sparsity(recipe: Recipe, weights: str, gradients: str) -> Recipe:
    """The recipe with weights under a pattern ('' leaves them), and the weights' gradient pruned by a method ('none' leaves it)."""
    if weights:
        one_of("sparse weights", weights, PATTERNS)
        recipe = replace(recipe, sparse_weights=weights)
    if one_of("sparse gradients", gradients, PRUNINGS) != "none":
        product = recipe.weight_gradient
        recipe = replace(recipe, weight_gradient=replace(product, right=replace(product.right, prune=gradients)))
    return recipe


def _checked(recipe: Recipe) -> Recipe:
    formats = (*HIGH_FORMATS, *INTEGER_FORMATS, *gemm_formats())
    for product, names in PRODUCTS.items():
        for operand, made in zip(names, (recipe.product(product).left, recipe.product(product).right), strict=True):
            where = f"{product}.{operand}"
            one_of(f"{where}.format", made.format, formats)
            one_of(f"{where}.rounding", made.rounding, ROUNDINGS)
            one_of(f"{where}.scale", made.scale, SCALES)
            one_of(f"{where}.prune", made.prune, PRUNINGS)
            for key, value, most in (
                ("random_bits", made.random_bits, 24),
                ("samples", made.samples, 16),
                ("history", made.history, 4096),
            ):
                integer(f"{where}.{key}", value, 1, most)
            if made.scale == "delayed" and not made.format.startswith("fp8"):
                raise Error(
                    f"{where}.scale is 'delayed' in format {made.format}; expected one of FP8 for delayed scaling"
                )
            if made.dialect and made.format in AFFINE_FORMATS:
                raise Error(f"{where}.dialect is {shown(made.dialect)} in format {made.format}; expected none")
            if made.samples > 1 and made.rounding != "stochastic":
                raise Error(
                    f"{where}.samples is {made.samples} without rounding 'stochastic': all would be equal; expected 1"
                )
            if made.prune != "none" and where != "weight_gradient.gradient":
                raise Error(f"{where}.prune is '{made.prune}'; only weight_gradient.gradient is pruned")
        both = (recipe.product(product).left.format, recipe.product(product).right.format)
        for family, expected in (
            (HIGH_FORMATS, "both narrow, or both float32 or bfloat16"),
            (AFFINE_FORMATS, "both int8 or int16, or none of them"),
        ):
            if (both[0] in family) != (both[1] in family):
                raise Error(f"{product} has operands in {' and '.join(both)}; expected {expected}")
    one_of("layers.format", recipe.high_format, HIGH_FORMATS)
    one_of("optimizer.moments", recipe.optimizer.moments, ("float32", "fp8"))
    one_of("optimizer.rounding", recipe.optimizer.rounding, ROUNDINGS[1:])
    for key, given, least in (("strength", recipe.regularizer.strength, 0), ("target", recipe.regularizer.target, 1)):
        if not least <= given < math.inf:
            raise Error(f"regularizer.{key} is {given:g}; expected a finite number, {least} or more")
    one_of("network.blocks", recipe.network.blocks, ("plain", "normalized"))
    one_of("network.gate", recipe.network.gate, ("gelu", "swiglu"))
    one_of("network.kind", recipe.network.kind, KINDS)
    one_of("network.norm", recipe.network.norm, NORMS)
    one_of("network.norm_format", recipe.network.norm_format, ("float32", "int8"))
    if recipe.network.norm_format == "int8" and not recipe.network.norm.startswith("range"):
        raise Error(
            f"network.norm_format is 'int8' with norm '{recipe.network.norm}', which takes real numbers; expected norm = 'range'"
        )
    if recipe.network.smooth and recipe.network.gate != "swiglu":
        raise Error(
            "network.smooth is true with gate 'gelu': it smooths the product of SwiGLU; expected gate = 'swiglu'"
        )
    return recipe


def _known(table: Mapping[str, Any], keys: tuple[str, ...], where: str) -> None:
    for key in table:
        if key not in keys:
            raise Error(f"{where} has the key '{key}'; expected {', '.join(keys)}")


def _table(table: Mapping[str, Any], key: str, where: str = "the recipe") -> Mapping[str, Any]:
    inner = table.get(key, {})
    if not isinstance(inner, Mapping):
        raise Error(f"{key} of {where} is {shown(inner)}; expected a table")
    return inner


def _filled(kind: type[Any], table: Mapping[str, Any], where: str) -> Any:
    """A data class from a table, each key checked against the type of the field's default."""
    defaults = {each.name: each.default for each in fields(kind)}
    _known(table, tuple(defaults), where)
    made = {}
    for key, value in table.items():
        wanted = type(defaults[key])
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            word = {str: "text", int: "a whole number", bool: "true or false", float: "a number"}[wanted]
            raise Error(f"{where}.{key} is {shown(value)}; expected {word}")
        made[key] = wanted(value)
    return kind(**made)
