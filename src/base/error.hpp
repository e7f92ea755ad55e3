// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "base/generated/known.hpp"
#include "syncyte/base.h"  // defines the numbers of status codes and dtypes

namespace syncyte::base {

/// Structured fields of an error, beside its text; empty or -1 where they do not apply.
struct error_fields {
  std::string operation = {};  // name of the C function without "syncyte_"; the C interface adds it
  std::string object = {};     // name of the tensor, store or other object that the operation acts on
  std::string argument = {};
  std::int64_t axis = -1;  // dimension of the argument if ndim > 0, otherwise position in a list; -1: the whole
  int ndim = 0;            // dimensions of the array that axis and lists of extents are about; 0: no array
  std::string value = {};
  std::string expected = {};
  int rank = -1;            // the rank that failed; -1: this process, or several ranks
  std::string reason = {};  // text without operation and ranks, if the whole text has them
};

/// The exception that all layers throw. The C interface turns it into a status and the thread's last error.
class error : public std::runtime_error {
 public:
  error(syncyte_status_t status, const std::string& message) : std::runtime_error(message), status_(status) {}
  error(syncyte_status_t status, const std::string& message, error_fields fields)
      : std::runtime_error(message),
        status_(status),
        fields_(std::make_shared<const error_fields>(std::move(fields))) {}

  syncyte_status_t status() const { return status_; }
  const error_fields& fields() const;

  /// Serializes text and fields for other ranks, where unpack() restores them. An agreement sets the reason there.
  std::string pack() const;
  static error unpack(syncyte_status_t status, std::string_view packed);

 private:
  syncyte_status_t status_;
  std::shared_ptr<const error_fields> fields_;  // null: none
};

// Four functions throw errors:
//
//                       always      unless a condition holds
//   with a text only    fail()      require()
//   with fields too     refuse()    expect(), for an argument
//
// Messages name the argument, its value and the expected value. The C interface prepends the rank.

/// Throws an error with a formatted message.
template <class... Arguments>
[[noreturn]] void fail(syncyte_status_t status, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw error(status, fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// fail() unless the condition holds.
template <class... Arguments>
void require(bool condition, syncyte_status_t status, fmt::format_string<Arguments...> format,
             Arguments&&... arguments) {
  if (!condition) [[unlikely]]
    fail(status, format, std::forward<Arguments>(arguments)...);
}

/// Throws an error with these fields. Without a `text` it is "object: argument[axis] is value; expected expected".
[[noreturn]] void refuse(syncyte_status_t status, error_fields wrong, std::string text = "");

/// An argument, or one element of it.
struct argument_name {
  argument_name(const char* given) : name(given) {}
  argument_name(const std::string& given) : name(given.c_str()) {}  // `given` must outlive this
  template <std::integral Index>
  argument_name(const char* given, Index index, int dimensions = 0)
      : name(given), axis(static_cast<std::int64_t>(index)), ndim(dimensions) {}

  const char* name;
  std::int64_t axis = -1;
  int ndim = 0;  // dimensions of the array that axis is about; 0: no array
};

/// refuse() unless the condition holds: `expect(root < size, SYNCYTE_ERR_ARGUMENT, "root", root, "0 to {}", size - 1)`.
template <class Value, class... Arguments>
void expect(bool condition, syncyte_status_t status, const argument_name& argument, const Value& value,
            fmt::format_string<Arguments...> expected, Arguments&&... arguments) {
  if (!condition) [[unlikely]]
    refuse(status, {.argument = argument.name,
                    .axis = argument.axis,
                    .ndim = argument.ndim,
                    .value = fmt::format("{}", value),
                    .expected = fmt::format(expected, std::forward<Arguments>(arguments)...)});
}

/// expect() that an enum has the value: `expect_known<known::op>(op, "op")`.
template <class Enum>
void expect_known(std::int32_t value, const argument_name& argument, syncyte_status_t status = SYNCYTE_ERR_ARGUMENT) {
  expect(Enum::contains(value), status, argument, value, "{}", Enum::text);
}

/// Constant name of a status code.
const char* status_name(syncyte_status_t status);

/// Converts the exception in flight; call it in the last catch (...) before a boundary.
error current_error();

/// Runs a step; returns the error that it throws, if any.
template <class Step>
std::optional<error> error_of(Step&& step) {
  try {
    std::forward<Step>(step)();
    return std::nullopt;
  } catch (...) {
    return current_error();
  }
}

/// An errno value as "reason (NAME)".
std::string errno_text(int code);

}  // namespace syncyte::base
