// SPDX-License-Identifier: Apache-2.0
#include "narrowgauge/power/explore/explore.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

#include "gauge/data.hpp"
#include "narrowgauge/io/error.hpp"
#include "narrowgauge/io/output.hpp"
#include "narrowgauge/parallel.hpp"

namespace narrowgauge::power {
namespace {

using Json = nlohmann::json;

constexpr std::string_view fallback_technology = "horowitz_45nm";
constexpr double narrowest_port = 32, fewest_words = 64;  // of the memories that tables with ports have
constexpr double no_area = std::numeric_limits<double>::quiet_NaN();

// Places of the axes in Space::sizes().
enum Axis {
  rows,
  cols,
  lanes,
  a_depth,
  b_depth,
  stream_width,
  global_buffer,
  resident,
  cache,
  sparsity,
  format,
  technology,
  result,
  compression,
  frequency
};

/// Equal products of the workload, once.
struct Product {
  GemmShape gemm;
  double count = 0;
  bool weights = true, weights_first = false;  // one operand is weights; and it is A
  CacheUse cache = CacheUse::none;

  /// The transposed product, where the weights are to be A.
  Product with(Resident resident) const {
    Product turned = *this;
    if (!weights || resident == Resident::maps) return turned;
    turned.weights_first = true;
    std::swap(turned.gemm.m, turned.gemm.n);
    return turned;
  }
};

/// Sums over the products of a workload in four parts that run side by side, in the same order on every machine.
constexpr std::size_t side_by_side = 4;

/// What a point makes of the columns below.
struct Seconds {
  double cycle, weight_bit, map_bit, result;
};

/// What each product takes of the array and of memory, in columns of whole groups of `side_by_side`: a product waits
/// for its own operands and results, not for those of others.
class Layers {
 public:
  void add(double of_cycles, double of_weights, double of_maps, double of_results) {
    if (count_ % side_by_side == 0)
      for (auto* column : {&cycles_, &weights_, &maps_, &results_}) column->resize(count_ + side_by_side, 0.0);
    cycles_[count_] = of_cycles;
    weights_[count_] = of_weights;
    maps_[count_] = of_maps;
    results_[count_++] = of_results;
  }

  /// Of all products, each as long as the slower of array and memory.
  double seconds(const Seconds& each) const {
    return sum(each, [](double array, double memory) { return std::max(array, memory); });
  }
  /// Of those that take memory longer than the array.
  double memory_seconds(const Seconds& each) const {
    return sum(each, [](double array, double memory) { return memory > array ? memory : 0.0; });
  }

 private:
  /// `of`: seconds of a product, from those of the array and of memory.
  template <class Of>
  double sum(const Seconds& each, Of of) const {
    std::array<double, side_by_side> sums{};
    for (std::size_t i = 0; i < cycles_.size(); i += side_by_side)
      for (std::size_t part = 0; part < side_by_side; ++part)
        sums[part] +=
            of(cycles_[i + part] * each.cycle, weights_[i + part] * each.weight_bit + maps_[i + part] * each.map_bit +
                                                   results_[i + part] * each.result);
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  std::vector<double> cycles_, weights_, maps_, results_;  // bits (the cache's are with the weights'), and numbers
  std::size_t count_ = 0;
};

/// What the whole workload keeps one array busy with. Bits are those in use: what fills up a stream's words, and rows
/// and columns beyond the matrix, are not strobed and cost nothing.
struct ArrayWork {
  bool possible = true;
  double cycles = 0, macs = 0;
  double maps_in = 0, weights_in = 0;                           // bits from memory
  double cache_in = 0, cache_out = 0;                           // of keys and values
  double streamed = 0;                                          // bits to the tile
  double weight_macs = 0;                                       // of products with weights
  double results = 0;                                           // numbers
  double a_written = 0, b_written = 0, a_read = 0, b_read = 0;  // bits of the operand buffers
  Layers layers;

