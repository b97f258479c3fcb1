#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rung L5: energy of events on an iCE40UP5K, fitted to published current measurements, and what a unit of ours would take.

measurements.json holds the published currents and the circuit behind each; activity.py places every circuit (nextpnr) and
counts its events (Icarus Verilog with nextpnr's delays); the fit finds, by relative least squares with no coefficient
below zero,

  power = static + oscillator + f (clock + flip_flop * flip-flops + net * toggles of routed nets + dsp * products)

and predicts each row from a fit of the others. Units in JSON: joules, watts, amperes, hertz.

examples
  power/ice40up/fit.py                                the fit and its errors
  power/ice40up/fit.py --unit ng_dot_e2m1 --params Lanes=16
                                                      energy per cycle of a unit of ours, estimated
  power/ice40up/fit.py --unit ng_int_mult --dsp --json
  power/ice40up/fit.py --record                       place and simulate everything again (a minute), write the records
  power/ice40up/fit.py --check --activity             records against a new fit, and one circuit placed and simulated again
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import math
import re
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import activity

from ngtools import ngflow
from ngtools.ngflow import FlowError

FOLDER = Path(__file__).resolve().parent
POWER = FOLDER.parent
ACTIVITY = FOLDER / "activity.json"
CALIBRATION = POWER / "calibration" / "ice40up.json"
UNITS = POWER / "units.json"
SEEDS = (1, 2, 3, 4, 5)
CYCLES = 2048  # a multiple of 256, the period of the multiplied counters
UNIT_CYCLES = 256
ESTIMATES = FOLDER / "estimates.json"
ESTIMATED = ("int8_mac_array", "int4_mac_array", "fp8_e4m3_mac_2", "nvfp4_mac_16")
AGAIN = "math_lut"  # the circuit that the test places and simulates again
# What a toggle is weighed by: the net, or every routing wire of it. The pulse rule is activity.PULSES.
VARIANTS = tuple((weight, pulses) for weight in ("net_toggles", "wire_toggles") for pulses in activity.PULSES)
DEFAULT = ("net_toggles", "transport")

COEFFICIENTS = {
    "static": ("W", "core of a configured device, clock stopped"),
    "hfosc": ("W", "the 48 MHz oscillator, whatever its divider"),
    "clock": ("J", "a clock cycle of the global clock network, and its source"),
    "flip_flop": ("J", "clocking one flip-flop once, with its share of the branches"),
    "net": ("J", "one change of one routed net, with the logic cell that drives it and the carries behind it"),
    "dsp": ("J", "one product of 8-bit operands in a MAC16, as the measured counters change them"),
}


# ---------------------------------------------------------------- linear algebra, a few unknowns


def solve(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    """Gaussian elimination with pivoting; None if singular (pivot below 1e-9 of its scaled column)."""
    n = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda r: abs(rows[r][k]))
        if abs(rows[pivot][k]) < 1e-9:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for r in range(n):
            if r != k:
                factor = rows[r][k] / rows[k][k]
                rows[r] = [a - factor * b for a, b in zip(rows[r], rows[k], strict=True)]
    return [rows[k][n] / rows[k][k] for k in range(n)]


def dot(x: Iterable[float], y: Iterable[float]) -> float:
    """Exact sums of rounded products: sum() rounds differently before and after Python 3.12."""
    return math.fsum(a * b for a, b in zip(x, y, strict=True))


def normal(design: list[list[float]]) -> list[list[float]]:
    columns = list(zip(*design, strict=True))
    return [[dot(one, other) for other in columns] for one in columns]


def least_squares(design: list[list[float]], measured: list[float]) -> dict:
    """Relative errors' least squares, coefficients >= 0: the best of all sets of coefficients that may be non-zero.
    Columns are scaled to norm 1 first. Returns coefficients, leverages of the rows, and which columns are determined."""
    relative = [[x / y for x in row] for row, y in zip(design, measured, strict=True)]
    columns = len(design[0])
    norms = [math.sqrt(dot(column, column)) for column in zip(*relative, strict=True)]
    scaled = [[row[c] / norms[c] if norms[c] else 0.0 for c in range(columns)] for row in relative]
    best = None
    # A subset that is singular says nothing about a column, so the largest regular ones are tried first.
    for size in range(columns, 0, -1):
        for active in itertools.combinations(range(columns), size):
            part = [[row[c] for c in active] for row in scaled]
            gram = normal(part)
            found = solve(gram, [math.fsum(column) for column in zip(*part, strict=True)])
            if found is None or min(found) < 0:
                continue
            left = [dot(row, found) - 1 for row in part]
            error = dot(left, left)
            if best is None or error < best[0] * (1 - 1e-9):
                best = (error, active, found, part, gram)
    if best is None:
        raise FlowError("the measurements determine no coefficient: measurements.json has no usable row")
    _, active, found, part, gram = best
    leverage = [dot(row, solve(gram, row) or [math.nan] * len(row)) for row in part]
    values = [0.0] * columns
    for c, x in zip(active, found, strict=True):
        values[c] = x / norms[c]
    return {"values": values, "leverage": leverage}


# ---------------------------------------------------------------- the fit


def load(path: Path, made_by: str) -> dict:
    if not path.exists():
        raise FlowError(f"{path.relative_to(ngflow.ROOT)} is missing; {made_by} writes it")
    try:
        return json.loads(path.read_text())
    except json.JSONDecodeError as error:
        raise FlowError(f"{path.relative_to(ngflow.ROOT)} is not JSON ({error}); git has the recorded one") from None


def mean_activity(recorded: dict, circuit: str, pulses: str, seed: int | None) -> dict:
    """Of all seeds, or of one."""
    if circuit == "none":
        return dict.fromkeys(("ff_clockings", "dsp_ops", "net_toggles", "wire_toggles"), 0.0)
    runs = [run for run in recorded["runs"] if run["circuit"] == circuit and run["pulses"] == pulses]
    chosen = [run for run in runs if seed is None or run["seed"] == seed] or runs
    if not chosen:
        raise FlowError(f"no activity of circuit '{circuit}' is recorded; run power/ice40up/fit.py --record")
    return {
        key: math.fsum(run[key] for run in chosen) / len(chosen)
        for key in chosen[0]
        if isinstance(chosen[0][key], int | float)
    }


def events(row: dict, recorded: dict, variant: tuple[str, str], seed: int | None) -> list[float]:
    """A row's factors of the coefficients, in watts per coefficient."""
    weight, pulses = variant
    counted = mean_activity(recorded, row["circuit"], pulses, seed)
    f = row["clock_hz"]
    result = [1.0, float(row["clock"] == "hfosc"), f, f * counted["ff_clockings"], f * counted[weight]]
    result.append(f * counted["dsp_ops"])
    if row.get("difference"):
        other = mean_activity(recorded, row["minus"], pulses, seed) if "minus" in row else dict.fromkeys(counted, 0.0)
        result = [0.0, 0.0, 0.0 if "minus" in row else f]
        result += [f * (counted[key] - other[key]) for key in ("ff_clockings", weight, "dsp_ops")]
    return result


def fit(measurements: dict, recorded: dict, variant: tuple[str, str] = DEFAULT, seed: int | None = None) -> dict:
    volt = measurements["core_voltage_v"]
    rows = measurements["rows"]
    design = [events(row, recorded, variant, seed) for row in rows]
    power = [row["current_a"] * volt for row in rows]
    whole = least_squares(design, power)

    def predict(values: list[float], factors: list[float]) -> float:
        return dot(values, factors) / volt

    result = {"values": dict(zip(COEFFICIENTS, whole["values"], strict=True)), "rows": [], "checks": []}
    for i, row in enumerate(rows):
        others = [k for k in range(len(rows)) if k != i]
        # A row with leverage 1 alone determines a coefficient: without it nothing predicts it.
        tested = whole["leverage"][i] < 0.99
        left = least_squares([design[k] for k in others], [power[k] for k in others]) if tested else None
        fitted = predict(whole["values"], design[i])
        entry = {"name": row["name"], "measured_a": row["current_a"], "fitted_a": fitted}
        # Of a row that alone determines a coefficient only rounding would be left (+ 0.0: not -0).
        entry["fit_error"] = round(fitted / row["current_a"] - 1, 9) + 0.0
        entry["leverage"] = whole["leverage"][i]
        entry["left_out_a"] = predict(left["values"], design[i]) if left else None
        entry["left_out_error"] = entry["left_out_a"] / row["current_a"] - 1 if left else None
        if "over" in row:
            # The clock network is most of every row: what was added over a smaller row is the harder test.
            (base,) = (other["current_a"] for other in rows if other["name"] == row["over"])
            added = row["current_a"] - base
            entry |= {"over": row["over"], "added_a": added}
            entry["left_out_error_of_added"] = (entry["left_out_a"] - row["current_a"]) / added if left else None
        result["rows"].append(entry)
    for row in measurements["checks"]:
        predicted = predict(whole["values"], events(row, recorded, variant, seed))
        entry = {"name": row["name"], "about": row["about"], "measured_a": row["current_a"], "predicted_a": predicted}
        result["checks"].append({**entry, "error": predicted / row["current_a"] - 1})
    return result


def significant(value, digits: int = 6):
    """Rounded, so that the record does not depend on the last bits of a machine."""
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, dict):
        return {key: significant(item, digits) for key, item in value.items()}
    return [significant(item, digits) for item in value] if isinstance(value, list) else value


