// SPDX-License-Identifier: Apache-2.0
// AXI4-Lite and AXI4-Stream for benches and engines: rule checkers, and an AXI4-Lite master that is stepped once per
// clock. Independent of Verilator and of bench.hpp: signals pass through plain structs, for Verilated models filled by
// name.
//
// A cycle of a bench with a Verilated tile (any model with the ports s_axil_*_i/_o):
//
//   axi::LiteMaster master;
//   axi::LiteChecker checker("s_axil", [&](const std::string& text) { bench.error(text); });
//   axi::LiteSignals bus;
//   master.start_write(0x034, 0x12);                  // only while master.write_ready()
//   for (;;) {
//     master.drive(bus);                              // or drive(bus, go) to hold channels back in this cycle
//     axi::put_lite(*dut, bus);                       // master's signals -> model
//     dut.eval();
//     axi::get_lite(*dut, bus);                       // slave's signals <- model
//     checker.sample(bus);                            // rules, once per cycle, before the rising edge
//     master.sample(bus);                             // what the edge will transfer
//     dut.tick();
//     if (auto done = master.take_write()) { /* done->resp, done->cycles */ }
//   }
//
// Writes and reads are independent: one of each can be under way. An engine that wants a blocking access starts it and
// steps until take_write() or take_read() gives the result, with a limit of its own on the clocks it waits.
//
// Rules (ARM IHI 0022 and IHI 0051), each with the name that starts its message:
//   stable      valid stays until ready
//   payload     address, data, strobes, response, last stay while valid waits for ready
//   unasked     a response only after its request was transferred (a write's: address and data), in an earlier cycle
//   outstanding no more requests accepted than the slave says it takes at a time
//   response    OKAY, SLVERR or DECERR; AXI4-Lite has no EXOKAY
//   late        ready and responses come within the stated number of cycles (0: not checked)
//   reset       valids are low during reset
//   open        nothing is left over at the end
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace narrowgauge::axi {

inline constexpr std::uint8_t okay = 0, exokay = 1, slverr = 2, decerr = 3;

/// Takes the sentence that says what was violated.
using Report = std::function<void(const std::string&)>;

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

/// The law that both protocols share, for one channel: valid and what it qualifies wait for ready.
class Channel {
 public:
  explicit Channel(std::string name) : name_(std::move(name)) {}

  /// The payload is `words` and `rest`. `late` is the number of cycles that valid may wait; 0 for any.
  void sample(bool valid, bool ready, std::span<const std::uint32_t> words, std::uint32_t rest, const Report& report,
              unsigned late = 0) {
    if (waiting_ && !valid) report("stable: " + name_ + ": valid fell before ready");
    if (waiting_ && valid && !(rest == rest_ && std::ranges::equal(words, held_)))
      report("payload: " + name_ + ": changed while valid waited for ready");
    waiting_ = valid && !ready;
    waited_ = waiting_ ? waited_ + 1 : 0;
    if (late != 0 && waited_ == late)
      report("late: " + name_ + ": valid has waited " + std::to_string(late) + " cycles for ready");
    transfers_ += valid && ready;
    stalls_ += waiting_;
    if (waiting_) {
      held_.assign(words.begin(), words.end());
      rest_ = rest;
    }
  }
  void clear() { waiting_ = false, waited_ = 0; }
  bool waiting() const { return waiting_; }
  const std::string& name() const { return name_; }
  std::uint64_t transfers() const { return transfers_; }
  /// Cycles in which valid waited: a bench should see some on every channel.
  std::uint64_t stalls() const { return stalls_; }

 private:
  std::string name_;
  bool waiting_ = false;
  unsigned waited_ = 0;
  std::vector<std::uint32_t> held_;
  std::uint32_t rest_ = 0;
  std::uint64_t transfers_ = 0, stalls_ = 0;
};

/// Rules of an AXI4-Lite port, both sides.
class LiteChecker {
 public:
  struct Limits {
    unsigned writes = 1, reads = 1;  ///< requests that the slave may have accepted and not answered
    unsigned late = 64;              ///< cycles until the slave must be ready, or must answer; 0 for any
  };

  LiteChecker(const std::string& port, Report report) : LiteChecker(port, std::move(report), Limits{}) {}
  LiteChecker(const std::string& port, Report report, Limits limits)
      : aw(port + ".AW"),
        w(port + ".W"),
        b(port + ".B"),
        ar(port + ".AR"),
        r(port + ".R"),
        port_(port),
        report_(std::move(report)),
        limits_(limits) {}

  /// Once per cycle out of reset, with the signals as the rising edge will see them.
  void sample(const LiteSignals& s) {
    if (s.bvalid && (aw_open_ == 0 || w_open_ == 0))
      report_("unasked: " + b.name() + ": no write waits for a response");
    if (s.rvalid && r_open_ == 0) report_("unasked: " + r.name() + ": no read waits for data");
    if (s.bvalid && s.bresp == exokay) report_("response: " + b.name() + ": EXOKAY");
    if (s.rvalid && s.rresp == exokay) report_("response: " + r.name() + ": EXOKAY");
    answer_late(b, aw_open_ != 0 && w_open_ != 0 && !s.bvalid, b_waited_);
    answer_late(r, r_open_ != 0 && !s.rvalid, r_waited_);
    // A slave that has taken all it can is not late, it waits for the master to take the answer.
    aw.sample(s.awvalid, s.awready, {}, s.awaddr, report_, aw_open_ < limits_.writes ? limits_.late : 0);
    w.sample(s.wvalid, s.wready, {&s.wdata, 1}, s.wstrb, report_, w_open_ < limits_.writes ? limits_.late : 0);
    b.sample(s.bvalid, s.bready, {}, s.bresp, report_);
    ar.sample(s.arvalid, s.arready, {}, s.araddr, report_, r_open_ < limits_.reads ? limits_.late : 0);
    r.sample(s.rvalid, s.rready, {&s.rdata, 1}, s.rresp, report_);
    count(aw, aw_open_, s.awvalid && s.awready, s.bvalid && s.bready, limits_.writes);
    count(w, w_open_, s.wvalid && s.wready, s.bvalid && s.bready, limits_.writes);
    count(ar, r_open_, s.arvalid && s.arready, s.rvalid && s.rready, limits_.reads);
  }

  /// Instead of sample() while reset is asserted.
  void sample_reset(const LiteSignals& s) {
    for (auto [channel, valid] : {std::pair{&b, s.bvalid}, std::pair{&r, s.rvalid}})
      if (valid) report_("reset: " + channel->name() + ": valid during reset");
    for (Channel* channel : {&aw, &w, &b, &ar, &r}) channel->clear();
    aw_open_ = w_open_ = r_open_ = 0;
    b_waited_ = r_waited_ = 0;
  }

  /// At the end, when the master has nothing under way.
  void finish() const {
    for (const Channel* channel : {&aw, &w, &b, &ar, &r})
      if (channel->waiting()) report_("open: " + channel->name() + ": valid still waits");
    if (aw_open_ != 0 || w_open_ != 0) report_("open: " + port_ + ": a write was not answered");
    if (r_open_ != 0) report_("open: " + port_ + ": a read was not answered");
  }

  Channel aw, w, b, ar, r;

 private:
  void count(const Channel& channel, unsigned& open, bool request, bool answer, unsigned limit) {
    if (request && open == limit)
      report_("outstanding: " + channel.name() + ": more than " + std::to_string(limit) + " accepted and not answered");
    open += request;
    open -= answer && open != 0;
  }
  void answer_late(const Channel& channel, bool missing, unsigned& waited) {
    waited = missing ? waited + 1 : 0;
    if (limits_.late != 0 && waited == limits_.late)
      report_("late: " + channel.name() + ": no response for " + std::to_string(limits_.late) + " cycles");
  }

  std::string port_;
  Report report_;
  Limits limits_;
  unsigned aw_open_ = 0, w_open_ = 0, r_open_ = 0, b_waited_ = 0, r_waited_ = 0;
};

/// Rules of an AXI4-Stream port (TVALID, TREADY, TDATA, TLAST); counts words and packets.
class StreamChecker {
 public:
  /// `late`: cycles that valid may wait for ready; 0 for any (an AXI4-Stream receiver may stall as long as it wants).
  StreamChecker(const std::string& port, Report report, unsigned late = 0)
      : channel_(port), report_(std::move(report)), late_(late) {}

  /// Once per cycle out of reset; `data` is the words of TDATA, lowest first.
  void sample(bool valid, bool ready, std::span<const std::uint32_t> data, bool last) {
    channel_.sample(valid, ready, data, last, report_, late_);
    packets_ += valid && ready && last;
    inside_ = valid && ready ? !last : inside_;
  }
  /// Instead of sample() while reset is asserted.
  void sample_reset(bool valid) {
    if (valid) report_("reset: " + channel_.name() + ": valid during reset");
    channel_.clear();
    inside_ = false;
  }
  /// At the end, when everything should have been transferred.
  void finish() const {
    if (channel_.waiting()) report_("open: " + channel_.name() + ": valid still waits");
    if (inside_) report_("open: " + channel_.name() + ": the last packet has no TLAST");
  }
  std::uint64_t words() const { return channel_.transfers(); }
  std::uint64_t packets() const { return packets_; }
  std::uint64_t stalls() const { return channel_.stalls(); }

 private:
  Channel channel_;
  Report report_;
  unsigned late_;
  std::uint64_t packets_ = 0;
  bool inside_ = false;
};

/// No combinational path between the two directions of the handshake: flips each valid and ready that goes into a
/// Verilated slave, settles it, and looks whether one that comes out has moved. Leaves the model as it was.
template <class Dut>
void probe_lite(Dut& dut, const LiteSignals& bus, const Report& report) {
  static constexpr std::array<std::pair<bool LiteSignals::*, std::string_view>, 5> inputs{{
      {&LiteSignals::awvalid, "AWVALID"},
      {&LiteSignals::wvalid, "WVALID"},
      {&LiteSignals::bready, "BREADY"},
      {&LiteSignals::arvalid, "ARVALID"},
      {&LiteSignals::rready, "RREADY"},
  }};
  for (const auto& [input, name] : inputs) {
    LiteSignals flipped = bus;
    flipped.*input = !(flipped.*input);
    put_lite(*dut, flipped);
    dut.eval();
    LiteSignals after = flipped;
    get_lite(*dut, after);
    after.*input = bus.*input;
    if (after != bus) report("path: an output follows " + std::string(name) + " within the cycle");
  }
  put_lite(*dut, bus);
  dut.eval();
}

/// Issues one write and one read at a time; see the example at the top.
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
