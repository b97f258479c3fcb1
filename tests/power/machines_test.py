# SPDX-License-Identifier: Apache-2.0
"""What is recorded does not depend on the machine: made again under several BLAS kernels and numbers of threads of numpy's
library and under each instruction set of ours, it is what the repository has.

machines_test.py FOLDER_OF_PROGRAMS
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from ngtools import recorded
from ngtools.ngflow import ROOT
from ngtools.power import characterize

PROGRAMS = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "bin"
# OpenBLAS's names, and the processor's flags that each needs.
KERNELS = {"Prescott": "pni", "Nehalem": "sse4_2", "Sandybridge": "avx", "Haswell": "avx2", "SkylakeX": "avx512f"}
ISAS = ("baseline", "avx2", "avx512", "avx512vnni")
# SHA-256 of the files of the digits network's operands.
OPERANDS = {
    "a": "7fc04f79999e620a91db7e2fcdf98dd794567e57713e263b76196a841242775b",
    "b": "4b70a3d3cea6c43c82027459711934ae41a46cbd9cd426b73410c0da38529f7c",
}
# A unit for each way of writing numbers.
UNITS = (
    "fp32_mac",
    "fp16_mac",
    "bf16_mac",
    "tf32_mac",
    "nvfp4_mac_16",
    "mxfp4_mac",
    "fp8_e4m3_mac_2",
    "fp8_e5m2_mac_2",
)
UNITS += ("int8_mac_array", "int16_mac_wallace", "uint8_mac_array", "split4_mac_sorted", "pann_x6_r1")

# The same process makes all that rests on numpy.
REMAKE = """
import hashlib, json
from pathlib import Path
import numpy as np
import network
from ngtools.power import solve

drawn = np.random.default_rng(1).random((200, 24))
solution = solve.nonnegative_least_squares(drawn[:, 1:] / solve.column_norms(drawn[:, 1:]), drawn[:, 0])
images, labels = network.load_data()
scores = network.forward(images[network.TRAINING:], network.load_weights(), lambda _, a, b: a @ b)
best = np.sort(scores, axis=1)
plain = network.patches(network.LAYERS[1], network.result(network.LAYERS[0], images, network.patches(
    network.LAYERS[0], images) @ network.load_weights()["conv1.weight"], network.load_weights()))
print(json.dumps({
    "solution": hashlib.sha256(solution.tobytes()).hexdigest(),
    "correct": int((scores.argmax(axis=1) == labels[network.TRAINING:]).sum()),
    "margin": float((best[:, -1] - best[:, -2]).min() / np.abs(scores).max()),
    "plain product": hashlib.sha256(plain.tobytes()).hexdigest(),
}))
"""


def flags() -> set[str]:
    try:
        return set(Path("/proc/cpuinfo").read_text().split("flags")[1].split("\n")[0].split())
    except (OSError, IndexError):
        return set()


def run(command: list[str], **environment: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=os.environ | environment)
    assert done.returncode == 0, f"{environment} {' '.join(command)}: {done.stdout}{done.stderr}"
    return done.stdout


class Machines(unittest.TestCase):
    def blas(self) -> list[dict[str, str]]:
        kernels = [kernel for kernel, flag in KERNELS.items() if flag in flags()]
        if len(kernels) < 3:
            self.skipTest(f"this processor runs {len(kernels)} of the kernels {', '.join(KERNELS)}; three are wanted")
        threads = ("1", "2")
        return [{"OPENBLAS_CORETYPE": kernel, "OPENBLAS_NUM_THREADS": n} for kernel in kernels for n in threads]

    def test_numpy_s_library_decides_nothing(self):
        seen, plain, solutions = [], set(), set()
        for environment in self.blas():
            with tempfile.TemporaryDirectory() as folder:
                paths = [Path(folder) / "a.npy", Path(folder) / "b.npy"]
                run([sys.executable, "examples/digits/operands.py", "conv2", *map(str, paths)], **environment)
                digests = {
                    name: hashlib.sha256(p.read_bytes()).hexdigest() for name, p in zip("ab", paths, strict=True)
                }
            assert digests == OPERANDS, f"{environment}: {digests}"
            path = os.pathsep.join((str(ROOT / "examples" / "digits"), str(ROOT / "tools")))
            made = json.loads(run([sys.executable, "-c", REMAKE], **environment, PYTHONPATH=path))
            plain.add(made.pop("plain product"))
            solutions.add(made["solution"])
            # No rounding of a float32 product decides which class is best.
            assert made["margin"] > 1e-5, f"{environment}: {made}"
            seen.append(made["correct"])
        expected = json.loads((ROOT / "examples" / "digits" / "expected.json").read_text())
        assert set(seen) == {expected["float32"]}, seen
        assert len(solutions) == 1, "least squares of the calibrations differ between kernels"
        # The kernels do differ where nothing holds them: else this test would see nothing.
        assert len(plain) > 1, f"{len(self.blas())} settings gave one and the same float32 product"

    def test_our_instruction_sets_decide_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            tensors = characterize.digits_tensors(Path(folder))
            features = set()
            for isa in ISAS:
                paths = []
                for unit in UNITS:
                    record = recorded.read(ROOT / "power" / "records" / "osu018.jsonl")[unit]
                    for sample in record["samples"]:
                        path = Path(folder) / f"{unit}.{sample['stimulus']}.stim"
                        command = [str(PROGRAMS / "ng_stimulus"), "--units", str(characterize.UNITS), "--unit", unit]
                        command += ["--stimulus", sample["stimulus"], "--seed", str(sample["seed"]), "--out", str(path)]
                        command += ["--cycles", str(sample["cycles"] + characterize.WARM_UP)]
                        command += tensors if sample["stimulus"] == "digits" else []
                        run(command, NARROWGAUGE_ISA=isa)
                        digest = hashlib.sha256(path.read_bytes()).hexdigest()
                        assert digest == sample["stimulus_sha256"], f"{isa}: {unit} on {sample['stimulus']}: {digest}"
                        paths.append(path)
                command = [str(PROGRAMS / "ng_features"), "--units", str(characterize.UNITS), *map(str, paths[:12])]
                features.add(run(command, NARROWGAUGE_ISA=isa))
            assert len(features) == 1, "ng_features counts otherwise under another NARROWGAUGE_ISA"

    def test_no_figure_of_a_calibration_was_changed_by_hand(self):
        for path in (ROOT / "power" / "calibration").glob("*.json"):
            content = json.loads(path.read_text())
            # A fit's name is of all of it (fit.py --json), its checksum of what the file has.
            name = content.pop("checksum" if "checksum" in content else "id")
            assert name == hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16], path.name


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]], verbosity=2)
