// SPDX-License-Identifier: Apache-2.0
// Rule checkers of AXI4-Lite and AXI4-Stream for benches. Signals pass through the plain structs of
// narrowgauge/engines/axi_lite.hpp, which also has the master.
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
// Rules (ARM IHI 0022 and IHI 0051), each with the name that starts its message:
//   stable      valid stays until ready
//   payload     address, data, strobes, response, last stay while valid waits for ready
//   unasked     a response only after its request was transferred (a write's: address and data), in an earlier cycle
//   outstanding no more requests accepted than the slave says it takes at a time
//   response    OKAY, SLVERR or DECERR; AXI4-Lite has no EXOKAY
//   late        ready and responses come within the stated number of cycles (0: not checked)
//   reset       valids are low during reset
//   open        nothing is left over at the end
//
// Bench::owe() takes a checker: then the run fails too while a transfer waits or an answer is missing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "narrowgauge/engines/axi_lite.hpp"
#include "owed.hpp"

namespace narrowgauge::axi {

/// Takes the sentence that says what was violated.
using Report = std::function<void(const std::string&)>;

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
class LiteChecker final : public bench::Owed {
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
        what_("transfers of " + port),
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

  std::size_t owed() const override {
    std::size_t waiting = std::size_t{std::max(aw_open_, w_open_)} + r_open_;
    for (const Channel* channel : {&aw, &w, &b, &ar, &r}) waiting += channel->waiting();
    return waiting;
  }
  const std::string& what() const override { return what_; }

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

  std::string port_, what_;
  Report report_;
  Limits limits_;
  unsigned aw_open_ = 0, w_open_ = 0, r_open_ = 0, b_waited_ = 0, r_waited_ = 0;
};

/// Rules of an AXI4-Stream port (TVALID, TREADY, TDATA, TLAST); counts words and packets.
class StreamChecker final : public bench::Owed {
 public:
  /// `late`: cycles that valid may wait for ready; 0 for any (an AXI4-Stream receiver may stall as long as it wants).
  StreamChecker(const std::string& port, Report report, unsigned late = 0)
      : channel_(port), what_("words of " + port), report_(std::move(report)), late_(late) {}

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
  std::size_t owed() const override { return channel_.waiting() || inside_ ? 1 : 0; }
  const std::string& what() const override { return what_; }
  std::uint64_t words() const { return channel_.transfers(); }
  std::uint64_t packets() const { return packets_; }
  std::uint64_t stalls() const { return channel_.stalls(); }

 private:
  Channel channel_;
  std::string what_;
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

}  // namespace narrowgauge::axi
