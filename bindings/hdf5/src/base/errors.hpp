// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <exception>
#include <new>
#include <string>
#include <utility>

#include "syncyte/base.hpp"

namespace syncyte::hdf5 {

/// An error that this library has found. attempt() makes it the thread's last error, which another syncyte::error is
/// already.
struct own_error final : error {
  own_error(syncyte_status_t code, const std::string& message, error_fields fields = {})
      : error(static_cast<status>(code), message, std::move(fields)) {}
};

/// Turns "(2, 3)" into "[2, 3]", for the fields.
inline std::string in_brackets(const std::string& list) {
  return list.size() < 2 ? list : fmt::format("[{}]", list.substr(1, list.size() - 2));
}

/// Makes an error the thread's last error.
inline syncyte_status_t report(const own_error& caught) {
  const error_fields& wrong = caught.fields();
  const syncyte_error_fields_t raw = {.struct_size = sizeof raw,
                                      .status = detail::raw(caught.code()),
                                      .rank = -1,
                                      .operation = nullptr,
                                      .object = wrong.object.c_str(),
                                      .argument = wrong.argument.c_str(),
                                      .axis = -1,
                                      .ndim = wrong.ndim,
                                      .reserved = 0,
                                      .value = wrong.value.c_str(),
                                      .expected = wrong.expected.c_str(),
                                      .reason = caught.what()};
  return syncyte_error_set_fields(&raw);
}

template <class... Arguments>
[[noreturn]] void fail(syncyte_status_t status, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  throw own_error(status, fmt::format(format, std::forward<Arguments>(arguments)...));
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
  error_fields wrong{.object = object,
                     .argument = argument,
                     .value = fmt::format("{}", value),
                     .expected = fmt::format(expected, std::forward<Arguments>(arguments)...)};
  const std::string text = fmt::format("{}{}{} is {}; expected {}", object, object.empty() ? "" : ": ", argument,
                                       wrong.value, wrong.expected);
  throw own_error(status, text, std::move(wrong));
}

/// A caller's struct, by the rule of struct_size (syncyte_struct_read()); members that it lacks are zero.
template <class Struct>
Struct read_struct(const Struct* theirs, const std::string& name, std::size_t first_size) {
  Struct result{};
  result.struct_size = sizeof(Struct);
  check(syncyte_struct_read(theirs, name.c_str(), first_size, &result));
  if constexpr (requires { result.reserved; })
    expect(result.reserved == 0, SYNCYTE_ERR_ARGUMENT, "", (name + "->reserved").c_str(), result.reserved, "0");
  return result;
}

/// Runs a function and turns its exception into a status, with the message as the thread's last error.
template <class Function>
syncyte_status_t attempt(Function&& function) noexcept {
  try {
    std::forward<Function>(function)();
    return SYNCYTE_SUCCESS;
  } catch (const own_error& caught) {
    return report(caught);
  } catch (const error& caught) {
    return detail::raw(caught.code());
  } catch (const std::bad_alloc&) {
    return syncyte_error_set(SYNCYTE_ERR_MEMORY, "checkpoint: out of memory");
  } catch (const std::exception& caught) {
    return syncyte_error_set(SYNCYTE_ERR_INTERNAL, caught.what());
  } catch (...) {
    return syncyte_error_set(SYNCYTE_ERR_INTERNAL, "checkpoint: unknown exception");
  }
}

}  // namespace syncyte::hdf5
