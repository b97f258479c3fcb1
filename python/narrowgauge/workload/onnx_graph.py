# SPDX-License-Identifier: Apache-2.0
"""A walk through an ONNX model, node by node, that lowers what multiplies matrices to layers of a workload.

The walk carries along of each value its type, whether it depends on constants alone, and its elements where they are few:
shapes follow from elements in the graphs that exporters write. Functions, and the bodies of If, Loop and Scan, are walked
where they are called.
"""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, TypeProto, defs, helper, numpy_helper
from onnx.shape_inference import infer_node_outputs

from . import lowering
from . import onnx_operators as operators
from .lowering import Layer, WorkloadError
from .onnx_operators import MICROSOFT, ONNX, Operator

Size = int | str | None  # a number, a name, or unknown

#: Values of more elements are not computed.
MAX_ELEMENTS = 4096


@dataclass
class Value:
    """What is known of a value: its type (empty where it is not known), and its elements if they are few."""

    type: TypeProto
    constant: bool = False
    data: TensorProto | None = None


Scope = ChainMap[str, Value]
Opsets = Mapping[str, int]


@dataclass
class Call:
    """A node where it is walked: its name for messages and layers, and what its inputs are (None: left out)."""

    node: NodeProto
    operator: Operator
    label: str
    scope: Scope
    opsets: Opsets
    inputs: list[Value | None]
    attributes: dict[str, Any] = field(default_factory=dict)

    @property
    def where(self) -> str:
        return f"node {self.label} ({operators.qualified(self.operator)})"

    def input(self, index: int) -> Value | None:
        return self.inputs[index] if index < len(self.inputs) else None

    def graph(self, name: str) -> GraphProto:
        graph = self.attributes.get(name)
        if not isinstance(graph, GraphProto):
            raise WorkloadError(f"{self.where} has no {name}; expected a graph as attribute {name}")
        return graph

    def integer(self, name: str, default: int | None = None) -> int:
        value = self.attributes.get(name, default)
        if not isinstance(value, int):
            raise WorkloadError(f"{self.where} has no attribute {name}; expected an integer")
        return value


# ---- types and elements


def _sizes(type_: TypeProto) -> list[Size] | None:
    """The shape of a tensor; None where its rank is not known."""
    tensor = type_.tensor_type
    if not type_.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    return [d.dim_value if d.HasField("dim_value") else d.dim_param or None for d in tensor.shape.dim]


def _tensor(like: Value | None, sizes: Sequence[Size] | None) -> TypeProto:
    """A tensor type of these sizes, with the elements of another one."""
    element = like.type.tensor_type.elem_type if like is not None else 0
    return helper.make_tensor_type_proto(element or TensorProto.FLOAT, sizes)


def _merged(inferred: TypeProto, declared: TypeProto | None) -> TypeProto:
    """The inferred type, and what only the model says."""
    if declared is None or inferred == declared:
        return inferred
    if inferred.WhichOneof("value") is None:
        return declared
    sizes, said = _sizes(inferred), _sizes(declared)
    if said is None or not inferred.HasField("tensor_type") or sizes == said:
        return inferred
    if sizes is not None and len(sizes) == len(said):
        said = [a if isinstance(a, int) else b if b is not None else a for a, b in zip(sizes, said, strict=True)]
    elif sizes is not None:
        return inferred
    return helper.make_tensor_type_proto(inferred.tensor_type.elem_type, said)


def _common(a: TypeProto, b: TypeProto) -> TypeProto:
    """What two types have in common."""
    if a == b:
        return a
    x, y = _sizes(a), _sizes(b)
    if a.tensor_type.elem_type != b.tensor_type.elem_type or not a.tensor_type.elem_type:
        return TypeProto()
    if x is None or y is None or len(x) != len(y):
        return helper.make_tensor_type_proto(a.tensor_type.elem_type, None)
    sizes = [p if p == q else None for p, q in zip(x, y, strict=True)]
    return helper.make_tensor_type_proto(a.tensor_type.elem_type, sizes)


def _elements(value: Value | None) -> Any:
    return None if value is None or value.data is None else numpy_helper.to_array(value.data)


def _scalar(value: Value | None) -> Any:
    """The one element of a value whose elements are known, else None."""
    array = _elements(value)
    return None if array is None or array.size != 1 else array.reshape(-1)[0].item()


