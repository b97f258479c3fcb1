// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/mac/ng_mac_array.sv: its pipeline, its handshakes, and its results bit for bit.
//
// What numbers mean comes from the golden functions: the values of codes from fixed_of and fp8_product, block scales
// from nvfp4_scale, LUQ's products from int4_value and luq_value, special operands from dot_fp8, rounding from
// fixed_to_fp32_bits; terms and sums of MX from mx_term and mx_add. Between these the sums are integers. Codes become
// values once, when a beat is accepted, not once a cell.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "narrowgauge/luq/mul_luq.hpp"
#include "narrowgauge/mac/dot_fp8.hpp"
#include "narrowgauge/mac/dot_nvfp4.hpp"
#include "narrowgauge/mac/fixed_to_fp32.hpp"
#include "narrowgauge/mac/mxfp4_mac.hpp"
#include "narrowgauge/quant/format_set.hpp"
#include "narrowgauge/sparse/metadata.hpp"
#include "systemc/mac/exact_acc_core.hpp"
#include "systemc/pipe_core.hpp"
#include "systemc/prim/fifo2_core.hpp"

namespace narrowgauge::systemc {

/// ceil(log2 n), n >= 1: $clog2.
constexpr int ceil_log2(std::uint64_t n) { return std::bit_width(n - 1); }

/// Parameters of ng_mac_array, and what it derives from them.
struct MacArrayParams {
  int rows = 8, cols = 8, lanes = 16;
  unsigned format_set = narrowgauge::format_set::all;
  std::int64_t max_beats = 65536;
  unsigned cell_cuts = 0, convert_cuts = 0;  ///< masks
  bool sparse = false;                       ///< A is 2:4 sparse
  bool mx = false;                           ///< MX formats: E8M0 scales of 32 elements, sums in FP32

