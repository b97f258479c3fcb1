// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/prim/ng_ram.sv.
#pragma once

#include <cstddef>
#include <vector>

namespace narrowgauge::systemc {

/// Memory of `depth` words of type T. Nothing is reset; words that the hardware leaves unknown (never written, or read
/// while they are written) are here the old ones, at first T{}. rdata() is a function of the state; step() is a clock
/// edge.
template <class T, int depth>
class RamCore {
  static_assert(depth >= 2, "RamCore: depth must be 2 or more");

 public:
  const T& rdata() const { return rdata_; }

  /// `wdata`: nullptr if we_i is low. Addresses are taken modulo depth.
  void step(const T* wdata, unsigned waddr, bool re, unsigned raddr) {
    if (re) rdata_ = words_[raddr % depth];
    if (wdata) words_[waddr % depth] = *wdata;
  }

 private:
  std::vector<T> words_ = std::vector<T>(static_cast<std::size_t>(depth));
  T rdata_{};
};

}  // namespace narrowgauge::systemc
