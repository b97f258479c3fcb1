// SPDX-License-Identifier: Apache-2.0
// The signals of an AXI4-Lite port, and a master that is stepped once per clock. Independent of any simulator: signals
// pass through plain structs, for Verilated models filled by name.
//
// Writes and reads are independent: one of each can be under way. Who wants a blocking access starts it and steps until
// take_write() or take_read() gives the result, with a limit of its own on the clocks it waits.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace narrowgauge::axi {

inline constexpr std::uint8_t okay = 0, exokay = 1, slverr = 2, decerr = 3;

/// All signals of an AXI4-Lite port in one cycle.
struct LiteSignals {
  // Driven by the master.
  bool awvalid = false, wvalid = false, bready = false, arvalid = false, rready = false;
  std::uint32_t awaddr = 0, wdata = 0, araddr = 0;
  std::uint8_t wstrb = 0;
  // Driven by the slave.
  bool awready = false, wready = false, bvalid = false, arready = false, rvalid = false;
  std::uint32_t rdata = 0;
  std::uint8_t bresp = 0, rresp = 0;

  bool operator==(const LiteSignals&) const = default;
};

/// Sets the inputs of a Verilated slave.
template <class Model>
void put_lite(Model& model, const LiteSignals& bus) {
  model.s_axil_awvalid_i = bus.awvalid;
  model.s_axil_awaddr_i = static_cast<std::uint16_t>(bus.awaddr);
  model.s_axil_wvalid_i = bus.wvalid;
  model.s_axil_wdata_i = bus.wdata;
  model.s_axil_wstrb_i = bus.wstrb;
  model.s_axil_bready_i = bus.bready;
  model.s_axil_arvalid_i = bus.arvalid;
  model.s_axil_araddr_i = static_cast<std::uint16_t>(bus.araddr);
  model.s_axil_rready_i = bus.rready;
}

/// Reads the outputs of a Verilated slave.
template <class Model>
void get_lite(const Model& model, LiteSignals& bus) {
  bus.awready = model.s_axil_awready_o;
  bus.wready = model.s_axil_wready_o;
  bus.bvalid = model.s_axil_bvalid_o;
  bus.bresp = model.s_axil_bresp_o;
  bus.arready = model.s_axil_arready_o;
  bus.rvalid = model.s_axil_rvalid_o;
  bus.rdata = model.s_axil_rdata_o;
  bus.rresp = model.s_axil_rresp_o;
}

/// Issues one write and one read at a time.
class LiteMaster {
 public:
  struct Result {
    std::uint32_t data;    ///< of a read
    std::uint8_t resp;     ///< okay, slverr, decerr
    std::uint64_t cycles;  ///< clocks from the start to the response, both included
  };
  /// Channels that may start to be valid (aw, w, ar) or be ready (b, r) in this cycle. A valid once seen stays.
  struct Go {
    bool aw = true, w = true, b = true, ar = true, r = true;
  };

  bool write_ready() const { return !write_.busy && !write_.result; }
  bool read_ready() const { return !read_.busy && !read_.result; }

  /// Only while write_ready().
  void start_write(std::uint32_t address, std::uint32_t data, std::uint8_t strobes = 0xF) {
    write_ = {.busy = true, .address = address, .data = data, .strobes = strobes, .request = true, .payload = true};
  }
  /// Only while read_ready().
  void start_read(std::uint32_t address) { read_ = {.busy = true, .address = address, .request = true}; }

  /// Sets the master's signals for the coming edge.
  void drive(LiteSignals& s) { drive(s, Go{}); }
  void drive(LiteSignals& s, const Go& go) {
    s.awvalid = write_.request && (write_.request_shown || go.aw);
    s.wvalid = write_.payload && (write_.payload_shown || go.w);
    s.arvalid = read_.request && (read_.request_shown || go.ar);
    write_.request_shown = s.awvalid;
    write_.payload_shown = s.wvalid;
    read_.request_shown = s.arvalid;
    s.awaddr = write_.address;
    s.wdata = write_.data;
    s.wstrb = write_.strobes;
    s.araddr = read_.address;
    s.bready = go.b;
    s.rready = go.r;
  }

  /// Takes note of what the coming edge transfers.
  void sample(const LiteSignals& s) {
    write_.cycles += write_.busy;
    read_.cycles += read_.busy;
    if (s.awvalid && s.awready) write_.request = false;
    if (s.wvalid && s.wready) write_.payload = false;
    if (s.arvalid && s.arready) read_.request = false;
    if (s.bvalid && s.bready && write_.busy) write_.end({0, s.bresp, write_.cycles});
    if (s.rvalid && s.rready && read_.busy) read_.end({s.rdata, s.rresp, read_.cycles});
  }

  /// The result of the write or read that has ended, once.
  std::optional<Result> take_write() { return std::exchange(write_.result, std::nullopt); }
  std::optional<Result> take_read() { return std::exchange(read_.result, std::nullopt); }

  /// After a reset: whatever was under way is forgotten.
  void reset() { write_ = {}, read_ = {}; }

 private:
  struct Access {
    bool busy = false;
    std::uint32_t address = 0, data = 0;
    std::uint8_t strobes = 0;
    bool request = false, payload = false;              // still to be transferred
    bool request_shown = false, payload_shown = false;  // valid is up and must stay
    std::uint64_t cycles = 0;
    std::optional<Result> result = std::nullopt;

    void end(const Result& r) {
      *this = {};
      result = r;
    }
  };
  Access write_, read_;
};

}  // namespace narrowgauge::axi
