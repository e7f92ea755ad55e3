#include "mpi/communicators.hpp"

#include <numeric>

#include "mpi/call.hpp"
#include "mpi/exchange.hpp"
#include "mpi/progress.hpp"

namespace syncyte::mpi {
namespace {

MPI_Comm with_returned_errors(MPI_Comm made) {
  return_errors(made);
  return made;
}

MPI_Group group_of(MPI_Comm comm) {
  MPI_Group result = MPI_GROUP_NULL;
  check(MPI_Comm_group(comm, &result), "MPI_Comm_group");
  return result;
}

}  // namespace

MPI_Comm duplicate(MPI_Comm original) {
  MPI_Comm result = MPI_COMM_NULL;
  check(MPI_Comm_dup(original, &result), "MPI_Comm_dup");
  return with_returned_errors(result);
}

MPI_Comm duplicate_with_progress(MPI_Comm original) {
  MPI_Comm result = MPI_COMM_NULL;
  MPI_Request pending = MPI_REQUEST_NULL;
  check(MPI_Comm_idup(original, &result, &pending), "MPI_Comm_idup");
  wait_for(pending, "MPI_Comm_idup");
  return with_returned_errors(result);
}

MPI_Comm split(MPI_Comm comm, int color, int key) {
  MPI_Comm result = MPI_COMM_NULL;
  check(MPI_Comm_split(comm, color, key, &result), "MPI_Comm_split");
  return with_returned_errors(result);
}

MPI_Comm split_shared(MPI_Comm comm, int key) {
  MPI_Comm result = MPI_COMM_NULL;
  check(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, key, MPI_INFO_NULL, &result), "MPI_Comm_split_type");
  return with_returned_errors(result);
}

MPI_Comm create_group(MPI_Comm comm, std::span<const int> ranks, int tag) {
  MPI_Group all = group_of(comm), some = MPI_GROUP_NULL;
  MPI_Comm result = MPI_COMM_NULL;
  check(MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some), "MPI_Group_incl");
  MPI_Group_free(&all);
  const int code = MPI_Comm_create_group(comm, some, tag, &result);
  MPI_Group_free(&some);
  check(code, "MPI_Comm_create_group");
  return with_returned_errors(result);
}

void return_errors(MPI_Comm comm) {
  if (comm != MPI_COMM_NULL) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
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
