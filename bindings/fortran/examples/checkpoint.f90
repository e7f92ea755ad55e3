! SPDX-License-Identifier: BSD-3-Clause
!> A checkpoint: named arrays in one HDF5 file, read back by any number of ranks. Run: mpirun -np 3 ./checkpoint
program checkpoint
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use syncyte
  use syncyte_checkpoint
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_tensor) :: state
  type(syncyte_checkpoint_entries) :: entries
  type(syncyte_checkpoint_file) :: file
  real(real64), target, asynchronous :: time
  real(real64) :: row(3, 1)
  integer(int64), allocatable :: extents(:)
  integer(int64) :: step
  integer :: keys, dtype
  character(len=:), allocatable :: key, text
  type(syncyte_layout) :: cells
  type(syncyte_bundle) :: fields
  real(real64), asynchronous :: heat(0:3, 0:5)

  call syncyte_init()
  call world%from_world()
  call state%create(world, SYNCYTE_FLOAT64, [3, 10])
  if (world%rank() == 0) call state%put_box([1, 10], reshape([1.0_real64, 2.0_real64, 3.0_real64], [3, 1]))
  call state%sync()
  time = 12.5_real64
  call entries%add("time", time)                       ! equal on all ranks; sharded=.true. for rows of each
  call entries%add_tensor("state", state)
  if (entries%count() /= 2) error stop "two entries"
  call syncyte_save(world, "example.h5", entries, step=7_int64, attributes='{"run": "A7"}')
  time = 0
  call syncyte_load(world, "example.h5", entries)      ! into the same arrays
  call entries%clear()
  if (nint(2*time) /= 25) error stop "load"

  call file%open(world, "example.h5")
  call file%count(keys, step)
  call file%attributes(text)                           ! {"run": "A7"}
  call file%key(1, key)                                ! in alphabetical order
  call file%describe(key, dtype, extents)
  if (keys /= 2 .or. step /= 7 .or. key /= "state" .or. any(extents /= [3, 10])) error stop "not as saved"
  call file%read("state", 10, row)                     ! the last row alone
  if (any(nint(row(:, 1)) /= [1, 2, 3])) error stop "read"
  if (world%rank() == 0) print '(a, i0, a)', "read ", file%bytes_read(), " bytes"
  call file%close()

  ! The fields of a bundle: blocks with ghosts, which the file does not have
  call cells%mesh(world, [2, 4*world%size()], ghosts=1)
  call fields%create(world)
  call fields%add("heat", cells, heat)
  heat = -1
  heat(1:2, 1:4) = world%rank()
  call entries%add("time", time)
  call syncyte_save_bundle(world, "example.h5", fields, entries)
  heat = -1
  call syncyte_load_bundle(world, "example.h5", fields, entries)
  call fields%exchange()
  if (nint(heat(1, 4)) /= world%rank()) error stop "the field"
  if (world%rank() > 0) then
    if (nint(heat(1, 0)) /= world%rank() - 1) error stop "its ghosts, after an exchange"
  end if
  call entries%clear()
  call fields%destroy()
  call cells%destroy()
  call state%destroy()
  call world%destroy()
  call syncyte_finalize()
end program checkpoint
