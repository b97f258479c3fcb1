/* SPDX-License-Identifier: Apache-2.0 */
/* How a product is cut. With K short enough for a bank, a block of as many panels of A as fit stays in its bank while
 * chunks of B panels pass by it; each chunk is one compute command. While they do, the next block of A arrives in the
 * other bank, in pieces between the chunks of B: loads run in order, so a whole block in one piece would keep the next
 * chunk from arriving in time. The first chunk of B comes before the first block of A, as the tile computes with each
 * panel of A as it arrives, and the first piece of the next block behind the second chunk. With B short enough to be
 * one chunk, it stays and the blocks of A pass. With longer K, every tile of C is a sum over several passes along k. If
 * the bank of A has room for all of a panel, it stays there while the panels of B pass by it in parts. Else parts of A
 * pass, too; odd tiles of a row run backwards, so that the part of A with which a tile ends serves the next one too.
 * Sums are exact, so none of this changes a result.
 *
 *   loads, K in one bank:   B0 A0 B1 [A1 1/n] B2 [A1 2/n] ... Bn [A1 n/n] B0 B1 [A2 1/n] ...
 *   loads, A stays:         B0.0 A0.0 B0.1 A0.1 B0.2 A0.2 | B1.0 B1.1 B1.2 [A1 1/n] | B2.0 ...
 *   loads, three passes:    B0.0 A0.0 B0.1 A0.1 B0.2 A0.2 | B1.2 B1.1 A0.1 B1.0 A0.0 | B2.0 ... */
#include "narrowgauge/ng_tile.h"

#include "narrowgauge/ng_tile_regs.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the driver stores results as they come from the stream, which takes a little-endian processor"
#endif

#define GET(word, field) (((word)&NG_TILE_##field##_MASK) >> NG_TILE_##field##_SHIFT)
#define PUT(field, value) (((uint32_t)(value) << NG_TILE_##field##_SHIFT) & NG_TILE_##field##_MASK)
/* Leaves the function on anything but NG_OK. */
#define TRY(call)                               \
  do {                                          \
    const ng_result_t try_result = (call);      \
    if (try_result != NG_OK) return try_result; \
  } while (0)

/* What the driver knows of a format, in the order of ng_format_t. */
typedef struct format_row {
  uint8_t set;   /* its bit in GEOMETRY.format_set */
  uint8_t code;  /* in FORMAT */
  uint8_t bits;  /* of an element */
  uint8_t block; /* elements that have a scale; 0: none */
  bool mx;       /* of tiles for MX formats */
  uint8_t exponent_bits, mantissa_bits, bias; /* of elements that are sent as E4M3, else 0 */
} format_row_t;
static const format_row_t format_rows[] = NG_FORMAT_ROWS;
enum { FORMATS = sizeof format_rows / sizeof *format_rows };

_Static_assert(NG_SIDE_A == NG_TILE_OPERAND_A && NG_SIDE_B == NG_TILE_OPERAND_B, "ng_side_t has the codes of LOAD");

enum {
  NVFP4_BLOCK = 16,
  MX_BLOCK = 32,
  METADATA_BYTES = 4,   /* of NVFP4_BLOCK stored elements of a sparse operand */
  METADATA_NONE = 0x44, /* two groups that keep their first two elements */
  DEFAULT_COMMAND_BEATS = 64,
  CODE_BITS = 12,          /* of the longest code of compressed operands */
  CODE_SYMBOLS = 256,      /* of which it has codes */
  MOST_CODERS = 8,         /* decoders, and encoders */
  CHUNK_BYTES = 256,       /* of results in a chunk of a packet: as many stream words as this has room for */
  CHUNK_MORE = 8,          /* bytes by which a chunk may be longer, its head included */
  MOST_VECTORS = INT32_MAX /* rows of whole panels must not wrap */
};

static const uint32_t all_interrupts = NG_TILE_IRQ_PENDING_DONE_MASK | NG_TILE_IRQ_PENDING_ERROR_MASK;

/* ---- arithmetic ---- */

static uint32_t least(uint32_t x, uint32_t y) { return x < y ? x : y; }

static uint32_t quotient_up(uint32_t x, uint32_t y) { return x / y + (x % y != 0 ? 1U : 0U); }

/* x * y, or false if it does not fit. */
static bool multiply(size_t x, size_t y, size_t *product) {
  if (y != 0 && x > SIZE_MAX / y) return false;
  *product = x * y;
  return true;
}

/* memcpy, or memset to zero where there is no source: the driver must link without a libc. */
static void fill(void *to, const void *from, size_t bytes) {
  uint8_t *out = to;
  const uint8_t *in = from;
  for (size_t i = 0; i < bytes; ++i) out[i] = in ? in[i] : 0;
}

/* Where part `index` starts if `total` is cut into `parts` parts that differ by one at most, the smaller ones first. */
static uint32_t cut(uint32_t total, uint32_t parts, uint32_t index) {
  const uint32_t larger = total % parts, smaller = parts - larger;
  return index * (total / parts) + (index > smaller ? index - smaller : 0);
}
static uint32_t part(uint32_t total, uint32_t parts, uint32_t index) {
  return cut(total, parts, index + 1) - cut(total, parts, index);
}

/* ---- registers ---- */

static ng_result_t bus_result(ng_result_t result) { return result == NG_BUSY ? NG_ERROR_BUS : result; }

static ng_result_t stream_result(ng_result_t result) { return result == NG_BUSY ? NG_ERROR_STREAM : result; }

static ng_result_t get(const ng_tile_t *tile, uint32_t offset, uint32_t *value) {
  *value = 0;
  return bus_result(tile->port->read32(tile->port->ctx, tile->base + offset, value));
}

static ng_result_t put(const ng_tile_t *tile, uint32_t offset, uint32_t value) {
  return bus_result(tile->port->write32(tile->port->ctx, tile->base + offset, value));
}

/* The signature of the writes that the tile has taken. */
static ng_result_t get_signature(const ng_tile_t *tile, uint32_t *signature) {
  return get(tile, NG_TILE_SIGNATURE_OFFSET, signature);
}

/* Writes, and takes the write into *signature as the tile does (docs/registers.md, SIGNATURE). Of all registers but
 * CONTROL, IRQ_ENABLE and IRQ_PENDING, which have none. */
static ng_result_t put_signed(const ng_tile_t *tile, uint32_t *signature, uint32_t offset, uint32_t value) {
  const uint32_t key = 0xF000U | offset; /* all four bytes of the word */
  uint32_t x = *signature ^ value ^ (key << 16 | key);
  x ^= x << 13;
  x ^= x >> 17;
  *signature = x ^ x << 5;
  return put(tile, offset, value);
}

/* Whether the tile has taken what it was sent, and nothing else. */
static ng_result_t check_signature(const ng_tile_t *tile, uint32_t expected) {
  uint32_t signature;
  TRY(get_signature(tile, &signature));
  return signature == expected ? NG_OK : NG_ERROR_SIGNATURE;
}

/* Writes CONTROL, but for a reset: that the signature stays tells that the write has not gone to another register. */
static ng_result_t put_control(const ng_tile_t *tile, uint32_t bits) {
  uint32_t signature;
  TRY(get_signature(tile, &signature));
  TRY(put(tile, NG_TILE_CONTROL_OFFSET, bits));
  return check_signature(tile, signature);
}

static uint32_t now(const ng_tile_t *tile) { return tile->port->ticks(tile->port->ctx); }

static bool late(const ng_tile_t *tile, uint32_t since) { return now(tile) - since > tile->timeout_ticks; }

static void idle(const ng_tile_t *tile) {
  if (tile->port->idle) tile->port->idle(tile->port->ctx);
}

static ng_result_t stream_reset(const ng_tile_t *tile) {
  return stream_result(tile->port->stream_reset(tile->port->ctx));
}

/* STATUS, and the error in it as the result. */
static ng_result_t get_status(const ng_tile_t *tile, uint32_t *status) {
  TRY(get(tile, NG_TILE_STATUS_OFFSET, status));
  switch (GET(*status, STATUS_ERROR)) {
    case NG_TILE_ERROR_NONE:
      return NG_OK;
    case NG_TILE_ERROR_BAD_LOAD:
      return NG_ERROR_BAD_LOAD;
    case NG_TILE_ERROR_BAD_COMPUTE:
      return NG_ERROR_BAD_COMPUTE;
    case NG_TILE_ERROR_QUEUE_FULL:
      return NG_ERROR_QUEUE_FULL;
    case NG_TILE_ERROR_SHORT_STREAM:
      return NG_ERROR_SHORT_STREAM;
    case NG_TILE_ERROR_LONG_STREAM:
      return NG_ERROR_LONG_STREAM;
    case NG_TILE_ERROR_BANK_MISMATCH:
      return NG_ERROR_BANK_MISMATCH;
    case NG_TILE_ERROR_BAD_METADATA:
      return NG_ERROR_BAD_METADATA;
    case NG_TILE_ERROR_BAD_CODE:
      return NG_ERROR_BAD_CODE;
    case NG_TILE_ERROR_BAD_PARITY:
      return NG_ERROR_BAD_PARITY;
    default:
      return NG_ERROR_UNKNOWN;
  }
}

