// SPDX-License-Identifier: Apache-2.0
#include "file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/text.hpp"

namespace narrowgauge::io {

InputFile::InputFile(std::string path, std::string_view expected)
    : path_(std::move(path)), file_(path_.empty() ? -1 : open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  const std::string wanted(expected);
  if (path_.empty()) throw Error("An empty name is no file; name " + wanted);
  struct stat status {};
  if (file_ < 0 || fstat(file_, &status) != 0) {
    const std::string why = std::strerror(errno);
    if (file_ >= 0) ::close(file_);
    throw Error(shown(path_) + " cannot be opened: " + why + "; name " + wanted);
  }
  if (S_ISDIR(status.st_mode)) {
    ::close(file_);
    throw Error(shown(path_) + " is a directory; name " + wanted);
  }
  if (S_ISREG(status.st_mode)) size_ = static_cast<std::size_t>(status.st_size);
}

InputFile::~InputFile() { ::close(file_); }

std::size_t InputFile::read(char* to, std::size_t size) {
  constexpr std::size_t most = std::size_t{1} << 30;  // of one call
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got = ::read(file_, to + done, std::min(size - done, most));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(shown(path_) + " cannot be read: " + std::strerror(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

}  // namespace narrowgauge::io
