#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "syncyte/base.h"  // the one place where codes and types are numbered

namespace syncyte::base {

/// What every layer throws; the C interface turns it into a status and the thread's last error.
class error : public std::runtime_error {
 public:
  error(syncyte_status_t status, const std::string& message) : std::runtime_error(message), status_(status) {}
  syncyte_status_t status() const { return status_; }

 private:
  syncyte_status_t status_;
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

/// The parts of a message about an argument; the C interface adds the operation and the rank.
struct wrong_argument {
  std::string_view object = {};  // what it belongs to, where the argument's name does not say it
  std::string_view argument;
  std::int64_t axis = -1;  // or position in a list; -1: the whole argument
  std::string value;
  std::string expected;
};

/// Throws "object: argument[axis] is value; expected expected".
[[noreturn]] void refuse(syncyte_status_t status, const wrong_argument& wrong);

bool is_known_status(syncyte_status_t status);

/// Constant name of a status code.
const char* status_name(syncyte_status_t status);

/// Status and message of the exception in flight; for the last catch (...) before a boundary.
error current_error();

/// errno as "reason (NAME)".
std::string errno_text(int code);

}  // namespace syncyte::base
