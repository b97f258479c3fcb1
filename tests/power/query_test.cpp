// SPDX-License-Identifier: Apache-2.0
// Questions, answers, JSON: what can be asked, what is refused and how, and that an answer says where it is from.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <thread>

#include "features/paper.hpp"
#include "features/text.hpp"
#include "narrowgauge/power/gauge.hpp"
#include "narrowgauge/power/json.hpp"
#include "narrowgauge/power/operands.hpp"

namespace narrowgauge::power {
namespace {

using Json = nlohmann::json;

Json ask(const std::string& question) { return Json::parse(answer_json(gauge(), question)); }

/// The error of a bad question as JSON.
Json refused(const std::string& question) {
  try {
    ADD_FAILURE() << question << " was answered: " << answer_json(gauge(), question);
  } catch (const std::exception& error) {
    return Json::parse(to_json(error)).at("error");
  }
  return {};
}

void expect_refused(const std::string& question, const std::string& field, const std::string& value,
                    const std::string& expected) {
  const Json error = refused(question);
  ASSERT_TRUE(error.contains("field")) << question << error;
  EXPECT_EQ(error["field"], field) << question;
  EXPECT_NE(error["value"].get<std::string>().find(value), std::string::npos) << question << error;
  EXPECT_NE(error["expected"].get<std::string>().find(expected), std::string::npos) << question << error;
  for (const char* key : {"field", "value", "expected"}) {
    EXPECT_NE(error["message"].get<std::string>().find(error[key].get<std::string>()), std::string::npos) << error;
  }
}

TEST(Questions, BadFieldsNameFieldValueAndRange) {
  expect_refused(R"({})", "format", "missing", "fp8_e4m3");
  expect_refused(R"({"format": "int88"})", "format", "int88", "nvfp4, mxfp4");
  expect_refused(R"({"format": "int0"})", "format", "int0", "int1 to int16");
  expect_refused(R"({"format": 8})", "format", "8", "integer");
  expect_refused(R"({"format": "integer", "a_width": 17})", "a_width", "17", "1 to 16");
  expect_refused(R"({"format": "integer", "b_width": 0})", "b_width", "0", "1 to 16");
  expect_refused(R"({"format": "integer", "b_width": -8})", "b_width", "-8", "1 to 16");
  expect_refused(R"({"format": "integer", "b_width": 8.5})", "b_width", "8.5", "1 to 16");
  expect_refused(R"({"format": "integer", "b_width": 18446744073709551615})", "b_width", "18446744073709551615",
                 "1 to 16");
  expect_refused(R"({"format": "int8", "acc_width": 129})", "acc_width", "129", "1 to 128");
  expect_refused(R"({"format": "int8", "lanes": -4})", "lanes", "-4", "1 to 1024");
  expect_refused(R"({"format": "int8", "lanes": 1025})", "lanes", "1025", "1 to 1024");
  expect_refused(R"({"format": "int8", "structure": "dadda"})", "structure", "dadda", "wallace");
  expect_refused(R"({"format": "int8", "schedule": "random"})", "schedule", "random", "sorted");
  expect_refused(R"({"format": "int8", "schedule": "sorted"})", "schedule", "sorted", "unsigned activations");
  expect_refused(R"({"format": "int8", "additions": 2})", "additions", "2", "structure none");
  expect_refused(R"({"format": "int8", "structure": "none"})", "additions", "0", "above 0");
  expect_refused(R"({"format": "int8", "structure": "none", "additions": -1})", "additions", "-1", "above 0");
  expect_refused(R"({"format": "nvfp4", "a_width": 4})", "a_width", "4", "integer only");
  expect_refused(R"({"format": "nvfp4", "structure": "booth"})", "structure", "booth", "integer only");
  expect_refused(R"({"format": "int8", "count": -1})", "count", "-1", "not negative");
  expect_refused(R"({"format": "int8", "count": "many"})", "count", "many", "a number");
  expect_refused(R"({"format": "int8", "a": "poisson"})", "a", "poisson", "gauss");
  expect_refused(R"({"format": "int2", "a": {"histogram": [1, 2, 3]}})", "a", "3 entries", "4 entries");
  expect_refused(R"({"format": "int2", "a": {"histogram": [1, 2, 3, -1]}})", "a", "-1", "none negative");
  expect_refused(R"({"format": "int2", "a": {"histogram": [0, 0, 0, 0]}})", "a", "sum 0", "above 0");
  expect_refused(R"({"format": "fp32", "b": {"histogram": [0]}})", "b", "histogram", "named distribution");
  expect_refused(R"({"format": "int8", "colour": "red"})", "colour", "red", "a_width");
  expect_refused(R"({"format": "int8", "rung": "L9"})", "rung", "L9", "L3");
  expect_refused(R"({"format": "nvfp4", "lanes": 7})", "lanes", "7", "a multiple of 16");
  expect_refused(R"({"format": "int8", "structure": "array", "acc_width": 4})", "acc_width", "4", "16 to 128");
  expect_refused(R"({"format": "int8", "mode": "magic"})", "mode", "magic", "pann_paper");
  expect_refused(R"({"format": "int8", "strict": 1})", "strict", "1", "true or false");
  expect_refused(R"({"format": "int8", "technology": "tsmc1"})", "technology", "tsmc1", "horowitz_45nm");
  expect_refused(R"({"format": "int8", "energy_per_flip": 1e-15})", "energy_per_flip", "1e-15", "pann_paper");
  expect_refused(R"({"format": "int8", "mode": "pann_paper", "energy_per_flip": -1})", "energy_per_flip", "-1",
                 "above 0");
  expect_refused(R"({"format": "fp16", "mode": "pann_paper"})", "format", "fp16", "integer");
  expect_refused(R"({"format": "int8", "mode": "pann_paper", "rung": "L3"})", "rung", "L3", "L0");
}

TEST(Questions, FormatsOfEachOperand) {
  // One format for both, said twice, is the same question.
  const auto same = [](const std::string& one, const std::string& each, const std::string& rest) {
    EXPECT_EQ(ask("{" + one + rest + "}").dump(), ask("{" + each + rest + "}").dump()) << one;
  };
  same(R"("format": "int4")", R"("a_format": "int4", "b_format": "int4")", R"(, "rung": "L0")");
  same(R"("format": "int4")", R"("a_format": "int", "a_width": 4, "b_format": "int4")", "");
  same(R"("format": "int", "a_width": 8, "b_width": 4, "b_signed": false)",
       R"("a_format": "int8", "b_format": "uint4")", R"(, "rung": "L0")");
  same(R"("format": "nvfp4")", R"("a_format": "nvfp4", "b_format": "nvfp4")", "");
  same(R"("format": "luq")", R"("a_format": "int4", "b_format": "fp4_e3m0")", "");
  same(R"("format": "luq", "lanes": 16)", R"("a_format": "int", "a_width": 4, "b_format": "fp4_e3m0", "lanes": 16)",
       R"(, "rung": "L0")");
  same(R"("format": "fp16")", R"("a_format": "fp16", "b_format": "fp16")", R"(, "technology": "horowitz_45nm")");

  expect_refused(R"({"a_format": "int4"})", "b_format", "missing", "fp4_e3m0");
  expect_refused(R"({"format": "luq", "a_format": "int4"})", "a_format", "int4", "of both operands");
  expect_refused(R"({"a_format": "luq", "b_format": "int4"})", "a_format", "luq", "fp4_e3m0");
  expect_refused(R"({"format": "luqs"})", "format", "luqs", "luq");
  expect_refused(R"({"format": "luq", "lanes": 12, "rung": "L0"})", "lanes", "12", "a power of two");
  expect_refused(R"({"a_format": "int8", "b_format": "fp4_e3m0", "rung": "L0"})", "a_width", "8", "4");
  expect_refused(R"({"a_format": "uint4", "b_format": "fp4_e3m0", "rung": "L0"})", "a_signed", "false", "INT4");
  expect_refused(R"({"b_format": "int4"})", "a_format", "missing", "fp4_e3m0");
  expect_refused(R"({"format": "int4", "b_format": "int4"})", "b_format", "int4", "of both operands");
  expect_refused(R"({"a_format": "int4", "b_format": "fp5"})", "b_format", "fp5", "fp4_e2m1");
  expect_refused(R"({"a_format": "int4", "b_format": "fp4_e3m0", "b_width": 4})", "b_width", "4", "fp4_e3m0 brings");
  expect_refused(R"({"a_format": "int4", "b_format": "fp4_e3m0", "structure": "booth"})", "structure", "booth",
                 "integer only");
  expect_refused(R"({"a_format": "int4", "b_format": "fp4_e3m0", "a_width": 17})", "a_width", "17", "1 to 16");
  expect_refused(R"({"a_format": "int4", "b_format": "fp4_e3m0", "b": {"histogram": [1]}})", "b", "1 entries",
                 "16 entries");
}

TEST(Questions, PairsThatNothingMultipliesAreRefusedByName) {
  const std::string int4_fp4 = R"({"a_format": "int4", "b_format": "fp4_e2m1")";
  for (const std::string rest :
       {"", R"(, "rung": "L0")", R"(, "rung": "L1")", R"(, "rung": "L3")", R"(, "strict": true)",
        R"(, "technology": "osu050")", R"(, "technology": "horowitz_45nm")"}) {
    const std::string technology = rest.find("osu050") == std::string::npos ? "" : "osu050 has units of";
    expect_refused(int4_fp4 + rest + "}", "b_format", "fp4_e2m1", technology);
    expect_refused(int4_fp4 + rest + "}", "b_format", "fp4_e2m1",
                   "of int4 x fp4_e2m1 there is neither a unit nor a calibration yet");
    expect_refused(int4_fp4 + rest + "}", "b_format", "fp4_e2m1",
                   "fp8_e4m3, fp8_e5m2, integer, integer x fp4_e3m0, mxfp4, nvfp4");
  }
  expect_refused(int4_fp4 + R"(, "technology": "ice40up"})", "b_format", "fp4_e2m1", "ice40up has units of");
  expect_refused(int4_fp4 + R"(, "mode": "pann_paper"})", "b_format", "fp4_e2m1", "integer");
  expect_refused(R"({"format": "fp4_e2m1"})", "format", "fp4_e2m1", "neither a unit nor a calibration");
  Question question;
  question.unit.mac.b_format = MacFormat::fp4_e2m1;
  EXPECT_THROW(gauge().energy_counted(question, {}), FieldError);
  EXPECT_THROW(gauge().prepare("osu018")(question.unit), FieldError);
  EXPECT_THROW(product_operands(question.unit.mac, std::vector<float>(4), 2, 2, std::vector<float>(4), 2), FieldError);
}

TEST(Questions, NotJson) {
  for (const char* text : {"", "{", "[1]", "12", "nonsense", R"({"format": NaN})", R"({"count": 1e999})"}) {
    const Json error = refused(text);
    EXPECT_FALSE(error.contains("field")) << text;
    EXPECT_NE(error["message"].get<std::string>().find("such as {\"format\": \"int8\"}"), std::string::npos) << error;
  }
}

TEST(Questions, DeepOnesAreRefused) {
  const std::string open(200000, '['), close(200000, ']');
  for (const std::string& text :
       {open + close, R"({"format": "int8", "id": )" + open + close + "}", R"({"format": )" + open + close + "}"})
    EXPECT_NE(refused(text)["message"].get<std::string>().find("more than 32"), std::string::npos);
  std::istringstream questions(R"({"id": )" + open + close + "}\n");
  std::ostringstream answers;
  EXPECT_EQ(answer_lines(gauge(), questions, answers), 1U);
  EXPECT_EQ(ask(R"({"format": "int4", "mode": "pann_paper", "id": [[["x"]]]})")["id"].dump(), R"([[["x"]]])");
}

TEST(Questions, LongValuesAreCutBetweenCharacters) {
  for (const std::size_t before : {0U, 1U, 2U}) {
    std::string format(before, 'x');
    for (int i = 0; i < 40; ++i) format += "€";
    const std::string value = refused(Json{{"format", format}}.dump())["value"];
    EXPECT_TRUE(value.ends_with("...")) << value;
    EXPECT_LE(value.size(), 60U);
    EXPECT_NO_THROW(Json(value).dump());
  }
}

TEST(Questions, NotANumberThroughTheCppApi) {
  Question question;
  question.count = std::nan("");
  EXPECT_THROW(gauge().energy(question), FieldError);
  question.count = 1;
  question.unit.mac.a_width = -3;
  EXPECT_THROW(gauge().energy(question), FieldError);
  question.unit.mac = {};
  question.unit.a.distribution = Distribution::histogram;  // and none given
  EXPECT_THROW(gauge().energy(question), FieldError);
  MemoryQuestion memory{"dram", "ddr3_1066"};
  memory.bits = std::nan("");
  EXPECT_THROW(gauge().energy(memory), FieldError);
}

TEST(Questions, UnitsReadAndWriteTheSame) {
  for (const char* text :
       {R"({"format": "integer", "a_width": 8, "b_width": 4, "a_signed": false, "b_signed": true, "structure": "booth",
            "lanes": 4, "accumulator": true, "acc_width": 24, "schedule": "dual"})",
        R"({"format": "nvfp4", "lanes": 16, "accumulator": false})",
        R"({"a_format": "int4", "b_format": "fp4_e3m0", "lanes": 4})",
        R"({"a_format": "nvfp4", "b_format": "uint5", "accumulator": false})",
        R"({"format": "uint6", "structure": "none", "additions": 1.17})"}) {
    const MacSpec mac = mac_spec_from_json(Json::parse(text));
    EXPECT_EQ(mac_spec_from_json(Json(to_json(mac))), mac) << text;
  }
  EXPECT_EQ(mac_spec_from_json(Json::parse(R"({"format": "int8"})")), MacSpec());
}

