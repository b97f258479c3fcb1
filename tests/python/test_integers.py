# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of GPTQ and AWQ: files packed here code by code, as the published layouts have them, and read; what is refused.

The layouts are transcribed from AutoGPTQ's `qlinear_cuda.py` (pack: codes along K from the lowest bits of a word, zero points less
one along N), from the format gptq_v2 (zero points as they are) and from AutoAWQ's `gemm.py` (field i of a word is column
0, 2, 4, 6, 1, 3, 5, 7 of eight).
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_checkpoint import Given, file_of, program

import narrowgauge as ng
from narrowgauge.checkpoint import IntegerMatrix

N, K = 16, 64


def word(fields: list[int], bits: int) -> int:
    """Fields from the lowest bits upward, as int32 has them."""
    made = sum(field << (bits * i) for i, field in enumerate(fields))
    return made - (made >> 31 << 32)


class Parts:
    """A weight N x K with a scale and a zero point for each output and group."""

    def __init__(self, bits: int = 4, group: int = 16, *, seed: int = 0, act_order: bool = False) -> None:
        rng = np.random.default_rng(seed)
        count = -(-K // group)
        self.bits, self.group = bits, group
        self.codes = rng.integers(0, 2**bits, (N, K))
        self.zeros = rng.integers(1, 2**bits, (N, count))
        self.scales = rng.uniform(0.001, 0.1, (N, count)).astype(np.float16)
        self.order = np.arange(K) // group
        if act_order:
            self.order = rng.permutation(self.order)

    def values(self) -> Any:
        """Element by element."""
        made = np.zeros((N, K))
        for n in range(N):
            for k in range(K):
                g = self.order[k]
                made[n, k] = (int(self.codes[n, k]) - int(self.zeros[n, g])) * float(self.scales[n, g])
        return made

    def gptq(self, *, less: int = 1, name: str = "l") -> Given:
        per, count = 32 // self.bits, self.scales.shape[1]
        words = [
            [word([int(self.codes[n, i * per + j]) for j in range(per)], self.bits) for n in range(N)]
            for i in range(K // per)
        ]
        top = 2**self.bits - 1
        zeros = [
            [
                word([int(self.zeros[i * per + j, g]) - less & top for j in range(per)], self.bits)
                for i in range(N // per)
            ]
            for g in range(count)
        ]
        return {
            f"{name}.qweight": ("I32", np.array(words, np.int32)),
            f"{name}.qzeros": ("I32", np.array(zeros, np.int32)),
            f"{name}.scales": ("F16", self.scales.T.copy()),
            f"{name}.g_idx": ("I32", self.order.astype(np.int32)),
        }

    def awq(self, name: str = "l") -> Given:
        order = [0, 2, 4, 6, 1, 3, 5, 7]

        def packed(rows: Any) -> Any:
            return np.array(
                [[word([int(row[8 * c + i]) for i in order], 4) for c in range(N // 8)] for row in rows], np.int32
            )

        return {
            f"{name}.qweight": ("I32", packed(self.codes.T)),
            f"{name}.qzeros": ("I32", packed(self.zeros.T)),
            f"{name}.scales": ("F16", self.scales.T.copy()),
        }


def read(path: Path, given: Given, **way: Any) -> IntegerMatrix:
    made = ng.open_checkpoint(file_of(path / "a.safetensors", given), **way)["l"].read()
    assert isinstance(made, IntegerMatrix)
    return made


def check(made: IntegerMatrix, parts: Parts) -> None:
    assert (made.shape, made.bits, made.element, made.ndim, made.size) == (
        (N, K),
        parts.bits,
        f"uint{parts.bits}",
        2,
        N * K,
    )
    np.testing.assert_array_equal(made.codes, parts.codes)
    np.testing.assert_array_equal(made.zeros, parts.zeros)
    np.testing.assert_array_equal(made.groups, parts.order)
    np.testing.assert_array_equal(made.dequantize(), parts.values())
    np.testing.assert_array_equal(np.asarray(made), parts.values())  # exact in float32
    assert np.asarray(made).dtype == np.float32


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("act_order", [False, True])
def test_gptq(tmp_path: Path, bits: int, act_order: bool) -> None:
    parts = Parts(bits, act_order=act_order)
    check(read(tmp_path, parts.gptq()), parts)
    check(read(tmp_path, parts.gptq(less=0), zero_points="as_stored"), parts)
    (tmp_path / "quantize_config.json").write_text(json.dumps({"bits": bits, "checkpoint_format": "gptq_v2"}))
    check(read(tmp_path, parts.gptq(less=0)), parts)
    (tmp_path / "quantize_config.json").write_text(json.dumps({"bits": bits}))
    check(read(tmp_path, parts.gptq()), parts)


def test_gptq_without_order_and_with_a_short_group(tmp_path: Path) -> None:
    parts = Parts()
    given = parts.gptq()
    del given["l.g_idx"]
    check(read(tmp_path, given), parts)
    parts = Parts(group=24)  # 24, 24 and 16 inputs
    check(read(tmp_path, parts.gptq()), parts)
    given = parts.gptq()
    del given["l.g_idx"]
    found = ng.open_checkpoint(file_of(tmp_path / "a.safetensors", given))["l"]
    assert found.problem == "tensor 'l.scales' has 3 groups for 64 inputs; expected a divisor of them, or 'l.g_idx'"


def test_awq(tmp_path: Path) -> None:
    parts = Parts(seed=3)
    parts.zeros[0, 0] = 0
    check(read(tmp_path, parts.awq()), parts)
    layer = ng.open_checkpoint(tmp_path / "a.safetensors")["l"]
    assert (layer.layout, layer.scheme, layer.scaling, layer.problem) == ("awq", "affine", "group", None)
    assert layer.nbytes == N * K // 2 + 4 * N // 2 + 4 * N * 2


def test_configurations(tmp_path: Path) -> None:
    parts = Parts()
    (tmp_path / "config.json").write_text(json.dumps({"quantization_config": {"checkpoint_format": "gptq_v2"}}))
    check(read(tmp_path, parts.gptq(less=0)), parts)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "llama"}))
    check(read(tmp_path, parts.gptq()), parts)
    for text, message in (
        (
            "{",
            r"cannot read config\.json beside .* \(JSONDecodeError\); expected JSON that may have a checkpoint_format; or give zero_points",
        ),
        ("[" * 100000, r"cannot read config\.json beside"),
        ('{"quantization_config": []}', r"cannot read config\.json beside"),
        (
            '{"quantization_config": {"checkpoint_format": "marlin"}}',
            "has checkpoint_format 'marlin'; expected gptq or gptq_v2",
        ),
    ):
        (tmp_path / "config.json").write_text(text)
        with pytest.raises(ng.Error, match=message):
            read(tmp_path, parts.gptq())
        check(read(tmp_path, parts.gptq(), zero_points="plus_one"), parts)


def test_zero_points_that_may_mean_two_things(tmp_path: Path) -> None:
    """Symmetric files of gptq_v2 that do not say so are known (8 in place of 7), and readers differ where gptq has 15."""
    parts = Parts()
    parts.zeros[:] = 8
    check(read(tmp_path, parts.gptq()), parts)  # 7 everywhere
    with pytest.raises(
        ng.Error, match=r"'l.qzeros' has 8 everywhere, as gptq_v2 has .* zero_points as_stored or plus_one"
    ):
        read(tmp_path, parts.gptq(less=0))
    check(read(tmp_path, parts.gptq(less=0), zero_points="as_stored"), parts)
    parts.zeros[3, 2] = 0
    with pytest.raises(ng.Error, match=r"'l.qzeros' has 15 at \[2, 3\], which .* zero_points plus_one or wrapped"):
        read(tmp_path, parts.gptq())
    check(read(tmp_path, parts.gptq(), zero_points="wrapped"), parts)
    parts.zeros[3, 2] = 16
    check(read(tmp_path, parts.gptq(), zero_points="plus_one"), parts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"l.scales": None}, "tensor 'l.scales' is missing; expected it beside 'l.qweight'"),
        ({"l.qzeros": None}, "tensor 'l.qzeros' is missing; expected it beside 'l.qweight'"),
        (
            {"l.scales": ("F16", np.zeros((4, N), np.float16))},
            r"tensor 'l.scales' has 0 at \[0, 0\]; expected positive finite",
        ),
        ({"l.scales": ("F16", np.full((4, N), np.nan, np.float16))}, r"tensor 'l.scales' has nan at \[0, 0\]"),
        ({"l.scales": ("F16", np.full((4, N), -1, np.float16))}, r"tensor 'l.scales' has -1 at \[0, 0\]"),
        ({"l.scales": ("I32", np.ones((4, N), np.int32))}, "tensor 'l.scales' is of type I32; expected F32 or"),
        (
            {"l.scales": ("F16", np.ones((4, 5), np.float16))},
            "tensor 'l.qweight' has shape 8 x 16; expected inputs x 0 words of AWQ",
        ),
        ({"l.scales": ("F16", np.ones(N, np.float16))}, "tensor 'l.scales' has shape 16; expected groups x outputs"),
        ({"l.qzeros": ("I32", np.zeros((3, 2), np.int32))}, "tensor 'l.qzeros' has shape 3 x 2; expected 4 x 2"),
        (
            {"l.qzeros": ("I32", np.zeros((4, 3), np.int32))},
            "tensor 'l.qzeros' has 3 words a group; expected 2, 4 or 8 bits",
        ),
        ({"l.qweight": ("F16", np.zeros((8, N), np.float16))}, "tensor 'l.qweight' is of type F16; expected I32"),
        ({"l.g_idx": ("I32", np.full(K, 4, np.int32))}, r"tensor 'l.g_idx' has 4 at \[0\]; expected groups 0 to 3"),
        ({"l.g_idx": ("I32", np.full(K, -1, np.int32))}, r"tensor 'l.g_idx' has -1 at \[0\]"),
        (
            {"l.g_idx": ("I32", np.zeros(K + 1, np.int32))},
            "tensor 'l.g_idx' is of type I32 and shape 65; expected I32 of 64",
        ),
    ],
)
def test_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    given = {name: value for name, value in {**Parts().gptq(), **change}.items() if value is not None}
    with pytest.raises(ng.Error, match=message):
        read(tmp_path, given)


