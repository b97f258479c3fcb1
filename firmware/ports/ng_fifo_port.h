/* SPDX-License-Identifier: Apache-2.0 */
/* Bare-metal port: the tile's registers in memory, its streams behind a pair of memory-mapped FIFOs. Needs no DMA and
 * no interrupt controller, so it is the first port to try on a new system, and the example for others (docs/driver.md:
 * "Bring your own bus"). */
#ifndef NARROWGAUGE_NG_FIFO_PORT_H_
#define NARROWGAUGE_NG_FIFO_PORT_H_

#include "narrowgauge/ng_tile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The FIFOs' registers: 32-bit words, little-endian, byte offsets. */
enum {
  NG_FIFO_TX_DATA = 0x00,  /* write: the next 4 bytes of a packet */
  NG_FIFO_TX_LAST = 0x04,  /* write: the last 4 bytes of a packet; TLAST comes with their stream word */
  NG_FIFO_TX_SPACE = 0x08, /* read: how many words may be written */
  NG_FIFO_TX_COUNT = 0x0C, /* read: how many written words have not left for the tile */
  NG_FIFO_RX_DATA = 0x10,  /* read: the next 4 bytes of results; only if RX_COUNT is not 0 */
  NG_FIFO_RX_COUNT = 0x14, /* read: how many words may be read, of results of which the whole stream word is there */
  NG_FIFO_RESET = 0x18     /* write: anything; both FIFOs are empty afterwards */
};

typedef struct ng_fifo_port {
  uintptr_t fifo;          /* address of TX_DATA */
  uint32_t (*ticks)(void); /* as in ng_port_t */
  void (*idle)(void);      /* for example the instruction that waits for interrupts; null: the driver polls */
  /* The port's: what of the packet under way is not in the FIFO. */
  const uint8_t *packet;
  size_t packet_bytes;
} ng_fifo_port_t;

/* The driver's port through `fifo`, which must outlive it. ng_tile_config_t.base is the address of the tile. */
ng_port_t ng_fifo_port(ng_fifo_port_t *fifo);

#ifdef __cplusplus
}
#endif

#endif /* NARROWGAUGE_NG_FIFO_PORT_H_ */
