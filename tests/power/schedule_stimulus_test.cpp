// SPDX-License-Identifier: Apache-2.0
// Stimuli of units that do not take a pair in every cycle in the matrix product's order: the unsigned split's sign and
// magnitude, order of the schedules, and how long ng_pann_mac's elements stay; pairs that are held.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <vector>

#include "features/stimulus.hpp"
#include "narrowgauge/error.hpp"

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

TEST(ScheduleStimulus, HoldsAPairForAsManyCyclesAsTheEntrySays) {
  // A serial multiplier takes the first pair at once, then one every b_width cycles: the same pairs as a unit without
  // hold, each for as long.
  json serial = {
      {"name", "unit"},
      {"mac", {{"format", "integer"}, {"a_width", 4}, {"b_width", 4}, {"structure", "serial"}, {"accumulator", false}}},
      {"inputs", {{"x_i", {{"operand", "a"}, {"hold", 4U}}}, {"w_i", {{"operand", "b"}, {"hold", 4U}}}}}};
  const auto held = lines(serial, "uniform");
  for (auto& input : serial["inputs"]) input.erase("hold");
  const auto plain = lines(serial, "uniform");
  ASSERT_EQ(held.size(), 4096U);
  for (std::size_t i = 0; i < held.size(); ++i) EXPECT_EQ(held[i], plain[(i + 3) / 4]) << i;
  // With a delay too, held from there on.
  serial["inputs"]["x_i"] = {{"operand", "a"}, {"hold", 4U}, {"delay", 3U}};
  const auto delayed = lines(serial, "uniform");
  for (std::size_t i = 3; i < held.size(); ++i) EXPECT_EQ(delayed[i].x, held[i - 3].x) << i;
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
  json never = unit("sorted", 0);
  never["inputs"]["x_i"]["hold"] = 0U;
  EXPECT_NE(text_of(never).find("input x_i: 'hold' is 0"), std::string::npos) << text_of(never);
}

/// The values of the only port of a unit that is no multiply-accumulate.
std::vector<std::uint64_t> drawn(const json& input, const std::string& stimulus) {
  StimulusOptions options;
  options.stimulus = stimulus;
  options.cycles = 4096;
  std::istringstream text(
      make_stimulus({{"name", "unit"}, {"operation", "a word"}, {"inputs", {{"x_i", input}}}}, options));
  std::string line;
  std::getline(text, line);
  std::vector<std::uint64_t> values;
  while (std::getline(text, line)) values.push_back(std::stoull(line, nullptr, 16));
  return values;
}

TEST(DrawnStimulus, IsDistributedAsTheEntrySays) {
  const auto integers = [](const std::vector<std::uint64_t>& values, int width) {
    std::vector<double> numbers;
    for (const std::uint64_t value : values)
      numbers.push_back(static_cast<double>(static_cast<std::int64_t>(value << (64 - width)) >> (64 - width)));
    return numbers;
  };
  const auto moments = [](const std::vector<double>& x) {
    double sum = 0, square = 0;
    for (const double v : x) sum += v, square += v * v;
    const auto n = static_cast<double>(x.size());
    return std::pair(sum / n, std::sqrt(square / n));
  };
  ASSERT_EQ(drawn({{"fixed", 13}, {"deviation", 100}}, "gauss").size(), 4096U);
  auto [mean, deviation] = moments(integers(drawn({{"fixed", 13}, {"deviation", 100}}, "gauss"), 13));
  EXPECT_NEAR(mean, 0, 6);  // 100 / sqrt(4096) = 1.6
  EXPECT_NEAR(deviation, 100, 5);
  const json limited{{"fixed", 13}, {"limit", 2304}, {"deviation", 4000}};
  for (const char* stimulus : {"uniform", "gauss"}) {
    const auto values = integers(drawn(limited, stimulus), 13);
    EXPECT_LE(*std::max_element(values.begin(), values.end()), 2304);
    EXPECT_GE(*std::min_element(values.begin(), values.end()), -2304);
    EXPECT_GT(moments(values).second, 1200) << stimulus;  // uniform: 2304 / sqrt(3)
  }
  for (const std::uint64_t code : drawn({{"format", "ue4m3"}, {"low", 0.5}, {"high", 2}}, "gauss")) {
    EXPECT_GE(code, 0x30U);
    EXPECT_LE(code, 0x40U);
  }
  for (const std::uint64_t code : drawn({{"format", "e4m3"}}, "uniform")) EXPECT_NE(code & 0x7F, 0x7FU);  // NaN
  for (const std::uint64_t word : drawn({{"random", 24}, {"set", 0x800000}}, "uniform")) EXPECT_EQ(word >> 23, 1U);
  EXPECT_EQ(drawn({{"random", 9}}, "uniform"), drawn({{"random", 9}}, "uniform"));
  std::map<std::uint64_t, int> nibbles;
  for (const std::uint64_t word : drawn({{"one_of", {4, 8, 9, 12, 13, 14}}, {"times", 8}}, "uniform"))
    for (int i = 0; i < 8; ++i) ++nibbles[word >> 4 * i & 15];
  ASSERT_EQ(nibbles.size(), 6U);
  for (const auto& [nibble, count] : nibbles) EXPECT_NEAR(count, 4096 * 8 / 6.0, 400) << nibble;  // sqrt(n p q) = 67
  EXPECT_EQ(drawn({{"random", 24}, {"times", 2}}, "uniform").size(), 4096U);
  const json gaussian{{"format", "bf16"}, {"deviation", 2}};
  json ordered = gaussian;
  ordered["ordered"] = true;
  const auto codes = drawn(gaussian, "gauss"), keys = drawn(ordered, "gauss");
  for (std::size_t i = 0; i < codes.size(); ++i)
    EXPECT_EQ(keys[i], codes[i] < 0x8000 ? codes[i] + 0x8000 : 0xFFFF - codes[i]) << i;
  EXPECT_EQ(drawn({{"constant", {5U, 1U}}, {"width", 4U}}, "uniform").at(7), 0x15U);
}

TEST(DrawnStimulus, RefusesWhatIsNotSaid) {
  const auto refused = [](const json& input, const std::string& stimulus, const std::string& part) {
    try {
      drawn(input, stimulus);
      ADD_FAILURE() << input << " was accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  refused({{"fixed", 13}}, "gauss", "needs 'deviation'");
  refused({{"fixed", 65}}, "uniform", "expected 1 to 64 bits");
  refused({{"random", 8}}, "digits", "uniform and gauss");
  refused({{"one_of", json::array()}}, "uniform", "expected the values to draw from");
  refused({{"random", 8}, {"times", 0}}, "uniform", "has 'times' 0; expected 1 or more");
  refused({{"format", "e9m9"}}, "uniform", "e9m9");
  refused({{"operand", "a"}}, "uniform", "of units with 'mac'");
  refused({{"format", "bf16"}, {"ordered", 1}}, "uniform", "has ordered 1; expected true or false");
  refused({{"constant", {3U, 4U}}, {"width", 2U}}, "uniform",
          "'constant' has 4; expected numbers from 0 up of 'width' 2");
}

}  // namespace
}  // namespace narrowgauge::power
