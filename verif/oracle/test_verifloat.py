# SPDX-License-Identifier: Apache-2.0
"""VeriFloat, a golden model of others: NVFP4, ModelOpt's NVFP4 and MXFP4 codes, block scales, tensor scales and NVFP4 products,
bit for bit.

Its digests of 8.4 million codes are compared under any Python; VeriFloat itself, where it is installed, on a few chunks.
"""

from __future__ import annotations

import numpy as np
import pytest
import verifloat_sweep as sweep

import narrowgauge as ng


def ours(x: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray, np.float32]:
    q = ng.quantize(x, dialect="modelopt") if name == "modelopt" else ng.quantize(x, name)
    assert q.codes.shape == x.shape
    return q.codes, q.scales, np.float32(q.tensor_scale)


def our_product(x: np.ndarray) -> np.ndarray:
    a, b = ng.quantize(x[: sweep.HALF], "nvfp4"), ng.quantize(x[sweep.HALF :].T, "nvfp4", axis=-2)
    return np.asarray(a @ b, np.float32).view(np.uint32)


def our_digests(x: np.ndarray) -> dict[str, str]:
    a, b = ours(x[: sweep.HALF], "nvfp4"), ours(x[sweep.HALF :], "nvfp4")
    return {
        "nvfp4": sweep.digest(*a, *b),
        "modelopt": sweep.digest(*ours(x, "modelopt")),
        "mxfp4": sweep.digest(*ours(x, "mxfp4")[:2]),
        "product": sweep.digest(our_product(x)),
    }


def test_digests() -> None:
    rows = sweep.recorded()
    assert len(rows) == sweep.CHUNKS
    differ = []
    for row in rows:
        made = our_digests(sweep.matrix(int(row["chunk"])))
        differ += [f"chunk {row['chunk']}, {kind}" for kind in sweep.KINDS if made[kind] != row[kind]]
    assert not differ, f"{len(differ)} digests differ from VeriFloat's: {', '.join(differ[:8])}"


def test_a_digest_sees_one_bit() -> None:
    x = sweep.matrix(0)
    codes, scales, tensor = ours(x[: sweep.HALF], "nvfp4")
    whole = sweep.digest(codes, scales, tensor)
    changed = codes.copy()
    changed[5, 77] ^= 1
    assert sweep.digest(changed, scales, tensor) != whole


def test_inputs_reach_the_corners() -> None:
    """Ties of elements, blocks whose scale is zero or subnormal, saturated elements of MXFP4, zeros of both signs."""
    ties = zero = subnormal = saturated = negative_zero = 0
    for chunk in range(4):
        x = sweep.matrix(chunk)
        codes, scales, tensor = ours(x, "nvfp4")
        step = np.float64(tensor) * ng.decode(scales, "ue4m3").astype(np.float64).repeat(16, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ties += int(np.isin(np.abs(x / step), [0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5]).sum())
        zero += int((scales == 0).sum())
        subnormal += int(((scales > 0) & (scales < 8)).sum())
        negative_zero += int((codes == 8).sum())
        codes, scales, _ = ours(x, "mxfp4")
        saturated += int((np.abs(x) > 6 * ng.decode(scales, "e8m0").astype(np.float64).repeat(32, axis=1)).sum())
    assert min(ties, zero, subnormal, saturated, negative_zero) > 0, (ties, zero, subnormal, saturated, negative_zero)


@pytest.mark.parametrize("chunk", range(4))
def test_verifloat(chunk: int) -> None:
    pytest.importorskip("verifloat", reason="VeriFloat 0.2.0 needs Python 3.12")
    x = sweep.matrix(chunk)
    for name in ("nvfp4", "modelopt", "mxfp4"):
        for got, want in zip(ours(x, name), sweep.quantize(x, name), strict=True):
            np.testing.assert_array_equal(got, want, err_msg=name)
    halves = [sweep.quantize(part, "nvfp4") for part in (x[: sweep.HALF], x[sweep.HALF :])]
    np.testing.assert_array_equal(our_product(x), sweep.product(*halves))
    assert sweep.recorded()[chunk] == {"chunk": str(chunk), **sweep.made(chunk)}
