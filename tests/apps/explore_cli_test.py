# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PT009 (unittest on purpose: this runs without any package)
"""Tests of `narrowgauge explore` from outside; tests/power/explore_test.cpp holds what it computes.

    python3 explore_cli_test.py PROGRAM [--rtl] [--python PYTHON] [CLASS ...]

--rtl: the program has the engine rtl; --python: has onnx and matplotlib, for models and pictures
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

PROGRAM = ""
PYTHON = ""
RTL = False
ROOT = Path(__file__).resolve().parents[2]

# Energies of its own: no calibration is needed.
SPACE = """
format: [nvfp4, int8]
sparsity: [none, "2:4"]
rows: {from: 2, to: 8, factor: 2}
cols: 8
lanes: [16, 24]
a_depth: 64
b_depth: [64, 128]
technology: horowitz_45nm
frequency_hz: [1e8, 200e6]
mac_energy_j: {nvfp4: 5e-14, int8: 2e-13}
"""
MODEL = """
import onnx, numpy
from onnx import helper, numpy_helper
x = helper.make_tensor_value_info("x", 1, [5, 30])
y = helper.make_tensor_value_info("y", 1, None)
w = numpy_helper.from_array(numpy.zeros((30, 7), numpy.float32), "w")
graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "m")], "g", [x], [y], [w])
onnx.save(helper.make_model(graph), "model.onnx")
"""


class Program(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        (self.dir / "space.yaml").write_text(SPACE)

    def run_program(self, *args: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [PROGRAM, "explore", *args],
            cwd=self.dir,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=600,
        )

    def ok(self, *args: str, **environment: str) -> str:
        done = self.run_program(*args, **environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), args)
        return done.stdout

    def json(self, *args: str, **environment: str) -> dict[str, Any]:
        result: dict[str, Any] = json.loads(self.ok(*args, "--json", **environment))
        return result

    def refuses(self, says: list[str], *args: str) -> None:
        done = self.run_program(*args)
        self.assertEqual((done.returncode, done.stdout), (2, ""), args)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        for part in says:
            self.assertIn(part, done.stderr)


class Explore(Program):
    def test_front(self) -> None:
        result = self.json("digits", "space.yaml")
        self.assertEqual(result["points"], 2 * 2 * 3 * 2 * 2 * 2)
        self.assertEqual(result["impossible"], result["points"] // 4)  # nvfp4 in 24 lanes
        self.assertEqual(result["macs"], 165376)
        self.assertTrue(result["front"])
        for point in result["front"]:
            self.assertAlmostEqual(
                point["energy_j"], sum(point[f"{part}_j"] for part in ("mac", "sram", "dram", "idle")), delta=1e-18
            )
            self.assertEqual(point["limit"], "array")
            self.assertAlmostEqual(point["time_s"], point["cycles"] / point["frequency_hz"], delta=1e-15)
            self.assertTrue(any(text.startswith("mac_energy_j") for text in point["assumed"]))
        for threads in ("1", "2", "5"):
            again = self.json("digits", "space.yaml", "--threads", threads, "--chunk", "7")
            self.assertEqual(again, result)
        text = self.ok("digits", "space.yaml", "--rows", "2")
        self.assertIn("MAC/buffers/DRAM/codec/idle %", text)
        self.assertIn("165376 MAC", text)
        self.assertIn(f"{len(result['front'])} points that no other beats", text)
        self.assertIn("more: --rows", text)

    def test_csv(self) -> None:
        result = self.json("digits", "space.yaml", "--csv", "front.csv")
        with (self.dir / "front.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), len(result["front"]))
        for row, point in zip(rows, result["front"], strict=True):
            for key in ("energy_j", "time_s", "area_m2", "sqnr_db", "rows"):
                self.assertEqual(float(row[key]), point[key])
            self.assertEqual(row["format"], point["format"])
            self.assertIn("mac_energy_j", row["assumed"])

    def test_parameters(self) -> None:
        one, four = (self.json("digits", "space.yaml", "--set", f"batch={n}")["macs"] for n in (1, 4))
        self.assertEqual(four, 4 * one)

    def test_goes_on_from_a_checkpoint(self) -> None:
        run = ("digits", "space.yaml", "--chunk", "8", "--checkpoint", "run.jsonl")
        result = self.json(*run)
        file = self.dir / "run.jsonl"
        lines = file.read_text().splitlines()
        self.assertEqual(len(lines), 1 + result["points"] // 8)
        self.refuses(["exists already", "--resume"], *run)
        file.write_text("\n".join(lines[:4]) + "\n" + lines[4][:20])  # as after a crash
        self.assertEqual(self.json(*run, "--resume"), result)
        self.assertEqual(sorted(file.read_text().splitlines()), sorted(lines))
        (self.dir / "space.yaml").write_text((self.dir / "space.yaml").read_text().replace("cols: 8", "cols: 4"))
        self.refuses(["run.jsonl", "another exploration"], *run, "--resume")
        self.refuses(["--resume needs --checkpoint"], "digits", "space.yaml", "--resume")

    def test_workloads_that_come_along(self) -> None:
        table = {w["workload"]: w for w in self.json("--workloads")["workloads"]}
        self.assertEqual(len(table), 9)
        self.assertAlmostEqual(table["resnet50"]["macs"], 4.09e9, delta=0.01e9)
        self.assertIn("llama_block", self.ok("--workloads"))

    def test_help_teaches(self) -> None:
        text = self.ok("--help")
        self.assertIn("Examples", text)
        self.assertLessEqual(max(map(len, text.splitlines())), 125)

    def test_refusals(self) -> None:
        def space(text: str) -> str:
            (self.dir / "bad.yaml").write_text(text)
            return "bad.yaml"

        self.refuses(["no workload or no space was given; expected both"])
        self.refuses(["nothing.json", "resnet18"], "nothing.json", "space.yaml")
        self.refuses(["nothing.yaml"], "digits", "nothing.yaml")
        self.refuses(["bad.yaml", "is not YAML"], "digits", space("format: [nvfp4"))
        self.refuses(["bad.yaml", "no keys"], "digits", space("just text"))
        self.refuses(["bad.yaml", '"rows"', "twice"], "digits", space("rows: 1\nrows: 2"))
        self.refuses(["bad.yaml", '"row"', "allowed are"], "digits", space("row: 1"))
        self.refuses(["bad.yaml", '"rows" is -1', "from 1 to 255"], "digits", space("rows: [4, -1]"))
        self.refuses(["bad.yaml", '"rows" is "4"'], "digits", space('rows: "4"'))
        self.refuses(["bad.yaml", '"format" is "fp7"', "nvfp4"], "digits", space("format: fp7"))
        self.refuses(['no "technology"'], "digits", space("format: nvfp4"))
        self.refuses(["bad.yaml", "no end"], "digits", space("rows: &a [*a, *a]"))
        (self.dir / "bad.yaml").write_bytes(b"format: \xff\ntechnology: x")
        self.refuses(["bad.yaml", 'the text "\\xff"', "UTF-8"], "digits", "bad.yaml")
        self.refuses(["cannot read the space", "YAML"], "digits", str(self.dir))
        self.refuses(["unobtainium"], "digits", space("format: nvfp4\ntechnology: unobtainium"))
        self.refuses(["--set", "name=number"], "digits", "space.yaml", "--set", "batch")
        self.refuses(["--set", "name=number"], "digits", "space.yaml", "--set", "batch=99999999999999999999")
        self.refuses(["seq", "it has batch"], "digits", "space.yaml", "--set", "seq=3")
        self.refuses(["no/such/folder"], "digits", "space.yaml", "--csv", "no/such/folder/x.csv")
        self.refuses(["96 points", "may take", "--limit 95"], "digits", "space.yaml", "--limit", "95")
        huge = "\n".join(f"{axis}: {{from: 2, to: 201, step: 1}}" for axis in ("rows", "cols", "lanes"))
        huge += "\nfrequency_hz: {from: 1e6, to: 2e8, step: 1e6}"
        began = time.monotonic()
        self.refuses(
            ["1600000000 points", "--limit 1000000000"], "digits", space(f"format: int8\ntechnology: osu018\n{huge}")
        )
        self.assertLess(time.monotonic() - began, 20)
        (self.dir / "bad.json").write_text('{"layers": [{"op": "gemm", "m": 0, "n": 1, "k": 1}]}')
        self.refuses(["bad.json", "layer 0", '"m" is 0'], "bad.json", "space.yaml")
        tensors = (self.dir / "space.yaml").read_text() + "tensors: {a: none.npy, b: none.npy}\n"
        self.refuses(["none.npy"], "digits", space(tensors))
        self.refuses(["not-a-python"], "model.onnx", "space.yaml", "--python", "not-a-python")

    def test_workloads_of_other_tools(self) -> None:
        """Read by the program alone; the Python tests have more files."""
        zigzag = (
            "- id: 0\n  name: gemm\n  operator_type: Gemm\n  equation: O[b][k]+=I[b][c]*W[c][k]\n"
            "  loop_dims: [B, C, K]\n  loop_sizes: [128, 256, 512]\n  operand_source: {I: 0, W: 0}\n"
        )
        timeloop = (
            "problem:\n  shape:\n    dimensions: [M, N, K]\n    data_spaces:\n"
            "    - {name: A, projection: [[[M]], [[K]]]}\n    - {name: B, projection: [[[N]], [[K]]]}\n"
            "    - {name: C, projection: [[[M]], [[N]]], read_write: true}\n  instance: {M: 128, N: 512, K: 256}\n"
        )
        for name, text, macs in (
            ("t.csv", "Layer, M, N, K,\nqkv, 128, 192, 64,\n", 128 * 192 * 64),
            ("z.yaml", zigzag, 128 * 256 * 512),
            ("t.yml", timeloop, 128 * 256 * 512),
        ):
            (self.dir / name).write_text(text)
            result = self.json(name, "space.yaml")
            self.assertEqual((result["workload"], result["macs"]), (name.partition(".")[0], macs))
        for name, text, words in (
            ("bad.csv", "Layer, M, N, K,\nqkv, 128, x, 64,\n", ["bad.csv", "line 2", "column N", '"x"', "expected"]),
            ("bad.yaml", zigzag.replace("256", "-1"), ["bad.yaml", "layer 0 (gemm)", '"loop_sizes" is -1', "expected"]),
            ("bad.yaml", timeloop.replace("M: 128, ", ""), ["bad.yaml", "instance", '"M"', "expected"]),
            ("bad.yaml", "a: [", ["bad.yaml", "is not YAML", "expected"]),
            ("bad.yaml", "&a [*a, *a]", ["bad.yaml", "no end"]),
            ("bad.yaml", '"\\\x1b": 1', ["bad.yaml", "is not YAML", "escape character: \\x1b"]),
        ):
            (self.dir / name).write_text(text)
            self.refuses(words, name, "space.yaml")
        self.refuses(["none.yaml", "cannot read"], "none.yaml", "space.yaml")

    @unittest.skipUnless((ROOT / "power/calibration/osu018.json").exists(), "the gauge is not calibrated")
    def test_the_manuals_example(self) -> None:
        result = self.json("resnet18", str(ROOT / "examples/explore/space.yaml"))
        self.assertTrue(result["front"])
        self.assertTrue(any("calibration" in source["source"] for source in result["sources"]))

    def test_models_and_pictures(self) -> None:
        if not PYTHON:
            self.skipTest("no Python with onnx and matplotlib was named")
        package = self.dir / "package" / "narrowgauge"
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
        for name in ("workload", "_files.py", "plot.py", "page"):
            (package / name).symlink_to(ROOT / "python/narrowgauge" / name)
        (package / "_core.py").write_text("class Error(ValueError): pass")
        subprocess.run([PYTHON, "-c", MODEL], cwd=self.dir, check=True)
        environment = {"PYTHONPATH": str(package.parent), "PYTHONDONTWRITEBYTECODE": "1"}
        with_python = ("model.onnx", "space.yaml", "--python", PYTHON)
        result = self.json(*with_python, "--plot", "front.png", **environment)
        self.assertEqual(result["macs"], 5 * 30 * 7)
        self.assertEqual((self.dir / "front.png").read_bytes()[:4], b"\x89PNG")
        if subprocess.run([PYTHON, "-c", "import plotly"], capture_output=True).returncode == 0:
            self.json(*with_python, "--html", "front.html", **environment)
            self.assertIn('name="viewport"', (self.dir / "front.html").read_text()[:2000])
        done = self.run_program(*with_python, "--html", "none.html", **environment)
        if done.returncode:
            self.assertIn("takes plotly", done.stderr)
            self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1))
            self.assertFalse(list(self.dir.glob("none.html*")))
        subprocess.run([PYTHON, "-c", "import numpy; numpy.save('x.npy', numpy.eye(9))"], cwd=self.dir, check=True)
        analyze = [PROGRAM, "analyze", "x.npy", "--python", PYTHON, "--plot", "x.svg"]
        subprocess.run(analyze, cwd=self.dir, env={**os.environ, **environment}, check=True, capture_output=True)
        self.assertIn("<svg", (self.dir / "x.svg").read_text())
        (self.dir / "model.onnx").write_bytes((self.dir / "model.onnx").read_bytes()[:40])
        done = self.run_program(*with_python, **environment)
        self.assertEqual((done.returncode, done.stdout, len(done.stderr.splitlines())), (2, "", 1), done.stderr)
        self.assertIn("model.onnx cannot be read as an ONNX model", done.stderr)


class ExploreCycles(Program):
    """The timing model against simulated tiles: every tile and format, and a slice of that on the RTL."""

    def validate(self, *args: str) -> dict[str, Any]:
        result = self.json("--validate-cycles", *args)
        self.assertTrue(result["within"])
        self.assertLessEqual(result["error_max"], 0.01)
        self.assertGreater(result["equal"], 0.8 * result["shapes"])
        return result

    def test_systemc(self) -> None:
        result = self.validate("--shapes", "60")
        configurations = json.loads((ROOT / "rtl/tile/configurations.json").read_text())["configurations"]
        # With a sparse operand each format once more, 2:4.
        formats = sum(bin(c["FormatSet"]).count("1") * (2 if c["Sparse"] else 1) for c in configurations)
        self.assertEqual(result["shapes"], 60 * formats)
        self.assertEqual(len(result["tiles"]), formats)

    def test_rtl(self) -> None:
        if not RTL:
            self.skipTest("the program has no engine rtl")
        tiles = ("tiny", "mixed", "large")
        result = self.validate("--engine", "rtl", "--shapes", "30", "--tile", *tiles)
        self.assertEqual({tile["tile"] for tile in result["tiles"]}, set(tiles))
        self.assertEqual(result["shapes"], 30 * 4)

    def test_utilization(self) -> None:
        """What docs/units/tile.md says of the tiles: products that fill the array, and a long contraction."""
        products = ("256x256x1024", "20x20x5000")
        result = self.json("--validate-cycles", "--product", *products)
        self.assertLessEqual(result["error_max"], 0.001)
        # Percent, rounded down to tenths.
        expected = {
            ("large", "nvfp4"): (96.2, 10.3),
            ("large_fp8", "fp8_e4m3"): (89.4, 6.4),
            ("large_fp8", "fp8_e5m2"): (89.4, 6.4),
            ("large_e4m3", "fp8_e4m3"): (89.4, 6.4),
            ("wide", "nvfp4"): (99.7, 59.9),
            ("wide_e4m3", "fp8_e4m3"): (99.7, 59.9),
        }
        for tile in result["tiles"]:
            for product, name in zip(tile["products"], products, strict=True):
                self.assertEqual("x".join(str(product[size]) for size in "mnk"), name)
                self.assertLessEqual(product["utilization"], product["utilization_bound"])
            of_tile = tile["tile"], tile["format"]
            if of_tile in expected:
                found = tuple(int(1000 * product["utilization"]) / 10 for product in tile["products"])
                self.assertEqual(found, expected.pop(of_tile), of_tile)
        self.assertEqual(expected, {})

    def test_refusals(self) -> None:
        self.refuses(["--product", "M x N x K"], "--validate-cycles", "--product", "256x256")
        self.refuses(["--product", "M x N x K"], "--validate-cycles", "--product", "0x1x1")
        self.refuses(["--engine", "systemc or rtl"], "--validate-cycles", "--engine", "model")
        self.refuses(["--tile", "huge"], "--validate-cycles", "--tile", "huge")
        self.refuses(["--shapes", "from 1 to"], "--validate-cycles", "--shapes", "0")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    PROGRAM = str(Path(arguments.pop(0)).resolve())
    if "--rtl" in arguments:
        arguments.remove("--rtl")
        RTL = True
    if "--python" in arguments:
        at = arguments.index("--python")
        PYTHON = arguments[at + 1]
        del arguments[at : at + 2]
    unittest.main(argv=[sys.argv[0], *arguments])
