# SPDX-License-Identifier: BSD-3-Clause
# Options of the build, and what applies to every target.

option(SYNCYTE_FORTRAN "Build the Fortran module" ON)
option(SYNCYTE_TORCH "Build the PyTorch operators (needs torch in the environment's Python)" ON)
option(SYNCYTE_HDF5 "Build the checkpoint library" ON)
option(SYNCYTE_UCX "Build the UCX transport between nodes (needs UCX 1.13)" ON)
option(SYNCYTE_PYTHON "Install the Python package" ON)
option(SYNCYTE_TESTS "Build the tests" ON)
option(SYNCYTE_BENCH "Build the benchmarks" ON)
option(SYNCYTE_EXAMPLES "Build the examples" ON)
option(SYNCYTE_WERROR "Treat warnings as errors" OFF)
set(SYNCYTE_CUDA "AUTO" CACHE STRING "CUDA backend: AUTO (on where cuda.h is found), ON, OFF")
set_property(CACHE SYNCYTE_CUDA PROPERTY STRINGS AUTO ON OFF)
if(NOT SYNCYTE_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "SYNCYTE_CUDA is '${SYNCYTE_CUDA}': expected AUTO, ON or OFF")
endif()
set(SYNCYTE_SANITIZE "" CACHE STRING "Sanitizers, for example address,undefined or thread")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Kind of build" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# MPI, torch and threads call these libraries even after dlclose(), so it must not unmap them.
set(SYNCYTE_STAYS_LOADED "LINKER:-z,nodelete")

find_program(SYNCYTE_CCACHE ccache)
if(SYNCYTE_CCACHE)
  set(launcher "${SYNCYTE_CCACHE}")
  if(NOT DEFINED ENV{CCACHE_SLOPPINESS})  # without it ccache does not cache sources with a precompiled header
    set(launcher "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${SYNCYTE_CCACHE}")
  endif()
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${launcher})
endif()

# Compiler warnings for our own code; targets link this privately.
add_library(syncyte_warnings INTERFACE)
target_compile_options(syncyte_warnings INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wshadow -Wpointer-arith>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>
  $<$<COMPILE_LANGUAGE:Fortran>:-Wall -Wextra -Wno-unused-dummy-argument>
  $<$<AND:$<COMPILE_LANGUAGE:C,CXX,Fortran>,$<BOOL:${SYNCYTE_WERROR}>>:-Werror>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${SYNCYTE_WERROR}>>:--Werror=all-warnings>)

# A prefetch for writing takes a cache line away from other cores only by PREFETCHW. All x86-64 processors accept it, but
# compilers use it only when told to.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(SYNCYTE_PREFETCH_FOR_WRITING -mprfchw)
endif()

if(SYNCYTE_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${SYNCYTE_SANITIZE}>
                      $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=${SYNCYTE_SANITIZE})
endif()
