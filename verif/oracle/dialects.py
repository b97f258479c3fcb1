# SPDX-License-Identifier: Apache-2.0
"""Quantizer dialects transcribed in numpy: one FP32 operation a line, casts by ml_dtypes.

Nothing here shares code or tables with the C++ model. Sources: docs/dialects.md and the originals that it names; the
vectors of verif/oracle/vectors, which the originals made, hold both this file and the model.
Blocks are rows of a float32 array; a tile of 16 x 16 is a row of 256.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

F = np.float32
FLT_MAX = np.finfo(F).max
Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class Rules:
    """What docs/dialects.md has in its table of fields."""

    order: str = "exact"
    bound: float = 448.0
    element_max: float = 6.0
    tile: bool = False  # 16 x 16
    search: str = "none"  # mae, mse, absmax
    error: str = "input"  # or fp16
    error_sum: str = "sequential"  # or pairwise
    scale: str = "exact"  # ggml
    zero_scale: str = "codes"  # zero, floor, one, least, zeros_one
    zero_sign: str = "keep"  # drop, minus, plus
    ties: str = "nearest_even"  # nearest_away, toward_zero, stochastic
    mx: str = "floor"  # ceil, rceil, even, quotient
    element: str = "e2m1"
    constant_amax: float | None = None


TE = Rules("te")
TE_4OVER6 = Rules("te_quotient", bound=256.0, search="mae")
TORCHAO = Rules("torchao", zero_scale="floor")
QUARTET2 = Rules(
    "quartet2", bound=255.99, element_max=6 / (17 / 16), zero_scale="one", zero_sign="minus", ties="nearest_away"
)
MODELOPT = Rules("modelopt", zero_scale="least", zero_sign="drop")
GGML = Rules("ggml", scale="ggml", zero_sign="plus", constant_amax=2688.0)
EXACT = Rules("exact", zero_scale="zero")
OCP = Rules("mx")
FOUROVERSIX = replace(TE_4OVER6, search="mse", error_sum="lanes", zero_scale="zero", zero_sign="drop")
DIALECTS = {
    "narrowgauge": EXACT,
    "te": TE,
    "te_2d": replace(TE, tile=True),
    "te_4over6": TE_4OVER6,
    "torchao": TORCHAO,
    "quartet2": QUARTET2,
    "ngpt": replace(TE, constant_amax=1.0),
    "modelopt": MODELOPT,
    "ggml": GGML,
    "ocp_floor": OCP,
    "ocp_rceil": replace(OCP, mx="rceil"),
}

E2M1 = F([0, 0.5, 1, 1.5, 2, 3, 4, 6])


def to_e4m3(x: Floats) -> Bytes:
    """To nearest even, saturating at 448."""
    return np.minimum(x, F(448)).astype(ml_dtypes.float8_e4m3fn).view(np.uint8)


def to_ggml_e4m3(r: Floats) -> Bytes:
    """As llama.cpp rounds block scales: half a step is added to the bits of normal numbers, and all of 2^8 and more,
    which 248 becomes, have the largest code; a subnormal number is at most 7 of its steps."""
    half_up = (np.minimum(r, F(448)).view(np.uint32) + 0x80000 >> 20).astype(np.int64) - (120 << 3)
    normal = np.where(half_up >= 15 << 3, 0x7E, half_up)
    steps = r * F(512) + F(0.5)
    return np.where(r < F(2.0**-6), np.minimum(np.trunc(steps), 7), normal).astype(np.uint8)


def from_e4m3(codes: Bytes) -> Floats:
    return codes.view(ml_dtypes.float8_e4m3fn).astype(F)


def to_e2m1(y: Floats, rules: Rules, uniforms: Floats | None = None) -> Bytes:
    """uniforms: a number of [0, 1) for each element, which asks for a stochastic rounding."""
    size = np.abs(y)
    if rules.ties in ("toward_zero", "stochastic"):
        codes = np.zeros(y.shape, np.uint8)
        for value in E2M1[1:]:
            codes += size >= value
        if rules.ties == "stochastic":
            assert uniforms is not None
            high = E2M1[np.minimum(codes + 1, 7)]
            width = np.where(codes == 7, F(1), high - E2M1[codes])
            codes += (codes < 7) & (uniforms < (size - E2M1[codes]) / width)
    elif rules.ties == "nearest_away":
        codes = np.zeros(y.shape, np.uint8)
        for threshold in (0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5):
            codes += size >= F(threshold)
    else:
        codes = np.minimum(size, F(6)).astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
    return signed(codes, y, rules)


def signed(codes: Bytes, y: Floats, rules: Rules) -> Bytes:
    """Codes of magnitudes with the signs that the rules give them."""
    negative = np.signbit(y)
    if rules.zero_sign == "drop":  # exact zeros only: what is rounded to zero keeps its sign
        negative = y < 0
    elif rules.zero_sign == "minus":
        negative = ~(y > 0)
    elif rules.zero_sign == "plus":
        negative &= codes != 0
    return codes | (negative.astype(np.uint8) << np.uint8(3))


def least_error(blocks: Floats, unit: Floats, rules: Rules) -> Bytes:
    """The first of the codes whose FP32 errors are least."""
    size = np.abs(blocks)
    errors = np.stack([np.abs(value * unit[:, None] - size) for value in E2M1])
    return signed(errors.argmin(axis=0).astype(np.uint8), blocks, rules)


def encode_scale(amax: np.float32, rules: Rules) -> np.float32:
    """S_enc, what maps the tensor's largest magnitude to bound times 6."""
    with np.errstate(all="ignore"):
        scale = np.minimum(F(rules.bound * rules.element_max) / amax, FLT_MAX)
    return F(1) if amax == 0 or scale == 0 else scale


