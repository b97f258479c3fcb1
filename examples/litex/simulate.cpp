// SPDX-License-Identifier: Apache-2.0
// Clock and reset of the SoC of soc.py, as Verilated: prints what the program writes to the UART, and ends with its
// exit code. Exit code 4: the program has not ended within the cycles of the argument.
#include <verilated.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "Vsoc.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: Vsoc CYCLES\n");
    return 2;
  }
  const std::uint64_t limit = std::strtoull(argv[1], nullptr, 10);
  constexpr std::uint64_t reset_cycles = 8, drain_cycles = 64;  // the UART's FIFO empties after the program's end
  Vsoc soc;
  soc.serial_source_ready = 1;
  std::uint64_t end = limit;
  int code = 4;
  for (std::uint64_t cycle = 0; cycle < end; ++cycle) {
    soc.sys_rst = cycle < reset_cycles;
    soc.sys_clk = 0;
    soc.eval();
    if (soc.serial_source_valid) std::putchar(soc.serial_source_data);
    if (soc.exit_valid && code == 4) {
      code = static_cast<int>(soc.exit_code);
      end = cycle + drain_cycles;
      std::fprintf(stderr, "simulate: %llu cycles\n", static_cast<unsigned long long>(cycle));
    }
    soc.sys_clk = 1;
    soc.eval();
  }
  if (code == 4) std::fprintf(stderr, "simulate: the program has not ended after %s cycles\n", argv[1]);
  return code;
}
