! SPDX-License-Identifier: BSD-3-Clause
!> Calls before the start and after the end get a status. With the argument "late", MPI is finalized before the start.
program test_after_mpi
  use mpi_f08
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_tensor) :: t
  integer :: stat
  character(len=600) :: errmsg
  character(len=8) :: when

  call get_command_argument(1, when)
  call MPI_Init()
  call world%from_world(stat, errmsg)
  call check_error(stat, SYNCYTE_ERR_NOT_INITIALIZED, errmsg, "syncyte_init", "a communicator before the start")
  if (when /= "late") call use_syncyte()
  call MPI_Finalize()
  call check(.not. syncyte_is_initialized(), "MPI_Finalize ends Syncyte")
  call syncyte_init(stat=stat, errmsg=errmsg)
  call check_error(stat, SYNCYTE_ERR_NOT_INITIALIZED, errmsg, "already finalized", "a start after MPI_Finalize")
  call world%barrier(stat, errmsg)
  call check_error(stat, SYNCYTE_ERR_NOT_INITIALIZED, errmsg, "alized", "a barrier after MPI_Finalize")
  call t%create(world, SYNCYTE_INT32, [2, 2], stat=stat, errmsg=errmsg)
  call check_error(stat, SYNCYTE_ERR_NOT_INITIALIZED, errmsg, "alized", "a tensor after MPI_Finalize")
  call check(t%is_null() .eqv. when == "late", "what was there before")
  call syncyte_finalize(stat)
  call check_equal(stat, SYNCYTE_SUCCESS, "an end after the end")
  call checks_end()

contains

  subroutine use_syncyte()
    call syncyte_init()
    call world%from_world()
    call t%create(world, SYNCYTE_INT32, [2, 2])
    call t%sync()
  end subroutine use_syncyte

end program test_after_mpi
