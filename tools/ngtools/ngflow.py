# SPDX-License-Identifier: Apache-2.0
"""What every Yosys and Verilator step of the project shares: which files a module needs, how parameters are passed,
how Yosys is run.

    .venv/bin/python tools/ngtools/ngflow.py sources ng_dot_nvfp4      prints the files of that module, packages first
"""

from __future__ import annotations

import hashlib
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from ngtools import systemverilog

ROOT = Path(__file__).resolve().parents[2]
RTL = ROOT / "rtl"


CUT_ENABLES = ("en_i", "move_i")  # of cuts (docs/cuts.md); always high where energy is measured
SKIPPED = 77  # exit code of what has nothing to compare with here


class FlowError(RuntimeError):
    """A step failed; the text says which, with what, and what to do."""


def strip_comments(text: str) -> str:
    # A string may hold what looks like a comment.
    return re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', lambda match: match[1] or " ", text, flags=re.S)


def design_hash(files: list[Path]) -> str:
    """Of the hardware in these files: comments, layout, checks and names of local signals do not count."""
    return _hash(systemverilog.hardware(path) for path in files)


def names_hash(files: list[Path]) -> str:
    """Of what bare_read gives Yosys: names of local signals count, since they move its counts of cells."""
    return _hash(map(bare, files))[:16]


def _hash(texts: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text.encode() + b"\n")
    return digest.hexdigest()


def bare(path: Path) -> str:
    """The text of a file without comments, layout and checks, so that none of them moves the counts of a mapper."""
    text = systemverilog.hardware(path, number_locals=False) + "\n"
    # Yosys wants names in packages, and (* and *) of attributes, without a space in them; @(*) stays.
    text = text.replace("\n::\n", "::")
    return re.sub(r"(?<!\()\n\*\n\)\n", "\n*)\n", re.sub(r"\(\n\*\n(?!\))", "(*\n", text))


def module_map(rtl: Path = RTL, extra: list[Path] | None = None) -> dict[str, Path]:
    """Design unit name -> file. One unit a file, so the file's name is the unit's name."""
    return {path.stem: path for path in [*sorted(rtl.rglob("*.sv")), *(extra or [])]}


def sources(top: str, rtl: Path = RTL, extra: list[Path] | None = None) -> list[Path]:
    """The file of `top` and of every module and package below it, dependencies first."""
    files = module_map(rtl, extra)
    if top not in files:
        raise FlowError(f"module '{top}' has no file {top}.sv under {rtl}; known: {', '.join(sorted(files)) or 'none'}")
    ordered: list[Path] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        seen.add(name)
        for used in sorted(systemverilog.names_of(files[name])):
            if used in files and used not in seen:
                visit(used)
        ordered.append(files[name])

    visit(top)
    return ordered


def parse_params(text: str) -> dict[str, int]:
    """'Lanes=32;FormatSet=3' -> {'Lanes': 32, 'FormatSet': 3}"""
    params: dict[str, int] = {}
    for item in filter(None, re.split(r"[;,\s]+", text)):
        name, equals, value = item.partition("=")
        if not equals or not re.fullmatch(r"-?\d+", value):
            raise FlowError(f"parameter '{item}' is not of the form Name=integer, for example Lanes=32")
        params[name] = int(value)
    return params


def from_root(path: Path) -> str:
    """Relative to the project, where Yosys runs, so that no machine's path gets into names and records."""
    path = path.resolve()
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def yosys_read(
    top: str, files: list[Path], params: dict[str, int], defines: list[str] | None = None, flags: str = ""
) -> list[str]:
    """Yosys commands that load `top` with parameters, whatever its hierarchy, under its plain name."""
    macro = "".join(f" -D{name}" for name in defines or [])
    return _read(top, list(map(from_root, files)), params, flags + macro)


def _read(top: str, names: list[str], params: dict[str, int], flags: str) -> list[str]:
    # -defer: parameters first, elaboration after. 32'sh: Yosys takes no negative decimals here.
    overrides = "".join(f" -chparam {name} 32'sh{value & 0xFFFFFFFF:08x}" for name, value in params.items())
    return [
        f"read_verilog -sv -defer {flags} " + " ".join(names),
        f"hierarchy -check -top {top}{overrides}",
        f"rename -top {top}",
    ]


def bare_read(top: str, params: dict[str, int], folder: Path, extra: list[Path] | None = None) -> list[str]:
    """As yosys_read, of the bare text of the files, which goes into the folder that Yosys has to run in."""
    files = sources(top, extra=extra)
    for path in files:
        (folder / path.name).write_text(bare(path))
    return _read(top, [path.name for path in files], params, "")


