! SPDX-License-Identifier: BSD-3-Clause
!> Handling of a status: stat= and errmsg=, or the end of the job.
module syncyte_errors
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: output_unit
  use syncyte_c, only: SYNCYTE_SUCCESS
  use syncyte_fortran_c, only: fortran_end_job, fortran_last_error
  implicit none
  private
  public :: finish, to_fortran, to_c

  interface
    pure function c_strlen(text) bind(C, name="strlen") result(length)
      import
      type(c_ptr), value :: text
      integer(c_size_t) :: length
    end function c_strlen
  end interface

contains

  !> Hands a status to the caller. Without stat, an error prints its message and ends the whole job.
  subroutine finish(status, stat, errmsg)
    integer(c_int32_t), intent(in) :: status
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int32_t) :: ignored

    if (present(stat)) stat = int(status)
    if (status == SYNCYTE_SUCCESS) return
    if (present(errmsg)) errmsg = to_fortran(fortran_last_error())
    if (present(stat)) return
    flush (output_unit)
    ignored = fortran_end_job(status)
  end subroutine finish

  !> A copy of a C string.
  function to_fortran(text) result(copy)
    type(c_ptr), intent(in) :: text
    character(len=:), allocatable :: copy
    character(kind=c_char), pointer :: letters(:)

    copy = ""
    if (.not. c_associated(text)) return
    call c_f_pointer(text, letters, [c_strlen(text)])
    copy = transfer(letters, repeat(" ", size(letters)))
  end function to_fortran

  !> A C string: without trailing blanks, with a null at the end; not allocated (a null pointer) for an absent text.
  subroutine to_c(text, copy)
    character(len=*), intent(in), optional :: text
    character(kind=c_char, len=:), allocatable, intent(out) :: copy

    if (present(text)) copy = trim(text)//c_null_char
  end subroutine to_c

end module syncyte_errors
