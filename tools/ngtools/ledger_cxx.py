# SPDX-License-Identifier: Apache-2.0
"""The C++ that a testbench runs, as a product for the ledger: the definitions that its `main` reaches by name, in it and in
what it includes, without comments and layout.

No compiler takes part, so that the product is the same on every machine. Whatever is not surely out of reach counts: a
definition is left out only where nothing that is reached names it. Always kept are variables that are no constants,
operators, macro calls, constructors, virtual functions, and all members of a class that has bases.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import NamedTuple

TOKEN = re.compile(
    r'(?P<directive>^[ \t]*#(?:\\\n|[^\n])*)|R"(?P<mark>[^(\s"]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    r"|\d(?:[\w.]|'(?=\w)|(?<=[eEpP])[+-])*|[A-Za-z_]\w*|::|->|\S",
    re.S | re.M,
)
NAME = re.compile(r"[A-Za-z_]\w*")
CLOSING = {"(": ")", "[": "]", "{": "}"}
CLASSES = ("class", "struct", "union", "enum")
# Called by the language, or by a library, without being named.
IMPLICIT = frozenset(("main", "sc_main", "begin", "end", "get", "swap", "PrintTo", "what", "operator"))


class Unit(NamedTuple):
    """A definition. `names` empty: it always counts. `inside`: the class that it is a member of, which counts first."""

    names: frozenset[str]
    inside: frozenset[str]
    digest: str
    uses: frozenset[str]


class Unreadable(ValueError):
    """Braces that do not pair, as across the branches of an #if; the whole file counts then."""


class _Reader:
    def __init__(self, code: str) -> None:
        self.tokens = [" ".join(match[0].split()) if match["directive"] else match[0] for match in TOKEN.finditer(code)]
        self.conditions: list[str] = []
        self.units: list[Unit] = []

    def at(self, i: int) -> str:
        return self.tokens[i] if i < len(self.tokens) else ""

    def behind(self, i: int) -> int:
        """Index behind the group that opens at `i`."""
        closing = [CLOSING[self.tokens[i]]]
        while closing:
            i += 1
            token = self.at(i)
            if token == "":
                raise Unreadable
            if token in CLOSING:
                closing.append(CLOSING[token])
            elif token == closing[-1]:
                closing.pop()
            elif token in CLOSING.values():
                raise Unreadable
        return i + 1

    def behind_angle(self, i: int) -> int:
        depth = 0
        while True:
            token = self.at(i)
            depth += (token == "<") - (token == ">")
            if token in ("", ";", "{", "}"):
                raise Unreadable
            i = self.behind(i) if token in CLOSING else i + 1
            if depth == 0:
                return i

    def directive(self, text: str) -> None:
        word = re.match(r"#\s*(\w*)", text)
        match word[1] if word else "":
            case "if" | "ifdef" | "ifndef":
                self.conditions.append(text)
            case "elif" | "else":
                if not self.conditions:
                    raise Unreadable
                self.conditions[-1] += " " + text
            case "endif":
                if not self.conditions:
                    raise Unreadable
                self.conditions.pop()
            case "define" | "undef":
                self.add([text], "", {text.split()[1].partition("(")[0]})
            case "pragma" if text.split()[1:] != ["once"]:
                self.add([text], "", ())

    def add(self, tokens: list[str], scope: str, names: Iterable[str], inside: Iterable[str] = ()) -> None:
        text = "\n".join([scope, *self.conditions, *tokens])
        strings_out = [token for token in (*self.conditions, *tokens) if token[0] not in "\"'"]
        uses = frozenset(NAME.findall("\n".join(strings_out)))
        names = frozenset(names)
        self.units.append(
            Unit(names, frozenset(inside), hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest(), uses)
        )

    def scope(self, i: int, scope: str) -> int:
        """Reads a namespace up to its brace or the end of the text."""
        while (token := self.at(i)) not in ("", "}"):
            if token[0] == "#":
                self.directive(token)
                i += 1
            elif token == ";":
                i += 1
            else:
                i = self.statement(i, scope)
        return i

    def statement(self, i: int, scope: str) -> int:
        j = i + (self.at(i) == "inline")
        opening = j + 1
        if self.at(j) == "namespace":
            while self.at(opening) not in ("{", "=", ";", ""):
                opening += 1
        elif not (self.at(j) == "extern" and self.at(j + 1)[:1] == '"'):
            opening = -1
        elif self.at(j + 2) == "{":
            opening = j + 2
        if opening >= 0 and self.at(opening) == "{":
            end = self.scope(opening + 1, scope + " " + " ".join(self.tokens[j:opening]))
            if self.at(end) != "}":
                raise Unreadable
            return end + 1
        parts = Parts(self, i)
        tokens = self.tokens[i : parts.end]
        if tokens[0] == "static_assert":
            return parts.end
        if parts.kind == "class" and parts.body and tokens[0] != "typedef" and not parts.bases and parts.names:
            self.class_members(i, parts, scope)
        else:
            self.add(tokens, scope, parts.names)
        return parts.end

    def class_members(self, i: int, parts: Parts, scope: str) -> None:
        """The class as one unit but for its plain member functions, which count where they are named."""
        begin, end = parts.body
        kept = self.tokens[i : begin + 1]
        own, depth = f"{scope} {' '.join(sorted(parts.names))}", len(self.conditions)
        j = begin + 1
        while j < end - 1:
            token = self.at(j)
            if token[0] == "#":
                self.directive(token)
                kept.append(token)
                j += 1
            elif token == ";" or (token in ("public", "private", "protected") and self.at(j + 1) == ":"):
                j += 1 + (token != ";")
            else:
                member = Parts(self, j)
                if member.end > end - 1:
                    raise Unreadable
                tokens = self.tokens[j : member.end]
                if member.kind == "function" and member.names and not member.names & parts.names and not member.virtual:
                    self.add(tokens, own, member.names, parts.names)
                else:
                    kept += tokens
                j = member.end
        if len(self.conditions) != depth:
            raise Unreadable
        self.add([*kept, *self.tokens[end - 1 : parts.end]], scope, parts.names)


