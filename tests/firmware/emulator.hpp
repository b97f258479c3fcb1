// SPDX-License-Identifier: Apache-2.0
// A core, RV32 or ARM, emulated by the Unicorn library, whose bus is a simulated tile: firmware in the loop.
#pragma once

#include <cstdint>
#include <vector>

#include "narrowgauge/engines/tile_bus.hpp"
#include "narrowgauge/ng_tile.h"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge {

enum class Core { rv32imc, cortex_m3 };

struct BareOptions {
  Core core = Core::rv32imc;
  bool bf16 = false;
  bool interrupts = false;
  std::uint32_t timeout_ticks = 1'000'000;  ///< of the driver, in clock cycles of the tile
  std::uint32_t heap_bytes = 0;             ///< memory for packed operands and results; 0: all there is
};

struct BareResult {
  ng_result_t result = NG_ERROR_UNKNOWN;  ///< what the driver said on the core
  std::vector<float> c;        ///< row-major, a.rows x b.rows; BF16 results as the floats that they are; empty
                               ///< unless `result` is NG_OK
  std::uint64_t cycles = 0;    ///< of the tile, from the core's reset to its end
  std::uint64_t accesses = 0;  ///< of the core to registers and FIFOs
};

/// Runs firmware/bare/gemm.c, compiled for the core, on an emulated one: C = A x B on `tile`, which may be any
/// simulation. The core takes no time of its own: the tile's clock advances in register accesses (as TileBus says), at
/// most one cycle in an access to a FIFO, and while the core waits. Throws Error if the program accesses what is not
/// there, the tile refuses an access, or the operands do not fit the machine's memory.
BareResult bare_gemm(TileBus& tile, const QuantizedMatrix& a, const QuantizedMatrix& b, const BareOptions& = {});

}  // namespace narrowgauge
