// SPDX-License-Identifier: Apache-2.0
#include "kernels.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <string>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "narrowgauge/error.hpp"
#include "narrowgauge/format/random.hpp"
#include "narrowgauge/quant/rules.hpp"

// kernels.inc (with products.inc) is compiled as it is for the compiler's own target, and on x86-64 with GCC once more
// for AVX2 and AVX-512: whole functions under a target pragma, because vector types are lowered before a function could
// be cloned or inlined. No FMA: it changes nothing where products are exact, and everything elsewhere must round twice.
// Before products.inc, each defines
//   dot2     each sum of 32 bits plus two products of elements of 16 bits; exact where the caller keeps it below 2^31;
//   dot16    each sum of 32 bits plus four products of bytes (without and with sign, below 25 and 13) of 4 vectors
//   each; narrowed two vectors of sums below 2^15, in lanes of 16 bytes: the first one's elements, then the second
//   one's; look_up  out[i] = table[codes[i]] of n codes, of 256;
//   values4  values of codes of 4 bits from the table of their block's scale (kernels.hpp).
#define NG_VECTOR_BYTES 16
namespace narrowgauge::detail::baseline {
#include "vectors.inc"

inline Ints dot2(Ints sum, Shorts a, Shorts b) {
#ifdef __SSE2__
  return sum + reinterpret_cast<Ints>(_mm_madd_epi16(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  const Ints x = reinterpret_cast<Ints>(a), y = reinterpret_cast<Ints>(b);
  return sum + (x << 16 >> 16) * (y << 16 >> 16) + (x >> 16) * (y >> 16);
#endif
}

inline Ints dot16(Ints sum, const Shorts (&a)[4], const Shorts (&b)[4]) {
  Shorts part{};
  for (int i = 0; i < 4; ++i) part += (a[i] & 255) * (b[i] << 8 >> 8) + (a[i] >> 8) * (b[i] >> 8);
  return dot2(sum, part, Shorts{} + static_cast<std::int16_t>(1));
}

inline Shorts narrowed(Ints low, Ints high) {
  Shorts both;
  for (int i = 0; i < 4; ++i)
    both[i] = static_cast<std::int16_t>(low[i]), both[i + 4] = static_cast<std::int16_t>(high[i]);
  return both;
}

inline void values4(const std::uint8_t* codes, const std::uint8_t* scales, std::size_t block, std::size_t n,
                    const float* table, float* out) {
  for (std::size_t first = 0; first < n; first += block) {
    const float* const row = table + std::size_t{16} * scales[first / block];
    for (std::size_t i = first; i < std::min(n, first + block); ++i) out[i] = row[codes[i]];
  }
}

inline void look_up(const std::uint8_t* codes, std::size_t n, const std::int16_t* table, std::int16_t* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = table[codes[i]];
}
#include "kernels.inc"
}  // namespace narrowgauge::detail::baseline
#undef NG_VECTOR_BYTES

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define NG_X86_KERNELS 1

#pragma GCC push_options
#pragma GCC target("avx2")
#define NG_VECTOR_BYTES 32
namespace narrowgauge::detail::avx2 {
#include "vectors.inc"

inline Ints dot2(Ints sum, Shorts a, Shorts b) {
  return sum + reinterpret_cast<Ints>(_mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
}

inline Ints dot16(Ints sum, const Shorts (&a)[4], const Shorts (&b)[4]) {
  Shorts part{};
  for (int i = 0; i < 4; ++i) {
    part += reinterpret_cast<Shorts>(
        _mm256_maddubs_epi16(reinterpret_cast<__m256i>(a[i]), reinterpret_cast<__m256i>(b[i])));
  }
  return dot2(sum, part, Shorts{} + static_cast<std::int16_t>(1));
}

inline Shorts narrowed(Ints low, Ints high) {
  return reinterpret_cast<Shorts>(_mm256_packs_epi32(reinterpret_cast<__m256i>(low), reinterpret_cast<__m256i>(high)));
}

using baseline::look_up;
using baseline::values4;
#include "kernels.inc"
}  // namespace narrowgauge::detail::avx2
#undef NG_VECTOR_BYTES
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#define NG_VECTOR_BYTES 64
namespace narrowgauge::detail::avx512 {
#include "vectors.inc"

inline Ints dot2(Ints sum, Shorts a, Shorts b) {
  return sum + reinterpret_cast<Ints>(_mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}

inline Ints dot16(Ints sum, const Shorts (&a)[4], const Shorts (&b)[4]) {
  Shorts part{};
  for (int i = 0; i < 4; ++i) {
    part += reinterpret_cast<Shorts>(
        _mm512_maddubs_epi16(reinterpret_cast<__m512i>(a[i]), reinterpret_cast<__m512i>(b[i])));
  }
  return dot2(sum, part, Shorts{} + static_cast<std::int16_t>(1));
}

inline Shorts narrowed(Ints low, Ints high) {
  return reinterpret_cast<Shorts>(_mm512_packs_epi32(reinterpret_cast<__m512i>(low), reinterpret_cast<__m512i>(high)));
}

// Of the low seven bits of codes, in tables of 128 entries.
inline __m512i of_128(const __m512i (&part)[4], __m512i code) {
  const __m512i low = _mm512_permutex2var_epi16(part[0], code, part[1]),
                high = _mm512_permutex2var_epi16(part[2], code, part[3]);
  return _mm512_mask_blend_epi16(_mm512_test_epi16_mask(code, _mm512_set1_epi16(64)), low, high);
}

inline void look_up(const std::uint8_t* codes, std::size_t n, const std::int16_t* table, std::int16_t* out) {
  __m512i part[4], upper[4];
  bool mirrored = true;  // of two's complement it is not
  for (int i = 0; i < 4; ++i) {
    part[i] = _mm512_loadu_si512(table + 32 * i);
    upper[i] = _mm512_loadu_si512(table + 128 + 32 * i);
    mirrored &= _mm512_cmpeq_epi16_mask(upper[i], _mm512_sub_epi16(_mm512_setzero_si512(), part[i])) == 0xFFFFFFFF;
  }
  for (std::size_t i = 0; i < n; i += 32) {
    const __mmask32 here = n - i < 32 ? (__mmask32{1} << (n - i)) - 1 : ~__mmask32{0};
    const __m512i code = _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(here, codes + i));
    const __m512i magnitude = of_128(part, code);
    const __mmask32 negative = _mm512_test_epi16_mask(code, _mm512_set1_epi16(128));
    _mm512_mask_storeu_epi16(out + i, here,
                             mirrored ? _mm512_mask_sub_epi16(magnitude, negative, _mm512_setzero_si512(), magnitude)
                                      : _mm512_mask_blend_epi16(negative, magnitude, of_128(upper, code)));
  }
}

inline void values4(const std::uint8_t* codes, const std::uint8_t* scales, std::size_t block, std::size_t n,
                    const float* table, float* out) {
  for (std::size_t first = 0; first < n; first += block) {
    const __m512 row = _mm512_loadu_ps(table + std::size_t{16} * scales[first / block]);
    const std::size_t end = std::min(n, first + block);
    for (std::size_t i = first; i < end; i += 16) {
      const auto here = static_cast<__mmask16>(end - i < 16 ? (1U << (end - i)) - 1 : 0xFFFFU);
      const __m512i code = _mm512_maskz_cvtepu8_epi32(here, _mm_maskz_loadu_epi8(here, codes + i));
      _mm512_mask_storeu_ps(out + i, here, _mm512_maskz_permutexvar_ps(here, code, row));
    }
  }
}
#include "kernels.inc"
}  // namespace narrowgauge::detail::avx512
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,prefer-vector-width=512")
namespace narrowgauge::detail::avx512vnni {
#include "vectors.inc"

inline Ints dot2(Ints sum, Shorts a, Shorts b) {
  return reinterpret_cast<Ints>(
      _mm512_dpwssd_epi32(reinterpret_cast<__m512i>(sum), reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
}

inline Ints dot16(Ints sum, const Shorts (&a)[4], const Shorts (&b)[4]) {
  auto all = reinterpret_cast<__m512i>(sum);
  for (int i = 0; i < 4; ++i) {
    all = _mm512_dpbusd_epi32(all, reinterpret_cast<__m512i>(a[i]), reinterpret_cast<__m512i>(b[i]));
  }
  return reinterpret_cast<Ints>(all);
}

inline Shorts narrowed(Ints low, Ints high) {
  return reinterpret_cast<Shorts>(_mm512_packs_epi32(reinterpret_cast<__m512i>(low), reinterpret_cast<__m512i>(high)));
}

#include "products.inc"

inline Kernels table(std::string_view isa) {
  Kernels kernels = avx512::table(isa);
  kernels.nvfp4 = nvfp4;
  kernels.nvfp4_wide = nvfp4_wide;
  kernels.mxfp4 = mxfp4;
  kernels.fp8 = fp8;
  kernels.mxfp8_block = mxfp8_block;
  kernels.fp8_block = fp8_block;
  return kernels;
}
}  // namespace narrowgauge::detail::avx512vnni
#undef NG_VECTOR_BYTES
#pragma GCC pop_options
#endif

namespace narrowgauge::detail {
namespace {

Kernels choose() {
  const char* wish_text = std::getenv("NARROWGAUGE_ISA");
  const std::string wish = wish_text && *wish_text ? wish_text : "avx512vnni";
  if (wish != "baseline" && wish != "avx2" && wish != "avx512" && wish != "avx512vnni") {
    throw Error("NARROWGAUGE_ISA is '" + wish +
                "'; expected baseline, avx2, avx512 or avx512vnni, or the variable unset or empty");
  }
#ifdef NG_X86_KERNELS
  __builtin_cpu_init();
  const bool has_avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (wish == "avx512vnni" && has_avx512 && __builtin_cpu_supports("avx512vnni")) {
    return avx512vnni::table("avx512vnni");
  }
  if (wish.starts_with("avx512") && has_avx512) return avx512::table("avx512");
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
