# SPDX-License-Identifier: Apache-2.0
"""ONNX models as workloads: which operators are lowered, what is a weight, how often bodies run, and what is refused."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, defs, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.reference import ReferenceEvaluator
from onnx.reference.ops import op_matmul

from narrowgauge import workload
from narrowgauge.workload import onnx_operators as operators

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
node = helper.make_node
OPSETS = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("local", 1)]


def value(name: str, shape: list[int | str] | None, element: int = FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, element, shape)


def tensor(name: str, *shape: int) -> onnx.TensorProto:
    return numpy_helper.from_array(np.ones(shape, np.float32), name)


def integers(name: str, *values: int) -> onnx.TensorProto:
    return numpy_helper.from_array(np.array(values, np.int64), name)


def model(
    nodes: list[onnx.NodeProto],
    inputs: dict[str, list[int | str]],
    weights: list[onnx.TensorProto],
    results: list[str],
    functions: list[onnx.FunctionProto] | None = None,
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes, "g", [value(n, s) for n, s in inputs.items()], [value(n, None) for n in results], weights
    )
    return helper.make_model(graph, opset_imports=OPSETS, functions=functions or [], ir_version=10)


def layers(of: onnx.ModelProto) -> list[dict[str, Any]]:
    return workload.from_onnx(of)["layers"]


def macs(of: list[dict[str, Any]]) -> int:
    return sum(math.prod(layer.get(key, 1) for key in ("m", "n", "k", "batch", "count")) for layer in of)


# ---- which operators


def test_every_operator_of_onnx_is_in_one_list() -> None:
    """An operator that a new version of onnx brings is in none, fails this test, and is refused until it is listed."""
    lists = [operators.LOWERED, operators.REFUSED, *operators.HARMLESS.values()]
    schemas = {(schema.domain, schema.name) for schema in defs.get_all_schemas()}
    assert {op: n for op in schemas if (n := sum(op in one for one in lists)) != 1} == {}
    listed = [op for one in lists for op in one]
    assert len(listed) == len(set(listed))
    runtime = {op for op in listed if op[0] == operators.MICROSOFT} | {("", "SimplifiedLayerNormalization")}
    assert set(listed) - schemas == runtime


@pytest.mark.parametrize(
    "operator",
    sorted(
        {(s.domain, s.name) for s in defs.get_all_schemas()} - operators.LOWERED - operators.ALL_HARMLESS
        | {("", "BrandNew"), ("some.where", "MatMul"), ("com.microsoft", "QAttention"), ("com.microsoft", "MoE")}
    ),
)
def test_what_is_in_no_list_is_refused_by_name(operator: tuple[str, str]) -> None:
    domain, name = operator
    nodes = [node("MatMul", ["x", "w"], ["y"]), node(name, ["y"], ["z"], "late", domain=domain)]
    with pytest.raises(workload.WorkloadError, match=rf"node late \(.*{name}\).* not lowered"):
        layers(model(nodes, {"x": [4, 8]}, [tensor("w", 8, 8)], ["z"]))


def test_the_program_names_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        workload.main(["--operators"])
    names = [name for line in capsys.readouterr().out.splitlines() for name in line.split(": ")[1].split()]
    every = operators.LOWERED | operators.ALL_HARMLESS | operators.REFUSED
    assert sorted(names) == sorted(map(operators.qualified, every))


def test_models_of_every_operator() -> None:
    """The onnx package's own models: sentences and layers only; attention as in the function that defines it."""
    cases = {case.name: case.model for case in collect_testcases(None)}
    assert len(cases) > 1500
    found: dict[str, int] = {}
    refused: dict[str, str] = {}
    for name, each in cases.items():
        try:
            found[name] = macs(layers(each))
        except workload.WorkloadError as error:
            refused[name] = str(error)
    known = [f"({operators.qualified(op)})" for op in operators.REFUSED | operators.LOWERED]
    known.append("neither a convolution")
    assert {name: text for name, text in refused.items() if not any(words in text for words in known)} == {}
    pairs = [name for name in found if name.startswith("test_attention") and name + "_expanded" in found]
    assert len(pairs) > 40
    assert [name for name in pairs if found[name] != found[name + "_expanded"]] == []


