// SPDX-License-Identifier: Apache-2.0
// A file that is read. Private to io.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace narrowgauge::io {

class InputFile {
 public:
  /// `expected`: "an .npy file", for the Error of what cannot be opened.
  InputFile(std::string path, std::string_view expected);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  /// Bytes of a regular file; nothing of a pipe or a device.
  std::optional<std::size_t> size() const { return size_; }
  /// The file's number, for what maps it to memory.
  int descriptor() const { return file_; }
  /// As many of `size` bytes as there are. Throws Error if they cannot be read.
  std::size_t read(char* to, std::size_t size);

 private:
  std::string path_;
  std::optional<std::size_t> size_;
  int file_;
};

}  // namespace narrowgauge::io
