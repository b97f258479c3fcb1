// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/tile/ng_tile_sequencer.sv.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "narrowgauge/tile/tile_regs.hpp"
#include "systemc/tile/tile_params.hpp"

namespace narrowgauge::systemc {

/// look() gives the outputs of this cycle that depend on inputs, beat() and busy() those that are registers; step() is
/// the clock edge.
template <TileParams params>
class TileSequencerCore {
 public:
  struct In {
    bool stop = false, late = false;
    const TileCompute* cmd = nullptr;  ///< nullptr: none
    bool a_complete = false, b_complete = false;
    int a_images = 0, b_images = 0;
    bool array_ready = false;
  };
  struct Out {
    bool cmd_ready = false;
    bool read = false;  ///< both buffers
    int a_addr = 0, b_addr = 0;
    bool a_release = false, b_release = false;
    bool job_valid = false;
    TileJob job{};
    bool starved = false, compute_error = false, mismatch_error = false;
  };
  /// The beat at the array, but for its operands.
  struct Beat {
    bool valid = false, first = false, last = false;
    std::uint8_t a_fmt = 0, b_fmt = 0;
    std::uint64_t row_en = 0, col_en = 0;
  };

  void reset() { *this = {}; }

  const Beat& beat() const { return beat_; }
  bool busy() const { return valid_ || beat_.valid; }

  Out look(const In& in) const {
    Out out{.cmd_ready = checked() && !valid_, .a_addr = a_addr_, .b_addr = b_addr_};
    if (!valid_) return out;
    const bool last_beat = ends(in.late);
    const bool a_there = a_addr_ < in.a_images, b_there = b_addr_ < in.b_images;
    const bool complete = (in.a_complete || (cmd_.part_a && !cmd_.release_a)) && in.b_complete;
    const bool there = a_there && b_there && (!last_beat || complete);
    const bool wrong = beyond_ || (in.a_complete && (cmd_.part_a ? !a_there : in.a_images != a_images_)) ||
                       (in.b_complete && in.b_images != b_images_);
    out.starved = !bad_ && !wrong && !there;
    out.compute_error = !in.stop && bad_;
    out.mismatch_error = !in.stop && !bad_ && wrong;
    if (in.stop || bad_ || wrong || !there || (beat_.valid && !in.array_ready)) return out;
    out.read = true;
    if (!k_last(in.late)) return out;
    out.job_valid = cmd_.last;
    out.job = {.scale = cmd_.scale,
               .bf16 = cmd_.bf16,
               .irq = cmd_.irq,
               .final_tile = i_last() && j_last(),
               .results = cmd_.results,
               .relu = cmd_.relu,
               .tensor_scale = cmd_.tensor_scale,
               .row_end = j_last(),
               .integer = cmd_.integer};
    out.cmd_ready = checked() && last_beat;
    out.a_release = last_beat && cmd_.release_a;
    out.b_release = last_beat && cmd_.release_b;
    return out;
  }

  void step(const In& in, const Out& out) {
    const bool go = out.read, end = go && ends(in.late), take = in.cmd && out.cmd_ready && !in.stop;
    if (go) {
      beat_ = {.valid = true,
               .first = cmd_.first && k_ == 0,
               .last = cmd_.last && k_last(in.late),
               .a_fmt = cmd_.a_fmt,
               .b_fmt = cmd_.b_fmt,
               .row_en = i_last() ? mask(cmd_.rows) : mask(params.rows),
               .col_en = j_last() ? mask(cmd_.cols) : mask(params.cols)};
      advance(in.late);
    } else {
      beat_.valid = beat_.valid && !in.array_ready;
    }
    valid_ = take || (valid_ && !end && !in.stop);
    seen_ = in.cmd && !take ? std::min(seen_ + 1, checks) : 0;
    if (take) accept(*in.cmd);
  }

