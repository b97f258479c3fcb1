#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Implementations of others under the conformance kit, a few lines each.

    conformance.py                  writes a kit, asks every implementation that is installed, prints the table of docs/conformance.md
    conformance.py --write          puts the table into docs/conformance.md
    conformance.py --only gfloat    one of them, with its first mismatches
    conformance.py --serve gfloat   answers `narrowgauge vectors check KIT --command 'conformance.py --serve gfloat'`

Adapters import their library alone, and not narrowgauge, so that --serve runs under any Python that has the library.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PAGE = Path(__file__).resolve().parents[2] / "docs" / "conformance.md"
BEGIN, END = "<!-- results: verif/oracle/conformance.py --write -->", "<!-- end of results -->"
Arrays = dict[str, NDArray[Any]]
Answer = Callable[[str, dict[str, Any], Arrays], "Arrays | None"]
ML_TYPES = {
    "e2m1": "float4_e2m1fn", "e2m3": "float6_e2m3fn", "e3m2": "float6_e3m2fn", "e4m3": "float8_e4m3fn",
    "e4m3_ieee": "float8_e4m3", "e5m2": "float8_e5m2", "e3m4": "float8_e3m4", "e4m3fnuz": "float8_e4m3fnuz",
    "e5m2fnuz": "float8_e5m2fnuz", "e4m3b11fnuz": "float8_e4m3b11fnuz", "e8m0": "float8_e8m0fnu", "bf16": "bfloat16",
    "fp16": "float16",
}  # fmt: skip


def _unsigned(array: NDArray[Any]) -> NDArray[Any]:
    return array.view(np.uint8 if array.itemsize == 1 else np.uint16)


@cache
def ml_dtypes_answers() -> Answer:
    import ml_dtypes

    def answer(operation: str, p: dict[str, Any], x: Arrays) -> Arrays | None:
        name = ML_TYPES.get(p.get("format", ""))
        if name is None:
            return None
        dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
        with np.errstate(all="ignore"):
            if operation == "encode" and p["rounding"] == "nearest_even" and p["overflow"] in ("ieee", "oracle"):
                return {"code": _unsigned(x["value"].astype(dtype))}
            if operation == "decode":
                return {"value": x["code"].view(dtype).astype(np.float32)}
        return None

    return answer


@cache
def gfloat_answers() -> Answer:
    import gfloat
    from gfloat import formats as f

    known = {
        "e2m1": f.format_info_ocp_e2m1, "e2m3": f.format_info_ocp_e2m3, "e3m2": f.format_info_ocp_e3m2,
        "e4m3": f.format_info_ocp_e4m3, "e5m2": f.format_info_ocp_e5m2, "e8m0": f.format_info_ocp_e8m0,
        "bf16": f.format_info_bfloat16, "fp16": f.format_info_binary16,
    }  # fmt: skip
    modes = {
        "nearest_even": gfloat.RoundMode.TiesToEven, "nearest_away": gfloat.RoundMode.TiesToAway,
        "toward_zero": gfloat.RoundMode.TowardZero,
    }  # fmt: skip

    blocks = {
        "mxfp4": f.format_info_mxfp4_e2m1, "mxfp6_e2m3": f.format_info_mxfp6_e2m3, "mxfp6_e3m2": f.format_info_mxfp6_e3m2,
        "mxfp8_e4m3": f.format_info_mxfp8_e4m3, "mxfp8_e5m2": f.format_info_mxfp8_e5m2, "mxint8": f.format_info_mxint8,
    }  # fmt: skip

    def quantized(format: Any, x: NDArray[Any]) -> Arrays:
        made = []
        for block in x.astype(np.float64).reshape(-1, 32):
            scale = gfloat.compute_scale_amax(format.etype.emax, block)
            made.append(list(gfloat.encode_block(format, scale, block / scale)))
        codes = np.array(made, np.int64) & 255
        return {"codes": codes[:, 1:].reshape(x.shape), "scales": codes[:, 0].reshape(len(x), -1)}

    def answer(operation: str, p: dict[str, Any], x: Arrays) -> Arrays | None:
        if operation == "quantize" and p["dialect"] == "ocp_floor":
            return quantized(blocks[p["format"]], x["x"])
        format = known.get(p.get("format", ""))
        if format is None:
            return None
        if operation == "decode":
            with np.errstate(all="ignore"):
                values = gfloat.decode_ndarray(format, x["code"].astype(np.int64))
                return {"value": np.asarray(values).astype(np.float32)}
        words = {}
        if operation == "encode" and p["overflow"] in ("saturate", "ieee"):
            mode, saturate = modes[p["rounding"]], p["overflow"] == "saturate"
            if not saturate and p["format"] in ("e2m1", "e2m3", "e3m2"):  # which it refuses
                return None
        elif operation == "encode_stochastic":
            mode, saturate = gfloat.RoundMode.StochasticFastest, True
            words = {"srbits": x["word"].astype(np.int64), "srnumbits": p["random_bits"]}
        else:
            return None
        with np.errstate(all="ignore"):
            rounded = gfloat.round_ndarray(format, x["value"].astype(np.float64), mode, saturate, **words)
            codes = np.asarray(gfloat.encode_ndarray(format, rounded)).astype(np.int64)
        if p["format"] == "e8m0":  # beyond eight bits where encode_float says 0xFF
            codes = np.where((codes < 0) | (codes > 255), 255, codes)
        return {"code": codes}

    return answer


