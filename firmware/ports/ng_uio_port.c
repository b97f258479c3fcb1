/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "ng_uio_port.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { WORD = 4, PATH_BYTES = 512, TILE_BYTES = 0x1000, FIFO_BYTES = NG_FIFO_RESET + WORD };

/* ---- sysfs ---- */

/* The first line of a file, without its end; false if there is none. */
static bool first_line(const char *path, char *line, int bytes) {
  FILE *file = fopen(path, "r");
  if (!file) return false;
  const bool read = fgets(line, bytes, file) != NULL;
  (void)fclose(file);
  if (read) line[strcspn(line, "\n")] = '\0';
  return read;
}

/* A number that a file holds, in hexadecimal as the kernel writes it. */
static bool number(const char *folder, unsigned map, const char *what, size_t *value) {
  char path[PATH_BYTES], line[64];
  if (snprintf(path, sizeof path, "%s/maps/map%u/%s", folder, map, what) >= (int)sizeof path) return false;
  if (!first_line(path, line, sizeof line)) return false;
  char *end;
  errno = 0;
  const unsigned long long read = strtoull(line, &end, 0);
  *value = (size_t)read;
  return errno == 0 && end != line && *end == '\0' && read == *value;
}

/* The number N of the first uioN with this name, or -1; the names of all others go to `found`. */
static int find(const char *sysfs, const char *name, char *found, size_t bytes) {
  int lowest = -1;
  found[0] = '\0';
  DIR *folder = opendir(sysfs);
  if (!folder) return -1;
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    int index, end = 0;
    char path[PATH_BYTES], line[128];
    if (sscanf(entry->d_name, "uio%d%n", &index, &end) != 1 || entry->d_name[end] != '\0') continue;
    if (snprintf(path, sizeof path, "%s/%s/name", sysfs, entry->d_name) >= (int)sizeof path) continue;
    if (!first_line(path, line, sizeof line)) continue;
    if (strcmp(line, name) == 0) {
      if (lowest < 0 || index < lowest) lowest = index;
    } else {
      const size_t used = strlen(found);
      (void)snprintf(found + used, bytes - used, "%s%s", used ? ", " : "", line);
    }
  }
  (void)closedir(folder);
  return lowest;
}

/* ---- maps ---- */

/* Maps `map` of the device: map k is at k pages of the file, and its registers begin at `offset` of the map. */
static bool map_registers(ng_uio_port_t *uio, const char *folder, unsigned map, size_t least, uint8_t **registers,
                          size_t *bytes, char *error, size_t error_bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t size, offset;
  if (!number(folder, map, "size", &size)) {
    (void)snprintf(error, error_bytes, "%s/maps/map%u/size is no number; expected map %u, %s", folder, map, map,
                   map == 0 ? "the tile's registers" : "the FIFOs' registers");
    return false;
  }
  if (!number(folder, map, "offset", &offset)) offset = 0; /* kernels before 3.14 have none */
  if (offset >= page || size < least) {
    (void)snprintf(error, error_bytes,
                   "%s has %zu bytes from %zu on in map %u; expected %zu or more, which begin in the first page",
                   folder, size, offset, map, least);
    return false;
  }
  const size_t whole = (offset + size + page - 1) / page * page;
  void *mapped = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_SHARED, uio->fd, (off_t)(map * page));
  if (mapped == MAP_FAILED) {
    (void)snprintf(error, error_bytes, "map %u of %s cannot be mapped (%s); expected a device of UIO", map, folder,
                   strerror(errno));
    return false;
  }
  uio->mapped[map] = mapped;
  uio->mapped_bytes[map] = whole;
  *registers = (uint8_t *)mapped + offset;
  *bytes = size;
  return true;
}

ng_result_t ng_uio_open(ng_uio_port_t *uio, const ng_uio_config_t *config, char *error, size_t error_bytes) {
  if (!uio || !config || !config->name || !error || error_bytes == 0) return NG_ERROR_ARGUMENT;
  memset(uio, 0, sizeof *uio);
  uio->fd = -1;
  uio->idle_milliseconds = config->idle_milliseconds;
  const char *sysfs = config->sysfs ? config->sysfs : "/sys/class/uio";
  const char *dev = config->dev ? config->dev : "/dev";
  char folder[PATH_BYTES], device[PATH_BYTES], others[PATH_BYTES];
  const int index = find(sysfs, config->name, others, sizeof others);
  if (index < 0) {
    (void)snprintf(error, error_bytes,
                   "%s has no device \"%s\" (it has: %s); expected one: load the overlay, and uio_pdrv_genirq with "
                   "of_id=generic-uio",
                   sysfs, config->name, others[0] ? others : "none");
    return NG_ERROR_BUS;
  }
  if (snprintf(folder, sizeof folder, "%s/uio%d", sysfs, index) >= (int)sizeof folder ||
      snprintf(device, sizeof device, "%s/uio%d", dev, index) >= (int)sizeof device) {
    (void)snprintf(error, error_bytes, "the path of %s is too long; expected less than %d bytes", sysfs, PATH_BYTES);
    return NG_ERROR_BUS;
  }
  uio->fd = open(device, O_RDWR | O_CLOEXEC);
  if (uio->fd < 0) {
    (void)snprintf(error, error_bytes, "%s cannot be opened (%s); expected a device that this user may read and write",
                   device, strerror(errno));
    return NG_ERROR_BUS;
  }
  if (!map_registers(uio, folder, 0, TILE_BYTES, &uio->tile, &uio->tile_bytes, error, error_bytes) ||
      !map_registers(uio, folder, 1, FIFO_BYTES, &uio->fifos, &uio->fifo_bytes, error, error_bytes)) {
    ng_uio_close(uio);
    return NG_ERROR_BUS;
  }
  return NG_OK;
}

