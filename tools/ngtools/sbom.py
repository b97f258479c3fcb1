# SPDX-License-Identifier: Apache-2.0
"""Writes the bill of materials of a release in CycloneDX 1.6 (JSON), and checks it against the schema (make sbom).

    tools/ngtools/sbom.py OUT.cdx.json

It has what docs/dependencies.md lists: Python packages by version and hash, Debian packages with the version that is installed here.
Scope "required" is what the wheel contains or needs, "excluded" what only development uses. The same commit gives the same file, on
machines with the same Debian packages. It needs cyclonedx-python-lib (python/requirements-release.lock).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import uuid
from datetime import UTC, datetime
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

from ngtools.dependencies import Package, packages
from ngtools.locks import ROOT

LICENCES = LicenseFactory()


def command(*words: str) -> str:
    """What it prints; nothing where it fails or is not there."""
    try:
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def version() -> str:
    found = re.search(r"project\(narrowgauge VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    if not found:
        raise SystemExit('sbom: CMakeLists.txt has no "project(narrowgauge VERSION …)"; expected the version there')
    return found.group(1)


def component(item: Package) -> Component:
    debian = item.kind == "debian"
    number = command("dpkg-query", "-W", "-f", "${Version}", item.name) if debian else item.version
    properties = [Property(name="narrowgauge:installed-by", value=item.command)]
    properties += [Property(name="narrowgauge:why", value=item.why)] if item.why else []
    properties += [Property(name="narrowgauge:ships", value=item.ships)] if item.ships else []
    properties += [Property(name="narrowgauge:marker", value=item.marker)] if item.marker else []
    purl = PackageURL("deb" if debian else "pypi", "debian" if debian else None, item.name, number or None)
    return Component(
        name=item.name,
        version=number or None,
        type=ComponentType.LIBRARY,
        bom_ref=purl.to_string(),
        purl=purl,
        scope=ComponentScope.REQUIRED if item.ships else ComponentScope.EXCLUDED,
        licenses=[LICENCES.make_from_string(item.licence)],
        # One of these is the hash of the file that pip takes on a given machine.
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=text.rpartition(":")[2]) for text in item.hashes],
        properties=properties,
    )


def bill() -> Bom:
    commit = command("git", "rev-parse", "HEAD")
    seconds = command("git", "log", "-1", "--format=%ct")
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"narrowgauge {version()} {commit}"))
    bom.metadata.timestamp = datetime.fromtimestamp(int(seconds or 0), tz=UTC)
    bom.metadata.component = Component(
        name="narrowgauge",
        version=version(),
        type=ComponentType.LIBRARY,
        bom_ref=f"narrowgauge@{version()}",
        licenses=[LICENCES.make_from_string("Apache-2.0")],
        properties=[Property(name="narrowgauge:commit", value=commit)] if commit else [],
    )
    found = packages()
    refs: dict[str, list[Component]] = {}
    for item in found:
        made = component(item)
        bom.components.add(made)
        refs.setdefault(item.name, []).append(made)
    bom.register_dependency(bom.metadata.component, [made for item in found if item.why for made in refs[item.name]])
    for item in found:
        for name in item.needed_by:
            for parent in refs.get(name, []):
                bom.register_dependency(parent, refs[item.name])
    return bom


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the file to write, .cdx.json")
    args = parser.parse_args()
    bom = bill()
    text = JsonV1Dot6(bom).output_as_string(indent=2)
    if wrong := JsonStrictValidator(SchemaVersion.V1_6).validate_str(text):
        print(f"sbom: the bill is not as the schema of CycloneDX 1.6 wants it: {wrong.data}")
        return 1
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(text + "\n")
    shipped = sum(component.scope is ComponentScope.REQUIRED for component in bom.components)
    print(
        f"{args.out}: {len(bom.components)} packages, {shipped} of them ship; as the schema of CycloneDX 1.6 wants it"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
