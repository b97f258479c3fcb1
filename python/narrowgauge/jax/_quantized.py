# SPDX-License-Identifier: Apache-2.0
"""Quantizers and products as functions of JAX arrays. The rules are those of narrowgauge.quantize and gemm, which also check arguments:
names and shapes when a function is traced, on an operand of zeros."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import _core, _quantized
from .._arguments import instance, number, shown
from .._arguments import seed as checked_seed
from .._arguments import threads as checked_threads
from .._arrays import float32_array
from .._core import Error
from .._quantized import QuantizedMatrix
from . import _calls
from ._calls import Kind, Rule

BLOCK = _quantized.BLOCK


class Quantized:
    """A matrix in a narrow format, of JAX arrays: narrowgauge.QuantizedMatrix as a pytree.

    codes: uint8, one an element, vector by vector, (..., k_padded). scales: uint8, (..., blocks); of no size where there are none.
    fp32_scales: float32, of fp8's scalings other than 'tensor'; else of no size. tensor_scale: float32, without dimensions.
    kind: scheme, element, scaling and k. axis: along which vectors run, negative.
    """

    __slots__ = ("axis", "codes", "fp32_scales", "kind", "scales", "tensor_scale")
    __array_ufunc__ = None

    def __init__(self, codes: Any, scales: Any, fp32_scales: Any, tensor_scale: Any, kind: Kind, axis: int) -> None:
        self.codes, self.scales, self.fp32_scales, self.tensor_scale = codes, scales, fp32_scales, tensor_scale
        self.kind, self.axis = kind, axis

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the matrix."""
        lead = list(self.codes.shape[:-1])
        lead.insert(len(lead) + 1 + self.axis, self.kind.k)
        return tuple(lead)

    @property
    def ndim(self) -> int:
        return len(self.codes.shape)

    @property
    def mT(self) -> Quantized:
        """Every matrix transposed; nothing is copied."""
        if self.ndim < 2 or self.axis < -2:
            raise Error(
                f"{self!r} has no transpose; expected two dimensions or more, quantized along one of the last two"
            )
        return Quantized(*self.parts(), self.kind, -3 - self.axis)

    def parts(self) -> tuple[Any, Any, Any, Any]:
        """codes, scales, fp32_scales, tensor_scale."""
        return self.codes, self.scales, self.fp32_scales, self.tensor_scale

    def elements(self) -> Any:
        """The elements without their scales, as JAX's float8 or float4 type, of the shape of codes."""
        name = _core.formats()[self.kind.element].ml_dtype if self.kind.element != "int4" else None
        if name is not None and name.startswith("float8_"):
            return jax.lax.bitcast_convert_type(self.codes, getattr(jnp, name))
        if self.kind.element != "e2m1":
            raise Error(f"JAX has no type for elements of {self.kind.element}; expected e2m1 or a format of FP8")
        values = jnp.asarray(_core.decode(np.arange(16, dtype=np.uint8), "e2m1"))
        return values[self.codes].astype(jnp.float4_e2m1fn)

    def to_numpy(self) -> QuantizedMatrix:
        """The same matrix for the rest of the package, outside of jit."""
        codes, scales, fp32, tensor = (np.asarray(part) for part in self.parts())
        rows = codes.reshape(-1, codes.shape[-1])
        made = _calls.vectors(self.kind, rows, scales.reshape(len(rows), scales.shape[-1]), fp32, tensor)
        return QuantizedMatrix._of(made, self.shape, self.axis)

    def __matmul__(self, other: object) -> Any:
        return gemm(self, other)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        scaling = "" if self.kind.scaling == "tensor" else f" scaled {self.kind.scaling}"
        shape = self.shape if hasattr(self.codes, "shape") else "?"
        return f"<Quantized {self.kind.scheme} {self.kind.element}{scaling}, shape {shape}, along axis {self.axis}>"


jax.tree_util.register_pytree_node(
    Quantized,
    lambda q: (q.parts(), (q.kind, q.axis)),
    lambda how, parts: Quantized(*parts, *how),
)


