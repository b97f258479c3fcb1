# SPDX-License-Identifier: Apache-2.0
"""Rules of near-lognormal tensors (docs/luq.md) against numpy, and against what defines them: the table of thresholds, the
integral that the expected sparsity is, pruning in exact fractions; and the sparsity that data reaches."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from exact import random_field
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import erf

import narrowgauge as ng

F = np.float32


def lognormal(count: int, mean: float, sigma: float, seed: int) -> np.ndarray:
    """Of either sign; mean and sigma of log2|x|."""
    rng = np.random.default_rng(seed)
    return (2 ** rng.normal(mean, sigma, count) * rng.choice([-1, 1], count)).astype(F)


@pytest.mark.parametrize(("mean", "sigma"), [(0, 1), (-20, 3), (30, 0.2), (-100, 10)])
def test_statistics(mean: float, sigma: float) -> None:
    x = lognormal(10000, mean, sigma, 1).reshape(100, 100)
    x[::7] = 0
    s = ng.luq.log_statistics(x)
    logs = np.log2(np.abs(x[x != 0].astype(np.float64)))
    assert (s.count, s.zeros, s.amax) == (x.size, np.count_nonzero(x == 0), np.abs(x).max())
    assert s.mean == pytest.approx(logs.mean(), rel=1e-12, abs=1e-12)
    assert s.sigma == pytest.approx(logs.std(), rel=1e-12)
    assert s.scale == pytest.approx(2.0**-s.mean, rel=1e-15)
    assert s == ng.luq.log_statistics(x.astype(np.float64).tolist())


def test_statistics_of_zeros() -> None:
    s = ng.luq.log_statistics(np.zeros(5))
    assert (s.count, s.zeros, s.mean, s.sigma, s.amax, s.scale) == (5, 5, 0, 0, 0, 1)


# Where the exponent bits grow, for each width: the authors' code, as docs/luq.md has it.
STEPS = {
    3: "0.7",
    4: "0.5 1.2",
    5: "0.2 1 2.4",
    6: "0.3 0.9 2 4.9",
    7: "0.3 0.7 1.7 4 9.4",
    8: "0.1 0.6 1.4 3.7 8.1 19.3",
}


@pytest.mark.parametrize("bits", STEPS)
def test_exponent_bits(bits: int) -> None:
    steps = [float(step) for step in STEPS[bits].split()]
    assert ng.luq.exponent_bits(bits, 0) == 1
    for expected, step in enumerate(steps, start=2):
        assert ng.luq.exponent_bits(bits, np.nextafter(step, 0)) == expected - 1
        assert ng.luq.exponent_bits(bits, step) == expected
    assert ng.luq.exponent_bits(bits, 1e300) == len(steps) + 1 == bits - 1


def share_of_zeros(log_threshold: float, sigma: float) -> float:
    """E[1 - |x| / tau where |x| < tau] by quadrature, ln|x| normal of mean 0."""
    z = log_threshold / sigma

    def integrand(v: float) -> float:  # z - v standard deviations
        return -math.expm1(-sigma * v) * math.exp(-((z - v) ** 2) / 2) / math.sqrt(2 * math.pi)

    return quad(integrand, 0, abs(z) + 40, points=[max(z, 0)], limit=500, epsabs=1e-12, epsrel=1e-11)[0]


def papers_share(t: float, sigma: float) -> float:
    """The equation of arXiv 2006.08173's code."""
    e, root = math.exp(sigma**2 / 2), math.sqrt(2)
    first = e * erf(sigma / root - math.log(t) / (root * sigma)) + t * erf(math.log(t) / (root * sigma)) - e
    return 0.5 + first / (2 * t)


@pytest.mark.parametrize("zeros", [0, 300])
@pytest.mark.parametrize("sigma", [0.2, 1, 2, 5, 30])
@pytest.mark.parametrize("target", [0.4, 0.5, 0.75, 0.9, 0.95])
def test_threshold_solves_the_equation(target: float, sigma: float, zeros: int) -> None:
    """Statistics are those of 1000 numbers, some of which are zero already."""
    mean = -3.7
    s = ng.luq.LogStatistics(1000, zeros, mean, sigma, 1.0)
    tau = ng.luq.pruning_threshold(target, s)
    wanted = (target - zeros / 1000) / (1 - zeros / 1000)
    log_t, natural = math.log(tau) - mean * math.log(2), sigma * math.log(2)
    assert share_of_zeros(log_t, natural) == pytest.approx(wanted, abs=1e-8)
    if sigma <= 5:
        root = brentq(lambda log: papers_share(math.exp(log), natural) - wanted, log_t - 1, log_t + 1, xtol=1e-13)
        assert log_t == pytest.approx(root, abs=1e-6)


