// SPDX-License-Identifier: Apache-2.0
// Design-space exploration: workloads, spaces, points, fronts, checkpoints. What the timing model's numbers are worth
// is tested against the simulated tiles: cli.ExploreCycles.
#include "narrowgauge/power/explore/explore.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "narrowgauge/power/explore/workload_formats.hpp"
#include "narrowgauge/power/gauge.hpp"
#include "narrowgauge/power/json.hpp"

namespace narrowgauge::power {
namespace {

using Json = nlohmann::json;

/// The sentence of the Error that `call` throws.
template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

#define EXPECT_SAYS(call, ...)                                             \
  for (const std::string& part : std::vector<std::string>{__VA_ARGS__})    \
  EXPECT_NE(error_of([&] { (void)(call); }).find(part), std::string::npos) \
      << error_of([&] { (void)(call); }) << "\n does not say: " << part

/// Prices that are easy to check: 1 pJ a product and bit of its operands' format, and a bit's price by memory.
class PlainPrices : public Prices {
 public:
  Price mac(const MacQuestion& q, const std::string& technology) const override {
    if (technology == "unpriced") throw Error("technology unpriced has no prices");
    const double bits = q.mac.format() == MacFormat::integer ? q.mac.a_width
                        : q.mac.format() == MacFormat::nvfp4 ? 4
                                                             : 8;
    return {1e-12 * bits, "plain"};
  }
  Price sram_bit(const std::string& technology, double, bool) const override {
    if (technology != "horowitz_45nm") throw Error("no table");
    return {1e-14, "plain"};
  }
  Price dram_bit(const std::string& memory, const std::string& technology, bool write) const override {
    if (memory != "dram" || technology != "horowitz_45nm") throw Error("no table");
    return {write ? 2e-12 : 1e-12, "plain"};
  }
};

const Json small_space = Json::parse(R"({
  "format": ["nvfp4", "fp8_e4m3", "int8"], "sparsity": ["none", "2:4"], "compression": [1, 2], "rows": [2, 8],
  "cols": [2, 8], "lanes": [16, 24], "a_depth": [64], "b_depth": [64], "stream_width": [64, 128],
  "technology": ["horowitz_45nm", "osu018"], "frequency_hz": [1e7, 2e7]})");

Explorer explorer(const Json& space = small_space, const char* workload = "digits") {
  return {load_workload(workload), space_from_json(space), std::make_shared<PlainPrices>(), normal_tensors(16, 16, 64)};
}

Json with(Json json, const char* key, const Json& value) {
  json[key] = value;
  return json;
}

// ---- cycles

TEST(Cycles, FollowTheTilesFormula) {
  // docs/units/tile.md: N + S + Rows x G + 8 cycles from COMPUTE to the last word. Before: 8 accesses, STATUS, two
  // LOADs, PANELS, EDGE, COMPUTE of three cycles each; after: the round in which the last word is seen,
  // and three accesses in it.
  const GemmWork work = estimate_gemm(TileShape::of(1, 1, 16, format_set::nvfp4, 32, 64, 64), {1, 1, 1});
  EXPECT_EQ(work.beats, 1);
  EXPECT_EQ(work.words_in, 6);
  EXPECT_EQ(work.words_out, 1);
  EXPECT_EQ(work.cycles, 14 * 3 + (1 + 3 + 1 + 8) + 12);
}

TEST(Cycles, CountWhatIsMoved) {
  const TileShape tile = TileShape::of(8, 8, 16, format_set::nvfp4, 128, 512, 128);
  EXPECT_EQ(tile.a_words(), 5);
  const GemmWork one = estimate_gemm(tile, {16, 16, 64});
  EXPECT_EQ(one.beats, 2 * 2 * 4);
  EXPECT_EQ(one.a_images, 2 * 4);
  EXPECT_EQ(one.b_images, 2 * 4);
  EXPECT_EQ(one.words_out, 2 * 2 * 8 * 2);
  // Twice the longest k of a bank of B: every tile of results loads its B, and each panel of A stays.
  const GemmWork two = estimate_gemm(tile, {16, 32, 2 * 128 * 16});
  EXPECT_EQ(two.beats, 2 * 4 * 256);
  EXPECT_EQ(two.b_images, 2 * 4 * 256);
  EXPECT_EQ(two.a_images, 2 * 256);
  // Twice the longest of a bank of A: of eight parts of A one is kept at a turn.
  const GemmWork eight = estimate_gemm(tile, {16, 32, 2 * 512 * 16});
  EXPECT_EQ(eight.b_images, 2 * 4 * 1024);
  EXPECT_EQ(eight.a_images, 2 * (1024 + 3 * 7 * 128));
}

TEST(Cycles, ShortcutsCostLittle) {
  // Products of ten rows more, with a shortcut and without, differ by what ten rows take.
  const TileShape tile = TileShape::of(4, 4, 16, format_set::nvfp4 | format_set::e4m3, 64, 256, 64);
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const GemmShape s{1 + static_cast<int>(random() % 2000), 1 + static_cast<int>(random() % 2000),
                      1 + static_cast<int>(random() % 4000)};
    const GemmWork work = estimate_gemm(tile, s), more = estimate_gemm(tile, {s.m, s.n, s.k + 4000});
    const std::int64_t least = std::max({work.beats, work.words_in, work.words_out});
    EXPECT_GE(work.cycles, least) << s.m << " x " << s.n << " x " << s.k;
    EXPECT_GT(more.cycles, work.cycles) << s.m << " x " << s.n << " x " << s.k;
  }
}

TEST(Cycles, RefuseWhatNoTileIs) {
  const TileShape tile;
  EXPECT_SAYS(estimate_gemm(tile, {0, 1, 1}), "m is 0", "1 to 2147483647");
  EXPECT_SAYS(estimate_gemm(tile, {1, -4, 1}), "n is -4");
  EXPECT_SAYS(estimate_gemm(tile, {1, 1, 16 * 65536 + 1}), "k is 1048577", "65537 beats", "at most max_beats, 65536");
  EXPECT_SAYS(estimate_gemm(tile, {1 << 30, 1 << 30, 1}), "more than 2^50");
  TileShape odd = tile;
  odd.a_depth = 100;
  EXPECT_SAYS(estimate_gemm(odd, {1, 1, 1}), "a_depth is 100", "power of two");
}

// ---- workloads

