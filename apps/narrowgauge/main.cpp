// SPDX-License-Identifier: Apache-2.0
// narrowgauge: exit code 0 done, 1 an engine differs from the golden model or a streamed question was bad, 2 bad input
// (one sentence on stderr).
#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <new>

#include "commands.hpp"
#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/output.hpp"
#include "narrowgauge/io/text.hpp"
#include "report.hpp"
#include "suggest.hpp"

namespace {

using namespace narrowgauge;

int fail(const std::string& sentence) {
  std::fprintf(stderr, "narrowgauge: %s\n", io::shown(sentence).c_str());
  return 2;
}

/// Faults of writing become errors of the write, not signals; and no file gets the number of a standard stream that is
/// closed, or the report would go into it.
void prepare_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The wrong way round, so that using it fails.
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) _exit(2);
  }
}

/// A flag takes no value: --json=3 is refused.
void refuse_values_of_flags(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->get_items_expected_max() == 0) option->disable_flag_override();
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; })) refuse_values_of_flags(*command);
}

std::string sentence_of(const CLI::ParseError& error, const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen[0];
  const std::string help = "; see narrowgauge " + (chosen.empty() ? "" : command.get_name() + " ") + "--help";
  const std::vector<std::string> unknown = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) && !unknown.empty())
    return cli::unknown_text(command, unknown) + help;
  const std::string text = error.what();
  constexpr std::string_view overridden = " was given a disallowed flag override";
  if (const std::size_t at = text.find(overridden); at != std::string::npos)
    return (text.starts_with('-') ? "" : "--") + text.substr(0, at) + " takes no value; give it alone" + help;
  return text + help;
}

}  // namespace

int main(int argc, char** argv) {
  prepare_streams();
  io::remove_outputs_on_signals();
  CLI::App app("Narrow-precision arithmetic in hardware, and a gauge for what it costs.", "narrowgauge");
  app.set_version_flag("--version", "narrowgauge " NG_VERSION);
  app.require_subcommand(0, 1);
  app.footer(
      "Examples:\n"
      "  narrowgauge gemm A.npy B.npy --format nvfp4 --engine rtl   multiply on the simulated hardware\n"
      "  narrowgauge engines                                        all engines side by side: results, cycles, speed\n"
      "  narrowgauge simulate-board                                 a board to try --engine board with\n"
      "  narrowgauge quantize X.npy --format mxfp4                  see what a format does to a matrix\n"
      "  narrowgauge quantize-affine X.npy --bits 4                 integers under a scale and a zero point\n"
      "  narrowgauge softmax SCORES.npy --bits 2                    softmax of quantized scores, and its error\n"
      "  narrowgauge analyze X.npy                                  which format a tensor wants: range and errors\n"
      "  narrowgauge prune W.npy --mask 2:4                         what is left of a matrix when two of four go\n"
      "  narrowgauge compress MAP.npy --out map.ngfm                a feature map in Huffman codes, without loss\n"
      "  narrowgauge decompress map.ngfm --out MAP.npy              and back\n"
      "  narrowgauge codec-report MAP.npy                           bits per value of a map, here and in other codes\n"
      "  narrowgauge train fp4-all-the-way --data examples/digits   a network trained in 4 bits\n"
      "  narrowgauge calibrate aciq weights.npz                     clips and bits of a trained network's tensors\n"
      "  narrowgauge checkpoint model.safetensors                   what of a checkpoint is quantized, and how\n"
      "  narrowgauge retrieval KEYS.npy QUERY.npy --chunk 16        chunks that a query attends to most\n"
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
  cli::add_simulate_board(app, exit_code);
  cli::add_quantize(app, exit_code);
  cli::add_quantize_affine(app, exit_code);
  cli::add_quantize_blocks(app, exit_code);
  cli::add_softmax(app, exit_code);
  cli::add_analyze(app, exit_code);
  cli::add_prune(app, exit_code);
  cli::add_compress(app, exit_code);
  cli::add_decompress(app, exit_code);
  cli::add_codec_report(app, exit_code);
  cli::add_explore(app, exit_code);
  cli::add_train(app, exit_code);
  cli::add_measure(app, exit_code);
  cli::add_calibrate(app, exit_code);
  cli::add_checkpoint(app, exit_code);
  cli::add_retrieval(app, exit_code);
  cli::add_vectors(app, exit_code);
  cli::add_formats(app, exit_code);
  cli::add_units(app, exit_code);
  cli::add_energy(app, exit_code);
  refuse_values_of_flags(app);
  try {
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& help) {
      exit_code = app.exit(help);
      cli::finish_report();
      return exit_code;
    }
    if (app.get_subcommands().empty()) return fail("no command was given; expected one of narrowgauge --help");
    cli::finish_report();
    return exit_code;
  } catch (const CLI::ParseError& error) {
    return fail(sentence_of(error, app));
  } catch (const Error& error) {
    return fail(error.what());
  } catch (const io::Error& error) {
    return fail(error.what());
  } catch (const std::bad_alloc&) {
    return fail("there is not enough memory for matrices of this size; expected smaller ones");
  } catch (const std::exception& error) {
    return fail(std::string("unexpected fault (") + error.what() +
                "); please report it with the command that led here");
  }
}
