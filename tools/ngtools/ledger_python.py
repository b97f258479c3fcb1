# SPDX-License-Identifier: Apache-2.0
"""The Python that a deep test runs, as a product for the ledger: the syntax trees of its script and of the definitions that
the script reaches in other modules of the project, followed through what each module imports.
"""

from __future__ import annotations

import ast
import collections
from collections.abc import Callable
from pathlib import Path

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Find = Callable[[Path, str], list[Path]]  # the files that a dotted name means in a file


def syntax(node: object) -> str:
    """A syntax tree as text: no docstrings, no positions, and no empty fields, which differ between versions of Python."""
    if isinstance(node, list):
        return "[" + ",".join(map(syntax, node)) + "]"
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = []
    for name, value in ast.iter_fields(node):
        if name == "body" and isinstance(node, (ast.Module, *DEFINITIONS)):
            documented = ast.get_docstring(node, clean=False) is not None
            value = value[documented:]
        if value not in (None, []) and name not in ("ctx", "kind", "type_comment"):
            fields.append(f"{name}={syntax(value)}")
    return f"{type(node).__name__}({','.join(fields)})"


def _is_main(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and "__name__" in ast.dump(statement.test)


class Module:
    """Top-level statements by the names that they define, those that define none, and what each imported name means."""

    def __init__(self, text: str) -> None:
        self.tree = ast.parse(text)
        self.defined: dict[str, list[ast.stmt]] = collections.defaultdict(list)
        self.others: list[ast.stmt] = []
        for statement in self.tree.body:
            if isinstance(statement, DEFINITIONS):
                self.defined[statement.name].append(statement)
            elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                for node in (node for target in targets for node in ast.walk(target)):
                    if isinstance(node, ast.Name):
                        self.defined[node.id].append(statement)
            elif not isinstance(statement, (ast.Import, ast.ImportFrom)) and not _is_main(statement):
                constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                self.others += [] if constant else [statement]
        self.imported: dict[str, list[str]] = collections.defaultdict(list)  # local name -> dotted names
        self.modules: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    self.imported[alias.asname or alias.name.split(".")[0]].append(
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
                    self.modules.add(alias.name)
            elif isinstance(node, ast.ImportFrom) and node.module:
                self.modules.add(node.module)
                for alias in node.names:
                    self.imported[alias.asname or alias.name].append(f"{node.module}.{alias.name}")
                    self.modules.add(f"{node.module}.{alias.name}")


class Reach:
    """Walks from a script."""

    def __init__(self, script: Path, read: Callable[[Path], Module], find: Find) -> None:
        self.read, self.find = read, find
        self.trees: set[str] = set()
        self._entered: set[Path] = {script}
        self._names: set[tuple[Path, str]] = set()
        self._queue: list[tuple[Path, ast.AST]] = []
        module = read(script)
        self.trees.add(syntax(module.tree))
        self._imports(script, module)
        self._queue.append((script, module.tree))
        while self._queue:
            self._visit(*self._queue.pop())

    def _imports(self, path: Path, module: Module) -> None:
        for dotted in module.modules:
            for found in self.find(path, dotted):
                if found not in self._entered:
                    self._entered.add(found)
                    other = self.read(found)
                    for statement in other.others:
                        self._take(found, statement)
                    self._imports(found, other)

    def _take(self, path: Path, statement: ast.AST) -> None:
        self.trees.add(syntax(statement))
        self._queue.append((path, statement))

    def _visit(self, path: Path, tree: ast.AST) -> None:
        bases = set()
        for node in ast.walk(tree):
            chain: list[str] = []
            inner: ast.AST = node
            while isinstance(inner, ast.Attribute):
                chain.insert(0, inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name) and inner not in bases:
                bases.add(inner)  # ast.walk comes to the longest chain first
                self._resolve(path, [inner.id, *chain])

    def _resolve(self, path: Path, chain: list[str]) -> None:
        self._define(path, chain[0])
        for dotted in self.read(path).imported.get(chain[0], []):
            words = [*dotted.split("."), *chain[1:]]
            for end in range(len(words), 0, -1):
                if found := self.find(path, ".".join(words[:end])):
                    for module in found:
                        for name in words[end : end + 1] or list(self.read(module).defined):
                            self._reach(module, name)
                    break

    def _define(self, path: Path, name: str) -> None:
        if (path, name) not in self._names:
            self._names.add((path, name))
            for statement in self.read(path).defined.get(name, []):
                self._take(path, statement)

    def _reach(self, path: Path, name: str) -> None:
        """A name that another module looks up in this one, which may have it by import."""
        known = (path, name) in self._names
        self._define(path, name)
        if not known and name not in self.read(path).defined:
            self._resolve(path, [name])


def reached(script: Path, read: Callable[[Path], Module], find: Find) -> list[str]:
    """Syntax trees of what counts."""
    return sorted(Reach(script, read, find).trees)
