// SPDX-License-Identifier: Apache-2.0
// The gate simulator on circuits small enough to count by hand, with a library of round numbers.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "gatesim/gate_energy.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge::power::gate {
namespace {

// INV: 1 fJ a rise, 2 fJ a fall. NAND2: by input and by `when`. DFF: clock 3 + 4 fJ, data 0.5 fJ, output 5 and 6 fJ.
constexpr const char* library =
    R"({"schema": 1, "name": "toy", "liberty_sha256": "", "voltage_v": 2.0, "input_slew_s": 1e-10,
 "skipped": {"LATCH": "it is a latch"}, "cells": {
 "INV": {"area_m2": 1e-12, "leakage_w": 1e-9,
  "inputs": [{"name": "A", "capacitance_f": 1e-15, "power": []}],
  "outputs": [{"name": "Y", "capacitance_f": 0, "function": "10", "power": [{"pin": "A", "when": null,
    "rise": {"load": [], "slew": [], "values": [1e-15]}, "fall": {"load": [], "slew": [], "values": [2e-15]}}]}]},
 "NAND2": {"area_m2": 2e-12, "leakage_w": 2e-9,
  "inputs": [{"name": "A", "capacitance_f": 2e-15, "power": []}, {"name": "B", "capacitance_f": 2e-15, "power": []}],
  "outputs": [{"name": "Y", "capacitance_f": 0, "function": "1110", "power": [
    {"pin": "A", "when": "1100", "rise": {"load": [], "slew": [], "values": [1e-12]}, "fall": {"load": [], "slew": [], "values": [1e-12]}},
    {"pin": "A", "when": "0011", "rise": {"load": [], "slew": [], "values": [10e-15]}, "fall": {"load": [], "slew": [], "values": [20e-15]}},
    {"pin": "B", "when": null, "rise": {"load": [], "slew": [], "values": [30e-15]}, "fall": {"load": [], "slew": [], "values": [40e-15]}}]}]},
 "DFF": {"area_m2": 4e-12, "leakage_w": 4e-9,
  "inputs": [{"name": "D", "capacitance_f": 3e-15, "power": [{"when": null,
    "rise": {"load": [], "slew": [], "values": [0.5e-15]}, "fall": {"load": [], "slew": [], "values": [0.5e-15]}}]},
   {"name": "CK", "capacitance_f": 4e-15, "power": [{"when": null,
    "rise": {"load": [], "slew": [], "values": [3e-15]}, "fall": {"load": [], "slew": [], "values": [4e-15]}}]}],
  "outputs": [{"name": "Q", "capacitance_f": 0, "inverted": false, "power": [{"pin": "CK", "when": null,
    "rise": {"load": [], "slew": [], "values": [5e-15]}, "fall": {"load": [], "slew": [], "values": [6e-15]}}]}],
  "ff": {"clock": "CK", "falling": false, "next_state": "0101", "clear": null, "preset": null, "clear_wins": true}}}})";

class Gate : public ::testing::Test {
 protected:
  Gate() {
    folder_ = std::filesystem::temp_directory_path() / ("ng_gate_test_" + std::to_string(std::random_device{}()));
    std::filesystem::create_directories(folder_);
    technology_ = read_technology(file("toy.json", library));
  }
  ~Gate() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }

  /// cells: "name: type pin=net ...", ports: "x=net".
  Netlist netlist(const std::string& inputs, const std::string& outputs, const std::string& cells) const {
    return read_netlist(file("netlist.json", R"({"modules": {"top": {"ports": {)" + inputs + "," + outputs +
                                                 R"(}, "netnames": {}, "cells": {)" + cells + "}}}}"),
                        technology_);
  }

  static std::string port(const std::string& name, const std::string& direction, int net) {
    return "\"" + name + R"(": {"direction": ")" + direction + R"(", "bits": [)" + std::to_string(net) + "]}";
  }

  static std::string cell(const std::string& name, const std::string& type, const std::string& pins) {
    return "\"" + name + R"(": {"type": ")" + type + R"(", "connections": {)" + pins + "}}";
  }

  Vectors vectors(const std::string& name, const std::string& values) const {
    std::string text = R"({"cycles": )" + std::to_string(values.size()) + R"(, "ports": [{"name": ")" + name +
                       R"(", "width": 1}]})" + "\n";
    for (const char c : values) text += std::string(1, c) + "\n";
    return read_vectors(file("x.stim", text));
  }

  std::filesystem::path folder_;
  Technology technology_;
};

