// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/communicators.hpp"

#include <fmt/format.h>

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <system_error>
#include <thread>

#include "base/error.hpp"
#include "mpi/call.hpp"
#include "mpi/deaths.hpp"
#include "mpi/process.hpp"
#include "mpi/progress.hpp"
#include "mpi/small_collectives.hpp"

namespace syncyte::mpi {
namespace {

/// A blocking call of MPI that makes a communicator, and the call's result.
struct creation {
  std::function<int(MPI_Comm*)> create;  // owns its arguments
  MPI_Comm result = MPI_COMM_NULL;
};

/// Waits for the end of the call, without using the processor: the thread that makes it does.
void wait_for(std::future<int>& code) {
  using namespace std::chrono_literals;
  while (code.wait_for(needs_progress() ? 20us : 1000us) != std::future_status::ready) {
    require_no_death();
    if (needs_progress()) progress_all();
    look_for_deaths();
  }
}

/// Makes the call on another thread. After a death that thread may stay in MPI for ever, with the call in its care.
int create_on_thread(const std::shared_ptr<creation>& call) {
  std::packaged_task<int()> task([call] { return call->create(&call->result); });
  std::future<int> code = task.get_future();
  std::thread thread;
  try {
    thread = std::thread(std::move(task));
  } catch (const std::system_error&) {  // no thread to be had, and other ranks are in the call already
    return call->create(&call->result);
  }
  try {
    wait_for(code);
  } catch (...) {
    thread.detach();
    throw;
  }
  thread.join();
  return code.get();
}

/// A communicator of ranks of `parent` that `create` makes, which calls the function `name` of MPI.
MPI_Comm made_by(const char* name, MPI_Comm parent, std::function<int(MPI_Comm*)> create) {
  require_no_death();
  const auto call = std::make_shared<creation>(std::move(create));
  const bool may_wait = size_of(parent) > 1 && thread_level() == multiple;
  check(may_wait ? create_on_thread(call) : call->create(&call->result), name);
  return_errors(call->result);
  return call->result;
}

MPI_Group group_of(MPI_Comm comm) {
  MPI_Group result = MPI_GROUP_NULL;
  check(MPI_Comm_group(comm, &result), "MPI_Comm_group");
  return result;
}

struct previous_handler {
  int users = 0;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
};

struct handler_table {
  std::mutex mutex;
  std::map<MPI_Comm, previous_handler> previous;
};

handler_table& handlers = *new handler_table;  // leaked: messages may outlive static objects

}  // namespace

MPI_Comm duplicate(MPI_Comm original) {
  const auto result = std::make_shared<MPI_Comm>(MPI_COMM_NULL);
  run("MPI_Comm_idup", result, [&](MPI_Request* request) { return MPI_Comm_idup(original, result.get(), request); });
  return_errors(*result);
  return *result;
}

MPI_Comm split(MPI_Comm comm, int color, int key) {
  return made_by("MPI_Comm_split", comm, [=](MPI_Comm* result) { return MPI_Comm_split(comm, color, key, result); });
}

MPI_Comm split_shared(MPI_Comm comm, int key) {
  return made_by("MPI_Comm_split_type", comm, [=](MPI_Comm* result) {
    return MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, result);
  });
}

MPI_Comm cart(MPI_Comm comm, std::span<const int> extents, std::span<const int> periods) {
  const std::vector<int> shape(extents.begin(), extents.end()), wraps(periods.begin(), periods.end());
  return made_by("MPI_Cart_create", comm, [=](MPI_Comm* result) {
    return MPI_Cart_create(comm, static_cast<int>(shape.size()), shape.data(), wraps.data(), 0, result);
  });
}

MPI_Comm create_group(MPI_Comm comm, std::span<const int> ranks, int tag) {
  MPI_Group all = group_of(comm), some = MPI_GROUP_NULL;
  check(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some), "MPI_Group_incl");
  MPI_Group_free(&all);
  return made_by("MPI_Comm_create_group", comm, [=](MPI_Comm* result) mutable {
    const int code = MPI_Comm_create_group(comm, some, tag, result);
    MPI_Group_free(&some);
    return code;
  });
}

// MPI 5's standard ABI has no function with Fortran's integer type; its integer handles are Fortran's.
#ifdef MPI_ABI_VERSION
MPI_Comm from_fortran(int handle) { return MPI_Comm_fromint(handle); }
int to_fortran(MPI_Comm comm) { return MPI_Comm_toint(comm); }
#else
MPI_Comm from_fortran(int handle) { return MPI_Comm_f2c(handle); }
int to_fortran(MPI_Comm comm) { return MPI_Comm_c2f(comm); }
#endif

void return_errors(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
}

errors_returned::errors_returned(MPI_Comm comm) : comm_(comm) {
  const std::lock_guard lock(handlers.mutex);
  previous_handler& found = handlers.previous[comm_];
  if (found.users++ > 0) return;
  MPI_Comm_get_errhandler(comm_, &found.handler);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

errors_returned::~errors_returned() {
  const std::lock_guard lock(handlers.mutex);
  previous_handler& found = handlers.previous[comm_];
  if (--found.users > 0) return;
  MPI_Comm_set_errhandler(comm_, found.handler);
  // Freeing a predefined one is an error to some MPIs.
  if (found.handler != MPI_ERRORS_ARE_FATAL && found.handler != MPI_ERRORS_RETURN) MPI_Errhandler_free(&found.handler);
  handlers.previous.erase(comm_);
}

void require_intra(MPI_Comm comm, const std::string& argument) {
  // MPI calls the error handler of MPI_COMM_WORLD (MPI 3) or MPI_COMM_SELF (MPI 4) for an invalid handle, which would
  // end the job: here both return errors.
  const errors_returned world_errors(MPI_COMM_WORLD);
  const errors_returned self_errors(MPI_COMM_SELF);
  const auto require = [&](bool condition, const char* otherwise) {
    if (condition) return;
    base::refuse(
        SYNCYTE_ERR_ARGUMENT,
        {.argument = argument.substr(0, argument.find(' ')), .value = otherwise, .expected = "an intra-communicator"},
        fmt::format("{} {}; expected an intra-communicator", argument, otherwise));
  };
  require(comm != MPI_COMM_NULL, "MPI_COMM_NULL");
  int is_inter = 0;
  require(MPI_Comm_test_inter(comm, &is_inter) == MPI_SUCCESS, "not a communicator that MPI knows");
  require(is_inter == 0, "an inter-communicator");
}

void free(MPI_Comm& comm) {
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

std::vector<int> ranks_in(MPI_Comm comm, MPI_Comm other) {
  MPI_Group group = group_of(comm), wanted = group_of(other);
  std::vector<int> ranks(static_cast<std::size_t>(size_of(comm)));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> result(ranks.size());
  MPI_Group_translate_ranks(group, static_cast<int>(ranks.size()), ranks.data(), wanted, result.data());
  MPI_Group_free(&group);
  MPI_Group_free(&wanted);
  return result;
}

}  // namespace syncyte::mpi
