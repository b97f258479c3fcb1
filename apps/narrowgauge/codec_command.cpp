// SPDX-License-Identifier: Apache-2.0
// Compressed feature maps: compress, decompress, codec-report.
#include <limits>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "narrowgauge/codec/feature_map.hpp"
#include "narrowgauge/codec/report.hpp"
#include "narrowgauge/codec/tile_stream.hpp"
#include "narrowgauge/io/memory.hpp"
#include "narrowgauge/io/npy.hpp"
#include "narrowgauge/io/output.hpp"
#include "narrowgauge/io/text.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

/// What f() returns; its Errors, which know no file, get the name of this one.
template <class F>
auto of_file(const std::string& path, const F& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Error(io::shown(path) + ": " + error.what());
  }
}

/// The map that compress and codec-report take, and how.
struct MapArguments {
  std::string path;
  unsigned bits = 8;
  const CLI::Option* bits_option = nullptr;
  std::size_t tile = CompressOptions().tile;
  bool json = false;

  void add_to(CLI::App& command) {
    command.add_option("MAP", path, "Feature map, .npy")->required()->type_name("")->check(named);
    bits_option = add_number<unsigned>(command, "--bits", bits, 2, 8, "Of the codes of real numbers");
    add_number<std::size_t>(command, "--tile", tile, codec_block, largest_tile,
                            "Values that are read without the others");
    command.add_flag("--json", json, "Print one JSON document and nothing else on stdout");
  }
};

constexpr std::string_view about_maps =
    "MAP is an array of 1 to 8 dimensions. uint8 and int8 are coded as they are, without loss. Other real numbers are\n"
    "converted to float32 and quantized first, the whole map under one step: its largest magnitude / the largest code "
    "of\n"
    "--bits bits, signed if the map has a negative number. NaN and infinity are refused.\n";

struct LoadedMap {
  io::Array array;
  FeatureMap map;

  bool quantized() const { return map.step != 0; }
};

LoadedMap load(const MapArguments& arguments) {
  LoadedMap loaded{io::read_array(arguments.path), {}};
  const io::Array& array = loaded.array;
  std::vector<std::uint64_t> shape(array.shape.begin(), array.shape.end());
  const bool is_signed = array.dtype == "int8";
  if (!is_signed && array.dtype != "uint8") {
    const std::vector<float> x = io::to_float32(array);
    loaded.map = of_file(array.path, [&] { return quantize_map(x, std::move(shape), arguments.bits); });
    return loaded;
  }
  if (arguments.bits_option->count() > 0) {
    throw Error("--bits is " + std::to_string(arguments.bits) + ", but " + io::shown(array.path) + " holds " +
                array.dtype +
                ", which is coded without loss; leave --bits out, or quantize array.astype(numpy.float32)");
  }
  loaded.map = {std::move(shape), {}, is_signed, 0};
  loaded.map.values.reserve(array.values.size());
  for (const double value : array.values)
    loaded.map.values.push_back(static_cast<std::uint8_t>(static_cast<int>(value)));
  return loaded;
}