TEST(Data, EveryFileIsTaken) {
  for (const TechnologyInfo& technology : gauge().technologies())
    EXPECT_EQ(technology.limit.find("broken"), std::string::npos) << technology.name << ": " << technology.limit;
}

TEST(PaperMode, AnswersInFlips) {
  const auto flips = [](const std::string& fields) {
    const Json answer = ask(R"({"mode": "pann_paper", )" + fields + "}");
    EXPECT_EQ(answer["unit"], "flip");
    EXPECT_TRUE(answer["technology"].is_null());
    EXPECT_TRUE(answer["error"].is_null());
    return answer["value"].get<double>();
  };
  EXPECT_EQ(flips(R"("format": "int2")"), 24);
  EXPECT_EQ(flips(R"("format": "uint2")"), 10);
  EXPECT_EQ(flips(R"("format": "int4")"), 36);
  EXPECT_EQ(flips(R"("format": "uint4")"), 24);
  EXPECT_EQ(flips(R"("format": "int4", "a_signed": false, "schedule": "sorted")"), 24);
  EXPECT_EQ(flips(R"("format": "int4", "acc_width": 21)"), 30.5);
  EXPECT_EQ(flips(R"("format": "int4", "accumulator": false)"), 12);
  EXPECT_EQ(flips(R"("format": "integer", "a_width": 8, "b_width": 2, "accumulator": false)"), 37);
  EXPECT_EQ(flips(R"("format": "uint6", "structure": "none", "additions": 1.5)"), 12);
  EXPECT_EQ(flips(R"("format": "uint4", "count": 1e9)"), 24e9);
}

TEST(PaperMode, EnergyPerFlipIsStated) {
  const Json answer = ask(R"({"mode": "pann_paper", "format": "int4", "energy_per_flip": 5e-15, "explain": true})");
  EXPECT_EQ(answer["unit"], "J");
  EXPECT_DOUBLE_EQ(answer["value"].get<double>(), 36 * 5e-15);
  EXPECT_NE(answer["notes"].dump().find("5 fJ"), std::string::npos);
  // Of a cited technology: its INT8 multiply-accumulate / 72.
  const Json cited = ask(R"({"mode": "pann_paper", "format": "int8", "technology": "horowitz_45nm"})");
  EXPECT_NEAR(cited["value"].get<double>(), 0.3e-12, 1e-18);
}

/// A node whose parts are a sum adds up to it, everywhere in the tree.
void expect_flips_add_up(const Json& term) {
  if (!term.contains("parts")) return;
  bool all_flips = term["unit"] == "flip";
  double sum = 0;
  for (const Json& part : term["parts"]) {
    all_flips = all_flips && part["unit"] == "flip";
    sum += part["value"].get<double>();
    expect_flips_add_up(part);
  }
  if (all_flips) {
    EXPECT_NEAR(sum, term["value"].get<double>(), 1e-9) << term;
  }
}

TEST(PaperMode, ExplanationDerivesTheNumber) {
  const Json answer = ask(R"({"mode": "pann_paper", "format": "int4", "explain": true})");
  EXPECT_FALSE(answer["verified"]);  // docs/pann.md says what the formulas rest on
  EXPECT_NE(answer["notes"].dump().find("Unverified"), std::string::npos);
  ASSERT_EQ(answer["explanation"]["parts"].size(), 5U);
  EXPECT_EQ(answer["explanation"]["value"], 36);
  expect_flips_add_up(answer["explanation"]);
  EXPECT_FALSE(ask(R"({"mode": "pann_paper", "format": "int4"})").contains("explanation"));
}

