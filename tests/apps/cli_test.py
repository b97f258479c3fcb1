# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PT009, PT027 (unittest on purpose: this runs without any package)
"""Tests of the `narrowgauge` program from outside: what it prints, what it writes, how it refuses.

    python3 cli_test.py PROGRAM [--rtl] [CLASS ...]      --rtl: the program was built with the engine rtl

Standard library only: the .npy files, good and bad, are made by hand here, so that reader and writer of the program
are checked against the format and not against a library they share.
"""

from __future__ import annotations

import ast
import csv
import itertools
import json
import math
import os
import random
import resource
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import types
import unittest
from collections.abc import Iterable
from pathlib import Path

PROGRAM = ""
RTL = False
FP8_FORMATS = ["fp8_e4m3", "fp8_e5m2", "fp8_e4m3_e5m2", "fp8_e5m2_e4m3"]
FNUZ_FORMATS = ["fp8_e4m3fnuz", "fp8_e5m2fnuz", "fp8_e4m3fnuz_e5m2fnuz", "fp8_e5m2fnuz_e4m3fnuz"]
MX_FORMATS = [*("mx" + name for name in FP8_FORMATS), "mxfp6_e2m3", "mxfp6_e3m2", "mxint8"]
FORMATS = ["nvfp4", "mxfp4", *FP8_FORMATS, *FNUZ_FORMATS, *MX_FORMATS]
RTL_FORMATS = ["nvfp4", *FP8_FORMATS]
WITH_LUQ = [*FORMATS, "luq"]  # whose INT4, clipped by SAWB, holds no integers exactly
STRUCT = {"f2": "e", "f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q",
          "u1": "B", "u2": "H", "u4": "I", "u8": "Q", "b1": "?", "V2": "f", "f1": "e"}  # fmt: skip

Rows = list[list[float]]


def header(text: str, version: int = 1) -> bytes:
    raw = text.encode() + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(raw).to_bytes(2 if version == 1 else 4, "little") + raw


def npy(rows: Rows, dtype: str = "<f4", fortran: bool = False, version: int = 1, pad: int = 0) -> bytes:
    """A matrix as a .npy file; `pad` lengthens the header."""
    shape = (len(rows), len(rows[0]) if rows else 0)
    values = itertools.chain(*(zip(*rows, strict=True) if fortran else rows))
    return npy_array(shape, values, dtype, fortran, version, pad)


def npy_array(shape: tuple[int, ...], values: Iterable[float], dtype: str = "<f4", fortran: bool = False,
              version: int = 1, pad: int = 0) -> bytes:  # fmt: skip
    """An array as a .npy file, its values in the order of the file."""
    text = f"{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': {shape}, }}" + " " * pad
    letter = STRUCT[dtype[1:]]
    convert = int if letter in "bhiqBHIQ" else bool if letter == "?" else float
    flat = [convert(x) for x in values]
    order = ">" if dtype[0] == ">" else "<"
    data = struct.pack(f"{order}{len(flat)}{letter}", *flat)
    if dtype[1:] in ("V2", "f1"):  # bfloat16, float8_e5m2: the upper halves of float32, float16
        half = int(dtype[2])
        data = b"".join(data[half * i :][:half] for i in range(0 if order == ">" else 1, 2 * len(flat), 2))
    return header(text, version) + data


def read_npy(path: Path) -> tuple[list[list[float]], str]:
    (rows, cols), flat, kind = read_npy_array(path)
    return [flat[r * cols : (r + 1) * cols] for r in range(rows)], kind


def read_npy_array(path: Path) -> tuple[tuple[int, ...], list[float], str]:
    """Shape, values in C order, type."""
    raw = path.read_bytes()
    assert raw[:8] == b"\x93NUMPY\x01\x00", raw[:8]
    size = int.from_bytes(raw[8:10], "little")
    assert (10 + size) % 64 == 0, "data are not aligned to 64 bytes"
    head = ast.literal_eval(raw[10 : 10 + size].decode())
    assert not head["fortran_order"]
    kind = head["descr"]
    flat = struct.unpack(f"<{math.prod(head['shape'])}{STRUCT[kind[1:]]}", raw[10 + size :])
    return head["shape"], list(flat), kind


def float32(x: float) -> float:
    return struct.unpack("<f", struct.pack("<f", x))[0]


def bfloat16(x: float) -> float:
    """Rounded to nearest, ties to even."""
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    bits += 0x7FFF + (bits >> 16 & 1)
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0]


def product(a: Rows, b: Rows) -> Rows:
    return [[math.fsum(x * y for x, y in zip(row, col, strict=True)) for col in zip(*b, strict=True)] for row in a]


