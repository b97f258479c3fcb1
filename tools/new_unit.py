#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the files of a new unit, which build, and whose bench fails until it compares something (docs/adding_a_unit.md).

    .venv/bin/python tools/new_unit.py amax --family quant                combinational
    .venv/bin/python tools/new_unit.py running_sum --family mac --clocked     with a cycle model and its lock-step

The unit passes its input on, registered if it is clocked: a place to begin.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from ngtools import generate
from ngtools.ngflow import ROOT, FlowError, from_root, run_main
from ngtools.records import NAME, NOT_DESCRIBED

SPDX = "SPDX-License-Identifier: Apache-2.0"

RECORD = f"""# {SPDX}
does = "{NOT_DESCRIBED}"
golden = "model/include/narrowgauge/%(family)s/%(name)s.hpp"
%(clocked_key)sconfigurations = [
  {{name = "%(name)s", params = {{Width = 8}}, rtl = {{}}, netlist = {{}}, mutants = {{}}%(clocked_faces)s}},
]

[parameters]
Width = {{min = 1, max = 64, does = "bits of `a_i`"}}

[[plan]]
point = "every value passes"
how = "random, against the golden function"
tests = ['rtl[.]%(name)s', 'netlist[.]%(name)s', 'mutants[.]%(name)s'%(clocked_tests)s]
"""

RTL = f"""// {SPDX}
// Passes a_i on%(registered)s.
module ng_%(name)s #(
  parameter int Width = 8
) (
%(clocked_ports)s  input  logic [Width-1:0] a_i,
  output logic [Width-1:0] y_o
);
`ifndef __ICARUS__ // Icarus has no elaboration tasks
  if (Width < 1 || Width > 64) begin : gen_check_width $fatal(1, "ng_%(name)s: Width=%%0d; expected 1 to 64", Width); end
`endif

%(body)s
endmodule
"""
BODY = {False: "  assign y_o = a_i;\n"}
BODY[True] = """  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      y_o <= '0;
    end else if (valid_i) begin
      y_o <= a_i;
    end
  end
"""

GOLDEN = f"""// {SPDX}
// Golden model of ng_%(name)s.
#pragma once

#include <cstdint>

namespace narrowgauge {{

/// What y_o %(becomes)s.
constexpr std::uint64_t %(name)s(std::uint64_t a) {{ return a; }}

}}  // namespace narrowgauge
"""

BENCH = f"""// {SPDX}
// ng_%(name)s against its golden model: random values. Build parameter: NG_WIDTH.
#include "../bench.hpp"
#include "Vdut.h"
#include "narrowgauge/%(family)s/%(name)s.hpp"

int main(int argc, char** argv) {{
  using namespace narrowgauge::bench;

  Bench bench(argc, argv, "%(name)s");
  Dut<Vdut> dut(bench);
%(reset)s  for (std::uint64_t i = 0; i < bench.budget(); ++i) {{
%(drive)s    bench.vector();
  }}
  return bench.finish();
}}
"""
DRIVE = {False: "    dut->a_i = bench.rng().bits(NG_WIDTH);\n    dut.eval();\n"}
DRIVE[True] = (
    "    dut->valid_i = bench.rng().chance(0.7);\n    dut->a_i = bench.rng().bits(NG_WIDTH);\n    dut.tick();\n"
)

PAGE = """# ng_%(name)s

Passes its input on%(registered)s. Golden: `narrowgauge::%(name)s` in `model/include/narrowgauge/%(family)s/%(name)s.hpp`.

| port | width | meaning |
|---|---|---|
%(page_ports)s| `a_i` | Width | |
| `y_o` | Width | |

<!-- parameters: begin (generated) -->
<!-- parameters: end -->

**Verification.** `ctest -R '[.]%(name)s'`.
"""

CORE = f"""// {SPDX}
// Cycle model of rtl/%(family)s/ng_%(name)s.sv.
#pragma once

#include <cstdint>

#include "narrowgauge/%(family)s/%(name)s.hpp"

namespace narrowgauge::systemc {{

/// Outputs are functions of the state; step() is a clock edge.
template <int width>
class %(type)sCore {{
 public:
  void reset() {{ *this = {{}}; }}

  std::uint64_t y() const {{ return y_; }}

  void step(bool valid, std::uint64_t a) {{
    if (valid) y_ = %(name)s(a);
  }}

 private:
  std::uint64_t y_ = 0;
}};

}}  // namespace narrowgauge::systemc
"""

