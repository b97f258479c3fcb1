# SPDX-License-Identifier: Apache-2.0
"""A walk through a program of torch.export, node by node, that lowers what multiplies matrices to layers of a workload.

torch has put the shape of each value beside its node, so nothing is inferred here. Operators that are in no list here are
decomposed by torch into those of core ATen, and refused if they remain.
"""

from __future__ import annotations

import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Node

from . import lowering
from .lowering import Layer, WorkloadError

#: Products of two matrices, or of as many as their leading dimensions say, and the first of their operands.
PRODUCTS = {"mm": 0, "bmm": 0, "matmul": 0, "mv": 0, "dot": 0, "addmm": 1, "baddbmm": 1, "addmv": 1}
CONVOLUTIONS = ("conv1d", "conv2d", "conv3d", "convolution")
ATTENTION = (
    "scaled_dot_product_attention",
    "_scaled_dot_product_flash_attention",
    "_scaled_dot_product_flash_attention_for_cpu",
    "_scaled_dot_product_efficient_attention",
    "_scaled_dot_product_cudnn_attention",
)
LOWERED = {"linear", *PRODUCTS, *CONVOLUTIONS, *ATTENTION}
#: Operators of ATen that multiply no matrices by kind, beside those that torch marks as element by element.
HARMLESS = {
    "normalization and softmax": (
        "batch_norm group_norm instance_norm layer_norm rms_norm log_softmax _log_softmax softmax _softmax _safe_softmax "
        "normalize _native_batch_norm_legit _native_batch_norm_legit_functional _native_batch_norm_legit_no_training "
        "native_batch_norm native_group_norm native_layer_norm _fused_rms_norm dropout alpha_dropout feature_dropout "
        "native_dropout"
    ),
    "reductions, searches and pools": (
        "amax amin aminmax any all argmax argmin cumprod cumsum logsumexp mean prod std std_mean sum var var_mean norm "
        "linalg_vector_norm nonzero sort argsort topk unique_consecutive adaptive_avg_pool1d adaptive_avg_pool2d "
        "adaptive_avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_max_pool2d avg_pool1d avg_pool2d "
        "avg_pool3d max_pool1d max_pool2d max_pool3d max_pool2d_with_indices max_pool3d_with_indices "
        "bincount bucketize count_nonzero cummax cummin histc isin kthvalue median mode searchsorted"
    ),
    "movement of data, and differences": (
        "alias as_strided broadcast_to cat chunk clone col2im constant_pad_nd contiguous copy detach diagonal embedding "
        "_embedding_bag embedding_bag expand expand_as flatten flip gather im2col index index_put index_select "
        "lift_fresh_copy masked_scatter masked_select movedim narrow pad permute pixel_shuffle pixel_unshuffle "
        "reflection_pad1d reflection_pad2d reflection_pad3d repeat repeat_interleave replication_pad1d replication_pad2d "
        "replication_pad3d reshape roll scatter scatter_add scatter_reduce select select_scatter slice slice_scatter "
        "split split_with_sizes squeeze stack swapaxes t tile to _to_copy transpose tril triu type_as unbind unflatten "
        "unsafe_split unsqueeze _unsafe_view view view_as concat concatenate hstack index_add moveaxis ravel rot90 swapdims "
        "take take_along_dim unfold vstack __and__ __or__ diff"
    ),
    "interpolation": (
        "grid_sampler_2d upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_nearest1d upsample_nearest2d"
    ),
    "constants, ranges, random numbers, and what torch asserts": (
        "arange bernoulli empty empty_like empty_strided eye fill full full_like new_empty new_full new_ones new_zeros "
        "one_hot ones ones_like rand rand_like randint randn randn_like randperm scalar_tensor zeros zeros_like item "
        "numel size sym_numel sym_size sym_storage_offset sym_stride _local_scalar_dense _assert_async _assert_scalar "
        "_assert_tensor_metadata sym_constrain_range sym_constrain_range_for_size"
    ),
}
ALL_HARMLESS = frozenset(name for names in HARMLESS.values() for name in names.split())
#: How names of operators begin that quantize, in the graphs of torchao's and torch's own quantization.
QUANTIZERS = ("quantize_", "dequantize_", "choose_qparams", "fake_quant")


