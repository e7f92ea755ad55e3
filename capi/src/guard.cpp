#include "guard.hpp"

#include "base/log.hpp"
#include "comm/collective.hpp"
#include "handle_table.hpp"
#include "mpi/process.hpp"

namespace syncyte::capi {
namespace {

std::string located(const char* operation, const std::string& reason) {
  const int rank = base::process_rank();
  return rank < 0 ? fmt::format("{} failed: {}", operation, reason)
                  : fmt::format("{} failed on rank {}: {}", operation, rank, reason);
}

}  // namespace

thread_error& last_error() {
  // Static destructors, which may call us, run after the main thread's own objects have gone.
  static auto* const after_all = new thread_error;
  thread_local bool is_gone = false;  // trivial, so it can be read afterwards
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
  } catch (const comm::agreed_error& agreed) {  // names the ranks itself
    last_error() = {agreed.what(), agreed.what()};
    return agreed.status();
  } catch (...) {
    const base::error error = base::current_error();
    last_error() = {located(operation, error.what()), error.what()};
    base::log(SYNCYTE_LOG_DEBUG, "{}", last_error().message);
    return error.status();
  }
}

const std::string& last_error_reason() { return last_error().reason; }

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

syncyte_status_t syncyte_error_set(syncyte_status_t status, const char* message) {
  const std::string reason = message != nullptr ? message : "";
  const int rank = base::process_rank();
  capi::last_error() = {rank < 0 ? reason : fmt::format("rank {}: {}", rank, reason), reason};
  return status;
}
}
