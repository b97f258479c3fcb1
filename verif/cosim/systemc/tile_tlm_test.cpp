// SPDX-License-Identifier: Apache-2.0
// A virtual platform of two modules: a processor that runs the firmware's driver, and the tile behind a TLM socket.
// Products must equal the golden model's, polled and with interrupts; then the answers to wrong transactions, debug
// reads, and time. Build parameters: those of the tile. Option --self-test: the check must fail if a result is changed.
#include "systemc/tile/tile_tlm.hpp"

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <random>
#include <string_view>

#include "built_tile.hpp"
#include "narrowgauge/engines/driver_gemm.hpp"
#include "narrowgauge/engines/tile_bus.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/quantize.hpp"
#include "narrowgauge/tile/tile_regs.hpp"
#include "ng_fifo_port.h"

namespace {

using namespace narrowgauge;
using sc_core::sc_time;

constexpr auto params = bench::built_tile;
static_assert(params.array().has_fp4() && params.array().has_e4m3() && params.counters);
static_assert(systemc::tile_tlm::tx_data + NG_FIFO_TX_LAST == systemc::tile_tlm::tx_last);
static_assert(systemc::tile_tlm::tx_data + NG_FIFO_TX_SPACE == systemc::tile_tlm::tx_space);
static_assert(systemc::tile_tlm::tx_data + NG_FIFO_TX_COUNT == systemc::tile_tlm::tx_count);
static_assert(systemc::tile_tlm::tx_data + NG_FIFO_RX_DATA == systemc::tile_tlm::rx_data);
static_assert(systemc::tile_tlm::tx_data + NG_FIFO_RX_COUNT == systemc::tile_tlm::rx_count);
static_assert(systemc::tile_tlm::tx_data + NG_FIFO_RESET == systemc::tile_tlm::fifo_reset);

constexpr sc_dt::uint64 base = 0x4000'0000;  // of the tile in the processor's memory
const sc_time period(10, sc_core::SC_NS);
bool wrong_result = false;

int checks = 0, errors = 0;
void check(bool holds, const std::string& what) {
  ++checks;
  if (holds) return;
  ++errors;
  std::printf("ERROR: %s\n", what.c_str());
}

/// Routes `base` and what follows to the tile.
struct Bus : sc_core::sc_module {
  tlm_utils::simple_target_socket<Bus> in{"in"};
  tlm_utils::simple_initiator_socket<Bus> out{"out"};
  explicit Bus(sc_core::sc_module_name name) : sc_core::sc_module(name) {
    in.register_b_transport(this, &Bus::b_transport);
    in.register_transport_dbg(this, &Bus::transport_dbg);
  }
  void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
    if (payload.get_address() < base) return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    payload.set_address(payload.get_address() - base);
    out->b_transport(payload, delay);
    payload.set_address(payload.get_address() + base);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
    payload.set_address(payload.get_address() - base);
    return out->transport_dbg(payload);
  }
};

class Processor : public sc_core::sc_module, public TileBus {
 public:
  tlm_utils::simple_initiator_socket<Processor> socket{"socket"};
  sc_core::sc_in<bool> irq_i{"irq_i"};

  SC_HAS_PROCESS(Processor);
  explicit Processor(sc_core::sc_module_name name) : sc_core::sc_module(name) {
    tlm_utils::tlm_quantumkeeper::set_global_quantum(sc_time(1, sc_core::SC_US));
    time_.reset();
    SC_THREAD(main);
  }

