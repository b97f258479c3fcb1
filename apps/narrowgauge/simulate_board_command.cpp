// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "engines.hpp"
#include "narrowgauge/engines/board/pseudo_terminal.hpp"
#include "narrowgauge/engines/board/simulated_line.hpp"
#include "narrowgauge/engines/board/tile_target.hpp"
#include "narrowgauge/engines/tile_bus_on_pins.hpp"
#include "narrowgauge/engines/tile_engine.hpp"
#include "narrowgauge/io/text.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

using namespace std::chrono_literals;

struct BoardArguments {
  std::string engine = "systemc", tile = "tiny", link;
  double faults = 0, seconds = 0;
  std::uint64_t seed = 1;
  bool json = false;
};

volatile std::sig_atomic_t ended = 0;

/// A name for the terminal, while this lives. Throws Error where something else has the name.
class Link {
 public:
  Link(const std::string& name, const std::string& terminal) : name_(name) {
    if (name.empty()) return;
    std::error_code fault;
    if (std::filesystem::is_symlink(name)) std::filesystem::remove(name, fault);  // of a board that was killed
    std::filesystem::create_symlink(terminal, name, fault);
    if (fault) {
      throw Error(
          "--link " + io::shown(name) +
          (fault == std::errc::file_exists ? " is there already; expected a free name" : ": " + fault.message()));
    }
  }
  ~Link() {
    std::error_code ignored;
    if (!name_.empty()) std::filesystem::remove(name_, ignored);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

 private:
  std::string name_;
};

/// Serves hosts until the time is up, or a signal ends it.
void run(const BoardArguments& arguments) {
  const TileConfig& config = find_tile(arguments.tile);
  const std::unique_ptr<TilePinModel> pins = make_tile_pin_model(arguments.engine, arguments.tile);
  TileBusOnPins bus(*pins, config.stream_width / 8);
  board::TileTarget target(bus, config.stream_width / 8);
  board::UartBridge bridge(target, {.stream_bytes = config.stream_width / 8});
  bridge.loop_in_steps(true);
  bool looped = false;
  std::uint64_t loop_began = 0;
  board::LineFaults to_board(arguments.faults, arguments.seed), from_board(arguments.faults, ~arguments.seed);
  board::PseudoTerminal terminal;
  const Link link(arguments.link, terminal.name());
  const std::string& port = arguments.link.empty() ? terminal.name() : arguments.link;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, [](int) { ended = 1; });
  if (arguments.json) {
    print_json({{"command", "simulate-board"},
                {"port", io::utf8(port)},
                {"engine", arguments.engine},
                {"tile", arguments.tile},
                {"faults", arguments.faults},
                {"seed", arguments.seed}});
  } else {
    std::printf("%s is a board with tile %s; end it with Ctrl-C\n", io::shown(port).c_str(), arguments.tile.c_str());
  }
  std::fflush(stdout);

  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(arguments.seconds);
  std::array<std::uint8_t, 4096> bytes;
  std::vector<std::uint8_t> answer;
  while (!ended && (arguments.seconds == 0 || std::chrono::steady_clock::now() < end)) {
    const bool rests = target.quiet() && !bridge.loop_runs();
    const std::size_t count = terminal.receive(bytes, rests ? board::Duration(50ms) : board::Duration{});
    answer.clear();
    for (std::size_t i = 0; i < count; ++i) {
      for (const auto& [value, broken] : to_board.pass(bytes[i])) {
        if (broken) {
          bridge.broken_byte();
          continue;
        }
        for (const std::uint8_t byte : bridge.byte(value))
          for (const auto& sent : from_board.pass(byte))
            if (!sent.broken) answer.push_back(sent.value);
      }
    }
    terminal.send(answer);
    if (!bridge.loop_runs()) {
      looped = false;
      target.elapse(4096);
      continue;
    }
    if (!looped) loop_began = bus.cycles();
    looped = true;
    for (int i = 0; i < 64; ++i) bridge.step_loop();
    bridge.set_cycles(static_cast<std::uint32_t>(bus.cycles() - loop_began));
  }
}

}  // namespace

void add_simulate_board(CLI::App& app, int&) {
  auto arguments = std::make_shared<BoardArguments>();
  CLI::App& command =
      *app.add_subcommand("simulate-board", "A board without a board: a simulated tile behind a pseudo-terminal");
  command.add_option("--engine", arguments->engine, "systemc: the tile's cycle model; rtl: the Verilated tile")
      ->type_name("systemc|rtl")
      ->capture_default_str();
  add_tile_option(command, arguments->tile, "The tile behind it");
  command.add_option("--faults", arguments->faults, "Share of bytes that go wrong on the line, in each direction")
      ->type_name("SHARE")
      ->check(CLI::Range(0.0, 0.5))
      ->capture_default_str();
  add_number(command, "--seed", arguments->seed, std::uint64_t{0}, ~std::uint64_t{0}, "Which ones do");
  command.add_option("--seconds", arguments->seconds, "How long it is there; 0: until it is ended")
      ->type_name("S")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command.add_option("--link", arguments->link, "A name for the device, a symbolic link while the board is there")
      ->type_name("PATH")
      ->check(named);
  command.add_flag("--json", arguments->json, "Print what it is as one JSON document");
  command.footer(
      "Prints the name of a serial device, which any host can open, and is the board behind it: the tile is simulated\n"
      "clock by clock, the bridge (docs/units/uart_bridge.md) by its golden model, without the time that a line "
      "takes.\n"
      "With --faults bytes are damaged, lost or doubled by the seed, as on a bad cable: results stay what they are.\n"
      "\n"
      "Examples:\n"
      "  narrowgauge simulate-board --tile tiny --link board &\n"
      "  narrowgauge gemm A.npy B.npy --engine board --port board\n"
      "  narrowgauge simulate-board --engine rtl --tile chain --faults 0.001 --seconds 60");
  command.callback([arguments] { run(*arguments); });
}

}  // namespace narrowgauge::cli
