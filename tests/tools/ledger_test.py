# SPDX-License-Identifier: Apache-2.0
"""Tests of the ledger of deep tests (tools/ngtools/ledger.py): ledger_test.py [BUILD_FOLDER]

What goes stale, on a small tree and, with a build folder, on this one; and that a false verdict is caught by the draw.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import typing
import unittest
from pathlib import Path

from ngtools import ledger, ledger_keys, ngflow

BUILD: Path | None = None
WORKERS = 2

SMALL = {
    "rtl/ng_top.sv": "module ng_top (input wire a_i, output wire q_o);\n  ng_leaf u_leaf (.a_i, .q_o);\nendmodule\n",
    "rtl/ng_leaf.sv": "module ng_leaf (input wire a_i, output wire q_o);\n  assign q_o = !a_i;  // inverted\nendmodule\n",
    "model/include/m/sum.hpp": "// a sum\n#pragma once\nint sum(int a, int b);\n",
    "model/src/sum.cpp": '#include "m/sum.hpp"\n#include "detail.hpp"\nint sum(int a, int b) { return a + b + 1\'000 * zero; }\n',
    "model/src/detail.hpp": "#pragma once\nconstexpr int zero = 0;\n",
    "model/src/other.cpp": '#include "m/sum.hpp"\nint other() { return 0; }\n',
    "verif/bench.cpp": '#include "m/sum.hpp"\nint main() { const char* s = "// no comment"; return sum(1, 2) == 3 && s ? 0 : 1; }\n',
    "tools/job.py": '"""A job."""\nimport helper\n\n\ndef main():\n    return helper.used(1)\n',
    "tools/helper.py": 'LIMIT = 3\n\n\ndef used(x):\n    """Doc."""\n    return inner(x) + LIMIT\n\n\n'
    'def inner(x):\n    return x\n\n\ndef unused():\n    return "#"\n',
}
JOBS = [
    {
        "name": "rtl.top",
        "rtl": ["rtl/ng_top.sv", "rtl/ng_leaf.sv"],
        "cxx": ["verif/bench.cpp"],
        "parameters": "vectors 10",
    },
    {"name": "rtl.leaf", "rtl": ["rtl/ng_leaf.sv"], "parameters": "vectors 10"},
    {"name": "proof.job", "python": ["tools/job.py"]},
]


def hashes(tree: ledger_keys.Tree, jobs: list[dict]) -> dict[str, dict]:
    return {job["name"]: ledger_keys.text_keys(tree, job) for job in jobs}


class Stale(unittest.TestCase):
    """One change, and exactly the jobs that depend on it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        for name, text in SMALL.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        self.before = hashes(ledger_keys.Tree(self.root), JOBS)

    def stale(self, name: str, old: str, new: str) -> set[str]:
        assert old in SMALL[name]
        now = hashes(ledger_keys.Tree(self.root, {Path(name): SMALL[name].replace(old, new)}), JOBS)
        return {job for job, value in now.items() if value != self.before[job]}

    def test_rtl(self) -> None:
        assert self.stale("rtl/ng_top.sv", "u_leaf", "u_other") == {"rtl.top"}
        assert self.stale("rtl/ng_leaf.sv", "!a_i", "a_i") == {"rtl.top", "rtl.leaf"}

    def test_cxx(self) -> None:
        for name, old, new in (
            ("verif/bench.cpp", "== 3", "== 4"),
            ("verif/bench.cpp", "// no comment", "// a comment"),
            ("model/include/m/sum.hpp", "int b", "long b"),
            ("model/src/sum.cpp", "a + b", "a - b"),
            ("model/src/detail.hpp", "zero = 0", "zero = 1"),
        ):
            assert self.stale(name, old, new) == {"rtl.top"}, name
        assert self.stale("model/src/other.cpp", "return 0", "return 1") == set()

    def test_python(self) -> None:
        assert self.stale("tools/job.py", "used(1)", "used(2)") == {"proof.job"}
        for old, new in (("inner(x) + LIMIT", "inner(x)"), ("return x\n", "return -x\n"), ("LIMIT = 3", "LIMIT = 4")):
            assert self.stale("tools/helper.py", old, new) == {"proof.job"}, old
        assert self.stale("tools/helper.py", 'return "#"', 'return "##"') == set()

    def test_members(self) -> None:
        """A group of tests depends on what each of them does, and its products are those of its members."""
        group = {"name": "sanitize.rtl", "members": [dict(job) for job in JOBS[:2]], "parameters": "flags"}
        before = ledger_keys.text_keys(ledger_keys.Tree(self.root), group)
        for name, part in (("rtl/ng_leaf.sv", "rtl"), ("model/src/detail.hpp", "cxx"), ("tools/job.py", "")):
            changes = {Path(name): SMALL[name] + "\n// none\nint one_more;\n"}
            now = ledger_keys.text_keys(ledger_keys.Tree(self.root, changes), group)
            assert ledger.differing_parts(before, now) == [part][: bool(part)], name
        products = ledger_keys.Products(ledger_keys.Tree(self.root), self.root / "products.json")
        one = products.of(JOBS[0], ["cxx"])
        assert products.of(group, ["cxx"]) == one  # the other has no C++
        more = {"cxx": ["model/src/other.cpp"]}
        assert products.of(group | {"members": [*group["members"], more]}, ["cxx"]) != one

    def test_recorded_data(self) -> None:
        """FILES#NAME is one entry, wherever it stands."""
        lines = {name: f'{{"record": "{name}", "lut4": 1}}\n' for name in "abc"}
        (self.root / "ice40.jsonl").write_text("".join(lines.values()))
        (self.root / "ecp5.jsonl").write_text(lines["b"])
        job = {"name": "synth.area.a", "data": ["*.jsonl#a"]}
        before = ledger_keys.text_keys(ledger_keys.Tree(self.root), job)
        for text, same in (
            (lines["a"], True),
            ("".join(lines.values()).replace('"b", "lut4": 1', '"b", "lut4": 2'), True),
            (lines["a"].replace("1", "2"), False),
        ):
            tree = ledger_keys.Tree(self.root, {Path("ice40.jsonl"): text})
            assert (ledger_keys.text_keys(tree, job) == before) == same, text
        with self.assertRaisesRegex(ngflow.FlowError, 'have no entry "d"'):  # noqa: PT027
            ledger_keys.text_keys(ledger_keys.Tree(self.root), job | {"data": ["*.jsonl#d"]})

    def test_comments_and_layout(self) -> None:
        for name, old, new in (
            ("rtl/ng_leaf.sv", "// inverted", "// turned over"),
            ("rtl/ng_leaf.sv", "  assign", "    assign"),
            ("model/include/m/sum.hpp", "// a sum", "/* the\nsum */"),
            ("model/src/sum.cpp", "{ return", "{  // here\n return"[:3] + "return"),
            ("tools/helper.py", '"""Doc."""', '"""Other words."""'),
            ("tools/helper.py", "LIMIT = 3", "LIMIT = 3  # of something"),
        ):
            assert self.stale(name, old, new) == set(), f"{name}: {new}"

    def test_moved_files(self) -> None:
        moved = self.root / "rtl" / "prim"
        moved.mkdir()
        (self.root / "rtl/ng_leaf.sv").rename(moved / "ng_leaf.sv")
        job = JOBS[1] | {"rtl": ["rtl/prim/ng_leaf.sv"]}
        assert ledger_keys.text_keys(ledger_keys.Tree(self.root), job) == self.before["rtl.leaf"]

    def test_parameters_and_missing_files(self) -> None:
        tree = ledger_keys.Tree(self.root)
        assert (
            ledger.differing(
                self.before["rtl.leaf"], ledger_keys.text_keys(tree, JOBS[1] | {"parameters": "vectors 11"})
            )
            == "parameters"
        )
        with self.assertRaisesRegex(ngflow.FlowError, "rtl/ng_gone.sv"):  # noqa: PT027
            ledger_keys.text_keys(tree, JOBS[1] | {"rtl": ["rtl/ng_gone.sv"]})


