# SPDX-License-Identifier: Apache-2.0
"""What a deep test depends on, hashed for the ledger (ledger.py), in two steps.

A text key is of source text without comments and layout, and of no path: RTL by module closure; C++ by include closure
within the project, with the sources that implement the included headers; Python by the definitions that the scripts reach.
A product is what that text comes to: RTL elaborated (ledger_netlist.py), C++ definitions that `main` reaches
(ledger_cxx.py), syntax trees of Python. Products cost more, and only they decide where text changed.
"""

from __future__ import annotations

import ast
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from ngtools import ledger_cxx, ledger_netlist, ledger_python, ngflow, recorded
from ngtools.no_fault import exemptions

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
        self._units: dict[Path, list[ledger_cxx.Unit]] = {}
        self._closures: dict[tuple[Path, ...], set[Path]] = {}
        self._scripts: dict[Path, list[str]] = {}
        self._modules: dict[Path, ledger_python.Module] = {}
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
        roots = tuple(sources)
        if roots not in self._closures:
            self._closures[roots] = self._cxx_closure(roots)
        return self._closures[roots]

    def cxx_units(self, path: Path) -> list[ledger_cxx.Unit]:
        if path not in self._units:
            self._units[path] = ledger_cxx.units(c_code(self.text(path)))
        return self._units[path]

    def _cxx_closure(self, roots: tuple[Path, ...]) -> set[Path]:
        seen: set[Path] = set()
        queue = list(roots)
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
        if script not in self._scripts:
            self._scripts[script] = self._python_closure(script)
        return self._scripts[script]

    def python_module(self, path: Path) -> ledger_python.Module:
        if path not in self._modules:
            self._modules[path] = ledger_python.Module(self.text(path))
        return self._modules[path]

    def python_reached(self, script: Path) -> list[str]:
        return ledger_python.reached(script, self.python_module, self._module)

    def _python_closure(self, script: Path) -> list[str]:
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


# ---------------------------------------------------------------- keys of a job


PARTS = ("rtl", "cxx", "python", "data", "parameters", "exempt")
PRODUCTS = ("rtl", "cxx", "python")  # of the other parts, the text is the product


def members(job: dict) -> list[dict]:
    """The job and what else it lists: RTL that is elaborated, and C++, each whole in itself (of a group of tests)."""
    return [job, *job.get("members", [])]


def files_of(tree: Tree, job: dict) -> dict[str, list[Path]]:
    names = {part: dict.fromkeys(name for one in members(job) for name in one.get(part, [])) for part in PARTS[:4]}
    files = {
        part: [(tree.root / name).resolve() for name in names[part] if part != "data" or "#" not in name]
        for part in PARTS[:4]
    }
    for part, paths in files.items():
        for path in paths:
            if not path.is_file() and path not in tree.changes:
                raise ngflow.FlowError(
                    f'job {job["name"]} depends on "{path}" ({part}), which does not exist; configure again'
                )
    return files


def text_keys(tree: Tree, job: dict) -> dict[str, str]:
    """One short hash for each part that the job depends on. The same file elsewhere is the same file."""
    files = files_of(tree, job)
    found = {
        "rtl": sorted({tree.code(path) for path in files["rtl"]}),
        "cxx": sorted({tree.code(path) for path in tree.cxx_closure(files["cxx"])}),
        "python": sorted({item for path in files["python"] for item in tree.python_closure(path)}),
        "data": sorted({found for name in job.get("data", []) for found in tree.data(name)}),
        "parameters": [job.get("parameters", "")],
        # Lines of RTL that a campaign of mutants leaves out carry that in a comment, which is no part of their text.
        "exempt": sorted(
            code
            for path in files["rtl"]
            for _, code, top in (exemptions(tree.text(path), path.name) if job.get("mutants") else ())
            if top is None or any(top == name.partition(" ")[0] for name in job.get("tops", []))
        ),
    }
    return {part: digest("\n".join(found[part]))[:16] for part in PARTS if found[part] and found[part] != [""]}


def layout_hash(tree: Tree, job: dict) -> str:
    """Of the RTL with comments, lines and paths: Yosys names cells by them, and so chooses other mutants of the same design."""
    texts = [f"{name}\n{tree.text((tree.root / name).resolve())}" for name in sorted(job.get("rtl", []))]
    return digest("\n".join(texts))[:16]


