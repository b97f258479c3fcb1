# SPDX-License-Identifier: Apache-2.0
"""Flip counters of Verilated units: equal to those of the mapped netlists and of the golden arithmetic, faults are noticed.

rtl_flips_test.py PROGRAMS WORK
"""

from __future__ import annotations

import itertools
import unittest

import numpy as np
from flow_start import WORK, main, need_liberty, options, signed, stimulus_of

from ngtools.power import characterize, fit_rtl, rtl_flips

CYCLES = 600


def flips_of(words: list[int], width: int) -> list[int]:
    """Of each bit, from cycle to cycle after the warm-up."""
    pairs = list(itertools.pairwise(words))[characterize.WARM_UP - 1 :]
    return [sum((a ^ b) >> bit & 1 for a, b in pairs) for bit in range(width)]


class Counters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.flow = rtl_flips.Flow(options())
        cls.flow.options.cycles = CYCLES
        cls.objects = rtl_flips.runtime(WORK.resolve() / "flips")

    def test_netlists_and_words(self):
        # A clocked multiply-accumulate; memory and handshake; a unit without clock and with signals above 64 bits.
        for name in ("int4_mac_booth", "fifo_32x4", "fp8_e4m3_dot_2"):
            unit = self.flow.units[name]
            problems = rtl_flips.check(self.flow, unit, unit["stimuli"][0], self.objects)
            assert problems == [], problems[:3]

    def test_golden_words(self):
        """Operand registers, product, accumulator: the golden arithmetic on the stimulus."""
        unit = self.flow.units["int4_mac_booth"]
        work = WORK.resolve() / "golden"
        work.mkdir(parents=True, exist_ok=True)
        path = self.flow.stimulus(unit, "gauss", CYCLES + characterize.WARM_UP, 3, work)
        counted = rtl_flips.count(rtl_flips.signal_counter(unit, work / "signals", self.objects), path)["signals"]
        rows = stimulus_of(path)
        products = [signed(row["a_i"], 4) * signed(row["b_i"], 4) for row in rows]
        sums, total = [0], 0
        for row, product in zip(rows, products, strict=True):
            total = product if row["first_i"] else total + product
            sums.append(total & 0xFFFFFFFF)
        # An input register shows its row after the edge, the accumulator one edge later.
        assert counted["a_i_q"][0] == flips_of([row["a_i"] for row in rows], 4)
        assert counted["b_i_q"][0] == flips_of([row["b_i"] for row in rows], 4)
        assert counted["u_unit.term"][0] == flips_of([p & 0xFF for p in products], 8)
        assert counted["u_unit.acc_o"][0] == flips_of(sums[: len(rows)], 32)

    def test_faults_are_noticed(self):
        """In the counter itself: a bit lost, a reset that no register sees, a signal dropped, a cycle counted twice."""
        unit = self.flow.units["fifo_32x4"]
        work, _ = self.flow.prepare(unit)
        path = self.flow.stimulus(unit, "uniform", CYCLES + characterize.WARM_UP, 1, work)
        self.flow.run_gates(work, path, work / "nets.txt")
        toggles = rtl_flips.read_nets(work / "nets.txt")
        ports = characterize.unit_ports(unit, work)
        source = rtl_flips.FLIPS.read_text()
        rtl_flips.signal_counter(unit, work / "signals", self.objects)  # the unit's C++
        for number, (old, new) in enumerate(
            (
                ("(1U << rest) - 1 : 0xFF", "(1U << rest) - 1 : 0x7F"),
                ("{true, false, true}", "{false, true}"),
                ('if (path.find("unnamedblk")', 'if (path == "ng_power_top" || path.find("unnamedblk")'),
                ("memory_.compare(settled_, flips_, counted);", "memory_.compare(settled_, flips_, true);"),
            )
        ):
            assert source.count(old) == 1, f"flips.cpp no longer has '{old}' once; renew the fault"
            faulty = WORK.resolve() / f"fault{number}" / "flips.cpp"
            faulty.parent.mkdir(exist_ok=True)
            faulty.write_text(source.replace(old, new))
            objects = rtl_flips.runtime_object(faulty, faulty.with_suffix(".o"), "-O0")
            program = rtl_flips.linked(work / "signals" / "verilated", [*self.objects[:-1], objects], "-O0")
            counted = rtl_flips.count(program, path)
            assert rtl_flips.netlist_differences(counted, toggles, ports)[1], f"fault '{new}' was not noticed"


class Fit(unittest.TestCase):
    def test_known_coefficients_come_back(self):
        rng = np.random.default_rng(1)
        true = rng.uniform(10e-15, 300e-15, len(rtl_flips.NAMES))
        samples = []
        for number in range(40):
            features = dict(zip(rtl_flips.NAMES, rng.uniform(10, 300, len(true)), strict=True))
            energy = float(np.array(list(features.values())) @ true) * (1.25 if number >= 30 else 1)
            unit = {"name": f"u{number}", "set": "held_out" if number >= 30 else "fit", "operation": "a word"}
            measured = {
                "stimulus": "uniform",
                "stimulus_sha256": "",
                "glitch_factor": 2,
                "L2": {"energy_j": energy / 2},
            }
            measured["L3"] = {"energy_j": energy, "clock_j": 0.0}
            record = {"operation": "a word", "operations_per_cycle": 1}
            samples.append(fit_rtl.Sample(unit, record, measured, features))
        content = fit_rtl.calibrate("test", samples)
        np.testing.assert_allclose(list(content["coefficients"].values()), true, rtol=1e-6)
        assert abs(content["l2_scale"] - 2) < 1e-9
        assert abs(content["L1"]["error_mean_abs"] - 0.2) < 1e-4  # of units that cost more than the fit knows
        assert content["L1"]["fit_error_max"] < 1e-6
        assert fit_rtl.differences(content, content) == []
        worse = {**content, "L1": {**content["L1"], "error_mean_abs": 0.3}}
        assert any("L1 error has grown" in problem for problem in fit_rtl.differences(worse, content))


setUpModule = need_liberty


if __name__ == "__main__":
    main()
