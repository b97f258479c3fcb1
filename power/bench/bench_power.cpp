// SPDX-License-Identifier: Apache-2.0
// How fast the energy gauge answers, on one thread. items_per_second is questions a second. The questions differ in
// format, widths, structure, lanes and operands; the first pass builds their tables and is not timed.
#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "narrowgauge/power.h"
#include "narrowgauge/power/gauge.hpp"
#include "narrowgauge/power/json.hpp"

namespace {

using namespace narrowgauge::power;

std::vector<MacQuestion> questions() {
  std::vector<MacQuestion> list;
  for (const Distribution distribution : {Distribution::uniform, Distribution::gauss}) {
    const OperandStatistics operand{distribution, nullptr};
    for (const Structure structure : {Structure::array, Structure::booth, Structure::wallace}) {
      for (const int width : {2, 4, 8}) {
        for (const int lanes : {1, 4, 16}) {
          MacSpec mac;
          mac.a_width = mac.b_width = width;
          mac.structure = structure;
          mac.lanes = lanes;
          list.push_back({mac, operand, operand});
        }
      }
    }
    for (const MacFormat format : {MacFormat::fp8_e4m3, MacFormat::fp8_e5m2, MacFormat::nvfp4}) {
      MacSpec mac;
      mac.set_format(format);
      mac.lanes = 16;
      list.push_back({mac, operand, operand});
    }
  }
  for (const MacQuestion& question : list) validate(question);
  return list;
}

void bench_cpp_prepared(benchmark::State& state) {
  const auto list = questions();
  const Gauge::Fast fast = gauge().prepare("osu018");
  for (const MacQuestion& question : list) benchmark::DoNotOptimize(fast(question));
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(fast(list[i]));
    if (++i == list.size()) i = 0;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(bench_cpp_prepared);

void bench_cpp_answer(benchmark::State& state) {
  std::vector<Question> list;
  for (const MacQuestion& unit : questions()) {
    Question question;
    question.unit = unit;
    question.rung = Rung::L0;
    list.push_back(question);
    gauge().energy(question);
  }
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(gauge().energy(list[i]));
    if (++i == list.size()) i = 0;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(bench_cpp_answer);

void bench_c(benchmark::State& state) {
  ng_power* handle = nullptr;
  ng_power_question question = ng_power_question_default();
  question.rung = NG_POWER_L0;
  ng_power_answer answer;
  char message[256];
  if (ng_power_open(nullptr, 0, &handle, message, sizeof message) != NG_POWER_OK ||
      ng_power_energy(handle, &question, &answer, message, sizeof message) != NG_POWER_OK) {
    state.SkipWithError(message);
  }
  for (auto _ : state) {
    ng_power_energy(handle, &question, &answer, message, sizeof message);
    benchmark::DoNotOptimize(answer);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
  ng_power_close(handle);
}
BENCHMARK(bench_c);

void bench_json_lines(benchmark::State& state) {
  const int lines = 10000;
  std::string text;
  const auto list = questions();
  for (int i = 0; i < lines; ++i) {
    const MacQuestion& question = list[static_cast<std::size_t>(i) % list.size()];
    nlohmann::ordered_json json = to_json(question.mac);
    json["a"] = json["b"] = name(question.a.distribution);
    json["technology"] = "osu018";
    json["rung"] = "L0";
    text += json.dump() + "\n";
  }
  for (auto _ : state) {
    std::istringstream in(text);
    std::ostringstream out;
    if (answer_lines(gauge(), in, out) != 0) state.SkipWithError("a line was refused");
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * lines);
}
BENCHMARK(bench_json_lines)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
