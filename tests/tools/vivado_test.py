# SPDX-License-Identifier: Apache-2.0
"""The Tcl and constraints of boards that Vivado builds, run by tclsh with procedures in place of Vivado's commands.

Every command and option must be one of Vivado's, every file must exist, ports and parameters must be those of the top module, a
pin is used once, and addresses are those of firmware/ports/ng_uio.dtso. This does not show that Vivado agrees.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ngtools import systemverilog
from ngtools.ngflow import ROOT

STUBS = Path(__file__).with_name("vivado_stubs.tcl")
BOARDS = sorted(
    path.parent.name
    for path in (ROOT / "synth" / "boards").glob("*/board.json")
    if "vivado" in json.loads(path.read_text())
)
# Pins and interfaces of what is not ours, as far as the scripts use them: PG082, PG201, PG164, PG247.
PROCESSORS = {
    "processing_system7": {"FCLK_CLK0", "FCLK_RESET0_N", "M_AXI_GP1", "M_AXI_GP1_ACLK", "IRQ_F2P"},
    "zynq_ultra_ps_e": {"pl_clk0", "pl_resetn0", "M_AXI_HPM0_FPD", "maxihpm0_fpd_aclk", "pl_ps_irq0"},
}
PINS = PROCESSORS | {
    "proc_sys_reset": {"slowest_sync_clk", "ext_reset_in", "peripheral_aresetn", "interconnect_aresetn"},
    "smartconnect": {"aclk", "aresetn", "S00_AXI", "M00_AXI", "M01_AXI"},
}
# Addresses that a port of the processor gives on: UG585 table 4-1, UG1085 table 10-1.
WINDOWS = {
    "M_AXI_GP1": range(0x8000_0000, 0xC000_0000),
    "M_AXI_HPM0_FPD": range(0xA000_0000, 0xB000_0000),
}
#: The interfaces of ng_axil_tile, in the order of the overlay's `reg`.
SLAVES = ("S_AXIL_TILE", "S_AXIL_FIFOS")

MADE = "made_by_vivado.v"  # what the stub of make_wrapper says


@dataclass
class Run:
    """What a script asked Vivado for."""

    calls: list[list[str]]
    problem: str

    def of(self, *names: str) -> list[list[str]]:
        return [call for call in self.calls if call[0] in names]


@dataclass
class Findings:
    said: list[str] = field(default_factory=list)

    def unless(self, right: bool, text: str) -> None:
        if not right:
            self.said.append(text)


def run(script: Path, folder: Path) -> Run:
    with tempfile.TemporaryDirectory() as scratch:
        log = Path(scratch) / "log"
        done = subprocess.run(["tclsh", STUBS, log, script, folder], capture_output=True, text=True, check=False)
        calls = [line.strip("\n").split("\x1f") for line in log.read_text().split("\x1e") if line.strip("\n")]
    return Run(calls, done.stderr.strip() if done.returncode else "")


def option(call: list[str], name: str) -> str:
    return call[call.index(name) + 1]


def split(text: str) -> list[str]:
    """Words of a list of Tcl without lists in it."""
    return text.replace("{", " ").replace("}", " ").split()


def overlay() -> list[int]:
    """Addresses of the two maps of ng_uio.dtso."""
    node = "/fragment@0/__overlay__/narrowgauge@a0000000"
    with tempfile.TemporaryDirectory() as scratch:
        blob = Path(scratch) / "overlay.dtbo"
        source = ROOT / "firmware" / "ports" / "ng_uio.dtso"
        subprocess.run(["dtc", "-q", "-@", "-I", "dts", "-O", "dtb", "-o", blob, source], check=True)
        said = subprocess.run(["fdtget", "-t", "x", blob, node, "reg"], capture_output=True, text=True, check=True)
        reg = [int(word, 16) for word in said.stdout.split()]
        return [reg[1], reg[5]]


def check_constraints(found: Findings, xdc: Run, ports: dict[str, int]) -> None:
    """Every port has a pin, a pin has one port, and no other port is named."""
    bits = {f"{name}[{i}]" if width > 1 else name for name, width in ports.items() for i in range(width)}
    named = {word for call in xdc.of("get_ports") for word in split(" ".join(call[1:]))}
    for name in sorted(named - bits - ports.keys()):
        found.unless(False, f"the constraints name the port {name}; expected one of {', '.join(sorted(bits))}")
    placed: dict[str, str] = {}
    for call in xdc.of("set_property"):
        if "-dict" not in call:
            continue
        words = split(option(call, "-dict"))
        values = dict(zip(words[::2], words[1::2], strict=True))
        found.unless(
            set(values) == {"PACKAGE_PIN", "IOSTANDARD"}, f"{call} gives {sorted(values)}; expected pin and standard"
        )
        for port in split(call[-1]):
            found.unless(port not in placed, f"the port {port} has two pins; expected one")
            placed[port] = values.get("PACKAGE_PIN", "")
    for pin, times in Counter(placed.values()).items():
        found.unless(times == 1, f"the pin {pin} has {times} ports; expected one")
    for port in sorted(bits - placed.keys()):
        found.unless(False, f"the port {port} has no pin; expected one in constraints.xdc")


def check_design(found: Findings, build: Run, module: systemverilog.Module) -> None:
    """The block design connects every pin of the tile once, to pins that there are, at the overlay's addresses."""
    kinds: dict[str, str] = {}
    for call in build.of("create_bd_cell"):
        kinds[call[-1]] = option(call, "-vlnv").split(":")[2] if "-vlnv" in call else option(call, "-reference")
    interfaces = {f"s_axil_{name.removeprefix('S_AXIL_').lower()}_" for name in SLAVES}
    plain = {port.name for port in module.ports if not port.name.startswith(tuple(interfaces))}
    pins = PINS | {"ng_axil_tile": plain | set(SLAVES)}
    used: Counter[str] = Counter()
    for call in build.of("get_bd_pins", "get_bd_intf_pins"):
        cell, _, pin = call[1].partition("/")
        found.unless(
            pin in pins.get(kinds.get(cell, ""), set()), f"the design has no pin {call[1]}; expected one of its cells'"
        )
        used[call[1]] += 1
    for pin in sorted(plain | set(SLAVES)):
        found.unless(used[f"tile/{pin}"] == 1, f"tile/{pin} is connected {used[f'tile/{pin}']} times; expected once")
    processor = next(kind for kind in kinds.values() if kind in PROCESSORS)
    for pin in sorted(PROCESSORS[processor]):
        found.unless(used[f"ps/{pin}"] == 1, f"ps/{pin} is connected {used[f'ps/{pin}']} times; expected once")
    addresses = overlay()
    given = {
        call[-1].split("/")[1]: (int(option(call, "-offset"), 0), option(call, "-range"))
        for call in build.of("assign_bd_address")
    }
    for slave, address in zip(SLAVES, addresses, strict=True):
        found.unless(
            given.get(slave) == (address, "4K"),
            f"{slave} has {given.get(slave)}; expected {address:#x} of ng_uio.dtso, 4K",
        )
    (window,) = [WINDOWS[pin] for pin in PROCESSORS[processor] & WINDOWS.keys()]
    for slave, (address, _) in given.items():
        found.unless(address in window, f"{slave} has {address:#x}; expected {window.start:#x} to {window.stop - 1:#x}")


