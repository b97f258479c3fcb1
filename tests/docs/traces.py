# SPDX-License-Identifier: Apache-2.0
"""The traces that the manual's timing diagrams are drawn from, docs/pictures/<name>.trace, against the simulations that make them.

traces.py NAME PROGRAM [NAME PROGRAM]...            exit code 1 where a trace is not what its program says (ctest -R docs.traces)
traces.py --write NAME PROGRAM [NAME PROGRAM]...    writes them (make traces)
"""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "pictures"


def main() -> int:
    words = sys.argv[1:]
    write = words[:1] == ["--write"]
    pairs = words[write:]
    if not pairs or len(pairs) % 2:
        print(__doc__)
        return 2
    wrong = 0
    for name, program in zip(pairs[::2], pairs[1::2], strict=True):
        run = subprocess.run([program], capture_output=True, text=True, check=False)
        path = FOLDER / f"{name}.trace"
        if run.returncode != 0 or run.stdout.count("\n") < 3:
            print(f"{program} ended with exit code {run.returncode}: {run.stderr or 'its own checks failed'}")
            wrong += 1
        elif write:
            path.write_text(run.stdout)
        elif not path.exists() or path.read_text() != run.stdout:
            print(f"docs/pictures/{name}.trace is not what the simulation says: run make traces pictures, look, commit")
            wrong += 1
    print(f"{len(pairs) // 2} traces, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
