# SPDX-License-Identifier: BSD-3-Clause
# Runs a job in which the others wait for the last rank for ever (hang.c): the watchdog must end the job with a report.
execute_process(COMMAND "${MPIEXEC}" -n ${RANKS} "${PROGRAM}" ${WHERE}
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 30)
math(EXPR last "${RANKS} - 1")
if(NOT DEFINED AWAITED)
  set(AWAITED "; waits for rank ${last}")
endif()
if(NOT DEFINED LAST)
  set(LAST "in no operation; left comm_barrier #[0-9]+ on world")
endif()
foreach(expected "syncyte watchdog: no progress for ${LIMIT} s"
                 "rank 0 \\(pid [0-9]+\\): inside ${INSIDE} for [0-9.]+ s${AWAITED}\n"
                 "rank ${last} \\(pid [0-9]+\\): ${LAST}")
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "the watchdog's report lacks \"${expected}\":\n${output}")
  endif()
endforeach()
if(result EQUAL 0 OR result MATCHES "timeout")
  message(FATAL_ERROR "the job ended with \"${result}\"; expected a failure by the watchdog:\n${output}")
endif()
