# SPDX-License-Identifier: Apache-2.0
"""Exploration of design spaces, on threads of this machine or on the workers of a client."""

from __future__ import annotations

import argparse
import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import MAX_SEED, call, flag, integer, shown, text
from ._arguments import path as checked_path
from ._arguments import threads as check_threads
from ._arrays import ArrayLike
from ._core import Error, Explorer, Front
from ._energy import Gauge, checked_gauge, pair
from ._files import UnreadableError, read_arrays
from .workload import WorkloadError, from_file, tree_text

Tensors = tuple[ArrayLike, ArrayLike]
Arrays = tuple[NDArray[Any], NDArray[Any]]


class Client(Protocol):
    """What can run functions elsewhere: dask.distributed's Client, or an Executor of concurrent.futures."""

    def submit(self, function: Callable[..., Any], /, *args: Any) -> Any: ...


@dataclass(frozen=True)
class Exploration:
    """A workload over a design space, and the points that no other beats."""

    explorer: Explorer
    front: Front

    def __reduce__(self) -> tuple[Any, ...]:
        return _exploration, (self.explorer.arguments, self.front)

    def document(self) -> dict[str, Any]:
        """What `narrowgauge explore --json` prints; `front` has the points, SI units."""
        return {
            "command": "explore",
            "workload": self.explorer.workload,
            "macs": self.explorer.macs,
            "parameters": self.explorer.parameters,
            "exploration": self.explorer.id,
            "space": json.loads(self.explorer.space),
            "tokens": self.explorer.tokens,
            "points": self.explorer.points,
            "impossible": self.front.impossible,
            "front": [json.loads(self.explorer.describe(int(point))) for point in self.front.points],
            "sources": json.loads(self.explorer.sources),
        }

    def table(self) -> NDArray[np.void]:
        """The front as a structured array: a row a point, axes and costs as columns, SI units.

        Unknown areas are NaN; `assumed` has what is assumed in the row, as sentences.
        """
        points = self.document()["front"]
        columns: dict[str, NDArray[Any]] = {}
        for name in points[0] if points else ["point"]:
            values = [point[name] for point in points]
            if name == "mac_rung":
                values = [value or "" for value in values]
            elif name == "assumed":
                values = ["; ".join(sentences) for sentences in values]
            elif name in ("area_m2", "sqnr_db", "token_j", "mac_error"):
                values = [np.nan if value is None else float(value) for value in values]
            columns[name] = np.array(values)
        table = np.empty(len(points), dtype=[(name, column.dtype) for name, column in columns.items()])
        for name, column in columns.items():
            table[name] = column
        return table


def _plain(value: object) -> object:
    """What JSON does not know: numpy's values, and ranges."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, range):
        return list(value)
    raise Error(f"{value!r} is neither number, text, list nor dict: docs/explore.md says what is allowed")


def _json(what: str, value: object) -> str:
    try:
        return json.dumps(value, default=_plain, allow_nan=False)
    except ValueError as error:
        raise Error(
            f"{what} has what JSON does not ({error}); expected finite numbers, text, lists and dicts"
        ) from error


def workload_text(workload: str | PathLike[str] | Mapping[str, Any]) -> str:
    """A name of workloads(), or JSON that needs no file of this machine."""
    if isinstance(workload, Mapping):
        return _json("the workload", workload)
    path = Path(checked_path("workload", workload))
    if path.suffix in (".onnx", ".pt2") or (path.suffix in (".csv", ".yaml", ".yml") and path.is_file()):
        try:
            return json.dumps(from_file(path))
        except WorkloadError as error:
            raise Error(str(error)) from error
    if not path.is_file():
        return fspath(workload)
    try:
        parsed = json.loads(path.read_text())
    except OSError as error:
        raise Error(f"workload {path} cannot be read ({error.strerror}); expected a file") from error
    except (ValueError, RecursionError) as error:
        raise Error(f"workload {path} is not JSON ({error}); expected the keys that docs/explore.md has") from error
    return json.dumps({"name": path.stem, **parsed} if isinstance(parsed, dict) else parsed)


def space_text(space: str | PathLike[str] | Mapping[str, Any]) -> str:
    if isinstance(space, Mapping):
        return _json("the space", space)
    path = Path(checked_path("space", space))
    try:
        text = path.read_text()
    except OSError as error:
        raise Error(f"The space {path} cannot be read ({error.strerror}): check the path") from error
    except UnicodeDecodeError as error:
        raise Error(f"The space {path} is not text; expected YAML or JSON") from error
    if path.suffix == ".json":
        return text
    try:
        yaml = importlib.import_module("yaml")
    except ImportError as error:
        raise Error(f"The space {path} needs PyYAML to be read: install pyyaml, or give JSON or a dict") from error
    try:
        return tree_text(yaml.load(text, Loader=yaml.BaseLoader))
    except WorkloadError:
        raise Error(f"space {path} is too deep or too long, or an alias in it has no end; expected a space") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise Error(f"space {path} is not YAML: {' '.join(str(error).split())}; expected keys of a space") from error


def checked_settings(set: object) -> dict[str, int]:
    """Parameters of a workload; None: none."""
    if set is not None and not isinstance(set, Mapping):
        raise Error(f"set is {shown(set)}; expected a dictionary of the workload's parameters")
    return {
        text("a key of set", key): integer(f"set[{key!r}]", value, 0, 2**63 - 1) for key, value in (set or {}).items()
    }


def add_settings(parser: argparse.ArgumentParser) -> None:
    """The option --set: pairs of a workload's parameter and its number."""

    def setting(word: str) -> tuple[str, int]:
        name, _, number = word.partition("=")
        if not name or not number.isdigit():
            raise argparse.ArgumentTypeError(f"{word!r} is not NAME=NUMBER; expected one, as seq=2048")
        return name, int(number)

    parser.add_argument(
        "--set", action="append", default=[], type=setting, metavar="NAME=NUMBER", help="of the workload"
    )


