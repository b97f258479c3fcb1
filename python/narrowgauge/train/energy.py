# SPDX-License-Identifier: Apache-2.0
"""Energy of a training step by a recipe (docs/explore.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from os import PathLike
from typing import Any

from .._arguments import shown
from .._core import Error, Explorer
from .._energy import Gauge, checked_gauge
from .._explore import checked_settings, space_text, workload_text
from .recipe import PRODUCTS, Operand, Product, Recipe, load
from .trainer import high_layers

#: How the explorer calls what a recipe calls otherwise.
EXPLORED = {"float32": "fp32", "bfloat16": "bf16"}
#: What a recipe's products are held against: the same step with its narrow products in these.
REFERENCES = ("fp32", "bf16", "int8")
#: The recorded unit that makes an operand of BF16 numbers, by format and whether it rounds stochastically.
QUANTIZERS = {
    ("nvfp4", False): "nvfp4_quantizer_pipelined",
    ("nvfp4", True): "nvfp4_sr_quantizer_pipelined",
    ("mxfp4", False): "mxfp4_quantizer_pipelined",
    ("fp8_e4m3", False): "e4m3_quantizer_pipelined",
    ("fp8_e4m3", True): "e4m3_sr_quantizer_pipelined",
    ("int4", False): "int4_quantizer",
    ("luq", True): "luq_quantizer",
    ("bfloat16", False): "fp32_to_bf16",
}
#: Units of dialects, by a part of their names: in place of the format's own, and in front of it.
INSTEAD = {"fouroversix": "nvfp4_4over6_quantizer_pipelined", "4over6": "nvfp4_4over6_quantizer_pipelined"}
INSTEAD |= {"quartet2": "nvfp4_eden_quantizer"}
IN_FRONT = {"front=rht16": "rht16_pipelined"}
PRUNERS = {"mvue": "mvue_2_4_8", "greedy": "prune_2_4_bf16"}
#: Numbers that Adam reads and writes besides its moments: the weight and its gradient; the weight.
READ, WRITTEN, FLOAT_BITS = 2, 1, 32
MOMENTS = 2


@dataclass(frozen=True)
class StepPart:
    """A part of a step.

    what: 'products', 'quantizers', 'optimizer' or 'optimizer memory'. name: the product, as 'forward', or 'attention'; or the unit.
    operations: multiply-accumulates; numbers; bits. joule: None where it is not known, and `source` says why. mac_joule, sram_joule,
    dram_joule, idle_joule: of products, what of it is whose. rung and error: of the multiply-accumulates' or the unit's price, the
    error a mean, relative; None where nobody has measured it.
    """

    what: str
    name: str
    format: str
    operations: float
    joule: float | None
    source: str
    rung: str | None = None
    error: float | None = None
    mac_joule: float = 0.0
    sram_joule: float = 0.0
    dram_joule: float = 0.0
    idle_joule: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True)
class StepEnergy:
    """What a step takes. parts: of the step by the recipe. references: joules of the step whose narrow products are in another format,
    all else alike. missing: what has no price. notes, assumed: sentences."""

    workload: str
    recipe: str
    technology: str
    array: str
    parts: tuple[StepPart, ...]
    references: Mapping[str, float]
    notes: tuple[str, ...]
    assumed: tuple[str, ...]

    @property
    def joule(self) -> float:
        """Of all parts with a price."""
        return sum(part.joule or 0.0 for part in self.parts)

    @property
    def error_joule(self) -> float:
        """The stated errors of the parts that have one, added up."""
        return sum((part.error or 0.0) * (part.mac_joule or part.joule or 0.0) for part in self.parts)

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(f"{part.name}: {part.source}" for part in self.parts if part.joule is None)

    def document(self) -> dict[str, Any]:
        """What `narrowgauge explore --training-step --json` prints."""
        head = {"command": "explore --training-step"}
        sums = {"joule": self.joule, "error_joule": self.error_joule, "missing": list(self.missing)}
        return head | asdict(self) | sums


@dataclass(frozen=True)
class _Gemm:
    """A product of a step: sizes, how often, the format that it is explored in, the pattern of its right operand, whether that is
    weights, and whether the operands have changed sides."""

    part: str
    m: int
    n: int
    k: int
    count: int
    format: str
    sparsity: str = "none"
    weights: bool = False
    mirrored: bool = False

    @property
    def macs(self) -> float:
        return float(self.m) * self.n * self.k * self.count

    def layer(self) -> dict[str, Any]:
        sizes = {"m": self.m, "n": self.n, "k": self.k, "count": self.count}
        return {"op": "gemm", "name": self.part, "weights": self.weights or self.sparsity != "none", **sizes}

    def numbers(self) -> tuple[float, float]:
        """Of the left operand and the right one, as the recipe names them."""
        sides = float(self.m) * self.k * self.count, float(self.k) * self.n * self.count
        return sides[::-1] if self.mirrored else sides


def _explored(how: Product) -> str:
    """The format of an array that multiplies these operands; INT4 beside FP4 [1,3,0] is the tile's LUQ, INT16 two halves of INT8."""
    sides = {
        "int8" if side.format == "int16" else EXPLORED.get(side.format, side.format) for side in (how.left, how.right)
    }
    if sides == {"int4", "luq"}:
        return "luq"
    if len(sides) != 1:
        raise Error(f"the explorer has no array of {' and '.join(sorted(sides))}; expected both operands in one format")
    return sides.pop()