/* ---- bring-up ---- */

/* Formats that this driver knows: of others it could not say how their operands are laid out. */
#define FORMATS_8_BITS (NG_TILE_FORMAT_SET_E4M3 | NG_TILE_FORMAT_SET_E5M2)
#define FORMATS_KNOWN (NG_TILE_FORMAT_SET_NVFP4 | NG_TILE_FORMAT_SET_LUQ | FORMATS_8_BITS)

static bool has_nvfp4(const ng_tile_t *tile) { return (tile->format_set & NG_TILE_FORMAT_SET_NVFP4) != 0; }

/* Bits of an element in the array, whatever is computed. */
static uint32_t element_bits(const ng_tile_t *tile) {
  for (uint32_t i = 0; i < FORMATS; ++i) {
    const format_row_t *row = &format_rows[i];
    if (row->mx == tile->mx && row->bits > 4 && (tile->format_set & row->set) != 0) return 8;
  }
  return 4;
}

static uint32_t vectors_a_panel(const ng_tile_t *tile, ng_side_t side) {
  return side == NG_SIDE_A ? tile->rows : tile->cols;
}

/* Elements of a vector in an image: where A is sparse, B has twice as many as are multiplied. */
static uint32_t elements_a_vector(const ng_tile_t *tile, ng_side_t side) {
  return tile->sparse && side == NG_SIDE_B ? 2 * tile->lanes : tile->lanes;
}

/* Lanes that have something beside them in an image. */
static uint32_t block_lanes(const ng_tile_t *tile) { return tile->mx ? MX_BLOCK : NVFP4_BLOCK; }

/* What stands beside these, in bytes: a scale, if a format of the set has one, and the metadata of a sparse A. */
static uint32_t scale_bytes(const ng_tile_t *tile) { return has_nvfp4(tile) || tile->mx ? 1 : 0; }
static uint32_t bytes_a_block(const ng_tile_t *tile, ng_side_t side) {
  return scale_bytes(tile) + (tile->sparse && side == NG_SIDE_A ? METADATA_BYTES : 0);
}

static uint32_t element_bytes(const ng_tile_t *tile, ng_side_t side) {
  return vectors_a_panel(tile, side) * elements_a_vector(tile, side) * element_bits(tile) / 8;
}

static uint32_t image_bytes(const ng_tile_t *tile, ng_side_t side) {
  const uint32_t beside = vectors_a_panel(tile, side) * (tile->lanes / block_lanes(tile)) * bytes_a_block(tile, side);
  return quotient_up(element_bytes(tile, side) + beside, tile->stream_bytes) * tile->stream_bytes;
}

static bool power_of_two(uint32_t x) { return x != 0 && (x & (x - 1)) == 0; }

/* Whether a tile can have these capabilities together, each one checked against all others that it must suit. What is
 * packed, loaded and received relies on it: whole bytes of elements, whole blocks, whole words of stream. */
static bool sane(const ng_tile_t *tile) {
  if (tile->rows == 0 || tile->cols == 0 || tile->a_depth == 0 || tile->b_depth == 0 || tile->max_beats == 0)
    return false;
  if (tile->format_set == 0 || (tile->format_set & ~FORMATS_KNOWN) != 0) return false;
  if (tile->stream_bytes < sizeof(uint32_t) || !power_of_two(tile->stream_bytes)) return false;
  if (tile->codec > MOST_CODERS || tile->encoders > MOST_CODERS) return false;
  const bool blocks = tile->lanes % NVFP4_BLOCK == 0, power = power_of_two(tile->lanes) && tile->lanes > 1;
  if (tile->lanes == 0 || (has_nvfp4(tile) && !blocks)) return false;
  if ((tile->format_set & NG_TILE_FORMAT_SET_LUQ) != 0 && !power) return false;
  if (tile->requantize && !(power && power_of_two(tile->cols) && tile->cols <= tile->lanes)) return false;
  /* MXFP4 and MXINT8 have a multiplier of their own, and nothing makes MX results or takes a sparse A of theirs. */
  const bool one_kind = tile->format_set == NG_TILE_FORMAT_SET_NVFP4 ||
                        tile->format_set == NG_TILE_FORMAT_SET_LUQ || (tile->format_set & ~FORMATS_8_BITS) == 0;
  if (tile->mx && !(one_kind && tile->lanes == MX_BLOCK && !tile->requantize && !tile->sparse)) return false;
  return !tile->sparse || (blocks && !tile->requantize);
}

static ng_result_t get_capabilities(ng_tile_t *tile) {
  uint32_t word;
  TRY(get(tile, NG_TILE_MAGIC_OFFSET, &word));
  if (word != NG_TILE_MAGIC_RESET) return NG_ERROR_MAGIC;
  TRY(get(tile, NG_TILE_VERSION_OFFSET, &tile->version));
  const bool same_major = GET(tile->version, VERSION_MAJOR) == GET(NG_TILE_VERSION_RESET, VERSION_MAJOR);
  const bool older = (tile->version | NG_TILE_VERSION_PATCH_MASK) < NG_TILE_VERSION_RESET;
  if (!same_major || older) return NG_ERROR_VERSION;
  TRY(get(tile, NG_TILE_GEOMETRY_OFFSET, &word));
  const uint32_t known = NG_TILE_GEOMETRY_ROWS_MASK | NG_TILE_GEOMETRY_COLS_MASK | NG_TILE_GEOMETRY_LANES_MASK |
                         NG_TILE_GEOMETRY_FORMAT_SET_MASK;
  if ((word & ~known) != 0) return NG_ERROR_CAPABILITIES;
  tile->rows = GET(word, GEOMETRY_ROWS);
  tile->cols = GET(word, GEOMETRY_COLS);
  tile->lanes = GET(word, GEOMETRY_LANES);
  tile->format_set = GET(word, GEOMETRY_FORMAT_SET);
  TRY(get(tile, NG_TILE_DEPTHS_OFFSET, &word));
  tile->a_depth = GET(word, DEPTHS_A);
  tile->b_depth = GET(word, DEPTHS_B);
  TRY(get(tile, NG_TILE_STREAM_OFFSET, &word));
  if ((word & ~(NG_TILE_STREAM_BYTES_MASK | NG_TILE_STREAM_COUNTERS_MASK | NG_TILE_STREAM_REQUANTIZE_MASK |
                NG_TILE_STREAM_SPARSE_MASK | NG_TILE_STREAM_CODEC_MASK | NG_TILE_STREAM_ENCODERS_MASK |
                NG_TILE_STREAM_PROTECT_MASK | NG_TILE_STREAM_DEADLINE_MASK | NG_TILE_STREAM_INTEGERS_MASK |
                NG_TILE_STREAM_MX_MASK)) != 0)
    return NG_ERROR_CAPABILITIES;
  tile->stream_bytes = GET(word, STREAM_BYTES);
  tile->counters = GET(word, STREAM_COUNTERS) != 0;
  tile->requantize = GET(word, STREAM_REQUANTIZE) != 0;
  tile->sparse = GET(word, STREAM_SPARSE) != 0;
  tile->codec = GET(word, STREAM_CODEC);
  tile->encoders = GET(word, STREAM_ENCODERS);
  tile->protect = GET(word, STREAM_PROTECT) != 0;
  tile->deadline = GET(word, STREAM_DEADLINE) != 0;
  tile->integers = GET(word, STREAM_INTEGERS) != 0;
  tile->mx = GET(word, STREAM_MX) != 0;
  TRY(get(tile, NG_TILE_MAX_BEATS_OFFSET, &tile->max_beats));
  if (!sane(tile)) return NG_ERROR_CAPABILITIES;
  tile->a_image = image_bytes(tile, NG_SIDE_A);
  tile->b_image = image_bytes(tile, NG_SIDE_B);
  return NG_OK;
}

ng_result_t ng_tile_init(ng_tile_t *tile, const ng_tile_config_t *config) {
  if (!tile || !config || !config->port || config->timeout_ticks == 0) return NG_ERROR_ARGUMENT;
  const ng_port_t *port = config->port;
  if (!port->read32 || !port->write32 || !port->stream_send || !port->stream_send_done || !port->stream_receive ||
      !port->stream_reset || !port->ticks) {
    return NG_ERROR_ARGUMENT;
  }
  tile->port = port;
  tile->base = config->base;
  tile->timeout_ticks = config->timeout_ticks;
  TRY(get_capabilities(tile));
  return ng_tile_reset(tile);
}

ng_result_t ng_tile_reset(const ng_tile_t *tile) {
  if (!tile) return NG_ERROR_ARGUMENT;
  TRY(stream_reset(tile)); /* no word of an old load may come after the reset ... */
  TRY(put(tile, NG_TILE_CONTROL_OFFSET, NG_TILE_CONTROL_SOFT_RESET_MASK));
  TRY(stream_reset(tile)); /* ... and no old result stay */
  const uint32_t start = now(tile);
  for (;;) {
    uint32_t status;
    const ng_result_t result = get_status(tile, &status);
    if (result == NG_ERROR_BUS) return result;
    if (result == NG_OK && GET(status, STATUS_BUSY) == 0) break;
    if (late(tile, start)) return NG_ERROR_TIMEOUT;
    idle(tile);
  }
  return check_signature(tile, NG_TILE_SIGNATURE_RESET); /* it has taken the reset, and nothing since */
}

