# SPDX-License-Identifier: Apache-2.0
"""A SoC of LiteX for simulation: VexRiscv, ROM with a program, SRAM, timer, UART, and a tile. simulate.cpp drives its pins."""

from __future__ import annotations

from typing import Any

from litex.build.generic_platform import Pins, Subsignal
from litex.build.io import CRG
from litex.build.sim import SimPlatform
from litex.gen import LiteXModule
from litex.soc.integration.soc_core import SoCCore
from litex.soc.interconnect.csr import CSRStorage
from narrowgauge_litex import add_narrowgauge

CLOCK_HZ = 50_000_000  # what LiteX's UART and timer take the clock for
UART = ("valid", "ready", "data")


def pins() -> list[Any]:
    uart = [
        Subsignal(f"{side}_{name}", Pins(8 if name == "data" else 1)) for side in ("source", "sink") for name in UART
    ]
    return [
        ("sys_clk", 0, Pins(1)),
        ("sys_rst", 0, Pins(1)),
        ("serial", 0, *uart),  # source: what the program writes, a byte a transfer
        ("exit", 0, Subsignal("valid", Pins(1)), Subsignal("code", Pins(32))),
    ]


class Simulation(LiteXModule):
    """A register at which the simulation ends: simulation_exit_write(code)."""

    def __init__(self, pads: Any) -> None:
        self.exit = CSRStorage(32, description="Ends the simulation with this exit code.")
        self.sync += pads.valid.eq(self.exit.re)
        self.comb += pads.code.eq(self.exit.storage)


class SimulatedSoC(SoCCore):
    """arguments: of NarrowgaugeTile."""

    def __init__(self, rom_bytes: int = 0x10000, sram_bytes: int = 0x10000, **arguments: Any) -> None:
        platform = SimPlatform("SIM", pins())
        self.crg = CRG(platform.request("sys_clk"), platform.request("sys_rst"))
        super().__init__(
            platform,
            clk_freq=CLOCK_HZ,
            cpu_type="vexriscv",
            cpu_variant="standard",
            integrated_rom_size=rom_bytes,
            integrated_sram_size=sram_bytes,
            uart_name="sim",
        )
        self.simulation = Simulation(platform.request("exit"))
        add_narrowgauge(self, **arguments)
