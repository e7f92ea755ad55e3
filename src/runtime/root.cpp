// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/root.hpp"

#include "base/environment.hpp"
#include "comm/cart.hpp"
#include "comm/collective_call.hpp"
#include "memory/shared_segment.hpp"
#include "mpi/communicators.hpp"
#include "mpi/small_collectives.hpp"
#include "watchdog/scope.hpp"

namespace syncyte::runtime {

using namespace comm;
namespace {

check_level environment_check_level() {
  base::check_setting(base::settings::check);
  return *base::environment_choice(base::settings::check);
}

check_level agree_on_level(MPI_Comm comm, const communicator* parent, const communicator_options& options,
                           const char* operation, const std::string& name) {
  std::uint32_t level = 0;
  std::optional<base::error> error = base::error_of([&] {
    if (options.error) throw *options.error;
    if (parent == nullptr) memory::sharing_candidates();  // checks the environment
    level = static_cast<std::uint32_t>(
        chosen_check(options, parent != nullptr ? parent->check() : environment_check_level()));
  });
  std::uint64_t highest[2] = {error_code_of(error), level};
  mpi::allreduce(highest, MPI_MAX, comm);
  if (highest[0] != 0) share_error(comm, error, operation, name);
  return static_cast<check_level>(highest[1]);
}

}  // namespace

std::shared_ptr<communicator> wrap_root(MPI_Comm data, const communicator* parent, const communicator_options& options,
                                        const char* operation, const std::string& name) {
  try {
    const check_level check = agree_on_level(data, parent, options, operation, name);
    return communicator::make(data, parent != nullptr ? &parent->node() : nullptr, name, check, grid_of(data));
  } catch (...) {
    mpi::free(data);
    throw;
  }
}

std::shared_ptr<communicator> make_root(MPI_Comm original, const communicator_options& options, const char* operation) {
  const std::string name = options.name_or("comm");
  const watchdog::scope watched(operation, name, 0,
                                mpi::size_of(original));  // nothing can be agreed on before there is a duplicate
  return wrap_root(mpi::duplicate(original), nullptr, options, operation, name);
}

}  // namespace syncyte::runtime
