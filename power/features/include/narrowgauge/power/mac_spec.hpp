// SPDX-License-Identifier: Apache-2.0
// What is priced: one multiply-accumulate unit, described by the parameters that the closed forms know, and the
// statistics of its operands. The same description is the JSON of a query and of an entry of power/units.json.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace narrowgauge::power {

/// Numbers that a unit multiplies. `integer` has free widths; the others bring their own. fp4_e2m1 and fp4_e3m0 are
/// elements without block scales (fp4_e3m0: LUQ's FP4 [1,3,0]).
enum class MacFormat : std::uint8_t {
  integer,
  fp8_e4m3,
  fp8_e5m2,
  nvfp4,
  mxfp4,
  bf16,
  fp16,
  fp32,
  tf32,
  fp4_e2m1,
  fp4_e3m0
};

/// How a product is made. `none`: repeated additions (PANN), no multiplier.
enum class Structure : std::uint8_t { array, booth, wallace, serial, none };

/// In which order products meet the accumulator (docs/pann.md, Formulas). `plain`: two's complement, as they come;
/// the others are the unsigned split: positive weights first, two isolated adders, one adder between two registers.
enum class Schedule : std::uint8_t { plain, sorted, dual, muxed };

struct MacSpec {
  MacFormat a_format = MacFormat::integer;  ///< of operand a (activations)
  MacFormat b_format = MacFormat::integer;  ///< of operand b (weights)
  int a_width = 8;                          ///< bits of operand a, 1 to 16; integer only
  int b_width = 8;                          ///< bits of operand b, 1 to 16; integer only
  bool a_signed = true;
  bool b_signed = true;
  /// This and what is said to be "integer only" below goes with integers in both operands.
  Structure structure = Structure::array;
  int lanes = 1;                        ///< products a cycle, 1 to 1024: a dot-product unit
  bool accumulator = true;              ///< with the accumulator, or the products (their sum over lanes) alone
  int acc_width = 32;                   ///< bits, 1 to 128; integer only, the others have the width of the tile's
  Schedule schedule = Schedule::plain;  ///< integer only
  double additions = 0;                 ///< R, mean additions per weight, above 0; structure none only
  bool pipelined = false;  ///< a register before the accumulator, as the array's cell has; integer and mxfp4

  bool operator==(const MacSpec&) const = default;

  /// Whether both operands are of one format.
  bool one_format() const { return a_format == b_format; }
  /// Whether this multiplies what LUQ does: integers by FP4 [1,3,0]. Of units of two formats only these are built.
  bool luq() const { return a_format == MacFormat::integer && b_format == MacFormat::fp4_e3m0; }
  /// Whether both operands are of this one.
  bool is(MacFormat format) const { return a_format == format && b_format == format; }
  /// That of both operands. For units that check_priceable has passed.
  MacFormat format() const { return a_format; }
  MacFormat format_of(bool b) const { return b ? b_format : a_format; }
  void set_format(MacFormat format) { a_format = b_format = format; }
};

/// How the values of one operand are distributed.
enum class Distribution : std::uint8_t {
  uniform,      ///< every finite code equally likely
  gauss,        ///< N(0, 1), quantized as the format's quantizer does; integers: clipped at 3 sigma
  half_normal,  ///< |N(0, 1)|, the same: activations after a ReLU without its zeros
  histogram,    ///< as counted on a tensor
};

struct OperandStatistics {
  Distribution distribution = Distribution::uniform;
  /// histogram: how often each code occurs, 2^width entries, any scale; the code is the index (two's complement
  /// pattern for integers; weights of the unsigned split have a sign beside b_width bits). Successive values are taken
  /// as independent.
  std::shared_ptr<const std::vector<double>> histogram;
};

/// A unit and its operands: what the closed forms (L0) need.
struct MacQuestion {
  MacSpec mac;
  OperandStatistics a, b;
};

/// Throws FieldError for the first field that is out of its range, or does not go with the others.
void validate(const MacQuestion& question);

/// What a cited INT8 constant, and the INT8 = 1 of tables, stand for: integers of `width` bits as the array's cell has
/// the other formats, 16 lanes of Wallace multipliers with a register before a 32-bit accumulator.
MacSpec reference_mac(int width = 8);
/// LUQ's product: INT4 in a, FP4 [1,3,0] in b. What questions call format "luq".
MacSpec luq_mac();
/// Whether numbers of this format are wide floating-point ones (bf16, fp16, tf32, fp32): uniform codes of them sum up
/// to NaN, so that Gaussian operands are what a question is about unless it says otherwise.
bool is_wide_float(MacFormat format);

/// The names that questions, units.json and answers use: "integer", "fp8_e4m3"; "array"; "plain"; "uniform".
std::string_view name(MacFormat format);
std::string_view name(Structure structure);
std::string_view name(Schedule schedule);
std::string_view name(Distribution distribution);

/// "int8", "fp4_e3m0", "int4 x fp4_e3m0": the formats of a unit's operands, integers with their widths.
std::string describe_formats(const MacSpec& mac);

/// The unit of a question or of an entry of power/units.json. "format" is of both operands, "a_format" and "b_format"
/// in its place are of each. All may also be int1 to int16 or uint1 to uint16, which set width and sign; format "luq"
/// is int4 and fp4_e3m0; nvfp4 and mxfp4 bring the lanes of one block, 16 and 32, unless "lanes" is given. Throws
/// FieldError naming field, value and range.
MacSpec mac_spec_from_json(const nlohmann::json& json);
nlohmann::ordered_json to_json(const MacSpec& mac);

}  // namespace narrowgauge::power
