# SPDX-License-Identifier: Apache-2.0
"""A tile as a peripheral of LiteX: its registers and the FIFO pair of its streams on the bus, its interrupt at the CPU.

    from narrowgauge_litex import add_narrowgauge
    add_narrowgauge(soc, tile="ecp5")            # in the constructor of a SoC

LiteX's generated headers then have NARROWGAUGE_BASE and NARROWGAUGE_FIFO_BASE, which the firmware's driver takes
(docs/driver.md, LiteX), the registers narrowgauge_ev_*, and NARROWGAUGE_INTERRUPT.
"""

from __future__ import annotations

import difflib
import json
import tomllib
from pathlib import Path
from typing import Any

from litex.gen import ClockSignal, Instance, LiteXModule, ResetSignal, Signal
from litex.soc.integration.soc import SoCRegion
from litex.soc.interconnect.axi import AXILiteInterface
from litex.soc.interconnect.csr_eventmanager import EventManager, EventSourceLevel

RTL = Path(__file__).resolve().parents[2] / "rtl"
REGION_BYTES = 4096  # of the registers, and of the FIFO pair: both decode 12 bits of an address
FIFOS = {"tx_bytes": "TxBytes", "rx_bytes": "RxBytes"}  # arguments, and the parameters of ng_axil_fifos that they are


def _unknown(what: str, value: object, known: list[str], where: str) -> ValueError:
    near = difflib.get_close_matches(str(value), known, 1)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    return ValueError(f'{what} "{value}" is not known; expected one of {", ".join(known[:8])} ({where}){hint}')


def _rules(unit: str) -> dict[str, dict[str, Any]]:
    """What each parameter of a unit may be, from its record."""
    return tomllib.loads((RTL / unit).with_suffix(".toml").read_text())["parameters"]


def _check(name: str, value: object, rule: dict[str, Any], page: str) -> None:
    low, high = rule.get("min", 0), rule.get("max", 2**31 - 1 if "min" in rule else 1)
    step, power = rule.get("multiple_of", 1), rule.get("power_of_two", False)
    whole = isinstance(value, int)
    if whole and low <= value <= high and value % step == 0 and not (power and value & (value - 1)):
        return
    kind = f", a multiple of {step}" if step > 1 else ", a power of two" if power else ""
    expected = "0 or 1" if "min" not in rule else f"{low} to {rule['max']}" if "max" in rule else f"{low} or more"
    raise ValueError(f'parameter {name} is "{value}"; expected {expected}{kind} (docs/units/{page}.md)')


def tile_parameters(tile: str, changes: dict[str, int] | None = None) -> dict[str, int]:
    """The parameters of ng_tile of a named configuration, some of them changed.

    Raises ValueError for a name that is not known, and for a value that the parameter's rule refuses.
    """
    named = json.loads((RTL / "tile" / "configurations.json").read_text())["configurations"]
    found = {entry.pop("name"): entry for entry in named}
    if tile not in found:
        raise _unknown("tile", tile, list(found), "all are in rtl/tile/configurations.json")
    rules = _rules("tile/ng_tile")
    for name, value in (changes or {}).items():
        if name not in rules:
            raise _unknown("parameter", name, list(rules), "all are in docs/units/tile.md")
        _check(name, value, rules[name], "tile")
    return found[tile] | {name: int(value) for name, value in (changes or {}).items()}


