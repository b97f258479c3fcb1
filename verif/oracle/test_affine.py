# SPDX-License-Identifier: Apache-2.0
"""Affine integers: the papers' own codes and values, bit for bit (vectors/README.md), and the unit's rule as exact fractions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from originals import vectors

import narrowgauge as ng

MADE = vectors("affine")


def numbers(key: str) -> np.ndarray:
    return MADE[key].view(np.float32)


def same(got: np.ndarray, bits: np.ndarray) -> bool:
    return bool((np.asarray(got, dtype=np.float32).view(np.uint32) == bits).all())


def classes(prefix: str) -> list[str]:
    return sorted({key.split("/")[1].split(".")[0] for key in MADE if key.startswith(prefix)})


def of_range(key: str, rule: str, bits: int) -> ng.AffineQuantizer:
    """The quantizer of a stored width and low end."""
    width, low = numbers(key)
    return ng.AffineQuantizer.of_range(low, width=float(width), rule=rule, bits=bits)


# ---- eladhoffer/quantized.pytorch


@pytest.mark.parametrize("name", classes("q/"))
def test_quantized_pytorch(name: str) -> None:
    x = numbers(f"q/{name}.x")
    for rule, kind in (("quantized_pytorch", "affine"), ("quantized_pytorch_zero", "zero")):
        for bits in (2, 4, 8):
            q = ng.AffineQuantizer.of_range(x.min(), x.max(), rule=rule, bits=bits)
            assert same(q.dequantize(q.quantize(x)), MADE[f"q/{name}.b{bits}.{kind}"])
    q = ng.AffineQuantizer.of_range(x.min(), x.max(), rule="quantized_pytorch")
    assert same(q.dequantize(q.quantize(x, numbers(f"q/{name}.b8.sr_noise"))), MADE[f"q/{name}.b8.sr"])


@pytest.mark.parametrize("step", "01")
def test_activations_with_their_noise(step: str) -> None:
    q = ng.AffineQuantizer.of_range(*numbers(f"qm/lo_hi{step}"), rule="quantized_pytorch")
    assert same(q.dequantize(q.quantize(numbers(f"qm/x{step}"), numbers(f"qm/noise{step}"))), MADE[f"qm/y{step}"])


def test_gradients_with_their_noise() -> None:
    g = numbers("bi/go")
    q = ng.AffineQuantizer.of_range(g.min(), g.max(), rule="quantized_pytorch")
    assert (q.quantize(g, numbers("bi/noise")) == MADE["bi/g8_codes"]).all()


# ---- submission2019/cnn-quantization


@pytest.mark.parametrize("bits", [4, 8])
def test_cuda_kernel(bits: int) -> None:
    for power, rule in enumerate(("cnn_quantization_kernel", "cnn_quantization_kernel_power_of_two")):
        key = f"kernel/b{bits}pow{power}"
        q = of_range(f"{key}.range_offset", rule, bits)
        assert [q.scale, q.zero_point] == numbers(f"{key}.scale_zp").tolist()
        codes = q.quantize(numbers(f"{key}.x"))
        assert (codes == MADE[f"{key}.codes"]).all()
        assert same(q.dequantize(codes), MADE[f"{key}.y"])


@pytest.mark.parametrize("bits", [4, 8])
def test_pytorch_path(bits: int) -> None:
    """The kernel's numbers again, whose ties go to even here: most codes differ, as the zero point is a tie itself."""
    q = of_range(f"kernel/b{bits}pow0.range_offset", "cnn_quantization", bits)
    codes = q.quantize(numbers(f"kernel/b{bits}pow0.x"))
    assert (codes == MADE[f"torchpath/b{bits}.codes"]).all()
    assert same(q.dequantize(codes), MADE[f"torchpath/b{bits}.y"])
    assert (codes != MADE[f"kernel/b{bits}pow0.codes"]).sum() > 1600


@pytest.mark.parametrize(
    "key", sorted(key.removesuffix(".codes") for key in MADE if key.startswith("aciq/") and "codes" in key)
)
def test_aciq(key: str) -> None:
    q = of_range(f"{key}.range_offset", "cnn_quantization", int(key[-1]))
    codes = q.quantize(numbers(f"{key.split('.')[0]}.x"))
    assert (codes == MADE[f"{key}.codes"]).all()
    assert same(q.dequantize(codes), MADE[f"{key}.y"])


