# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: PT009 (assertAlmostEqual)
"""The flow from RTL to energy: netlists compute what the golden arithmetic says, faults are noticed, errors are clear.

flow_test.py PROGRAMS WORK [Golden|Oracles|Faults|Errors]
"""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import pytest
from flow_start import PROGRAMS, WORK, main, need_liberty, options, rows_of, signed, stimulus_of

from ngtools.ngflow import ROOT
from ngtools.power import characterize, golden, technology

FLOW = Path(characterize.__file__).parent

E2M1 = (0, 1, 2, 3, 4, 6, 8, 12)  # in units of 1/2
WARM_UP = characterize.WARM_UP


def call(script: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, str(FLOW / script), *arguments, "--programs", str(PROGRAMS), "--work", str(WORK)],
        capture_output=True,
        text=True,
        check=False,
    )


class Base(unittest.TestCase):
    def simulate(self, name: str, stimulus: str, cycles: int) -> tuple[list[dict], list[dict]]:
        """Inputs and outputs of each cycle, as numbers."""
        flow = characterize.Flow(options())
        unit = flow.units[name]
        work, mapped = flow.prepare(unit)
        path = flow.stimulus(unit, stimulus, cycles, 7, work)
        flow.simulate(unit, work, mapped["period_s"], path, ["--outputs", str(work / "outputs.txt")])
        inputs = stimulus_of(path)
        head, *lines = (work / "outputs.txt").read_text().splitlines()
        outputs = rows_of(head.split(), lines)
        assert len(inputs) == cycles
        assert len(outputs) == cycles
        return inputs, outputs


