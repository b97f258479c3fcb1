// SPDX-License-Identifier: Apache-2.0
// Mutated .safetensors files: an Error in one sentence, or tensors whose bytes fill the file and can all be read.
// Compiled with AddressSanitizer and UndefinedBehaviorSanitizer in every build. Instead of a map the reader gets memory
// of the file's size, to the byte, so that the sanitizer sees what is read behind its end, too.
// ng_safetensors_fuzz FOLDER [FILES [SEED]]
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/safetensors.hpp"

#undef mmap
#undef munmap
extern "C" void* guarded_mmap(void*, std::size_t size, int, int, int file, off_t) noexcept {
  auto* memory = static_cast<char*>(std::malloc(size));
  if (!memory || pread(file, memory, size, 0) != static_cast<ssize_t>(size)) std::abort();
  return memory;
}
extern "C" int guarded_munmap(void* memory, std::size_t) noexcept {
  std::free(memory);
  return 0;
}

namespace {

using narrowgauge::io::SafetensorsFile;
using narrowgauge::io::TensorEntry;

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(random_() % std::max<std::size_t>(1, limit)); }

  /// A header of a few tensors that fits the data, mostly.
  std::string original(std::size_t& bytes) {
    static constexpr std::string_view types[] = {"U8", "F32", "F8_E4M3", "BF16", "F4", "F8_E8M0", "I64", "BOOL"};
    std::string header = below(2) ? R"({"__metadata__":{"format":"pt","a":"b"})" : R"({"first":)";
    bytes = 0;
    if (header.back() == ':') header += tensor("U8", {2}, bytes);
    const std::size_t count = below(5);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::size_t> shape(below(4));
      for (auto& extent : shape) extent = 2 * below(4);
      header +=
          R"(,"layers.)" + std::to_string(i) + R"(.weight":)" + tensor(types[below(std::size(types))], shape, bytes);
    }
    header += "}";
    header.resize((header.size() + 7) / 8 * 8, ' ');
    return header;
  }

  std::string file() {
    static constexpr std::string_view pieces[] = {"0",
                                                  "9",
                                                  "-1",
                                                  "1e9",
                                                  "4294967296",
                                                  "18446744073709551615",
                                                  "18446744073709551616",
                                                  "[",
                                                  "]",
                                                  "{",
                                                  "}",
                                                  "null",
                                                  "\"",
                                                  ",",
                                                  "\\ud800",
                                                  "\xff",
                                                  "1.5",
                                                  "\"shape\""};
    std::size_t bytes = 0;
    std::string header = original(bytes), data(bytes, 'x');
    for (std::size_t n = below(4); n > 0; --n) {
      const std::size_t at = below(header.size());
      switch (below(8)) {
        case 0:
          header[at] = static_cast<char>(below(256));
          break;
        case 1:
          header.insert(at, pieces[below(std::size(pieces))]);
          break;
        case 2:
          header.replace(at, below(3), pieces[below(std::size(pieces))]);
          break;
        case 3:
          header.insert(at, header.substr(at, below(80)));
          break;
        case 4:
          header.erase(at, below(40));
          break;
        case 5:
          if (header[at] >= '0' && header[at] <= '9') header[at] = static_cast<char>('0' + below(10));
          break;
        case 6:
          data.resize(below(2 * data.size() + 2));
          break;
        default:
          std::swap(header[at], header[below(header.size())]);
      }
      if (header.empty()) header = "{}";
    }
    const std::uint64_t lengths[] = {0,
                                     1,
                                     header.size() + 1,
                                     header.size() - 1,
                                     ~std::uint64_t{0},
                                     std::uint64_t{1} << 63,
                                     below(1000),
                                     header.size() + data.size() + 1};
    std::uint64_t length = below(10) ? header.size() : lengths[below(std::size(lengths))];
    std::string made;
    for (int i = 0; i < 8; ++i, length >>= 8) made += static_cast<char>(length);
    made += header + data;
    if (below(20) == 0) made.resize(below(made.size() + 1));
    return made;
  }

 private:
  static std::string tensor(std::string_view type, const std::vector<std::size_t>& shape, std::size_t& bytes) {
    std::size_t bits = narrowgauge::io::safetensors_bits(type);
    std::string text;
    for (const std::size_t extent : shape) {
      text += (text.empty() ? "" : ",") + std::to_string(extent);
      bits *= extent;
    }
    const std::size_t begin = bytes;
    bytes += bits / 8;
    return R"({"dtype":")" + std::string(type) + R"(","shape":[)" + text + R"(],"data_offsets":[)" +
           std::to_string(begin) + "," + std::to_string(bytes) + "]}";
  }

  std::mt19937_64 random_;
};

/// Bytes of all tensors, each looked at.
std::size_t read_all(const SafetensorsFile& file, unsigned& sum) {
  std::size_t bytes = 0;
  for (const TensorEntry& tensor : file.tensors()) {
    const auto span = file.bytes(tensor);
    bytes += span.size();
    for (const std::uint8_t byte : span) sum = sum * 31 + byte;
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const std::string path = std::string(argv[1]) + "/mutated.safetensors";
  const std::size_t files = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 2000;
  Mutator mutator(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  std::size_t taken = 0, refused = 0, tensors = 0;
  unsigned sum = 0;
  for (std::size_t i = 0; i < files; ++i) {
    const std::string made = mutator.file();
    std::ofstream(path, std::ios::binary | std::ios::trunc) << made;
    try {
      const SafetensorsFile file(path);
      std::uint64_t length = 0;
      for (int k = 7; k >= 0; --k) length = length << 8 | static_cast<std::uint8_t>(made[static_cast<std::size_t>(k)]);
      if (read_all(file, sum) + 8 + length != made.size()) {
        std::cout << "file " << i << ": tensors do not fill it\n";
        return 1;
      }
      tensors += file.tensors().size();
      ++taken;
    } catch (const narrowgauge::io::Error& error) {
      const std::string_view said = error.what();
      if (said.empty() || said.size() > 900 || said.find('\n') != std::string_view::npos) {
        std::cout << "file " << i << ": no sentence: " << said << '\n';
        return 1;
      }
      ++refused;
    }
  }
  std::cout << files << " files: " << taken << " taken with " << tensors << " tensors, " << refused << " refused ("
            << sum << ")\n";
  return taken * 20 > files && refused * 20 > files ? 0 : 1;  // or it tests nothing
}