class Figures(unittest.TestCase):
    def test_closing_lines(self) -> None:
        for text, expected in (
            ("fifo: ran 20 vectors, 40 compares, 0 errors, seed 7\n", {"vectors": 20, "compares": 40, "seed": 7}),
            ("[  PASSED  ] 12 tests.\n", {"tests": 12}),
            ("....\n12 passed, 1 skipped in 3.21s\n", {"tests": 12}),
            ("Ran 3 tests in 0.1s\n\nOK\n", {"tests": 3}),
            (
                'figures: {"killed": 3}\nran 1 vectors, 1 compares, 0 errors, seed 1\nfigures: {"faults": 4}\n',
                {"killed": 3, "faults": 4},
            ),
            ("nothing\n", {}),
        ):
            assert ledger.figures(text) == expected


class Drawn(unittest.TestCase):
    """A project of two jobs, whole: declared, run, recorded, made stale, falsified."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.build = self.root / "build"
        (self.root / "a.cpp").write_text("int a;\n")
        (self.root / "vectors").write_text("10\n")
        script = textwrap.dedent("""\
            import pathlib
            n = pathlib.Path("vectors").read_text().strip()
            if n == "none":
                raise SystemExit(77)
            print(f"ran {n} vectors, 5 compares, 0 errors, seed 1")
            """)
        (self.root / "job.py").write_text(script)
        cmake = Path(__file__).resolve().parents[2] / "cmake" / "NgLedger.cmake"
        tool = f"${{CMAKE_COMMAND}} -E env PYTHONPATH={ngflow.ROOT / 'tools'} {sys.executable}"
        (self.root / "CMakeLists.txt").write_text(
            textwrap.dedent(f"""\
            cmake_minimum_required(VERSION 3.25)
            project(small LANGUAGES NONE)
            enable_testing()
            set(NG_TOOL {tool})
            include({cmake})
            ng_deep_test(NAME job.one COMMAND {sys.executable} job.py WORKING_DIRECTORY {self.root} CXX a.cpp PARAMETERS "x \\"1\\"")
            ng_deep_test(NAME job.two COMMAND {sys.executable} job.py WORKING_DIRECTORY {self.root} PYTHON job.py)
            ng_write_jobs()
            """)
        )
        self.sh("cmake", "-G", "Ninja", "-S", ".", "-B", "build")

    def sh(self, *command: str) -> None:
        subprocess.run(command, cwd=self.root, check=True, capture_output=True)

    def ledger(self, *arguments: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "ngtools.ledger", str(self.build), "--root", str(self.root), *arguments]
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False, env=os.environ)
        return done.returncode, done.stdout + done.stderr

    def test_life_of_an_entry(self) -> None:
        plain = subprocess.run(
            ["ctest", "--test-dir", "build", "-N"], cwd=self.root, capture_output=True, text=True, check=True
        )
        assert "Total Tests: 0" in plain.stdout  # the jobs run with -C deep only
        code, text = self.ledger("check")
        assert code == 1, text
        assert "job.one has no entry" in text
        assert "2 of 2 verdicts to renew: make renew" in text

        code, text = self.ledger("renew")
        assert code == 0, text
        assert self.ledger("check")[0] == 0
        entry = self.root / ledger.FILE
        recorded = ledger.read_entries(self.root)["job.one"]
        assert recorded["figures"] == {"vectors": 10, "compares": 5, "seed": 1}
        assert recorded["verdict"] == "passed"

        # One line of one source: one entry stale, and one command that renews exactly this one.
        (self.root / "a.cpp").write_text("int b;\n")
        code, text = self.ledger("check")
        assert code == 1, text
        assert "job.one is stale: C++ changed" in text
        assert "job.two" not in text
        other = entry.read_text().splitlines()[1]
        assert self.ledger("renew")[0] == 0
        assert self.ledger("check")[0] == 0
        assert entry.read_text().splitlines()[1] == other

        # A draw agrees; then the ledger lies about the figures, or about the verdict of a job that fails.
        code, text = self.ledger("draw")
        assert code == 0, text
        assert "job.one: as recorded" in text
        good = entry.read_text()
        entry.write_text(good.replace('"vectors": 10', '"vectors": 1000000'))
        code, text = self.ledger("draw")
        assert code == 1, text
        assert re.search('job.one: recorded .*"vectors": 1000000.*, run again .*"vectors": 10,', text)
        entry.write_text(good)
        (self.root / "vectors").write_text("none\n")  # nothing to compare with: no lie, and no verdict either
        code, text = self.ledger("draw")
        assert code == 0, text
        assert "notice: job.one compares nothing here" in text
        code, text = self.ledger("renew", "job.one")
        assert code == 1, text
        assert "job.one skipped; not recorded" in text
        (self.root / "vectors").unlink()
        code, text = self.ledger("draw")
        assert code == 1, text
        assert "job.one: recorded 'passed', run again it failed" in text

        # What fails is not recorded, and the old entry stays stale.
        (self.root / "a.cpp").write_text("int c;\n")
        code, text = self.ledger("renew")
        assert code == 1, text
        assert "job.one failed; not recorded" in text
        assert self.ledger("check")[0] == 1

    def test_what_waits_for_a_run_is_said_and_comes_off_the_list_with_it(self) -> None:
        assert self.ledger("renew")[0] == 0
        (self.root / "a.cpp").write_text("int c;\n")
        assert self.ledger("check")[0] == 1
        pending = self.root / ledger.PENDING
        pending.write_text("# Since a.cpp changed.\njob.one\n")
        code, text = self.ledger("check")
        assert code == 0, text
        assert "notice: 1 of 2 verdicts wait for a run and prove nothing here" in text
        assert "# Since a.cpp changed." in text
        # What is not on the list is stale as ever, and the draw leaves out what waits.
        (self.root / "job.py").write_text((self.root / "job.py").read_text() + "n = 1\n")
        code, text = self.ledger("check")
        assert code == 1, text
        assert "job.two is stale" in text
        pending.write_text("# Both.\njob.one\njob.two\n")
        code, text = self.ledger("draw")
        assert code == ngflow.SKIPPED, text
        code, text = self.ledger("renew", "job.one")
        assert code == 0, text
        assert pending.read_text() == "# Both.\njob.two\n"
        code, text = self.ledger("renew")
        assert code == 0, text
        assert not pending.exists()
        assert self.ledger("check")[0] == 0

    def test_cost_bounds_the_draw(self) -> None:
        for name, seconds in (("job.one", 100.0), ("job.two", 1.0)):
            entry = {
                "job": name,
                "text": {},
                "product": {},
                "verdict": "passed",
                "figures": {},
                "tools": {},
                "seconds": {"run": seconds, "build": 0},
            }
            ledger.write_entries(self.root, {name: entry})
        subject = ledger.Ledger(self.build, self.root)
        assert ledger.drawn(subject, 60, "abc") == ["job.two"]
        assert {tuple(ledger.drawn(subject, 1000, str(i))) for i in range(20)} == {
            ("job.one", "job.two"),
            ("job.two", "job.one"),
        }

    def test_other_faults_are_not_drawn(self) -> None:
        """Another Yosys, or another layout of the RTL, gives other faults than the recorded ones."""
        yosys = ledger_keys.tools().get("yosys")
        layout = ledger_keys.layout_hash(ledger_keys.Tree(self.root), {})
        for version, place, expected in ((yosys, layout, 2), ("0.1", layout, 1), (yosys, "another", 1)):
            for name, figures in (("job.one", {"faults": 40, "newest_seed": 7}), ("job.two", {"vectors": 10})):
                entry = {
                    "job": name,
                    "text": {},
                    "product": {},
                    "verdict": "passed",
                    "figures": figures,
                    "tools": {"yosys": version} if version else {},
                    "layout": place,
                    "seconds": {"run": 1.0, "build": 0},
                }
                ledger.write_entries(self.root, {name: entry})
            subject = ledger.Ledger(self.build, self.root)
            assert len(ledger.drawn(subject, 60, "abc")) == expected, (version, place)
        text = self.ledger("draw")[1]
        assert "notice: 1 campaigns of injected faults are not drawn" in text, text
        assert "job.one" not in text, text

    def test_a_partial_build_keeps_what_it_does_not_know(self) -> None:
        assert self.ledger("renew")[0] == 0
        before = ledger.read_entries(self.root)
        whole = (self.build / "ledger" / "jobs.json").read_text()
        jobs = [job for job in json.loads(whole) if job["name"] == "job.one"]
        (self.build / "ledger" / "jobs.json").write_text(json.dumps(jobs))
        (self.root / "a.cpp").write_text("int b;\n")
        code, text = self.ledger("check")
        assert code == 1, text
        assert "notice: 1 verdicts are of jobs that this build does not declare" in text
        for verb in ("renew", "record", "rekey"):
            code, text = self.ledger(verb)
            assert code == 0, text
            after = ledger.read_entries(self.root)
            assert after["job.two"] == before["job.two"], verb
            assert after["job.one"]["text"] != before["job.one"]["text"], verb
        assert self.ledger("check")[0] == 0

        # What no build declares is wrong for a build that declares everything, and is dropped by its name only.
        code, text = self.ledger("check", "--whole")
        assert code == 1, text
        assert "job.two has an entry and is no job any more" in text
        for name, expected in (
            ("job.one", 'job "job.one" exists'),
            ("job.tow", 'job "job.tow" has no entry; expected one'),
        ):
            code, text = self.ledger("drop", name)
            assert code == 2, text
            assert expected in text
        assert self.ledger("drop", "job.two")[0] == 0
        assert list(ledger.read_entries(self.root)) == ["job.one"]
        code, text = self.ledger("check", "--whole")
        assert code == 0, text

    def test_jobs_by_a_pattern(self) -> None:
        code, text = self.ledger("renew", "*.one")
        assert code == 0, text
        assert set(ledger.read_entries(self.root)) == {"job.one"}
        code, text = self.ledger("renew", "joob.*")
        assert code == 2, text
        assert 'job "joob.*" is not declared by this build' in text

    def test_unknown_job(self) -> None:
        code, text = self.ledger("renew", "job.three")
        assert code == 2
        assert 'job "job.three" is not declared by this build; did you mean "job.one"' in text or "job.two" in text

    def test_changed_text_with_the_same_product(self) -> None:
        """Fresh without a run; `rekey` takes today's text, so that the next check compares no products."""
        assert self.ledger("renew")[0] == 0
        before = ledger.read_entries(self.root)
        ran = (self.build / "ledger" / "job.two.json").read_text()
        (self.root / "job.py").write_text('"""A job."""\nimport os\n' + (self.root / "job.py").read_text())
        code, text = self.ledger("check")
        assert code == 1, text  # an import is in the syntax tree of a script
        (self.root / "job.py").write_text((self.root / "job.py").read_text().replace("import os\n", "\n"))
        code, text = self.ledger("check")
        assert code == 0, text
        assert "1 verdicts are fresh, because their changed text comes to the recorded products" in text
        assert self.ledger("rekey")[0] == 0
        after = ledger.read_entries(self.root)
        assert after["job.two"]["text"] != before["job.two"]["text"]
        assert after["job.two"]["product"] == before["job.two"]["product"]
        assert after["job.one"] == before["job.one"]
        assert (self.build / "ledger" / "job.two.json").read_text() == ran
        assert "because" not in self.ledger("check")[1]


