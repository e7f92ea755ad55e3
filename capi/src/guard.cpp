#include "guard.hpp"

#include "base/log.hpp"
#include "comm/collective.hpp"
#include "handle_table.hpp"
#include "mpi/process.hpp"

namespace syncyte::capi {
namespace {

std::string ranked(const std::string& reason) {
  const int rank = base::process_rank();
  return rank < 0 ? reason : fmt::format("rank {}: {}", rank, reason);
}

std::string located(const char* operation, const std::string& reason) {
  const int rank = base::process_rank();
  return rank < 0 ? fmt::format("{} failed: {}", operation, reason)
                  : fmt::format("{} failed on rank {}: {}", operation, rank, reason);
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
    last_error() = {agreed.what(), agreed};
    return agreed.status();
  } catch (...) {
    const base::error error = base::current_error();
    base::error_fields fields = error.fields();
    fields.operation = operation;
    fields.rank = base::process_rank();
    last_error() = {located(operation, error.what()), base::error(error.status(), error.what(), std::move(fields))};
    base::log(SYNCYTE_LOG_DEBUG, "{}", last_error().message);
    return error.status();
  }
}

const base::error& last_error_reason() { return last_error().reason; }

void require_started(callers allowed) {
  if (allowed == forks_too)
    mpi::require_started_or_forked();
  else
    mpi::require_started();
}

}  // namespace syncyte::capi

using namespace syncyte;

extern "C" {

const char* syncyte_last_error(void) { return capi::last_error().message.c_str(); }

syncyte_status_t syncyte_last_error_fields(syncyte_error_fields_t* fields) {
  return capi::guarded("last_error_fields", [&] {
    base::expect(fields != nullptr, SYNCYTE_ERR_ARGUMENT, "fields", "null", "a struct");
    base::expect(fields->struct_size == sizeof *fields, SYNCYTE_ERR_ARGUMENT, "fields->struct_size",
                 fields->struct_size, "{}", sizeof *fields);
    const base::error& last = capi::last_error_reason();
    const base::error_fields& known = last.fields();
    const char* reason = known.reason.empty() ? last.what() : known.reason.c_str();
    *fields = {sizeof *fields,       last.status(),          known.rank, known.operation.c_str(),
               known.object.c_str(), known.argument.c_str(), known.axis, known.ndim,
               known.value.c_str(),  known.expected.c_str(), reason};
  });
}

syncyte_status_t syncyte_error_set_fields(const syncyte_error_fields_t* fields) {
  const syncyte_status_t checked = capi::guarded("error_set_fields", [&] {
    base::expect(fields != nullptr, SYNCYTE_ERR_ARGUMENT, "fields", "null", "a struct");
    base::expect(fields->struct_size == sizeof *fields, SYNCYTE_ERR_ARGUMENT, "fields->struct_size",
                 fields->struct_size, "{}", sizeof *fields);
  });
  if (checked != SYNCYTE_SUCCESS) return checked;
  const auto text = [](const char* given) { return std::string(given != nullptr ? given : ""); };
  base::error_fields stored{.operation = text(fields->operation),
                            .object = text(fields->object),
                            .argument = text(fields->argument),
                            .axis = fields->axis,
                            .ndim = fields->ndim,
                            .value = text(fields->value),
                            .expected = text(fields->expected),
                            .rank = base::process_rank()};
  const std::string reason = text(fields->reason);
  const std::string message =
      stored.operation.empty() ? capi::ranked(reason) : capi::located(stored.operation.c_str(), reason);
  capi::last_error() = {message, base::error(fields->status, reason, std::move(stored))};
  return fields->status;
}

syncyte_status_t syncyte_error_set(syncyte_status_t status, const char* message) {
  const std::string reason = message != nullptr ? message : "";
  capi::last_error() = {capi::ranked(reason), base::error(status, reason, {.rank = base::process_rank()})};
  return status;
}
}
