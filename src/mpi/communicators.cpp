#include "mpi/communicators.hpp"

#include <map>
#include <mutex>
#include <numeric>

#include "mpi/call.hpp"
#include "mpi/progress.hpp"
#include "mpi/small_collectives.hpp"

namespace syncyte::mpi {
namespace {

/// A communicator made by create(&result), which calls the function `name` of MPI.
template <class Create>
MPI_Comm made_by(const char* name, Create&& create) {
  MPI_Comm result = MPI_COMM_NULL;
  check(create(&result), name);
  return_errors(result);
  return result;
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
  MPI_Comm result = MPI_COMM_NULL;
  MPI_Request pending = MPI_REQUEST_NULL;
  check(MPI_Comm_idup(original, &result, &pending), "MPI_Comm_idup");
  wait_for(pending, "MPI_Comm_idup");
  return_errors(result);
  return result;
}

MPI_Comm split(MPI_Comm comm, int color, int key) {
  return made_by("MPI_Comm_split", [&](MPI_Comm* result) { return MPI_Comm_split(comm, color, key, result); });
}

MPI_Comm split_shared(MPI_Comm comm, int key) {
  return made_by("MPI_Comm_split_type", [&](MPI_Comm* result) {
    return MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, result);
  });
}

MPI_Comm create_group(MPI_Comm comm, std::span<const int> ranks, int tag) {
  return made_by("MPI_Comm_create_group", [&](MPI_Comm* result) {
    MPI_Group all = group_of(comm), some = MPI_GROUP_NULL;
    check(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some), "MPI_Group_incl");
    MPI_Group_free(&all);
    const int code = MPI_Comm_create_group(comm, some, tag, result);
    MPI_Group_free(&some);
    return code;
  });
}

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

void free(MPI_Comm& comm) {
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
}

std::vector<int> world_ranks(MPI_Comm comm) {
  MPI_Group group = group_of(comm), world = group_of(MPI_COMM_WORLD);
  std::vector<int> ranks(static_cast<std::size_t>(size_of(comm)));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> result(ranks.size());
  MPI_Group_translate_ranks(group, static_cast<int>(ranks.size()), ranks.data(), world, result.data());
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return result;
}

}  // namespace syncyte::mpi
