# SPDX-License-Identifier: Apache-2.0
"""Layers of a workload from what multiplies matrices in a framework's graph, of whatever framework."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Layer = dict[str, Any]


class WorkloadError(ValueError):
    """A model that cannot be turned into a workload: a sentence that says why."""

    def __init__(self, text: str) -> None:
        super().__init__(" ".join(text.split()))  # names of a file may have line breaks


def gemm(label: str, m: int, n: int, k: int, count: int = 1, *, constant: tuple[bool, bool]) -> Layer:
    """A product of m x k by k x n. A workload's weights are the right operand, so those on the left turn it over.

    constant: whether each operand depends on constants alone, as weights do.
    """
    if constant == (True, False):
        m, n = n, m
    layer = {"op": "gemm", "name": label, "m": m, "n": n, "k": k} | ({"count": count} if count != 1 else {})
    return layer | ({} if any(constant) else {"weights": False})


def product(
    label: str, where: str, a: Sequence[int], b: Sequence[int], constant: tuple[bool, bool]
) -> tuple[Layer, list[int]]:
    """The matrix product of two shapes as numpy's, in as few products as it takes; and the shape of the result."""
    one_row, one_column = len(a) == 1, len(b) == 1
    a, b = [1] * one_row + [*a], [*b] + [1] * one_column
    m, k, n = a[-2], a[-1], b[-1]
    outer = [[1] * (max(len(a), len(b)) - len(s)) + s[:-2] for s in (a, b)]
    if k != b[-2] or any(x != y and 1 not in (x, y) for x, y in zip(*outer, strict=True)):
        raise WorkloadError(f"{where}: {a} and {b} do not multiply; expected shapes of a matrix product")
    batch = [max(pair) for pair in zip(*outer, strict=True)]
    sizes = [*batch, *[m] * (not one_row), *[n] * (not one_column)]
    count = math.prod(batch)
    if math.prod(outer[1]) == 1:  # one B for all
        m, count = m * count, 1
    elif math.prod(outer[0]) == 1 and constant[0]:
        n, count = n * count, 1
    layer = gemm(label, m, n, k, count, constant=constant)
    if "count" in layer:
        layer["batch"] = layer.pop("count")
    return layer, sizes


def convolution(
    label: str, result: Sequence[int], kernel: Sequence[int], groups: int, constant: tuple[bool, bool]
) -> Layer:
    """A convolution by the shapes of its result (batch, channels, axes) and kernel (channels, those of a group, axes).

    As the products that it is: padding may differ from side to side, which a conv layer of a workload cannot say.
    """
    m, n, k = result[0] * math.prod(result[2:]), kernel[0] // groups, kernel[1] * math.prod(kernel[2:])
    return gemm(label, m, n, k, groups, constant=constant)


def attention(
    label: str,
    count: int,
    queries: tuple[int, int],
    keys: tuple[int, int],
    constant: tuple[tuple[bool, bool], tuple[bool, bool]] = ((False, False), (False, False)),
) -> list[Layer]:
    """Scores and values of each head: two products of activations.

    count: heads of queries in all batches. queries: their length, and features of a head. keys: their length, and features of
    a head's values. constant: of the operands of the scores, and of those of the values.
    """
    (length, size), (others, of_value) = queries, keys
    each = {"scores": (others, size), "values": (of_value, others)}
    return [
        gemm(f"{label}/{name}", length, n, k, constant=known) | {"batch": count}
        for (name, (n, k)), known in zip(each.items(), constant, strict=True)
    ]
