#pragma once

#include <mpi.h>

namespace syncyte::mpi {

/// Makes MPI return errors of calls on `comm` instead of ending the job, while it lives; then the application's own
/// error handler is set again. Several threads may have one for the same communicator: the last one sets the handler
/// that the first one found.
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
