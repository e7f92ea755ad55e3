# SPDX-License-Identifier: BSD-3-Clause
# Installation: libraries, headers, Fortran modules, the CMake package, pkg-config files.
# Components: runtime (libraries, Python package), devel (all that is needed to build against them), doc (pages, examples).
include(CMakePackageConfigHelpers)

set(SYNCYTE_CMAKE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/syncyte")

# Another compiler, or another version of it, cannot read these .mod files: their folder has both in its name.
if(CMAKE_Fortran_COMPILER_ID)
  string(TOLOWER "${CMAKE_Fortran_COMPILER_ID}" _fortran_id)
  string(REGEX MATCH "^[0-9]+" _fortran_major "${CMAKE_Fortran_COMPILER_VERSION}")
  set(SYNCYTE_FORTRAN_MODULE_DIR "${CMAKE_INSTALL_INCLUDEDIR}/syncyte/fortran/${_fortran_id}-${_fortran_major}")
endif()

# Where libraries find others: in their own folder, and in that of MPI's library, because CMake's own paths to libraries
# leave out what lies in the source tree. FindMPI names no library where the compiler itself knows MPI, as Cray's does.
set(SYNCYTE_SEARCH_PATH "$ORIGIN")
foreach(library IN LISTS MPI_C_LIBRARIES)
  cmake_path(GET library PARENT_PATH folder)
  if(folder)
    list(APPEND SYNCYTE_SEARCH_PATH "${folder}")
  endif()
endforeach()
list(REMOVE_DUPLICATES SYNCYTE_SEARCH_PATH)

# A wheel holds no symbolic links: a library is one file there, and for the linker a text that names this.
set(SYNCYTE_LIBRARY_VERSION ${PROJECT_VERSION})
set(SYNCYTE_NAMELINK NAMELINK_COMPONENT devel)
if(SKBUILD)
  set(SYNCYTE_LIBRARY_VERSION ${SYNCYTE_ABI_VERSION})
  set(SYNCYTE_NAMELINK NAMELINK_SKIP)
endif()
function(_syncyte_name_for_linker target)
  set(text "${PROJECT_BINARY_DIR}/cmake/lib${target}.so")
  file(WRITE "${text}" "INPUT(lib${target}.so.${SYNCYTE_ABI_VERSION})\n")
  install(FILES "${text}" DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT devel)
endfunction()

# syncyte_install_library(TARGET COMPONENT [FOLDER]): installs the library as syncyte::COMPONENT and sets the properties
# that all our shared libraries have. The target's own include folders serve the build only; users get the
# installation's include folder, and FOLDER.
function(syncyte_install_library target component)
  if(NOT TARGET ${target})
    return()
  endif()
  get_target_property(type ${target} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    # A library has the same search path in the build tree, where all are in one folder: a path that CMake replaces at
    # installation ends in an empty element, by which the loader means the current folder, where others may write.
    set_target_properties(${target} PROPERTIES
      VERSION ${SYNCYTE_LIBRARY_VERSION} SOVERSION ${SYNCYTE_ABI_VERSION} LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/capi"
      BUILD_WITH_INSTALL_RPATH ON INSTALL_RPATH "${SYNCYTE_SEARCH_PATH}" INSTALL_RPATH_USE_LINK_PATH ON)
    if(SKBUILD)
      _syncyte_name_for_linker(${target})
    endif()
  endif()
  set_property(TARGET ${target} PROPERTY EXPORT_NAME ${component})
  get_target_property(folders ${target} INTERFACE_INCLUDE_DIRECTORIES)
  if(folders)
    list(FILTER folders EXCLUDE REGEX "INSTALL_INTERFACE")
    string(REGEX REPLACE "\\$<BUILD_INTERFACE:([^>]*)>" "\\1" folders "${folders}")
    list(TRANSFORM folders PREPEND "$<BUILD_INTERFACE:")
    list(TRANSFORM folders APPEND ">")
    set_property(TARGET ${target} PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${folders}")
  endif()
  target_include_directories(${target} INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  foreach(folder IN LISTS ARGN)
    target_include_directories(${target} INTERFACE "$<INSTALL_INTERFACE:${folder}>")
  endforeach()
  install(TARGETS ${target} EXPORT syncyte-${component}
    RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime ${SYNCYTE_NAMELINK}
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT devel)
  install(EXPORT syncyte-${component} NAMESPACE syncyte:: FILE syncyte-${component}-targets.cmake
    DESTINATION "${SYNCYTE_CMAKE_DIR}" COMPONENT devel)
endfunction()

# Programs built with pkg-config find the libraries by an rpath. The loader finds those in /usr without one.
set(SYNCYTE_PC_RPATH " -Wl,-rpath,\${libdir}")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(SYNCYTE_PC_RPATH "")
endif()

# syncyte_install_pkgconfig(NAME): installs cmake/NAME.pc.in. The .pc file finds the prefix relative to itself.
function(syncyte_install_pkgconfig name)
  cmake_path(SET from "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig")
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${from}" OUTPUT_VARIABLE SYNCYTE_PREFIX_FROM_PC)
  configure_file("${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in" "${PROJECT_BINARY_DIR}/cmake/${name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/cmake/${name}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT devel)
endfunction()

syncyte_install_library(syncyte C)
syncyte_install_pkgconfig(syncyte)
if(TARGET syncyte_ucx)
  set_target_properties(syncyte_ucx PROPERTIES VERSION ${SYNCYTE_LIBRARY_VERSION})
  install(TARGETS syncyte_ucx LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_SKIP)
endif()
install(DIRECTORY capi/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT devel FILES_MATCHING PATTERN "*.h")

syncyte_install_library(syncyte_cxx CXX)
install(DIRECTORY include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT devel FILES_MATCHING PATTERN "*.hpp")

set(SYNCYTE_COMPONENTS C CXX)
if(TARGET syncyte_fortran)
  syncyte_install_library(syncyte_fortran Fortran "${SYNCYTE_FORTRAN_MODULE_DIR}")
  syncyte_install_pkgconfig(syncyte-fortran)
  get_target_property(_modules syncyte_fortran Fortran_MODULE_DIRECTORY)
  install(DIRECTORY "${_modules}/" DESTINATION "${SYNCYTE_FORTRAN_MODULE_DIR}" COMPONENT devel
    FILES_MATCHING PATTERN "*.mod")
  list(APPEND SYNCYTE_COMPONENTS Fortran)
  syncyte_install_library(syncyte_f77 F77)
  syncyte_install_pkgconfig(syncyte-f77)
  install(FILES bindings/fortran/generated/syncyte77.inc DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT devel)
  list(APPEND SYNCYTE_COMPONENTS F77)
endif()
if(TARGET syncyte_fortran_hdf5)
  syncyte_install_library(syncyte_fortran_hdf5 FortranHDF5 "${SYNCYTE_FORTRAN_MODULE_DIR}")
  syncyte_install_pkgconfig(syncyte-fortran-hdf5)
  list(APPEND SYNCYTE_COMPONENTS FortranHDF5)
endif()
if(TARGET syncyte_hdf5)
  syncyte_install_library(syncyte_hdf5 HDF5)
  syncyte_install_pkgconfig(syncyte-hdf5)
  install(DIRECTORY bindings/hdf5/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT devel
    FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
  list(APPEND SYNCYTE_COMPONENTS HDF5)
endif()
# syncyte_install_sources(LANGUAGE FOLDER): the project in FOLDER compiles a binding against the installation.
function(syncyte_install_sources language folder)
  set(made "${PROJECT_BINARY_DIR}/${language}-standalone/CMakeLists.txt")
  configure_file(bindings/${language}/standalone/CMakeLists.txt.in "${made}" @ONLY)
  install(FILES "${made}" DESTINATION "${folder}" COMPONENT devel)
endfunction()

if(SKBUILD OR TARGET syncyte_fortran)  # each Fortran compiler needs modules of its own
  set(fortran_sources "${CMAKE_INSTALL_DATADIR}/syncyte/fortran")
  set(fortran_needs C)
  if(TARGET syncyte_hdf5)
    string(APPEND fortran_needs " HDF5")
  endif()
  syncyte_install_sources(fortran "${fortran_sources}")
  install(FILES bindings/fortran/CMakeLists.txt DESTINATION "${fortran_sources}" RENAME library.cmake COMPONENT devel)
  install(DIRECTORY bindings/fortran/f77 bindings/fortran/generated bindings/fortran/helpers bindings/fortran/src
    DESTINATION "${fortran_sources}" COMPONENT devel)
endif()
if(SKBUILD)  # each version of torch needs a library of its own
  set(torch_sources "${CMAKE_INSTALL_DATADIR}/syncyte/torch")
  syncyte_install_sources(torch "${torch_sources}")
  find_file(xxhash_header xxhash.h HINTS ${XXHASH_INCLUDE_DIRS} REQUIRED)
  install(FILES cmake/FindSyncyteTorch.cmake DESTINATION "${torch_sources}" COMPONENT devel)
  install(FILES "${xxhash_header}" DESTINATION "${torch_sources}/xxhash" COMPONENT devel)
  install(FILES bindings/torch/CMakeLists.txt bindings/torch/syncyte_torch.map DESTINATION "${torch_sources}/torch"
    COMPONENT devel)
  install(DIRECTORY bindings/torch/src bindings/torch/include DESTINATION "${torch_sources}/torch"
    COMPONENT devel)
endif()
if(TARGET syncyte_torch)
  syncyte_install_library(syncyte_torch Torch)
  # libtorch is not copied: the rpath names the folder of the Python package torch.
  get_target_property(torch_folder syncyte_torch SYNCYTE_TORCH_FOLDER)
  set_property(TARGET syncyte_torch APPEND PROPERTY INSTALL_RPATH "${torch_folder}")
  install(DIRECTORY bindings/torch/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT devel
    FILES_MATCHING PATTERN "*.hpp")
  install(FILES cmake/FindSyncyteTorch.cmake DESTINATION "${SYNCYTE_CMAKE_DIR}" COMPONENT devel)
  list(APPEND SYNCYTE_COMPONENTS Torch)
endif()
if(TARGET syncyte_torch_cuda)
  syncyte_install_library(syncyte_torch_cuda TorchCuda)
  set_property(TARGET syncyte_torch_cuda APPEND PROPERTY INSTALL_RPATH "${torch_folder}")
endif()

configure_package_config_file(cmake/syncyte-config.cmake.in "${PROJECT_BINARY_DIR}/cmake/syncyte-config.cmake"
  INSTALL_DESTINATION "${SYNCYTE_CMAKE_DIR}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/syncyte-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/cmake/syncyte-config.cmake"
  "${PROJECT_BINARY_DIR}/cmake/syncyte-config-version.cmake"
  DESTINATION "${SYNCYTE_CMAKE_DIR}" COMPONENT devel)
# Scripts that set the environment of a shell, and a modulefile, for an installation that may be moved.
set(SYNCYTE_ENV_PYTHON "")
if(SYNCYTE_PYTHON AND NOT SKBUILD)  # pip installs the package where Python looks anyway
  syncyte_python_path("${SYNCYTE_PYTHON_DIR}" SYNCYTE_ENV_PYTHON)
endif()
set(modulefiles "${CMAKE_INSTALL_FULL_DATADIR}/modulefiles/syncyte")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${modulefiles}"
  OUTPUT_VARIABLE SYNCYTE_PREFIX_FROM_MODULEFILE)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_FULL_BINDIR}"
  OUTPUT_VARIABLE SYNCYTE_PREFIX_FROM_BIN)
foreach(file syncyte-env.sh syncyte-env.csh syncyte-env.fish modulefile)
  configure_file(cmake/${file}.in "${PROJECT_BINARY_DIR}/cmake/${file}" @ONLY)
endforeach()
foreach(shell sh csh fish)
  install(FILES "${PROJECT_BINARY_DIR}/cmake/syncyte-env.${shell}" DESTINATION "${CMAKE_INSTALL_BINDIR}"
    COMPONENT runtime)
endforeach()
install(FILES "${PROJECT_BINARY_DIR}/cmake/modulefile" DESTINATION "${CMAKE_INSTALL_DATADIR}/modulefiles/syncyte"
  RENAME "${PROJECT_VERSION}" COMPONENT runtime)

if(SKBUILD)
  set(programs "${SKBUILD_SCRIPTS_DIR}")  # the bin folder of the Python environment
else()
  set(programs "${CMAKE_INSTALL_BINDIR}")
endif()
install(PROGRAMS tools/syncyte-mpmd DESTINATION "${programs}" COMPONENT runtime)
if(SYNCYTE_PYTHON AND NOT SKBUILD)  # pip makes this command itself
  install(PROGRAMS tools/syncyte DESTINATION "${programs}" COMPONENT runtime)
endif()
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)

# Documentation and examples, in the places where the pages' links expect them.
install(FILES README.md CHANGELOG.md CITATION.cff CONTRIBUTING.md SECURITY.md
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT doc)
install(DIRECTORY docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT doc)
install(DIRECTORY examples/first_steps DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" COMPONENT doc
  PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY examples/legacy DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" COMPONENT doc
  PATTERN "__pycache__" EXCLUDE)
install(DIRECTORY examples/slurm DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" COMPONENT doc)
install(DIRECTORY examples/cache DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" COMPONENT doc
        FILES_MATCHING PATTERN "*.py")
install(DIRECTORY examples/tsunami DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples" COMPONENT doc
  PATTERN "__pycache__" EXCLUDE PATTERN "CMakeLists.txt" EXCLUDE)
foreach(binding fortran python)
  install(FILES "bindings/${binding}/README.md" DESTINATION "${CMAKE_INSTALL_DOCDIR}/bindings/${binding}" COMPONENT doc)
endforeach()
install(DIRECTORY bindings/fortran/examples DESTINATION "${CMAKE_INSTALL_DOCDIR}/bindings/fortran" COMPONENT doc
  PATTERN "CMakeLists.txt" EXCLUDE)
