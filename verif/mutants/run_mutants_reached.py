# SPDX-License-Identifier: Apache-2.0
"""run_mutants.py with one more proof that a survivor is equivalent: it changes nothing in any state that the design reaches
(ngtools.reached). A unit's record asks for it, `mutants = {reached = true}`.

A script of its own, so that verdicts of campaigns that do not need this proof do not rest on it.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import run_mutants

from ngtools import ngflow, reached

SIMPLE = ("identical", "combinational")
plain = run_mutants.proven_equivalent


def proven_equivalent(design: Path, fault: str, work: Path, seconds: float, methods: Collection[str]) -> str:
    """As run_mutants.proven_equivalent; "reached" comes behind the two simple proofs, and before those that often time out."""
    if found := plain(design, fault, work, seconds, [method for method in SIMPLE if method in methods]):
        return found
    if "reached" in methods and reached.proven_reached(design, fault, work, seconds):
        return "reached"
    rest = [method for method in methods if method not in (*SIMPLE, "reached")]
    return plain(design, fault, work, seconds, rest) if rest else ""


def with_all(
    design: Path, fault: str, work: Path, seconds: float, methods: Collection[str] = (*run_mutants.METHODS, "reached")
) -> str:
    return proven_equivalent(design, fault, work, seconds, methods)


def main() -> int:
    run_mutants.METHODS = (*run_mutants.METHODS, "reached")
    run_mutants.proven_equivalent = with_all
    return run_mutants.main()


if __name__ == "__main__":
    ngflow.run_main(main)
