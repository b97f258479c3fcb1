// SPDX-License-Identifier: Apache-2.0
#include "upset_tile.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "Vupset_tile.h"
#include "narrowgauge/error.hpp"
#include "verilated_syms.h"

namespace narrowgauge::upsets {

namespace {

/// What the tables call the place of a register: the instance in the tile, the array's in parts, memories apart.
std::string block_of(const std::string& scope, bool memory) {
  const std::string instance = scope.substr(0, scope.find('.'));
  if (instance.empty()) return "ng_tile";
  if (memory) return instance + " memory";
  if (instance != "u_array") return instance;
  for (const auto& [part, block] :
       {std::pair{"gen_pe", "u_array cell"}, {"u_convert", "u_array rounding"}, {"u_operand", "u_array operands"}})
    if (scope.find(part) != std::string::npos) return block;
  return "u_array control";
}

Register make_register(const std::string& scope, const std::string& name, unsigned width, unsigned words,
                       std::string_view mask) {
  Register made{(scope.empty() ? "" : scope + ".") + name, block_of(scope, words > 1), width, words, {}};
  for (unsigned bit = 0; bit < width && bit / 4 < mask.size(); ++bit) {
    const char digit = mask[mask.size() - 1 - bit / 4];
    const int value = digit <= '9' ? digit - '0' : digit - 'a' + 10;
    if (value >> bit % 4 & 1) made.bits.push_back(bit);
  }
  return made;
}

std::size_t bytes_of_word(unsigned width) {
  return width <= 8 ? 1 : width <= 16 ? 2 : width <= 32 ? 4 : width <= 64 ? 8 : (width + 31) / 32 * 4;
}

/// Verilator's name of a scope as SystemVerilog has it.
std::string plain(std::string name) {
  for (const auto& [theirs, ours] : {std::pair{"__DOT__", "."}, {"__BRA__", "["}, {"__KET__", "]"}})
    for (std::size_t at = 0; (at = name.find(theirs, at)) != std::string::npos;)
      name.replace(at, std::strlen(theirs), ours);
  return name;
}

class ShownTile final : public UpsetTile {
 public:
  ShownTile() : dut_(&context_) {
    std::map<std::string, std::uint8_t*> found;
    for (const auto& [unused, scope] : *context_.scopeNameMap()) {
      if (!scope->varsp()) continue;
      for (auto& [name, variable] : *scope->varsp())
        found[plain(std::string(scope->name()) + "." + name)] = static_cast<std::uint8_t*>(variable.datap());
    }
    for (const Register& item : registers()) {
      const auto at = std::ranges::find_if(found, [&](const auto& entry) {
        const std::string& name = entry.first;
        const std::size_t top = name.find("ng_tile.");
        return top != std::string::npos && name.compare(top + 8, std::string::npos, item.name) == 0;
      });
      if (at == found.end()) throw Error("register " + item.name + " is not shown by Verilator; expected all to be");
      data_.push_back(at->second);
    }
  }
  ~ShownTile() override {
    dut_.final();
    Verilated::threadContextp(&context_);  // engines/rtl/verilated_tile.cpp says why
  }

  void reset(TilePins& pins) override {
    cycles_ = 0;
    dut_.clk_i = 0;
    dut_.rst_ni = 1;
    put(pins);
    dut_.eval();
    dut_.rst_ni = 0;
    // What the flip before left in memories and in registers without a reset is gone, too.
    for (std::size_t i = 0; i < data_.size(); ++i)
      std::memset(data_[i], 0, bytes_of_word(registers()[i].width) * registers()[i].words);
    for (const int clock : {1, 0}) {
      dut_.clk_i = static_cast<CData>(clock);
      dut_.eval();
    }
    dut_.rst_ni = 1;
    dut_.eval();
    get(pins);
  }

  void cycle(TilePins& pins) override {
    if (++cycles_ > most_cycles_) throw TooLong();
    put(pins);
    dut_.clk_i = 1;
    dut_.eval();
    dut_.clk_i = 0;
    dut_.eval();
    if (armed_ && cycles_ == flip_.cycle) {
      *byte(flip_) ^= static_cast<std::uint8_t>(1U << flip_.bit % 8);
      dut_.eval();
    }
    get(pins);
  }

  void arm(const Flip& flip, std::uint64_t most_cycles) override {
    flip_ = flip, most_cycles_ = most_cycles;
    armed_ = true;
  }
  void disarm() override {
    armed_ = false;
    most_cycles_ = ~std::uint64_t{0};
  }
  bool bit(const Flip& flip) const override { return *byte(flip) >> flip.bit % 8 & 1; }

 private:
  /// Verilator keeps words in host integers or little-endian arrays of 32 bits.
  std::uint8_t* byte(const Flip& flip) const {
    return data_[flip.which] + flip.word * bytes_of_word(registers()[flip.which].width) + flip.bit / 8;
  }
  void put(const TilePins& pins) {
    axi::put_lite(dut_, pins.bus);
    dut_.s_axis_tvalid_i = pins.in_valid;
    if (pins.in_valid) std::memcpy(&dut_.s_axis_tdata_i, pins.in_data, sizeof dut_.s_axis_tdata_i);
    dut_.s_axis_tlast_i = pins.in_valid && pins.in_last;
    dut_.m_axis_tready_i = pins.out_ready;
  }
  void get(TilePins& pins) {
    axi::get_lite(dut_, pins.bus);
    pins.in_ready = dut_.s_axis_tready_o;
    pins.out_valid = dut_.m_axis_tvalid_o;
    pins.out_last = dut_.m_axis_tlast_o;
    pins.out_data = reinterpret_cast<const std::uint8_t*>(&dut_.m_axis_tdata_o);
    pins.irq = dut_.irq_o;
  }

  VerilatedContext context_;
  Vupset_tile dut_;
  std::vector<std::uint8_t*> data_;  // of registers()
  Flip flip_;
  bool armed_ = false;
  std::uint64_t cycles_ = 0, most_cycles_ = ~std::uint64_t{0};
};

}  // namespace

const std::vector<Register>& registers() {
  static const std::vector<Register> all = {
#define NG_REGISTER(scope, name, width, words, mask) make_register(scope, name, width, words, mask),
#include "registers.inc"
#undef NG_REGISTER
  };
  return all;
}

std::unique_ptr<UpsetTile> make_upset_tile() { return std::make_unique<ShownTile>(); }

}  // namespace narrowgauge::upsets
