# SPDX-License-Identifier: Apache-2.0
"""The golden model as an implementation: what a kit's answers are made by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import gguf, luq
from .._accumulate import mma
from .._core import Error
from .._formats import decode, encode, pack, swizzle_scales, unswizzle_scales
from .._hif4 import quantize_hif4
from .._if4 import quantize_if4, quantize_mixfp4
from .._quantized import QuantizedMatrix, gemm, quantize
from .._sparse import SparseMatrix, prune, to_sparse
from .kit import Arrays, Parameters

#: What `gemm` calls the elements and block scales of a format.
BLOCK_SCALES = {"nvfp4": "ue4m3", "mxfp4": "e8m0", "mxfp8_e4m3": "e8m0", "mxfp8_e5m2": "e8m0"}


def _encode(p: Parameters, x: Arrays) -> Arrays:
    return {"code": encode(x["value"], str(p["format"]), rounding=str(p["rounding"]), overflow=str(p["overflow"]))}


def _decode(p: Parameters, x: Arrays) -> Arrays:
    return {"value": decode(x["code"], str(p["format"]))}


def _encode_stochastic(p: Parameters, x: Arrays) -> Arrays:
    return {
        "code": encode(
            x["value"],
            str(p["format"]),
            rounding="stochastic",
            overflow=str(p["overflow"]),
            random=x["word"],
            random_bits=int(p["random_bits"]),
        )
    }


def _quantize(p: Parameters, x: Arrays) -> Arrays:
    named: dict[str, Any] = {} if "word" not in x else {"random": x["word"]}
    q = quantize(x["x"], str(p["format"]), dialect=str(p["dialect"]), threads=1, **named)
    made: Arrays = {"codes": np.asarray(q.codes), "tensor_scale": np.array([q.tensor_scale], np.float32)}
    return {**made, "scales": np.asarray(q.scales)}


def _quantize_if4(p: Parameters, x: Arrays) -> Arrays:
    return _flagged(quantize_if4(x["x"], choice=str(p["choice"]), threads=1))


def _quantize_mixfp4(p: Parameters, x: Arrays) -> Arrays:
    return _flagged(quantize_mixfp4(x["x"], threads=1))


def _flagged(made: tuple[np.ndarray, np.ndarray, float]) -> Arrays:
    codes, scales, amax = made
    return {"codes": codes, "scales": scales, "amax": np.array([amax], np.float32)}


def _quantize_hif4(p: Parameters, x: Arrays) -> Arrays:
    return dict(zip(("codes", "scales", "level2", "level3"), quantize_hif4(x["x"], threads=1), strict=True))


def _swizzle(p: Parameters, x: Arrays) -> Arrays:
    return {"bytes": swizzle_scales(x["scales"], threads=1)}


def _unswizzle(p: Parameters, x: Arrays) -> Arrays:
    return {"scales": unswizzle_scales(x["bytes"], int(p["rows"]), int(p["blocks"]), threads=1)}


def _pack(p: Parameters, x: Arrays) -> Arrays:
    return {"bytes": pack(x["codes"])}


def _gguf_block(p: Parameters, x: Arrays) -> Arrays:
    return {"bytes": gguf.pack(QuantizedMatrix("nvfp4", "e2m1", x["codes"], x["scales"], tensor_scale=1.0))}


def _mma(p: Parameters, x: Arrays) -> Arrays:
    scales: dict[str, Any] = {}
    if "a_scales" in x:
        scales = {"a_scales": x["a_scales"], "b_scales": x["b_scales"], "scale": str(p["scale_format"])}
    elements = (str(p["a_format"]), str(p["b_format"]))
    return {"d": mma(x["a"], x["b"], x["c"], rule=str(p["rule"]), elements=elements, threads=1, **scales)}


def _gemm(p: Parameters, x: Arrays) -> Arrays:
    scheme, _, element = str(p["format"]).partition("_")
    element = element or "e2m1"
    left, right = (
        QuantizedMatrix(scheme, element, x[name], x.get(f"{name}_scales"), tensor_scale=1.0) for name in ("a", "b")
    )
    return {"c": gemm(left, right.mT, accumulate=str(p["accumulate"]), threads=1)}


def _prune(p: Parameters, x: Arrays) -> Arrays:
    return {"y": prune(x["x"], str(p["pattern"]))}


def _compress(p: Parameters, x: Arrays) -> Arrays:
    made = to_sparse(x["x"], str(p["pattern"]), mask=x["x"] != 0)
    return {"values": np.asarray(made.values), "metadata": np.asarray(made.metadata)}


def _decompress(p: Parameters, x: Arrays) -> Arrays:
    shape = (x["values"].shape[0], int(p["columns"]))
    return {"x": SparseMatrix(x["values"], x["metadata"], str(p["pattern"]), shape).to_dense()}


def _prune_mvue(p: Parameters, x: Arrays) -> Arrays:
    seed, random_bits = int(p["seed"]), int(p["random_bits"])
    return {"y": prune(x["x"], str(p["pattern"]), method="mvue", seed=seed, random_bits=random_bits)}


def _luq(p: Parameters, x: Arrays) -> Arrays:
    levels, seed, random_bits = int(p["levels"]), int(p["seed"]), int(p["random_bits"])
    amax = float(x["alpha"][0]) * 2.0 ** (levels - 1)
    return {"code": luq.quantize(x["value"], levels=levels, random_bits=random_bits, seed=seed, amax=amax).codes[0]}


def _luq_scale(p: Parameters, x: Arrays) -> Arrays:
    levels, power = int(p["levels"]), bool(p["power_of_two"])
    made = [luq.alpha(float(amax), levels=levels, power_of_two=power) for amax in x["amax"]]
    return {"alpha": np.array(made, np.float32)}


_ANSWERS: dict[str, Callable[[Parameters, Arrays], Arrays]] = {
    "encode": _encode, "decode": _decode, "encode_stochastic": _encode_stochastic, "quantize": _quantize,
    "quantize_if4": _quantize_if4, "quantize_mixfp4": _quantize_mixfp4, "quantize_hif4": _quantize_hif4,
    "swizzle": _swizzle, "unswizzle": _unswizzle, "pack": _pack, "gguf_block": _gguf_block, "mma": _mma, "gemm": _gemm,
    "prune": _prune, "compress": _compress, "decompress": _decompress, "prune_mvue": _prune_mvue, "luq": _luq,
    "luq_scale": _luq_scale,
}  # fmt: skip


def reference(operation: str, parameters: Parameters, inputs: Arrays) -> Arrays | None:
    """What the golden model answers: an implementation as `check` takes it. Raises Error for an unknown operation.

    Random words of 'prune_mvue' and 'luq' are those of the parameter seed, which the arrays `word` spell out.
    """
    if operation not in _ANSWERS:
        raise Error(f'operation "{operation}" is unknown; expected one of {", ".join(_ANSWERS)}')
    return _ANSWERS[operation](parameters, inputs)
