#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rung L4: small units at transistor level (ngspice) beside L2 and L3, vector by vector. Optional, not part of the tests.

The cells' transistors come from Debian's qflow-tech-osu018. That package has no transistor model, so cards.json holds
textbook BSIM3 parameters of ours, and --fit-cards adjusts four of them until single cells take Liberty's energy and delay.
--cards takes a foundry's instead, if you have them: nothing is fitted then.
A scale between L2 or L3 and SPICE is taken from one unit and tested on the others. docs/energy_spice.md explains.

examples
  power/spice/run.py                            the recorded comparison
  power/spice/run.py --check                    the recorded summary follows from the recorded energies of the vectors
  power/spice/run.py --cells                    single cells against Liberty, with the recorded cards
  power/spice/run.py --units int4_mult_booth    one unit again, printed
  power/spice/run.py --units int4_mult_booth --cards t92y.mod --transistors CMOSN,CMOSP     with a foundry's cards
  power/spice/run.py --fit-cards --record       everything again (half an hour of a free core), with build/bin's ng_gatesim and ng_stimulus

Energies in joules in JSON.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from ngtools import ngflow
from ngtools.ngflow import ROOT, FlowError

FOLDER = Path(__file__).resolve().parent

TRANSISTORS = Path("/usr/share/qflow/tech/osu018/osu018_stdcells.sp")
CARDS = FOLDER / "cards.json"
RECORD = FOLDER / "spice_osu018.json"
SCALED_ON = "int4_mult_array"  # the scalar of each model comes from this unit
# Stimulus and vectors of what is recorded: three multipliers, and a multiply-accumulate with a glitch factor above 3.
UNITS = {
    SCALED_ON: ("uniform", 40),
    "int4_mult_booth": ("uniform", 40),
    "int4_mult_wallace": ("uniform", 40),
    "int8_mac_array": ("gauss", 16),
}
OTHERS = ("uniform", 40)
BEFORE = 4  # vectors before the first counted one
SEED = 1
VOLT = 1.8
SLOWER = 1.6  # than the period of the record, so that every net settles
LEAD_PS = 500  # operands change this long before the clock edge that takes them
EDGE_PS = 100
# Slew (20 to 80 %) and load of the single-cell comparison: a point of Liberty's tables in the middle of what units see.
SLEW_S, LOAD_F = 0.18e-9, 0.0125e-12
# Rows: energies of the combinational cells, and (_ff) of the flip-flops; toggles of the combinational cells' outputs.
MODELS = ("L2_j", "L3_j", "L2_toggles", "L3_toggles")


# ---------------------------------------------------------------- transistors


def model_cards(cards: dict) -> str:
    if "file" in cards:
        path, _, section = cards["file"].partition(":")
        return f".lib '{path}' {section}" if section else f".include '{path}'"
    lines = []
    for kind, name in (("n", "nfet"), ("p", "pfet")):
        fixed = {**cards["both"], **cards[kind]}
        fixed |= {"cgso": cards["fitted"]["overlap_f_per_m"], "cgdo": cards["fitted"]["overlap_f_per_m"]}
        fixed["u0"] = cards["fitted"][f"mobility_{kind}_cm2_per_vs"]
        text = " ".join(f"{key}={value:.6g}" for key, value in fixed.items())
        lines.append(f".model {name} {kind}mos level=8 version=3.3.0 {text}")
    return "\n".join(lines)


def subcircuits(cards: dict) -> tuple[str, dict[str, list[str]]]:
    """The package's cells, with the source and drain areas that it leaves at zero; name -> ports."""
    if not TRANSISTORS.exists():
        raise FlowError(f"{TRANSISTORS} is missing; install Debian's package qflow-tech-osu018")
    length = cards["fitted"]["diffusion_m"]

    def areas(found: re.Match) -> str:
        width = float(found["w"]) * 1e-6
        area, edge = width * length, 2 * length  # the gate's side of the edge has no sidewall
        return f"{found['head']}\n+ ad={area:.4g} pd={edge + width:.4g} as={area:.4g} ps={edge + width:.4g}"

    text = TRANSISTORS.read_text()
    text, replaced = re.subn(
        r"(?P<head>M\S+ .* w=(?P<w>[\d.]+)u l=[\d.]+u)\s*\n\+ ad=0p pd=0u as=0p ps=0u", areas, text
    )
    if replaced < 100:
        raise FlowError(f"{TRANSISTORS.name} is not in the form that was seen: {replaced} transistors were understood")
    for plain, name in cards.get("transistors", {}).items():
        text = re.sub(rf"^(M.*) {plain} (w=)", rf"\1 {name} \2", text, flags=re.M)
    ports = {line.split()[1]: line.split()[2:] for line in text.splitlines() if line.startswith(".subckt")}
    return text, ports


