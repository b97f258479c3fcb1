// SPDX-License-Identifier: Apache-2.0
// ng_upsets: flips single bits of the Verilated tile while it multiplies, and counts what comes of it, block by block.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "campaign.hpp"
#include "narrowgauge/error.hpp"

namespace {

using namespace narrowgauge::upsets;

nlohmann::ordered_json json_of(const Share& share) { return {share.share, share.low, share.high}; }

/// The campaign of one seed: outcomes of each block in the order of `outcome_key`, then runs that did not recover.
nlohmann::ordered_json part_of(const Report& report, std::uint64_t seed) {
  nlohmann::ordered_json part = {{"seed", seed}};
  for (const Block& block : report.blocks) {
    nlohmann::ordered_json counts = block.count;
    counts.push_back(block.stuck);
    part["blocks"][block.name] = counts;
  }
  return part;
}

nlohmann::ordered_json json_of(const Report& report, std::size_t seeds) {
  nlohmann::ordered_json json = {{"tile", NG_UPSETS_TILE},
                                 {"seeds", seeds},
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

/// Reads what a run printed with --json. `parts` gets its campaigns.
Report read_report(const std::string& path, nlohmann::ordered_json& parts) {
  std::ifstream file(path);
  const auto json = nlohmann::ordered_json::parse(file, nullptr, false);
  if (json.is_discarded() || !json.contains("parts"))
    throw narrowgauge::Error("cannot read \"" + path + "\"; expected what ng_upsets --json printed");
  if (json.at("tile") != NG_UPSETS_TILE)
    throw narrowgauge::Error("\"" + path + "\" is of another tile; expected " NG_UPSETS_TILE);
  Report report;
  report.bits = json.at("bits");
  report.window.end = json.at("cycles");
  report.errors = json.at("errors");
  for (const auto& row : json.at("blocks")) {
    Block block{.name = row.at("block"), .bits = row.at("bits")};
    block.later = row.at("later");
    block.stuck = row.at("not_recovered");
    for (std::size_t i = 0; i < outcomes; ++i) block.count[i] = row.at(outcome_key[i]);
    report.blocks.push_back(std::move(block));
  }
  for (const auto& part : json.at("parts")) parts.push_back(part);
  return report;
}

std::string percent(const Share& share) {
  char text[64];
  std::snprintf(text, sizeof text, "%5.1f (%.1f-%.1f)", 100 * share.share, 100 * share.low, 100 * share.high);
  return text;
}

void print(const Report& report, std::size_t seeds) {
  std::printf("tile %s, seeds: %zu, %llu bits, one flip a run in one of %llu cycles; %% of flips (95 %% interval)\n\n",
              NG_UPSETS_TILE, seeds, static_cast<unsigned long long>(report.bits),
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
  unsigned seeds = 1;
  std::vector<std::string> add;
  bool as_json = false, quiet = false;
  CLI::App app{
      "Flips one bit of the Verilated tile in each of many runs, while it multiplies through the C driver, and counts\n"
      "runs by what comes of it: no effect, silent wrong results, an error that the driver reports, or a hang.\n"
      "docs/upsets.md says how to read the table."};
  app.add_option("--flips", options.flips, "runs of each seed, spread evenly over the blocks")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "of flips and operands; the same seed gives the same table")
      ->capture_default_str();
  app.add_option("--seeds", seeds, "campaigns, of this seed and those that follow it; the table is their sum")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--add", add, "files that a run with --json printed: their campaigns count in the table, too")
      ->check(CLI::ExistingFile);
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
    std::uint64_t before = 0;  // flips of other seeds
    const auto progress = [&](std::uint64_t done) {
      if (!quiet && done % 500 == 0)
        std::fprintf(stderr, "%llu flips, %.0f a second\n", static_cast<unsigned long long>(before + done),
                     static_cast<double>(before + done) / seconds());
    };
    std::optional<Report> report;
    auto parts = nlohmann::ordered_json::array();
    const auto count = [&](const Report& part) {
      if (report)
        *report += part;
      else
        report = part;
    };
    for (const std::string& path : add) count(read_report(path, parts));
    for (unsigned i = 0; i < seeds; ++i) {
      CampaignOptions one = options;
      one.seed += i;
      const Report part = campaign(one, progress);
      parts.push_back(part_of(part, one.seed));
      for (const Block& block : part.blocks) before += block.flips();
      count(part);
    }
    if (!report) throw narrowgauge::Error("nothing is counted; expected a seed or --add FILE");
    std::set<nlohmann::ordered_json> known;
    for (const auto& part : parts)
      if (!known.insert(part.at("seed")).second)
        throw narrowgauge::Error("seed " + part.at("seed").dump() + " is counted twice; expected other seeds");
    if (as_json) {
      nlohmann::ordered_json json = json_of(*report, parts.size());
      json["parts"] = std::move(parts);
      std::cout << json.dump(1) << '\n';
    } else {
      print(*report, parts.size());
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "ng_upsets: " << error.what() << '\n';
    return 2;
  }
}
