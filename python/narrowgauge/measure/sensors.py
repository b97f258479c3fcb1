# SPDX-License-Identifier: Apache-2.0
"""Sensors of current, voltage or power: what a board takes from a rail, reading by reading."""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._core import Error

#: Without a reading for so long a sensor is gone.
PATIENCE_S = 2.0


class Reading(NamedTuple):
    """What a sensor says at a moment. seconds: of its own clock. Quantities that it does not measure are NaN."""

    seconds: float
    amperes: float
    volts: float
    watts: float


class Sensor:
    """Where readings come from.

    name: with kind and place. full_scale: amperes beyond which it clips, or infinity.
    """

    name = ""
    full_scale = math.inf

    def now(self) -> float:
        """Seconds of the clock that readings have."""
        return time.monotonic()

    def read(self) -> Reading:
        """The next reading, when it has come. Raises Error if none comes for 2 s, or the sensor is gone."""
        raise NotImplementedError

    def follow(self, running: bool) -> None:
        """Told when the loop on the board begins and ends; only a simulated sensor listens."""

    def close(self) -> None:
        """Gives the device back."""


class Hwmon(Sensor):
    """A sensor of Linux' hwmon: /sys/class/hwmon/hwmon*/curr1_input and its kin (Documentation/hwmon/sysfs-interface).

    folder: that of the sensor, or the name that its file `name` has. channel: the number in curr1_input.
    """

    def __init__(self, folder: str, channel: int = 1, root: Path = Path("/sys/class/hwmon")) -> None:
        self._folder = Path(folder)
        if "/" not in folder:
            there = {path.parent.name: path.read_text().strip() for path in sorted(root.glob("*/name"))}
            found = [hwmon for hwmon, name in there.items() if folder in (name, hwmon)]
            if len(found) != 1:
                raise Error(
                    f"hwmon sensor {folder!r} was found {len(found)} times in {root}; expected one of "
                    f"{', '.join(f'{name} ({hwmon})' for hwmon, name in there.items()) or 'none, there is no sensor'}"
                )
            self._folder = root / found[0]
        self.name = f"hwmon {folder}, channel {channel}"
        self._files = {
            quantity: (self._folder / f"{kind}{channel}_input", unit)
            for quantity, kind, unit in (("amperes", "curr", 1e-3), ("volts", "in", 1e-3), ("watts", "power", 1e-6))
            if (self._folder / f"{kind}{channel}_input").exists()
        }
        if not {"amperes", "watts"} & set(self._files):
            raise Error(
                f"{self._folder} has neither curr{channel}_input nor power{channel}_input; expected a sensor of current or power"
            )
        interval = self._folder / "update_interval"
        self._interval = int(interval.read_text()) * 1e-3 if interval.exists() else 0.02
        self._next = self.now()

    def read(self) -> Reading:
        time.sleep(max(0.0, self._next - self.now()))
        self._next = self.now() + self._interval
        found = dict.fromkeys(("amperes", "volts", "watts"), math.nan)
        for quantity, (file, unit) in self._files.items():
            try:
                found[quantity] = int(file.read_text()) * unit
            except (OSError, ValueError) as error:
                raise Error(f"{file} cannot be read: {error}; expected a number of the sensor") from None
        return Reading(self.now(), **found)


@dataclass(frozen=True)
class Chip:
    """Registers of shunt and bus voltage, of `bytes` each, with what a step is; and the largest shunt voltage."""

    shunt: int
    bus: int
    bytes: int
    drop: int
    shunt_volts: float
    bus_volts: float
    largest: float


#: Texas Instruments' data sheets SBOS547 (INA226) and SBOS886 (INA228, ADCRANGE 0, its reset value).
CHIPS = {
    "ina226": Chip(0x01, 0x02, 2, 0, 2.5e-6, 1.25e-3, 81.92e-3),
    "ina228": Chip(0x04, 0x05, 3, 4, 312.5e-9, 195.3125e-6, 163.84e-3),
}
#: Reads `count` bytes of a register.
RegisterRead = Callable[[int, int], bytes]


def _package(module: str, what: str, install: str) -> Any:
    """A module of another package, which narrowgauge does not bring. Raises Error where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise Error(f"{what} needs the package {install}; expected it installed: pip install {install}") from None


def _open_bus(bus: str, address: int) -> tuple[RegisterRead, Callable[[], None]]:
    """An I2C bus by its number (smbus2) or by an ftdi:// URL of an FT2232H or FT232H (pyftdi)."""
    if bus.startswith("ftdi://"):
        controller = _package("pyftdi.i2c", "an ftdi:// bus", "pyftdi").I2cController()
        controller.configure(bus)
        port = controller.get_port(address)
        return (lambda register, count: bytes(port.read_from(register, count))), controller.terminate
    opened = _package("smbus2", "an I2C bus", "smbus2").SMBus(int(bus) if bus.isdigit() else bus)
    return (lambda register, count: bytes(opened.read_i2c_block_data(address, register, count))), opened.close


