// SPDX-License-Identifier: Apache-2.0
#include "engines.hpp"

#include "commands.hpp"
#include "npy.hpp"
#ifdef NG_HAVE_RTL
#include "rtl_engine.hpp"
#endif

namespace narrowgauge::cli {
namespace {

enum class Kind { model, rtl };
constexpr std::array<Choice<Kind>, 2> kinds{{{"model", Kind::model}, {"rtl", Kind::rtl}}};

}  // namespace

std::string engine_names() { return names_of(kinds, "|"); }

std::unique_ptr<Engine> make_engine(const std::string& name, const std::string& trace, unsigned threads) {
  if (choose("--engine", name, kinds) == Kind::model) {
    if (trace.empty()) return make_model_engine(threads);
    throw Error("--trace " + trace + " asks for waveforms, which the model engine does not have; add --engine rtl");
  }
#ifdef NG_HAVE_RTL
  if (!trace.empty()) check_writable(trace);
  return make_rtl_engine({.trace = trace});
#else
  throw Error("--engine rtl is not in this build; configure with -DNG_RTL=ON (needs Verilator), or use --engine model");
#endif
}

std::string gemm_format_names() {
  std::string names;
  for (const GemmFormat& format : gemm_formats) names += (names.empty() ? "" : ", ") + std::string(format.name);
  return names;
}

}  // namespace narrowgauge::cli
