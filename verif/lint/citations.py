# SPDX-License-Identifier: Apache-2.0
"""Finds citations of what is not in the repository.

In every text file: paths that begin with a folder of the repository (rtl/mac/ng_fp_mac.sv, verif/cosim/<family>/), paths
that Python and CMake put together from its root, and "docs/page.md, Heading", whose heading must stand in the page. In
Markdown also relative links with their anchors, file names in backticks, `make TARGET`, and scripts that stand first in a
line, which must be executable. In comments and docstrings of code also file names (gemm.cpp, quant/rules.hpp). A name is
right if it is the end of some file's path; <name>, * and {a,b} stand for anything that fits at least one. Documents that
the repository does not have (spec/..., "design section 2") may not be cited at all. Every page of docs/ must be linked to
by another.

    verif/lint/citations.py              exit code 1 and one line for each citation that is wrong
    verif/lint/citations.py --tests CTEST BUILD
                                         also the names of tests in pages and after "ctest -R" or "-L" anywhere, and in
                                         pages paths of build/; the build folder must be configured with all tests
    verif/lint/citations.py --selftest   a small tree with one fault of each kind, each of which must be found
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ngtools import checks

ROOT = Path(__file__).resolve().parents[2]

SLASH = {".c", ".cpp", ".h", ".hpp", ".inc", ".S", ".ld", ".sv", ".v", ".vlt", ".rdl"}
HASH = {".py", ".pyi", ".cmake", ".txt", ".toml", ".yaml", ".yml", ".sh", ""}  # "": the Makefile
TEXT = SLASH | HASH | {".md", ".json", ".in", ".f", ".core"}
# Endings of names that are looked for in backticks and comments.
NAMED = "md|py|c|cpp|h|hpp|inc|sv|v|vlt|rdl|cmake|jsonl|json|toml|yaml|yml|in|sh"

# Names of files that are not in the repository and may be written all the same.
ELSEWHERE = {
    "there while verdicts wait for a run": "verif/pending.txt",
    "made by the build": "V*.h registers.vlt registers.inc dut_pins.hpp compile_commands.json tile_configurations.inc ngtools.cmake",
    "written for a user": "netlist.json netlist.v narrowgauge.table.yaml ERT.yaml hwcomponents_narrowgauge.py provenance.json mapping.yaml said.json",
    "a user's own, or stands for any": "?.json my.json model.json space.json layers.json layers.yaml f.sv f.vlt x.sv bench.cpp result.c",
    "made by a tutorial": "ng_ones.* ones.hpp ones_bench.cpp ones.md mutants.ones.json ones.json",
    "of the kit of vectors, and of an export for ZigZag": "kit.json narrowgauge_int8.yaml",
    "of C, and of tools whose workloads are read": "stdint.h topology_utils.py inputs/workload/resnet18.yaml",
    "of another project": "cutlass/float8.h core_nvfp4.cuh ice40/ff_map.v cells_sim.v llama.cpp lm_eval/experimental/utils.py",
    "of a checkpoint, or a tool that reads one": "weights.py config.json hf_quant_config.json model.safetensors.index.json",
    "of integers in a checkpoint, and of what makes them": "quantize_config.json gemm.py qlinear_cuda.py qlinear_cuda_old.py",
}
# Tests whose text is a tree of made-up files.
MADE_UP = (
    "verif/lint/citations.py",
    "tests/tools/ledger_test.py",
    "tests/tools/new_unit_test.py",
    "tests/tools/records_test.py",
    "tests/tools/sanitize_test.py",
    "tests/tools/tidy_test.py",
    "tools/new_unit.py",
)
# Documents that a reader of the repository does not have.
FORBIDDEN = re.compile(r"(?<![\w./-])(?:\.\./)*(?:shared/)?spec/\w+|\b(?:design|spec(?:ification)?) section \d", re.I)


@dataclass(frozen=True)
class Problem:
    path: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


class Tree:
    """The files of the repository by their paths, and what they hold."""

    def __init__(self, root: Path, files: list[str]) -> None:
        self.root, self.files = root, files
        self.paths = set(files)
        self.folders = {str(parent) for file in files for parent in Path(file).parents if str(parent) != "."}
        self.top = sorted(folder for folder in self.folders if "/" not in folder and not folder.startswith("."))
        self.ends: dict[str, list[str]] = {}
        for path in [*files, *self.folders]:
            self.ends.setdefault(Path(path).name, []).append(path)
        self._headings: dict[str, list[str]] = {}
        self.linked: set[str] = set()  # pages that a page links to, as far as pages were looked at

    def exists(self, name: str, citing: str) -> bool:
        """`name` from the root, or from the citing file's folder or one above it."""
        for place in ["", *(f"{parent}/" for parent in Path(citing).parents if str(parent) != ".")]:
            path = normal(place + name)
            if path in self.paths or path in self.folders:
                return True
            if set(path) & set("*<{") and any(self.fits(path, there) for there in (*self.files, *self.folders)):
                return True
        return False

    @staticmethod
    def fits(pattern: str, path: str) -> bool:
        return any(fnmatch.fnmatchcase(path, one) for one in expand(pattern))

    def ends_so(self, name: str) -> bool:
        """Whether some path is `name` or ends with /name."""
        if set(name) & set("*<{"):
            return any(self.fits(name, path) or self.fits("*/" + name, path) for path in (*self.files, *self.folders))
        return any(path == name or path.endswith("/" + name) for path in self.ends.get(Path(name).name, ()))

    def headings(self, page: str) -> list[str]:
        if page not in self._headings:
            text = re.sub(r"^(```|~~~).*?^\1", "", (self.root / page).read_text(), flags=re.M | re.S)
            found = re.findall(r"^#{1,6}\s+(.*?)\s*#*$", text, re.M)
            self._headings[page] = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading) for heading in found]
        return self._headings[page]

    def anchors(self, page: str) -> set[str]:
        """As GitHub makes them."""
        seen: dict[str, int] = {}
        anchors = set()
        for heading in self.headings(page):
            slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            anchors.add(slug if slug not in seen else f"{slug}-{seen[slug]}")
            seen[slug] = seen.get(slug, 0) + 1
        return anchors


