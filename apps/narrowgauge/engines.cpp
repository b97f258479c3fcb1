// SPDX-License-Identifier: Apache-2.0
#include "engines.hpp"

#include "commands.hpp"
#include "narrowgauge/engines/tile_engine.hpp"
#include "narrowgauge/io/text.hpp"

namespace narrowgauge::cli {
namespace {

enum class Kind { model, systemc, rtl };
constexpr std::array<Choice<Kind>, 3> kinds{{{"model", Kind::model}, {"systemc", Kind::systemc}, {"rtl", Kind::rtl}}};

}  // namespace

std::string engine_names() { return names_of(kinds, "|"); }

std::unique_ptr<Engine> make_engine(const EngineFlags& flags, unsigned threads) {
  const Kind kind = choose("--engine", flags.engine, kinds);
  if (kind != Kind::rtl && !flags.trace.empty()) {
    throw Error("--trace " + io::shown(flags.trace) + " asks for waveforms, which the " + flags.engine +
                " engine does not have; expected --engine rtl");
  }
  if (kind == Kind::model) {
    if (flags.tile.empty()) return make_model_engine(threads);
    throw Error("--tile " + flags.tile +
                " names simulated hardware, which the model engine does not have; expected --engine rtl or systemc");
  }
  const TileEngineOptions options{.tile = flags.tile, .trace = flags.trace};
  return kind == Kind::rtl ? make_rtl_engine(options) : make_systemc_engine(options);
}

void add_tile_option(CLI::App& command, std::string& tile) {
  std::string names;
  for (const TileConfig& config : tile_configs()) names += (names.empty() ? "" : "|") + std::string(config.name);
  command.add_option("--tile", tile, "Simulated hardware; default: the largest that has the format")->type_name(names);
}

std::string gemm_format_names() {
  std::string names;
  std::size_t line = 0;  // where the last one begins
  for (const GemmFormat& format : gemm_formats) {
    if (!names.empty()) names += ", ";
    if (names.size() - line + format.name.size() > 100) {
      names.back() = '\n';
      line = names.size();
    }
    names += format.name;
  }
  return names;
}

}  // namespace narrowgauge::cli