  constexpr bool has_fp4() const { return (format_set & narrowgauge::format_set::nvfp4) != 0; }
  constexpr bool has_e4m3() const { return (format_set & narrowgauge::format_set::e4m3) != 0; }
  constexpr bool has_e5m2() const { return (format_set & narrowgauge::format_set::e5m2) != 0; }
  constexpr bool has_fp8() const { return has_e4m3() || has_e5m2(); }
  constexpr bool has_luq() const { return (format_set & narrowgauge::format_set::luq) != 0 && !mx; }
  constexpr bool has_int8() const { return (format_set & narrowgauge::format_set::luq) != 0 && mx; }
  constexpr bool has_bytes() const { return has_fp8() || has_int8(); }
  constexpr int elem_width() const { return static_cast<int>(narrowgauge::format_set::element_bits(format_set, mx)); }
  constexpr bool has_scale() const { return has_fp4() || mx; }
  constexpr int blocks() const { return has_fp4() && !mx ? lanes / 16 : 1; }
  /// Elements of a column in a beat; of a row with `sparse` a half of them is stored.
  constexpr int b_lanes() const { return sparse ? 2 * lanes : lanes; }
  /// Parts of a row of A that have something beside their elements, and bytes of it: the scale, if NVFP4 is in the set,
  /// then the metadata of a sparse one.
  constexpr int a_blocks() const { return sparse ? lanes / 16 : blocks(); }
  constexpr int a_block_bytes() const { return !sparse ? 1 : has_fp4() ? 5 : 4; }
  /// Registers up to the accumulators: of the cuts in the cells, "significand" is the place of one that is there
  /// anyway.
  constexpr int stages() const { return (has_scale() ? 3 : 2) + std::popcount(cell_cuts & ~2U); }
  constexpr int lsb_exp() const {
    return has_e5m2() ? fp8_lsb_exp : has_fp4() ? nvfp4_lsb_exp : has_e4m3() ? fp8_lsb_exp_e4m3 : 0;
  }
  constexpr int term_width() const {
    const int fp4 = has_fp4() ? 48 + ceil_log2(static_cast<unsigned>(blocks())) + nvfp4_lsb_exp - lsb_exp() : 0;
    const int e4m3 = has_e4m3() ? 37 + ceil_log2(static_cast<unsigned>(lanes)) + fp8_lsb_exp_e4m3 - lsb_exp() : 0;
    const int e5m2 = has_e5m2() ? 65 + ceil_log2(static_cast<unsigned>(lanes)) : 0;
    const int luq = has_luq() ? 11 + ceil_log2(static_cast<unsigned>(lanes)) - lsb_exp() : 0;
    return std::max({fp4, e4m3, e5m2, luq});
  }
  constexpr int acc_width() const { return term_width() + ceil_log2(static_cast<std::uint64_t>(max_beats)); }
  /// MXFP4 and MXINT8 have a multiplier of their own; E4M3 and E5M2 share one.
  constexpr bool one_mx_multiplier() const {
    return format_set == narrowgauge::format_set::nvfp4 || format_set == narrowgauge::format_set::luq ||
           (format_set & ~narrowgauge::format_set::fp8) == 0;
  }
  /// The array can be built.
  constexpr bool valid() const {
    return rows >= 1 && cols >= 1 && format_set >= 1 && format_set <= narrowgauge::format_set::all && lanes >= 2 &&
           max_beats >= 1 && cell_cuts <= (has_fp4() && !mx ? 15U : 1U) && convert_cuts <= (mx ? 0U : 3U) &&
           (!mx || (lanes == 32 && !sparse && one_mx_multiplier())) && ((!has_fp4() && !sparse) || lanes % 16 == 0) &&
           (!has_luq() || std::has_single_bit(static_cast<unsigned>(lanes)));
  }
};

/// One beat of operands. The four pointers are images of the ports, lowest byte first; scales are read by NVFP4 beats
/// only, and by all of MX.
struct MacArrayBeat {
  bool first = false, last = false;
  std::uint8_t a_fmt = 0, b_fmt = 0;  ///< OperandFormat::code
  std::uint64_t row_en = 0, col_en = 0;
  const std::uint8_t *a = nullptr, *b = nullptr, *a_scale = nullptr, *b_scale = nullptr;
};

namespace detail {

/// The two codes of a byte as integers.
using CodePairs = std::array<std::array<std::int16_t, 2>, 256>;
constexpr CodePairs code_pairs(auto value) {
  CodePairs pairs{};
  for (unsigned byte = 0; byte < 256; ++byte)
    for (unsigned i = 0; i < 2; ++i) pairs[byte][i] = static_cast<std::int16_t>(value(byte >> 4 * i & 15));
  return pairs;
}
inline constexpr CodePairs e2m1_pairs =
    code_pairs([](unsigned code) { return fixed_of(desc(Format::e2m1), code); });  // in units of 1/2
inline constexpr CodePairs int4_pairs = code_pairs([](unsigned code) { return int4_value(code); });
inline constexpr CodePairs luq_pairs = code_pairs([](unsigned code) { return luq_value(code); });

/// What a beat is computed as.
enum class BeatKind : std::uint8_t { fp8, nvfp4, luq };

/// FP8 codes as integers in units of 2^lsb_exp, and which of them are NaN or infinite.
struct Fp8Values {
  int lsb_exp;
  std::array<std::int64_t, 256> value{};
  std::array<bool, 256> special{};

  constexpr Fp8Values(Format format, int product_lsb_exp) : lsb_exp(product_lsb_exp / 2) {
    const FormatDesc& f = desc(format);
    const auto one = static_cast<std::uint8_t>(f.bias << f.man_bits);
    for (unsigned code = 0; code < 256; ++code) {
      const Fp8Sum product = fp8_product(static_cast<std::uint8_t>(code), one, format, format, product_lsb_exp);
      value[code] = static_cast<std::int64_t>(product.value / (std::int64_t{1} << -lsb_exp));
      special[code] = product.flags != SumFlags{};
    }
  }
};
inline constexpr Fp8Values fp8_values[] = {{Format::e4m3, fp8_lsb_exp_e4m3}, {Format::e5m2, fp8_lsb_exp}};

/// Sum of the products of `count` integers, which Sum holds exactly.
template <class Sum, int count, class T>
Sum dot(const T* a, const T* b) {
  Sum sum = 0;
  for (int i = 0; i < count; ++i) sum += static_cast<Sum>(a[i]) * b[i];
  return sum;
}

/// Sum of MX terms, FP32 codes, in their order.
class Fp32Acc {
 public:
  using Value = __int128;  ///< as that of an exact sum, which a term comes from
  void reset() { sum_ = 0; }
  std::uint32_t acc() const { return sum_; }
  void step(bool first, std::uint32_t term) { sum_ = mx_add(first ? 0 : sum_, term); }

