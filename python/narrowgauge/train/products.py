# SPDX-License-Identifier: Apache-2.0
"""The three products of a linear layer, by a recipe, on an engine. Each rule is that of `quantize`, `prune` and the engine; here is
only which is called with what, and with which random words."""

from __future__ import annotations

import copy
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import luq
from .._arguments import integer, shown
from .._core import Error
from .._engine import Engine
from .._formats import decode, encode, formats
from .._quantized import QuantizedMatrix, gemm, quantize
from .._scaling import DelayedScaling
from .._sparse import prune, sparsity_mask
from . import integers
from .integers import Integers
from .recipe import AFFINE_FORMATS, HIGH_FORMATS, MAX_STEP, PRODUCTS, Operand, Product, Recipe
from .tape import Array

#: What random words are for; the place in the list is a part of their seed.
USES = (
    "data",
    "parameters",
    "optimizer",
    "forward.activation",
    "forward.weight",
    "input_gradient.gradient",
    "input_gradient.weight",
    "weight_gradient.activation",
    "weight_gradient.gradient",
    "weight_gradient.prune",
    "link.gradients",
    "link.parameters",
    "norm.gradient",
)
MAX_RUN, MAX_LAYER = 2**16 - 1, 2**12 - 1
#: Layers of a network; those of worker w have numbers from w times this on.
LAYERS = 2**8
WORKERS = (MAX_LAYER + 1) // LAYERS
#: The lowest bit of a seed that the step has; it has those up to the run's.
STEP_BIT = 24


def seed_of(run: int, step: int, layer: int, use: str, sample: int = 0) -> int:
    """The seed of a Philox stream: run in bits 63 to 48, step in 47 to 24, layer in 23 to 12, use in 11 to 4, sample in 3 to 0, so that
    no two operands of all runs have the same. Which of its words an element takes is the rule of `quantize` and `prune`."""
    integer("run", run, 0, MAX_RUN)
    integer("step", step, 0, MAX_STEP)
    integer("layer", layer, 0, MAX_LAYER)
    integer("sample", sample, 0, 15)
    return run << 48 | step << STEP_BIT | layer << 12 | USES.index(use) << 4 | sample


@dataclass
class Costs:
    """What steps took: multiply-accumulates by format of the operands, seconds of wall time by part."""

    products: Counter[str] = field(default_factory=Counter)
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextmanager
    def rest(self, part: str) -> Iterator[None]:
        """Adds to `part` the seconds of its block that went into no other part meanwhile, so that parts add up to the block."""
        start, before = time.perf_counter(), sum(self.seconds.values())
        yield
        self.seconds[part] += time.perf_counter() - start - (sum(self.seconds.values()) - before)


def _padded(matrix: Array, rows: int, columns: int) -> Array:
    """Zeros added up to multiples."""
    return np.pad(matrix, ((0, -matrix.shape[0] % rows), (0, -matrix.shape[1] % columns)))


