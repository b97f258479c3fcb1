/* SPDX-License-Identifier: Apache-2.0 */
#include "ng_fifo_port.h"

enum { WORD = 4 };

static volatile uint32_t *at(uintptr_t address) { return (volatile uint32_t *)address; }

/* A refused access is a trap on most processors; one whose handler can tell would return NG_ERROR_BUS here. */
static ng_result_t read32(void *ctx, uint32_t address, uint32_t *value) {
  (void)ctx;
  *value = *at(address);
  return NG_OK;
}
static ng_result_t write32(void *ctx, uint32_t address, uint32_t value) {
  (void)ctx;
  *at(address) = value;
  return NG_OK;
}

/* Packets are longer than FIFOs: every call moves on what fits. */
static void pump(ng_fifo_port_t *port) {
  while (port->packet_bytes != 0) {
    uint32_t space = *at(port->fifo + NG_FIFO_TX_SPACE);
    if (space == 0) return;
    for (; space != 0 && port->packet_bytes != 0; --space) {
      const uint8_t *p = port->packet;
      const uint32_t word = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
      *at(port->fifo + (port->packet_bytes == WORD ? NG_FIFO_TX_LAST : NG_FIFO_TX_DATA)) = word;
      port->packet += WORD;
      port->packet_bytes -= WORD;
    }
  }
}

static ng_result_t stream_send(void *ctx, const void *data, size_t bytes) {
  ng_fifo_port_t *port = ctx;
  pump(port);
  if (port->packet_bytes != 0) return NG_BUSY;
  if (bytes == 0 || bytes % WORD != 0) return NG_ERROR_STREAM;
  port->packet = data;
  port->packet_bytes = bytes;
  pump(port);
  return NG_OK;
}

static ng_result_t stream_send_done(void *ctx, bool *done) {
  ng_fifo_port_t *port = ctx;
  pump(port);
  *done = port->packet_bytes == 0 && *at(port->fifo + NG_FIFO_TX_COUNT) == 0;
  return NG_OK;
}

static ng_result_t stream_receive(void *ctx, void *buffer, size_t bytes, size_t *arrived) {
  ng_fifo_port_t *port = ctx;
  pump(port);
  const size_t ready = *at(port->fifo + NG_FIFO_RX_COUNT), room = bytes / WORD;
  const size_t words = ready < room ? ready : room;
  uint8_t *out = buffer;
  for (size_t i = 0; i < words; ++i) {
    const uint32_t word = *at(port->fifo + NG_FIFO_RX_DATA);
    for (int byte = 0; byte < WORD; ++byte) *out++ = (uint8_t)(word >> 8 * byte);
  }
  *arrived = words * WORD;
  return NG_OK;
}

static ng_result_t stream_reset(void *ctx) {
  ng_fifo_port_t *port = ctx;
  port->packet_bytes = 0;
  *at(port->fifo + NG_FIFO_RESET) = 0;
  return NG_OK;
}

static uint32_t ticks(void *ctx) { return ((const ng_fifo_port_t *)ctx)->ticks(); }

static void idle(void *ctx) { ((const ng_fifo_port_t *)ctx)->idle(); }

ng_port_t ng_fifo_port(ng_fifo_port_t *fifo) {
  const ng_port_t port = {.ctx = fifo,
                          .read32 = read32,
                          .write32 = write32,
                          .stream_send = stream_send,
                          .stream_send_done = stream_send_done,
                          .stream_receive = stream_receive,
                          .stream_reset = stream_reset,
                          .ticks = ticks,
                          .idle = fifo->idle ? idle : NULL};
  fifo->packet = NULL;
  fifo->packet_bytes = 0;
  return port;
}