@cache
def onnx_answers() -> Answer:
    import onnx
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    types = {
        "e2m1": TensorProto.FLOAT4E2M1, "e4m3": TensorProto.FLOAT8E4M3FN, "e5m2": TensorProto.FLOAT8E5M2,
        "e4m3fnuz": TensorProto.FLOAT8E4M3FNUZ, "e5m2fnuz": TensorProto.FLOAT8E5M2FNUZ, "bf16": TensorProto.BFLOAT16, "fp16": TensorProto.FLOAT16,
    }  # fmt: skip

    def evaluator(to: int, saturate: int) -> Any:
        node = helper.make_node("Cast", ["x"], ["y"], to=to, saturate=saturate)
        x, y = (helper.make_tensor_value_info(n, t, [None]) for n, t in (("x", TensorProto.FLOAT), ("y", to)))
        graph = helper.make_graph([node], "cast", [x], [y])
        return ReferenceEvaluator(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)]))

    def answer(operation: str, p: dict[str, Any], x: Arrays) -> Arrays | None:
        to = types.get(p.get("format", ""))
        if to is None or operation != "encode" or p["rounding"] != "nearest_even" or p["overflow"] == "oracle":
            return None
        if p["overflow"] == "saturate" and p["format"] in ("bf16", "fp16"):  # its attribute is of float 8 only
            return None
        with np.errstate(all="ignore"):
            (made,) = evaluator(to, int(p["overflow"] == "saturate")).run(None, {"x": x["value"]})
        return {"code": _unsigned(np.ascontiguousarray(made))}

    assert onnx.__version__
    return answer


@cache
def jax_answers() -> Answer:
    import jax
    import jax.numpy as jnp

    def answer(operation: str, p: dict[str, Any], x: Arrays) -> Arrays | None:
        name = ML_TYPES.get(p.get("format", ""))
        # It has no casts of 6 bits on the CPU.
        dtype = None if name is None or "float6" in name else getattr(jnp, name, None)
        if dtype is None:
            return None
        if operation == "encode" and p["rounding"] == "nearest_even" and p["overflow"] in ("ieee", "oracle"):
            return {"code": _unsigned(np.asarray(jax.jit(lambda v: v.astype(dtype))(x["value"])))}
        if operation == "decode":
            codes = jnp.asarray(x["code"].view(np.dtype(dtype)))
            return {"value": np.asarray(jax.jit(lambda v: v.astype(jnp.float32))(codes))}
        return None

    return answer


