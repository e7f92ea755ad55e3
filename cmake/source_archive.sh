#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Writes a commit's files to syncyte-VERSION.tar.gz, and prints its SHA-256:
#   cmake/source_archive.sh [COMMIT [FOLDER]]      default: HEAD, and the current folder
# The same commit gives the same bytes, on any machine with the same git and gzip: files have the commit's time, and
# neither uncommitted changes nor the settings of the user or of this clone matter.
set -euo pipefail
unset CDPATH  # of the user's: cd would go elsewhere

repository="$(dirname "${BASH_SOURCE[0]}")"
commit="$(git -C "${repository}" rev-parse --verify "${1:-HEAD}^{commit}")"
folder="${2:-.}"
version="$(git -C "${repository}" show "${commit}:./../CMakeLists.txt" | sed -n 's/^project(syncyte VERSION \([0-9.]*\) .*/\1/p')"
[[ -n "${version}" ]] || { echo "source_archive.sh: CMakeLists.txt of ${commit} names no version" >&2; exit 1; }
name="syncyte-${version}"

bare="$(mktemp -d)"  # without the clone's info/attributes
trap 'rm -rf "${bare}"' EXIT
git clone --quiet --bare --shared "$(git -C "${repository}" rev-parse --show-toplevel)" "${bare}"
git -C "${bare}" -c core.autocrlf=false -c core.attributesFile=/dev/null -c tar.umask=0022 \
  archive --format=tar --prefix="${name}/" "${commit}" |
  env --unset=GZIP gzip --no-name --best >"${folder}/${name}.tar.gz"
cd "${folder}"
sha256sum "${name}.tar.gz"