class Netlists(unittest.TestCase):
    """What an elaborated netlist does not depend on, and what it does."""

    TEXT = textwrap.dedent("""\
        module ng_top #(parameter int Width = 4) (
          input wire clk_i, input wire [Width-1:0] a_i, input wire [Width-1:0] b_i,
          output logic [Width-1:0] sum_o, output logic [Width-1:0] read_o);
          logic [Width-1:0] sum_q, sum_d;
          logic [Width-1:0] mem [4];
          logic [Width-1:0] word;
          assign word = mem[b_i[1:0]];
          assign sum_d = a_i + b_i;
          always_ff @(posedge clk_i) sum_q <= sum_d;
          always_ff @(posedge clk_i) mem[a_i[1:0]] <= b_i;
          assign sum_o = sum_q;
          ng_leaf #(.Width(Width)) u_leaf (.x_i(word), .y_i(sum_q), .z_o(read_o));
        endmodule
        """)
    LEAF = (
        "module ng_leaf #(parameter int Width = 1)\n"
        "(input wire [Width-1:0] x_i, input wire [Width-1:0] y_i, output wire [Width-1:0] z_o);\n"
        "  assign z_o = x_i & y_i;\nendmodule\n"
    )
    JOB: typing.ClassVar = {
        "name": "x",
        "rtl": ["ng_leaf.sv", "ng_top.sv"],
        "tops": ["ng_top Width=8"],
        "mutants": True,
    }

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "ng_top.sv").write_text(self.TEXT)
        (self.root / "ng_leaf.sv").write_text(self.LEAF)
        if not ledger_keys.tools().get("yosys"):
            self.skipTest("Yosys is not installed")

    def product(self, top: str, leaf: str, job: dict | None = None) -> str:
        tree = ledger_keys.Tree(self.root, {Path("ng_top.sv"): top, Path("ng_leaf.sv"): leaf})
        return ledger_keys.Products(tree, self.root / "products.json").of(job or self.JOB)["rtl"]

    def test_names_lines_and_neutral_parameters(self) -> None:
        before = self.product(self.TEXT, self.LEAF)
        lines = self.TEXT.splitlines(keepends=True)
        body = next(i for i, line in enumerate(lines) if "assign sum_d" in line)
        moved = "".join([*lines[:body], *reversed(lines[body:-1]), lines[-1]])
        neutral = self.LEAF.replace("int Width = 1", "int Width = 1, parameter bit Invert = 1'b0")
        for what, top, leaf in (
            ("comment", "// one more\n\n" + self.TEXT, self.LEAF),
            (
                "local",
                self.TEXT.replace("sum_d", "another").replace("sum_q", "aaa_q").replace("mem", "words"),
                self.LEAF,
            ),
            ("instance", self.TEXT.replace("u_leaf", "u_other"), self.LEAF),
            ("moved lines", moved, self.LEAF),
            ("branch", self.TEXT, neutral.replace("assign z", "if (Invert) assign z_o = 0; else assign z")),
            ("operator", self.TEXT, neutral.replace("x_i & y_i", "(x_i & y_i) ^ {Width{Invert}}")),
            ("module", self.TEXT.replace("ng_leaf", "ng_leave"), self.LEAF.replace("ng_leaf", "ng_leave")),
        ):
            assert (top, leaf) != (self.TEXT, self.LEAF), what
            assert self.product(top, leaf) == before, what

    def test_gates_constants_ports_and_registers(self) -> None:
        before = self.product(self.TEXT, self.LEAF)
        for what, top, leaf in (
            ("gate", self.TEXT, self.LEAF.replace("x_i & y_i", "x_i | y_i")),
            ("operand", self.TEXT.replace("a_i + b_i", "a_i + a_i"), self.LEAF),
            ("bits", self.TEXT.replace("a_i + b_i", "a_i + {b_i[0], b_i[Width-1:1]}"), self.LEAF),
            ("swapped reads", self.TEXT.replace("mem[b_i", "mem[a_i"), self.LEAF),
            ("register", self.TEXT.replace("sum_o = sum_q", "sum_o = sum_d"), self.LEAF),
            ("edge", self.TEXT.replace("posedge clk_i) sum", "negedge clk_i) sum"), self.LEAF),
            ("words", self.TEXT.replace("mem [4]", "mem [3]"), self.LEAF),
            (
                "port",
                self.TEXT.replace("x_i(word), .y_i(sum_q)", "x_i(sum_q), .y_i(word)"),
                self.LEAF,
            ),
            ("port's name", self.TEXT.replace("read_o", "word_o"), self.LEAF),
        ):
            assert (top, leaf) != (self.TEXT, self.LEAF), what
            assert self.product(top, leaf) != before, what
        assert self.product(self.TEXT, self.LEAF, self.JOB | {"tops": ["ng_top Width=9"]}) != before

    def test_exempt_lines(self) -> None:
        """A comment that takes a line out of a campaign of mutants changes its verdict, and that of no other job."""
        exempt = self.TEXT.replace("sum_o = sum_q;", "sum_o = sum_q;  // ng-no-fault: for a test")
        plain = ledger_keys.Tree(self.root)
        tree = ledger_keys.Tree(self.root, {Path("ng_top.sv"): exempt})
        before, after = (ledger_keys.text_keys(item, self.JOB) for item in (plain, tree))
        assert ledger.differing(before, after) == "exempt lines"
        before, after = (ledger_keys.text_keys(item, self.JOB | {"mutants": False}) for item in (plain, tree))
        assert before == after

    def test_another_yosys(self) -> None:
        """A netlist of another Yosys cannot be compared: a notice where RTL changed, but no excuse for the other parts."""
        job = self.JOB | {"parameters": "10 vectors"}
        (self.root / "build" / "ledger").mkdir(parents=True)
        (self.root / "build" / "ledger" / "jobs.json").write_text(json.dumps([job]))
        plain = ledger.Ledger(self.root / "build", self.root)
        entry = {
            "job": "x",
            "verdict": "passed",
            "figures": {},
            "text": plain.text["x"],
            "product": plain.products.of(job) | {"yosys": "0.1"},
            "tools": {"yosys": "0.1"},
            "seconds": {"run": 1.0, "build": 0},
        }
        ledger.write_entries(self.root, {"x": entry})

        def standing(top: str, kept: dict) -> ledger.Standing:
            ledger.write_entries(self.root, {"x": entry | kept})
            return ledger.Ledger(self.root / "build", self.root, {Path("ng_top.sv"): top}).standing["x"]

        gate = self.TEXT.replace("a_i + b_i", "a_i - b_i")
        here = {"product": plain.products.of(job)}
        assert standing(self.TEXT, {}).kind == "text"
        assert standing(gate, {}).kind == "unjudged"
        assert standing(gate, here) == ledger.Standing("stale", "is stale: RTL changed")
        assert standing(self.TEXT.replace("sum_d", "other"), here).kind == "product"
        other = {"text": plain.text["x"] | {"parameters": "another"}}
        assert standing(gate, other) == ledger.Standing("stale", "is stale: parameters changed")
        (self.root / "ng_top.sv").write_text(gate)
        ledger.write_entries(self.root, {"x": entry})
        command = [sys.executable, "-m", "ngtools.ledger", str(self.root / "build"), "--root", str(self.root), "check"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        assert "notice: 1 verdicts cannot be judged here" in done.stdout


class Definitions(unittest.TestCase):
    """What of C++ and Python counts."""

    HEADER = textwrap.dedent("""\
        #pragma once
        namespace m {
        enum class Mode : int { even, odd };
        inline constexpr int limit = 3;
        inline constexpr int other_limit = 4;
        #define TWICE(x) ((x) + (x))
        template <class T> T used(T x) { return TWICE(x) + limit; }
        template <class T> T unused(T x) { return x + other_limit; }
        struct Base { virtual ~Base() = default; virtual int call() = 0; };
        struct Derived : Base { int call() override { return 1; } };
        class Plain {
         public:
          explicit Plain(int x) : x_{x} {}
          int get_it() const { return x_; }
          int idle() const { return 7; }
         private:
          int x_ = 9;
        };
        int registered = used(5);
        }  // namespace m
        """)
    MAIN = (
        '#include "m.hpp"\nint main() { m::Derived derived; m::Base& base = derived;\n'
        "  return base.call() + m::Plain(2).get_it() == 3 ? 0 : 1; }\n"
    )

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def cxx(self, header: str) -> str:
        (self.root / "m.hpp").write_text(header)
        (self.root / "main.cpp").write_text(self.MAIN)
        tree = ledger_keys.Tree(self.root)
        return ledger_keys.Products(tree, self.root / "p.json").of({"name": "x", "cxx": ["main.cpp"]})["cxx"]

    def test_cxx(self) -> None:
        before = self.cxx(self.HEADER)
        for old, new in (
            ("x + other_limit", "x - other_limit"),
            ("other_limit = 4", "other_limit = 5"),
            ("return 7", "return 8"),
            ("class Plain", "inline int helper(int x) { return x ? 1 : 2; }\nclass Plain"),
            ("class Plain", "#if MORE\ninline int helper(int x) { return x ? 1 : 2; }\n#endif\nclass Plain"),
            ("even, odd", "even, odd, third"),
            ("int idle() const", "int more() const { return 3; }\n  int idle() const"),
        ):
            assert old in self.HEADER
            assert self.cxx(self.HEADER.replace(old, new)) == before, new
        for old, new in (
            ("limit = 3", "limit = 4"),
            ("(x) + (x)", "(x) * 2"),
            ("TWICE(x) + limit", "TWICE(x) - limit"),
            ("return 1;", "return 2;"),
            ("x_ = 9", "x_ = 8"),
            (": x_{x}", ": x_{-x}"),
            ("return x_;", "return -x_;"),
            ("used(5)", "used(6)"),
            ("namespace m", "namespace n"),
        ):
            assert old in self.HEADER
            assert self.cxx(self.HEADER.replace(old, new)) != before, new

    def test_braces_across_branches_count_whole(self) -> None:
        odd = self.HEADER.replace("{ return 7; }", "\n#if X\n{ return 7; }\n#else\n{ return 6;\n#endif\n}")
        before = self.cxx(odd)
        assert self.cxx(odd.replace("other_limit = 4", "other_limit = 5")) != before

    PYTHON: typing.ClassVar = {
        "job.py": "import tools\nfrom deep import inner as other\n\n\ndef main():\n    return tools.used(1) + other()\n",
        "tools.py": '"""Doc."""\nimport deep\n\nLIMIT = 3\nIDLE = 4\n\n\ndef used(x):\n    """Doc."""\n    return deep.far(x) + LIMIT\n'
        "\n\ndef main():\n    return IDLE\n",
        "deep.py": "def far(x):\n    return x\n\n\ndef inner():\n    return 5\n\n\ndef used(x):\n    return 6\n",
    }

    def python(self, changes: dict[str, str]) -> str:
        for name, text in (self.PYTHON | changes).items():
            (self.root / name).write_text(text)
        tree = ledger_keys.Tree(self.root)
        return ledger_keys.Products(tree, self.root / "p.json").of({"name": "x", "python": ["job.py"]})["python"]

    def test_python(self) -> None:
        before = self.python({})
        for name, old, new, fresh in (
            ("tools.py", "IDLE = 4", "IDLE = 5", True),
            ("tools.py", "return IDLE", "return 2", True),
            ("tools.py", "Doc.", "Other.", True),
            ("deep.py", "return 6", "return 7", True),
            ("tools.py", "LIMIT = 3", "LIMIT = 4", False),
            ("tools.py", "import deep\n", "import deep\n\nprint(1)\n", False),
            ("deep.py", "return 5", "return 7", False),
            ("deep.py", "return x", "return -x", False),
            ("job.py", "used(1)", "used(2)", False),
        ):
            assert old in self.PYTHON[name]
            now = self.python({name: self.PYTHON[name].replace(old, new)})
            assert (now == before) == fresh, f"{name}: {new}"


class ThisTree(unittest.TestCase):
    """One change to this project at a time, and which verdicts go stale: the table of docs/testing.md.

    What is compared with is this tree as it stands, so that verdicts that wait to be renewed do not count."""

    def setUp(self) -> None:
        if BUILD is None:
            self.skipTest("no build folder was named")
        if not ledger_keys.tools().get("yosys"):
            self.skipTest("Yosys is not installed")
        plain = ledger.Ledger(BUILD, workers=WORKERS)
        self.jobs, self.plain, self.texts = plain.jobs, plain.products, plain.text

    def stale(self, *changes: tuple[str, str, str]) -> set[str]:
        """Names of what is stale behind these changes (file's name, old, new)."""
        texts = {}
        for name, old, new in changes:
            (path,) = (path for path in ledger_keys.Tree(ngflow.ROOT).by_name[name] if "systemc" not in path.parts)
            text = texts.get(path, path.read_text())
            assert old in text, f"{name} has no '{old}'"
            texts[path] = text.replace(old, new, 1)
        now = ledger.Ledger(BUILD or Path(), changes=texts, workers=WORKERS)
        changed = {name: ledger.differing_parts(self.texts[name], now.text[name]) for name in now.jobs}
        elaborated = [self.jobs[name] for name, parts in changed.items() if "rtl" in parts]
        for products in (self.plain, now.products):
            products.elaborate(elaborated)
        return {
            name
            for name, parts in changed.items()
            if any(
                part not in ledger_keys.PRODUCTS or now.products.of(job, [part]) != self.plain.of(job, [part])
                for job in [self.jobs[name]]
                for part in parts
            )
        }

    def text_stale(self, name: str) -> int:
        """How many verdicts any change of this file's text made stale, before products decided."""
        (path,) = (path for path in ledger_keys.Tree(ngflow.ROOT).by_name[name] if "systemc" not in path.parts)
        now = ledger.Ledger(BUILD or Path(), changes={path: path.read_text() + "\n int one_more;\n"})
        return sum(self.texts[name] != now.text[name] for name in now.jobs)

    def test_comment_in_rtl(self) -> None:
        assert self.stale(("ng_fifo2.sv", "module ng_fifo2", "// one more\n\nmodule ng_fifo2")) == set()

    def test_renamed_local_in_rtl(self) -> None:
        text = next(ngflow.RTL.rglob("ng_fifo2.sv")).read_text()
        assert self.stale(("ng_fifo2.sv", text, text.replace("tail_q", "one_more_q"))) == set()

    def test_unused_helper_in_headers(self) -> None:
        helper = "inline int one_more(int x) { return x + 1; }\n"
        for name, anchor in (
            ("bench.hpp", "inline std::string dec(__int128 value) {"),
            ("round_pack.hpp", "/// Code of a NaN of this sign."),
        ):
            assert self.text_stale(name) > 100
            assert self.stale((name, anchor, helper + anchor)) == set(), name

    def test_neutral_parameter(self) -> None:
        for module, *changes in (
            (
                "ng_cut",
                ("parameter int Width  = 1,", "parameter int Width  = 1,\n  parameter bit Invert = 1'b0,"),
                ("q_o <= d_i;", "q_o <= d_i ^ {Width{Invert}};"),
                ("q_o = d_i;", "q_o = d_i ^ {Width{Invert}};"),
            ),
            (
                "ng_fifo2",
                ("parameter int Width = 32", "parameter int Width = 32,\n  parameter bit Hold = 1'b0"),
                ("push = valid_i & ~full_q", "push = Hold ? 1'b0 : valid_i & ~full_q"),
            ),
        ):
            assert self.text_stale(f"{module}.sv") > 100
            assert self.stale(*((f"{module}.sv", old, new) for old, new in changes)) == set(), module

    def test_changed_gate(self) -> None:
        for module, old, new in (
            ("ng_shift_sticky", "sticky_o = sticky_o | (|", "sticky_o = sticky_o ^ (|"),
            ("ng_fifo2", "valid_i & ~full_q", "valid_i | ~full_q"),
        ):
            expected = {
                name
                for name, job in self.jobs.items()
                if any(
                    module in self.elaborated(one, top)
                    for one in ledger_keys.members(job)
                    for top in one.get("tops", [])
                )
            }
            assert expected, module
            assert self.stale((f"{module}.sv", old, new)) == expected, module

    def elaborated(self, job: dict, top: str) -> set[str]:
        """Names of the modules below a top by another way than Yosys': every module that a text names, at any depth."""
        texts = {Path(file).stem: ngflow.strip_comments((ngflow.ROOT / file).read_text()) for file in job["rtl"]}
        found, queue = set(), [top.partition(" ")[0]]
        while queue:
            name = queue.pop()
            if name not in found:
                found.add(name)
                queue += [used for used in texts if re.search(rf"\b{used}\b", texts[name])]
        return found

    def test_changed_constant_in_a_bench(self) -> None:
        expected = {
            name
            for name, job in self.jobs.items()
            if any(file.endswith("/fifo_bench.cpp") for one in ledger_keys.members(job) for file in one.get("cxx", []))
        }
        assert expected
        assert self.stale(("fifo_bench.cpp", "chance(0.02)", "chance(0.03)")) == expected


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        BUILD = Path(sys.argv.pop(1))
    unittest.main()