 private:
  std::uint32_t sum_ = 0;
};

}  // namespace detail

/// Outputs are functions of the state; step() is a clock edge. Up to 64 rows and columns.
template <MacArrayParams params>
class MacArrayCore {
  static_assert(params.valid(), "MacArrayCore: the parameters are not those of an array that can be built");
  static_assert(params.rows <= 64 && params.cols <= 64, "MacArrayCore: rows and cols must be at most 64");

 public:
  static constexpr int rows = params.rows, cols = params.cols, lanes = params.lanes, blocks = params.blocks();

  /// A row of results: FP32 codes.
  struct Row {
    std::array<std::uint32_t, cols> data{};
    bool last = false;
  };

  void reset() {
    for (Slot& slot : slots_) slot.valid = false;
    for (Acc& acc : accs_) acc.reset();
    done_ = drain_ = error_ = false;
    row_ = 0;
    converted_.reset();
    queue_.reset();
  }

  bool ready() const { return !(slots_[last_stage()].valid && done_) || shadow_en(); }
  bool valid() const { return queue_.valid(); }
  const std::array<std::uint32_t, cols>& data() const { return queue_.data().data; }
  bool last() const { return queue_.data().last; }
  /// The beat that was taken at the last edge has illegal metadata.
  bool error() const { return error_; }

  /// `beat`: the beat offered, nullptr if valid_i is low; it is taken if ready(). `ready`: ready_i.
  void step(const MacArrayBeat* beat, bool ready) {
    const bool move = this->ready(), shadow = shadow_en(), row_leaves = drain_ && queue_.ready();
    const std::size_t leaving = last_stage();

    std::optional<Row> row;
    if (queue_.ready()) row = converted_.step(row_leaves ? std::optional(result_row()) : std::nullopt);
    queue_.step(row ? &*row : nullptr, ready);
    drain_ = shadow || (drain_ && !(row_leaves && row_ == rows - 1));
    if (row_leaves) row_ = row_ == rows - 1 ? 0 : row_ + 1;

    if (shadow) shadow_ = accs_;
    done_ = done_ && !shadow;
    error_ = false;
    if (!move) return;
    const Slot& slot = slots_[leaving];
    if (slot.valid) {
      accumulate(slot);
      done_ |= slot.last;
    }
    first_stage_ = leaving;  // the ring turns: the slot that became free takes the new beat
    slots_[leaving].valid = beat != nullptr;
    if (beat) error_ = load(slots_[leaving], *beat);
  }

 private:
  using Acc = std::conditional_t<params.mx, detail::Fp32Acc, ExactAccCore<params.acc_width()>>;
  using Value = typename Acc::Value;
  using Fp8Value = std::conditional_t<params.has_e5m2(), std::int64_t, std::int32_t>;

  static constexpr int b_lanes = params.b_lanes();

  /// One side of a beat, decoded. Entries of vectors that are not enabled are stale. Numbers of what is 2:4 sparse are
  /// spread over the places that metadata name, zeros between.
  template <int vectors, bool compressed>
  struct Side {
    static constexpr int length = b_lanes;  // of a vector
    std::uint64_t enabled = 0;
    bool e5m2 = false;
    alignas(16) std::array<std::int16_t, params.has_fp4() || params.has_luq() ? vectors * length : 0> fp4;
    alignas(16) std::array<Fp8Value, params.has_bytes() ? vectors * length : 0> fp8;
    std::array<std::uint8_t, params.has_bytes() ? vectors * length : 0>
        codes;  // for special operands, as they are stored
    std::array<bool, vectors> special;
    std::array<std::uint8_t, vectors * blocks> scales;
    std::array<std::uint8_t, compressed ? vectors * lanes : 0> places;  // of stored elements in their groups of four
    std::uint64_t illegal = 0;                                          // vectors with illegal metadata