# ---- what is a weight


STEPS = ["cast", "reshape", "mul", "where", "gather", "concat", "slice", "pad", "transpose", "dequantize", "quantize",
         "squeeze", "expand", "split", "softmax", "if", "function"]  # fmt: skip


class Chain:
    """Nodes that make a matrix of the right size of something, one random operator behind the other."""

    def __init__(self, seed: int, name: str, shape: list[int]) -> None:
        self.draw = random.Random(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.name, self.shape, self.number = name, shape, 0

    def constant(self, array: np.ndarray[Any, Any]) -> str:
        """A constant as initializer, node or, where it is uniform, by its shape."""
        self.number += 1
        name = f"{self.name}_c{self.number}"
        kind = self.draw.randrange(3)
        proto = numpy_helper.from_array(array, name)
        if kind == 0:
            self.weights.append(proto)
        elif kind == 1 or array.dtype != np.float32:
            self.nodes.append(node("Constant", [], [name], value=proto))
        else:
            size = self.constant(np.array(array.shape, np.int64))
            self.nodes.append(
                node("ConstantOfShape", [size], [name], value=numpy_helper.from_array(array.reshape(-1)[:1]))
            )
        return name

    def add(self, name: str, inputs: list[str], results: int = 1, **attributes: Any) -> str:
        self.number += 1
        out = f"{self.name}_{self.number}"
        self.nodes.append(node(name, inputs, [out, *(f"{out}_{i}" for i in range(1, results))], **attributes))
        return out

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def floats(self, *shape: int) -> str:
        return self.constant(np.ones(shape, np.float32))

    def step(self, x: str) -> str:
        shape, draw = self.shape, self.draw
        axis = draw.randrange(len(shape))
        choice = draw.choice(STEPS)
        if choice == "cast":
            return self.add("Cast", [self.add("Cast", [x], to=TensorProto.FLOAT16)], to=FLOAT)
        if choice == "reshape":
            self.shape = [math.prod(shape[:axis]), -1, *shape[axis + 1 :]]
            out = self.add("Reshape", [x, self.ints(*self.shape)])
            self.shape[1] = shape[axis]
            return out
        if choice == "mul":
            return self.add(draw.choice(["Mul", "Add", "Div"]), [self.floats(shape[-1]), x])
        if choice == "where":
            mask = self.constant(np.ones([1] * len(shape), bool))
            return self.add("Where", [mask, x, self.floats(1)])
        if choice == "gather":
            self.shape = [*shape[:axis], 2, 3, *shape[axis + 1 :]]
            return self.add("Gather", [x, self.constant(np.zeros((2, 3), np.int32))], axis=axis)
        if choice == "concat":
            self.shape = [size + 2 * (i == axis) for i, size in enumerate(shape)]
            return self.add(
                "Concat", [x, self.floats(*(2 if i == axis else s for i, s in enumerate(shape)))], axis=axis
            )
        if choice == "slice":
            self.shape = [1 if i == axis else size for i, size in enumerate(shape)]
            return self.add("Slice", [x, self.ints(0), self.ints(1), self.ints(axis)])
        if choice == "pad":
            self.shape = [size + 2 for size in shape]
            return self.add("Pad", [x, self.ints(*[1] * 2 * len(shape))])
        if choice == "transpose":
            order = draw.sample(range(len(shape)), len(shape))
            self.shape = [shape[i] for i in order]
            return self.add("Transpose", [x], perm=order)
        if choice == "dequantize":
            q = self.add("QuantizeLinear", [x, self.constant(np.float32(2))], output_dtype=TensorProto.INT8)
            return self.add("DequantizeLinear", [q, self.floats(shape[axis])], axis=axis)
        if choice == "quantize":
            q = self.add("DynamicQuantizeLinear", [x], 3)
            return self.add("DequantizeLinear", [q, q + "_1", q + "_2"])
        if choice == "squeeze":
            return self.add("Squeeze", [self.add("Unsqueeze", [x, self.ints(axis)]), self.ints(axis)])
        if choice == "expand":
            self.shape = [2, *shape]
            if draw.randrange(2):
                return self.add("Expand", [x, self.ints(*self.shape)])
            two = self.add("Concat", [self.ints(2), self.add("Shape", [x])], axis=0)
            return self.add("Expand", [x, two])
        if choice == "split":
            self.shape = [1 if i == axis else size for i, size in enumerate(shape)]
            return self.add("Split", [x, self.ints(*[1] * shape[axis])], shape[axis], axis=axis)
        if choice == "if":
            body = [helper.make_graph([node(op, [x], ["r"])], op, [], [value("r", None)]) for op in ("Relu", "Exp")]
            return self.add(
                "If", [self.constant(np.array(draw.random() < 0.5))], then_branch=body[0], else_branch=body[1]
            )
        return self.add("Twice" if choice == "function" else "Softmax", [x],
                        **({"domain": "local", "to": FLOAT} if choice == "function" else {}))  # fmt: skip

    def matrix(self, x: str, *wanted: int, steps: int) -> str:
        for _ in range(steps):
            x = self.step(x)
        flat = self.add("Reshape", [x, self.ints(-1)])
        repeated = self.add("Tile", [flat, self.ints(math.prod(wanted) // math.prod(self.shape) + 1)])
        cut = self.add("Slice", [repeated, self.ints(0), self.ints(math.prod(wanted))])
        return self.add("Reshape", [cut, self.ints(*wanted)])


def twice() -> list[onnx.FunctionProto]:
    """Functions that call each other, with attributes."""
    cast = node("Cast", ["x"], ["y"])
    reference = cast.attribute.add()
    reference.name, reference.ref_attr_name, reference.type = "to", "to", onnx.AttributeProto.INT
    once = helper.make_function("local", "Once", ["x"], ["y"], [cast], OPSETS[:1], ["to"])
    calls = [node("Once", ["x"], ["t"], domain="local"), node("Once", ["t"], ["y"], domain="local")]
    for call in calls:
        call.attribute.append(reference)
    both = helper.make_function("local", "Twice", ["x"], ["y"], calls, [helper.make_opsetid("local", 1)], ["to"])
    return [once, both]


@pytest.mark.parametrize("seed", range(200))
def test_what_depends_on_constants_alone_is_a_weight(seed: int) -> None:
    """Random chains; as left and as right operand; and the same behind an activation, which is none."""
    draw = random.Random(1000 + seed)
    m, n, k = (draw.randint(1, 9) for _ in range(3))
    operation = draw.choice(["right", "left", "gemm", "gemm left", "conv", "batched"])
    wanted = {
        "right": [k, n],
        "left": [n, k],
        "gemm": [n, k],
        "gemm left": [k, n],
        "conv": [n, k, 1],
        "batched": [1, k, n],
    }
    start = [draw.randint(1, 4) for _ in range(draw.randint(1, 3))]
    steps = draw.randint(0, 7)

    def built(constant: bool) -> onnx.ModelProto:
        chain = Chain(seed, "w", list(start))
        first = chain.floats(*start) if constant else "z"
        w = chain.matrix(first, *wanted[operation], steps=steps)
        product, x = {
            "right": (node("MatMul", ["x", w], ["y"]), [m, k]),
            "left": (node("MatMul", [w, "x"], ["y"]), [k, m]),
            "gemm": (node("Gemm", ["x", w], ["y"], transA=1, transB=1), [k, m]),
            "gemm left": (node("Gemm", [w, "x"], ["y"], transA=1, transB=1), [m, k]),
            "conv": (node("Conv", ["x", w], ["y"]), [1, k, m]),
            "batched": (node("MatMul", ["x", w], ["y"]), [3, m, k]),
        }[operation]
        product.name = "product"
        inputs: dict[str, list[int | str]] = {"x": [*x]} | ({} if constant else {"z": [*start]})
        return model([*chain.nodes, product], inputs, chain.weights, ["y"], twice())

    expected = {"op": "gemm", "name": "product", "m": m * (3 if operation == "batched" else 1), "n": n, "k": k}
    assert layers(built(True)) == [expected]
    ReferenceEvaluator(built(True))  # it is a model
    [layer] = layers(built(False))
    if operation in ("left", "gemm left"):
        expected |= {"m": n, "n": m}
    assert layer == expected | {"weights": False}


@pytest.mark.parametrize("operator", sorted(operators.RANDOM))
def test_random_numbers_are_no_weights(operator: tuple[str, str]) -> None:
    name = operator[1]
    inputs = [] if name in ("RandomNormal", "RandomUniform") else ["w"]
    attributes = (
        {"shape": [6, 7]} if not inputs else {"sample_size": 7, "dtype": INT64} if name == "Multinomial" else {}
    )
    nodes = [
        node(name, inputs, ["r"], **attributes),
        node("Cast", ["r"], ["v"], to=FLOAT),
        node("MatMul", ["x", "v"], ["y"]),
    ]
    [layer] = layers(model(nodes, {"x": [5, 6]}, [tensor("w", 6, 7)], ["y"]))
    assert (layer["n"], layer["weights"]) == (7, False)


def test_products_of_constants_alone_are_no_layers() -> None:
    nodes = [node("MatMul", ["a", "b"], ["w"]), node("MatMul", ["x", "w"], ["y"])]
    found = workload.from_onnx(model(nodes, {"x": [2, 3]}, [tensor("a", 3, 4), tensor("b", 4, 5)], ["y"]))
    assert found["layers"] == [{"op": "gemm", "name": "MatMul_1", "m": 2, "n": 5, "k": 3}]
    assert "1 products of constants alone are left out" in found["what"]


# ---- how often


class Program:
    """Nodes that take and give a matrix of 4 x 4, in random functions, branches and loops."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.number = 0
        self.functions: list[onnx.FunctionProto] = []

    def name(self) -> str:
        self.number += 1
        return f"v{self.number}"

    def nodes(self, x: str, depth: int) -> tuple[list[onnx.NodeProto], str]:
        made: list[onnx.NodeProto] = []
        for _ in range(self.draw.randint(1, 3)):
            added, x = self.one(x, depth)
            made += added
        return made, x

    def graph(self, x: str, depth: int, inputs: list[str], before: list[str], after: list[str]) -> onnx.GraphProto:
        nodes, y = self.nodes(x, depth)
        y, nodes = (lambda out: (out, [*nodes, node("Identity", [y], [out])]))(self.name())
        types = {name: value(name, [] if name[0] != "v" else [4, 4], {"i": INT64, "c": TensorProto.BOOL}.get(name[0], FLOAT))
                 for name in [*inputs, *before]}  # fmt: skip
        extra = [node("Identity", [inputs[1]], [before[0]])] if before else []
        results = [types[name] for name in before] + [value(y, [4, 4])] + [value(name, [4, 4]) for name in after]
        return helper.make_graph([*extra, *nodes, *(node("Identity", [y], [name]) for name in after)], self.name(),
                                 [types[name] for name in inputs], results)  # fmt: skip

    def one(self, x: str, depth: int) -> tuple[list[onnx.NodeProto], str]:
        out, draw = self.name(), self.draw
        kind = draw.choice(["product", "relu"] + ["if", "loop", "scan", "function"] * (depth > 0))
        if kind in ("product", "relu"):
            return [node("Relu", [x], [out]) if kind == "relu" else node("MatMul", [x, x], [out])], out
        if kind == "function":
            inner, y = self.nodes("x", depth - 1)
            name = self.name()
            imports = [helper.make_opsetid("", draw.choice([17, 21])), helper.make_opsetid("local", 1)]
            self.functions.append(helper.make_function("local", name, ["x"], [y], inner, imports))
            return [node(name, [x], [out], domain="local")], out
        constants = [self.name() for _ in range(2)]
        truth = numpy_helper.from_array(np.array(draw.random() < 0.8))
        made = [node("Constant", [], [constants[0]], value=truth)]
        if kind == "if":
            then, other = (self.graph(x, depth - 1, [], [], []) for _ in range(2))
            return [*made, node("If", constants[:1], [out], then_branch=then, else_branch=other)], out
        if kind == "loop":
            made.append(
                node("Constant", [], [constants[1]], value=numpy_helper.from_array(np.array(draw.randint(0, 3))))
            )
            state, number, go, on = self.name(), "i" + self.name(), "c" + self.name(), "c" + self.name()
            body = self.graph(state, depth - 1, [number, go, state], [on], [])
            return [*made, node("Loop", [constants[1], constants[0], x], [out], body=body)], out
        rows, state, each = self.name(), self.name(), self.name()
        body = self.graph(state, depth - 1, [state, each], [], [self.name()])
        body.input[1].type.tensor_type.shape.dim.pop()
        return [node("Scan", [x, x], [out, rows], body=body, num_scan_inputs=1)], out


@pytest.mark.parametrize("seed", range(150))
def test_products_are_those_that_run(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Random nests of functions, branches, loops and scans against what the reference executes."""
    program = Program(seed)
    nodes, y = program.nodes("x", 3)
    nodes.append(node("MatMul", [y, "x"], ["last"]))
    made = model(nodes, {"x": [4, 4]}, [], ["last"], program.functions)
    executed = []

    def run(_: Any, a: Any, b: Any) -> tuple[Any]:
        executed.append(a.shape[-1] * np.matmul(a, b).size)
        return (np.matmul(a, b),)

    monkeypatch.setattr(op_matmul.MatMul, "_run", run)
    ReferenceEvaluator(made).run(None, {"x": np.zeros((4, 4), np.float32)})
    assert macs(layers(made)) == sum(executed)


def body_of(kind: str, operation: str = "MatMul") -> onnx.ModelProto:
    inner = node(operation, ["s", "s"], ["t"], "inner")
    state = value("s", [4, 4])
    if kind == "If":
        branches = [
            helper.make_graph([node(op, ["x", "x"], ["t"])], "b", [], [value("t", [4, 4])]) for op in (operation, "Add")
        ]
        nodes = [node("If", ["c"], ["y"], "outer", then_branch=branches[0], else_branch=branches[1])]
    elif kind == "Loop":
        inputs = [value("i", [], INT64), value("k", [], TensorProto.BOOL), state]
        results = [value("k2", [], TensorProto.BOOL), value("t", [4, 4])]
        body = helper.make_graph([inner, node("Identity", ["k"], ["k2"])], "b", inputs, results)
        nodes = [node("Loop", ["n", "c"] + ["x"], ["y"], "outer", body=body)]
    elif kind == "Scan":
        body = helper.make_graph([inner], "b", [value("s", [4, 4])], [value("t", [4, 4])])
        nodes = [node("Scan", ["u"], ["y"], "outer", body=body, num_scan_inputs=1)]
    else:
        body = helper.make_graph([inner], "b", [value("s", [4, 4])], [value("t", [4, 4])])
        nodes = [
            node("SplitToSequence", ["u"], ["q"], keepdims=0),
            node("SequenceMap", ["q"], ["y"], "outer", body=body),
        ]
    made = model(
        [node("MatMul", ["x", "x"], ["first"]), *nodes], {"x": [4, 4], "u": ["long", 4, 4]}, [], ["y", "first"]
    )
    made.graph.input.extend([value("c", [], TensorProto.BOOL), value("n", [], INT64)])
    return made


@pytest.mark.parametrize("kind", ["If", "Loop", "Scan", "SequenceMap"])
def test_bodies_of_unknown_counts(kind: str) -> None:
    """What multiplies there is refused, never left out; what does not is harmless."""
    with pytest.raises(workload.WorkloadError, match=rf"node outer \({kind}\) multiplies in .* not known"):
        layers(body_of(kind))
    assert len(layers(body_of(kind, "Add"))) == 1


def test_weights_of_bodies() -> None:
    """What a body makes is a weight only if it is one in every round and under every condition."""
    state = value("s", [4, 4])
    inputs, go = [value("i", [], INT64), value("k", [], TensorProto.BOOL), state], value("k", [], TensorProto.BOOL)
    nodes = [node("Constant", [], ["two"], value=numpy_helper.from_array(np.array(2)))]
    for name, other in (("fixed", "w"), ("moving", "x")):
        inner = [node("Add", ["s", other], ["t"]), node("MatMul", ["x", "s"], ["o"], name)]
        body = helper.make_graph(inner, "b", inputs, [go, value("t", [4, 4]), value("o", [4, 4])])
        nodes.append(node("Loop", ["two", "", "w"], [name, name + "o"], body=body))
    branches = [helper.make_graph([node("Identity", [n], ["t"])], "b", [], [value("t", [4, 4])]) for n in ("w", "w")]
    nodes.append(node("If", ["c"], ["chosen"], then_branch=branches[0], else_branch=branches[1]))
    nodes += [node("MatMul", ["x", name], [name + "p"], name + "p") for name in ("fixed", "moving", "chosen")]
    made = model(nodes, {"x": [4, 4]}, [tensor("w", 4, 4)], ["fixedp"])
    made.graph.input.append(value("c", [], TensorProto.BOOL))
    weights = {layer["name"].split("/")[-1]: layer.get("weights", True) for layer in layers(made)}
    assert weights == {"fixed": True, "moving": False, "fixedp": True, "movingp": False, "chosenp": False}


# ---- operators of ONNX Runtime


@pytest.mark.parametrize("seed", range(40))
def test_fused_products_transpose(seed: int) -> None:
    draw = random.Random(seed)
    m, n, k, *outer = (draw.randint(1, 6) for _ in range(3 + draw.choice([0, 1, 2])))
    batch = bool(outer) and draw.random() < 0.5
    attributes, shapes = {"alpha": 0.5}, {}
    for side, shape in (("A", [*outer, m, k]), ("B", [*outer, k, n])):
        attributes["trans" + side] = draw.randrange(2)
        attributes["transBatch" + side] = int(batch)
        array = np.empty(shape)
        if attributes["trans" + side]:
            array = array.swapaxes(-1, -2)
        shapes[side] = list((np.moveaxis(array, -2, 0) if batch else array).shape)
    made = model([node("FusedMatMul", ["a", "b"], ["y"], domain="com.microsoft", **attributes),
                  node("MatMul", ["y", "w"], ["z"])],
                 {"a": shapes["A"], "b": shapes["B"]}, [tensor("w", n, 2)], ["z"])  # fmt: skip
    first, second = layers(made)
    assert macs([first]) == m * n * k * math.prod(outer)
    assert first["weights"] is False
    assert (first["m"] * first["n"], second["m"], second["k"]) == (m * n, m * math.prod(outer), n)


def decoder(bits: int) -> onnx.ModelProto:
    """A layer of a language model as ONNX Runtime's tools write it."""
    microsoft = {"domain": "com.microsoft"}

    def product(name: str, x: str, k: int, n: int) -> onnx.NodeProto:
        blob = 32 * bits // 8
        for suffix, array in (
            (".b", np.zeros((n, k // 32, blob), np.uint8)),
            (".s", np.zeros((n * k // 32), np.float32)),
        ):
            weights.append(numpy_helper.from_array(array, name + suffix))
        return node(
            "MatMulNBits", [x, name + ".b", name + ".s"], [name], name, K=k, N=n, bits=bits, block_size=32, **microsoft
        )

    weights = [
        numpy_helper.from_array(np.zeros((50, 64 * bits // 8), np.uint8), "table"),
        *(tensor(name, 64) for name in ("g1", "g2")),
        tensor("ts", 50, 2),
        tensor("cos", 16, 8),
    ]
    skip = {"epsilon": 1e-5, **microsoft}
    nodes = [
        node("GatherBlockQuantized", ["table", "ids", "ts"], ["e"], bits=bits, block_size=32, quantize_axis=1, **microsoft),
        node("SimplifiedLayerNormalization", ["e", "g1"], ["h"], axis=-1),
        product("qkv", "h", 64, 128),
        node("GroupQueryAttention", ["qkv", "", "", "pk", "pv", "lens", "total", "cos", "cos"], ["o", "nk", "nv"],
             "attention", num_heads=4, kv_num_heads=2, do_rotary=1, **microsoft),
        product("out", "o", 64, 64),
        node("SkipSimplifiedLayerNormalization", ["e", "out", "g2"], ["h2", "", "", "sum"], **skip),
        product("up", "h2", 64, 96),
        node("QuickGelu", ["up"], ["u"], **microsoft),
        product("down", "u", 96, 64),
        node("Add", ["sum", "down"], ["r"]),
        product("head", "r", 64, 50),
    ]  # fmt: skip
    made = model(nodes, {"pk": ["b", 2, "past", 16], "pv": ["b", 2, "past", 16]}, weights, ["head"])
    made.graph.input.extend(
        [
            value("ids", ["b", "s"], INT64),
            value("lens", ["b"], TensorProto.INT32),
            value("total", [], TensorProto.INT32),
        ]
    )
    return made


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_language_models_of_few_bits(bits: int) -> None:
    found = workload.from_onnx(decoder(bits), {"b": 3, "s": 5, "past": 7})["layers"]
    rows = 15
    expected = [("qkv", rows, 128, 64, 1), ("attention/scores", 5, 12, 16, 12), ("attention/values", 5, 16, 12, 12),
                ("out", rows, 64, 64, 1), ("up", rows, 96, 64, 1), ("down", rows, 64, 96, 1), ("head", rows, 50, 64, 1)]  # fmt: skip
    assert [(la["name"], la["m"], la["n"], la["k"], la.get("batch", 1)) for la in found] == expected
    assert [la["name"] for la in found if not la.get("weights", True)] == ["attention/scores", "attention/values"]
    with pytest.raises(workload.WorkloadError, match="--dim"):
        workload.from_onnx(decoder(bits), {"b": 3})


@pytest.mark.parametrize(
    ("name", "inputs", "attributes"),
    [
        ("MatMulBnb4", ["x", "q", "s"], {"K": 8, "N": 6, "block_size": 16, "quant_type": 1}),
        ("FusedGemm", ["x", "w"], {"activation": "Relu"}),
        ("GemmFastGelu", ["x", "w"], {}),
        ("DynamicQuantizeMatMul", ["x", "w", "s"], {}),
        ("MatMulIntegerToFloat", ["x", "w", "s", "s"], {}),
        ("MatMulInteger16", ["x", "w"], {}),
        ("TransposeMatMul", ["x", "w"], {}),
        ("QGemm", ["x", "s", "z", "w", "s", "z"], {}),
    ],
)
def test_other_fused_products(name: str, inputs: list[str], attributes: dict[str, Any]) -> None:
    nodes = [node(name, inputs, ["y"], "p", domain="com.microsoft", **attributes), node("MatMul", ["y", "v"], ["z"])]
    weights = [tensor("w", 8, 6), tensor("v", 6, 3), tensor("q", 24), tensor("s"), tensor("z")]
    assert layers(model(nodes, {"x": [5, 8]}, weights, ["z"])) == [
        {"op": "gemm", "name": "p", "m": 5, "n": 6, "k": 8},
        {"op": "gemm", "name": "MatMul_1", "m": 5, "n": 3, "k": 6},
    ]


# ---- what is wrong


def broken(change: Callable[[onnx.ModelProto], None]) -> onnx.ModelProto:
    made = model([node("Relu", ["x"], ["r"], "first"), node("MatMul", ["r", "w"], ["y"], "second")], {"x": [4, 8]},
                 [tensor("w", 8, 3)], ["y"])  # fmt: skip
    change(made)
    return made


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m.graph.initializer.__getitem__(0).dims.__setitem__(0, 9), ["second", "MatMul", "Incompatible"]),
        (lambda m: m.graph.node[0].input.__setitem__(0, "nothing"), ["first", "'nothing'", "earlier node"]),
        (lambda m: m.graph.node[1].input.append("w"), ["second", "MatMul"]),
        (lambda m: m.opset_import.__delitem__(slice(0, 3)), ["first", "opset", "'ai.onnx'"]),
        (lambda m: setattr(m.graph.node[1], "op_type", "Conv"), ["second", "Conv"]),
        (lambda m: setattr(m.graph.node[1], "op_type", "Loop"), ["second", "Loop", "body"]),
        (lambda m: m.graph.output[0].CopyFrom(value("lost", None)), ["'lost'", "earlier node"]),
        (
            lambda m: (
                setattr(m.graph.node[0], "domain", "local"),
                m.functions.append(
                    helper.make_function(
                        "local", "Relu", ["x"], ["y"], [node("Relu", ["x"], ["y"], domain="local")], OPSETS
                    )
                ),
            ),
            ["calls itself"],
        ),
    ],
)
def test_wrong_models_are_a_sentence(change: Callable[[onnx.ModelProto], None], words: list[str]) -> None:
    assert len(layers(broken(lambda m: None))) == 1
    with pytest.raises(workload.WorkloadError) as caught:
        layers(broken(change))
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)


def test_wrong_files_are_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cut off at each length, with each byte changed, and what is no model at all."""
    whole = broken(lambda m: None).SerializeToString()
    file = tmp_path / "wrong.onnx"
    draw = random.Random(0)
    contents = [whole[:length] for length in range(len(whole))]
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << draw.randrange(8)
        contents.append(bytes(changed))
    read, sentences = 0, []
    for content in [*contents, b"{}", b"\x93NUMPY", b"<html></html>", bytes(64)]:
        file.write_bytes(content)
        try:
            read += bool(workload.from_onnx(file)["layers"])
        except workload.WorkloadError as error:
            sentences.append(str(error))
    assert 0 < read < len(contents) // 2
    assert [text for text in sentences if "\n" in text] == []
    for path in (file, tmp_path, tmp_path / "none.onnx"):
        assert workload.main([str(path)]) == 2
        assert f"{path} cannot be read as an ONNX model: " in capsys.readouterr().err
    good = tmp_path / "good.onnx"
    onnx.save(broken(lambda m: None), good)
    assert workload.main([str(good), "-o", str(tmp_path / "no" / "where.json")]) == 2
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.parametrize(
    "dims", [{"batch": 0}, {"batch": "1"}, {"batch": True}, {1: 1}, [("batch", 1)], {"batch": 1.5}]
)
def test_wrong_dims(dims: Any) -> None:
    with pytest.raises(workload.WorkloadError, match=r"dims .*; expected"):
        workload.from_onnx(broken(lambda m: None), dims)


def test_what_is_no_model() -> None:
    with pytest.raises(workload.WorkloadError, match="model is 5; expected"):
        workload.from_onnx(5)
