# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training: sums in any order, packets that are lost, runs that are cut, and deadlines of stragglers."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import train
from narrowgauge.train import stragglers

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "digits"
DIGITS = train.digits(FOLDER)


def workers(name: str = "fp32", count: int = 4, steps: int = 6, loss: float = 0.2, **options: Any) -> train.Workers:
    recipe = options.pop("recipe", None) or train.load(name)
    return train.Workers(recipe, DIGITS, steps=steps, seed=5, workers=count, link=train.Link(loss), **options)


def same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return all((value.view(np.uint32) == right[name].view(np.uint32)).all() for name, value in left.items())


def test_random_fields_are_those_of_the_quantizer() -> None:
    # The first block of Philox4x32-10 under key 0 and counter 0, from the authors' known answers (Random123).
    assert [hex(int(word)) for word in ng.random_fields(0, 4)] == [
        "0x6627e8d5",
        "0xe169c58d",
        "0xbc57ac4c",
        "0x9b00dbd8",
    ]
    words = ng.random_fields(9, 8)
    np.testing.assert_array_equal(ng.random_fields(9, 5, first=3), words[3:])
    np.testing.assert_array_equal(ng.random_fields(9, 32, bits=8), words.view(np.uint8))
    x = np.linspace(-6, 6, 64, dtype=np.float32).reshape(2, 32)  # blocks whose scale is one
    drawn = ng.random_fields(9, 64, bits=8).reshape(x.shape)
    cast = ng.decode(ng.encode(x, "e2m1", rounding="stochastic", random=drawn), "e2m1")
    whole = ng.quantize(x, "mxfp4", rounding="stochastic", random_bits=8, seed=9)
    np.testing.assert_array_equal(ng.decode(whole.codes, "e2m1"), cast)
    with pytest.raises(ng.Error, match="bits is 33"):
        ng.random_fields(0, 1, bits=33)


def test_sums_are_exact_in_any_order() -> None:
    random = np.random.default_rng(1)
    parts = random.normal(size=(9, 500)) * 2.0 ** random.integers(-100, 100, (9, 500))
    parts[4:8, :200] = -parts[:4, :200]  # what is left is far below what was added
    parts = parts.astype(np.float32)
    wanted = np.array([math.fsum(column) for column in parts.T.tolist()])
    for _ in range(20):
        np.testing.assert_array_equal(train.exact_sum(random.permutation(parts)), wanted)
    assert (np.sum(parts, axis=0, dtype=np.float64) != wanted).any()  # the plain sum is not that


@pytest.mark.parametrize(("count", "loss", "factor"), [(64, 0.1, 1.113), (8, 0.3, 1.533)])
def test_means_of_what_arrives(count: int, loss: float, factor: float) -> None:
    """Variance over that without loss, and the bias of the other mean; figures of spec 10 by simulation."""
    size = 200_000
    link = train.Link(loss, packet=1)
    arrived = np.stack([link.arrived(worker, size) for worker in range(count)])
    assert abs((1 - arrived.mean()) - loss) < 0.002
    parts = np.random.default_rng(2).normal(1.0, 1.0, (count, size)).astype(np.float32)
    mean = train.mean_of_arrived(parts, arrived)
    assert abs(float(mean.mean()) - 1) < 0.005
    assert abs(float(mean.var()) * count / factor - 1) < 0.02
    assert abs(float(train.mean_of_arrived(parts, arrived, "nominal").mean()) - (1 - loss)) < 0.005


def test_nothing_arrives() -> None:
    parts = np.ones((3, 5), dtype=np.float32)
    assert (train.mean_of_arrived(parts, np.zeros((3, 5), dtype=bool)) == 0).all()
    run = workers(loss=1.0)
    before = {name: value.copy() for name, value in run.owner.parameters.items()}
    run.step()
    assert same(before, run.owner.parameters)


