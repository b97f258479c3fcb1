# SPDX-License-Identifier: Apache-2.0
"""Quantizers, products and linear layers for JAX, with the bits of the rest of the package (docs/jax.md).

>>> import jax, narrowgauge.jax as nj
>>> y = jax.jit(lambda x: nj.fake_quantize(x, "nvfp4"))(x)
>>> c = nj.matmul(a, b, "fp8_e4m3")
>>> layers = nj.layers("fp4-all-the-way", ["hidden", "scores"], run=1)
>>> y = nj.linear(x, w, layers["hidden"], step)  # jax.grad of it is in the recipe's arithmetic, too
"""

from __future__ import annotations

try:
    import jax as _jax  # noqa: F401
except ImportError as error:
    raise ImportError("narrowgauge.jax needs the package jax, which is missing; install narrowgauge[jax]") from error

from ._calls import route
from ._linear import add_bias, cross_entropy, layers, linear
from ._quantized import Quantized, dequantize, fake_quantize, gemm, matmul, quantize

__all__ = [
    "Quantized",
    "add_bias",
    "cross_entropy",
    "dequantize",
    "fake_quantize",
    "gemm",
    "layers",
    "linear",
    "matmul",
    "quantize",
    "route",
]
