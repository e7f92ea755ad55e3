# SPDX-License-Identifier: BSD-3-Clause
# Relative and absolute folders of the Python package:
#   cmake -DSOURCE=... -DWORK=... -P python_dir.cmake
list(APPEND CMAKE_MODULE_PATH "${SOURCE}/cmake")
include(SyncytePythonDir)

set(CMAKE_INSTALL_PREFIX "${WORK}/prefix")
set(CMAKE_INSTALL_LIBDIR lib/arch)
set(CMAKE_INSTALL_FULL_LIBDIR "${CMAKE_INSTALL_PREFIX}/lib/arch")
set(SYNCYTE_PREFIX_FROM_BIN ..)

# expect(GIVEN BELOW_PREFIX LIBRARIES PYTHONPATH)
function(expect given below libraries path)
  syncyte_below_prefix("${given}" dir)
  syncyte_from_package("${dir}" "${CMAKE_INSTALL_FULL_LIBDIR}" from_package)
  syncyte_python_path("${dir}" SYNCYTE_ENV_PYTHON)
  set(script "${CMAKE_INSTALL_PREFIX}/bin/syncyte-env.sh")
  configure_file("${SOURCE}/cmake/syncyte-env.sh.in" "${script}" @ONLY)
  execute_process(
    COMMAND sh -euc "unset PYTHONPATH; . '${script}' && echo \"\${PYTHONPATH}\"" OUTPUT_VARIABLE sourced
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(found "${dir}|${from_package}|${sourced}")
  if(NOT found STREQUAL "${below}|${libraries}|${path}")
    message(SEND_ERROR "SYNCYTE_PYTHON_DIR=${given}: ${found}, expected ${below}|${libraries}|${path}")
  endif()
endfunction()

expect(lib/py lib/py ../../arch "${WORK}/prefix/lib/py")
expect("${WORK}/prefix/lib/py" lib/py ../../arch "${WORK}/prefix/lib/py")
expect("${WORK}/prefix/x/../lib/py/" lib/py/ ../../arch "${WORK}/prefix/lib/py/")
expect(/opt/py /opt/py "${WORK}/prefix/lib/arch" /opt/py)
expect("${WORK}/prefix-2/py" "${WORK}/prefix-2/py" "${WORK}/prefix/lib/arch" "${WORK}/prefix-2/py")
