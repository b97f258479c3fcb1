// SPDX-License-Identifier: Apache-2.0
// narrowgauge: exit code 0 done, 1 an engine differs from the golden model or a streamed question was bad, 2 bad input
// (one sentence on stderr).
#include <cstdio>
#include <new>

#include "commands.hpp"

namespace {

int fail(const std::string& sentence) {
  std::fprintf(stderr, "narrowgauge: %s\n", sentence.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace narrowgauge;
  CLI::App app("Narrow-precision arithmetic in hardware, and a gauge for what it costs.", "narrowgauge");
  app.set_version_flag("--version", "narrowgauge " NG_VERSION);
  app.require_subcommand(0, 1);
  app.footer(
      "Examples:\n"
      "  narrowgauge gemm A.npy B.npy --format nvfp4 --engine rtl   multiply on the simulated hardware\n"
      "  narrowgauge engines                                        all engines side by side: results, cycles, speed\n"
      "  narrowgauge quantize X.npy --format mxfp4                  see what a format does to a matrix\n"
      "  narrowgauge formats e4m3                                   every code and its value\n"
      "  narrowgauge units                                          what hardware there is, and its state\n"
      "  narrowgauge energy --format nvfp4                          what a multiply-accumulate costs, with its error\n"
      "  narrowgauge explore resnet18 space.yaml                    energy, time, area of a network over a design "
      "space\n"
      "`narrowgauge COMMAND --help` teaches one command. Exit code: 0 done, 1 an engine's result differs from the\n"
      "golden model's or a streamed question was bad, 2 bad input (one sentence on stderr says what and what to do).");
  int exit_code = 0;
  cli::add_gemm(app, exit_code);
  cli::add_engines(app, exit_code);
  cli::add_quantize(app, exit_code);
  cli::add_explore(app, exit_code);
  cli::add_formats(app, exit_code);
  cli::add_units(app, exit_code);
  cli::add_energy(app, exit_code);
  try {
    app.parse(argc, argv);
    if (app.get_subcommands().empty()) return fail("No command given; see narrowgauge --help for those there are");
    return std::fflush(stdout) == 0 ? exit_code
                                    : fail("The report could not be written to standard output; check free space");
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    return fail(std::string(error.what()) + "; see narrowgauge " + (chosen.empty() ? "" : chosen[0]->get_name() + " ") +
                "--help");
  } catch (const Error& error) {
    return fail(error.what());
  } catch (const std::bad_alloc&) {
    return fail("There is not enough memory for matrices of this size; use smaller ones");
  } catch (const std::exception& error) {
    return fail(std::string("Unexpected fault (") + error.what() +
                "); please report it with the command that led here");
  }
}