class Ina(Sensor):
    """An INA226 or INA228 on an I2C bus, across a shunt of `ohms`; as it stands, its averaging is not changed.

    read_register: how its registers are read; None: by `bus`, a number of /dev/i2c-* or an ftdi:// URL.
    """

    def __init__(
        self, chip: str, bus: str, address: int, ohms: float, read_register: RegisterRead | None = None
    ) -> None:
        if not ohms > 0:
            raise Error(f"a shunt of {ohms} ohms is none; expected more than 0")
        self._chip, self._ohms = CHIPS[chip], ohms
        self._close: Callable[[], None] = lambda: None
        if read_register is None:
            read_register, self._close = _open_bus(bus, address)
        self._register = read_register
        self.name = f"{chip} at {address:#04x} of bus {bus}, shunt {ohms:g} ohm"
        self.full_scale = self._chip.largest / ohms

    def _value(self, register: int) -> int:
        try:
            data = self._register(register, self._chip.bytes)
        except OSError as error:
            raise Error(f"{self.name} does not answer: {error}; look at wires and address") from None
        return int.from_bytes(data, "big", signed=True) >> self._chip.drop

    def read(self) -> Reading:
        time.sleep(0.005)
        amperes = self._value(self._chip.shunt) * self._chip.shunt_volts / self._ohms
        volts = self._value(self._chip.bus) * self._chip.bus_volts
        return Reading(self.now(), amperes, volts, amperes * volts)

    def close(self) -> None:
        self._close()


class Joulescope(Sensor):
    """A Joulescope by its PyPI package, in steps of 20 ms. device: one that is open; None: the only one connected."""

    name = "joulescope"

    def __init__(self, device: Any = None) -> None:
        if device is None:
            device = _package("joulescope", "a Joulescope", "joulescope").scan_require_one(config="auto")
            device.open()
        self._device = device

    def read(self) -> Reading:
        data = np.asarray(self._device.read(contiguous_duration=0.02), np.float64)
        good = data[np.isfinite(data).all(axis=1)]  # NaN while it changes its range
        if not len(good):
            raise Error("the Joulescope gave no finite sample in 20 ms; look at its cables and its range")
        amperes, volts = good.mean(axis=0)
        return Reading(self.now(), float(amperes), float(volts), float((good[:, 0] * good[:, 1]).mean()))

    def close(self) -> None:
        self._device.close()


class Ppk2(Sensor):
    """A Power Profiler Kit II as ammeter by its PyPI package ppk2-api, in steps of 10 ms.

    port: its serial device. millivolts: of the rail, for its calibration. device: one that is open.
    """

    full_scale = 1.0

    def __init__(self, port: str, millivolts: int = 3300, device: Any = None) -> None:
        self.name = f"ppk2 at {port}"
        if device is None:
            device = _package("ppk2_api.ppk2_api", "a PPK2", "ppk2-api").PPK2_API(
                port, timeout=1, write_timeout=1, exclusive=True
            )
        self._device = device
        device.get_modifiers()
        device.set_source_voltage(millivolts)
        device.use_ampere_meter()
        device.toggle_DUT_power("ON")
        device.start_measuring()

    def read(self) -> Reading:
        end = self.now() + PATIENCE_S
        while self.now() < end:
            time.sleep(0.01)
            data = self._device.get_data()
            samples, _ = self._device.get_samples(data) if data else ([], None)
            if samples:
                return Reading(self.now(), float(np.mean(samples)) * 1e-6, math.nan, math.nan)
        raise Error(f"{self.name} gave no sample for {PATIENCE_S:g} s; look at its cable")

    def close(self) -> None:
        self._device.stop_measuring()