@pytest.mark.parametrize("loss", [0.1, 0.5])
def test_drift_of_a_random_walk(loss: float) -> None:
    """Between two workers 2 p / (1 - p^2), to the owner p / (1 - p), in squares of a step (spec 10)."""
    run = train.Workers(train.load("fp32"), DIGITS, steps=40, seed=1, workers=2, link=train.Link(loss, packet=1))
    random = np.random.default_rng(3)
    drifts, squares = [], []
    for step in range(40):
        moved = {n: v + random.normal(size=v.shape).astype(np.float32) for n, v in run.owner.parameters.items()}
        run.owner.parameters, run.owner.done = moved, step + 1
        run._send()
        if step >= 20:
            drifts.append(run.drift())
            lags = [moved[n] - replica.parameters[n] for replica in run.replicas for n in moved]
            squares.append(np.square(np.concatenate([lag.reshape(-1) for lag in lags])).mean())
    assert abs(np.mean(drifts) / (2 * loss / (1 - loss**2)) - 1) < 0.05
    assert abs(np.mean(squares) / (loss / (1 - loss)) - 1) < 0.05


@pytest.mark.parametrize("name", ["fp8", "fp4-all-the-way"])
def test_one_worker_is_a_trainer(name: str) -> None:
    run = workers(name, count=1, loss=0.0)
    alone = train.Trainer(train.load(name), DIGITS, steps=6, seed=5)
    for _ in range(4):
        assert run.step().loss == alone.step().loss
    assert same(alone.parameters, run.owner.parameters)
    assert run.evaluate() == alone.evaluate()
    assert run.owner.costs.products == alone.costs.products
    assert run.owner.costs.seconds.keys() == alone.costs.seconds.keys() | {"link"}


def test_workers_have_batches_and_words_of_their_own() -> None:
    run = workers("fp4-all-the-way", count=3, loss=0.0)
    losses = [replica.gradients()[0] for replica in run.replicas]
    assert len(set(losses)) == 3
    run.step()
    assert all(same(run.owner.parameters, replica.parameters) for replica in run.replicas)
    assert run.drift() == 0


@pytest.mark.parametrize("sparse", [("", "none"), ("2:4-T", "mvue")])
def test_a_run_that_is_cut_ends_in_the_same_bits(sparse: tuple[str, str], tmp_path: Path) -> None:
    recipe = train.with_sparsity(train.load("fp8"), *sparse)
    whole, first = workers(recipe=recipe), workers(recipe=recipe)
    for _ in range(6):
        whole.step()
    for _ in range(3):
        first.step()
    first.evaluate()
    first.save(tmp_path / "run.npz")
    rest = workers(recipe=recipe)
    rest.resume(tmp_path / "run.npz")
    for _ in range(3):
        rest.step()
    assert same(whole.owner.parameters, rest.owner.parameters)
    assert all(same(a.parameters, b.parameters) for a, b in zip(whole.replicas, rest.replicas, strict=True))
    assert whole.evaluate() == rest.evaluate()
    assert whole.drift() == rest.drift() > 0
    with pytest.raises(ng.Error, match="link"):
        workers(recipe=recipe, loss=0.3).resume(tmp_path / "run.npz")


def test_processes_end_in_the_same_bits_as_one() -> None:
    """Two groups of workers that exchange their parts, as under MPI; here each is a thread."""
    alone = workers("fp4-all-the-way")
    for _ in range(4):
        alone.step()
    barrier = threading.Barrier(2)
    parts: dict[int, list[Any]] = {}

    def work(rank: int, runs: dict[int, train.Workers]) -> None:
        def gather(mine: list[Any]) -> list[Any]:
            parts[rank] = mine
            barrier.wait(60)
            made = parts[0] + parts[1]
            barrier.wait(60)
            return made

        run = workers("fp4-all-the-way", mine=range(2 * rank, 2 * rank + 2), gather=gather)
        for _ in range(4):
            run.step()
        runs[rank] = run

    runs: dict[int, train.Workers] = {}
    threads = [threading.Thread(target=work, args=(rank, runs)) for rank in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(same(alone.owner.parameters, runs[rank].owner.parameters) for rank in (0, 1))


def test_digits_are_learnt_over_a_link_that_loses_packets() -> None:
    run = workers("fp4-ends-high", count=3, steps=60, loss=0.1)
    for _ in range(60):
        run.step()
    assert run.evaluate()[1] > 0.8


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"count": 17}, "workers is 17"),
        ({"count": 0}, "workers is 0"),
        ({"loss": 1.5}, "loss is 1.5"),
        ({"mean": "median"}, "arrived"),
        ({"mine": range(3, 5)}, "0 to 3"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ng.Error, match=words):
        workers(**options)