def _of_layer(layer: Mapping[str, Any], recipe: Recipe, high: bool) -> Iterator[tuple[_Gemm, Product]]:
    """The three products of a layer y = x W, and how their operands are made."""
    m, n, k, count = (int(layer[size]) for size in ("m", "n", "k", "count"))
    # Rows, columns and contraction of each; the weight is k x n.
    sizes = {"forward": (m, n, k), "input_gradient": (m, k, n), "weight_gradient": (k, n, m)}
    top = Operand(recipe.high_format)
    for name in PRODUCTS:
        how = Product(top, top) if high else recipe.product(name)
        sparse = "none"
        if not high and recipe.sparse_weights != "none" and name != "weight_gradient":
            sparse = "2:4" if name == "forward" or recipe.sparse_weights.endswith("-T") else "none"
        if how.right.prune != "none":
            sparse = "2:4"
        if recipe.sparse_weights.startswith("4:8") and sparse != "none":
            raise Error("the recipe's weights are 4:8, for which the explorer has no array; expected 2:4 or none")
        rows, columns, contraction = sizes[name]
        # FP4 is the right operand of LUQ's products: dx = (W dy^T)^T.
        mirrored = name == "input_gradient" and how.left.format == how.right.format == "luq"
        if mirrored:
            rows, columns = columns, rows
        weights = name != "weight_gradient" and not mirrored
        times = count * max(how.left.samples, how.right.samples)
        for side in (how.left, how.right):
            times *= 2 if side.format == "int16" else 1
        yield _Gemm(name, rows, columns, contraction, times, _explored(how), sparse, weights, mirrored), how


def _attention(layer: Mapping[str, Any], format: str) -> list[_Gemm]:
    """A product of two activations and its two gradients."""
    m, n, k, count = (int(layer[size]) for size in ("m", "n", "k", "count"))
    return [_Gemm("attention", *sizes, count, format) for sizes in ((m, n, k), (m, k, n), (k, n, m))]


