// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <string>

#include "codec_head.hpp"
#include "narrowgauge/codec/exponents.hpp"

namespace narrowgauge {
namespace {

constexpr std::array<std::uint8_t, 4> magic{'N', 'G', 'F', 'E'};
constexpr unsigned version = 1;

struct Layout {
  std::string_view format;
  unsigned exponent, mantissa;  ///< bits
};
constexpr std::array<Layout, 3> layouts{{{"bf16", 8, 7}, {"e4m3", 4, 3}, {"e5m2", 5, 2}}};

}  // namespace

std::vector<std::uint8_t> compress_exponents(const FloatCodes& tensor, const CompressOptions& options) {
  const auto found =
      std::find_if(layouts.begin(), layouts.end(), [&](const Layout& l) { return l.format == tensor.format; });
  if (found == layouts.end()) throw Error("format \"" + std::string(tensor.format) + "\"; expected bf16, e4m3 or e5m2");
  const unsigned bits = 1 + found->exponent + found->mantissa;
  FeatureMap exponents{tensor.shape, {}, false, 0}, rest{tensor.shape, {}, false, 0};
  for (const std::uint16_t code : tensor.codes) {
    if (code >> bits != 0) {
      throw Error("code " + std::to_string(code) + " is none of " + std::string(tensor.format) + "; expected " +
                  std::to_string(bits) + " bits");
    }
    const unsigned mantissa = code & ((1U << found->mantissa) - 1), sign = static_cast<unsigned>(code) >> (bits - 1);
    exponents.values.push_back(static_cast<std::uint8_t>(code >> found->mantissa & ((1U << found->exponent) - 1)));
    rest.values.push_back(static_cast<std::uint8_t>(sign << found->mantissa | mantissa));
  }
  const auto first = compress(exponents, options), second = compress(rest, options);
  HeadWriter head;
  head.raw(magic);
  head.number(version, 2);
  head.number(static_cast<std::uint64_t>(found - layouts.begin()), 2);
  head.number(first.size(), 8);
  head.number(crc32(head.bytes()), 4);
  head.raw(first);
  head.raw(second);
  return std::move(head.bytes());
}

bool is_of_exponents(std::span<const std::uint8_t> file) {
  return file.size() >= magic.size() && std::equal(magic.begin(), magic.end(), file.begin());
}

FloatCodes decompress_exponents(std::span<const std::uint8_t> file) {
  if (!is_of_exponents(file)) throw Error("this is no file of exponents: it does not begin with NGFE");
  HeadReader in(file);
  in.raw(magic.size());
  in.version(version);
  const std::uint64_t format = in.number(2), size = in.number(8);
  in.checksum();
  if (format >= layouts.size() || size > in.left()) throw corrupt_map("its head has a field out of range");
  const Layout& layout = layouts[format];
  const FeatureMap exponents = decompress(file.subspan(in.position(), size));
  const FeatureMap rest = decompress(file.subspan(in.position() + size));
  if (exponents.shape != rest.shape || exponents.step != 0 || rest.step != 0)
    throw corrupt_map("its two parts do not belong together");
  FloatCodes tensor{layout.format, exponents.shape, {}};
  tensor.codes.reserve(rest.values.size());
  for (std::size_t i = 0; i < rest.values.size(); ++i) {
    const unsigned e = exponents.values[i], r = rest.values[i];
    if (e >> layout.exponent != 0 || r >> (layout.mantissa + 1) != 0)
      throw corrupt_map("one of its codes is none of " + std::string(layout.format));
    const unsigned mantissa = r & ((1U << layout.mantissa) - 1), sign = r >> layout.mantissa;
    tensor.codes.push_back(static_cast<std::uint16_t>((sign << layout.exponent | e) << layout.mantissa | mantissa));
  }
  return tensor;
}

}  // namespace narrowgauge
