// SPDX-License-Identifier: Apache-2.0
// Stimuli of the unsigned split: sign and magnitude, order of the schedules, and how long ng_pann_mac's elements stay.
#include <gtest/gtest.h>

#include <map>
#include <sstream>
#include <vector>

#include "narrowgauge/error.hpp"
#include "narrowgauge/power/stimulus.hpp"

namespace narrowgauge::power {
namespace {

using nlohmann::json;

json unit(const char* schedule, double additions) {
  json mac = {{"format", "integer"}, {"a_width", 4},         {"b_width", 4},
              {"a_signed", false},   {"b_signed", true},     {"lanes", 1},
              {"acc_width", 32},     {"schedule", schedule}, {"structure", "array"}};
  if (additions > 0) {
    mac["structure"] = "none";
    mac["additions"] = additions;
  }
  return {{"name", "unit"},
          {"mac", mac},
          {"inputs",
           {{"first_i", {{"sequence", "first"}}},
            {"last_i", {{"sequence", "last"}}},
            {"x_i", {{"operand", "a"}}},
            {"w_i", {{"operand", "b"}, {"part", "magnitude"}}},
            {"negative_i", {{"operand", "b"}, {"part", "negative"}}}}}};
}

struct Line {
  bool first, last, negative;
  unsigned x, w;
  bool operator==(const Line&) const = default;
};

std::vector<Line> lines(const json& unit, const std::string& stimulus) {
  StimulusOptions options;
  options.stimulus = stimulus;
  options.cycles = 4096;
  std::istringstream text(make_stimulus(unit, options));
  std::string line, word;
  std::getline(text, line);
  const json header = json::parse(line);
  std::vector<Line> result;
  while (std::getline(text, line)) {
    std::istringstream words(line);
    std::map<std::string, unsigned> value;
    for (const json& port : header.at("ports")) {
      words >> word;
      value[port.at("name")] = static_cast<unsigned>(std::stoul(word, nullptr, 16));
    }
    result.push_back(
        {value["first_i"] != 0, value["last_i"] != 0, value["negative_i"] != 0, value["x_i"], value["w_i"]});
  }
  return result;
}

TEST(ScheduleStimulus, OrdersWeightsBySign) {
  for (const char* schedule : {"sorted", "dual", "muxed"})
    for (const char* stimulus : {"uniform", "half_normal"}) {
      const auto seen = lines(unit(schedule, 0), stimulus);
      ASSERT_EQ(seen.size(), 4096U);
      int changes = 0, negatives = 0;
      for (std::size_t i = 0; i < seen.size(); ++i) {
        EXPECT_EQ(seen[i].first, i % 256 == 0);
        EXPECT_EQ(seen[i].last, i % 256 == 255);
        EXPECT_LE(seen[i].w, 15U);
        EXPECT_FALSE(seen[i].w == 0 && seen[i].negative);
        negatives += seen[i].negative;
        if (!seen[i].first) changes += seen[i].negative != seen[i - 1].negative;
      }
      EXPECT_NEAR(negatives / 4096.0, stimulus == std::string("uniform") ? 15.0 / 31 : 0.46, 0.05);
      if (schedule == std::string("sorted")) {
        EXPECT_EQ(changes, 16) << "once an output";
      } else {
        EXPECT_GT(changes, 1000);
      }
    }
}

TEST(ScheduleStimulus, HoldsAnElementForTheAdditionsBeforeIt) {
  const auto seen = lines(unit("sorted", 2.25), "uniform");
  // An element is there until the one before has been added; equal neighbours cannot be told apart, so runs of them
  // are.
  std::size_t i = 0, expected = 1, runs = 0, additions = 0;
  while (i < seen.size()) {
    EXPECT_GT(seen[i].w, 0U) << "zero weights are left out";
    std::size_t length = 0;
    while (i + length < seen.size() && seen[i + length] == seen[i]) ++length;
    if (i + length == seen.size()) break;
    // A run is one element, or equal ones, each after the first for w cycles.
    const std::size_t hold = std::max<std::size_t>(expected, 1);
    ASSERT_GE(length, hold) << "cycle " << i;
    ASSERT_EQ((length - hold) % seen[i].w, 0U) << "cycle " << i;
    EXPECT_EQ(seen[i].first, i == 0 || seen[i - 1].last);
    // Beside the result of the output before, no element is taken.
    expected = seen[i].first && i > 0 && seen[i].w == 1 ? 2 : seen[i].w;
    additions += (length - hold) / seen[i].w * seen[i].w + seen[i].w;
    i += length;
    ++runs;
  }
  EXPECT_GT(runs, 500U);
  EXPECT_NEAR(static_cast<double>(additions) / static_cast<double>(i), 1, 0.02);  // an addition a cycle
}

TEST(ScheduleStimulus, RefusesWhatItCannotOrder) {
  const auto text_of = [](const json& what) -> std::string {
    try {
      make_stimulus(what, {});
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  json plain = unit("sorted", 0);
  plain["mac"]["schedule"] = "plain";
  EXPECT_NE(text_of(plain).find("schedule other than plain"), std::string::npos) << text_of(plain);
  json narrow = unit("sorted", 12);
  EXPECT_NE(text_of(narrow).find("b_width is 4"), std::string::npos) << text_of(narrow);
}

}  // namespace
}  // namespace narrowgauge::power
