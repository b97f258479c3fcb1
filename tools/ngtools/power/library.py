# SPDX-License-Identifier: Apache-2.0
"""A cell library of one or several Liberty files: where they are, what is left out, and one file for Yosys, ABC and OpenSTA.

Debian's qflow-tech-osu* packages are read where they are installed. The open libraries asap7, sky130hd and sg13g2 are found
in the folder that the environment variable NG_LIBERTY names; their entries in power/technologies/ have the names of their
files and the cells that are not mapped to.
"""

from __future__ import annotations

import fnmatch
import gzip
import json
import os
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from liberty.parser import parse_liberty

from ngtools.ngflow import ROOT, FlowError

QFLOW = Path("/usr/share/qflow/tech")
# Named technologies of Debian's packages, never copied into the project.
TECHNOLOGIES = {
    "osu018": QFLOW / "osu018" / "osu018_stdcells.lib",
    "osu035": QFLOW / "osu035" / "osu035_stdcells.lib",
    "osu050": QFLOW / "osu050" / "osu05_stdcells.lib",
}
ENTRIES = ROOT / "power" / "technologies"
FOLDER = "NG_LIBERTY"
# Statements of a library that the files of one library have in common, or they are of several.
COMMON = (
    "time_unit",
    "voltage_unit",
    "current_unit",
    "leakage_power_unit",
    "pulling_resistance_unit",
    "capacitive_load_unit",
    "nom_voltage",
    "nom_temperature",
    "slew_lower_threshold_pct_rise",
    "slew_upper_threshold_pct_rise",
    "input_threshold_pct_rise",
    "slew_derate_from_library",
)
TEMPLATES = ("lu_table_template", "power_lut_template")
# What other tools read and Liberty's grammar does not have: remarks to the end of a line, and
# semicolons behind a brace or another semicolon, as Nangate45 has them.
STRAY = re.compile(r"//|[{};][\s\\]*(?:/\*(?:[^*]|\*(?!/))*\*/[\s\\]*)*;")
TOKEN = re.compile(
    r'(?P<remark>//[^\n]*)|(?P<mark>[;{}])|(?P<kept>/\*.*?\*/|"(?:[^"\\]|\\.)*"|[^\s;{}"/]+|/)|\s+', re.DOTALL
)
# A comment, a string, the head of a group with its name and arguments, or a brace.
PART = re.compile(
    r'/\*.*?\*/|"(?:[^"\\]|\\.)*"|\b(?P<name>[A-Za-z_]\w*)\s*\((?P<args>[^(){};]*)\)\s*\{|[{}]', re.DOTALL
)


class LibertyError(FlowError):
    """The text names the file, the cell, what is wrong and what to do."""


@dataclass(frozen=True)
class Library:
    name: str
    files: tuple[Path, ...]
    exclude: tuple[str, ...] = ()  # cells, with * and ?, that no netlist is mapped to
    keep: tuple[str, ...] = ()  # cells that stay though `exclude` names them


@dataclass
class Group:
    """name (argument) { ... }: the text from `start` to `end`, what is between the braces from `body`."""

    name: str
    argument: str
    start: int
    body: int
    end: int
    depth: int
    head: tuple[int, int]  # of the arguments


def groups(text: str) -> Iterator[Group]:
    """All groups of a Liberty text, inner ones first."""
    open_: list[Group | None] = []
    for part in PART.finditer(text):
        if part["name"]:
            argument = part["args"].replace('"', "").strip()
            found = Group(part["name"], argument, part.start(), part.end(), -1, len(open_), part.span("args"))
            open_.append(found)
        elif part[0] == "{":
            open_.append(None)
        elif part[0] == "}":
            if not open_:
                raise ValueError("a '}' too many")
            closed = open_.pop()
            if closed:
                closed.end = part.end()
                yield closed
    if open_:
        raise ValueError("a '}' is missing")


def without(text: str, spans: list[tuple[int, int]]) -> str:
    """The text without these parts; inner ones may be listed, too."""
    kept, at = [], 0
    for start, end in sorted(spans):
        if start >= at:
            kept.append(text[at:start])
        at = max(at, end)
    return "".join([*kept, text[at:]])


