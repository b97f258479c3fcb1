/* SPDX-License-Identifier: Apache-2.0 */
/* A product on a tile in a SoC of LiteX: the driver behind LiteX's bus, its interrupt, and its UART. Results are
 * printed, and compared with those of the golden model, which a header has beside the operands (run.py). */
#include <generated/csr.h>
#include <generated/mem.h>
#include <generated/soc.h>
#include <irq.h>

#include "narrowgauge/ng_tile.h"
#include "ng_fifo_port.h"
#include "operands.h"

enum { PACKED_WORDS = 2048, SCRATCH_WORDS = 256, TIMEOUT = 1000000, WAIT = 16 };

static uint32_t packed_a[PACKED_WORDS], packed_b[PACKED_WORDS], scratch[SCRATCH_WORDS], c[M * N];
static volatile uint32_t interrupts;

/* The compiler sets structures to zero with this one. */
void *memset(void *to, int value, size_t bytes);
void *memset(void *to, int value, size_t bytes) {
  volatile uint8_t *p = to;
  while (bytes--) *p++ = (uint8_t)value;
  return to;
}

static void put(char letter) {
  while (uart_txfull_read()) {
  }
  uart_rxtx_write((uint8_t)letter);
}

static void print(const char *text) {
  while (*text) put(*text++);
}

static void print_number(uint32_t value) {
  if (value >= 10) print_number(value / 10);
  put((char)('0' + value % 10));
}

static void print_code(uint32_t code) {
  for (int shift = 28; shift >= 0; shift -= 4) put("0123456789abcdef"[code >> shift & 15]);
}

/* LiteX's start-up code calls this one at every trap. The tile's interrupt is a level that the driver ends with its
 * next step, so it is let through again when the driver waits. */
void isr(void);
void isr(void) {
  if (!(irq_pending() & irq_getmask())) {
    print("a trap that is no interrupt: an instruction that this CPU does not have, for instance\n");
    simulation_exit_write(2);
  }
  ++interrupts;
  narrowgauge_ev_enable_write(0);
}

/* LiteX's timer counts down. */
static uint32_t ticks(void) {
  timer0_update_value_write(1);
  return ~timer0_value_read();
}

static void idle(void) {
  const uint32_t before = interrupts;
  narrowgauge_ev_enable_write(1);
  for (int i = 0; i < WAIT && interrupts == before; ++i) __asm__ volatile("nop");
}

static ng_result_t multiply(void) {
  ng_fifo_port_t fifo = {.fifo = NARROWGAUGE_FIFO_BASE, .ticks = ticks, .idle = idle};
  const ng_port_t port = ng_fifo_port(&fifo);
  const ng_tile_config_t where = {.port = &port, .base = NARROWGAUGE_BASE, .timeout_ticks = TIMEOUT};
  ng_tile_t tile;
  ng_result_t result = ng_tile_init(&tile, &where);
  if (result != NG_OK) return result;

  const ng_matrix_t a = {
      .format = NG_NVFP4, .rows = M, .k = K, .k_padded = K_PADDED, .codes = a_codes, .scales = a_scales};
  const ng_matrix_t b = {
      .format = NG_NVFP4, .rows = N, .k = K, .k_padded = K_PADDED, .codes = b_codes, .scales = b_scales};
  ng_gemm_config_t product = {.c = c,
                              .c_bytes = sizeof c,
                              .scale = SCALE,
                              .interrupts = true,
                              .scratch = scratch,
                              .scratch_bytes = sizeof scratch};
  result = ng_tile_pack(&tile, &a, NG_SIDE_A, packed_a, sizeof packed_a, &product.a);
  if (result != NG_OK) return result;
  result = ng_tile_pack(&tile, &b, NG_SIDE_B, packed_b, sizeof packed_b, &product.b);
  if (result != NG_OK) return result;

  narrowgauge_ev_enable_write(1);
  const uint32_t start = ticks();
  result = ng_tile_gemm(&tile, &product);
  print("ticks ");
  print_number(ticks() - start);
  print("\ninterrupts ");
  print_number(interrupts);
  put('\n');
  return result;
}

int main(void);
int main(void) {
  timer0_en_write(0);
  timer0_reload_write(UINT32_MAX);
  timer0_load_write(UINT32_MAX);
  timer0_en_write(1);
  irq_setmask(1U << NARROWGAUGE_INTERRUPT);
  irq_setie(1);

  const ng_result_t result = multiply();
  if (result != NG_OK) {
    print(ng_result_text(result));
    put('\n');
    simulation_exit_write(3);
  }
  uint32_t equal = 0;
  for (uint32_t row = 0; row < M; ++row) {
    print("c");
    for (uint32_t column = 0; column < N; ++column) {
      put(' ');
      print_code(c[row * N + column]);
      equal += c[row * N + column] == golden[row * N + column];
    }
    put('\n');
  }
  print_number(equal);
  print(" of ");
  print_number(M * N);
  print(" results are the golden model's\n");
  simulation_exit_write(equal == M * N ? 0 : 1);
  for (;;) {
  }
}