def calibrate(measurements: dict, recorded: dict) -> dict:
    """The content of power/calibration/ice40up.json."""
    main = fit(measurements, recorded)
    spread = {name: [] for name in COEFFICIENTS}
    variants = []
    for weight, pulses in VARIANTS:
        other = fit(measurements, recorded, (weight, pulses))
        variants.append({"toggles_of": weight, "pulses": pulses, "event_energies": other["values"]})
        for seed in SEEDS if weight == "net_toggles" else ():
            for name, value in fit(measurements, recorded, (weight, pulses), seed)["values"].items():
                spread[name].append(value)
    tested = [abs(row["left_out_error"]) for row in main["rows"] if row["left_out_error"] is not None]
    result = {
        "technology": "ice40up",
        "rung": "L5",
        "about": "fitted to published currents of one iCE40UP5K board; see docs/energy_fpga.md",
        "source": measurements["source"],
        "core_voltage_v": measurements["core_voltage_v"],
        "event_energies": [
            {
                "name": name,
                "value": main["values"][name],
                "unit": unit,
                "of": of,
                "range": [min(spread[name]), max(spread[name])],
            }
            for name, (unit, of) in COEFFICIENTS.items()
        ],
        "range_of": f"placements with seeds {SEEDS[0]} to {SEEDS[-1]}, short pulses passing or swallowed by the routing",
        "variants": variants,
        "rows": main["rows"],
        "left_out": {
            "rows": len(tested),
            "error_mean_abs": math.fsum(tested) / len(tested),
            "error_max": max(tested),
            "note": "nearly all of each of these rows is the clock network: they do not test the coefficients of nets and DSP",
            "not_testable": [row["name"] for row in main["rows"] if row["left_out_error"] is None],
        },
        "checks": main["checks"],
        "tools": recorded["tools"],
    }
    result = significant(result)
    return {"id": hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()[:16], **result}


