#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Workloads read by the tools that they are of and by narrowgauge: the products of each layer are the same.

SCALE-Sim's and ZigZag's own parsers read the files; Timeloop is no Python package, and is not asked. A tool that is not
there is skipped by name.

examples
  power/compare/workloads.py --scalesim PYTHON --zigzag PYTHON layers.csv gemm.csv layers.yaml
  power/compare/workloads.py --scalesim PYTHON --zigzag PYTHON           the files of tests/python/test_workload_formats.py
"""

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from ngtools import ngflow
from ngtools.ngflow import ROOT, FlowError

SCALESIM = """
import json, sys
from importlib.metadata import version
from scalesim.topology_utils import topologies
said = {"version": version("scalesim")}
for name in sys.argv[1:]:
    text = open(name).read()
    topology = topologies()
    topology.load_arrays(name, mnk_inputs=text.split(",")[1].strip() == "M")
    topology.topo_calc_hyperparams()
    said[name] = [topology.get_layer_mac_ops(i) for i in range(topology.get_num_layers())]
json.dump(said, open("said.json", "w"))
"""
ZIGZAG = """
import json, logging, sys
logging.disable(logging.CRITICAL)
from importlib.metadata import version
from zigzag.parser.workload_factory import LayerNodeFactory
from zigzag.parser.workload_validator import WorkloadValidator
from zigzag.utils import open_yaml
said = {"version": version("zigzag-dse")}
for name in sys.argv[1:]:
    validator = WorkloadValidator(open_yaml(name))
    layers = validator.normalized_data
    assert validator.validate()
    said[name] = []
    for layer in layers:
        factory = LayerNodeFactory(layer, [])
        factory.create_equation(), factory.create_layer_dim_relations()
        if layer["operator_type"] not in ("Pooling", "Add"):
            said[name].append(factory.create_layer_dim_sizes().total_size)
json.dump(said, open("said.json", "w"))
"""


def asked(python: str, script: str, files: list[Path], folder: Path) -> dict:
    done = subprocess.run([python, "-c", script, *map(str, files)], cwd=folder, capture_output=True, text=True)
    if done.returncode or not (folder / "said.json").exists():
        raise FlowError(f"{python} did not read the workloads: {(done.stderr or done.stdout)[-800:]}")
    return json.loads((folder / "said.json").read_text())


def hand_written(folder: Path) -> list[Path]:
    """The files of the tests, closed by commas as SCALE-Sim wants them."""
    path = ROOT / "tests" / "python" / "test_workload_formats.py"
    spec = importlib.util.spec_from_file_location("formats", path)
    if spec is None or spec.loader is None:
        raise FlowError(f"{path} is not there")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    files = []
    for name in ("conv.csv", "sparse.csv", "gemm.csv", "zigzag.yaml"):
        text = module.FILES[name][0]
        if name.endswith(".csv"):
            lines = [line.partition("#")[0].rstrip() for line in text.splitlines()]
            text = "".join(f"{line.rstrip(',')},\n" for line in lines if line)
        files.append(folder / name)
        files[-1].write_text(text)
    return files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="topologies (.csv) and layers of ZigZag (.yaml)")
    parser.add_argument("--scalesim", metavar="PYTHON", help="a Python that has scalesim")
    parser.add_argument("--zigzag", metavar="PYTHON", help="a Python that has zigzag-dse")
    args = parser.parse_args()
    from narrowgauge import workload

    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [file.resolve() for file in args.files] or hand_written(folder)
        print("| file | layers | products | other by |\n|---|---|---|---|")
        for tool, python, script, suffix in (
            ("scalesim", args.scalesim, SCALESIM, ".csv"),
            ("zigzag-dse", args.zigzag, ZIGZAG, ".yaml"),
        ):
            own = [file for file in files if file.suffix == suffix]
            if not python:
                print(f"{tool}: skipped, since no Python that has it was named")
            if not python or not own:
                continue
            said = asked(python, script, own, folder)
            for file in own:
                ours = [
                    layer["m"] * layer["n"] * layer["k"] * layer.get("count", 1) * layer.get("batch", 1)
                    for layer in workload.from_file(file)["layers"]
                ]
                # SCALE-Sim has a layer a channel of a depthwise convolution.
                theirs = said[str(file)]
                other = sum(theirs) - sum(ours)
                wrong += other != 0
                print(f"| `{file.name}`, {tool} {said['version']} | {len(ours)} | {sum(ours)} | {other} |")
    print(f"{wrong} files are read otherwise")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(ngflow.run_main(main))
