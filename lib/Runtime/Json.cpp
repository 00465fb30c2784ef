//===- Json.cpp - JSON text with checked access -----------------*- C++ -*-===//
//
// Part of the HLA project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"

#include "Error.h"

#include <algorithm>
#include <set>

using namespace hla::runtime;
using nlohmann::json;

namespace {

// `constants` may nest; everything else needs six levels.
constexpr int deepestNesting = 32;

[[noreturn]] void fail(HlaStatus status, const std::string &place,
                       const std::string &expected, const std::string &got) {
  std::string where = place.empty() ? "" : place + ": ";
  throw Failure(status, "manifest.json: " + where + "expected " + expected +
                            ", but got " + got);
}

std::string locate(std::string_view text, size_t byte) {
  // nlohmann counts bytes from 1, the one after the last read being at fault.
  std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
  size_t line = 1 + std::count(before.begin(), before.end(), '\n');
  size_t start = before.rfind('\n');
  size_t column =
      before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(column);
}

} // namespace

json hla::runtime::parseJson(std::string_view text) {
  // The keys seen in each object that is open.
  std::vector<std::set<std::string>> keys;
  auto check = [&](int depth, json::parse_event_t event, json &parsed) {
    switch (event) {
    case json::parse_event_t::object_start:
    case json::parse_event_t::array_start:
      if (depth >= deepestNesting)
        fail(HLA_STATUS_MALFORMED_JSON, "",
             "at most " + std::to_string(deepestNesting) + " levels of nesting",
             "more");
      if (event == json::parse_event_t::object_start)
        keys.emplace_back();
      break;
    case json::parse_event_t::object_end:
      keys.pop_back();
      break;
    case json::parse_event_t::key:
      if (!keys.back().insert(parsed.get<std::string>()).second)
        fail(HLA_STATUS_MALFORMED_JSON, "", "each key once in an object",
             quote(parsed.get<std::string>()) + " twice");
      break;
    default:
      break;
    }
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), check);
  } catch (const json::parse_error &error) {
    std::string reason = error.what();
    // Drop the library's "[json.exception...] parse error at ...: ".
    if (size_t colon = reason.find(": "); colon != std::string::npos)
      reason = reason.substr(colon + 2);
    throw Failure(HLA_STATUS_MALFORMED_JSON,
                  "manifest.json: " + locate(text, error.byte) +
                      ": expected JSON, but got a " +
                      quote(reason).substr(1, quote(reason).size() - 2));
  } catch (const json::exception &error) {
    // A number beyond double's range.
    throw Failure(HLA_STATUS_MALFORMED_JSON,
                  "manifest.json: expected JSON, but got " +
                      quote(error.what()));
  }
}

std::string JsonView::describe() const {
  if (value->is_object())
    return "an object";
  if (value->is_array())
    return "an array of " + std::to_string(value->size());
  if (value->is_string())
    return quote(value->get_ref<const std::string &>());
  return value->dump();
}

std::string JsonView::placeOf(std::string_view key) const {
  return place.empty() ? std::string(key) : place + "." + std::string(key);
}

void JsonView::failType(const std::string &expected) const {
  fail(HLA_STATUS_WRONG_TYPE, place, expected, describe());
}

void JsonView::failValue(const std::string &expected) const {
  failValue(expected, describe());
}

void JsonView::failValue(const std::string &expected,
                         const std::string &got) const {
  fail(HLA_STATUS_INVALID_VALUE, place, expected, got);
}

void JsonView::expectKeys(std::initializer_list<std::string_view> known) const {
  if (!value->is_object())
    failType("an object");
  for (const auto &member : value->items())
    if (std::find(known.begin(), known.end(), member.key()) == known.end()) {
      std::string names;
      for (std::string_view name : known)
        names += (names.empty() ? "" : ", ") + std::string(name);
      fail(HLA_STATUS_UNKNOWN_KEY, place, "only the keys " + names,
           quote(member.key()));
    }
}

std::optional<JsonView> JsonView::find(const char *key) const {
  if (!value->is_object())
    failType("an object");
  auto it = value->find(key);
  if (it == value->end())
    return std::nullopt;
  return JsonView(*it, placeOf(key));
}

JsonView JsonView::at(const char *key) const {
  if (std::optional<JsonView> result = find(key))
    return *result;
  fail(HLA_STATUS_MISSING_KEY, place, "a key '" + std::string(key) + "'",
       "none");
}

std::vector<JsonView> JsonView::elements(size_t fewest, size_t most) const {
  std::string expected = fewest == most
                             ? "an array of " + std::to_string(most)
                             : "an array of " + std::to_string(fewest) +
                                   " to " + std::to_string(most);
  if (!value->is_array())
    failType(expected);
  if (value->size() < fewest || value->size() > most)
    failValue(expected);
  std::vector<JsonView> result;
  for (size_t i = 0; i < value->size(); ++i)
    result.emplace_back((*value)[i], place + "[" + std::to_string(i) + "]");
  return result;
}

std::vector<std::pair<std::string, JsonView>> JsonView::members() const {
  if (!value->is_object())
    failType("an object");
  std::vector<std::pair<std::string, JsonView>> result;
  for (const auto &member : value->items())
    result.emplace_back(member.key(),
                        JsonView(member.value(), placeOf(member.key())));
  return result;
}

const std::string &JsonView::string() const {
  if (!value->is_string())
    failType("a string");
  return value->get_ref<const std::string &>();
}

bool JsonView::boolean() const {
  if (!value->is_boolean())
    failType("true or false");
  return value->get<bool>();
}

double JsonView::number() const {
  if (!value->is_number())
    failType("a number");
  return value->get<double>();
}

int64_t JsonView::integer(int64_t minimum, int64_t maximum) const {
  std::string expected = "an integer from " + std::to_string(minimum) + " to " +
                         std::to_string(maximum);
  if (!value->is_number_integer())
    failType(expected);
  // get<int64_t> would wrap an unsigned value beyond int64.
  if (value->is_number_unsigned() &&
      value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX))
    failValue(expected);
  int64_t result = value->get<int64_t>();
  if (result < minimum || result > maximum)
    failValue(expected);
  return result;
}
