// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/rank_process.hpp"

#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>

#include "base/environment.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace syncyte::mpi {
namespace {

// Its value, such as "1234 started prterun-node7-99@1.3": process, state, and the job with its rank. The package's
// _launcher.py writes "imported" in the same form.
constexpr const char* variable = "SYNCYTE_RANK_PROCESS";

/// Rank and job by PMIx's variables; nothing without mpirun or srun, where Open MPI's MPI_Init sets these itself.
std::optional<std::string> rank_of_launcher() {
  const auto job = base::environment("PMIX_NAMESPACE");
  const auto rank = base::environment("PMIX_RANK");
  const bool launched = base::environment("OMPI_COMM_WORLD_RANK") || base::environment("SLURM_STEP_ID");
  return launched && job && rank ? std::optional(*job + "." + *rank) : std::nullopt;
}

}  // namespace

void refuse_second_process_of_rank() {
  const auto own = rank_of_launcher();
  std::istringstream value(base::environment(variable).value_or(""));
  long process = 0;
  std::string state;
  std::string rank;
  if (!(value >> process >> state >> rank) || rank != own || process == ::getpid()) return;
  constexpr const char* cure = "start a program of its own without the launcher's variables (OMPI_*, PMIX_*, SLURM_*)";
  const auto name = base::environment("PMIX_RANK").value_or("");
  base::require(state != "started", SYNCYTE_ERR_UNSUPPORTED,
                "process {} is rank {} and has started this process, which MPI would take for the same rank: {}",
                process, name, cure);
  base::log(SYNCYTE_LOG_WARN, "this process takes the place of process {}, which has started it, as rank {}: {}",
            process, name, cure);
}

void name_rank_process() {
  if (const auto rank = rank_of_launcher())
    ::setenv(variable, (std::to_string(::getpid()) + " started " + *rank).c_str(), 1);
}

}  // namespace syncyte::mpi
