#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Feature maps of the digits network in the codec and in the published codes (docs/codec.md, On feature maps).

    maps.py                    the tables of docs/codec.md, on the whole test split
    maps.py --export FOLDER    writes the maps before ReLU as .npy, N x channels x rows x columns, of both splits
    maps.py --images 100       on the first test images alone
    maps.py --check FILE       fails if a figure differs from this record; --record FILE writes one

Limits, components and steps come from the training split, maps and accuracy from the test split. Whatever is read for the
accuracy went through a file and back, layer after layer.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from network import LAYERS, TRAINING, Array, load_data, load_weights, patches, result

import narrowgauge as ng

CODED = [layer for layer in LAYERS if layer.relu]
BASELINES = ("zvc", "zero_rle", "ebpc", "huffman", "narrowgauge")
HEADS = {
    "zvc": "ZVC",
    "zero_rle": "zero-RLE",
    "ebpc": "EBPC",
    "huffman": "Huffman",
    "narrowgauge": "and runs",
    "identity": "Huffman before ReLU",
    "pca": "PCA + Huffman",
    "transform": "PCA, tables, runs",
}
CODERS = ("huffman_encoder", "bit_packer", "huffman_decoder")
STORED = {"memory": "dram", "technology": "ddr3_1066", "operation": "store_and_fetch"}

Maps = dict[str, Array]


def run(x: Array, weights: dict[str, Array], code: Callable[[str, Array], Array]) -> Array:
    """Scores. `code` gets each map before ReLU, N x channels x rows x columns, and gives what the next layer reads."""
    for layer in LAYERS:
        linear = dataclasses.replace(layer, relu=False)
        x = result(linear, x, patches(layer, x) @ weights[f"{layer.name}.weight"], weights)
        if layer.relu:
            x = np.moveaxis(code(layer.name, np.ascontiguousarray(np.moveaxis(x, -1, 1))), 1, -1)
    return x


def maps_of(x: Array, weights: dict[str, Array]) -> Maps:
    maps: Maps = {}

    def keep(name: str, z: Array) -> Array:
        maps[name] = z
        return np.maximum(z, 0)

    run(x, weights, keep)
    return maps


def quantized(z: Array, limit: float, bits: int) -> tuple[np.ndarray, np.float32]:
    """Codes of a map behind ReLU, clipped to the limit, and their step."""
    step = np.float32(limit / (2**bits - 1))
    return np.clip(np.rint(z / np.float64(step)), 0, 2**bits - 1).astype(np.uint8), step


def error(z: Array, y: Array) -> float:
    """Mean squared error behind ReLU."""
    return float(np.mean((np.maximum(z, 0).astype(np.float64) - y) ** 2))


def component_file(t: ng.ChannelTransform, z: Array, kind: str) -> bytes:
    best = kind == "transform"
    return ng.compress(z, transform=t, tables=8 if best else 1, zero_runs=best)


def at_error(t: ng.ChannelTransform, z: Array, mse: float) -> ng.ChannelTransform | None:
    """Under the largest step, to a thousandth, whose error is at most mse; None if its own is too large."""

    def fits(step: float) -> bool:
        other = t.with_step(step)
        return error(z, other.inverse(other.forward(z), z.shape)) <= mse

    fine, coarse = t.step, 2 * t.step
    if not fits(fine):
        return None
    while fits(coarse):
        fine, coarse = coarse, 2 * coarse
    for _ in range(10):
        middle = float(np.sqrt(fine * coarse))
        if fits(middle):
            fine = middle
        else:
            coarse = middle
    return t.with_step(fine)


def equal_error(maps: Maps, limits: dict[str, float], transforms: dict[str, dict[str, ng.ChannelTransform]]) -> dict:
    """Bits per value of every code at the error of `bits` bits behind ReLU, layer by layer."""
    table = {}
    for name, z in maps.items():
        for bits in (8, 6, 5, 4, 3):
            codes, step = quantized(z, limits[name], bits)
            y = codes * step
            mse = error(z, y)
            row = {key: value for key, value in ng.codec_report(codes).items() if key in (*BASELINES, "entropy")}
            assert (ng.decompress(ng.compress(codes)) == codes).all()
            for kind, basis in (("identity", "identity"), ("pca", "klt"), ("transform", "klt")):
                t = at_error(transforms[name][basis], z, mse)
                row[kind] = None if t is None else 8 * len(component_file(t, z, kind)) / z.size
            row["mse"] = mse
            table[f"{name} {bits}"] = row
    return table


