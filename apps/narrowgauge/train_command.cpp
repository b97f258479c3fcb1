// SPDX-License-Identifier: Apache-2.0
// narrowgauge train: the Python package trains; this finds it and hands over.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "python_program.hpp"

namespace narrowgauge::cli {

void add_train(CLI::App& app, int&) {
  CLI::App& command = *app.add_subcommand("train", "train a network in 4 and 8 bits, by a recipe");
  const auto python = std::make_shared<std::string>("python3");
  command.add_option("--python", *python, "Python that has the narrowgauge package; before the recipe")
      ->capture_default_str();
  command.prefix_command();
  command.footer(
      "Examples:\n"
      "  narrowgauge train --list                                              recipes that are shipped\n"
      "  narrowgauge train fp4-all-the-way --data examples/digits --steps 300  every product in NVFP4\n"
      "  narrowgauge train luq --help                                          all options\n"
      "docs/training.md says what is computed.");
  command.callback([python, &command] {
    const std::vector<std::string> given = command.remaining();
    run_python(*python, "narrowgauge.train", {"--list"}, "", nullptr);  // refuses a Python without the package
    std::vector<std::string> words{*python, "-m", "narrowgauge.train"};
    words.insert(words.end(), given.begin(), given.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    throw Error("cannot run " + *python + ": " + std::strerror(errno) + "; name another Python with --python");
  });
}

}  // namespace narrowgauge::cli