# ---------------------------------------------------------------- activity


def tools() -> list[str]:
    done = subprocess.run(["vvp", "-V"], capture_output=True, text=True, check=False)
    found = re.search(r"version (\S+)", done.stdout + done.stderr)
    return [
        ngflow.yosys_version(),
        ngflow.tool_version("nextpnr-ice40"),
        f"Icarus Verilog {found.group(1) if found else 'unknown'}",
    ]


def source_hash() -> str:
    """Of the circuit and of how it is placed. How it is counted is tested by counting again."""
    text = " ".join(ngflow.strip_comments(activity.CIRCUIT.read_text()).split())
    return hashlib.sha256(" ".join([text, *activity.NEXTPNR, str(CYCLES)]).encode()).hexdigest()


def run_circuit(measurements: dict, circuit: str, seed: int, pulses: str, work: Path) -> dict:
    parameters = measurements["circuits"][circuit]
    counted = activity.circuit_activity(parameters, seed, CYCLES, pulses, work / f"{circuit}_{seed}_{pulses}")
    return {"circuit": circuit, "seed": seed, "pulses": pulses, **significant(counted, 9)}


def record(measurements: dict, jobs: int) -> None:
    jobs_of = [
        (circuit, seed, pulses)
        for circuit in measurements["circuits"]
        if circuit != "none"
        for seed in (SEEDS if circuit != "counter1536" else SEEDS[:1])
        for pulses in activity.PULSES
    ]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        runs = list(pool.map(lambda job: run_circuit(measurements, *job, Path(folder)), jobs_of))
    recorded = {
        "device": "iCE40UP5K-SG48",
        "cycles": CYCLES,
        "source_sha256": source_hash(),
        "tools": tools(),
        "runs": runs,
    }
    for path in (ACTIVITY, CALIBRATION):
        path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join("    " + json.dumps(run) for run in recorded.pop("runs"))
    ACTIVITY.write_text(json.dumps(recorded, indent=2)[:-2] + ',\n  "runs": [\n' + lines + "\n  ]\n}\n")
    refit(measurements)


