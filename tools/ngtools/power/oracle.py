# SPDX-License-Identifier: Apache-2.0
"""Third-party checks of the gate simulator: Icarus Verilog counts the same transitions, OpenSTA computes the same power.

    tools/ngtools/power/oracle.py icarus --unit int4_mult_array    every net's transitions: settled, and with the SDF's delays
    tools/ngtools/power/oracle.py sta --unit int4_mult_array       area, and power by cell type at a given activity

Icarus runs the library's own Verilog models (osu018 and so on) with the same SDF on the same stimulus and writes a VCD; its
transitions are counted here, by other code than the simulator's. Exit code 0: agreement, 1: not, 2: error.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
from pathlib import Path

from ngtools.ngflow import FlowError, run_main, run_yosys
from ngtools.power import characterize, recipes
from ngtools.power.characterize import ROOT, TOP, Flow, run, warm_up

# How often OpenSTA 2.0.17 counts a transition's combinational internal energy: rise and fall are added instead of averaged
# (docs/energy_flow.md, What is counted), and in AOI22 and OAI22 each of the four inputs has weight 1/2. The types that
# are not here have weights of conditions that it infers. In a flip-flop the clock pin and the output count twice, the
# data pin once.
OPENSTA_COUNTS = {
    **dict.fromkeys(("AND2X1", "AND2X2", "BUFX2", "BUFX4", "INVX1", "INVX2", "NAND2X1", "NOR2X1", "OR2X1", "OR2X2"), 2),
    **dict.fromkeys(("XOR2X1", "XNOR2X1"), 2),
    **dict.fromkeys(("AOI22X1", "OAI22X1"), 4),
    "DFFPOSX1": 2,
}
# Loads differ by the 0.1 to 0.4 % between a pin's capacitance and its values for rise and fall; the input's slew of an
# exclusive or is one edge's there, the mean of both here; a data pin behind logic is slower than data_pin_energy takes it.
OPENSTA_TOLERANCE = 0.01


# ---------------------------------------------------------------- Icarus Verilog


def models(flow: Flow, work: Path) -> Path:
    """The library's Verilog, in picoseconds: its own precision would round the SDF's delays."""
    source = flow.liberty.with_suffix(".v")
    if not source.exists():
        raise FlowError(
            f"the library has no Verilog models {source}; give a technology of Debian's qflow-tech packages"
        )
    path = work / "models.v"
    path.write_text(re.sub(r"`timescale\s+1ns\s*/\s*\w+", "`timescale 1ns/1ps", source.read_text()))
    return path


def bench(netlist: dict, stimulus: Path, period_s: float, sdf: Path | None, vcd: Path, start: int) -> str:
    """The cycle of ng_gatesim: clock edge, half a period later the next inputs."""
    header = json.loads(stimulus.read_text().splitlines()[0])
    ports = netlist["modules"][TOP]["ports"]
    names = [port["name"] for port in header["ports"]]
    widths = {port["name"]: port["width"] for port in header["ports"]}
    half = period_s * 1e9 / 2
    reset = "rst_ni" in ports
    declare = "".join(f"  reg [{widths[name] - 1}:0] {name};\n" for name in names)
    wires = "".join(
        f"  wire [{len(port['bits']) - 1}:0] {name};\n" for name, port in ports.items() if port["direction"] == "output"
    )
    connect = ", ".join(f".{name}({name})" for name in ports)
    scan = f'$fscanf(file, "{" ".join("%h" for _ in names)}\\n", {", ".join(names)})'
    annotate = f'$sdf_annotate("{sdf}", dut);' if sdf else ""
    return f"""`timescale 1ns/1ps
module bench;
  reg clk_i; {"reg rst_ni;" if reset else ""}
{declare}{wires}  integer file, cycle, got;
  reg [8*65536-1:0] line;
  {TOP} dut({connect});
  initial begin
    {annotate}
    file = $fopen("{stimulus}", "r");
    got = $fgets(line, file);
    clk_i = 0; {"rst_ni = 0;" if reset else ""}
    got = {scan};
    #1000 {"rst_ni = 1;" if reset else ""}
    #1000;
    for (cycle = 0; cycle < {header["cycles"]}; cycle = cycle + 1) begin
      clk_i = 1;
      #{half:.4f} clk_i = 0;
      if (cycle + 1 < {header["cycles"]}) got = {scan};
      #{half - 0.01:.4f};
      if (cycle + 1 == {start}) begin $dumpfile("{vcd}"); $dumpvars(1, dut); end
      #0.01;
    end
    $finish;
  end
endmodule
"""


def read_vcd(path: Path) -> tuple[dict[str, int], dict[str, int]]:
    """Net -> changes between 0 and 1, and picoseconds at 1, both counted from the dump's first values."""
    names: dict[str, list[tuple[str, int]]] = {}  # a code of the file -> its names and width
    value: dict[str, str] = {}
    count: dict[tuple[str, int], int] = {}
    high: dict[tuple[str, int], int] = {}
    since: dict[tuple[str, int], int] = {}
    begin, now = None, 0
    with path.open() as lines:
        for line in lines:
            if line.startswith("$var"):
                fields = line.split()
                name = " ".join(fields[4:-1]).replace("\\", "").split(" [")[0].strip()
                names.setdefault(fields[3], []).append((name, int(fields[2])))
            elif line[0] == "#":
                now = int(line[1:])
                begin = now if begin is None else begin
            elif line[0] in "01xzb":
                bits, key = line[1:].split() if line[0] == "b" else (line[0], line[1:].strip())
                width = names[key][0][1]
                bits = bits.rjust(width, "0" if bits[0] in "01" else bits[0])[::-1]
                before = value.get(key, "x" * width)
                for place, (old, new) in enumerate(zip(before, bits, strict=True)):
                    if old == new:
                        continue
                    bit = (key, place)
                    count[bit] = count.get(bit, 0) + (old in "01" and new in "01")
                    high[bit] = high.get(bit, 0) + (now - since.get(bit, now) if old == "1" else 0)
                    since[bit] = now
                value[key] = bits
    for key, bits in value.items():
        for place, bit in enumerate(bits):
            if bit == "1":
                high[key, place] = high.get((key, place), 0) + now - since.get((key, place), now)
    toggles: dict[str, int] = {}
    times: dict[str, int] = {}
    for key, places in names.items():
        for name, width in places:
            for place in range(width):
                full = name if width == 1 else f"{name}[{place}]"
                toggles[full] = count.get((key, place), 0)
                times[full] = high.get((key, place), 0)
    return toggles, times


def saif_times(path: Path) -> dict[str, int]:
    """Net -> T1."""
    found = re.findall(r"\((\S+) \(T0 \d+\) \(T1 (\d+)\)", path.read_text())
    return {name.replace("\\", ""): int(time) for name, time in found}


def cpu_seconds() -> float:
    """Of the programs run so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def icarus(flow: Flow, unit: dict, options: argparse.Namespace) -> int:
    work, mapped = flow.prepare(unit)
    if (work / "ram.v").read_text():
        raise FlowError(
            f"unit {unit['name']} has memories, and registers without reset, which are unknown in Icarus Verilog for ever; "
            "give a unit of cells alone"
        )
    stimulus = flow.stimulus(unit, options.stimulus, options.cycles + warm_up(unit), characterize.SEED, work)
    nets, saif = work / "nets.txt", work / "delays.saif"
    begin = cpu_seconds()
    flow.simulate(unit, work, mapped["period_s"], stimulus, ["--nets", str(nets), "--saif", str(saif)])
    ours_seconds = cpu_seconds() - begin
    counts = [line.rsplit(" ", 2) for line in nets.read_text().splitlines()]
    netlist = json.loads((work / "netlist.json").read_text())
    cells = models(flow, work)
    status = 0
    for column, rung in ((1, "L2"), (2, "L3")):
        vcd = work / f"icarus_{rung}.vcd"
        sdf = work / "netlist.sdf" if rung == "L3" else None
        text = bench(netlist, stimulus, mapped["period_s"], sdf, vcd, warm_up(unit))
        source = work / f"bench_{rung}.v"
        source.write_text(text)
        flags = ["-gspecify", "-Tmax"] if sdf else ["-gno-specify"]
        compiled = work / "bench.vvp"
        files = [str(path) for path in (source, work / "netlist.v", cells)]
        run(["iverilog", "-g2005", *flags, "-s", "bench", "-o", str(compiled), *files], "iverilog")
        begin = cpu_seconds()
        run(["vvp", "-n", str(compiled)], "vvp")
        seconds = cpu_seconds() - begin
        theirs, times = read_vcd(vcd)
        missing = [name for name, *_ in counts if name not in theirs]
        if missing:
            raise FlowError(f"net {missing[0]} and {len(missing) - 1} others are not in the VCD of Icarus Verilog")
        different = [
            (name, int(row[column - 1]), theirs[name])
            for name, *row in counts
            if name != "clk_i" and int(row[column - 1]) != theirs[name]
        ]
        mine = sum(int(row[column - 1]) for name, *row in counts if name != "clk_i")
        total = sum(theirs[name] for name, *_ in counts if name != "clk_i")
        print(
            f"{unit['name']} {rung}: {len(counts)} nets, {options.cycles} cycles; transitions {mine}, Icarus Verilog {total} "
            f"({total / options.cycles:.1f} per cycle); {len(different)} nets differ; cycles per CPU second: "
            f"Icarus {options.cycles / seconds:.0f} with VCD, ng_gatesim {options.cycles / ours_seconds:.0f} with both rungs"
        )
        for name, a, b in sorted(different, key=lambda row: -abs(row[1] - row[2]))[:8]:
            print(f"  net {name}: {a}, Icarus {b}")
        status = max(status, int(bool(different)))
        if rung == "L3":
            lead = 10  # ps: the dump begins that much before the first counted edge
            at_one = saif_times(saif)
            wrong = [n for n, t1 in at_one.items() if n != "clk_i" and not 0 <= times[n] - t1 <= lead]
            print(f"  SAIF: {len(at_one)} nets, time at 1 differs on {len(wrong)}")
            status = max(status, int(bool(wrong) or not at_one))
    return status


# ---------------------------------------------------------------- OpenSTA


def sta_power(flow: Flow, work: Path, period_s: float, activity: float) -> dict[str, tuple[float, float]]:
    """Instance -> internal and switching watts under `set_power_activity -global`."""
    script = work / "power.tcl"
    script.write_text(
        f"""read_liberty {flow.liberty}
read_verilog {work / "netlist.v"}
link_design {TOP}
create_clock -name clk -period {period_s * 1e9:.6f} [get_ports clk_i]
set_input_transition {flow.technology["input_slew_s"] * 1e9:.6g} [all_inputs]
set_power_activity -global -activity {activity} -duty 0.5
report_power -instances [get_cells *] -digits 12
exit
"""
    )
    result = {}
    for line in run(["sta", "-no_splash", "-exit", str(script)], "OpenSTA").splitlines():
        fields = line.split()
        if len(fields) == 5 and re.fullmatch(r"_\d+_", fields[4]):
            result[fields[4]] = (float(fields[0]), float(fields[1]))
    if not result:
        raise FlowError(f"OpenSTA reported no power; script {script}")
    return result


def sta_slews(cells: dict[str, str], technology: dict, work: Path) -> Path:
    """OpenSTA 2.0.17 looks an output edge up with the slew of the input's same edge, whatever the cell's sense: swap those
    of inverting cells, so that both look up the same place."""
    path = work / "slews_as_sta.txt"
    lines = []
    for line in (work / "slews.txt").read_text().splitlines():
        pin, rise, fall = line.split()
        cell = technology["cells"].get(cells.get(pin.split("/")[0], ""), {})
        inverting = any(output.get("function", "").startswith("1") for output in cell.get("outputs", []))
        lines.append(f"{pin} {fall} {rise}" if inverting else line)
    path.write_text("\n".join(lines) + "\n")
    return path


def sta(flow: Flow, unit: dict, options: argparse.Namespace) -> int:
    work, mapped = flow.prepare(unit)
    activity, period_s = 0.5, mapped["period_s"]
    theirs = sta_power(flow, work, period_s, activity)
    netlist = json.loads((work / "netlist.json").read_text())["modules"][TOP]
    cells = {name: cell["type"] for name, cell in netlist["cells"].items()}
    command = [
        flow.program("ng_gatesim"),
        "--technology",
        str(flow.technology_file),
        "--netlist",
        str(work / "netlist.json"),
    ]
    command += ["--slews", str(sta_slews(cells, flow.technology, work)), "--period", repr(period_s), "--explain"]
    command += ["--global-activity", str(activity)]
    ours = json.loads(run(command, "ng_gatesim"))
    rows = ours["global_activity"]["by_type"]
    area = yosys_area(flow, work)
    status = 0 if len(theirs) == ours["cells"] and abs(ours["area_m2"] / area - 1) < 1e-6 else 1
    print(
        f"{unit['name']}: {ours['cells']} cells, OpenSTA {len(theirs)}; area {ours['area_m2']:.6g} m2, Yosys {area:.6g} m2"
    )
    print("  type         cells  counted  internal: here x counted / OpenSTA  switching: here / OpenSTA")
    for kind, row in rows.items():
        watts = [theirs[name] for name, cell in cells.items() if cell == kind]
        counted = OPENSTA_COUNTS.get(kind)
        cell = flow.technology["cells"][kind]
        internal_j = row["internal_j"] * (counted or 1)
        if "ff" in cell:
            clock = next(pin for pin in cell["inputs"] if pin["name"] == cell["ff"]["clock"])
            clock_j = row["clock_j"] - row["cells"] * clock["capacitance_f"] * flow.technology["voltage_v"] ** 2
            internal_j += (counted or 1) * clock_j - data_pin_energy(cell, activity) * row["cells"]
        internal = internal_j / period_s / sum(w[0] for w in watts)
        switching = row["switching_j"] / period_s / max(sum(w[1] for w in watts), 1e-30)
        compared = [switching] + ([internal] if counted else [])
        wrong = any(abs(ratio - 1) > OPENSTA_TOLERANCE for ratio in compared)
        status = max(status, int(wrong))
        print(
            f"  {kind:12} {row['cells']:5}  {counted or '-':>7}  {f'{internal:.4f}' if counted else '(not compared)':>15}"
            f"                     {switching:.4f}{'  DIFFERS' if wrong else ''}"
        )
    return status


def yosys_area(flow: Flow, work: Path) -> float:
    log = run_yosys(
        [
            f"read_liberty -lib -ignore_miss_func {flow.liberty}",
            f"read_verilog {work / 'netlist.v'}",
            f"stat -liberty {flow.liberty}",
        ],
        work / "area.log",
    )
    return float(re.findall(r"Chip area for .*: ([\d.]+)", log)[-1]) * 1e-12


def data_pin_energy(cell: dict, activity: float) -> float:
    """Joules a cycle of a flip-flop's data pin behind an input, where the slew is the fastest characterized one."""
    pin = next(pin for pin in cell["inputs"] if pin["name"] != cell["ff"]["clock"])
    return sum((row["rise"]["values"][0] + row["fall"]["values"][0]) / 2 * activity for row in pin["power"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("check", choices=("icarus", "sta"))
    parser.add_argument("--unit", required=True)
    parser.add_argument("--stimulus", default="uniform")
    parser.add_argument("--cycles", type=int, default=512)
    parser.add_argument("--technology", default="osu018")
    parser.add_argument("--programs", type=Path, default=ROOT / "build" / "bin")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "power")
    options = parser.parse_args()
    options.liberty, options.units_file, options.threads, options.recipe = None, characterize.UNITS, 1, recipes.DEFAULT
    flow = Flow(options)
    if options.unit not in flow.units:
        raise FlowError(f"unit {options.unit} is not in power/units.json")
    return {"icarus": icarus, "sta": sta}[options.check](flow, flow.units[options.unit], options)


if __name__ == "__main__":
    run_main(main)