def instance(name: str, cell: str, nets: dict[str, str], ports: dict[str, list[str]], supply: str = "vdd") -> str:
    known = {"vdd": supply, "gnd": "0", **nets}
    return f"x{name} " + " ".join(known.get(port, f"open_{name}_{port}") for port in ports[cell]) + f" {cell}"


def ngspice(deck: str, work: Path) -> dict[str, float]:
    path = work / "deck.sp"
    path.write_text(deck)
    try:
        done = subprocess.run(["ngspice", "-b", str(path)], capture_output=True, text=True, check=False, cwd=work)
    except FileNotFoundError:
        raise FlowError("ngspice was not found; install it (Debian: apt-get install ngspice)") from None
    found = re.findall(r"^(\w+)\s+=\s+(-?[\d.]+e[+-]?\d+|-?[\d.]+)", done.stdout, flags=re.M)
    if not found or "aborted" in done.stdout + done.stderr:
        raise FlowError(f"ngspice measured nothing: {(done.stderr.strip() or done.stdout.strip())[-300:]}")
    return {name: float(value) for name, value in found}


# ---------------------------------------------------------------- single cells against Liberty


def table(power: dict, load: float, slew: float) -> float:
    """The energy table at a point of it."""
    row, column = (
        min(range(len(axis)), key=lambda i: abs(axis[i] - x))
        for axis, x in ((power["load"], load), (power["slew"], slew))
    )
    return power["values"][row * len(power["slew"]) + column]


def delays(liberty: Path, cell: str) -> tuple[float, float]:
    """Seconds, output rising and falling, of the first arc at the compared slew and load."""
    text = liberty.read_text()
    body = text[text.index(f"cell ({cell})") :]
    result = []
    for name in ("cell_rise", "cell_fall"):
        part = body[body.index(name) :]
        axes = [list(map(float, re.search(rf'index_{i} \("([^"]*)"', part)[1].split(","))) for i in (1, 2)]
        rows = re.findall(r'"([^"]*)"', part[part.index("values") : part.index(";", part.index("values"))])
        row, column = (
            min(range(len(a)), key=lambda i: abs(a[i] - x))
            for a, x in zip(axes, (LOAD_F * 1e12, SLEW_S * 1e9), strict=True)
        )
        result.append(float(rows[row].split(",")[column]) * 1e-9)
    return result[0], result[1]


def arcs(technology: dict, cells: list[str]) -> list[dict]:
    """For each combinational cell its first input, and a state of the others in which the output follows or inverts it."""
    found = []
    for cell in cells:
        description = technology["cells"][cell]
        (output,) = description["outputs"]
        names = [pin["name"] for pin in description["inputs"]]
        power = next(p for p in output["power"] if p["pin"] == names[0] and p["when"] is None)
        for rest in range(1 << (len(names) - 1)):
            low, high = (output["function"][(rest << 1) | bit] for bit in (0, 1))
            if low != high:
                side = {name: rest >> i & 1 for i, name in enumerate(names[1:])}
                energy = table(power["rise"], LOAD_F, SLEW_S) + table(power["fall"], LOAD_F, SLEW_S) + LOAD_F * VOLT**2
                found.append(
                    {
                        "cell": cell,
                        "pin": names[0],
                        "output": output["name"],
                        "side": side,
                        "inverts": low == "1",
                        "liberty_j": energy,
                    }
                )
                break
    return found


