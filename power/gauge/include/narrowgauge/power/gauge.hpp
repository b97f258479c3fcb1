// SPDX-License-Identifier: Apache-2.0
// The energy gauge: ask what a multiply-accumulate costs, get a number that says where it comes from and how far off
// its rung of the ladder is on units that it was not fitted to. docs/energy.md is the manual.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "narrowgauge/power/features.hpp"
#include "narrowgauge/power/field_error.hpp"
#include "narrowgauge/power/mac_spec.hpp"

namespace narrowgauge::power {

/// The rung of the ladder (docs/energy_ladder.md). `best`: the highest that can answer. `cited`, in answers only: a
/// published constant as it stands.
enum class Rung : std::uint8_t { best, L0, L1, L2, L3, L4, L5, cited };

/// `refined`: joules, from the closed forms as fitted and from the records. `pann_paper`: the paper's flips.
enum class Mode : std::uint8_t { refined, pann_paper };

/// What an integer format alone stands for, and a cited integer constant. `like_for_like`: reference_mac(), which the
/// other formats' cells are compared with. `single_lane`: an array multiplier of one lane without a register before its
/// accumulator, as it was up to 0.1.0.
enum class Reference : std::uint8_t { like_for_like, single_lane };

std::string_view name(Rung rung);
std::string_view name(Mode mode);
std::string_view name(Reference reference);

struct Question {
  MacQuestion unit;
  std::string technology;  ///< empty: osu018; in mode pann_paper, none: the answer is in flips
  Rung rung = Rung::best;
  Mode mode = Mode::refined;
  Reference reference = Reference::like_for_like;
  double count = 1;     ///< how many multiply-accumulates; finite, not negative
  bool strict = false;  ///< refuse to extrapolate
  bool explain = false;
  std::string recipe;    ///< of the mapping (power/recipes/recipes.json); empty: "area"; others at L2 and L3 only
  std::string stimulus;  ///< L2 and L3: the recorded stimulus by name, "digits"; empty: the one like the distributions
  std::string record;    ///< a recorded unit by its name, in place of `unit`; `count` is of its operations
  std::optional<double> energy_per_flip;  ///< joules; mode pann_paper only
  bool lanes_by_default = false;          ///< lanes were left out: the answer says which, and what 16 would give
  bool unit_by_default = false;           ///< a format alone: Gauge::usual_unit says for which unit the answer is
  std::vector<std::string> notes;         ///< sentences about the question, for its answer
};

/// One number of a derivation: the sum of its parts, or count x each.
struct Term {
  std::string name;
  double value = 0;
  std::string unit;  ///< "J", "flip", "1", "W"
  std::string how;   ///< a few words: what was multiplied with what, or where it is from
  std::vector<Term> parts;
};

/// How far the rung is off, relative to `against`, on units that the calibration has not seen. Outside of the range
/// that was characterized both errors are those on held-out units times 1 + the distance (docs/energy.md, Range).
struct RungError {
  double mean_abs = 0;
  double max_abs = 0;
  int samples = 0;
  std::string against;  ///< the rung compared with
  std::string of;       ///< what the samples are of: the question's format, or "all formats" if none of it was held out
};

/// How an answer about a cited technology came from a cited constant: constant x ratio.
struct Anchor {
  std::string to;         ///< what the constant is of: "int8 multiply-accumulate"
  double constant_j = 0;  ///< as cited
  double ratio = 1;       ///< unit asked for / that one, both in the flow of `flow`
  std::string flow;       ///< calibrated technology of the ratio
};

struct Answer {
  double value = 0;  ///< of the whole question: count x each
  std::string unit;  ///< "J", or "flip"
  double each = 0;   ///< of one multiply-accumulate (structure none: of one weight element), operation, bit of memory
  double leakage_w = std::numeric_limits<double>::quiet_NaN();  ///< of the whole unit, not in value; NaN: not known
  Rung rung = Rung::L0;
  Mode mode = Mode::refined;
  std::string technology;          ///< empty in mode pann_paper without one
  std::string calibration;         ///< id; for a cited technology, that of the flow that gave the ratio
  std::string recipe;              ///< of the mapping of the netlists behind the number; empty: there are none
  std::optional<RungError> error;  ///< absent: not known, and a note says why
  std::optional<Anchor> anchor;    ///< a cited technology; the error of the anchoring is not known
  std::string record;              ///< unit of power/units.json, where the answer is its record
  std::string stimulus;
  std::string netlist_sha256, stimulus_sha256;
  bool in_range = true;  ///< within what the calibration was fitted on
  bool verified = true;  ///< false: rests on a cited constant or formula that nobody has checked at its source
  std::vector<std::string> notes;  ///< sentences: extrapolations, anchors, unverified constants
  std::optional<Term> explanation;
};

/// A memory access, from cited tables (power/memory.json) or from CACTI's (power/sram).
struct MemoryQuestion {
  std::string memory;      ///< "sram", "dram", "hbm2", "gddr6"
  std::string technology;  ///< of the table
  double bits = 1;         ///< moved; finite, not negative
  double size_bytes = 0;   ///< sram only
  double port_bits = 0;    ///< of a word that an access moves; where the table knows ports, and only there
  enum class Operation : std::uint8_t { read, write, store_and_fetch } operation = Operation::read;
  bool strict = false;
  bool explain = false;
};

std::string_view name(MemoryQuestion::Operation operation);

/// Events counted on an implementation, where a technology is calibrated by measurement (L5): net toggles of a placed
/// and routed FPGA design, say.
struct EventQuestion {
  std::string technology;
  std::vector<std::pair<std::string, double>> events;  ///< name and how many (of a power: for how many seconds)
  bool explain = false;
};

/// Throws FieldError for the first field that is out of its range, or does not go with the others.
void validate(const Question& question);

struct TechnologyInfo {
  std::string name, kind, what, citation, calibration;
  bool can_answer = false;  ///< false: neither calibration nor records are there
  std::string limit;        ///< what it cannot answer, and why; empty: nothing in particular
};

/// A unit of power/units.json as recorded in one technology.
struct RecordInfo {
  std::string unit, technology, stimulus;
  MacSpec mac;
  double l2_j = 0, l3_j = 0;   ///< per multiply-accumulate, or operation
  std::string operation = {};  ///< what a unit does that is no multiply-accumulate; empty: `mac` describes it
};

/// All that is known, loaded once. Answers are const and may be asked for from any number of threads.
class Gauge {
 public:
  /// With the data that the library was built with.
  Gauge();
  /// With calibrations of one's own besides the library's data (files as power/calibration/<technology>.json has them).
  explicit Gauge(std::span<const std::filesystem::path> calibrations);
  ~Gauge();
  Gauge(Gauge&&) noexcept;
  Gauge& operator=(Gauge&&) noexcept;