class UnknownError(WorkloadError):
    """An operator that is in no list."""


class Walk:
    """Layers of a program's graph."""

    def __init__(self, program: ExportedProgram, dims: Mapping[str, int]) -> None:
        self.graph = program.graph_module.graph
        signature = program.graph_signature
        changed = set(signature.buffers_to_mutate.values())
        self.constants = {
            name
            for table in (
                signature.inputs_to_parameters,
                signature.inputs_to_buffers,
                signature.inputs_to_lifted_tensor_constants,
            )
            for name, of in table.items()
            if of not in changed
        }
        for node in self.graph.nodes:  # what a run changes is another number in the next one
            self.constants -= {each.name for each in _changed(node)}
        self.sizes = dict(dims)  # by symbol, too
        self.places: dict[str, str] = {}  # where an input has a symbol
        for node in self.graph.find_nodes(op="placeholder"):
            for axis, size in enumerate(getattr(node.meta.get("val"), "shape", ())):
                if not isinstance(size, int):
                    place = f"{node.name}.{axis}"
                    self.places.setdefault(str(size), place)
                    if place in dims:
                        self.sizes.setdefault(str(size), dims[place])
        self.folded = 0  # products of constants alone

    def layers(self) -> list[Layer]:
        found: list[Layer] = []
        known: dict[Node, bool] = {}  # whether a value depends on constants alone
        for node in self.graph.nodes:
            if node.op == "placeholder":
                known[node] = node.name in self.constants
            elif node.op == "get_attr":
                known[node] = True
            elif node.op == "call_function":
                name, lowered = self._kind(node)
                random = torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())
                known[node] = name == "sym_size" or (not random and all(known[each] for each in node.all_input_nodes))
                if not known[node]:
                    known |= dict.fromkeys(_changed(node), False)
                if lowered and known[node]:
                    self.folded += 1
                elif lowered:
                    found += self._lower(node, name, known)
        return found

    def _kind(self, node: Node) -> tuple[str, bool]:
        """The operator's name, and whether it is lowered."""
        target = node.target
        if not isinstance(target, torch._ops.OpOverload):
            if isinstance(target, torch._ops.OperatorBase):
                raise UnknownError(
                    f"{_where(node)} runs a graph of its own, which is not read; expected operators of ATen"
                )
            return str(target), False  # of Python, on sizes, or one of several results
        space, _, name = target._schema.name.partition("::")
        if space == "aten" and name in LOWERED:
            return name, True
        harmless = torch.Tag.pointwise in target.tags or (
            space == "aten" and (name in ALL_HARMLESS or name.removesuffix("_") in ALL_HARMLESS)
        )
        if harmless or name.startswith(QUANTIZERS):
            return name, False
        raise UnknownError(
            f"{_where(node)} may multiply, and is not lowered to matrix products; expected an operator that"
            " docs/explore.md lists: write its layers by hand"
        )

    def _shape(self, node: Node, of: Any) -> list[int]:
        """Of an operand or a result."""
        value = of.meta.get("val") if isinstance(of, Node) else None
        value = value[0] if isinstance(value, tuple | list) else value
        if not isinstance(value, torch.Tensor):
            raise WorkloadError(f"{_where(node)}: the shape of {of} is not known; expected a program of torch.export")
        return [self._size(node, of, size) for size in value.shape]

    def _size(self, node: Node, of: Node, size: Any) -> int:
        if not isinstance(size, int):
            expression = size.node.expr
            symbols = {str(symbol): symbol for symbol in expression.free_symbols}
            for name in sorted(symbols):
                if name not in self.sizes:
                    place = self.places.get(name, name)
                    raise WorkloadError(
                        f"{_where(node)}: '{of.name}' has a dimension {expression}; give the size of {name}: --dim {place}=1"
                    )
            size = expression.xreplace({symbol: self.sizes[name] for name, symbol in symbols.items()})
        number = int(size)
        if number < 1:
            raise WorkloadError(f"{_where(node)}: '{of.name}' has a dimension of size {number}; expected 1 or more")
        return number

    def _lower(self, node: Node, name: str, known: Mapping[Node, bool]) -> list[Layer]:
        label, where = _label(node), _where(node)

        def operand(index: int, key: str) -> Any:
            return node.args[index] if index < len(node.args) else node.kwargs.get(key)

        def constant(*operands: Any) -> tuple[bool, bool]:
            left, right = (isinstance(each, Node) and known[each] for each in operands)
            return left, right

        if name in CONVOLUTIONS:
            if name == "convolution" and operand(6, "transposed"):
                raise WorkloadError(f"{where} is transposed, and is not lowered; expected a convolution")
            x, w = operand(0, "input"), operand(1, "weight")
            groups = operand({"convolution": 8}.get(name, 6), "groups") or 1
            result, kernel = self._shape(node, node), self._shape(node, w)
            if len(result) == len(kernel) - 1:  # without a batch
                result = [1, *result]
            return [lowering.convolution(label, result, kernel, groups, constant(x, w))]
        if name in ATTENTION:
            q, k, v = (operand(index, key) for index, key in enumerate(("query", "key", "value")))
            query, keys, values = (self._shape(node, each) for each in (q, k, v))
            count, features = math.prod(query[:-2]), values[-1]
            return lowering.attention(label, count, (query[-2], query[-1]), (keys[-2], features))
        if name == "linear":
            a, b = operand(0, "input"), operand(1, "weight")
            right = self._shape(node, b)[::-1]
        else:
            first = PRODUCTS[name]
            a, b = operand(first, "self"), operand(first + 1, "mat2")
            right = self._shape(node, b)
        return [lowering.product(label, where, self._shape(node, a), right, constant(a, b))[0]]


