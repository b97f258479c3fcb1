# SPDX-License-Identifier: Apache-2.0
"""What is installed: locks with hashes (locks.py), the page (dependencies.py), the bill of materials (sbom.py), and tools/setup.sh
where apt and pip fail.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import pytest
from packaging.utils import canonicalize_name

from ngtools import dependencies, locks

ROOT = locks.ROOT
HASH = "--hash=sha256:" + "0" * 64
GOOD = f"# GENERATED\nnumpy==2.4.6 \\\n    {HASH}\n    # via -r python/requirements.txt\n"


class Locks(unittest.TestCase):
    def faults_of(self, lock: str, wanted: str = "numpy==2.4.6\n") -> list[str]:
        with tempfile.TemporaryDirectory() as work, mock.patch.object(locks, "ROOT", Path(work)):
            (Path(work) / "python").mkdir()
            (Path(work) / "python/requirements.txt").write_text(wanted)
            (Path(work) / "python/requirements.lock").write_text(lock)
            return locks.faults("python/requirements")

    def test_every_lock_has_its_list(self) -> None:
        wrong = [fault for stem in locks.LISTS for fault in locks.faults(stem)]
        assert not wrong, "\n".join(wrong)
        lists = {
            str(path.relative_to(ROOT))
            for folder in ("python", "power", "examples")
            for path in (ROOT / folder).rglob("requirements*.txt")
        }
        assert lists == {f"{stem}.txt" for stem in locks.LISTS}

    def test_what_is_wrong_is_found(self) -> None:
        assert self.faults_of(GOOD) == []
        for lock, why in (
            (GOOD.replace("2.4.6", "2.4.5"), "lacks"),
            (GOOD.replace("numpy", "scipy"), "lacks"),
            (GOOD.replace(HASH, "# none"), "without a hash"),
            (GOOD.replace("sha256:0", "sha256:x"), "without a hash"),
            (GOOD.replace("sha256", "md5"), "without a hash"),
            ("--extra-index-url somewhere\n" + GOOD, "names a place"),
        ):
            found = self.faults_of(lock)
            assert len(found) == 1, found
            assert why in found[0], found
        assert "expected name==version" in self.faults_of(GOOD, "numpy>=2.4\n")[0]

    def test_pip_refuses_another_content(self) -> None:
        with tempfile.TemporaryDirectory() as work:
            wheel = Path(work) / "some-1-py3-none-any.whl"
            wheel.write_bytes(b"not what was locked")
            (Path(work) / "lock").write_text(f"some==1 {HASH}\n")
            pip = [sys.executable, "-m", "pip", "install", "--no-index", "--find-links", work, "--target", f"{work}/to"]
            done = subprocess.run(
                [*pip, "--require-hashes", "-r", f"{work}/lock"], capture_output=True, text=True, check=False
            )
            assert done.returncode != 0
            assert "DO NOT MATCH THE HASHES" in done.stdout + done.stderr

    def test_the_demo_has_all_that_its_packages_need(self) -> None:
        needed = {"numpy", "pyslang"}
        for _ in range(5):
            needed |= {
                item.name for item in locks.locked(ROOT / "python/requirements.lock") if needed & {*item.needed_by}
            }
        assert needed == set(dependencies.DEMO)
        found = re.search(r"locked '([^']*)'", (ROOT / "tools/setup.sh").read_text())
        assert found
        assert set(found[1].split("|")) == needed


class Page(unittest.TestCase):
    def test_page(self) -> None:
        assert dependencies.page() == (ROOT / dependencies.PAGE).read_text(), "run tools/ngtools/dependencies.py"

    def test_a_package_in_one_place_only_is_found(self) -> None:
        facts = dependencies.FACTS.read_text()
        with tempfile.NamedTemporaryFile(
            "w+", suffix=".toml", dir=ROOT / "build" if (ROOT / "build").is_dir() else None
        ) as file:
            path = Path(file.name)
            with (
                mock.patch.object(dependencies, "FACTS", path),
                mock.patch.object(dependencies, "facts_name", return_value="facts"),
            ):
                for change, why in (
                    (lambda text: text.replace("\ncmake = ", "\ncmaker = "), 'package "cmake" has no licence'),
                    (lambda text: text + 'nobody = {licence = "MIT"}\n', 'package "nobody" of facts is in no list'),
                    (lambda text: re.sub(r'(?m)^(ruff = .*), why = ".*"', r"\1", text), 'package "ruff" has no reason'),
                ):
                    path.write_text(change(facts))
                    with pytest.raises(dependencies.ListError, match=why):
                        dependencies.packages()

    def test_licences_are_those_of_the_metadata(self) -> None:
        """Of the packages that say theirs as an SPDX expression and are installed here."""
        said = {}
        for found in importlib.metadata.distributions():
            said[canonicalize_name(found.metadata["Name"])] = found.metadata.get("License-Expression")
        python = [item for item in dependencies.packages() if item.kind == "python"]
        compared = [item for item in python if said.get(item.name)]
        assert len(compared) > 20
        for item in compared:
            assert item.licence == said[item.name].replace("PSFL", "PSF-2.0"), item.name


class Bill(unittest.TestCase):
    def test_bill(self) -> None:
        try:
            from ngtools import sbom
        except ImportError as error:
            self.skipTest(f"{error}: make sbom has it")
        with tempfile.TemporaryDirectory() as work:
            texts = []
            for name in ("a", "b"):
                with mock.patch.object(sys, "argv", ["sbom.py", f"{work}/{name}"]):
                    assert sbom.main() == 0
                texts.append((Path(work) / name).read_text())
        assert texts[0] == texts[1]
        assert all(f'"name": "{item.name}"' in texts[0] for item in dependencies.packages())


class Setup(unittest.TestCase):
    """tools/setup.sh in a tree of its own, with apt and pip that reach nothing."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Path(folder.name)
        for path in (
            "tools/setup.sh",
            "tools/apt-packages.txt",
            *(f"python/requirements{kind}.lock" for kind in ("", "-area")),
        ):
            (self.tree / path).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / path, self.tree / path)
        self.fakes = self.tree / "fakes"
        self.fakes.mkdir()
        self.fake("dpkg-query", "echo install ok installed")
        for name in ("apt-get", "sudo"):
            self.fake(name, f'echo "{name} $*" >> "{self.tree}/reached"; exit 1')
        (self.tree / ".venv/bin").mkdir(parents=True)
        self.fake("../.venv/bin/pip", f'echo "pip $*" >> "{self.tree}/reached"; exit 1')

    def fake(self, name: str, text: str) -> None:
        path = self.fakes / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def stamps(self, *kinds: str) -> None:
        for kind in kinds:
            shutil.copy(self.tree / f"python/requirements{kind}.lock", self.tree / f".venv/.requirements{kind}")

    def run_setup(self, *words: str) -> tuple[int, str]:
        """Exit code, and what reached out."""
        environment = {
            **os.environ,
            "PATH": f"{self.fakes}:{os.environ['PATH']}",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.fakes),
        }
        done = subprocess.run(
            ["bash", self.tree / "tools/setup.sh", *words], env=environment, capture_output=True, text=True, check=False
        )
        reached = self.tree / "reached"
        text = (reached.read_text() if reached.exists() else "") + done.stderr
        return done.returncode, text

    def test_nothing_is_fetched_where_all_is_there(self) -> None:
        self.stamps("", "-area")
        for words in ((), ("demo",), ("area",)):
            assert self.run_setup(*words) == (0, ""), words

    def test_a_missing_debian_package_is_fetched(self) -> None:
        self.stamps("")
        self.fake("dpkg-query", '[ "$3" = cmake ] || [ "$2" = cmake ] || echo install ok installed')
        code, reached = self.run_setup()
        assert code != 0
        assert "apt-get update" in reached or "sudo" in reached

    def test_another_lock_is_installed_by_hash(self) -> None:
        self.stamps("")
        with (self.tree / "python/requirements-area.lock").open("a") as lock:
            lock.write("# changed\n")
        code, reached = self.run_setup("area")
        assert code != 0
        assert "pip install" in reached
        assert "--require-hashes" in reached

    def test_no_command_of_the_setup_installs_without_hashes(self) -> None:
        text = (ROOT / "tools/setup.sh").read_text() + (ROOT / "Makefile").read_text()
        lines = [line for line in text.splitlines() if re.search(r"pip install|pip wheel|pip download", line)]
        assert len(lines) >= 6
        for line in lines:
            assert re.search(r"--require-hashes|--no-index|pip wheel --no-deps --no-build-isolation", line), line


if __name__ == "__main__":
    unittest.main()
