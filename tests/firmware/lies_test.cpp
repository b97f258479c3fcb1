// SPDX-License-Identifier: Apache-2.0
// The driver behind a bus that lies: register writes are lost, altered, repeated, exchanged or brought to another
// register, and still answered as good. No product may end as done with a wrong C.
#include <gtest/gtest.h>

#include <array>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "fake_tile.hpp"
#include "narrowgauge/engines/driver_gemm.hpp"
#include "narrowgauge/engines/tile_bus_on_pins.hpp"
#include "narrowgauge/engines/tile_engine.hpp"
#include "narrowgauge/quant/gemm_format.hpp"
#include "test_values.hpp"

namespace narrowgauge {
namespace {

constexpr std::uint32_t timeout = 4000;  // clock cycles

const GemmFormat& nvfp4 = find_gemm_format("nvfp4");

constexpr std::array<std::uint32_t, 14> writable{
    NG_TILE_CONTROL_OFFSET,  NG_TILE_IRQ_ENABLE_OFFSET, NG_TILE_IRQ_PENDING_OFFSET,  NG_TILE_LOAD_OFFSET,
    NG_TILE_FORMAT_OFFSET,   NG_TILE_SCALE_OFFSET,      NG_TILE_PANELS_OFFSET,       NG_TILE_EDGE_OFFSET,
    NG_TILE_COMPUTE_OFFSET,  NG_TILE_REQUANTIZE_OFFSET, NG_TILE_TENSOR_SCALE_OFFSET, NG_TILE_CODE_OFFSET,
    NG_TILE_COMPRESS_OFFSET, NG_TILE_RESULT_CODE_OFFSET};

struct Write {
  std::uint32_t address, word;
};

/// A port to `bus` that lies about each write with probability `rate` while it is not honest.
class LyingPort {
 public:
  LyingPort(TileBus& bus, std::uint64_t seed) : adapter_(bus), good_(adapter_.port()), random_(seed) {
    port = good_;
    port.ctx = this;
    port.read32 = [](void* ctx, std::uint32_t address, std::uint32_t* value) {
      LyingPort& p = self(ctx);
      const ng_result_t result = p.good_.read32(p.good_.ctx, address, value);
      if (address == NG_TILE_SIGNATURE_OFFSET && p.forge_signature) *value = p.forged_;
      return result;
    };
    port.write32 = [](void* ctx, std::uint32_t address, std::uint32_t word) {
      return self(ctx).write({address, word});
    };
    port.stream_send = [](void* ctx, const void* data, std::size_t bytes) {
      return self(ctx).good_.stream_send(self(ctx).good_.ctx, data, bytes);
    };
    port.stream_send_done = [](void* ctx, bool* done) {
      return self(ctx).good_.stream_send_done(self(ctx).good_.ctx, done);
    };
    port.stream_receive = [](void* ctx, void* buffer, std::size_t bytes, std::size_t* arrived) {
      return self(ctx).good_.stream_receive(self(ctx).good_.ctx, buffer, bytes, arrived);
    };
    port.stream_reset = [](void* ctx) { return self(ctx).good_.stream_reset(self(ctx).good_.ctx); };
    port.ticks = [](void* ctx) { return self(ctx).good_.ticks(self(ctx).good_.ctx); };
    port.idle = [](void* ctx) { self(ctx).good_.idle(self(ctx).good_.ctx); };
  }
  LyingPort(const LyingPort&) = delete;
  LyingPort& operator=(const LyingPort&) = delete;

  /// No lies from now on; a write that is still held is lost.
  void be_honest() {
    rate = 0;
    holds_ = false;
  }

  ng_port_t port;
  double rate = 0;
  bool forge_signature = false;            ///< SIGNATURE reads as if the tile had taken what was sent
  std::map<std::uint32_t, unsigned> lies;  ///< about writes to each register

 private:
  static LyingPort& self(void* ctx) { return *static_cast<LyingPort*>(ctx); }
  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  ng_result_t put(const Write& w) { return good_.write32(good_.ctx, w.address, w.word); }

