// SPDX-License-Identifier: Apache-2.0
// The names under which Python knows the enumerations of the model.
#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "narrowgauge/format/round_pack.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge::python {

inline constexpr std::array<std::pair<std::string_view, Rounding>, 4> rounding_names{{
    {"nearest_even", Rounding::nearest_even},
    {"nearest_away", Rounding::nearest_away},
    {"stochastic", Rounding::stochastic},
    {"toward_zero", Rounding::toward_zero},
}};

inline constexpr std::array<std::pair<std::string_view, Overflow>, 4> overflow_names{{
    {"saturate", Overflow::saturate},
    {"ieee", Overflow::ieee},
    {"oracle", Overflow::oracle},
    {"oracle_saturate", Overflow::oracle_saturate},
}};

inline constexpr std::array<std::pair<std::string_view, Scaling>, 4> scaling_names{{
    {"tensor", Scaling::tensor},
    {"vector", Scaling::vector},
    {"1x128", Scaling::block_1x128},
    {"128x128", Scaling::block_128x128},
}};

inline constexpr std::array<std::pair<std::string_view, Scheme>, 6> scheme_names{{
    {"nvfp4", Scheme::nvfp4},
    {"mxfp4", Scheme::mxfp4},
    {"fp8", Scheme::fp8},
    {"mxfp8", Scheme::mxfp8},
    {"luq", Scheme::luq},
    {"int4", Scheme::int4},
}};

}  // namespace narrowgauge::python