class Layer:
    """A linear layer y = x W in the arithmetic of a recipe, with what it remembers: scales of earlier steps and a mask of its weight.

    high: whether all of its products are in the recipe's high format. index: the layer's part of the seed. run: that of the run.
    """

    def __init__(self, name: str, index: int, recipe: Recipe, high: bool, run: int, costs: Costs) -> None:
        self.name = name
        self.high = high
        self.step = 0
        self.scalings: dict[str, DelayedScaling] = {}
        self.mask: NDArray[np.bool_] | None = None
        self.index, self.recipe, self.run = index, recipe, run
        self.costs = costs
        self.engine: Engine | None = None
        self._high = Product(Operand(recipe.high_format), Operand(recipe.high_format))

    def begin(self, step: int, engine: Engine | None) -> None:
        """Before the products of a step. engine: None is the golden model."""
        self.step, self.engine = step, engine

    def as_it_stands(self) -> Layer:
        """A twin that keeps this step, engine and mask while the layer goes on; maxima for later scales are the layer's own."""
        return copy.copy(self)

    def apart(self) -> Layer:
        """A twin whose products change nothing of this layer, its costs included, as an evaluation needs it."""
        twin = copy.copy(self)
        twin.scalings, twin.costs = copy.deepcopy(self.scalings), Costs()
        return twin

    def quantized_weight(self, weight: Array) -> QuantizedMatrix | None:
        """The weight, inputs x outputs, as the forward product takes it, along the contraction; None where that is not narrow. It
        changes nothing of the layer."""
        how = self.operands("forward").right
        if how.format in HIGH_FORMATS:
            return None
        made = self.apart()._quantized(how, self._masked(weight), -2, "forward.weight", 0)
        if isinstance(made, Integers):
            raise Error(
                f"the weight of layer {shown(self.name)} is in {how.format} with a zero point, which no QuantizedMatrix has; expected "
                "a recipe whose forward.weight has another format"
            )
        return made

    def renew_mask(self, weight: Array) -> None:
        """Before a step of training: the mask of the weight, made at the first step and every `mask_steps` steps."""
        pattern = self.recipe.sparse_weights
        if pattern == "none" or self.high or (self.mask is not None and self.step % self.recipe.mask_steps):
            return
        block = int(pattern[2])
        blocks = _padded(weight.T, block, block)  # outputs x inputs: along the contraction of the forward product
        self.mask = sparsity_mask(blocks, pattern)[: weight.shape[1], : weight.shape[0]].T

    def forward(self, activation: Array, weight: Array) -> Array:
        return self._product("forward", activation, self._masked(weight))

    def input_gradient(self, gradient: Array, weight: Array) -> Array:
        return self._product("input_gradient", gradient, self._masked(weight).T)

    def weight_gradient(self, activation: Array, gradient: Array) -> Array:
        how = self.operands("weight_gradient").right
        if how.prune != "none":
            start = time.perf_counter()
            seed = self.seed("weight_gradient.prune", self.step)
            pruned = prune(_padded(gradient.T, 1, 4), "2:4", method=how.prune, seed=seed)
            gradient = pruned[:, : gradient.shape[0]].T
            self.costs.seconds["prune"] += time.perf_counter() - start
        return self._product("weight_gradient", activation.T, gradient)

    def _masked(self, weight: Array) -> Array:
        return weight if self.mask is None else np.where(self.mask, weight, np.float32(0))

    def operands(self, name: str) -> Product:
        """Those of a product in this layer."""
        return self._high if self.high else self.recipe.product(name)

    def _product(self, name: str, left: Array, right: Array) -> Array:
        how = self.operands(name)
        uses = [f"{name}.{operand}" for operand in PRODUCTS[name]]
        self.costs.products[_priced(how)] += (
            left.shape[0] * left.shape[1] * right.shape[1] * max(how.left.samples, how.right.samples)
        )
        if how.left.format in HIGH_FORMATS:  # then both are
            start = time.perf_counter()
            a = _high(how.left, left, turned=name == "weight_gradient")
            b = _high(how.right, right, turned=name == "input_gradient")
            result = a @ b
            self.costs.seconds["multiply"] += time.perf_counter() - start
            return result
        if how.left.format == "luq" and how.right.format == "luq" and name == "input_gradient":
            # FP4 is the right operand of LUQ's products: dx = (W dy^T)^T.
            mirrored = Product(how.right, how.left)
            return self._narrow(mirrored, right.T, left.T, uses[::-1]).T
        return self._narrow(how, left, right, uses)

    def _narrow(self, how: Product, left: Array, right: Array, uses: list[str]) -> Array:
        samples = max(how.left.samples, how.right.samples)
        total = np.zeros((left.shape[0], right.shape[1]))
        for sample in range(samples):
            start = time.perf_counter()
            quantized = [
                self._quantized(operand, matrix, axis, use, sample)
                for operand, matrix, axis, use in zip((how.left, how.right), (left, right), (-1, -2), uses, strict=True)
            ]
            middle = time.perf_counter()
            result = _multiplied(quantized[0], quantized[1], self.engine)
            end = time.perf_counter()
            self.costs.seconds["quantize"] += middle - start
            self.costs.seconds["multiply"] += end - middle
            if samples == 1:
                return result
            total += result
        return (total / samples).astype(np.float32)

    def _quantized(self, how: Operand, matrix: Array, axis: int, use: str, sample: int) -> QuantizedMatrix | Integers:
        if how.format in AFFINE_FORMATS:
            return self._affine(how, matrix, axis, self.seed(use, self.step, sample))
        if how.format == "int4":
            integers = luq.int4(matrix)
            # Integers of -8 to 7 are numbers of E4M3, so that every engine multiplies them, with exact sums.
            codes = encode(integers.values if axis == -1 else integers.values.T, "e4m3")
            made = QuantizedMatrix("fp8", "e4m3", codes, tensor_scale=integers.scale)
            return made if axis == -1 else made.mT
        return quantize(
            matrix,
            axis=axis,
            seed=self.seed(use, self.step, sample),
            tensor_scale=self._delayed(matrix, use) if how.scale == "delayed" else None,
            **quantizer(how),
        )

    @staticmethod
    def _affine(how: Operand, matrix: Array, axis: int, seed: int) -> Integers:
        """Words of stochastic rounding are counted along the contraction, as `quantize` counts them."""
        vectors = np.ascontiguousarray(matrix if axis == -1 else matrix.T)
        added = integers.noise(vectors.shape, seed, how.random_bits) if how.rounding == "stochastic" else None
        made = (integers.int8 if how.format == "int8" else integers.int16)(vectors, added)
        return made if axis == -1 else Integers(made.values.T, made.scale)

    def seed(self, use: str, step: int, sample: int = 0) -> int:
        """Of an operand in a step, as 'forward.weight'."""
        return seed_of(self.run, step, self.index, use, sample)

    def scaling_of(self, use: str) -> DelayedScaling:
        """That of an operand, as 'forward.weight'; made where there is none yet."""
        if use not in self.scalings:
            how = self._operand_of(use)
            element = how.format.removeprefix("fp8_")
            self.scalings[use] = DelayedScaling(element, history=how.history, power_of_two=True)
        return self.scalings[use]

    def recall(self, use: str, maxima: Sequence[float], scale: float | None) -> None:
        """Makes an operand's scaling anew, from the maxima that it remembered, the oldest first, and its scale; None: the maxima's.
        A maximum of 0 leaves the scale as it was, so that the scale may be of an older one."""
        self.scalings.pop(use, None)
        scaling = self.scaling_of(use)
        if scale is not None and len(maxima) >= self._operand_of(use).history:
            scaling.record(formats()[scaling.format].max / scale)  # forgotten again when the last of the maxima is in
        for amax in maxima:
            scaling.record(amax)

    def _operand_of(self, use: str) -> Operand:
        name, _, operand = use.partition(".")
        product = self.recipe.product(name)
        return (product.left, product.right)[PRODUCTS[name].index(operand)]

    def _delayed(self, matrix: Array, use: str) -> float:
        """The tensor scale that earlier maxima gave; the first tensor's is its own."""
        scaling = self.scaling_of(use)
        largest = float(np.abs(matrix).max())
        if not scaling.history:
            scaling.record(largest)
        scale = 1 / scaling.scale
        scaling.record(largest)
        return scale


