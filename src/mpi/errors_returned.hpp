#pragma once

#include <mpi.h>

namespace syncyte::mpi {

/// While it lives MPI returns errors of calls on `comm` instead of ending the job; then the application's own handler
/// is back. Several threads may have one of the same communicator: the last puts back what the first has found.
class errors_returned {
 public:
  explicit errors_returned(MPI_Comm comm);
  ~errors_returned();
  errors_returned(const errors_returned&) = delete;
  errors_returned& operator=(const errors_returned&) = delete;

 private:
  MPI_Comm comm_;
};

}  // namespace syncyte::mpi
