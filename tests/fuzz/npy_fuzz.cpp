// SPDX-License-Identifier: Apache-2.0
// Any bytes as a .npy file: an Error in one sentence, or an array with as many values as its shape says.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int file = memfd_create("fuzz.npy", 0);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    const narrowgauge::io::Array array = narrowgauge::io::read_array("/proc/self/fd/" + std::to_string(file));
    std::size_t values = 1;
    for (const std::size_t extent : array.shape) values *= extent;
    if (values != array.values.size() || array.shape.empty()) std::abort();
  } catch (const narrowgauge::io::Error& error) {
    const std::string_view said = error.what();
    if (said.empty() || said.size() > 900 || said.find('\n') != std::string_view::npos) std::abort();
  }
  close(file);
  return 0;
}
