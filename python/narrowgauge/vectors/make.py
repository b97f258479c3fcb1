# SPDX-License-Identifier: Apache-2.0
"""The cases of the kit: questions by plain arithmetic on Philox's words, so that every numpy makes the same; answers by the
golden model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._formats import decode, formats, random_fields
from .._if4 import IF4_CHOICES
from .._quantized import quantize
from .kit import Arrays, Case, Parameters
from .reference import reference

#: Element formats of the casts; of those with more than 8 bits codes are sampled.
CAST_FORMATS = tuple(name for name in formats() if name != "fp32")
CASTS = (
    ("nearest_even", "saturate"), ("nearest_even", "ieee"), ("nearest_even", "oracle"), ("nearest_away", "saturate"),
    ("toward_zero", "saturate"),
)  # fmt: skip
STOCHASTIC_FORMATS = ("e2m1", "e2m3", "e3m2", "e4m3", "e5m2", "e4m3fnuz", "e5m2fnuz", "e3m0")
#: Dialects of the block quantizers with their formats and blocks.
BLOCKS = (
    ("narrowgauge", "nvfp4", 16), ("te", "nvfp4", 16), ("te:rounding=stochastic", "nvfp4", 16), ("te_2d", "nvfp4", 16),
    ("te_4over6", "nvfp4", 16), ("te_4over6:bound=448,search=mse", "nvfp4", 16), ("fouroversix", "nvfp4", 16),
    ("torchao", "nvfp4", 16), ("quartet2", "nvfp4", 16), ("ngpt", "nvfp4", 16), ("modelopt", "nvfp4", 16),
    ("ggml", "nvfp4", 16), ("ggml:scale=exact", "nvfp4", 16), ("ocp_floor", "mxfp4", 32), ("ocp_rceil", "mxfp4", 32),
    ("ocp_floor", "mxfp8_e4m3", 32), ("ocp_rceil", "mxfp8_e4m3", 32), ("ocp_floor", "mxfp8_e5m2", 32),
    ("ocp_rceil", "mxfp8_e5m2", 32), ("ocp_floor", "mxfp6_e2m3", 32), ("ocp_floor", "mxfp6_e3m2", 32),
    ("ocp_floor", "mxint8", 32),
)  # fmt: skip
Words = NDArray[np.uint32]


class _Numbers:
    """Words of one seed, each taken once."""

    def __init__(self, seed: int) -> None:
        self.seed, self.first = seed, 0

    def words(self, *shape: int, bits: int = 32) -> Words:
        count = int(np.prod(shape))
        made = random_fields(self.seed, count, first=self.first) >> np.uint32(32 - bits)
        self.first += count
        return made.reshape(shape)

    def below(self, top: int, *shape: int) -> Words:
        return (self.words(*shape).astype(np.uint64) * np.uint64(top) >> np.uint64(32)).astype(np.uint32)

    def bell(self, *shape: int) -> NDArray[np.float32]:
        """Sums of four uniform numbers in the place of a normal distribution, of BF16 origin."""
        sums = self.words(4, *shape, bits=20).astype(np.int64).sum(axis=0) - 2**21
        return bf16((sums * 2.0**-19).astype(np.float32))


def bf16(x: NDArray[np.float32]) -> NDArray[np.float32]:
    """Without the low 16 bits of each."""
    return (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def _case(name: str, operation: str, parameters: Parameters, inputs: Arrays) -> Case:
    answer = reference(operation, parameters, inputs)
    assert answer is not None
    return Case(name, operation, parameters, inputs, {key: np.ascontiguousarray(a) for key, a in answer.items()})


def _codes(format: str) -> NDArray[Any]:
    """All codes of up to 8 bits; of wider formats 256 at equal distances and their neighbours."""
    width = formats()[format].bits
    if width <= 8:
        return np.arange(2**width, dtype=np.uint8)
    step = 2 ** (width - 8)
    some = np.arange(2**8) * step
    dtype = np.uint16 if width <= 16 else np.uint32
    return np.unique(np.concatenate([some, some + 1, some + step - 1])).astype(dtype)


def _values(format: str) -> NDArray[np.float32]:
    """A format's values, the middles between neighbours, their float32 neighbours; specials; any float32 at all."""
    own = decode(_codes(format), format)
    own = np.unique(own[np.isfinite(own)])
    wide = own.astype(np.float64)
    with np.errstate(over="ignore"):
        middles = ((wide[1:] + wide[:-1]) / 2).astype(np.float32)
        quarters = ((3 * wide[1:] + wide[:-1]) / 4).astype(np.float32)
        near = np.concatenate([own, middles])
        near = np.concatenate([np.nextafter(near, np.float32(s)) for s in (-np.inf, np.inf)])
        top = own.max().astype(np.float64)
        beyond = np.array([top * f for f in (1.03, 1.0625, 1.125, 1.25, 1.5, 2, 4)]).astype(np.float32)
    special = np.array(
        [0.0, -0.0, np.inf, -np.inf, np.nan, 2.0**-149, -(2.0**-149), 2.0**-126, 3.4028235e38], np.float32
    )
    anything = _Numbers(11).words(256).view(np.float32)
    anything = anything[~np.isnan(anything)]
    made = np.concatenate([own, middles, quarters, near, beyond, -beyond, special, anything])
    order = np.unique(made.view(np.uint32))
    return order.view(np.float32)


