# SPDX-License-Identifier: Apache-2.0
"""Files of recorded data (ngtools.recorded), those of this tree, and what a record of area binds (synth/synth.py)."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import multiprocessing
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import pytest

from ngtools import ngflow, recorded
from ngtools.ngflow import FlowError

_spec = importlib.util.spec_from_file_location("synth", ngflow.ROOT / "synth" / "synth.py")
synth = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(synth)
sys.modules["synth"] = synth
_spec = importlib.util.spec_from_file_location("area_page", ngflow.ROOT / "synth" / "area_page.py")
area_page = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(area_page)
FILES = [path for folder in ("power", "synth") for path in sorted((ngflow.ROOT / folder).rglob("*.jsonl"))]


def entry(name: str, **figures: object) -> dict:
    return {"unit": name, **figures}


def write_many(path: Path, first: int) -> None:
    for number in range(first, 40, 4):
        recorded.update(path, {f"unit{number:02}": entry(f"unit{number:02}", lut4=number)})


class Files(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "records" / "osu018.jsonl"

    def test_one_update_touches_one_line(self) -> None:
        recorded.update(self.path, {name: entry(name, energy_j=1e-12 / 3, recipe=["a; b"]) for name in "cab"})
        # Layout that update() would not write itself stays too.
        lines = self.path.read_text().replace('"unit": "b", ', '"unit":"b",  ').splitlines()
        self.path.write_text("\n".join(lines) + "\n")
        recorded.update(self.path, {"c": entry("c", energy_j=2.0)})
        assert self.path.read_text().splitlines() == [*lines[:2], '{"unit": "c", "energy_j": 2.0}']
        recorded.update(self.path, {"a": None, "none": None, "aa": entry("aa")})
        assert self.path.read_text().splitlines() == ['{"unit": "aa"}', lines[1], '{"unit": "c", "energy_j": 2.0}']
        assert list(recorded.read(self.path)) == ["aa", "b", "c"]
        assert recorded.read(self.path)["b"] == entry("b", energy_j=1e-12 / 3, recipe=["a; b"])

    def test_what_does_not_change_is_not_written(self) -> None:
        recorded.update(self.path, {"a": entry("a")})
        inode = self.path.stat().st_ino
        recorded.update(self.path, {"a": entry("a"), "b": None})
        assert self.path.stat().st_ino == inode
        recorded.update(self.path, {"a": entry("a", ff=1)})
        assert self.path.stat().st_ino != inode

    def test_writers_at_once_lose_nothing(self) -> None:
        self.path.parent.mkdir()
        workers = [multiprocessing.Process(target=write_many, args=(self.path, first)) for first in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
            assert worker.exitcode == 0
        assert len(recorded.read(self.path)) == 40
        assert [path.name for path in self.path.parent.iterdir()] == [self.path.name]

    def test_a_write_that_fails_leaves_the_file(self) -> None:
        recorded.update(self.path, {"a": entry("a")})
        before = self.path.read_text()
        with mock.patch("os.replace", side_effect=OSError("no space")), pytest.raises(OSError, match="no space"):
            recorded.update(self.path, {"b": entry("b")})
        assert self.path.read_text() == before
        assert [path.name for path in self.path.parent.iterdir()] == [self.path.name]

    def test_broken_files_are_refused_by_line(self) -> None:
        self.path.parent.mkdir()
        for text, said in (
            ('{"unit": "a"}\n{"unit": "b"\n', r"osu018.jsonl:2 is not JSON"),
            ('{"unit": "a"}\n\n', r"osu018.jsonl:2 is not JSON"),
            ('{"unit": "b"}\n{"unit": "a"}\n', r'entry "a" in .*:2 is behind "b"; expected sorted names'),
            ('{"unit": "a"}\n{"unit": "a"}\n', r'entry "a" in .*:2 is behind "a"; expected sorted names'),
            ("[1]\n", r"jsonl:1 is no entry"),
            ('{"lut4": 3}\n', r"jsonl:1 is no entry"),
            ("{}\n", r"jsonl:1 is no entry"),
        ):
            self.path.write_text(text)
            with pytest.raises(FlowError, match=said):
                recorded.read(self.path)
        with pytest.raises(FlowError, match='entry "a" begins with'):
            recorded.update(self.path, {"a": entry("b")})

    def test_by_lines_is_the_same_json(self) -> None:
        content = {"id": "x", "list": [{"a": 1}, 2.5], "object": {"b": {"c": [1]}, "d": None}, "none": {}}
        text = recorded.by_lines(content)
        assert json.loads(text) == content
        assert len(text.splitlines()) == 9


class Tree(unittest.TestCase):
    """The recorded data of this tree."""

    def test_every_file_is_as_update_writes_it(self) -> None:
        assert len(FILES) >= 10
        for path in FILES:
            for name, line in recorded.lines(path).items():
                assert line == json.dumps(json.loads(line)), f"{path}: {name}"
            for name, record in recorded.read(path).items():
                technology, _, recipe = path.stem.partition(".")  # of power/recipes/records
                assert record.get("technology", technology) == technology, f"{path}: {name}"
                assert not recipe or record["recipe_name"] == recipe, f"{path}: {name}"

    def test_no_record_is_a_file_of_its_own(self) -> None:
        for folder in ("power/records", "power/cuts/records", "synth/records"):
            assert not list((ngflow.ROOT / folder).rglob("*.json")), folder

    def test_every_record_of_area_has_a_configuration_and_a_target(self) -> None:
        entries = synth.load_entries()
        assert set(entries) == set(synth.load_targets())
        assert set(synth.load_records()) <= set(synth.configurations())


class Area(unittest.TestCase):
    """Figures of one version of Yosys bind under that version."""

    NAME = "rht16_folded"

    def checked(self, version: str, lut4: int, names: str = "", **more: object) -> tuple[int, str]:
        """Exit code and text of --check, if the mapping had so many LUT4 under this Yosys and the record these names."""
        record = synth.load_record(self.NAME)
        record["names"] = names or ngflow.names_hash(ngflow.sources(record["top"]))
        now = {**record["targets"]["ice40"], "lut4": lut4, **more}
        fresh = ngflow.design_hash(ngflow.sources(record["top"]))
        out = io.StringIO()
        with (
            mock.patch.object(synth, "synthesize", return_value=now),
            mock.patch.object(synth, "configurations", return_value={self.NAME: (self.unit, self.configuration)}),
            mock.patch.object(synth, "load_record", return_value={**record, "source_sha256": fresh}),
            mock.patch.object(ngflow, "yosys_version", return_value=version),
            contextlib.redirect_stdout(out),
        ):
            return synth.check(self.NAME), out.getvalue()

    @classmethod
    def setUpClass(cls) -> None:
        cls.known = synth.configurations()

    def setUp(self) -> None:
        record = synth.load_record(self.NAME)
        (self.version,) = record["tools"]
        self.lut4 = record["targets"]["ice40"]["lut4"]
        self.unit, self.configuration = self.known[self.NAME]
        self.limit = self.configuration["budget"]["ice40.lut4"]

    def test_the_recorded_version_binds(self) -> None:
        assert self.checked(self.version, self.lut4)[0] == 0
        for other in (self.lut4 + 1, self.lut4 - 1, self.limit + 1):
            status, said = self.checked(self.version, other)
            assert status == 1
            assert f"lut4 is {other}, recorded {self.lut4}" in said

    def test_logic_cells_bind_under_the_same_packer(self) -> None:
        packed = {"logic_cells": 2000, "packed_by": "nextpnr-ice40 1"}
        record = {**synth.load_record(self.NAME)}
        record["targets"] = {**record["targets"], "ice40": {**record["targets"]["ice40"], **packed}}
        with mock.patch.object(synth, "load_record", return_value=record):
            for now, status in ((packed, 0), ({**packed, "logic_cells": 2001}, 1)):
                assert self.checked(self.version, self.lut4, **now)[0] == status
            other = {"logic_cells": 2001, "packed_by": "nextpnr-ice40 2"}
            assert self.checked(self.version, self.lut4, **other)[0] == 0

    def test_cells_of_the_device_say_what_they_count(self) -> None:
        placed = {"place_and_route": {"used_with_wrapper": {"ICESTORM_LC": 2749}}}
        assert area_page.device_cells({"logic_cells": 2567, **placed}, "ICESTORM_LC") == "2567"
        assert area_page.device_cells(placed, "ICESTORM_LC") == "2749*"
        assert area_page.device_cells({"place_and_route": {"failed": "no room"}}, "ICESTORM_LC") == "-"

    def test_speed_is_of_the_median_seed(self) -> None:
        def routed(*hertz: float, runs: int = 5) -> dict:
            pnr = dict(zip(("fmax_hz", "fmax_min_hz", "fmax_max_hz"), hertz, strict=True))
            return {"place_and_route": {**pnr, "paths_s": [1.0] * runs}}

        results = {"a": routed(20e6, 19e6, 21e6), "b": routed(20e6, 18e6, 20e6), "c": routed(20e6, 20e6, 24e6, runs=1)}
        assert [area_page.speed(result) for result in results.values()] == ["20.0", "20.0", "20.0 (1 seed)"]
        assert area_page.speed({"place_and_route": {"failed": "no room"}}) == "no"
        assert area_page.speed({}) == "-"
        middle, most = area_page.spread([{"targets": {**results, "d": {}}}])
        assert abs(middle - 0.1) < 1e-9
        assert abs(most - 0.2) < 1e-9

    def test_another_version_is_a_notice(self) -> None:
        status, said = self.checked("Yosys 0.52", self.limit + 40)
        assert status == 0, said
        assert f"notice: recorded with {self.version}, here is Yosys 0.52" in said
        assert f"notice: ice40.lut4 is {self.limit + 40}; the budget in the unit's record is {self.limit}" in said
        status, said = self.checked("Yosys 0.52", self.lut4 + 1)
        assert status == 0, said
        assert "the budget in the unit's record is" not in said

    def test_other_names_are_a_notice(self) -> None:
        status, said = self.checked(self.version, self.lut4 + 1, names="another")
        assert status == 0, said
        assert "notice: recorded from another text of the same RTL" in said
        status, said = self.checked(self.version, self.lut4 + 1)
        assert status == 1, said

    def test_the_record_itself_is_held_to_its_budget(self) -> None:
        self.configuration = {**self.configuration, "budget": {"ice40.lut4": self.lut4 - 1}}
        status, said = self.checked("Yosys 0.52", self.lut4)
        assert status == 1
        assert f"ice40.lut4 is {self.lut4}; the budget in the unit's record is {self.lut4 - 1}" in said


class Records(unittest.TestCase):
    """A record of area over the files of its targets."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.enterContext(mock.patch.object(synth, "RECORDS", Path(folder.name)))
        design = {"unit": "u", "top": "ng_u", "parameters": {}, "source_sha256": "0", "netlist": "0", "names": "0"}
        self.shared = {**design, "tools": ["Yosys 1"]}

    def test_saved_and_loaded(self) -> None:
        record = {**self.shared, "targets": {"ecp5": {"lut4": 2}, "ice40": {"lut4": 1}}}
        synth.save_record("u", record)
        assert synth.load_record("u") == record
        # A target that is not counted any more leaves its file.
        synth.save_record("u", {**self.shared, "targets": {"ice40": {"lut4": 3}}})
        assert synth.load_entries()["ecp5"] == {}
        assert synth.load_record("u")["targets"] == {"ice40": {"lut4": 3}}

    def test_targets_of_other_designs_are_refused(self) -> None:
        synth.save_record("u", {**self.shared, "targets": {"ecp5": {}, "ice40": {}}})
        other = {"record": "u", **self.shared, "source_sha256": "1"}
        recorded.update(synth.RECORDS / "ice40.jsonl", {"u": other})
        with pytest.raises(FlowError, match='record "u" on ice40 is of another design or tool than on ecp5'):
            synth.load_record("u")


if __name__ == "__main__":
    unittest.main()