def tools() -> dict[str, str]:
    """Versions of what verdicts rest on, where it is installed."""
    found = {}
    for tool, flag in (("verilator", "--version"), ("yosys", "-V"), ("c++", "-dumpfullversion")):
        if shutil.which(tool):
            done = subprocess.run([tool, flag], capture_output=True, text=True, check=False)
            version = re.search(r"\d+(\.\d+)+", done.stdout)
            found[tool] = version[0] if version else "unknown"
    return found


def _netlist_products(tops: list[str], texts: dict[str, str]) -> dict[str, str]:
    """Of files by name and text, since a change may lie over what is on disk."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            (Path(folder) / name).write_text(text, errors="surrogateescape")
        return ledger_netlist.products(tops, [Path(folder) / name for name in texts])


class Products:
    """Products of a tree's jobs. Elaborated netlists are shared by module and parameters, and cached in the build folder."""

    def __init__(self, tree: Tree, cache: Path, workers: int = 1) -> None:
        self.tree, self.cache, self.workers = tree, cache, workers
        self.yosys = tools().get("yosys", "")
        self._known: dict[str, str] = json.loads(cache.read_text()) if cache.is_file() else {}
        self._cxx: dict[tuple[Path, ...], str] = {}

    def _key(self, job: dict, top: str) -> str:
        codes = sorted(self.tree.code((self.tree.root / name).resolve()) for name in job["rtl"])
        return digest("\n".join([ledger_netlist.VERSION, self.yosys, top, *codes]))[:24]

    def elaborate(self, jobs: Iterable[dict]) -> None:
        """Elaborates what these jobs need and no earlier call did, several at once."""
        wanted = {
            self._key(one, top): (one, top) for job in jobs for one in members(job) for top in one.get("tops", [])
        }
        todo = sorted((top, key, job) for key, (job, top) in wanted.items() if key not in self._known)
        if not todo:
            return
        # Neighbours share modules, so each process takes a row of them, of like numbers of files.
        total, done = sum(len(job["rtl"]) for _, _, job in todo), 0
        groups: list[list[tuple[str, str, dict]]] = [[] for _ in range(max(1, self.workers))]
        for item in todo:
            groups[done * len(groups) // total].append(item)
            done += len(item[2]["rtl"])
        with concurrent.futures.ProcessPoolExecutor(max_workers=len(groups)) as pool:
            futures = [(group, pool.submit(*self._task(group))) for group in groups if group]
            for group, future in futures:
                found = future.result()
                self._known |= {key: found[top] for top, key, _ in group}
        self.cache.parent.mkdir(parents=True, exist_ok=True)
        new = self.cache.with_name(f"{self.cache.name}.{os.getpid()}")
        new.write_text(json.dumps(self._known, indent=0, sort_keys=True))
        new.replace(self.cache)

    def _task(self, group: list[tuple[str, str, dict]]) -> tuple:
        texts: dict[str, str] = {}  # each job's files are in order, so all are
        for name in (name for _, _, job in group for name in job["rtl"]):
            texts.setdefault(Path(name).name, self.tree.text((self.tree.root / name).resolve()))
        return _netlist_products, [top for top, _, _ in group], texts

    def of(self, job: dict, parts: Iterable[str] = PRODUCTS) -> dict[str, str]:
        """The products of a job by part; `rtl` only where the job says what is elaborated and Yosys is here."""
        files, found = files_of(self.tree, job), {}
        known = all(one.get("tops") or not one.get("rtl") for one in members(job)) and self.yosys
        if "rtl" in parts and files["rtl"] and known:
            self.elaborate([job])
            keys = [self._key(one, top) for one in members(job) for top in one.get("tops", [])]
            found["rtl"] = digest("\n".join(sorted(self._known[key] for key in keys)))[:16]
            found["yosys"] = self.yosys
        if "cxx" in parts and files["cxx"]:
            sources = dict.fromkeys(
                tuple(files_of(self.tree, {"cxx": one["cxx"]})["cxx"]) for one in members(job) if one.get("cxx")
            )
            reached = sorted(map(self._reached, sources))
            found["cxx"] = reached[0] if len(reached) == 1 else digest("\n".join(reached))[:16]
        if "python" in parts and files["python"]:
            trees = sorted({item for path in files["python"] for item in self.tree.python_reached(path)})
            found["python"] = digest("\n".join(trees))[:16]
        return found

    def _reached(self, sources: tuple[Path, ...]) -> str:
        if sources not in self._cxx:
            others = sorted(self.tree.cxx_closure(sources) - set(sources))
            units = ledger_cxx.reached(
                [self.tree.cxx_units(path) for path in sources], [self.tree.cxx_units(path) for path in others]
            )
            self._cxx[sources] = digest("\n".join(units))[:16]
        return self._cxx[sources]