    /// `luq`: LUQ's codes on this side. Returns whether there are illegal metadata.
    bool load(std::uint64_t enable, std::uint8_t fmt, detail::BeatKind kind, const detail::CodePairs& luq,
              const std::uint8_t* image, const std::uint8_t* scale) {
      enabled = enable;
      illegal = 0;
      // With one FP8 format there is no choice.
      e5m2 = params.has_e5m2() && (!params.has_e4m3() || (fmt & 1));
      for (int v = 0; v < vectors; ++v) {
        if (!(enable >> v & 1)) continue;
        if constexpr (compressed) load_places(v, scale);
        if constexpr (params.mx) scales[static_cast<std::size_t>(v)] = scale[v];
        if (kind == detail::BeatKind::nvfp4) {
          load_codes(v, detail::e2m1_pairs, image);
          constexpr int pitch = compressed ? params.a_block_bytes() : 1;
          for (int block = v * blocks; block < (v + 1) * blocks; ++block)
            scales[static_cast<std::size_t>(block)] = scale[block * pitch];
        } else if (kind == detail::BeatKind::luq) {
          load_codes(v, luq, image);
        } else {
          load_fp8(v, image);
        }
      }
      return illegal != 0;
    }

    /// Where element `lane` of vector `v` is multiplied.
    int place(int v, int lane) const {
      if constexpr (compressed) return lane / 2 * 4 + places[static_cast<std::size_t>(v * lanes + lane)];
      return lane;
    }

   private:
    static constexpr int stored = compressed ? lanes : length;  ///< elements of a vector in an image

    void load_places(int v, const std::uint8_t* beside) {
      for (int group = 0; group < lanes / 2; ++group) {
        const int block = v * params.a_blocks() + group / 8;
        const std::uint8_t* metadata = beside + (block + 1) * params.a_block_bytes() - 4;
        const unsigned nibble = metadata[group % 8 / 2] >> group % 2 * 4 & 15U;
        illegal |= std::uint64_t{!is_metadata(nibble)} << v;
        std::uint8_t* at = places.data() + v * lanes + group * 2;
        at[0] = nibble & 3;
        at[1] = static_cast<std::uint8_t>(nibble >> 2);
      }
    }
    void load_codes(int v, const detail::CodePairs& pairs, const std::uint8_t* image) {
      if constexpr (params.has_fp4() || params.has_luq()) {
        std::int16_t* out = fp4.data() + v * length;
        if constexpr (compressed) std::fill_n(out, length, std::int16_t{0});
        if constexpr (params.elem_width() == 4) {
          for (int i = 0; i < stored / 2; ++i) {
            const auto& pair = pairs[image[v * stored / 2 + i]];
            if constexpr (compressed) {
              out[place(v, 2 * i)] = pair[0];
              out[place(v, 2 * i + 1)] = pair[1];
            } else {
              std::memcpy(out + 2 * i, pair.data(), 2 * sizeof *out);
            }
          }
        } else {
          for (int i = 0; i < stored; ++i) out[place(v, i)] = pairs[image[v * stored + i] & 15][0];
        }
      }
    }
    void load_fp8(int v, const std::uint8_t* image) {
      if constexpr (params.has_int8()) {
        for (int i = 0; i < stored; ++i)
          fp8[static_cast<std::size_t>(v * length + i)] = static_cast<std::int8_t>(image[v * stored + i]);
      } else if constexpr (params.has_fp8()) {
        const detail::Fp8Values& values = detail::fp8_values[e5m2];
        Fp8Value* out = fp8.data() + v * length;
        if constexpr (compressed) std::fill_n(out, length, Fp8Value{0});
        bool any = false;
        for (int i = 0; i < stored; ++i) {
          const std::uint8_t code = image[v * stored + i];
          codes[static_cast<std::size_t>(v * stored + i)] = code;
          out[place(v, i)] = static_cast<Fp8Value>(values.value[code]);
          any |= values.special[code];
        }
        special[static_cast<std::size_t>(v)] = any;
      }
    }
  };