class Parts:
    """One declaration: where it ends, what kind it is, and the names by which it can be reached; none where it always counts."""

    def __init__(self, reader: _Reader, i: int) -> None:
        at, first = reader.at, i
        self.kind, self.names, self.bases, self.virtual = "other", frozenset[str](), False, False
        self.body: tuple[int, int] | tuple[()] = ()
        while at(i) == "template" and at(i + 1) == "<":
            i = reader.behind_angle(i + 1)
        head, paren, equals, block, operator, angle = i, -1, -1, -1, False, 0
        commas: list[int] = []
        while at(i) != ";":
            token = at(i)
            if token in ("", "}", ")", "]"):
                raise Unreadable
            if token == "operator" and paren < 0:
                operator = True
                i += 1
                while at(i) != "(":
                    if at(i) in ("", ";", "{"):
                        raise Unreadable
                    i += 1
                i += 2 if at(i + 1) == ")" and at(i + 2) == "(" else 0
                paren = i
                continue
            if token == "(" and paren < 0 and equals < 0 and block < 0 and at(i - 1) not in ("alignas", "decltype"):
                paren = i
            if token == "=" and equals < 0 and block < 0:
                equals = i
            if token == "," and equals < 0 and angle == 0:
                commas.append(i)
            if equals < 0 and paren < 0:
                angle += (token == "<") - (token == ">")
            if token == "{":
                block = i if block < 0 else block
                end = reader.behind(i)
                plain = not any(
                    reader.tokens[k] in CLASSES for k in range(head, min(block, paren) if paren > 0 else block)
                )
                if paren >= 0 and equals < 0 and plain and at(end) not in ("{", ",", "catch", ";"):
                    i = end - 1
                    break
                i = end
                continue
            i = reader.behind(i) if token in CLOSING else i + 1
        self.end = i + 1
        tokens = reader.tokens
        stop = min(k for k in (paren, equals, block, i) if k >= 0)
        before = tokens[head:stop]
        first_token = tokens[head]
        if first_token in ("friend", "static_assert", "namespace") or operator:
            return
        if first_token == "using":
            self.names = frozenset(tokens[head + 1 : head + 2]) if at(head + 2) == "=" else frozenset()
        elif first_token == "concept":
            self.names = frozenset(tokens[head + 1 : head + 2])
        elif first_token == "typedef":
            self.names = frozenset(NAME.findall(" ".join(tokens[head + 1 : i])))
        elif any(token in CLASSES for token in before):
            self.class_parts(reader, head, first, block, i)
        elif paren >= 0 and stop == paren:
            self.function_parts(tokens, head, paren, first, reader.behind(paren))
        elif "constexpr" in before or "constinit" in before or first_token == "extern":
            ends = [k for k in (*commas, *range(equals, i), stop) if k >= 0 and tokens[k] in ("=", ",", "{", "[", ";")]
            self.names = frozenset(tokens[k - 1] for k in ends if NAME.fullmatch(tokens[k - 1]))

    def class_parts(self, reader: _Reader, head: int, first: int, block: int, end: int) -> None:
        self.kind = "class"
        tokens = reader.tokens
        j = next(k for k in range(head, end) if tokens[k] in CLASSES)
        enum = tokens[j] == "enum"
        stop = block if block >= 0 else end
        names: set[str] = set()
        k = j + 1
        while k < stop and tokens[k] not in (":", "<"):
            if tokens[k] in CLOSING:
                k = reader.behind(k)
                continue
            if NAME.fullmatch(tokens[k]) and tokens[k] not in (*CLASSES, "final", "alignas"):
                names.add(tokens[k])
            k += 1
        self.bases = k < stop and tokens[k] == ":" and not enum
        if block >= 0:
            behind = reader.behind(block)
            self.body = () if enum else (block, behind)
            names |= {token for token in tokens[behind:end] if NAME.fullmatch(token)}
            if enum:
                names |= {token for token in tokens[block:behind] if NAME.fullmatch(token)}
        if tokens[first : first + 3] != ["template", "<", ">"]:  # a specialization is reached unnamed
            self.names = frozenset(names)

    def function_parts(self, tokens: list[str], head: int, paren: int, first: int, behind: int) -> None:
        name = tokens[paren - 1]
        # A call of a macro has nothing before its name; a constructor of an object at start has values behind it.
        values = any(token[0] in "\"'" or token[0].isdigit() for token in tokens[paren:behind] if token)
        body = tokens[self.end - 1] == "}"
        if paren - 1 <= head or not NAME.fullmatch(name) or (values and not body and "=" not in tokens[paren:behind]):
            return
        if tokens[first : first + 3] == ["template", "<", ">"] or tokens[paren - 2] == "~":
            return
        self.kind = "function"
        self.names = frozenset((name,))
        rest = tokens[head:paren] + tokens[behind : self.end]
        opening = rest.index("{") if "{" in rest else len(rest)
        self.virtual = any(word in rest[:opening] for word in ("virtual", "override", "final"))


def units(code: str) -> list[Unit]:
    """The definitions of a file, whose comments are gone."""
    reader = _Reader(code)
    try:
        if reader.scope(0, "") != len(reader.tokens) or reader.conditions:
            raise Unreadable
    except (Unreadable, IndexError):
        reader.units, reader.conditions = [], []
        reader.add(reader.tokens, "", ())
    return reader.units


def reached(roots: list[list[Unit]], others: list[list[Unit]]) -> list[str]:
    """Digests of what counts; without a `main` in the roots (a header, a library), all that is in them."""
    names = set(IMPLICIT)
    todo = [unit for file in others for unit in file]
    mine = [unit for file in roots for unit in file]
    found: list[Unit] = []
    if any(unit.names & {"main", "sc_main"} for unit in mine):
        todo += mine
    else:
        found = mine
        names.update(*(unit.uses for unit in mine))
    grown = True
    while grown:
        grown = False
        left = []
        for unit in todo:
            if (not unit.names or unit.names & names) and (not unit.inside or unit.inside & names):
                found.append(unit)
                grown = grown or not unit.uses <= names
                names |= unit.uses
            else:
                left.append(unit)
        todo = left
    return sorted({unit.digest for unit in found})
