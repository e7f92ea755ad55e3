! SPDX-License-Identifier: BSD-3-Clause
!> Counts failed checks; the program ends with an error if there was one.
module checks
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi_f08, only: MPI_Comm_rank, MPI_COMM_WORLD
  use tsunami_kinds, only: wp
  implicit none
  private
  public :: check, check_below, failures

  integer, protected :: failures = 0

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    integer :: rank

    if (condition) return
    failures = failures + 1
    call MPI_Comm_rank(MPI_COMM_WORLD, rank)
    write (error_unit, '(a,i0,2a)') 'FAILED on rank ', rank, ': ', what
  end subroutine check

  subroutine check_below(value, limit, what)
    real(wp), intent(in) :: value, limit
    character(len=*), intent(in) :: what
    character(len=80) :: numbers

    write (numbers, '(es12.4,a,es12.4)') value, ' is not below', limit
    call check(value < limit, what//': '//trim(numbers))
  end subroutine check_below
end module checks
