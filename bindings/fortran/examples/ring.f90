! SPDX-License-Identifier: BSD-3-Clause
!> A ring of snapshots: rank 0 writes, all others read each one, and waiting ranks sleep. Run: mpirun -np 3 ./ring
program ring
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use syncyte
  implicit none
  integer, parameter :: cells = 1000, slots = 4, steps = 20, published = 1, failed = 2, consumed = 2
  type(syncyte_comm) :: world
  type(syncyte_tensor) :: snapshots, counters
  real(real64) :: field(cells)
  integer :: step, readers, reader
  logical :: late

  call syncyte_init()
  call world%from_world()
  readers = world%size() - 1
  call snapshots%create(world, SYNCYTE_FLOAT64, [cells, slots])
  call counters%create(world, SYNCYTE_INT64, [consumed + readers])  ! the last ones: steps that each reader has read
  do step = 1, steps
    if (world%rank() == 0) then
      ! Wait, asleep, at most 2 s for each reader, until all have read the slot; then overwrite it
      do reader = 1, readers
        call counters%wait(consumed + reader, SYNCYTE_COMPARE_GE, step - slots, timeout=2.0_real64, timed_out=late)
        if (late) call counters%fetch_add(failed, 1)
      end do
      field = step
      call snapshots%put_box([1, mod(step, slots) + 1], field)
      call snapshots%flush()
      call counters%store(published, step)             ! release: a rank that sees it sees the field
    else
      call counters%wait(published, SYNCYTE_COMPARE_GE, step, timeout=10.0_real64)
      call snapshots%gather([mod(step, slots) + 1], field)
      if (any(nint(field) /= step)) call counters%compare_swap(failed, 0, step)
      call counters%store(consumed + world%rank(), step)
    end if
  end do
  call counters%sync()
  if (counters%load(failed) /= 0) error stop "a snapshot was overwritten"
  call snapshots%destroy()
  call counters%destroy()
  call world%destroy()
  call syncyte_finalize()
end program ring
