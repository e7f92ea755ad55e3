# SPDX-License-Identifier: BSD-3-Clause
# Sets the install folder of the Python package (SYNCYTE_PYTHON_DIR), and the paths between it and the library's folder.
include_guard(GLOBAL)

# syncyte_below_prefix(DIR OUTPUT): a path below the prefix becomes relative to it, so that the installation can be moved;
# other absolute paths stay.
function(syncyte_below_prefix dir output)
  cmake_path(NORMAL_PATH dir)
  cmake_path(IS_PREFIX CMAKE_INSTALL_PREFIX "${dir}" NORMALIZE is_below)
  if(IS_ABSOLUTE "${dir}" AND is_below)
    cmake_path(RELATIVE_PATH dir BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}")
  endif()
  set(${output} "${dir}" PARENT_SCOPE)
endfunction()

# syncyte_from_package(DIR FOLDER OUTPUT): a folder of the installation relative to the package syncyte in DIR, or
# absolute where DIR is.
function(syncyte_from_package dir folder output)
  if(NOT IS_ABSOLUTE "${dir}")
    cmake_path(APPEND CMAKE_INSTALL_PREFIX "${dir}" syncyte OUTPUT_VARIABLE package)
    cmake_path(NORMAL_PATH package)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${package}")
  endif()
  set(${output} "${folder}" PARENT_SCOPE)
endfunction()

# syncyte_python_path(DIR OUTPUT): DIR as shells and the modulefile give it to PYTHONPATH.
function(syncyte_python_path dir output)
  if(NOT IS_ABSOLUTE "${dir}")
    string(PREPEND dir "\$_syncyte_prefix/")
  endif()
  set(${output} "${dir}" PARENT_SCOPE)
endfunction()
