// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels.hpp"

namespace narrowgauge::detail {

/// The tables of a format with a zero under these options, for the encode kernels.
Encoding make_encoding(const FormatDesc& f, const RoundOptions& options);

}  // namespace narrowgauge::detail