def _changed(node: Node) -> set[Node]:
    """What an operator writes to, and all that this may be a view of."""
    schema = getattr(node.target, "_schema", None)
    if schema is None or not schema.is_mutable:
        return set()
    written = [
        given
        for given, argument in zip(node.args, schema.arguments, strict=False)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    found: set[Node] = set()
    while written:
        each = written.pop()
        if isinstance(each, Node) and each not in found:
            found.add(each)
            views = getattr(getattr(each.target, "_schema", None), "returns", ())
            if any(result.alias_info is not None for result in views):
                written += each.all_input_nodes[:1]
    return found


def _label(node: Node) -> str:
    """The path of the module that it is of, and its own name."""
    stack: Sequence[Any] = list(node.meta.get("nn_module_stack", {}).values())
    path = str(stack[-1][0]) if stack else ""
    path = path.removeprefix("L['self']").removeprefix(".")
    return f"{path}/{node.name}" if path else node.name


def _where(node: Node) -> str:
    return f"node {_label(node)} ({node.target})"


def load(path: str) -> ExportedProgram:
    """A program of a file, as torch reads it. Raises WorkloadError where it is none."""
    if not os.path.isfile(path):
        raise WorkloadError(f"{path} cannot be read as a program of torch.export: no such file; expected a .pt2 file")
    if not zipfile.is_zipfile(path):
        raise WorkloadError(
            f"{path} cannot be read as a program of torch.export: it is no archive; expected a .pt2 file"
        )
    try:
        return torch.export.load(path)
    except Exception as error:  # torch's own, of many kinds
        said = " ".join(str(error).split())[:300] or type(error).__name__
        raise WorkloadError(
            f"{path} cannot be read as a program of torch.export: {said}; expected what torch.export.save wrote"
        ) from error


def layers(program: ExportedProgram, dims: Mapping[str, int]) -> tuple[list[Layer], int, int]:
    """Layers, products of constants alone, and nodes of the graph that was walked."""
    walk = Walk(program, dims)
    try:
        found = walk.layers()
    except UnknownError as first:
        try:
            program = program.run_decompositions()
        except Exception as error:  # torch's own, of many kinds
            raise first from error
        walk = Walk(program, dims)
        found = walk.layers()
    return found, walk.folded, len(walk.graph.nodes)
