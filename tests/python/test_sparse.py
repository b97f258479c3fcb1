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


def test_parts_that_do_not_fit() -> None:
    """Sizes whose product is beyond 64 bits among them: once a crash."""
    stored = ng.to_sparse(ng.prune(RNG.standard_normal((64, 8)).astype(np.float32)))
    values, metadata = stored.values, stored.metadata
    none = np.zeros((64, 0), np.uint8), np.zeros((1, 0), np.uint8)
    for parts, says in (
        ((*none, "2:4", (64, 2**62)), "values have shape .64, 0.; expected .64, 2305843009213693952."),
        ((*none, "2:4", (2**62, 4)), "values have shape"),
        ((*none, "2:4", (4, 2**64)), "shape is 18446744073709551616"),
        ((values, metadata, "3:4", (64, 8)), "pattern is '3:4'"),
        ((values, metadata, "2:4", [64, 8]), "shape is .64, 8.; expected rows and columns"),
        ((values, metadata, "2:4", (64, 8.0)), "shape is 8.0"),
        ((values, metadata, "2:4", (64, -8)), "shape is -8"),
        ((values, metadata, "2:4", (64, 6)), "columns in multiples of 4"),
        ((values, metadata, "2:4", (32, 8)), "values have shape"),
        ((values, metadata[:-1], "2:4", (64, 8)), "metadata have shape"),
        (
            (values.astype(np.float64), metadata, "2:4", (64, 8)),
            "values are of type float64; expected float32 or uint8",
        ),
        ((values, metadata.astype(np.int8), "2:4", (64, 8)), "metadata are of type int8; expected uint8"),
        ((values.tolist(), metadata, "2:4", (64, 8)), "values are of type list"),
    ):
        with pytest.raises(ng.Error, match=says):
            ng.SparseMatrix(*parts)
    assert (ng.SparseMatrix(values, metadata, "2:4", (64, 8)).to_dense() == stored.to_dense()).all()


@pytest.mark.parametrize("pattern", ["2:4", "1:2", "4:8pair"])
@pytest.mark.parametrize("format", ["nvfp4", "fp8_e4m3", "fp8_e5m2", "luq"])
def test_minus_zero_is_zero(pattern: str, format: str) -> None:
    """Which w * mask leaves: numbers and codes are stored as those of the matrix with +0."""
    x = RNG.standard_normal((16, 64)).astype(np.float32)
    mask = ng.sparsity_mask(x, pattern)
    minus, plus = x * mask, np.where(mask, x, np.float32(0))
    assert np.signbit(minus[~mask]).any()
    a, b = ng.to_sparse(minus, pattern), ng.to_sparse(plus, pattern)
    assert (a.values == b.values).all()
    assert (a.metadata == b.metadata).all()
    axis = -2 if format == "luq" else -1
    qm, qp = (ng.quantize(m.T if format == "luq" else m, format, axis=axis) for m in (minus, plus))
    element = qm.element
    assert (ng.decode(qm.codes, element) == ng.decode(qp.codes, element)).all()
    a, b = (ng.to_sparse(q.codes, pattern, element=element) for q in (qm, qp))
    assert (a.values == b.values).all()
    assert (a.metadata == b.metadata).all()
    guessed = ng.to_sparse(qm.codes, pattern)
    assert (ng.decode(guessed.to_dense(), element) == ng.decode(qp.codes, element)).all()


def test_codes_that_are_no_minus_zero_stay() -> None:
    codes = np.zeros((2, 8), np.uint8)
    codes[:, 1], codes[:, 2] = 8, 5
    assert (ng.to_sparse(codes).to_dense() == codes).all()  # fits as it is, whatever 8 is
    assert (ng.to_sparse(codes, element="int4").to_dense() == codes).all()
    assert (ng.to_sparse(codes, element="e4m3").to_dense() == codes).all()
    assert (ng.to_sparse(codes, element="e2m1").to_dense() == np.where(codes == 8, 0, codes)).all()
    codes[:, 3] = 3
    assert (ng.to_sparse(codes).to_dense() == np.where(codes == 8, 0, codes)).all()
    for element in ("int4", "e4m3", "e5m2"):
        with pytest.raises(
            ng.Error, match=r"^row 0 keeps 3 elements of columns 0 to 3; expected at most 2, as pruning to 2:4"
        ):
            ng.to_sparse(codes, element=element)
    with pytest.raises(ng.Error, match="element is 'e2m1' without codes"):
        ng.to_sparse(codes.astype(np.float32), element="e2m1")
    with pytest.raises(ng.Error, match="x holds 255; expected codes of e2m1, 0 to 15"):
        ng.to_sparse(np.full((1, 4), 255, np.uint8), element="e2m1")


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


