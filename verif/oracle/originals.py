# SPDX-License-Identifier: Apache-2.0
"""Reads what originals made (vectors/README.md)."""

from __future__ import annotations

import functools
import io
import lzma
import tarfile
from pathlib import Path

import numpy as np

VECTORS = Path(__file__).parent / "vectors"


@functools.cache
def vectors(name: str) -> dict[str, np.ndarray]:
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress((VECTORS / f"{name}.tar.xz").read_bytes()))) as archive:
        return {
            member.name.removesuffix(".npy"): np.load(io.BytesIO(archive.extractfile(member).read()))
            for member in archive.getmembers()
        }
