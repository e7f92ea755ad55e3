! SPDX-License-Identifier: BSD-3-Clause
!> A table of vectors that all ranks train: gradients go to the rows' owners, where AdaGrad updates them.
!> Run: mpirun -np 3 ./optimizer
program optimizer
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use syncyte
  implicit none
  type(syncyte_comm) :: world
  type(syncyte_tensor) :: table, sums, steps
  real(real64) :: rows(4, 3), gradients(4, 3)
  integer, parameter :: index(3) = [1, 50, 100]

  call syncyte_init()
  call world%from_world()
  call table%create(world, SYNCYTE_FLOAT64, [4, 100])  ! 100 rows of 4 numbers, zeroed
  call table%set_optimizer(SYNCYTE_OPTIMIZER_ADAGRAD, 0.1_real64)

  ! Rank 0 trains; each row moves against its gradient by lr * gradient / sqrt(sum of squares).
  if (world%rank() == 0) then
    gradients = 2
    call table%apply_gradients(index, gradients)
    call table%set_learning_rate(0.2_real64)
    call table%apply_gradients(index, gradients)
  end if
  call table%sync()

  call table%gather(index, rows)
  if (any(abs(rows + 0.1_real64 + 0.2_real64 / sqrt(2.0_real64)) > 1e-6_real64)) error stop "rows"
  call table%optimizer_state(sums)   ! of each number, as many as the table has
  call sums%gather(index, rows)
  if (any(abs(rows - 8) > 1e-6_real64)) error stop "sums of squares"
  call table%optimizer_steps(steps)  ! null: AdaGrad counts none

  call table%sync()
  call sums%destroy()
  call steps%destroy()
  call table%destroy()
  call world%destroy()
  call syncyte_finalize()
end program optimizer
