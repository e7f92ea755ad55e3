! SPDX-License-Identifier: BSD-3-Clause
C     The columns next to the strip, from its neighbours.
      SUBROUTINE HALO
      INCLUDE 'plate.inc'
      INTEGER IHALO
      COMMON /SHARED/ IHALO
      CALL SYNCYTE_BUNDLE_EXCHANGE(IHALO, 1)
      END
