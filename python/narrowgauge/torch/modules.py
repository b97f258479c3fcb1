# SPDX-License-Identifier: Apache-2.0
"""torch.nn.Linear in the arithmetic of a recipe, with what a run remembers of it in its state_dict."""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch

from .._arguments import flag, instance, integer, shown, text
from .._core import Error
from .._engine import Engine
from ..train.products import MAX_LAYER, MAX_RUN, Costs, Layer
from ..train.recipe import MAX_STEP, Recipe, content, load
from .functions import apply
from .tensors import array_of

DIGEST = 8  #: Bytes of SHA-256 before a state, so that a damaged one is noticed.


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()[:DIGEST]


def recipe_of(recipe: object) -> Recipe:
    """A recipe, or one by its name or file."""
    if isinstance(recipe, Recipe):
        return recipe
    if isinstance(recipe, str | Path):
        return load(recipe)
    raise Error(f"recipe is {shown(recipe)}; expected a Recipe, a name of train.recipes(), or a file of TOML")


def engine_of(engine: object) -> Engine | None:
    if engine is not None:
        instance("engine", engine, Engine, "narrowgauge.Engine('rtl') makes one, None is the golden model")
    assert engine is None or isinstance(engine, Engine)
    return engine


def _in_backward() -> bool:
    """Whether torch runs a backward pass now, so that a forward is one that activation checkpointing does again."""
    task = getattr(torch._C, "_current_graph_task_id", None)
    return task is not None and task() != -1


