# SPDX-License-Identifier: Apache-2.0
"""The measures of examples/digits/recoverability.py and steering.py against what originals made (vectors/README.md)."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from originals import vectors

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"
MADE = vectors("representations")


def f32(name: str) -> np.ndarray:
    return MADE[name].view(np.float32).astype(np.float64)


@pytest.fixture
def example(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A script of the digits, beside its siblings."""
    monkeypatch.syspath_prepend(DIGITS)
    return importlib.import_module(request.param)


@pytest.mark.parametrize("example", ["recoverability"], indirect=True)
@pytest.mark.parametrize("width", ["1.0", "5.0"])
@pytest.mark.parametrize("target", ["Y", "Z"])
@pytest.mark.parametrize("case", ["0", "1", "2"])
def test_recoverability(case: str, target: str, width: str, example: ModuleType) -> None:
    """Theirs in FP32 within 2e-6; what is unrelated is left, what X determines is not."""
    x = f32(f"kr/{case}.X")
    found = example.residual(x @ x.T, f32(f"kr/{case}.{target}"), float(width))
    assert found == pytest.approx(f32(f"kr/{case}.{target.lower()}.l{width}")[0], abs=2e-6)


@pytest.mark.parametrize("example", ["steering"], indirect=True)
def test_steering(example: ModuleType) -> None:
    """The step of six channels of 4 x 4 whose rows move up by one, with what comes from outside left out."""
    w, b, q = (MADE[f"gan/{name}"].view(np.float64) for name in ("W", "b", "q"))
    moved = np.roll(b.reshape(6, 4, 4), -1, axis=1).ravel()
    mask = np.ones((6, 4, 4))
    mask[:, -1] = 0
    np.testing.assert_allclose(example.step(w, b, moved, mask.ravel()), q, rtol=1e-12)
