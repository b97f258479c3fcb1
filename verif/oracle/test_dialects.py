# SPDX-License-Identifier: Apache-2.0
"""Dialects of the quantizer: the vectors that their originals made, the transcription in dialects.py, corner cases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import dialects as oracle
import ml_dtypes
import numpy as np
import pytest
from originals import vectors

import narrowgauge as ng

F = np.float32
BF16 = ml_dtypes.bfloat16
# Originals without a result: infinite intermediates (vectors/README.md).
NO_RESULT = ("subnormal_bf16", "tiny_clamped")


def unpack(codes: np.ndarray) -> np.ndarray:
    return ng.unpack(codes)


def bf16(bits: np.ndarray) -> np.ndarray:
    return bits.view(BF16)


def inputs(file: str, key: str) -> Iterator[tuple[str, np.ndarray, dict[str, np.ndarray]]]:
    """Class, matrix of BF16, and the entries of `file` for the class, of those that have `key`."""
    made = vectors(file)
    count = 0
    for name, bits in vectors("inputs_bf16").items():
        if f"{name}/{key}" in made:
            count += 1
            yield name, bf16(bits), {k.split("/")[1]: v for k, v in made.items() if k.startswith(f"{name}/")}
    assert count >= 10, f"{file} has {count} classes with {key}; expected more"


def same(q: ng.QuantizedMatrix, codes: np.ndarray, scales: np.ndarray, what: str) -> None:
    np.testing.assert_array_equal(q.scales, scales, err_msg=what)
    np.testing.assert_array_equal(q.codes, unpack(codes), err_msg=what)


@pytest.mark.parametrize("copy", ["row", "col", "w2d"])
def test_te(copy: str) -> None:
    """The reference in Python gives code 0 for a -0, the kernels keep its sign: codes_ao."""
    dialect = "te_2d" if copy == "w2d" else "te"
    for name, x, want in inputs("te_nvfp4", f"{copy}.codes"):
        axis = -2 if copy == "col" else -1
        q = ng.quantize(x, dialect=f"{dialect}:zero_sign=drop", axis=axis)
        same(q, want[f"{copy}.codes"], want[f"{copy}.scales"], name)
        amax = np.abs(x.astype(F)).max()
        factors = ng.dialect_scales(dialect, amax)
        assert F(q.tensor_scale) == F(factors["tensor_scale"]) == (F(1) if amax == 0 else amax / F(2688))
        if copy == "row":
            kernel = ng.quantize(x, dialect="te")
            same(kernel, want["row.codes_ao"], want["row.scales"], name)
            assert kernel == ng.quantize(x, "nvfp4", rule="vendor")
            assert amax == want["row.amax"].view(F)[0]
            assert F(factors["encode_scale"]) == want["row.s_enc"].view(F)[0]
            blocks = np.unique(want["row.scales"])
            table = np.zeros(256, F)
            table[blocks] = [ng.dialect_scales("te", amax, int(code))["block_factor"] for code in blocks]
            np.testing.assert_array_equal(table[want["row.scales"]], want["row.e"].view(F), err_msg=name)


def test_te_rht16() -> None:
    """Rotated along the tokens; where not_exact is set, a tie was decided by bits that FP32 had lost."""
    for name, x, want in inputs("te_nvfp4", "rht.y"):
        y, mean = ng.front_stage(x, "rht16", axis=-2)
        assert mean is None
        wanted = bf16(want["rht.y"]).astype(F)
        lost = np.unpackbits(want["rht.not_exact"], axis=1)[:, : wanted.shape[1]] == 1
        np.testing.assert_array_equal((y.T.view(np.uint32) == wanted.view(np.uint32)) | lost, True, err_msg=name)
        q = ng.quantize(wanted, dialect="te:zero_sign=drop")
        same(q, want["rht.codes"], want["rht.scales"], name)
        if not lost.any():
            q = ng.quantize(x, dialect="te:zero_sign=drop,front=rht16", axis=-2)
            same(q, want["rht.codes"], want["rht.scales"], name)
            assert F(q.tensor_scale) == F(ng.dialect_scales("te", want["rht.amax"].view(F)[0])["tensor_scale"])


@pytest.mark.parametrize("mode", ["mae256", "mse256", "mae448", "mse448"])
@pytest.mark.parametrize("kind", ["", "_2d", "_fast"])
def test_te_4over6(mode: str, kind: str) -> None:
    if kind == "_fast" and mode.endswith("448"):
        pytest.skip("the original was not asked for it")
    fields = {"": "", "_2d": ",shape=16x16", "_fast": ",search_error=scaled"}[kind]
    for name, x, want in inputs("te_nvfp4_4over6", f"{mode}{kind}.codes"):
        q = ng.quantize(x, dialect=f"te_4over6:search={mode[:3]},bound={mode[3:]},zero_sign=drop{fields}")
        same(q, want[f"{mode}{kind}.codes"], want[f"{mode}{kind}.scales"], name)


@pytest.mark.parametrize(
    ("key", "fields"),
    [
        ("nvfp4_static6", "search=none,bound=448"),
        ("nvfp4_static4", "search=none,bound=448,element_max=4"),
        ("nvfp4_static6_2d", "search=none,bound=448,shape=16x16"),
        ("nvfp4_mae", "search=mae"),
        ("nvfp4_mse", "search=mse"),
        ("nvfp4_absmax", "search=largest"),
        ("nvfp4_mae_2d", "search=mae,shape=16x16"),
        ("nvfp4_mse_2d", "search=mse,shape=16x16"),
    ],
)
def test_fouroversix(key: str, fields: str) -> None:
    """But blocks in which the original, without a clamp, makes a 7 an 8, and stores that as -0."""
    compared = wrapped = 0
    for name, x, want in inputs("fouroversix", f"{key}.codes"):
        if name in NO_RESULT:
            continue
        q = ng.quantize(x, dialect=f"fouroversix:{fields}")
        blocks = x.astype(F).reshape(-1, 16)
        codes = unpack(want[f"{key}.codes"]).reshape(-1, 16)
        scales = want[f"{key}.scales"].reshape(-1)
        clamps = clamped(blocks, np.abs(x.astype(F)).max(), fields)
        if "shape" in fields:
            clamps = np.repeat(clamps.reshape(-1, 16, x.shape[1] // 16).any(axis=1), 16, axis=0).reshape(-1)
        np.testing.assert_array_equal(q.scales.reshape(-1)[~clamps], scales[~clamps], err_msg=name)
        np.testing.assert_array_equal(q.codes.reshape(-1, 16)[~clamps], codes[~clamps], err_msg=name)
        compared += int((~clamps).sum())
        wrapped += int(clamps.sum())
    assert compared > 10000
    assert wrapped < 100


def clamped(blocks: np.ndarray, amax: np.float32, fields: str) -> np.ndarray:
    """Blocks with a scaled element of 7 or more, in one of the candidates."""
    given = dict(item.split("=") for item in fields.split(","))
    rules = replace(
        oracle.TE_4OVER6,
        bound=float(given.get("bound", 256)),
        element_max=float(given.get("element_max", 6)),
        tile=False,
    )
    out = np.zeros(len(blocks), bool)
    tile = "shape" in given
    sizes = np.abs(blocks).max(axis=1)
    with np.errstate(all="ignore"):
        for four in (False, True):
            if tile:
                continue
            scales, _ = oracle.candidate(blocks, sizes, amax, None, rules, four)
            e = F(1) / (oracle.from_e4m3(scales) * (F(1) / oracle.encode_scale(amax, rules)))
            out |= (np.abs(blocks * e[:, None]) >= 7).any(axis=1) & (scales != 0)
    return out


@pytest.mark.parametrize("key", ["mxfp4_static6", "mxfp4_static4"])
def test_fouroversix_mx(key: str) -> None:
    for name, x, want in inputs("fouroversix", f"{key}.codes"):
        if name in NO_RESULT:
            continue
        q = ng.quantize(x, dialect=f"ocp_floor:power_rule=quotient,element_max={key[-1]},zero_sign=drop")
        np.testing.assert_array_equal(q.scales, want[f"{key}.scales"], err_msg=name)
        np.testing.assert_array_equal(q.codes, unpack(want[f"{key}.codes"]), err_msg=name)


@pytest.mark.parametrize("level", ["two_level", "one_level"])
def test_torchao(level: str) -> None:
    for name, x, want in inputs("torchao_ptq_nvfp4", f"{level}.codes"):
        if level == "two_level" and name in NO_RESULT:
            continue
        q = ng.quantize(x, dialect="torchao", tensor_scale=1.0 if level == "one_level" else None)
        same(q, want[f"{level}.codes"], want[f"{level}.scales"], name)
        if level == "two_level":
            assert F(q.tensor_scale) == want["per_tensor_scale"].view(F)[0]


@pytest.mark.parametrize("element", ["fp4", "e4m3", "e5m2"])
@pytest.mark.parametrize("rule", ["floor", "rceil", "ceil", "even"])
def test_ocp(element: str, rule: str) -> None:
    made = vectors("torchao_mx")
    seen = 0
    for key in [k for k in made if k.endswith(f"/{element}_{rule}.scales")]:
        name = key.split("/")[0]
        x = bf16(made["nonfinite/x"] if name == "nonfinite" else vectors("inputs_bf16")[name][:16])
        dialect = {"floor": "ocp_floor", "rceil": "ocp_rceil"}.get(rule, f"ocp_floor:power_rule={rule}")
        form = "mxfp4" if element == "fp4" else f"mxfp8_{element}"
        q = ng.quantize(x, form, dialect=dialect)
        np.testing.assert_array_equal(q.scales, made[key], err_msg=name)
        data = made[key.replace("scales", "data")]
        meant = np.repeat(made[key] != 255, 32, axis=1)  # codes under a scale of NaN mean nothing
        np.testing.assert_array_equal(q.codes[meant], (unpack(data) if element == "fp4" else data)[meant], err_msg=name)
        assert not q.codes[~meant].any()
        seen += 1
    assert seen > 20 or (element, rule) in [("e4m3", "ceil"), ("e5m2", "ceil"), ("e5m2", "even")]


@pytest.mark.parametrize("kind", ["eden", "eden46"])
def test_quartet2(kind: str) -> None:
    dialect = "quartet2" if kind == "eden" else "quartet2:search=mse"
    for name, x, want in inputs("quartet2_twin", f"{kind}.codes"):
        q = ng.quantize(x, dialect=dialect, random=want["u_block"].view(F))
        assert F(q.tensor_scale) == want["s_dec"].view(F)[0]
        np.testing.assert_array_equal(q.scales.reshape(-1), want[f"{kind}.scales"], err_msg=name)
        np.testing.assert_array_equal(q.codes.reshape(-1, 16), unpack(want[f"{kind}.codes"]), err_msg=name)
        values = np.asarray(q).reshape(-1).view(np.uint32)
        np.testing.assert_array_equal(values, want[f"{kind}.dq"], err_msg=name)


@pytest.mark.parametrize("kind", ["rtn", "rtn46", "sr"])
def test_quartet2_elements(kind: str) -> None:
    """Its other kernels, by fields. `sr` moves values that are on the grid already: a defect, not followed."""
    fields = {
        "rtn": "bound=448",
        "rtn46": "bound=256,search=mse",
        "sr": "bound=448,rounding=stochastic",
    }[kind]
    if kind != "sr":
        fields += ",element_max=6"
    for name, x, want in inputs_of_quartet2(kind):
        random = want["sr.u"].view(F).reshape(x.shape) if kind == "sr" else None
        q = ng.quantize(x, dialect=f"quartet2:point=element,{fields}", random=random)
        unit = ng.decode(q.scales, "ue4m3") * F(q.tensor_scale)
        values = ng.decode(q.codes, "e2m1").reshape(-1, 16) * unit.reshape(-1, 1)
        different = values.reshape(-1).view(np.uint32) != want[f"{kind}.dq"]
        if kind == "sr":
            y = np.abs(x.astype(F).reshape(-1, 16) / unit.reshape(-1, 1)).reshape(-1)
            different &= ~np.isin(y, oracle.E2M1)
        assert not different.any(), name


def inputs_of_quartet2(kind: str) -> Iterator[tuple[str, np.ndarray, dict[str, np.ndarray]]]:
    made = vectors("quartet2_twin")
    for name in [k.split("/")[0] for k in made if k.endswith(f"/{kind}.dq")]:
        entries = {k.split("/")[1]: v for k, v in made.items() if k.startswith(f"{name}/")}
        yield name, bf16(vectors("inputs_bf16")[name]), entries


# What the transcription is asked for: a dialect of ours, its rules in dialects.py.
TRANSCRIBED: dict[str, oracle.Rules] = {
    **{name: rules for name, rules in oracle.DIALECTS.items() if name != "quartet2"},
    "fouroversix": oracle.FOUROVERSIX,
    "quartet2:point=element": oracle.QUARTET2,
    "quartet2:point=element,bound=256,search=mse": replace(
        oracle.QUARTET2, bound=256.0, search="mse", error_sum="pairwise"
    ),
    "te_4over6:search=mse,bound=448": replace(oracle.TE_4OVER6, search="mse", bound=448.0),
    "te_4over6:shape=16x16": replace(oracle.TE_4OVER6, tile=True),
    "te_4over6:search_error=scaled": replace(oracle.TE_4OVER6, error="fp16"),
    "torchao:shape=16x16": replace(oracle.TORCHAO, tile=True),
    "modelopt:zero_scale=zeros_one": replace(oracle.MODELOPT, zero_scale="zeros_one"),
    "ggml:scale=exact": replace(oracle.GGML, scale="exact"),
    "narrowgauge:shape=16x16": replace(oracle.EXACT, tile=True),
    "narrowgauge:search=mae,bound=256": replace(oracle.EXACT, search="mae", bound=256.0),
    "ocp_floor:power_rule=even": replace(oracle.OCP, mx="even"),
    "ocp_floor:power_rule=ceil": replace(oracle.OCP, mx="ceil"),
    "ocp_floor:element=e4m3": replace(oracle.OCP, element="e4m3"),
    "ocp_rceil:element=e4m3": replace(oracle.OCP, mx="rceil", element="e4m3"),
    "ocp_rceil:element=e5m2": replace(oracle.OCP, mx="rceil", element="e5m2"),
    "ocp_floor:element=e2m3": replace(oracle.OCP, element="e2m3"),
    "ocp_rceil:element=e3m2": replace(oracle.OCP, mx="rceil", element="e3m2"),
    "ocp_floor:element=int8_mx": replace(oracle.OCP, element="int8_mx"),
    "ocp_floor:element=int8_mx,power_rule=even": replace(oracle.OCP, mx="even", element="int8_mx"),
}


@pytest.mark.parametrize("dialect", TRANSCRIBED)
def test_transcription(dialect: str) -> None:
    """A million elements that were BF16, of kinds that make ties and zeros, in every dialect."""
    total = 0
    for what, x in oracle.matrices(np.random.default_rng(31), 1_000_000):
        total += oracle.compare(ng, dialect, TRANSCRIBED[dialect], x, what)
    assert total >= 1_000_000


FIELDS: dict[str, list[str]] = {
    "element": ["e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "int8_mx"],
    "order": list(oracle.ORDERS),
    "shape": ["row", "16x16"],
    "bound": ["1", "100", "255.99", "256", "448"],
    "element_max": ["2", "4", "5.647059", "6"],
    "power_rule": ["floor", "ceil", "rceil", "even", "quotient"],
    "search": ["none", "mae", "mse", "largest"],
    "search_error": ["input", "scaled"],
    "error_sum": ["sequential", "pairwise", "lanes"],
    "scale": ["exact", "ggml"],
    "zero_scale": ["codes", "zero", "floor", "one", "least", "zeros_one"],
    "zero_sign": ["keep", "drop", "minus", "plus"],
    "rounding": ["nearest_even", "nearest_away", "toward_zero", "stochastic"],
    "point": ["element", "scale"],
    "constant_amax": ["none", "1", "1e-38", "1e30"],
    "nonfinite": ["refuse", "nan_scale"],
}


def hard_matrix(rng: np.random.Generator) -> np.ndarray:
    """Blocks beyond both ends of a scale's range beside such within it, zeros of both signs, blocks of one number."""
    shape = (16, 256)
    size = rng.uniform(1, 2, shape) * np.exp2(rng.integers(-4, 1, shape))
    size[rng.random(shape) < 0.1] = 0
    blocks = size.reshape(16, 16, 16)
    blocks[rng.random((16, 16)) < 0.1] = 0
    blocks[rng.random((16, 16)) < 0.1] = 1
    blocks *= np.exp2(-rng.choice([0, 0, 1, 3, 9, 17, 18, 19, 30, 60], (16, 16, 1)))
    x = size * np.exp2(rng.choice([0, 0, -60, -120, -138, 60, 126])) * rng.choice([-1.0, 1.0], shape)
    x = np.clip(x, -3.4e38, 3.4e38).astype(F)
    return x if rng.random() < 0.5 else x.astype(BF16).astype(F)


