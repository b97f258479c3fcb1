# SPDX-License-Identifier: Apache-2.0
"""The manual's page of the registers."""

from __future__ import annotations

from systemrdl import AddrmapNode

from ngtools.prose import a_sentence_a_line
from ngtools.registers.source import MARK, Field, Reg, enums

DOUBLE = "64-bit registers"


def sentence(text: str | None) -> str:
    text = " ".join((text or "").split())
    text = text[:1].upper() + text[1:]
    return text if not text or text.endswith(".") else text + "."


def conditions(reg: Reg) -> list[str]:
    """Where a register is there, and where it counts."""
    found = [f"Only if `{reg.exists_if}`."] if reg.exists_if else []
    return found + ([f"Reads as zero unless `{reg.condition}`."] if reg.condition else [])


def field_line(field: Field) -> str:
    bits = f"{field.low + field.width - 1}:{field.low}" if field.width > 1 else str(field.low)
    value = field.node.get_property("ng_value", default=None)
    text = field.node.get_property("desc") + (f" (`{value}`)" if value else "")
    if field.enum:
        title = field.enum.type_name
        text += f": [{title}](#values-of-{title.lower()})"
    return f"- {bits} `{field.name}`: {text}"


def double_words(regs: list[Reg]) -> list[str]:
    """The registers of 64 bits, each a line; what is the same for all stands above."""
    shared = conditions(regs[0])
    if any(conditions(reg) != shared for reg in regs):
        shared = []
    out = ["", f"## {DOUBLE}", "", " ".join(["Low word first.", *shared]), ""]
    for reg in regs:
        own = [] if shared else conditions(reg)
        out.append(" ".join([f"- `{reg.name}`: {reg.node.get_property('desc')}", *own]))
    return out


def write(top: AddrmapNode, regs: list[Reg]) -> str:
    space = 1 << top.get_property("ng_address_width")
    out = [
        f"# Registers of {top.inst_name}",
        "",
        f"<!-- {MARK} -->",
        "",
        *[" ".join(paragraph.split()) + "\n" for paragraph in top.get_property("desc").split("\n\n")],
        f"AXI4-Lite, 32-bit words in {space} bytes. SLVERR answers an address that is not in the table, or a write to what can only be read, "
        "and nothing happens. It also answers a write without all four byte strobes to a *command* or *whole word*. The write of a command is "
        "its action: nothing is stored. A register that is there *only if* a parameter says so is otherwise an address without a register. "
        "Write-only words read as zero. Bits that are not named read as zero and should be written as zero. Reading the low word of a 64-bit "
        "register keeps the high word for the read after it.",
        "",
        "| offset | register | access | after reset |",
        "|---|---|---|---|",
    ]
    for reg in regs:
        access = reg.access + (", command" if reg.command else ", whole word" if reg.whole_word else "")
        reset = "" if reg.reset is None or reg.access == "write only" else f"`0x{reg.reset:08X}`"
        offset = f"`0x{reg.offset:03X}`" + (f", `0x{reg.offset + 4:03X}`" if reg.words == 2 else "")
        place = reg.name if reg.words == 1 else DOUBLE.replace(" ", "-")
        out.append(f"| {offset} | [`{reg.name}`](#{place.lower()}) | {access} | {reset} |")
    for reg in regs:
        if reg.words == 2:
            continue
        out += ["", f"## {reg.name}", ""]
        if text := sentence(reg.node.get_property("desc")):
            out += [text, ""]
        if said := conditions(reg):
            out += [" ".join(said), ""]
        out += [field_line(field) for field in reg.fields]
    if double := [reg for reg in regs if reg.words == 2]:
        out += double_words(double)
    for title, members in enums(regs):
        out += ["", f"## Values of {title}", ""]
        out += [f"- {m.value} `{m.name}`: {m.rdl_desc}" for m in members]
    page = f"units/{top.inst_name.removeprefix('ng_')}.md"
    out += ["", f"The [page of the unit]({page}) has the parameters."]
    return a_sentence_a_line("\n".join([*out, ""]))
