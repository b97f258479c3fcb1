// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/engines/board_engine.hpp"

#include <utility>

#include "driven_engine.hpp"
#include "narrowgauge/engines/board/bridge_port.hpp"
#include "narrowgauge/engines/board/serial_line.hpp"
#include "narrowgauge/engines/driver_gemm.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge {

namespace {

/// Longest time without progress: a packet on a slow line takes seconds.
constexpr std::uint32_t timeout_microseconds = 60'000'000;

class BoardEngine final : public DrivenEngine {
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
               .encoders = tile_.encoders};
  }

 private:
  /// Finds the bridge, and resets the tile behind it.
  void begin() {
    link_.connect();
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
    if (failed_) begin();
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
  bool failed_ = false;  ///< in the product before
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