TEST(Workloads, HaveTheirPublishedSize) {
  // As the literature gives them for one 224 x 224 image, in 1e9.
  const std::pair<const char*, double> known[] = {
      {"resnet18", 1.81}, {"resnet50", 4.09}, {"mobilenet_v2", 0.30}, {"vgg16", 15.5}};
  for (const auto& [name, giga] : known) {
    const double macs = load_workload(name).macs() / 1e9;
    EXPECT_NEAR(macs, giga, giga * 0.005) << name;
  }
  // Weights of a block x tokens, and two products of seq x seq x 4096.
  const double seq = 2048;
  EXPECT_EQ(load_workload("llama_block", {{"seq", 2048}}).macs(),
            seq * (4.0 * 4096 * 4096 + 3.0 * 4096 * 11008) + 2 * seq * seq * 4096);
  EXPECT_EQ(load_workload("digits").macs(), 16 * 25 * 32 + 16 * 288 * 32 + 512 * 10);
  EXPECT_EQ(load_workload("resnet18", {{"batch", 4}}).macs(), 4 * load_workload("resnet18").macs());
  // ViT-B/16 has 17.56e9: twelve blocks, the patches' embedding and the head.
  EXPECT_NEAR(12 * load_workload("vit_block").macs() + 196.0 * 768 * 768 + 768 * 1000, 17.56e9, 0.005 * 17.56e9);
  // Keys and values of 8 heads, which 4 heads each share: two products of 5 tokens' queries with 300 keys.
  EXPECT_EQ(load_workload("decoder", {{"batch", 5}, {"context", 300}, {"kv_heads", 8}, {"group", 4}}).macs(),
            5 * (2.0 * 4096 * 4096 + 2.0 * 1024 * 4096 + 3.0 * 4096 * 11008 + 2.0 * 300 * 4096));
  EXPECT_EQ(load_workload("decoder").macs(), load_workload("llama_decode").macs());
  EXPECT_EQ(workload_names().size(), 9U);
}

TEST(Workloads, LowerConvolutions) {
  const Workload w = workload_from_json(Json::parse(R"({"layers": [
    {"op": "conv", "name": "c", "in_channels": 8, "out_channels": 12, "height": 9, "width": 7, "kernel": [3, 1],
     "stride": [2, 1], "padding": [1, 0], "dilation": [2, 1], "groups": 4, "images": 5, "count": 2}]})"));
  ASSERT_EQ(w.layers.size(), 1U);
  EXPECT_EQ(w.layers[0].gemm, (GemmShape{5 * 4 * 7, 3, 3 * 2}));
  EXPECT_EQ(w.layers[0].count, 4 * 2);
}

TEST(Workloads, AreRefusedBySentence) {
  const auto layer = [](const char* text) { return workload_from_json(Json{{"layers", {Json::parse(text)}}}); };
  EXPECT_SAYS(load_workload("resnet19"), "resnet19", "resnet18");
  EXPECT_SAYS(load_workload("resnet18", {{"seq", 3}}), "\"seq\"", "it has batch");
  EXPECT_SAYS(load_workload("resnet18", {{"batch", 0}}), "batch", "1 to 2147483647");
  EXPECT_SAYS(workload_from_json(Json::parse(std::string(200000, '[') + std::string(200000, ']'))), "too deep");
  EXPECT_SAYS(workload_from_json(Json::parse(R"({"layers": []})")), "no \"layers\"");
  EXPECT_SAYS(workload_from_json(Json::parse(R"({"layer": []})")), "\"layer\"", "layers");
  EXPECT_SAYS(layer(R"({"op": "pool", "name": "p"})"), "layer 0 (p)", "\"pool\"", "\"gemm\" or \"conv\"");
  EXPECT_SAYS(layer(R"({"op": "gemm", "m": -1, "n": 2, "k": 2})"), "layer 0", "\"m\" is -1", "from 1 to 2147483647");
  EXPECT_SAYS(layer(R"({"op": "gemm", "m": 1.5, "n": 2, "k": 2})"), "\"m\" is 1.5");
  EXPECT_SAYS(layer(R"({"op": "gemm", "m": "seq", "n": 2, "k": 2})"), "\"m\" is \"seq\"", "parameters");
  EXPECT_SAYS(layer(R"({"op": "gemm", "m": 1, "n": 2})"), "has no \"k\"");
  EXPECT_SAYS(layer(R"({"op": "gemm", "m": 1, "n": 2, "k": 2, "q": 2})"), "\"q\"", "allowed are");
  EXPECT_SAYS(layer(R"({"op": "gemm", "name": "a\nb", "m": 1, "n": 2, "k": 2, "q\nr": 2})"), "layer 0 (a\\x0ab)",
              "\"q\\x0ar\"");
  EXPECT_SAYS(layer(R"({"op": "gemm", "m": 1, "n": 2, "k": 2, "count": 3000000000})"), "\"count\" is 3000000000");
  EXPECT_SAYS(layer(R"({"op": "conv", "in_channels": 8, "out_channels": 9, "height": 4, "width": 4, "kernel": [3, 3],
                        "groups": 4})"),
              "\"groups\" is 4", "divisor");
  EXPECT_SAYS(
      layer(R"({"op": "conv", "in_channels": 8, "out_channels": 8, "height": 4, "width": 4, "kernel": [5, 5]})"),
      "window of 5", "4 pixels");
}

// ---- spaces

TEST(Spaces, TakeValuesListsAndRanges) {
  Json json = small_space;
  json["rows"] = 3;
  json["cols"] = {{"from", 2}, {"to", 16}, {"factor", 2}};
  json["lanes"] = {{"from", 16}, {"to", 48}, {"step", 16}};
  json["compression"] = {{"from", 1}, {"to", 2}, {"step", 0.1}};
  const Space space = space_from_json(json);
  EXPECT_EQ(space.rows, std::vector<int>{3});
  EXPECT_EQ(space.cols, (std::vector<int>{2, 4, 8, 16}));
  EXPECT_EQ(space.lanes, (std::vector<int>{16, 32, 48}));
  EXPECT_EQ(space.compression.size(), 11U);
  EXPECT_EQ(space.points(), 4U * 3 * 2 * 2 * 3 * 2 * 11 * 2);
  // Every number of a point back from its place.
  const auto sizes = space.sizes();
  for (std::uint64_t point = 0; point < space.points(); point += 97) {
    std::uint64_t back = 0;
    const auto at = space.place(point);
    for (std::size_t axis = 0; axis < sizes.size(); ++axis) back = back * sizes[axis] + at[axis];
    EXPECT_EQ(back, point);
  }
}

