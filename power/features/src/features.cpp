// SPDX-License-Identifier: Apache-2.0
// L0. What a question costs is in tables: one for each kind of multiplier and pair of operand statistics, in it an
// entry for each number of lanes, with the accumulator's flips bit by bit, so that its width is a look-up too. An entry
// is made when first asked for, from a fixed sample of independent operands that go through the unit's words.
#include "narrowgauge/power/features.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <string>

#include "features_counted.hpp"
#include "features_operands.hpp"
#include "narrowgauge/power/field_error.hpp"

namespace narrowgauge::power {
namespace {

using namespace words;

constexpr std::size_t products = 8192;  // in the sample,
constexpr std::size_t sums = 4;         // least number of sums in the sample
constexpr std::size_t walk = 256;       // of so many cycles
// Units of more leaves than any recorded one are made of leaves that are alike, so that their number costs next to
// nothing; of integers and fp8, and of nvfp4, whose leaves are 16 lanes.
constexpr int most_leaves = 16, most_leaves_nvfp4 = 4;
constexpr std::size_t alike_cycles = 4096, alike_cycles_nvfp4 = 2048;
static_assert(alike_cycles % block == 0 && alike_cycles_nvfp4 % block == 0);
constexpr int max_bits = 128;
constexpr std::size_t max_lanes = 1024;

double& at(Features& f, Feature which) { return f[static_cast<std::size_t>(which)]; }

/// n codes, one from each n-th part of the distribution, in random order.
std::vector<std::uint32_t> draw(const std::vector<double>& p, std::size_t n, std::mt19937_64& engine) {
  std::vector<double> sum(p.size());
  double total = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum[i] = total += p[i];
  std::vector<std::uint32_t> codes(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double u = (static_cast<double>(i) + static_cast<double>(engine() >> 11) * 0x1p-53) / static_cast<double>(n);
    const auto it = std::upper_bound(sum.begin(), sum.end(), u * total);
    codes[i] = static_cast<std::uint32_t>(
        std::min<std::ptrdiff_t>(it - sum.begin(), static_cast<std::ptrdiff_t>(p.size()) - 1));
  }
  for (std::size_t i = n - 1; i > 0; --i) std::swap(codes[i], codes[engine() % (i + 1)]);
  return codes;
}

/// A unit's features; those of an accumulator for every width up to that of its words.
struct Entry {
  Features rest{};
  struct Accumulator {
    std::array<double, max_bits + 1> nets{}, glitches{}, registers{};  ///< [w]: of the w low bits
  };
  std::unique_ptr<Accumulator> accumulator;  ///< integers only
};

using Draw = std::function<std::vector<std::uint32_t>(bool b, std::size_t n, std::mt19937_64&)>;

template <class W>
std::unique_ptr<Entry> make_entry(const MacSpec& mac, const OperandStream& stream, bool alike) {
  auto entry = std::make_unique<Entry>();
  const bool by_bit = mac.accumulator && mac.is(MacFormat::integer);
  std::array<std::array<std::int64_t, max_bits>, 3> bits{};  // nets, glitches, registers
  std::array<std::int64_t, feature_count> counts{};
  const std::size_t cycles = run_unit<W>(
      mac, stream, 0, stream.cycles,
      [&](const typename Graph<W>::Node& node, const W* before, const W* after, bool settled, std::size_t n) {
        const auto& kind = node.kind;
        if ((!kind.counted && !node.loads) || (kind.settled == kind.glitches && !settled)) return;
        const auto nets = static_cast<std::size_t>(kind.settled), glitches = static_cast<std::size_t>(kind.glitches);
        if (by_bit && kind.accumulator) {
          for (int k = 0; k < node.width; ++k) {
            if (!(node.counted >> k & 1)) continue;
            std::int64_t changed = 0;
            for (std::size_t t = 0; t < n; ++t) changed += static_cast<std::int64_t>((before[t] ^ after[t]) >> k & 1);
            const auto bit = static_cast<std::size_t>(k);
            if (nets == glitches) {
              bits[2][bit] += changed;
            } else {
              if (settled) bits[0][bit] += changed;
              bits[1][bit] += settled ? -changed : changed;
            }
          }
          return;
        }
        std::int64_t changed = 0;
        for (std::size_t t = 0; t < n; ++t) {
          const W flipped = (before[t] ^ after[t]) & node.counted;
          changed += std::popcount(static_cast<U64>(flipped));
          if constexpr (sizeof(W) > 8) changed += std::popcount(static_cast<U64>(flipped >> 64));
        }
        changed *= static_cast<std::int64_t>(node.weight);
        if (settled)
          counts[static_cast<std::size_t>(Feature::operand_loads)] += changed * static_cast<std::int64_t>(node.loads);
        if (!kind.counted) return;
        if (settled) counts[nets] += changed;
        if (nets != glitches) counts[glitches] += settled ? -changed : changed;
      },
      alike);
  const auto transitions = static_cast<double>(std::max<std::size_t>(cycles, 2) - 1);
  for (std::size_t i = 0; i < feature_count; ++i) entry->rest[i] = static_cast<double>(counts[i]) / transitions;
  if (by_bit) {
    entry->accumulator = std::make_unique<Entry::Accumulator>();
    auto& a = *entry->accumulator;
    for (std::size_t k = 0; k < max_bits; ++k) {
      a.nets[k + 1] = a.nets[k] + static_cast<double>(bits[0][k]) / transitions;
      a.glitches[k + 1] = a.glitches[k] + static_cast<double>(bits[1][k]) / transitions;
      a.registers[k + 1] = a.registers[k] + static_cast<double>(bits[2][k]) / transitions;
    }
  }
  return entry;
}

/// Everything about one kind of multiplier and one pair of operand statistics.
class Table {
 public:
  Table(const MacSpec& mac, const OperandStatistics& a, const OperandStatistics& b) : a_(a), b_(b) {
    if (mac.is(MacFormat::fp32)) {
      std::mt19937_64 engine(6);
      float_codes(a.distribution, 1, engine);  // refuses histograms
      float_codes(b.distribution, 1, engine);
      return;
    }
    p_a_ = code_probabilities(mac, false, a);
    p_b_ = code_probabilities(mac, true, b);
    cycles_per_mac_ = 0;
    for (std::size_t code = 0; code < p_b_.size(); ++code)
      cycles_per_mac_ += p_b_[code] * (is_repeated(mac) ? magnitude_of(mac, static_cast<std::uint32_t>(code)) : 1);
  }
  ~Table() {
    for (auto& variant : entries_)
      for (auto& entry : variant) delete entry.load();
  }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  double cycles_per_mac() const { return cycles_per_mac_; }

