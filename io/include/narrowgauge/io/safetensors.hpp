// SPDX-License-Identifier: Apache-2.0
// Tensors from and to .safetensors files: 8 bytes of length, a header in JSON, and the tensors' bytes without gaps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "narrowgauge/io/output.hpp"

namespace narrowgauge::io {

/// The longest header that is read, as the format's own library has it.
inline constexpr std::size_t longest_safetensors_header = 100'000'000;

/// Bits of an element of this type, by the format's name of it ("F8_E4M3"); 0 for what is no type of the format.
std::size_t safetensors_bits(std::string_view dtype);

/// A tensor of a file.
struct TensorEntry {
  std::string name;
  std::string dtype;               ///< "F8_E4M3", "BF16", "U8"
  std::vector<std::size_t> shape;  ///< extents; none for a single number, and they may be 0
  std::size_t begin = 0, end = 0;  ///< of its bytes among those behind the header

  std::size_t bytes() const { return end - begin; }
};

/// A file that is mapped to memory: pages are read when they are looked at.
class SafetensorsFile {
 public:
  /// Reads the header. Throws Error for a file that cannot be read or mapped, and unless the header is an object of
  /// tensors of known types whose bytes fill the rest of the file without gap or overlap.
  explicit SafetensorsFile(const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  const std::string& path() const { return path_; }
  /// The texts under "__metadata__".
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// All tensors, in the order of their bytes.
  const std::vector<TensorEntry>& tensors() const { return tensors_; }
  /// The bytes of one of tensors(), as long as this object lives.
  std::span<const std::uint8_t> bytes(const TensorEntry& tensor) const;

 private:
  void read_header();

  std::string path_;
  const std::uint8_t* map_ = nullptr;
  std::size_t size_ = 0;
  std::size_t data_ = 0;  ///< where the header ends
  std::map<std::string, std::string> metadata_;
  std::vector<TensorEntry> tensors_;
};

/// A file that is written tensor by tensor, in any order, and appears whole or not at all.
class SafetensorsWriter {
 public:
  /// Takes names, types and shapes; places are chosen here: types of more bytes first, so that all are aligned. Throws
  /// Error for tensors of the same name, unknown types, sizes that are no whole bytes, and a file that cannot be made.
  SafetensorsWriter(const std::string& path, std::vector<TensorEntry> tensors,
                    const std::map<std::string, std::string>& metadata);
  ~SafetensorsWriter();
  SafetensorsWriter(const SafetensorsWriter&) = delete;
  SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;

  /// All bytes of the tensor of this name. Throws Error for another number of them, another name, or a full disk.
  void write(const std::string& name, std::span<const std::uint8_t> bytes);
  /// Puts the file in its place. Throws Error, naming one, if a tensor was not written.
  void commit();

 private:
  void put(std::span<const std::uint8_t> bytes, std::size_t at);

  OutputFile file_;
  int open_ = -1;
  std::size_t data_ = 0;
  std::map<std::string, TensorEntry> waiting_;
};

}  // namespace narrowgauge::io
