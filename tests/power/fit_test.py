# SPDX-License-Identifier: Apache-2.0
"""power/fit on units whose energies are known sums of features: the coefficients come back, errors are what they should be."""

from __future__ import annotations

import unittest
import unittest.mock
from pathlib import Path

import numpy as np
import pytest

from ngtools.power import fit, ladder, library, solve

TRUE = np.zeros(len(fit.NAMES))
TRUE[:4] = [200e-15, 50e-15, 150e-15, 120e-15]


def sample(
    rng: np.random.Generator, name: str, held_out: bool, factor: float = 1.0, stimulus: str = "uniform"
) -> fit.Sample:
    features = np.zeros(len(fit.NAMES))
    features[:4] = rng.uniform(10, 300, 4)
    energy = float(features @ TRUE) * factor
    clock = float(features[0] * TRUE[0])
    unit = {"name": name, "set": "held_out" if held_out else "fit", "macs_per_cycle": 1}
    unit["mac"] = {"format": "integer", "structure": "array", "a_width": len(name), "lanes": 1, "accumulator": True}
    measured = {"stimulus": stimulus, "glitch_factor": 2.0, "L2": {"energy_j": clock + (energy - clock) / 2}}
    measured["L3"] = {"energy_j": energy, "clock_j": clock}
    counts = dict(zip(fit.NAMES, features, strict=True))
    return fit.Sample(unit, {"flip_flops": 1, "period_s": 1e-8}, measured, {"L0": counts, "L1": counts})


class Fit(unittest.TestCase):
    def setUp(self):
        self.rng = np.random.default_rng(1)
        self.seen = [sample(self.rng, "u" * k, False) for k in range(1, 13)]

    def test_names_are_the_header_s(self):
        assert fit.NAMES[0] == "flip_flops"
        assert len(fit.NAMES) == len(set(fit.NAMES))
        assert f"feature_count = {len(fit.NAMES)};" in fit.HEADER.read_text()

    def test_known_coefficients_come_back(self):
        found = fit.fit(self.seen)
        np.testing.assert_allclose(found.coefficients, TRUE, rtol=1e-9, atol=1e-24)
        assert abs(found.l2_scale - 2) < 1e-9

    def test_coefficients_are_not_negative(self):
        noisy = [sample(self.rng, "n" * k, False, factor=self.rng.uniform(0.5, 1.5)) for k in range(1, 13)]
        assert (fit.fit(noisy).coefficients >= 0).all()

    def test_held_out_units_do_not_touch_the_fit(self):
        strange = [sample(self.rng, "held", True, factor=1.25)]
        content = fit.calibrate("test", self.seen + strange)
        np.testing.assert_allclose(list(content["coefficients"].values()), TRUE, rtol=1e-8, atol=1e-24)
        assert abs(content["L0"]["error_mean_abs"] - 0.2) < 1e-4
        assert [row["unit"] for row in content["L1"]["held_out"]] == ["held"]
        assert content["leave_one_out"]["L0"]["error_max"] < 1e-06
        assert content["ranges"]["integer"]["a_width"] == [1, 12]
        assert content["id"] != fit.calibrate("test", self.seen + strange * 2)["id"]

    def test_grown_errors_and_changed_coefficients_are_seen(self):
        then = fit.calibrate("test", [*self.seen, sample(self.rng, "held", True, factor=1.1)])
        assert fit.differences(then, then) == []
        worse = fit.calibrate("test", [*self.seen, sample(self.rng, "held", True, factor=1.2)])
        assert any("L0 error_mean_abs has grown" in p for p in fit.differences(worse, then))
        other = then | {"coefficients": then["coefficients"] | {"flip_flops": 1e-15}}
        assert any("coefficient flip_flops" in p for p in fit.differences(other, then))

    def test_a_fit_needs_both_sets(self):
        with pytest.raises(fit.FlowError, match="0 held out"):
            fit.calibrate("test", self.seen)

    def test_least_squares_know_their_bounds(self):
        matrix = self.rng.uniform(0.1, 1, (30, 5))
        matrix /= solve.column_norms(matrix)
        wanted = matrix @ np.array([1, -0.5, 0.5, 0.2, 0]) + self.rng.uniform(-0.01, 0.01, 30)
        found = solve.nonnegative_least_squares(matrix, wanted)
        gain = matrix.T @ (wanted - matrix @ found)  # what moving a coefficient up would bring
        assert (found >= 0).all()
        assert (found == 0).any()
        assert np.abs(gain[found > 0]).max() < 1e-9
        assert gain[found == 0].max() <= 1e-9
        assert solve.dot([1e100, 1.0, -1e100], [1.0, 1.0, 1.0]) == 1.0
        twins = solve.nonnegative_least_squares(np.column_stack([matrix[:, 0]] * 2), matrix[:, 0])
        np.testing.assert_allclose(twins, [1, 0])  # of equal columns the first

    def test_a_library_that_is_not_installed_is_named(self):
        """By this sentence ctest skips what needs it: tests/power/CMakeLists.txt."""
        with unittest.mock.patch.dict(library.TECHNOLOGIES, {"osu018": Path("/nowhere/osu018.lib")}):
            sentence = r"the Liberty library of osu018 is not installed \(/nowhere/osu018.lib is missing\)"
            with pytest.raises(fit.FlowError, match=sentence):
                library.liberty_file("osu018")
        assert "the Liberty library of osu[0-9]+ is not installed" in (
            Path(__file__).with_name("CMakeLists.txt").read_text()
        )

    def test_anchoring(self):
        assert ladder.anchored(3e-11, 6e-11, 3e-13) == 1.5e-13


if __name__ == "__main__":
    unittest.main()