@dataclass(frozen=True)
class _Plan:
    """What quantizes arrays of one shape: the call, and what comes out of it."""

    how: Rule
    kind: Kind
    axis: int
    padded: int
    blocks: int
    rotates: bool


def real(x: object, name: str) -> Any:
    """As JAX's float32 array."""
    if isinstance(x, Quantized):
        raise Error(f"{name} is quantized already, {x!r}; expected an array, as dequantize() makes one")
    if not isinstance(x, jax.Array):
        return jnp.asarray(float32_array(x, name))
    if not any(jnp.issubdtype(x.dtype, kind) for kind in (jnp.floating, jnp.integer, jnp.bool_)):
        raise Error(f"{name} has dtype {x.dtype}; expected real numbers; convert it with astype(jnp.float32)")
    return x.astype(jnp.float32)


def words(seed: Any) -> Any:
    """A seed as two words of 32 bits, the high one first."""
    if not isinstance(seed, jax.Array):
        if isinstance(seed, np.ndarray) and seed.ndim:
            if seed.dtype != np.uint32 or seed.shape != (2,):
                raise _no_seed(seed)
            seed = jnp.asarray(seed)
        else:
            value = checked_seed(seed)
            return jnp.asarray(np.array([value >> 32, value & 0xFFFFFFFF], np.uint32))
    if jax.dtypes.issubdtype(seed.dtype, jax.dtypes.prng_key):
        seed = jax.random.key_data(seed)
    whole = seed.dtype in (jnp.uint32, jnp.int32)
    if whole and seed.shape == ():
        return jnp.stack([jnp.uint32(0), seed.astype(jnp.uint32)])
    if seed.dtype == jnp.uint32 and seed.shape == (2,):
        return seed
    raise _no_seed(seed)


def _no_seed(seed: Any) -> Error:
    return Error(
        f"seed has dtype {seed.dtype} and shape {seed.shape}; expected an integer, a key of jax.random, or two uint32 words, the "
        "high one first"
    )


def _given(name: str, value: Any) -> Any:
    """A number that may be traced."""
    if value is None:
        return jnp.float32(0)
    if isinstance(value, jax.Array):
        if value.shape != ():
            raise Error(f"{name} has shape {value.shape}; expected a number")
        return value.astype(jnp.float32)
    return jnp.float32(number(name, value))


def _plan(shape: tuple[int, ...], axis: Any, right: bool | None, options: tuple[tuple[str, Any], ...]) -> _Plan:
    types = (type(axis), *(type(value) for _, value in options))  # True is no 1 here
    try:
        return _cached_plan(shape, axis, right, options, types)
    except TypeError:  # something that is no name and no number: the check says which
        return _new_plan(shape, axis, right, options)


def _new_plan(
    shape: tuple[int, ...], axis: Any, right: bool | None, options: tuple[tuple[str, Any], ...], _: Any = None
) -> _Plan:
    """Checks what does not depend on numbers. Raises Error as narrowgauge.quantize does."""
    given = dict(options)
    along = _quantized._axis_of(axis, len(shape))
    if 0 in shape:
        raise Error(f"x has shape {shape}; expected every dimension to be at least 1")
    lone = [1] * len(shape)
    lone[along] = shape[along]
    if isinstance(given["scaling"], str) and given["scaling"] == "128x128":
        _quantized._check_tiles(shape, along)
        lone[-3 - along if len(shape) > 1 else along] = BLOCK if len(shape) > 1 else shape[along]
    probe = np.broadcast_to(np.float32(0), lone)
    check: Any = _quantized._quantize
    traced = {key: 1.0 if given[key] is True else given[key] for key in ("tensor_scale", "amax")}
    plain = {key: given[key] for key in ("format", "rule", "rounding", "random_bits", "power_of_two_scale", "scaling")}
    q: QuantizedMatrix = check(
        probe, axis=along, right=right, seed=0, threads=1, dialect=given["dialect"], **traced, **plain
    )
    dialect = given["dialect"] or ""
    front = _quantized.dialect_fields(dialect)["front"] if dialect else "none"
    how = Rule(
        format=given["format"] or ("" if dialect else "nvfp4"),
        dialect=dialect,
        rule=given["rule"],
        rounding=given["rounding"] or ("" if dialect else "nearest_even"),
        scaling=given["scaling"],
        random_bits=int(given["random_bits"] or (0 if dialect else 8)),
        threads=checked_threads(given["threads"], math.prod(shape) * _quantized.NS_PER_ELEMENT),
        columns=len(shape) == 2 and along == -2,
        right=along == -2 if right is None else right,
        power_of_two_scale=bool(given["power_of_two_scale"]),
        given_scale=given["tensor_scale"] is not None,
        given_amax=given["amax"] is not None,
    )
    blocks = 0 if q._vectors.scales is None else q._vectors.scales.shape[-1]
    return _Plan(how, Kind(q.scheme, q.element, q.scaling, q.k), along, q.k_padded, blocks, front != "none")


