// SPDX-License-Identifier: Apache-2.0
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
  RequantizedResult gemm_nvfp4(const QuantizedMatrix& a, const QuantizedMatrix& b, float tensor_scale,
                               const RequantizeOptions& options, const Progress& progress) override {
    RequantizedResult result;
    result.run = gemm(a, b, progress);
    result.c = requantize_nvfp4(result.run.c, a.rows, b.rows, tensor_scale, options.relu);
    result.amax = requantize_amax(result.run.c, options.relu);
    result.run.c.clear();
    return result;
  }

 private:
  unsigned threads_;
};

}  // namespace

void check_operands_only(const Compressed& compressed) {
  if (compressed.c) throw Error("results in float32 do not come compressed; ask for them in NVFP4 (gemm_nvfp4)");
}

std::unique_ptr<Engine> make_model_engine(unsigned threads) { return std::make_unique<ModelEngine>(threads); }

}  // namespace narrowgauge