/* ---- operands ---- */

static bool known(ng_format_t format) { return (uint32_t)format < FORMATS; }
static const format_row_t *row_of(ng_format_t format) { return &format_rows[format]; }

/* Formats of 4 bits, which both operands have. */
static bool narrow(ng_format_t format) { return row_of(format)->bits == 4; }

/* What a beat takes of k. */
static uint32_t k_a_beat(const ng_tile_t *tile, ng_sparsity_t sparsity) {
  return sparsity != NG_DENSE ? 2 * tile->lanes : tile->lanes;
}

static bool supports(const ng_tile_t *tile, ng_format_t format, ng_sparsity_t sparsity) {
  if (sparsity != NG_DENSE && !tile->sparse) return false;
  return (tile->format_set & row_of(format)->set) != 0 && tile->mx == row_of(format)->mx;
}

/* Size of the packed form of `rows` vectors of k. */
static ng_result_t packed_bytes(const ng_tile_t *tile, ng_sparsity_t sparsity, ng_side_t side, uint32_t rows,
                                uint32_t k, size_t *bytes) {
  const uint32_t panels = quotient_up(rows, vectors_a_panel(tile, side));
  const uint32_t beats = quotient_up(k, k_a_beat(tile, sparsity));
  if (rows > MOST_VECTORS) return NG_ERROR_MEMORY;
  const bool fits =
      multiply(panels, beats, bytes) && multiply(*bytes, side == NG_SIDE_A ? tile->a_image : tile->b_image, bytes);
  return fits ? NG_OK : NG_ERROR_MEMORY;
}

ng_result_t ng_tile_pack_size(const ng_tile_t *tile, const ng_matrix_t *matrix, ng_side_t side, size_t *bytes) {
  if (!tile || !matrix || !bytes || (side != NG_SIDE_A && side != NG_SIDE_B)) return NG_ERROR_ARGUMENT;
  if (matrix->rows == 0 || matrix->k == 0 || matrix->k_padded < matrix->k || !matrix->codes) return NG_ERROR_ARGUMENT;
  if (!known(matrix->format)) return NG_ERROR_ARGUMENT;
  const uint32_t block = row_of(matrix->format)->block;
  if (block != 0 && (!matrix->scales || matrix->k_padded % block != 0)) return NG_ERROR_ARGUMENT;
  switch (matrix->sparsity) {
    case NG_DENSE:
      break;
    case NG_2_4:
    case NG_4_8_PAIR:
      if (matrix->k_padded % (2 * NVFP4_BLOCK) != 0 || (side == NG_SIDE_A && !matrix->metadata))
        return NG_ERROR_ARGUMENT;
      break;
    default:
      return NG_ERROR_ARGUMENT;
  }
  size_t source;
  if (!multiply(matrix->rows, matrix->k_padded, &source)) return NG_ERROR_MEMORY;
  if (!supports(tile, matrix->format, matrix->sparsity)) return NG_ERROR_UNSUPPORTED;
  return packed_bytes(tile, matrix->sparsity, side, matrix->rows, matrix->k, bytes);
}

/* Where element `lane` of a vector's share stands. A dense product on a tile whose A is sparse is one whose metadata
 * say 0 and 1 of each group: B's elements stand there, and the places between are empty. 4:8 by pairs is 2:4 of the
 * first elements of four pairs, and of their second ones: A's pairs are told apart, and so are B's. */
static uint32_t place(const ng_tile_t *tile, ng_sparsity_t sparsity, ng_side_t side, uint32_t lane) {
  const uint32_t pairs = side == NG_SIDE_A ? 2 : 4; /* that are stored of eight elements */
  switch (sparsity) {
    case NG_4_8_PAIR:
      return lane / (2 * pairs) * (2 * pairs) + lane % 2 * pairs + lane / 2 % pairs;
    case NG_DENSE:
      return tile->sparse && side == NG_SIDE_B ? lane / 2 * 4 + lane % 2 : lane;
    default:
      return lane;
  }
}

/* Byte `i` of what the tile takes as metadata of a block of A. A pair's nibble is that of its first and its second
 * elements. */
static uint8_t metadata_at(const ng_matrix_t *matrix, size_t block, uint32_t i) {
  if (matrix->sparsity == NG_2_4) return matrix->metadata[block * METADATA_BYTES + i];
  return (uint8_t)(((uint32_t)matrix->metadata[(block * METADATA_BYTES + i) / 2] >> i % 2 * 4 & 0xFU) * 0x11U);
}

/* The code of E4M3 that means the same number. */
static uint8_t as_e4m3(const format_row_t *row, uint32_t code) {
  enum { MANTISSA = 3, BIAS = 7 };
  const uint32_t payload = code & ((1U << (row->exponent_bits + row->mantissa_bits)) - 1U);
  const uint32_t sign = code >> (row->exponent_bits + row->mantissa_bits) & 1U;
  uint32_t exponent = payload >> row->mantissa_bits;
  uint32_t mantissa = (payload << (MANTISSA - row->mantissa_bits)) & ((1U << MANTISSA) - 1U);
  if (payload == 0) return (uint8_t)(sign << 7);
  if (exponent == 0) { /* subnormal, and none in E4M3: up to the first one */
    for (exponent = 1; (mantissa >> MANTISSA) == 0; mantissa <<= 1) --exponent;
    mantissa &= (1U << MANTISSA) - 1U;
  }
  return (uint8_t)(sign << 7 | (exponent + BIAS - row->bias) << MANTISSA | mantissa);
}

/* Puts one vector's share of panel-beat `beat` into its image. */
static void pack_vector(const ng_tile_t *tile, const ng_matrix_t *matrix, ng_side_t side, size_t row, uint32_t beat,
                        uint32_t vector, uint8_t *elements, uint8_t *beside) {
  const bool sparse = matrix->sparsity != NG_DENSE, half = sparse && side == NG_SIDE_A;
  const uint32_t stored = half ? matrix->k_padded / 2 : matrix->k;             /* elements of a vector */
  const uint32_t pitch = half ? matrix->k_padded / 2 : matrix->k_padded;       /* from one to the next */
  const uint32_t lanes = block_lanes(tile), count_of_blocks = tile->lanes / lanes;
  const uint32_t size = sparse && !half ? 2 * lanes : lanes;                   /* of them, in a block */
  const uint32_t most = half ? tile->lanes : k_a_beat(tile, matrix->sparsity); /* and in a beat */
  const uint32_t start = beat * most, count = least(most, stored - start);
  const uint8_t *codes = matrix->codes + row * pitch + start;
  for (uint32_t lane = 0; lane < count; ++lane) {
    const uint32_t at = vector * elements_a_vector(tile, side) + place(tile, matrix->sparsity, side, lane);
    const format_row_t *row_format = row_of(matrix->format);
    const uint32_t code = row_format->exponent_bits != 0 ? as_e4m3(row_format, codes[lane])
                          : narrow(matrix->format)       ? codes[lane] & 0xFU
                                                         : codes[lane];
    if (element_bits(tile) == 8) {
      elements[at] = (uint8_t)code;
    } else {
      elements[at / 2] = (uint8_t)(elements[at / 2] | code << at % 2 * 4);
    }
  }
  const uint32_t blocks = pitch / size, first = start / size, used = quotient_up(count, size);
  const uint32_t bytes = bytes_a_block(tile, side), scale = scale_bytes(tile);
  uint8_t *out = beside + (size_t)vector * count_of_blocks * bytes;
  for (uint32_t block = 0; block < count_of_blocks; ++block, out += bytes) {
    const size_t from = row * blocks + first + block;
    if (row_of(matrix->format)->block != 0 && block < used) out[0] = matrix->scales[from];
    for (uint32_t i = scale; i < bytes; ++i)
      out[i] = half && block < used ? metadata_at(matrix, from, i - scale) : METADATA_NONE;
  }
}

ng_result_t ng_tile_pack(const ng_tile_t *tile, const ng_matrix_t *matrix, ng_side_t side, void *buffer, size_t bytes,
                         ng_operand_t *operand) {
  size_t needed;
  TRY(ng_tile_pack_size(tile, matrix, side, &needed));
  if (!buffer || !operand) return NG_ERROR_ARGUMENT;
  if (bytes < needed) return NG_ERROR_MEMORY;
  uint8_t *out = buffer;
  fill(out, NULL, needed);

  const uint32_t vectors = vectors_a_panel(tile, side), elements = element_bytes(tile, side);
  const uint32_t image = side == NG_SIDE_A ? tile->a_image : tile->b_image;
  const uint32_t beats = quotient_up(matrix->k, k_a_beat(tile, matrix->sparsity));
  for (uint32_t first = 0; first < matrix->rows; first += least(vectors, matrix->rows - first)) {
    const uint32_t used = least(vectors, matrix->rows - first);
    for (uint32_t beat = 0; beat < beats; ++beat, out += image) {
      for (uint32_t vector = 0; vector < used; ++vector) {
        pack_vector(tile, matrix, side, (size_t)first + vector, beat, vector, out, out + elements);
      }
    }
  }
  operand->side = side;
  operand->format = matrix->format;
  operand->sparsity = matrix->sparsity;
  operand->rows = matrix->rows;
  operand->k = matrix->k;
  operand->data = buffer;
  operand->bytes = needed;
  operand->segments = NULL;
  return NG_OK;
}

