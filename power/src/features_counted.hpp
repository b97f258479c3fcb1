// SPDX-License-Identifier: Apache-2.0
// Runs a unit's graph on an operand stream. Private to ng_power.
#pragma once

#include "features_unit.hpp"

namespace narrowgauge::power::words {

/// Whether some word of the unit has more than 64 bits.
inline bool needs_wide(const MacSpec& mac) {
  return !is_rounded(mac.format) && std::max(term_width(mac), mac.accumulator ? accumulator_width(mac) : 0) > 64;
}

/// Cycles [begin, end) of the stream, begin where a sum starts; change(node, old, new, settled, n) as Graph::simulate
/// has it. The transition into cycle `begin` is one of them.
template <class W, class Change>
void run_unit(const MacSpec& mac, const OperandStream& stream, std::size_t begin, std::size_t end,
              const Change& change) {
  UnitGraph<W> unit(mac);
  Graph<W>& g = unit.graph;
  const auto lanes = static_cast<std::size_t>(mac.lanes);
  const std::size_t per_leaf = lanes / unit.a.size();
  const auto starts = [&](std::size_t cycle) {
    return stream.first_every ? cycle % stream.first_every == 0 : cycle == 0;
  };
  // The sum before: what the registers held in cycle begin - 1.
  std::size_t at = begin;
  if (begin > 0) {
    do --at;
    while (!starts(at));
  }
  while (at < end) {
    const std::size_t n = std::min(block, (at < begin ? begin : end) - at);
    for (std::size_t i = 0; i < unit.a.size(); ++i) {
      W* a = g.values(unit.a[i]);
      W* b = g.values(unit.b[i]);
      for (std::size_t t = 0; t < n; ++t) {
        a[t] = b[t] = 0;
        for (std::size_t k = 0; k < per_leaf; ++k) {
          const std::size_t code = (at + t) * lanes + i * per_leaf + k;
          a[t] |= W{stream.a[code]} << (4 * k);
          b[t] |= W{stream.b[code]} << (4 * k);
        }
      }
    }
    for (std::size_t i = 0; i < unit.a_scale.size(); ++i)
      for (std::size_t t = 0; t < n; ++t) {
        g.values(unit.a_scale[i])[t] = stream.a_scale[(at + t) * unit.a_scale.size() + i];
        g.values(unit.b_scale[i])[t] = stream.b_scale[(at + t) * unit.a_scale.size() + i];
      }
    if (unit.first >= 0)
      for (std::size_t t = 0; t < n; ++t) g.values(unit.first)[t] = starts(at + t);
    g.settle(n);
    if (at < begin)
      g.skip(n);
    else
      g.simulate(n, at == 0, [&](const auto& node, const W* before, const W* after, bool settled) {
        change(node, before, after, settled, n);
      });
    at += n;
  }
}

}  // namespace narrowgauge::power::words