  /// A stage of the pipeline up to the accumulators. All of them move together.
  struct Slot {
    bool valid = false, first = false, last = false;
    detail::BeatKind kind = detail::BeatKind::fp8;
    Side<rows, params.sparse> a;
    Side<cols, false> b;
  };

  struct Term {
    Value value = 0;
    SumFlags flags;
  };

  std::size_t last_stage() const { return (first_stage_ + slots_.size() - 1) % slots_.size(); }

  /// A finished job moves to the shadow registers.
  bool shadow_en() const { return done_ && (!drain_ || (queue_.ready() && row_ == rows - 1)); }

  /// Returns whether there are illegal metadata.
  static bool load(Slot& slot, const MacArrayBeat& beat) {
    slot.first = beat.first;
    slot.last = beat.last;
    // Of the formats of 4 bits, of those of 8 bits, there may be no choice.
    const bool narrow = !params.has_bytes() || ((params.has_fp4() || params.has_luq()) && (beat.a_fmt & 2));
    slot.kind = !narrow                                                       ? detail::BeatKind::fp8
                : params.has_luq() && (!params.has_fp4() || (beat.a_fmt & 1)) ? detail::BeatKind::luq
                                                                              : detail::BeatKind::nvfp4;
    const bool illegal = slot.a.load(beat.row_en, beat.a_fmt, slot.kind, detail::int4_pairs, beat.a, beat.a_scale);
    slot.b.load(beat.col_en, beat.b_fmt, slot.kind, detail::luq_pairs, beat.b, beat.b_scale);
    return illegal;
  }