class NarrowgaugeTile(LiteXModule):
    """ng_tile, with ng_axil_fifos at its streams.

    bus: AXI4-Lite slave, the tile's registers. fifo_bus: the same of the FIFO pair. ev: the tile's interrupt, a level.

    tile: a named configuration of docs/units/tile.md. tx_bytes, rx_bytes: operands and results that wait, powers of two
    from 16 to 65536, results at least a word of the tile's stream. parameters: of ng_tile, in place of the named ones.
    Raises ValueError where one of these is wrong.
    """

    def __init__(
        self, platform: Any, tile: str = "tiny", *, tx_bytes: int = 512, rx_bytes: int = 512, **parameters: int
    ) -> None:
        of_tile = tile_parameters(tile, parameters)
        rules = _rules("board/ng_axil_fifos")
        for argument, value in (("tx_bytes", tx_bytes), ("rx_bytes", rx_bytes)):
            _check(argument, value, rules[FIFOS[argument]], "axil_fifos")
        width = of_tile["StreamWidth"]
        if rx_bytes < width // 8:
            raise ValueError(
                f'rx_bytes is "{rx_bytes}" with StreamWidth "{width}"; expected {width // 8} or more, a stream word'
            )
        self.bus = AXILiteInterface(data_width=32, address_width=32)
        self.fifo_bus = AXILiteInterface(data_width=32, address_width=32)
        self.ev = EventManager()
        self.ev.tile = EventSourceLevel(description="Interrupt of the tile; the driver ends it.")
        self.ev.finalize()
        operands, results = _stream(width), _stream(width)
        clocked = {"i_clk_i": ClockSignal("sys"), "i_rst_ni": ~ResetSignal("sys")}
        fifos = {"StreamWidth": width, "TxBytes": tx_bytes, "RxBytes": rx_bytes}
        self.specials += Instance(
            "ng_axil_fifos",
            **_numbers(fifos),
            **clocked,
            **_slave(self.fifo_bus),
            o_m_axis_tvalid_o=operands["valid"],
            i_m_axis_tready_i=operands["ready"],
            o_m_axis_tdata_o=operands["data"],
            o_m_axis_tlast_o=operands["last"],
            i_s_axis_tvalid_i=results["valid"],
            o_s_axis_tready_o=results["ready"],
            i_s_axis_tdata_i=results["data"],
        )
        self.specials += Instance(
            "ng_tile",
            **_numbers(of_tile),
            **clocked,
            **_slave(self.bus),
            i_s_axis_tvalid_i=operands["valid"],
            o_s_axis_tready_o=operands["ready"],
            i_s_axis_tdata_i=operands["data"],
            i_s_axis_tlast_i=operands["last"],
            o_m_axis_tvalid_o=results["valid"],
            i_m_axis_tready_i=results["ready"],
            o_m_axis_tdata_o=results["data"],
            o_m_axis_tlast_o=results["last"],
            o_irq_o=self.ev.tile.trigger,
        )
        # All of rtl/, packages first: tools leave out the modules that nothing instantiates.
        for line in (RTL / "narrowgauge.f").read_text().splitlines():
            if not line.startswith("//"):
                platform.add_source(str(RTL.parent / line), language="systemverilog")


def _numbers(parameters: dict[str, int]) -> dict[str, Any]:
    """As plain decimal numbers: LiteX would write 1 as 1'd1, and a tool may then compute in one bit."""
    return {f"p_{name}": Instance.PreformattedParam(value) for name, value in parameters.items()}


def _stream(width: int) -> dict[str, Signal]:
    return {"valid": Signal(), "ready": Signal(), "data": Signal(width), "last": Signal()}


def _slave(bus: AXILiteInterface) -> dict[str, Any]:
    """The ports of an AXI4-Lite slave of ours."""
    return {
        "i_s_axil_awvalid_i": bus.aw.valid,
        "o_s_axil_awready_o": bus.aw.ready,
        "i_s_axil_awaddr_i": bus.aw.addr[:12],
        "i_s_axil_wvalid_i": bus.w.valid,
        "o_s_axil_wready_o": bus.w.ready,
        "i_s_axil_wdata_i": bus.w.data,
        "i_s_axil_wstrb_i": bus.w.strb,
        "o_s_axil_bvalid_o": bus.b.valid,
        "i_s_axil_bready_i": bus.b.ready,
        "o_s_axil_bresp_o": bus.b.resp,
        "i_s_axil_arvalid_i": bus.ar.valid,
        "o_s_axil_arready_o": bus.ar.ready,
        "i_s_axil_araddr_i": bus.ar.addr[:12],
        "o_s_axil_rvalid_o": bus.r.valid,
        "i_s_axil_rready_i": bus.r.ready,
        "o_s_axil_rdata_o": bus.r.data,
        "o_s_axil_rresp_o": bus.r.resp,
    }


def add_narrowgauge(soc: Any, name: str = "narrowgauge", **arguments: Any) -> NarrowgaugeTile:
    """Adds a tile to a LiteX SoC, with its regions on the bus, which the CPU does not cache, and its interrupt.

    arguments: of NarrowgaugeTile. The regions are `name` and `name`_fifo, at addresses that LiteX chooses.
    """
    tile = NarrowgaugeTile(soc.platform, **arguments)
    soc.add_module(name=name, module=tile)
    for region, bus in ((name, tile.bus), (f"{name}_fifo", tile.fifo_bus)):
        soc.bus.add_slave(region, bus, SoCRegion(size=REGION_BYTES, cached=False))
    if soc.irq.enabled:
        soc.irq.add(name, use_loc_if_exists=True)
    return tile