  /// `buffer_bits`: of the global buffer; what fits it comes from memory once. `cache_bits`: of a key's or a value's
  /// element in memory; 0: the array's.
  void add(const Product& product, const TileShape& tile, int lanes_of_products, double buffer_bits,
           double cache_bits) {
    const GemmWork work = estimate_gemm(tile, product.gemm);
    const double count = product.count;
    const auto size = [](std::int64_t n) { return static_cast<double>(n); };
    const auto panels = [](std::int64_t all, int of) { return static_cast<double>((all + of - 1) / of); };
    const double k_beats = panels(product.gemm.k, tile.lanes);
    // Sent, as often as the driver does, and once.
    const double a_sent =
        size(work.a_images) * tile.a_row_bits * size(product.gemm.m) / panels(product.gemm.m, tile.rows);
    const double b_to_tile =
        size(work.b_images) * tile.b_col_bits * size(product.gemm.n) / panels(product.gemm.n, tile.cols);
    // What comes from a cache is as wide as that until it is at the tile.
    const double array_bits = static_cast<double>(tile.b_col_bits) / tile.lanes;
    const double wide = product.cache == CacheUse::read && cache_bits > 0 ? cache_bits / array_bits : 1;
    const double b_sent = wide * b_to_tile;
    const double a_once = std::min(a_sent, size(product.gemm.m) * k_beats * tile.a_row_bits);
    const double b_once = std::min(b_sent, wide * size(product.gemm.n) * k_beats * tile.b_col_bits);
    const bool both = a_once + b_once <= buffer_bits;
    const bool a_fits = a_once <= buffer_bits, b_fits = b_once <= buffer_bits;
    const bool a_saves_more = a_sent - a_once >= b_sent - b_once;
    const bool keep_a = both || (a_fits && (a_saves_more || !b_fits)), keep_b = both || (b_fits && !keep_a);
    const double a_in = (keep_a ? a_once : a_sent) * count, b_in = (keep_b ? b_once : b_sent) * count;
    cycles += static_cast<double>(work.cycles) * count;
    // Rows and columns not in use are isolated; lanes that fill up the last beat multiply zeros.
    const std::int64_t beats = (product.gemm.k + tile.lanes - 1) / tile.lanes;
    const double products = static_cast<double>(product.gemm.m) * static_cast<double>(product.gemm.n) *
                            static_cast<double>(beats * lanes_of_products) * count;
    macs += products;
    weight_macs += product.weights ? products : 0;
    const double of_weights = !product.weights ? 0 : product.weights_first ? a_in : b_in;
    const double of_cache = product.cache == CacheUse::read ? b_in : 0;
    const double of_maps = a_in + b_in - of_weights - of_cache;
    const double numbers = size(product.gemm.m) * size(product.gemm.n) * count;
    const bool kept = product.cache == CacheUse::write;
    const double of_results = kept ? 0 : numbers;
    const double to_cache = kept ? numbers * (cache_bits > 0 ? cache_bits : array_bits) : 0;
    cache_in += of_cache;
    cache_out += to_cache;
    maps_in += of_maps;
    weights_in += of_weights;
    streamed += (a_sent + b_sent) * count;
    results += of_results;
    layers.add(static_cast<double>(work.cycles) * count, of_weights + of_cache + to_cache, of_maps, of_results);
    a_written += a_sent * count;
    b_written += b_to_tile * count;
    a_read += static_cast<double>(work.beats) * tile.rows * tile.a_row_bits * count;
    b_read += static_cast<double>(work.beats) * tile.cols * tile.b_col_bits * count;
  }
};

/// A processing element in squares of the node, without registers for its operands: base + lanes x lane.
struct ElementArea {
  double base = 0, lane = 0;
};
using AreaTable = std::map<std::string, ElementArea, std::less<>>;

// Of a column: rounding its sums (fixed_to_fp32 in synth/records/generic.jsonl).
constexpr double column_gates = 616;

MacQuestion mac_question(const NumberFormat& numbers, int lanes) {
  MacQuestion question;
  question.mac.set_format(numbers.mac);
  if (numbers.mac == MacFormat::fp4_e3m0) question.mac = luq_mac();
  // Integers and MXFP4 like for like with the array's cells.
  if (numbers.mac == MacFormat::integer) question.mac = reference_mac(numbers.width);
  question.mac.pipelined |= numbers.mac == MacFormat::mxfp4;
  question.mac.lanes = numbers.unit_lanes ? numbers.unit_lanes : lanes;
  question.a.distribution = question.b.distribution = Distribution::gauss;
  return question;
}

/// Records of a technology of the units that a cell of this format is priced as, by their lanes.
std::map<int, Json> recorded_cells(const NumberFormat& numbers, const std::string& technology) {
  static const Json units = embedded_json("units.json");
  MacSpec wanted = mac_question(numbers, 1).mac;
  wanted.lanes = 1;
  std::map<int, Json> found;
  for (const Json& unit : units["units"]) {
    if (!unit.contains("mac")) continue;
    MacSpec mac = mac_spec_from_json(unit["mac"]);
    const int lanes = std::exchange(mac.lanes, 1);
    if (numbers.mac == MacFormat::integer
            ? mac != wanted
            : mac.a_format != wanted.a_format || mac.b_format != wanted.b_format || !mac.accumulator)
      continue;
    if (Json record = embedded_record(technology, unit["name"].get<std::string>()); !record.is_null())
      found[lanes] = std::move(record);
  }
  return found;
}

/// What the records know of a cell besides its energy.
struct Cell {
  double period_s = 0;     // shortest that the cell takes; 0: not known
  double clock_share = 0;  // of the energy of a cycle, which a cell takes also where it multiplies nothing
  double leakage_w = 0;
  std::string assumed;  // whose, where they are not the technology's own
};

std::optional<double> node_of(const std::string& technology);

/// What osu018's records become in a technology that has none of a unit: they go with the node, or, where a library is
/// known that speaks for the technology, as the like-for-like cell of INT8 does from osu018 to there.
struct Yardstick {
  std::string library = "osu018";  ///< the technology itself, or the one that its file names as `cells`
  double period = 1, area = 1;     ///< the latter of areas in squares of the node
};

std::optional<Yardstick> yardstick(const std::string& technology) {
  const std::optional<double> node = node_of(technology);
  if (!node) return {};
  const auto int8 = [](const std::string& where) { return embedded_record(where, "int8_mac_wallace_16_pipelined"); };
  Json ours = int8(technology);
  std::string library = technology;
  if (ours.is_null()) {
    library = embedded_json("technologies/" + technology + ".json").value("cells", "osu018");
    ours = int8(library);
  }
  if (library == "osu018") return Yardstick{library, *node / 180e-9, 1};
  const Json there = int8("osu018");
  const double of_library = node_of(library).value();
  const auto ratio = [&](const char* field) { return ours.at(field).get<double>() / there.at(field).get<double>(); };
  return Yardstick{library, ratio("period_s") * *node / of_library,
                   ratio("area_m2") * (180e-9 * 180e-9) / (of_library * of_library)};
}

/// The records of cells of a format in a technology, or those that speak for it.
struct RecordedCells {
  std::map<int, Json> by_lanes;
  double node = 0;              // of the records
  double period = 1, area = 1;  // to the technology; of areas in squares
  std::string assumed = {};     // empty: the technology's own
};

RecordedCells cells_in(const NumberFormat& numbers, const std::string& technology) {
  const std::optional<double> node = node_of(technology);
  if (auto own = recorded_cells(numbers, technology); !own.empty()) return {std::move(own), node.value_or(no_area)};
  const std::optional<Yardstick> stick = yardstick(technology);
  if (!stick) return {};
  if (stick->library != "osu018" && stick->library != technology) {
    if (auto same = recorded_cells(numbers, stick->library); !same.empty()) {
      const double of_library = node_of(stick->library).value();
      return {std::move(same), of_library, *node / of_library, 1, stick->library + "'s"};
    }
  }
  return {recorded_cells(numbers, "osu018"), 180e-9, stick->period, stick->area,
          stick->library == "osu018" ? "osu018's, with the node"
                                     : "osu018's, with the ratio of INT8's to that of " + stick->library};
}

/// The cell of so many lanes, or the next of more; of fewer where there is none of more.
Cell cell_of(const NumberFormat& numbers, int lanes, const RecordedCells& recorded) {
  Cell cell;
  const auto& found = recorded.by_lanes;
  if (found.empty()) return cell;
  cell.assumed = recorded.assumed;
  auto at = found.lower_bound(numbers.unit_lanes ? numbers.unit_lanes : lanes);
  if (at == found.end()) --at;
  const Json& record = at->second;
  cell.period_s = record.at("period_s").get<double>() * recorded.period;
  const Json* sample = &record.at("samples").at(0);
  for (const Json& one : record["samples"])
    if (one.at("stimulus") == "gauss") sample = &one;
  const Json& simulated = sample->at("L3");
  cell.clock_share = simulated.at("clock_j").get<double>() / simulated.at("energy_j").get<double>();
  if (cell.assumed.empty()) cell.leakage_w = simulated.at("leakage_w").get<double>() * lanes / at->first;
  return cell;
}

/// A cell for sparse weights, as ratios to the dense one of as many multipliers: of a beat's energy, area, period.
struct SparseCell {
  double energy = 1, area = 1, period = 1;
  std::string source;  ///< which records; empty: not known
};

/// That of a format in a technology; where this has no record, osu018's.
SparseCell sparse_cell_in(const NumberFormat& numbers, const std::string& technology) {
  // What a unit with the selection takes more than the one without, beside a cell, all under uniform codes.
  struct Records {
    std::string_view format;
    std::string sparse, dense, cell;
  };
  static const Records all[] = {
      {"nvfp4", "nvfp4_sparse_mac_32", "nvfp4_dense_mac_16", "nvfp4_dense_mac_16"},
      {"fp8_e4m3", "fp8_e4m3_sparse_dot_32", "fp8_e4m3_dot_16", "fp8_e4m3_mac_16"},
      {"fp8_e5m2", "fp8_e5m2_sparse_dot_32", "fp8_e5m2_dot_16", "fp8_e5m2_mac_16"},
      {"luq", "luq_sparse_dot_32", "luq_dot_16", "luq_mac_16"},
  };
  for (const Records& of : all) {
    if (of.format != numbers.name) continue;
    const std::string speaks = yardstick(technology).value_or(Yardstick{}).library;
    for (const std::string& from : {technology, speaks, std::string("osu018")}) {
      const auto record = [&](const std::string& unit) { return embedded_record(from, unit); };
      const Json sparse = record(of.sparse), dense = record(of.dense), cell = record(of.cell);
      if (sparse.is_null() || dense.is_null() || cell.is_null()) continue;
      const auto ratio = [&](const char* pointer) {
        const Json::json_pointer at(pointer);
        return 1 + (sparse.at(at).get<double>() - dense.at(at).get<double>()) / cell.at(at).get<double>();
      };
      return {ratio("/samples/0/L3/energy_j"), ratio("/area_m2"), ratio("/period_s"),
              of.sparse + " and " + of.dense + (of.cell == of.dense ? "" : ", beside " + of.cell)};
    }
  }
  return {};
}

/// What compresses feature maps: for each byte of the stream a decoder, an encoder and a packer, as recorded.
struct Codec {
  double decode_j = 0, encode_j = 0;  // of a byte, with the accesses of tables and of the encoder's values
  double period_s = 0;                // shortest of all three
  double area = 0, memory_bits = 0;   // of the coders of one byte; in squares of the node
  std::string decode_source, encode_source;
};

/// Joules of an access of a memory of so many words, by a table that knows ports. Narrower and shallower memories are
/// priced as the smallest that the table has.
double access_j(const Prices& prices, const std::string& table, double width, double words, bool write) {
  const double port = std::max(width, narrowest_port);
  const double bytes = port * std::max(words, fewest_words) / 8;
  return port * prices.sram_port_bit(table, bytes, port, write).energy_j;
}

/// That of a technology; where this has no record, osu018's by the yardstick; nothing where a unit has no price.
/// `sram`: whose table of SRAM; `ports`: whether it knows them.
std::optional<Codec> codec_in(const std::string& technology, const std::string& sram, bool ports,
                              const Prices& prices) {
  Codec codec;
  const auto add = [&](const char* unit, double& energy_j, std::string& source) {
    const std::optional<Price> price = prices.unit(unit, technology);
    Json record = embedded_record(technology, unit);
    double node = node_of(technology).value_or(180e-9);
    Yardstick scale;
    if (record.is_null()) {
      record = embedded_record("osu018", unit);
      scale = yardstick(technology).value_or(Yardstick{});
      node = 180e-9;
    }
    if (!price || record.is_null()) return false;
    codec.period_s = std::max(codec.period_s, record.at("period_s").get<double>() * scale.period);
    codec.area += record.at("area_m2").get<double>() / (node * node) * scale.area;
    energy_j += price->energy_j;
    const Json& sample = record.at("samples").at(0);
    for (const Json& memory : sample.value("memories", Json::array())) {
      const double width = memory.at("width"), bits = width * memory.at("depth").get<double>();
      const double reads = memory.at("reads"), writes = memory.at("writes");
      if (ports)
        energy_j += reads * access_j(prices, sram, width, memory.at("depth"), false) +
                    writes * access_j(prices, sram, width, memory.at("depth"), true);
      else
        energy_j += (reads + writes) * width * prices.sram_bit(sram, bits / 8, false).energy_j;
      codec.memory_bits += bits;
    }
    if (source.empty()) source = price->source;
    return true;
  };
  if (add("huffman_decoder", codec.decode_j, codec.decode_source) &&
      add("huffman_encoder", codec.encode_j, codec.encode_source) &&
      add("bit_packer", codec.encode_j, codec.encode_source))
    return codec;
  return {};
}

/// Bytes a second of a memory where the space does not say: one channel of 64-bit DDR3-1600, a stack of HBM2, a chip of
/// GDDR6 (14 Gbit/s, 32 bits).
double default_bandwidth(std::string_view memory) {
  return memory == "hbm2" ? 256e9 : memory == "gddr6" ? 56e9 : 12.8e9;
}

/// What the recorded units of a technology take, or those that speak for it, each a multiply-accumulate of so many
/// lanes behind registers: a line through those of the fewest and the most lanes; of one unit alone, its share a lane.
AreaTable area_table(const AreaAssumptions& area, const std::string& technology) {
  AreaTable table;
  for (const NumberFormat& numbers : number_formats()) {
    const RecordedCells cells = cells_in(numbers, technology);
    std::map<int, double> found;
    for (const auto& [lanes, record] : cells.by_lanes) {
      const int scales = numbers.scale_block ? (lanes + numbers.scale_block - 1) / numbers.scale_block : 0;
      const double operand_bits = 2 * (lanes * numbers.bits + 8 * scales);
      found[lanes] =
          record["area_m2"].get<double>() / (cells.node * cells.node) * cells.area - operand_bits * area.flip_flop;
    }
    if (found.empty()) continue;
    const auto [fewest, least] = *found.begin();
    const auto [most, largest] = *found.rbegin();
    const double lane = found.size() == 1 ? least / fewest : (largest - least) / (most - fewest);
    table[std::string(numbers.name)] = {least - lane * fewest, lane};
  }
  return table;
}

/// Feature size of a technology, or nothing.
std::optional<double> node_of(const std::string& technology) {
  if (const Json json = embedded_json("technologies/" + technology + ".json"); json.contains("node_m"))
    return json["node_m"].get<double>();
  return std::nullopt;
}

std::uint64_t hash_of(std::string_view text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

std::string hexadecimal(std::uint64_t x) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(x));
  return text;
}

using Values = std::array<double, objective_count>;

/// The points that no other beats, as they are found. A point is beaten by one that is nowhere worse, if that is better
/// somewhere or came first. Those that beat many are asked first.
class Best {
 public:
  explicit Best(std::size_t objectives) : size_(objectives) {}

