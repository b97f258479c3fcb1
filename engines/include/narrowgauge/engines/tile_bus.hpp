// SPDX-License-Identifier: Apache-2.0
// A simulated tile as processors and stream engines see it, and the driver's port to one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "narrowgauge/ng_tile.h"

namespace narrowgauge {

/// The bus of one simulated tile: functional model, Verilated RTL or SystemC. Time passes in clock cycles, during
/// register accesses and in run().
class TileBus {
 public:
  virtual ~TileBus() = default;

  /// One register access, at a byte offset from the tile's first register; false: SLVERR.
  virtual bool read32(std::uint32_t offset, std::uint32_t& value) = 0;
  virtual bool write32(std::uint32_t offset, std::uint32_t value) = 0;

  /// Puts a packet (whole stream words, lowest byte first) behind those that wait for the operand stream; TLAST comes
  /// with its last word. The bytes must stay until they have left.
  virtual void send(std::span<const std::uint8_t> packet) = 0;
  /// Packets that have not left completely.
  virtual std::size_t packets_waiting() const = 0;
  /// Moves whole result words that have arrived, in order, to `out`; their bytes.
  virtual std::size_t receive(std::span<std::uint8_t> out) = 0;
  /// Drops packets that wait and results that have arrived.
  virtual void reset_streams() = 0;

  /// Lets at most `cycles` pass: until the interrupt line is high, a packet has left or a result has arrived.
  virtual void run(std::uint64_t cycles) = 0;
  virtual std::uint64_t cycles() const = 0;
  virtual bool irq() const = 0;
};

/// The driver's port to a simulated tile; ticks are clock cycles. Must outlive its ng_port_t.
class TileDriverPort {
 public:
  /// At most `packets` wait for the stream; idle() lasts at most `idle_cycles`.
  explicit TileDriverPort(TileBus& sim, std::size_t packets = 4, std::uint64_t idle_cycles = 64)
      : sim_(sim), packets_(packets), idle_cycles_(idle_cycles) {}

  ng_port_t port() {
    return {
        .ctx = this,
        .read32 = [](void* ctx, std::uint32_t address,
                     std::uint32_t* value) { return self(ctx).sim_.read32(address, *value) ? NG_OK : NG_ERROR_BUS; },
        .write32 = [](void* ctx, std::uint32_t address,
                      std::uint32_t value) { return self(ctx).sim_.write32(address, value) ? NG_OK : NG_ERROR_BUS; },
        .stream_send =
            [](void* ctx, const void* data, std::size_t bytes) {
              if (self(ctx).sim_.packets_waiting() >= self(ctx).packets_) return NG_BUSY;
              self(ctx).sim_.send({static_cast<const std::uint8_t*>(data), bytes});
              return NG_OK;
            },
        .stream_send_done =
            [](void* ctx, bool* done) {
              *done = self(ctx).sim_.packets_waiting() == 0;
              return NG_OK;
            },
        .stream_receive =
            [](void* ctx, void* buffer, std::size_t bytes, std::size_t* arrived) {
              *arrived = self(ctx).sim_.receive({static_cast<std::uint8_t*>(buffer), bytes});
              return NG_OK;
            },
        .stream_reset =
            [](void* ctx) {
              self(ctx).sim_.reset_streams();
              return NG_OK;
            },
        .ticks = [](void* ctx) { return static_cast<std::uint32_t>(self(ctx).sim_.cycles()); },
        .idle = [](void* ctx) { self(ctx).sim_.run(self(ctx).idle_cycles_); }};
  }

 private:
  static TileDriverPort& self(void* ctx) { return *static_cast<TileDriverPort*>(ctx); }

  TileBus& sim_;
  std::size_t packets_;
  std::uint64_t idle_cycles_;
};

}  // namespace narrowgauge