TEST(GateTable, InterpolatesAndExtrapolates) {
  const PowerTable table{{1, 3}, {10, 20, 40}, {0, 1, 3, 10, 11, 13}};  // 5 (load - 1) + (slew - 10) / 10
  EXPECT_DOUBLE_EQ(table.at(1, 10), 0);
  EXPECT_DOUBLE_EQ(table.at(2, 30), 7);
  EXPECT_DOUBLE_EQ(table.at(3, 40), 13);
  EXPECT_DOUBLE_EQ(table.at(0, 50), -1);
  EXPECT_DOUBLE_EQ(table.at(5, 0), 19);
  EXPECT_DOUBLE_EQ((PowerTable{{}, {1, 2}, {4, 6}}).at(99, 1.5), 5);
  EXPECT_DOUBLE_EQ((PowerTable{{}, {}, {7}}).at(1, 2), 7);
}

// x -> register -> inverter -> (output). One transition of x a cycle.
TEST_F(Gate, CountsAndPricesARegisterAndAnInverter) {
  const Netlist n =
      netlist(port("clk_i", "input", 2) + "," + port("x", "input", 3), port("y", "output", 5),
              cell("r", "DFF", R"("D": [3], "CK": [2], "Q": [4])") + "," + cell("i", "INV", R"("A": [4], "Y": [5])"));
  Options options;
  options.warm_up = 2;
  const Simulator simulator(n, options);
  std::vector<std::uint8_t> outputs;
  const Counts counts = simulator.run(vectors("x", "0101010101"), &outputs);
  EXPECT_EQ(counts.cycles, 8U);
  // Cycles 2 to 9 capture 0 1 0 1 0 1 0 1; Q was 1. Nothing follows the last value of x.
  EXPECT_EQ(driven_toggles(n, counts), 16U);
  EXPECT_EQ(outputs, (std::vector<std::uint8_t>{1, 0, 1, 0, 1, 0, 1, 0, 1, 0}));
  const auto parts = energies(n, technology_, read_slews("", n, technology_), simulator, counts);
  const Energy& r = n.instances[0].name == "r" ? parts[0] : parts[1];
  const Energy& i = n.instances[0].name == "r" ? parts[1] : parts[0];
  EXPECT_NEAR(r.clock, 8 * (7e-15 + 4e-15 * 4), 1e-21);                 // 3 + 4 fJ, C V^2
  EXPECT_NEAR(r.internal, 4 * 5e-15 + 4 * 6e-15 + 7 * 0.5e-15, 1e-21);  // 7 changes of x within the counted cycles
  EXPECT_NEAR(r.switching, 8 * 0.5 * 1e-15 * 4, 1e-21);
  EXPECT_NEAR(i.internal, 4 * 1e-15 + 4 * 2e-15, 1e-21);
  EXPECT_EQ(i.switching, 0);
}

