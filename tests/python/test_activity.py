# SPDX-License-Identifier: Apache-2.0
"""Prices on the waves of a simulation: equal to those of the same operands as arrays; refusals by name; broken files."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

import narrowgauge as ng
from narrowgauge import _waves, activity

RNG = np.random.default_rng(3)
A, B = (RNG.integers(-127, 128, shape) for shape in ((4, 32), (32, 4)))
QUESTION = '{"format": "int8", "lanes": 1}'


def vcd(columns: dict[str, tuple[int, list[str]]], period: int = 10, head: str = "") -> str:
    """A row of bits for each signal in each cycle; the clock rises in the middle of a cycle."""
    lines = ["$timescale 1ns $end", "$scope module top $end", "$scope module u_mac $end", "$var wire 1 ! clk_i $end"]
    keys = {name: chr(35 + place) for place, name in enumerate(columns)}
    for name, (width, _) in columns.items():
        lines.append(f"$var wire {width} {keys[name]} {name}{f' [{width - 1}:0]' if width > 1 else ''} $end")
    lines += ["$upscope $end", "$upscope $end", "$enddefinitions $end", head]
    for cycle in range(len(next(iter(columns.values()))[1])):
        lines += [f"#{cycle * period}", "0!"]
        lines += [f"b{values[cycle]} {keys[name]}" for name, (_, values) in columns.items()]
        lines += [f"#{cycle * period + period // 2}", "1!"]
    return "\n".join(lines) + "\n"


def product(width: int = 8) -> dict[str, tuple[int, list[str]]]:
    """Output by output, as rung L1 lays a product out."""
    a = [int(A[i, k]) & 255 for i in range(4) for j in range(4) for k in range(32)]
    b = [int(B[k, j]) & 255 for i in range(4) for j in range(4) for k in range(32)]
    first = [int(cycle % 32 == 0) for cycle in range(len(a))]
    return {
        "a_i": (width, [f"{x:08b}" for x in a]),
        "b_i": (8, [f"{x:08b}" for x in b]),
        "valid_i": (1, ["1"] * len(a)),
        "first_i": (1, [f"{x}" for x in first]),
        "rst_ni": (1, ["1"] * len(a)),
    }


@pytest.fixture(scope="module", autouse=True)
def _reader() -> None:
    pytest.importorskip("pywellen", reason="pywellen of PyPI: make setup")


def write(folder: Path, columns: dict[str, tuple[int, list[str]]], **how: object) -> Path:
    path = folder / "waves.vcd"
    path.write_text(vcd(columns, **how))  # type: ignore[arg-type]
    return path


def test_equals_the_product(tmp_path: Path) -> None:
    file = write(tmp_path, product())
    seen = ng.activity_energy(file, "top.u_mac", unit="int8_mac_array")
    wanted = ng.energy("int8", structure="array", operands=(A, B), rung="L1")
    assert seen.answer.value == pytest.approx(wanted.value, rel=1e-12)
    assert seen.answer.rung == "L1"
    assert seen.answer.error is not None
    assert (seen.cycles, seen.active, seen.held, seen.unknown, seen.counted) == (512, 512, 0, 0, 512)
    assert seen.each == pytest.approx(wanted.each)
    assert seen.seconds == pytest.approx(512 * 10e-9)
    assert seen.power_w == pytest.approx(wanted.value / seen.seconds)
    assert seen.answer.features == pytest.approx(wanted.features)
    by_format = ng.activity_energy(str(file), "u_mac", "int8", structure="array", technology="osu035")
    assert by_format.scope == "top.u_mac"
    assert by_format.answer.value == pytest.approx(
        ng.energy("int8", structure="array", operands=(A, B), rung="L1", technology="osu035").value
    )


def test_idle_cycles_reset_and_windows(tmp_path: Path) -> None:
    """The same operands with bubbles, behind a reset and an unknown start."""
    rng, whole = random.Random(1), product()
    columns: dict[str, tuple[int, list[str]]] = {name: (width, []) for name, (width, _) in whole.items()}
    junk = {"a_i": "1010x1z0", "b_i": "xxxxxxxx", "valid_i": "x", "first_i": "x", "rst_ni": "0"}
    for cycle in range(512):
        for _ in range(7 if cycle == 0 else rng.randrange(3)):
            for name, (width, values) in columns.items():
                idle = {**junk, "valid_i": "0", "rst_ni": "1"} if cycle else junk
                values.append(idle[name])
                assert len(values[-1]) in (1, width)
        for name, (_, values) in columns.items():
            values.append(whole[name][1][cycle])
    file = write(tmp_path, columns)
    seen = ng.activity_energy(file, "u_mac", "int8", structure="array")
    wanted = ng.energy("int8", structure="array", operands=(A, B), rung="L1")
    flip_flops = wanted.features["flip_flops"]
    assert seen.answer.features["flip_flops"] == flip_flops  # clocked in every cycle
    share = 512 / seen.cycles
    for name, flips in wanted.features.items():
        if name != "flip_flops":
            assert seen.answer.features[name] == pytest.approx(flips * share, rel=1e-12)
    assert seen.active == 512 < seen.cycles
    assert (seen.unknown, seen.held, seen.operations) == (0, seen.cycles - 512, 512)
    assert wanted.value < seen.answer.value < 1.5 * wanted.value
    assert seen.each == seen.answer.value / 512
    half = ng.activity_energy(file, "u_mac", "int8", structure="array", window=(0, seen.seconds / 2))
    assert 200 < half.active < 312


def test_lanes_and_scales(tmp_path: Path) -> None:
    """NVFP4: the codes and scales of the quantizer, side by side."""
    x, y = RNG.standard_normal((2, 64)), RNG.standard_normal((64, 3))
    a, b = ng.quantize(x), ng.quantize(y, axis=-2)

    def word(codes: np.ndarray, bits: int) -> str:
        return "".join(f"{int(code):0{bits}b}" for code in codes[::-1])

    rows = [(i, j, k) for i in range(2) for j in range(3) for k in range(4)]
    ca, cb = np.asarray(a.codes), np.asarray(b.codes)
    sa, sb = np.asarray(a.scales), np.asarray(b.scales)
    columns = {
        "a_i": (64, [word(ca[i, 16 * k : 16 * k + 16], 4) for i, j, k in rows]),
        "b_i": (64, [word(cb[j, 16 * k : 16 * k + 16], 4) for i, j, k in rows]),
        "sa": (8, [word(sa[i, k : k + 1], 8) for i, j, k in rows]),
        "sb": (8, [word(sb[j, k : k + 1], 8) for i, j, k in rows]),
        "first_i": (1, [str(int(k == 0)) for i, j, k in rows]),
    }
    file = write(tmp_path, columns)
    names = {"a_scale": "sa", "b_scale": "sb"}
    seen = ng.activity_energy(file, "u_mac", "nvfp4", ports=names)
    wanted = ng.energy("nvfp4", operands=(x, y), rung="L1")
    assert seen.answer.value == pytest.approx(wanted.value, rel=1e-12)
    with pytest.raises(ng.Error, match="has no port a_scale_i, which the unit takes"):
        ng.activity_energy(file, "u_mac", "nvfp4")


@pytest.mark.parametrize(
    ("change", "how", "message"),
    [
        ({}, {"scope": "top.u_mc"}, r'scope "top.u_mc" is not in .*did you mean top.u_mac\?'),
        ({}, {"format": "int4"}, "port a_i of top.u_mac has 8 bits; expected the unit's 4"),
        ({}, {"ports": {"b": "w_i"}}, "has no port w_i, which the unit takes"),
        ({}, {"ports": {"valid": "enable"}}, "has no port enable, which was named for valid"),
        ({}, {"ports": {"c": "c_i"}}, "ports has 'c'; expected some of a, b"),
        ({}, {"clock": "top.clk"}, "has no clock top.clk; expected one; name it, with its whole path"),
        ({}, {"window": (1.0, 2.0)}, "clock clk_i of top.u_mac has no rising edge from 1 to 2 s"),
        ({}, {"window": (2.0, 1.0)}, "the first before the second"),
        ({}, {"window": 3}, "expected two times in seconds"),
        ({}, {"rung": "L3"}, "expected L1 with an activity"),
        ({}, {"unit": "int8_mac_array"}, "has a format of its own"),
        ({}, {"format": None, "unit": "fifo_32x4"}, "no recorded unit that multiplies"),
        ({}, {"max_unknown": 2}, "max_unknown is 2"),
        (
            {"a_i": "1010101x"},
            {},
            r"port a_i of top.u_mac has bits at x or z in 512 of 512 active cycles; expected at most 1.00%",
        ),
        ({"valid_i": "0"}, {}, "takes operands in 0 of 512 cycles; expected two or more"),
    ],
)
def test_refused(tmp_path: Path, change: dict[str, str], how: dict, message: str) -> None:
    columns = product()
    for name, value in change.items():
        columns[name] = (columns[name][0], [value] * 512)
    file = write(tmp_path, columns)
    arguments = {"scope": "u_mac", "format": "int8", "structure": "array", **how}
    with pytest.raises(ng.Error, match=message):
        ng.activity_energy(file, **arguments)


def test_a_clock_that_stands_still(tmp_path: Path) -> None:
    text = re.sub(r"^1!$", "0!", vcd(product()), flags=re.MULTILINE)
    (tmp_path / "still.vcd").write_text(text)
    with pytest.raises(ng.Error, match=r"clock clk_i of top\.u_mac has no rising edge; expected some, in a file of"):
        ng.activity_energy(tmp_path / "still.vcd", "u_mac", "int8", structure="array")


SAIF = """(SAIFILE
 (SAIFVERSION "2.0") (DIRECTION "backward") (DESIGN "x") (PROGRAM_NAME "Verilator")
 (DIVIDER / ) (TIMESCALE 1ps) (DURATION 100)
 (INSTANCE top (NET (clk_i (T0 50) (T1 50) (TX 0) (TC 20)))
  (INSTANCE "mac" u_mac (NET (a_i\\[0\\] (T0 60) (T1 40) (TZ 0) (TX 0) (TB 0) (TC 7)) (a_i\\[1\\] (T0 0) (T1 90) (TX 10) (TC 0)))))
)
"""


def test_saif(tmp_path: Path) -> None:
    file = tmp_path / "a.saif"
    file.write_text(SAIF)
    saif = _waves.read_saif(file)
    assert (saif.duration, saif.tick_s) == (100, 1e-12)
    assert list(saif.scopes) == ["top", "top.u_mac"]
    assert saif.scopes["top.u_mac"]["a_i[0]"] == _waves.Net(60, 40, 0, 7)
    assert saif.scopes["top.u_mac"]["a_i[1]"].unknown == 10
    with pytest.raises(ng.Error, match="is SAIF, which counts changes and has no values; expected VCD or FST"):
        ng.activity_energy(file, "top", "int8", structure="array")
    for change, message in (
        (("(T0 60)", "(T0 61000)"), "expected DURATION, 100"),
        (("(TC 7)", "(TC -7)"), "expected a whole number"),
        (("1ps", "3 ps"), "expected for example 1 ps"),
        (("DURATION 100", "DURATION 0"), "more than 0"),
        (("(INSTANCE top", "INSTANCE top"), r'a "\)" too many'),
        (("SAIFILE", "SAIF"), r"expected one \(SAIFILE"),
        (("(T0 60)", "((T0) 60)"), "expected DURATION, 100"),
        (('"mac" u_mac (NET (a_i\\[0\\] (T0 60)', '"mac" "a\nb" (NET (a_i (T0 61000)'), "^net top.a b.a_i of SAIF"),
    ):
        file.write_text(SAIF.replace(*change))
        with pytest.raises(_waves.WaveError, match=message):
            _waves.read_saif(file)


def mutated(source: bytes, seed: int) -> bytes:
    rng, data = random.Random(seed), bytearray(source)
    how = rng.randrange(4)
    at = rng.randrange(len(data))
    if how == 0:
        data[at] = rng.randrange(256)
    elif how == 1:
        del data[at:]
    elif how == 2:
        del data[at : at + rng.randrange(1, 60)]
    else:
        data[at:at] = data[rng.randrange(len(data)) :][: rng.randrange(1, 60)]
    return bytes(data)


def test_scopes_with_line_breaks(tmp_path: Path) -> None:
    file = tmp_path / "m.vcd"
    file.write_bytes(vcd(product()).encode().replace(b"u_mac", b"u_m\rc"))
    with pytest.raises(ng.Error, match=r'scope "u_mac" is not in [^\n\r]*; expected one of top[.]u_m c, top$'):
        ng.activity_energy(file, "u_mac", "int8", structure="array")


def test_mutated_waves(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One sentence, or a price, and nothing on the terminal; the reader's faults stay in its process."""
    source = vcd(product()).encode()
    file = tmp_path / "m.vcd"
    priced, lines = 0, set()
    for seed in range(40):
        file.write_bytes(mutated(source, seed))
        try:
            seen = ng.activity_energy(file, "u_mac", "int8", structure="array")
            priced += 1
            assert 0 < seen.answer.value < 1e-6
        except ng.Error as error:
            lines.add(str(error).count("\n"))
    assert lines == {0}
    assert 0 < priced < 40
    out = capfd.readouterr()
    assert out.out == out.err == ""


