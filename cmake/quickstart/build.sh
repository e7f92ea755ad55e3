# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Configuration by preset, the build, and the commands demo, test and bench that run after it.

MORE_ARGUMENTS=()  # of the configuration, set by commands that build other parts than the preset does

# Number of parallel compilations: one per core, but at most one per 1.5 GiB of free memory (torch's headers are large).
jobs_for_this_machine() {
  local cores memory
  cores="$(nproc)"
  memory="$(awk '/^MemAvailable:/ { print int($2 / 1572864) }' /proc/meminfo)"
  ((memory < 1)) && memory=1
  echo "${SYNCYTE_JOBS:-$((cores < memory ? cores : memory))}"
}

# Runs CMake if its arguments, the presets or the lock file have changed; the build itself notices changed CMake files.
configure() {
  local -a arguments=(-S "${SYNCYTE_ROOT}" --preset "${SYNCYTE_PRESET:-default}" -B "${BUILD_FOLDER}"
    "-DPython3_EXECUTABLE=$(python_of_environment)")
  local -a more
  arguments+=("${MORE_ARGUMENTS[@]}")
  read -r -a more <<<"${SYNCYTE_CMAKE_ARGS:-}"
  arguments+=("${more[@]}")
  local stamp="${BUILD_FOLDER}/.quickstart" wanted
  wanted="${arguments[*]} $(cat "${SYNCYTE_ROOT}/CMakePresets.json" "${LOCK_FILE}" | sha256sum)"
  if [[ -f "${BUILD_FOLDER}/build.ninja" && -f "${stamp}" && "$(<"${stamp}")" == "${wanted}" ]]; then
    return 0
  fi
  step "Configuring ${BUILD_FOLDER#"${SYNCYTE_ROOT}/"}/ (preset ${SYNCYTE_PRESET:-default})"
  rm -f "${stamp}"
  cmake "${arguments[@]}"
  printf '%s\n' "${wanted}" >"${stamp}"
}

# build_target [TARGET]: all targets without an argument.
build_target() {
  local -a target=()
  (($# == 0)) || target=(--target "$1")
  step "Building ${1:-all} with $(jobs_for_this_machine) jobs"
  cmake --build "${BUILD_FOLDER}" --parallel "$(jobs_for_this_machine)" "${target[@]}"
}

# Allows mpirun to start as root, which Open MPI 4 permits only with two variables, and more ranks than cores. The
# PRTE_* variables do the same for Open MPI 5.
prepare_mpirun() {
  export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  if ((EUID == 0)); then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
}

run_build() {
  build_target
  offer_package
  step "Built in ${BUILD_FOLDER}"
}

run_demo() {
  build_target demo_programs
  offer_package
  prepare_mpirun
  step "The demo"
  "$(python_of_environment)" "${SYNCYTE_ROOT}/examples/tsunami/demo.py" --build "${BUILD_FOLDER}" "$@"
  step "Done"
}

# True if ctest's options select, by label, tests that the default run leaves out.
asks_for_more() {
  local previous="" argument others='slow|ranks|roots|wheel|slurm|spack|cuda'
  for argument in "$@"; do
    if [[ ("${previous}" == -L || "${previous}" == --label-regex) && "${argument}" =~ ${others} ]]; then
      return 0
    fi
    previous="${argument}"
  done
  return 1
}

# Prints how long ctest takes with these options on two idle cores, where that is known.
expected_time() {
  [[ -z "${MPI}" ]] || return 0
  case "$*" in
    "") echo " (about 9 minutes on 2 idle cores, up to 13 on slow ones)" ;;
    "-L slow") echo " (15 to 30 minutes on 2 idle cores)" ;;
    "-L ranks") echo " (15 to 30 minutes on 2 idle cores)" ;;
  esac
}

# Prints the ten longest entries of ctest's last run, and the ten longest tests within its MPI jobs.
print_slowest() {
  local log="${BUILD_FOLDER}/Testing/Temporary/LastTest.log"
  [[ -f "${log}" ]] || return 0
  step "The slowest ten (jobs end in .run)"
  awk '/^[0-9]+\/[0-9]+ Test: / { name = $3 } /^Test time = / { printf "%8.1f s  %s\n", $4, name }' "${log}" |
    sort -rn | head -n 10 || true
  step "The slowest ten tests within jobs"
  awk '/^[0-9]+\/[0-9]+ Test: / { job = $3; sub(/\/.*/, "", job) }
       /^(passed|failed) .* \([0-9.]+ s\)$/ { printf "%8.1f s  %s of %s\n", substr($(NF - 1), 2), $2, job }' "${log}" |
    sort -rn | head -n 10 || true
}

run_test() {
  local exclude='slow|ranks|roots|wheel|slurm|spack|torch_cuda' previous="" argument status=0
  local -a options=()
  ! asks_for_more "$@" || exclude=""
  # One joined pattern: ctest excludes only tests that match every -LE.
  for argument in "$@"; do
    case "${previous}" in
      -LE | --label-exclude)
        exclude+="${exclude:+|}${argument}"
        unset 'options[-1]'
        ;;
      *) options+=("${argument}") ;;
    esac
    previous="${argument}"
  done
  if [[ -n "${MPI}" ]]; then
    build_target core_tests
    options=(--label-regex "^($(paste -s -d '|' "${SYNCYTE_ROOT}/cmake/mpi/core_labels.txt"))\$" "${options[@]}")
  else
    build_target
    offer_package
  fi
  prepare_mpirun
  step "The tests${MPI:+ of the core with ${MPI}}$(expected_time "$@")"
  # Three slots per core: cmake/SyncyteTest.cmake says how many a test takes.
  ctest --test-dir "${BUILD_FOLDER}" ${exclude:+--label-exclude "${exclude}"} --output-on-failure --no-tests=error \
    --parallel "$((3 * $(nproc)))" "${options[@]}" || status=$?
  print_slowest
  return "${status}"
}

run_bench() {
  prepare_mpirun
  step "The benchmarks"
  build_target bench
  step "Done: ${BUILD_FOLDER}/bench/report.json"
}
