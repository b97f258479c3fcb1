// SPDX-License-Identifier: Apache-2.0
// Compressed feature maps: compress, decompress, codec-report.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "narrowgauge/codec/exponents.hpp"
#include "narrowgauge/codec/feature_map.hpp"
#include "narrowgauge/codec/report.hpp"
#include "narrowgauge/codec/tile_stream.hpp"
#include "narrowgauge/codec/transform.hpp"
#include "narrowgauge/format/round_pack.hpp"
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
                array.dtype + ", which is coded without loss; expected no --bits, or array.astype(numpy.float32)");
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

constexpr std::array<Choice<Basis>, 2> bases{{{"klt", Basis::klt}, {"identity", Basis::identity}}};

struct CompressArguments : MapArguments {
  bool no_zero_runs = false;
  std::string out;
  std::string transform;  ///< empty: none
  std::size_t axis = 1, group = 0, tables = TransformFileOptions().tables;
  bool no_relu = false, exponents = false;
  std::string calibration;
};

struct TransformInput {
  io::Array array;
  std::vector<float> x;
  std::vector<std::uint64_t> shape;
};

TransformInput load_real(const std::string& path) {
  TransformInput input{io::read_array(path), {}, {}};
  input.x = io::to_float32(input.array);
  input.shape.assign(input.array.shape.begin(), input.array.shape.end());
  return input;
}

/// Writes the file of a map that is no FeatureMap, and reports it.
void write_file(Json json, const std::string& what, const io::Array& array, const CompressArguments& arguments,
                io::OutputFile& out, const std::vector<std::uint8_t>& file, double sqnr, double seconds) {
  out.write({reinterpret_cast<const char*>(file.data()), file.size()});
  out.close();
  const std::size_t values = array.values.size(), bytes = file.size();
  const double bits = bits_per_value(bytes, values);
  if (arguments.json) {
    json.update({{"bytes", bytes},
                 {"bits_per_value", bits},
                 {"sqnr_db", json_number(sqnr)},
                 {"seconds", seconds},
                 {"out_path", io::utf8(arguments.out)}});
    print_json(json);
    return;
  }
  print_facts({{"map", shape_text(array.shape) + " " + array.dtype + "  (" + io::shown(array.path) + ")"},
               {"codes", what},
               {"SQNR", sqnr_text(sqnr)},
               {"file", counted(bytes, "byte")},
               {"storage", number(bits) + " bits per value"},
               {"time", time_text(seconds, values)},
               {"written", io::shown(arguments.out)}});
}

/// The file of a map's components.
void compress_components(const CompressArguments& arguments, io::OutputFile& out) {
  const TransformInput map = load_real(arguments.path);
  TransformOptions options{.basis = choose("--transform", arguments.transform, bases),
                           .axis = arguments.axis,
                           .group = arguments.group,
                           .bits = arguments.bits,
                           .relu = !arguments.no_relu};
  const Stopwatch time;
  const std::string& path = arguments.calibration.empty() ? arguments.path : arguments.calibration;
  const TransformInput other = arguments.calibration.empty() ? TransformInput() : load_real(path);
  const TransformInput& data = arguments.calibration.empty() ? map : other;
  const Transform t = of_file(path, [&] { return calibrate_transform(data.x, data.shape, options); });
  const auto file = of_file(arguments.path, [&] {
    return compress_transformed(map.x, map.shape, t, {arguments.tables, arguments.tile, !arguments.no_zero_runs});
  });
  const double seconds = time.seconds();
  const TransformedHead head = read_transformed_head(file);
  const std::vector<float> coded = decompress_transformed(file, head);
  std::vector<double> wanted(map.x.begin(), map.x.end());
  if (t.relu)
    for (double& value : wanted) value = std::max(value, 0.0);
  const double sqnr = sqnr_db(wanted, std::vector<double>(coded.begin(), coded.end()));
  write_file(Json{{"command", "compress"},
                  {"map", {{"path", io::utf8(arguments.path)}, {"dtype", map.array.dtype}, {"shape", map.array.shape}}},
                  {"values", map.x.size()},
                  {"transform", arguments.transform},
                  {"axis", t.axis},
                  {"group", t.group},
                  {"relu", t.relu},
                  {"bits", t.bits},
                  {"step", t.step},
                  {"output_step", t.output_step},
                  {"error_bound", error_bound(t)},
                  {"tile", arguments.tile},
                  {"tables", head.parts.size()}},
             "components in " + counted(t.channels / t.group, "group") + " of " + counted(t.group, "channel") + " (" +
                 arguments.transform + "), step " + number(t.step) + ", " + counted(head.parts.size(), "table") +
                 (t.relu ? ", ReLU behind the inverse" : ""),
             map.array, arguments, out, file, sqnr, seconds);
}