class Linear(torch.nn.Linear):
    """torch.nn.Linear whose three products follow a recipe of `narrowgauge.train`, with its seeds, on any engine.

    in_features, out_features, bias, device, dtype: as for torch.nn.Linear, whose parameters and initial values it has. recipe: a
    Recipe, a name of train.recipes(), or a file. name: for texts. index: the layer's number in seeds, 1 to 4095, its own in a
    network. high: whether its products stay in the recipe's high format. seed: of the run, 0 to 65535. engine: a
    narrowgauge.Engine, or None, the golden model; the attribute `engine` may be set later.

    In training mode a forward needs a step that has begun: `step(module)` before each. In evaluation it changes nothing.
    state_dict() has weight and bias as torch.nn.Linear, and `_extra_state`, a tensor of bytes with the step, the mask and the
    maxima for delayed scales. A state_dict without it is loaded as one of torch.nn.Linear.

    Raises Error for wrong arguments; forward for tensors that are not served, without a step, and as `quantize` does.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        recipe: Recipe | str | Path,
        name: str = "linear",
        index: int = 1,
        high: bool = False,
        seed: int = 0,
        engine: Engine | None = None,
    ) -> None:
        self._begin(
            Layer(
                text("name", name),
                integer("index", index, 1, MAX_LAYER),
                recipe_of(recipe),
                flag("high", high),
                integer("seed", seed, 0, MAX_RUN),
                Costs(),
            ),
            engine_of(engine),
            integer("in_features", in_features, 1, 2**31 - 1),
            integer("out_features", out_features, 1, 2**31 - 1),
            flag("bias", bias),
            device,
            dtype,
        )

    def _begin(
        self, layer: Layer, engine: Engine | None, inputs: int, outputs: int, bias: bool, device: Any, dtype: Any
    ) -> None:
        super().__init__(inputs, outputs, bias, device=device, dtype=dtype)
        self.layer, self.engine = layer, engine
        self._spent: dict[str, int] = {}

    @classmethod
    def of(cls, source: Any, layer: Layer, engine: Engine | None = None) -> Linear:
        """One that has the very parameters of a torch.nn.Linear, and a layer of `narrowgauge.train`."""
        instance("source", source, torch.nn.Linear, "torch.nn.Linear is what this replaces")
        instance("layer", layer, Layer, "narrowgauge.train.Layer makes one")
        made = cls.__new__(cls)
        bias = source.bias is not None
        made._begin(layer, engine_of(engine), source.in_features, source.out_features, bias, "meta", None)
        made.weight, made.bias = source.weight, source.bias
        made.train(source.training)
        return made

    @property
    def recipe(self) -> Recipe:
        return self.layer.recipe

    def step(self, number: int | None = None) -> int:
        """Begins a step of training, None being the next one, and renews the mask of a sparse weight. Returns its number.

        All layers of a network are at one step: `narrowgauge.torch.step(module)` begins it for each of them.
        """
        number = self.layer.step + 1 if number is None else integer("number", number, 0, MAX_STEP)
        integer("the step", number, 0, MAX_STEP)
        self.layer.begin(number, self.engine)
        self._spent.clear()
        if self.layer.recipe.sparse_weights != "none":
            self.layer.renew_mask(array_of(f"{self.layer.name}.weight", self.weight).T)
        return number

    @torch.compiler.disable
    def forward(self, x: Any) -> Any:
        """x: (..., inputs) of float32, bfloat16 or float16; the result has its type. The bias is added in float32."""
        return apply(x, self.weight, self.bias, self._as_called(), self._spent)

    def _as_called(self) -> Layer:
        """The layer for one call: itself at this step in training, a twin in evaluation."""
        layer = self.layer
        layer.begin(layer.step, self.engine)
        if not self.training:
            return layer.apart()
        if layer.step == 0:
            raise Error(
                f"layer '{layer.name}' is in training mode before its first step; expected narrowgauge.torch.step(module) "
                "before each forward of training, or module.eval()"
            )
        if _in_backward():
            delayed = [how.scale == "delayed" for how in (layer.recipe.forward.left, layer.recipe.forward.right)]
            if any(delayed) and not layer.high:
                raise Error(
                    f"layer '{layer.name}' is computed again in the backward pass, when its delayed scales have moved on; expected a "
                    "recipe without scale 'delayed', or no activation checkpointing of this layer"
                )
        elif torch.is_grad_enabled() and self._spent.get("step") == layer.step:
            raise Error(
                f"step {layer.step} of layer '{layer.name}' has used its random words; expected narrowgauge.torch.step(module) "
                "before each forward of training, one for each part of an accumulated gradient"
            )
        return layer.as_it_stands()

    def extra_repr(self) -> str:
        kept = f", kept {self.recipe.high_format}" if self.layer.high else ""
        return f"{super().extra_repr()}, recipe={self.recipe.name}{kept}"

    def _origin(self) -> dict[str, Any]:
        """What a state must agree in."""
        digest = hashlib.sha256(content(self.recipe).encode()).hexdigest()
        return {
            "recipe": f"{self.recipe.name}, SHA-256 {digest[:16]}",
            "seed": self.layer.run,
            "index": self.layer.index,
        }

    def get_extra_state(self) -> Any:
        """Step, mask and maxima as a tensor of bytes: a digest, and a file of numpy's with numbers and names only."""
        layer = self.layer
        head = self._origin() | {
            "step": layer.step,
            "high": layer.high,
            "history": {use: [scaling.history, scaling.scale] for use, scaling in layer.scalings.items()},
        }
        arrays: dict[str, Any] = {} if layer.mask is None else {"mask": layer.mask}
        with io.BytesIO() as file:
            np.savez(file, head=np.array(json.dumps(head)), **arrays)
            content = file.getvalue()
        return torch.from_numpy(np.frombuffer(_digest(content) + content, np.uint8).copy())

    def set_extra_state(self, state: Any) -> None:
        """Takes what get_extra_state gave. Raises Error for a damaged one, and for one of another recipe, seed or index."""
        name, twin = self.layer.name, self.layer.as_it_stands()
        twin.scalings = {}
        try:
            content = state.cpu().numpy().tobytes()
            if content[:DIGEST] != _digest(content[DIGEST:]):
                raise ValueError("its digest is not that of its bytes")
            with np.load(io.BytesIO(content[DIGEST:]), allow_pickle=False) as file:
                arrays = {key: file[key] for key in file.files}
            head = json.loads(str(arrays.pop("head")))
            given = {key: head[key] for key in self._origin()}
            twin.step, twin.high = integer("step", head["step"], 0, MAX_STEP), flag("high", head["high"])
            maxima = dict(head["history"]) if given == self._origin() else {}
            for use, (history, scale) in maxima.items():
                twin.recall(use, history, scale)
        except (AttributeError, TypeError, RuntimeError, OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
            raise Error(
                f"the state of layer '{name}' cannot be read: {' '.join(str(error).split())}; expected the tensor that "
                "get_extra_state gave"
            ) from None
        for key, mine in self._origin().items():
            if given[key] != mine:
                raise Error(
                    f"the state of layer '{name}' is of {key} {shown(given[key])}; this layer has {shown(mine)}; for its "
                    "weights alone leave out keys that end in _extra_state"
                )
        mask = arrays.get("mask")
        shape = (self.in_features, self.out_features)
        if mask is not None and (mask.shape != shape or mask.dtype != np.bool_):
            raise Error(f"the mask of layer '{name}' is {mask.dtype} of shape {mask.shape}; expected bool of {shape}")
        self.layer.step, self.layer.high, self.layer.mask, self.layer.scalings = (
            twin.step,
            twin.high,
            mask,
            twin.scalings,
        )
        self._spent.clear()

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *others: Any) -> None:
        """As torch's, but for a checkpoint of torch.nn.Linear, which has no extra state."""
        super()._load_from_state_dict(state_dict, prefix, *others)
        missing, key = others[2], f"{prefix}_extra_state"
        if key in missing:
            missing.remove(key)
