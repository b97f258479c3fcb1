# SPDX-License-Identifier: Apache-2.0
"""Clips, bits, corrections and losses against those that the papers' own code gave (vectors/README.md)."""

from __future__ import annotations

import numpy as np
import pytest
from originals import vectors

from narrowgauge import AffineQuantizer, calibrate

MADE = vectors("calibration")
PRIOR = {"laplace": "laplace", "gaus": "gauss"}
# Their means and deviations are float32 sums in torch's order.
CLOSE = 1e-6


def floats(name: str) -> np.ndarray:
    bits = MADE[name]
    return bits.view({4: np.float32, 8: np.float64}[bits.itemsize])


@pytest.mark.parametrize("kind", ["laplace", "gauss", "relu", "wide"])
@pytest.mark.parametrize("bits", [2, 3, 4, 8])
@pytest.mark.parametrize("prior", ["laplace", "gaus"])
def test_the_ranges_are_those_of_aciq(kind: str, prior: str, bits: int) -> None:
    x = floats(f"aciq/{kind}.x")
    found = calibrate.clip_range(x, bits, prior=PRIOR[prior], relu=kind == "relu", constants="paper")
    width, low = floats(f"aciq/{kind}.{prior}{bits}.range_offset").tolist()
    assert found.width == pytest.approx(width, rel=CLOSE)
    assert found.low == pytest.approx(low, abs=CLOSE * width)


def test_values_are_those_of_aciq() -> None:
    width, low = floats("aciq/wide.laplace4.range_offset").tolist()
    quantizer = AffineQuantizer.of_range(low, width=width, rule="cnn_quantization", bits=4)
    codes = quantizer.quantize(floats("aciq/wide.x"))
    assert (codes == MADE["aciq/wide.laplace4.codes"]).all()
    assert (quantizer.dequantize(codes).view(np.uint32) == MADE["aciq/wide.laplace4.y"]).all()


@pytest.mark.parametrize(("kind", "goal"), [("wide", 4), ("relu", 3)])
def test_each_channel_by_its_own_range(kind: str, goal: int) -> None:
    x, want = floats(f"aciq/{kind}.x"), floats(f"aciq/{kind}.pc{goal}alloc.y")
    bits = calibrate.allocate_bits(x, goal, axis=1)
    assert bits.tolist() == MADE[f"aciq/{kind}.pc{goal}alloc.bits"].tolist()
    for channel, width in enumerate(bits.tolist()):
        mine = x[:, channel]
        found = calibrate.clip_range(mine, width, relu=kind == "relu", constants="paper")
        quantizer = AffineQuantizer.of_range(found.low, width=found.width, rule="cnn_quantization", bits=width)
        values = quantizer.dequantize(quantizer.quantize(mine))
        # the last bit of a range moves values, and no code
        assert np.abs(values - want[:, channel]).max() <= 4 * CLOSE * found.width


@pytest.mark.parametrize("kind", ["laplace", "gauss", "relu", "wide"])
@pytest.mark.parametrize("goal", [3, 4])
def test_bits_of_activations(kind: str, goal: int) -> None:
    bits = calibrate.allocate_bits(floats(f"aciq/{kind}.x"), goal, axis=1)
    assert bits.tolist() == MADE[f"aciq/{kind}.pc{goal}alloc.bits"].tolist()


@pytest.mark.parametrize("goal", [2, 3, 4])
def test_bits_of_weights(goal: int) -> None:
    assert calibrate.allocate_bits(floats("aciqw/w"), goal).tolist() == MADE[f"aciqw/pc{goal}alloc.bits"].tolist()


@pytest.mark.parametrize("name", ["pc2", "pc3", "pc4", "pc2alloc", "pc3alloc", "pc4alloc"])
def test_corrections(name: str) -> None:
    w, quantized = floats("aciqw/w"), floats(f"aciqw/{name}.wq")
    for ours, theirs in (("mean", "mean"), ("both", "meanvar")):
        corrected = calibrate.correct(quantized, w, correction=ours)
        # where a channel is constant, theirs divides the rounding errors of its mean by 1e-8
        channels = [i for i in range(len(w)) if ours == "mean" or np.ptp(quantized[i]) > 0]
        assert np.abs(corrected - floats(f"aciqw/{name}.{theirs}"))[channels].max() < 1e-7


