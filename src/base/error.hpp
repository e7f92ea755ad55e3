#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "syncyte/base.h"  // the one place where codes and types are numbered

namespace syncyte::base {

/// The subject of an error, beside its text; empty where there is nothing to say.
struct error_fields {
  std::string operation = {};  // name of the C function without "syncyte_"; the C interface adds it
  std::string object = {};     // name of what the argument belongs to, or of what the operation acts on
  std::string argument = {};
  std::int64_t axis = -1;  // dimension of the argument if ndim > 0, otherwise position in a list; -1: the whole
  int ndim = 0;            // dimensions of the array that axis, and lists of extents, are about; 0: of none
  std::string value = {};
  std::string expected = {};
  int rank = -1;            // whose error it is; -1: this process's, or that of several
  std::string reason = {};  // text without operation and ranks, where the whole text has them
};

/// The exception of every layer; the C interface turns it into a status and the thread's last error.
class error : public std::runtime_error {
 public:
  error(syncyte_status_t status, const std::string& message) : std::runtime_error(message), status_(status) {}
  error(syncyte_status_t status, const std::string& message, error_fields fields)
      : std::runtime_error(message),
        status_(status),
        fields_(std::make_shared<const error_fields>(std::move(fields))) {}

  syncyte_status_t status() const { return status_; }
  const error_fields& fields() const;

  /// Text and fields as one string, for other ranks; unpack() makes an error of it again.
  std::string pack() const;
  static error unpack(syncyte_status_t status, std::string_view packed);

 private:
  syncyte_status_t status_;
  std::shared_ptr<const error_fields> fields_;  // null: none
};

/// Throws an error with a formatted message. Messages name the argument, the value and what was expected; the rank is
/// put in front where the error leaves the library.
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

/// Throws "object: argument[axis] is value; expected expected", with these fields.
[[noreturn]] void refuse(syncyte_status_t status, error_fields wrong);

/// Throws a text of its own with these fields.
[[noreturn]] void refuse(syncyte_status_t status, error_fields wrong, const std::string& text);

/// An argument, or one element of it.
struct argument_name {
  argument_name(const char* given) : name(given) {}
  argument_name(const std::string& given) : name(given.c_str()) {}  // which outlives this
  template <std::integral Index>
  argument_name(const char* given, Index index, int dimensions = 0)
      : name(given), axis(static_cast<std::int64_t>(index)), ndim(dimensions) {}

  const char* name;
  std::int64_t axis = -1;
  int ndim = 0;  // where axis is one of so many dimensions
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

bool is_known_status(syncyte_status_t status);

/// Constant name of a status code.
const char* status_name(syncyte_status_t status);

/// Status and message of the exception in flight; for the last catch (...) before a boundary.
error current_error();

/// errno as "reason (NAME)".
std::string errno_text(int code);

}  // namespace syncyte::base
