// SPDX-License-Identifier: Apache-2.0
// Matrix products added up as matrix instructions of others add: docs/accumulation.md has the rules and their sources.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "narrowgauge/progress.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge {

/// How the products of a dot product become one FP32 number.
enum class Accumulation : std::uint8_t {
  exact,       ///< ours (gemm.hpp): exact sums, rounded once
  blackwell,   ///< NVIDIA's Blackwell: aligned to the largest exponent, truncated, added; result toward zero
  hopper,      ///< NVIDIA's Hopper, FP8: the same with 13 bits
  fp32_chain,  ///< every product, or block of FP4, added in FP32 to nearest
  rvbna,       ///< RISC-V's bulk normalization (Zvdota, Zvbdota), FP8: the same with rounding to odd
};

/// A row of the table of modes.
struct AccumulationMode {
  std::string_view name;
  Accumulation mode;
  std::string_view use;
};

inline constexpr std::array<AccumulationMode, 5> accumulation_modes{{
    {"exact", Accumulation::exact, "exact sums, rounded once: the library's own, in any order the same"},
    {"blackwell", Accumulation::blackwell, "as NVIDIA Blackwell's mma and tcgen05 add: nvfp4, mxfp4, mxfp8, fp8"},
    {"hopper", Accumulation::hopper, "as NVIDIA Hopper's wgmma adds: fp8"},
    {"fp32_chain", Accumulation::fp32_chain, "one FP32 addition after another: all formats"},
    {"rvbna", Accumulation::rvbna, "RISC-V's bulk normalization, 32 products a step: fp8"},
}};

/// The row of this name. Throws Error, listing the known names, if there is none.
const AccumulationMode& find_accumulation(std::string_view name);

/// The format of a matrix instruction's D. E8M13 is FP32 with the low ten bits 0.
enum class MmaResult : std::uint8_t { fp32, e8m13, fp16 };

/// One matrix instruction: its products are summed exactly in groups of `group`; each sum, and C, is aligned to the
/// largest exponent, truncated toward zero at `bits` fraction bits, and added. The result is rounded toward zero, to
/// nearest even for FP16.
struct MmaRule {
  std::size_t length;  ///< products that one instruction adds, K; a multiple of `group`
  std::size_t group;   ///< 16 (FP4 only) or 1
  int bits;            ///< 1 to 35; for `group` 1 at most 25
  MmaResult result;
};

inline constexpr MmaRule blackwell_64{64, 16, 35, MmaResult::fp32};
inline constexpr MmaRule blackwell_32{32, 1, 25, MmaResult::fp32};
inline constexpr MmaRule hopper_32{32, 1, 13, MmaResult::e8m13};

/// An operand of a matrix instruction: `rows` vectors of `k` codes along the contraction, with a block scale each
/// `block` of them.
struct MmaOperand {
  Format element = Format::e2m1;
  std::size_t rows = 0, k = 0;
  std::span<const std::uint16_t> codes;  ///< rows x k
  std::size_t block = 0;                 ///< 0: no scales
  Format scale = Format::ue4m3;          ///< or e8m0; the sign bit of UE4M3 is ignored
  std::span<const std::uint8_t> scales = {};
};

/// D = A x B + C, rows of A x rows of B: along k one instruction after another, each with the D of the one before it as
/// C. `c`: FP32, or FP16 numbers in FP32 for an FP16 result; empty for zeros. NaN is 0x7FFFFFFF, and for an FP16 result
/// the FP32 number of FP16's 0x7FFF. Throws Error if the operands do not fit together or the rule has no such formats.
std::vector<float> mma(const MmaOperand& a, const MmaOperand& b, std::span<const float> c, const MmaRule& rule,
                       unsigned threads = 0, const Progress& progress = {});

/// gemm_sums() in another accumulation; `exact` is gemm_sums() itself. `c`, M x N, is what the sums start from; empty
/// for zeros, and for `exact`. With has_blocked_scales() the mode adds within each 128, from zero, and the rest is as
/// gemm_sums() says; `c` must be empty then. NaN is 0x7FFFFFFF of blackwell and hopper, else 0x7FC00000.
/// Throws Error as gemm_sums() does, and for a format that the mode does not have.
std::vector<float> accumulate_sums(const QuantizedMatrix& a, const QuantizedMatrix& b, Accumulation mode,
                                   std::span<const float> c = {}, unsigned threads = 0, const Progress& progress = {});

/// gemm() in another accumulation: accumulate_sums() times the FP32 scales of the operands.
std::vector<float> gemm(const QuantizedMatrix& a, const QuantizedMatrix& b, Accumulation mode, unsigned threads = 0,
                        const Progress& progress = {});

}  // namespace narrowgauge
