// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "narrowgauge/io/npy.hpp"
#include "narrowgauge/io/output.hpp"
#include "narrowgauge/io/text.hpp"
#include "narrowgauge/quant/hif4.hpp"
#include "narrowgauge/quant/if4.hpp"
#include "narrowgauge/quant/mixfp4.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

enum class BlockFormat : std::uint8_t { if4, mixfp4, hif4 };
constexpr std::array<Choice<BlockFormat>, 3> block_formats{
    {{"if4", BlockFormat::if4}, {"mixfp4", BlockFormat::mixfp4}, {"hif4", BlockFormat::hif4}}};
constexpr std::array<Choice<If4Choice>, 3> choices{
    {{"mse", If4Choice::mse}, {"mae", If4Choice::mae}, {"largest", If4Choice::largest}}};

struct BlocksArguments {
  std::string x;
  std::string format = "if4";
  std::string choice = "mse";
  std::string out_prefix;
  unsigned threads = 0;
  bool json = false;
};

/// What a format made of a matrix of whole blocks.
struct Quantized {
  std::vector<std::uint8_t> codes, scales, level2;  ///< level2 and level3 of HiFloat4
  std::vector<std::uint16_t> level3;
  std::optional<float> amax;           ///< of IF4 and MixFP4
  std::optional<std::size_t> flagged;  ///< their blocks that are not E2M1
  std::vector<float> values;           ///< as they are decoded
};

const char* flagged_elements(BlockFormat format) { return format == BlockFormat::if4 ? "INT4" : "E1M2"; }

Quantized quantized(BlockFormat format, const std::vector<float>& x, If4Choice choice, unsigned threads) {
  Quantized made;
  if (format != BlockFormat::hif4) {
    const bool if4 = format == BlockFormat::if4;
    FlaggedBlocks blocks = if4 ? if4_quantize(x, choice, threads) : mixfp4_quantize(x, threads);
    made.values = (if4 ? if4_dequantize : mixfp4_dequantize)(blocks.codes, blocks.scales, blocks.amax, threads);
    made.codes = std::move(blocks.codes);
    made.scales = std::move(blocks.scales);
    made.amax = blocks.amax;
    made.flagged = std::count_if(made.scales.begin(), made.scales.end(),
                                 [](std::uint8_t scale) { return (scale & block_flag) != 0; });
  } else {
    Hif4Blocks blocks = hif4_quantize(x, threads);
    made.values = hif4_dequantize(blocks.codes, blocks.scales, blocks.level2, blocks.level3, threads);
    made.codes = std::move(blocks.codes);
    made.scales = std::move(blocks.scales);
    made.level2 = std::move(blocks.level2);
    made.level3 = std::move(blocks.level3);
  }
  return made;
}

/// The files of a prefix, in this order.
std::vector<std::string> suffixes(BlockFormat format) {
  if (format != BlockFormat::hif4) return {".codes.npy", ".scales.npy", ".json"};
  return {".codes.npy", ".scales.npy", ".level2.npy", ".level3.npy", ".json"};
}

