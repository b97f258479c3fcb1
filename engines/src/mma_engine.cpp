// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/engines/mma_engine.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <string>
#include <utility>

#include "narrowgauge/engines/mma_unit_model.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/mac/mma_mx.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "verilated_tiles.hpp"

namespace narrowgauge {
namespace {

/// A unit, under the name of its library.
struct MmaUnit {
  std::string_view name;
  Accumulation mode;
  Scheme scheme;
  std::size_t length;  ///< products of a step
};

constexpr MmaUnit units[] = {
    {"mma_nvfp4", Accumulation::blackwell, Scheme::nvfp4, 64},
    {"mma_nvfp4_e8m0", Accumulation::blackwell, Scheme::mxfp4, 64},
    {"mma_fp8_blackwell", Accumulation::blackwell, Scheme::fp8, 32},
    {"mma_fp8_hopper", Accumulation::hopper, Scheme::fp8, 32},
    {"mma_mx", Accumulation::blackwell, Scheme::mxfp8, 32},
    {"mma_mx", Accumulation::blackwell, Scheme::mxfp6, 32},
    {"mma_rvbna", Accumulation::rvbna, Scheme::fp8, 32},
};
/// Bits of a step's codes on one side: a unit with half as many products has places twice as wide.
constexpr std::size_t code_bits = 256;
/// Progress is told each so many cycles.
constexpr std::uint64_t told_cycles = 4096;

/// The vectors of an operand in steps, padded with zeros.
struct Packed {
  std::size_t steps = 0;
  std::vector<std::array<std::uint32_t, 8>> codes = {};  ///< rows x steps
  std::vector<std::uint32_t> scales = {};                ///< the same; empty without block scales
};

Packed pack(const QuantizedMatrix& q, std::size_t length) {
  const std::size_t bits = code_bits / length;
  Packed packed{.steps = (q.k_padded + length - 1) / length};
  packed.codes.resize(q.rows * packed.steps);
  for (std::size_t row = 0; row < q.rows; ++row) {
    for (std::size_t i = 0; i < q.k_padded; ++i) {
      const std::size_t at = i % length * bits;
      packed.codes[row * packed.steps + i / length][at / 32] |= std::uint32_t{q.codes[row * q.k_padded + i]} << at % 32;
    }
  }
  if (!has_block_scales(q.scheme)) return packed;
  const std::size_t of_step = length / block_size(q.scheme);
  packed.scales.resize(q.rows * packed.steps);
  for (std::size_t row = 0; row < q.rows; ++row) {
    for (std::size_t block = 0; block < q.blocks(); ++block) {
      packed.scales[row * packed.steps + block / of_step] |= std::uint32_t{q.scales[row * q.blocks() + block]}
                                                             << 8 * (block % of_step);
    }
  }
  return packed;
}

class MmaEngine final : public Engine {
 public:
  explicit MmaEngine(Accumulation mode) : mode_(mode) {}
  std::string_view name() const override { return "rtl"; }

  void check(Scheme scheme, Format a, Format b, std::size_t k) const override {
    check_contraction(scheme, k);
    unit_of(scheme, a, b);
  }
  EngineResult gemm(const QuantizedMatrix& a, const QuantizedMatrix& b, const Progress& progress) override {
    check_product(a, b);
    const MmaUnit& unit = unit_of(b.scheme, a.element, b.element);
    if (is_blocked(a.scaling) || is_blocked(b.scaling)) {
      throw Error("the unit " + std::string(unit.name) +
                  " has no FP32 scales per 128; expected operands with one a tensor or vector, or the engine model");
    }
    EngineResult result;
    run(unit, a, b, progress, result);
    for (std::size_t i = 0; i < a.rows; ++i) {
      for (std::size_t j = 0; j < b.rows; ++j) {
        float& x = result.c[i * b.rows + j];
        x = epilogue(x, epilogue_scales(a.fp32_scale(i, 0), b.fp32_scale(j, 0)));
      }
    }
    result.products = std::uint64_t{a.rows} * b.rows * a.k;
    result.products_possible = result.cycles * unit.length;
    result.tile = unit.name;
    return result;
  }

