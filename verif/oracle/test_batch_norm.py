# SPDX-License-Identifier: Apache-2.0
"""Range BN, L1, L2, top-k and ghost top-10 normalization and bounded weight norm against their authors' code: integer statistics
exactly, outputs and gradients within what the order of FP32 sums leaves open (vectors/README.md)."""

from __future__ import annotations

import numpy as np
import pytest
from originals import vectors

import narrowgauge as ng

CLASSES = ("gauss", "relu", "chanscale")
LP_RULES = {
    "l1": ("l1", 10), "l1raw": ("l1_raw", 10), "l2": ("l2", 10), "top1": ("top_k", 1), "top10": ("top_k", 10),
    "ghost10": ("ghost_top_k", 10),
}  # fmt: skip
ZEROS = np.zeros(6, np.float32)


def made(family: str, name: str) -> dict[str, np.ndarray]:
    """Arrays of a class; the bits of float32 as such."""
    start = f"{family}/{name}."
    found = {key.removeprefix(start): value for key, value in vectors("batch_norm").items() if key.startswith(start)}
    return {key: value.view(np.float32) if value.dtype == np.uint32 else value for key, value in found.items()}


def limit(name: str) -> float:
    """Two channels of chanscale have ranges of a few codes, hence scales of 100 and more, which multiply what differs."""
    return 1e-4 if name == "chanscale" else 1e-6


def within(ours: np.ndarray, theirs: np.ndarray, limit: float) -> None:
    assert np.abs(ours - theirs).max() <= limit * np.abs(theirs).max()


def step_of(theirs: dict[str, np.ndarray]) -> tuple[ng.AffineQuantizer, np.ndarray]:
    """The quantizer of the activations, and their codes in two's complement."""
    low, high = theirs["lo_hi"]
    quantizer = ng.AffineQuantizer.of_range(low, width=float(high - low), rule="quantized_pytorch")
    return quantizer, (theirs["qx_codes"] ^ 0x80).view(np.int8)


@pytest.mark.parametrize("name", CLASSES)
def test_range_in_training(name: str) -> None:
    theirs = made("rbn", name)
    quantizer, codes = step_of(theirs)
    stats = ng.range_stats(codes)
    channels = codes.transpose(1, 0, 2, 3).reshape(6, 16, 64).astype(np.int64)
    np.testing.assert_array_equal(stats.maxima, channels.max(-1).sum(-1))
    np.testing.assert_array_equal(stats.minima, channels.min(-1).sum(-1))
    np.testing.assert_array_equal(stats.sums, channels.sum((-1, -2)))

    norm = ng.BatchNorm(rule="range", grid="paper")
    of_codes = {"step": quantizer.scale, "low": quantizer.offset}
    result = norm.forward(codes, theirs["gamma"], theirs["beta"], **of_codes)
    width = float(result.scale.max() - result.scale.min())
    grid = ng.AffineQuantizer.of_range(result.scale.min(), width=width, rule="quantized_pytorch")
    np.testing.assert_array_equal(grid.quantize(result.scale), theirs["scale_codes"])
    np.testing.assert_array_equal(grid.dequantize(theirs["scale_codes"]), result.scale_used)
    within(result.y[:4], theirs["y"], limit(name))
    mean, scale = norm.average(result, ZEROS, ZEROS)
    np.testing.assert_allclose(mean, theirs["running_mean"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(scale, theirs["running_scale"], rtol=1e-4 if name == "chanscale" else 1e-6)

    go = theirs["go"]
    eight = ng.AffineQuantizer.of_range(go.min(), width=float(go.max() - go.min()), rule="quantized_pytorch")
    back = norm.backward(codes, result, eight.dequantize(eight.quantize(go, theirs["go_noise"])), **of_codes)
    within(back.x[:8], theirs["dx"], limit(name))
    within(back.gamma, theirs["dgamma"], limit(name))
    within(back.beta, theirs["dbeta"], limit(name))

    # The numbers that the codes stand for have the same statistics.
    values = quantizer.dequantize(theirs["qx_codes"])
    same = norm.forward(values, theirs["gamma"], theirs["beta"])
    np.testing.assert_allclose(same.mean, result.mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(same.spread, result.spread, rtol=1e-4)


@pytest.mark.parametrize("name", CLASSES)
def test_range_in_evaluation(name: str) -> None:
    theirs = made("rbn", name)
    quantizer, _ = step_of(theirs)
    found = quantizer.quantize(theirs["x"], theirs["noise"])
    assert (found != theirs["qx_codes"][:2]).sum() == 0
    # Evaluation has a running range, 0.9 of the batch's after one step from 0.
    low, high = theirs["lo_hi"]
    share = np.float32(0.9)
    running = ng.AffineQuantizer.of_range(share * low, width=float(share * (high - low)), rule="quantized_pytorch")
    values = running.dequantize(running.quantize(theirs["x"], theirs["noise_eval"]))
    norm = ng.BatchNorm(rule="range", grid="paper")
    y = norm.evaluate(values, theirs["running_mean"], theirs["running_scale"], theirs["gamma"], theirs["beta"])
    if name != "chanscale":  # where a code that is a near-tie weighs 2.4
        within(y, theirs["y_eval"], 1e-6)
        return
    far = np.abs(y - theirs["y_eval"]) > 1e-4
    assert far.sum() <= 2


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("kind", LP_RULES)
def test_other_statistics(name: str, kind: str) -> None:
    theirs = made("lp", name)
    rule, top = LP_RULES[kind]
    norm = ng.BatchNorm(rule=rule, top=top, grid="fp32")
    result = norm.forward(theirs["x"], theirs["gamma"], theirs["beta"])
    mean, scale = norm.average(result, ZEROS, ZEROS)
    if kind == "ghost10":  # theirs are two steps of one batch
        result = norm.forward(theirs["x"], theirs["gamma"], theirs["beta"], previous=result.spread)
        mean, scale = norm.average(result, mean, scale)
        np.testing.assert_allclose(result.spread, theirs["ghost10.state"], rtol=1e-3 if name == "chanscale" else 1e-6)
    within(result.y[:2], theirs[f"{kind}.y"], limit(name))
    np.testing.assert_allclose(mean, theirs[f"{kind}.running_mean"], rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(scale, theirs[f"{kind}.running_scale"], rtol=1e-3 if name == "chanscale" else 1e-6)


def test_bounded_weight_norm() -> None:
    theirs = {
        key.partition("/")[2]: value.view(np.float32)
        for key, value in vectors("batch_norm").items()
        if key[:4] == "bwn/"
    }
    w = ng.bounded_weight_norm(theirs["v"], theirs["g"], rho=float(theirs["prenorm"][0]))
    np.testing.assert_allclose(w, theirs["w"], rtol=1e-6)
