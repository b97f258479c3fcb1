# SPDX-License-Identifier: Apache-2.0
"""RTL of MS-EDEN, ng_quantize_eden, against the vectors that Quartet II's kernels made."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from test_dialects import inputs, unpack

BENCH = Path(os.environ.get("NG_RTL_BENCHES", "")) / "rtl_quantize_eden"


def blocks(x: np.ndarray, words: np.ndarray, codes: np.ndarray, scales: np.ndarray) -> list[str]:
    """A line a block: numbers from element 15 down, random number, codes likewise, scale, whether the matrix ends."""
    numbers = x.reshape(-1, 16)
    return [
        f"{''.join(f'{v:04x}' for v in number[::-1])} {word:x} {''.join(f'{v:x}' for v in code[::-1])} {scale:x} {end:d}"
        for number, word, code, scale, end in zip(
            numbers, words, codes, scales, np.arange(len(numbers)) == len(numbers) - 1, strict=True
        )
    ]


@pytest.mark.skipif(not os.access(BENCH, os.X_OK), reason=f"{BENCH} is not built; it needs NG_RTL=ON")
def test_eden_rtl(tmp_path: Path) -> None:
    lines: list[str] = []
    for _, x, want in inputs("quartet2_twin", "eden.codes"):
        uniform = want["u_block"].view(np.float32).reshape(-1)
        # Probabilities are multiples of 2^-24 but for subnormal scales: what is below that does not matter.
        words = (uniform.astype(np.float64) * 2**24).astype(np.uint32)
        scale = int(want["s_dec"].view(np.uint32)[0])
        lines.append(f"tensor {scale if scale else 0x3F800000:08x}")
        codes = unpack(want["eden.codes"]).reshape(-1, 16)
        lines += blocks(x.view(np.uint16), words, codes, want["eden.scales"].reshape(-1))
    count = len(lines)
    assert count > 3000
    text = tmp_path / "groups.txt"
    text.write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [BENCH], env=os.environ | {"NG_GROUPS": str(text)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    ran = re.search(r"ran (\d+) vectors, \d+ compares, 0 errors", done.stdout)
    assert ran is not None
    assert int(ran[1]) > 100 * count  # cycles
