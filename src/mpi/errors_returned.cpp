#include "mpi/errors_returned.hpp"

#include <map>
#include <mutex>

namespace syncyte::mpi {
namespace {

struct previous_handler {
  int users = 0;
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
};

struct handler_table {
  std::mutex mutex;
  std::map<MPI_Comm, previous_handler> previous;
};

handler_table& table() {
  static auto* const the_table = new handler_table;  // leaked: messages may outlive static objects
  return *the_table;
}

}  // namespace

errors_returned::errors_returned(MPI_Comm comm) : comm_(comm) {
  const std::lock_guard lock(table().mutex);
  previous_handler& found = table().previous[comm_];
  if (found.users++ > 0) return;
  MPI_Comm_get_errhandler(comm_, &found.handler);
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
}

errors_returned::~errors_returned() {
  const std::lock_guard lock(table().mutex);
  previous_handler& found = table().previous[comm_];
  if (--found.users > 0) return;
  MPI_Comm_set_errhandler(comm_, found.handler);
  // Freeing a predefined one is an error to some MPIs.
  if (found.handler != MPI_ERRORS_ARE_FATAL && found.handler != MPI_ERRORS_RETURN) MPI_Errhandler_free(&found.handler);
  table().previous.erase(comm_);
}

}  // namespace syncyte::mpi