TEST(CitedTechnology, ListedOperationsAreTheConstants) {
  const auto value = [](const std::string& fields) { return ask("{" + fields + "}"); };
  Json answer = value(R"("format": "int8", "technology": "horowitz_45nm")");
  EXPECT_NEAR(answer["value"].get<double>(), 0.3e-12, 1e-20);  // int8 multiplication + int32 addition
  EXPECT_EQ(answer["rung"], "cited");
  EXPECT_TRUE(answer["verified"]);
  EXPECT_TRUE(answer["error"].is_null());
  EXPECT_EQ(answer["anchor"]["ratio"], 1);
  answer = value(R"("format": "int8", "accumulator": false, "technology": "horowitz_45nm")");
  EXPECT_NEAR(answer["value"].get<double>(), 0.2e-12, 1e-20);
  answer = value(R"("format": "fp16", "technology": "horowitz_45nm")");
  EXPECT_NEAR(answer["value"].get<double>(), 2.0e-12, 1e-20);  // 1.1 + 0.9, accumulated in FP32
  answer = value(R"("format": "fp32", "technology": "tpuv4i_7nm")");
  EXPECT_NEAR(answer["value"].get<double>(), 1.69e-12, 1e-20);
  EXPECT_FALSE(answer["verified"]);
  EXPECT_NE(answer["notes"].dump().find("Unverified"), std::string::npos);
  answer = value(R"("format": "bf16", "accumulator": false, "technology": "tpuv4i_7nm", "count": 2)");
  EXPECT_NEAR(answer["value"].get<double>(), 0.42e-12, 1e-20);
  answer = value(R"("format": "fp16", "accumulator": false, "technology": "tpuv4i_7nm")");
  EXPECT_TRUE(answer["verified"]);
}

/// A recorded unit whose operands are uniform, to ask for.
RecordInfo some_record() {
  for (const RecordInfo& record : gauge().records())
    if (record.unit == "int8_mac_array" && record.technology == "osu018" && record.stimulus == "uniform") return record;
  throw Error("power/records has no int8_mac_array of osu018 under uniform operands");
}

/// A gauge with a calibration of the test's own, in which every feature costs 1 J: answers are sums of features.
class ClosedForms : public testing::Test {
 protected:
  ClosedForms() {
    const std::filesystem::path path = std::filesystem::path(testing::TempDir()) / "ng_unit_calibration.json";
    const Json rung{{"error_mean_abs", 0.3},
                    {"error_max", 0.5},
                    {"held_out",
                     {{{"unit", "int8_mac_array"}, {"stimulus", "uniform"}, {"error", -0.1}},
                      {{"unit", "int8_mac_array"}, {"stimulus", "gauss"}, {"error", 0.3}}}}};
    std::ofstream(path) << Json{{"id", "ones"},
                                {"technology", "ones"},
                                {"coefficients", std::vector<double>(feature_count, 1.0)},
                                {"L0", rung},
                                {"L1", rung}};
    gauge_.emplace(std::span(&path, 1));
    std::filesystem::remove(path);
  }

  Json ask_it(const std::string& question) const { return Json::parse(answer_json(*gauge_, question)); }

  std::optional<Gauge> gauge_;
};

TEST_F(ClosedForms, AreFeaturesTimesCoefficients) {
  for (const std::string unit :
       {R"("format": "int8", "structure": "array")", R"("format": "int4", "lanes": 16, "a": "gauss")",
        R"("format": "nvfp4")", R"("format": "int2", "lanes": 1, "a": {"histogram": [1, 2, 3, 4]})"}) {
    std::string question = "{";
    question += unit + R"(, "technology": "ones", "rung": "L0", "count": 10)";
    const auto unit_question = std::get<Question>(question_from_json(question + "}"));
    double sum = 0;
    for (const double feature : features(unit_question.unit)) sum += feature;
    sum /= unit_question.unit.mac.lanes;
    ASSERT_GT(sum, 0);
    const Json answer = ask_it(question + R"(, "explain": true})");
    EXPECT_NEAR(answer["each"].get<double>(), sum, 1e-9 * sum) << unit;
    EXPECT_DOUBLE_EQ(answer["value"].get<double>(), 10 * answer["each"].get<double>());
    EXPECT_EQ(answer["rung"], "L0");
    EXPECT_EQ(answer["calibration"], "ones");
    EXPECT_NEAR(gauge_->prepare("ones")(unit_question.unit), sum, 1e-9 * sum);
    const Json& cycle = answer["explanation"]["parts"][0]["parts"][0];
    double terms = 0;
    for (const Json& term : cycle["parts"]) {
      terms += term["value"].get<double>();
      EXPECT_EQ(term["parts"][0]["value"].get<double>() * term["parts"][1]["value"].get<double>(), term["value"]);
    }
    EXPECT_NEAR(terms, cycle["value"].get<double>(), 1e-9 * terms);
    EXPECT_NEAR(terms / unit_question.unit.mac.lanes, sum, 1e-9 * sum);
  }
}

TEST_F(ClosedForms, CarryTheErrorOfTheirFormat) {
  const Json of_integers = ask_it(R"({"format": "int8", "structure": "array", "technology": "ones"})")["error"];
  EXPECT_NEAR(of_integers["mean_abs"].get<double>(), 0.2, 1e-12);
  EXPECT_NEAR(of_integers["max_abs"].get<double>(), 0.3, 1e-12);
  EXPECT_EQ(of_integers["samples"], 2);
  EXPECT_EQ(of_integers["of"], "integer");
  const Json of_all = ask_it(R"({"format": "nvfp4", "technology": "ones"})")["error"];
  EXPECT_EQ(of_all["mean_abs"], 0.6);  // outside: a format that was not characterized is 1 away
  EXPECT_EQ(of_all["of"], "all formats");
}

TEST_F(ClosedForms, CountedOnOperands) {
  Question question;
  question.technology = "ones";
  Features counted{};
  counted[0] = 3;
  counted[1] = 4;
  const Answer answer = gauge_->energy_counted(question, counted);
  EXPECT_EQ(answer.value, 7);
  EXPECT_EQ(answer.rung, Rung::L1);
  question.mode = Mode::pann_paper;
  EXPECT_THROW(gauge_->energy_counted(question, counted), FieldError);
}

TEST_F(ClosedForms, StrictRefusesWhatWasNotCharacterized) {
  // The test's calibration knows int8_mac_array alone.
  EXPECT_TRUE(ask_it(R"({"format": "int8", "structure": "array", "technology": "ones", "strict": true})")["in_range"]);
  for (const std::string field : {R"("a_width": 7)", R"("acc_width": 33)", R"("structure": "booth")", R"("lanes": 2)",
                                  R"("accumulator": false)", R"("a_signed": false)"}) {
    std::string question = R"({"format": "int8", "structure": "array", "technology": "ones", )";
    question += field;
    const Json answer = ask_it(question + "}");
    EXPECT_FALSE(answer["in_range"]) << field;
    EXPECT_NE(answer["notes"].dump().find(field.substr(1, field.find('"', 1) - 1)), std::string::npos) << answer;
    EXPECT_THROW(ask_it(question + R"(, "strict": true})"), FieldError) << field;
  }
  EXPECT_THROW(ask_it(R"({"format": "nvfp4", "technology": "ones", "strict": true})"), FieldError);
}

TEST(ClosedFormsOfOsu018, AnswerWithinTheirPublishedError) {
  const Json answer = ask(R"({"format": "int8", "structure": "array", "rung": "L0", "strict": true, "explain": true})");
  EXPECT_EQ(answer["technology"], "osu018");
  EXPECT_TRUE(answer["in_range"]);
  EXPECT_FALSE(answer["calibration"].get<std::string>().empty());
  EXPECT_GT(answer["error"]["samples"], 1);
  EXPECT_LT(answer["error"]["mean_abs"], 0.2);
  // INT8 is one of the fitted units, so the worst held-out error is a generous bound.
  const double simulated = ask(R"({"format": "int8", "structure": "array", "rung": "L3"})")["value"];
  EXPECT_NEAR(answer["value"].get<double>() / simulated, 1, 0.2);
  expect_refused(R"({"format": "integer", "structure": "array", "a_width": 1, "rung": "L0", "strict": true})",
                 "a_width", "1", "characterized in osu018");
  const Json l2 = ask(R"({"format": "int8", "structure": "array", "rung": "L2"})");
  EXPECT_GT(l2["error"]["mean_abs"], answer["error"]["mean_abs"]);  // no glitches
  // Anchored: a cited technology takes the ratio.
  const Json cited = ask(R"({"format": "int8", "b_width": 6, "technology": "horowitz_45nm"})");
  EXPECT_EQ(cited["rung"], "L0");
  EXPECT_GT(cited["error"]["samples"], 1);
  EXPECT_LT(cited["value"], 0.3e-12);
}

