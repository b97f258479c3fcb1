# SPDX-License-Identifier: Apache-2.0
"""The conformance kit: `narrowgauge vectors`, or `python -m narrowgauge.vectors`."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from typing import Any

from .._arguments import shown
from .._core import Error
from .._program import exit_code
from . import KINDS, OPERATIONS, Command, Report, check, open_kit, write
from .run import Implementation, table

EXAMPLES = """\
examples:
  narrowgauge vectors write kit                                       every kind of case, into the folder kit
  narrowgauge vectors write kit --kind casts --kind dots              two kinds
  narrowgauge vectors list kit                                        files of a kit, each compared with its SHA-256
  narrowgauge vectors check kit --command './mine --serve'            asks a program, a line of JSON a case
  narrowgauge vectors check kit --callable mine:answer --kind casts   asks a function of a Python module
  narrowgauge vectors check kit --callable narrowgauge.vectors:reference   the golden model itself

docs/conformance.md has the files, the operations and the protocol. The exit code is 0 where everything that was compared
passes, 1 where something differs, 2 where nothing could be compared.
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="narrowgauge vectors",
        description="Conformance kit: questions and answers of the golden model in files, and a runner that compares.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")

    def action(name: str, text: str) -> argparse.ArgumentParser:
        made = actions.add_parser(
            name, help=text, description=text, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        made.add_argument("folder", metavar="FOLDER", help="of the kit")
        made.add_argument(
            "--kind", action="append", metavar="KIND", help=f"of these only: {', '.join(KINDS)}; may be repeated"
        )
        made.add_argument("--json", action="store_true", help="one object of JSON, nothing else")
        return made

    action("write", "writes a kit: of each kind a .npz, a .json and a .h, and kit.json")
    action("list", "lists the files and operations of a kit, each file compared with its SHA-256")
    checks = action("check", "asks an implementation every case and compares, bit for bit")
    asked = checks.add_mutually_exclusive_group(required=True)
    asked.add_argument(
        "--command", metavar="COMMAND", help="program with arguments that answers a line of JSON with another"
    )
    asked.add_argument("--callable", metavar="MODULE:FUNCTION", help="function of operation, parameters and inputs")
    checks.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help="for an answer (default 60)")
    return parser


def function(name: str) -> Implementation:
    """The function that MODULE:FUNCTION names; `python -m` finds those of the current folder. Raises Error where there is none."""
    module, colon, attribute = name.partition(":")
    if not (module and colon and attribute):
        raise Error(f"--callable is {shown(name)}; expected MODULE:FUNCTION, as in narrowgauge.vectors:reference")
    try:
        found: Any = importlib.import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise Error(
            f"--callable {name} cannot be imported: {type(error).__name__}: {error}; expected MODULE:FUNCTION"
        ) from None
    if not callable(found):
        raise Error(f"--callable {name} is of type {type(found).__name__}; expected a function")
    made: Implementation = found
    return made


def _rows(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'file':16} {'cases':>5} {'numbers':>8} {'bytes':>9}  sha256"]
    lines += [f"{r['file']:16} {r['cases']:5} {r['numbers']:8} {r['bytes']:9}  {r['sha256'][:16]}" for r in rows]
    return "\n".join(lines)


def _list(given: argparse.Namespace) -> None:
    kit = open_kit(given.folder, kinds=given.kind)
    count: dict[str, int] = {}
    for case in kit.cases.values():
        count[case.operation] = count.get(case.operation, 0) + 1
    if given.json:
        print(json.dumps({"files": kit.provenance, "operations": count}))
        return
    print(_rows(kit.provenance))
    for name, cases in count.items():
        one = OPERATIONS[name]
        print(f"{name}: {cases} cases, {one.what}; {', '.join(one.inputs)} -> {', '.join(one.outputs)}")


def _check(given: argparse.Namespace) -> Report:
    kit = open_kit(given.folder, kinds=given.kind)
    if given.command is None:
        return check(kit, function(given.callable))
    with Command(given.command, timeout=given.timeout) as command:
        return check(kit, command)


def main(arguments: list[str] | None = None) -> int:
    """The exit code of `narrowgauge vectors`."""
    given = _parser().parse_args(arguments)
    differs = False

    def run() -> None:
        nonlocal differs
        if given.action == "write":
            rows = write(given.folder, kinds=given.kind)
            print(json.dumps({"folder": given.folder, "files": rows}) if given.json else _rows(rows))
        elif given.action == "list":
            _list(given)
        else:
            report = _check(given)
            print(json.dumps(report.as_dict()) if given.json else table(report))
            differs = bool(report.count("fail"))
            if not differs and not report.passed:
                raise Error(
                    "nothing was compared: the implementation skipped every case; expected one operation of the kit"
                )

    code = exit_code(run)
    return 1 if code == 0 and differs else code


if __name__ == "__main__":
    sys.exit(main())