def test_threshold_without_spread() -> None:
    equal = ng.luq.log_statistics([2.0, -2.0, 0.0, 2.0])
    assert ng.luq.pruning_threshold(0.25, equal) == ng.luq.pruning_threshold(0.1, equal) == 0
    assert ng.luq.pruning_threshold(0.625, equal) == pytest.approx(4)
    assert ng.luq.pruning_threshold(0.9, ng.luq.log_statistics([0.0])) == 0


@pytest.mark.parametrize("bits", [1, 8, 24])
def test_pruning_follows_the_rule(bits: int) -> None:
    x = np.append(lognormal(300, -1, 2, 5), [0, -0.0, 0.7, -0.7]).astype(F)
    tau, words = F(0.7), 2**bits
    pruned = ng.luq.prune(x.reshape(2, -1), 0.7, random_bits=bits, seed=11)
    assert (pruned.shape, pruned.dtype) == ((2, 152), F)
    zeros = Fraction(0)
    for i, (number, result) in enumerate(zip(x.tolist(), pruned.ravel().tolist(), strict=True)):
        share = abs(Fraction(number)) / Fraction(float(tau))
        kept = math.floor(share * words)
        zeros += 1 - Fraction(min(kept, words), words)
        expected = number
        if share < 1:
            up = kept + random_field(11, i, bits) >= words
            expected = math.copysign(float(tau) if up else 0.0, number)
        assert (result, math.copysign(1, result)) == (expected, math.copysign(1, number))
    assert ng.luq.expected_sparsity(x, 0.7, random_bits=bits) == pytest.approx(float(zeros / len(x)), rel=1e-14)
    assert (ng.luq.prune(x, 0) == x).all()


@pytest.mark.parametrize("sigma", [0.5, 1, 2, 4])
def test_sparsity_that_is_reached(sigma: float) -> None:
    """docs/luq.md: lognormal tensors of 2^18 numbers come within 0.5 % of every target; the expectation for the tensor itself is
    met within five standard deviations; and pruning leaves the mean as it is."""
    x = lognormal(2**18, -12, sigma, 8)
    s = ng.luq.log_statistics(x)
    for target in (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95):
        tau = ng.luq.pruning_threshold(target, s)
        pruned = ng.luq.prune(x, tau, random_bits=16, seed=3)
        reached = np.mean(pruned == 0)
        assert reached == pytest.approx(target, abs=0.005)
        assert reached == pytest.approx(ng.luq.expected_sparsity(x, tau, random_bits=16), abs=5 * 0.5 / 2**9)
        wide = x.astype(np.float64)
        below = np.abs(wide) < tau
        deviation = math.sqrt(np.sum(np.abs(wide[below]) * (tau - np.abs(wide[below]))))
        rounding = tau * len(x) / 2**16  # what 16 bits do not hold, toward zero
        assert abs(np.sum(np.abs(pruned, dtype=np.float64) - np.abs(wide))) < 5 * deviation + rounding


def test_zeros_count_toward_the_target() -> None:
    x = lognormal(2**18, 4, 2, 9)
    x[: 2**17] = 0
    s = ng.luq.log_statistics(x)
    assert ng.luq.pruning_threshold(0.5, s) == 0
    for target in (0.55, 0.75, 0.95):
        pruned = ng.luq.prune(x, ng.luq.pruning_threshold(target, s), random_bits=16)
        assert np.mean(pruned == 0) == pytest.approx(target, abs=0.005)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ng.luq.log_statistics([1, np.nan]), "element 1 is nan; expected finite numbers"),
        (lambda: ng.luq.log_statistics([]), "x is empty"),
        (lambda: ng.luq.exponent_bits(2, 1), "bits is 2; expected 3 to 8"),
        (lambda: ng.luq.exponent_bits(4, -1), "sigma is -1"),
        (lambda: ng.luq.exponent_bits(4, np.inf), "sigma is inf"),
        (lambda: ng.luq.pruning_threshold(1, ng.luq.log_statistics([1, 2])), "target sparsity is 1"),
        (lambda: ng.luq.pruning_threshold(np.nan, ng.luq.log_statistics([1, 2])), "target sparsity is nan"),
        (lambda: ng.luq.pruning_threshold(0.5, [1, 2]), r"luq.log_statistics\(x\) makes them"),
        (lambda: ng.luq.prune([1], -1), "threshold is -1"),
        (lambda: ng.luq.prune([1], 1e39), "threshold is inf"),
        (lambda: ng.luq.prune([1, np.inf], 1), "element 1 is inf"),
        (lambda: ng.luq.prune([1], 1, random_bits=0), "random_bits is 0; expected 1 to 24"),
        (lambda: ng.luq.expected_sparsity([1], "x"), "expected a number"),
    ],
)
def test_refused(call, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ng.Error, match=says):
        call()
