# SPDX-License-Identifier: Apache-2.0
"""The independent reference: fractions and integers of unlimited size, written from the rules.

Nothing here shares code or tables with the C++ model; what both compute must agree bit for bit. It is slow on purpose.
Sources: docs/numerics.md (encodings, roundings, overflow, sums) and docs/quantizers.md.
"""

from __future__ import annotations

import bisect
import functools
import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Encoding:
    """sign, exponent and mantissa bits, bias; which codes are special."""

    sign: int
    exp: int
    man: int
    bias: int
    special: (
        str  # 'none'; 'fn': all ones is NaN; 'ieee': all-ones exponent is infinity or NaN; 'fnuz': minus zero is NaN
    )
    zero: bool = True
    complement: bool = False  # two's complement instead of a sign bit


ENCODINGS = {
    "e2m1": Encoding(1, 2, 1, 1, "none"),
    "e2m3": Encoding(1, 2, 3, 1, "none"),
    "e3m2": Encoding(1, 3, 2, 3, "none"),
    "e4m3": Encoding(1, 4, 3, 7, "fn"),
    "e4m3_ieee": Encoding(1, 4, 3, 7, "ieee"),
    "e5m2": Encoding(1, 5, 2, 15, "ieee"),
    "e3m4": Encoding(1, 3, 4, 3, "ieee"),
    "e4m3fnuz": Encoding(1, 4, 3, 8, "fnuz"),
    "e5m2fnuz": Encoding(1, 5, 2, 16, "fnuz"),
    "e4m3b11fnuz": Encoding(1, 4, 3, 11, "fnuz"),
    "int8_mx": Encoding(1, 0, 7, 0, "none", complement=True),
    "ue4m3": Encoding(0, 4, 3, 7, "fn"),
    "e8m0": Encoding(0, 8, 0, 127, "fn", zero=False),
    "e3m0": Encoding(1, 3, 0, 1, "none"),
    "fp7_e4m2": Encoding(1, 4, 2, 1, "none"),
    "bf16": Encoding(1, 8, 7, 127, "ieee"),
    "fp16": Encoding(1, 5, 10, 15, "ieee"),
    "tf32": Encoding(1, 8, 10, 127, "ieee"),
    "fp32": Encoding(1, 8, 23, 127, "ieee"),
}


def power(exponent: int) -> Fraction:
    return Fraction(2) ** exponent


def magnitude(f: Encoding, payload: int) -> Fraction | float:
    """Value of the bits below the sign."""
    e, m = payload >> f.man, payload & ((1 << f.man) - 1)
    top = (1 << f.exp) - 1
    if f.special == "fn" and payload == (1 << (f.exp + f.man)) - 1:
        return math.nan
    if f.special == "ieee" and e == top:
        return math.nan if m else math.inf
    if e == 0 and f.zero:
        return m * power(1 - f.bias - f.man)
    return (m + (1 << f.man)) * power(e - f.bias - f.man)


def decode(name: str, code: int) -> Fraction | float:
    """Value of a code: a Fraction, or a float infinity or NaN. Minus zero is a zero here."""
    f = ENCODINGS[name]
    payload_bits = f.exp + f.man
    if f.complement:
        code &= (2 << payload_bits) - 1
        return (code - (2 << payload_bits if code >> payload_bits else 0)) * power(1 - f.bias - f.man)
    if f.special == "fnuz" and code == 1 << payload_bits:
        return math.nan
    value = magnitude(f, code & ((1 << payload_bits) - 1))
    return -value if f.sign and code >> payload_bits & 1 else value


@functools.cache
def ladder(name: str) -> tuple[list[Fraction], Fraction]:
    """All finite magnitudes by code (ascending), and what the next one would be if the format went on."""
    f = ENCODINGS[name]
    values: list[Fraction] = []
    for payload in range(1 << (f.exp + f.man)):
        value = magnitude(f, payload)
        if not isinstance(value, Fraction):
            break
        values.append(value)
    last = values[-1]
    step = last if f.man == 0 else last - values[-2]
    return values, last + step


