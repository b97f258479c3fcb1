// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <string>

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/quant/rules.hpp"

// kernels.inc is compiled as it is for the compiler's own target, and on x86-64 with GCC once more for AVX2 and
// AVX-512: whole functions under a target pragma, because vector types are lowered before a function could be cloned or
// inlined. No FMA: it changes nothing where products are exact, and everything elsewhere must round twice.
#define NG_VECTOR_BYTES 16
namespace narrowgauge::detail::baseline {
#include "kernels.inc"
}
#undef NG_VECTOR_BYTES

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define NG_X86_KERNELS 1

#pragma GCC push_options
#pragma GCC target("avx2")
#define NG_VECTOR_BYTES 32
namespace narrowgauge::detail::avx2 {
#include "kernels.inc"
}
#undef NG_VECTOR_BYTES
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#define NG_VECTOR_BYTES 64
namespace narrowgauge::detail::avx512 {
#include "kernels.inc"
}
#undef NG_VECTOR_BYTES
#pragma GCC pop_options
#endif

namespace narrowgauge::detail {
namespace {

Kernels choose() {
  const char* wish_text = std::getenv("NARROWGAUGE_ISA");
  const std::string wish = wish_text && *wish_text ? wish_text : "avx512";
  if (wish != "baseline" && wish != "avx2" && wish != "avx512") {
    throw Error("NARROWGAUGE_ISA is '" + wish + "': expected baseline, avx2 or avx512, or the variable unset or empty");
  }
#ifdef NG_X86_KERNELS
  __builtin_cpu_init();
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (wish == "avx512" && has_avx512) return avx512::table("avx512");
  if (wish != "baseline" && __builtin_cpu_supports("avx2")) return avx2::table("avx2");
#endif
  return baseline::table("baseline");
}

}  // namespace

const Kernels& kernels() {
  static const Kernels chosen = choose();
  return chosen;
}

}  // namespace narrowgauge::detail
