#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Derive RTL, C header, C++ constants and manual page from the SystemRDL description of the tile's registers.

    .venv/bin/python tools/gen_registers.py            write the four files
    .venv/bin/python tools/gen_registers.py --check    compare only; exit code 1 and a diff if one has drifted

Nothing here or in tools/ngtools/registers knows what the registers are for: see rtl/tile/ng_tile.rdl, which also declares the
properties (ng_...) that SystemRDL does not have.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

try:
    from systemrdl import RDLCompileError
except ImportError:
    sys.exit(
        "tools/gen_registers.py: this Python has no package systemrdl-compiler; run it as "
        ".venv/bin/python tools/gen_registers.py, after tools/setup.sh"
    )

from ngtools.registers import c_header, cpp_header, page, rtl
from ngtools.registers.source import SOURCE, SourceError, read_source

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the files in the tree, write nothing")
    args = parser.parse_args()
    try:
        top, regs = read_source(ROOT / SOURCE)
        family, name = SOURCE.parent.name, top.inst_name
        outputs = {
            ROOT / SOURCE.parent / f"{name}_regs.sv": rtl.write(top, regs),
            ROOT / f"firmware/include/narrowgauge/{name}_regs.h": c_header.write(top, regs),
            ROOT / f"model/include/narrowgauge/{family}/{family}_regs.hpp": cpp_header.write(top, regs),
            ROOT / "docs/registers.md": page.write(top, regs),
        }
    except RDLCompileError:  # the compiler has said what and where
        return 1
    except SourceError as error:
        print(f"{SOURCE}: {error}")
        return 1
    drifted = 0
    for path, text in outputs.items():
        old = path.read_text() if path.exists() else ""
        shown = str(path.relative_to(ROOT))
        if old == text:
            continue
        if args.check:
            drifted += 1
            sys.stdout.writelines(
                difflib.unified_diff(old.splitlines(True), text.splitlines(True), shown, shown + " (regenerated)")
            )
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"wrote {shown}")
    if drifted:
        print(f"{drifted} generated file(s) differ from {SOURCE}: run tools/gen_registers.py and commit the result")
        return 1
    print(f"{len(outputs)} generated files agree with {SOURCE} ({len(regs)} registers)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
