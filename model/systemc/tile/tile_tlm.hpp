// SPDX-License-Identifier: Apache-2.0
// The tile as a TLM-2.0 target, loosely timed: registers and a pair of stream FIFOs in one address range, an interrupt
// line. Behind the socket is the cycle model: results, error codes, counters and interrupts are those of the RTL, and
// every transaction takes the clock cycles that it takes there.
//
//   offset         what
//   0x000 - 0xFFF  registers of the tile (docs/registers.md)
//   0x1000         write: the next 4 bytes of a packet of operands           } the registers of
//   firmware/ports/ng_fifo_port.h, 0x1004         write: its last 4 bytes; TLAST comes with their word      } one clock
//   cycle a word 0x1008         read: words that may be written 0x100C         read: written words that have not left
//   for the tile 0x1010         read: the next 4 bytes of results 0x1014         read: words of results that may be
//   read 0x1018         write: both FIFOs are empty afterwards
//
// Transactions are of 32-bit words, aligned, as many as one likes; a streaming width of 4 gives all of them the same
// address, which is how to fill and empty the FIFOs. Byte enables are the strobes of writes to the tile's registers.
// Answers other than TLM_OK_RESPONSE end a transaction at the word that gives them:
//   TLM_ADDRESS_ERROR_RESPONSE      nothing is at the address, or it is not aligned
//   TLM_COMMAND_ERROR_RESPONSE      write to what can only be read, or read of what can only be written
//   TLM_BURST_ERROR_RESPONSE        length or streaming width is not a multiple of 4, or 0
//   TLM_BYTE_ENABLE_ERROR_RESPONSE  byte enables for a read or for the FIFOs, or a command register written in part
//   TLM_GENERIC_ERROR_RESPONSE      write to a full FIFO, read of an empty one
// transport_dbg reads registers without side effects and takes no time. There is no direct memory interface.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <systemc>
#include <tlm>

#include "systemc/tile/tile_core.hpp"

namespace narrowgauge::systemc {

/// Offsets of the FIFO registers, and the size of the whole, in bytes.
namespace tile_tlm {
inline constexpr std::uint32_t tx_data = 0x1000, tx_last = 0x1004, tx_space = 0x1008, tx_count = 0x100C;
inline constexpr std::uint32_t rx_data = 0x1010, rx_count = 0x1014, fifo_reset = 0x1018, size = 0x101C;
}  // namespace tile_tlm

/// The tile of the parameters. It keeps a time of its own, at or ahead of the kernel's: up to the end of the last
/// transaction, and while it is at work a process lets it follow the kernel in steps of `stride` clock cycles, which is
/// how late irq_o may be.
template <TileParams params>
class TileTlm : public sc_core::sc_module {
  static constexpr std::size_t words = params.stream_words();  // 32-bit words of a stream word

 public:
  tlm_utils::simple_target_socket<TileTlm, 32> socket{"socket"};
  sc_core::sc_out<bool> irq_o{"irq_o"};

  /// `fifo_words`: 32-bit words that each FIFO holds, rounded to stream words, at least one of them.
  SC_HAS_PROCESS(TileTlm);
  TileTlm(sc_core::sc_module_name name, sc_core::sc_time clock_period, std::size_t fifo_words = 1024,
          unsigned stride = 16)
      : sc_core::sc_module(name),
        period_(clock_period),
        fifo_words_(std::max(fifo_words / words, std::size_t{1}) * words),
        stride_(stride) {
    socket.register_b_transport(this, &TileTlm::b_transport);
    socket.register_transport_dbg(this, &TileTlm::transport_dbg);
    reset();
    SC_THREAD(follow);
  }

  /// As rst_ni does, for a clock cycle.
  void reset() {
    core_.reset();
    core_.step({});
    empty_fifos();
  }