def _tensors_of(space: str) -> Arrays | None:
    """Those that the space names."""
    try:
        names = json.loads(space)
    except ValueError:
        return None  # refused where it is read
    names = names.get("tensors") if isinstance(names, dict) else None
    if not isinstance(names, dict) or not all(isinstance(names.get(key), str) for key in "ab"):
        return None
    try:
        made = [read_arrays(names[key]) for key in "ab"]
    except (UnreadableError, ValueError) as error:
        files = " and ".join(shown(names[key]) for key in "ab")
        raise Error(
            f"the tensors {files} of the space cannot be read ({error}); expected .npy files of numbers"
        ) from error
    if not all(isinstance(tensor, np.ndarray) for tensor in made):
        raise Error("a tensor of the space is an archive; expected .npy files of numbers")
    return pair("the space's tensors", made)


_explorers: dict[str, Explorer] = {}  # of a worker: the last one


Arguments = tuple[str, str, dict[str, int], Arrays | None, Gauge | None]


def _explorer(arguments: Arguments) -> Explorer:
    workload, space, set, tensors, gauge = arguments
    explorer = Explorer(workload, space, set=set, tensors=tensors, gauge=gauge)
    explorer.arguments = arguments
    return explorer


def _exploration(arguments: Arguments, front: Front) -> Exploration:
    """Unpickles."""
    return Exploration(_explorer(arguments), front)


def _front_of(id: str, arguments: Arguments, begin: int, end: int) -> Front:
    """Runs on a worker, which makes the explorer again and keeps it for the next chunk."""
    if id not in _explorers:
        explorer = _explorer(arguments)
        if explorer.id != id:
            raise Error(
                f"a worker's exploration is {explorer.id} and this one {id}: it has another version of narrowgauge, "
                "or of its data; install the same on both"
            )
        _explorers.clear()
        _explorers[id] = explorer
    return _explorers[id].front_of(begin, end)


def explore(
    workload: str | PathLike[str] | Mapping[str, Any],
    space: str | PathLike[str] | Mapping[str, Any],
    *,
    set: Mapping[str, int] | None = None,
    tensors: Tensors | None = None,
    gauge: Gauge | None = None,
    client: Client | None = None,
    threads: int = 0,
    chunk: int = 1 << 16,
    checkpoint: str | PathLike[str] | None = None,
    resume: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Exploration:
    """Energy, time, area and accuracy of a workload over a design space: the points that no other beats.

    workload: a name of workloads(), a file (.json, .onnx), or its JSON as a dict; `set` gives values of its parameters.
    space: a file (.yaml, .json) or a dict; keys of both: docs/explore.md.
    tensors: A (M x K) and B (K x N) for the accuracy proxy; None: those that the space names, or normal random numbers.
    client: workers that take the chunks, as dask.distributed.Client; they need the same narrowgauge, and
        the gauge's files. None: `threads` of this machine, 0 is one a core. The result does not depend on either.
    chunk: points of a job. checkpoint, resume, progress: as for `narrowgauge explore`; not with a client.

    Raises Error for what is not understood, naming key, value and what is allowed.
    """
    if client is not None and (checkpoint is not None or resume or progress is not None):
        raise Error("a client takes no checkpoint, resume or progress: leave them out, or the client")
    if client is not None and not callable(getattr(client, "submit", None)):
        raise Error(f"client is {shown(client)}; expected one with submit(), as dask.distributed.Client, or None")
    chunk = integer("chunk", chunk, 1, MAX_SEED)
    threads = check_threads(threads)
    checkpoint_file = None if checkpoint is None else checked_path("checkpoint", checkpoint)
    call("progress", progress)
    spaced = space_text(space)
    arrays = _tensors_of(spaced) if tensors is None else pair("tensors", tensors)
    settings = checked_settings(set)
    arguments = (workload_text(workload), spaced, settings, arrays, checked_gauge(gauge))
    explorer = _explorer(arguments)
    if client is None:
        front = explorer.run(
            threads=threads,
            chunk=chunk,
            checkpoint=checkpoint_file,
            resume=flag("resume", resume),
            progress=progress,
        )
        return Exploration(explorer, front)
    starts = range(0, explorer.points, chunk)
    jobs = [client.submit(_front_of, explorer.id, arguments, i, min(i + chunk, explorer.points)) for i in starts]
    gather = getattr(client, "gather", None)
    fronts = gather(jobs) if gather else [job.result() for job in jobs]
    return Exploration(explorer, explorer.merge(list(fronts)))


def workloads() -> list[str]:
    """Names of the workloads that come along."""
    return _core.workloads()
