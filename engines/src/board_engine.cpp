// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/engines/board_engine.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "driven_engine.hpp"
#include "narrowgauge/engines/board/bridge_port.hpp"
#include "narrowgauge/engines/board/serial_line.hpp"
#include "narrowgauge/engines/driver_gemm.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/ng_tile_regs.h"

namespace narrowgauge {

namespace {

/// Longest time without progress: a packet on a slow line takes seconds.
constexpr std::uint32_t timeout_microseconds = 60'000'000;

class BoardEngine final : public DrivenEngine, public BoardLoop {
 public:
  BoardEngine(std::unique_ptr<board::ByteLine> line, const std::string& where, const board::LinkOptions& options)
      : DrivenEngine("board"), line_(std::move(line)), link_(*line_, options), what_("the tile on " + where) {
    begin();
    name_ = std::to_string(tile_.rows) + "x" + std::to_string(tile_.cols) + "x" + std::to_string(tile_.lanes);
    config_ = {.name = name_,
               .rows = tile_.rows,
               .cols = tile_.cols,
               .lanes = tile_.lanes,
               .format_set = tile_.format_set,
               .stream_width = tile_.stream_bytes * 8,
               .a_depth = tile_.a_depth,
               .b_depth = tile_.b_depth,
               .max_beats = tile_.max_beats,
               .counters = tile_.counters,
               .load_cuts = 0,  // unknown, as all cuts
               .command_cuts = 0,
               .cell_cuts = 0,
               .convert_cuts = 0,
               .scale_cuts = 0,
               .requantize = tile_.requantize,
               .requantize_cuts = 0,
               .sparse = tile_.sparse,
               .codec = tile_.codec,
               .encoders = tile_.encoders,
               .protect = tile_.protect,
               .deadline = tile_.deadline,
               .integers = tile_.integers,
               .mx = tile_.mx};
  }

  std::string array() const override { return name_; }

  EngineResult hold(const QuantizedMatrix& a, const QuantizedMatrix& b) override {
    check_product(a, b);
    check(a.scheme, a.element, b.element, a.k);
    check_bank("A", a, tile_.rows, tile_.a_depth);
    check_bank("B", b, tile_.cols, tile_.b_depth);
    std::uint32_t again = 0;
    EngineResult result = run(config_, {.a = a, .b = b, .progress = {}, .again = &again});
    held_ = again;
    return result;
  }

  void start_loop(std::uint32_t times) override {
    if (times == 0) throw Error("a loop of 0 products is none; expected 1 or more");
    if (!held_) throw Error("no product is held on " + what_ + "; expected a call of hold() first");
    if (loops_) throw Error("a loop runs on " + what_ + " already; expected the end of it first");
    guarded([&] {
      done_before_ = link_.read(NG_TILE_DONE_OFFSET);
      link_.write(board::sink, 1);
      link_.write(board::loop_command, *held_);
      link_.write(board::loop_count, times);
      link_.settle();
    });
    loops_ = true;
  }

  LoopState loop_state() override {
    LoopState state;
    guarded([&] {
      const std::uint32_t flags = link_.read(board::loop_state);
      if (flags & 4U) throw Error("the loop on " + what_ + " was stopped: the bridge reached no tile");
      if (flags & 2U) {
        const std::uint32_t status = link_.read(NG_TILE_STATUS_OFFSET);
        throw Error("the loop on " + what_ + " was stopped by the tile's error " +
                    std::to_string((status & NG_TILE_STATUS_ERROR_MASK) >> NG_TILE_STATUS_ERROR_SHIFT));
      }
      state.running = (flags & 1U) != 0;
      state.times = link_.read(NG_TILE_DONE_OFFSET) - done_before_;
      state.cycles = link_.read(board::loop_cycles);
      state.hash = link_.read(board::result_hash);
      if (!state.running) link_.write(board::sink, 0);
    });
    if (!state.running) loops_ = false;
    return state;
  }

  LoopState stop_loop() override {
    guarded([&] {
      link_.write(board::loop_count, 0);
      link_.settle();
    });
    const board::Duration start = line_->now();
    for (;;) {
      const LoopState state = loop_state();
      if (!state.running) return state;
      if (line_->now() - start > std::chrono::microseconds(timeout_microseconds))
        throw Error("the loop on " + what_ + " does not end; reset the board");
    }
  }