/// The file of a tensor of floating-point codes, without loss.
void compress_floats(const CompressArguments& arguments, io::OutputFile& out) {
  const io::Array array = io::read_array(arguments.path);
  const bool wide = array.dtype == "bfloat16";
  if (!wide && array.dtype != "float8_e5m2") {
    throw Error("--exponents, but " + io::shown(array.path) + " holds " + array.dtype +
                "; expected bfloat16 or float8_e5m2 (in Python narrowgauge.compress takes float8_e4m3fn, too)");
  }
  const Format format = find_format(wide ? "bf16" : "e5m2");
  FloatCodes tensor{desc(format).name, {array.shape.begin(), array.shape.end()}, {}};
  for (const float value : io::to_float32(array))
    tensor.codes.push_back(static_cast<std::uint16_t>(encode(format, value)));
  const Stopwatch time;
  const auto file = of_file(arguments.path, [&] {
    return compress_exponents(tensor, {arguments.tile, !arguments.no_zero_runs});
  });
  write_file(Json{{"command", "compress"},
                  {"map", {{"path", io::utf8(arguments.path)}, {"dtype", array.dtype}, {"shape", array.shape}}},
                  {"values", array.values.size()},
                  {"exponents", true},
                  {"tile", arguments.tile}},
             std::string(tensor.format) + " without loss, exponents by themselves", array, arguments, out, file,
             std::numeric_limits<double>::infinity(), time.seconds());
}

