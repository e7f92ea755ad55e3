! SPDX-License-Identifier: BSD-3-Clause
!> The Fortran program of a job of two programs: it writes a tensor while C programs (shared_reader.c) read it.
program shared_solver
  use, intrinsic :: iso_fortran_env, only: real64
  use syncyte
  use checks
  implicit none
  type(syncyte_comm) :: world, solvers
  type(syncyte_tensor) :: snapshots, published
  integer, parameter :: nx = 5, ny_each = 2, slots = 3, rounds = 12
  real(real64) :: field(nx, ny_each)
  integer :: readers, reader, step, i, j

  call syncyte_init()
  call world%from_world()
  call world%split_program(solvers, program="solver")
  readers = world%size() - solvers%size()
  call check(readers > 0, "there is another program")
  call snapshots%create(world, SYNCYTE_FLOAT64, [nx, ny_each*solvers%size(), slots], name="snapshots")
  call published%create(world, SYNCYTE_INT64, [1 + readers], name="published")
  do step = 1, rounds
    do reader = 1, readers
      call published%wait(1 + reader, SYNCYTE_COMPARE_GE, step - slots, timeout=10.0_real64)
    end do
    do j = 1, ny_each
      do i = 1, nx
        field(i, j) = 1000*step + 10*(j + ny_each*solvers%rank()) + i
      end do
    end do
    call snapshots%put_box([1, ny_each*solvers%rank() + 1, modulo(step - 1, slots) + 1], field)
    call solvers%barrier()
    if (solvers%rank() == 0) call published%store(1, step)
  end do
  do reader = 1, readers
    call published%wait(1 + reader, SYNCYTE_COMPARE_EQ, rounds, timeout=10.0_real64)
  end do
  call snapshots%sync()
  call snapshots%destroy()
  call published%destroy()
  call solvers%destroy()
  call world%destroy()
  call syncyte_finalize()
  call checks_end()
end program shared_solver
