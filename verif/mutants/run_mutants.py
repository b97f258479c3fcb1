# SPDX-License-Identifier: Apache-2.0
"""Runs a bench against every injected fault and reports the share it kills.

A fault is killed when the bench reports an error, or when it makes the unit hang (20 times the CPU time of the original run).
A survivor is a hole in the bench unless the faulty design is proven equivalent to the original (the same text, as when a
constant is stuck at its own value; else ABC's cec over all inputs and all states; with registers also that what it changes is
not read (ngtools.masked), or dsec from the reset state). The test fails on any survivor without such a proof, and when fewer than 20
faults remain that are not equivalent.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
from collections.abc import Collection
from pathlib import Path

from ngtools import masked, ngflow


def run_bench(bench: Path, fault: int, vectors: int, seed: int, seconds: float) -> tuple[str, str]:
    """-> ('passed' | 'killed' | 'hung' | 'broken', last lines of the output); hung: it used this much CPU time"""
    env = os.environ | {"NG_MUTANT": str(fault), "NG_VECTORS": str(vectors), "NG_SEED": str(seed)}
    env["NG_MAX_ERRORS"] = "20" if fault == 0 else "1"
    done = subprocess.run(
        [bench],
        env=env,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        preexec_fn=ngflow.cpu_limit(seconds),
    )
    outcomes = {0: "passed", 1: "killed", -signal.SIGXCPU: "hung"}
    return outcomes.get(done.returncode, "broken"), (done.stdout + done.stderr)[-2000:]


METHODS = ("identical", "combinational", "masked", "sequential")


def proven_equivalent(design: Path, fault: str, work: Path, seconds: float, methods: Collection[str] = METHODS) -> str:
    """Name of the proof that the fault changes nothing, or ''."""
    work = work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    texts: list[str] = []
    for change in ([], [fault]):
        ngflow.run_yosys([f"read_rtlil {design.resolve()}", *change, f"write_rtlil {work}/text.il"], work / "text.log")
        texts.append((work / "text.il").read_text())
    if texts[0] == texts[1]:
        return "identical"
    if set(methods) <= {"identical"}:
        return ""
    # Registers become AIGER latches that start at zero, asynchronous resets become synchronous ones, don't-cares zero.
    to_aiger = [
        "async2sync",
        "dffunmap",
        "techmap",
        "simplemap",
        "dffunmap",
        "setundef -undriven -zero",
        "setundef -zero",
        "aigmap",
        "clean",
    ]
    aigs = [work.parent / "original.aig", work / "faulty.aig"]
    for aig, change in zip(aigs, ([], [fault]), strict=False):
        if change or not aig.exists() or aig.stat().st_mtime < design.stat().st_mtime:
            new = aig.with_suffix(".new")
            ngflow.run_yosys(
                [f"read_rtlil {design.resolve()}", *change, *to_aiger, f"write_aiger -zinit {new}"],
                aig.with_suffix(".log"),
            )
            new.replace(aig)
    scripts = {
        "combinational": f"read {aigs[0]}; comb; strash; write_aiger {work}/a.aig; "
        f"read {aigs[1]}; comb; strash; write_aiger {work}/b.aig; cec -n -T {int(seconds)} {work}/a.aig {work}/b.aig",
        "sequential": f"dsec -n -T {int(seconds)} {aigs[0]} {aigs[1]}",
    }
    for method in METHODS[1:]:
        if method not in methods:
            continue
        if method == "masked":
            if masked.proven_masked(aigs[0], aigs[1], work, seconds):
                return method
            continue
        if "are equivalent" in ngflow.run_abc(scripts[method], 3 * seconds):
            return method
    return ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", required=True, help="bench name, for the record")
    parser.add_argument("--bench", required=True, type=Path, help="bench built on the design with faults")
    parser.add_argument("--faults", required=True, type=Path, help="path without suffix of make_mutants.py's output")
    parser.add_argument("--vectors", type=int, required=True, help="budget of each run")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("NG_SEED", "1")))
    parser.add_argument("--proof-seconds", type=float, default=60, help="limit of CPU time of each equivalence proof")
    parser.add_argument(
        "--at-least", type=int, default=20, help="faults that have to matter, or the share means little"
    )
    args = parser.parse_args()

    faults = args.faults.with_suffix(".txt").read_text().splitlines()
    proofs = args.faults.with_suffix(".proofs")
    begin = ngflow.seconds_of_children()
    outcome, text = run_bench(args.bench, 0, args.vectors, args.seed, 3600)
    seconds = ngflow.seconds_of_children() - begin
    if outcome != "passed":
        print(text)
        print(f"{args.name}: the design without a fault must pass its bench, but it {outcome}")
        return 1
    print(f"{args.name}: original passed in {seconds:.2f} s; {len(faults)} faults follow, seed {args.seed}", flush=True)

    killed, equivalent, holes, last_killed = 0, [], [], ""
    for number, fault in enumerate(faults, 1):
        outcome, text = run_bench(args.bench, number, args.vectors, args.seed, 20 * seconds + 10)
        if outcome in ("killed", "hung"):
            killed += 1
            last_killed = last_killed if fault.startswith("handshake ") else fault
            continue
        if outcome == "broken":
            holes.append({"fault": number, "what": fault, "why": "bench crashed: " + text[-300:]})
            continue
        proof = ""
        if not fault.startswith("handshake "):  # each of these shows
            proof = proven_equivalent(args.faults.with_suffix(".il"), fault, proofs / str(number), args.proof_seconds)
        if proof:
            equivalent.append({"fault": number, "what": fault, "proof": proof})
            print(f"{args.name}: fault {number} survived, proven equivalent ({proof}): {fault}", flush=True)
        else:
            holes.append({"fault": number, "what": fault, "why": "survived, not proven equivalent"})

    # Each kind of proof has to be able to fail: a fault that the bench saw is no equivalent one.
    used = {item["proof"] for item in equivalent}
    if (
        used
        and last_killed
        and proven_equivalent(args.faults.with_suffix(".il"), last_killed, proofs / "control", args.proof_seconds, used)
    ):
        holes.append(
            {
                "fault": 0,
                "what": last_killed,
                "why": "killed by the bench, yet 'proven' equivalent: the proof is unsound",
            }
        )
    if killed + len(holes) < args.at_least:
        why = f"{killed} faults that matter are fewer than {args.at_least}; raise MUTANTS"
        holes.append({"fault": 0, "what": "", "why": why})
    for hole in holes:
        print(f"{args.name}: HOLE: fault {hole['fault']}: {hole['why']}: {hole['what']}")
    print(
        f"{args.name}: {killed} of {len(faults)} faults killed, {len(equivalent)} proven equivalent, {len(holes)} holes"
    )
    seeds = [int(seed) for seed in args.faults.with_suffix(".seeds").read_text().split()]
    proofs_by_kind = {kind: sum(item["proof"] == kind for item in equivalent) for kind in METHODS}
    counts = {"faults": len(faults), "killed": killed, "equivalent": {k: n for k, n in proofs_by_kind.items() if n}}
    counts["handshake"] = sum(fault.startswith("handshake ") for fault in faults)
    counts |= {"seeds": seeds, "newest_seed": seeds[-1]}
    counts["left_out"] = json.loads(args.faults.with_suffix(".left_out.json").read_text())
    print(f"figures: {json.dumps(counts | {'vectors': args.vectors})}")
    if holes:
        print(f"{args.name}: run {args.bench} --mutant K to see one; add the vectors that would catch it")
    return 1 if holes else 0


if __name__ == "__main__":
    ngflow.run_main(main)