/* ---- the plan of a product ---- */

static bool one_pass(const ng_gemm_t *gemm) { return gemm->passes == 1; }

/* Several passes, with whole panels of A in their bank. */
static bool a_stays(const ng_gemm_t *gemm) { return !one_pass(gemm) && gemm->beats <= gemm->tile->a_depth; }

/* Several passes, and odd tiles run backwards, so that they need not reload A's first part. */
static bool turns(const ng_gemm_t *gemm) { return !one_pass(gemm) && !a_stays(gemm) && !gemm->tile->mx; }

/* Part of k in this pass. */
static uint32_t part_of_k(const ng_gemm_t *gemm, const ng_gemm_place_t *at) {
  return at->chunk % 2 == 0 || !turns(gemm) ? at->pass : gemm->passes - 1 - at->pass;
}

/* The first unit of B of a chunk: the first chunk has a size of its own. */
static uint32_t chunk_unit(const ng_gemm_t *gemm, uint32_t chunk) {
  if (chunk == 0) return 0;
  const uint32_t others = gemm->chunks - 1, units = gemm->b_units - gemm->first_chunk;
  return gemm->first_chunk + (others == 0 ? 0 : cut(units, others, chunk - 1));
}
/* The first panel of it, and its panels. */
static uint32_t chunk_start(const ng_gemm_t *gemm, uint32_t chunk) {
  return least(chunk_unit(gemm, chunk) * gemm->unit, gemm->b_panels);
}
static uint32_t chunk_panels(const ng_gemm_t *gemm, uint32_t chunk) {
  return chunk_start(gemm, chunk + 1) - chunk_start(gemm, chunk);
}

/* Whether the compute command here is the last with its bank of A, of B. */
static bool leaves_a(const ng_gemm_t *gemm, const ng_gemm_place_t *at) {
  if (gemm->config.again) return false;
  const bool last_chunk = at->chunk + 1 == gemm->chunks, last_pass = at->pass + 1 == gemm->passes;
  return one_pass(gemm) || a_stays(gemm) ? last_chunk && last_pass : last_chunk || !last_pass || !turns(gemm);
}
static bool leaves_b(const ng_gemm_t *gemm, const ng_gemm_place_t *at) {
  if (gemm->config.again) return false;
  return !one_pass(gemm) || gemm->chunks > 1 || at->block + 1 == gemm->blocks;
}

/* To the next compute command; false after the last. */
static bool advance(const ng_gemm_t *gemm, ng_gemm_place_t *at) {
  at->part = 0;
  if (++at->pass < gemm->passes) return true;
  at->pass = 0;
  if (++at->chunk < gemm->chunks) return true;
  at->chunk = 0;
  return ++at->block < gemm->blocks;
}
static bool finished(const ng_gemm_t *gemm, const ng_gemm_place_t *at) { return at->block == gemm->blocks; }

/* The first image of a segment: a part of k of a panel. */
static size_t segment_image(uint32_t beats, uint32_t passes, size_t segment) {
  /* No k is 0, so there is a pass. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
  return segment / passes * beats + cut(beats, passes, (uint32_t)(segment % passes));
}

typedef struct load {
  ng_side_t side;
  size_t image;   /* the first one */
  uint32_t count; /* of images */
  bool more;
  size_t segment;    /* the first one of a compressed operand */
  uint32_t segments; /* and how many */
} load_t;

/* The parts of a place's loads, in order: B, A, a piece of the next block of A. */
enum { LOAD_B, LOAD_A, LOAD_PIECE, LOAD_PARTS };

/* The load that is this part of this place; count 0: none. */
static load_t load_at(const ng_gemm_t *gemm, const ng_gemm_place_t *at) {
  load_t load = {at->part == LOAD_B ? NG_SIDE_B : NG_SIDE_A, 0, 0, false, 0, 0};
  const bool start = at->block == 0 && at->chunk == 0;
  uint32_t panel, offset = 0; /* offset within the panels */
  if (at->part == LOAD_PIECE) {
    if (!(one_pass(gemm) || a_stays(gemm)) || at->pass + 1 != gemm->passes || at->block + 1 == gemm->blocks)
      return load;
    /* None in the first chunk, when the tile waits for the second. */
    const uint32_t first = gemm->chunks > 1 ? 1 : 0, pieces = gemm->chunks - first;
    if (at->chunk < first) return load;
    const uint32_t panels = part(gemm->a_panels, gemm->blocks, at->block + 1), images = panels * gemm->beats;
    panel = cut(gemm->a_panels, gemm->blocks, at->block + 1);
    load.more = at->chunk + 1 != gemm->chunks;
    if (gemm->config.a
            .segments) { /* pieces of whole segments; the last ones are no smaller than others, so none is empty */
      const uint32_t segments = panels * gemm->passes;
      load.segment = (size_t)panel * gemm->passes + cut(segments, pieces, at->chunk - first);
      load.segments = part(segments, pieces, at->chunk - first);
      load.image = segment_image(gemm->beats, gemm->passes, load.segment);
      load.count = (uint32_t)(segment_image(gemm->beats, gemm->passes, load.segment + load.segments) - load.image);
      return load;
    }
    offset = cut(images, pieces, at->chunk - first);
    load.count = part(images, pieces, at->chunk - first);
  } else if (!one_pass(gemm)) {
    const uint32_t q = part_of_k(gemm, at);
    const bool there = a_stays(gemm) ? !start : turns(gemm) && at->pass == 0 && at->chunk != 0;
    if (at->part == LOAD_A && there) return load;
    panel = at->part == LOAD_A ? at->block : at->chunk;
    offset = cut(gemm->beats, gemm->passes, q);
    load.count = part(gemm->beats, gemm->passes, q);
    load.segment = (size_t)panel * gemm->passes + q;
    load.segments = 1;
    load.more = at->part == LOAD_A && a_stays(gemm) && at->pass + 1 != gemm->passes;
  } else if (at->part == LOAD_B) {
    if (gemm->chunks == 1 && at->block != 0) return load;
    panel = chunk_start(gemm, at->chunk);
    load.segment = panel;
    load.segments = chunk_panels(gemm, at->chunk);
    load.count = load.segments * gemm->beats;
  } else {
    if (!start) return load;
    panel = 0;
    load.segments = part(gemm->a_panels, gemm->blocks, 0);
    load.count = load.segments * gemm->beats;
  }
  load.image = (size_t)panel * gemm->beats + offset;
  return load;
}

/* Goes on to the next part that is a load, or stays where it is if it is one. */
static void seek_load(const ng_gemm_t *gemm, ng_gemm_place_t *at) {
  while (!finished(gemm, at) && load_at(gemm, at).count == 0) {
    if (++at->part == LOAD_PARTS && !advance(gemm, at)) return;
  }
}

/* ---- the product ---- */

static ng_result_t push_load(ng_gemm_t *gemm) {
  const load_t load = load_at(gemm, &gemm->load);
  const bool is_a = load.side == NG_SIDE_A;
  const uint32_t image = is_a ? gemm->tile->a_image : gemm->tile->b_image;
  const ng_operand_t *operand = is_a ? &gemm->config.a : &gemm->config.b;
  const size_t *segments = operand->segments;
  const size_t start = segments ? segments[load.segment] : load.image * image;
  gemm->send_data = operand->data + start;
  gemm->send_bytes = segments ? segments[load.segment + load.segments] - start : (size_t)load.count * image;
  gemm->sent += gemm->send_bytes;
  gemm->unsent = true;
  TRY(put_signed(gemm->tile, &gemm->signature, NG_TILE_LOAD_OFFSET,
                 PUT(LOAD_PANEL_BEATS, load.count) | PUT(LOAD_COMPRESSED, segments != NULL) |
                     PUT(LOAD_MORE, load.more) | PUT(LOAD_OPERAND, load.side)));
  ++gemm->loads;
  ++gemm->load.part;
  if (gemm->load.part == LOAD_PARTS) (void)advance(gemm, &gemm->load);
  seek_load(gemm, &gemm->load);
  return NG_OK;
}

/* What all compute commands take along: written before the first one, and behind the first loads, so that operands come
 * meanwhile. */
