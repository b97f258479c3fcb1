// SPDX-License-Identifier: Apache-2.0
// The right operand of many products, unpacked once.
#pragma once

#include <memory>
#include <vector>

#include "narrowgauge/progress.hpp"
#include "narrowgauge/quant/quantized_matrix.hpp"

namespace narrowgauge {

namespace detail {
struct Unpacked;
}

/// A right operand that keeps the form that the kernels read. The first product unpacks it, and all others find it: a
/// product of few rows is several times faster then. The form takes 1 byte an element of 4 bits, and of 8 bits 4
/// (E4M3) or 6 to 8 (E5M2). Copies share it, also between threads.
class RightOperand {
 public:
  /// Takes a matrix that nobody changes any more. Throws Error if it is null, and as check() does.
  explicit RightOperand(std::shared_ptr<const QuantizedMatrix> matrix);
  explicit RightOperand(QuantizedMatrix matrix);

  const QuantizedMatrix& matrix() const { return *matrix_; }
  /// For gemm().
  detail::Unpacked& unpacked() const { return *unpacked_; }

 private:
  std::shared_ptr<const QuantizedMatrix> matrix_;
  std::shared_ptr<detail::Unpacked> unpacked_;
};

/// gemm_sums(a, b.matrix(), threads, progress).
std::vector<float> gemm_sums(const QuantizedMatrix& a, const RightOperand& b, unsigned threads = 0,
                             const Progress& progress = {});

/// gemm(a, b.matrix(), threads, progress).
std::vector<float> gemm(const QuantizedMatrix& a, const RightOperand& b, unsigned threads = 0,
                        const Progress& progress = {});

}  // namespace narrowgauge
