# SPDX-License-Identifier: Apache-2.0
"""Markdown with a sentence a line, as the manual's pages have it in their source."""

from __future__ import annotations

import re

# Lines that are not prose: headings, tables, comments, fences, indented blocks.
APART = re.compile(r"#|\||<!--|```|    |!\[|$")
ITEM = re.compile(r"(\s*)(?:[-*]|\d+\.) ")
# An end is followed by a space and what begins a sentence; not within code or after an abbreviation.
END = re.compile(r"(`[^`]*`)|((?<!e\.g)(?<!i\.e)[.!?][)\"]?) (?=[A-Z`*\[\"(])")


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph."""
    return END.sub(lambda match: match[1] or match[2] + "\n", text).split("\n")


def faults(page: str) -> list[str]:
    """Lines of prose that hold more than one sentence, or end within one; initials of names end none."""
    found = []
    lines = page.split("\n")
    fenced = False
    for number, line in enumerate(lines, 1):
        fenced ^= line.startswith("```")
        if fenced or APART.match(line) or line.startswith(("```", ">", "  |")):
            continue
        text = ITEM.sub("", line).strip()
        if any(not re.search(r"\b[A-Z]\.$", sentence) for sentence in sentences(text)[:-1]):
            found.append(f"line {number} has more than one sentence: {line[:60]}")
        below = lines[number] if number < len(lines) else ""
        if (
            below.strip()
            and not APART.match(below)
            and not ITEM.match(below)
            and not re.search(r"[.!?:;][*)\"`_]*$", text)
        ):
            found.append(f"line {number} ends within a sentence: {line[-60:]}")
    return found


def a_sentence_a_line(page: str) -> str:
    """The page with its paragraphs and list items joined and parted anew; what follows in a list item is indented below its text."""
    out: list[str] = []
    paragraph: list[str] = []
    fenced = False

    def flush() -> None:
        if paragraph:
            item = ITEM.match(paragraph[0])
            begin = item[0] if item else ""
            text = " ".join([paragraph[0][len(begin) :].rstrip(), *(line.strip() for line in paragraph[1:])])
            out.extend((" " * len(begin) if at else begin) + line for at, line in enumerate(sentences(text)))
            paragraph.clear()

    for line in page.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
        if fenced or APART.match(line):
            flush()
            out.append(line)
        else:
            if ITEM.match(line):
                flush()
            paragraph.append(line)
    flush()
    return "\n".join(out)
