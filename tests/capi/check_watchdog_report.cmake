# SPDX-License-Identifier: BSD-3-Clause
# SYNCYTE_WATCHDOG_ACTION=report: one report lists the hanging operations and the operations in flight, and the job
# continues to its end.
execute_process(COMMAND "${MPIEXEC}" -n ${RANKS} "${PROGRAM}" request 5
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 30)
foreach(expected "rank 0 \\(pid [0-9]+\\): inside comm_ibcast #[0-9]+ on world for [0-9.]+ s; waits for rank 2\n"
                 "    started [0-9.]+ s ago, not completed: comm_irecv on world, from rank 2, tag 9\n"
                 "    started [0-9.]+ s ago, not completed: comm_ibcast #[0-9]+ on world\n"
                 "the job continues \\(SYNCYTE_WATCHDOG_ACTION=report\\)")
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "the watchdog's report lacks \"${expected}\":\n${output}")
  endif()
endforeach()
string(REGEX MATCHALL "no progress for 2 s" reports "${output}")
list(LENGTH reports count)
if(NOT count EQUAL 1)
  message(FATAL_ERROR "${count} reports; expected 1:\n${output}")
endif()
if(NOT result EQUAL 0)
  message(FATAL_ERROR "the job ended with \"${result}\"; expected 0:\n${output}")
endif()
