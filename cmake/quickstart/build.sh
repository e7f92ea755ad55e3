# shellcheck shell=bash
# Configuration by preset, the build, and what is run then.

# Compilations at the same time: the cores, but one per 1.5 GiB of free memory at most (torch's headers are large).
jobs_for_this_machine() {
  local cores memory
  cores="$(nproc)"
  memory="$(awk '/^MemAvailable:/ { print int($2 / 1572864) }' /proc/meminfo)"
  ((memory < 1)) && memory=1
  echo "${SYNCYTE_JOBS:-$((cores < memory ? cores : memory))}"
}

# Runs CMake where the answers could differ from last time; the build itself notices changed CMake files.
configure() {
  local -a arguments=(-S "${SYNCYTE_ROOT}" --preset "${SYNCYTE_PRESET:-default}" -B "${BUILD_FOLDER}"
    "-DPython3_EXECUTABLE=$(python_of_environment)")
  local -a more
  read -r -a more <<<"${SYNCYTE_CMAKE_ARGS:-}"
  arguments+=("${more[@]}")
  local stamp="${BUILD_FOLDER}/.quickstart" wanted
  wanted="${arguments[*]} $(cat "${SYNCYTE_ROOT}/CMakePresets.json" "${LOCK_FILE}" | sha256sum)"
  if [[ -f "${BUILD_FOLDER}/build.ninja" && -f "${stamp}" && "$(<"${stamp}")" == "${wanted}" ]]; then
    return 0
  fi
  step "Configuring build/ (preset ${SYNCYTE_PRESET:-default})"
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

# Open MPI refuses to start as root unless told twice, and more ranks than cores unless told once; version 5 listens to
# other names.
prepare_mpirun() {
  export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
  if ((EUID == 0)); then
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    export PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
  fi
}

run_build() {
  build_target
  step "Built in ${BUILD_FOLDER}"
}

run_demo() {
  build_target demo_programs
  prepare_mpirun
  step "The demo"
  "$(python_of_environment)" "${SYNCYTE_ROOT}/examples/tsunami/demo.py" --build "${BUILD_FOLDER}" "$@"
  step "Done"
}

# Whether ctest's options ask for the slow tests by their label: then nothing keeps them out.
asks_for_slow() {
  local previous="" argument
  for argument in "$@"; do
    if [[ ("${previous}" == -L || "${previous}" == --label-regex) && "${argument}" == *slow* ]]; then
      return 0
    fi
    previous="${argument}"
  done
  return 1
}

run_test() {
  local -a exclude=(--label-exclude slow)
  ! asks_for_slow "$@" || exclude=()
  build_target
  prepare_mpirun
  step "The tests"
  ctest --test-dir "${BUILD_FOLDER}" "${exclude[@]}" --output-on-failure --no-tests=error --parallel "$(nproc)" "$@"
}

run_bench() {
  prepare_mpirun
  step "The benchmarks"
  build_target bench
  step "Done: ${BUILD_FOLDER}/bench/report.json"
}
