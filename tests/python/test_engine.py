# SPDX-License-Identifier: Apache-2.0
"""Engines against the golden model, bit for bit, and against each other, cycle for cycle."""

from __future__ import annotations

import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import narrowgauge as ng

SIMULATED = [name for name in ng.engines() if name != "model"]


def operands(format: str, m: int, n: int, k: int, seed: int = 3) -> tuple[ng.QuantizedMatrix, ng.QuantizedMatrix]:
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    return ng.quantize(a, format), ng.quantize(b, format, axis="columns")


def bits(c: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(c).view(np.uint32)


def test_engines_and_tiles_of_this_build() -> None:
    assert list(ng.engines())[:2] == ["model", "systemc"]
    large = ng.tiles()["large"]
    assert (large.rows, large.cols, large.lanes, large.products_a_cycle) == (8, 8, 16, 1024)
    assert large.formats == ("nvfp4",)
    assert ng.tiles()["mixed"].formats == ("nvfp4", "fp8_e4m3")
    assert set(ng.tiles()["large_fp8"].formats) == {"fp8_e4m3", "fp8_e5m2", "fp8_e4m3_e5m2", "fp8_e5m2_e4m3"}


@pytest.mark.parametrize("engine", SIMULATED)
def test_luq_on_its_tile(engine: str) -> None:
    a, b = operands("luq", 9, 7, 100)
    result = ng.Engine(engine).gemm(a, b)
    np.testing.assert_array_equal(bits(result.c), bits(ng.gemm(a, b)))
    assert result.tile == "luq"
    assert ng.tiles()["luq"].formats == ("luq",)
    with pytest.raises(ng.Error, match=r"tile .large. does not have luq; expected"):
        ng.Engine(engine, tile="large").gemm(a, b)


MX = ("mxfp4", "mxfp8_e4m3", "mxfp8_e5m2", "mxfp8_e4m3_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "mxint8")


@pytest.mark.parametrize("engine", SIMULATED)
@pytest.mark.parametrize("format", MX)
def test_mx_on_its_tiles(engine: str, format: str) -> None:
    """Blocks are added in FP32 in the order of k, in one pass or more; a NaN scale stays in its vectors."""
    for k in (33, 32 * 64 + 1):  # within a bank, and beyond
        a, b = operands(format, 6, 5, k)
        scales = np.array(a.scales)
        scales[1, 1] = 0xFF
        a = ng.QuantizedMatrix(a.scheme, a.element, a.codes, scales, k=k)
        result = ng.Engine(engine).gemm(a, b)
        np.testing.assert_array_equal(bits(result.c), bits(ng.gemm(a, b)))
        assert np.isnan(result.c[1]).all()
        assert np.isfinite(np.delete(result.c, 1, 0)).all()
        assert ng.tiles()[str(result.tile)].mx
        assert format in ng.tiles()[str(result.tile)].formats
    with pytest.raises(ng.Error, match=r"tile .large. does not have mx"):
        ng.Engine(engine, tile="large").gemm(a, b)
    with pytest.raises(ng.Error, match="results"):
        ng.Engine(engine).gemm_requantized(a, b, 1.0, format="nvfp4")


def test_model_engine_is_gemm() -> None:
    a, b = operands("mxfp4", 9, 5, 70)
    result = ng.Engine().gemm(a, b)
    np.testing.assert_array_equal(bits(result.c), bits(ng.gemm(a, b)))
    assert (result.products, result.cycles, result.tile) == (9 * 5 * 70, None, None)
    assert (result.utilization, result.utilization_computing, result.activity) == (None, None, None)


@pytest.mark.parametrize("engine", ng.engines())
def test_sparse_operand(engine: str) -> None:
    rng = np.random.default_rng(4)
    w, x = rng.standard_normal((9, 72), dtype=np.float32), rng.standard_normal((72, 11), dtype=np.float32)
    a = ng.quantize(ng.prune(w, "2:4"), wide_blocks=True)
    b = ng.quantize(x, axis=-2, wide_blocks=True)
    result = ng.Engine(engine).gemm_sparse(a, b)
    assert result.c.tobytes() == (a @ b).tobytes()
    assert result.products == 9 * 11 * 72
    assert result.tile == (None if engine == "model" else "sparse")
    with pytest.raises(ng.Error, match="prune it first"):
        ng.Engine(engine).gemm_sparse(ng.quantize(w, wide_blocks=True), b)
    with pytest.raises(ng.Error, match="wide blocks"):
        ng.Engine(engine).gemm_sparse(a, ng.quantize(x, axis=-2))
    if engine != "model":
        assert ng.tiles()["sparse"].sparse
        with pytest.raises(ng.Error, match="large"):
            ng.Engine(engine, tile="large").gemm_sparse(a, b)
    with pytest.raises(ng.Error, match="wide_blocks"):
        ng.quantize(w, dialect="te", wide_blocks=True)


@pytest.mark.parametrize("engine", ng.engines())
@pytest.mark.parametrize("pattern", ["2:4", "1:2", "4:8pair"])
@pytest.mark.parametrize(
    ("format", "tile"),
    [("nvfp4", "sparse"), ("fp8_e4m3", "sparse_fp8"), ("fp8_e5m2_e4m3", "sparse_fp8"), ("luq", "sparse_luq")],
)
def test_sparse_formats_and_patterns(engine: str, pattern: str, format: str, tile: str) -> None:
    a, b = operands("nvfp4", 40, 256, 64)
    multiplier = ng.Engine(engine)
    plain = multiplier.gemm_requantized(a, b, 0.01, relu=True)
    rectified = np.maximum(ng.gemm(a, b), 0).astype(ml_dtypes.bfloat16).astype(np.float32)
    assert plain.c == ng.quantize(rectified, "nvfp4", tensor_scale=0.01)
    assert plain.amax == rectified.max()
    assert all(multiplier.gemm_requantized(a, b, 0.01, relu=True, compress=c).c == plain.c for c in ("c", "ac", "cab"))
    if engine == "model":
        assert plain.run.result_bytes is None
        return
    assert ng.tiles()["codec"].encoders == 4
    # The code of the results is that of a's bytes: of one that is rectified, too.
    on_codec = ng.Engine(engine, tile="codec")
    second = ng.quantize(np.random.default_rng(4).standard_normal((256, 64)), "nvfp4", axis="columns")
    raw = on_codec.gemm_requantized(plain.c, second, 0.01, relu=True)
    packed = multiplier.gemm_requantized(plain.c, second, 0.01, relu=True, compress="c")
    assert packed.run.tile == "codec"
    assert packed.c == raw.c
    assert packed.run.result_bytes < 0.9 * raw.run.result_bytes
    assert raw.run.result_bytes == 40 * 64 // 16 * 9
    with pytest.raises(ng.Error, match="chain"):
        ng.Engine(engine, tile="chain").gemm_requantized(a, b, 0.01, compress="c")


@pytest.mark.parametrize("engine", ng.engines())
def test_two_layers_without_the_host(engine: str) -> None:
    a, b = operands("nvfp4", 9, 40, 70)
    c = ng.gemm(a, b)
    scale = float(np.float32(np.abs(c).max() / 2688))
    multiplier = ng.Engine(engine, tile=None if engine == "model" else "chain")
    first = multiplier.gemm_requantized(a, b, scale)
    assert first.amax == np.abs(c).max().astype(ml_dtypes.bfloat16).astype(np.float32)
    assert (first.c.shape, first.c.tensor_scale, first.run.products, first.run.c.size) == (
        (9, 40),
        scale,
        9 * 40 * 70,
        0,
    )
    assert first.run.tile == (None if engine == "model" else "chain")
    as_bf16 = c.astype(ml_dtypes.bfloat16).astype(np.float32)
    assert first.c == ng.quantize(as_bf16, "nvfp4", tensor_scale=scale)
    second = ng.quantize(np.random.default_rng(4).standard_normal((40, 6)), "nvfp4", axis="columns")
    result = multiplier.gemm(first.c, second)
    np.testing.assert_array_equal(bits(result.c), bits(ng.gemm(first.c, second)))


@pytest.mark.parametrize("engine", ng.engines())
@pytest.mark.parametrize(
    ("format", "results", "tile"),
    [("fp8_e4m3", "fp8_e4m3", "chain_fp8"), ("fp8_e4m3_e5m2", "fp8_e5m2", "chain_fp8"), ("luq", "int4", "luq")],
)
def test_two_layers_in_other_formats(engine: str, format: str, results: str, tile: str) -> None:
    a, b = operands(format, 9, 40, 70)
    c = ng.gemm(a, b)
    narrow = c.astype(ml_dtypes.bfloat16).astype(np.float32)
    largest = {"fp8_e4m3": 448, "fp8_e5m2": 57344, "int4": 7}[results]
    scale = float(2.0 ** np.ceil(np.log2(np.abs(narrow).max() / largest)))
    multiplier = ng.Engine(engine)
    own = results != "fp8_e5m2"  # a's format is what results have unless another one is named
    first = multiplier.gemm_requantized(a, b, scale, format=None if own else results)
    assert first.amax == np.abs(narrow).max()
    assert first.run.tile == (None if engine == "model" else tile)
    assert (first.c.shape, first.c.tensor_scale) == ((9, 40), scale)
    if results == "int4":
        assert (first.c.scheme, first.c.element) == ("int4", "int4")
        np.testing.assert_array_equal(ng.dequantize(first.c) / scale, np.clip(np.rint(narrow / scale), -8, 7))
    else:
        assert first.c == ng.quantize(narrow, results, tensor_scale=scale)
    second = ng.quantize(
        np.random.default_rng(4).standard_normal((40, 6)), "luq" if results == "int4" else results, axis=-2
    )
    result = multiplier.gemm(first.c, second)
    np.testing.assert_array_equal(bits(result.c), bits(ng.gemm(first.c, second)))


def test_requantized_results_are_refused() -> None:
    a, b = operands("nvfp4", 2, 3, 20)
    for scale in (0.0, -1.0, np.inf, np.nan, 2.0**-112, 1e39):
        with pytest.raises(ng.Error, match=r"cannot have the tensor scale .*expected a number from 2\^-111"):
            ng.Engine().gemm_requantized(a, b, scale)
    for format, scale, expected in (
        ("fp8_e4m3", 0.75, "a power of two"),
        ("fp8_e5m2", 0.0, "a power of two"),
        ("int4", 0.0, "above 0"),
    ):
        with pytest.raises(
            ng.Error, match=rf"results in {format} cannot have the tensor scale {scale:g}; expected .*{expected}"
        ):
            ng.Engine().gemm_requantized(a, b, scale, format=format)
    with pytest.raises(ng.Error, match="no results in 'mxfp4'; expected one of nvfp4, fp8_e4m3, fp8_e5m2, int4"):
        ng.Engine().gemm_requantized(a, b, 1.0, format="mxfp4")
    with pytest.raises(ng.Error, match=r"tile .chain. does not have .* with results in fp8_e4m3"):
        ng.Engine("systemc", tile="chain").gemm_requantized(a, b, 1.0, format="fp8_e4m3")
    requantize = [name for name, tile in ng.tiles().items() if tile.requantize]
    assert requantize == ["chain", "chain_fp8", "luq", "codec"]
    for compress in ("d", "aa", "a c"):
        with pytest.raises(ng.Error, match="expected letters of 'abc'"):
            ng.Engine().gemm_requantized(a, b, 1.0, compress=compress)
    with pytest.raises(ng.Error, match="large"):
        ng.Engine("systemc", tile="large").gemm_requantized(a, b, 1.0)


@pytest.mark.parametrize("engine", SIMULATED)
@pytest.mark.parametrize("tile", ng.tiles())
def test_simulated_engines_equal_the_model(engine: str, tile: str) -> None:
    simulated = ng.Engine(engine, tile=tile)
    for format in ng.tiles()[tile].formats:
        for m, n, k in ((1, 1, 1), (17, 9, 65), (3, 20, 250)):
            a, b = operands(format, m, n, k, seed=m)
            result = simulated.gemm(a, b)
            np.testing.assert_array_equal(bits(result.c), bits(ng.gemm(a, b)))
            assert result.tile == tile
            assert result.products == m * n * k
            assert result.cycles is not None
            assert result.utilization == m * n * k / (result.cycles * ng.tiles()[tile].products_a_cycle)
            assert (result.activity is not None) == ng.tiles()[tile].counters
            if result.activity is not None:
                assert 0 < result.activity["busy"] <= result.cycles
                assert result.utilization_computing >= result.utilization


@pytest.mark.skipif("rtl" not in ng.engines(), reason="built without NG_RTL")
def test_rtl_and_systemc_agree_in_every_cycle() -> None:
    for format in ("nvfp4", "fp8_e4m3"):
        a, b = operands(format, 20, 30, 400)
        one, other = (ng.Engine(name).gemm(a, b) for name in ("systemc", "rtl"))
        np.testing.assert_array_equal(bits(one.c), bits(other.c))
        assert (one.cycles, one.activity, one.tile) == (other.cycles, other.activity, other.tile)


@pytest.mark.skipif("rtl" not in ng.engines(), reason="built without NG_RTL")
@pytest.mark.parametrize(
    ("mode", "format", "unit"),
    [
        ("blackwell", "nvfp4", "mma_nvfp4"),
        ("blackwell", "mxfp4", "mma_nvfp4_e8m0"),
        ("blackwell", "fp8_e5m2", "mma_fp8_blackwell"),
        ("hopper", "fp8_e4m3", "mma_fp8_hopper"),
        ("blackwell", "mxfp8_e4m3", "mma_mx"),
        ("blackwell", "mxfp6_e3m2", "mma_mx"),
        ("rvbna", "fp8_e5m2", "mma_rvbna"),
    ],
)
def test_the_unit_of_a_matrix_instruction_adds_as_the_model(mode: str, format: str, unit: str) -> None:
    a, b = operands(format, 5, 7, 200)
    engine = pickle.loads(pickle.dumps(ng.Engine("rtl", accumulate=mode)))
    result = engine.gemm(a, b)
    np.testing.assert_array_equal(bits(result.c), bits(ng.gemm(a, b, accumulate=mode)))
    assert (result.tile, result.operand_bytes, result.activity) == (unit, None, None)
    assert 0 < result.utilization <= 1


def without_tensor_scale(q: ng.QuantizedMatrix) -> ng.QuantizedMatrix:
    return ng.QuantizedMatrix(q.scheme, q.element, q.codes, q.scales, 1.0, k=q.k)


@pytest.mark.parametrize("engine", ["systemc", "rtl"])
@pytest.mark.parametrize("format", ["nvfp4", "fp8_e4m3"])
def test_integer_results(engine: str, format: str) -> None:
    """Codes are those of quantize_affine under a scale of 1, and of a transcription in float64."""
    if engine not in ng.engines():
        pytest.skip(f"this build has no engine {engine}")
    a, b = operands(format, 9, 11, 96)
    scale = np.float32(0.37)
    for zero_point in (255, -128, 0, 3):
        c, run = ng.Engine(engine).gemm_integers(a, b, scale, zero_point=zero_point)
        assert (run.tile, c.dtype, c.shape) == ("integers", np.int8, (9, 11))
        np.testing.assert_array_equal(c, ng.Engine().gemm_integers(a, b, scale, zero_point=zero_point).c)
        factor = np.float32(a.tensor_scale) * np.float32(b.tensor_scale) / scale
        unscaled = ng.Engine().gemm(without_tensor_scale(a), without_tensor_scale(b.mT).mT).c
        number = (unscaled * factor).astype(np.float64) + zero_point
        np.testing.assert_array_equal(c, np.clip(np.rint(number), -128, 127))
    assert len(np.unique(c)) > 3


def test_integer_results_are_refused() -> None:
    a, b = operands("nvfp4", 2, 2, 32)
    for scale in (0.0, -1.0, np.inf, np.nan, 1e39, 1e-45):
        with pytest.raises(ng.Error, match="scale"):
            ng.Engine().gemm_integers(a, b, scale)
    for zero_point in (-257, 256, 0.5):
        with pytest.raises(ng.Error, match="zero_point"):
            ng.Engine().gemm_integers(a, b, 1.0, zero_point=zero_point)  # type: ignore[arg-type]
    with pytest.raises(ng.Error, match="INT8"):
        ng.Engine("systemc", tile="tiny").gemm_integers(a, b, 1.0)
    with pytest.raises(ng.Error, match="integer results"):
        ng.Engine("rtl", accumulate="blackwell").gemm_integers(a, b, 1.0)


def test_sums_end_at_a_deadline() -> None:
    a, b = operands("nvfp4", 4, 5, 320)
    whole = ng.Engine("systemc", tile="tiny_deadline").gemm(a, b)
    assert (whole.deadline, whole.ended_early) == (None, False)
    engine = pickle.loads(pickle.dumps(ng.Engine("systemc", deadline=whole.cycles * 3 // 4)))
    result = pickle.loads(pickle.dumps(engine.gemm(a, b)))
    assert (result.tile, result.ended_early) == ("tiny_deadline", True)
    assert result.deadline["late"]
    assert result.deadline["whole"] == 4 * 5 * 320 // 16 > result.deadline["beats"] >= 4 * 5
    same = bits(result.c) == bits(whole.c)
    assert same[0].all()
    assert not same[-1].all()
    in_time = ng.Engine("systemc", deadline=2 * whole.cycles).gemm(a, b)
    np.testing.assert_array_equal(bits(in_time.c), bits(whole.c))
    assert in_time.deadline == {"late": False, "beats": 400, "whole": 400}


def test_progress_reaches_the_end_and_its_exception_comes_out() -> None:
    a, b = operands("nvfp4", 40, 40, 64)
    calls: list[tuple[int, int]] = []
    ng.Engine("systemc").gemm(a, b, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1][0] == calls[-1][1] > 0

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    for engine in ("model", "systemc"):
        with pytest.raises(KeyboardInterrupt):
            ng.Engine(engine).gemm(a, b, progress=stop)


def test_a_board_behind_a_serial_line(tmp_path: Path) -> None:
    program = Path(ng._core.__file__).parents[2] / "bin" / "narrowgauge"
    if not program.exists():
        pytest.skip("the program is not beside this package")
    link = tmp_path / "board"
    with subprocess.Popen(
        [program, "simulate-board", "--link", link, "--faults", "0.001"], stdout=subprocess.PIPE
    ) as board:
        try:
            assert board.stdout is not None
            board.stdout.readline()
            a, b = operands("nvfp4", 6, 7, 50)
            engine = ng.Engine("board", port=link)
            assert engine.name == "board"
            run = engine.gemm(a, b)
            np.testing.assert_array_equal(bits(run.c), bits(ng.Engine().gemm(a, b).c))
            assert run.cycles is None
            assert run.tile == "1x1x16"
            assert run.link["sent_bytes"] > run.operand_bytes
            assert pickle.loads(pickle.dumps(run)).link == run.link
            with pytest.raises(ng.Error, match="does not have fp8_e4m3"):
                engine.gemm(*operands("fp8_e4m3", 2, 2, 16))
        finally:
            board.terminate()


def test_threads_may_share_an_engine() -> None:
    engine = ng.Engine("systemc")
    want = {seed: operands("nvfp4", 8, 8, 64, seed) for seed in range(4)}
    got: dict[int, np.ndarray] = {}
    threads = [threading.Thread(target=lambda s=s: got.update({s: engine.gemm(*want[s]).c})) for s in want]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, (a, b) in want.items():
        np.testing.assert_array_equal(bits(got[seed]), bits(ng.gemm(a, b)))


PRODUCTS = {
    "gemm": lambda engine, a, b, progress: engine.gemm(a, b, progress=progress),
    "gemm_sparse": lambda engine, a, b, progress: engine.gemm_sparse(a, b, progress=progress),
    "gemm_compressed": lambda engine, a, b, progress: engine.gemm_compressed(a, b, progress=progress),
    "gemm_requantized": lambda engine, a, b, progress: engine.gemm_requantized(a, b, 1.0, progress=progress),
    "gemm_integers": lambda engine, a, b, progress: engine.gemm_integers(a, b, 1.0, progress=progress),
}


@pytest.mark.parametrize("product", PRODUCTS)
def test_an_engine_is_not_for_the_callback_of_its_own_product(product: str) -> None:
    """It used to wait for itself for ever."""
    engine, other = ng.Engine(), ng.Engine()
    a = ng.quantize(ng.prune(np.ones((4, 32), np.float32)), wide_blocks=True)
    b = ng.quantize(np.ones((32, 4), np.float32), axis=-2, wide_blocks=True)
    for inner in PRODUCTS.values():
        with pytest.raises(ng.Error, match="progress callback of its own product; expected"):
            PRODUCTS[product](engine, a, b, lambda *_, inner=inner: inner(engine, a, b, None))
        PRODUCTS[product](engine, a, b, lambda *_, inner=inner: inner(other, a, b, None))
        inner(engine, a, b, None)  # and it is free again


def test_who_waits_for_an_engine_hears_signals() -> None:
    engine = ng.Engine()
    a, b = operands("nvfp4", 4, 4, 32)
    began, leave = threading.Event(), threading.Event()

    def hold(*_: int) -> None:
        began.set()
        leave.wait(60)

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    holder = threading.Thread(target=lambda: engine.gemm(a, b, progress=hold))
    holder.start()
    assert began.wait(60)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            engine.gemm(a, b)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        leave.set()
        holder.join()
    engine.gemm(a, b)


def test_arrays_are_views_that_outlive_their_owner() -> None:
    q = ng.quantize(np.ones((3, 40), np.float32))
    codes, scales = q.codes, q.scales
    assert not codes.flags.owndata
    assert not codes.flags.writeable
    assert scales is not None
    assert not scales.flags.writeable
    keep = codes.copy()
    del q
    np.testing.assert_array_equal(codes, keep)
    c = ng.Engine().gemm(*operands("nvfp4", 4, 4, 16)).c
    assert c.flags.writeable
    assert c.flags.c_contiguous


NVFP4 = operands("nvfp4", 2, 2, 16)
MXFP4 = operands("mxfp4", 2, 2, 32)
SCALED = ng.quantize(np.ones((2, 32)), "fp8_e4m3", scaling="vector")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ng.Engine("abacus"), ["'abacus'", "systemc"]),
        (lambda: ng.Engine("systemc", tile="huge"), ["'huge'", "large"]),
        (lambda: ng.Engine("model", tile="large"), ["'large'", "systemc"]),
        (lambda: ng.Engine("systemc", trace="w.fst"), ["w.fst", "rtl"]),
        (lambda: ng.Engine("systemc", accumulate="hopper"), ["'hopper'", "rtl", "narrowgauge.gemm"]),
        (lambda: ng.Engine("rtl", accumulate="ampere"), ["'ampere'", "blackwell"]),
        (lambda: ng.Engine("rtl", accumulate="hopper", deadline=9), ["deadline 9", "exact sums"]),
        (lambda: ng.Engine(deadline=9), ["deadline 9", "systemc"]),
        (lambda: ng.Engine("systemc", deadline=2**31 + 1), ["deadline", "2147483649"]),
        (lambda: ng.Engine("systemc", deadline=9).gemm(*operands("fp8_e4m3", 2, 2, 32)), ["under a deadline"]),
        (lambda: ng.Engine("board"), ["port", "/dev/ttyUSB1"]),
        (lambda: ng.Engine("board", port="/dev/null"), ["/dev/null", "serial"]),
        (lambda: ng.Engine("board", port="/dev/null", baud=7), ["7", "9600"]),
        (lambda: ng.Engine("board", port="/dev/null", tile="tiny"), ["tiny", "leave tile out"]),
        (lambda: ng.Engine("systemc", port="/dev/null"), ["/dev/null", "board"]),
        (lambda: ng.Engine("systemc", tile="mxfp8").gemm(*MXFP4), ["mxfp4", "mxfp8"]),
        (lambda: ng.Engine("systemc").gemm(*operands("fp8_e4m3fnuz", 2, 2, 32)), ["e4m3fnuz", "model"]),
        (lambda: ng.Engine("systemc").gemm(SCALED, operands("fp8_e4m3", 2, 2, 32)[1]), ["scales", "model"]),
        (lambda: ng.Engine("systemc", tile="large_fp8").gemm(*NVFP4), ["large_fp8", "nvfp4", "; expected"]),
        (lambda: ng.Engine("systemc").gemm(NVFP4[0], operands("nvfp4", 2, 2, 32)[1]), ["16", "32"]),
        *(
            [(lambda: ng.Engine("rtl"), ["rtl", "NG_RTL", "systemc"])]
            if "rtl" not in ng.engines()
            else [(lambda: ng.Engine("rtl", trace="no/w.fst").gemm(*NVFP4), ["no/w.fst"])]
        ),
    ],
)
def test_errors_are_sentences_that_name_the_value(call: object, words: list[str]) -> None:
    with pytest.raises(ng.Error) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)
    assert len(str(caught.value).split()) > 4


def test_a_signal_ends_the_golden_product() -> None:
    """Ctrl-C, say."""
    rng = np.random.default_rng(4)
    k = 1 << 18

    def operand(length: int) -> ng.QuantizedMatrix:
        return ng.QuantizedMatrix("fp8", "e5m2", rng.integers(0, 0x78, (64, length), dtype=np.uint8))

    class Stop(Exception):
        pass

    def stop(*_: object) -> None:
        raise Stop

    short = operand(k // 8)
    began = time.monotonic()
    ng.gemm(short, short.mT)
    eighth = time.monotonic() - began
    q = operand(k)
    before = signal.signal(signal.SIGALRM, stop)
    try:
        for multiply in (ng.gemm, ng.Engine().gemm):
            began = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, eighth)
            with pytest.raises(Stop):
                multiply(q, q.mT)
            assert time.monotonic() - began < 4 * eighth + 0.5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# A child's work: a wave, with no file larger than so many bytes.
TRACED = """
import resource, sys
import ml_dtypes
import numpy as np
import narrowgauge as ng
a = ng.quantize(np.random.default_rng(1).standard_normal((64, 2048)), "nvfp4")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
try:
    ng.Engine("rtl", tile="large", trace="w.fst").gemm(a, a.mT)
except ng.Error as error:
    print("Error:", error)
"""


@pytest.mark.skipif("rtl" not in ng.engines(), reason="built without simulated tiles")
@pytest.mark.parametrize("size", [4096, 8 << 20, (8 << 20) + 4096, None])
def test_a_wave_on_a_full_disk_is_an_error(tmp_path: Path, size: int | None) -> None:
    """Of the sizes, the first stops before anything is written, the others let the writer begin."""
    (tmp_path / "w.fst").write_bytes(b"old")
    limit = resource.RLIM_INFINITY if size is None else size
    child = subprocess.run(
        [sys.executable, "-c", TRACED, str(limit)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert [path.name for path in tmp_path.iterdir()] == ["w.fst"]
    if size is None:
        assert child.stdout == ""
        assert (tmp_path / "w.fst").stat().st_size > (8 << 20) + 4096  # so that the limits are met
    else:
        assert child.stdout.startswith("Error: w.fst could not be written completely")
        assert (tmp_path / "w.fst").read_bytes() == b"old"
