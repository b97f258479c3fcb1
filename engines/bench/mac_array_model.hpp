// SPDX-License-Identifier: Apache-2.0
// A Verilated ng_mac_array behind one interface, whatever its parameters. Simulator headers stay in the .cpp.
#pragma once

#include <cstdint>
#include <memory>

namespace narrowgauge {

/// What a beat carries that is the same for a whole product.
struct MacArrayFormats {
  std::uint8_t a, b;  ///< a_fmt_i, b_fmt_i
};

/// One beat. The four pointers are images of the ports, little-endian, each a whole number of 64-bit words long.
struct MacArrayBeat {
  bool first, last;
  std::uint64_t row_en, col_en;
  const std::uint8_t *a, *b, *a_scale, *b_scale;
};

class MacArrayModel {
 public:
  virtual ~MacArrayModel() = default;
  virtual void reset() = 0;
  virtual void set_formats(MacArrayFormats formats) = 0;
  /// State before the next clock edge: operands taken, results offered.
  virtual bool ready() const = 0;
  virtual const std::uint32_t* row() const = 0;  ///< the FP32 words of the row on offer, nullptr if there is none
  /// Clock edge: offers `beat` (nullptr: none) and takes the row on offer.
  virtual void cycle(const MacArrayBeat* beat) = 0;
};

using MacArrayFactory = std::unique_ptr<MacArrayModel> (*)();

}  // namespace narrowgauge