  ng_result_t write(const Write& sent) {
    if (sent.address == NG_TILE_CONTROL_OFFSET && (sent.word & 1U) != 0) {
      forged_ = NG_TILE_SIGNATURE_RESET;
    } else if (sent.address >= NG_TILE_LOAD_OFFSET) {
      std::uint32_t x = forged_ ^ sent.word ^ (0xF000U | sent.address) * 0x10001U;
      x ^= x << 13;
      x ^= x >> 17;
      forged_ = x ^ x << 5;
    }
    if (!std::exchange(holds_, false)) return pass(sent);
    const Write first = exchange_words_ ? Write{held_.address, sent.word} : sent;
    const Write second = exchange_words_ ? Write{sent.address, held_.word} : held_;
    const ng_result_t result = put(first);
    return result == NG_OK ? put(second) : result;
  }

  ng_result_t pass(Write w) {
    if (!std::bernoulli_distribution(rate)(random_)) return put(w);
    ++lies[w.address];
    switch (below(7)) {
      case 0:
        return NG_OK;  // lost
      case 1:
        w.word ^= 1U << below(32);
        return put(w);
      case 2:
        w.word ^= 1U << below(32) | 1U << below(32) | 1U << below(32);
        return put(w);
      case 3:
        w.word = static_cast<std::uint32_t>(random_());
        return put(w);
      case 4: {
        const ng_result_t result = put(w);
        return result == NG_OK ? put(w) : result;
      }
      case 5:
        w.address = writable[below(writable.size())];
        return put(w);
      default:
        holds_ = true;
        held_ = w;
        exchange_words_ = below(2) == 0;
        return NG_OK;
    }
  }

