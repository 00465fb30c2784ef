//===- Json.h - JSON text with checked access -------------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef HLA_LIB_RUNTIME_JSON_H
#define HLA_LIB_RUNTIME_JSON_H

#include <nlohmann/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hla::runtime {

/// Parses `text`. Throws MALFORMED_JSON with line and column for a syntax
/// error, a key given twice in one object, or nesting that no manifest has.
nlohmann::json parseJson(std::string_view text);

/// A JSON value and its place in the manifest, "launches[0].grid". Accessors
/// throw WRONG_TYPE, MISSING_KEY, UNKNOWN_KEY or INVALID_VALUE, and name the
/// place.
class JsonView {
public:
  JsonView(const nlohmann::json &value, std::string place)
      : value(&value), place(std::move(place)) {}

  /// Checks that this is an object with no key beside those named.
  void expectKeys(std::initializer_list<std::string_view> known) const;

  JsonView at(const char *key) const;
  std::optional<JsonView> find(const char *key) const;

  /// The elements of an array of `fewest` to `most`.
  std::vector<JsonView> elements(size_t fewest, size_t most) const;
  /// The members of an object.
  std::vector<std::pair<std::string, JsonView>> members() const;

  const std::string &string() const;
  bool boolean() const;
  double number() const;
  int64_t integer(int64_t minimum, int64_t maximum) const;

  bool isString() const { return value->is_string(); }
  bool isInteger() const { return value->is_number_integer(); }

  [[noreturn]] void failType(const std::string &expected) const;
  [[noreturn]] void failValue(const std::string &expected) const;
  [[noreturn]] void failValue(const std::string &expected,
                              const std::string &got) const;
  const std::string &getPlace() const { return place; }

private:
  std::string describe() const;
  std::string placeOf(std::string_view key) const;

  const nlohmann::json *value;
  std::string place;
};

} // namespace hla::runtime

#endif // HLA_LIB_RUNTIME_JSON_H
