// SPDX-License-Identifier: Apache-2.0
// Workloads of other tools, as the JSON that workload_from_json reads: topologies of SCALE-Sim, layers of ZigZag and
// problems of Timeloop.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace narrowgauge::power {

/// A topology of SCALE-Sim: CSV whose first line names the columns, of convolutions or of matrix products.
///   Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides[, Stride Width]
///   Layer, M, N, K
/// A column Sparsity ("2:4") and, of matrix products, a column Batch may follow. Blank lines, commas at the end of a
/// line and what stands behind a # are not read. A layer whose name has "DP" is depthwise, as in SCALE-Sim, and a
/// window that the strides reach in part is a whole one, so that products are counted as SCALE-Sim counts them.
/// Throws Error naming line, column, value and what is allowed.
nlohmann::json workload_from_scalesim(std::string_view csv);

/// The parsed YAML of ZigZag (a list of layers) or of Timeloop (a mapping that has "problem"). The loops of a layer
/// become a matrix product by the operands that they index: those of the result and one operand are rows or columns,
/// those of both operands alone are summed, and those of all three count equal products. Numbers may be floating
/// point where they are whole. Layers of ZigZag that add, pool or multiply element by element are left out.
/// Throws Error naming layer, key, value and what is allowed.
nlohmann::json workload_from_tree(const nlohmann::json& tree);

}  // namespace narrowgauge::power