# ---- itayhubara/CalibTIP, ynahshan/nn-quantization-pytorch


def calibtip_tensors() -> Iterator[tuple[str, int, np.ndarray, float, float, tuple[slice | int, ...]]]:
    """Each tensor, or each channel of its first axis, with its width and low end."""
    for key in sorted(key.removesuffix(".codes") for key in MADE if key.startswith("ct/") and "codes" in key):
        x = numbers(f"{key.split('.')[0]}.x")
        widths, lows = numbers(f"{key}.range").reshape(-1), numbers(f"{key}.min").reshape(-1)
        for i, (width, low) in enumerate(zip(widths, lows, strict=True)):
            part = (slice(None),) if len(widths) == 1 else (i,)
            yield key, int(key.split(".b")[1][0]), x[part], width, low, part


def test_calibtip() -> None:
    compared = 0
    for key, bits, x, width, low, part in calibtip_tensors():
        q = ng.AffineQuantizer.of_range(low, width=float(width), rule="calibtip_zero", bits=bits)
        codes = q.quantize(x)
        assert (codes == MADE[f"{key}.codes"][part]).all()
        assert same(q.dequantize(codes), MADE[f"{key}.y_zero"][part])
        q = ng.AffineQuantizer.of_range(low, width=float(width), rule="calibtip", bits=bits)
        assert same(q.dequantize(q.quantize(x)), MADE[f"{key}.y_plain"][part])
        compared += x.size
    assert compared >= 4 * 1500


@pytest.mark.parametrize("name", classes("lapqties/"))
def test_lapq_ties(name: str) -> None:
    x, alpha, bits = numbers(f"lapqties/{name}.x"), numbers(f"lapqties/{name}.alpha")[0], int(name[1])
    low, width = (-alpha, 2 * alpha) if name[0] == "w" else (0, alpha)
    q = ng.AffineQuantizer.of_range(low, width=float(width), rule="lapq", bits=bits)
    assert same(q.dequantize(q.quantize(x)), MADE[f"lapqties/{name}.y"])
    if f"lapqties/{name}.ct_y" in MADE:
        q = of_range(f"lapqties/{name}.ct_range_min", "calibtip_zero", bits)
        assert same(q.dequantize(q.quantize(x)), MADE[f"lapqties/{name}.ct_y"])


def test_lapq() -> None:
    """The clip was 2.5. A value of the signed grid is -0 in the original where ours is the value of code 0."""
    for name, low, width in (("gauss", -2.5, 5.0), ("relu", 0.0, 2.5)):
        q = ng.AffineQuantizer.of_range(low, width=width, rule="lapq", bits=4)
        codes = q.quantize(numbers(f"lapq/{name}.x"))
        assert (codes == MADE[f"lapq/{name}.b4.codes"]).all()
        assert same(q.dequantize(codes), MADE[f"lapq/{name}.b4.y"])
    q = ng.AffineQuantizer.of_range(0, width=5.0, rule="lapq_signed", bits=4)
    assert (q.dequantize(q.quantize(numbers("lapq/gauss.x"))) == numbers("lapq/gauss.b4.signed.y")).all()


# ---- the unit's rule


def rounded(value: Fraction, ties: str, low: int, high: int) -> int:
    floor = math.floor(value)
    rest = value - floor
    up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and (floor % 2 == 1 if ties == "even" else floor >= 0))
    return min(max(floor + up, low), high)


def inverse_of(scale: float, power_of_two: bool) -> Fraction:
    """1 / scale with 24 bits, to nearest."""
    if power_of_two:
        return 1 / Fraction(scale)
    exponent = math.floor(math.log2(scale)) + (0 if math.log2(scale) % 1 == 0 else 1)
    return Fraction(round(1 / Fraction(scale) * Fraction(2) ** (23 + exponent))) / Fraction(2) ** (23 + exponent)


