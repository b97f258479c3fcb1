# SPDX-License-Identifier: Apache-2.0
"""Proves the assertions of a harness for all inputs with Yosys' SMT back end, or (--falsify DEFINE) demands counterexamples.

A harness is a module with immediate `assert` (and `assume`) statements in always_comb or always_ff.

  --depth 1   combinational harness: each assertion is proven by itself, without help from the others
  --depth K   clocked harness: K cycles from reset, then K-induction, all assertions together
  --lemmas    a second pass with the macro NG_LEMMAS, under which the harness puts the specification that the first pass
              proved of each part in the place of that part, and asserts what follows for the whole

With --falsify the macro DEFINE is set, which must break the harness or the specification in it, in every pass: a proof that
cannot fail proves nothing.

Exit code: 0 proven (or falsified, when that is asked for), 1 the opposite or undecided within --seconds, 2 tool trouble.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import time
from pathlib import Path

from ngtools import ngflow

PROVEN, REFUTED, UNDECIDED = "proven", "refuted", "undecided"


def solve(model: Path, solver: str, arguments: list[str], seconds: float) -> str:
    """Runs yosys-smtbmc on the model; its output goes next to it."""
    command = ["yosys-smtbmc", "-s", solver, "--noprogress", *arguments, str(model)]
    try:
        # A session of its own: on a timeout the solver has to go too, not only the script that drives it.
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
        ) as process:
            try:
                text, _ = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return UNDECIDED
    except FileNotFoundError:
        raise ngflow.FlowError("yosys-smtbmc was not found; install it (Debian: yosys)") from None
    model.with_suffix(".out").write_text(text)
    verdict = re.search(r"Status: (passed|failed)", text, flags=re.I)
    if not verdict:
        raise ngflow.FlowError(
            f"yosys-smtbmc with solver {solver} said neither passed nor failed; see {model.with_suffix('.out')}"
        )
    return PROVEN if verdict[1].lower() == "passed" else REFUTED


def prove(args: argparse.Namespace, defines: list[str], work: Path) -> tuple[str, str, int]:
    """One pass -> (verdict, where or why, number of assertions)"""
    work.mkdir(parents=True, exist_ok=True)
    load = ngflow.yosys_read(args.top, args.sources, ngflow.parse_params(args.params), defines, "-formal ") + [
        # An x in the source may be anything; the SMT back end would take it for 0.
        "proc",
        "setundef -anyseq",
        "flatten",
        "memory_map",
        "opt_expr",
        "opt_merge",
        "opt_clean",
        # Also makes $assert and $assume of the $check cells in which newer Yosys keeps assertions.
        "async2sync",
        f"tee -q -o {work}/assertions.txt select -list t:$assert",
    ]
    lower = ["opt_clean", "dffunmap"]
    everything = work / "all.smt2"
    ngflow.run_yosys(
        [*load, *lower, f"write_smt2 -wires {everything}", f"write_rtlil {work}/all.il"], work / "load.log"
    )
    assertions = (work / "assertions.txt").read_text().splitlines()
    if args.depth > 1:
        verdict = solve(
            everything, args.solver, ["-t", str(args.depth), "--dump-vcd", f"{work}/counterexample.vcd"], args.seconds
        )
        if verdict == PROVEN:
            step = work / "induction.smt2"
            step.write_text(everything.read_text())
            if solve(step, args.solver, ["-t", str(args.depth), "-i"], args.seconds) != PROVEN:
                verdict = UNDECIDED
        return verdict, f"all assertions together, {work}", len(assertions)
    models = [work / f"{number}.smt2" for number in range(len(assertions))]
    split = [f"read_rtlil {work}/all.il"]
    for model, name in zip(models, assertions, strict=False):
        split += [
            "design -push-copy",
            f"delete t:$assert {name} %d",
            "opt_clean",
            f"write_smt2 -wires {model}",
            "design -pop",
        ]
    ngflow.run_yosys(split, work / "split.log")
    for model, name in zip(models, assertions, strict=False):
        counterexample = model.with_suffix(".vcd")
        verdict = solve(model, args.solver, ["-t", "1", "--dump-vcd", str(counterexample)], args.seconds)
        if verdict != PROVEN:
            return (
                verdict,
                f"{name.rsplit('/', 1)[1]}, {counterexample if verdict == REFUTED else model}",
                len(assertions),
            )
    return PROVEN, "", len(assertions)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", required=True, help="harness module")
    parser.add_argument("--params", default="")
    parser.add_argument("--solver", default="cvc4", help="cvc4 or z3, or another that yosys-smtbmc knows")
    parser.add_argument("--depth", type=int, default=1, help="cycles; 1 for combinational harnesses")
    parser.add_argument("--lemmas", action="store_true", help="second pass with NG_LEMMAS")
    parser.add_argument("--seconds", type=float, default=600, help="time limit of each question to the solver")
    parser.add_argument("--statement", required=True, help="what is proven, as a sentence")
    parser.add_argument("--falsify", metavar="DEFINE", help="expect a counterexample with this macro defined")
    parser.add_argument("--work", required=True, type=Path, help="folder for logs and counterexamples")
    parser.add_argument("sources", nargs="+", type=Path)
    args = parser.parse_args()

    expected = REFUTED if args.falsify else PROVEN
    good = True
    for name, extra in [("lemmas", []), ("whole", ["NG_LEMMAS"])] if args.lemmas else [("all", [])]:
        begin = time.monotonic()
        defines = ["FORMAL", *extra] + ([args.falsify] if args.falsify else [])
        verdict, where, assertions = prove(args, defines, args.work.resolve() / name)
        took = f"{name}: {assertions} assertions, {args.solver}, {time.monotonic() - begin:.1f} s"
        if assertions == 0:
            print(f"FAILED: {args.top} has no assertion left after elaboration, so nothing would be proven ({took})")
            return 1
        if verdict == PROVEN:
            print(
                f"PROVEN for all inputs{f' (by {args.depth}-induction)' if args.depth > 1 else ''}: {args.statement} ({took})"
            )
        elif verdict == REFUTED:
            print(f"COUNTEREXAMPLE: {args.statement} ({took}): {where}")
        else:
            print(f"UNDECIDED within {args.seconds:.0f} s: {args.statement} ({took}): {where}")
        if args.falsify:
            print(
                f"with {args.falsify} a counterexample was demanded: {'found' if verdict == REFUTED else 'NOT found, the proof is vacuous'}"
            )
        good = good and verdict == expected
    return 0 if good else 1


if __name__ == "__main__":
    ngflow.run_main(main)