def seconds_of_children() -> float:
    """CPU time of the programs that this process ran and waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cpu_limit(seconds: float) -> Callable[[], None]:
    """What a new process does first (preexec_fn), so that SIGXCPU ends it after this much CPU time."""
    limit = int(seconds) + 1
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))


def run_abc(script: str, seconds: float) -> str:
    """What ABC prints, or '' when it uses more than this much CPU time: a busy machine takes nothing from a proof."""
    done = subprocess.run(
        ["yosys-abc", "-q", script],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=cpu_limit(seconds),
    )
    if "Empty network" in done.stdout:  # it exits with 0 even when it cannot read a file
        raise FlowError(f"yosys-abc -q '{script}' failed: {done.stdout.strip()}")
    return "" if done.returncode < 0 else done.stdout


def run_yosys(commands: list[str], log: Path, folder: Path = ROOT) -> str:
    """Runs Yosys on the commands (also written next to the log as a script); returns the log text."""
    log = log.resolve()
    log.parent.mkdir(parents=True, exist_ok=True)
    script = log.with_suffix(".ys")
    script.write_text("\n".join(commands) + "\n")
    try:
        done = subprocess.run(
            ["yosys", "-q", "-l", str(log), "-s", str(script)], capture_output=True, text=True, check=False, cwd=folder
        )
    except FileNotFoundError:
        raise FlowError("yosys was not found; install it (Debian: apt-get install yosys)") from None
    text = log.read_text(errors="replace") if log.exists() else ""
    if done.returncode != 0:
        problem = [line for line in (done.stderr + text).splitlines() if "ERROR" in line] or done.stderr.splitlines()[
            -3:
        ]
        raise FlowError(f"yosys failed: {' / '.join(problem[:2])}; script {script}, log {log}")
    return text


def yosys_version() -> str:
    done = subprocess.run(["yosys", "-V"], capture_output=True, text=True, check=True)
    return " ".join(done.stdout.split()[:2])


def tool_version(command: str) -> str:
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"Version ([^)\s]+)", done.stdout + done.stderr)
    return f"{command} {found.group(1) if found else 'unknown'}"


def wrapper(top: str, ports: dict[str, dict]) -> str:
    """Verilog: input shift register -> unit -> output register -> output shift register; four pins for any unit."""
    inputs = [
        (name, len(port["bits"]))
        for name, port in ports.items()
        if port["direction"] == "input" and name not in ("clk_i", "rst_ni")
    ]
    outputs = [(name, len(port["bits"])) for name, port in ports.items() if port["direction"] == "output"]
    connections, lsb = [], 0
    for name, width in inputs:
        connections.append(f".{name}(in_q[{lsb + width - 1}:{lsb}])")
        lsb += width
    in_width, lsb = lsb, 0
    for name, width in outputs:
        connections.append(f".{name}(result[{lsb + width - 1}:{lsb}])")
        lsb += width
    connections += [f".{name}({name})" for name in ("clk_i", "rst_ni") if name in ports]
    return f"""module pnr_top(input clk_i, input rst_ni, input serial_i, input load_i, output serial_o);
  reg [{in_width - 1}:0] in_q;
  reg [{lsb - 1}:0] out_q, shift_q;
  wire [{lsb - 1}:0] result;
  {top} u_unit ({", ".join(connections)});
  always @(posedge clk_i) begin
    in_q <= {{in_q, serial_i}};
    out_q <= result;
    shift_q <= load_i ? out_q : {{shift_q, 1'b0}};
  end
  assign serial_o = shift_q[{lsb - 1}];
endmodule
"""


def run_main(main) -> None:
    """Runs a script's main(); a FlowError is one sentence on stderr and exit code 2."""
    try:
        sys.exit(main())
    except (FlowError, systemverilog.SourceError) as error:
        print(f"{Path(sys.argv[0]).name}: {error}", file=sys.stderr)
        sys.exit(2)


def _main() -> int:
    if len(sys.argv) < 3 or sys.argv[1] != "sources":
        print(__doc__, file=sys.stderr)
        return 2
    extra = [Path(name).resolve() for name in sys.argv[3:]]
    print(";".join(str(path) for path in sources(sys.argv[2], extra=extra)), end="")
    return 0


if __name__ == "__main__":
    run_main(_main)