class _Prices:
    """The explorer of one point of a space, made again for each format."""

    def __init__(self, space: dict[str, Any], gauge: Gauge | None) -> None:
        self._space, self._gauge = space, gauge
        self.assumed: dict[str, None] = {}
        self.explorer: Explorer | None = None

    def point(self, gemms: list[_Gemm]) -> dict[str, Any]:
        first = gemms[0]
        # The weights' gradient goes to the optimizer, which takes FP32.
        own = {"result": "fp32"} if first.part == "weight_gradient" else {}
        space = {**self._space, "objectives": ["energy"], "format": first.format, "sparsity": first.sparsity, **own}
        work = {"name": first.part, "layers": [gemm.layer() for gemm in gemms]}
        self.explorer = explorer = Explorer(json.dumps(work), json.dumps(space), gauge=self._gauge)
        if explorer.points != 1:
            axes = {name: axis for name, axis in json.loads(explorer.space).items() if name != "objectives"}
            name, axis = next((name, axis) for name, axis in axes.items() if isinstance(axis, list) and len(axis) > 1)
            raise Error(
                f'the space\'s "{name}" has {len(axis)} values; expected one of each axis for a training step (format and '
                "sparsity are the recipe's)"
            )
        point: dict[str, Any] = json.loads(explorer.describe(0))
        if not point["possible"]:
            raise Error(
                f"the space's array is impossible in {first.format}; expected lanes of whole blocks (nvfp4 16, mxfp4 32) and "
                "a frequency that its cell reaches"
            )
        self.assumed |= dict.fromkeys(point["assumed"])
        return point

    def source(self, ends: str) -> dict[str, Any]:
        """Of the last exploration."""
        assert self.explorer is not None
        found: dict[str, Any] = next(s for s in json.loads(self.explorer.sources) if s["of"].endswith(ends))
        return found

    def products(self, gemms: list[_Gemm]) -> StepPart:
        point = self.point(gemms)
        first = gemms[0]
        return StepPart(
            "products",
            first.part,
            first.format + ("" if first.sparsity == "none" else f" {first.sparsity}"),
            sum(gemm.macs for gemm in gemms),
            point["energy_j"],
            self.source(f"a multiply-accumulate of {point['lanes']} lanes")["source"],
            point["mac_rung"],
            point["mac_error"],
            point["mac_j"],
            point["sram_j"],
            point["dram_j"],
            point["idle_j"],
            point["time_s"],
        )

    def unit(self, what: str, unit: str | None, format: str, operations: float, why: str = "") -> StepPart:
        """Of a recorded unit; the explorer of any format knows all of them."""
        assert self.explorer is not None
        technology = json.loads(self.explorer.space)["technology"][0]
        price = json.loads(self.explorer.unit(unit, technology)) if unit else None
        if price is None:
            why = why or f"{technology} has no price of the unit {unit}"
            return StepPart(what, unit or format, format, operations, None, why)
        joule = operations * price["energy_j"]
        return StepPart(what, str(unit), format, operations, joule, price["source"], price["rung"], price["error_mean"])


def _units(operand: str, how: Operand) -> list[str | None]:
    """The units that make an operand, the first in front; None: no unit is recorded that does."""
    if how.format == "float32":
        return []
    front = [unit for word, unit in IN_FRONT.items() if word in how.dialect]
    own = next((unit for word, unit in INSTEAD.items() if word in how.dialect), None)
    if own is None:
        # The left operand of LUQ is INT4; the gradient alone is in FP4 [1,3,0].
        format = "int4" if how.format == "luq" and operand != "gradient" else how.format
        own = QUANTIZERS.get((format, how.rounding == "stochastic"))
    pruner = [PRUNERS[how.prune]] if how.prune != "none" else []
    return [*front, *pruner, own]


def _grouped(gemms: list[_Gemm]) -> list[list[_Gemm]]:
    groups: dict[tuple[str, str, str], list[_Gemm]] = {}
    for gemm in gemms:
        groups.setdefault((gemm.part, gemm.format, gemm.sparsity), []).append(gemm)
    return list(groups.values())


