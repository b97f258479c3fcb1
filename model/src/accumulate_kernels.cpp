// SPDX-License-Identifier: Apache-2.0
// accumulate_kernels.inc is compiled for the instruction sets that kernels.cpp has, and in its way.
#include "accumulate_kernels.hpp"

#include <bit>
#include <cstring>

#include "kernels.hpp"

#define NG_VECTOR_BYTES 16
namespace narrowgauge::detail::accumulate_baseline {
#include "accumulate_kernels.inc"
}  // namespace narrowgauge::detail::accumulate_baseline
#undef NG_VECTOR_BYTES

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define NG_X86_KERNELS 1
#pragma GCC push_options
#pragma GCC target("avx2")
#define NG_VECTOR_BYTES 32
namespace narrowgauge::detail::accumulate_avx2 {
#include "accumulate_kernels.inc"
}  // namespace narrowgauge::detail::accumulate_avx2
#undef NG_VECTOR_BYTES
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#define NG_VECTOR_BYTES 64
namespace narrowgauge::detail::accumulate_avx512 {
#include "accumulate_kernels.inc"
}  // namespace narrowgauge::detail::accumulate_avx512
#undef NG_VECTOR_BYTES
#pragma GCC pop_options
#endif

namespace narrowgauge::detail {

const AccumulateKernels& accumulate_kernels() {
  static const AccumulateKernels chosen = [] {
    const std::string_view isa = kernels().isa;
#ifdef NG_X86_KERNELS
    if (isa.starts_with("avx512")) return accumulate_avx512::table(isa);
    if (isa == "avx2") return accumulate_avx2::table(isa);
#endif
    return accumulate_baseline::table(isa);
  }();
  return chosen;
}

}  // namespace narrowgauge::detail