def block_sums(x: np.ndarray, m: int) -> np.ndarray:
    """Sums of the m x m blocks."""
    return x.reshape(x.shape[0] // m, m, x.shape[1] // m, m).sum(axis=(1, 3))


def counts(mask: np.ndarray, m: int) -> np.ndarray:
    """How many stay in the rows and in the columns of the m x m blocks."""
    rows = mask.reshape(mask.shape[0], -1, m).sum(axis=-1)
    columns = mask.reshape(-1, m, mask.shape[1]).sum(axis=1)
    return np.concatenate([rows.ravel(), columns.ravel()])


@pytest.mark.parametrize(("pattern", "m"), [("2:4-T", 4), ("4:8-T", 8), ("1:3-T", 3), ("3:4-T", 4), ("2:2-T", 2)])
def test_transposable_exact(pattern: str, m: int) -> None:
    """The flow of least cost against a linear program."""
    n = int(pattern[0])
    x = RNG.integers(-100, 101, (m, 20 * m)).astype(np.float32)
    x[:, :m] = 0
    x[:, m : 2 * m] = 7
    mask = ng.transposable_mask(x, pattern)
    assert (counts(mask, m) == n).all()
    kept = block_sums(np.where(mask, np.abs(x), 0), m)[0]
    assert kept.tolist() == [best_sum(np.abs(x[:, m * i : m * i + m]), n) for i in range(20)]


def test_transposable_enumeration() -> None:
    x = RNG.integers(-100, 101, (64, 200)).astype(np.float32)
    mask = ng.transposable_mask(x, "2:4-T", method="enumerate")
    assert (counts(mask, 4) == 2).all()
    assert (mask == ng.sparsity_mask(x, "2:4-T")).all()
    exact = ng.transposable_mask(x, "2:4-T")
    assert (block_sums(np.where(mask, np.abs(x), 0), 4) == block_sums(np.where(exact, np.abs(x), 0), 4)).all()


@pytest.mark.parametrize(("pattern", "m"), [("2:4-T", 4), ("4:8-T", 8)])
def test_transposable_approximation(pattern: str, m: int) -> None:
    """Kept magnitude over the optimum: python/bench/masks.py measures it, docs/sparsity.md has the figures."""
    x = np.random.default_rng(3).standard_normal((64, 400)).astype(np.float32)
    mask = ng.transposable_mask(x, pattern, method="approximate")
    assert counts(mask, m).max() == m // 2
    if m == 8:
        assert (mask == ng.sparsity_mask(x, pattern)).all()
    best = ng.transposable_mask(x, pattern)
    ratios = np.divide(*(block_sums(np.where(by, np.abs(x), 0), m) for by in (mask, best)))
    assert 0.5 <= ratios.min() <= ratios.mean() <= 1
    assert ratios.mean() > 0.98


def test_adaprune() -> None:
    weights = RNG.standard_normal((6, 32)).astype(np.float32)
    inputs = (RNG.standard_normal((200, 32)) @ RNG.standard_normal((32, 32))).astype(np.float32)
    wanted = inputs.astype(np.float64) @ weights.T
    mask = ng.sparsity_mask(weights)
    fitted = ng.adaprune(weights, inputs)
    assert fitted.dtype == np.float32
    assert (fitted[~mask] == 0).all()
    for row, kept, target in zip(fitted, mask, wanted.T, strict=True):
        best = np.linalg.lstsq(inputs[:, kept].astype(np.float64), target, rcond=None)[0]
        assert row[kept] == pytest.approx(best, rel=1e-4, abs=1e-4)
    error, before = (np.square(inputs @ w.T - wanted).sum() for w in (fitted, ng.prune(weights)))
    assert error < before
    # A given mask; and where no sample has anything, weights stay as they are.
    columns = ng.transposable_mask(np.pad(weights, ((0, 2), (0, 0))), "4:8-T")[:6]
    inputs[:, :8] = 0
    fitted = ng.adaprune(weights, inputs, mask=columns)
    assert (fitted[:, :8] == np.where(columns, weights, 0)[:, :8]).all()
    assert (fitted[~columns] == 0).all()


def test_training_step() -> None:
    """One operand of each product is sparse along what is summed over, and the backward one has the forward one's mask."""
    x, dy = RNG.standard_normal((40, 16)), RNG.standard_normal((40, 8))
    weights = RNG.standard_normal((8, 16))
    forward, backward, update = (ng.sparse_operand(gemm) for gemm in ("forward", "backward", "update"))
    assert (forward.operand, backward.operand, update.operand) == ("weights", "weights", "gradient")
    assert forward.pattern == backward.pattern
    sparse = ng.prune(weights, forward.pattern, method=forward.method)
    gradient = ng.prune(dy.T, update.pattern, method=update.method, seed=1)
    for operand, other in ((sparse, x.T), (sparse.T, dy.T), (gradient, x)):  # y.T, dx.T, dW
        stored = ng.to_sparse(operand)
        assert (stored.to_dense() == operand).all()
        assert operand.shape[1] == other.shape[0]
    with pytest.raises(ng.Error, match="expected one of forward, backward, update"):
        ng.sparse_operand("sideways")


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
    with pytest.raises(ng.Error, match="row 0 keeps 4 elements"):
        ng.to_sparse(x)
    with pytest.raises(ng.Error, match="no metadata"):
        ng.to_sparse(x, "4:8")
    with pytest.raises(ng.Error, match="shape"):
        ng.to_sparse(x, mask=np.ones((2, 4), bool))
    with pytest.raises(ng.Error, match=r"too many to enumerate; expected 2:4-T"):
        ng.transposable_mask(np.ones((8, 8)), method="enumerate")
    with pytest.raises(ng.Error, match="expected a transposable pattern"):
        ng.transposable_mask(np.ones((8, 8)), "4:8")
    with pytest.raises(ng.Error, match="expected one of approximate, exact, enumerate"):
        ng.transposable_mask(np.ones((8, 8)), method="best")
    with pytest.raises(ng.Error, match="multiple of 8"):
        ng.transposable_mask(np.ones((8, 4)))
    for weights, inputs in ((x, np.ones((3, 4))), (x * np.nan, np.ones((3, 8))), (x, np.full((3, 8), np.inf))):
        with pytest.raises(ng.Error, match="expected"):
            ng.adaprune(weights, inputs, mask=np.ones_like(weights))
    with pytest.raises(ng.Error, match="mask has shape"):
        ng.adaprune(x, np.ones((3, 8)), mask=np.ones((1, 8)))
