! SPDX-License-Identifier: BSD-3-Clause
!> A table over the memory of all ranks: own rows by pointer, any row from anywhere. Run: mpirun -np 3 ./whole_tensor
program whole_tensor
  use, intrinsic :: iso_c_binding, only: c_intptr_t, c_loc
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use syncyte
  implicit none
  type(syncyte_comm) :: world, comm
  type(syncyte_tensor) :: table, wrapped
  real(real64), pointer, asynchronous :: mine(:, :), shared(:, :)
  real(real64), target, asynchronous :: own(4, 2)
  real(real64) :: two(4, 2), block(2, 3)
  integer :: owners(2)
  integer(int64) :: row

  call syncyte_init()
  call world%from_world()
  call table%create(world, SYNCYTE_FLOAT64, [4, 10], name="table")  ! 4 numbers in each of 10 rows, all zero
  if (table%rank() /= 2) error stop "two dimensions"
  if (table%extent(2) /= 10) error stop "ten rows"
  if (table%dtype() /= SYNCYTE_FLOAT64) error stop "real(8)"

  ! This rank's rows, by their numbers
  call table%local(mine)
  do row = table%first_row(), table%last_row()
    mine(:, row) = real(row, real64)
  end do
  call table%sync()                                    ! what any rank wrote before is seen by all after
  ! The address of this rank's rows, for C. Rows on a device (memory=SYNCYTE_MEMORY_CUDA) have no pointer in Fortran
  if (table%address() /= transfer(c_loc(mine), 0_c_intptr_t)) error stop "address"

  ! Any rows, on whatever rank they are
  call table%gather([10, 1], two)
  if (any(nint(two(:, 1)) /= 10) .or. any(nint(two(:, 2)) /= 1)) error stop "gather"
  call table%owner([10, 1], owners)
  if (owners(1) /= world%size() - 1) error stop "the last rank has the last row"
  call table%sync()
  two = 1
  call table%scatter_add([3, 3], two)                  ! exact, also when all ranks do it at once
  if (world%rank() == 0) call table%scatter([5], two(:, :1))
  call table%sync()
  call table%node(shared)                              ! the rows of all ranks on this node, in place

  ! Boxes: array = table(2:3, 3:5)
  call table%get_box([2, 3], block)
  if (nint(block(1, 1)) /= 3 + 2*world%size() .or. nint(block(2, 3)) /= 1) error stop "get_box"
  call table%sync()
  if (world%rank() == 0) call table%put_box([1, 9], block(:, 1))  ! table(1:2, 9) = block(:, 1)
  call table%flush()                                   ! it has arrived at the owner
  call table%sync()

  ! Arrays that the ranks have already
  own = world%rank()
  call wrapped%wrap(world, own)
  call wrapped%gather([2*world%size()], two(:, :1))
  call wrapped%sync()

  call table%comm(comm)                                ! another reference to its communicator
  call comm%destroy()
  call wrapped%destroy()
  call table%destroy()                                 ! mine and shared are not valid any more
  if (.not. table%is_null()) error stop "destroy"
  call world%destroy()
  call syncyte_finalize()
end program whole_tensor
