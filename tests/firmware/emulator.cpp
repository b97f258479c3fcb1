// SPDX-License-Identifier: Apache-2.0
#include "emulator.hpp"

#include <unicorn/unicorn.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "machine.h"
#include "narrowgauge/engines/driver_gemm.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "ng_fifo_port.h"

namespace narrowgauge {
namespace {

constexpr std::uint32_t page = 4096;
constexpr std::uint64_t wait_cycles = 64;  // the longest wfi

std::string hex(std::uint64_t address) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%08llx", static_cast<unsigned long long>(address));
  return text.data();
}

/// The FIFOs between core and tile. They forward whole packets, which is all that TileBus takes; a packet that is not
/// complete takes no room.
class Fifos {
 public:
  explicit Fifos(TileBus& tile) : tile_(tile) {}

  bool read(std::uint64_t offset, std::uint32_t& value) {
    tile_.run(1);
    switch (offset) {
      case NG_FIFO_TX_SPACE: {
        const std::size_t waiting = words_waiting();
        value = static_cast<std::uint32_t>(waiting < depth ? depth - waiting : 0);
        return true;
      }
      case NG_FIFO_TX_COUNT:
        value = static_cast<std::uint32_t>(words_waiting() + packet_.size() / 4);
        return true;
      case NG_FIFO_RX_COUNT:
        take_results();
        value = static_cast<std::uint32_t>(results_.size() / 4);
        return true;
      case NG_FIFO_RX_DATA:
        if (results_.empty()) return false;
        value = 0;
        for (int byte = 0; byte < 4; ++byte) {
          value |= static_cast<std::uint32_t>(results_.front()) << 8 * byte;
          results_.pop_front();
        }
        return true;
      default:
        return false;
    }
  }

  bool write(std::uint64_t offset, std::uint32_t value) {
    tile_.run(1);
    switch (offset) {
      case NG_FIFO_TX_DATA:
      case NG_FIFO_TX_LAST:
        for (int byte = 0; byte < 4; ++byte) packet_.push_back(static_cast<std::uint8_t>(value >> 8 * byte));
        if (offset == NG_FIFO_TX_LAST) {
          static_cast<void>(words_waiting());
          packets_.push_back(std::move(packet_));
          packet_.clear();
          tile_.send(packets_.back());
        }
        return true;
      case NG_FIFO_RESET:
        tile_.reset_streams();
        packet_.clear();
        packets_.clear();
        results_.clear();
        return true;
      default:
        return false;
    }
  }

 private:
  static constexpr std::size_t depth = 512;  // words

  /// Words of complete packets that have not left; forgets those that have.
  std::size_t words_waiting() {
    while (packets_.size() > tile_.packets_waiting()) packets_.pop_front();
    std::size_t bytes = 0;
    for (const auto& packet : packets_) bytes += packet.size();
    return bytes / 4;
  }

  void take_results() {
    std::array<std::uint8_t, 256> some{};  // a multiple of any stream word
    const std::size_t bytes = results_.size() < depth * 4 ? tile_.receive(some) : 0;
    results_.insert(results_.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(bytes));
  }

  TileBus& tile_;
  std::vector<std::uint8_t> packet_;               // as far as it has come
  std::deque<std::vector<std::uint8_t>> packets_;  // on their way; elements stay where they are
  std::deque<std::uint8_t> results_;
};

/// What the library calls a core, and the program for it.
struct Kind {
  const char* name;
  uc_arch arch;
  uc_mode mode;
  int argument, pc;   ///< registers
  std::uint32_t set;  ///< bit of an address that says which instructions are there
  const char* image;
};
Kind kind_of(Core core) {
  if (core == Core::rv32imc) {
    return {"RV32", UC_ARCH_RISCV, UC_MODE_RISCV32, UC_RISCV_REG_A0, UC_RISCV_REG_PC, 0, NG_BARE_IMAGES "/rv32.bin"};
  }
  constexpr auto mode = static_cast<uc_mode>(UC_MODE_THUMB | UC_MODE_MCLASS);
  return {"Cortex-M3", UC_ARCH_ARM, mode, UC_ARM_REG_R0, UC_ARM_REG_PC, 1, NG_BARE_IMAGES "/arm.bin"};
}

class Machine {
 public:
  Machine(TileBus& tile, Core which) : kind_(kind_of(which)), tile_(tile), fifos_(tile) {
    uc_engine* core = nullptr;
    check(uc_open(kind_.arch, kind_.mode, &core), "creating the core");
    core_.reset(core);
    check(uc_mem_map(core, BARE_MEMORY, BARE_MEMORY_BYTES, UC_PROT_ALL), "mapping memory");
    for (const std::uint32_t base : {BARE_TILE, BARE_FIFO, BARE_TIME}) {
      devices_.push_back({this, base});
    }
    for (Device& device : devices_) {
      check(uc_mmio_map(core, device.base, page, read, &device, write, &device), "mapping devices");
    }
    std::ifstream file(kind_.image, std::ios::binary);
    const std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
    if (image.empty())
      throw Error(std::string("cannot read the program ") + kind_.image + ": build target ng_bare_images");
    store(BARE_MEMORY, image.data(), image.size());
  }

  void store(std::uint32_t address, const void* data, std::size_t bytes) {
    check(uc_mem_write(core_.get(), address, data, bytes), "writing memory");
  }
  void fetch(std::uint32_t address, void* data, std::size_t bytes) {
    check(uc_mem_read(core_.get(), address, data, bytes), "reading memory");
  }

