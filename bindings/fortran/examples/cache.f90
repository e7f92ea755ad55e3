! SPDX-License-Identifier: BSD-3-Clause
!> A shared cache: one process's memory, in another process without a copy. Run: mpirun -np 3 ./cache
!> Here two ranks of a job share it; any two processes of one user on a machine can, also a Python program.
program cache
  use, intrinsic :: iso_fortran_env, only: int64, real32
  use syncyte
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_cache) :: models
  real(real32), pointer, asynchronous :: bias(:), weights(:, :), whole(:)
  character(len=64) :: name
  integer(int64) :: parameter_bytes, computation_bytes
  integer :: partner, pid

  call syncyte_init()
  call world%from_world()
  call one_name()
  partner = ieor(world%rank(), 1)
  if (partner < world%size()) then
    if (world%rank() < partner) then
      call models%create(parameter_bytes=1024_int64*1024, computation_bytes=4096)
      call models%touch(0, 1024*1024)
      call layers()
      weights = 7
      call models%pointer(whole, 129)          ! the second array begins at byte 512
      if (any(nint(whole(1:1000)) /= 7)) error stop "the same memory"
      call models%send(name=name, timeout=60d0, nonce=[pid, 1])
    else
      call models%receive(name=name, timeout=60d0, nonce=[pid, 1])
      call layers()                            ! arrays of equal sizes in equal order: the same offsets
      if (any(nint(weights) /= 7)) error stop "the sender's values"
    end if
    if (.not. models%holds(weights)) error stop "holds"
    call models%free(bias)
    call models%free(weights)
    call models%clear()
    call models%sizes(parameter_bytes, computation_bytes)
    if (parameter_bytes /= 1024*1024 .or. models%is_null()) error stop "sizes"
    call models%destroy()
  end if
  call world%barrier()
  if (world%rank() == 0) print "(a)", "a model in two processes"
  call world%destroy()
  call syncyte_finalize()

contains

  !> Allocates the model's arrays in the part for parameters.
  subroutine layers()
    call models%insert(0, 1024*1024)
    call models%allocate(bias, [100])
    call models%allocate(weights, [100, 10])
  end subroutine layers

  !> A name for each pair of ranks that no other job of this user has.
  subroutine one_name()
    integer :: clock

    call system_clock(clock)
    pid = clock
    call world%bcast(pid, 0)
    write (name, "(a, i0, a, i0)") "fortran-", pid, "-", world%rank()/2
  end subroutine one_name

end program cache
