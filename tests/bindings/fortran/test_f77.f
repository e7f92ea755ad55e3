! SPDX-License-Identifier: BSD-3-Clause
C     The subroutines for Fortran 77. An argument names an error: the
C     array has no ROOM for its block, a NUMBER is no layout's, no room
C     for a BOX.
      PROGRAM TEST77
      INCLUDE 'mpif.h'
      INCLUDE 'syncyte77.inc'
      CHARACTER*8 HOW
      INTEGER LD
      PARAMETER (LD=12)
      DOUBLE PRECISION A(0:LD-1,0:9), B(LD,12), BOX(5,4)
      COMMON /FIELDS/ A, B
      INTEGER IDIM(2), IDIMB(2), IDIMX(2), IWHOLE(2), IFROM(2), IMANY(2)
      INTEGER IW, IC, IGRID, INODES, IB, IT, ISHARE(2), MPICOM
      INTEGER I, J, IERR, IRANK, NRANKS, ISTEP, ILATE, IS, IB2, IRING
      INTEGER NONE(2), IFIRST(2), ILAST(2)
      DATA NONE/0,0/, IFIRST/1,0/, ILAST/0,1/
      DATA ISHARE/0,1/, IDIM/LD,10/, IDIMB/LD,12/, IDIMX/5,4/
      CALL MPI_INIT(IERR)
      CALL GETARG(1, HOW)
      CALL SYNCYTE_INIT
      CALL SYNCYTE_COMM_WORLD(IW)
      CALL SYNCYTE_COMM_TO_MPI(IW, MPICOM)
      CALL MPI_COMM_RANK(MPICOM, IRANK, IERR)
      CALL MPI_COMM_SIZE(MPICOM, NRANKS, IERR)
      CALL SYNCYTE_COMM_FROM_MPI(MPI_COMM_WORLD, IC)
      CALL SYNCYTE_COMM_SPLIT_PROGRAM(IW, 'alone', IS)

C     4 x 3 cells on each rank, side by side, in larger arrays
      IWHOLE(1) = 4
      IWHOLE(2) = 3*NRANKS
      IFROM(1) = 1
      IFROM(2) = 3*IRANK + 1
      IMANY(1) = 4
      IMANY(2) = 3
      CALL SYNCYTE_LAYOUT_BLOCKS(IC, 2, IWHOLE, IFROM, IMANY, 1, IGRID)
      CALL SYNCYTE_LAYOUT_LIKE(IGRID, ISHARE, NONE, 0, INODES)
      CALL SYNCYTE_BUNDLE_CREATE(IC, IB)
      IF (HOW .EQ. 'room' .AND. IRANK .EQ. 1) IDIM(1) = 5
      IF (HOW .EQ. 'number') IGRID = IB
      CALL SYNCYTE_BUNDLE_ADD(IB, 'cells', IGRID, SYNCYTE_FLOAT64, IDIM,
     &  A)
      CALL SYNCYTE_BUNDLE_ADD(IB, 'nodes', INODES, SYNCYTE_FLOAT64,
     &  IDIMB, B)

      DO 20 J = 0, 9
        DO 10 I = 0, LD - 1
          A(I,J) = -1
          IF (I .GE. 1 .AND. I .LE. 4 .AND. J .GE. 1 .AND. J .LE. 3)
     &      A(I,J) = 100*(IFROM(2) + J - 1) + I
          B(I+1,J+1) = 1
   10   CONTINUE
   20 CONTINUE
      CALL SYNCYTE_BUNDLE_EXCHANGE_SOME(IB, 0, 2, NONE)
      IF (A(1,0) .NE. -1 .OR. A(1,4) .NE. -1) STOP 20
      CALL SYNCYTE_BUNDLE_EXCHANGE_SOME(IB, 0, 2, IFIRST)
      DO 30 I = 1, 4
        IF (IRANK .GT. 0 .AND. A(I,0) .NE. 100*(IFROM(2) - 1) + I)
     &    STOP 2
        IF (IRANK .LT. NRANKS - 1 .AND.
     &    A(I,4) .NE. 100*(IFROM(2) + 3) + I) STOP 3
   30 CONTINUE
      IF (A(5,1) .NE. -1 .OR. A(1,5) .NE. -1) STOP 4