def source(path: Path) -> str:
    """The text of a Liberty file, packed by gzip or not; comments that are not UTF-8 are Latin-1."""
    try:
        content = path.read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise LibertyError(f'Liberty file "{path}" cannot be unpacked; expected all of a gzip file: {error}') from None
    except OSError as error:
        raise LibertyError(
            f"Liberty file {path} cannot be read ({error.strerror}); for osu018, osu035, osu050 install Debian's "
            "qflow-tech-osu018, -osu035, -osu050"
        ) from None
    try:
        decoded = content.decode()
    except UnicodeDecodeError:
        decoded = content.decode("latin-1")
    return decoded.replace("\r\n", "\n").replace("\r", "\n")


def tidied(text: str) -> str:
    """The text without remarks to the end of a line and without stray semicolons; the same text if it has none."""
    if not STRAY.search(text):
        return text
    kept, before, position = [], ";", 0
    for token in TOKEN.finditer(text):
        kept.append(text[position : token.start()])  # what is no token, as a '"' without its end
        position = token.end()
        stray = token["mark"] == ";" and before in ("{", "}", ";")
        if not stray and not token["remark"]:
            kept.append(token[0])
        if token["mark"]:
            before = token["mark"]
        elif token["kept"] and not token[0].startswith("/*") and token[0] != "\\":
            before = token["kept"]
    return "".join([*kept, text[position:]])


# ---------------------------------------------------------------- where they are


def entry(technology: str) -> dict:
    """What power/technologies/ says of its Liberty files; empty if it has none of its own."""
    path = ENTRIES / f"{technology}.json"
    return json.loads(path.read_text()).get("liberty", {}) if path.exists() else {}


def open_technologies() -> list[str]:
    return sorted(path.stem for path in ENTRIES.glob("*.json") if entry(path.stem))


def liberty_file(technology: str) -> Path:
    """Of one of Debian's packages."""
    path = TECHNOLOGIES[technology]
    if not path.exists():
        # ctest skips what needs the library by this sentence.
        raise LibertyError(
            f"the Liberty library of {technology} is not installed ({path} is missing): it is in the package "
            f"qflow-tech-{technology} of Debian 12, which later releases lack; install that, or give --liberty FILE"
        )
    return path


def find_library(technology: str) -> Library:
    if technology in TECHNOLOGIES:
        return Library(technology, (liberty_file(technology),))
    if technology not in open_technologies():
        known = ", ".join([*TECHNOLOGIES, *open_technologies()])
        raise LibertyError(f"technology '{technology}' is not known; known: {known}; or give --liberty FILE")
    wanted = entry(technology)
    folder = os.environ.get(FOLDER, "")
    files = []
    for pattern in wanted["files"]:
        found = sorted(path for end in ("", ".gz") for path in Path(folder).glob(pattern + end)) if folder else []
        if not found:
            where = f"{Path(folder) / pattern} is missing" if folder else f"the variable {FOLDER} is not set"
            raise LibertyError(
                f"the Liberty library of {technology} is not installed ({where}): set {FOLDER} to the folder that "
                f"has {', '.join(wanted['files'])}, packed by gzip or not ({wanted['where']})"
            )
        files.append(found[0])
    return Library(technology, tuple(files), tuple(wanted["exclude"]))


def own_library(files: list[Path], exclude: list[str]) -> Library:
    """Of --liberty: named after its first file."""
    return Library(files[0].name.removesuffix(".gz").removesuffix(".lib"), tuple(files), tuple(exclude))


# ---------------------------------------------------------------- one file for the tools


@dataclass
class Text:
    """A Liberty file, taken apart as far as a merged one needs it."""

    path: Path
    text: str
    cells: dict[str, Group] = field(default_factory=dict)
    templates: dict[tuple[str, str], Group] = field(default_factory=dict)
    wire_loads: list[Group] = field(default_factory=list)
    whole: Group | None = None

    def __post_init__(self) -> None:
        for group in groups(self.text):
            if group.depth == 0:
                self.whole = group
            elif group.depth == 1 and group.name == "cell":
                self.cells[group.argument] = group
            elif group.depth == 1 and group.name in TEMPLATES:
                self.templates[group.name, group.argument] = group
            elif group.depth == 1 and group.name.startswith("wire_load"):
                self.wire_loads.append(group)

    def of(self, group: Group) -> str:
        return self.text[group.start : group.end]

    def head(self) -> str:
        """From the library's brace on, without cells, wire loads and the closing brace."""
        assert self.whole is not None
        away = [(g.start, g.end) for g in [*self.cells.values(), *self.wire_loads]]
        away += [m.span() for m in re.finditer(r"\bdefault_wire_load\w*\s*:[^;]*;", self.text)]
        away += [(0, self.whole.start), (self.whole.end - 1, len(self.text))]
        return without(self.text, away)

    def common(self) -> dict[str, str]:
        head = self.head()
        found = {key: re.search(rf"\b{key}\s*[:(]\s*([^;)]*)", head) for key in COMMON}
        return {key: re.sub(r'["\s]', "", match[1]) if match else "" for key, match in found.items()}