def array_beats(
    rows: int, cols: int
) -> tuple[dict[str, tuple[int, list[str]]], list[dict[str, tuple[int, list[str]]]]]:
    """Waves of the array of a tile of NVFP4 with 16 lanes, with stalls, and of each of its cells, which holds what it has."""
    rng = random.Random(2)
    widths = {"a_i": 64, "b_i": 64, "a_scale_i": 8, "b_scale_i": 8}
    array: dict[str, tuple[int, list[str]]] = {
        **{name: (width * (rows if name[0] == "a" else cols), []) for name, width in widths.items()},
        **{name: (1, []) for name in ("valid_i", "ready_o", "first_i", "rst_ni")},
        "row_en_i": (rows, []),
        "col_en_i": (cols, []),
    }
    ports = {**widths, "valid_i": 1, "first_i": 1}
    cells: list[dict[str, tuple[int, list[str]]]] = [
        {name: (width, []) for name, width in ports.items()} for _ in range(rows * cols)
    ]
    held = {name: ["0" * width] * (rows if name[0] == "a" else cols) for name, width in widths.items()}
    begins, beat = True, 0
    for cycle in range(200):
        on = cycle > 3
        valid, ready = on and rng.random() < 0.8, rng.random() < 0.8
        takes, first = valid and ready, beat % 8 == 0
        row_en, col_en = rng.choice([2**rows - 1, 1]), 2**cols - 1
        for name, width in widths.items():
            count, enabled = (rows, row_en) if name[0] == "a" else (cols, col_en)
            parts = ["".join(rng.choice("01") for _ in range(width)) if on else "x" * width for _ in range(count)]
            array[name][1].append("".join(parts[::-1]))
            if takes:
                held[name] = [part if enabled >> place & 1 else "0" * width for place, part in enumerate(parts)]
        for name, flag in (("valid_i", valid), ("ready_o", ready), ("first_i", first), ("rst_ni", on)):
            array[name][1].append(str(int(flag)))
        array["row_en_i"][1].append(f"{row_en:b}")
        array["col_en_i"][1].append(f"{col_en:b}")
        beat += takes
        begins = begins and not takes
        if on:
            for place, cell in enumerate(cells):
                for name, width in widths.items():
                    part = held[name][place // cols if name[0] == "a" else place % cols]
                    cell[name][1].append("x" * width if begins else part)
                cell["valid_i"][1].append(str(int(takes)))
                cell["first_i"][1].append(str(int(takes and first)))
    return array, cells


def write_array(folder: Path, columns: dict[str, tuple[int, list[str]]]) -> Path:
    file = folder / "array.vcd"
    file.write_text(vcd(columns).replace("module u_mac", "module u_tile").replace("$var", "$scope module u_array $end $var", 1)
                    .replace("$upscope", "$upscope $end $upscope", 1))  # fmt: skip
    return file


@pytest.mark.parametrize(("tile", "rows", "cols"), [("tiny", 1, 1), ("ecp5", 6, 6)])
def test_a_tile_is_the_sum_of_its_cells(tmp_path: Path, tile: str, rows: int, cols: int) -> None:
    array, cells = array_beats(rows, cols)
    seen = ng.tile_activity_energy(write_array(tmp_path, array), "top.u_tile", tile)
    assert (seen.rows, seen.columns, len(seen.cells), seen.scope) == (rows, cols, rows * cols, "top.u_tile.u_array")
    for cell, columns in zip(seen.cells, cells, strict=True):
        alone = ng.activity_energy(write(tmp_path, columns), "u_mac", "nvfp4")
        assert cell.answer.features == alone.answer.features
        assert cell.answer.value == alone.answer.value
        assert (cell.cycles, cell.active, cell.held) == (alone.cycles, alone.active, alone.held)
    assert seen.value == pytest.approx(sum(cell.answer.value for cell in seen.cells), rel=1e-12)
    assert seen.operations == 16 * rows * cols * seen.cells[0].active
    assert f"{seen.cells[0].active} of {seen.cells[0].cycles} cycles took operands" in str(seen)


def test_the_waves_of_a_product_on_a_tile(tmp_path: Path) -> None:
    """What the engine traces is priced: each cell has the flips of its operands in their order."""
    if "rtl" not in ng.engines():
        pytest.skip("this build has no engine rtl")
    row, column = RNG.standard_normal((1, 512)), RNG.standard_normal((512, 1))
    x, y = np.tile(row, (8, 1)), np.tile(column, (1, 8))
    file = tmp_path / "waves.fst"
    try:
        ng.Engine("rtl", tile="large", trace=file).gemm(ng.quantize(x), ng.quantize(y, axis=-2))
    except ng.Error as error:
        if "--target ng_tile_large_waves" not in str(error):
            raise
        pytest.skip("this build has no ng_tile_large_waves")
    seen = ng.tile_activity_energy(file, "ng_tile", "large")
    assert seen.operations == 64 * 512
    assert seen.cells[0].seconds == pytest.approx(seen.cells[0].cycles * 10e-9, rel=0.01)
    wanted = ng.energy("nvfp4", operands=(row, column), rung="L1")
    assert seen.value > 64 * wanted.value  # the clock runs before and behind
    for cell in seen.cells:
        assert cell.active == 32
        for name, flips in wanted.features.items():
            if name != "flip_flops":
                assert cell.answer.features[name] * cell.cycles == pytest.approx(flips * 32, rel=1e-9)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"tile": "large_tiny"}, "tile 'large_tiny' is not known; expected one of tiny"),
        ({"tile": "mixed"}, "tile mixed multiplies nvfp4, fp8_e4m3; expected a dense tile of one format"),
        ({"tile": "sparse"}, "tile sparse takes a sparse operand; expected a dense tile of one format"),
        ({"tile": "ecp5"}, "port a_i of top.u_tile.u_array has 64 bits; expected the array of tile ecp5's 384"),
        ({"scope": "top.u_til"}, 'scope "top.u_til.u_array" is not in'),
        ({"format": "int8"}, "format is 'int8'; expected none beside tile, which has it"),
        ({"clock": "clock"}, "has no clock clock"),
        ({"max_unknown": 2}, "max_unknown is 2; expected a share"),
        ({"window": (0, 5e-9)}, "clock clk_i .* has no rising edge"),
        ({"window": (0, 45e-9)}, "takes [01] beats; expected two or more"),
    ],
)
def test_a_tile_is_refused(tmp_path: Path, how: dict, message: str) -> None:
    file = write_array(tmp_path, array_beats(1, 1)[0])
    with pytest.raises(ng.Error, match=message):
        ng.tile_activity_energy(file, **{"scope": "top.u_tile", "tile": "tiny", **how})


def test_the_program_prices_a_tile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [str(write_array(tmp_path, array_beats(1, 1)[0])), "--scope", "u_tile", "--question", '{"tile": "tiny"}']
    assert activity.main([*words, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["activity"]["tile"] == "tiny"
    assert answer["value"] == sum(answer["activity"]["cells"])
    assert activity.main(words) == 0
    assert "Operand banks, loader and drain are not in it." in capsys.readouterr().out
    assert activity.main([*words, "--port", "a=b"]) == 2
    assert "--port is of a unit" in capsys.readouterr().err


def test_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(write(tmp_path, product()))
    assert activity.main([file, "--scope", "u_mac", "--question", QUESTION, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["activity"]["active"] == 512
    assert answer["rung"] == "L1"
    assert activity.main([file, "--scope", "u_mac", "--question", '{"unit": "int8_mac_array"}']) == 0
    assert "512 of 512 cycles took operands" in capsys.readouterr().out
    assert activity.main([file, "--scope", "u_mac", "--window", "1:x", "--question", QUESTION]) == 2
    assert capsys.readouterr().err.count("\n") == 1
