#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One layer of ResNet-18 by SCALE-Sim and by `narrowgauge explore`: cycles, accesses, energy at the same prices.

SCALE-Sim (Samajdar et al., ISPASS 2020) has an array of cells with one multiplier each, output-stationary, whose operands
move from cell to cell. A cell of ours multiplies 16 pairs in a cycle, so its word is 16 numbers: the contraction that
SCALE-Sim gets is a sixteenth as long. What it counted is recorded in scalesim.json; our side is asked anew.

examples
  power/compare/scalesim.py                 the table of docs/explore.md
  power/compare/scalesim.py --check         our side is what it was, and the page has this table
  make compare                              SCALE-Sim again (a minute), in an environment of its own
"""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from ngtools import ngflow
from ngtools.ngflow import ROOT, FlowError

RECORD = Path(__file__).with_name("scalesim.json")
PAGE = ROOT / "docs" / "explore.md"
# conv3_x of ResNet-18: 28 x 28 pixels, 128 outputs, a window of 3 x 3 x 128.
M, N, K = 784, 128, 1152
ROWS, COLS, LANES, BITS = 8, 8, 16, 8
DEPTH = 512  # images of a bank: what 512 x 8 words of SCALE-Sim's buffers are
SPACE = {
    "format": "fp8_e4m3",
    "technology": "horowitz_45nm",
    "rows": ROWS,
    "cols": COLS,
    "lanes": LANES,
    "a_depth": DEPTH,
    "b_depth": DEPTH,
    "stream_width": 1024,
    "objectives": ["energy"],
}
CONFIGURATION = f"""[general]
run_name = layer
[architecture_presets]
ArrayHeight: {ROWS}
ArrayWidth: {COLS}
IfmapSramSzkB: {2 * DEPTH * ROWS // 1024}
FilterSramSzkB: {2 * DEPTH * COLS // 1024}
OfmapSramSzkB: 8
IfmapOffset: 0
FilterOffset: 10000000
OfmapOffset: 20000000
Dataflow: os
Bandwidth: 8
ReadRequestBuffer: 32
WriteRequestBuffer: 32
[layout]
IfmapCustomLayout: False
FilterCustomLayout: False
IfmapSRAMBankBandwidth: 10
IfmapSRAMBankNum: 10
IfmapSRAMBankPort: 2
FilterSRAMBankBandwidth: 10
FilterSRAMBankNum: 10
FilterSRAMBankPort: 2
[sparsity]
SparsitySupport: false
SparseRep: ellpack_block
OptimizedMapping: false
BlockSize: 8
RandomNumberGeneratorSeed: 40
[run_presets]
InterfaceBandwidth: CALC
UseRamulatorTrace: False
"""


def run_scalesim(python: Path) -> dict:
    """Counts of SCALE-Sim: cycles, and words read and written."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "array.cfg").write_text(CONFIGURATION)
        (work / "layer.csv").write_text(f"Layer,M,N,K,\nlayer,{M},{N},{K // LANES},\n")
        command = [str(python), "-m", "scalesim.scale", "-c", "array.cfg", "-t", "layer.csv", "-l", "layer.csv"]
        done = subprocess.run(
            [*command, "-p", "out", "-i", "gemm"], cwd=work, capture_output=True, text=True, check=False
        )
        reports = sorted((work / "out").rglob("*_REPORT.csv")) if done.returncode == 0 else []
        if not reports:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            raise FlowError(
                f"SCALE-Sim made no report: {' '.join(last)}; `make compare` installs the version that is expected"
            )
        rows: dict[str, str] = {}
        for report in reports:
            with report.open() as text:
                reader = csv.reader(text)
                rows |= dict(
                    zip((name.strip() for name in next(reader)), (v.strip() for v in next(reader)), strict=True)
                )
    return {
        "cycles": int(float(rows["Total Cycles"])),
        "a_reads": int(rows["SRAM IFMAP Reads"]),
        "b_reads": int(rows["SRAM Filter Reads"]),
        "a_from_memory": int(rows["DRAM IFMAP Reads"]),
        "b_from_memory": int(rows["DRAM Filter Reads"]),
    }


def ours(program: Path) -> tuple[dict, float]:
    """The point, and joules of a bit of memory."""
    layer = {"op": "gemm", "name": "layer", "m": M, "n": N, "k": K, "batch": 1, "count": 1, "weights": True}
    with tempfile.TemporaryDirectory() as folder:
        workload, space = Path(folder) / "layer.json", Path(folder) / "space.yaml"
        workload.write_text(json.dumps({"name": "layer", "parameters": {}, "layers": [layer]}))
        space.write_text(json.dumps(SPACE))
        done = subprocess.run(
            [str(program), "explore", str(workload), str(space), "--json"], capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        raise FlowError(f"narrowgauge explore failed: {done.stderr.strip()}")
    answer = json.loads(done.stdout)
    (bit,) = (source["energy_j"] for source in answer["sources"] if source["of"] == "dram, a bit read")
    return answer["front"][0], bit


def table(counted: dict, point: dict, dram_bit: float) -> str:
    word, results = LANES * BITS, M * N
    reads = counted["a_reads"] + counted["b_reads"]
    fetched = counted["a_from_memory"] + counted["b_from_memory"]
    ours_fetched = (point["dram_j"] / dram_bit - 32 * results) / word
    folds = M // ROWS * (N // COLS)
    beats = folds * (K // LANES)
    # A read costs the same in both; words are written once for each that comes from memory.
    sram_word = point["sram_j"] / (beats * (ROWS + COLS) + ours_fetched)
    rows = [
        ("cycles", f"{counted['cycles']}", f"{point['cycles']:.0f}"),
        ("cycles of a panel of 8 x 8 results", f"{counted['cycles'] / folds:.1f}", f"{point['cycles'] / folds:.1f}"),
        ("utilization", f"{beats / counted['cycles']:.1%}", f"{point['utilization']:.1%}"),
        ("words read by the array", f"{reads}", f"{beats * (ROWS + COLS)}"),
        ("words from memory", f"{fetched}", f"{ours_fetched:.0f}"),
        ("products, uJ", f"{point['mac_j'] * 1e6:.1f}", f"{point['mac_j'] * 1e6:.1f}"),
        ("buffers, uJ", f"{sram_word * (reads + fetched) * 1e6:.1f}", f"{point['sram_j'] * 1e6:.1f}"),
        ("memory, uJ", f"{dram_bit * (fetched * word + 32 * results) * 1e6:.1f}", f"{point['dram_j'] * 1e6:.1f}"),
    ]
    lines = ["| | SCALE-Sim 3.0.0 | `explore` |", "|---|---|---|"]
    return "\n".join(lines + [f"| {name} | {theirs} | {own} |" for name, theirs, own in rows])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "build" / "bin" / "narrowgauge", help="the program")
    parser.add_argument("--scalesim", type=Path, help="a Python that has SCALE-Sim: run it and record what it counts")
    parser.add_argument("--check", action="store_true", help="fail if the page has another table")
    options = parser.parse_args()
    if options.scalesim:
        RECORD.write_text(json.dumps(run_scalesim(options.scalesim.absolute()), indent=2) + "\n")
    text = table(json.loads(RECORD.read_text()), *ours(options.program))
    print(text)
    if options.check and text not in PAGE.read_text():
        print(f"{PAGE.name} has another table than this one", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
