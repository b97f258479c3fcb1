# SPDX-License-Identifier: Apache-2.0
"""Types of the package: mypy --strict, the stubs against the compiled module, and their signatures against its docstrings.

python3 check_types.py [more files for mypy ...]      with the package on PYTHONPATH
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tempfile
from pathlib import Path

import narrowgauge
from narrowgauge import _core

CONFIG = Path(__file__).resolve().parents[2] / "pyproject.toml"
PACKAGE = Path(narrowgauge.__file__).parent


def run(*command: str) -> bool:
    return subprocess.run([sys.executable, "-m", *command], check=False).returncode == 0


def parameters(function: ast.FunctionDef) -> list[str]:
    """Each parameter as 'kind name = default'."""
    a = function.args
    positional = a.posonlyargs + a.args
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(a.defaults)) + list(a.defaults)
    pairs = [(f"{p.arg}", d) for p, d in zip(positional, defaults, strict=True) if p.arg != "self"]
    pairs += [(f"* {p.arg}", d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    return [name + (f" = {ast.unparse(default)}" if default is not None else "") for name, default in pairs]


def parse_docstring(doc: str | None) -> list[str]:
    """The parameters that pybind11 writes into the first line of a function's docstring."""
    first = (doc or "").splitlines()[0]
    return parameters(ast.parse(f"def {first}: ...").body[0])  # type: ignore[arg-type]


def signature_errors() -> list[str]:
    """stubtest cannot see the parameters of compiled functions: this compares them by name, kind and default."""
    errors = []
    compared = 0
    stub = ast.parse((PACKAGE / "_core.pyi").read_text())
    for node in stub.body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        owner = getattr(_core, node.name) if isinstance(node, ast.ClassDef) else _core
        for member in members:
            if not isinstance(member, ast.FunctionDef) or member.decorator_list:
                continue
            got, want = parameters(member), parse_docstring(getattr(owner, member.name).__doc__)
            compared += 1
            if got != want:
                errors.append(f"{member.name}: the stub has {got}, the module {want}")
    if compared < 10:
        errors.append(f"only {compared} signatures were compared; expected 10 or more")
    return errors


def allowed() -> list[str]:
    """What stubs cannot say: classes have pybind11's metaclass, and those that only the module makes its __init__."""
    classes = {name: value for name, value in vars(_core).items() if type(value).__name__ == "pybind11_type"}
    inits = [f"{name}.__init__" for name, value in classes.items() if type(value.__init__) is type(object.__init__)]
    return [f"narrowgauge._core.{name}" for name in [*classes, *inits]]


def main() -> int:
    ok = run("mypy", "--config-file", str(CONFIG), "--cache-dir", ".mypy_cache", str(PACKAGE), *sys.argv[1:])
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as allowlist:
        allowlist.write("\n".join(allowed()))
        allowlist.flush()
        options = ["--mypy-config-file", str(CONFIG), "--allowlist", allowlist.name]
        ok &= run("mypy.stubtest", "narrowgauge._core", *options)
    errors = signature_errors()
    print("\n".join(errors) or "signatures of stubs and module agree")
    return 0 if ok and not errors else 1


if __name__ == "__main__":
    sys.exit(main())
