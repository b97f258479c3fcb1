# SPDX-License-Identifier: Apache-2.0
"""Reverse-mode differentiation of float32 arrays: a node for each operation, which knows its inputs and how a gradient goes back.

>>> x = Node(np.float32([[1, 2]]))
>>> loss = mean(multiply(x, x))
>>> backward(loss)
>>> x.gradient
array([[1., 2.]], dtype=float32)

Exponentials are taken in float64 and rounded to float32, so that results depend as little as possible on the vector unit for which numpy
chose its functions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Pullback = Callable[[Array], Sequence[Array | None]]
_order = itertools.count()


class Node:
    """An array, and where it came from. gradient: of the loss with respect to it, after `backward`; None where none came."""

    __slots__ = ("_inputs", "_order", "_pullback", "gradient", "value")

    def __init__(self, value: Any, inputs: Sequence[Node] = (), pullback: Pullback | None = None) -> None:
        self.value: Array = np.asarray(value, dtype=np.float32)
        self.gradient: Array | None = None
        self._inputs = inputs
        self._pullback = pullback
        self._order = next(_order)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape


def backward(loss: Node) -> None:
    """Puts the gradient of a loss, one number, into every node that it was made of."""
    nodes: dict[int, Node] = {}
    waiting = [loss]
    while waiting:
        node = waiting.pop()
        if node._order not in nodes:
            nodes[node._order] = node
            waiting.extend(node._inputs)
    for node in nodes.values():
        node.gradient = None
    loss.gradient = np.ones_like(loss.value)
    for order in sorted(nodes, reverse=True):  # inputs are made before what is made of them
        node = nodes[order]
        if node.gradient is None or node._pullback is None:
            continue
        for source, gradient in zip(node._inputs, node._pullback(node.gradient), strict=True):
            if gradient is not None:
                source.gradient = gradient if source.gradient is None else source.gradient + gradient


def _summed_to(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Undoes broadcasting."""
    if gradient.shape == shape:
        return gradient
    lead = gradient.ndim - len(shape)
    gradient = gradient.sum(axis=tuple(range(lead)), dtype=np.float32)
    stretched = tuple(axis for axis, length in enumerate(shape) if length == 1 and gradient.shape[axis] != 1)
    return gradient.sum(axis=stretched, keepdims=True, dtype=np.float32) if stretched else gradient


def add(left: Node, right: Node) -> Node:
    return Node(
        left.value + right.value,
        (left, right),
        lambda gradient: (_summed_to(gradient, left.shape), _summed_to(gradient, right.shape)),
    )


def multiply(left: Node, right: Node) -> Node:
    return Node(
        left.value * right.value,
        (left, right),
        lambda gradient: (
            _summed_to(gradient * right.value, left.shape),
            _summed_to(gradient * left.value, right.shape),
        ),
    )


def scale(source: Node, factor: float) -> Node:
    return Node(source.value * np.float32(factor), (source,), lambda gradient: (gradient * np.float32(factor),))


def matmul(left: Node, right: Node) -> Node:
    """Batches of float32 products by numpy's BLAS: those of attention, which the recipes of the papers leave in high precision."""
    return Node(
        left.value @ right.value,
        (left, right),
        lambda gradient: (
            gradient @ np.swapaxes(right.value, -1, -2),
            np.swapaxes(left.value, -1, -2) @ gradient,
        ),
    )


def reshape(source: Node, shape: tuple[int, ...]) -> Node:
    return Node(source.value.reshape(shape), (source,), lambda gradient: (gradient.reshape(source.shape),))


def transpose(source: Node, axes: tuple[int, ...]) -> Node:
    back = tuple(int(axis) for axis in np.argsort(axes))
    return Node(source.value.transpose(axes), (source,), lambda gradient: (gradient.transpose(back),))


def split(source: Node, parts: int) -> list[Node]:
    """Equal parts along the last axis."""
    width = source.shape[-1] // parts

    def part(index: int) -> Node:
        def pullback(gradient: Array) -> tuple[Array]:
            whole = np.zeros(source.shape, np.float32)
            whole[..., index * width : (index + 1) * width] = gradient
            return (whole,)

        return Node(source.value[..., index * width : (index + 1) * width], (source,), pullback)

    return [part(index) for index in range(parts)]


