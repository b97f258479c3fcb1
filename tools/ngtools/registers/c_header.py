# SPDX-License-Identifier: Apache-2.0
"""The driver's C header."""

from __future__ import annotations

from systemrdl import AddrmapNode

from ngtools.registers.source import MARK, Reg, enums
from ngtools.registers.text import comment


def write(top: AddrmapNode, regs: list[Reg]) -> str:
    prefix = top.inst_name.upper()
    name = f"{top.inst_name}_regs.h"
    guard = "NARROWGAUGE_" + name.upper().replace(".", "_")
    out = [
        "/* SPDX-License-Identifier: Apache-2.0 */",
        f"/* {MARK} */",
        "/* For each register NAME: _OFFSET (bytes), for a word that does not depend on the build _RESET, and for each field",
        " * _SHIFT, _MASK (in place) and _MAX (largest value). */",
        f"#ifndef {guard}",
        f"#define {guard}",
    ]

    def define(macro: str, value: int, digits: int = 8) -> None:
        out.append(f"#define {prefix}_{macro} 0x{value:0{digits}X}u")

    for reg in regs:
        out += ["", f"/* {reg.node.get_property('name')}, {reg.access}. */"]
        define(f"{reg.name}_OFFSET", reg.offset, 3)
        if reg.words == 2:
            define(f"{reg.name}_HIGH_OFFSET", reg.offset + 4, 3)
            continue
        if reg.reset is not None and reg.access != "write only":
            define(f"{reg.name}_RESET", reg.reset)
        for f in reg.fields:
            base = f"{reg.name}_{f.name.upper()}"
            out += comment(f"{f.name}: {f.node.get_property('desc')}", "/* ", " */")
            out.append(f"#define {prefix}_{base}_SHIFT {f.low}u")
            define(f"{base}_MASK", ((1 << f.width) - 1) << f.low)
            define(f"{base}_MAX", (1 << f.width) - 1, 1)
    for title, members in enums(regs):
        out += ["", f"/* Values of {title}. */"]
        for m in members:
            out += comment(m.rdl_desc, "/* ", " */")
            out.append(f"#define {prefix.partition('_')[0]}_{title.upper()}_{m.name.upper()} {m.value}u")
    return "\n".join([*out, "", f"#endif /* {guard} */", ""])
