# SPDX-License-Identifier: Apache-2.0
"""Copies the results of the last `ctest -R mutants` from a build folder to verif/records, the data of the status table.

.venv/bin/python verif/mutants/record.py BUILD_FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ngtools import ngflow


def main() -> int:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise ngflow.FlowError("expected the build folder as the only argument, for example: record.py build/release")
    results = sorted((Path(sys.argv[1]) / "verif").rglob("mutants_*.json"))
    if not results:
        raise ngflow.FlowError(f"no mutants_*.json under {sys.argv[1]}; run ctest -R mutants there first")
    folder = ngflow.ROOT / "verif" / "records"
    folder.mkdir(exist_ok=True)
    for path in results:
        result = json.loads(path.read_text())
        (folder / f"{result['name']}.json").write_text(path.read_text())
        print(
            f"{result['name']}: {result['killed']} of {result['faults']} killed, {len(result['equivalent'])} equivalent, "
            f"{len(result['holes'])} holes"
        )
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
