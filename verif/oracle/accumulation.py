# SPDX-License-Identifier: Apache-2.0
"""How matrix instructions add: an independent transcription in numpy integers, written from the rules.

It shares no code or tables with the C++ model. One call of `step` is one instruction, D = A x B + C, on arrays
[calls, M, K] and [calls, N, K] of codes. Every number is a significand, an integer, times a power of two; aligning is
a shift of magnitudes, so that nothing is rounded but where the rules say so.
Sources: the sequences that MMA-Sim documents (arXiv 2511.10909), and the RISC-V Zvdota/Zvbdota chapter, "RISC-V Bulk
Normalization Algorithm". Rules in words: docs/accumulation.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.int64]
NOTHING = -100000  # an exponent label below all others


@dataclass(frozen=True)
class Layout:
    """Widths of an encoding: exponent, mantissa, bias; `special`: none, fn (all ones is NaN), ieee."""

    exp: int
    man: int
    bias: int
    special: str


LAYOUTS = {
    "e2m1": Layout(2, 1, 1, "none"),
    "e2m3": Layout(2, 3, 1, "none"),
    "e3m2": Layout(3, 2, 3, "none"),
    "e4m3": Layout(4, 3, 7, "fn"),
    "e5m2": Layout(5, 2, 15, "ieee"),
    "bf16": Layout(8, 7, 127, "ieee"),
    "fp16": Layout(5, 10, 15, "ieee"),
    "fp32": Layout(8, 23, 127, "ieee"),
}


@dataclass
class Parts:
    """Numbers apart: value = sign * significand * 2^(label - fraction); label is the exponent of a leading one."""

    sign: Array  # 1 or -1
    significand: Array
    label: Array
    fraction: int
    nan: NDArray[np.bool_]
    inf: NDArray[np.bool_]


def split(name: str, codes: NDArray) -> Parts:
    """Codes of elements. A subnormal, and zero, has the label of the smallest normal number."""
    f = LAYOUTS[name]
    c = codes.astype(np.int64)
    payload = c & ((1 << (f.exp + f.man)) - 1)
    e, m = payload >> f.man, payload & ((1 << f.man) - 1)
    top = (1 << f.exp) - 1
    nan = np.zeros(c.shape, bool)
    inf = np.zeros(c.shape, bool)
    if f.special == "fn":
        nan = payload == (1 << (f.exp + f.man)) - 1
    elif f.special == "ieee":
        nan, inf = (e == top) & (m != 0), (e == top) & (m == 0)
    significand = np.where(e > 0, m + (1 << f.man), m)
    sign = 1 - 2 * (c >> (f.exp + f.man) & 1)
    label = np.where(payload == 0, -126, np.maximum(e, 1) - f.bias)
    return Parts(sign, np.where(nan | inf, 0, significand), label, f.man, nan, inf)


def split_scale(name: str, codes: NDArray, hidden_one: bool = False) -> Parts:
    """Codes of block scales; the sign bit of UE4M3 is not looked at, and its zero has the label of nothing at all."""
    if name == "e8m0":
        c = codes.astype(np.int64)
        one = np.ones(c.shape, np.int64)
        return Parts(one, one, c - 127, 0, c == 255, np.zeros(c.shape, bool))
    parts = split("e4m3", codes & 0x7F)
    if hidden_one:  # the wrong variant: a subnormal decoded as if it were normal
        sub = (codes & 0x78) == 0
        parts.significand = np.where(sub, (codes & 7).astype(np.int64) + 8, parts.significand)
        parts.label = np.where(sub, -7, parts.label)
    parts.label = np.where(parts.significand == 0, -126 if not hidden_one else parts.label, parts.label)
    return parts


@dataclass(frozen=True)
class Rule:
    """One accumulation. `group`: products summed exactly before they are aligned; `bits`: fraction bits kept."""

    bits: int
    group: int = 1
    result: str = "fp32"  # fp32, e8m13, fp16
    rounding: str = "zero"  # of the result: zero, even
    align: str = "zero"  # of the terms: zero; none: exact, one rounding at the end
    hidden_one: bool = False
    zero: int | None = None  # the label of a zero term, also of a zero C; None: as of FP32's zero, -126 a factor


BLACKWELL_64 = Rule(bits=35, group=16)
BLACKWELL_32 = Rule(bits=25)
HOPPER_FP8 = Rule(bits=13, result="e8m13")
HOPPER_FP8_F16 = Rule(bits=13, result="fp16", rounding="even")
NAN32, NAN16 = 0x7FFFFFFF, 0x7FFF
# The wrong readings that the vectors tell apart, of the rule for K = 64.
WRONG = {
    "34 bits": replace(BLACKWELL_64, bits=34),
    "36 bits": replace(BLACKWELL_64, bits=36),
    "result to nearest": replace(BLACKWELL_64, rounding="even"),
    "exact once": replace(BLACKWELL_64, align="none", rounding="even"),
    "hidden one in subnormal scales": replace(BLACKWELL_64, hidden_one=True),
}


def shifted(magnitude: Array, distance: Array) -> Array:
    """magnitude * 2^distance, whole places only; shifts right drop bits."""
    return np.where(distance >= 0, magnitude << np.clip(distance, 0, 62), magnitude >> np.clip(-distance, 0, 62))


def pack(total: NDArray, unit: NDArray, result: str, rounding: str) -> NDArray[np.uint32]:
    """total * 2^unit as the bits of FP32 (E8M13 stays in FP32's bits) or FP16; total of any size (Python integers)."""
    man, least, top = {"fp32": (23, -126, 127), "e8m13": (13, -126, 127), "fp16": (10, -14, 15)}[result]
    width = 10 if result == "fp16" else 23
    bias = 15 if result == "fp16" else 127
    out = np.zeros(total.shape, np.uint32)
    for at, whole in np.ndenumerate(total):
        value, power = int(whole), int(unit[at])
        sign, value = value < 0, abs(value)
        if value == 0:
            continue
        exponent = max(value.bit_length() - 1 + power, least)
        drop = exponent - man - power
        kept = value >> drop if drop >= 0 else value << -drop
        if rounding == "even" and drop > 0:
            rest, half = value & ((1 << drop) - 1), 1 << (drop - 1)
            kept += rest > half or (rest == half and kept & 1)
        if kept >> (man + 1):
            kept, exponent = kept >> 1, exponent + 1
        if exponent > top:
            bits = ((1 << (9 if result != "fp16" else 6)) - 1 >> 1) << width
        else:
            field = exponent + bias if kept >> man else 0
            sign = sign and kept != 0  # what is truncated to nothing is +0
            bits = field << width | (kept & ((1 << man) - 1)) << (width - man)
        out[at] = bits | sign << (15 if result == "fp16" else 31)
    return out


def specials(parts: list[tuple[NDArray, NDArray, NDArray]], bits: NDArray, nan_bits: int, inf_bits: int) -> NDArray:
    """Puts NaN and infinities over results: (nan, plus infinity, minus infinity) of each kind of term."""
    nan = np.zeros(bits.shape, bool)
    plus, minus = nan.copy(), nan.copy()
    for n, p, m in parts:
        nan, plus, minus = nan | n, plus | p, minus | m
    bits = np.where(plus, inf_bits, bits)
    bits = np.where(minus, inf_bits | 1 << (31 if inf_bits > 0xFFFF else 15), bits)
    return np.where(nan | (plus & minus), nan_bits, bits).astype(np.uint32)


def step(
    rule: Rule,
    elements: tuple[str, str],
    a: NDArray,
    bt: NDArray,
    c: NDArray,
    scale: str | None = None,
    sa: NDArray | None = None,
    sbt: NDArray | None = None,
) -> NDArray[np.uint32]:
    """D of one instruction. `c`: bits of FP32, of FP16 if the result is. Scales: [calls, M, blocks], one a block."""
    x, y = split(elements[0], a), split(elements[1], bt)
    half = rule.result == "fp16"
    acc = split("fp16" if half else "fp32", c)
    k = a.shape[-1]
    sig = (x.sign * x.significand)[:, :, None, :] * (y.sign * y.significand)[:, None, :, :]
    fraction = x.fraction + y.fraction
    label = x.label[:, :, None, :] + y.label[:, None, :, :]
    nan = (x.nan[:, :, None, :] | y.nan[:, None, :, :]).any(-1)
    any_inf = x.inf[:, :, None, :] | y.inf[:, None, :, :]
    sign = x.sign[:, :, None, :] * y.sign[:, None, :, :]
    zero = ((x.significand == 0) & ~x.inf)[:, :, None, :] | ((y.significand == 0) & ~y.inf)[:, None, :, :]
    nan |= (any_inf & zero).any(-1)
    plus, minus = (any_inf & (sign > 0)).any(-1), (any_inf & (sign < 0)).any(-1)
    nothing = sig == 0
    if rule.group > 1:
        nothing = nothing.reshape(*sig.shape[:-1], k // rule.group, rule.group).all(-1)
        sig = sig << np.maximum(label, 0)  # E2M1's labels are 0 to 2
        sig = sig.reshape(*sig.shape[:-1], k // rule.group, rule.group).sum(-1)
        label = np.zeros(sig.shape, np.int64)
    if scale:
        p, q = split_scale(scale, sa, rule.hidden_one), split_scale(scale, sbt, rule.hidden_one)
        repeat = sig.shape[-1] // sa.shape[-1]
        grow = lambda s: np.repeat(s, repeat, axis=-1)  # noqa: E731
        sig = sig * grow(p.significand)[:, :, None, :] * grow(q.significand)[:, None, :, :]
        both = grow(p.label)[:, :, None, :] + grow(q.label)[:, None, :, :]
        dead = (grow(p.significand) == 0)[:, :, None, :] | (grow(q.significand) == 0)[:, None, :, :]
        label = label + both
        nothing = nothing | dead
        fraction += p.fraction + q.fraction
        nan |= p.nan.any(-1)[:, :, None] | q.nan.any(-1)[:, None, :]
    if rule.align == "none":
        unit = np.minimum(label.min(-1) - fraction, acc.label - acc.fraction)
        total = np.zeros(acc.label.shape, object)
        for at in np.ndindex(total.shape):
            total[at] = sum(int(s) << int(e) for s, e in zip(sig[at], label[at] - fraction - unit[at], strict=True))
            total[at] += int(acc.sign[at] * acc.significand[at]) << int(acc.label[at] - acc.fraction - unit[at])
    else:
        acc_label = acc.label
        if rule.zero is not None:
            label = np.where(nothing, rule.zero, label)
            acc_label = np.where(acc.significand == 0, rule.zero, acc.label)
        top = np.maximum(label.max(-1), acc_label)
        kept = np.sign(sig) * shifted(np.abs(sig), label - top[..., None] + rule.bits - fraction)
        total = kept.sum(-1) + acc.sign * shifted(acc.significand, acc_label - top + rule.bits - acc.fraction)
        unit = top - rule.bits
    bits = pack(total, unit, rule.result, rule.rounding)
    inf = 0x7C00 if half else 0x7F800000
    terms = [(nan, plus, minus), (acc.nan, acc.inf & (acc.sign > 0), acc.inf & (acc.sign < 0))]
    return specials(terms, bits, NAN16 if half else NAN32, inf)


def odd(value: int, drop: int) -> int:
    """A magnitude without its last `drop` bits; the last one that stays is 1 if any of them was."""
    if drop <= 0:
        return value << -drop
    return value >> drop | (value & ((1 << drop) - 1) != 0)


def odd_fp32(total: int, unit: int) -> tuple[int, int]:
    """total * 2^unit to 24 bits, rounding to odd: of FP8 products, nothing is subnormal in FP32."""
    drop = max(abs(total).bit_length() - 24, 0)
    return (odd(abs(total), drop) * (1 if total >= 0 else -1), unit + drop)


def rvbna(first: str, second: str, a: NDArray, b: NDArray, n: int = 32) -> NDArray[np.uint32]:
    """Sums over k of a (M, K) and b (N, K), FP8: n products a step bulk-normalized, then added, all rounding to odd."""
    guard = (n - 1).bit_length()
    x, y = split(first, a), split(second, b)
    out = np.zeros((len(a), len(b)), np.uint32)
    fraction = x.fraction + y.fraction
    for i, j in np.ndindex(out.shape):
        acc, unit, nan, infinities = 0, 0, False, set()
        for k in range(0, a.shape[1], n):
            terms = []
            for t in range(k, min(k + n, a.shape[1])):
                zero = (x.significand[i, t] == 0 and not x.inf[i, t]) or (y.significand[j, t] == 0 and not y.inf[j, t])
                inf = bool(x.inf[i, t] or y.inf[j, t])
                nan = nan or bool(x.nan[i, t] or y.nan[j, t]) or (inf and bool(zero))
                if inf:
                    infinities.add(int(x.sign[i, t] * y.sign[j, t]))
                if not zero:
                    terms.append((
                        int(x.sign[i, t] * y.sign[j, t]),
                        int(x.significand[i, t] * y.significand[j, t]),
                        int(x.label[i, t] + y.label[j, t]),
                    ))  # fmt: skip
            if not terms:
                continue
            top = max(label for _, _, label in terms)
            dot = sum(s * odd(p << (23 + guard - fraction), top - label) for s, p, label in terms)
            dot, dot_unit = odd_fp32(dot, top - 23 - guard)
            least = min(unit, dot_unit)
            acc, unit = odd_fp32((acc << (unit - least)) + (dot << (dot_unit - least)), least)
        if nan or len(infinities) == 2:
            out[i, j] = 0x7FC00000
        elif infinities:
            out[i, j] = 0x7F800000 | (infinities == {-1}) << 31
        else:
            out[i, j] = np.float32(acc * 2.0**unit + 0.0).view(np.uint32)
    return out
