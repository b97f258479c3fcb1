// SPDX-License-Identifier: Apache-2.0
// Any text as a dialect, and any numbers quantized in it. The first line is the text, of which an Error tells what is
// wrong, or which is the same after it is written and read again; the rest is numbers of FP32 for two vectors, which
// quantize to what check() accepts, the same again in more threads, or are refused by an Error.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "narrowgauge/error.hpp"
#include "narrowgauge/quant/dequantize.hpp"
#include "narrowgauge/quant/dialect.hpp"
#include "narrowgauge/quant/quantize.hpp"

namespace {

using namespace narrowgauge;

std::string written(const Dialect& dialect) {
  std::string text(dialect.name);
  char between = ':';
  for (const DialectField& field : fields(dialect)) {
    text += between + std::string(field.name) + '=' + field.value;
    between = ',';
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::uint8_t* const end = std::find(data, data + size, '\n');
  const std::string_view text(reinterpret_cast<const char*>(data), static_cast<std::size_t>(end - data));
  Dialect dialect;
  try {
    dialect = parse_dialect(text);
  } catch (const Error&) {
    return 0;
  }
  const std::string again = written(dialect);
  if (written(parse_dialect(again)) != again) std::abort();

  const std::size_t left = end == data + size ? 0 : size - text.size() - 1;
  const std::size_t columns = std::min<std::size_t>(left / (2 * sizeof(float)), 160);
  if (columns == 0) return 0;
  std::vector<float> x(2 * columns);
  std::memcpy(x.data(), end + 1, x.size() * sizeof(float));
  QuantizedMatrix q;
  try {
    q = quantize(x, 2, columns, Axis::rows, dialect, {.threads = 1});
  } catch (const Error&) {
    return 0;
  }
  check(q, "q");
  if (q.rows != 2 || q.k < columns || dequantize(q).size() != q.rows * q.k) std::abort();
  const QuantizedMatrix in_threads = quantize(x, 2, columns, Axis::rows, dialect, {.threads = 2});
  if (in_threads.codes != q.codes || in_threads.scales != q.scales) std::abort();
  return 0;
}
