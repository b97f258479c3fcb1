# SPDX-License-Identifier: Apache-2.0
"""The ledger: verdicts of the jobs that only `make test-all` runs, each keyed by a hash of everything that the job depends on.

verif/ledger/<job>.json has the job's hash (RTL, C++, Python, data and parameters apart, so that a stale entry says what
changed), its verdict with its figures, the tools' versions, the date, and the seconds of CPU that run and build took.
The jobs are what CMake declares (ng_deep_test, cmake/NgLedger.cmake), in BUILD/ledger/jobs.json.

What counts is the text without comments and layout, and no path: RTL by module closure; C++ by include closure within the
project, with the sources that implement the included headers; Python by the definitions that the scripts reach.

  ledger.py BUILD check                 fails on stale and missing entries, and says how to renew them
  ledger.py BUILD renew [JOB...]        builds, runs and records these jobs, without names the stale and missing ones
  ledger.py BUILD record [JOB...]       takes the results of the last runs into the ledger
  ledger.py BUILD draw [--seconds 60]   runs jobs drawn from the commit's hash again and compares
  ledger.py BUILD run JOB -- COMMAND    what ctest calls: runs the command and leaves its result in BUILD/ledger
  ledger.py BUILD seed                  writes BUILD/ledger/seed, the commit's own seed for injected faults
"""

from __future__ import annotations

import argparse
import ast
import collections
import datetime
import functools
import hashlib
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

from ngtools import ngflow, recorded

PARTS = ("rtl", "cxx", "python", "data", "parameters")
SEED_BITS = 31  # Yosys takes a signed int


# ---------------------------------------------------------------- text that counts


C_TOKEN = re.compile(
    r'R"(?P<mark>[^(\s"]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\b\d[\w.\']*|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/',
    re.S,
)
PYTHON_TOKEN = re.compile(
    r'(?:"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\')|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*', re.S
)


def without_layout(text: str) -> str:
    """Lines without what is before, behind and doubled in them. Lines stay: a directive ends with its line."""
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.splitlines())))


def c_code(text: str) -> str:
    return without_layout(C_TOKEN.sub(lambda token: " " if token[0][:2] in ("//", "/*") else token[0], text))


