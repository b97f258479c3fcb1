// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/tile/ng_tile_loader.sv.
#pragma once

#include <cstdint>

#include "systemc/tile/tile_params.hpp"

namespace narrowgauge::systemc {

/// look() gives the outputs of this cycle, step() is the clock edge.
/// `load_cuts`: LoadCuts, a mask.
template <int a_depth, int b_depth, unsigned load_cuts>
class TileLoaderCore {
 public:
  struct In {
    bool stop = false;
    const TileLoad* cmd = nullptr;  ///< nullptr: none
    bool valid = false, last = false;
    bool a_open = false, a_last_word = false;
    int a_filled = 0;
    bool b_open = false, b_last_word = false;
    int b_filled = 0;
  };
  struct Out {
    bool ready = false, a_write = false, b_write = false, close = false, done = false;
    bool pending = false, fits = false;  ///< a load may go on, and fits: for step()
    bool load_error = false, short_error = false, long_error = false;
  };

  void reset() {
    started_ = refused_ = false;
    image_ = 0;
  }

  Out look(const In& in) const {
    Out out{.ready = in.stop};
    if (!in.cmd || in.stop || !(in.cmd->operand ? in.b_open : in.a_open)) return out;
    out.pending = true;
    const TileLoad& cmd = *in.cmd;
    const auto filled = static_cast<std::uint32_t>(cmd.operand ? in.b_filled : in.a_filled);
    const bool fits = cmd.beats != 0 && filled + cmd.beats <= (cmd.operand ? b_depth : a_depth);
    if constexpr (load_cuts == 0) {
      out.load_error = !started_ && !fits;
      out.ready = !out.load_error;
    } else {
      out.load_error = refused_;
      out.ready = started_;
      out.fits = fits;
    }
    if (!in.valid || !out.ready) return out;
    const bool last_of_load = last_word(in) && image_ == cmd.beats - 1;
    (cmd.operand ? out.b_write : out.a_write) = true;
    out.done = last_of_load && in.last;
    out.close = out.done && !cmd.more;
    out.short_error = !last_of_load && in.last;
    out.long_error = last_of_load && !in.last;
    return out;
  }

  void step(const In& in, const Out& out) {
    if constexpr (load_cuts != 0) {
      refused_ = out.pending && !started_ && !out.fits;
      started_ = out.pending && !out.done && (started_ || out.fits);
    }
    if (!out.a_write && !out.b_write) return;
    if constexpr (load_cuts == 0) started_ = !out.done;
    image_ = out.done ? 0 : image_ + last_word(in);
  }

 private:
  static bool last_word(const In& in) { return in.cmd->operand ? in.b_last_word : in.a_last_word; }

  bool started_ = false;     // words of this load have been taken; cut: it was found to fit
  bool refused_ = false;     // cut: it was found not to fit
  std::uint32_t image_ = 0;  // images of it that are complete
};

}  // namespace narrowgauge::systemc