def test_delays_are_those_of_the_paper() -> None:
    times = train.delays(1, 300, 64, 12)
    assert times.shape == (300, 64, 12)
    x = 2 * (times - 1)
    assert abs(x.mean() - 1) < 0.01
    assert abs(x.std() - 1.162) < 0.01
    np.testing.assert_array_equal(times, train.delays(1, 300, 64, 12))


#: Workers, mean of the slowest over 12 undisturbed micro-batches, and speed-ups by where the clock is looked at (spec 9, simulated there).
FIGURES = [
    (8, 1.781, 1.129, 1.121, 1.100),
    (32, 1.932, 1.226, 1.177, 1.137),
    (64, 2.003, 1.270, 1.190, 1.144),
    (112, 2.070, 1.309, 1.206, 1.159),
    (200, 2.128, 1.347, 1.225, 1.162),
]


@pytest.mark.parametrize("figures", FIGURES)
def test_speedups_are_those_of_the_simulation(figures: tuple[float, ...]) -> None:
    count, slowest, *speedups = figures
    times = train.delays(2, 150, int(count), 12)
    assert abs(times.sum(axis=-1).max(axis=1).mean() / 12 / slowest - 1) < 0.012
    for check, wanted in zip(stragglers.CHECKS, speedups, strict=True):
        assert abs(train.speedup(times, 0.5, check).effective / wanted - 1) < 0.015


def test_deadlines_keep_what_they_say() -> None:
    times = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])
    at_once = train.ended(times, 3.5)
    np.testing.assert_array_equal(at_once.kept, [[True, True, False], [True, True, True]])
    np.testing.assert_array_equal(at_once.ends, [3.5, 3.0])
    between = train.ended(times, 3.5, "between")
    assert between.kept.all()
    np.testing.assert_array_equal(between.ends, [6.0, 3.0])
    forward = train.ended(times, 3.5, "after forward")
    np.testing.assert_array_equal(forward.kept, [[True, True, False], [True, True, True]])
    np.testing.assert_array_equal(forward.ends, [4.0, 3.0])
    with pytest.raises(ng.Error, match="check is"):
        train.ended(times, 3.5, "never")
    for wrong, raw, words in (
        (np.ones((2, 3)), 100.0, "shape"),
        (np.ones((2, 3, 5)), 100.0, "six"),
        (np.zeros((2, 3, 6)), 100.0, "positive"),
        (np.full((2, 3, 6), np.nan), 100.0, "positive"),
        (np.ones((2, 3, 6)), 17.0, "raw is"),
    ):
        with pytest.raises(ng.Error, match=words):
            train.drop_threshold(wrong, raw)


def test_the_program_trains_several_workers(tmp_path: Path) -> None:
    base = [sys.executable, "-m", "narrowgauge.train", "fp4-all-the-way", "--data", str(FOLDER), "--steps", "6"]
    lossy = [*base, "--workers", "3", "--packet-loss", "0.2", "--json"]
    done = subprocess.run([*lossy, "--curve", str(tmp_path / "run.html")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["workers"], result["packet_loss"], result["steps"]) == (3, 0.2, 6)
    assert result["drift"] > 0
    page = (tmp_path / "run.html").read_text()
    assert "<svg" in page
    assert json.loads(page.split("id='result'>")[1].split("</script>")[0].replace("\\u003c", "<")) == result
    for words in (
        ["--packet-loss", "0.2"],
        ["--workers", "3", "--verify", "2", "--engine", "rtl"],
        ["--curve", "run.gif"],
    ):
        refused = subprocess.run([*base, *words], capture_output=True, text=True, check=False)
        assert refused.returncode == 2
        assert refused.stderr.startswith("narrowgauge train: ")
