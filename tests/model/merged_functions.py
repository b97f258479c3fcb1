# SPDX-License-Identifier: Apache-2.0
"""In an object with code for several instruction sets, what a linker may merge has instructions of the baseline alone.

    python merged_functions.py OBJECT...

A template that is compiled for two instruction sets under one name is one function after linking, and an illegal instruction
on other machines.
"""

from __future__ import annotations

import re
import subprocess
import sys

NAMED = re.compile("avx|vnni|popcnt")  # functions that say what they need
BEYOND = re.compile(r"%[yz]mm|^(?:popcnt|tzcnt|lzcnt|andn|shlx|shrx|sarx|pdep|pext)\b|^v\w+\s.*mm")


def printed(*command: str) -> list[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main() -> int:
    seen, bad = 0, 0
    for path in sys.argv[1:]:
        weak = {line.split()[2] for line in printed("nm", path) if re.match(r"\w+ [WV] ", line)}
        name = ""
        for line in printed("objdump", "-d", "--no-show-raw-insn", path):
            if head := re.match(r"[0-9a-f]+ <(.+)>:$", line):
                name = head[1]
                seen += name in weak
            elif name in weak and not NAMED.search(name) and BEYOND.search(line.split("\t")[-1]):
                print(f"{path}: {name}: {line.strip()}")
                bad, name = bad + 1, ""
    print(f"{seen} functions that may be merged, {bad} with instructions beyond the baseline")
    return 1 if bad or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
