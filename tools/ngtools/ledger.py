# SPDX-License-Identifier: Apache-2.0
"""The ledger: verdicts of the jobs that only `make test-all` runs, each keyed by everything that the job depends on.

verif/ledger.jsonl has a verdict a line, sorted by job: the verdict with its figures, keys of what it depends on (RTL, C++,
Python, data and parameters apart, so that a stale entry says what changed), the tools' versions, the date, and the seconds
of CPU that run and build took. The jobs are what CMake declares (ng_deep_test, cmake/NgLedger.cmake), in
BUILD/ledger/jobs.json; a partial build declares some, and leaves the entries of the others alone.

A verdict is fresh where the text that it depends on is the recorded one, or comes to the same product (ledger_keys.py).
A netlist of another Yosys cannot be compared: where RTL changed, such a verdict is a notice.

verif/pending.txt lists jobs whose verdicts wait for a run, and says since when and why. Their entries prove nothing about
today's tree, and are a notice that counts them; a recorded run takes a job off the list.

  ledger.py BUILD check [--whole]       fails on stale and missing entries, and says how to renew them; --whole: this build
                                        declares every job, and fails also on entries of no job
  ledger.py BUILD renew [JOB...]        builds, runs and records these jobs (sanitize.* is all of that beginning), without names
                                        the stale and missing ones
  ledger.py BUILD record [JOB...]       takes the results of the last runs into the ledger
  ledger.py BUILD rekey                 records today's text where it comes to the recorded products; runs nothing
  ledger.py BUILD drop JOB...           removes entries of jobs that exist no more
  ledger.py BUILD draw [--seconds 60]   runs jobs drawn from the commit's hash again and compares
  ledger.py BUILD run JOB -- COMMAND    what ctest calls: runs the command and leaves its result in BUILD/ledger
  ledger.py BUILD seed                  writes BUILD/ledger/seed, the commit's own seed for the newest mutants
"""

from __future__ import annotations

import argparse
import collections
import datetime
import difflib
import fnmatch
import functools
import json
import os
import random
import re
import resource
import shutil
import subprocess
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from ngtools import ngflow
from ngtools.ledger_keys import PARTS, PRODUCTS, Products, Tree, digest, layout_hash, text_keys, tools

SEED_BITS = 31  # Yosys takes a signed int
FILE = Path("verif") / "ledger.jsonl"
PENDING = Path("verif") / "pending.txt"


# ---------------------------------------------------------------- jobs and entries


PART_NAMES = {
    "rtl": "RTL",
    "cxx": "C++",
    "python": "Python",
    "data": "data",
    "parameters": "parameters",
    "exempt": "exempt lines",
}


class Standing(NamedTuple):
    """`kind`: "text" and "product" are fresh by these, "unjudged" and "pending" are notices, and "stale", "missing" and
    "failed" have a reason."""

    kind: str
    why: str = ""


def read_entries(root: Path = ngflow.ROOT) -> dict[str, dict]:
    """Job -> its entry."""
    path = root / FILE
    lines = path.read_text().splitlines() if path.is_file() else []
    return {entry["job"]: entry for entry in map(json.loads, lines)}


def write_entries(root: Path, changed: Mapping[str, dict | None]) -> None:
    """Lays these entries over those in the file; None removes one. All others stay as they are."""
    entries = read_entries(root) | changed
    path = root / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_text("".join(json.dumps(entries[name]) + "\n" for name in sorted(entries) if entries[name] is not None))
    new.replace(path)


def read_pending(root: Path = ngflow.ROOT) -> tuple[list[str], set[str]]:
    """Why verdicts wait for a run, as lines, and of which jobs."""
    path = root / PENDING
    lines = path.read_text().splitlines() if path.is_file() else []
    return [line for line in lines if line.startswith("#")], {line for line in lines if line and line[0] != "#"}


def write_pending(root: Path, done: Iterable[str]) -> None:
    """Takes jobs off the list; an empty list is no file."""
    why, jobs = read_pending(root)
    path = root / PENDING
    if jobs.isdisjoint(done := set(done)):
        return
    if jobs <= done:
        path.unlink()
        return
    new = path.with_name(path.name + ".new")
    new.write_text("\n".join([*why, *sorted(jobs - done)]) + "\n")
    new.replace(path)


