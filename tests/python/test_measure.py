# SPDX-License-Identifier: Apache-2.0
"""Energy on a board: the interval's coverage, sensors on files and fakes, and the whole path over a simulated board."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge.measure import (
    MODELS,
    BoardLoop,
    Csv,
    Hwmon,
    Ina,
    Joulescope,
    Ppk2,
    Rail,
    Reading,
    Schedule,
    Sensor,
    Simulated,
    interval,
    measure,
    open_sensor,
    product,
    save,
    student_quantile,
)

PROGRAM = Path(ng._core.__file__).parents[2] / "bin" / "narrowgauge"
QUICK = Schedule(block_s=2.0, settle_s=0.2, triples=8, most_s=60)


class Steady:
    """A loop without a board: a thousand products of 64 multiply-accumulates, in a second."""

    macs = 64

    def start(self) -> None:
        pass

    def stop(self) -> tuple[int, float]:
        return 1000, 1.0


def test_student_is_the_table_s() -> None:
    for freedom, t in ((1, 12.706205), (7, 2.364624), (30, 2.042272)):
        assert student_quantile(0.975, freedom) == pytest.approx(t, abs=1e-5)
    assert interval(np.array([1.0, 2.0, 3.0]), 0.95) == pytest.approx((2 - 2.484138, 2 + 2.484138), abs=1e-5)


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_the_interval_covers_the_truth(kind: str) -> None:
    """200 experiments: the truth is in 90 to 99 % of the intervals over triples, and in few of those over readings."""
    truth = MODELS[kind].signal * MODELS[kind].volts
    covered, widths, naive = 0, [], 0
    for seed in range(200):
        sensor = Simulated(kind, seed)
        block = max(0.5, 50 * sensor.model.interval_s)
        found = measure(Steady(), sensor, schedule=Schedule(block_s=block, settle_s=0.05, width=1.0))
        low, high = found.interval_w
        covered += low <= truth <= high
        widths.append((high - low) / 2 / truth)
        per_reading = np.std(found.differences_w, ddof=1) / math.sqrt(found.readings / 3)
        naive += abs(found.power_w - truth) <= 1.96 * per_reading
    print(
        f"{kind}: covers {covered / 2:.1f} %, half of the interval {np.median(widths) * 100:.2f} %; over readings {naive / 2:.1f} %"
    )
    assert 180 <= covered <= 198
    assert naive < 150


def test_energy_is_power_over_products() -> None:
    found = measure(Steady(), Simulated("joulescope", 3), schedule=QUICK)
    assert found.macs_per_s == 64000
    assert found.energy_per_mac_j == pytest.approx(8e-3 * 1.2 / 64000, rel=0.02)
    assert found.interval_j[0] < found.energy_per_mac_j < found.interval_j[1]
    assert found.rest_w == pytest.approx(12e-3 * 1.2, rel=0.05)
    assert len(found.differences_w) == 8


def test_it_goes_on_until_the_interval_is_narrow() -> None:
    wide = replace(MODELS["hwmon"], noise=4e-3)
    few = measure(Steady(), Simulated(model=wide), schedule=replace(QUICK, width=1))
    more = measure(Steady(), Simulated(model=wide), schedule=replace(QUICK, width=0.02, most_s=3600))
    assert len(more.differences_w) > len(few.differences_w) == 8
    limited = measure(Steady(), Simulated(model=wide), schedule=replace(QUICK, width=1e-4, most_s=100))
    assert limited.seconds < 120


def test_the_rail_decides_what_a_current_is() -> None:
    reading = Reading(0, 10e-3, 5.0, 50e-3)
    assert Rail().watts(reading) == pytest.approx(50e-3)
    assert Rail("linear", 1.2).watts(reading) == pytest.approx(12e-3)
    assert Rail("none", 1.2).watts(reading) == pytest.approx(12e-3)
    assert Rail("switching", 1.2).watts(reading) == pytest.approx(50e-3)
    assert Rail("switching").watts(Reading(0, 10e-3, 5.0, math.nan)) == pytest.approx(50e-3)
    with pytest.raises(ng.Error, match="expected core_volts"):
        Rail("linear")
    with pytest.raises(ng.Error, match="expected one of none, linear, switching"):
        Rail("magic")
    with pytest.raises(ng.Error, match="does not measure what the rail needs"):
        Rail().watts(Reading(0, 10e-3, math.nan, math.nan))


class Broken(Simulated):
    """Says `fault` from its 700th reading on."""

    def __init__(self, fault: str) -> None:
        super().__init__("ina226", 1)
        self._fault, self._count, self._kept = fault, 0, None

    def read(self) -> Reading:
        reading = super().read()
        self._count += 1
        if self._count < 700:
            return reading
        if self._fault == "sticks":
            self._kept = self._kept or reading
            return reading._replace(amperes=self._kept.amperes, watts=self._kept.watts)
        if self._fault == "clips":
            return reading._replace(amperes=self.full_scale, watts=self.full_scale)
        for _ in range(100):  # drops out
            reading = super().read()
        return reading


@pytest.mark.parametrize(("fault", "words"), [("sticks", "is stuck"), ("clips", "clips"), ("drops out", "dropped out")])
def test_a_broken_sensor_is_an_error(fault: str, words: str) -> None:
    with pytest.raises(ng.Error, match=words):
        measure(Steady(), Broken(fault), schedule=replace(QUICK, width=0))


def test_what_cannot_be_told_apart_is_an_error() -> None:
    coarse = replace(MODELS["hwmon"], step=0.1, noise=0.0)
    with pytest.raises(ng.Error, match="too coarse"):
        measure(Steady(), Simulated(model=coarse), schedule=QUICK)
    with pytest.raises(ng.Error, match="which may be nothing"):
        measure(Steady(), Simulated(model=replace(MODELS["ina226"], signal=0.0)), schedule=QUICK)
    with pytest.raises(ng.Error, match="gave 2 readings"):
        measure(Steady(), Simulated(model=replace(MODELS["ina226"], interval_s=1.0)), schedule=QUICK)

    class Idle(Steady):
        def stop(self) -> tuple[int, float]:
            return 0, 1.0

    with pytest.raises(ng.Error, match="computed no product"):
        measure(Idle(), Simulated(), schedule=QUICK)
    for wrong in ({"block_s": 0}, {"triples": 1}, {"width": -1}, {"confidence": 1}):
        with pytest.raises(ng.Error, match=f"{next(iter(wrong))} is .*; expected"):
            Schedule(**wrong)


# ---- sensors


def test_hwmon_reads_files(tmp_path: Path) -> None:
    folder = tmp_path / "hwmon3"
    folder.mkdir()
    for name, text in (("name", "ina226"), ("curr1_input", "12"), ("in1_input", "1219"), ("update_interval", "2")):
        (folder / name).write_text(text + "\n")
    for name in ("ina226", "hwmon3"):
        reading = Hwmon(name, root=tmp_path).read()
        assert (reading.amperes, reading.volts) == pytest.approx((12e-3, 1.219))
        assert math.isnan(reading.watts)
    assert Rail().watts(reading) == pytest.approx(12e-3 * 1.219)
    with pytest.raises(ng.Error, match=r"found 0 times in .*; expected one of ina226 \(hwmon3\)"):
        Hwmon("ina219", root=tmp_path)
    with pytest.raises(ng.Error, match="neither curr2_input nor power2_input"):
        Hwmon("ina226", 2, root=tmp_path)
    (folder / "curr1_input").write_text("nothing\n")
    with pytest.raises(ng.Error, match="expected a number of the sensor"):
        Hwmon("ina226", root=tmp_path).read()


def test_ina_reads_registers() -> None:
    registers = {(1, 2): (400).to_bytes(2, "big"), (2, 2): (960).to_bytes(2, "big")}
    registers |= {(4, 3): (3200 << 4).to_bytes(3, "big"), (5, 3): (6144 << 4).to_bytes(3, "big")}
    for chip in ("ina226", "ina228"):
        sensor = Ina(chip, "1", 0x40, 0.1, lambda register, count: registers[register, count])
        reading = sensor.read()
        assert (reading.amperes, reading.volts) == pytest.approx((10e-3, 1.2))
        assert reading.watts == pytest.approx(12e-3)
    assert Ina("ina226", "1", 0x40, 0.1, lambda register, count: b"\xff\xff").read().amperes == pytest.approx(-25e-6)
    assert sensor.full_scale == pytest.approx(1.6384)

    def silent(register: int, count: int) -> bytes:
        raise OSError(121, "Remote I/O error")

    with pytest.raises(ng.Error, match="does not answer"):
        Ina("ina226", "1", 0x40, 0.1, silent).read()
    with pytest.raises(ng.Error, match="expected more than 0"):
        Ina("ina226", "1", 0x40, 0.0, silent)


def test_instruments_by_their_packages() -> None:
    """On fakes of joulescope's and ppk2-api's calls; no instrument was there."""

    class Scope:
        def read(self, contiguous_duration: float) -> Any:
            return np.array([[10e-3, 1.2], [math.nan, math.nan], [12e-3, 1.2]])

        def close(self) -> None:
            pass

    reading = Joulescope(Scope()).read()
    assert (reading.amperes, reading.volts, reading.watts) == pytest.approx((11e-3, 1.2, 13.2e-3))

    class Kit:
        def __init__(self) -> None:
            self.called: list[str] = []
            self.data = [b"", b"12"]

        def __getattr__(self, name: str) -> Any:
            return lambda *arguments: self.called.append(name)

        def get_data(self) -> bytes:
            return self.data.pop(0)

        def get_samples(self, data: bytes) -> tuple[list[float], list[int]]:
            return [9000.0, 11000.0], []

    kit = Kit()
    sensor = Ppk2("/dev/ttyACM0", 1200, kit)
    assert sensor.read().amperes == pytest.approx(10e-3)
    sensor.close()
    assert kit.called[-2:] == ["start_measuring", "stop_measuring"]


def test_csv_follows_a_file(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("seconds,amperes,volts\n0.0,0.5,1.2\n")
    sensor = Csv(str(file))
    assert sensor.now() == 0.0
    done = threading.Event()

    def meter() -> None:
        with file.open("a") as log:
            for i in range(1, 4):
                log.write(f"{i / 10},0.01")
                log.flush()
                time.sleep(0.01)  # a line that is not whole yet
                log.write(",1.2\n")
                log.flush()
        done.set()

    threading.Thread(target=meter).start()
    readings = [sensor.read() for _ in range(3)]
    done.wait()
    assert [r.seconds for r in readings] == pytest.approx([0.1, 0.2, 0.3])
    assert readings[0].watts == pytest.approx(12e-3)
    with pytest.raises(ng.Error, match="has not grown for 2 s"):
        sensor.read()
    file.open("a").write("1,2,3,4\n")
    with pytest.raises(ng.Error, match="expected seconds, amperes"):
        sensor.read()
    sensor.close()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "magic",
        "ina226:1:0x40",
        "ina226:1:here:0.1",
        "ina226:1:0x40:none",
        "simulated:magic",
        "csv",
        "csv:none",
        "ppk2",
    ],
)
def test_sensors_that_are_none(text: str) -> None:
    with pytest.raises(ng.Error, match="expected"):
        open_sensor(text)


def test_sensors_by_name(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("0,1\n")
    kinds: list[Sensor] = [open_sensor("simulated"), open_sensor("simulated:ppk2:7"), open_sensor(f"csv:{file}")]
    assert [sensor.name.split(",")[0] for sensor in kinds] == ["simulated ina226", "simulated ppk2", f"csv {file}"]


# ---- a board


@pytest.fixture
def port(tmp_path: Path) -> Iterator[Path]:
    if not PROGRAM.exists():
        pytest.skip("the program is not beside this package")
    link = tmp_path / "board"
    with subprocess.Popen([PROGRAM, "simulate-board", "--link", link], stdout=subprocess.PIPE) as board:
        assert board.stdout is not None
        board.stdout.readline()
        yield link
        board.terminate()


def operands(m: int, n: int, k: int) -> tuple[ng.QuantizedMatrix, ng.QuantizedMatrix]:
    random = np.random.default_rng(1)
    a, b = random.standard_normal((m, k), np.float32), random.standard_normal((k, n), np.float32)
    return ng.quantize(a), ng.quantize(b, axis=-2)


def test_the_loop_of_a_board(port: Path) -> None:
    engine = ng.Engine("board", port=port)
    assert engine.array == "1x1x16"
    with pytest.raises(ng.Error, match="expected a call of hold"):
        engine.start_loop(1)
    a, b = operands(1, 1, 128)
    c = engine.hold(a, b).c
    word, expected = int(c.view(np.uint32)[0, 0]), 0
    for _ in range(50):
        expected = (expected << 1 & 0xFFFFFFFF) ^ (0x04C11DB7 if expected >> 31 else 0) ^ word
    engine.start_loop(50)
    while (state := engine.loop_state()).running:
        pass
    assert (state.times, state.hash) == (50, expected)
    engine.start_loop()
    with pytest.raises(ng.Error, match=r"runs on .* already"):
        engine.start_loop()
    assert engine.loop_state().running
    assert engine.stop_loop().times > 0
    engine.start_loop()
    np.testing.assert_array_equal(engine.gemm(a, b).c, c)  # ends the loop by itself
    for call in (lambda: ng.Engine().hold(a, b), ng.Engine().start_loop, ng.Engine().loop_state, ng.Engine().stop_loop):
        with pytest.raises(ng.Error, match="repeats no product by itself; expected the engine 'board'"):
            call()
    assert ng.Engine().array is None


def test_a_board_is_measured_and_the_gauge_answers(port: Path, tmp_path: Path) -> None:
    a, b = operands(4, 4, 128)
    engine = ng.Engine("board", port=port)
    loop = BoardLoop(engine, a, b, 24e6)
    found = measure(loop, Simulated("ina226"), Rail("linear", 1.2), QUICK)
    loop.check()
    assert loop.macs == 4 * 4 * 128
    assert 16 * 24e6 * 0.6 < found.macs_per_s <= 16 * 24e6
    file = tmp_path / "board.json"
    save(file, "tried", "a simulated board", product(found, "nvfp4", 16, "1x1x16", "normal", "simulated"))
    save(file, "tried", "a simulated board", product(found, "nvfp4", 16, "1x1x16", "normal", "again"))
    answer = ng.energy("nvfp4", technology="tried", gauge=ng.Gauge([file]))
    assert answer.value == pytest.approx(found.energy_per_mac_j)
    assert (answer.rung, answer.unit) == ("L5", "J")
    assert "again" in " ".join(answer.notes)
    with pytest.raises(ng.Error, match="of technology tried; expected other"):
        save(file, "other", "", product(found, "nvfp4", 16, "1x1x16", "", ""))
    file.write_text("{}")
    with pytest.raises(ng.Error, match="no technology file"):
        save(file, "tried", "", product(found, "nvfp4", 16, "1x1x16", "", ""))
    with pytest.raises(ng.Error, match="clock_hz is 24"):
        BoardLoop(engine, a, b, 24)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "narrowgauge.measure", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


def test_the_program(port: Path, tmp_path: Path) -> None:
    file = tmp_path / "tried.json"
    board = ("--port", port, "--clock", "24e6", "--sensor", "simulated:ppk2")
    done = run(*board, "--technology", "tried", "--save", file, "--temperature", "25")
    assert done.returncode == 0, done.stderr
    assert "pJ a multiply-accumulate" in done.stdout
    assert "8 triples of 2 s, 95 % interval by Student's t, at 25 degrees Celsius" in done.stdout
    entry = json.loads(run(*board, "--json", "--shape", "1x1x64").stdout)
    assert entry["shape"] == [1, 1, 64]
    assert json.loads(file.read_text())["products"][0]["interval_j"][0] > 0
    for wrong, words in (
        (("--port", port), "--clock is missing"),
        ((*board, "--save", file), "--save and --technology go together"),
        ((*board, "--format", "fp3"), "expected one of nvfp4"),
        ((*board, "--format", "fp8_e4m3"), "does not have fp8_e4m3"),
        ((*board, "--shape", "1x1"), "expected MxNxK"),
        ((*board, "--shape", "1x1x30000"), "images"),
        ((*board, "--bitstream", tmp_path / "none"), "is no file"),
        ((*board, "--a", tmp_path / "none.npy"), "numpy.save"),
        ((*board, "--regulator", "linear"), "expected core_volts"),
    ):
        refused = run(*wrong)
        assert refused.returncode == 2
        assert words in refused.stderr, refused.stderr
        assert refused.stderr.count("\n") == 1
