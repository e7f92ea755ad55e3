// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <new>
#include <system_error>

namespace syncyte::base {

const char* status_name(syncyte_status_t status) {
  const char* const name = known::status::name(status);
  return name != nullptr ? name : "SYNCYTE_ERR_UNKNOWN";
}

const error_fields& error::fields() const {
  static const auto* const none = new error_fields;  // leaked: destructors of static objects may use it
  return fields_ ? *fields_ : *none;
}

namespace {

constexpr char separator = '\x1f';  // ASCII's unit separator

/// Replaces separators in a field, which may be a user's text.
std::string packable(std::string field) {
  std::replace(field.begin(), field.end(), separator, ' ');
  return field;
}

}  // namespace

std::string error::pack() const {
  const error_fields& all = fields();
  return fmt::format("{}{sep}{}{sep}{}{sep}{}{sep}{}{sep}{}{sep}{}{sep}{}{sep}{}", packable(all.operation),
                     packable(all.object), packable(all.argument), all.axis, all.ndim, packable(all.value),
                     packable(all.expected), all.rank, what(), fmt::arg("sep", separator));
}

error error::unpack(syncyte_status_t status, std::string_view packed) {
  const auto next_text = [&] {
    const std::size_t length = std::min(packed.find(separator), packed.size());
    const std::string part(packed.substr(0, length));
    packed.remove_prefix(std::min(length + 1, packed.size()));
    return part;
  };
  const auto read_number = [&](auto& number) {
    const std::string text = next_text();
    std::from_chars(text.data(), text.data() + text.size(), number);
  };
  error_fields fields;
  fields.operation = next_text();
  fields.object = next_text();
  fields.argument = next_text();
  read_number(fields.axis);
  read_number(fields.ndim);
  fields.value = next_text();
  fields.expected = next_text();
  read_number(fields.rank);
  return error(status, std::string(packed), std::move(fields));
}

void refuse(syncyte_status_t status, error_fields wrong, std::string text) {
  const std::string object = wrong.object.empty() ? "" : fmt::format("{}: ", wrong.object);
  const std::string place = wrong.axis < 0 ? "" : fmt::format("[{}]", wrong.axis);
  if (text.empty())
    text = fmt::format("{}{}{} is {}; expected {}", object, wrong.argument, place, wrong.value, wrong.expected);
  throw error(status, text, std::move(wrong));
}

error current_error() {
  try {
    throw;
  } catch (const error& caught) {
    return caught;
  } catch (const std::bad_alloc&) {
    return error(SYNCYTE_ERR_MEMORY, "out of memory");
  } catch (const std::system_error& caught) {
    if (caught.code() != std::errc::resource_unavailable_try_again) return error(SYNCYTE_ERR_INTERNAL, caught.what());
    return error(SYNCYTE_ERR_LIMIT,
                 "the system starts no further thread: the limit of processes of this user (ulimit -u) or of this "
                 "container (pids.max), or of memory (ulimit -v), is reached; raise it");
  } catch (const std::exception& caught) {
    return error(SYNCYTE_ERR_INTERNAL, caught.what());
  } catch (...) {
    return error(SYNCYTE_ERR_INTERNAL, "unknown exception");
  }
}

std::string errno_text(int code) {
  const char* name = strerrorname_np(code);
  return fmt::format("{} ({})", std::strerror(code), name != nullptr ? name : "unknown");
}

}  // namespace syncyte::base