  /// The question for the unit that an integer format alone stands for: the reference's structure, lanes and register
  /// at the format's width, with a note that says so. Other questions stay as they are. energy() and energy_counted()
  /// take it themselves; who counts operands for the latter takes its unit.
  Question usual_unit(Question question) const;
  Answer energy(const Question& question) const;
  /// The price that all points of a space share: L3 of the recorded unit. Where it has no record, that of the units
  /// most like it (the nearest lanes, between two widths interpolated) times what the closed forms say of the two; of a
  /// format without a unit in the technology, osu018's price times the ratio of INT8's. A cited technology has its
  /// constant times the ratio of such prices, and one without records its closed forms.
  Answer carried(const Question& question) const;
  Answer energy(const MemoryQuestion& question) const;
  Answer energy(const EventQuestion& question) const;
  /// L1: the features counted on the operands that the unit meets, cycle by cycle (features_counted), in place of
  /// the expected ones. `cycles`: of a multiply-accumulate on those operands (cycles_per_mac); left out: those that the
  /// question's statistics give.
  Answer energy_counted(const Question& question, const Features& counted, std::optional<double> cycles = {}) const;

  /// L0 for many questions about one technology: a plain function object, no strings, no allocation.
  class Fast {
   public:
    /// Joules of one multiply-accumulate. The question must have passed validate().
    double operator()(const MacQuestion& question) const {
      return dot(features(question), coefficients_) * cycles_per_mac(question);
    }

   private:
    friend class Gauge;
    Features coefficients_{};
  };
  /// Throws FieldError where the technology has no calibration of its own (a cited one is anchored: ask energy()).
  Fast prepare(std::string_view technology) const;

  std::vector<TechnologyInfo> technologies() const;
  /// Of the recipe "area".
  std::vector<RecordInfo> records() const;
  /// The recipes of mapping that units are recorded under.
  std::vector<std::string> recipes() const;
  /// Of the cited tables, as questions about one bit.
  std::vector<MemoryQuestion> memories() const;
  /// The table of SRAM by size and port that speaks for a technology, or has that name; empty: none.
  std::string sram_table(const std::string& technology) const;

 private:
  struct Data;
  std::unique_ptr<const Data> data_;
};

/// The library's own data, loaded at the first call.
const Gauge& gauge();

}  // namespace narrowgauge::power
