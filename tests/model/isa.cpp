// SPDX-License-Identifier: Apache-2.0
// The instruction set that NARROWGAUGE_ISA asks for is the one that is tested: all tests are skipped, and ctest says
// so, where the processor lacks it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "kernels.hpp"

namespace narrowgauge {
namespace {

class Isa : public testing::Environment {
  void SetUp() override {
    const char* const wish = std::getenv("NARROWGAUGE_ISA");
    if (wish == nullptr || *wish == '\0' || detail::kernels().isa == wish) return;
    GTEST_SKIP() << "This processor has no kernels for " << wish << "; it would test " << detail::kernels().isa << ".";
  }
};

const testing::Environment* const isa = testing::AddGlobalTestEnvironment(new Isa);

}  // namespace
}  // namespace narrowgauge
