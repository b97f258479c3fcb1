/* SPDX-License-Identifier: Apache-2.0 */
/* The driver on bare metal: the whole of a program that multiplies two matrices. */
#include "machine.h"
#include "narrowgauge/ng_tile.h"
#include "ng_fifo_port.h"

static uint32_t ticks(void) { return *(volatile const uint32_t *)BARE_TIME; }

static void idle(void) { __asm__ volatile("wfi" ::: "memory"); }

/* The next `bytes` of the job's heap, in whole words; null if it has no room. */
static void *take(bare_job_t *job, size_t bytes) {
  const size_t rounded = (bytes + 3) & ~(size_t)3;
  if (rounded < bytes || rounded > job->heap_bytes) return NULL;
  void *memory = (void *)job->heap;
  job->heap += rounded;
  job->heap_bytes -= rounded;
  return memory;
}

static ng_result_t pack(bare_job_t *job, const ng_tile_t *tile, const bare_matrix_t *from, ng_side_t side,
                        ng_operand_t *operand) {
  const ng_matrix_t matrix = {.format = (ng_format_t)from->format,
                              .rows = from->rows,
                              .k = from->k,
                              .k_padded = from->k_padded,
                              .codes = (const uint8_t *)from->codes,
                              .scales = (const uint8_t *)from->scales};
  size_t bytes;
  const ng_result_t result = ng_tile_pack_size(tile, &matrix, side, &bytes);
  if (result != NG_OK) return result;
  void *buffer = take(job, bytes);
  return buffer ? ng_tile_pack(tile, &matrix, side, buffer, bytes, operand) : NG_ERROR_MEMORY;
}

static ng_result_t gemm(bare_job_t *job) {
  ng_fifo_port_t fifo = {.fifo = BARE_FIFO, .ticks = ticks, .idle = idle};
  const ng_port_t port = ng_fifo_port(&fifo);
  const ng_tile_config_t config = {.port = &port, .base = BARE_TILE, .timeout_ticks = job->timeout_ticks};
  ng_tile_t tile;
  ng_result_t result = ng_tile_init(&tile, &config);
  if (result != NG_OK) return result;

  ng_gemm_config_t product = {
      .scale = job->scale, .bf16 = job->bf16 != 0, .interrupts = job->interrupts != 0, .scratch_bytes = 1024};
  result = pack(job, &tile, &job->a, NG_SIDE_A, &product.a);
  if (result != NG_OK) return result;
  result = pack(job, &tile, &job->b, NG_SIDE_B, &product.b);
  if (result != NG_OK) return result;
  product.c_bytes = (size_t)job->a.rows * job->b.rows * (product.bf16 ? 2 : 4);
  product.c = take(job, product.c_bytes);
  product.scratch = take(job, product.scratch_bytes);
  job->c = (uint32_t)product.c;
  return product.c && product.scratch ? ng_tile_gemm(&tile, &product) : NG_ERROR_MEMORY;
}

int main(bare_job_t *job);
int main(bare_job_t *job) {
  job->result = gemm(job);
  return 0;
}
