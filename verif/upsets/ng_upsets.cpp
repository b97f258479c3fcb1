// SPDX-License-Identifier: Apache-2.0
// ng_upsets: flips single bits of the Verilated tile while it multiplies, and counts what comes of it, block by block.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "campaign.hpp"

namespace {

using namespace narrowgauge::upsets;

nlohmann::ordered_json json_of(const Share& share) { return {share.share, share.low, share.high}; }

nlohmann::ordered_json json_of(const Report& report, const CampaignOptions& options) {
  nlohmann::ordered_json json = {{"tile", NG_UPSETS_TILE},
                                 {"seed", options.seed},
                                 {"cycles", report.window.end - report.window.begin},
                                 {"bits", report.bits}};
  std::uint64_t flips = 0, stuck = 0;
  for (const Block& block : report.blocks) {
    nlohmann::ordered_json row = {{"block", block.name}, {"bits", block.bits}, {"flips", block.flips()}};
    for (std::size_t i = 0; i < outcomes; ++i) row[outcome_key[i]] = block.count[i];
    for (std::size_t i = 0; i < outcomes; ++i)
      row["shares"][outcome_key[i]] = json_of(share(block.count[i], block.flips()));
    row["later"] = block.later;
    row["not_recovered"] = block.stuck;
    json["blocks"].push_back(row);
    flips += block.flips(), stuck += block.stuck;
  }
  json["flips"] = flips;
  for (std::size_t i = 0; i < outcomes; ++i)
    json["shares"][outcome_key[i]] = json_of(weighted(report, static_cast<Outcome>(i)));
  json["not_recovered"] = stuck;
  json["errors"] = report.errors;
  return json;
}

std::string percent(const Share& share) {
  char text[64];
  std::snprintf(text, sizeof text, "%5.1f (%.1f-%.1f)", 100 * share.share, 100 * share.low, 100 * share.high);
  return text;
}

void print(const Report& report, const CampaignOptions& options) {
  std::printf("tile %s, seed %llu, %llu bits, one flip a run in one of %llu cycles; %% of flips (95 %% interval)\n\n",
              NG_UPSETS_TILE, static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(report.bits),
              static_cast<unsigned long long>(report.window.end - report.window.begin));
  std::printf("%-18s %6s %6s  %-18s %-18s %-18s %-18s\n", "block", "bits", "flips", "no effect", "silent wrong",
              "error", "hang");
  std::uint64_t flips = 0;
  for (const Block& block : report.blocks) {
    std::printf("%-18s %6llu %6llu ", block.name.c_str(), static_cast<unsigned long long>(block.bits),
                static_cast<unsigned long long>(block.flips()));
    for (std::size_t i = 0; i < outcomes; ++i)
      std::printf(" %-18s", percent(share(block.count[i], block.flips())).c_str());
    std::printf("\n");
    flips += block.flips();
  }
  std::printf("%-18s %6llu %6llu ", "all, by bits", static_cast<unsigned long long>(report.bits),
              static_cast<unsigned long long>(flips));
  for (std::size_t i = 0; i < outcomes; ++i)
    std::printf(" %-18s", percent(weighted(report, static_cast<Outcome>(i))).c_str());
  std::printf("\n\n");
  for (const auto& [text, count] : report.errors)
    std::printf("%6llu  %s\n", static_cast<unsigned long long>(count), text.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  CampaignOptions options;
  bool as_json = false, quiet = false;
  CLI::App app{
      "Flips one bit of the Verilated tile in each of many runs, while it multiplies through the C driver, and counts\n"
      "runs by what comes of it: no effect, silent wrong results, an error that the driver reports, or a hang.\n"
      "docs/upsets.md says how to read the table."};
  app.add_option("--flips", options.flips, "runs, spread evenly over the blocks")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "of flips and operands; the same seed gives the same table")
      ->capture_default_str();
  app.add_option("--threads", options.threads, "0: one a core")->capture_default_str();
  app.add_flag("--json", as_json, "the table as JSON");
  app.add_flag("--quiet", quiet, "no progress");
  app.footer("Example: ng_upsets --flips 1000 --seed 7");
  CLI11_PARSE(app, argc, argv);
  try {
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const Report report = campaign(options, [&](std::uint64_t done) {
      if (!quiet && done % 500 == 0)
        std::fprintf(stderr, "%llu flips, %.0f a second\n", static_cast<unsigned long long>(done),
                     static_cast<double>(done) / seconds());
    });
    if (as_json)
      std::cout << json_of(report, options).dump(1) << '\n';
    else
      print(report, options);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "ng_upsets: " << error.what() << '\n';
    return 2;
  }
}
