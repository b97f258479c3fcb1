# SPDX-License-Identifier: Apache-2.0
"""Reads what a simulation did: VCD and FST by pywellen, SAIF by a reader of its own, since no kept package reads it.

This file stands alone: tools/ngtools/power/characterize.py reads waves with it, and it runs itself as a program, in which
pywellen cannot take its caller down, nor write into its caller's output, whatever a broken file has.
"""

from __future__ import annotations

import difflib
import importlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHOWN = 8  # candidates in a message
MEMORY = 16 << 30  # bytes of the reading program
SECONDS, SECONDS_A_BYTE = 60.0, 60e-6  # of the reading program: pywellen goes round for ever in some damaged files
SAIF_DEPTH = 200  # instances in instances
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12, "fs": 1e-15}


class WaveError(ValueError):
    """A file of waves that cannot be used; the text names it, what is wrong and what was expected."""

    def __init__(self, text: str) -> None:
        super().__init__(" ".join(text.split()))  # names of a file may have line breaks


def one_of(name: str, known: Sequence[str]) -> str:
    """A tail of messages: what there is, and what was meant."""
    near = difflib.get_close_matches(name, known, 1)
    listed = ", ".join(known[:SHOWN]) + (f" and {len(known) - SHOWN} more" if len(known) > SHOWN else "")
    return f"; expected one of {listed or 'none'}" + (f"; did you mean {near[0]}?" if near else "")


@dataclass
class Signal:
    """What a signal was, from each time on. A value has bit 0 lowest; unknown bits are 0 in it and 1 in `unknown`."""

    width: int
    times: NDArray[np.int64]
    values: list[int]
    unknown: list[int]

    def at(self, edges: NDArray[np.int64]) -> NDArray[np.int64]:
        """Index of what it was just before each time; -1 before its first value."""
        return np.searchsorted(self.times, edges, side="left") - 1


@dataclass
class Waves:
    path: str
    tick_s: float
    end: int  # the last time of any signal that was read
    scope: str
    signals: dict[str, Signal]

    def edges(
        self, clock: str, window: tuple[float, float] | None = None, *, falling: bool = False
    ) -> NDArray[np.int64]:
        """Times of a clock's edges, rising unless falling, in a window of seconds. Raises WaveError where there are none."""
        signal = self.signals[clock]
        values = np.array([value & 1 for value in signal.values], np.int8)
        known = np.array([word == 0 for word in signal.unknown], bool)
        before, after = (1, 0) if falling else (0, 1)
        changes = (values[1:] == after) & (values[:-1] == before) & known[1:] & known[:-1]
        edges: NDArray[np.int64] = signal.times[1:][changes]
        if window is not None:
            edges = edges[(edges * self.tick_s >= window[0]) & (edges * self.tick_s < window[1])]
        if not len(edges):
            where = f" from {window[0]:g} to {window[1]:g} s" if window else ""
            raise WaveError(
                f"clock {clock} of {self.scope} has no {'falling' if falling else 'rising'} edge{where}; expected some, in a "
                f"file of {self.end * self.tick_s:g} s"
            )
        return edges


@dataclass
class Net:
    """A net of a SAIF file: ticks at 0, at 1 and unknown, and changes."""

    low: int = 0
    high: int = 0
    unknown: int = 0
    toggles: int = 0


@dataclass
class Saif:
    path: str
    tick_s: float
    duration: int
    scopes: dict[str, dict[str, Net]] = field(default_factory=dict)  # a path with dots -> its nets


