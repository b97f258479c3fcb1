/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the tile (rtl/tile): matrix products in NVFP4, FP8, LUQ and MX formats. docs/driver.md is its manual page.
 *
 * Freestanding C11: no allocation, no global state, no floating point, no libc. The tile is reached through callbacks
 * (ng_port_t). Every function that can fail says so by its result; none waits longer than its timeout, counted from the
 * last sign of progress. Nothing is safe against concurrent calls on the same tile. Little-endian processors only. */
#ifndef NARROWGAUGE_NG_TILE_H_
#define NARROWGAUGE_NG_TILE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "narrowgauge/ng_formats.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define NG_MUST_CHECK __attribute__((warn_unused_result))
#else
#define NG_MUST_CHECK
#endif

typedef enum ng_result {
  NG_OK = 0,
  NG_BUSY,                /* not an error: not finished, or not to be taken now; ask again */
  NG_ERROR_ARGUMENT,      /* an argument is null, zero or contradicts another one */
  NG_ERROR_MEMORY,        /* a buffer is too small, or the sizes do not fit the address space */
  NG_ERROR_BUS,           /* the port could not read or write a register */
  NG_ERROR_STREAM,        /* the port could not send or receive, or delivered no whole words */
  NG_ERROR_TIMEOUT,       /* nothing moved for longer than the timeout */
  NG_ERROR_MAGIC,         /* there is no tile at this address */
  NG_ERROR_VERSION,       /* a tile with another register map */
  NG_ERROR_CAPABILITIES,  /* the tile describes itself in a way that this driver does not know */
  NG_ERROR_UNSUPPORTED,   /* this tile cannot do it: format not in its set, sum too long, no counters, results not
                             requantized or not in this shape, nothing compressed */
  NG_ERROR_MISCOUNT,      /* the tile's counts of finished work are not what it was given, or results came unasked */
  NG_ERROR_BAD_LOAD,      /* STATUS.error 1 */
  NG_ERROR_BAD_COMPUTE,   /* STATUS.error 2 */
  NG_ERROR_QUEUE_FULL,    /* STATUS.error 3 */
  NG_ERROR_SHORT_STREAM,  /* STATUS.error 4 */
  NG_ERROR_LONG_STREAM,   /* STATUS.error 5 */
  NG_ERROR_BANK_MISMATCH, /* STATUS.error 6 */
  NG_ERROR_BAD_METADATA,  /* STATUS.error 7 */
  NG_ERROR_BAD_CODE,      /* STATUS.error 8 */
  NG_ERROR_SCALE,         /* requantized results take another tensor scale: in FP8 a power of two */
  NG_ERROR_UNKNOWN,       /* STATUS.error 10 to 15 */
  NG_ERROR_SIGNATURE,     /* the tile has not taken exactly the register writes that it was sent */
  NG_ERROR_BAD_PARITY     /* STATUS.error 9 */
} ng_result_t;

/* What a result means and what to do, as an English sentence; never null. */
const char *ng_result_text(ng_result_t result);

/* How the driver reaches a tile: all callbacks get `ctx`, and only `idle` may be null. docs/driver.md: "Bring your own
 * bus". */
typedef struct ng_port {
  void *ctx;
  /* One 32-bit register access; NG_ERROR_BUS if the bus refuses it or does not answer in time. */
  ng_result_t (*read32)(void *ctx, uint32_t address, uint32_t *value);
  ng_result_t (*write32)(void *ctx, uint32_t address, uint32_t value);
  /* Starts sending `bytes` (whole stream words, lowest byte first) as one packet, TLAST on its last word, and returns
   * at once: NG_OK (accepted; the memory stays the caller's and unchanged until sent) or NG_BUSY (ask again). */
  ng_result_t (*stream_send)(void *ctx, const void *data, size_t bytes);
  /* *done: everything accepted has left memory. */
  ng_result_t (*stream_send_done)(void *ctx, bool *done);
  /* Moves up to `bytes` of results that have arrived to `buffer`, in whole stream words, and returns at once. */
  ng_result_t (*stream_receive)(void *ctx, void *buffer, size_t bytes, size_t *arrived);
  /* Stops both streams and drops what is under way; afterwards no memory of earlier calls is used. */
  ng_result_t (*stream_reset)(void *ctx);
  /* A clock that never stops, in any unit, wrapping at 2^32: the unit of timeouts. */
  uint32_t (*ticks)(void *ctx);
  /* Waits for something to do: returns at the tile's interrupt, when a send is done, when results arrive, and anyway
   * after a while, well below the timeout. Null: the driver polls. */
  void (*idle)(void *ctx);
} ng_port_t;

/* Of a product, and so of both of its operands: whether A is sparse, half of its elements stored. Sparse ones are of
 * tiles that are `sparse`. */