int run(const BlocksArguments& arguments, const CLI::App& command) {
  const BlockFormat format = choose("--format", arguments.format, block_formats);
  const If4Choice choice = choose("--choice", arguments.choice, choices);
  if (format != BlockFormat::if4 && command.count("--choice") > 0)
    throw Error("--choice is between the elements of IF4; expected --format if4");
  const std::string& prefix = arguments.out_prefix;
  io::Outputs outputs;
  outputs.input(arguments.x);
  std::vector<io::OutputFile*> files;
  std::string written;
  if (!prefix.empty()) {
    const std::vector<std::string> ends = suffixes(format);
    outputs.unit("--out-prefix", prefix, {ends.begin(), ends.end()});
    for (const std::string& end : ends) {
      files.push_back(&outputs.add("--out-prefix", prefix + end));
      written += (written.empty() ? "" : ", ") + prefix + end;
    }
  }

  const io::Matrix matrix = io::read_matrix(arguments.x);
  const std::vector<float> narrow = io::to_float32(matrix);
  const std::size_t block = format == BlockFormat::hif4 ? hif4_block : flagged_block;
  const std::size_t k = matrix.cols, blocks = (k + block - 1) / block, k_padded = blocks * block;
  std::vector<float> x(matrix.rows * k_padded);
  for (std::size_t row = 0; row < matrix.rows; ++row)
    std::copy_n(narrow.begin() + static_cast<std::ptrdiff_t>(row * k), k,
                x.begin() + static_cast<std::ptrdiff_t>(row * k_padded));
  const Stopwatch time;
  const Quantized made = quantized(format, x, choice, arguments.threads);
  const double seconds = time.seconds();

  const std::vector<double> original(x.begin(), x.end()), values(made.values.begin(), made.values.end());
  const double sqnr = sqnr_db(original, values), elements = static_cast<double>(matrix.rows * k);
  const auto bits = static_cast<double>(4 * made.codes.size() + 8 * (made.scales.size() + made.level2.size()) +
                                        16 * made.level3.size() + (made.amax ? 32 : 0));
  Json json{{"command", "quantize-blocks"},
            {"x", matrix_json(matrix)},
            {"format", arguments.format},
            {"block", block},
            {"choice", format == BlockFormat::if4 ? Json(arguments.choice) : Json()},
            {"k_padded", k_padded},
            {"amax", made.amax ? Json(*made.amax) : Json()},
            {"int4_blocks", format == BlockFormat::if4 ? Json(*made.flagged) : Json()},
            {"e1m2_blocks", format == BlockFormat::mixfp4 ? Json(*made.flagged) : Json()},
            {"sqnr_db", json_number(sqnr)},
            {"bits_per_element", bits / elements},
            {"seconds", seconds},
            {"written", prefix.empty() ? Json() : Json(io::utf8(written))}};
  if (!prefix.empty()) {
    const std::vector<std::size_t> each{matrix.rows, blocks};
    io::write_npy(*files[0], made.codes, {matrix.rows, k_padded});
    io::write_npy(*files[1], made.scales, each);
    if (format == BlockFormat::hif4) {
      io::write_npy(*files[2], made.level2, each);
      io::write_npy(*files[3], made.level3, each);
    }
    files.back()->write(json.dump(2) + "\n");
    for (io::OutputFile* file : files) file->close();
  }
  if (arguments.json) {
    print_json(json);
  } else {
    std::vector<std::pair<std::string, std::string>> facts{
        {"X", matrix_text(matrix)},
        {"format", arguments.format + ", blocks of " + std::to_string(block) +
                       (k_padded == k ? "" : ", rows padded to " + std::to_string(k_padded))}};
    if (made.flagged)
      facts.emplace_back(flagged_elements(format), std::to_string(*made.flagged) + " of " +
                                                       std::to_string(made.scales.size()) + " blocks, by " +
                                                       arguments.choice + "; the others are E2M1");
    facts.emplace_back("SQNR", sqnr_text(sqnr));
    facts.emplace_back("storage", number(bits / elements) + " bits per element, scales and padding included");
    facts.emplace_back("time", number(seconds) + " s");
    if (!prefix.empty()) facts.emplace_back("written", io::shown(written));
    print_facts(facts);
  }
  finish_report();
  outputs.commit();
  return 0;
}

}  // namespace

void add_quantize_blocks(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<BlocksArguments>();
  CLI::App& command =
      *app.add_subcommand("quantize-blocks", "Quantize one matrix to IF4, MixFP4 or HiFloat4, row by row");
  command.add_option("X", arguments->x, "Matrix, .npy")->required()->type_name("")->check(named);
  command
      .add_option("--format", arguments->format,
                  "Blocks of 16, E2M1 or INT4 (if4), E2M1 or E1M2 (mixfp4); HiFloat4 (hif4): blocks of 64")
      ->capture_default_str()
      ->type_name(names_of(block_formats, "|"));
  command.add_option("--choice", arguments->choice, "IF4: which error of a block decides between E2M1 and INT4")
      ->capture_default_str()
      ->type_name(names_of(choices, "|"));
  command.add_option("--out-prefix", arguments->out_prefix, "Write P.codes.npy, P.scales.npy and P.json")
      ->type_name("P")
      ->check(named);
  add_number(command, "--threads", arguments->threads, 0U, most_threads, "Threads; 0 is one per core");
  command.add_flag("--json", arguments->json, "Print one JSON document and nothing else on stdout");
  command.footer(
      "X as for `narrowgauge gemm`: any real matrix, converted to float32 first; NaN and infinity are refused.\n"
      "Rows are padded with zeros to whole blocks.\n"
      "\n"
      "Written with --out-prefix P:\n"
      "  P.codes.npy   uint8, a code of 4 bits a byte, rows x K\n"
      "  P.scales.npy  uint8, rows x blocks; E4M3, with bit 7 where codes are INT4 or E1M2; HiFloat4: E6M2\n"
      "  P.level2.npy, P.level3.npy  HiFloat4: uint8 and uint16, a bit for each 8 and 4 numbers\n"
      "  P.json        the report, with the largest magnitude, amax, of IF4 and MixFP4\n"
      "\n"
      "These formats have no products; `quantize` has those that do. docs/dialects.md says how they round.\n"
      "\n"
      "Examples:\n"
      "  narrowgauge quantize-blocks X.npy --format if4 --choice mae\n"
      "  narrowgauge quantize-blocks X.npy --format hif4 --out-prefix x_hif4");
  command.callback([arguments, &command, &exit_code] { exit_code = run(*arguments, command); });
}

}  // namespace narrowgauge::cli
