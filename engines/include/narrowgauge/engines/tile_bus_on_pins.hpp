// SPDX-License-Identifier: Apache-2.0
// The bus and the stream engines around a tile that is simulated at its pins.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "narrowgauge/engines/tile_bus.hpp"
#include "narrowgauge/engines/tile_pin_model.hpp"
#include "narrowgauge/error.hpp"

namespace narrowgauge {

/// Streams give and take a word in every cycle in which the tile does; register accesses take as long as the tile's
/// slave takes. Results wait here without limit.
class TileBusOnPins final : public TileBus {
 public:
  /// `model` must outlive it.
  TileBusOnPins(TilePinModel& model, unsigned stream_bytes) : model_(model), stream_bytes_(stream_bytes) {
    model_.reset(pins_);
    pins_.out_ready = true;
  }

  bool read32(std::uint32_t offset, std::uint32_t& value) override {
    master_.start_read(offset);
    const axi::LiteMaster::Result done = finish([&] { return master_.take_read(); }, "read", offset);
    value = done.data;
    return done.resp == axi::okay;
  }
  bool write32(std::uint32_t offset, std::uint32_t value) override {
    master_.start_write(offset, value);
    return finish([&] { return master_.take_write(); }, "write", offset).resp == axi::okay;
  }

  void send(std::span<const std::uint8_t> packet) override {
    if (packet.empty() || packet.size() % stream_bytes_ != 0) {
      throw Error("a packet for the simulated tile has " + std::to_string(packet.size()) +
                  " bytes; expected one or more whole stream words of " + std::to_string(stream_bytes_));
    }
    packets_.push_back(packet);
  }
  std::size_t packets_waiting() const override { return packets_.size(); }
  std::size_t receive(std::span<std::uint8_t> out) override {
    const std::size_t bytes = std::min(out.size() / stream_bytes_ * stream_bytes_, results_.size() - taken_);
    std::copy_n(results_.begin() + static_cast<std::ptrdiff_t>(taken_), bytes, out.begin());
    taken_ += bytes;
    if (taken_ == results_.size()) {
      results_.clear();
      taken_ = 0;
    }
    return bytes;
  }
  void reset_streams() override {
    packets_.clear();
    results_.clear();
    taken_ = 0;
  }

  void run(std::uint64_t cycles) override {
    const std::size_t waiting = packets_.size(), arrived = results_.size();
    while (cycles-- != 0 && !pins_.irq && packets_.size() == waiting && results_.size() == arrived) step();
  }
  std::uint64_t cycles() const override { return cycles_; }
  bool irq() const override { return pins_.irq; }

 private:
  /// Clocks that a register access may take.
  static constexpr int patience = 1000;

  template <class Take>
  axi::LiteMaster::Result finish(Take take, const char* what, std::uint32_t offset) {
    for (int clocks = 0; clocks < patience; ++clocks) {
      step();
      if (const auto done = take()) return *done;
    }
    throw Error("the simulated tile has not answered a " + std::string(what) + " of register offset " +
                std::to_string(offset) + " for " + std::to_string(patience) + " cycles: its bus hangs");
  }

  void step() {
    master_.drive(pins_.bus);
    pins_.in_valid = !packets_.empty();
    if (pins_.in_valid) {
      pins_.in_data = packets_.front().data();
      pins_.in_last = packets_.front().size() == stream_bytes_;
    }
    master_.sample(pins_.bus);
    if (pins_.in_valid && pins_.in_ready) {
      packets_.front() = packets_.front().subspan(stream_bytes_);
      if (packets_.front().empty()) packets_.pop_front();
    }
    if (pins_.out_valid) results_.insert(results_.end(), pins_.out_data, pins_.out_data + stream_bytes_);
    model_.cycle(pins_);
    ++cycles_;
  }

  TilePinModel& model_;
  std::size_t stream_bytes_;
  TilePins pins_;
  axi::LiteMaster master_;
  std::deque<std::span<const std::uint8_t>> packets_;
  std::vector<std::uint8_t> results_;
  std::size_t taken_ = 0;
  std::uint64_t cycles_ = 0;
};

}  // namespace narrowgauge
