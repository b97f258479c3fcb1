// SPDX-License-Identifier: Apache-2.0
// Affine quantizers: integer codes of 2 to 8 bits under a scale, and an offset or a zero point (docs/quantizers.md,
// Affine integers). The order of float32 operations is that of the papers' own code. The hardware's rule, which
// multiplies instead of dividing, is in quantize_affine.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace narrowgauge {

/// A quantizer with its parameters. Each operation is rounded to float32 by itself.
struct AffineQuantizer {
  int bits = 8;                       ///< of a code, 2 to 8
  bool is_signed = false;             ///< codes -2^(bits - 1) to 2^(bits - 1) - 1, else 0 to 2^bits - 1
  bool ties_away = false;             ///< ties go away from zero, else to the even code
  float scale = 1;                    ///< the step between values of neighbouring codes, above 0
  float offset = 0;                   ///< the value of code 0; used where there is no zero point
  std::optional<float> zero_point{};  ///< a whole number, the code of the number 0
  bool expanded = false;              ///< a value is code scale - zero_point scale, else (code - zero_point) scale

  int low() const { return is_signed ? -(1 << (bits - 1)) : 0; }
  int high() const { return low() + (1 << bits) - 1; }

  /// The code of x: (x - offset) / scale or x / scale + zero_point, plus noise, limited to the codes, rounded.
  /// A NaN gives the largest code.
  int quantize(float x, float noise = 0) const;
  /// The value of a code.
  float dequantize(int code) const;
};

/// How the zero point comes from low / scale.
enum class AffineZero : std::uint8_t {
  none,       ///< there is none: the value of code 0 is the low end of the range
  truncated,  ///< -low / scale toward zero
  even,       ///< to nearest, ties to even
  away        ///< to nearest, ties away from zero
};

/// How a quantizer comes from a range, as the code of a paper has it.
struct AffineRule {
  std::string_view name;
  std::string_view origin;  ///< whose rule it is
  AffineZero zero = AffineZero::none;
  bool clamp_zero = false;  ///< the zero point is limited to the codes
  bool ties_away = false;   ///< of the codes
  bool is_signed = false;   ///< signed codes without an offset
  bool wide_scale = false;  ///< the scale is divided in float64, then rounded
  double least_scale = 0;
  bool power_of_two = false;  ///< the scale is rounded up to a power of two
  bool bounded = false;       ///< the width is limited to 1e-6 to 1e5, the low end to 0 and below
  bool expanded = false;      ///< AffineQuantizer::expanded
};

inline constexpr std::array<AffineRule, 9> affine_rules{{
    {.name = "quantized_pytorch",
     .origin = "eladhoffer/quantized.pytorch, as all of its paths call it",
     .wide_scale = true,
     .least_scale = 1e-8},
    {.name = "quantized_pytorch_zero",
     .origin = "eladhoffer/quantized.pytorch with enforce_true_zero",
     .zero = AffineZero::truncated,
     .clamp_zero = true,
     .wide_scale = true,
     .least_scale = 1e-8},
    {.name = "cnn_quantization",
     .origin = "submission2019/cnn-quantization (ACIQ), in PyTorch",
     .zero = AffineZero::even,
     .least_scale = 1e-8},
    {.name = "cnn_quantization_kernel",
     .origin = "submission2019/cnn-quantization, its CUDA kernel",
     .zero = AffineZero::away,
     .ties_away = true},
    {.name = "cnn_quantization_kernel_power_of_two",
     .origin = "submission2019/cnn-quantization, its CUDA kernel with int_exp",
     .zero = AffineZero::away,
     .ties_away = true,
     .power_of_two = true},
    {.name = "calibtip", .origin = "itayhubara/CalibTIP (AdaQuant), without a zero point", .bounded = true},
    {.name = "calibtip_zero",
     .origin = "itayhubara/CalibTIP (AdaQuant), trainable: with a zero point",
     .zero = AffineZero::even,
     .clamp_zero = true,
     .bounded = true,
     .expanded = true},
    {.name = "lapq", .origin = "ynahshan/nn-quantization-pytorch (LAPQ), weights and activations"},
    {.name = "lapq_signed", .origin = "ynahshan/nn-quantization-pytorch (LAPQ), its signed grid", .is_signed = true},
}};

/// The rule of this name; throws Error with the names if there is none.
const AffineRule& find_affine_rule(std::string_view name);

/// The quantizer of the range `low` to `low + width`. Throws Error for other bits than 2 to 8, ends that are not
/// finite, a width below 0, and a scale of 0 or infinity.
AffineQuantizer affine_quantizer(const AffineRule& rule, int bits, float low, double width);

}  // namespace narrowgauge