def _may_be_small(type_: TypeProto) -> bool:
    """A tensor of few elements, or of a number that its inputs' elements decide, as NonZero's."""
    sizes = _sizes(type_)
    known = [size for size in sizes or [] if isinstance(size, int)]
    return type_.HasField("tensor_type") and math.prod(known) <= MAX_ELEMENTS


def _of_initializer(tensor: TensorProto) -> Value:
    stored = tensor.data_location != TensorProto.EXTERNAL
    small = stored and math.prod(tensor.dims) <= MAX_ELEMENTS and tensor.data_type != TensorProto.STRING
    return Value(helper.make_tensor_type_proto(tensor.data_type, list(tensor.dims)), True, tensor if small else None)


def _bind(node: NodeProto, given: Mapping[str, AttributeProto]) -> NodeProto:
    """A node of a function with the attributes of the call in place of references to them."""
    bound = NodeProto()
    bound.CopyFrom(node)
    del bound.attribute[:]
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name in given:
                added = bound.attribute.add()
                added.CopyFrom(given[attribute.ref_attr_name])
                added.name = attribute.name
            continue
        added = bound.attribute.add()
        added.CopyFrom(attribute)
        for graph in [added.g] if added.type == AttributeProto.GRAPH else added.graphs:
            nodes = [_bind(inner, given) for inner in graph.node]
            del graph.node[:]
            graph.node.extend(nodes)
    return bound


# ---- layers


def _constant(*operands: Value | None) -> tuple[bool, bool]:
    left, right = (value is not None and value.constant for value in operands)
    return left, right


def _times(layers: list[Layer], count: int) -> list[Layer]:
    return [layer | {"count": layer.get("count", 1) * count} for layer in layers] if count != 1 else layers


def _without_names(layers: list[Layer]) -> list[Layer]:
    return sorted(({key: layer[key] for key in layer if key != "name"} for layer in layers), key=repr)


# ---- types of operators that the onnx package does not know


def _as_first(call: Call) -> list[TypeProto]:
    assert call.inputs[0] is not None
    return [call.inputs[0].type]


def _skip_normalization(call: Call) -> list[TypeProto]:
    like = _as_first(call)[0]
    return [like, TypeProto(), TypeProto(), like]


def _broadcast(call: Call) -> list[TypeProto]:
    a, b = call.input(0), call.input(3)
    return [_through(call, ONNX, "Add", {"A": a, "B": b})]