TEST(Spaces, AreRefusedBySentence) {
  const auto refused = [](const char* key, const Json& value) {
    return space_from_json(with(small_space, key, value));
  };
  EXPECT_SAYS(refused("row", 3), "the key \"row\"", "rows");
  EXPECT_SAYS(refused("rows", -3), "\"rows\" is -3", "whole numbers from 1 to 255");
  EXPECT_SAYS(refused("rows", 0), "\"rows\" is 0");
  EXPECT_SAYS(refused("rows", 2.5), "\"rows\" is 2.5");
  EXPECT_SAYS(refused("rows", "many"), "\"rows\" is \"many\"");
  EXPECT_SAYS(refused("rows", Json::array()), "one or more");
  EXPECT_SAYS(refused("rows", (Json{2, 2})), "once");
  EXPECT_SAYS(refused("rows", (Json{{"from", 1}, {"to", 3}})), "step", "factor");
  EXPECT_SAYS(refused("rows", (Json{{"from", 3}, {"to", 1}, {"step", 1}})), "from <= to");
  EXPECT_SAYS(refused("rows", (Json{{"from", 1}, {"to", 3}, {"factor", 1}})), "factor > 1");
  EXPECT_SAYS(refused("rows", (Json{{"from", 1}, {"to", 300}, {"step", 1}})), "\"rows\" is 256");
  EXPECT_SAYS(refused("a_depth", 100), "\"a_depth\" is 100", "powers of two");
  EXPECT_SAYS(refused("stream_width", 48), "\"stream_width\" is 48", "powers of two from 32 to 1024");
  EXPECT_SAYS(refused("format", "fp7"), "\"format\" is \"fp7\"", "nvfp4, fp8_e4m3");
  EXPECT_SAYS(refused("sparsity", "1:4"), "\"sparsity\" is \"1:4\"", "none, 2:4, 4:8pair");
  EXPECT_SAYS(refused("compression", 0.5), "\"compression\" is 0.5", "from 1 to 1000");
  EXPECT_SAYS(refused("frequency_hz", 0), "\"frequency_hz\" is 0", "or \"cell\"");
  EXPECT_SAYS(refused("result", "fp64"), "\"result\" is \"fp64\"", "fp32, bf16, fp8, nvfp4");
  EXPECT_SAYS(refused("global_buffer", -1), "\"global_buffer\" is -1", "from 0 to");
  EXPECT_SAYS(refused("memory", (Json{{"bandwidth", 0}})), "memory.bandwidth", "bytes a second");
  EXPECT_SAYS(refused("objectives", (Json{"energy", "beauty"})), "\"beauty\"", "sqnr");
  EXPECT_SAYS(refused("tensors", (Json{{"a", "a.npy"}})), "one of a and b");
  EXPECT_SAYS(refused("resident", "inputs"), "\"resident\"", "maps, weights");
  EXPECT_SAYS(refused("memory", (Json{{"dram", "hbm2"}})), "memory.dram", "[memory, technology]");
  EXPECT_SAYS(refused("memory", (Json{{"sram", {"sram", "tpuv4i_7nm"}}})), "memory.sram", "a table of SRAM");
  EXPECT_SAYS(refused("rows", Json::parse("[[[[1]]]]")), "too deep");
  EXPECT_SAYS(refused("format", "\xff"), "\"format\"", "nvfp4");
  EXPECT_SAYS(refused("mac_energy_j", (Json{{"fp7", 1e-12}})), "\"fp7\"", "nvfp4");
  EXPECT_SAYS(refused("mac_energy_j", (Json{{"int8", -1e-12}})), "-1e-12", "above 0");
  EXPECT_SAYS(space_from_json(Json{{"format", "nvfp4"}}), "no \"technology\"");
  EXPECT_SAYS(explorer(with(small_space, "technology", "tsmc")), "area", "tsmc", "leave area out");
  EXPECT_SAYS(explorer(with(small_space, "technology", "unpriced")), "unpriced has no prices");
}

// ---- points

/// The entry of that name in a file of recorded data, an entry a line.
Json recorded(const std::string& file, const std::string& name, const char* key = "unit") {
  std::ifstream in(NG_SOURCE_DIR "/" + file);
  for (std::string line; std::getline(in, line);)
    if (Json entry = Json::parse(line); entry.at(key) == name) return entry;
  throw std::runtime_error(file + " has no " + name);
}

Json osu018(const std::string& unit) { return recorded("power/records/osu018.jsonl", unit); }

/// How much more a cycle of a cell takes with the selection for sparse weights, which the records of `sparse` and
/// `dense` tell apart.
double ratio_of_sparse_cell(const char* sparse, const char* dense, const char* cell) {
  const auto cycle = [](const char* unit) { return osu018(unit)["samples"][0]["L3"]["energy_j"].get<double>(); };
  return (cycle(cell) + cycle(sparse) - cycle(dense)) / cycle(cell);
}

TEST(Points, AddUp) {
  const std::map<std::string, double> selecting{
      {"nvfp4", ratio_of_sparse_cell("nvfp4_sparse_mac_32", "nvfp4_dense_mac_16", "nvfp4_dense_mac_16")},
      {"fp8_e4m3", ratio_of_sparse_cell("fp8_e4m3_sparse_dot_32", "fp8_e4m3_dot_16", "fp8_e4m3_mac_16")},
      {"int8", 1}};
  EXPECT_GT(selecting.at("nvfp4"), 1.05);
  EXPECT_LT(selecting.at("nvfp4"), 1.15);
  EXPECT_GT(selecting.at("fp8_e4m3"), 1.15);
  EXPECT_LT(selecting.at("fp8_e4m3"), 1.35);
  Json space = small_space;
  space["lanes"] = 16;
  const Explorer e = explorer(space);
  std::vector<Point> points(e.points());
  e.evaluate(0, points);
  const Workload digits = load_workload("digits");
  for (std::uint64_t i = 0; i < e.points(); ++i) {
    const Json d = e.describe(i);
    ASSERT_TRUE(points[i].possible);
    // One by one, from the parts.
    const bool sparse = d["sparsity"] == "2:4";
    const auto& format = *std::find_if(number_formats().begin(), number_formats().end(),
                                       [&](const NumberFormat& f) { return f.name == d["format"].get<std::string>(); });
    const TileShape tile = tile_shape(format, sparse ? Sparsity::two_four : Sparsity::none, Resident::maps, d["rows"],
                                      d["cols"], 16, d["a_depth"], d["b_depth"], d["stream_width"]);
    double cycles = 0, macs = 0, maps = 0, weights = 0, out = 0, seconds = 0, of_memory = 0;
    const double hertz = d["frequency_hz"], packed = d["compression"];
    for (const Layer& layer : digits.layers) {
      const GemmWork work = estimate_gemm(tile, layer.gemm);
      cycles += static_cast<double>(work.cycles);
      macs += static_cast<double>(layer.gemm.m * layer.gemm.n * ((layer.gemm.k + tile.lanes - 1) / tile.lanes) * 16);
      const auto [m, n, k] = layer.gemm;
      const auto whole = [](std::int64_t all, int of) { return static_cast<double>((all + of - 1) / of); };
      const double in_maps = static_cast<double>(work.a_images * tile.a_row_bits * m) / whole(m, tile.rows);
      const double in_weights = static_cast<double>(work.b_images * tile.b_col_bits * n) / whole(n, tile.cols);
      const double results = static_cast<double>(m * n * 32);
      maps += in_maps;
      weights += in_weights;
      out += results;
      // Each layer waits for its own operands and results.
      const double array = static_cast<double>(work.cycles) / hertz;
      const double memory = (in_weights + (in_maps + results) / packed) / 8 / 12.8e9;
      seconds += std::max(array, memory);
      of_memory += memory > array ? memory : 0;
    }
    EXPECT_DOUBLE_EQ(points[i].cycles, cycles);
    EXPECT_NEAR(points[i].time_s, seconds, 1e-12 * seconds);
    EXPECT_NEAR(d["memory_share"].get<double>(), of_memory / seconds, 1e-12);
    EXPECT_GT(points[i].idle_j, 0);
    EXPECT_DOUBLE_EQ(points[i].energy_j(),
                     points[i].mac_j + points[i].sram_j + points[i].dram_j + points[i].codec_j + points[i].idle_j);
    EXPECT_DOUBLE_EQ(points[i].mac_j,
                     macs * 1e-12 * format.bits * (sparse ? selecting.at(std::string(format.name)) : 1.0));
    EXPECT_NEAR(points[i].dram_j, 1e-12 * (weights + (maps + 2 * out) / d["compression"].get<double>()),
                1e-9 * points[i].dram_j);
    EXPECT_EQ(d["energy_j"].get<double>(), points[i].energy_j());
    EXPECT_EQ(d["assumed"].size(), (format.tile ? 0U : 1U) + (sparse ? 1 : 0) + (d["compression"] == 1 ? 0 : 1) + 1 +
                                       (d["technology"] == "osu018" ? 2 : 1));
  }
}

