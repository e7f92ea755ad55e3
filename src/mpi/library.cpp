// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/library.hpp"

#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace syncyte::mpi {
namespace {

// Only what surely is the other one is refused: vendors' libraries have names of their own.
#if defined(OPEN_MPI)
constexpr const char* header_name = "Open MPI";
constexpr std::initializer_list<const char*> other_names = {"MPICH", "Intel(R) MPI", "MVAPICH"};
#elif defined(MPICH_VERSION)
constexpr const char* header_name = "MPICH";
constexpr std::initializer_list<const char*> other_names = {"Open MPI"};
#else  // the ABI that MPI-5 has standardized
constexpr const char* header_name = "MPI's standard ABI";
constexpr std::initializer_list<const char*> other_names = {};
#endif

/// Variables by which a launcher tells a rank its place.
struct launcher {
  const char* rank;
  const char* size;
};

/// mpirun's come first: if srun has started mpirun's daemons, Slurm's count those.
constexpr launcher launchers[] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                  {"PMI_RANK", "PMI_SIZE"},
                                  {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
                                  {"ROLE_RANK", "ROLE_WORLD_SIZE"}};  // torchrun, which starts no MPI job

}  // namespace

std::string library_name() {
  char text[8192];  // MPICH's MPI_MAX_LIBRARY_VERSION_STRING; Open MPI's is less, but MPICH may be the one called
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string name(text, static_cast<std::size_t>(length));
  name.erase(std::min(name.find_first_of(",\n"), name.size()));
  return name;
}

void require_library_of_header() {
  const std::string name = library_name();
  for (const char* const other : other_names)
    base::require(!name.starts_with(other), SYNCYTE_ERR_VERSION,
                  "libsyncyte was built for {}, but this process calls {}: compile and start the program with the MPI "
                  "that Syncyte was built for, or build Syncyte for this one (its mpicc first in PATH)",
                  header_name, name);
}

void warn_of_other_launcher(int world_size) {
  if (world_size > 1) return;
  for (const auto& [rank, size] : launchers) {
    const auto ranks = base::environment(size);
    if (!ranks) continue;
    if (std::atoi(ranks->c_str()) > 1 && base::environment(rank) == "0")
      base::log(SYNCYTE_LOG_WARN,
                "{} ranks were started ({}), but each is alone in its MPI_COMM_WORLD: the launcher is torchrun, or of "
                "another MPI than {}, which is loaded here. Start the job with that MPI's mpirun, or with another "
                "`srun --mpi=` (`srun --mpi=list`)",
                *ranks, size, library_name());
    return;
  }
}

}  // namespace syncyte::mpi