def cell_energies(cards: dict, tested: list[dict], work: Path) -> list[dict]:
    """Energy from the supply of one rising and one falling output, and both delays."""
    text, ports = subcircuits(cards)
    ramp = SLEW_S / 0.6
    deck = [
        "* cells",
        model_cards(cards),
        text,
        f"va a 0 pulse(0 {VOLT} 1n {ramp:.4g} {ramp:.4g} {3e-9 - ramp:.4g} 6n)",
        f"vone one 0 {VOLT}",
    ]
    for i, arc in enumerate(tested):
        nets = {
            arc["pin"]: "a",
            arc["output"]: f"y{i}",
            **{name: "one" if bit else "0" for name, bit in arc["side"].items()},
        }
        deck += [
            f"vdd{i} vdd{i} 0 {VOLT}",
            instance(f"{i}", arc["cell"], nets, ports, f"vdd{i}"),
            f"c{i} y{i} 0 {LOAD_F:.4g}",
        ]
        deck.append(f".meas tran q{i} INTEG i(vdd{i}) from=6.5n to=12.5n")
        rise, fall = ("fall=1", "rise=2") if arc["inverts"] else ("rise=2", "fall=1")
        # The second rising edge of the input is at 7 ns, its first falling one at 4 ns; outputs are counted from 0.
        deck.append(
            f".meas tran r{i} trig v(a) val=0.9 {rise} targ v(y{i}) val=0.9 td={'4n' if arc['inverts'] else '7n'} rise=1"
        )
        deck.append(
            f".meas tran f{i} trig v(a) val=0.9 {fall} targ v(y{i}) val=0.9 td={'7n' if arc['inverts'] else '4n'} fall=1"
        )
    measured = ngspice("\n".join([*deck, ".tran 5p 13n", ".end", ""]), work)
    return [
        {**arc, "spice_j": -measured[f"q{i}"] * VOLT, "rise_s": measured[f"r{i}"], "fall_s": measured[f"f{i}"]}
        for i, arc in enumerate(tested)
    ]


def add_liberty_delays(tested: list[dict], liberty: Path) -> None:
    for arc in tested:
        arc["liberty_rise_s"], arc["liberty_fall_s"] = delays(liberty, arc["cell"])


def residuals(cells: list[dict]) -> list[float]:
    """Logarithms of SPICE over Liberty: energies, and (weighed down) delays."""
    result = [math.log(cell["spice_j"] / cell["liberty_j"]) for cell in cells]
    for cell in cells:
        result += [0.3 * math.log(cell[f"{edge}_s"] / cell[f"liberty_{edge}_s"]) for edge in ("rise", "fall")]
    return result


def fit_cards(cards: dict, tested: list[dict], work: Path) -> dict:
    """Gauss-Newton on the logarithms of the fitted parameters, steps kept small and parameters physical."""
    from_zero = json.loads(json.dumps(cards))
    names = list(from_zero["fitted"])
    bounds = cards["bounds"]

    def at(values: list[float]) -> tuple[float, list[float]]:
        from_zero["fitted"] = {name: math.exp(value) for name, value in zip(names, values, strict=True)}
        found = residuals(cell_energies(from_zero, tested, work))
        return sum(r * r for r in found), found

    def clipped(values: list[float]) -> list[float]:
        return [min(max(v, math.log(bounds[n][0])), math.log(bounds[n][1])) for n, v in zip(names, values, strict=True)]

    point = [math.log(cards["fitted"][name]) for name in names]
    best, now = at(point)
    for _ in range(5):
        columns = []
        for i in range(len(names)):
            moved = point.copy()
            moved[i] += 0.1 if math.exp(point[i] + 0.1) <= bounds[names[i]][1] else -0.1
            columns.append([(b - a) / (moved[i] - point[i]) for a, b in zip(now, at(moved)[1], strict=True)])
        size = len(names)
        gram = [
            [sum(a * b for a, b in zip(columns[i], columns[j], strict=True)) + 1e-3 * (i == j) for j in range(size)]
            for i in range(size)
        ]
        step = solve(gram, [-sum(a * b for a, b in zip(column, now, strict=True)) for column in columns])
        trial = clipped([p + max(-0.5, min(0.5, s)) for p, s in zip(point, step, strict=True)])
        value, found = at(trial)
        print(
            f"  cards: {value:.4f} {dict(zip(names, (float(f'{math.exp(t):.4g}') for t in trial), strict=True))}",
            file=sys.stderr,
        )
        if value > best * 0.999:
            break
        best, now, point = value, found, trial
    return {name: float(f"{math.exp(value):.4g}") for name, value in zip(names, point, strict=True)}


