! SPDX-License-Identifier: BSD-3-Clause
! Generated from methods/halos.methods by bindings/generate; do not edit.
!> Halo exchange: type(syncyte_halo), ghost cells of arrays that are cut along the dimensions of a Cartesian communicator.
!>
!> Dimension d of a grid of n dimensions cuts dimension axes(d) of the array; without axes these are the last n
!> dimensions of the array. At both ends of such a dimension lie ghost cells, which an exchange fills with the
!> neighbours' cells next to the border; ghosts beyond an edge that is not periodic are not written. Arrays may have
!> any rank of at least n, any type, any strides.
module syncyte_halos
  use, intrinsic :: iso_c_binding
  use syncyte_c
  use syncyte_errors
  use syncyte_fortran_c
  use syncyte_spans
  use syncyte_comms, only: syncyte_comm
  use syncyte_requests, only: syncyte_request
  implicit none
  private

  !> The ghost cells of arrays of one type and shape, and the neighbours that they are exchanged with. A reference:
  !> assignment copies the reference; destroy drops one.
  type, public :: syncyte_halo
    type(c_ptr) :: handle = c_null_ptr  !< syncyte_halo_t, for calls of syncyte_c
  contains
    procedure :: create => halo_create
    procedure :: destroy => halo_destroy
    procedure :: is_null => halo_is_null
    procedure :: exchange => halo_exchange
    procedure :: iexchange => halo_iexchange
    procedure :: accumulate => halo_accumulate
    procedure :: iaccumulate => halo_iaccumulate
  end type syncyte_halo

contains

  !> Makes a halo for arrays of one type and shape. Collective.
  subroutine halo_create(self, cart, array, low, high, axes, corners, stat, errmsg)
    class(syncyte_halo), intent(inout) :: self
    type(syncyte_comm), intent(in) :: cart  !! Cartesian
    type(*), dimension(..), intent(in), target :: array  !! one of these arrays, ghosts included; it is not read
    ! any integer: ghosts at the low ends, one number or one for each dimension of the grid
    type(*), dimension(..), intent(in), target :: low
    type(*), dimension(..), intent(in), target, optional :: high  !! at the high ends; absent: as low
    ! any integer: the array's dimension that each dimension of the grid cuts
    type(*), dimension(..), intent(in), target, optional :: axes
    logical, intent(in), optional :: corners  !! ghosts beyond several borders too; .true. if absent
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: corners_c
    type(c_ptr) :: made
    integer(c_int32_t) :: status, ignored

    call syncyte_set_span(array)
    call syncyte_set_span(low)
    call syncyte_set_span(high)
    call syncyte_set_span(axes)
    corners_c = 1
    if (present(corners)) corners_c = merge(1_c_int32_t, 0_c_int32_t, corners)
    made = c_null_ptr
    status = fortran_halo_create(cart%handle, array, low, high, axes, corners_c, made)
    if (status == SYNCYTE_SUCCESS) then
      if (c_associated(self%handle)) ignored = syncyte_halo_destroy(self%handle)
      self%handle = made
    end if
    call finish(status, stat, errmsg)
  end subroutine halo_create

  !> Drops the reference; a null reference is ignored. Local.
  subroutine halo_destroy(self, stat, errmsg)
    class(syncyte_halo), intent(inout) :: self
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: status

    status = syncyte_halo_destroy(self%handle)
    call finish(status, stat, errmsg)
  end subroutine halo_destroy

  !> Whether the handle is null. Local.
  pure logical function halo_is_null(self)
    class(syncyte_halo), intent(in) :: self

    halo_is_null = .not. c_associated(self%handle)
  end function halo_is_null

  !> Fills the ghosts. All ranks call it; waits for the neighbours only.
  subroutine halo_exchange(self, array, stat, errmsg)
    class(syncyte_halo), intent(in) :: self
    ! array of the halo's dtype and shape; any strides, but 0 only if the extent is 1
    type(*), dimension(..), intent(inout), target :: array
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: array_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(array)
    local = fortran_buffer(array, "array"//c_null_char, array_buffer)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_AT_NEIGHBOURS, self%handle, local, "halo_exchange"//c_null_char)
    else
      status = syncyte_halo_exchange(self%handle, array_buffer)
    end if
    call finish(status, stat, errmsg)
  end subroutine halo_exchange

  !> Starts exchange; array must stay and may not be read in its ghosts nor written in cells that ghosts copy until
  !> the request has ended. All ranks call it; does not wait.
  subroutine halo_iexchange(self, array, request, stat, errmsg)
    class(syncyte_halo), intent(in) :: self
    ! array of the halo's dtype and shape; any strides, but 0 only if the extent is 1; must stay and may not be read
    ! in its ghosts nor written in cells that ghosts copy until the request has ended
    type(*), dimension(..), intent(inout), target, asynchronous :: array
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: array_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(array)
    local = fortran_buffer(array, "array"//c_null_char, array_buffer)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_AT_NEIGHBOURS, self%handle, local, "halo_iexchange"//c_null_char)
    else
      status = syncyte_halo_iexchange(self%handle, array_buffer, request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine halo_iexchange

  !> Adjoint of exchange: adds the ghosts to the cells that they copy, and sets them to 0. All ranks call it.
  subroutine halo_accumulate(self, array, stat, errmsg)
    class(syncyte_halo), intent(in) :: self
    ! array of the halo's dtype and shape; any strides, but 0 only if the extent is 1
    type(*), dimension(..), intent(inout), target :: array
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: array_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(array)
    local = fortran_buffer(array, "array"//c_null_char, array_buffer)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_AT_NEIGHBOURS, self%handle, local, "halo_accumulate"//c_null_char)
    else
      status = syncyte_halo_accumulate(self%handle, array_buffer)
    end if
    call finish(status, stat, errmsg)
  end subroutine halo_accumulate

  !> Starts accumulate; array may be neither read nor written until the request has ended. All ranks call it; does
  !> not wait.
  subroutine halo_iaccumulate(self, array, request, stat, errmsg)
    class(syncyte_halo), intent(in) :: self
    ! array of the halo's dtype and shape; any strides, but 0 only if the extent is 1; may be neither read nor
    ! written until the request has ended
    type(*), dimension(..), intent(inout), target, asynchronous :: array
    type(syncyte_request), intent(inout) :: request  !! one that has ended, or is new
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(syncyte_buffer_t), target :: array_buffer
    integer(c_int32_t) :: status, local

    call syncyte_set_span(array)
    local = fortran_buffer(array, "array"//c_null_char, array_buffer)
    if (local /= SYNCYTE_SUCCESS) then
      status = fortran_refuse(FORTRAN_ERROR_AT_NEIGHBOURS, self%handle, local, "halo_iaccumulate"//c_null_char)
    else
      status = syncyte_halo_iaccumulate(self%handle, array_buffer, request%handle)
    end if
    call finish(status, stat, errmsg)
  end subroutine halo_iaccumulate
end module syncyte_halos