def refit(measurements: dict) -> None:
    CALIBRATION.write_text(json.dumps(calibrate(measurements, load(ACTIVITY, "--record")), indent=2) + "\n")


def check(measurements: dict, again: bool) -> int:
    recorded, calibration = load(ACTIVITY, "fit.py --record"), load(CALIBRATION, "fit.py --record")
    problems = []
    if recorded["source_sha256"] != source_hash():
        problems.append("the circuit or activity.py has changed since the activity was recorded")
    fitted = calibrate(measurements, recorded)
    if fitted != calibration:
        keys = [key for key in fitted if fitted[key] != calibration.get(key)]
        problems.append(f"{CALIBRATION.name} is not what the fit gives (differing: {', '.join(keys)})")
    for row in load(ESTIMATES, "fit.py --estimates --record")["units"]:
        if row["calibration"] != calibration["id"] or row["unit"] not in ESTIMATED:
            problems.append(
                f"{ESTIMATES.name}: {row['unit']} is of calibration {row['calibration']}: fit.py --estimates --record"
            )
        if row["source_sha256"] != ngflow.design_hash(ngflow.sources(row["top"])):
            problems.append(f"{ESTIMATES.name}: the RTL of {row['unit']} has changed: fit.py --estimates --record")
    compared = "the fit is the recorded calibration"
    if again:
        with tempfile.TemporaryDirectory() as folder:
            wrong = activity.wrong_products(4, 256, Path(folder))
            now = run_circuit(measurements, AGAIN, SEEDS[0], "transport", Path(folder))
        if wrong:
            problems.append(f"the activity bench gets {wrong} of 256 products of a placed 4 x 4 multiplier wrong")
        if recorded["tools"] != tools():
            print(f"recorded with {recorded['tools']}, here are {tools()}: the activity is not compared")
        else:
            same = (
                run for run in recorded["runs"] if all(run[key] == now[key] for key in ("circuit", "seed", "pulses"))
            )
            (then,) = same
            problems += [
                f"{AGAIN}: {key} is {now[key]}, recorded {then.get(key)}" for key in now if now[key] != then.get(key)
            ]
            compared += f"; {AGAIN} placed and simulated again has the recorded activity ({now['net_toggles']:.1f} toggles a cycle)"
    for problem in problems:
        print(problem)
    print(
        f"{len(problems)} problems; look at them, then power/ice40up/fit.py --record (or --refit)"
        if problems
        else compared
    )
    return 1 if problems else 0


# ---------------------------------------------------------------- units of ours


def find_unit(name: str, params: dict[str, int] | None) -> dict:
    """Of power/units.json by name, else a module by its name."""
    if UNITS.exists():
        for unit in json.loads(UNITS.read_text())["units"]:
            if unit["name"] == name:
                if params is not None:
                    raise FlowError(
                        f"'{name}' is an entry of power/units.json and brings its parameters; name the module {unit['top']} to choose others"
                    )
                return {"macs_per_cycle": 1, **unit}
    top = name if name.startswith("ng_") else f"ng_{name}"
    if top not in ngflow.module_map():
        raise FlowError(f"unit '{name}' is neither an entry of power/units.json nor a module of rtl/")
    return {"name": name, "top": top, "params": params or {}, "macs_per_cycle": None}