  // ---- what the driver sees of the platform
  bool read32(std::uint32_t offset, std::uint32_t& value) override {
    return access(tlm::TLM_READ_COMMAND, offset, &value, 4) == tlm::TLM_OK_RESPONSE;
  }
  bool write32(std::uint32_t offset, std::uint32_t value) override {
    return access(tlm::TLM_WRITE_COMMAND, offset, &value, 4) == tlm::TLM_OK_RESPONSE;
  }
  void send(std::span<const std::uint8_t> packet) override { packets_.push_back(packet); }
  std::size_t packets_waiting() const override { return packets_.size(); }
  std::size_t receive(std::span<std::uint8_t> out) override {
    pump();
    const std::size_t bytes = std::min<std::size_t>(out.size(), 4 * read(systemc::tile_tlm::rx_count)) / word * word;
    if (bytes != 0)
      check(access(tlm::TLM_READ_COMMAND, systemc::tile_tlm::rx_data, out.data(), bytes, 4) == tlm::TLM_OK_RESPONSE,
            "results are not read");
    if (bytes != 0 && wrong_result) out[0] ^= 1;
    received_ += bytes;
    return bytes;
  }
  void reset_streams() override {
    packets_.clear();
    check(write32(systemc::tile_tlm::fifo_reset, 0), "the FIFOs are not reset");
  }
  void run(std::uint64_t cycles) override {
    pump();
    time_.sync();
    if (!irq_i) wait(period * static_cast<double>(cycles), irq_i.posedge_event());
    irqs_ += irq_i;
  }
  std::uint64_t cycles() const override { return static_cast<std::uint64_t>(time_.get_current_time() / period); }
  bool irq() const override { return irq_i; }

 private:
  static constexpr std::size_t word = params.stream_width / 8;

  tlm::tlm_response_status access(tlm::tlm_command command, std::uint32_t offset, void* data, std::size_t bytes,
                                  unsigned streaming_width = 0, std::span<const unsigned char> enables = {}) {
    tlm::tlm_generic_payload payload;
    payload.set_command(command);
    payload.set_address(base + offset);
    payload.set_data_ptr(static_cast<unsigned char*>(data));
    payload.set_data_length(static_cast<unsigned>(bytes));
    payload.set_streaming_width(streaming_width ? streaming_width : static_cast<unsigned>(bytes));
    if (!enables.empty()) {
      payload.set_byte_enable_ptr(const_cast<unsigned char*>(enables.data()));
      payload.set_byte_enable_length(static_cast<unsigned>(enables.size()));
    }
    sc_time delay = time_.get_local_time();
    socket->b_transport(payload, delay);
    time_.set(delay);
    if (time_.need_sync()) time_.sync();
    return payload.get_response_status();
  }
  std::uint32_t read(std::uint32_t offset) {
    std::uint32_t value = 0;
    check(read32(offset, value), "register " + std::to_string(offset) + " is not read");
    return value;
  }

  /// Fills the FIFO.
  void pump() {
    while (!packets_.empty()) {
      auto& packet = packets_.front();
      const std::size_t space = 4 * read(systemc::tile_tlm::tx_space);
      if (space == 0) return;
      const std::size_t part = std::min(space, packet.size() - 4);
      auto* data = const_cast<std::uint8_t*>(packet.data());
      if (part != 0)
        check(access(tlm::TLM_WRITE_COMMAND, systemc::tile_tlm::tx_data, data, part, 4) == tlm::TLM_OK_RESPONSE,
              "operands are not written");
      packet = packet.subspan(part);
      if (packet.size() == 4 && space > part) {
        check(access(tlm::TLM_WRITE_COMMAND, systemc::tile_tlm::tx_last, data + part, 4) == tlm::TLM_OK_RESPONSE,
              "the end of a packet is not written");
        packets_.pop_front();
      }
    }
  }

