// SPDX-License-Identifier: Apache-2.0
// Commands of the Python package: this finds it and hands over.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge::cli {
namespace {

/// Runs what the words behind `-c` name, a module of the package, or says that there is no package.
constexpr const char* hand_over = R"(
import importlib, sys
module = sys.argv[1]
try:
    main = importlib.import_module(module + ".__main__").main
except ModuleNotFoundError as error:
    lacking = (error.name or "").partition(".")[0]
    print(f"narrowgauge: {sys.executable} has no package {lacking}; expected a Python that has it, named with --python"
          + (", or the build's python folder on PYTHONPATH" if lacking == "narrowgauge" else ""), file=sys.stderr)
    sys.exit(2)
del sys.argv[1]
sys.exit(main())
)";

void add(CLI::App& app, const std::string& name, const char* what, const std::string& footer) {
  CLI::App& command = *app.add_subcommand(name, what);
  const auto python = std::make_shared<std::string>("python3");
  command.add_option("--python", *python, "Python that has the narrowgauge package; in front of all other arguments")
      ->capture_default_str();
  command.prefix_command();
  command.footer(footer);
  command.callback([python, name, &command] {
    std::vector<std::string> words{*python, "-c", hand_over, "narrowgauge." + name};
    for (const std::string& given : command.remaining()) words.push_back(given);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    throw Error("cannot run " + *python + ": " + std::strerror(errno) + "; name another Python with --python");
  });
}

}  // namespace

void add_train(CLI::App& app, int&) {
  add(app, "train", "train a network in 4 and 8 bits, by a recipe",
      "Examples:\n"
      "  narrowgauge train --list                                              recipes that are shipped\n"
      "  narrowgauge train fp4-all-the-way --data examples/digits --steps 300  every product in NVFP4\n"
      "  narrowgauge train luq --help                                          all options\n"
      "docs/training.md says what is computed.");
}

void add_measure(CLI::App& app, int&) {
  add(app, "measure", "measure the energy of a multiply-accumulate on a board",
      "Examples:\n"
      "  narrowgauge measure --port /dev/ttyUSB1 --clock 24e6 --sensor ina226:1:0x40:0.1\n"
      "  narrowgauge measure --port board --clock 24e6 --sensor simulated        on narrowgauge simulate-board\n"
      "  python3 -m narrowgauge.measure --help                                   all options and sensors\n"
      "docs/measuring.md says how.");
}

void add_calibrate(CLI::App& app, int&) {
  add(app, "calibrate", "clips, bits and corrections of a trained network's tensors",
      "Examples:\n"
      "  narrowgauge calibrate aciq weights.npz --bits 4 --per-channel 0 --correct mean   by the distribution\n"
      "  narrowgauge calibrate lapq activations.npy --relu --p 2.5                        by the error's L_p norm\n"
      "  narrowgauge calibrate budget layers.json --energy 0.6                            bits of each layer\n"
      "  narrowgauge calibrate formats resnet18 space.yaml --energy 0.8                   formats of each layer\n"
      "  narrowgauge calibrate aciq --help                                                all options of a method\n"
      "docs/calibration.md says what is computed.");
}

void add_checkpoint(CLI::App& app, int&) {
  add(app, "checkpoint", "what of a checkpoint is quantized, and how; one layer on any engine; other layouts",
      "Examples:\n"
      "  narrowgauge checkpoint model.safetensors                                   what is quantized, and how\n"
      "  narrowgauge checkpoint model.safetensors --check                           every scale looked at\n"
      "  narrowgauge checkpoint model.safetensors --layer NAME --input X.npy --engine rtl   a layer on the hardware\n"
      "  narrowgauge checkpoint model.safetensors --to modelopt --out o.safetensors  the same bits in another layout\n"
      "  narrowgauge checkpoint model.safetensors --dialect te_4over6               what another quantizer would "
      "change\n"
      "  narrowgauge checkpoint FILE --help                                         all options\n"
      "docs/checkpoints.md has the layouts.");
}

void add_retrieval(CLI::App& app, int&) {
  add(app, "retrieval", "chunks of a memory that queries attend to most, with keys in narrow formats",
      "Examples:\n"
      "  narrowgauge retrieval KEYS.npy QUERY.npy --chunk 16 --best 8            products in NVFP4, best chunks first\n"
      "  narrowgauge retrieval STATES.npy QUERY.npy --chunk 16 --normalize       states over their root mean square\n"
      "  narrowgauge retrieval KEYS.npy QUERY.npy --chunk 16 --engine rtl        products on the simulated tile\n"
      "  narrowgauge retrieval KEYS.npy QUERY.npy --help                         all options\n"
      "docs/retrieval.md says what is computed.");
}

void add_vectors(CLI::App& app, int&) {
  add(app, "vectors", "conformance kit: vectors of every rule in files, and a runner for other implementations",
      "Examples:\n"
      "  narrowgauge vectors write kit                                       every kind, as .npz, .json and .h\n"
      "  narrowgauge vectors list kit                                        its files, compared with their SHA-256\n"
      "  narrowgauge vectors check kit --command './mine --serve'            asks a program\n"
      "  narrowgauge vectors check kit --callable mine:answer --kind casts   asks a function of a Python module\n"
      "  narrowgauge vectors check --help                                    all options\n"
      "docs/conformance.md has the files and the protocol.");
}

}  // namespace narrowgauge::cli
