# SPDX-License-Identifier: Apache-2.0
"""Tensors as this package's arrays, and back: float32 without a copy, the narrower types by this package's own way of reading them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from .._arguments import shown
from .._arrays import float32_array
from .._core import Error

Array = NDArray[np.float32]
#: Types of numbers that are taken. Results have the type of the tensor that they stand beside.
SERVED = (torch.float32, torch.bfloat16, torch.float16)


def check(name: str, tensor: Any) -> None:
    """Refuses what has no numbers in the CPU's memory, or numbers of another type."""
    if not isinstance(tensor, torch.Tensor):
        raise Error(f"{name} is {shown(tensor)}; expected a tensor of torch")
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        raise Error(
            f"{name} is a {type(tensor).__name__}, a tensor of a kind of its own; expected a torch.Tensor in the CPU's memory"
        )
    if tensor.device.type != "cpu":
        raise Error(f"{name} is on device {tensor.device}; expected memory of the CPU; move it there with .cpu()")
    if tensor.layout != torch.strided:
        raise Error(f"{name} has layout {tensor.layout}; expected torch.strided; make it so with .to_dense()")
    if tensor.dtype not in SERVED:
        names = ", ".join(str(dtype).removeprefix("torch.") for dtype in SERVED)
        given = str(tensor.dtype).removeprefix("torch.")
        raise Error(f"{name} has dtype {given}; expected one of {names}; convert it with .float()")
    if torch.jit.is_tracing():
        raise Error(
            f"{name} is being traced by torch.jit, which would keep its numbers as constants; expected a run without tracing"
        )


def array_of(name: str, tensor: Any) -> Array:
    """A tensor's numbers as float32: in float32 its own memory, else exact copies."""
    check(name, tensor)
    plain = tensor.detach()
    return float32_array(plain.numpy() if plain.dtype == torch.float32 else plain, name)


def tensor_of(array: Array, like: Any) -> Any:
    """A tensor on the memory of an array, in another type than float32 rounded to nearest even."""
    made = torch.from_numpy(array if array.flags.writeable else array.copy())
    return made if like.dtype == torch.float32 else made.to(like.dtype)
