# SPDX-License-Identifier: Apache-2.0
"""Builds and runs a group of tests under sanitizers, for the ledger (docs/verification.md, Sanitizers).

The tests are those of CMake preset `sanitize`, in its own build folder. That folder takes Verilated modules, which are not
instrumented, from the ordinary build folder BUILD, which must have them. A group is rtl.<family> or systemc.<family> of
testbenches, or the first part of the tests' names; tests of `rtl` and `systemc` without a family are in group `engines`.

  python -m ngtools.sanitize BUILD build TARGET...   builds these there
  python -m ngtools.sanitize BUILD run GROUP         runs the group's tests, and fails on any report
  python -m ngtools.sanitize BUILD list              the groups, with the number of their tests
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import re
import subprocess
import tempfile
import xml.etree.ElementTree
from pathlib import Path

from ngtools import ngflow

FOLDER = "build-sanitize"  # of the preset
PRESET = ("--preset", "sanitize")
BENCHES = ("rtl", "systemc")


def group_of(name: str, labels: list[str]) -> str:
    kind = name.partition(".")[0]
    if kind not in BENCHES:
        return kind
    families = sorted(set(labels) - set(BENCHES))
    return f"{kind}.{families[0]}" if families else "engines"


def groups(listing: dict) -> dict[str, list[dict]]:
    """Tests of what `ctest --show-only=json-v1` lists, by group."""
    found = collections.defaultdict(list)
    for test in listing["tests"]:
        properties = {item["name"]: item["value"] for item in test["properties"]}
        found[group_of(test["name"], properties.get("LABELS", []))].append(test)
    return dict(found)


def all_tests() -> dict[str, list[dict]]:
    command = ["ctest", *PRESET, "--show-only=json-v1"]
    done = subprocess.run(command, cwd=ngflow.ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ngflow.FlowError(
            f"cannot list the tests of {FOLDER}: {done.stderr.strip()}; expected it to be configured"
        )
    return groups(json.loads(done.stdout))


def names_of(group: str) -> list[str]:
    found = all_tests()
    if group not in found:
        raise ngflow.FlowError(f'group "{group}" has no tests; expected one of {", ".join(sorted(found))}')
    return [test["name"] for test in found[group]]


def configure(build: Path) -> None:
    made = ngflow.ROOT / FOLDER
    cache, option = made / "CMakeCache.txt", f"NG_BUILT_VERILATED:PATH={build.resolve()}"
    if cache.is_file() and (made / "build.ninja").is_file() and option in cache.read_text().splitlines():
        return
    done = subprocess.run(
        ["cmake", *PRESET, "-Wno-dev", f"-D{option}"],
        cwd=ngflow.ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ngflow.FlowError(f"cannot configure {FOLDER}:\n{done.stdout}")


def build(folder: Path, targets: list[str]) -> int:
    configure(folder)
    command = ["cmake", "--build", str(ngflow.ROOT / FOLDER), "-j", str(os.cpu_count()), "--target", *targets]
    return subprocess.run(command, check=False).returncode


def run(group: str) -> int:
    names = names_of(group)
    with tempfile.TemporaryDirectory() as scratch:
        junit, reports = Path(scratch) / "junit.xml", Path(scratch) / "reports"
        reports.mkdir()
        # Into files, because a test may expect that a program fails, and then would not notice why it did.
        environment = os.environ | {"UBSAN_OPTIONS": f"print_stacktrace=1:log_path={reports}/report"}
        pattern = "^(" + "|".join(map(re.escape, names)) + ")$"
        command = ["ctest", *PRESET, "-R", pattern, "-j", str(os.cpu_count()), "--output-junit", str(junit)]
        done = subprocess.run(command, cwd=ngflow.ROOT, env=environment, check=False)
        suite = xml.etree.ElementTree.parse(junit).getroot().attrib
        texts = [path.read_text(errors="replace") for path in sorted(reports.iterdir())]
    for text in texts:
        print(text)
    ran = int(suite["tests"]) - int(suite["skipped"]) - int(suite["disabled"])
    print("figures: " + json.dumps({"tests": ran, "reports": len(texts)}))
    return 1 if done.returncode or texts or not ran else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="the ordinary build folder")
    verbs = parser.add_subparsers(dest="verb", required=True)
    build_verb = verbs.add_parser("build")
    build_verb.add_argument("targets", nargs="+", metavar="TARGET")
    verbs.add_parser("run").add_argument("group", metavar="GROUP")
    verbs.add_parser("list")
    args = parser.parse_args()
    if args.verb == "build":
        return build(args.build, args.targets)
    if args.verb == "run":
        return run(args.group)
    for name, tests in sorted(all_tests().items()):
        print(f"{name:24} {len(tests):4}")
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