def elsewhere(name: str) -> bool:
    """Also names in capitals, which stand for any: OUT.json, BUILD/jobs.json."""
    patterns = " ".join(ELSEWHERE.values()).split()
    return bool(re.match(r"[A-Z]{2,}[./]", name)) or any(
        fnmatch.fnmatchcase(name, one) or fnmatch.fnmatchcase(name, "*/" + one) for one in patterns
    )


def normal(path: str) -> str:
    parts: list[str] = []
    for part in path.strip("/").split("/"):
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def expand(pattern: str) -> Iterator[str]:
    """<name> and {name} become *, {a,b} one pattern each."""
    pattern = re.sub(r"<[^>]*>|\{[^{},]*\}", "*", pattern)
    braces = re.search(r"\{([^{}]*)\}", pattern)
    if not braces:
        yield pattern
        return
    for choice in braces.group(1).split(","):
        yield from expand(pattern[: braces.start()] + choice + pattern[braces.end() :])


def comments(path: str, text: str) -> list[tuple[int, str]]:
    """(line, text) of comments and docstrings."""
    ending = Path(path).suffix
    found = []
    if ending in HASH:
        found += [(m.start(1), m.group(1)) for m in re.finditer(r"(?:^|(?<=\s))#(.*)$", text, re.M)]
    if ending in (".py", ".pyi"):
        found += [(m.start(1), m.group(1)) for m in re.finditer(r'"""(.*?)"""', text, re.S)]
    if ending in SLASH:
        found += [(m.start(1), m.group(1)) for m in re.finditer(r"//(.*)$", text, re.M)]
        found += [(m.start(1), m.group(1)) for m in re.finditer(r"/\*(.*?)\*/", text, re.S)]
    return found