def kind(path: str | Path) -> str:
    """'vcd', 'fst' or 'saif', by what the file begins with."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(4096)
    except OSError as error:
        raise WaveError(f'cannot read activity "{path}": {error.strerror}') from None
    text = re.sub(rb"^(?:\s|//[^\n]*\n|/\*.*?\*/)+", b"", head, flags=re.DOTALL)
    if re.match(rb"\(\s*SAIFILE", text):
        return "saif"
    if text.startswith(b"$"):
        return "vcd"
    if head[:1] in (b"\x00", b"\xfe"):
        return "fst"
    raise WaveError(f'activity "{path}" begins as no file of waves; expected VCD, FST or SAIF')


# ---------------------------------------------------------------- VCD and FST


def read_waves(path: str | Path, scope: str, names: Sequence[str] = ()) -> Waves:
    """The signals of a scope, of these names; all of them without names. A name with dots is a whole path. Names that
    the file does not have are left out of the result."""
    kind(path)
    with tempfile.TemporaryDirectory(prefix="ng_waves.") as folder:
        out = Path(folder) / "waves.npz"
        asked = json.dumps([str(path), scope, str(out), list(names)])
        seconds = SECONDS + SECONDS_A_BYTE * Path(path).stat().st_size
        try:
            done = subprocess.run(
                [sys.executable, "-P", __file__],
                input=asked,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            raise WaveError(
                f'activity "{path}" was not read in {seconds:.0f} s; expected a whole VCD or FST file, or a smaller one'
            ) from None
        if done.returncode == 2:
            raise WaveError(done.stderr.strip().splitlines()[-1])
        if done.returncode != 0 or not out.exists():
            raise WaveError(f'activity "{path}" is malformed; expected VCD or FST: pywellen fails on it')
        if "time decreased" in done.stdout + done.stderr:
            raise WaveError(f'activity "{path}" is malformed; expected times that grow')
        return _unpacked(str(path), out)


def _unpacked(path: str, file: Path) -> Waves:
    with np.load(file) as content:
        tick_s, end = float(content["tick_s"]), int(content["end"])
        signals = {}
        for number, name in enumerate(content["names"].tolist()):
            packed, width = content[f"v{number}"].tobytes(), int(content[f"w{number}"])
            size = (width + 7) // 8
            words = [int.from_bytes(packed[at : at + size], "little") for at in range(0, len(packed), size)]
            signals[name] = Signal(width, content[f"t{number}"], words[0::2], words[1::2])
        return Waves(path, tick_s, end, str(content["scope"]), signals)


def _plain(name: str) -> str:
    """A name without its range, as it is written behind it by some simulators, and without the mark of an escaped one."""
    return re.sub(r"\s*\[-?\d+:-?\d+\]$", "", name).lstrip("\\").strip()


def _word(value: Any, width: int) -> tuple[int, int]:
    """Value and unknown bits."""
    if isinstance(value, int):
        return value, 0
    text = str(value).lower()
    known = "".join(bit if bit in "01" else "0" for bit in text)
    odd = "".join("0" if bit in "01" else "1" for bit in text)
    mask = (1 << width) - 1
    return int(known or "0", 2) & mask, int(odd or "0", 2) & mask


def _scope_of(path: str, scope: str, scopes: dict[str, Any]) -> str:
    """The whole path of a scope: itself, or the only one that ends with it."""
    if scope in scopes:
        return scope
    ending = [known for known in scopes if known.endswith("." + scope)]
    if len(ending) == 1:
        return ending[0]
    if ending:
        raise WaveError(f'scope "{scope}" of "{path}" is ambiguous; expected one of {", ".join(ending[:SHOWN])}')
    raise WaveError(f'scope "{scope}" is not in "{path}"' + one_of(scope, list(scopes)))


def _child(path: str, scope: str, out: str, names: Sequence[str]) -> None:
    """What the program does: reads the file and writes what was asked for as arrays."""
    try:
        pywellen: Any = importlib.import_module("pywellen")
    except ImportError:
        raise WaveError(
            f'activity "{path}" needs the package pywellen, which {sys.executable} does not have; expected pip install pywellen'
        ) from None
    try:
        waves = pywellen.Waveform(path)
        scopes: dict[str, dict[str, Any]] = {each.full_name: {} for each in waves.all_scopes()}
        for var in waves.all_vars():
            if not (var.is_real or var.is_string):
                parent, _, name = var.full_name.rpartition(".")
                scopes.setdefault(parent, {})[_plain(name)] = var
        scale = waves.timescale
        tick_s = 1e-12 if scale is None else scale.factor * UNITS.get(str(scale.unit), 1e-12)
    except RuntimeError as error:
        why = " ".join(str(error).split())
        raise WaveError(f'activity "{path}" is malformed; expected VCD or FST: {why[:200]}') from None
    whole = _scope_of(path, scope, scopes)
    found = dict(scopes[whole]) if not names else {}
    for name in names:
        parent, _, last = name.rpartition(".")
        of = scopes[whole] if not parent else scopes.get(parent, {})
        if last in of:
            found[name] = of[last]
    arrays: dict[str, Any] = {}
    end = 0
    for number, var in enumerate(found.values()):
        width = int(var.bitwidth or 1)
        changes = var.tv
        size = (width + 7) // 8
        words = bytearray()
        for _, value in changes:
            for word in _word(value, width):
                words += word.to_bytes(size, "little")
        times = np.array([time for time, _ in changes], np.int64)
        if len(times) and (np.diff(times) < 0).any():
            raise WaveError(f'activity "{path}" is malformed; expected times that grow')
        end = max(end, int(times[-1]) if len(times) else 0)
        arrays |= {f"t{number}": times, f"w{number}": width, f"v{number}": np.frombuffer(bytes(words), np.uint8)}
    np.savez(out, names=np.array(list(found), str), tick_s=tick_s, end=end, scope=whole, **arrays)


# ---------------------------------------------------------------- SAIF

TOKEN = re.compile(r'\s+|//[^\n]*|/\*.*?\*/|(?P<mark>[()])|"(?P<text>[^"]*)"|(?P<word>(?:\\.|[^\s()"\\])+)', re.DOTALL)


def _tokens(path: str, text: str) -> Iterator[tuple[str, str]]:
    at = 0
    for token in TOKEN.finditer(text):
        if token.start() != at:
            break
        at = token.end()
        if token.lastgroup:
            yield token.lastgroup, token[token.lastgroup]
    if at != len(text):
        line = text.count("\n", 0, at) + 1
        raise WaveError(f'line {line} of SAIF "{path}" is wrong; expected names, numbers and parentheses')


def _lists(path: str, text: str) -> list[Any]:
    """Nested lists of words."""
    top: list[Any] = []
    open_: list[list[Any]] = [top]
    for group, value in _tokens(path, text):
        if group != "mark":
            open_[-1].append(value)
        elif value == "(":
            open_[-1].append([])
            open_.append(open_[-1][-1])
            if len(open_) > SAIF_DEPTH:
                raise WaveError(f'SAIF "{path}" has {SAIF_DEPTH} parentheses in another; expected a flatter hierarchy')
        elif len(open_) > 1:
            open_.pop()
        else:
            raise WaveError(f'SAIF "{path}" has a ")" too many; expected as many "(" in front of it')
    if len(open_) > 1:
        raise WaveError(f'SAIF "{path}" is cut off; expected {len(open_) - 1} times ")" more')
    return top


def _number(path: str, what: str, value: Any) -> int:
    if not isinstance(value, str) or not re.fullmatch(r"\d{1,18}(?:\.0*)?", value):
        raise WaveError(f'{what} of SAIF "{path}" is {str(value)[:40]!r}; expected a whole number')
    return int(value.partition(".")[0])


def read_saif(path: str | Path) -> Saif:
    """Times and changes of all nets. Escaped names are read without their backslashes: u_mac.a_q[3]."""
    path = str(path)
    try:
        text = Path(path).read_bytes().decode("utf-8", "replace")
    except OSError as error:
        raise WaveError(f'cannot read activity "{path}": {error.strerror}') from None
    tree = _lists(path, text)
    if len(tree) != 1 or not tree[0] or tree[0][0] != "SAIFILE":
        raise WaveError(f'SAIF "{path}" is wrong; expected one (SAIFILE ...)')
    saif = Saif(path, 1e-9, 0)
    for item in tree[0][1:]:
        head = item[0] if isinstance(item, list) and item else None
        if head == "TIMESCALE":
            match = re.fullmatch(r"(1|10|100)\s*([munpf]?s)", " ".join(map(str, item[1:])))
            if not match:
                raise WaveError(
                    f'TIMESCALE of SAIF "{path}" is {" ".join(map(str, item[1:]))[:40]!r}; expected for example 1 ps'
                )
            saif.tick_s = int(match[1]) * UNITS[match[2]]
        elif head == "DURATION":
            saif.duration = _number(path, "DURATION", item[1] if len(item) > 1 else None)
    if saif.duration <= 0:
        raise WaveError(f'DURATION of SAIF "{path}" is {saif.duration}; expected ticks of a simulation, more than 0')
    for item in tree[0][1:]:
        if isinstance(item, list) and item and item[0] == "INSTANCE":
            _instance(saif, item, "")
    if not saif.scopes:
        raise WaveError(f'SAIF "{path}" has no INSTANCE; expected one with nets')
    return saif


def _instance(saif: Saif, item: list[Any], above: str) -> None:
    """(INSTANCE [module] name (NET ...) (PORT ...) (INSTANCE ...))"""
    names = [word for word in item[1:3] if isinstance(word, str)]
    name = names[-1].replace("\\", "") if names else ""
    scope = ".".join(part for part in (above, name) if part)
    nets = saif.scopes.setdefault(scope, {})
    for part in item[1:]:
        head = part[0] if isinstance(part, list) and part else None
        if head == "INSTANCE":
            _instance(saif, part, scope)
        elif head in ("NET", "PORT"):
            for entry in part[1:]:
                if isinstance(entry, list) and entry and isinstance(entry[0], str):
                    net = _net(saif, scope, entry)
                    nets[entry[0].replace("\\", "")] = net


def _net(saif: Saif, scope: str, entry: list[Any]) -> Net:
    values = dict.fromkeys(("T0", "T1", "TX", "TZ", "TB", "TC"), 0)
    named = f"{scope}.{entry[0]}"[:200]
    for pair in entry[1:]:
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str) and pair[0] in values:
            values[pair[0]] = _number(saif.path, f"{pair[0]} of net {named}", pair[1])
    unknown = values["TX"] + values["TZ"] + values["TB"]
    total = values["T0"] + values["T1"] + unknown
    if abs(total - saif.duration) > 1:
        raise WaveError(
            f'net {named} of SAIF "{saif.path}" has {total} ticks in its times; expected DURATION, {saif.duration}'
        )
    return Net(values["T0"], values["T1"], unknown, values["TC"])


if __name__ == "__main__":
    import resource

    try:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        _child(*json.load(sys.stdin))
    except WaveError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