  Features features(const MacSpec& mac) const { return features(mac, entry(mac, variant_of(mac))); }
  /// For tests: of a sample of its own.
  Features features(const MacSpec& mac, bool alike) const { return features(mac, *make(mac, alike)); }

 private:
  static std::size_t variant_of(const MacSpec& mac) {
    if (!mac.accumulator) return 0;
    return (mac.is(MacFormat::integer) && mac.acc_width > 64 ? 2U : 1U) + (mac.pipelined ? 2 : 0);
  }

  static Features features(const MacSpec& mac, const Entry& entry) {
    Features f = entry.rest;
    at(f, Feature::flip_flops) = flip_flops(mac);
    if (entry.accumulator) {
      const auto width = static_cast<std::size_t>(mac.acc_width);
      at(f, Feature::accumulator_nets) += entry.accumulator->nets[width];
      at(f, Feature::accumulator_glitches) += entry.accumulator->glitches[width];
      at(f, Feature::register_flips) += entry.accumulator->registers[width];
    }
    return f;
  }

  const Entry& entry(const MacSpec& mac, std::size_t variant) const {
    auto& slot = entries_[variant][static_cast<std::size_t>(mac.lanes)];
    if (const Entry* made = slot.load(std::memory_order_acquire)) return *made;
    const std::lock_guard lock(mutex_);
    if (!slot.load()) slot.store(make(mac).release(), std::memory_order_release);
    return *slot.load();
  }