def check_file(tree: Tree, path: str, text: str, targets: set[str]) -> Iterator[Problem]:
    def at(offset: int) -> int:
        return text.count("\n", 0, offset) + 1

    for m in FORBIDDEN.finditer(text):
        yield Problem(
            path, at(m.start()), f"cites '{m.group()}', which no reader has; cite a page of docs/ by its heading"
        )

    # Paths from the root.
    top = "|".join(map(re.escape, tree.top))
    for m in re.finditer(rf"(?<![\w./@{{}}$+-])(?:{top})/[\w./*<>{{}},+-]*", text):
        name = re.sub(r"[,{<][^}>]*$", "", m.group()).rstrip(".,-")
        if name.endswith("}") and "{" not in name:
            name = name.rstrip("}")
        is_file = re.search(r"\.\w+$", name)
        if text[m.end() : m.end() + 1] == "$" or not (is_file or name.endswith("/")):
            continue  # part of a name that a program puts together, or words such as model/RTL
        if not tree.exists(name, path) and not elsewhere(name):
            yield Problem(path, at(m.start()), f"'{name}' does not exist")

    # Paths that scripts put together from the root.
    for m in re.finditer(r'\b(?:ROOT|ngflow\.ROOT)((?:\s*/\s*"[\w./-]+")+)', text) if path.endswith(".py") else ():
        name = "/".join(re.findall(r'"([^"]+)"', m.group(1)))
        if not tree.exists(name, ".") and not re.match(r"build|\.venv|\.", name):
            yield Problem(path, at(m.start()), f"'{name}' does not exist")
    for m in re.finditer(r"\$\{(?:PROJECT_SOURCE_DIR|CMAKE_SOURCE_DIR|NG_ROOT)\}/?([\w./-]+)(?![$\w*./-])", text):
        if not tree.exists(m.group(1), ".") and not re.match(r"build|\.", m.group(1)):
            yield Problem(path, at(m.start()), f"'{m.group(1)}' does not exist")

    # A page and one of its headings.
    for m in re.finditer(r"\b(docs/[\w/]+\.md)`?,\s", text):
        rest = re.sub(r"\s*\n\s*(?:///<|///|//|#|\*)?\s*", " ", text[m.end() - 1 : m.end() + 200]).strip()
        if m.group(1) not in tree.paths or not re.match(r"[A-Z]", rest):
            continue
        plain = [heading.replace("`", "") for heading in tree.headings(m.group(1))]
        if not any(re.match(re.escape(heading) + r"(?!\w)", rest) for heading in plain):
            yield Problem(path, at(m.start()), f"{m.group(1)} has no heading with which '{rest[:40]}' begins")

    # Names of files.
    named = rf"[\w*<>{{}},.-]+(?:/[\w*<>{{}},.-]+)*\.(?:{NAMED})"
    if path.endswith(".md"):
        spans = [(m.start(1), m.group(1)) for m in re.finditer(r"`([^`\n]+)`", text)]
        names = [(offset, span) for offset, span in spans if re.fullmatch(named, span)]
    else:
        names = [
            (offset + m.start(), m.group())
            for offset, comment in comments(path, text)
            for m in re.finditer(rf"(?<![\w/.$+:@-]){named}(?![\w/(-]|\.\w)", comment)
        ]
    for offset, name in names:
        if name.split("/")[0] in tree.top:
            continue  # looked at above
        if not tree.ends_so(name) and not tree.exists(name, path) and not elsewhere(name):
            yield Problem(path, at(offset), f"no file is called '{name}'")

    if not path.endswith(".md"):
        return
    # Links and anchors.
    prose = re.sub(r"^(```|~~~).*?^\1", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.M | re.S)
    for m in re.finditer(r"\]\(([^)\s]+)\)", prose):
        target, _, anchor = m.group(1).partition("#")
        if re.match(r"\w+:", target):
            continue
        page = normal(str(Path(path).parent / target)) if target else path
        if page != path:
            tree.linked.add(page)
        if page not in tree.paths and page not in tree.folders:
            yield Problem(path, at(m.start()), f"link to '{m.group(1)}', and there is no {page}")
        elif anchor and page.endswith(".md") and anchor not in tree.anchors(page):
            yield Problem(path, at(m.start()), f"link to '{m.group(1)}', and {page} has no such heading")
    for m in re.finditer(r"^(?: {4})?([\w/]+\.(?:py|sh))(?= |$)", text, re.M):
        if m.group(1) in tree.paths and not (tree.root / m.group(1)).stat().st_mode & 0o100:
            yield Problem(path, at(m.start(1)), f"'{m.group(1)}' cannot be run like that: it is not executable")
    for m in re.finditer(r"(?:^|`|&& )make ([a-z][\w-]*)", text, re.M):
        if m.group(1) not in targets:
            yield Problem(path, at(m.start()), f"the Makefile has no target '{m.group(1)}'")