@cache
def libgguf_answers() -> Answer:
    import libgguf

    nvfp4 = 40  # its number among ggml's types

    def answer(operation: str, p: dict[str, Any], x: Arrays) -> Arrays | None:
        if operation != "quantize" or p["dialect"] != "ggml":
            return None
        rows, columns = x["x"].shape
        blocks = libgguf.quantize_rows(x["x"], nvfp4).reshape(rows, columns // 64, 36)
        nibbles = blocks[:, :, 4:].reshape(rows, columns // 16, 8)
        codes = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1).reshape(rows, columns)
        return {"codes": codes, "scales": blocks[:, :, :4].reshape(rows, columns // 16)}

    return answer


@cache
def verifloat_answers() -> Answer:
    import verifloat as vf

    recipes = {
        ("narrowgauge", "nvfp4"): vf.NVFP4, ("modelopt", "nvfp4"): vf.NVFP4_MODELOPT, ("ocp_floor", "mxfp4"): vf.MXFP4,
    }  # fmt: skip

    def answer(operation: str, p: dict[str, Any], x: Arrays) -> Arrays | None:
        if operation == "quantize" and (p["dialect"], p["format"]) in recipes:
            t = vf.BlockTensor.quantize(x["x"], recipes[p["dialect"], p["format"]])
            tensor = 0x3F800000 if t.tensor_scale is None else t.tensor_scale.raw
            made = {"codes": np.array(t.elem_raw, np.uint8), "scales": np.array(t.scale_raw, np.uint8)}
            return {**made, "tensor_scale": np.array([tensor], np.uint32)}
        if operation == "gemm" and (p["format"], p["accumulate"]) == ("nvfp4", "exact"):
            left, right = (
                vf.BlockTensor.from_raw(x[n].tolist(), x[f"{n}_scales"].tolist(), vf.NVFP4, tensor_scale=0x3F800000)
                for n in ("a", "b")
            )
            sums = vf.matmul(left, right, vf.FP32, transpose_b=True)
            return {"c": np.array([[entry.raw for entry in row] for row in sums], np.uint32)}
        return None

    return answer


@cache
def transcription_answers() -> Answer:
    """Not of others: the transcriptions of this folder, which share no code with the golden model."""
    import accumulation
    import dialects
    import hif4
    import if4
    import mixfp4

    quantizers = {
        **dialects.DIALECTS,
        "fouroversix": dialects.FOUROVERSIX,
        "te:rounding=stochastic": replace(dialects.TE, ties="stochastic"),
        "te_4over6:bound=448,search=mse": replace(dialects.TE_4OVER6, bound=448.0, search="mse"),
        "ggml:scale=exact": replace(dialects.GGML, scale="exact"),
    }
    rules = {
        "blackwell_64": accumulation.BLACKWELL_64, "blackwell_32": accumulation.BLACKWELL_32,
        "hopper_32": accumulation.HOPPER_FP8,
    }  # fmt: skip

    def answer(operation: str, p: dict[str, Any], x: Arrays) -> Arrays | None:
        if operation == "quantize":
            return quantized(quantizers[p["dialect"]], p, x)
        if operation in ("quantize_if4", "quantize_mixfp4"):
            numbers = x["x"].reshape(-1, 16)
            made = if4.quantize(numbers, p["choice"]) if operation == "quantize_if4" else mixfp4.quantize(numbers)
            codes, scales, amax = made
            blocks = scales.reshape(len(x["x"]), -1)
            return {"codes": codes.reshape(x["x"].shape), "scales": blocks, "amax": np.array([amax], np.float32)}
        if operation == "quantize_hif4":
            codes, *rest = hif4.quantize(x["x"].reshape(-1, 64))
            scales, level2, level3 = (each.reshape(len(x["x"]), -1) for each in rest)
            return {"codes": codes.reshape(x["x"].shape), "scales": scales, "level2": level2, "level3": level3}
        if operation == "mma":
            return {"d": chained(rules[p["rule"]], p, x)}
        if operation == "gemm" and p["accumulate"] == "rvbna":
            element = p["format"].partition("_")[2]
            return {"c": accumulation.rvbna(element, element, x["a"], x["b"])}
        return None

    def quantized(rule: Any, p: dict[str, Any], x: Arrays) -> Arrays:
        uniforms = None
        if "word" in x:
            if rule.ties == "stochastic":  # up if floor(256 f) + word >= 256, which is f > u with this u
                uniforms = np.nextafter(((256 - x["word"].astype(np.int64)) / 256).astype(np.float32), np.float32(0))
            else:
                uniforms = (x["word"] * 2.0**-24).astype(np.float32)
        if p["format"].startswith("mx"):
            other = {"mxfp4": "e2m1", "mxint8": "int8_mx"}
            rule = replace(rule, element=other.get(p["format"], p["format"].partition("_")[2]))
        codes, scales = dialects.transcribed(x["x"], rule, uniforms)
        amax = np.abs(x["x"]).max() if rule.constant_amax is None else np.float32(rule.constant_amax)
        return {
            "codes": codes,
            "scales": scales,
            "tensor_scale": np.array([dialects.tensor_scale(amax, rule)], np.float32),
        }

    return answer


def chained(rule: Any, p: dict[str, Any], x: Arrays) -> NDArray[np.uint32]:
    """D by the transcription of a rule, instruction after instruction along K."""
    import accumulation

    k = 64 if rule.group > 1 else 32
    state = x["c"].view(np.uint32)
    for step in range(x["a"].shape[1] // k):
        scales: tuple[Any, ...] = ()
        if "a_scales" in x:
            count = x["a_scales"].shape[1] * k // x["a"].shape[1]
            cut = slice(step * count, (step + 1) * count)
            scales = (p["scale_format"], x["a_scales"][None, :, cut], x["b_scales"][None, :, cut])
        at = slice(step * k, (step + 1) * k)
        elements = (p["a_format"], p["b_format"])
        state = accumulation.step(rule, elements, x["a"][None, :, at], x["b"][None, :, at], state[None], *scales)[0]
    return state


#: Distribution, adapter.
ADAPTERS: dict[str, Callable[[], Answer]] = {
    "ml_dtypes": ml_dtypes_answers, "gfloat": gfloat_answers, "onnx": onnx_answers, "jax": jax_answers,
    "libgguf": libgguf_answers, "verifloat": verifloat_answers, "transcription": transcription_answers,
}  # fmt: skip


def version(name: str) -> str | None:
    """Of an installed library; '' for our own, None where it is not installed."""
    if name == "transcription":
        return ""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def serve(name: str) -> int:
    """The protocol of docs/conformance.md in full."""
    answer = ADAPTERS[name]()
    for line in sys.stdin:
        question = json.loads(line)
        inputs = {}
        for key, one in question["inputs"].items():
            array = np.array(one["data"], np.uint32 if one["type"] == "float32" else one["type"])
            inputs[key] = (array.view(np.float32) if one["type"] == "float32" else array).reshape(one["shape"])
        made = answer(question["operation"], question["parameters"], inputs)
        if made is None:
            reply: dict[str, Any] = {"skip": f"{name} does not have it"}
        else:
            flat = {key: np.ascontiguousarray(a).ravel() for key, a in made.items()}
            flat = {key: a.view(np.uint32) if a.dtype == np.float32 else a for key, a in flat.items()}
            reply = {"outputs": {key: a.tolist() for key, a in flat.items()}}
        print(json.dumps(reply), flush=True)
    return 0


def group(case: Any) -> str:
    """The row of the table that a case belongs to."""
    p = case.parameters
    if case.operation == "encode":
        odd = {"nan": ", NaN to formats without", "nonpositive": ", not positive numbers to unsigned formats"}
        return f"casts, `{p['rounding']}`, `{p['overflow']}`{odd.get(case.name.rsplit('/', 1)[-1], '')}"
    if case.operation == "decode":
        return "codes to values"
    if case.operation == "encode_stochastic":
        return f"stochastic casts, {p['random_bits']} bits"
    if case.operation == "quantize":
        return f"blocks, `{p['dialect']}`, {p['format'].partition('_')[0]}"
    if case.operation == "quantize_if4":
        return f"blocks, IF4 by `{p['choice']}`"
    if case.operation == "quantize_mixfp4":
        return "blocks, MixFP4"
    if case.operation == "quantize_hif4":
        return "blocks, HiFloat4"
    if case.operation == "mma":
        return f"instruction `{p['rule']}`"
    return f"products, `{p['accumulate']}`" if case.operation == "gemm" else case.operation


def rows(name: str, label: str, kit: Any, report: Any) -> list[str]:
    """Rows of the table: passing cases of all that were compared, and where the others differ."""
    found: dict[str, list[Any]] = {}
    for outcome in report.outcomes:
        if outcome.status != "skip":
            found.setdefault(group(kit.cases[outcome.case]), []).append(outcome)
    made = []
    for what, outcomes in sorted(found.items(), key=lambda item: item[0].partition(",")[0]):
        passed = sum(one.status == "pass" for one in outcomes)
        numbers = sum(one.compared for one in outcomes)
        differs = []
        for one in outcomes:
            if one.status == "fail":
                p = kit.cases[one.case].parameters
                which = p.get("format", one.case.rsplit("/", 1)[-1])
                if "blocks" in one.case:
                    which = one.case.rsplit("/", 1)[-1]
                differs.append(f"{which} {one.mismatches or 'raises'}")
        made.append(f"| {label} | {what} | {passed} of {len(outcomes)} | {numbers} | {', '.join(differs)} |")
    return made


def results(
    names: list[str], kit: Any, *, loud: bool = False, python: dict[str, str] | None = None
) -> tuple[list[str], list[str]]:
    """Rows of the table, and the names of what is not installed."""
    from narrowgauge import vectors
    from narrowgauge.vectors.run import table

    made, absent = [], []
    for name in names:
        other = (python or {}).get(name)
        if other:
            with vectors.Command([other, __file__, "--serve", name], timeout=600) as command:
                report = vectors.check(kit, command)
            import subprocess

            ask = f"import importlib.metadata as m; print(m.version({name!r}))"
            found: str | None = subprocess.run(
                [other, "-c", ask], capture_output=True, text=True, check=True
            ).stdout.strip()
        else:
            found = version(name)
            if found is None:
                absent.append(name)
                continue
            report = vectors.check(kit, ADAPTERS[name]())
        if loud:
            print(table(report))
        made += rows(name, f"{name} {found}".strip(), kit, report)
    return made, absent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=ADAPTERS)
    parser.add_argument("--serve", choices=ADAPTERS)
    parser.add_argument("--write", action="store_true")
    parser.add_argument(
        "--at", action="append", default=[], metavar="NAME=PYTHON", help="run NAME under another Python"
    )
    given = parser.parse_args()
    if given.serve:
        return serve(given.serve)
    from narrowgauge import vectors

    with tempfile.TemporaryDirectory() as folder:
        vectors.write(folder)
        kit = vectors.open_kit(folder)
    names = [given.only] if given.only else list(ADAPTERS)
    python = dict(one.split("=", 1) for one in given.at)
    made, absent = results(names, kit, loud=bool(given.only), python=python)
    for name in absent:
        print(f"{name} is not installed: skipped", file=sys.stderr)
    head = "| implementation | what | cases that pass | numbers | numbers that differ |\n|---|---|---|---|---|"
    text = "\n".join([head, *made])
    print(text)
    if given.write:
        page = PAGE.read_text()
        before, rest = page.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
