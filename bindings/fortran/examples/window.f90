! SPDX-License-Identifier: BSD-3-Clause
!> A window: one-sided access to bytes of other ranks. Run: mpirun -np 3 ./window
program window
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use syncyte
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_window) :: memory
  real(real64), pointer, asynchronous :: halo(:)
  real(real64) :: edge(8)
  integer(int64) :: ticket, before
  integer :: right

  call syncyte_init()
  call world%from_world()
  right = modulo(world%rank() + 1, world%size())
  call memory%create(world, 1024_int64, name="halo")   ! zeroed bytes on every rank
  if (memory%is_null()) error stop "create"
  if (memory%size(right) /= 1024) error stop "1024 bytes"

  ! Elements 1 to 8 (of the array's type) of the right neighbour
  edge = world%rank()
  call memory%put(right, 1, edge)
  call memory%flush(right)
  call memory%fence()
  call memory%pointer(halo, world%rank())              ! all of this rank's part; pointer(p, rank, shape) for p(:, :)
  if (any(nint(halo(1:8)) /= modulo(world%rank() - 1, world%size()))) error stop "put"
  call memory%get(right, 1, edge)
  call memory%accumulate(0, 20, [1.0_real64], SYNCYTE_OP_SUM)

  ! Atomics on element 30 of rank 0, taken as 64-bit integers
  call memory%fetch_op(0, 30, 1_int64, SYNCYTE_OP_SUM, ticket)
  call memory%compare_swap(0, 30, int(world%size(), int64), 0_int64, before)

  ! A lock of rank 0, for what several calls must do together
  call memory%lock(0, SYNCYTE_LOCK_EXCLUSIVE)
  call memory%get(0, 40, edge(1))
  call memory%put(0, 40, edge(1) + 1)
  call memory%unlock(0)
  call memory%fence()
  call memory%get(0, 40, edge(1))
  if (nint(edge(1)) /= world%size()) error stop "one at a time"
  call memory%destroy()
  call world%destroy()
  call syncyte_finalize()
end program window
