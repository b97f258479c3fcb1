/* SPDX-License-Identifier: Apache-2.0 */
/* Linux port: a tile and its pair of FIFOs behind one device of UIO, the kernel's driver of devices in user space. The
 * device has two maps, the tile's registers and the FIFOs', and the tile's interrupt (ng_uio.dtso is a device tree
 * overlay for it). docs/driver.md, "Linux", says how to try it.
 *
 * Source: the kernel's driver-api/uio-howto. */
#ifndef NARROWGAUGE_NG_UIO_PORT_H_
#define NARROWGAUGE_NG_UIO_PORT_H_

#include "ng_fifo_port.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ng_uio_config {
  const char *name;      /* what the device calls itself, in sysfs: the node's name in the device tree */
  const char *sysfs;     /* null: /sys/class/uio */
  const char *dev;       /* null: /dev */
  int idle_milliseconds; /* longest wait for an interrupt, well below the driver's timeout; 0: the driver polls */
} ng_uio_config_t;

typedef struct ng_uio_port {
  ng_fifo_port_t fifo;
  ng_port_t streams; /* of `fifo` */
  int fd;            /* of the device; -1: closed */
  int idle_milliseconds;
  uint8_t *tile, *fifos;         /* the maps */
  size_t tile_bytes, fifo_bytes; /* of registers */
  void *mapped[2];               /* whole pages of each */
  size_t mapped_bytes[2];
  uint32_t interrupts; /* that `idle` has seen */
  uint32_t missed;     /* more that came since the first of them, while nobody waited */
  uint32_t counted;    /* by the kernel, at the last one seen */
  bool broken;         /* the device gave an error in `idle`: every later access is NG_ERROR_BUS */
} ng_uio_port_t;

/* Finds the device by its name, opens and maps it. NG_OK, or NG_ERROR_BUS and a sentence in `error`, which names what
 * was looked for, what was found and what to do; then nothing is open. `error` is cut to `error_bytes`. */
NG_MUST_CHECK ng_result_t ng_uio_open(ng_uio_port_t *uio, const ng_uio_config_t *config, char *error,
                                      size_t error_bytes);

/* The driver's port through `uio`, which must outlive it. ng_tile_config_t.base is 0, and a tick is a microsecond. */
ng_port_t ng_uio_port(ng_uio_port_t *uio);

/* Unmaps and closes. A port that was not opened, or is closed, stays so. */
void ng_uio_close(ng_uio_port_t *uio);

#ifdef __cplusplus
}
#endif

#endif /* NARROWGAUGE_NG_UIO_PORT_H_ */
