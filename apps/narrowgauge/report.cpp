// SPDX-License-Identifier: Apache-2.0
#include "report.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <limits>

#include "narrowgauge/error.hpp"
#include "narrowgauge/io/npy.hpp"
#include "narrowgauge/io/text.hpp"

namespace narrowgauge::cli {
namespace {

template <class... Args>
std::string formatted(const char* format, Args... args) {
  std::string text(static_cast<std::size_t>(std::snprintf(nullptr, 0, format, args...)), '\0');
  std::snprintf(text.data(), text.size() + 1, format, args...);
  return text;
}

}  // namespace

std::string number(double value) { return formatted("%.6g", value); }

std::string counted(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string exact_number(double value) {
  const std::string decimal = formatted("%.9g", value);
  if (!std::isfinite(value) || std::stod(decimal) == value) {
    if (decimal.find('e') == std::string::npos) return decimal;
  }
  int exponent = 0;
  const double mantissa = 2 * std::frexp(value, &exponent);
  const std::string power = "2^" + std::to_string(exponent - 1);
  return mantissa == 1 ? power : mantissa == -1 ? "-" + power : formatted("%.9g x ", mantissa) + power;
}

std::string hex(std::uint32_t value, int digits) { return formatted("0x%0*X", digits, value); }

Json json_number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double sqnr_db(std::span<const double> reference, std::span<const double> values) {
  double signal = 0;
  double noise = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const double error = values[i] - reference[i];
    signal += reference[i] * reference[i];
    noise += error * error;
  }
  if (noise == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(signal / noise);
}

std::string sqnr_text(double db) {
  if (std::isnan(db)) return "undefined: the result contains NaN";
  if (std::isinf(db)) return db > 0 ? "infinite (no error at all)" : "-infinite (no signal, or an infinite result)";
  return formatted("%.2f dB", db);
}

std::string size_text(std::size_t rows, std::size_t cols) {
  return std::to_string(rows) + " x " + std::to_string(cols);
}

Json matrix_json(const io::Matrix& matrix) {
  return {{"path", io::utf8(matrix.path)}, {"dtype", matrix.dtype}, {"rows", matrix.rows}, {"columns", matrix.cols}};
}

std::string matrix_text(const io::Matrix& matrix) {
  return size_text(matrix.rows, matrix.cols) + " " + matrix.dtype + "  (" + io::shown(matrix.path) + ")";
}

void print_facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::size_t width = 0;
  for (const auto& [label, text] : facts) width = std::max(width, label.size());
  for (const auto& [label, text] : facts) {
    std::printf("%-*s  %s\n", static_cast<int>(width), label.c_str(), text.c_str());
  }
}

void print_table(const std::vector<std::string>& headings, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const std::string& heading : headings) widths.push_back(heading.size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  const auto print_row = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    line.erase(line.find_last_not_of(' ') + 1);
    std::puts(line.c_str());
  };
  print_row(headings);
  std::vector<std::string> rules;
  for (const std::size_t width : widths) rules.emplace_back(width, '-');
  print_row(rules);
  for (const auto& row : rows) print_row(row);
}

void print_json(const Json& json) { std::puts(json.dump(2, ' ', false, Json::error_handler_t::replace).c_str()); }

void finish_report() {
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good()) return;
  pollfd reader{STDOUT_FILENO, POLLOUT, 0};
  if (poll(&reader, 1, 0) == 1 && (reader.revents & POLLERR) != 0) {
    throw Error(
        "the report could not be written to standard output: its reader has closed the pipe; expected one that reads "
        "to the end, or a file");
  }
  throw Error("the report could not be written to standard output" +
              (errno ? std::string(": ") + std::strerror(errno) : "") + "; expected free space");
}

ProgressBar::~ProgressBar() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
}

void ProgressBar::update(std::uint64_t done, std::uint64_t total) {
  if (watch_.seconds() < next_ || total == 0 || !isatty(STDERR_FILENO)) return;
  next_ = watch_.seconds() + 0.1;
  shown_ = true;
  constexpr int width = 40;
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const int filled = static_cast<int>(share * width);
  const double left = share > 0 ? watch_.seconds() * (1 - share) / share : 0;
  std::fprintf(stderr, "\r%s [%s%s] %3.0f %%, %.0f s left \x1b[K", label_.c_str(), std::string(filled, '#').c_str(),
               std::string(width - filled, '.').c_str(), 100 * share, left);
}

}  // namespace narrowgauge::cli
