# SPDX-License-Identifier: Apache-2.0
"""Checkpoints against the tools whose layouts they are: files that each tool wrote are read here, and files that were written here by
the tool, and the values are compared.

    checkpoint_tools.py      with torch and any of nvidia-modelopt, compressed-tensors, torchao, transformers, and safetensors installed

What is not installed is left out by name. Prints a line a case: how many values differ from the tool's when scales are multiplied in its
order, in float32, and by how many units in the last place those of the matrix do, which are exact products; exit code 1 for more than 0
and 1 of them."""

from __future__ import annotations

import importlib.metadata
import math
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import narrowgauge as ng

MOST_ULP = 1
WEIGHT = np.random.default_rng(1).standard_normal((160, 512)).astype(np.float32)
Values = np.ndarray
#: What was compared, the matrix that was read here, its divisor where the file has one, the tool's values.
Case = tuple[str, ng.QuantizedMatrix, "np.float32 | None", Values]


def read(file: Path) -> tuple[ng.QuantizedMatrix, np.float32 | None]:
    layer = ng.open_checkpoint(file)["l"]
    divisor = layer.convention == "divisor"
    above = (
        np.float32(ng.open_checkpoint(file).files.array(layer.tensors["global"]).reshape(-1)[0]) if divisor else None
    )
    return layer.read(), above


def rounded(q: ng.QuantizedMatrix, divisor: np.float32 | None) -> Values:
    """Values as all three tools compute them, in float32: the product of the scales is rounded first."""
    if q.scheme != "nvfp4":
        return np.asarray(q)
    scales = ng.decode(np.asarray(q.scales), "ue4m3")
    scales = scales * np.float32(q.tensor_scale) if divisor is None else scales / divisor
    return ng.decode(q.codes, "e2m1") * scales.repeat(16, -1)


def modelopt(folder: Path) -> Iterator[Case]:
    import torch
    from modelopt.torch.quantization.qtensor import NVFP4QTensor
    from safetensors.torch import load_file, save_file

    def values(packed: Any, scale: Any, above: Any) -> Any:
        made = NVFP4QTensor(torch.Size(WEIGHT.shape), torch.float32, packed)
        return made.dequantize(torch.float32, scale=scale, double_scale=above, block_sizes={-1: 16})

    file = folder / "modelopt.safetensors"
    q, scale, above = NVFP4QTensor.quantize(torch.tensor(WEIGHT), 16)
    save_file({"l.weight": q._quantized_data, "l.weight_scale": scale, "l.weight_scale_2": above}, file)
    yield "NVFP4 written by the tool", *read(file), values(q._quantized_data, scale, above).numpy()
    mine = ng.quantize(WEIGHT, dialect="modelopt")
    yield "NVFP4 of the dialect modelopt", mine, None, values(q._quantized_data, scale, above).numpy()
    ng.checkpoint.write(file, {"l": mine}, layout="modelopt")
    t = load_file(file)
    yield (
        "NVFP4 read by the tool",
        mine,
        None,
        values(t["l.weight"], t["l.weight_scale"], t["l.weight_scale_2"]).numpy(),
    )


def compressed_tensors(folder: Path) -> Iterator[Case]:
    import torch
    from compressed_tensors.compressors.mxfp4.base import MXFP4PackedCompressor
    from compressed_tensors.compressors.naive_quantized.base import NaiveQuantizationCompressor
    from compressed_tensors.compressors.nvfp4.base import NVFP4PackedCompressor
    from compressed_tensors.compressors.nvfp4.helpers import unpack_fp4_from_uint8
    from compressed_tensors.quantization import preset_name_to_scheme
    from compressed_tensors.quantization.lifecycle.forward import dequantize
    from safetensors.torch import load_file, save_file

    def decompressed(name: str, compressor: Any, state: dict[str, Any], scheme: Any) -> Values:
        """By the tool; its NVFP4 in float32, where its `decompress` takes bfloat16."""
        if name != "NVFP4":
            return compressor.decompress(dict(state), scheme)["weight"].float().numpy()
        codes = unpack_fp4_from_uint8(state["weight_packed"], *WEIGHT.shape, dtype=torch.float32)
        scale, above = state["weight_scale"].float(), state["weight_global_scale"]
        return dequantize(codes, scale, args=scheme.weights, global_scale=above, dtype=torch.float32).numpy()

    file = folder / "ct.safetensors"
    for name, q, compressor in (
        ("NVFP4", ng.quantize(WEIGHT), NVFP4PackedCompressor),
        ("MXFP4", ng.quantize(WEIGHT, "mxfp4"), MXFP4PackedCompressor),
        ("FP8_BLOCK", ng.quantize(WEIGHT, "fp8_e4m3", scaling="128x128"), NaiveQuantizationCompressor),
    ):
        scheme = preset_name_to_scheme(name, ["Linear"])
        ng.checkpoint.write(file, {"l": q}, layout="compressed-tensors")
        state = {key.removeprefix("l."): tensor for key, tensor in load_file(file).items()}
        values = decompressed(name, compressor, state, scheme)
        yield f"{name} read by the tool", *read(file), values
        if name == "NVFP4":
            made = compressor.compress(
                {
                    "weight": torch.tensor(WEIGHT),
                    "weight_scale": state["weight_scale"].float(),
                    "weight_global_scale": state["weight_global_scale"],
                },
                scheme,
            )
            save_file({f"l.{key}": tensor.contiguous() for key, tensor in made.items()}, file)
            values = decompressed(name, compressor, made, scheme)
            yield f"{name} written by the tool", *read(file), values


