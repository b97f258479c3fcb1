# SPDX-License-Identifier: Apache-2.0
"""libgguf, the quantizers of llama.cpp's ggml as a library: blocks of NVFP4 and their values, bit for bit.

Its digests of 8.4 million codes are compared everywhere; libgguf itself, where it is installed, on a few chunks and corners.
"""

from __future__ import annotations

import libgguf_sweep as sweep
import numpy as np
import pytest
from verifloat_sweep import digest

import narrowgauge as ng

F = np.float32


def made(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Blocks by way of a quantized matrix, and what they are read as."""
    blocks = ng.gguf.pack(ng.quantize(x, dialect="ggml"))
    return blocks, np.asarray(ng.gguf.unpack(blocks))


def test_digests() -> None:
    rows = sweep.recorded()
    assert len(rows) == sweep.CHUNKS
    differ = []
    for row in rows:
        blocks, values = made(sweep.matrix(int(row["chunk"])))
        differ += [row["chunk"]] * ((digest(blocks), digest(values)) != (row["blocks"], row["values"]))
    assert not differ, f"{len(differ)} chunks differ from libgguf's: {', '.join(differ[:8])}"


def test_a_digest_sees_one_bit() -> None:
    blocks, _ = made(sweep.matrix(0))
    changed = blocks.copy()
    changed[5, 77] ^= 1
    assert digest(changed) != digest(blocks) == sweep.recorded()[0]["blocks"]


def test_inputs_reach_the_corners() -> None:
    """Scales in which ggml differs from rounding to nearest even, largest and subnormal ones, ties of elements."""
    beyond = cut = ties = zero = largest = 0
    for chunk in range(sweep.CHUNKS):
        x = sweep.matrix(chunk)
        q, plain = ng.quantize(x, dialect="ggml"), ng.quantize(x, dialect="ggml:scale=exact")
        other = q.scales != plain.scales
        beyond += int((other & (q.scales == 0x7E)).sum())
        cut += int((other & (q.scales == 7)).sum())
        zero += int((q.scales == 0).sum())
        largest += int((q.scales == 0x7E).sum())
        step = ng.decode(q.scales, "ue4m3").repeat(16, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ties += int(np.isin(np.abs(x / step), [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5]).sum())
    assert min(beyond, cut, ties, zero, largest) > 0, (beyond, cut, ties, zero, largest)


@pytest.mark.parametrize("chunk", range(0, sweep.CHUNKS, 16))
def test_libgguf(chunk: int) -> None:
    pytest.importorskip("libgguf", reason="libgguf 0.2.2 is not installed")
    x = sweep.matrix(chunk)
    np.testing.assert_array_equal(made(x)[0], sweep.quantize(x))
    assert sweep.recorded()[chunk] == {"chunk": str(chunk), **sweep.made(chunk)}


@pytest.mark.parametrize("value", [0.0, 1e-45, 1.1754944e-38, 0.0058593745, 0.093, 6.375, 1487.0, 1488.0, 1e30, 3.4e38])
def test_corners_of_libgguf(value: float) -> None:
    pytest.importorskip("libgguf", reason="libgguf 0.2.2 is not installed")
    x = np.zeros((2, 64), F)
    x[:, :4] = F([value, -value / 2, value / 24, -0.0])
    x[1] *= -1
    np.testing.assert_array_equal(made(x)[0], sweep.quantize(x))
