# SPDX-License-Identifier: BSD-3-Clause
# Ranks 0 and 1 report that rank 2 has died, and end. mpirun prints their lines in any order. The rank that ends second
# may also name the other one.
execute_process(COMMAND "${MPIEXEC}" --enable-recovery -n 3 "${PROGRAM}" ${MODE}
  OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 30)
foreach(rank 0 1)
  foreach(expected "rank ${rank}[]] finalize: (rank [01] of world, )?rank 2 of world ha(s|ve) died .*; nothing is freed"
                   "rank ${rank} has come to its end")
    if(NOT output MATCHES "${expected}")
      message(FATAL_ERROR "the output lacks \"${expected}\":\n${output}")
    endif()
  endforeach()
endforeach()