class Golden(Base):
    """Settled outputs of mapped netlists."""

    def test_nvfp4_dot(self):
        inputs, outputs = self.simulate("nvfp4_dot_16", "gauss", 600)

        def scale(code: int) -> int:  # in units of 2^-9
            exponent, mantissa = code >> 3 & 15, code & 7
            return mantissa if exponent == 0 else (8 + mantissa) << (exponent - 1)

        def value(code: int) -> int:
            return -E2M1[code & 7] if code & 8 else E2M1[code & 7]

        for cycle in range(WARM_UP, 600):
            x = inputs[cycle - 1]  # input register, output register
            dot = sum(value(x["a_i"] >> 4 * i & 15) * value(x["b_i"] >> 4 * i & 15) for i in range(16))
            term = dot * scale(x["a_scale_i"]) * scale(x["b_scale_i"])
            assert signed(outputs[cycle]["term_o"], 48) == term, f"cycle {cycle}"
        assert len({row["term_o"] for row in outputs}) > 500

    def test_int8_mac(self):
        inputs, outputs = self.simulate("int8_mac_array", "uniform", 800)
        sum_ = 0
        for cycle in range(1, 800):
            x = inputs[cycle - 1]  # input register; the accumulator takes the product at the next edge
            product = signed(x["a_i"], 8) * signed(x["b_i"], 8)
            sum_ = product if x["first_i"] else sum_ + product
            assert signed(outputs[cycle]["acc_o"], 32) == sum_, f"cycle {cycle}"

    def test_serial_mult(self):
        inputs, outputs = self.simulate("serial6_mult", "uniform", 300)
        taken = [cycle for cycle in range(WARM_UP, 295) if outputs[cycle]["ready_o"]]
        assert taken == list(range(taken[0], 295, 6))  # a product in six cycles
        for cycle in taken:
            x, y = inputs[cycle], outputs[cycle + 5]
            assert all(inputs[cycle - back] == x for back in range(6)), f"cycle {cycle}: offered until it is taken"
            assert y["valid_o"], f"cycle {cycle}"
            assert signed(y["product_o"], 12) == signed(x["a_i"], 6) * signed(x["b_i"], 6), f"cycle {cycle}"
        assert len({(inputs[cycle]["a_i"], inputs[cycle]["b_i"]) for cycle in taken}) > len(taken) - 4

    def test_registers_that_begin_unknown(self):
        """A place of ng_topk is written if the key is above what it holds, which the RTL never knows unless it begins at 0."""
        flow = characterize.Flow(options())
        unit = flow.units["topk_8"]
        work, mapped = flow.prepare(unit)
        path, outputs = flow.stimulus(unit, "uniform", 300, 7, work), work / "outputs.txt"
        flow.simulate(unit, work, mapped["period_s"], path, ["--outputs", str(outputs)])
        files = characterize.sources(unit)
        with pytest.raises(golden.FlowError, match="stay unknown"):
            golden.compare("topk_8", work, files, path, outputs)
        bits = 2 + 8 + 8 * (24 + 16)
        assert golden.compare("topk_8", work, files, path, outputs, from_zero=True) == 300 * bits

    def test_codec(self):
        """A feature map through encoder and packer, and back through the decoder: a value a cycle."""
        cycles = 1500
        from_encoder, codes = self.simulate("huffman_encoder", "relu", cycles)
        from_packer, words = self.simulate("bit_packer", "relu", cycles)
        to_decoder, beats = self.simulate("huffman_decoder", "relu", cycles)
        values = [x["data_i"] for x in from_encoder if x["valid_i"]]
        made = [(y["code_o"], y["length_o"]) for y in codes if y["valid_o"]]
        assert made == [(x["code_i"], x["length_i"]) for x in from_packer if x["valid_i"]][: len(made)]
        offered = [x["data_i"] for x in to_decoder if x["valid_i"]]
        packed = [y["data_o"] for y in words if y["valid_o"]]
        assert packed == offered[: len(packed)]
        first = next(cycle for cycle, y in enumerate(beats) if y["valid_o"])
        decoded = beats[first:]
        assert all(y["valid_o"] and not y["fault_o"] and not y["last_o"] for y in decoded)
        assert [y["data_o"] for y in decoded] == values[: len(decoded)]
        assert min(len(made), len(decoded)) > 1100
        assert 0.4 < values.count(0) / len(values) < 0.6

    def test_zero_runs(self):
        """The runs of zeros of a feature map shortened, and the same bytes expanded again: a value a cycle."""
        cycles = 1500
        to_shortener, bytes_ = self.simulate("zero_run_shortener", "relu", cycles)
        to_expander, beats = self.simulate("zero_expander", "relu", cycles)
        values = [x["data_i"] for x in to_shortener if x["valid_i"]]
        shortened = [y["data_o"] for y in bytes_ if y["valid_o"]]
        taken = [x["data_i"] for x, y in zip(to_expander, beats, strict=True) if x["valid_i"] and y["ready_o"]]
        assert taken[: len(shortened)] == shortened[: len(taken)]
        first = next(cycle for cycle, y in enumerate(beats) if y["valid_o"])
        expanded = beats[first:]
        assert all(y["valid_o"] and not y["fault_o"] and not y["last_o"] for y in expanded)
        assert [y["data_o"] for y in expanded] == values[: len(expanded)]
        assert 600 < len(shortened) < 0.9 * len(values)

    def test_transform(self):
        """A value of a group of four channels every cycle, through a cosine transform."""
        inputs, outputs = self.simulate("klt_transform_4", "relu", 800)
        values = [signed(x["data_i"], 8) for x in inputs if x["valid_i"]]
        matrix = [[0] * 4 for _ in range(4)]
        for x in inputs:
            if x["table_we_i"] and x["table_kind_i"] == 0:
                matrix[x["table_row_i"]][x["table_column_i"]] = signed(x["table_data_i"] & 0xFF, 8)
        made = [signed(y["data_o"], 8) for y in outputs if y["valid_o"]]
        expected = []
        for group in zip(*[iter(values)] * 4, strict=False):
            sums = [sum(m * v for m, v in zip(row, group, strict=True)) for row in matrix]
            expected += [max(-127, min(127, (total + 128) >> 8)) for total in sums]
        assert made == expected[: len(made)]
        assert len(made) > 500
        assert len(set(made)) > 50


