# SPDX-License-Identifier: Apache-2.0
"""The manual as a site with a search: docs/ through MkDocs, warnings as errors, every link looked at.

    tools/ngtools/site.py FOLDER       build it there (make site); exit code 1 where something is wrong

The pages are those of the repository, as they are. Navigation follows docs/README.md: a part for each of its sections, a page for
each of its links, the units by families as docs/units/README.md has them. Files that are not in docs/ are not on the site: links to
them become plain text, or links below the address that NG_REPOSITORY names.
"""

from __future__ import annotations

import html.parser
import json
import logging
import os
import posixpath
import re
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from ngtools.ngflow import ROOT, FlowError, from_root, run_main

DOCS = ROOT / "docs"
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
OUTSIDE = re.compile(r"[a-z]+:|#")


def slug(heading: str, separator: str) -> str:
    """The anchor of a heading as repository pages have it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", separator)


def sections(page: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Headings of the second level and the links below each, as (text, path below docs/); links out of docs/ are left out."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for part in re.split(r"^## ", (DOCS / page).read_text(), flags=re.M)[1:]:
        heading, _, text = part.partition("\n")
        links = [
            (words.strip("`"), posixpath.normpath(posixpath.join(posixpath.dirname(page), target)))
            for words, target in LINK.findall(text)
            if target.endswith(".md") and not OUTSIDE.match(target)
        ]
        found.append((heading.strip(), [link for link in links if not link[1].startswith("../")]))
    return found


def navigation() -> list:
    """MkDocs' nav."""
    parts: list = [{"Contents": "README.md"}]
    listed = {"README.md"}

    def once(links: list[tuple[str, str]]) -> list[dict]:
        fresh = []
        for words, path in links:
            if path not in listed:
                listed.add(path)
                unit = path.startswith("units/") and path != "units/README.md"
                fresh.append({posixpath.basename(path)[:-3] if unit else words[0].upper() + words[1:]: path})
        return fresh

    for heading, links in sections("README.md"):
        items: list = []
        for item in once(links):
            items.append(item)
            if "units/README.md" in item.values():
                for family, units in sections("units/README.md"):
                    items.append({family: once([unit for unit in units if unit[1].startswith("units/")])})
        parts.append({heading: items})
    return parts


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:  # MkDocs calls it
    """The page's text with links out of docs/, which have no page here, as plain text or below NG_REPOSITORY."""
    folder = posixpath.dirname(page.file.src_uri)
    repository = os.environ.get("NG_REPOSITORY", "").rstrip("/")

    def replaced(match: re.Match) -> str:
        words, target = match.groups()
        path = posixpath.normpath(posixpath.join("docs", folder, target.partition("#")[0]))
        if OUTSIDE.match(target) or path.startswith("docs/"):
            return match[0]
        return f"[{words}]({repository}/{path})" if repository else words

    fences = re.split(r"(^```.*?^```$)", markdown, flags=re.M | re.S)
    return "".join(text if index % 2 else LINK.sub(replaced, text) for index, text in enumerate(fences))


class Page(html.parser.HTMLParser):
    """Anchors and links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")
            elif name in ("href", "src") and value:
                self.links.append(value)


def broken(folder: Path) -> list[str]:
    """Links of the site that lead nowhere in it, and pages that the search does not find."""
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html"))}
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            # The page for addresses that are not there has addresses from the root.
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                wrong.append(f"{path.relative_to(folder)}: {link} is not there")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{path.relative_to(folder)}: {link} has no such heading")
        if re.search(r"<p>\|", path.read_text()):
            wrong.append(f"{path.relative_to(folder)}: a table has become text")
    index = json.loads((folder / "search" / "search_index.json").read_text())
    found = {entry["location"].partition("#")[0] for entry in index["docs"]}
    wrong += [
        f"{path.relative_to(folder)}: the search has no such page"
        for path in pages
        if path.name not in ("404.html", "search.html")
        and path.parent.relative_to(folder).as_posix().strip(".") not in {place.strip("/") for place in found}
    ]
    return wrong


def main() -> int:
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if sys.argv[1:] == ["--help"] else 2
    try:
        from mkdocs.commands.build import build
        from mkdocs.config import load_config
        from mkdocs.exceptions import MkDocsException
    except ImportError:
        raise FlowError("mkdocs was not found; make setup installs it") from None
    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING)
    folder = Path(sys.argv[1]).resolve()
    try:
        build(
            load_config(
                config_file=str(ROOT / "mkdocs.yml"),
                site_dir=str(folder),
                nav=navigation(),
                hooks=[from_root(Path(__file__).resolve())],
                markdown_extensions=[{"toc": {"slugify": slug, "permalink": True}}],
            )
        )
    except MkDocsException as error:
        raise FlowError(f"MkDocs: {error}") from None
    wrong = broken(folder)
    for line in wrong:
        print(line)
    print(f"{sum(1 for _ in folder.rglob('*.html')) - 1} pages in {folder}, {len(wrong)} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(run_main(main))
