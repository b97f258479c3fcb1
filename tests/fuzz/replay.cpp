// SPDX-License-Identifier: Apache-2.0
// A harness of libFuzzer without libFuzzer: runs the files of a corpus, and so many mutants of them, drawn from a seed.
// HARNESS CORPUS [MUTANTS [SEED]]
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes mutant(const std::vector<Bytes>& corpus, std::mt19937_64& random) {
  const auto below = [&](std::size_t limit) {
    return static_cast<std::size_t>(random() % std::max<std::size_t>(1, limit));
  };
  Bytes bytes = corpus[below(corpus.size())];
  for (std::size_t n = 1 + below(4); n > 0; --n) {
    const auto at = static_cast<std::ptrdiff_t>(below(bytes.size()));
    const auto left = bytes.size() - static_cast<std::size_t>(at);
    switch (bytes.empty() ? 0 : below(5)) {
      case 0:
        bytes.insert(bytes.begin() + at, static_cast<std::uint8_t>(random()));
        break;
      case 1:
        bytes.erase(bytes.begin() + at,
                    bytes.begin() + at + static_cast<std::ptrdiff_t>(1 + below(std::min<std::size_t>(left, 8) - 1)));
        break;
      case 2:
        bytes[static_cast<std::size_t>(at)] ^= static_cast<std::uint8_t>(1U << below(8));
        break;
      case 3:
        bytes[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random());
        break;
      default: {  // a piece of another file
        const Bytes& other = corpus[below(corpus.size())];
        const std::size_t from = below(other.size()), count = std::min(other.size() - from, below(40));
        const Bytes piece(other.begin() + static_cast<std::ptrdiff_t>(from),
                          other.begin() + static_cast<std::ptrdiff_t>(from + count));
        bytes.insert(bytes.begin() + at, piece.begin(), piece.end());
      }
    }
  }
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: HARNESS CORPUS [MUTANTS [SEED]]\n";
    return 2;
  }
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<Bytes> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  const std::size_t mutants = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 2000;
  std::mt19937_64 random(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1);
  for (const Bytes& bytes : corpus) LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  if (corpus.empty()) {
    std::cerr << "corpus " << argv[1] << " is empty; expected files\n";
    return 1;
  }
  for (std::size_t i = 0; i < mutants; ++i) {
    const Bytes bytes = mutant(corpus, random);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  }
  std::cout << corpus.size() << " files, " << mutants << " mutants\n";
  return 0;
}
