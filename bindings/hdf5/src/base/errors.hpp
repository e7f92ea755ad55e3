#pragma once

#include <fmt/format.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "syncyte/base.h"

namespace syncyte::hdf5 {

/// Fields of an error about an argument; lists such as [2, 3] are extents if the argument has dimensions.
struct wrong_argument {
  std::string object = {};
  std::string argument = {};
  int ndim = 0;
  std::string value = {};
  std::string expected = {};
};

/// The exception of this library; the C interface turns it into a status and the thread's last error.
class error : public std::runtime_error {
 public:
  error(syncyte_status_t status, const std::string& message, wrong_argument wrong = {})
      : std::runtime_error(message), status_(status), wrong_(std::move(wrong)) {}
  syncyte_status_t status() const { return status_; }
  const wrong_argument& wrong() const { return wrong_; }

 private:
  syncyte_status_t status_;
  wrong_argument wrong_;
};

/// Turns "(2, 3)" into "[2, 3]", for the fields.
inline std::string in_brackets(const std::string& list) {
  return list.size() < 2 ? list : fmt::format("[{}]", list.substr(1, list.size() - 2));
}

/// Makes an error the thread's last error.
inline syncyte_status_t report(const error& caught) {
  const wrong_argument& wrong = caught.wrong();
  const syncyte_error_fields_t fields = {sizeof fields,        caught.status(),        -1,           nullptr,
                                         wrong.object.c_str(), wrong.argument.c_str(), -1,           wrong.ndim,
                                         wrong.value.c_str(),  wrong.expected.c_str(), caught.what()};
  return syncyte_error_set_fields(&fields);
}

/// A failed call of Syncyte's C interface, which has already set the thread's last error.
class reported : public std::exception {
 public:
  explicit reported(syncyte_status_t status) : status_(status) {}
  syncyte_status_t status() const { return status_; }
  const char* what() const noexcept override { return "a call of the C interface failed"; }

 private:
  syncyte_status_t status_;
};

template <class... Arguments>
[[noreturn]] void fail(syncyte_status_t status, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw error(status, fmt::format(format, std::forward<Arguments>(arguments)...));
}

template <class... Arguments>
void require(bool condition, syncyte_status_t status, fmt::format_string<Arguments...> format,
             Arguments&&... arguments) {
  if (!condition) [[unlikely]]
    fail(status, format, std::forward<Arguments>(arguments)...);
}

/// Throws an error with fields, "object: argument is value; expected ...", unless the condition holds; `object` may be
/// empty.
template <class Value, class... Arguments>
void expect(bool condition, syncyte_status_t status, const std::string& object, const char* argument,
            const Value& value, fmt::format_string<Arguments...> expected, Arguments&&... arguments) {
  if (condition) [[likely]]
    return;
  wrong_argument wrong{object, argument, 0, fmt::format("{}", value),
                       fmt::format(expected, std::forward<Arguments>(arguments)...)};
  const std::string text = fmt::format("{}{}{} is {}; expected {}", object, object.empty() ? "" : ": ", argument,
                                       wrong.value, wrong.expected);
  throw error(status, text, std::move(wrong));
}

/// Throws if a call of the C interface failed.
inline void check(syncyte_status_t status) {
  if (status != SYNCYTE_SUCCESS) throw reported(status);
}

/// A caller's struct, to be read: `defaults`, overwritten by the members that the caller's struct has.
template <class Struct>
Struct read_struct(const Struct* theirs, const char* name, Struct defaults) {
  defaults.struct_size = sizeof(Struct);
  check(syncyte_struct_read(theirs, name, sizeof(Struct), &defaults));
  return defaults;
}

/// Runs a function and turns its exception into a status, with the message as the thread's last error.
template <class Function>
syncyte_status_t attempt(Function&& function) noexcept {
  try {
    std::forward<Function>(function)();
    return SYNCYTE_SUCCESS;
  } catch (const reported& caught) {
    return caught.status();
  } catch (const error& caught) {
    return report(caught);
  } catch (const std::bad_alloc&) {
    return syncyte_error_set(SYNCYTE_ERR_MEMORY, "checkpoint: out of memory");
  } catch (const std::exception& caught) {
    return syncyte_error_set(SYNCYTE_ERR_INTERNAL, caught.what());
  } catch (...) {
    return syncyte_error_set(SYNCYTE_ERR_INTERNAL, "checkpoint: unknown exception");
  }
}

}  // namespace syncyte::hdf5
