# SPDX-License-Identifier: Apache-2.0
"""The manual's page of the registers."""

from __future__ import annotations

from systemrdl import AddrmapNode

from ngtools.prose import a_sentence_a_line
from ngtools.registers.source import MARK, Reg, enums


def sentence(text: str | None) -> str:
    text = " ".join((text or "").split())
    text = text[:1].upper() + text[1:]
    return text if not text or text.endswith(".") else text + "."


def write(top: AddrmapNode, regs: list[Reg]) -> str:
    space = 1 << top.get_property("ng_address_width")
    out = [
        f"# Registers of {top.inst_name}",
        "",
        f"<!-- {MARK} -->",
        "",
        *[" ".join(paragraph.split()) + "\n" for paragraph in top.get_property("desc").split("\n\n")],
        f"AXI4-Lite, 32-bit words in {space} bytes. Addresses that are not in the table, and writes to what can only be read, are answered with "
        "SLVERR and do nothing; so is a write without all four byte strobes where the table says *whole word*. Write-only words read as zero. "
        "Bits that are not named read as zero and should be written as zero. Reading the low word of a 64-bit register keeps the high word for "
        "the read after it.",
        "",
        "| offset | register | access | after reset | |",
        "|---|---|---|---|---|",
    ]
    for reg in regs:
        access = reg.access + (", whole word" if reg.whole_word else "")
        reset = "" if reg.reset is None or reg.access == "write only" else f"`0x{reg.reset:08X}`"
        offset = f"`0x{reg.offset:03X}`" + (f", `0x{reg.offset + 4:03X}`" if reg.words == 2 else "")
        out.append(
            f"| {offset} | [`{reg.name}`](#{reg.name.lower()}) | {access} | {reset} | {reg.node.get_property('name')} |"
        )
    for reg in regs:
        out += ["", f"## {reg.name}", ""]
        if text := sentence(reg.node.get_property("desc")):
            out += [text, ""]
        if reg.command:
            out += ["A command: the write is the action, nothing is stored.", ""]
        if reg.condition:
            out += [f"Reads as zero unless `{reg.condition}`.", ""]
        if reg.exists_if:
            out += [f"Only if `{reg.exists_if}`; else there is no register at this address.", ""]
        if reg.words == 2:
            out.append(f"Low word at `0x{reg.offset:03X}`, high word at `0x{reg.offset + 4:03X}`.")
            continue
        out += ["| bits | field | meaning |", "|---|---|---|"]
        for f in reg.fields:
            bits = f"{f.low + f.width - 1}:{f.low}" if f.width > 1 else str(f.low)
            value = f.node.get_property("ng_value", default=None)
            text = f.node.get_property("desc") + (f" (`{value}`)" if value else "")
            if f.enum:
                text += ": " + ", ".join(f"{m.value} {m.name}" for m in f.enum)
            out.append(f"| {bits} | `{f.name}` | {text} |")
    for title, members in enums(regs):
        out += ["", f"## Values of {title}", "", "| value | name | meaning |", "|---|---|---|"]
        out += [f"| {m.value} | `{m.name}` | {m.rdl_desc} |" for m in members]
    out += ["", "## Parameters", "", "| parameter | range | meaning |", "|---|---|---|"]
    for p in top.get_property("ng_parameters"):
        extra = f", multiples of {p.multiple_of}" if p.multiple_of > 1 else ""
        out.append(f"| `{p.name}` | {p.least} to {p.most}{extra} | {p.about} |")
    return a_sentence_a_line("\n".join([*out, ""]))