class Csv(Sensor):
    """Lines that another program appends to a file, as it measures: seconds, amperes and, where it has them, volts.

    A line that does not begin with a number is a heading. The times are those of the file.
    """

    def __init__(self, file: str) -> None:
        self.name = f"csv {file}"
        try:
            self._file = Path(file).open(encoding="utf-8")  # noqa: SIM115 - until close()
        except OSError as error:
            raise Error(f"cannot read {file}: {error}; expected the log of a meter") from None
        self._rest = ""
        self._last = math.nan
        self._catch_up()  # what is there already is the past

    def _catch_up(self) -> None:
        while self._line():
            pass

    def _line(self) -> Reading | None:
        self._rest += self._file.readline()
        if not self._rest.endswith("\n"):
            return None
        line, self._rest = self._rest, ""
        cells = [cell.strip() for cell in line.replace(";", ",").split(",")]
        try:
            numbers = [float(cell) for cell in cells if cell]
        except ValueError:
            return Reading(math.nan, math.nan, math.nan, math.nan)
        if not 2 <= len(numbers) <= 3:
            raise Error(
                f"line {line.strip()!r} of {self.name} has {len(numbers)} numbers; expected seconds, amperes[, volts]"
            )
        seconds, amperes, volts = (*numbers, math.nan)[:3]
        self._last = seconds
        return Reading(seconds, amperes, volts, amperes * volts)

    def now(self) -> float:
        """The time of the newest line."""
        self._catch_up()
        if math.isnan(self._last):
            return self.read().seconds
        return self._last

    def read(self) -> Reading:
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            reading = self._line()
            if reading is None:
                time.sleep(0.002)
            elif not math.isnan(reading.seconds):
                return reading
        raise Error(f"{self.name} has not grown for {PATIENCE_S:g} s; expected a program that appends to it")

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True)
class Model:
    """A sensor on a rail, made up. Amperes, but where it says otherwise.

    interval_s: between readings. step: of its converter. noise: of a reading, one sigma. idle, signal: what the rail carries
    at rest, and more while the loop runs. drift: a second. wander: of a random walk, one sigma in a second.
    """

    interval_s: float
    step: float
    noise: float
    full_scale: float
    idle: float = 12e-3
    signal: float = 8e-3
    volts: float = 1.2
    drift: float = 2e-6
    wander: float = 5e-6


#: Four sensors of today at a small board.
MODELS = {
    "ina226": Model(0.0088, 25e-6, 20e-6, 0.8),
    "hwmon": Model(0.035, 1e-3, 0.6e-3, 4.0),
    "joulescope": Model(0.02, 2e-9, 3e-6, 3.0),
    "ppk2": Model(0.01, 5e-6, 15e-6, 1.0),
}


class Simulated(Sensor):
    """A sensor that does not exist, in a time of its own, for trying what comes behind it. Its currents are made up."""

    def __init__(self, kind: str = "ina226", seed: int = 1, model: Model | None = None) -> None:
        if model is None and kind not in MODELS:
            raise Error(f"simulated sensor {kind!r} is not known; expected one of {', '.join(MODELS)}")
        self.model = model or MODELS[kind]
        self.name = f"simulated {kind}, seed {seed}"
        self.full_scale = self.model.full_scale
        self._random = np.random.default_rng(seed)
        self._seconds = self._walk = 0.0
        self._running = False

    def now(self) -> float:
        return self._seconds

    def follow(self, running: bool) -> None:
        self._running = running

    def read(self) -> Reading:
        model = self.model
        self._seconds += model.interval_s
        self._walk += model.wander * math.sqrt(model.interval_s) * self._random.standard_normal()
        amperes = model.idle + (model.signal if self._running else 0.0) + model.drift * self._seconds + self._walk
        amperes += model.noise * self._random.standard_normal()
        amperes = min(max(round(amperes / model.step) * model.step, -model.full_scale), model.full_scale)
        return Reading(self._seconds, amperes, model.volts, amperes * model.volts)


KINDS = """\
hwmon:NAME[:CHANNEL]      a sensor of Linux, by name or folder in /sys/class/hwmon
ina226:BUS:ADDRESS:OHMS   an INA226 (or ina228) on I2C bus BUS, a number or an ftdi:// URL
joulescope                the Joulescope that is connected
ppk2:DEVICE               a Power Profiler Kit II as ammeter
csv:FILE                  lines of seconds, amperes[, volts] that another program appends
simulated[:KIND[:SEED]]   a sensor that does not exist, with made-up currents"""


def open_sensor(text: str) -> Sensor:
    """The sensor that `text` names, in the form that `narrowgauge measure --help` lists. Raises Error for another form."""
    kind, _, rest = text.partition(":")
    parts = rest.rsplit(":", 2) if kind in CHIPS else rest.split(":")
    try:
        if kind == "hwmon" and rest:
            folder, _, channel = rest.rpartition(":") if parts[-1].isdigit() and len(parts) > 1 else (rest, "", "1")
            return Hwmon(folder, int(channel))
        if kind in CHIPS and len(parts) == 3:
            return Ina(kind, parts[0], int(parts[1], 0), float(parts[2]))
        if kind == "joulescope" and not rest:
            return Joulescope()
        if kind == "ppk2" and rest:
            return Ppk2(rest)
        if kind == "csv" and rest:
            return Csv(rest)
        if kind == "simulated" and len(parts) <= 2:
            return Simulated(parts[0] or "ina226", int(parts[1]) if len(parts) == 2 else 1)
    except ValueError as error:
        raise Error(
            f"sensor {text!r} is wrong: {error}; expected the form of {kind} in narrowgauge measure --help"
        ) from None
    raise Error(f"sensor {text!r} is not known; expected one of these forms:\n{KINDS}")