TEST(ClosedFormsOfEachLibrary, AreNearItsOwnRecords) {
  double before = 0;
  for (const TechnologyInfo& technology : gauge().technologies()) {  // in the order of their names, so of their nodes
    if (technology.kind != "liberty" || technology.calibration.empty()) continue;
    const auto priced = [&](const std::string& unit, const std::string& rung) {
      const Json answer = ask("{" + unit + R"(, "technology": ")" + technology.name + R"(", "rung": ")" + rung +
                              R"(", "strict": true})");
      EXPECT_EQ(answer["technology"], technology.name);
      EXPECT_EQ(answer["rung"], rung);
      if (rung == "L0") {
        EXPECT_EQ(answer["calibration"], technology.calibration);
      }
      return answer["value"].get<double>();
    };
    for (const std::string unit :
         {R"("format": "int8", "structure": "array")", R"("format": "int4", "structure": "array")",
          R"("format": "nvfp4", "lanes": 16)", R"("format": "fp8_e4m3", "lanes": 4)"}) {
      const double simulated = priced(unit, "L3");
      EXPECT_NEAR(priced(unit, "L0") / simulated, 1, 0.25) << technology.name << " " << unit;
      EXPECT_LT(priced(unit, "L2"), simulated) << technology.name << " " << unit;
    }
    const double int8 = priced(R"("format": "int8", "structure": "array")", "L0");
    EXPECT_GT(int8, 2 * before) << technology.name << " against the finer node";
    before = int8;
  }
  EXPECT_GT(before, 0) << "no library is calibrated";
}

TEST(ClosedFormsOfOsu018, PriceTheUnsignedSplit) {
  const std::string unit = R"({"format": "int8", "a_signed": false, "acc_width": 32, "schedule": )";
  const double plain = ask(R"({"format": "int8", "structure": "array", "rung": "L0"})")["value"];
  for (const std::string schedule : {R"("sorted")", R"("dual")", R"("muxed")"}) {
    const Json answer = ask(unit + schedule + R"(, "rung": "L0", "strict": true})");
    EXPECT_EQ(answer["error"]["of"], "integer, unsigned split");
    const double simulated = ask(unit + schedule + R"(, "rung": "L3"})")["value"];
    EXPECT_NEAR(answer["value"].get<double>() / simulated, 1, answer["error"]["max_abs"]) << schedule;
    EXPECT_LT(answer["value"], plain);
  }
  // A histogram of weights has a sign beside b_width bits.
  const std::string histogram = R"(, "b_width": 1, "b": {"histogram": )";
  EXPECT_GT(ask(unit + R"("dual")" + histogram + R"([1, 1, 0, 1]}})")["value"], 0);
  expect_refused(unit + R"("dual")" + histogram + "[1, 1]}}", "b", "2 entries", "4 entries");
  EXPECT_EQ(ask(R"({"format": "int8", "structure": "array", "rung": "L0"})")["error"]["of"], "integer");
}

TEST(Refined, UnitsOfSeveralCyclesArePricedByTheProduct) {
  const std::string pann =
      R"({"format": "uint6", "b_width": 3, "structure": "none", "additions": 1.1667, "b": "gauss", "strict": true)";
  const Json expected = ask(pann + R"(, "rung": "L0", "explain": true})"), simulated = ask(pann + R"(, "rung": "L3"})");
  EXPECT_EQ(expected["error"]["of"], "integer, repeated additions");
  EXPECT_EQ(simulated["record"], "pann_x6_r1");
  EXPECT_NEAR(expected["value"].get<double>() / simulated["value"].get<double>(), 1,
              expected["error"]["max_abs"].get<double>() + 0.01);
  const Json& each = expected["explanation"];  // the quantizer makes 1.14 additions of 1.1667
  EXPECT_NEAR(each["value"].get<double>() / each["parts"][0]["value"].get<double>(), 1.14, 0.01);
  expect_refused(
      R"({"format": "uint6", "b_width": 5, "structure": "none", "additions": 3, "b": "gauss", "rung": "L0",
          "strict": true})",
      "additions", "3", "2.929");
  const std::string serial = R"({"format": "int8", "structure": "serial", "accumulator": false, "strict": true)";
  const Json bits = ask(serial + R"(, "rung": "L0"})"), gates = ask(serial + R"(, "rung": "L3"})");
  EXPECT_EQ(bits["error"]["of"], "integer, serial");
  EXPECT_EQ(gates["record"], "serial8_mult");
  EXPECT_NEAR(bits["value"].get<double>() / gates["value"].get<double>(), 1, 0.2);
  expect_refused(R"({"format": "int8", "structure": "serial", "rung": "L0"})", "accumulator", "true",
                 "false: structure serial");
}

TEST(Records, AnswerForTheUnitTheyAreOf) {
  const RecordInfo record = some_record();
  EXPECT_EQ(record.mac, MacSpec());
  Json answer = ask(R"({"format": "int8", "structure": "array", "rung": "L3", "explain": true})");
  EXPECT_EQ(answer["value"], record.l3_j);
  EXPECT_EQ(answer["record"], "int8_mac_array");
  EXPECT_EQ(answer["netlist_sha256"].get<std::string>().size(), 64U);
  EXPECT_EQ(answer["stimulus_sha256"].get<std::string>().size(), 64U);
  EXPECT_GT(answer["leakage_w"], 0);
  const Json& cycle = answer["explanation"]["parts"][0];
  double sum = 0;
  for (const Json& part : cycle["parts"])
    if (part["unit"] == "J") sum += part["value"].get<double>();
  EXPECT_NEAR(sum, cycle["value"].get<double>(), 1e-6 * sum);  // internal + switching + clock
  EXPECT_EQ(cycle["parts"].back()["name"], "toggles");
  EXPECT_EQ(ask(R"({"format": "int8", "structure": "array", "rung": "L2"})")["value"], record.l2_j);
  EXPECT_EQ(ask(R"({"format": "int8"})")["rung"], "L3");  // the best that there is
  const Json digits = ask(R"({"format": "int8", "stimulus": "digits"})");
  EXPECT_EQ(digits["stimulus"], "digits");
  EXPECT_LT(digits["value"], record.l3_j);
}

TEST(Records, OtherUnitsAndStimuliAreRefusedWithWhatThereIs) {
  expect_refused(R"({"format": "int7", "structure": "array", "rung": "L3"})", "rung", "L3",
                 "no record of int7 x int7 array");
  expect_refused(R"({"format": "int8", "rung": "L2", "a": "half_normal"})", "rung", "L2", "uniform, gauss, digits");
  expect_refused(R"({"format": "int8", "stimulus": "noise"})", "stimulus", "noise", "uniform, gauss, digits");
  expect_refused(R"({"format": "int8", "stimulus": "digits", "rung": "L0"})", "stimulus", "digits", "L2, L3 or best");
  expect_refused(R"({"format": "int8", "rung": "L1"})", "rung", "L1", "--a A.npy --b B.npy");
  expect_refused(R"({"format": "int8", "rung": "L5"})", "rung", "L5", "L2 or L3");
}

TEST(CitedTechnology, OtherUnitsAreARatioTimesAConstant) {
  const Json answer = ask(R"({"format": "uint8", "technology": "horowitz_45nm", "rung": "L3", "explain": true,
                              "reference": "single_lane"})");
  const double of_int8 = ask(R"({"format": "int8", "structure": "array", "rung": "L3"})")["value"];
  const double of_uint8 = ask(R"({"format": "uint8", "structure": "array", "rung": "L3"})")["value"];
  EXPECT_DOUBLE_EQ(answer["anchor"]["ratio"].get<double>(), of_uint8 / of_int8);
  EXPECT_DOUBLE_EQ(answer["value"].get<double>(), answer["anchor"]["constant_j"].get<double>() * of_uint8 / of_int8);
  EXPECT_NEAR(answer["anchor"]["constant_j"].get<double>(), 0.3e-12, 1e-20);
  EXPECT_TRUE(answer["anchor"]["error"].is_null());
  EXPECT_NE(answer["notes"].dump().find("is not known"), std::string::npos);
  EXPECT_EQ(answer["explanation"]["parts"][1]["name"], "ratio");
}

