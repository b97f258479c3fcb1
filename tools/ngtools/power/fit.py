# SPDX-License-Identifier: Apache-2.0
"""Fits the coefficients of rungs L0 and L1 to L3, and measures every rung on units that the fit has not seen.

Energy per cycle = sum over the features of power/features/include/narrowgauge/power/features.hpp of count x coefficient. The
coefficients, joules and not negative, are those of about the least sum of absolute relative errors over the samples of
units whose "set" in power/units.json is "fit" (each unit weighs the same), L0's expected and L1's counted features
alike, so that one vector serves both rungs. Samples: power/records/<technology>.jsonl. The stimuli are made again and must have the
recorded hashes; power/calibration/<technology>.json has what the gauge and the pages need of the result, --json all of it.
What the fields of that file mean: docs/energy_ladder.md.

examples
  tools/ngtools/power/fit.py                          fit osu018 and print the errors
  tools/ngtools/power/fit.py --record                 and write power/calibration/osu018.json
  tools/ngtools/power/fit.py --technology osu018,osu035,osu050     each of its own records; flips are counted once
  tools/ngtools/power/fit.py --check                  the file is what the records give; no error has grown
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ngtools import ngflow, recorded
from ngtools.ngflow import ROOT, FlowError
from ngtools.power import characterize, ladder, solve

RECORDS = ROOT / "power" / "records"
CALIBRATIONS = ROOT / "power" / "calibration"
RUNGS = ("L0", "L1", "L2", "L2_raw")
ROUNDS = 11  # of reweighting
HEADER = ROOT / "power" / "features" / "include" / "narrowgauge" / "power" / "features.hpp"
Features = dict[tuple[str, str, str], dict]  # by unit, stimulus and its hash: what ng_features says
NAMES = re.findall(r'"(\w+)"', HEADER.read_text().split("feature_names{")[1].split("}")[0])


class Sample:
    """One unit under one stimulus: what it costs, and what the rungs see of it."""

    def __init__(self, unit: dict, record: dict, sample: dict, features: dict):
        self.unit, self.stimulus = unit["name"], sample["stimulus"]
        self.held_out = unit["set"] == "held_out"
        self.mac, self.macs = unit["mac"], unit["macs_per_cycle"]
        self.l2_j, self.l3_j = sample["L2"]["energy_j"], sample["L3"]["energy_j"]
        self.clock_j = sample["L3"]["clock_j"]
        self.glitch_factor = sample["glitch_factor"]
        self.flip_flops, self.period_s = record["flip_flops"], record["period_s"]
        self.features = {rung: np.array([features[rung][name] for name in NAMES]) for rung in ("L0", "L1")}

    def family(self) -> str:
        """What a table calls its format."""
        mac = self.mac
        return f"integer, {mac['structure']}" if mac["format"] == "integer" else mac["format"]

    def energy(self, rung: str, calibration: Calibration) -> float:
        """Joules per cycle."""
        if rung == "L2":
            return self.clock_j + calibration.l2_scale * (self.l2_j - self.clock_j)
        return self.l2_j if rung == "L2_raw" else solve.dot(self.features[rung], calibration.coefficients)

    def error(self, rung: str, calibration: Calibration) -> float:
        """Relative to L3."""
        return self.energy(rung, calibration) / self.l3_j - 1


def make_stimuli(records: dict[str, dict], known: Features, programs: Path, work: Path) -> list[Path]:
    """The .stim files of the samples that are not known, made again; their hashes must be those of the records."""
    paths = []
    for name, record in records.items():
        for sample in record["samples"]:
            if (name, sample["stimulus"], sample["stimulus_sha256"]) in known:
                continue
            path = work / f"{name}.{sample['stimulus']}.stim"
            tensors = characterize.digits_tensors(work) if sample["stimulus"] == "digits" else []
            cycles = sample["cycles"] + characterize.warm_up(record)
            command = [
                str(programs / "ng_stimulus"),
                "--units",
                str(characterize.UNITS),
                "--unit",
                name,
                "--out",
                str(path),
            ]
            command += [
                "--stimulus",
                sample["stimulus"],
                "--seed",
                str(sample["seed"]),
                "--cycles",
                str(cycles),
                *tensors,
            ]
            characterize.run(command, f"stimulus {sample['stimulus']} of {name}")
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            if digest != sample["stimulus_sha256"]:
                raise FlowError(
                    f"stimulus {sample['stimulus']} of {name} has SHA-256 {digest}, its record {sample['stimulus_sha256']}; "
                    "record the unit again (tools/ngtools/power/characterize.py --record)"
                )
            paths.append(path)
    return paths


def load_samples(technology: str, programs: Path, known: Features) -> list[Sample]:
    """Of a technology. `known`: what is counted already; the units and stimuli of the technologies are the same."""
    units = characterize.load_units(characterize.UNITS)
    records = recorded.read(RECORDS / f"{technology}{recorded.SUFFIX}")
    records = {name: record for name, record in records.items() if "mac" in units.get(name, {})}
    if not records:
        raise FlowError(f"power/records/{technology}.jsonl has no record of a unit of power/units.json")
    for program in ("ng_stimulus", "ng_features"):
        if not (programs / program).exists():
            raise FlowError(f"program {programs / program} is missing; build it or give --programs")
    with tempfile.TemporaryDirectory() as folder:
        paths = make_stimuli(records, known, programs, Path(folder))
        command = [str(programs / "ng_features"), "--units", str(characterize.UNITS), *map(str, paths)]
        for line in characterize.run(command, "features").splitlines() if paths else []:
            features = json.loads(line)
            name, stimulus = features["unit"], features["stimulus"]
            sample = next(s for s in records[name]["samples"] if s["stimulus"] == stimulus)
            known[name, stimulus, sample["stimulus_sha256"]] = features
    samples, skipped = [], {}
    for name, record in records.items():
        for sample in record["samples"]:
            features = known[name, sample["stimulus"], sample["stimulus_sha256"]]
            if "skipped" in features:
                skipped[name] = features["skipped"]
            else:
                samples.append(Sample(units[name], record, sample, features))
    for name, why in skipped.items():
        print(f"fit.py: {name} is left out: {why}", file=sys.stderr)
    return samples


# ---------------------------------------------------------------- fit


@dataclass
class Calibration:
    coefficients: np.ndarray  # joules, in the order of NAMES
    l2_scale: float  # what zero-delay energy without the clock's is multiplied by, so that it stands for L3


def fit(samples: list[Sample]) -> Calibration:
    """Rows are divided by the sample's L3 energy, so that errors are relative; least squares whose weights are such that
    above the median an error counts as its size, not as its square (Huber): what no feature describes, as FP32's operands
    that L0 takes for Gaussian, must not bend the rest."""
    counts = {name: sum(s.unit == name for s in samples) for name in {s.unit for s in samples}}
    rows, sides = [], []
    for sample in samples:
        weight = 1 / np.sqrt(counts[sample.unit])
        for rung in ("L0", "L1"):
            rows.append(weight * sample.features[rung] / sample.l3_j)
            sides.append(weight)
    matrix = np.array(rows)
    size = solve.column_norms(matrix)
    size[size == 0] = 1  # a feature that no sample has keeps the coefficient 0
    matrix, wanted, trust = matrix / size, np.array(sides), np.ones(len(sides))
    for _ in range(ROUNDS):
        found = solve.nonnegative_least_squares(matrix * trust[:, None], wanted * trust)
        left = np.abs(solve.times(matrix, found) - wanted)
        trust = np.sqrt(np.minimum(1, (np.median(left) + 1e-9) / np.maximum(left, 1e-9)))
    coefficients = found / size
    weights = np.array([1 / counts[s.unit] for s in samples])
    settled = np.array([(s.l2_j - s.clock_j) / s.l3_j for s in samples])
    rest = np.array([1 - s.clock_j / s.l3_j for s in samples])
    return Calibration(coefficients, solve.dot(weights * settled, rest) / solve.dot(weights * settled, settled))


def errors(samples: list[Sample], rung: str, calibration: Calibration) -> dict:
    listed = [{"unit": s.unit, "stimulus": s.stimulus, "error": digits(s.error(rung, calibration), 4)} for s in samples]
    size = [abs(row["error"]) for row in listed]
    return {"error_mean_abs": digits(solve.mean(size), 4), "error_max": max(size), "held_out": listed}


def digits(value: float, count: int) -> float:
    return float(f"{value:.{count}g}")


def leave_one_out(samples: list[Sample]) -> dict[str, dict]:
    """Each unit of the fit predicted by a fit without it, as errors() has it."""
    without = {name: fit([s for s in samples if s.unit != name]) for name in sorted({s.unit for s in samples})}
    found = {}
    for rung in RUNGS:
        parts = [errors([s for s in samples if s.unit == name], rung, fitted) for name, fitted in without.items()]
        listed = [row for part in parts for row in part["held_out"]]
        size = [abs(row["error"]) for row in listed]
        found[rung] = {"error_mean_abs": digits(solve.mean(size), 4), "error_max": max(size), "held_out": listed}
    return found


def ranges(samples: list[Sample]) -> dict:
    """What the fit has seen, by format: lists of values, or [least, largest]."""
    found: dict[str, dict] = {}
    for sample in samples:
        mac = sample.mac
        of = found.setdefault(mac["format"], {})
        for key in ("structure", "schedule", "a_signed", "b_signed", "accumulator"):
            if key in mac:
                of.setdefault(key, set()).add(mac[key])
        for key in ("a_width", "b_width", "lanes", "acc_width"):
            if key in mac:
                of.setdefault(key, []).append(mac[key])
        of.setdefault("stimuli", set()).add(sample.stimulus)
    return {
        name: {k: sorted(v) if isinstance(v, set) else [min(v), max(v)] for k, v in sorted(of.items())}
        for name, of in sorted(found.items())
    }


def calibrate(technology: str, samples: list[Sample]) -> dict:
    """All that --json prints, named by its hash."""
    seen = [s for s in samples if not s.held_out]
    unseen = [s for s in samples if s.held_out]
    if not seen or not unseen:
        raise FlowError(f"{technology}: {len(seen)} samples to fit and {len(unseen)} held out; both are needed")
    fitted = fit(seen)
    fitted = Calibration(np.array([digits(c, 9) for c in fitted.coefficients]), digits(fitted.l2_scale, 9))
    content: dict = {"technology": technology, "coefficients": dict(zip(NAMES, fitted.coefficients, strict=True))}
    content |= {"coefficient_unit": "J", "l2_scale": fitted.l2_scale}
    content |= {rung: errors(unseen, rung, fitted) for rung in RUNGS}
    for rung in ("L0", "L1"):
        of_fit = errors(seen, rung, fitted)
        content[rung] |= {"fit_error_mean_abs": of_fit["error_mean_abs"], "fit_error_max": of_fit["error_max"]}
    content["leave_one_out"] = leave_one_out(seen)
    content |= {"fitted_units": sorted({s.unit for s in seen}), "ranges": ranges(seen)}
    identity = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
    return {"id": identity, **content}


def summary(samples: list[dict]) -> dict:
    """Of these errors: mean and largest size, and of how many samples and units."""
    size = [abs(sample["error"]) for sample in samples]
    units = len({sample["unit"] for sample in samples})
    return {"mean_abs": solve.mean(size), "max": max(size), "samples": len(size), "units": units}


def by_family(samples: list[dict], units: dict[str, dict]) -> dict[str, dict]:
    """The summary of each family of the ladder's page that has samples."""
    found: dict[str, list[dict]] = {}
    for sample in samples:
        found.setdefault(ladder.family(units[sample["unit"]]["mac"]), []).append(sample)
    return {name: summary(found[name]) for name in ladder.FAMILIES if name in found}