/// The first point of a small space of one format, with these keys besides.
Json point_of(const Json& keys, const char* workload = "digits") {
  Json space = Json::parse(R"({"format": "nvfp4", "rows": 8, "cols": 8, "lanes": 16, "technology": "osu018",
                               "objectives": ["energy"]})");
  if (!keys.is_null()) space.update(keys);
  return Json(explorer(space, workload).describe(0));
}

TEST(Points, WhatFillsUpAStreamCostsNothing) {
  const Json narrow = point_of({{"stream_width", 512}}), wide = point_of({{"stream_width", 1024}});
  for (const char* part : {"dram_j", "sram_j", "mac_j"}) EXPECT_EQ(narrow[part], wide[part]) << part;
  EXPECT_GT(narrow["cycles"], wide["cycles"]);
}

TEST(Points, WeightsMayBeTheOperandThatStays) {
  const auto gemm = [](int m, int n, bool weights) {
    return workload_from_json(Json{{"layers",
                                    {{{"op", "gemm"},
                                      {"name", "g"},
                                      {"m", m},
                                      {"n", n},
                                      {"k", 640},
                                      {"batch", 1},
                                      {"weights", weights},
                                      {"count", 1}}}}});
  };
  const auto point = [](const Workload& workload, const Json& keys) {
    Json space = Json::parse(R"({"format": ["nvfp4", "int8"], "rows": 4, "cols": 8, "technology": "osu018",
                                 "compression": 3, "objectives": ["energy"]})");
    space.update(keys);
    const Explorer e(workload, space_from_json(space), std::make_shared<PlainPrices>(), normal_tensors(16, 16, 64));
    return std::pair(Json(e.describe(0)), Json(e.describe(e.points() - 1)));
  };
  // The transposed product on the same array; what is compressed are the maps all the same.
  for (const bool nvfp4 : {true, false}) {
    const auto of = [&](const auto& both) { return nvfp4 ? both.first : both.second; };
    const Json stay = of(point(gemm(40, 300, true), {{"resident", "weights"}}));
    const Json turned = of(point(gemm(300, 40, true), Json::object()));
    for (const char* same : {"cycles", "mac_j", "sram_j"}) EXPECT_EQ(stay[same], turned[same]) << same;
    EXPECT_EQ(stay["resident"], "weights");
    EXPECT_NE(stay["dram_j"], turned["dram_j"]);
    const auto plain = [&](int m, int n, const char* resident) {
      return of(point(gemm(m, n, true), {{"resident", resident}, {"compression", 1}}))["dram_j"].template get<double>();
    };
    EXPECT_DOUBLE_EQ(plain(40, 300, "weights"), plain(300, 40, "maps"));
    // Products of activations have no weights to keep.
    EXPECT_EQ(of(point(gemm(40, 300, false), {{"resident", "weights"}}))["cycles"],
              of(point(gemm(40, 300, false), Json::object()))["cycles"]);
    // Sparse weights are the compressed operand on either side.
    const Json sparse = of(point(gemm(40, 300, true), {{"resident", "weights"}, {"sparsity", "2:4"}}));
    EXPECT_LT(sparse["sram_j"], stay["sram_j"]);
    EXPECT_LT(sparse["cycles"], stay["cycles"]);
  }
}

TEST(Points, NarrowerResultsTakeLessOfMemory) {
  const double fp32 = point_of({})["dram_j"], bf16 = point_of({{"result", "bf16"}})["dram_j"],
               fp8 = point_of({{"result", "fp8"}})["dram_j"], nvfp4 = point_of({{"result", "nvfp4"}})["dram_j"];
  EXPECT_NEAR((fp32 - fp8) / (fp32 - bf16), 1.5, 1e-9);
  EXPECT_NEAR((fp32 - nvfp4) / (fp32 - bf16), 27.5 / 16, 1e-9);
  double results = 0;
  for (const Layer& layer : load_workload("digits").layers) results += static_cast<double>(layer.gemm.m * layer.gemm.n);
  EXPECT_NEAR(fp32 - bf16, results * 16 * 2e-12, 1e-9 * fp32);
  EXPECT_NE(point_of({{"result", "bf16"}})["assumed"].dump().find("result: "), std::string::npos);
}

/// With a codec of 3 pJ a byte decoded, and 2 + 2 pJ encoded.
class CodecPrices final : public PlainPrices {
 public:
  std::optional<Price> unit(const std::string& name, const std::string&) const override {
    return Price{name == "huffman_decoder" ? 3e-12 : 2e-12, "plain"};
  }
};

TEST(Points, CompressedMapsPassTheRecordedCodec) {
  Json space = Json::parse(R"({"format": "fp8_e4m3", "rows": 4, "cols": 8, "technology": "osu018", "result": "fp8",
                               "compression": [1, 2, 4], "stream_width": 64, "objectives": ["energy"]})");
  const auto points = [&](std::shared_ptr<const Prices> prices) {
    const Explorer e(load_workload("digits"), space_from_json(space), std::move(prices), normal_tensors(16, 16, 64));
    std::vector<Json> found;
    for (std::uint64_t i = 0; i < e.points(); ++i) found.emplace_back(e.describe(i));
    return found;
  };
  const std::vector<Json> free = points(std::make_shared<PlainPrices>()),
                          priced = points(std::make_shared<CodecPrices>());
  ASSERT_EQ(priced.size(), 3U);
  EXPECT_EQ(priced[0]["codec_j"], 0);
  EXPECT_EQ(free[1]["codec_j"], 0);
  EXPECT_NE(free[1]["assumed"].dump().find("the codec is free"), std::string::npos);
  EXPECT_EQ(priced[1]["assumed"].dump().find("the codec is free"), std::string::npos);
  // Bytes in and out as they are, whatever the ratio: each pays for logic and for the bits of the tables at 10 fJ.
  EXPECT_GT(priced[1]["codec_j"].get<double>(), 0);
  EXPECT_EQ(priced[1]["codec_j"], priced[2]["codec_j"]);
  EXPECT_LT(priced[1]["dram_j"], priced[0]["dram_j"]);
  EXPECT_NEAR(priced[1]["energy_j"].get<double>() - free[1]["energy_j"].get<double>(), priced[1]["codec_j"], 1e-16);
  double results = 0;
  for (const Layer& layer : load_workload("digits").layers) results += static_cast<double>(layer.gemm.m * layer.gemm.n);
  const double decoded = 3e-12 + 8 * 1e-14, encoded = 4e-12 + (16 + 24 + 24) * 1e-14;
  const double bytes_in = (priced[1]["codec_j"].get<double>() - results * encoded) / decoded;
  EXPECT_NEAR(bytes_in, std::round(bytes_in), 1e-3);
  EXPECT_GT(bytes_in, results);
  // A decoder, an encoder and a packer for each of 8 bytes, and their tables.
  double cells = 0, period = 0;
  for (const char* name : {"huffman_decoder", "huffman_encoder", "bit_packer"}) {
    const Json record = osu018(name);
    cells += record["area_m2"].get<double>();
    period = std::max(period, record["period_s"].get<double>());
  }
  const double tables = 256 * (8 + 16 + 24) * space_from_json(space).area.of("osu018").sram_bit * 180e-9 * 180e-9;
  EXPECT_NEAR(priced[1]["area_m2"].get<double>() - priced[0]["area_m2"].get<double>(), 8 * (cells + tables), 1e-12);
  // No codec is faster than its record.
  space["frequency_hz"] = 1.01 / period;
  const std::vector<Json> fast = points(std::make_shared<CodecPrices>());
  EXPECT_EQ(fast[1]["possible"], false);
}

