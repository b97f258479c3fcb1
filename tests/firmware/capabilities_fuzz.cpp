// SPDX-License-Identifier: Apache-2.0
// The driver behind any capabilities: no set of them that ng_tile_init accepts makes a function of the driver read or
// write outside of the caller's buffers, whatever else the tile and its streams answer. Compiled with AddressSanitizer
// and UndefinedBehaviorSanitizer in every build; buffers are of the size that the driver asks for, to the byte.
// capabilities_fuzz [SETS [SEED]]
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <random>
#include <string>

#include "narrowgauge/ng_tile.h"
#include "narrowgauge/ng_tile_regs.h"

namespace {

/// Memory whose ends the sanitizer guards, with anything in it.
struct Buffer {
  explicit Buffer(std::size_t size) : bytes(size), data(std::make_unique<std::uint8_t[]>(size)) {}
  void fill(std::mt19937_64& random) {
    std::generate_n(data.get(), bytes, [&] { return static_cast<std::uint8_t>(random()); });
  }
  std::size_t bytes;
  std::unique_ptr<std::uint8_t[]> data;
};

/// A tile that has the capabilities of a draw, and then does what a broken one may do.
class Tile {
 public:
  explicit Tile(std::uint64_t seed) : random(seed) { draw(); }

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); }
  bool chance(double p) { return std::bernoulli_distribution(p)(random); }

  ng_port_t port() {
    return {
        .ctx = this,
        .read32 = [](void* ctx, std::uint32_t address,
                     std::uint32_t* value) { return self(ctx).read(address, *value); },
        .write32 = [](void* ctx, std::uint32_t address, std::uint32_t word) { return self(ctx).write(address, word); },
        .stream_send = [](void* ctx, const void* data, std::size_t bytes) { return self(ctx).send(data, bytes); },
        .stream_send_done =
            [](void* ctx, bool* done) {
              *done = self(ctx).chance(0.9);
              return NG_OK;
            },
        .stream_receive = [](void* ctx, void* buffer, std::size_t bytes,
                             std::size_t* arrived) { return self(ctx).receive(buffer, bytes, *arrived); },
        .stream_reset = [](void*) { return NG_OK; },
        .ticks = [](void* ctx) { return ++self(ctx).tick_; },
        .idle = nullptr};
  }

  std::mt19937_64 random;
  std::uint32_t rows = 0, cols = 0, lanes = 0, format_set = 0, stream_bytes = 0, a_depth = 0, b_depth = 0,
                max_beats = 0;
  std::uint64_t words_sent = 0, words_given = 0;
  unsigned checksum = 0;  ///< what the driver hands to the stream is read

 private:
  static Tile& self(void* ctx) { return *static_cast<Tile*>(ctx); }

  /// Mostly values that are in some tile, and those beside them.
  std::uint32_t likely(std::initializer_list<std::uint32_t> some, std::uint32_t limit) {
    return chance(0.8) ? *(some.begin() + below(static_cast<std::uint32_t>(some.size()))) : below(limit);
  }
  void draw() {
    rows = likely({1, 2, 3, 4, 8}, 256);
    cols = likely({1, 2, 3, 4, 8, 16}, 256);
    lanes = likely({1, 2, 8, 16, 17, 24, 31, 32, 48, 64, 128}, 256);
    format_set = likely({1, 2, 4, 6, 7, 8, 9, 10, 15}, 256);
    stream_bytes = likely({4, 8, 16, 32, 64, 128}, 256);
    a_depth = likely({1, 2, 3, 7, 16, 64, 512}, 65536);
    b_depth = likely({1, 2, 5, 16, 128}, 65536);
    max_beats = likely({1, 16, 100, 4096, 65536, 0xFFFFFFFF}, 70000);
    const bool plain = chance(0.4);
    const auto coders = [&] { return likely({0, 0, 1, 4, 8}, 16); };
    // Counters, requantize, sparse, codec, encoders, protect, deadline, integers, mx.
    options_ = plain ? below(2) : below(8) | coders() << 3 | coders() << 7 | below(8) << 11;
    if (chance(0.2)) options_ = (options_ & ~6U) | 1U << 14, lanes = likely({32}, 256);
    if (chance(0.01)) options_ |= 1U << (15 + below(9));
  }

  ng_result_t read(std::uint32_t address, std::uint32_t& value) {
    switch (address) {
      case NG_TILE_MAGIC_OFFSET:
        value = NG_TILE_MAGIC_RESET;
        break;
      case NG_TILE_VERSION_OFFSET:
        value = NG_TILE_VERSION_RESET;
        break;
      case NG_TILE_GEOMETRY_OFFSET:
        value = rows | cols << 8 | lanes << 16 | format_set << 24;
        break;
      case NG_TILE_DEPTHS_OFFSET:
        value = a_depth | b_depth << 16;
        break;
      case NG_TILE_STREAM_OFFSET:
        value = stream_bytes | options_ << 8;
        break;
      case NG_TILE_MAX_BEATS_OFFSET:
        value = max_beats;
        break;
      case NG_TILE_STATUS_OFFSET:
        value = fresh_ ? 0x440 : below(2) | below(8) << 4 | below(8) << 8 | (chance(0.002) ? below(16) << 12 : 0);
        break;
      case NG_TILE_SIGNATURE_OFFSET:
        value = fresh_ ? 0 : below(2);
        break;
      default:
        value = chance(0.5) ? 0 : static_cast<std::uint32_t>(random());
    }
    return NG_OK;
  }

  ng_result_t write(std::uint32_t address, std::uint32_t word) {
    fresh_ = address == NG_TILE_CONTROL_OFFSET ? (word & 1U) != 0 : fresh_ && address < NG_TILE_LOAD_OFFSET;
    return NG_OK;
  }

  ng_result_t send(const void* data, std::size_t bytes) {
    if (chance(0.05)) return NG_BUSY;
    const auto* from = static_cast<const std::uint8_t*>(data);
    for (std::size_t i = 0; i < bytes; ++i) checksum = checksum * 31 + from[i];
    words_sent += bytes / stream_bytes;
    return NG_OK;
  }

  ng_result_t receive(void* buffer, std::size_t bytes, std::size_t& arrived) {
    arrived = std::min<std::size_t>(bytes / stream_bytes, below(9)) * stream_bytes;
    if (chance(0.001)) arrived = bytes + below(3);
    if (chance(0.001)) ++arrived;
    const std::size_t written = std::min(arrived, bytes);
    auto* to = static_cast<std::uint8_t*>(buffer);
    // Heads of chunks of compressed results are small numbers; the rest is anything.
    for (std::size_t i = 0; i < written; ++i)
      to[i] = static_cast<std::uint8_t>(i % 4 == 0 ? 1 + below(4) : below(2) * below(256));
    if (chance(0.5)) std::fill_n(to, written, std::uint8_t{0x01});
    words_given += written / stream_bytes;
    return NG_OK;
  }

  std::uint32_t options_ = 0, tick_ = 0;
  bool fresh_ = false;  // nothing but a reset since the last one
};

