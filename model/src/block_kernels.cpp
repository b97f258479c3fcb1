// SPDX-License-Identifier: Apache-2.0
#include "block_kernels.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "kernels.hpp"
#include "narrowgauge/quant/dialect.hpp"
#include "transposable.hpp"

// As in kernels.cpp: whole functions under a target pragma, once per instruction set.
#define NG_VECTOR_BYTES 16
namespace narrowgauge::detail::baseline {
#include "block_kernels.inc"
}  // namespace narrowgauge::detail::baseline
#undef NG_VECTOR_BYTES

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define NG_X86_KERNELS 1

#pragma GCC push_options
#pragma GCC target("avx2")
#define NG_VECTOR_BYTES 32
namespace narrowgauge::detail::avx2 {
#include "block_kernels.inc"
}  // namespace narrowgauge::detail::avx2
#undef NG_VECTOR_BYTES
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#define NG_VECTOR_BYTES 64
namespace narrowgauge::detail::avx512 {
#include "block_kernels.inc"
}  // namespace narrowgauge::detail::avx512
#undef NG_VECTOR_BYTES
#pragma GCC pop_options
#endif

namespace narrowgauge::detail {

const BlockKernels& block_kernels() {
  static const BlockKernels chosen = [] {
#ifdef NG_X86_KERNELS
    if (kernels().isa.starts_with("avx512")) return avx512::table();
    if (kernels().isa == "avx2") return avx2::table();
#endif
    return baseline::table();
  }();
  return chosen;
}

}  // namespace narrowgauge::detail
