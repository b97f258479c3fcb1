#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the sizes of cross-compiled objects; fails if one has variables or needs anything from outside the driver."""

import argparse
import subprocess
import sys
from pathlib import Path


def output(*command: str) -> list[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", help="that makes the objects, for who has not built it")
    parser.add_argument("prefix", help="of the toolchain's programs, such as arm-none-eabi-")
    parser.add_argument("objects", nargs="+")
    options = parser.parse_args()
    missing = [path for path in options.objects if not Path(path).is_file()]
    if missing:
        print(f"{', '.join(missing)}: not built; build the target {options.target} and try again", file=sys.stderr)
        return 1
    failures = 0
    print(f"{'object':40} {'text':>6} {'data':>6} {'bss':>6}")
    for path in options.objects:
        text, data, bss = (int(word) for word in output(options.prefix + "size", path)[1].split()[:3])
        undefined = [line.split()[-1] for line in output(options.prefix + "nm", "-u", path)]
        print(f"{path:40} {text:6} {data:6} {bss:6}")
        if text == 0:
            print(f"{path}: no code; expected the driver: see how it was compiled", file=sys.stderr)
        if data or bss:
            print(
                f"{path}: {data + bss} bytes of variables; expected none: the driver has no global state",
                file=sys.stderr,
            )
        if undefined:
            print(
                f"{path}: needs {', '.join(undefined)}; expected nothing: the driver links without a libc",
                file=sys.stderr,
            )
        failures += text == 0 or data != 0 or bss != 0 or bool(undefined)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
