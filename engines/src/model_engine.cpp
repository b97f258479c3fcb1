// SPDX-License-Identifier: Apache-2.0
#include <sstream>
#include <string>

#include "narrowgauge/engines/engine.hpp"
#include "narrowgauge/error.hpp"
#include "narrowgauge/mac/gemm.hpp"
#include "narrowgauge/quant/requantize.hpp"
#include "narrowgauge/sparse/sparse_product.hpp"

namespace narrowgauge {
namespace {

class ModelEngine final : public Engine {
 public:
  explicit ModelEngine(unsigned threads) : threads_(threads) {}
  std::string_view name() const override { return "model"; }
  void check(Scheme scheme, Format, Format, std::size_t k) const override { check_contraction(scheme, k); }
  EngineResult gemm(const QuantizedMatrix& a, const QuantizedMatrix& b, const Progress& progress) override {
    EngineResult result;
    result.c = narrowgauge::gemm(a, b, threads_, progress);
    result.products = std::uint64_t{a.rows} * b.rows * a.k;
    return result;
  }
  void check_sparse(Scheme scheme, Format, Format, std::size_t k) const override { check_contraction(scheme, k); }
  EngineResult gemm_sparse(const QuantizedMatrix& a, const QuantizedMatrix& b, const NmPattern& pattern,
                           const Progress& progress) override {
    EngineResult result;
    result.c = narrowgauge::gemm_sparse(a, b, pattern, threads_, progress);
    result.products = std::uint64_t{a.rows} * b.rows * a.k;
    return result;
  }
  void check_compressed(Scheme scheme, Format, Format, std::size_t k) const override { check_contraction(scheme, k); }
  EngineResult gemm_compressed(const QuantizedMatrix& a, const QuantizedMatrix& b, const Compressed& compressed,
                               const Progress& progress) override {
    check_operands_only(compressed);
    return gemm(a, b, progress);
  }
  RequantizedResult gemm_requantized(const QuantizedMatrix& a, const QuantizedMatrix& b, float tensor_scale,
                                     const RequantizeOptions& options, const Progress& progress) override {
    check_result_scale(options.format, tensor_scale);
    RequantizedResult result;
    result.run = gemm(a, b, progress);
    result.c = requantize(result.run.c, a.rows, b.rows, options.format, tensor_scale, options.relu);
    result.amax = requantize_amax(result.run.c, options.relu);
    result.run.c.clear();
    return result;
  }
  IntegerResult gemm_integers(const QuantizedMatrix& a, const QuantizedMatrix& b, const AffineRange& c,
                              const Progress& progress) override {
    IntegerResult result;
    result.c = narrowgauge::gemm_integers(a, b, c, threads_, progress);
    result.run.products = std::uint64_t{a.rows} * b.rows * a.k;
    return result;
  }

 private:
  unsigned threads_;
};

}  // namespace

void check_result_scale(ResultFormat format, float tensor_scale) {
  if (is_result_scale(format, tensor_scale)) return;
  std::ostringstream shown;
  shown << tensor_scale;
  throw Error("results in " + std::string(desc(format).name) + " cannot have the tensor scale " + shown.str() +
              "; expected " + result_scales_text(format));
}

void check_operands_only(const Compressed& compressed) {
  if (compressed.c) throw Error("results in float32 do not come compressed; requantize them (gemm_requantized)");
}

std::unique_ptr<Engine> make_model_engine(unsigned threads) { return std::make_unique<ModelEngine>(threads); }

}  // namespace narrowgauge
