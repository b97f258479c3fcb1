// SPDX-License-Identifier: Apache-2.0
// What the commands print with.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace narrowgauge::io {
struct Matrix;
}

namespace narrowgauge::cli {

using Json = nlohmann::ordered_json;

/// Shortest of %.6g: "0.5", "3.40282e+38", "nan", "inf".
std::string number(double value);
/// "1 dimension", "3 dimensions".
std::string counted(std::uint64_t count, std::string_view noun);
/// A decimal of up to 9 digits if that is exact, else with a power of two: "0.015625", "2^-127", "1.5 x 2^-20".
std::string exact_number(double value);
/// 0x7E, at least `digits` digits.
std::string hex(std::uint32_t value, int digits);
/// JSON has no infinities and NaN: those become the strings "inf", "-inf", "nan".
Json json_number(double value);

/// Signal-to-quantization-noise ratio in dB: 10 log10(sum reference^2 / sum (value - reference)^2).
/// inf if there is no noise (also without signal), -inf if there is noise but no signal or a value is infinite, NaN if
/// a value is NaN.
double sqnr_db(std::span<const double> reference, std::span<const double> values);
/// "21.4 dB", "infinite (no error at all)".
std::string sqnr_text(double db);

/// "3 x 5".
std::string size_text(std::size_t rows, std::size_t cols);
/// A matrix that was read: its path, type and extents.
Json matrix_json(const io::Matrix& matrix);
std::string matrix_text(const io::Matrix& matrix);

/// Two columns: label and text.
void print_facts(const std::vector<std::pair<std::string, std::string>>& facts);
/// Left-aligned columns under underlined headings.
void print_table(const std::vector<std::string>& headings, const std::vector<std::vector<std::string>>& rows);
void print_json(const Json& json);
/// All that was printed is on its way. Throws Error if it could not be written.
void finish_report();

/// Seconds since its construction.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// One line on stderr that fills up; appears after half a second, and only on a terminal. Fits narrowgauge::Progress.
class ProgressBar {
 public:
  explicit ProgressBar(std::string label) : label_(std::move(label)) {}
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void update(std::uint64_t done, std::uint64_t total);

 private:
  std::string label_;
  Stopwatch watch_;
  double next_ = 0.5;  // seconds
  bool shown_ = false;
};

}  // namespace narrowgauge::cli