def estimate(unit: dict, dsp: bool, seed: int, cycles: int, stimulus: Path | None) -> dict:
    calibration = load(CALIBRATION, "fit.py --record")
    with tempfile.TemporaryDirectory() as folder:
        counted, netlist = activity.unit_activity(
            unit["top"], unit["params"], dsp, seed, cycles, unit.get("inputs", {}), stimulus, Path(folder)
        )
    by_variant = {}
    for variant in calibration["variants"]:
        c, n = variant["event_energies"], counted[variant["pulses"]]
        by_variant[variant["toggles_of"], variant["pulses"]] = {
            "flip_flops_j": c["flip_flop"] * n["ff_clockings"],
            "nets_j": c["net"] * n[variant["toggles_of"]],
            "dsp_j": c["dsp"] * n["dsp_ops"],
        }
    parts, events_counted = by_variant[DEFAULT], counted[DEFAULT[1]]
    totals = [math.fsum(part.values()) for part in by_variant.values()]
    energy, macs = math.fsum(parts.values()), unit["macs_per_cycle"]
    clock = next(c["value"] for c in calibration["event_energies"] if c["name"] == "clock")
    return significant(
        {
            "unit": unit["name"],
            "top": unit["top"],
            "parameters": unit["params"],
            "kind": "estimate, not a measurement",
            "technology": "ice40up",
            "rung": "L5",
            "calibration": calibration["id"],
            "energy_per_cycle_j": energy,
            "energy_per_cycle_range_j": [min(totals), max(totals)],
            "range_of": "ways to weigh toggles (net or routing wires) and short pulses; not a bound on the true error",
            "energy_per_mac_j": energy / macs if macs else None,
            "parts": parts,
            "without": {"clock_network_per_cycle_j": clock, "why": "paid once a device, not by the unit"},
            "calibration_error": calibration["left_out"],
            "activity": events_counted,
            "glitch_factor": events_counted["net_toggles"] / events_counted["net_toggles_settled"],
            "cycles": cycles,
            "seed": seed,
            "stimulus": stimulus.stem if stimulus else "uniform bits",
            "stimulus_sha256": hashlib.sha256(stimulus.read_bytes()).hexdigest() if stimulus else None,
            "netlist_sha256": netlist,
            "source_sha256": ngflow.design_hash(ngflow.sources(unit["top"])),
        }
    )


def estimates(programs: Path, jobs: int) -> None:
    """Of the chosen units of power/units.json on uniform operands (ng_stimulus), with the ratio to the first, into a record."""

    def one(name: str) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            stimulus = Path(folder) / "uniform.stim"
            command = [str(programs / "ng_stimulus"), "--units", str(UNITS), "--unit", name, "--stimulus", "uniform"]
            command += ["--seed", "1", "--cycles", str(UNIT_CYCLES + activity.WARM_UP), "--out", str(stimulus)]
            activity.run(command, f"the operands of {name}")
            return estimate(find_unit(name, None), False, 1, UNIT_CYCLES, stimulus)

    with ThreadPoolExecutor(jobs) as pool:
        results = list(pool.map(one, ESTIMATED))
    base = results[0]["energy_per_mac_j"]
    rows = [{**result, "energy_per_mac_to_int8": significant(result["energy_per_mac_j"] / base)} for result in results]
    for row in rows:
        del row["calibration_error"], row["range_of"], row["without"]  # the same for all: in the calibration
    ESTIMATES.write_text(
        json.dumps({"about": "estimates, not measurements: docs/energy_fpga.md", "units": rows}, indent=2) + "\n"
    )
    print_estimates(rows)


def print_estimates(rows: list[dict]) -> None:
    print(f"estimates on iCE40UP5K, not measurements; uniform operands; to {rows[0]['unit']}")
    for row in rows:
        low, high = (value * 1e12 for value in row["energy_per_cycle_range_j"])
        print(
            f"  {row['unit']:<18}{row['energy_per_mac_j'] * 1e12:>8.1f} pJ a MAC {row['energy_per_mac_to_int8']:>6.2f}   "
            f"{row['energy_per_cycle_j'] * 1e12:.1f} ({low:.1f} to {high:.1f}) a cycle, {row['activity']['logic_cells']} cells, "
            f"glitch factor {row['glitch_factor']:.1f}"
        )


# ---------------------------------------------------------------- command line


def print_estimate(result: dict) -> None:
    low, high = (value * 1e12 for value in result["energy_per_cycle_range_j"])
    parts = ", ".join(f"{name[:-2].replace('_', ' ')} {value * 1e12:.3g}" for name, value in result["parts"].items())
    counted = result["activity"]
    print(f"{result['top']} {result['parameters']} on iCE40UP5K, {result['stimulus']}: an estimate, not a measurement")
    print(
        f"  {result['energy_per_cycle_j'] * 1e12:.4g} pJ a cycle ({low:.4g} to {high:.4g}: ways to count toggles): {parts}"
    )
    if result["energy_per_mac_j"]:
        print(f"  {result['energy_per_mac_j'] * 1e12:.4g} pJ a multiply-accumulate")
    print(
        f"  {counted['logic_cells']} logic cells with registers, {counted['net_toggles']:.1f} net toggles a cycle, "
        f"glitch factor {result['glitch_factor']:.2f}; clock network apart: {result['without']['clock_network_per_cycle_j'] * 1e12:.3g} pJ"
    )
    print(
        f"  calibration {result['calibration']}; the net and DSP coefficients rest on one row each: docs/energy_fpga.md"
    )


