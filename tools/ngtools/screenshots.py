# SPDX-License-Identifier: Apache-2.0
"""Screenshots of README, of every picture and of pages of the site, as wide as a laptop's window and as a telephone, to look at.

    tools/ngtools/screenshots.py SITE FOLDER [PAGE...]     SITE is what tools/ngtools/site.py built (make screenshots)

PAGE is a page of the manual, as `units/tile`; without one, three. Needs Chromium, and Markdown, which comes with MkDocs. README is drawn
as repository pages are: a column of 1012 pixels at most, tables that scroll, pictures as wide as the column.
"""

from __future__ import annotations

import html
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ngtools.ngflow import ROOT, FlowError, run_main

WIDTHS = {"laptop": (1366, 2400), "telephone": (390, 3600)}  # CSS pixels
PAGES = ("tutorials/first_unit", "units/README", "energy")
STYLE = """body { font: 16px/1.5 sans-serif; color: #1f2328; margin: 0 auto; max-width: 1012px; padding: 16px; overflow-wrap: break-word }
img { max-width: 100%; background: #fff } code { font-size: 85%; background: #eff1f3; padding: 0.2em 0.4em }
pre { overflow: auto; background: #f6f8fa; padding: 16px } pre code { background: none; padding: 0 }
table { display: block; overflow: auto; border-collapse: collapse } th, td { border: 1px solid #d1d9e0; padding: 6px 13px }"""


def readme() -> str:
    """README as a page of its own."""
    import markdown

    body = markdown.markdown((ROOT / "README.md").read_text(), extensions=["tables", "fenced_code"])
    return f'<!doctype html><meta charset="utf-8"><base href="{ROOT.as_uri()}/"><style>{STYLE}</style>{body}'


def main() -> int:
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if sys.argv[1:] == ["--help"] else 2
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not chromium:
        print("skipped: chromium is not installed; apt-get install chromium")
        return 0
    site, folder, pages = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:] or PAGES
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        front = Path(scratch) / "readme.html"
        front.write_text(readme())
        shown = {"readme": front.as_uri()}
        for page in pages:
            path = site / page.removesuffix("README") / "index.html"
            if not path.exists():
                raise FlowError(
                    f"{path} does not exist; expected a page of the site, as {', '.join(PAGES)} (make site)"
                )
            shown[page.replace("/", "_")] = path.as_uri()
        for picture in sorted((ROOT / "docs" / "pictures").glob("*.svg")):
            page = Path(scratch) / f"{picture.stem}.html"
            page.write_text(f'<!doctype html><style>{STYLE}</style><img src="{picture.as_uri()}">')
            shown[f"picture_{picture.stem}"] = page.as_uri()
        for name, address in shown.items():
            for device, (width, height) in WIDTHS.items():
                if name.startswith("picture_"):
                    height = 700 if device == "laptop" else 420
                # Windows are never narrower than 500 pixels; a frame is.
                frame = Path(scratch) / "frame.html"
                frame.write_text(
                    f'<!doctype html><body style="margin:0"><iframe src="{html.escape(address)}" width="{width}" height="{height}" style="border:0">'
                )
                shot = folder / f"{name}_{device}.png"
                command = [
                    chromium,
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--hide-scrollbars",
                    "--allow-file-access-from-files",
                ]
                command += [
                    f"--user-data-dir={scratch}/profile",
                    f"--window-size={max(width, 500)},{height}",
                    f"--screenshot={shot}",
                    frame.as_uri(),
                ]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode or not shot.exists():
                    raise FlowError(f"chromium could not draw {name}: {done.stderr[-500:]}")
    print(f"{2 * len(shown)} screenshots in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(run_main(main))
