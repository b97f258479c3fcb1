# SPDX-License-Identifier: Apache-2.0
"""Records of units: what is wrong is named with file, key, value and what was expected; rules in words; values filled in."""

from __future__ import annotations

import json
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import pytest

from ngtools import cmake_units, ngflow, records
from ngtools.records import Parameter, RecordError

RTL = """module ng_x #(parameter int Width = 8, parameter int Depth = 4) ();
  if (Width < 1 || Width > 16) begin : gen_check_width $fatal(1, "ng_x: Width=%0d; expected 1 to 16", Width); end
  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : gen_check_depth $fatal(1, "ng_x: Depth=%0d; expected a power of two, 2 or more", Depth); end
endmodule
"""
RECORD = """does = "something"
golden = "golden.hpp"
bench = "bench.cpp"
configurations = [{name = "x", params = {Width = 8}, rtl = {vectors = 7}, mutants = {}}]
[defaults]
mutants = {count = 30}
[parameters]
Width = {min = 1, max = 16, does = "bits"}
Depth = {min = 2, power_of_two = true, try = [6], does = "words"}
[[plan]]
point = "all"
how = "somehow"
tests = ["rtl[.]x"]
[[energy]]
params = {Depth = 2}
lanes = "{2*Width}"
entries = [{name = "x8", params = {Width = 8}}, {name = "x4", params = {Width = 4}, words = "{Depth}"}]
"""