def problems(board: str, root: Path) -> list[str]:
    """What is wrong with the board's scripts in a tree."""
    folder = root / "synth" / "boards" / board
    settings = json.loads((folder / "board.json").read_text())
    build = run(folder / "build.tcl", root / "made" / board)
    xdc = run(folder / "constraints.xdc", folder)
    found = Findings([text for text in (build.problem, xdc.problem) if text])
    if found.said:
        return found.said
    for call in build.of("add_files"):
        for path in split(call[-1]):
            there = path == MADE or Path(path).exists()
            found.unless(there, f'the file "{path}" does not exist; expected one of the tree')
    (top,) = (root / "synth" / "boards").rglob(f"{settings['top']}.*v")
    module = systemverilog.Module(settings["top"], [ROOT / "rtl" / "format" / "ng_format_set_pkg.sv", top])
    given = {
        word.removeprefix("CONFIG.")
        for call in build.of("set_property")
        if call[-1] == "tile"
        for word in split(option(call, "-dict"))[::2]
    } | {word.split("=")[0] for call in build.of("set_property") if call[1] == "generic" for word in split(call[2])}
    known = set(module.parameters)
    found.unless(bool(given), "no parameter of the tile is set; expected all of configurations.json")
    for name in sorted(given - known):
        found.unless(False, f"{settings['top']} has no parameter {name}; expected one of {', '.join(sorted(known))}")
    if build.of("create_bd_design"):
        check_design(found, build, module)
        ports = {
            call[-1]: int(option(call, "-from")) - int(option(call, "-to")) + 1 for call in build.of("create_bd_port")
        }
    else:
        ports = {port.name: port.width for port in module.ports}
    check_constraints(found, xdc, ports)
    return found.said


