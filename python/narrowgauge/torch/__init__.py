# SPDX-License-Identifier: Apache-2.0
"""This package's arithmetic inside torch: fake quantization, products, and linear layers trained by a recipe (docs/torch.md).

>>> import torch, narrowgauge.torch as ngt
>>> print(ngt.convert(model, "nvidia-nvfp4", seed=1))  # which Linear layers it replaced, and which stay high
>>> for images, labels in batches:
...     ngt.step(model)  # the next step's random words
...     torch.nn.functional.cross_entropy(model(images), labels).backward()
...     optimizer.step()
...     optimizer.zero_grad()

The rules are those of `narrowgauge.train`: its recipes, its `Layer`, its seeds. Raises ImportError on import without torch.
"""

from __future__ import annotations

try:
    import torch as _torch
except ImportError as error:
    raise ImportError(
        "narrowgauge.torch needs the package torch: pip install torch, or pip install 'narrowgauge[torch]'"
    ) from error

from .convert import Conversion, convert, quantized, save_quantized, step
from .functions import fake_quantize, linear, matmul
from .modules import Linear

del _torch

__all__ = [
    "Conversion",
    "Linear",
    "convert",
    "fake_quantize",
    "linear",
    "matmul",
    "quantized",
    "save_quantized",
    "step",
]