def test_random_fields() -> None:
    """Combinations of fields are refused, or equal to the transcription, which knows most of them."""
    rng = np.random.default_rng(41)
    refused = compared = by_scale = 0
    for number in range(1500):
        name = str(rng.choice(list(ng.dialects())))
        fields = {field: str(rng.choice(values)) for field, values in FIELDS.items() if rng.random() < 0.15}
        dialect = f"{name}:{','.join(f'{field}={value}' for field, value in fields.items())}"
        x = hard_matrix(rng)
        try:
            made = ng.dialect_fields(dialect)
        except ng.Error:
            refused += 1
            continue
        rules = oracle.rules_of(made, ng.dialects()[name]["nonfinite"] == "nan_scale")
        if rules is None:
            continue
        scale, uniforms = made["point"] == "scale", None
        if scale or made["rounding"] == "stochastic":
            uniforms = rng.integers(0, 1 << 24, (16, 16) if scale else x.shape).astype(F) / F(1 << 24)
        try:
            oracle.compare(ng, dialect, rules, x, f"combination {number}", uniforms=uniforms)
        except ng.Error as error:  # numbers that the fields have no scale for
            if not re.search("too small for its numbers|no power-of-two scale", str(error)):
                raise
            refused += 1
            continue
        compared += 1
        by_scale += scale
    assert refused > 200
    assert compared > 500
    assert by_scale > 50


