// SPDX-License-Identifier: Apache-2.0
#include "engines.hpp"

#include <cstdio>

#include "commands.hpp"
#include "narrowgauge/engines/board_engine.hpp"
#include "narrowgauge/engines/mma_engine.hpp"
#include "narrowgauge/engines/tile_engine.hpp"
#include "narrowgauge/io/text.hpp"

namespace narrowgauge::cli {
namespace {

enum class Kind { model, systemc, rtl, board };
constexpr std::array<Choice<Kind>, 4> kinds{
    {{"model", Kind::model}, {"systemc", Kind::systemc}, {"rtl", Kind::rtl}, {"board", Kind::board}}};

}  // namespace

std::string engine_names() { return names_of(kinds, "|"); }

std::unique_ptr<Engine> make_engine(const EngineFlags& flags, unsigned threads) {
  const Kind kind = choose("--engine", flags.engine, kinds);
  if (kind != Kind::rtl && !flags.trace.empty()) {
    throw Error("--trace " + io::shown(flags.trace) + " asks for waveforms, which the " + flags.engine +
                " engine does not have; expected --engine rtl");
  }
  const bool another = flags.accumulate != Accumulation::exact, simulated = !flags.tile.empty() || !flags.trace.empty();
  if (another && kind != Kind::model && (kind != Kind::rtl || simulated)) {
    throw Error(
        "--accumulate has units of its own in rtl, and no tile and no waves; expected --engine model or rtl, "
        "without --tile and --trace");
  }
  if (flags.deadline != 0 && (another || (kind != Kind::rtl && kind != Kind::systemc))) {
    throw Error("--deadline " + std::to_string(flags.deadline) +
                " is one of a simulated tile; expected --engine rtl or systemc, and exact sums");
  }
  if (kind == Kind::board) {
    if (flags.port.empty())
      throw Error("--engine board needs --port, the serial device of a board; expected a name such as /dev/ttyUSB1");
    if (!flags.tile.empty())
      throw Error("--tile " + flags.tile + " names simulated hardware, and a board says itself what tile it has");
    return make_board_engine({.port = flags.port, .baud = flags.baud, .notice = [](const std::string& text) {
                                std::fprintf(stderr, "narrowgauge: notice: %s\n", io::shown(text).c_str());
                              }});
  }
  if (!flags.port.empty()) {
    throw Error("--port " + io::shown(flags.port) + " names a board, which the " + flags.engine +
                " engine does not have; expected --engine board");
  }
  if (kind == Kind::model) {
    if (flags.tile.empty()) return make_model_engine(threads);
    throw Error("--tile " + flags.tile +
                " names simulated hardware, which the model engine does not have; expected --engine rtl or systemc");
  }
  if (another) return make_mma_engine(flags.accumulate);
  const TileEngineOptions options{.tile = flags.tile, .trace = flags.trace, .deadline = flags.deadline};
  return kind == Kind::rtl ? make_rtl_engine(options) : make_systemc_engine(options);
}

void add_board_options(CLI::App& command, EngineFlags& flags) {
  command.add_option("--port", flags.port, "Serial device of the board, for --engine board")->type_name("DEVICE");
  command.add_option("--baud", flags.baud, "Its rate, which is the image's")->type_name("BAUD")->capture_default_str();
}

void add_tile_option(CLI::App& command, std::string& tile, const std::string& help) {
  command.add_option("--tile", tile, help + "; `narrowgauge engines` lists them")
      ->type_name("NAME")
      ->capture_default_str();
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