  void offer(std::uint64_t point, const Values& values) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (!beats(entries_[i], point, values)) continue;
      if (i != 0) std::swap(entries_[i], entries_[i / 2]);
      return;
    }
    const Entry entry{point, values};
    std::erase_if(entries_, [&](const Entry& other) { return beats(entry, other.point, other.values); });
    entries_.push_back(entry);
  }

  struct Entry {
    std::uint64_t point;
    Values values;
  };
  /// In the order of the points.
  std::vector<Entry> take() {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& x, const Entry& y) { return x.point < y.point; });
    return std::move(entries_);
  }

 private:
  bool beats(const Entry& entry, std::uint64_t point, const Values& values) const {
    bool better = entry.point < point;
    for (std::size_t i = 0; i < size_; ++i) {
      if (entry.values[i] > values[i]) return false;
      better |= entry.values[i] < values[i];
    }
    return better;
  }

  std::size_t size_;
  std::vector<Entry> entries_;
};

}  // namespace

struct Explorer::Data {
  Workload workload;
  Space space;
  std::shared_ptr<const Prices> prices;
  std::vector<Product> products;
  std::string id;

  struct Technology {
    std::string name, sram, dram_memory, dram;  // `sram` and `dram` name the technologies of their tables
    bool sram_assumed = false, sram_ports = false, dram_assumed = false;  // sram_ports: the table knows ports
    double dram_read_j = 0, dram_write_j = 0, node = no_area;
    double bandwidth = 0;  // bytes a second
    AreaAssumptions area = {};
    AreaTable areas = {};
    std::optional<Codec> codec = {};
  };
  std::vector<Technology> technologies;
  std::vector<double> mac_j;             // format x lanes x technology
  std::vector<Price> mac_prices;         // the same, with what is known of them
  std::vector<Cell> known_cells;         // format x lanes x technology
  std::vector<SparseCell> sparse_cells;  // format x technology
  std::vector<double> sqnr;              // format x sparsity
  nlohmann::ordered_json sources;

