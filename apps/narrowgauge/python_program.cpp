// SPDX-License-Identifier: Apache-2.0
#include "python_program.hpp"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "narrowgauge/error.hpp"

extern char** environ;

namespace narrowgauge::cli {

void run_python(const std::string& python, const std::string& module, const std::vector<std::string>& arguments,
                const std::string& input, std::string* output) {
  std::vector<std::string> words{python, "-m", module};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  // Files instead of pipes: neither side waits for the other.
  const auto scratch = [] {
    std::FILE* file = std::tmpfile();
    if (!file) throw Error("cannot make a temporary file; expected free space in the system's temporary folder");
    return std::unique_ptr<std::FILE, int (*)(std::FILE*)>(file, std::fclose);
  };
  const auto in = scratch(), out = scratch(), err = scratch();
  const auto text_of = [](std::FILE* file) {
    std::rewind(file);
    std::string text;
    char buffer[4096];
    for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) != 0;) text.append(buffer, n);
    return text;
  };
  std::fwrite(input.data(), 1, input.size(), in.get());
  std::rewind(in.get());

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(err.get()), STDERR_FILENO);
  pid_t child = 0;
  // What this program ignores, another may want.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGXFSZ);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int fault = posix_spawnp(&child, python.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (fault != 0 || waitpid(child, &status, 0) < 0 || status != 0) {
    std::string why = fault != 0 ? std::strerror(fault) : text_of(err.get());
    while (why.ends_with('\n')) why.pop_back();
    why.erase(0, why.rfind('\n') + 1);  // the last line of what the program said
    // The package's own programs say why in a sentence and return 2.
    if (fault == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 2 && !why.empty()) throw Error(why);
    throw Error(python + " -m " + module + " failed" + (why.empty() ? "" : " (" + why + ")") +
                "; it needs the narrowgauge package: name a Python that has it with --python, or put the build's "
                "python folder on PYTHONPATH");
  }
  if (output) *output = text_of(out.get());
}

}  // namespace narrowgauge::cli