class Scripts(unittest.TestCase):
    def setUp(self) -> None:
        for program in ("tclsh", "dtc", "fdtget"):
            if shutil.which(program) is None:
                self.skipTest(f"{program} is not installed (packages tcl and device-tree-compiler)")
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = Path(scratch.name)
        shutil.copytree(ROOT / "synth" / "boards", self.root / "synth" / "boards")
        (self.root / "rtl").symlink_to(ROOT / "rtl")
        for board in BOARDS:
            subprocess.run(
                [sys.executable, ROOT / "synth" / "image.py", board],
                check=True,
                stdout=subprocess.DEVNULL,
                env=os.environ | {"NG_IMAGES": str(self.root / "made"), "PYTHONPATH": str(ROOT / "tools")},
            )

    def changed(self, file: str, old: str, new: str) -> None:
        path = self.root / "synth" / "boards" / file
        text = path.read_text()
        assert old in text, f"{file} does not have {old!r}"
        path.write_text(text.replace(old, new))

    def test_every_board(self) -> None:
        assert len(BOARDS) >= 3
        for board in BOARDS:
            assert problems(board, self.root) == []

    def test_a_defect_is_found(self) -> None:
        for board, file, old, new, message in (
            (
                "arty_a7",
                "xilinx.tcl",
                "launch_runs synth_1",
                "lanch_runs synth_1",
                "the command lanch_runs is not known",
            ),
            ("arty_a7", "xilinx.tcl", "-to_step", "-to_stop", "launch_runs has no option -to_stop"),
            ("arty_a7", "arty_a7/constraints.xdc", "get_ports tx_o", "get_ports txd_o", "name the port txd_o"),
            ("arty_a7", "arty_a7/constraints.xdc", "PACKAGE_PIN D10", "PACKAGE_PIN A9", "the pin A9 has 2 ports"),
            (
                "arty_a7",
                "arty_a7/constraints.xdc",
                "set_property -dict {PACKAGE_PIN J5",
                "#",
                "the port led_o[1] has no pin",
            ),
            (
                "arty_a7",
                "arty_a7/constraints.xdc",
                "create_clock",
                "create_clok",
                "the command create_clok is not known",
            ),
            ("zcu104", "xilinx.tcl", "0xA0001000", "0xA0002000", "S_AXIL_FIFOS has (2684362752, '4K')"),
            ("pynq_z2", "pynq_z2/block_design.tcl", "M_AXI_GP1 M_AXI", "M_AXI_GP0 M_AXI", "no pin ps/M_AXI_GP0"),
            ("pynq_z2", "xilinx.tcl", "tile/irq_o", "tile/irq", "no pin tile/irq;"),
            ("zcu104", "xilinx.tcl", "CONFIG.$name", "CONFIG.Tile$name", "has no parameter TileADepth"),
        ):
            path = self.root / "synth" / "boards" / file
            whole = path.read_text()
            self.changed(file, old, new)
            said = problems(board, self.root)
            assert any(message in text for text in said), (file, new, said)
            path.write_text(whole)

    def test_a_missing_file_is_found(self) -> None:
        sources = self.root / "made" / "pynq_z2" / "sources.tcl"
        sources.write_text(sources.read_text().replace("ng_tile.sv", "ng_tyle.sv"))
        assert any("ng_tyle.sv" in text for text in problems("pynq_z2", self.root))
        sources.unlink()
        assert any("expected what synth/image.py BOARD writes" in text for text in problems("pynq_z2", self.root))


if __name__ == "__main__":
    unittest.main()