TEST(Points, NoArrayIsFasterThanItsCell) {
  const double period = osu018("nvfp4_mac_16")["period_s"];
  EXPECT_DOUBLE_EQ(point_of({})["frequency_hz"].get<double>(), 1 / period);
  EXPECT_EQ(point_of({{"frequency_hz", 0.99 / period}})["possible"], true);
  EXPECT_EQ(point_of({{"frequency_hz", 1.01 / period}})["possible"], false);
  const Json keys{{"technology", "horowitz_45nm"}};
  EXPECT_DOUBLE_EQ(point_of(keys)["frequency_hz"].get<double>(), 4 / period);
  // A terahertz does not win.
  const Explorer e = explorer(with(with(small_space, "frequency_hz", Json{1e7, 1e12}), "lanes", 16));
  const Front front = e.front_of(0, e.points());
  EXPECT_EQ(front.impossible, e.points() / 2);
  for (const std::uint64_t point : front.points) EXPECT_EQ(e.describe(point)["frequency_hz"], 1e7);
}

TEST(Points, CitedConstantsOf7nmHaveTheCellsOfAsap7) {
  const Json ours = recorded("power/records/asap7.jsonl", "nvfp4_mac_16"), cited{{"technology", "tpuv4i_7nm"}};
  const double period = ours["period_s"], squares = ours["area_m2"].get<double>() / (7e-9 * 7e-9);
  for (const Json& keys : {cited, Json{{"technology", "asap7"}}})
    EXPECT_DOUBLE_EQ(point_of(keys)["frequency_hz"].get<double>(), 1 / period) << keys;
  const auto area = [&](int rows) {
    return point_of(with(cited, "rows", rows))["area_m2"].get<double>() / (7e-9 * 7e-9);
  };
  // A row more is eight cells, without their operand registers, and a bank of 918 squares a bit.
  const double bank = 2.0 * 512 * 72 * 918;
  EXPECT_NEAR(area(9) - area(8), 8 * (squares - 2 * (16 * 4 + 8) * 7736) + bank, 1e-6 * area(8));
  // A format without a record there is osu018's by the ratio of INT8's.
  const auto int8 = [](const Json& record) { return record["period_s"].get<double>(); };
  const double ratio = int8(recorded("power/records/asap7.jsonl", "int8_mac_wallace_16_pipelined")) /
                       int8(osu018("int8_mac_wallace_16_pipelined"));
  EXPECT_NEAR(point_of({{"technology", "tpuv4i_7nm"}, {"format", "bf16"}})["frequency_hz"].get<double>(),
              1 / (ratio * osu018("bf16_mac")["period_s"].get<double>()), 1e-6 / period);
}

TEST(Prices, OfFormatsHaveTheRatioThatTheGaugeAnswers) {
  const Gauge gauge;
  const GaugePrices prices(gauge);
  for (const char* technology : {"osu018", "asap7", "sky130hd", "sg13g2", "tpuv4i_7nm", "horowitz_45nm"}) {
    double asked[2], priced[2];
    for (const bool nvfp4 : {false, true}) {
      const std::string question = R"({"a": "gauss", "b": "gauss", "technology": ")" + std::string(technology) +
                                   R"(", "format": ")" + (nvfp4 ? "nvfp4" : "int8") + "\"}";
      asked[nvfp4] = gauge.energy(std::get<Question>(question_from_json(question))).each;
      MacQuestion unit;
      unit.a.distribution = unit.b.distribution = Distribution::gauss;
      unit.mac = reference_mac();
      if (nvfp4) unit.mac = mac_spec_from_json(Json{{"format", "nvfp4"}});
      priced[nvfp4] = prices.mac(unit, technology).energy_j;
    }
    EXPECT_DOUBLE_EQ(priced[1] / priced[0], asked[1] / asked[0]) << technology;
  }
}

TEST(Points, MemoryLimitsTheTime) {
  const Json slow = point_of({{"memory", {{"bandwidth", 1000}}}}), fast = point_of({{"memory", {{"bandwidth", 1e15}}}});
  EXPECT_EQ(slow["limit"], "memory");
  EXPECT_EQ(fast["limit"], "array");
  EXPECT_DOUBLE_EQ(fast["time_s"].get<double>(), fast["cycles"].get<double>() / fast["frequency_hz"].get<double>());
  const Json slower = point_of({{"memory", {{"bandwidth", 500}}}});
  EXPECT_DOUBLE_EQ(slower["time_s"].get<double>(), 2 * slow["time_s"].get<double>());
  EXPECT_GT(slower["idle_j"], slow["idle_j"]);
  EXPECT_EQ(slow["memory_share"], 1);
  EXPECT_EQ(fast["memory_share"], 0);
  // A layer that waits is not made up for by one that does not: in between the time is above both bounds of the whole.
  double above = 0;
  for (double bandwidth = 1e6; bandwidth < 1e12; bandwidth *= 2) {
    const Json between = point_of({{"memory", {{"bandwidth", bandwidth}}}});
    const double time = between["time_s"], share = between["memory_share"];
    const double bound = std::max(fast["time_s"].get<double>(), slow["time_s"].get<double>() * 1000 / bandwidth);
    EXPECT_GE(time, bound * (1 - 1e-12));
    if (share > 0 && share < 1) above = std::max(above, time / bound);
  }
  EXPECT_GT(above, 1.01);
}

TEST(Points, TimeCostsLeakageAndClock) {
  // The clock of idle cells is a matter of cycles; leakage of time.
  const double f = point_of({})["frequency_hz"];
  const double one = point_of({})["idle_j"], half = point_of({{"frequency_hz", f / 2}})["idle_j"],
               quarter = point_of({{"frequency_hz", f / 4}})["idle_j"];
  EXPECT_NEAR((quarter - half) / (half - one), 2, 1e-6);
  EXPECT_GT(half, one);
}