def python_code(text: str) -> str:
    text = PYTHON_TOKEN.sub(lambda token: "" if token[0][0] == "#" else token[0], text)
    return "\n".join(filter(None, (line.rstrip() for line in text.splitlines())))


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Tree:
    """The project's files; `changes` (path -> text) lie over those on disk."""

    def __init__(self, root: Path, changes: Mapping[Path, str] | None = None) -> None:
        self.root = root.resolve()
        self.changes = {(self.root / path).resolve(): text for path, text in (changes or {}).items()}
        self.by_name: dict[str, list[Path]] = collections.defaultdict(list)
        for folder, inner, names in os.walk(self.root):
            inner[:] = sorted(name for name in inner if not name.startswith((".", "build")) and name != "dist")
            for name in sorted(names):
                self.by_name[name].append(Path(folder) / name)
        self._codes: dict[Path, str] = {}
        self._pieces: dict[Path, tuple[dict[str, list[ast.stmt]], list[str]]] = {}

    def text(self, path: Path) -> str:
        return self.changes[path] if path in self.changes else path.read_text(errors="surrogateescape")

    def code(self, path: Path) -> str:
        if path not in self._codes:
            text, kind = self.text(path), path.suffix
            if kind in (".sv", ".svh"):
                text = ngflow.design_code(text)
            elif kind in (".v", ".c", ".h", ".cpp", ".hpp", ".inc", ".S"):
                text = c_code(text)
            elif kind == ".py":
                text = python_code(text)
            self._codes[path] = digest(text)
        return self._codes[path]

    def data(self, name: str) -> list[str]:
        """Digests of a data file; of FILES#NAME the entry of that name in those files of recorded data that have it."""
        pattern, _, entry = name.partition("#")
        if not entry:
            return [self.code((self.root / name).resolve())]
        texts = {path: self.text(path.resolve()) for path in self.root.glob(pattern)}
        found = [recorded.lines_of(text, str(path)).get(entry) for path, text in texts.items()]
        if not any(found):
            raise ngflow.FlowError(f'recorded data {pattern} have no entry "{entry}"; expected one; configure again')
        return [digest(line) for line in found if line]

    def named(self, beside: Path, name: str) -> list[Path]:
        """Files that an `#include "name"` may mean: the one beside the includer, else all whose path ends so."""
        local = (beside.parent / name).resolve()
        if local.is_file():
            return [local] if local.is_relative_to(self.root) else []
        tail = Path(name).parts
        return [path for path in self.by_name.get(tail[-1], []) if path.parts[-len(tail) :] == tail]

    def includes(self, path: Path) -> list[Path]:
        names = re.findall(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', self.text(path), re.M)
        return [found for name in names for found in self.named(path, name)]

    def implementations(self, header: Path) -> list[Path]:
        """Sources of the same library that include the header and have its name; in a folder src/ also one that ends in it."""
        library = header.relative_to(self.root).parts[0]
        stem = header.stem
        return [
            path
            for name, paths in self.by_name.items()
            if name.endswith((".cpp", ".c")) and re.fullmatch(rf"(.*_)?{re.escape(stem)}", Path(name).stem)
            for path in paths
            if (path.stem == stem or path.parent.name == "src")
            and path.relative_to(self.root).parts[0] == library
            and header in self.includes(path)
        ]

    def cxx_closure(self, sources: Iterable[Path]) -> set[Path]:
        seen: set[Path] = set()
        queue = list(sources)
        while queue:
            path = queue.pop()
            if path in seen:
                continue
            seen.add(path)
            queue += self.includes(path)
            if path.suffix in (".h", ".hpp"):
                queue += self.implementations(path)
        return seen

    def _module(self, beside: Path, dotted: str) -> list[Path]:
        tail = (*dotted.split(".")[:-1], dotted.split(".")[-1] + ".py")
        local = beside.parent / tail[-1]
        if len(tail) == 1:
            return [local] if local.is_file() else []
        return [path for path in self.by_name.get(tail[-1], []) if path.parts[-len(tail) :] == tail]

    def _definitions(self, path: Path) -> tuple[dict[str, list[ast.stmt]], list[str]]:
        """Top-level statements of a module by the names that they define, and the modules that it may import."""
        if path not in self._pieces:
            defined: dict[str, list[ast.stmt]] = collections.defaultdict(list)
            parsed = ast.parse(self.text(path))
            for statement in parsed.body:
                if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                    defined[statement.name].append(statement)
                elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
                    for name in {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}:
                        defined[name].append(statement)
            imported = []
            for node in ast.walk(parsed):
                if isinstance(node, ast.Import):
                    imported += [alias.name for alias in node.names]
                elif isinstance(node, ast.ImportFrom) and node.module:
                    imported += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            self._pieces[path] = (defined, imported)
        return self._pieces[path]

    def python_closure(self, script: Path) -> list[str]:
        """Digests of the script and of the definitions in other modules that it may reach, by their names."""
        digests = {self.code(script)}
        modules: list[Path] = []
        names = set(re.findall(r"\b[A-Za-z_]\w*\b", python_code(self.text(script))))
        queue = [found for dotted in self._definitions(script)[1] for found in self._module(script, dotted)]
        while queue:
            path = queue.pop()
            if path not in modules and path != script:
                modules.append(path)
                queue += [found for dotted in self._definitions(path)[1] for found in self._module(path, dotted)]
        taken: set[int] = set()
        grown = True
        while grown:
            grown = False
            for path in modules:
                lines = self.text(path).splitlines()
                for name, statements in self._definitions(path)[0].items():
                    for statement in statements if name in names else []:
                        if id(statement) not in taken:
                            taken.add(id(statement))
                            grown = True
                            text = python_code("\n".join(_lines(lines, statement)))
                            digests.add(digest(text))
                            names |= set(re.findall(r"\b[A-Za-z_]\w*\b", text))
        return sorted(digests)


def _lines(lines: list[str], statement: ast.stmt) -> list[str]:
    """Source lines of a top-level statement without docstrings."""
    begin = min([statement.lineno, *(item.lineno for item in getattr(statement, "decorator_list", []))])
    skipped: set[int] = set()
    for node in ast.walk(statement):
        if (
            isinstance(node, (ast.FunctionDef, ast.ClassDef))
            and ast.get_docstring(node) is not None
            and len(node.body) > 1
        ):
            skipped |= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return [lines[number - 1] for number in range(begin, (statement.end_lineno or begin) + 1) if number not in skipped]


# ---------------------------------------------------------------- jobs and entries


def job_hash(tree: Tree, job: dict) -> dict[str, str]:
    """One short hash for each part that the job depends on. The same file elsewhere is the same file."""
    files = {
        part: [(tree.root / name).resolve() for name in job.get(part, []) if part != "data" or "#" not in name]
        for part in PARTS[:-1]
    }
    for part, paths in files.items():
        for path in paths:
            if not path.is_file() and path not in tree.changes:
                raise ngflow.FlowError(
                    f"job {job['name']} depends on {path} ({part}), which does not exist; configure again"
                )
    found = {
        "rtl": sorted({tree.code(path) for path in files["rtl"]}),
        "cxx": sorted({tree.code(path) for path in tree.cxx_closure(files["cxx"])}),
        "python": sorted({item for path in files["python"] for item in tree.python_closure(path)}),
        "data": sorted({found for name in job.get("data", []) for found in tree.data(name)}),
        "parameters": [job.get("parameters", "")],
    }
    return {part: digest("\n".join(found[part]))[:16] for part in PARTS if found[part] and found[part] != [""]}


def layout_hash(tree: Tree, job: dict) -> str:
    """Of the RTL with comments, lines and paths: Yosys names cells by them, and so chooses other faults of the same design."""
    texts = [f"{name}\n{tree.text((tree.root / name).resolve())}" for name in sorted(job.get("rtl", []))]
    return digest("\n".join(texts))[:16]


class Ledger:
    def __init__(self, build: Path, root: Path = ngflow.ROOT, changes: Mapping[Path, str] | None = None) -> None:
        self.build, self.root = build.resolve(), root.resolve()
        self.results = self.build / "ledger"
        self.folder = self.root / "verif" / "ledger"
        listing = self.results / "jobs.json"
        if not listing.is_file():
            raise ngflow.FlowError(
                f"{listing} does not exist; expected a build folder that was configured: make configure"
            )
        self.jobs = {job["name"]: job for job in json.loads(listing.read_text())}
        self.tree = Tree(self.root, changes)
        self.entries = {path.stem: json.loads(path.read_text()) for path in sorted(self.folder.glob("*.json"))}

    def job(self, name: str) -> dict:
        if name not in self.jobs:
            raise ngflow.FlowError(f"'{name}' is no job of the ledger; expected one of {', '.join(sorted(self.jobs))}")
        return self.jobs[name]

    def problems(self) -> dict[str, str]:
        """Job -> what is wrong with its entry."""
        wrong = {}
        for name, job in self.jobs.items():
            entry = self.entries.get(name)
            if entry is None:
                wrong[name] = "has no entry"
            elif entry["verdict"] != "passed":
                wrong[name] = f"its recorded verdict is '{entry['verdict']}'"
            elif changed := differing(entry["hash"], job_hash(self.tree, job)):
                wrong[name] = f"is stale: {changed} changed"
        return wrong | {name: "has an entry and is no job any more" for name in self.entries if name not in self.jobs}

    @functools.cached_property
    def repeatable(self) -> list[str]:
        """Jobs whose entries tell what a run must give here. Injected faults are chosen by Yosys' names of cells, so under
        another version of it, or in RTL of another layout, a campaign has other faults than the recorded one."""
        here = tools().get("yosys")
        found = []
        for name, entry in self.entries.items():
            if name not in self.jobs:
                continue
            if "newest_seed" in entry["figures"] and (
                entry["tools"].get("yosys") != here or entry["layout"] != layout_hash(self.tree, self.jobs[name])
            ):
                continue
            found.append(name)
        return sorted(found)

    def cost(self, names: Iterable[str]) -> float:
        return sum(sum(self.entries[name]["seconds"].values()) for name in names if name in self.entries)


def differing(old: dict, new: dict) -> str:
    names = {"rtl": "RTL", "cxx": "C++", "python": "Python", "data": "data", "parameters": "parameters"}
    return ", ".join(names[part] for part in PARTS if old.get(part) != new.get(part))


def tools() -> dict[str, str]:
    """Versions of what verdicts rest on, where it is installed."""
    found = {}
    for tool, flag in (("verilator", "--version"), ("yosys", "-V"), ("c++", "-dumpfullversion")):
        if shutil.which(tool):
            done = subprocess.run([tool, flag], capture_output=True, text=True, check=False)
            version = re.search(r"\d+(\.\d+)+", done.stdout)
            found[tool] = version[0] if version else "unknown"
    return found


def commit(root: Path) -> str:
    """The commit's hash; of an unpacked archive, a hash of its ledger."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return done.stdout.strip()
    return digest("".join(path.read_text() for path in sorted((root / "verif" / "ledger").glob("*.json"))))


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
    """ctest's wrapper. The hash is taken before the run, so that a change meanwhile is not recorded as run."""
    depends = job_hash(ledger.tree, ledger.job(name))
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
        "hash": depends,
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
    bad = recorded = 0
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
        elif changed := differing(result["hash"], job_hash(ledger.tree, ledger.job(name))):
            print(f"ledger: {name}: {changed} changed since its run; not recorded")
            bad += 1
        else:
            result["seconds"]["build"] = build_seconds(ledger.build, ledger.job(name).get("targets", []), share)
            write(ledger.folder / f"{name}.json", result)
            recorded += 1
    for name in [name for name in ledger.entries if name not in ledger.jobs]:
        (ledger.folder / f"{name}.json").unlink()
        print(f"ledger: {name} is no job any more; its entry is gone")
    print(f"ledger: {recorded} verdicts recorded, {bad} not")
    return 1 if bad else 0


def check(ledger: Ledger) -> int:
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
    if not wrong:
        print(f"ledger: {len(ledger.jobs)} verdicts, none stale, none missing")
        return 0
    for name, why in sorted(wrong.items()):
        print(f"ledger: {name} {why}")
    known = [name for name in wrong if name in ledger.entries and name in ledger.jobs]
    took = f", {ledger.cost(known):.0f} s of CPU for {len(known)} of them by their last record" if known else ""
    print(f"ledger: {len(wrong)} of {len(ledger.jobs)} verdicts to renew{took}: make renew")
    return 1


def renew(ledger: Ledger, names: list[str], jobs: int) -> int:
    names = names or [name for name in ledger.problems() if name in ledger.jobs]
    share = 1.0
    if names:
        set_seed(ledger, commit_seed(ledger.root))
        share = build_and_run(ledger, names, jobs)
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
    verbs.add_parser("check")
    verbs.add_parser("seed")
    for verb in ("renew", "record"):
        verbs.add_parser(verb).add_argument("names", nargs="*", metavar="JOB")
    draw_verb = verbs.add_parser("draw")
    draw_verb.add_argument("--seconds", type=float, default=60, help="of CPU by the record, for all that is drawn")
    draw_verb.add_argument("--commit", help="draw as for this hash")
    run_verb = verbs.add_parser("run")
    run_verb.add_argument("name", metavar="JOB")
    run_verb.add_argument("command", nargs="+", metavar="COMMAND")
    args = parser.parse_args()
    ledger = Ledger(args.build, args.root)
    for name in getattr(args, "names", []):
        ledger.job(name)
    if args.verb == "check":
        return check(ledger)
    if args.verb == "seed":
        set_seed(ledger, commit_seed(ledger.root))
        return 0
    if args.verb == "renew":
        return renew(ledger, args.names, args.jobs)
    if args.verb == "record":
        return record(ledger, args.names or sorted(ledger.jobs))
    if args.verb == "draw":
        return draw(ledger, args.seconds, args.commit or commit(ledger.root), args.jobs)
    return run(ledger, args.name, args.command)


if __name__ == "__main__":
    ngflow.run_main(main)