template <class T>
std::string shape_text(const std::vector<T>& shape) {
  std::string text;
  for (const T extent : shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

std::string codes_text(const FeatureMap& map, const std::string& bits) {
  if (map.step == 0) return "the values as they are, without loss";
  return bits + (map.is_signed ? " bits, signed" : " bits, unsigned") + ", step " + number(map.step);
}

/// Adds what was coded: the array, bits and step where it was quantized, the size of tiles.
void add_to(Json& json, const LoadedMap& loaded, const MapArguments& arguments) {
  const io::Array& array = loaded.array;
  json.update({{"map", {{"path", io::utf8(array.path)}, {"dtype", array.dtype}, {"shape", array.shape}}},
               {"values", array.values.size()},
               {"bits", loaded.quantized() ? Json(arguments.bits) : Json()},
               {"signed", loaded.map.is_signed},
               {"step", loaded.quantized() ? Json(loaded.map.step) : Json()},
               {"tile", arguments.tile}});
}

std::vector<std::pair<std::string, std::string>> facts_of(const LoadedMap& loaded, const MapArguments& arguments) {
  const io::Array& array = loaded.array;
  return {{"map", shape_text(array.shape) + " " + array.dtype + "  (" + io::shown(array.path) + ")"},
          {"codes", codes_text(loaded.map, std::to_string(arguments.bits))}};
}

std::string file_text(const CompressedHead& head, std::size_t bytes) {
  const std::string runs =
      head.slots.empty() ? "no runs of zeros" : counted(head.slots.size(), "symbol") + " for runs of zeros";
  return counted(bytes, "byte") + ", " + counted(head.tiles.size(), "tile") + " of " + std::to_string(head.tile) +
         " values, " + runs;
}

double bits_per_value(std::size_t bytes, std::size_t values) {
  return 8 * static_cast<double>(bytes) / static_cast<double>(values);
}

std::string time_text(double seconds, std::size_t values) {
  return number(seconds) + " s, " + number(seconds > 0 ? static_cast<double>(values) / seconds : 0) + " values/s";
}

struct CompressArguments : MapArguments {
  bool no_zero_runs = false;
  std::string out;
};

int run_compress(const CompressArguments& arguments) {
  io::Outputs outputs;
  outputs.input(arguments.path);
  io::OutputFile& out = outputs.add("--out", arguments.out);
  const LoadedMap loaded = load(arguments);
  const FeatureMap& map = loaded.map;
  const std::size_t values = map.values.size();
  const Stopwatch time;
  const std::vector<std::uint8_t> file = of_file(
      arguments.path, [&] { return compress(map, {.tile = arguments.tile, .zero_runs = !arguments.no_zero_runs}); });
  const double seconds = time.seconds();
  const CompressedHead head = read_head(file);
  double sqnr = std::numeric_limits<double>::infinity();
  if (loaded.quantized()) {
    const std::vector<float> coded = dequantize_map(map);
    sqnr = sqnr_db(loaded.array.values, std::vector<double>(coded.begin(), coded.end()));
  }
  out.write({reinterpret_cast<const char*>(file.data()), file.size()});
  out.close();

  const double bits = bits_per_value(file.size(), values);
  if (arguments.json) {
    Json json{{"command", "compress"}};
    add_to(json, loaded, arguments);
    json.update({{"tiles", head.tiles.size()},
                 {"zero_run_symbols", head.slots.size()},
                 {"bytes", file.size()},
                 {"bits_per_value", bits},
                 {"sqnr_db", json_number(sqnr)},
                 {"seconds", seconds},
                 {"out_path", io::utf8(arguments.out)}});
    print_json(json);
  } else {
    auto facts = facts_of(loaded, arguments);
    facts.insert(facts.end(), {{"SQNR", sqnr_text(sqnr)},
                               {"file", file_text(head, file.size())},
                               {"storage", number(bits) + " bits per value, 1 / " + number(8 / bits) + " of bytes"},
                               {"time", time_text(seconds, values)},
                               {"written", io::shown(arguments.out)}});
    print_facts(facts);
  }
  finish_report();
  outputs.commit();
  return 0;
}

struct DecompressArguments {
  std::string file;
  std::string out;
  bool json = false;
};

int run_decompress(const DecompressArguments& arguments) {
  io::Outputs outputs;
  outputs.input(arguments.file);
  io::OutputFile& out = outputs.add("--out", arguments.out);
  // A pipe's bytes have to be there several times while they arrive.
  const std::string bytes = io::read_bytes(arguments.file, "a compressed feature map", io::memory_bytes() / 4);
  const std::span file(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const Stopwatch time;
  const CompressedHead head = of_file(arguments.file, [&] { return read_head(file); });
  const bool quantized = head.step != 0;
  const std::string dtype = quantized ? "float32" : head.is_signed ? "int8" : "uint8";
  const std::string what = shape_text(head.shape) + " " + dtype;
  io::check_memory(static_cast<double>(head.values) * (quantized ? 1 + sizeof(float) : 2),
                   io::shown(arguments.file) + " (" + what + ")");
  const FeatureMap map = of_file(arguments.file, [&] { return decompress(file); });
  const std::vector<std::size_t> shape(map.shape.begin(), map.shape.end());
  if (quantized) {
    io::write_npy(out, dequantize_map(map), shape);
  } else if (map.is_signed) {
    io::write_npy(out, std::vector<std::int8_t>(map.values.begin(), map.values.end()), shape);
  } else {
    io::write_npy(out, map.values, shape);
  }
  const double seconds = time.seconds();
  out.close();

  const double bits = bits_per_value(file.size(), map.values.size());
  if (arguments.json) {
    print_json(Json{{"command", "decompress"},
                    {"file", {{"path", io::utf8(arguments.file)}, {"bytes", file.size()}}},
                    {"dtype", dtype},
                    {"shape", shape},
                    {"values", map.values.size()},
                    {"signed", map.is_signed},
                    {"step", quantized ? Json(map.step) : Json()},
                    {"tile", head.tile},
                    {"tiles", head.tiles.size()},
                    {"zero_run_symbols", head.slots.size()},
                    {"bits_per_value", bits},
                    {"seconds", seconds},
                    {"out_path", io::utf8(arguments.out)}});
  } else {
    print_facts({{"file", file_text(head, file.size()) + "  (" + io::shown(arguments.file) + ")"},
                 {"map", what + (quantized ? ", step " + number(map.step) : "")},
                 {"storage", number(bits) + " bits per value, 1 / " + number(8 / bits) + " of bytes"},
                 {"time", time_text(seconds, map.values.size())},
                 {"written", io::shown(arguments.out)}});
  }
  finish_report();
  outputs.commit();
  return 0;
}

int run_report(const MapArguments& arguments) {
  const LoadedMap loaded = load(arguments);
  const Stopwatch time;
  const auto rates = of_file(arguments.path, [&] { return codec_report(loaded.map, arguments.tile); });
  const double seconds = time.seconds();
  if (arguments.json) {
    Json json{{"command", "codec-report"}};
    add_to(json, loaded, arguments);
    for (const CodecRate& rate : rates) json["bits_per_value"][std::string(rate.name)] = rate.bits;
    json["seconds"] = seconds;
    print_json(json);
  } else {
    auto facts = facts_of(loaded, arguments);
    facts.emplace_back("time", time_text(seconds, loaded.map.values.size()));
    print_facts(facts);
    std::puts("");
    std::vector<std::vector<std::string>> rows;
    for (const CodecRate& rate : rates)
      rows.push_back({std::string(rate.name), number(rate.bits), std::string(rate.what)});
    print_table({"code", "bits per value", "what"}, rows);
  }
  finish_report();
  return 0;
}

}  // namespace

void add_compress(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<CompressArguments>();
  CLI::App& command = *app.add_subcommand("compress", "Compress a feature map: canonical Huffman codes in tiles");
  arguments->add_to(command);
  command.add_flag("--no-zero-runs", arguments->no_zero_runs, "No symbols for runs of zeros, also where they help");
  command.add_option("--out", arguments->out, "Write the compressed map")
      ->required()
      ->type_name("MAP.ngfm")
      ->check(named);
  command.footer(
      std::string(about_maps) +
      "\n"
      "The file has one static Huffman code for the map, raw blocks where that is shorter, an index of tiles, each of\n"
      "which can be read alone, and checksums; docs/codec.md has every byte of it. Runs of zeros get symbols of their "
      "own\n"
      "where that makes the file smaller.\n"
      "\n"
      "Reported: SQNR = 10 log10(sum X^2 / sum (Q - X)^2), infinite without loss; storage with head, table, index and\n"
      "checksums.\n"
      "\n"
      "Examples:\n"
      "  narrowgauge compress MAP.npy --out map.ngfm\n"
      "  narrowgauge compress MAP.npy --out map.ngfm --bits 4 --tile 1024\n"
      "  narrowgauge compress MAP.npy --out map.ngfm --no-zero-runs --json");
  command.callback([arguments, &exit_code] { exit_code = run_compress(*arguments); });
}

void add_decompress(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<DecompressArguments>();
  CLI::App& command = *app.add_subcommand("decompress", "A compressed feature map as an array again");
  command.add_option("FILE", arguments->file, "Compressed map, .ngfm")->required()->type_name("")->check(named);
  command.add_option("--out", arguments->out, "Write the map")->required()->type_name("MAP.npy")->check(named);
  command.add_flag("--json", arguments->json, "Print one JSON document and nothing else on stdout");
  command.footer(
      "FILE is what `narrowgauge compress` or, in Python, narrowgauge.compress() made. MAP.npy is the uint8 or int8 "
      "array\n"
      "that was compressed, bit for bit, or, of one that was quantized, codes x step in float32. A file that is cut "
      "or\n"
      "damaged is refused: head and tiles have checksums.\n"
      "\n"
      "Example:\n"
      "  narrowgauge decompress map.ngfm --out MAP.npy");
  command.callback([arguments, &exit_code] { exit_code = run_decompress(*arguments); });
}

void add_codec_report(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<MapArguments>();
  CLI::App& command =
      *app.add_subcommand("codec-report", "Bits per value of a feature map, here and in published codes");
  arguments->add_to(command);
  command.footer(
      std::string(about_maps) +
      "\n"
      "Reported, each in bits per value of the same codes:\n"
      "  raw          8\n"
      "  entropy      sum of -p log2 p over the shares p of the codes: the limit of what codes single values\n"
      "  zvc          zero-value compression (Rhu et al., 2018)\n"
      "  zero_rle     runs of zeros in 5 bits, other values in 9: the first stage of EBPC\n"
      "  ebpc         extended bit-plane compression (arXiv 1908.11645)\n"
      "  huffman      the file of `narrowgauge compress --no-zero-runs`\n"
      "  narrowgauge  the file of `narrowgauge compress`\n"
      "Both files count with head, table, index and checksums; the published codes have none.\n"
      "\n"
      "Examples:\n"
      "  narrowgauge codec-report MAP.npy\n"
      "  narrowgauge codec-report MAP.npy --bits 4 --tile 65536 --json");
  command.callback([arguments, &exit_code] { exit_code = run_report(*arguments); });
}

}  // namespace narrowgauge::cli
