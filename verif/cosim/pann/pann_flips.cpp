// SPDX-License-Identifier: Apache-2.0
// ng_pann_flips: rung L1 of docs/pann.md, as JSON. The flips that the paper counts, per multiply-accumulate: from the
// golden flip models (features/structures.hpp) and counted in the Verilated units, on the stimuli of
// power/units.json; beside them the paper's closed forms. power/pann/table.py makes the page of it.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "Vint2.h"
#include "Vint2___024root.h"
#include "Vint3.h"
#include "Vint3___024root.h"
#include "Vint4.h"
#include "Vint4___024root.h"
#include "Vint6.h"
#include "Vint6___024root.h"
#include "Vint8.h"
#include "Vint8___024root.h"
#include "Vpann1.h"
#include "Vpann1___024root.h"
#include "Vpann2.h"
#include "Vpann2___024root.h"
#include "Vpann3.h"
#include "Vpann3___024root.h"
#include "Vsplit2.h"
#include "Vsplit2___024root.h"
#include "Vsplit3.h"
#include "Vsplit3___024root.h"
#include "Vsplit4.h"
#include "Vsplit4___024root.h"
#include "Vsplit6.h"
#include "Vsplit6___024root.h"
#include "Vsplit8.h"
#include "Vsplit8___024root.h"
#include "Vsplit8_dual.h"
#include "Vsplit8_dual___024root.h"
#include "Vsplit8_muxed.h"
#include "Vsplit8_muxed___024root.h"
#include "features/paper.hpp"
#include "features/stimulus.hpp"
#include "features/structures.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/pann/pann.hpp"
#include "narrowgauge/power/json.hpp"

namespace {

using narrowgauge::Error;
using namespace narrowgauge::power;
using nlohmann::json;

constexpr std::size_t contraction = 256, cycles = 200 * contraction;
constexpr int acc_width = 32;

/// Flips of a net of any width.
class Net {
 public:
  void see(std::uint64_t value) {
    if (any_) flips_ += static_cast<std::uint64_t>(std::popcount(value ^ last_));
    last_ = value;
    any_ = true;
  }
  std::uint64_t flips() const { return flips_; }

 private:
  std::uint64_t last_ = 0, flips_ = 0;
  bool any_ = false;
};

/// The paper's places, per multiply-accumulate.
json places(double inputs, double internal, double input, double steering, double sum, double registers) {
  return {{"inputs", inputs},
          {"internal", internal},
          {"accumulator_input", input},
          {"steering", steering},
          {"sum", sum},
          {"register", registers},
          {"total", inputs + internal + input + steering + sum + registers}};
}

/// A .stim file's columns.
struct Stimulus {
  json unit;
  std::map<std::string, std::vector<std::uint64_t>> ports;
};

Stimulus stimulus_of(const json& units, const std::string& name, const std::string& stimulus) {
  for (const json& unit : units.at("units")) {
    if (unit.at("name") != name) continue;
    StimulusOptions options;
    options.stimulus = stimulus;
    options.cycles = cycles;
    std::istringstream text(make_stimulus(unit, options));
    std::string line, word;
    std::getline(text, line);
    const json header = json::parse(line);
    Stimulus result{unit, {}};
    while (std::getline(text, line)) {
      std::istringstream words(line);
      for (const json& port : header.at("ports")) {
        words >> word;
        result.ports[port.at("name")].push_back(std::stoull(word, nullptr, 16));
      }
    }
    return result;
  }
  throw Error("unit " + name + " is not in the file of units");
}

std::vector<std::int32_t> codes(const std::vector<std::uint64_t>& values, int width, bool is_signed) {
  std::vector<std::int32_t> result;
  for (const std::uint64_t value : values) {
    const std::int64_t wide =
        is_signed ? static_cast<std::int64_t>(value << (64 - width)) >> (64 - width) : static_cast<std::int64_t>(value);
    result.push_back(static_cast<std::int32_t>(wide));
  }
  return result;
}

/// The golden flip models on a unit's operands; `schedule` instead of the unit's.
json model(const Stimulus& s, Schedule schedule) {
  const MacSpec mac = mac_spec_from_json(s.unit.at("mac"));
  const bool split = mac.schedule != Schedule::plain;
  const auto x = codes(s.ports.at(split ? "x_i" : "a_i"), mac.a_width, mac.a_signed);
  auto w = codes(s.ports.at(split ? "w_i" : "b_i"), mac.b_width, !split && mac.b_signed);
  json result;
  MultiplierFlips m =
      multiplier_flips(mac.structure, mac.a_width, mac.b_width, mac.a_signed, !split && mac.b_signed, x, w);
  if (split)
    for (std::size_t i = 0; i < w.size(); ++i)
      if (s.ports.at("negative_i")[i]) w[i] = -w[i];
  const AccumulatorFlips a = accumulator_flips(schedule, acc_width, x, w, contraction);
  // Rows as the RTL has them: their sums and what passes through them.
  result = places(m.per_step(m.inputs), m.per_step(m.sums + m.row_copies), a.per_term(a.input), a.per_term(a.steering),
                  a.per_term(a.sum), a.per_term(a.registers));
  result["multiplier_nets"] = m.per_step(m.nets());
  return result;
}

/// Same numbers on every platform, unlike the standard's distributions.
class Random {
 public:
  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double normal() {
    const double u = 1 - uniform();
    return narrowgauge::standard_normal(u, uniform());
  }