  std::unique_ptr<Entry> make(MacSpec mac) const {
    return make(mac, leaves(mac) > (mac.is(MacFormat::nvfp4) ? most_leaves_nvfp4 : most_leaves));
  }

  std::unique_ptr<Entry> make(MacSpec mac, bool alike) const {
    if (mac.is(MacFormat::integer) && mac.accumulator) mac.acc_width = mac.acc_width > 64 ? max_bits : 64;
    std::mt19937_64 engine(5);
    const auto lanes = static_cast<std::size_t>(alike ? 2 * mac.lanes / leaves(mac) : mac.lanes);
    std::size_t cycles = std::max(sums * walk, products / lanes);
    if (alike) cycles = mac.is(MacFormat::nvfp4) ? alike_cycles_nvfp4 : alike_cycles;
    if (is_repeated(mac)) cycles = std::max(walk, static_cast<std::size_t>(products / std::max(1.0, cycles_per_mac_)));
    const std::size_t codes = cycles * lanes;
    const auto operand = [&](const std::vector<double>& p, const OperandStatistics& statistics) {
      return p.empty() ? float_codes(statistics.distribution, codes, engine) : draw(p, codes, engine);
    };
    auto a = operand(p_a_, a_), b = operand(p_b_, b_);
    order_products(mac, walk, a, b);
    const auto scales = [&](const OperandStatistics& statistics) {
      std::vector<std::uint8_t> out;
      if (block_lanes(mac) > 1)
        for (const auto code :
             draw(scale_probabilities(mac.format(), statistics.distribution), codes / block_lanes(mac), engine))
          out.push_back(static_cast<std::uint8_t>(code));
      return out;
    };
    const auto a_scale = scales(a_), b_scale = scales(b_);
    const OperandStream stream{cycles, a, b, a_scale, b_scale, walk};
    return needs_wide(mac) ? make_entry<U128>(mac, stream, alike) : make_entry<U64>(mac, stream, alike);
  }

