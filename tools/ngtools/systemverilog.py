# SPDX-License-Identifier: Apache-2.0
"""SystemVerilog as pyslang reads it: which design units a file names, and what a module has at given parameters."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyslang
import pyslang.ast as slang
import pyslang.parsing as parsing
import pyslang.syntax as syntax


class SourceError(ValueError):
    """A file that is no SystemVerilog, or a module or signal that it does not have."""


@dataclass(frozen=True)
class Port:
    """A port of a module at given parameters; the width is in bits."""

    name: str
    direction: str  # in, out or inout
    width: int
    signed: bool


def parse(path: Path, defines: tuple[str, ...] = ()) -> syntax.SyntaxTree:
    """The syntax tree of a file; a syntax error is a SourceError with file and line."""
    return parse_text(path.read_text(), str(path), defines)


def parse_text(text: str, name: str, defines: tuple[str, ...] = ()) -> syntax.SyntaxTree:
    """The syntax tree of a text; `name` is what messages call it."""
    options = parsing.PreprocessorOptions()
    options.predefines = list(defines)
    tree = syntax.SyntaxTree.fromFileInMemory(text, pyslang.SourceManager(), name, name, pyslang.Bag([options]))
    errors = [item for item in tree.diagnostics if item.isError()]
    if errors:
        report = pyslang.DiagnosticEngine.reportAll(tree.sourceManager, tree.diagnostics)
        raise SourceError(f'file "{name}" is wrong; expected SystemVerilog: {report.strip().splitlines()[0]}')
    return tree


LOCAL = {  # where a name is made that nothing outside the module sees
    syntax.SyntaxKind.DataDeclaration,
    syntax.SyntaxKind.NetDeclaration,
    syntax.SyntaxKind.LocalVariableDeclaration,
    syntax.SyntaxKind.ForVariableDeclaration,
    syntax.SyntaxKind.FunctionPort,
}
# Names of other modules' ports and parameters, which may be spelled as a local name is.
FOREIGN = {syntax.SyntaxKind.NamedPortConnection, syntax.SyntaxKind.NamedParamAssignment}


UNCHECKED = "__ICARUS__"  # of the conditions around elaboration checks


def hardware(path: Path, defines: tuple[str, ...] = ("SYNTHESIS",), number_locals: bool = True) -> str:
    """The code that decides over the hardware, a token a line, as the preprocessor leaves it with `defines`: without
    comments, layout and elaboration checks. Local signals are numbered in their order, whatever they are called; with
    their names instead, a tool can read it.
    """
    return _hardware(path.read_text(), str(path), defines, number_locals)


@functools.cache  # a package is read once for all the designs that it is in
def _hardware(text: str, name: str, defines: tuple[str, ...], number_locals: bool) -> str:
    return "\n".join(Code(parse_text(text, name, defines), number_locals=number_locals).tokens())


def code(text: str, name: str) -> str:
    """As hardware(), and what the preprocessor leaves out beside it: proofs see lines that synthesis does not."""
    return "\n".join(Code(parse_text(text, name, ("SYNTHESIS",)), whole=True).tokens())


class Code:
    """The tokens of a syntax tree without elaboration checks; `whole`: with directives and the lines that they leave out."""

    def __init__(self, tree: syntax.SyntaxTree, whole: bool = False, number_locals: bool = True) -> None:
        self._root = tree.root
        self._number_locals = number_locals
        self._whole = whole
        self._local: dict[str, str] = {}
        self._tokens: list[str] = []
        self._foreign = False  # in a connection, before the name of the other module's port
        self._conditions: list[str] = []  # the open ones

    def tokens(self) -> list[str]:
        if self._number_locals:
            self._root.visit(self._declare)
        self._root.visit(self._visit)
        return self._tokens

    def _declare(self, node: Any) -> Any:
        kind = getattr(node, "kind", None)
        if kind == syntax.SyntaxKind.Declarator and is_local(node):
            self._local.setdefault(node.name.valueText, f"${len(self._local)}")
        return slang.VisitAction.Advance

    def _visit(self, node: Any) -> Any:
        if isinstance(node, parsing.Token):
            self._directives(node)
            named = node.kind == parsing.TokenKind.Identifier
            self._tokens.append(
                node.rawText if self._foreign and named else self._local.get(node.rawText, node.rawText)
            )
            self._foreign = self._foreign and not named
            return slang.VisitAction.Advance
        self._foreign = node.kind in FOREIGN
        if not is_check(node):
            return slang.VisitAction.Advance
        self._directives(node.getFirstToken())
        return slang.VisitAction.Skip

    def _directives(self, token: parsing.Token) -> None:
        """Takes the directives in front of a token, with the code that they leave out; macros are expanded already."""
        for trivia in token.trivia if self._whole else ():
            if trivia.kind != parsing.TriviaKind.Directive:
                continue
            directive = trivia.syntax()
            texts = [item.rawText for item in tokens_of(directive) if item.rawText]
            if directive.kind in (syntax.SyntaxKind.IfDefDirective, syntax.SyntaxKind.IfNDefDirective):
                self._conditions.append(texts[1])
            around_check = self._conditions[-1:] == [UNCHECKED]
            if directive.kind == syntax.SyntaxKind.EndIfDirective:
                self._conditions.pop()
            if directive.kind != syntax.SyntaxKind.MacroUsage and not around_check:
                self._tokens += texts


def tokens_of(node: Any) -> list[parsing.Token]:
    found: list[parsing.Token] = []

    def visit(item: Any) -> Any:
        if isinstance(item, parsing.Token):
            found.append(item)
        return slang.VisitAction.Advance

    node.visit(visit)
    return found


def is_local(declarator: Any) -> bool:
    """Whether nothing outside the module can see the name."""
    statement = declarator.parent
    if statement.kind != syntax.SyntaxKind.ParameterDeclaration:
        return bool(statement.kind in LOCAL)
    inside = statement.parent.kind == syntax.SyntaxKind.ParameterDeclarationStatement
    return bool(inside and statement.parent.parent.kind != syntax.SyntaxKind.PackageDeclaration)


def is_check(node: Any) -> bool:
    """Whether this is `if (…) $fatal(…);`, alone or in a block, without an else: an elaboration check."""
    if node.kind != syntax.SyntaxKind.IfGenerate or node.elseClause is not None:
        return False
    block = node.block
    members = [block] if block.kind != syntax.SyntaxKind.GenerateBlock else list(block.members)
    return bool([item.kind for item in members] == [syntax.SyntaxKind.ElabSystemTask])


def names_of(path: Path) -> set[str]:
    """Modules that a file instantiates and packages that it refers to."""
    return set(_names_of(path.read_text(), str(path)))


@functools.cache
def _names_of(text: str, name: str) -> frozenset[str]:
    names: set[str] = set()

    def visit(node: Any) -> None:
        kind = getattr(node, "kind", None)
        if kind == syntax.SyntaxKind.HierarchyInstantiation:
            names.add(node.type.valueText)
        elif kind == syntax.SyntaxKind.ScopedName and node.separator.valueText == "::":
            names.add(node.left.getFirstToken().valueText)

    for defines in ((), ("FORMAL", "NG_LEMMAS")):  # proofs see more of a file
        parse_text(text, name, defines).root.visit(visit)
    return frozenset(names)


def declared(path: Path) -> list[str]:
    """Modules, packages and interfaces of a file, in order."""
    tree = parse(path)  # has to live as long as its nodes are read
    members = getattr(tree.root, "members", [])
    return [item.header.name.valueText for item in members if isinstance(item, syntax.ModuleDeclarationSyntax)]


class Module:
    """A module elaborated by itself, with parameters overridden; modules below it are not looked at."""

    def __init__(self, top: str, files: list[Path], params: dict[str, int] | None = None):
        """`files` hold `top` and the packages that it refers to."""
        options = slang.CompilationOptions()
        # A view, not a copy: the string has to live as long as the options are read.
        options.topModules = {top}
        options.paramOverrides = [f"{name}={value}" for name, value in (params or {}).items()]
        # What other files have is not needed for a module's own names.
        options.flags |= slang.CompilationFlags.IgnoreUnknownModules
        manager = pyslang.SourceManager()
        self._compilation = slang.Compilation(pyslang.Bag([options]))
        for path in files:
            self._compilation.addSyntaxTree(syntax.SyntaxTree.fromFile(str(path), manager))
        found = [item for item in self._compilation.getRoot().topInstances if item.name == top]
        if not found:
            raise SourceError(
                f'module "{top}" is not in {", ".join(map(str, files))}; expected its name to be the file\'s'
            )
        self.name = top
        self._body = found[0].body

    @property
    def parameters(self) -> dict[str, int]:
        """The parameters that an instance may set, in order, with their values."""
        found = {}
        for item in self._body.parameters:
            if isinstance(item, slang.ParameterSymbol) and item.isPortParam and not item.isLocalParam:
                found[item.name] = number(item)
        return found

    @property
    def switches(self) -> set[str]:
        """Those of the parameters that are one bit."""
        return {item.name for item in self._body.parameters if item.name in self.parameters and item.type.bitWidth == 1}

    @property
    def ports(self) -> list[Port]:
        directions = {"In": "in", "Out": "out", "InOut": "inout"}
        return [
            Port(item.name, directions[item.direction.name], item.type.bitWidth, item.type.isSigned)
            for item in self._body.portList
        ]

    def named(self, name: str) -> int:
        """The value of a constant, or the width in bits of the one signal of that name, generate blocks included, or of
        a field of one: beside.shift."""
        name, _, field = name.partition(".")
        found: list[Any] = [item for item in self._symbols() if item.name == name]
        if field:
            found = [each for item in found for each in item.type.canonicalType if each.name == field]
        values = {number(item) if isinstance(item, slang.ParameterSymbol) else item.type.bitWidth for item in found}
        if len(values) != 1:
            raise SourceError(f'name "{name}" of {self.name} stands for {len(values)} widths or values; expected one')
        return values.pop()

    def _symbols(self) -> Iterator[Any]:
        found: list[Any] = []

        def visit(item: Any) -> Any:
            if isinstance(item, slang.ParameterSymbol | slang.VariableSymbol | slang.NetSymbol):
                found.append(item)
            if isinstance(item, slang.InstanceSymbol):
                return slang.VisitAction.Skip
            return slang.VisitAction.Advance

        self._body.visit(visit)
        return iter(found)


def constants(path: Path) -> dict[str, int]:
    """The numbers of a package, as other files name them: ng_format_pkg::NanIeee."""
    compilation = slang.Compilation()
    compilation.addSyntaxTree(syntax.SyntaxTree.fromFile(str(path), pyslang.SourceManager()))
    package = compilation.getPackage(path.stem)
    if package is None:
        raise SourceError(f'package "{path.stem}" is not in {path}; expected its name to be the file\'s')
    return {f"{path.stem}::{item.name}": number(item) for item in package if isinstance(item, slang.ParameterSymbol)}


def number(parameter: Any) -> int:
    """The value of an integer constant."""
    value = parameter.value.value
    if not isinstance(value, pyslang.SVInt):
        raise SourceError(f'parameter "{parameter.name}" is {parameter.value}; expected an integer')
    return int(value)
