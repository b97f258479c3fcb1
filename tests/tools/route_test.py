# SPDX-License-Identifier: Apache-2.0
"""What place and route is said to reach: ngtools.route, on reports and netlists of a few lines, and on a program in nextpnr's place."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

from ngtools import route
from ngtools.ngflow import FlowError

CLK, FAST, GND = "posedge clk_i$glb", "posedge fast_i$glb", "posedge $PACKER_GND_NET_$glb_clk"


def report(*paths: tuple[str, str, list[float]]) -> dict:
    """A report with these longest paths: from, to, delays in ns."""
    return {
        "critical_paths": [{"from": a, "to": b, "path": [{"delay": d} for d in delays]} for a, b, delays in paths],
        "fmax": {"clk_i$glb": {"achieved": 1.0, "constraint": 12}},  # which the text never goes by
        "utilization": {"ICESTORM_LC": {"used": 7, "available": 5280}, "ICESTORM_RAM": {"used": 0, "available": 30}},
    }


def cell(kind: str, inputs: list[int], outputs: list[int], **parameters: str) -> dict:
    return {
        "type": kind,
        "parameters": parameters,
        "port_directions": {"A": "input", "O": "output"},
        "connections": {"A": inputs, "O": outputs},
    }


def dsps(depth: int, inside: bool = False, behind: frozenset = frozenset(), before: bool = False) -> route.Dsps:
    return route.Dsps(depth, inside, behind, before)


def refusal(call, *arguments) -> str:
    try:
        return f"accepted: {call(*arguments)}"
    except FlowError as error:
        return str(error)


class Reports(unittest.TestCase):
    def test_one_clock(self):
        assert (
            route.longest_ns(report((CLK, CLK, [1.0, 2.5]), ("<async>", CLK, [99.0]), (CLK, "<async>", [99.0]))) == 3.5
        )

    def test_the_longest_of_two_clocks_and_of_the_ways_between(self):
        two = [(CLK, CLK, [8.0]), (FAST, FAST, [2.0])]
        assert route.longest_ns(report(*two)) == 8.0
        assert route.longest_ns(report(*reversed(two))) == 8.0
        assert route.longest_ns(report(*two, (FAST, CLK, [9.0]))) == 9.0

    def test_half_a_period_counts_twice(self):
        assert route.longest_ns(report((CLK, CLK, [8.0]), (CLK, "negedge clk_i$glb", [5.0]))) == 10.0

    def test_no_clock(self):
        assert "no path between registers" in refusal(route.longest_ns, report())
        assert "no path between registers" in refusal(route.longest_ns, report(("<async>", "<async>", [3.0])))

    def test_a_dsp_without_registers_joins_its_paths(self):
        split = report((CLK, CLK, [20.0]), (CLK, GND, [10.0, 0.1]), (GND, CLK, [0.1, 15.0]))
        one = dsps(1)
        assert abs(route.longest_ns(split, one, 12.0) - (10.0 + 12.0 + 15.0)) < 1e-9
        # Another one between: its paths come in, and its own delay.
        chained = report((CLK, CLK, [20.0]), (CLK, GND, [10.1]), (GND, CLK, [15.1]), (GND, GND, [0.1, 4.0, 0.1]))
        two = dsps(2)
        assert abs(route.longest_ns(chained, two, 12.0) - (10.0 + 12.0 + 4.0 + 12.0 + 15.0)) < 1e-9
        # Where the report leaves the path between them out, a long wire is assumed.
        unlisted = report((CLK, CLK, [20.0]), (CLK, GND, [10.1]), (GND, CLK, [15.1]))
        assert abs(route.longest_ns(unlisted, two, 12.0) - (10.0 + 12.0 + 10.0 - 0.2 + 12.0 + 15.0)) < 1e-9
        assert route.longest_ns(report((CLK, CLK, [90.0]), (CLK, GND, [10.1]), (GND, CLK, [15.1])), one, 12.0) == 90.0

    def test_a_dsp_with_registers(self):
        plain = report((CLK, CLK, [5.0]))
        assert route.longest_ns(plain, dsps(0, inside=True), 12.0) == 12.0
        assert route.longest_ns(plain, dsps(0, before=True), 12.0) == 17.0
        # Registers behind the multiplier: the operand without one, not the other, nor that of another DSP.
        behind = dsps(0, behind=frozenset({("m", "B")}))
        arrivals = {"operands_ns": [["m", "A", 9.0], ["m", "B", 3.0], ["other", "B", 8.0]]}
        assert route.longest_ns(plain | arrivals, behind, 12.0) == 15.0
        assert route.longest_ns(report((CLK, CLK, [16.0])) | arrivals, behind, 12.0) == 16.0
        assert "expected 'operands_ns' of [('m', 'B')]" in refusal(route.longest_ns, plain, behind, 12.0)

    def test_arrivals_of_a_detailed_report(self):
        def net(*ends: tuple[str, str, float]) -> dict:
            return {"endpoints": [{"cell": cell, "port": port, "delay": delay} for cell, port, delay in ends]}

        nets = [
            net(("u.m_DSP", "A_0", 3.0), ("u.l_LC", "I1", 9.0)),
            net(("u.m_DSP", "A_15", 4.0), ("u.m_DSP", "AHOLD", 8.0)),
        ]
        nets.append(net(("u.m_DSP", "B_7", 2.0)))
        assert route.operands_ns({"detailed_net_timings": nets}) == [["u.m", "A", 4.0], ["u.m", "B", 2.0]]

    def test_what_does_not_fit_together_is_refused(self):
        split = report((CLK, CLK, [20.0]), (CLK, GND, [10.1]), (GND, CLK, [15.1]))
        assert "no DSP without registers" in refusal(route.longest_ns, split)
        assert "expected their delay" in refusal(route.longest_ns, split, dsps(1), 0.0)


class Netlists(unittest.TestCase):
    def test_dsps_that_follow_one_another(self):
        cells = {
            "in": cell("SB_DFF", [1], [2]),
            "first": cell("SB_MAC16", [2], [3], A_REG="0"),
            "lut": cell("SB_LUT4", [3, 2], [4]),
            "second": cell("SB_MAC16", [4], [5], A_REG="0"),
            "beside": cell("SB_MAC16", [2], [6], A_REG="0"),
            "out": cell("SB_DFFE", [5, 6], [1]),
        }
        assert route.dsps({"cells": cells}) == dsps(2)
        cells["lut"] = cell("SB_DFF", [3], [4])
        assert route.dsps({"cells": cells}) == dsps(1)
        assert route.dsps({"cells": {}}) == dsps(0)

    def test_registers_of_dsps(self):
        out = {"TOPOUTPUT_SELECT": "01", "BOTOUTPUT_SELECT": "01"}
        assert route.dsps({"cells": {"m": cell("SB_MAC16", [1], [2], A_REG="1", B_REG="1", **out)}}).inside
        assert route.dsps({"cells": {"m": cell("SB_MAC16", [1], [2], A_REG="1", B_REG="1")}}).before
        assert route.dsps({"cells": {"m": cell("SB_MAC16", [1], [2], **out)}}) == dsps(
            0, behind=frozenset({("m", "A"), ("m", "B")})
        )
        assert route.dsps({"cells": {"m": cell("SB_MAC16", [1], [2], A_REG="1", **out)}}) == dsps(
            0, behind=frozenset({("m", "B")})
        )
        # One registered operand of two is not a registered input.
        assert route.dsps({"cells": {"m": cell("SB_MAC16", [1], [2], A_REG="1", B_REG="0")}}).depth == 1

    def test_a_loop_is_refused(self):
        loop = {"m": cell("SB_MAC16", [1], [2]), "l": cell("SB_LUT4", [2], [1])}
        assert "combinational loop" in refusal(route.dsps, {"cells": loop})


PROGRAM = """#!/bin/sh
# In nextpnr's place: seed 3 fails, the others take seed * 10 ns; each run leaves a line.
while [ $# -gt 0 ]; do case $1 in --seed) seed=$2;; --report) report=$2;; --version) echo 'nextpnr (Version 1.0)'; exit 0;; esac; shift; done
echo $seed >> "{runs}"
[ $seed = 3 ] && {{ echo 'ERROR: Failed to route net x' >&2; exit 1; }}
sed "s/@/${{seed}}0.0/" "{template}" > $report
"""


class Runs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)
        (self.root / "netlist.json").write_text("{}")
        text = json.dumps(report((CLK, CLK, [1.0]))).replace('[{"delay": 1.0}]', '[{"delay": @}]')
        (self.root / "template").write_text(text)
        self.program = self.root / "place"
        self.program.write_text(PROGRAM.format(runs=self.root / "runs", template=self.root / "template"))
        self.program.chmod(0o755)

    def run_seeds(self, seeds: list[int]) -> dict:
        cache = self.root / "cache"
        return {seed: route.run(self.root / "netlist.json", str(self.program), seed, cache) for seed in seeds}

    def test_median_of_the_seeds_that_route(self):
        got = route.summary(self.run_seeds([1, 2, 3, 4, 5]), None, 0.0)
        assert got["failed_seeds"] == {"3": "Failed to route net x"}
        assert got["paths_s"] == {"1": 1e-8, "2": 2e-8, "4": 4e-8, "5": 5e-8}
        assert (got["path_s"], got["fmax_hz"]) == (3e-8, 33333333)
        assert (got["fmax_min_hz"], got["fmax_max_hz"]) == (20000000, 100000000)
        assert got["used_with_wrapper"] == {"ICESTORM_LC": 7}
        assert got["memory_bytes"] > 0
        assert got["seconds"] >= 0

    def test_no_seed_routes(self):
        assert route.summary(self.run_seeds([3]), None, 0.0) == {"failed": "Failed to route net x"}

    def test_a_run_is_run_once_and_again_for_another_netlist(self):
        self.run_seeds([1, 2])
        self.run_seeds([1, 2])
        assert (self.root / "runs").read_text() == "1\n2\n"
        (self.root / "netlist.json").write_text('{"other": 1}')
        self.run_seeds([1])
        assert (self.root / "runs").read_text() == "1\n2\n1\n"

    def test_a_program_that_is_not_there(self):
        assert "was not found" in refusal(route.version, "no-such-nextpnr --hx8k")
        assert not route.available("no-such-nextpnr")

    def test_cells_of_a_packed_netlist(self):
        said = "Info: 5 LCs used as LUT4 only\nInfo: \t  ICESTORM_LC:    73/ 7680     0%\n"
        pack = self.root / "pack"

        def packed(status: int, text: str = said) -> dict:
            (self.root / "said").write_text(text)
            program = f"#!/bin/sh\n[ $1 = --version ] && echo '(Version 1.0)' && exit\ncat {self.root}/said >&2\nexit {status}\n"
            pack.write_text(program)
            pack.chmod(0o755)
            return route.packed(self.root / "netlist.json", f"{pack} --hx8k --pack-only", "ICESTORM_LC")

        assert packed(0) == {"logic_cells": 73, "packed_by": "pack 1.0"}
        # What fails or says nothing is no count.
        assert packed(1) == packed(0, "Info: nothing\n") == {}
        assert route.packed(self.root / "netlist.json", "no-such-nextpnr --pack-only", "ICESTORM_LC") == {}

    def test_an_error_without_words(self):
        assert route.reason("Info: x\n") == "no message"


if __name__ == "__main__":
    unittest.main()