def print_fit(calibration: dict) -> None:
    print(f"calibration {calibration['id']}, rows of {calibration['source'].split(',')[0]}")
    scale = {"J": (1e12, "pJ"), "W": (1e6, "uW")}
    for c in calibration["event_energies"]:
        factor, unit = scale[c["unit"]]
        low, high = (value * factor for value in c["range"])
        print(f"  {c['name']:<10}{c['value'] * factor:>9.4g} {unit}  ({low:.4g} to {high:.4g})  {c['of']}")
    print(
        f"  {'row':<14}{'measured uA':>12}{'fitted':>9}{'error':>8}{'left out':>10}{'leverage':>10}  left out, of what the row adds"
    )
    for row in calibration["rows"]:
        added = row.get("left_out_error_of_added")
        left = "untested" if row["left_out_error"] is None else f"{row['left_out_error']:+.1%}"
        print(
            f"  {row['name']:<14}{row['measured_a'] * 1e6:>12.5g}{row['fitted_a'] * 1e6:>9.1f}{row['fit_error']:>+8.1%}"
            f"{left:>10}{row['leverage']:>10.2f}"
            + (f"  {added:+.1%} of {row['added_a'] * 1e6:.1f} uA" if added is not None else "")
        )
    out = calibration["left_out"]
    untested = ", ".join(out["not_testable"])
    print(
        f"  left out: mean {out['error_mean_abs']:.1%}, worst {out['error_max']:.1%} of {out['rows']} rows; untested: {untested}"
    )
    for row in calibration["checks"]:
        print(
            f"  check {row['name']}: {row['measured_a'] * 1e6:.5g} uA measured, {row['predicted_a'] * 1e6:.4g} predicted ({row['about']})"
        )


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="power/ice40up/fit.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--record", action="store_true", help="place and simulate all circuits, write activity and calibration"
    )
    parser.add_argument("--refit", action="store_true", help="write the calibration from the recorded activity")
    parser.add_argument(
        "--check", action="store_true", help="fail unless the recorded calibration follows from the recorded activity"
    )
    parser.add_argument(
        "--activity", action="store_true", help="with --check: also place and simulate one circuit again"
    )
    parser.add_argument("--unit", help="estimate a unit: an entry of power/units.json, or a module with --params")
    parser.add_argument(
        "--estimates", action="store_true", help="the recorded estimates; with --record: make only them again"
    )
    parser.add_argument("--programs", type=Path, default=ngflow.ROOT / "build" / "bin", help="folder of ng_stimulus")
    parser.add_argument("--params", help="parameters of the module, for example Lanes=16")
    parser.add_argument("--dsp", action="store_true", help="let Yosys use the device's multipliers")
    parser.add_argument("--stimulus", metavar="FILE", help="operands for --unit (.stim); default uniform bits")
    parser.add_argument(
        "--cycles", type=int, default=UNIT_CYCLES, help=f"for --unit, 1 to 1000000; default {UNIT_CYCLES}"
    )
    parser.add_argument("--seed", type=int, default=1, help="of placement and uniform bits for --unit; default 1")
    parser.add_argument("--jobs", type=int, default=2, help="simulations at once for --record; default 2")
    parser.add_argument("--json", action="store_true", help="machine-readable result on stdout")
    args = parser.parse_args()
    if not 1 <= args.cycles <= 1_000_000:
        raise FlowError(f"--cycles is {args.cycles}; it must be 1 to 1000000")
    measurements = load(FOLDER / "measurements.json", "git")
    if args.unit:
        unit = find_unit(args.unit, ngflow.parse_params(args.params) if args.params is not None else None)
        result = estimate(unit, args.dsp, args.seed, args.cycles, Path(args.stimulus) if args.stimulus else None)
        print(json.dumps(result, indent=2)) if args.json else print_estimate(result)
        return 0
    if args.estimates:
        if args.record:
            estimates(args.programs, args.jobs)
        else:
            recorded = load(ESTIMATES, "fit.py --estimates --record")
            print(json.dumps(recorded, indent=2)) if args.json else print_estimates(recorded["units"])
        return 0
    if args.check:
        return check(measurements, args.activity)
    if args.record:
        record(measurements, args.jobs)
    elif args.refit:
        refit(measurements)
    calibration = calibrate(measurements, load(ACTIVITY, "fit.py --record"))
    print(json.dumps(calibration, indent=2)) if args.json else print_fit(calibration)
    return 0


if __name__ == "__main__":
    ngflow.run_main(main)
