! SPDX-License-Identifier: BSD-3-Clause
!> Checks of the Fortran tests: a failed check is printed and counted. checks_end sets the exit code from the count.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  implicit none
  private
  public :: check, check_equal, check_error, checks_end

  integer :: failures = 0, count = 0

  interface check_equal
    module procedure equal_integer, equal_long, equal_real
  end interface check_equal

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what

    count = count + 1
    if (condition) return
    failures = failures + 1
    write (error_unit, '(2a)') "FAILED: ", what
  end subroutine check

  subroutine equal_long(have, expected, what)
    integer(int64), intent(in) :: have, expected
    character(len=*), intent(in) :: what
    character(len=80) :: numbers

    write (numbers, '(2(a, i0))') " is ", have, ", expected ", expected
    call check(have == expected, what//trim(numbers))
  end subroutine equal_long

  subroutine equal_integer(have, expected, what)
    integer, intent(in) :: have, expected
    character(len=*), intent(in) :: what

    call equal_long(int(have, int64), int(expected, int64), what)
  end subroutine equal_integer

  subroutine equal_real(have, expected, what)
    real(real64), intent(in) :: have, expected
    character(len=*), intent(in) :: what
    character(len=80) :: numbers

    write (numbers, '(2(a, g0))') " is ", have, ", expected ", expected
    call check(have == expected, what//trim(numbers))
  end subroutine equal_real

  !> Checks that a call has failed with this code, and that its message contains this text.
  subroutine check_error(stat, expected, errmsg, text, what)
    integer, intent(in) :: stat, expected
    character(len=*), intent(in) :: errmsg, text, what

    call equal_integer(stat, expected, what//": stat")
    call check(index(errmsg, text) > 0, what//": '"//trim(errmsg)//"' does not say '"//text//"'")
  end subroutine check_error

  !> Fails the program if a check has failed, or if there was none. The last statement of a test.
  subroutine checks_end()
    if (count == 0) error stop "no check was made"
    if (failures > 0) error stop 1
  end subroutine checks_end

end module checks
