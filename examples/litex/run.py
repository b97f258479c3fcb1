#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A product on a tile in a SoC of LiteX, simulated: VexRiscv runs the driver, and every result is the golden model's.

PYTHONPATH=build/python .venv/bin/python examples/litex/run.py [--tile tiny] [--folder build/litex]

Generates the SoC (soc.py), compiles the program (main.c) with the operands of the product, Verilates both and simulates.
Needs LiteX and VexRiscv's Verilog from PyPI (make setup), Verilator, and riscv64-unknown-elf-gcc.
"""

from __future__ import annotations

import argparse
import logging
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
from litex.soc.integration import export
from litex.soc.integration.builder import soc_directory
from litex.soc.integration.common import get_mem_data
from soc import SimulatedSoC

import narrowgauge as ng

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FIRMWARE = ROOT / "firmware"
LITEX = Path(soc_directory)
SOURCES = [HERE / "main.c", FIRMWARE / "ports" / "ng_fifo_port.c", FIRMWARE / "src" / "ng_tile.c"]


class StepError(RuntimeError):
    """A step failed; the text says which and why."""


def run(command: list[str | Path], folder: Path, step: str) -> None:
    if shutil.which(str(command[0])) is None:
        raise StepError(f'{step} needs the program "{command[0]}", which is not found; make setup installs it')
    environment = os.environ | {"MAKEFLAGS": "", "OBJCACHE": shutil.which("ccache") or ""}
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise StepError(f"{step} failed with exit code {done.returncode}:\n{done.stdout[-4000:]}")


def parse_params(texts: list[str]) -> dict[str, int]:
    """'ADepth=128' -> {'ADepth': 128}"""
    parameters = {}
    for text in texts:
        name, _, value = text.partition("=")
        if not value.isdecimal():
            raise ValueError(f'parameter "{text}" is malformed; expected NAME=VALUE with a whole number, as ADepth=128')
        parameters[name] = int(value)
    return parameters


def operands(m: int, n: int, k: int, seed: int) -> tuple[ng.QuantizedMatrix, ng.QuantizedMatrix]:
    random = np.random.default_rng(seed)
    a = random.standard_normal((m, k), dtype=np.float32)
    b = random.standard_normal((k, n), dtype=np.float32)
    return ng.quantize(a, "nvfp4", axis=-1), ng.quantize(b, "nvfp4", axis=-2)


def header(a: ng.QuantizedMatrix, b: ng.QuantizedMatrix, golden: np.ndarray, *, flipped: bool = False) -> str:
    """The header of operands; flipped: with one bit of A inverted."""
    codes = a.codes.copy()
    codes.flat[0] ^= 8 if flipped else 0  # a sign
    scale = struct.unpack("<I", np.float32(a.tensor_scale * b.tensor_scale).tobytes())[0]
    numbers = {"M": a.rows, "N": b.rows, "K": a.k, "K_PADDED": a.k_padded, "SCALE": f"0x{scale:08x}u"}
    lines = [f"#define {name} {value}" for name, value in numbers.items()]
    arrays = {"a_codes": codes, "a_scales": a.scales, "b_codes": b.codes, "b_scales": b.scales}
    for name, array in arrays.items():
        lines.append(f"static const uint8_t {name}[] = {{{', '.join(map(str, array.flat))}}};")
    expected = ", ".join(f"0x{code:08x}u" for code in golden.view(np.uint32).flat)
    lines.append(f"static const uint32_t golden[] = {{{expected}}};")
    return "\n".join(lines) + "\n"


def generate(soc: SimulatedSoC, folder: Path) -> None:
    """What LiteX's builder writes for a program, without its BIOS."""
    soc.finalize()
    generated = folder / "generated"
    generated.mkdir(exist_ok=True)
    texts = {
        "csr.h": export.get_csr_header(soc.csr_regions, soc.constants, soc.mem_regions["csr"].origin),
        "mem.h": export.get_mem_header(soc.mem_regions),
        "soc.h": export.get_soc_header(soc.constants),
        "output_format.ld": export.get_linker_output_format(soc.cpu),
        "regions.ld": export.get_linker_regions(soc.mem_regions),
    }
    for name, text in texts.items():
        (generated / name).write_text(text)


def compile_program(soc: SimulatedSoC, folder: Path) -> list[int]:
    """The program's words, with LiteX's start-up code and linker script."""
    cpu = dict(export.get_cpu_mak(soc.cpu, compile_software=False))
    prefix = "riscv64-unknown-elf-"
    include = [folder, cpu["CPU_DIRECTORY"], LITEX / "software/include", FIRMWARE / "include", FIRMWARE / "ports"]
    flags = [*cpu["CPUFLAGS"].split(), "-Os", "-ffreestanding", "-Wall", "-Wextra", *(f"-I{path}" for path in include)]
    crt0 = folder / "crt0.o"
    run([f"{prefix}gcc", *flags, "-c", Path(cpu["CPU_DIRECTORY"]) / "crt0.S", "-o", crt0], folder, "start-up code")
    script = LITEX / "software/bios/linker.ld"
    link = ["-std=gnu11", "-nostdlib", "-static", f"-Wl,-T,{script}", f"-L{folder}"]
    run([f"{prefix}gcc", *flags, *link, crt0, *SOURCES, "-o", folder / "main.elf"], folder, "program")
    run([f"{prefix}objcopy", "-O", "binary", "main.elf", "main.bin"], folder, "program")
    return get_mem_data(str(folder / "main.bin"), data_width=32, endianness="little")


