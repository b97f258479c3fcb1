// SPDX-License-Identifier: Apache-2.0
// What is wrong with a question: the field, its value, what was expected.
#pragma once

#include <string>

#include "narrowgauge/error.hpp"

namespace narrowgauge::power {

/// A question that cannot be answered, because of one field of it.
class FieldError : public Error {
 public:
  FieldError(std::string field, std::string value, std::string expected);
  const std::string& field() const { return field_; }
  const std::string& value() const { return value_; }
  const std::string& expected() const { return expected_; }

 private:
  std::string field_, value_, expected_;
};

}  // namespace narrowgauge::power