C     the adjoint adds ghosts to what they copy
      DO 40 I = 1, 4
        A(I,0) = 1
        A(I,3) = 5
        A(I,4) = 1
   40 CONTINUE
      CALL SYNCYTE_BUNDLE_ACCUMULATE(IB, 1)
      IF (IRANK .LT. NRANKS - 1 .AND. A(2,3) .NE. 6) STOP 5

C     a ring of cells along dimension 2: the first rank's ghosts are the
C     last rank's cells
      CALL SYNCYTE_LAYOUT_LIKE(IGRID, NONE, ILAST, 1, IRING)
      CALL SYNCYTE_BUNDLE_CREATE(IC, IB2)
      CALL SYNCYTE_BUNDLE_ADD(IB2, 'ring', IRING, SYNCYTE_FLOAT64, IDIM,
     &  A)
      DO 46 I = 1, 4
        A(I,1) = IRANK
        A(I,3) = IRANK
   46 CONTINUE
      CALL SYNCYTE_BUNDLE_EXCHANGE(IB2, 0)
      IF (A(2,0) .NE. MOD(IRANK + NRANKS - 1, NRANKS)) STOP 21
      IF (A(2,4) .NE. MOD(IRANK + 1, NRANKS)) STOP 22
      CALL SYNCYTE_DESTROY(IB2)
      CALL SYNCYTE_DESTROY(IRING)

C     nodes between two ranks have the sum of both copies
      DO 60 J = 1, 12
        DO 50 I = 1, LD
          B(I,J) = 1
   50   CONTINUE
   60 CONTINUE
      CALL SYNCYTE_BUNDLE_SUM(IB)
      IF (B(1,2) .NE. 1 .OR. B(5,4) .NE. 1 .OR. B(1,5) .NE. 1) STOP 6
      IF (IRANK .GT. 0 .AND. B(4,1) .NE. 2) STOP 7
      IF (IRANK .LT. NRANKS - 1 .AND. B(4,4) .NE. 2) STOP 8

C     versions: published with the ghosts around, taken into a corner
      CALL SYNCYTE_TENSOR_CREATE(IW, SYNCYTE_FLOAT64, IGRID, 2, 'cells',
     &  IT)
      DO 80 J = 1, 3
        DO 70 I = 1, 4
          A(I,J) = 10*IRANK + I
   70   CONTINUE
   80 CONTINUE
      CALL SYNCYTE_TENSOR_PUBLISH(IT, IDIM, A, 7)
      IFROM(2) = 3*NRANKS - 2
      IF (HOW .EQ. 'box') IDIMX(2) = 2
      BOX(5,1) = -1
      CALL SYNCYTE_TENSOR_TAKE(IT, 2, IFROM, IMANY, IDIMX, BOX, 7, -1,
     &  ISTEP, ILATE)
      IF (ILATE .NE. 0 .OR. ISTEP .NE. 7) STOP 9
      IF (BOX(4,3) .NE. 10*(NRANKS - 1) + 4) STOP 10
      IF (BOX(5,1) .NE. -1) STOP 11
      ISTEP = 3
      CALL SYNCYTE_TENSOR_TAKE(IT, 2, IFROM, IMANY, IDIMX, BOX, 8, 0,
     &  ISTEP, ILATE)
      IF (ILATE .NE. 1 .OR. ISTEP .NE. 3) STOP 12

      CALL SYNCYTE_DESTROY(IT)
      IF (IT .NE. 0) STOP 13
      CALL SYNCYTE_DESTROY(IT)
      IT = 9999
      CALL SYNCYTE_DESTROY(IT)
      CALL SYNCYTE_DESTROY(IB)
      CALL SYNCYTE_DESTROY(INODES)
      CALL SYNCYTE_DESTROY(IGRID)
      CALL SYNCYTE_DESTROY(IS)
      CALL SYNCYTE_DESTROY(IC)
      CALL SYNCYTE_DESTROY(IW)
      CALL SYNCYTE_FINALIZE
      CALL MPI_FINALIZE(IERR)
      END
