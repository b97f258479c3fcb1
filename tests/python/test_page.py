# SPDX-License-Identifier: Apache-2.0
"""The page of `narrowgauge explore --html`: what is in it, and what it shows in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import narrowgauge as ng
from narrowgauge import page

SPACE: dict[str, Any] = {
    "format": ["nvfp4", "int8"],
    "technology": "horowitz_45nm",
    "frequency_hz": 1e8,
    "rows": [2, 4],
    "cols": 4,
    "lanes": [16, 32],
    "mac_energy_j": {"nvfp4": 1e-13, "int8": 2e-13},
    "objectives": ["energy", "time", "area", "sqnr"],
}
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
#: Does what a reader does, and writes down what is to be seen.
READER = """<script>
const seen = {};
const rows = () => [...document.querySelectorAll("#points tbody tr")].map((row) => row.textContent);
const marks = () => document.querySelectorAll("#front .scatterlayer .point").length;
const click = (node) => node.dispatchEvent(new MouseEvent("click", {bubbles: true}));
seen.rows = rows(); seen.marks = marks(); seen.bars = document.querySelectorAll("#shares .bars .point").length;
seen.prices = document.querySelectorAll("#prices tbody tr").length;
seen.wide = document.documentElement.scrollWidth - window.innerWidth;
const tick = document.querySelector("#filters input[value=int8]");
tick.checked = false; tick.dispatchEvent(new Event("change"));
seen.filtered = rows(); seen.filteredMarks = marks(); seen.count = document.getElementById("count").textContent;
const button = [...document.querySelectorAll("#points th button")].find((one) => one.textContent.startsWith("energy"));
click(button); seen.turned = rows();
click(document.querySelector("#points tbody tr"));
seen.detail = document.getElementById("detail").textContent;
document.title = "seen";
document.body.innerHTML = "<pre id=seen></pre>";
document.getElementById("seen").textContent = JSON.stringify(seen);
</script>"""


class Parts(HTMLParser):
    """Tags with their attributes, and ids."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return ng.explore("digits", SPACE).document()


@pytest.fixture(scope="module")
def made(document: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("plotly", reason="plotly of PyPI is not installed: make setup")
    path = tmp_path_factory.mktemp("page") / "front.html"
    page.page(document, path)
    return path


def test_it_holds_all_and_loads_nothing(made: Path, document: dict[str, Any]) -> None:
    text = made.read_text()
    tags = Parts(text).tags
    for _, attributes in tags:
        assert not {"src", "href"} & attributes.keys()
    metas = [attributes for tag, attributes in tags if tag == "meta"]
    assert any(meta.get("name") == "viewport" and "width=device-width" in (meta["content"] or "") for meta in metas)
    assert any((meta.get("content") or "").startswith("default-src 'none'") for meta in metas)
    assert {"front", "shares", "points", "prices", "filters"} <= {attributes.get("id") for _, attributes in tags}
    found = re.search(r'<script type="application/json" id="result">(.*?)</script>', text, re.S)
    assert found
    assert json.loads(found[1]) == json.loads(json.dumps(document))
    assert not list(made.parent.glob("*.part"))


@pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed: apt-get install chromium")
@pytest.mark.parametrize("width", [1366, 500])
def test_a_reader_filters_and_sorts(made: Path, document: dict[str, Any], width: int) -> None:
    read = made.with_name(f"read{width}.html")
    read.write_text(made.read_text().replace("</html>", READER + "</html>"))
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]
    command += [f"--user-data-dir={made.parent}/profile", f"--window-size={width},900", "--virtual-time-budget=10000"]
    dom = subprocess.run([*command, "--dump-dom", read.as_uri()], capture_output=True, text=True, check=True).stdout
    found = re.search(r'<pre id="seen">(.*?)</pre>', dom, re.S)
    assert found, dom[-2000:]
    seen = json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    front = document["front"]
    assert len(seen["rows"]) == seen["marks"] == len(front)
    energies = sorted(point["energy_j"] for point in front)
    cheapest = min(front, key=lambda point: point["energy_j"])
    assert seen["rows"][0].startswith(f"{cheapest['point']}{cheapest['format']}")
    assert seen["bars"] >= len(energies)
    assert seen["prices"] == len(document["sources"])
    assert seen["wide"] <= 0  # nothing but tables scrolls to the side
    mine = [point for point in front if point["format"] == "nvfp4"]
    assert 0 < len(mine) < len(front)
    assert len(seen["filtered"]) == seen["filteredMarks"] == len(mine)
    assert seen["count"] == f"{len(mine)} of {len(front)} points of the front"
    assert seen["turned"] == seen["filtered"][::-1]
    assert "mac_energy_j" in seen["detail"]


def test_refusals(document: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="expected what narrowgauge explore --json prints"):
        page.page({"command": "analyze"}, tmp_path / "x.html")
    with pytest.raises(ValueError, match="front is empty"):
        page.page({**document, "front": []}, tmp_path / "x.html")
    (tmp_path / "result.json").write_text("{}")
    assert page.main([str(tmp_path / "result.json"), "-o", str(tmp_path / "x.html")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert not list(tmp_path.glob("x.html*"))


def test_not_written_at_all(document: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="plotly of PyPI is not installed: make setup")
    with pytest.raises(ng.Error, match="cannot write"):
        page.page(document, tmp_path / "nowhere" / "x.html")