def sweep(x: Array, labels: np.ndarray, weights: dict[str, Array], limits: list[dict[str, float]],
          transforms: dict[str, dict[str, ng.ChannelTransform]]) -> list[dict]:  # fmt: skip
    """Images read and bits per value, for codes behind ReLU of 8 to 2 bits and for steps of the components."""
    points = []
    for bits in range(8, 1, -1):
        for which, limit in zip(("largest", "3 sigma"), limits, strict=True):
            total, values = dict.fromkeys(BASELINES, 0.0), 0

            def coded(name: str, z: Array, bits: int = bits, limit: dict = limit, total: dict = total) -> Array:
                nonlocal values
                codes, step = quantized(z, limit[name], bits)
                report = ng.codec_report(codes)
                for code in BASELINES:
                    total[code] += report[code] * codes.size
                values += codes.size
                return ng.decompress(ng.compress(codes)) * step

            right = int((run(x, weights, coded).argmax(axis=1) == labels).sum())
            points.append({"point": f"{bits} bits, {which}", "right": right}
                          | {code: total[code] / values for code in BASELINES})  # fmt: skip
    for kind, basis in (("identity", "identity"), ("pca", "klt"), ("transform", "klt")):
        for half in range(13):
            size, values = 0, 0

            def coded(name: str, z: Array, kind: str = kind, basis: str = basis, half: int = half) -> Array:
                nonlocal size, values
                t = transforms[name][basis]
                file = component_file(t.with_step(t.step * 2 ** (half / 2)), z, kind)
                size += 8 * len(file)
                values += z.size
                return ng.decompress(file)

            right = int((run(x, weights, coded).argmax(axis=1) == labels).sum())
            points.append({"point": f"step x 2^{half / 2:g}", "right": right, kind: size / values})
    return points


def cheapest(points: list[dict], least: int) -> dict[str, tuple[float, int, str]]:
    """Of every code the fewest bits at which at least so many images are read: bits, images, point."""
    found = {}
    for code in HEADS:
        fitting = [(p[code], p["right"], p["point"]) for p in points if code in p and p["right"] >= least]
        if fitting:
            found[code] = min(fitting)
    return found


def measure(count: int | None) -> dict:
    images, labels = load_data()
    weights = load_weights()
    x, labels = images[TRAINING:][:count], labels[TRAINING:][:count]
    calibration, maps = maps_of(images[:TRAINING], weights), maps_of(x, weights)
    limits = {name: float(z.max()) for name, z in calibration.items()}
    clipped = {name: ng.clip_limit(np.maximum(z, 0)) for name, z in calibration.items()}
    transforms = {
        name: {basis: ng.calibrate_transform(z, basis=basis) for basis in ("identity", "klt")}
        for name, z in calibration.items()
    }
    float32 = int((run(x, weights, lambda _, z: np.maximum(z, 0)).argmax(axis=1) == labels).sum())
    return {
        "images": len(labels),
        "float32": float32,
        "values": {name: int(z[0].size) for name, z in maps.items()},
        "equal_error": equal_error(maps, limits, transforms),
        "sweep": sweep(x, labels, weights, [limits, clipped], transforms),
    }


