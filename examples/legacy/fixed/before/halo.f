! SPDX-License-Identifier: BSD-3-Clause
C     The columns next to the strip, from its neighbours.
      SUBROUTINE HALO
      INCLUDE 'plate.inc'
      CALL SWAP(T)
      CALL SWAP(C)
      END

      SUBROUTINE SWAP(A)
      INCLUDE 'mpif.h'
      INCLUDE 'plate.inc'
      DOUBLE PRECISION A(0:NY+1,0:MAXX+1)
      INTEGER ISTAT(MPI_STATUS_SIZE), IERR, N
      N = NY + 2
      CALL MPI_SENDRECV(A(0,1), N, MPI_DOUBLE_PRECISION, ILEFT, 1,
     &  A(0,MX+1), N, MPI_DOUBLE_PRECISION, IRIGHT, 1, ICOMM, ISTAT,
     &  IERR)
      CALL MPI_SENDRECV(A(0,MX), N, MPI_DOUBLE_PRECISION, IRIGHT, 2,
     &  A(0,0), N, MPI_DOUBLE_PRECISION, ILEFT, 2, ICOMM, ISTAT, IERR)
      END
