# SPDX-License-Identifier: Apache-2.0
"""RTL of the quantizer of dialect te, ng_quantize_te, against the vectors that Transformer Engine's reference made."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from test_dialects import unpack, vectors

BENCH = Path(os.environ.get("NG_RTL_BENCHES", "")) / "rtl_quantize_te"


def blocks(x: np.ndarray, codes: np.ndarray, scales: np.ndarray) -> list[str]:
    """A line a block: numbers and codes from element 15 down, the scale. x: BF16 codes, rows of whole blocks."""
    # The reference in Python gives code 0 for a -0, the kernels keep its sign.
    codes = np.where((unpack(codes) == 0) & (x >= 0x8000), 8, unpack(codes)).reshape(-1, 16)
    return [
        f"{''.join(f'{v:04x}' for v in number[::-1])} {''.join(f'{v:x}' for v in code[::-1])} {scale:02x}"
        for number, code, scale in zip(x.reshape(-1, 16), codes, scales.reshape(-1), strict=True)
    ]


@pytest.mark.skipif(not os.access(BENCH, os.X_OK), reason=f"{BENCH} is not built; it needs NG_RTL=ON")
def test_te_rtl(tmp_path: Path) -> None:
    made = vectors("te_nvfp4")
    lines: list[str] = []
    count = 0
    for name, x in vectors("inputs_bf16").items():
        if f"{name}/row.codes" not in made:
            continue
        y = made[f"{name}/rht.y"]
        for amax, copies in ((f"{name}/row.amax", {"row": x, "col": x.T}), (f"{name}/rht.amax", {"rht": y})):
            lines.append(f"tensor {int(made[amax][0]):08x}")
            for copy, numbers in copies.items():
                lines += blocks(numbers, made[f"{name}/{copy}.codes"], made[f"{name}/{copy}.scales"])
                count += numbers.size // 16
    assert count > 30_000
    text = tmp_path / "tensors.txt"
    text.write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [BENCH], env=os.environ | {"NG_TENSORS": str(text)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:]
    ran = re.search(r"ran (\d+) vectors, \d+ compares, 0 errors", done.stdout)
    assert ran is not None
    assert int(ran[1]) > count
