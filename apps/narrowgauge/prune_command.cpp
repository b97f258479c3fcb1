// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <numeric>

#include "commands.hpp"
#include "narrowgauge/io/npy.hpp"
#include "narrowgauge/io/output.hpp"
#include "narrowgauge/io/text.hpp"
#include "narrowgauge/sparse/prune.hpp"
#include "report.hpp"

namespace narrowgauge::cli {
namespace {

constexpr std::array<Choice<Pruning>, 3> methods{
    {{"greedy", Pruning::greedy}, {"mvue", Pruning::mvue}, {"approx-mvue", Pruning::approximate_mvue}}};

struct PruneArguments {
  std::string w;
  std::string mask = "2:4";
  std::string method = "greedy";
  std::uint64_t seed = 0;
  int random_bits = 16;
  std::string out, out_mask, out_prefix;
  bool json = false;
};

/// Sum of magnitudes that stay over the sum of all; 1 of a zero matrix.
double kept_magnitude(const std::vector<float>& w, const std::vector<std::uint8_t>& mask) {
  double kept = 0, all = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double magnitude = std::abs(static_cast<double>(w[i]));
    all += magnitude;
    kept += mask[i] != 0 ? magnitude : 0;
  }
  return all == 0 ? 1 : kept / all;
}

int run(const PruneArguments& arguments) {
  const NmPattern pattern = NmPattern::of(arguments.mask);
  const Pruning method = choose("--method", arguments.method, methods);
  const bool random = method != Pruning::greedy;
  if (!arguments.out_prefix.empty() && !pattern.compressible())
    throw Error("--out-prefix stores compressed values with metadata, which " + pattern.name() +
                " has none of; expected --mask 1:2, 2:4, 2:4-T or 4:8pair, or use --out and --out-mask");
  io::Outputs outputs;
  outputs.input(arguments.w);
  const auto add = [&](const char* option, const std::string& path) {
    return path.empty() ? nullptr : &outputs.add(option, path);
  };
  const std::string& prefix = arguments.out_prefix;
  if (!prefix.empty()) outputs.unit("--out-prefix", prefix, {".values.npy", ".metadata.npy"});
  const std::string values_path = prefix.empty() ? "" : prefix + ".values.npy";
  const std::string metadata_path = prefix.empty() ? "" : prefix + ".metadata.npy";
  io::OutputFile* const out = add("--out", arguments.out);
  io::OutputFile* const out_mask = add("--out-mask", arguments.out_mask);
  io::OutputFile* const values = add("--out-prefix", values_path);
  io::OutputFile* const metadata = add("--out-prefix", metadata_path);

  const io::Matrix matrix = io::read_matrix(arguments.w);
  const std::vector<float> w = io::to_float32(matrix);
  const Stopwatch time;
  const PrunedMatrix pruned = prune(w, matrix.rows, matrix.cols, pattern,
                                    {.method = method, .seed = arguments.seed, .random_bits = arguments.random_bits});
  const double seconds = time.seconds();
  const double error = relative_error(w, pruned.values);
  const double expected = expected_error(w, matrix.rows, matrix.cols, pattern, method);
  const double kept = kept_magnitude(w, pruned.mask);
  const auto stays = std::accumulate(pruned.mask.begin(), pruned.mask.end(), std::size_t{0});
  const double share = static_cast<double>(stays) / static_cast<double>(w.size());

  if (out) io::write_npy(*out, pruned.values, {matrix.rows, matrix.cols});
  if (out_mask) io::write_npy(*out_mask, pruned.mask, {matrix.rows, matrix.cols});
  if (values) {
    const auto stored = compress<float>(pruned.values, pruned.mask, matrix.rows, matrix.cols, pattern);
    io::write_npy(*values, stored.values, {stored.rows, stored.cols / 2});
    io::write_npy(*metadata, stored.metadata, {stored.rows, stored.metadata_bytes()});
  }
  for (io::OutputFile* file : {out, out_mask, values, metadata})
    if (file) file->close();

  if (arguments.json) {
    const auto path = [](const std::string& name) { return name.empty() ? Json() : Json(io::utf8(name)); };
    Json json{{"command", "prune"}, {"w", matrix_json(matrix)}, {"mask", pattern.name()}, {"method", arguments.method}};
    if (random) json["seed"] = arguments.seed;
    if (method == Pruning::mvue) json["random_bits"] = arguments.random_bits;
    json.update({{"kept", share},
                 {"kept_magnitude", kept},
                 {"relative_error", error},
                 {"expected_relative_error", expected},
                 {"seconds", seconds},
                 {"out_path", path(arguments.out)},
                 {"mask_path", path(arguments.out_mask)},
                 {"values_path", path(values_path)},
                 {"metadata_path", path(metadata_path)}});
    print_json(json);
  } else {
    std::vector<std::pair<std::string, std::string>> facts{
        {"W", matrix_text(matrix)},
        {"mask", pattern.name() + ", " + arguments.method +
                     (random ? ", seed " + std::to_string(arguments.seed) : std::string())},
        {"kept", number(100 * share) + " % of the elements, " + number(100 * kept) + " % of the magnitude"},
        {"error", number(error) + " of the energy" + (random ? ", expected " + number(expected) : "")},
        {"time", number(seconds) + " s"}};
    std::string written;
    for (const std::string& name : {arguments.out, arguments.out_mask, values_path, metadata_path})
      if (!name.empty()) written += (written.empty() ? "" : ", ") + name;
    if (!written.empty()) facts.emplace_back("written", io::shown(written));
    print_facts(facts);
  }
  finish_report();
  outputs.commit();
  return 0;
}

}  // namespace

