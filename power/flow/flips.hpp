// SPDX-License-Identifier: Apache-2.0
// What tools/ngtools/power/rtl_flips.py links with a Verilated unit.
#pragma once

#include <verilated.h>

/// main() of a unit's counter: flips.cpp. `top`: name of its top module; `eval`: evaluates the model of `context`.
int count_flips(int argc, char** argv, const char* top, VerilatedContext& context, void (*eval)());
