# SPDX-License-Identifier: Apache-2.0
"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ._core import Error


@contextmanager
def written_whole(path: str | Path, name: str) -> Iterator[BinaryIO]:
    """A file beside `path`, which takes its place at the end. Raises Error, which says `name`, where that cannot be."""
    temporary = Path(f"{path}.part")
    try:
        with temporary.open("wb") as file:
            yield file
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise Error(f"cannot write {name}: {error}") from None
