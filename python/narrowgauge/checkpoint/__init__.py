# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of quantized networks: what is quantized in them and how, as matrices that multiply here; read, converted, written.

>>> checkpoint = ng.open_checkpoint("model.safetensors")
>>> print(checkpoint)
>>> layer = checkpoint["model.layers.0.mlp.down_proj"]
>>> layer.read(), layer.convention, layer.global_scale()
>>> layer.multiply(x, engine=ng.Engine("rtl")).y
>>> ng.checkpoint.convert(checkpoint, "other.safetensors", layout="compressed-tensors")

`docs/checkpoints.md` has the layouts, and what each is taken for.
"""

from __future__ import annotations

from .integers import IntegerMatrix
from .reader import Checkpoint, Layer, LayerProduct, open_checkpoint
from .recognize import layouts
from .writer import Change, change, convert, write

__all__ = [
    "Change",
    "Checkpoint",
    "IntegerMatrix",
    "Layer",
    "LayerProduct",
    "change",
    "convert",
    "layouts",
    "open_checkpoint",
    "write",
]