// y = nand(q, not q): constant 1 settled, a pulse of 0 with delays when q rises.
struct Hazard {
  std::string sdf(int inverter_ps, int nand_fall_ps, int nand_rise_ps) const {
    const auto ns = [](int ps) {
      std::string text = "(";  // not "(" + ...: GCC bug 105651
      return text.append(std::to_string(ps * 1e-3)).append(")");
    };
    return "(DELAYFILE (TIMESCALE 1ns)\n (CELL (CELLTYPE \"DFF\") (INSTANCE r) (DELAY (ABSOLUTE (IOPATH CK Q "
           "(0.1::0.1) "
           "(0.1::0.1)))))\n (CELL (CELLTYPE \"INV\") (INSTANCE i) (DELAY (ABSOLUTE (IOPATH A Y " +
           ns(inverter_ps) + " " + ns(inverter_ps) +
           "))))\n (CELL (CELLTYPE \"NAND2\") (INSTANCE g) (DELAY (ABSOLUTE\n  (IOPATH A Y " + ns(nand_rise_ps) + " " +
           ns(nand_fall_ps) + ") (IOPATH B Y " + ns(nand_rise_ps) + " " + ns(nand_fall_ps) + "))))\n)\n";
  }
};

class GateHazard : public Gate, public Hazard {
 protected:
  Netlist circuit() const {
    return netlist(port("clk_i", "input", 2) + "," + port("x", "input", 3), port("y", "output", 6),
                   cell("r", "DFF", R"("D": [3], "CK": [2], "Q": [4])") + "," +
                       cell("i", "INV", R"("A": [4], "Y": [5])") + "," +
                       cell("g", "NAND2", R"("A": [4], "B": [5], "Y": [6])"));
  }
  static std::size_t index(const Netlist& n, const std::string& name) {
    for (std::size_t i = 0; i < n.instances.size(); ++i) {
      if (n.instances[i].name == name) return i;
    }
    throw Error("no instance " + name);
  }
};

TEST_F(GateHazard, DelaysMakeAPulse) {
  const Netlist n = circuit();
  Options options;
  options.warm_up = 2;
  options.period = 2000;
  const Simulator simulator(n, options);
  const Vectors x = vectors("x", "0101010101");
  const std::size_t g = index(n, "g");
  const auto y = static_cast<std::size_t>(n.instances[g].outputs[0]);
  EXPECT_EQ(simulator.run(x).toggles(y), 0U);
  const Counts counts = simulator.run(x, read_sdf(file("a.sdf", sdf(200, 50, 60)), n));
  EXPECT_EQ(counts.falls[y], 4U);
  EXPECT_EQ(counts.rises[y], 4U);
  EXPECT_EQ(counts.high[y], 8 * 2000 - 4 * 210);  // from 50 ps after q's rise to 60 ps after its inverse's fall
  // The fall comes from A while B is 1: first row does not hold there (`when` is !B), so A costs nothing; the rise from
  // B.
  const auto parts = energies(n, technology_, read_slews("", n, technology_), simulator, counts);
  EXPECT_NEAR(parts[g].internal, 4 * (20e-15 + 30e-15), 1e-21);
}

TEST_F(GateHazard, APulseShorterThanTheDelayVanishes) {
  const Netlist n = circuit();
  Options options;
  options.warm_up = 2;
  options.period = 2000;
  const Simulator simulator(n, options);
  const auto y = static_cast<std::size_t>(n.instances[index(n, "g")].outputs[0]);
  EXPECT_EQ(simulator.run(vectors("x", "0101010101"), read_sdf(file("a.sdf", sdf(200, 250, 260)), n)).toggles(y), 0U);
}

TEST_F(GateHazard, SaifTimesAddUp) {
  const Netlist n = circuit();
  Options options;
  options.warm_up = 2;
  options.period = 2000;
  const Simulator simulator(n, options);
  const Counts counts = simulator.run(vectors("x", "0101010101"), read_sdf(file("a.sdf", sdf(200, 50, 60)), n));
  write_saif(folder_ / "a.saif", n, simulator, counts, 2000, 1e-12);
  std::ifstream in(folder_ / "a.saif");
  std::string line, all;
  int nets = 0;
  while (std::getline(in, line)) {
    all += line + "\n";
    long long t0 = 0, t1 = 0, tc = 0;
    const std::size_t at = line.find("(T0");
    if (at == std::string::npos) continue;
    ASSERT_EQ(std::sscanf(line.c_str() + at, "(T0 %lld) (T1 %lld) (TX 0) (TC %lld))", &t0, &t1, &tc), 3) << line;
    EXPECT_EQ(t0 + t1, 16000) << line;
    ++nets;
  }
  EXPECT_EQ(nets, 5);
  EXPECT_NE(all.find("(DURATION 16000)"), std::string::npos);
  EXPECT_NE(all.find("(TIMESCALE 1 ps)"), std::string::npos);
}