static ng_result_t put_settings(ng_gemm_t *gemm) {
  const ng_tile_t *tile = gemm->tile;
  const ng_gemm_config_t *config = &gemm->config;
  uint32_t *signature = &gemm->signature;
  TRY(put_signed(tile, signature, NG_TILE_FORMAT_OFFSET,
                 PUT(FORMAT_A, row_of(config->a.format)->code) | PUT(FORMAT_B, row_of(config->b.format)->code) |
                     PUT(FORMAT_BF16, config->bf16)));
  TRY(put_signed(tile, signature, NG_TILE_SCALE_OFFSET, config->scale));
  /* Between products both are off: step, or a reset. */
  if (config->int8)
    TRY(put_signed(tile, signature, NG_TILE_INTEGER_OFFSET,
                   PUT(INTEGER_INT8, 1) | PUT(INTEGER_ZERO_POINT, (uint32_t)config->zero_point)));
  if (!config->requantize) return NG_OK;
  const ng_format_t format = config->c_format;
  TRY(put_signed(tile, signature, NG_TILE_REQUANTIZE_OFFSET,
                 PUT(REQUANTIZE_NVFP4, format == NG_NVFP4) | PUT(REQUANTIZE_E4M3, format == NG_E4M3) |
                     PUT(REQUANTIZE_E5M2, format == NG_E5M2) | PUT(REQUANTIZE_INT4, format == NG_LUQ) |
                     PUT(REQUANTIZE_RELU, config->relu)));
  if (config->c_segments) TRY(put_signed(tile, signature, NG_TILE_COMPRESS_OFFSET, PUT(COMPRESS_RESULTS, 1)));
  return put_signed(tile, signature, NG_TILE_TENSOR_SCALE_OFFSET, config->tensor_scale);
}

static ng_result_t push_compute(ng_gemm_t *gemm) {
  const ng_gemm_place_t *at = &gemm->compute;
  const ng_tile_t *tile = gemm->tile;
  const bool last = at->pass + 1 == gemm->passes;
  const uint32_t panels =
      PUT(PANELS_A, part(gemm->a_panels, gemm->blocks, at->block)) | PUT(PANELS_B, chunk_panels(gemm, at->chunk));
  const uint32_t rows =
      at->block + 1 == gemm->blocks ? gemm->config.a.rows - (gemm->a_panels - 1) * tile->rows : tile->rows;
  const uint32_t cols =
      at->chunk + 1 == gemm->chunks ? gemm->config.b.rows - (gemm->b_panels - 1) * tile->cols : tile->cols;
  const uint32_t edge = PUT(EDGE_ROWS, rows) | PUT(EDGE_COLS, cols);
  if (gemm->computes == 0) TRY(put_settings(gemm));
  if (panels != gemm->panels) TRY(put_signed(tile, &gemm->signature, NG_TILE_PANELS_OFFSET, panels));
  if (edge != gemm->edge) TRY(put_signed(tile, &gemm->signature, NG_TILE_EDGE_OFFSET, edge));
  gemm->panels = panels;
  gemm->edge = edge;
  const uint32_t command = PUT(COMPUTE_BEATS, part(gemm->beats, gemm->passes, part_of_k(gemm, at))) |
                           PUT(COMPUTE_FIRST, at->pass == 0) | PUT(COMPUTE_LAST, last) |
                           PUT(COMPUTE_RELEASE_A, leaves_a(gemm, at)) | PUT(COMPUTE_RELEASE_B, leaves_b(gemm, at)) |
                           PUT(COMPUTE_PART_A, a_stays(gemm));
  if (gemm->config.again) *gemm->config.again = command;
  TRY(put_signed(tile, &gemm->signature, NG_TILE_COMPUTE_OFFSET,
                 command | PUT(COMPUTE_IRQ, last && gemm->config.interrupts)));
  ++gemm->computes;
  if (last) ++gemm->results;
  (void)advance(gemm, &gemm->compute);
  return NG_OK;
}

/* To the next tile of results, or to the next image where `count` is that of images in a chunk. */
static void next_result(ng_gemm_t *gemm, uint32_t count) {
  gemm->result.row = 0;
  if (++gemm->result.b_panel < count) return;
  gemm->result.b_panel = 0;
  if (++gemm->result.a_panel < part(gemm->a_panels, gemm->blocks, gemm->result.block)) return;
  gemm->result.a_panel = 0;
  if (++gemm->result.chunk < gemm->chunks) return;
  gemm->result.chunk = 0;
  ++gemm->result.block;
}

/* Puts one word of an image in place. */
static void place_word(ng_gemm_t *gemm, const uint8_t *word) {
  const ng_tile_t *tile = gemm->tile;
  const uint32_t panel = cut(gemm->a_panels, gemm->blocks, gemm->result.block) + gemm->result.a_panel;
  const uint32_t first = chunk_unit(gemm, gemm->result.chunk);
  const size_t image = (size_t)panel * gemm->b_units + first + gemm->result.b_panel;
  fill((uint8_t *)gemm->config.c + image * tile->a_image + (size_t)gemm->result.row * tile->stream_bytes, word,
       tile->stream_bytes);
  if (++gemm->result.row == tile->a_image / tile->stream_bytes)
    next_result(gemm, chunk_unit(gemm, gemm->result.chunk + 1) - first);
}

/* Chunks of the packets that bring `images` images, of a stream word or more each. */
static uint32_t chunks_of(const ng_tile_t *tile, uint32_t images) {
  return quotient_up(images * (tile->a_image / tile->stream_bytes), CHUNK_BYTES / tile->stream_bytes);
}

/* Puts one word of a packet behind those that have come, and finds the packet's end by the heads of its chunks. A
 * panel's packets, one for each chunk of B, are its segment. */
static ng_result_t pack_word(ng_gemm_t *gemm, const uint8_t *word) {
  const ng_tile_t *tile = gemm->tile;
  if (gemm->config.c_bytes - gemm->packet.bytes < tile->stream_bytes) return NG_ERROR_STREAM;
  if (gemm->packet.chunks == 0) {
    const uint32_t units = chunk_unit(gemm, gemm->result.chunk + 1) - chunk_unit(gemm, gemm->result.chunk);
    gemm->packet.chunks = chunks_of(tile, units);
    if (gemm->result.chunk == 0) gemm->config.c_segments[gemm->result.block] = gemm->packet.bytes;
  }
  fill((uint8_t *)gemm->config.c + gemm->packet.bytes, word, tile->stream_bytes);
  gemm->packet.bytes += tile->stream_bytes;
  for (uint32_t at = 0; at < tile->stream_bytes && gemm->packet.chunks != 0; at += (uint32_t)sizeof(uint32_t)) {
    if (gemm->packet.words == 0) {
      gemm->packet.words = word[at] | (uint32_t)word[at + 1] << 8;
      if (gemm->packet.words == 0) return NG_ERROR_STREAM;
    } else if (--gemm->packet.words == 0) {
      --gemm->packet.chunks;
    }
  }
  if (gemm->packet.chunks == 0) next_result(gemm, 1);
  if (gemm->result.block == gemm->blocks) gemm->config.c_segments[gemm->blocks] = gemm->packet.bytes;
  return NG_OK;
}

/* Of a result that is a number. */
static uint32_t result_bytes(const ng_gemm_config_t *config) { return config->int8 ? 1 : config->bf16 ? 2 : 4; }

/* Puts the elements of one result word in place, except for padding. */
static void unpack_word(ng_gemm_t *gemm, const uint8_t *word) {
  const ng_tile_t *tile = gemm->tile;
  const ng_gemm_config_t *config = &gemm->config;
  const uint32_t size = result_bytes(config), elements = tile->stream_bytes / size;
  const uint32_t a_panel = cut(gemm->a_panels, gemm->blocks, gemm->result.block) + gemm->result.a_panel;
  const uint32_t b_panel = chunk_start(gemm, gemm->result.chunk) + gemm->result.b_panel;
  const uint32_t row = a_panel * tile->rows + gemm->result.row, col = b_panel * tile->cols + gemm->result.col;
  if (row < config->a.rows && col < config->b.rows) {
    const uint32_t used = least(least(elements, tile->cols - gemm->result.col), config->b.rows - col);
    uint8_t *out = (uint8_t *)config->c + ((size_t)row * config->c_stride + col) * size;
    fill(out, word, (size_t)used * size);
  }
  gemm->result.col += elements;
  if (gemm->result.col < tile->cols) return;
  gemm->result.col = 0;
  if (++gemm->result.row == tile->rows) next_result(gemm, chunk_panels(gemm, gemm->result.chunk));
}

static bool results_complete(const ng_gemm_t *gemm) { return gemm->result.block == gemm->blocks; }

/* Takes what has arrived; *moved: something had. */
static ng_result_t receive(ng_gemm_t *gemm, bool *moved) {
  const ng_tile_t *tile = gemm->tile;
  const size_t room = gemm->config.scratch_bytes / tile->stream_bytes * tile->stream_bytes;
  size_t arrived;
  do {
    arrived = 0;
    TRY(stream_result(tile->port->stream_receive(tile->port->ctx, gemm->config.scratch, room, &arrived)));
    if (arrived > room || arrived % tile->stream_bytes != 0) return NG_ERROR_STREAM;
    const uint8_t *words = gemm->config.scratch;
    for (size_t at = 0; at < arrived; at += tile->stream_bytes) {
      if (results_complete(gemm)) return NG_ERROR_MISCOUNT;
      gemm->received += tile->stream_bytes;
      if (gemm->config.c_segments) {
        TRY(pack_word(gemm, words + at));
      } else if (gemm->config.requantize) {
        place_word(gemm, words + at);
      } else {
        unpack_word(gemm, words + at);
      }
    }
    if (arrived != 0) *moved = true;
  } while (arrived == room);
  return NG_OK;
}

