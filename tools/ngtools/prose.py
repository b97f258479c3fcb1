# SPDX-License-Identifier: Apache-2.0
"""Markdown with a sentence a line, and what a machine can hold of the rules for prose.

prose.py              files with more faults of style than prose_baseline.json allows
prose.py --record     lowers the baseline to what there is; it never rises
prose.py FILE         all faults of a file
prose.py --words      words of README.md and each page of docs/, the longest first, as wc -w counts them (bars of tables too)
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

# Lines that are not prose: headings, tables, comments, fences, indented blocks.
APART = re.compile(r"#|\||<!--|```|    |!\[|$")
ITEM = re.compile(r"^(\s*)(?:[-*]|\d+\.) ")
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
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        if fenced or fence or APART.match(line) or line.startswith((">", "  |")):
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


# --- style: what a machine can hold of the rules for prose ------------------------------------------------------------------

WORDS = 25  # of a sentence or of a cell
ROOT = Path(__file__).resolve().parents[2]
BASELINE = Path(__file__).with_name("prose_baseline.json")
LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\([^)\s]*\)")
GENERATED = re.compile(r"<!-- (?P<name>[\w-]+): begin[^>]*-->.*?<!-- (?P=name): end[^>]*-->", re.DOTALL)
# A sentence whose subject is a clause; a question may begin so, and an adverbial clause ends in a comma.
CLAUSE = re.compile(r"(What|Whatever|Who|Whoever|Whether|Which)\s(?!is more\b)|That (the|a|an|all|no|each|it|they)\b")
HOW = re.compile(r"How [^,:]*\b(is|are|has|have|stands?|says?|follows?|depends?)\b")
VAGUE = re.compile(
    r"\b(likewise|as (?:it|they) (?:was|were)|the other two|of these|as before|as above)\b", re.IGNORECASE
)
# An inline comment that goes on from what stands before it, or from the comment above.
FRAGMENT = re.compile(
    r"(?:likewise|also|too|ditto|and|or|but|so|as (?:above|before|it|they|the)|the same|the other|its|their|of (?:it|them|these|which)"
    r"|which|whose|behind it|beside it|of that)\b",
    re.IGNORECASE,
)


def words(sentence: str) -> int:
    """Words of a sentence; code, a link and a formula in dollars are a word each, as a reader takes them."""
    text = re.sub(r"`[^`]*`|\$[^$]*\$", "code", LINK.sub(lambda match: match[1], sentence))
    return len(re.findall(r"[A-Za-z0-9][^\s]*", text))


def style_faults(page: str) -> list[str]:
    """Sentences and cells of a page that break the rules of style; what is generated is skipped."""
    page = GENERATED.sub(lambda match: "\n" * match[0].count("\n"), page)
    found: list[str] = []
    fenced = False
    for number, line in enumerate(page.split("\n"), 1):
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        if fenced or fence or line.startswith(("#", "<!--", "    ", "![")):
            continue
        if line.lstrip().startswith("|"):
            parts = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
            found += [
                f"line {number}: a cell of {words(cell)} words; expected at most {WORDS}: {cell[:50]}"
                for cell in parts
                if words(cell) > WORDS
            ]
            continue
        for sentence in sentences(ITEM.sub("", line).strip()):
            plain = sentence.lstrip("(")  # a lead-in in bold is a heading
            count = words(sentence)
            if count > WORDS:
                found.append(f"line {number}: a sentence of {count} words; expected at most {WORDS}: {sentence[:50]}")
            if re.sub(r"`[^`]*`", "", sentence).count(";") > 1:
                found.append(f"line {number}: a sentence with more than one semicolon: {sentence[:50]}")
            if not plain.endswith("?") and (CLAUSE.match(plain) or HOW.match(plain)):
                found.append(f"line {number}: the subject is a clause; expected a noun: {sentence[:50]}")
            if vague := VAGUE.search(re.sub(r"`[^`]*`", "", sentence)):
                found.append(f'line {number}: "{vague[0]}" has its noun elsewhere: {sentence[:50]}')
    return found


def comment_fragments(source: str) -> list[str]:
    """Inline comments of SystemVerilog, C or C++ that begin as a fragment and do not stand alone."""
    found = []
    for number, line in enumerate(source.split("\n"), 1):
        code, mark, comment = line.partition("// ")
        if mark and code.strip() and FRAGMENT.match(comment):
            found.append(f"line {number}: a comment that does not stand alone: {comment[:50]}")
    return found


def checked() -> dict[str, list[str]]:
    """The faults of style of each page and RTL file of the repository."""
    pages = sorted(ROOT.glob("*.md")) + sorted((ROOT / "docs").rglob("*.md"))
    made = {path: style_faults(path.read_text()) for path in pages if "GENERATED" not in path.read_text()[:400]}
    made |= {path: comment_fragments(path.read_text()) for path in sorted((ROOT / "rtl").rglob("*.sv"))}
    return {str(path.relative_to(ROOT)): faults for path, faults in made.items()}


def grown(now: dict[str, list[str]], allowed: dict[str, int]) -> list[str]:
    """Faults of the files that have more of them than the baseline allows; the baseline has no entry for a clean file."""
    return [
        f"{name}: {len(found)} faults of style; expected at most {allowed.get(name, 0)}\n  " + "\n  ".join(found[:8])
        for name, found in now.items()
        if len(found) > allowed.get(name, 0)
    ]


def lowered(now: dict[str, list[str]], allowed: dict[str, int]) -> dict[str, int]:
    """The baseline of today: no file has more than before, and files that are clean or gone leave it."""
    least = {name: min(count, len(now.get(name, []))) for name, count in allowed.items()}
    return {name: count for name, count in sorted(least.items()) if count}


def lengths() -> dict[str, int]:
    """Words of the manual, the longest page first."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    found = {str(path.relative_to(ROOT)): len(path.read_text().split()) for path in pages}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))


def main() -> int:
    """prose.py [--record] [FILE...]: faults of style of files; without files, those beyond the baseline, which --record lowers."""
    if sys.argv[1:] == ["--words"]:
        found = lengths()
        print(*(f"{count:7} {name}" for name, count in {**found, "together": sum(found.values())}.items()), sep="\n")
        return 0
    record = "--record" in sys.argv[1:]
    named = [name for name in sys.argv[1:] if name != "--record"]
    allowed = json.loads(BASELINE.read_text()) if BASELINE.exists() else {}
    now = checked()
    if named:
        names = [str(Path(name).resolve().relative_to(ROOT)) for name in named]
        wrong = [fault for name in names for fault in now.get(name, [])] if len(names) == 1 else []
        wrong = wrong or grown({name: now.get(name, []) for name in names}, allowed)
    else:
        wrong = grown(now, allowed)
    if record:
        BASELINE.write_text(json.dumps(lowered(now, allowed), indent=1) + "\n")
    print(*wrong, sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
