// SPDX-License-Identifier: Apache-2.0
// Files that appear whole or not at all.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace narrowgauge::io {

/// Written beside its target under another name, and renamed by commit(). Without that nothing is left of it, and what
/// stood there before stays. A link is followed: the file that it names is replaced.
class OutputFile {
 public:
  /// Throws Error for an empty name, a target that is there but no regular file or not writable, and a folder in which
  /// no file can be made.
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// As it was named.
  const std::string& path() const { return path_; }
  void write(std::string_view bytes);
  /// Nothing more will be written. Throws Error unless everything was.
  void close();
  /// For writers that open files by name: the name to write to, with the target's extension. Around those that map
  /// files to memory belongs a MappedWrites.
  const std::string& hand_over();
  /// Throws Error unless the file can grow by so many bytes: for writers that do not notice a full disk, before and
  /// after them. The file stays as it is.
  void probe(std::size_t bytes) const;
  /// Throws Error: a writer under that name says that a file of its own could not be written completely.
  [[noreturn]] void incomplete() const;
  /// A file that such a writer makes besides, to be removed with this one: the name handed over, and `suffix`.
  void remove_besides(const std::string& suffix);
  /// Puts it in its place.
  void commit();
  /// Where the file will be, without links.
  const std::string& target() const { return target_; }

 private:
  void discard();

  std::string path_, target_, temporary_;
  std::vector<std::string> besides_;
  std::vector<std::size_t> slots_;  ///< in the list of what a signal removes
  std::optional<unsigned> mode_;    ///< permissions of the file that it replaces
  int file_ = -1;
};

/// Throws Error where OutputFile would, and leaves nothing. For what is written elsewhere, before long work.
void check_output(const std::string& path);

/// Throws Error unless temporary files, which other writers make by tmpfile(), can have so many bytes.
void probe_temporary(std::size_t bytes);

/// The outputs of one command: none of them is one of its inputs, and no two are the same file.
class Outputs {
 public:
  /// A file that the command reads.
  void input(const std::string& path);
  /// A file that it writes because of `option`. Throws Error as OutputFile does, and if the file is taken.
  OutputFile& add(const std::string& option, const std::string& path);
  /// Files of one unit, named `prefix` and a suffix each: those of `suffixes` that are added are put in their places
  /// together, and the others, which an earlier run left, go. Of concurrent runs the unit is that of one. Throws Error
  /// for a prefix that ends no name of a file, and for what is there and cannot be replaced.
  void unit(const std::string& option, const std::string& prefix, const std::vector<std::string>& suffixes);
  /// The same for a file that is written elsewhere.
  void reserve(const std::string& option, const std::string& path);
  void commit();

 private:
  struct Taken {
    std::string option, path;  ///< option: empty for inputs
  };
  void take(const std::string& option, const std::string& path);

  std::vector<Taken> taken_;
  std::list<OutputFile> files_;
  std::vector<std::string> members_;  ///< all files of the unit
};

/// While it lives, the process survives what a full disk does to a writer that maps its files to memory: the first
/// touch of a page for which there is no room is a SIGBUS, in which this thread gets a page of zeros instead, and
/// failed() is true from then on: what was written is lost. Other SIGBUS go where they went before. Scopes may be
/// nested; those of several threads are independent.
class MappedWrites {
 public:
  MappedWrites();
  ~MappedWrites();
  MappedWrites(const MappedWrites&) = delete;
  MappedWrites& operator=(const MappedWrites&) = delete;

  bool failed() const;
  /// Throws Error, naming the file, if a write failed.
  void check(const OutputFile& file) const;

 private:
  unsigned failures_before_;
};

/// For programs: from now on the signals that end a process remove what is not committed before they do (SIGINT,
/// SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU; not SIGKILL).
void remove_outputs_on_signals();

}  // namespace narrowgauge::io