TEST(CitedTechnology, IntegersAreHeldAgainstTheLikeForLikeUnit) {
  const auto osu018 = [](const std::string& unit) {
    return ask("{" + unit + R"(, "rung": "L3"})")["each"].get<double>();
  };
  const auto cited = [](const std::string& unit) {
    return ask("{" + unit + R"(, "technology": "horowitz_45nm", "rung": "L3"})")["each"].get<double>();
  };
  const std::string like_for_like = R"("structure": "wallace", "lanes": 16, "pipelined": true)";
  const double int8 = osu018(R"("format": "int8", )" + like_for_like);
  EXPECT_LT(int8, osu018(R"("format": "int8", "structure": "array")"));
  EXPECT_LT(int8, osu018(R"("format": "int8", "structure": "wallace", "lanes": 16)"));
  // A format alone is asked about the like-for-like unit.
  for (const char* format : {"int8", "int4"}) {
    const std::string named = R"("format": ")" + std::string(format) + R"(")";
    const double ratio = osu018(named + ", " + like_for_like) / int8;
    EXPECT_DOUBLE_EQ(cited(named + ", " + like_for_like), 0.3e-12 * ratio);
    EXPECT_DOUBLE_EQ(cited(named), 0.3e-12 * ratio);
  }
  // A structure that is asked for is not replaced, be it the one that is taken elsewhere.
  for (const char* named : {R"("structure": "array")", R"("lanes": 1)", R"("pipelined": false)"}) {
    const std::string array = R"("format": "int8", )" + std::string(named);
    EXPECT_DOUBLE_EQ(cited(array), 0.3e-12 * (osu018(array) / int8)) << named;
  }
  // The ratios that docs/energy_ladder.md has.
  EXPECT_NEAR(osu018(R"("format": "nvfp4")") / int8, 0.5, 0.02);
  EXPECT_NEAR(osu018(R"("format": "nvfp4")") / osu018(R"("format": "int8", "structure": "array")"), 0.3, 0.01);
  EXPECT_DOUBLE_EQ(osu018(R"("format": "int8")"), int8);
  EXPECT_DOUBLE_EQ(osu018(R"("format": "int8", "reference": "single_lane")"),
                   osu018(R"("format": "int8", "structure": "array")"));
  // The view of before by its name: the constant is a single-lane array's.
  const Json before = ask(R"({"format": "int8", "technology": "horowitz_45nm", "reference": "single_lane"})");
  EXPECT_NEAR(before["value"].get<double>(), 0.3e-12, 1e-20);
  expect_refused(R"({"format": "int8", "reference": "mine"})", "reference", "mine", "like_for_like, single_lane");
  expect_refused(R"({"format": "int8", "pipelined": true, "accumulator": false})", "pipelined", "true", "accumulator");
  expect_refused(R"({"format": "nvfp4", "pipelined": true})", "pipelined", "true", "integer only");
  EXPECT_LT(ask(R"({"format": "mxfp4", "pipelined": true})")["value"].get<double>(),
            ask(R"({"format": "mxfp4"})")["value"].get<double>());
}

/// The price that the points of a space share, in joules, under normal operands.
Answer carried(const std::string& technology, const std::string& unit) {
  const std::string text = R"({"technology": ")" + technology + R"(", "a": "gauss", "b": "gauss", )" + unit + "}";
  return gauge().carried(std::get<Question>(question_from_json(text)));
}

TEST(Carried, IsTheRecordWhereThereIsOne) {
  for (const char* technology : {"osu018", "asap7", "sky130hd", "sg13g2"}) {
    for (const char* unit : {"int8_mac_wallace_16_pipelined", "nvfp4_mac_16", "luq_mac_16"}) {
      const std::string format = std::string(unit).substr(0, std::string(unit).find('_'));
      const std::string named = R"("format": ")" + format + "\"" + (format == "luq" ? R"(, "lanes": 16)" : "");
      EXPECT_EQ(carried(technology, named).record, unit) << technology;
      EXPECT_EQ(carried(technology, named).rung, Rung::L3) << technology;
    }
  }
}

TEST(Carried, GrowsWithWidthAndNamesWhatItIsCarriedFrom) {
  for (const char* technology : {"osu018", "asap7", "tpuv4i_7nm"}) {
    double before = 0;
    for (int width = 3; width <= 10; ++width) {
      const double each = carried(technology, R"("format": "int)" + std::to_string(width) + "\"").each;
      EXPECT_GT(each, before) << technology << " int" << width;
      before = each;
    }
  }
  const Answer between = carried("asap7", R"("format": "int6", "explain": true)");
  EXPECT_NE(to_json(between).find("L3 of int4_mac_wallace_16_pipelined and int8_mac_wallace_16_pipelined"),
            std::string::npos);
  EXPECT_FALSE(between.error);  // nobody held a unit of asap7 against it
  EXPECT_TRUE(carried("osu018", R"("format": "int6")").error);
  EXPECT_NE(to_json(carried("osu018", R"("format": "nvfp4", "lanes": 128)")).find("L3 of nvfp4_mac_64"),
            std::string::npos);
  EXPECT_NE(to_json(carried("osu018", R"("format": "fp8_e4m3", "lanes": 12)")).find("L3 of fp8_e4m3_mac_16"),
            std::string::npos);
}

TEST(Carried, OfAFormatWithoutAUnitGoesByTheRatioOfINT8) {
  const double int8 = carried("asap7", R"("format": "int8", "a": "uniform", "b": "uniform")").each;
  const double there = carried("osu018", R"("format": "int8", "a": "uniform", "b": "uniform")").each;
  EXPECT_DOUBLE_EQ(carried("asap7", R"("format": "bf16")").each,
                   carried("osu018", R"("format": "bf16")").each * (int8 / there));
  // A calibrated technology has closed forms instead, as of a Booth unit that osu035 has no record like.
  const Answer booth = carried("osu035", R"("format": "int8", "structure": "booth", "lanes": 16, "pipelined": true)");
  EXPECT_EQ(booth.rung, Rung::L0);
  EXPECT_EQ(booth.technology, "osu035");
  EXPECT_THROW(carried("osu018", R"("format": "int8", "mode": "pann_paper")"), FieldError);
  EXPECT_THROW(carried("ice40up", R"("format": "int8")"), FieldError);
}

TEST(CitedTechnology, ExactSumsAreHeldAgainstINT8WideNumbersAgainstFP16) {
  for (const char* technology : {"horowitz_45nm", "tpuv4i_7nm"}) {
    const auto asked = [&](const std::string& format, const char* there, const char* rung) {
      Json question{{"format", format}, {"technology", there}, {"rung", rung}, {"a", "gauss"}, {"b", "gauss"}};
      question["lanes"] = format == "mxfp4" ? 32 : format == "tf32" ? 1 : 16;
      if (format.starts_with("int")) question.update({{"structure", "wallace"}, {"pipelined", true}});
      return ask(question.dump());
    };
    EXPECT_EQ(asked("tf32", technology, "L3")["anchor"]["to"], "fp16 multiply-accumulate");
    // A ratio is the same at each node, at each rung.
    for (const char* format : {"fp8_e4m3", "fp8_e5m2", "nvfp4", "mxfp4", "luq", "int4"}) {
      EXPECT_EQ(asked(format, technology, "L3")["anchor"]["to"], "int8 multiply-accumulate") << format;
      for (const char* rung : {"L0", "L2", "L3"}) {
        const auto ratio = [&](const char* there) {
          return asked(format, there, rung)["each"].get<double>() / asked("int8", there, rung)["each"].get<double>();
        };
        EXPECT_NEAR(ratio(technology) / ratio("osu018"), 1, 1e-9) << format << " at " << rung;
      }
    }
  }
}

TEST(CitedTechnology, EnergyOfIntegersGrowsWithTheirWidth) {
  for (const char* technology : {"osu018", "horowitz_45nm", "tpuv4i_7nm"}) {
    double before = 0;
    for (int width = 2; width <= 14; ++width) {  // 15 want a wider sum
      const Json answer = ask(Json{
          {"format", "int" + std::to_string(width)},
          {"technology", technology},
          {"structure", "wallace"},
          {"lanes", 16},
          {"pipelined", true},
          {"rung", "L0"}}.dump());
      EXPECT_GT(answer["each"].get<double>(), before) << technology << ", " << width << " bits";
      before = answer["each"];
    }
  }
}

/// Open libraries have records and no calibration: units by name or by all fields, and a sentence for anything else.
TEST(OpenLibraries, AnswerFromRecords) {
  const auto each = [](const std::string& unit) {
    const Json answer = ask(R"({"technology": "asap7", "stimulus": "gauss", "unit": ")" + unit + "\"}");
    EXPECT_EQ(answer["rung"], "L3");
    EXPECT_EQ(answer["technology"], "asap7");
    return answer["each"].get<double>();
  };
  const double int8 = each("int8_mac_wallace_16_pipelined");
  EXPECT_NEAR(int8, 0.33e-12, 0.02e-12);
  EXPECT_NEAR(each("nvfp4_mac_16") / int8, 0.5, 0.03);
  const Json by_fields = ask(R"({"technology": "asap7", "format": "nvfp4", "a": "gauss", "b": "gauss"})");
  EXPECT_EQ(by_fields["each"].get<double>(), each("nvfp4_mac_16"));
  EXPECT_EQ(ask(R"({"technology": "asap7", "format": "int8", "a": "gauss", "b": "gauss"})")["each"].get<double>(),
            int8);
  try {
    ask(R"({"technology": "asap7", "format": "int8", "structure": "array"})");
    FAIL() << "an array of one lane is not recorded";
  } catch (const FieldError& error) {
    EXPECT_NE(std::string(error.what()).find("in asap7 only recorded units answer"), std::string::npos) << error.what();
  }
}