  std::size_t mac_index(std::size_t format_at, std::size_t lanes_at, std::size_t technology_at) const {
    return (format_at * space.lanes.size() + lanes_at) * space.technology.size() + technology_at;
  }

  /// What sparse weights make of a point's cell; nothing where the point has none.
  SparseCell sparse_cell(const std::array<std::size_t, Space::axes>& at) const {
    if (space.sparsity[at[sparsity]] == Sparsity::none) return {};
    return sparse_cells[at[format] * space.technology.size() + at[technology]];
  }

  /// What is recorded of a point's cell.
  Cell cell(const std::array<std::size_t, Space::axes>& at) const {
    Cell found = known_cells[mac_index(at[format], at[lanes], at[technology])];
    found.period_s *= sparse_cell(at).period;
    return found;
  }

  /// What feature maps pass on their way; null where the point does not compress, or its technology has no price of it.
  const Codec* codec(const std::array<std::size_t, Space::axes>& at) const {
    const Technology& tech = technologies[at[technology]];
    return space.compression[at[compression]] == 1 || !tech.codec ? nullptr : &*tech.codec;
  }
  /// Shortest of a point's array and of its coders.
  static double period_s(const Cell& cell, const Codec* coders) {
    return coders ? std::max(cell.period_s, coders->period_s) : cell.period_s;
  }

  void ask_prices(const Progress& progress);
  void ask_accuracy(const Tensors& tensors);
  void check_areas() const;
  void check_global_buffers(const Technology& tech) const;

  // ---- a point

  TileShape tile(const std::array<std::size_t, Space::axes>& at, Sparsity how) const {
    return tile_shape(*space.format[at[format]], how, space.resident[at[resident]], space.rows[at[rows]],
                      space.cols[at[cols]], space.lanes[at[lanes]], space.a_depth[at[a_depth]],
                      space.b_depth[at[b_depth]], space.stream_width[at[stream_width]]);
  }

  ArrayWork work_of(const std::array<std::size_t, Space::axes>& at) const {
    const NumberFormat& numbers = *space.format[at[format]];
    const int products_a_beat = space.lanes[at[lanes]];
    ArrayWork work;
    if (numbers.scale_block != 0 && products_a_beat % numbers.scale_block != 0) {
      work.possible = false;
      return work;
    }
    const TileShape dense = tile(at, Sparsity::none), pruned = tile(at, space.sparsity[at[sparsity]]);
    for (const Product& one : products) {
      const Product product = one.with(space.resident[at[resident]]);
      const TileShape& shape = product.weights ? pruned : dense;
      if ((product.gemm.k + shape.lanes - 1) / shape.lanes > shape.max_beats) {
        work.possible = false;
        return work;
      }
      work.add(product, shape, products_a_beat, 8 * space.global_buffer[at[global_buffer]], cache_bits(at));
    }
    return work;
  }

  /// Of an element of keys and values in memory; 0: the array's.
  double cache_bits(const std::array<std::size_t, Space::axes>& at) const {
    const auto& numbers = space.cache[at[cache]];
    return numbers ? result_bits(*numbers) : 0;
  }

  /// Of a number, what a point's results are in memory.
  double result_in_memory(const std::array<std::size_t, Space::axes>& at) const {
    return result_bits(space.result[at[result]]) / space.compression[at[compression]];
  }

  /// `hertz`: of the array.
  Seconds seconds(const std::array<std::size_t, Space::axes>& at, double hertz) const {
    const double bandwidth = 8 * technologies[at[technology]].bandwidth;
    return {1 / hertz, 1 / bandwidth, 1 / (space.compression[at[compression]] * bandwidth),
            result_in_memory(at) / bandwidth};
  }

  /// In squares of the node: coders for each byte of the stream.
  double codec_area(const std::array<std::size_t, Space::axes>& at, const Codec& coders) const {
    return space.stream_width[at[stream_width]] / 8.0 *
           (coders.area + coders.memory_bits * technologies[at[technology]].area.sram_bit);
  }

  // In squares of the node.
  double area_of(const std::array<std::size_t, Space::axes>& at, const TileShape& shape) const {
    const Technology& tech = technologies[at[technology]];
    const auto found = tech.areas.find(space.format[at[format]]->name);
    if (found == tech.areas.end()) return no_area;
    const double cells = static_cast<double>(shape.rows) * shape.cols;
    // The recorded cells of the tile's formats have their shadow registers.
    const double shadow = space.format[at[format]]->tile ? 0 : space.format[at[format]]->accumulator_bits;
    return cells * (found->second.base + space.lanes[at[lanes]] * found->second.lane) * sparse_cell(at).area +
           cells * shadow * tech.area.flip_flop + shape.cols * column_gates * tech.area.gate +
           (buffer_bits(shape) + 8 * space.global_buffer[at[global_buffer]]) * tech.area.sram_bit;
  }
  static double a_buffer_bits(const TileShape& shape) { return 2.0 * shape.a_depth * shape.rows * shape.a_row_bits; }
  static double b_buffer_bits(const TileShape& shape) { return 2.0 * shape.b_depth * shape.cols * shape.b_col_bits; }
  static double buffer_bits(const TileShape& shape) { return a_buffer_bits(shape) + b_buffer_bits(shape); }

  // The SRAM energies of a bit, kept for the last sizes: those of an array come again with each technology.
  class SramPrices {
   public:
    explicit SramPrices(const Data& data) : data_(data), kept_(data.technologies.size()) {}
    /// Of an operand buffer of so many images of so many bits. As in ng_operand_buffer, each word of the stream that an
    /// image is made of has a memory of its own.
    double operand(std::size_t technology_at, double image_bits, double images, double word, bool write) {
      if (!data_.technologies[technology_at].sram_ports) return bit(technology_at, image_bits * images / 8, write);
      const double whole = std::floor(image_bits / word), rest = image_bits - whole * word;
      double joules = whole > 0 ? whole * access(technology_at, word, images, write) : 0;
      if (rest > 0) joules += access(technology_at, rest, images, write);
      return joules / image_bits;
    }
    /// Of the global buffer, which has words as wide as the stream's.
    double global(std::size_t technology_at, double bytes, double word, bool write) {
      if (!data_.technologies[technology_at].sram_ports) return bit(technology_at, bytes, write);
      return access(technology_at, word, 8 * bytes / word, write) / word;
    }

   private:
    double bit(std::size_t technology_at, double bytes, bool write) {
      return kept(technology_at, bytes, 0, write,
                  [&](const std::string& table) { return data_.prices->sram_bit(table, bytes, write).energy_j; });
    }
    double access(std::size_t technology_at, double width, double words, bool write) {
      return kept(technology_at, words, width, write,
                  [&](const std::string& table) { return access_j(*data_.prices, table, width, words, write); });
    }
    template <class Ask>
    double kept(std::size_t technology_at, double size, double width, bool write, const Ask& ask) {
      const auto [place, missing] = kept_[technology_at].try_emplace({size, width, write}, 0.0);
      if (missing) place->second = ask(data_.technologies[technology_at].sram);
      return place->second;
    }