  OperandStatistics a_, b_;
  std::vector<double> p_a_, p_b_;
  double cycles_per_mac_ = 1;
  mutable std::mutex mutex_;
  mutable std::array<std::array<std::atomic<const Entry*>, max_lanes + 1>, 5> entries_{};
};

/// array, booth, wallace; array in each schedule of the split; serial; repeated additions.
std::size_t kind_of(const MacSpec& mac) {
  if (is_repeated(mac)) return 7;
  if (is_serial(mac)) return 6;
  return is_split(mac) ? 2 + static_cast<std::size_t>(mac.schedule) : static_cast<std::size_t>(mac.structure);
}

/// Where the table of named distributions is kept: by the fields that it depends on.
std::size_t slot_of(const MacSpec& mac, Distribution a, Distribution b) {
  std::size_t key = 0;
  if (mac.is(MacFormat::integer))
    key =
        16 +
        (((kind_of(mac) * 2 + mac.a_signed) * 2 + mac.b_signed) * 16 + static_cast<std::size_t>(mac.a_width - 1)) * 16 +
        static_cast<std::size_t>(mac.b_width - 1);
  else
    key = static_cast<std::size_t>(mac.b_format);
  return key * 9 + static_cast<std::size_t>(a) * 3 + static_cast<std::size_t>(b);
}
constexpr std::size_t slots = (16 + 7 * 4 * 256) * 9;

const Table& named_table(const MacSpec& mac, const OperandStatistics& a, const OperandStatistics& b) {
  static std::array<std::atomic<const Table*>, slots> tables{};  // for good
  static std::mutex mutex;
  auto& slot = tables[slot_of(mac, a.distribution, b.distribution)];
  if (const Table* made = slot.load(std::memory_order_acquire)) return *made;
  const std::lock_guard lock(mutex);
  if (!slot.load()) slot.store(new Table(mac, a, b), std::memory_order_release);
  return *slot.load();
}

/// The last few tables with histograms or additions, of which there is no end.
std::shared_ptr<const Table> kept_table(const MacQuestion& q) {
  struct Entry {
    std::size_t slot;
    double additions;
    OperandStatistics a, b;  // keep the histograms alive, so that their addresses stay theirs
    std::shared_ptr<const Table> table;
  };
  static std::deque<Entry> entries;
  static std::mutex mutex;
  const auto named = [](const OperandStatistics& s) {
    return s.distribution == Distribution::histogram ? Distribution::uniform : s.distribution;
  };
  const auto same = [](const OperandStatistics& x, const OperandStatistics& y) {
    return x.distribution == y.distribution &&
           (x.distribution != Distribution::histogram || x.histogram == y.histogram);
  };
  const std::size_t slot = slot_of(q.mac, named(q.a), named(q.b));
  const std::lock_guard lock(mutex);
  for (const Entry& e : entries)
    if (e.slot == slot && e.additions == q.mac.additions && same(e.a, q.a) && same(e.b, q.b)) return e.table;
  if (entries.size() == 64) entries.pop_front();
  entries.push_back({slot, q.mac.additions, q.a, q.b, std::make_shared<const Table>(q.mac, q.a, q.b)});
  return entries.back().table;
}

void range(const char* field, int value, int low, int high) {
  if (value < low || value > high)
    throw FieldError(field, std::to_string(value),
                     std::to_string(low) + (high > low ? " to " + std::to_string(high) : ""));
}

}  // namespace

Features sampled_features(const MacQuestion& q, bool alike) { return Table(q.mac, q.a, q.b).features(q.mac, alike); }

int flip_flops(const MacSpec& mac) {
  if (is_float(mac.format())) return 2 * code_bits(mac, false) + 2 + 32;  // operands, valid, first, sum
  if (mac.is(MacFormat::mxfp4)) return mac.lanes * 8 + 16 + 32 + (mac.accumulator ? 2 : 0) + (mac.pipelined ? 34 : 0);
  // Elements, sign, valid, first, last and ready as they are offered; the same but ready as taken, busy; sum, flag,
  // valid.
  if (is_repeated(mac)) return 2 * (mac.a_width + mac.b_width) + 5 + 4 + mac.acc_width + 2;
  if (is_split(mac)) {  // operands, sign, valid, first, last; sums with one flag each, valid
    const int sums = mac.schedule == Schedule::sorted ? 1 : 2;
    return mac.a_width + mac.b_width + 4 + sums * (mac.acc_width + 1) + 1;
  }
  if (is_serial(mac))  // a pair, valid and ready as they are offered; the pair as taken, under the sum, steps to go
    return 3 * mac.a_width + 2 * mac.b_width + 2 +
           static_cast<int>(std::bit_width(static_cast<unsigned>(mac.b_width - 1)));
  const int term = term_width(mac);
  int count = mac.lanes * (code_bits(mac, false) + code_bits(mac, true));  // operands
  if (mac.is(MacFormat::nvfp4)) count += 16 * leaves(mac);                 // scales
  if (!mac.accumulator) return count + term + (mac.is(MacFormat::nvfp4));  // the last is NaN
  const int sum = accumulator_width(mac);
  if (mac.is(MacFormat::integer)) return count + 2 + sum + (mac.pipelined ? term + 2 : 0);  // valid, first, and again
  // ng_mac_pe: controls, dot or term register, accumulator and shadow, each with its flags.
  const int flags = mac.is(MacFormat::fp8_e5m2) ? 3 : mac.luq() ? 0 : 1;
  count += 5 + term + flags + 2 * (sum + flags) + mac.luq();  // LUQ's are never set, one is left of them
  return mac.is(MacFormat::nvfp4) ? count + 1 + 13 * leaves(mac) : count;
}

bool has_closed_form(const MacSpec& mac) {
  return mac.luq() || (mac.one_format() && !mac.is(MacFormat::fp4_e2m1) && !mac.is(MacFormat::fp4_e3m0));
}

void check_priceable(const MacSpec& mac) {
  if (!has_closed_form(mac))
    throw FieldError(mac.one_format() ? "format" : "b_format", std::string(name(mac.b_format)),
                     mac.one_format()
                         ? "nvfp4 or mxfp4: no unit of FP4 without block scales has a closed form"
                         : std::string(name(mac.a_format)) +
                               ", as a_format, or int4 and fp4_e3m0: no other unit of two formats has a closed form");
  range("lanes", mac.lanes, 1, 1024);
  if (mac.luq()) {
    range("a_width", mac.a_width, 4, 4);
    if (!mac.a_signed) throw FieldError("a_signed", "false", "true: LUQ's product is of INT4");
    if (!std::has_single_bit(static_cast<unsigned>(mac.lanes)))
      throw FieldError("lanes", std::to_string(mac.lanes), "a power of two for int4 x fp4_e3m0");
    return;
  }
  if (mac.is(MacFormat::integer)) {
    range("a_width", mac.a_width, 1, 16);
    range("b_width", mac.b_width, 1, has_magnitudes(mac) ? 15 : 16);
    if (mac.accumulator) range("acc_width", mac.acc_width, term_width(mac), 128);
    if (is_serial(mac)) {
      range("lanes", mac.lanes, 1, 1);
      range("b_width", mac.b_width, 2, 16);
      if (mac.accumulator) throw FieldError("accumulator", "true", "false: structure serial is a multiplier alone");
    }
    if (!has_magnitudes(mac)) return;
    if (is_repeated(mac)) {
      if (mac.schedule != Schedule::plain && mac.schedule != Schedule::sorted)
        throw FieldError("schedule", "dual or muxed", "sorted (or plain): structure none has one sum");
      if (!(mac.additions > 0 && mac.additions <= 32768))
        throw FieldError("additions", std::to_string(mac.additions), "above 0, at most 32768");
    } else if (mac.structure != Structure::array)
      throw FieldError("structure", "booth or wallace", "array with a schedule");
    range("lanes", mac.lanes, 1, 1);
    if (mac.a_signed) throw FieldError("a_signed", "true", "false with a schedule: the split needs a >= 0");
    if (!mac.accumulator) throw FieldError("accumulator", "false", "true with a schedule");
    return;
  }
  if (mac.is(MacFormat::nvfp4) && mac.lanes % 16 != 0)
    throw FieldError("lanes", std::to_string(mac.lanes), "a multiple of 16 for nvfp4, its block");
  if (is_float(mac.format())) {
    range("lanes", mac.lanes, 1, 1);
    if (!mac.accumulator)
      throw FieldError("accumulator", "false", "true: bf16, fp16, tf32 and fp32 are priced with their sum");
  }
  if (mac.is(MacFormat::mxfp4)) range("lanes", mac.lanes, 32, 32);
}

Features features(const MacQuestion& question) {
  check_priceable(question.mac);
  if (!is_repeated(question.mac) && question.a.distribution != Distribution::histogram &&
      question.b.distribution != Distribution::histogram)
    return named_table(question.mac, question.a, question.b).features(question.mac);
  return kept_table(question)->features(question.mac);
}

double cycles_per_mac(const MacQuestion& question) {
  if (is_repeated(question.mac)) return kept_table(question)->cycles_per_mac();
  return is_serial(question.mac) ? question.mac.b_width : 1.0 / question.mac.lanes;
}

}  // namespace narrowgauge::power