@pytest.mark.parametrize("kind", ["relu", "laplace"])
@pytest.mark.parametrize("bits", [2, 3, 4, 8])
@pytest.mark.parametrize("p", [2.0, 2.5, 3.0, 4.0])
def test_a_clip_of_lapq_is_no_worse_than_theirs(kind: str, bits: int, p: float) -> None:
    x = floats(f"lapq/{kind}.x")
    relu = kind == "relu"
    ours = calibrate.lp_error(x, calibrate.lp_clip(x, bits, p=p, relu=relu), bits, p, relu=relu)
    # theirs by two versions of scipy's search and by a grid of 600
    theirs = [
        calibrate.lp_error(x, clip, bits, p, relu=relu) for clip in floats(f"lapq/{kind}.b{bits}.p{p}") if clip > 0
    ]
    assert ours <= np.nanmin(theirs) * (1 + CLOSE)  # searches end within a millionth


@pytest.mark.parametrize("case", range(6))
def test_the_integer_program_chooses_what_theirs_does(case: int) -> None:
    parameters = MADE[f"ip/{case}.params"].astype(float)
    distance, power = floats(f"ip/{case}.D_po").tolist()
    layers = [
        calibrate.Layer(
            str(i),
            {8: 0.0, 4: float(floats(f"ip/{case}.loss4")[i]), 2: float(floats(f"ip/{case}.loss2")[i])},
            {bits: count * bits**power for bits in (8, 4, 2)},
        )
        for i, count in enumerate(parameters.tolist())
    ]
    whole = parameters.sum() * 8**power
    choice = calibrate.choose_bits(layers, whole * 4 * distance)
    assert list(choice.bits.values()) == MADE[f"ip/{case}.policy"].tolist()
    assert choice.loss == pytest.approx(floats(f"ip/{case}.objective")[0], abs=1e-5)
    assert choice.bound <= choice.loss * (1 + 1e-9)


@pytest.mark.parametrize("kind", ["gauss", "uniform", "laplace", "twopoint", "bimodal", "tiny"])
@pytest.mark.parametrize("target", [1.8, 1.0])
def test_kurtosis_and_its_loss(kind: str, target: float) -> None:
    w = floats(f"kurt/{kind}.w")
    kurtosis, loss = floats(f"kurt/{kind}.t{target}").tolist()
    assert calibrate.kurtosis(w) == pytest.approx(kurtosis, rel=CLOSE)
    found, gradient = calibrate.kurtosis_loss(w, target=target)
    assert found == pytest.approx(loss, rel=1e-5, abs=1e-6)
    theirs = floats(f"kurt/{kind}.t{target}.grad")
    # of their float32 sums, whose error is of the size of the terms that cancel
    assert np.abs(gradient - theirs).max() <= 1e-5 * max(
        np.abs(theirs).max(), 8 * abs(kurtosis - target) * kurtosis / w.std()
    )


def test_the_losses_of_bd_bnn_leave_out_the_first_convolution() -> None:
    teacher, student = list(floats("wdm/teacher"))[1:], list(floats("wdm/student"))[1:]
    assert calibrate.weight_distribution_loss(teacher, student) == pytest.approx(floats("wdm/imagenet")[0], rel=CLOSE)
    soft = calibrate.weight_distribution_loss(teacher, student, temperature=6)
    assert soft == pytest.approx(floats("wdm/cifar_T6")[0], rel=1e-4)  # float32 sums of differences


@pytest.mark.parametrize("kind", ["lin", "relu"])
def test_adaquant_gains_no_less_than_theirs(kind: str) -> None:
    x, w, b = (floats(f"ada/{kind}.{part}") for part in ("X", "w0", "b0"))
    before, after = floats(f"ada/{kind}.mse").tolist()
    found = calibrate.adaquant(x, w, b, relu=kind == "relu", steps=300)
    assert found.before == pytest.approx(before, rel=0.01)
    assert found.after / found.before <= after / before
