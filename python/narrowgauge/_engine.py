# SPDX-License-Identifier: Apache-2.0
"""Engines: the golden model and the simulated hardware behind one interface."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike

from . import _core
from ._arguments import call, path, text
from ._arguments import threads as check_threads
from ._core import EngineResult, Error, Tile
from ._quantized import QuantizedMatrix, operands


def engines() -> dict[str, str]:
    """Names of this build's engines, each with what it is. 'rtl' is there if Narrowgauge was built with NG_RTL."""
    return _core.engines()


def tiles() -> dict[str, Tile]:
    """The tiles that the engines 'systemc' and 'rtl' simulate, by name (rtl/tile/configurations.json)."""
    return _core.tiles()


class Engine:
    """What multiplies two quantized matrices.

    name: one of engines(). All give the same bits; 'systemc' and 'rtl' the same cycles.
    tile: a name of tiles(); None: the largest that has the operands' formats. Not for 'model'.
    trace: a file for an FST wave of the tile, overwritten by each product; 'rtl' only, and slow.
    threads: of 'model', 0 is one a core; the others simulate on one.

    Raises Error for an unknown engine or tile, and for options that the engine does not have.
    """

    def __init__(
        self,
        name: str = "model",
        *,
        tile: str | None = None,
        trace: str | PathLike[str] | None = None,
        threads: int = 0,
    ) -> None:
        self._engine = _core.Engine(
            text("name", name),
            tile=None if tile is None else text("tile", tile),
            trace=None if trace is None else path("trace", trace),
            threads=check_threads(threads),
        )

    @property
    def name(self) -> str:
        return self._engine.name

    @property
    def tile(self) -> str | None:
        """The tile that was asked for; None: chosen for each product."""
        return self._engine.tile

    def gemm(
        self, a: QuantizedMatrix, b: QuantizedMatrix, *, progress: Callable[[int, int], object] | None = None
    ) -> EngineResult:
        """C = A x B.

        a: M x K along axis -1; b: K x N along axis -2, as for narrowgauge.gemm, without batches. progress: called now and
        then with the work done and the work in all, in any unit. Other threads run meanwhile; calls of one engine wait for
        each other. Raises Error if k, the axes or the schemes differ, and for formats or sizes that the tile cannot take.
        """
        call("progress", progress)
        left, right = operands(a, b)
        if a.ndim != 2 or b.ndim != 2:
            raise Error(
                f"an engine multiplies two matrices, not shapes {a.shape} and {b.shape}: expected two dimensions each"
            )
        return self._engine.gemm(left._vectors, right._vectors, progress=progress)

    def __repr__(self) -> str:
        return f"<Engine {self.name}{f', tile {self.tile}' if self.tile else ''}>"
