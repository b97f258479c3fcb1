# SPDX-License-Identifier: Apache-2.0
"""python/bench in small: every format's golden product stands beside float32 products by named kernels; masks are measured."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import narrowgauge as ng

BENCH = Path(__file__).parents[2] / "python" / "bench" / "bench.py"


@pytest.fixture(scope="module")
def measured() -> dict:
    command = [sys.executable, BENCH, "--json", "--size", "32", "--elements", "4096", "--seconds", "0.001"]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def test_every_format_is_beside_float32_products(measured: dict) -> None:
    for format in ng.gemm_formats():
        rows = [row for row in measured["products"] if row["format"] == format]
        assert rows[0]["program"] == "golden model"
        assert rows[0]["macs_per_second"] > 0
        references = {row["program"]: row for row in rows[1:] if row["program"].startswith("float32, ")}
        assert references, format
        for row in rows[1:]:
            assert row["ratio"] == pytest.approx(rows[0]["macs_per_second"] / row["macs_per_second"])


def test_quantizers_are_measured(measured: dict) -> None:
    assert all(row["elements_per_second"] > 0 for row in measured["quantizers"])


def test_calls_from_jax_are_measured() -> None:
    pytest.importorskip("jax", reason="the package jax is not installed")
    command = [sys.executable, BENCH.parent / "jax_calls.py", "--json", "--sizes", "16", "--seconds", "0.001"]
    calls = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["calls"]
    assert [row["work"] for row in calls] == ["fake_quantize nvfp4", "matmul nvfp4", "linear and its gradients"]
    assert all(row["ratio"] == pytest.approx(row.get("ffi", row["callback"]) / row["numpy"]) for row in calls)


def test_dialects_are_measured() -> None:
    command = [sys.executable, BENCH.with_name("dialects.py"), "--json", "--elements", "4096", "--seconds", "0.001"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["quantizers"]
    assert [row["quantizer"].strip("`") for row in rows[1:]] == [*ng.dialects(), "IF4", "MixFP4", "HiFloat4"]
    assert all(
        row["over_cast"] == pytest.approx(row["elements_per_second"] / rows[0]["elements_per_second"]) for row in rows
    )


def test_masks_are_measured(tmp_path: Path) -> None:
    weights = tmp_path / "weights.npy"
    np.save(weights, np.random.default_rng(0).standard_normal((20, 9), np.float32))
    command = [sys.executable, BENCH.with_name("masks.py"), "--json", "--size", "16", weights]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert [(row["matrix"], row["pattern"]) for row in rows[-2:]] == [("weights", "2:4-T"), ("weights", "4:8-T")]
    assert rows[-1]["blocks"] == 2
    for row in rows:
        share = row["approximate_over_best"]
        assert 0.5 <= share["least"] <= share["mean"] <= 1


def test_accumulations_are_measured() -> None:
    """Small K of the study, whose recorded figures are the same, and a time for each mode."""
    script = BENCH.with_name("accumulation.py")
    command = [sys.executable, script, "--json", "--lengths", "64"]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    recorded = json.loads(script.with_suffix(".json").read_text())
    for name, row in rows.items():
        assert row == pytest.approx(recorded[name], rel=1e-6, abs=1e-12), name
    assert rows["wide nvfp4 blackwell 64"]["different"] > 0
    command = [sys.executable, script, "--json", "--speed", "--seconds", "0.001"]
    times = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert {row["mode"] for row in times} == set(ng.accumulation_modes())
    assert all(row["macs_per_second"] > 0 for row in times)