def step_energy(
    recipe: str | PathLike[str] | Recipe,
    workload: str | PathLike[str] | Mapping[str, Any],
    space: str | PathLike[str] | Mapping[str, Any],
    *,
    set: Mapping[str, int] | None = None,
    gauge: Gauge | None = None,
) -> StepEnergy:
    """Energy of one training step of a workload by a recipe: its products, quantizers and optimizer, each with rung and error.

    recipe: as for `load`, or a Recipe. workload, set: as for `explore`. space: as for `explore`, with one value of each axis; format and
    sparsity are the recipe's. Each format of the recipe has an array of that shape. What is counted: docs/explore.md.

    Raises Error for what is not understood, for a format that the explorer does not have, and for a space of several points.
    """
    if isinstance(recipe, Recipe):
        how = recipe
    elif isinstance(recipe, str | PathLike):
        how = load(recipe if isinstance(recipe, str) else str(recipe))
    else:
        raise Error(f"recipe is {shown(recipe)}; expected a name, a path or a narrowgauge.train.Recipe")
    settings = checked_settings(set)
    tree = json.loads(space_text(space))
    if not isinstance(tree, dict):
        raise Error(f"the space is {shown(tree)}; expected keys and values as in docs/explore.md")
    prices = _Prices(tree, checked_gauge(gauge))
    asked = {**tree, "objectives": ["energy"], "format": "int8", "sparsity": "none"}
    explorer = Explorer(workload_text(workload), json.dumps(asked), set=settings, gauge=checked_gauge(gauge))
    layers = json.loads(explorer.layers)
    linear = [layer for layer in layers if layer["weights"]]
    if not linear:
        raise Error("the workload has no product with weights; expected one or more to train")
    high = high_layers(how.high, list(dict.fromkeys(layer["name"] for layer in linear)))

    def gemms_of(made: Recipe) -> list[tuple[_Gemm, Product]]:
        return [pair for layer in linear for pair in _of_layer(layer, made, layer["name"] in high)]

    apart = gemms_of(how)
    rest = [gemm for layer in layers if not layer["weights"] for gemm in _attention(layer, EXPLORED[how.high_format])]
    parts = [prices.products(group) for group in _grouped([gemm for gemm, _ in apart])]
    attention = [prices.products(group) for group in _grouped(rest)]
    parts += attention
    parts += _quantized(prices, apart)
    parts += _optimizer(prices, how, sum(float(layer["n"]) * layer["k"] * layer["count"] for layer in linear))
    others = sum(part.joule or 0.0 for part in parts if part.what.startswith("optimizer")) + sum(
        part.joule or 0.0 for part in attention
    )
    references = {}
    for format in REFERENCES:
        both = Product(Operand(format), Operand(format))
        plain = replace(how, forward=both, input_gradient=both, weight_gradient=both, sparse_weights="none")
        alike = [gemm for gemm, _ in gemms_of(plain)]
        references[format] = others + sum(prices.point(group)["energy_j"] for group in _grouped(alike))
    notes = [
        "references: all products but those of high layers and attention are in that format, dense and without samples; the rest is "
        "the recipe's, and nothing is quantized",
        f"attention: in {how.high_format}, as the recipe's high layers are",
    ]
    if high:
        notes.append(f"layers.high: {', '.join(sorted(high))} of this workload in {how.high_format}")
    point = prices.point([rest[0]] if rest else [apart[0][0]])
    return StepEnergy(
        explorer.workload,
        how.name,
        point["technology"],
        f"{point['rows']} x {point['cols']} x {point['lanes']}",
        tuple(parts),
        references,
        tuple(notes),
        tuple(prices.assumed),
    )


def _quantized(prices: _Prices, apart: list[tuple[_Gemm, Product]]) -> list[StepPart]:
    """Each operand is quantized for each product, along its contraction, and once more a sample."""
    numbers: dict[tuple[str | None, str], float] = {}
    for gemm, how in apart:
        for operand, made, size in zip(PRODUCTS[gemm.part], (how.left, how.right), gemm.numbers(), strict=True):
            for unit in _units(operand, made):
                key = (unit, made.format if unit else f"{made.format} {made.rounding}".strip())
                numbers[key] = numbers.get(key, 0.0) + size
    return [
        prices.unit("quantizers", unit, format, count, f"no unit that makes {format} is recorded")
        if unit is None
        else prices.unit("quantizers", unit, format, count)
        for (unit, format), count in numbers.items()
    ]


def _optimizer(prices: _Prices, recipe: Recipe, parameters: float) -> list[StepPart]:
    """Adam: its unit where moments are in FP8, and weights, gradients and moments from and to memory."""
    fp8 = recipe.optimizer.moments == "fp8"
    unit = "fp8_adam_step" if fp8 else None
    arithmetic = prices.unit(
        "optimizer", unit, "Adam", parameters, "" if fp8 else "no unit of Adam with moments in float32 is recorded"
    )
    moments = MOMENTS * (8 if fp8 else FLOAT_BITS)
    read, write = prices.source(", a bit read"), prices.source(", a bit written")
    bits = (READ * FLOAT_BITS + moments) * parameters, (WRITTEN * FLOAT_BITS + moments) * parameters
    joule = bits[0] * read["energy_j"] + bits[1] * write["energy_j"]
    memory = StepPart(
        "optimizer memory",
        "weights, gradients, moments",
        recipe.optimizer.moments,
        sum(bits),
        joule,
        read["source"],
        read["rung"],
        read["error_mean"],
        dram_joule=joule,
    )
    return [arithmetic, memory]
