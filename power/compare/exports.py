#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our exports, read by the tools that they are for: ZigZag and HWComponents say the energies that narrowgauge said.

ZigZag gets each hardware file with one product of matrices, which it maps as it sees fit. What it says of the products must
be their number times our energy; what it says of memory is its own count at the file's prices. HWComponents gets the export
as a package, as a user does, and is asked for each format. It needs Python 3.12.

examples
  power/compare/exports.py --zigzag PYTHON --program build/bin/narrowgauge
  power/compare/exports.py --hwcomponents PYTHON --program build/bin/narrowgauge      installs into that environment
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

from ngtools import ngflow
from ngtools.ngflow import FlowError

TECHNOLOGY = "horowitz_45nm"
RECORDED = "osu018"  # has areas, leakage and periods
M, N, K = 64, 64, 128
BITS = {"int4": 4, "nvfp4": 4, "int8": 8, "fp8_e4m3": 8, "bf16": 16, "fp32": 32}
ZIGZAG = f"""
import json, logging, sys
logging.disable(logging.CRITICAL)
from importlib.metadata import version
from zigzag.api import get_hardware_performance_zigzag
said = {{"version": version("zigzag-dse")}}
for name, bits in json.loads(sys.argv[1]).items():
    layer = {{"id": 0, "operator_type": "Gemm", "equation": "O[b][k]+=I[b][c]*W[c][k]", "loop_dims": ["B", "K", "C"],
             "loop_sizes": [{M}, {N}, {K}], "operand_precision": {{"W": bits, "I": bits, "O": 32, "O_final": 32}},
             "operand_source": {{"I": 0, "W": 0}}}}
    mapping = "- name: default\\n  spatial_mapping:\\n    D1:\\n      - B, 8\\n    D2:\\n      - K, 8\\n" \\
              "  memory_operand_links:\\n    O: O\\n    W: I2\\n    I: I1\\n"
    open("mapping.yaml", "w").write(mapping)
    *_, cost = get_hardware_performance_zigzag(workload=[layer], accelerator="hardware/narrowgauge_" + name + ".yaml",
        mapping="mapping.yaml", opt="energy", dump_folder=name, loma_show_progress_bar=False)[:3]
    one = cost[0][1][0][0]
    said[name] = {{"mac": one.mac_energy, "memory": one.mem_energy, "cycles": one.latency_total2}}
json.dump(said, open("said.json", "w"))
"""
ZIGZAG_AREAS = """
import json, sys
from zigzag.parser.accelerator_factory import AcceleratorFactory
from zigzag.parser.accelerator_validator import AcceleratorValidator
from zigzag.utils import open_yaml
said = {}
for name in json.loads(sys.argv[1]):
    data = open_yaml("hardware/narrowgauge_int8.yaml")  # with memories
    data["operational_array"] = open_yaml("recorded/narrowgauge_" + name + ".yaml")["operational_array"]
    validator = AcceleratorValidator(data)
    data = validator.normalized_data
    assert validator.validate()
    array = AcceleratorFactory(data).create().operational_array
    said[name] = {"area": array.total_area / array.total_unit_count}
json.dump(said, open("said.json", "w"))
"""
HWCOMPONENTS = """
import json, sys
from importlib.metadata import version
import hwcomponents
said = {"version": version("hwcomponents")}
for name in json.loads(sys.argv[1]):
    attributes = {"number_format": name}
    cost = hwcomponents.get_action_cost("narrowgauge_mac", attributes, "compute", {})
    said[name] = {"energy": cost.energy, "latency": cost.latency, "throughput": cost.throughput,
                  "area": hwcomponents.get_area("narrowgauge_mac", attributes),
                  "leakage": hwcomponents.get_leak_power("narrowgauge_mac", attributes)}
json.dump(said, open("said.json", "w"))
"""


def asked(python: str, script: str, folder: Path, argument: object) -> dict:
    """What the script, run by another Python in the folder, has left in said.json."""
    done = subprocess.run([python, "-c", script, json.dumps(argument)], cwd=folder, capture_output=True, text=True)
    if done.returncode or not (folder / "said.json").exists():
        raise FlowError(f"{python} did not take the export: {(done.stderr or done.stdout)[-800:]}")
    return json.loads((folder / "said.json").read_text())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zigzag", metavar="PYTHON", help="a Python that has zigzag-dse")
    parser.add_argument(
        "--hwcomponents", metavar="PYTHON", help="a Python that has hwcomponents; the export is installed there"
    )
    parser.add_argument("--program", type=Path, default=ngflow.ROOT / "build" / "bin" / "narrowgauge")
    args = parser.parse_args()
    wrong = 0

    def export(kind: str, technology: str, folder: Path) -> dict:
        """Writes the tables, and gives what provenance.json says, by format."""
        command = [args.program.resolve(), "energy", "--export", kind, "--technology", technology, "--out", folder]
        subprocess.run(command, check=True, capture_output=True)
        return {row["name"]: row for row in json.loads((folder / "provenance.json").read_text())}

    def compare(kind: str, what: str, key: str, said: float, ours: float | None) -> None:
        nonlocal wrong
        same = math.isnan(said) if ours is None else abs(said - ours) <= 1e-9 * ours
        if not same:
            wrong += 1
            print(f"{kind} says {what} {said} of {key}, narrowgauge {ours}")

    for kind, python in (("zigzag", args.zigzag), ("hwcomponents", args.hwcomponents)):
        if not python:
            print(f"{kind}: skipped, since no Python that has it was named")
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            ours = export(kind, TECHNOLOGY, folder / "hardware")
            recorded = export(kind, RECORDED, folder / "recorded")
            if kind == "zigzag":
                said = asked(python, ZIGZAG, folder, BITS)
                print(f"zigzag-dse {said.pop('version')}, {M} x {N} x {K}, {TECHNOLOGY}\n")
                print("| format | products, nJ | memory, nJ | cycles |\n|---|---|---|---|")
                for key, cost in said.items():
                    print(f"| `{key}` | {cost['mac'] / 1e3:.1f} | {cost['memory'] / 1e3:.0f} | {cost['cycles']:.0f} |")
                    compare(kind, "energy", key, cost["mac"] * 1e-12 / (M * N * K), ours[key]["answer"]["value"])
                (folder / "said.json").unlink()
                for key, cost in asked(python, ZIGZAG_AREAS, folder, list(recorded)).items():
                    area = recorded[key]["of_a_lane"]["area_m2"]
                    compare(kind, "area", key, cost["area"], area and area * 1e6)
                print(f"areas of {len(recorded)} formats of {RECORDED}")
            else:
                for rows, where in ((ours, "hardware"), (recorded, "recorded")):
                    subprocess.run(
                        [python, "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", folder / where],
                        check=True,
                    )
                    said = asked(python, HWCOMPONENTS, folder, list(rows))
                    print(f"hwcomponents {said.pop('version')}: {len(said)} formats of {where}")
                    for key, cost in said.items():
                        lane = rows[key]["of_a_lane"]
                        period = lane["period_s"]
                        compare(kind, "energy", key, cost["energy"], rows[key]["answer"]["value"])
                        compare(kind, "area", key, cost["area"], lane["area_m2"])
                        compare(kind, "leakage", key, cost["leakage"], lane["leakage_w"])
                        compare(kind, "latency", key, cost["latency"], period)
                        compare(kind, "throughput", key, cost["throughput"], period and 1 / period)
    print(f"{wrong} numbers differ from ours")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(ngflow.run_main(main))