typedef enum ng_sparsity {
  NG_DENSE = 0,
  NG_2_4 = 1,     /* of four elements along k two are stored */
  NG_4_8_PAIR = 2 /* of four pairs of neighbours two are stored, as packed FP4 has it */
} ng_sparsity_t;

typedef enum ng_side { NG_SIDE_A = 0, NG_SIDE_B = 1 } ng_side_t;

typedef struct ng_tile_config {
  const ng_port_t *port;  /* must outlive the tile */
  uint32_t base;          /* address of the tile's first register */
  uint32_t timeout_ticks; /* longest time without progress; at least 1 */
} ng_tile_config_t;

/* A tile: filled in by ng_tile_init; the caller may read the capabilities. */
typedef struct ng_tile {
  const ng_port_t *port;
  uint32_t base, timeout_ticks;
  uint32_t version;           /* major[31:16] minor[15:8] patch[7:0] */
  uint32_t rows, cols, lanes; /* of the array */
  uint32_t format_set;        /* NG_TILE_FORMAT_SET_..., joined by or */
  uint32_t a_depth, b_depth;  /* panel-beats a bank */
  uint32_t stream_bytes;      /* of a stream word */
  uint32_t max_beats;         /* longest sum, in beats of `lanes` products */
  uint32_t a_image, b_image;  /* bytes of a panel-beat in the stream */
  bool counters;
  bool requantize;   /* results can be the next product's operand A, in any format of the set */
  bool sparse;       /* operand A can be sparse */
  uint32_t codec;    /* decoders of compressed operands; 0: operands are sent as they are */
  uint32_t encoders; /* encoders of compressed results; 0: results come as they are */
  bool protect;      /* banks and queues have parity */
  bool deadline;     /* sums can end at one */
  bool integers;     /* results can be INT8 */
  bool mx;           /* its formats are those of MX */
} ng_tile_t;

/* Reads magic, version and capabilities, refuses what it does not know, and resets the tile. */
NG_MUST_CHECK ng_result_t ng_tile_init(ng_tile_t *tile, const ng_tile_config_t *config);

/* Drops all work, clears the error, the streams and the interrupts. After an error, or to abandon a product: memory
 * given to the product is free again when this has returned. */
NG_MUST_CHECK ng_result_t ng_tile_reset(const ng_tile_t *tile);

/* A quantized matrix of `rows` vectors along the contraction: the rows of A, or the columns of B. Laid out as
 * QuantizedMatrix of the C++ model, of a sparse product as SparseOperand; the FP32 scale of the tensor is not here (see
 * ng_gemm_config_t.scale). */
typedef struct ng_matrix {
  ng_format_t format;
  uint32_t rows;
  uint32_t k;            /* elements of a vector */
  uint32_t k_padded;     /* distance between vectors in `codes`: at least k; NVFP4: a multiple of 16, sparse and MX: of
                            32 */
  const uint8_t *codes;  /* rows x k_padded, one code a byte; a sparse A: rows x k_padded / 2, what is stored */
  const uint8_t *scales; /* NVFP4: rows x k_padded / 16 UE4M3 codes, sparse: rows x k_padded / 32; MX: so many E8M0
                            codes; else ignored */
  ng_sparsity_t sparsity;
  const uint8_t *metadata; /* a sparse A: a nibble for each four elements (4:8 by pairs: eight), the first in the low
                              half, rows x k_padded / 8 (16) bytes, as docs/sparsity.md says; the tile finds illegal
                              ones. Else ignored */
} ng_matrix_t;

/* A matrix as one tile geometry takes it: made by ng_tile_pack. */
typedef struct ng_operand {
  ng_side_t side;
  ng_format_t format;
  ng_sparsity_t sparsity;
  uint32_t rows, k;
  const uint8_t *data; /* panel-beat images in stream order, panel after panel */
  size_t bytes;
  const size_t *segments; /* null, or of a compressed operand where each of its segments begins in `data`, and the end:
                             ng_tile_segments + 1 of them, multiples of a stream word, one after the other */
} ng_operand_t;

/* Bytes that ng_tile_pack needs. */
NG_MUST_CHECK ng_result_t ng_tile_pack_size(const ng_tile_t *tile, const ng_matrix_t *matrix, ng_side_t side,
                                            size_t *bytes);

/* Packs `matrix` into `buffer` (of `bytes`; it must live as long as *operand), padding with zeros to whole panels and
 * beats. A port whose stream engine wants alignment passes that wish on to the caller. */
NG_MUST_CHECK ng_result_t ng_tile_pack(const ng_tile_t *tile, const ng_matrix_t *matrix, ng_side_t side, void *buffer,
                                       size_t bytes, ng_operand_t *operand);