void add_prune(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<PruneArguments>();
  CLI::App& command = *app.add_subcommand("prune", "Prune one matrix to N:M sparsity: error, mask, compressed storage");
  command.add_option("W", arguments->w, "Matrix, .npy")->required()->type_name("")->check(named);
  command.add_option("--mask", arguments->mask, "N:M, N:M-T (transposable) or 4:8pair")
      ->capture_default_str()
      ->type_name("P");
  command.add_option("--method", arguments->method, "What stays: the largest, or at random and unbiased")
      ->capture_default_str()
      ->type_name(names_of(methods, "|"));
  add_number<std::uint64_t>(command, "--seed", arguments->seed, std::uint64_t{0}, ~std::uint64_t{0},
                            "Of the random words of mvue and approx-mvue");
  add_number<int>(command, "--random-bits", arguments->random_bits, 1, 32, "Of a random word of mvue");
  command.add_option("--out", arguments->out, "Write the pruned matrix, float32")->type_name("P.npy")->check(named);
  command.add_option("--out-mask", arguments->out_mask, "Write the mask, uint8, 1 where an element stays")
      ->type_name("M.npy")
      ->check(named);
  command.add_option("--out-prefix", arguments->out_prefix, "Write C.values.npy and C.metadata.npy, compressed")
      ->type_name("C")
      ->check(named);
  command.add_flag("--json", arguments->json, "Print one JSON document and nothing else on stdout");
  command.footer(
      "W as for `narrowgauge gemm`: any real matrix, converted to float32 first; NaN and infinity are refused. Blocks "
      "lie\n"
      "along rows; columns (with -T also rows) have to be a multiple of M.\n"
      "\n"
      "Masks:\n"
      "  2:4, 1:2, N:M   of M neighbours N stay\n"
      "  2:4-T           two in every row and column of 4 x 4: the best of all 90 masks\n"
      "  4:8-T, N:M-T    at most N in every row and column of M x M, by the 2-approximation\n"
      "  4:8pair         of four pairs of neighbours two stay, as packed FP4 has it; sums are cut\n"
      "                  at 2^-57 of the power of two below the block's largest\n"
      "Methods: greedy keeps the largest magnitudes; mvue (1:2 and 2:4) and approx-mvue (2:4) keep some at random and\n"
      "scale them up, so that the expectation is W.\n"
      "\n"
      "Written with --out-prefix C (masks 1:2, 2:4, 2:4-T, 4:8pair):\n"
      "  C.values.npy    float32, rows x columns / 2: what stays\n"
      "  C.metadata.npy  uint8: a nibble a group, two a byte, the first in the low half\n"
      "\n"
      "Reported: share of elements and of magnitude that stays; squared error over energy, and for random methods its\n"
      "expectation over all random choices.\n"
      "\n"
      "Examples:\n"
      "  narrowgauge prune W.npy --mask 2:4 --out-prefix w24\n"
      "  narrowgauge prune W.npy --mask 2:4-T --out pruned.npy --out-mask mask.npy\n"
      "  narrowgauge prune G.npy --mask 2:4 --method mvue --seed 1 --json");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace narrowgauge::cli
