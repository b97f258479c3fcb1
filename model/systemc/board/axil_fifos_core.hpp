// SPDX-License-Identifier: Apache-2.0
// Cycle model of rtl/board/ng_axil_fifos.sv.
#pragma once

#include <cstdint>

#include "narrowgauge/board/axil_fifos.hpp"
#include "systemc/board/bridge_streams_core.hpp"
#include "systemc/tile/lite.hpp"

namespace narrowgauge::systemc {

/// Outputs are functions of the state; step() is a clock edge.
template <unsigned stream_width, unsigned tx_bytes, unsigned rx_bytes>
class AxilFifosCore {
 public:
  static constexpr unsigned stream_bytes = stream_width / 8;
  using Streams = BridgeStreamsCore<stream_bytes, tx_bytes, rx_bytes>;
  struct Inputs {
    LiteMasterPins bus;
    bool out_ready = false, in_valid = false;
    typename Streams::Word in{};
  };

  void reset() {
    aw_held_ = w_held_ = ar_held_ = bvalid_ = rvalid_ = false;
    streams_.reset();
  }
  LiteSlavePins pins() const {
    return {.awready = !aw_held_,
            .wready = !w_held_,
            .bvalid = bvalid_,
            .arready = !ar_held_,
            .rvalid = rvalid_,
            .rdata = rdata_,
            .bresp = bresp_,
            .rresp = rresp_};
  }
  const Streams& streams() const { return streams_; }

  void step(const Inputs& in) {
    const bool write = aw_held_ && w_held_ && !bvalid_;
    const bool is_data = waddr_ == board::fifo_tx_data || waddr_ == board::fifo_tx_last;
    const bool good = whole_ && (is_data ? streams_.tx_space() != 0 : waddr_ == board::fifo_clear);
    const bool of_results = raddr_ == board::fifo_rx_data, any = streams_.rx_words() != 0;
    const bool read = ar_held_ && !rvalid_ && !(of_results && any && !streams_.rx_valid());
    if (write) bresp_ = good ? 0 : 2;
    if (read) answer(of_results && any);
    const typename Streams::TxWord written{wdata_, waddr_ == board::fifo_tx_last};
    streams_.step(write && good && !is_data, write && good && is_data ? &written : nullptr, in.out_ready,
                  in.in_valid ? &in.in : nullptr, false, false, read && of_results);
    const LiteMasterPins& bus = in.bus;
    const bool write_done = bvalid_ && bus.bready, read_done = rvalid_ && bus.rready;
    if (!aw_held_) waddr_ = bus.awaddr & 0xFFC;
    if (!ar_held_) raddr_ = bus.araddr & 0xFFC;
    if (!w_held_) {
      wdata_ = bus.wdata;
      whole_ = bus.wstrb == 0xF;
    }
    aw_held_ = aw_held_ ? !write_done : bus.awvalid;
    w_held_ = w_held_ ? !write_done : bus.wvalid;
    ar_held_ = ar_held_ ? !read_done : bus.arvalid;
    bvalid_ = write || (bvalid_ && !write_done);
    rvalid_ = read || (rvalid_ && !read_done);
  }

 private:
  void answer(bool results) {
    rresp_ = 0;
    switch (raddr_) {
      case board::fifo_tx_space:
        rdata_ = streams_.tx_space();
        break;
      case board::fifo_tx_count:
        rdata_ = tx_bytes / 4 - streams_.tx_space() + streams_.tx_partial();
        break;
      case board::fifo_rx_count:
        rdata_ = streams_.rx_words();
        break;
      default:
        rdata_ = results ? streams_.rx_data() : 0;
        rresp_ = results ? 0 : 2;
    }
  }

  Streams streams_;
  bool aw_held_ = false, w_held_ = false, ar_held_ = false, bvalid_ = false, rvalid_ = false, whole_ = false;
  std::uint32_t waddr_ = 0, raddr_ = 0, wdata_ = 0, rdata_ = 0;
  std::uint8_t bresp_ = 0, rresp_ = 0;
};

}  // namespace narrowgauge::systemc
