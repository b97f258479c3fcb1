// SPDX-License-Identifier: Apache-2.0
#include "suggest.hpp"

#include <algorithm>

#include "narrowgauge/io/text.hpp"

namespace narrowgauge::cli {
std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t least = 1 + std::max<std::size_t>(1, word.size() / 3);
  for (const std::string& candidate : known) {
    const std::size_t differs = io::edit_distance(word, candidate);
    if (differs < least) least = differs, best = candidate;
  }
  return best;
}

std::string unknown_text(const CLI::App& command, const std::vector<std::string>& arguments) {
  const bool top = command.get_parent() == nullptr;
  const std::string& first = arguments.front();
  const bool flag = first.starts_with('-');
  std::vector<std::string> known;
  if (flag) {
    for (const CLI::Option* option : command.get_options())
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  } else if (top) {
    for (const CLI::App* other : command.get_subcommands([](const CLI::App*) { return true; }))
      known.push_back(other->get_name());
  }
  const std::string to = top ? "narrowgauge" : command.get_name();
  std::string text = flag || top ? first + " is unknown to " + to : first + " is one argument too many for " + to;
  const std::string meant = nearest(first.substr(0, first.find('=')), known);
  if (!meant.empty()) text += ": did you mean " + meant + "?";
  if (arguments.size() > 1) {
    text += meant.empty() ? "; not expected either:" : " Not expected either:";
    for (std::size_t i = 1; i < arguments.size(); ++i) text += " " + arguments[i];
  }
  return text;
}

}  // namespace narrowgauge::cli
