# SPDX-License-Identifier: Apache-2.0
"""Engines: the golden model and the simulated hardware behind one interface."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._arguments import call, flag, float32, integer, one_of, path, shown, text
from ._arguments import threads as check_threads
from ._core import EngineResult, Error, Tile
from ._quantized import QuantizedMatrix, operands


def engines() -> dict[str, str]:
    """Names of this build's engines, each with what it is. 'rtl' is there if Narrowgauge was built with NG_RTL."""
    return _core.engines()


def tiles() -> dict[str, Tile]:
    """The tiles that the engines 'systemc' and 'rtl' simulate, by name (rtl/tile/configurations.json)."""
    return _core.tiles()


def _matrices(a: QuantizedMatrix, b: QuantizedMatrix) -> tuple[QuantizedMatrix, QuantizedMatrix]:
    """The two, checked to be operands of a product of matrices."""
    left, right = operands(a, b)
    if a.ndim != 2 or b.ndim != 2:
        raise Error(
            f"an engine multiplies two matrices, not shapes {a.shape} and {b.shape}; expected two dimensions each"
        )
    return left, right


def _own_format(a: QuantizedMatrix) -> str:
    """The format of results that is a's own."""
    own = f"fp8_{a.element}" if a.scheme == "fp8" else a.scheme
    return own if own in ("fp8_e4m3", "fp8_e5m2", "int4") else "nvfp4"


class RequantizedResult(NamedTuple):
    """A product whose results have become the next product's left operand.

    c: M x N along axis -1. amax: the largest magnitude of the results in BF16, NaN if one is; that of one batch over the
    largest number of the format (2688 in NVFP4) is a tensor scale for the next. run: what it took; its c is empty.
    """

    c: QuantizedMatrix
    amax: float
    run: EngineResult


class IntegerResult(NamedTuple):
    """A product with integer results.

    c: M x N, int8. run: what it took; its c is empty.
    """

    c: NDArray[np.int8]
    run: EngineResult


class LoopState(NamedTuple):
    """What the loop of a board has done.

    running: whether it still does. times: how often the product was computed, results and all. cycles: clocks since the
    loop began, until it ended, modulo 2^32. hash: of all results (docs/units/uart_bridge.md, Registers).
    """

    running: bool
    times: int
    cycles: int
    hash: int


def _engine(
    name: str,
    tile: str | None,
    trace: str | PathLike[str] | None,
    threads: int,
    port: str | PathLike[str] | None = None,
    baud: int = 3_000_000,
    accumulate: str = "exact",
    deadline: int = 0,
) -> Engine:
    """Unpickles."""
    return Engine(
        name,
        tile=tile,
        trace=trace,
        threads=threads,
        port=port,
        baud=baud,
        accumulate=accumulate,
        deadline=deadline,
    )