TEST_F(GateHazard, RefusesWhatItCannotSimulate) {
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  const auto contains = [&](const auto& call, const std::string& part) {
    const std::string text = message(call);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const std::string clk = port("clk_i", "input", 2), y = port("y", "output", 4);
  contains([&] { netlist(clk, y, cell("c", "NOR9", R"("A": [2], "Y": [4])")); },
           "is a 'NOR9', which technology toy does not have");
  contains([&] { netlist(clk, y, cell("c", "LATCH", "")); }, "cannot simulate: it is a latch");
  contains([&] { netlist(clk, y, cell("c", "NAND2", R"("A": [3], "Y": [4])")); }, "pin c/B is not connected");
  contains([&] { netlist(clk, y, cell("c", "INV", R"("A": [3], "Y": [4])")); }, "has 0 drivers");
  contains(
      [&] {
        netlist(clk, y, cell("c", "INV", R"("A": [2], "Y": [4])") + "," + cell("d", "INV", R"("A": [2], "Y": [4])"));
      },
      "has 2 drivers");
  contains(
      [&] {
        const Netlist n = netlist(
            clk, y, cell("c", "INV", R"("A": [5], "Y": [4])") + "," + cell("d", "INV", R"("A": [4], "Y": [5])"));
        Simulator(n, {});
      },
      "combinational loop");
  contains(
      [&] {
        const Netlist n = netlist(clk, y, cell("c", "INV", R"("A": [2], "Y": [4])"));
        Simulator(n, {});
      },
      "gated clocks are not simulated");

  const Netlist n = circuit();
  Options options;
  options.warm_up = 2;
  options.period = 300;
  const Simulator simulator(n, options);
  contains([&] { simulator.run(vectors("z", "0101")); }, "which is not an input of top");
  contains([&] { simulator.run(vectors("x", "01")); }, "expected more than the 2 of the warm-up");
  contains([&] { simulator.run(vectors("x", "0101"), read_sdf(file("a.sdf", sdf(200, 50, 60)), n)); },
           "does not settle within");
  contains([&] { read_sdf(file("b.sdf", "(DELAYFILE (TIMESCALE 1ns))"), n); }, "there is no delay for");
  contains([&] { read_sdf(file("b.sdf", "(DELAYFILE (CELL (INSTANCE q9)))"), n); },
           "instance q9 is not in the netlist");
  contains([&] { read_sdf(file("b.sdf", "(DELAYFILE (CELL (INSTANCE) (INTERCONNECT a b (0.5) (0.5))))"), n); },
           "wires are not simulated");
  contains([&] { read_vectors(file("b.stim", "{\"cycles\": 2, \"ports\": [{\"name\": \"x\", \"width\": 1}]}\n1\n")); },
           "line 3");
  contains([&] { read_vectors(file("b.stim", "{\"cycles\": 1, \"ports\": [{\"name\": \"x\", \"width\": 1}]}\ng\n")); },
           "not a hexadecimal number");
  contains([&] { read_technology(file("b.json", R"({"schema": 9})")); },
           "make it anew with tools/ngtools/power/technology.py");
  contains([&] { read_slews(file("b.slews", "nothing/A 1 2\n"), n, technology_); }, "line 1");
}

}  // namespace
}  // namespace narrowgauge::power::gate