    const Data& data_;
    std::vector<std::map<std::tuple<double, double, bool>, double>> kept_;
  };

  void evaluate(std::uint64_t first, std::span<Point> out) const {
    if (out.empty()) return;
    SramPrices sram(*this);
    std::array<std::size_t, Space::axes> at = space.place(first);
    const std::array<std::size_t, Space::axes> sizes = space.sizes();
    ArrayWork work;
    Point array;  // what the array makes the same
    double array_work = 0, dram_read_j = 0, dram_write_j = 0;
    double clock_j = 0, leakage_w = 0, busy = 0, cells_of_array = 0;  // clock_j: of an idle cell in a cycle
    Cell cell;
    bool new_array = true, new_technology = true;
    // Formats of the same bits make the same tile.
    struct Alike {
      TileShape shape;
      Resident turned;
      double buffer, cache_bits;
      ArrayWork work;
    };
    std::vector<Alike> alike;
    for (Point& point : out) {
      if (new_array) {
        const TileShape shape = tile(at, space.sparsity[at[sparsity]]);
        const NumberFormat& numbers = *space.format[at[format]];
        const double buffer = space.global_buffer[at[global_buffer]];
        const Resident turned = space.resident[at[resident]];
        const bool keep = numbers.scale_block == 0;  // blocks of scales leave nothing to check
        const auto found = std::find_if(alike.begin(), alike.end(), [&](const Alike& one) {
          return one.shape == shape && one.turned == turned && one.buffer == buffer && one.cache_bits == cache_bits(at);
        });
        if (keep && found != alike.end()) {
          work = found->work;
        } else {
          work = work_of(at);
          if (keep) {
            if (alike.size() == number_formats().size()) alike.clear();
            alike.push_back({shape, turned, buffer, cache_bits(at), work});
          }
        }
        array_work = work.cycles;
        new_technology = true;
        new_array = false;
      }
      if (new_technology && work.possible) {
        const TileShape shape = tile(at, space.sparsity[at[sparsity]]);
        const Technology& tech = technologies[at[technology]];
        const std::size_t t = at[technology];
        const double word = shape.stream_width;
        const auto of_a = [&](bool write) {
          return sram.operand(t, static_cast<double>(shape.rows) * shape.a_row_bits, 2.0 * shape.a_depth, word, write);
        };
        const auto of_b = [&](bool write) {
          return sram.operand(t, static_cast<double>(shape.cols) * shape.b_col_bits, 2.0 * shape.b_depth, word, write);
        };
        const double mac = mac_j[mac_index(at[format], at[lanes], t)];
        array.mac_j = (work.macs + (sparse_cell(at).energy - 1) * work.weight_macs) * mac;
        array.sram_j = work.a_written * of_a(true) + work.a_read * of_a(false) + work.b_written * of_b(true) +
                       work.b_read * of_b(false);
        if (const double bytes = space.global_buffer[at[global_buffer]]; bytes > 0)
          array.sram_j += (work.maps_in + work.weights_in + work.cache_in) * sram.global(t, bytes, word, true) +
                          work.streamed * sram.global(t, bytes, word, false);
        dram_read_j = tech.dram_read_j;
        dram_write_j = tech.dram_write_j;
        cell = this->cell(at);
        cells_of_array = static_cast<double>(shape.rows) * shape.cols;
        busy = work.macs / space.lanes[at[lanes]];
        clock_j = cell.clock_share * mac * space.lanes[at[lanes]];
        leakage_w = cell.leakage_w * cells_of_array;
        array.possible = true;
        array.cycles = array_work;
        array.area_m2 = area_of(at, shape) * tech.node * tech.node;
        array.sqnr_db = sqnr[at[format] * space.sparsity.size() + at[sparsity]];
        new_technology = false;
      }
      const Codec* coders = codec(at);
      const double shortest_s = period_s(cell, coders);
      const double asked = space.frequency_hz[at[frequency]], hertz = asked == 0 ? 1 / shortest_s : asked;
      if (work.possible && hertz * shortest_s <= 1 + 1e-9) {
        const double packed = space.compression[at[compression]];
        const double in = work.weights_in + work.cache_in + work.maps_in / packed;
        const double out_bits = work.results * result_in_memory(at) + work.cache_out;
        point = array;
        point.dram_j = in * dram_read_j + out_bits * dram_write_j;
        if (coders) {
          const double node = technologies[at[technology]].node;
          point.codec_j = (work.maps_in * coders->decode_j +
                           work.results * result_bits(space.result[at[result]]) * coders->encode_j) /
                          8;
          point.area_m2 += codec_area(at, *coders) * node * node;
        }
        point.time_s = work.layers.seconds(seconds(at, hertz));
        point.idle_j = std::max(0.0, point.time_s * hertz * cells_of_array - busy) * clock_j + point.time_s * leakage_w;
      } else {
        point = Point{};
      }
      for (std::size_t axis = Space::axes; axis-- > 0;) {
        if (axis == technology) new_technology = true;
        if (axis < technology) new_array = true;
        if (++at[axis] < sizes[axis]) break;
        at[axis] = 0;
      }
    }
  }

  Values values_of(const Point& point) const {
    Values values{};
    for (std::size_t i = 0; i < space.objectives.size(); ++i) {
      switch (space.objectives[i]) {
        case Objective::energy:
          values[i] = point.energy_j();
          break;
        case Objective::cycles:
          values[i] = point.cycles;
          break;
        case Objective::time:
          values[i] = point.time_s;
          break;
        case Objective::area:
          values[i] = point.area_m2;
          break;
        case Objective::sqnr:
          values[i] = -point.sqnr_db;
          break;
        case Objective::energy_delay:
          values[i] = point.energy_j() * point.time_s;
          break;
      }
    }
    return values;
  }

  bool judged_by(Objective objective) const {
    return std::find(space.objectives.begin(), space.objectives.end(), objective) != space.objectives.end();
  }
};

namespace {

/// A price as a document says it; null where a figure is not known.
nlohmann::ordered_json told(const std::string& what, const std::string& technology, const Price& price) {
  const auto or_null = [](const std::optional<double>& x) { return x ? Json(*x) : Json(); };
  return {{"of", what},
          {"technology", technology},
          {"energy_j", price.energy_j},
          {"rung", price.rung.empty() ? Json() : Json(price.rung)},
          {"error_mean", or_null(price.error_mean)},
          {"error_max", or_null(price.error_max)},
          {"source", price.source}};
}

}  // namespace