struct Tally {
  std::uint64_t accepted = 0, packed = 0, started = 0, finished = 0, requantized = 0, compressed = 0, sparse = 0,
                luq = 0, mx = 0, codes = 0;
};

/// An operand of anything, packed into a buffer of the size that the driver asks for.
struct Operand {
  Operand(Tile& tile, const ng_tile_t& driver, ng_side_t side, ng_format_t format, ng_sparsity_t sparsity,
          std::uint32_t rows, std::uint32_t k)
      : k_padded((k + 31) / 32 * 32),
        codes(std::size_t{rows} * (sparsity != NG_DENSE && side == NG_SIDE_A ? k_padded / 2 : k_padded)),
        scales(std::size_t{rows} * k_padded / (sparsity != NG_DENSE ? 32 : 16)),
        metadata(std::size_t{rows} * k_padded / (sparsity == NG_4_8_PAIR ? 16 : 8)) {
    codes.fill(tile.random);
    const ng_matrix_t matrix{.format = format,
                             .rows = rows,
                             .k = k,
                             .k_padded = k_padded,
                             .codes = codes.data.get(),
                             .scales = scales.data.get(),
                             .sparsity = sparsity,
                             .metadata = metadata.data.get()};
    std::size_t bytes = 0;
    if (ng_tile_pack_size(&driver, &matrix, side, &bytes) != NG_OK || bytes > (1U << 22)) return;
    images = Buffer(bytes);
    good = ng_tile_pack(&driver, &matrix, side, images.data.get(), bytes, &operand) == NG_OK;
    if (!good) return;
    std::uint32_t count = 0;
    if (ng_tile_segments(&driver, &operand, &count) != NG_OK) std::abort();
    std::size_t before = 0, end = 0;
    for (std::uint32_t i = 0; i <= count; ++i) {
      if (ng_tile_segment(&driver, &operand, i, &end) != NG_OK || end < before || end > bytes) std::abort();
      before = end;
    }
    if (end != bytes) std::abort();
    if (driver.codec != 0 && tile.chance(0.5)) as_segments(driver, count);
  }