 private:
  std::mt19937_64 engine_{1};
};

/// PANN's golden flips per element, zero weights included.
json pann_model(const MacSpec& mac, const std::string& stimulus) {
  Random random;
  std::vector<std::int32_t> x(cycles);
  const int top = (1 << mac.a_width) - 1;
  for (auto& code : x)
    code = stimulus == "uniform"
               ? static_cast<std::int32_t>(random.uniform() * (top + 1))
               : static_cast<std::int32_t>(std::min<double>(top, std::nearbyint(std::abs(random.normal()) * top / 3)));
  std::vector<float> w(cycles);
  for (float& value : w) value = static_cast<float>(random.normal());
  const auto weights = narrowgauge::pann::quantize_weights(w, mac.additions);
  const AccumulatorFlips a = repeated_addition_flips(acc_width, x, weights.codes, contraction);
  json result = places(0, 0, a.per_term(a.input), 0, a.per_term(a.sum), a.per_term(a.registers));
  result["additions"] = weights.additions;
  return result;
}

/// Nets of a Verilated unit; a product in every cycle.
struct Counts {
  Net x, w, rows[8], product, sign, steering[2], sum, registers[2];

  /// `extension`: copies of the product's sign up to the accumulator's width.
  json per(double terms, int extension) const {
    const auto of = [&](std::uint64_t flips) { return static_cast<double>(flips) / terms; };
    std::uint64_t internal = 0;
    for (const Net& row : rows) internal += row.flips();
    const std::uint64_t reg = registers[0].flips() + registers[1].flips();
    // Where no net is called the sum, it is what the register becomes.
    return places(of(x.flips() + w.flips()), of(internal),
                  of(product.flips() + static_cast<std::uint64_t>(extension) * sign.flips()),
                  of(steering[0].flips() + steering[1].flips()), of(sum.flips() > 0 ? sum.flips() : reg), of(reg));
  }
};

/// Runs a unit: drive(dut, cycle), then see(dut) when its inputs have settled.
template <class Dut, class Drive, class See>
void run(Drive&& drive, See&& see) {
  VerilatedContext context;
  Dut dut(&context);
  dut.clk_i = 0;
  dut.rst_ni = 1;
  dut.eval();
  dut.rst_ni = 0;
  dut.eval();
  dut.rst_ni = 1;
  for (std::size_t t = 0; t < cycles; ++t) {
    drive(dut, t);
    dut.eval();
    see(dut);
    dut.clk_i = 1;
    dut.eval();
    dut.clk_i = 0;
    dut.eval();
  }
  dut.final();
}

#define NG_ROW(i, unit) \
  counts.rows[i].see(unit##__DOT__u_mult__DOT__gen_array__DOT__gen_row__BRA__##i##__KET____DOT__sum);
#define NG_ROWS_2(unit) NG_ROW(0, unit) NG_ROW(1, unit)
#define NG_ROWS_3(unit) NG_ROWS_2(unit) NG_ROW(2, unit)
#define NG_ROWS_4(unit) NG_ROWS_3(unit) NG_ROW(3, unit)
#define NG_ROWS_6(unit) NG_ROWS_4(unit) NG_ROW(4, unit) NG_ROW(5, unit)
#define NG_ROWS_8(unit) NG_ROWS_6(unit) NG_ROW(6, unit) NG_ROW(7, unit)

template <class Dut, class Rows>
json plain_rtl(const Stimulus& s, int width, Rows&& rows) {
  Counts counts;
  run<Dut>(
      [&](Dut& dut, std::size_t t) {
        dut.valid_i = 1;
        dut.first_i = t % contraction == 0;
        dut.a_i = s.ports.at("a_i")[t];
        dut.b_i = s.ports.at("b_i")[t];
      },
      [&](Dut& dut) {
        counts.x.see(dut.a_i);
        counts.w.see(dut.b_i);
        rows(counts, dut);
        counts.product.see(dut.rootp->ng_int_mac__DOT__term);
        counts.sign.see(dut.rootp->ng_int_mac__DOT__term >> (2 * width - 1));
        counts.registers[0].see(dut.acc_o);
      });
  return counts.per(cycles, acc_width - 2 * width);
}

template <class Dut>
void drive_element(Dut& dut, const Stimulus& s, std::size_t t) {
  dut.valid_i = 1;
  dut.first_i = s.ports.at("first_i")[t];
  dut.last_i = s.ports.at("last_i")[t];
  dut.x_i = s.ports.at("x_i")[t];
  dut.w_i = s.ports.at("w_i")[t];
  dut.negative_i = s.ports.at("negative_i")[t];
}

template <class Dut, class Sums>
json split_rtl(const Stimulus& s, Sums&& sums) {
  Counts counts;
  run<Dut>([&](Dut& dut, std::size_t t) { drive_element(dut, s, t); },
           [&](Dut& dut) {
             counts.x.see(dut.x_i);
             counts.w.see(dut.w_i);
             counts.product.see(dut.rootp->ng_unsigned_mac__DOT__product);
             sums(counts, dut);
           });
  return counts.per(cycles, 0);
}

template <class Dut>
json pann_rtl(const Stimulus& s) {
  Net x, count, sum;
  run<Dut>(
      [&](Dut& dut, std::size_t t) {
        drive_element(dut, s, t);
        dut.ready_i = 1;
      },
      [&](Dut& dut) {
        x.see(dut.rootp->ng_pann_mac__DOT__x_q);
        count.see(dut.rootp->ng_pann_mac__DOT__count_q);
        sum.see(dut.rootp->ng_pann_mac__DOT__sum_q);
      });
  const double elements = cycles * s.unit.at("macs_per_cycle").get<double>();
  const auto of = [&](const Net& net) { return static_cast<double>(net.flips()) / elements; };
  json result = places(0, 0, of(x), 0, of(sum), of(sum));
  result["counter"] = of(count);  // the paper counts none
  return result;
}

json paper_figures() {
  json result;
  for (const int b : {2, 3, 4, 5, 6, 8}) {
    const auto is_signed = paper::signed_mac(b, b, acc_width), is_unsigned = paper::unsigned_mac(b, b);
    result["macs"].push_back({{"b", b},
                              {"signed", is_signed.total()},
                              {"unsigned", is_unsigned.total()},
                              {"saving", paper::unsigned_saving(b, acc_width)},
                              {"accumulator_input_share", is_signed.accumulator_input_share()}});
  }
  for (const auto& network : paper::networks)
    result["networks"].push_back({{"name", network.name}, {"macs", network.macs}});
  for (const int w : {2, 4, 8}) result["mixed"].push_back({{"w", w}, {"multiplier", paper::multiplier_flips(w, 8)}});
  return result;
}

/// Optimum of the budget by the error formula, and the ratio of the errors of regular quantization and PANN.
json theory() {
  json result;
  for (const int b : {2, 3, 4, 5, 6, 8}) {
    const auto sweep =
        narrowgauge::pann::sweep_budget(narrowgauge::pann::unsigned_budget(b), narrowgauge::pann::pann_error);
    result.push_back({{"b", b},
                      {"x_width", sweep.best.x_width},
                      {"additions", sweep.best.additions},
                      {"error_ratio", narrowgauge::pann::uniform_error(b, b) / sweep.best.loss}});
  }
  return result;
}

/// All nets of multipliers with a narrow weight, uniform operands: the mixed-width rule.
json mixed_widths() {
  Random random;
  const auto draw = [&](int width, bool is_signed) {
    std::vector<std::int32_t> values(cycles);
    for (auto& v : values)
      v = static_cast<std::int32_t>(random.uniform() * (1 << width)) - (is_signed ? 1 << (width - 1) : 0);
    return values;
  };
  json result;
  for (const int width : {2, 4, 8}) {
    const auto w = draw(width, true), x = draw(8, true), uw = draw(width, false), ux = draw(8, false);
    const auto sums = [](const MultiplierFlips& f) { return f.per_step(f.inputs + f.sums + f.row_copies); };
    const auto nets = [](const MultiplierFlips& f) { return f.per_step(f.inputs + f.nets()); };
    const auto booth_x = multiplier_flips(Structure::booth, 8, 8, true, true, w, x);
    const auto booth_w = multiplier_flips(Structure::booth, 8, 8, true, true, x, w);
    result.push_back({{"w", width},
                      {"array", sums(multiplier_flips(Structure::array, 8, 8, true, true, w, x))},
                      {"array_swapped", sums(multiplier_flips(Structure::array, 8, 8, true, true, x, w))},
                      {"array_fitting", sums(multiplier_flips(Structure::array, width, 8, true, true, w, x))},
                      {"booth_x", sums(booth_x)},
                      {"booth_x_nets", nets(booth_x)},
                      {"booth_w", sums(booth_w)},
                      {"booth_w_nets", nets(booth_w)},
                      {"unsigned", sums(multiplier_flips(Structure::array, 8, 8, false, false, uw, ux))},
                      {"unsigned_fitting", sums(multiplier_flips(Structure::array, width, 8, false, false, uw, ux))}});
  }
  return result;
}

json figures(const json& units) {
  json result = {{"cycles", cycles}, {"paper", paper_figures()}, {"theory", theory()}, {"mixed", mixed_widths()}};
  for (const int b : {2, 3, 4, 6, 8}) {
    const std::string width = std::to_string(b);
    for (const char* stimulus : {"uniform", "gauss"}) {
      const std::string unit = "int" + width + "_mac_array";
      result["model"][unit][stimulus] = model(stimulus_of(units, unit, stimulus), Schedule::plain);
    }
    for (const char* stimulus : {"uniform", "half_normal"}) {
      const std::string unit = "split" + width + "_mac_";
      const Stimulus s = stimulus_of(units, unit + "sorted", stimulus);
      result["model"][unit + "sorted"][stimulus] = model(s, Schedule::sorted);
      if (b != 4 && b != 8) continue;
      result["model"][unit + "dual"][stimulus] = model(stimulus_of(units, unit + "dual", stimulus), Schedule::dual);
      result["model"][unit + "muxed"][stimulus] = model(stimulus_of(units, unit + "muxed", stimulus), Schedule::muxed);
    }
  }
  json& rtl = result["rtl"];
  for (const char* stimulus : {"uniform", "gauss"}) {
    const auto stim = [&](const char* unit) { return stimulus_of(units, unit, stimulus); };
#define NG_PLAIN(b)                                          \
  rtl["int" #b "_mac_array"][stimulus] = plain_rtl<Vint##b>( \
      stim("int" #b "_mac_array"), b,                        \
      [](Counts& counts, Vint##b& dut) { NG_ROWS_##b(dut.rootp->ng_int_mac__DOT__gen_lane__BRA__0__KET__) });
    NG_PLAIN(2)
    NG_PLAIN(3)
    NG_PLAIN(4)
    NG_PLAIN(6)
    NG_PLAIN(8)
  }
  for (const char* stimulus : {"uniform", "half_normal"}) {
    const auto stim = [&](const char* unit) { return stimulus_of(units, unit, stimulus); };
#define NG_SORTED(b)                                                                            \
  rtl["split" #b "_mac_sorted"][stimulus] =                                                     \
      split_rtl<Vsplit##b>(stim("split" #b "_mac_sorted"), [](Counts& counts, Vsplit##b& dut) { \
        NG_ROWS_##b(dut.rootp->ng_unsigned_mac) counts.registers[0].see(                        \
            dut.rootp->ng_unsigned_mac__DOT__gen_sorted__DOT__sum_q);                           \
      });
    NG_SORTED(2)
    NG_SORTED(3)
    NG_SORTED(4)
    NG_SORTED(6)
    NG_SORTED(8)
    rtl["split8_mac_dual"][stimulus] =
        split_rtl<Vsplit8_dual>(stim("split8_mac_dual"), [](Counts& counts, Vsplit8_dual& dut) {
          NG_ROWS_8(dut.rootp->ng_unsigned_mac)
          counts.steering[0].see(dut.rootp->ng_unsigned_mac__DOT__gen_dual__DOT__gen_sign__BRA__0__KET____DOT__gated);
          counts.steering[1].see(dut.rootp->ng_unsigned_mac__DOT__gen_dual__DOT__gen_sign__BRA__1__KET____DOT__gated);
          counts.registers[0].see(dut.rootp->ng_unsigned_mac__DOT__gen_dual__DOT__gen_sign__BRA__0__KET____DOT__sum_q);
          counts.registers[1].see(dut.rootp->ng_unsigned_mac__DOT__gen_dual__DOT__gen_sign__BRA__1__KET____DOT__sum_q);
        });
    rtl["split8_mac_muxed"][stimulus] =
        split_rtl<Vsplit8_muxed>(stim("split8_mac_muxed"), [](Counts& counts, Vsplit8_muxed& dut) {
          NG_ROWS_8(dut.rootp->ng_unsigned_mac)
          const std::uint32_t sum = dut.rootp->ng_unsigned_mac__DOT__gen_muxed__DOT__sum;
          counts.sum.see(sum);
          counts.steering[0].see(sum - dut.rootp->ng_unsigned_mac__DOT__product);  // the chosen register
          counts.registers[0].see(dut.rootp->ng_unsigned_mac__DOT__gen_muxed__DOT__positive_q);
          counts.registers[1].see(dut.rootp->ng_unsigned_mac__DOT__gen_muxed__DOT__negative_q);
        });
    rtl["pann_x6_r1"][stimulus] = pann_rtl<Vpann1>(stim("pann_x6_r1"));
    rtl["pann_x6_r2"][stimulus] = pann_rtl<Vpann2>(stim("pann_x6_r2"));
    rtl["pann_x7_r3"][stimulus] = pann_rtl<Vpann3>(stim("pann_x7_r3"));
    for (const char* unit : {"pann_x6_r1", "pann_x6_r2", "pann_x7_r3"}) {
      const MacSpec mac = mac_spec_from_json(stim(unit).unit.at("mac"));
      result["model"][unit][stimulus] = pann_model(mac, stimulus);
      result["model"][unit]["paper"] = paper::pann_flips(mac.a_width, mac.additions);
    }
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: ng_pann_flips power/units.json\n";
    return 2;
  }
  try {
    std::ifstream in(argv[1]);
    if (!in) throw Error(std::string("file of units ") + argv[1] + " cannot be read");
    std::cout << figures(json::parse(in)).dump(1) << '\n';
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "ng_pann_flips: " << error.what() << '\n';
    return 2;
  }
}
