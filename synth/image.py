# SPDX-License-Identifier: Apache-2.0
"""Images of boards: a tile behind ng_uart_bridge, from RTL to a bitstream, and back to Verilog (docs/boards.md, Images).

A board is a folder of synth/boards: its top module, its pins, and board.json with tile, clock and recipe.

examples
  synth/image.py --list                          boards, and what their images were measured to be
  synth/image.py hx8k                            a bitstream into build/images, from one seed
  synth/image.py hx8k --record                   five seeds, the slowest of which must reach the clock; into the records
  synth/image.py hx8k --verilog FILE --faults 8  the bitstream, read back to Verilog for a simulator; fault_i inverts a LUT

A seed that does not reach the board's clock fails.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ngtools import ngflow, recorded, route
from ngtools.ngflow import FlowError

SYNTH = Path(__file__).resolve().parent
BOARDS = SYNTH / "boards"
RECORDS = BOARDS / f"images{recorded.SUFFIX}"
IMAGES = Path(os.environ.get("NG_IMAGES", ngflow.ROOT / "build" / "images"))
PAGE = ngflow.ROOT / "docs" / "boards.md"
SEEDS = [1, 2, 3, 4, 5]
LUT = re.compile(r"^(assign \w+\s*= /\* LUT [ \d]*\*/ )(?!1.b[01];$)(.*);$", re.MULTILINE)


def boards() -> dict[str, dict]:
    return {path.parent.name: json.loads(path.read_text()) for path in sorted(BOARDS.glob("*/board.json"))}


def parameters(tile: str) -> dict[str, int]:
    """Those of a named tile."""
    named = json.loads((ngflow.RTL / "tile" / "configurations.json").read_text())["configurations"]
    found = next(entry for entry in named if entry["name"] == tile)
    return {name: value for name, value in found.items() if name != "name"}


def sources(board: dict) -> list[Path]:
    return ngflow.sources(board["top"], extra=sorted(BOARDS.rglob("*.sv")))


def netlist(board: dict) -> Path:
    """The mapped netlist, made where it is not there for this text."""
    files = sources(board)
    recipe = json.dumps([board["yosys"], parameters(board["tile"]), ngflow.yosys_version()])
    key = hashlib.sha256((ngflow.design_hash(files) + recipe).encode()).hexdigest()[:24]
    made = IMAGES / f"{board['top']}-{key}.json"
    if made.exists():
        return made
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for path in files:
            (folder / path.name).write_text(ngflow.bare(path))
        settings = " ".join(f"-set {name} {value}" for name, value in parameters(board["tile"]).items())
        ngflow.run_yosys(
            [
                "read_verilog -sv " + " ".join(path.name for path in files),
                f"chparam {settings} ng_board",
                board["yosys"],
                "setattr -unset src */*",
                "setattr -mod -unset src *",
                "write_json netlist.json",
            ],
            folder / "synth.log",
            folder,
        )
        partial = made.with_suffix(f".{os.getpid()}")
        shutil.move(folder / "netlist.json", partial)
        partial.replace(made)
    return made


def placed(name: str, board: dict, seed: int) -> Path:
    """A folder with bitstream and report of one seed, made where it is not there for this netlist."""
    source, pins = netlist(board), BOARDS / name / "pins.pcf"
    command = f"{board['place_and_route']} --pcf pins.pcf --seed {seed} --timing-allow-fail"
    key = hashlib.sha256(
        f"{command} {route.version(command)} {pins.read_text()}".encode() + source.read_bytes()
    ).hexdigest()
    made = IMAGES / f"{name}-{seed}-{key[:24]}"
    if made.exists():
        return made
    with tempfile.TemporaryDirectory(dir=IMAGES) as scratch:
        folder = Path(scratch) / "made"
        folder.mkdir()
        shutil.copy(source, folder / "netlist.json")
        shutil.copy(pins, folder / "pins.pcf")
        words = command.split()
        before = ngflow.seconds_of_children()
        output = ["--json", "netlist.json", "--asc", "image.asc", "--report", "report.json", "--quiet"]
        for step in ([route.executable(words[0]), *words[1:], *output], ["icepack", "image.asc", "image.bin"]):
            done = subprocess.run(step, cwd=folder, capture_output=True, text=True, check=False)
            if done.returncode:
                raise FlowError(f"{name}, seed {seed}: {step[0]} failed: {route.reason(done.stderr)}")
        (folder / "seconds").write_text(f"{ngflow.seconds_of_children() - before:.1f}")
        (folder / "netlist.json").unlink()
        folder.replace(made)
    return made


def period_ns(made: Path) -> float:
    return route.longest_ns(json.loads((made / "report.json").read_text()))


def build(name: str, board: dict, seeds: list[int], jobs: int) -> dict[int, Path]:
    """The images of these seeds, each of which reaches the clock."""
    netlist(board)
    with ThreadPoolExecutor(jobs) as pool:
        made = dict(zip(seeds, pool.map(lambda seed: placed(name, board, seed), seeds), strict=True))
    for seed, folder in made.items():
        reached = 1e3 / period_ns(folder)
        print(f"{name}, seed {seed}: {reached:.1f} MHz; the board has {board['clock_hz'] / 1e6:g} MHz")
        if reached * 1e6 < board["clock_hz"]:
            raise FlowError(
                f"{name}, seed {seed}: the image runs at {reached:.1f} MHz; expected {board['clock_hz'] / 1e6:g} or more"
            )
    return made


def record(name: str, board: dict, made: dict[int, Path]) -> dict:
    first = made[SEEDS[0]]
    used = json.loads((first / "report.json").read_text())["utilization"]
    bits = (first / "image.bin").read_bytes()
    return {
        "image": name,
        "tile": board["tile"],
        "source_sha256": ngflow.design_hash(sources(board)),
        "tools": [ngflow.yosys_version(), route.version(board["place_and_route"])],
        "recipe": [board["yosys"], board["place_and_route"]],
        "clock_hz": board["clock_hz"],
        "paths_s": {str(seed): float(f"{period_ns(folder) * 1e-9:.4g}") for seed, folder in made.items()},
        "used": {kind: count["used"] for kind, count in sorted(used.items()) if count["used"]},
        "seconds": [float((folder / "seconds").read_text()) for folder in made.values()],
        "bitstream_bytes": len(bits),
        "bitstream_sha256": hashlib.sha256(bits).hexdigest(),
    }


def read_back(name: str, made: Path, faults: int, seed: int) -> str:
    """The bitstream as Verilog, module `chip`; fault_i inverts the fault_i-th of `faults` LUTs that the seed draws."""
    with tempfile.TemporaryDirectory() as scratch:
        unpacked = Path(scratch) / "back.asc"
        pins = BOARDS / name / "pins.pcf"
        for step, output in (
            (["iceunpack", str(made / "image.bin")], unpacked),
            (["icebox_vlog", "-s", "-p", str(pins), str(unpacked)], Path(scratch) / "chip.v"),
        ):
            done = subprocess.run(step, capture_output=True, text=True, check=False)
            if done.returncode:
                raise FlowError(f"{step[0]} failed: {done.stderr.strip()}; expected Debian's fpga-icestorm")
            output.write_text(done.stdout)
        text = output.read_text()
    found = len(LUT.findall(text))
    if found < 1000:
        raise FlowError(f"the bitstream of {name} was read back with {found} LUTs; expected thousands")
    return with_faults(declared_once(text), faults, seed) + "\n" + (BOARDS / "ice40_models.v").read_text()


def with_faults(text: str, faults: int, seed: int) -> str:
    """What icebox_vlog wrote, with a port fault_i that inverts one of the LUTs drawn; 0 inverts none."""
    places = [match.start() for match in LUT.finditer(text)]
    drawn = {place: k + 1 for k, place in enumerate(random.Random(seed).sample(places, faults))}

    def inverted(match: re.Match) -> str:
        number = drawn.get(match.start())
        return match[0] if number is None else f"{match[1]}({match[2]}) ^ (fault_i == {number});"

    return LUT.sub(inverted, text).replace("module chip (", "module chip (input [7:0] fault_i, ", 1)


def declared_once(text: str) -> str:
    """What icebox_vlog wrote, without the second declarations of ports, as wires or registers, that simulators refuse."""
    head = re.search(r"^module chip \((.*)\);$", text, re.MULTILINE)
    if head is None:
        raise FlowError("icebox_vlog wrote no module chip; expected that of Debian's fpga-icestorm")
    ports = {port.split()[1] for port in head[1].split(",")}
    registers: set[str] = set()

    def only_once(match: re.Match) -> str:
        items = {item.split("=")[0].strip(): item.strip() for item in match[2].split(",")}
        if match[1] == "reg":
            registers.update(ports & items.keys())
        left = [item for name, item in items.items() if name not in ports]
        return f"{match[1]} {' , '.join(left)};" if left else ""

    text = re.sub(r"^(wire|reg) (.*);$", only_once, text, flags=re.MULTILINE)
    for name in registers:
        text = re.sub(rf"output {re.escape(name)}(?=[ ,)])", lambda match: f"output reg {match[0][7:]}", text, count=1)
    return text


def table() -> str:
    lines = [
        "| board | tile | cells | block RAM | MHz of five seeds | clock, MHz | bitstream, bytes | CPU s a seed |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, entry in recorded.read(RECORDS).items():
        board = boards()[name]
        rates = sorted(1e-6 / seconds for seconds in entry["paths_s"].values())
        used = entry["used"]
        lines.append(
            f"| {board['title']} (`{name}`) | `{entry['tile']}` | {used['ICESTORM_LC']} of {board['cells']} "
            f"| {used.get('ICESTORM_RAM', 0)} | {rates[0]:.1f} to {rates[-1]:.1f} | {entry['clock_hz'] / 1e6:g} "
            f"| {entry['bitstream_bytes']} | {sum(entry['seconds']) / len(entry['seconds']):.0f} |"
        )
    return "\n".join(lines)


def check() -> int:
    """Every record is of today's RTL, and the manual says what it says."""
    stale = [
        name
        for name, entry in recorded.read(RECORDS).items()
        if entry["source_sha256"] != ngflow.design_hash(sources(boards()[name]))
    ]
    for name in stale:
        print(
            f"the image {name} is of other RTL; expected today's: run synth/image.py {name} --record", file=sys.stderr
        )
    missing = [row for row in table().splitlines() if row not in PAGE.read_text().splitlines()]
    for row in missing:
        print(
            f"{ngflow.from_root(PAGE)} does not have this line of the table; expected it as here:\n{row}",
            file=sys.stderr,
        )
    return 1 if stale or missing else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("board", nargs="?", help="folder of synth/boards")
    parser.add_argument("--list", action="store_true", help="boards and their records, as the manual has them")
    parser.add_argument(
        "--check", action="store_true", help="whether the records are of today's RTL, and in the manual"
    )
    parser.add_argument("--record", action="store_true", help="five seeds, into the records")
    parser.add_argument("--seed", type=int, default=1, help="of place and route (default 1)")
    parser.add_argument("--verilog", type=Path, metavar="FILE", help="read the bitstream back into this file")
    parser.add_argument("--faults", type=int, default=0, help="LUTs that --verilog can invert, at most 255")
    parser.add_argument("--fault-seed", type=int, default=1, help="which LUTs (default 1)")
    parser.add_argument("--jobs", type=int, default=1, help="seeds at a time (default 1)")
    arguments = parser.parse_args()
    if arguments.list:
        print(table())
        return 0
    if arguments.check:
        return check()
    known = boards()
    if arguments.board not in known:
        raise FlowError(f"board {arguments.board!r} is not known; expected one of {', '.join(known)}")
    name, board = arguments.board, known[arguments.board]
    made = build(name, board, SEEDS if arguments.record else [arguments.seed], arguments.jobs)
    if arguments.record:
        recorded.update(RECORDS, {name: record(name, board, made)})
    first = made[SEEDS[0] if arguments.record else arguments.seed]
    if arguments.verilog:
        arguments.verilog.write_text(read_back(name, first, arguments.faults, arguments.fault_seed))
    else:
        shutil.copy(first / "image.bin", IMAGES / f"{name}.bin")
        where = ngflow.from_root(IMAGES / f"{name}.bin")
        print(f"{where}; write it with {board['write'].replace(f'{name}.bin', where)}")
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
