# SPDX-License-Identifier: BSD-3-Clause
# SYNCYTE_WATCHDOG unset: after 60 s one report lists the hanging operations, and the job continues to its end.
execute_process(COMMAND "${MPIEXEC}" -n ${RANKS} "${PROGRAM}" barrier 63
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 100)
string(REGEX MATCHALL "syncyte watchdog: no progress for 60 s" reports "${output}")
list(LENGTH reports count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${count} reports; expected 1:\n${output}")
endif()
if(NOT output MATCHES "inside comm_barrier #[0-9]+ on world for [0-9.]+ s; waits for rank 2\n")
  message(FATAL_ERROR "the report does not name the rank that is waited for:\n${output}")
endif()
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the job ended with \"${result}\"; expected 0:\n${output}")
endif()
