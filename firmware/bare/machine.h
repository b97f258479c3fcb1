/* SPDX-License-Identifier: Apache-2.0 */
/* What the emulated machines (emulator.hpp) and the program on them (gemm.c) agree on.
 *
 *   0x1000'0000  the tile's registers
 *   0x1001'0000  FIFOs of its streams (ports/ng_fifo_port.h)
 *   0x1002'0000  TIME: read: clock cycles of the tile, low word;  + 4: EXIT: write: ends the program
 *   0x8000'0000  memory: the program, with its stack up to DATA; from DATA on the job and what belongs to it
 *
 * The program starts at the first byte of memory, with the address of the job in the first argument's register, a0 or
 * r0. `wfi` waits for the tile's interrupt, for a packet that has left, for results, or 64 cycles. A register access
 * that the tile refuses ends the emulation. */
#ifndef NARROWGAUGE_BARE_MACHINE_H_
#define NARROWGAUGE_BARE_MACHINE_H_

#include <stdint.h>

enum {
  BARE_TILE = 0x10000000,
  BARE_FIFO = 0x10010000,
  BARE_TIME = 0x10020000,
  BARE_EXIT = BARE_TIME + 4,
};
#define BARE_MEMORY 0x80000000u
#define BARE_DATA 0x80010000u
#define BARE_MEMORY_BYTES 0x02000000u

/* ng_matrix_t with addresses as the machine has them. */
typedef struct bare_matrix {
  uint32_t format, rows, k, k_padded, codes, scales;
} bare_matrix_t;

/* One product. Everything is a word, so that both sides see the same structure. */
typedef struct bare_job {
  bare_matrix_t a, b;
  uint32_t scale, bf16, interrupts, timeout_ticks;
  uint32_t heap, heap_bytes; /* memory for packed operands, results and scratch */
  uint32_t result;           /* out: ng_result_t */
  uint32_t c;                /* out: address of C, row-major */
} bare_job_t;

#endif /* NARROWGAUGE_BARE_MACHINE_H_ */