def squeezed(text: str) -> str:
    return re.sub(r'[\s"\\]+', "", text)


def merged(texts: list[Text], keep: set[str]) -> str:
    """One library: the head of the first file, everybody's templates, these cells. A template whose name another file
    has for other axes gets a name of its own."""
    first = texts[0]
    parts = [first.head()]
    known = {key: squeezed(first.text[group.body : group.end]) for key, group in first.templates.items()}
    for number, one in enumerate(texts):
        if one is not first and (different := [k for k, v in one.common().items() if v != first.common()[k]]):
            key = different[0]
            raise LibertyError(
                f'Liberty file "{one.path}" has {key} "{one.common()[key]}", "{first.path}" has '
                f'"{first.common()[key]}"; expected files of one library at one corner'
            )
        renamed: dict[str, str] = {}
        for key, group in one.templates.items() if one is not first else ():
            body = squeezed(one.text[group.body : group.end])
            if key in known and known[key] != body:
                renamed[key[1]] = f"{key[1]}_of_{number}"
            elif key in known:
                continue
            known[key[0], renamed.get(key[1], key[1])] = body
            parts.append(f"  {key[0]} ({renamed.get(key[1], key[1])}) {{{one.text[group.body : group.end]}\n")
        for name, cell in one.cells.items():
            if name in keep:
                parts.append("  " + upright(with_templates(one.of(cell), renamed)) + "\n")
    return "".join([*parts, "}\n"])


def with_templates(cell: str, renamed: dict[str, str]) -> str:
    if not renamed:
        return cell
    result = cell
    for group in sorted(groups(cell), key=lambda g: -g.start):
        if group.argument in renamed and group.depth > 0 and group.name not in ("cell", "pin"):
            begin, end = group.head
            result = result[:begin] + renamed[group.argument] + result[end:]
    return result


def upright(cell: str) -> str:
    """A flip-flop that holds the inverse of its data, described as one that holds its data and shows the inverse: set and
    clear change places. It is the same cell, but Yosys 0.23 resets the first kind to the wrong value (it inverts the
    data and forgets to do so with the value of reset)."""
    found = [group for group in groups(cell) if group.name == "ff" and group.depth == 1]
    if not found:
        return cell
    ff = found[0]
    body = parse_liberty(cell[ff.start : ff.end])
    data = re.fullmatch(r"!\s*(\w+)|(\w+)\s*'", str(body.get("next_state")).strip('"'))
    if not data:
        return cell
    swap = {"clear": "preset", "preset": "clear", "clear_preset_var1": "clear_preset_var2"}
    swap |= {"clear_preset_var2": "clear_preset_var1"}
    lines = [f'next_state : "{data[1] or data[2]}";']
    for name in ("clocked_on", *swap):
        if body.get(name) is not None:
            lines.append(f'{swap.get(name, name)} : "{str(body[name]).strip(chr(34))}";')
    state, inverse = (str(name).strip('"') for name in body.args)
    made = f"ff ({inverse}, {state}) {{ {' '.join(lines)} }}"
    # The outputs show what they showed: the names of the state and its inverse have changed places, too.
    return cell[: ff.start] + made + cell[ff.end :]


def for_tools(library: Library, technology: dict, folder: Path) -> Path:
    """The file that Yosys, ABC and OpenSTA read: the library's own if it is one plain file that they can read as it is,
    otherwise mapping.lib in `folder`, of the cells that can be simulated and without wire loads."""
    texts = [Text(path, tidied(source(path))) for path in library.files]
    plain = library.files[0].read_bytes() == texts[0].text.encode()
    left_out = library.exclude or any("dont_use" in reason for reason in technology["skipped"].values())
    if len(texts) == 1 and plain and not texts[0].wire_loads and not left_out:
        return library.files[0].resolve()
    path = folder / "mapping.lib"
    path.write_text(merged(texts, set(technology["cells"])))
    return path


def excluded(library: Library, cell: str) -> bool:
    return cell not in library.keep and any(fnmatch.fnmatchcase(cell, pattern) for pattern in library.exclude)