@pytest.mark.parametrize("ties", ["even", "away"])
@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("power_of_two", [False, True])
def test_unit_is_exact(ties: str, signed: bool, power_of_two: bool) -> None:
    random = np.random.default_rng(3)
    for bits in range(2, 9):
        low = -(1 << (bits - 1)) if signed else 0
        high = low + (1 << bits) - 1
        for _ in range(6):
            scale = float(np.float32(2.0 ** random.integers(0, 12) * (1 if power_of_two else random.uniform(0.5, 1))))
            zero = int(random.integers(-(2**bits), 2**bits))
            spread = scale * 2**bits
            for x in (
                np.round(random.normal(0, spread, 40)).astype(np.int32),
                random.normal(0, spread, 40).astype(np.float32),
                ((random.integers(low - 2, high + 3, 40) + 0.5 - zero) * scale).astype(np.float32),
            ):
                inverse = inverse_of(scale, power_of_two)
                expected = [rounded(Fraction(float(v)) * inverse + zero, ties, low, high) for v in x]
                options = {"bits": bits, "signed": signed, "ties": ties, "power_of_two": power_of_two}
                assert ng.quantize_affine(x, scale, zero, **options).tolist() == expected
                drawn = ng.quantize_affine(x, scale, zero, **options, rounding="stochastic", random_bits=6, seed=5)
                words = ng.random_fields(5, x.size, bits=6)
                assert drawn.tolist() == [
                    min(max(math.floor(Fraction(float(v)) * inverse + zero + Fraction(int(r), 64)), low), high)
                    for v, r in zip(x, words, strict=True)
                ]


def test_special_numbers() -> None:
    x = np.float32([np.nan, np.inf, -np.inf, 0, -0.0, 1e-45, -3e38])
    assert ng.quantize_affine(x, 0.1, 3).tolist() == [127, 127, -128, 3, 3, 3, -128]
    assert ng.quantize_affine(x, 0.1, -3, signed=False).tolist() == [255, 255, 0, 0, 0, 0, 0]


def differences() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Codes by float32 division and the unit's, of every stored tensor whose zero point is a whole number that the unit takes."""
    for key in sorted(MADE):
        name = key.rsplit(".", 1)[0]
        if key.startswith("q/") and key.endswith(".zero"):
            x = numbers(f"{name.split('.')[0]}.x")
            q = ng.AffineQuantizer.of_range(x.min(), x.max(), rule="quantized_pytorch_zero", bits=int(name[-1]))
        elif key.startswith("kernel/") and key.endswith(".codes"):
            rule = "cnn_quantization_kernel" + ("_power_of_two" if name[-1] == "1" else "")
            x, q = numbers(f"{name}.x"), of_range(f"{name}.range_offset", rule, int(name[8]))
        elif key.startswith("torchpath/") and key.endswith(".codes"):
            made = f"kernel/{name.split('/')[1]}pow0"
            x, q = numbers(f"{made}.x"), of_range(f"{made}.range_offset", "cnn_quantization", int(name[-1]))
        elif key.startswith("aciq/") and key.endswith(".codes"):
            x = numbers(f"{name.split('.')[0]}.x")
            q = of_range(f"{name}.range_offset", "cnn_quantization", int(name[-1]))
        elif key.startswith("lapqties/") and key.endswith(".ct_y"):
            x, q = numbers(f"{name}.x"), of_range(f"{name}.ct_range_min", "calibtip_zero", int(name[-1]))
        else:
            continue
        assert q.zero_point is not None
        if not -(2**q.bits) <= q.zero_point < 2**q.bits:
            continue
        yield (
            key,
            q.quantize(x),
            ng.quantize_affine(x, q.scale, int(q.zero_point), bits=q.bits, signed=False, ties=q.ties),
        )
    for key, bits, x, width, low, _ in calibtip_tensors():
        q = ng.AffineQuantizer.of_range(low, width=float(width), rule="calibtip_zero", bits=bits)
        assert q.zero_point is not None
        yield key, q.quantize(x), ng.quantize_affine(x, q.scale, int(q.zero_point), bits=bits, signed=False)


def test_unit_against_division() -> None:
    """docs/units/quantize_affine.md, Against division: never more than one code apart, and how often."""
    compared = different = 0
    for key, divided, multiplied in differences():
        distance = np.abs(divided.astype(int) - multiplied.astype(int))
        assert distance.max() <= (1 if key.startswith("q/ties.") else 0), key
        compared += distance.size
        different += int(distance.sum())
    assert (different, compared) == (10, 47_232)