def solve(matrix: list[list[float]], right: list[float]) -> list[float]:
    n = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda r: abs(rows[r][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for r in range(n):
            if r != k:
                factor = rows[r][k] / rows[k][k]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[k], strict=True)]
    return [rows[k][n] / rows[k][k] for k in range(n)]


# ---------------------------------------------------------------- a unit, vector by vector


def period_ps(period_s: float) -> int:
    """Of the clock in SPICE, from the record's; whole nanoseconds."""
    return 1000 * math.ceil(SLOWER * period_s * 1e9 - 1e-9)


def piecewise(bits: list[int], period: int) -> str:
    """A source that has bit k before the edge of cycle k."""
    points, level = ["0 0"], 0
    for k, bit in enumerate(bits):
        if bit != level:
            at = (k + 1) * period - LEAD_PS
            points += [f"{at}p {level * VOLT:g}", f"{at + EDGE_PS}p {bit * VOLT:g}"]
            level = bit
    return f"pwl({' '.join(points)})"


def spice_unit(
    cards: dict, netlist: dict, ports: dict[str, list[int]], words: list[dict[str, int]], period: int, work: Path
) -> tuple[list[tuple[float, float]], list[dict[str, int]]]:
    """Joules that combinational cells and flip-flops take from their supplies in each cycle, and the outputs at its end.
    The sources of clock, reset and operands are ideal. `netlist`: Yosys' JSON of the mapped module. `period` in ps."""
    text, cell_ports = subcircuits(cards)
    deck = ["* unit", model_cards(cards), text, f"vdd vdd 0 {VOLT}", f"vff vff 0 {VOLT}"]
    half = period // 2
    deck.append(
        f"vclk n{ports['clk_i'][0]} 0 pulse(0 {VOLT} {period}p {EDGE_PS}p {EDGE_PS}p {half - EDGE_PS}p {period}p)"
    )
    if "rst_ni" in ports:  # released before the first edge
        deck.append(f"vrst n{ports['rst_ni'][0]} 0 pwl(0 0 {half}p 0 {half + EDGE_PS}p {VOLT})")
    for port in words[0]:
        for bit, net in enumerate(ports[port]):
            deck.append(f"v_{port}_{bit} n{net} 0 {piecewise([word[port] >> bit & 1 for word in words], period)}")
    for i, cell in enumerate(netlist["cells"].values()):
        nets = {
            pin: ({"0": "0", "1": "vdd"}.get(bits[0]) or f"n{bits[0]}")
            for pin, bits in cell["connections"].items()
            if bits
        }
        deck.append(
            instance(f"{i}", cell["type"], nets, cell_ports, "vff" if cell["type"].startswith("DFF") else "vdd")
        )
    outputs = [
        (name, bit, net)
        for name, port in netlist["ports"].items()
        if port["direction"] == "output"
        for bit, net in enumerate(port["bits"])
    ]
    for k in range(len(words)):
        begin = (k + 1) * period - LEAD_PS - EDGE_PS
        for name, supply in (("q", "vdd"), ("f", "vff")):
            deck.append(f".meas tran {name}{k} INTEG i({supply}) from={begin}p to={begin + period}p")
        deck += [f".meas tran o{k}_{i} FIND v(n{net}) AT={begin + period}p" for i, (_, _, net) in enumerate(outputs)]
    stop = (len(words) + 1) * period
    # Memory is not for every waveform: only what is measured is kept.
    deck.append(".save i(vdd) i(vff) " + " ".join(sorted({f"v(n{net})" for _, _, net in outputs})))
    deck.append(f".options method=gear reltol=2e-3\n.tran 20p {stop}p 0 100p\n.end\n")
    measured = ngspice("\n".join(deck), work)
    energies = [(-measured[f"q{k}"] * VOLT, -measured[f"f{k}"] * VOLT) for k in range(len(words))]
    seen = []
    for k in range(len(words)):
        values: dict[str, int] = {}
        for i, (name, bit, _) in enumerate(outputs):
            values[name] = values.get(name, 0) | int(measured[f"o{k}_{i}"] > VOLT / 2) << bit
        seen.append(values)
    return energies, seen