void Explorer::Data::ask_prices(const Progress& progress) {
  for (const std::string& name : space.technology) {
    Technology tech{.name = name, .sram = space.sram, .dram_memory = space.dram_memory, .dram = space.dram};
    const auto tell = [&](const std::string& what, const Price& price) { sources.push_back(told(what, name, price)); };
    const auto known = [](const auto& ask) {
      try {
        ask();
        return true;
      } catch (const Error&) {
        return false;
      }
    };
    const std::string fallback(fallback_technology);
    const std::string by_port = prices->sram_table(tech.sram.empty() ? name : tech.sram);
    const auto cited = [&] { return known([&] { (void)prices->sram_bit(tech.sram, 32768, false); }); };
    tech.sram_ports = !by_port.empty() && (tech.sram.empty() || tech.sram == by_port || !cited());
    if (tech.sram_ports) {
      tech.sram = by_port;
    } else if (tech.sram.empty()) {
      tech.sram_assumed = !known([&] { (void)prices->sram_bit(name, 32768, false); });
      tech.sram = tech.sram_assumed ? fallback : name;
    }
    if (tech.dram.empty()) {
      tech.dram = name;
      for (const char* memory : {"dram", "hbm2"}) {
        if (!known([&] { (void)prices->dram_bit(memory, name, false); })) continue;
        tech.dram_memory = memory;
        break;
      }
      tech.dram_assumed = tech.dram_memory.empty();
      if (tech.dram_assumed) {
        tech.dram_memory = "dram";
        tech.dram = fallback;
      }
    }
    if (std::any_of(space.compression.begin(), space.compression.end(), [](double ratio) { return ratio != 1; })) {
      tech.codec = codec_in(name, tech.sram, tech.sram_ports, *prices);
      const auto coded = [&](const char* what, double energy_j, const std::string& source) {
        sources.push_back({{"of", std::string("a byte of a compressed feature map ") + what + ", with its tables"},
                           {"technology", name},
                           {"energy_j", energy_j},
                           {"source", source}});
      };
      if (tech.codec) {
        coded("decoded", tech.codec->decode_j, tech.codec->decode_source);
        coded("encoded", tech.codec->encode_j, tech.codec->encode_source);
      }
    }
    const Price read = prices->dram_bit(tech.dram_memory, tech.dram, false);
    const Price write = prices->dram_bit(tech.dram_memory, tech.dram, true);
    tech.dram_read_j = read.energy_j;
    tech.dram_write_j = write.energy_j;
    tech.node = node_of(name).value_or(no_area);
    tech.area = space.area.of(name);
    tech.areas = area_table(tech.area, name);
    tech.bandwidth = space.bandwidth != 0 ? space.bandwidth : default_bandwidth(tech.dram_memory);
    if (tech.sram_ports) {
      check_global_buffers(tech);
      for (const int width : space.stream_width)
        for (const bool written : {false, true})
          tell("SRAM, a bit of 32768 bytes " + std::string(written ? "written" : "read") + " through a port of " +
                   std::to_string(width) + " bits",
               prices->sram_port_bit(tech.sram, 32768, width, written));
    } else {
      tell("SRAM, a bit of 32768 bytes read", prices->sram_bit(tech.sram, 32768, false));
    }
    tell(tech.dram_memory + ", a bit read", read);
    tell(tech.dram_memory + ", a bit written", write);
    technologies.push_back(tech);
  }
  std::map<std::pair<std::string_view, std::string>, RecordedCells> recorded;
  const bool pruned =
      std::any_of(space.sparsity.begin(), space.sparsity.end(), [](Sparsity how) { return how != Sparsity::none; });
  for (const NumberFormat* numbers : space.format) {
    for (const std::string& name : space.technology) {
      sparse_cells.push_back(pruned ? sparse_cell_in(*numbers, name) : SparseCell{});
      if (const SparseCell& cell = sparse_cells.back(); !cell.source.empty())
        sources.push_back({{"of", std::string(numbers->name) + ", a cell for sparse weights beside the dense one"},
                           {"technology", name},
                           {"ratio", cell.energy},
                           {"source", "records of " + cell.source + " at L3; area x " + Json(cell.area).dump() +
                                          ", shortest period x " + Json(cell.period).dump()}});
    }
    for (const int count : space.lanes) {
      for (const std::string& name : space.technology) {
        Price price;
        if (numbers->scale_block == 0 || count % numbers->scale_block == 0) {
          const auto own = space.mac_energy_j.find(std::string(numbers->name));
          price = own == space.mac_energy_j.end() ? prices->mac(mac_question(*numbers, count), name)
                                                  : Price{own->second, "given by the space"};
          sources.push_back(
              told(std::string(numbers->name) + ", a multiply-accumulate of " + std::to_string(count) + " lanes", name,
                   price));
        }
        mac_j.push_back(price.energy_j);
        mac_prices.push_back(price);
        auto known = recorded.find({numbers->name, name});
        if (known == recorded.end())
          known = recorded.emplace(std::pair(numbers->name, name), cells_in(*numbers, name)).first;
        known_cells.push_back(cell_of(*numbers, count, known->second));
        if (known_cells.back().period_s == 0 &&
            std::find(space.frequency_hz.begin(), space.frequency_hz.end(), 0) != space.frequency_hz.end())
          throw Error("what frequency a cell of " + std::string(numbers->name) + " reaches in " + name +
                      " is not known: give frequency_hz in the space");
        if (progress) progress(mac_j.size(), space.format.size() * space.lanes.size() * space.technology.size());
      }
    }
  }
}

void Explorer::Data::ask_accuracy(const Tensors& tensors) {
  for (const NumberFormat* numbers : space.format)
    for (const Sparsity how : space.sparsity) sqnr.push_back(power::sqnr_db(tensors, *numbers, how));
}

void Explorer::Data::check_global_buffers(const Technology& tech) const {
  for (const double bytes : space.global_buffer) {
    if (bytes == 0) continue;
    for (const int width : space.stream_width) {
      try {
        (void)access_j(*prices, tech.sram, width, 8 * bytes / width, false);
      } catch (const Error& error) {
        throw Error("the energy of a global buffer of " + std::to_string(static_cast<std::int64_t>(bytes)) +
                    " bytes behind a stream of " + std::to_string(width) + " bits is not known in " + tech.sram +
                    ": give another size, or a cited table as memory.sram of the space (" + error.what() + ")");
      }
    }
  }
}

void Explorer::Data::check_areas() const {
  if (!judged_by(Objective::area)) return;
  const std::string advice = "; leave area out of the space's objectives, or";
  for (const Technology& tech : technologies) {
    if (std::isnan(tech.node))
      throw Error("the feature size of technology " + tech.name + " is not known, and so no area" + advice +
                  " take another technology");
    for (const NumberFormat* numbers : space.format) {
      if (tech.areas.contains(numbers->name)) continue;
      std::string names;
      for (const auto& [name, unused] : tech.areas) names += (names.empty() ? "" : ", ") + name;
      throw Error("the area of a multiply-accumulate in " + std::string(numbers->name) + " is not known" + advice +
                  " take formats of " + names);
    }
  }
}

Explorer::Explorer(Workload workload, Space space, std::shared_ptr<const Prices> prices, const Tensors& tensors,
                   const Progress& progress) {
  auto data = std::make_unique<Data>();
  data->workload = std::move(workload);
  data->space = std::move(space);
  data->prices = std::move(prices);
  for (const Layer& layer : data->workload.layers) {
    const auto same = std::find_if(data->products.begin(), data->products.end(), [&](const Product& product) {
      return product.gemm == layer.gemm && product.weights == layer.weights && product.cache == layer.cache;
    });
    if (same == data->products.end()) {
      data->products.push_back({.gemm = layer.gemm,
                                .count = static_cast<double>(layer.count),
                                .weights = layer.weights,
                                .cache = layer.cache});
    } else {
      same->count += static_cast<double>(layer.count);
    }
  }
  data->ask_prices(progress);
  data->ask_accuracy(tensors);
  data->check_areas();
  std::string text = to_json(data->space).dump() + data->sources.dump();
  for (const Product& p : data->products)
    text += Json{p.gemm.m, p.gemm.n, p.gemm.k, p.count, p.weights, p.cache}.dump();
  for (const double db : data->sqnr) text += Json(std::bit_cast<std::uint64_t>(db)).dump() + " ";
  data->id = hexadecimal(hash_of(text));
  data_ = std::move(data);
}