def _multiplied(left: QuantizedMatrix | Integers, right: QuantizedMatrix | Integers, engine: Engine | None) -> Array:
    if isinstance(left, Integers):
        assert isinstance(right, Integers)  # load() refuses other recipes
        return integers.product(left, right, engine)
    assert isinstance(right, QuantizedMatrix)
    return gemm(left, right) if engine is None else engine.gemm(left, right).c


def quantizer(how: Operand) -> dict[str, Any]:
    """What `quantize` is told of an operand, besides axis, seed and a delayed scale."""
    return {
        "format": how.format,
        "rounding": how.rounding or None,
        "random_bits": how.random_bits if how.rounding == "stochastic" else None,
        "dialect": how.dialect or None,
    }


def _priced(how: Product) -> str:
    """By which format a product's multiply-accumulates are counted."""
    formats = (how.left.format, how.right.format)
    return formats[0] if formats[0] == formats[1] else " x ".join(formats)


def _high(how: Operand, matrix: Array, turned: bool) -> Array:
    """In one layout, whatever the caller's is, since the order of a BLAS' sums depends on it: turned, or by rows."""
    if how.format == "bfloat16":
        return decode(encode(np.ascontiguousarray(matrix), "bf16"), "bf16")
    return np.ascontiguousarray(matrix.T).T if turned else np.ascontiguousarray(matrix)