class Oracles(Base):
    """Icarus Verilog and OpenSTA agree, transition by transition and cell by cell."""

    def test_icarus(self):
        for unit in ("int4_mult_array", "int4_mac_booth"):
            done = call("oracle.py", "icarus", "--unit", unit)
            assert done.returncode == 0, done.stdout + done.stderr
            assert len(re.findall(r"; 0 nets differ", done.stdout)) == 2, done.stdout
            print(done.stdout, end="")

    def test_opensta(self):
        done = call("oracle.py", "sta", "--unit", "int8_mac_array")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "NAND2X1" in done.stdout
        assert "DIFFERS" not in done.stdout


class Faults(Base):
    """The oracles notice a faulty simulator and a faulty table."""

    # File, what is replaced, by what (an event lost, wrong delays, a wrong place in the table), which oracle must notice.
    FAULTS = (
        (
            "gate_simulator.cpp",
            "push(now_ + delay, g * 2 + fire);",
            "if (counts.events % 512 != 0) push(now_ + delay, g * 2 + fire);",
            "icarus",
        ),
        (
            "gate_simulator.cpp",
            "delay = std::min(delay, to != 0 ? path.rise : path.fall);",
            "delay = std::min(delay, path.rise);",
            "icarus",
        ),
        ("gate_simulator.cpp", "woken_[reader.owner] = 0;", "", "icarus"),
        ("gate_energy.cpp", "slews[n][from], how, true)", "slews[n][from], how, false)", "sta"),
        ("gate_netlist.cpp", "return {i, (x - axis[i]) / (axis[i + 1] - axis[i])};", "return {i, 0};", "sta"),
    )

    def test_simulator(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            sources = [
                *sorted((ROOT / "power" / "gatesim" / "src").glob("gate_*.cpp")),
                ROOT / "power" / "gatesim" / "programs" / "ng_gatesim.cpp",
            ]
            objects = {source.name: self.compile(source, folder) for source in sources}
            for number, (file, old, new, oracle) in enumerate(self.FAULTS):
                text = (ROOT / "power" / "gatesim" / "src" / file).read_text()
                assert text.count(old) == 1, f"{file} no longer has '{old}' once; renew the fault"
                programs = folder / str(number)
                programs.mkdir()
                shutil.copy(PROGRAMS / "ng_stimulus", programs)
                (programs / file).write_text(text.replace(old, new))
                faulty = {**objects, file: self.compile(programs / file, programs)}
                # The library may have been compiled with sanitizers, whose run-time library it then needs.
                sanitize = [f"-fsanitize={kinds}" for kinds in [os.environ.get("NG_SANITIZE")] if kinds]
                command = [
                    "c++",
                    *sanitize,
                    *map(str, faulty.values()),
                    str(PROGRAMS.parent / "model" / "libnarrowgauge.a"),
                    str(PROGRAMS.parent / "io" / "libng_io.a"),
                ]
                subprocess.run([*command, "-lpthread", "-o", str(programs / "ng_gatesim")], check=True)
                # The netlist of the unit is small and has both kinds of registers.
                arguments = [
                    oracle,
                    "--unit",
                    "int4_mac_booth",
                    "--programs",
                    str(programs),
                    "--work",
                    str(WORK),
                    "--cycles",
                    "256",
                ]
                done = subprocess.run(
                    [sys.executable, str(FLOW / "oracle.py"), *arguments], capture_output=True, text=True, check=False
                )
                assert done.returncode != 0, f"fault '{new}' was not noticed: {done.stdout}"

    @staticmethod
    def compile(source: Path, folder: Path) -> Path:
        target = folder / f"{source.stem}.o"
        includes = [f"-I{ROOT / part}" for part in ("power/gatesim/internal", "model/include", "io/include")]
        subprocess.run(["c++", "-std=c++20", "-O0", *includes, "-c", str(source), "-o", str(target)], check=True)
        return target


# Units of its own; conditions on a flip-flop's output; a cell without tables.
LIBRARY = """library (my) { time_unit : "1ps"; voltage_unit : "1V"; leakage_power_unit : "1pW"; capacitive_load_unit (1, ff); nom_voltage : 0.8;
 power_lut_template (p) { variable_1 : input_transition_time; variable_2 : total_output_net_capacitance; index_1 ("10, 20"); index_2 ("1, 2, 3"); }
 cell (INV) { area : 2; leakage_power () { value : 3; when : "A"; } leakage_power () { value : 5; when : "!A"; }
  pin (A) { direction : input; capacitance : 1; }
  pin (Y) { direction : output; function : "A'";
    internal_power () { related_pin : "A"; rise_power (p) { values ("1, 2, 3", "4, 5, 6"); } fall_power (scalar) { values ("7"); } } } }
 cell (DF) { area : 2; ff (IQ, IQN) { next_state : "D"; clocked_on : "CK"; clear : "RN'"; }
  pin (D) { direction : input; capacitance : 1;
    internal_power () { when : "CK & Q"; rise_power (scalar) { values ("1"); } fall_power (scalar) { values ("2"); } }
    internal_power () { when : "!CK & Q"; rise_power (scalar) { values ("3"); } fall_power (scalar) { values ("4"); } } }
  pin (CK) { direction : input; capacitance : 1; clock : true; } pin (RN) { direction : input; capacitance : 1; }
  pin (Q) { direction : output; function : "IQ"; } pin (QN) { direction : output; function : "IQN"; } }
 cell (BAD) { pin (A) { direction : input; } pin (Y) { direction : output; function : "A"; } } }
"""


class Errors(Base):
    def test_own_library(self):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "my.lib"
            path.write_text(LIBRARY)
            read = technology.read_technology(path, "my")
        assert set(read["cells"]) == {"INV", "DF"}
        assert "no internal_power table for A" in read["skipped"]["BAD"]
        inverter, register = read["cells"]["INV"], read["cells"]["DF"]
        self.assertAlmostEqual(read["voltage_v"], 0.8)
        self.assertAlmostEqual(read["input_slew_s"] * 1e12, 10)
        self.assertAlmostEqual(inverter["leakage_w"] * 1e12, 4)
        rise = inverter["outputs"][0]["power"][0]["rise"]
        for values, expected in (
            (rise["load"], (1, 2, 3)),
            (rise["slew"], (1e4, 2e4)),
            (rise["values"], (1, 4, 2, 5, 3, 6)),
        ):
            assert [round(value * 1000000000000000.0, 6) for value in values] == list(expected)
        data = register["inputs"][0]["power"]
        # "CK & Q" and "!CK & Q" over D, CK, RN and, highest, the state.
        assert [row["when"] for row in data] == ["0" * 8 + "00110011", "0" * 8 + "11001100"]
        self.assertAlmostEqual(data[0]["rise"]["values"][0] * 1e15, 1)
        self.assertAlmostEqual(data[1]["fall"]["values"][0] * 1e15, 4)
        assert [output["inverted"] for output in register["outputs"]] == [False, True]
        assert register["ff"]["clear"] == "11110000"

    def test_characterize(self):
        for arguments, part in (
            (("--units", "nothing"), "no unit is called nothing; known: "),
            (("--technology", "osu999"), "technology 'osu999' is not known; known: osu018"),
            (("--liberty", "/nowhere.lib"), "cannot be read"),
            (("--cycles", "3"), "expected 256 or more"),
            (("--units-file", "/nowhere.json"), "is not usable"),
        ):
            done = call("characterize.py", *arguments)
            assert done.returncode == 2, done.stdout
            assert part in done.stderr
            assert "Traceback" not in done.stderr

    def test_units(self):
        units = json.loads((ROOT / "power" / "units.json").read_text())["units"]
        good = next(unit for unit in units if "mac" in unit)
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "units.json"
            for change, part in (
                ({"set": "some"}, "expected fit or held_out"),
                ({"name": "No Name"}, "expected small letters"),
                ({"top": "ng_nothing"}, "has no file ng_nothing.sv"),
                ({"inputs": {"q_i": {"constant": 1}}}, "q_i is not an input"),
                ({"stimuli": ["gamma"]}, "known: uniform, gauss, half_normal"),
                ({"mac": {**good["mac"], "a_width": 99}}, "a_width"),
            ):
                path.write_text(json.dumps({"units": [{**good, **change}]}))
                done = call("characterize.py", "--units-file", str(path))
                assert done.returncode == 2, done.stdout
                assert part in done.stderr
                assert "Traceback" not in done.stderr

    def test_technology(self):
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "my.lib"
            for text, part in (
                ("cell (X) {}", "expected a library"),
                ("library (l) { capacitive_load_unit (1, pf); nom_voltage : 1; }", "no cell that can be simulated"),
                ("library (l) { nom_voltage : 1; }", "has no capacitive_load_unit"),
                ("library (l) {{{", "does not parse"),
            ):
                path.write_text(text)
                with pytest.raises(technology.LibertyError) as caught:
                    technology.read_technology(path, "my")
                assert part in str(caught.value)

    def test_packed_and_latin(self):
        """The same library from a file packed by gzip, and with a comment that is not UTF-8."""
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "my.lib"
            path.write_text(LIBRARY)
            plain = technology.read_technology(path, "my")["cells"]
            remark = "/* 1 \u00b5m */\r\n" + LIBRARY.replace("\n", "\r\n")
            for content in (
                gzip.compress(LIBRARY.encode()),
                remark.encode("latin-1"),
                gzip.compress(remark.encode("latin-1")),
            ):
                path.write_bytes(content)
                assert technology.read_technology(path, "my")["cells"] == plain
            whole = gzip.compress(LIBRARY.encode())
            for content in (whole[:50], whole[:-3], whole[:60] + bytes(20) + whole[80:]):
                path.write_bytes(content)
                with pytest.raises(technology.LibertyError, match="cannot be unpacked; expected"):
                    technology.read_technology(path, "my")
            packed, made = Path(name) / "my_library.lib.gz", Path(name) / "made.json"
            packed.write_bytes(whole)
            command = [sys.executable, FLOW / "technology.py", "--liberty", packed, made]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            assert json.loads(made.read_text())["name"] == "my_library"

    def test_malformed(self):
        """Words of a library left out, moved or replaced: a technology of finite numbers, or a sentence."""
        draw = random.Random(1)
        words = re.findall(r"\s+|[\w.+-]+|.", LIBRARY)
        read = 0
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "my.lib"
            for _ in range(300):
                changed = list(words)
                place = draw.randrange(len(words))
                changed[place] = draw.choice(["", "nan", "1e999", "-", "{", ")", '""', draw.choice(words)])
                path.write_text("".join(changed))
                try:
                    made = technology.read_technology(path, "my")
                except technology.LibertyError:
                    continue
                json.dumps(made, allow_nan=False)
                read += 1
        assert read > 50

    def test_functions(self):
        for function, table in (
            ("!(A B)", "1110"), ("A' + B", "1011"), ("A^B", "0110"), ("(A&B)|!A", "1011"), ("A*(B')", "0100"), ("A ^ B & B", "0010"),
        ):  # fmt: skip
            assert technology.truth_table(function, ["A", "B"]) == table, function
        for function in ("A & C", "(A", "A $ B", "A )"):
            with pytest.raises(technology.Unusable):
                technology.truth_table(function, ["A", "B"])


setUpModule = need_liberty


if __name__ == "__main__":
    main()
