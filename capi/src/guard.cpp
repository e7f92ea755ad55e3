// SPDX-License-Identifier: BSD-3-Clause
#include "guard.hpp"

#include "base/log.hpp"
#include "comm/collective_call.hpp"
#include "syncyte/comm.h"

namespace syncyte::capi {
namespace {

/// The message of an error: its reason, after the operation (if it is known) and the rank (if this process has one).
std::string located(const std::string& operation, const std::string& reason) {
  const int rank = base::process_rank();
  if (operation.empty()) return rank < 0 ? reason : fmt::format("rank {}: {}", rank, reason);
  return rank < 0 ? fmt::format("{} failed: {}", operation, reason)
                  : fmt::format("{} failed on rank {}: {}", operation, rank, reason);
}

/// Makes an error of this process the thread's last error, and returns its status.
syncyte_status_t keep_error(syncyte_status_t status, const std::string& reason, base::error_fields fields) {
  if (fields.rank < 0) fields.rank = base::process_rank();  // otherwise the rank that has died
  const std::string message = located(fields.operation, reason);
  last_error() = {message, base::error(status, reason, std::move(fields))};
  return status;
}

}  // namespace

thread_error& last_error() {
  // Static destructors may call this library after the main thread's thread_local objects are destroyed.
  static auto* const after_all = new thread_error;
  thread_local bool is_gone = false;  // a plain bool: it can be read after the objects are destroyed
  struct owner {
    thread_error error;
    ~owner() { is_gone = true; }
  };
  if (is_gone) return *after_all;
  thread_local owner own;
  return own.error;
}

syncyte_status_t keep_current_error(const char* operation) noexcept {
  try {
    throw;
  } catch (const comm::agreed_error& agreed) {  // its message names the ranks already
    last_error() = {agreed.what(), agreed, agreed.own_rank};
    return agreed.status();
  } catch (...) {
    const base::error error = base::current_error();
    base::error_fields fields = error.fields();
    fields.operation = operation;
    keep_error(error.status(), error.what(), std::move(fields));
    base::log(SYNCYTE_LOG_DEBUG, "{}", last_error().message);
    return error.status();
  }
}

}  // namespace syncyte::capi

using namespace syncyte;
using namespace syncyte::capi;

extern "C" {

const char* syncyte_last_error(void) { return last_error().message.c_str(); }

syncyte_status_t syncyte_last_error_fields(syncyte_error_fields_t* fields) {
  return guarded("last_error_fields", [&] {
    const base::error& last = last_error().reason;
    const base::error_fields& known = last.fields();
    const char* reason = known.reason.empty() ? last.what() : known.reason.c_str();
    base::fill_struct(fields, "fields",
                      {.struct_size = sizeof *fields,
                       .status = last.status(),
                       .rank = known.rank,
                       .operation = known.operation.c_str(),
                       .object = known.object.c_str(),
                       .argument = known.argument.c_str(),
                       .axis = known.axis,
                       .ndim = known.ndim,
                       .reserved = 0,
                       .value = known.value.c_str(),
                       .expected = known.expected.c_str(),
                       .reason = reason});
  });
}

syncyte_status_t syncyte_last_error_agreed(int32_t* rank) {
  return guarded("last_error_agreed", [&] { out(rank, "rank") = last_error().agreed_rank; });
}

syncyte_status_t syncyte_error_set_fields(const syncyte_error_fields_t* fields) {
  syncyte_error_fields_t known{};
  const syncyte_status_t checked =
      guarded("error_set_fields", [&] { known = base::read_struct(fields, "fields", known); });
  if (checked != SYNCYTE_SUCCESS) return checked;
  return keep_error(known.status, text_or_empty(known.reason),
                    {.operation = text_or_empty(known.operation),
                     .object = text_or_empty(known.object),
                     .argument = text_or_empty(known.argument),
                     .axis = known.axis,
                     .ndim = known.ndim,
                     .value = text_or_empty(known.value),
                     .expected = text_or_empty(known.expected)});
}

syncyte_status_t syncyte_error_set(syncyte_status_t status, const char* message) {
  return keep_error(status, message != nullptr ? message : "", {});
}
}
