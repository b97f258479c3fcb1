// SPDX-License-Identifier: Apache-2.0
// Heads of the codec's files: little-endian numbers, read with a check before each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "narrowgauge/codec/feature_map.hpp"
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

inline Error corrupt_map(const std::string& what) {
  return Error("the compressed map is corrupt: " + what + "; write or copy it again");
}

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
  /// Fails unless the version that stands here is the known one.
  void version(std::uint64_t known) {
    if (const std::uint64_t found = number(2); found != known) {
      throw Error("the compressed map has version " + std::to_string(found) + "; version " + std::to_string(known) +
                  " is known");
    }
  }
  /// The extents of so many dimensions, and their product. Every tile has 8 bytes in an index, so that the file limits
  /// what it can announce.
  std::pair<std::vector<std::uint64_t>, std::uint64_t> shape(std::uint64_t dimensions) {
    std::vector<std::uint64_t> extents;
    std::uint64_t elements = 1;
    for (std::uint64_t i = 0; i < dimensions; ++i) {
      extents.push_back(number(4));
      if (extents.back() == 0 || elements > file_.size() * largest_tile / extents.back())
        throw corrupt_map("its shape does not fit its size");
      elements *= extents.back();
    }
    return {std::move(extents), elements};
  }
  /// Fails unless the checksum that stands here is that of all before it.
  void checksum() {
    const std::uint32_t expected = crc32(file_.first(at_));
    if (number(4) != expected) throw corrupt_map("the checksum of its head is wrong");
  }
  std::size_t position() const { return at_; }
  std::size_t left() const { return file_.size() - at_; }

 private:
  std::span<const std::uint8_t> file_;
  std::size_t at_ = 0;
};

}  // namespace narrowgauge