class Ledger:
    def __init__(
        self, build: Path, root: Path = ngflow.ROOT, changes: Mapping[Path, str] | None = None, workers: int = 1
    ) -> None:
        self.build, self.root = build.resolve(), root.resolve()
        self.results = self.build / "ledger"
        listing = self.results / "jobs.json"
        if not listing.is_file():
            raise ngflow.FlowError(
                f'"{listing}" does not exist; expected a build folder that was configured: make configure'
            )
        self.jobs = {job["name"]: job for job in json.loads(listing.read_text())}
        self.tree = Tree(self.root, changes)
        self.products = Products(self.tree, self.results / "products.json", workers)
        self.entries = read_entries(self.root)
        self.why_pending, self.pending = read_pending(self.root)

    def named(self, patterns: Iterable[str]) -> list[str]:
        """Jobs by their names or by patterns of the shell."""
        return [name for pattern in patterns for name in fnmatch.filter(sorted(self.jobs), pattern) or [pattern]]

    def job(self, name: str) -> dict:
        if name not in self.jobs:
            close = difflib.get_close_matches(name, self.jobs, n=1)
            known = f'did you mean "{close[0]}"' if close else f"expected one of {', '.join(sorted(self.jobs)[:8])}"
            raise ngflow.FlowError(f'job "{name}" is not declared by this build; {known}')
        return self.jobs[name]

    @property
    def elsewhere(self) -> list[str]:
        """Entries of jobs that this build does not declare."""
        return sorted(set(self.entries) - set(self.jobs))

    @functools.cached_property
    def text(self) -> dict[str, dict[str, str]]:
        return {name: text_keys(self.tree, job) for name, job in self.jobs.items()}

    @functools.cached_property
    def standing(self) -> dict[str, Standing]:
        """How the entry of each job stands."""
        changed = {
            name: differing_parts(self.entries[name]["text"], self.text[name])
            for name in self.jobs
            if name in self.entries and name not in self.pending
        }
        doubtful = [name for name, parts in changed.items() if parts and set(parts) <= set(PRODUCTS)]
        self.products.elaborate(
            self.jobs[name]
            for name in doubtful
            if "rtl" in changed[name] and self.entries[name]["product"].get("yosys") == self.products.yosys
        )
        return {name: self._standing(name, changed.get(name, [])) for name in self.jobs}

    def _standing(self, name: str, changed: list[str]) -> Standing:
        entry = self.entries.get(name)
        if name in self.pending:
            return Standing("pending")
        if entry is None:
            return Standing("missing", "has no entry")
        if entry["verdict"] != "passed":
            return Standing("failed", f"its recorded verdict is '{entry['verdict']}'")
        if not changed:
            return Standing("text")
        old, stale = entry["product"], [part for part in changed if part not in PRODUCTS]
        other = "rtl" in changed and "rtl" in old and old.get("yosys") != self.products.yosys
        compared = [part for part in changed if part in PRODUCTS and not (other and part == "rtl")]
        new = self.products.of(self.jobs[name], compared)
        stale += [part for part in compared if part not in new or old.get(part) != new[part]]
        if stale:
            words = ", ".join(PART_NAMES[part] for part in PARTS if part in stale)
            return Standing("stale", f"is stale: {words} changed")
        return Standing("unjudged" if other else "product")

    def problems(self) -> dict[str, str]:
        """Job -> what is wrong with its entry."""
        return {name: standing.why for name, standing in self.standing.items() if standing.why}

    def standing_as(self, kind: str) -> list[str]:
        return sorted(name for name, standing in self.standing.items() if standing.kind == kind)

    @functools.cached_property
    def repeatable(self) -> list[str]:
        """Jobs whose entries tell what a run must give here. Injected faults are chosen by Yosys' names of cells, so under
        another version of it, or in RTL of another layout, a campaign has other faults than the recorded one. Sanitized
        groups are left out, because each needs a build of its own."""
        here = tools().get("yosys")
        found = []
        for name, entry in self.entries.items():
            if name not in self.jobs or name in self.pending or name.startswith("sanitize."):
                continue
            if "newest_seed" in entry["figures"] and (
                entry["tools"].get("yosys") != here or entry["layout"] != layout_hash(self.tree, self.jobs[name])
            ):
                continue
            found.append(name)
        return sorted(found)

    def cost(self, names: Iterable[str]) -> float:
        return sum(sum(self.entries[name]["seconds"].values()) for name in names if name in self.entries)