def test_three_bits(tmp_path: Path) -> None:
    given: Given = {
        "l.qweight": ("I32", np.zeros((6, 32), np.int32)),
        "l.qzeros": ("I32", np.zeros((4, 3), np.int32)),
        "l.scales": ("F16", np.ones((4, 32), np.float16)),
    }
    with pytest.raises(ng.Error, match="has 3 bits, which are not read here; expected 2, 4 or 8 bits"):
        read(tmp_path, given)


def test_products_and_conversion(tmp_path: Path) -> None:
    parts = Parts()
    file = file_of(tmp_path / "a.safetensors", {**parts.gptq(), "l.bias": ("F16", np.ones(N, np.float16))})
    found = ng.open_checkpoint(file)
    assert set(found.others) == {"l.bias"}
    with pytest.raises(
        ng.Error, match="is uint4 with a scale a group, which no engine multiplies; expected another format"
    ):
        found["l"].multiply(np.ones((2, K), np.float32))
    with pytest.raises(ng.Error, match="of layout gptq, which is read and not written; expected a format or dialect"):
        ng.checkpoint.convert(found, tmp_path / "b.safetensors", layout="modelopt")
    with pytest.raises(ng.Error, match="which is read and not written; expected a layout to write, one of modelopt,"):
        ng.checkpoint.convert(found, tmp_path / "b.safetensors", format="nvfp4")
    for layout, way in (("modelopt", {"dialect": "modelopt"}), ("compressed-tensors", {"format": "fp8_e4m3"})):
        (change,) = ng.checkpoint.convert(found, tmp_path / "b.safetensors", layout=layout, **way)
        assert (change.before, change.codes, change.scales, change.elements) == ("uint4 group 16", None, None, N * K)
        written = ng.open_checkpoint(tmp_path / "b.safetensors")
        assert written["l"].read() == ng.quantize(parts.values().astype(np.float32), **way)
        assert set(written.others) == {"l.bias"}
        assert 15 < change.sqnr_db < 50
    assert ng.checkpoint.convert(found, None, format="mxfp4")[0].after == "mxfp4"


