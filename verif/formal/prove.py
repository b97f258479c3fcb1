# SPDX-License-Identifier: Apache-2.0
"""Proves the assertions of a harness for all inputs, or (--falsify DEFINE) demands a counterexample.

A harness is a module with immediate `assert` (and `assume`) statements in always_comb or always_ff. With --falsify the
macro DEFINE is set, which must break the harness or the specification in it: a proof that cannot fail proves nothing.

Engines:
  sat            Yosys' own SAT solver; combinational harnesses
  smt:z3         Yosys' SMT-LIB back end and yosys-smtbmc with that solver (also smt:cvc4, smt:yices; Debian's boolector is
                 too old for yosys-smtbmc). Combinational harnesses, and clocked ones: --depth K checks K cycles from
                 reset and then proves by K-induction
  abc            AIGER and ABC's `prove` (rewriting, fraiging, SAT); combinational, best for adder trees of like shape

Exit code: 0 proven (or falsified, when that is asked for), 1 the opposite or undecided within --seconds, 2 tool trouble.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "synth"))
import ngflow  # noqa: E402

PROVEN, REFUTED, UNDECIDED = "proven", "refuted", "undecided"


def run(command: list[str], seconds: float, log: Path) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except FileNotFoundError:
        raise ngflow.FlowError(f"{command[0]} was not found; install it (Debian: yosys, z3)") from None
    except subprocess.TimeoutExpired:
        return ""
    log.write_text(done.stdout + done.stderr)
    return done.stdout + done.stderr


def assertions_in(log: str) -> int:
    """The number printed by the marked `select -count`; a harness whose asserts were optimized away proves nothing."""
    counts = re.findall(r"^(\d+) objects\.$", log, flags=re.M)
    return int(counts[-1]) if counts else 0


def prove(args: argparse.Namespace) -> tuple[str, str, int]:
    """-> (verdict, evidence, number of assertions)"""
    work: Path = args.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    defines = ["FORMAL"] + ([args.falsify] if args.falsify else [])
    load = ngflow.yosys_read(args.top, args.sources, ngflow.parse_params(args.params), defines, "-formal ") + [
        "proc", "flatten", "opt_clean", "memory_map", "select -count t:$assert",
    ]
    kind, _, solver = args.engine.partition(":")
    if kind == "sat":
        log = ngflow.run_yosys([*load, f"tee -a {work}/sat.out sat -prove-asserts -set-assumes -show-ports -timeout {int(args.seconds)}"],
                               work / "sat.log")
        verdict = (PROVEN if "no model found: SUCCESS" in log else REFUTED if "model found: FAIL" in log else UNDECIDED)
        table = re.search(r"Signal Name +Dec.*?\n\n", log, flags=re.S)
        return verdict, table.group().rstrip() if table else "", assertions_in(log)
    if kind == "smt":
        model = work / "model.smt2"
        log = ngflow.run_yosys([*load, "async2sync", "dffunmap", f"write_smt2 -wires {model}"], work / "smt.log")
        command = ["yosys-smtbmc", "-s", solver or "z3", "--noprogress", "-t", str(args.depth)]
        out = run([*command, "--dump-vcd", str(work / "counterexample.vcd"), str(model)], args.seconds, work / "bmc.out")
        if "Status: FAILED" in out or "Status: failed" in out:
            return REFUTED, f"{work}/counterexample.vcd", assertions_in(log)
        verdict = PROVEN if "Status: PASSED" in out or "Status: passed" in out else UNDECIDED
        if verdict == PROVEN and args.depth > 1:
            out = run([*command, "-i", str(model)], args.seconds, work / "induction.out")
            verdict = PROVEN if "Status: PASSED" in out or "Status: passed" in out else UNDECIDED
        return verdict, "", assertions_in(log)
    if kind == "abc":
        aig = work / "model.aig"
        log = ngflow.run_yosys([*load, "techmap", "simplemap", "opt_clean", "aigmap", f"write_aiger -symbols {aig}"],
                               work / "abc.log")
        out = run(["yosys-abc", "-q", f"read_aiger {aig}; fold; strash; print_stats; prove -v"], args.seconds, work / "abc.out")
        verdict = PROVEN if re.search(r"\bUNSATISFIABLE\b", out) else REFUTED if re.search(r"\bSATISFIABLE\b", out) else UNDECIDED
        return verdict, "", assertions_in(log)
    raise ngflow.FlowError(f"engine '{args.engine}' is unknown; expected sat, smt:SOLVER or abc")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--top", required=True, help="harness module")
    parser.add_argument("--params", default="")
    parser.add_argument("--engine", default="sat")
    parser.add_argument("--depth", type=int, default=1, help="cycles for smt engines; 1 for combinational harnesses")
    parser.add_argument("--seconds", type=float, default=600, help="time limit")
    parser.add_argument("--statement", required=True, help="what is proven, as a sentence")
    parser.add_argument("--falsify", metavar="DEFINE", help="expect a counterexample with this macro defined")
    parser.add_argument("--work", required=True, type=Path, help="folder for logs and counterexamples")
    parser.add_argument("sources", nargs="+", type=Path)
    args = parser.parse_args()

    begin = time.monotonic()
    verdict, evidence, asserts = prove(args)
    took = f"{asserts} assertions, {args.engine}, {time.monotonic() - begin:.1f} s"
    if asserts == 0:
        print(f"FAILED: {args.top} has no assertion left after elaboration, so nothing would be proven")
        return 1
    if verdict == PROVEN:
        print(f"PROVEN for all inputs{f' (by {args.depth}-induction)' if args.depth > 1 else ''}: {args.statement} ({took})")
    elif verdict == REFUTED:
        print(f"COUNTEREXAMPLE: {args.statement} ({took})\n{evidence}")
    else:
        print(f"UNDECIDED within {args.seconds:.0f} s or tool trouble: {args.statement}; logs in {args.work}")
    expected = REFUTED if args.falsify else PROVEN
    if args.falsify:
        print(f"with {args.falsify} a counterexample was demanded: {'found' if verdict == REFUTED else 'NOT found, the proof is vacuous'}")
    return 0 if verdict == expected else 1


if __name__ == "__main__":
    ngflow.run_main(main)