@dataclass(frozen=True)
class Tests:
    """What ctest knows, and what the build makes."""

    names: list[str]
    labels: set[str]
    made: str  # the outputs of build.ninja, one a line; empty with another generator

    @staticmethod
    def of(ctest: str, build: str) -> Tests:
        listing = subprocess.run(
            [ctest, "--test-dir", build, "-C", "deep", "--show-only=json-v1"],
            capture_output=True,
            text=True,
            check=True,
        )
        tests = json.loads(listing.stdout)["tests"]
        ninja = Path(build) / "build.ninja"
        outputs = re.findall(r"^build ((?:[^:$\n]|\$.)+):", ninja.read_text(), re.M) if ninja.exists() else []
        return Tests(
            [test["name"] for test in tests],
            {
                label
                for test in tests
                for item in test.get("properties", [])
                if item["name"] == "LABELS"
                for label in item["value"]
            },
            "".join(f"\n{output}" for line in outputs for output in line.replace(" | ", " ").split()),
        )


def check_tests(path: str, text: str, tests: Tests) -> Iterator[Problem]:
    def problem(offset: int, name: str) -> Problem:
        return Problem(path, text.count("\n", 0, offset) + 1, f"ctest has no test '{name}'")

    for m in re.finditer(r"\bctest\b[^\n`]*?\s-([RL])\s+(?:'([^'\n]+)'|([^\s`'\"),;{}]+))", text):
        pattern = m.group(2) or m.group(3).rstrip(".")
        among = tests.names if m.group(1) == "R" else tests.labels
        if not any(re.search(pattern, name) for name in among):
            yield problem(m.start(), pattern)
    if path.endswith(".md"):
        for m in re.finditer(r"(?<![\w./-])build/(?:waves/)?([a-z][\w./-]*\w)", text):
            if (
                tests.made
                and not re.search(rf"\n{re.escape(m.group(1))}(?![\w.-])", tests.made)
                and m.group(1) != "waves"
            ):
                yield Problem(path, text.count("\n", 0, m.start()) + 1, f"the build makes no '{m.group(1)}'")
        first = "|".join(sorted({re.escape(name.split(".")[0]) for name in tests.names if "." in name}))
        for m in re.finditer(rf"`((?:{first})\.[\w.*<>{{}},]+)`", text):
            if re.search(rf"\.(?:{NAMED})$", m.group(1)):
                continue
            if not any(Tree.fits(m.group(1), name) for name in tests.names):
                yield problem(m.start(), m.group(1))


def check(root: Path, files: list[str], tests: Tests | None = None) -> list[Problem]:
    tree = Tree(root, files)
    makefile = (root / "Makefile").read_text() if "Makefile" in tree.paths else ""
    targets = {name for line in re.findall(r"^([a-z][\w -]*):(?!=)", makefile, re.M) for name in line.split()}
    problems = []
    for path in files:
        if Path(path).suffix in TEXT and path not in MADE_UP:
            text = (root / path).read_text(errors="replace")
            problems += check_file(tree, path, text, targets)
            problems += check_tests(path, text, tests) if tests else ()
    for path in files:
        if re.match(r"docs/.*\.md$", path) and path not in tree.linked:
            problems.append(Problem(path, 1, "no page links to this one"))
    return problems