def round_finite(
    name: str, x: Fraction, rounding: str = "nearest_even", random: int = 0, random_bits: int = 8
) -> tuple[int, bool]:
    """Payload that a magnitude rounds to, and whether it went past the largest finite one.

    On formats without mantissa bits 'nearest_even' sends midpoints up (docs/numerics.md, Rounding).
    """
    f = ENCODINGS[name]
    values, beyond = ladder(name)
    if x >= beyond:
        return len(values) - 1, True
    low = bisect.bisect_right(values, x) - 1
    if low < 0:  # only where there is no zero
        return 0, False
    upper = values[low + 1] if low + 1 < len(values) else beyond
    delta = (x - values[low]) / (upper - values[low])
    half = Fraction(1, 2)
    if rounding == "nearest_even":
        # Midpoints go to the even mantissa; one more than an odd payload is even also across a binade. Without
        # mantissa bits the kept bit is the leading one, which is odd everywhere but at zero.
        odd = low & 1 if f.man else values[low] != 0
        up = delta > half or (delta == half and bool(odd))
    elif rounding == "nearest_away":
        up = delta >= half
    elif rounding == "stochastic":
        up = math.floor(delta * 2**random_bits) + random >= 2**random_bits
    elif rounding == "toward_zero":
        up = False
    else:
        raise ValueError(rounding)
    return (low + 1, False) if up and low + 1 < len(values) else (low, up)


def encode_finite(
    name: str, x: Fraction, rounding: str = "nearest_even", saturate: bool = True, random: int = 0, random_bits: int = 8
) -> int:
    """Code of a finite value in a format with zero; overflow saturates, or becomes infinity or, without one, NaN."""
    f = ENCODINGS[name]
    if x < 0 and not f.sign:
        return 0
    payload, over = round_finite(name, abs(x), rounding, random, random_bits)
    sign = f.sign << (f.exp + f.man)
    if over and not saturate and f.special != "none":
        if f.special == "fnuz":
            return sign
        top = (1 << f.exp) - 1
        payload = top << f.man if f.special == "ieee" else (1 << (f.exp + f.man)) - 1
    return signed(f, payload, x < 0)


def signed(f: Encoding, payload: int, negative: bool) -> int:
    """The code of a payload with a sign; formats without minus zero have a zero."""
    sign = f.sign << (f.exp + f.man)
    if not negative or (payload == 0 and (f.complement or f.special == "fnuz")):
        return payload
    return 2 * sign - payload if f.complement else payload | sign


def fp32(x: Fraction) -> np.float32:
    """Nearest-even float32 of an exact value, with gradual underflow; a zero is positive."""
    if x == 0:
        return np.float32(0)
    # floor(log2 |x|): off by one at most from the bit lengths.
    n, d = abs(x.numerator), x.denominator
    exponent = n.bit_length() - d.bit_length()
    if abs(x) < power(exponent):
        exponent -= 1
    exponent = max(exponent, -126)
    integer = round(abs(x) / power(exponent - 23))  # Python rounds fractions half to even
    value = math.inf if integer * power(exponent - 23) >= power(128) else math.ldexp(integer, exponent - 23)
    return np.float32(math.copysign(value, x))


def frac(x: float | np.floating) -> Fraction:
    """Exact value of a finite float."""
    return Fraction(float(x))


# ---------------------------------------------------------------- quantizers (docs/quantizers.md)

BLOCK = {"nvfp4": 16, "mxfp4": 32, "fp8": 1, "mxfp8": 32, "mxfp6": 32, "mxint8": 32}
SCALE_FORMAT = {"nvfp4": "ue4m3", "mxfp4": "e8m0", "mxfp8": "e8m0", "mxfp6": "e8m0", "mxint8": "e8m0"}
TOP_EXPONENT = {
    "e2m1": 2,
    "e4m3": 8,
    "e5m2": 15,
    "e2m3": 2,
    "e3m2": 4,
    "int8_mx": 0,
}  # of the largest value: OCP MX v1.0, 6.3
MX_WINDOWS = ("mxfp8", "mxfp6", "mxint8")  # a product is an FP32 term for each block
Bytes = NDArray[np.uint8]


def philox4x32(counter: int, key: int) -> int:
    """128 random bits (Salmon et al., SC'11), as one integer, lane 0 lowest."""
    mask = 0xFFFFFFFF
    c = [counter >> 32 * i & mask for i in range(4)]
    k = [key & mask, key >> 32 & mask]
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k[0], q & mask, (p >> 32) ^ c[3] ^ k[1], p & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return sum(word << 32 * i for i, word in enumerate(c))