def tensor_scale(amax: np.float32, rules: Rules) -> np.float32:
    """What decoding multiplies by."""
    if rules.order == "mx" or amax == 0:
        return F(1)
    if rules.order == "quartet2":
        first = amax / F(rules.bound)
        p = first / F(rules.element_max)
        return F(1) if p == 0 else p
    p = amax / F(rules.bound * rules.element_max)
    if rules.order in ("torchao", "modelopt", "ggml") and p == 0:
        return F(1)
    if rules.order == "exact" and p < 2.0**-126 and np.float64(p) * (rules.bound * 6) < amax:
        return np.nextafter(p, F(np.inf))
    return p


def scale_codes(raw: Floats, rules: Rules) -> Bytes:
    zeros = raw == 0
    if rules.zero_scale in ("floor", "least"):
        raw = np.maximum(raw, F(2.0 ** (-6 if rules.zero_scale == "floor" else -9)))
    if rules.zero_scale in ("least", "zeros_one"):
        raw = np.where(zeros, F(1), raw)
    codes = to_ggml_e4m3(raw) if rules.scale == "ggml" else to_e4m3(raw)
    return np.where(codes == 0, np.uint8(0x38), codes) if rules.zero_scale == "one" else codes


def candidate(blocks: Floats, amax: Floats, tensor: np.float32, given: np.float32 | None, rules: Rules, four: bool):
    """Codes of the scales, what the elements are rounded from, all by the order's steps."""
    factor = F(rules.element_max) / F(4) if four else F(1)
    if rules.order in ("te", "te_quotient"):
        s_enc = encode_scale(tensor, rules)
        s_dec = F(1) / s_enc
        if rules.order == "te":
            m = s_enc * (F(1) / F(rules.element_max))
            raw = amax * m
        else:
            sixth = amax / F(rules.element_max)
            raw = sixth * s_enc
        raw = np.minimum(raw, FLT_MAX)
        if four:
            raw = raw * factor
        codes = scale_codes(raw, rules)
        decoded = from_e4m3(codes)
        product = decoded * s_dec
        e = np.minimum(F(1) / product, FLT_MAX)
        y = blocks * e[:, None]
    elif rules.order == "torchao":
        p = tensor_scale(tensor, rules) if given is None else given
        sixth = amax / F(rules.element_max)
        if four:
            sixth = sixth * factor
        raw = sixth / p
        codes = scale_codes(raw, rules)
        decoded = from_e4m3(codes)
        inverse = F(1) / p
        e = np.minimum(inverse / decoded, FLT_MAX)
        y = blocks * e[:, None]
    elif rules.order == "modelopt":
        p = tensor_scale(tensor, rules) if given is None else given
        largest = F(rules.element_max) * p
        raw = amax / largest
        if four:
            raw = raw * factor
        codes = scale_codes(raw, rules)
        unit = np.maximum(from_e4m3(codes) * p, F(2.0**-149))
        y = blocks / unit[:, None]
    elif rules.order == "ggml":
        p = tensor_scale(tensor, rules) if given is None else given
        part = amax / F(rules.element_max)
        if four:
            part = part * factor
        raw = part / p
        codes = scale_codes(raw, rules)
        y = blocks
    else:
        p = tensor_scale(tensor, rules) if given is None else given
        part = amax / F(rules.element_max)
        if four:
            part = part * F(1.5)
        raw = part / p
        codes = scale_codes(raw, rules)
        decoded = from_e4m3(codes)
        unit = np.maximum(decoded * p, F(2.0**-149))
        y = blocks / unit[:, None]
    return codes, y


