# SPDX-License-Identifier: Apache-2.0
"""A unit with bad parameters must not elaborate: Verilator has to fail with a message that matches --expect (it should
name the parameter, its value and what was expected), and Yosys has to fail too (0.23 prints no text of $fatal). With
--early, Verilator may also fail with an error of its own in one of the unit's lines, which it comes to before $fatal."""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

from ngtools import ngflow


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", required=True, help="module name")
    parser.add_argument("--params", required=True, help="for example 'Lanes=0'")
    parser.add_argument("--expect", required=True, help="regular expression the message must match")
    parser.add_argument("--early", action="store_true", help="Verilator may refuse them with an error of its own")
    parser.add_argument("sources", nargs="+", type=Path)
    args = parser.parse_args()
    params = ngflow.parse_params(args.params)

    # 'd: a number without a width, so that one for a parameter of a bit is not too wide.
    generics = [f"-G{name}={value}" if value < 0 else f"-G{name}='d{value}" for name, value in params.items()]
    done = subprocess.run(
        ["verilator", "--lint-only", "--top-module", args.top, *generics, *args.sources],
        capture_output=True,
        text=True,
        check=False,
    )
    messages = re.findall(r"USERFATAL: [^:]*:\d+:\d+: (.*)", done.stderr)
    refused = any(re.search(args.expect, message) for message in messages)
    if args.early and not messages:
        files = "|".join(re.escape(str(path)) for path in args.sources)
        messages = re.findall(rf"^%Error(?:-[A-Z]+)?: (?:{files}):\d+:\d+: (.*)", done.stderr, re.M)
        refused = bool(messages)
    if done.returncode == 0 or not refused:
        print(
            f"{args.top} with {args.params}; expected a fatal message matching /{args.expect}/, got: {messages or done.stderr}"
        )
        return 1
    print(f"verilator: {messages[0]}")

    with tempfile.TemporaryDirectory() as folder:
        try:
            ngflow.run_yosys([*ngflow.yosys_read(args.top, args.sources, params), "proc"], Path(folder) / "elab.log")
        except ngflow.FlowError as error:
            if "FATAL" in str(error):
                print("yosys: refused as well")
                return 0
            print(f"{args.top} with {args.params}: yosys failed for another reason: {error}")
            return 1
    print(f"{args.top} with {args.params}: yosys accepted it")
    return 1


if __name__ == "__main__":
    ngflow.run_main(main)