  void accumulate(const Slot& slot) {
    Acc* acc = accs_.data();
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < cols; ++c, ++acc) {
        const bool active = (slot.a.enabled >> r) & (slot.b.enabled >> c) & 1;
        if constexpr (params.mx) {
          acc->step(slot.first, active ? mx_term_of(slot, r, c) : 0);
        } else {
          const Term term = !active                   ? Term{}
                            : slot.a.illegal >> r & 1 ? Term{.flags = {.nan = true}}
                                                      : term_of(slot, r, c);
          acc->step(true, slot.first, term.value, term.flags);
        }
      }
    }
  }

  static Term term_of(const Slot& slot, int r, int c) {
    switch (slot.kind) {
      case detail::BeatKind::nvfp4:
        return fp4_term(slot, r, c);
      case detail::BeatKind::luq:
        return luq_term(slot, r, c);
      case detail::BeatKind::fp8:
        break;
    }
    return fp8_term(slot, r, c);
  }

  /// FP32 code of a block of MX.
  static std::uint32_t mx_term_of(const Slot& slot, int r, int c) {
    const std::uint8_t a_scale = slot.a.scales[static_cast<std::size_t>(r)],
                       b_scale = slot.b.scales[static_cast<std::size_t>(c)];
    if constexpr (params.has_fp4()) {
      const auto dot = detail::dot<std::int32_t, lanes>(slot.a.fp4.data() + r * lanes, slot.b.fp4.data() + c * lanes);
      return mx_term(dot, -2, {}, a_scale, b_scale);
    }
    if constexpr (params.has_int8()) {
      const auto dot = detail::dot<std::int32_t, lanes>(slot.a.fp8.data() + r * lanes, slot.b.fp8.data() + c * lanes);
      return mx_term(dot, -12, {}, a_scale, b_scale);
    }
    const Term block = fp8_term(slot, r, c);
    return mx_term(block.value, params.lsb_exp(), block.flags, a_scale, b_scale);
  }

  static Term luq_term(const Slot& slot, int r, int c) {
    if constexpr (params.has_luq()) {
      const auto sum =
          detail::dot<std::int32_t, b_lanes>(slot.a.fp4.data() + r * b_lanes, slot.b.fp4.data() + c * b_lanes);
      return {static_cast<Value>(sum) << -params.lsb_exp(), {}};
    }
    return {};
  }

  static Term fp4_term(const Slot& slot, int r, int c) {
    Term sum;
    if constexpr (params.has_fp4()) {
      for (int i = 0; i < blocks; ++i) {
        const int a = r * blocks + i, b = c * blocks + i;
        constexpr int size = params.sparse ? 32 : 16;
        const auto dot = detail::dot<std::int32_t, size>(slot.a.fp4.data() + a * size, slot.b.fp4.data() + b * size);
        const Nvfp4Term term =
            nvfp4_scale(dot, slot.a.scales[static_cast<std::size_t>(a)], slot.b.scales[static_cast<std::size_t>(b)]);
        sum.value += static_cast<Value>(term.value) << (nvfp4_lsb_exp - params.lsb_exp());
        sum.flags.nan |= term.nan;
      }
    }
    return sum;
  }

  static Term fp8_term(const Slot& slot, int r, int c) {
    if constexpr (params.has_fp8()) {
      if (slot.a.special[static_cast<std::size_t>(r)] || slot.b.special[static_cast<std::size_t>(c)]) [[unlikely]] {
        const auto format = [](bool e5m2) { return e5m2 ? Format::e5m2 : Format::e4m3; };
        std::array<std::uint8_t, lanes> met;  // codes of the column
        for (int i = 0; i < lanes; ++i)
          met[static_cast<std::size_t>(i)] = slot.b.codes[static_cast<std::size_t>(c * b_lanes + slot.a.place(r, i))];
        const Fp8Sum sum = dot_fp8(std::span(slot.a.codes).subspan(static_cast<std::size_t>(r * lanes), lanes),
                                   std::span(met), format(slot.a.e5m2), format(slot.b.e5m2), params.lsb_exp());
        return {static_cast<Value>(sum.value), sum.flags};
      }
      const Fp8Value *x = slot.a.fp8.data() + r * b_lanes, *y = slot.b.fp8.data() + c * b_lanes;
      const int unit = detail::fp8_values[slot.a.e5m2].lsb_exp + detail::fp8_values[slot.b.e5m2].lsb_exp;
      // Only products of two E5M2 numbers need more than 64 bits.
      const Value sum = params.has_e5m2() && slot.a.e5m2 && slot.b.e5m2
                            ? detail::dot<Value, b_lanes>(x, y)
                            : static_cast<Value>(detail::dot<std::int64_t, b_lanes>(x, y));
      return {sum << (unit - params.lsb_exp()), {}};
    }
    return {};
  }

  Row result_row() const {
    Row row;
    for (int c = 0; c < cols; ++c) {
      const Acc& acc = shadow_[static_cast<std::size_t>(row_ * cols + c)];
      std::uint32_t& code = row.data[static_cast<std::size_t>(c)];
      if constexpr (params.mx)
        code = acc.acc();
      else
        code = fixed_to_fp32_bits(acc.acc(), params.lsb_exp(), acc.flags());
    }
    row.last = row_ == rows - 1;
    return row;
  }

  std::array<Slot, static_cast<std::size_t>(params.stages())> slots_;
  std::size_t first_stage_ = 0;  // the slot that is stage 1
  std::array<Acc, static_cast<std::size_t>(rows) * cols> accs_, shadow_;
  bool error_ = false;
  bool done_ = false;                                            // the accumulators hold a finished job
  bool drain_ = false;                                           // the shadow registers hold rows that have not left
  int row_ = 0;                                                  // the shadow row that leaves next
  PipeCore<std::popcount(params.convert_cuts), Row> converted_;  // rows in the stages of the conversion
  Fifo2Core<Row> queue_;
};

}  // namespace narrowgauge::systemc