/// Formats with more bits cost more, in every technology and on every rung that answers.
TEST(Recipes, EveryAnswerAboutAUnitNamesItsOwn) {
  for (const char* question :
       {R"({"format": "int8"})", R"({"format": "nvfp4", "rung": "L0"})", R"({"format": "nvfp4", "rung": "L2"})",
        R"({"unit": "nvfp4_mac_16"})", R"({"format": "fp8_e4m3", "technology": "tpuv4i_7nm"})",
        R"({"format": "int8", "recipe": "area"})",
        R"({"format": "int8", "mode": "pann_paper", "technology": "osu018"})"})
    EXPECT_EQ(ask(question)["recipe"], "area") << question;
  // No netlist is behind these.
  for (const char* question :
       {R"({"memory": "sram", "technology": "horowitz_45nm", "size_bytes": 32768})",
        R"({"format": "int8", "mode": "pann_paper"})", R"({"technology": "ice40up", "events": {"net": 1}})"})
    EXPECT_TRUE(ask(question)["recipe"].is_null()) << question;
}

TEST(Recipes, OthersAnswerFromTheirRecords) {
  const std::string unit = R"({"technology": "asap7", "stimulus": "gauss", "unit": "nvfp4_mac_16")";
  const Json area = ask(unit + "}");
  for (const std::string& recipe : gauge().recipes()) {
    const std::string end = R"(, "recipe": ")" + recipe + "\"}";
    const Json answer = ask(unit + end);
    EXPECT_EQ(answer["recipe"], recipe);
    EXPECT_EQ(answer["netlist_sha256"] == area["netlist_sha256"], recipe == "area");
    // The same by its fields.
    const Json by_fields = ask(R"({"technology": "asap7", "format": "nvfp4", "a": "gauss", "b": "gauss")" + end);
    EXPECT_EQ(by_fields["each"], answer["each"]);
  }
  EXPECT_EQ(gauge().recipes(), (std::vector<std::string>{"area", "adders", "speed"}));
  // Full adders as cells are cheaper, INT8's most of all.
  const auto each = [](const std::string& format, const std::string& recipe) {
    return ask(R"({"technology": "asap7", "a": "gauss", "b": "gauss", "format": ")" + format + R"(", "recipe": ")" +
               recipe + "\"}")["each"]
        .get<double>();
  };
  EXPECT_LT(each("int8", "adders"), each("int8", "area"));
  EXPECT_LT(each("nvfp4", "adders"), each("nvfp4", "area"));
  EXPECT_GT(each("nvfp4", "adders") / each("int8", "adders"), each("nvfp4", "area") / each("int8", "area"));
}

TEST(Recipes, AreRefusedWhereNothingIsRecorded) {
  expect_refused(R"({"format": "int8", "recipe": "magic"})", "recipe", "magic", "area, adders, speed");
  expect_refused(R"({"format": "int8", "technology": "sg13g2", "recipe": "adders"})", "recipe", "adders",
                 "area, speed");
  expect_refused(R"({"format": "int8", "technology": "tpuv4i_7nm", "recipe": "adders"})", "recipe", "adders", "area");
  expect_refused(R"({"format": "fp8_e4m3", "technology": "asap7", "recipe": "adders"})", "recipe", "adders",
                 "nvfp4_mac_16");
  expect_refused(R"({"format": "int8", "technology": "asap7", "stimulus": "digits", "recipe": "adders"})", "recipe",
                 "adders", "a stimulus");
  expect_refused(R"({"format": "int8", "rung": "L0", "recipe": "adders"})", "recipe", "adders", "L2 and L3");
  expect_refused(R"({"format": "int8", "mode": "pann_paper", "recipe": "adders"})", "recipe", "adders", "area");
  expect_refused(R"({"format": "int8", "recipe": ""})", "recipe", "", "the name of a recipe");
}

TEST(Operands, TF32IsNeverCheaperThanBF16) {
  std::vector<std::string> technologies;
  for (const TechnologyInfo& technology : gauge().technologies())
    if (technology.kind == "cited" || !technology.calibration.empty()) technologies.push_back(technology.name);
  std::erase(technologies, "ice40up");  // measured
  ASSERT_GE(technologies.size(), 5U);
  for (const std::string& technology : technologies) {
    for (const char* rung : {"best", "L0", "L3"}) {
      const auto each = [&](const char* format) {
        return ask(Json{{"format", format}, {"technology", technology}, {"rung", rung}}.dump())["each"].get<double>();
      };
      EXPECT_GT(each("tf32"), each("bf16")) << technology << " " << rung;
      EXPECT_GT(each("fp32"), each("tf32")) << technology << " " << rung;
    }
  }
}

TEST(Operands, WideFloatingPointNumbersAreGaussianUnlessSaid) {
  const Json bf16 = ask(R"({"format": "bf16", "rung": "L3"})");
  EXPECT_EQ(bf16["stimulus"], "gauss");
  EXPECT_EQ(ask(R"({"format": "bf16", "rung": "L3", "a": "uniform", "b": "uniform"})")["stimulus"], "uniform");
  EXPECT_EQ(ask(R"({"format": "nvfp4", "rung": "L3"})")["stimulus"], "uniform");
}

/// Where no unit was fitted, the error that is given grows, and holds what the record says.
TEST(Range, IsOfStructureLanesAndWidthTogether) {
  const std::string wallace = R"({"format": "int4", "structure": "wallace", "lanes": 16, "rung": "L0")";
  const Json far = ask(wallace + "}"), near = ask(R"({"format": "int4", "structure": "wallace", "rung": "L0"})");
  EXPECT_TRUE(near["in_range"]);
  EXPECT_FALSE(far["in_range"]);
  EXPECT_NE(far["notes"].dump().find("lanes is 16, an extrapolation"), std::string::npos) << far["notes"];
  // A doubling from eight lanes: twice the error.
  EXPECT_NEAR(far["error"]["mean_abs"].get<double>(), 2 * near["error"]["mean_abs"].get<double>(), 1e-12);
  EXPECT_NEAR(far["error"]["max_abs"].get<double>(), 2 * near["error"]["max_abs"].get<double>(), 1e-12);
  EXPECT_GT(far["error"]["max_abs"], 0.47);
  expect_refused(wallace + R"(, "strict": true})", "lanes", "16", "characterized in osu018");
  // 16 lanes were fitted, and an accumulator of 48 bits, but not both.
  const Json both = ask(R"({"format": "int8", "lanes": 16, "acc_width": 48, "rung": "L0"})");
  EXPECT_FALSE(both["in_range"]);
  EXPECT_NE(both["notes"].dump().find("at least as large"), std::string::npos) << both["notes"];
  EXPECT_TRUE(ask(R"({"format": "int6", "lanes": 16, "rung": "L0"})")["in_range"]);
  // E5M2 was fitted up to eight lanes.
  const Json e5m2 = ask(R"({"format": "fp8_e5m2", "lanes": 16, "rung": "L0"})");
  EXPECT_FALSE(e5m2["in_range"]);
  EXPECT_GT(e5m2["error"]["max_abs"], 0.14);
}

TEST(Memories, SramBySizeAndPort) {
  const auto question = [](double bytes, double port, const char* technology = "cacti_7nm") {
    return Json{{"memory", "sram"}, {"technology", technology}, {"size_bytes", bytes}, {"port_bits", port},
                {"bits", port},     {"operation", "read"}};
  };
  const auto access = [&](double bytes, double port) {
    return ask(question(bytes, port).dump())["value"].get<double>();
  };
  EXPECT_NEAR(access(32768, 64), 2.136e-12, 1e-15);
  EXPECT_NEAR(access(32768, 512) / 512, 0.0113e-12, 1e-16);
  // A power law along an edge, and along the diagonal of as many words.
  EXPECT_NEAR(access(32768 * std::sqrt(2.0), 64), std::sqrt(access(32768, 64) * access(65536, 64)), 1e-18);
  EXPECT_NEAR(access(32768, 64 * std::sqrt(2.0)), std::sqrt(access(32768, 64) * access(32768, 128)), 1e-18);
  EXPECT_NEAR(access(32768 * std::sqrt(2.0), 64 * std::sqrt(2.0)), std::sqrt(access(32768, 64) * access(65536, 128)),
              1e-18);
  // Each port between two at the fewest words, 64, and at the largest size.
  for (double port = 32; port <= 1024; port += 7) {
    EXPECT_GT(access(8 * port, port), 0) << port;
    EXPECT_GT(access(16777216, port), access(8 * port, port)) << port;
  }
  Json both = question(32768, 64);
  both["operation"] = "store_and_fetch";
  Json write = question(32768, 64);
  write["operation"] = "write";
  EXPECT_NEAR(ask(both.dump())["value"], access(32768, 64) + ask(write.dump())["value"].get<double>(), 1e-18);
  // Its source, error and the rest of what CACTI says.
  const Json scaled = ask(question(32768, 64).dump()), own = ask(question(32768, 64, "cacti_45nm").dump());
  EXPECT_NE(scaled["notes"].dump().find("Scaled from 22 nm"), std::string::npos) << scaled["notes"];
  EXPECT_NE(scaled["notes"].dump().find("states no error; the cited figures of tpuv4i_7nm"), std::string::npos);
  EXPECT_TRUE(scaled["error"].is_null());
  EXPECT_EQ(own["notes"].dump().find("Scaled"), std::string::npos) << own["notes"];
  EXPECT_NE(own["notes"].dump().find("cited figures of horowitz_45nm"), std::string::npos) << own["notes"];
  EXPECT_GT(scaled["leakage_w"], 0);
  EXPECT_EQ(scaled["technology"], "cacti_7nm");
  // A technology without a table of its own has the one that speaks for it; a cited table has no ports.
  EXPECT_EQ(ask(question(32768, 64, "asap7").dump())["value"], scaled["value"]);
  EXPECT_EQ(gauge().sram_table("horowitz_45nm"), "cacti_45nm");
  EXPECT_EQ(gauge().sram_table("osu018"), "");
  expect_refused(question(32768, 64, "horowitz_45nm").dump(), "port_bits", "64", "that of cacti_45nm has");
  expect_refused(question(128, 32).dump(), "size_bytes", "128", "256 to 16777216 bytes");
  expect_refused(question(4096, 1024).dump(), "size_bytes", "4096", "8192 or more at a port of 1024 bits");
  expect_refused(question(32768, 2048).dump(), "port_bits", "2048", "32 to 1024 bits");
  expect_refused(R"({"memory": "sram", "technology": "cacti_7nm", "size_bytes": 32768})", "port_bits", "0",
                 "32 to 1024");
}

