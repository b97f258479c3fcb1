# SPDX-License-Identifier: Apache-2.0
"""The network: two convolutions and a fully connected layer, each one matrix product (numpy only).

Images are N x height x width x channels, so that a product's result is the next layer's image as it stands.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FOLDER = Path(__file__).resolve().parent
Array = NDArray[np.float32]
Matmul = Callable[[str, Array, Array], Array]


@dataclass(frozen=True)
class Layer:
    """A convolution, or, where size is 0, a fully connected layer."""

    name: str
    inputs: int  # channels, or values
    outputs: int
    size: int = 0  # of the square window
    stride: int = 1
    relu: bool = True

    @property
    def pad(self) -> int:
        return self.size // 2

    @property
    def k(self) -> int:
        """Length of the contraction."""
        return self.inputs * max(self.size, 1) ** 2


LAYERS = (
    Layer("conv1", 1, 32, size=5, stride=2),  # 8 x 8 pixels -> 4 x 4 x 32
    Layer("conv2", 32, 32, size=3),  # -> 4 x 4 x 32
    Layer("fc", 512, 10, relu=False),  # -> 10 scores
)
TRAINING = 898  # the first half of the set trains, the rest is the test split: 899 images


def load_data() -> tuple[Array, NDArray[np.uint8]]:
    """All images, 0 to 1, N x 8 x 8 x 1, and their labels."""
    images = np.load(FOLDER / "images.npy")
    return (images.astype(np.float32) / 16)[..., None], np.load(FOLDER / "labels.npy")


def load_weights() -> dict[str, Array]:
    """`<layer>.weight`, k x outputs, and `<layer>.bias` of every layer."""
    names = [f"{layer.name}.{part}" for layer in LAYERS for part in ("weight", "bias")]
    return {name: np.load(FOLDER / "weights" / f"{name}.npy") for name in names}


def patches(layer: Layer, x: Array) -> Array:
    """The left matrix of the layer's product: every window of every image as a row (im2col)."""
    if not layer.size:
        return x.reshape(len(x), -1)
    x = np.pad(x, ((0, 0), (layer.pad, layer.pad), (layer.pad, layer.pad), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (layer.size, layer.size), axis=(1, 2))
    windows = windows[:, :: layer.stride, :: layer.stride]  # N, rows, columns, channels, size, size
    return np.ascontiguousarray(windows.transpose(0, 1, 2, 4, 5, 3).reshape(-1, layer.k))


def image_shape(layer: Layer, x: Array) -> tuple[int, ...]:
    """Shape of the layer's result."""
    if not layer.size:
        return (len(x), layer.outputs)
    side = (x.shape[1] + layer.stride - 1) // layer.stride
    return (len(x), side, side, layer.outputs)


def exact_product(left: Array, right: Array) -> Array:
    """The product, each result exact and rounded to float32 once: the same bits whatever library sums in whatever order.
    Refuses operands of which float64 does not hold every possible partial sum: those have to be summed another way."""

    def grid(x: Array) -> int:
        """Largest e so that every value is a multiple of 2^e."""
        mantissa, exponent = np.frexp(x[x != 0])
        whole = (mantissa * 2**24).astype(np.int64)
        return int((np.log2(whole & -whole).astype(np.int64) + exponent - 24).min(initial=127))

    bound = left.shape[1] * float(np.abs(left).max()) * float(np.abs(right).max())
    if bound >= 2.0 ** (grid(left) + grid(right) + 53):
        raise ValueError(
            f"a sum of {left.shape[1]} products up to {bound:.3g}, multiples of 2^{grid(left) + grid(right)}, "
            "need not be exact in float64; expected at most 53 bits"
        )
    return (left.astype(np.float64) @ right.astype(np.float64)).astype(np.float32)


def result(layer: Layer, x: Array, product: Array, weights: dict[str, Array]) -> Array:
    """The layer's output from its input and its product: bias, and ReLU where it has one."""
    product = product + weights[f"{layer.name}.bias"]
    return (np.maximum(product, 0) if layer.relu else product).reshape(image_shape(layer, x))


def forward(x: Array, weights: dict[str, Array], matmul: Matmul) -> Array:
    """Scores of each class. `matmul` gets the layer's name and the two matrices."""
    for layer in LAYERS:
        x = result(layer, x, matmul(layer.name, patches(layer, x), weights[f"{layer.name}.weight"]), weights)
    return x