def patches(source: Node, stride: int = 1) -> Node:
    """The 3 x 3 places around each place of images, with zeros outside of them: batch x height x width x channels becomes batch x
    height / stride x width / stride x 9 channels, sizes rounded up, the places row by row. A convolution is their product with a
    matrix."""
    _, height, width, channels = source.shape
    rows, columns = -(-height // stride), -(-width // stride)
    places = [
        (slice(None), slice(y, y + stride * (rows - 1) + 1, stride), slice(x, x + stride * (columns - 1) + 1, stride))
        for y in range(3)
        for x in range(3)
    ]
    padded = np.pad(source.value, ((0, 0), (1, 1), (1, 1), (0, 0)))

    def pullback(gradient: Array) -> tuple[Array]:
        whole = np.zeros(padded.shape, np.float32)
        for index, place in enumerate(places):
            whole[place] += gradient[..., index * channels : (index + 1) * channels]
        return (whole[:, 1:-1, 1:-1],)

    return Node(np.concatenate([padded[place] for place in places], axis=-1), (source,), pullback)


def mean(source: Node) -> Node:
    size = np.float32(source.value.size)
    return Node(source.value.mean(), (source,), lambda gradient: (np.full(source.shape, gradient / size, np.float32),))


def relu(source: Node) -> Node:
    kept = source.value > 0
    return Node(np.where(kept, source.value, 0), (source,), lambda gradient: (np.where(kept, gradient, np.float32(0)),))


def _float32(function: Callable[[Any], Any], values: Array) -> Array:
    return np.asarray(function(values.astype(np.float64)), dtype=np.float32)


def sigmoid_of(values: Array) -> Array:
    return _float32(lambda wide: 1 / (1 + np.exp(-wide)), values)


def silu(source: Node) -> Node:
    gate = sigmoid_of(source.value)
    slope = gate * (1 + source.value * (1 - gate))
    return Node(source.value * gate, (source,), lambda gradient: (gradient * slope,))


def gelu(source: Node) -> Node:
    """x sigmoid(1.702 x), the approximation of the paper that introduced GELU (arXiv 1606.08415, section 2)."""
    gate = sigmoid_of(np.float32(1.702) * source.value)
    slope = gate + np.float32(1.702) * source.value * gate * (1 - gate)
    return Node(source.value * gate, (source,), lambda gradient: (gradient * slope,))


def layer_norm(source: Node, weight: Node, epsilon: float = 1e-5) -> Node:
    """Layer normalization over the last axis, without a bias."""
    centred = source.value - source.value.mean(axis=-1, keepdims=True, dtype=np.float32)
    variance = np.square(centred).mean(axis=-1, keepdims=True, dtype=np.float32)
    inverse = 1 / np.sqrt(variance + np.float32(epsilon))
    normal = centred * inverse

    def pullback(gradient: Array) -> tuple[Array, Array]:
        inner = gradient * weight.value
        along = inner - inner.mean(axis=-1, keepdims=True) - normal * (inner * normal).mean(axis=-1, keepdims=True)
        return along * inverse, _summed_to(gradient * normal, weight.shape)

    return Node(normal * weight.value, (source, weight), pullback)


def unit_rows(source: Node, normalize: Callable[[Array], Array]) -> Node:
    """Rows over their lengths. normalize: `l2_normalize`, whose rule this is; the gradient is that of x / |x|."""
    unit = normalize(source.value)
    length = np.sqrt(np.square(source.value).sum(axis=-1, keepdims=True) + np.float32(1e-6))

    def pullback(gradient: Array) -> tuple[Array]:
        return ((gradient - unit * (gradient * unit).sum(axis=-1, keepdims=True)) / length,)

    return Node(unit, (source,), pullback)


def softmax_of(values: Array) -> Array:
    powers = np.exp((values - values.max(axis=-1, keepdims=True)).astype(np.float64))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), dtype=np.float32)


def causal_softmax(source: Node) -> Node:
    """Softmax over the last axis, in which a row sees itself and what is before it."""
    length = source.shape[-1]
    hidden = np.triu(np.ones((length, length), bool), 1)
    shares = softmax_of(np.where(hidden, np.float32(-np.inf), source.value))

    def pullback(gradient: Array) -> tuple[Array]:
        return (shares * (gradient - (gradient * shares).sum(axis=-1, keepdims=True)),)

    return Node(shares, (source,), pullback)


def lookup(table: Node, rows: NDArray[np.integer]) -> Node:
    def pullback(gradient: Array) -> tuple[Array]:
        whole = np.zeros(table.shape, np.float32)
        np.add.at(whole, rows, gradient)
        return (whole,)

    return Node(table.value[rows], (table,), pullback)


def cross_entropy(scores: Node, labels: NDArray[np.integer]) -> Node:
    """The mean over rows of -log softmax(scores)[label]."""
    shares = softmax_of(scores.value)
    count = len(labels)
    rows = np.arange(count)
    wide = scores.value.astype(np.float64)
    top = wide.max(axis=-1)
    losses = np.log(np.exp(wide - top[:, None]).sum(axis=-1)) + top - wide[rows, labels]

    def pullback(gradient: Array) -> tuple[Array]:
        back = shares.copy()
        back[rows, labels] -= 1
        return (back * (gradient / np.float32(count)),)

    return Node(losses.mean(), (scores,), pullback)
