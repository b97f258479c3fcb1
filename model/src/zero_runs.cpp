// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/codec/zero_runs.hpp"

#include <algorithm>

namespace narrowgauge {

ZeroRunSlots free_slots(std::span<const std::uint64_t, 256> counts) {
  ZeroRunSlots slots;
  for (unsigned s = 1; s < 256 && slots.size() < zero_run_sizes; ++s)
    if (counts[s] == 0) slots.push_back(static_cast<std::uint8_t>(s));
  return slots;
}

std::vector<std::uint8_t> shorten_runs(std::span<const std::uint8_t> values, std::span<const std::uint8_t> slots) {
  std::vector<std::uint8_t> tokens;
  std::size_t run = 0;
  const auto end_run = [&] {
    for (std::size_t k = slots.size(); k-- > 0;)
      for (; run >= std::size_t{2} << k; run -= std::size_t{2} << k) tokens.push_back(slots[k]);
    tokens.insert(tokens.end(), run, 0);
    run = 0;
  };
  for (const std::uint8_t value : values) {
    if (value == 0) {
      if (++run == longest_zero_run) end_run();
      continue;
    }
    end_run();
    tokens.push_back(value);
  }
  end_run();
  return tokens;
}

std::optional<std::vector<std::uint8_t>> expand_runs(std::span<const std::uint8_t> tokens,
                                                     std::span<const std::uint8_t> slots, std::size_t most) {
  std::vector<std::uint8_t> values;
  for (const std::uint8_t token : tokens) {
    const auto slot = std::find(slots.begin(), slots.end(), token);
    const std::size_t count = slot == slots.end() ? 1 : std::size_t{2} << (slot - slots.begin());
    if (count > most - values.size()) return {};
    values.insert(values.end(), count, slot == slots.end() ? token : std::uint8_t{0});
  }
  return values;
}

}  // namespace narrowgauge
