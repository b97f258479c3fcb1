# SPDX-License-Identifier: Apache-2.0
"""Bits of each layer under a budget, by an integer program (AdaQuant, arXiv 2006.10518), solved by HiGHS."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from .._arguments import number, text
from .._core import Error
from .._energy import Gauge, energy

SCALE = 1e6  # of the largest loss and the largest cost in the program
TINY = 1e-300


@dataclass(frozen=True)
class Layer:
    """A layer and what may be chosen for it.

    losses: bits to what they add to the network's loss. costs: bits to what they cost, of the budget's unit.
    """

    name: str
    losses: Mapping[int, float]
    costs: Mapping[int, float]


@dataclass(frozen=True)
class Choice:
    """bits: of each layer, by name. loss, cost: their sums. bound: no choice within the budget loses less than this."""

    bits: dict[str, int]
    loss: float
    cost: float
    bound: float


def _finite(name: str, value: float) -> float:
    found = number(name, value)
    if not math.isfinite(found):
        raise Error(f"{name} is {found}; expected a finite number")
    return found


def choose_bits(layers: Sequence[Layer], budget: float) -> Choice:
    """The bits of each layer with the least sum of losses, whose sum of costs is within `budget`.

    Raises Error for a layer without choices, for losses and costs of other bits or that are not finite, and for a budget below the
    cheapest choice.
    """
    budget = _finite("budget", budget)
    if not layers:
        raise Error("there is no layer; expected one or more")
    losses: list[float] = []
    costs: list[float] = []
    places: list[tuple[int, int]] = []  # layer and bits of each variable
    for i, layer in enumerate(layers):
        if not layer.losses or layer.losses.keys() != layer.costs.keys():
            raise Error(
                f"layer '{layer.name}' has losses of {sorted(layer.losses)} bits and costs of {sorted(layer.costs)}; "
                "expected both of the same bits, one or more"
            )
        for bits in sorted(layer.losses):
            losses.append(_finite(f"loss of layer '{layer.name}' at {bits} bits", layer.losses[bits]))
            costs.append(_finite(f"cost of layer '{layer.name}' at {bits} bits", layer.costs[bits]))
            places.append((i, bits))
    cheapest = sum(min(layer.costs.values()) for layer in layers)
    if cheapest > budget:
        raise Error(
            f"the budget is {budget:g}; expected at least {cheapest:g}, the cost of the cheapest choice of every layer"
        )
    one_each = np.zeros((len(layers), len(places)))
    for column, (i, _) in enumerate(places):
        one_each[i, column] = 1
    # HiGHS is content with what is missed by less than 1e-6
    loss_scale, cost_scale = (SCALE / max(max(map(abs, some)), TINY) for some in (losses, costs))
    within = LinearConstraint(np.asarray([costs]) * cost_scale, -np.inf, budget * cost_scale)
    solution = milp(
        np.asarray(losses) * loss_scale,
        constraints=[LinearConstraint(one_each, 1, 1), within],
        integrality=np.ones(len(places)),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0.0},
    )
    if solution.x is None:
        raise Error(f"HiGHS found no choice within the budget of {budget:g}: {solution.message}")
    taken = [place for place, x in zip(range(len(places)), solution.x, strict=True) if x > 0.5]
    return Choice(
        {layers[places[place][0]].name: places[place][1] for place in taken},
        sum(losses[place] for place in taken),
        sum(costs[place] for place in taken),
        float(solution.mip_dual_bound) / loss_scale,
    )


def energy_costs(
    products: float, bits: Sequence[int], *, technology: str = "osu018", lanes: int = 16, gauge: Gauge | None = None
) -> dict[int, float]:
    """Joules of a layer's multiply-accumulates with integers of so many bits, as the energy gauge has them.

    products: multiply-accumulates of the layer. bits: 2 to 16, of both operands. lanes: that share an accumulator.
    Memory and wires are not in it.
    """
    products = number("products", products)
    technology = text("technology", technology)
    return {
        width: products * energy(format=f"int{width}", lanes=lanes, technology=technology, gauge=gauge).each
        for width in bits
    }
