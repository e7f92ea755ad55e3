# SPDX-License-Identifier: BSD-3-Clause
# The last rank never runs a backward pass (forget_backward.py): the watchdog must name the rank and end the job.
execute_process(COMMAND "${MPIEXEC}" -n ${RANKS} "${PYTHON}" -B "${SCRIPT}"
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 50)
math(EXPR last "${RANKS} - 1")
foreach(expected "syncyte watchdog: no progress for 2 s"
                 "rank 0 \\(pid [0-9]+\\): inside comm_allreduce #[0-9]+ on world for [0-9.]+ s; waits for rank ${last}\n"
                 "rank ${last} \\(pid [0-9]+\\): in no operation; left comm_allreduce #[0-9]+ on world"
                 "    at [^\n]*forget_backward.py:[0-9]+ in <module>\n")
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "the watchdog's report lacks \"${expected}\":\n${output}")
  endif()
endforeach()
if(result EQUAL 0 OR result MATCHES "timeout")
  message(FATAL_ERROR "the job ended with \"${result}\"; expected a failure by the watchdog:\n${output}")
endif()