_cached_plan = lru_cache(maxsize=512)(_new_plan)


def _fp32_shape(kind: Kind, lead: tuple[int, ...]) -> tuple[int, ...]:
    """Of the FP32 scales of vectors that `lead` counts."""
    columns = -(-kind.k // BLOCK)
    if kind.scaling == "128x128":
        return (*lead[:-1], -(-(lead[-1] if lead else 1) // BLOCK), columns)
    return {"tensor": (0,), "vector": lead, "1x128": (*lead, columns)}[kind.scaling]


def _call(plan: _Plan, x: Any, seed: Any, given: Any) -> Quantized:
    lead = _quantized._lead(x.shape, plan.axis)
    matrix = x if x.ndim == 2 else jnp.moveaxis(x, plan.axis, -1).reshape(-1, x.shape[plan.axis])
    rows = math.prod(lead)
    fp32 = _fp32_shape(plan.kind, lead)
    flat = [(rows, plan.padded), (rows, plan.blocks), (math.prod(fp32),)]
    codes, scales, fp32_scales, tensor = _calls.quantize(matrix, seed, given, plan.how, flat)
    return Quantized(
        codes.reshape(*lead, plan.padded),
        scales.reshape(*lead, plan.blocks),
        fp32_scales.reshape(fp32),
        tensor,
        plan.kind,
        plan.axis,
    )


def _refused(what: str) -> Any:
    def backward(*_: Any) -> Any:
        raise Error(f"{what} has no gradient; expected fake_quantize, which has a straight-through one, or linear")

    return backward


def _undifferentiated(function: Any, what: str) -> Any:
    """A function whose first argument is static, and whose gradient is refused in a sentence."""
    made = jax.custom_vjp(function, nondiff_argnums=(0,))
    made.defvjp(lambda *arguments: (function(*arguments), None), _refused(what))
    return made


_quantize = _undifferentiated(_call, "quantize")


def make(x: Any, axis: Any, right: bool | None, seed: Any, options: dict[str, Any]) -> tuple[_Plan, Any, Any, Any]:
    """What `quantize` and its kin hand to a call, checked."""
    array = real(x, "x")
    scale, amax = options["tensor_scale"], options["amax"]
    traced = {key: True if isinstance(options[key], jax.Array) else options[key] for key in ("tensor_scale", "amax")}
    plan = _plan(array.shape, axis, right, tuple({**options, **traced}.items()))
    given = jnp.stack([_given("tensor_scale", scale), _given("amax", amax)])
    return plan, array, words(seed), given


def options_of(
    format: str | None = None,
    *,
    rule: str = "exact",
    rounding: str | None = None,
    random_bits: int | None = None,
    tensor_scale: Any = None,
    power_of_two_scale: bool = False,
    scaling: str = "tensor",
    threads: int = 0,
    dialect: str | None = None,
    amax: Any = None,
) -> dict[str, Any]:
    return {
        "format": format, "rule": rule, "rounding": rounding, "random_bits": random_bits, "tensor_scale": tensor_scale,
        "power_of_two_scale": power_of_two_scale, "scaling": scaling, "threads": threads, "dialect": dialect, "amax": amax,
    }  # fmt: skip


def quantize(x: Any, format: str | None = None, *, axis: int | str = -1, seed: Any = 0, **options: Any) -> Quantized:
    """narrowgauge.quantize of a JAX array, under jit and vmap, too.

    x: any real dtype of JAX, which is rounded to float32 first. seed: an integer, a key of jax.random, or two uint32 words, the high
        one first; as an array it is an operand, so that another seed compiles nothing.
    options: rule, rounding, random_bits, tensor_scale, power_of_two_scale, scaling, threads, dialect and amax of
        narrowgauge.quantize; tensor_scale and amax may be arrays.

    vmap quantizes each array of a batch on its own, as a loop would. Raises Error for names and shapes that do not fit;
    NaN and infinities end the computation with the same sentence in JAX's own exception.
    """
    return _quantize(*make(x, axis, None, seed, _options(format, options)))  # type: ignore[no-any-return]


def _options(format: str | None, options: dict[str, Any]) -> dict[str, Any]:
    known = options_of()
    for key in options:
        if key not in known:
            raise Error(f"the argument {shown(key)} is not known; expected of {', '.join(known)}")
    return options_of(format, **options)


def dequantize(q: Quantized) -> Any:
    """The values of a Quantized: float32 of its shape, rounded to nearest even."""
    instance("q", q, Quantized, "narrowgauge.jax.quantize() makes one")
    return _dequantize(q.kind, q.axis, *q.parts())


def _values(kind: Kind, axis: int, codes: Any, scales: Any, fp32: Any, tensor: Any) -> Any:
    rows = codes.reshape(-1, codes.shape[-1])
    threads = checked_threads(0, rows.size)
    parts = [rows, scales.reshape(rows.shape[0], scales.shape[-1]), fp32.reshape(-1), tensor]
    values = _calls.dequantize(parts, kind, threads)
    return jnp.moveaxis(values.reshape(*codes.shape[:-1], kind.k), -1, axis)


_dequantize = jax.custom_vjp(_values, nondiff_argnums=(0, 1))
_dequantize.defvjp(lambda *arguments: (_values(*arguments), None), _refused("dequantize"))


def _fake(plan: _Plan, x: Any, seed: Any, given: Any) -> Any:
    q = _call(plan, x, seed, given)
    return _values(q.kind, q.axis, *q.parts())


def _fake_forward(plan: _Plan, x: Any, seed: Any, given: Any) -> Any:
    return _fake(plan, x, seed, given), None


def _fake_backward(plan: _Plan, _: None, gradient: Any) -> Any:
    if plan.rotates:
        raise Error(
            f"dialect '{plan.how.dialect}' quantizes rotated or centred values, which have no straight-through gradient; expected a "
            "dialect without a front stage, or linear"
        )
    return gradient, None, None


_fake_quantize = jax.custom_vjp(_fake, nondiff_argnums=(0,))
_fake_quantize.defvjp(_fake_forward, _fake_backward)


def fake_quantize(x: Any, format: str | None = None, *, axis: int | str = -1, seed: Any = 0, **options: Any) -> Any:
    """What quantization leaves of an array: float32, narrowgauge.fake_quantize bit for bit. The arguments are those of `quantize`.

    Its gradient is straight-through: that of the result goes to x unchanged, in the dtype of x. Raises Error as `quantize` does.
    """
    return _fake_quantize(*make(x, axis, None, seed, _options(format, options)))


def _probe(q: Quantized) -> QuantizedMatrix:
    """A matrix of the shape and kind of q with one vector of zeros, on which products are checked."""
    return QuantizedMatrix._of(_zeros(q.kind, q.codes.shape[-1], q.scales.shape[-1]), q.shape, q.axis)


def _zero_vectors(kind: Kind, padded: int, blocks: int) -> _core.Vectors:
    scales = np.zeros((1, blocks), np.uint8)
    fp32 = np.ones(max(1, math.prod(_fp32_shape(kind, (1,)))), np.float32)
    return _calls.vectors(
        kind, np.zeros((1, padded), np.uint8), scales, fp32 if kind.scaling != "tensor" else fp32[:0], 1.0
    )


_zeros = lru_cache(maxsize=512)(_zero_vectors)


def gemm(a: Quantized, b: Quantized, *, threads: int = 0) -> Any:
    """C = A x B by the golden model: narrowgauge.gemm of two Quantized, float32.

    a: (..., M, K) along axis -1; b: (..., K, N) along axis -2; batches broadcast, operands of one dimension are vectors.
    Its gradient is refused: `linear` has one. Raises Error if k, the axes or the schemes do not fit.
    """
    for name, q in (("a", a), ("b", b)):
        instance(name, q, Quantized, "narrowgauge.jax.quantize() makes one")
    left, right = _quantized.operands(_probe(a), _probe(b))
    _core.gemm(left._vectors, right._vectors, threads=1)
    try:
        batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError:
        raise Error(
            f"the batches of shapes {a.shape} and {b.shape} do not fit; expected equal dimensions, or 1, before the last two"
        ) from None
    m, n, lone = left.shape[-2], right.shape[-1], not right.shape[:-2]
    macs = math.prod(batch) * m * n * a.kind.k
    count = checked_threads(threads, macs / _quantized.MACS_PER_NS)
    if lone:  # one right operand for all rows
        m, batch = math.prod(left.shape[:-1]), ()
    c = _gemm(
        (a.kind, b.kind, count), _of_batch(a, batch, m, left.shape[:-2]), _of_batch(b, batch, n, right.shape[:-2])
    )
    lead = left.shape[:-1] if lone else (*batch, m)
    shape = [*lead[: len(lead) - (a.ndim == 1)], *([] if b.ndim == 1 else [n])]
    return c.reshape(shape)


def _of_batch(q: Quantized, batch: tuple[int, ...], rows: int, own: tuple[int, ...]) -> tuple[Any, Any, Any, Any]:
    """The parts of matrices of `rows` vectors, broadcast to a batch. own: q's batch, of which () makes one matrix."""
    own = own if batch else ()
    codes = q.codes.reshape(*own, rows, q.codes.shape[-1])
    scales = q.scales.reshape(*own, rows, q.scales.shape[-1])
    fp32 = q.fp32_scales.reshape(*own, q.fp32_scales.size // math.prod(own))
    shapes = [(*batch, *part.shape[len(own) :]) for part in (codes, scales, fp32)]
    made = [jnp.broadcast_to(part, shape) for part, shape in zip((codes, scales, fp32), shapes, strict=True)]
    return (*made, jnp.broadcast_to(q.tensor_scale, batch))


def _product(how: tuple[Kind, Kind, int], left: Any, right: Any) -> Any:
    return _calls.gemm(left, right, *how)


_gemm = _undifferentiated(_product, "gemm of quantized matrices")


def matmul(a: Any, b: Any, format: str | None = None, *, seed: Any = 0, threads: int = 0, **options: Any) -> Any:
    """C = A x B with both operands quantized, narrowgauge.matmul bit for bit; an operand that is a Quantized stays as it is.

    Stochastic rounding takes `seed` for A and the seed after it for B. The options are those of `quantize` but for tensor_scale and
    amax. Its gradient is refused: `linear` has one. Raises Error as `quantize` and `gemm` do.
    """
    for key in ("tensor_scale", "amax"):
        if options.pop(key, None) is not None:
            raise Error(f"{key} was given for both operands of a product; quantize each with its own, and take gemm")
    first = words(seed)
    low = first[1] + jnp.uint32(1)
    seeds = (first, jnp.stack([first[0] + (low == 0).astype(jnp.uint32), low]))
    made = []
    for right, (x, name) in enumerate(((a, "a"), (b, "b"))):
        if isinstance(x, Quantized):
            made.append(x)
            continue
        array = real(x, name)
        axis = -2 if right and array.ndim > 1 else -1
        checked = _options(format, {**options, "threads": threads})
        made.append(_quantize(*make(array, axis, bool(right), seeds[right], checked)))
    return gemm(made[0], made[1], threads=threads)
