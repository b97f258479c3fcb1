# SPDX-License-Identifier: Apache-2.0
"""The deadline that DropCompute's authors choose for logged times, and ours, to the last bit (vectors/README.md)."""

from __future__ import annotations

import numpy as np
import pytest
from originals import vectors

from narrowgauge import train


@pytest.mark.parametrize("name", ["lognormal", "normal", "tail", "flat"])
def test_thresholds_are_theirs(name: str) -> None:
    made = {key.split("/")[1]: value for key, value in vectors("dropcompute").items() if key.startswith(f"{name}/")}
    chosen = train.drop_threshold(made["times"].view(np.float32), float(made["raw"].view(np.float64)[0]))
    assert chosen.seconds == made["threshold"].view(np.float64)[0]
    assert [chosen.speedup, chosen.drop] == made["speedup_drop"].view(np.float64).tolist()