def elements(
    y: Floats, scales: Bytes, p: np.float32, rules: Rules, uniforms: Floats | None = None
) -> tuple[Bytes, Floats]:
    """Codes of the elements, and what they were rounded from: zeros where the scale is zero and the rules say so."""
    codes = least_error(y, from_e4m3(scales) * p, rules) if rules.order == "ggml" else to_e2m1(y, rules, uniforms)
    if rules.zero_scale != "zero":
        return codes, y
    none = scales[:, None] == 0
    return np.where(none, np.uint8(0), codes), np.where(none, F(0), y)


def pairwise(terms: Floats) -> Floats:
    """Sums of rows in numpy's order for up to 128: eight running sums, then a tree."""
    r = terms[:, :8].copy()
    for i in range(8, terms.shape[1], 8):
        r += terms[:, i : i + 8]
    return ((r[:, 0] + r[:, 1]) + (r[:, 2] + r[:, 3])) + ((r[:, 4] + r[:, 5]) + (r[:, 6] + r[:, 7]))


def row_sum(terms: Floats, rules: Rules) -> Floats:
    if rules.error_sum == "pairwise":
        return pairwise(terms)
    if rules.error_sum == "lanes":
        vectors = np.zeros((4, terms.shape[0], 8), F)
        for i in range(0, terms.shape[1], 8):
            vectors[i // 8 % 4] += terms[:, i : i + 8]
        lanes = ((vectors[0] + vectors[1]) + vectors[2]) + vectors[3]
        total = np.zeros(terms.shape[0], F)
        for i in range(8):
            total += lanes[:, i]
        return total
    total = np.zeros(terms.shape[0], F)
    for i in range(terms.shape[1]):
        total += terms[:, i]
    return total


def search_error(blocks: Floats, codes: Bytes, scales: Bytes, tensor: np.float32, given, rules: Rules) -> Floats:
    q = np.where(codes & 8, -E2M1[codes & 7], E2M1[codes & 7])
    s = from_e4m3(scales)[:, None]
    if rules.order in ("quartet2", "modelopt", "ggml"):
        p = tensor_scale(tensor, rules) if given is None else given
        value = q * (s * p)
        difference = blocks - value
    elif rules.error == "fp16":
        difference = q * s - blocks * encode_scale(tensor, rules)
    else:
        value = q * s
        if rules.order == "torchao":
            value = value * (tensor_scale(tensor, rules) if given is None else given)
        else:
            value = value * tensor
            value = value / F(rules.bound * rules.element_max)
        difference = value - blocks
    terms = difference * difference if rules.search == "mse" else np.abs(difference)
    if rules.search == "absmax":
        return terms.max(axis=1)
    if not rules.tile or rules.error_sum != "sequential":
        return row_sum(terms, rules)
    rows = row_sum(terms.reshape(-1, 16), rules).reshape(-1, 16)
    for half in (8, 4, 2, 1):
        rows = rows[:, :half] + rows[:, half:]
    return rows[:, 0]


def nvfp4(blocks: Floats, amax: np.float32, rules: Rules, given=None, uniforms: Floats | None = None):
    """Codes of elements and of scales. amax: of the tensor. given: a tensor scale in its place, for the orders that have one.
    uniforms: a number of [0, 1) for each block, which asks for MS-EDEN's rounding of scales; where `ties` is
    stochastic, one for each element of each block."""
    if rules.order == "exact":
        return exactly(blocks, amax, rules)
    with np.errstate(all="ignore"):
        block_amax = np.abs(blocks).max(axis=1)
        by_element = uniforms if rules.ties == "stochastic" else None
        p = tensor_scale(amax, rules) if given is None else given
        scales, y = candidate(blocks, block_amax, amax, given, rules, False)
        codes, y = elements(y, scales, p, rules, by_element)
        if rules.search != "none":
            scales4, y4 = candidate(blocks, block_amax, amax, given, rules, True)
            codes4, y4 = elements(y4, scales4, p, rules, by_element)
            error6 = search_error(blocks, codes, scales, amax, given, rules)
            error4 = search_error(blocks, codes4, scales4, amax, given, rules)
            take4 = error4 < error6
            scales = np.where(take4, scales4, scales)
            codes = np.where(take4[:, None], codes4, codes)
            y = np.where(take4[:, None], y4, y)
        if uniforms is not None and by_element is None:
            scales = eden(y, codes, scales, uniforms)
    return codes, scales


def nearest(x: NDArray[np.float64], step: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.rint(x / step) * step


def exactly(blocks: Floats, amax: np.float32, rules: Rules) -> tuple[Bytes, Bytes]:
    """Quotients correctly rounded: float64 has bits enough that rounding one first cannot change a decision."""
    full = F(rules.bound * 6)
    g = np.float64(1) if amax == 0 else np.float64(amax / full)
    if g < 2.0**-126 and g * np.float64(full) < np.float64(amax):  # subnormal: rounded up
        g = np.float64(np.nextafter(F(g), F(np.inf)))
    x = blocks.astype(np.float64)

    def one(divisor: float) -> tuple[Bytes, Bytes, NDArray[np.float64]]:
        ratio = np.minimum(np.abs(x).max(axis=1) / (divisor * g), 1024.0)
        exponent = np.maximum(np.frexp(ratio)[1] - 1, -6)
        s = np.minimum(nearest(ratio, np.exp2(exponent - 3.0)), 448.0)
        with np.errstate(all="ignore"):
            y = np.minimum(np.where(s[:, None] == 0, 0.0, np.abs(x) / (s[:, None] * g)), 8.0)
        q = np.minimum(nearest(y, np.where(y < 2, 0.5, np.where(y < 4, 1.0, 2.0))), 6.0)
        codes = q.astype(F).astype(ml_dtypes.float4_e2m1fn).view(np.uint8)
        codes |= np.where(s[:, None] == 0, 0, np.signbit(x)).astype(np.uint8) << np.uint8(3)
        value = np.where(np.signbit(x), -q, q) * s[:, None] * g
        return codes, to_e4m3(s.astype(F)), np.where(q == 0, 0.0, np.abs(x - value) - np.abs(x))

    codes, scales, error6 = one(6.0)
    if rules.search == "none":
        return codes, scales
    assert rules.search == "mae"
    # |x - value| - |x| is a multiple of g's last place over 2^12 with fewer than 50 bits, and so is the sum.
    codes4, scales4, error4 = one(4.0)
    take4 = error4.sum(axis=1) < error6.sum(axis=1)
    return np.where(take4[:, None], codes4, codes), np.where(take4, scales4, scales)


def eden(y: Floats, codes: Bytes, scales: Bytes, uniforms: Floats) -> Bytes:
    """MS-EDEN: each group of 128 corrected by sum y^2 / sum y q, the corrected scales rounded stochastically."""
    q = np.where(codes & 8, -E2M1[codes & 7], E2M1[codes & 7])
    y128 = y.reshape(-1, 128)
    above = pairwise(y128 * y128)
    below = pairwise(y128 * q.reshape(-1, 128))
    correction = np.where(below == 0, F(1), above / below)
    wanted = (from_e4m3(scales).reshape(-1, 8) * correction[:, None]).reshape(-1)
    nearest = to_e4m3(wanted)
    beyond = from_e4m3(nearest) > wanted
    low = np.where(beyond, nearest - 1, nearest).astype(np.uint8)
    high = (low + 1).astype(np.uint8)
    p = (wanted - from_e4m3(low)) / (from_e4m3(high) - from_e4m3(low))
    return np.where(uniforms < p, high, low)


#: The largest element, its exponent, bits of mantissa.
LARGEST = {
    "e2m1": (6, 2, 1), "e2m3": (7.5, 2, 3), "e3m2": (28, 4, 2), "e4m3": (448, 8, 3), "e5m2": (57344, 15, 2),
    "int8_mx": (127 / 64, 0, 6),
}  # fmt: skip
ELEMENTS = {
    "e2m1": ml_dtypes.float4_e2m1fn, "e2m3": ml_dtypes.float6_e2m3fn, "e3m2": ml_dtypes.float6_e3m2fn,
    "e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
}  # fmt: skip


def mx_scales(blocks: Floats, rules: Rules) -> Bytes:
    largest, power, mantissa = LARGEST[rules.element]
    amax = np.abs(blocks).max(axis=1)
    finite = np.isfinite(amax)
    with np.errstate(all="ignore"):
        if rules.mx in ("rceil", "quotient"):
            descale = amax * F(1.0 / largest) if rules.mx == "rceil" else amax / F(rules.element_max)
            bits = descale.view(np.uint32)
            field, rest = bits >> 23, bits & 0x7FFFFF
            up = np.where(field == 0, rest > (0x400000 if rules.mx == "rceil" else 0), rest != 0)
            codes = (field + up).astype(np.int64)
            finite = np.isfinite(descale)
        else:
            bits = amax.view(np.uint32).astype(np.int64)
            if rules.mx == "even":
                bits = (bits + (1 << (22 - mantissa))) & ~0x7FFFFF
                finite &= bits < 0x7F800000
            codes = (bits >> 23) - power
            if rules.mx == "ceil":
                codes += (bits & 0x7FFFFF) != 0
            codes = np.clip(codes, 0, 255)
    return np.where(finite, codes, 255).astype(np.uint8)


def mx(blocks: Floats, rules: Rules):
    """OCP MX formats: codes of elements (0 under a scale of NaN) and of scales."""
    scales = mx_scales(blocks, rules)
    largest = LARGEST[rules.element][0]
    with np.errstate(all="ignore"):
        y = np.ldexp(blocks.astype(np.float64), 127 - scales.astype(np.int64)[:, None])
        y = np.clip(y, -largest, largest).astype(F)
        if rules.element == "int8_mx":
            codes = np.rint(y * 64).astype(np.int8).view(np.uint8)
        else:
            codes = y.astype(ELEMENTS[rules.element]).view(np.uint8)
    none = (scales == 255) | ((rules.mx == "quotient") & (scales == 0))
    return np.where(none[:, None], 0, codes).astype(np.uint8), scales


SIGNS = F([1, 1, 1, -1, 1, -1, -1, -1, -1, -1, -1, 1, -1, 1, -1, -1])


def hadamard(size: int) -> NDArray[np.float64]:
    i = np.arange(size)
    parity = np.zeros((size, size), np.int64)
    for bit in range(size.bit_length()):
        parity ^= (i[:, None] & i[None, :]) >> bit & 1
    return 1.0 - 2.0 * parity


def fraction(x: np.float32) -> Fraction:
    return Fraction(float(x))


def round_to_bf16(x: Fraction) -> Fraction:
    """To nearest even; no overflow."""
    if x == 0:
        return x
    size = abs(x)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    step = Fraction(2) ** (max(exponent, -126) - 7)
    return round(x / step) * step  # Fraction rounds ties to even


def philox(counter: tuple[int, ...], key: tuple[int, ...]) -> tuple[int, ...]:
    """Philox4x32-10, from the paper."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [p1 >> 32 ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, p0 >> 32 ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [k[0] + 0x9E3779B9 & 0xFFFFFFFF, k[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return tuple(c)


def philox_words(seed: int, count: int) -> NDArray[np.int64]:
    """Fields of more than 16 bits before they are cut: word n % 4 of block n / 4."""
    key = (seed & 0xFFFFFFFF, seed >> 32)
    words = [w for block in range(-(-count // 4)) for w in philox((block & 0xFFFFFFFF, block >> 32, 0, 0), key)]
    return np.array(words[:count], np.int64)


def philox_bytes(seed: int, count: int) -> NDArray[np.int64]:
    """Fields of up to 8 bits before they are cut: byte n % 16 of block n / 16, the lowest of word 0 first."""
    words = philox_words(seed, -(-count // 4))
    return np.stack([words >> shift & 255 for shift in (0, 8, 16, 24)], axis=-1).reshape(-1)[:count]


def matrices(rng: np.random.Generator, elements: int) -> Iterator[tuple[str, Floats]]:
    """Matrices of BF16 numbers with at least so many elements in all, of the kinds that tell quantizers apart."""
    rows = max(16, -(-elements // (8 * 512 * 16)) * 16)
    shape = (rows, 512)

    def to_bf16(x: NDArray[np.floating]) -> Floats:
        return x.astype(F).astype(ml_dtypes.bfloat16).astype(F)

    normal = rng.standard_normal(shape)
    yield "normal", to_bf16(normal)
    sign = rng.choice([-1.0, 1.0], shape)
    yield "lognormal", to_bf16(np.exp(2 * rng.standard_normal(shape)) * sign)
    factor = np.repeat(np.exp2(rng.uniform(-24, 2, (rows, 32))), 16, axis=1)
    yield "blocks from 1 to 2^-24", to_bf16(rng.standard_normal(shape) * factor)
    coarse = np.round(rng.standard_normal(shape) * 8) / 8
    yield "coarse", to_bf16(coarse * np.repeat(np.exp2(rng.integers(-6, 3, (rows, 32))), 16, axis=1))
    # The tensor's maximum is no power of two, so that 2688 / A is not exact; elements are ties of codes and of scales.
    amax = float(rng.integers(65, 128)) * 2.0 ** int(rng.integers(-20, 20))
    scales = from_e4m3(rng.integers(1, 127, (rows, 32)).astype(np.uint8)).astype(np.float64)
    middle = rng.choice([0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0, 6.0, 4.0, 3.0], shape)
    ties = middle * np.repeat(scales, 16, axis=1) * amax / 2688
    ties[0, 0] = amax
    yield "ties", np.clip(to_bf16(ties), F(-amax), F(amax)) * sign.astype(F)
    zeros = np.where(rng.random(shape) < 0.7, 0.0, rng.standard_normal(shape))
    zeros[rng.random(rows) < 0.2] = -0.0
    yield "zeros", to_bf16(zeros)
    exponents = int(rng.integers(0, 200))
    bits = rng.integers(0, 1 << 15, shape) % (8 << 7) + (exponents << 7) + (rng.integers(0, 2, shape) << 15)
    yield "eight binades anywhere", (bits.astype(np.uint32) << 16).view(F)
    bits = rng.integers(0, 1 << 16, shape)
    bits = np.where((bits & 0x7F80) == 0x7F80, bits & ~0x4000, bits)
    yield "all finite patterns", (bits.astype(np.uint32) << 16).view(F)


def tiles(x: Floats) -> Floats:
    rows, columns = x.shape
    return np.ascontiguousarray(x.reshape(rows // 16, 16, columns // 16, 16).swapaxes(1, 2)).reshape(-1, 256)


ORDERS = {
    "exact": "exact",
    "reciprocals": "te",
    "quotient": "te_quotient",
    "quotients": "torchao",
    "divisions": "quartet2",
    "products": "modelopt",
    "least_error": "ggml",
}


def rules_of(fields: dict[str, str], mx: bool) -> Rules | None:
    """What the transcription knows of a dialect's fields; None if it does not know all of them."""
    rules = Rules(
        order="mx" if mx else ORDERS[fields["order"]],
        bound=float(F(fields["bound"])),
        element_max=float(F(fields["element_max"])),
        tile=fields["shape"] == "16x16",
        search="absmax" if fields["search"] == "largest" else fields["search"],
        error="fp16" if fields["search_error"] == "scaled" else "input",
        error_sum=fields["error_sum"],
        scale=fields["scale"],
        zero_scale=fields["zero_scale"],
        zero_sign=fields["zero_sign"],
        ties=fields["rounding"],
        mx=fields["power_rule"],
        element=fields["element"],
        constant_amax=None if fields["constant_amax"] == "none" else float(fields["constant_amax"]),
    )
    plain = rules.ties == "nearest_even" and rules.zero_sign == "keep"
    exact = plain and rules.zero_scale == "zero" and rules.element_max == 6 and rules.search in ("none", "mae")
    known = plain if rules.order == "mx" else exact if rules.order == "exact" else True
    return rules if known and fields["front"] == "none" else None


def transcribed(x: Floats, rules: Rules, uniforms: Floats | None = None) -> tuple[Bytes, Bytes]:
    """Codes and scales of a whole matrix, laid out as the matrix. uniforms: as `nvfp4` has them, laid out likewise."""
    rows, columns = x.shape
    if rules.order == "mx":
        codes, scales = mx(x.reshape(-1, 32), rules)
        return codes.reshape(x.shape), scales.reshape(rows, -1)
    amax = np.abs(x).max() if rules.constant_amax is None else F(rules.constant_amax)
    if rules.tile:
        codes, scales = nvfp4(tiles(x), amax, rules, None, None if uniforms is None else tiles(uniforms))
        turned = codes.reshape(rows // 16, columns // 16, 16, 16).swapaxes(1, 2)
        return turned.reshape(x.shape), np.repeat(scales.reshape(rows // 16, -1), 16, axis=0)
    if uniforms is not None:
        uniforms = uniforms.reshape((-1, 16) if rules.ties == "stochastic" else -1)
    codes, scales = nvfp4(x.reshape(-1, 16), amax, rules, None, uniforms)
    return codes.reshape(x.shape), scales.reshape(rows, -1)


def compare(
    model: Any, dialect: str, rules: Rules, x: Floats, what: str, threads: int = 0, uniforms: Floats | None = None
) -> int:
    """Number of elements compared; fails with an AssertionError on a code or scale that differs."""
    q = model.quantize(x, dialect=dialect, threads=threads, random=uniforms)
    codes, scales = transcribed(x, rules, uniforms)
    for part, got, want in (("scales", q.scales, scales), ("codes", q.codes, codes)):
        wrong = np.argwhere(got != want)
        if len(wrong):
            at = tuple(wrong[0])
            raise AssertionError(
                f"{dialect}, {what}: {len(wrong)} of {want.size} {part} differ, first at {at}: model {got[at]}, "
                f"transcription {want[at]}"
            )
    if rules.order != "mx":
        amax = np.abs(x).max() if rules.constant_amax is None else F(rules.constant_amax)
        want_scale = tensor_scale(amax, rules)
        assert F(q.tensor_scale) == want_scale, f"{dialect}, {what}: tensor scale {q.tensor_scale}, not {want_scale}"
    return x.size