class Program(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)

    def file(self, name: str, content: bytes) -> str:
        (self.dir / name).write_bytes(content)
        return name

    def run_program(self, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run([PROGRAM, *args], cwd=self.dir, input=stdin, capture_output=True, text=True, timeout=600)

    def ok(self, *args: str) -> str:
        done = self.run_program(*args)
        self.assertEqual(done.returncode, 0, f"{args}: exit code {done.returncode}, stderr: {done.stderr}")
        self.assertEqual(done.stderr, "", args)
        return done.stdout

    def json(self, *args: str) -> dict:
        return json.loads(self.ok(*args, "--json"))

    def refused(self, args: list[str], *expected: str) -> None:
        """Exit code 2, nothing on stdout, one line on stderr that has all the `expected` pieces."""
        done = self.run_program(*args)
        self.assertEqual(done.returncode, 2, f"{args}: exit code {done.returncode}, stderr: {done.stderr}")
        self.assertEqual(done.stdout, "", args)
        self.assertRegex(done.stderr, r"\Anarrowgauge: [^\n]+\n\Z", args)
        for piece in expected:
            self.assertIn(piece, done.stderr, args)

    def gemm(self, a: bytes, b: bytes, *args: str) -> tuple[list[list[float]], dict]:
        report = self.json("gemm", self.file("a.npy", a), self.file("b.npy", b), "--out", "c.npy", *args)
        values, kind = read_npy(self.dir / "c.npy")
        self.assertEqual(kind, "<f4")
        return values, report


def exact_operands(format_name: str, m: int, k: int, n: int, rng: random.Random) -> tuple[Rows, Rows]:
    """Integers that the format holds without error, so that the product is known exactly."""
    block = {"nvfp4": 16, "mxfp4": 32}.get(format_name, 1)
    unit = 448 if format_name == "nvfp4" else 1  # the tensor scale 2688 / (6 x 448) and so all others are 1 or 448
    if block > 1:
        values = [unit * sign * x for sign in (1, -1) for x in (0, 1, 2, 3, 4, 6)]
    else:
        values = [-16, -7, -3, -1, 0, 1, 2, 4, 5, 6, 14, 32]  # three significant bits are in both E4M3 and E5M2
    e4, e5 = 448, 57344
    top = {"fp8_e4m3": (e4, e4), "fp8_e5m2": (e5, e5), "fp8_e4m3_e5m2": (e4, e5), "fp8_e5m2_e4m3": (e5, e4)}
    fnuz = 240
    top |= dict(zip(FNUZ_FORMATS, ((fnuz, fnuz), (e5, e5), (fnuz, e5), (e5, fnuz)), strict=True))
    a = [[rng.choice(values) for _ in range(k)] for _ in range(m)]
    b = [[rng.choice(values) for _ in range(n)] for _ in range(k)]
    if block > 1:  # every block reaches 6, which fixes its scale
        for i in range(0, k, block):
            for row in a:
                row[i] = 6 * unit
            b[i] = [-6 * unit] * n
    elif format_name in top:  # mxfp8 scales by powers of two, whatever there is
        a[0][0], b[0][0] = (float(x) for x in top[format_name])
    return a, b


class Gemm(Program):
    SHAPES = ((1, 1, 1), (3, 17, 5), (9, 33, 10), (8, 16, 8), (2, 100, 17))

    def check_shapes(self, engine: str, formats: list[str]) -> None:
        rng = random.Random(2)
        for name in formats:
            for m, k, n in self.SHAPES:
                with self.subTest(format=name, shape=(m, k, n)):
                    a, b = exact_operands(name, m, k, n, rng)
                    c, report = self.gemm(npy(a), npy(b), "--format", name, "--engine", engine)
                    exact = product(a, b)
                    self.assertEqual(c, [[float32(x) for x in row] for row in exact])
                    if c == exact:
                        self.assertEqual(report["sqnr_db"], "inf")
                    else:  # rounding the sums to float32 costs half an ulp at most
                        self.assertGreater(report["sqnr_db"], 140)
                    self.assertEqual(report["products"], m * k * n)
                    self.assertEqual((report["c"]["rows"], report["c"]["columns"]), (m, n))
                    if engine != "model":
                        self.assertEqual(report["activity"]["products"], m * n * -(-k // 16) * 16)
                        self.assertTrue(report["agreement"]["bit_exact"])
                        self.assertEqual(report["agreement"]["results"], m * n)
                        self.assertGreater(report["cycles"], 0)
                        self.assertAlmostEqual(report["utilization"], m * k * n / report["products_possible"])
                        self.assertLessEqual(report["utilization"], 1)

    def test_exact_products(self) -> None:
        self.check_shapes("model", FORMATS)

    def test_exact_products_rtl(self) -> None:
        if not RTL:
            self.skipTest("built without simulated tiles")
        self.check_shapes("rtl", RTL_FORMATS)
        self.check_shapes("systemc", RTL_FORMATS)

    def test_random_rtl_equals_model(self) -> None:
        if not RTL:
            self.skipTest("built without simulated tiles")
        rng = random.Random(3)
        a = [[rng.gauss(0, 1) for _ in range(70)] for _ in range(19)]
        b = [[rng.gauss(0, 3) for _ in range(21)] for _ in range(70)]
        for name, rounding in itertools.product([*RTL_FORMATS, "luq"], ["nearest_even", "stochastic"]):
            args = ["--format", name, "--rounding", rounding, "--seed", "5"]
            rtl, report = self.gemm(npy(a), npy(b), *args, "--engine", "rtl")
            model, _ = self.gemm(npy(a), npy(b), *args)
            self.assertEqual(rtl, model)
            self.assertTrue(report["agreement"]["bit_exact"])
            self.assertGreater(report["sqnr_db"], 10)

    def test_sparse(self) -> None:
        """A pruned first, by the same rule as `prune`; every engine, beats of twice the length."""
        rng = random.Random(9)
        a = self.file("a.npy", npy([[rng.gauss(0, 1) for _ in range(100)] for _ in range(7)]))
        b = self.file("b.npy", npy([[rng.gauss(0, 1) for _ in range(9)] for _ in range(100)]))
        self.ok("prune", a, "--mask", "2:4", "--out", "p.npy")
        pruned = self.json("prune", a, "--mask", "2:4")["relative_error"]
        for pattern, source in (("2:4", a), ("2:4", str(self.dir / "p.npy")), ("1:2", a)):
            for engine in ("model", "systemc", "rtl") if RTL else ("model",):
                report = self.json("gemm", source, b, "--sparse", pattern, "--engine", engine, "--out", f"{engine}.npy")
                self.assertEqual((report["sparse"], report["products"]), (pattern, 7 * 9 * 100))
                if pattern == "2:4":
                    self.assertEqual(report["pruning_error"], pruned if source == a else 0)
                self.assertEqual(read_npy(self.dir / f"{engine}.npy"), read_npy(self.dir / "model.npy"))
                if engine != "model":
                    self.assertEqual((report["tile"], report["agreement"]["bit_exact"]), ("sparse", True))
        text = self.ok("gemm", a, b, "--sparse", "2:4")
        self.assertRegex(text, "(?m)^sparse +A 2:4, pruned of [0-9.]+ % of its energy")
        self.assertIsNone(self.json("gemm", a, b)["sparse"])
        self.refused(["gemm", a, b, "--sparse", "4:8"], '--sparse "4:8"', "2:4, 1:2 or 4:8pair")
        for more in (["--format", "mxfp8_e4m3"], ["--rule", "vendor"], ["--dialect", "te"], ["--requantize", "1"]):
            self.refused(["gemm", a, b, "--sparse", "2:4", *more], "--sparse is for nvfp4, fp8 and luq")
        if RTL:
            self.refused(["gemm", a, b, "--sparse", "2:4", "--engine", "systemc", "--tile", "large"], "large")

    def test_sparse_rows_of_any_length(self) -> None:
        """Zeros fill the last group, as they fill the blocks of dense products."""
        rng = random.Random(11)
        for k, pattern in itertools.product((1, 3, 41, 167), ("2:4", "1:2", "4:8pair")):
            a = [[rng.gauss(0, 1) for _ in range(k)] for _ in range(5)]
            b = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(k)]
            more = -k % 8
            left, right = self.file("a.npy", npy(a)), self.file("b.npy", npy(b))
            wide = self.file("wide.npy", npy([row + [0.0] * more for row in a]))
            long = self.file("long.npy", npy(b + [[0.0] * 3] * more))
            for engine in ("model", "systemc") if RTL and k == 167 else ("model",):
                for format in ("nvfp4", "fp8_e4m3"):
                    args = ["--sparse", pattern, "--format", format]
                    report = self.json("gemm", left, right, *args, "--engine", engine, "--out", "c.npy")
                    padded = self.json("gemm", wide, long, *args, "--out", "d.npy")
                    self.assertEqual(report["pruning_error"], padded["pruning_error"])
                    self.assertEqual(read_npy(self.dir / "c.npy"), read_npy(self.dir / "d.npy"))

    def test_sparse_formats(self) -> None:
        """Every format that tiles have, 2:4 and by pairs."""
        rng = random.Random(10)
        a = self.file("a.npy", npy([[rng.gauss(0, 1) for _ in range(72)] for _ in range(5)]))
        b = self.file("b.npy", npy([[rng.gauss(0, 1) for _ in range(6)] for _ in range(72)]))
        tiles = {"nvfp4": "sparse", "fp8_e4m3": "sparse_fp8", "fp8_e5m2": "sparse_fp8", "luq": "sparse_luq"}
        for (name, tile), pattern in itertools.product(tiles.items(), ("2:4", "4:8pair")):
            # The same bits as without --sparse, of what `prune` makes; NVFP4's blocks are wide with it.
            self.ok("prune", a, "--mask", pattern, "--out", "p.npy")
            self.json("gemm", str(self.dir / "p.npy"), b, "--format", name, "--out", "dense.npy")
            for engine in ("model", "systemc", "rtl") if RTL else ("model",):
                args = ["--format", name, "--sparse", pattern, "--engine", engine, "--out", f"{engine}.npy"]
                report = self.json("gemm", a, b, *args)
                same = "model.npy" if name == "nvfp4" else "dense.npy"
                self.assertEqual(read_npy(self.dir / f"{engine}.npy"), read_npy(self.dir / same))
                if engine != "model":
                    self.assertEqual((report["tile"], report["agreement"]["bit_exact"]), (tile, True))

    def test_compressed(self) -> None:
        """Operands sent compressed: the same results from fewer bytes."""
        rng = random.Random(9)
        a = self.file("a.npy", npy([[max(rng.gauss(0, 1), 0) for _ in range(160)] for _ in range(24)]))
        b = self.file("b.npy", npy([[max(rng.gauss(0, 1), 0) for _ in range(9)] for _ in range(160)]))
        both = ("--compress-a", "--compress-b")
        if RTL:
            raw = self.json("gemm", a, b, "--engine", "systemc", "--tile", "codec")
            for flags in (both[:1], both[1:], both):
                report = self.json("gemm", a, b, "--engine", "systemc", *flags)
                self.assertEqual((report["tile"], report["agreement"]["bit_exact"]), ("codec", True))
                self.assertLess(report["operand_bytes"], raw["operand_bytes"])
            self.refused(["gemm", a, b, "--engine", "systemc", "--tile", "large", *both], "compressed operands")
        self.assertIsNone(self.json("gemm", a, b, *both)["operand_bytes"])
        self.refused(["gemm", a, b, "--sparse", "2:4", *both], "are for dense products")
        self.refused(["gemm", a, b, "--compress-c"], "--requantize asks for")
        if RTL:
            narrow = ["gemm", a, b, "--engine", "systemc", "--tile", "codec", "--requantize", "0.01"]
            raw, packed = self.json(*narrow), self.json(*narrow, "--compress-b", "--compress-c")
            self.assertTrue(packed["agreement"]["bit_exact"])
            self.assertLess(packed["operand_bytes"], raw["operand_bytes"])
            self.assertNotEqual(packed["result_bytes"], raw["result_bytes"])

    def test_requantized(self) -> None:
        """C in NVFP4: every engine's files are those that `quantize` writes of C rounded to BF16."""
        rng = random.Random(8)
        a = self.file("a.npy", npy([[rng.gauss(0, 1) for _ in range(40)] for _ in range(5)]))
        b = self.file("b.npy", npy([[rng.gauss(0, 1) for _ in range(19)] for _ in range(40)]))
        # Its largest magnitude in BF16 gives the tensor scale under which quantize takes C, too.
        first = self.json("gemm", a, b, "--requantize", "0.01")
        self.assertIsNone(first["requantized"]["codes_path"])
        amax = first["requantized"]["amax"]
        scale = float32(amax / 2688)
        self.ok("gemm", a, b, "--out", "c.npy")
        c, _ = read_npy(self.dir / "c.npy")
        narrow = [[bfloat16(x) for x in row] for row in c]
        self.assertEqual(max(abs(x) for row in narrow for x in row), amax)
        self.ok("quantize", self.file("n.npy", npy(narrow)), "--out-prefix", "n")
        for engine in ("model", "systemc", "rtl") if RTL else ("model",):
            with self.subTest(engine=engine):
                args = ["--requantize", repr(scale), "--engine", engine, "--out-prefix", "q"]
                report = self.json("gemm", a, b, *args)
                for part in ("codes", "scales"):
                    self.assertEqual(read_npy(self.dir / f"q.{part}.npy"), read_npy(self.dir / f"n.{part}.npy"))
                self.assertEqual(json.loads((self.dir / "q.json").read_text()), report)
                made = report["requantized"]
                self.assertEqual((made["format"], made["amax"], made["k_padded"]), ("nvfp4", amax, 32))
                self.assertEqual(float32(made["tensor_scale"]), scale)
                self.assertEqual(report["c"]["path"], None)
                self.assertGreater(report["sqnr_db"], 10)
                if engine != "model":
                    self.assertEqual(report["tile"], "chain")
                    self.assertEqual((report["agreement"]["bit_exact"], report["agreement"]["results"]), (True, 5 * 19))
        text = self.ok("gemm", a, b, "--requantize", "1e-3")
        self.assertRegex(text, "(?m)^C = A x B +5 x 19 nvfp4 under the tensor scale 0.001$")
        self.assertRegex(text, "(?m)^largest of C ")
        self.assertIsNone(self.json("gemm", a, b)["requantized"])

    def test_requantized_to_fp8_and_int4(self) -> None:
        """C in FP8 is what `quantize` writes of C in BF16; in INT4 its quotients, rounded."""
        rng = random.Random(8)
        a = self.file("a.npy", npy([[rng.gauss(0, 1) for _ in range(40)] for _ in range(5)]))
        b = self.file("b.npy", npy([[rng.gauss(0, 1) for _ in range(19)] for _ in range(40)]))
        cases = (
            ("fp8_e4m3", [], "fp8_e4m3", 448, "chain_fp8"),
            ("fp8_e4m3", ["--requantize-format", "fp8_e5m2"], "fp8_e5m2", 57344, "chain_fp8"),
            ("luq", [], "int4", 7, "luq"),
        )
        for product, more, results, largest, tile in cases:
            self.ok("gemm", a, b, "--format", product, "--out", "c.npy")
            c, _ = read_npy(self.dir / "c.npy")
            narrow = [[bfloat16(x) for x in row] for row in c]
            amax = max(abs(x) for row in narrow for x in row)
            scale = 2.0 ** math.ceil(math.log2(amax / largest))
            for engine in ("model", "systemc", "rtl") if RTL else ("model",):
                with self.subTest(product=product, results=results, engine=engine):
                    args = [
                        "--format",
                        product,
                        "--requantize",
                        repr(scale),
                        *more,
                        "--engine",
                        engine,
                        "--out-prefix",
                        "q",
                    ]
                    report = self.json("gemm", a, b, *args)
                    made = report["requantized"]
                    self.assertEqual((made["format"], made["amax"], made["k_padded"]), (results, amax, 19))
                    self.assertEqual((made["tensor_scale"], made["scales_path"]), (scale, None))
                    self.assertFalse((self.dir / "q.scales.npy").exists())
                    if engine != "model":
                        self.assertEqual((report["tile"], report["agreement"]["bit_exact"]), (tile, True))
                    self.assertGreater(report["sqnr_db"], 8)
                    codes, _ = read_npy(self.dir / "q.codes.npy")
                    if results == "int4":
                        expected = [[max(-8, min(7, round(x / scale))) & 15 for x in row] for row in narrow]
                        self.assertEqual([[int(x) for x in row] for row in codes], expected)
        text = self.ok("gemm", a, b, "--format", "fp8_e4m3", "--requantize", "0.125")
        self.assertRegex(text, "(?m)^C = A x B +5 x 19 fp8_e4m3 under the tensor scale 0.125$")
        self.assertEqual(
            self.json("gemm", a, b, "--format", "mxfp4", "--requantize", "0.1")["requantized"]["format"], "nvfp4"
        )

    def test_requantize_refusals(self) -> None:
        a = self.file("a.npy", npy([[1.0, 2.0], [3.0, 4.0]]))
        for scale in ("0", "-1", "nan", "inf", "1e-34", "1e39", "x", "", "1 "):
            self.refused(["gemm", a, a, "--requantize", scale], f'--requantize "{scale}"', "2688")
        for scale in ("0", "-1", "nan", "inf", "1e-34", "0.75", "x"):
            of_fp8 = ["gemm", a, a, "--format", "fp8_e4m3", "--requantize", scale]
            self.refused(of_fp8, f'--requantize "{scale}"', "fp8_e4m3", "a power of two", "448")
        self.refused(["gemm", a, a, "--requantize", "0", "--requantize-format", "int4"], "int4", "a number above 0")
        self.refused(["gemm", a, a, "--requantize", "1", "--requantize-format", "fp4"], "'fp4'", "fp8_e5m2, int4")
        self.refused(["gemm", a, a, "--requantize-format", "nvfp4"], "--requantize-format", "--requantize asks for")
        self.refused(["gemm", a, a, "--requantize", "1", "--out", "c.npy"], "--out c.npy", "--out-prefix")
        self.refused(["gemm", a, a, "--out-prefix", "c"], "--out-prefix c", "--requantize")
        if RTL:
            self.refused(["gemm", a, a, "--requantize", "1", "--engine", "systemc", "--tile", "tiny"], "tiny")
            e4m3 = ["--requantize", "1", "--requantize-format", "fp8_e4m3"]
            self.refused(["gemm", a, a, *e4m3, "--engine", "systemc", "--tile", "chain"], "results in fp8_e4m3")
            self.refused(["gemm", a, a, *e4m3, "--engine", "systemc"], "no tile has", "results in fp8_e4m3")
        self.assertEqual(sorted(x.name for x in self.dir.iterdir()), ["a.npy"])

    def test_trace(self) -> None:
        if not RTL:
            self.skipTest("built without simulated tiles")
        self.ok("gemm", self.file("a.npy", npy([[1, 2], [3, 4]])), "a.npy", "--engine", "rtl", "--trace", "wave.fst")
        self.assertGreater((self.dir / "wave.fst").stat().st_size, 100)

    def test_every_dtype_and_order(self) -> None:
        a, b = [[6.0, 3, 0], [1, 2, 6]], [[1.0, 0], [0, 1], [1, 1]]
        for kind in STRUCT:
            for order, fortran in itertools.product("|" if kind[1] == "1" else "<>", (False, True)):
                with self.subTest(dtype=order + kind, fortran=fortran):
                    c, report = self.gemm(
                        npy(a, order + kind, fortran), npy(b, "|b1", not fortran), "--format", "mxfp4"
                    )
                    self.assertEqual(c, product([[bool(x) for x in row] for row in a] if kind == "b1" else a, b))
                    self.assertEqual(report["b"]["dtype"], "bool")
                    names = {"f": "float", "i": "int", "u": "uint"}
                    one = {"b1": "bool", "V2": "bfloat16", "f1": "float8_e5m2"}
                    expected = one.get(kind) or f"{names[kind[0]]}{8 * int(kind[1])}"
                    self.assertEqual(report["a"]["dtype"], expected)

    def test_header_versions(self) -> None:
        rows = [[1.0, 2.0]]
        for version, pad in itertools.product((1, 2, 3), (0, 60, 128, 200, 300, 3000)):
            with self.subTest(version=version, pad=pad):
                report = self.json("quantize", self.file("x.npy", npy(rows, version=version, pad=pad)))
                self.assertEqual(report["x"]["columns"], 2)

    def test_float64_reference(self) -> None:
        """SQNR is against the float64 arrays: what float32 loses counts as noise."""
        c, report = self.gemm(npy([[1 + 2**-40]], "<f8"), npy([[1.0]]), "--format", "mxfp4")
        self.assertEqual(c, [[1.0]])
        self.assertAlmostEqual(report["sqnr_db"], 20 * math.log10(2**40), delta=0.001)

    def test_zero_signal(self) -> None:
        for name in WITH_LUQ:
            c, report = self.gemm(npy([[0, 0]]), npy([[0], [-0.0]]), "--format", name)
            self.assertEqual(c, [[0.0]])
            self.assertEqual(report["sqnr_db"], "inf")

    def test_luq(self) -> None:
        """INT4 under SAWB's clip times FP4 [1,3,0]; quantize has the one along rows, the other along columns."""
        rng = random.Random(9)
        x = self.file("x.npy", npy([[rng.gauss(0, 1) for _ in range(20)] for _ in range(20)]))
        codes = {}
        for axis in ("rows", "columns"):
            report = self.json("quantize", x, "--format", "luq", "--axis", axis, "--out-prefix", axis)
            self.assertEqual((report["format"], report["element"]), ("luq", "int4" if axis == "rows" else "e3m0"))
            self.assertEqual((report["block"], report["k_padded"], report["scales_path"]), (1, 20, None))
            codes[axis] = (read_npy(self.dir / f"{axis}.codes.npy")[0], report["tensor_scale"])
        self.assertEqual(math.frexp(codes["columns"][1])[0], 0.5)
        integers = [[(int(c) ^ 8) - 8 for c in row] for row in codes["rows"][0]]
        powers = [[(1 << (int(c) % 8) >> 1) * (-1 if c > 7 else 1) for c in row] for row in codes["columns"][0]]
        sums = [[sum(a * b for a, b in zip(row, column, strict=True)) for column in powers] for row in integers]
        scale = float32(codes["rows"][1] * codes["columns"][1])
        self.json("gemm", x, x, "--format", "luq", "--out", "c.npy")
        c, _ = read_npy(self.dir / "c.npy")
        self.assertEqual(c, [[float32(s * scale) for s in row] for row in sums])

    def test_stochastic_seed(self) -> None:
        rng = random.Random(4)
        a = npy([[rng.random() for _ in range(64)] for _ in range(4)])
        results = [self.gemm(a, npy([[1.0]] * 64), "--rounding", "stochastic", "--seed", s)[0] for s in ("1", "1", "2")]
        self.assertEqual(results[0], results[1])
        self.assertNotEqual(results[0], results[2])

    def test_threads_do_not_matter(self) -> None:
        rng = random.Random(6)
        a = npy([[rng.gauss(0, 1) for _ in range(50)] for _ in range(40)])
        b = npy([[rng.gauss(0, 1) for _ in range(30)] for _ in range(50)])
        for name in WITH_LUQ:
            one, _ = self.gemm(a, b, "--format", name, "--threads", "1")
            many, _ = self.gemm(a, b, "--format", name, "--threads", "3")
            self.assertEqual(one, many)

    def test_text_report(self) -> None:
        text = self.ok("gemm", self.file("a.npy", npy([[1, 2]])), self.file("b.npy", npy([[1], [3]])))
        for label in ("A ", "B ", "format ", "engine ", "agreement ", "SQNR ", "time "):
            self.assertRegex(text, f"(?m)^{label}")


class Engines(Program):
    def test_table(self) -> None:
        report = self.json("engines", "--shape", "1x1x1", "17x33x65", "--format", "nvfp4", "fp8_e5m2")
        self.assertTrue(report["agree"])
        rows = report["products"]
        engines = ["model", "systemc"] + ["rtl"] * RTL
        self.assertEqual(len(rows), 2 * 2 * len(engines))
        for product in zip(*[iter(rows)] * len(engines), strict=True):
            self.assertEqual([row["engine"] for row in product], engines)
            self.assertEqual([row["different"] for row in product], [0] * len(engines))
            model, systemc, rtl = product[0], product[1], product[-1]
            self.assertIsNone(model["cycles"])
            self.assertGreater(systemc["cycles"], 0)
            for key in ("cycles", "tile", "utilization", "utilization_computing"):
                self.assertEqual(systemc[key], rtl[key], key)
        self.assertIn(
            "All engines agree", self.ok("engines", "--shape", "2x2x2", "--tile", "large", "--format", "nvfp4")
        )

    def test_refusals(self) -> None:
        for shape in ("4x4", "0x1x1", "4x4x4x4", "axbxc", "4x4x4 "):
            self.refused(["engines", "--shape", shape], shape, "MxNxK")
        self.refused(["engines", "--tile", "huge"], "huge", "large_fp8")
        for shape, words in (
            ("1x1x1048577000", ("1048577000", "nvfp4", "at most")),
            ("4294967296x4294967296x1", ("4294967296x4294967296x1", "memory")),
        ):
            began = time.monotonic()
            self.refused(["engines", "--shape", "64x64x64", shape], *words)
            self.assertLess(time.monotonic() - began, 20)
        self.refused(["engines", "--format", "fp8_e4m3fnuz", "--shape", "1x1x1"], "e4m3fnuz", "model engine")


class Board(Program):
    def board(self, *args: str) -> str:
        """The port of a simulated board, which is there until the test ends."""
        program = subprocess.Popen([PROGRAM, "simulate-board", "--json", *args], stdout=subprocess.PIPE, text=True)
        self.addCleanup(program.communicate)
        self.addCleanup(program.terminate)
        assert program.stdout is not None
        return json.loads("".join(iter(program.stdout.readline, "}\n")) + "}")["port"]

    def matrices(self, m: int, n: int, k: int) -> None:
        draw = random.Random(4)
        self.file("A.npy", npy([[draw.gauss(0, 1) for _ in range(k)] for _ in range(m)]))
        self.file("B.npy", npy([[draw.gauss(0, 1) for _ in range(n)] for _ in range(k)]))

    def test_products_on_a_simulated_board(self) -> None:
        self.matrices(9, 5, 70)
        for faults in "0", "0.002":
            port = self.board("--tile", "tiny", "--faults", faults)
            for _ in range(2):  # the second host finds the numbers of frames that the first one left
                report = json.loads(self.ok("gemm", "A.npy", "B.npy", "--engine", "board", "--port", port, "--json"))
                self.assertTrue(report["agreement"]["bit_exact"])
                self.assertEqual(report["tile"], "1x1x16")
                self.assertIsNone(report["cycles"])
                self.assertEqual(report["result_bytes"], 9 * 5 * 4)
                self.assertGreater(report["link"]["sent_bytes"], report["operand_bytes"])

    def test_a_tile_with_counters_and_requantization(self) -> None:
        self.matrices(8, 16, 64)
        port = self.board("--tile", "chain")
        args = ("gemm", "A.npy", "B.npy", "--engine", "board", "--port", port, "--requantize", "0.01")
        report = json.loads(self.ok(*args, "--json"))
        self.assertTrue(report["agreement"]["bit_exact"])
        self.assertEqual(report["cycles"], report["activity"]["cycles"])
        self.assertIn("bit-exact", self.ok(*args))
        self.refused([*args[:-2], "--format", "fp8_e4m3"], port, "does not have fp8_e4m3")

    def test_the_link_goes_with_the_board(self) -> None:
        link = self.dir / "board"
        with subprocess.Popen(
            [PROGRAM, "simulate-board", "--link", "board"], cwd=self.dir, stdout=subprocess.PIPE, text=True
        ) as program:
            self.assertIn("board is a board with tile tiny", program.stdout.readline())
            self.assertTrue(link.readlink().is_absolute())
            self.matrices(2, 2, 16)
            self.assertIn("bit-exact", self.ok("gemm", "A.npy", "B.npy", "--engine", "board", "--port", "board"))
            program.terminate()
        self.assertEqual(program.returncode, 0)
        self.assertFalse(link.is_symlink())
        self.file("kept", b"a file")
        self.refused(["simulate-board", "--link", "kept"], "kept", "is there already")

    def test_one_host_at_a_time(self) -> None:
        self.matrices(32, 32, 512)
        port = self.board("--tile", "tiny")
        args = ["gemm", "A.npy", "B.npy", "--engine", "board", "--port", port]
        with subprocess.Popen([PROGRAM, *args], cwd=self.dir, stdout=subprocess.DEVNULL) as first:
            time.sleep(0.2)
            if first.poll() is None:
                second = self.run_program(*args)
                self.assertTrue(second.returncode == 0 or "in use by another program" in second.stderr, second.stderr)
        self.assertEqual(first.returncode, 0)

    def test_what_is_no_board(self) -> None:
        self.matrices(2, 2, 16)
        gemm = ("gemm", "A.npy", "B.npy", "--engine")
        self.refused([*gemm, "board"], "--port", "/dev/ttyUSB1")
        self.refused([*gemm, "model", "--port", "/dev/null"], "/dev/null", "--engine board")
        self.refused([*gemm, "board", "--port", "/dev/null"], "/dev/null", "no serial device")
        self.refused([*gemm, "board", "--port", "/dev/null", "--tile", "tiny"], "tiny", "a board says itself")
        self.refused([*gemm, "board", "--port", "/dev/null", "--baud", "7"], "7", "9600")
        self.refused(["simulate-board", "--tile", "huge"], "huge", "tiny")
        self.refused(["simulate-board", "--engine", "model"], "model", "systemc")
        leader, follower = os.openpty()
        try:
            self.refused([*gemm, "board", "--port", os.ttyname(follower)], "no bridge on this line", "nothing answers")
        finally:
            os.close(leader)
            os.close(follower)


class Quantize(Program):
    def test_written_files(self) -> None:
        """decode(code) x scale x tensor scale, computed here from the written files, gives back the exact operands."""
        e2m1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
        rng = random.Random(7)
        for name, axis in itertools.product(("nvfp4", "mxfp4"), ("rows", "columns")):
            with self.subTest(format=name, axis=axis):
                block = 16 if name == "nvfp4" else 32
                vectors, _ = exact_operands(name, 5, 70, 1, rng)
                x = vectors if axis == "rows" else [list(col) for col in zip(*vectors, strict=True)]
                report = self.json(
                    "quantize", self.file("x.npy", npy(x)), "--format", name, "--axis", axis, "--out-prefix", "q"
                )
                self.assertEqual(report, json.loads((self.dir / "q.json").read_text()))
                codes, kind = read_npy(self.dir / "q.codes.npy")
                scales, _ = read_npy(self.dir / "q.scales.npy")
                self.assertEqual(kind, "|u1")
                self.assertEqual(len(codes[0]), -(-70 // block) * block)
                for vector, code_row, scale_row in zip(vectors, codes, scales, strict=True):
                    for i, value in enumerate(vector):
                        s = int(scale_row[i // block])
                        scale = 2.0 ** (s - 127) if name == "mxfp4" else 2.0 ** ((s >> 3) - 7) * (1 + (s & 7) / 8)
                        code = int(code_row[i])
                        decoded = e2m1[code & 7] * (-1 if code & 8 else 1)
                        self.assertEqual(decoded * scale * report["tensor_scale"], value)
                self.assertEqual(report["sqnr_db"], "inf")
                self.assertEqual(report["zeros"], sum(v == 0 for row in vectors for v in row) / 350)
                self.assertEqual(report["saturated"], 0)
                bits = 5 * len(codes[0]) * (4 + 8 / block) + (32 if name == "nvfp4" else 0)
                self.assertAlmostEqual(report["bits_per_element"], bits / 350)

    def test_layout_of_scales(self) -> None:
        """In tiles of 128 x 4 the same scales lie by NVIDIA's formula, zeros between them."""
        rng = random.Random(8)
        x = self.file("x.npy", npy([[rng.gauss(0, 1) for _ in range(150)] for _ in range(130)]))
        self.assertEqual(self.json("quantize", x, "--out-prefix", "p")["scale_layout"], "rows")
        report = self.json("quantize", x, "--out-prefix", "q", "--scale-layout", "128x4")
        self.assertEqual(report["scale_layout"], "128x4")
        scales, _ = read_npy(self.dir / "p.scales.npy")
        shape, tiles, kind = read_npy_array(self.dir / "q.scales.npy")
        self.assertEqual((kind, shape), ("|u1", (2 * 3 * 512,)))
        expected = [0] * len(tiles)
        for r, row in enumerate(scales):
            for c, scale in enumerate(row):
                expected[(r // 128 * 3 + c // 4) * 512 + r % 32 * 16 + r // 32 % 4 * 4 + c % 4] = scale
        self.assertEqual(tiles, expected)
        self.refused(["quantize", x, "--scale-layout", "128x4"], "--scale-layout 128x4", "expected --out-prefix")
        fp8 = ["quantize", x, "--out-prefix", "r", "--format", "fp8_e4m3", "--scale-layout", "128x4"]
        self.refused(fp8, "fp8_e4m3 does not have", "nvfp4")
        self.refused(["quantize", x, "--out-prefix", "r", "--scale-layout", "4x128"], "4x128", "128x4")

    def test_fp8_has_no_scales(self) -> None:
        report = self.json(
            "quantize", self.file("x.npy", npy([[448, 1, 0]])), "--format", "fp8_e4m3", "--out-prefix", "q"
        )
        self.assertIsNone(report["scales_path"])
        self.assertFalse((self.dir / "q.scales.npy").exists())
        self.assertEqual(read_npy(self.dir / "q.codes.npy")[0], [[0x7E, 0x38, 0]])
        self.assertEqual(report["tensor_scale"], 1)

    def test_flushed(self) -> None:
        report = self.json("quantize", self.file("x.npy", npy([[448, 1e-9, 0, 1]])), "--format", "fp8_e4m3")
        self.assertEqual((report["zeros"], report["flushed"]), (0.5, 0.25))

    def test_blocks(self) -> None:
        """IF4, MixFP4 and HiFloat4 of numbers that they have: a block of INT4 or E1M2 beside one of E2M1, padding, the levels' bits."""
        grid = [6.0, 4.0, 3.0, 2.0, 1.5, 1.0, 0.5, 0.0] * 2
        steps = [6.0 * i / 7 for i in range(-7, 8)] + [0.0]
        x = self.file("x.npy", npy([[value * 448 for value in grid + steps]]))
        report = self.json("quantize-blocks", x, "--out-prefix", "q")
        self.assertEqual(report, json.loads((self.dir / "q.json").read_text()))
        self.assertEqual((report["int4_blocks"], report["amax"], report["bits_per_element"]), (1, 2688, 5.5))
        self.assertEqual(read_npy(self.dir / "q.scales.npy"), ([[0x7E, 0xFE]], "|u1"))
        codes, dtype = read_npy(self.dir / "q.codes.npy")
        self.assertEqual((codes[0][:16], dtype), ([7, 6, 5, 4, 3, 2, 1, 0] * 2, "|u1"))
        self.assertEqual(codes[0][16:], [i & 15 for i in range(-7, 8)] + [0])
        self.assertIn("1 of 2 blocks, by mae", self.ok("quantize-blocks", x, "--choice", "mae"))
        report = self.json("quantize-blocks", x, "--format", "mixfp4", "--out-prefix", "m")
        self.assertEqual((report["e1m2_blocks"], report["int4_blocks"], report["choice"]), (1, None, None))
        self.assertEqual(read_npy(self.dir / "m.scales.npy"), ([[0x7E, 0xFC]], "|u1"))
        self.assertEqual(read_npy(self.dir / "m.codes.npy")[0][0][16:], [15, 14, 13, 12, 11, 10, 9, *range(8), 0])
        self.assertIn("E1M2     1 of 2 blocks, by mse", self.ok("quantize-blocks", x, "--format", "mixfp4"))
        x = self.file("x.npy", npy([[7.0, -3.5, 1.75, 0.25] + [0.25] * 4]))
        report = self.json("quantize-blocks", x, "--format", "hif4", "--out-prefix", "h")
        self.assertEqual((report["k_padded"], report["int4_blocks"], report["amax"]), (64, None, None))
        self.assertAlmostEqual(report["sqnr_db"], 10 * math.log10(64.625 / 0.625))
        self.assertEqual(read_npy(self.dir / "h.level2.npy"), ([[1]], "|u1"))
        self.assertEqual(read_npy(self.dir / "h.level3.npy"), ([[1]], "<u2"))
        self.assertEqual(read_npy(self.dir / "h.codes.npy")[0][0][:4], [7, 12, 2, 0])
        self.assertIn("rows padded to 64", self.ok("quantize-blocks", x, "--format", "hif4"))
        self.refused(["quantize-blocks", x, "--format", "mxfp4"], "--format", "if4, mixfp4, hif4")
        self.refused(["quantize-blocks", x, "--format", "hif4", "--choice", "mae"], "--choice", "--format if4")
        self.refused(["quantize-blocks", self.file("x.npy", npy([[float("nan")]]))], "x.npy", "NaN")

    def test_affine(self) -> None:
        """Codes of a scale and a zero point, and of a range, computed here; values that are on the grid come back."""
        x = self.file("x.npy", npy([[-1, -0.5, 0, 0.24], [0.26, 0.375, 5, -9]]))
        args = ["quantize-affine", x, "--scale", "0.25", "--zero-point", "2", "--bits", "4"]
        report = self.json(*args, "--signed", "--out-prefix", "q")
        self.assertEqual(report, json.loads((self.dir / "q.json").read_text()))
        self.assertEqual(read_npy(self.dir / "q.codes.npy"), ([[-2, 0, 2, 3], [3, 4, 7, -8]], "|i1"))
        self.assertEqual((report["unit"], report["differ_from_division"], report["saturated"]), (True, 0, 0.25))
        self.json(*args, "--ties", "away", "--power-of-two", "--out-prefix", "q")  # 0.375 is a tie: 3.5
        self.assertEqual(read_npy(self.dir / "q.codes.npy"), ([[0, 0, 2, 3], [3, 4, 15, 0]], "|u1"))
        report = self.json("quantize-affine", self.file("x.npy", npy([[0, 15, 3, 7]])), "--bits", "4")
        self.assertEqual((report["rule"], report["scale"], report["zero_point"]), ("calibtip_zero", 1, 0))
        self.assertEqual(report["sqnr_db"], "inf")
        report = self.json("quantize-affine", "x.npy", "--rounding", "stochastic", "--random-bits", "4", "--seed", "3")
        self.assertEqual((report["random_bits"], report["seed"]), (4, 3))
        self.file("x.npy", npy([[1, 2.5, 4]]))
        report = self.json("quantize-affine", "x.npy", "--rule", "quantized_pytorch", "--bits", "2")
        self.assertEqual((report["unit"], report["offset"], report["scale"], report["zero_point"]), (False, 1, 1, None))
        text = self.ok("quantize-affine", "x.npy", "--rule", "quantized_pytorch")
        self.assertIn("offset 1", text)
        self.assertIn("ng_quantize_affine, nearest", self.ok("quantize-affine", "x.npy"))

    def test_affine_refusals(self) -> None:
        x = self.file("x.npy", npy([[1, 2.5, 4]]))
        args = ["quantize-affine", x]
        self.refused([*args, "--bits", "9"], "--bits", "2 to 8")
        self.refused([*args, "--rule", "tflite"], "tflite", "calibtip_zero")
        self.refused([*args, "--scale", "0"], "--scale", "positive")
        self.refused([*args, "--scale", "1e-30"], "1e-30", "2^-47")
        self.refused([*args, "--scale", "0.3", "--power-of-two"], "0.3", "a power of two")
        self.refused([*args, "--scale", "1", "--bits", "4", "--zero-point", "16"], "--zero-point 16", "-16 to 15")
        self.refused([*args, "--zero-point", "3"], "--zero-point", "--scale")
        self.refused([*args, "--scale", "1", "--rule", "lapq"], "--rule", "--scale")
        self.refused([*args, "--rule", "quantized_pytorch", "--power-of-two"], "--power-of-two", "a zero point")

    def test_softmax(self) -> None:
        """Scores on levels of C = -3 at 2 bits: exponentials of 0, -1, -2 and -3, and what no query attends."""
        x = self.file("x.npy", npy([[0, -1, -2, -3], [5, 4.1, 77, 2]]))
        mask = self.file("m.npy", npy([[1, 1, 1, 1], [1, 1, 0, 1]]))
        v = self.file("v.npy", npy([[1, -2], [3, 4], [100, 5], [-128, 127]]))
        args = ["softmax", x, "--mask", mask, "--clip", "-3"]
        report = self.json(*args, "--v", v, "--out-prefix", "s")
        self.assertEqual(report, json.loads((self.dir / "s.json").read_text()))
        self.assertEqual(read_npy(self.dir / "s.codes.npy"), ([[3, 2, 1, 0], [3, 2, 255, 0]], "|u1"))
        sums = [sum(math.exp(-t) for t in (0, 1, 2, 3)), sum(math.exp(-t) for t in (0, 1, 3))]
        expected = [[math.exp(-t) / sums[0] for t in range(4)], [math.exp(-t) / sums[1] for t in (0, 1)]]
        got = read_npy(self.dir / "s.p.npy")[0]
        for p, e in zip(got[0] + got[1][:2], expected[0] + expected[1], strict=True):
            self.assertAlmostEqual(p, e, places=6)
        self.assertEqual(got[1][2], 0)
        self.assertAlmostEqual(
            read_npy(self.dir / "s.out.npy")[0][1][0], (1 + 3 * math.exp(-1) - 128 * math.exp(-3)) / sums[1], 2
        )
        self.assertEqual(
            (report["attended"], report["shares"], report["rows_without_scores"]), (7, [2 / 7, 1 / 7, 2 / 7, 2 / 7], 0)
        )
        causal = self.json("softmax", x, "--causal", "--bits", "4")
        self.assertEqual((causal["attended"], len(causal["levels"])), (7, 16))  # 3 of the first row, 4 of the last
        self.assertIn("by the linear rule", self.ok("softmax", x))

    def test_softmax_refusals(self) -> None:
        x = self.file("x.npy", npy([[0, -1, -2, -3]]))
        self.refused(["softmax", x, "--bits", "5"], "--bits", "2 to 4")
        self.refused(["softmax", x, "--clip", "1"], "--clip", "-1e30")
        self.refused(["softmax", x, "--mask", self.file("m.npy", npy([[1, 1]]))], "1 x 2", "1 x 4")
        self.refused(["softmax", self.file("t.npy", npy([[0], [1]])), "--causal"], "--causal", "2 x 1")
        self.refused(["softmax", self.file("i.npy", npy([[0, math.inf]]))], "finite")
        self.refused(["softmax", x, "--v", self.file("v.npy", npy([[0]])), "--out-prefix", "s"], "1 x 1", "4 columns")
        self.refused(
            ["softmax", x, "--v", self.file("v.npy", npy([[0], [1], [2], [0.5]])), "--out-prefix", "s"], "0.5", "INT8"
        )
        self.refused(["softmax", x, "--v", "v.npy"], "--out-prefix")

    def compared(self, rows: Rows, first: str, second: str, *more: str) -> dict:
        return self.json("quantize", self.file("x.npy", npy(rows)), "--dialect", first, "--compare", second, *more)

    def test_dialect(self) -> None:
        """Transformer Engine's sequence: an underflowing scale keeps codes of 6; the other rule writes zeros."""
        rows: Rows = [[1e-7, -1e-7, *[0.0] * 14], [1.0, *[0.0] * 15]]
        for dialect, codes in (("te", [7, 15]), ("narrowgauge", [0, 0]), ("torchao", [0, 8])):
            report = self.json("quantize", self.file("x.npy", npy(rows)), "--dialect", dialect, "--out-prefix", "q")
            self.assertEqual(read_npy(self.dir / "q.codes.npy")[0][0][:2], codes)
            self.assertEqual(report["dialect"]["name"], dialect)
            self.assertNotIn("rule", report)
        report = self.json("quantize", "x.npy", "--dialect", "ocp_rceil", "--format", "mxfp8_e4m3")
        self.assertEqual((report["format"], report["dialect"]["power_rule"]), ("mxfp8_e4m3", "rceil"))
        text = self.ok("quantize", "x.npy", "--dialect", "te:bound=256")
        self.assertIn("dialect te:bound=256, Transformer Engine", text)
        report = self.json("quantize", "x.npy", "--dialect", "te:front=rht16")
        self.assertEqual((report["k"], report["dialect"]["front"]), (16, "rht16"))

    def test_gemm_in_dialect(self) -> None:
        """Element 8 is a tie, 4 to one and 6 to the other; a Hadamard stage on both sides leaves the product."""
        a = self.file("a.npy", npy([[54, 54, 1, 52, 50, 25, 3, 30, 45, 52, 10, 43, 35, 53, 45, 48]]))
        b = self.file("b.npy", npy([[float(i == 8)] for i in range(16)]))
        results = []
        for dialect in ("te", "narrowgauge", "te:front=rht16"):
            report = self.json("gemm", a, b, "--dialect", dialect, "--out", "c.npy", "--engine", "systemc")
            self.assertEqual(report["dialect"]["name"], dialect.split(":")[0])
            self.assertNotIn("rule", report)
            self.assertTrue(report["agreement"]["bit_exact"])
            results.append(read_npy(self.dir / "c.npy")[0][0][0])
        self.assertAlmostEqual(results[1] / results[0], 1.5, 5)
        self.assertAlmostEqual(results[2], 45, delta=5)
        self.assertIn("dialect ocp_rceil", self.ok("gemm", a, b, "--dialect", "ocp_rceil", "--rounding", "stochastic"))
        self.refused(["gemm", a, b, "--dialect", "te:front=mean"], "te:front=mean", "front=none")
        self.refused(["gemm", a, b, "--dialect", "te", "--rule", "vendor"], "--rule", "expected one of them")

    def test_gemm_in_an_accumulation(self) -> None:
        """4096 and 0.25 a step: 13 bits below 2^12 lose it, 35 or an exact sum do not."""
        a = self.file("a.npy", npy([[64.0] + 31 * [0.0] + [0.25] + 31 * [0.0]]))
        b = self.file("b.npy", npy([[64.0]] + 31 * [[0.0]] + [[1.0]] + 31 * [[0.0]]))
        options = ("--format", "fp8_e4m3", "--no-sqnr", "--out", "c.npy")
        values = {}
        for mode in ("exact", "hopper", "blackwell", "fp32_chain", "rvbna"):
            report = self.json("gemm", a, b, *options, "--accumulate", mode)
            self.assertEqual(report["accumulate"], mode)
            self.assertEqual(report["different_from_exact"], {"exact": None, "hopper": 1}.get(mode, 0))
            values[mode] = read_npy(self.dir / "c.npy")[0][0][0]
        self.assertNotEqual(values.pop("hopper"), values["exact"])
        self.assertEqual(len(set(values.values())), 1)
        self.assertIn(
            "hopper: 1 of 1 result differ from exact", self.ok("gemm", a, b, *options, "--accumulate", "hopper")
        )
        self.refused(["gemm", a, b, "--accumulate", "ampere"], "ampere", "blackwell", "fp32_chain")
        self.refused(["gemm", a, b, "--accumulate", "hopper"], "hopper", "fp8")
        for engine in (["systemc"], ["board", "--port", "/dev/null"]):
            self.refused(["gemm", a, b, "--accumulate", "blackwell", "--engine", *engine], "--engine model or rtl")
        self.refused(["gemm", a, b, "--accumulate", "blackwell", "--sparse", "2:4"], "no --sparse")

    def test_gemm_on_the_unit_of_an_accumulation(self) -> None:
        if not RTL:
            self.skipTest("this build has no engine rtl")
        a, b = self.file("a.npy", npy([[1.0] * 100] * 3)), self.file("b.npy", npy([[0.5] * 2] * 100))
        options = ("--accumulate", "hopper", "--engine", "rtl", "--format", "fp8_e4m3")
        report = self.json("gemm", a, b, *options)
        self.assertEqual((report["tile"], report["agreement"]["bit_exact"]), ("mma_fp8_hopper", True))
        self.assertEqual((report["cycles"], report["operand_bytes"]), (40, None))
        self.assertIn("rtl, unit mma_fp8_hopper", self.ok("gemm", a, b, *options))
        self.refused(["gemm", a, b, *options, "--tile", "tiny"], "without --tile")
        self.refused(["gemm", a, b, *options[:4], "--format", "mxfp8_e4m3"], "hopper", "fp8 of e4m3 and e5m2")
        for mode, format, unit in (
            ("blackwell", "mxfp8_e4m3", "mma_mx"),
            ("blackwell", "mxfp4", "mma_nvfp4_e8m0"),
            ("rvbna", "fp8_e5m2", "mma_rvbna"),
        ):
            report = self.json("gemm", a, b, "--accumulate", mode, "--engine", "rtl", "--format", format)
            self.assertEqual((report["tile"], report["agreement"]["bit_exact"]), (unit, True))

    def test_gemm_under_a_deadline(self) -> None:
        if not RTL:
            self.skipTest("this build has no engine rtl")
        a, b = self.file("a.npy", npy([[1.0] * 320] * 4)), self.file("b.npy", npy([[0.5] * 5] * 320))
        options = ("--engine", "rtl", "--no-sqnr", "--out", "c.npy")
        report = self.json("gemm", a, b, *options, "--deadline", "450")
        self.assertEqual((report["tile"], report["agreement"]["bit_exact"]), ("tiny_deadline", False))
        self.assertTrue(report["deadline"]["late"])
        self.assertEqual(report["deadline"]["whole"], 400)
        values = sorted((value for row in read_npy(self.dir / "c.npy")[0] for value in row), reverse=True)
        whole = values.count(160.0)
        self.assertEqual(report["agreement"]["different"], 20 - whole)
        # Each beat adds 16 x 1 x 0.5, and each result has one or more.
        self.assertEqual(sum(values), 8.0 * report["deadline"]["beats"])
        self.assertEqual(values[:whole] + values[whole + 1 :], [160.0] * whole + [8.0] * (19 - whole))
        self.assertIn("sums ended at the deadline", self.ok("gemm", a, b, *options, "--deadline", "450"))
        in_time = self.json("gemm", a, b, *options, "--deadline", "100000")
        self.assertEqual(in_time["deadline"], {"late": False, "beats": 400, "whole": 400})
        self.assertTrue(in_time["agreement"]["bit_exact"])
        self.refused(["gemm", a, b, "--deadline", "9"], "--deadline 9", "--engine rtl or systemc")
        self.refused(["gemm", a, b, "--engine", "rtl", "--tile", "tiny", "--deadline", "9"], "tiny", "deadline")
        self.refused(["gemm", a, b, "--engine", "rtl", "--deadline", "0"], "--deadline")

    def test_gemm_in_int8(self) -> None:
        a, b = self.file("a.npy", npy([[1.0] * 320, [-1.0] * 320])), self.file("b.npy", npy([[0.5, 0.25, 1.0]] * 320))
        options = ("--no-sqnr", "--out", "c.npy", "--int8", "2.5", "--zero-point", "-20")
        for engine in ("model", *(("rtl", "systemc") if RTL else ("systemc",))):
            report = self.json("gemm", a, b, *options, "--engine", engine)
            self.assertEqual(report["int8"], {"scale": 2.5, "zero_point": -20})
            # 160, 80, 320 over 2.5, less 20; what is beyond the codes is limited.
            rows, _ = read_npy(self.dir / "c.npy")
            self.assertEqual([list(row) for row in rows], [[44, 12, 108], [-84, -52, -128]])
            if engine != "model":
                self.assertEqual((report["tile"], report["agreement"]["bit_exact"]), ("integers", True))
        self.assertIn("C = A x B", self.ok("gemm", a, b, *options))
        self.refused(["gemm", a, b, "--zero-point", "9"], "--zero-point", "--int8")
        self.refused(["gemm", a, b, "--int8", "1", "--zero-point", "256"], "--zero-point")
        self.refused(["gemm", a, b, "--int8", "0"], "--int8")
        self.refused(["gemm", a, b, "--int8", "1", "--requantize", "1"], "--int8", "--requantize")
        self.refused(["gemm", a, b, "--int8", "1", "--engine", "systemc", "--tile", "tiny"], "tiny", "INT8")

    def test_compare_reasons(self) -> None:
        tie: Rows = [[54, 54, 1, 52, 50, 25, 3, 30, 45, 52, 10, 43, 35, 53, 45, 48]]
        report = self.compared(tie, "te", "narrowgauge")
        self.assertEqual((report["blocks_differ"], report["elements_differ"]), (0, 2))
        self.assertEqual(report["element_reasons"], {"scale": 0, "tie": 2, "clamp": 0, "zero": 0, "rule": 0})
        self.assertEqual([e["element"] for e in report["examples"]], [8, 14])
        self.assertEqual(report["examples"][0]["codes"], [6, 7])
        self.assertEqual(report["values_differ"], 2)

        small: Rows = [[1e-7, -1e-7, *[0.0] * 14], [1.0, *[0.0] * 15]]
        report = self.compared(small, "te", "narrowgauge", "--examples", "1")
        self.assertEqual((report["element_reasons"]["zero"], report["elements_differ"]), (2, 2))
        self.assertEqual((report["codes_differ"], report["values_differ"], len(report["examples"])), (2, 0, 1))
        report = self.compared(small, "te", "torchao")
        self.assertEqual((report["block_reasons"]["zero"], report["element_reasons"]["scale"]), (1, 16))
        subnormal: Rows = [[1e-5, *[0.0] * 15], [1.0, *[0.0] * 15]]
        self.assertEqual(self.compared(subnormal, "te", "torchao")["block_reasons"]["clamp"], 1)
        far: Rows = [[1.0, 0.5, 7.0, *[0.0] * 13]]
        self.assertEqual(self.compared(far, "ngpt", "te")["element_reasons"]["clamp"], 0)
        self.assertEqual(self.compared(far, "te", "te_4over6")["block_reasons"]["rule"], 1)
        even: Rows = [[6.0, *[3.5] * 15]]
        report = self.compared(even, "te_4over6:search=none", "te_4over6")
        self.assertEqual(report["block_reasons"]["search"], report["blocks_differ"])
        report = self.compared([[7.99, 1.0]], "ocp_floor", "ocp_rceil")
        self.assertEqual((report["block_reasons"]["rule"], report["elements_differ"]), (1, 2))
        report = self.compared(tie, "te", "te")
        self.assertEqual((report["elements_differ"], report["examples"]), (0, []))

    def test_compare_text(self) -> None:
        rows: Rows = [[54, 54, 1, 52, 50, 25, 3, 30, 45, 52, 10, 43, 35, 53, 45, 48]]
        text = self.ok("quantize", self.file("x.npy", npy(rows)), "--dialect", "te", "--compare", "narrowgauge")
        self.assertRegex(text, r"(?m)^elements differ +2 of 16 \(12.5 %\): tie 2$")
        self.assertRegex(text, r"(?m)^0 +8 +45 .* tie$")

    def test_refused_dialects(self) -> None:
        x = self.file("x.npy", npy([[1, 2, 3]]))
        self.refused(["quantize", x, "--dialect", "te5"], "te5", "narrowgauge, te, te_2d")
        self.refused(["quantize", x, "--dialect", "te:bond=1"], "bond", "order, shape")
        self.refused(["quantize", x, "--dialect", "te", "--rule", "vendor"], "--rule", "expected one of them")
        self.refused(["quantize", x, "--dialect", "te", "--format", "mxfp4"], "--format mxfp4", "te")
        self.refused(["quantize", x, "--compare", "ocp_floor"], "narrowgauge and ocp_floor", "one format")
        self.refused(["quantize", x, "--dialect", "te", "--compare", "te:front=rht16"], "front stages")
        self.refused(["quantize", x, "--compare", "te", "--out-prefix", "q"], "--out-prefix", "--compare")

    def test_text_report(self) -> None:
        text = self.ok("quantize", self.file("x.npy", npy([[1, 2, 3]])), "--format", "mxfp4")
        for label in ("format ", "SQNR ", "zeros ", "saturated ", "storage "):
            self.assertRegex(text, f"(?m)^{label}")


class Analyze(Program):
    SINGLE = (  # of one element format
        *("nvfp4", "mxfp4", "fp8_e4m3", "fp8_e5m2", "mxfp8_e4m3", "mxfp8_e5m2"),
        *("mxfp6_e2m3", "mxfp6_e3m2", "mxint8"),
    )
    OWN = ("luq", "luq_smp2", "rdnp", "int4_sawb")

    def lognormal(self, rows: int, cols: int, sigma: float, seed: int = 1) -> Rows:
        rng = random.Random(seed)
        return [[float32(rng.choice((1, -1)) * 2 ** rng.gauss(-9, sigma)) for _ in range(cols)] for _ in range(rows)]

    def outcomes(self, report: dict) -> dict[str, dict]:
        return {f["name"]: f for f in report["formats"]}

    def test_statistics(self) -> None:
        x = self.file("x.npy", npy([[0.5, -2, 0, -0.0, 8, 8]]))
        report = self.json("analyze", x)
        self.assertEqual((report["count"], report["zeros"], report["amax"], report["log2_mean"]), (6, 2, 8, 1.5))
        self.assertAlmostEqual(report["log2_sigma"], math.sqrt(2.75), 14)
        self.assertAlmostEqual(report["scale"], 2**-1.5, 14)
        splits = [(s["bits"], s["exponent_bits"], s["mantissa_bits"], s["format"]) for s in report["splits"]]
        expected = [
            (3, 2, 0, None),
            (4, 3, 0, "e3m0"),
            (5, 3, 1, None),
            (6, 3, 2, "e3m2"),
            (7, 3, 3, None),
            (8, 4, 3, "e4m3"),
        ]
        self.assertEqual(splits, expected)
        formats = self.outcomes(report)
        self.assertEqual(tuple(formats), self.SINGLE + self.OWN)
        self.assertEqual(
            (formats["luq"]["sqnr_db"], formats["luq"]["cosine"], formats["luq"]["best"]), ("inf", 1, True)
        )
        self.assertFalse(formats["mxfp4"]["best"])
        self.assertEqual(
            [(o["exponent"], o["count"]) for o in report["octaves"]], [(3, 2), (2, 0), (1, 1), (0, 0), (-1, 1)]
        )
        self.assertTrue(all(o["levels"]["luq"] == 1 for o in report["octaves"]))

    def test_errors_are_those_of_quantize(self) -> None:
        for cols in (48, 33):
            x = self.file("x.npy", npy(self.lognormal(20, cols, 2.5)))
            for axis in ("rows", "columns"):
                formats = self.outcomes(self.json("analyze", x, "--axis", axis))
                for name in self.SINGLE:
                    alone = self.json("quantize", x, "--format", name, "--axis", axis)
                    for key in ("sqnr_db", "bits_per_element"):
                        self.assertEqual(formats[name][key], alone[key], (name, axis, key))

    def test_own_formats(self) -> None:
        rows = self.lognormal(64, 64, 2.0)
        flat = [v for row in rows for v in row]
        amax = max(map(abs, flat))
        alpha = 2.0 ** math.ceil(math.log2(amax / 64))
        power = [
            0 if abs(v) <= alpha / 2 else math.copysign(max(alpha, 2.0 ** math.floor(math.log2(abs(v) * 4 / 3))), v)
            for v in flat
        ]
        clip = 12.1 * math.sqrt(math.fsum(v * v for v in flat) / len(flat)) - 12.2 * math.fsum(map(abs, flat)) / len(
            flat
        )
        step = float32(2 * (clip if clip > 0 else amax) / 15)
        integers = [step * max(-8, min(7, round(v / step))) for v in flat]
        report = self.json("analyze", self.file("x.npy", npy(rows)))
        formats = self.outcomes(report)
        for name, values in (("rdnp", power), ("int4_sawb", integers)):
            noise = math.fsum((a - b) ** 2 for a, b in zip(flat, values, strict=True))
            signal, energy = math.fsum(v * v for v in flat), math.fsum(v * v for v in values)
            both = math.fsum(a * b for a, b in zip(flat, values, strict=True))
            self.assertAlmostEqual(formats[name]["sqnr_db"], 10 * math.log10(signal / noise), 8)
            self.assertAlmostEqual(formats[name]["cosine"], both / math.sqrt(signal * energy), 12)
        # Two samples halve the variance, and stochastic rounding has more of it than nearest has error.
        gain = formats["luq_smp2"]["sqnr_db"] - formats["luq"]["sqnr_db"]
        self.assertTrue(2 < gain < 4, gain)
        self.assertLess(formats["luq"]["sqnr_db"], formats["rdnp"]["sqnr_db"])
        self.assertEqual([formats[n]["bits"] for n in self.OWN], [4, 8, 4, 4])
        for bits in (4, 8):
            same = [f for f in formats.values() if f["bits"] == bits]
            best = max(f["sqnr_db"] for f in same)
            self.assertEqual([f["best"] for f in same], [f["sqnr_db"] == best for f in same])
        again = self.outcomes(self.json("analyze", "x.npy", "--seed", "2"))
        self.assertNotEqual(again["luq"]["sqnr_db"], formats["luq"]["sqnr_db"])
        self.assertEqual(again["rdnp"], formats["rdnp"])

    def test_pruning(self) -> None:
        rows = self.lognormal(64, 64, 1.5)
        rows[0] = [0.0] * 64
        flat = [abs(v) for row in rows for v in row]
        x = self.file("x.npy", npy(rows))
        for bits in (8, 16):
            report = self.json("analyze", x, "--random-bits", str(bits), "--sparsity", "1,50,75,90,95")
            pruning = report["pruning"]
            self.assertEqual([p["target"] for p in pruning], [0.01, 0.5, 0.75, 0.9, 0.95])
            self.assertEqual((pruning[0]["threshold"], pruning[0]["expected"]), (0, 64 / 4096))
            for p in pruning[1:]:
                t = p["threshold"]
                self.assertEqual(float32(t), t)
                zeros = [1 - math.floor(v * 2**bits / t) / 2**bits if v < t else 0 for v in flat]
                self.assertAlmostEqual(p["expected"], sum(zeros) / 4096, 10)
                self.assertAlmostEqual(p["expected"], p["target"], delta=0.01)
        self.assertEqual([p["target"] for p in self.json("analyze", x)["pruning"]], [0.5, 0.75, 0.9, 0.95])

    def test_octaves(self) -> None:
        report = self.json("analyze", self.file("x.npy", npy([[448.0] + [2.0**-i for i in range(12)]])))
        octaves = {o["exponent"]: o for o in report["octaves"]}
        self.assertEqual(list(octaves), list(range(8, -12, -1)))
        self.assertEqual([o["count"] for o in octaves.values()], [1] + 7 * [0] + 12 * [1])
        # The tensor scale is 1: 448 is the largest of eight but the one that is NaN; subnormals are multiples of 2^-9.
        e4m3 = [octaves[e]["levels"]["fp8_e4m3"] for e in (8, 7, -6, -7, -8, -9, -10, -11)]
        self.assertEqual(e4m3, [7, 8, 8, 4, 2, 1, 0, 0])
        # alpha is 2^3: 448 / 64 rounded up to a power of two; 512 itself lies above the tensor.
        self.assertEqual([octaves[e]["levels"]["luq"] for e in (8, 3, 2)], [1, 1, 0])
        # MXFP4's scale is 2^6, of E2M1 0.5 1 1.5 2 3 4 6.
        self.assertEqual([octaves[e]["levels"]["mxfp4"] for e in (8, 7, 6, 5, 4)], [2, 2, 2, 1, 0])
        blocks = npy([[1.0] * 32, [2.0**-10] * 32])
        octaves = {o["exponent"]: o for o in self.json("analyze", self.file("x.npy", blocks))["octaves"]}
        self.assertEqual([octaves[e]["levels"]["mxfp4"] for e in (0, -1, -2, -3, -4, -10)], [2, 2, 2, 1, 0, 2])

    def test_text(self) -> None:
        text = self.ok("analyze", self.file("x.npy", npy(self.lognormal(32, 32, 2.0))))
        for label in ("X ", "numbers ", "largest ", r"log2\|x\| +mean -", "scale ", "time "):
            self.assertRegex(text, f"(?m)^{label}")
        self.assertEqual((text.count("best of 4 bits"), text.count("best of 8 bits")), (1, 1))
        self.assertRegex(text, r"(?m)^4 +3 +0 +e3m0$")
        self.assertRegex(text, r"(?m)^90.00 % +\S+ +[89]\d\.\d\d %$")
        self.assertRegex(text, r"(?m)^2\^-\d+ +\d+\.\d\d % +#{22} ")
        self.assertLessEqual(max(map(len, text.splitlines())), 125)
        wide = self.ok("analyze", self.file("x.npy", npy([[1e38, 1, 1e-38]])))
        self.assertIn("a row for each 8 octaves", wide)
        self.assertRegex(wide, r"(?m)^2\^0 +33\.33 %")

    def test_odd_tensors(self) -> None:
        zeros = self.file("zeros.npy", npy([[0, 0, 0]]))
        report = self.json("analyze", zeros)
        self.assertEqual([report[key] for key in ("log2_mean", "log2_sigma", "scale")], [None] * 3)
        self.assertEqual((report["splits"], report["octaves"], report["zeros"]), ([], [], 3))
        self.assertTrue(all(p["threshold"] == 0 and p["expected"] == 1 for p in report["pruning"]))
        self.assertTrue(all(f["sqnr_db"] == "inf" and f["cosine"] is None for f in report["formats"]))
        self.assertIn("every number is zero", self.ok("analyze", zeros))
        same = self.json("analyze", self.file("same.npy", npy([[3, -3, 3]])), "--sparsity", "50")
        self.assertEqual((same["log2_sigma"], same["pruning"][0]["expected"]), (0, 0.5))
        self.assertAlmostEqual(same["pruning"][0]["threshold"], 6, 5)
        far = self.file("far.npy", npy([[3e38, 3e38, 1e-44, 1e-44]]))
        self.assertIsNone(self.json("analyze", far, "--sparsity", "95")["pruning"][0]["threshold"])
        self.assertIn("beyond FP32", self.ok("analyze", far))

    def test_refusals(self) -> None:
        x = self.file("x.npy", npy([[1, 2]]))
        for bad, part in (("100", "100"), ("50,x", "x"), ("-1", "-1"), ("50,,90", ""), ("nan", "nan"), ("5e", "5e")):
            self.refused(["analyze", x, f"--sparsity={bad}"], f'"{part}" is not a share in percent', "50,90")
        self.refused(["analyze", x, "--axis", "diagonal"], "diagonal", "rows, columns")
        self.refused(["analyze", x, "--random-bits", "25"], "--random-bits", "1 to 24")
        self.refused(["analyze", self.file("n.npy", npy([[1, math.nan]]))], "NaN")
        self.refused(["analyze", "none.npy"], "none.npy")
        self.refused(["analyze"], "X is required", "analyze --help")
        self.refused(["analyze", x, "--plot", x], "same file")
        self.refused(["analyze", x, "--plot", "p.png", "--python", "no-python"], "no-python", "--python")
        self.refused(["analyze", self.file("z.npy", npy([[0]])), "--plot", "p.png"], "zeros only", "--plot")
        self.assertEqual(sorted(path.name for path in self.dir.iterdir()), ["n.npy", "x.npy", "z.npy"])


class Formats(Program):
    def test_tables(self) -> None:
        text, table = self.ok("formats"), self.json("formats")
        names = [f["name"] for f in table["formats"]]
        self.assertIn("e4m3", names)
        self.assertEqual([g["name"] for g in table["gemm_formats"]], WITH_LUQ)
        for name in names + WITH_LUQ:
            self.assertIn(name, text)
            self.ok("formats", name)
            self.assertEqual(self.json("formats", name)["name"], name)

    def test_codes(self) -> None:
        values = [c["value"] for c in self.json("formats", "e2m1")["codes"]]
        self.assertEqual(values, [0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
        e4m3 = [c["value"] for c in self.json("formats", "e4m3")["codes"]]
        self.assertEqual((len(e4m3), e4m3[0x7E], e4m3[0x7F], e4m3[1]), (256, 448, "nan", 2**-9))
        self.assertEqual(self.json("formats", "e5m2")["codes"][0x7C]["value"], "inf")
        self.assertEqual(self.json("formats", "e8m0")["codes"][0]["value"], 2**-127)
        self.assertRegex(self.ok("formats", "e8m0"), r"(?m)^0x00 .* 2\^-127$")
        self.assertIsNone(self.json("formats", "fp32")["codes"])

    def test_unknown(self) -> None:
        self.refused(["formats", "e9m9"], "e9m9", "e4m3")


class Prune(Program):
    def rows(self, name: str) -> Rows:
        return read_npy(self.dir / name)[0]

    def test_two_of_four(self) -> None:
        w = self.file("w.npy", npy([[1, -2, 3, 0, 4, 4, 4, 4], [0, 0, 0, 5, 0, 0, 0, 0]]))
        report = self.json("prune", w, "--out", "p.npy", "--out-mask", "m.npy", "--out-prefix", "c")
        self.assertEqual(self.rows("p.npy"), [[0, -2, 3, 0, 4, 4, 0, 0], [0, 0, 0, 5, 0, 0, 0, 0]])
        self.assertEqual(self.rows("m.npy"), [[0, 1, 1, 0, 1, 1, 0, 0], [1, 0, 0, 1, 1, 1, 0, 0]])
        self.assertEqual(self.rows("c.values.npy"), [[-2, 3, 4, 4], [0, 5, 0, 0]])
        self.assertEqual(self.rows("c.metadata.npy"), [[0x49], [0x4C]])
        self.assertEqual((report["mask"], report["method"], report["kept"]), ("2:4", "greedy", 0.5))
        self.assertAlmostEqual(report["relative_error"], (1 + 16 + 16) / (14 + 64 + 25))
        self.assertAlmostEqual(report["kept_magnitude"], (5 + 8 + 5) / (6 + 16 + 5))
        self.assertRegex(self.ok("prune", w, "--mask", "1:2"), r"(?m)^mask +1:2, greedy$")

    def test_unbiased(self) -> None:
        w = self.file("w.npy", npy([[1, 1, 1, 1]] * 500))
        report = self.json("prune", w, "--method", "mvue", "--seed", "3", "--out", "p.npy")
        self.assertEqual((report["expected_relative_error"], report["relative_error"]), (1.0, 1.0))
        rows = self.rows("p.npy")
        self.assertTrue(all(sorted(row) == [0, 0, 2, 2] for row in rows))
        self.assertEqual(report["random_bits"], 16)
        self.assertIn("expected", self.ok("prune", w, "--method", "approx-mvue"))

    def test_transposable(self) -> None:
        rng = random.Random(5)
        w = self.file("w.npy", npy([[rng.gauss(0, 1) for _ in range(16)] for _ in range(8)]))
        for name, n, m in (("2:4-T", 2, 4), ("4:8-T", 4, 8)):
            self.json("prune", w, "--mask", name, "--out-mask", "m.npy")
            mask = self.rows("m.npy")
            for row in range(0, 8, m):
                for col in range(0, 16, m):
                    block = [line[col : col + m] for line in mask[row : row + m]]
                    self.assertLessEqual(max(map(sum, block)), n)
                    self.assertLessEqual(max(map(sum, zip(*block, strict=True))), n)

    def test_refusals(self) -> None:
        w = self.file("w.npy", npy([[1, 2, 3, 4]]))
        self.refused(["prune", w, "--mask", "5:4"], "5:4", "2:4-T")
        self.refused(["prune", w, "--mask", "4:8"], "4 columns", "multiple of 8")
        self.refused(["prune", w, "--mask", "2:4-T"], "1 rows", "multiple of 4")
        self.refused(["prune", w, "--method", "mvua"], "mvua", "greedy, mvue, approx-mvue")
        self.refused(["prune", w, "--mask", "1:4", "--method", "mvue"], "1:2 and 2:4")
        self.refused(["prune", w, "--mask", "1:4", "--out-prefix", "c"], "--out-prefix", "4:8pair")
        self.refused(["prune", w, "--random-bits", "33"], "--random-bits", "1 to 32")
        self.refused(["prune", w, "--out", w], "same file")
        self.refused(["prune", self.file("n.npy", npy([[1, math.nan, 3, 4]]))], "NaN")


class Codec(Program):
    """compress, decompress and codec-report; the format of the file and the codec itself are tested in tests/model."""

    def sparse(self, count: int, low: int, high: int, seed: int) -> list[int]:
        rng = random.Random(seed)
        return [min(high, max(low, round(rng.gauss(0, 9)))) for _ in range(count)]

    def round_trip(self, content: bytes, *args: str) -> tuple[tuple[int, ...], list[float], str, dict]:
        report = self.json("compress", self.file("x.npy", content), "--out", "x.ngfm", *args)
        self.assertEqual(report["bytes"], (self.dir / "x.ngfm").stat().st_size)
        self.assertAlmostEqual(report["bits_per_value"], 8 * report["bytes"] / report["values"])
        back = self.json("decompress", "x.ngfm", "--out", "y.npy")
        for key in ("values", "signed", "step", "tile", "tiles", "zero_run_symbols", "bits_per_value"):
            self.assertEqual(back[key], report[key], key)
        self.assertEqual(back["file"], {"path": "x.ngfm", "bytes": report["bytes"]})
        shape, values, kind = read_npy_array(self.dir / "y.npy")
        self.assertEqual(tuple(back["shape"]), shape)
        return shape, values, kind, report

    def test_bytes_come_back(self) -> None:
        for kind, low in (("|u1", 0), ("|i1", -128)):
            for shape in ((1,), (777,), (3, 5), (2, 4, 9, 9), (2, 1, 3, 1, 2, 1, 2, 5)):
                with self.subTest(kind=kind, shape=shape):
                    x = self.sparse(math.prod(shape), low, 127, 1)
                    found = self.round_trip(npy_array(shape, x, kind), "--tile", "64")
                    self.assertEqual(found[:3], (shape, x, kind))
                    report = found[3]
                    self.assertEqual((report["tile"], report["tiles"]), (64, -(-len(x) // 64)))
                    self.assertEqual((report["bits"], report["step"], report["sqnr_db"]), (None, None, "inf"))
                    self.assertEqual((report["map"]["dtype"], report["signed"]), ("int8" if low else "uint8", low < 0))

    def test_fortran_order(self) -> None:
        x = self.sparse(60, -128, 127, 2)
        turned = [x[(i * 4 + j) * 5 + k] for k in range(5) for j in range(4) for i in range(3)]
        self.assertEqual(self.round_trip(npy_array((3, 4, 5), turned, "|i1", fortran=True))[:2], ((3, 4, 5), x))

    def test_numbers_are_quantized_under_one_step(self) -> None:
        rng = random.Random(3)
        x = [float32(rng.gauss(0, 1)) for _ in range(4 * 6 * 7)]
        for kind in ("<f4", ">f4", "<f8"):
            for bits, values in ((2, x), (5, x), (8, x), (8, [abs(v) for v in x]), (3, [abs(v) for v in x])):
                top = 2 ** (bits - 1) - 1 if min(values) < 0 else 2**bits - 1
                step = float32(max(map(abs, values)) / top)
                shape, found, stored, report = self.round_trip(npy_array((4, 6, 7), values, kind), "--bits", str(bits))
                self.assertEqual((shape, stored, report["bits"], report["step"]), ((4, 6, 7), "<f4", bits, step))
                self.assertEqual(found, [float32(min(top, max(-top, round(v / step))) * step) for v in values])
                noise = math.fsum((a - b) ** 2 for a, b in zip(found, values, strict=True))
                signal = math.fsum(v * v for v in values)
                self.assertAlmostEqual(report["sqnr_db"], 10 * math.log10(signal / noise), places=6)
        self.assertEqual(self.round_trip(npy_array((5,), [0] * 5))[1], [0] * 5)
        self.assertEqual(
            self.round_trip(npy_array((3,), [-2, 1, 0], "<i4"), "--bits", "2")[1], [-2, 0, 0]
        )  # 1/2, to even

    def test_zero_runs(self) -> None:
        x = self.file("x.npy", npy_array((100, 100), [0] * 9900 + [1] * 100, "|u1"))
        long = self.json("compress", x, "--out", "x.ngfm", "--no-zero-runs")
        short = self.json("compress", x, "--out", "y.ngfm")
        self.assertEqual((long["zero_run_symbols"], short["zero_run_symbols"]), (0, 7))
        self.assertLess(short["bytes"], long["bytes"] / 2)

    def test_report(self) -> None:
        """Against what the encoders are defined to make, counted here."""
        for kind, low in (("|u1", 0), ("|i1", -128)):
            x = self.sparse(4000, low, 127, 4)
            name = self.file("x.npy", npy_array((4, 1000), x, kind))
            report = self.json("codec-report", name, "--tile", "512")
            bits = report["bits_per_value"]
            self.assertEqual(list(bits), ["raw", "entropy", "zvc", "zero_rle", "ebpc", "huffman", "narrowgauge"])
            self.assertEqual((bits["raw"], report["tile"], report["bits"]), (8, 512, None))
            shares = [x.count(value) / len(x) for value in set(x)]
            self.assertAlmostEqual(bits["entropy"], -math.fsum(p * math.log2(p) for p in shares), places=12)
            self.assertAlmostEqual(bits["zvc"] * len(x), len(x) + 8 * sum(v != 0 for v in x))
            runs = [-(-len(list(run)) // 16) for zero, run in itertools.groupby(x, lambda v: v == 0) if zero]
            rle = 5 * sum(runs) + 9 * sum(v != 0 for v in x)
            self.assertAlmostEqual(bits["zero_rle"] * len(x), -(-rle // 8) * 8)
            for key, more in (("huffman", ["--no-zero-runs"]), ("narrowgauge", [])):
                made = self.json("compress", name, "--out", "x.ngfm", "--tile", "512", *more)
                self.assertEqual(bits[key], made["bits_per_value"])
        # Nine zeros and a 3, as in tests/model/codec_test.cpp: 1 byte of zeros and 5 of planes.
        report = self.json("codec-report", self.file("x.npy", npy_array((10,), [0] * 9 + [3], "|i1")))
        self.assertEqual(report["bits_per_value"]["ebpc"], 8 * 6 / 10)
        quantized = self.json("codec-report", self.file("x.npy", npy([[1, -7, 2]])), "--bits", "4")
        self.assertEqual((quantized["bits"], quantized["step"], quantized["signed"]), (4, 1, True))

    def mixed(self, seed: int) -> list[float]:
        """3 images of 8 channels of 5 x 4, which are mixtures of two sources."""
        rng = random.Random(seed)
        mixture = [(rng.gauss(0, 1), rng.gauss(0, 1)) for _ in range(8)]
        sources = [[(rng.gauss(0, 1), rng.gauss(0, 1)) for _ in range(20)] for _ in range(3)]
        return [float32(a * s + b * t + rng.gauss(0, 0.01)) for image in sources for a, b in mixture for s, t in image]

    def test_transform(self) -> None:
        wanted = self.mixed(1)
        x, cal = (self.file(name, npy_array((3, 8, 5, 4), wanted)) for name in ("x.npy", "cal.npy"))
        made = self.json("compress", x, "--out", "x.ngft", "--transform", "klt", "--axis", "1", "--tables", "2")
        again = self.json("compress", x, "--out", "y.ngft", "--transform", "klt", "--tables", "2", "--calibration", cal)
        self.assertEqual((self.dir / "x.ngft").read_bytes(), (self.dir / "y.ngft").read_bytes())
        self.assertEqual((made["axis"], made["group"], made["relu"], made["bits"]), (1, 8, True, 8))
        self.assertEqual(made["step"], again["step"])
        back = self.json("decompress", "x.ngft", "--out", "y.npy")
        for key in ("values", "axis", "group", "relu", "step", "output_step", "tables", "bits_per_value"):
            self.assertEqual(back[key], made[key], key)
        shape, found, _ = read_npy_array(self.dir / "y.npy")
        self.assertEqual(shape, (3, 8, 5, 4))
        self.assertLess(max(abs(a - max(b, 0)) for a, b in zip(found, wanted, strict=True)), made["error_bound"])
        signal = math.fsum(max(v, 0) ** 2 for v in wanted)
        noise = math.fsum((a - max(b, 0)) ** 2 for a, b in zip(found, wanted, strict=True))
        self.assertAlmostEqual(made["sqnr_db"], 10 * math.log10(signal / noise), places=4)
        linear = self.json("compress", x, "--out", "x.ngft", "--transform", "identity", "--no-relu", "--group", "4")
        self.assertEqual((linear["relu"], linear["group"]), (False, 4))
        self.assertRegex(
            self.ok("compress", x, "--out", "x.ngft", "--transform", "klt"), r"(?m)^codes +components in 1 "
        )
        self.assertRegex(self.ok("decompress", "x.ngft", "--out", "y.npy"), r"(?m)^map +3 x 8 x 5 x 4 float32, comp")
        self.refused(["compress", x, "--out", "z", "--transform", "dct"], "--transform", "klt, identity")
        self.refused(["compress", x, "--out", "z", "--group", "4"], "--transform")
        self.refused(["compress", x, "--out", "z", "--transform", "klt", "--group", "3"], "x.npy: group is 3")
        self.refused(["compress", x, "--out", "z", "--transform", "klt", "--axis", "4"], "axis is 4", "4 dimensions")
        (self.dir / "x.ngft").write_bytes((self.dir / "x.ngft").read_bytes()[:-1])
        self.refused(["decompress", "x.ngft", "--out", "z"], "x.ngft: ")

    def test_report_of_a_transform(self) -> None:
        x = self.file("x.npy", npy_array((3, 8, 5, 4), self.mixed(2)))
        report = self.json("codec-report", x, "--bits", "4", "--axis", "1")
        bits = report["bits_per_value"]
        self.assertEqual(list(bits)[-3:], ["huffman_pre_relu", "pca_huffman", "transform"])
        self.assertGreater(report["mse"], 0)
        self.assertTrue(all(value > 0 for value in bits.values()))
        self.assertRegex(self.ok("codec-report", x, "--bits", "4", "--axis", "1"), r"(?m)^pca_huffman +\d")

    def test_exponents(self) -> None:
        codes = [0x3F80, 0xBE00, 0x0001, 0x8000, 0x4049] * 100
        self.file(
            "x.npy",
            header("{'descr': '<V2', 'fortran_order': False, 'shape': (500,), }") + struct.pack("<500H", *codes),
        )
        made = self.json("compress", "x.npy", "--out", "x.ngfe", "--exponents")
        self.assertEqual((made["values"], made["sqnr_db"]), (500, "inf"))
        back = self.json("decompress", "x.ngfe", "--out", "y.npy")
        self.assertEqual(back["format"], "bf16")
        wide = [struct.unpack("<f", struct.pack("<I", code << 16))[0] for code in codes]
        self.assertEqual(read_npy_array(self.dir / "y.npy")[:2], ((500,), wide))
        y = self.file("f.npy", npy_array((2,), [1, 2]))
        self.refused(["compress", y, "--out", "z", "--exponents"], "float32", "bfloat16")
        self.refused(["compress", y, "--out", "z", "--exponents", "--bits", "4"], "--bits")

    def test_text_reports(self) -> None:
        self.file("x.npy", npy_array((2, 3, 4), [0.5] * 24))
        text = self.ok("compress", "x.npy", "--out", "x.ngfm", "--bits", "4")
        self.assertRegex(text, r"(?m)^map +2 x 3 x 4 float32  \(x.npy\)$")
        self.assertRegex(text, r"(?m)^codes +4 bits, unsigned, step 0.0333333$")
        self.assertRegex(text, r"(?m)^file +\d+ bytes, 1 tile of 4096 values, ")
        self.assertRegex(
            self.ok("decompress", "x.ngfm", "--out", "y.npy"), r"(?m)^map +2 x 3 x 4 float32, step 0.0333333$"
        )
        self.assertRegex(self.ok("codec-report", "x.npy"), r"(?m)^zero_rle +\d\S* +runs of up to 16 zeros$")
        self.file("x.npy", npy_array((24,), [5] * 24, "|u1"))
        self.assertRegex(self.ok("compress", "x.npy", "--out", "x.ngfm"), r"(?m)^codes +the values as they are")

    def test_refusals(self) -> None:
        x = self.file("x.npy", npy_array((2, 3, 4), range(24)))
        b = self.file("b.npy", npy_array((2, 3, 4), range(24), "|u1"))
        self.ok("compress", x, "--out", "x.ngfm")
        before = {path.name: path.read_bytes() for path in self.dir.iterdir()}
        for command in (["compress", "--out", "y.ngfm"], ["codec-report"]):
            self.refused([*command, b, "--bits", "4"], "--bits is 4", "b.npy", "uint8", "expected no --bits")
            self.refused([*command, x, "--bits", "9"], '--bits "9"', "2 to 8")
            for bad in ("63", "1048577"):
                self.refused([*command, x, "--tile", bad], "--tile", bad, "64 to 1048576")
            self.refused([*command, "x.ngfm"], "x.ngfm", "not an .npy file")
            for content, words in (
                (npy_array((1,) * 9, [1]), ("9 dimensions", "1 to 8")),
                (npy_array((), [1]), ("0 dimensions", "1 to 8")),
                (npy_array((2, 0, 3), []), ("empty", "2 x 0 x 3")),
                (npy_array((2, 3, 4), [*range(23), math.nan]), ("nan at [1, 2, 3]", "finite")),
                (npy_array((3,), [1, 1e39, 1], "<f8"), ("1e+39 at [1]", "float32")),
                (
                    npy_array((3,), [1e-39, 0, 0], "<f8"),
                    ("bad.npy: ", "magnitude of the map is 1e-39", "scale the map"),
                ),
                (npy_array((2, 3, 4), range(24))[:-1], ("truncated",)),
                (header("{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }") + bytes(8), ("<c8",)),
            ):
                self.refused([*command, self.file("bad.npy", content)], "bad.npy", *words)
        self.refused(["compress", x], "--out is required")
        self.refused(["compress", x, "--out", x], "same file")
        self.refused(["compress", x, "--out", "no/x.ngfm"], "no/x.ngfm", "No such file")
        self.refused(["compress", x, "--out", ""], "empty name")
        (self.dir / "bad.npy").unlink()
        self.assertEqual({path.name: path.read_bytes() for path in self.dir.iterdir()}, before)

    def test_broken_files_are_refused(self) -> None:
        x = self.sparse(300, -128, 127, 6)
        self.ok("compress", self.file("x.npy", npy_array((3, 100), x, "|i1")), "--out", "x.ngfm", "--tile", "64")
        self.file("y.npy", b"precious")
        whole = (self.dir / "x.ngfm").read_bytes()
        out = ["--out", "y.npy"]
        self.refused(["decompress", "x.npy", *out], "x.npy: ", "NGFM", "narrowgauge compress")
        self.refused(["decompress", "missing.ngfm", *out], "missing.ngfm", "No such file", "compressed feature map")
        self.refused(["decompress", ".", *out], "directory")
        self.refused(["decompress", "x.ngfm", "--out", "x.ngfm"], "same file")
        self.refused(["decompress", "x.ngfm"], "--out is required")
        rng = random.Random(7)
        for size in {0, 3, 20, 27, 28, len(whole) - 1, *(rng.randrange(len(whole)) for _ in range(30))}:
            self.refused(["decompress", self.file("bad.ngfm", whole[:size]), *out], "bad.ngfm: ")
        for _ in range(100):
            raw = bytearray(whole)
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
            self.refused(["decompress", self.file("bad.ngfm", bytes(raw)), *out], "bad.ngfm: ")
        self.refused(["decompress", self.file("bad.ngfm", whole + bytes(4)), *out], "bad.ngfm: ", "corrupt")
        self.assertEqual((self.dir / "y.npy").read_bytes(), b"precious")


class Help(Program):
    def test_help_teaches(self) -> None:
        for args in ([], ["gemm"], ["engines"], ["quantize"], ["quantize-affine"], ["quantize-blocks"], ["softmax"],
                     ["analyze"], ["prune"], ["compress"], ["decompress"],
                     ["codec-report"], ["train"], ["measure"], ["calibrate"], ["checkpoint"],
                     ["retrieval"], ["vectors"],
                     ["formats"], ["units"], ["energy"]):  # fmt: skip
            text = self.ok(*args, "--help")
            self.assertIn("Example", text, args)
            self.assertLessEqual(max(map(len, text.splitlines())), 125, args)
        for word in ("utilization", "SQNR", "float32", "exit code 1"):
            self.assertIn(word, self.ok("gemm", "--help"))
        self.assertRegex(self.ok("--version"), r"\Anarrowgauge \d+\.\d+\.\d+\n\Z")


class BadInput(Program):
    def setUp(self) -> None:
        super().setUp()
        self.good = self.file("good.npy", npy([[1, 2], [3, 4]]))

    def refused_file(self, content: bytes, *expected: str) -> None:
        for args in (["gemm", "x.npy", self.good], ["gemm", self.good, "x.npy"], ["quantize", "x.npy"]):
            self.file("x.npy", content)
            self.refused(args, "x.npy", *expected)

    def test_arguments(self) -> None:
        good = self.good
        self.refused([], "--help")
        self.refused(["frobnicate"], "frobnicate", "--help")
        self.refused(["gemm"], "A is required", "gemm --help")
        self.refused(["train", "--python", "no-python", "fp8"], "no-python", "--python")
        self.refused(["gemm", good], "B is required")
        self.refused(["gemm", good, good, good], good)
        self.refused(["gemm", good, good, "--frobnicate"], "--frobnicate", "gemm --help")
        self.refused(["gemm", good, good, "--format"], "--format")
        self.refused(["gemm", good, good, "--format", "fp5"], "fp5", *WITH_LUQ)
        luq = ["gemm", good, good, "--format", "luq"]
        self.refused([*luq, "--rounding", "toward_zero"], "a rounding that luq does not have", "stochastic")
        self.refused([*luq, "--rule", "vendor"], "vendor rule", "nvfp4 only")
        self.refused([*luq, "--dialect", "te"], "--format luq", "te")
        self.refused([*luq, "--engine", "systemc", "--tile", "large"], 'tile "large" does not have luq; expected')
        self.refused(["gemm", good, good, "--engine", "abacus"], "abacus", "model", "rtl")
        self.refused(["gemm", good, good, "--rule", "golden"], "golden", "exact", "vendor")
        self.refused(["gemm", good, good, "--rounding", "up"], "up", "nearest_even", "stochastic")
        self.refused(["gemm", good, good, "--random-bits", "0"], "--random-bits")
        self.refused(["gemm", good, good, "--seed", "x"], "--seed", "x")
        self.refused(["gemm", good, good, "--threads", "-1"], "--threads")
        self.refused(["gemm", good, good, "--trace", "w.fst"], "--trace", "--engine rtl")
        self.refused(["gemm", good, good, "--format", "mxfp4", "--rule", "vendor"], "vendor", "nvfp4")
        self.refused(["quantize", good, "--axis", "diagonal"], "diagonal", "rows", "columns")
        self.refused(["quantize", good, "--format", "fp8_e4m3_e5m2"], "fp8_e4m3_e5m2", "fp8_e4m3 ", "fp8_e5m2")
        self.refused(["units", "--frobnicate"], "--frobnicate")
        if RTL:
            self.refused(["gemm", good, good, "--format", "fp8_e4m3fnuz", "--engine", "rtl"], "e4m3fnuz", "model")
            self.refused(["gemm", good, good, "--engine", "rtl", "--trace", "no/w.fst"], "no/w.fst")
        else:
            self.refused(["gemm", good, good, "--engine", "rtl"], "rtl", "NG_RTL", "model")

    def test_shapes(self) -> None:
        wide = self.file("wide.npy", npy([[1, 2, 3]]))
        self.refused(["gemm", wide, self.good], "wide.npy is 1 x 3", "good.npy is 2 x 2")
        for shape, words in (
            ("()", "0 dimensions"),
            ("(3,)", "1 dimension (3)"),
            ("(1, 2, 3)", "3 dimensions (1 x 2 x 3)"),
        ):
            self.refused_file(
                header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}") + bytes(24), words, "2"
            )
        for shape in ("(0, 3)", "(3, 0)", "(0, 0)"):
            self.refused_file(header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}"), "empty")
        for shape, extra in (("(4611686018427387904, 8)", "addressed"), ("(100000, 100000)", "truncated")):
            self.refused_file(
                header(f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}") + bytes(64), extra
            )

    def test_dtypes(self) -> None:
        for descr in (
            "'<c8'",
            "'>c16'",
            "'<U5'",
            "'|S3'",
            "'|O'",
            "'<M8[ns]'",
            "'<f16'",
            "'|V3'",
            "'<V4'",
            "'<f3'",
            "'<i99999999999'",
            "[('x', '<f4'), ('y', '<i4')]",
        ):
            text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': (1, 2), }}"
            self.refused_file(header(text) + bytes(64), descr.strip("'"), "astype(numpy.float32)")

    def test_bytes_that_do_not_say_their_type(self) -> None:
        for descr in ("<V1", "|V1"):
            text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': (1, 2), }}"
            self.refused_file(header(text) + bytes(2), f"'{descr}'", "does not say which", "astype(numpy.float32)")

    def test_not_npy(self) -> None:
        self.refused(["quantize", "missing.npy"], "missing.npy", "No such file")
        self.refused(["quantize", "."], "directory")
        self.refused_file(b"", "signature")
        self.refused_file(b"1,2\n3,4\n", "signature")
        self.refused_file(b"PK\x03\x04 and so on", ".npz")
        self.refused_file(b"\x93NUMPY\x07\x00\x10\x00" + bytes(64), "version 7")
        self.refused_file(b"\x93NUMPY\x02\x00\xff\xff\xff\x7f" + bytes(64), "header of 2147483647 bytes")
        for text in (
            "",
            "{",
            "}",
            "{}",
            "{'descr': '<f4'}",
            "no dictionary",
            "{'descr': '<f4', 'fortran_order': False, 'shape': }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (a, b), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2), }",
            "{'descr': '<f4', 'fortran_order': 2, 'shape': (1, 2), }",
            "{'descr': , 'fortran_order': False, 'shape': (1, 2), }",
            "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999, 2), }",
        ):
            self.refused_file(header(text) + bytes(64), "header")

    def test_truncated_anywhere(self) -> None:
        whole = npy([[1, 2, 3], [4, 5, 6]])
        for size in range(len(whole)):
            self.file("x.npy", whole[:size])
            self.refused(["quantize", "x.npy"], "x.npy", "signature" if size < 6 else "truncated")
        self.refused_file(whole + b"\0", "exactly one array")

    def test_damaged_headers(self) -> None:
        """Whatever stands in the header: an answer or a sentence, never a crash."""
        seed = 11
        rng = random.Random(seed)
        whole = npy([[1, 2, 3], [4, 5, 6]])
        text = range(8, len(whole) - 24)
        refusals = 0
        for trial in range(300):
            raw = bytearray(whole)
            for _ in range(rng.randint(1, 4)):
                raw[rng.choice(text)] = rng.choice(b"(){},'<>|:0123456789fiubc \n\x00\xff")
            self.file("x.npy", bytes(raw))
            done = self.run_program("quantize", "x.npy")
            where = f"seed {seed}, trial {trial}: {bytes(raw[:-24])!r}: {done.stderr}"
            self.assertIn(done.returncode, (0, 2), where)
            self.assertEqual(len(done.stderr.splitlines()), 1 if done.returncode else 0, where)
            self.assertNotIn("unexpected fault", done.stderr, where)
            refusals += done.returncode == 2
        self.assertGreater(refusals, 100)

    def test_not_finite(self) -> None:
        for value, text in ((math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf")):
            for dtype in ("<f2", "<f4", "<f8"):
                self.refused_file(npy([[1, 2], [3, value]], dtype), text, "row 1, column 1")
                self.refused_file(npy([[1, value], [3, 4]], dtype, fortran=True), text, "row 0, column 1")
        self.refused_file(npy([[1, -1e39], [3, 4]], "<f8"), "-1e+39", "row 0, column 1", "float32", "scale")

    def test_outputs(self) -> None:
        self.refused(["gemm", self.good, self.good, "--out", "no/folder/c.npy"], "no/folder/c.npy", "No such file")
        self.refused(["gemm", self.good, self.good, "--out", "."], "directory")
        self.refused(["quantize", self.good, "--out-prefix", "no/q"], "no/q.codes.npy", "folder")
        if Path("/dev/full").exists():
            self.refused(["gemm", self.good, self.good, "--out", "/dev/full"], "/dev/full", "no regular file")
        if os.geteuid() != 0:  # root may write anywhere
            (self.dir / "locked").mkdir()
            (self.dir / "locked").chmod(stat.S_IRUSR | stat.S_IXUSR)
            self.refused(["gemm", self.good, self.good, "--out", "locked/c.npy"], "locked/c.npy", "Permission denied")

    def test_refusal_leaves_output_alone(self) -> None:
        self.file("c.npy", b"precious")
        self.file("x.npy", npy([[math.nan, 1], [1, 1]]))
        self.refused(["gemm", "x.npy", self.good, "--out", "c.npy"], "nan")
        self.assertEqual((self.dir / "c.npy").read_bytes(), b"precious")


class Energy(Program):
    """power/tests holds what the gauge answers; here is how the program asks and prints."""

    def test_answers_and_their_source(self) -> None:
        flips = self.json("energy", "--format", "int4", "--mode", "pann_paper")
        self.assertEqual((flips["value"], flips["unit"]), (36, "flip"))
        self.assertIn("36 flips", self.ok("energy", "--format", "int4", "--mode", "pann_paper", "--explain"))
        sorted_flips = ["energy", "--format", "int4", "--a-unsigned", "--schedule", "sorted", "--mode", "pann_paper"]
        self.assertEqual(self.json(*sorted_flips)["value"], 24)
        products = ["energy", "--format", "integer", "--a-width", "8", "--b-width", "2", "--products-only"]
        self.assertEqual(self.json(*products, "--mode", "pann_paper", "--count", "10")["value"], 370)
        cited = self.json("energy", "--format", "int8", "--technology", "horowitz_45nm", "--explain")
        self.assertAlmostEqual(cited["value"], 0.3e-12, delta=1e-18)
        self.assertEqual(cited["rung"], "cited")
        text = self.ok("energy", "--format", "int8", "--technology", "tpuv4i_7nm")
        self.assertIn("100 fJ", text)
        self.assertIn("Unverified", text)
        sram = ["energy", "--memory", "sram", "--technology", "horowitz_45nm", "--size-bytes", "32768", "--bits", "64"]
        self.assertAlmostEqual(self.json(*sram)["value"], 20e-12, delta=1e-18)
        events = self.json("energy", "--technology", "ice40up", "--events", "net=10", "clock=1", "--explain")
        self.assertEqual(events["rung"], "L5")
        self.assertEqual(len(events["explanation"]["parts"]), 2)

    def test_formats_of_each_operand(self) -> None:
        both = self.json("energy", "--format", "int4", "--rung", "L0")
        self.assertEqual(self.json("energy", "--a-format", "int4", "--b-format", "int4", "--rung", "L0"), both)
        luq = self.json("energy", "--format", "luq", "--lanes", "16", "--rung", "L0")
        pair = ("energy", "--a-format", "int4", "--b-format", "fp4_e3m0", "--lanes", "16", "--rung", "L0")
        self.assertEqual(self.json(*pair), luq)
        self.assertTrue(luq["in_range"])
        self.assertLess(luq["each"], self.json("energy", "--format", "nvfp4", "--rung", "L0")["each"])
        self.refused(["energy", "--format", "luq", "--lanes", "12", "--rung", "L0"], "expected a power of two")
        pair = ("energy", "--a-format", "int4", "--b-format", "fp4_e2m1")
        for rest in ((), ("--rung", "L0"), ("--technology", "horowitz_45nm"), ("--technology", "ice40up")):
            self.refused([*pair, *rest], "of int4 x fp4_e2m1 there is neither a unit nor a calibration yet")
        self.refused([*pair], "osu018 has units of, in both operands: bf16, fp16, fp32, fp8_e4m3")
        self.refused(["energy", "--a-format", "int4"], "b_format is missing")
        self.refused([*pair, "--format", "int4"], 'a_format is "int4"; expected left out, or format')

    def test_counted_on_matrices(self) -> None:
        rng = random.Random(1)
        self.file("a.npy", npy([[rng.gauss(0, 1) for _ in range(64)] for _ in range(8)]))
        self.file("b.npy", npy([[rng.gauss(0, 1) for _ in range(8)] for _ in range(64)]))
        self.file("zero.npy", npy([[0] * 8 for _ in range(64)], "<i1"))
        self.file("codes.npy", npy([[rng.randrange(-128, 128) for _ in range(64)] for _ in range(8)], "<i1"))
        for name in ("int8", "fp8_e4m3", "nvfp4"):
            question = ["energy", "--format", name, "--rung", "L1", "--a", "a.npy", "--b"]
            counted = self.json(*question, "b.npy")
            expected = self.json(
                "energy", "--format", name, "--rung", "L0", "--a-values", "gauss", "--b-values", "gauss"
            )
            self.assertEqual((counted["rung"], counted["technology"]), ("L1", "osu018"))
            self.assertIn("64 of the 64 outputs", str(counted["notes"]))
            self.assertAlmostEqual(counted["value"] / expected["value"], 1, delta=0.3)
            self.assertLess(self.json(*question, "zero.npy")["value"], 0.7 * counted["value"])
        codes = self.json("energy", "--format", "int8", "--rung", "L1", "--a", "codes.npy", "--b", "zero.npy")
        self.assertIn("taken for codes", str(codes["notes"]))
        self.refused(
            ["energy", "--format", "int8", "--rung", "L1", "--a", "a.npy", "--b", "a.npy"], "64 columns", "8 rows"
        )
        self.refused(["energy", "--format", "int4", "--rung", "L1", "--a", "codes.npy", "--b", "zero.npy"], "-8 to 7")

    def test_lists(self) -> None:
        technologies = {t["name"]: t for t in self.json("energy", "--technologies")["technologies"]}
        self.assertLessEqual({"osu018", "horowitz_45nm", "tpuv4i_7nm", "ice40up"}, technologies.keys())
        self.assertIn("horowitz_45nm", self.ok("energy", "--technologies"))
        self.assertIsInstance(self.json("energy", "--units")["units"], list)
        self.ok("energy", "--units")
        words = self.json("energy", "--list")["words"]
        self.assertIn("nvfp4", words["format"])
        self.assertIn("sram of tpuv4i_7nm", words["memory"])
        self.assertIn("muxed", self.ok("energy", "--list"))

    def test_a_stream_goes_on_after_a_bad_line(self) -> None:
        good = '{"format": "int4", "mode": "pann_paper", "id": "x"}'
        done = self.run_program("energy", "--jsonl", stdin=f"{good}\nnonsense\n{good}\n")
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        first, bad, last = map(json.loads, done.stdout.splitlines())
        self.assertEqual((first["value"], first["id"]), (36, "x"))
        self.assertEqual(first, last)
        self.assertEqual(bad["error"]["line"], 2)
        done = self.run_program(
            "energy", "--jsonl", stdin='{"format": "int8", "technology": ""}\n{"format": "int8", "a_values": "gauss"}\n'
        )
        empty, flag = (json.loads(line)["error"]["message"] for line in done.stdout.splitlines())
        self.assertIn('technology is ""', empty)
        self.assertIn('"a": "gauss"', flag)
        done = self.run_program("energy", "--jsonl", stdin=f"{good}\n")
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 1))

    def test_a_stream_answers_while_it_is_open(self) -> None:
        with subprocess.Popen([PROGRAM, "energy", "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            assert program.stdin
            assert program.stdout
            for width, flips in (("int4", 36), ("uint2", 10)):
                program.stdin.write(f'{{"format": "{width}", "mode": "pann_paper"}}\n'.encode())
                program.stdin.flush()
                self.assertEqual(json.loads(program.stdout.readline())["value"], flips)

    def test_wrong_questions(self) -> None:
        self.refused(["energy"], "--format int8", "energy --help")
        self.refused(["energy", "--format", "int88"], "format", "int88", "nvfp4")
        self.refused(["energy", "--format", "int", "--a-width", "17"], "a_width is 17", "1 to 16")
        self.refused(["energy", "--format", "int8", "--lanes", "many"], "lanes", "many", "1 to 1024")
        self.refused(["energy", "--format", "int8", "--count", "-1"], "count is -1", "not negative")
        self.refused(["energy", "--format", "int8", "--count", "nan"], "count", "nan", "a number")
        self.refused(["energy", "--format", "int8", "--technology", "tsmc1"], "tsmc1", "osu018")
        self.refused(["energy", "--format", "int8", "--technology", "\udcff"], "technology", "osu018")
        self.refused(["energy", "--format", "int8", "--rung", "L1"], "L1", "--a A.npy")
        self.refused(["energy", "--format", "int8", "--a", "a.npy", "--b", "b.npy"], "--rung L1")
        self.refused(["energy", "--format", "int8", "--calibration", "none.json"], "none.json")
        self.refused(["energy", "--jsonl", "--format", "int8"], "--jsonl", "format")
        self.refused(["energy", "--export", "accelergy"], "--out")
        self.refused(["energy", "--export", "excel", "--out", "."], "excel", "accelergy, zigzag or hwcomponents")
        self.refused(["energy", "--technology", "ice40up", "--events", "net"], "events")
        self.refused(["energy", "--format", "int8", "--technology", ""], "technology", "leave it out")
        self.refused(["energy", "--export", "zigzag", "--technology", "", "--out", "x"], "--technology", "empty")

    def test_exported_tables(self) -> None:
        """Read back as their tools do: table rows by attributes, a component class by importing it."""
        for technology in ("horowitz_45nm", "tpuv4i_7nm"):
            question = ["energy", "--technology", technology, "--format"]
            int8 = self.json(*question, "int8")["each"]
            fp16 = self.json(*question, "fp16")["each"]
            export = ["energy", "--export", "accelergy", "--technology", technology, "--out", "tables"]
            listed = self.ok(*export)
            self.assertEqual(self.json(*export)["files"], listed.split())  # and writes them again
            self.assertEqual({str(p.relative_to(self.dir)) for p in (self.dir / "tables").rglob("*.*")},
                             set(listed.split()))  # fmt: skip
            with (self.dir / "tables/data/intmac.csv").open() as file:
                rows = [r for r in csv.DictReader(file) if r["datawidth"] == "8" and r["action"] == "mac_random"]
            self.assertEqual(rows[0]["technology"], technology)
            self.assertAlmostEqual(float(rows[0]["energy"]) * 1e-12, int8, delta=1e-6 * int8)
            with (self.dir / "tables/data/fpmac.csv").open() as file:
                rows = [r for r in csv.DictReader(file) if (r["exponent"], r["mantissa"]) == ("5", "10")]
            self.assertAlmostEqual(float(rows[0]["energy"]) * 1e-12, fp16, delta=1e-6 * fp16)
            provenance = json.loads((self.dir / "tables/provenance.json").read_text())
            self.assertEqual(provenance[0]["answer"]["technology"], technology)

            self.ok("energy", "--export", "hwcomponents", "--technology", technology, "--out", "component")
            library = types.ModuleType("hwcomponents")
            library.ComponentModel = type("ComponentModel", (), {"__init__": lambda self, area, leak_power: None})
            library.action = lambda function: function
            library.ActionCost = types.SimpleNamespace
            sys.modules["hwcomponents"] = library
            names: dict = {}
            exec((self.dir / "component/hwcomponents_narrowgauge.py").read_text(), names)
            cost = names["NarrowgaugeMac"]("fp16").compute()
            self.assertEqual(cost.energy, fp16)
            self.assertTrue(math.isnan(cost.latency) and math.isnan(cost.throughput))  # cited: no record has them
            self.assertIn("hwcomponents_narrowgauge", (self.dir / "component/pyproject.toml").read_text())
            self.assertRaises(AssertionError, names["NarrowgaugeMac"], "fp17")

            self.ok("energy", "--export", "zigzag", "--technology", technology, "--out", "hardware")
            text = (self.dir / "hardware/narrowgauge_int8.yaml").read_text()
            unit_energy = float(text.split("unit_energy: ")[1].split("\n")[0])
            self.assertAlmostEqual(unit_energy * 1e-12, int8, delta=1e-6 * int8)
            self.assertIn("sram_1MB", text)
            self.assertIn("unit_area: .nan\n", text)

    def test_exported_areas(self) -> None:
        """Area, leakage and period of the recorded unit, a lane's share, in each tool's units."""
        records = (Path(__file__).parents[2] / "power/records/osu018.jsonl").read_text().splitlines()
        [record] = [r for r in map(json.loads, records) if r["unit"] == "int8_mac_wallace_16_pipelined"]
        area, period = record["area_m2"] / 16, record["period_s"]
        leakage = record["samples"][0]["L3"]["leakage_w"] / 16

        def near(found: str | float, wanted: float) -> None:
            self.assertAlmostEqual(float(found) / wanted, 1, delta=1e-9)

        self.ok("energy", "--export", "accelergy", "--technology", "osu018", "--out", "tables")
        with (self.dir / "tables/data/intmac.csv").open() as file:
            rows = {row["action"]: row for row in csv.DictReader(file) if row["format"] == "int8"}
        for row in rows.values():
            near(row["area"], area * 1e12)
        near(rows["leak"]["energy"], leakage * period * 1e12)
        art = (self.dir / "tables/ART.yaml").read_text()
        near(art.split("system.mac_int8\n    area: ")[1].split("\n")[0], area * 1e12)
        said = json.loads((self.dir / "tables/provenance.json").read_text())[0]
        near(said["of_a_lane"]["area_m2"], area)
        self.ok("energy", "--export", "zigzag", "--technology", "osu018", "--out", "hardware")
        text = (self.dir / "hardware/narrowgauge_int8.yaml").read_text()
        near(text.split("unit_area: ")[1].split("\n")[0], area * 1e6)
        self.ok("energy", "--export", "hwcomponents", "--technology", "osu018", "--out", "component")
        source = (self.dir / "component/hwcomponents_narrowgauge.py").read_text()
        numbers = source.split("PHYSICAL")[1].split('"int8": (')[1].split(")")[0].split(", ")
        for found, wanted in zip(numbers, (area, leakage, period), strict=True):
            near(found, wanted)


class Files(Program):
    """Outputs appear whole or not at all, and are nothing but new files; what reads and writes them says so."""

    def setUp(self) -> None:
        super().setUp()
        self.good = self.file("good.npy", npy([[1, 2], [3, 4]]))

    def listing(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.dir.iterdir() if path.is_file()}

    def test_a_refusal_leaves_everything_as_it_was(self) -> None:
        for name in ("c.npy", "q.codes.npy", "q.json", "front.csv"):
            self.file(name, b"precious")
        self.file("nan.npy", npy([[math.nan, 1], [1, 1]]))
        self.file("big.npy", npy([[1e39, 1], [1, 1]], "<f8"))
        self.file("space.yaml", b"format: int8\ntechnology: horowitz_45nm\nobjectives: [energy, time]\n")
        before = self.listing()
        for bad in ("nan.npy", "big.npy"):
            self.refused(["gemm", bad, self.good, "--out", "c.npy"], bad)
            self.refused(["gemm", bad, self.good, "--out", "new.npy"], bad)
            self.refused(["quantize", bad, "--out-prefix", "q"], bad)
        self.refused(
            ["explore", "digits", "space.yaml", "--csv", "front.csv", "--plot", "front.png", "--python", "no-python"],
            "no-python",
        )
        self.assertEqual(self.listing(), before)

    def test_the_largest_float32_in_all_its_digits(self) -> None:
        self.file("x.npy", npy([[3.40282357e38]], "<f8"))
        self.refused(["quantize", "x.npy"], "3.40282357e+38", "3.4028234663852886e+38")

    def test_a_replaced_file_keeps_permissions_and_links(self) -> None:
        self.file("c.npy", b"old")
        (self.dir / "c.npy").chmod(0o640)
        (self.dir / "link.npy").symlink_to("c.npy")
        self.ok("gemm", self.good, self.good, "--out", "link.npy")
        self.assertTrue((self.dir / "link.npy").is_symlink())
        self.assertEqual((self.dir / "c.npy").stat().st_mode & 0o777, 0o640)
        self.assertEqual(read_npy(self.dir / "c.npy")[1], "<f4")
        mask = os.umask(0)
        os.umask(mask)
        self.ok("gemm", self.good, self.good, "--out", "new.npy")
        self.assertEqual((self.dir / "new.npy").stat().st_mode & 0o777, 0o666 & ~mask)

    def test_targets_that_are_no_files(self) -> None:
        os.mkfifo(self.dir / "pipe")
        self.file("space.yaml", b"format: int8\ntechnology: horowitz_45nm\n")
        for target in ("pipe", *(path for path in ("/dev/full", "/dev/null") if Path(path).exists())):
            self.refused(["gemm", self.good, self.good, "--out", target], target, "no regular file")
            self.refused(["explore", "digits", "space.yaml", "--csv", target], target, "no regular file")
            self.refused(["explore", "digits", "space.yaml", "--checkpoint", target], target, "no regular file")
            if RTL:
                self.refused(["gemm", self.good, self.good, "--engine", "rtl", "--trace", target], "no regular file")
            self.assertFalse(Path(self.dir / target).is_file())

    def test_no_output_is_an_input_or_another_output(self) -> None:
        os.link(self.dir / self.good, self.dir / "hard.npy")
        (self.dir / "soft.npy").symlink_to(self.good)
        self.file("q.codes.npy", npy([[1]]))
        self.file("space.yaml", b"format: int8\ntechnology: horowitz_45nm\n")
        before = self.listing()
        for out in (self.good, "./good.npy", "hard.npy", "soft.npy", str(self.dir / self.good)):
            self.refused(["gemm", self.good, self.good, "--out", out], "--out", "same file", "the input")
        self.refused(["quantize", "q.codes.npy", "--out-prefix", "q"], "q.codes.npy", "same file")
        explore = ["explore", "digits", "space.yaml"]
        self.refused([*explore, "--csv", "space.yaml"], "--csv", "same file")
        self.refused([*explore, "--csv", "x", "--plot", "./x"], "--plot", "same file as --csv x")
        self.refused([*explore, "--csv", "x", "--checkpoint", "x"], "--checkpoint", "same file as --csv x")
        if RTL:
            rtl = ["gemm", self.good, self.good, "--engine", "rtl"]
            self.refused([*rtl, "--out", "x", "--trace", "x"], "--trace", "same file as --out x")
            self.refused([*rtl, "--trace", self.good], "--trace", "same file")
        self.assertEqual(self.listing(), before)

    def test_empty_names(self) -> None:
        good = self.good
        for args in (["gemm", good, good, "--out", ""], ["gemm", good, good, "--trace", ""], ["gemm", "", good],
                     ["quantize", ""], ["quantize", good, "--out-prefix", ""], ["energy", "--calibration", ""],
                     ["energy", "--export", "zigzag", "--out", ""], ["explore", "digits", "x", "--csv", ""],
                     ["explore", "digits", "x", "--plot", ""], ["explore", "digits", "x", "--checkpoint", ""]):  # fmt: skip
            self.refused(args, "empty name")

    def test_standard_output_that_cannot_be_written(self) -> None:
        commands = [["--help"], ["--version"], ["gemm", "--help"], ["formats"], ["formats", "e4m3", "--json"],
                    ["units"], ["energy", "--format", "int4", "--mode", "pann_paper"], ["energy", "--list", "--json"],
                    ["gemm", self.good, self.good], ["gemm", self.good, self.good, "--json", "--out", "c.npy"],
                    ["quantize", self.good, "--out-prefix", "q"], ["explore", "--workloads"],
                    ["energy", "--export", "accelergy", "--technology", "horowitz_45nm", "--out", "new/tables"]]  # fmt: skip
        before = self.listing()
        for args in commands:
            reader, writer = os.pipe()
            os.close(reader)
            targets = [writer] + ([os.open("/dev/full", os.O_WRONLY)] if Path("/dev/full").exists() else [])
            for target in targets:
                with self.subTest(args=args, target=target):
                    done = subprocess.run([PROGRAM, *args], cwd=self.dir, stdout=target, stderr=subprocess.PIPE, text=True,
                                          timeout=600)  # fmt: skip
                    self.assertEqual(done.returncode, 2, done.stderr)
                    self.assertRegex(done.stderr, r"\Anarrowgauge: the report could not be written [^\n]+\n\Z")
                os.close(target)
        done = subprocess.run(["sh", "-c", f'"{PROGRAM}" gemm good.npy good.npy --out c.npy >&-'], cwd=self.dir,
                              stderr=subprocess.PIPE, text=True, timeout=600)  # fmt: skip
        self.assertEqual(done.returncode, 2, done.stderr)  # and the report is not in c.npy
        self.assertEqual(self.listing(), before)
        self.assertFalse((self.dir / "new").exists())

    def test_names_that_are_no_text(self) -> None:
        for raw, shown in ((b"\xff\xfe.npy", r"\xff\xfe.npy"), (b"a\nb\x1b[31m.npy", r"a\x0ab\x1b[31m.npy")):
            name = os.fsdecode(raw)
            try:
                self.file(name, npy([[1, 2], [3, 4]]))
            except OSError:
                self.skipTest("this file system has no such names")
            done = self.run_program("gemm", name, name, "--json", "--out", "c.npy")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn(json.loads(done.stdout)["a"]["path"], (shown, raw.decode("latin1")))
            self.assertIn(shown, self.ok("gemm", name, name))
            done = self.run_program("quantize", name, "--json", "--out-prefix", os.fsdecode(raw[:-4]))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            json.loads(done.stdout)
            os.truncate(self.dir / name, 40)
            self.refused(["gemm", name, self.good], shown, "truncated")
            self.refused(["gemm", self.good, self.good, "--out", os.fsdecode(b"no/" + raw)], shown)
            self.refused(["explore", "digits", "no/" + name], shown)
            self.refused(["energy", "--format", "int8", "--calibration", "no/" + name], shown)

    def test_sizes_are_checked_before_reading(self) -> None:
        size = 2 * 10**12
        fitting = header(f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({size // 4000}, 1000), }}")
        for name, head, words in (("long.npy", header("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"),
                                   "exactly one array"), ("fits.npy", fitting, "memory")):  # fmt: skip
            self.file(name, head)
            try:
                os.truncate(self.dir / name, len(head) + size)
            except OSError:
                self.skipTest("this file system has no files of 2 TB")
            began = time.monotonic()
            self.refused(["gemm", name, self.good], name, words)
            self.assertLess(time.monotonic() - began, 20)
        self.file("deep.json", b"[" * 100000)
        self.file("space.yaml", b"format: int8\ntechnology: horowitz_45nm\n")
        self.refused(["explore", "deep.json", "space.yaml"], "deep.json", "in each other")
        self.refused(["energy", "--format", "int8", "--calibration", "deep.json"], "deep.json", "in each other")

    def with_file_limit(self, size: int, *args: str) -> subprocess.CompletedProcess[str]:
        """As on a disk with so much space."""
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))  # noqa: E731
        return subprocess.run(
            [PROGRAM, *args], cwd=self.dir, capture_output=True, text=True, timeout=600, preexec_fn=limit
        )

    def test_full_disk(self) -> None:
        self.file("a.npy", npy([[1.0]] * 100))
        self.file("b.npy", npy([[1.0] * 100]))
        self.file("c.npy", b"precious")
        runs = [["gemm", "a.npy", "b.npy", "--out", "c.npy"]]
        if RTL:
            runs.append(["gemm", "a.npy", "b.npy", "--engine", "rtl", "--trace", "w.fst"])
        before = self.listing()
        for args in runs:
            done = self.with_file_limit(4096, *args)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertRegex(done.stderr, r"\Anarrowgauge: (c.npy|w.fst) could not be written completely[^\n]+\n\Z")
            self.assertEqual(self.listing(), before)

    def test_signals_remove_what_is_not_finished(self) -> None:
        rng = random.Random(8)
        self.file("a.npy", npy([[rng.gauss(0, 1) for _ in range(400)] for _ in range(400)]))
        self.file("c.npy", b"precious")
        before = self.listing()
        run = [PROGRAM, "gemm", "a.npy", "a.npy", "--engine", "systemc", "--tile", "tiny", "--out", "c.npy"]
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
                       signal.SIGALRM, signal.SIGXCPU):  # fmt: skip
            no_core = lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # noqa: E731
            with subprocess.Popen(run, cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  preexec_fn=no_core) as program:  # fmt: skip
                until = time.monotonic() + 60
                while len(self.listing()) == len(before) and time.monotonic() < until and program.poll() is None:
                    time.sleep(0.01)
                self.assertGreater(len(self.listing()), len(before), "no temporary file was seen")
                program.send_signal(number)
                self.assertEqual(program.wait(60), -number)
            self.assertEqual(self.listing(), before)

    def test_a_prefix_is_one_unit(self) -> None:
        x = self.file("x.npy", npy([[0.1 * i for i in range(32)]] * 4))
        self.ok("quantize", x, "--out-prefix", "q")
        self.assertEqual(set(self.listing()), {"good.npy", "x.npy", "q.codes.npy", "q.scales.npy", "q.json"})
        self.ok("quantize", x, "--format", "fp8_e4m3", "--out-prefix", "q")
        self.assertEqual(set(self.listing()), {"good.npy", "x.npy", "q.codes.npy", "q.json"}, "old scales stand")
        # What cannot be replaced keeps all that was there.
        before = {name: (self.dir / name).read_bytes() for name in self.listing()}
        (self.dir / "q.scales.npy").mkdir()
        self.refused(["quantize", x, "--out-prefix", "q"], "q.scales.npy", "directory")
        (self.dir / "q.scales.npy").rmdir()
        self.assertEqual({name: (self.dir / name).read_bytes() for name in self.listing()}, before)
        # A file of the unit that the run would remove is not its input.
        self.file("p.scales.npy", npy([[1.0, 2.0]]))
        self.refused(["quantize", "p.scales.npy", "--format", "fp8_e4m3", "--out-prefix", "p"], "p.scales.npy", "input")
        self.assertIn("p.scales.npy", self.listing())

    def test_a_prefix_is_the_beginning_of_a_name(self) -> None:
        (self.dir / "folder").mkdir()
        x = self.file("x.npy", npy([[1.0, 2.0, 3.0, 4.0]]))
        for prefix in ("folder/", "./", ".", "..", "folder/."):
            for command in (
                ["quantize", x],
                ["prune", x],
                ["gemm", x, self.file("b.npy", npy([[1.0]] * 4)), "--requantize", "1"],
            ):
                self.refused([*command, "--out-prefix", prefix], "--out-prefix", "names a folder; expected")
        self.assertEqual(list((self.dir / "folder").iterdir()), [])
        self.ok("quantize", x, "--out-prefix", "folder/a")
        self.assertEqual(len(list((self.dir / "folder").iterdir())), 3)

    def test_runs_at_once_do_not_mix(self) -> None:
        """Codes, scales and report of a prefix are those of one run."""
        wanted = {}
        names = []
        for i in range(6):
            rows = [[(i + 1) * 1.1**j for j in range(64)] for _ in range(50 + i)]
            names.append(self.file(f"x{i}.npy", npy(rows)))
            self.ok("quantize", names[-1], "--out-prefix", f"w{i}")
            wanted[names[-1]] = [(self.dir / f"w{i}{suffix}").read_bytes() for suffix in (".codes.npy", ".scales.npy")]
        for _ in range(12):
            runs = [subprocess.Popen([PROGRAM, "quantize", name, "--out-prefix", "q"], cwd=self.dir,
                                     stdout=subprocess.DEVNULL) for name in names]  # fmt: skip
            self.assertEqual([run.wait(60) for run in runs], [0] * len(runs))
            source = json.loads((self.dir / "q.json").read_text())["x"]["path"]
            got = [(self.dir / f"q{suffix}").read_bytes() for suffix in (".codes.npy", ".scales.npy")]
            self.assertEqual(got, wanted[source])
            self.assertFalse([name for name in self.listing() if name.startswith(".")])

    def test_what_has_no_end_is_not_read_to_it(self) -> None:
        for device in ("/dev/zero", "/dev/urandom"):
            began = time.monotonic()
            self.refused(["decompress", device, "--out", "x.npy"], device, "does not begin as")
            self.assertLess(time.monotonic() - began, 20)

    def test_a_reader_that_leaves(self) -> None:
        for args in (["formats"], ["formats", "e4m3"], ["energy", "--list"], ["quantize", self.good]):
            read, write = os.pipe()
            os.close(read)
            done = subprocess.run(
                [PROGRAM, *args], cwd=self.dir, stdout=write, stderr=subprocess.PIPE, text=True, timeout=60
            )
            os.close(write)
            self.assertEqual(done.returncode, 2)
            self.assertIn("closed the pipe; expected", done.stderr)
            self.assertNotIn("space", done.stderr)

    def test_headers_with_names_of_ml_dtypes(self) -> None:
        """As some write them, since numpy.save loses the type."""
        values = [1.0, -0.5, 2.0, 6.0]
        encoded = {
            "bfloat16": b"".join(struct.pack("<f", v)[2:] for v in values),
            "float8_e5m2": b"".join(struct.pack("<e", v)[1:] for v in values),
            "float8_e4m3fn": bytes([0x38, 0xB0, 0x40, 0x4C]),
            "float4_e2m1fn": bytes([2, 9, 4, 7]),
        }
        self.ok("quantize", self.file("f.npy", npy([values])), "--out-prefix", "f")
        for name, data in encoded.items():
            header = f"{{'descr': '{name}', 'fortran_order': False, 'shape': (1, 4), }}\n".encode()
            self.file("n.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data)
            self.assertEqual(self.json("quantize", "n.npy", "--out-prefix", "n")["x"]["dtype"], name)
            for suffix in (".codes.npy", ".scales.npy"):
                self.assertEqual((self.dir / f"n{suffix}").read_bytes(), (self.dir / f"f{suffix}").read_bytes(), name)

    def test_traces_replace_whole(self) -> None:
        if not RTL:
            self.skipTest("built without simulated tiles")
        self.file("w.fst", b"old")
        self.ok("gemm", self.good, self.good, "--engine", "rtl", "--trace", "w.fst", "--out", "c.npy")
        self.assertGreater((self.dir / "w.fst").stat().st_size, 100)
        self.assertEqual(set(self.listing()), {"good.npy", "w.fst", "c.npy"})


class Arguments(Program):
    def setUp(self) -> None:
        super().setUp()
        self.good = self.file("good.npy", npy([[1, 2], [3, 4]]))

    def test_numbers_have_ranges(self) -> None:
        top = 2**64 - 1
        for bad in ("-1", str(top + 1), "1.5", "1e3", " 1", "", "0x10"):
            self.refused(["quantize", self.good, "--seed", bad], "--seed", f"from 0 to {top}")
        self.ok("quantize", self.good, "--seed", str(top))
        for command in (["quantize", self.good], ["gemm", self.good, self.good], ["explore", "digits", "x.yaml"]):
            self.refused([*command, "--threads", "99999999"], "--threads", "99999999", "from 0 to 1024")
        self.refused(["explore", "digits", "x.yaml", "--chunk", "0"], "--chunk", "from 1")

    def test_flags_take_no_value(self) -> None:
        for args in (["formats", "--json=3"], ["gemm", self.good, self.good, "--json=yes"],
                     ["energy", "--format", "int8", "--strict=2"]):  # fmt: skip
            self.refused(args, args[-1].split("=")[0], "takes no value")

    def test_unknown_arguments_in_their_order_with_what_was_meant(self) -> None:
        self.refused(
            ["gemm", self.good, self.good, "--treads", "3"], "--treads is unknown to gemm", "--threads?", ": 3;"
        )
        self.refused(["gemm", self.good, self.good, "--one", "--two", "--three"], "--one", ": --two --three;")
        self.refused(["quantise", "x"], "quantise is unknown", "did you mean quantize?", "x")
        self.refused(["energy", "--formt=int8"], "did you mean --format?")
        self.refused(["formats", "e2m1", "e4m3"], "e4m3 is one argument too many for formats")
        self.refused(["--jsonn"], "--jsonn is unknown to narrowgauge")
        done = self.run_program("gemm", self.good, self.good, "--frobnicate")
        self.assertNotIn("did you mean", done.stderr)

    def test_without_sqnr(self) -> None:
        self.assertIsNone(self.json("gemm", self.good, self.good, "--no-sqnr")["sqnr_db"])
        self.assertIn("--no-sqnr", self.ok("gemm", self.good, self.good, "--no-sqnr"))

    def test_an_empty_variable_is_unset(self) -> None:
        for value, code in (("", 0), ("baseline", 0), ("mmx", 2)):
            environment = {**os.environ, "NARROWGAUGE_ISA": value}
            done = subprocess.run([PROGRAM, "gemm", "good.npy", "good.npy"], cwd=self.dir, env=environment, timeout=600,
                                  capture_output=True, check=False)  # fmt: skip
            self.assertEqual(done.returncode, code, done.stderr)


class Units(Program):
    def test_units(self) -> None:
        table = self.json("units")
        self.assertGreater(len(table["units"]), 0)
        text = self.ok("units")
        for unit in table["units"]:
            self.assertIn(unit["name"], text)


if __name__ == "__main__":
    words = sys.argv[1:]
    PROGRAM = str(Path(words.pop(0)).resolve())
    if "--rtl" in words:
        RTL = True
        words.remove("--rtl")
    suites = [unittest.defaultTestLoader.loadTestsFromName(f"__main__.{name}") for name in words or
              ["Gemm", "Quantize", "Prune", "Codec", "Formats", "Help", "BadInput", "Files", "Arguments", "Units"]]  # fmt: skip
    result = unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite(suites))
    ran = result.testsRun - len(result.skipped)
    sys.exit(0 if result.wasSuccessful() and ran > 0 else 1)