/* No more interrupts, and none pending. */
static ng_result_t quiet(const ng_tile_t *tile) {
  TRY(put(tile, NG_TILE_IRQ_ENABLE_OFFSET, 0));
  return put(tile, NG_TILE_IRQ_PENDING_OFFSET, all_interrupts);
}

/* One round; NG_BUSY: not finished. */
static ng_result_t step(ng_gemm_t *gemm, bool *moved) {
  const ng_tile_t *tile = gemm->tile;
  const ng_port_t *port = tile->port;
  uint32_t status;
  /* Acknowledged before looking: what happens from now on interrupts again. */
  if (gemm->config.interrupts) TRY(put(tile, NG_TILE_IRQ_PENDING_OFFSET, all_interrupts));
  TRY(get_status(tile, &status));

  uint32_t space = GET(status, STATUS_LOAD_SPACE);
  for (;;) {
    if (gemm->unsent) {
      const ng_result_t sent = port->stream_send(port->ctx, gemm->send_data, gemm->send_bytes);
      if (sent == NG_BUSY) break;
      TRY(sent);
      gemm->unsent = false;
      *moved = true;
    }
    if (space == 0 || finished(gemm, &gemm->load)) break;
    --space;
    TRY(push_load(gemm));
    *moved = true;
  }
  for (space = GET(status, STATUS_COMPUTE_SPACE); space != 0 && !finished(gemm, &gemm->compute); --space) {
    TRY(push_compute(gemm));
    *moved = true;
  }
  TRY(receive(gemm, moved));

  if (!results_complete(gemm) || gemm->unsent || GET(status, STATUS_BUSY) != 0) return NG_BUSY;
  bool sent = false;
  TRY(stream_result(port->stream_send_done(port->ctx, &sent)));
  if (!sent) return NG_BUSY;
  /* The tile was idle when STATUS was read, and all results were there: its counts must agree. */
  uint32_t loads, done;
  TRY(get(tile, NG_TILE_LOADS_OFFSET, &loads));
  TRY(get(tile, NG_TILE_DONE_OFFSET, &done));
  const bool agree = finished(gemm, &gemm->load) && finished(gemm, &gemm->compute) &&
                     loads - gemm->loads_before == gemm->loads && done - gemm->done_before == gemm->results;
  if (!agree) return NG_ERROR_MISCOUNT;
  if (gemm->config.c_segments) TRY(put_signed(tile, &gemm->signature, NG_TILE_COMPRESS_OFFSET, 0));
  if (gemm->config.requantize) TRY(put_signed(tile, &gemm->signature, NG_TILE_REQUANTIZE_OFFSET, 0));
  if (gemm->config.int8) TRY(put_signed(tile, &gemm->signature, NG_TILE_INTEGER_OFFSET, 0));
  if (gemm->config.interrupts) TRY(quiet(tile));
  return check_signature(tile, gemm->signature); /* behind all writes: one that came elsewhere shows */
}

/* Of an operand of `rows` vectors of k: beats, and in how many parts of k it is sent. */
static uint32_t beats_of(const ng_tile_t *tile, const ng_operand_t *operand) {
  return quotient_up(operand->k, k_a_beat(tile, operand->sparsity));
}
static uint32_t passes_of(const ng_tile_t *tile, uint32_t beats) {
  return quotient_up(beats, least(tile->a_depth, tile->b_depth));
}

ng_result_t ng_tile_segments(const ng_tile_t *tile, const ng_operand_t *operand, uint32_t *count) {
  if (!tile || !operand || !count || operand->rows == 0 || operand->k == 0) return NG_ERROR_ARGUMENT;
  const uint32_t panels = quotient_up(operand->rows, vectors_a_panel(tile, operand->side));
  size_t product;
  if (!multiply(panels, passes_of(tile, beats_of(tile, operand)), &product) || product >= UINT32_MAX)
    return NG_ERROR_MEMORY;
  *count = (uint32_t)product;
  return NG_OK;
}

ng_result_t ng_tile_segment(const ng_tile_t *tile, const ng_operand_t *operand, uint32_t index, size_t *start) {
  uint32_t count;
  TRY(ng_tile_segments(tile, operand, &count));
  if (!start || index > count) return NG_ERROR_ARGUMENT;
  const uint32_t beats = beats_of(tile, operand);
  const size_t image = segment_image(beats, passes_of(tile, beats), index);
  return multiply(image, operand->side == NG_SIDE_A ? tile->a_image : tile->b_image, start) ? NG_OK : NG_ERROR_MEMORY;
}

/* Of an operand that goes into a product. */
static ng_result_t check_bytes(const ng_tile_t *tile, const ng_operand_t *operand) {
  size_t needed;
  TRY(packed_bytes(tile, operand->sparsity, operand->side, operand->rows, operand->k, &needed));
  if (!operand->segments) return operand->bytes == needed ? NG_OK : NG_ERROR_MEMORY;
  if (tile->codec == 0) return NG_ERROR_UNSUPPORTED;
  uint32_t count;
  TRY(ng_tile_segments(tile, operand, &count));
  for (uint32_t i = 0; i < count; ++i) {
    const size_t start = operand->segments[i], end = operand->segments[i + 1];
    if (start >= end || start % tile->stream_bytes != 0) return NG_ERROR_ARGUMENT;
  }
  return operand->segments[count] == operand->bytes && operand->bytes % tile->stream_bytes == 0 ? NG_OK
                                                                                                : NG_ERROR_MEMORY;
}

/* An FP32 code that results in the format can have as their factor. */
static bool fits_scale(ng_format_t format, uint32_t scale) {
  enum { LEAST = 0x08000000, INFINITE = 0x7F800000, FRACTION = 0x007FFFFF }; /* LEAST: 2^-111 */
  if (format == NG_LUQ) return scale > 0 && scale < INFINITE;
  return scale >= LEAST && scale < INFINITE && (format == NG_NVFP4 || (scale & FRACTION) == 0);
}

static ng_result_t check_gemm(const ng_tile_t *tile, ng_gemm_config_t *config) {
  const ng_operand_t *a = &config->a, *b = &config->b;
  if (!a->data || !b->data || !config->c || !config->scratch) return NG_ERROR_ARGUMENT;
  if (!known(a->format) || !known(b->format)) return NG_ERROR_ARGUMENT;
  if (a->side != NG_SIDE_A || b->side != NG_SIDE_B || a->rows == 0 || b->rows == 0 || a->k == 0 || a->k != b->k ||
      ((narrow(a->format) || narrow(b->format)) && a->format != b->format) || a->sparsity != b->sparsity) {
    return NG_ERROR_ARGUMENT;
  }
  if (!supports(tile, a->format, a->sparsity) || !supports(tile, b->format, b->sparsity)) return NG_ERROR_UNSUPPORTED;
  size_t needed;
  TRY(check_bytes(tile, a));
  TRY(check_bytes(tile, b));
  if (config->scratch_bytes < tile->stream_bytes) return NG_ERROR_MEMORY;
  if (config->again && (config->requantize || config->int8)) return NG_ERROR_UNSUPPORTED;
  if (config->int8) {
    if (config->bf16 || config->requantize || config->zero_point < -256 || config->zero_point > 255)
      return NG_ERROR_ARGUMENT;
    if (!tile->integers) return NG_ERROR_UNSUPPORTED;
  } else if (config->zero_point != 0) {
    return NG_ERROR_ARGUMENT;
  }
  if (config->requantize) {
    if (config->bf16 || config->c_stride != 0 || (uint32_t)config->c_format > NG_LUQ) return NG_ERROR_ARGUMENT;
    if (!tile->requantize || !supports(tile, config->c_format, NG_DENSE)) return NG_ERROR_UNSUPPORTED;
    if (!fits_scale(config->c_format, config->tensor_scale)) return NG_ERROR_SCALE;
    if (config->c_segments) {
      uint32_t segments;
      TRY(ng_tile_compressed_size(tile, a->rows, b->rows, &needed, &segments));
      if (segments != quotient_up(a->rows, tile->rows)) return NG_ERROR_UNSUPPORTED;
    } else {
      TRY(packed_bytes(tile, NG_DENSE, NG_SIDE_A, a->rows, b->rows, &needed));
    }
    return config->c_bytes < needed ? NG_ERROR_MEMORY : NG_OK;
  }
  if (config->c_segments || config->relu) return NG_ERROR_ARGUMENT;
  if (config->c_stride == 0) config->c_stride = b->rows;
  if (config->c_stride < b->rows) return NG_ERROR_ARGUMENT;
  const size_t size = result_bytes(config); /* the last row need not be of the full stride */
  if (!multiply(a->rows - 1, config->c_stride, &needed) || needed > SIZE_MAX / size - b->rows) return NG_ERROR_MEMORY;
  return config->c_bytes < (needed + b->rows) * size ? NG_ERROR_MEMORY : NG_OK;
}

