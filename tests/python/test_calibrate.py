# SPDX-License-Identifier: Apache-2.0
"""Calibration: its functions' limits, and the command."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import calibrate
from narrowgauge.calibrate import __main__ as command_line


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(1).laplace(size=shape).astype(np.float32)


@pytest.mark.parametrize("prior", calibrate.PRIORS)
@pytest.mark.parametrize("bits", range(9))
def test_exact_clips_have_the_least_error_that_the_paper_derives(prior: str, bits: int) -> None:
    found = calibrate.clip_constant(bits, prior=prior)

    def error(clip: float) -> float:  # of clipping both sides, and of rounding
        if prior == "laplace":
            clipped = 2 * math.exp(-clip)
        else:
            clipped = (clip**2 + 1) * math.erfc(clip / math.sqrt(2)) - math.sqrt(2 / math.pi) * clip * math.exp(
                -(clip**2) / 2
            )
        return clipped + clip**2 / (3 * 4**bits)

    assert error(found) <= min(error(found * 0.999), error(found * 1.001))
    if bits and prior == "laplace":
        assert found == pytest.approx(calibrate.clip_constant(bits, prior=prior, constants="paper"), abs=0.01)


def test_a_clip_is_worth_its_while() -> None:
    x = numbers(4096)
    for bits in (2, 3, 4):
        found = calibrate.clip_range(x, bits)
        clipped = ng.AffineQuantizer.of_range(found.low, width=found.width, rule="cnn_quantization", bits=bits)
        whole = ng.AffineQuantizer.of_range(float(x.min()), width=float(np.ptp(x)), rule="cnn_quantization", bits=bits)
        assert (
            np.square(x - clipped.dequantize(clipped.quantize(x))).sum()
            < np.square(x - whole.dequantize(whole.quantize(x))).sum()
        )


def test_joint_clips_are_no_worse_than_those_of_each_layer() -> None:
    rng = np.random.default_rng(3)
    w, x = rng.standard_normal((8, 32)).astype(np.float32), rng.laplace(size=(64, 32)).astype(np.float32)
    y = x @ w.T

    def loss(clips: dict[str, float]) -> float:
        rounded = {}
        for name, values in (("w", w), ("x", x)):
            quantizer = calibrate.lapq_quantizer(clips[name], 4)
            rounded[name] = quantizer.dequantize(quantizer.quantize(values))
        return float(np.square(rounded["x"] @ rounded["w"].T - y).mean())

    found = calibrate.joint_clips(loss, {"w": w, "x": x}, 4)
    assert found.loss <= found.layer_loss
    assert found.loss == loss(found.clips)
    assert found.loss < loss({"w": float(np.abs(w).max()), "x": float(np.abs(x).max())})
    assert calibrate.joint_clips(loss, {"w": w, "x": x}, 4, iterations=0).loss == found.layer_loss


def test_the_program_of_bits_is_the_best_of_all_choices() -> None:
    rng = np.random.default_rng(5)
    layers = [
        calibrate.Layer(
            f"l{i}", dict(zip((8, 4, 2), sorted(rng.random(3)), strict=True)), {8: 8.0 + i, 4: 4.0 + i, 2: 2.0 + i}
        )
        for i in range(5)
    ]
    budget = 30.0
    best = min(
        sum(layer.losses[bits] for layer, bits in zip(layers, choice, strict=True))
        for choice in np.array(np.meshgrid(*[[8, 4, 2]] * 5)).reshape(5, -1).T.tolist()
        if sum(layer.costs[bits] for layer, bits in zip(layers, choice, strict=True)) <= budget
    )
    found = calibrate.choose_bits(layers, budget)
    assert found.loss == pytest.approx(best, rel=1e-12)
    assert found.cost <= budget


def test_energy_is_asked_of_the_gauge() -> None:
    costs = calibrate.energy_costs(1000, [2, 4, 8])
    assert costs[2] < costs[4] < costs[8]
    assert costs[4] == 1000 * ng.energy("int4", lanes=16).each


def test_wrong_input_is_named() -> None:
    x = numbers(4, 4)
    for wrong, text in (
        (lambda: calibrate.clip_range(np.array([1.0]), 4), "x has 1 values; expected 2 or more"),
        (lambda: calibrate.clip_range(np.array([1.0, np.nan]), 4), "not finite"),
        (lambda: calibrate.clip_constant(9), "bits is 9; expected 0 to 8"),
        (lambda: calibrate.clip_constant(0, prior="gauss", constants="paper"), "expected 1 to 8 bits"),
        (lambda: calibrate.clip_range(x, 4, prior="cauchy"), "expected one of laplace, gauss"),
        (lambda: calibrate.allocate_bits(np.ones((3, 4)), 4), "constant"),
        (lambda: calibrate.correct(x, x[:2]), "expected that of weights"),
        (lambda: calibrate.lp_clip(np.zeros(4), 4), "no number but 0"),
        (lambda: calibrate.kurtosis(np.ones(5)), "all of weights are equal"),
        (lambda: calibrate.weight_distribution_loss([x], []), "teacher has 1 tensors and student 0"),
        (lambda: calibrate.choose_bits([], 1), "there is no layer"),
        (lambda: calibrate.choose_bits([calibrate.Layer("a", {8: 0.0}, {4: 1.0})], 1), "layer 'a' has losses of [8]"),
        (lambda: calibrate.choose_bits([calibrate.Layer("a", {8: 0.0}, {8: 2.0})], 1), "expected at least 2"),
        (
            lambda: calibrate.choose_bits([calibrate.Layer("a", {8: np.nan}, {8: 2.0})], 1),
            "loss of layer 'a' at 8 bits is nan",
        ),
        (lambda: calibrate.allocate_bits(x, 4, axis=2), "axis is 2; expected -2 to 1"),
        (lambda: calibrate.correct(x, x, axis=5), "axis is 5; expected -2 to 1"),
    ):
        with pytest.raises(ng.Error) as caught:
            wrong()
        assert text in str(caught.value)


def command(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "narrowgauge.calibrate", *map(str, words)], capture_output=True, text=True, check=False
    )


def test_the_command(tmp_path: Path) -> None:
    np.savez(tmp_path / "w.npz", conv=numbers(8, 4, 3, 3), bias=numbers(8))
    np.save(tmp_path / "x.npy", np.maximum(numbers(64, 16), 0))
    saved = tmp_path / "q.npz"
    words = (
        "aciq",
        tmp_path / "w.npz",
        "--per-channel",
        0,
        "--correct",
        "mean",
        "--allocate",
        "--save",
        saved,
        "--json",
    )
    done = command(*words)
    assert done.returncode == 2  # a channel of the bias has one value
    assert "2 or more" in done.stderr
    np.savez(tmp_path / "w.npz", conv=numbers(8, 4, 3, 3))
    done = command(*words)
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["tensors"]
    assert row["name"] == "conv"
    assert len(row["channels"]) == 8
    with np.load(saved) as quantized:
        w = numbers(8, 4, 3, 3)
        assert np.abs(quantized["conv"].mean((1, 2, 3)) - w.mean((1, 2, 3))).max() < 1e-6
        assert np.square(quantized["conv"] - w).mean() == pytest.approx(row["mean_square_error"])
    for words, text in (
        (("aciq", tmp_path / "x.npy", "--relu"), "unclipped dB"),
        (("lapq", tmp_path / "x.npy", "--relu", "--p", 3), "SQNR dB"),
        (("kure", tmp_path / "w.npz"), "mean loss"),
        (("--help",), "examples:"),
    ):
        done = command(*words)
        assert done.returncode == 0, done.stderr
        assert text in done.stdout
    layers = [
        {"name": f"l{i}", "products": 1000 * (i + 1), "losses": {"8": 0, "4": 0.1 / (i + 1), "2": 1}} for i in range(3)
    ]
    (tmp_path / "layers.json").write_text(json.dumps(layers))
    done = command("budget", tmp_path / "layers.json", "--energy", 0.6, "--json")
    assert done.returncode == 0, done.stderr
    chosen = json.loads(done.stdout)
    assert chosen["cost"] <= 0.6 * chosen["energy_of_8_bits"]
    for words, text in (
        (("aciq", tmp_path / "none.npy"), "cannot be read"),
        (("aciq", tmp_path / "x.npy", "--allocate"), "expected --per-channel"),
        (("aciq", tmp_path / "x.npy", "--per-channel", 5), "--per-channel is 5"),
        (("aciq", tmp_path / "x.npy", "--per-channel", 5, "--allocate"), "--per-channel is 5"),
        (("budget", tmp_path / "layers.json", "--energy", 0.01), "the budget is"),
        (("kure", tmp_path / "x.npy", tmp_path / "layers.json"), "cannot be read"),
    ):
        done = command(*words)
        assert (done.returncode, done.stdout) == (2, "")
        assert text in done.stderr


def test_codes_of_all_widths_go_through_the_coder_and_back() -> None:
    w = numbers(6, 300) * np.float32([[0.01], [1], [3], [1], [100], [1]])
    used: list[ng.AffineQuantizer | float] = [float(w[0].mean())]
    for bits, channel in zip((2, 3, 5, 8), w[1:], strict=False):
        found = calibrate.clip_range(channel, bits)
        used.append(ng.AffineQuantizer.of_range(found.low, width=found.width, rule="cnn_quantization", bits=bits))
    used.append(ng.AffineQuantizer(bits=4, signed=True, scale=0.25, zero_point=0))
    codes = calibrate.centred_codes(w, used)
    assert codes.dtype == np.int8
    for one, channel, found in zip(used, w, codes, strict=True):
        if isinstance(one, float):
            assert not found.any()
        else:
            assert found.min() >= -(1 << (one.bits - 1))
            assert found.max() < 1 << (one.bits - 1)
            assert (found == one.quantize(channel).astype(int) - (0 if one.signed else 1 << (one.bits - 1))).all()
    back = calibrate.values_of_codes(ng.decompress(ng.compress(codes)), used)
    for one, channel, values in zip(used, w, back, strict=True):
        assert (values == (np.float32(one) if isinstance(one, float) else one.dequantize(one.quantize(channel)))).all()
    for call, text in (
        (lambda: calibrate.centred_codes(w, used[1:]), "x has 6 channels; expected 5"),
        (lambda: calibrate.centred_codes(np.float32(1), used), "x has 0 channels"),
        (lambda: calibrate.values_of_codes(codes[1:], used), "codes has 5 channels; expected 6"),
        (lambda: calibrate.values_of_codes(codes.astype(int), used), "codes is of int64 with 2 axes; expected int8"),
        (lambda: calibrate.values_of_codes(np.full((6, 1), 100, np.int8), used), "expected integers of 0 to 3"),
    ):
        with pytest.raises(ng.Error, match=text):
            call()


def test_coded_files_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    np.savez(tmp_path / "w.npz", a=numbers(40, 200), b=numbers(200))
    folder = tmp_path / "new" / "coded"
    words = ["calibrate", "aciq", str(tmp_path / "w.npz"), "--bits", "3", "--codes", str(folder)]
    monkeypatch.setattr(sys, "argv", [*words, "--json"])
    assert command_line.main() == 0
    for row in json.loads(capsys.readouterr().out)["tensors"]:
        data = (folder / f"{row['name']}.ngfm").read_bytes()
        (one,) = row["channels"]
        quantizer = ng.AffineQuantizer(**{key: one[key] for key in ("bits", "scale", "offset", "zero_point")})
        with np.load(tmp_path / "w.npz") as saved:
            x = saved[row["name"]]
        codes = ng.decompress(data)
        assert (codes.astype(int) + 4 == quantizer.quantize(x)).all()
        assert row["coded_bits"] == 8 * len(data) / x.size
        counts = np.unique(codes, return_counts=True)[1] / x.size
        assert row["entropy_bits"] == pytest.approx(-(counts * np.log2(counts)).sum())
    monkeypatch.setattr(sys, "argv", words)
    assert command_line.main() == 0
    assert "coded bits" in capsys.readouterr().out
    (tmp_path / "file").write_text("")
    np.savez(tmp_path / "odd.npz", **{"a/b": numbers(40)})
    for wrong, text in (
        ([*words[:3], *words[2:]], "two tensors have the name 'a'"),
        ([*words, "--codes", str(tmp_path / "file" / "x")], "cannot make the folder"),
    ):
        monkeypatch.setattr(sys, "argv", wrong)
        assert command_line.main() == 2
        assert text in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["calibrate", "lapq", str(tmp_path / "odd.npz"), "--codes", str(folder)])
    assert command_line.main() == 2
    assert "one is 'a/b'; expected another name" in capsys.readouterr().err


SPACE = {
    "format": ["nvfp4", "fp8_e4m3", "int8"],
    "technology": "horowitz_45nm",
    "lanes": 16,
    "mac_energy_j": {"nvfp4": 1e-13, "fp8_e4m3": 3e-13, "int8": 2e-13},
    "frequency_hz": 1e8,
    "objectives": ["energy"],
}
WORK = {
    "layers": [
        {"op": "gemm", "name": "first", "m": 64, "n": 32, "k": 64},
        {"op": "gemm", "name": "wide", "m": 64, "n": 256, "k": 256},
        {"op": "gemm", "name": "wide", "m": 64, "n": 256, "k": 256},
        {"op": "gemm", "name": "last", "m": 64, "n": 16, "k": 256},
    ]
}


def test_formats_of_layers_within_a_budget_are_the_best_of_all() -> None:
    costs, losses = {}, {}
    for name in ("first", "wide", "last"):
        layers = [layer for layer in WORK["layers"] if layer["name"] == name]
        for format in SPACE["format"]:
            (point,) = ng.explore({"layers": layers}, {**SPACE, "format": format}).document()["front"]
            costs[name, format] = point["energy_j"]
            losses[name, format] = len(layers) * 10 ** (-point["sqnr_db"] / 10)
    everywhere = sum(costs[name, "int8"] for name in ("first", "wide", "last"))
    for share in (1.0, 0.85, 0.75):
        choice = calibrate.choose_formats(WORK, SPACE, share)
        assert choice.reference == pytest.approx(everywhere)
        assert choice.joule <= share * everywhere * (1 + 1e-9)
        every = [
            (sum(losses[pair] for pair in pairs), sum(costs[pair] for pair in pairs))
            for pairs in (
                list(zip(("first", "wide", "last"), formats, strict=True))
                for formats in itertools.product(SPACE["format"], repeat=3)
            )
        ]
        best = min(loss for loss, cost in every if cost <= share * everywhere * (1 + 1e-12))
        assert choice.loss == pytest.approx(best)
        assert choice.loss == pytest.approx(sum(losses[pair] for pair in choice.formats.items()))
    given = {name: {"nvfp4": 0.0, "fp8_e4m3": 1.0, "int8": 2.0} for name in ("first", "wide", "last")}
    own = calibrate.choose_formats(WORK, SPACE, 1, losses=given)
    assert set(own.formats.values()) == {"nvfp4"}
    for arguments, says in (
        ((WORK, SPACE, 0.01), "expected at least"),
        ((WORK, SPACE, 0), "energy is 0"),
        ((WORK, {**SPACE, "rows": [4, 8]}, 1), '"rows" has 2 values'),
        ((WORK, {**SPACE, "lanes": 24}, 1), "impossible in nvfp4"),
        (("none", SPACE, 1), "none"),
    ):
        with pytest.raises(ng.Error, match=says):
            calibrate.choose_formats(*arguments)
    with pytest.raises(ng.Error, match="losses of layer 'first'"):
        calibrate.choose_formats(WORK, SPACE, 1, losses={"first": {"nvfp4": 1}})


def test_formats_from_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    (tmp_path / "work.json").write_text(json.dumps(WORK))
    (tmp_path / "space.json").write_text(json.dumps(SPACE))
    words = ["calibrate", "formats", str(tmp_path / "work.json"), str(tmp_path / "space.json"), "--energy", "0.8"]
    monkeypatch.setattr(sys, "argv", words)
    assert command_line.main() == 0
    assert "of the most accurate format everywhere" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", [*words, "--json"])
    assert command_line.main() == 0
    assert json.loads(capsys.readouterr().out)["formats"].keys() == {"first", "wide", "last"}
    monkeypatch.setattr(sys, "argv", [*words, "--set", "x"])
    with pytest.raises(SystemExit, match="2"):
        command_line.main()
    assert "'x' is not NAME=NUMBER; expected one" in capsys.readouterr().err