def text(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def print_tables(measured: dict) -> None:
    images, float32 = measured["images"], measured["float32"]
    print(f"{images} test images, of which float32 reads {float32}.\n")
    print("At the error of so many bits behind ReLU, bits per value:\n")
    codes = list(HEADS)
    print("| layer, bits | entropy | " + " | ".join(HEADS.values()) + " | best / EBPC |")
    print("|---" * (len(codes) + 3) + "|")
    for name, row in measured["equal_error"].items():
        cells = [row[code] for code in codes]
        least = min(cell for cell in cells if cell is not None)
        best = min(cell for cell in cells[codes.index("huffman") :] if cell is not None)
        shown = [f"**{text(cell)}**" if cell == least else text(cell) for cell in cells]
        print(f"| {name} | {text(row['entropy'])} | {' | '.join(shown)} | {best / row['ebpc']:.2f} |")
    print("\nImages read, and bits per value of both layers together:\n")
    print("| point | images | " + " | ".join(HEADS.values()) + " |")
    print("|---" * (len(codes) + 2) + "|")
    for p in measured["sweep"]:
        print(f"| {p['point']} | {p['right']} | " + " | ".join(text(p[c]) if c in p else "" for c in codes) + " |")
    values = sum(measured["values"].values())
    raw = ng.memory_energy(**STORED, bits=8.0 * values).value
    for lost in sorted({0, round(images * 0.005), round(images * 0.02)}):
        print(f"\nFewest bits with at most {lost} images less than float32; DDR3 energy of an image's maps, written "
              f"and read once, raw {1e6 * raw:.3f} uJ:\n")  # fmt: skip
        print("| code | bits per value | images | at | uJ | saved |")
        print("|---|---|---|---|---|---|")
        for code, (bits, right, point) in cheapest(measured["sweep"], float32 - lost).items():
            joules = ng.memory_energy(**STORED, bits=bits * values).value
            print(f"| {HEADS[code]} | {bits:.2f} | {right} | {point} | {1e6 * joules:.3f} | {1 - joules / raw:.0%} |")
    # On a map of 3.2 bits a value, without the memories of the tables (docs/energy_flow.md).
    parts = {unit: ng.energy(unit=unit, technology="osu018").value for unit in CODERS}
    print(f"\nThe units that code a value and decode it take {1e12 * sum(parts.values()):.0f} pJ in osu018, 180 nm ("
          + ", ".join(f"{unit} {1e12 * joules:.0f}" for unit, joules in parts.items())
          + f"): {1e6 * values * sum(parts.values()):.3f} uJ for an image's maps, "
          f"{values * sum(parts.values()) / raw:.0%} of raw bytes in memory.")  # fmt: skip


def differences(now: dict, then: dict) -> list[str]:
    """Maps are products of float32 in the order of a BLAS: a value beside a rounding boundary moves a rate a little, and
    an image beside the boundary of two digits its count by one."""
    found = [f"{key}: {now[key]}, recorded {then[key]}" for key in ("images", "float32") if now[key] != then[key]]
    for name, row in then["equal_error"].items():
        for code, value in row.items():
            other = now["equal_error"][name][code]
            if (value is None) != (other is None) or (value is not None and abs(other - value) > 0.005 * value):
                found.append(f"{name}, {code}: {other}, recorded {value}")
    for a, b in zip(now["sweep"], then["sweep"], strict=True):
        if abs(a["right"] - b["right"]) > 1 or any(abs(a[c] - b[c]) > 0.005 * b[c] for c in HEADS if c in b):
            found.append(f"{a}, recorded {b}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--export", type=Path, metavar="FOLDER", help="write the maps before ReLU and end")
    parser.add_argument("--images", type=int, metavar="N", help="only the first N images of the test split")
    parser.add_argument("--check", type=Path, metavar="FILE", help="fail if a figure differs from this record")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write such a record")
    options = parser.parse_args()
    if options.images is not None and options.images < 1:
        parser.error(f"--images is {options.images}; expected at least 1")
    if options.export:
        images, weights = load_data()[0], load_weights()
        options.export.mkdir(parents=True, exist_ok=True)
        for split, part in (("training", images[:TRAINING]), ("test", images[TRAINING:][: options.images])):
            for name, z in maps_of(part, weights).items():
                np.save(options.export / f"{name}_{split}.npy", z)
        return 0
    measured = measure(options.images)
    print_tables(measured)
    if options.record:
        options.record.write_text(json.dumps(measured, indent=1) + "\n")
    if options.check:
        found = differences(measured, json.loads(options.check.read_text()))
        print("\n".join(found), file=sys.stderr)
        return 1 if found else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