/* Cuts the product; the head of this file says how. */
static ng_result_t plan(ng_gemm_t *gemm) {
  const ng_tile_t *tile = gemm->tile;
  gemm->a_panels = quotient_up(gemm->config.a.rows, tile->rows);
  gemm->b_panels = quotient_up(gemm->config.b.rows, tile->cols);
  gemm->beats = beats_of(tile, &gemm->config.a);
  if (gemm->beats > tile->max_beats) return NG_ERROR_UNSUPPORTED;
  gemm->unit = gemm->config.requantize ? tile->lanes / tile->cols : 1;
  gemm->b_units = quotient_up(gemm->b_panels, gemm->unit);
  gemm->passes = passes_of(tile, gemm->beats);
  /* The tiles of an image come from one command: none that goes on with the sum of another one has several. */
  const uint32_t together = least(gemm->unit, gemm->b_panels);
  if (together > 1 && (!one_pass(gemm) || together > tile->b_depth / gemm->beats)) return NG_ERROR_UNSUPPORTED;
  if (gemm->config.again && !one_pass(gemm)) return NG_ERROR_UNSUPPORTED;
  if (!one_pass(gemm)) {
    gemm->blocks = gemm->a_panels;
    gemm->chunks = gemm->b_panels;
    gemm->first_chunk = 1;
    return NG_OK;
  }
  gemm->blocks = gemm->config.c_segments ? gemm->a_panels : quotient_up(gemm->a_panels, tile->a_depth / gemm->beats);
  if (gemm->config.again) {
    const bool fits = gemm->blocks == 1 && tile->b_depth / gemm->beats >= gemm->b_panels;
    gemm->chunks = 1;
    gemm->first_chunk = gemm->b_units;
    return fits ? NG_OK : NG_ERROR_UNSUPPORTED;
  }
  const uint32_t wanted = gemm->config.command_beats ? gemm->config.command_beats : DEFAULT_COMMAND_BEATS;
  const uint32_t beats_a_panel = quotient_up(gemm->a_panels, gemm->blocks) * gemm->beats; /* a depth at most */
  const uint32_t fit = tile->b_depth / gemm->beats; /* panels; all of them may be fewer than a unit */
  const uint32_t most = fit >= gemm->b_panels ? gemm->b_units : fit / gemm->unit;
  /* Each panel of A with compressed results wants all of B, which therefore stays if it can. */
  const uint32_t size =
      gemm->config.c_segments ? most : least(quotient_up(quotient_up(wanted, beats_a_panel), gemm->unit), most);
  /* While the first block of A arrives, a panel of it gives as much work as its own words take if the first chunk has
   * as many panels as an image has words. Where a panel of B gives less work than its words take, the stream is what
   * all waits for, and a large chunk would keep its bank from it. */
  const uint32_t words = quotient_up(tile->a_image / tile->stream_bytes, gemm->unit); /* in units */
  const bool slow = quotient_up(gemm->a_panels, gemm->blocks) <= tile->b_image / tile->stream_bytes;
  gemm->first_chunk = slow || gemm->config.c_segments || size > words ? size : least(words, most);
  gemm->chunks = 1 + quotient_up(gemm->b_units - gemm->first_chunk, size);
  return NG_OK;
}

ng_result_t ng_tile_gemm_start(ng_gemm_t *gemm, const ng_tile_t *tile, const ng_gemm_config_t *config) {
  if (!gemm || !tile || !config) return NG_ERROR_ARGUMENT;
  fill(gemm, NULL, sizeof *gemm);
  gemm->state = NG_ERROR_ARGUMENT; /* of a step without a start */
  gemm->tile = tile;
  fill(&gemm->config, config, sizeof *config);
  TRY(check_gemm(tile, &gemm->config));
  TRY(plan(gemm));
  seek_load(gemm, &gemm->load);

  uint32_t status;
  TRY(get_status(tile, &status));
  if (GET(status, STATUS_BUSY) != 0) return NG_BUSY;
  TRY(get_signature(tile, &gemm->signature));
  TRY(get(tile, NG_TILE_LOADS_OFFSET, &gemm->loads_before));
  TRY(get(tile, NG_TILE_DONE_OFFSET, &gemm->done_before));
  TRY(put(tile, NG_TILE_IRQ_PENDING_OFFSET, all_interrupts));
  TRY(put(tile, NG_TILE_IRQ_ENABLE_OFFSET, config->interrupts ? all_interrupts : 0));
  gemm->progress_tick = now(tile);
  gemm->state = NG_BUSY;
  return NG_OK;
}

ng_result_t ng_tile_gemm_step(ng_gemm_t *gemm) {
  if (!gemm) return NG_ERROR_ARGUMENT;
  if (gemm->state != NG_BUSY) return gemm->state;
  const ng_tile_t *tile = gemm->tile;
  bool moved = false;
  gemm->state = step(gemm, &moved);
  if (gemm->state == NG_BUSY) {
    if (moved) {
      gemm->progress_tick = now(tile);
    } else if (late(tile, gemm->progress_tick)) {
      gemm->state = NG_ERROR_TIMEOUT;
    }
  }
  if (gemm->state == NG_BUSY || gemm->state == NG_OK) return gemm->state;
  if (gemm->config.interrupts) (void)quiet(tile);
  /* What went wrong may come from a write that the tile has not taken: then that is the result. */
  if (gemm->state != NG_ERROR_BUS && check_signature(tile, gemm->signature) == NG_ERROR_SIGNATURE)
    gemm->state = NG_ERROR_SIGNATURE;
  return gemm->state;
}

ng_result_t ng_tile_gemm(const ng_tile_t *tile, const ng_gemm_config_t *config) {
  ng_gemm_t gemm;
  TRY(ng_tile_gemm_start(&gemm, tile, config));
  for (;;) {
    const ng_result_t result = ng_tile_gemm_step(&gemm);
    if (result != NG_BUSY) return result;
    idle(tile);
  }
}

/* ---- requantized results ---- */

ng_result_t ng_tile_gemm_operand(const ng_tile_t *tile, const ng_gemm_config_t *config, ng_operand_t *operand) {
  if (!tile || !config || !operand || !config->requantize || !config->c) return NG_ERROR_ARGUMENT;
  operand->side = NG_SIDE_A;
  operand->format = config->c_format;
  operand->sparsity = NG_DENSE;
  operand->rows = config->a.rows;
  operand->k = config->b.rows;
  operand->data = config->c;
  operand->segments = config->c_segments;
  if (!config->c_segments) return packed_bytes(tile, NG_DENSE, NG_SIDE_A, operand->rows, operand->k, &operand->bytes);
  operand->bytes = config->c_segments[quotient_up(operand->rows, tile->rows)];
  return NG_OK;
}

ng_result_t ng_tile_amax(const ng_tile_t *tile, uint32_t *amax) {
  if (!tile || !amax) return NG_ERROR_ARGUMENT;
  if (!tile->requantize) return NG_ERROR_UNSUPPORTED;
  return get(tile, NG_TILE_AMAX_OFFSET, amax);
}

ng_result_t ng_tile_clear_amax(const ng_tile_t *tile) {
  if (!tile) return NG_ERROR_ARGUMENT;
  if (!tile->requantize) return NG_ERROR_UNSUPPORTED;
  uint32_t status, amax;
  TRY(get(tile, NG_TILE_STATUS_OFFSET, &status));
  TRY(put_control(tile, NG_TILE_CONTROL_CLEAR_AMAX_MASK));
  TRY(get(tile, NG_TILE_AMAX_OFFSET, &amax));
  const bool at_rest = GET(status, STATUS_BUSY) == 0; /* else results may have come since */
  return at_rest && amax != 0 ? NG_ERROR_SIGNATURE : NG_OK;
}

/* ---- deadlines ---- */

ng_result_t ng_tile_deadline(const ng_tile_t *tile, uint32_t clocks) {
  if (!tile || clocks > NG_TILE_DEADLINE_CLOCKS_MAX + 1u) return NG_ERROR_ARGUMENT;
  if (!tile->deadline) return NG_ERROR_UNSUPPORTED;
  uint32_t status, signature;
  TRY(get(tile, NG_TILE_STATUS_OFFSET, &status));
  if (GET(status, STATUS_BUSY) != 0) return NG_BUSY;
  TRY(get_signature(tile, &signature));
  TRY(put_signed(tile, &signature, NG_TILE_DEADLINE_OFFSET,
                 clocks == 0 ? 0 : PUT(DEADLINE_ARMED, 1) | PUT(DEADLINE_CLOCKS, clocks - 1)));
  return check_signature(tile, signature);
}

ng_result_t ng_tile_progress(const ng_tile_t *tile, uint32_t *beats, bool *late) {
  if (!tile || !beats || !late) return NG_ERROR_ARGUMENT;
  if (!tile->deadline) return NG_ERROR_UNSUPPORTED;
  uint32_t word;
  TRY(get(tile, NG_TILE_PROGRESS_OFFSET, &word));
  *beats = GET(word, PROGRESS_BEATS);
  *late = GET(word, PROGRESS_LATE) != 0;
  return NG_OK;
}

/* ---- compressed operands and results ---- */

