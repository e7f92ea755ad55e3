# SPDX-License-Identifier: BSD-3-Clause
# Dependencies of the build: languages, MPI, small libraries, Python.

set(mpi_languages C)
if(SYNCYTE_FORTRAN OR SYNCYTE_EXAMPLES)
  include(CheckLanguage)
  check_language(Fortran)
  if(NOT CMAKE_Fortran_COMPILER)
    message(FATAL_ERROR "No Fortran compiler found: install one (gfortran), or configure with "
      "-DSYNCYTE_FORTRAN=OFF -DSYNCYTE_EXAMPLES=OFF")
  endif()
  enable_language(Fortran)
  list(APPEND mpi_languages Fortran)
endif()
find_package(MPI 3.1 COMPONENTS ${mpi_languages})
if(NOT MPI_FOUND)
  message(FATAL_ERROR "No MPI of version 3.1 or later found for ${mpi_languages}: install one (libopenmpi-dev and "
    "openmpi-bin), load its module, or name its compilers (-DMPI_C_COMPILER=.../mpicc, -DMPI_Fortran_COMPILER=.../mpif90)")
endif()
find_package(fmt QUIET)
if(NOT fmt_FOUND)
  message(FATAL_ERROR "No fmt found: install it (libfmt-dev)")
endif()
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(XXHASH REQUIRED libxxhash)  # its header alone is used
if(SYNCYTE_UCX)
  pkg_check_modules(UCX IMPORTED_TARGET "ucx >= 1.13")
  if(NOT UCX_FOUND)
    message(FATAL_ERROR "pkg-config finds no UCX of version 1.13 or later: install it (libucx-dev), or configure with "
      "-DSYNCYTE_UCX=OFF")
  endif()
endif()

include(SyncyteCuda)

# The environment's Python: -DPython3_EXECUTABLE, else .venv in the source tree, else the system's.
if(NOT Python3_EXECUTABLE AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  set(Python3_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python" CACHE FILEPATH "The environment's Python")
endif()
if(SYNCYTE_TORCH OR SYNCYTE_PYTHON OR SYNCYTE_TESTS)
  find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
endif()

message(STATUS "Syncyte ${PROJECT_VERSION}: Fortran ${SYNCYTE_FORTRAN}, torch ${SYNCYTE_TORCH}, HDF5 ${SYNCYTE_HDF5}, "
  "UCX ${SYNCYTE_UCX}, CUDA ${SYNCYTE_WITH_CUDA} (nvcc ${SYNCYTE_NVCC_VERSION}), Python ${SYNCYTE_PYTHON}, tests ${SYNCYTE_TESTS}, "
  "bench ${SYNCYTE_BENCH}, examples ${SYNCYTE_EXAMPLES}")