def random_field(seed: int, index: int, bits: int) -> int:
    """Random field number `index`: the low bits of a lane of 8, 16 or 32 bits of the stream."""
    lane = 8 if bits <= 8 else 16 if bits <= 16 else 32
    block, place = divmod(index, 128 // lane)
    return philox4x32(block, seed) >> lane * place & ((1 << bits) - 1)


def tensor_scale(amax: np.float32, scheme: str, element: str, power_of_two: bool = False) -> np.float32:
    """amax over the largest value, in float32; upwards where that is subnormal, and to a power of two on request."""
    if scheme.startswith("mx") or amax == 0:
        return np.float32(1)
    largest = 448 * 6 if scheme == "nvfp4" else ladder(element)[0][-1]
    wanted = frac(amax) / largest
    if power_of_two:
        exponent = -149
        while power(exponent) < wanted:
            exponent += 1
        return fp32(power(exponent))
    scale = fp32(wanted)
    if frac(scale) < power(-126) and frac(scale) < wanted:
        scale = np.nextafter(scale, np.float32(np.inf))
    return scale


def quantize(
    vectors: NDArray[np.float32],
    scheme: str,
    element: str = "e2m1",
    *,
    rounding: str = "nearest_even",
    random_bits: int = 8,
    seed: int = 0,
    scale: float | None = None,
    power_of_two: bool = False,
) -> tuple[Bytes, Bytes | None, np.float32]:
    """Codes (padded), block scales, tensor scale of vectors along the contraction: each quotient rounded once."""
    rows, k = vectors.shape
    block = BLOCK[scheme]
    blocks = -(-k // block)
    x = np.zeros((rows, blocks * block), np.float32)
    x[:, :k] = vectors
    amax = np.abs(vectors).max()
    ts = np.float32(scale) if scale is not None else tensor_scale(amax, scheme, element, power_of_two)
    codes = np.zeros(x.shape, np.uint8)
    scales = np.zeros((rows, blocks), np.uint8)
    for r in range(rows):
        for b in range(blocks):
            unit = frac(ts)
            here = x[r, b * block : (b + 1) * block]
            if scheme != "fp8":
                top = frac(np.abs(here).max())
                if scheme == "nvfp4":
                    scales[r, b] = encode_finite("ue4m3", top / (6 * frac(ts)))
                    if scales[r, b] == 0:
                        continue
                elif top:
                    exponent = math.floor(math.log2(top))  # may be one off: mended here
                    if power(exponent + 1) <= top:
                        exponent += 1
                    if power(exponent) > top:
                        exponent -= 1
                    scales[r, b] = max(exponent - TOP_EXPONENT[element] + 127, 0)
                unit *= decode(SCALE_FORMAT[scheme], int(scales[r, b]))
            for i, value in enumerate(here):
                at = r * x.shape[1] + b * block + i
                word = random_field(seed, at, random_bits) if rounding == "stochastic" else 0
                code = encode_finite(element, frac(value) / unit, rounding, True, word, random_bits)
                if value == 0:
                    code = signed(ENCODINGS[element], 0, bool(np.signbit(value)))
                codes[r, b * block + i] = code
    return codes, None if scheme == "fp8" else scales, ts


# ---------------------------------------------------------------- products (docs/numerics.md, Exact sums)

NAN = np.uint32(0x7FC00000).view(np.float32)


def integers(name: str, codes: Bytes) -> tuple[NDArray[np.object_], int]:
    """Values as Python integers in units of 2^-u, and u; NaN and infinities are 0."""
    f = ENCODINGS[name]
    unit = f.bias - 1 + f.man if f.zero else f.bias
    table = []
    for code in range(256):
        value = decode(name, code)
        table.append(int(value * 2**unit) if isinstance(value, Fraction) else 0)
    return np.array(table, dtype=object)[codes], unit


def specials(name: str, codes: Bytes) -> NDArray[np.float64]:
    """Values as floats, for the rules of NaN and infinity only."""
    return floats(name)[codes]


@functools.cache
def floats(name: str) -> NDArray[np.float64]:
    """By code."""
    return np.array([float(decode(name, code)) for code in range(256)])


def gemm(a: object, b: object) -> NDArray[np.float32]:
    """C = A x B of two operands with the attributes of narrowgauge.QuantizedMatrix."""
    out = np.zeros((a.codes.shape[0], b.codes.shape[0]), np.float32)
    a_int, a_unit = integers(a.element, a.codes)
    b_int, b_unit = integers(b.element, b.codes)
    with np.errstate(all="ignore"):
        for i in range(out.shape[0]):
            for j in range(out.shape[1]):
                if a.scheme in MX_WINDOWS or a.scaling.endswith("128") or b.scaling.endswith("128"):
                    out[i, j] = blocked(a, b, i, j, a_int[i], b_int[j], a_unit + b_unit)
                    continue
                if a.scheme == "fp8":
                    sum_ = fp8_sum(a, b, i, j, slice(None), int(a_int[i] @ b_int[j]), a_unit + b_unit)
                else:
                    sum_ = fp4_sum(a, b, i, j, a_int[i], b_int[j], a_unit + b_unit)
                left, right = (fp32_scale(a, i, 0), fp32_scale(b, j, 0)) if a.scheme == "fp8" else tensor_scales(a, b)
                result = scaled(sum_, left, right)
                out[i, j] = NAN if np.isnan(result) else result
    return out


def tensor_scales(a: object, b: object) -> tuple[np.float32, np.float32]:
    return np.float32(a.tensor_scale), np.float32(b.tensor_scale)


def scaled(value: np.float32, left: np.float32, right: np.float32) -> np.float32:
    """By the rounded product of the scales if that is a normal number, else by one after the other."""
    alpha = left * right
    normal = np.isfinite(alpha) and abs(alpha) >= np.float32(2.0**-126)
    return value * alpha if normal else value * left * right


def fp32_scale(q: object, row: int, block: int) -> np.float32:
    """The FP32 scale of 128 elements of a vector of a matrix of two dimensions."""
    if q.scaling == "tensor":
        return np.float32(q.tensor_scale)
    if q.scaling == "vector":
        return q.scales[row]
    return q.scales[row // 128 if q.scaling == "128x128" else row, block]


def blocked(
    a: object, b: object, i: int, j: int, x: NDArray[np.object_], y: NDArray[np.object_], unit: int
) -> np.float32:
    """A result as FP32 terms of blocks, added in order."""
    block = BLOCK[a.scheme] if a.scheme in MX_WINDOWS else 128
    result = np.float32(0)
    for n in range(-(-a.k // block)):
        part = slice(n * block, (n + 1) * block)
        total = int(x[part] @ y[part])
        if a.scheme == "fp8":
            result = result + scaled(fp8_sum(a, b, i, j, part, total, unit), fp32_scale(a, i, n), fp32_scale(b, j, n))
            continue
        left, right = decode("e8m0", int(a.scales[i, n])), decode("e8m0", int(b.scales[j, n]))
        if not isinstance(left, Fraction) or not isinstance(right, Fraction):
            return NAN
        factor = left * right
        result = result + fp8_sum(
            a, b, i, j, part, total * factor.numerator, unit + factor.denominator.bit_length() - 1
        )
    return NAN if np.isnan(result) else result


def fp8_sum(a: object, b: object, i: int, j: int, part: slice, total: int, unit: int) -> np.float32:
    products = specials(a.element, a.codes[i, part]) * specials(b.element, b.codes[j, part])
    if np.isnan(products).any() or (np.isposinf(products).any() and np.isneginf(products).any()):
        return NAN
    if np.isinf(products).any():
        return np.float32(products[np.isinf(products)][0])
    return fp32(Fraction(total, 2**unit))


def fp4_sum(
    a: object, b: object, i: int, j: int, x: NDArray[np.object_], y: NDArray[np.object_], unit: int
) -> np.float32:
    block, scale_format = BLOCK[a.scheme], SCALE_FORMAT[a.scheme]
    exact, rounded = Fraction(0), np.float32(0)
    for n in range(a.scales.shape[1]):
        left, right = decode(scale_format, int(a.scales[i, n])), decode(scale_format, int(b.scales[j, n]))
        if not isinstance(left, Fraction) or not isinstance(right, Fraction):
            return NAN
        part = slice(n * block, (n + 1) * block)
        term = Fraction(int(x[part] @ y[part]), 2**unit) * left * right
        exact += term
        rounded = rounded + fp32(term)
    return fp32(exact) if a.scheme == "nvfp4" else rounded
