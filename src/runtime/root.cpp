#include "runtime/root.hpp"

#include "base/environment.hpp"
#include "comm/collective.hpp"
#include "mpi/communicators.hpp"
#include "mpi/exchange.hpp"
#include "watchdog/scope.hpp"

namespace syncyte::runtime {

using namespace comm;
namespace {

check_level environment_check_level() {
  base::environment_check("SYNCYTE_CHECK", {"off", "on", "full"});
  return static_cast<check_level>(base::environment_choice("SYNCYTE_CHECK", {"off", "on", "full"}, 1));
}

}  // namespace

check_level agree_on_level(MPI_Comm comm, const communicator_options& options,
                           const std::optional<check_level>& inherited, const char* operation,
                           const std::string& name) {
  std::optional<base::error> error = options.error;
  std::uint32_t level = 0;
  try {
    if (!inherited) base::environment_check("SYNCYTE_SHM", {"proc", "socket", "shm", "none"});
    level = static_cast<std::uint32_t>(chosen_check(options, inherited ? *inherited : environment_check_level()));
  } catch (...) {
    if (!error) error = base::current_error();
  }
  std::uint64_t highest[2] = {error_code_of(error), level};
  mpi::allreduce(highest, MPI_MAX, comm);
  if (highest[0] != 0) share_error(comm, error, operation, name);
  return static_cast<check_level>(highest[1]);
}

std::shared_ptr<communicator> make_root(MPI_Comm original, const communicator_options& options, const char* operation) {
  const std::string name = options.name.empty() ? "comm" : options.name;
  const watchdog::scope watched(operation, name, 0,
                                mpi::size_of(original));  // nothing can be agreed on before there is a duplicate
  MPI_Comm data = mpi::duplicate_with_progress(original);
  try {
    return communicator::make(data, nullptr, name, agree_on_level(data, options, std::nullopt, operation, name));
  } catch (...) {
    mpi::free(data);
    throw;
  }
}

}  // namespace syncyte::runtime
