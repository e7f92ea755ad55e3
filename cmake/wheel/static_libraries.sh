#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the libraries that the release wheel has inside, as static libraries that a shared one can take in (Debian's
# cannot): fmt, HDF5 without MPI, and ISA-L's checksums.
#   static_libraries.sh FOLDER      installs them into FOLDER; works in FOLDER.build
# Their sources, and the assembler of ISA-L, are packages of this machine's Debian or Ubuntu: apt-get fetches them into
# the folder and checks their signatures, and installs nothing. A folder that is complete is left as it is.
set -euo pipefail

prefix="$(realpath -m "$1")"
work="${prefix}.build"
[[ ! -f "${prefix}/complete" ]] || exit 0
rm -rf "${prefix}" "${work}"
mkdir -p "${prefix}" "${work}"/{apt,lists/partial,sources,root}
cd "${work}/sources"

# apt's own list of sources, in which source packages are on.
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
  [[ ! -f "${file}" ]] ||
    sed -E 's/^Types:.*/Types: deb deb-src/; s/^deb (.*)/&\ndeb-src \1/' "${file}" >"${work}/apt/${file##*/}"
done
apt=(apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="${work}/apt"
  -o Dir::State::lists="${work}/lists" -o Dir::Cache="${work}" -o APT::Sandbox::User=)
"${apt[@]}" update
"${apt[@]}" source fmtlib hdf5 libisal
"${apt[@]}" download nasm
dpkg-deb --extract nasm_*.deb "${work}/root"

jobs="$(nproc)"
cmake -S fmtlib-*/ -B "${work}/fmt" -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
  -DCMAKE_INSTALL_PREFIX="${prefix}" -DCMAKE_INSTALL_LIBDIR=lib -DFMT_TEST=OFF -DFMT_DOC=OFF
cmake --build "${work}/fmt" --parallel "${jobs}" --target install

mkdir "${work}/hdf5"
(cd "${work}/hdf5" && sh ../sources/hdf5-*/configure --prefix="${prefix}" --enable-build-mode=production \
  --disable-shared --with-pic --disable-hl --disable-tools --disable-tests --without-zlib --without-szlib)
make -C "${work}/hdf5" -j "${jobs}" install

(cd libisal-*/ && PATH="${work}/root/usr/bin:${PATH}" \
  make -f Makefile.unx -j "${jobs}" units=crc CFLAGS_=-fPIC lib)
install -D -m 644 libisal-*/bin/isa-l.a "${prefix}/lib/libisal.a"
install -D -m 644 -t "${prefix}/include/isa-l" libisal-*/include/crc.h
cat >"${prefix}/lib/pkgconfig/libisal.pc" <<TEXT
Name: libisal
Description: Checksums of ISA-L
Version: $(basename libisal-*/ | cut -d - -f 2)
Cflags: -I${prefix}/include
Libs: -L${prefix}/lib -lisal
TEXT
install -D -m 644 -t "${prefix}/licenses/fmt" fmtlib-*/LICENSE*
install -D -m 644 -t "${prefix}/licenses/hdf5" hdf5-*/COPYING*
install -D -m 644 -t "${prefix}/licenses/isa-l" libisal-*/LICENSE
touch "${prefix}/complete"