@pytest.mark.parametrize("dialect", ["te", "te_4over6", "fouroversix", "torchao", "ngpt", "quartet2"])
@pytest.mark.parametrize("fields", ["", "zero_scale=zero", "constant_amax=1e-38", "zero_scale=floor"])
def test_scale_of_a_group(dialect: str, fields: str) -> None:
    """Blocks below the smallest scale leave the others of their group alone, or the fields are refused."""
    x = np.full((1, 128), 0.001, F)
    x[0, :16] = 1e-8
    x[0, 16:32] = 1
    try:
        values = ng.dequantize(
            ng.quantize(x, dialect=f"{dialect}:{','.join(['point=scale', *filter(None, [fields])])}")
        )
    except ng.Error as error:
        if not re.search("expected zero_scale zero or one|too small for its numbers", str(error)):
            raise
        return
    np.testing.assert_allclose(values[0, 16:], x[0, 16:], rtol=0.5)


@pytest.mark.parametrize("search", ["mae", "mse", "largest"])
@pytest.mark.parametrize("shape", ["row", "16x16"])
def test_exact_search(search: str, shape: str) -> None:
    """Four over six without rounding: the candidates as they are quantized alone, their errors as fractions."""
    rng = np.random.default_rng(40)
    taken = compared = 0
    for spread in (1, 12):
        factor = np.repeat(np.exp2(rng.integers(-spread, 1, (32, 4))), 16, axis=1)
        x = (np.round(rng.standard_normal((32, 64)) * 8) / 8 * factor).astype(BF16).astype(F)
        x[:16, :32] = rng.choice([3, 4], (16, 32))  # better as 3 and 4 than as 4.5 and 6
        six = ng.quantize(x, dialect=f"narrowgauge:bound=256,shape={shape}")
        g = six.tensor_scale
        four = ng.quantize(x, dialect=f"narrowgauge:element_max=4,shape={shape}", tensor_scale=g)
        q = ng.quantize(x, dialect=f"narrowgauge:bound=256,shape={shape},search={search}")
        high = 1 if shape == "row" else 16
        errors: dict[tuple[int, int, int], list[Fraction]] = {}
        for which, candidate in enumerate((six, four)):
            values = ng.dequantize(candidate)
            for r, i in np.ndindex(x.shape):
                error = abs(Fraction(float(x[r, i])) - Fraction(values[r, i]))
                errors.setdefault((which, r // high, i // 16), []).append(error * error if search == "mse" else error)
        total = max if search == "largest" else sum
        for r, b in np.ndindex(q.scales.shape):
            better = total(errors[1, r // high, b]) < total(errors[0, r // high, b])
            want = four if better else six
            assert q.scales[r, b] == want.scales[r, b]
            np.testing.assert_array_equal(q.codes[r, b * 16 : b * 16 + 16], want.codes[r, b * 16 : b * 16 + 16])
            taken += better
            compared += 1
    assert 0 < taken < compared


def test_the_transcription_is_heard() -> None:
    """One bit of one code or scale makes the comparison fail."""
    _, x = next(oracle.matrices(np.random.default_rng(32), 10_000))

    class Faulty:
        def __init__(self, part: str) -> None:
            self.part = part

        def quantize(self, *args: object, **named: object) -> object:
            q = ng.quantize(*args, **named)  # type: ignore[arg-type]
            codes, scales = q.codes.copy(), q.scales.copy()
            (codes if self.part == "codes" else scales)[1, 1] ^= 1
            return ng.QuantizedMatrix("nvfp4", "e2m1", codes, scales, q.tensor_scale)

    for part in ("codes", "scales"):
        with pytest.raises(AssertionError, match=part):
            oracle.compare(Faulty(part), "te", oracle.TE, x, "faulty")


def block(values: list[float], amax: float) -> np.ndarray:
    x = np.zeros((2, 32), F)
    x[0, : len(values)] = values
    x[1, 0] = amax
    return x


# Scale code and codes 0, 1, ... of a block, by dialect (docs/dialects.md, Corner cases).
CORNERS = [
    ("te", [0.0, -0.0], 1.0, 0x00, [0, 8]),
    ("te:zero_sign=drop", [0.0, -0.0], 1.0, 0x00, [0, 0]),
    ("narrowgauge", [0.0, -0.0], 1.0, 0x00, [0, 0]),
    ("quartet2:point=element", [0.0, -0.0], 1.0, 0x38, [8, 8]),
    ("torchao", [0.0, -0.0], 1.0, 0x08, [0, 8]),
    ("te", [1e-7, -1e-7], 1.0, 0x00, [7, 15]),  # underflow of the scale
    ("te_4over6", [1e-7, -1e-7], 1.0, 0x00, [7, 15]),
    ("fouroversix", [1e-7, -1e-7], 1.0, 0x00, [0, 0]),
    ("narrowgauge", [1e-7, -1e-7], 1.0, 0x00, [0, 0]),
    ("narrowgauge:zero_scale=floor", [1e-7, -1e-7], 1.0, 0x08, [0, 8]),
    ("narrowgauge:zero_scale=one", [1e-7, -1e-7], 1.0, 0x38, [0, 8]),
    ("torchao", [1e-7, -1e-7], 1.0, 0x08, [0, 8]),
    ("quartet2:point=element", [1e-7, -1e-7], 1.0, 0x38, [0, 8]),
    ("te", [1e-5, -7e-6, 3e-6], 1.0, 0x02, [7, 14, 4]),  # a subnormal scale
    ("te", [1e-40, -5e-41], 1e-40, 0x03, [0, 8]),  # a subnormal maximum: S is FLT_MAX
    ("narrowgauge", [1e-40, -5e-41], 1e-40, 0x7E, [7, 13]),
    ("torchao", [1e-45, -1e-45], 1e-45, 0x08, [0, 8]),  # A / 2688 is 0: taken as 1
    ("quartet2:point=element", [1e-45, -1e-45, 0.0], 1e-45, 0x38, [0, 8, 8]),
    ("ngpt", [2.0, -1.0, 0.5], 1.0, 0x7E, [7, 15, 5]),  # beyond the unit ball: saturates
    ("ngpt", [1e30, -1.0, 0.0], 1.0, 0x7E, [7, 15, 0]),
    ("modelopt", [0.0, -0.0], 1.0, 0x38, [0, 0]),
    ("modelopt", [1e-7, -1e-7], 1.0, 0x01, [0, 8]),
    ("modelopt:zero_scale=zeros_one", [0.0, -0.0], 1.0, 0x38, [0, 0]),
    ("modelopt:zero_scale=zeros_one", [1e-7, -1e-7], 1.0, 0x00, [7, 15]),
    ("modelopt", [1e-5, -7e-6, 3e-6], 1.0, 0x02, [7, 14, 4]),
    ("modelopt", [1e-45, -1e-45], 1e-45, 0x38, [0, 8]),  # A / 2688 is 0: taken as 1, and r is 0
    ("ggml", [0.0, -0.0], 1.0, 0x00, [0, 0]),
    ("ggml", [1e-7, -1e-7], 1.0, 0x00, [0, 0]),  # least of equal errors
    ("ggml", [6.0, -0.25, 0.25, -0.75, 5.0], 6.0, 0x38, [7, 0, 0, 9, 6]),  # ties toward zero
    ("ggml", [6.375], 6.375, 0x39, [7]),  # a tie of the scale goes up
    ("ggml:scale=exact", [6.375], 6.375, 0x38, [7]),
    ("ggml", [1487.0], 1.0, 0x77, [7]),
    ("ggml", [1488.0, -744.0], 1.0, 0x7E, [5, 11]),  # 248: the scale of 448
    ("ggml:scale=exact", [1488.0, -744.0], 1.0, 0x78, [7, 13]),
    ("ggml", [0.0930], 1.0, 0x07, [7]),  # 7.94 steps are 7
    ("ggml:scale=exact", [0.0930], 1.0, 0x08, [7]),
    ("ggml", [float(np.nextafter(F(1.5 * 2**-8), F(0)))], 1.0, 0x01, [5]),  # just below half a step, but its sum is 1
    ("ggml:scale=exact", [float(np.nextafter(F(1.5 * 2**-8), F(0)))], 1.0, 0x00, [0]),
    ("ggml", [1e30, 1e5, -2688.0], 1.0, 0x7E, [0, 7, 15]),  # all errors of 1e30 are equal
    ("ocp_floor", [7.99, 6.5, -5.0, 5.01], 1.0, 0x7F, [7, 7, 14, 7]),  # 25 % clipped
    ("ocp_rceil", [7.99, 6.5, -5.0, 5.01], 1.0, 0x80, [6, 5, 12, 5]),
    ("ocp_floor", [1e-45, 0.0, -0.0], 1.0, 0x00, [0, 0, 8]),
    ("ocp_floor", [3e38, 2e38], 1.0, 0xFC, [7, 6]),
]


@pytest.mark.parametrize(("dialect", "values", "amax", "scale", "codes"), CORNERS)
def test_corners(dialect: str, values: list[float], amax: float, scale: int, codes: list[int]) -> None:
    q = ng.quantize(block(values, amax), dialect=dialect)
    assert (int(q.scales[0, 0]), q.codes[0, : len(codes)].tolist()) == (scale, codes)


@pytest.mark.parametrize(
    "dialect", [*ng.dialects(), "quartet2:point=element", "te:front=rht16", "narrowgauge:front=mean"]
)
def test_zeros(dialect: str) -> None:
    q = ng.quantize(np.zeros((16, 128), F), dialect=dialect)
    assert not np.asarray(q).any()
    assert np.isfinite(np.asarray(q)).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dialect", ng.dialects())
def test_nonfinite(dialect: str, bad: float) -> None:
    """Refused, with the place; in OCP's dialects, and where asked for, the block's scale is NaN and all others are as if
    it were not there."""
    rng = np.random.default_rng(33)
    x = rng.standard_normal((16, 128)).astype(F)
    x[3, 70] = bad
    if ng.dialect_fields(dialect)["nonfinite"] == "refuse":
        with pytest.raises(ng.Error, match="row 3, column 70"):
            ng.quantize(x, dialect=dialect)
    asked = f"{dialect}:nonfinite=nan_scale"
    q = ng.quantize(x, dialect=asked)
    size = 128 // q.scales.shape[1]
    nan = 0xFF if q.scheme == "mxfp4" else 0x7F
    without = x.copy()
    without[3, 70] = 0
    want = ng.quantize(without, dialect=asked)
    hit = np.zeros((16, 128 // size), bool)
    hit[slice(0, 16) if dialect == "te_2d" else 3, 70 // size] = True
    assert (q.scales[hit] == nan).all()
    assert not q.codes[np.repeat(hit, size, axis=1)].any()
    if dialect != "quartet2":  # whose groups of 128 are corrected together
        np.testing.assert_array_equal(q.scales[~hit], want.scales[~hit])
        np.testing.assert_array_equal(q.codes[np.repeat(~hit, size, axis=1)], want.codes[np.repeat(~hit, size, axis=1)])
    assert np.isnan(np.asarray(q)[3, 70])


def test_rht() -> None:
    """Against integers: numbers with 12 bits, so that sums are exact, and such that are far apart."""
    rng = np.random.default_rng(34)
    for size, entry, stage in ((16, 0.25, "rht16"), (128, 181 / 2048, "rht128")):
        signs = oracle.SIGNS if size == 16 else np.ones(size)
        x = (rng.integers(-2048, 2048, (40, 2 * size)) * 2.0 ** rng.integers(-9, 9, (40, 1))).astype(F)
        want = ((x.reshape(-1, size) * signs) @ oracle.hadamard(size) * entry).astype(BF16).astype(F)
        y, _ = ng.front_stage(x, stage)
        np.testing.assert_array_equal(y.reshape(-1, size), want)
        wide = (x * np.exp2(rng.integers(-60, 60, x.shape))).astype(F)
        y, _ = ng.front_stage(wide, stage)
        got = y.reshape(-1, size)
        for row in (0, 7, 33):
            exact = [
                sum(
                    oracle.fraction(v) * int(s) * int(h)
                    for v, s, h in zip(wide.reshape(-1, size)[row], signs, column, strict=True)
                )
                * oracle.fraction(F(entry))
                for column in oracle.hadamard(size).T
            ]
            assert [oracle.round_to_bf16(v) for v in exact] == [oracle.fraction(v) for v in got[row]]
    assert ng.front_stage(np.ones((2, 3, 5), F), "rht16")[0].shape == (2, 3, 16)


@pytest.mark.parametrize("stage", ["rht16", "rht128", "mean"])
@pytest.mark.parametrize("axis", [-1, -2])
def test_a_stage_that_overflows(stage: str, axis: int) -> None:
    """Alone and in a quantizer it is refused, and the shape of what it leaves is that of the codes."""
    x = np.full((20, 20), 3e38, F)
    x[::2] *= -1 if stage == "mean" else 1
    x = x * oracle.SIGNS[np.arange(20) % 16] if stage == "rht16" and axis == -1 else x
    x = x * oracle.SIGNS[np.arange(20) % 16][:, None] if stage == "rht16" and axis == -2 else x
    with pytest.raises(ng.Error, match=f"front stage {stage} overflows BF16 at vector 0, element 0; expected smaller"):
        ng.front_stage(x.T if stage == "mean" and axis == -1 else x, stage, axis=axis)
    with pytest.raises(ng.Error, match="overflows BF16"):
        ng.quantize(x.T if stage == "mean" and axis == -1 else x, dialect=f"te:front={stage}", axis=axis)
    small = np.ones((20, 20), F)
    q = ng.quantize(small, dialect=f"te:front={stage}", axis=axis)
    assert q.shape == ng.front_stage(small, stage, axis=axis)[0].shape == np.asarray(q).shape


def test_mean() -> None:
    rng = np.random.default_rng(35)
    x = (rng.standard_normal((37, 50)) + 3).astype(BF16)
    rest, mean = ng.front_stage(x, "mean")
    exact = [sum(oracle.fraction(v) for v in column) for column in x.astype(F).T]
    sums = F([float(v) for v in exact])  # BF16 numbers of a few binades: exact in float64
    want = (sums / F(37)).astype(BF16).astype(F)
    np.testing.assert_array_equal(mean, want)
    np.testing.assert_array_equal(rest, (x.astype(F) - want).astype(BF16).astype(F))
    assert ng.quantize(x, dialect="te:front=mean") == ng.quantize(rest, dialect="te")


@pytest.mark.parametrize("dialect", ["te", "narrowgauge", "te_2d", "ocp_floor", "te_4over6", "torchao"])
@pytest.mark.parametrize("axis", [-1, -2])
def test_stochastic(dialect: str, axis: int) -> None:
    """Words given, words of the seed (field i of the padded codes), uniform numbers of as many bits: one result."""
    rng = np.random.default_rng(36)
    x = rng.standard_normal((64, 96)).astype(BF16)
    seeded = ng.quantize(x, dialect=dialect, axis=axis, rounding="stochastic", random_bits=8, seed=99)
    fields = oracle.philox_bytes(99, x.size).reshape(seeded.codes.shape)
    words = fields if axis == -1 else fields.T
    given = ng.quantize(x, dialect=dialect, axis=axis, rounding="stochastic", random=words)
    assert given == seeded
    low = ng.quantize(x, dialect=dialect, axis=axis, rounding="stochastic", random=np.zeros(x.shape, int))
    top = ng.quantize(x, dialect=dialect, axis=axis, rounding="stochastic", random=np.full(x.shape, 255))
    if dialect != "te_4over6":  # whose choice between scales depends on the codes
        rise = (top.codes & 7).astype(int) - (low.codes & 7)
        assert set(np.unique(rise)) == {0, 1}
        assert (((seeded.codes & 7) == (low.codes & 7)) | ((seeded.codes & 7) == (top.codes & 7))).all()


def test_quartet2_by_seed() -> None:
    """Block b takes field b of 24 bits: u = field / 2^24."""
    x = np.random.default_rng(37).standard_normal((8, 256)).astype(BF16)
    seeded = ng.quantize(x, dialect="quartet2", seed=7)
    fields = oracle.philox_words(7, x.size // 16) & 0xFFFFFF
    assert seeded == ng.quantize(x, dialect="quartet2", random=fields)
    assert seeded == ng.quantize(x, dialect="quartet2", random=(fields / 2**24).astype(F))


@pytest.mark.parametrize("dialect", ng.dialects())
def test_threads_batches_and_faces(dialect: str) -> None:
    """Threads, ml_dtypes, float32 and lists give one result; batches are their matrices one below the other."""
    x = np.random.default_rng(38).standard_normal((4, 16, 128)).astype(BF16)
    q = ng.quantize(x, dialect=dialect, threads=1)
    assert (
        q == ng.quantize(x.astype(F), dialect=dialect, threads=3) == ng.quantize(x.astype(F).tolist(), dialect=dialect)
    )
    flat = ng.quantize(x.reshape(64, 128), dialect=dialect)
    np.testing.assert_array_equal(flat.codes.reshape(q.codes.shape), q.codes)
    np.testing.assert_array_equal(ng.fake_quantize(x, dialect=dialect), np.asarray(q))
    turned = ng.quantize(flat_t := np.ascontiguousarray(x.reshape(64, 128).T), dialect=dialect, axis=-2)
    assert turned == flat.mT
    assert flat_t.shape == turned.shape


def test_philox_vectors() -> None:
    """Known answers of Random123 (kat_vectors, philox4x32 10), and which lane is which element's field."""
    assert oracle.philox((0, 0, 0, 0), (0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)
    ones = 0xFFFFFFFF
    assert oracle.philox((ones,) * 4, (ones,) * 2) == (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)
    pi = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)
    assert oracle.philox(*pi) == (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)


@pytest.mark.parametrize(
    ("dialect", "named", "message"),
    [
        ("te5", {}, "unknown dialect 'te5'; expected one of narrowgauge, te,"),
        ("te:bond=3", {}, "no field 'bond'; expected one of element, order"),
        ("te:bound", {}, "'bound'; expected field=value"),
        ("te:bound=x", {}, "bound is 'x'; expected a number"),
        ("te:bound=500", {}, "bound 500"),
        ("te:search=best", {}, "search is 'best'; expected one of none, mae, mse, largest"),
        ("te:random_bits=25", {}, "25 random bits"),
        ("narrowgauge:zero_scale=codes", {}, "zero, floor or one"),
        ("ocp_floor:search=mae", {}, "power-of-two scales"),
        ("ocp_floor", {"amax": 1.0}, "amax was given"),
        ("ngpt", {"amax": 1.0}, "constant maximum"),
        ("te", {"amax": -1.0}, "amax is -1"),
        ("te", {"amax": 1.0, "tensor_scale": 1.0}, "drop one of the two"),
        ("te", {"random": np.zeros((2, 32), int)}, "rounds to nearest"),
        ("te", {"random": np.zeros((2, 31), int), "rounding": "stochastic"}, "expected the shape of x"),
        ("te", {"random": np.full((2, 32), 256), "rounding": "stochastic"}, "random word is 256"),
        ("te", {"random": np.full((2, 32), 1.0), "rounding": "stochastic"}, "uniform number is 1"),
        ("te", {"rule": "vendor"}, "rule is 'vendor' beside dialect 'te'"),
        ("te", {"format": "mxfp4"}, "leave the format out"),
        ("te:point=scale,shape=16x16", {}, "expected shape row"),
        ("ggml:point=scale", {}, "another order than exact and least_error"),
        ("ggml:rounding=stochastic", {}, "order least_error, which looks at no rounding; expected rounding nearest"),
        ("ggml", {"tensor_scale": 1.0}, "constant maximum"),
        ("narrowgauge:scale=ggml", {}, "order exact with scale ggml"),
        ("narrowgauge:zero_scale=least", {}, "zero, floor or one"),
        ("modelopt:point=scale", {}, "expected zero_scale zero or one"),
        ("te:point=scale", {}, "expected zero_scale zero or one"),
        ("torchao:point=scale", {}, "expected zero_scale zero or one"),
        ("ocp_floor:element=e4m3fnuz", {}, "has elements e4m3fnuz; expected e2m1"),
        ("ocp_floor:element=int8_mx,zero_sign=drop", {}, "whose zero has no sign; expected zero_sign keep"),
        ("ocp_floor:zero_scale=one", {}, "expected bound 448, zero_scale zero"),
        ("ocp_floor:element_max=4", {}, "which power_rule quotient alone looks at; expected 6"),
        ("te:power_rule=ceil", {}, "no power-of-two scales for a power_rule"),
        ("te_4over6:element_max=4", {}, "expected element_max above 4"),
        ("te:element_max=1", {}, "expected 2 to 6"),
        ("te", {"tensor_scale": 3e38}, "too large for dialect te; expected at most 1.26"),
        ("quartet2", {"amax": 0.1}, "too small for its numbers in dialect quartet2"),
    ],
)
def test_bad_input(dialect: str, named: dict[str, object], message: str) -> None:
    with pytest.raises(ng.Error, match=message.replace("(", "[(]")):
        ng.quantize(np.ones((2, 32), F), dialect=dialect, **named)


def test_without_a_dialect() -> None:
    x = np.ones((2, 32), F)
    with pytest.raises(ng.Error, match="without a dialect"):
        ng.quantize(x, amax=1.0)
    assert ng.quantize(x) == ng.quantize(x, dialect="narrowgauge") == ng.quantize(x, "nvfp4", dialect="narrowgauge")
    assert ng.quantize(x, "mxfp4") == ng.quantize(x, dialect="ocp_floor")
    assert ng.dialects()["te_4over6"]["bound"] == "256"
    assert ng.dialect_fields("te_4over6:bound=448")["bound"] == "448"
