# SPDX-License-Identifier: Apache-2.0
"""The runner: asks an implementation every case of a kit, and compares."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import shlex
import subprocess
import threading
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arguments import instance, number, shown
from .._core import Error
from .._formats import decode, formats
from .kit import OPERATIONS, Arrays, Case, Kit, Parameters, bits, checked_kinds, from_bits, save, spelled
from .make import cases

#: operation, parameters, inputs -> outputs by name, or None where the implementation does not have the operation.
Implementation = Callable[[str, Parameters, Arrays], "Arrays | None"]
LONGEST_REPLY = 2**28  # characters
SHOWN = 16  # numbers of an input beside a mismatch


def write(folder: str | os.PathLike[str], *, kinds: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """Writes the kit, or some kinds of it: of each kind a .npz, a .json and a .h, and kit.json with a row of provenance a file.

    Returns these rows. The same version writes the same bytes everywhere. Raises Error for an unknown kind, and where the
    folder cannot be written.
    """
    if not isinstance(folder, (str, os.PathLike)):
        raise Error(f"folder is {shown(folder)}; expected the path of a folder to write the kit into")
    names = checked_kinds(kinds)
    if names == ():
        raise Error("kinds is empty; expected one name at least, or None for all")
    return save(folder, cases(names))


@dataclass(frozen=True)
class Outcome:
    """What came of a case.

    status: 'pass', 'fail' or 'skip'. compared: numbers. mismatches: of them. left_out: outputs that the implementation did not
    give. message: why it failed or was skipped. first: the first mismatch, with its output, place, expected and given number and
    the inputs there.
    """

    case: str
    operation: str
    status: str
    compared: int = 0
    mismatches: int = 0
    left_out: tuple[str, ...] = ()
    message: str = ""
    first: dict[str, Any] | None = None


@dataclass(frozen=True)
class Report:
    """Outcomes of all cases. passed: nothing failed, and something was compared."""

    outcomes: list[Outcome] = field(default_factory=list)

    def count(self, status: str) -> int:
        """How many cases have the status 'pass', 'fail' or 'skip'."""
        return sum(one.status == status for one in self.outcomes)

    @property
    def passed(self) -> bool:
        return not self.count("fail") and bool(self.count("pass"))

    def as_dict(self) -> dict[str, Any]:
        """What --json prints."""
        counts = {status: self.count(status) for status in ("pass", "fail", "skip")}
        return {"passed": self.passed, "cases": counts, "outcomes": [asdict(one) for one in self.outcomes]}


class Command:
    """An implementation behind a command: a line of JSON on its input for each case, one on its output as answer.

    words: the command. timeout: seconds for an answer. Use it in a `with`, which ends the process.
    Raises Error where it cannot be started, ends early, answers too late or what is no answer.
    """

    def __init__(self, words: str | Iterable[str], *, timeout: float = 60.0) -> None:
        if isinstance(words, str):
            try:
                words = shlex.split(words)
            except ValueError as error:
                raise Error(f"command {shown(words)} cannot be split into words: {error}") from None
        if not isinstance(words, Iterable):
            raise Error(f"command is {shown(words)}; expected a program with its arguments")
        self.words = list(words)
        if not self.words or not all(isinstance(word, str) and "\0" not in word for word in self.words):
            raise Error(f"command is {shown(self.words)}; expected a program with its arguments")
        self.timeout = number("timeout", timeout)
        if not 0 < self.timeout <= 86400:
            raise Error(f"timeout is {shown(timeout)}; expected seconds, above 0 and at most 86400")
        try:
            self._process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except OSError as error:
            raise Error(f'cannot run command "{self.words[0]}": {error.strerror}; expected a program') from None
        self._lines: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(ValueError, OSError):
            while line := self._process.stdout.readline(LONGEST_REPLY):
                self._lines.put(line)
        self._lines.put(b"")

    def _write(self, text: str) -> None:
        """In a thread of its own, so that a command that does not read is one that answers too late."""
        assert self._process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self._process.stdin.write(text.encode())
            self._process.stdin.flush()

    def ask(self, case: Case) -> Arrays | str:
        """The answer to a case: outputs, or why it is skipped."""
        operation = OPERATIONS[case.operation].name
        outputs = {name: {"type": a.dtype.name, "shape": list(a.shape)} for name, a in case.outputs.items()}
        question = {"case": case.name, "operation": operation, "parameters": case.parameters}
        line = (
            json.dumps({**question, "inputs": spelled(case.inputs), "outputs": outputs}, separators=(",", ":")) + "\n"
        )
        threading.Thread(target=self._write, args=(line,), daemon=True).start()
        program = f'command "{self.words[0]}"'
        try:
            reply = self._lines.get(timeout=self.timeout)
        except queue.Empty:
            raise Error(
                f"{program} did not answer {case.name} in {self.timeout:g} s; name a longer --timeout"
            ) from None
        if not reply:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5)
            ended = self._process.poll()
            raise Error(f"{program} ended at {case.name} (code {ended}); expected a line of JSON for each case")
        try:
            answer = json.loads(reply)
        except (ValueError, RecursionError):
            raise Error(f"{program} answered {case.name} with {shown(reply[:80])}; expected a line of JSON") from None
        if isinstance(answer, dict) and isinstance(answer.get("skip"), str):
            return str(answer["skip"])
        if not isinstance(answer, dict) or not isinstance(answer.get("outputs"), dict):
            raise Error(
                f'{program} answered {case.name} with {shown(answer)}; expected {{"outputs": {{name: [numbers]}}}} or '
                '{"skip": "why"}'
            )
        made: Arrays = {}
        for name, flat in answer["outputs"].items():
            if name in case.outputs:
                wanted = case.outputs[name]
                made[name] = from_bits(flat, wanted.dtype.name, wanted.shape, f'output "{name}"')
            else:
                made[name] = np.zeros(0, np.uint8)
        return made

    def __enter__(self) -> Command:
        return self

    def __exit__(self, *_: object) -> None:
        process = self._process
        with contextlib.suppress(OSError, ValueError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _given(case: Case, made: object) -> Arrays | str:
    """What a callable returned, as arrays of the types of the kit. Raises Error where it is none."""
    if made is None:
        return f"does not have {case.operation}"
    if not isinstance(made, dict):
        raise Error(f"the implementation returned {shown(made)}; expected outputs by name, or None")
    arrays: Arrays = {}
    for name, value in made.items():
        if name not in case.outputs:
            arrays[name] = np.zeros(0, np.uint8)
            continue
        wanted, array = case.outputs[name], np.asarray(value)
        if array.shape != wanted.shape:
            raise Error(f'output "{name}" has shape {array.shape}; expected {wanted.shape}')
        if wanted.dtype == np.float32 and array.dtype.kind == "u" and array.itemsize == 4:
            array = array.view(np.float32)
        elif array.dtype != wanted.dtype and not (wanted.dtype != np.float32 and array.dtype.kind in "iu"):
            raise Error(f'output "{name}" is of type {array.dtype}; expected {wanted.dtype}')
        if (
            array.dtype.kind in "iu"
            and array.size
            and not 0 <= int(array.min()) <= int(array.max()) <= np.iinfo(wanted.dtype).max
        ):
            raise Error(
                f'output "{name}" has numbers from {array.min()} to {array.max()}; expected those of {wanted.dtype}'
            )
        arrays[name] = array.astype(wanted.dtype, copy=False)
    return arrays


def _nans(case: Case, name: str, array: NDArray[Any]) -> NDArray[np.bool_]:
    """Where an output is NaN: all NaNs of a format are the same answer."""
    if array.dtype == np.float32:
        nan: NDArray[np.bool_] = np.isnan(array)
        return nan
    format = case.parameters.get("format")
    if name == "code" and isinstance(format, str) and format in formats() and formats()[format].has_nan:
        width = formats()[format].bits
        fits = array >> array.dtype.type(width - 1) <= 1
        with np.errstate(invalid="ignore"):
            nan = fits & np.isnan(decode(array & array.dtype.type(2**width - 1), format))
        return nan
    return np.zeros(array.shape, bool)


def _number(array: NDArray[Any], at: tuple[int, ...]) -> dict[str, Any] | int:
    one = array[at]
    if array.dtype == np.float32:
        return {"value": repr(float(one)), "bits": f"0x{int(one.view(np.uint32)):08x}"}
    return int(one)


def _around(case: Case, at: tuple[int, ...]) -> dict[str, Any]:
    """Inputs that made the output at this place: the number itself, or the rows that have it."""
    found: dict[str, Any] = {}
    size = next(iter(case.outputs.values())).size
    for name, a in case.inputs.items():
        if OPERATIONS[case.operation].elementwise:
            place: tuple[int, ...] = at if a.size == size else (0,)
            found[name] = _number(a, place)
            continue
        row = at[0] if a.ndim and at and at[0] < a.shape[0] else 0
        if case.operation in ("mma", "gemm"):
            row = at[1] if name.startswith("b") else at[0]
            part = a[at] if name == "c" else a[row]
        elif case.operation == "quantize" and name == "x" and len(at) == 2:
            block = int(case.parameters["block"])
            column = at[1] // block * block if a.shape[1] == case.outputs["codes"].shape[1] and at[1] >= 0 else 0
            part = a[row, column : column + block]
        else:
            part = a[row] if a.ndim > 1 else a
        flat = np.atleast_1d(part).ravel()
        made = [repr(float(v)) if flat.dtype == np.float32 else int(v) for v in flat[: SHOWN * 4]]
        found[name] = {"row": int(row), "numbers": made}
    return found


def _compare(case: Case, made: Arrays) -> Outcome:
    unknown = [name for name in made if name not in case.outputs]
    if unknown:
        return Outcome(
            case.name,
            case.operation,
            "fail",
            message=f'gave output "{unknown[0]}"; expected {", ".join(case.outputs)}',
        )
    compared = mismatches = 0
    first: dict[str, Any] | None = None
    for name, wanted in case.outputs.items():
        if name not in made:
            continue
        got = made[name]
        same = (bits(wanted) == bits(np.ascontiguousarray(got))) | (_nans(case, name, wanted) & _nans(case, name, got))
        compared += wanted.size
        mismatches += int((~same).sum())
        if first is None and not same.all():
            at = tuple(int(i) for i in np.argwhere(~same)[0])
            inside = at
            if case.operation == "quantize" and name == "scales":
                inside = (at[0], at[1] * int(case.parameters["block"]))
            elif case.operation == "quantize" and name == "tensor_scale":
                inside = (0, 0)
            first = {
                "output": name,
                "at": list(at),
                "expected": _number(wanted, at),
                "given": _number(got, at),
                "parameters": case.parameters,
                "inputs": _around(case, inside),
            }
    left_out = tuple(name for name in case.outputs if name not in made)
    if not compared:
        return Outcome(case.name, case.operation, "skip", left_out=left_out, message="gave no output")
    status = "fail" if mismatches else "pass"
    return Outcome(case.name, case.operation, status, compared, mismatches, left_out, "", first)


def check(
    kit: Kit, implementation: Implementation | Command, *, progress: Callable[[Outcome], object] | None = None
) -> Report:
    """Asks an implementation every case of the kit, and compares bit for bit; any NaN stands for any other.

    implementation: a Command, or a function of operation, parameters and inputs, numpy arrays by name, that returns outputs by
    name, or None for an operation that it does not have. An output that it leaves out is not compared. An exception of the
    function fails its case. progress: called with each outcome.
    """
    instance("kit", kit, Kit, "vectors.open_kit(folder) opens one")
    if not isinstance(implementation, Command) and not callable(implementation):
        raise Error(f"implementation is {shown(implementation)}; expected a function, or a vectors.Command")
    outcomes = []
    for case in kit.cases.values():
        outcome = _outcome(case, implementation)
        outcomes.append(outcome)
        if progress is not None:
            progress(outcome)
    return Report(outcomes)


def _outcome(case: Case, implementation: Implementation | Command) -> Outcome:
    if isinstance(implementation, Command):
        made = implementation.ask(case)  # what is wrong with the protocol ends the run
    else:
        try:
            inputs = {name: a.copy() for name, a in case.inputs.items()}
            made = _given(case, implementation(case.operation, dict(case.parameters), inputs))
        except Exception as error:
            return Outcome(case.name, case.operation, "fail", message=f"{type(error).__name__}: {error}")
    if isinstance(made, str):
        return Outcome(case.name, case.operation, "skip", message=made)
    return _compare(case, made)


def _places(first: dict[str, Any]) -> str:
    def said(one: Any) -> str:
        if isinstance(one, dict) and "bits" in one:
            return f"{one['value']} ({one['bits']})"
        if isinstance(one, dict):
            numbers = [str(n) for n in one["numbers"]]
            more = f" and {len(numbers) - SHOWN} more" if len(numbers) > SHOWN else ""
            return f"row {one['row']}: {' '.join(numbers[:SHOWN])}{more}"
        return str(one)

    at = ", ".join(str(i) for i in first["at"])
    lines = [f"    {first['output']}[{at}] is {said(first['given'])}; expected {said(first['expected'])}"]
    lines += [f"      {name} = {said(one)}" for name, one in first["inputs"].items()]
    return "\n".join(lines)


def table(report: Report) -> str:
    """The report in lines, as the program prints it."""
    lines = []
    for one in report.outcomes:
        if one.status == "fail":
            what = one.message or f"{one.mismatches} of {one.compared} numbers differ"
            lines.append(f"FAIL  {one.case}: {what}")
            if one.first:
                lines.append(_places(one.first))
        elif one.status == "pass":
            without = f", without {', '.join(one.left_out)}" if one.left_out else ""
            lines.append(f"pass  {one.case}: {one.compared} numbers{without}")
    skipped: dict[tuple[str, str], int] = {}
    for one in report.outcomes:
        if one.status == "skip":
            skipped[one.operation, one.message] = skipped.get((one.operation, one.message), 0) + 1
    lines += [f"skip  {n} cases of {operation}: {message}" for (operation, message), n in skipped.items()]
    counts = ", ".join(f"{report.count(status)} {status}" for status in ("pass", "fail", "skip"))
    return "\n".join([*lines, f"{len(report.outcomes)} cases: {counts}"])