/* A compressed operand has a segment for each panel, or for each part of k of a panel where k is longer than a bank:
 * what the driver sends without a cut. Each one is a packet (docs/codec.md, Operands of the tile), made by a host. */
NG_MUST_CHECK ng_result_t ng_tile_segments(const ng_tile_t *tile, const ng_operand_t *operand, uint32_t *count);

/* Where segment `index` begins in the images of an operand that is not compressed; of index `count`: the end. */
NG_MUST_CHECK ng_result_t ng_tile_segment(const ng_tile_t *tile, const ng_operand_t *operand, uint32_t index,
                                          size_t *start);

/* Gives the tile the code of the compressed operands to come: bits of each byte's code, 0 to 12, 4 bits a byte, byte 0
 * in the high half of lengths[0]. Between products only; a reset of the tile's own keeps it. NG_ERROR_ARGUMENT if no
 * prefix code has such lengths. */
NG_MUST_CHECK ng_result_t ng_tile_load_code(const ng_tile_t *tile, const uint8_t lengths[128]);

/* The same for the compressed results to come. Blocks of 64 bytes that have one without a code come as they are. */
NG_MUST_CHECK ng_result_t ng_tile_load_result_code(const ng_tile_t *tile, const uint8_t lengths[128]);

/* Bytes that compressed results of M x N take at most, which are the next product's operand A of M vectors of N;
 * *segments: how many they are. */
NG_MUST_CHECK ng_result_t ng_tile_compressed_size(const ng_tile_t *tile, uint32_t m, uint32_t n, size_t *bytes,
                                                  uint32_t *segments);

typedef struct ng_gemm_config {
  ng_operand_t a, b; /* M vectors and N vectors of the same k */
  void *c;           /* M x N, row-major: FP32 or BF16 codes, or INT8 */
  size_t c_bytes;    /* size of c */
  uint32_t c_stride; /* elements between rows of c; 0: N */
  uint32_t scale;    /* FP32 code of the factor of all results: fl(tensor scale of A * tensor scale of B); 1.0 is
                        0x3F800000 */
  bool bf16;         /* results rounded once more, to BF16 */
  bool int8; /* instead: in INT8, each one plus `zero_point`, rounded to nearest even and limited to -128 to 127,
                NaN as 127: `scale` over the scale of C is their factor. NG_ERROR_UNSUPPORTED by a tile without
                integers */
  int32_t zero_point; /* with int8: the code of 0, -256 to 255 */
  bool requantize;    /* instead: results in `c_format` under `tensor_scale`, as the next product's packed operand A of
                         M vectors of N, whose ng_operand_t is ng_tile_gemm_operand's. c_bytes: what ng_tile_pack_size
                         says of such a matrix; c_stride: 0. NG_ERROR_UNSUPPORTED by a tile without requantization, or
                         without this format, and where its bank of B does not hold `lanes` columns of k */
  ng_format_t c_format;  /* with requantize: NG_LUQ is its operand A, INT4 */
  uint32_t tensor_scale; /* with requantize: FP32 code of the factor of C. NG_NVFP4: 2^-111 or more and finite; NG_E4M3,
                            NG_E5M2: a power of two among these; NG_LUQ: finite and above 0. Any other one is
                            NG_ERROR_SCALE */
  bool relu;             /* with requantize: and before, negative results become +0; NaN stay */
  size_t *c_segments; /* null, or with requantize: results come compressed under the code of ng_tile_load_result_code,
                         as a compressed operand A, and this takes where its segments begin, and the end: one more than
                         ng_tile_compressed_size says. c_bytes: what that says. NG_ERROR_UNSUPPORTED by a tile without
                         encoders, and where an operand of this k has several segments a panel. A is taken panel by
                         panel, with all of B for each: once in its bank if it fits there, else sent for each panel */
  bool interrupts;    /* the tile interrupts after each compute command and on errors */
  void *scratch;      /* where results arrive before they are put in place: one stream word or more */
  size_t scratch_bytes;
  uint32_t *again;        /* null, or takes what, written to COMPUTE after the product, makes the tile multiply the same
                             operands again: they stay in their banks. ng_tile_reset comes before any other product.
                             NG_ERROR_UNSUPPORTED where one command does not do it: where an operand does not fit its bank,
                             and with requantize or int8 */
  uint32_t command_beats; /* aim at compute commands of at least so many beats; 0: 64. More means fewer commands for
                             slow processors, and a later start. */
} ng_gemm_config_t;

/* Place in the nest of A blocks, B chunks and passes along k. */
typedef struct ng_gemm_place {
  uint32_t block, chunk, pass, part;
} ng_gemm_place_t;