int run_compress(const CompressArguments& arguments) {
  io::Outputs outputs;
  outputs.input(arguments.path);
  if (!arguments.calibration.empty()) outputs.input(arguments.calibration);
  io::OutputFile& out = outputs.add("--out", arguments.out);
  if (!arguments.transform.empty() || arguments.exponents) {
    if (arguments.exponents && arguments.bits_option->count() > 0)
      throw Error("--bits was given with --exponents, which is without loss; expected one of them");
    (arguments.exponents ? compress_floats : compress_components)(arguments, out);
    finish_report();
    outputs.commit();
    return 0;
  }
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

/// A map of components or a tensor of floating-point codes, as float32.
void decompress_numbers(const DecompressArguments& arguments, std::span<const std::uint8_t> file, io::OutputFile& out) {
  const Stopwatch time;
  Json json{{"command", "decompress"}, {"file", {{"path", io::utf8(arguments.file)}, {"bytes", file.size()}}}};
  std::vector<float> x;
  std::vector<std::size_t> shape;
  std::string what;
  if (is_transformed(file)) {
    const TransformedHead head = of_file(arguments.file, [&] { return read_transformed_head(file); });
    io::check_memory(static_cast<double>(head.values) * (2 + sizeof(float)),
                     io::shown(arguments.file) + " (" + shape_text(head.shape) + " float32)");
    x = of_file(arguments.file, [&] { return decompress_transformed(file, head); });
    shape.assign(head.shape.begin(), head.shape.end());
    json.update({{"axis", head.axis},
                 {"group", head.group},
                 {"relu", head.relu},
                 {"step", head.step},
                 {"output_step", head.output_step},
                 {"tables", head.parts.size()}});
    what = "components of " + counted(head.group, "channel") + ", step " + number(head.step);
  } else {
    const FloatCodes tensor = of_file(arguments.file, [&] { return decompress_exponents(file); });
    const Format format = find_format(tensor.format);
    for (const std::uint16_t code : tensor.codes) x.push_back(static_cast<float>(decode(format, code)));
    shape.assign(tensor.shape.begin(), tensor.shape.end());
    json["format"] = tensor.format;
    what = std::string(tensor.format) + " without loss";
  }
  io::write_npy(out, x, shape);
  const double seconds = time.seconds(), bits = bits_per_value(file.size(), x.size());
  out.close();
  if (arguments.json) {
    json.update({{"dtype", "float32"},
                 {"shape", shape},
                 {"values", x.size()},
                 {"bits_per_value", bits},
                 {"seconds", seconds},
                 {"out_path", io::utf8(arguments.out)}});
    print_json(json);
    return;
  }
  print_facts({{"file", counted(file.size(), "byte") + "  (" + io::shown(arguments.file) + ")"},
               {"map", shape_text(shape) + " float32, " + what},
               {"storage", number(bits) + " bits per value"},
               {"time", time_text(seconds, x.size())},
               {"written", io::shown(arguments.out)}});
}

int run_decompress(const DecompressArguments& arguments) {
  io::Outputs outputs;
  outputs.input(arguments.file);
  io::OutputFile& out = outputs.add("--out", arguments.out);
  // A pipe's bytes have to be there several times while they arrive.
  static constexpr std::array<std::string_view, 3> magics{"NGFM", "NGFT", "NGFE"};
  const std::string bytes = io::read_bytes(arguments.file, "a compressed feature map", io::memory_bytes() / 4, magics);
  const std::span file(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  if (is_transformed(file) || is_of_exponents(file)) {
    decompress_numbers(arguments, file, out);
    finish_report();
    outputs.commit();
    return 0;
  }
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

struct ReportArguments : MapArguments {
  std::size_t axis = 1, group = 0;
  const CLI::Option* axis_option = nullptr;
};

int run_report(const ReportArguments& arguments) {
  LoadedMap loaded{};
  std::vector<float> x;  // before ReLU
  if (arguments.axis_option->count() > 0) {
    TransformInput input = load_real(arguments.path);
    x = input.x;
    for (float& value : input.x) value = std::max(value, 0.0F);
    loaded.array = std::move(input.array);
    loaded.map = of_file(arguments.path, [&] { return quantize_map(input.x, input.shape, arguments.bits); });
  } else {
    loaded = load(arguments);
  }
  const Stopwatch time;
  const auto made = of_file(arguments.path, [&] { return codec_report(loaded.map, arguments.tile); });
  std::vector<CodecRate> rates(made.begin(), made.end());
  double mse = 0;
  if (!x.empty()) {
    mse = map_error(x, dequantize_map(loaded.map), true);
    if (mse == 0) throw Error(io::shown(arguments.path) + " has no error behind ReLU; expected one to compare at");
    const TransformOptions options{.axis = arguments.axis, .group = arguments.group};
    const auto more =
        of_file(arguments.path, [&] { return transform_report(x, loaded.map.shape, mse, options, arguments.tile); });
    rates.insert(rates.end(), more.begin(), more.end());
  }
  const double seconds = time.seconds();
  if (arguments.json) {
    Json json{{"command", "codec-report"}};
    add_to(json, loaded, arguments);
    if (!x.empty()) json["mse"] = mse;
    for (const CodecRate& rate : rates)
      json["bits_per_value"][std::string(rate.name)] = std::isnan(rate.bits) ? Json() : Json(rate.bits);
    json["seconds"] = seconds;
    print_json(json);
  } else {
    auto facts = facts_of(loaded, arguments);
    if (!x.empty()) facts.emplace_back("mean squared error", number(mse) + " behind ReLU, in all rows");
    facts.emplace_back("time", time_text(seconds, loaded.map.values.size()));
    print_facts(facts);
    std::puts("");
    std::vector<std::vector<std::string>> rows;
    rows.reserve(rates.size());
    for (const CodecRate& rate : rates)
      rows.push_back({std::string(rate.name), std::isnan(rate.bits) ? "-" : number(rate.bits), std::string(rate.what)});
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
  CLI::Option* transform =
      command.add_option("--transform", arguments->transform, "MAP is before ReLU: code components of its channels")
          ->type_name(names_of(bases, "|"))
          ->check(named);
  add_number<std::size_t>(command, "--axis", arguments->axis, 0, most_dimensions - 1, "The dimension of channels")
      ->needs(transform);
  add_number<std::size_t>(command, "--group", arguments->group, 0, largest_group,
                          "Channels that are transformed together; 0: as many as divide them, up to 64")
      ->needs(transform);
  add_number<std::size_t>(command, "--tables", arguments->tables, 1, most_tables, "Most codes of a map's components")
      ->needs(transform);
  command.add_flag("--no-relu", arguments->no_relu, "No ReLU behind the inverse transform")->needs(transform);
  command.add_option("--calibration", arguments->calibration, "Find components and step on this map instead of MAP")
      ->needs(transform)
      ->type_name("CAL.npy")
      ->check(named);
  command
      .add_flag("--exponents", arguments->exponents, "MAP is bfloat16 or float8_e5m2: without loss, exponents apart")
      ->excludes(transform);
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
      "--transform codes a map before ReLU: klt turns its channels into their principal components, identity leaves "
      "them;\n"
      "one step for all components, --bits bits of the largest, the integer inverse and ReLU are in the file.\n"
      "\n"
      "Reported: SQNR = 10 log10(sum X^2 / sum (Q - X)^2), infinite without loss, behind ReLU with --transform; "
      "storage\n"
      "with head, tables, transform, index and checksums.\n"
      "\n"
      "Examples:\n"
      "  narrowgauge compress MAP.npy --out map.ngfm\n"
      "  narrowgauge compress MAP.npy --out map.ngfm --bits 4 --tile 1024\n"
      "  narrowgauge compress MAP.npy --out map.ngfm --no-zero-runs --json\n"
      "  narrowgauge compress MAP.npy --out map.ngft --transform klt --axis 1 --calibration CAL.npy");
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
      "that was compressed, bit for bit, or, of one that was quantized or of exponents, numbers in float32. A file "
      "that is cut "
      "or\n"
      "damaged is refused: head and tiles have checksums.\n"
      "\n"
      "Example:\n"
      "  narrowgauge decompress map.ngfm --out MAP.npy");
  command.callback([arguments, &exit_code] { exit_code = run_decompress(*arguments); });
}

void add_codec_report(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ReportArguments>();
  CLI::App& command =
      *app.add_subcommand("codec-report", "Bits per value of a feature map, here and in published codes");
  arguments->add_to(command);
  CLI::Option* axis = add_number<std::size_t>(command, "--axis", arguments->axis, 0, most_dimensions - 1,
                                              "MAP is before ReLU, with its channels along this dimension");
  arguments->axis_option = axis;
  add_number<std::size_t>(command, "--group", arguments->group, 0, largest_group,
                          "Channels that are transformed together; 0: as many as divide them, up to 64")
      ->needs(axis);
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
      "With --axis these are of MAP behind ReLU, and there are, at the same mean squared error behind ReLU:\n"
      "  huffman_pre_relu  the file of `narrowgauge compress --transform identity --tables 1 --no-zero-runs`\n"
      "  pca_huffman       the same with `--transform klt`\n"
      "  transform         the same with 8 tables and runs of zeros\n"
      "or none, where 8 bits of the largest component are too few for that error.\n"
      "Files count with all that is in them; the published codes have no heads.\n"
      "\n"
      "Examples:\n"
      "  narrowgauge codec-report MAP.npy\n"
      "  narrowgauge codec-report MAP.npy --bits 4 --tile 65536 --json\n"
      "  narrowgauge codec-report MAP.npy --bits 5 --axis 1");
  command.callback([arguments, &exit_code] { exit_code = run_report(*arguments); });
}

}  // namespace narrowgauge::cli