 private:
  // ---- transactions
  void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const sc_core::sc_time start = sc_core::sc_time_stamp() + delay;
    advance_to(start);
    payload.set_dmi_allowed(false);
    payload.set_response_status(transfer(payload));
    if (time_ > start) delay += time_ - start;
    kick_.notify(sc_core::SC_ZERO_TIME);
  }

  tlm::tlm_response_status transfer(tlm::tlm_generic_payload& payload) {
    const unsigned length = payload.get_data_length(), width = payload.get_streaming_width();
    if (payload.get_command() == tlm::TLM_IGNORE_COMMAND) return tlm::TLM_OK_RESPONSE;
    if (length == 0 || length % 4 != 0 || width == 0 || width % 4 != 0) return tlm::TLM_BURST_ERROR_RESPONSE;
    if (payload.get_address() % 4 != 0) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    const bool write = payload.is_write();
    const unsigned char* enables = payload.get_byte_enable_ptr();
    if (enables && (!write || payload.get_byte_enable_length() == 0)) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    for (unsigned at = 0; at < length; at += 4) {
      const sc_dt::uint64 address = payload.get_address() + at % width;
      if (address >= tile_tlm::size) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
      unsigned strobes = 0xF;
      if (enables) {
        for (unsigned i = 0; i < 4; ++i)
          if (enables[(at + i) % payload.get_byte_enable_length()] != TLM_BYTE_ENABLED) strobes &= ~(1U << i);
      }
      const auto offset = static_cast<std::uint32_t>(address);
      unsigned char* data = payload.get_data_ptr() + at;
      const tlm::tlm_response_status status =
          offset < tile_tlm::tx_data ? (write ? write_register(offset, data, strobes) : read_register(offset, data))
                                     : (write ? write_fifo(offset, data, strobes) : read_fifo(offset, data));
      if (status != tlm::TLM_OK_RESPONSE) return status;
    }
    return tlm::TLM_OK_RESPONSE;
  }

  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    unsigned done = 0;
    if (!payload.is_read() || payload.get_address() % 4 != 0) return done;
    for (; done + 4 <= payload.get_data_length(); done += 4) {
      const sc_dt::uint64 address = payload.get_address() + done;
      const auto word = address < tile_tlm::size ? peek(static_cast<std::uint32_t>(address)) : std::nullopt;
      if (!word) break;
      std::memcpy(payload.get_data_ptr() + done, &*word, 4);
    }
    return done;
  }

  std::optional<std::uint32_t> peek(std::uint32_t offset) const {
    switch (offset) {
      case tile_tlm::tx_space:
        return static_cast<std::uint32_t>(fifo_words_ - tx_words());
      case tile_tlm::tx_count:
        return static_cast<std::uint32_t>(tx_words());
      case tile_tlm::rx_count:
        return static_cast<std::uint32_t>(rx_.size());
      default:
        return offset < tile_tlm::tx_data ? core_.peek(offset) : std::nullopt;
    }
  }

  // ---- registers
  tlm::tlm_response_status write_register(std::uint32_t offset, const unsigned char* data, unsigned strobes) {
    LiteMasterPins pins{.awvalid = true, .wvalid = true, .bready = true, .awaddr = offset};
    std::memcpy(&pins.wdata, data, 4);
    pins.wstrb = static_cast<std::uint8_t>(strobes);
    step(pins);
    pins.awvalid = pins.wvalid = false;
    while (!core_.out().lite.bvalid) step(pins);
    const std::uint8_t response = core_.out().lite.bresp;
    step(pins);
    if (response == 0) return tlm::TLM_OK_RESPONSE;
    if (!core_.peek(offset)) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
    return strobes != 0xF ? tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE : tlm::TLM_COMMAND_ERROR_RESPONSE;
  }

  tlm::tlm_response_status read_register(std::uint32_t offset, unsigned char* data) {
    LiteMasterPins pins{.arvalid = true, .rready = true, .araddr = offset};
    step(pins);
    pins.arvalid = false;
    while (!core_.out().lite.rvalid) step(pins);
    const LiteSlavePins answer = core_.out().lite;
    step(pins);
    std::memcpy(data, &answer.rdata, 4);
    return answer.rresp == 0 ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE;
  }

  // ---- FIFOs
  struct Word {
    std::array<std::uint32_t, words> data{};
    bool last = false;
  };

  std::size_t tx_words() const { return tx_.size() * words + tx_filled_; }

  void empty_fifos() {
    tx_.clear();
    rx_.clear();
    tx_filled_ = 0;
  }

  tlm::tlm_response_status write_fifo(std::uint32_t offset, const unsigned char* data, unsigned strobes) {
    if (strobes != 0xF) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
    if (offset == tile_tlm::fifo_reset) {
      empty_fifos();
    } else if (offset == tile_tlm::tx_data || offset == tile_tlm::tx_last) {
      if (tx_words() == fifo_words_) return tlm::TLM_GENERIC_ERROR_RESPONSE;
      if (tx_filled_ == 0) tx_word_ = {};
      std::memcpy(&tx_word_.data[tx_filled_], data, 4);
      tx_word_.last = offset == tile_tlm::tx_last;
      tx_filled_ = tx_word_.last ? words : tx_filled_ + 1;
      if (tx_filled_ == words) {
        tx_.push_back(tx_word_);
        tx_filled_ = 0;
      }
    } else {
      return tlm::TLM_COMMAND_ERROR_RESPONSE;
    }
    step({});
    return tlm::TLM_OK_RESPONSE;
  }

  tlm::tlm_response_status read_fifo(std::uint32_t offset, unsigned char* data) {
    std::uint32_t word = 0;
    if (offset == tile_tlm::rx_data) {
      if (rx_.empty()) return tlm::TLM_GENERIC_ERROR_RESPONSE;
      word = rx_.front();
      rx_.pop_front();
    } else if (const auto count = peek(offset)) {
      word = *count;
    } else {
      return tlm::TLM_COMMAND_ERROR_RESPONSE;
    }
    std::memcpy(data, &word, 4);
    step({});
    return tlm::TLM_OK_RESPONSE;
  }

  // ---- time
  /// A clock cycle; the FIFOs are at the streams.
  void step(const LiteMasterPins& lite) {
    const TileOut out = core_.out();
    const bool room = rx_.size() + words <= fifo_words_, send = !tx_.empty();
    const Word word = send ? tx_.front() : Word{};
    if (send && out.operand_ready) tx_.pop_front();
    if (out.result && room) rx_.insert(rx_.end(), out.result, out.result + words);
    core_.step(
        {.lite = lite, .operand = send ? word.data.data() : nullptr, .operand_last = word.last, .result_ready = room});
    time_ += period_;
  }

  bool idle() const { return tx_.empty() && core_.idle(); }

  void advance_to(const sc_core::sc_time& time) {
    while (time_ + period_ <= time) {
      if (idle()) {
        const auto cycles = static_cast<std::uint64_t>((time - time_) / period_);
        core_.skip(cycles);
        time_ += period_ * static_cast<double>(cycles);
        return;
      }
      step({});
    }
  }

  void follow() {
    for (;;) {
      irq_o = core_.out().irq;
      if (idle()) {
        wait(kick_);
      } else {
        wait(period_ * stride_, kick_);
      }
      advance_to(sc_core::sc_time_stamp());
    }
  }

  TileCore<params> core_;
  const sc_core::sc_time period_;
  const std::size_t fifo_words_;
  const unsigned stride_;
  sc_core::sc_time time_ = sc_core::SC_ZERO_TIME;
  sc_core::sc_event kick_;  // the tile may have work, or its interrupt may have changed
  std::deque<Word> tx_;
  Word tx_word_;
  std::size_t tx_filled_ = 0;  // 32-bit words of tx_word_
  std::deque<std::uint32_t> rx_;
};

}  // namespace narrowgauge::systemc