def stored(content: dict, units: dict[str, dict]) -> dict:
    """The content of power/calibration/<technology>.json: without lists of the fit that nothing but --json shows."""
    kept = {key: value for key, value in content.items() if key not in ("leave_one_out", "ranges")}
    kept["leave_one_out"] = {
        rung: {
            **{key: of[key] for key in ("error_mean_abs", "error_max")},
            "families": by_family(of["held_out"], units),
        }
        for rung, of in content["leave_one_out"].items()
    }
    return kept | {"checksum": checksum(kept)}


def checksum(content: dict) -> str:
    """Of a calibration's file without this key, so that no figure in it changes by hand."""
    rest = {key: value for key, value in content.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()[:16]


def load_calibration(technology: str) -> tuple[dict, Calibration]:
    path = CALIBRATIONS / f"{technology}.json"
    if not path.exists():
        raise FlowError(
            f"{ngflow.from_root(path)} is missing; run tools/ngtools/power/fit.py --record --technology {technology}"
        )
    content = json.loads(path.read_text())
    return content, Calibration(np.array([content["coefficients"][name] for name in NAMES]), content["l2_scale"])


# ---------------------------------------------------------------- check, text


def differences(now: dict, then: dict) -> list[str]:
    """What has changed since the calibration was recorded. Numbers may differ in the last bits of another machine."""
    problems = []
    for name in NAMES:
        a, b = now["coefficients"][name], then["coefficients"].get(name)
        if b is None or abs(a - b) > 1e-6 * max(abs(a), abs(b)) + 1e-20:
            problems.append(f"coefficient {name} is {a}, recorded {b}")
    for rung in RUNGS:
        for key in ("error_mean_abs", "error_max"):
            if now[rung][key] > then[rung][key] * 1.001 + 1e-6:
                problems.append(f"{rung} {key} has grown: {now[rung][key]}, recorded {then[rung][key]}")
        if len(now[rung]["held_out"]) != len(then[rung]["held_out"]):
            problems.append(
                f"{rung}: {len(now[rung]['held_out'])} held-out samples, recorded {len(then[rung]['held_out'])}"
            )
    return problems


def text(content: dict) -> str:
    lines = [f"{content['technology']}: calibration {content['id']}"]
    lines += [f"  {name:22} {value * 1e15:10.3f} fJ" for name, value in content["coefficients"].items()]
    for rung in RUNGS:
        of = content[rung]
        lines.append(
            f"  {rung:7} against L3, held out: {of['error_mean_abs']:.1%} mean absolute, {of['error_max']:.1%} at most"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--technology", default="osu018", help="files of power/records, separated by commas (default osu018)"
    )
    parser.add_argument("--record", action="store_true", help="write power/calibration/<technology>.json")
    parser.add_argument("--check", action="store_true", help="compare with the recorded calibration")
    parser.add_argument(
        "--json",
        action="store_true",
        help="all of the fit on stdout: also its ranges, and each error of each unit left out once",
    )
    parser.add_argument(
        "--programs", type=Path, default=ROOT / "build" / "bin", help="folder of ng_stimulus and ng_features"
    )
    options = parser.parse_args()
    technologies = options.technology.split(",")
    if options.json and len(technologies) > 1:
        parser.error(f"--json prints one calibration; --technology names {len(technologies)}")
    known: Features = {}
    problems = []
    for technology in technologies:
        now = calibrate(technology, load_samples(technology, options.programs.resolve(), known))
        print(json.dumps(now, indent=1) if options.json else text(now), flush=True)
        if options.record:
            kept = stored(now, characterize.load_units(characterize.UNITS))
            recorded.write_whole(CALIBRATIONS / f"{technology}.json", recorded.by_lines(kept))
        if options.check:
            problems += [f"{technology}: {p}" for p in differences(now, load_calibration(technology)[0])]
    for problem in problems:
        print(f"fit.py: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    ngflow.run_main(main)
