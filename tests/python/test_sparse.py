# SPDX-License-Identifier: Apache-2.0
"""Sparsity from Python: patterns against numpy, the table of errors of docs/sparsity.md, transposable masks against an exact
solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

import narrowgauge as ng

RNG = np.random.default_rng(14)


def test_greedy() -> None:
    x = RNG.standard_normal((6, 32)).astype(np.float32)
    blocks = np.abs(x).reshape(6, 8, 4)
    keep = np.argsort(np.argsort(-blocks, axis=-1, kind="stable"), axis=-1) < 2
    assert (ng.sparsity_mask(x) == keep.reshape(6, 32)).all()
    assert (ng.prune(x) == np.where(keep.reshape(6, 32), x, 0)).all()
    lost = ((x - ng.prune(x)) ** 2).sum(dtype=np.float64) / (x.astype(np.float64) ** 2).sum()
    assert ng.pruning_error(x) == pytest.approx(lost)


def test_storage() -> None:
    x = RNG.standard_normal((3, 24)).astype(np.float32)
    for pattern in ("2:4", "1:2", "4:8pair"):
        stored = ng.to_sparse(ng.prune(x, pattern), pattern)
        assert stored.values.shape == (3, 12)
        assert (stored.to_dense() == ng.prune(x, pattern)).all()
    codes = RNG.integers(1, 16, (4, 16), dtype=np.uint8)
    mask = ng.sparsity_mask(codes.astype(np.float32))
    stored = ng.to_sparse(codes, mask=mask)
    assert stored.values.dtype == np.uint8
    assert stored.nbytes == 4 * 8 + 4 * 2
    assert (stored.to_dense() == np.where(mask, codes, 0)).all()
    stored.metadata[2, 1] = 0x04
    with pytest.raises(ng.Error, match="row 2, group 3: metadata 0 is illegal"):
        stored.to_dense()


# docs/sparsity.md, Unbiased pruning. Magnitudes of 2^18 numbers, so a figure is off by some 0.3 % of itself, the heavy tail of
# lognormal ones by more.
TABLE = {
    "normal": (0.1818, 0.1325, 2 / np.pi, 0.4739, 0.5027),
    "laplace": (0.1250, 0.0799, 0.5, 0.3125, 0.3463),
    "lognormal": (0.0783, 0.0481, np.exp(-1), 0.2017, 0.2325),
    "uniform": (0.2499, 0.2000, 0.75, 0.6290, 0.6448),
}


def magnitudes(name: str) -> np.ndarray:
    rng = np.random.default_rng(2)
    draw = {"normal": rng.standard_normal, "laplace": rng.laplace, "lognormal": rng.lognormal, "uniform": rng.random}
    return draw[name](size=(1, 2**18)).astype(np.float32)


@pytest.mark.parametrize("name", TABLE)
def test_errors(name: str) -> None:
    x = magnitudes(name)
    cases = (("1:2", "greedy"), ("2:4", "greedy"), ("1:2", "mvue"), ("2:4", "mvue"), ("2:4", "approx-mvue"))
    errors = [ng.pruning_error(x, pattern, method=method) for pattern, method in cases]
    print(f"| {name} | " + " | ".join(f"{error:.4f}" for error in errors) + f" | {errors[4] / errors[3]:.2f} |")
    assert errors == pytest.approx(TABLE[name], rel=0.05 if name == "lognormal" else 0.01)


@pytest.mark.parametrize("method", ["mvue", "approx-mvue"])
def test_unbiased(method: str) -> None:
    x = np.tile(np.float32([[0.1, -3, 2, 0.7, 0, 5, -1, 1]]), (40000, 1))
    pruned = ng.prune(x, method=method, seed=5)
    assert np.abs(pruned.mean(axis=0, dtype=np.float64) - x[0]).max() < 0.06
    assert (np.count_nonzero(pruned.reshape(-1, 4), axis=1) <= 2).all()
    error = ((pruned - x) ** 2).sum(dtype=np.float64) / (x.astype(np.float64) ** 2).sum()
    assert error == pytest.approx(ng.pruning_error(x, method=method), rel=0.02)
    assert (ng.prune(x, method=method, seed=5) == pruned).all()
    assert (ng.prune(x, method=method, seed=6) != pruned).any()


def best_sum(block: np.ndarray, n: int) -> float:
    """Of all masks with n ones in every row and column, as a flow of least cost: its vertices are whole numbers."""
    m = len(block)
    element = np.arange(m * m)
    rows, columns = element // m, m + element % m
    ones = np.ones(2 * m * m)
    sums = coo_array((ones, (np.concatenate([rows, columns]), np.concatenate([element, element]))))
    flow = linprog(-block.ravel(), A_eq=sums, b_eq=np.full(2 * m, n), bounds=(0, 1), method="highs-ds")
    assert flow.status == 0
    mask = np.rint(flow.x)
    assert np.abs(mask - flow.x).max() < 1e-9
    return float((mask * block.ravel()).sum())


def test_transposable_exact() -> None:
    x = RNG.integers(-100, 101, (4, 200)).astype(np.float32)
    mask = ng.sparsity_mask(x, "2:4-T")
    for col in range(0, 200, 4):
        block, kept = np.abs(x[:, col : col + 4]), mask[:, col : col + 4]
        assert (kept.sum(axis=0) == 2).all()
        assert (kept.sum(axis=1) == 2).all()
        assert block[kept].sum() == best_sum(block, 2)


def test_transposable_approximation() -> None:
    """Kept magnitude over the optimum of the flow, 4:8-T, on integers: never below a half, and the figures of the manual."""
    x = np.rint(np.random.default_rng(3).standard_normal((8, 1600)) * 1000).astype(np.float32)
    mask = ng.sparsity_mask(x, "4:8-T")
    ratios = []
    for col in range(0, 1600, 8):
        block, kept = np.abs(x[:, col : col + 8]), mask[:, col : col + 8]
        assert kept.sum(axis=0).max() <= 4
        assert kept.sum(axis=1).max() <= 4
        ratios.append(block[kept].sum() / best_sum(block, 4))
    print(f"4:8-T, approximation over optimum: mean {np.mean(ratios):.4f}, least {min(ratios):.4f}")
    assert 0.5 <= min(ratios) <= np.mean(ratios) <= 1
    assert np.mean(ratios) > 0.95


def test_refusals() -> None:
    x = np.ones((2, 8), np.float32)
    for bad in ({"pattern": "2:3:4"}, {"method": "best"}, {"seed": -1}, {"random_bits": 0}):
        with pytest.raises(ng.Error, match="expected"):
            ng.prune(x, **bad)  # type: ignore[arg-type]
    for value in (np.nan, np.inf):
        with pytest.raises(ng.Error, match="row 0, column 0"):
            ng.prune([[value, 0, 0, 0]])
    with pytest.raises(ng.Error, match="two dimensions"):
        ng.prune(x[0])
    with pytest.raises(ng.Error, match="multiple of 16"):
        ng.prune(x, "2:16")
    with pytest.raises(ng.Error, match="keeps more"):
        ng.to_sparse(x)
    with pytest.raises(ng.Error, match="no metadata"):
        ng.to_sparse(x, "4:8")
    with pytest.raises(ng.Error, match="shape"):
        ng.to_sparse(x, mask=np.ones((2, 4), bool))
