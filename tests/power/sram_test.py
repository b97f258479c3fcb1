# SPDX-License-Identifier: Apache-2.0
"""The tables of SRAM by size and port (power/sram/cacti_*.jsonl): whole, plausible, and with the errors that they state.

CACTI itself is asked by power/sram/cacti.py --check, where it is installed.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import pytest

from ngtools.ngflow import ROOT, FlowError

_spec = importlib.util.spec_from_file_location("cacti", ROOT / "power" / "sram" / "cacti.py")
assert _spec
assert _spec.loader
cacti = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cacti)

#: What the package is taken to be here: a program that answers with numbers that follow from the question.
FAKE = """#!{python}
import json, sys
print(json.dumps({{"hwcomponents-cacti": "0", "hwcomponents": "0", "sources_sha256": "0"}}))
for node, size, width in json.loads(sys.argv[3]):
    if size > {largest}:
        sys.exit("CACTI does not build: no g++")
    print(json.dumps([1e-15 * node * width, 2e-15 * node * width, 1e-9 * size, 1e-12 * size, 1e-9, 2e-9]))
"""


class Tables(unittest.TestCase):
    def setUp(self) -> None:
        self.tables = cacti.read_tables()

    def test_every_entry_is_there(self) -> None:
        assert [t["technology"] for t in self.tables] == [f"cacti_{node}nm" for node in sorted(cacti.NODES)]
        for table in self.tables:
            for field in cacti.FIELDS:
                for size, row in zip(cacti.SIZES, table[field], strict=True):
                    for width, value in zip(cacti.WIDTHS, row, strict=True):
                        if cacti.possible(size, width):
                            assert value > 0, (table["technology"], field, size, width)
                        else:
                            assert value is None

    def test_figures_of_the_issue(self) -> None:
        table = cacti.of_node(self.tables, 7)
        row = table["read_j"][cacti.SIZES.index(32768)]
        assert row[cacti.WIDTHS.index(64)] == pytest.approx(2.1e-12, abs=0.05e-12)
        assert row[cacti.WIDTHS.index(512)] / 512 == pytest.approx(0.011e-12, abs=0.0005e-12)

    def test_the_scaled_table_follows_from_its_node(self) -> None:
        scaled, own = cacti.of_node(self.tables, 7), cacti.of_node(self.tables, 22)
        for field, power in (("read_j", 0.5), ("write_j", 0.5), ("area_m2", 1), ("access_s", 1)):
            for mine, other in zip(scaled[field], own[field], strict=True):
                for x, y in zip(mine, other, strict=True):
                    if x is not None:
                        assert x / y == pytest.approx((7 / 22) ** power, abs=1e-3)
        assert "from 22 nm" in scaled["scaled"]

    def test_beside_cited_figures(self) -> None:
        for node in (7, 45):
            table = cacti.of_node(self.tables, node)
            assert table["beside"] == cacti.beside(table)
            assert "times as large" in table["beside"]

    def test_errors_and_rows_can_be_printed(self) -> None:
        assert "cacti_7nm: the cited figures" in cacti.errors(self.tables)
        assert any("cacti_7nm" in line for line in cacti.rows(self.tables))


class Recipe(unittest.TestCase):
    def asked(self, largest: int, kept: bool) -> list[dict]:
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "python"
            program.write_text(FAKE.format(python=sys.executable, largest=largest))
            program.chmod(0o755)
            answers = Path(folder) / "kept.jsonl" if kept else None
            tables = cacti.make(str(program), answers)
            if answers:
                program.write_text(FAKE.format(python=sys.executable, largest=0))  # must not be asked again
                assert cacti.make(str(program), answers) == tables
            return tables

    def test_tables_are_made_of_answers(self) -> None:
        tables = self.asked(1 << 30, kept=True)
        at = cacti.SIZES.index(1024), cacti.WIDTHS.index(64)
        assert cacti.of_node(tables, 45)["write_j"][at[0]][at[1]] == pytest.approx(2e-15 * 45 * 64)
        assert "from 22 nm" in cacti.of_node(tables, 7)["scaled"]

    def test_a_package_that_fails_is_a_sentence(self) -> None:
        with pytest.raises(FlowError, match=r"no g.*requirements\.txt"):
            self.asked(4096, kept=False)

    def test_differences_are_found(self) -> None:
        tables = cacti.read_tables()
        said = {}
        for node, size, width in cacti.SAMPLE:
            table = cacti.of_node(tables, node)
            at = cacti.SIZES.index(size), cacti.WIDTHS.index(width)
            said[(node, size, width)] = [table[field][at[0]][at[1]] for field in cacti.FIELDS]
        with mock.patch.object(cacti, "ask", return_value=(tables[0]["package"], said)):
            assert cacti.check("python") == 0
            said[cacti.SAMPLE[0]][0] *= 1.01
            assert cacti.check("python") == 1


if __name__ == "__main__":
    unittest.main()