/* A product under way. The members are the driver's; the counts may be read. */
typedef struct ng_gemm {
  const ng_tile_t *tile;
  ng_gemm_config_t config;
  uint32_t a_panels, b_panels, beats; /* of the product */
  uint32_t blocks, chunks, passes;    /* how it is cut */
  uint32_t unit, b_units;             /* panels of B that stay together in a chunk: one, or those of an image of C */
  uint32_t first_chunk;               /* units in the first chunk */
  ng_gemm_place_t load, compute;      /* next commands */
  bool unsent;                        /* the last LOAD's data has not been taken by the port */
  const uint8_t *send_data;
  size_t send_bytes;
  uint32_t panels, edge; /* as last written */
  uint32_t signature;    /* of all writes until now */
  struct {               /* next result word; as operand A: image in the chunk, word in the image, 0 */
    uint32_t block, chunk, a_panel, b_panel, row, col;
  } result;
  struct {           /* compressed results that have come */
    size_t bytes;    /* of them */
    uint32_t words;  /* of 32 bits, to come in a chunk; 0: a head is next */
    uint32_t chunks; /* to come in a packet; 0: one begins */
  } packet;
  uint32_t loads, computes, results;  /* commands given; `results`: those with results */
  uint64_t sent, received;            /* bytes of all loads, and of all results */
  uint32_t loads_before, done_before; /* the tile's counts at the start */
  uint32_t progress_tick;
  ng_result_t state; /* NG_BUSY until finished */
} ng_gemm_t;

/* Starts C = A x B: exact sums, rounded once to FP32, times `scale`, rounded to FP32 (and BF16 or INT8). The
 * configuration is copied; operands, c, scratch, tile and *gemm must stay until it has finished. NG_BUSY if the tile is
 * at work. */
NG_MUST_CHECK ng_result_t ng_tile_gemm_start(ng_gemm_t *gemm, const ng_tile_t *tile, const ng_gemm_config_t *config);

/* Does what can be done without waiting: feeds commands and operands, takes results, acknowledges interrupts. To be
 * called until it does not return NG_BUSY, from a loop or an interrupt handler. NG_OK: c is complete and the tile idle.
 * Any error is final: c is not to be used, ng_tile_reset comes next. */
NG_MUST_CHECK ng_result_t ng_tile_gemm_step(ng_gemm_t *gemm);

/* The same, waiting: start, then step and idle until finished. */
NG_MUST_CHECK ng_result_t ng_tile_gemm(const ng_tile_t *tile, const ng_gemm_config_t *config);

/* C of a product with `requantize` that has finished, as the next product's operand A; its tensor scale is
 * config.tensor_scale.
 */
NG_MUST_CHECK ng_result_t ng_tile_gemm_operand(const ng_tile_t *tile, const ng_gemm_config_t *config,
                                               ng_operand_t *operand);

/* The largest magnitude of requantized results, as an FP32 code, since the last ng_tile_clear_amax or reset: what the
 * next product's tensor_scale can be made of. 0x7F800000: infinite; above: NaN. */
NG_MUST_CHECK ng_result_t ng_tile_amax(const ng_tile_t *tile, uint32_t *amax);
NG_MUST_CHECK ng_result_t ng_tile_clear_amax(const ng_tile_t *tile);

/* From now on the tile has `clocks` clock cycles, 1 to 2^31, for the products that it is given: behind them each tile
 * of results ends with its next beat, at least one. Products finish as always, and take the fewest clocks; what
 * ng_tile_progress counts tells how far their sums went (docs/units/tile.md). 0: no deadline. ng_tile_reset ends it.
 * NG_BUSY while the tile is at work, NG_ERROR_UNSUPPORTED by a tile without deadlines, NG_ERROR_ARGUMENT for more
 * clocks. */
NG_MUST_CHECK ng_result_t ng_tile_deadline(const ng_tile_t *tile, uint32_t clocks);

/* Of the work since the last ng_tile_deadline or reset: *beats that were taken for sums, modulo 2^31, and whether the
 * deadline is past. NG_ERROR_UNSUPPORTED by a tile without deadlines. */
NG_MUST_CHECK ng_result_t ng_tile_progress(const ng_tile_t *tile, uint32_t *beats, bool *late);

/* The activity counters since the last clearing; docs/units/tile.md defines them. */
typedef struct ng_counters {
  uint64_t cycles, busy, stall_in, stall_out, products, zero_a, zero_b, flips_a, flips_b;
} ng_counters_t;

NG_MUST_CHECK ng_result_t ng_tile_counters(const ng_tile_t *tile, ng_counters_t *counters);
NG_MUST_CHECK ng_result_t ng_tile_clear_counters(const ng_tile_t *tile);

#ifdef __cplusplus
}
#endif

#endif /* NARROWGAUGE_NG_TILE_H_ */
