// SPDX-License-Identifier: Apache-2.0
// Heads of the codec's files: little-endian numbers, read with a check before each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "narrowgauge/error.hpp"

namespace narrowgauge {

class HeadWriter {
 public:
  void number(std::uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; ++i) bytes_.push_back(static_cast<std::uint8_t>(value >> 8 * i));
  }
  void raw(std::span<const std::uint8_t> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  std::vector<std::uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

class HeadReader {
 public:
  explicit HeadReader(std::span<const std::uint8_t> file) : file_(file) {}
  std::span<const std::uint8_t> raw(std::size_t bytes) {
    if (bytes > file_.size() - at_) {
      throw Error("the compressed map ends within its head, after " + std::to_string(file_.size()) +
                  " bytes; write or copy it again");
    }
    const auto part = file_.subspan(at_, bytes);
    at_ += bytes;
    return part;
  }
  std::uint64_t number(unsigned bytes) {
    std::uint64_t value = 0;
    const auto part = raw(bytes);
    for (unsigned i = 0; i < bytes; ++i) value |= std::uint64_t{part[i]} << 8 * i;
    return value;
  }
  std::size_t position() const { return at_; }
  std::size_t left() const { return file_.size() - at_; }

 private:
  std::span<const std::uint8_t> file_;
  std::size_t at_ = 0;
};

inline Error corrupt_map(const std::string& what) {
  return Error("the compressed map is corrupt: " + what + "; write or copy it again");
}

}  // namespace narrowgauge