class Engine:
    """What multiplies two quantized matrices.

    name: one of engines(), or 'board', real hardware. All give the same bits; 'systemc' and 'rtl' the same cycles.
    tile: a name of tiles(); None: the largest that has the operands' formats. Not for 'model'.
    trace: a file for an FST wave of the tile, overwritten by each product; 'rtl' only, and slow.
    threads: of 'model', 0 is one a core; the others simulate on one.
    port: of 'board', the serial device of a board with ng_uart_bridge (docs/boards.md). baud: the rate of its image.
    accumulate: of 'rtl', a name of accumulation_modes(): other than 'exact', products are added by the unit of a matrix
        instruction (docs/accumulation.md), C is that of narrowgauge.gemm(..., accumulate=), and gemm is the one method.
    deadline: of 'rtl' and 'systemc', clock cycles that the tile has for a product, 1 to 2^31; 0: all that it takes. Behind
        them each sum ends with its next beat (docs/units/tile.md, Deadline), and result.deadline tells how far C went.

    Raises Error for an unknown engine or tile, for options that the engine does not have, and where no board answers.
    """

    def __init__(
        self,
        name: str = "model",
        *,
        tile: str | None = None,
        trace: str | PathLike[str] | None = None,
        threads: int = 0,
        port: str | PathLike[str] | None = None,
        baud: int = 3_000_000,
        accumulate: str = "exact",
        deadline: int = 0,
    ) -> None:
        self._arguments = (name, tile, trace, threads, port, baud, accumulate, deadline)
        self._engine = _core.Engine(
            text("name", name),
            tile=None if tile is None else text("tile", tile),
            trace=None if trace is None else path("trace", trace),
            threads=check_threads(threads),
            port=None if port is None else path("port", port),
            baud=integer("baud", baud, 1, 2**32 - 1),
            accumulate=one_of("accumulate", accumulate, tuple(_core.accumulation_modes())),
            deadline=integer("deadline", deadline, 0, 2**31),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _engine, self._arguments

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
        left, right = _matrices(a, b)
        return self._engine.gemm(left._vectors, right._vectors, progress=progress)

    def gemm_sparse(
        self,
        a: QuantizedMatrix,
        b: QuantizedMatrix,
        pattern: str = "2:4",
        *,
        progress: Callable[[int, int], object] | None = None,
    ) -> EngineResult:
        """C = A x B of nvfp4, fp8 or luq whose A has the pattern, with no time spent on its zeros; C is that of gemm(a, b).

        a, b, progress: as for gemm; a of a matrix that is pruned along its rows, as prune(w, pattern) does; nvfp4 is
        quantized with wide_blocks=True on both sides. pattern: '2:4', '1:2' (which is 2:4, too) or '4:8pair'. Infinities and
        NaN of an fp8 b count only where a stores an element (docs/sparsity.md, On the tile). In simulated hardware utilization
        counts twice the array's products as possible.

        Raises Error for another pattern, where a group of a has more codes, or pairs, that are not zero than the pattern
        allows, where two blocks of 16 of one wide block have two scales, for a tile without `sparse` or without the formats,
        and for what gemm refuses.
        """
        text("pattern", pattern)
        call("progress", progress)
        left, right = _matrices(a, b)
        return self._engine.gemm_sparse(left._vectors, right._vectors, pattern, progress=progress)

    def gemm_compressed(
        self,
        a: QuantizedMatrix,
        b: QuantizedMatrix,
        *,
        compress: str = "ab",
        progress: Callable[[int, int], object] | None = None,
    ) -> EngineResult:
        """C = A x B with operands sent to the tile compressed, without loss; C is that of gemm(a, b).

        a, b, progress: as for gemm. compress: 'a', 'b' or 'ab', the operands that are. The result's operand_bytes are those
        that the tile was sent (docs/units/tile.md, Compressed operands).

        Raises Error for another `compress`, for a tile without `codec`, and for what gemm refuses.
        """
        call("progress", progress)
        if text("compress", compress) not in ("a", "b", "ab"):
            raise Error(f"compress={shown(compress)} names no operands; expected 'a', 'b' or 'ab'")
        left, right = _matrices(a, b)
        return self._engine.gemm_compressed(
            left._vectors, right._vectors, compress_a="a" in compress, compress_b="b" in compress, progress=progress
        )

    def gemm_requantized(
        self,
        a: QuantizedMatrix,
        b: QuantizedMatrix,
        tensor_scale: float,
        *,
        format: str | None = None,
        relu: bool = False,
        compress: str = "",
        progress: Callable[[int, int], object] | None = None,
    ) -> RequantizedResult:
        """C = A x B quantized, ready to be the next product's left operand, with nothing computed outside of the tile.

        a, b, progress: as for gemm. format: of C, 'nvfp4' in the dialect 'narrowgauge', 'fp8_e4m3', 'fp8_e5m2', or 'int4', the
        left operand of 'luq'; None: that of a, or 'nvfp4' where a has none of them. tensor_scale: of C, a float32 that is known
        before C is, as delayed scaling has it; results beyond 2688, 448, 57344, 7 times it saturate. Each result is rounded to
        BF16 and quantized to nearest (docs/units/tile.md, Results as operand A). relu: negative results become +0 first, NaN
        stay, and amax is that of what is left. compress: of 'a', 'b' and 'c' those that travel compressed, without loss; the
        run's operand_bytes and result_bytes are what was sent and what came (Compressed results).

        Raises Error for a tensor scale that the format does not take: in NVFP4 2^-111 or more and finite, in FP8 a power of
        two among these, in INT4 finite and above 0; for another format; for a tile without `requantize` or the format, or
        without `codec` or `encoders` where something is compressed; for an n of which `lanes` columns of k do not fit a bank
        of B; for another `compress`, and for what gemm refuses.
        """
        call("progress", progress)
        text("compress", compress)
        if sorted(set(compress)) != sorted(compress) or not set(compress) <= set("abc"):
            raise Error(
                f"compress={shown(compress)} names other than operands and result; expected letters of 'abc', once each"
            )
        left, right = _matrices(a, b)
        c, amax, run = self._engine.gemm_requantized(
            left._vectors,
            right._vectors,
            float32("tensor_scale", tensor_scale),
            format=_own_format(a) if format is None else text("format", format),
            relu=flag("relu", relu),
            compress_a="a" in compress,
            compress_b="b" in compress,
            compress_c="c" in compress,
            progress=progress,
        )
        return RequantizedResult(QuantizedMatrix._of(c, (a.shape[0], b.shape[1]), -1), amax, run)

    def gemm_integers(
        self,
        a: QuantizedMatrix,
        b: QuantizedMatrix,
        scale: float,
        *,
        zero_point: int = 0,
        progress: Callable[[int, int], object] | None = None,
    ) -> IntegerResult:
        """C = A x B in INT8, as an integer network takes it, with nothing computed outside of the tile.

        a, b, progress: as for gemm. A code means (code - zero_point) * scale. scale: above 0, a float32. zero_point: -256 to
        255; with -128 on, codes are those of an unsigned integer less 128, and negative numbers become -128. Each exact sum
        is rounded to FP32, multiplied by fl(fl(tensor scale of a * that of b) / scale), rounded to FP32, and that plus
        zero_point is rounded to nearest even and limited to -128 to 127; NaN is 127 (docs/units/tile.md, Results in INT8).

        Raises Error for a scale or zero point beyond these, a factor that is no normal number, operands with FP32 scales of
        parts, a tile without `integers`, and for what gemm refuses.
        """
        call("progress", progress)
        left, right = _matrices(a, b)
        c, run = self._engine.gemm_integers(
            left._vectors,
            right._vectors,
            float32("scale", scale),
            integer("zero_point", zero_point, -256, 255),
            progress=progress,
        )
        return IntegerResult(c, run)

    def __repr__(self) -> str:
        return f"<Engine {self.name}{f', tile {self.tile}' if self.tile else ''}>"

    @property
    def array(self) -> str | None:
        """Rows x columns x lanes of a board's tile, as '4x4x16'; None for other engines."""
        return self._engine.array

    def hold(self, a: QuantizedMatrix, b: QuantizedMatrix) -> EngineResult:
        """C = A x B on a board, whose tile keeps the operands until the engine's next product.

        a, b: as for gemm, and small enough for the tile's banks. Raises Error where they are not, for what gemm refuses, and
        for another engine than 'board'.
        """
        left, right = _matrices(a, b)
        return self._engine.hold(left._vectors, right._vectors)

    def start_loop(self, times: int = 2**32 - 1) -> None:
        """The board repeats the product that it holds, while the line is silent; results are hashed and dropped.

        times: how often, 1 to 2^32 - 1. Raises Error unless a product is held and no loop runs.
        """
        self._engine.start_loop(integer("times", times, 1, 2**32 - 1))

    def loop_state(self) -> LoopState:
        """What the loop has done until now. Raises Error if the tile or its bus has stopped it."""
        return LoopState(*self._engine.loop_state())

    def stop_loop(self) -> LoopState:
        """Ends the loop behind the commands that the tile has, and says what it has done."""
        return LoopState(*self._engine.stop_loop())