def expected(unit: dict, words: list[dict[str, int]]) -> list[int]:
    """What the output register shows after the operands of each cycle: their product, of ng_int_mac the sum since the first."""
    params, accumulated, shown = unit["params"], 0, []
    width = params["AccWidth"] if unit["top"] == "ng_int_mac" else params["AWidth"] + params["BWidth"]
    for word in words:
        value = 1
        for name, side in (("a_i", "A"), ("b_i", "B")):
            bits, operand = params[f"{side}Width"], word[name]
            value *= operand - (1 << bits) if params[f"{side}Signed"] and operand >> (bits - 1) else operand
        accumulated = value if word.get("first_i", 1) else accumulated + value
        shown.append(accumulated % (1 << width))
    return shown


class Bench:
    """The flow of L2 and L3 (power/flow), and SPICE on what it maps."""

    def __init__(self, options: argparse.Namespace):
        try:
            from ngtools.power import characterize, recipes
        except ModuleNotFoundError as error:
            raise FlowError(f"{error}; run this with .venv/bin/python, which tools/setup.sh makes") from None
        names = {
            "technology": "osu018",
            "liberty": None,
            "units_file": characterize.UNITS,
            "records": characterize.RECORDS,
            "recipe": recipes.DEFAULT,
        }
        names |= {"work": options.work, "programs": options.programs, "threads": 1, "cycles": 40, "stimuli": []}
        options.work.mkdir(parents=True, exist_ok=True)
        self.flow = characterize.Flow(argparse.Namespace(**names, explain=False, saif=False))
        self.options = options

    def used_cells(self, names) -> list[str]:
        used = set()
        for name in names:
            work, _ = self.flow.prepare(self.unit(name))
            used |= {cell["type"] for cell in self.netlist(work)["cells"].values()}
        return sorted(cell for cell in used if "ff" not in self.flow.technology["cells"][cell])

    def unit(self, name: str) -> dict:
        if name not in self.flow.units:
            raise FlowError(f"unit '{name}' is not in power/units.json")
        unit = self.flow.units[name]
        if unit["top"] not in ("ng_int_mult", "ng_int_mac") or unit["params"].get("Lanes", 1) != 1:
            raise FlowError(
                f"unit '{name}' is a {unit['top']}; what is checked here are results of ng_int_mult, and of ng_int_mac with one lane"
            )
        return unit

    @staticmethod
    def netlist(work: Path) -> dict:
        (module,) = (
            m
            for m in json.loads((work / "netlist.json").read_text())["modules"].values()
            if m["cells"] and not m["attributes"].get("blackbox")
        )
        return module

    def gate_level(self, work: Path, stimulus: Path, cycle: int, period: int) -> dict:
        """L2 and L3 of one cycle: the cycles before it are the warm-up. A clock as slow as SPICE's."""
        command = [self.flow.program("ng_gatesim"), "--technology", str(self.flow.technology_file), "--explain"]
        for option, file in (("--netlist", "netlist.json"), ("--sdf", "netlist.sdf"), ("--slews", "slews.txt")):
            command += [option, str(work / file)]
        command += ["--period", repr(period * 1e-12), "--stimulus", str(stimulus)]
        command += ["--warm-up", str(cycle), "--cycles", str(cycle + 1)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise FlowError(f"ng_gatesim failed: {done.stderr.strip()}")
        counted, row = json.loads(done.stdout), {}
        for rung in ("L2", "L3"):
            logic, flip_flops, toggles = 0.0, 0.0, 0.0
            for name, part in counted[rung]["by_type"].items():
                cell = self.flow.technology["cells"][name]
                if "ff" in cell:
                    # Less the charge of the clock pins: in SPICE an ideal source brings it.
                    (clock,) = (pin["capacitance_f"] for pin in cell["inputs"] if pin["name"] == cell["ff"]["clock"])
                    flip_flops += part["energy_j"] - part["cells"] * clock * VOLT**2
                else:
                    logic, toggles = logic + part["energy_j"], toggles + part["toggles"]
            row |= {f"{rung}_j": logic, f"{rung}_ff_j": flip_flops, f"{rung}_toggles": toggles}
        return row

    def run(self, name: str, cards: dict) -> dict:
        unit = self.unit(name)
        work, mapped = self.flow.prepare(unit)
        drawn, vectors = UNITS.get(name, OTHERS)
        period = period_ps(mapped["period_s"])
        stimulus = self.flow.stimulus(unit, drawn, BEFORE + vectors, SEED, work)
        header, *lines = stimulus.read_text().splitlines()
        port_names = [port["name"] for port in json.loads(header)["ports"]]
        words = [dict(zip(port_names, (int(v, 16) for v in line.split()), strict=True)) for line in lines]
        result: dict = {"unit": name, "stimulus": drawn, "seed": SEED, "vectors": vectors, "period_s": period * 1e-12}
        result |= {
            "netlist_sha256": mapped["netlist_sha256"],
            "stimulus_sha256": hashlib.sha256(stimulus.read_bytes()).hexdigest(),
        }
        rows = []
        for k in range(BEFORE, BEFORE + vectors):
            rows.append(self.gate_level(work, stimulus, k, period))
        module = self.netlist(work)
        ports = {port: body["bits"] for port, body in module["ports"].items()}
        energies, seen = spice_unit(cards, module, ports, words, period, work)
        (output,) = seen[0]
        # A cycle's edge takes its operands; the next one takes their product.
        right = expected(unit, words)
        wrong = sum(seen[k][output] != right[k - 1] for k in range(BEFORE, BEFORE + vectors))
        if wrong:
            raise FlowError(
                f"{name}: {wrong} of {vectors} results of the transistors are wrong; the clock may be too fast for the cards"
            )
        for row, energy in zip(rows, energies[BEFORE:], strict=True):
            row["spice_j"], row["spice_ff_j"] = energy
        result["transistors"] = sum(text_transistors(cell["type"]) for cell in module["cells"].values())
        result["rows"] = [{key: float(f"{value:.5g}") for key, value in row.items()} for row in rows]
        return result


def text_transistors(cell: str) -> int:
    body = TRANSISTORS.read_text().split(f".subckt {cell} ")[1].split(".ends")[0]
    return len(re.findall(r"^M", body, flags=re.M))


# ---------------------------------------------------------------- comparison


def dot(x: list[float], y: list[float]) -> float:
    """Exact sums of rounded products: sum() rounds differently before and after Python 3.12."""
    return math.fsum(a * b for a, b in zip(x, y, strict=True))


def pearson(x: list[float], y: list[float]) -> float:
    mx, my = math.fsum(x) / len(x), math.fsum(y) / len(y)
    xs, ys = [a - mx for a in x], [b - my for b in y]
    return dot(xs, ys) / math.sqrt(dot(xs, xs) * dot(ys, ys))


def summary(units: list[dict]) -> dict:
    """Per model and unit, of the combinational cells; the scale of a model is the one that fits the sum of SCALED_ON's
    vectors. error_mean_abs: mean of |scaled model - SPICE| over the vectors, over the mean of SPICE."""

    def total(unit: dict, key: str) -> float:
        return math.fsum(row[key] for row in unit["rows"])

    result: dict = {"scaled_on": SCALED_ON, "models": [], "flip_flops": []}
    base = next((unit for unit in units if unit["unit"] == SCALED_ON), None)
    for model in MODELS if base else ():
        scale = total(base, "spice_j") / total(base, model)
        for unit in units:
            spice, values = ([row[key] for row in unit["rows"]] for key in ("spice_j", model))
            entry = {"model": model, "unit": unit["unit"], "in_sample": unit is base}
            if not model.endswith("toggles"):
                entry["mean_ratio"] = math.fsum(values) / math.fsum(spice)
            entry["scale"] = scale
            entry["pearson_r"] = pearson(values, spice)
            entry["error_of_mean"] = scale * math.fsum(values) / math.fsum(spice) - 1
            entry["error_mean_abs"] = math.fsum(
                abs(scale * v - s) for v, s in zip(values, spice, strict=True)
            ) / math.fsum(spice)
            result["models"].append(entry)
    for unit in units:
        ratios = {rung: total(unit, f"{rung}_ff_j") / total(unit, "spice_ff_j") for rung in ("L2", "L3")}
        result["flip_flops"].append({"unit": unit["unit"], "mean_ratio": ratios})
    return significant(result)


def significant(value):
    if isinstance(value, float):
        return float(f"{value:.5g}")
    if isinstance(value, dict):
        return {key: significant(item) for key, item in value.items()}
    return [significant(item) for item in value] if isinstance(value, list) else value


def check(record: dict) -> int:
    problems = []
    for unit in record["units"]:
        vectors = UNITS.get(unit["unit"], OTHERS)[1]
        if len(unit["rows"]) != vectors or any(row["spice_j"] <= 0 for row in unit["rows"]):
            problems.append(f"{unit['unit']}: {len(unit['rows'])} vectors with energy, expected {vectors}")
    if record["summary"] != summary(record["units"]):
        problems.append("the recorded summary does not follow from the recorded vectors")
    if record["cards"] != json.loads(CARDS.read_text())["fitted"]:
        problems.append("cards.json is not what the energies were simulated with")
    for problem in problems:
        print(problem)
    good = f"the summary follows from the vectors of {len(record['units'])} units"
    print(f"{len(problems)} problems; power/spice/run.py --record makes it again" if problems else good)
    return 1 if problems else 0


def print_summary(result: dict) -> None:
    print(f"combinational cells, vector by vector; the scale is {result['scaled_on']}'s, tested on the others")
    print(f"  {'model':<12}{'unit':<20}{'model/SPICE':>12}{'r':>8}{'mean':>9}{'|error|':>9}")
    for row in result["models"]:
        ratio = f"{row['mean_ratio']:.3f}" if "mean_ratio" in row else ""
        sample = "  (scaled here)" if row["in_sample"] else ""
        errors = f"{row['error_of_mean']:>+9.1%}{row['error_mean_abs']:>9.1%}"
        print(f"  {row['model']:<12}{row['unit']:<20}{ratio:>12}{row['pearson_r']:>8.3f}{errors}{sample}")
    for row in result["flip_flops"]:
        print(
            f"  flip-flops of {row['unit']:<20} L2/SPICE {row['mean_ratio']['L2']:.2f}, L3/SPICE {row['mean_ratio']['L3']:.2f}"
        )


def print_cells(cells: list[dict]) -> None:
    print(f"  {'cell':<10}{'SPICE fJ':>9}{'Liberty':>9}{'ratio':>7}   delay ratio rise, fall")
    for cell in cells:
        ratios = [cell[f"{edge}_s"] / cell[f"liberty_{edge}_s"] for edge in ("rise", "fall")]
        print(
            f"  {cell['cell']:<10}{cell['spice_j'] * 1e15:>9.1f}{cell['liberty_j'] * 1e15:>9.1f}{cell['spice_j'] / cell['liberty_j']:>7.2f}"
            f"   {ratios[0]:.2f} {ratios[1]:.2f}"
        )


def write_record(bench: Bench, cards: dict, cells: list[dict], results: list[dict]) -> None:
    """Of several results of a unit the last counts; so units simulated before with the same cards stay."""
    place = {name: i for i, name in enumerate(UNITS)}
    latest = {result["unit"]: result for result in results}
    units = sorted(latest.values(), key=lambda unit: place.get(unit["unit"], len(place)))
    version = subprocess.run(["ngspice", "--version"], capture_output=True, text=True, check=False).stdout
    record = {"technology": "osu018", "rung": "L4", "cards": cards["fitted"]}
    record |= {"voltage_v": VOLT, "tools": [*bench.flow.tools, re.search(r"ngspice-\S+", version)[0]]}
    record["cells"] = [{k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in cell.items()} for cell in cells]
    record |= {"summary": summary(units), "units": units}
    text = json.dumps(record, indent=2)
    # A line a vector, a line a cell.
    text = re.sub(r'\{\s+"(?:L2_j|cell)":(?:[^{}]|\{[^{}]*\})*\}', lambda m: " ".join(m[0].split()), text)
    RECORD.write_text(text + "\n")
    print_summary(record["summary"])


def foreign_cards(options: argparse.Namespace, ours: dict) -> dict:
    """In the form of cards.json: a file of models, and what the cells' own file leaves open."""
    path, colon, section = options.cards.partition(":")
    if not Path(path).is_file():
        raise FlowError(f"--cards {path}: there is no such file")
    names = options.transistors.split(",")
    if len(names) != 2:
        raise FlowError(f"--transistors '{options.transistors}'; expected two names, n first, such as CMOSN,CMOSP")
    fitted = ours["fitted"] | ({"diffusion_m": options.diffusion} if options.diffusion else {})
    file = str(Path(path).resolve()) + colon + section
    return {"file": file, "transistors": dict(zip(("nfet", "pfet"), names, strict=True)), "fitted": fitted}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="power/spice/run.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--units", help=f"simulate these now, separated by commas; --record takes {', '.join(UNITS)}")
    parser.add_argument("--cells", action="store_true", help="single cells against Liberty")
    parser.add_argument(
        "--fit-cards", action="store_true", help="fit the four free parameters to Liberty's cells, write cards.json"
    )
    parser.add_argument("--cards", help="a file of SPICE models, FILE or FILE:SECTION of a .lib, instead of cards.json")
    parser.add_argument(
        "--transistors", default="nfet,pfet", help="names of the two models in --cards, n first (default nfet,pfet)"
    )
    parser.add_argument(
        "--diffusion",
        type=float,
        help="length of source and drain in metres, with --cards (default that of cards.json)",
    )
    parser.add_argument("--record", action="store_true", help="write spice_osu018.json: all units, or --units")
    parser.add_argument(
        "--check", action="store_true", help="fail unless the recorded summary follows from the recorded vectors"
    )
    parser.add_argument(
        "--programs", type=Path, default=ROOT / "build" / "bin", help="folder of ng_gatesim and ng_stimulus"
    )
    parser.add_argument("--work", type=Path, help="folder for netlists and decks; default a temporary one")
    parser.add_argument("--json", action="store_true", help="machine-readable result on stdout")
    options = parser.parse_args()
    if options.cards and (options.fit_cards or options.record):
        raise FlowError("--cards: foreign cards are neither fitted nor recorded; leave --fit-cards and --record out")
    if options.check:
        return check(json.loads(RECORD.read_text()))
    if not (options.units or options.cells or options.fit_cards or options.record):
        record = json.loads(RECORD.read_text())
        print(json.dumps(record, indent=2)) if options.json else print_summary(record["summary"])
        return 0
    with tempfile.TemporaryDirectory() as folder:
        options.work = options.work or Path(folder)
        bench = Bench(options)
        cards = json.loads(CARDS.read_text())
        if options.cards:
            cards = foreign_cards(options, cards)
        tested = arcs(bench.flow.technology, bench.used_cells(UNITS))
        add_liberty_delays(tested, bench.flow.liberty)
        if options.fit_cards:
            cards["fitted"] = fit_cards(cards, tested, bench.flow.work)
            CARDS.write_text(json.dumps(cards, indent=2) + "\n")
        old = json.loads(RECORD.read_text()) if RECORD.exists() else {"units": [], "cells": [], "cards": None}
        same = old["cards"] == cards["fitted"]
        needed = options.cells or options.fit_cards or (options.record and not same)
        cells = cell_energies(cards, tested, bench.flow.work) if needed else old["cells"]
        if options.cells or options.fit_cards:
            print(json.dumps(cells, indent=2)) if options.json else print_cells(cells)
        wanted = options.units.split(",") if options.units else UNITS if options.record else ()
        results = []
        for name in wanted:
            results.append(bench.run(name, cards))
            rows = results[-1]["rows"]
            print(
                f"{name}: {sum(row['spice_j'] for row in rows) / len(rows) * 1e12:.3f} pJ a cycle in SPICE",
                file=sys.stderr,
            )
        if options.record:
            write_record(bench, cards, cells, [*(old["units"] if same else []), *results])
        elif results:
            print(json.dumps(results, indent=2)) if options.json else None
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
