# SPDX-License-Identifier: Apache-2.0
"""The RTL that a deep test runs, as a product for the ledger: the netlist that Yosys elaborates of a module with its
parameters, in a form without names but those of ports, without source lines, and without order.

Each module is hashed once, its instances by the hash of what they instantiate. Inside a module, every cell starts with a
label of its kind and parameters, and takes the labels of what drives it into its own, round by round, until no round tells
more cells apart (partition refinement). Two netlists with equal labels behave alike, and have as many cells of each label.
"""

from __future__ import annotations

import collections
import hashlib
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ngtools import ngflow

VERSION = "1"  # of this form; another one makes other hashes
# What is left of attributes: what a synthesis obeys.
ATTRIBUTES = ("keep", "keep_hierarchy", "ram_style", "rom_style", "syn_ramstyle")
NAMES = ("MEMID", "NAME")  # parameters that hold names
Label = bytes


def _label(*parts: bytes) -> Label:
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        digest.update(len(part).to_bytes(4, "little") + part)
    return digest.digest()


def _text(value: object) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _kept(attributes: dict) -> dict:
    return {name: value for name, value in attributes.items() if name in ATTRIBUTES}


class Netlist:
    """Yosys' JSON of a design, after `proc` and `memory_collect`."""

    def __init__(self, design: dict) -> None:
        self.modules = design["modules"]
        self.hashes: dict[str, Label] = {}

    def module(self, name: str) -> Label:
        if name not in self.hashes:
            self.hashes[name] = self._hash(self.modules[name])
        return self.hashes[name]

    def _kind(self, cell: dict) -> Label:
        if cell["type"] in self.modules:
            return _label(b"module", self.module(cell["type"]), _text(_kept(cell.get("attributes", {}))))
        parameters = {name: value for name, value in cell["parameters"].items() if name not in NAMES}
        return _label(cell["type"].encode(), _text(parameters), _text(_kept(cell.get("attributes", {}))))

    def _hash(self, module: dict) -> Label:
        initial: dict[object, bytes] = {}
        marks: dict[object, bytes] = collections.defaultdict(bytes)
        for net in module["netnames"].values():
            attributes = net.get("attributes", {})
            if "init" in attributes:
                for bit, value in zip(net["bits"], reversed(str(attributes["init"])), strict=False):
                    initial[bit] = value.encode()
            if kept := _kept(attributes):
                for bit in net["bits"]:
                    marks[bit] += _text(kept)
        ports = sorted(module["ports"].items())
        labels: dict[object, Label] = {}
        cells = list(module["cells"].values())
        kinds = [self._kind(cell) for cell in cells]
        inputs, outputs = [], []
        for cell in cells:
            ways = cell["port_directions"]
            pins = sorted(cell["connections"].items())
            inputs.append([(name.encode(), bits) for name, bits in pins if ways[name] != "output"])
            outputs.append([(name.encode(), bits) for name, bits in pins if ways[name] != "input"])
        for name, port in ports:
            if port["direction"] != "output":
                for i, bit in enumerate(port["bits"]):
                    labels[bit] = _label(b"port", name.encode(), b"%d" % i)
        fixed = set(labels)
        drivers: dict[object, list[tuple[int, bytes]]] = collections.defaultdict(list)
        for i, pins in enumerate(outputs):
            for name, bits in pins:
                for k, bit in enumerate(bits):
                    if bit not in fixed:
                        drivers[bit].append((i, b"%s.%d" % (name, k)))

        def seen(bit: object) -> Label:
            if isinstance(bit, str):
                return bit.encode()
            return labels.get(bit, b"undriven")

        own, count = kinds, 0
        while len(set(own)) > count:
            count = len(set(own))
            for bit, sources in drivers.items():
                driven = sorted(_label(own[i], pin) for i, pin in sources)
                labels[bit] = _label(*driven, b"=", initial.get(bit, b""), marks.get(bit, b""))
            own = [
                _label(own[i], *(part for name, bits in pins for part in (name, *map(seen, bits))))
                for i, pins in enumerate(inputs)
            ]
        return _label(
            _text(_kept(module.get("attributes", {}))),
            *(
                part
                for name, port in ports
                for part in (name.encode(), port["direction"].encode(), *map(seen, port["bits"]))
            ),
            b"cells",
            *sorted(own),
        )


def designs(tops: Iterable[str], files: Iterable[Path]) -> tuple[dict, dict[str, str]]:
    """Yosys' JSON of several designs, each a module with its parameters ("ng_fifo2 Width=32"), and each one's module there.
    They are elaborated as instances of one module, so that what they share is elaborated once."""
    instances, names = [], {}
    for i, top in enumerate(tops):
        name, _, parameters = top.partition(" ")
        values = ", ".join(
            f".{key}(32'sh{value & 0xFFFFFFFF:08x})" for key, value in ngflow.parse_params(parameters).items()
        )
        instances.append(f"  (* keep *) {name} {f'#({values}) ' if values else ''}u{i} ();")
        names[f"u{i}"] = top
    with tempfile.TemporaryDirectory() as folder:
        around, out = Path(folder) / "around.sv", Path(folder) / "netlist.json"
        around.write_text("module ng_all_designs ();\n" + "\n".join(instances) + "\nendmodule\n")
        commands = [
            *ngflow.yosys_read("ng_all_designs", [*files, around], {}),
            "proc",
            "memory_collect",
            "opt_expr",
            "opt_clean",
            f"write_json {out}",
        ]
        ngflow.run_yosys(commands, Path(folder) / "netlist.log")
        design = json.loads(out.read_text())
    cells = design["modules"]["ng_all_designs"]["cells"]
    return design, {names[instance]: cell["type"] for instance, cell in cells.items()}


def products(tops: Iterable[str], files: Iterable[Path]) -> dict[str, str]:
    """The product of each of these designs."""
    design, modules = designs(tops, files)
    netlist = Netlist(design)
    return {top: netlist.module(module).hex() for top, module in modules.items()}


def flat(commands: Iterable[str], top: str, folder: Path) -> str:
    """The product of a design without its hierarchy, bit by bit, so that neither modules nor widths of registers count.
    `commands` load it into a Yosys that runs in the folder."""
    out = folder / "flat.json"
    steps = ["proc", "flatten", "opt_expr", "opt_clean", "simplemap", "opt_clean -purge", f"write_json {out}"]
    ngflow.run_yosys([*commands, *steps], folder / "flat.log", folder)
    return Netlist(json.loads(out.read_text())).module(top).hex()
