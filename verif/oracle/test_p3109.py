# SPDX-License-Identifier: Apache-2.0
"""Value tables of the P3109 draft against gfloat: its digest always, gfloat itself where it is installed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import narrowgauge as ng

#: SHA-256 of all tables as gfloat 0.5.2 decodes them; `test_gfloat` compares them value by value.
GFLOAT = "2e4009a18503a43f4c553b777eccafe1ee455c6327edb30d7d0648e9d8cb2404"


def all_formats() -> Iterator[tuple[int, int, bool, bool]]:
    for bits in range(3, 9):
        for signed in (False, True):
            for precision in range(1, bits + (not signed)):
                for extended in (False, True):
                    yield bits, precision, signed, extended


def digest(table: Callable[[int, int, bool, bool], np.ndarray]) -> str:
    sha = hashlib.sha256()
    for f in all_formats():
        values = table(*f)
        sha.update(np.where(np.isnan(values), 1e300, values).astype("<f8").tobytes())
    return sha.hexdigest()


def ours(bits: int, precision: int, signed: bool, extended: bool) -> np.ndarray:
    return ng.p3109_values(bits, precision, signed=signed, extended=extended)


def gfloats(bits: int, precision: int, signed: bool, extended: bool) -> np.ndarray:
    gfloat, formats = pytest.importorskip("gfloat"), pytest.importorskip("gfloat.formats")
    f = formats.format_info_p3109(
        bits,
        precision,
        gfloat.Signedness.Signed if signed else gfloat.Signedness.Unsigned,
        gfloat.Domain.Extended if extended else gfloat.Domain.Finite,
    )
    return np.array([gfloat.decode_float(f, code).fval for code in range(1 << bits)])


def test_digest_of_gfloat() -> None:
    assert len(list(all_formats())) == 120
    assert digest(ours) == GFLOAT


def test_gfloat() -> None:
    for f in all_formats():
        np.testing.assert_array_equal(ours(*f), gfloats(*f), err_msg=str(f))
    assert digest(gfloats) == GFLOAT


def test_errors() -> None:
    for bits, precision, signed in ((2, 1, True), (9, 1, True), (8, 0, True), (8, 8, True), (8, 9, False)):
        with pytest.raises(ng.Error, match="expected"):
            ng.p3109_values(bits, precision, signed=signed)
