# SPDX-License-Identifier: Apache-2.0
"""The C++ constants."""

from __future__ import annotations

from systemrdl import AddrmapNode

from ngtools.registers.source import MARK, SOURCE, Reg, enums
from ngtools.registers.text import comment


def write(top: AddrmapNode, regs: list[Reg]) -> str:
    space = f"{SOURCE.parent.name}_regs"
    out = [
        "// SPDX-License-Identifier: Apache-2.0",
        f"// {MARK}",
        "#pragma once",
        "",
        "#include <cstdint>",
        "",
        f"/// Registers of {top.inst_name}, see docs/registers.md. A namespace for each: `offset` in bytes, `reset` where the word does",
        "/// not depend on the build, and the fields.",
        f"namespace narrowgauge::{space} {{",
        "",
        "/// Bits [lsb, lsb + width) of a register.",
        "struct Field {",
        "  unsigned lsb, width;",
        "  /// Largest value.",
        "  constexpr std::uint32_t max() const { return width == 32 ? 0xFFFFFFFFU : (1U << width) - 1; }",
        "  constexpr std::uint32_t mask() const { return max() << lsb; }",
        "  /// The field of a register's word.",
        "  constexpr std::uint32_t get(std::uint32_t word) const { return (word >> lsb) & max(); }",
        "  /// A value in its place; to be joined with the other fields by |. Bits that do not fit are lost.",
        "  constexpr std::uint32_t put(std::uint32_t value) const { return (value & max()) << lsb; }",
        "};",
        "",
        "/// Bytes of address space.",
        f"inline constexpr std::uint32_t size = 0x{1 << top.get_property('ng_address_width'):X};",
    ]
    for title, members in enums(regs):
        out += ["", f"enum class {''.join(w.capitalize() for w in title.split('_'))} : std::uint32_t {{"]
        for m in members:
            out += [*comment(m.rdl_desc, "/// ", indent="  "), f"  {m.name} = {m.value},"]
        out.append("};")
    for reg in regs:
        out += ["", f"/// {reg.node.get_property('name')}, {reg.access}.", f"namespace {reg.name.lower()} {{"]
        out.append(f"inline constexpr std::uint32_t offset = 0x{reg.offset:03X};")
        if reg.words == 2:
            out.append(f"inline constexpr std::uint32_t high_offset = 0x{reg.offset + 4:03X};")
        else:
            if reg.reset is not None and reg.access != "write only":
                out.append(f"inline constexpr std::uint32_t reset = 0x{reg.reset:08X};")
            for f in reg.fields:
                out += comment(f.node.get_property("desc"), "/// ")
                out.append(f"inline constexpr Field {f.name}{{{f.low}, {f.width}}};")
        out.append(f"}}  // namespace {reg.name.lower()}")
    return "\n".join([*out, "", f"}}  // namespace narrowgauge::{space}", ""])