TEST(Memories, CitedTablesAndTheCodecPapersModel) {
  const auto each = [](const std::string& fields) { return ask("{" + fields + "}")["each"].get<double>(); };
  const std::string ddr = R"("memory": "dram", "technology": "ddr3_1066")";
  EXPECT_NEAR(each(ddr) * 1e12, 77.4, 0.05);
  EXPECT_NEAR(each(ddr + R"(, "operation": "write")") * 1e12, 63.3, 0.05);
  EXPECT_NEAR(each(ddr + R"(, "operation": "store_and_fetch")") * 1e12, 140.7, 0.05);
  // An 8-bit 56 x 56 x 64 map, written and read: 225.9 uJ.
  const Json map =
      ask("{" + ddr + R"(, "operation": "store_and_fetch", "bits": )" + std::to_string(8 * 56 * 56 * 64) + "}");
  EXPECT_NEAR(map["value"].get<double>() * 1e6, 225.9, 0.05);
  const std::string sram = R"("memory": "sram", "technology": "horowitz_45nm", "size_bytes": )";
  EXPECT_NEAR(each(sram + "8192") * 64e12, 10, 1e-9);
  EXPECT_NEAR(each(sram + "32768") * 64e12, 20, 1e-9);
  EXPECT_NEAR(each(sram + "1048576") * 64e12, 100, 1e-9);
  EXPECT_NEAR(each(sram + "16384") * 64e12, 10 * std::sqrt(2.0), 1e-9);
  const Json beyond = ask("{" + sram + "4194304}");
  EXPECT_FALSE(beyond["in_range"]);
  EXPECT_GT(beyond["value"].get<double>() * 64e12, 100);
  expect_refused("{" + sram + R"(4194304, "strict": true})", "size_bytes", "4194304", "8192 to 1048576");
  expect_refused(R"({"memory": "sram", "technology": "horowitz_45nm"})", "size_bytes", "0", "above 0");
  expect_refused("{" + ddr + R"(, "bits": -8})", "bits", "-8", "not negative");
  expect_refused("{" + ddr + R"(, "size_bytes": 8})", "size_bytes", "8", "sram only");
  expect_refused(R"({"memory": "rope", "technology": "apollo"})", "memory", "rope of technology apollo", "hbm2");
  const Json hbm = ask(R"({"memory": "hbm2", "technology": "tpuv4i_7nm", "bits": 64})");
  EXPECT_NEAR(hbm["value"].get<double>(), 350e-12, 1e-18);
  EXPECT_NE(hbm["notes"].dump().find("28.6 %"), std::string::npos);
  EXPECT_FALSE(hbm["verified"]);
}

TEST(Events, OfAMeasuredTechnology) {
  const Json one = ask(R"({"technology": "ice40up", "events": {"net": 1}})");
  const Json many =
      ask(R"({"id": 3, "technology": "ice40up", "events": {"net": 100, "clock": 1, "static": 1e-6}, "explain": true})");
  EXPECT_EQ(many["rung"], "L5");
  EXPECT_EQ(many["unit"], "J");
  EXPECT_GT(many["error"]["samples"], 0);
  EXPECT_FALSE(many["calibration"].get<std::string>().empty());
  double sum = 0;
  for (const Json& part : many["explanation"]["parts"]) sum += part["value"].get<double>();
  EXPECT_NEAR(sum, many["value"].get<double>(), 1e-20);
  EXPECT_GT(many["value"].get<double>(), 100 * one["value"].get<double>());
  expect_refused(R"({"technology": "ice40up", "events": {"prayer": 1}})", "events", "prayer", "net");
  expect_refused(R"({"technology": "ice40up", "events": {"net": -1}})", "events", "net: -1", "none negative");
  expect_refused(R"({"technology": "ice40up", "events": 3})", "events", "3", "an object");
  expect_refused(R"({"events": {}})", "technology", "missing", "ice40up");
  expect_refused(R"({"technology": "horowitz_45nm", "events": {}})", "technology", "horowitz_45nm", "ice40up");
}

TEST(Measured, UnitsAreEstimatesAndSaySo) {
  const Json unit = ask(R"({"technology": "ice40up", "format": "int8", "count": 2, "explain": true})");
  EXPECT_EQ(unit["rung"], "L5");
  EXPECT_EQ(unit["record"], "int8_mac_array");
  EXPECT_TRUE(unit["error"].is_null());
  EXPECT_EQ(unit["value"].get<double>(), 2 * unit["each"].get<double>());
  EXPECT_NE(unit["notes"][0].get<std::string>().find("not a measurement"), std::string::npos);
  const Json& cycle = unit["explanation"]["parts"][0]["parts"][0];
  double sum = 0;
  for (const Json& part : cycle["parts"]) sum += part["value"].get<double>();
  EXPECT_NEAR(sum, cycle["value"], 1e-5 * sum);
  expect_refused(R"({"technology": "ice40up", "format": "int7"})", "technology", "ice40up", "int8 x int8 array");
  expect_refused(R"({"technology": "ice40up", "format": "int8", "a": "gauss"})", "technology", "ice40up", "uniform");
  expect_refused(R"({"technology": "ice40up", "format": "int8", "rung": "L3"})", "rung", "L3", "best or L5");
}

TEST(Measured, ProductsOfABoardAnswerAsTheirFileSays) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("ng_query_test_" + std::to_string(std::random_device{}()) + ".json");
  std::ofstream(file)
      << R"({"id": "0123456789abcdef", "technology": "my-board", "about": "a board of mine", "products": [
    {"mac": {"format": "nvfp4", "lanes": 16, "accumulator": true}, "tile": "1x1x16", "operands": "gauss, seed 1",
     "bitstream_sha256": "ab", "how": "ina226, 8 triples", "energy_per_mac_j": 5e-11, "interval_j": [4.9e-11, 5.1e-11],
     "power_w": 0.01, "macs_per_s": 2e8}]})";
  const Gauge gauge(std::array{file});
  std::filesystem::remove(file);
  const Json got =
      Json::parse(answer_json(gauge, R"({"technology": "my-board", "format": "nvfp4", "count": 10, "explain": true})"));
  EXPECT_NEAR(got["value"].get<double>(), 5e-10, 1e-20);
  EXPECT_EQ(got["rung"], "L5");
  EXPECT_EQ(got["calibration"], "0123456789abcdef");
  EXPECT_NE(got["notes"].dump().find("ina226, 8 triples"), std::string::npos);
  EXPECT_NE(got["notes"].dump().find("49 pJ to 51 pJ"), std::string::npos) << got["notes"];
  try {
    (void)answer_json(gauge, R"({"technology": "my-board", "format": "int8"})");
    ADD_FAILURE() << "a format that was not measured is answered";
  } catch (const FieldError& error) {
    EXPECT_EQ(error.field(), "format");
    EXPECT_NE(std::string(error.what()).find("nvfp4"), std::string::npos) << error.what();
  }
}

TEST(JsonLines, AStreamGoesOnAfterABadLine) {
  std::istringstream questions(
      "{\"id\": 7, \"mode\": \"pann_paper\", \"format\": \"int4\"}\n"
      "\n"
      "{\"format\": \"int4\", \n"
      "{\"id\": \"x\\n\", \"format\": \"int99\"}\n"
      "{\"mode\": \"pann_paper\", \"format\": \"uint2\"}");
  std::ostringstream answers;
  EXPECT_EQ(answer_lines(gauge(), questions, answers), 2U);
  std::vector<Json> lines;
  std::istringstream in(answers.str());
  for (std::string line; std::getline(in, line);) lines.push_back(Json::parse(line));
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0]["value"], 36);
  EXPECT_EQ(lines[0]["id"], 7);
  EXPECT_EQ(lines[1]["error"]["line"], 3);
  EXPECT_EQ(lines[2]["error"]["line"], 4);
  EXPECT_EQ(lines[2]["error"]["field"], "format");
  EXPECT_EQ(lines[2]["id"], "x\n");
  EXPECT_EQ(lines[3]["value"], 10);
}

