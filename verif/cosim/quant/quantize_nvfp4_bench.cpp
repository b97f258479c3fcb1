// SPDX-License-Identifier: Apache-2.0
// ng_quantize_nvfp4, and with random bits ng_quantize_nvfp4_sr, against its golden model.
// Build parameters: NG_TINY_SCALES, NG_RAND_BITS, NG_CUTS.
#include "Vdut.h"
#include "quantize_nvfp4_blocks.hpp"

int main(int argc, char** argv) { return narrowgauge::bench::nvfp4::run<Vdut>(argc, argv); }