 private:
  static constexpr std::uint64_t mask(std::uint32_t ones) { return ones == 0 ? 0 : ~std::uint64_t{0} >> (64 - ones); }
  bool i_last() const { return i_ == cmd_.a_panels - 1; }
  bool j_last() const { return j_ == cmd_.b_panels - 1; }
  bool k_last(bool late) const { return late || k_ == cmd_.beats - 1; }
  bool ends(bool late) const { return k_last(late) && j_last() && i_last(); }
  bool checked() const { return seen_ == checks; }

  /// To the next pair of images; late, to that of the next tile.
  void advance(bool late) {
    const int on = late ? static_cast<int>(cmd_.beats - k_) : 1;
    const bool k_end = k_last(late), j_end = k_end && j_last(), i_end = j_end && i_last();
    k_ = k_end ? 0 : k_ + 1;
    if (k_end) j_ = j_end ? 0 : j_ + 1;
    if (j_end) i_ = i_end ? 0 : i_ + 1;
    b_addr_ = j_end ? 0 : b_addr_ + on;
    if (i_end && !(cmd_.part_a && !cmd_.release_a)) {
      a_addr_ = a_panel_ = 0;
    } else if (j_end) {
      a_panel_ = a_addr_ += on;
    } else if (k_end) {
      a_addr_ = a_panel_;
    } else {
      ++a_addr_;
    }
  }

  /// A command enters; what can be checked without the banks is.
  void accept(const TileCompute& cmd) {
    constexpr MacArrayParams array = params.array();
    const auto is = [](std::uint8_t fmt, tile_regs::TileElement element) {
      return fmt == static_cast<unsigned>(element);
    };
    using enum tile_regs::TileElement;
    const auto fp8 = [&](std::uint8_t fmt) {
      return (array.has_e4m3() && is(fmt, e4m3)) || (array.has_e5m2() && is(fmt, e5m2));
    };
    const bool fp4 = array.has_fp4() && is(cmd.a_fmt, nvfp4) && is(cmd.b_fmt, nvfp4);
    const bool both_luq = (array.has_luq() || array.has_int8()) && is(cmd.a_fmt, luq) && is(cmd.b_fmt, luq);
    const bool format_bad = !(fp8(cmd.a_fmt) && fp8(cmd.b_fmt)) && !fp4 && !both_luq;
    const bool results_bad =
        params.requantize && ((cmd.results & ~params.format_set) != 0 || std::popcount(unsigned{cmd.results}) > 1);
    const bool shape_bad = cmd.a_panels == 0 || cmd.b_panels == 0 || cmd.beats == 0 || cmd.rows == 0 ||
                           cmd.rows > params.rows || cmd.cols == 0 || cmd.cols > params.cols;
    sum_ = (cmd.first ? 0 : sum_) + cmd.beats;
    const bool sum_bad = cmd.first == open_ || sum_ > params.max_beats ||
                         (!(cmd.first && cmd.last) && (cmd.a_panels != 1 || cmd.b_panels != 1));
    bad_ = format_bad || results_bad || shape_bad || sum_bad;
    a_images_ = std::int64_t{cmd.a_panels} * cmd.beats;
    b_images_ = std::int64_t{cmd.b_panels} * cmd.beats;
    beyond_ = a_images_ > params.a_depth || b_images_ > params.b_depth;
    open_ = !cmd.last;
    if (cmd.first || !cmd.part_a) a_addr_ = a_panel_ = 0;
    cmd_ = cmd;
  }

  static constexpr int checks = std::popcount(params.command_cuts);
  int seen_ = 0;  // cycles of the command at the head of the queue, `checks` at most
  bool valid_ = false, bad_ = false;
  bool beyond_ = false;   // more images than a bank can hold
  bool open_ = false;     // a sum goes on in the array ...
  std::int64_t sum_ = 0;  // ... of so many beats
  TileCompute cmd_;
  std::int64_t a_images_ = 0, b_images_ = 0;
  std::uint32_t i_ = 0, j_ = 0, k_ = 0;
  int a_addr_ = 0, a_panel_ = 0, b_addr_ = 0;
  Beat beat_;
};

}  // namespace narrowgauge::systemc