def _split_gelu(call: Call) -> list[TypeProto]:
    sizes = _sizes(_as_first(call)[0])
    last = sizes[-1] if sizes else None
    return [_tensor(call.input(0), [*sizes[:-1], last // 2 if isinstance(last, int) else None] if sizes else None)]


def _gather_quantized(call: Call) -> list[TypeProto]:
    data, indices, scales = (call.input(i) for i in range(3))
    x, i = (None if value is None else _sizes(value.type) for value in (data, indices))
    if not x or i is None or data is None:
        return [_tensor(scales, None)]
    if data.type.tensor_type.elem_type == TensorProto.UINT8 and isinstance(x[-1], int):  # packed
        x[-1] = x[-1] * 8 // call.integer("bits", 4)
    axis = call.integer("gather_axis", 0) % len(x)
    return [_tensor(scales, [*x[:axis], *i, *x[axis + 1 :]])]


def _latest(call: Call) -> list[TypeProto]:
    """Those of ONNX' own operator of that name."""
    named = {f"i{i}": value for i, value in enumerate(call.inputs)}
    return [_through(call, ONNX, call.operator[1], named)]


def _through(call: Call, domain: str, name: str, inputs: Mapping[str, Value | None]) -> TypeProto:
    """The type of the first result of an ONNX operator of its latest version on these inputs."""
    schema = defs.get_schema(name, domain=domain)
    known = {key for key in schema.attributes if key in call.attributes}
    node = helper.make_node(
        name, [key if value is not None else "" for key, value in inputs.items()], ["result"], domain=domain
    )
    node.attribute.extend(a for a in call.node.attribute if a.name in known)
    given = {key: value for key, value in inputs.items() if value is not None}
    return _infer(call.where, schema, node, given, {domain: schema.since_version}).get("result", TypeProto())


def _infer(
    where: str, schema: Any, node: NodeProto, given: Mapping[str, Value], opsets: Opsets
) -> dict[str, TypeProto]:
    types = {name: value.type for name, value in given.items()}
    data = {name: value.data for name, value in given.items() if value.data is not None}
    imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
    while True:
        try:
            return infer_node_outputs(schema, node, types, data, opset_imports=imports)
        except Exception as error:  # onnx' own, of several kinds
            if data:  # ONNX is stricter with elements than what runs models: with types alone, then
                data = {}
                continue
            reason = " ".join(str(error).split()) or type(error).__name__
            raise WorkloadError(f"{where} is wrong; expected what ONNX infers shapes of: {reason}") from error


#: Types of harmless operators of ONNX Runtime.
_TYPES: dict[Operator, Callable[[Call], list[TypeProto]]] = {
    (ONNX, "SimplifiedLayerNormalization"): _as_first,
    **{(MICROSOFT, name): _as_first for name in (
        "BiasAdd", "BiasDropout", "BiasGelu", "BiasSoftmax", "FastGelu", "Gelu", "QLinearLeakyRelu", "QLinearSigmoid",
        "QLinearSoftmax", "QuickGelu", "RotaryEmbedding", "Trilu")},
    **{(MICROSOFT, name): _skip_normalization for name in (
        "SkipLayerNormalization", "SkipSimplifiedLayerNormalization")},
    **{(MICROSOFT, name): _broadcast for name in ("QLinearAdd", "QLinearMul")},
    **{(MICROSOFT, name): _latest for name in ("DequantizeLinear", "QuantizeLinear")},
    (MICROSOFT, "BiasSplitGelu"): _split_gelu,
    (MICROSOFT, "GatherBlockQuantized"): _gather_quantized,
}  # fmt: skip


# ---- the walk


class Walk:
    """Layers of a model's graph."""

    def __init__(self, model: ModelProto, dims: Mapping[str, int]) -> None:
        self.model = model
        self.dims = dims
        self.functions = {(f.domain, f.name, f.overload): f for f in model.functions}
        self.calls: list[tuple[str, str, str]] = []  # of functions, those that are being walked
        self.folded = 0  # products of constants alone
        self.nameless = {
            d.dim_param for v in model.graph.input for d in v.type.tensor_type.shape.dim if d.dim_param
        } - set(dims)

    def layers(self) -> list[Layer]:
        opsets = {_domain(opset.domain): opset.version for opset in self.model.opset_import}
        scope: Scope = ChainMap()
        graph = self.model.graph
        for value in graph.input:
            scope[value.name] = Value(self._sized(value.type))
        return self._graph(graph, scope, opsets, "")[0]

    def _sized(self, type_: TypeProto) -> TypeProto:
        """The type with sizes in place of the dimensions that were given."""
        sized = TypeProto()
        sized.CopyFrom(type_)
        for dim in sized.tensor_type.shape.dim if sized.HasField("tensor_type") else ():
            if dim.dim_param in self.dims:
                dim.dim_value = self.dims[dim.dim_param]
        return sized

    def _graph(self, graph: GraphProto, scope: Scope, opsets: Opsets, prefix: str) -> tuple[list[Layer], list[Value]]:
        """Layers and results of a graph whose inputs are in the scope."""
        for tensor in graph.initializer:
            scope[tensor.name] = _of_initializer(tensor)
        for sparse in graph.sparse_initializer:
            scope[sparse.values.name] = Value(
                helper.make_tensor_type_proto(sparse.values.data_type, list(sparse.dims)), True
            )
        declared = {value.name: self._sized(value.type) for value in [*graph.value_info, *graph.output]}
        layers = self._nodes(graph.node, scope, opsets, prefix, declared)
        return layers, [self._known(value.name, scope, f"the result {value.name!r}") for value in graph.output]

    def _known(self, name: str, scope: Scope, where: str) -> Value:
        if name not in scope:
            raise WorkloadError(
                f"{where} takes {name!r}, which neither an input nor an earlier node gives; expected one that does"
            )
        return scope[name]

    def _nodes(
        self,
        nodes: Iterable[NodeProto],
        scope: Scope,
        opsets: Opsets,
        prefix: str,
        declared: Mapping[str, TypeProto],
    ) -> list[Layer]:
        layers: list[Layer] = []
        for index, node in enumerate(nodes):
            operator = (_domain(node.domain), node.op_type)
            label = prefix + (node.name or f"{node.op_type}_{index}")
            where = f"node {label} ({operators.qualified(operator)})"
            inputs = [self._known(name, scope, where) if name else None for name in node.input]
            try:
                attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute if not a.ref_attr_name}
            except ValueError as error:
                raise WorkloadError(f"{where} is wrong; expected attributes of ONNX: {error}") from error
            added, results = self._node(Call(node, operator, label, scope, opsets, inputs, attributes))
            layers += added
            for name, value in zip(node.output, results, strict=False):
                scope[name] = value
            for name in node.output:
                value = scope.setdefault(name, Value(TypeProto()))
                value.type = _merged(value.type, declared.get(name))
        return layers

    def _node(self, call: Call) -> tuple[list[Layer], list[Value]]:
        node, operator = call.node, call.operator
        function = self.functions.get((node.domain, node.op_type, node.overload))
        if function is not None:
            return self._function(function, call)
        if operator in operators.CONTROL:
            return getattr(self, "_" + operator[1].lower())(call)  # type: ignore[no-any-return]
        lowered = operator in operators.LOWERED
        constant = self._is_constant(call)
        if not lowered and operator not in operators.ALL_HARMLESS and not (constant and operator in operators.REFUSED):
            known = operator in operators.REFUSED
            raise WorkloadError(
                f"{call.where} {'multiplies, but' if known else 'may multiply, and'} is not lowered to matrix products;"
                " expected an operator that docs/explore.md lists: write its layers by hand"
            )
        if (lowered and operator[0] == MICROSOFT) or operator in operators.ATTENTION:
            layers, types = self._lower(call)
        else:
            types = self._types(call)
            layers = self._lower(call, types)[0] if lowered and not constant else []
        if constant and lowered:
            layers, self.folded = [], self.folded + 1
        results = [Value(type_, constant) for type_ in types]
        self._compute(call, results)
        return layers, results

    def _is_constant(self, call: Call) -> bool:
        """Depends on constants alone: whatever knows only the shape of an activation does."""
        if call.operator in operators.RANDOM:
            return False
        if call.operator in ((ONNX, "Shape"), (ONNX, "Size")) and call.inputs and call.inputs[0] is not None:
            sizes = _sizes(call.inputs[0].type)
            if sizes is not None and all(isinstance(size, int) for size in sizes):
                return True
        return all(value is None or value.constant for value in call.inputs)

    def _types(self, call: Call) -> list[TypeProto]:
        """Types of the results, from the onnx package or from the table of ONNX Runtime's operators."""
        if call.operator in _TYPES:
            if not call.inputs or call.inputs[0] is None:
                raise WorkloadError(f"{call.where} has no first input; expected a tensor")
            return _TYPES[call.operator](call)
        domain, name = call.operator
        version = call.opsets.get(domain)
        if version is None:
            raise WorkloadError(f"{call.where} is of no known version; expected an opset of {domain or 'ai.onnx'!r}")
        schema = None
        for arguments in ((name, version, domain), (name, domain)):
            try:
                schema = defs.get_schema(*arguments)
                break
            except defs.SchemaError:
                continue
        if schema is None:
            raise WorkloadError(f"{call.where} is not known to this version of the onnx package; expected a newer one")
        given = {key: value for key, value in zip(call.node.input, call.inputs, strict=True) if value is not None}
        self._check_split(call)
        types = _infer(call.where, schema, call.node, given, call.opsets)
        return [types.get(name, TypeProto()) for name in call.node.output]

    @staticmethod
    def _check_split(call: Call) -> None:
        """The onnx package ends the process where these numbers differ."""
        if call.operator == (ONNX, "Split"):
            parts = call.attributes.get("split", _elements(call.input(1)))
            count = len(parts) if np.ndim(parts) else call.attributes.get("num_outputs", len(call.node.output))
            if count != len(call.node.output):
                raise WorkloadError(f"{call.where} has {len(call.node.output)} outputs; expected {count}, one a part")

    def _compute(self, call: Call, results: list[Value]) -> None:
        """Elements of the results, where those of the inputs are known and the results are small."""
        domain, name = call.operator
        if name in ("Shape", "Size") and not domain and call.inputs and call.inputs[0] is not None:
            self._of_shape(call, results[0])
            return
        known = all(value is None or value.data is not None for value in call.inputs)
        if domain or not known or not all(value.constant and _may_be_small(value.type) for value in results):
            return
        from onnx.reference import ReferenceEvaluator

        given = {key: _elements(value) for key, value in zip(call.node.input, call.inputs, strict=True) if key}
        try:
            arrays = ReferenceEvaluator(call.node, opsets=dict(call.opsets)).run(None, given)
            for value, array in zip(results, arrays, strict=False):
                array = np.asarray(array)
                if array.size <= MAX_ELEMENTS and array.dtype.kind in "biuf":
                    value.data = numpy_helper.from_array(array)
                    value.type = helper.make_tensor_type_proto(value.data.data_type, list(array.shape))
        except Exception:  # onnx' reference, of several kinds: the elements stay unknown
            return

    @staticmethod
    def _of_shape(call: Call, result: Value) -> None:
        assert call.inputs[0] is not None
        sizes = _sizes(call.inputs[0].type)
        if sizes is None:
            return
        if call.operator[1] == "Size":
            part: Any = None if any(not isinstance(size, int) for size in sizes) else math.prod(sizes)
        else:
            part = sizes[slice(call.attributes.get("start", 0), call.attributes.get("end"))]
            part = part if all(isinstance(size, int) for size in part) else None
        if part is not None:
            result.constant = True
            result.data = numpy_helper.from_array(np.array(part, np.int64))
            result.type = helper.make_tensor_type_proto(TensorProto.INT64, list(np.shape(part)))

    # -- lowering

    def _shape(self, call: Call, value: Value | None, name: str) -> list[int]:
        sizes = _sizes(value.type) if value is not None else None
        given = f"; give sizes of named dimensions: --dim {min(self.nameless)}=1" if self.nameless else ""
        if sizes is None:
            raise WorkloadError(
                f"{call.where}: the shape of {name!r} is not known, and ONNX does not infer it{given}; expected a known one"
            )
        for size in sizes:
            if isinstance(size, str):
                raise WorkloadError(f"{call.where}: {name!r} has a dimension {size!r}; give its size: --dim {size}=1")
            if size is None:
                raise WorkloadError(
                    f"{call.where}: {name!r} has a dimension without a name or a size{given}; expected one of them"
                )
            if size < 1:
                raise WorkloadError(f"{call.where}: {name!r} has a dimension of size {size}; expected 1 or more")
        return sizes  # type: ignore[return-value]

    def _input_shape(self, call: Call, index: int, ranks: range = range(64)) -> list[int]:
        name = call.node.input[index] if index < len(call.node.input) else ""
        if not name:
            raise WorkloadError(f"{call.where} has no input {index}; expected a tensor")
        shape = self._shape(call, call.inputs[index], name)
        if len(shape) not in ranks:
            raise WorkloadError(
                f"{call.where}: {name!r} has {len(shape)} dimensions; expected {ranks[0]} to {ranks[-1]}"
                if len(ranks) > 1
                else f"{call.where}: {name!r} has {len(shape)} dimensions; expected {ranks[0]}"
            )
        return shape

    def _lower(self, call: Call, types: Sequence[TypeProto] = ()) -> tuple[list[Layer], list[TypeProto]]:
        if call.operator in operators.CONVOLUTIONS:
            return self._convolution(call, types)
        if call.operator in operators.ATTENTION:
            return self._attention(call)
        name = call.operator[1]
        if name in ("MatMulNBits", "MatMulBnb4"):
            return self._block_quantized(call)
        if name in ("Gemm", "FusedGemm", "GemmFastGelu", "QGemm"):
            return self._gemm(call)
        return self._matmul(call)

    def _convolution(self, call: Call, types: Sequence[TypeProto]) -> tuple[list[Layer], list[TypeProto]]:
        x, w = (0, 3) if call.operator[1] == "QLinearConv" else (0, 1)
        if call.operator[1] == "FusedConv":
            types = [_through(call, ONNX, "Conv", {"x": call.input(0), "w": call.input(1)})]
        given, kernel = self._input_shape(call, x), self._input_shape(call, w)
        axes = len(kernel) - 2
        if axes not in (1, 2, 3):
            raise WorkloadError(f"{call.where}: a convolution of {axes} axes; expected one, two or three")
        sizes = _sizes(types[0])
        if sizes is None or any(isinstance(size, int) and size < 1 for size in sizes):
            raise WorkloadError(
                f"{call.where}: its window {kernel[2:]} does not fit into {given[2:]}; expected one that fits"
            )
        result = self._shape(call, Value(types[0]), call.node.output[0])
        groups = call.integer("group", 1)
        constant = _constant(call.inputs[x], call.inputs[w])
        return [lowering.convolution(call.label, result, kernel, groups, constant)], list(types)

    def _gemm(self, call: Call) -> tuple[list[Layer], list[TypeProto]]:
        right = 3 if call.operator[1] == "QGemm" else 1
        a, b = (self._input_shape(call, i, range(2, 3)) for i in (0, right))
        if call.attributes.get("transA", 0):
            a.reverse()
        if call.attributes.get("transB", 0):
            b.reverse()
        return self._product(call, a, b, call.inputs[0], call.inputs[right])

    def _matmul(self, call: Call) -> tuple[list[Layer], list[TypeProto]]:
        right = 3 if call.operator[1] == "QLinearMatMul" else 1
        a, b = (self._input_shape(call, i, range(1, 64)) for i in (0, right))
        for side, shape in (("A", a), ("B", b)):  # of FusedMatMul
            if call.attributes.get("transBatch" + side, 0) and len(shape) > 2:
                shape[:-1] = [*shape[1:-1], shape[0]]
            if call.attributes.get("trans" + side, 0) and len(shape) > 1:
                shape[-2:] = shape[:-3:-1]
        return self._product(call, a, b, call.inputs[0], call.inputs[right])

    def _product(
        self, call: Call, a: list[int], b: list[int], left: Value | None, right: Value | None
    ) -> tuple[list[Layer], list[TypeProto]]:
        layer, sizes = lowering.product(call.label, call.where, a, b, _constant(left, right))
        return [layer], [_tensor(left, sizes)]

    def _block_quantized(self, call: Call) -> tuple[list[Layer], list[TypeProto]]:
        """A by weights that are packed in blocks, whose shape the attributes have."""
        k, n = call.integer("K"), call.integer("N")
        if call.operator[1] == "MatMulBnb4" and not call.attributes.get("transB", 1):
            k, n = n, k
        a = self._input_shape(call, 0, range(1, 64))
        if min(k, n) < 1:
            raise WorkloadError(f"{call.where}: K is {k} and N is {n}; expected 1 or more")
        return self._product(call, a, [k, n], call.inputs[0], Value(TypeProto(), True))

    def _attention(self, call: Call) -> tuple[list[Layer], list[TypeProto]]:
        """Scores and values of each head: two products of activations."""
        heads = {"Attention": ("q_num_heads", "kv_num_heads"), "GroupQueryAttention": ("num_heads", "kv_num_heads"),
                 "MultiHeadAttention": ("num_heads", "num_heads")}[call.operator[1]]  # fmt: skip
        packed = call.operator[1] == "GroupQueryAttention" and call.input(1) is None
        query = self._input_shape(call, 0, range(3, 5))
        if len(query) == 4 and call.operator[0] == MICROSOFT:
            raise WorkloadError(f"{call.where}: its query has 4 dimensions; those of 3 are lowered")
        if len(query) == 4:
            of_query, of_keys = query[1], self._input_shape(call, 1, range(4, 5))[1]
        else:
            of_query, of_keys = (call.integer(name) for name in heads)
        if min(of_query, of_keys) < 1:
            raise WorkloadError(f"{call.where}: {of_query} heads and {of_keys} of keys; expected 1 or more")

        def split(index: int, count: int) -> list[int]:
            """Heads, length and size of a head."""
            shape = self._input_shape(call, index, range(len(query), len(query) + 1))
            if len(shape) == 4:
                return shape
            if shape[2] % count:
                raise WorkloadError(
                    f"{call.where}: {shape[2]} features do not divide into {count} heads; expected a multiple"
                )
            return [shape[0], count, shape[1], shape[2] // count]

        if packed:  # queries, keys and values in one
            batch, _, length, size = split(0, of_query + 2 * of_keys)
            keys, of_value = length, size
        else:
            batch, _, length, size = split(0, of_query)
            keys, of_value = split(1, of_keys)[2], split(2, of_keys)[3]
        past = {"Attention": 4, "GroupQueryAttention": 3, "MultiHeadAttention": 6}[call.operator[1]]
        if call.input(past) is not None:
            keys += self._input_shape(call, past, range(4, 5))[2]
        if call.operator[1] == "GroupQueryAttention" and isinstance(total := _scalar(call.input(6)), int):
            keys = total
        whole = not packed and call.input(past) is None  # keys and values are inputs as they are
        of = (call.input(0), call.input(1), None, call.input(2)) if whole else (None,) * 4
        constant = _constant(*of[:2]), _constant(*of[2:])
        layers = lowering.attention(call.label, batch * of_query, (length, size), (keys, of_value), constant)
        first = call.inputs[0]
        result = [batch, of_query, length, of_value] if len(query) == 4 else [batch, length, of_query * of_value]
        caches = [_tensor(first, [batch, of_keys, keys, each]) for each in (size, of_value)]
        return layers, [_tensor(first, result), *caches]

    # -- functions and bodies

    def _function(self, function: Any, call: Call) -> tuple[list[Layer], list[Value]]:
        key = (function.domain, function.name, function.overload)
        if key in self.calls:
            raise WorkloadError(f"{call.where} calls itself; expected functions without recursion")
        given = {attribute.name: attribute for attribute in function.attribute_proto}
        given |= {attribute.name: attribute for attribute in call.node.attribute}
        opsets = {_domain(opset.domain): opset.version for opset in function.opset_import}
        absent = Value(TypeProto(), True)
        inputs = [*call.inputs, *[None] * (len(function.input) - len(call.inputs))]
        scope: Scope = ChainMap({name: value or absent for name, value in zip(function.input, inputs, strict=False)})
        self.calls.append(key)
        nodes = [_bind(node, given) for node in function.node]
        layers = self._nodes(nodes, scope, opsets, call.label + "/", {})
        self.calls.pop()
        return layers, [self._known(name, scope, call.where) for name in function.output]

    def _body(self, call: Call, graph: GraphProto, inputs: Sequence[Value], part: str = "") -> Any:
        if len(inputs) != len(graph.input):
            raise WorkloadError(
                f"{call.where}: its body has {len(graph.input)} inputs; expected {len(inputs)}, as many as are given"
            )
        scope = call.scope.new_child()
        for value, named in zip(inputs, graph.input, strict=True):
            scope[named.name] = Value(_merged(value.type, self._sized(named.type)), value.constant, value.data)
        return self._graph(graph, scope, call.opsets, f"{call.label}/{part}")

    def _if(self, call: Call) -> tuple[list[Layer], list[Value]]:
        condition = call.input(0)
        branches = {"then": call.graph("then_branch"), "else": call.graph("else_branch")}
        chosen = _scalar(condition)
        if chosen is not None:
            part = "then" if chosen else "else"
            layers, results = self._body(call, branches[part], [], part + "/")
            return layers, results
        (layers, results), (others, other_results) = (
            self._body(call, graph, [], part + "/") for part, graph in branches.items()
        )
        if _without_names(layers) != _without_names(others):
            raise WorkloadError(
                f"{call.where} multiplies in a branch, and which one runs is not known; expected a constant condition,"
                " or branches of the same products"
            )
        always = condition is not None and condition.constant
        merged = [
            Value(_common(a.type, b.type), always and a.constant and b.constant)
            for a, b in zip(results, other_results, strict=False)
        ]
        return layers, merged

    def _repeated(self, call: Call, layers: list[Layer], trips: int | None, why: str) -> list[Layer]:
        if layers and trips is None:
            raise WorkloadError(f"{call.where} multiplies in its body, and {why} is not known; expected a constant")
        return _times(layers, trips or 0) if trips else []

    def _carry(
        self, call: Call, graph: GraphProto, first: list[Value], states: list[Value], last: list[Value], skip: int
    ) -> tuple[list[Layer], list[Value], list[Value]]:
        """Layers of a body whose states go round, its results, and the states as they are in all rounds."""
        states = [Value(value.type, value.constant) for value in states]
        while True:
            layers, results = self._body(call, graph, [*first, *states, *last])
            after = results[skip : skip + len(states)]
            if len(after) != len(states):
                raise WorkloadError(f"{call.where}: its body gives {len(results)} results; expected its states first")
            merged = [
                Value(_common(a.type, b.type), a.constant and b.constant) for a, b in zip(states, after, strict=True)
            ]
            if merged == states:
                return layers, results, states
            states = merged

    def _loop(self, call: Call) -> tuple[list[Layer], list[Value]]:
        graph, limit, condition = call.graph("body"), call.input(0), call.input(1)
        states = [value or Value(TypeProto()) for value in call.inputs[2:]]
        begins = True if condition is None else _scalar(condition)
        controls = all(value is None or value.constant for value in (limit, condition))
        true = Value(helper.make_tensor_type_proto(TensorProto.BOOL, []), controls, helper.make_tensor("", 9, [], [1]))
        number = Value(helper.make_tensor_type_proto(TensorProto.INT64, []), True)
        layers, results, states = self._carry(call, graph, [number, true], states, [], 1)
        goes_on = _scalar(results[0])
        trips = _scalar(limit)
        if trips is not None:
            trips = max(int(trips), 0)
        if begins is False:
            trips = 0
        elif goes_on is False:
            trips = min(trips, 1) if trips is not None else 1 if limit is None and begins else None
        elif begins is None or goes_on is None:
            trips = None if trips != 0 else 0
        layers = self._repeated(call, layers, trips, "how often it runs")
        stacked = [Value(_stacked(value.type, trips, 0), controls and value.constant)
                   for value in results[1 + len(states) :]]  # fmt: skip
        return layers, [*(Value(v.type, controls and v.constant) for v in states), *stacked]

    def _scan(self, call: Call) -> tuple[list[Layer], list[Value]]:
        if call.opsets.get(ONNX, 9) < 9:
            raise WorkloadError(f"{call.where} is of opset 8; expected 9 or newer")
        graph, count = call.graph("body"), call.integer("num_scan_inputs")
        if not 0 < count <= len(call.inputs):
            raise WorkloadError(f"{call.where} scans {count} of {len(call.inputs)} inputs; expected at least one")
        values = [value or Value(TypeProto()) for value in call.inputs]
        states, scanned = values[:-count], values[-count:]
        axes = call.attributes.get("scan_input_axes", [0] * count)
        slices, trips = [], None
        for value, axis in zip(scanned, axes, strict=True):
            sizes = _sizes(value.type)
            if sizes is None:
                slices.append(Value(_tensor(value, None), value.constant))
                continue
            if not -len(sizes) <= axis < len(sizes):
                raise WorkloadError(f"{call.where} scans axis {axis} of {len(sizes)} dimensions; expected one of them")
            size = sizes.pop(axis)
            trips = size if isinstance(size, int) else trips
            slices.append(Value(_tensor(value, sizes), value.constant))
        layers, results, states = self._carry(call, graph, [], states, slices, 0)
        outer = call.attributes.get("scan_output_axes", [0] * (len(results) - len(states)))
        layers = self._repeated(call, layers, trips, "the length that it scans")
        stacked = [Value(_stacked(value.type, trips, axis), value.constant)
                   for value, axis in zip(results[len(states) :], outer, strict=False)]  # fmt: skip
        return layers, [*states, *stacked]

    def _sequencemap(self, call: Call) -> tuple[list[Layer], list[Value]]:
        def element(value: Value | None) -> Value:
            if value is None or not value.type.HasField("sequence_type"):
                return value or Value(TypeProto())
            return Value(value.type.sequence_type.elem_type, value.constant)

        layers, results = self._body(call, call.graph("body"), [element(value) for value in call.inputs])
        self._repeated(call, layers, None, "the length of its sequence")
        return [], [Value(helper.make_sequence_type_proto(value.type), value.constant) for value in results]


def _stacked(type_: TypeProto, count: int | None, axis: int) -> TypeProto:
    """The type of as many tensors, one beside the other along a new axis."""
    sizes = _sizes(type_)
    if not type_.HasField("tensor_type") or not type_.tensor_type.elem_type:
        return TypeProto()
    if sizes is not None:
        sizes.insert(axis if axis >= 0 else len(sizes) + 1 + axis, count)
    return helper.make_tensor_type_proto(type_.tensor_type.elem_type, sizes)


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def is_text(message: Any) -> bool:
    """Whether all texts of a message are UTF-8, which protobuf does not check."""
    for of, value in message.ListFields():
        if of.type == of.TYPE_MESSAGE:
            fits = all(is_text(each) for each in ([value] if hasattr(value, "ListFields") else value))
        elif of.type == of.TYPE_STRING:
            fits = all(isinstance(each, str) for each in ([value] if isinstance(value, str | bytes) else value))
        else:
            fits = True
        if not fits:
            return False
    return True


def load(path: str) -> ModelProto:
    """A model without its external data. Raises WorkloadError where the file is none."""
    try:
        model = onnx.load(path, load_external_data=False)
    except OSError as error:
        raise WorkloadError(
            f"{path} cannot be read as an ONNX model: {error.strerror or error}; expected a file"
        ) from error
    except Exception as error:  # protobuf's and onnx' own, of several kinds
        raise WorkloadError(
            f"{path} cannot be read as an ONNX model: {' '.join(str(error).split())}; expected a whole model"
        ) from error
    if not isinstance(model, ModelProto) or not model.HasField("graph") or not model.opset_import:
        raise WorkloadError(
            f"{path} cannot be read as an ONNX model: it has no graph, or no version of its operators; expected both"
        )
    return model