class Records(unittest.TestCase):
    def read(self, record: str = RECORD, rtl: str = RTL) -> records.Unit:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "rtl" / "prim").mkdir(parents=True)
            (root / "model").mkdir()
            (root / "docs" / "units").mkdir(parents=True)
            (root / "model" / "formats.json").write_text(json.dumps({"formats": []}))
            for name in ("golden.hpp", "bench.cpp", "docs/units/x.md"):
                (root / name).write_text("")
            (root / "rtl" / "prim" / "ng_x.sv").write_text(rtl)
            (root / "rtl" / "prim" / "ng_x.toml").write_text(record)
            with (
                mock.patch.object(records, "ROOT", root),
                mock.patch.object(ngflow, "ROOT", root),
                mock.patch.object(cmake_units, "ROOT", root),
            ):
                (unit,) = records.read_units(root / "rtl")
                return unit

    def refused(self, old: str, new: str, *parts: str, rtl: bool = False) -> None:
        text = RTL if rtl else RECORD
        assert text.count(old) == 1, old
        with pytest.raises(RecordError) as caught:
            self.read(*((RECORD, text.replace(old, new)) if rtl else (text.replace(old, new),)))
        for part in parts:
            assert part in str(caught.value)

    def test_a_record(self) -> None:
        unit = self.read()
        assert (unit.name, unit.family, unit.top) == ("x", "prim", "ng_x")
        (item,) = unit.configurations
        assert item.faces == {"rtl": {"vectors": 7}, "mutants": {"count": 30}}
        assert item.defines == {"NG_WIDTH": 8, "NG_DEPTH": 4}
        refused = [(refusal.params, refusal.expect) for refusal in unit.refusals]
        assert ({"Width": 17}, "ng_x: Width=17; expected 1 to 16") in refused
        assert ({"Depth": 6}, "ng_x: Depth=6; expected a power of two, 2 or more") in refused
        assert len(refused) == 3
        assert unit.energy[0] == {"name": "x8", "top": "ng_x", "params": {"Width": 8, "Depth": 2}, "lanes": 16}
        assert unit.energy[1]["words"] == 2

    def test_what_is_refused(self) -> None:
        where = "rtl/prim/ng_x.toml: "
        self.refused('does = "something"', "does = 3", where + "does: 3; expected a string")
        self.refused('does = "something"', "", where + "does; expected a string, but it is missing")
        self.refused("vectors = 7", 'vectors = "7"', where + "configurations[0].rtl.vectors: '7'; expected an integer")
        self.refused("vectors = 7", "vektors = 7", "rtl.vektors: 7; expected only deep, sweep, timeout, vectors")
        self.refused("Width = 8}, rtl", "Width = 17}, rtl", "params.Width: 17; expected 1 to 16")
        self.refused("Width = 8}, rtl", "Wide = 8}, rtl", "params.Wide; expected a parameter: Width, Depth")
        self.refused(", rtl = {vectors = 7}, mutants = {}", "", "expected at least one face")
        self.refused(
            "mutants = {}", 'mutants = {scope = "ng_x[.]sv:(?!7[.])"}', "expected files, not lines", "ng-no-fault"
        )
        self.refused('golden = "golden.hpp"', 'golden = "gone.hpp"', "golden gone.hpp does not exist")
        self.refused("try = [6]", "try = [8]", "try: [8]; expected values that the rule refuses")
        self.refused(
            'Width = {min = 1, max = 16, does = "bits"}\n', "", "expected those of ng_x.sv, in its order: Width, Depth"
        )
        self.refused('"{2*Width}"', '"{2*Wide}"', "energy[0].entries[0].lanes", "{2*Wide}", "expected numbers")
        self.refused('name = "x4"', 'name = "x8"', "energy entry 'x8' is there 2 times")
        self.refused('tests = ["rtl[.]x"]', "", "plan[0].tests; expected a list, but it is missing")
        self.refused(
            "Depth = {min = 2", "Depth = {min = 8", "the default of ng_x.sv is 4; expected a power of two, 8 or more"
        )
        self.refused('does = "something"', 'does = "some', "rtl/prim/ng_x.toml: ")

    def test_the_rtl_says_the_same(self) -> None:
        self.refused(
            "expected 1 to 16",
            "expected 0 to 16",
            "rtl/prim/ng_x.sv: parameter Width; expected a check with the record's rule",
            '"ng_x: Width=%0d; expected 1 to 16"',
            rtl=True,
        )

    def test_a_switch_has_its_rule_in_its_type(self) -> None:
        record = RECORD.replace("[[plan]]", 'On = {does = "whether"}\n[[plan]]')
        rtl = RTL.replace("Depth = 4", "Depth = 4, parameter bit On = 1'b1")
        unit = self.read(record, rtl)
        assert (unit.parameters["On"].expected(), unit.parameters["On"].default) == ("0 or 1", 1)
        assert len(unit.refusals) == 3
        assert unit.configurations[0].defines["NG_ON"] == 1
        self.read(record.replace("params = {Width = 8}, rtl", "params = {On = 0}, rtl"), rtl)
        for old, new, message in (
            ("params = {Width = 8}, rtl", "params = {On = 2}, rtl", "params.On: 2; expected 0 or 1"),
            ("On = {", "On = {min = 0, max = 1, ", "min: 0; expected no rule, since On of ng_x.sv is one bit"),
        ):
            with pytest.raises(RecordError, match=re.escape(message)):
                self.read(record.replace(old, new), rtl)

    def test_rules_in_words(self) -> None:
        for rule, words, bad in (
            ({"minimum": 1}, "1 or more", [0]),
            ({"minimum": 0, "maximum": 1}, "0 or 1", [-1, 2]),
            ({"minimum": 1, "maximum": 3}, "1, 2 or 3", [0, 4]),
            ({"minimum": -125, "maximum": 400}, "-125 to 400", [-126, 401]),
            ({"minimum": 1, "power_of_two": True}, "a power of two", [0, 3]),
            ({"minimum": 8, "maximum": 2040, "multiple_of": 8}, "8 to 2040, a multiple of 8", [7, 9, 2041]),
            ({"minimum": 0, "maximum": 1, "names": ("array", "booth")}, "0 (array) or 1 (booth)", [-1, 2]),
            ({}, "", []),
        ):
            parameter = Parameter("P", "", 0, **rule)
            assert (parameter.expected(), parameter.bad_values()) == (words, bad)
            for value in bad:
                assert not parameter.accepts(value)

    def test_macros(self) -> None:
        names = {"AWidth": "NG_A_WIDTH", "LsbExp": "NG_LSB_EXP", "BlockRam": "NG_BLOCK_RAM", "Rows": "NG_ROWS"}
        assert {name: records.define_of(name) for name in names} == names

    def test_the_tree(self) -> None:
        for unit in records.read_units():
            assert f"NAME [==[{unit.having('rtl')[0].name}]==]" in cmake_units.Writer().unit(unit)


class Package(unittest.TestCase):
    def test_no_script_changes_where_python_looks(self) -> None:
        """What scripts share is package ngtools, installed by tools/setup.sh and put in front by the build."""
        folders = [path for path in ngflow.ROOT.iterdir() if path.is_dir() and not path.name.startswith((".", "build"))]
        scripts = [path for folder in folders for path in folder.rglob("*.py")]
        assert len(scripts) > 40
        assert [ngflow.from_root(path) for path in scripts if "sys" + ".path" in path.read_text()] == []


if __name__ == "__main__":
    unittest.main()
