// SPDX-License-Identifier: Apache-2.0
// Runs a unit's graph on an operand stream. Private to ng_power.
#pragma once

#include "features_unit.hpp"

namespace narrowgauge::power::words {

/// Whether some word of the unit has more than 64 bits.
inline bool needs_wide(const MacSpec& mac) {
  return !is_rounded(mac.format()) && std::max(term_width(mac), mac.accumulator ? accumulator_width(mac) : 0) > 64;
}

/// What a unit is offered in a cycle.
struct Offer {
  std::size_t index;  ///< in the stream
  bool first, taken;
};

/// Entries [begin, end) of the stream as the unit meets them, cycle by cycle: one in each, but for units that take
/// several. Those are offered an entry until they are done with the one before: b_width cycles if serial; |w| of
/// repeated additions, zeros being left out (ng_pann_mac, not ready beside a result, takes another if the first element
/// of a sum has but one).
inline std::vector<Offer> offers(const MacSpec& mac, const OperandStream& stream, std::size_t begin, std::size_t end) {
  std::vector<Offer> list;
  list.reserve(end - begin);
  bool first = false;
  std::uint32_t cycles = 1;
  for (std::size_t i = begin; i < end; ++i) {
    first |= stream.first_every ? i % stream.first_every == 0 : i == 0;
    const std::uint32_t takes = is_repeated(mac) ? magnitude_of(mac, stream.b[i])
                                : is_serial(mac) ? static_cast<std::uint32_t>(mac.b_width)
                                                 : 1;
    if (takes == 0) continue;
    const bool waits = is_repeated(mac) && takes == 1 && first && !list.empty();
    list.insert(list.end(), cycles, {i, first, false});
    list.back().taken = true;
    cycles = takes + waits;
    first = false;
  }
  return list;
}

/// Entries [begin, end) of the stream, begin where a sum starts; change(node, old, new, settled, n) as Graph::simulate
/// has it. `alike`: the stream is of two leaves, in whole blocks (UnitGraph). The transition into the first cycle of
/// entry `begin` is one of them. Returns the number of cycles.
template <class W, class Change>
std::size_t run_unit(const MacSpec& mac, const OperandStream& stream, std::size_t begin, std::size_t end,
                     const Change& change, bool alike = false) {
  UnitGraph<W> unit(mac, alike);
  Graph<W>& g = unit.graph;
  const std::size_t per_leaf = static_cast<std::size_t>(mac.lanes / leaves(mac)), lanes = unit.a.size() * per_leaf;
  // The sum before: what the registers held in the cycle before `begin`.
  std::size_t from = begin;
  if (begin > 0) {
    do --from;
    while (stream.first_every ? from % stream.first_every != 0 : from != 0);
  }
  const std::vector<Offer> list = offers(mac, stream, from, end);
  const auto before = static_cast<std::size_t>(
      std::find_if(list.begin(), list.end(), [&](const Offer& o) { return o.index >= begin; }) - list.begin());
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t n = std::min(block, (at < before ? before : list.size()) - at);
    const Offer* now = &list[at];
    for (std::size_t i = 0; i < unit.a.size(); ++i) {
      W* a = g.values(unit.a[i]);
      W* b = g.values(unit.b[i]);
      for (std::size_t t = 0; t < n; ++t) {
        a[t] = b[t] = 0;
        for (std::size_t k = 0; k < per_leaf; ++k) {
          const std::size_t code = now[t].index * lanes + i * per_leaf + k;
          a[t] |= W{stream.a[code]} << (4 * k);
          b[t] |= W{stream.b[code]} << (4 * k);
        }
      }
    }
    for (std::size_t i = 0; i < unit.a_scale.size(); ++i)
      for (std::size_t t = 0; t < n; ++t) {
        g.values(unit.a_scale[i])[t] = stream.a_scale[now[t].index * unit.a_scale.size() + i];
        g.values(unit.b_scale[i])[t] = stream.b_scale[now[t].index * unit.a_scale.size() + i];
      }
    if (unit.first >= 0)
      for (std::size_t t = 0; t < n; ++t)
        g.values(unit.first)[t] = (W{now[t].first} | W{now[t].taken} << 1) & ones<W>(g.width(unit.first));
    g.settle(n);
    if (at < before)
      g.skip(n);
    else
      g.simulate(
          n, from == begin && at == 0,
          [&](const auto& node, const W* old, const W* after, bool settled) { change(node, old, after, settled, n); },
          alike);
    at += n;
  }
  return list.size() - before;
}

}  // namespace narrowgauge::power::words