TEST(Points, ABufferTakesTheTrafficThatComesAgain) {
  const auto with_buffer = [](double bytes) {
    return point_of({{"global_buffer", bytes}, {"a_depth", 2}, {"b_depth", 2}});
  };
  const Json none = with_buffer(0), small = with_buffer(64), large = with_buffer(1 << 24);
  EXPECT_DOUBLE_EQ(small["dram_j"].get<double>(), none["dram_j"].get<double>());
  EXPECT_GT(small["sram_j"], none["sram_j"]);
  // What is compulsory: each operand once, 4.5 bits an element in whole beats, and results.
  double compulsory = 0;
  for (const Layer& layer : load_workload("digits").layers) {
    const auto [m, n, k] = layer.gemm;
    compulsory += static_cast<double>(m + n) * static_cast<double>((k + 15) / 16) * 72e-12;
    compulsory += static_cast<double>(m * n) * 32 * 2e-12;
  }
  EXPECT_NEAR(large["dram_j"].get<double>(), compulsory, 1e-9 * compulsory);
  EXPECT_LT(large["dram_j"], none["dram_j"]);
  EXPECT_EQ(large["cycles"], none["cycles"]);
}

/// SRAM by size and port: an access costs 1 fJ a byte of the memory, a write so many times that.
class PortPrices final : public Prices {
 public:
  explicit PortPrices(double write) : write_(write) {}
  Price mac(const MacQuestion& q, const std::string& technology) const override { return plain_.mac(q, technology); }
  Price sram_bit(const std::string&, double, bool) const override { throw Error("no table without ports"); }
  std::string sram_table(const std::string& technology) const override {
    return technology == "horowitz_45nm" || technology == "ports" ? "ports" : "";
  }
  Price sram_port_bit(const std::string& table, double size_bytes, double port_bits, bool write) const override {
    if (table != "ports" || size_bytes > 1e6) throw Error("no such size");
    return {1e-15 * size_bytes / port_bits * (write ? write_ : 1), "by port", "cited"};
  }
  Price dram_bit(const std::string& memory, const std::string& technology, bool write) const override {
    return plain_.dram_bit(memory, technology, write);
  }

 private:
  PlainPrices plain_;
  double write_;
};

TEST(Points, EachWordOfAnImageIsAMemory) {
  const auto at = [](const Json& axes, double write) {
    Json space = small_space;
    space.update(Json{{"format", "nvfp4"},
                      {"sparsity", "none"},
                      {"compression", 1},
                      {"rows", 2},
                      {"cols", 2},
                      {"lanes", 16},
                      {"stream_width", 64},
                      {"technology", "horowitz_45nm"},
                      {"frequency_hz", 1e7}});
    if (!axes.is_null()) space.update(axes);
    const auto prices = write > 0 ? std::shared_ptr<const Prices>(std::make_shared<PortPrices>(write))
                                  : std::make_shared<PlainPrices>();
    const Explorer e(load_workload("digits"), space_from_json(space), prices, normal_tensors(16, 16, 64));
    Json d = e.describe(0);
    d["sources"] = e.sources();
    return d;
  };
  const auto sram = [&](const Json& axes, double write) { return at(axes, write)["sram_j"].get<double>(); };
  // An image is 2 x 72 bits: two memories of 64 bits and one of 16, which is priced as one of 32, of 2 x 64 words.
  const double image = 2 * 64 * 128 / 8 + 32 * 128 / 8;
  EXPECT_NEAR(sram({}, 1), sram({}, 0) / 1e-14 * 1e-15 * image / 144, 1e-9 * sram({}, 1));
  EXPECT_GT(sram({}, 2), sram({}, 1));
  EXPECT_LT(sram({}, 2), 2 * sram({}, 1));
  // A stream as wide as the image, and wider, is one memory.
  EXPECT_NEAR(sram({{"stream_width", 256}}, 1), sram({{"stream_width", 256}}, 0) / 1e-14 * 1e-15 * 128 / 8,
              1e-9 * sram({{"stream_width", 256}}, 1));
  // Banks of two images are four words, and priced as 64.
  const Json shallow = {{"a_depth", 2}, {"b_depth", 2}};
  const double least = 2 * 64 * 64 / 8 + 32 * 64 / 8;
  EXPECT_NEAR(sram(shallow, 1), sram(shallow, 0) / 1e-14 * 1e-15 * least / 144, 1e-9 * sram(shallow, 1));
  EXPECT_NE(at(shallow, 1)["assumed"].dump().find("fewer than 64 words"), std::string::npos);
  // The global buffer has words of the stream, and each bit of it comes in once and goes out as often as it is sent.
  const Json buffer = {{"global_buffer", 65536}}, larger = {{"global_buffer", 131072}};
  const double of_buffer = sram(buffer, 1) - sram({}, 1);
  EXPECT_NEAR(sram(larger, 1) - sram({}, 1), 2 * of_buffer, 1e-9 * of_buffer);
  EXPECT_SAYS(at({{"global_buffer", 1 << 24}}, 1), "global buffer of 16777216", "no such size", "memory.sram");
  // Sources name the ports; a table can be asked for by name, and a cited one is asked without ports.
  EXPECT_NE(at({}, 1)["sources"].dump().find("through a port of 64 bits"), std::string::npos);
  const Json named = {{"memory", {{"sram", "ports"}}}};
  EXPECT_EQ(sram(named, 1), sram({}, 1));
  EXPECT_EQ(sram({{"memory", {{"sram", "horowitz_45nm"}}}}, 1), sram({}, 1));
}

TEST(Points, DecodingReadsItsCache) {
  const auto dram = [](int context) {
    const Explorer e(
        load_workload("llama_decode", {{"context", context}}),
        space_from_json(
            with(with(with(with(small_space, "lanes", 16), "result", "nvfp4"), "a_depth", 4096), "b_depth", 4096)),
        std::make_shared<PlainPrices>(), normal_tensors(16, 16, 64));
    return e.describe(0)["dram_j"].get<double>();
  };
  // A token of context is a key and a value of 4096 elements, 4.5 bits each.
  EXPECT_NEAR((dram(2048) - dram(1024)) / 1024, 2 * 4096 * 4.5e-12, 0.02 * 2 * 4096 * 4.5e-12);
}

TEST(Points, TakeTheSpacesOwnEnergies) {
  const Explorer own = explorer(with(small_space, "mac_energy_j", Json{{"int8", 16e-12}})), e = explorer();
  for (std::uint64_t i = 0; i < e.points(); i += 7) {
    const Json x = own.describe(i), y = e.describe(i);
    if (!x["possible"]) continue;
    const bool changed = x["format"] == "int8";
    EXPECT_DOUBLE_EQ(x["mac_j"].get<double>(), y["mac_j"].get<double>() * (changed ? 2 : 1));
    EXPECT_EQ(x["assumed"].size(), y["assumed"].size() + changed);
  }
}

TEST(Points, BlocksMustFillTheLanes) {
  const Explorer e = explorer(with(with(small_space, "lanes", 24), "format", Json{"nvfp4", "int8"}));
  const Front front = e.front_of(0, e.points());
  EXPECT_EQ(front.impossible, e.points() / 2);
  for (const std::uint64_t point : front.points) EXPECT_EQ(e.describe(point)["format"], "int8");
}

TEST(Points, PartsOfASpaceAreThePointsOfIt) {
  const Explorer e = explorer();
  std::vector<Point> all(e.points());
  e.evaluate(0, all);
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t first = random() % e.points(), count = random() % (e.points() - first);
    std::vector<Point> part(count);
    e.evaluate(first, part);
    for (std::uint64_t j = 0; j < count; ++j) {
      ASSERT_EQ(part[j].energy_j(), all[first + j].energy_j()) << first + j;
      ASSERT_EQ(part[j].cycles, all[first + j].cycles) << first + j;
    }
  }
  EXPECT_SAYS(e.front_of(0, e.points() + 1), "not a part");
}