def torchao(folder: Path) -> Iterator[Case]:
    import torch
    from safetensors import safe_open
    from safetensors.torch import load_file, save_file
    from torchao.prototype.mx_formats.mx_tensor import MXTensor
    from torchao.prototype.mx_formats.nvfp4_tensor import NVFP4Tensor
    from torchao.prototype.safetensors.safetensors_support import flatten_tensor_state_dict, unflatten_tensor_state_dict

    file = folder / "ao.safetensors"
    w = torch.tensor(WEIGHT)
    above = torch.tensor(np.abs(WEIGHT).max() / 2688)
    tensors: dict[str, Any] = {
        "NVFP4": NVFP4Tensor.to_nvfp4(w, per_tensor_scale=above),
        "NVFP4, scales in tiles,": NVFP4Tensor.to_nvfp4(w, per_tensor_scale=above, is_swizzled_scales=True),
        "MXFP4": MXTensor.to_mx(w, torch.float4_e2m1fn_x2, 32),
        "MXFP8": MXTensor.to_mx(w, torch.float8_e4m3fn, 32),
        "MXFP8, scales in tiles,": MXTensor.to_mx(w, torch.float8_e4m3fn, 32, is_swizzled_scales=True),
    }
    for name, tensor in tensors.items():
        data, metadata = flatten_tensor_state_dict({"l.weight": tensor, "norm.weight": torch.ones(3)})
        save_file(data, file, metadata)
        yield (
            f"{name} written by the tool",
            *read(file),
            (
                tensor.to_dtype(torch.float32)
                if "NVFP4" in name and not hasattr(tensor, "dequantize")
                else tensor.dequantize(torch.float32)
            ).numpy(),
        )
    for name, q in (
        ("NVFP4", ng.quantize(WEIGHT)),
        ("MXFP4", ng.quantize(WEIGHT, "mxfp4")),
        ("MXFP8", ng.quantize(WEIGHT, "mxfp8_e4m3")),
        ("FP8 by vectors", ng.quantize(WEIGHT, "fp8_e4m3", scaling="vector")),
    ):
        ng.checkpoint.write(file, {"l": q, "norm.weight": np.ones(3, np.float32)}, layout="torchao")
        with safe_open(file, "pt") as opened:
            made, left = unflatten_tensor_state_dict(load_file(file), opened.metadata())
        assert not left, left
        yield f"{name} read by the tool", q, None, made["l.weight"].dequantize(torch.float32).numpy()


def transformers(folder: Path) -> Iterator[Case]:
    """Its readers of gpt-oss and DeepSeek files; what it multiplies with is transposed."""
    import torch
    from safetensors.torch import load_file
    from transformers.integrations.finegrained_fp8 import Fp8Dequantize
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors

    file = folder / "hf.safetensors"
    stack = WEIGHT.reshape(2, 80, 512)
    ng.checkpoint.write(file, {"l": ng.quantize(stack, "mxfp4")}, layout="gpt-oss")
    t = load_file(file)
    values = convert_moe_packed_tensors(t["l_blocks"], t["l_scales"], dtype=torch.float32)
    yield "gpt-oss MXFP4 read by the tool", ng.open_checkpoint(file)["l"].read(), None, values.transpose(1, 2).numpy()
    tiles = ng.quantize(np.resize(WEIGHT, (256, 512)), "fp8_e4m3", scaling="128x128")
    ng.checkpoint.write(file, {"l": tiles}, layout="deepseek")
    t = load_file(file)
    values = Fp8Dequantize(None)._dequantize_one(t["l.weight"], t["l.weight_scale_inv"], torch.float32)
    yield "DeepSeek FP8 read by the tool", *read(file), values.numpy()


TOOLS: dict[str, Callable[[Path], Iterator[Case]]] = {
    "nvidia-modelopt": modelopt,
    "compressed-tensors": compressed_tensors,
    "torchao": torchao,
    "transformers": transformers,
}


def ulp(x: np.ndarray, y: np.ndarray) -> int:
    """Largest difference in units of the last place of the larger one."""
    unit = np.spacing(np.maximum(np.maximum(np.abs(x), np.abs(y)), np.float32(2.0**-120)))
    return math.ceil(float((np.abs(x.astype(np.float64) - y) / unit).max()))


def main() -> int:
    warnings.simplefilter("ignore")
    worst = different = 0
    with tempfile.TemporaryDirectory() as folder:
        for tool, cases in TOOLS.items():
            try:
                version = importlib.metadata.version(tool)
                made = list(cases(Path(folder)))
            except ImportError as error:
                print(f"{tool}: left out, {error}")
                continue
            for what, q, divisor, other in made:
                mine = rounded(q, divisor)
                assert mine.shape == other.shape, (tool, what, mine.shape, other.shape)
                apart = ulp(np.asarray(q), other)
                different += np.count_nonzero(mine != other)
                worst = max(worst, apart)
                print(
                    f"{tool} {version}: {what}: {np.count_nonzero(mine != other)} of {mine.size} values differ; "
                    f"from exact products by {apart} ulp at most"
                )
    return int(worst > MOST_ULP or different > 0)


if __name__ == "__main__":
    sys.exit(main())
