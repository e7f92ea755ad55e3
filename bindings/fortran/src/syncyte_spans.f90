! SPDX-License-Identifier: BSD-3-Clause
!> Mends descriptors that gfortran 14 leaves incomplete (helpers/span.c). Each method calls this for its arrays first.
module syncyte_spans
  implicit none
  private
  public :: syncyte_set_span

  interface
    !> Sets the bytes between neighbouring elements in an array's descriptor. Not bind(C): the helper gets the compiler's
    !> own descriptor.
    subroutine syncyte_set_span(array)
      type(*), dimension(..), optional, target, asynchronous :: array
    end subroutine syncyte_set_span
  end interface
end module syncyte_spans