TEST(Accuracy, GrowsWithTheBits) {
  const Tensors t = normal_tensors();
  const auto db = [&](const char* name, Sparsity sparsity = Sparsity::none) {
    for (const NumberFormat& format : number_formats())
      if (format.name == name) return sqnr_db(t, format, sparsity);
    throw Error("no such format");
  };
  EXPECT_GT(db("int4"), 8);
  EXPECT_GT(db("nvfp4"), db("mxfp4"));
  EXPECT_GT(db("mxfp4"), db("luq"));
  EXPECT_GT(db("luq"), 3);
  EXPECT_GT(db("fp8_e5m2"), db("nvfp4"));
  EXPECT_GT(db("fp8_e4m3"), db("fp8_e5m2"));
  EXPECT_GT(db("int8"), db("fp8_e4m3"));
  EXPECT_GT(db("bf16"), db("int8"));
  EXPECT_GT(db("fp16"), db("bf16"));
  EXPECT_NEAR(db("tf32"), db("fp16"), 0.1);  // as many mantissa bits
  EXPECT_EQ(db("fp32"), std::numeric_limits<double>::infinity());
  // Half of a normal weight's energy lies in the larger two of four: 9 dB at most.
  EXPECT_LT(db("fp32", Sparsity::two_four), 10);
  EXPECT_LT(db("nvfp4", Sparsity::two_four), db("fp32", Sparsity::two_four));
  // Pairs leave less choice; more than half of the energy, 3 dB, stays.
  EXPECT_LT(db("fp32", Sparsity::four_eight_pair), db("fp32", Sparsity::two_four));
  EXPECT_GT(db("fp32", Sparsity::four_eight_pair), 4);
}

// A sparse point with resident weights is the tile of that set with a sparse A, in images and lanes.
TEST(Points, SparseOnesAreTimedAsTheTile) {
  const std::pair<const char*, unsigned> sets[] = {{"nvfp4", 1}, {"fp8_e4m3", 2}, {"fp8_e5m2", 4}, {"luq", 8}};
  for (const auto& [name, set] : sets) {
    const auto& format = *std::find_if(number_formats().begin(), number_formats().end(),
                                       [&](const NumberFormat& f) { return f.name == name; });
    for (const Sparsity how : {Sparsity::two_four, Sparsity::four_eight_pair}) {
      for (const int lanes : {16, 32}) {
        TileShape tile = TileShape::of(4, 6, lanes, set, 128, 512, 256, 65536, {}, true);
        tile.lanes *= 2;
        EXPECT_EQ(tile_shape(format, how, Resident::weights, 4, 6, lanes, 512, 256, 128), tile) << name;
      }
    }
  }
}

// ---- fronts

TEST(Fronts, AreThoseOfComparingAllWithAll) {
  for (const Json& objectives :
       {Json{"energy", "time", "area", "sqnr"}, Json{"cycles", "energy_delay"}, Json{"area"}}) {
    const Explorer e = explorer(with(small_space, "objectives", objectives));
    std::vector<Point> points(e.points());
    e.evaluate(0, points);
    const auto values = [&](std::uint64_t i) {
      std::vector<double> v;
      for (const Json& o : objectives)
        v.push_back(o == "energy"   ? points[i].energy_j()
                    : o == "time"   ? points[i].time_s
                    : o == "cycles" ? points[i].cycles
                    : o == "area"   ? points[i].area_m2
                    : o == "sqnr"   ? -points[i].sqnr_db
                                    : points[i].energy_j() * points[i].time_s);
      return v;
    };
    std::vector<std::uint64_t> expected;
    for (std::uint64_t i = 0; i < points.size(); ++i) {
      bool beaten = !points[i].possible;
      for (std::uint64_t j = 0; j < points.size() && !beaten; ++j) {
        if (j == i || !points[j].possible) continue;
        const auto x = values(j), y = values(i);
        bool worse = false;
        for (std::size_t k = 0; k < x.size(); ++k) worse |= x[k] > y[k];
        beaten = !worse && (x != y || j < i);
      }
      if (!beaten) expected.push_back(i);
    }
    ASSERT_FALSE(expected.empty());
    for (const std::uint64_t chunk : {7U, 100U, 1U << 16}) {
      for (const unsigned threads : {1U, 3U}) {
        const Front front = e.run({.threads = threads, .chunk = chunk});
        EXPECT_EQ(front.points, expected) << objectives << ", chunk " << chunk << ", threads " << threads;
        EXPECT_EQ(front.evaluated, e.points());
      }
    }
  }
}

TEST(Progress, EndsWithAllWhicheverThreadIsLast) {
  const Explorer e = explorer();
  for (int i = 0; i < 200; ++i) {
    std::vector<std::uint64_t> told;
    e.run({.threads = 4, .chunk = 10, .progress = [&](std::uint64_t done, std::uint64_t of) {
             EXPECT_EQ(of, e.points());
             told.push_back(done);
           }});
    ASSERT_FALSE(told.empty());
    EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
    ASSERT_EQ(told.back(), e.points());
    EXPECT_EQ(std::count(told.begin(), told.end(), e.points()), 1);
  }
}

class CheckpointFile : public testing::Test {
 protected:
  std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("ng_explore_test_" + std::to_string(std::random_device{}()) + ".jsonl");
  ~CheckpointFile() override { std::filesystem::remove(file); }

  std::vector<std::string> lines() const {
    std::ifstream in(file);
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }
};

TEST_F(CheckpointFile, IsGoneOnFrom) {
  const Explorer e = explorer();
  const Front expected = e.run({.threads = 1, .chunk = 10});
  // Stopped after a few chunks, in the middle of a line.
  struct Stop {};
  std::uint64_t chunks = 0;
  EXPECT_THROW(e.run({.threads = 1,
                      .chunk = 10,
                      .checkpoint = file,
                      .progress =
                          [&](auto, auto) {
                            if (++chunks == 5) throw Stop{};
                          }}),
               Stop);
  auto done = lines();
  ASSERT_EQ(done.size(), 6U);
  std::ofstream(file, std::ios::app) << done.back().substr(0, done.back().size() / 2);

  EXPECT_SAYS(e.run({.chunk = 10, .checkpoint = file}), "exists already", "--resume");
  EXPECT_SAYS(e.run({.chunk = 11, .checkpoint = file, .resume = true}), "another exploration");
  EXPECT_SAYS(explorer(with(small_space, "rows", 3)).run({.chunk = 10, .checkpoint = file, .resume = true}),
              "another exploration");
  EXPECT_SAYS(explorer(small_space, "resnet18").run({.chunk = 10, .checkpoint = file, .resume = true}),
              "another exploration");

  chunks = 0;
  const Front front =
      e.run({.threads = 1, .chunk = 10, .checkpoint = file, .resume = true, .progress = [&](auto, auto) { ++chunks; }});
  EXPECT_EQ(front.points, expected.points);
  EXPECT_EQ(front.evaluated, expected.evaluated);
  EXPECT_EQ(front.impossible, expected.impossible);
  EXPECT_EQ(chunks, (e.points() + 9) / 10 - 5);
  // All done: nothing is left to do.
  chunks = 0;
  EXPECT_EQ(e.run({.chunk = 10, .checkpoint = file, .resume = true, .progress = [&](auto, auto) { ++chunks; }}).points,
            expected.points);
  EXPECT_EQ(chunks, 0U);

  std::ofstream(file, std::ios::app) << "{\"chunk\": 5}\n";
  EXPECT_SAYS(e.run({.chunk = 10, .checkpoint = file, .resume = true}), "damaged");
  std::ofstream(file) << "a letter, no checkpoint\n";
  EXPECT_SAYS(e.run({.chunk = 10, .checkpoint = file, .resume = true}), "another exploration", "a letter");
}

