# SPDX-License-Identifier: Apache-2.0
"""Energy measured on a board: sensors, the experiment, and a technology file for the energy gauge (docs/measuring.md)."""

from __future__ import annotations

from .board import BoardLoop, how, product, save
from .experiment import REGULATORS, Loop, Measured, Rail, Schedule, interval, measure, student_quantile
from .sensors import (
    MODELS,
    Csv,
    Hwmon,
    Ina,
    Joulescope,
    Model,
    Ppk2,
    Reading,
    Sensor,
    Simulated,
    open_sensor,
)

__all__ = [
    "MODELS",
    "REGULATORS",
    "BoardLoop",
    "Csv",
    "Hwmon",
    "Ina",
    "Joulescope",
    "Loop",
    "Measured",
    "Model",
    "Ppk2",
    "Rail",
    "Reading",
    "Schedule",
    "Sensor",
    "Simulated",
    "how",
    "interval",
    "measure",
    "open_sensor",
    "product",
    "save",
    "student_quantile",
]
