# SPDX-License-Identifier: Apache-2.0
"""Runs libFuzzer's harnesses one after another, and prints the rows of the table of docs/verification.md, Fuzzing.

    tests/fuzz/table.py build-fuzz --seconds 240 npy packet

A harness takes its corpus, puts what it finds into a folder of the build, and writes its log there. Ends with 1 on a finding.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
LENGTHS = {"dialect": 2048, "workload": 2048}  # bytes of an input; those of others are below
LENGTH = 600


def command(build: Path, name: str, found: Path, seconds: int) -> list[str]:
    return [
        str(build / "tests" / "fuzz" / f"ng_fuzz_{name}"),
        str(found),
        str(FOLDER / "corpus" / name),
        f"-max_total_time={seconds}",
        f"-max_len={LENGTHS.get(name, LENGTH)}",
        f"-artifact_prefix={found.parent}/{name}-",
        "-print_final_stats=1",
    ]


def row(name: str, seconds: int, log: str) -> str:
    """Of libFuzzer's log. It ends at the first finding, whose input is kept in a file."""
    done = re.search(r"stat::number_of_executed_units: (\d+)", log)
    edges = re.findall(r" cov: (\d+) ", log)
    findings = len(re.findall(r"^Test unit written to ", log, re.M))
    if not done or not edges:
        sys.exit(f"table.py: the log of {name} has no final statistics; expected those of libFuzzer")
    return f"| `{name}` | {seconds} | {done[1]} | {edges[-1]} | {findings} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="the folder of the preset fuzz")
    parser.add_argument("names", nargs="*", help="harnesses; all by default")
    parser.add_argument("--seconds", type=int, default=3600, help="of each")
    args = parser.parse_args()
    found_any = False
    for name in args.names or sorted(path.name for path in (FOLDER / "corpus").iterdir()):
        found = args.build.resolve() / "fuzzed" / name
        found.mkdir(parents=True, exist_ok=True)
        with (found.parent / f"{name}.log").open("w") as log:
            subprocess.run(command(args.build, name, found, args.seconds), stderr=log, check=False)
        text = row(name, args.seconds, (found.parent / f"{name}.log").read_text(errors="replace"))
        print(text, flush=True)
        found_any = found_any or not text.endswith("| 0 |")
    return 1 if found_any else 0


if __name__ == "__main__":
    sys.exit(main())