def differing_parts(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    return [part for part in PARTS if old.get(part) != new.get(part)]


def differing(old: Mapping[str, str], new: Mapping[str, str]) -> str:
    return ", ".join(PART_NAMES[part] for part in differing_parts(old, new))


def commit(root: Path) -> str:
    """The commit's hash; of an unpacked archive, a hash of its ledger."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout.strip()
    return digest(json.dumps(read_entries(root), sort_keys=True))


# ---------------------------------------------------------------- running


FIGURES = (
    re.compile(r"ran (?P<vectors>\d+) vectors, (?P<compares>\d+) compares, \d+ errors, seed (?P<seed>\d+)"),
    re.compile(r"\[  PASSED  \] (?P<tests>\d+) tests?"),
    re.compile(r"^(?:=+ )?(?P<tests>\d+) passed\b.* in [\d.]+s", re.M),
    re.compile(r"^Ran (?P<tests>\d+) tests? in", re.M),
)


def figures(output: str) -> dict:
    """What the job says that it did: a line `figures: {...}`, or the closing line of a bench or suite."""
    stated = re.findall(r"^figures: (\{.*\})$", output, re.M)
    if stated:
        found: dict = {}
        for text in stated:
            found |= json.loads(text)
        return found
    for pattern in FIGURES:
        if match := pattern.search(output):
            return {name: int(value) for name, value in match.groupdict().items()}
    return {}


def run(ledger: Ledger, name: str, command: list[str]) -> int:
    """ctest's wrapper. The text is hashed before the run, so that a change meanwhile is not recorded as run."""
    depends = text_keys(ledger.tree, ledger.job(name))
    if not shutil.which(command[0]):
        raise ngflow.FlowError(f"{name}: {command[0]} does not exist; build target deep, or make renew")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        for line in process.stdout or []:
            print(line, end="", flush=True)
            output.append(line)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = {
        "job": name,
        "text": depends,
        "verdict": {0: "passed", ngflow.SKIPPED: "skipped"}.get(process.returncode, "failed"),
        "figures": figures("".join(output)),
        "tools": tools(),
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "layout": layout_hash(ledger.tree, ledger.job(name)),
        "seconds": {"run": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)},
    }
    write(ledger.results / f"{name}.json", result)
    return process.returncode


def write(path: Path, value: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(value, indent=2) + "\n")
    new.replace(path)


def build_seconds(build: Path, targets: list[str], share: float) -> float:
    """Of the last steps that made what belongs to these targets alone, from Ninja's log; `share` of their time was CPU."""
    log = build / ".ninja_log"
    spent: dict[str, float] = {}
    for line in log.read_text().splitlines()[1:] if log.is_file() else []:
        begin, end, _, output, command = line.split("\t")
        parts = set(re.split(r"[/.]", output))
        if any(target in parts or f"{target}_dut" in parts or f"{target}_faults" in parts for target in targets):
            spent[command] = (int(end) - int(begin)) / 1000
    return round(share * sum(spent.values()), 1)


def set_seed(ledger: Ledger, seed: int) -> None:
    """Seed of the newest injected faults. Only a new one makes them anew."""
    path = ledger.results / "seed"
    if not path.is_file() or path.read_text() != f"{seed}\n":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{seed}\n")


def commit_seed(root: Path) -> int:
    return int(commit(root)[:16], 16) % (1 << SEED_BITS)