ng_result_t ng_tile_compressed_size(const ng_tile_t *tile, uint32_t m, uint32_t n, size_t *bytes, uint32_t *segments) {
  if (!tile || m == 0 || n == 0 || !bytes || !segments) return NG_ERROR_ARGUMENT;
  if (tile->encoders == 0) return NG_ERROR_UNSUPPORTED;
  const uint32_t panels = quotient_up(m, tile->rows), images = quotient_up(n, tile->lanes);
  size_t count;
  if (!multiply(panels, passes_of(tile, images), &count) || count >= UINT32_MAX) return NG_ERROR_MEMORY;
  *segments = (uint32_t)count;
  /* Each image as if it were a packet of its own: its chunks, and a stream word that is not full. */
  const size_t longest = tile->a_image + (size_t)CHUNK_MORE * chunks_of(tile, 1) + tile->stream_bytes;
  return multiply(panels, images, bytes) && multiply(*bytes, longest, bytes) ? NG_OK : NG_ERROR_MEMORY;
}

static uint32_t code_length(const uint8_t *lengths, uint32_t symbol) {
  return symbol % 2 == 0 ? lengths[symbol / 2] >> 4 : lengths[symbol / 2] & 0xFU;
}

static ng_result_t check_code(const uint8_t *lengths) {
  uint32_t used = 0; /* of all strings of 12 bits, those that begin with a code */
  for (uint32_t symbol = 0; symbol < CODE_SYMBOLS; ++symbol) {
    const uint32_t length = code_length(lengths, symbol);
    if (length > CODE_BITS) return NG_ERROR_ARGUMENT;
    if (length != 0) used += 1U << (CODE_BITS - length);
  }
  return used > 1U << CODE_BITS ? NG_ERROR_ARGUMENT : NG_OK;
}

ng_result_t ng_tile_load_code(const ng_tile_t *tile, const uint8_t lengths[128]) {
  if (!tile || !lengths) return NG_ERROR_ARGUMENT;
  if (tile->codec == 0) return NG_ERROR_UNSUPPORTED;
  TRY(check_code(lengths));
  uint32_t signature;
  TRY(get_signature(tile, &signature));
  /* Codes count up in order of length, then of symbol; `next`: of 12 bits, the first without one. */
  uint32_t next = 0, rank = 0;
  for (uint32_t length = 1; length <= CODE_BITS; ++length) {
    const uint32_t shift = CODE_BITS - length, base = (rank - (next >> shift)) & 0xFFU;
    for (uint32_t symbol = 0; symbol < CODE_SYMBOLS; ++symbol) {
      if (code_length(lengths, symbol) != length) continue;
      TRY(put_signed(tile, &signature, NG_TILE_CODE_OFFSET, PUT(CODE_ADDRESS, rank) | PUT(CODE_DATA, symbol)));
      ++rank;
      next += 1U << shift;
    }
    TRY(put_signed(tile, &signature, NG_TILE_CODE_OFFSET,
                   PUT(CODE_ADDRESS, CODE_SYMBOLS + length) | PUT(CODE_DATA, next << 8 | base)));
  }
  return check_signature(tile, signature);
}

ng_result_t ng_tile_load_result_code(const ng_tile_t *tile, const uint8_t lengths[128]) {
  if (!tile || !lengths) return NG_ERROR_ARGUMENT;
  if (tile->encoders == 0) return NG_ERROR_UNSUPPORTED;
  TRY(check_code(lengths));
  uint32_t next = 0, signature;
  TRY(get_signature(tile, &signature));
  for (uint32_t length = 0; length <= CODE_BITS; ++length) {
    for (uint32_t symbol = 0; symbol < CODE_SYMBOLS; ++symbol) {
      if (code_length(lengths, symbol) != length) continue;
      const uint32_t entry = length == 0 ? 0 : length << CODE_BITS | next;
      TRY(put_signed(tile, &signature, NG_TILE_RESULT_CODE_OFFSET,
                     PUT(RESULT_CODE_ADDRESS, symbol) | PUT(RESULT_CODE_DATA, entry)));
      if (length != 0) next += 1U << (CODE_BITS - length);
    }
  }
  return check_signature(tile, signature);
}

/* ---- counters ---- */

ng_result_t ng_tile_counters(const ng_tile_t *tile, ng_counters_t *counters) {
  if (!tile || !counters) return NG_ERROR_ARGUMENT;
  if (!tile->counters) return NG_ERROR_UNSUPPORTED;
  const struct {
    uint32_t offset;
    uint64_t *value;
  } table[] = {{NG_TILE_CYCLES_OFFSET, &counters->cycles},     {NG_TILE_BUSY_OFFSET, &counters->busy},
               {NG_TILE_STALL_IN_OFFSET, &counters->stall_in}, {NG_TILE_STALL_OUT_OFFSET, &counters->stall_out},
               {NG_TILE_PRODUCTS_OFFSET, &counters->products}, {NG_TILE_ZERO_A_OFFSET, &counters->zero_a},
               {NG_TILE_ZERO_B_OFFSET, &counters->zero_b},     {NG_TILE_FLIPS_A_OFFSET, &counters->flips_a},
               {NG_TILE_FLIPS_B_OFFSET, &counters->flips_b}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
    uint32_t low, high; /* reading the low word keeps the high one for us */
    TRY(get(tile, table[i].offset, &low));
    TRY(get(tile, table[i].offset + 4, &high));
    *table[i].value = (uint64_t)high << 32 | low;
  }
  return NG_OK;
}

ng_result_t ng_tile_clear_counters(const ng_tile_t *tile) {
  if (!tile) return NG_ERROR_ARGUMENT;
  return put_control(tile, NG_TILE_CONTROL_CLEAR_COUNTERS_MASK);
}

/* ---- text ---- */

const char *ng_result_text(ng_result_t result) {
  switch (result) {
    case NG_OK:
      return "done";
    case NG_BUSY:
      return "the tile is at work: call again";
    case NG_ERROR_ARGUMENT:
      return "an argument is null, zero or contradicts another one: see the function's comment in ng_tile.h";
    case NG_ERROR_MEMORY:
      return "a buffer has the wrong size: ng_tile_pack_size gives that of operands, c takes rows x stride elements, "
             "scratch a stream word";
    case NG_ERROR_BUS:
      return "the bus refused a register access or did not answer: check base address, clock and reset of the tile";
    case NG_ERROR_STREAM:
      return "the stream engine failed or delivered parts of words: check the port";
    case NG_ERROR_TIMEOUT:
      return "nothing moved for longer than the timeout: reset the tile; if it comes back, check streams and clock";
    case NG_ERROR_MAGIC:
      return "there is no tile at this address: MAGIC is not NGT1; check base address and bitstream";
    case NG_ERROR_VERSION:
      return "the tile's register map is of a version that this driver does not know: take the driver of its release";
    case NG_ERROR_CAPABILITIES:
      return "the tile has capabilities that this driver does not know, or none: take the driver of its release";
    case NG_ERROR_UNSUPPORTED:
      return "this tile cannot do that: format not in its set, k above max_beats x lanes, no counters, nothing "
             "compressed, or results not requantized, not to this format, or of k so long that the columns of an image "
             "do not fit its bank of B";
    case NG_ERROR_MISCOUNT:
      return "the tile did other work than it was given, the results are void: reset the tile, and check the "
             "streams for lost words";
    case NG_ERROR_BAD_LOAD:
      return "the tile refused a load (none, or more panel-beats than a bank holds): reset it";
    case NG_ERROR_BAD_COMPUTE:
      return "the tile refused a compute command (format, panels, beats, edge or length of the sum): reset it";
    case NG_ERROR_QUEUE_FULL:
      return "the tile got a command while its queue was full: reset it, and let only one program drive it";
    case NG_ERROR_SHORT_STREAM:
      return "an operand's stream ended before its load was complete: reset the tile and check the stream engine";
    case NG_ERROR_LONG_STREAM:
      return "an operand's stream did not end with its load: reset the tile and check the stream engine";
    case NG_ERROR_BANK_MISMATCH:
      return "a bank holds other than panels x beats images of the compute command: reset the tile";
    case NG_ERROR_BAD_METADATA:
      return "metadata of a sparse operand name no two ascending positions, the results are void: reset the tile, "
             "and compress the operand again";
    case NG_ERROR_BAD_CODE:
      return "a compressed operand's packet is broken: reset the tile, and check its code, the operand and the stream "
             "engine";
    case NG_ERROR_SCALE:
      return "requantized results do not take this tensor scale; expected 2^-111 or more and finite, in FP8 a power of "
             "two among these, in INT4 finite and above 0";
    case NG_ERROR_SIGNATURE:
      return "the tile has not taken exactly the register writes that it was sent, the results are void: reset it, try "
             "again, and check the bus if it comes back";
    case NG_ERROR_BAD_PARITY:
      return "a bit has flipped in a bank or a queue of the tile, the results are void: reset it, and try again; if it "
             "comes back, check supply and clock";
    case NG_ERROR_UNKNOWN:
      return "the tile reports an error that this driver does not know: reset it, and take the driver of its release";
    default:
      return "this is not a result of the driver";
  }
}