Explorer::~Explorer() = default;
Explorer::Explorer(Explorer&&) noexcept = default;
Explorer& Explorer::operator=(Explorer&&) noexcept = default;

std::uint64_t Explorer::points() const { return data_->space.points(); }
const Space& Explorer::space() const { return data_->space; }
const Workload& Explorer::workload() const { return data_->workload; }
const std::string& Explorer::id() const { return data_->id; }
nlohmann::ordered_json Explorer::sources() const { return data_->sources; }
std::optional<Price> Explorer::unit(const std::string& name, const std::string& technology) const {
  return data_->prices->unit(name, technology);
}

namespace {
constexpr std::size_t explored_at_once = 4096;  // points
}

void Explorer::evaluate(std::uint64_t first, std::span<Point> out) const {
  if (first > points() || out.size() > points() - first)
    throw Error("points " + std::to_string(first) + " to " + std::to_string(first + out.size()) +
                " are beyond the space's " + std::to_string(points()));
  for (std::size_t at = 0; at < out.size(); at += explored_at_once) {
    detail::breathe();
    data_->evaluate(first + at, out.subspan(at, std::min(explored_at_once, out.size() - at)));
  }
}

Front Explorer::front_of(std::uint64_t begin, std::uint64_t end) const {
  if (begin > end || end > points())
    throw Error("points " + std::to_string(begin) + " to " + std::to_string(end) + " are not a part of the space's " +
                std::to_string(points()));
  constexpr std::uint64_t block = explored_at_once;
  std::vector<Point> out(std::min(block, end - begin));
  Best best(data_->space.objectives.size());
  Front front;
  front.evaluated = end - begin;
  for (; begin < end; begin += block) {
    detail::breathe();
    const std::size_t count = std::min(block, end - begin);
    data_->evaluate(begin, std::span(out).first(count));
    for (std::size_t i = 0; i < count; ++i) {
      if (out[i].possible) {
        best.offer(begin + i, data_->values_of(out[i]));
      } else {
        ++front.impossible;
      }
    }
  }
  for (const auto& entry : best.take()) {
    front.points.push_back(entry.point);
    front.values.push_back(entry.values);
  }
  return front;
}

Front Explorer::merge(std::span<const Front> fronts) const {
  Best best(data_->space.objectives.size());
  Front front;
  for (const Front& part : fronts) {
    front.evaluated += part.evaluated;
    front.impossible += part.impossible;
    for (std::size_t i = 0; i < part.points.size(); ++i) best.offer(part.points[i], part.values[i]);
  }
  for (const auto& entry : best.take()) {
    front.points.push_back(entry.point);
    front.values.push_back(entry.values);
  }
  return front;
}

namespace {

/// The chunks that are done, a line of JSON each, after a line that names the exploration. A last line that is cut off
/// is not there.
class Checkpoint {
 public:
  Checkpoint(const Explorer& explorer, const Explorer::Run& run, std::vector<std::optional<Front>>& done)
      : file_(run.checkpoint) {
    if (file_.empty()) return;
    const Json head{{"exploration", explorer.id()}, {"points", explorer.points()}, {"chunk", run.chunk}};
    const bool there = std::filesystem::exists(file_);
    if (there && !run.resume) {
      throw Error("The checkpoint " + file_.string() +
                  " exists already: go on with it (--resume), or remove it to start anew");
    }
    std::vector<std::string> lines;
    if (there) {
      std::ifstream in(file_);
      for (std::string line; std::getline(in, line) && !in.eof();) lines.push_back(line);
      if (lines.empty() || !(Json::parse(lines[0], nullptr, false) == head)) {
        throw Error("The checkpoint " + file_.string() + " is of another exploration (it begins " +
                    (lines.empty() ? "with nothing" : lines[0].substr(0, 100)) + "; this one is " + head.dump() +
                    "): workload, space, prices, tensors or chunk are not the same");
      }
      for (std::size_t i = 1; i < lines.size(); ++i) read(lines[i], done);
    }
    // Written anew, without what was cut off; what was done before stays until that is.
    if (lines.empty()) lines.push_back(head.dump());
    try {
      io::OutputFile file(file_.string());
      for (const std::string& line : lines) file.write(line + "\n");
      file.commit();
    } catch (const io::Error& error) {
      throw Error(std::string("The checkpoint cannot be written: ") + error.what());
    }
    out_.open(file_, std::ios::app);
    check();
  }

  void write(std::size_t chunk, const Front& front) {
    if (file_.empty()) return;
    Json values = Json::array();
    for (const Values& one : front.values) values.push_back(one);  // JSON has no infinity: it becomes null
    const std::scoped_lock lock(mutex_);
    out_ << Json{{"chunk", chunk},
                 {"evaluated", front.evaluated},
                 {"impossible", front.impossible},
                 {"points", front.points},
                 {"values", values}}
                .dump()
         << '\n';
    check();
  }

 private:
  void check() {
    if (!out_.flush())
      throw Error("The checkpoint " + file_.string() + " cannot be written; check path and free space");
  }
  void read(const std::string& line, std::vector<std::optional<Front>>& done) const {
    try {
      const Json json = Json::parse(line);
      Front front;
      front.evaluated = json.at("evaluated");
      front.impossible = json.at("impossible");
      front.points = json.at("points").get<std::vector<std::uint64_t>>();
      for (const Json& values : json.at("values")) {
        Values one{};
        for (std::size_t i = 0; i < one.size(); ++i)
          one[i] = values.at(i).is_null() ? -std::numeric_limits<double>::infinity() : values[i].get<double>();
        front.values.push_back(one);
      }
      done.at(json.at("chunk")) = std::move(front);
    } catch (const std::exception& error) {
      throw Error("The checkpoint " + file_.string() + " is damaged (" + error.what() + "): remove it to start anew");
    }
  }

  std::filesystem::path file_;
  std::ofstream out_;
  std::mutex mutex_;
};

}  // namespace

