# SPDX-License-Identifier: BSD-3-Clause
# CUDA, from an installed toolkit or from NVIDIA's wheels in the environment. With SYNCYTE_CUDA=AUTO nothing here is an
# error. Sets
#   SYNCYTE_WITH_CUDA      TRUE compiles the CUDA backend of src/memory, which needs cuda.h alone; FALSE its stub
#   SYNCYTE_CUDA_INCLUDE   folder of cuda.h
#   SYNCYTE_NVCC           CUDA's compiler, for the kernels of src/rows; "": there are none
#   SYNCYTE_NVCC_VERSION   such as 12.8

set(SYNCYTE_WITH_CUDA FALSE)
set(SYNCYTE_NVCC "")
set(SYNCYTE_NVCC_VERSION none)
if(SYNCYTE_CUDA STREQUAL "OFF")
  return()
endif()

set(environments "${PROJECT_SOURCE_DIR}/.venv" "$ENV{SYNCYTE_VENV}" "$ENV{VIRTUAL_ENV}")
list(REMOVE_ITEM environments "")
list(TRANSFORM environments APPEND "/lib/python3*/site-packages/nvidia/cu[0-9]*")
file(GLOB wheels ${environments})
find_path(SYNCYTE_CUDA_INCLUDE cuda.h HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda ${wheels}
          PATH_SUFFIXES include DOC "Folder of cuda.h, of CUDA 12.0 or later")
find_program(SYNCYTE_CUDA_COMPILER nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda ${wheels}
             PATH_SUFFIXES bin DOC "CUDA's compiler nvcc, of CUDA 12.0 or later")

if(SYNCYTE_CUDA_INCLUDE)
  file(STRINGS "${SYNCYTE_CUDA_INCLUDE}/cuda.h" version REGEX "^#define CUDA_VERSION [0-9]+$")
  string(REGEX REPLACE "[^0-9]" "" version "${version}")
  if(version GREATER_EQUAL 12000)
    set(SYNCYTE_WITH_CUDA TRUE)
  endif()
endif()

# Whether nvcc compiles what the kernels need; it depends on the version of the host's compiler, too.
if(SYNCYTE_WITH_CUDA AND SYNCYTE_CUDA_COMPILER)
  execute_process(COMMAND "${SYNCYTE_CUDA_COMPILER}" --version OUTPUT_VARIABLE answer ERROR_QUIET)
  string(REGEX REPLACE "[ \n]+" " " answer "${answer}")
  if(NOT "${SYNCYTE_CUDA_COMPILER} ${answer}" STREQUAL "${SYNCYTE_NVCC_TRIED}")
    set(source "${PROJECT_BINARY_DIR}/CMakeFiles/try_nvcc.cu")
    file(WRITE "${source}" "#include <atomic>\n#include <cuda_bf16.h>\n__global__ void kernel() {}\n")
    execute_process(COMMAND "${SYNCYTE_CUDA_COMPILER}" -std=c++20 -arch=sm_80 -fatbin -o "${source}.fatbin" "${source}"
                    RESULT_VARIABLE code ERROR_VARIABLE reason OUTPUT_QUIET)
    set(SYNCYTE_NVCC_TRIED "${SYNCYTE_CUDA_COMPILER} ${answer}" CACHE INTERNAL "The nvcc that was tried")
    set(SYNCYTE_NVCC_CODE "${code}" CACHE INTERNAL "Its exit status; 0: it works")
    string(REGEX REPLACE "[ \n]+" " " reason "${reason}")
    set(SYNCYTE_NVCC_REASON "${reason}" CACHE INTERNAL "Its messages")
  endif()
  if(SYNCYTE_NVCC_CODE STREQUAL "0" AND answer MATCHES "release ([0-9.]+)")
    set(SYNCYTE_NVCC "${SYNCYTE_CUDA_COMPILER}")
    set(SYNCYTE_NVCC_VERSION "${CMAKE_MATCH_1}")
  endif()
endif()

if(SYNCYTE_CUDA STREQUAL "ON" AND NOT SYNCYTE_NVCC)
  message(FATAL_ERROR "SYNCYTE_CUDA=ON, but found no CUDA of version 12.0 or later that compiles kernels: cuda.h in "
    "${SYNCYTE_CUDA_INCLUDE}, compiler ${SYNCYTE_CUDA_COMPILER} ${SYNCYTE_NVCC_REASON}. Set CUDA_HOME, or "
    "-DSYNCYTE_CUDA_INCLUDE and -DSYNCYTE_CUDA_COMPILER, or use SYNCYTE_CUDA=AUTO or OFF")
endif()