  /// From reset to EXIT.
  void run(std::uint32_t argument) {
    std::uint32_t pc = BARE_MEMORY;
    check(uc_reg_write(core_.get(), kind_.argument, &argument), "writing the argument");
    while (!exited_) {
      const uc_err result = uc_emu_start(core_.get(), pc | kind_.set, ~std::uint64_t{0}, 0, 0);
      if (!failure_.empty()) throw Error(failure_);
      check(uc_reg_read(core_.get(), kind_.pc, &pc), "reading pc");
      check(result, "executing at " + hex(pc));
      if (!exited_) tile_.run(wait_cycles);  // wfi ends the emulation
    }
  }

  std::uint64_t accesses() const { return accesses_; }

 private:
  struct Device {
    Machine* machine;
    std::uint32_t base;
  };
  struct Close {
    void operator()(uc_engine* core) const { uc_close(core); }
  };

  void check(uc_err result, const std::string& what) const {
    if (result != UC_ERR_OK)
      throw Error(std::string(kind_.name) + " emulation failed " + what + ": " + uc_strerror(result));
  }

  // Nothing may be thrown through the library: the first failure is kept and ends the emulation.
  template <class Access>
  void access(const Device& device, std::uint64_t offset, unsigned size, const char* verb, const Access& act) {
    if (!failure_.empty()) return;
    ++accesses_;
    try {
      if (size == 4 && offset % 4 == 0 && act()) return;
      failure_ = std::string("the ") + kind_.name + " program " + verb + " " + std::to_string(size) + " bytes at " +
                 hex(device.base + offset) + ", which the bus refused";
    } catch (const std::exception& error) {
      failure_ = error.what();
    }
    uc_emu_stop(core_.get());
  }

  static std::uint64_t read(uc_engine*, std::uint64_t offset, unsigned size, void* user) {
    const Device& device = *static_cast<Device*>(user);
    Machine& machine = *device.machine;
    std::uint32_t value = 0;
    machine.access(device, offset, size, "read", [&] {
      if (device.base == BARE_TILE) return machine.tile_.read32(static_cast<std::uint32_t>(offset), value);
      if (device.base == BARE_FIFO) return machine.fifos_.read(offset, value);
      value = static_cast<std::uint32_t>(machine.tile_.cycles());
      return offset == 0;
    });
    return value;
  }

  static void write(uc_engine* core, std::uint64_t offset, unsigned size, std::uint64_t value, void* user) {
    const Device& device = *static_cast<Device*>(user);
    Machine& machine = *device.machine;
    const auto word = static_cast<std::uint32_t>(value);
    machine.access(device, offset, size, "wrote", [&] {
      if (device.base == BARE_TILE) return machine.tile_.write32(static_cast<std::uint32_t>(offset), word);
      if (device.base == BARE_FIFO) return machine.fifos_.write(offset, word);
      machine.exited_ = offset == BARE_EXIT - BARE_TIME;
      if (machine.exited_) uc_emu_stop(core);
      return machine.exited_;
    });
  }

  Kind kind_;
  TileBus& tile_;
  Fifos fifos_;
  std::unique_ptr<uc_engine, Close> core_;
  std::deque<Device> devices_;  // the library keeps their addresses
  std::string failure_;
  std::uint64_t accesses_ = 0;
  bool exited_ = false;
};

}  // namespace

BareResult bare_gemm(TileBus& tile, const QuantizedMatrix& a, const QuantizedMatrix& b, const BareOptions& options) {
  Machine machine(tile, options.core);
  std::uint32_t next = BARE_DATA + sizeof(bare_job_t);
  const auto place = [&](const std::vector<std::uint8_t>& bytes) {
    const std::uint32_t address = next;
    if (bytes.size() > BARE_MEMORY + BARE_MEMORY_BYTES - next) {
      throw Error("operands of " + std::to_string(a.codes.size() + b.codes.size()) + " bytes do not fit the " +
                  std::to_string(BARE_MEMORY_BYTES) + " bytes of the machine: take smaller ones");
    }
    machine.store(address, bytes.data(), bytes.size());
    next += static_cast<std::uint32_t>((bytes.size() + 3) / 4 * 4);
    return address;
  };
  const auto matrix = [&](const QuantizedMatrix& q) {
    const ng_matrix_t m = driver_matrix(q);
    return bare_matrix_t{.format = static_cast<std::uint32_t>(m.format),
                         .rows = m.rows,
                         .k = m.k,
                         .k_padded = m.k_padded,
                         .codes = place(q.codes),
                         .scales = m.scales ? place(q.scales) : 0};
  };
  bare_job_t job{.a = matrix(a),
                 .b = matrix(b),
                 .scale = std::bit_cast<std::uint32_t>(epilogue_scales(a.tensor_scale, b.tensor_scale).first),
                 .bf16 = options.bf16,
                 .interrupts = options.interrupts,
                 .timeout_ticks = options.timeout_ticks,
                 .heap = 0,
                 .heap_bytes = 0,
                 .result = NG_ERROR_UNKNOWN,
                 .c = 0};
  job.heap = next;
  job.heap_bytes = options.heap_bytes != 0 ? options.heap_bytes : BARE_MEMORY + BARE_MEMORY_BYTES - next;
  machine.store(BARE_DATA, &job, sizeof job);

  const std::uint64_t start = tile.cycles();
  machine.run(BARE_DATA);
  machine.fetch(BARE_DATA, &job, sizeof job);

  BareResult out{.result = static_cast<ng_result_t>(job.result),
                 .c = {},
                 .cycles = tile.cycles() - start,
                 .accesses = machine.accesses()};
  if (out.result != NG_OK) return out;
  const std::size_t size = options.bf16 ? 2 : 4;
  std::vector<std::uint8_t> bytes(a.rows * b.rows * size);
  machine.fetch(job.c, bytes.data(), bytes.size());
  out.c = floats_of(bytes, options.bf16);
  return out;
}

}  // namespace narrowgauge
