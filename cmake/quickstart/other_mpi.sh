# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# quickstart.sh test --mpi=NAME runs the core's tests with an MPI from a Python package; cmake/mpi/NAME.lock has the
# package's name and version.

MPI=""  # the NAME; empty: the system's MPI

# take_mpi ARRAY: removes --mpi=NAME from an array of options, and sets MPI.
take_mpi() {
  local -n options_of_test="$1"
  local -a others=()
  local option
  for option in "${options_of_test[@]}"; do
    case "${option}" in
      --mpi=*) MPI="${option#--mpi=}" && check_mpi ;;
      --mpi) fail "--mpi has no value: expected --mpi=$(names_of_mpis)" ;;
      *) others+=("${option}") ;;
    esac
  done
  options_of_test=("${others[@]}")
}

# Prints the names that --mpi accepts: NAME|NAME.
names_of_mpis() {
  local -a files=("${SYNCYTE_ROOT}"/cmake/mpi/*.lock)
  local names
  names="$(basename -a -s .lock "${files[@]}")"
  echo "${names//$'\n'/|}"
}

check_mpi() {
  [[ -n "${MPI}" && "${MPI}" != */* && -f "${SYNCYTE_ROOT}/cmake/mpi/${MPI}.lock" ]] ||
    fail "--mpi is '${MPI}': expected $(names_of_mpis)"
}

# Switches to the environment and build folder of ${MPI}; ignores SYNCYTE_VENV.
use_mpi() {
  local folder="${SYNCYTE_ROOT}/build-${MPI}"
  BUILD_FOLDER="${folder}/build"
  unset SYNCYTE_VENV
  place_environment "${folder}/environment" "${SYNCYTE_ROOT}/cmake/mpi/${MPI}.lock"
  MORE_ARGUMENTS=("-DMPI_C_COMPILER=${ENVIRONMENT}/bin/mpicc" "-DMPIEXEC_EXECUTABLE=${ENVIRONMENT}/bin/mpirun")
  local part
  for part in FORTRAN TORCH HDF5 PYTHON EXAMPLES BENCH CUDA; do  # built for the system's MPI, or of no use for the core
    MORE_ARGUMENTS+=("-DSYNCYTE_${part}=OFF")
  done
}
