# SPDX-License-Identifier: Apache-2.0
"""Synthesizes one unit for iCE40 (the flow whose area is recorded) and writes the mapped netlist as plain Verilog.

The netlist is what synth_ice40 leaves: LUT4, carry and flip-flop cells. To simulate it, each cell is replaced by its
function (ice40_cells.v beside this file); logic is not optimized again.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ngtools import ngflow


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", required=True, help="module name")
    parser.add_argument("--params", default="", help="for example 'Lanes=32;FormatSet=3'")
    parser.add_argument("--out", required=True, type=Path, help="Verilog file to write")
    parser.add_argument("sources", nargs="+", type=Path)
    args = parser.parse_args()
    ngflow.run_yosys(
        ngflow.yosys_read(args.top, args.sources, ngflow.parse_params(args.params))
        + [
            f"synth_ice40 -top {args.top}",
            f"techmap -map {Path(__file__).resolve().with_name('ice40_cells.v')}",
            "splitnets",  # or the bits of one carry vector look like a combinational loop to the simulator
            "clean -purge",
            "select -assert-none t:SB_*",  # a cell without a model would simulate as a constant
            "check -assert",
            f"write_verilog -noattr {args.out.resolve()}",
        ],
        args.out.with_suffix(".log"),
    )
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
