# SPDX-License-Identifier: Apache-2.0
"""A page of what `narrowgauge explore --json` prints: one file, which needs no network where it is opened.

narrowgauge explore resnet18 space.yaml --json | python -m narrowgauge.page -o front.html
narrowgauge explore resnet18 space.yaml --html front.html
"""

from __future__ import annotations

import argparse
import html
import importlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._files import written_whole

__all__ = ["STYLE", "main", "page"]

FOLDER = Path(__file__).parent
#: Of the package's pages.
STYLE = (FOLDER / "style.css").read_text()
#: What a page may load: nothing that is not in it.
POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"


def _plotly() -> str:
    """The library that draws, as a script."""
    try:
        plotly = importlib.import_module("plotly.offline")
    except ImportError as error:
        raise ImportError("a page takes plotly: pip install plotly, or pip install 'narrowgauge[page]'") from error
    return str(plotly.get_plotlyjs())


def _inside_script(value: Any) -> str:
    """As JSON that ends no script."""
    return json.dumps(value).replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def page(result: Mapping[str, Any], path: str | Path) -> None:
    """Writes the front of `result`, what `narrowgauge explore --json` prints, to `path` as a page, whole or not at all.

    Points are drawn to hover, filter by format, technology, sparsity and array, and sort in a table, with the shares of their energy
    and the rung and stated error of each price. Raises ImportError without plotly, ValueError for what is no exploration or has an
    empty front, Error where the file cannot be written.
    """
    if not isinstance(result, Mapping) or result.get("command") != "explore" or "front" not in result:
        raise ValueError("this is no exploration; expected what narrowgauge explore --json prints")
    if not result["front"]:
        raise ValueError("the front is empty: every point of the space is impossible")
    title = html.escape(f"{result['workload'] or 'a workload'}: {len(result['front'])} points of {result['points']}")
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>",
        f"<style>{STYLE}</style></head>",
        (FOLDER / "body.html").read_text(),
        f'<script type="application/json" id="result">{_inside_script(dict(result))}</script>',
        f"<script>{_plotly()}</script>",
        f"<script>{(FOLDER / 'page.js').read_text()}</script>",
        "</html>\n",
    ]
    with written_whole(path, str(path)) as file:
        file.write("\n".join(parts).encode())


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m narrowgauge.page", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("result", nargs="?", help="what explore --json printed; without it, standard input")
    parser.add_argument("-o", "--output", required=True, help="the page, .html")
    options = parser.parse_args(arguments)
    try:
        text = Path(options.result).read_text() if options.result else sys.stdin.read()
        page(json.loads(text), options.output)
    except (ImportError, OSError, ValueError, KeyError) as error:
        print(f"narrowgauge.page: {error}", file=sys.stderr)
        return 2
    return 0
