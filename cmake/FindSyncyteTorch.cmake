# SPDX-License-Identifier: BSD-3-Clause
#[[
Finds PyTorch's C++ libraries without PyTorch's own CMake package, which fails if no CUDA toolkit is installed.
The Python of Python3_EXECUTABLE (found here when it is not set) says in which folder its torch is installed.

Imported targets
  SyncyteTorch::torch   headers (SYSTEM), libtorch, libtorch_cpu and libc10, with torch's C++ ABI flag.
                        The headers bring a copy of fmt: a target that links it must not use fmt of the system.
  SyncyteTorch::frontend the same, and the headers of torch's C++ frontend (torch/torch.h)
  SyncyteTorch::cuda    SyncyteTorch::torch with libc10_cuda, if torch is one for CUDA and the headers of CUDA's runtime
                        are beside it, or in SYNCYTE_CUDA_INCLUDE
Variables
  SyncyteTorch_FOUND, SyncyteTorch_VERSION (2.15.0), SyncyteTorch_VERSION_FULL (2.15.0+cu132),
  SyncyteTorch_INCLUDE_DIR, SyncyteTorch_LIBRARY_DIR, SyncyteTorch_CXX11_ABI (0 or 1), SyncyteTorch_CUDA (version or ""),
  SyncyteTorch_DISTRIBUTED (1 if it has torch.distributed, otherwise 0)
]]
set(SyncyteTorch_reason "")
set(_syncyte_torch_advice
    "give a Python with -DPython3_EXECUTABLE=..., or build without torch with -DSYNCYTE_TORCH=OFF")
if(NOT Python3_EXECUTABLE)
  find_package(Python3 QUIET COMPONENTS Interpreter)
endif()

