# Ranks 0 and 1 report that the process of rank 2 was killed, and end. mpirun prints their lines in any order. The rank
# that ends second may also name the other one.
execute_process(COMMAND "${MPIEXEC}" --enable-recovery -n 3 "${PROGRAM}" ${MODE}
  OUTPUT_VARIABLE output ERROR_VARIABLE output TIMEOUT 30)
foreach(rank 0 1)
  foreach(expected "rank ${rank}[]] finalize: the process(es)? of ranks? ([01], )?2 ha(s|ve) ended; nothing is freed"
                   "rank ${rank} has come to its end")
    if(NOT output MATCHES "${expected}")
      message(FATAL_ERROR "the output lacks \"${expected}\":\n${output}")
    endif()
  endforeach()
endforeach()
