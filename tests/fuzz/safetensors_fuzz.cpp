// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .safetensors file: an Error in one sentence, or tensors that fill the file behind its header, each of
// as many bytes as its type and shape say.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/safetensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace narrowgauge::io;
  const int file = memfd_create("fuzz.safetensors", 0);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    const SafetensorsFile read("/proc/self/fd/" + std::to_string(file));
    std::size_t header = 0, bytes = 0;
    for (std::size_t i = 8; i-- > 0;) header = header << 8 | data[i];
    volatile std::uint8_t last = 0;
    for (const TensorEntry& tensor : read.tensors()) {
      std::size_t bits = safetensors_bits(tensor.dtype);
      for (const std::size_t extent : tensor.shape) bits *= extent;
      const auto span = read.bytes(tensor);
      if (span.size() * 8 != bits) std::abort();
      for (const std::uint8_t byte : span) last = byte;
      bytes += span.size();
    }
    if (8 + header + bytes != size) std::abort();
  } catch (const Error& error) {
    const std::string_view said = error.what();
    if (said.empty() || said.size() > 900 || said.find('\n') != std::string_view::npos) std::abort();
  }
  close(file);
  return 0;
}
