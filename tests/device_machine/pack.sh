#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Puts packages into .device/ (7 MB) from which run.sh builds on a bare machine without a network: fmt, xxHash, GoogleTest
# and pkgconf of this machine's Debian or Ubuntu, and Open MPI of the Python registry. PYTHON: the one to use.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rm -rf .device
mkdir .device
cd .device
fmt="$(apt-cache depends libfmt-dev | sed -n 's/^ *Depends: \(libfmt[0-9]*.*\)/\1/p')"
apt-get download libfmt-dev "${fmt}" libxxhash-dev libgtest-dev pkgconf pkgconf-bin libpkgconf3
"${PYTHON:-python3}" -m pip download --quiet --no-deps --only-binary=:all: --require-hashes -r ../cmake/mpi/openmpi5.lock
du -sh .
