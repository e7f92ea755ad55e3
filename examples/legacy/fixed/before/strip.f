! SPDX-License-Identifier: BSD-3-Clause
C     The strip of this rank.
      SUBROUTINE CUT
      INCLUDE 'mpif.h'
      INCLUDE 'plate.inc'
      INTEGER IERR
      CALL MPI_COMM_RANK(ICOMM, IRANK, IERR)
      CALL MPI_COMM_SIZE(ICOMM, NRANKS, IERR)
      IFIRST = IRANK*NX/NRANKS + 1
      MX = (IRANK + 1)*NX/NRANKS - IFIRST + 1
      ILEFT = IRANK - 1
      IRIGHT = IRANK + 1
      IF (IRANK .EQ. 0) ILEFT = MPI_PROC_NULL
      IF (IRANK .EQ. NRANKS - 1) IRIGHT = MPI_PROC_NULL
      END

C     A hot corner.
      SUBROUTINE START
      INCLUDE 'plate.inc'
      INTEGER I, J
      DO 20 I = 0, MX + 1
        DO 10 J = 0, NY + 1
          T(J,I) = 1
          C(J,I) = 0.1D0
          IF (IFIRST + I .LE. NX/3 .AND. J .LE. NY/3) T(J,I) = 3
   10   CONTINUE
   20 CONTINUE
      END

C     Nothing goes through the edges of the plate.
      SUBROUTINE MIRROR
      INCLUDE 'mpif.h'
      INCLUDE 'plate.inc'
      INTEGER I, J
      DO 10 J = 0, NY + 1
        IF (ILEFT .EQ. MPI_PROC_NULL) T(J,0) = T(J,1)
        IF (ILEFT .EQ. MPI_PROC_NULL) C(J,0) = C(J,1)
        IF (IRIGHT .EQ. MPI_PROC_NULL) T(J,MX+1) = T(J,MX)
        IF (IRIGHT .EQ. MPI_PROC_NULL) C(J,MX+1) = C(J,MX)
   10 CONTINUE
      DO 20 I = 1, MX
        T(0,I) = T(1,I)
        C(0,I) = C(1,I)
        T(NY+1,I) = T(NY,I)
        C(NY+1,I) = C(NY,I)
   20 CONTINUE
      END

C     A step of explicit differences.
      SUBROUTINE HEAT
      INCLUDE 'plate.inc'
      DOUBLE PRECISION OLD(0:NY+1,0:MAXX+1)
      INTEGER I, J
      DO 20 I = 0, MX + 1
        DO 10 J = 0, NY + 1
          OLD(J,I) = T(J,I)
   10   CONTINUE
   20 CONTINUE
      DO 40 I = 1, MX
        DO 30 J = 1, NY
          T(J,I) = OLD(J,I)
     &      + 0.5D0*(C(J,I) + C(J,I-1))*(OLD(J,I-1) - OLD(J,I))
     &      + 0.5D0*(C(J,I) + C(J,I+1))*(OLD(J,I+1) - OLD(J,I))
     &      + 0.5D0*(C(J,I) + C(J-1,I))*(OLD(J-1,I) - OLD(J,I))
     &      + 0.5D0*(C(J,I) + C(J+1,I))*(OLD(J+1,I) - OLD(J,I))
   30   CONTINUE
   40 CONTINUE
      DO 60 I = 1, MX
        DO 50 J = 1, NY
          C(J,I) = 0.1D0 + 0.05D0*(C(J,I) - 0.1D0) + 0.02D0*T(J,I)
   50   CONTINUE
   60 CONTINUE
      END

C     Prints a number that depends on every bit of the state, and not on
C     the number of ranks.
      SUBROUTINE REPORT(ISTEP)
      INCLUDE 'mpif.h'
      INCLUDE 'plate.inc'
      INTEGER ISTEP, I, J, IERR
      INTEGER*8 MINE, ITOTAL, IBITS(2)
      DOUBLE PRECISION PAIR(2)
      EQUIVALENCE (PAIR, IBITS)
      MINE = 0
      DO 20 I = 1, MX
        DO 10 J = 1, NY
          PAIR(1) = T(J,I)
          PAIR(2) = C(J,I)
          MINE = IEOR(MINE, ISHFTC(IBITS(1), MOD(7*(IFIRST+I)+J, 64)))
          MINE = IEOR(MINE, ISHFTC(IBITS(2), MOD(5*(IFIRST+I)+J, 64)))
   10   CONTINUE
   20 CONTINUE
      CALL MPI_ALLREDUCE(MINE, ITOTAL, 1, MPI_INTEGER8, MPI_BXOR, ICOMM,
     &  IERR)
      IF (IRANK .EQ. 0) WRITE (*, 30) ISTEP, ITOTAL
   30 FORMAT ('step ', I0, ': ', Z16.16)
      END