def test_program(tmp_path: Path) -> None:
    parts = Parts()
    file = file_of(tmp_path / "a.safetensors", {**parts.gptq(name="l"), **parts.awq(name="m")})
    listed: subprocess.CompletedProcess[str] = program(file, "--check")
    assert listed.returncode == 0, listed.stderr
    rows = [line.split() for line in listed.stdout.splitlines()]
    assert rows[1][:5] == ["l", "gptq", "uint4", "group", "16"]
    assert rows[2][:5] == ["m", "awq", "uint4", "group", "16"]
    facts = json.loads(program(file, "--layer", "l", "--zero-points", "as_stored", "--json").stdout)
    assert (facts["scheme"], facts["element"], facts["groups"]) == ("affine", "uint4", 4)
    assert "to uint4" not in program(file, "--dialect", "te").stdout


def test_integer_matrix() -> None:
    made = IntegerMatrix(4, [[1, 15], [0, 7]], [[0.5], [0.25]], [[8], [16]])
    np.testing.assert_array_equal(made, [[-3.5, 3.5], [-4, -2.25]])
    assert made == IntegerMatrix(4, made.codes, made.scales, made.zeros, made.groups)
    assert hash(made) == hash(IntegerMatrix(4, made.codes, made.scales, made.zeros))
    assert made != IntegerMatrix(4, made.codes, made.scales, made.zeros - 1)
    assert made != 3
    assert not made.codes.flags.writeable
    assert repr(made) == "<IntegerMatrix uint4, shape (2, 2), 1 groups>"
    for wrong, message in (
        ({"bits": 9}, "bits is 9; expected 2 to 8"),
        ({"codes": [[16]]}, "codes have dtype .*; expected integers of 0 to 15"),
        ({"codes": [1, 2]}, r"codes have shape \(2,\)"),
        ({"scales": [[0.0], [1.0]]}, "scales are not all positive"),
        ({"scales": [[1.0, 1.0, 1.0]] * 2}, "scales have shape"),
        ({"zeros": [[17], [0]]}, "zeros have dtype .*; expected integers of 0 to 16"),
        ({"zeros": [[1]]}, "zeros have shape"),
        ({"groups": [0, 1]}, "groups have dtype .*; expected integers of 0 to 0"),
        ({"groups": [0]}, "groups have shape"),
    ):
        with pytest.raises(ng.Error, match=message):
            IntegerMatrix(
                **{"bits": 4, "codes": [[1, 15], [0, 7]], "scales": [[0.5], [0.25]], "zeros": [[8], [16]], **wrong}
            )  # type: ignore[arg-type]
    with pytest.raises(ng.Error, match="codes have 3 inputs and scales 2 groups; expected groups"):
        IntegerMatrix(4, [[1, 2, 3]], [[1.0, 1.0]], [[0, 0]])