void ng_uio_close(ng_uio_port_t *uio) {
  for (int map = 0; map < 2; ++map) {
    if (uio->mapped[map]) (void)munmap(uio->mapped[map], uio->mapped_bytes[map]);
    uio->mapped[map] = NULL;
  }
  if (uio->fd >= 0) (void)close(uio->fd);
  uio->fd = -1;
}

/* ---- the driver's callbacks ---- */

static ng_result_t read32(void *ctx, uint32_t address, uint32_t *value) {
  const ng_uio_port_t *uio = ctx;
  if (uio->broken || address % WORD != 0 || address > uio->tile_bytes - WORD) return NG_ERROR_BUS;
  *value = *(const volatile uint32_t *)(uio->tile + address);
  return NG_OK;
}
static ng_result_t write32(void *ctx, uint32_t address, uint32_t value) {
  const ng_uio_port_t *uio = ctx;
  if (uio->broken || address % WORD != 0 || address > uio->tile_bytes - WORD) return NG_ERROR_BUS;
  *(volatile uint32_t *)(uio->tile + address) = value;
  return NG_OK;
}
static ng_result_t stream_send(void *ctx, const void *data, size_t bytes) {
  ng_uio_port_t *uio = ctx;
  return uio->broken ? NG_ERROR_STREAM : uio->streams.stream_send(&uio->fifo, data, bytes);
}
static ng_result_t stream_send_done(void *ctx, bool *done) {
  ng_uio_port_t *uio = ctx;
  return uio->streams.stream_send_done(&uio->fifo, done);
}
static ng_result_t stream_receive(void *ctx, void *buffer, size_t bytes, size_t *arrived) {
  ng_uio_port_t *uio = ctx;
  return uio->streams.stream_receive(&uio->fifo, buffer, bytes, arrived);
}
static ng_result_t stream_reset(void *ctx) {
  ng_uio_port_t *uio = ctx;
  return uio->streams.stream_reset(&uio->fifo);
}

static uint32_t microseconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint32_t)((uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000);
}
static uint32_t ticks(void *ctx) {
  (void)ctx;
  return microseconds();
}

/* The kernel masks the interrupt when it comes; a 1 written unmasks it. A read gives how many have come in all. */
static void idle(void *ctx) {
  ng_uio_port_t *uio = ctx;
  const uint32_t unmask = 1;
  if (write(uio->fd, &unmask, sizeof unmask) != (ssize_t)sizeof unmask) {
    uio->broken = true;
    return;
  }
  struct pollfd waits = {.fd = uio->fd, .events = POLLIN};
  const int ready = poll(&waits, 1, uio->idle_milliseconds);
  if (ready == 0 || (ready < 0 && errno == EINTR)) return;
  uint32_t count;
  if (ready < 0 || read(uio->fd, &count, sizeof count) != (ssize_t)sizeof count) {
    uio->broken = true;
    return;
  }
  if (uio->interrupts != 0) uio->missed += count - uio->counted - 1;
  uio->counted = count;
  ++uio->interrupts;
}

ng_port_t ng_uio_port(ng_uio_port_t *uio) {
  uio->fifo.fifo = (uintptr_t)uio->fifos;
  uio->fifo.ticks = microseconds;
  uio->fifo.idle = NULL;
  uio->streams = ng_fifo_port(&uio->fifo);
  const ng_port_t port = {.ctx = uio,
                          .read32 = read32,
                          .write32 = write32,
                          .stream_send = stream_send,
                          .stream_send_done = stream_send_done,
                          .stream_receive = stream_receive,
                          .stream_reset = stream_reset,
                          .ticks = ticks,
                          .idle = uio->idle_milliseconds > 0 ? idle : NULL};
  return port;
}
