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
import unittest
from pathlib import Path

from ngtools import ledger, ngflow

BUILD: Path | None = None

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


def hashes(tree: ledger.Tree, jobs: list[dict]) -> dict[str, dict]:
    return {job["name"]: ledger.job_hash(tree, job) for job in jobs}


class Stale(unittest.TestCase):
    """One change, and exactly the jobs that depend on it."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        for name, text in SMALL.items():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            (self.root / name).write_text(text)
        self.before = hashes(ledger.Tree(self.root), JOBS)

    def stale(self, name: str, old: str, new: str) -> set[str]:
        assert old in SMALL[name]
        now = hashes(ledger.Tree(self.root, {Path(name): SMALL[name].replace(old, new)}), JOBS)
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

    def test_recorded_data(self) -> None:
        """FILES#NAME is one entry, wherever it stands."""
        lines = {name: f'{{"record": "{name}", "lut4": 1}}\n' for name in "abc"}
        (self.root / "ice40.jsonl").write_text("".join(lines.values()))
        (self.root / "ecp5.jsonl").write_text(lines["b"])
        job = {"name": "synth.area.a", "data": ["*.jsonl#a"]}
        before = ledger.job_hash(ledger.Tree(self.root), job)
        for text, same in (
            (lines["a"], True),
            ("".join(lines.values()).replace('"b", "lut4": 1', '"b", "lut4": 2'), True),
            (lines["a"].replace("1", "2"), False),
        ):
            tree = ledger.Tree(self.root, {Path("ice40.jsonl"): text})
            assert (ledger.job_hash(tree, job) == before) == same, text
        with self.assertRaisesRegex(ngflow.FlowError, 'have no entry "d"'):  # noqa: PT027
            ledger.job_hash(ledger.Tree(self.root), job | {"data": ["*.jsonl#d"]})

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
        assert ledger.job_hash(ledger.Tree(self.root), job) == self.before["rtl.leaf"]

    def test_parameters_and_missing_files(self) -> None:
        tree = ledger.Tree(self.root)
        assert (
            ledger.differing(self.before["rtl.leaf"], ledger.job_hash(tree, JOBS[1] | {"parameters": "vectors 11"}))
            == "parameters"
        )
        with self.assertRaisesRegex(ngflow.FlowError, "rtl/ng_gone.sv"):  # noqa: PT027
            ledger.job_hash(tree, JOBS[1] | {"rtl": ["rtl/ng_gone.sv"]})


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
        entry = self.root / "verif" / "ledger" / "job.one.json"
        recorded = json.loads(entry.read_text())
        assert recorded["figures"] == {"vectors": 10, "compares": 5, "seed": 1}
        assert recorded["verdict"] == "passed"

        # One line of one source: one entry stale, and one command that renews exactly this one.
        (self.root / "a.cpp").write_text("int b;\n")
        code, text = self.ledger("check")
        assert code == 1, text
        assert "job.one is stale: C++ changed" in text
        assert "job.two" not in text
        other = (entry.parent / "job.two.json").stat().st_mtime_ns
        assert self.ledger("renew")[0] == 0
        assert self.ledger("check")[0] == 0
        assert (entry.parent / "job.two.json").stat().st_mtime_ns == other

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

    def test_cost_bounds_the_draw(self) -> None:
        folder = self.root / "verif" / "ledger"
        for name, seconds in (("job.one", 100.0), ("job.two", 1.0)):
            entry = {
                "job": name,
                "hash": {},
                "verdict": "passed",
                "figures": {},
                "tools": {},
                "seconds": {"run": seconds, "build": 0},
            }
            ledger.write(folder / f"{name}.json", entry)
        subject = ledger.Ledger(self.build, self.root)
        assert ledger.drawn(subject, 60, "abc") == ["job.two"]
        assert {tuple(ledger.drawn(subject, 1000, str(i))) for i in range(20)} == {
            ("job.one", "job.two"),
            ("job.two", "job.one"),
        }

    def test_other_faults_are_not_drawn(self) -> None:
        """Another Yosys, or another layout of the RTL, gives other faults than the recorded ones."""
        folder = self.root / "verif" / "ledger"
        yosys = ledger.tools().get("yosys")
        layout = ledger.layout_hash(ledger.Tree(self.root), {})
        for version, place, expected in ((yosys, layout, 2), ("0.1", layout, 1), (yosys, "another", 1)):
            for name, figures in (("job.one", {"faults": 40, "newest_seed": 7}), ("job.two", {"vectors": 10})):
                entry = {
                    "job": name,
                    "hash": {},
                    "verdict": "passed",
                    "figures": figures,
                    "tools": {"yosys": version} if version else {},
                    "layout": place,
                    "seconds": {"run": 1.0, "build": 0},
                }
                ledger.write(folder / f"{name}.json", entry)
            subject = ledger.Ledger(self.build, self.root)
            assert len(ledger.drawn(subject, 60, "abc")) == expected, (version, place)
        text = self.ledger("draw")[1]
        assert "notice: 1 campaigns of injected faults are not drawn" in text, text
        assert "job.one" not in text, text

    def test_entry_without_job_and_unknown_job(self) -> None:
        ledger.write(self.root / "verif" / "ledger" / "job.gone.json", {"verdict": "passed", "hash": {}, "tools": {}})
        code, text = self.ledger("check")
        assert "job.gone has an entry and is no job any more" in text
        code, text = self.ledger("renew", "job.three")
        assert code == 2
        assert "'job.three' is no job of the ledger; expected one of job.one, job.two" in text


class ThisTree(unittest.TestCase):
    """One line of this project's RTL, benches and model: the jobs that name them, and no other."""

    def setUp(self) -> None:
        if BUILD is None:
            self.skipTest("no build folder was named")
        self.jobs = list(ledger.Ledger(BUILD).jobs.values())
        self.before = hashes(ledger.Tree(ngflow.ROOT), self.jobs)

    def stale(self, name: str, old: str, new: str) -> set[str]:
        (path,) = ledger.Tree(ngflow.ROOT).by_name[name]
        text = path.read_text()
        assert old in text
        now = hashes(ledger.Tree(ngflow.ROOT, {path: text.replace(old, new, 1)}), self.jobs)
        return {job for job, value in now.items() if value != self.before[job]}

    def test_one_line_of_rtl(self) -> None:
        for module in ("ng_int_mult_serial", "ng_fifo2", "ng_round_pack"):
            # The hierarchy by another way than ngflow's: a module depends on what it instantiates by name.
            texts = {path.stem: ngflow.strip_comments(path.read_text()) for path in (ngflow.ROOT / "rtl").rglob("*.sv")}
            users = {module}
            while more := {
                name
                for name, text in texts.items()
                if name not in users and set(text.replace("::", " ").split()) & users
            }:
                users |= more
            expected = {job["name"] for job in self.jobs if {Path(file).stem for file in job.get("rtl", [])} & users}
            assert expected, module
            assert self.stale(f"{module}.sv", "endmodule", "wire one_more;\nendmodule") == expected, module
            assert self.stale(f"{module}.sv", "endmodule", "// one more\n\nendmodule") == set()

    def test_one_line_of_a_bench(self) -> None:
        expected = {
            job["name"] for job in self.jobs if any(file.endswith("/fifo_bench.cpp") for file in job.get("cxx", []))
        }
        assert expected
        assert self.stale("fifo_bench.cpp", "int main(", "int more;\nint main(") == expected


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        BUILD = Path(sys.argv.pop(1))
    unittest.main()