TEST(Ids, TellExplorationsApart) {
  EXPECT_EQ(explorer().id(), explorer().id());
  EXPECT_NE(explorer().id(), explorer(small_space, "resnet18").id());
  EXPECT_NE(explorer().id(), explorer(with(small_space, "rows", 3)).id());
}

// ---- areas

TEST(Areas, GrowWithTheArray) {
  Json json = small_space;
  json["format"] = {"nvfp4", "fp8_e4m3", "fp8_e5m2", "luq", "int8", "int4"};
  json["lanes"] = 16;
  json["technology"] = "osu018";
  const Explorer e = explorer(json);
  std::map<std::string, double> area;
  for (std::uint64_t i = 0; i < e.points(); ++i) {
    const Json d = e.describe(i);
    if (d["rows"] == 8 && d["cols"] == 8 && d["sparsity"] == "none") area[d["format"]] = d["area_m2"];
    EXPECT_GT(d["area_m2"].get<double>(), 4 * 16 * 1000e-12);  // a lane is more than 1000 um^2 here
    EXPECT_LT(d["area_m2"].get<double>(), 64 * 16 * 50000e-12);
  }
  EXPECT_LT(area["int4"], area["nvfp4"]);
  EXPECT_LT(area["luq"], area["nvfp4"]);
  EXPECT_LT(area["nvfp4"], area["int8"]);
  EXPECT_LT(area["int8"], area["fp8_e5m2"]);
  EXPECT_LT(area["fp8_e4m3"], area["fp8_e5m2"]);
}

TEST(Areas, HaveTheShadowRegisterOnce) {
  // Eight cells more, and their part of the buffer of A; the recorded cell has its shadow register.
  const double cell = osu018("nvfp4_mac_16")["area_m2"].get<double>() / (180e-9 * 180e-9) - 2 * (16 * 4 + 8) * 3040;
  const auto area = [](int rows) { return point_of({{"rows", rows}})["area_m2"].get<double>() / (180e-9 * 180e-9); };
  EXPECT_NEAR(area(9) - area(8), 8 * cell + 2.0 * 512 * 72 * 250, 1e-6 * cell);
}

TEST(Areas, RoundingIsThatOfTheRecord) {
  EXPECT_EQ(recorded("synth/records/generic.jsonl", "fixed_to_fp32", "record")["gates"], 616);
}

// ---- workloads of other tools; the files and the sentences: tests/python/test_workload_formats.py

TEST(WorkloadFormats, ScaleSim) {
  const Workload read =
      workload_from_json(workload_from_scalesim("Layer, M, N, K, Sparsity,\r\nqkv, 128, 192, 64, 2:4,\r\n"));
  ASSERT_EQ(read.layers.size(), 1U);
  EXPECT_EQ(read.layers[0].name, "qkv");
  EXPECT_EQ(read.macs(), 128 * 192 * 64);
  EXPECT_SAYS(workload_from_scalesim("Layer,M,N,K\nqkv,128,192,"), "line 2", "3 fields", "; expected");
  EXPECT_SAYS(workload_from_scalesim("Layer,M,N,K\n\xFF,1,1,-1"), "line 2: column K is \"-1\"; expected");
}

TEST(WorkloadFormats, Volumes) {
  const Workload read =
      workload_from_json(Json::parse(R"({"layers": [{"op": "conv", "in_channels": 4, "out_channels": 8,
      "depth": 8, "height": 16, "width": 16, "kernel": [3, 3, 3], "stride": [1, 1, 1]}]})"));
  EXPECT_EQ(read.macs(), 6 * 14 * 14 * 8 * 4 * 27);
}

/// Under the sanitizers: bytes of a topology and values of trees changed at random.
TEST(WorkloadFormats, MutantsAreSentencesOrWorkloads) {
  const char* const asked = std::getenv("NG_MUTATIONS");
  const int count = asked ? std::atoi(asked) : 300;
  std::mt19937 random(5);
  const std::string topology =
      "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides, Sparsity,\n"
      "Conv1, 31, 31, 3, 3, 3, 16, 2, 1:1,\nDP2, 17, 17, 3, 3, 16, 16, 1, 2:4,#dw\n";
  const Json trees[] = {
      Json::parse(R"([{"id": 0, "operator_type": "Conv", "equation": "O[b][k][ox]+=W[k][c][fx]*I[b][c][ix]",
          "dimension_relations": ["ix=2*ox+1*fx"], "loop_dims": ["B", "K", "C", "OX", "FX"],
          "loop_sizes": [1, 64.0, 3, 112, 7], "operand_source": {"I": 0, "W": 0}}])"),
      Json::parse(
          R"({"problem": {"shape": {"dimensions": ["M", "N", "K"], "coefficients": [{"name": "s", "default": 1}],
          "data_spaces": [{"name": "A", "projection": [[["M"]], [["K", "s"]]]}, {"name": "B", "projection": [[["N"]],
          [["K"]]]}, {"name": "C", "projection": [[["M"]], [["N"]]], "read_write": "true"}]},
          "instance": {"M": 4, "N": 5, "K": 6}}})")};
  const Json odd[] = {nullptr, -1, 0, 2.5, 1e30, "", "M", "O[", "ix=", "\xFF", Json::array(), Json::object(), true};
  int read = 0, refused = 0;
  const auto attempt = [&](auto workload) {
    try {
      EXPECT_GT(workload_from_json(workload()).macs(), 0);
      ++read;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("expected"), std::string::npos) << error.what();
      ++refused;
    }
  };
  for (int i = 0; i < count; ++i) {
    std::string csv = topology;
    for (unsigned n = random() % 3; n < 3; ++n) {
      const std::size_t at = random() % csv.size();
      if (random() % 2 == 0) {
        csv[at] = static_cast<char>(random());
      } else {
        csv.erase(at, random() % 4);
      }
    }
    attempt([&] { return workload_from_scalesim(csv); });
    const Json flat = trees[random() % 2].flatten();
    Json changed = flat;
    const auto at = std::next(changed.begin(), static_cast<std::ptrdiff_t>(random() % changed.size()));
    at.value() = odd[random() % std::size(odd)];
    if (!at.value().is_structured()) attempt([&] { return workload_from_tree(changed.unflatten()); });
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace narrowgauge::power
