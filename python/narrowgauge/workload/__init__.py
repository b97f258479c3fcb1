# SPDX-License-Identifier: Apache-2.0
"""Workloads of other files: their convolutions and matrix products as `narrowgauge explore` reads them.

    python -m narrowgauge.workload model.onnx -o model.json
    python -m narrowgauge.workload model.onnx --dim batch=8 --dim seq=128
    python -m narrowgauge.workload topology.csv            a topology of SCALE-Sim
    python -m narrowgauge.workload layers.yaml             layers of ZigZag, or a problem of Timeloop
    python -m narrowgauge.workload model.pt2 --dim x.0=8   a program of torch.export, 8 for the first dimension of input x

Shapes of ONNX come from the model and ONNX' own shape inference. Weights are not loaded: files of external data need not be there.
Shapes of torch are those that its export wrote down.
Operators that may multiply matrices and are not lowered are refused; docs/explore.md lists the others.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import operator
import reprlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import onnx_operators as operators
from .lowering import WorkloadError

__all__ = ["WorkloadError", "from_file", "from_onnx", "from_torch", "main"]

#: Most values of a YAML file, those of aliases counted where they stand; and how deep they may lie.
_MOST, _DEEPEST = 1_000_000, 32
#: Suffixes of text.
_OTHERS = (".csv", ".yaml", ".yml")


def _checked(dims: Mapping[str, int] | None) -> dict[str, int]:
    if dims is None:
        return {}
    if not isinstance(dims, Mapping):
        raise WorkloadError(f"dims is {reprlib.repr(dims)}; expected sizes by name, as {{'batch': 1}}")
    sizes = {}
    for name, size in dims.items():
        try:
            sizes[name] = operator.index(size)
        except TypeError:
            sizes[name] = 0
        if not isinstance(name, str) or isinstance(size, bool) or sizes[name] < 1:
            raise WorkloadError(
                f"dims has {reprlib.repr(name)}: {reprlib.repr(size)}; expected a name and a size of 1 or more"
            )
    return sizes


def from_onnx(model: str | Path | Any, dims: Mapping[str, int] | None = None) -> dict[str, Any]:
    """The workload of an ONNX model: a file, or an onnx.ModelProto.

    dims: sizes of the model's named dimensions, as {"batch": 1}. Layers without matrix products are left out. Raises
    WorkloadError where a shape is not known or an operator cannot be lowered, ImportError without the onnx package.
    """
    try:
        import onnx

        from . import onnx_graph
    except ImportError as error:
        raise ImportError(
            "reading an ONNX model takes the onnx package: pip install onnx, or pip install 'narrowgauge[onnx]'"
        ) from error
    name = "model"
    if isinstance(model, str | Path):
        name = Path(model).stem
        model = onnx_graph.load(str(model))
    elif not isinstance(model, onnx.ModelProto):
        raise WorkloadError(f"model is {reprlib.repr(model)}; expected the path of a file, or an onnx.ModelProto")
    if not onnx_graph.is_text(model):
        raise WorkloadError(f"{name} cannot be read as an ONNX model: it has names that are not UTF-8; expected text")
    walk = onnx_graph.Walk(model, _checked(dims))
    graph = model.graph
    return _workload(graph.name or name, "ONNX", len(graph.node), walk.layers(), walk.folded)


def from_torch(program: str | Path | Any, dims: Mapping[str, int] | None = None) -> dict[str, Any]:
    """The workload of a program of torch.export: a .pt2 file, which torch reads, or an ExportedProgram.

    dims: sizes of dynamic dimensions, as {"x.0": 8} for the first one of input x, or by torch's own symbols, as {"s77": 8}.
    An operator that is not lowered is decomposed by torch first. Raises WorkloadError where a size is not known or an
    operator cannot be lowered, ImportError without torch.
    """
    try:
        from torch.export import ExportedProgram

        from . import torch_graph
    except ImportError as error:
        raise ImportError(
            "reading a program of torch.export takes torch: pip install torch, or pip install 'narrowgauge[torch]'"
        ) from error
    name = "model"
    if isinstance(program, str | Path):
        name = Path(program).stem
        program = torch_graph.load(str(program))
    elif not isinstance(program, ExportedProgram):
        raise WorkloadError(
            f"program is {reprlib.repr(program)}; expected the path of a .pt2 file, or what torch.export.export returns"
        )
    layers, folded, nodes = torch_graph.layers(program, _checked(dims))
    return _workload(name, "torch.export", nodes, layers, folded)


def _workload(name: str, source: str, nodes: int, layers: list[dict[str, Any]], folded: int) -> dict[str, Any]:
    """folded: products of constants alone."""
    without = f"; {folded} products of constants alone are left out" if folded else ""
    if not layers:
        raise WorkloadError("the model has neither a convolution nor a matrix product; expected one" + without)
    return {"name": name, "what": f"from {source}, {nodes} nodes{without}", "layers": layers}


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise WorkloadError(f"{path} cannot be read ({error.strerror}); expected a file") from error
    except UnicodeDecodeError as error:
        raise WorkloadError(f"{path} is not text; expected UTF-8") from error


def _plain(node: Any, levels: int, left: list[int]) -> Any:
    """A YAML tree as `narrowgauge explore` reads it: what looks like a number is one, all else is text."""
    left[0] -= 1
    if not levels or not left[0]:
        raise WorkloadError("it is too deep or too long, or an alias in it has no end; expected a workload")
    if isinstance(node, dict):
        return {str(key): _plain(value, levels - 1, left) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(value, levels - 1, left) for value in node]
    try:
        number = float(node)
    except (TypeError, ValueError):
        return node
    return number if math.isfinite(number) and "_" not in node else node


def tree_text(tree: Any) -> str:
    """A YAML tree as JSON. Raises WorkloadError for one that is too deep or too long, as aliases can make it."""
    return json.dumps(_plain(tree, _DEEPEST, [_MOST]))


def _tree(path: Path) -> str:
    """A YAML file as JSON."""
    text = _read(path)
    try:
        yaml = importlib.import_module("yaml")
    except ImportError as error:
        raise ImportError(
            f"reading {path} takes PyYAML: pip install pyyaml, or pip install 'narrowgauge[yaml]'"
        ) from error
    try:
        tree = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise WorkloadError(f"it is not YAML: {reason}; expected a workload of ZigZag or Timeloop") from error
    except (RecursionError, ValueError) as error:
        raise WorkloadError(f"it is not YAML ({error}); expected a workload of ZigZag or Timeloop") from error
    return tree_text(tree)


def from_file(path: str | Path, dims: Mapping[str, int] | None = None) -> dict[str, Any]:
    """The workload of another tool's file, by its suffix.

    path: .onnx; .pt2, a program of torch.export; .csv, a topology of SCALE-Sim; or .yaml or .yml, the layers of ZigZag or a
    problem of Timeloop. dims: sizes of the named dimensions of an ONNX model, as {"batch": 1}, or of a program of torch
    (from_torch). Layers that multiply no matrices are left out. Raises WorkloadError naming file, line or key, value and what
    is expected, ImportError without onnx, torch or PyYAML.
    """
    if not isinstance(path, str | Path):
        raise WorkloadError(f"path is {reprlib.repr(path)}; expected the path of a file")
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix == ".onnx":
        return from_onnx(file, dims)
    if suffix == ".pt2":
        return from_torch(file, dims)
    if suffix not in _OTHERS:
        raise WorkloadError(f"{file} has the suffix {suffix!r}; expected .onnx, .pt2, .csv, .yaml or .yml")
    from .. import _core  # an ONNX model needs none of it

    if _checked(dims):
        raise WorkloadError(
            f"dims is {reprlib.repr(dims)} for {file}; expected none, since only ONNX and torch name dimensions"
        )
    try:
        text = _read(file) if suffix == ".csv" else _tree(file)
        workload = json.loads(_core.workload_text(text, csv=suffix == ".csv"))
    except (WorkloadError, _core.Error) as error:
        said = str(error)
        raise WorkloadError(said if said.startswith(str(file)) else f"{file}: {said}") from error
    return {**workload, "name": file.stem}


def _dimension(text: str) -> tuple[str, int]:
    name, _, size = text.partition("=")
    if not name or not size.isdigit() or int(size) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=SIZE, as batch=1")
    return name, int(size)


class _Operators(argparse.Action):
    """Prints the operators by what becomes of them."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        kinds = {"lowered": operators.LOWERED} | {f"harmless, {kind}": of for kind, of in operators.HARMLESS.items()}
        for kind, names in (kinds | {"refused, as is all else": operators.REFUSED}).items():
            print(f"{kind}: {' '.join(sorted(operators.qualified(name) for name in names))}")
        parser.exit()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m narrowgauge.workload", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument(
        "model", help="an .onnx, .pt2 (torch.export), .csv (SCALE-Sim) or .yaml file (ZigZag, Timeloop)"
    )
    parser.add_argument("--operators", action=_Operators, nargs=0, help="print which operators are read, and exit")
    parser.add_argument("-o", "--output", help="the workload; without it, on standard output")
    parser.add_argument(
        "--dim", action="append", default=[], type=_dimension, metavar="NAME=SIZE", help="of named dimensions"
    )
    options = parser.parse_args(arguments)
    try:
        read = from_file if Path(options.model).suffix.lower() in (".pt2", *_OTHERS) else from_onnx
        workload = read(options.model, dict(options.dim))
    except (WorkloadError, ImportError) as error:
        print(f"narrowgauge.workload: {error}", file=sys.stderr)
        return 2
    text = json.dumps(workload, indent=1) + "\n"
    if options.output:
        try:
            Path(options.output).write_text(text)
        except OSError as error:
            print(f"narrowgauge.workload: cannot write {options.output}: {error.strerror}", file=sys.stderr)
            return 2
    else:
        sys.stdout.write(text)
    return 0