def write_verilog(soc: SimulatedSoC, folder: Path, words: list[int]) -> None:
    """The SoC, and the contents of its memories, which it reads from the working folder."""
    soc.init_rom("rom", words, auto_size=False)
    converted = soc.platform.get_verilog(soc.get_fragment(), name="soc", regular_comb=False)
    (folder / "soc.v").write_text(converted.main_source)
    for name, text in converted.data_files.items():
        (folder / name).write_text(text)


def verilate(soc: SimulatedSoC, folder: Path) -> None:
    sources = [folder / "soc.v", ROOT / "engines/rtl/mac_array.vlt", *(Path(file) for file, *_ in soc.platform.sources)]
    command = ["verilator", "--cc", "--exe", "--build", "-j", "1", "--top-module", "soc", "--prefix", "Vsoc"]
    command += [
        "-O3",
        "-Wno-lint",
        "-Wno-style",
        "-Wno-UNOPTFLAT",
        "-Wno-COMBDLY",
        "--no-timing",
        "--Mdir",
        folder / "verilated",
    ]
    command += ["-CFLAGS", "-O1", "-MAKEFLAGS", "OPT_FAST=-O1 OPT_SLOW=-O0"]
    run([*command, *sources, HERE / "simulate.cpp"], folder, "Verilator")


def differences(folder: Path, golden: np.ndarray, cycles: int) -> int:
    """Simulates; how many results that the program printed are not the golden model's. The program counts them, too."""
    done = subprocess.run(
        [folder / "verilated" / "Vsoc", str(cycles)], cwd=folder, capture_output=True, text=True, check=False
    )
    print(done.stdout + done.stderr, end="")
    rows = [[int(code, 16) for code in line.split()[1:]] for line in done.stdout.splitlines() if line.startswith("c ")]
    wanted = golden.view(np.uint32)
    if done.returncode not in (0, 1) or np.shape(rows) != wanted.shape:
        raise StepError(f"the program ended with {done.returncode}; expected 0, and {wanted.size} results")
    count = int(np.sum(np.array(rows, np.uint32) != wanted))
    if (done.returncode == 0) != (count == 0):
        raise StepError(f"the program ended with {done.returncode}, but {count} results differ")
    return count


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tile", default="tiny", help="a named configuration (default tiny)")
    parser.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE", help="other parameters of ng_tile")
    parser.add_argument("--tx-bytes", type=int, default=512, help="operands that wait in the FIFO (default 512)")
    parser.add_argument("--rx-bytes", type=int, default=512, help="results that wait in the FIFO (default 512)")
    parser.add_argument(
        "--shape", type=int, nargs=3, default=[11, 13, 72], metavar=("M", "N", "K"), help="(default 11 13 72)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the operands (default 1)")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "litex", help="(default build/litex)")
    parser.add_argument("--cycles", type=int, default=5_000_000, help="after which the simulation fails")
    parser.add_argument(
        "--flip", action="store_true", help="then again with a bit of A inverted, which has to be noticed"
    )
    return parser.parse_args()


def main() -> int:
    arguments = parse()
    logging.disable(logging.INFO)  # LiteX describes the SoC
    parameters = parse_params(arguments.set)
    soc = SimulatedSoC(tile=arguments.tile, tx_bytes=arguments.tx_bytes, rx_bytes=arguments.rx_bytes, **parameters)
    folder = arguments.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    a, b = operands(*arguments.shape, arguments.seed)
    golden = ng.gemm(a, b)
    generate(soc, folder)
    (folder / "operands.h").write_text(header(a, b, golden))
    write_verilog(soc, folder, compile_program(soc, folder))
    verilate(soc, folder)
    if wrong := differences(folder, golden, arguments.cycles):
        raise StepError(f"{wrong} of {golden.size} results differ; expected those of the golden model")
    print(f"bit-exact with the golden model: {golden.size} results; the first is {golden[0, 0]}")
    if arguments.flip:
        (folder / "operands.h").write_text(header(a, b, golden, flipped=True))
        words = compile_program(soc, folder)
        (folder / "soc_rom.init").write_text("".join(f"{word:08x}\n" for word in words))
        if not (wrong := differences(folder, golden, arguments.cycles)):
            raise StepError("with a bit of A inverted no result differs; expected some of its first row")
        print(f"with a bit of A inverted {wrong} results differ")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (StepError, ValueError) as error:
        print(f"run.py: {error}", file=sys.stderr)
        sys.exit(2)
