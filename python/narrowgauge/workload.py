# SPDX-License-Identifier: Apache-2.0
"""The workload of an ONNX model: its convolutions and matrix products as `narrowgauge explore` reads them.

    python -m narrowgauge.workload model.onnx -o model.json
    python -m narrowgauge.workload model.onnx --dim batch=8 --dim seq=128

Shapes come from the model and ONNX' own shape inference. Weights are not loaded: files of external data need not be there.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

#: Operators that multiply matrices: which inputs are the operands.
CONVOLUTIONS = {"Conv": (0, 1), "ConvInteger": (0, 1), "QLinearConv": (0, 3)}
PRODUCTS = {"Gemm": (0, 1), "MatMul": (0, 1), "MatMulInteger": (0, 1), "QLinearMatMul": (0, 3)}
#: Operators that multiply, too, and are not lowered.
REFUSED = {"ConvTranspose", "DeformConv", "Einsum", "LSTM", "GRU", "RNN", "Attention", "If", "Loop", "Scan"}

Layer = dict[str, Any]


class WorkloadError(ValueError):
    """A model that cannot be turned into a workload: a sentence that says why."""


class _Graph:
    """Shapes and constants of a graph by name."""

    def __init__(self, graph: Any, dims: Mapping[str, int]) -> None:
        self.dims = dict(dims)
        self.constants = {tensor.name for tensor in graph.initializer}
        self.shapes: dict[str, list[int | str]] = {t.name: list(t.dims) for t in graph.initializer}
        for value in [*graph.input, *graph.value_info, *graph.output]:
            tensor = value.type.tensor_type
            if tensor.HasField("shape") and value.name not in self.shapes:
                self.shapes[value.name] = [
                    d.dim_value if d.HasField("dim_value") else d.dim_param for d in tensor.shape.dim
                ]
        for node in graph.node:
            if node.op_type in ("Constant", "DequantizeLinear", "QuantizeLinear", "Identity", "Transpose") and all(
                name in self.constants for name in node.input
            ):
                self.constants.update(node.output)

    def shape(self, name: str, where: str) -> list[int]:
        if name not in self.shapes:
            raise WorkloadError(f"{where}: the shape of {name!r} is not known, and ONNX does not infer it")
        sizes = []
        for size in self.shapes[name]:
            value = self.dims.get(size) if isinstance(size, str) else size
            if value is None or value < 1:
                what = repr(size) if size else "without a name"
                raise WorkloadError(
                    f"{where}: {name!r} has a dimension {what}; give its size: --dim {size or 'NAME'}=1"
                )
            sizes.append(value)
        return sizes


def _attributes(node: Any) -> dict[str, Any]:
    from onnx.helper import get_attribute_value

    return {attribute.name: get_attribute_value(attribute) for attribute in node.attribute}


def _convolution(node: Any, graph: _Graph, where: str) -> Layer:
    x, w = (graph.shape(node.input[i], where) for i in CONVOLUTIONS[node.op_type])
    at = _attributes(node)
    axes = len(w) - 2
    if axes not in (1, 2):
        raise WorkloadError(f"{where}: a convolution of {axes} axes; those of one and two are lowered")
    kernel, strides = w[2:], list(at.get("strides", [1] * axes))
    dilations, pads = list(at.get("dilations", [1] * axes)), list(at.get("pads", [0] * 2 * axes))
    groups = at.get("group", 1)
    auto = at.get("auto_pad", b"NOTSET").decode()
    sizes = []
    for i in range(axes):
        span = dilations[i] * (kernel[i] - 1) + 1
        if auto in ("SAME_UPPER", "SAME_LOWER"):
            sizes.append(math.ceil(x[2 + i] / strides[i]))
            continue
        padding = 0 if auto == "VALID" else pads[i] + pads[axes + i]
        sizes.append((x[2 + i] + padding - span) // strides[i] + 1)
    if min(sizes) < 1:
        raise WorkloadError(f"{where}: its window {kernel} does not fit into {x[2:]}")
    # As the products that it is: padding may differ from side to side, which a conv layer of a workload cannot say.
    layer = {"op": "gemm", "m": x[0] * math.prod(sizes), "n": w[0] // groups, "k": w[1] * math.prod(kernel)}
    return layer | ({"count": groups} if groups != 1 else {})


def _product(node: Any, graph: _Graph, where: str) -> Layer:
    names = [node.input[i] for i in PRODUCTS[node.op_type]]
    a, b = (graph.shape(name, where) for name in names)
    weights = names[1] in graph.constants
    if node.op_type == "Gemm":
        at = _attributes(node)
        m, k = (a[1], a[0]) if at.get("transA", 0) else (a[0], a[1])
        n = b[0] if at.get("transB", 0) else b[1]
        return {"op": "gemm", "m": m, "n": n, "k": k} | ({} if weights else {"weights": False})
    a, b = [1] * (len(a) == 1) + a, b + [1] * (len(b) == 1)
    m, k, n = a[-2], a[-1], b[-1]
    if len(b) == 2:  # one B for all
        layer = {"op": "gemm", "m": m * math.prod(a[:-2]), "n": n, "k": k}
    else:
        outer = [max(x, y) for x, y in zip(*(([1] * 8 + s[:-2])[-8:] for s in (a, b)), strict=True)]
        layer = {"op": "gemm", "m": m, "n": n, "k": k} | ({"batch": math.prod(outer)} if math.prod(outer) != 1 else {})
    return layer | ({} if weights else {"weights": False})


def from_onnx(model: str | Path | Any, dims: Mapping[str, int] | None = None) -> dict[str, Any]:
    """The workload of an ONNX model: a file, or an onnx.ModelProto.

    dims: sizes of the model's named dimensions, as {"batch": 1}. Layers without multiplications are left out. Raises
    WorkloadError where a shape is not known or an operator cannot be lowered, ImportError without the onnx package.
    """
    try:
        import onnx
    except ImportError as error:
        raise ImportError(
            "reading an ONNX model takes the onnx package: pip install onnx, or pip install 'narrowgauge[onnx]'"
        ) from error
    name = "model"
    if isinstance(model, str | Path):
        name = Path(model).stem
        try:
            model = onnx.load(str(model), load_external_data=False)
        except Exception as error:  # protobuf's and onnx' own, of several kinds
            raise WorkloadError(f"{model} cannot be read as an ONNX model: {error}") from error
    graph = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    known = _Graph(graph, dims or {})
    layers: list[Layer] = []
    for index, node in enumerate(graph.node):
        label = node.name or f"{node.op_type}_{index}"
        where = f"node {label} ({node.op_type})"
        if node.op_type in REFUSED:
            raise WorkloadError(f"{where} multiplies, but is not lowered to matrix products: write its layers by hand")
        lower = _convolution if node.op_type in CONVOLUTIONS else _product if node.op_type in PRODUCTS else None
        if lower is None:
            continue
        layer = lower(node, known, where)
        layers.append({"op": layer["op"], "name": label} | layer)
    if not layers:
        raise WorkloadError("the model has neither a convolution nor a matrix product")
    return {"name": graph.name or name, "what": f"from ONNX, {len(graph.node)} nodes", "layers": layers}


def _dimension(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    if not name or not size.isdigit() or int(size) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=SIZE, as batch=1")
    return name, int(size)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m narrowgauge.workload", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("model", help="an .onnx file")
    parser.add_argument("-o", "--output", help="the workload; without it, on standard output")
    parser.add_argument(
        "--dim", action="append", default=[], type=_dimension, metavar="NAME=SIZE", help="of named dimensions"
    )
    options = parser.parse_args(arguments)
    try:
        workload = from_onnx(options.model, dict(options.dim))
    except (WorkloadError, ImportError) as error:
        print(f"narrowgauge.workload: {error}", file=sys.stderr)
        return 2
    text = json.dumps(workload, indent=1) + "\n"
    if options.output:
        Path(options.output).write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
