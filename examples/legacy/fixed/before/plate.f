! SPDX-License-Identifier: BSD-3-Clause
C     Heat in a plate whose material changes with its temperature T:
C     its conductivity C. Usage: mpirun -n 3 ./fixed STEPS
      PROGRAM PLATE
      INCLUDE 'mpif.h'
      INCLUDE 'plate.inc'
      CHARACTER*16 TEXT
      INTEGER IERR, ISTEP, LAST
      CALL MPI_INIT(IERR)
      ICOMM = MPI_COMM_WORLD
      CALL GETARG(1, TEXT)
      READ (TEXT, *) LAST
      CALL CUT
      CALL START
      DO 10 ISTEP = 1, LAST
        CALL MIRROR
        CALL HALO
        CALL HEAT
   10 CONTINUE
      CALL REPORT(LAST)
      CALL MPI_FINALIZE(IERR)
      END
