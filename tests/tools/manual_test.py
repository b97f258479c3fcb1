# SPDX-License-Identifier: Apache-2.0
"""Tests of the manual: prose, pictures and site (tools/ngtools/prose.py, pictures.py, site.py), and commit_message.py."""

from __future__ import annotations

import json
import re
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

import pytest

from ngtools import pictures, site, status
from ngtools.commit_message import faults as commit_faults
from ngtools.ngflow import FlowError
from ngtools.prose import (
    BASELINE,
    a_sentence_a_line,
    checked,
    comment_fragments,
    faults,
    grown,
    lengths,
    lowered,
    sentences,
    style_faults,
)


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
        pages = [
            root / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "RELEASING.md", "SECURITY.md")
        ] + [*site.DOCS.rglob("*.md")]
        wrong = [f"{page.relative_to(root)}: {fault}" for page in pages for fault in faults(page.read_text())]
        assert not wrong, "\n".join(wrong)

    def test_style_of_sentences(self) -> None:
        long = "One " + "word " * 25 + "more."
        page = (
            f"# What a heading is\n\n{long}\nWhat prunes is a unit.\nWhat is this?\nThat the array waits is known.\nThat is 3.\n"
            "A; b; c.\nIt is done likewise.\n`likewise` [the other two](x.md).\nWhere it is, it stays.\n\n| cell | "
            + "word " * 26
            + "|\n|---|---|\n\n```\nWhat is code is code; a; b.\n```\n<!-- t: begin (generated) -->\nWhat is made is made.\n<!-- t: end -->\n"
        )
        kinds = [
            (int(fault.split(":")[0].split()[1]), fault.split(": ")[1].split(";")[0]) for fault in style_faults(page)
        ]
        assert kinds == [
            (3, "a sentence of 27 words"),
            (4, "the subject is a clause"),
            (6, "the subject is a clause"),
            (8, "a sentence with more than one semicolon"),
            (9, '"likewise" has its noun elsewhere'),
            (10, '"the other two" has its noun elsewhere'),
            (13, "a cell of 26 words"),
        ], kinds

    def test_comments_stand_alone(self) -> None:
        source = "input a, // likewise\ninput b, // raise irq_o with the last word\n// and a block of lines\n  x = 1; // which waits\n"
        assert [fault.split(":")[0] for fault in comment_fragments(source)] == ["line 1", "line 4"]

    def test_the_baseline_only_shrinks(self) -> None:
        now = {"a": ["x", "y"], "b": ["x"], "c": [], "d": ["x"]}
        allowed = {"a": 1, "b": 3, "c": 2, "gone": 4}
        assert [fault.split(":")[0] for fault in grown(now, allowed)] == ["a", "d"]
        assert lowered(now, allowed) == {"a": 1, "b": 1}

    def test_style_of_the_manual(self) -> None:
        wrong = grown(checked(), json.loads(BASELINE.read_text()))
        assert not wrong, "\n".join(wrong)

    def test_words_of_the_manual(self) -> None:
        found = lengths()
        assert {"README.md", "docs/units/tile.md"} <= set(found)
        assert list(found.values()) == sorted(found.values(), reverse=True)

    def test_counts_of_verdicts(self) -> None:
        jobs = {"mutants.a": {}, "mutants.b": {}, "netlist.a": {}}
        with mock.patch.object(status, "read_entries", return_value=jobs):
            with mock.patch.object(status, "read_pending", return_value=([], {"mutants.b"})):
                assert status.campaigns().startswith("Of 2 campaigns of mutants 1 ran")
                assert "Of 3 verdicts 2 are of today's tree, 1 of 2 campaigns" in status.deep_tests()
            with mock.patch.object(status, "read_pending", return_value=([], set())):
                assert status.campaigns().startswith("All 2 campaigns")
                assert "All 3 verdicts" in status.deep_tests()

    def test_the_changelog_is_short(self) -> None:
        """Under each version the headings of Keep a Changelog in their order; a change in one or two sentences, a break with what to do."""
        page = (site.DOCS.parent / "CHANGELOG.md").read_text()
        order = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
        for version in page.split("\n## ")[1:]:
            heads = re.findall(r"^### (.*)$", version, re.MULTILINE)
            assert heads == [head for head in order if head in heads], (version[:20], heads)
            assert version.split("\n")[0] == "Unreleased" or re.match(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d\n", version)
        for item in re.findall(r"^- .*(?:\n  .*)*", page, re.MULTILINE):
            text = " ".join(item[2:].split())
            assert len(sentences(text)) <= 2, f"an entry of more than two sentences: {item[:60]}"
            names_only = len(re.sub(r"`[^`]*`", "", text).split()) < 15
            assert names_only or len(text.split()) <= 45, f"an entry of {len(text.split())} words: {item[:60]}"


class Commits(unittest.TestCase):
    def test_messages(self) -> None:
        good = "mac_array: register the stall one cycle ahead\n\nThe path was the longest.\n" + "# of git, " * 12
        assert not commit_faults(good)
        assert not commit_faults("Merge branch 'x'")
        assert not commit_faults("rtl, cosim: embed the table\n\nA reason.\n")
        wrong = {
            "Stalls are known a cycle ahead": "no scope",
            "mac_array: the stall is known": "no order",
            "mac_array: registered the stall": "no order",
            "mac_array: register the stall.": "no scope",
            "mac_array: register " + "the stall " * 6: "columns",
            "mac_array: register the stall\nA body": "line 2",
            "mac_array: register it": "no body",
        }
        for message, fault in wrong.items():
            body = "" if "body" in fault or "line 2" in fault else "\n\nA reason.\n"
            found = commit_faults(message + body)
            assert len(found) == 1, (message, found)
            assert fault in found[0], (message, found)


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
