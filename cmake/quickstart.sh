#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# One command from a fresh clone to the running demo or the passed tests. See --help.
set -euo pipefail

SYNCYTE_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
readonly SYNCYTE_ROOT
# shellcheck disable=SC2034
BUILD_FOLDER="${SYNCYTE_ROOT}/build"
# shellcheck source=quickstart/report.sh
source "${SYNCYTE_ROOT}/cmake/quickstart/report.sh"
# shellcheck source=quickstart/packages.sh
source "${SYNCYTE_ROOT}/cmake/quickstart/packages.sh"
# shellcheck source=quickstart/python.sh
source "${SYNCYTE_ROOT}/cmake/quickstart/python.sh"
# shellcheck source=quickstart/other_mpi.sh
source "${SYNCYTE_ROOT}/cmake/quickstart/other_mpi.sh"
# shellcheck source=quickstart/first.sh
source "${SYNCYTE_ROOT}/cmake/quickstart/first.sh"
# shellcheck source=quickstart/build.sh
source "${SYNCYTE_ROOT}/cmake/quickstart/build.sh"
# shellcheck source=quickstart/arguments.sh
source "${SYNCYTE_ROOT}/cmake/quickstart/arguments.sh"

usage() {
  cat <<'TEXT'
Usage: cmake/quickstart.sh COMMAND [OPTIONS]

Commands
  first            builds the core and Fortran's module, without PyTorch and HDF5, and runs README's first example; all
                   of it is below build-first/, apart from all others: 4 minutes on 2 cores, 1 GB with
                   the system packages
  demo [OPTIONS]   the tsunami demo: a Fortran solver and PyTorch learners in one MPI job; the pictures are
                   build/demo/figure.png and forecast.png; OPTIONS go to examples/tsunami/demo.py (demo --help
                   lists them)
  test [OPTIONS]   builds everything and runs the tests of a few minutes; OPTIONS go to ctest (for example -R window).
                   -L ranks runs those at further rank counts, -L slow the long ones (tests/README.md).
                   --mpi=mpich or --mpi=openmpi5 runs the core's tests with another MPI, a package of the Python
                   registry: environment and build are below build-mpich/ or build-openmpi5/, apart from all others
  bench            builds and runs the benchmarks; the report is build/bench/report.json
  build            builds everything and runs nothing
  setup            installs system packages and the Python environment, and builds nothing

Each command does what is missing and nothing else: system packages (apt-get, as root or with sudo), the Python
environment .venv with the versions of cmake/requirements.lock, configuration by preset and the build in build/.
Debian 12, Debian 13 and Ubuntu 24.04 are supported. Elsewhere, or without the right to install packages, it says
what is missing and stops. It can be called from any folder: paths given to it are relative to that folder.

Environment
  SYNCYTE_VENV            a Python environment to use instead of .venv; made where there is none; one that somebody else
                          has made is checked and never changed
  SYNCYTE_PYTHON          the Python (3.11 or newer) that makes .venv; the system's by default
  SYNCYTE_SKIP_PACKAGES   1: do not look for system packages (they come from Spack, modules or another place)
  SYNCYTE_PRESET          the configure preset (default: default)
  SYNCYTE_CMAKE_ARGS      further arguments of the configuration, separated by spaces
  SYNCYTE_JOBS            parallel compilations (default: the cores, fewer where memory is short)
TEXT
}

main() {
  local command="${1:-}"
  case "${command}" in
    -h | --help | help) usage; return 0 ;;
    first | demo | test | bench | build | setup) shift ;;
    "") usage >&2; return 2 ;;
    *) fail "unknown command '${command}': expected first, demo, test, bench, build or setup (--help says more)" ;;
  esac
  if asks_for_help "$@"; then
    help_of "${command}"
    return 0
  fi
  local -a options=("$@")
  [[ "${command}" != test ]] || take_mpi options
  check_arguments "${command}" "${options[@]}"
  [[ -z "${MPI}" ]] || use_mpi
  [[ "${command}" != first ]] || use_first
  ensure_packages "${command}"
  ensure_python
  [[ "${command}" == setup ]] && return 0
  configure
  "run_${command}" "${options[@]}"
}

main "$@"
