# SPDX-License-Identifier: Apache-2.0
"""Prices the array of a tile on the waves of one's own simulation, cell by cell: `narrowgauge energy --tile tiny --activity
waves.fst --scope top.u_tile`. docs/energy_activity.md says what is counted, and what is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, _waves
from ._activity import (
    CLOCKS,
    MAX_UNKNOWN,
    PORTS,
    ActivityEnergy,
    _checked,
    _clocked,
    _Cycles,
    _fields,
    _price,
    _require,
    _waves_of,
    _window,
)
from ._arguments import shown, text
from ._core import Error
from ._energy import Gauge, _text
from ._engine import tiles

ARRAY = "u_array"


@dataclass(frozen=True)
class TileActivityEnergy:
    """What the array of a tile cost in a simulation. Operand banks, loader, drain and registers of the tile are not in it.

    cells: of each cell, row by row, what `activity_energy` says of a unit.
    tile: its name. scope: the array's instance, with its whole path. rows, columns: of cells.
    """

    cells: tuple[ActivityEnergy, ...]
    tile: str
    scope: str
    rows: int
    columns: int

    @property
    def value(self) -> float:
        """Joules of all cells in the window."""
        return sum(cell.answer.value for cell in self.cells)

    @property
    def operations(self) -> int:
        """Multiply-accumulates of all cells, those of disabled rows and columns, which multiply zeros, included."""
        return sum(cell.operations for cell in self.cells)

    @property
    def each(self) -> float:
        """Joules of a multiply-accumulate, idle cycles included."""
        return self.value / self.operations

    @property
    def power_w(self) -> float:
        """Mean power over the window."""
        return self.value / self.cells[0].seconds

    def __str__(self) -> str:
        first, costs = self.cells[0], [cell.answer.value for cell in self.cells]
        error = first.answer.error
        within = f" (+- {error.mean_abs:.1%} on average, {error.max_abs:.1%} at worst)" if error is not None else ""
        apart = "" if len(costs) == 1 else f", {min(costs):.4g} to {max(costs):.4g} J each"
        return (
            f"{self.value:.4g} J, rung {first.answer.rung}{within}: {len(costs)} cell{'s' * (len(costs) > 1)} of {self.scope}{apart}.\n"
            f"{first.active} of {first.cycles} cycles took operands. A multiply-accumulate with its share of idle cycles: "
            f"{self.each * 1e12:.4g} pJ. Mean power over {first.seconds:.4g} s: {self.power_w * 1e3:.4g} mW.\n"
            "Operand banks, loader and drain are not in it.\n"
        )


def _slices(
    cycles: _Cycles, name: str, parts: int, enables: str, taken: NDArray[np.int64]
) -> list[tuple[NDArray[np.uint8], NDArray[np.uint8]]]:
    """The parts of a port that lie side by side, and their unknown bits, a row a beat; zeros where the part is disabled."""
    bits, unknown = cycles.bits(name)
    enabled = cycles.words(enables)[0][taken]
    found = []
    for part, (own, odd) in enumerate(
        zip(np.split(bits[taken], parts, axis=1), np.split(unknown[taken], parts, axis=1), strict=True)
    ):
        mask = enabled[:, part : part + 1]
        found.append((own * mask, odd * mask))
    return found


def _signal(times: NDArray[np.int64], bits: NDArray[np.uint8], unknown: NDArray[np.uint8]) -> _waves.Signal:
    """A signal that has these values from just before these times on."""

    def words(rows: NDArray[np.uint8]) -> list[int]:
        return [int.from_bytes(row.tobytes(), "little") for row in np.packbits(rows, axis=1, bitorder="little")]

    both = np.concatenate([bits, unknown], axis=1)
    changes = np.ones(len(both), bool)
    changes[1:] = (both[1:] != both[:-1]).any(axis=1)
    return _waves.Signal(bits.shape[1], times[changes] - 1, words(bits[changes]), words(unknown[changes]))


def tile_activity_energy(
    file: str | PathLike[str],
    scope: str,
    tile: str,
    *,
    clock: str | None = None,
    window: tuple[float, float] | None = None,
    max_unknown: float = MAX_UNKNOWN,
    max_products: int = 1 << 22,
    gauge: Gauge | None = None,
    **fields: Any,
) -> TileActivityEnergy:
    """Energy of a tile's array on what its ports saw in a simulation, rung L1, as the sum over its cells.

    A cell's operands are those of its row and its column in the beats that the array takes; between them they stand, since the
    array's registers hold them, and those of disabled rows and columns are zeros.

    file: waves, VCD or FST (with the package pywellen), which have the tile's instance u_array.
    scope: the tile's instance, 'top.u_tile', or the end of its path that is the only one.
    tile: a name of tiles(), of one format and not sparse.
    clock: of the array, or a whole path; without it clk_i.
    window: (from, to) in seconds of the simulation.
    max_unknown: the share of a cell's active cycles whose operands may have bits at x or z.
    max_products: of a cell, whose flips are counted.
    fields: of the cell, as `energy` takes them: technology, structure, pipelined.

    Raises Error that names the tile, port, scope or window.
    """
    file, scope, gauge, max_products = _checked(file, scope, gauge, max_products, max_unknown)
    tile, limits = text("tile", tile), _window(window)
    known = tiles()
    if tile not in known:
        raise Error(f"tile {shown(tile)} is not known; expected one of {', '.join(known)}")
    of = known[tile]
    if of.sparse or len(of.formats) != 1:
        what = "takes a sparse operand" if of.sparse else f"multiplies {', '.join(of.formats)}"
        raise Error(f"tile {tile} {what}; expected a dense tile of one format")
    for name in ("format", "unit", "lanes"):
        if fields.get(name) is not None:
            raise Error(f"{name} is {shown(fields[name])}; expected none beside tile, which has it")
    question = _fields({"format": of.formats[0], "lanes": of.lanes, **fields}, gauge)
    shape = _core.operand_shape(_text(question), gauge=gauge)
    lanes, a_bits, b_bits, block, _ = shape
    clocks = CLOCKS if clock is None else (text("clock", clock),)
    parts = {"a_i": ("row_en_i", of.rows), "b_i": ("col_en_i", of.cols)}
    needed = {"a_i": of.rows * lanes * a_bits, "b_i": of.cols * lanes * b_bits}
    if block > 1:
        parts |= {"a_scale_i": parts["a_i"], "b_scale_i": parts["b_i"]}
        scales = 8 * (lanes // block)
        needed |= {"a_scale_i": of.rows * scales, "b_scale_i": of.cols * scales}
    needed |= {"valid_i": 1, "ready_o": 1, "first_i": 1, "row_en_i": of.rows, "col_en_i": of.cols}
    waves = _waves_of(file, f"{scope}.{ARRAY}", [*needed, PORTS["reset"], *clocks])
    _require(waves, needed, f"the array of tile {tile}")
    cycles = _clocked(waves, clocks, limits, PORTS["reset"])
    takes = cycles.flag("valid_i") & cycles.flag("ready_o")
    taken = np.flatnonzero(takes)
    if len(taken) < 2:
        raise Error(f"scope {waves.scope} takes {len(taken)} beats; expected two or more, for a flip takes two")
    beats, known_bits = cycles.edges[taken], np.zeros((len(cycles.edges), 1), np.uint8)
    flags = {PORTS["valid"]: takes, PORTS["first"]: takes & cycles.flag("first_i")}
    common = {name: _signal(cycles.edges, flag[:, None].astype(np.uint8), known_bits) for name, flag in flags.items()}
    sides: dict[str, list[_waves.Signal]] = {
        name: [_signal(beats, bits, odd) for bits, odd in _slices(cycles, name, count, enables, taken)]
        for name, (enables, count) in parts.items()
    }
    cells = []
    for row in range(of.rows):
        for column in range(of.cols):
            ports = {name: side[row if name.startswith("a") else column] for name, side in sides.items()}
            cell = _waves.Waves(
                waves.path, waves.tick_s, waves.end, f"{waves.scope}[{row},{column}]", {**ports, **common}
            )
            cells.append(_price(_Cycles(cell, cycles.edges), PORTS, question, shape, max_unknown, max_products, gauge))
    return TileActivityEnergy(tuple(cells), tile, waves.scope, of.rows, of.cols)