GOOD = {
    "Makefile": "test: build\nbuild:\n\ttrue\n",
    "docs/page.md": "# Page\n\n## The `first` heading\n\n[here](#the-first-heading), [there](sub/other.md#other), `rtl/a.sv`,\n"
    "`a.sv`, `rtl/<unit>.sv`, `docs/{page,sub/other}.md`, `make test`,\n"
    "`ctest -R '^rtl.(a|b)'`, `rtl.*`, `rtl.{a,b_<width>}`\n\n```\n[not a link](nowhere.md)\n```\n",
    "docs/sub/other.md": "# Other\n\n[back](../page.md), docs/page.md, The first heading. build/bin/x is built, build/waves/lib/y.so too.\n",
    "rtl/a.sv": "// docs/page.md, The first\n// heading: see a.sv and docs/page.md, which says more.\nmodule a;\nendmodule\n",
    "tool.py": '"""Reads rtl/a.sv."""\nPATH = "rtl/%s.sv"\n',
}
# What is put into a file of the good tree, and what must be said of it.
FAULTS = [
    ("docs/page.md", "[x](gone.md)", "no docs/gone.md"),
    ("docs/page.md", "[x](sub/other.md#gone)", "no such heading"),
    ("docs/page.md", "[x](#gone)", "no such heading"),
    ("docs/page.md", "`gone.sv`", "no file is called 'gone.sv'"),
    ("docs/page.md", "    tool.py --flag", "'tool.py' cannot be run like that"),
    ("docs/page.md", "`make gone`", "no target 'gone'"),
    ("docs/alone.md", "# Alone", "no page links to this one"),
    ("docs/page.md", "build/bin/gone --help", "the build makes no 'bin/gone'"),
    ("docs/page.md", "`rtl.gone`", "no test 'rtl.gone'"),
    ("docs/page.md", "`ctest -R gone`", "no test 'gone'"),
    ("tool.py", "# ctest -L gone", "no test 'gone'"),
    ("docs/page.md", "see rtl/gone.sv.", "'rtl/gone.sv' does not exist"),
    ("docs/page.md", "`rtl/gone/`", "'rtl/gone/' does not exist"),
    ("docs/page.md", "`rtl/<unit>.cpp`", "'rtl/<unit>.cpp' does not exist"),
    ("docs/page.md", "as `spec/numerics` says", "which no reader has"),
    ("rtl/a.sv", "// design section 2", "which no reader has"),
    ("rtl/a.sv", "// docs/page.md, Another heading", "no heading with which 'Another heading"),
    ("rtl/a.sv", "// docs/gone.md, The first heading", "'docs/gone.md' does not exist"),
    ("rtl/a.sv", "/* as in gone.cpp */", "no file is called 'gone.cpp'"),
    ("tool.py", 'X = "rtl/gone.sv"', "'rtl/gone.sv' does not exist"),
    ("tool.py", 'X = ROOT / "rtl" / "gone"', "'rtl/gone' does not exist"),
    ("list.cmake", "include(${PROJECT_SOURCE_DIR}/rtl/gone.cmake)", "'rtl/gone.cmake' does not exist"),
    ("tool.py", "# see gone.py", "no file is called 'gone.py'"),
    ("tool.py", '"""As gone.hpp has it."""', "no file is called 'gone.hpp'"),
]


def selftest() -> int:
    tests = Tests(["rtl.a", "rtl.b_8", "plan"], {"lint"}, "\nbin/x\nlib/y.so")

    def problems_of(change: tuple[str, str] | None) -> list[Problem]:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in GOOD.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text + (f"{change[1]}\n" if change and change[0] == name else ""))
            if change and change[0] not in GOOD:
                (root / change[0]).write_text(f"{change[1]}\n")
            return check(root, checks.files_of(root), tests)

    failures = [f"the good tree: {problem}" for problem in problems_of(None)]
    for path, text, said in FAULTS:
        found = problems_of((path, text))
        if len(found) != 1 or found[0].path != path or said not in found[0].text:
            failures.append(f"'{text}' in {path}; expected '{said}', got {[str(problem) for problem in found]}")
    for failure in failures:
        print(f"citations: {failure}")
    if not failures:
        print(f"citations: the good tree has no wrong citation, {len(FAULTS)} faults were found")
    return bool(failures)


def run(args: argparse.Namespace) -> int:
    files = checks.files_of(ROOT)
    problems = check(ROOT, files, Tests.of(*args.tests) if args.tests else None)
    for problem in problems:
        print(problem)
    if not problems:
        print(f"citations: in {len(files)} files, nothing is cited that is not there")
    return bool(problems)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tests", nargs=2, metavar=("CTEST", "BUILD"), help="look for the names of tests too")


if __name__ == "__main__":
    sys.exit(checks.run(__doc__, run, selftest, arguments))