  void check_sparse(Scheme, Format, Format, std::size_t) const override { refuse("sparse products"); }
  EngineResult gemm_sparse(const QuantizedMatrix&, const QuantizedMatrix&, const NmPattern&, const Progress&) override {
    refuse("sparse products");
  }
  EngineResult gemm_compressed(const QuantizedMatrix&, const QuantizedMatrix&, const Compressed&,
                               const Progress&) override {
    refuse("compressed operands");
  }
  void check_compressed(Scheme, Format, Format, std::size_t) const override { refuse("compressed operands"); }
  RequantizedResult gemm_requantized(const QuantizedMatrix&, const QuantizedMatrix&, float, const RequantizeOptions&,
                                     const Progress&) override {
    refuse("requantized results");
  }
  IntegerResult gemm_integers(const QuantizedMatrix&, const QuantizedMatrix&, const AffineRange&,
                              const Progress&) override {
    refuse("integer results");
  }

 private:
  std::string mode_name() const { return std::string(accumulation_modes[static_cast<std::size_t>(mode_)].name); }

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error("the units of accumulation \"" + mode_name() + "\" have no " + what +
                "; expected a dense product in float32, or accumulation \"exact\"");
  }

  const MmaUnit& unit_of(Scheme scheme, Format a, Format b) const {
    std::string known;
    for (const MmaUnit& unit : units) {
      if (unit.mode != mode_) continue;
      const bool elements = scheme != Scheme::fp8 || (has_element(Scheme::mxfp8, a) && has_element(Scheme::mxfp8, b));
      if (unit.scheme == scheme && elements) return unit;
      known += std::string(desc(unit.scheme).name) + (unit.scheme == Scheme::fp8 ? " of e4m3 and e5m2, " : ", ");
    }
    throw Error("accumulation \"" + mode_name() + "\" has no unit for the operands' format; expected " + known +
                (known.empty() ? "" : "or ") + "the engine model");
  }

  MmaUnitModel& model(const MmaUnit& unit) {
    std::unique_ptr<MmaUnitModel>& model = models_[unit.name];
    if (!model) model = make_verilated_mma(unit.name);
    return *model;
  }

  /// An output whose steps are under way.
  struct Turn {
    std::size_t output = 0, step = 0;
    std::uint32_t c = 0;
    bool open = false;
  };

  void run(const MmaUnit& unit, const QuantizedMatrix& a, const QuantizedMatrix& b, const Progress& progress,
           EngineResult& result) {
    const Packed left = pack(a, unit.length), right = pack(b, unit.length);
    MmaUnitModel& simulated = model(unit);
    const std::size_t outputs = a.rows * b.rows;
    result.c.resize(outputs);
    std::vector<Turn> turns(simulated.registers());
    MmaStep step{.a_format = static_cast<std::uint8_t>(mx_port(a.element)),
                 .b_format = static_cast<std::uint8_t>(mx_port(b.element))};
    std::size_t next = 0, done = 0;
    for (std::uint64_t& cycle = result.cycles; done < outputs; ++cycle) {
      if (progress && cycle % told_cycles == 0) progress(done * left.steps, outputs * left.steps);
      Turn& in = turns[cycle % turns.size()];
      if (!in.open && next < outputs) in = {.output = next++, .open = true};
      if (in.open) {
        const std::size_t at = in.output / b.rows * left.steps + in.step,
                          from = in.output % b.rows * right.steps + in.step;
        step.a = left.codes[at], step.b = right.codes[from];
        if (!left.scales.empty()) step.a_scales = left.scales[at], step.b_scales = right.scales[from];
        step.c = in.c;
      }
      const std::uint32_t d = simulated.cycle(step);
      Turn& out = turns[(cycle + 1) % turns.size()];  // of the step that is through
      if (!out.open) continue;
      out.c = d;
      if (++out.step < left.steps) continue;
      result.c[out.output] = std::bit_cast<float>(d);
      out.open = false;
      ++done;
    }
    if (progress) progress(outputs * left.steps, outputs * left.steps);
  }

  Accumulation mode_;
  std::map<std::string_view, std::unique_ptr<MmaUnitModel>> models_;
};

}  // namespace

std::unique_ptr<Engine> make_mma_engine(Accumulation mode) {
  if (mode == Accumulation::exact) {
    throw Error(
        "accumulation \"exact\" has no unit of a matrix instruction; expected another mode, or the engine of a tile");
  }
  if (!have_verilated_tiles()) make_verilated_mma({});  // says why
  return std::make_unique<MmaEngine>(mode);
}

}  // namespace narrowgauge