MODULE = f"""// {SPDX}
// SystemC module of ng_%(name)s: ports and latency of rtl/%(family)s/ng_%(name)s.sv.
#pragma once

#include "systemc/%(family)s/%(name)s_core.hpp"
#include "systemc/shell.hpp"

namespace narrowgauge::systemc {{

template <int width, class Core = %(type)sCore<width>>
struct %(type)s : Shell<Core> {{
  using Shell<Core>::Shell;
  In<1> valid_i{{"valid_i"}};
  In<width> a_i{{"a_i"}};
  Out<width> y_o{{"y_o"}};

 private:
  void step(Core& core) override {{ core.step(valid_i, a_i.value()); }}
  void drive(const Core& core) override {{ y_o = core.y(); }}
}};

}}  // namespace narrowgauge::systemc
"""

LOCKSTEP = f"""// {SPDX}
// ng_%(name)s and its SystemC module in lock-step. Build parameter: NG_WIDTH.
#include "dut_pins.hpp"
#include "systemc/%(family)s/%(name)s.hpp"

namespace {{

using namespace narrowgauge::bench;

constexpr const char* faults[] = {{"a value is taken without valid"}};

struct Core : narrowgauge::systemc::%(type)sCore<NG_WIDTH> {{
  using Base = narrowgauge::systemc::%(type)sCore<NG_WIDTH>;
  void step(bool valid, std::uint64_t a) {{ Base::step(valid || fault == 1, a); }}
}};

int run(int argc, char** argv) {{
  Lockstep<Vdut> both(argc, argv, "systemc %(name)s");
  auto& [bench, dut, clk, rst_n] = both;
  narrowgauge::systemc::%(type)s<NG_WIDTH, Core> model("model");
  Pins pins(both, model);

  const auto stimulate = [&](std::uint64_t) {{
    both.drive(pins.valid_i, bench.rng().chance(0.7));
    both.drive_random(pins.a_i);
  }};
  both.run(stimulate, [&] {{ both.same(pins); }}, [] {{}});
  return bench.finish();
}}

}}  // namespace

int sc_main(int argc, char** argv) {{ return lockstep_main(argc, argv, faults, run); }}
"""


def files(name: str, family: str, clocked: bool) -> dict[str, str]:
    """Path -> text of everything that a person will fill in."""
    texts = {
        "name": name,
        "family": family,
        "type": "".join(part.capitalize() for part in name.split("_")),
        "clocked_key": "clocked = true\n" if clocked else "",
        "clocked_faces": ", systemc = {}, comb_paths = {}" if clocked else "",
        "clocked_tests": f", 'systemc[.]{name}([.]faults)?'" if clocked else "",
        "registered": ", in a register that loads with valid_i" if clocked else "",
        "clocked_ports": "".join(f"  input  logic             {port},\n" for port in ("clk_i", "rst_ni", "valid_i"))
        if clocked
        else "",
        "page_ports": "| `valid_i` | 1 | |\n" if clocked else "",
        "body": BODY[clocked],
        "becomes": "becomes for a valid a_i" if clocked else "is for a_i",
        "reset": "  dut.reset();\n" if clocked else "",
        "drive": DRIVE[clocked],
    }
    made = {
        f"rtl/{family}/ng_{name}.toml": RECORD,
        f"rtl/{family}/ng_{name}.sv": RTL,
        f"model/include/narrowgauge/{family}/{name}.hpp": GOLDEN,
        f"verif/cosim/{family}/{name}_bench.cpp": BENCH,
        f"docs/units/{name}.md": PAGE,
    }
    if clocked:
        made |= {
            f"model/systemc/{family}/{name}_core.hpp": CORE,
            f"model/systemc/{family}/{name}.hpp": MODULE,
            f"verif/cosim/systemc/{name}_lockstep.cpp": LOCKSTEP,
        }
    return {path: text % texts for path, text in made.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", help="of the unit, without ng_")
    parser.add_argument("--family", required=True, help="folder under rtl/, model/ and verif/cosim/: prim, mac, ...")
    parser.add_argument("--clocked", action="store_true", help="with registers: a cycle model and its lock-step too")
    args = parser.parse_args()
    for what, text in (("unit", args.name), ("family", args.family)):
        if not NAME.fullmatch(text) or text.startswith("ng_"):
            raise FlowError(f"{what} name '{text}'; expected small letters, digits and _, without the prefix ng_")
    made = files(args.name, args.family, args.clocked)
    there = [path for path in made if (ROOT / path).exists()]
    if there:
        raise FlowError(f"{', '.join(there)} exists; choose another name, or remove it")
    for path, text in made.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text)
        print(f"made {path}")
    page = Path(f"docs/units/{args.name}.md")
    (ROOT / page).write_text(generate.page_of(args.name))
    print(
        f"Next: fill them in ({from_root(ROOT / 'docs' / 'adding_a_unit.md')}), then make generate. "
        f"ctest -R rtl.{args.name} fails until the bench compares something."
    )
    return 0


if __name__ == "__main__":
    run_main(main)
