# SPDX-License-Identifier: Apache-2.0
"""Tests of what makes the manual's pages, pictures and site (tools/ngtools/prose.py, pictures.py, site.py): manual_test.py"""

from __future__ import annotations

import tempfile
import types
import unittest
from pathlib import Path

import pytest

from ngtools import pictures, site
from ngtools.ngflow import FlowError
from ngtools.prose import a_sentence_a_line, faults


class Prose(unittest.TestCase):
    def test_paragraphs_and_items(self) -> None:
        page = "# One. Two\n\nFirst here,\ngoes on. Second: `a. B` (i.e. X). 3 items. **Fourth.**\n\n- An item. Its\n  second.\n- Next\n"
        expected = (
            "# One. Two\n\nFirst here, goes on.\nSecond: `a. B` (i.e. X). 3 items.\n**Fourth.**\n\n"
            "- An item.\n  Its second.\n- Next\n"
        )
        assert a_sentence_a_line(page) == expected
        assert a_sentence_a_line(expected) == expected

    def test_what_is_no_prose_stays(self) -> None:
        page = "| a. B | c |\n|---|---|\n\n```\nOne. Two\nthree\n```\n<!-- A. B -->\n\n    x. Y\n"
        assert a_sentence_a_line(page) == page

    def test_pages_have_a_sentence_a_line(self) -> None:
        assert faults("One. Two\n") == ["line 1 has more than one sentence: One. Two"]
        assert faults("One,\ntwo.\n") == ["line 1 ends within a sentence: One,"]
        assert faults("One.\nTwo by A. Bee:\n- three `a. B` (i.e. X)\n") == []
        root = site.DOCS.parent
        pages = [root / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")] + [*site.DOCS.rglob("*.md")]
        # area.md is written by synth/synth.py, of which all verdicts of area have the hash.
        wrong = [
            f"{page.relative_to(root)}: {fault}"
            for page in pages
            if page.name != "area.md"
            for fault in faults(page.read_text())
        ]
        assert not wrong, "\n".join(wrong)


class Pictures(unittest.TestCase):
    def test_widths_are_those_of_the_rtl(self) -> None:
        text = "{bits:dot_e2m1(Lanes=32).dot_o} {bits:dot_fp8(FormatSet=2).LaneWidth} {bits:dot_fp8.LaneWidth} {bits:dot_nvfp4.nan_o}"
        assert pictures.filled("test", text) == "14 37 65 1"

    def test_what_the_rtl_does_not_say_is_refused(self) -> None:
        for wanted in ("dot_e2m1.nothing", "nothing.dot", "scale_nvfp4.product"):  # the last is declared twice
            with pytest.raises(FlowError):
                pictures.filled("test", f"{{bits:{wanted}}}")

    def test_figures(self) -> None:
        path = "power/technologies/horowitz_45nm.json"
        bar = {"text": "", "file": path, "keys": ["operations", {"op": "mul", "format": "fp16"}, "energy_j"]}
        over = {"file": path, "keys": ["operations", {"op": "add", "format": "fp16"}, "energy_j"], "unit": 2}
        assert pictures.figure_of("test", bar) == 1.1e-12
        assert abs(pictures.figure_of("test", {**bar, "plus": over["keys"], "over": over}) - 7.5) < 1e-9
        with pytest.raises(FlowError):
            pictures.figure_of("test", {**bar, "keys": ["operations", {"op": "mul"}, "energy_j"]})


class Site(unittest.TestCase):
    def test_links_out_of_the_manual_become_text(self) -> None:
        page = types.SimpleNamespace(file=types.SimpleNamespace(src_uri="units/a.md"))
        text = "[`x`](../../rtl/x.sv), [y](../y.md#z), [w](https://w)\n```\n[x](../../rtl/x.sv)\n```\n"
        expected = "`x`, [y](../y.md#z), [w](https://w)\n```\n[x](../../rtl/x.sv)\n```\n"
        assert site.on_page_markdown(text, page, None, None) == expected

    def test_faults_are_found(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "search").mkdir()
            (folder / "b").mkdir()
            (folder / "index.html").write_text(
                '<h2 id="here">x</h2><a href="b/#there">b</a><a href="#here">ok</a><a href="https://w">w</a>'
            )
            (folder / "b" / "index.html").write_text('<img src="../gone.svg"><p>| a | b |</p><a href="../#here">ok</a>')
            (folder / "search" / "search_index.json").write_text('{"docs": [{"location": ""}]}')
            assert site.broken(folder) == [
                "b/index.html: ../gone.svg is not there",
                "b/index.html: a table has become text",
                "index.html: b/#there has no such heading",
                "b/index.html: the search has no such page",
            ]

    def test_navigation_has_every_unit(self) -> None:
        pages = [path for part in site.navigation() for path in leaves(part)]
        assert len(pages) == len(set(pages))
        assert {f"units/{path.name}" for path in (site.DOCS / "units").glob("*.md")} <= set(pages)


def leaves(item: dict | list | str) -> list[str]:
    if isinstance(item, str):
        return [item]
    return [leaf for part in (item.values() if isinstance(item, dict) else item) for leaf in leaves(part)]


if __name__ == "__main__":
    unittest.main()
