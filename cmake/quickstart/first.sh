# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# quickstart.sh first: builds the core and Fortran's module, installs them below build-first/, and runs README's first
# example. Python needs only numpy and mpi4py for it.

# Switches to an environment, a build and an installation below build-first/; ignores SYNCYTE_VENV.
use_first() {
  local folder="${SYNCYTE_ROOT}/build-first"
  BUILD_FOLDER="${folder}/build"
  unset SYNCYTE_VENV
  mkdir -p "${folder}" || fail "the folder ${folder} cannot be made"
  sed -n -E '/^(numpy|mpi4py)==/,/--hash/p' "${SYNCYTE_ROOT}/cmake/requirements.lock" >"${folder}/requirements.lock"
  place_environment "${folder}/environment" "${folder}/requirements.lock"
  SYNCYTE_PRESET="${SYNCYTE_PRESET:-release}"
  MORE_ARGUMENTS=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS=-w)  # fewer, larger sources, whose names shadow others
  local part
  for part in TORCH HDF5 UCX; do
    MORE_ARGUMENTS+=("-DSYNCYTE_${part}=OFF")
  done
  MORE_ARGUMENTS+=(-DSYNCYTE_CUDA=OFF)
}

run_first() {
  local prefix="${BUILD_FOLDER%/build}/syncyte" folder="${BUILD_FOLDER%/build}/example" promised printed status=0
  build_target
  cmake --install "${BUILD_FOLDER}" --prefix "${prefix}" >/dev/null
  mkdir -p "${folder}"
  cp "${SYNCYTE_ROOT}"/examples/first_steps/{writer.f90,reader.py} "${folder}"
  prepare_mpirun
  step "The first example, in ${folder}"
  printed="$(cd "${folder}" && run_example "${prefix}")" || status=$?
  printf '%s\n' "${printed}"
  # shellcheck disable=SC2016
  promised="$(sed -n 's/^prints `\(.*\)`: .*/\1/p' "${SYNCYTE_ROOT}/README.md")"
  ((status == 0)) || fail "the example ended with status ${status}"
  grep -q -F -x -- "${promised}" <<<"${printed}" || fail "the example has not printed: ${promised}"
  step "Done. Go on with examples/first_steps in a shell that has read this environment:"
  printf '  source %q\n  source %q\n' "${prefix}/bin/syncyte-env.sh" "${ENVIRONMENT}/bin/activate"
}

# run_example PREFIX: README's commands in the current folder. syncyte-mpmd starts both programs where mpirun cannot.
run_example() {
  # shellcheck source=/dev/null
  source "$1/bin/syncyte-env.sh"
  export PATH="${ENVIRONMENT}/bin:${PATH}"
  local -a flags
  # shellcheck disable=SC2162  # without -r: pkg-config writes a space in a path as "\ "
  read -a flags < <(pkg-config --cflags --libs syncyte-fortran)
  mpif90 writer.f90 -o writer "${flags[@]}" &&
    mpirun -n 3 syncyte-mpmd -n 2 ./writer :: -n 1 python -m syncyte reader.py
}