Front Explorer::run(const Run& run) const {
  if (run.chunk == 0) throw Error("a chunk of 0 points is none; expected 1 or more");
  const std::uint64_t all = points(), chunks = (all + run.chunk - 1) / run.chunk;
  std::vector<std::optional<Front>> done(chunks);
  Checkpoint checkpoint(*this, run, done);
  std::vector<std::uint64_t> open;
  for (std::uint64_t i = 0; i < chunks; ++i)
    if (!done[i]) open.push_back(i);

  std::atomic<std::size_t> next = 0, finished = chunks - open.size();
  std::mutex mutex;
  std::exception_ptr fault;
  std::uint64_t last_told = open.empty() ? all : 0;  // by the one thread that reports
  const auto work = [&](bool reports) {
    try {
      for (std::size_t at; (at = next.fetch_add(1)) < open.size();) {
        const std::uint64_t chunk = open[at];
        done[chunk] = front_of(chunk * run.chunk, std::min(all, (chunk + 1) * run.chunk));
        checkpoint.write(chunk, *done[chunk]);
        ++finished;
        if (!reports || !run.progress) continue;
        last_told = std::min(all, finished * run.chunk);
        run.progress(last_told, all);
      }
    } catch (...) {
      next = open.size();
      const std::scoped_lock lock(mutex);
      if (!fault) fault = std::current_exception();
    }
  };
  const std::size_t asked = run.threads != 0 ? run.threads : std::max(1U, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min(asked, open.size()); ++i) threads.emplace_back(work, false);
    work(true);
  }
  if (fault) std::rethrow_exception(fault);
  if (run.progress && last_told != all) run.progress(all, all);  // the last chunk was another thread's
  std::vector<Front> fronts;
  for (auto& front : done) fronts.push_back(std::move(*front));
  return merge(fronts);
}

nlohmann::ordered_json Explorer::describe(std::uint64_t index) const {
  Point point;
  evaluate(index, {&point, 1});
  const auto at = data_->space.place(index);
  const Space& space = data_->space;
  const NumberFormat& numbers = *space.format[at[format]];
  const Sparsity how = space.sparsity[at[sparsity]];
  const Data::Technology& tech = data_->technologies[at[technology]];
  const Cell cell = data_->cell(at);
  const Codec* coders = data_->codec(at);
  const double asked = space.frequency_hz[at[frequency]];
  const double hertz = asked == 0 ? 1 / Data::period_s(cell, coders) : asked;
  nlohmann::ordered_json json{{"point", index},
                              {"format", numbers.name},
                              {"resident", name(space.resident[at[resident]])},
                              {"sparsity", name(how)},
                              {"rows", space.rows[at[rows]]},
                              {"cols", space.cols[at[cols]]},
                              {"lanes", space.lanes[at[lanes]]},
                              {"a_depth", space.a_depth[at[a_depth]]},
                              {"b_depth", space.b_depth[at[b_depth]]},
                              {"stream_width", space.stream_width[at[stream_width]]},
                              {"global_buffer", space.global_buffer[at[global_buffer]]},
                              {"technology", tech.name},
                              {"result", name(space.result[at[result]])},
                              {"cache", space.cache[at[cache]] ? name(*space.cache[at[cache]]) : "array"},
                              {"compression", space.compression[at[compression]]},
                              {"frequency_hz", hertz},
                              {"possible", point.possible}};
  if (!point.possible) return json;
  const auto number = [](double x) {
    return std::isfinite(x) ? Json(x) : std::isnan(x) ? Json() : Json(x > 0 ? "inf" : "-inf");
  };
  const double array = static_cast<double>(space.rows[at[rows]]) * space.cols[at[cols]] * space.lanes[at[lanes]];
  json["energy_j"] = point.energy_j();
  json["mac_j"] = point.mac_j;
  json["sram_j"] = point.sram_j;
  json["dram_j"] = point.dram_j;
  json["codec_j"] = point.codec_j;
  json["idle_j"] = point.idle_j;
  const ArrayWork work = data_->work_of(at);
  const Price& mac = data_->mac_prices[data_->mac_index(at[format], at[lanes], at[technology])];
  json["cache_j"] = work.cache_in * tech.dram_read_j + work.cache_out * tech.dram_write_j;  // a part of dram_j
  json["token_j"] = data_->workload.tokens > 0 ? Json(point.energy_j() / data_->workload.tokens) : Json();
  json["mac_rung"] = mac.rung.empty() ? Json() : Json(mac.rung);
  json["mac_error"] = mac.error_mean ? Json(*mac.error_mean) : Json();
  json["cycles"] = point.cycles;
  json["time_s"] = point.time_s;
  const double share = work.layers.memory_seconds(data_->seconds(at, hertz)) / point.time_s;
  json["memory_share"] = share;
  json["limit"] = share > 0.5 ? "memory" : "array";
  json["utilization"] = data_->workload.macs() / (point.cycles * array);
  json["area_m2"] = number(point.area_m2);
  json["sqnr_db"] = number(point.sqnr_db);
  json["assumed"] = Json::array();
  const auto assume = [&](const std::string& text) { json["assumed"].push_back(text); };
  if (numbers.mac == MacFormat::mxfp4)
    assume("format: a cell of mxfp4 is priced as ng_mxfp4_mac with a shadow register, in units of 32 lanes");
  else if (!numbers.tile)
    assume("format: no tile takes " + std::string(numbers.name) + "; timed as one of " + std::to_string(numbers.bits) +
           "-bit elements");
  if (how != Sparsity::none)
    assume(std::string("sparsity: ") +
           (space.resident[at[resident]] == Resident::maps
                ? "weights are operand B, which no tile has sparse, and are timed as if one had; "
                : "") +
           (data_->sparse_cell(at).source.empty() ? "selecting operands is free"
                                                  : "selecting operands costs what the records of " +
                                                        data_->sparse_cell(at).source + " say of uniform codes"));
  if (space.compression[at[compression]] != 1)
    assume(std::string("compression: feature maps take that much less of memory, as the space says; ") +
           (coders ? "coders as recorded, for each byte of the stream" : "the codec is free and keeps pace"));
  if (space.result[at[result]] != Result::fp32)
    assume("result: converted to " + std::string(name(space.result[at[result]])) + " behind the tile; that is free");
  if (work.cache_in + work.cache_out > 0 && space.cache[at[cache]])
    assume("cache: keys and values are " + std::string(name(*space.cache[at[cache]])) +
           " in memory and are converted at the tile; that is free");
  if (cell.period_s == 0)
    assume("frequency: what a cell reaches in " + tech.name + " is not known");
  else if (!cell.assumed.empty())
    assume("cell: shortest period, share of the clock and area are " + cell.assumed + "; no leakage");
  if (space.bandwidth == 0)
    assume("bandwidth: " + tech.dram_memory + " moves " + Json(tech.bandwidth).dump() + " bytes a second");
  if (space.mac_energy_j.contains(std::string(numbers.name)))
    assume("mac_energy_j: of " + std::string(numbers.name) + " as the space gives it, in every technology");
  if (tech.sram_ports) {
    const TileShape shape = data_->tile(at, how);
    const double rest_a = std::fmod(shape.rows * shape.a_row_bits, shape.stream_width);
    const double rest_b = std::fmod(shape.cols * shape.b_col_bits, shape.stream_width);
    const auto narrow = [](double rest) { return rest > 0 && rest < narrowest_port; };
    if (2 * std::min(shape.a_depth, shape.b_depth) < fewest_words || narrow(rest_a) || narrow(rest_b))
      assume("sram: a memory of fewer than 64 words, or 32 bits, costs what the smallest of " + tech.sram + " does");
  }
  if (tech.sram_assumed) assume("sram: " + tech.name + " has no table, that of " + tech.sram + " is taken");
  if (tech.dram_assumed) assume("dram: " + tech.name + " has no table, that of " + tech.dram + " is taken");
  return json;
}

}  // namespace narrowgauge::power