  void main() {
    wrong_transactions();
    debug_and_time();
    TileDriverPort bus(*this);
    const ng_port_t port = bus.port();
    const ng_tile_config_t config{.port = &port, .base = 0, .timeout_ticks = 100'000};
    ng_tile_t tile{};
    expect_ok(ng_tile_init(&tile, &config), "init");
    check(tile.rows == params.rows && tile.stream_bytes == word, "the driver reads another geometry");
    for (const bool interrupts : {false, true}) {
      product(tile, "nvfp4", {.scheme = Scheme::nvfp4, .element = Format::e2m1}, 33, 17, 200, interrupts);
      product(tile, "fp8_e4m3", {.scheme = Scheme::fp8, .element = Format::e4m3}, 9, 40, 65, interrupts);
    }
    check(irqs_ > 0, "no interrupt was seen");
    time_.sync();
    sc_core::sc_stop();
  }

  void product(const ng_tile_t& tile, const std::string& name, const QuantizeOptions& options, std::size_t m,
               std::size_t n, std::size_t k, bool interrupts) {
    std::mt19937 rng(7);
    std::normal_distribution<float> normal;
    const auto matrix = [&](std::size_t rows, std::size_t cols) {
      std::vector<float> x(rows * cols);
      for (float& v : x) v = normal(rng);
      return x;
    };
    const QuantizedMatrix a = quantize(matrix(m, k), m, k, Axis::rows, options);
    const QuantizedMatrix b = quantize(matrix(k, n), k, n, Axis::columns, options);
    DriverGemm gemm(tile, a, b);
    gemm.config.interrupts = interrupts;
    const std::uint64_t before = cycles();
    expect_ok(ng_tile_gemm(&tile, &gemm.config), name);
    const std::vector<float> got = gemm.result(), expected = narrowgauge::gemm(a, b, 1);
    check(got.size() == expected.size() && std::memcmp(got.data(), expected.data(), 4 * got.size()) == 0,
          name + ": the product is not the golden model's");
    std::printf("%s %zux%zux%zu%s: %llu cycles\n", name.c_str(), m, n, k, interrupts ? ", interrupts" : "",
                static_cast<unsigned long long>(cycles() - before));
  }

  void wrong_transactions() {
    using namespace tlm;
    namespace r = tile_regs;
    std::uint32_t words[4] = {};
    const auto expect = [&](tlm_response_status status, const char* what, tlm_command command, std::uint32_t offset,
                            std::size_t bytes, unsigned streaming_width = 0,
                            std::span<const unsigned char> enables = {}) {
      const auto got = access(command, offset, words, bytes, streaming_width, enables);
      check(got == status,
            std::string(what) + ": answer " + std::to_string(got) + "; expected " + std::to_string(status));
    };
    constexpr unsigned char low_half[] = {TLM_BYTE_ENABLED, TLM_BYTE_ENABLED, TLM_BYTE_DISABLED, TLM_BYTE_DISABLED};
    expect(TLM_OK_RESPONSE, "four registers", TLM_READ_COMMAND, r::magic::offset, 16);
    check(words[0] == r::magic::reset && words[1] == r::version::reset, "magic and version are wrong");
    expect(TLM_ADDRESS_ERROR_RESPONSE, "unmapped register", TLM_READ_COMMAND, 0x018, 4);
    expect(TLM_ADDRESS_ERROR_RESPONSE, "unmapped register", TLM_WRITE_COMMAND, 0x7FC, 4);
    expect(TLM_ADDRESS_ERROR_RESPONSE, "behind the end", TLM_READ_COMMAND, systemc::tile_tlm::size, 4);
    expect(TLM_ADDRESS_ERROR_RESPONSE, "not aligned", TLM_READ_COMMAND, 2, 4);
    expect(TLM_COMMAND_ERROR_RESPONSE, "write to MAGIC", TLM_WRITE_COMMAND, r::magic::offset, 4);
    expect(TLM_COMMAND_ERROR_RESPONSE, "write to RX_DATA", TLM_WRITE_COMMAND, systemc::tile_tlm::rx_data, 4);
    expect(TLM_COMMAND_ERROR_RESPONSE, "read of TX_DATA", TLM_READ_COMMAND, systemc::tile_tlm::tx_data, 4);
    expect(TLM_BURST_ERROR_RESPONSE, "three bytes", TLM_READ_COMMAND, r::magic::offset, 3);
    expect(TLM_BURST_ERROR_RESPONSE, "streaming width 2", TLM_READ_COMMAND, r::magic::offset, 4, 2);
    expect(TLM_BYTE_ENABLE_ERROR_RESPONSE, "half of LOAD", TLM_WRITE_COMMAND, r::load::offset, 4, 0, low_half);
    expect(TLM_BYTE_ENABLE_ERROR_RESPONSE, "half of TX_DATA", TLM_WRITE_COMMAND, systemc::tile_tlm::tx_data, 4, 0,
           low_half);
    expect(TLM_BYTE_ENABLE_ERROR_RESPONSE, "half of a read", TLM_READ_COMMAND, r::magic::offset, 4, 0, low_half);
    expect(TLM_GENERIC_ERROR_RESPONSE, "empty RX_DATA", TLM_READ_COMMAND, systemc::tile_tlm::rx_data, 4);
    words[0] = 0xABCD1234;
    expect(TLM_OK_RESPONSE, "half of PANELS", TLM_WRITE_COMMAND, r::panels::offset, 4, 0, low_half);
    check(read(r::panels::offset) == 0x1234, "byte enables of PANELS are wrong");
    // A FIFO without load command fills up, but for the words at the tile's door; reset empties it.
    std::vector<std::uint32_t> many(4096);
    check(access(TLM_WRITE_COMMAND, systemc::tile_tlm::tx_data, many.data(), 4 * many.size(), 4) ==
              TLM_GENERIC_ERROR_RESPONSE,
          "a full FIFO takes words");
    check(read(systemc::tile_tlm::tx_space) == 0 && read(systemc::tile_tlm::tx_count) == 1024,
          "the full FIFO has room");
    check(write32(systemc::tile_tlm::fifo_reset, 0) && read(systemc::tile_tlm::tx_count) == 0,
          "the FIFO is not empty after reset");
    check(write32(r::control::offset, 1), "soft reset is refused");
  }

  void debug_and_time() {
    namespace r = tile_regs;
    tlm::tlm_generic_payload payload;
    std::uint32_t words[3] = {};
    payload.set_command(tlm::TLM_READ_COMMAND);
    payload.set_address(base + r::magic::offset);
    payload.set_data_ptr(reinterpret_cast<unsigned char*>(words));
    payload.set_data_length(sizeof words);
    const std::uint64_t before = cycles();
    check(socket->transport_dbg(payload) == 12 && words[0] == r::magic::reset, "debug read of the first registers");
    payload.set_address(base + 0x014);
    check(socket->transport_dbg(payload) == 4, "a debug read goes on behind MAX_BEATS");
    check(cycles() == before, "a debug read takes time");
    // The tile counts the clocks of the time that passes, at work or not.
    check(write32(r::control::offset, 2), "counters are not cleared");
    const std::uint64_t start = cycles();
    time_.inc(period * 123'456);
    time_.sync();
    const std::uint32_t counted = read(r::cycles::offset);
    const std::uint64_t passed = cycles() - start;
    check(counted <= passed && counted + 4 >= passed,
          "the tile counts " + std::to_string(counted) + " cycles; expected " + std::to_string(passed));
    check(passed - 123'456 >= 3 && passed - 123'456 <= 8, "a register read does not take the cycles of the bus");
  }

  tlm_utils::tlm_quantumkeeper time_;
  std::deque<std::span<const std::uint8_t>> packets_;
  std::size_t received_ = 0;
  std::uint64_t irqs_ = 0;
};

}  // namespace

int sc_main(int argc, char** argv) {
  wrong_result = argc > 1 && std::string_view(argv[1]) == "--self-test";
  systemc::TileTlm<params> tile("tile", period);
  Bus bus("bus");
  Processor processor("processor");
  sc_core::sc_signal<bool> irq("irq");
  processor.socket.bind(bus.in);
  bus.out.bind(tile.socket);
  tile.irq_o(irq);
  processor.irq_i(irq);
  sc_core::sc_start();
  std::printf("%d checks, %d errors\n", checks, errors);
  if (wrong_result) return errors == 4 ? 0 : 1;  // the four products
  return checks == 0 || errors != 0 ? 1 : 0;
}