 private:
  void check_bank(const char* name, const QuantizedMatrix& q, std::uint32_t panel, std::uint32_t depth) const {
    const std::size_t images = (q.rows + panel - 1) / panel * ((q.k + tile_.lanes - 1) / tile_.lanes);
    if (images <= depth) return;
    throw Error(std::string(name) + " takes " + std::to_string(images) + " images, and its bank of " + what_ +
                " holds " + std::to_string(depth) + "; expected a smaller matrix, since operands of a loop stay there");
  }

  /// Accesses by the link itself: what they throw, and faults of theirs, mean that the next product begins anew.
  template <class Accesses>
  void guarded(const Accesses& accesses) {
    failed_ = true;
    accesses();
    if (const std::uint8_t fault = link_.take_fault(); fault != 0) throw Error(what_ + ": " + board::fault_text(fault));
    failed_ = false;
  }

  /// Finds the bridge, ends a loop that somebody left, and resets the tile.
  void begin() {
    held_.reset();
    loops_ = false;
    link_.connect();
    link_.write(board::loop_count, 0);
    link_.write(board::sink, 0);
    port_.emplace(link_);
    callbacks_ = port_->port();
    const ng_tile_config_t at{.port = &callbacks_, .base = 0, .timeout_ticks = timeout_microseconds};
    const ng_result_t result = ng_tile_init(&tile_, &at);
    expect_ok(result, what_, port_->error());
    if (tile_.stream_bytes != link_.stream_bytes()) {
      throw Error(what_ + " has stream words of " + std::to_string(tile_.stream_bytes) + " bytes, its bridge of " +
                  std::to_string(link_.stream_bytes()) + "; expected the same: the image is wrong");
    }
  }

  const TileConfig& choose(Scheme scheme, Format a, Format b, const TileNeeds& needs) const override {
    const std::string text = product_text(scheme, a, b, needs);
    if (!has(config_, scheme, a, b, needs))
      throw Error(what_ + " does not have " + text + "; expected a product that this board's image has");
    return config_;
  }

  EngineResult run(const TileConfig& config, const ProductOrder& order) override {
    if (loops_ && !failed_) (void)stop_loop();
    if (failed_) begin();
    if (held_) expect_ok(ng_tile_reset(&tile_), what_, port_->error());
    held_.reset();
    failed_ = true;
    const board::LinkCounts before = link_.counts();
    const board::Duration start = line_->now();
    EngineResult result = drive_product(
        {.port = callbacks_, .tile = tile_, .what = what_, .cycles = {}, .between = {}, .why = &port_->error()}, order);
    failed_ = false;
    result.products_possible = result.cycles * config.products_a_cycle() * (order.sparse ? 2 : 1);
    result.tile = config.name;
    const board::LinkCounts& now = link_.counts();
    result.link = {.seconds = std::chrono::duration<double>(line_->now() - start).count(),
                   .sent_bytes = now.sent_bytes - before.sent_bytes,
                   .received_bytes = now.received_bytes - before.received_bytes,
                   .frames = now.frames - before.frames,
                   .repeated = now.repeated - before.repeated,
                   .damaged = now.bad_answers - before.bad_answers};
    return result;
  }

  std::unique_ptr<board::ByteLine> line_;
  board::BridgeLink link_;
  std::string what_, name_;
  std::optional<board::BridgePort> port_;
  ng_port_t callbacks_{};
  ng_tile_t tile_{};
  TileConfig config_{};
  bool failed_ = false;                ///< in what was done before
  std::optional<std::uint32_t> held_;  ///< the command that repeats the product whose operands stay
  bool loops_ = false;
  std::uint32_t done_before_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_board_engine(std::unique_ptr<board::ByteLine> line, const std::string& where,
                                          const board::LinkOptions& options) {
  return std::make_unique<BoardEngine>(std::move(line), where, options);
}

std::unique_ptr<Engine> make_board_engine(const BoardOptions& options) {
  auto line = std::make_unique<board::SerialLine>(options.port, options.baud);
  if (options.notice && !line->advice().empty()) options.notice(line->advice());
  return make_board_engine(std::move(line), options.port, options.link);
}

}  // namespace narrowgauge