# Importing torch takes more than a second: ask once for each interpreter.
if(Python3_EXECUTABLE AND NOT "${SYNCYTE_TORCH_ASKED}" STREQUAL "5 ${Python3_EXECUTABLE}")
  set(_syncyte_torch_script [[
import os, torch
print(";".join([os.path.dirname(torch.__file__), torch.__version__, str(int(torch._C._GLIBCXX_USE_CXX11_ABI)),
                torch.version.cuda or "", str(int(torch.distributed.is_available()))]))
]])
  execute_process(COMMAND "${Python3_EXECUTABLE}" -c "${_syncyte_torch_script}"
    RESULT_VARIABLE _syncyte_torch_result OUTPUT_VARIABLE _syncyte_torch_answer ERROR_VARIABLE _syncyte_torch_error
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(_syncyte_torch_result EQUAL 0)
    set(SYNCYTE_TORCH_ASKED "5 ${Python3_EXECUTABLE}" CACHE INTERNAL "The Python that gave five answers")
    set(SYNCYTE_TORCH_ANSWER "${_syncyte_torch_answer}" CACHE INTERNAL "folder;version;ABI;CUDA;distributed of that Python's torch")
  else()
    unset(SYNCYTE_TORCH_ASKED CACHE)
    unset(SYNCYTE_TORCH_ANSWER CACHE)
    set(SyncyteTorch_reason "'${Python3_EXECUTABLE}' cannot import torch (${_syncyte_torch_advice}): \
${_syncyte_torch_error}")
  endif()
elseif(NOT Python3_EXECUTABLE)
  set(SyncyteTorch_reason "no Python 3 found (${_syncyte_torch_advice})")
endif()

if(SYNCYTE_TORCH_ANSWER)
  list(GET SYNCYTE_TORCH_ANSWER 0 _syncyte_torch_root)
  list(GET SYNCYTE_TORCH_ANSWER 1 SyncyteTorch_VERSION_FULL)
  list(GET SYNCYTE_TORCH_ANSWER 2 SyncyteTorch_CXX11_ABI)
  list(GET SYNCYTE_TORCH_ANSWER 3 SyncyteTorch_CUDA)
  list(GET SYNCYTE_TORCH_ANSWER 4 SyncyteTorch_DISTRIBUTED)
  string(REGEX MATCH "^[0-9]+(\\.[0-9]+)*" SyncyteTorch_VERSION "${SyncyteTorch_VERSION_FULL}")
  find_path(SyncyteTorch_INCLUDE_DIR torch/library.h PATHS "${_syncyte_torch_root}/include" NO_DEFAULT_PATH NO_CACHE)
  foreach(_name torch torch_cpu c10)
    find_library(SyncyteTorch_${_name}_LIBRARY ${_name} PATHS "${_syncyte_torch_root}/lib" NO_DEFAULT_PATH NO_CACHE)
  endforeach()
  set(SyncyteTorch_LIBRARY_DIR "${_syncyte_torch_root}/lib")
  find_library(SyncyteTorch_c10_cuda_LIBRARY c10_cuda PATHS "${SyncyteTorch_LIBRARY_DIR}" NO_DEFAULT_PATH NO_CACHE)
  file(GLOB _syncyte_cuda_folders "${_syncyte_torch_root}/../nvidia/*/include")
  find_path(SyncyteTorch_CUDA_INCLUDE_DIR cuda_runtime_api.h PATHS ${_syncyte_cuda_folders} ${SYNCYTE_CUDA_INCLUDE}
            NO_DEFAULT_PATH NO_CACHE)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(SyncyteTorch
  REQUIRED_VARS SyncyteTorch_torch_cpu_LIBRARY SyncyteTorch_torch_LIBRARY SyncyteTorch_c10_LIBRARY
    SyncyteTorch_INCLUDE_DIR
  VERSION_VAR SyncyteTorch_VERSION
  HANDLE_VERSION_RANGE
  REASON_FAILURE_MESSAGE "${SyncyteTorch_reason}")

if(SyncyteTorch_FOUND AND NOT TARGET SyncyteTorch::torch)
  foreach(_name c10 torch_cpu torch)
    add_library(SyncyteTorch::${_name}_library SHARED IMPORTED)
    set_target_properties(SyncyteTorch::${_name}_library PROPERTIES
      IMPORTED_LOCATION "${SyncyteTorch_${_name}_LIBRARY}")
  endforeach()
  add_library(SyncyteTorch::torch INTERFACE IMPORTED)
  set_target_properties(SyncyteTorch::torch PROPERTIES
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${SyncyteTorch_INCLUDE_DIR}"
    INTERFACE_INCLUDE_DIRECTORIES "${SyncyteTorch_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS "_GLIBCXX_USE_CXX11_ABI=${SyncyteTorch_CXX11_ABI}")
  # libtorch itself exports nothing. It is linked because it loads the backends that it was built with.
  set_property(TARGET SyncyteTorch::torch PROPERTY INTERFACE_LINK_LIBRARIES
    SyncyteTorch::torch_library SyncyteTorch::torch_cpu_library SyncyteTorch::c10_library)

  if(SyncyteTorch_c10_cuda_LIBRARY AND SyncyteTorch_CUDA_INCLUDE_DIR)
    add_library(SyncyteTorch::cuda SHARED IMPORTED)
    set_target_properties(SyncyteTorch::cuda PROPERTIES IMPORTED_LOCATION "${SyncyteTorch_c10_cuda_LIBRARY}"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${SyncyteTorch_CUDA_INCLUDE_DIR}"
      INTERFACE_INCLUDE_DIRECTORIES "${SyncyteTorch_CUDA_INCLUDE_DIR}"
      INTERFACE_LINK_LIBRARIES SyncyteTorch::torch)
  endif()

  set(_syncyte_torch_frontend "${SyncyteTorch_INCLUDE_DIR}/torch/csrc/api/include")
  add_library(SyncyteTorch::frontend INTERFACE IMPORTED)
  set_target_properties(SyncyteTorch::frontend PROPERTIES
    INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${_syncyte_torch_frontend}"
    INTERFACE_INCLUDE_DIRECTORIES "${_syncyte_torch_frontend}"
    INTERFACE_LINK_LIBRARIES SyncyteTorch::torch)
endif()