  /// The same memory as packets of a stream word or more.
  void as_segments(const ng_tile_t& driver, std::uint32_t count) {
    const std::size_t words = images.bytes / driver.stream_bytes;
    if (words < count) return;
    segments = std::make_unique<std::size_t[]>(count + std::size_t{1});
    for (std::uint32_t i = 0; i <= count; ++i) segments[i] = words * i / count * driver.stream_bytes;
    operand.segments = segments.get();
  }

  std::uint32_t k_padded;
  Buffer codes, scales, metadata, images{0};
  std::unique_ptr<std::size_t[]> segments;
  ng_operand_t operand{};
  bool good = false;
};

void try_product(Tile& tile, const ng_tile_t& driver, Tally& tally) {
  constexpr std::array formats{NG_E4M3,       NG_E5M2,       NG_NVFP4,      NG_LUQ,        NG_MXFP4,
                               NG_MXFP8_E4M3, NG_MXFP8_E5M2, NG_MXFP6_E2M3, NG_MXFP6_E3M2, NG_MXINT8};
  constexpr std::array bits{NG_TILE_FORMAT_SET_E4M3, NG_TILE_FORMAT_SET_E5M2,  NG_TILE_FORMAT_SET_NVFP4,
                            NG_TILE_FORMAT_SET_LUQ,  NG_TILE_FORMAT_SET_NVFP4, NG_TILE_FORMAT_SET_E4M3,
                            NG_TILE_FORMAT_SET_E5M2, NG_TILE_FORMAT_SET_E4M3,  NG_TILE_FORMAT_SET_E4M3,
                            NG_TILE_FORMAT_SET_LUQ};
  constexpr unsigned plain = 4, all = formats.size();  // of these not of MX
  const unsigned start = driver.mx ? plain : 0, count = driver.mx ? all - plain : plain;
  unsigned which = tile.below(count);
  while ((driver.format_set & bits[start + which]) == 0) which = (which + 1) % count;
  const ng_format_t format = tile.chance(0.98) ? formats[start + which] : formats[tile.below(all)];
  const auto sparsity = static_cast<ng_sparsity_t>(driver.sparse ? tile.below(3) : 0);
  const auto size = [&](std::uint32_t unit) { return 1 + tile.below(tile.chance(0.5) ? 6 : 2 * unit + 2); };
  const std::uint32_t m = size(driver.rows), n = size(driver.cols),
                      k = 1 + tile.below(tile.chance(0.5) ? 40 : 4 * driver.lanes);
  Operand a(tile, driver, NG_SIDE_A, format, sparsity, m, k), b(tile, driver, NG_SIDE_B, format, sparsity, n, k);
  if (!a.good || !b.good) return;
  ++tally.packed;
  tally.luq += format == NG_LUQ;
  tally.mx += driver.mx;
  tally.sparse += sparsity != NG_DENSE;

  ng_gemm_config_t config{};
  config.a = a.operand;
  config.b = b.operand;
  config.scale = 0x3F800000;
  config.bf16 = tile.chance(0.3);
  if (driver.integers && tile.chance(0.4)) {
    config.bf16 = false;
    config.int8 = true;
    config.zero_point = static_cast<std::int32_t>(tile.below(512)) - 256;
  }
  config.interrupts = tile.chance(0.3);
  config.command_beats = tile.chance(0.5) ? 0 : 1 + tile.below(100);
  Buffer scratch(driver.stream_bytes * std::size_t{1 + tile.below(5)} + tile.below(4));
  config.scratch = scratch.data.get();
  config.scratch_bytes = scratch.bytes;
  const std::size_t number = config.int8 ? 1 : config.bf16 ? 2 : 4;
  std::size_t bytes = std::size_t{m} * n * number;
  std::unique_ptr<std::size_t[]> segments;
  if (driver.requantize && tile.chance(0.7)) {
    config.requantize = true;
    config.bf16 = config.int8 = false;
    config.zero_point = 0;
    config.relu = tile.chance(0.5);
    config.c_format = format;
    config.tensor_scale = 0x3F800000;
    std::uint32_t count = 0;
    const std::uint8_t some = 0;
    const ng_matrix_t c{.format = format,
                        .rows = m,
                        .k = n,
                        .k_padded = (n + 15) / 16 * 16,
                        .codes = &some,
                        .scales = &some,
                        .sparsity = NG_DENSE,
                        .metadata = nullptr};
    if (driver.encoders != 0 && tile.chance(0.6)) {
      if (ng_tile_compressed_size(&driver, m, n, &bytes, &count) != NG_OK) return;
      segments = std::make_unique<std::size_t[]>(count + std::size_t{1});
      config.c_segments = segments.get();
      ++tally.compressed;
    } else if (ng_tile_pack_size(&driver, &c, NG_SIDE_A, &bytes) != NG_OK) {
      return;
    }
    ++tally.requantized;
  } else if (tile.chance(0.3)) {
    config.c_stride = n + tile.below(5);
    bytes = ((m - 1) * std::size_t{config.c_stride} + n) * number;
  }
  Buffer c(bytes);
  config.c = c.data.get();
  config.c_bytes = bytes;
  ng_gemm_t gemm{};
  if (ng_tile_gemm_start(&gemm, &driver, &config) != NG_OK) return;
  ++tally.started;
  ng_result_t result = NG_BUSY;
  for (int steps = 0; steps < 3000 && result == NG_BUSY; ++steps) result = ng_tile_gemm_step(&gemm);
  // All results came, and the counts or the signature ended it: a broken tile's answers seldom fit.
  tally.finished += gemm.result.block == gemm.blocks;
  ng_operand_t next{};
  if (config.requantize && ng_tile_gemm_operand(&driver, &config, &next) != NG_OK) std::abort();
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t sets = argc > 1 ? std::stoull(argv[1]) : 200000, seed = argc > 2 ? std::stoull(argv[2]) : 1;
  Tally tally;
  for (std::uint64_t i = 0; i < sets; ++i) {
    Tile tile(seed + i);
    const ng_port_t port = tile.port();
    const ng_tile_config_t config{.port = &port, .base = 0, .timeout_ticks = 500};
    ng_tile_t driver{};
    if (ng_tile_init(&driver, &config) != NG_OK) continue;
    ++tally.accepted;
    for (int products = 0; products < 2; ++products) try_product(tile, driver, tally);
    std::array<std::uint8_t, 128> lengths{};
    lengths.fill(0x88);
    tally.codes += ng_tile_load_code(&driver, lengths.data()) != NG_ERROR_UNSUPPORTED;
    tally.codes += ng_tile_load_result_code(&driver, lengths.data()) != NG_ERROR_UNSUPPORTED;
  }
  std::cout << sets << " sets of capabilities from seed " << seed << ": " << tally.accepted << " accepted, "
            << tally.packed << " pairs of operands packed (" << tally.sparse << " sparse, " << tally.luq << " LUQ, "
            << tally.mx << " MX), " << tally.started << " products started (" << tally.requantized << " requantized, "
            << tally.compressed << " of them compressed), " << tally.finished << " with all results\n";
  const std::uint64_t least = sets / 2000;
  const bool covered = tally.accepted > least && tally.packed > least && tally.sparse > least && tally.luq > least &&
                       tally.mx > least && tally.requantized > least && tally.compressed > least &&
                       tally.finished > least && tally.codes > least;
  if (!covered) std::cout << "too few of one kind: the test says nothing\n";
  return covered ? 0 : 1;
}