def _casts() -> Iterator[Case]:
    for format in CAST_FORMATS:
        for rounding, overflow in CASTS:
            if overflow == "oracle" and not formats()[format].ml_dtype:
                continue
            parameters: Parameters = {"format": format, "rounding": rounding, "overflow": overflow}
            name, values = f"casts/{format}/{rounding}/{overflow}", _values(format)
            # What conventions say of numbers that a format has nothing like stands apart.
            nan, negative = np.isnan(values), np.signbit(values) | (values == 0)
            apart = np.zeros(values.shape, bool)
            if not formats()[format].has_nan:
                apart |= nan
                yield _case(f"{name}/nan", "encode", parameters, {"value": values[nan]})
            if not formats()[format].sign:
                apart |= negative
                yield _case(f"{name}/nonpositive", "encode", parameters, {"value": values[negative]})
            yield _case(name, "encode", parameters, {"value": values[~apart]})
        yield _case(f"casts/{format}/decode", "decode", {"format": format}, {"code": _codes(format)})


def _stochastic() -> Iterator[Case]:
    for format in STOCHASTIC_FORMATS:
        for random_bits in (8, 16):
            numbers = _Numbers(20 + random_bits)
            own = decode(_codes(format), format)
            own = np.unique(own[np.isfinite(own)])
            if random_bits == 8:  # every word on points between neighbours
                at = numbers.words(own.size - 1, 2).astype(np.float64) * 2.0**-32
                points = np.concatenate([own, (own[:-1, None] + at * np.diff(own)[:, None]).astype(np.float32).ravel()])
                points = points[numbers.below(points.size, 48)] if points.size > 48 else points
                value, word = (a.ravel() for a in np.meshgrid(points, np.arange(256, dtype=np.uint32), indexing="ij"))
            else:
                pick = numbers.below(own.size - 1, 4096)
                at = numbers.words(4096).astype(np.float64) * 2.0**-32
                value = (own[pick] + at * (own[pick + 1] - own[pick])).astype(np.float32)
                word = numbers.words(4096, bits=16)
            parameters: Parameters = {"format": format, "random_bits": random_bits, "overflow": "saturate"}
            inputs: Arrays = {"value": np.ascontiguousarray(value), "word": np.ascontiguousarray(word)}
            yield _case(f"stochastic/{format}/{random_bits}", "encode_stochastic", parameters, inputs)