def build_and_run(ledger: Ledger, names: list[str], jobs: int) -> float:
    """Returns how much of the build's time was CPU: less than 1 beside other work."""
    share = 1.0
    for name in names:
        (ledger.results / f"{name}.json").unlink(missing_ok=True)
    targets = sorted({target for name in names for target in ledger.job(name).get("targets", [])})
    if targets:
        # What one job lacks does not keep the others from running.
        command = ["cmake", "--build", str(ledger.build), "-j", str(jobs), "--target", *targets, "--", "-k", "0"]
        begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        if subprocess.run(command, check=False).returncode:
            print("ledger: not all was built, see above; the jobs that need it will fail", flush=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        share = min(1.0, spent / ((time.monotonic() - begin) * jobs))
    pattern = "^(" + "|".join(map(re.escape, names)) + ")$"
    command = [
        "ctest",
        "--test-dir",
        str(ledger.build),
        "-C",
        "deep",
        "-R",
        pattern,
        "-j",
        str(jobs),
        "--output-on-failure",
    ]
    subprocess.run([*command, "--no-tests=error"], check=False)
    return share


def record(ledger: Ledger, names: Iterable[str], share: float = 1.0) -> int:
    """Results of the last runs into the ledger; a verdict other than passed is named and not recorded."""
    bad, good = 0, []
    for name in names:
        path = ledger.results / f"{name}.json"
        if not path.is_file():
            print(f"ledger: {name} was not run")
            bad += 1
            continue
        result = json.loads(path.read_text())
        if result["verdict"] != "passed":
            print(f"ledger: {name} {result['verdict']}; not recorded")
            bad += 1
        elif changed := differing(result["text"], ledger.text[name]):
            print(f"ledger: {name}: {changed} changed since its run; not recorded")
            bad += 1
        else:
            result["seconds"]["build"] = build_seconds(ledger.build, ledger.job(name).get("targets", []), share)
            good.append(result)
    ledger.products.elaborate(ledger.jobs[result["job"]] for result in good)
    write_entries(
        ledger.root,
        {result["job"]: result | {"product": ledger.products.of(ledger.jobs[result["job"]])} for result in good},
    )
    write_pending(ledger.root, (result["job"] for result in good))
    print(f"ledger: {len(good)} verdicts recorded, {bad} not")
    return 1 if bad else 0


def rekey(ledger: Ledger) -> int:
    """Today's text and its products into entries that are fresh by either; the next check need not elaborate anything."""
    by_text = [
        name
        for name in ledger.standing_as("text")
        if not ledger.entries[name]["product"] and has_products(ledger, name)
    ]
    by_product = ledger.standing_as("product")
    ledger.products.elaborate(ledger.jobs[name] for name in by_text)
    changed = {name: {"product": ledger.products.of(ledger.jobs[name])} for name in by_text}
    changed |= {name: {"text": ledger.text[name]} for name in by_product}
    write_entries(ledger.root, {name: ledger.entries[name] | parts for name, parts in changed.items()})
    if changed:
        print(
            f"ledger: {len(changed)} entries have today's text, which comes to the recorded products; nothing was run"
        )
    return 0


def has_products(ledger: Ledger, name: str) -> bool:
    return any(part in ledger.text[name] for part in PRODUCTS)


def drop(ledger: Ledger, names: list[str]) -> int:
    for name in names:
        if name in ledger.jobs:
            raise ngflow.FlowError(f'job "{name}" exists, so its entry stays; expected a job that no build declares')
        if name not in ledger.entries:
            raise ngflow.FlowError(
                f'job "{name}" has no entry; expected one of those that this build does not declare: '
                f"{', '.join(ledger.elsewhere[:8]) or 'none'}"
            )
    write_entries(ledger.root, dict.fromkeys(names))
    print(f"ledger: {len(names)} entries removed")
    return 0


def check(ledger: Ledger, whole: bool) -> int:
    wrong = ledger.problems()
    here = tools()
    others = collections.Counter(
        f"{tool} {version} (here {here[tool]})"
        for entry in ledger.entries.values()
        for tool, version in entry["tools"].items()
        if here.get(tool, version) != version
    )
    for text, count in sorted(others.items()):
        print(f"ledger: notice: {count} verdicts are of {text}")
    if unjudged := ledger.standing_as("unjudged"):
        print(
            f"ledger: notice: {len(unjudged)} verdicts cannot be judged here: their RTL changed, and its netlist was "
            f"recorded with another Yosys: {', '.join(unjudged[:8])}"
        )
    if whole:
        wrong |= dict.fromkeys(ledger.elsewhere, "has an entry and is no job any more: ledger.py BUILD drop")
    elif ledger.elsewhere:
        print(f"ledger: notice: {len(ledger.elsewhere)} verdicts are of jobs that this build does not declare")
    if by_product := ledger.standing_as("product"):
        print(
            f"ledger: {len(by_product)} verdicts are fresh, because their changed text comes to the recorded products"
        )
    if pending := ledger.standing_as("pending"):
        print(
            f"ledger: notice: {len(pending)} of {len(ledger.jobs)} verdicts wait for a run and prove nothing here "
            f"({PENDING}, make renew):"
        )
        print("\n".join(f"ledger: {line}" for line in ledger.why_pending))
    if not wrong:
        print(f"ledger: {len(ledger.jobs) - len(pending)} verdicts, none stale, none missing; {len(pending)} pending")
        return 0
    for name, why in sorted(wrong.items()):
        print(f"ledger: {name} {why}")
    renewed = [name for name in wrong if name in ledger.jobs]
    known = [name for name in renewed if name in ledger.entries]
    took = f", {ledger.cost(known):.0f} s of CPU for {len(known)} of them by their last record" if known else ""
    if renewed:
        print(f"ledger: {len(renewed)} of {len(ledger.jobs)} verdicts to renew{took}: make renew")
    return 1


def renew(ledger: Ledger, names: list[str], jobs: int) -> int:
    names = names or sorted({*ledger.problems(), *ledger.standing_as("pending")})
    share = 1.0
    if names:
        set_seed(ledger, commit_seed(ledger.root))
        share = build_and_run(ledger, names, jobs)
    rekey(Ledger(ledger.build, ledger.root, workers=jobs))
    return record(ledger, names, share)


def drawn(ledger: Ledger, seconds: float, of: str) -> list[str]:
    """Jobs in the commit's own order, as many as fit into the time by their record."""
    order = list(ledger.repeatable)
    random.Random(of).shuffle(order)
    chosen: list[str] = []
    for name in order:
        if ledger.cost([*chosen, name]) <= seconds:
            chosen.append(name)
    return chosen


def draw(ledger: Ledger, seconds: float, of: str, jobs: int) -> int:
    names = drawn(ledger, seconds, of)
    if not names and ledger.standing_as("pending"):
        print("ledger: notice: nothing is drawn, because all that could be waits for a run")
        return ngflow.SKIPPED
    if not names:
        raise ngflow.FlowError(f"no entry of the ledger fits into {seconds:.0f} s; allow more with --seconds")
    print(f"ledger: {len(names)} of {len(ledger.jobs)} drawn by {of[:12]}: {', '.join(names)}", flush=True)
    if others := set(ledger.entries).intersection(ledger.jobs) - set(ledger.repeatable):
        print(
            f"ledger: notice: {len(others)} campaigns of injected faults are not drawn: this Yosys, or the layout of their RTL, "
            "gives other faults than the recorded ones"
        )
    # Injected faults of the seed that they were recorded with.
    by_seed: dict[int | None, list[str]] = collections.defaultdict(list)
    for name in names:
        by_seed[ledger.entries[name]["figures"].get("newest_seed")].append(name)
    for seed, group in by_seed.items():
        if seed is not None:
            set_seed(ledger, seed)
        build_and_run(ledger, group, jobs)
    bad = 0
    for name in names:
        path = ledger.results / f"{name}.json"
        old, new = ledger.entries[name], json.loads(path.read_text()) if path.is_file() else {"verdict": "not run"}
        if new["verdict"] == "skipped":
            print(f"ledger: notice: {name} compares nothing here, where the tools are others than those of its record")
            continue
        if new["verdict"] != old["verdict"]:
            print(f"ledger: {name}: recorded '{old['verdict']}', run again it {new['verdict']}")
        elif new["figures"] == old["figures"]:
            print(f"ledger: {name}: as recorded")
            continue
        elif new["tools"] != old["tools"] or new["layout"] != old["layout"]:
            print(
                f"ledger: notice: {name}: other figures than recorded; its tools, or layout and place of its RTL, changed since"
            )
            continue
        else:
            print(f"ledger: {name}: recorded {json.dumps(old['figures'])}, run again {json.dumps(new['figures'])}")
        bad += 1
    if bad:
        print(f"ledger: {bad} verdicts are not what a run gives; find out why, then: make renew JOBS_TO_RENEW='...'")
    return 1 if bad else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path, help="build folder")
    parser.add_argument("--root", type=Path, default=ngflow.ROOT, help="project, if not the one of this script")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="steps and tests at once")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("check").add_argument("--whole", action="store_true", help="an entry of no job is wrong")
    verbs.add_parser("seed")
    verbs.add_parser("rekey")
    verbs.add_parser("drop").add_argument("dropped", nargs="+", metavar="JOB")
    for verb in ("renew", "record"):
        verbs.add_parser(verb).add_argument("names", nargs="*", metavar="JOB")
    draw_verb = verbs.add_parser("draw")
    draw_verb.add_argument("--seconds", type=float, default=60, help="of CPU by the record, for all that is drawn")
    draw_verb.add_argument("--commit", help="draw as for this hash")
    run_verb = verbs.add_parser("run")
    run_verb.add_argument("name", metavar="JOB")
    run_verb.add_argument("command", nargs="+", metavar="COMMAND")
    args = parser.parse_args()
    ledger = Ledger(args.build, args.root, workers=args.jobs)
    names = ledger.named(getattr(args, "names", []))
    for name in names:
        ledger.job(name)
    if args.verb == "check":
        return check(ledger, args.whole)
    if args.verb == "rekey":
        return rekey(ledger)
    if args.verb == "drop":
        return drop(ledger, args.dropped)
    if args.verb == "seed":
        set_seed(ledger, commit_seed(ledger.root))
        return 0
    if args.verb == "renew":
        return renew(ledger, names, args.jobs)
    if args.verb == "record":
        bad = record(ledger, names or sorted(ledger.jobs))
        rekey(Ledger(args.build, args.root, workers=args.jobs))
        return bad
    if args.verb == "draw":
        return draw(ledger, args.seconds, args.commit or commit(ledger.root), args.jobs)
    return run(ledger, args.name, args.command)


if __name__ == "__main__":
    ngflow.run_main(main)