TEST(JsonLines, OrderHoldsOverManyLines) {
  std::string questions;
  for (int i = 1; i <= 20000; ++i)
    questions += R"({"mode":"pann_paper","format":"int4","count":)" + std::to_string(i) + "}\n";
  std::istringstream in(questions);
  std::ostringstream out;
  EXPECT_EQ(answer_lines(gauge(), in, out), 0U);
  std::istringstream answers(out.str());
  int i = 0;
  for (std::string line; std::getline(answers, line);) ASSERT_EQ(Json::parse(line)["value"], 36 * ++i);
  EXPECT_EQ(i, 20000);
}

TEST(Answers, FromManyThreadsAreTheSame) {
  const std::string question = R"({"mode":"pann_paper","format":"int4","explain":true})";
  const std::string expected = answer_json(gauge(), question);
  std::vector<std::thread> threads;
  std::atomic<int> same = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) same += answer_json(gauge(), question) == expected;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(same, 4000);
}

TEST(Answers, TextSaysNumberAndSource) {
  Question question;
  question.technology = "tpuv4i_7nm";
  question.unit_by_default = true;
  question.count = 1000;
  question.explain = true;
  const std::string text = to_text(gauge().energy(question));
  for (const char* part :
       {"100 pJ", "tpuv4i_7nm", "error not known", "Each: 100 fJ", "Unverified", "int8 multiplication"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(NamedUnits, AnswerAtTheRungsThatTheyHave) {
  // No multiply-accumulate, so no format to ask for.
  double sums[2];
  int rung = 0;
  for (const char* name : {"L2", "L3"}) {
    const Json answer = ask(R"({"unit": "nvfp4_exact_acc", "stimulus": "gauss", "explain": true, "rung": ")" +
                            std::string(name) + R"("})");
    EXPECT_EQ(answer["rung"], name);
    EXPECT_EQ(answer["unit"], "J");
    EXPECT_EQ(answer["record"], "nvfp4_exact_acc");
    EXPECT_EQ(answer["stimulus"], "gauss");
    EXPECT_EQ(answer["netlist_sha256"].get<std::string>().size(), 64U);
    EXPECT_EQ(answer["stimulus_sha256"].get<std::string>().size(), 64U);
    EXPECT_EQ(answer["explanation"]["name"], "a term added");
    const Json& cycle = answer["explanation"]["parts"][0];
    double sum = 0;
    for (const Json& part : cycle["parts"])
      if (part["unit"] == "J") sum += part["value"].get<double>();
    EXPECT_NEAR(sum, cycle["value"].get<double>(), 1e-6 * sum);
    EXPECT_EQ(answer["value"], cycle["value"]);  // one operation a cycle
    EXPECT_TRUE(answer["error"].is_null());
    EXPECT_TRUE(answer["calibration"].is_null());
    sums[rung++] = sum;
  }
  EXPECT_LT(sums[0], sums[1]);
  EXPECT_EQ(ask(R"({"unit": "nvfp4_exact_acc", "stimulus": "gauss"})")["rung"], "L3");
  // A multiply-accumulate too, of all its lanes.
  EXPECT_EQ(ask(R"({"unit": "int8_mac_array", "stimulus": "uniform", "count": 2})")["value"],
            ask(R"({"format": "int8", "structure": "array", "rung": "L3", "count": 2})")["value"]);
}

TEST(Questions, AnswersSayWhatWasNotGiven) {
  const auto noted = [](const std::string& question, const std::string& words) {
    const Json notes = ask(question)["notes"];
    return std::ranges::any_of(
        notes, [&](const Json& note) { return note.get<std::string>().find(words) != std::string::npos; });
  };
  // A width beside a format that has one; the note is of each operand, format key and sign.
  for (const std::string format : {"int8", "uint8"}) {
    const std::string named = R"({"rung": "L0", "format": ")" + format + "\"";
    EXPECT_FALSE(noted(named + "}", "operands are"));
    EXPECT_FALSE(noted(named + R"(, "a_width": 8})", "operands are"));
    EXPECT_TRUE(noted(named + R"(, "a_width": 4})", "operands are " + format.substr(0, format.size() - 1) + "4 x "));
    EXPECT_TRUE(noted(named + R"(, "b_width": 3})", "goes before that of format " + format));
    EXPECT_TRUE(noted(named + R"(, "b_signed": )" + (format == "int8" ? "false}" : "true}"), "operands are"));
  }
  EXPECT_FALSE(noted(R"({"rung": "L0", "format": "integer", "a_width": 4})", "operands are"));
  EXPECT_TRUE(noted(R"({"rung": "L0", "a_format": "int", "b_format": "int8", "b_width": 4})", "of format int8"));
  // An integer format alone is the like-for-like unit, at any rung; a structure without lanes is told what 16 cost.
  for (const std::string format : {"int8", "int4", "uint6"}) {
    const std::string named = R"({"rung": "L0", "format": ")" + format + "\"";
    const double whole = ask(named + R"(, "structure": "wallace", "lanes": 16, "pipelined": true})")["each"];
    EXPECT_EQ(ask(named + "}")["each"].get<double>(), whole) << format;
    EXPECT_TRUE(noted(named + "}", "wallace, 16 lanes, 32-bit accumulator, pipelined, like for like")) << format;
    EXPECT_FALSE(noted(named + R"(, "reference": "single_lane"})", "like for like")) << format;
    const double wide = ask(named + R"(, "structure": "array", "lanes": 16})")["each"];
    EXPECT_TRUE(noted(named + R"(, "structure": "array"})", "share one: " + quantity_text(wide, "J"))) << format;
    EXPECT_FALSE(noted(named + R"(, "lanes": 1})", "Lanes were not given"));
  }
  EXPECT_TRUE(noted(R"({"rung": "L0", "format": "int8", "accumulator": false})", "Taken as int8 x int8 wallace,"));
  EXPECT_TRUE(noted(R"({"rung": "L0", "format": "nvfp4"})", "Lanes were not given: 16, a block"));
  EXPECT_FALSE(noted(R"({"rung": "L0", "format": "nvfp4", "lanes": 16})", "Lanes were not given"));
  for (const std::string other : {R"("format": "int8", "technology": "horowitz_45nm")", R"("format": "bf16")",
                                  R"("format": "int8", "structure": "serial", "accumulator": false)",
                                  R"("format": "int4", "mode": "pann_paper")"})
    EXPECT_FALSE(noted("{" + other + "}", "Lanes were not given")) << other;
}

TEST(NamedUnits, AreRefusedByField) {
  // Eight candidates of all, those that have the word before those that resemble it.
  for (const auto& [word, expected] :
       std::vector<std::pair<std::string, std::string>>{{"ng_nothing", "lists all"},
                                                        {"nvfp4_mac", "nvfp4_mac_16"},
                                                        {"nvfp4_mac16", "did you mean nvfp4_mac_16?"},
                                                        {"int8_mac_arry", "did you mean int8_mac_array?"}}) {
    const std::string question = R"({"unit": ")" + word + "\"}";
    expect_refused(question, "unit", word, expected);
    const std::string text = refused(question)["expected"];
    EXPECT_EQ(std::ranges::count(text, ','), 8) << text;
    EXPECT_LT(text.size(), 300U);
  }
  expect_refused(R"({"unit": ""})", "unit", "", "name of a recorded unit");
  for (const std::string rung : {"L0", "L1"})
    expect_refused(R"({"unit": "fifo_32x4", "rung": ")" + rung + "\"}", "rung", rung, "asked by format");
  expect_refused(R"({"unit": "fifo_32x4", "stimulus": "digits"})", "stimulus", "digits", "recorded on: uniform, gauss");
  expect_refused(R"({"unit": "fifo_32x4", "rung": "L5"})", "rung", "L5", "L3");
  expect_refused(R"({"unit": "fifo_32x4", "format": "int8"})", "format", "int8", "left out");
  expect_refused(R"({"unit": "fifo_32x4", "technology": "horowitz_45nm"})", "unit", "fifo_32x4", "there is none");
}

TEST(NamedUnits, DoNotAnswerForTheDefaultMultiplyAccumulate) {
  for (const RecordInfo& record : gauge().records()) {
    if (record.operation.empty() || record.stimulus == "relu") continue;  // relu is of no multiply-accumulate
    EXPECT_NE(ask(R"({"format": "int8", "stimulus": ")" + record.stimulus + R"("})")["record"], record.unit);
  }
}

}  // namespace
}  // namespace narrowgauge::power