def matrices() -> Iterator[tuple[str, NDArray[np.float32]]]:
    """Matrices of BF16 origin, on which conventions differ far more often than on other float32 numbers."""
    numbers = _Numbers(31)
    shape = (32, 128)
    yield "normal", numbers.bell(*shape)
    scale = np.ldexp(np.float32(1), numbers.below(20, shape[0], shape[1] // 16).astype(np.int32) - 10)
    yield "wide", numbers.bell(*shape) * scale.repeat(16, axis=1)
    # Few bits of significand and a tensor scale of a power of two: many ties.
    few = (numbers.below(25, *shape).astype(np.float32) - 12) * np.float32(0.25)
    few = few * np.ldexp(np.float32(1), numbers.below(6, shape[0], shape[1] // 16).astype(np.int32)).repeat(16, axis=1)
    few[0, 0] = 2688
    yield "ties", few
    edges = numbers.bell(*shape) * np.ldexp(np.float32(1), -numbers.below(30, shape[0], 4).astype(np.int32)).repeat(
        32, axis=1
    )
    edges = bf16(edges)
    edges[1, 32:96], edges[2, :16], edges[3, 0:64:2] = 0, -0.0, -0.0
    edges[4] *= np.float32(2.0**-100)
    edges[5, :16] = edges[5, 0]
    yield "edges", edges
    yield "apart", _apart(numbers, 3.0)
    yield "apart_too", _apart(numbers, 3.25)


#: Conventions near to Transformer Engine's.
NEAR = ("te:order=quotient", "te:order=quotients", "te:order=divisions", "te:order=products", "narrowgauge")


def _apart(numbers: _Numbers, largest: float) -> NDArray[np.float32]:
    """Of many blocks those on which conventions differ, behind one with the largest magnitude: how often they differ
    depends on that magnitude, and with most they never do."""
    x = np.clip(numbers.bell(512, 256), np.float32(-2.875), np.float32(2.875))
    x[0, 0] = largest
    one = quantize(x, dialect="te", threads=1)
    scales, codes = (np.zeros((x.shape[0], x.shape[1] // 16), bool) for _ in range(2))
    for dialect in NEAR:
        other = quantize(x, dialect=dialect, threads=1)
        scales |= other.scales != one.scales
        codes |= (other.codes != one.codes).reshape(*codes.shape, 16).any(axis=-1)
    scales[0, 0] = codes[0, 0] = False
    neither = np.flatnonzero(~(scales | codes))  # block 0 in front
    chosen = [neither[:1], np.flatnonzero(scales)[:63], np.flatnonzero(codes & ~scales), neither[1:]]
    return x.reshape(-1, 16)[np.concatenate(chosen)[:128]].reshape(-1, 128)


def _words_of(dialect: str, x: NDArray[np.float32]) -> Arrays:
    if dialect == "te:rounding=stochastic":
        return {"word": _Numbers(32).words(*x.shape, bits=8)}
    if dialect == "quartet2":
        return {"word": _Numbers(33).words(x.shape[0], x.shape[1] // 16, bits=24)}
    return {}


def _blocks() -> Iterator[Case]:
    for name, x in matrices():
        for dialect, format, block in BLOCKS:
            parameters: Parameters = {"dialect": dialect, "format": format, "block": block}
            inputs: Arrays = {"x": x, **_words_of(dialect, x)}
            if dialect == "ngpt":
                inputs["x"] = x / np.float32(4096)  # elements of unit vectors
            yield _case(f"blocks/{dialect}/{format}/{name}", "quantize", parameters, inputs)
        for choice in IF4_CHOICES:
            yield _case(f"blocks/if4/{choice}/{name}", "quantize_if4", {"choice": choice}, {"x": x})
        yield _case(f"blocks/mixfp4/{name}", "quantize_mixfp4", {}, {"x": x})
        yield _case(f"blocks/hif4/{name}", "quantize_hif4", {}, {"x": x})


def _layouts() -> Iterator[Case]:
    numbers = _Numbers(41)
    for rows, blocks in ((1, 1), (128, 4), (130, 7), (32, 16), (300, 9)):
        scales = numbers.below(256, rows, blocks).astype(np.uint8)
        swizzled = _case(f"layouts/swizzle/{rows}x{blocks}", "swizzle", {}, {"scales": scales})
        yield swizzled
        parameters: Parameters = {"rows": rows, "blocks": blocks}
        yield _case(f"layouts/unswizzle/{rows}x{blocks}", "unswizzle", parameters, {"bytes": swizzled.outputs["bytes"]})
    codes = numbers.below(16, 8, 128).astype(np.uint8)
    yield _case("layouts/pack/low_first", "pack", {"order": "low_first"}, {"codes": codes})
    scales = numbers.below(0x7F, 8, 8).astype(np.uint8)
    yield _case("layouts/gguf", "gguf_block", {}, {"codes": codes, "scales": scales})


#: Rule, elements, block scales, bits of a code, products of an instruction, elements of a block.
INSTRUCTIONS = (
    ("blackwell_64", ("e2m1", "e2m1"), "ue4m3", 4, 64, 16), ("blackwell_64", ("e2m1", "e2m1"), "e8m0", 4, 64, 32),
    ("blackwell_32", ("e4m3", "e4m3"), "e8m0", 8, 32, 32), ("blackwell_32", ("e5m2", "e5m2"), "e8m0", 8, 32, 32),
    ("blackwell_32", ("e4m3", "e5m2"), "e8m0", 8, 32, 32), ("blackwell_32", ("e4m3", "e4m3"), "none", 8, 32, 32),
    ("hopper_32", ("e4m3", "e4m3"), "none", 8, 32, 32), ("hopper_32", ("e5m2", "e5m2"), "none", 8, 32, 32),
    ("hopper_32", ("e4m3", "e5m2"), "none", 8, 32, 32),
)  # fmt: skip


def _no_specials(codes: NDArray[np.uint8], format: str) -> NDArray[np.uint8]:
    return np.where(np.isfinite(decode(codes, format)), codes, np.uint8(0)) if format != "e2m1" else codes


def _mma() -> Iterator[Case]:
    m, n, steps = 24, 24, 3
    for rule, elements, scale, width, k, block in INSTRUCTIONS:
        for data in ("normal", "wide", "specials"):
            numbers = _Numbers(50)
            a, b = (numbers.below(1 << width, rows, steps * k).astype(np.uint8) for rows in (m, n))
            c = numbers.bell(m, n)
            if data != "specials":
                a, b = _no_specials(a, elements[0]), _no_specials(b, elements[1])
            if data == "normal" and width == 8:  # a few binades only
                a, b = (x & np.uint8(0x80) | np.uint8(0x20) + (x & np.uint8(0x1F)) for x in (a, b))
            if data == "wide":
                c = c * np.ldexp(np.float32(1), numbers.below(60, m, n).astype(np.int32) - 40)
            if data == "specials":
                c = c * np.ldexp(np.float32(1), numbers.below(250, m, n).astype(np.int32) - 145)
                a[m // 2 :, 1:], b[n // 2 :, 1:] = (
                    _no_specials(a, elements[0])[m // 2 :, 1:],
                    _no_specials(b, elements[1])[n // 2 :, 1:],
                )
                a[m // 2 :, 0] = b[n // 2 :, 0] = 0
                c[0] = 0
                c[1, ::3], c[2, ::4] = np.nan, 2.0**-140
                if rule != "blackwell_64":  # which MMA-Sim does not have with an infinite C
                    c[3, ::2] = -np.inf
            inputs: Arrays = {"a": a, "b": b, "c": c}
            if scale != "none":
                for side, rows in (("a", m), ("b", n)):
                    shape = (rows, steps * k // block)
                    spread = {"ue4m3": (0x28, 24), "e8m0": (115, 20)}[scale] if data == "normal" else (0, 0)
                    if data == "normal":
                        made = spread[0] + numbers.below(spread[1], *shape)
                    elif scale == "ue4m3":
                        made = numbers.below(128, *shape)
                        made = np.where(numbers.below(4, *shape) == 0, made % 8, made)  # zeros and subnormal scales
                        if data == "wide":
                            made = np.minimum(made, 0x7E)
                        else:
                            made |= numbers.below(2, *shape) << np.uint32(7)
                            made[rows // 2 :] = np.where(made[rows // 2 :] & 0x7F == 0x7F, 1, made[rows // 2 :])
                    else:
                        made = 90 + numbers.below(70, *shape)
                        if data == "specials":
                            made[0, 0] = 255
                    inputs[f"{side}_scales"] = made.astype(np.uint8)
            parameters: Parameters = {
                "rule": rule, "a_format": elements[0], "b_format": elements[1], "scale_format": scale,
            }  # fmt: skip
            name = f"dots/mma/{rule}/{elements[0]}_{elements[1]}_{scale}/{data}"
            yield _case(name, "mma", parameters, inputs)


MODES = {
    "nvfp4": ("exact", "blackwell", "fp32_chain"), "mxfp4": ("exact", "blackwell", "fp32_chain"),
    "mxfp8_e4m3": ("exact", "blackwell", "fp32_chain"), "mxfp8_e5m2": ("exact", "blackwell", "fp32_chain"),
    "fp8_e4m3": ("exact", "blackwell", "hopper", "fp32_chain", "rvbna"),
    "fp8_e5m2": ("exact", "blackwell", "hopper", "fp32_chain", "rvbna"),
}  # fmt: skip


def _gemm() -> Iterator[Case]:
    m, n, k = 16, 16, 512
    for format, modes in MODES.items():
        numbers = _Numbers(60)
        element = format.partition("_")[2] or "e2m1"
        block = {"nvfp4": 16, "mxfp4": 32}.get(format, 32)
        inputs: Arrays = {}
        for side, rows in (("a", m), ("b", n)):
            codes = numbers.below(16 if element == "e2m1" else 256, rows, k).astype(np.uint8)
            inputs[side] = _no_specials(codes, element)
        for side, rows in (("a", m), ("b", n)):
            if format == "nvfp4":
                inputs[f"{side}_scales"] = numbers.below(0x7F, rows, k // block).astype(np.uint8)
            elif format.startswith("mx"):
                inputs[f"{side}_scales"] = (117 + numbers.below(20, rows, k // block)).astype(np.uint8)
        for mode in modes:
            parameters: Parameters = {"format": format, "accumulate": mode}
            yield _case(f"dots/gemm/{format}/{mode}", "gemm", parameters, inputs)


def _dots() -> Iterator[Case]:
    yield from _mma()
    yield from _gemm()


def _sparse_matrix() -> NDArray[np.float32]:
    """Ties of magnitude, zeros of both signs, wide and narrow groups."""
    numbers = _Numbers(70)
    x = numbers.bell(32, 64) * np.ldexp(np.float32(1), numbers.below(30, 32, 16).astype(np.int32) - 15).repeat(
        4, axis=1
    )
    x[:8] = numbers.below(7, 8, 64).astype(np.float32) - 3
    x[8, :16], x[9, :16] = 0, -0.0
    return x


def _sparsity() -> Iterator[Case]:
    x = _sparse_matrix()
    for pattern in ("1:2", "2:4"):
        pruned = _case(f"sparsity/prune/{pattern}", "prune", {"pattern": pattern}, {"x": x})
        yield pruned
        packed = _case(f"sparsity/compress/{pattern}", "compress", {"pattern": pattern}, {"x": pruned.outputs["y"]})
        yield packed
        parameters: Parameters = {"pattern": pattern, "columns": x.shape[1]}
        yield _case(f"sparsity/decompress/{pattern}", "decompress", parameters, packed.outputs)


def _mvue() -> Iterator[Case]:
    x = _sparse_matrix()
    for pattern, group in (("1:2", 2), ("2:4", 4)):
        for random_bits in (8, 16):
            word = random_fields(random_bits, x.size // group, bits=random_bits).reshape(x.shape[0], -1)
            parameters: Parameters = {"pattern": pattern, "random_bits": random_bits, "seed": random_bits}
            yield _case(f"mvue/{pattern}/{random_bits}", "prune_mvue", parameters, {"x": x, "word": word})


def _luq() -> Iterator[Case]:
    numbers = _Numbers(80)
    x = (numbers.bell(4096) * np.ldexp(np.float32(1), -numbers.below(14, 4096).astype(np.int32))).ravel()
    x[:8] = [0, -0.0, 1, -1, 0.5, 2.0**-6, 2.0**-7, -(2.0**-149)]
    for levels in (7, 8):
        for random_bits in (8, 16):
            alpha = np.array([8 * 2.0 ** (1 - levels)], np.float32)
            word = random_fields(random_bits, x.size, bits=random_bits)
            parameters: Parameters = {"levels": levels, "random_bits": random_bits, "seed": random_bits}
            yield _case(f"luq/{levels}/{random_bits}", "luq", parameters, {"value": x, "word": word, "alpha": alpha})
        for power in (0, 1):
            amax = np.abs(_Numbers(81).words(256).view(np.float32))
            corners = np.array([0, 1, 64, 64.00001, 2.0**-149, 3.4028235e38], np.float32)
            amax = np.concatenate([amax[np.isfinite(amax)], corners])
            parameters = {"levels": levels, "power_of_two": power}
            yield _case(f"luq/scale/{levels}/{power}", "luq_scale", parameters, {"amax": amax})


MAKERS: dict[str, Callable[[], Iterator[Case]]] = {
    "casts": _casts, "stochastic": _stochastic, "blocks": _blocks, "layouts": _layouts, "dots": _dots, "sparsity": _sparsity,
    "mvue": _mvue, "luq": _luq,
}  # fmt: skip


def cases(kinds: tuple[str, ...] | None = None) -> Iterator[Case]:
    """All cases, or those of some kinds."""
    for kind, make in MAKERS.items():
        if kinds is None or kind in kinds:
            yield from make()