  TileDriverPort adapter_;
  ng_port_t good_;
  std::mt19937_64 random_;
  bool holds_ = false, exchange_words_ = false;
  Write held_{};
  std::uint32_t forged_ = 0;
};

/// What a product leaves.
struct Outcome {
  ng_result_t result = NG_OK;
  std::vector<std::uint8_t> c;
  std::uint32_t amax = 0;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

struct Case {
  const QuantizedMatrix &a, &b;
  bool bf16 = false, interrupts = false;
  std::optional<Requantized> results = {};
  Compressed compressed = {};
};

/// One product from bring-up on; what a broken code throws is an error, too. The first steps may be honest.
enum class Honest { nothing, init, codes };
Outcome run(LyingPort& lying, const Case& what, Honest honest = Honest::nothing) {
  ng_tile_t tile{};
  const ng_tile_config_t config{.port = &lying.port, .base = 0, .timeout_ticks = timeout};
  Outcome out;
  const double rate = std::exchange(lying.rate, honest == Honest::nothing ? lying.rate : 0);
  out.result = ng_tile_init(&tile, &config);
  if (honest != Honest::codes) lying.rate = rate;
  if (out.result != NG_OK) return out;
  if (what.results) out.result = ng_tile_clear_amax(&tile);
  if (out.result != NG_OK) return out;
  try {
    DriverGemm product(tile, what.a, what.b, what.bf16, what.results);
    if (what.compressed.a || what.compressed.b || what.compressed.c) product.compress(tile, what.compressed);
    lying.rate = rate;
    product.config.interrupts = what.interrupts;
    out.result = ng_tile_gemm(&tile, &product.config);
    const auto* c = static_cast<const std::uint8_t*>(product.config.c);
    std::size_t bytes = product.config.c_bytes;
    ng_operand_t operand{};
    if (out.result == NG_OK && what.results)
      bytes = ng_tile_gemm_operand(&tile, &product.config, &operand) == NG_OK ? operand.bytes : 0;
    out.c.assign(c, c + bytes);
    EXPECT_EQ(lying.port.stream_reset(lying.port.ctx), NG_OK);  // the operands' memory ends here
  } catch (const Error&) {
    out.result = NG_ERROR_SIGNATURE;
  }
  if (out.result == NG_OK && what.results) out.result = ng_tile_amax(&tile, &out.amax);
  return out;
}

struct Tally {
  unsigned runs = 0, lied = 0, wrong = 0, done = 0, by_signature = 0, void_c = 0;
  std::map<std::uint32_t, unsigned> lies;
};

/// `runs` products on a new tile each, behind lies; each that fails is tried again on the same tile without.
template <class MakeBus>
void lie(Tally& tally, unsigned runs, std::uint64_t seed, const MakeBus& make_bus, const std::vector<Case>& cases,
         bool forge = false, const std::array<double, 3>& rates = {0.01, 0.03, 0.1}) {
  std::vector<Outcome> honest;
  for (const Case& what : cases) {
    const auto bus = make_bus();
    LyingPort port(*bus, 0);
    honest.push_back(run(port, what));
    ASSERT_EQ(honest.back().result, NG_OK) << ng_result_text(honest.back().result);
    if (!what.results) {
      std::vector<float> c = gemm(what.a, what.b, 1);
      if (what.bf16)
        for (float& x : c) x = std::bit_cast<float>(encode(Format::bf16, x, {.overflow = Overflow::ieee}) << 16);
      const std::vector<float> got = floats_of(honest.back().c, what.bf16);
      for (std::size_t i = 0; i < c.size(); ++i)
        ASSERT_EQ(std::bit_cast<std::uint32_t>(got[i]), std::bit_cast<std::uint32_t>(c[i]));
    }
  }
  for (unsigned i = 0; i < runs; ++i) {
    const std::size_t index = i % cases.size();
    const auto bus = make_bus();
    LyingPort port(*bus, seed + i);
    port.forge_signature = forge;
    port.rate = rates[i / cases.size() % rates.size()];
    const Outcome got = run(port, cases[index], static_cast<Honest>(i / (rates.size() * cases.size()) % 3));
    ++tally.runs;
    unsigned lies = 0;
    for (const auto& [address, count] : port.lies) {
      tally.lies[address] += count;
      lies += count;
    }
    tally.lied += lies != 0;
    tally.done += got.result == NG_OK;
    tally.by_signature += got.result == NG_ERROR_SIGNATURE;
    tally.void_c += got.c != honest[index].c;
    const bool wrong = got.result == NG_OK && got != honest[index];
    tally.wrong += wrong;
    if (wrong && !forge) ADD_FAILURE() << "seed " << seed + i << ": done, and C is wrong";
    if (forge) continue;
    port.be_honest();
    ASSERT_EQ(run(port, cases[index]), honest[index]) << "seed " << seed + i << ": the next try";
  }
}

void report(const std::string& what, const Tally& tally) {
  std::cout << what << ": " << tally.runs << " products, " << tally.lied << " behind lies, " << tally.done << " done, "
            << tally.wrong << " of them wrong; " << tally.by_signature << " ended by the signature; lies";
  for (const auto& [address, count] : tally.lies) std::cout << " " << std::hex << address << std::dec << ":" << count;
  std::cout << "\n";
}

void expect_lies(const Tally& tally, const std::vector<std::uint32_t>& registers) {
  for (const std::uint32_t address : registers) {
    const auto found = tally.lies.find(address);
    EXPECT_GE(found == tally.lies.end() ? 0 : found->second, 30U) << "about register " << std::hex << address;
  }
  EXPECT_GT(tally.by_signature, tally.runs / 50);
  EXPECT_GT(tally.void_c, tally.runs / 20);
  EXPECT_GT(tally.done, tally.runs / 20);
}

struct Products {
  explicit Products(const GemmFormat& format)
      : short_a(test::normal_operand(7, 40, format.a_scheme(), format.a, 1)),
        short_b(test::normal_operand(6, 40, format.b_scheme(), format.b, 2)),
        long_a(test::normal_operand(3, 150, format.a_scheme(), format.a, 3)),
        long_b(test::normal_operand(5, 150, format.b_scheme(), format.b, 4)) {}
  std::vector<Case> plain() const {
    return {{short_a, short_b}, {long_a, long_b, false, true}, {short_a, short_b, true, true}, {long_a, long_b, true}};
  }
  QuantizedMatrix short_a, short_b, long_a, long_b;
};

const std::vector<std::uint32_t> of_all_products{
    NG_TILE_CONTROL_OFFSET, NG_TILE_IRQ_ENABLE_OFFSET, NG_TILE_IRQ_PENDING_OFFSET,
    NG_TILE_LOAD_OFFSET,    NG_TILE_FORMAT_OFFSET,     NG_TILE_SCALE_OFFSET,
    NG_TILE_PANELS_OFFSET,  NG_TILE_EDGE_OFFSET,       NG_TILE_COMPUTE_OFFSET};

auto fake_bus() {
  const FakeTileConfig config{.format_set = 15, .a_depth = 6, .b_depth = 4};
  return std::make_unique<FakeTile>(config);
}

TEST(Lies, NoneEndsInAWrongProduct) {
  Tally tally;
  std::uint64_t seed = 1000;
  for (const char* format : {"nvfp4", "fp8_e4m3", "fp8_e5m2_e4m3", "luq"}) {
    lie(tally, 5000, seed, fake_bus, Products(find_gemm_format(format)).plain());
    seed += 5000;
  }
  report("functional tile", tally);
  expect_lies(tally, of_all_products);
}

/// The same lies, with a signature that tells nothing: what a driver without it would hand out.
TEST(Lies, WouldPassWithoutTheSignature) {
  Tally tally;
  const Products products(find_gemm_format("nvfp4"));
  lie(tally, 4000, 1000, fake_bus, products.plain(), true);
  report("functional tile, signature forged", tally);
  EXPECT_GT(tally.wrong, 50U);
}

/// A tile as its cycle model, which has all registers.
struct CycleModel {
  explicit CycleModel(std::string_view name)
      : model(make_tile_pin_model("systemc", name)),
        bus(*model, std::ranges::find(tile_configs(), name, &TileConfig::name)->stream_width / 8) {}
  operator TileBus&() { return bus; }
  std::unique_ptr<TilePinModel> model;
  TileBusOnPins bus;
};

TEST(Lies, NoneEndsInAWrongRequantizedProduct) {
  Tally tally;
  const Products products(nvfp4);
  const Requantized results{ResultFormat::nvfp4, 0.01F};
  const std::vector<Case> cases{{products.short_a, products.short_b, false, false, results},
                                {products.short_a, products.short_b},
                                {products.long_a, products.long_b, false, true, results}};
  lie(
      tally, 3000, 10000, [] { return std::make_unique<CycleModel>("chain"); }, cases);
  report("cycle model of tile chain", tally);
  std::vector<std::uint32_t> registers = of_all_products;
  registers.insert(registers.end(), {NG_TILE_REQUANTIZE_OFFSET, NG_TILE_TENSOR_SCALE_OFFSET});
  expect_lies(tally, registers);
}

TEST(Lies, NoneEndsInAWrongCompressedProduct) {
  Tally tally;
  const Products products(nvfp4);
  const Requantized results{ResultFormat::nvfp4, 0.01F};
  const std::vector<Case> cases{
      {products.short_a, products.short_b, false, false, results, {.a = true, .b = true, .c = true}},
      {products.short_a, products.short_b, false, false, {}, {.a = true}},
      {products.short_a, products.short_b, false, true, results, {.c = true}}};
  lie(tally, 3000, 20000, [] { return std::make_unique<CycleModel>("codec"); }, cases, false, {0.0005, 0.02, 0.2});
  report("cycle model of tile codec", tally);
  expect_lies(tally, {NG_TILE_LOAD_OFFSET, NG_TILE_COMPUTE_OFFSET, NG_TILE_CODE_OFFSET, NG_TILE_RESULT_CODE_OFFSET});
}

}  // namespace
}  // namespace narrowgauge
