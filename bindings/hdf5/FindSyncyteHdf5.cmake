# SPDX-License-Identifier: BSD-3-Clause
# Target syncyte_found_hdf5: HDF5's C library, 1.10 or newer. Only serial calls are used, so any build will do; one with
# the job's own MPI comes first, because it brings no second MPI into the process. HDF5_ROOT names another installation.
if(TARGET syncyte_found_hdf5)
  return()
endif()

set(preferred hdf5-openmpi hdf5-mpi hdf5 hdf5-serial)
if("${MPI_C_LIBRARIES}" MATCHES "mpich")
  set(preferred hdf5-mpich hdf5 hdf5-serial)
endif()
if(NOT HDF5_ROOT AND NOT DEFINED ENV{HDF5_ROOT})
  pkg_search_module(SYNCYTE_PKG_HDF5 QUIET IMPORTED_TARGET GLOBAL ${preferred})
endif()

add_library(syncyte_found_hdf5 INTERFACE)
if(SYNCYTE_PKG_HDF5_FOUND)
  target_link_libraries(syncyte_found_hdf5 INTERFACE PkgConfig::SYNCYTE_PKG_HDF5)
  set(version "${SYNCYTE_PKG_HDF5_VERSION}")
else()
  set(HDF5_PREFER_PARALLEL TRUE)
  find_package(HDF5 REQUIRED COMPONENTS C)
  target_include_directories(syncyte_found_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
  target_link_libraries(syncyte_found_hdf5 INTERFACE ${HDF5_C_LIBRARIES})
  set(version "${HDF5_VERSION}")
endif()
if(version VERSION_LESS 1.10)
  message(FATAL_ERROR "HDF5 ${version} is too old: 1.10 or newer is needed. Set HDF5_ROOT, or -DSYNCYTE_HDF5=OFF.")
endif()
# A parallel HDF5's header includes mpi.h; we use nothing of it.
target_include_directories(syncyte_found_hdf5 SYSTEM INTERFACE ${MPI_C_INCLUDE_DIRS})
target_compile_definitions(syncyte_found_hdf5 INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
message(STATUS "Found HDF5 ${version}")
